"""Looks that hold in the limit: does a call remember the one before, and have two samples the same law?"""

import math

import numpy as np
from scipy.special import chdtrc

from provable_privacy.battery.forms import tidy
from provable_privacy.speech import Wrong

CHI_SQUARE = 1e-9  # below this p-value a chi-square test refuses
LAGS = 16  # calls back that are compared
CUTS = np.concatenate([[0.003, 0.012], np.arange(1, 20) / 20, [0.988, 0.997]])


def memory(form, pair, x, world):
    """`Wrong` if a call's output depends on that of the call before, or repeats the noise of one of the last calls."""
    if len(x) < 1000:
        return
    for name, column, telling in form.memory(x, pair, world):
        values = np.unique(column)
        if telling and len(values) > len(column) / 20:  # few repeats are expected, so some of them tell
            equal = [int((column[lag:] == column[:-lag]).sum()) for lag in range(1, LAGS + 1)]
            most, usual = (
                max(equal),
                float(np.median(equal)),
            )  # an answer that is cut at a bound has repeats at every lag
            if most > 40 + 3 * usual + 10 * math.sqrt(usual + 1):
                lag = equal.index(most) + 1
                raise Wrong(
                    f"({pair.what}) {name} is that of {lag} call{'s' if lag > 1 else ''} before in {most:,} of "
                    f"{len(column):,} runs; every call "
                    "needs noise of its own, or the difference of two answers is exact"
                )
        cuts = np.unique(np.quantile(column, np.arange(1, 6) / 6)) if len(values) > 12 else values[1:]
        code, k = np.searchsorted(cuts, column, side="right"), len(cuts) + 1
        table = (
            np.bincount(code[:-1] * k + code[1:], minlength=k * k).reshape(k, k).astype(float)
        )  # all calls and the next: as for a chain
        keep = table.sum(axis=1) > max(30.0, math.sqrt(20 * len(code)))
        if _p_value(table[np.ix_(keep, keep)], (keep.sum() - 1) ** 2) < CHI_SQUARE:
            raise Wrong(
                f"({pair.what}) {name} depends on what it was in the call before; "
                "every call needs noise of its own, and nothing may be kept"
            )


def entangled(noise):
    """Two outputs (i, j) whose noises have the same sign, or the same size, in nearly all of 100 calls; or None.

    `noise` has a row for each call. Two of 600 independent columns do so with probability below 1e-9, if few are 0.
    """
    found = []
    for x in (np.sign(noise), np.abs(noise) > np.median(np.abs(noise))):
        x = x - x.mean(axis=0)
        size = np.sqrt((x**2).sum(axis=0))
        together = np.abs(np.triu(x.T @ x / np.maximum(np.outer(size, size), 1e-9), 1))
        i, j = np.unravel_index(together.argmax(), together.shape)
        found.append((together[i, j], (int(i), int(j))))
    most, places = max(found)
    return places if most > 0.75 else None


def echo(noise):
    """How many places on, in one row of very many noises, the sign or the size comes again too often; or None."""
    n = len(noise)
    for x in (np.sign(noise), np.abs(noise) > np.median(np.abs(noise))):
        x = x - x.mean()
        together = np.fft.irfft(np.abs(np.fft.rfft(x, 2 * n)) ** 2)[1 : n - 99] / max((x**2).mean(), 1e-9)
        together = np.abs(together) / np.sqrt(np.arange(n - 1, 99, -1))  # in standard errors
        if together.max() > 7:
            return int(together.argmax()) + 1
    return None


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
            cuts = np.union1d(
                cuts, np.nextafter(cuts[times > 1], np.inf)
            )  # a value of weight, such as MISSING, has a cell of its own
            cells = np.searchsorted(cuts, both, side="right")
            c = np.array([np.bincount(cells[which], minlength=len(cuts) + 1) for which in (mine, ~mine)], dtype=float)
            rare = c.sum(axis=0) * c.sum(axis=1).min() < 4 * c.sum()  # fewer than four expected in the smaller sample
            c = np.column_stack([c[:, ~rare], c[:, rare].sum(axis=1)])
            c = c[:, c.sum(axis=0) > 0]
            if c.shape[1] > 1 and c.sum(axis=1).all():
                ps.append(_p_value(c, c.shape[1] - 1))
    return min(1.0, min(ps, default=1.0) * len(ps)) if ps else 1.0


def _p_value(table, freedom):
    """Chi-square test of independence of rows and columns."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1)
    return float(chdtrc(freedom, ((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum())) if freedom else 1.0
