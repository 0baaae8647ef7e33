"""The mechanisms: exact laws, pinned constants, and the same answers as trusted libraries."""
import itertools
import math

import mpmath
import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting.gaussian_mechanism import get_sigma_gaussian
from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism
from hypothesis import given
from hypothesis import strategies as st
from laws import DRAWS, PROPERTY, follows, has_scale, mean_is
from scipy import stats

from dplib.mechanisms import (
    discrete_gaussian,
    exponential,
    exponential_pmf,
    gaussian,
    gaussian_delta,
    gaussian_sigma,
    geometric,
    laplace,
    report_noisy_max,
)

dp.enable_features("contrib")

# Smallest sigma of Balle and Wang (2018), Theorem 8, at sensitivity 1, solved in 30 digits.
SIGMA = {
    (0.01, 1e-5): 243.785437676, (0.01, 1e-9): 458.508497497,
    (0.1, 1e-3): 17.404396203, (0.1, 1e-5): 30.749566132, (0.1, 1e-9): 50.209818263,
    (0.5, 1e-3): 4.61012795073, (0.5, 1e-5): 7.03182667558, (0.5, 1e-9): 10.6738968151,
    (1, 1e-2): 1.87787556091, (1, 1e-5): 3.73063163482, (1, 1e-6): 4.22467888933, (1, 1e-9): 5.49526615724,
    (2, 1e-5): 1.99381244564, (5, 1e-5): 0.891868264952, (8, 1e-3): 0.48001375248,
    (10, 1e-2): 0.350096686248, (10, 1e-5): 0.499888619709, (10, 1e-9): 0.650246918959,
}


def delta_of(sigma, epsilon):
    """delta(epsilon) of N(0, sigma^2) v N(1, sigma^2), in 50 digits."""
    with mpmath.workdps(50):
        sigma, epsilon = mpmath.mpf(sigma), mpmath.mpf(epsilon)
        a, b = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        return mpmath.ncdf(a) - mpmath.exp(epsilon) * mpmath.ncdf(b)


def classic_sigma(epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


# --- the Gaussian's sigma


@pytest.mark.parametrize("epsilon, delta", SIGMA)
def test_analytic_sigma_is_the_pinned_one_and_dp_accountings(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta=delta)
    assert sigma == pytest.approx(SIGMA[epsilon, delta], rel=3e-11)
    assert sigma == pytest.approx(get_sigma_gaussian(epsilon, delta), rel=1e-8)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-8, 1e-4, 0.1, 1, 30, 800, 1e5])
@pytest.mark.parametrize("delta", [1e-15, 1e-12, 1e-5, 0.5, 0.999999])
def test_analytic_sigma_never_promises_more_than_it_keeps(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta=delta)
    assert delta_of(sigma, epsilon) <= delta * (1 + 1e-15)
    if epsilon >= 1e-4:
        assert delta_of(sigma * (1 - 1e-8), epsilon) > delta


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("sigma", [0.4, 2.5, 7.0])
def test_sigma_to_delta_to_sigma_comes_back(sigma, epsilon):
    delta = float(delta_of(sigma, epsilon))
    if delta > 1e-300:
        assert gaussian_sigma(epsilon, delta=delta) == pytest.approx(sigma, rel=1e-9)


def test_sigma_is_proportional_to_the_sensitivity():
    assert gaussian_sigma(1.0, delta=1e-5, sensitivity=3.0) == pytest.approx(
        3 * gaussian_sigma(1.0, delta=1e-5), rel=1e-14)
    assert gaussian_sigma(1.0, delta=1e-5, sensitivity=3.0, method="classic") == pytest.approx(
        3 * classic_sigma(1, 1e-5), rel=1e-14)


@pytest.mark.parametrize("epsilon, pinned", [(0.1, 48.4480526261), (0.5, 9.68961052521), (1, 4.84480526261)])
def test_classic_sigma_is_pinned_valid_and_wasteful_up_to_epsilon_one(epsilon, pinned):
    sigma = gaussian_sigma(epsilon, delta=1e-5, method="classic")
    assert sigma == pytest.approx(pinned, rel=1e-11)
    assert delta_of(sigma, epsilon) < 1e-7 and sigma > 1.29 * gaussian_sigma(epsilon, delta=1e-5)


@pytest.mark.parametrize("epsilon", [1.0001, 2, 10])
def test_classic_sigma_is_refused_above_epsilon_one(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        gaussian_sigma(epsilon, delta=1e-5, method="classic")


def test_classic_formula_really_fails_for_large_epsilon():
    assert float(delta_of(classic_sigma(10, 1e-5), 10)) == pytest.approx(2.26537436479e-5, rel=1e-9)
    assert delta_of(classic_sigma(10, 1e-5), 10) > 1e-5


# --- samplers

TAILS = np.concatenate([[0.0005, 0.002, 0.01], np.linspace(0.025, 0.975, 39), [0.99, 0.998, 0.9995]])


def dlaplace_cdf(x, scale):
    return stats.dlaplace.cdf(x, 1 / scale)


def dgauss_cdf(x, sigma):
    support = np.arange(-60 * max(1, round(sigma)), 60 * max(1, round(sigma)) + 1)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    return np.cumsum(weights / weights.sum())[np.searchsorted(support, x)]


@pytest.mark.parametrize("sensitivity, epsilon", [(1, 1.0), (3.0, 0.2)])
def test_laplace_has_scale_sensitivity_over_epsilon(sensitivity, epsilon):
    noise = laplace(np.full(DRAWS, 7.0), sensitivity=sensitivity, epsilon=epsilon, rng=1) - 7
    scale = sensitivity / epsilon
    has_scale(noise, lambda x, s: stats.laplace.cdf(x, scale=s), scale, stats.laplace.ppf(TAILS, scale=scale))


@pytest.mark.parametrize("sigma", [0.3, 5.0])
def test_gaussian_has_the_given_standard_deviation(sigma):
    noise = gaussian(np.full(DRAWS, -2.0), sensitivity=10, sigma=sigma, rng=2) + 2
    has_scale(noise, lambda x, s: stats.norm.cdf(x, scale=s), sigma, stats.norm.ppf(TAILS, scale=sigma))


def test_gaussian_computes_sigma_from_epsilon_delta_and_sensitivity():
    sigma = 2 * SIGMA[1, 1e-5]
    noise = gaussian(np.zeros(DRAWS), sensitivity=2, epsilon=1, delta=1e-5, rng=3)
    has_scale(noise, lambda x, s: stats.norm.cdf(x, scale=s), sigma, stats.norm.ppf(TAILS, scale=sigma))


@pytest.mark.parametrize("sensitivity, epsilon", [(1, 0.1), (1, 1.0), (2, 0.5), (1, 4.0)])
def test_geometric_is_discrete_laplace(sensitivity, epsilon):
    noise = geometric(np.full(DRAWS, 5), sensitivity=sensitivity, epsilon=epsilon, rng=4) - 5
    has_scale(noise, dlaplace_cdf, sensitivity / epsilon, np.arange(-150, 150))


# 2 q / (1 - q)^2 with q = exp(-epsilon)
@pytest.mark.parametrize("epsilon, variance",
                         [(0.1, 199.833416634), (0.5, 7.83539617807), (1, 1.84134718842), (2, 0.362030830483)])
def test_geometric_has_the_closed_form_variance_and_no_bias(epsilon, variance):
    noise = geometric(np.zeros(DRAWS, dtype=int), sensitivity=1, epsilon=epsilon, rng=5).astype(float)
    mean_is(noise, 0)
    mean_is(noise**2, variance)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 10.0])
def test_discrete_gaussian_has_its_law(sigma):
    noise = discrete_gaussian(np.full(DRAWS, -3), sigma=sigma, rng=6) + 3
    has_scale(noise, dgauss_cdf, sigma, np.arange(-45, 45))


# by summation of z^2 exp(-z^2 / 2 sigma^2): below sigma = 1 clearly less than sigma^2
@pytest.mark.parametrize("sigma2, variance",
                         [(0.25, 0.215012675088), (0.5, 0.498979130833), (1, 0.999999788768), (4, 4.0), (100, 100.0)])
def test_discrete_gaussian_has_the_summed_variance(sigma2, variance):
    noise = discrete_gaussian(np.zeros(DRAWS, dtype=int), sigma=sigma2**0.5, rng=7).astype(float)
    mean_is(noise, 0)
    mean_is(noise**2, variance)


def test_discrete_gaussian_of_tiny_sigma_is_no_noise_and_needs_no_warning():
    assert discrete_gaussian(np.arange(5), sigma=1e-200, rng=0).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("draw", [
    lambda value: laplace(value, sensitivity=1, epsilon=1, rng=8),
    lambda value: gaussian(value, sensitivity=1, sigma=1, rng=8),
    lambda value: geometric(value, sensitivity=1, epsilon=0.01, rng=8),
    lambda value: discrete_gaussian(value, sigma=100, rng=8),
])
@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3)])
def test_noise_is_added_entry_by_entry_in_the_shape_of_the_value(draw, shape):
    value = np.full(shape, 40)
    noisy = draw(value)
    assert np.shape(noisy) == shape and len(np.unique(noisy)) == np.size(value)
    assert (value == 40).all()                   # the caller's array is left alone


@pytest.mark.parametrize("mechanism, parameters",
                         [(geometric, {"sensitivity": 1, "epsilon": 1.0}), (discrete_gaussian, {"sigma": 2.0})])
def test_integers_stay_integers(mechanism, parameters):
    assert mechanism(np.array([1, 2], dtype=np.int8), **parameters, rng=9).dtype == np.int64
    assert all(isinstance(mechanism(value, **parameters, rng=9), (int, np.integer)) for value in (3, True))


def test_noise_that_64_bits_cannot_hold_is_refused_and_not_left_out():
    with pytest.raises(ValueError):
        geometric(np.arange(5), sensitivity=1, epsilon=1e-25, rng=1)
    with pytest.raises(ValueError):
        discrete_gaussian(np.arange(5), sigma=1e20, rng=1)
    with pytest.raises(ValueError, match="sigma must be below 1e"):
        discrete_gaussian(np.arange(5), sigma=1e12, rng=1)
    assert np.ptp(discrete_gaussian(np.arange(5), sigma=np.nextafter(1e12, 0), rng=1)) > 1e9


@pytest.mark.parametrize("sensitivity, epsilon", [(1e-200, 1e200), (1e200, 1e-200)])
def test_a_scale_that_rounds_to_zero_or_infinity_is_refused(sensitivity, epsilon):
    with pytest.raises(ValueError):
        laplace(5.0, sensitivity=sensitivity, epsilon=epsilon, rng=1)


# --- the same guarantee in other libraries


@pytest.mark.parametrize("sensitivity, epsilon", [(1.0, 1.0), (3.0, 0.25), (0.5, 2.0)])
def test_laplace_scale_means_the_same_epsilon_to_opendp_and_dp_accounting(sensitivity, epsilon):
    scale = laplace(0.0, sensitivity=sensitivity, epsilon=epsilon, rng=1) / laplace(
        0.0, sensitivity=1, epsilon=1, rng=1)
    measurement = dp.m.make_laplace(dp.atom_domain(T=float, nan=False),
                                    dp.absolute_distance(T=float), scale=float(scale))
    assert measurement.map(sensitivity) == pytest.approx(epsilon, rel=1e-12)
    loss = from_laplace_mechanism(parameter=float(scale), sensitivity=sensitivity)
    for smaller in (0.3 * epsilon, 0.9 * epsilon):
        assert loss.get_delta_for_epsilon(smaller) == pytest.approx(-math.expm1((smaller - epsilon) / 2), rel=1e-6)
    assert loss.get_delta_for_epsilon(1.001 * epsilon) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("sensitivity, epsilon", [(1, 0.1), (2, 0.5), (1, 4.0)])
def test_geometric_scale_means_the_same_epsilon_to_opendp(sensitivity, epsilon):
    measurement = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=sensitivity / epsilon)
    assert measurement.map(sensitivity) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("monotone", [False, True])
def test_noisy_max_scale_means_the_same_epsilon_to_opendp(monotone):
    domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float, monotonic=monotone)
    measurement = dp.m.make_noisy_max(domain, metric, dp.max_divergence(), scale=(1 if monotone else 2) * 3 / 0.7)
    assert measurement.map(3.0) == pytest.approx(0.7, rel=1e-12)


# --- selection

SCORES = [30, 25, 8, 2]


# softmax of epsilon u / 2
@pytest.mark.parametrize("scores, epsilon, law", [
    (SCORES, 0.1, [0.424039866438157, 0.330242580035531, 0.141150609872458, 0.104566943653854]),
    (SCORES, 1, [0.924126846175303, 0.0758569508966076, 1.54344900770533e-05, 7.68438012689369e-07]),
    ([0, 0, 1], 2, [0.211941557617085, 0.211941557617085, 0.576116884765829]),
    ([5, 4, 3, 2, 1], 0.5,
     [0.310022009896051, 0.241445384076415, 0.188037854187688, 0.146444028088438, 0.114050723751407]),
])
def test_exponential_pmf_is_exact(scores, epsilon, law):
    assert exponential_pmf(scores, sensitivity=1, epsilon=epsilon) == pytest.approx(law, rel=1e-12)
    assert exponential_pmf(scores, sensitivity=3, epsilon=3 * epsilon) == pytest.approx(law, rel=1e-12)
    assert exponential_pmf(scores, sensitivity=1, epsilon=epsilon / 2, monotone=True) == pytest.approx(law, rel=1e-12)
    assert exponential_pmf(np.array(scores) + 1e6, sensitivity=1, epsilon=epsilon) == pytest.approx(law, rel=1e-9)


def worst_loss(law, moves, scores=(0, 0, 0)):
    """Largest log-ratio over all neighbours that move each score by one of `moves`."""
    here = np.log(law(np.array(scores, dtype=float)))
    others = [np.array(scores) + move for move in itertools.product(moves, repeat=len(scores))]
    return max(np.abs(np.log(law(other)) - here).max() for other in others)


@pytest.mark.parametrize("scores", [(0, 0, 0), (0, 30, 0), (2, 1, 0), (0, -40, -40)])
def test_exponential_loses_at_most_epsilon_and_nearly_that(scores):
    def law(scores):
        return exponential_pmf(scores, sensitivity=1, epsilon=1)

    loss = worst_loss(law, (-1, 0, 1), scores)
    assert loss <= 1 + 1e-12
    if scores == (0, 30, 0):                     # the far leader makes the sum, so a follower moves against it
        assert loss > 0.999999


def test_monotone_exponential_holds_for_moves_one_way_only():
    def law(scores):
        return exponential_pmf(scores, sensitivity=1, epsilon=1, monotone=True)

    for moves in ((0, 1), (-1, 0)):
        assert 0.999999 < worst_loss(law, moves, (0, 30, 0)) <= 1 + 1e-12
    assert worst_loss(law, (-1, 0, 1), (0, 30, 0)) > 1.999999


def permute_and_flip_pmf(scores, epsilon):
    """Exact law: the integral of p_i prod_{j != i} (1 - t p_j) over t in [0, 1] (McKenna and Sheldon 2020)."""
    p = np.exp(epsilon / 2 * (np.array(scores) - max(scores)))
    products = [np.prod([np.polynomial.Polynomial([1, -q]) for q in np.delete(p, i)]) for i in range(len(p))]
    return np.array([q * product.integ()(1.0) for q, product in zip(p, products)])


# P(i wins) = integral of the Laplace(2 / epsilon) density of i times the distribution functions of the others
LAPLACE_MAX = {
    0.1: [0.441416289995, 0.336682823706, 0.129190890308, 0.092709995992],
    1: [0.907641106953, 0.0923413003644, 1.67584304406e-05, 8.34251681521e-07],
}

MAX_LAWS = {
    "laplace": lambda epsilon: np.array(LAPLACE_MAX[epsilon]),
    "exponential": lambda epsilon: permute_and_flip_pmf(SCORES, epsilon),
    "gumbel": lambda epsilon: exponential_pmf(SCORES, sensitivity=1, epsilon=epsilon),
}


@pytest.mark.parametrize("noise", MAX_LAWS)
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_report_noisy_max_has_its_exact_law(noise, epsilon):
    draws = report_noisy_max(np.array(SCORES) * 5, sensitivity=5, epsilon=epsilon, noise=noise, size=DRAWS, rng=10)
    wrong = [law(epsilon) for name, law in MAX_LAWS.items() if name != noise]        # the three can be told apart
    follows(np.bincount(draws, minlength=4), MAX_LAWS[noise](epsilon), *wrong)


@pytest.mark.parametrize("noise", MAX_LAWS)
def test_report_noisy_max_of_monotone_scores_has_half_the_noise(noise):
    draws = report_noisy_max(SCORES, sensitivity=2, epsilon=1, noise=noise, monotone=True, size=DRAWS, rng=15)
    halves = MAX_LAWS[noise](1)                  # the law of sensitivity 1 with the 2
    follows(np.bincount(draws, minlength=4), halves, *(law(0.1) for law in MAX_LAWS.values()),
            permute_and_flip_pmf(SCORES, 0.5))


@pytest.mark.parametrize("noise", MAX_LAWS)
def test_the_monotone_rate_costs_epsilon_if_all_scores_move_one_way_and_up_to_twice_that_otherwise(noise):
    nodes, weights = np.polynomial.legendre.leggauss(24)
    tail, density = {
        "exponential": (lambda x: np.where(x > 0, np.exp(-np.abs(x)), 1.0), lambda x: (x > 0) * np.exp(-np.abs(x))),
        "laplace": (lambda x: np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2),
                    lambda x: np.exp(-np.abs(x)) / 2),
        "gumbel": (lambda x: -np.expm1(-np.exp(-x)), lambda x: np.exp(-x - np.exp(-x))),
    }[noise]

    def law(scores):
        """By quadrature on panels between whole numbers, at epsilon = sensitivity = 1: noise of scale 1."""
        x = (np.arange(-30, 60)[:, None] + 0.5 + nodes / 2).ravel()
        w = np.tile(weights / 2, 90)
        return np.array(
            [np.sum(w * density(x - u) * np.prod([1 - tail(x - v) for j, v in enumerate(scores) if j != i], axis=0))
                         for i, u in enumerate(scores)])

    draws = report_noisy_max([0, 1, 2, 2], sensitivity=1, epsilon=1, noise=noise, monotone=True, size=DRAWS, rng=16)
    follows(np.bincount(draws, minlength=4), law([0, 1, 2, 2]))
    one_way, both_ways = ((law(one), law(other)) for one, other in (([0, 9, 9], [1, 9, 10]), ([0, 9, 9], [1, 8, 8])))
    assert (0.5 < np.abs(np.log(one_way[0] / one_way[1])).max() <= 1 + 1e-9
            < 1.9 < np.abs(np.log(both_ways[0] / both_ways[1])).max() <= 2 + 1e-9)


@pytest.mark.parametrize("monotone", [False, True])
def test_exponential_draws_from_its_pmf(monotone):
    draws = exponential(SCORES, sensitivity=1, epsilon=0.1, monotone=monotone, size=DRAWS, rng=11)
    laws = [exponential_pmf(SCORES, sensitivity=1, epsilon=0.1 * off, monotone=monotone) for off in (1, 1.05, 1 / 1.05)]
    follows(np.bincount(draws, minlength=4), *laws)


def test_noisy_max_with_gumbel_noise_is_the_exponential_mechanism():
    parameters = {"sensitivity": 1, "epsilon": 0.1, "size": 1000, "rng": 12}
    assert (report_noisy_max(SCORES, noise="gumbel", **parameters) == exponential(SCORES, **parameters)).all()


def test_permute_and_flip_scores_at_least_as_well_as_the_exponential_mechanism():
    for epsilon in (0.1, 1):                     # its expected score, from the law that the draws follow
        assert (permute_and_flip_pmf(SCORES, epsilon) @ SCORES
                >= exponential_pmf(SCORES, sensitivity=1, epsilon=epsilon) @ SCORES)


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
def test_equal_scores_are_equally_likely_however_large(noise):
    draws = report_noisy_max([1e17] * 4, sensitivity=1, epsilon=1, noise=noise, size=10_000, rng=13)
    follows(np.bincount(draws, minlength=4), [0.25] * 4)


@pytest.mark.parametrize("select", [exponential, report_noisy_max])
def test_selection_returns_one_int_or_as_many_as_asked(select):
    assert isinstance(select([1.0, 2.0], sensitivity=1, epsilon=1, rng=0), int)
    assert select([1.0, 2.0], sensitivity=1, epsilon=1, size=0, rng=0).shape == (0,)
    assert select([1.0, 2.0], sensitivity=1, epsilon=1, size=7, rng=0).shape == (7,)


@PROPERTY
@given(st.lists(st.floats(), min_size=1, max_size=6), st.floats(1e-3, 1e3), st.booleans())
def test_exponential_pmf_is_a_law_whatever_the_scores(scores, epsilon, monotone):
    law = exponential_pmf(scores, sensitivity=1, epsilon=epsilon, monotone=monotone)
    assert (law >= 0).all() and law.sum() == pytest.approx(1)
    order = np.argsort(np.nan_to_num(scores, nan=-np.inf))
    assert (np.diff(law[order]) >= -1e-15).all()                                     # a better score is likelier


# --- the Gaussian's delta


# Balle and Wang (2018), Theorem 8: at sigma = 1, epsilon = 1 it is Phi(-1/2) - e Phi(-3/2); at epsilon = 0 it is 2
# Phi(1/(2 sigma)) - 1
@pytest.mark.parametrize("epsilon, sigma, delta", [
    (1, 1, 0.126936737507), (0, 1, 0.382924922548), (0, 0.25, 0.954499736104),
    (2, 1, 0.0209236358211), (0.1, 10, 0.00875176814581),
])
def test_gaussian_delta_is_pinned(epsilon, sigma, delta):
    assert gaussian_delta(epsilon, sigma=sigma) == pytest.approx(delta, rel=1e-10)
    assert gaussian_delta(epsilon, sigma=3 * sigma, sensitivity=3.0) == pytest.approx(delta, rel=1e-10)


@PROPERTY
@given(st.floats(0, 30), st.floats(-2, 2), st.floats(0, 4))
def test_gaussian_delta_is_never_below_the_truth_and_hardly_above(epsilon, log_sigma, further):
    sigma = 10**log_sigma
    for loss in (epsilon, abs(0.5 / sigma**2 + further / sigma)):      # the second near where delta leaves 1 behind
        truth = delta_of(sigma, loss)
        if truth > 1e-290:
            assert truth <= gaussian_delta(loss, sigma=sigma) <= truth * (1 + 1e-10) + 1e-15


@pytest.mark.parametrize("epsilon, delta", SIGMA)
def test_gaussian_delta_answers_the_inverse_question(epsilon, delta):
    assert gaussian_delta(epsilon, sigma=gaussian_sigma(epsilon, delta=delta)) == pytest.approx(delta, rel=1e-9)
    assert gaussian_delta(epsilon, sigma=gaussian_sigma(epsilon, delta=delta)) <= delta


@PROPERTY
@given(st.floats(0, 20), st.floats(0.05, 50), st.floats(1.001, 3))
def test_gaussian_delta_falls_with_epsilon_and_sigma(epsilon, sigma, factor):
    delta, last_digit = gaussian_delta(epsilon, sigma=sigma), 1 + 1e-14
    assert gaussian_delta(epsilon * factor, sigma=sigma) <= delta * last_digit
    assert gaussian_delta(epsilon, sigma=sigma * factor) <= delta * last_digit and delta <= 1


@pytest.mark.parametrize("epsilon, sigma, delta", [
    (0, 1e-300, 1), (1e308, 1e-300, 1), (1e308, 1e300, 0), (1e308, 1.0, 0),
    (0, 1e300, 0), (5e-324, 1e-10, 1), (0, 1e16, 0),
])
def test_gaussian_delta_has_no_trouble_at_the_ends(epsilon, sigma, delta):
    assert gaussian_delta(epsilon, sigma=sigma) == pytest.approx(delta, abs=1e-14)
