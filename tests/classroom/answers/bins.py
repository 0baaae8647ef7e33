"""The checkers of the section on the number of bins."""
import functools
import itertools

import checking
import numpy as np
from scipy.optimize import brentq

from dplib import histograms, mechanisms
from provable_privacy import check
from provable_privacy.battery.makers import each_call, fixed_seed, given, own_luck, where

PARTS = {"coarse": 1 / 1200, "sampling": 0.01 * (1 - (13 / 12 - 1 / 1200) / 10), "privacy": 0.08}


def bins(*, sampling=1.0, noise=1.0):
    def function(n, epsilon):
        m = np.arange(1, 401)
        return int(m[np.argmin(1 / (12 * m**2) + sampling * m / n + noise * 8 * m**2 / (n * epsilon) ** 2)])

    return function


def calculus(n, epsilon):
    """The zero of the derivative, rounded: no bin at all for a small table."""
    return round(brentq(lambda m: 16 * m / (n * epsilon) ** 2 + 1 / n - 1 / (6 * m**3), 1e-3, 1e4))


def by_hand(n, epsilon):
    """The smaller of the two numbers that are right without privacy and without sampling."""
    return max(1, round(min((n * epsilon) ** 0.5 / 96**0.25, (n / 6) ** (1 / 3))))


def fit_of_pairs(n, m, squares):
    return (2 * m - (n + 1) * m * squares) / (n - 1)


def plug_in(n, m, squares):
    return m / n * (1 - squares) - m * squares


@functools.cache
def risks(values, candidates, release, noise, below, fit):
    """Of a table, given as bytes: a battery asks for the same few tables thousands of times."""
    values, out = np.frombuffer(values), []
    for m in candidates:
        now = np.histogram(values[below(values, 1)], bins=np.linspace(0, 1, m + 1))[0] / len(values)
        out.append(fit(len(values), m, np.sum(now**2)) + noise * (m / (len(values) * release)) ** 2)
    return np.array(out)


def choice(finest=max, row=lambda n: 2 * (n + 1) / n**2, *, pick=mechanisms.exponential, noise=8.0, sign=-1,
           below=np.less_equal, fit=fit_of_pairs):
    """A learner's private number of bins, right unless told otherwise."""
    def function(values, candidates, epsilon, epsilon_release, rng):
        scores = sign * risks(values.tobytes(), tuple(candidates), epsilon_release, noise, below, fit)
        return candidates[pick(scores, sensitivity=row(len(values)) * finest(candidates), epsilon=epsilon, rng=rng)]

    return function


def exact(scores, *, sensitivity, epsilon, rng):
    return int(np.argmax(scores))


def flip(scores, **settings):
    return mechanisms.report_noisy_max(scores, noise="exponential", **settings)


def gumbel(scores, *, sensitivity, epsilon, rng):
    return int(np.argmax(scores + rng.gumbel(scale=2 * sensitivity / epsilon, size=len(scores))))


def own_price(scores, *, sensitivity, epsilon, rng):
    return mechanisms.exponential(scores / sensitivity, sensitivity=1, epsilon=epsilon, rng=rng)


def sure_of_a_lead(scores, *, sensitivity, epsilon, rng):
    """The best without noise, if its lead is large for the noise that it should have."""
    second, first = np.sort(scores)[-2:]
    pick = exact if (first - second) * epsilon > 2 * 3 * sensitivity else gumbel
    return pick(scores, sensitivity=sensitivity, epsilon=epsilon, rng=rng)


def once():
    """Draws the noise of each candidate in the first call, and keeps it."""
    kept = {}

    def pick(scores, *, sensitivity, epsilon, rng):
        noise = kept.setdefault(len(scores), rng.gumbel(size=len(scores)))
        return int(np.argmax(scores + 2 * sensitivity / epsilon * noise))

    return pick


def library(values, candidates, epsilon, epsilon_release, rng):
    return histograms.choose_bins(values, candidates=candidates, low=0, high=1, epsilon=epsilon,
                                  epsilon_release=epsilon_release, rng=rng)


def of_these_people(values, candidates, epsilon, epsilon_release, rng):
    """The most that one of these people can move a score, in place of the most that anybody can."""
    step = steps(values.tobytes(), tuple(candidates))
    return choice(lambda ms: step, lambda n: 1)(values, candidates, epsilon, epsilon_release, rng)


@functools.cache
def steps(values, candidates):
    values, step = np.frombuffer(values), 1e-9
    n = len(values)
    for m in candidates:
        now = np.histogram(values, bins=np.linspace(0, 1, m + 1))[0]
        moves = [abs(2 * (now[b] - now[a] + 1)) for a in np.flatnonzero(now) for b in range(m) if a != b]
        step = max([step, *((n + 1) * m / ((n - 1) * n**2) * np.array(moves))])
    return step


def to_the_ends(values):
    """The smallest value becomes 0, and the largest 1."""
    return (values - values.min()) / max(np.ptp(values), 1e-9)


def tables_law(share=4, normalised=True, error=1.0, ways=(1, -1), moves=None):
    """Loss and error over all tables, right unless told otherwise."""
    def function(counts, epsilon):
        n, k = sum(counts), len(counts)
        tables = np.array([t for t in itertools.product(range(n + 1), repeat=k) if sum(t) == n])

        def law(c):
            weights = np.exp(-epsilon * np.abs(tables - c).sum(axis=1) / share)
            return weights / (weights.sum() if normalised else 1)

        here, loss = law(np.array(counts)), 0
        for a, b in moves or itertools.permutations(range(k), 2):
            if counts[a]:
                other = np.array(counts)
                other[a], other[b] = other[a] - 1, other[b] + 1
                ratio = np.log(here / law(other))
                loss = max(loss, *((way * ratio).max() for way in ways))
        return loss, error * (here / here.sum() @ np.abs(tables - counts).sum(axis=1))

    return function


CHOICE, BEST = choice(), choice(pick=exact)

SOLUTIONS = [
    (check.hist_bins, lambda seed: bins()),
    (check.bins_private, own_luck(CHOICE)),
    (check.bins_lattice, lambda seed: tables_law()),
    (check.bins_parts, lambda seed: PARTS),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.hist_bins, bins(noise=0.0), "right without privacy"),
    (check.hist_bins, bins(sampling=0.0), "if there were only noise"),
    (check.hist_bins, lambda n, epsilon: 10, "too"),
    (check.hist_bins, lambda n, epsilon: 2.5, "whole number"),
    (check.hist_bins, lambda n, epsilon: 0, "at least 1"),
    (check.hist_bins, lambda n, epsilon: "ten", "expected a number"),
    (check.hist_bins, lambda n, epsilon: print(end=""), "return"),
    (check.hist_bins, calculus, "not 0"),
    (check.hist_bins, by_hand, "right without privacy"),
    (check.hist_bins, lambda n, epsilon: bins()(n, epsilon) if n < 10**6 else 200, "sampling and noise cost more"),
    (check.bins_parts, {**PARTS, "coarse": 1 / 120}, "mean square"),
    (check.bins_parts, {**PARTS, "sampling": 0.01}, "take off"),
    (check.bins_parts, {**PARTS, "privacy": 0.02}, "add/remove"),
    (check.bins_parts, {**PARTS, "privacy": 0.04}, "2b²"),
    (check.bins_parts, {**PARTS, "privacy": 0.008}, "m² in all"),
    (check.bins_parts, {"coarse": 1}, "missing"),
    (check.bins_private, choice(lambda ms: 1), "lacks the factor m"),
    (check.bins_private, choice(min), "coarsest"),
    (check.bins_private, choice(lambda ms: ms[-1]), "need not come last"),
    (check.bins_private, choice(np.median), "middle candidate"),
    (check.bins_private, choice(row=lambda n: 2 * (n - 1) / n**2), "(n + 1)/(n - 1)"),
    (check.bins_private, choice(row=lambda n: 2 / n), "the sensitivity is 2m/n"),
    (check.bins_private, choice(row=lambda n: (n + 1) / n**2), "half of what it must be"),
    (check.bins_private, choice(np.array, pick=own_price), "divided by its own"),
    (check.bins_private, choice(np.array, pick=gumbel), "noise for its own sensitivity"),
    (check.bins_private, choice(sum), "are added up"),
    (check.bins_private, lambda v, ms, e, r, rng: ms[rng.integers(len(ms))], "does not look at the data"),
    (check.bins_private, BEST, "without noise"),
    (check.bins_private, lambda v, ms, e, r, rng: CHOICE(v, ms, e + r, r, rng), "epsilon_release is not for"),
    (check.bins_private, given(CHOICE, epsilon=lambda epsilon: epsilon / 2), "at half of epsilon"),
    (check.bins_private, lambda v, ms, e, r, rng: CHOICE(v, ms, r, e, rng), "the two epsilons are exchanged"),
    (check.bins_private, lambda v, ms, e, r, rng: CHOICE(v, ms, e, e, rng), "a table at epsilon"),
    (check.bins_private, lambda v, ms, e, r, rng: CHOICE(v, ms, e, e + r, rng), "a table at both epsilons"),
    (check.bins_private, choice(sign=1), "must have a high score"),
    (check.bins_private, choice(noise=0.0), "noise of the table is left out"),
    (check.bins_private, choice(noise=2.0), "that of add/remove"),
    (check.bins_private, choice(fit=lambda n, m, squares: 0.0), "the fit is left out"),
    (check.bins_private, choice(fit=plug_in), "pairs of two different people"),
    (check.bins_private, given(CHOICE, values=to_the_ends), "the ends are 0 and 1"),
    (check.bins_private, choice(below=np.less), "should be in 90%"),
    (check.bins_private, lambda v, ms, e, r, rng: 7, "expected one of"),
    (check.bins_private, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.bins_private, lambda *arguments: print(end=""), "return"),
    (check.bins_private, 7, "expected a function"),
    (check.bins_lattice, tables_law(2), "one factor 2 is the sensitivity"),
    (check.bins_lattice, tables_law(normalised=False), "normalising constants"),
    (check.bins_lattice, lambda counts, epsilon: (epsilon, tables_law()(counts, epsilon)[1]), "that is a bound"),
    (check.bins_lattice, tables_law(error=0.5), "weigh the distance"),
    (check.bins_lattice, tables_law(ways=(1,)), "the table is likelier than a neighbour"),
    (check.bins_lattice, tables_law(ways=(-1,)), "a neighbour is likelier than the table"),
    (check.bins_lattice, tables_law(moves=[(0, 1)]), "take every neighbour, and both directions"),
    (check.bins_lattice, lambda counts, epsilon: 0.5, "2 numbers"),
]

UNUSUAL = [
    (check.hist_bins, lambda n, epsilon: float(bins()(n, epsilon))),
    (check.bins_parts, {"privacy": 0.08, "coarse": 0.000833, "sampling": 0.00892}),
    (check.bins_private, checking.seeded(own_luck(choice(pick=gumbel)))),
    (check.bins_private, choice(pick=flip)),
    (check.bins_private, library),
]

LEAKS = [
    (check.bins_private, BEST),
    (check.bins_private, each_call(*8 * [CHOICE], *10**5 * [BEST])),
    (check.bins_private, choice(lambda ms: 1, lambda n: 2 / n)),
    (check.bins_private, choice(row=lambda n: 2 * (n - 1) / n**2)),
    (check.bins_private, choice(np.array, pick=gumbel)),
    (check.bins_private, where(lambda values, *rest: len(values) > 2, CHOICE, choice(lambda ms: 1, lambda n: 1))),
    (check.bins_private, choice(lambda ms: ms[len(ms) // 2 - 1])),
    (check.bins_private, choice(lambda ms: max(ms[:8]))),
    (check.bins_private, given(CHOICE, epsilon=4.0)),
    (check.bins_private, given(CHOICE, epsilon=lambda epsilon: max(epsilon, 0.5))),
    (check.bins_private, given(CHOICE, epsilon=lambda epsilon: max(epsilon, 1.0))),
    (check.bins_private, choice(row=lambda n: (2 if n <= 100 else 1) * (n + 1) / n**2)),
    (check.bins_private, choice(pick=once())),
    (check.bins_private, of_these_people),
    (check.bins_private, where(lambda values, *rest: len(values) > 99, BEST, CHOICE)),
    (check.bins_private, given(CHOICE, values=to_the_ends)),
    (check.bins_private, fixed_seed(CHOICE)),
    (check.bins_private, where(lambda values, ms, epsilon, release: epsilon > 4, BEST, CHOICE)),         # large epsilon
    (check.bins_private, given(CHOICE, epsilon=lambda epsilon: max(epsilon, 0.1))),                      # small epsilon
    (check.bins_private, where(lambda values, *rest: 2 < len(values) < 10, BEST, CHOICE)),               # sizes
    (check.bins_private, where(lambda values, *rest: 10 < len(values) < 100, BEST, CHOICE)),
    (check.bins_private, where(lambda values, *rest: len(values) > 300, BEST, CHOICE)),
    (check.bins_private, where(lambda values, ms, *rest: len(ms) == 3, BEST, CHOICE)),
    (check.bins_private, where(lambda values, ms, *rest: max(ms) > 40, BEST, CHOICE)),
    (check.bins_private, where(lambda values, *rest: values.min() == 0 or values.max() == 1, BEST, CHOICE)),
    (check.bins_private, where(lambda values, ms, epsilon, release: 1 < release < 10, BEST, CHOICE)),
    (check.bins_private, choice(pick=sure_of_a_lead)),
    (check.bins_private, given(CHOICE, values=lambda values: np.clip(values, *np.quantile(values, [0.05, 0.95])))),
]
