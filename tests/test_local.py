"""Randomized response: its law to the last constant, and estimates without bias whose errors are as large as they say."""
import itertools
import math

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LEVEL, PROPERTY, follows
from scipy import stats

from dplib.distributions import exact_epsilon
from dplib.local import estimate, randomized_response

dp.enable_features("contrib")

SETTINGS = st.tuples(st.sampled_from([2, 3, 5]), st.floats(0.05, 6))


def channel(epsilon, k):
    """Row v: the law of a report on the true value v."""
    ratios = np.where(np.eye(k), math.exp(epsilon), 1.0)
    return ratios / ratios.sum(axis=1, keepdims=True)


# --- the mechanism


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_reports_have_the_exact_law(epsilon, k):
    values = np.repeat(np.arange(k), 900_000 // k)
    reports = randomized_response(values, epsilon=epsilon, k=k, rng=1)
    right, more, less = (channel(one, k).ravel() / k for one in (epsilon, 1.06 * epsilon, epsilon / 1.06))
    uneven = channel(epsilon, k)                 # lies that prefer the next value
    uneven += 0.05 * (uneven[0, 1] if k > 2 else 0.2) * (np.roll(np.eye(k), 1, axis=1) - np.roll(np.eye(k), 2, axis=1))
    follows(np.bincount(values * k + reports, minlength=k * k), right, more, less, uneven.ravel() / k)


def test_each_person_flips_coins_of_the_own():
    reports = randomized_response(np.zeros((100_000, 2), dtype=int), epsilon=1.0, rng=2)
    lie = channel(1.0, 2)[0, 1]
    joint = np.bincount(reports @ [2, 1], minlength=4)
    follows(joint, np.outer([1 - lie, lie], [1 - lie, lie]).ravel(), [1 - lie, 0, 0, lie])


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_law_loses_exactly_epsilon_between_any_two_values(epsilon, k):
    for one, other in itertools.permutations(channel(epsilon, k), 2):
        assert exact_epsilon(one, other) == pytest.approx(epsilon, rel=1e-12)


def truth_of(epsilon, k):
    """Probability of a true report, read off `estimate`: one report v gives v the frequency (1 - lie)/(truth - lie)."""
    frequency = estimate([0], epsilon=epsilon, k=k)[0][0]
    return 1 - (k - 1) * (frequency - 1) / (k * frequency - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_probability_of_the_truth_means_the_same_epsilon_to_opendp(epsilon):
    assert dp.m.make_randomized_response_bool(prob=truth_of(epsilon, 2)).map(1) == pytest.approx(epsilon, rel=1e-9)
    for k in (3, 8):
        assert dp.m.make_randomized_response(list(range(k)), prob=truth_of(epsilon, k)).map(1) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_reports_have_the_shape_of_the_values_and_leave_them_alone(shape):
    values = np.full(shape, 1, dtype=np.int8)
    reports = randomized_response(values, epsilon=1.0, k=3, rng=3)
    assert reports.shape == shape and reports.dtype == np.int64 and np.isin(reports, [0, 1, 2]).all() and (values == 1).all()


def test_large_epsilons_tell_the_truth_and_small_ones_nothing():
    values = np.arange(1000) % 4
    assert (randomized_response(values, epsilon=1e300, k=4, rng=4) == values).all()
    values = np.repeat(np.arange(4), 25_000)
    reports = randomized_response(values, epsilon=1e-300, k=4, rng=5)
    follows(np.bincount(values * 4 + reports), [1 / 16] * 16, channel(0.1, 4).ravel() / 4)


@pytest.mark.parametrize("values, k, ends", [
    ([-1, 5, 99, 2], 3, [0, 2, 2, 2]), ([-(2**63), 2**63 - 1], 2, [0, 1]), (np.array([2**64 - 1, 1], dtype=np.uint64), 3, [2, 1]),
    (np.array([-128, 127], dtype=np.int8), 300, [0, 127]), (np.array([True, False]), 2, [1, 0]),
])  # fmt: skip
def test_a_value_out_of_range_is_moved_to_the_nearest_end_and_then_as_private_as_any(values, k, ends):
    assert randomized_response(values, epsilon=700.0, k=k, rng=6).tolist() == ends
    for seed in range(20):
        assert (randomized_response(values, epsilon=0.1, k=k, rng=seed) == randomized_response(ends, epsilon=0.1, k=k, rng=seed)).all()


# --- the estimate


@PROPERTY
@given(SETTINGS, st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_the_estimate_has_no_bias_and_the_stated_variance(setting, values):
    k, epsilon = setting
    values, law = np.array(values) % k, channel(epsilon, k)
    mean, square = np.zeros(k), np.zeros(k)
    for reports in itertools.product(range(k), repeat=len(values)):         # everything that these people may report
        chance = math.prod(law[value, report] for value, report in zip(values, reports))
        frequencies = estimate(reports, epsilon=epsilon, k=k)[0]
        mean, square = mean + chance * frequencies, square + chance * frequencies**2
    true = np.bincount(values, minlength=k) / len(values)
    assert mean == pytest.approx(true, abs=1e-9)
    assert square - mean**2 == pytest.approx(variance(true, len(values), epsilon, k), rel=1e-7)


def variance(true, n, epsilon, k):
    """Of the estimate, when a share `true` of n people has the value: each report is one Bernoulli variable."""
    truth, lie = channel(epsilon, k)[0, :2]
    return (true * truth * (1 - truth) + (1 - true) * lie * (1 - lie)) / n / (truth - lie) ** 2


@PROPERTY
@given(SETTINGS, st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_the_estimate_sums_to_one_and_its_error_is_the_variance_at_the_estimate(setting, reports):
    k, epsilon = setting
    reports = np.array(reports) % k
    frequencies, stderr = estimate(reports, epsilon=epsilon, k=k)
    truth, lie = channel(epsilon, k)[0, :2]
    assert frequencies * (truth - lie) + lie == pytest.approx(np.bincount(reports, minlength=k) / len(reports))
    assert frequencies.sum() == pytest.approx(1) and frequencies.shape == stderr.shape == (k,)
    assert stderr**2 == pytest.approx(variance(np.clip(frequencies, 0, 1), len(reports), epsilon, k), rel=1e-9)


@pytest.mark.parametrize("k, epsilon", [(2, 1.0), (4, 2.5)])
def test_estimates_scatter_as_much_as_they_say(k, epsilon):
    n, runs = 1000, 8000
    values = np.repeat(np.arange(k), np.r_[n // 2, np.full(k - 1, n // 2 // (k - 1) + 1)])[:n]
    true = np.bincount(values, minlength=k)[0] / n
    reports = randomized_response(np.tile(values, (runs, 1)), epsilon=epsilon, k=k, rng=7)
    found = np.array([[part[0] for part in estimate(row, epsilon=epsilon, k=k)] for row in reports])
    z = (found[:, 0] - true) / found[:, 1]

    def refuted(scale):
        squares = ((z / scale) ** 2).sum()
        return min(stats.chi2.cdf(squares, runs), stats.chi2.sf(squares, runs)) < LEVEL / 2

    assert abs(z.mean()) * runs**0.5 < stats.norm.isf(LEVEL / 2)
    assert not refuted(1) and refuted(1.06) and refuted(1 / 1.06)


def test_the_estimate_is_pinned():
    frequencies, stderr = estimate([1] * 600 + [0] * 400, epsilon=math.log(3))      # truth 3/4, lie 1/4
    assert frequencies == pytest.approx([0.3, 0.7]) and stderr == pytest.approx([(0.75 * 0.25 / 1000) ** 0.5 / 0.5] * 2)
    frequencies, stderr = estimate([0] * 5 + [1, 2, 2], epsilon=math.log(2), k=3)   # truth 1/2, lie 1/4
    assert frequencies == pytest.approx([1.5, -0.5, 0.0])                           # not forced into [0, 1]
    assert stderr == pytest.approx([(0.25 / 8) ** 0.5 * 4, (0.1875 / 8) ** 0.5 * 4, (0.1875 / 8) ** 0.5 * 4])


@pytest.mark.parametrize("epsilon, k", [(1e-12, 2), (1e-9, 5), (1e-300, 3)])
def test_the_estimate_is_right_where_truth_and_lie_are_almost_the_same(epsilon, k):
    frequencies, stderr = estimate([0, 0, 0, 1], epsilon=epsilon, k=k)
    assert frequencies[0] * epsilon == pytest.approx((0.75 - 1 / k) * k, rel=1e-6)   # truth - lie is epsilon/k
    assert stderr[0] * epsilon == pytest.approx((1 / k * (1 - 1 / k) / 4) ** 0.5 * k, rel=1e-6)


def test_without_noise_the_estimate_is_the_count():
    frequencies, stderr = estimate(np.array([[0, 1], [1, 1]]), epsilon=1e300)
    assert frequencies == pytest.approx([0.25, 0.75]) and (stderr < 1e-100).all()
