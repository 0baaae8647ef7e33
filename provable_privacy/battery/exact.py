"""The exact tests and their level. The bounds are proved in the book, "How our checks work"."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc

from provable_privacy.speech import Wrong

LEVEL = 1e-6  # how often a right answer is refused, by all exact tests together


@dataclass(frozen=True)
class Levels:
    """How often each test may refuse a right answer: by the union bound over all tests of a battery, LEVEL in all."""

    private: float  # of each hunt for a telling event
    still: float  # of each look for an output that never changes
    useful: float  # of each number or choice that is too rarely near the truth

    @classmethod
    def shared_by(cls, hunts, uses):
        """0.7 of LEVEL for the hunts, 0.05 for what stands still, 0.2 for usefulness; 0.05 are left."""
        hunts, uses = max(hunts, 1), max(uses, 1)
        return cls(0.7 * LEVEL / hunts, 0.05 * LEVEL / hunts, 0.2 * LEVEL / uses)


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
    owed = 0  # how many of them delta explains, but for a chance of level/2
    if delta > 0:
        owed = int(runs * delta / 2)
        while bdtrc(owed, runs, delta / 2) > level / 2:
            owed += max(1, int(math.sqrt(runs * delta) / 6))
    a = a - owed
    if a <= 0:
        return 1.0
    return float(bdtrc(a - 1, a + b, 1 / (1 + math.exp(-epsilon)))) * (2 if delta > 0 else 1)


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
            raise Refused(
                f"on ({pair.name(w)}) the output is the same in all of {len(mine)} runs: "
                "there is no noise there, or a seed is fixed inside",
                pair,
            )


def useful(form, pair, x, world, level):
    """`Refused` if an output is too rarely near the truth, or a choice too rarely the clear one."""
    for w in (0, 1):
        mine = x[world == w]
        n, (values, names) = len(mine), form.numbers(mine)
        same = "; it is the same in all of them: is a seed fixed inside?" if n > 20 and (mine == mine[0]).all() else ""
        for outcome, share in pair.often[w].items():
            hits = int((mine[:, 0] == form.of.index(outcome)).sum())
            if bdtr(hits, n, share) < level:
                raise Refused(
                    f"on ({pair.name(w)}) {form.what} is {outcome!r} in {hits:,} of {n:,} runs, "
                    f"and should be in {share:.0%} at least{same}",
                    pair,
                )
        if pair.within is None or pair.truth[w] is None or not names:
            continue
        truth, within = (np.broadcast_to(np.asarray(v, dtype=float), len(names)) for v in (pair.truth[w], pair.within))
        for i, hits in enumerate((np.abs(values - truth) <= within).sum(axis=0).tolist()):
            if bdtr(hits, n, pair.share) < level:
                middle = np.median(np.where(values[:, i] < -1e299, np.inf, values[:, i] - truth[i]))
                raise Refused(
                    f"on ({pair.name(w)}) {names[i]} is within {within[i]:.3g} of {truth[i]:.4g} in {hits:,} of {n:,} "
                    f"runs, and should be in {pair.share:.0%} at least (its median error is {middle:+.3g}){same}",
                    pair,
                )
