"""Checkers of chapter 3: noise that fits the data."""
import functools
import itertools
import math

import numpy as np

from dplib import data_dependent
from dplib.svt import log_laplace_cdf
from provable_privacy.battery import Numbers, Pair, battery
from provable_privacy.battery.laws import compare
from provable_privacy.speech import Wrong, answered, ask, checker, compare_number, number

__all__ = ["dd_blocks", "dd_mean", "dd_smooth", "dd_test", "dd_witness"]


PROMISED, NEEDED = 0.1, 4.0                      # the colleague's epsilon; the loss that the learner must show


@checker
def dd_witness(pair):
    """`pair`: (table, neighbour, answer) with a large loss of median + Lap(max(LS, 1)/0.1), range [0, 100], replace."""
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
        raise Wrong(f"the tables have {len(one)} and {len(two)} incomes: under replace their number is public and the same")
    left = list(two)
    apart = len(one)
    for income in one:
        if income in left:
            left.remove(income)
            apart -= 1
    if apart > 1:
        raise Wrong(f"the tables differ in {apart} incomes; neighbours differ in one")
    logs, scales = [], []
    for table in (one, two):
        scale = max(data_dependent.median_local_sensitivity(table, low=0, high=100), 1.0) / PROMISED
        logs.append(-math.log(2 * scale) - abs(answer - table[(len(table) - 1) // 2]) / scale)
        scales.append(scale)
    loss = abs(logs[0] - logs[1])
    said = f"noise of scale {scales[0]:g} and {scales[1]:g}, a loss of {loss:.2f} at {answer:g}"
    if loss < NEEDED:
        more = "the two scales are equal" if scales[0] == scales[1] else "look for scales farther apart, or for a better answer"
        raise Wrong(f"{said}, which is less than {NEEDED:g}: {more}")
    return f"{said}, where {PROMISED:g} was promised"


def _mean_moves(x, low, high):
    """Largest move by adding a row, by taking one away: tried out."""
    mean, ends = x.mean(), (low, high)
    return (max(abs(np.append(x, end).mean() - mean) for end in ends),
            max(abs(np.delete(x, i).mean() - mean) for i in range(len(x))))


def _mistaken_mean(raw, low, high):
    x, n = np.clip(raw, low, high), len(raw)
    added, taken = _mean_moves(x, low, high)
    return {
        "this is what a row that comes in can do; a row that goes away can do more": added,
        "this is what a row that goes away can do; one that comes in can do more": taken,
        "u/(n + 1) is for adding only and for a mean near 0": high / (n + 1),
        "this is the worst case over all tables of this size, not of this one": (high - low) / n,
        "a row that goes away leaves n - 1 behind": max(added, np.abs(x - x.mean()).max() / n),
        "a row that comes in may be at either end of the range": max((high - x.mean()) / (n + 1), taken),
        "the values were not clipped to the range first": max(_mean_moves(raw, low, high)),
    }


def _close(one, two):
    return math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-6)


def _explains(wrong, mine):
    """The mistake that explains all answers, if there is one; `wrong` holds what each mistake gives in each case."""
    return next((message for message in wrong[0] if all(_close(got, other[message]) for got, other in zip(mine, wrong))), "")


@checker
def dd_mean(reach):
    """`reach(values, low, high)`: local sensitivity of the mean under add/remove, two or more values."""
    rng = np.random.default_rng(8)
    cases = [([0, 0, 0, 100], 0, 100), ([3.0, 3.0], 0, 10), ([-50, -20, 400], -100, 30), ([5, 5, 5], 5, 9), ([9.0] * 6, 0, 10)]
    cases += [(rng.normal(0, 40, size), -60.0, 35.0) for size in (2, 3, 10, 40)]
    cases += [(rng.exponential(10, size), 0.0, 90.0) for size in (2, 5, 30)]
    cases = [(np.array(values, dtype=float), low, high) for values, low, high in cases]
    mine = [number(answered(reach, values.copy(), low, high), "reach") for values, low, high in cases]
    for got, (values, low, high) in zip(mine, cases):
        right = max(_mean_moves(np.clip(values, low, high), low, high))
        if _close(got, right):
            continue
        shown = [round(float(v), 1) for v in values[:6]]
        case = f"values {shown}{' ...' if len(values) > 6 else ''} in [{low:g}, {high:g}]: {got:.4g}, but one row moves the mean by up to {right:.4g}"
        if message := _explains([_mistaken_mean(*given) for given in cases], mine):
            raise Wrong(f"{case}; {message}")
        compare_number(got, right, "reach", case, tolerance=1e-6)
    return f"the same as trying all rows, on {len(cases)} tables"


def _smooth_by_search(values, beta, low, high):
    """The definition: over all tables whose rows are among the values and the two ends."""
    x = np.clip(np.asarray(values, dtype=float), low, high)
    spots = np.unique([*x, low, high])
    tables = np.array(list(itertools.product(spots, repeat=len(x))))
    middle = np.sort(tables, axis=1)[:, (len(x) - 1) // 2].reshape([len(spots)] * len(x))          # an axis for each row
    local = np.max([np.maximum(middle.max(axis=i, keepdims=True) - middle, middle - middle.min(axis=i, keepdims=True))
                    for i in range(len(x))], axis=0)
    return float((np.exp(-beta * (tables != x).sum(axis=1)) * local.ravel()).max())


def _mistaken_smooth(values, beta, low, high):
    x = np.sort(np.clip(values, low, high))
    n, padded = len(x), np.concatenate([[low], np.sort(np.clip(values, low, high)), [high]])

    def walk(x, m, *, late=0, window=1, last=None):
        top, best = len(x) - 1, 0.0
        for t in range(n + 1 if last is None else last):
            i = np.arange(m - t - window, m + 1)
            gap = (x[np.minimum(i + t + window, top)] - x[np.maximum(i, 0)]).max()
            best = max(best, math.exp(-beta * (t + late)) * gap)
        return best

    m, raw = (n + 1) // 2, np.concatenate([[low], np.sort(values), [high]])
    return {
        "this is the local sensitivity of this table alone, which is not a smooth bound": walk(padded, m, last=1),
        "this is the whole range, the global sensitivity, as if t steps had no discount: a smooth bound, but not the smallest": high - low,
        "the ends of the range are missing: a replaced row may lie anywhere in it": walk(x, m - 1),
        "the discount of t steps is e^(-beta t); here it is one step too many": walk(padded, m, late=1),
        "A(t) is missing one gap: t replaced rows empty t + 1 gaps": max(walk(padded, m, window=0), 0.0),
        "this is the other middle value, the (n/2 + 1)-th": walk(padded, n // 2 + 1),
        "the values were not clipped to the range first": walk(raw, m),
    }


@functools.cache
def _smooth_cases():
    """Tables, beta and range, and what the definition gives there."""
    rng = np.random.default_rng(12)
    tables = [[1, 4, 5, 6, 9], [3, 3, 3, 3], [0, 0, 0, 9, 9], [0, 0, 9, 9], [2, 2, 8, 8], [0, 0, 0], [10, 10, 10], [7], [1, 9], [-5, 4, 30]]
    tables += [rng.uniform(0, 10, size).round(2) for size in (1, 2, 3, 4, 5)]
    large = [np.repeat([0.2, 9.5], [26, 25]), np.full(400, 4.0), rng.uniform(0, 10, 41), np.append(np.full(39, 0.0), [10.0])]
    cases = [(table, beta, -2.0, 12.0) for table in tables for beta in (0.05, 0.6, 3.0)] + [(table, 0.3, 0.0, 10.0) for table in tables]
    cases += [(table, beta, 0.0, 10.0) for table in large for beta in (0.02, 0.3)]
    cases = [(rng.permutation(np.array(values, dtype=float)), *rest) for values, *rest in cases]
    return [(values, beta, low, high, _smooth_by_search(values, beta, low, high) if len(values) <= 5
             else data_dependent.smooth_sensitivity(values, beta=beta, low=low, high=high)) for values, beta, low, high in cases]


@checker
def dd_smooth(my_smooth):
    """`my_smooth(values, beta, low, high)`: smooth sensitivity of the ceil(n/2)-th smallest, replace."""
    cases = _smooth_cases()
    mine = [number(answered(my_smooth, values.copy(), *rest), "smooth sensitivity") for values, *rest, _ in cases]
    for got, (values, beta, low, high, right) in zip(mine, cases):
        if _close(got, right):
            continue
        shown = np.sort(values)[:6].tolist() if len(values) <= 6 else f"of {len(values)} rows"
        case = f"table {shown}, beta = {beta:g}, range [{low:g}, {high:g}]: {got:.6g}, but it is {right:.6g}"
        if message := _explains([_mistaken_smooth(*given) for *given, _ in cases], mine):
            raise Wrong(f"{case}; {message}")
        why = "it is too small: no smooth bound lies below that" if got < right else "it is smooth perhaps, but larger than need be"
        compare_number(got, right, "smooth sensitivity", f"{case}; {why}", tolerance=1e-6)
    return f"the same as the definition, on {len(_smooth_cases())} cases"


def _cdf(x):
    return np.exp(log_laplace_cdf(np.asarray(x, dtype=float)))


BINS = np.array([-np.inf, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, np.inf])


@functools.cache
def _release(test=1.0, answer=1.0, threshold=lambda half, delta: math.log(1 / (2 * delta)) / half, least=-math.inf, exact=False, reuse=False, bound_in=True):
    """A learner's propose-test-release: factors on the scales of its two noises, a threshold from epsilon/2 and delta."""
    def release(value, distance, bound, epsilon, delta, rng):
        half, luck = epsilon / 2, rng.laplace()
        noisy = distance if exact else distance + luck * test / half
        if noisy <= threshold(half, delta) and distance > least:
            return None
        return value + (luck if reuse else rng.laplace()) * answer * (bound if bound_in else 1.0) / half

    return release


def _turned(value, distance, bound, epsilon, delta, rng):
    if distance + rng.laplace(scale=2 / epsilon) > 2 / epsilon * math.log(1 / (2 * delta)):
        return None
    return value + rng.laplace(scale=2 * bound / epsilon)


def _never_at_zero(value, distance, *rest):
    return _release()(value, distance, *rest) if distance else None


def _ln(over, factor=1.0):
    return lambda half, delta: math.log(over / delta) / half * factor


MISTAKES = {
    "test and release cost ε each, 2ε in all: halve it": _release(0.5, 0.5, _ln(0.5, 0.5)),
    "the threshold ln(1/δ)/(ε/2) is safe, but the test passes half as often as δ allows": _release(threshold=_ln(1)),
    "the threshold ln(2/δ)/(ε/2) is safe, but the test passes a quarter as often as δ allows": _release(threshold=_ln(2)),
    "with the threshold ln(2/δ)/(2ε) a table at distance 0 passes far more often than δ": _release(0.5, 0.5, _ln(2, 0.25)),
    "with the threshold ln(2/δ)/ε a table at distance 0 passes more often than δ": _release(threshold=_ln(2, 0.5)),
    "the threshold goes with ε, the test's noise with ε/2: it passes too often": _release(threshold=_ln(0.5, 0.5)),
    "the threshold does not know ε": _release(threshold=lambda half, delta: math.log(1 / (2 * delta))),
    "the test's noise has half the scale it needs": _release(test=0.5),
    "the test's noise has twice the scale that the threshold is made for: it passes too often": _release(test=2.0),
    "the answer's noise has half the scale it needs: the bound over ε/2 is right": _release(answer=0.5),
    "the answer's noise has twice the scale it needs": _release(answer=2.0),
    "the answer's noise does not know the bound": _release(bound_in=False),
    "every table is answered, tested or not": _release(threshold=lambda half, delta: -math.inf),
    "the exact value was released; a bound above 0 needs noise": _release(answer=0.0),
    "the distance was compared without noise, and it is private": _release(exact=True),
    "at distance 0 it never answers, so an answer tells that the distance is not 0: let the noise decide there, too": _never_at_zero,
    "the comparison is the wrong way round, and answers the tables that must not pass": _turned,
    "the noise of the test was used again for the answer: given that it passed it is no longer a Laplace noise": _release(reuse=True),
}


def _tested(value, distance, other, nearer, bound, epsilon, delta, **settings):
    """Two neighbours: at distance 0 values may be far apart, otherwise by the bound; distances by one."""
    return Pair(f"value {value:g} at distance {distance} / value {other:g} at distance {nearer}, bound {bound:g}, ε = {epsilon:g}, δ = {delta:g}",
                (value, distance, bound, epsilon, delta), (other, nearer, bound, epsilon, delta), ((epsilon, delta),),
                ((1.0, value), (1.0, other)), law="exactly", **settings)


TESTED = [
    _tested(-7.0, 4, -7.3, 3, 0.3, 2.0, 0.02),
    _tested(50.0, 0, 900.0, 0, 2.0, 1.0, 0.05, runs=10_000),
    _tested(1000.0, 9, 1030.0, 10, 30.0, 0.5, 0.1),
    _tested(0.0, 500, 1.0, 499, 1.0, 1.0, 0.01, twice=800),
    _tested(0.0, 26, 2.0, 25, 2.0, 1.0, 1e-6),
    _tested(5.0, 0, 6.0, 1, 1.0, 3.0, 0.3),
]


@checker
def dd_test(my_release):
    """`my_release(value, distance, bound, epsilon, delta, rng)`: (epsilon, delta) in all, half of epsilon for each part."""
    def call(answer, arguments, rng):
        got = ask(answer, *arguments, rng)
        if got is None:
            return np.zeros(2)
        try:
            return np.array([1.0, float(got)])
        except (TypeError, ValueError):
            raise Wrong(f"expected a number or None, got {got!r}"[:200]) from None

    form = Numbers(2, names=("answered (1: yes)", "the answer (0 for None)"))
    said = battery(my_release, form, TESTED, call=call, mistakes=MISTAKES, right=_release(), seed=21)
    _look_far_out(my_release, np.random.default_rng(34))
    return f"at distance 0 it answers with probability δ, and each part costs ε/2, as far as we can see; {said}"


def _look_far_out(my_release, rng):
    """At distance 0 and a small δ, almost five scales out, where a noise that is cut off before never comes."""
    runs, delta = 12_000, 0.004
    passed = sum(ask(my_release, 5.0, 0, 1.0, 2.0, delta, rng) is not None for _ in range(runs))
    case = f"distance 0, ε = 2, δ = {delta:g}"
    never = f"{case}: it never answers; if the test's noise is cut off, a distance that never passes lies beside one that passes more often than δ allows"
    compare([passed, runs - passed], [delta, 1 - delta], {never: [0.0, 1.0]}, lambda i: f"{case}: {['an answer', 'None'][i]}")


@checker
def dd_blocks(my_aggregate):
    """`my_aggregate(rows, estimate, blocks, low, high, epsilon, rng)`: sample and aggregate with a coin for each row."""
    rng = np.random.default_rng(33)
    _look_at_blocks(my_aggregate, rng)
    _look_at_noise(my_aggregate, rng)
    return ("every row that we watched was in one block, by a coin of its own and not of its value or place, "
            "and the mean of clipped answers has the noise it needs, as far as we can see")


def _run(my_aggregate, rows, estimate, blocks, low, high, epsilon, rng):
    return number(answered(my_aggregate, rows, estimate, blocks, low, high, epsilon, rng), "answer")


def _look_at_blocks(my_aggregate, rng):
    lone = np.zeros(3, dtype=int)                # three rows, two blocks: which row is alone
    for rows, blocks, trials in (list(range(40)), 6, 1), ([0, 1, 2], 2, 2000), ([7, 7, 7], 2, 600):
        n, equal, sizes = len(rows), len(set(rows)) == 1, np.zeros(2, dtype=int)
        for _ in range(trials):
            seen = []

            def spy(part, seen=seen):
                part = [int(row) for row in part]
                if not part:
                    raise ValueError("an empty block was given to the estimate")
                seen.append(part)
                return 0.0

            _run(my_aggregate, list(rows), spy, blocks, -1.0, 1.0, 1.0, rng)
            every = sorted(row for part in seen for row in part)
            if len(every) > n:
                raise Wrong("a row was in two blocks, or a block was asked twice: the first lets one person move two answers; for the second, keep the answer")
            if every != rows:
                raise Wrong(f"{n} rows, and {len(set(every)) if not equal else len(every)} of them came into blocks; each row belongs to one block")
            if len(seen) > blocks:
                raise Wrong(f"{blocks} blocks were asked for, and the estimate was called on {len(seen)}")
            if n == 3:
                sizes[len(seen) - 1] += 1
                if len(seen) == 2 and not equal:
                    lone[min(seen, key=len)[0]] += 1
        if n > 3:
            continue
        case = "three equal rows, two blocks" if equal else "three rows, two blocks"
        if sizes[0] == 0:
            why = ("In all runs the blocks are the same: no place in the list, value or seed fixed inside is a coin" if lone.max() == 2000 else
                   "Blocks of a fixed size, or of which none may be empty, make a row's block depend on the others: one row more moves somebody else")
            raise Wrong(f"{case}: never all three in one block, as coins would have it one time in four. {why}")
        together = (f"{case}: they always share a block; the block follows the value, and a replaced row then changes two blocks" if equal
                    else f"{case}: they are always in one block; each row needs a coin of its own in every run, with a side for each block")
        compare(sizes, [0.25, 0.75], {together: [1.0, 0.0]}, lambda i, case=case: f"{case}: {['all three in one', 'two and one'][i]}")
    place = "three rows, two blocks: the place in the list decides who is alone"
    compare(lone, np.full(3, 1 / 3), {place: np.eye(3)[np.argmax(lone)]}, lambda i: f"three rows, two blocks, when one is alone: row {i}")


def _look_at_noise(my_aggregate, rng):
    def always(number):
        return lambda part: number

    def holds_zero(part):
        return 1e9 if 0 in {int(row) for row in part} else 0.0

    # of 20 answers the one that differs lies more than four standard deviations out
    got = np.array([_run(my_aggregate, list(range(120)), holds_zero, 20, 0.0, 10.0, 1.0, rng) for _ in range(600)])
    spread = float(np.median(np.abs(got - np.median(got)))) / math.log(2)
    if abs(np.median(got) - 0.5) > 7 * max(spread, 0.5) / math.sqrt(600):
        raise Wrong(f"twenty blocks, range [0, 10], one block answers a billion and the others 0: the answers lie around {np.median(got):.4g}, "
                    "but the mean of the clipped answers is 0.5")
    many, equal, one = list(range(120)), 60 * [7], [7]
    cases = [  # rows, what every block answers, blocks, low, high, epsilon, the exact mean
        (many[:60], 1e9, 5, 0.0, 10.0, 1.0, 10.0),
        (many, -1e9, 5, -20.0, 10.0, 0.15, -20.0),
        (equal, 3.0, 2, 0.0, 4.0, 2.0, 3.0),
        (one, 1e6, 12, 0.0, 1.0, 1.0, (11 * 0.5 + 1) / 12),
        (one, -math.inf, 8, -4.0, 0.0, 0.5, (7 * -2.0 - 4.0) / 8),
        ([], 0.0, 4, 2.0, 6.0, 1.0, 4.0),
    ]
    runs, fits = 1500, {}                        # message -> whether the noise has the size that it names, in all cases
    samples = [np.array([_run(my_aggregate, list(rows), always(constant), *rest, rng) for _ in range(runs)]) for rows, constant, *rest, _ in cases]
    spreads = [float(np.median(np.abs(got - np.median(got)))) / math.log(2) for got in samples]      # scales, with an error of 1.44/sqrt(runs), 3.7 %
    for spread, (rows, _, blocks, low, high, epsilon, _) in zip(spreads, cases):
        scale = (high - low) / (blocks * epsilon)
        for message, kind in {
            "the noise has the scale of the whole range, as if one person were in all blocks": scale * blocks,
            "the noise has half the scale it needs": scale / 2, "the noise has twice the scale it needs": scale * 2,
            "the noise does not know epsilon": scale * epsilon, "the noise does not know the range": 1 / (blocks * epsilon),
            "the noise was scaled to the number of rows, not of blocks": (high - low) / (max(len(rows), 1) * epsilon),
        }.items():
            fits[message] = fits.get(message, True) and abs(spread / kind - 1) < 0.2
    for got, spread, (rows, constant, blocks, low, high, epsilon, centre) in zip(samples, spreads, cases):
        scale = (high - low) / (blocks * epsilon)
        case = f"{len(rows)} rows, {blocks} blocks, every answer {constant:g}, range [{low:g}, {high:g}], epsilon = {epsilon:g}"
        middle, error = float(np.median(got)), 7 * scale / math.sqrt(runs)       # the median's standard error is scale/sqrt(runs)
        if (unlike := len(np.unique(got))) < 0.99 * runs:
            raise Wrong(f"{case}: of {runs:,} answers only {unlike:,} differ; each needs a fresh Laplace noise, which is not cut off")
        if abs(middle - centre) > error and spread < 20 * scale:
            none = rows and abs(middle - (low + high) / 2) < error
            why = ("" if len(rows) >= blocks else "; the answer of a block that is filled counts, too, clipped" if none else
                   f"; an empty block counts as the middle of the range: divide by {blocks}, however many are filled")
            raise Wrong(f"{case}: the answers lie around {middle:.4g}, but should around {centre:.4g}{why}")
        rivals = {f"{case}: {message}": np.diff(_cdf(scale * BINS / spread)) for message in fits if fits[message]}
        compare(np.histogram(got, centre + scale * BINS)[0], np.diff(_cdf(BINS)), rivals,
                lambda i, case=case: f"{case}: an error from {BINS[i]:g} to {BINS[i + 1]:g} times the scale that it needs")
        signs = np.sign(got - centre)
        if abs(np.sum(signs[1:] * signs[:-1])) > 6 * math.sqrt(runs):
            raise Wrong("one answer's noise tells the next one's: draw each anew from rng")
    far = max(np.abs(got - centre).max() * blocks * epsilon / (high - low)
              for got, (_, _, blocks, low, high, epsilon, centre) in zip(samples, cases))
    if far < 5.5:                                # in 9,000 draws: a chance of e^-36
        raise Wrong(f"in {len(cases) * runs:,} answers no noise was farther out than {far:.3g} times its scale: it is cut off, and what lies at "
                    "its end with one table cannot come from a neighbour")
