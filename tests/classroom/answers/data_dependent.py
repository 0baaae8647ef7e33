"""Answers to the exercises of the section on noise that fits the data."""
import math
import operator
from functools import partial

import numpy as np

from dplib import data_dependent as dd
from provable_privacy import check
from provable_privacy.battery.makers import difference, exponential, fixed_seed, given, laplace, own_luck, then, where

WITNESS = ([0, 0, 0, 0, 100], [0, 0, 0, 100, 100], 0)


# --------------------------------------------------------------------------------------------------- dd_mean, dd_smooth

def added(x, low, high):
    return max(high - x.mean(), x.mean() - low) / (len(x) + 1)


def taken(x):
    return np.abs(x - x.mean()).max() / (len(x) - 1)


def reach(values, low, high):
    x = np.clip(values, low, high)
    return max(added(x, low, high), taken(x))


def by_trying(values, low, high):
    x = [min(max(float(v), low), high) for v in values]
    mean, near = sum(x) / len(x), [x + [low], x + [high], *([*x[:i], *x[i + 1:]] for i in range(len(x)))]
    return max(abs(sum(table) / len(table) - mean) for table in near)


def on_clipped(function):
    return lambda values, low, high: function(np.clip(values, low, high), low, high)


def smooth(values, beta, low, high):
    return dd.smooth_sensitivity(values, beta=beta, low=low, high=high)


def walk(values, beta, low, high, *, ends=True, late=0, clip=True, middle=lambda n: (n + 1) // 2, steps=lambda n: n + 1,
         discount=1.0, window=1, last=1):
    x, m, n = sorted(min(max(v, low), high) if clip else v for v in values), middle(len(values)), len(values)
    x, m = ([low, *x, high], m) if ends else (x, m - 1)

    def gap(i, t):
        return x[min(i + t + window, len(x) - 1)] - x[max(i, 0)]

    return max(math.exp(-discount * beta * (t + late)) * max(gap(i, t) for i in range(m - t - window, m + last))
               for t in range(steps(n)))


# -------------------------------------------------------------------------------------------------------------- dd_test

def release(test=2.0, answer=2.0, *, threshold=lambda epsilon, delta: 2 / epsilon * math.log(1 / (2 * delta)),
            passes=operator.gt, noises=lambda rng: (rng.laplace(), rng.laplace())):
    """A learner's propose-test-release, right unless told otherwise; both noises are drawn first."""
    def function(value, distance, bound, epsilon, delta, rng):
        one, other = noises(rng)
        if passes(distance + one * test / epsilon, threshold(epsilon, delta)):
            return value + other * bound * answer / epsilon
        return None

    return function


def at(over, factor=1.0):
    """Another threshold, factor · ln(over/δ)/ε."""
    return lambda epsilon, delta: factor * math.log(over / delta) / epsilon


def only_where_needed(value, distance, bound, epsilon, delta, rng):
    """The noise of the answer is drawn after the test."""
    if distance + rng.laplace(scale=2 / epsilon) <= 2 / epsilon * math.log(1 / (2 * delta)):
        return None
    return value + rng.laplace(scale=2 * bound / epsilon)


def in_arrays(value, distance, bound, epsilon, delta, rng):
    """Laplace noise as a difference of exponentials; an array of one number."""
    first, second = rng.exponential(size=2) - rng.exponential(size=2)
    if distance + 2 * first / epsilon > 2 * np.log(0.5 / delta) / epsilon:
        return np.float64(value + 2 * bound * second / epsilon)


def quantile(rng):
    """Laplace noise from its quantile function."""
    u = rng.random() - 0.5
    return -math.copysign(math.log1p(-2 * abs(u)), u)


def in_pairs():
    """Every second noise of an answer is the one before, turned round."""
    last = []

    def noises(rng):
        test, noise = rng.laplace(), rng.laplace()
        if last:
            return test, -last.pop()
        last.append(noise)
        return test, noise

    return noises


RELEASE = release()
CUT_OFF = release(noises=lambda rng: (np.clip(rng.laplace(), -4, 4), rng.laplace()))
NORMAL_TEST = release(noises=lambda rng: (math.sqrt(2) * rng.normal(), rng.laplace()))
FAR_EXACT = where(lambda value, distance, *_: distance > 20, release(answer=1), RELEASE)
LARGE_EXACT = where(lambda value, *_: value > 500, release(answer=1), RELEASE)
NEVER_AT_0 = where(lambda value, distance, *_: distance, RELEASE, lambda *_: None)


# ------------------------------------------------------------------------------------------------------------ dd_blocks

def coins(rows, blocks, rng):
    return rng.integers(blocks, size=len(rows))


def mean(answers, low, high):
    return np.clip(answers, low, high).sum() / max(len(answers), 1)


def width(n, blocks, span, epsilon):
    return span / blocks / epsilon


def aggregate(*, label=coins, empty=lambda low, high: [(low + high) / 2], join=mean, width=width, law=laplace):
    """A learner's sample and aggregate, right unless told otherwise."""
    def function(rows, estimate, blocks, low, high, epsilon, rng):
        labels, answers = np.asarray(label(rows, blocks, rng)), []
        for block in range(blocks):
            part = [row for row, own in zip(rows, labels, strict=True) if own == block]
            answers += [estimate(part)] if part else empty(low, high)
        return float(join(np.array(answers), low, high) + law(rng, width(len(rows), blocks, high - low, epsilon), ()))

    return function


def times(factor):
    return aggregate(width=lambda n, *rest: factor(n, rest[0]) * width(n, *rest))


def by_hash(rows, blocks, rng):
    """The block is a salted hash of the row's value."""
    salt = int(rng.integers(2**60))
    return [np.random.default_rng([salt, abs(hash(row))]).integers(blocks) for row in rows]


def none_empty(rows, blocks, rng):
    """Coins, tossed again until every block has a row."""
    labels = coins(rows, blocks, rng)
    while len(rows) >= blocks > len(set(labels.tolist())):
        labels = coins(rows, blocks, rng)
    return labels


def positional(rows, blocks, rng):
    return np.arange(len(rows)) // max(-(-len(rows) // blocks), 1)


def balanced(rows, blocks, rng):
    return rng.permutation(np.arange(len(rows)) % blocks)


def commonest(answers, low, high):
    found, often = np.unique(np.clip(answers, low, high), return_counts=True)
    return found[often.argmax()]


def without_outliers(answers, low, high):
    """Answers more than three standard deviations from the mean of the blocks are left out."""
    answers = np.clip(answers, low, high)
    return answers[abs(answers - answers.mean()) <= 3 * answers.std() + 1e-9].mean()


def within_four(rng, scale, shape):
    """Noise farther out than four scales is drawn again."""
    while abs(noise := rng.laplace()) > 4:
        pass
    return noise * scale


def with_the_first(rows, estimate, *rest):
    """The first row is in every block."""
    return AGGREGATE(rows, lambda part: estimate(part if rows[0] in part else [*part, rows[0]]), *rest)


def infinite_to_middle(rows, estimate, blocks, low, high, epsilon, rng):
    def finite(part):
        answer = estimate(part)
        return (low + high) / 2 if math.isinf(answer) else answer

    return AGGREGATE(rows, finite, blocks, low, high, epsilon, rng)


def shuffled_first(rows, *rest):
    return AGGREGATE([rows[i] for i in rest[-1].permutation(len(rows))], *rest)


def asked(change):
    """Each block is asked in another way: `change(estimate, part)`."""
    return given(AGGREGATE, estimate=lambda estimate: partial(change, estimate))


AGGREGATE, NAKED = aggregate(), times(lambda *_: 0)


# --------------------------------------------------------------------------------------------------------------- tables

SOLUTIONS = [
    (check.dd_witness, lambda seed: WITNESS),
    (check.dd_mean, lambda seed: reach),
    (check.dd_smooth, lambda seed: smooth),
    (check.dd_test, own_luck(RELEASE)),
    (check.dd_blocks, own_luck(AGGREGATE)),
]

UNUSUAL = [
    (check.dd_witness, (np.array([100, 0, 0, 0, 0]), (0, 100, 0, 0, 100), np.float64(-1e6))),
    (check.dd_mean, by_trying),
    (check.dd_smooth, walk),
    (check.dd_smooth, lambda values, beta, low, high: np.float64(walk(list(values), beta, low, high))),
    (check.dd_test, in_arrays),
    (check.dd_test, release(noises=lambda rng: (quantile(rng), quantile(rng)))),
    (check.dd_test, only_where_needed),
    (check.dd_blocks,
     given(aggregate(law=difference(exponential)), estimate=lambda ask: lambda part: ask(np.array(part)))),
    (check.dd_blocks, shuffled_first),
    (check.dd_blocks, aggregate(label=lambda rows, blocks, rng: [int(rng.random() * blocks) for _ in rows])),
]

LEAKS = [
    (check.dd_test, CUT_OFF),
    (check.dd_test, NORMAL_TEST),
    (check.dd_test, release(test=1)),
    (check.dd_test, release(answer=1)),
    (check.dd_test, release(answer=0)),
    (check.dd_test, release(test=0)),
    (check.dd_test, fixed_seed(RELEASE)),
    (check.dd_test, release(noises=in_pairs())),
    (check.dd_test, release(noises=lambda rng: 2 * (rng.laplace(),))),
    (check.dd_test, release(passes=operator.le)),
    (check.dd_test, release(threshold=at(2))),
    (check.dd_test, FAR_EXACT),
    (check.dd_test, LARGE_EXACT),
    (check.dd_test, where(lambda value, distance, *_: distance > 400, lambda value, *_: value, RELEASE)),
    (check.dd_test, NEVER_AT_0),
    (check.dd_test, given(RELEASE, delta=lambda delta: max(delta, 0.01))),
    (check.dd_test, where(lambda value, distance, bound, epsilon, delta:
                          distance > 6 / epsilon * math.log(1 / (2 * delta)), release(threshold=lambda *_: -1e9),
                          RELEASE)),                                                    # straddles
    (check.dd_test, given(RELEASE, epsilon=lambda epsilon: 2 * epsilon if epsilon > 3.5 else epsilon)),  # large
    (check.dd_test, given(RELEASE, epsilon=lambda epsilon: max(epsilon, 0.5))),         # small
    (check.dd_test, given(RELEASE, delta=lambda delta: max(delta, 1e-6))),              # rare
    (check.dd_test, release(threshold=lambda epsilon, delta: round(2 / epsilon * math.log(1 / (2 * delta))))),
    (check.dd_test, where(lambda value, *_: value < -100, lambda value, *_: value, RELEASE)),            # negative
    (check.dd_test, where(lambda *case: case[2] > 30, release(answer=1), RELEASE)),
    (check.dd_test, where(lambda *case: case[2] < 0.25, release(answer=1), RELEASE)),
    (check.dd_test, then(RELEASE, lambda out, t, rng: out if out is None else np.float64(out) if t[1] == 3
                         else float(out))),                                             # type
    (check.dd_blocks, aggregate(width=lambda *case: round(width(*case)) or width(*case))),               # quotient
    (check.dd_blocks, given(AGGREGATE, epsilon=lambda epsilon: 2 * epsilon if epsilon > 2.5 else epsilon)),  # large
    (check.dd_blocks, times(lambda n, blocks: 0.5 if blocks > 20 else 1)),
    (check.dd_blocks, where(lambda rows, *_: len(rows) > 200, NAKED, AGGREGATE)),
    (check.dd_blocks, aggregate(label=lambda rows, *rest: (coins if len(rows) < 4 else balanced)(rows, *rest))),
    (check.dd_blocks, aggregate(label=lambda rows, *rest: (coins if len(rows) < 4 else positional)(rows, *rest))),
    (check.dd_blocks, aggregate(join=lambda answers, low, high: np.median(np.clip(answers, low, high))
                                if len(answers) > 20 else mean(answers, low, high))),   # own
    (check.dd_blocks, aggregate(label=by_hash)),
    (check.dd_blocks, aggregate(join=without_outliers)),
    (check.dd_blocks, aggregate(law=within_four)),
    (check.dd_blocks, aggregate(label=positional)),
    (check.dd_blocks, aggregate(label=balanced)),
    (check.dd_blocks, with_the_first),
    (check.dd_blocks, aggregate(join=lambda answers, low, high: answers.mean())),
    (check.dd_blocks, aggregate(empty=lambda low, high: [])),
    (check.dd_blocks, NAKED),
    (check.dd_blocks, fixed_seed(AGGREGATE)),
    (check.dd_blocks, times(lambda n, blocks: 0.5)),
    (check.dd_blocks, times(lambda n, blocks: blocks / max(n, 1))),
    (check.dd_blocks, times(lambda n, blocks: 0.5 if n > 100 else 1)),
    (check.dd_blocks, times(lambda n, blocks: 0.5 if blocks > 10 else 1)),
    (check.dd_blocks, where(lambda rows, *_: len(rows) > 100, NAKED, AGGREGATE)),
    (check.dd_blocks, where(lambda rows, *_: len(rows) > 1 and len(set(rows)) == 1, NAKED, AGGREGATE)),
    (check.dd_blocks, given(AGGREGATE, epsilon=lambda epsilon: max(epsilon, 0.1))),
]

WRONG = [
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
    (check.dd_mean, on_clipped(lambda x, low, high: taken(x)), "a row that is removed; adding"),
    (check.dd_mean, on_clipped(lambda x, low, high: max((high - x.mean()) / (len(x) + 1), taken(x))), "at either end"),
    (check.dd_mean, on_clipped(added), "a row that is added; removing"),
    (check.dd_mean, on_clipped(lambda x, low, high: max(added(x, low, high), *abs(x - x.mean()) / len(x))),
     "n - 1 remain"),
    (check.dd_mean, lambda values, low, high: reach(values, min(low, *values), max(high, *values)), "were not clipped"),
    (check.dd_mean, lambda values, low, high: 1.01 * reach(values, low, high), "one row moves"),
    (check.dd_mean, lambda values, low, high: (high - low) / (len(values) + 1), "not 20; one row moves"),
    (check.dd_mean, lambda values, low, high: "far", "expected a number"),
    (check.dd_mean, lambda values, low, high: math.inf, "finite"),
    (check.dd_smooth, partial(walk, steps=lambda n: 1), "this table alone"),
    (check.dd_smooth, lambda values, beta, low, high: high - low, "whole range"),
    (check.dd_smooth, partial(walk, ends=False), "ends of the range"),
    (check.dd_smooth, partial(walk, late=1), "one step too many"),
    (check.dd_smooth, partial(walk, window=0), "missing one gap"),
    (check.dd_smooth, partial(walk, last=0), "no smooth bound lies below"),
    (check.dd_smooth, partial(walk, discount=0.0), "no discount"),
    (check.dd_smooth, partial(walk, middle=lambda n: n // 2 + 1), "other middle value"),
    (check.dd_smooth, partial(walk, clip=False), "not clipped"),
    (check.dd_smooth, partial(walk, steps=lambda n: min(n, 4)), "it is 10"),
    (check.dd_smooth, partial(walk, steps=lambda n: min(n + 1, 100)), "table of 400 rows"),
    (check.dd_smooth, lambda *case: 2 * smooth(*case), "larger than necessary"),
    (check.dd_smooth, lambda *case: 0.99 * smooth(*case), "no smooth bound lies below"),
    (check.dd_smooth, lambda values, *rest: smooth(values, *rest) if len(values) > 1 else 0.0, "table [7.0]"),
    (check.dd_test, release(1, 1, threshold=at(0.5)), "2ε in all"),
    (check.dd_test, release(1, 1, threshold=at(2, 0.5)), "far more often than δ"),
    (check.dd_test, release(threshold=at(2)), "more often than δ"),
    (check.dd_test, release(threshold=at(1, 2)), "half as often"),
    (check.dd_test, release(threshold=at(2, 2)), "a quarter as often"),
    (check.dd_test, release(threshold=at(0.5)), "passes too often"),
    (check.dd_test, release(test=1), "test's noise has half"),
    (check.dd_test, release(test=4), "test's noise has twice"),
    (check.dd_test, release(threshold=lambda epsilon, delta: math.log(0.5 / delta)), "does not use ε"),
    (check.dd_test, release(answer=1), "answer's noise has half"),
    (check.dd_test, release(answer=4), "twice the scale"),
    (check.dd_test, given(RELEASE, bound=1.0), "does not use the bound"),
    (check.dd_test, release(threshold=lambda epsilon, delta: -1e9), "tested or not"),
    (check.dd_test, given(RELEASE, delta=lambda delta: max(delta, 0.01)), "δ = 1e-09"),
    (check.dd_test, NEVER_AT_0, "at distance 0 it never answers"),
    (check.dd_test, release(passes=operator.le), "wrong way round"),
    (check.dd_test, release(noises=lambda rng: 2 * (rng.laplace(),)), "used again"),
    (check.dd_test, FAR_EXACT, "half the scale"),
    (check.dd_test, LARGE_EXACT, "half the scale"),
    (check.dd_test, CUT_OFF, "noise of the test is cut off"),
    (check.dd_test, release(answer=0), "exact value"),
    (check.dd_test, release(test=0), "compared without noise"),
    (check.dd_test, fixed_seed(RELEASE), "the same in all"),
    (check.dd_test, release(noises=in_pairs()), "in the call before"),
    (check.dd_test, lambda *arguments: "no", "expected a number or None"),
    (check.dd_test, lambda value: None, "TypeError"),
    (check.dd_blocks, aggregate(label=by_hash), "the block follows the value"),
    (check.dd_blocks, aggregate(label=positional), "no place in the list"),
    (check.dd_blocks, aggregate(label=lambda rows, blocks, rng: coins(rows, blocks, np.random.default_rng(len(rows)))),
     "fixed seed is a coin"),
    (check.dd_blocks, aggregate(label=none_empty), "none may be empty"),
    (check.dd_blocks, infinite_to_middle, "the clipped answer of each filled block counts"),
    (check.dd_blocks, aggregate(label=balanced), "fixed size"),
    (check.dd_blocks, aggregate(label=lambda rows, blocks, rng: np.full(len(rows), rng.integers(blocks))),
     "three rows, two blocks"),
    (check.dd_blocks, asked(lambda estimate, part: estimate(part[:3])), "came into blocks"),
    (check.dd_blocks, with_the_first, "in two blocks"),
    (check.dd_blocks, asked(lambda estimate, part: (estimate(part), estimate(part))[0]), "a block was asked twice"),
    (check.dd_blocks, aggregate(join=lambda answers, low, high: answers.mean()), "clipped"),
    (check.dd_blocks, aggregate(join=lambda answers, low, high: np.clip(answers.mean(), low, high)),
     "but the mean of the clipped answers"),
    (check.dd_blocks, aggregate(empty=lambda low, high: []), "divide by"),
    (check.dd_blocks, aggregate(empty=lambda low, high: [high]), "middle of the range"),
    (check.dd_blocks, aggregate(empty=lambda low, high: [low]), "middle of the range"),
    (check.dd_blocks, aggregate(label=lambda rows, blocks, rng: rng.integers(1, blocks, len(rows))),
     "a side for each block"),
    (check.dd_blocks, times(lambda n, blocks: math.sqrt(blocks)), "times the scale that it needs"),
    (check.dd_blocks, then(AGGREGATE, lambda out, table, rng: np.clip(out, table[3], table[4])), "not cut off"),
    (check.dd_blocks, where(lambda rows, *_: len(rows) > 50, aggregate(join=commonest), AGGREGATE),
     "but the mean of the clipped answers is 0.5"),
    (check.dd_blocks, times(lambda n, blocks: 0.5), "half the scale"),
    (check.dd_blocks, times(lambda n, blocks: 2), "twice the scale"),
    (check.dd_blocks, aggregate(width=lambda n, blocks, span, epsilon: span / blocks), "does not use epsilon"),
    (check.dd_blocks, aggregate(width=lambda n, blocks, span, epsilon: 1 / blocks / epsilon), "does not use the range"),
    (check.dd_blocks, times(lambda n, blocks: blocks), "all blocks"),
    (check.dd_blocks, times(lambda n, blocks: blocks / max(n, 1)), "number of rows"),
    (check.dd_blocks, times(lambda n, blocks: 1 if n > 9 else 0.5), "1 rows, 40 blocks"),
    (check.dd_blocks, NAKED, "fresh Laplace noise"),
    (check.dd_blocks, fixed_seed(AGGREGATE), "three rows, two blocks"),
    (check.dd_blocks, lambda rows, estimate, *rest: estimate([]), "empty block"),
    (check.dd_blocks, lambda *arguments: math.nan, "finite"),
]
