"""Checkers of chapter 6: products of trade-off functions."""
import functools
import math

import numpy as np

from dplib import fdp
from provable_privacy.formulas import on_cases
from provable_privacy.speech import checker

__all__ = ["prod_band", "prod_squares", "prod_tensor", "prod_vendor"]


# --------------------------------------------------------------------------------------- two outputs, one test

def _tradeoff(p, q, alpha):
    """What the best randomized test of level alpha misses: a knapsack, filled by value for weight."""
    caught, room = 0.0, alpha
    for weight, value in sorted(zip(p.tolist(), q.tolist()), key=lambda pair: -math.atan2(*pair[::-1])):
        share = 1.0 if weight <= room else room / weight
        caught, room = caught + share * value, room - share * weight
        if share < 1:
            break
    return 1 - caught


def _without_coin(p, q, alpha):
    """The same without tossing a coin on the last outcome."""
    order = np.argsort(-np.arctan2(q, p), kind="stable")
    return 1 - q[order][np.cumsum(p[order]) <= alpha + 1e-12].sum()


def _joint(one, other):
    return [np.outer(a, b).ravel() for a, b in zip(one, other)]


def _apart(combine):
    """`combine(f, g)` of the two curves at alpha."""
    return lambda one, other, alpha: combine(_tradeoff(*one, alpha), _tradeoff(*other, alpha))


def _product(one, other, alpha):
    return _tradeoff(*_joint(one, other), alpha)


TENSOR_MISTAKES = {
    "this is the smaller of the two curves; an attacker who sees both outputs can do better than with either alone":
        _apart(min),
    "this is the larger of the two curves": _apart(max),
    "this multiplies the two values of beta, and so spends alpha twice, once on each output":
        _apart(lambda f, g: f * g),
    "this is T(Q, P): the two laws are exchanged":
        lambda one, other, alpha: _tradeoff(*_joint(one, other)[::-1], alpha),
    "the first test is applied after the second, 1 - f(1 - g): that is group privacy, not two outputs":
        lambda one, other, alpha: _tradeoff(*one, min(1.0, max(0.0, 1 - _tradeoff(*other, alpha)))),
    "the last outcome that no longer fits is left out; a test may toss a coin on it":
        lambda one, other, alpha: _without_coin(*_joint(one, other), alpha),
    "this is the probability of being caught, not of being missed": lambda *case: 1 - _product(*case),
}


def _tensor_cases():
    """Pairs of laws (p, q) for two outputs, and alpha: with ties, with impossible outcomes, and at random."""
    coin, rng = ([0.75, 0.25], [0.25, 0.75]), np.random.default_rng(8)
    given = [
        (([0.5, 0.5, 0.0], [0.2, 0.7, 0.1]), ([0.9, 0.1], [0.4, 0.6]), (0.03, 0.3, 0.0)),
        (coin, coin, (1 / 16, 0.25, 1.0, 0.0)),
        (([0.3, 0.7, 0.0, 0.0], [0.0, 0.6, 0.4, 0.0]), ([0.2, 0.3, 0.5], [0.5, 0.1, 0.4]), (0.1, 0.5, 0.8, 0.0)),
    ]
    for sizes in ((2, 3), (4, 4), (6, 2), (5, 7)):
        given.append((*([rng.dirichlet(np.ones(size)) for _ in range(2)] for size in sizes), (0.01, 0.05, 0.4)))
    return [(tuple(map(np.array, one)), tuple(map(np.array, other)), alpha)
            for one, other, levels in given for alpha in levels]


def _not_the_best(got, right, *case):
    if 0 < right - got < 1e-3:
        verdict = "close and on the safe side, as products on a grid are; with finitely many outcomes it can be exact"
    else:
        verdict = "too low: no test is that good" if got < right else "too high: there is a better test"
    return f"the best test misses {right:.6f}; {verdict}"


@checker
def prod_tensor(tensor):
    """`tensor(one, other, alpha)`: the product of T(one) and T(other) at alpha."""
    cases = _tensor_cases()
    on_cases(tensor, cases, _product, TENSOR_MISTAKES, rtol=0, atol=1e-9, what="the product", otherwise=_not_the_best,
             show=lambda one, other, alpha: f"alpha = {alpha:g}, laws of {one[0].size} and {other[0].size} outcomes")
    return f"the best test on both outputs, in {len(cases)} cases, impossible outcomes included"


# --------------------------------------------------------------------------------------- shares of mu

SHARES = [  # mu, sensitivities
    (1.0, [1.0, 10.0, 100.0]),
    (0.5, [2.0, 2.0]),
    (2.0, [5.0]),
    (1.5, [0.1, 3.0, 40.0, 7.0, 1.0]),
]


def _sigmas(mu, sensitivities):
    return np.sqrt(np.array(sensitivities) * sum(sensitivities)) / mu


def _spent(got, sensitivities):
    return math.sqrt(((sensitivities / got) ** 2).sum())


def _equal_mu(rule):
    """Each of n releases gets mu / rule(n)."""
    return lambda mu, sensitivities: np.array(sensitivities) * rule(len(sensitivities)) / mu


SHARE_MISTAKES = {
    "these are the variances; return the standard deviations": lambda *case: _sigmas(*case) ** 2,
    "each release spends the whole mu, and someone sees all of them": _equal_mu(lambda n: 1),
    "the mu add up in squares, not as they are, and less noise will do": _equal_mu(lambda n: n),
    "every release got the same mu, and that is not the least total variance": _equal_mu(math.sqrt),
    "every release got the same noise, and that is not the least total variance":
        lambda mu, sensitivities: np.full(len(sensitivities), np.linalg.norm(sensitivities) / mu),
}


def _as_good(got, right, mu, sensitivities):
    """At the best point the sum is flat, and optimisers stop anywhere near it."""
    exact = np.all(got > 0) and abs(_spent(got, sensitivities) / mu - 1) <= 1e-6
    return exact and (got**2).sum() <= (1 + 1e-5) * (right**2).sum()


def _too_much_or_too_little(got, right, mu, sensitivities):
    if not np.all(got > 0):
        return "a standard deviation must be positive"
    spent = _spent(got, sensitivities)
    if spent > mu * (1 + 1e-6):
        return f"together these are {spent:.7g}-GDP, more than was allowed"
    if spent < mu * (1 - 1e-6):
        return f"private, but only {spent:.7g} of mu is used, and less noise will do"
    return f"exactly mu, but the variances add up to {(got**2).sum() / (right**2).sum():.6g} times the least possible"


@checker
def prod_squares(sigmas):
    """`sigmas(mu, sensitivities)`: least total variance of Gaussian noises that are together mu-GDP."""
    on_cases(sigmas, SHARES, _sigmas, SHARE_MISTAKES, rtol=1e-8, what="the standard deviations", accepts=_as_good,
             shape=lambda mu, sensitivities: (len(sensitivities),), otherwise=_too_much_or_too_little)
    return "exactly mu-GDP together, and no other choice has less total variance"


# --------------------------------------------------------------------------------------- where the band begins

BANDS = [(2.0, 0.2), (1.0, 0.05), (0.1, 0.05), (3.0, 0.3), (0.1, 1e-5)]              # epsilon, alpha


def _gamma(epsilon, factor=0.56, third_about_mean=True, variance_about_mean=True):
    """Gamma of one randomized response."""
    p, mean = 1 / (1 + math.exp(epsilon)), epsilon * math.tanh(epsilon / 2)          # P(evidence = epsilon), kl
    a, b = mean * third_about_mean, mean * variance_about_mean
    return factor * (p * (epsilon + a) ** 3 + (1 - p) * (epsilon - a) ** 3) / (epsilon**2 - b**2) ** 1.5


def _fewest(epsilon, alpha, **changes):
    return math.ceil((_gamma(epsilon, **changes) / alpha) ** 2)


BAND_MISTAKES = {
    "one too few: round up, because gamma is still above alpha there": lambda *case: _fewest(*case) - 1,
    "gamma falls like 1/√n, not like 1/n": lambda epsilon, alpha: math.ceil(_gamma(epsilon) / alpha),
    "gamma uses the moment about the mean of the evidence; this uses κ3":
        lambda *case: _fewest(*case, third_about_mean=False),
    "the variance is κ2 - kl²; this uses κ2": lambda *case: _fewest(*case, variance_about_mean=False),
    "the factor 0.56 is missing": lambda *case: _fewest(*case, factor=1.0),
    "this is where gamma falls below one half; the band must also reach alpha":
        lambda epsilon, alpha: _fewest(epsilon, 0.5),
    "one too many": lambda *case: _fewest(*case) + 1,
}


def _at_the_edge(got, right, epsilon, alpha):
    """Whether rounding decides if this number or the next is the first."""
    n = (_gamma(epsilon) / alpha) ** 2
    return abs(got - right) <= max(1, 1e-9 * right) and abs(n - round(n)) < 1e-6 * n


def _not_the_first(got, right, epsilon, alpha):
    if got > right:
        return f"fewer are enough, {right:,}"
    gamma = _gamma(epsilon) / math.sqrt(max(got, 1))
    return f"gamma is {gamma:.4g} there, above alpha, and the band begins only at gamma"


@checker
def prod_band(fewest):
    """`fewest(epsilon, alpha)`: smallest n with gamma of n randomized responses at most alpha."""
    on_cases(fewest, BANDS, _fewest, BAND_MISTAKES, rtol=0, whole=True, what="the number of releases",
             show=lambda epsilon, alpha: f"epsilon = {epsilon:g}, alpha = {alpha:g}", accepts=_at_the_edge,
             otherwise=_not_the_first)
    return "the first n with γ ≤ α, for five pairs of ε and α"


# --------------------------------------------------------------------------------------- what a training costs

TRAININGS = [  # phases (q, sigma, how many steps), delta
    ([(0.01, 1.0, 1000), (0.05, 3.0, 200)], 1e-5),
    ([(0.3, 2.0, 20)], 1e-3),
    ([(1.0, 8.0, 16), (0.02, 1.5, 300)], 1e-6),
]


def _price(bill):
    """`bill(phases, delta)`, computed once for each case."""
    kept = functools.cache(bill)
    return lambda phases, delta: kept(tuple(phases), delta)


def _steps(phases):
    return [(fdp.gaussian(1 / sigma).subsample(q), times) for q, sigma, times in phases]


def _both(phases, delta):
    """In the two directions."""
    product = fdp.compose(_steps(phases))
    return product.epsilon(delta), product.inverse().epsilon(delta)


def _gaussian(square):
    """Of the Gaussian curve whose mu squared is the sum of `square(q, sigma, times)`."""
    return lambda phases, delta: fdp.gaussian(math.sqrt(sum(square(*phase) for phase in phases))).epsilon(delta)


TRUE_PRICE = _price(lambda phases, delta: max(_both(phases, delta)))
TRAINING_MISTAKES = {words: _price(bill) for words, bill in {
    "this is the limit once more; it is an approximation and here it promises too much":
        _gaussian(lambda q, sigma, times: q**2 * times * math.expm1(1 / sigma**2)),
    "this is one direction only; in the other direction the same steps cost more":
        lambda phases, delta: min(_both(phases, delta)),
    "each step was symmetrised before it was multiplied: safe, but each direction has a product of its own":
        lambda phases, delta:
            fdp.compose([(step.symmetrize(), times) for step, times in _steps(phases)]).epsilon(delta),
    "this is the cost without sampling, as if q were 1": _gaussian(lambda q, sigma, times: times / sigma**2),
    "each phase was converted to an epsilon of its own, and these were added":
        lambda phases, delta: sum(max(_both([phase], delta)) for phase in phases),
    "this is what the first phase costs alone": lambda phases, delta: max(_both(phases[:1], delta)),
    "every phase was charged for one step":
        lambda phases, delta: max(_both([(q, sigma, 1) for q, sigma, _ in phases], delta)),
}.items()}


def _not_the_price(got, right, *case):
    if abs(got - right) < 5e-4:
        verdict = "rounded down, it is a false promise; round up, or not at all"
    else:
        verdict = "too low, a false promise" if got < right else "safe, but more than it costs"
    return f"the product needs {right:.4f}: {verdict}"


@checker
def prod_vendor(honest_epsilon):
    """`honest_epsilon(phases, delta)`: exact epsilon of subsampled Gaussian steps, the worse of the two directions."""
    on_cases(honest_epsilon, TRAININGS, TRUE_PRICE, TRAINING_MISTAKES, rtol=2e-5, alike=2e-4, what="epsilon",
             accepts=lambda got, right, *case: right <= got < right * (1 + 5e-4), otherwise=_not_the_price,
             show=lambda phases, delta: f"phases {phases}, delta = {delta:g}")
    return "what the product of all steps needs; here the same direction always costs more, but in general compute both"
