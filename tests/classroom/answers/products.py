"""Answers to the section on products."""
import functools
import math

import numpy as np
from scipy.optimize import linprog, minimize

from dplib import fdp
from provable_privacy import check


def joint(one, other):
    return [np.outer(a, b).ravel() for a, b in zip(one, other, strict=True)]


def tensor(one, other, alpha):
    """The solution of the section."""
    p, q = joint(one, other)
    down = np.argsort(-np.arctan2(q, p))
    falsely, caught = np.append(0, np.cumsum(p[down])), np.append(0, np.cumsum(q[down]))
    room = falsely > 0
    return 1 - np.interp(alpha, np.append(0, falsely[room]), np.append(caught[falsely == 0].max(), caught[room]))


def by_program(one, other, alpha):
    """The best randomized test as a linear program: an answer that shares nothing with the checker."""
    p, q = joint(one, other)
    options = {"primal_feasibility_tolerance": 1e-10}
    return np.array([1 + linprog(-q, A_ub=[p], b_ub=[alpha], bounds=(0, 1), options=options).fun])


def by_dplib(one, other, alpha):
    """Lower bounds of dplib's grid where the losses are on no lattice: not exact enough."""
    return (fdp.finite(*one) @ fdp.finite(*other))(alpha)


def single(pair, alpha):
    return tensor(pair, ([1.0], [1.0]), alpha)


def no_coin(one, other, alpha):
    p, q = joint(one, other)
    down = np.argsort(-np.arctan2(q, p), kind="stable")
    return 1 - q[down][np.cumsum(p[down]) <= alpha + 1e-12].sum()


def sigmas(mu, sensitivities):
    width = np.asarray(sensitivities, dtype=float)
    return np.sqrt(width * width.sum()) / mu


def by_search(mu, sensitivities):
    """The least sum of variances by an optimiser, which stops within a few millionths of it."""
    width = np.asarray(sensitivities, dtype=float)
    exactly = {"type": "eq", "fun": lambda v: (width**2 / v**2).sum() - mu**2}
    return minimize(lambda v: (v**2).sum(), np.sqrt(width.size) * width / mu, method="SLSQP", constraints=exactly,
                    bounds=[(0.01, None)] * width.size).x


def gamma(epsilon):
    return fdp.clt([(fdp.approx(epsilon), 1)]).gamma


def fewest(epsilon, alpha):
    return int(np.ceil((gamma(epsilon) / alpha) ** 2))


def closed_form(epsilon, alpha):
    """By hand: with t = tanh(epsilon/2), gamma = 0.56 (1 + t^2) / sqrt(n (1 - t^2))."""
    t = math.tanh(epsilon / 2)
    return np.ceil((0.56 * (1 + t * t) / math.sqrt(1 - t * t) / alpha) ** 2)


def with_moments(epsilon, alpha, power="kappa3_bar", mean=True, factor=0.56):
    m = fdp.moments(fdp.approx(epsilon))
    variance = m.kappa2 - m.kl**2 * mean
    return math.ceil((factor * getattr(m, power) / variance**1.5 / alpha) ** 2)


def symmetrised_early(phases, delta):
    return fdp.compose([(step.symmetrize(), times) for step, times in steps_of(phases)]).epsilon(delta)


def steps_of(phases):
    return [(fdp.gaussian(1 / sigma).subsample(q), times) for q, sigma, times in phases]


def honest(phases, delta):
    product = fdp.compose(steps_of(phases))
    return max(product.epsilon(delta), product.inverse().epsilon(delta))


def by_powers(phases, delta):
    """Power by power, symmetrised last."""
    product = fdp.gaussian(0.0)
    for step, times in steps_of(phases):
        product = product @ step**times
    return product.symmetrize().epsilon(delta)


def bell(square):
    """The epsilon of one Gaussian curve in place of all steps; `square(q, sigma)` is what a step adds to mu squared."""
    def price(phases, delta):
        return fdp.gaussian(math.sqrt(sum(times * square(q, sigma) for q, sigma, times in phases))).epsilon(delta)

    return price


def by_google(phases, delta):
    """Another accountant, on a grid rounded towards safety."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    parts = [pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=5e-4).self_compose(times)
             for q, sigma, times in phases]
    return functools.reduce(lambda one, other: one.compose(other), parts).get_epsilon_for_delta(delta)


def shaken(function, by, seed):
    """With other last digits."""
    rng = np.random.default_rng(seed)
    return lambda *arguments: np.asarray(function(*arguments)) * (1 + by * rng.uniform(-1, 1))


SOLUTIONS = [
    (check.prod_tensor, lambda seed: shaken(tensor, 1e-11, seed)),
    (check.prod_squares, lambda seed: shaken(sigmas, 1e-9, seed)),
    (check.prod_band, lambda seed: fewest),
    (check.prod_vendor, lambda seed: shaken(honest, 1e-6, seed)),
]

UNUSUAL = [
    (check.prod_tensor, by_program),
    (check.prod_tensor, lambda one, other, a: float(tensor(other, one, a))),
    (check.prod_squares, lambda mu, s: sigmas(mu, s).tolist()),
    (check.prod_squares, by_search),
    (check.prod_squares, lambda mu, s: tuple(math.sqrt(d * sum(s)) / mu for d in s)),
    (check.prod_band, closed_form),
    (check.prod_band, lambda epsilon, alpha: float(fewest(epsilon, alpha))),
    (check.prod_vendor, by_powers),
    (check.prod_vendor, lambda phases, delta: fdp.compose(steps_of(phases)).symmetrize().epsilon(delta)),
    (check.prod_vendor, by_google),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.prod_tensor, lambda one, other, a: min(single(one, a), single(other, a)), "smaller of the two curves"),
    (check.prod_tensor, lambda one, other, a: max(single(one, a), single(other, a)), "larger of the two curves"),
    (check.prod_tensor, lambda one, other, a: max(0.0, single(one, a / 2) + single(other, a / 2) - 1), "a better test"),
    (check.prod_tensor, lambda one, other, a: single(one, a) * single(other, a), "spends alpha twice"),
    (check.prod_tensor, lambda one, other, a: tensor(one[::-1], other[::-1], a), "exchanged"),
    (check.prod_tensor, lambda one, other, a: tensor(one[::-1], other, a), "best test misses"),
    (check.prod_tensor, lambda one, other, a: single(one, 1 - single(other, a)), "group privacy"),
    (check.prod_tensor, no_coin, "toss a coin"),
    (check.prod_tensor, lambda one, other, a: 1 - tensor(one, other, a), "caught"),
    (check.prod_tensor, by_dplib, "it can be exact"),
    (check.prod_tensor, lambda one, other, a: tensor(one, one, a), "best test misses"),
    (check.prod_tensor, lambda one, other, a: 1 - a, "best test misses"),
    (check.prod_tensor, lambda one, other, a: 0.0, "best test misses"),
    (check.prod_tensor, lambda one, other, a: one, "expected a number, got an array"),
    (check.prod_tensor, lambda one, other, a: math.nan, "finite"),
    (check.prod_tensor, lambda one: 1, "TypeError"),
    (check.prod_tensor, 3.0, "expected a function"),
    (check.prod_squares, lambda mu, s: np.asarray(s) / mu, "spends the whole mu"),
    (check.prod_squares, lambda mu, s: np.asarray(s) * len(s) / mu, "less noise will do"),
    (check.prod_squares, lambda mu, s: np.asarray(s) * math.sqrt(len(s)) / mu, "same mu"),
    (check.prod_squares, lambda mu, s: np.full(len(s), math.sqrt(sum(d * d for d in s)) / mu), "same noise"),
    (check.prod_squares, lambda mu, s: np.sqrt(np.asarray(s) * sum(s)), "mu = 0.5"),
    (check.prod_squares, lambda mu, s: sigmas(mu, s) ** 2, "variances"),
    (check.prod_squares, lambda mu, s: 1.01 * sigmas(mu, s), "less noise will do"),
    (check.prod_squares, lambda mu, s: 0.99 * sigmas(mu, s), "more than was allowed"),
    (check.prod_squares, lambda mu, s: sigmas(mu, s)[:-1], "expected 3 numbers"),
    (check.prod_squares, lambda mu, s: [math.inf] * len(s), "finite"),
    (check.prod_squares, lambda mu, s: [-1.0] * len(s), "positive"),
    (check.prod_squares, lambda mu, s: "much", "the standard deviations: expected"),
    (check.prod_squares, lambda mu: mu, "TypeError"),
    (check.prod_band, lambda epsilon, alpha: math.ceil(gamma(epsilon) / alpha), "1/√n"),
    (check.prod_band, lambda epsilon, alpha: with_moments(epsilon, alpha, "kappa3"), "about the mean"),
    (check.prod_band, lambda epsilon, alpha: with_moments(epsilon, alpha, mean=False), "kl²"),
    (check.prod_band, lambda epsilon, alpha: with_moments(epsilon, alpha, factor=1.0), "0.56"),
    (check.prod_band, lambda epsilon, alpha: fewest(epsilon, 0.5), "one half"),
    (check.prod_band, lambda epsilon, alpha: fewest(epsilon, alpha) + 1, "one too many"),
    (check.prod_band, lambda epsilon, alpha: fewest(epsilon, alpha) - 1, "one too few"),
    (check.prod_band, lambda epsilon, alpha: round((gamma(epsilon) / alpha) ** 2), "one too few"),
    (check.prod_band, lambda epsilon, alpha: 2 * fewest(epsilon, alpha), "fewer are enough"),
    (check.prod_band, lambda epsilon, alpha: (gamma(epsilon) / alpha) ** 2, "whole number"),
    (check.prod_band, lambda epsilon, alpha: 10**10, "fewer are enough"),
    (check.prod_band, lambda epsilon, alpha: 0, "above alpha"),
    (check.prod_band, lambda epsilon, alpha: math.inf, "finite"),
    (check.prod_band, lambda epsilon: 1, "TypeError"),
    (check.prod_vendor, bell(lambda q, sigma: q**2 * math.expm1(1 / sigma**2)), "the limit once more"),
    (check.prod_vendor, lambda phases, d: fdp.compose(steps_of(phases)).inverse().epsilon(d), "one direction only"),
    (check.prod_vendor, symmetrised_early, "symmetrised before"),
    (check.prod_vendor, bell(lambda q, sigma: 1 / sigma**2), "without sampling"),
    (check.prod_vendor, lambda phases, delta: sum(honest([phase], delta) for phase in phases), "these were added"),
    (check.prod_vendor, lambda phases, delta: honest(phases[:1], delta), "what the first phase costs alone"),
    (check.prod_vendor, lambda phases, delta: honest([(q, sigma, 1) for q, sigma, _ in phases], delta), "one step"),
    (check.prod_vendor, lambda phases, delta: honest(phases, 1e-5), "delta = 0.001"),
    (check.prod_vendor, lambda phases, delta: 1.01 * honest(phases, delta), "more than it costs"),
    (check.prod_vendor, lambda phases, delta: 0.99 * honest(phases, delta), "false promise"),
    (check.prod_vendor, lambda phases, d: None if d < 1e-5 else honest(phases, d), "is the `return` missing"),
    (check.prod_vendor, lambda phases, delta: "2.07", "expected a number"),
    (check.prod_vendor, lambda phases, delta: (1 - 1e-4) * honest(phases, delta), "false promise"),
    (check.prod_vendor, lambda phases, delta: math.floor(1e3 * honest(phases, delta)) / 1e3, "rounded down"),
    (check.prod_vendor, lambda phases, delta: [1, 2], "expected a number, got an array"),
]


def test_products_of_dplib_are_bounds():
    """dplib's own product is below the exact one off the lattice, by less than 2e-4: right for a ledger, not here."""
    one, other = ([0.2, 0.5, 0.3], [0.4, 0.1, 0.5]), ([0.1, 0.6, 0.3], [0.3, 0.3, 0.4])
    for alpha in (0.01, 0.1, 0.5):
        exact = tensor(one, other, alpha)
        assert exact - 2e-4 < by_dplib(one, other, alpha) < exact + 1e-12
