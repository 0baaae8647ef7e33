"""The exact tests, their level, and the test of memory. The bounds are proved in the book, "How our checks work"."""
import math

import numpy as np
from scipy.special import bdtr, bdtrc, chdtrc

from dplib.teaching.check._battery._forms import tidy
from dplib.teaching.check._report import Wrong

LEVEL = 1e-6                                     # how often a right answer is refused, by all exact tests together
CHI_SQUARE = 1e-9                                # for each test of memory or of two samples: chi-square, which holds in the limit
LAGS = 16
CUTS = np.concatenate([[0.003, 0.012], np.arange(1, 20) / 20, [0.988, 0.997]])
TRACE = None                                     # a list here keeps each p-value times the number of tests


class Refused(Wrong):
    """Refused for what was seen on a pair of tables or in a crowd; `words` name the mistake, when it is known."""

    words = None

    def __init__(self, message, pair):
        self.pair = pair
        super().__init__(message)


def p_value(a, b, runs, epsilon, delta, level):
    """Bound on the chance of `a` events in one world and `b` in the other, worlds drawn by coin, if the promise holds.

    Of the `a` events at most Binomial(runs, delta/2) are owed to delta; each of the others came from the first world
    with probability e^epsilon/(1 + e^epsilon) at most.
    """
    owed = 0                                     # how many of them delta explains, but for a chance of level/2
    if delta > 0:
        owed = int(runs * delta / 2)
        while bdtrc(owed, runs, delta / 2) > level / 2:
            owed += max(1, int(math.sqrt(runs * delta) / 6))
    a = a - owed
    if a <= 0:
        return 1.0
    p = float(bdtrc(a - 1, a + b, 1 / (1 + math.exp(-epsilon)))) * (2 if delta > 0 else 1)
    if TRACE is not None:
        TRACE.append(p * LEVEL / level)
    return p


def still(pair, x, world, level):
    """`Refused` for the same output in every run on one table, and never on the other.

    An output of chance p there has chance (p - delta)/e^epsilon at least here, so this happens with the chance
    max over p of (p (1 - p/e^epsilon) + delta/e^epsilon)^(runs - 1) at most.
    """
    n = int(min((world == 0).sum(), (world == 1).sum()))
    claims = [(math.exp(epsilon), delta) for epsilon, delta in pair.claims]
    bound = min(((e / 4 if e < 2 else 1 - 1 / e) + delta / e for e, delta in claims), default=1.0)
    if n < 2 or bound ** (n - 1) > level:
        return
    for w in (0, 1):
        mine, other = x[world == w], x[world != w]
        if (mine == mine[0]).all() and not (other == mine[0]).all(axis=1).any():
            raise Refused(f"on ({pair.name(w)}) the output is the same in all of {len(mine)} runs: there is no noise there, or a seed is fixed inside", pair)


def useful(form, pair, x, world, level):
    """`Refused` if an output is too rarely near the truth, or a choice too rarely the clear one."""
    for w in (0, 1):
        mine = x[world == w]
        n, (values, names) = len(mine), form.numbers(mine)
        same = "; it is the same in all of them: is a seed fixed inside?" if n > 20 and (mine == mine[0]).all() else ""
        for outcome, share in pair.often[w].items():
            hits = int((mine[:, 0] == form.of.index(outcome)).sum())
            if bdtr(hits, n, share) < level:
                raise Refused(f"on ({pair.name(w)}) {form.what} is {outcome!r} in {hits:,} of {n:,} runs, and should be in {share:.0%} at least{same}", pair)
        if pair.within is None or pair.truth[w] is None or not names:
            continue
        truth, within = (np.broadcast_to(np.asarray(v, dtype=float), len(names)) for v in (pair.truth[w], pair.within))
        for i, hits in enumerate((np.abs(values - truth) <= within).sum(axis=0).tolist()):
            if bdtr(hits, n, pair.share) < level:
                middle = np.median(np.where(values[:, i] < -1e299, np.inf, values[:, i] - truth[i]))
                raise Refused(f"on ({pair.name(w)}) {names[i]} is within {within[i]:.3g} of {truth[i]:.4g} in {hits:,} of {n:,} runs, and should be in "
                              f"{pair.share:.0%} at least (the middle of its errors is {middle:+.3g}){same}", pair)


def memory(form, pair, x, world):
    """`Wrong` if a call's output depends on that of the call before, or repeats the noise of one of the last calls."""
    if len(x) < 1000:
        return
    for name, column, telling in form.memory(x, pair, world):
        values = np.unique(column)
        if telling and len(values) > len(column) / 20:       # few repeats are expected, so some of them tell
            equal = [int((column[lag:] == column[:-lag]).sum()) for lag in range(1, LAGS + 1)]
            most, usual = max(equal), float(np.median(equal))                # an answer that is cut at a bound has repeats at every lag
            if most > 40 + 3 * usual + 10 * math.sqrt(usual + 1):
                lag = equal.index(most) + 1
                raise Wrong(f"({pair.what}) {name} is that of {lag} call{'s' if lag > 1 else ''} before in {most:,} of {len(column):,} runs; every call "
                            "needs noise of its own, or the difference of two answers is exact")
        cuts = np.unique(np.quantile(column, np.arange(1, 6) / 6)) if len(values) > 12 else values[1:]
        code, k = np.searchsorted(cuts, column, side="right"), len(cuts) + 1
        table = np.bincount(code[:-1] * k + code[1:], minlength=k * k).reshape(k, k).astype(float)       # all calls and the next: as for a chain
        keep = table.sum(axis=1) > max(30.0, math.sqrt(20 * len(code)))
        if _p_value(table[np.ix_(keep, keep)], (keep.sum() - 1) ** 2) < CHI_SQUARE:
            raise Wrong(f"({pair.what}) {name} depends on what it was in the call before; every call needs noise of its own, and nothing may be kept")


def _p_value(table, freedom):
    """Chi-square test of independence of rows and columns."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1)
    return float(chdtrc(freedom, ((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum())) if freedom else 1.0


def alike(x, world, y, guess, views=()):
    """Smallest p-value of chi-square tests between two samples, by outputs and their pairs, times their number."""
    def columns(z):
        few = range(min(z.shape[1], 5))
        yield from z.T[:8]
        yield from (z[:, i] - z[:, j] for i in few for j in few if i < j)
        yield from (z @ np.asarray(weights, dtype=float) for _, weights in views[:12])

    ps = []
    for a, b in zip(columns(x), columns(y)):
        for w in (0, 1):
            both = tidy(np.concatenate([a[world == w], b[guess == w]]))
            values, mine = np.unique(both), np.arange(len(both)) < (world == w).sum()
            cuts, times = np.unique(values[1:] if len(values) <= 30 else np.quantile(both, CUTS), return_counts=True)
            cuts = np.union1d(cuts, np.nextafter(cuts[times > 1], np.inf))      # a value of weight, such as MISSING, has a cell of its own
            cells = np.searchsorted(cuts, both, side="right")
            c = np.array([np.bincount(cells[which], minlength=len(cuts) + 1) for which in (mine, ~mine)], dtype=float)
            rare = c.sum(axis=0) * c.sum(axis=1).min() < 4 * c.sum()            # fewer than four expected in the smaller sample
            c = np.column_stack([c[:, ~rare], c[:, rare].sum(axis=1)])
            c = c[:, c.sum(axis=0) > 0]
            if c.shape[1] > 1 and c.sum(axis=1).all():
                ps.append(_p_value(c, c.shape[1] - 1))
    return min(1.0, min(ps, default=1.0) * len(ps)) if ps else 1.0
