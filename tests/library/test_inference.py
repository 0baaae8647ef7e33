"""Inference: exact coverage by enumeration, brute force beside every inversion,
the classical methods where there is no noise."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LEVEL, PROPERTY, mean_is
from scipy import integrate, stats

from dplib import mechanisms
from dplib.audit import audit
from dplib.inference import (
    _two_laplace_tail,
    independence_test,
    least_squares,
    line_sums,
    noisy_binomial_cdf,
    proportion_interval,
    proportion_test,
    ratio_interval,
    slope_interval,
)

NOISE = {
    "geometric": lambda x, scale: stats.dlaplace.cdf(np.floor(x), 1 / scale),
    "laplace": lambda x, scale: stats.laplace.cdf(x, scale=scale),
    "gaussian": lambda x, scale: stats.norm.cdf(x, scale=scale),
}


def happens(hits, probability):
    """Assert that a share of hits is as probable as this, by an exact test."""
    p = stats.binomtest(int(np.sum(hits)), len(hits), probability).pvalue
    assert p > LEVEL, f"{np.mean(hits):.4f}, not {probability}"


# --- the law of a noisy count


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("n, p, scale", [(1, 0.3, 2.0), (7, 0.0, 1.0),
                                         (7, 1.0, 0.5), (40, 0.02, 10.0), (500, 0.19, 1.0), (20_000, 0.5, 30.0)])
def test_the_law_of_a_noisy_count_is_the_sum_over_counts(noise, n, p, scale):
    counts = np.arange(n + 1)
    y = np.array([-300, -3.5, -1, 0, 0.5, n * p, n - 0.25, n, n + 4])
    right = [stats.binom.pmf(counts, n, p) @ NOISE[noise](value - counts, scale) for value in y]
    assert noisy_binomial_cdf(y, n=n, p=p, scale=scale, noise=noise) == pytest.approx(right, rel=1e-11, abs=1e-14)
    assert noisy_binomial_cdf(y[3], n=n, p=p, scale=scale, noise=noise) == pytest.approx(right[3], rel=1e-11, abs=1e-14)


def test_without_noise_the_law_is_binomial_and_tables_keep_their_shape():
    y = np.array([[-1, 0, 3.5], [4, 9, 11]])
    found = noisy_binomial_cdf(y, n=9, p=0.4, scale=0)
    assert found.shape == y.shape and found == pytest.approx(stats.binom.cdf(y, 9, 0.4), abs=1e-14)


# --- a proportion


@pytest.mark.parametrize("k, n", [(0, 10), (3, 10), (10, 10), (109, 500), (1, 1), (99_000, 200_000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_without_noise_the_interval_is_clopper_and_pearsons(k, n, confidence):
    right = stats.binomtest(k, n).proportion_ci(confidence)
    assert proportion_interval(k, n=n, scale=0, confidence=confidence) == pytest.approx(
        (right.low, right.high), abs=1e-11)


@pytest.mark.parametrize("noise, n, scale, confidence",
                         [("geometric", 1, 2.0, 0.95), ("geometric", 12, 0.7, 0.95), ("geometric", 30, 5.0, 0.8)])
def test_the_interval_covers_every_share_by_enumeration_and_not_much_too_often(noise, n, scale, confidence):
    y = np.arange(math.floor(-45 * scale), math.ceil(n + 45 * scale) + 1)
    low, high = np.transpose([proportion_interval(value, n=n, scale=scale, confidence=confidence)
                              for value in y.tolist()])
    covers = []
    # coverage jumps at the ends of intervals
    for p in np.append(np.linspace(0, 1, 41), low[(low > 0) & (low < 1)] - 1e-9):
        law = np.diff(noisy_binomial_cdf(y, n=n, p=p, scale=scale, noise=noise), prepend=0.0)
        covers.append(law @ ((low <= p) & (p <= high)))
    assert confidence - 1e-9 < min(covers) < confidence + 0.4 * (1 - confidence)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_with_continuous_noise_both_ends_err_equally_often(noise):
    low, high = proportion_interval(31.7, n=80, scale=6.0, noise=noise, confidence=0.9)
    counts = np.arange(81)
    assert 1 - stats.binom.pmf(counts, 80, low) @ NOISE[noise](31.7 - counts, 6.0) == pytest.approx(0.05)
    assert stats.binom.pmf(counts, 80, high) @ NOISE[noise](31.7 - counts, 6.0) == pytest.approx(0.05)


def test_more_printed_than_were_asked_has_a_closed_form():
    """P_p(Y >= y) = q^y E q^-X/(1 + q) for y >= n; at q = 1/2 that is 2/3 (1 + p)^n/2^y."""
    for n, y in ((10, 12), (10, 10), (3, 5)):
        low, high = proportion_interval(y, n=n, scale=1 / math.log(2))
        assert (low, high) == pytest.approx(((0.025 * 1.5 * 2**y) ** (1 / n) - 1, 1.0), abs=1e-12)


@given(y=st.integers(-30, 60), n=st.integers(1, 40), scale=st.floats(0.1, 20), noise=st.sampled_from(sorted(NOISE)))
@PROPERTY
def test_an_interval_lies_in_0_1_and_turns_round_with_the_question(y, n, scale, noise):
    low, high = proportion_interval(y, n=n, scale=scale, noise=noise)
    assert 0 <= low <= high <= 1
    assert proportion_interval(n - y, n=n, scale=scale, noise=noise) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_a_count_that_no_share_explains_leaves_the_nearest_point():
    for noise in NOISE:
        assert proportion_interval(-900, n=20, scale=2.0, noise=noise) == (0.0, 0.0)
        assert proportion_interval(900, n=20, scale=2.0, noise=noise) == (1.0, 1.0)


@given(y=st.integers(-10, 40), n=st.integers(1, 30), scale=st.floats(0.2, 9),
       p0=st.floats(0, 1), noise=st.sampled_from(sorted(NOISE)))
@PROPERTY
def test_the_interval_holds_what_the_test_does_not_reject(y, n, scale, p0, noise):
    low, high = proportion_interval(y, n=n, scale=scale, noise=noise, confidence=0.9)
    p_value = proportion_test(y, n=n, p0=p0, scale=scale, noise=noise)
    if low < high and min(abs(p0 - low), abs(p0 - high)) > 1e-7:
        assert (p_value > 0.1) == (low <= p0 <= high)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_p_value_is_small_as_rarely_as_it_says(alternative):
    n, scale = 15, 3.0
    y = np.arange(-150, 170)
    for p0 in (0.0, 0.1, 0.5, 1.0):
        law = np.diff(noisy_binomial_cdf(y, n=n, p=p0, scale=scale), prepend=0.0)
        values = np.array([proportion_test(value, n=n, p0=p0, scale=scale, alternative=alternative)
                           for value in y.tolist()])
        for alpha in (0.01, 0.05, 0.3):
            assert 0.6 * alpha < law @ (values <= alpha) <= alpha + 1e-12
    for y0 in (4, 9):
        right = stats.binomtest(y0, n, 0.4, alternative).pvalue if alternative != "two-sided" else 2 * min(
            stats.binomtest(y0, n, 0.4, side).pvalue for side in ("less", "greater"))
        assert proportion_test(y0, n=n, p0=0.4, scale=0, alternative=alternative) == pytest.approx(min(right, 1))


@pytest.mark.parametrize("noisy", [1.5, -0.5, math.nextafter(3, 4)])
def test_a_count_that_is_not_whole_had_no_whole_noise(noisy):
    for call in (lambda: proportion_interval(noisy, n=10, scale=1.0),
                 lambda: proportion_test(noisy, n=10, p0=0.5, scale=1.0)):
        with pytest.raises(ValueError, match="noisy must be a whole number"):
            call()


# --- a ratio


@pytest.mark.parametrize("a, b",
                         [(1.0, 1.0), (1.0, 0.3), (5.0, 5.0001), (2.0, 2.1), (7.0, 0.0), (0.0, 3.0), (1.0, 1 + 1e-6)])
def test_the_tail_of_two_laplace_noises_is_their_convolution(a, b):
    for t in (0.0, 0.1, 1.0, 4.0, 20.0):
        if min(a, b) == 0:
            right = math.exp(-t / max(a, b))
        else:
            def density(x, t=t):
                return stats.laplace.pdf(x, scale=a) * (stats.laplace.cdf(-t - x, scale=b)
                                                        + stats.laplace.sf(t - x, scale=b))

            right = sum(integrate.quad(density, low, high, epsabs=1e-13)[0]
                        for low, high in ((-np.inf, -t), (-t, 0), (0, t), (t, np.inf)))
        assert _two_laplace_tail(t, a, b) == _two_laplace_tail(t, b, a) == pytest.approx(right, rel=1e-7, abs=1e-11)
    assert _two_laplace_tail(0.0, 0.0, 0.0) == 1 and _two_laplace_tail(0.1, 0.0, 0.0) == 0


@given(top=st.floats(-50, 50), bottom=st.floats(-50, 50), a=st.floats(0.1, 30),
       b=st.floats(0.1, 30), low=st.floats(-3, 2), width=st.floats(0.5, 9))
@PROPERTY
def test_a_ratio_is_kept_exactly_if_its_neighbours_on_a_grid_are(top, bottom, a, b, low, width):
    r = np.linspace(low, low + width, 3001)
    kept = r[[_two_laplace_tail(abs(top - x * bottom), a, abs(x) * b) > 0.05 for x in r]]
    found = ratio_interval(top, bottom, top_scale=a, bottom_scale=b, low=low, high=low + width)
    assert low <= found[0] <= found[1] <= low + width
    if len(kept):
        assert found == pytest.approx((kept[0], kept[-1]), abs=1.001 * width / 3000)
    else:
        assert found[1] - found[0] <= 2 * width / 3000


@pytest.mark.parametrize("total, people, a, b",
                         [(900.0, 30, 200.0, 1.0), (20.0, 2, 60.0, 20.0), (0.0, 0, 6.0, 2.0), (4000.0, 40, 100.0, 1.0)])
def test_the_ratio_of_the_table_is_covered_as_often_as_it_says(total, people, a, b):
    rng = np.random.default_rng(1)
    truth, runs = total / people if people else 50.0, 4000
    printed = (total, people) + rng.laplace(scale=(a, b), size=(runs, 2))
    happens([_two_laplace_tail(abs(top - truth * bottom), a, truth * b) > 0.1 for top, bottom in printed], 0.9)
    ends = [ratio_interval(*pair, top_scale=a, bottom_scale=b, low=0, high=200, confidence=0.9)
            for pair in printed[:1000]]
    assert stats.binomtest(sum(low <= truth <= high for low, high in ends), 1000, 0.9, "less").pvalue > LEVEL


def test_exact_sums_leave_one_ratio_and_no_people_leave_all():
    assert ratio_interval(30, 12, top_scale=0, bottom_scale=0, low=0, high=9) == pytest.approx((2.5, 2.5))
    assert ratio_interval(30, 0, top_scale=50, bottom_scale=1, low=0, high=9) == (0, 9)
    assert ratio_interval(0, 0, top_scale=0, bottom_scale=0, low=0, high=9)[0] == 0
    assert ratio_interval(30, -1e-300, top_scale=50, bottom_scale=1, low=0, high=9) == (0, 9)


def test_ratios_that_are_all_contradicted_leave_the_nearest():
    assert ratio_interval(3000, 10, top_scale=5, bottom_scale=1, low=0, high=20) == (20, 20)
    assert ratio_interval(-3000, 10, top_scale=5, bottom_scale=1, low=0, high=20)[1] == 0


# --- answers that overlap


def test_two_answers_to_one_question_are_weighed_by_their_variances():
    value, covariance = least_squares([[1], [1]], [10, 16], variances=[1, 2])
    assert value == pytest.approx([12]) and covariance == pytest.approx(np.array([[2 / 3]]))


@pytest.mark.parametrize("m, k, seed", [(5, 1, 0), (7, 3, 1), (13, 12, 2)])
def test_least_squares_is_the_normal_equations_and_nothing_unbiased_is_better(m, k, seed):
    rng = np.random.default_rng(seed)
    design, answers, variances = rng.normal(size=(m, k)), rng.normal(size=m), rng.uniform(0.1, 50, m)
    normal = design.T @ np.diag(1 / variances) @ design
    found = least_squares(design, answers, variances=variances)
    assert found.value == pytest.approx(np.linalg.solve(normal, design.T @ (answers / variances)))
    assert found.covariance == pytest.approx(np.linalg.inv(normal))
    for _ in range(20):      # another linear estimate that is unbiased: add something that the design does not see
        other = np.linalg.solve(normal, design.T / variances) + rng.normal(size=(k, m)) @ (
            np.eye(m) - design @ np.linalg.pinv(design))
        assert other @ design == pytest.approx(np.eye(k), abs=1e-9)
        assert np.linalg.eigvalsh(other @ np.diag(variances) @ other.T - found.covariance).min() > -1e-9


def test_estimates_scatter_as_their_covariance_says_under_laplace_noise():
    rng, design = np.random.default_rng(3), np.vstack([np.eye(3), np.ones(3)])
    truth, scales = np.array([40.0, 0.0, 7.0]), np.array([2.0, 2.0, 2.0, 1.0])
    found = [least_squares(design, design @ truth + rng.laplace(scale=scales), variances=2 * scales**2)
             for _ in range(4000)]
    values = np.array([one.value for one in found]) - truth
    for weights in (*np.eye(3), np.ones(3)):
        mean_is(values @ weights, 0.0)
        mean_is((values @ weights) ** 2, weights @ found[0].covariance @ weights)


@pytest.mark.parametrize("design", [[[1, 1]], [[1, 1], [2, 2], [3, 3]], [[0.0], [0.0]]])
def test_answers_that_leave_a_number_open_are_refused(design):
    with pytest.raises(ValueError, match="answers must determine"):
        least_squares(design, [1.0] * len(design), variances=[1.0] * len(design))


# --- rows and columns

APART = np.outer([0.5, 0.5], [0.4, 0.25, 0.15, 0.12, 0.08])
TILTED = APART + np.outer([1, -1], [0.03, -0.03, 0, 0, 0])


def rejections(law, n, epsilon, tables, seed):
    rng = np.random.default_rng(seed)
    noisy = mechanisms.geometric(rng.multinomial(n, law.ravel(), tables),
                                 sensitivity=1, epsilon=epsilon, rng=rng).reshape(tables, *law.shape)
    return np.mean([independence_test(table, scale=1 / epsilon, rounds=99, rng=rng) <= 0.05 for table in noisy])


@pytest.mark.parametrize("n, epsilon", [(1000, 0.1), (1000, 1.0), (10_000, 0.1)])
def test_independence_is_rejected_about_as_often_as_it_should_be(n, epsilon):
    assert 0.01 < rejections(APART, n, epsilon, 400, seed=4) < 0.1     # 5 % is five standard errors away on either side


def test_a_relation_is_seen_through_the_noise():
    """A plain chi-square with its null replayed sees it in a third of the tables."""
    assert rejections(TILTED, 1000, 0.1, 300, seed=5) > 0.5


@pytest.mark.parametrize("noise, scale", [("geometric", 0.0), ("gaussian", 0.3), ("laplace", 0.2)])
def test_with_next_to_no_noise_it_is_the_chi_square_test(noise, scale):
    table = np.array([[40, 31, 22], [30, 35, 42]])
    right = stats.chi2_contingency(table, correction=False).pvalue
    assert independence_test(table, scale=scale, noise=noise, rounds=4999, rng=1) == pytest.approx(right, abs=0.02)


@pytest.mark.parametrize("table",
                         [np.zeros((2, 2)), -5 * np.ones((2, 3)), [[3.0, 0.0], [0.0, 0.0]], [[1e9, 1e9], [1e9, 1e9]]])
@pytest.mark.parametrize("scale", [0.0, 4.0])
def test_any_printed_table_has_a_p_value(table, scale):
    assert 0 < independence_test(table, scale=scale, rounds=19, rng=1) <= 1


# --- a line


def test_one_person_moves_the_six_sums_by_the_root_of_six_at_most():
    ends = np.linspace(-1, 1, 21)
    moves = [np.linalg.norm(line_sums([0.2, x], [0.1, y]) - line_sums([0.2], [0.1])) for x in ends for y in ends]
    assert max(moves) == pytest.approx(math.sqrt(6)) and np.argmax(moves) in (0, 20, 420, 440)


def test_values_beyond_the_bounds_and_missing_ones_are_clipped_and_an_empty_table_is_a_table():
    odd = line_sums([9.0, math.nan, math.inf], [-9.0, 0.0, None])
    assert odd.tolist() == line_sums([1, -1, 1], [-1, 0, -1]).tolist()
    assert line_sums([], []).tolist() == [0.0] * 6
    with pytest.raises(ValueError, match="x and y"):
        line_sums([1.0], [1.0, 1.0])


def test_an_audit_accepts_the_six_sums_with_noise_for_the_root_of_six_and_refutes_less():
    def found(sensitivity, x):
        def run(x, size, rng):
            # 0: nobody clips
            sums = line_sums(x, np.sign(x)) if sensitivity else np.array([len(x), x.sum(), (x * x).sum(), 0, 0, 0])
            return mechanisms.gaussian(np.tile(sums, (size, 1)), sensitivity=sensitivity or math.sqrt(6),
                                       epsilon=1.0, delta=1e-3, rng=rng).sum(axis=1)

        return audit(run, np.array([1.0, 1.0]), np.array([1.0, 1.0, x]),
                     n=40_000, delta=1e-3, confidence=1 - LEVEL, rng=3).epsilon

    assert 0.3 < found(math.sqrt(6), 1.0) <= 1.0
    assert found(1.0, 1.0) > 1.0 and found(0, 50.0) > 1.0


@pytest.mark.parametrize("n, confidence", [(3, 0.95), (12, 0.9), (200, 0.95)])
def test_without_noise_the_population_has_the_textbooks_interval_and_the_table_its_slope(n, confidence):
    rng = np.random.default_rng(n)
    x = rng.uniform(-1, 1, n)
    y = 0.3 * x - 0.1 + rng.normal(0, 0.1, n)
    fit, t = stats.linregress(x, y), stats.t.ppf((1 + confidence) / 2, n - 2)
    sums = line_sums(x, y)
    assert slope_interval(sums, sigma=0, target="population", confidence=confidence) == pytest.approx(
        (fit.slope - t * fit.stderr, fit.slope + t * fit.stderr))
    assert slope_interval(sums, sigma=0) == pytest.approx((fit.slope, fit.slope))


def test_the_ends_are_where_the_pivot_is_as_large_as_its_deviation():
    """The variance of C_xy - b C_xx from the sums themselves: its gradient by differences."""
    sums, sigma = np.array([1000.0, -200, 400, 300, 210, 500]), 9.0

    def pivot(sums, b):
        n, x, xx, y, xy, _ = sums
        return (xy - x * y / n) - b * (xx - x * x / n)

    for b in slope_interval(sums, sigma=sigma):
        gradient = [(pivot(sums + step, b) - pivot(sums - step, b)) / 2e-3 for step in 1e-3 * np.eye(6)]
        assert abs(pivot(sums, b)) == pytest.approx(stats.norm.ppf(0.975) * sigma * np.linalg.norm(gradient), rel=1e-6)


@pytest.mark.parametrize("target", ["table", "population"])
@pytest.mark.parametrize("n, sigma", [(400, 8.0), (100, 5.0)])
def test_a_slope_is_covered_about_as_often_as_it_says(target, n, sigma):
    rng, slope, hits = np.random.default_rng(7), 0.4, []
    for _ in range(1500):
        x = rng.uniform(-1, 1, n)
        y = np.clip(slope * x + 0.2 + rng.uniform(-0.3, 0.3, n), -1, 1)
        sums = line_sums(x, y)
        truth = slope if target == "population" else (sums[4] - sums[1] * sums[3] / n) / (sums[2] - sums[1] ** 2 / n)
        low, high = slope_interval(sums + rng.normal(0, sigma, 6), sigma=sigma, target=target)
        hits.append(low <= truth <= high)
    assert 0.92 < np.mean(hits) < 0.98           # 95 % is five standard errors away on either side


@pytest.mark.parametrize("sums", [[0.0] * 6, [-50.0, 1, 1, 1, 1, 1], [30.0, 0, 2, 0, 1, 9],
                                  [500.0, 0, -90, 10, 4, 9], [500.0, 500, 500, 10, 10, 9],
                                  [5000.0, 0, 20, 10, 10, 9]])
@pytest.mark.parametrize("target", ["table", "population"])
def test_sums_that_could_be_noise_allow_any_slope(sums, target):
    assert slope_interval(sums, sigma=20.0, target=target) == (-math.inf, math.inf)


def test_numbers_come_back_as_numbers():
    for low, high in (proportion_interval(np.int64(30), n=50, scale=np.float64(2)),
                      slope_interval([1000, 50, 400, 100, 210, 300], sigma=1),
                      ratio_interval(np.int64(3), 2, top_scale=1, bottom_scale=1, low=0, high=5)):
        assert type(low) is float and type(high) is float
    assert type(independence_test(np.ones((2, 2)), scale=1, rounds=9, rng=1)) is float
    assert type(proportion_test(3, n=9, p0=0.5, scale=1)) is float
