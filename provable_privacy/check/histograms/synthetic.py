"""Checkers of chapter 5: synthetic data."""
import functools
import itertools
import math

import numpy as np

from dplib import mechanisms
from provable_privacy.battery import Numbers, Pair, battery
from provable_privacy.battery.laws import compare
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, compare_dict, number, numbers

__all__ = ["syn_attack", "syn_choose", "syn_interval", "syn_mwem", "syn_rows", "syn_vendor"]

ROWS = 40_000
NOISY = [5.2, -17.9, 0.0, 0.8, 3.1, -2.6]
MANY = [-40.0, 100.0, 60.0, 80.0]


def _shares(weights):
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum()


@checker
def syn_rows(draw):
    """`draw(noisy, size, rng)`: the cells of `size` rows drawn from noisy counts, of which some may be negative."""
    rng = np.random.default_rng(50)
    for noisy in (NOISY, MANY, [-3.0, -0.5, -8.0]):
        noisy = np.array(noisy)
        got = np.asarray(answered(draw, noisy.copy(), ROWS, rng))
        if got.shape != (ROWS,):
            raise Wrong(f"asked for {ROWS:,} rows it returned shape {got.shape}")
        if not np.issubdtype(got.dtype, np.number) or not np.all(np.isin(got, np.arange(noisy.size))):
            raise Wrong(f"expected cell numbers from 0 to {noisy.size - 1}")
        if noisy.max() <= 0:
            law = np.full(noisy.size, 1 / noisy.size)
        else:
            law = _shares(np.clip(noisy, 0, None))
        rivals = {
            "negative counts were turned around: a cell with −40 is as empty as can be, and now gets many rows": _shares(np.abs(noisy)),
            "all counts were lifted by the same amount until none was negative: then a large cell loses rows to empty ones":
                _shares(noisy - noisy.min()) if np.ptp(noisy) else law,
            f"from the counts {noisy.tolist()} every cell is equally likely, though some are above zero": np.full(noisy.size, 1 / noisy.size),
            "the counts went through an exponential: shares are proportional to counts": _shares(np.exp(noisy - noisy.max())),
        }
        if noisy.max() <= 0:
            rivals = {"where no count is above zero, every cell must be equally likely": _shares(-noisy)}
        counts = np.bincount(got.astype(int), minlength=noisy.size)
        compare(counts, law, rivals, lambda cell: f"from the counts {noisy.tolist()}: cell {cell}")
        again = np.bincount(np.asarray(ask(draw, noisy.copy(), ROWS, rng), dtype=int), minlength=noisy.size)
        if np.array_equal(counts, again):
            raise Wrong("two draws gave every cell the same number of rows: draw each row at random")
    if len(np.asarray(ask(draw, np.array(NOISY), 0, rng))) != 0:
        raise Wrong("asked for no rows it returned some")
    return f"each cell comes out in its share, and a negative count is no row (chi-square test on {ROWS:,} rows)"


# --------------------------------------------------------------------------------------------------------------------- mwem

@functools.cache
def _mwem(choose=1.0, measure=1.0, draw="laplace", pick=mechanisms.exponential, score=np.abs, whole=False, noise_of="round", until=10**9, stop=0.0, near=0.0,
          again=False, reuse=False):
    """MWEM, right unless told otherwise: `until` is the first round whose choice is exact, `stop` the true gap that ends it, `near` that after a step;
    `again`: a measured answer that no table can have is drawn again; `reuse`: all answers get noise, and the worst of them is chosen and used."""
    def wrong(counts, queries, epsilon, rounds, rng):
        n, each = counts.sum(), epsilon / (2 * (1 if whole else rounds))
        guess, drawn = np.full(len(counts), n / len(counts)), {}
        for t in range(rounds):
            gaps = score(queries @ (counts - guess))
            if np.abs(gaps).max() < stop:
                break
            i = np.argmax(gaps) if t >= until else pick(gaps, sensitivity=1, epsilon=choose * each, rng=rng)
            answer = queries[i] @ counts + drawn.setdefault({"round": t, "query": int(i), "all": 0}[noise_of], getattr(rng, draw)(scale=measure / each))
            while again and not 0 <= answer <= n:
                answer = queries[i] @ counts + rng.laplace(scale=measure / each)
            if reuse:
                noisy = queries @ counts + rng.laplace(scale=1 / each, size=len(queries))
                i = np.argmax(np.abs(noisy - queries @ guess))
                answer = noisy[i]
            guess = guess * np.exp(queries[i] * (answer - queries[i] @ guess) / (2 * n))
            guess *= n / guess.sum()
            if np.abs(queries @ (counts - guess)).max() < near:
                break
        return guess

    return wrong


def _exactly(scores, **settings):
    return int(np.argmax(scores))


def _blindly(scores, *, rng, **settings):
    return int(rng.integers(len(scores)))


MWEM = {
    "the worst query is chosen without noise: the choice tells about the data too": _mwem(pick=_exactly),
    "only the first choice has noise: in the later rounds the worst query is chosen without": _mwem(until=1),
    "the choice becomes exact in a later round: every look has its price": _mwem(until=2),
    "a query is chosen blindly: the choice does not look for the worst one (are the scores divided by n, and the sensitivity not?)": _mwem(pick=_blindly),
    "the choice spends twice its share: each of the two steps of a round gets epsilon/(2 rounds)": _mwem(choose=2),
    "each of the two steps of a round spends epsilon/rounds, and together they may": _mwem(choose=2, measure=0.5),
    "the choice spends half of its share": _mwem(choose=0.5),
    "the scores have lost their absolute value: a query answered too high is as bad as one answered too low": _mwem(score=np.positive),
    "the measured answers have no noise": _mwem(measure=0.0),
    "the noise of a measurement is half of what it must be: selection and measurement share a round's budget": _mwem(measure=0.5),
    "the noise of a measurement is twice what it must be": _mwem(measure=2.0),
    "the noise of the measurements is normal: it keeps no epsilon": _mwem(draw="normal"),
    "the noise of the measurements is normal, of the right standard deviation: it keeps no epsilon": _mwem(measure=2**0.5, draw="normal"),
    "the same noise serves all rounds: subtract two measured answers and it is gone; draw it anew each time": _mwem(noise_of="all"),
    "a query that is asked again has the noise of the first time: private, but a second look then teaches nothing; draw it anew": _mwem(noise_of="query"),
    "a measured answer below 0 or above n is drawn again (how often that happens tells about the true answer) or made positive: leave it as it is":
        _mwem(again=True),
    "the noise that chose the query is in its answer too: the answer then bounds all the others, and one person may move every one of them; draw it anew":
        _mwem(reuse=True),
    "every round spends the whole budget: with T rounds each gets epsilon/T, half of it for the measurement": _mwem(whole=True),
    "it stops when the truth is near: that is a look without noise": _mwem(stop=1.0),
    "it stops early: the algorithm takes all its rounds, and a stop that compares the guess with the true counts is a look without noise": _mwem(near=50.0),
}


def _pair(what, one, two, queries, epsilon, rounds, **settings):
    one, two = np.array(one, dtype=float), np.array(two, dtype=float)
    given = np.array(queries, dtype=float), epsilon, rounds
    return Pair(what, (one, *given), (two, *given), ((epsilon * float(np.abs(one - two).sum()) / 2, 0.0),), **settings)


SMALL, FIRST = [30, 10, 5, 15], np.eye(4)[:3]
TOWNS = [
    _pair("a thousand people spread evenly / one of them moved", [500, 500], [501, 499], [[1, 0]], 0.8, 1, runs=800, twice=510),
    _pair("700 and 300 people / six of them moved", [700, 300], [706, 294], [[1, 0]], 0.4, 4, runs=1200, law="exactly"),
    _pair("a thousand people spread evenly, four rounds / one of them moved", [500, 500], [501, 499], [[1, 0]], 0.8, 4, runs=1000, law="exactly"),
    _pair("60 people / three of them moved", SMALL, [33, 10, 2, 15], FIRST, 0.7, 1, runs=1800, law=True),
    _pair("60 people and four rounds / one of them moved", SMALL, [31, 10, 5, 14], FIRST, 4.0, 4, runs=1000, law=True),
    _pair("40 people, none of them in the first cell / one of them moved there", [0, 6, 14, 20], [1, 5, 14, 20], np.eye(4)[:2], 1.0, 1, runs=1500, law=True),
    _pair("three people / one of them moved", [1, 1, 1], [2, 1, 0], np.eye(3), 0.7, 2, runs=600),
]


def _exact(counts, queries, rounds):
    """MWEM where noise is negligible and ties do not happen."""
    return _mwem(pick=_exactly, measure=0.0)(counts, queries, 1.0, rounds, np.random.default_rng(0))


@checker
def syn_mwem(mwem):
    """`mwem(counts, queries, epsilon, rounds, rng)`: multiplicative weights as in the algorithm, last guess."""
    counts = np.array([400.0, 70.0, 30.0, 210.0, 90.0, 200.0])
    queries = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 0, 1.0]])
    for rounds in (1, 2, 12):
        got = numbers(answered(mwem, counts.copy(), queries.copy(), 1e9, rounds, np.random.default_rng(51)), counts.shape, "the guess")
        right = _exact(counts, queries, rounds)
        if got.min() < 0 or not np.isclose(got.sum(), counts.sum(), rtol=1e-6):
            raise Wrong("the guess must be non-negative and add up to the public total")
        if np.allclose(got, right, rtol=1e-4):
            continue
        if rounds > 1 and np.allclose(got, _exact(counts, queries, 1), rtol=1e-4):
            raise Wrong(f"after {rounds} rounds the guess is that of one: does `old = guess` make a copy, or a second name for the same array?")
        if np.allclose(got, counts, rtol=1e-3):
            raise Wrong("that is the table itself: only the measured answers may be used")
        raise Wrong(f"without noise, after {rounds} round{'s' * (rounds > 1)}, the guess is {got.round(1).tolist()} and should be {right.round(1).tolist()}: "
                    "the worst query's answer moves the guess by the factor exp(q (answer − q·guess)/(2n)), and the total is restored")
    looked = "right without noise, and " + battery(mwem, lambda pair: Numbers(len(pair.one[0]), "cell"), TOWNS, mistakes=MWEM, right=_mwem(), seed=51)
    rng = np.random.default_rng(52)
    guess = np.array([answered(mwem, np.array([700, 300]), np.array([[1, 0]]), 0.4, 1, rng) for _ in range(6000)], dtype=float)
    noise = np.log(guess[:, 0] / guess[:, 1])                    # of one question in one round, the measured noise but for a factor
    if np.mean(np.abs(noise - noise.mean()) > 3 * noise.std()) < 0.0075:     # 0.0144 for Laplace noise, 0.0027 for normal noise
        raise Wrong("the law of the measurement is not right: its tails fall too fast, like those of normal noise, for which no ε holds")
    return looked


# ------------------------------------------------------------------------------------------------------- attack on a generator

def _auc(high, low):
    return float(np.mean((high[:, None] > low) + 0.5 * (high[:, None] == low)))


def _world(rng, private=False):
    """300 people of eight columns; rows made from the first half, by copying with one cell changed, or from noisy columns."""
    sizes = np.array([9, 5, 11, 6, 8, 2, 13, 7])
    people = np.column_stack([rng.choice(k, size=300, p=_shares(1 / (1 + np.arange(k)))) for k in sizes])
    members = people[:150]
    if private:
        noisy = [np.maximum(np.bincount(c, minlength=k) + rng.laplace(scale=16, size=k), 0.01) for c, k in zip(members.T, sizes)]
        return people, np.column_stack([rng.choice(k, size=150, p=_shares(c)) for c, k in zip(noisy, sizes)])
    rows = members[rng.integers(150, size=150)]
    which = rng.integers(len(sizes), size=150)
    one = np.arange(150), which
    rows[one] = (rows[one] + rng.integers(1, sizes[which])) % sizes[which]
    return people, rows


@checker
def syn_attack(attack):
    """`attack(rows, candidates)`: a score for each candidate, high where the rows were probably made from them."""
    rng = np.random.default_rng(53)
    areas = {False: [], True: []}
    for private in (False, True):
        for _ in range(6):
            people, rows = _world(rng, private)
            order = rng.permutation(300)
            got = numbers(answered(attack, rows.copy(), people[order]), (300,), "a score for each of 300 candidates")
            scores = np.empty(300)
            scores[order] = got
            areas[private].append(_auc(scores[:150], scores[150:]))
    open_, closed = np.mean(areas[False]), np.mean(areas[True])
    if open_ < 0.4:
        raise Wrong("it points the wrong way: members get the low scores; a small distance to some row must give a high score")
    if open_ < 0.7:
        raise Wrong("on a generator that copies rows and changes one cell of each, the area under its curve is below 0.7: "
                    "how far is a candidate from the nearest row, counted in cells?")
    if abs(closed - 0.5) > 0.1:
        raise Wrong("it finds members even where the rows came from noisy columns: what it uses is not the rows")
    return "it finds the members behind copied rows (area above 0.7), and none behind noisy columns (within 0.1 of one half)"


# -------------------------------------------------------------------------------------------------------------- what to measure

SIZES = {"zip": 8, "sex": 2, "decade": 9, "school": 5, "work": 11, "income": 6, "smoker": 2}
QUESTIONS = [{one, other} for one in ("zip", "decade", "work") for other in ("smoker", "sex")]
MOST_CELLS = 350


def _cells(columns):
    return math.prod(SIZES[column] for column in columns)


def _deviations(tables):
    """Standard deviation of a cell of each answer at epsilon = 1: the noise of as many cells as it adds up."""
    return [min(2 * len(tables) * math.sqrt(2 * _cells(table) / _cells(question)) for table in tables if question <= table) for question in QUESTIONS]


@functools.lru_cache
def _least():
    """The smallest worst deviation: each question goes into one of the tables, so all assignments are tried."""
    best = math.inf
    for assignment in itertools.product(range(len(QUESTIONS)), repeat=len(QUESTIONS)):
        if all(a <= max(assignment[:i], default=-1) + 1 for i, a in enumerate(assignment)):            # each partition once
            tables = [set().union(*(q for q, b in zip(QUESTIONS, assignment) if a == b)) for a in set(assignment)]
            if all(_cells(table) <= MOST_CELLS for table in tables):
                best = min(best, max(_deviations(tables)))
    return best


@checker
def syn_choose(tables):
    """`tables`: lists of columns to measure, of at most 350 cells each, that answer all questions with the smallest worst deviation."""
    tables = [{table} if isinstance(table, str) else set(table) for table in tables]
    if not tables:
        raise NotAttempted
    for table in tables:
        if table - set(SIZES):
            raise Wrong(f"there is no column {', '.join(sorted(map(str, table - set(SIZES))))}; the columns are {', '.join(SIZES)}")
        if _cells(table) > MOST_CELLS:
            raise Wrong(f"the table of {', '.join(sorted(table))} has {_cells(table):,} cells, more than {MOST_CELLS}")
    for question in QUESTIONS:
        if not any(question <= table for table in tables):
            raise Wrong(f"nobody measures {', '.join(sorted(question))} together: two tables that share a column do not make one with both")
    deviations = _deviations(tables)
    worst = int(np.argmax(deviations))
    if deviations[worst] > _least() * (1 + 1e-9):
        raise Wrong(f"every question is answered, but a cell of ({', '.join(sorted(QUESTIONS[worst]))}) has a standard deviation of {deviations[worst]:.1f}/ε, "
                    f"and {_least():.1f}/ε is possible: fewer tables share the budget by fewer, but an answer that adds up w cells collects √w times the noise")
    return f"no cell of any answer has a standard deviation above {_least():.1f}/ε"


# ------------------------------------------------------------------------------------------------------------------- interval

@checker
def syn_interval(half_width):
    """`half_width(values, weights, n, size, epsilon)`: of a 95 % interval for the mean, from `size` rows of a noisy table."""
    cases = [
        ([0.0, 1.0], [0.7, 0.3], 30_000, 30_000, 0.1),
        ([10.0, 30.0, 50.0, 70.0, 90.0, 110.0], [0.39, 0.35, 0.15, 0.05, 0.03, 0.03], 30_000, 3_000_000, 0.1),
        ([5.0, 6.0, 9.0, 20.0], [0.1, 0.4, 0.3, 0.2], 2_000, 500, 0.5),
    ]
    for values, weights, n, size, epsilon in cases:
        v, w = np.array(values), np.array(weights)
        got = number(answered(half_width, v.copy(), w.copy(), n, size, epsilon), "the half-width")
        mean = (w * v).sum()
        off = v - mean
        sampling = (w * off**2).sum() / size

        def width(noise_variance, sampling=sampling):
            return 1.96 * math.sqrt(sampling + noise_variance)

        unit = (off**2).sum() / (n * epsilon)**2
        right = width(8 * unit)
        if abs(got / right - 1) < 0.025:
            continue
        mistakes = {
            "the noise was weighted: it is the same in every cell, full or empty": width(8 * (w * off**2).sum() / (n * epsilon)**2),
            "that is the textbook interval: it knows that rows were drawn and not that the table was noisy": width(0),
            "that is the noise alone: the rows were drawn too": width(8 * unit, 0),
            "that is one standard deviation: a 95 % interval reaches 1.96 of them": right / 1.96,
            "the noise is that of scale 1/ε: under replace one person moves two cells, and the scale is 2/ε": width(2 * unit),
            "the noise's variance is taken for its scale squared: Lap(b) has variance 2b²": width(4 * unit),
            "the values were not centred: what the noise adds to the total, it adds to numerator and denominator alike":
                width(8 * (v**2).sum() / (n * epsilon)**2),
            "variances add, standard deviations do not": 1.96 * (math.sqrt(sampling) + math.sqrt(8 * unit)),
            "the noise was divided among the rows drawn: it sits in the table, n rows, however many are drawn": width(8 * (off**2).sum() / (size * epsilon)**2),
        }
        message, wrong = min(mistakes.items(), key=lambda item: abs(math.log(max(item[1], 1e-300) / max(got, 1e-300))))
        where = f"for n = {n:,}, {size:,} rows, ε = {epsilon:g}: {got:.4g} is "
        if abs(wrong / max(got, 1e-300) - 1) < 0.01:
            raise Wrong(message)
        raise Wrong(where + ("too narrow" if got < right else "too wide") + f", by a factor of {got / right:.2f}")
    return "noise and drawing both counted, in three cases"


# ------------------------------------------------------------------------------------------------------------------- critique

VERDICTS = {
    "nobody": (False, "a row that belongs to nobody can still have been made from somebody: what counts is how the rows were made"),
    "million": (True, "rows are drawn from what was released: post-processing, for one row or a million"),
    "relations": (False, "only relations inside a measured table are kept, and no table of all columns can be measured well"),
    "intervals": (False, "the software takes the rows for people: it counts the drawing and not the noise, and more rows make it worse"),
    "attack": (False, "one attack that fails is one attack; the next may not, and only a proof speaks of all of them"),
    "informed": (True, "that is the definition, read as odds: all other rows are the same, and yours has one of two values"),
    "anybody": (False, "ε bounds what your own row adds; what the rows teach about all smokers they teach about you, and that may move odds by more than e"),
}


@checker
def syn_vendor(answer):
    """`answer`: sentence -> True or False."""
    compare_dict(answer, {name: verdict for name, (verdict, _) in VERDICTS.items()},
                 lambda name, said: VERDICTS[name][1] if isinstance(said, (bool, np.bool_)) else f"answer True or False, got {said!r}")
    return "two sentences of seven may stay in the brochure"
