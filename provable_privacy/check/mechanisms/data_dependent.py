"""Checkers of chapter 3: noise that fits the data."""
import functools
import itertools
import math
from collections import Counter

import numpy as np

from dplib import data_dependent
from dplib.svt import log_laplace_cdf
from provable_privacy.battery import Numbers, Pair, battery, looks_for
from provable_privacy.battery.laws import compare
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, ask, checker, number

__all__ = ["dd_blocks", "dd_mean", "dd_smooth", "dd_test", "dd_witness"]


# ------------------------------------------------------------------------------------------------------------ a witness

PROMISED, NEEDED = 0.1, 4.0                      # the colleague's epsilon; the loss that the learner must show


def _neighbours(pair):
    """Two sorted tables that differ in one income, and an answer."""
    try:
        one, two, answer = pair
        one, two, answer = np.sort(np.asarray(one, dtype=float)), np.sort(np.asarray(two, dtype=float)), float(answer)
    except (TypeError, ValueError):
        raise Wrong("expected (table, neighbour, answer): two lists of numbers and a number") from None
    if one.ndim != 1 or two.ndim != 1 or not one.size or not two.size:
        raise Wrong("each table is a list of one or more incomes")
    if not np.isfinite([*one, *two, answer]).all():
        raise Wrong("incomes and answer must be finite numbers")
    if min(one[0], two[0]) < 0 or max(one[-1], two[-1]) > 100:
        raise Wrong("an income lies outside of the public range from 0 to 100")
    if len(one) != len(two):
        raise Wrong(f"the tables have {len(one)} and {len(two)} incomes: under replace both have the "
                    "same public number")
    apart = (Counter(one.tolist()) - Counter(two.tolist())).total()
    if apart > 1:
        raise Wrong(f"the tables differ in {apart} incomes; neighbours differ in one")
    return one, two, answer


@checker
def dd_witness(pair):
    """`pair`: (table, neighbour, answer) with a large loss of median + Lap(max(LS, 1)/0.1), range [0, 100], replace."""
    one, two, answer = _neighbours(pair)
    scales = [max(data_dependent.median_local_sensitivity(table, low=0, high=100), 1.0) / PROMISED
              for table in (one, two)]
    logs = [-math.log(2 * scale) - abs(answer - table[(len(table) - 1) // 2]) / scale
            for table, scale in zip((one, two), scales)]
    loss = abs(logs[0] - logs[1])
    said = f"noise of scale {scales[0]:g} and {scales[1]:g}, a loss of {loss:.2f} at {answer:g}"
    if loss < NEEDED:
        equal = scales[0] == scales[1]
        more = "the two scales are equal" if equal else "look for scales farther apart, or for a better answer"
        raise Wrong(f"{said}, which is less than {NEEDED:g}: {more}")
    return f"{said}, where {PROMISED:g} was promised"


# -------------------------------------------------------------------------------------- the local sensitivity of a mean

def _added(x, low, high):
    return max(abs(np.append(x, end).mean() - x.mean()) for end in (low, high))


def _taken(x, low, high):
    return max(abs(np.delete(x, i).mean() - x.mean()) for i in range(len(x)))


def _mean(*moves, clip=np.clip):
    """The largest of these moves of the mean: tried out."""
    def reach(values, low, high):
        x = clip(values, low, high)
        return max(move(x, low, high) for move in moves)

    return reach


_draw = np.random.default_rng(8)
MEAN_TABLES = [([0, 0, 0, 100], 0, 100), ([3.0, 3.0], 0, 10), ([-50, -20, 400], -100, 30), ([5, 5, 5], 5, 9),
               ([9.0] * 6, 0, 10)]
MEAN_TABLES += [(_draw.normal(0, 40, size), -60.0, 35.0) for size in (2, 3, 10, 40)]
MEAN_TABLES += [(_draw.exponential(10, size), 0.0, 90.0) for size in (2, 5, 30)]
MEAN_TABLES = [(np.array(values, dtype=float), low, high) for values, low, high in MEAN_TABLES]
MEANS = {
    "this is the effect of a row that is added; removing a row can have a larger effect": _mean(_added),
    "this is the effect of a row that is removed; adding a row can have a larger effect": _mean(_taken),
    "u/(n + 1) is for adding only and for a mean near 0": lambda x, low, high: high / (len(x) + 1),
    "this is the worst case over all tables of this size, not of this one": lambda x, low, high: (high - low) / len(x),
    "when a row goes away, n - 1 remain": _mean(_added, lambda x, low, high: np.abs(x - x.mean()).max() / len(x)),
    "a row that comes in may be at either end of the range":
        _mean(_taken, lambda x, low, high: (high - x.mean()) / (len(x) + 1)),
    "the values were not clipped to the range first": _mean(_added, _taken, clip=lambda x, low, high: x),
}


def _shown(values, low, high):
    few = [round(float(v), 1) for v in values[:6]]
    return f"values {few}{' ...' if len(values) > 6 else ''} in [{low:g}, {high:g}]"


@checker
def dd_mean(reach):
    """`reach(values, low, high)`: local sensitivity of the mean under add/remove, two or more values."""
    on_cases(reach, MEAN_TABLES, _mean(_added, _taken), MEANS, atol=1e-6, everywhere=True, what="reach", show=_shown,
             otherwise=lambda got, right, *table: f"one row moves the mean by up to {right:.4g}")
    return f"the same as trying all rows, on {len(MEAN_TABLES)} tables"


# --------------------------------------------------------------------------------------------------- smooth sensitivity

@functools.cache
def _by_search(values, beta, low, high):
    """The definition: over all tables whose rows are among the values and the two ends."""
    x = np.clip(np.array(values), low, high)
    spots = np.unique([*x, low, high])
    tables = np.array(list(itertools.product(spots, repeat=len(x))))
    middle = np.sort(tables, axis=1)[:, (len(x) - 1) // 2].reshape([len(spots)] * len(x))     # an axis for each row
    local = np.max([np.maximum(middle.max(axis=i, keepdims=True) - middle, middle - middle.min(axis=i, keepdims=True))
                    for i in range(len(x))], axis=0)
    return float((np.exp(-beta * (tables != x).sum(axis=1)) * local.ravel()).max())


def _smooth(values, beta, low, high):
    if len(values) <= 5:
        return _by_search(tuple(values.tolist()), beta, low, high)
    return data_dependent.smooth_sensitivity(values, beta=beta, low=low, high=high)


def _walk(*, late=0, window=1, last=None, ends=True, clip=np.clip, middle=lambda n: (n + 1) // 2):
    """The largest discounted gap, from the sorted values alone."""
    def smooth(values, beta, low, high):
        x, m, n = np.sort(clip(values, low, high)), middle(len(values)), len(values)
        x, m = (np.concatenate([[low], x, [high]]), m) if ends else (x, m - 1)
        best = 0.0
        for t in range(n + 1 if last is None else last):
            i = np.arange(m - t - window, m + 1)
            gap = (x[np.minimum(i + t + window, len(x) - 1)] - x[np.maximum(i, 0)]).max()
            best = max(best, math.exp(-beta * (t + late)) * gap)
        return best

    return smooth


def _smooth_cases():
    """Tables, beta and range."""
    rng = np.random.default_rng(12)
    tables = [[1, 4, 5, 6, 9], [3, 3, 3, 3], [0, 0, 0, 9, 9], [0, 0, 9, 9], [2, 2, 8, 8], [0, 0, 0], [10, 10, 10], [7],
              [1, 9], [-5, 4, 30]]
    tables += [rng.uniform(0, 10, size).round(2) for size in (1, 2, 3, 4, 5)]
    large = [np.repeat([0.2, 9.5], [26, 25]), np.full(400, 4.0), rng.uniform(0, 10, 41), np.append(np.zeros(39), 10.0)]
    cases = [(table, beta, -2.0, 12.0) for table in tables for beta in (0.05, 0.6, 3.0)]
    cases += [(table, 0.3, 0.0, 10.0) for table in tables]
    cases += [(table, beta, 0.0, 10.0) for table in large for beta in (0.02, 0.3)]
    return [(rng.permutation(np.array(values, dtype=float)), *rest) for values, *rest in cases]


SMOOTH_CASES = _smooth_cases()
SMOOTHS = {
    "this is the local sensitivity of this table alone, which is not a smooth bound": _walk(last=1),
    "this is the whole range, the global sensitivity, as if there were no discount for t steps: a smooth bound, "
    "but not the smallest":
        lambda values, beta, low, high: high - low,
    "the ends of the range are missing: a replaced row may lie anywhere in it": _walk(ends=False),
    "the discount of t steps is e^(-beta t); here it is one step too many": _walk(late=1),
    "A(t) is missing one gap: t replaced rows empty t + 1 gaps": _walk(window=0),
    "this is the other middle value, the (n/2 + 1)-th": _walk(middle=lambda n: n // 2 + 1),
    "the values were not clipped to the range first": _walk(clip=lambda x, low, high: x),
}


def _off(got, right, *case):
    if got < right:
        return f"it is {right:.6g}, and no smooth bound lies below that"
    return f"it is {right:.6g}, and yours is larger than necessary, even if it is smooth"


def _table(values, beta, low, high):
    shown = np.sort(values)[:6].tolist() if len(values) <= 6 else f"of {len(values)} rows"
    return f"table {shown}, beta = {beta:g}, range [{low:g}, {high:g}]"


@checker
def dd_smooth(my_smooth):
    """`my_smooth(values, beta, low, high)`: smooth sensitivity of the ceil(n/2)-th smallest, replace."""
    on_cases(my_smooth, SMOOTH_CASES, _smooth, SMOOTHS, atol=1e-6, everywhere=True, what="smooth sensitivity",
             show=_table, otherwise=_off)
    return f"the same as the definition, on {len(SMOOTH_CASES)} cases"


# ----------------------------------------------------------------------------------------------- propose, test, release

def _ln(over, factor=1.0):
    return lambda half, delta: math.log(over / delta) / half * factor


RIGHT = _ln(0.5)


def _release(test=1.0, answer=1.0, threshold=RIGHT, passes=np.greater, reuse=False, bound_in=True, zero=True):
    """Propose-test-release: factors on the scales of its two noises, a threshold from epsilon/2 and delta; right
    unless told otherwise.
    """
    def release(value, distance, bound, epsilon, delta, rng):
        half, luck = epsilon / 2, rng.laplace()
        if not passes(distance + luck * test / half, threshold(half, delta)) or not (zero or distance):
            return None
        return value + (luck if reuse else rng.laplace()) * answer * (bound if bound_in else 1.0) / half

    return release


RELEASE = _release()
TESTS = {
    "test and release cost ε each, 2ε in all: halve it": _release(0.5, 0.5, _ln(0.5, 0.5)),
    "the threshold ln(1/δ)/(ε/2) is safe, but the test passes half as often as δ allows": _release(threshold=_ln(1)),
    "the threshold ln(2/δ)/(ε/2) is safe, but the test passes a quarter as often as δ allows":
        _release(threshold=_ln(2)),
    "with the threshold ln(2/δ)/(2ε) a table at distance 0 passes far more often than δ":
        _release(0.5, 0.5, _ln(2, 0.25)),
    "with the threshold ln(2/δ)/ε a table at distance 0 passes more often than δ": _release(threshold=_ln(2, 0.5)),
    "the threshold is made for ε, and the test's noise for ε/2: it passes too often": _release(threshold=_ln(0.5, 0.5)),
    "the threshold does not use ε": _release(threshold=lambda half, delta: math.log(0.5 / delta)),
    "the test's noise has half the scale it needs": _release(test=0.5),
    "the test's noise has twice the scale that the threshold is made for: it passes too often": _release(test=2.0),
    "the answer's noise has half the scale it needs: the bound over ε/2 is right": _release(answer=0.5),
    "the answer's noise has twice the scale it needs": _release(answer=2.0),
    "the answer's noise does not use the bound": _release(bound_in=False),
    "every table is answered, tested or not": _release(threshold=lambda half, delta: -math.inf),
    "the exact value was released; a bound above 0 needs noise": _release(answer=0.0),
    "the distance was compared without noise, and it is private": _release(test=0.0),
    "at distance 0 it never answers, so an answer reveals that the distance is not 0. Let the noise decide there "
    "too":
        _release(zero=False),
    "the comparison is the wrong way round, and answers the tables that must not pass": _release(passes=np.less_equal),
    "the noise of the test was used again for the answer. Among the runs that pass the test this noise is no "
    "longer Laplace noise":
        _release(reuse=True),
}


def _tested(value, distance, other, nearer, bound, epsilon, delta, **settings):
    """Two neighbours: at distance 0 values may be far apart, otherwise by the bound; distances by one."""
    return Pair(f"value {value:g} at distance {distance} / value {other:g} at distance {nearer}, bound {bound:g}, "
                f"ε = {epsilon:g}, δ = {delta:g}", (value, distance, bound, epsilon, delta),
                (other, nearer, bound, epsilon, delta), ((epsilon, delta),), ((1.0, value), (1.0, other)),
                law="exactly", **settings)


TESTED = [
    _tested(-700.0, 4, -700.03, 3, 0.03, 2.0, 0.02, looks=("straddles",)),
    _tested(50.0, 0, 900.0, 0, 2.0, 1.0, 0.05, runs=10_000),
    _tested(1000.0, 29, 1400.0, 30, 400.0, 0.1, 0.1, looks=("far",)),
    _tested(0.0, 500, 1.0, 499, 1.0, 1.0, 0.01, twice=800),
    _tested(0.0, 40, 2.0, 39, 2.0, 1.0, 1e-9, looks=("straddles",)),
    _tested(5.0, 0, 6.0, 1, 1.0, 3.0, 0.3),
    _tested(5.0, 4, 5.7, 3, 0.7, 1.0, 0.3, looks=("quotient",)),
    _tested(3.0, 2, 3.4, 1, 0.4, 7.0, 0.2),
]


def _answer(my_release, arguments, rng):
    got = ask(my_release, *arguments, rng)
    if got is None:
        return np.zeros(2)
    try:
        return np.array([1.0, float(got)])
    except (TypeError, ValueError):
        raise Wrong(f"expected a number or None, got {got!r}"[:200]) from None


def _look_far_out(my_release, rng):
    """At distance 0 and a small δ, almost five scales out, where a noise that is cut off before never comes."""
    runs, delta = 12_000, 0.004
    passed = sum(ask(my_release, 5.0, 0, 1.0, 2.0, delta, rng) is not None for _ in range(runs))
    case = f"distance 0, ε = 2, δ = {delta:g}"
    never = (f"{case}: it never answers. If the noise of the test is cut off, a distance that never passes is next "
             "to one that passes more often than δ allows")
    compare([passed, runs - passed], [delta, 1 - delta], {never: [0.0, 1.0]},
            lambda i: f"{case}: {['an answer', 'None'][i]}")


@checker
@looks_for("rare", size="a value and a distance come in", empty="a value and a distance come in",
           contents="a value and a distance come in", order="one number or None comes out",
           missing="value and distance are finite numbers", own="the bound comes in",
           zero="the law is prescribed, and another one is refused")
def dd_test(my_release):
    """`my_release(value, distance, bound, epsilon, delta, rng)`: (epsilon, delta) in all, epsilon/2 for each part."""
    form = Numbers(2, names=("answered (1: yes)", "the answer (0 for None)"))
    said = battery(my_release, form, TESTED, call=_answer, mistakes=TESTS, right=RELEASE, seed=21)
    _look_far_out(my_release, np.random.default_rng(34))
    return f"at distance 0 it answers with probability δ, and each part costs ε/2, as far as we can see; {said}"


# ------------------------------------------------------------------------------------------------- sample and aggregate

def _run(my_aggregate, rows, estimate, *rest):
    return number(answered(my_aggregate, list(rows), estimate, *rest), "answer")


def _parts(my_aggregate, rows, blocks, rng):
    """The rows of each block, in one run; `Wrong` unless each row is in one of them."""
    seen, n = [], len(rows)

    def spy(part):
        part = [int(row) for row in part]
        if not part:
            raise ValueError("an empty block was given to the estimate")
        seen.append(part)
        return 0.0

    _run(my_aggregate, rows, spy, blocks, -1.0, 1.0, 1.0, rng)
    every = sorted(row for part in seen for row in part)
    if len(every) > n:
        raise Wrong("a row was in two blocks, or a block was asked twice. If a row is in two blocks, one person "
                    "changes two answers. If a block is asked twice, keep its first answer")
    if every != rows:
        came = len(set(every)) if len(set(rows)) > 1 else len(every)
        raise Wrong(f"{n} rows, and {came} of them came into blocks; each row belongs to one block")
    if len(seen) > blocks:
        raise Wrong(f"{blocks} blocks were asked for, and the estimate was called on {len(seen)}")
    return seen


def _three_rows(my_aggregate, rows, case, together, runs, rng):
    """How often each of three rows is alone, where all three should share one of two blocks one time in four."""
    lone = np.zeros(3, dtype=int)
    for _ in range(runs):
        seen = _parts(my_aggregate, rows, 2, rng)
        if len(seen) == 2:
            lone[rows.index(min(seen, key=len)[0])] += 1
    shared = runs - lone.sum()
    if not shared:
        why = ("In all runs the blocks are the same: no place in the list, value or fixed seed is a coin"
               if len(set(rows)) > 1 and lone.max() == runs else
               ("If blocks have a fixed size, or if none may be empty, a row's block depends on the other rows: "
                "one more row moves another person"))
        raise Wrong(f"{case}: never all three in one block, as coins would have it one time in four. {why}")
    compare([shared, runs - shared], [0.25, 0.75], {f"{case}: {together}": [1.0, 0.0]},
            lambda i: f"{case}: {['all three in one', 'two and one'][i]}")
    return lone


def _forty_rows(my_aggregate, rng, runs=400, n=40, blocks=6):
    """How often two of forty rows share a block, and how many pairs share one in all."""
    together = np.zeros((n, n))
    for _ in range(runs):
        for part in _parts(my_aggregate, list(range(n)), blocks, rng):
            together[np.ix_(part, part)] += 1
    shares, spread = np.triu(together, 1), math.sqrt((1 - 1 / blocks) / blocks)
    i, j = np.unravel_index(np.abs(shares - runs / blocks * np.triu(np.ones((n, n)), 1)).argmax(), shares.shape)
    if abs(shares[i, j] - runs / blocks) > 7 * spread * math.sqrt(runs):
        raise Wrong(f"{n} rows, {blocks} blocks: rows {i} and {j} share a block in {shares[i, j] / runs:.0%} of "
                    f"{runs} runs. With an independent draw for each row they would share it in {1 / blocks:.0%}")
    pairs = n * (n - 1) / 2                      # which are independent, two by two
    if abs(shares.sum() - pairs * runs / blocks) > 7 * spread * math.sqrt(pairs * runs):
        why = ("the blocks have nearly equal sizes, so a row's block depends on the other rows"
               if shares.sum() < pairs * runs / blocks else "some blocks are more likely than others")
        raise Wrong(f"{n} rows, {blocks} blocks: in a run, {shares.sum() / runs:.0f} pairs of rows share a block on "
                    f"average, and {pairs / blocks:.0f} should: {why}")


def _look_at_blocks(my_aggregate, rng):
    _parts(my_aggregate, list(range(40)), 6, rng)
    case = "three rows, two blocks"
    lone = _three_rows(my_aggregate, [0, 1, 2], case, "they are always in one block; each row needs a coin of its own "
                       "in every run, with a side for each block", 2000, rng)
    _three_rows(my_aggregate, [7, 7, 7], "three equal rows, two blocks", "they always share a block; the block "
                "follows the value, and a replaced row then changes two blocks", 600, rng)
    place = f"{case}: the place in the list decides who is alone"
    compare(lone, np.full(3, 1 / 3), {place: np.eye(3)[np.argmax(lone)]},
            lambda i: f"{case}, when one is alone: row {i}")
    _forty_rows(my_aggregate, rng)


def _scale_of(got):
    """The scale of Laplace noise, from the median of its size."""
    return float(np.median(np.abs(got - np.median(got)))) / math.log(2)


def _clips_each_answer(my_aggregate, rng):
    """Of 30 answers the one that differs lies more than five standard deviations out."""
    def holds_zero(part):
        return 1e9 if 0 in {int(row) for row in part} else 0.0

    got = np.array([_run(my_aggregate, range(270), holds_zero, 30, 0.0, 15.0, 1.0, rng) for _ in range(600)])
    if abs(np.median(got) - 0.5) > 7 * max(_scale_of(got), 0.5) / math.sqrt(600):
        raise Wrong("thirty blocks, range [0, 15], one block answers a billion and the others 0: the answers lie "
                    f"around {np.median(got):.4g}, but the mean of the clipped answers is 0.5")


RUNS = 1500
CONSTANT = [                                     # rows, what every block answers, blocks, low, high, epsilon, centre
    (list(range(300)), 1e9, 5, 0.0, 10.0, 1.0, 10.0),
    (list(range(120)), -1e9, 5, -20.0, 10.0, 0.06, -20.0),
    (60 * [7], 3.0, 2, 0.0, 4.0, 6.0, 3.0),
    ([7], 1e6, 40, 0.0, 1.0, 1.0, (39 * 0.5 + 1) / 40),
    ([7], -math.inf, 8, -4.0, 0.0, 0.5, (7 * -2.0 - 4.0) / 8),
    ([], 0.0, 4, 2.0, 6.0, 0.7, 4.0),
]
WIDTHS = {                                       # words -> the scale of such noise
    "the noise has the scale of the whole range, as if one person were in all blocks":
        lambda n, blocks, span, epsilon: span / epsilon,
    "the noise has half the scale it needs": lambda n, blocks, span, epsilon: span / (blocks * epsilon) / 2,
    "the noise has twice the scale it needs": lambda n, blocks, span, epsilon: span / (blocks * epsilon) * 2,
    "the noise does not use epsilon": lambda n, blocks, span, epsilon: span / blocks,
    "the noise does not use the range": lambda n, blocks, span, epsilon: 1 / (blocks * epsilon),
    "the noise was scaled to the number of rows, not of blocks":
        lambda n, blocks, span, epsilon: span / (max(n, 1) * epsilon),
}
BINS = np.array([-np.inf, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, np.inf])


def _in_bins(scale):
    """The law of Laplace noise in bins, for bins of `scale`."""
    return np.diff(np.exp(log_laplace_cdf(scale * BINS)))


def _look_at_noise(my_aggregate, rng):
    _clips_each_answer(my_aggregate, rng)
    samples = [np.array([_run(my_aggregate, rows, lambda part, said=said: said, *rest, rng) for _ in range(RUNS)])
               for rows, said, *rest, _ in CONSTANT]

    def fits(width):                             # in all cases; the error of a scale is 1.44/sqrt(RUNS), 3.7 %
        return all(abs(_scale_of(got) / width(len(rows), blocks, high - low, epsilon) - 1) < 0.2
                   for got, (rows, _, blocks, low, high, epsilon, _) in zip(samples, CONSTANT))

    fitting = [words for words, width in WIDTHS.items() if fits(width)]
    for got, case in zip(samples, CONSTANT):
        _look_at_case(got, fitting, *case)
    far = max(np.abs(got - centre).max() * blocks * epsilon / (high - low)
              for got, (_, _, blocks, low, high, epsilon, centre) in zip(samples, CONSTANT))
    if far < 5.5:                                # in 9,000 draws: a chance of e^-36
        raise Wrong(f"in {len(CONSTANT) * RUNS:,} answers no noise was larger than {far:.3g} times its scale, so it "
                    "is cut off. An answer at the end of its range on one table is then impossible on a neighbour")


def _look_at_case(got, fitting, rows, said, blocks, low, high, epsilon, centre):
    scale, spread = (high - low) / (blocks * epsilon), _scale_of(got)
    case = (f"{len(rows)} rows, {blocks} blocks, every answer {said:g}, range [{low:g}, {high:g}], "
            f"epsilon = {epsilon:g}")
    middle, error = float(np.median(got)), 7 * scale / math.sqrt(RUNS)       # seven standard errors of a median
    if (unlike := len(np.unique(got))) < 0.99 * RUNS:
        raise Wrong(f"{case}: of {RUNS:,} answers only {unlike:,} differ; each needs a fresh Laplace noise, which is "
                    "not cut off")
    if abs(middle - centre) > error and spread < 20 * scale:
        unused = rows and abs(middle - (low + high) / 2) < error
        why = ("" if len(rows) >= blocks else "; the clipped answer of each filled block counts, too" if unused else
               f"; an empty block counts as the middle of the range: divide by {blocks}, however many are filled")
        raise Wrong(f"{case}: the answers lie around {middle:.4g}, but should lie around {centre:.4g}{why}")
    compare(np.histogram(got, centre + scale * BINS)[0], _in_bins(1.0),
            {f"{case}: {words}": _in_bins(scale / spread) for words in fitting},
            lambda i: f"{case}: an error from {BINS[i]:g} to {BINS[i + 1]:g} times the scale that it needs")
    signs = np.sign(got - centre)
    if abs(np.sum(signs[1:] * signs[:-1])) > 6 * math.sqrt(RUNS):
        raise Wrong("one answer's noise tells the next one's: draw each anew from rng")


@checker
@looks_for("empty", "contents", "negative", "small", "large", "quotient", "calls", "own", size="a row is replaced",
           order="one number comes out", fractions="the rows go only to the estimate", shared="one number comes out",
           missing="an estimate gives no NaN here", straddles="only the range decides, and answers lie beyond it",
           far="only the range decides, and answers lie far beyond it", rare="the mechanism has no rare events",
           type="the number of rows is public", zero="the law of the noise is prescribed")
def dd_blocks(my_aggregate):
    """`my_aggregate(rows, estimate, blocks, low, high, epsilon, rng)`: sample and aggregate, a coin for each row."""
    rng = np.random.default_rng(33)
    _look_at_blocks(my_aggregate, rng)
    _look_at_noise(my_aggregate, rng)
    return ("every row that we watched was in one block, drawn by itself and not by its value or place; and as far "
            "as we can see, the mean of the clipped answers has the noise it needs")
