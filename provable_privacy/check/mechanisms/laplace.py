"""Checkers of chapter 3: sensitivity and the Laplace mechanism."""
import functools
import itertools
import math
from dataclasses import replace

import numpy as np

from dplib import sensitivity as sens
from provable_privacy.battery import Crowd, Numbers, Pair, battery, drawn, luck
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, number, numbers

__all__ = ["lap_bound", "lap_bug", "lap_contribution", "lap_discrete", "lap_interval", "lap_quiz", "lap_release"]

NEAR, MOST = 1.69, 0.79                          # Laplace noise is within 1.69 scales in 81.6 % of the runs, a tenth too wide in 78.5 %


# ------------------------------------------------------------------------------------------------------- noise on a number or an array

def _with(scale, draw=None):
    """The mechanism with noise of this scale (or this law)."""
    def release(value, step, epsilon, rng):
        b, shape = scale(step, epsilon), np.shape(value)
        return value + (rng.laplace(scale=b, size=shape) if draw is None else draw(rng, b, shape))

    return release


RIGHT = _with(lambda d, e: d / e)
SCALES = {
    "the scale is 1/(Δε); a larger step needs more noise, not less": _with(lambda d, e: 1 / (d * e)),
    "the scale is ε/Δ, upside down: more privacy would mean less noise": _with(lambda d, e: e / d),
    "the scale is 1/ε: the sensitivity was left out": _with(lambda d, e: 1 / e),
    "Δ/ε was taken for the standard deviation, which is √2 times the scale: too little noise": _with(lambda d, e: d / e / 2**0.5),
    "half the scale that is needed": _with(lambda d, e: d / e / 2),
    "twice the scale that is needed: private, and noisier than the promise asks": _with(lambda d, e: 2 * d / e),
    "√2 times the scale that is needed: private, and noisier than the promise asks": _with(lambda d, e: d / e * 2**0.5),
    "normal noise has no ε at all: its tails fall too fast": _with(lambda d, e: 2**0.5 * d / e, lambda rng, b, shape: rng.normal(scale=b, size=shape)),
    "the noise is never negative: one neighbour makes outputs possible that the other does not":
        _with(lambda d, e: d / e, lambda rng, b, shape: rng.exponential(b, size=shape)),
    "the noise loses its fraction (has an array taken its type from whole answers?), and 0 comes too often":
        _with(lambda d, e: d / e, lambda rng, b, shape: np.trunc(rng.laplace(scale=b, size=shape))),
}


def _values(what, one, two, step, epsilon, **settings):
    """`two` is one step of L1 length `step` from `one`."""
    return Pair(what, (one, step, epsilon), (two, step, epsilon), ((epsilon, 0.0),), (np.ravel(one), np.ravel(two)), within=NEAR * step / epsilon,
                share=0.76, **settings)


def _cells(value, step, epsilon, calls=2):
    """Very many answers at once, each of them `value`, or a step more."""
    return Crowd(f"answers of {value:g} / answers of {value + step:g}, sensitivity {step:g}, ε = {epsilon:g}",
                 lambda coins: (np.where(coins, value + step, value), step, epsilon),
                 lambda got, coins: numbers(got, (len(coins),), "an array of answers"), 6000, ((epsilon, 0.0),), (value, value + step), calls,
                 within=NEAR * step / epsilon, share=MOST, words=("answers", "given", "answer"))


SEVEN, NINE = np.full((2, 3), 7.0), np.array([[7.0, 7, 7], [7, 7, 9]])
RELEASES = [
    _values("the number 0 / the number 5", 0.0, 5.0, 5.0, 0.8, runs=4000, twice=600),
    _values("three numbers, the last one 7 / the same, the last one 8", np.array([0.0, 0, 7]), np.array([0.0, 0, 8]), 1.0, 0.5, runs=2500, twice=500),
    _values("two rows of three sevens / the same with a nine at the end", SEVEN, NINE, 2.0, 1.0, runs=2000),
    _values("five equal numbers / the first and the last of them moved", np.full(5, 40.0), np.array([41.5, 40, 40, 40, 38.5]), 3.0, 0.8, runs=2000),
]
ANSWERS = [_cells(0, 3, 1.0, calls=12), _cells(1e6, 0.25, 2.0, calls=6)]      # many zeros show noise that is drawn again below 0
ANSWERS += [_cells(*case.values()) for case in drawn(2, 41, value=(-900.0, 900.0), step=(0.2, 9.0), epsilon=(0.2, 2.0))]


def _reaches(mechanism, zeros, scale=150.0):
    """`Wrong` if none of 20,000 noises is beyond seven scales: e^-7 of them should be, so none is with probability e^-18."""
    noise = numbers(answered(mechanism, zeros, 2, 2 / scale, luck(48)), zeros.shape, "an array of answers")
    if np.abs(noise).max() < 7 * scale:
        raise Wrong(f"the largest of {zeros.size:,} noises is {np.abs(noise).max() / scale:.1f} scales: noise that is cut off makes outputs possible on one "
                    "table that are impossible on its neighbour")


def _flat(release, arguments, rng):
    got = answered(release, *arguments, rng)
    if isinstance(arguments[0], np.ndarray) and arguments[0].ndim > 1:
        return numbers(got, arguments[0].shape, "an array of two rows and three columns").ravel()
    return got


@checker
def lap_release(release):
    """`release(value, sensitivity, epsilon, rng)`: the Laplace mechanism, which refuses a bad sensitivity or epsilon."""
    ask(release, 1.0, 1.0, 1.0, np.random.default_rng(41))
    for name, bad in itertools.product(("sensitivity", "epsilon"), (0, -1.0, math.nan, math.inf)):
        arguments = {"sensitivity": 1.0, "epsilon": 1.0, name: bad}
        try:
            release(10.0, arguments["sensitivity"], arguments["epsilon"], np.random.default_rng(41))
        except ValueError:
            continue
        except Exception as error:
            raise Wrong(f"{name} = {bad:g}: expected a ValueError, got {type(error).__name__}") from None
        raise Wrong(f"{name} = {bad:g} was accepted; a ValueError was asked for")
    before = np.random.get_state()[1].tobytes(), np.random.get_state()[2]  # noqa: NPY002
    ask(release, np.arange(3.0), 1.0, 1.0, np.random.default_rng(41))
    if (np.random.get_state()[1].tobytes(), np.random.get_state()[2]) != before:  # noqa: NPY002
        raise Wrong("the noise comes from numpy's global generator, which any other part of the program can reset; draw it from rng")
    seen = battery(release, lambda pair: Numbers(np.size(pair.one[0]) if np.ndim(pair.one[0]) else 0, "number"), RELEASES, crowds=ANSWERS, call=_flat,
                   mistakes=SCALES, right=RIGHT, seed=41)
    _reaches(release, np.zeros(20_000))
    return f"fresh noise for every number, and it refuses what is not positive and finite; {seen}"


@checker
def lap_interval(interval):
    """`interval(noisy, sensitivity, epsilon, beta)`: (low, high) that covers all the exact answers at once, and no wider than needed."""
    for k, step, epsilon, beta in ((1, 1.0, 0.1, 0.05), (1, 40.0, 0.5, 0.01), (5, 1.0, 1.0, 0.05), (104, 2.0, 0.25, 0.1)):
        noisy = np.linspace(-50, 500, k) if k > 1 else 12.5
        case = f"k = {k}, sensitivity {step:g}, epsilon {epsilon:g}, beta {beta:g}"
        try:
            low, high = answered(interval, noisy, step, epsilon, beta)
        except (TypeError, ValueError):
            raise Wrong(f"{case}: expected a pair (low, high)") from None
        low, high = (numbers(side, np.shape(noisy), f"{case}, {name}") for side, name in ((low, "low"), (high, "high")))
        if not np.allclose((low + high) / 2, noisy):
            raise Wrong(f"{case}: the interval does not have the noisy answer in its middle")
        half, b = (high - low) / 2, step / epsilon
        if np.any(half <= 0):
            raise Wrong(f"{case}: low must be below high")
        if np.ptp(half) > 1e-6 * b:
            raise Wrong(f"{case}: the {k} noises have one law; the same width for all is shortest")
        half = float(half.flat[0])
        covered, right = (-math.expm1(-half / b)) ** k, -b * math.log(-math.expm1(math.log1p(-beta) / k))
        if abs(half / right - 1) < 1e-6:
            continue
        told = f"{case}: ± {half:.4g} covers {f'all {k} ' if k > 1 else ''}with probability {covered:.4f}"
        rivals = {
            "that is ln(k/β), the sum of the tails: safe, and a little wider than necessary": b * math.log(k / beta),
            "each interval alone has probability 1 - β; all of them together have much less": b * math.log(1 / beta),
            "this leaves β on either side, 2β in all: both sides count": b * math.log(0.5 / beta),
            "this is the normal law's interval; Laplace tails are longer": 1.959964 * math.sqrt(2) * b,
            "the scale is Δ/ε": right / step,
        }
        for message, value in rivals.items():
            if abs(half / value - 1) < 1e-3:
                raise Wrong(f"{told}; {message}")
        raise Wrong(f"{told}; {'too short' if half < right else 'safe, but wider than necessary'}")
    return "covers all k answers with probability 1 - β exactly, for k = 1, 5 and 104"


# ------------------------------------------------------------------------------------------------------------------- sensitivities

def _brute(query, universe, adjacency):
    tables = [t for size in range(5) for t in itertools.combinations_with_replacement(universe, size)]
    return max(sens.empirical(query, t, universe=universe, adjacency=adjacency) for t in tables)


def _third(x, low, high):
    return min(2, int(3 * (x - low) / (high - low)))


def _questions(low, high):
    return {
        "positive": lambda t: sum(x > 0 for x in t),
        "sum": sum,
        "sum of squares": lambda t: sum(x * x for x in t),
        "sum and positive together": lambda t: [sum(t), sum(x > 0 for x in t)],
        "thirds": lambda t: [sum(_third(x, low, high) == i for x in t) for i in range(3)],
        "range": lambda t: max(t, default=0) - min(t, default=0),
    }


@checker
def lap_quiz(quiz):
    """`quiz(low, high)`: question -> (sensitivity under add/remove, under replace)."""
    ranges, missing = ((-1.0, 3.0), (-3.0, 2.5), (-6.0, 0.5)), {}
    for low, high in ranges:
        answers = answered(quiz, low, high)
        if not isinstance(answers, dict):
            raise Wrong(f"expected a dict, got {type(answers).__name__}")
        universe = [low, low / 2, 0.0, high / 2, high]
        for name, query in _questions(low, high).items():
            if name not in answers:
                raise Wrong(f"no answer to {name!r}")
            if answers[name] is ...:
                missing[name] = True
                continue
            try:
                pair = tuple(answers[name])
            except TypeError:
                pair = ()
            if len(pair) != 2:
                raise Wrong(f"{name!r}: expected a pair (add/remove, replace)")
            truths = [_brute(query, universe, adjacency) for adjacency in sens.ADJACENCIES]
            for value, truth, other, adjacency in zip(pair, truths, truths[::-1], sens.ADJACENCIES, strict=True):
                if value is ...:
                    missing[name] = True
                    continue
                got = number(value, f"{name!r} under {adjacency}")
                if abs(got - truth) < 1e-9 * max(1, truth):
                    continue
                case = f"{name!r} under {adjacency}, values in [{low:g}, {high:g}]: {got:g}"
                if abs(got - other) < 1e-9:
                    case += ", which is the answer for the other adjacency"
                if name == "sum of squares" and abs(got - abs(high**2 - low**2)) < 1e-9:
                    case += "; with 0 between the bounds the smallest square is 0"
                if got < truth:
                    raise Wrong(f"{case}; there are neighbours {truth:g} apart, and noise for {got:g} would not hide them")
                raise Wrong(f"{case}; no two neighbours are more than {truth:g} apart, so this is safe and too noisy")
    if missing:
        raise NotAttempted(", ".join(missing) if len(missing) < 6 else "")
    return f"six questions, two adjacencies, {len(ranges)} ranges: no table of up to four people contradicts you"


@checker
def lap_bound(best_bound):
    """`best_bound(values, epsilon, candidates)`: the candidate with the smallest root mean square error of the noisy clipped sum."""
    rng = np.random.default_rng(43)
    grid = [10, 20, 40, 60, 90, 140, 200, 300, 500, 900, 2000, 5000]
    cases = [(rng.lognormal(4, sigma, size).round(1), epsilon) for size in (3, 40, 800) for epsilon in (0.05, 0.4, 2.0) for sigma in (0.3, 1.3)]
    cases += [(np.full(50, 60.0), 1.0), (np.zeros(9), 0.5), (np.r_[np.zeros(99), 5000.0], 5.0)]
    answers, told = [], None
    for values, epsilon in cases:
        bias = {c: float(np.maximum(values - c, 0).sum()) for c in grid}
        squared = {c: bias[c] ** 2 + 2 * (c / epsilon) ** 2 for c in grid}
        best = min(squared, key=squared.get)
        for candidates in (grid, grid[::-1]):
            got = number(answered(best_bound, values.copy(), epsilon, list(candidates)), "the bound")
            if got not in grid:
                raise Wrong(f"{got:g} is not one of the candidates")
            answers.append((values, bias, epsilon, got))
            if told is None and squared[got] > squared[best] * (1 + 1e-9):
                told = (f"{len(values)} values with mean {values.mean():.0f}, epsilon {epsilon:g}: at {got:g} bias {bias[got]:.0f} and noise "
                        f"{math.sqrt(2) * got / epsilon:.0f}, at {best:g} bias {bias[best]:.0f} and noise {math.sqrt(2) * best / epsilon:.0f}")
    if told is None:
        return "the smallest error, on 21 tables from three values to 800"
    for message, rule in {                       # the mistake that explains all answers, if there is one
        "you weigh the sum of bias and standard deviation; squares add": lambda values, bias, e, c: bias + math.sqrt(2) * c / e,
        "the variance of Lap(b) is 2b², not b²": lambda values, bias, e, c: bias**2 + (c / e) ** 2,
        "you weigh the bias of the mean against the noise of the sum": lambda values, bias, e, c: (bias / len(values)) ** 2 + 2 * (c / e) ** 2,
        "the expected absolute error is another measure than the root mean square": lambda values, bias, e, c: bias + c / e * math.exp(-bias * e / c),
        "epsilon was left out": lambda values, bias, e, c: bias**2 + 2 * c**2,
        "only the bias was looked at, whatever the noise costs": lambda values, bias, e, c: bias,
        "only the noise was looked at": lambda values, bias, e, c: c,
    }.items():
        if all(rule(values, bias[got], e, got) <= min(rule(values, bias[c], e, c) for c in grid) * (1 + 1e-9) for values, bias, e, got in answers):
            raise Wrong(f"{told}; {message}")
    raise Wrong(told)


# ------------------------------------------------------------------------------------------------------------ persons with many rows

@functools.cache
def _counting(scale=lambda most, longest: most, bound=True):
    """A private histogram of the kept rows, right unless told otherwise."""
    def counts(rows, films, most, epsilon, rng):
        kept, had = np.zeros(films), {}
        for i in rng.permutation(len(rows)):
            person, film = rows[i]
            had[person] = had.get(person, 0) + 1
            kept[film] += had[person] <= most or not bound
        return kept + rng.laplace(scale=scale(most, max(had.values(), default=1)) / epsilon, size=films)

    return counts


BOUNDS = {
    "the noise has scale 1/ε and protects a row, not a person with several": _counting(lambda most, longest: 1),
    "twice the scale that is needed": _counting(lambda most, longest: 2 * most),
    "the scale is √most/ε; Laplace noise is charged in L1": _counting(lambda most, longest: most**0.5),
    "half the scale that is needed": _counting(lambda most, longest: most / 2),
    "the scale is 1/(most · ε), upside down": _counting(lambda most, longest: 1 / most),
    "the scale follows the rows that a person has before the cut, so it tells how many they are": _counting(lambda most, longest: max(most, longest)),
    "the noise fits `most` rows, and all rows are counted": _counting(bound=False),
}


@functools.cache
def _one_each(films, most, epsilon, calls=3):
    """For each film a person with `most` rows of it, there or not."""
    def build(coins):
        return [(f"person {i}", i) for i in np.flatnonzero(coins).tolist() for _ in range(most)], films, most, epsilon

    return Crowd(f"films that nobody saw / films with {most} rows of one person, ε = {epsilon:g}", build,
                 lambda got, coins: numbers(got, (films,), "the counts"), films, ((epsilon, 0.0),), (0.0, most), calls=calls,
                 within=NEAR * most / epsilon + 0.5, share=MOST, words=("films", "published", "count"))


def _raters(what, common, more, films, most, epsilon, truth=True, **settings):
    """`common` rows, and the same with the rows `more` of one person in front; `truth` where nobody has too many."""
    tables = [(rows, films, most, epsilon) for rows in (common, more + common)]
    exact = [np.bincount([film for _, film in rows], minlength=films) if truth else None for rows, *_ in tables]
    return Pair(what, *tables, ((epsilon, 0.0),), tuple(exact), within=NEAR * most / epsilon, share=0.76, **settings)


TOWN = [(f"neighbour {i % 19}", i % 4) for i in range(40)]
RATERS = [
    _raters("no rows / one person with a row of each of three films", [], [("a", 0), ("a", 1), ("a", 2)], 4, 3, 1.0, runs=1000),
    _raters("one row / the same and two rows of the only film", [("b", 0)], 2 * [("a", 0)], 1, 2, 0.75, runs=1800, twice=400),
    _raters("four rows of four people / the same and one person with 27 rows", list(zip("bcde", (0, 1, 2, 0))), [("a", f % 3) for f in range(27)], 3, 2, 1.0,
            truth=False, runs=400),
    _raters("40 rows of 19 people / the same and one person with 20 rows", TOWN, [("a", f % 4) for f in range(20)], 4, 1, 0.5, truth=False, runs=400),
]
LOUD = 1e30                                      # so little noise that the kept rows show, also in counts that are cut to whole numbers


def _kept(counts, rows, films, most, rng, case):
    got = numbers(answered(counts, list(rows), films, most, LOUD, rng), (films,), case)
    if np.any(np.abs(got - np.round(got)) > 0.01):
        raise Wrong(f"{case}, epsilon {LOUD:g}: the counts are not whole; rows are kept or dropped, not weighted")
    return np.round(got)


def _by_lot(counts, most, long, others, rng, runs=200):
    """Of a person with one row for each of `long` films: how many are kept, and are all as likely?"""
    case = f"a person with {long} rows among {others + 1} {'other people' if others else 'other person'}, most = {most}"
    crowd, kept = [(f"other {i}", i % 3) for i in range(others)] + [("short", long - 1)], np.zeros(long)
    rows = [("busy", film) for film in range(long)] + crowd
    for run in range(runs):
        order = rng.permutation(len(rows)) if run % 2 else range(len(rows))
        mine = _kept(counts, [rows[i] for i in order], long, most, rng, case) - np.bincount([f for _, f in crowd], minlength=long)
        if mine.min() < 0:
            raise Wrong(f"{case}: a person with fewer rows is missing; {most} rows should be kept of each, and all of those who have fewer")
        if mine.max() > 1:
            raise Wrong(f"{case}: a row of this person was counted twice; draw without replacement")
        if mine.sum() > most:
            raise Wrong(f"{case}: {mine.sum():.0f} of this person's rows were kept; that is what the noise does not hide")
        if mine.sum() < most:
            raise Wrong(f"{case}: {most} rows should be kept, {mine.sum():.0f} were")
        kept += mine
    expected = runs * most / long                # counts without replacement: the chi-square statistic shrinks by (1 - most/long) long/(long - 1)
    if ((kept - expected) ** 2).sum() / (expected * (1 - most / long)) * (long - 1) / long > 4 * long + 60:
        raise Wrong(f"{case}: not by lot; film {int(kept.argmax())} was kept in {kept.max() / runs:.0%} of {runs} runs, film "
                    f"{int(kept.argmin())} in {kept.min() / runs:.0%}, and each should be in {most / long:.0%}")


@checker
def lap_contribution(counts):
    """`counts(rows, films, most, epsilon, rng)`: noisy counts of each film, `most` rows of each person kept by lot."""
    rng = np.random.default_rng(44)
    ask(counts, [("a", 0)], 2, 1, 1.0, rng)
    for case in ((3, 12, 0), (2, 9, 5), (5, 8, 15)):
        _by_lot(counts, *case, rng)
    got = _kept(counts, [("twice", 0)] * 6 + [("once", 1)], 2, 4, rng, "one person, one film, six rows")
    if not np.array_equal(got, [4, 1]):
        raise Wrong(f"six rows of one person for one film, and most = 4: four of them count, you have {got[0]:g}")
    many = 25_000
    got = _kept(counts, [(i, i % 5) for i in range(many)], 5, 2, rng, f"{many:,} people with one row each")
    if got.sum() != many:
        raise Wrong(f"{many:,} people with one row each: {got.sum():,.0f} rows were kept, and none had to go; a bound on the whole table lets one person "
                    "push out another")
    seen = battery(counts, lambda pair: Numbers(pair.one[1], "film"), RATERS, mistakes=BOUNDS,
                   crowds=[_one_each(3000, 9, 1.0), _one_each(3000, 1, 0.4), _one_each(2000, 3, 1.7), _one_each(800, 20, 1.0, calls=1),
                           _one_each(3000, 1, 0.15, calls=2), _one_each(3000, 2, 1.0, calls=24)],
                   right=_counting(), seed=44)
    fans = [(f"fan {i % 50}", 0) for i in range(1000)]
    if len({float(numbers(answered(counts, list(fans), 1, 20, 0.1, rng), (1,), "the count of 1,000 rows")[0]) for _ in range(4)}) == 1:
        raise Wrong("1,000 rows of 50 people for one film: the count is the same in four calls: there is no noise there")
    return f"at most that many rows of a person, by lot; {seen}"


# --------------------------------------------------------------------------------------------------------------------- whole numbers

@functools.cache
def _whole(rate=lambda d, e: e / d, draw=None):
    """Discrete Laplace noise, right unless told otherwise."""
    def whole(counts, step, epsilon, rng):
        r, counts = rate(step, epsilon), np.asarray(counts)
        p = -math.expm1(-r)
        return counts + (rng.geometric(p, counts.shape) - rng.geometric(p, counts.shape) if draw is None else draw(rng, r, p, counts.shape))

    return whole


WHOLE = {
    "zero comes twice as often as it should, from above and from below (by a random sign, or a fraction cut off); the loss there is ε + ln 2":
        _whole(draw=lambda rng, r, p, shape: (rng.geometric(p, shape) - 1) * rng.choice([-1, 1], shape)),
    "zero never comes: the geometric variable counts from 1": _whole(draw=lambda rng, r, p, shape: rng.geometric(p, shape) * rng.choice([-1, 1], shape)),
    "this is continuous noise, rounded: private, and with more variance":
        _whole(draw=lambda rng, r, p, shape: np.round(rng.laplace(scale=1 / r, size=shape))),
    "the noise is never negative": _whole(draw=lambda rng, r, p, shape: rng.geometric(p, shape) - 1),
    "the sensitivity was left out": _whole(lambda d, e: e),
    "the rate is ε times Δ: too little noise": _whole(lambda d, e: e * d),
    "half the noise that is needed": _whole(lambda d, e: 2 * e / d),
    "twice the noise that is needed": _whole(lambda d, e: e / d / 2),
    "p is ε/Δ and should be 1 - exp(-ε/Δ): too little noise": _whole(lambda d, e: -math.log1p(-min(e / d, 0.999))),
    "p is exp(-ε/Δ) and should be 1 - exp(-ε/Δ)": _whole(lambda d, e: -math.log(-math.expm1(-e / d))),
}


def _counts(value, step, epsilon):
    def cells(got, coins):
        got = numbers(got, (len(coins),), "the counts")
        if np.any(got != np.round(got)):
            raise Wrong("the answers are not whole")
        return got

    return Crowd(f"counts of {value} / counts of {value + step}, sensitivity {step}, ε = {epsilon:g}",
                 lambda coins: (np.where(coins, value + step, value), step, epsilon), cells, 6000, ((epsilon, 0.0),), (value, value + step),
                 words=("counts", "given", "count"), law="exactly")


COUNTS = [_counts(0, 3, 2.1), _counts(100, 1, 1.0), _counts(10**6, 2, 4.0)]
COUNTS += [_counts(*case.values()) for case in drawn(2, 45, value=(-20, 400), step=(1, 5), epsilon=(0.2, 2.0))]
FEW_COUNTS = [Pair(what, (np.array(one), step, epsilon), (np.array(two), step, epsilon), ((epsilon, 0.0),), (np.array(one), np.array(two)), **settings)
              for what, one, two, step, epsilon, settings in (
                  ("counts 3, 0, 1 / counts 3, 1, 1", [3, 0, 1], [3, 1, 1], 1, 0.8, {"runs": 3000, "twice": 600}),
                  ("no patients, in one line / two patients", [0], [2], 2, 0.5, {"runs": 2000}),
                  ("four equal counts / the last one more by 3", [9, 9, 9, 9], [9, 9, 9, 12], 3, 1.0, {"runs": 2000}))]


@checker
def lap_discrete(whole):
    """`whole(counts, sensitivity, epsilon, rng)`: discrete Laplace noise on whole numbers."""
    seen = battery(whole, lambda pair: Numbers(len(pair.one[0]), "count"), FEW_COUNTS, crowds=COUNTS, mistakes=WHOLE, right=_whole(), seed=45)
    _reaches(whole, np.zeros(20_000, dtype=int))
    return f"whole numbers, with the law that was asked for; {seen}"


# ----------------------------------------------------------------------------------------------------------------- a noisy sum and count

@functools.cache
def _parts(step=lambda low, high, x: max(abs(low), abs(high)), share=0.5, own=0.5, clip=lambda x, low, high: sens.clip(x, low=low, high=high),
           number=len, draw="laplace", cut=lambda noise: noise):
    def parts(values, low, high, epsilon, rng):
        x = clip(values, low, high)
        noise = getattr(rng, draw)
        return x.sum() + noise(scale=step(low, high, x) / (share * epsilon)), number(values) + cut(noise(scale=1 / (own * epsilon)))

    return parts


PARTS = {
    "the step is high - low, which is that of replace; under add/remove a whole value comes or goes": _parts(lambda low, high, x: high - low),
    "the step is the largest value of this table; it tells what is in it, and the next row may be larger":
        _parts(lambda low, high, x: np.abs(x).max() if len(x) else max(abs(low), abs(high))),
    "the step is high; a value near low may be further from 0": _parts(lambda low, high, x: abs(high)),
    "the sum gets all of epsilon, and the count is not for nothing": _parts(share=1.0),
    "the sum's noise has the scale (high - low)/ε; a whole value comes or goes, at half of ε": _parts(lambda low, high, x: high - low, share=1.0),
    "the step is |low| + |high|; one value is no further from 0 than the larger of the two": _parts(lambda low, high, x: abs(low) + abs(high)),
    "normal noise satisfies no ε at all, whatever its size": _parts(draw="normal"),
    "normal noise satisfies no ε at all, its tails fall too fast":
        _parts(lambda low, high, x: 2**0.5 * max(abs(low), abs(high)), own=0.5**1.5, draw="normal"),
    "the count gets all of epsilon: the two together then cost more": _parts(own=1.0),
    "the noise of the count is cut to a whole number before it is added: 0 comes too often, which costs ln 2 more": _parts(cut=np.trunc),
    "the sum has about twice the noise that is needed": _parts(share=0.25),
    "the count has about twice the noise that is needed": _parts(own=0.25),
    "the scale is divided by the number of rows: it belongs to a mean, and tells n": _parts(lambda low, high, x: max(abs(low), abs(high)) / max(len(x), 1)),
    "values are clipped at both ends": _parts(clip=lambda v, low, high: np.nan_to_num(np.minimum(v, high), nan=low, neginf=-1e12)),
    "a NaN goes to low; here it adds nothing to the sum": _parts(clip=lambda v, low, high: np.nan_to_num(np.clip(v, low, high), nan=0.0)),
    "every row counts, also those with a NaN": _parts(number=lambda v: np.sum(~np.isnan(v))),
}


def _rows(what, values, more, low, high, epsilon, **settings):
    """`values`, and the same with the rows `more` at the end."""
    tables = [np.array(rows, dtype=float) for rows in (values, [*values, *more])]
    step = max(abs(low), abs(high))
    return Pair(what, *((rows, low, high, epsilon) for rows in tables), ((len(more) * epsilon, 0.0),),
                tuple((sens.clip(t, low=low, high=high).sum(), len(t)) for t in tables),
                within=(NEAR * 2 * step / epsilon, NEAR * 2 / epsilon), share=0.75, **settings)


TABLES = [
    _rows("no values / one at the upper bound", [], [80.0], 20.0, 80.0, 1.0, runs=3000),
    _rows("one value / the same and one at the lower bound", [10.0], [-50.0], -50.0, 20.0, 1.0, runs=3000, law=True),
    _rows("40 values / the same and a NaN", [30.0, 40.0] * 20, [math.nan], 20.0, 80.0, 1.0, runs=600),
    _rows("four values, one of them a NaN / the same and minus a billion", [5.0, math.nan, 40.0, -3.0], [-1e9], -10.0, 10.0, 0.5, runs=1000, twice=300),
    _rows("two infinities / the same and a trillion", [-math.inf, math.inf], [1e12], -50.0, 20.0, 0.7, runs=600),
    _rows("three zeros / the same and three values at the upper bound", [0.0] * 3, [15.0] * 3, 0.0, 15.0, 0.7, runs=7000),
    Pair("30 sevens, ten infinities, 60 NaN", *2 * ((np.repeat([7.0, math.inf, math.nan], [30, 10, 60]), -10.0, 8.0, 2.0),),
         truth=2 * ((-310.0, 100.0),), runs=200, within=(NEAR * 10, NEAR), share=0.6),
    _rows("400 values / the same and two at the upper bound", list(np.linspace(-30, 30, 400)), [25.0, 25.0], -20.0, 25.0, 0.8, runs=3000),
    _rows("five values, ε = 0.2 / the same and two at the upper bound", [1.0, 4.0, 9.0, 16.0, 25.0], [30.0, 30.0], -5.0, 30.0, 0.2, runs=6000),
]


UNITS = "in units of the right noise, "


class _Parts(Numbers):
    """Looked at in units of the right noise too: a sum and a count can share a noise that each scales by its own step."""

    def units(self, pair, *outputs):
        _, low, high, epsilon = pair.one
        unit = 2 / epsilon * np.array([max(abs(low), abs(high)), 1.0])
        return *(x / unit for x in outputs), replace(pair, truth=tuple(np.divide(exact, unit) for exact in pair.truth))

    def statistics(self, x, pair, search):
        yield from super().statistics(x, pair, search)
        for column in super().statistics(*self.units(pair, x), search):
            if "the sizes of their noises" in column.label:
                yield column._replace(label=UNITS + column.label)

    def joint(self, x, y, pair):
        yield from super().joint(x, y, pair)
        for column in super().joint(*self.units(pair, x, y)):
            yield column._replace(label=UNITS + column.label)

    def known(self, x, pair):
        yield from super().known(x, pair)
        for column, *event in super().known(*self.units(pair, x)):
            yield column._replace(label=UNITS + column.label), *event


@checker
def lap_bug(parts):
    """`parts(values, low, high, epsilon, rng)`: noisy clipped sum and noisy count, half of epsilon each, under add/remove."""
    seen = battery(parts, _Parts(2, names=("the sum", "the count")), TABLES, mistakes=PARTS, right=_parts(), seed=46, call=_pair_of_numbers)
    _not_again(parts, [], [30.0] * 400)
    return f"a sum and a count, whatever is in the rows; {seen}"


def _not_again(parts, few, many, seeds=60):
    """With the same random numbers, both tables take the same number of them, or never do."""
    after = [[np.random.default_rng(seed) for seed in range(seeds)] for _ in (few, many)]
    for rows, rngs in zip((few, many), after):
        for rng in rngs:
            ask(parts, np.array(rows), 20.0, 80.0, 1.0, rng)
    differ = sum(one.bit_generator.state != other.bit_generator.state for one, other in zip(*after))
    if 0 < differ < seeds:
        raise Wrong(f"with the same random numbers {differ} of {seeds} calls take more of them with {len(few)} rows than with {len(many)}: noise that is drawn "
                    "again until the answer suits has another law on each table, and its loss is larger than ε; change the answer afterwards instead")


def _pair_of_numbers(parts, arguments, rng):
    got = answered(parts, *arguments, rng)
    try:
        total, count = got
    except (TypeError, ValueError):
        raise Wrong("expected a pair: noisy sum, noisy count") from None
    return np.array([x if isinstance(x, float) and math.isfinite(x) else number(x, what) for x, what in ((total, "the sum"), (count, "the count"))])
