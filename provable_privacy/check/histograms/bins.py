"""Checkers of chapter 5, how many bins."""
import functools
import itertools

import numpy as np

from provable_privacy.battery import Choice, Pair, battery, looks_for
from provable_privacy.entries import Number, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import checker

__all__ = ["bins_lattice", "bins_parts", "bins_private", "hist_bins"]


ONE = "one number of bins comes out"

# ------------------------------------------------------------------------------------------------------------- the risk

def _risk(m, n, epsilon):
    """Three parts of the expected integrated squared error for the density 1/2 + x on [0, 1], under replace."""
    edges = np.linspace(0, 1, m + 1)
    squares = np.sum(np.diff(edges / 2 + edges**2 / 2) ** 2)
    return 13 / 12 - m * squares, m / n * (1 - squares), 8 * m**2 / (n * epsilon) ** 2


@entries("and the noise is nearly all of it")
def bins_parts():
    """`answer`: the three parts of the risk of ten bins, 1,000 people and epsilon = 0.1 under replace."""
    coarse, sampling, privacy = map(float, _risk(10, 1000, 0.1))
    near = {"tolerance": 0, "relative": 5e-3}
    return {
        "coarse": Number(coarse, mistakes={
            "a bin of width 1/m deviates by at most 1/(2m); its mean square is 1/(12 m²)": 10 * coarse}, **near),
        "sampling": Number(sampling, mistakes={
            "{said} is m/n; take off m/n times the sum of the squares of the p's": 10 / 1000}, **near),
        "privacy": Number(privacy, mistakes={
            "noise 1/epsilon is for add/remove; here it is 2/epsilon": privacy / 4,
            "the variance of Lap(b) is 2b²": privacy / 2,
            "there are m noises, each with height m, on a width of 1/m: m² in all": privacy / 10}, **near),
    }


CASES = [(1000, 0.1), (1000, 1.0), (100_000, 0.01), (1_000_000, 1.0), (20, 0.1), (100_000, 0.065)]
FORGOTTEN = {                                    # words -> the parts that are left
    "that would be right if there were only noise; sampling adds about m/n": (0, 2),
    "that would be right without privacy; the noise adds 8 m²/(n epsilon)²": (0, 1),
}


@functools.cache
def _best(n, epsilon, parts=(0, 1, 2)):
    """The number of bins with the smallest sum of these parts of the risk."""
    return 1 + int(np.argmin([sum(_risk(m, n, epsilon)[part] for part in parts) for m in range(1, 401)]))


def _times(m, n, epsilon):
    """How many times the smallest risk."""
    return sum(_risk(int(m), n, epsilon)) / sum(_risk(_best(n, epsilon), n, epsilon))


def _possible(m):
    return 1 <= m <= 10**6


def _why_not(m, best, n, epsilon):
    if not _possible(m):
        return "expected at least 1 bin, and at most a million"
    reason = "too many, sampling and noise cost more than the slope" if m > best else "too few, they hide the slope"
    for words, parts in FORGOTTEN.items():
        if abs(m - _best(n, epsilon, parts)) <= 1 and _best(n, epsilon, parts) != best:
            reason = words
    return f"{m:g} bins have {_times(m, n, epsilon):.2f} times the risk of the best: {reason}"


@checker
def hist_bins(choose):
    """`choose(n, epsilon)`: a number of bins for the density 1/2 + x on [0, 1] with a risk within 2 % of the best."""
    on_cases(choose, CASES, _best, whole=True, what="the number of bins", otherwise=_why_not,
             show=lambda n, epsilon: f"n = {n:,}, epsilon = {epsilon:g}",
             accepts=lambda m, best, *case: _possible(m) and _times(m, *case) <= 1.02)
    return "within 2 % of the best risk, in all six cases"


# ----------------------------------------------------------------------------------------------------- a private choice

def _scores(values, candidates, release, fit=1.0, noise=8.0, low=0.0, high=1.0):
    n, place, out = len(values), (np.asarray(values) - low) / (high - low), []
    for m in candidates:
        counts = np.bincount(np.minimum((place * m).astype(int), m - 1), minlength=m)
        fitting = (2 * m - (n + 1) * m * (counts @ counts) / n**2) / (n - 1)
        out.append(-fit * fitting - noise * (m / (n * release)) ** 2)
    return np.array(out)


def _without_pairs(values, candidates, release):
    n, ms = len(values), np.array(candidates)
    return (_scores(values, candidates, release, noise=0.0) * (n - 1) + ms) / n - 8 * (ms / (n * release)) ** 2


def _by_own_step(values, candidates, release):
    return _scores(values, candidates, release) / (2 * (len(values) + 1) * np.array(candidates) / len(values) ** 2)


def _of_the_data(values, candidates, release):
    low, high = values.min(), values.max()
    return _scores(values, candidates, release, low=low, high=high if high > low else low + 1)


@functools.cache
def _kept(score, values, candidates, release):
    """The scores of a table: the tables are few, and each is asked about a thousand times."""
    return score(np.frombuffer(values), candidates, release)


def _exponential(scores, sensitivity, epsilon, rng):
    """The largest of scores with Gumbel noise has the law of the exponential mechanism."""
    return int(np.argmax(scores + 2 * sensitivity / epsilon * rng.gumbel(size=len(scores))))


def _first(scores, *settings):
    return int(np.argmax(scores))


def _with(finest=max, row=lambda n: 2 * (n + 1) / n**2, score=_scores, spend=lambda *epsilons: epsilons,
          pick=_exponential):
    """A choice, right unless told otherwise; a row moves the score of m bins by `row(n)` times m."""
    def wrong(values, candidates, epsilon, release, rng):
        epsilon, release = spend(epsilon, release)
        scores = _kept(score, values.tobytes(), tuple(candidates), release)
        return candidates[pick(scores, row(len(values)) * finest(candidates), epsilon, rng)]

    return wrong


def _scored(**changes):
    return _with(score=functools.partial(_scores, **changes))


RIGHT = _with()
MISTAKES = {
    "the sensitivity lacks the factor m: a row moves the score of m bins by m times as much, and the finest counts":
        _with(lambda ms: 1),
    "the sensitivity is that of the coarsest candidate: a row moves the score of the finest candidate most": _with(min),
    "the sensitivity is that of the last candidate: the finest candidate decides, and it need not come last":
        _with(lambda ms: ms[-1]),
    "the sensitivity is that of the middle candidate: the finest candidate decides": _with(np.median),
    "the sensitivity is that of the sum of squares: the score multiplies it by (n + 1)/(n - 1), 3 for two people":
        _with(row=lambda n: 2 * (n - 1) / n**2),
    "the sensitivity is 2m/n, but a row moves the score by (n + 1)/n times as much, which is 1.5 times for two people":
        _with(row=lambda n: 2 / n),
    "the sensitivity is half of what it must be: a row moves the score by 2(n + 1)m/n², up or down":
        _with(row=lambda n: (n + 1) / n**2),
    "private, but each score is divided by its own sensitivity: the candidates are then judged on different scales":
        _with(lambda ms: 1, lambda n: 1, _by_own_step),
    "each score has noise for its own sensitivity: that of the finest candidate moves most, and the small noise of the "
    "others does not hide it": _with(np.array),
    "private, but the sensitivities of all candidates are added up: the exponential mechanism needs only the largest":
        _with(sum),
    "private, but it does not look at the data: it draws one of the candidates at random": _with(lambda ms: 1e9),
    "the best score wins without noise, or with too little to see (epsilon_release is not for the choice): "
    "a neighbour whose best is another hardly gives it": _with(pick=_first),
    "private, but at half of epsilon": _with(spend=lambda epsilon, release: (epsilon / 2, release)),
    "the two epsilons are exchanged": _with(spend=lambda epsilon, release: (release, epsilon)),
    "private, but the score is that of a table at epsilon: the table will be published at epsilon_release":
        _with(spend=lambda epsilon, release: (epsilon, epsilon)),
    "private, but the score is that of a table at both epsilons: the table will be published at epsilon_release":
        _with(spend=lambda epsilon, release: (epsilon, epsilon + release)),
    "private, but the scores are those of the risk itself: a good number of bins must have a high score":
        _with(score=lambda *arguments: -_scores(*arguments)),
    "private, but the noise of the table is left out of the score: 8 m²/(n epsilon_release)²": _scored(noise=0.0),
    "private, but the noise in the score is that of add/remove: under replace a table costs 8 m²/(n epsilon_release)²":
        _scored(noise=2.0),
    "private, but the fit is left out of the score": _scored(fit=0.0),
    "private, but the squared shares also pair everybody with themselves: the score has pairs of two different people":
        _with(score=_without_pairs),
    "the bins end at the smallest and the largest value, which are two people; the ends are 0 and 1":
        _with(score=_of_the_data),
}


def _pair(what, values, moved, candidates, epsilon, release, runs=400, **settings):
    """`values`, and the same with the last rows replaced."""
    one = np.array(values, dtype=float)
    two = np.concatenate([one[:len(one) - len(moved)], moved])
    claims = ((len(moved) * epsilon, 0.0),) if len(moved) else ()
    one, two = ((table, list(candidates), epsilon, release) for table in (one, two))
    return Pair(what, one, two, claims, runs=runs, **settings)


def _tied(n, epsilon, **settings):
    """Two candidates with scores that are nearly equal: one person decides which of them is the better."""
    values = [0.0, 1.0, *(n - 3) * [0.505], 0.512]           # all but two share a 60th; if the last moves, a 59th
    gaps = [np.subtract(*_scores(np.array([*values[:-1], last]), (60, 59), np.inf)) for last in (0.512, 0.495)]
    release = np.sqrt(8 * (60**2 - 59**2) / np.mean(gaps)) / n
    return _pair(f"{n} people, two numbers of bins as good / the last moved, one is better", values, [0.495],
                 (1, 60, 59), epsilon, release, **settings)


STEEP = np.repeat([0.99, 1.0], [30, 270])
EVEN = (np.arange(300) + 0.5) / 300
PAIRS = [
    _pair("two people in one place / one of them elsewhere", [0.1, 0.1], [0.9], (1, 8), 0.3, 50.0, runs=1000,
          watch=(1, 8)),
    _pair("two people in one place / two far from each other", [0.9, 0.9], [0.1], (8, 1), 4.0, 50.0, runs=1000,
          law=True),
    _pair("three people in three places / two of them in one", [0.1, 0.5, 0.9], [0.5], (1, 3), 0.1, 0.29, runs=1500,
          watch=(1, 3)),
    _pair("300 people who share a 40th / ten moved, so that all share a 39th", 290 * [0.505] + 10 * [0.52],
          10 * [0.495], (40, 39), 0.2, 0.043, runs=3200, often=({40: 0.2, 39: 0.2}, {}), law=True,
          watch=(40, 39)),                       # a right choice is nearly a coin on the first
    _pair("110 people who share a 40th / five moved, so that all share a 39th", 105 * [0.505] + 5 * [0.52], 5 * [0.495],
          (*range(1, 9), 40, 39), 0.2, 50.0, law=True, watch=(40, 39)),
    _pair("ten people within a tenth / the last of them at the far end", np.linspace(0.45, 0.55, 10), [1.0],
          (1, 3, 5), 3.0, 0.5, runs=600),
    _pair("300 people crowded at the upper end / the same", STEEP, [], (2, 5, 40), 4.0, 2.0, runs=200,
          often=({40: 0.9}, {40: 0.9})),
    _pair("300 people spread evenly, a poor table / the same", EVEN, [], (1, 30), 3.0, 0.1, runs=200,
          often=({1: 0.97}, {1: 0.97})),
    _pair("two people who share a 40th / who share a 39th", [0.505, 0.52], [0.495], (40, 39), 2.4, 1.4, runs=14_000,
          watch=(40, 39)),
    _pair("two who share a 40th, ε = 9 / who share a 39th", [0.505, 0.52], [0.495], (40, 39), 9.0, 2.85, runs=2500,
          law=True),
    _pair("300 people who share a 40th, ε = 0.02 / 100 moved, so that all share a 39th", 200 * [0.505] + 100 * [0.52],
          100 * [0.495], (40, 39), 0.02, 0.0195, runs=3000, watch=(40, 39)),
    *(_tied(n, 0.4) for n in (5, 30, 400)),
]


@checker
@looks_for("far", "own", size="a row is replaced", empty="the score needs two people",
           contents="each row is one number", negative="values lie in [0, 1]", missing="values lie in [0, 1]",
           order=ONE, shared=ONE, zero=ONE)
def bins_private(choose):
    """`choose(values, candidates, epsilon, epsilon_release, rng)`: a candidate, by the exponential mechanism."""
    def form(pair):
        return Choice(tuple(pair.one[1]), "the number of bins")

    return battery(choose, form, PAIRS, mistakes=MISTAKES, right=RIGHT, seed=54)


# ---------------------------------------------------------------------------------------------------- a law over tables

LATTICES = [([3, 1], 1.0), ([5, 3, 2], 1.0), ([0, 12, 0], 2.0), ([4, 4, 4, 4], 0.5)]


def _loss_and_error(counts, epsilon, normalised=True, ways=(1, -1)):
    n, k = sum(counts), len(counts)
    tables = np.array([(*t, n - sum(t)) for t in itertools.product(range(n + 1), repeat=k - 1) if sum(t) <= n])

    def logs(c):
        scores = -epsilon * np.abs(tables - c).sum(axis=1) / 4
        return scores - np.log(np.exp(scores).sum()) * normalised

    here, moves = logs(np.array(counts)), [b - a for a, b in itertools.permutations(np.eye(k, dtype=int), 2)]
    neighbours = [counts + move for move in moves if (counts + move).min() >= 0]
    loss = max((way * (here - logs(other))).max() for way in ways for other in neighbours)
    law = np.exp(here) / np.exp(here).sum()
    return float(loss), float(law @ np.abs(tables - counts).sum(axis=1))


LATTICE_MISTAKES = {
    "the loss is not epsilon: that is a bound, and the exact loss is smaller":
        lambda counts, epsilon: (epsilon, _loss_and_error(counts, epsilon)[1]),
    "the two laws have normalising constants of their own, and these differ":
        lambda counts, epsilon: _loss_and_error(counts, epsilon, normalised=False),
    "this is the largest loss where the table is likelier than a neighbour; take every neighbour, and both directions":
        lambda counts, epsilon: _loss_and_error(counts, epsilon, ways=(1,)),
    "this is the largest loss where a neighbour is likelier than the table; take every neighbour, and both directions":
        lambda counts, epsilon: _loss_and_error(counts, epsilon, ways=(-1,)),
    "the weights are exp(-epsilon |h - c|/4): one factor 2 is the sensitivity, the other is that of the mechanism":
        lambda counts, epsilon: _loss_and_error(counts, 2 * epsilon),
}


def _part(got, right, counts, epsilon):
    if abs(got[0] - right[0]) > 1e-3:
        return "the first number, the loss, is not right"
    return "the loss is right; for the error weigh the distance of each table by its probability"


@checker
def bins_lattice(law_of_tables):
    """`law_of_tables(counts, epsilon)`: largest loss to a neighbour and mean L1 error of exp(-epsilon |h - c|/4)."""
    on_cases(law_of_tables, LATTICES, _loss_and_error, LATTICE_MISTAKES, rtol=0, atol=1e-3, otherwise=_part,
             shape=lambda *case: (2,), what="loss and error")
    return "exact, on four tables"
