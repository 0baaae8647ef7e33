"""f-DP: closed forms, exact products by brute force, independent accountants, and the safe side of every number."""
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import gammaln
from scipy.stats import binom, norm

from dplib import fdp
from dplib.fdp import TradeOff, approx, clt, compose, finite, from_curve, gaussian, laplace, moments
from dplib.fdp.tradeoff import lower_hull

ALPHA = np.concatenate([[0, 1e-12, 1e-6, 1e-3], np.linspace(0.01, 0.99, 99), [1 - 1e-6, 1]])
EPSILON = np.linspace(0, 6, 61)
LAST_DIGITS = 2e-15


def numeric(f):
    """The same trade-off function without its closed forms."""
    return replace(f, curve=None, mu=None)


def randomized_response_epsilon(n, epsilon, delta):
    """Smallest total epsilon of n answers, by bisection on the binomial sum in logarithms."""
    lies = np.arange(n + 1)
    log_p = gammaln(n + 1) - gammaln(lies + 1) - gammaln(n - lies + 1) - lies * epsilon - n * math.log1p(
        math.exp(-epsilon))
    loss, low, high = (n - 2 * lies) * epsilon, 0.0, n * epsilon
    for _ in range(100):
        middle = (low + high) / 2
        above = loss > middle
        small = (np.exp(log_p[above]) * -np.expm1(middle - loss[above])).sum() <= delta
        low, high = (low, middle) if small else (middle, high)
    return high


# --- closed forms


@pytest.mark.parametrize("f, curve", [
    *((gaussian(mu), lambda a, mu=mu: norm.cdf(norm.isf(a) - mu)) for mu in (0.3, 1.0, 3.0)),
    *((approx(e, delta=d),
       lambda a, e=e, d=d: np.maximum(0, np.maximum(1 - d - np.exp(e) * a, np.exp(-e) * (1 - d - a))))
      for e, d in ((1.0, 0.0), (0.5, 0.1), (0.0, 0.2), (3.0, 1e-3))),
    *((laplace(e), lambda a, e=e: np.where(a < np.exp(-e) / 2, 1 - np.exp(e) * a, np.where(
        a <= 0.5, np.exp(-e) / np.maximum(4 * a, 1e-300), np.exp(-e) * (1 - a)))) for e in (0.2, 1.0, 3.0)),
    (gaussian(0.0), lambda a: 1 - a),
])
def test_the_curve_is_its_closed_form_and_the_profiles_give_it_back(f, curve):
    assert f(ALPHA) == pytest.approx(curve(ALPHA), abs=LAST_DIGITS)
    from_profiles = numeric(f)(ALPHA)
    assert from_profiles == pytest.approx(curve(ALPHA), abs=1e-9)
    assert np.all(from_profiles <= curve(ALPHA) + LAST_DIGITS)


def test_pinned_values():
    assert [float(gaussian(mu)(0.05)) for mu in (0.5, 1, 2)] == pytest.approx(
        [0.87386510180657, 0.740488977158556, 0.361240], abs=1e-6)
    assert gaussian(1.0).delta([0.0, 1.0]) == pytest.approx([0.382924922548, 0.126936737507], abs=1e-12)
    assert gaussian(0.25).delta(1.0) == pytest.approx(2.92427210486e-6, rel=1e-9)
    assert [gaussian(mu).epsilon(1e-5) for mu in (0.1, 1, 4)] == pytest.approx(
        [0.340669364684, 4.37717809568, 24.3816108831], abs=1e-9)
    assert laplace(2.0).delta([0.0, 0.5, 1.0, 2.0, 3.0]) == pytest.approx(
        [0.632120558829, 0.527633447259, 0.393469340287, 0, 0], abs=1e-12)


@pytest.mark.parametrize("f", [gaussian(1.0), laplace(1.0), approx(1.0, delta=0.05),
                               finite([0.2, 0.3, 0.5], [0.4, 0.5, 0.1]), gaussian(1.0).subsample(0.3)])
def test_delta_is_the_conjugate_of_the_curve_in_both_directions(f):
    alpha = np.unique(np.concatenate([np.geomspace(1e-9, 1, 4001), 1 - np.geomspace(1e-9, 1, 4001)]))
    for g in (f, f.inverse()):
        brute = np.max(1 - g(alpha) - np.exp(EPSILON)[:, None] * alpha, axis=1)
        assert g.delta(EPSILON) == pytest.approx(brute, abs=1e-3)
        assert np.all(g.delta(EPSILON) >= brute - 1e-14)


@pytest.mark.parametrize("f", [gaussian(2.0), laplace(1.0), approx(1.0, delta=0.01),
                               laplace(0.2) ** 30, gaussian(1.0).subsample(0.1)])
@pytest.mark.parametrize("delta", [0.02, 1e-3, 1e-5, 1e-9])
def test_epsilon_is_the_smallest_that_keeps_delta(f, delta):
    epsilon = f.epsilon(delta)
    if epsilon == math.inf:
        assert f.delta(1e3) > delta
    else:
        assert f.delta(epsilon) <= delta
        assert epsilon == 0 or f.delta(epsilon * (1 - 1e-9) - 1e-11) > delta


def test_the_ends():
    assert gaussian(1.0).epsilon(0.0) == math.inf
    assert approx(1.0, delta=0.01).epsilon(0.005) == math.inf
    assert approx(1.0, delta=0.01).epsilon(0.01) == pytest.approx(1.0)
    assert approx(0.0, delta=0.1).epsilon(0.1) == 0
    assert (approx(0.1) ** 10).epsilon(0.0) == pytest.approx(1.0)
    assert (laplace(0.1) ** 10).epsilon(0.0) == pytest.approx(1.0)
    assert laplace(1.0).subsample(0.1).epsilon(0.0) == pytest.approx(math.log1p(0.1 * math.expm1(1)))
    assert laplace(1.0).subsample(0.1).inverse().epsilon(0.0) == pytest.approx(-math.log1p(0.1 * math.expm1(-1)))
    assert approx(1.0, delta=0.01).delta(math.inf) == 0.01 and gaussian(1.0).delta([0.0, math.inf])[1] == 0
    assert gaussian(50.0).epsilon(1e-5) > 1400 and gaussian(1e-9).epsilon(1e-5) == 0
    assert isinstance(float(gaussian(1.0)(0.5)), float) and gaussian(1.0)([[0.1, 0.2]]).shape == (1, 2)


# --- products


@pytest.mark.parametrize("n", [2, 100, 10_000])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
def test_n_answers_of_randomized_response_are_the_binomial(n, delta):
    exact = randomized_response_epsilon(n, n**-0.5, delta)
    assert exact <= (approx(n**-0.5) ** n).epsilon(delta) <= exact + 1e-5


@pytest.mark.parametrize("n", [2, 100, 10_000])
@pytest.mark.parametrize("delta", [0.1, 1e-2, 1e-5, 1e-9])
def test_the_lattice_costs_at_most_a_ten_thousandth_of_epsilon_and_is_never_below_the_gaussian(n, delta):
    exact = gaussian(1.0).epsilon(delta)
    assert exact <= (numeric(gaussian(n**-0.5)) ** n).epsilon(delta) <= exact + 1e-4
    f = numeric(gaussian(n**-0.5)) ** n
    assert np.all(f(ALPHA) <= gaussian(1.0)(ALPHA) + LAST_DIGITS) and np.all(f(ALPHA) >= gaussian(1.0)(ALPHA) - 3e-5)


def test_gaussians_stay_gaussian():
    assert (gaussian(3.0) @ gaussian(4.0)).mu == 5 and (gaussian(0.5) ** 4).mu == 1 and gaussian(0.5).group(4).mu == 2
    assert (numeric(gaussian(1.0)) @ numeric(gaussian(2.0)))(ALPHA) == pytest.approx(gaussian(5**0.5)(ALPHA), abs=1e-6)
    assert (gaussian(0.0) @ laplace(1.0))(0.3) == laplace(1.0)(0.3) and (laplace(1.0) ** 0)(0.3) == 0.7
    assert compose([(gaussian(0.6), 1), (gaussian(0.4), 4)]).mu == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon, delta", [(1.0, 0.1), (0.3, 0.01), (2.0, 0.5)])
def test_approx_is_pure_times_a_flat_part(epsilon, delta):
    f = approx(epsilon) @ approx(0.0, delta=delta)
    assert f(ALPHA) == pytest.approx(approx(epsilon, delta=delta)(ALPHA), abs=1e-9)
    assert f.delta(EPSILON) == pytest.approx(approx(epsilon, delta=delta).delta(EPSILON), abs=1e-9)


@pytest.mark.parametrize("epsilon, delta, k", [(0.1, 1e-4, 20), (0.5, 1e-3, 7), (1.0, 0.01, 3)])
def test_approx_to_the_n_is_kairouz_oh_viswanath(epsilon, delta, k):
    f, lies = approx(epsilon, delta=delta) ** k, np.arange(k + 1)
    p = binom.pmf(lies, k, 1 / (1 + math.exp(epsilon)))
    for i in range(k // 2 + 1):
        total = (k - 2 * i) * epsilon
        exact = 1 - (1 - delta) ** k * (1 - (p * np.maximum(0, -np.expm1(total - (k - 2 * lies) * epsilon))).sum())
        assert exact - 1e-15 <= f.delta(total) <= exact + 1e-8


def law(draw, k, zeros):
    weights = np.array(draw(st.lists(st.integers(0 if zeros else 1, 20), min_size=k, max_size=k).filter(sum)),
                       dtype=float)
    return weights / weights.sum()


@st.composite
def pairs(draw, zeros=True):
    k = draw(st.integers(1, 4))
    return law(draw, k, zeros), law(draw, k, zeros)


def brute_delta(p, q, epsilon):
    return np.maximum(q - np.exp(np.reshape(epsilon, (-1, 1))) * p, 0).sum(axis=1)


def brute_curve(p, q, alpha):
    """Neyman and Pearson: all threshold tests, joined by straight lines."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(p > 0, q / p, np.where(q > 0, np.inf, 0)), kind="stable")
    first, second = (np.concatenate([[0], np.cumsum(x[order])]) for x in (p, q))
    best = np.array([1 - second[np.flatnonzero(first <= 1e-15)].max()])
    keep = np.flatnonzero(first > 1e-15)
    return np.interp(alpha, np.append(0, first[keep]), np.append(best, 1 - second[keep]))


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_a_finite_pair_is_neyman_pearson(pair):
    p, q = pair
    f, brute = finite(p, q), brute_curve(p, q, ALPHA)
    assert np.all(f(ALPHA) <= brute + 1e-13) and f(ALPHA) == pytest.approx(brute, abs=1e-9)
    for g, exact in ((f, brute_delta(p, q, EPSILON)), (f.inverse(), brute_delta(q, p, EPSILON))):
        assert np.all(g.delta(EPSILON) >= exact - 1e-15) and g.delta(EPSILON) == pytest.approx(exact, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(pairs(), pairs(), st.integers(1, 3))
def test_a_product_is_on_the_safe_side_of_the_product_law_and_near_it(one, two, n):
    f = finite(*one) ** n @ finite(*two)
    p, q = (np.array([math.prod(x) for x in product(*[a] * n, b)]) for a, b in zip(one, two))
    for g, exact in ((f, brute_delta(p, q, EPSILON)), (f.inverse(), brute_delta(q, p, EPSILON))):
        assert np.all(g.delta(EPSILON) >= exact - 1e-15) and g.delta(EPSILON) == pytest.approx(exact, abs=2e-3)
    assert np.all(f(ALPHA) <= brute_curve(p, q, ALPHA) + 1e-13)
    assert f(ALPHA) == pytest.approx((finite(*two) @ finite(*one) ** n)(ALPHA), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(pairs(), st.sampled_from(["self", "inverse", "symmetrize", "subsample", "square"]))
def test_every_trade_off_function_is_convex_decreasing_and_below_1_minus_alpha(pair, how):
    f = finite(*pair)
    f = {"self": lambda: f, "inverse": f.inverse, "symmetrize": f.symmetrize, "subsample": lambda: f.subsample(0.4),
         "square": lambda: f**2}[how]()
    alpha = np.linspace(0, 1, 41)
    beta = f(alpha)
    assert np.all(np.diff(beta) <= 1e-12) and np.all(np.diff(beta, 2) >= -1e-9)
    assert np.all((beta >= 0) & (beta <= 1 - alpha))
    assert f.inverse().inverse()(alpha) == pytest.approx(beta, abs=1e-9)
    assert np.all(np.diff(f.delta(EPSILON)) <= 1e-12)
    inverse = f.inverse()(np.clip(beta + 1e-7, 0, 1))        # the smallest alpha at which f is at most beta
    assert np.all(inverse <= alpha + 1e-5)


@pytest.mark.parametrize("f", [finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]),
                               gaussian(1.0).subsample(0.2), finite([0.9, 0.1], [0.5, 0.5])])
def test_symmetrize_is_the_worse_direction_and_the_convex_hull_of_the_minimum(f):
    g, both = f.symmetrize(), np.minimum(f(ALPHA), f.inverse()(ALPHA))
    assert g.delta(EPSILON) == pytest.approx(np.maximum(f.delta(EPSILON), f.inverse().delta(EPSILON)))
    assert g.symmetric and g.inverse() is g and np.all(g(ALPHA) <= both + 1e-12)
    a = np.linspace(0, 1, 2001)
    hull = np.array(lower_hull(a, np.minimum(f(a), f.inverse()(a))))
    assert g(ALPHA) == pytest.approx(np.interp(ALPHA, *hull), abs=1e-3)


def test_worst_keeps_every_promise_and_no_more():
    f, g = laplace(1.0), gaussian(1.0).subsample(0.5)
    w = fdp.worst([f, g])
    assert w.delta(EPSILON) == pytest.approx(np.maximum(f.delta(EPSILON), g.delta(EPSILON)))
    assert w.inverse().delta(EPSILON) == pytest.approx(np.maximum(f.delta(EPSILON), g.inverse().delta(EPSILON)))
    assert np.all(w(ALPHA) <= np.minimum(f(ALPHA), g(ALPHA)) + 1e-12)
    assert fdp.worst([gaussian(1.0), gaussian(2.0)]).mu == 2 and fdp.worst([f, f]) is f
    with pytest.raises(ValueError, match="functions"):
        fdp.worst([])


# --- subsampling, groups


@pytest.mark.parametrize("f", [gaussian(1.0), laplace(2.0), approx(1.0, delta=0.1),
                               finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.999])
def test_subsampling_mixes_with_the_identity(f, p):
    g, mixed = f.subsample(p), p * f(ALPHA) + (1 - p) * (1 - ALPHA)
    assert g(ALPHA) == pytest.approx(mixed, abs=1e-9) and np.all(g(ALPHA) <= mixed + 1e-13)
    assert f.subsample(1) is f


@pytest.mark.parametrize("loss", [1e-6, 0.1, 0.99, 1.5])
@pytest.mark.parametrize("p", [1e-3, 0.1, 0.9])
def test_what_is_left_of_a_bounded_loss_under_subsampling_is_known_to_the_last_digits(loss, p):
    """The largest loss of taking part or not: ln(1 - p + p e^loss) in one direction,
    -ln(1 - p + p e^-loss) in the other."""
    for f in (approx(loss), laplace(loss)):
        g = f.subsample(p)
        assert g.epsilon(0.0) == pytest.approx(math.log1p(p * math.expm1(loss)), rel=1e-11)
        assert g.inverse().epsilon(0.0) == pytest.approx(-math.log1p(p * math.expm1(-loss)), rel=1e-11)


@pytest.mark.parametrize("f, exact", [(numeric(gaussian(1.0)), lambda k: gaussian(float(k)))])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_group_of_k_gaussians_is_k_mu_and_its_delta_never_too_small(f, exact, k):
    g = f.group(k)
    assert g(ALPHA) == pytest.approx(exact(k)(ALPHA), abs=1e-8) and np.all(g(ALPHA) <= exact(k)(ALPHA) + 1e-12)
    delta = norm.cdf(k / 2 - EPSILON / k) - np.exp(EPSILON) * norm.cdf(-k / 2 - EPSILON / k)
    assert np.all(g.delta(EPSILON) >= delta - 1e-15) and np.all(g.delta(EPSILON) <= delta * (1 + 1e-3))


@pytest.mark.long
@pytest.mark.parametrize("f", [laplace(0.7), approx(0.7), approx(0.5, delta=0.02),
                               gaussian(1.0).subsample(0.2), finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])])
@pytest.mark.parametrize("k", [2, 3])
def test_the_delta_of_a_group_is_above_that_of_its_curve_and_near_it(f, k):
    alpha = np.unique(np.concatenate([np.geomspace(1e-7, 1, 4001), np.linspace(0, 1, 4001)]))
    for h in (f, f.inverse()):
        beta = alpha
        for _ in range(k):
            beta = 1 - h(beta)
        brute = np.max(beta - np.exp(EPSILON)[:, None] * alpha, axis=1)
        assert np.all(h.group(k).delta(EPSILON) >= brute - 1e-9)
        assert h.group(k).delta(EPSILON) == pytest.approx(brute, abs=1e-3)
        assert h.group(k)(alpha) == pytest.approx(1 - beta, abs=1e-12)


# --- other accountants


def worst(f, n, delta=1e-5):
    return max((f**n).epsilon(delta), (f.inverse() ** n).epsilon(delta))


def test_dp_sgd_is_pinned_and_symmetrising_first_costs_a_tenth():
    f = gaussian(1 / 4).subsample(0.01)
    assert 0.946868 <= worst(f, 10_000) <= 0.94688
    assert worst(f.symmetrize(), 10_000) == pytest.approx(1.039, abs=2e-3)
    assert 1.8277 <= worst(gaussian(1.0).subsample(0.01), 1000) <= 1.8287
    assert 1.1323 <= worst(gaussian(1 / 1.1).subsample(256 / 60_000), 3515) <= 1.1351


def test_products_lie_within_the_brackets_of_the_privacy_loss_distributions_of_dp_accounting():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for f, make, n in (
        (laplace(0.1), lambda pessimistic: pld.from_laplace_mechanism(
            10.0, pessimistic_estimate=pessimistic, value_discretization_interval=1e-4), 100),
        (gaussian(0.5).subsample(0.1), lambda pessimistic: pld.from_gaussian_mechanism(
            2.0, sampling_prob=0.1, pessimistic_estimate=pessimistic, value_discretization_interval=1e-4), 100),
    ):
        high, low = (make(pessimistic).self_compose(n) for pessimistic in (True, False))
        for delta in (1e-2, 1e-5):
            assert low.get_epsilon_for_delta(delta) <= worst(f, n, delta) <= high.get_epsilon_for_delta(delta) + 2e-5


def test_the_curve_of_a_subsampled_gaussian_is_riskcals():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    conversions = pytest.importorskip("riskcal.analysis.conversions")
    f, alpha = gaussian(1.0).subsample(0.1).symmetrize(), np.linspace(0.01, 0.99, 50)
    other = pld.from_gaussian_mechanism(1.0, sampling_prob=0.1, value_discretization_interval=1e-4)
    assert f(alpha) == pytest.approx(conversions.get_beta_from_pld(other, alpha=alpha), abs=1e-4)


def test_a_product_of_everything_is_near_what_the_central_limit_theorem_says():
    parts = [(laplace(0.03), 500), (gaussian(0.03), 500), (approx(0.03), 500)]
    f = compose(parts)
    assert f.epsilon(1e-5) == pytest.approx(5.19817, abs=2e-4) and f.symmetric
    assert f(ALPHA) == pytest.approx(gaussian(clt(parts).mu)(ALPHA), abs=2e-3)
    assert (laplace(0.03) ** 500 @ gaussian(0.03) ** 500 @ approx(0.03) ** 500).epsilon(1e-5) == pytest.approx(
        f.epsilon(1e-5), rel=1e-9)


# --- curves from points


@pytest.mark.parametrize("f", [gaussian(1.0), laplace(1.5), approx(0.8, delta=0.05),
                               finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])])
@pytest.mark.parametrize("alpha", [np.linspace(0, 1, 11), np.linspace(0.05, 0.9, 7),
                                   np.geomspace(1e-4, 0.5, 30), np.array([0.3])])
def test_a_curve_from_points_is_below_every_curve_through_them(f, alpha):
    g, a = from_curve(alpha, f(alpha)), np.linspace(0, 1, 1001)
    assert np.all(g(a) <= f(a) + 1e-9)
    assert np.all(g.delta(EPSILON) >= f.delta(EPSILON) - 1e-9)
    assert np.all(g.inverse().delta(EPSILON) >= f.inverse().delta(EPSILON) - 1e-9)
    if alpha.size == 30:
        assert g(0.2) == pytest.approx(f(0.2), abs=0.02)


def test_a_curve_from_points_is_the_lower_hull_of_the_dips_by_hand():
    f = from_curve([0.0, 0.25, 0.5, 1.0], [1.0, 0.5, 0.25, 0.0])          # slopes -2, -1, -1/2
    dips = {0.0: 0.75, 1 / 3: 1 / 3, 0.75: 0.0}      # 1 - 2a meets 1/2 - a/2 at 1/3; 3/4 - a meets 0 at 3/4
    for alpha, beta in dips.items():
        assert float(f(alpha)) == pytest.approx(beta, abs=1e-12)


def test_a_delta_that_the_telling_outcomes_use_up_leaves_an_epsilon():
    f = finite([0.9, 0.1, 0.0], [0.1, 0.8, 0.1])      # a tenth tells all; else the loss is ln 8 at most
    assert f.epsilon(0.1) == pytest.approx(math.log(8)) and f.epsilon(0.0999) == math.inf
    assert finite([0.5, 0.5, 0.0], [0.2, 0.3, 0.5]).epsilon(0.5) == 0


@pytest.mark.parametrize("alpha", [[0.5], [0.25, 0.5], [0.0, 0.5, 1.0], np.linspace(0.1, 0.9, 9)])
def test_points_of_perfect_privacy_prove_it(alpha):
    f, grid = from_curve(alpha, 1 - np.asarray(alpha)), np.linspace(0, 1, 101)
    assert f(grid) == pytest.approx(1 - grid, abs=1e-12)


@pytest.mark.parametrize("f, dots", [
    (gaussian(1.0), [4, 40]), (approx(0.8, delta=0.05), [8, 24, 48]), (laplace(1.5), [0, 16]),
    (finite([0.5, 0.5], [0.2, 0.8]), [40]),
    (finite([0.5, 0.5], [0.25, 0.75]), [10, 20, 30, 50, 60, 70]), (finite([0.5, 0.5], [0.25, 0.75]), [10, 20, 60, 70]),
])
def test_a_curve_from_points_is_the_highest_convex_one_below_all_curves_through_them(f, dots):
    """By linear programming over convex curves on a grid, and the hull of their infimum by all its chords."""
    n = 80
    grid, bends = np.linspace(0, 1, n + 1), -np.diff(np.eye(n + 1), 2, axis=0)
    known = {n: 0.0, **{k: float(f(grid[k])) for k in dots}}
    bounds = [(known.get(k, 0.0), known.get(k, 1.0)) for k in range(n + 1)]
    lowest = np.array([linprog(np.eye(n + 1)[k], A_ub=bends, b_ub=np.zeros(n - 1), bounds=bounds).fun
                       for k in range(n + 1)])
    g, hull = from_curve(grid[dots], f(grid[dots])), lowest.copy()
    for i in range(n):
        for j in range(i + 2, n + 1):
            hull[i + 1:j] = np.minimum(hull[i + 1:j], lowest[i] + (lowest[j] - lowest[i])
                                       * (grid[i + 1:j] - grid[i]) / (grid[j] - grid[i]))
    assert np.all(g(grid) <= lowest + 1e-9)
    steepest = float(abs(g(1e-6) - g(0.0)) / 1e-6)      # the grid misses a corner by half a cell at most
    # at 0 a known height is no help: trade-off functions are continuous
    assert np.abs(g(grid) - hull)[1:].max() <= steepest / n


@pytest.mark.parametrize("alpha, beta", [
    ([0.2, 0.5], [0.9, 0.1]), ([0.2, 0.5, 0.8], [0.5, 0.45, 0.1]), ([0.2, 0.5], [0.3, 0.4]),
    ([0.5, 1.0], [0.2, 0.1]), ([0.1, 0.2, 0.3], [0.8, 0.79, 0.1]),
])
def test_points_on_no_trade_off_function_are_refused(alpha, beta):
    with pytest.raises(ValueError, match="beta"):
        from_curve(alpha, beta)


# --- moments and the central limit theorem


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_moments_of_randomized_response_and_the_gaussian(epsilon):
    m, kl = moments(approx(epsilon)), epsilon * math.tanh(epsilon / 2)
    p = 1 / (1 + math.exp(-epsilon))
    third = p * (epsilon - kl) ** 3 + (1 - p) * (epsilon + kl) ** 3
    assert m == pytest.approx((kl, epsilon**2, epsilon**3, third))
    g, mu = moments(gaussian(epsilon)), epsilon
    assert g.kl == pytest.approx(mu**2 / 2, rel=1e-5) and g.kappa2 == pytest.approx(mu**2 + mu**4 / 4, rel=1e-5)
    assert g.kappa3_bar == pytest.approx(mu**3 * math.sqrt(8 / math.pi), rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(pairs(zeros=False))
def test_the_kl_moment_is_the_divergence_of_p_from_q(pair):
    p, q = pair
    loss = np.log(p / q)
    m = moments(finite(p, q))
    assert m.kl == pytest.approx(p @ loss, abs=1e-5)
    assert m.kappa2 == pytest.approx(p @ loss**2, abs=1e-4)
    assert m.kappa3_bar == pytest.approx(p @ np.abs(loss - p @ loss) ** 3, abs=1e-3)


def test_the_berry_esseen_band_holds_the_product():
    for n in (200, 1000, 10_000):
        limit, f = clt([(approx(n**-0.5), n)]), approx(n**-0.5) ** n
        inside = (ALPHA >= limit.gamma) & (ALPHA <= 1 - limit.gamma)
        assert inside.any() and np.isnan(limit.lower(ALPHA[~inside])).all()
        assert np.isnan(limit.upper(ALPHA[~inside])).all()
        assert np.all(limit.lower(ALPHA[inside]) <= f(ALPHA[inside]))
        assert np.all(f(ALPHA[inside]) <= limit.upper(ALPHA[inside]))
        assert limit.mu == pytest.approx(2 * n**0.5 * math.sinh(n**-0.5 / 2), rel=1e-9)
    limit = clt([(approx(1000**-0.5), 1000)])
    assert (limit.lower(0.05), limit.upper(0.05)) == pytest.approx((0.671, 0.820), abs=5e-4)
    assert (approx(1000**-0.5) ** 1000)(0.05) == pytest.approx(0.740606, abs=2e-6)
    assert clt([(approx(1.0), 1)]).gamma == pytest.approx(0.766322506008, rel=1e-9)


def test_one_large_release_among_many_of_nothing_has_no_limit():
    parts = [(approx(3.0), 1), (approx(0.0), 999)]
    kl = moments(approx(3.0)).kl
    assert float(compose(parts)(0.05)) == pytest.approx(0.047, abs=5e-4)
    # what sums of kl and kappa2 alone would promise
    assert float(gaussian(2 * kl / 3.0)(0.05)) == pytest.approx(0.434, abs=1e-3)
    assert clt(parts).gamma > 0.5 and np.isnan(clt(parts).lower(ALPHA)).all()


def test_the_limit_can_promise_too_much():
    q, steps = 0.01, 10_000
    mu = q * math.sqrt(steps * math.expm1(1 / 16))
    assert gaussian(mu).epsilon(1e-5) == pytest.approx(0.94244, abs=1e-4)
    assert gaussian(mu).epsilon(1e-5) < worst(gaussian(1 / 4).subsample(q), steps)


# --- what is refused


@pytest.mark.parametrize("call, name", [
    *((lambda bad=bad: gaussian(bad), "mu") for bad in (-1.0, math.nan, math.inf, "1", None)),
    *((lambda bad=bad: laplace(bad), "epsilon") for bad in (-1.0, math.nan, math.inf, "1", None)),
    *((lambda bad=bad: approx(bad), "epsilon") for bad in (-1.0, math.nan, math.inf)),
    *((lambda bad=bad: approx(1.0, delta=bad), "delta") for bad in (-0.1, 1.0, math.nan)),
    *((lambda bad=bad: gaussian(1.0).subsample(bad), "p") for bad in (0.0, -0.1, 1.1, math.nan, "x")),
    *((lambda bad=bad: laplace(1.0).group(bad), "k") for bad in (0, 1.5, -1, "2")),
    *((lambda bad=bad: laplace(1.0) ** bad, "n") for bad in (-1, 0.5, "2")),
    *((lambda bad=bad: laplace(1.0)(bad), "alpha") for bad in (-0.1, 1.1, math.nan)),
    *((lambda bad=bad: laplace(1.0).delta(bad), "epsilon") for bad in (-0.1, math.nan)),
    *((lambda bad=bad: laplace(1.0).epsilon(bad), "delta") for bad in (-0.1, 1.0, math.nan)),
    *((lambda bad=bad: compose(bad), "parts") for bad in ([laplace(1.0)], [(1.0, 2)], 3)),
    *((lambda bad=bad: clt(bad), "parts")
      for bad in ([(gaussian(1.0).subsample(0.1), 9)], [(approx(1.0, delta=0.1), 9)], [(gaussian(0.0), 3)], [])),
    (lambda: finite([0.5, 0.5], [1.0]), "q"), (lambda: finite([0.5, 0.4], [0.5, 0.5]), "p"),
    (lambda: finite([0.5, 0.5], [1.5, -0.5]), "q"),
    *((lambda bad=bad: from_curve(bad, [0.5, 0.3]), "alpha")
      for bad in ([0.3, 0.2], [0.2, 0.2], [-0.1, 0.5], [0.2, 1.1], [math.nan, 0.5], [], 0.5)),
    *((lambda bad=bad: from_curve([0.2, 0.5], bad), "beta")
      for bad in ([0.5], [0.5, -0.1], [1.1, 0.2], [0.5, math.nan])),
    *((lambda bad=bad: clt([(approx(0.1), 99)]).lower(bad), "alpha") for bad in (-0.1, math.nan)),
    (lambda: moments(1.0), "f"),
])
def test_bad_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        call()


def test_flat_parts_have_infinite_moments_and_objects_do_not_change():
    assert moments(approx(1.0, delta=0.01)) == (math.inf,) * 4
    with pytest.raises(AttributeError):
        gaussian(1.0).mu = 2.0
    with pytest.raises(TypeError):
        gaussian(1.0) @ 2.0
    assert repr(laplace(0.5) ** 3 @ approx(1.0, delta=0.1)) == "<TradeOff (laplace(0.5) ** 3 @ approx(1, 0.1))>"
    assert isinstance(gaussian(1.0), TradeOff)
