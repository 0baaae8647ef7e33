"""The checkers of the section on noise that fits the data: silent on the stub, content with the solution, and able to say what is wrong."""
import math

import numpy as np
import pytest

from dplib import data_dependent as dd
from dplib.teaching import check
from dplib.teaching.check.mechanisms import data_dependent

WITNESS = ([0, 0, 0, 0, 100], [0, 0, 0, 100, 100], 0)


def release(test=2.0, answer=2.0, *, threshold=None, seed=None, reuse=False, exact=False, on_exact=False, fixed=False, pairs=False, bound_in=True):
    """A learner's propose-test-release, right unless told otherwise; with `seed`, on luck of its own."""
    own, last = None if seed is None else np.random.default_rng(seed), []

    def function(value, distance, bound, epsilon, delta, rng):
        rng = own or (np.random.default_rng(4) if fixed else rng)
        level = 2 / epsilon * math.log(1 / (2 * delta)) if threshold is None else threshold(epsilon, delta)
        luck = rng.laplace()
        if distance + (0 if on_exact else luck * test / epsilon) <= level:
            return None
        noise = luck if reuse else rng.laplace()
        if pairs:
            noise = -last.pop() if last else last.append(noise) or noise
        return value if exact else value + noise * (bound if bound_in else 1) * answer / epsilon

    return function


def wrong_way_round(value, distance, bound, epsilon, delta, rng):
    if distance + rng.laplace(scale=2 / epsilon) > 2 / epsilon * math.log(1 / (2 * delta)):
        return None
    return value + rng.laplace(scale=2 * bound / epsilon)


def most_frequent(values, estimate, blocks, low, high, epsilon, rng):
    """The commonest answer of the blocks in the place of their mean, with the noise of the mean."""
    labels = rng.integers(blocks, size=len(values))
    answers = [estimate([v for v, own in zip(values, labels, strict=True) if own == block]) if (labels == block).any() else (low + high) / 2
               for block in range(blocks)]
    answers = np.nan_to_num(np.clip(answers, low, high), nan=low)
    found, times = np.unique(answers, return_counts=True)
    return (found[times.argmax()] if len(values) > 50 else answers.mean()) + rng.laplace(scale=(high - low) / blocks / epsilon)


def in_arrays(value, distance, bound, epsilon, delta, rng):
    """Laplace noise as a difference of exponentials; an array of one number."""
    first, second = rng.exponential(size=2) - rng.exponential(size=2)
    if distance + 2 * first / epsilon > 2 * np.log(0.5 / delta) / epsilon:
        return np.float64(value + 2 * bound * second / epsilon)


def aggregate(scale=1.0, *, seed=None, label=None, clipped=True, empty=None, filled_only=False, clip_mean=False, fixed=False, no_noise=False,
              by=None, twice=False, no_epsilon=False, drop=False, share=False):
    """A learner's sample and aggregate, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(rows, estimate, blocks, low, high, epsilon, rng):
        rng = own or (np.random.default_rng(4) if fixed else rng)
        labels = rng.integers(blocks, size=len(rows)) if label is None else label(len(rows), blocks, rng)
        answers = []
        for j in range(blocks):
            part = [row for row, block in zip(rows, labels, strict=True) if block == j]
            if drop:
                part = part[:3]
            if part and share:
                part = [*part, rows[0]] if rows[0] not in part else part
            if part or not filled_only:
                got = estimate(part) if part else ((low + high) / 2 if empty is None else empty(low, high))
                if twice and part:
                    estimate(part)
                answers.append(min(max(got, low), high) if clipped else got)
        mean = sum(answers) / max(len(answers), 1)
        mean = min(max(mean, low), high) if clip_mean else mean
        width = (high - low) / (blocks if by is None else by(len(rows), blocks)) / (1 if no_epsilon else epsilon)
        return mean + (0 if no_noise else rng.laplace(scale=scale * width))

    return function


def with_arrays(rows, estimate, blocks, low, high, epsilon, rng):
    """Coins one by one, rows handed over as an array, Laplace noise from exponentials."""
    parts = [[] for _ in range(blocks)]
    for row in rows:
        parts[int(rng.random() * blocks)].append(row)
    answers = np.clip([estimate(np.array(part)) if part else (low + high) / 2 for part in parts], low, high)
    return answers.mean() + (high - low) / blocks / epsilon * (rng.exponential() - rng.exponential())


def positional(n, blocks, rng):
    return np.arange(n) // max(-(-n // blocks), 1)


def balanced(n, blocks, rng):
    return rng.permutation(np.arange(n) % blocks)


def reach(values, low, high):
    x = np.clip(values, low, high)
    return max((high - x.mean()) / (len(x) + 1), (x.mean() - low) / (len(x) + 1), *np.abs(x - x.mean()) / (len(x) - 1))


def by_trying(values, low, high):
    x = [min(max(float(v), low), high) for v in values]
    mean, near = sum(x) / len(x), [x + [low], x + [high], *([*x[:i], *x[i + 1:]] for i in range(len(x)))]
    return max(abs(sum(table) / len(table) - mean) for table in near)


def smooth(values, beta, low, high):
    return dd.smooth_sensitivity(values, beta=beta, low=low, high=high)


def walk(values, beta, low, high, *, ends=True, late=0, clip=True, upper=False, steps=None, discount=1.0):
    x = sorted(min(max(v, low), high) if clip else v for v in values)
    m = len(x) // 2 + 1 if upper else (len(x) + 1) // 2
    x, m = ([low, *x, high], m) if ends else (x, m - 1)
    top = len(x) - 1
    return max(math.exp(-discount * beta * (t + late)) * max(x[min(i + t + 1, top)] - x[max(i, 0)] for i in range(m - t - 1, m + 1))
               for t in range(len(values) + 1 if steps is None else steps))


def stub(*arguments):
    ...


STUBS = [(check.dd_witness, ...), (check.dd_mean, stub), (check.dd_smooth, stub), (check.dd_test, stub), (check.dd_blocks, stub)]

SOLUTIONS = [
    (check.dd_witness, lambda seed: WITNESS),
    (check.dd_mean, lambda seed: reach),
    (check.dd_smooth, lambda seed: smooth),
    (check.dd_test, lambda seed: release(seed=seed)),
    (check.dd_blocks, lambda seed: aggregate(seed=seed)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.dd_witness, ([0, 0, 0, 0, 100], [0, 0, 0, 100, 100], 50), "look for scales farther apart"),
    (check.dd_witness, ([0], [100], 0), "the two scales are equal"),
    (check.dd_witness, ([50, 0], [50, 50], 0), "the two scales are equal"),
    (check.dd_witness, ([0, 0, 0, 0, 100], [0, 0, 100, 100, 100], 0), "differ in 2 incomes"),
    (check.dd_witness, ([0, 0, 0], [0, 0, 100, 100], 0), "3 and 4 incomes"),
    (check.dd_witness, ([0, 0, 0, 0, 1e6], [0, 0, 0, 1e6, 1e6], 0), "outside of the public range"),
    (check.dd_witness, ([], [], 0), "one or more incomes"),
    (check.dd_witness, ([0, math.nan], [0, 1], 0), "finite"),
    (check.dd_witness, 3, "expected (table, neighbour, answer)"),
    (check.dd_mean, lambda values, low, high: high / (len(values) + 1), "u/(n + 1)"),
    (check.dd_mean, lambda values, low, high: (high - low) / len(values), "worst case over all tables"),
    (check.dd_mean, lambda values, low, high: np.abs(np.clip(values, low, high) - np.clip(values, low, high).mean()).max() / (len(values) - 1),
     "a row that goes away can do; one that comes in"),
    (check.dd_mean, lambda values, low, high: reach(values, min(low, *values), max(high, *values)), "one row moves"),
    (check.dd_mean, lambda values, low, high: 1.01 * reach(values, low, high), "one row moves"),
    (check.dd_mean, lambda values, low, high: "far", "expected a number"),
    (check.dd_mean, lambda values, low, high: math.inf, "finite"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, steps=1), "this table alone"),
    (check.dd_smooth, lambda values, beta, low, high: high - low, "whole range"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, ends=False), "ends of the range"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, late=1), "one step too many"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, upper=True), "other middle value"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, clip=False), "not clipped"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, steps=min(len(values), 4)), "but the search finds"),
    (check.dd_smooth, lambda values, beta, low, high: 2 * smooth(values, beta, low, high), "larger than need be"),
    (check.dd_smooth, lambda values, beta, low, high: 0.99 * smooth(values, beta, low, high), "too small"),
    (check.dd_smooth, lambda values, beta, low, high: smooth(values, beta, low, high) if len(values) > 1 else 0.0, "the search finds"),
    (check.dd_test, release(test=1.0, answer=1.0, threshold=lambda epsilon, delta: math.log(0.5 / delta) / epsilon), "2 epsilon in all"),
    (check.dd_test, release(test=1.0, answer=1.0, threshold=lambda epsilon, delta: math.log(2 / delta) / (2 * epsilon)), "far more often than delta"),
    (check.dd_test, release(threshold=lambda epsilon, delta: math.log(2 / delta) / epsilon), "more often than delta"),
    (check.dd_test, release(threshold=lambda epsilon, delta: 2 * math.log(1 / delta) / epsilon), "half as often"),
    (check.dd_test, release(threshold=lambda epsilon, delta: math.log(0.5 / delta) / epsilon), "passes too often"),
    (check.dd_test, release(test=1.0), "test's noise has half"),
    (check.dd_test, release(answer=1.0), "answer's noise has half"),
    (check.dd_test, release(answer=4.0), "twice the scale"),
    (check.dd_test, release(bound_in=False), "does not know the bound"),
    (check.dd_test, release(threshold=lambda epsilon, delta: -1e9), "tested or not"),
    (check.dd_test, release(threshold=lambda epsilon, delta: 2 / epsilon * math.log(0.5 / max(delta, 0.01))), "tested or not"),
    (check.dd_test, wrong_way_round, "wrong way round"),
    (check.dd_test, release(reuse=True), "used again"),
    (check.dd_test, lambda value, distance, *rest: release(answer=1.0 if distance > 20 else 2.0)(value, distance, *rest), "distance 40"),
    (check.dd_test, lambda value, distance, *rest: release(answer=1.0 if value > 500 else 2.0)(value, distance, *rest), "half the scale"),
    (check.dd_test, release(exact=True), "exact value"),
    (check.dd_test, release(on_exact=True), "compared without noise"),
    (check.dd_test, release(fixed=True), "same noise comes again"),
    (check.dd_test, release(pairs=True), "next one's"),
    (check.dd_test, lambda *arguments: "no", "expected a number or None"),
    (check.dd_test, lambda value: None, "TypeError"),
    (check.dd_blocks, aggregate(label=positional), "fixed size"),
    (check.dd_blocks, aggregate(label=balanced), "fixed size"),
    (check.dd_blocks, aggregate(label=lambda n, blocks, rng: np.full(n, rng.integers(blocks))), "three rows, two blocks"),
    (check.dd_blocks, aggregate(drop=True), "came into blocks"),
    (check.dd_blocks, aggregate(share=True), "in two blocks"),
    (check.dd_blocks, aggregate(twice=True), "in two blocks, or a block was asked twice"),
    (check.dd_blocks, aggregate(clipped=False), "clipped"),
    (check.dd_blocks, aggregate(clipped=False, clip_mean=True), "lie around"),
    (check.dd_blocks, aggregate(filled_only=True), "divide by"),
    (check.dd_blocks, aggregate(empty=lambda low, high: low), "middle of the range"),
    (check.dd_blocks, most_frequent, "but the mean is 2"),
    (check.dd_blocks, aggregate(0.5), "half the scale"),
    (check.dd_blocks, aggregate(2.0), "twice the scale"),
    (check.dd_blocks, aggregate(no_epsilon=True), "does not know epsilon"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: 1), "all blocks"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: max(n, 1)), "number of rows"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: blocks if n > 9 else 2 * blocks), "1 rows, 10 blocks"),
    (check.dd_blocks, aggregate(no_noise=True), "no noise"),
    (check.dd_blocks, aggregate(fixed=True), "three rows, two blocks"),
    (check.dd_blocks, lambda rows, estimate, blocks, low, high, epsilon, rng: estimate([]), "empty block"),
    (check.dd_blocks, lambda *arguments: math.nan, "finite"),
]


def test_every_checker_is_tested():
    names = set(data_dependent.__all__)
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == names


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, None) for checker, _ in STUBS)])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    for seed in range(20):                       # 260 chi-square tests at 1e-6 in all, and as many at six or seven standard errors
        assert says(checker, solution(seed)).startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and reason in said


@pytest.mark.parametrize("checker, answer", [
    (check.dd_witness, (np.array([100, 0, 0, 0, 0]), (0, 100, 0, 0, 100), np.float64(-1e6))),
    (check.dd_mean, by_trying),
    (check.dd_smooth, walk),
    (check.dd_smooth, lambda values, beta, low, high: np.float64(walk(list(values), beta, low, high))),
    (check.dd_test, in_arrays),
    (check.dd_blocks, with_arrays),
])
def test_an_unusual_answer_that_is_right_is_accepted(says, checker, answer):
    assert says(checker, answer).startswith("✓")
