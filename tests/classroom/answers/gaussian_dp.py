"""Answers to the section on Gaussian differential privacy."""
import functools
import math

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from dplib import fdp
from provable_privacy import check
from provable_privacy.check.f_dp import gaussian_dp


def delta(mu, epsilon):
    first, second = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.exp(first) * -np.expm1(second - first)


def tails(combine):
    """`combine(one, two, e)` of the two terms of the formula and e^epsilon."""
    return lambda mu, epsilon: combine(ndtr(mu / 2 - epsilon / mu), ndtr(-mu / 2 - epsilon / mu), np.exp(epsilon))


naive = tails(lambda one, two, e: one - e * two)


def delta_or_nought(mu, epsilon):
    """The naive formula, and 0 where it fails."""
    value = naive(mu, epsilon)
    return value if np.isfinite(value) else 0.0


def wrong_sign(mu, epsilon):
    return ndtr(mu / 2 + epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 + epsilon / mu)


def times(mu, epsilon):
    return ndtr(mu / 2 - epsilon * mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon * mu)


def lines(pairs, alpha):
    """The lines of all pairs, steep ones and flat ones."""
    e, d = np.array(pairs)[:, 0, None], np.array(pairs)[:, 1, None]
    return 1 - d - np.exp(e) * alpha, np.exp(-e) * (1 - d - alpha)


def rebuild(pairs, alpha):
    return np.max([np.zeros_like(alpha), *np.concatenate(lines(pairs, alpha))], axis=0)


def lowest(pairs, alpha):
    return np.min([fdp.approx(e, delta=d)(alpha) for e, d in pairs], axis=0)


def by_loop(pairs, alpha):
    return [max([0.0, *(line.item() for both in lines(pairs, x) for line in both)]) for x in alpha]


def joined(pairs, alpha, size=5):
    """Chords between points of the right curve."""
    knots = np.linspace(0, 1, size)
    return np.interp(alpha, knots, rebuild(pairs, knots))


def trap(mu, epsilon, spare=1.0):
    slack = spare * float(fdp.gaussian(mu).delta(epsilon))
    truth = (1 - slack) / (1 + math.exp(-epsilon))
    p = np.array([slack, truth, 1 - slack - truth, 0])
    return p, p[::-1]


def lottery(mu, epsilon):
    """Another trap: everything with probability delta, else nothing; it needs no epsilon."""
    slack = float(fdp.gaussian(mu).delta(epsilon))
    return [slack, 1 - slack, 0], [0, 1 - slack, slack]


def sliced(mu, epsilon):
    """Two honest bells, cut into slices: no trap."""
    edges = np.concatenate([[-np.inf], np.linspace(-5, 6, 40), [np.inf]])
    return np.diff(ndtr(edges)), np.diff(ndtr(edges - mu))


def iterated(f, k):
    return lambda alpha: functools.reduce(lambda error, _: f(error), range(k), alpha)


def group_curve(f, k):
    return lambda alpha: 1 - iterated(lambda power: 1 - f(power), k)(alpha)


def group_joined(size):
    """Chords between points of the right curve."""
    knots = np.linspace(0, 1, size)
    return lambda f, k: lambda alpha: np.interp(alpha, knots, group_curve(f, k)(knots))


def group_recursive(f, k):
    return f if k == 1 else lambda alpha: f(1 - group_recursive(f, k - 1)(alpha))


def turned(f, alpha):
    """The inverse by halving: what the other order of the neighbours gives, if nobody says that f is symmetric."""
    low, high = np.zeros_like(alpha), np.ones_like(alpha)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = np.where(f(middle) <= alpha, low, middle), np.where(f(middle) <= alpha, middle, high)
    return np.where(f(np.zeros_like(alpha)) <= alpha, 0, high)


def honest_mu(epsilon):
    return -2 * ndtri(1 / (1 + math.exp(epsilon)))


SOLUTIONS = [
    (check.gdp_profile, lambda seed: delta),
    (check.gdp_envelope, lambda seed: lambda pairs, a: rebuild(np.random.default_rng(seed).permutation(pairs), a)),
    (check.gdp_trap, lambda seed: lambda *case: [np.random.default_rng(seed).permutation(law) for law in trap(*case)]),
    (check.gdp_group, lambda seed: group_curve),
    (check.gdp_honest, lambda seed: honest_mu),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.gdp_profile, naive, "subtract logarithms"),
    (check.gdp_profile, delta_or_nought, "promises too much"),
    (check.gdp_profile, tails(lambda one, two, e: one + e * two), "terms are added"),
    (check.gdp_profile, wrong_sign, "a sign is wrong"),
    (check.gdp_profile, tails(lambda one, two, e: one - two), "is missing"),
    (check.gdp_profile, tails(lambda one, two, e: one), "probability that the loss exceeds"),
    (check.gdp_profile, tails(lambda one, two, e: e * two - one), "wrong way round"),
    (check.gdp_profile, lambda mu, epsilon: fdp.gaussian(1 / mu).delta(epsilon), "one over σ"),
    (check.gdp_profile, times, "not εμ"),
    (check.gdp_profile, lambda mu, epsilon: 1.01 * delta(mu, epsilon), "safe"),
    (check.gdp_profile, lambda mu, epsilon: delta(mu, epsilon) if epsilon < 30 or mu > 1 else 0.0, "promises too much"),
    (check.gdp_profile, lambda mu, e: naive(mu, e) if mu < 40 else ndtr(mu / 2 - e / mu), "the second term is lost"),
    (check.gdp_profile, lambda mu, epsilon: "tiny", "expected a number"),
    (check.gdp_profile, lambda mu, epsilon: round(delta(mu, epsilon), 4), "rounded too far"),
    (check.gdp_profile, lambda mu, epsilon: [delta(mu, epsilon)].clear(), "is the `return` missing"),
    (check.gdp_profile, lambda mu: mu, "TypeError"),
    (check.gdp_envelope, lambda pairs, alpha: np.maximum(0, lines(pairs, alpha)[0].max(axis=0)), "only the steep line"),
    (check.gdp_envelope, lambda pairs, alpha: np.maximum(0, lines(pairs, alpha)[1].max(axis=0)), "only the flat line"),
    (check.gdp_envelope, lowest, "the lowest of the curves"),
    (check.gdp_envelope, lambda pairs, alpha: np.concatenate(lines(pairs, alpha)).max(axis=0), "not negative"),
    (check.gdp_envelope, joined, "does worse than your promise"),
    (check.gdp_envelope, lambda pairs, alpha: joined(pairs, alpha, 100_001), "does worse"),
    (check.gdp_envelope, lambda pairs, alpha: fdp.gaussian(1.0)(alpha), "does worse than your promise"),
    (check.gdp_envelope, lambda pairs, alpha: fdp.gaussian(1.005)(alpha), "0.45541854 follows: a mechanism"),
    (check.gdp_envelope, lambda pairs, alpha: rebuild(pairs[:1], alpha), "more follows"),
    (check.gdp_envelope, lambda pairs, alpha: np.maximum(0, rebuild(pairs, alpha) - 0.005), "more follows"),
    (check.gdp_envelope, lambda pairs, alpha: 0.5, "expected 401 numbers"),
    (check.gdp_envelope, lambda pairs, alpha: np.full(len(alpha), np.nan), "expected finite numbers"),
    (check.gdp_envelope, lambda pairs, alpha: ["a"] * len(alpha), "type II errors: expected"),
    (check.gdp_trap, sliced, "so does μ-GDP"),
    (check.gdp_trap, lambda mu, epsilon: trap(mu, epsilon, 1.1), "would show more"),
    (check.gdp_trap, lambda mu, epsilon: ([1, 0], [0, 1]), "would show more"),
    (check.gdp_trap, lambda mu, epsilon: ([1 - 1e-9, 1e-9], [0.9, 0.1]), "would show more"),
    (check.gdp_trap, lambda mu, epsilon: ([0.5, 0.5], [0.5, 0.5]), "so does μ-GDP"),
    (check.gdp_trap, lambda mu, epsilon: trap(1.0, 1.0), "μ = 0.5"),
    (check.gdp_trap, lambda mu, epsilon: ([0.5, 0.6], [0.5, 0.5]), "not a list of probabilities"),
    (check.gdp_trap, lambda mu, epsilon: ([0.5, 0.5], [1.0]), "same length"),
    (check.gdp_trap, lambda mu, epsilon: 3, "expected two lists"),
    (check.gdp_group, iterated, "f itself is iterated"),
    (check.gdp_group, lambda f, k: lambda alpha: 1 - group_curve(f, k)(alpha), "this is the power"),
    (check.gdp_group, lambda f, k: lambda alpha: 1 - (1 - f(alpha)) ** k, "power of a number"),
    (check.gdp_group, lambda f, k: lambda alpha: np.maximum(0, 1 - k * (1 - f(alpha))), "added up as k errors"),
    (check.gdp_group, lambda f, k: lambda alpha: 1 - k * (1 - f(alpha)), "follows: your promise is false"),
    (check.gdp_group, lambda f, k: group_curve(f, k + 1), "one step too many"),
    (check.gdp_group, lambda f, k: group_curve(f, k - 1), "follows: your promise is false"),
    (check.gdp_group, lambda f, k: f, "nothing was done"),
    (check.gdp_honest, math.sqrt, "the promise is false"),
    (check.gdp_group, lambda f, k: lambda alpha: f(alpha) ** k, "to the power k"),
    (check.gdp_group, lambda f, k: lambda alpha: fdp.gaussian(0.5 * math.sqrt(k))(alpha), "√k"),
    (check.gdp_group, lambda f, k: lambda alpha: fdp.gaussian(0.5 * k)(alpha), "yours is"),
    (check.gdp_group, lambda f, k: group_curve(lambda a: np.minimum(f(a), fdp.approx(1.0)(a)), k), "more follows"),
    (check.gdp_group, lambda f, k: lambda alpha: (group_curve(f, k) if np.ndim(alpha) else f)(alpha), "a single α"),
    (check.gdp_group, group_joined(1001), "promise is false"),
    (check.gdp_group, group_joined(100_001), "is false"),
    (check.gdp_group, lambda f, k: 0.5, "a function of α"),
    (check.gdp_group, lambda f, k: lambda alpha: 0.5, "expected 7 numbers"),
    (check.gdp_honest, lambda epsilon: epsilon, "the library's number"),
    (check.gdp_honest, lambda epsilon: epsilon * math.sqrt(math.pi / 2), "the limit for small"),
    (check.gdp_honest, lambda epsilon: 0.99 * honest_mu(epsilon), "the promise is false"),
    (check.gdp_honest, lambda epsilon: 1.01 * honest_mu(epsilon), "a smaller μ will do"),
    (check.gdp_honest, lambda epsilon: 1.2320353853 if epsilon == 1 else epsilon, "the library's number"),
    (check.gdp_honest, lambda epsilon: math.inf, "finite number"),
    (check.gdp_honest, lambda epsilon: -1.0, "the promise is false"),
    (check.gdp_honest, lambda epsilon: round(honest_mu(epsilon), 3), "rounded too far"),
    (check.gdp_honest, lambda epsilon: [1, 2], "expected a number"),
]


UNUSUAL = [
    (check.gdp_profile, lambda mu, epsilon: np.array([delta(mu, epsilon)])[0:1].sum()),
    (check.gdp_profile, lambda mu, epsilon: fdp.gaussian(mu).delta(epsilon)),
    (check.gdp_envelope, by_loop),
    (check.gdp_trap, lottery),
    (check.gdp_trap, lambda mu, epsilon: trap(mu, epsilon, 0.999)),
    (check.gdp_trap, lambda mu, epsilon: ([1e-9, 1 - 1e-9, 0], [0, 1 - 1e-9, 1e-9])),
    (check.gdp_group, group_recursive),
    (check.gdp_group, lambda f, k: group_curve(lambda alpha: np.maximum(f(alpha), turned(f, alpha)), k)),
    (check.gdp_honest, lambda epsilon: np.float64(2 * ndtri(1 / (1 + np.exp(-epsilon))))),
]


def test_the_certificates_are_what_the_checkers_take_them_for():
    """The trap's curve by Neyman and Pearson, the worst curve of all pairs by a mechanism that has it."""
    p, q = trap(1.0, 1.0)
    assert gaussian_dp._below(p, q, 1.0) > 0.1 and gaussian_dp._below(*sliced(1.0, 1.0), 1.0) < 1e-9
    for pairs in gaussian_dp._reports().values():
        alpha = np.linspace(0, 1, 501)
        curve = gaussian_dp._highest(pairs, alpha)
        assert np.all(np.diff(curve, 2) > -1e-12) and np.all(curve <= 1 - alpha + 1e-12)
        for epsilon, slack in pairs:              # the curve keeps every pair, so nothing larger follows from them
            assert np.max(1 - curve - np.exp(epsilon) * alpha) <= slack + 1e-12
