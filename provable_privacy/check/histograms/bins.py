"""Checkers of chapter 5, how many bins."""
import functools
import itertools

import numpy as np

from dplib import mechanisms
from provable_privacy.battery import Choice, Pair, battery
from provable_privacy.speech import Wrong, answered, checker, compare_dict, compare_number, number, numbers

__all__ = ["bins_lattice", "bins_parts", "bins_private", "hist_bins"]


def _risk(m, n, epsilon):
    """The three parts of the expected integrated squared error for the density 1/2 + x on [0, 1], released under replace."""
    edges = np.linspace(0, 1, m + 1)
    squares = np.sum(np.diff(edges / 2 + edges**2 / 2) ** 2)
    return 13 / 12 - m * squares, m / n * (1 - squares), 8 * m**2 / (n * epsilon) ** 2


@checker
def bins_parts(answer):
    """`answer`: the three parts of the risk of ten bins, 1,000 people and epsilon = 0.1 under replace."""
    right = dict(zip(("coarse", "sampling", "privacy"), map(float, _risk(10, 1000, 0.1))))
    known = {
        "coarse": {1 / 1200 * 10: "a bin of width 1/m deviates by at most 1/(2m); its mean square is 1/(12 m²)"},
        "sampling": {0.01: "that is m/n; take off m/n times the sum of the squares of the p's"},
        "privacy": {right["privacy"] / 4: "noise 1/epsilon is for add/remove; here it is 2/epsilon",
                    right["privacy"] / 2: "the variance of Lap(b) is 2b²",
                    right["privacy"] / 10: "there are m noises, each with height m, on a width of 1/m: m² in all"},
    }

    def why(name, said):
        return next((words for value, words in known[name].items() if np.isclose(said, value, rtol=2e-3)), "")

    compare_dict(answer, right, why, tolerance=0, relative=5e-3)
    return "and the noise is nearly all of it"


@checker
def hist_bins(choose):
    """`choose(n, epsilon)`: a number of bins for the density 1/2 + x on [0, 1] whose exact risk is within 2 % of the best."""
    for n, epsilon in ((1000, 0.1), (1000, 1.0), (100_000, 0.01), (1_000_000, 1.0), (20, 0.1), (100_000, 0.065)):
        case = f"for n={n:,}, epsilon={epsilon:g}"
        m = number(answered(choose, n, epsilon), f"{case} the number of bins", whole=True)
        if not 1 <= m <= 10**6:
            raise Wrong(f"{case} expected a number of bins, at least 1, got {m:g}")
        risks = np.array([_risk(k, n, epsilon) for k in range(1, 401)])
        here, best, at = sum(_risk(int(m), n, epsilon)), risks.sum(axis=1).min(), int(np.argmin(risks.sum(axis=1))) + 1
        if here <= 1.02 * best:
            continue
        without_noise = int(np.argmin(risks[:, :2].sum(axis=1))) + 1
        without_sampling = int(np.argmin(risks[:, [0, 2]].sum(axis=1))) + 1
        much = f"{case} {int(m)} bins have {here / best:.2f} times the risk of the best"
        if abs(m - without_noise) <= 1 and without_noise != at:
            raise Wrong(f"{much}: that would be right without privacy; the noise adds 8 m²/(n epsilon)²")
        if abs(m - without_sampling) <= 1 and without_sampling != at:
            raise Wrong(f"{much}: that would be right if the noise were all; sampling adds about m/n")
        raise Wrong(f"{much}: too {'many, sample and noise cost more than the slope' if m > at else 'few, they hide the slope'}")
    return "within 2 % of the best risk, in all six cases"


# -------------------------------------------------------------------------------------------------------------- a private choice

def _scores(values, candidates, release, fit=1.0, noise=8.0, low=0.0, high=1.0):
    n, place, out = len(values), (np.asarray(values) - low) / (high - low), []
    for m in candidates:
        counts = np.bincount(np.minimum((place * m).astype(int), m - 1), minlength=m)
        out.append(-fit * (2 * m - (n + 1) * m * (counts @ counts) / n**2) / (n - 1) - noise * (m / (n * release)) ** 2)
    return np.array(out)


def _plug_in(values, candidates, release):
    n, ms = len(values), np.array(candidates)
    return (_scores(values, candidates, release, noise=0.0) * (n - 1) + ms) / n - 8 * (ms / (n * release)) ** 2


@functools.cache
def _with(step=lambda n, ms: 2 * (n + 1) * max(ms) / n**2, score=_scores, spend=lambda epsilon, release: (epsilon, release), pick=mechanisms.exponential):
    """A choice, right unless told otherwise."""
    def wrong(values, candidates, epsilon, release, rng):
        epsilon, release = spend(epsilon, release)
        scores = score(values, candidates, release)
        return candidates[pick(scores, sensitivity=step(len(values), candidates), epsilon=epsilon, rng=rng)]

    return wrong


def _best(scores, **settings):
    return int(np.argmax(scores))


def _noisy_max(scores, *, sensitivity, epsilon, rng):
    return int(np.argmax(scores + 2 * sensitivity / epsilon * rng.gumbel(size=len(scores))))


def _of_the_data(values, candidates, release):
    low, high = values.min(), values.max()
    return _scores(values, candidates, release, low=low, high=high if high > low else low + 1)


MISTAKES = {
    "the sensitivity lacks the factor m: a row moves the score of m bins by m times as much, and the finest counts": _with(lambda n, ms: 2 * (n + 1) / n**2),
    "the sensitivity is that of the coarsest candidate: a row moves the score of the finest most": _with(lambda n, ms: 2 * (n + 1) * min(ms) / n**2),
    "the sensitivity is that of the last candidate: the finest sets the price, and need not come last":
        _with(lambda n, ms: 2 * (n + 1) * ms[-1] / n**2),
    "the sensitivity is that of the sum of squares: the score multiplies it by (n + 1)/(n - 1), three times as much for two people":
        _with(lambda n, ms: 2 * (n - 1) * max(ms) / n**2),
    "the sensitivity is 2m/n, and a row moves the score by (n + 1)/n times as much: for two people half as much again":
        _with(lambda n, ms: 2 * max(ms) / n),
    "the sensitivity is that of the middle candidate: the finest sets the price": _with(lambda n, ms: 2 * (n + 1) * np.median(ms) / n**2),
    "each score is divided by its own sensitivity: two of them can then differ by more than twice the price":
        _with(lambda n, ms: 1.0, score=lambda values, ms, release: _scores(values, ms, release) / (2 * (len(values) + 1) * np.array(ms) / len(values) ** 2)),
    "private, but the sensitivities of all candidates are added up: the exponential mechanism pays once, for the finest":
        _with(lambda n, ms: 2 * (n + 1) * sum(ms) / n**2),
    "each score has noise for its own sensitivity: that of the finest candidate moves most, and the small noise of the others does not hide it":
        _with(lambda n, ms: 2 * (n + 1) * np.array(ms) / n**2, pick=_noisy_max),
    "the best score wins without noise, or with too little to see (epsilon_release is not for the choice): a neighbour whose best is another hardly gives it":
        _with(pick=_best),
    "half of the price is missing: a row moves the score by 2(n + 1)m/n², and up or down, so the weights are exp(epsilon score/(2 sensitivity))":
        _with(lambda n, ms: (n + 1) * max(ms) / n**2),
    "private, but at half of epsilon": _with(spend=lambda epsilon, release: (epsilon / 2, release)),
    "private, but the scores are those of the risk itself: a good number of bins must have a high score": _with(
        score=lambda *arguments: -_scores(*arguments)),
    "private, but the noise of the table is left out of the score: 8 m²/(n epsilon_release)²": _with(score=lambda *a: _scores(*a, noise=0.0)),
    "private, but the noise in the score is that of add/remove: under replace a table costs 8 m²/(n epsilon_release)²":
        _with(score=lambda *a: _scores(*a, noise=2.0)),
    "private, but the score is that of a table at epsilon: the table will be published at epsilon_release": _with(
        spend=lambda epsilon, release: (epsilon, epsilon)),
    "private, but the squared shares count everybody as their own pair: the score has the pairs of two different people": _with(score=_plug_in),
    "private, but the fit is left out of the score": _with(score=lambda *a: _scores(*a, fit=0.0)),
    "private, but it does not look at the data: a lottery among the candidates": _with(lambda n, ms: 1e9),
    "private, but the score is that of a table at both epsilons together: the table will be published at epsilon_release": _with(
        spend=lambda epsilon, release: (epsilon, epsilon + release)),
    "the two epsilons are exchanged": _with(spend=lambda epsilon, release: (release, epsilon)),
    "the bins end at the smallest and the largest value, which are two people; the ends are 0 and 1": _with(score=_of_the_data),
}


def _pair(what, values, moved, candidates, epsilon, release, runs=400, **settings):
    """`values`, and the same with the last rows replaced."""
    one = np.array(values, dtype=float)
    two = np.concatenate([one[:len(one) - len(moved)], moved])
    return Pair(what, (one, list(candidates), epsilon, release), (two, list(candidates), epsilon, release),
                ((len(moved) * epsilon, 0.0),) if len(moved) else (), runs=runs, **settings)


STEEP = np.repeat([0.99, 1.0], [30, 270])
EVEN = (np.arange(300) + 0.5) / 300
PAIRS = [
    _pair("two people in one place / one of them elsewhere", [0.1, 0.1], [0.9], (1, 8), 0.3, 50.0, runs=1000, watch=(1, 8)),
    _pair("two people in one place / two far from each other", [0.9, 0.9], [0.1], (8, 1), 4.0, 50.0, runs=1000, law=True),
    _pair("three people in three places / two of them in one", [0.1, 0.5, 0.9], [0.5], (1, 3), 0.1, 0.29, runs=1500, watch=(1, 3)),
    _pair("300 people who share a 40th / ten moved, so that all share a 39th", 290 * [0.505] + 10 * [0.52], 10 * [0.495], (40, 39), 0.2, 0.043, runs=3200,
          often=({40: 0.2, 39: 0.2}, {}), law=True, watch=(40, 39)),           # a right choice is nearly a coin on the first
    _pair("110 people who share a 40th / five moved, so that all share a 39th", 105 * [0.505] + 5 * [0.52], 5 * [0.495], (*range(1, 9), 40, 39), 0.2, 50.0,
          law=True, watch=(40, 39)),
    _pair("ten people within a tenth / the last of them at the far end", list(np.linspace(0.45, 0.55, 10)), [1.0], (1, 3, 5), 3.0, 0.5, runs=600),
    _pair("300 people crowded at the upper end / the same", STEEP, [], (2, 5, 40), 4.0, 2.0, runs=200, often=({40: 0.9}, {40: 0.9})),
    _pair("300 people spread evenly, a poor table / the same", EVEN, [], (1, 30), 3.0, 0.1, runs=200, often=({1: 0.97}, {1: 0.97})),
    _pair("two people who share a 40th / who share a 39th", [0.505, 0.52], [0.495], (40, 39), 2.4, 1.4, runs=9500, watch=(40, 39)),
]


@checker
def bins_private(choose):
    """`choose(values, candidates, epsilon, epsilon_release, rng)`: one of the candidates by the exponential mechanism, under replace."""
    return battery(choose, lambda pair: Choice(tuple(pair.one[1]), "the number of bins"), PAIRS, mistakes=MISTAKES, right=_with(), seed=54)


# -------------------------------------------------------------------------------------------------------------- a law over tables

def _loss_and_error(counts, epsilon, normalised=True, ways=(1, -1)):
    n, k = sum(counts), len(counts)
    tables = np.array([(*t, n - sum(t)) for t in itertools.product(range(n + 1), repeat=k - 1) if sum(t) <= n])

    def logs(c):
        scores = -epsilon * np.abs(tables - c).sum(axis=1) / 4
        return scores - np.log(np.exp(scores).sum()) * normalised

    here, step = logs(np.array(counts)), np.eye(k, dtype=int)
    loss = max((way * (here - logs(counts - step[a] + step[b]))).max() for way in ways for a in range(k) for b in range(k) if counts[a] and a != b)
    law = np.exp(here) / np.exp(here).sum()
    return float(loss), float(law @ np.abs(tables - counts).sum(axis=1))


@checker
def bins_lattice(law_of_tables):
    """`law_of_tables(counts, epsilon)`: the largest privacy loss against a neighbour, and the mean L1 error, of exp(-epsilon |h - c|/4)."""
    for counts, epsilon in (([3, 1], 1.0), ([5, 3, 2], 1.0), ([0, 12, 0], 2.0), ([4, 4, 4, 4], 0.5)):
        got = numbers(answered(law_of_tables, list(counts), epsilon), (2,), f"for {counts}, epsilon={epsilon:g}: loss and error")
        loss, error = _loss_and_error(counts, epsilon)
        why = {
            epsilon: "that is the bound; the exact loss is smaller, because not all of it is used",
            _loss_and_error(counts, epsilon, normalised=False)[0]: "the two laws have normalising constants of their own, and they differ",
            **{_loss_and_error(counts, epsilon, ways=(way,))[0]: "that is the largest over some neighbours or one direction: take every neighbour, and both"
               for way in (1, -1)},
            _loss_and_error(counts, 2 * epsilon)[0]: "the weights are exp(-epsilon |h - c|/4): 2 is the sensitivity, and 2 more the mechanism's",
        }
        compare_number(got[0], loss, f"the loss for {counts} at epsilon={epsilon:g}",
                       lambda said, why=why: next((f"not {said:.4f}; {words}" for value, words in why.items() if np.isclose(said, value, rtol=1e-4)), ""))
        compare_number(got[1], error, f"the mean error for {counts} at epsilon={epsilon:g}", "weigh the distance of each table by its probability")
    return "exact, on four tables"
