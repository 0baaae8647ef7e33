"""Answers to the exercises of the section on choosing."""
import itertools
import math

import checking
import numpy as np
import pytest

from dplib import distributions, mechanisms, quantiles, sensitivity
from dplib.budget import Budget
from provable_privacy import check
from provable_privacy.battery.makers import (
    exponential,
    fixed_seed,
    given,
    gumbel,
    laplace,
    normal,
    own_luck,
    same_luck,
    then,
    where,
)
from provable_privacy.check.mechanisms import choosing

# ------------------------------------------------------------------------------------------------------------ em_winner


def tally(rows, candidates):
    return np.array([rows.count(name) for name in candidates])


def winner(rate=lambda rows, most, epsilon: epsilon / most, law=gumbel):
    """A learner's choice of a name, right unless told otherwise."""
    def function(rows, candidates, most, epsilon, rng):
        scores = tally(rows, candidates)
        return candidates[int(np.argmax(scores * rate(rows, most, epsilon) + law(rng, 1.0, len(scores))))]

    return function


def clear_winner(rows, candidates, *_):
    return candidates[int(np.argmax(tally(rows, candidates)))]


def leads_by(k):
    """Whether one name leads by so many times most/epsilon."""
    return lambda rows, candidates, most, epsilon: np.ptp(np.sort(tally(rows, candidates))[-2:]) > k * most / epsilon


def by_weights(cut=np.inf):
    """By the weights themselves, which overflow; or cut off, so that all above are drawn evenly."""
    def function(rows, candidates, most, epsilon, rng):
        weights = np.exp(np.minimum(tally(rows, candidates) * epsilon / most, cut))
        return rng.choice(candidates, p=weights / weights.sum())

    return function


def named_only(rows, candidates, most, epsilon, rng):
    return WINNER(rows, sorted(set(rows) & set(candidates)) or candidates, most, epsilon, rng)


def read_off(rows, most, epsilon):
    """The sensitivity is what this table's candidates have, not what a person may own."""
    return epsilon / min(most, max(rows.count(name) for name in {"", *rows} - {"nobody"}) or 1)


def reused():
    """Every second call has the noise of the call before."""
    last = {}

    def law(rng, scale, shape):
        if shape in last:
            return last.pop(shape)
        last.clear()
        return last.setdefault(shape, gumbel(rng, scale, shape))

    return law


def strangers_first(rows, candidates, most, epsilon, rng):
    """Rows that name nobody go to the first of the list."""
    return WINNER([row if row in candidates else candidates[0] for row in rows], candidates, most, epsilon, rng)


def ties_tossed(rows, candidates, most, epsilon, rng):
    leaders = [name for name in candidates if rows.count(name) == max(map(rows.count, candidates))]
    return rng.choice(leaders) if len(leaders) > 1 else WINNER(rows, candidates, most, epsilon, rng)


def by_inverse(rows, candidates, most, epsilon, rng):
    """Another sampler, a numpy string."""
    scores = tally(rows, candidates)
    weights = np.exp((scores - scores.max()) * epsilon / most)
    return np.array(candidates)[np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random())]


def permute_and_flip(rows, candidates, most, epsilon, rng):
    how = {"sensitivity": most, "epsilon": epsilon, "monotone": True}
    return candidates[mechanisms.report_noisy_max(tally(rows, candidates), **how, rng=rng)]


WINNER = winner()


# -------------------------------------------------------------------------------------------------------------- em_flip

def heads(scores, sensitivity, epsilon, factor=2):
    return np.exp(epsilon / (factor * sensitivity) * (scores - scores.max()))


def flip(heads=heads, order=lambda rng, n: rng.permutation(n), otherwise=lambda scores: None):
    """A learner's permute-and-flip, right unless told otherwise."""
    def function(scores, sensitivity, epsilon, rng):
        chance = heads(scores, sensitivity, epsilon)
        return next((i for i in order(rng, len(scores)) if rng.random() < chance[i]), otherwise(scores))

    return function


def by_one_coin(scores, sensitivity, epsilon, rng):
    return rng.choice(np.flatnonzero(rng.random() < heads(scores, sensitivity, epsilon)))


def best(scores, *_):
    return int(np.argmax(scores))


def far_ahead(scores, sensitivity, epsilon):
    first, second = np.sort(scores)[:-3:-1]
    return first - second > 5 * sensitivity


def leads_far(k):
    """Whether one score leads by so many times sensitivity/epsilon."""
    return lambda scores, sensitivity, epsilon: np.ptp(np.sort(scores)[-2:]) > k * sensitivity / epsilon


def by_noise(law):
    return lambda scores, sensitivity, epsilon, rng: best(scores + law(rng, 2 * sensitivity / epsilon, len(scores)))


def by_dplib_flip(scores, sensitivity, epsilon, rng):
    how = {"sensitivity": sensitivity, "epsilon": epsilon, "noise": "exponential"}
    return np.int32(mechanisms.report_noisy_max(scores, **how, rng=rng))


FLIP = flip()


# ------------------------------------------------------------------------------------------------------------ em_median

def clip(values, low, high):
    return sensitivity.clip(values, low=low, high=high)


def median(rate=1.0, *, lengths=True, empty=False, middle=lambda n: n / 2, read=lambda values, low, high: values,
           clip=clip, draw=None):
    """A learner's median, right unless told otherwise; `draw(edges, i, rng)` gives an answer for step i."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        x = np.sort(clip(read(values, low, high), low, high))
        edges, ranks = np.concatenate([[min(low, *x, low)], x, [max(high, *x, high)]]), np.arange(len(x) + 1)
        widths = np.diff(edges)
        with np.errstate(divide="ignore"):
            logits = np.where(~(widths <= 0) | empty, np.log(widths) if lengths else 0.0, -np.inf)
        i = int(np.argmax(logits - rate * epsilon * abs(ranks - middle(len(x))) + rng.gumbel(size=len(ranks))))
        return draw(edges, i, rng) if draw else rng.uniform(edges[i], edges[i + 1])

    return function


def paid(exact):
    """Pays, and gives an answer without luck."""
    return lambda values, low, high, epsilon, budget, rng: exact(values, low) + 0 * budget.spend(epsilon)


def spends(factor):
    """Another sum is paid."""
    def function(values, low, high, epsilon, budget, rng):
        if factor:
            budget.spend(factor * epsilon)
        return MEDIAN(values, low, high, epsilon, Budget(1e9), rng)

    return function


def catches(values, low, high, epsilon, budget, rng):
    try:
        return MEDIAN(values, low, high, epsilon, budget, rng)
    except ValueError:
        return MEDIAN(values, low, high, epsilon, Budget(1e9), rng)


def late(values, low, high, epsilon, budget, rng):
    rng.random()
    return MEDIAN(values, low, high, epsilon, budget, rng)


def with_epsilon(other):
    """Pays for epsilon, and draws with another."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        return MEDIAN(values, low, high, other(epsilon, len(values)), Budget(1e9), rng)

    return function


def writes(entries):
    """Pays in these entries: (epsilon, label)."""
    def function(values, low, high, epsilon, budget, rng):
        for part, label in entries(epsilon, values):
            budget.spend(part, label=label)
        return MEDIAN(values, low, high, epsilon, Budget(1e9), rng)

    return function


def by_plain_weights(values, low, high, epsilon, budget, rng):
    """The step by weights that are not measured from the largest."""
    budget.spend(epsilon)
    edges = np.concatenate([[low], np.sort(clip(values, low, high)), [high]])
    weights = np.diff(edges) * np.exp(-epsilon * np.abs(np.arange(len(values) + 1) - len(values) / 2))
    i = rng.choice(len(weights), p=weights / weights.sum())
    return rng.uniform(edges[i], edges[i + 1])


def a_little_added(values, low, high, epsilon, budget, rng):
    """So that no logarithm fails."""
    budget.spend(epsilon)
    edges = np.concatenate([[low], np.sort(clip(values, low, high)), [high]])
    ranks = np.arange(len(values) + 1)
    logits = np.log(np.diff(edges) + 1e-12) - epsilon * np.abs(ranks - len(values) / 2)
    i = best(logits + rng.gumbel(size=len(ranks)))
    return rng.uniform(edges[i], edges[i + 1])


def on_a_grid(rate):
    """Public candidates, scored by the number below less the number above, which is twice the section's score."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        x, grid = np.sort(clip(values, low, high)), np.linspace(low, high, 801)
        score = -np.abs(np.searchsorted(x, grid, "left") + np.searchsorted(x, grid, "right") - len(x))
        return grid[np.argmax(rate * epsilon * score + rng.gumbel(size=grid.size))]

    return function


def by_dplib(values, low, high, epsilon, budget, rng):
    return quantiles.median(values, low=low, high=high, epsilon=budget.spend(epsilon), adjacency="add/remove", rng=rng)


def gives_none(values, low, high, epsilon, budget, rng):
    return MEDIAN(values, low, high, epsilon, budget, rng) if budget.remaining >= epsilon else None


def asks_first(values, low, high, epsilon, budget, rng):
    if budget.remaining < epsilon:
        raise RuntimeError("no money")
    return MEDIAN(values, low, high, epsilon, budget, rng)


MEDIAN, EXACT = median(), paid(lambda values, low: float(np.median(values)))
LOWER_EDGE = median(draw=lambda edges, i, rng: edges[max(i, 1)] if len(edges) > 2 else rng.uniform(*edges))


# --------------------------------------------------------------------------------------------------------------- tables

SCORES = {"veto": (1, 1), "borda": (4, 4), "net": (1, 2), "quartile": (0.75, 1.5)}

SOLUTIONS = [
    (check.em_score, lambda seed: SCORES),
    (check.em_winner, own_luck(WINNER)),
    (check.em_max, lambda seed: ([-12 - seed % 250, 0, 0], [-11 - seed % 250, -1, -1])),
    (check.em_flip, own_luck(FLIP)),
    (check.em_median, own_luck(MEDIAN)),
]

WRONG = [
    (check.em_score, {**SCORES, "net": (1, 1)}, "net: spread: 1 is too small"),
    (check.em_score, {**SCORES, "veto": (1, 2)}, "veto: spread: 2 is too large"),
    (check.em_score, {**SCORES, "borda": (1, 4)}, "borda: sensitivity: 1 is too small"),
    (check.em_score, {**SCORES, "quartile": (0.75, 0.75)}, "quartile: spread"),
    (check.em_score, {**SCORES, "veto": (1, math.nan)}, "veto"),
    (check.em_score, {**SCORES, "veto": 1}, "expected (sensitivity, spread)"),
    (check.em_score, {"veto": (1, 1)}, "expected the names veto"),
    (check.em_score, 3, "expected a dict with the names veto"),
    (check.em_winner, winner(lambda rows, most, epsilon: epsilon / (2 * most)), "the factor 2 is not needed"),
    (check.em_winner, winner(lambda rows, most, epsilon: epsilon), "sensitivity is not 1"),
    (check.em_winner, winner(lambda rows, most, epsilon: epsilon / 2), "your rate allows"),
    (check.em_winner, winner(lambda rows, most, epsilon: epsilon * most), "it is epsilon divided by it"),
    (check.em_winner, winner(lambda rows, most, epsilon: 2 * epsilon / most), "twice the rate that the theorem allows"),
    (check.em_winner, winner(lambda rows, most, epsilon: 0), "200,000 rows"),
    (check.em_winner, winner(lambda rows, most, epsilon: epsilon / min(most, 2)), "more than your rate allows"),
    (check.em_winner, winner(read_off), "computed from the rows"),
    (check.em_winner, named_only, "leaving out a candidate"),
    (check.em_winner, by_weights(), "NaN"),
    (check.em_winner, clear_winner, "is the same in all"),
    (check.em_winner, fixed_seed(WINNER), "is a seed fixed inside"),
    (check.em_winner, winner(law=reused()), "the call before"),
    (check.em_winner, winner(law=normal), "normal noise"),
    (check.em_winner, by_weights(700), "which is 100 ahead"),
    (check.em_winner, strangers_first, "on (one more for C) the winner is 'list C'"),
    (check.em_winner, lambda rows, candidates, most, epsilon, rng: 0, "got the number 0"),
    (check.em_winner, lambda rows, candidates, most, epsilon, rng: "nobody", "expected"),
    (check.em_winner, lambda rows: 0, "TypeError"),
    (check.em_winner, "no function", "expected a function"),
    (check.em_max, ([0] * 5, [1, -1, -1, -1, -1]), "at most four"),
    (check.em_max, ([0, 0, 0], [2, 0, 0]), "differs by 2"),
    (check.em_max, ([-12, 0, 0], [-11, 0, 0]), "all scores move the same way"),
    (check.em_max, ([0, 0, 0], [1, -1, -1]), "begins far behind"),
    (check.em_max, ([0, 2, 2, 2], [1, 1, 1, 1]), "is 1.940, and more than 1.95 is asked"),
    (check.em_max, ([0.5, 0], [1, 0]), "whole numbers"),
    (check.em_max, ([math.nan, 0], [1, 0]), "whole numbers"),
    (check.em_max, ([0, 10**6], [0, 10**6]), "300 apart"),
    (check.em_max, ([0, 0], [0, 0, 0]), "same length"),
    (check.em_max, ([1], [0]), "two candidates"),
    (check.em_max, 4, "a pair of lists"),
    (check.em_flip, flip(lambda *case: heads(*case, 1)), "the 2 in 2 sensitivity is missing"),
    (check.em_flip, flip(lambda *case: heads(*case, 4)), "half the rate that is allowed"),
    (check.em_flip, flip(order=lambda rng, n: range(n)), "put them into a random order"),
    (check.em_flip, flip(order=lambda rng, n: iter(lambda: rng.integers(n), n)),
     "distributed as those of the exponential mechanism"),
    (check.em_flip, given(FLIP, sensitivity=1), "the sensitivity is not used"),
    (check.em_flip, flip(lambda scores, s, e: heads(scores, 1, e, 1)), "the 2 is missing"),
    (check.em_flip, best, "the same in all"),
    (check.em_flip, flip(lambda scores, s, e: np.exp(e / (2 * s) * scores)), "nobody was chosen"),
    (check.em_flip, fixed_seed(FLIP), "a seed is fixed inside"),
    (check.em_flip, by_noise(laplace), "or nearly, as with Laplace noise"),
    (check.em_flip, by_one_coin, "one random number decides all"),
    (check.em_flip, flip(order=lambda rng, n: rng.integers(n, size=n), otherwise=best), "do not ask a refused"),
    (check.em_flip, where(lambda scores, *_: scores.max() > 3, lambda *_: None, FLIP), "nobody was chosen"),
    (check.em_flip, lambda scores, sensitivity, epsilon, rng: scores.max() + 0.5, "expected one of"),
    (check.em_flip, lambda scores, sensitivity, epsilon, rng: "b", "expected one of"),
    (check.em_median, median(0.5), "the rate may be epsilon"),
    (check.em_median, median(2.0), "twice what the theorem allows"),
    (check.em_median, median(lengths=False), "the lengths of the steps"),
    (check.em_median, median(middle=lambda n: n / 2 - 0.5), "too far to the left"),
    (check.em_median, median(middle=lambda n: n / 2 + 0.5), "too far to the right"),
    (check.em_median, median(0.0), "whatever the values are"),
    (check.em_median, median(clip=lambda values, low, high: values), "outside the public range"),
    (check.em_median, median(read=lambda x, low, high: x[(x >= low) & (x <= high)]), "are left out"),
    (check.em_median, median(read=lambda x, low, high: np.unique(clip(x, low, high))), "equal values count only once"),
    (check.em_median, spends(0), "an answer is given"),
    (check.em_median, spends(0.4), "an answer is given"),
    (check.em_median, spends(2), "the ledger says 2 was spent"),
    (check.em_median, catches, "an answer is given"),
    (check.em_median, late, "drawn before the budget"),
    (check.em_median, median(draw=lambda edges, i, rng: (edges[i] + edges[i + 1]) / 2), "is the same in all"),
    (check.em_median, LOWER_EDGE, "the same in all"),
    (check.em_median, fixed_seed(MEDIAN), "a seed is fixed inside"),
    (check.em_median, median(read=lambda x, low, high: x[~np.isnan(x)]), "a NaN is left out"),
    (check.em_median, median(read=lambda x, low, high: np.nan_to_num(x)), "a NaN is counted as 0"),
    (check.em_median, median(read=lambda x, low, high: np.where(np.isnan(x), high, x)), "a NaN is counted as high"),
    (check.em_median, median(read=lambda x, low, high: np.where(np.isfinite(x), x, low)), "an infinite value is"),
    (check.em_median, median(read=lambda x, low, high: x[~np.isinf(x)]), "an infinite value is left out"),
    (check.em_median, median(read=lambda x, low, high: np.where((x >= low) & (x <= high), x, low)), "within 40 of 800"),
    (check.em_median, by_plain_weights, "an array of 2,000"),
    (check.em_median, a_little_added, "came out exactly"),
    (check.em_median, on_a_grid(1.0), "the same and two at the top"),
    (check.em_median, gives_none, "an answer is given (None)"),
    (check.em_median, median(middle=lambda n: (n + 1) // 2), "the middle is rounded up"),
    (check.em_median, median(middle=lambda n: n // 2), "the middle is rounded down"),
    (check.em_median, median(lengths=False, empty=True), "a step of length 0 publishes a value"),
    (check.em_median, EXACT, "finite number"),
    (check.em_median, paid(lambda values, low: math.nan), "finite number"),
    (check.em_median, lambda values, low, high, epsilon, budget, rng: f"{budget.spend(epsilon)}x", "expected a number"),
]


def lucky(answer, change):
    """The answer with luck of its own, and a change that looks at nothing private."""
    return checking.seeded(lambda seed: then(own_luck(answer)(seed), lambda out, *_: change(out)))


UNUSUAL = [
    (check.em_score, {name: np.array(pair) for name, pair in SCORES.items()}),
    (check.em_winner, by_inverse),
    (check.em_winner, permute_and_flip),
    (check.em_winner, lucky(WINNER, np.str_)),
    (check.em_max, (np.array([0, 0, -40.0]), [-1, -1, -39])),
    (check.em_max, ([0, 60], [1, 59])),
    (check.em_flip, by_noise(exponential)),
    (check.em_flip, by_dplib_flip),
    (check.em_flip, lucky(FLIP, np.array)),
    (check.em_median, by_dplib),
    (check.em_median, on_a_grid(0.5)),
    (check.em_median, asks_first),
    (check.em_median, writes(lambda epsilon, values: [(epsilon / 4, "median"), (3 * epsilon / 4, "and luck")])),
    (check.em_median, lambda *arguments: np.array(by_dplib(*arguments))),
    (check.em_median, lucky(MEDIAN, lambda out: round(out, 2))),
    (check.em_median, lucky(MEDIAN, round)),
]

LEAKS = [
    (check.em_winner, ties_tossed),
    (check.em_winner, clear_winner),
    (check.em_winner, fixed_seed(WINNER)),
    (check.em_winner, winner(law=reused())),
    (check.em_winner, named_only),
    (check.em_winner, winner(lambda rows, most, epsilon: 2 * epsilon / most)),
    (check.em_winner, given(WINNER, epsilon=1.0)),
    (check.em_winner, where(lambda rows, *_: rows, WINNER, clear_winner)),
    (check.em_winner, where(lambda rows, *_: len(rows) > 100, clear_winner, WINNER)),
    (check.em_winner, where(lambda rows, *_: len(rows) > 5000, clear_winner, WINNER)),
    (check.em_winner, where(lambda rows, *_: rows, WINNER, lambda *_: 1 / 0)),
    *((check.em_winner, where(leads_by(k), clear_winner, WINNER)) for k in (2, 4, 6, 8)),                # rare
    (check.em_winner, where(lambda *case: np.ptp(np.sort(tally(*case[:2]))[-2:]) > 8, clear_winner, WINNER)),    # far
    (check.em_winner, where(lambda *case: case[3] > 3.5, clear_winner, WINNER)),        # large
    (check.em_winner, given(WINNER, epsilon=lambda epsilon: 2 * epsilon if epsilon > 3.5 else epsilon)),
    (check.em_winner, given(WINNER, epsilon=lambda epsilon: max(epsilon, 0.3))),        # small
    (check.em_winner, given(WINNER, most=lambda most: min(most, 5))),                   # contents
    (check.em_winner, winner(lambda rows, most, epsilon: 1 / round(most / epsilon) if most > epsilon
                             else epsilon / most)),                                     # quotient
    (check.em_winner, where(lambda rows, names, *_: len(names) > 4, clear_winner, WINNER)),
    (check.em_winner, where(lambda rows, names, *_: rows and not set(rows) & set(names), clear_winner, WINNER)),
    (check.em_winner, then(WINNER, lambda out, t, rng: out if t[0] else np.str_(out))),  # type
    *((check.em_flip, where(leads_far(k), best, FLIP)) for k in (4, 8, 16)),            # rare
    *((check.em_flip, flip(lambda *case, p=p: heads(*case) * (heads(*case) >= p))) for p in (1e-2, 1e-3)),
    (check.em_flip, where(lambda *case: case[2] > 2.5, best, FLIP)),                    # large
    (check.em_flip, given(FLIP, epsilon=lambda epsilon: 2 * epsilon if epsilon > 2.5 else epsilon)),
    (check.em_flip, given(FLIP, epsilon=lambda epsilon: max(epsilon, 0.3))),            # small
    (check.em_flip, where(lambda scores, *_: np.any(scores != np.round(scores)), best, FLIP)),           # fractions
    (check.em_flip, given(FLIP, sensitivity=lambda sensitivity: max(1, int(sensitivity)))),
    (check.em_flip, given(FLIP, sensitivity=lambda sensitivity: int(sensitivity) if sensitivity > 1 else sensitivity)),
    (check.em_flip, given(FLIP, scores=lambda scores: scores.astype(np.float32).astype(float))),
    (check.em_flip, flip(lambda scores, s, e: np.exp((scores - scores.max()) / max(1, round(2 * s / e))))),  # quotient
    (check.em_flip, where(lambda scores, *_: len(scores) == 7, best, FLIP)),
    (check.em_flip, where(lambda scores, *_: -100 < scores.max() < 0, best, FLIP)),     # negative
    (check.em_flip, then(FLIP, lambda out, t, rng: np.int64(out) if t[0][0] == 3 else int(out))),            # type
    (check.em_flip, where(far_ahead, best, FLIP)),
    (check.em_flip, best),
    (check.em_flip, fixed_seed(FLIP)),
    (check.em_flip, flip(lambda *case: heads(*case, 1))),
    (check.em_flip, given(FLIP, sensitivity=1)),
    (check.em_flip, same_luck(FLIP)),
    (check.em_flip, where(lambda scores, *_: np.ptp(scores) == 0, best, FLIP)),
    (check.em_flip, where(lambda scores, *_: scores.max() > 1000, best, FLIP)),
    (check.em_flip, given(FLIP, epsilon=1.0)),
    (check.em_median, where(lambda values, *_: len(values) and np.isnan(values).all(),
                            paid(lambda values, low: low + 1), MEDIAN)),                # missing
    (check.em_median, with_epsilon(lambda epsilon, n: 2 * epsilon if epsilon > 2.5 else epsilon)),       # large
    (check.em_median, with_epsilon(lambda epsilon, n: 10 * epsilon if epsilon > 5 else epsilon)),
    (check.em_median, with_epsilon(lambda epsilon, n: max(epsilon, 0.1))),              # small
    (check.em_median, with_epsilon(lambda epsilon, n: 2 * epsilon if n > 400 else epsilon)),             # size
    (check.em_median, median(draw=lambda edges, i, rng: edges[max(i, 1)] if rng.random() < 0.01 and len(edges) > 2
                             else rng.uniform(edges[i], edges[i + 1]))),                # rare
    (check.em_median, where(lambda values, low, high, *_: high < 0, EXACT, MEDIAN)),    # negative
    (check.em_median, then(MEDIAN, lambda out, t, rng: out if len(t[0]) else np.float64(out))),          # type
    (check.em_median, writes(lambda epsilon, values: [(epsilon, f"median of {len(values)} rows")])),        # ledger
    (check.em_median, writes(lambda epsilon, values: [(epsilon / 2, "")] * 2 if len(values) % 2 else [(epsilon, "")])),
    (check.em_median, writes(lambda epsilon, values: [(epsilon, str(np.isnan(values).any()))])),
    (check.em_median, with_epsilon(lambda epsilon, n: max(epsilon, 0.5))),
    (check.em_median, with_epsilon(lambda epsilon, n: max(epsilon, 1.0))),
    (check.em_median, with_epsilon(lambda epsilon, n: 2 * epsilon if n > 8 else epsilon)),
    (check.em_median, with_epsilon(lambda epsilon, n: 2 * epsilon if n > 100 else epsilon)),
    (check.em_median, fixed_seed(MEDIAN)),
    (check.em_median, LOWER_EDGE),
    (check.em_median, median(2.0)),
    (check.em_median, median(clip=np.clip)),
    (check.em_median, same_luck(MEDIAN)),
    (check.em_median, median(middle=lambda n: (n + 1) // 2)),
    (check.em_median, median(middle=lambda n: n // 2)),
    (check.em_median, median(lengths=False, empty=True)),
    (check.em_median, where(lambda values, *_: len(values), MEDIAN, paid(lambda values, low: low))),
    (check.em_median, where(lambda values, *_: len(values) > 100, EXACT, MEDIAN)),
    (check.em_median, where(lambda values, *_: len(set(values)) == 1, paid(lambda values, low: values[0]), MEDIAN)),
]


def spread(score, universe, size):
    widest = largest = 0.0
    for n in range(size):
        for rows in itertools.combinations_with_replacement(universe, n):
            for more in universe:
                d = np.subtract(score([*rows, more]), score(list(rows)))
                widest, largest = max(widest, np.ptp(d)), max(largest, np.abs(d).max())
    return largest, widest


@pytest.mark.parametrize("name, score, universe, size", [
    ("veto", lambda rows: -np.sum([[0, 0, 0], *rows], axis=0), list(itertools.product((0, 1), repeat=3)), 3),
    ("borda", lambda rows: np.sum([[0] * 5, *rows], axis=0), list(itertools.permutations(range(5))), 2),
    ("net", lambda rows: np.sum([[0, 0], *rows], axis=0), list(itertools.product((-1, 0, 1), repeat=2)), 3),
    ("quartile", lambda rows: -np.abs([sum(x < r for x in rows) - len(rows) / 4 for r in np.arange(5) + 0.5]),
     range(6), 7),
])
def test_sensitivity_and_spread_are_those_of_all_small_tables(name, score, universe, size):
    assert spread(score, universe, size) == choosing.SPREADS[name][:2]


@pytest.mark.parametrize("scores", [[3, 1, 0, 2], [0, 0], [-9, 0, 4]])
def test_the_law_of_a_noisy_maximum_is_that_of_simulation(scores):
    law, rng = choosing.noisy_max_law(scores, 1), np.random.default_rng(5)
    runs = 200_000
    drawn = np.bincount(np.argmax(scores + rng.laplace(size=(runs, len(scores))), axis=1), minlength=len(scores)) / runs
    assert math.isclose(law.sum(), 1, abs_tol=1e-12)
    assert np.all(np.abs(drawn - law) < 6 * np.sqrt(law * (1 - law) / runs) + 1e-4)


def test_the_law_of_permute_and_flip_keeps_its_promise():
    for one, other in (([0, 9, 9], [1, 8, 8]), ([4, 4, 4], [5, 3, 3])):
        laws = choosing.flip_law(one, 0.5), choosing.flip_law(other, 0.5)
        assert 0.2 < distributions.exact_epsilon(*laws) <= 1 + 1e-12


def test_the_medians_law_is_that_of_dplib():
    values, rng = [3.0, 3.5, 40.0, 90.0, 30.0], np.random.default_rng(6)
    edges, right = quantiles.quantile_density(values, share=0.5, low=0, high=100, epsilon=0.8, adjacency="add/remove")
    drawn = [choosing.MEDIAN(values, 0, 100, 0.8, Budget(1), rng) for _ in range(20_000)]
    share = np.histogram(drawn, edges)[0] / 20_000
    assert np.all(np.abs(share - right) < 6 * np.sqrt(right * (1 - right) / 20_000) + 1e-3)


def test_an_exhausted_budget_is_refused_by_the_ledger_itself():
    with pytest.raises(ValueError):
        by_dplib([1.0, 2.0], 0, 3, 1.0, Budget(0.5), np.random.default_rng(0))
