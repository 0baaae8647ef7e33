"""Checkers of chapter 5: synthetic data."""
import itertools
import math

import numpy as np

from dplib import mechanisms
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["syn_attack", "syn_choose", "syn_interval", "syn_mwem", "syn_rows", "syn_vendor"]

ROWS = 40_000
NOISY = [52.3, -17.9, 0.0, 8.4, 31.2, -2.6]
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
        got = ask(draw, noisy.copy(), ROWS, rng)
        if got is None:
            raise NotAttempted
        got = np.asarray(got)
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
            "every cell is equally likely: the released counts are not used": np.full(noisy.size, 1 / noisy.size),
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

RUNS, LEVEL = 3000, 1e-6


def _ks(sample, other):
    """Kolmogorov-Smirnov distance of two samples, in units of its critical value at `LEVEL`."""
    both = np.concatenate([sample, other])
    distance = np.abs(np.searchsorted(np.sort(sample), both, "right") / len(sample)
                      - np.searchsorted(np.sort(other), both, "right") / len(other)).max()
    return distance / (math.sqrt(-math.log(LEVEL / 2) / 2) * math.sqrt(1 / len(sample) + 1 / len(other)))


def _exact(counts, queries, rounds):
    """MWEM where noise is negligible and ties do not happen."""
    n, guess = counts.sum(), np.full(counts.size, counts.sum() / counts.size)
    for _ in range(rounds):
        q = queries[np.argmax(np.abs(queries @ (counts - guess)))]
        guess = guess * np.exp(q * (q @ (counts - guess)) / (2 * n))
        guess *= n / guess.sum()
    return guess


def _lean(scale, rounds, *, shared=False, rng=None, size=60_000):
    """Law of ln(guess[0]/guess[1]) after `rounds` rounds with one query, the first of two cells, on counts 700 and 300."""
    lean, noise = np.zeros(size), rng.laplace(scale=scale, size=(rounds, size))
    for i in range(rounds):
        inside = 1000 / (1 + np.exp(-lean))
        lean = lean + (700 + noise[0 if shared else i] - inside) / 2000
    return lean


@checker
def syn_mwem(mwem):
    """`mwem(counts, queries, epsilon, rounds, rng)`: multiplicative weights as in the algorithm, last guess."""
    rng = np.random.default_rng(51)
    counts = np.array([400.0, 70.0, 30.0, 210.0, 90.0, 200.0])
    queries = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 0, 1.0]])
    for rounds in (1, 2, 12):
        given = counts.copy()
        got = ask(mwem, given, queries.copy(), 1e9, rounds, rng)
        if got is None:
            raise NotAttempted
        got, right = np.asarray(got, dtype=float), _exact(counts, queries, rounds)
        if got.shape != counts.shape:
            raise Wrong(f"expected one weight for each of {counts.size} cells, got shape {got.shape}")
        if not np.array_equal(given, counts):
            raise Wrong("it changes the counts that it is given")
        if not np.all(np.isfinite(got)) or got.min() < 0 or not np.isclose(got.sum(), counts.sum(), rtol=1e-6):
            raise Wrong("the guess must be non-negative and add up to the public total")
        if np.allclose(got, right, rtol=1e-4):
            continue
        if rounds > 1 and np.allclose(got, _exact(counts, queries, 1), rtol=1e-4):
            raise Wrong(f"after {rounds} rounds the guess is that of one: does `old = guess` make a copy, or a second name for the same array?")
        if np.allclose(got, counts, rtol=1e-3):
            raise Wrong("that is the table itself: only the measured answers may be used")
        raise Wrong(f"without noise, after {rounds} round{'s' * (rounds > 1)}, the guess is {got.round(1).tolist()} and should be {right.round(1).tolist()}: "
                    "the worst query's answer moves the guess by the factor exp(q (answer − q·guess)/(2n)), and the total is restored")
    _selects(mwem, rng)
    _selects_again(mwem, rng)
    _measures(mwem, rng)
    return f"right without noise, and both halves of the budget are spent as they should be (laws of {RUNS:,} runs)"


def _selects(mwem, rng):
    counts, queries = np.array([30.0, 10.0, 5.0, 15.0]), np.eye(4)[:3]
    gaps = np.abs(queries @ counts - 15)
    chosen = np.zeros(3, dtype=int)
    for _ in range(RUNS):
        guess = np.asarray(ask(mwem, counts.copy(), queries.copy(), 0.8, 1, rng), dtype=float)
        chosen[np.argmax(np.abs(np.log(np.maximum(guess[:3], 1e-300) / max(guess[3], 1e-300))))] += 1

    def law(scores, epsilon):
        return mechanisms.exponential_pmf(scores, sensitivity=1, epsilon=epsilon)

    rivals = {
        "the worst query is chosen without noise: the choice tells about the data too": np.where(gaps == gaps.max(), 1.0, 0.0),
        "a query is chosen blindly: the choice does not look for the worst one (are the scores divided by n, and the sensitivity not?)":
            law(gaps / counts.sum(), 0.4),
        "the choice spends twice its share: each of the two steps of a round gets epsilon/(2 rounds)": law(gaps, 0.8),
        "the choice spends half of its share": law(gaps, 0.2),
        "the scores have lost their absolute value: a query answered too high is as bad as one answered too low": law(queries @ counts - 15, 0.4),
    }
    compare(chosen, law(gaps, 0.4), rivals, lambda i: f"the choice of query {i}, at epsilon = 0.8 and one round,")


def _sets(first, second, *, rng, size=60_000):
    """Law of the set of queries measured in two rounds, on the counts of `_selects`, if the choices spend `first` and `second`."""
    counts, guess, sets = np.array([30.0, 10.0, 5.0, 15.0]), np.full((size, 4), 15.0), np.zeros(size, dtype=int)
    for each in (first, second):
        gaps = np.abs(counts - guess)[:, :3]
        chosen = np.argmax(each * gaps / 2 + rng.gumbel(size=gaps.shape), axis=1)
        at = np.arange(size), chosen
        guess[at] *= np.exp((counts[chosen] + rng.laplace(scale=5, size=size) - guess[at]) / 120)
        guess *= 60 / guess.sum(axis=1, keepdims=True)
        sets |= 1 << chosen
    return np.bincount(sets, minlength=8)[1:7] / size


def _selects_again(mwem, rng):
    counts, queries = np.array([30.0, 10.0, 5.0, 15.0]), np.eye(4)[:3]
    sets, own = np.zeros(6, dtype=int), np.random.default_rng(54)
    for _ in range(RUNS):
        guess = np.asarray(ask(mwem, counts.copy(), queries.copy(), 0.8, 2, rng), dtype=float)
        moved = np.abs(np.log(np.maximum(guess[:3], 1e-300) / max(guess[3], 1e-300))) > 1e-9
        sets[min(max(int(moved @ [1, 2, 4]), 1), 6) - 1] += 1
    rivals = {
        "the choice of every round spends half of the whole budget: with T rounds it gets epsilon/(2T)": _sets(0.4, 0.4, rng=own),
        "only the first choice has noise: in the later rounds the worst query is chosen without": _sets(0.2, 1e9, rng=own),
    }
    compare(sets, _sets(0.2, 0.2, rng=own), rivals, lambda i: f"the queries measured in two rounds, at epsilon = 0.8: set {i + 1}")


def _measures(mwem, rng):
    counts, queries = np.array([700.0, 300.0]), np.array([[1.0, 0.0]])
    for rounds in (1, 4):
        scale = 2 * rounds / 0.05
        got = []
        for _ in range(RUNS):
            guess = np.asarray(ask(mwem, counts.copy(), queries.copy(), 0.05, rounds, rng), dtype=float)
            got.append(np.log(max(guess[0], 1e-300) / max(guess[1], 1e-300)))
        got, own = np.array(got), np.random.default_rng(52)
        if np.ptp(got) < 1e-9:
            raise Wrong("the measured answers have no noise")
        if _ks(got, _lean(scale, rounds, rng=own)) <= 1:
            continue
        rivals = {
            "the noise of a measurement is twice what it must be": _lean(2 * scale, rounds, rng=own),
        }
        if rounds == 1:
            rivals["the noise of a measurement is half of what it must be: selection and measurement share a round's budget"] = _lean(
                scale / 2, 1, rng=own)
        else:
            rivals |= {
                "the same noise serves all rounds: subtract two measured answers and it is gone; draw it anew each time":
                    _lean(scale, rounds, shared=True, rng=own),
                "every round spends the whole budget: with T rounds each gets epsilon/T, half of it for the measurement": _lean(scale / 4, 4, rng=own),
            }
        message, rival = min(rivals.items(), key=lambda item: _ks(got, item[1]))
        if _ks(got, rival) <= 1:
            raise Wrong(message)
        raise Wrong(f"with one query, epsilon = 0.05 and rounds = {rounds} the measured answers do not have Laplace noise of scale {scale:g}")


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
            got = ask(attack, rows.copy(), people[order])
            if got is None:
                raise NotAttempted
            got = np.asarray(got, dtype=float)
            if got.shape != (300,):
                raise Wrong(f"expected a score for each of 300 candidates, got shape {got.shape}")
            if not np.all(np.isfinite(got)):
                raise Wrong("scores must be finite numbers")
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
QUESTIONS = [{"school", "income"}, {"work", "income"}, {"smoker", "decade", "sex"}, {"zip", "smoker"}, {"decade", "work"}, {"zip", "sex"}]
MOST_CELLS = 350


def _cells(columns):
    return math.prod(SIZES[column] for column in columns)


def _fewest():
    """The smallest number of tables that hold all questions: each question goes into one of them, so all assignments are tried."""
    for k in range(1, len(QUESTIONS) + 1):
        for assignment in itertools.product(range(k), repeat=len(QUESTIONS)):
            tables = [set().union(*(q for q, a in zip(QUESTIONS, assignment) if a == i)) for i in range(k)]
            if all(_cells(table) <= MOST_CELLS for table in tables):
                return k
    raise AssertionError


@checker
def syn_choose(tables):
    """`tables`: lists of columns to measure, of at most 350 cells each, as few as possible, that answer all questions."""
    tables = [{table} if isinstance(table, str) else set(table) for table in tables]
    if not tables:
        raise NotAttempted
    for table in tables:
        if table - set(SIZES):
            raise Wrong(f"there is no column {', '.join(sorted(map(str, table - set(SIZES))))}")
        if _cells(table) > MOST_CELLS:
            raise Wrong(f"the table of {', '.join(sorted(table))} has {_cells(table):,} cells, more than {MOST_CELLS}")
    for question in QUESTIONS:
        if not any(question <= table for table in tables):
            raise Wrong(f"nobody measures {', '.join(sorted(question))} together: two tables that share a column do not make one with both")
    if len(tables) > _fewest():
        raise Wrong(f"every question is answered, but {len(tables)} tables share the budget, and {_fewest()} are enough: "
                    "a table of three columns holds the tables of its pairs")
    return "three tables answer six questions, and each gets a third of the budget"


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
        got = ask(half_width, v.copy(), w.copy(), n, size, epsilon)
        if got is None:
            raise NotAttempted
        got = float(got)
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
    "odds": (True, "that is the definition, read as odds: bounded, not zero"),
}


@checker
def syn_vendor(answer):
    """`answer`: sentence -> True or False."""
    answer = dict(answer)
    if answer and all(value is ... for value in answer.values()):
        raise NotAttempted
    if set(answer) != set(VERDICTS):
        raise Wrong(f"expected the sentences {', '.join(VERDICTS)}")
    for name, (verdict, reason) in VERDICTS.items():
        if answer[name] is ...:
            raise Wrong(f"{name}: not attempted yet")
        if not isinstance(answer[name], (bool, np.bool_)):
            raise Wrong(f"{name}: answer True or False, got {answer[name]!r}")
        if bool(answer[name]) != verdict:
            raise Wrong(f"{name}: {reason}")
    return "two sentences of six may stay in the brochure"
