"""Checkers of chapter 3: sensitivity and the Laplace mechanism."""
import itertools
import math

import numpy as np

from dplib import sensitivity as sens
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["lap_bound", "lap_bug", "lap_contribution", "lap_discrete", "lap_interval", "lap_quiz", "lap_release"]

TAIL = np.array([0.0005, 0.003, 0.015, 0.05, 0.13, 0.25, 0.38])
LEVELS = np.concatenate([[0], TAIL, [0.5], 1 - TAIL[::-1], [1]])


def _quantile(p):
    with np.errstate(divide="ignore"):
        return np.where(p < 0.5, np.log(2 * p), -np.log(2 * (1 - p)))


EDGES = _quantile(LEVELS)                        # cells of the standard Laplace law, from the middle far into both tails
QUARTERS = np.array([-math.log(2), 0, math.log(2)])


def _cdf(x):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))


def _array(result, shape, what):
    """The answer as an array of floats of this shape; `Wrong` for anything else."""
    if result is None:
        raise NotAttempted
    try:
        got = np.asarray(result, dtype=float)
    except (TypeError, ValueError):
        raise Wrong(f"{what}: expected {'an array of shape ' + str(shape) if shape else 'a number'}, got {type(result).__name__}") from None
    if got.shape != shape and not (shape == () and got.size == 1):
        raise Wrong(f"{what}: expected {'an array of shape ' + str(shape) if shape else 'a number'}, got one of shape {got.shape}")
    if not np.isfinite(got).all():
        raise Wrong(f"{what}: the output is not finite")
    return got.reshape(shape)


def _number(value, what):
    return float(_array(value, (), what))


def _judge(noise, scale, case, rivals=()):
    """Raise `Wrong` unless `noise` may be a sample of Lap(scale); `rivals` are pairs (message, the scale under that mistake)."""
    if np.ptp(noise) <= 1e-9 * scale:
        none = abs(noise[0]) <= 1e-9 * scale
        raise Wrong(f"{case}: " + ("there is no noise" if none else "the same noise every time; two answers then betray their difference"))
    counts = np.bincount(np.searchsorted(EDGES[1:-1] * scale, noise), minlength=len(EDGES) - 1)
    laws = {f"{case}: {message}": np.diff(_cdf(EDGES * (scale / other))) for message, other in rivals}
    one_sided = np.diff(-np.expm1(-np.maximum(EDGES, 0)))
    laws |= {f"{case}: the noise is never {sign}: one neighbour makes outputs possible that the other does not": law
             for sign, law in (("negative", one_sided), ("positive", one_sided[::-1]))}
    compare(counts, np.diff(LEVELS), laws, lambda i: f"{case}: noise between {EDGES[i] * scale:.3g} and {EDGES[i + 1] * scale:.3g}")


def _judge_pairs(one, two, scales, case):
    """Raise `Wrong` unless the two noises look independent."""
    cells = 4 * np.searchsorted(QUARTERS * scales[0], one) + np.searchsorted(QUARTERS * scales[1], two)
    if len(np.unique(np.round(np.abs(np.append(one / scales[0], two / scales[1])), 9))) < 1.9 * len(one):
        raise Wrong(f"{case}: one noise is used more than once; from two answers with the same noise it cancels")
    compare(np.bincount(cells, minlength=16), np.full(16, 1 / 16), {f"{case}: the two noises are always the same or always opposite": np.eye(4).ravel() / 4},
            lambda i: f"{case}: the noises hang together; pattern {i} of two noises")


@checker
def lap_release(release):
    """`release(value, sensitivity, epsilon, rng)`: the Laplace mechanism, which refuses a bad sensitivity or epsilon."""
    rng, size = np.random.default_rng(41), 20_000
    for step, epsilon, fill in ((5.0, 0.5, 100.0), (0.25, 2.0, -3e4), (1.0, 0.1, 0.0), (3, 1, np.linspace(-1e3, 1e6, size))):
        value = np.broadcast_to(np.asarray(fill, dtype=float), size).copy()
        case, asked = f"sensitivity {step:g}, epsilon {epsilon:g}", value.copy()
        noise = _array(ask(release, asked, step, epsilon, rng), (size,), case) - value
        if not np.array_equal(asked, value):
            raise Wrong("your function changes the array that it was given; the caller still needs the exact one")
        b = step / epsilon
        _judge(noise, b, case, (
            ("the scale is 1/(Δε); a larger step needs more noise, not less", 1 / (step * epsilon)),
            ("the scale is ε/Δ, upside down: more privacy would mean less noise", epsilon / step),
            ("the scale is 1/ε: the sensitivity was left out", 1 / epsilon),
            ("Δ/ε was taken for the standard deviation, which is √2 times the scale: too little noise", b / math.sqrt(2)),
            ("half the scale that is needed", b / 2),
            ("twice the scale that is needed: private, and noisier than the promise asks", 2 * b),
            ("√2 times the scale that is needed: private, and noisier than the promise asks", b * math.sqrt(2)),
            ("the noise has scale kΔ/ε for k answers; the sensitivity is that of all answers together already", b * size),
        ))
        _judge_pairs(noise[::2], noise[1::2], (b, b), case)
    singles = np.array([_number(ask(release, exact, 2.0, 0.5, rng), "a single number") - exact for exact in np.tile([0.0, 1e5, -7.0], 1000)])
    _judge(singles, 4.0, "one number at a time")
    _judge_pairs(singles[::2], singles[1::2], (4.0, 4.0), "one number at a time")
    where = "an array of two rows and three columns"
    grids = np.array([_array(ask(release, np.full((2, 3), 7.0), 1.0, 1.0, rng), (2, 3), where) - 7 for _ in range(1500)])
    for one, two in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((1, 1), (1, 2))):
        sides = grids[:, one[0], one[1]], grids[:, two[0], two[1]]
        for side in sides:
            _judge(side, 1.0, where)
        _judge_pairs(*sides, (1.0, 1.0), where)
    for name, bad in itertools.product(("sensitivity", "epsilon"), (0, -1.0, math.nan, math.inf)):
        arguments = {"sensitivity": 1.0, "epsilon": 1.0, name: bad}
        try:
            release(10.0, arguments["sensitivity"], arguments["epsilon"], rng)
        except ValueError:
            continue
        except Exception as error:
            raise Wrong(f"{name} = {bad:g}: expected a ValueError, got {type(error).__name__}") from None
        raise Wrong(f"{name} = {bad:g} was accepted; a ValueError was asked for")
    return "Laplace noise of the right scale, fresh for every number, and it refuses what is not positive and finite"


@checker
def lap_interval(interval):
    """`interval(noisy, sensitivity, epsilon, beta)`: (low, high) that covers all the exact answers at once, and no wider than needed."""
    for k, step, epsilon, beta in ((1, 1.0, 0.1, 0.05), (1, 40.0, 0.5, 0.01), (5, 1.0, 1.0, 0.05), (104, 2.0, 0.25, 0.1)):
        noisy = np.linspace(-50, 500, k) if k > 1 else 12.5
        case = f"k = {k}, sensitivity {step:g}, epsilon {epsilon:g}, beta {beta:g}"
        answer = ask(interval, noisy, step, epsilon, beta)
        if answer is None:
            raise NotAttempted
        try:
            low, high = answer
        except (TypeError, ValueError):
            raise Wrong(f"{case}: expected a pair (low, high)") from None
        shape = np.shape(noisy)
        low, high = _array(low, shape, f"{case}, low"), _array(high, shape, f"{case}, high")
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
        told = f"{case}: ± {half:.4g} covers all {k} with probability {covered:.4f}" if k > 1 else f"{case}: ± {half:.4g} covers with probability {covered:.4f}"
        rivals = {
            "that is ln(k/β), the sum of the tails: safe, and a little wider than necessary": b * math.log(k / beta),
            "each interval alone has probability 1 - β; all of them together have much less": b * math.log(1 / beta),
            "this is the one-sided tail, β/2: both sides count": b * math.log(0.5 / beta),
            "this is the normal law's interval; Laplace tails are longer": 1.959964 * math.sqrt(2) * b,
            "the scale is Δ/ε": right / step,
        }
        for message, value in rivals.items():
            if abs(half / value - 1) < 1e-3:
                raise Wrong(f"{told}; {message}")
        raise Wrong(f"{told}; {'too short' if half < right else 'safe, but wider than necessary'}")
    return "covers all k answers with probability 1 - β exactly, for k = 1, 5 and 104"


def _brute(query, universe, adjacency):
    tables = [t for size in range(5) for t in itertools.combinations_with_replacement(universe, size)]
    return max(sens.empirical(query, t, universe, adjacency) for t in tables)


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
    found = {}
    for low, high in ((-1.0, 3.0), (-4.0, 4.0), (-6.0, 0.5)):
        answers = ask(quiz, low, high)
        if answers is None:
            raise NotAttempted
        if not isinstance(answers, dict):
            raise Wrong(f"expected a dict, got {type(answers).__name__}")
        universe = [low, low / 2, 0.0, high / 2, high]
        for name, query in _questions(low, high).items():
            if name not in answers:
                raise Wrong(f"no answer to {name!r}")
            try:
                pair = tuple(answers[name])
            except TypeError:
                raise Wrong(f"{name!r}: expected a pair (add/remove, replace)") from None
            if len(pair) != 2:
                raise Wrong(f"{name!r}: expected a pair (add/remove, replace)")
            if any(value is ... for value in pair):
                raise NotAttempted
            truths = [_brute(query, universe, adjacency) for adjacency in sens.ADJACENCIES]
            for value, truth, adjacency in zip(pair, truths, sens.ADJACENCIES, strict=True):
                got = _number(value, f"{name!r} under {adjacency}")
                if abs(got - truth) < 1e-9 * max(1, truth):
                    continue
                case = f"{name!r} under {adjacency}, values in [{low:g}, {high:g}]: {got:g}"
                if abs(got - truths[adjacency == "add/remove"]) < 1e-9:
                    case += ", which is the answer for the other adjacency"
                if name == "sum of squares" and abs(got - abs(high**2 - low**2)) < 1e-9:
                    case += "; with 0 between the bounds the smallest square is 0"
                if got < truth:
                    raise Wrong(f"{case}; there are neighbours {truth:g} apart, and noise for {got:g} would not hide them")
                raise Wrong(f"{case}; no two neighbours are more than {truth:g} apart, so this is safe and too noisy")
        found[low, high] = True
    return f"six questions, two adjacencies, {len(found)} ranges: no table of up to four people contradicts you"


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
            answer = ask(best_bound, values.copy(), epsilon, list(candidates))
            if answer is None:
                raise NotAttempted
            got = _number(answer, "the bound")
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


@checker
def lap_contribution(counts):
    """`counts(rows, films, most, epsilon, rng)`: noisy counts of each film, `most` rows of each person kept by lot."""
    rng = np.random.default_rng(44)
    films = 12_000
    for most, epsilon, crowd in ((1, 0.5, 0), (4, 1.0, 1), (7, 2.0, 1)):    # people with one row each: nothing to drop
        rows = [(f"person {i}", i) for i in range(films)] if crowd else []
        case = f"most = {most}, epsilon {epsilon:g}, {len(rows):,} people with one row each"
        noise = _array(ask(counts, list(rows), films, most, epsilon, rng), (films,), case) - crowd
        b = most / epsilon
        _judge(noise, b, case, (
            ("the noise has scale 1/ε and protects a row, not a person with several", 1 / epsilon),
            ("twice the scale that is needed", 2 * b),
            ("the scale is √most/ε; Laplace noise is charged in L1", math.sqrt(most) / epsilon),
            ("half the scale that is needed", b / 2),
            ("the scale is 1/(most · ε), upside down", 1 / (most * epsilon)),
        ))
        _judge_pairs(noise[::2], noise[1::2], (b, b), case)
        if np.array_equal(noise, np.asarray(ask(counts, list(rows), films, most, epsilon, rng), dtype=float) - crowd):
            raise Wrong(f"{case}: two releases have the same noise; draw it from rng")
    loud = 1e7                                   # so little noise that the kept rows show
    for most, long, others in ((3, 12, 0), (2, 9, 5), (5, 8, 40)):
        mine = [("busy", film) for film in range(long)]
        crowd = [(i, i % 3) for i in range(others)] + [("short", long - 1)]
        kept = np.zeros(long)
        runs = 500
        for run in range(runs):
            rows = mine + crowd
            if run % 2:
                rows = [rows[i] for i in rng.permutation(len(rows))]
            got = _array(ask(counts, list(rows), long, most, loud, rng), (long,), "little noise") - np.bincount([f for _, f in crowd], minlength=long)
            whole = np.round(got)
            case = f"a person with {long} rows among {others + 1} others, most = {most}"
            if np.any(np.abs(got - whole) > 0.01):
                raise Wrong(f"{case}, epsilon {loud:g}: the counts are not whole; rows are kept or dropped, not weighted")
            if whole.min() < 0:
                raise Wrong(f"{case}: a person with fewer rows is missing; {most} rows should be kept of each, and all of those who have fewer")
            if whole.sum() > most:
                raise Wrong(f"{case}: {whole.sum():.0f} of this person's rows were kept; that is what the noise does not hide")
            if whole.sum() < most:
                raise Wrong(f"{case}: {most} rows should be kept, {whole.sum():.0f} were")
            kept += whole
        expected = runs * most / long            # counts without replacement: the chi-square statistic shrinks by (1 - most/long) long/(long - 1)
        statistic = ((kept - expected) ** 2).sum() / (expected * (1 - most / long)) * (long - 1) / long
        if statistic > 4 * long + 60:
            raise Wrong(f"{case}: not by lot; film {int(kept.argmax())} was kept in {kept.max() / runs:.0%} of {runs} runs, film "
                        f"{int(kept.argmin())} in {kept.min() / runs:.0%}, and each should be in {most / long:.0%}")
    twice = [("twice", 0)] * 6 + [(7, 1)]
    got = np.round(_array(ask(counts, twice, 2, 4, loud, rng), (2,), "one person, one film, six rows"))
    if not np.array_equal(got, [4, 1]):
        raise Wrong(f"six rows of one person for one film, and most = 4: four of them count, you have {got[0]:g}")
    case = "two films, a person with six rows, most = 4, epsilon 0.8"
    noises = np.array([_array(ask(counts, list(twice), 2, 4, 0.8, rng), (2,), case) for _ in range(3000)]) - [4, 1]
    for noise in noises.T:
        _judge(noise, 5.0, case, (("the scale follows the rows that this person had before the cut, so it tells how many they were", 7.5),
                                  ("the noise has scale 1/ε and protects a row, not a person with several", 1.25)))
    _judge_pairs(*noises.T, (5.0, 5.0), case)
    return "at most that many rows of a person, by lot, and noise for all of them together on every film"


@checker
def lap_discrete(whole):
    """`whole(counts, sensitivity, epsilon, rng)`: discrete Laplace noise on whole numbers."""
    rng, size = np.random.default_rng(45), 30_000
    for step, epsilon, value in ((3, 2.1, 0), (1, 1.0, 100), (1, 0.3, -5), (2, 4.0, 10**6)):
        case, exact = f"sensitivity {step}, epsilon {epsilon:g}", np.full(size, value)
        got = _array(ask(whole, exact.copy(), step, epsilon, rng), (size,), case)
        if np.any(got != np.round(got)):
            raise Wrong(f"{case}: the answers are not whole")
        noise = (got - value).astype(int)
        rate = epsilon / step
        edge = max(3, math.ceil(6 / rate))
        places = np.arange(-edge, edge + 1)

        def law(mass, edge=edge):
            """Cells: below, each whole number from -edge to edge, above."""
            long = np.arange(-40 * edge, 40 * edge + 1)
            weights = mass(long)
            weights = weights / weights.sum()
            middle = np.abs(long) <= edge
            return np.r_[weights[long < -edge].sum(), weights[middle], weights[long > edge].sum()]

        def two_sided(r):
            return law(lambda z: np.exp(-r * np.abs(z)))

        cells = np.bincount(np.clip(noise, -edge - 1, edge + 1) + edge + 1, minlength=2 * edge + 3)
        rivals = {
            "zero comes twice as often as it should, from above and from below (by a random sign, or a fraction cut off); the loss there is ε + ln 2":
                law(lambda z, r=rate: np.exp(-r * np.abs(z)) * np.where(z == 0, 2, 1)),
            "zero never comes: the geometric variable counts from 1": law(lambda z, r=rate: np.exp(-r * np.abs(z)) * (z != 0)),
            "this is continuous noise, rounded: private, and with more variance": law(lambda z, r=rate: np.abs(_cdf((z + 0.5) * r) - _cdf((z - 0.5) * r))),
            "the noise is never negative": law(lambda z, r=rate: np.exp(-r * np.abs(z)) * (z >= 0)),
            "the sensitivity was left out": two_sided(epsilon),
            "the rate is ε times Δ: too little noise": two_sided(epsilon * step),
            "half the noise that is needed": two_sided(2 * rate),
            "twice the noise that is needed": two_sided(rate / 2),
            "p is ε/Δ and should be 1 - exp(-ε/Δ): too little noise": two_sided(-math.log1p(-min(rate, 0.999))),
        }
        named = ["below", *places, "above"]
        compare(cells, two_sided(rate), {f"{case}: {message}": mass for message, mass in rivals.items()},
                lambda i, case=case, named=named: f"{case}: noise {named[i]}")
        joint = 3 * np.sign(noise[::2]) + np.sign(noise[1::2]) + 4
        none = math.tanh(rate / 2)
        side = np.array([(1 - none) / 2, none, (1 - none) / 2])
        compare(np.bincount(joint, minlength=9), np.outer(side, side).ravel(), {f"{case}: the noises hang together": np.eye(3).ravel() * side.repeat(3)},
                lambda i, case=case: f"{case}: the noises hang together; pattern {i} of two signs")
        if np.array_equal(noise[: size // 2], noise[size // 2:]):
            raise Wrong(f"{case}: the same noises come again")
        again = np.asarray(ask(whole, exact.copy(), step, epsilon, rng), dtype=float)
        if np.array_equal(again, got):
            raise Wrong(f"{case}: two releases have the same noise; draw it from rng")
        few = np.array([_array(ask(whole, np.array([3, 0, 41]), step, epsilon, rng), (3,), case) for _ in range(3000)]) - [3, 0, 41]
        near = np.array([_array(ask(whole, np.array([3, 1, 41]), step, epsilon, rng), (3,), case) for _ in range(3000)]) - [3, 1, 41]
        for noise in np.vstack([few.T, near.T]):
            cells = np.bincount(np.clip(noise.astype(int), -edge - 1, edge + 1) + edge + 1, minlength=2 * edge + 3)
            compare(cells, two_sided(rate), {f"{case}, an array of three different counts: there is no noise": law(lambda z: z == 0)},
                    lambda i, case=case, named=named: f"{case}, an array of three different counts: noise {named[i]}")
    return "the discrete Laplace law, at four settings, fresh for every count"


TABLES = [
    ([], 20.0, 80.0, 1.0), ([30.0, 40.0] * 20, 20.0, 80.0, 1.0), ([30.0, 75.0, 200.0], 20.0, 80.0, 1.0),
    ([-1e9, math.nan, 5.0, 40.0], -10.0, 10.0, 0.5), ([1e12, -math.inf, math.inf], -50.0, 20.0, 2.0),
]
RUNS = 2000


@checker
def lap_bug(parts):
    """`parts(values, low, high, epsilon, rng)`: noisy clipped sum and noisy count, half of epsilon each, under add/remove."""
    rng = np.random.default_rng(46)
    for values, low, high, epsilon in TABLES:
        rows = f"{values}" if len(values) < 9 else f"{len(values)} values between {min(values):g} and {max(values):g}"
        case = f"{rows} in [{low:g}, {high:g}], epsilon {epsilon:g}"
        answers = []
        for _ in range(RUNS):
            answer = ask(parts, np.array(values, dtype=float), low, high, epsilon, rng)
            if answer is None:
                raise NotAttempted
            try:
                total, count = answer
            except (TypeError, ValueError):
                raise Wrong("expected a pair: noisy sum, noisy count") from None
            total, count = np.asarray(total, dtype=float).reshape(-1), np.asarray(count, dtype=float).reshape(-1)
            if total.size != 1 or count.size != 1:
                raise Wrong("expected a pair of numbers: noisy sum, noisy count")
            if not np.isfinite([total[0], count[0]]).all():
                raise Wrong(f"{case}: the output is not finite, and says that a NaN or an infinity is in the data")
            answers.append((total[0], count[0]))
        exact = float(sens.clip(values, low, high).sum()), float(len(values))
        sums, numbers = (np.array(side) - right for side, right in zip(zip(*answers), exact, strict=True))
        step, half = max(abs(low), abs(high)), epsilon / 2
        scales = step / half, 1 / half
        for name, noise, right, scale in (("sum", sums, exact[0], scales[0]), ("count", numbers, exact[1], scales[1])):
            if np.ptp(noise) <= 1e-9 * scale:
                raise Wrong(f"{case}: the {name} has no noise, or the same noise every time")
            if abs(np.median(noise)) > 0.15 * scale:             # 6.7 standard errors of the median
                raise Wrong(f"{case}: the {name} is around {np.median(noise) + right:g} and should be around {right:g}"
                            + ("; values are clipped at both ends, and a NaN goes to low" if name == "sum" else "; every row counts, also those with a NaN"))
        _judge(sums, scales[0], f"{case}, the sum", (
            ("the step is high - low, which is that of replace; under add/remove a whole value comes or goes", (high - low) / half),
            ("the step is the largest value of this table; it tells what is in it, and the next row may be larger",
             float(np.abs(sens.clip(values, low, high)).max() if values else step) / half),
            ("the step is high; a value near low may be further from 0", abs(high) / half),
            ("the sum gets all of epsilon, and the count is not for nothing", step / epsilon),
            ("high - low, and all of epsilon", (high - low) / epsilon),
            ("twice the noise that is needed", 2 * scales[0]),
            ("the scale is divided by the number of rows: it belongs to a mean, and tells n", scales[0] / max(len(values), 1)),
        ))
        _judge(numbers, scales[1], f"{case}, the count", (
            ("the count gets all of epsilon: the two together then cost more", 1 / epsilon),
            ("twice the noise that is needed", 2 * scales[1]),
            ("the count is 1 apart between neighbours, whatever the values are", scales[0]),
        ))
        _judge_pairs(sums, numbers, scales, case)
    return "a sum and a count with the noise that add/remove asks for, whatever is in the rows"
