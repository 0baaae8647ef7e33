"""Checkers of chapter 3: sensitivity and the Laplace mechanism."""
import functools
import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from dplib import sensitivity as sens
from provable_privacy.battery import Crowd, Numbers, Pair, battery, drawn, looks_for, luck
from provable_privacy.battery.looks import echo, entangled
from provable_privacy.battery.makers import exponential, geometric, laplace, noisy, normal, whole
from provable_privacy.entries import Number, Together, judge_all, same_names
from provable_privacy.formulas import on_cases, refuses
from provable_privacy.speech import Wrong, answered, ask, checker, number, numbers

__all__ = ["lap_bound", "lap_bug", "lap_contribution", "lap_discrete", "lap_interval", "lap_quiz", "lap_release"]

NO_TABLE = {"size": "exact answers come in, and no table", "empty": "exact answers come in, and no table",
            "order": "as many numbers come out as come in", "straddles": "nothing is compared with a threshold",
            "far": "nothing is compared with a threshold"}
NEAR, MOST = 1.69, 0.79          # Laplace noise is within 1.69 scales in 81.6 % of the runs, a tenth too wide in 78.5 %


# ---------------------------------------------------------------------------------------- noise on a number or an array

def _with(scale, law=laplace):
    """Noise of this scale, or of another law, on what is given."""
    return noisy(lambda value, step, epsilon: value, lambda value, step, epsilon: scale(step, epsilon), law)


def _right(d, e):
    return d / e


RELEASE = _with(_right)
SCALES = {
    "the scale is 1/(Δε); a larger step needs more noise, not less": _with(lambda d, e: 1 / (d * e)),
    "the scale is ε/Δ, upside down: more privacy would mean less noise": _with(lambda d, e: e / d),
    "the scale is 1/ε: the sensitivity was left out": _with(lambda d, e: 1 / e),
    "Δ/ε was taken for the standard deviation, which is √2 times the scale: too little noise":
        _with(lambda d, e: d / e / 2**0.5),
    "half the scale that is needed": _with(lambda d, e: d / e / 2),
    "twice the scale that is needed: private, and noisier than the promise asks": _with(lambda d, e: 2 * d / e),
    "√2 times the scale that is needed: private, and noisier than the promise asks": _with(lambda d, e: d / e * 2**0.5),
    "normal noise has no ε at all: its tails fall too fast": _with(lambda d, e: 2**0.5 * d / e, normal),
    "the noise is never negative: one neighbour makes outputs possible that the other does not":
        _with(_right, exponential),
    "the noise loses its fraction, so 0 comes too often. Did an array of whole answers give the noise its type?":
        _with(_right, whole(cut=np.trunc)),
    "there is no noise, however large ε is; a large ε needs its noise too": _with(lambda d, e: 0 * d / e),
}


def _pair(what, one, two, step, epsilon, **settings):
    """`two` is one step of L1 length `step` from `one`."""
    return Pair(what, (one, step, epsilon), (two, step, epsilon), ((epsilon, 0.0),), (np.ravel(one), np.ravel(two)),
                **settings)


def _values(what, one, two, step, epsilon, **settings):
    return _pair(what, one, two, step, epsilon, within=NEAR * step / epsilon, share=0.76, **settings)


def _cells(what, values, step, epsilon, calls=2):
    """Very many answers at once, each of them one of the `values`, or a step more; seen from this value."""
    values = np.resize(values, 6000)
    return Crowd(f"{what} / the same and {step:g} more, sensitivity {step:g}, ε = {epsilon:g}",
                 lambda coins: (np.where(coins, values + step, values), step, epsilon),
                 lambda got, coins: numbers(got, (len(coins),), "an array of answers") - values, 6000,
                 ((epsilon, 0.0),), (0.0, step), calls, within=NEAR * step / epsilon, share=MOST,
                 words=("answers", "given", "answer"))


SEVEN, NINE, TWELVE = np.full((2, 3), 7.0), np.array([[7.0, 7, 7], [7, 7, 9]]), np.zeros(12)
RELEASES = [
    _values("the number 0 / the number 5", 0.0, 5.0, 5.0, 0.8, runs=4000, twice=600),
    _values("three numbers, the last one 7 / the same, the last one 8", np.array([0.0, 0, 7]), np.array([0.0, 0, 8]),
            1.0, 0.5, runs=2500, twice=500),
    _values("two rows of three sevens / the same with a nine at the end", SEVEN, NINE, 2.0, 1.0, runs=2000),
    _values("five equal numbers / the first and the last of them moved", np.full(5, 40.0),
            np.array([41.5, 40, 40, 40, 38.5]), 3.0, 0.8, runs=2000),
    _values("twelve zeros / eleven and a 4", TWELVE, np.append(TWELVE[1:], 4.0), 4.0, 2.8, runs=1000),
    _values("the number -20, ε = 20 / the number -8", -20.0, -8.0, 12.0, 20.0, runs=1500, law=True),
    _values("four negative numbers / the last one moved", np.full(4, -2.5), np.array([-2.5, -2.5, -2.5, -2]), 0.5, 1.2,
            runs=1000),
]
ANSWERS = [                                      # many zeros show noise that is drawn again below 0
    _cells("zeros", 0, 3, 1.0, calls=12),
    _cells("negative answers", -np.geomspace(0.03, 1e12, 60), 2.8, 2.0),
    _cells("positive answers", np.geomspace(0.03, 1e12, 60), 40.0, 4.0, calls=4),
    _cells("answers of 1.4", 1.4, 1.4, 1.0),
    _cells("answers of 1e6", 1e6, 0.25, 2.0, calls=6), _cells("tens, a small ε", 10.0, 0.05, 0.1, calls=12),
    *(_cells(f"answers of {case['value']:g}", *case.values())
      for case in drawn(2, 41, value=(-900.0, 900.0), step=(0.2, 9.0), epsilon=(0.2, 2.0)))]


def _flat(release, arguments, rng):
    got = answered(release, *arguments, rng)
    if isinstance(arguments[0], np.ndarray) and arguments[0].ndim > 1:
        return numbers(got, arguments[0].shape, "an array of two rows and three columns").ravel()
    return got


def _leaves_numpy_alone(release):
    def state():
        _, key, place, *_ = np.random.get_state()  # noqa: NPY002
        return key.tobytes(), place

    before = state()
    ask(release, np.arange(3.0), 1.0, 1.0, np.random.default_rng(41))
    if state() != before:
        raise Wrong("the noise comes from numpy's global generator, which any other part of the program can reset; "
                    "draw it from rng")


def _reaches(mechanism, zeros, scale=150.0):
    """Some of 20,000 noises are beyond seven scales: each is with probability e^-7, none with probability e^-18."""
    noise = numbers(answered(mechanism, zeros, 2, 2 / scale, luck(48)), zeros.shape, "an array of answers")
    if np.abs(noise).max() < 7 * scale:
        raise Wrong(f"the largest of {zeros.size:,} noises is {np.abs(noise).max() / scale:.1f} scales, so the "
                    "noise is cut off. Then some outputs are possible on one table and impossible on its neighbour")
    if places := echo(noise):
        raise Wrong(f"in an array of {zeros.size:,} answers, a noise and the noise {places:,} places later have the "
                    "same sign or the same size too often; every number needs a noise of its own")
    _each_its_own(lambda rng: answered(mechanism, zeros[:400].copy(), 2, 2 / scale, rng), 400)


def _each_its_own(call, size, calls=100):
    """`Wrong` where two of very many noises of a call go together."""
    rng = luck(49)
    together = entangled(np.array([numbers(call(rng), (size,), "an array of answers") for _ in range(calls)]))
    if together:
        i, j = together
        raise Wrong(f"in an array of {size} answers, noise {i + 1} and noise {j + 1} have the same sign or the same "
                    f"size in nearly all of {calls} calls; every number needs a noise of its own")


@checker
@looks_for("quotient", "rare", **NO_TABLE, contents="one array comes in", missing="a NaN cannot be hidden by noise",
           own="the sensitivity comes in")
def lap_release(release):
    """`release(value, sensitivity, epsilon, rng)`: the Laplace mechanism; refuses a bad sensitivity or epsilon."""
    bad = (0, -1.0, math.nan, math.inf)
    refuses(release, {"value": 10.0, "sensitivity": 1.0, "epsilon": 1.0, "rng": np.random.default_rng(41)},
            {"sensitivity": bad, "epsilon": bad})
    _leaves_numpy_alone(release)
    seen = battery(release, lambda pair: Numbers(np.size(pair.one[0]) if np.ndim(pair.one[0]) else 0, "number"),
                   RELEASES, crowds=ANSWERS, call=_flat, mistakes=SCALES, right=RELEASE, seed=41)
    _reaches(release, np.zeros(20_000))
    return f"fresh noise for every number, and it refuses what is not positive and finite; {seen}"


INTERVALS = [(12.5, 1.0, 0.1, 0.05), (12.5, 40.0, 0.5, 0.01)] + [
    (np.linspace(-50, 500, k), *case) for k, case in ((5, (1.0, 1.0, 0.05)), (104, (2.0, 0.25, 0.1)))]


def _interval(half):
    """The interval of half width `half(k, b, beta)` around each noisy answer."""
    def interval(noisy, step, epsilon, beta):
        width = half(np.size(noisy), step / epsilon, beta)
        return np.array([noisy - width, noisy + width])

    return interval


INTERVAL = _interval(lambda k, b, beta: -b * math.log(-math.expm1(math.log1p(-beta) / k)))
SHORT = {
    "that is ln(k/β), the sum of the tails: safe, and a little wider than necessary":
        _interval(lambda k, b, beta: b * math.log(k / beta)),
    "each interval alone has probability 1 - β; all of them together have much less":
        _interval(lambda k, b, beta: b * math.log(1 / beta)),
    "this leaves β on either side, 2β in all: both sides count": _interval(lambda k, b, beta: b * math.log(0.5 / beta)),
    "this is the normal law's interval; Laplace tails are longer":
        _interval(lambda k, b, beta: -ndtri(beta / 2) * math.sqrt(2) * b),
    "the scale is Δ/ε": lambda noisy, step, epsilon, beta: INTERVAL(noisy, 1.0, epsilon, beta),
}


def _covers(got, right, noisy, step, epsilon, beta):
    """What is wrong with an interval, in words."""
    half, k = (got[1] - got[0]) / 2, np.size(noisy)
    if not np.allclose(got.mean(axis=0), noisy):
        return "the interval does not have the noisy answer in its middle"
    if np.any(half <= 0):
        return "low must be below high"
    if np.ptp(half) > 1e-6 * step / epsilon:
        return f"the {k} noises have one law; the same width for all is shortest"
    half = float(half.flat[0])
    covered = (-math.expm1(-half * epsilon / step)) ** k
    verdict = "too short" if half < (right[1] - right[0]).flat[0] / 2 else "safe, but wider than necessary"
    return f"± {half:.4g} covers {f'all {k} ' if k > 1 else ''}with probability {covered:.4f}: {verdict}"


@checker
def lap_interval(interval):
    """`interval(noisy, sensitivity, epsilon, beta)`: the smallest (low, high) that covers all exact answers at once."""
    on_cases(interval, INTERVALS, INTERVAL, SHORT, atol=1e-9, what="(low, high)",
             shape=lambda noisy, *_: (2, *np.shape(noisy)), otherwise=_covers,
             show=lambda noisy, step, epsilon, beta:
             f"k = {np.size(noisy)}, sensitivity {step:g}, epsilon {epsilon:g}, beta {beta:g}")
    return "covers all k answers with probability 1 - β exactly, for k = 1, 5 and 104"


# -------------------------------------------------------------------------------------------------------- sensitivities

RANGES = ((-1.0, 3.0), (-3.0, 2.5), (-6.0, 0.5))


def _questions(low, high):
    def third(x):
        return min(2, int(3 * (x - low) / (high - low)))

    return {
        "positive": lambda t: sum(x > 0 for x in t),
        "sum": sum,
        "sum of squares": lambda t: sum(x * x for x in t),
        "sum and positive together": lambda t: [sum(t), sum(x > 0 for x in t)],
        "thirds": lambda t: [sum(third(x) == i for x in t) for i in range(3)],
        "range": lambda t: max(t, default=0) - min(t, default=0),
    }


@functools.cache
def _sensitivities(low, high):
    """Question -> its largest change over all neighbours of up to four people, under each adjacency."""
    universe = [low, low / 2, 0.0, high / 2, high]
    tables = [t for size in range(5) for t in itertools.combinations_with_replacement(universe, size)]
    inside = f"{{said}}, for values in [{low:g}, {high:g}]"

    def entry(name, right, other):
        mistakes = {f"{inside}, is the answer for the other adjacency": other}
        if name == "sum of squares":
            mistakes[f"{inside}: with 0 between the bounds the smallest square is 0"] = abs(high**2 - low**2)
        return Number(
            right, mistakes=mistakes, tolerance=1e-9, relative=1e-9,
            below=f"{inside}: there are neighbours {right:g} apart, and noise for {{said}} would not hide them",
            above=f"{inside}: no two neighbours are more than {right:g} apart, so this is safe and too noisy")

    def both(name, query):
        one, two = (max(sens.empirical(query, t, universe=universe, adjacency=adjacency) for t in tables)
                    for adjacency in sens.ADJACENCIES)
        return Together({adjacency: entry(name, *case)
                         for adjacency, case in zip(sens.ADJACENCIES, ((one, two), (two, one)), strict=True)})

    return {name: both(name, query) for name, query in _questions(low, high).items()}


@checker
def lap_quiz(quiz):
    """`quiz(low, high)`: question -> (sensitivity under add/remove, under replace)."""
    for low, high in RANGES:
        asked = _sensitivities(low, high)
        answers = same_names(answered(quiz, low, high), asked)
        judge_all({name: (entry, answers[name]) for name, entry in asked.items()})
    return f"six questions, two adjacencies, {len(RANGES)} ranges: no table of up to four people contradicts you"


GRID = [10, 20, 40, 60, 90, 140, 200, 300, 500, 900, 2000, 5000]
_draw = np.random.default_rng(43)
VALUES = [(_draw.lognormal(4, sigma, size).round(1), epsilon)
          for size in (3, 40, 800) for epsilon in (0.05, 0.4, 2.0) for sigma in (0.3, 1.3)]
VALUES += [(np.full(50, 60.0), 1.0), (np.zeros(9), 0.5), (np.r_[np.zeros(99), 5000.0], 5.0)]
SUMS = [(*case, grid) for case in VALUES for grid in (GRID, GRID[::-1])]


def _bias(values, bound):
    return float(np.maximum(values - bound, 0).sum())


def _smallest(cost):
    """The bound of least `cost(bias, scale of the noise, epsilon, number of values)`."""
    return lambda values, epsilon, candidates: min(
        candidates, key=lambda c: cost(_bias(values, c), c / epsilon, epsilon, len(values)))


def _square(bias, b, *_):
    return bias**2 + 2 * b**2


WEIGHED = {
    "you weigh the sum of bias and standard deviation; squares add":
        _smallest(lambda bias, b, e, n: bias + math.sqrt(2) * b),
    "you weigh the bias of the mean against the noise of the sum":
        _smallest(lambda bias, b, e, n: _square(bias / n, b)),
    "the expected absolute error is another measure than the root mean square":
        _smallest(lambda bias, b, e, n: bias + b * math.exp(-bias / b)),
    "the variance of Lap(b) is 2b², not b²": _smallest(lambda bias, b, e, n: bias**2 + b**2),
    "epsilon was left out": _smallest(lambda bias, b, e, n: _square(bias, b * e)),
    "only the bias was looked at, whatever the noise costs": _smallest(lambda bias, b, e, n: bias),
    "only the noise was looked at": _smallest(lambda bias, b, e, n: b),
}


def _errors(got, best, values, epsilon, candidates):
    if got not in candidates:
        return "it is not one of the candidates"
    return ", ".join(f"at {c:g} bias {_bias(values, c):.0f} and noise {math.sqrt(2) * c / epsilon:.0f}"
                     for c in (got, best))


@checker
def lap_bound(best_bound):
    """`best_bound(values, epsilon, candidates)`: the candidate of least root mean square error of the noisy sum."""
    def as_good(got, best, values, epsilon, candidates):
        mine, least = (_square(_bias(values, c), c / epsilon) for c in (got, best))
        return got in candidates and mine <= least * (1 + 1e-9)

    on_cases(best_bound, SUMS, _smallest(_square), WEIGHED, what="the bound", accepts=as_good, otherwise=_errors,
             show=lambda values, epsilon, candidates:
             f"{len(values)} values with mean {values.mean():.0f}, epsilon {epsilon:g}")
    return "the smallest error, on 21 tables from three values to 800"


# ----------------------------------------------------------------------------------------------- persons with many rows

def _counting(scale=lambda most, longest: most):
    """A private histogram of the kept rows, right unless told otherwise."""
    def counts(rows, films, most, epsilon, rng):
        kept, had = np.zeros(films), Counter()
        for i in rng.permutation(len(rows)):
            person, film = rows[i]
            had[person] += 1
            kept[film] += had[person] <= most
        return kept + rng.laplace(scale=scale(most, max(had.values(), default=1)) / epsilon, size=films)

    return counts


COUNTED = _counting()
BOUNDS = {
    "the noise has scale 1/ε and protects a row, not a person with several rows": _counting(lambda most, longest: 1),
    "twice the scale that is needed": _counting(lambda most, longest: 2 * most),
    "the scale is √most/ε; the loss of Laplace noise depends on the L1 length":
        _counting(lambda most, longest: most**0.5),
    "half the scale that is needed": _counting(lambda most, longest: most / 2),
    "the scale is 1/(most · ε), upside down": _counting(lambda most, longest: 1 / most),
    "the scale depends on how many rows a person has before the cut, so it reveals that number":
        _counting(lambda most, longest: max(most, longest)),
    "there is no noise, however large ε is; a large ε needs its noise too": _counting(lambda most, longest: 0),
}


def _one_each(films, most, epsilon, calls=3):
    """For each film a person with `most` rows of it, there or not."""
    def build(coins):
        return [(f"person {i}", i) for i in np.flatnonzero(coins).tolist() for _ in range(most)], films, most, epsilon

    return Crowd(f"films that nobody saw / films with {most} rows of one person, ε = {epsilon:g}", build,
                 lambda got, coins: numbers(got, (films,), "the counts"), films, ((epsilon, 0.0),), (0.0, most),
                 calls=calls, within=NEAR * most / epsilon + 0.5, share=MOST, words=("films", "published", "count"))


def _raters(what, common, more, films, most, epsilon, truth=True, **settings):
    """`common` rows, and the same with the rows `more` of one person in front; `truth` where nobody has too many."""
    tables = [(rows, films, most, epsilon) for rows in (common, more + common)]
    exact = [np.bincount([film for _, film in rows], minlength=films) if truth else None for rows, *_ in tables]
    return Pair(what, *tables, ((epsilon, 0.0),), tuple(exact), within=max(NEAR * most / epsilon, 1.0), share=0.76,
                **settings)


FOUR, TOWN = list(zip("bcde", (0, 1, 2, 0))), [(f"neighbour {i % 19}", i % 4) for i in range(40)]
RATERS = [
    _raters("no rows / one person with a row of each of three films", [], [("a", 0), ("a", 1), ("a", 2)], 4, 3, 1.0,
            runs=2200),
    _raters("one row / the same and two rows of the only film", [("b", 0)], 2 * [("a", 0)], 1, 2, 0.75,
            runs=1800, twice=400),
    _raters("four rows of four people / the same and one person with 27 rows", FOUR, [("a", f % 3) for f in range(27)],
            3, 2, 1.0, truth=False, runs=400),
    _raters("40 rows of 19 people / the same and one person with 20 rows", TOWN, [("a", f % 4) for f in range(20)],
            4, 1, 0.5, truth=False, runs=400),
    _raters("three rows, twelve films / the same and four rows of one person for the last film", FOUR[:3],
            4 * [("a", 11)], 12, 4, 2.8, runs=1000),
    _raters("one row, ε = 15 / the same and six rows of one person for the other film", [("b", 0)], 6 * [("a", 1)], 2,
            6, 15.0, runs=1500, law=True),
]
MANY_FILMS = [_one_each(3000, 9, 1.0), _one_each(3000, 1, 0.4), _one_each(2000, 3, 2.1), _one_each(3000, 7, 4.0),
              _one_each(600, 50, 1.0, calls=2), _one_each(3000, 1, 0.1, calls=14), _one_each(3000, 2, 1.0, calls=24)]
LOUD = 1e30                                      # so little noise that the kept rows show, also in whole counts


def _kept(counts, rows, films, most, rng, case):
    got = numbers(answered(counts, list(rows), films, most, LOUD, rng), (films,), case)
    if np.any(np.abs(got - np.round(got)) > 0.01):
        raise Wrong(f"{case}, epsilon {LOUD:g}: the counts are not whole; rows are kept or dropped, not weighted")
    return np.round(got)


def _at_random(counts, most, long, others, rng, runs=200):
    """Of a person with one row for each of `long` films: how many are kept, and are all as likely?"""
    people = "other people" if others else "other person"
    case = f"a person with {long} rows among {others + 1} {people}, most = {most}"
    crowd, kept = [(f"other {i}", i % 3) for i in range(others)] + [("short", long - 1)], np.zeros(long)
    rows, theirs = [("busy", film) for film in range(long)] + crowd, np.bincount([f for _, f in crowd], minlength=long)
    for run in range(runs):
        order = rng.permutation(len(rows)) if run % 2 else range(len(rows))
        mine = _kept(counts, [rows[i] for i in order], long, most, rng, case) - theirs
        for bad, words in (
                (mine.min() < 0, f"a person with fewer rows is missing; keep {most} rows of each person, and all "
                                 "rows of a person who has fewer"),
                (mine.max() > 1, "a row of this person was counted twice; draw without replacement"),
                (mine.sum() > most, f"{mine.sum():.0f} of this person's rows were kept; the noise hides only {most}"),
                (mine.sum() < most, f"{most} rows should be kept, {mine.sum():.0f} were")):
            if bad:
                raise Wrong(f"{case}: {words}")
        kept += mine
    expected = runs * most / long
    drawn_without = (1 - most / long) * long / (long - 1)                # shrinks the chi-square statistic
    if ((kept - expected) ** 2).sum() / expected / drawn_without > 4 * long + 60:
        raise Wrong(f"{case}: the rows are not kept at random; film {int(kept.argmax())} was kept in "
                    f"{kept.max() / runs:.0%} of {runs} runs, film {int(kept.argmin())} in {kept.min() / runs:.0%}, "
                    f"and each should be in {most / long:.0%}")


def _keeps(counts, rng):
    """Looks at the kept rows, with hardly any noise."""
    for case in ((3, 12, 0), (2, 9, 5), (5, 8, 15)):
        _at_random(counts, *case, rng)
    got = _kept(counts, [("twice", 0)] * 6 + [("once", 1)], 2, 4, rng, "one person, one film, six rows")
    if not np.array_equal(got, [4, 1]):
        raise Wrong(f"six rows of one person for one film, and most = 4: four of them count, you have {got[0]:g}")
    many = 25_000
    people = f"{many:,} people with one row each"
    got = _kept(counts, [(i, i % 5) for i in range(many)], 5, 2, rng, people)
    if got.sum() != many:
        raise Wrong(f"{people}: {got.sum():,.0f} rows were kept, and all should be; a bound on the whole table lets "
                    "one person push out another")


@checker
@looks_for("contents", "quotient", "own", order="a count for each film comes out", missing="names come in",
           fractions="names come in", negative="names come in", straddles="rows beyond `most` are dropped at random",
           far="nothing is compared with a threshold")
def lap_contribution(counts):
    """`counts(rows, films, most, epsilon, rng)`: noisy counts of each film, `most` random rows of each person kept."""
    rng = np.random.default_rng(44)
    ask(counts, [("a", 0)], 2, 1, 1.0, rng)
    _keeps(counts, rng)
    seen = battery(counts, lambda pair: Numbers(pair.one[1], "film"), RATERS, mistakes=BOUNDS, crowds=MANY_FILMS,
                   right=COUNTED, seed=44)
    fans = [(f"fan {i % 50}", 0) for i in range(1000)]
    calls = [numbers(answered(counts, list(fans), 1, 20, 0.1, rng), (1,), "the count of 1,000 rows") for _ in range(4)]
    if len({float(one[0]) for one in calls}) == 1:
        raise Wrong("1,000 rows of 50 people for one film: four calls give the same count, so there is no noise there")
    _each_its_own(lambda rng: answered(counts, [], 80, 5, 0.2, rng), 80)
    return f"at most that many rows of a person, at random; {seen}"


# -------------------------------------------------------------------------------------------------------- whole numbers

def _failures(rng, scale, shape):
    return rng.geometric(-math.expm1(-1 / scale), shape) - 1


def _signed(least):
    """A size from `least` on, with a random sign."""
    return lambda rng, scale, shape: (_failures(rng, scale, shape) + least) * rng.choice([-1, 1], shape)


def _success(p):
    """The scale of whole noise whose geometric variables have success probability p(Δ, ε)."""
    return lambda d, e: -1 / math.log1p(-p(d, e))


WHOLE = _with(_right, geometric)
FRACTIONS = {
    "zero comes twice as often as it should, because two intervals are mapped to it: by a random sign, or by "
    "cutting off the fraction. The loss there is ε + ln 2": _with(_right, _signed(0)),
    "zero never comes: the geometric variable counts from 1": _with(_right, _signed(1)),
    "this is continuous noise, rounded: private, and with more variance": _with(_right, whole()),
    "the noise is never negative": _with(_right, _failures),
    "the sensitivity was left out": _with(lambda d, e: 1 / e, geometric),
    "the rate is ε times Δ: too little noise": _with(lambda d, e: 1 / (e * d), geometric),
    "half the noise that is needed": _with(lambda d, e: d / e / 2, geometric),
    "twice the noise that is needed": _with(lambda d, e: 2 * d / e, geometric),
    "p is ε/Δ and should be 1 - exp(-ε/Δ): too little noise":
        _with(_success(lambda d, e: min(e / d, 0.999)), geometric),
    "p is exp(-ε/Δ) and should be 1 - exp(-ε/Δ)": _with(_success(lambda d, e: math.exp(-e / d)), geometric),
    "there is no noise, however large ε is; a large ε needs its noise too": _with(lambda d, e: 0 * d / e),
}


def _counts(what, values, step, epsilon):
    """Very many counts at once, each of them one of the `values`, or a step more; seen from this value."""
    values = np.resize(values, 6000)

    def cells(got, coins):
        got = numbers(got, (len(coins),), "the counts")
        if np.any(got != np.round(got)):
            raise Wrong("the answers are not whole")
        return got - values

    return Crowd(f"{what} / the same and {step} more, sensitivity {step}, ε = {epsilon:g}",
                 lambda coins: (np.where(coins, values + step, values), step, epsilon), cells, 6000, ((epsilon, 0.0),),
                 (0, step), words=("counts", "given", "count"), law="exactly")


LARGE = np.array([1, 30, 10**4, 10**7, 10**9])
COUNTS = [_counts("zeros", 0, 3, 2.1), _counts("counts of 100", 100, 1, 1.0), _counts("large counts", LARGE, 2, 4.0),
          _counts("negative counts", -LARGE, 40, 4.0), _counts("counts of 7, a small ε", 7, 1, 0.1)]
COUNTS += [_counts(f"counts of {case['value']}", *case.values())
           for case in drawn(2, 45, value=(-20, 400), step=(1, 5), epsilon=(0.2, 2.0))]
FEW_COUNTS = [
    _pair("counts 3, 0, 1 / counts 3, 1, 1", np.array([3, 0, 1]), np.array([3, 1, 1]), 1, 0.5, runs=4000, twice=600),
    _pair("no patients, in one line / two patients", np.array([0]), np.array([2]), 2, 0.5, runs=2000),
    _pair("four equal counts / the last one more by 3", np.full(4, 9), np.array([9, 9, 9, 12]), 3, 1.0, runs=2000),
    _pair("twelve zeros / eleven and a 4", np.zeros(12, int), np.append(np.zeros(11, int), 4), 4, 2.8, runs=1000),
    _pair("two negative counts, ε = 9 / the last one less by 6", np.array([-3, -5]), np.array([-3, -11]), 6, 9.0,
          runs=2000, law="exactly"),
]


@checker
@looks_for("quotient", "rare", **NO_TABLE, contents="one array comes in", missing="counts are whole numbers",
           fractions="counts are whole numbers", own="the sensitivity comes in",
           zero="the law is prescribed, and another one is refused")
def lap_discrete(whole):
    """`whole(counts, sensitivity, epsilon, rng)`: discrete Laplace noise on whole numbers."""
    seen = battery(whole, lambda pair: Numbers(len(pair.one[0]), "count"), FEW_COUNTS, crowds=COUNTS,
                   mistakes=FRACTIONS, right=WHOLE, seed=45)
    _reaches(whole, np.zeros(20_000, dtype=int))
    return f"whole numbers, with the law that was asked for; {seen}"


# ------------------------------------------------------------------------------------------------ a noisy sum and count

def _clip(values, low, high):
    return sens.clip(values, low=low, high=high)


def _far(low, high, x):
    return max(abs(low), abs(high))


def _parts(step=_far, share=0.5, own=0.5, clip=_clip, rows=len, law=laplace):
    """Sum and count with these shares of epsilon, right unless told otherwise."""
    def scale(values, low, high, epsilon):
        return np.array([step(low, high, clip(values, low, high)) / share, 1 / own]) / epsilon

    return noisy(lambda values, low, high, epsilon: (clip(values, low, high).sum(), rows(values)), scale, law)


def _cut_count(rng, scale, shape):
    noise = laplace(rng, scale, shape)
    return np.where([False, True], np.trunc(noise), noise)


def _whole_count(rng, scale, shape):
    return np.where([False, True], geometric(rng, scale, shape), laplace(rng, scale, shape))


PARTS = _parts()
BUGS = {
    "the step is high - low, which is that of replace; under add/remove a whole value comes or goes":
        _parts(lambda low, high, x: high - low),
    "the step is the largest value of this table; it tells what is in it, and the next row may be larger":
        _parts(lambda low, high, x: np.abs(x).max() if len(x) else _far(low, high, x)),
    "the step is high; a value near low may be further from 0": _parts(lambda low, high, x: abs(high)),
    "the sum gets all of epsilon, and nothing is left for the count": _parts(share=1.0),
    "the sum's noise has the scale (high - low)/ε; a whole value comes or goes, at half of ε":
        _parts(lambda low, high, x: high - low, share=1.0),
    "the step is |low| + |high|; one value is no further from 0 than the larger of the two":
        _parts(lambda low, high, x: abs(low) + abs(high)),
    "normal noise satisfies no ε at all, whatever its size": _parts(law=normal),
    "normal noise satisfies no ε at all, its tails fall too fast":
        _parts(lambda low, high, x: 2**0.5 * _far(low, high, x), own=0.5**1.5, law=normal),
    "the count gets all of epsilon: the two together then cost more": _parts(own=1.0),
    "the noise of the count is cut to a whole number before it is added. Then 0 comes too often, and the loss is "
    "larger by ln 2":
        _parts(law=_cut_count),
    "": _parts(law=_whole_count),                # no mistake: where it fits best, no other is named
    "the sum has about twice the noise that is needed": _parts(share=0.25),
    "the count has about twice the noise that is needed": _parts(own=0.25),
    "the scale is divided by the number of rows: it belongs to a mean, and tells n":
        _parts(lambda low, high, x: _far(low, high, x) / max(len(x), 1)),
    "values are clipped at both ends":
        _parts(clip=lambda v, low, high: np.nan_to_num(np.minimum(v, high), nan=low, neginf=-1e12)),
    "a NaN goes to low; here it adds nothing to the sum":
        _parts(clip=lambda v, low, high: np.nan_to_num(np.clip(v, low, high), nan=0.0)),
    "every row counts, also those with a NaN": _parts(rows=lambda v: np.sum(~np.isnan(v))),
    "half the noise that is needed": _parts(share=1.0, own=1.0),
    "the scales are rounded to whole numbers, which may be too small":
        _parts(law=lambda rng, b, shape: laplace(rng, np.where(b > 1, np.floor(b), b), shape)),
    "there is no noise, however large ε is; a large ε needs its noise too": _parts(law=lambda rng, b, shape: 0.0),
}


def _rows(what, values, more, low, high, epsilon, **settings):
    """`values`, and the same with the rows `more` at the end."""
    tables = [np.array(rows, dtype=float) for rows in (values, [*values, *more])]
    within = np.maximum(NEAR * 2 / epsilon * np.array([_far(low, high, None), 1.0]), 1.0)    # whole numbers are right
    return Pair(what, *((rows, low, high, epsilon) for rows in tables), ((len(more) * epsilon, 0.0),),
                tuple((_clip(rows, low, high).sum(), len(rows)) for rows in tables), within=within, share=0.75,
                **settings)


INFINITE = np.repeat([7.0, math.inf, math.nan], [30, 10, 60])
MOSTLY_SMALL = [*np.linspace(-1, 2, 590), *np.full(10, 30.0)]      # its own quantiles are far below the bounds
TABLES = [
    _rows("no values / one at the upper bound", [], [80.0], 20.0, 80.0, 1.0, runs=3000),
    _rows("one value / the same and one at the lower bound", [10.0], [-50.0], -50.0, 20.0, 1.0, runs=3000, law=True),
    _rows("40 values / the same and a NaN", [30.0, 40.0] * 20, [math.nan], 20.0, 80.0, 1.0, runs=600),
    _rows("four values, one of them a NaN / the same and minus a billion", [5.0, math.nan, 40.0, -3.0], [-1e9],
          -10.0, 10.0, 0.5, runs=1000, twice=300),
    _rows("two infinities / the same and a trillion", [-math.inf, math.inf], [1e12], -50.0, 20.0, 0.7, runs=600),
    _rows("twelve zeros / the same and three values at the upper bound", [0.0] * 12, [15.0] * 3, 0.0, 15.0, 0.7,
          runs=9000),
    Pair("30 sevens, ten infinities, 60 NaN", *2 * ((INFINITE, -10.0, 8.0, 2.0),), truth=2 * ((-310.0, 100.0),),
         runs=200, within=(NEAR * 10, NEAR), share=0.6),
    _rows("600 values, nearly all small / the same and two at the upper bound", MOSTLY_SMALL, [25.0, 25.0],
          -20.0, 25.0, 0.8, runs=3000, looks=("own",)),
    _rows("20 small values, ε = 0.1 / the same and ten at the upper bound", np.linspace(0, 3, 20), [30.0] * 10,
          -5.0, 30.0, 0.1, runs=3000, looks=("own",)),
    _rows("three NaN / the same and one at the upper bound", [math.nan] * 3, [0.5], -0.3, 0.5, 0.7, runs=1200),
    _rows("four values / the same and one at the upper bound, scales of 1.48", [0.1, 0.5, 0.8, 0.9], [1.0], 0.4, 1.0,
          1.35, runs=4000, law=True, looks=("quotient",)),
    _rows("two values, ε = 10 / the same and one at the lower bound", [-4.0, 3.0], [-7.0], -7.0, 3.0, 10.0, runs=2000,
          law=True),
]


UNITS = "in units of the right noise, "


class _Parts(Numbers):
    """Looked at in units of the right noise too: a sum and a count may share one noise, each at its own scale."""

    def units(self, pair, *outputs):
        _, low, high, epsilon = pair.one
        unit = 2 / epsilon * np.array([_far(low, high, None), 1.0])
        return *(x / unit for x in outputs), replace(pair, truth=tuple(np.divide(exact, unit) for exact in pair.truth))

    def statistics(self, x, pair, search):
        yield from super().statistics(x, pair, search)
        for column in super().statistics(*self.units(pair, x), search):
            if "the sizes of the" in column.label:
                yield column._replace(label=UNITS + column.label)

    def joint(self, x, y, pair):
        yield from super().joint(x, y, pair)
        for column in super().joint(*self.units(pair, x, y)):
            yield column._replace(label=UNITS + column.label)

    def known(self, x, pair):
        yield from super().known(x, pair)
        for column, *event in super().known(*self.units(pair, x)):
            yield column._replace(label=UNITS + column.label), *event


def _both(parts, arguments, rng):
    got = answered(parts, *arguments, rng)
    try:
        total, count = got
    except (TypeError, ValueError):
        raise Wrong("expected a pair: noisy sum, noisy count") from None
    return np.array([number(total, "the sum"), number(count, "the count")])


def _not_again(parts, few, many, seeds=60):
    """With the same random numbers, both tables take the same number of them, or never do."""
    def after(rows, seed):
        rng = np.random.default_rng(seed)
        ask(parts, np.array(rows), 20.0, 80.0, 1.0, rng)
        return rng.bit_generator.state

    differ = sum(after(few, seed) != after(many, seed) for seed in range(seeds))
    if 0 < differ < seeds:
        raise Wrong(f"with the same random numbers {differ} of {seeds} calls take more of them with {len(few)} rows "
                    f"than with {len(many)}. So noise is drawn again until the answer is acceptable. Its "
                    "distribution then depends on the table, and the loss is larger than ε. Change the answer "
                    "afterwards instead")


@checker
@looks_for("zero", order="a pair comes out", contents="each row is one number, cut to the bounds",
           straddles="only the bounds decide, and values lie on both sides of them",
           far="only the bounds decide, and values lie far beyond them", rare="the mechanism has no rare events")
def lap_bug(parts):
    """`parts(values, low, high, epsilon, rng)`: noisy clipped sum and count, half of epsilon each, under add/remove."""
    seen = battery(parts, _Parts(2, names=("the sum", "the count")), TABLES, mistakes=BUGS, right=PARTS, seed=46,
                   call=_both)
    _not_again(parts, [], [30.0] * 400)
    return f"a sum and a count, whatever is in the rows; {seen}"
