"""The checkers of the section on the number of bins: silent on the stub, content with the solution, and able to say what is wrong."""
import itertools

import checking
import numpy as np
from scipy.optimize import brentq

from dplib import histograms, mechanisms
from provable_privacy import check

PARTS = {"coarse": 1 / 1200, "sampling": 0.008917, "privacy": 0.08}
PARTS["sampling"] = 10 / 1000 * (1 - (13 / 12 - 1 / 1200) / 10)


def bins(*, sampling=1.0, noise=1.0):
    def function(n, epsilon):
        m = np.arange(1, 401)
        return int(m[np.argmin(1 / (12 * m**2) + sampling * m / n + noise * 8 * m**2 / (n * epsilon) ** 2)])

    return function


def calculus(n, epsilon):
    """The zero of the derivative, rounded: no bin at all for a small table."""
    return round(brentq(lambda m: 16 * m / (n * epsilon) ** 2 + 1 / n - 1 / (6 * m**3), 1e-3, 1e4))


def choice(step=lambda n, ms: 2 * (n + 1) * max(ms) / n**2, *, seed=None, pick=mechanisms.exponential, noise=8.0, sign=1, epsilon_of=lambda e: e,
           below=np.less_equal, fit=lambda n, m, squares: (2 * m - (n + 1) * m * squares) / (n - 1)):
    """A learner's private number of bins, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, candidates, epsilon, epsilon_release, rng):
        n, scores = len(values), []
        for m in candidates:
            now = np.histogram(values[below(values, 1)], bins=np.linspace(0, 1, m + 1))[0] / n
            scores.append(-sign * (fit(n, m, np.sum(now**2)) + noise * (m / (n * epsilon_release)) ** 2))
        return candidates[pick(scores, sensitivity=step(n, candidates), epsilon=epsilon_of(epsilon), rng=own or rng)]

    return function


def exact(scores, *, sensitivity, epsilon, rng):
    return int(np.argmax(scores))


def flip(scores, **settings):
    return mechanisms.report_noisy_max(scores, noise="exponential", **settings)


def gumbel(scores, *, sensitivity, epsilon, rng):
    return int(np.argmax(np.array(scores) + rng.gumbel(scale=2 * sensitivity / epsilon, size=len(scores))))


def library(values, candidates, epsilon, epsilon_release, rng):
    return histograms.choose_bins(values, candidates=candidates, low=0, high=1, epsilon=epsilon, epsilon_release=epsilon_release, rng=rng)


def ninth():
    memory = []

    def function(*arguments):
        memory.append(0)
        return choice(pick=exact if len(memory) > 8 else mechanisms.exponential)(*arguments)

    return function


def of_these_people(values, candidates, epsilon, epsilon_release, rng):
    """The most that one of these people can move a score, in place of the most that anybody can."""
    n, step = len(values), 1e-9
    for m in candidates:
        now = np.histogram(values, bins=np.linspace(0, 1, m + 1))[0]
        step = max([step, *((n + 1) * m / ((n - 1) * n**2) * abs(2 * (now[b] - now[a] + 1)) for a in np.flatnonzero(now) for b in range(m) if a != b)])
    return choice(lambda n, ms: step)(values, candidates, epsilon, epsilon_release, rng)


def once():
    """Draws the noise of each candidate in the first call, and keeps it."""
    kept = {}

    def pick(scores, *, sensitivity, epsilon, rng):
        return int(np.argmax(scores + 2 * sensitivity / epsilon * kept.setdefault(len(scores), rng.gumbel(size=len(scores)))))

    return pick


def own_price(scores, *, sensitivity, epsilon, rng):
    return mechanisms.exponential(np.array(scores) / sensitivity, sensitivity=1, epsilon=epsilon, rng=rng)


def tables_law(share=4, normalised=True, error=1.0, both_ways=True, moves=None):
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
                loss = max(loss, (np.abs(ratio) if both_ways else ratio).max())
        return loss, error * (here / here.sum() @ np.abs(tables - counts).sum(axis=1))

    return function


SOLUTIONS = [
    (check.hist_bins, lambda seed: bins()),
    (check.bins_private, lambda seed: choice(seed=seed)),
    (check.bins_lattice, lambda seed: tables_law()),
    (check.bins_parts, lambda seed: PARTS),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.hist_bins, bins(noise=0.0), "right without privacy"),
    (check.hist_bins, bins(sampling=0.0), "if the noise were all"),
    (check.hist_bins, lambda n, epsilon: 10, "too"),
    (check.hist_bins, lambda n, epsilon: 2.5, "whole number"),
    (check.hist_bins, lambda n, epsilon: 0, "at least 1"),
    (check.hist_bins, lambda n, epsilon: "ten", "expected a number"),
    (check.hist_bins, lambda n, epsilon: print(end=""), "return"),
    (check.bins_parts, {**PARTS, "coarse": 1 / 120}, "mean square"),
    (check.bins_parts, {**PARTS, "sampling": 0.01}, "take off"),
    (check.bins_parts, {**PARTS, "privacy": 0.02}, "add/remove"),
    (check.bins_parts, {**PARTS, "privacy": 0.008}, "m² in all"),
    (check.bins_parts, {"coarse": 1}, "missing"),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) / n**2), "lacks the factor m"),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * min(ms) / n**2), "coarsest"),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * ms[-1] / n**2), "need not come last"),
    (check.bins_private, choice(lambda n, ms: 2 * (n - 1) * max(ms) / n**2), "(n + 1)/(n - 1)"),
    (check.bins_private, lambda values, candidates, epsilon, epsilon_release, rng: choice()(values, candidates, epsilon, epsilon, rng), "a table at epsilon"),
    (check.bins_private, choice(lambda n, ms: (n + 1) * max(ms) / n**2), "half of the price is missing"),
    (check.bins_private, choice(pick=exact), "without noise"),
    (check.bins_private, choice(epsilon_of=lambda e: e / 2), "at half of epsilon"),
    (check.bins_private, choice(noise=0.0), "noise of the table is left out"),
    (check.bins_private, choice(sign=-1), "must have a high score"),
    (check.bins_private, lambda values, candidates, epsilon, epsilon_release, rng: 7, "expected one of"),
    (check.bins_private, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.bins_private, lambda *arguments: print(end=""), "return"),
    (check.bins_private, 7, "expected a function"),
    (check.bins_lattice, tables_law(2), "2 is the sensitivity"),
    (check.bins_lattice, tables_law(normalised=False), "normalising constants"),
    (check.bins_lattice, lambda counts, epsilon: (epsilon, tables_law()(counts, epsilon)[1]), "that is the bound"),
    (check.bins_lattice, tables_law(error=0.5), "weigh the distance"),
    (check.bins_lattice, tables_law(both_ways=False), "some neighbours or one direction"),
    (check.bins_lattice, tables_law(moves=[(0, 1)]), "some neighbours or one direction"),
    (check.hist_bins, calculus, "got 0"),
    (check.hist_bins, lambda n, epsilon: max(1, round(min((n * epsilon) ** 0.5 / 96**0.25, (n / 6) ** (1 / 3)))), "right without privacy"),
    (check.hist_bins, lambda n, epsilon: bins()(n, epsilon) if n < 10**6 else 200, "sample and noise cost more"),
    (check.bins_private, choice(lambda n, ms: 2 * max(ms) / n), "the sensitivity is 2m/n"),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * sum(ms) / n**2), "are added up"),
    (check.bins_private, choice(noise=2.0), "that of add/remove"),
    (check.bins_private, choice(fit=lambda n, m, squares: m / n * (1 - squares) - m * squares), "pairs of two different people"),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * np.array(ms) / n**2, pick=own_price), "divided by its own"),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * np.median(ms) / n**2), "middle candidate"),
    (check.bins_private, lambda v, ms, e, r, rng: choice(epsilon_of=lambda _: e + r)(v, ms, e, r, rng), "epsilon_release is not for the choice"),
    (check.bins_private, lambda v, ms, e, r, rng: choice(epsilon_of=lambda _: e)(v, ms, e, e + r, rng), "a table at both epsilons"),
    (check.bins_private, choice(below=np.less), "should be in 90%"),
    (check.bins_lattice, lambda counts, epsilon: 0.5, "2 numbers"),
]

UNUSUAL = [
    (check.hist_bins, lambda n, epsilon: float(bins()(n, epsilon))),
    (check.bins_parts, {"privacy": 0.08, "coarse": 0.000833, "sampling": 0.00892}),
    (check.bins_private, checking.seeded(lambda seed: choice(seed=seed, pick=gumbel))),
    (check.bins_private, choice(pick=flip)),
    (check.bins_private, library),
]

LEAKS = [
    (check.bins_private, choice(pick=exact)),
    (check.bins_private, ninth()),
    (check.bins_private, choice(lambda n, ms: 2 / n)),
    (check.bins_private, choice(lambda n, ms: 2 * (n - 1) * max(ms) / n**2)),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * np.array(ms) / n**2, pick=gumbel)),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * max(ms) / n**2 if n > 2 else 1.0)),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * ms[len(ms) // 2 - 1] / n**2)),
    (check.bins_private, choice(epsilon_of=lambda e: 4.0)),
    (check.bins_private, choice(epsilon_of=lambda e: max(e, 0.5))),
    (check.bins_private, choice(epsilon_of=lambda e: max(e, 1.0))),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * max(ms) / n**2 if n <= 100 else (n + 1) * max(ms) / n**2)),
    (check.bins_private, choice(lambda n, ms: 2 * (n + 1) * max(ms[:8]) / n**2)),
    (check.bins_private, choice(pick=once())),
    (check.bins_private, of_these_people),
    (check.bins_private, lambda values, *rest: choice(pick=exact if len(values) > 99 else mechanisms.exponential)(values, *rest)),
    (check.bins_private, lambda values, candidates, epsilon, epsilon_release, rng: choice()(
        (values - values.min()) / max(np.ptp(values), 1e-9), candidates, epsilon, epsilon_release, rng)),
    (check.bins_private, lambda values, candidates, epsilon, epsilon_release, rng: choice()(
        values, candidates, epsilon, epsilon_release, np.random.default_rng(5))),
]
