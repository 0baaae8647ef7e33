"""The sparse vector technique: exact laws and losses by quadrature, samplers that follow them,
and a run that really stops."""
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import DRAWS, PROPERTY, follows, has_scale
from scipy import integrate, stats
from scipy.optimize import brentq

from dplib.svt import (
    AboveThreshold,
    Scales,
    above_threshold,
    index_pmf,
    log_laplace_cdf,
    log_probability,
    numeric_sparse,
    scales,
)

NO, YES = 0, 1
SPLITS = ("even", "optimal")


def loss(outcome, answers, others, threshold, noise):
    one, two = (log_probability(outcome, table, threshold=threshold, noise=noise) for table in (answers, others))
    return one - two


# --- scales


def test_the_laplace_cdf_takes_numbers_of_any_type():
    """Minus an unsigned number is another unsigned number."""
    for kind in (np.uint8, np.int64, np.float32):
        assert log_laplace_cdf(np.array([1, 5], dtype=kind)) == pytest.approx(stats.laplace.logcdf([1, 5]))


@pytest.mark.parametrize("c, monotone, threshold, query",
                         [(1, False, 2, 4), (5, False, 2, 20), (1, True, 2, 2), (5, True, 2, 10)])
def test_even_scales_are_the_textbook_ones(c, monotone, threshold, query):
    assert scales(1.0, c=c, monotone=monotone) == (threshold, query, math.inf)
    assert scales(0.5, c=c, monotone=monotone, sensitivity=3) == (6 * threshold, 6 * query, math.inf)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("c, numeric", [(1, 0.0), (3, 0.25), (10, 0.8)])
def test_the_three_parts_of_epsilon_add_up(c, numeric, monotone, split):
    noise = scales(0.7, c=c, sensitivity=2, monotone=monotone, numeric=numeric, split=split)
    factor = c if monotone else 2 * c
    assert 2 / noise.threshold + factor * 2 / noise.query + c * 2 / noise.value == pytest.approx(0.7, rel=1e-12)
    assert c * 2 / noise.value == pytest.approx(numeric * 0.7)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("c", [1, 4, 10, 100])
def test_the_optimal_split_minimises_the_variance_of_the_compared_difference(c, monotone):
    def variance(share):
        return share**-2 + ((c if monotone else 2 * c) / (1 - share)) ** 2

    best = scales(1.0, c=c, monotone=monotone, split="optimal")
    grid = np.linspace(0.0005, 0.9995, 19_991)
    assert variance(1 / best.threshold) == pytest.approx(best.threshold**2 + best.query**2)
    assert variance(1 / best.threshold) <= variance(grid).min() * (1 + 1e-12)
    assert 1 / best.threshold == pytest.approx(grid[variance(grid).argmin()], abs=1e-4)


# share of epsilon for the threshold, and variance against the even split
@pytest.mark.parametrize("c, share, gain", [(1, 0.3865, 0.866), (10, 0.1195, 0.365), (100, 0.0284, 0.273)])
def test_the_optimal_split_is_pinned(c, share, gain):
    best, even = scales(1.0, c=c, split="optimal"), scales(1.0, c=c)
    assert 1 / best.threshold == pytest.approx(share, abs=5e-5)
    assert (best.threshold**2 + best.query**2) / (even.threshold**2 + even.query**2) == pytest.approx(gain, abs=5e-4)


# --- the exact law


# epsilon = 1, even split, by independent quadrature; the flat law starts 1/2, 5/24, 5/48, 7/120
@pytest.mark.parametrize("answers, threshold, law", [
    ([0, 1, 2], 1, [0.418112078762, 0.250522130843, 0.150040098678, 0.181325691717]),
    ([-5, -5, -5, 5], 0, [0.177322364803, 0.127729344801, 0.0993839873177, 0.469317045641, 0.126247257438]),
    ([0] * 10, 0, [1 / 2, 5 / 24, 5 / 48, 7 / 120, 0.0354166666667, 0.0228794642857, 0.0155319940476,
                   0.0109809027778, 0.00802951388889, 0.00603989109848, 0.0302882339015]),
])
def test_index_law_is_pinned(answers, threshold, law):
    assert index_pmf(answers, threshold=threshold, noise=scales(1.0)) == pytest.approx(law, rel=1e-10)


def test_index_law_of_a_long_descent_is_pinned():
    # sums of ages clipped at b minus those at b + 5, epsilon = .1: the search for a clipping bound in many tutorials
    answers = [-32561] * 4 + [-29431, -25365, -21101, -16738, -12635, -8890,
                              -5865, -3723, -2032, -1008, -468, -195, -79, -47] + [0] * 12
    law = index_pmf(answers, threshold=0.0, noise=scales(0.1))
    assert law[13:22] == pytest.approx([7.58032449282e-12, 5.52920130895e-06, 0.00508024216608, 0.0883204525539,
                                        0.160548691244, 0.342870854139, 0.158313403101, 0.083249347937,
                                        0.0481028854473], rel=1e-9)
    assert law[-1] == pytest.approx(0.0206673492526, rel=1e-9) and law[:8] == pytest.approx(0, abs=1e-180)


@PROPERTY
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6), st.floats(-10, 10),
       st.floats(0.05, 10), st.sampled_from(SPLITS))
def test_index_law_is_a_law_and_agrees_with_log_probability(answers, threshold, epsilon, split):
    noise = scales(epsilon, split=split)
    law = index_pmf(answers, threshold=threshold, noise=noise)
    singles = [log_probability([NO] * i + [YES], answers, threshold=threshold, noise=noise)
               for i in range(len(answers))]
    singles.append(log_probability([NO] * len(answers), answers, threshold=threshold, noise=noise))
    assert law.sum() == pytest.approx(1, abs=1e-10)
    assert law == pytest.approx(np.exp(singles), rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("outcome", [(YES,), (NO, NO, YES), (YES, NO, YES, YES), (NO,) * 4])
@pytest.mark.parametrize("noise", [Scales(2, 4, math.inf), Scales(0.5, 7, math.inf), Scales(3, 0.4, math.inf)])
def test_log_probability_is_the_integral_over_the_threshold(outcome, noise):
    answers, threshold = [0.3, -2, 5, 1], 0.7

    def density(t):
        replies = [stats.laplace.cdf((a - t if yes else t - a) / noise.query) for a, yes in zip(answers, outcome)]
        return stats.laplace.pdf(t, threshold, noise.threshold) * np.prod(replies)

    corners = [-200, *sorted([*answers, threshold]), 200]
    total = sum(integrate.quad(density, a, b, epsabs=1e-14, epsrel=1e-12)[0] for a, b in itertools.pairwise(corners))
    assert log_probability(outcome, answers, threshold=threshold, noise=noise) == pytest.approx(
        math.log(total), abs=1e-8)


def test_log_probability_ignores_answers_after_the_last_reply_and_does_not_underflow():
    noise = scales(1.0)
    assert log_probability([NO, YES], [0, 1, 99], threshold=0.0, noise=noise) == log_probability(
        [NO, YES], [0, 1], threshold=0.0, noise=noise)
    far = log_probability([YES] * 10, [-1e4] * 10, threshold=0.0, noise=noise)
    assert far == pytest.approx(-1e4 / 2, rel=0.01)      # the threshold comes down, at 1/2 a unit


@pytest.mark.parametrize("gap", [5e-324, 1e-300, 1e-20, 1e-13, 1e-11, 0.5])
@pytest.mark.parametrize("centre", [0.0, 5.0, -3.0])
def test_close_answers_are_told_apart_by_density_times_width(gap, centre):
    """Without noise on the answers, (No, Yes) on 0 and a gap is a threshold between the two; with noise,
    a tiny gap changes nothing."""
    density, _ = integrate.quad(lambda u: math.exp(-abs(u * gap - centre) / 2) / 4, 0, 1)
    exact = log_probability([NO, YES], [0.0, gap], threshold=centre, noise=Scales(2, 0, math.inf))
    assert exact == pytest.approx(math.log(gap) + math.log(density), abs=1e-9 if gap == 0.5 else 1e-11)
    if gap < 1e-12:
        noise = Scales(2, 0.25, math.inf)
        assert index_pmf([0.0, gap], threshold=centre, noise=noise) == pytest.approx(
            index_pmf([0.0, 0.0], threshold=centre, noise=noise), rel=1e-11)


@pytest.mark.parametrize("answers", [[math.inf], [math.nan, 0.0], [[0.0, 1.0]]])
def test_the_exact_law_wants_a_vector_of_finite_answers(answers):
    with pytest.raises(ValueError, match="answers"):
        log_probability([NO], answers, threshold=0.0, noise=scales(1.0))
    with pytest.raises(ValueError, match="answers"):
        index_pmf(answers, threshold=0.0, noise=scales(1.0))


# P(some Yes among k answers T below the threshold) = 5 %; the simple bound asks for 8 (ln k + ln 40)
@pytest.mark.parametrize("k, margin", [(10, 19.32), (100, 28.51), (1000, 37.72), (30_000, 51.32)])
def test_false_alarm_margins_are_pinned(k, margin):
    def excess(threshold):
        return -math.expm1(log_probability([NO] * k, [0] * k, threshold=threshold, noise=scales(1.0))) - 0.05

    assert brentq(excess, 1, 100) == pytest.approx(margin, abs=0.005)
    assert margin < 8 * (math.log(k) + math.log(2 / 0.05))


# --- exact privacy loss: m times No and then Yes, all answers 0 but the last 1, against all 1 but the last 0


@pytest.mark.parametrize("e1, e2, m, exact", [
    (0.5, 0.5, 1, 0.395815334), (0.5, 0.5, 2, 0.589147299), (0.5, 0.5, 5, 0.899814687),
    (0.5, 0.5, 10, 0.994010164), (0.5, 0.5, 50, 1.0),
    (0.3, 0.7, 1, 0.514107601), (0.3, 0.7, 2, 0.739278735), (0.3, 0.7, 10, 0.998515699), (0.3, 0.7, 50, 1.0),
    (1, 1, 1, 0.77394559), (1, 1, 5, 1.81609812), (1, 1, 10, 1.98588325), (1, 1, 50, 2.0),
])
def test_the_loss_of_no_no_yes_is_pinned(e1, e2, m, exact):
    noise = Scales(1 / e1, 2 / e2, math.inf)
    assert loss([NO] * m + [YES], [0] * m + [1], [1] * m + [0], 0.0, noise) == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("c", [1, 2, 5])
def test_the_worst_loss_over_thresholds_is_epsilon_and_never_above(c, epsilon, split):
    m = 200
    noise = scales(epsilon, c=c, split=split)
    outcome, answers, others = [NO] * m + [YES] * c, [0] * m + [1] * c, [1] * m + [0] * c
    losses = [loss(outcome, answers, others, threshold, noise) for threshold in np.linspace(-60, 20, 9) / epsilon]
    assert max(losses) == pytest.approx(epsilon, rel=1e-3)
    assert max(map(abs, losses)) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("c", [1, 2, 5])
def test_monotone_noise_costs_epsilon_for_moves_one_way_and_half_as_much_again_otherwise(c):
    m, noise = 200, scales(1.0, c=c, monotone=True)
    outcome, answers = [NO] * m + [YES] * c, [0] * m + [1] * c
    grid = np.linspace(-60, 20, 9)
    one_way = max(loss(outcome, answers, [1] * m + [1] * c, threshold, noise) for threshold in grid)
    crossing = max(loss(outcome, answers, [1] * m + [0] * c, threshold, noise) for threshold in grid)
    assert one_way <= 1 + 1e-9
    assert crossing == pytest.approx(1.5, abs=1e-3)


def test_monotone_noise_is_tight_for_moves_one_way():
    m, noise = 200, scales(1.0, monotone=True)
    assert loss([NO] * m + [YES], [1] * m + [1], [0] * m + [0], -60.0, noise) <= 1 + 1e-9
    downs = [loss([NO] * m + [YES], [0] * m + [1], [0] * m + [0], threshold, noise) for threshold in (-60.0, 0.0, 60.0)]
    ups = [loss([NO] * m + [YES], [0] * m + [0], [1] * m + [0], threshold, noise) for threshold in (-60.0, 0.0, 60.0)]
    assert max(ups) == pytest.approx(1, abs=1e-3) and max(downs + ups) <= 1 + 1e-9


REPLIES = st.lists(st.booleans(), min_size=1, max_size=8)


@PROPERTY
@given(REPLIES, st.data(), st.floats(-10, 10), st.floats(0.1, 4), st.booleans(), st.sampled_from(SPLITS))
def test_no_outcome_loses_more_than_epsilon(outcome, data, threshold, epsilon, monotone, split):
    def vector(elements):
        return np.array(data.draw(st.lists(elements, min_size=len(outcome), max_size=len(outcome))))

    answers = vector(st.floats(-5, 5))
    moves = vector(st.floats(0, 1)) * data.draw(st.sampled_from([-1, 1])) if monotone else vector(st.floats(-1, 1))
    noise = scales(epsilon, c=max(1, sum(outcome)), monotone=monotone, split=split)
    assert abs(loss(outcome, answers, answers + moves, threshold, noise)) <= epsilon + 1e-9


# --- one mechanism in several dresses


def conversation(answers, **parameters):
    watch, positive = AboveThreshold(3.0, **parameters), []
    for i, answer in enumerate(answers):
        if watch.halted:
            break
        if watch.ask(answer):
            positive.append(i)
    return positive


@pytest.mark.parametrize("c, size", [(1, 10), (3, 10), (1, 4095), (2, 4096), (2, 4097), (5, 13_000), (40, 13_000)])
@pytest.mark.parametrize("seed", range(4))
def test_arrays_lists_iterators_and_conversations_give_the_same_replies(c, size, seed):
    # so low that about 2 c pass, anywhere
    answers = np.random.default_rng(seed).normal(-4 * c * math.log(size / (4 * c) + 1), 1, size)
    parameters = {"sensitivity": 1, "epsilon": 1.0, "c": c, "split": SPLITS[seed % 2],
                  "monotone": seed > 1, "rng": seed}
    expected = above_threshold(answers, threshold=3.0, **parameters).tolist()
    assert above_threshold(list(answers), threshold=3.0, **parameters).tolist() == expected
    assert above_threshold(iter(answers), threshold=3.0, **parameters).tolist() == expected
    assert above_threshold((answer for answer in answers), threshold=3.0, **parameters).tolist() == expected
    assert conversation(answers, **parameters) == expected
    assert len(expected) <= c and expected == sorted(set(expected))


def test_indices_are_counted_across_blocks():
    answers = np.full(20_000, -1e9)
    answers[[4095, 4096, 8191, 8192, 19_999]] = 1e9
    assert above_threshold(answers, threshold=0.0, sensitivity=1, epsilon=1, c=9, rng=0).tolist() == [
        4095, 4096, 8191, 8192, 19_999]
    assert above_threshold(answers, threshold=0.0, sensitivity=1, epsilon=1, c=3, rng=0).tolist() == [4095, 4096, 8191]
    indices, values = numeric_sparse(answers, threshold=0.0, sensitivity=1, epsilon=1, c=4, rng=0)
    assert indices.tolist() == [4095, 4096, 8191, 8192] and values == pytest.approx([1e9] * 4, abs=1e4)


def test_an_endless_iterator_is_read_until_the_last_yes_and_not_much_further():
    read = 0

    def endless():
        nonlocal read
        for i in itertools.count():
            read += 1
            yield 1e6 if i in (5000, 6000) else -1e6

    assert above_threshold(endless(), threshold=0.0, sensitivity=1, epsilon=1, c=2, rng=0).tolist() == [5000, 6000]
    assert read < 20_000


def test_an_early_yes_in_a_long_list_draws_little_noise():
    rng = np.random.default_rng(0)
    above_threshold(np.full(1_000_000, 1e9), threshold=0.0, sensitivity=1, epsilon=1, rng=rng)
    fresh = np.random.default_rng(0).random(20_000)
    assert rng.random() in fresh                 # the generator has moved on by less than that


def test_a_run_stops_at_its_cth_yes():
    answers = np.full(50, 1e6)
    for c in (1, 2, 7, 50, 60):
        assert above_threshold(answers, threshold=0, sensitivity=1, epsilon=1, c=c, rng=0).tolist() == list(
            range(min(c, 50)))
        assert len(numeric_sparse(answers, threshold=0, sensitivity=1, epsilon=1, c=c, rng=0)[1]) == min(c, 50)


def test_a_halted_conversation_gives_no_more_answers():
    watch = AboveThreshold(0, sensitivity=1, epsilon=1, c=2, rng=0)
    assert [watch.ask(1e6), watch.halted, watch.ask(-1e6), watch.ask(1e6), watch.halted] == [
        True, False, False, True, True]
    for answer in (1e6, -1e6, math.nan):
        with pytest.raises(RuntimeError):
            watch.ask(answer)


def test_nothing_passes_in_an_empty_list():
    for answers in ([], iter([]), np.empty(0)):
        assert above_threshold(answers, threshold=0, sensitivity=1, epsilon=1, rng=0).tolist() == []
    indices, values = numeric_sparse([], threshold=0, sensitivity=1, epsilon=1, rng=0)
    assert indices.shape == values.shape == (0,)


def test_one_threshold_noise_serves_the_whole_run():
    # 30,000 answers at the threshold: the fraction that pass tells the noise; redrawn, it would be near 1/2 in every
    # run
    fractions = []
    for seed in range(20):
        passed = above_threshold(np.zeros(30_000), threshold=0, sensitivity=1,
                                 epsilon=1, c=30_000, split="optimal", rng=seed)
        noise = scales(1, c=30_000, split="optimal")
        shift = np.random.default_rng(seed).laplace(scale=noise.threshold)           # the first draw of the run
        fractions.append((len(passed) / 30_000, stats.laplace.sf(shift / noise.query)))
    seen, expected = np.array(fractions).T
    assert np.abs(seen - expected).max() < 6 * 0.5 / 30_000**0.5
    assert np.std(expected) > 0.001


# --- values


@pytest.mark.parametrize("numeric", [0.2, 0.5])
def test_released_values_carry_fresh_laplace_noise_whatever_the_comparison_said(numeric):
    # all answers at the threshold: that one passed tells its comparison noise was large, and must tell nothing about
    # its value
    indices, values = numeric_sparse(np.full(3 * DRAWS, 5.0), threshold=5.0,
                                     sensitivity=1, epsilon=1.0, c=DRAWS, numeric=numeric, rng=23)
    assert len(indices) == DRAWS
    scale = DRAWS / numeric
    edges = stats.laplace.ppf(np.linspace(0.01, 0.99, 50), scale=scale)
    has_scale(values - 5, lambda x, s: stats.laplace.cdf(x, scale=s), scale, edges)
    spread = np.corrcoef(values[:-1], values[1:])[0, 1]
    assert abs(spread) < 5 / DRAWS**0.5


def test_numeric_sparse_finds_the_indices_of_above_threshold_with_the_rest_of_epsilon():
    answers = np.random.default_rng(25).normal(0, 30, 500)
    indices, values = numeric_sparse(answers, threshold=20, sensitivity=1, epsilon=2.0, c=4, numeric=0.25, rng=26)
    assert indices.tolist() == above_threshold(answers, threshold=20, sensitivity=1, epsilon=1.5, c=4, rng=26).tolist()
    assert np.abs(values - answers[indices]).max() < 40 * 4 / 0.5


# --- the sampler follows the law

ANSWERS, THRESHOLD, EPSILON, RUNS = np.array([-1.0, 2.0, 0.5, 3.0]), 1.0, 1.5, 20_000


def all_outcomes(c, length):
    """Every complete run: it stops at the c-th Yes."""
    full = itertools.product([NO, YES], repeat=length)
    return sorted({tuple(itertools.takewhile(lambda reply: reply is not None, stopped(run, c))) for run in full})


def stopped(run, c):
    left = c
    for reply in run:
        yield reply if left else None
        left -= reply


def outcome_of(indices, c, length):
    last = indices[-1] + 1 if len(indices) == c else length
    return tuple(int(i in indices) for i in range(last))


@pytest.mark.long
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("c", [1, 2, 3])
def test_above_threshold_follows_its_exact_law(c, monotone, split):
    rng = np.random.default_rng(21)
    parameters = {"sensitivity": 1, "epsilon": EPSILON, "c": c, "monotone": monotone, "split": split}
    outcomes = {outcome: i for i, outcome in enumerate(all_outcomes(c, 4))}
    counts = np.zeros(len(outcomes), dtype=int)
    for _ in range(RUNS):
        outcome = outcome_of(above_threshold(ANSWERS, threshold=THRESHOLD, rng=rng, **parameters), c, 4)
        assert outcome in outcomes, "a run that cannot be"
        counts[outcomes[outcome]] += 1
    right = scales(EPSILON, c=c, monotone=monotone, split=split)

    def law(threshold, query):
        noise = Scales(threshold * right.threshold, query * right.query, math.inf)
        return np.exp([log_probability(outcome, ANSWERS, threshold=THRESHOLD, noise=noise) for outcome in outcomes])

    assert law(1, 1).sum() == pytest.approx(1, abs=1e-9)
    follows(counts, law(1, 1), law(0.5, 1), law(2, 1), law(1, 0.5), law(1, 2))


@pytest.mark.slow
def test_first_index_follows_index_pmf_finely_enough_to_see_a_scale_ten_per_cent_off():
    rng, answers = np.random.default_rng(22), np.linspace(-20, 20, 9)
    firsts = [above_threshold(answers, threshold=4.0, sensitivity=1, epsilon=0.5, rng=rng) for _ in range(DRAWS)]
    counts = np.bincount([first[0] if len(first) else 9 for first in firsts], minlength=10)
    b1, b2, _ = scales(0.5)
    offs = [(1, 1), (1, 1.1), (1, 1 / 1.1), (1.2, 1), (1 / 1.2, 1)]
    laws = [index_pmf(answers, threshold=4.0, noise=Scales(x * b1, y * b2, math.inf)) for x, y in offs]
    follows(counts, *laws)


def test_a_single_released_value_is_independent_of_passing():
    rng = np.random.default_rng(24)
    released = np.concatenate([numeric_sparse([0.0], threshold=0.0, sensitivity=1, epsilon=1.0, rng=rng)[1]
                               for _ in range(40_000)])
    assert 18_500 < len(released) < 21_500       # half of them pass
    has_scale(released, lambda x, s: stats.laplace.cdf(x, scale=s), 2.0,
              stats.laplace.ppf(np.linspace(0.01, 0.99, 30), scale=2.0), off=1.1)
