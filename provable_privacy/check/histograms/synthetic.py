"""Checkers of chapter 5: synthetic data."""
import functools
import itertools
import math

import numpy as np
from scipy import stats

from provable_privacy.battery import Numbers, Pair, battery, looks_for
from provable_privacy.battery.laws import compare
from provable_privacy.battery.makers import laplace
from provable_privacy.entries import TrueFalse, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, numbers

__all__ = ["syn_attack", "syn_choose", "syn_interval", "syn_mwem", "syn_rows", "syn_vendor"]


# ----------------------------------------------------------------------------------------------- rows from noisy counts

ROWS = 40_000
COUNTS = [[5.2, -17.9, 0.0, 0.8, 3.1, -2.6], [-40.0, 100.0, 60.0, 80.0], [-3.0, -0.5, -8.0]]
WEIGHTS = {                                      # words -> weights of the cells, where some count is above zero
    "negative counts were made positive: a cell with −40 is as empty as can be, and now gets many rows": np.abs,
    "all counts were raised by the same amount until none was negative: then a large cell loses rows to empty ones":
        lambda noisy: noisy - noisy.min(),
    "every cell is equally likely, though some counts are above zero": np.ones_like,
    "the counts went through an exponential: shares are proportional to counts":
        lambda noisy: np.exp(noisy - noisy.max()),
}
NONE_ABOVE_ZERO = {"where no count is above zero, every cell must be equally likely": np.negative}


def _shares(weights):
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum()


@checker
def syn_rows(draw):
    """`draw(noisy, size, rng)`: the cells of `size` rows drawn from noisy counts, of which some may be negative."""
    rng = np.random.default_rng(50)
    for noisy in map(np.array, COUNTS):
        got, some = np.asarray(answered(draw, noisy.copy(), ROWS, rng)), noisy.max() > 0
        if got.shape != (ROWS,):
            raise Wrong(f"asked for {ROWS:,} rows it returned shape {got.shape}")
        if not np.issubdtype(got.dtype, np.number) or not np.all(np.isin(got, np.arange(noisy.size))):
            raise Wrong(f"expected cell numbers from 0 to {noisy.size - 1}")
        law = _shares(np.clip(noisy, 0, None) if some else np.ones(noisy.size))
        rivals = {words: _shares(weigh(noisy)) for words, weigh in (WEIGHTS if some else NONE_ABOVE_ZERO).items()}
        counts = np.bincount(got.astype(int), minlength=noisy.size)
        compare(counts, law, rivals, lambda cell: f"from the counts {noisy.tolist()}: cell {cell}")
        again = np.bincount(np.asarray(ask(draw, noisy.copy(), ROWS, rng), dtype=int), minlength=noisy.size)
        if np.array_equal(counts, again):
            raise Wrong("two draws gave every cell the same number of rows: draw each row at random")
    if len(np.asarray(ask(draw, np.array(COUNTS[0]), 0, rng))) != 0:
        raise Wrong("asked for no rows it returned some")
    return f"each cell comes out in its share, and a negative count is no row (chi-square test on {ROWS:,} rows)"


# ----------------------------------------------------------------------------------------------------------------- mwem

def _mwem(choose=1.0, measure=1.0, law=laplace, *, score=np.abs, exact_from=10**9, noise_of=lambda t, i: t, paid=None,
          stop=0.0, near=0.0, again=False, reuse=False, part=lambda q: 1.0, finish=float):
    """MWEM, right unless told otherwise.

    From the round `exact_from` on the choice has no noise; `noise_of` names the noise of a round and a query; a round
    costs epsilon/`paid`. A true gap below `stop` ends it before a step, below `near` after one. `again`: a measured
    answer that no table can have is drawn again. `reuse`: all answers get noise, and the worst is chosen and used.
    The noise of a measurement is multiplied by `part` of the query, and `finish` comes after it.
    """
    def wrong(counts, queries, epsilon, rounds, rng):
        n, true, each = counts.sum(), queries @ counts, epsilon / (2 * (paid or rounds))
        guess, drawn = np.full(len(counts), n / len(counts)), {}
        for t in range(rounds):
            gaps = score(true - queries @ guess)
            if np.abs(gaps).max() < stop:
                break
            luck = 0 if t >= exact_from else rng.gumbel(size=len(gaps))
            i = int(np.argmax(choose * each * gaps / 2 + luck))
            answer = finish(true[i] + part(queries[i]) * drawn.setdefault(noise_of(t, i), law(rng, measure / each, ())))
            while again and not 0 <= answer <= n:
                answer = true[i] + rng.laplace(scale=measure / each)
            if reuse:
                noisy = true + rng.laplace(scale=1 / each, size=len(true))
                i = np.argmax(np.abs(noisy - queries @ guess))
                answer = noisy[i]
            guess = guess * np.exp(queries[i] * (answer - queries[i] @ guess) / (2 * n))
            guess *= n / guess.sum()
            if np.abs(true - queries @ guess).max() < near:
                break
        return guess

    return wrong


RIGHT = _mwem()
MISTAKES = {
    "the worst query is chosen without noise: the choice tells about the data too": _mwem(exact_from=0),
    "only the first choice has noise: in the later rounds the worst query is chosen without noise": _mwem(exact_from=1),
    "in a later round the choice has no noise: every choice looks at the data and needs noise": _mwem(exact_from=2),
    "a query is chosen blindly: the choice does not look for the worst one (are the scores divided by n, and the "
    "sensitivity not?)": _mwem(choose=0),
    "the choice spends twice its share: each of the two steps of a round gets epsilon/(2 rounds)": _mwem(choose=2),
    "each of the two steps of a round spends epsilon/rounds; that is what both may spend together": _mwem(2, 0.5),
    "the choice spends half of its share": _mwem(choose=0.5),
    "the measured answers have no noise": _mwem(measure=0.0),
    "the noise of a measurement is half of what it must be: selection and measurement share a round's budget":
        _mwem(measure=0.5),
    "the noise of a measurement is twice what it must be": _mwem(measure=2.0),
    "the noise is divided by the sum of the query's weights: one person moves the answer by up to 1, however many "
    "cells it adds up": _mwem(part=lambda q: 1 / q.sum()),
    "the measured answers are rounded: that costs no privacy, but it adds an error; leave them as they are":
        _mwem(finish=np.round),
    "the same noise serves all rounds: the difference of two measured answers is exact; draw new noise each time":
        _mwem(noise_of=lambda t, i: 0),
    "a query that is asked again has the noise of the first time: private, but asking again then teaches nothing; "
    "draw new noise": _mwem(noise_of=lambda t, i: i),
    "a measured answer below 0 or above n is drawn again (how often that happens tells about the true answer) or made "
    "positive: leave it as it is": _mwem(again=True),
    "the noise that chose the query is in its answer too: the answer then bounds all the others, and one person may "
    "move every one of them; draw new noise": _mwem(reuse=True),
    "every round spends the whole budget: with T rounds each gets epsilon/T, half of it for the measurement":
        _mwem(paid=1),
    "it stops when the truth is near: that is a look at the data without noise": _mwem(stop=1.0),
    "it stops early: the algorithm takes all its rounds, and a stop that compares the guess with the true counts is a "
    "look without noise": _mwem(near=50.0),
}


def _pair(what, one, two, queries, epsilon, rounds, **settings):
    one, two = np.array(one, dtype=float), np.array(two, dtype=float)
    given = np.array(queries, dtype=float), epsilon, rounds
    return Pair(what, (one, *given), (two, *given), ((epsilon * float(np.abs(one - two).sum()) / 2, 0.0),), **settings)


SMALL, FIRST = [30, 10, 5, 15], np.eye(4)[:3]
PEOPLE = np.array([400.0, 70.0, 30.0, 210.0, 90.0, 200.0])
ASKED = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 1, 1],
                  [0.25, 1, 0, 0, 0.5, 0]])
TOWNS = [
    _pair("a thousand people spread evenly / one of them moved", [500, 500], [501, 499], [[1, 0]], 0.8, 1,
          runs=800, twice=510, looks=("straddles",)),
    _pair("700 and 300 people / six of them moved", [700, 300], [706, 294], [[1, 0]], 0.4, 4, runs=1200, law="exactly"),
    _pair("a thousand people spread evenly, four rounds / one of them moved", [500, 500], [501, 499], [[1, 0]], 0.8, 4,
          runs=1000, law="exactly"),
    _pair("60 people / three of them moved", SMALL, [33, 10, 2, 15], FIRST, 0.7, 1, runs=1800, law=True),
    _pair("60 people and four rounds / one of them moved", SMALL, [31, 10, 5, 14], FIRST, 4.0, 4, runs=1000, law=True),
    _pair("40 people, none of them in the first cell / one of them moved there", [0, 6, 14, 20], [1, 5, 14, 20],
          np.eye(4)[:2], 1.0, 1, runs=1500, law=True),
    _pair("three people / one of them moved", [1, 1, 1], [2, 1, 0], np.eye(3), 0.7, 2, runs=600),
    _pair("30,000 people and a query with weights / one of them moved", [6000, 4000, 5000, 7000, 3000, 5000],
          [5999, 4000, 5000, 7000, 3000, 5001], [[1, 0.1, 0.2, 0.1, 0.3, 0.05]], 2.6, 1, runs=800, law="exactly",
          looks=("contents", "far")),
    _pair("1,200 people, queries of four cells each and three rounds / one of them moved",
          [220, 190, 200, 180, 230, 180], [220, 190, 199, 180, 231, 180], [[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1]],
          1.5, 3, runs=1000, law="exactly", looks=("contents",)),
    _pair("4,000 people, one answer far worse than the other / one of them moved", [1300, 1100, 620, 980],
          [1299, 1100, 621, 980], [[1, 1, 0, 0], [0, 1, 1, 0]], 0.04, 1, runs=1000, law="exactly", looks=("far",)),
    _pair("60 people, five queries and six rounds / one of them moved", [14, 10, 5, 15, 9, 7], [15, 9, 5, 15, 9, 7],
          ASKED, 9.0, 6, runs=800, law="exactly", looks=("contents",)),
    _pair("40 people, all of them in the query / one of them moved out of it", [20, 12, 8, 0], [20, 12, 7, 1],
          [[1, 1, 1, 0]], 1.0, 1, runs=500),
]

WITHOUT_NOISE = {
    "the guess is that of one round: does `old = guess` make a copy, or a second name for the same array?":
        lambda counts, queries, epsilon, rounds, rng: RIGHT(counts, queries, epsilon, 1, rng),
    "the scores have lost their absolute value: an answer that is too high is as bad as one that is too low":
        _mwem(score=np.positive),
    "that is the table itself: only the measured answers may be used": lambda counts, *given: counts,
}


def _no_guess(got, right, counts, *given):
    if got.min() < 0 or not np.isclose(got.sum(), counts.sum(), rtol=1e-6):
        return "the guess must be non-negative and add up to the public total"
    return (f"it should be {right.round(1).tolist()}: the worst query's answer moves the guess by the factor "
            "exp(q (answer − q·guess)/(2n)), and the total is restored")


@checker
@looks_for("quotient", "zero", size="replace: both tables have equally many rows",
           empty="replace: both tables have equally many rows", fractions="counts of people are whole",
           negative="counts of people are not negative", missing="counts of people are numbers",
           order="cells come out in a fixed order", own="the scale is given by ε and the rounds")
def syn_mwem(mwem):
    """`mwem(counts, queries, epsilon, rounds, rng)`: multiplicative weights as in the algorithm, last guess."""
    rounds = [(PEOPLE, ASKED, 1e9, rounds, np.random.default_rng(51)) for rounds in (1, 2, 12)]
    on_cases(mwem, rounds, RIGHT, WITHOUT_NOISE, rtol=1e-4, alike=1e-3, what="the guess", otherwise=_no_guess,
             shape=lambda counts, *given: counts.shape,
             show=lambda counts, queries, epsilon, rounds, rng: f"without noise, {rounds} round{'s' * (rounds > 1)}")
    cells = {pair: Numbers(len(pair.one[0]), "cell") for pair in TOWNS}
    looked = battery(mwem, cells.get, TOWNS, mistakes=MISTAKES, right=RIGHT, seed=51)
    _has_laplace_noise(mwem, np.random.default_rng(52))
    _has_noise_in_the_last_round(mwem, np.random.default_rng(58))
    return f"right without noise, and {looked}"


def _has_laplace_noise(mwem, rng):
    """`Wrong` if the measured noise of one query in one round has another size, or is rarely far out."""
    counts, epsilon, runs = np.array([700, 300]), 0.58, 6000
    guess = np.array([answered(mwem, counts, np.array([[1, 0]]), epsilon, 1, rng) for _ in range(runs)], dtype=float)
    noise = 2 * counts.sum() * np.log(guess[:, 0] / guess[:, 1]) + counts.sum() / 2 - counts[0]
    far = np.abs(noise - noise.mean()) > 3 * noise.std()
    if np.mean(far) < 0.0075:                    # 0.0144 for Laplace noise, 0.0027 for normal noise
        raise Wrong("the law of the measurement is not right: its tails fall too fast, like those of normal noise, "
                    "for which no ε holds")
    size, right = float(np.abs(noise).mean()), 2 / epsilon
    if abs(size / right - 1) > 6 / np.sqrt(runs):
        raise Wrong(f"with one round and ε = {epsilon} the noise of a measurement is {size:.2f} on average, its sign "
                    f"left out, and that of Lap(2T/ε) is {right:.2f}: is the scale rounded to a whole number?")


def _second_noises(mwem, rng, runs=1500):
    """Of the guesses that measured two queries, a cell each: the noise of the second, or of the first if it is less.

    The guess does not tell which was the second. It tells all else: the cell that nobody asked for gives the factors.
    """
    counts, queries = np.array([410, 405, 185]), np.eye(3, dtype=int)[:2]
    guess = np.array([answered(mwem, counts.copy(), queries.copy(), 1.0, 2, rng) for _ in range(runs)], dtype=float)
    moves, n = np.log(guess[:, :2] / guess[:, 2:]), counts.sum()
    moves = moves[(np.abs(moves) > 1e-9).all(axis=1)]
    return np.abs(2 * n * moves + n / (np.exp(moves[:, ::-1]) + 2) - counts[:2]).min(axis=1)


def _has_noise_in_the_last_round(mwem, rng):
    mine, right = _second_noises(mwem, rng), _second_noises(RIGHT, np.random.default_rng(59))
    if not len(mine) or stats.ks_2samp(mine, right).pvalue < 1e-7:
        raise Wrong("with two queries and two rounds the noise of the last measurement can be computed from the guess, "
                    f"and has another law than it should (half of the sizes are below {np.median(mine):.2f}, and "
                    f"should be below {np.median(right):.2f}): every measurement needs noise, the last one too")


# ------------------------------------------------------------------------------------------------ attack on a generator

def _auc(high, low):
    return float(np.mean((high[:, None] > low) + 0.5 * (high[:, None] == low)))


def _world(rng, private=False):
    """300 people of eight columns; rows made from the first half: copied with one cell changed, or noisy columns."""
    sizes = np.array([9, 5, 11, 6, 8, 2, 13, 7])
    people = np.column_stack([rng.choice(k, size=300, p=_shares(1 / (1 + np.arange(k)))) for k in sizes])
    members = people[:150]
    if private:
        noisy = [np.maximum(np.bincount(c, minlength=k) + rng.laplace(scale=16, size=k), 0.01)
                 for c, k in zip(members.T, sizes)]
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
        raise Wrong("it points the wrong way: members get the low scores; "
                    "a small distance to some row must give a high score")
    if open_ < 0.7:
        raise Wrong("on a generator that copies rows and changes one cell of each, the area under its curve is below "
                    "0.7: how far is a candidate from the nearest row, counted in cells?")
    if abs(closed - 0.5) > 0.1:
        raise Wrong("it finds members even where the rows came from noisy columns: what it uses is not the rows")
    return ("it finds the members behind copied rows (area above 0.7), "
            "and none behind noisy columns (within 0.1 of one half)")


# ------------------------------------------------------------------------------------------------------ what to measure

SIZES = {"zip": 8, "sex": 2, "decade": 9, "school": 5, "work": 11, "income": 6, "smoker": 2}
QUESTIONS = [{one, other} for one in ("zip", "decade", "work") for other in ("smoker", "sex")]
MOST_CELLS = 350


def _cells(columns):
    return math.prod(SIZES[column] for column in columns)


def _deviations(tables):
    """Standard deviation of a cell of each answer at epsilon = 1: the noise of as many cells as it adds up."""
    def deviation(table, question):
        return 2 * len(tables) * math.sqrt(2 * _cells(table) / _cells(question))

    return [min(deviation(table, question) for table in tables if question <= table) for question in QUESTIONS]


@functools.cache
def _least():
    """The smallest worst deviation: each question goes into one of the tables, so all assignments are tried."""
    best = math.inf
    for assignment in itertools.product(range(len(QUESTIONS)), repeat=len(QUESTIONS)):
        if all(a <= max(assignment[:i], default=-1) + 1 for i, a in enumerate(assignment)):  # each partition once
            tables = [set().union(*(q for q, b in zip(QUESTIONS, assignment) if a == b)) for a in set(assignment)]
            if all(_cells(table) <= MOST_CELLS for table in tables):
                best = min(best, max(_deviations(tables)))
    return best


@checker
def syn_choose(tables):
    """`tables`: lists of columns to measure, of at most 350 cells each, with the smallest worst deviation."""
    tables = [{table} if isinstance(table, str) else set(table) for table in tables]
    if not tables:
        raise NotAttempted
    for table in tables:
        if strange := table - set(SIZES):
            unknown = ", ".join(sorted(map(str, strange)))
            raise Wrong(f"there is no column {unknown}; the columns are {', '.join(SIZES)}")
        if _cells(table) > MOST_CELLS:
            raise Wrong(f"the table of {', '.join(sorted(table))} has {_cells(table):,} cells, more than {MOST_CELLS}")
    for question in QUESTIONS:
        if not any(question <= table for table in tables):
            raise Wrong(f"no table has {', '.join(sorted(question))} together: two tables that share a column "
                        "do not make one with both")
    deviations = _deviations(tables)
    worst = int(np.argmax(deviations))
    if deviations[worst] > _least() * (1 + 1e-9):
        raise Wrong(f"every question is answered, but a cell of ({', '.join(sorted(QUESTIONS[worst]))}) has a standard "
                    f"deviation of {deviations[worst]:.1f}/ε, and {_least():.1f}/ε is possible: of fewer tables each "
                    "gets more of ε, but an answer that adds up w cells has √w times the noise")
    return f"no cell of any answer has a standard deviation above {_least():.1f}/ε"


# ------------------------------------------------------------------------------------------------------------- interval

INTERVALS = [                                    # values, weights, n, size, epsilon
    (np.array([0.0, 1.0]), np.array([0.7, 0.3]), 30_000, 30_000, 0.1),
    (np.array([10.0, 30.0, 50.0, 70.0, 90.0, 110.0]), np.array([0.39, 0.35, 0.15, 0.05, 0.03, 0.03]),
     30_000, 3_000_000, 0.1),
    (np.array([5.0, 6.0, 9.0, 20.0]), np.array([0.1, 0.4, 0.3, 0.2]), 2_000, 500, 0.5),
]


def _width(noise=8.0, drawn=1.0, z=1.96, shifted=True, weighted=False, among_rows=False, add=math.hypot):
    """The half-width, right unless told otherwise: the noise in a cell has the variance `noise`/epsilon²."""
    def width(values, weights, n, size, epsilon):
        off = values - weights @ values
        moves = off if shifted else values
        sampling = math.sqrt(drawn * (weights @ off**2) / size)
        total = math.sqrt(noise * np.sum((weights if weighted else 1) * moves**2)) / epsilon
        return z * add(sampling, total / (size if among_rows else n))

    return width


WIDTHS = {
    "the noise was weighted: it is the same in every cell, full or empty": _width(weighted=True),
    "that is the textbook interval: it knows that rows were drawn and not that the table was noisy": _width(noise=0),
    "that is the noise alone: the rows were drawn too": _width(drawn=0),
    "that is one standard deviation: a 95 % interval reaches 1.96 of them": _width(z=1),
    "the noise is that of scale 1/ε: under replace one person moves two cells, and the scale is 2/ε": _width(noise=2),
    "the noise's variance is taken for its scale squared: Lap(b) has variance 2b²": _width(noise=4),
    "the values were not centred: what the noise adds to the total, it adds to numerator and denominator alike":
        _width(shifted=False),
    "variances add, standard deviations do not": _width(add=lambda *both: sum(both)),
    "the noise was divided by the rows drawn: it is in the table of n rows, however many are drawn":
        _width(among_rows=True),
}


@checker
def syn_interval(half_width):
    """`half_width(values, weights, n, size, epsilon)`: of a 95 % interval for the mean, from rows of a noisy table."""
    on_cases(half_width, INTERVALS, _width(), WIDTHS, rtol=0.025, alike=0.01, what="the half-width",
             show=lambda values, weights, n, size, epsilon: f"n = {n:,}, {size:,} rows, ε = {epsilon:g}",
             otherwise=lambda got, right, *case:
             f"that is too {'narrow' if got < right else 'wide'}, by a factor of {got / right:.2f}")
    return "noise and drawing both counted, in three cases"


# ------------------------------------------------------------------------------------------------------------- critique

@entries("two sentences of seven may stay in the brochure")
def syn_vendor():
    """`answer`: sentence -> True or False."""
    return {
        "nobody": TrueFalse(False, "a row that belongs to nobody can still have been made from somebody: "
                            "what counts is how the rows were made"),
        "million": TrueFalse(True, "rows are drawn from what was released: post-processing, for one row or a million"),
        "relations": TrueFalse(False, "only relations inside a measured table are kept, "
                               "and no table of all columns can be measured well"),
        "intervals": TrueFalse(False, "the software takes the rows for people: it counts the drawing "
                               "and not the noise, and more rows make it worse"),
        "attack": TrueFalse(False, "one attack that fails is one attack; the next may not fail, "
                            "and only a proof speaks of all attacks"),
        "informed": TrueFalse(True, "that is the definition, read as odds: all other rows are the same, "
                              "and yours has one of two values"),
        "anybody": TrueFalse(False, "ε bounds what your own row adds; what the rows teach about all smokers "
                             "they also teach about you, and that may move odds by more than e"),
    }
