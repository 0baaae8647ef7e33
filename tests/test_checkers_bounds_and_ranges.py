"""The checkers of the section on clip bounds and range queries: silent on the stub, content with the solution, clear about mistakes."""
import numpy as np
import pytest
from scipy.optimize import brentq

from dplib import mechanisms, svt
from dplib.budget import Budget
from dplib.teaching import check
from dplib.teaching.check.sparse_vector import bounds_and_ranges


def stub(*arguments):
    ...


def count_above(values, bounds):
    return len(values) - np.searchsorted(np.sort(values), bounds, side="right")


def auto_mean(*, seed=None, silent=-1, monotone=True, search=1 / 3, total=1 / 3, number=1 / 3, charge=(1 / 3, 1 / 3, 1 / 3), clip=True,
              unit=False, sign=-1, own_budget=False, always=None, exact=False):
    """A learner's automatic mean, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, bounds, threshold, budget, rng):
        rng, epsilon = own or rng, budget.epsilon
        budget = Budget(epsilon) if own_budget else budget
        for share in charge:
            budget.spend(share * epsilon)
        found = svt.above_threshold(sign * count_above(values, bounds), threshold, epsilon=search * epsilon, monotone=monotone, rng=rng)
        nothing = int(rng.integers(len(bounds))) if silent == "random" else silent
        bound = bounds[found[0] if found.size else nothing] if always is None else bounds[always]
        clipped = np.minimum(values, bound).sum() if clip else values.sum()
        noisy = clipped if exact else mechanisms.laplace(clipped, sensitivity=1 if unit else bound, epsilon=total * epsilon, rng=rng)
        return bound, noisy, mechanisms.laplace(len(values), sensitivity=1, epsilon=number * epsilon, rng=rng)

    return function


def release(*, seed=None, c=2, search=0.5, scale=4.0, monotone=True, reuse=False, one=False, table=None):
    """A learner's range release, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(queries, mine, threshold, rng):
        rng = own or rng
        counts = np.array([query(mine if table is None else table) for query in queries])
        if reuse or one:
            noise = svt.scales(0.5, c=1 if one else 2, monotone=True)
            level, noisy = threshold + rng.laplace(scale=noise.threshold), counts + rng.laplace(scale=noise.query, size=len(counts))
            return [(i, noisy[i] if reuse else counts[i] + rng.laplace(scale=scale)) for i in np.flatnonzero(noisy >= level)[:2]]
        found = svt.above_threshold(counts, threshold, epsilon=search, c=c, monotone=monotone, rng=rng)[:2]
        return [(i, counts[i] + (rng.laplace(scale=scale) if scale else 0.0)) for i in found]

    return function


def level(k, people, epsilon, beta, *, monotone=True):
    def excess(threshold):
        noise = svt.scales(epsilon, monotone=monotone)
        return -np.expm1(svt.log_probability(np.zeros(k), np.full(k, -float(people)), threshold, noise=noise)) - beta

    return brentq(excess, -people, 2000 / epsilon)


def smallest_k(c, numeric):
    return int(np.floor(c / numeric + 1e-9)) + 1


def loop_over_bounds(values, bounds):
    return np.array([(values > bound).sum() for bound in bounds])


def loop_over_values(values, bounds):
    counts = np.zeros(len(bounds))
    for value in values:
        counts += value > bounds
    return counts


def sorts_in_place(values, bounds):
    values.sort()
    return count_above(values, bounds)


STUBS = [
    (check.svt_auto_mean, stub), (check.svt_vectorise, stub), (check.svt_threshold, stub), (check.svt_global, stub), (check.svt_gain, stub),
]

SOLUTIONS = [
    (check.svt_auto_mean, lambda seed: auto_mean(seed=seed)),
    (check.svt_vectorise, lambda seed: count_above),
    (check.svt_threshold, lambda seed: level),
    (check.svt_global, lambda seed: release(seed=seed)),
    (check.svt_gain, lambda seed: smallest_k),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_auto_mean, auto_mean(silent="random"), "drawn at random says nothing"),
    (check.svt_auto_mean, auto_mean(silent=0), "nothing passes a threshold of a million"),
    (check.svt_auto_mean, auto_mean(monotone=False), "twice what counts need"),
    (check.svt_auto_mean, auto_mean(search=1), "spends all of ε"),
    (check.svt_auto_mean, auto_mean(search=2 / 3), "half of what it must be"),
    (check.svt_auto_mean, auto_mean(search=1e6), "no noise: the bound tells"),
    (check.svt_auto_mean, auto_mean(always=-1), "first candidate 10 must be chosen"),
    (check.svt_auto_mean, auto_mean(sign=1), "wrong sign"),
    (check.svt_auto_mean, auto_mean(clip=False), "not clipped"),
    (check.svt_auto_mean, auto_mean(unit=True), "sensitivity 1"),
    (check.svt_auto_mean, auto_mean(exact=True), "the noisy sum has no noise"),
    (check.svt_auto_mean, auto_mean(total=1), "the noisy sum has a third"),
    (check.svt_auto_mean, auto_mean(total=1 / 6), "the noisy sum has twice"),
    (check.svt_auto_mean, auto_mean(number=1), "the noisy count has a third"),
    (check.svt_auto_mean, auto_mean(number=2 / 3), "the noisy count has half"),
    (check.svt_auto_mean, auto_mean(charge=()), "nothing was charged"),
    (check.svt_auto_mean, auto_mean(charge=(1 / 3, 1 / 3)), "three releases"),
    (check.svt_auto_mean, auto_mean(charge=(0.5, 0.25, 0.25)), "a third of ε each"),
    (check.svt_auto_mean, auto_mean(own_budget=True), "nothing was charged"),
    (check.svt_auto_mean, lambda *arguments: 7.0, "expected a tuple"),
    (check.svt_auto_mean, 7.0, "expected a function"),
    (check.svt_vectorise, loop_over_bounds, "loops over the bounds"),
    (check.svt_vectorise, lambda values, bounds: [sum(v > b for v in values) for b in bounds], "loops over the"),
    (check.svt_vectorise, lambda values: 0, "TypeError"),
    (check.svt_vectorise, loop_over_values, "loops over the values"),
    (check.svt_vectorise, lambda values, bounds: (values[:, None] > bounds).sum(axis=0), "table of values times bounds"),
    (check.svt_vectorise, lambda values, bounds: len(values) - np.searchsorted(np.sort(values), bounds), "which side"),
    (check.svt_vectorise, lambda values, bounds: np.searchsorted(np.sort(values), bounds, side="right"), "not above"),
    (check.svt_vectorise, lambda values, bounds: -count_above(values, bounds), "sign of the queries"),
    (check.svt_vectorise, lambda values, bounds: len(values) - np.searchsorted(values, bounds, side="right"), "are the values sorted"),
    (check.svt_vectorise, lambda values, bounds: count_above(values, bounds)[:5], "expected"),
    (check.svt_vectorise, sorts_in_place, "sort a copy"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + people, "distance from the answers"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta, monotone=False), "monotone=True"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(1, people, epsilon, beta), "too low"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + 2 * people, "lay at +people"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + 1 / epsilon, "higher than needed"),
    (check.svt_threshold, lambda k, people, epsilon, beta: 0.0, "too early in 16.5%"),
    (check.svt_threshold, lambda k, people, epsilon, beta: "low", "expected form"),
    (check.svt_global, release(table=[]), "not the argument"),
    (check.svt_global, release(scale=2.0), "half of the noise"),
    (check.svt_global, release(scale=8.0), "twice the noise"),
    (check.svt_global, release(scale=0), "no noise"),
    (check.svt_global, release(reuse=True), "fresh noise"),
    (check.svt_global, release(one=True), "noise for one range"),
    (check.svt_global, release(search=1.0), "spends all of ε"),
    (check.svt_global, release(monotone=False), "twice the noise that counts need"),
    (check.svt_global, release(search=500.0), "without noise"),
    (check.svt_global, lambda queries, table, threshold, rng: [query(adult) for query in queries], "not among its arguments"),  # noqa: F821
    (check.svt_global, lambda queries, table, threshold, rng: [(0, 1.0), (0, 1.0)], "at most two pairs"),
    (check.svt_gain, lambda c, numeric: int(round(c / numeric)), "a tie"),
    (check.svt_gain, lambda c, numeric: 2 * c + 1, "for c=3"),
    (check.svt_gain, lambda c, numeric: c + 1, "no gain"),
    (check.svt_gain, lambda c, numeric: smallest_k(c, numeric) + 1, "already have scale"),
    (check.svt_gain, lambda c, numeric: c / numeric + 0.3, "whole number"),
]


def test_every_checker_is_tested():
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == set(bounds_and_ranges.__all__)


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, ...) for checker, _ in STUBS)])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    lines = {says(checker, solution(seed)) for seed in range(20)}      # 20 times five chi-square tests at 1e-6
    assert len(lines) == 1 and lines.pop().startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and reason in said, said
