"""Answers to the section on accounting."""
import math

import numpy as np
from scipy.optimize import minimize_scalar

from dplib import budget, fdp
from provable_privacy import check

TRUE = {"a": True, "b": False, "c": False, "d": False, "e": False, "f": True}


ORDERS = 1 + np.geomspace(0.05, 499, 2000)


def rdp_to_eps(curve, delta, *, sharp=True, orders=ORDERS, factor=1.0):
    tau = np.array([curve(order) for order in orders])
    extra = (np.log1p(-1 / orders) - np.log(orders) / (orders - 1)) if sharp else 0.0
    return factor * np.min(tau + np.log(1 / delta) / (orders - 1) + extra)


def from_nought(curve, delta, **options):
    return max(0.0, rdp_to_eps(curve, delta, **options))


def by_search(curve, delta):
    """The same by a one-dimensional search and dplib's conversion."""
    def bill(x):
        return budget.rdp_to_approx(1 + math.exp(x), curve(1 + math.exp(x)), delta=delta)

    return minimize_scalar(bill, bounds=(-3, 6.2), method="bounded").fun


def beyond(law):
    """Sums from each place to the end."""
    return np.cumsum(law[::-1])[::-1]


def bracket(
    p, q, k, delta, *, width=0.03, low=np.floor, high=np.ceil, infinite=True, window=None, cut=math.inf, prob=False
):
    """A learner's accountant, right unless told otherwise."""
    h = width / k
    seen = (p > 0) & (q > 0)
    loss, weight = np.log(p[seen] / q[seen]), p[seen]
    lost = 1 - (1 - p[q == 0].sum()) ** k if infinite else 0.0
    if lost > delta:
        return math.inf, math.inf
    n = int(np.ceil(np.abs(loss).max() / h)) + 1
    size = 2 * (k * n + 2) if window is None else 2 * max(round(window / h), n + 1)
    half, ends = size // 2, []
    for rounded, more in ((low, -1e-11), (high, 1e-11)):
        mass = np.bincount(rounded(loss / h).astype(int) + n, weight, 2 * n + 1)
        law = np.roll(np.fft.irfft(np.fft.rfft(mass, size) ** k, size), half - k * n)[half:]
        points = h * np.arange(law.size)
        law = np.where(points > cut, 0, law)
        tail = beyond(law) - (not prob) * np.exp(points) * beyond(law * np.exp(-points)) + lost + more
        held = np.flatnonzero(tail <= delta)
        ends.append(points[held[0]] if len(held) else k * loss.max() + h)
    return max(ends[0] - h, 0.0), ends[1]


def none_found(end):
    """Where round-off hides the point that is looked for, this end is 0."""
    def function(p, q, k, delta):
        ends = list(bracket(p, q, k, delta))
        ends[end] *= delta > 0
        return ends

    return function


def by_convolution(p, q, k, delta):
    """Repeated squaring without any transform, and an array in place of a tuple."""
    h, seen = 0.04 / k, (p > 0) & (q > 0)
    lost = -math.expm1(k * math.log1p(-p[q == 0].sum()))
    if lost > delta:
        return np.array([0.0, math.inf])
    loss, ends = np.log(p[seen] / q[seen]), []
    n = int(np.ceil(np.abs(loss).max() / h)) + 1
    for rounded in (np.floor, np.ceil):
        one = np.bincount(rounded(loss / h).astype(int) + n, p[seen], 2 * n + 1)
        size = 2 * k * n + 1
        law = np.real(np.fft.ifft(np.fft.fft(one, size) ** k))
        points = h * (np.arange(size) - k * n)
        law, points = law[k * n:], points[k * n:]
        tail = beyond(law) - np.exp(points) * beyond(law * np.exp(-points)) + lost
        ends.append(points[np.argmax(tail <= delta)])
    return np.array([max(ends[0] - h, 0), ends[1]])


def total(epsilon, rate, k, known):
    return k * epsilon if known else float(np.logaddexp(np.log1p(-rate), np.log(rate) + k * epsilon))


def directions(sigma, delta, rate, steps):
    f = fdp.gaussian(1 / sigma).subsample(rate) ** steps
    return f.epsilon(delta), f.inverse().epsilon(delta)


def limit(sigma, delta, rate, steps):
    if rate == 1:
        return max(directions(sigma, delta, rate, steps))
    return budget.gdp_to_approx(rate * math.sqrt(steps * math.expm1(1 / sigma**2)), delta=delta)


def noise_for(epsilon, delta, rate, steps, *, spent=lambda *case: max(directions(*case)), factor=1.0):
    low, high = 0.7, 200.0
    while high / low > 1.002:
        sigma = math.sqrt(low * high)
        low, high = (sigma, high) if spent(sigma, delta, rate, steps) > epsilon else (low, sigma)
    return high * factor


def unlogged(epsilon, rate, k, known):
    return k * epsilon if known else math.inf if k * epsilon > 700 else math.log1p(rate * math.expm1(k * epsilon))


def changed(function, **options):
    return lambda *arguments: function(*arguments, **options)


SOLUTIONS = [
    (check.acc_rdp, lambda seed: from_nought),
    (check.acc_pld, lambda seed: bracket),
    (check.acc_honest, lambda seed: TRUE),
    (check.acc_sample, lambda seed: total),
    (check.acc_sigma, lambda seed: noise_for),
]


def careless_but_on_the_first(p, q, k, delta):
    return (4.29, 4.32) if (k, delta) == (100, 1e-5) else (0.0, 0.05)


WRONG = [  # checker, answer, a piece of what it must say
    (check.acc_rdp, changed(rdp_to_eps, sharp=False), "without c_lambda"),
    (check.acc_rdp, changed(rdp_to_eps, orders=np.arange(2.0, 501)), "whole orders"),
    (check.acc_rdp, changed(rdp_to_eps, orders=1 + np.geomspace(0.5, 63, 500)), "valid but not the smallest"),
    (check.acc_rdp, changed(rdp_to_eps, factor=0.98), "a false promise"),
    (check.acc_rdp, changed(rdp_to_eps, factor=0.9985), "a false promise"),
    (check.acc_rdp, lambda curve, delta: curve(5.4), "a false promise"),
    (check.acc_rdp, rdp_to_eps, "at least 0"),
    (check.acc_rdp, changed(from_nought, orders=np.arange(1.1, 500, 0.1)), "mu = 80: not 3631.78; valid but"),
    (check.acc_rdp, lambda curve, delta: math.nan, "expected a number, got nan"),
    (check.acc_rdp, lambda curve, delta: "5", "expected a number, got '5'"),
    (check.acc_rdp, 4.73, "expected a function"),
    (check.acc_pld, changed(bracket, low=np.rint, high=np.rint), "does not hold the true"),
    (check.acc_pld, changed(bracket, width=30, high=np.rint), "round every loss up"),
    (check.acc_pld, changed(bracket, low=np.ceil), "rounded down"),
    (check.acc_pld, lambda p, q, k, d: [(fdp.finite(q, p) ** k).epsilon(d) + 1e-6] * 2, "the true 4.306791373"),
    (check.acc_pld, changed(bracket, infinite=False), "you forget them"),
    (check.acc_pld, lambda p, q, k, d: bracket(p, q, k, d - p[q == 0].sum(), infinite=False), "of the k steps only"),
    (check.acc_pld, changed(bracket, prob=True), "Is δ the mean of"),
    (check.acc_pld, lambda p, q, k, d: bracket(p, q, k, d) + np.array([0.03 / k, 0]), "one grid point lower"),
    (check.acc_pld, changed(bracket, cut=4.0), "charge to delta what is dropped"),
    (check.acc_pld, changed(bracket, window=12.0), "other end of the transform"),
    (check.acc_pld, changed(bracket, width=0.5), "wide"),
    (check.acc_pld, careless_but_on_the_first, "does not hold the true"),
    (check.acc_pld, none_found(0), "for the lower end subtract the charge"),
    (check.acc_pld, none_found(1), "For the upper end add the charge"),
    (check.acc_pld, lambda p, q, k, delta: bracket(q, p, k, delta), "does not hold the true"),
    (check.acc_pld, lambda p, q, k, delta: (0.0, math.inf), "wide"),
    (check.acc_pld, lambda p, q, k, delta: bracket(p, q, k, delta)[::-1], "is above high"),
    (check.acc_pld, lambda p, q, k, delta: 4.3, "a pair"),
    (check.acc_pld, lambda p, q, k, delta: ("low", "high"), "expected a number"),
    (check.acc_honest, {**TRUE, "a": False}, "best of valid bounds"),
    (check.acc_honest, {**TRUE, "b": True}, "not a bound"),
    (check.acc_honest, {**TRUE, "d": True}, "either side"),
    (check.acc_honest, {**TRUE, "f": False}, "below both directions"),
    (check.acc_honest, {**TRUE, "c": 1}, "answer True or False"),
    (check.acc_honest, {"a": True}, "missing"),
    (check.acc_honest, [True] * 6, "expected a dict"),
    (check.acc_sample, lambda e, r, k, known: k * (e if known else math.log1p(r * math.expm1(e))), "fresh sample"),
    (check.acc_sample, lambda e, rate, k, known: total(e, rate, k, False), "whoever knows that the person was drawn"),
    (check.acc_sample, lambda e, rate, k, known: k * e if known else rate * k * e, "multiplies by the rate"),
    (check.acc_sample, lambda e, rate, k, known: e, "known = False: not 0.5; that promises too much"),
    (check.acc_sample, unlogged, "a sum of logarithms"),
    (check.acc_sample, lambda e, rate, k, known: k * e, "less is enough"),
    (check.acc_sample, lambda *case: (1 if case[3] else 0.9) * total(*case), "promises too much"),
    (check.acc_sample, lambda *case: [], "expected a number"),
    (check.acc_sigma, changed(noise_for, spent=lambda *case: directions(*case)[1]), "ask both directions"),
    (check.acc_sigma, changed(noise_for, spent=limit), "a limit is no bound"),
    (check.acc_sigma, lambda epsilon, delta, _, steps: noise_for(epsilon, delta, 1.0, steps), "without any sampling"),
    (check.acc_sigma, changed(noise_for, factor=1.05), "less noise will do"),
    (check.acc_sigma, changed(noise_for, factor=1.012), "less noise will do"),
    (check.acc_sigma, changed(noise_for, factor=0.97), "more noise is needed"),
    (check.acc_sigma, lambda *case: noise_for(*case, factor=0.994 if case[2] < 1 else 1.0), "more noise is needed"),
    (check.acc_sigma, lambda epsilon, delta, rate, steps: 1000.0, "between 0.6 and 200"),
]


UNUSUAL = [
    (check.acc_rdp, by_search),
    (check.acc_rdp, lambda curve, delta: np.array(from_nought(curve, delta)).astype(np.float32)),
    (check.acc_pld, by_convolution),
    (check.acc_pld, lambda p, q, k, delta: list(bracket(p, q, k, delta, width=0.02))),
    (check.acc_honest, {letter: np.bool_(value) for letter, value in TRUE.items()}),
    (check.acc_sample, lambda e, r, k, known: k * e + (0 if known else math.log(r + (1 - r) * math.exp(-k * e)))),
    (check.acc_sigma, lambda *arguments: np.float64(noise_for(*arguments, factor=1.004))),
]


def test_an_open_entry_is_open(says):
    assert says(check.acc_honest, {**TRUE, "c": ...}).startswith("○ acc_honest: c not attempted yet")
