"""The checkers of the section on noise that fits the data: silent on the stub, content with the solution, and able to say what is wrong."""
import math

import numpy as np

from dplib import data_dependent as dd
from provable_privacy import check

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


def by_quantiles(value, distance, bound, epsilon, delta, rng):
    """Laplace noise from its quantile function."""
    def noise(scale):
        u = rng.random() - 0.5
        return -scale * math.copysign(math.log1p(-2 * abs(u)), u)

    half = epsilon / 2
    return value + noise(bound / half) if distance + noise(1 / half) > math.log(1 / (2 * delta)) / half else None


def cut_off(value, distance, bound, epsilon, delta, rng):
    """The noise of the test ends at four scales: with a small δ one distance never passes, and the next one often."""
    test, answer = np.clip(rng.laplace(), -4, 4), rng.laplace()
    return value + 2 * bound * answer / epsilon if distance + 2 * test / epsilon > -2 * math.log(2 * delta) / epsilon else None


def normal_test(value, distance, bound, epsilon, delta, rng):
    """Normal noise in the test, as wide as the Laplace noise: no ratio holds far out."""
    test, answer = math.sqrt(2) * rng.normal(), rng.laplace()
    return value + 2 * bound * answer / epsilon if distance + 2 * test / epsilon > -2 * math.log(2 * delta) / epsilon else None


def noise_first(value, distance, bound, epsilon, delta, rng):
    """Both noises are drawn before the test, whatever comes of it."""
    answer, test = value + rng.laplace(scale=2 * bound / epsilon), distance + rng.laplace(scale=2 / epsilon)
    return float(answer) if test * epsilon > -2 * math.log(2 * delta) else None


def by_hash(rows, estimate, blocks, low, high, epsilon, rng):
    """The block is a salted hash of the row's value."""
    salt, parts = int(rng.integers(2**60)), [[] for _ in range(blocks)]
    for row in rows:
        parts[np.random.default_rng([salt, abs(hash(row))]).integers(blocks)].append(row)
    return np.mean([min(max(estimate(part), low), high) if part else (low + high) / 2 for part in parts]) + rng.laplace(scale=(high - low) / blocks / epsilon)


def without_outliers(values, estimate, blocks, low, high, epsilon, rng):
    """Answers more than three standard deviations from the mean of the blocks are left out."""
    labels = rng.integers(blocks, size=len(values))
    answers = np.clip([estimate([v for v, own in zip(values, labels, strict=True) if own == block]) if (labels == block).any() else (low + high) / 2
                       for block in range(blocks)], low, high)
    kept = answers[abs(answers - answers.mean()) <= 3 * answers.std() + 1e-9]
    return kept.mean() + rng.laplace(scale=(high - low) / blocks / epsilon)


def drawn_again(rows, estimate, blocks, low, high, epsilon, rng):
    """Noise farther out than four scales is drawn again."""
    exact = aggregate(no_noise=True)(rows, estimate, blocks, low, high, epsilon, rng)
    while abs(noise := rng.laplace()) > 4:
        pass
    return exact + noise * (high - low) / blocks / epsilon


def shuffled_first(rows, estimate, blocks, low, high, epsilon, rng):
    return aggregate()([rows[i] for i in rng.permutation(len(rows))], estimate, blocks, low, high, epsilon, rng)


def positional(n, blocks, rng):
    return np.arange(n) // max(-(-n // blocks), 1)


def balanced(n, blocks, rng):
    return rng.permutation(np.arange(n) % blocks)


def none_empty(n, blocks, rng):
    """Coins, tossed again until every block has a row."""
    while True:
        labels = rng.integers(blocks, size=n)
        if n < blocks or len(set(labels.tolist())) == blocks:
            return labels


def infinite_to_middle(rows, estimate, blocks, low, high, epsilon, rng):
    def finite(part):
        answer = estimate(part)
        return (low + high) / 2 if math.isinf(answer) else answer

    return aggregate()(rows, finite, blocks, low, high, epsilon, rng)


def reach(values, low, high):
    x = np.clip(values, low, high)
    return max((high - x.mean()) / (len(x) + 1), (x.mean() - low) / (len(x) + 1), *np.abs(x - x.mean()) / (len(x) - 1))


def by_trying(values, low, high):
    x = [min(max(float(v), low), high) for v in values]
    mean, near = sum(x) / len(x), [x + [low], x + [high], *([*x[:i], *x[i + 1:]] for i in range(len(x)))]
    return max(abs(sum(table) / len(table) - mean) for table in near)


def smooth(values, beta, low, high):
    return dd.smooth_sensitivity(values, beta=beta, low=low, high=high)


def walk(values, beta, low, high, *, ends=True, late=0, clip=True, upper=False, steps=None, discount=1.0, last=1):
    x = sorted(min(max(v, low), high) if clip else v for v in values)
    m = len(x) // 2 + 1 if upper else (len(x) + 1) // 2
    x, m = ([low, *x, high], m) if ends else (x, m - 1)
    top = len(x) - 1
    return max(math.exp(-discount * beta * (t + late)) * max(x[min(i + t + 1, top)] - x[max(i, 0)] for i in range(m - t - 1, m + last))
               for t in range(len(values) + 1 if steps is None else steps))


SOLUTIONS = [
    (check.dd_witness, lambda seed: WITNESS),
    (check.dd_mean, lambda seed: reach),
    (check.dd_smooth, lambda seed: smooth),
    (check.dd_test, lambda seed: release(seed=seed)),
    (check.dd_blocks, lambda seed: aggregate(seed=seed)),
]

UNUSUAL = [
    (check.dd_witness, (np.array([100, 0, 0, 0, 0]), (0, 100, 0, 0, 100), np.float64(-1e6))),
    (check.dd_mean, by_trying),
    (check.dd_smooth, walk),
    (check.dd_smooth, lambda values, beta, low, high: np.float64(walk(list(values), beta, low, high))),
    (check.dd_test, in_arrays),
    (check.dd_test, by_quantiles),
    (check.dd_test, noise_first),
    (check.dd_blocks, with_arrays),
    (check.dd_blocks, shuffled_first),
    (check.dd_blocks, aggregate(label=lambda n, blocks, rng: [int(rng.random() * blocks) for _ in range(n)])),
]

LEAKS = [(check.dd_test, answer) for answer in (
    cut_off, normal_test,
    release(test=1.0), release(answer=1.0), release(exact=True), release(on_exact=True), release(fixed=True), release(pairs=True), release(reuse=True),
    wrong_way_round, release(threshold=lambda epsilon, delta: math.log(2 / delta) / epsilon),
    lambda value, distance, *rest: release(answer=1.0 if distance > 20 else 2.0)(value, distance, *rest),
    lambda value, distance, *rest: release(answer=1.0 if value > 500 else 2.0)(value, distance, *rest),
    lambda value, distance, bound, epsilon, delta, rng: value if distance > 400 else release()(value, distance, bound, epsilon, delta, rng),
    lambda value, distance, bound, epsilon, delta, rng: None if distance == 0 else release()(value, distance, bound, epsilon, delta, rng),
    lambda value, distance, bound, epsilon, delta, rng: release()(value, distance, bound, epsilon, max(delta, 0.01), rng),
)] + [(check.dd_blocks, answer) for answer in (
    by_hash, without_outliers, drawn_again, aggregate(label=positional), aggregate(label=balanced), aggregate(share=True),
    aggregate(clipped=False), aggregate(filled_only=True),
    aggregate(no_noise=True), aggregate(fixed=True), aggregate(0.5), aggregate(by=lambda n, blocks: max(n, 1)),
    aggregate(by=lambda n, blocks: 2 * blocks if n > 100 else blocks), aggregate(by=lambda n, blocks: 2 * blocks if blocks > 10 else blocks),
    lambda rows, *rest: aggregate(no_noise=len(rows) > 100)(rows, *rest),
    lambda rows, *rest: aggregate(no_noise=len(rows) > 1 and len(set(rows)) == 1)(rows, *rest),
    lambda rows, estimate, blocks, low, high, epsilon, rng: aggregate()(rows, estimate, blocks, low, high, max(epsilon, 0.25), rng),
)]

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
    (check.dd_mean, lambda values, low, high: (high - low) / (len(values) + 1), "reach: not 20; values"),
    (check.dd_mean, lambda values, low, high: "far", "expected a number"),
    (check.dd_mean, lambda values, low, high: math.inf, "finite"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, steps=1), "this table alone"),
    (check.dd_smooth, lambda values, beta, low, high: high - low, "whole range"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, ends=False), "ends of the range"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, late=1), "one step too many"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, last=0), "no smooth bound lies below"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, discount=0.0), "no discount"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, upper=True), "other middle value"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, clip=False), "not clipped"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, steps=min(len(values), 4)), "but it is"),
    (check.dd_smooth, lambda values, beta, low, high: walk(values, beta, low, high, steps=min(len(values) + 1, 100)), "table of 400 rows"),
    (check.dd_smooth, lambda values, beta, low, high: 2 * smooth(values, beta, low, high), "larger than need be"),
    (check.dd_smooth, lambda values, beta, low, high: 0.99 * smooth(values, beta, low, high), "too small"),
    (check.dd_smooth, lambda values, beta, low, high: smooth(values, beta, low, high) if len(values) > 1 else 0.0, "but it is"),
    (check.dd_test, release(test=1.0, answer=1.0, threshold=lambda epsilon, delta: math.log(0.5 / delta) / epsilon), "2ε in all"),
    (check.dd_test, release(test=1.0, answer=1.0, threshold=lambda epsilon, delta: math.log(2 / delta) / (2 * epsilon)), "far more often than δ"),
    (check.dd_test, release(threshold=lambda epsilon, delta: math.log(2 / delta) / epsilon), "more often than δ"),
    (check.dd_test, release(threshold=lambda epsilon, delta: 2 * math.log(1 / delta) / epsilon), "half as often"),
    (check.dd_test, release(threshold=lambda epsilon, delta: 2 * math.log(2 / delta) / epsilon), "a quarter as often"),
    (check.dd_test, release(threshold=lambda epsilon, delta: math.log(0.5 / delta) / epsilon), "passes too often"),
    (check.dd_test, release(test=1.0), "test's noise has half"),
    (check.dd_test, release(test=4.0), "test's noise has twice"),
    (check.dd_test, release(threshold=lambda epsilon, delta: math.log(0.5 / delta)), "does not know ε"),
    (check.dd_test, release(answer=1.0), "answer's noise has half"),
    (check.dd_test, release(answer=4.0), "twice the scale"),
    (check.dd_test, release(bound_in=False), "does not know the bound"),
    (check.dd_test, release(threshold=lambda epsilon, delta: -1e9), "tested or not"),
    (check.dd_test, release(threshold=lambda epsilon, delta: 2 / epsilon * math.log(0.5 / max(delta, 0.01))), "δ = 1e-06"),
    (check.dd_test, lambda value, distance, *rest: release()(value, distance, *rest) if distance else None, "at distance 0 it never answers"),
    (check.dd_test, wrong_way_round, "wrong way round"),
    (check.dd_test, release(reuse=True), "used again"),
    (check.dd_test, lambda value, distance, *rest: release(answer=1.0 if distance > 20 else 2.0)(value, distance, *rest), "half the scale"),
    (check.dd_test, lambda value, distance, *rest: release(answer=1.0 if value > 500 else 2.0)(value, distance, *rest), "half the scale"),
    (check.dd_test, cut_off, "noise is cut off"),
    (check.dd_test, release(exact=True), "exact value"),
    (check.dd_test, release(on_exact=True), "compared without noise"),
    (check.dd_test, release(fixed=True), "the same in all"),
    (check.dd_test, release(pairs=True), "in the call before"),
    (check.dd_test, lambda *arguments: "no", "expected a number or None"),
    (check.dd_test, lambda value: None, "TypeError"),
    (check.dd_blocks, by_hash, "the block follows the value"),
    (check.dd_blocks, aggregate(label=positional), "no place in the list"),
    (check.dd_blocks, aggregate(label=lambda n, blocks, rng: np.random.default_rng(n).integers(blocks, size=n)), "seed fixed inside is a coin"),
    (check.dd_blocks, aggregate(label=none_empty), "of which none may be empty"),
    (check.dd_blocks, infinite_to_middle, "a block that is filled counts, too"),
    (check.dd_blocks, aggregate(label=balanced), "fixed size"),
    (check.dd_blocks, aggregate(label=lambda n, blocks, rng: np.full(n, rng.integers(blocks))), "three rows, two blocks"),
    (check.dd_blocks, aggregate(drop=True), "came into blocks"),
    (check.dd_blocks, aggregate(share=True), "in two blocks"),
    (check.dd_blocks, aggregate(twice=True), "in two blocks, or a block was asked twice"),
    (check.dd_blocks, aggregate(clipped=False), "clipped"),
    (check.dd_blocks, aggregate(clipped=False, clip_mean=True), "but the mean of the clipped answers"),
    (check.dd_blocks, aggregate(filled_only=True), "divide by"),
    (check.dd_blocks, aggregate(empty=lambda low, high: high), "middle of the range"),
    (check.dd_blocks, aggregate(label=lambda n, blocks, rng: rng.integers(1, blocks, size=n)), "a side for each block"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: math.sqrt(blocks)), "times the scale that it needs"),
    (check.dd_blocks, lambda *arguments: min(max(aggregate()(*arguments), arguments[3]), arguments[4]), "not cut off"),
    (check.dd_blocks, aggregate(empty=lambda low, high: low), "middle of the range"),
    (check.dd_blocks, most_frequent, "but the mean of the clipped answers is 0.5"),
    (check.dd_blocks, aggregate(0.5), "half the scale"),
    (check.dd_blocks, aggregate(2.0), "twice the scale"),
    (check.dd_blocks, aggregate(no_epsilon=True), "does not know epsilon"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: 1), "all blocks"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: max(n, 1)), "number of rows"),
    (check.dd_blocks, aggregate(by=lambda n, blocks: blocks if n > 9 else 2 * blocks), "1 rows, 12 blocks"),
    (check.dd_blocks, aggregate(no_noise=True), "fresh Laplace noise"),
    (check.dd_blocks, aggregate(fixed=True), "three rows, two blocks"),
    (check.dd_blocks, lambda rows, estimate, blocks, low, high, epsilon, rng: estimate([]), "empty block"),
    (check.dd_blocks, lambda *arguments: math.nan, "finite"),
]
