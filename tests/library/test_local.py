"""Randomized response, unary encoding and RAPPOR: their laws to the last constant,
and estimates whose errors are as large as they say."""
import hashlib
import itertools
import math
from dataclasses import replace

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LEVEL, PROPERTY, follows
from scipy import stats

from dplib.distributions import exact_epsilon
from dplib.local import Rappor, estimate, estimate_unary, randomized_response, unary

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
        assert dp.m.make_randomized_response(list(range(k)), prob=truth_of(epsilon, k)).map(1) == pytest.approx(
            epsilon, rel=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_reports_have_the_shape_of_the_values_and_leave_them_alone(shape):
    values = np.full(shape, 1, dtype=np.int8)
    reports = randomized_response(values, epsilon=1.0, k=3, rng=3)
    assert reports.shape == shape and reports.dtype == np.int64
    assert np.isin(reports, [0, 1, 2]).all() and (values == 1).all()


def test_large_epsilons_tell_the_truth_and_small_ones_nothing():
    values = np.arange(1000) % 4
    assert (randomized_response(values, epsilon=1e300, k=4, rng=4) == values).all()
    values = np.repeat(np.arange(4), 25_000)
    reports = randomized_response(values, epsilon=1e-300, k=4, rng=5)
    follows(np.bincount(values * 4 + reports), [1 / 16] * 16, channel(0.1, 4).ravel() / 4)


@pytest.mark.parametrize("values, k, ends", [
    ([-1, 5, 99, 2], 3, [0, 2, 2, 2]), ([-(2**63), 2**63 - 1], 2, [0, 1]),
    (np.array([2**64 - 1, 1], dtype=np.uint64), 3, [2, 1]),
    (np.array([-128, 127], dtype=np.int8), 300, [0, 127]), (np.array([True, False]), 2, [1, 0]),
])
def test_a_value_out_of_range_is_moved_to_the_nearest_end_and_then_as_private_as_any(values, k, ends):
    assert randomized_response(values, epsilon=700.0, k=k, rng=6).tolist() == ends
    for seed in range(20):
        found, expected = (randomized_response(asked, epsilon=0.1, k=k, rng=seed) for asked in (values, ends))
        assert (found == expected).all()


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


@pytest.mark.long
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


# --- unary encoding

METHODS = ["optimized", "symmetric"]
UNARY = st.tuples(st.sampled_from(METHODS), st.sampled_from([2, 3]), st.floats(0.05, 6))


def coins(epsilon, method):
    """Chances that a one and that a zero are reported as a one, as in Wang et al."""
    if method == "optimized":
        return 1 / 2, 1 / (math.exp(epsilon) + 1)
    return math.exp(epsilon / 2) / (math.exp(epsilon / 2) + 1), 1 / (math.exp(epsilon / 2) + 1)


def law_of_bits(chances):
    """Law of independent bits with these chances of a one, over the whole numbers that they spell,
    first bit highest."""
    law = np.ones(1)
    for chance in chances:
        law = np.outer(law, [1 - chance, chance]).ravel()
    return law


def unary_channel(epsilon, k, method):
    """Row v: the law of a report on the true value v, over the 2^k reports."""
    return np.array([law_of_bits(np.where(row, *coins(epsilon, method))) for row in np.eye(k, dtype=bool)])


def spelled(bits):
    return bits @ (1 << np.arange(bits.shape[-1])[::-1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_unary_reports_have_the_exact_law(epsilon, method):
    values = np.repeat(np.arange(3), 200_000)
    reports = unary(values, epsilon=epsilon, k=3, method=method, rng=1)
    right, more, less = (unary_channel(one, 3, method).ravel() / 3 for one in (epsilon, 1.06 * epsilon, epsilon / 1.06))
    other = unary_channel(epsilon, 3, METHODS[method == "optimized"]).ravel() / 3
    follows(np.bincount(values * 8 + spelled(reports), minlength=24), right, more, less, other)


def test_each_person_and_each_bit_has_coins_of_its_own():
    reports = unary(np.zeros((100_000, 2), dtype=int), epsilon=1.0, k=2, rng=2)
    law = unary_channel(1.0, 2, "optimized")[0]
    follows(np.bincount(spelled(reports.reshape(-1, 4)), minlength=16),
            np.outer(law, law).ravel(), np.diag(law).ravel())


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("method", METHODS)
def test_the_law_of_unary_reports_loses_exactly_epsilon_between_any_two_values(method, epsilon, k):
    for one, other in itertools.permutations(unary_channel(epsilon, k, method), 2):
        assert exact_epsilon(one, other) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_symmetric_unary_encoding_means_the_same_epsilon_to_opendp(epsilon):
    never, always = (estimate_unary([[bit, 0]], epsilon=epsilon, method="symmetric")[0][0] for bit in (0, 1))
    domain = dp.bitvector_domain(max_weight=1)
    lie = -never / (always - never)
    assert dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=2 * lie).map(1) == pytest.approx(
        epsilon, rel=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
@pytest.mark.parametrize("method", METHODS)
def test_unary_reports_have_one_axis_more_and_leave_the_values_alone(shape, method):
    values = np.full(shape, 1, dtype=np.int8)
    reports = unary(values, epsilon=1.0, k=3, method=method, rng=3)
    assert reports.shape == (*shape, 3) and reports.dtype == np.uint8
    assert np.isin(reports, [0, 1]).all() and (values == 1).all()


@pytest.mark.parametrize("values, k, ends", [
    ([-1, 5, 99, 2], 3, [0, 2, 2, 2]), ([-(2**63), 2**63 - 1], 2, [0, 1]),
    (np.array([2**64 - 1, 1], dtype=np.uint64), 3, [2, 1]),
    (np.array([-128, 127], dtype=np.int8), 300, [0, 127]), (np.array([True, False]), 2, [1, 0]),
])
def test_a_value_out_of_range_is_encoded_as_the_nearest_end(values, k, ends):
    assert (unary(values, epsilon=700.0, k=k, method="symmetric", rng=6) == np.eye(k)[ends]).all()
    for seed in range(20):
        assert (unary(values, epsilon=0.1, k=k, rng=seed) == unary(ends, epsilon=0.1, k=k, rng=seed)).all()


@PROPERTY
@given(UNARY, st.lists(st.integers(0, 2), min_size=1, max_size=2))
def test_the_unary_estimate_has_no_bias_and_the_stated_variance(setting, values):
    method, k, epsilon = setting
    values, law = np.array(values) % k, unary_channel(epsilon, k, method)
    encoded = np.array(list(itertools.product([0, 1], repeat=k)))
    mean, square = np.zeros(k), np.zeros(k)
    for spelling in itertools.product(range(2**k), repeat=len(values)):
        chance = math.prod(law[value, report] for value, report in zip(values, spelling))
        frequencies = estimate_unary(encoded[list(spelling)], epsilon=epsilon, method=method)[0]
        mean, square = mean + chance * frequencies, square + chance * frequencies**2
    true = np.bincount(values, minlength=k) / len(values)
    assert mean == pytest.approx(true, abs=1e-9)
    assert square - mean**2 == pytest.approx(unary_variance(true, len(values), epsilon, method), rel=1e-7)


def unary_variance(true, n, epsilon, method):
    truth, lie = coins(epsilon, method)
    return (true * truth * (1 - truth) + (1 - true) * lie * (1 - lie)) / n / (truth - lie) ** 2


@PROPERTY
@given(UNARY, st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=30))
def test_the_unary_error_is_the_variance_at_the_estimate(setting, reports):
    method, _, epsilon = setting
    frequencies, stderr = estimate_unary(reports, epsilon=epsilon, method=method)
    truth, lie = coins(epsilon, method)
    assert frequencies * (truth - lie) + lie == pytest.approx(np.mean(reports, axis=0))
    assert stderr**2 == pytest.approx(unary_variance(np.clip(frequencies, 0, 1), len(reports), epsilon, method),
                                      rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_a_rare_value_has_the_variance_of_wang_et_al_and_randomized_response_is_better_for_few_values_only(epsilon):
    n, e = 1000, math.exp(epsilon)
    rare = estimate_unary(np.zeros((n, 4), dtype=int), epsilon=epsilon)[1][0] ** 2
    assert rare == pytest.approx(4 * e / (n * (e - 1) ** 2))
    assert estimate_unary(np.zeros((n, 4), dtype=int), epsilon=epsilon, method="symmetric")[1][0] ** 2 == pytest.approx(
        math.exp(epsilon / 2) / (n * (math.exp(epsilon / 2) - 1) ** 2))
    for k in range(2, 100):
        direct = estimate([0] * n, epsilon=epsilon, k=k)[1][1] ** 2
        assert direct == pytest.approx((k - 2 + e) / (n * (e - 1) ** 2))
        assert (rare < direct) == (k > 3 * e + 2)


@pytest.mark.parametrize("method", METHODS)
def test_unary_estimates_scatter_as_much_as_they_say(method):
    values, runs = np.repeat(np.arange(3), [300, 150, 50]), 4000
    reports = unary(np.tile(values, (runs, 1)), epsilon=1.5, k=3, method=method, rng=7)
    found = np.array([[part[1] for part in estimate_unary(table, epsilon=1.5, method=method)] for table in reports])
    assert scatter((found[:, 0] - 0.3) / found[:, 1], off=1.12)


def scatter(z, off):
    """Whether z looks standard normal in its first two moments,
    and would not if all errors were `off` times as large or small."""
    def refuted(scale):
        squares = ((z / scale) ** 2).sum()
        return min(stats.chi2.cdf(squares, len(z)), stats.chi2.sf(squares, len(z))) < LEVEL / 2

    centred = abs(z.mean()) * len(z) ** 0.5 < stats.norm.isf(LEVEL / 2)
    return centred and not refuted(1) and refuted(off) and refuted(1 / off)


def test_the_unary_estimate_is_pinned():
    frequencies, stderr = estimate_unary([[1, 0]] * 3 + [[0, 0]] * 5, epsilon=math.log(3))      # truth 1/2, lie 1/4
    assert frequencies == pytest.approx([0.5, -1.0])
    assert stderr == pytest.approx([((0.25 + 0.1875) / 2 / 8) ** 0.5 * 4, (0.1875 / 8) ** 0.5 * 4])
    # 3/4, 1/4
    frequencies, stderr = estimate_unary([[1, 0]] * 3 + [[0, 0]] * 5, epsilon=math.log(9), method="symmetric")
    assert frequencies == pytest.approx([0.25, -0.5]) and stderr == pytest.approx([(0.1875 / 8) ** 0.5 * 2] * 2)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e300])
@pytest.mark.parametrize("method", METHODS)
def test_unary_encoding_at_the_ends_of_epsilon(epsilon, method):
    frequencies, stderr = estimate_unary([[1, 0], [1, 0], [1, 0], [0, 1]], epsilon=epsilon, method=method)
    if epsilon < 1:      # three ones of four, less the half that are lies, over truth - lie = epsilon/4
        assert [frequencies[0] * epsilon, stderr[0] * epsilon] == pytest.approx([1, 1], rel=1e-6)
    else:
        assert frequencies == pytest.approx([1.5, 0.5] if method == "optimized" else [0.75, 0.25])
        assert (stderr[1] < 1e-100) == (method == "symmetric")
        assert (unary([0, 1, 1], epsilon=epsilon, k=2, method="symmetric", rng=1) == np.eye(2)[[0, 1, 1]]).all()
        assert (unary([0] * 99, epsilon=epsilon, k=2, rng=1)[:, 1] == 0).all()


@pytest.mark.parametrize("reports", [
    [], [[]], [1, 0], [[0, 2]], [[0, -1]], [[0.5, 0]], [[math.nan, 0]],
    [["0", "1"]], [[None, 1]], [[1], [0]], 1, np.zeros((1, 2, 2)),
])
def test_reports_that_are_no_table_of_bits_are_refused(reports):
    with pytest.raises(ValueError, match="reports"):
        estimate_unary(reports, epsilon=1.0)


# --- RAPPOR

SMALL = {"bits": 4, "cohorts": 1}
NOISES = [(0.5, 0.5, 0.75), (0.25, 0.1, 0.6), (0.75, 0.0, 1.0), (0.9, 0.35, 0.4)]


def law_of_reports(rappor, bloom, n):
    """Law of n reports from one permanent filter of this Bloom filter: the sum over all permanent filters,
    straight from the definition."""
    half = rappor.f / 2
    total = 0
    for permanent, chance in zip(itertools.product([0, 1], repeat=rappor.bits),
                                 law_of_bits(np.where(bloom, 1 - half, half))):
        once = law_of_bits(np.where(permanent, rappor.q, rappor.p))
        several = np.ones(1)
        for _ in range(n):
            several = np.outer(several, once).ravel()
        total = total + chance * several
    return total


@pytest.mark.parametrize("f, p, q", NOISES)
@pytest.mark.parametrize("hashes, n", [(1, 1), (2, 1), (1, 2), (2, 2), (2, 3)])
def test_the_loss_of_n_reports_is_that_of_their_exact_law(f, p, q, hashes, n):
    rappor = Rappor(**SMALL, hashes=hashes, f=f, p=p, q=q)
    # all that a value can have
    blooms = [bits for bits in itertools.product([0, 1], repeat=4) if 1 <= sum(bits) <= hashes]
    laws = {bits: law_of_reports(rappor, bits, n)
            for bits in (blooms if n < 3 else [(1, 1, 0, 0), (0, 0, 1, 1), (0, 1, 1, 0)])}
    for one, other in itertools.permutations(laws, 2):
        loss = exact_epsilon(laws[one], laws[other])
        if sum(np.not_equal(one, other)) == 2 * hashes:
            assert loss == pytest.approx(rappor.epsilon(n), rel=1e-9)
        else:                                    # hash functions that coincide are on the safe side
            assert loss < rappor.epsilon(n) * (1 - 1e-6)


@pytest.mark.parametrize("f, p, q", NOISES)
def test_the_loss_of_the_permanent_filter_is_that_of_its_exact_law(f, p, q):
    rappor = Rappor(**SMALL, f=f, p=p, q=q)
    laws = [law_of_bits(np.where(bits, 1 - f / 2, f / 2)) for bits in ([1, 1, 0, 0], [0, 0, 1, 1])]
    assert exact_epsilon(*laws) == pytest.approx(rappor.epsilon_permanent, rel=1e-12)
    domain = dp.bitvector_domain(max_weight=2)
    assert dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=f).map(1) == pytest.approx(
        rappor.epsilon_permanent)


@pytest.mark.parametrize("f, p, q", NOISES)
@pytest.mark.parametrize("hashes", [1, 2, 5])
def test_the_theorems_of_erlingsson_et_al(f, p, q, hashes):
    rappor = Rappor(hashes=hashes, f=f, p=p, q=q)
    q_star, p_star = f * (p + q) / 2 + (1 - f) * q, f * (p + q) / 2 + (1 - f) * p
    assert rappor.epsilon_permanent == pytest.approx(2 * hashes * math.log((1 - f / 2) / (f / 2)))
    assert rappor.epsilon_one == pytest.approx(hashes * math.log(q_star * (1 - p_star) / (p_star * (1 - q_star))))


@pytest.mark.parametrize("f, p, q", NOISES)
def test_more_reports_lose_more_but_never_more_than_the_permanent_filter(f, p, q):
    rappor = Rappor(f=f, p=p, q=q)
    losses = np.array([rappor.epsilon(n) for n in range(1, 200)])
    assert (np.diff(losses) >= -1e-12).all() and losses[-1] <= rappor.epsilon_permanent * (1 + 1e-12)
    assert (losses <= rappor.epsilon_one * np.arange(1, 200) * (1 + 1e-12)).all()
    assert rappor.epsilon(10**6) == pytest.approx(rappor.epsilon_permanent, rel=1e-12)


def test_the_losses_are_pinned_and_without_permanent_noise_unlimited():
    rappor = Rappor()
    assert rappor.epsilon_permanent == pytest.approx(4 * math.log(3))
    assert rappor.epsilon_one == pytest.approx(2 * math.log(0.6875 * 0.4375 / (0.5625 * 0.3125)))
    bare = Rappor(hashes=1, f=0.0, p=0.25, q=0.75)
    assert bare.epsilon_permanent == math.inf
    assert bare.epsilon(5) == pytest.approx(10 * math.log(3)) and Rappor(f=0.0, p=0.0, q=1.0).epsilon_one == math.inf


def test_the_bloom_filters_are_pinned_and_depend_on_value_cohort_and_seed_alone():
    rappor = Rappor(bits=16, hashes=3, cohorts=4)
    values, cohorts = ["ada", "bob", "ada", 7, "7"], [0, 0, 3, 1, 1]
    filters = rappor.bloom(values, cohorts)
    key = [hashlib.blake2b(f"0 3 {index} ada".encode(), digest_size=8).digest() for index in range(3)]
    assert np.flatnonzero(filters[2]).tolist() == sorted({int.from_bytes(digest, "big") % 16 for digest in key})
    assert (filters[3] == filters[4]).all() and (filters[0] != filters[1]).any() and (filters[0] != filters[2]).any()
    for row, value, cohort in zip(filters, values, cohorts):
        assert (rappor.bloom([value], [cohort])[0] == row).all()
    assert (Rappor(bits=16, hashes=3, cohorts=4, seed=1).bloom(values, cohorts) != filters).any()
    assert (Rappor(bits=16, hashes=3, cohorts=9, f=0.1).bloom(values, cohorts) == filters).all()


def test_the_hash_functions_spread_evenly_and_independently():
    filters = Rappor(bits=8, hashes=1, cohorts=2).bloom([*range(20_000)] * 2, np.repeat([0, 1], 20_000))
    one, other = filters.argmax(axis=1).reshape(2, -1)
    follows(np.bincount(one * 8 + other, minlength=64), [1 / 64] * 64, np.eye(8).ravel() / 8)
    weight = Rappor(bits=8, hashes=2, cohorts=1).bloom(range(20_000), np.zeros(20_000, dtype=int)).sum(axis=1).astype(
        int)
    follows(np.bincount(weight, minlength=3), [0, 1 / 8, 7 / 8], [0, 0, 1])


@pytest.mark.parametrize("values", [
    [None, math.nan, -0.0, "", "\0", "\ud800", "é" * 1000, b"x", (1, 2), 2**70],
    np.array([1, 2]), np.array(["a", "b"]), [], range(3),
])
def test_any_value_has_a_filter(values):
    filters = Rappor(hashes=2).permanent(values, np.zeros(len(values), dtype=int), rng=0)
    assert filters.shape == (len(values), 128) and filters.dtype == np.uint8


def test_permanent_filters_and_reports_have_the_exact_law():
    rappor = Rappor(bits=2, hashes=1, cohorts=1, f=0.5, p=0.2, q=0.7)
    bloom = rappor.bloom(["ada"], [0])[0]
    people = 200_000
    permanent = rappor.permanent(["ada"] * people, np.zeros(people, dtype=int), rng=1)
    follows(np.bincount(spelled(permanent), minlength=4),
            *(law_of_bits(np.where(bloom, 1 - f / 2, f / 2)) for f in (0.5, 0.48, 0.52)))
    both = np.column_stack([rappor.report(permanent, rng=2), rappor.report(permanent, rng=3)])
    redrawn = law_of_reports(rappor, bloom, 1)
    follows(np.bincount(spelled(both), minlength=16), law_of_reports(rappor, bloom, 2),
            np.outer(redrawn, redrawn).ravel(),
            *(law_of_reports(replace(rappor, **other), bloom, 2)
              for other in ({"p": 0.21}, {"q": 0.71}, {"f": 0.52})))
    assert rappor.report(permanent[0], rng=1).shape == (2,)


def known(rappor, count):
    """Names with filters of one bit each, all different, in cohort 0."""
    names = {}
    for number in itertools.count():
        names.setdefault(int(rappor.bloom([number], [0])[0].argmax()), number)
        if len(names) == count:
            return list(names.values())


def test_decoding_has_no_bias_at_all_when_every_value_is_listed():
    rappor = Rappor(bits=3, hashes=1, cohorts=1, f=0.4, p=0.2, q=0.9)
    candidates = known(rappor, 2)
    values = [candidates[0], candidates[0], candidates[1]]
    every = np.array(list(itertools.product([0, 1], repeat=3)))
    laws = [law_of_reports(rappor, bloom, 1) for bloom in rappor.bloom(values, [0] * 3)]
    mean = sum(math.prod(law[report] for law, report in zip(laws, reports))
               * rappor.decode(every[list(reports)], [0] * 3, candidates)[0]
               for reports in itertools.product(range(8), repeat=3))
    assert mean == pytest.approx([2 / 3, 1 / 3])


def collected(rappor, values, rng):
    rng = np.random.default_rng(rng)
    cohorts = rng.integers(rappor.cohorts, size=len(values))
    return rappor.report(rappor.permanent(values, cohorts, rng=rng), rng=rng), cohorts


def test_decoding_finds_planted_frequencies():
    rappor, true = Rappor(), np.array([0.4, 0.3, 0.2, 0.1, 0.0, 0.0])
    names = [f"page {number}" for number in range(6)]
    values = np.repeat(names, (true * 20_000).astype(int))
    reports, cohorts = collected(rappor, values, rng=1)
    frequencies, stderr = rappor.decode(reports, cohorts, names)
    assert (abs(frequencies - true) < 5 * stderr).all() and (frequencies[:2] > 10 * stderr[:2]).all()
    # neither the order of people nor that of candidates matters
    order = np.random.default_rng(2).permutation(len(values))
    again = rappor.decode(reports[order], cohorts[order], names[::-1])
    assert again[0][::-1] == pytest.approx(frequencies) and again[1][::-1] == pytest.approx(stderr)


def test_values_that_nobody_listed_lend_no_weight():
    rappor = Rappor(bits=32, cohorts=8, f=0.1, p=0.1, q=0.9)
    values = ["ada"] * 5000 + [f"stranger {number}" for number in range(15_000)]
    frequencies, stderr = rappor.decode(*collected(rappor, values, rng=1), ["ada", "bob", "eve"])
    assert (abs(frequencies - [0.25, 0, 0]) < 5 * stderr).all() and (stderr < 0.01).all()


def test_a_value_that_collides_in_one_cohort_is_told_apart_in_the_others():
    rappor = Rappor(bits=8, hashes=1, cohorts=4, f=0.1, p=0.1, q=0.9)
    twin = next(number for number in range(1, 1000) if (rappor.bloom([number], [0]) == rappor.bloom([0], [0])).all())
    reports, cohorts = collected(rappor, [0] * 8000 + [twin] * 4000, rng=1)
    frequencies, stderr = rappor.decode(reports, cohorts, [0, twin])
    assert (abs(frequencies - [2 / 3, 1 / 3]) < 5 * stderr).all() and (stderr < 0.02).all()
    with pytest.raises(ValueError, match="candidates"):
        rappor.decode(reports[cohorts == 0], cohorts[cohorts == 0], [0, twin])


# coins decide the error of the one, people that of the other
@pytest.mark.parametrize("f, p, q", [(0.5, 0.5, 0.75), (0.05, 0.0, 1.0)])
def test_decoded_frequencies_scatter_as_much_as_they_say(f, p, q):
    rappor, rng = Rappor(bits=12, cohorts=3, f=f, p=p, q=q), np.random.default_rng(1)
    errors = []
    for _ in range(600):
        reports = collected(rappor, rng.choice(["a", "b", "c"], 400, p=[0.5, 0.3, 0.2]), rng)
        frequencies, stderr = rappor.decode(*reports, ["a", "b", "c"])
        errors.append((frequencies[0] - 0.5) / stderr[0])
    assert scatter(np.array(errors), off=1.25)


@pytest.mark.parametrize("wrong", [
    {"bits": 1}, {"bits": 2.0}, {"hashes": 0}, {"cohorts": 0}, {"seed": -1},
    {"seed": None}, {"f": 1.0}, {"f": -0.1}, {"f": math.nan}, {"p": -0.1},
    {"p": 1.0}, {"q": 0.5}, {"q": 0.4}, {"q": 1.1}, {"q": math.nan}, {"q": "1"},
])
def test_rappor_refuses_bad_parameters_by_name(wrong):
    with pytest.raises(ValueError, match=rf"\b{next(iter(wrong))}\b"):
        Rappor(**wrong)


def test_rappor_refuses_what_does_not_fit():
    rappor = Rappor(bits=8, cohorts=2)
    reports, cohorts = np.eye(4, 8, dtype=int), [0, 1, 0, 1]
    for bad in ([0], [0, 2], [0, -1], [0.0, 1.0], ["0", "1"], 0, [[0, 1]]):
        with pytest.raises(ValueError, match="cohorts"):
            rappor.bloom(["ada", "bob"], bad)
    for bad in ("ada", 3, None):
        with pytest.raises(ValueError, match="values"):
            rappor.permanent(bad, [0, 0, 0])
    with pytest.raises(ValueError, match="permanent"):
        rappor.report(np.zeros((3, 7)))
    for bad in (reports[:, :7], reports * 2, reports[0], reports[:0], reports * math.nan):
        with pytest.raises(ValueError, match="reports"):
            rappor.decode(bad, cohorts, ["ada"])
    for bad in ([], ["ada", "ada"], list(range(16))):
        with pytest.raises(ValueError, match="candidates"):
            rappor.decode(reports, cohorts, bad)
    for bad in (0, 1.0, None, math.inf):
        with pytest.raises(ValueError, match="reports"):
            rappor.epsilon(bad)
