"""The checkers of the section on choosing: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import itertools
import math

import checking
import numpy as np
import pytest

from dplib import distributions, mechanisms, quantiles, sensitivity
from dplib.budget import Budget
from provable_privacy import check
from provable_privacy.check.mechanisms import choosing


def winner(rate=lambda most, epsilon: epsilon / most, *, seed=None, public=True, naive=False, best=False, reuse=False, fixed=False):
    """A learner's choice of a name, right unless told otherwise; with `seed`, on luck of its own."""
    own, last = None if seed is None else np.random.default_rng(seed), []

    def function(rows, candidates, most, epsilon, rng):
        rng = np.random.default_rng(7) if fixed else own or rng
        candidates = candidates if public else sorted(set(rows) & set(candidates)) or candidates
        scores = np.array([rows.count(name) for name in candidates])
        if best:
            return candidates[int(np.argmax(scores))]
        if reuse and last and len(last[-1]) == len(scores):
            noise = last.pop()
        else:
            noise = rng.gumbel(size=len(scores))
            last[:] = [noise] if reuse else []
        if naive:
            weights = np.exp(scores * rate(most, epsilon))
            return rng.choice(candidates, p=weights / weights.sum())
        return candidates[int(np.argmax(scores * rate(most, epsilon) + noise))]

    return function


def read_off(rows, candidates, most, epsilon, rng):
    """The sensitivity is what this table's candidates have, not what a person may own."""
    seen = max([rows.count(name) for name in candidates] + [1])
    return winner(lambda most, epsilon: epsilon / min(most, seen))(rows, candidates, most, epsilon, rng)


def only_inside(values, low, high, epsilon, budget, rng):
    values = np.asarray(values)
    return median()(values[(values >= low) & (values <= high)], low, high, epsilon, budget, rng)


def by_rank(middle, lengths=True):
    """The step by its rank from some middle."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        x = np.sort(sensitivity.clip(values, low=low, high=high))
        edges, ranks = np.concatenate([[low], x, [high]]), np.arange(len(x) + 1)
        with np.errstate(divide="ignore"):
            logits = (np.log(np.diff(edges)) if lengths else 0) - epsilon * np.abs(ranks - middle(len(x)))
        i = int(np.argmax(logits + rng.gumbel(size=len(ranks))))
        return rng.uniform(edges[i], edges[i + 1])

    return function


def with_epsilon(other):
    """Pays for epsilon, and draws with another."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        return MEDIAN(values, low, high, other(epsilon, len(values)), Budget(1e9), rng)

    return function


def nan_to_zero(values, *given):
    return median()(np.nan_to_num(values), *given)


def by_inverse(rows, candidates, most, epsilon, rng):
    """Numbers of another type, another sampler, a numpy string."""
    scores = np.array([sum(row == name for row in rows) for name in candidates]) if len(rows) < 100 else np.array([rows.count(n) for n in candidates])
    weights = np.exp((scores - scores.max()) * epsilon / most)
    return np.array(candidates)[np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random())]


def flip(factor=2.0, *, seed=None, shuffle=True, replace=False, centre=True, blind=False, best=False, fixed=False):
    own = None if seed is None else np.random.default_rng(seed)

    def function(scores, sensitivity, epsilon, rng):
        rng = np.random.default_rng(7) if fixed else own or rng
        if best:
            return int(np.argmax(scores))
        rate = epsilon / (factor * (1 if blind else sensitivity))
        order = rng.permutation(len(scores)) if shuffle else np.arange(len(scores))
        while True:
            for i in rng.integers(len(scores), size=50) if replace else order:
                if rng.random() < np.exp(rate * (scores[i] - (scores.max() if centre else 0))):
                    return i
            if not replace:
                return None

    return function


def asked_again(scores, sensitivity, epsilon, rng):
    """The order with replacement; if nobody shows heads, the best."""
    for i in rng.integers(len(scores), size=len(scores)):
        if rng.random() < np.exp(epsilon / (2 * sensitivity) * (scores[i] - scores.max())):
            return i
    return int(np.argmax(scores))


def by_one_coin(scores, sensitivity, epsilon, rng):
    heads = np.flatnonzero(rng.random() < np.exp(epsilon / (2 * sensitivity) * (scores - scores.max())))
    return rng.choice(heads)


def ties_tossed(rows, candidates, most, epsilon, rng):
    leaders = [name for name in candidates if rows.count(name) == max(map(rows.count, candidates))]
    return rng.choice(leaders) if len(leaders) > 1 else winner()(rows, candidates, most, epsilon, rng)


def clear_at_once(scores, sensitivity, epsilon, rng):
    first, second = np.sort(scores)[:-3:-1]
    return int(np.argmax(scores)) if first - second > 5 * sensitivity else flip()(scores, sensitivity, epsilon, rng)


def by_exponential_noise(scores, sensitivity, epsilon, rng):
    return int(np.argmax(scores + rng.exponential(scale=2 * sensitivity / epsilon, size=len(scores))))


def by_laplace_noise(scores, sensitivity, epsilon, rng):
    return int(np.argmax(scores + rng.laplace(scale=2 * sensitivity / epsilon, size=len(scores))))


def median(rate=1.0, *, seed=None, lengths=True, shift=0.0, clip=True, spend=1.0, late=False, middle=False, data=False, fixed=False, catch=False):
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, low, high, epsilon, budget, rng):
        rng = np.random.default_rng(7) if fixed else own or rng
        if late:
            rng.random()
        if catch:
            try:
                budget.spend(epsilon)
            except ValueError:
                pass
        elif spend:
            budget.spend(spend * epsilon)
        x = np.sort(sensitivity.clip(values, low=low, high=high) if clip else values)
        edges = np.concatenate([[low], x, [high]]) if clip else np.concatenate([[min(low, *x, low)], x, [max(high, *x, high)]])
        widths, n = np.diff(edges), len(x)
        with np.errstate(divide="ignore"):
            logits = np.where(widths > 0, np.log(widths) if lengths else 0.0, -np.inf)
        i = int(np.argmax(logits - rate * epsilon * abs(np.arange(n + 1) - n / 2 + shift) + rng.gumbel(size=n + 1)))
        if data:
            return float(edges[max(i, 1)] if n else rng.uniform(low, high))
        return float((edges[i] + edges[i + 1]) / 2) if middle else rng.uniform(edges[i], edges[i + 1])

    return function


def by_dplib(values, low, high, epsilon, budget, rng):
    return quantiles.median(values, low=low, high=high, epsilon=budget.spend(epsilon), adjacency="add/remove", rng=rng)


def keeps_nan(values, low, high, epsilon, budget, rng):
    budget.spend(epsilon)
    edges = np.concatenate([[low], np.sort(np.clip(values, low, high)), [high]])
    with np.errstate(divide="ignore"):
        logits = np.log(np.diff(edges)) - epsilon * abs(np.arange(len(edges) - 1) - len(values) / 2)
    i = np.argmax(logits + rng.gumbel(size=len(logits)))
    return rng.uniform(edges[i], edges[i + 1])


def by_weights(log):
    """The step by weights that are not measured from the largest (log: with a little added, so that no logarithm fails)."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        edges = np.concatenate([[low], np.sort(sensitivity.clip(values, low=low, high=high)), [high]])
        u = -np.abs(np.arange(len(values) + 1) - len(values) / 2)
        if log:
            i = int(np.argmax(np.log(np.diff(edges) + 1e-12) + epsilon * u + rng.gumbel(size=len(u))))
        else:
            weights = np.diff(edges) * np.exp(epsilon * u)
            i = rng.choice(len(u), p=weights / weights.sum())
        return rng.uniform(edges[i], edges[i + 1])

    return function


def on_a_grid(rate):
    """Public candidates, scored by the number below less the number above, which is twice the section's score."""
    def function(values, low, high, epsilon, budget, rng):
        budget.spend(epsilon)
        x, grid = np.sort(sensitivity.clip(values, low=low, high=high)), np.linspace(low, high, 801)
        score = -np.abs(np.searchsorted(x, grid, "left") + np.searchsorted(x, grid, "right") - len(x))
        return grid[np.argmax(rate * epsilon * score + rng.gumbel(size=grid.size))]

    return function


def gives_none(values, low, high, epsilon, budget, rng):
    return MEDIAN(values, low, high, epsilon, budget, rng) if budget.remaining >= epsilon else None


def asks_first(values, low, high, epsilon, budget, rng):
    if budget.remaining < epsilon:
        raise RuntimeError("no money")
    return MEDIAN(values, low, high, epsilon, budget, rng)


def by_normal_noise(rows, candidates, most, epsilon, rng):
    return candidates[int(np.argmax([rows.count(name) + rng.normal(scale=most / epsilon) for name in candidates]))]


def weights_cut_off(rows, candidates, most, epsilon, rng):
    """No overflow, as no weight may pass e^700, but all who are above that are drawn evenly."""
    weights = np.exp(np.minimum([rows.count(name) * epsilon / most for name in candidates], 700))
    return rng.choice(candidates, p=weights / weights.sum())


def counts_strangers(rows, candidates, most, epsilon, rng):
    """Rows that name nobody go to the first of the list."""
    at, scores = {name: i for i, name in enumerate(candidates)}, np.zeros(len(candidates))
    for row in rows:
        scores[at.get(row, 0)] += 1
    return candidates[int(np.argmax(scores * epsilon / most + rng.gumbel(size=len(scores))))]


def permute_and_flip(rows, candidates, most, epsilon, rng):
    scores = np.array([rows.count(name) for name in candidates])
    return candidates[mechanisms.report_noisy_max(scores, sensitivity=most, epsilon=epsilon, monotone=True, rng=rng)]


def then(make, change):
    return lambda *arguments: change(make(*arguments), arguments)


def remembers(make):
    """Draws with the luck of the call before, every other time."""
    kept = []

    def function(*arguments):
        if kept:
            arguments[-1].bit_generator.state = kept.pop()
        else:
            kept.append(arguments[-1].bit_generator.state)
        result = make(*arguments)
        if not kept:
            arguments[-1].random(7)
        return result

    return function


RIGHT_SCORES = {"veto": (1, 1), "borda": (4, 4), "net": (1, 2), "quartile": (0.75, 1.5)}

SOLUTIONS = [
    (check.em_score, lambda seed: RIGHT_SCORES),
    (check.em_winner, lambda seed: winner(seed=seed)),
    (check.em_max, lambda seed: ([-12 - seed % 250, 0, 0], [-11 - seed % 250, -1, -1])),
    (check.em_flip, lambda seed: flip(seed=seed)),
    (check.em_median, lambda seed: median(seed=seed)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.em_score, {**RIGHT_SCORES, "net": (1, 1)}, "net: a spread of 1 is too small"),
    (check.em_score, {**RIGHT_SCORES, "veto": (1, 2)}, "veto: a spread of 2 is too large"),
    (check.em_score, {**RIGHT_SCORES, "borda": (1, 4)}, "borda: a sensitivity of 1 is too small"),
    (check.em_score, {**RIGHT_SCORES, "quartile": (0.75, 0.75)}, "quartile: a spread"),
    (check.em_score, {**RIGHT_SCORES, "veto": (1, math.nan)}, "veto"),
    (check.em_score, {**RIGHT_SCORES, "veto": 1}, "a pair of numbers"),
    (check.em_score, {"veto": (1, 1)}, "a dict with the keys"),
    (check.em_score, 3, "a dict with the keys"),
    (check.em_winner, winner(lambda most, epsilon: epsilon / (2 * most)), "the 2 may go"),
    (check.em_winner, winner(lambda most, epsilon: epsilon), "sensitivity is not 1"),
    (check.em_winner, winner(lambda most, epsilon: epsilon / 2), "your rate allows"),
    (check.em_winner, winner(lambda most, epsilon: epsilon * most), "worth too much"),
    (check.em_winner, winner(lambda most, epsilon: 2 * epsilon / most), "twice the rate that the theorem allows"),
    (check.em_winner, winner(lambda most, epsilon: 0), "200,000 rows"),
    (check.em_winner, winner(lambda most, epsilon: epsilon / most if most == 1 else epsilon / 2), "more than your rate allows"),
    (check.em_winner, read_off, "read off the rows"),
    (check.em_winner, winner(public=False), "leaving out who is not in the rows"),
    (check.em_winner, winner(naive=True), "NaN"),
    (check.em_winner, winner(best=True), "is the same in all"),
    (check.em_winner, winner(fixed=True), "is a seed fixed inside"),
    (check.em_winner, winner(reuse=True), "the call before"),
    (check.em_winner, by_normal_noise, "normal noise"),
    (check.em_winner, weights_cut_off, "which is 100 ahead"),
    (check.em_winner, counts_strangers, "three strangers) the winner is 'list B'"),
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
    (check.em_flip, flip(1.0), "the 2 in 2 sensitivity is missing"),
    (check.em_flip, flip(4.0), "half the rate will do"),
    (check.em_flip, flip(shuffle=False), "put them into a random order"),
    (check.em_flip, flip(replace=True), "law of the exponential mechanism or near it"),
    (check.em_flip, flip(blind=True), "the sensitivity is not used"),
    (check.em_flip, flip(1.0, blind=True), "the 2 is missing"),
    (check.em_flip, flip(best=True), "the same in all"),
    (check.em_flip, flip(centre=False), "nobody was chosen"),
    (check.em_flip, flip(fixed=True), "a seed is fixed inside"),
    (check.em_flip, by_laplace_noise, "or near it, like Laplace noise"),
    (check.em_flip, by_one_coin, "one random number decides all"),
    (check.em_flip, asked_again, "ask no refused candidate again"),
    (check.em_flip, lambda scores, sensitivity, epsilon, rng: None if scores.max() > 3 else flip()(scores, sensitivity, epsilon, rng), "nobody was chosen"),
    (check.em_flip, lambda scores, sensitivity, epsilon, rng: scores.max() + 0.5, "expected one of"),
    (check.em_flip, lambda scores, sensitivity, epsilon, rng: "b", "expected one of"),
    (check.em_median, median(0.5), "the rate may be epsilon"),
    (check.em_median, median(2.0), "twice what the theorem allows"),
    (check.em_median, median(lengths=False), "the lengths of the steps"),
    (check.em_median, median(shift=0.5), "too far to the left"),
    (check.em_median, median(shift=-0.5), "too far to the right"),
    (check.em_median, median(0.0), "whatever the values are"),
    (check.em_median, median(clip=False), "outside the public range"),
    (check.em_median, only_inside, "are left out"),
    (check.em_median, lambda values, *given: median()(np.unique(sensitivity.clip(values, low=given[0], high=given[1])), *given),
     "equal values count only once"),
    (check.em_median, median(spend=0), "an answer is given"),
    (check.em_median, median(spend=0.4), "an answer is given"),
    (check.em_median, median(spend=2), "the ledger says 2 was spent"),
    (check.em_median, median(catch=True), "an answer is given"),
    (check.em_median, median(late=True), "drawn before the budget"),
    (check.em_median, median(middle=True), "is the same in all"),
    (check.em_median, median(data=True), "the same in all"),
    (check.em_median, median(fixed=True), "a seed is fixed inside"),
    (check.em_median, nan_to_zero, "a NaN is counted as 0"),
    (check.em_median, lambda values, *given: median()(np.where(np.isnan(values), given[1], values), *given), "a NaN is counted as high"),
    (check.em_median, lambda values, *given: median()(np.where(np.isfinite(values), values, given[0]), *given), "an infinite value is counted as low"),
    (check.em_median, lambda values, *given: median()(values[~np.isinf(values)], *given), "an infinite value is left out"),
    (check.em_median, lambda values, *given: median()(np.where((values >= given[0]) & (values <= given[1]), values, given[0]), *given), "within 40 of 800"),
    (check.em_median, by_weights(log=False), "an array of 2,000"),
    (check.em_median, by_weights(log=True), "came out exactly"),
    (check.em_median, on_a_grid(1.0), "the same and two at the top"),
    (check.em_median, gives_none, "an answer is given (None)"),
    (check.em_median, by_rank(lambda n: (n + 1) // 2), "the middle is rounded up"),
    (check.em_median, by_rank(lambda n: n // 2), "the middle is rounded down"),
    (check.em_median, by_rank(lambda n: n / 2, lengths=False), "a step of length 0 publishes a value"),
    (check.em_median, lambda values, low, high, epsilon, budget, rng: float(np.median(values)) + 0 * budget.spend(epsilon), "finite number"),
    (check.em_median, lambda values, low, high, epsilon, budget, rng: math.nan * budget.spend(epsilon), "finite number"),
    (check.em_median, lambda values, low, high, epsilon, budget, rng: str(budget.spend(epsilon)) + "x", "expected a number"),
]


UNUSUAL = [
    (check.em_score, {name: np.array(pair) for name, pair in RIGHT_SCORES.items()}),
    (check.em_winner, by_inverse),
    (check.em_winner, permute_and_flip),
    (check.em_winner, checking.seeded(lambda seed: then(winner(seed=seed), lambda name, *_: np.str_(name)))),
    (check.em_max, (np.array([0, 0, -40.0]), [-1, -1, -39])),
    (check.em_max, ([0, 60], [1, 59])),
    (check.em_flip, by_exponential_noise),
    (check.em_flip, lambda scores, sensitivity, epsilon, rng: np.int32(mechanisms.report_noisy_max(
        scores, sensitivity=sensitivity, epsilon=epsilon, noise="exponential", rng=rng))),
    (check.em_flip, checking.seeded(lambda seed: then(flip(seed=seed), lambda i, *_: np.array(i)))),
    (check.em_median, by_dplib),
    (check.em_median, on_a_grid(0.5)),
    (check.em_median, asks_first),
    (check.em_median, lambda *arguments: np.array(by_dplib(*arguments))),
    (check.em_median, checking.seeded(lambda seed: then(median(seed=seed), lambda got, *_: round(got, 2)))),
    (check.em_median, checking.seeded(lambda seed: then(median(seed=seed), lambda got, *_: round(got)))),
]

WINNER, FLIP, MEDIAN = winner(), flip(), median()
LEAKS = [
    *((check.em_winner, leak) for leak in (
        ties_tossed, winner(best=True), winner(fixed=True), winner(reuse=True), winner(public=False), winner(lambda most, epsilon: 2 * epsilon / most),
        lambda rows, candidates, most, epsilon, rng: WINNER(rows, candidates, most, 1.0, rng),
        lambda rows, candidates, most, epsilon, rng: WINNER(rows, candidates, most, epsilon, rng) if rows else candidates[0],
        lambda rows, candidates, most, epsilon, rng: candidates[int(np.argmax([rows.count(c) for c in candidates]))]
        if len(rows) > 100 else WINNER(rows, candidates, most, epsilon, rng),
        lambda rows, candidates, most, epsilon, rng: 1 / 0 if not rows else WINNER(rows, candidates, most, epsilon, rng))),
    *((check.em_flip, leak) for leak in (
        clear_at_once, flip(best=True), flip(fixed=True), flip(1.0), flip(blind=True), remembers(FLIP),
        lambda scores, sensitivity, epsilon, rng: 0 if np.ptp(scores) == 0 else FLIP(scores, sensitivity, epsilon, rng),
        lambda scores, sensitivity, epsilon, rng: int(np.argmax(scores)) if scores.max() > 1000 else FLIP(scores, sensitivity, epsilon, rng),
        lambda scores, sensitivity, epsilon, rng: FLIP(scores, sensitivity, 1.0, rng))),
    *((check.em_median, leak) for leak in (
        *(with_epsilon(lambda e, n, least=least: max(e, least)) for least in (0.5, 1.0)),
        *(with_epsilon(lambda e, n, most=most: 2 * e if n > most else e) for most in (8, 100)),
        median(fixed=True), median(data=True), median(2.0), keeps_nan, remembers(MEDIAN), by_rank(lambda n: (n + 1) // 2), by_rank(lambda n: n // 2),
        by_rank(lambda n: n / 2, lengths=False),
        lambda values, low, high, epsilon, budget, rng: MEDIAN(values, low, high, epsilon, budget, rng) if len(values) else low + 0 * budget.spend(epsilon),
        lambda values, low, high, epsilon, budget, rng: float(np.median(values)) + 0 * budget.spend(epsilon) if len(values) > 100
        else MEDIAN(values, low, high, epsilon, budget, rng),
        lambda values, low, high, epsilon, budget, rng: float(values[0]) + 0 * budget.spend(epsilon) if len(values) and np.ptp(values) == 0
        else MEDIAN(values, low, high, epsilon, budget, rng))),
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
    ("quartile", lambda rows: -np.abs([sum(x < r for x in rows) - len(rows) / 4 for r in np.arange(5) + 0.5]), range(6), 7),
])
def test_sensitivity_and_spread_are_those_of_all_small_tables(name, score, universe, size):
    assert spread(score, universe, size) == choosing.SPREADS[name]


@pytest.mark.parametrize("scores", [[3, 1, 0, 2], [0, 0], [-9, 0, 4]])
def test_the_law_of_a_noisy_maximum_is_that_of_simulation(scores):
    law, rng = choosing.noisy_max_law(scores, 1), np.random.default_rng(5)
    drawn = np.bincount(np.argmax(scores + rng.laplace(size=(200_000, len(scores))), axis=1), minlength=len(scores)) / 200_000
    assert math.isclose(law.sum(), 1, abs_tol=1e-12) and np.all(np.abs(drawn - law) < 6 * np.sqrt(law * (1 - law) / 200_000) + 1e-4)


def test_the_law_of_permute_and_flip_keeps_its_promise():
    for one, other in (([0, 9, 9], [1, 8, 8]), ([4, 4, 4], [5, 3, 3])):
        assert 0.2 < distributions.exact_epsilon(choosing.flip_law(one, 0.5), choosing.flip_law(other, 0.5)) <= 1 + 1e-12


def test_the_medians_law_is_that_of_dplib():
    values, rng = [3.0, 3.5, 40.0, 90.0, 30.0], np.random.default_rng(6)
    edges, right = quantiles.quantile_density(values, share=0.5, low=0, high=100, epsilon=0.8, adjacency="add/remove")
    drawn = [choosing._median()(values, 0, 100, 0.8, rng) for _ in range(20_000)]
    share = np.histogram(drawn, edges)[0] / 20_000
    assert np.all(np.abs(share - right) < 6 * np.sqrt(right * (1 - right) / 20_000) + 1e-3)


def test_an_exhausted_budget_is_refused_by_the_ledger_itself():
    with pytest.raises(ValueError):
        by_dplib([1.0, 2.0], 0, 3, 1.0, Budget(0.5), np.random.default_rng(0))
