"""Noise that fits the data: bounds against brute force over all tables, losses against quadrature,
and the textbook slips measured."""
import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LEVEL, PROPERTY, has_scale
from scipy.integrate import quad
from scipy.stats import binom

from dplib import data_dependent
from dplib.data_dependent import (
    cauchy_epsilon,
    laplace_delta,
    mean_local_sensitivity,
    median_distance,
    median_local_sensitivity,
    propose_test_release,
    sample_and_aggregate,
    smooth_median,
    smooth_scales,
    smooth_sensitivity,
)
from dplib.sensitivity import empirical

LOW, HIGH = 0, 5
UNIVERSE = range(LOW, HIGH + 1)
SIZES = (1, 2, 3, 4, 5)


def lower_median(rows):
    return sorted(rows)[(len(rows) + 1) // 2 - 1]


@functools.cache
def tables(n):
    return list(itertools.combinations_with_replacement(UNIVERSE, n))


@functools.cache
def local(table):
    return empirical(lower_median, table, universe=UNIVERSE, adjacency="replace")


@functools.cache
def rows_apart(one, two):
    """Rows to replace: the order of the rows is nobody's business."""
    return len(one) - sum(min(one.count(x), two.count(x)) for x in UNIVERSE)


# --- the local sensitivity


@pytest.mark.parametrize("n", SIZES)
def test_the_local_sensitivity_within_any_number_of_steps_is_the_brute_force_one(n):
    for table in tables(n)[::3]:
        for steps in range(n + 2):
            worst = max(local(other) for other in tables(n) if rows_apart(table, other) <= steps)
            assert median_local_sensitivity(table, low=LOW, high=HIGH, steps=steps) == worst


@pytest.mark.parametrize("beta", [0.05, 0.4, 3.0])
@pytest.mark.parametrize("n", SIZES)
def test_the_smooth_sensitivity_is_the_brute_force_one(n, beta):
    for table in tables(n)[::3]:
        smallest = max(math.exp(-beta * rows_apart(table, other)) * local(other) for other in tables(n))
        assert smooth_sensitivity(table, beta=beta, low=LOW, high=HIGH) == pytest.approx(smallest, rel=1e-12)


ROWS = st.lists(st.floats(0, 10), min_size=1, max_size=40)


@PROPERTY
@given(ROWS, st.floats(0.01, 2), st.integers(0, 39), st.floats(0, 10))
def test_the_smooth_sensitivity_bounds_the_local_one_and_is_smooth(values, beta, i, x):
    other = list(values)
    other[i % len(values)] = x
    one, two = (smooth_sensitivity(rows, beta=beta, low=0, high=10) for rows in (values, other))
    assert math.exp(-beta) * (1 - 1e-12) <= one / two <= math.exp(beta) * (1 + 1e-12)
    assert min(one, two) >= abs(lower_median(values) - lower_median(other))


@PROPERTY
@given(ROWS, st.floats(0.01, 2))
def test_the_smooth_sensitivity_is_the_largest_over_all_pairs(values, beta):
    x, m = np.array([0, *sorted(values), 10]), (len(values) + 1) // 2
    pairs = [(x[j] - x[i]) * math.exp(-beta * (j - i - 1)) for i in range(m + 1) for j in range(m, len(x)) if i < j]
    assert smooth_sensitivity(values, beta=beta, low=0, high=10) == pytest.approx(max(pairs), rel=1e-12)


def test_the_mean_moves_farther_when_a_row_goes_than_the_textbook_allows():
    for n in (1, 2, 3, 4):
        for table in tables(n):
            brute = empirical(lambda rows: np.mean(rows) if rows else (LOW + HIGH) / 2,
                              table, universe=UNIVERSE, adjacency="add/remove")
            assert mean_local_sensitivity(table, low=LOW, high=HIGH) == pytest.approx(brute, rel=1e-12)
    assert mean_local_sensitivity([], low=LOW, high=HIGH) == 2.5
    assert mean_local_sensitivity([0, 0, 0, 100], low=0, high=100) == 25 > 100 / (4 + 1)      # u/(n + 1) is too small


# --- the constants


def cauchy_loss(b, scale, change=1.0):
    """Largest log ratio of Cauchy noise for S = 1 and S = e^b, answers `change` apart, on a fine grid."""
    y = np.tan(np.linspace(-np.pi / 2, np.pi / 2, 200_001)[1:-1])
    one, two = (np.log(s / (s**2 + (y - at) ** 2)) for at, s in ((0.0, scale), (change, scale * math.exp(b))))
    return np.abs(one - two).max()


@pytest.mark.parametrize("beta, scale", [(1 / 6, 6.0), (0.7, 0.95), (0.05, 0.5), (2.0, 0.3), (0.3, 20.0)])
def test_the_epsilon_of_cauchy_noise_is_attained_and_never_exceeded(beta, scale):
    losses = [cauchy_loss(b, scale, change) for b in np.linspace(0, beta, 9) for change in (0, 0.6, 1)]
    assert max(losses) == pytest.approx(cauchy_epsilon(beta=beta, scale=scale), rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.5, 1.0, 3.0, 20.0, 100.0])
def test_the_exact_cauchy_constants_use_up_epsilon_and_the_classic_ones_do_not(epsilon):
    assert epsilon * (1 - 1e-9) < cauchy_epsilon(**smooth_scales(epsilon=epsilon)._asdict()) <= epsilon
    classic = smooth_scales(epsilon=epsilon, method="classic")
    assert classic == (pytest.approx(epsilon / 6), pytest.approx(6 / epsilon))
    assert cauchy_epsilon(**classic._asdict()) < 0.24 * epsilon   # four times the noise that is needed, and less smooth


def laplace_excess(b, change, epsilon, scale):
    """delta(epsilon) of Laplace noise for S = 1 (answer 0) v S = e^b (answer `change`), the larger of both directions,
    by quadrature."""
    laws = [(0.0, scale), (change, scale * math.exp(b))]

    def delta(p, q):
        def density(law, y):
            return math.exp(-abs(y - law[0]) / law[1]) / (2 * law[1])

        def excess(y):
            return max(0.0, density(p, y) - math.exp(epsilon) * density(q, y))

        corners = [0.0, change] if change else [0.0]
        for side in (-1, 1):                     # where the excess begins, for the wider law
            if p[1] > q[1]:
                u, s, t = abs(p[0] - q[0]), p[1], q[1]
                start = (epsilon + math.log(s / t) - side * (p[0] - q[0]) / t) / (1 / t - 1 / s)
                corners.append(p[0] + side * max(start, u))
        far = 60 * max(p[1], q[1])
        edges = sorted({-far, *(c for c in corners if abs(c) < far), far})
        return sum(quad(excess, a, z, epsabs=1e-16, epsrel=1e-9, limit=400)[0] for a, z in itertools.pairwise(edges))

    return max(delta(*laws), delta(*laws[::-1]))


@pytest.mark.parametrize("epsilon, beta, scale", [(1.0, 0.2, 2.0), (0.5, 0.1, 4.0), (3.0, 1.2, 0.7), (1.0, 0.5, 2.0)])
def test_the_delta_of_laplace_noise_is_attained_and_never_exceeded(epsilon, beta, scale):
    stated = laplace_delta(epsilon=epsilon, beta=beta, scale=scale)
    assert laplace_excess(beta, 1.0, epsilon, scale) == pytest.approx(stated, rel=1e-6)
    for b, change in itertools.product(np.linspace(0, beta, 5), (0.0, 0.5, 1.0)):
        assert laplace_excess(b, change, epsilon, scale) <= stated * (1 + 1e-6)


@pytest.mark.parametrize("delta", [1e-300, 1e-9, 1e-5, 1e-2])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 10.0, 1000.0])
def test_the_exact_laplace_constants_use_up_delta(epsilon, delta):
    beta, scale = smooth_scales(epsilon=epsilon, delta=delta)
    least = min(epsilon, 100.0)
    assert scale == 2 / least and beta <= least / 2
    spent = laplace_delta(epsilon=least, beta=beta, scale=scale)
    assert spent <= delta and (spent > 0.99 * delta or beta == least / 2)


def test_the_classic_laplace_constants_waste_their_delta_at_epsilon_1_and_break_it_at_20():
    for delta in (1e-9, 1e-5, 0.5, 0.9):
        for epsilon in (0.01, 0.5, 1.0):
            beta, scale = smooth_scales(epsilon=epsilon, delta=delta, method="classic")
            assert laplace_delta(epsilon=epsilon, beta=beta, scale=scale) < 0.15 * delta
            assert beta <= smooth_scales(epsilon=epsilon, delta=delta).beta
    assert laplace_delta(epsilon=20.0, beta=10 / math.log(2e5), scale=0.1) > 5e-5            # so it is refused
    with pytest.raises(ValueError, match="epsilon"):
        smooth_scales(epsilon=20.0, delta=1e-5, method="classic")


# --- the smooth median


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_no_two_small_tables_cost_more_than_epsilon(epsilon):
    beta, scale = smooth_scales(epsilon=epsilon)
    worst = 0.0
    for n in SIZES:
        at = {table: complex(lower_median(table), scale * smooth_sensitivity(table, beta=beta, low=LOW, high=HIGH))
              for table in tables(n)}
        for one, two in itertools.combinations(tables(n), 2):
            if rows_apart(one, two) == 1:    # the largest log ratio of two Cauchy laws, as a distance in the half plane
                worst = max(worst,
                            2 * math.asinh(abs(at[one] - at[two]) / (2 * math.sqrt(at[one].imag * at[two].imag))))
    assert 0.5 * epsilon < worst <= epsilon


def test_the_smooth_median_has_the_stated_noise():
    values, rng = [1.0, 4.0, 5.0, 6.0, 9.0], np.random.default_rng(0)
    for delta, cdf, edges in (
        (0.0, lambda y, s: 0.5 + np.arctan(y / s) / np.pi, np.tan(np.linspace(-1.5, 1.5, 60))),
        (0.1, lambda y, s: np.where(y < 0, np.exp(-np.abs(y) / s) / 2, 1 - np.exp(-np.abs(y) / s) / 2),
         np.linspace(-4, 4, 60)),
    ):
        beta, scale = smooth_scales(epsilon=1.0, delta=delta)
        width = smooth_sensitivity(values, beta=beta, low=0, high=10) * scale
        draws = np.array([smooth_median(values, low=0, high=10, epsilon=1.0, delta=delta, rng=rng)
                          for _ in range(6_000)])
        has_scale((draws - 5) / width, cdf, 1.0, edges, off=1.35)


def test_the_smooth_median_fits_the_data():
    calm = np.linspace(490, 510, 1001)
    errors = {name: np.median([abs(smooth_median(calm, low=0, high=10**6, epsilon=1.0, rng=seed, **how) - 500)
                               for seed in range(99)])
              for name, how in {"exact": {}, "classic": {"method": "classic"},
                                "Laplace": {"delta": 1e-6}}.items()}
    # the global sensitivity is a million
    assert errors["exact"] < 0.1 and 10 * errors["exact"] < errors["classic"] < 10


# --- propose, test, release


@pytest.mark.parametrize("n", SIZES)
def test_the_distance_is_the_brute_force_one_and_moves_by_one(n):
    for bound in (1, 2.5, 4):
        found = {table: median_distance(table, bound=bound, low=LOW, high=HIGH) for table in tables(n)}
        for table in tables(n)[::2]:
            assert found[table] == min(rows_apart(table, other) for other in tables(n) if local(other) > bound)
            assert all(abs(found[table] - found[other]) <= 1 for other in tables(n) if rows_apart(table, other) == 1)
        assert median_distance(tables(n)[0], bound=HIGH, low=LOW, high=HIGH) == math.inf


def passes(distance, epsilon, delta, runs=20_000):
    rng = np.random.default_rng(1)
    found = [propose_test_release(0.0, distance, bound=1.0, epsilon=epsilon, delta=delta, rng=rng) for _ in range(runs)]
    return sum(one is not None for one in found), runs


@pytest.mark.parametrize("epsilon, delta", [(1.0, 0.05), (0.5, 0.02), (2.0, 0.5)])
def test_at_distance_0_the_test_is_passed_with_probability_delta(epsilon, delta):
    k, runs = passes(0, epsilon, delta)
    assert LEVEL / 2 < binom.cdf(k, runs, delta) < 1 - LEVEL / 2
    threshold = math.log(2 / delta) / (2 * epsilon)                  # the textbook's
    slip = math.exp(-epsilon * threshold) / 2
    assert slip == pytest.approx(math.sqrt(delta / 2) / 2)
    if delta < 0.1:
        assert slip > 1.5 * delta and binom.cdf(k, runs, slip) < LEVEL
    assert math.sqrt(1e-9 / 2) / 2 > 1e4 * 1e-9                      # eleven thousand deltas, where delta is small


@pytest.mark.parametrize("distance", [1, 2, 3, 5, 9])
def test_farther_away_it_is_passed_with_the_probability_of_the_noise(distance):
    threshold = math.log(1 / 0.1)
    chance = math.exp(distance - threshold) / 2 if distance < threshold else 1 - math.exp(threshold - distance) / 2
    k, runs = passes(distance, 1.0, 0.05)
    assert LEVEL / 2 < binom.cdf(k, runs, chance) < 1 - LEVEL / 2


def test_test_and_release_cost_two_epsilon_together_and_all_of_it():
    threshold = math.log(1 / 2e-6)               # epsilon = 1

    def chance(distance):
        return math.exp(distance - threshold) / 2 if distance < threshold else 1 - math.exp(threshold - distance) / 2

    losses = [abs(math.log(chance(d) / chance(d + 1))) + 1 for d in range(40)]     # of "answered, with a value far out"
    assert max(losses) == pytest.approx(2) and chance(0) == pytest.approx(1e-6)


def test_a_released_value_has_noise_for_the_bound_and_its_shape():
    rng = np.random.default_rng(2)
    draws = np.array([propose_test_release(7.0, math.inf, bound=3.0, epsilon=0.5, delta=1e-9, rng=rng)
                      for _ in range(25_000)])
    has_scale(draws - 7, lambda y, s: np.where(y < 0, np.exp(-np.abs(y) / s) / 2, 1 - np.exp(-np.abs(y) / s) / 2),
              6.0, np.linspace(-20, 20, 50), off=1.1)
    assert propose_test_release([1.0, 2.0], 99, bound=1.0, epsilon=1.0, delta=0.1, rng=0).shape == (2,)
    assert propose_test_release(1.0, math.nan, bound=1.0, epsilon=1.0, delta=0.1, rng=0) is None


# --- sample and aggregate


def aggregated(monkeypatch, values, estimate, blocks, seed):
    """The exact mean of the block estimates, and the sensitivity that the noise was told."""
    told = {}
    monkeypatch.setattr(data_dependent, "laplace",
                        lambda value, *, sensitivity, epsilon, rng: told.update(s=sensitivity) or value)
    return sample_and_aggregate(values, estimate, blocks=blocks, low=0, high=100, epsilon=1.0, rng=seed), told["s"]


@pytest.mark.parametrize("blocks", [1, 2, 7, 50])
def test_one_row_moves_the_mean_of_the_blocks_by_no_more_than_the_noise_covers(monkeypatch, blocks):
    values, worst = [20.0, 80.0] * 10, 0.0
    for seed in range(40):
        before, covered = aggregated(monkeypatch, values, lambda rows: rows[0], blocks, seed)
        assert covered == 100 / blocks
        # the coins of the other rows are the same
        for other in ([*values, 100.0], [0.0, *values[1:]], [*values[:-1], 100.0]):
            worst = max(worst, abs(aggregated(monkeypatch, other, lambda rows: rows[0], blocks, seed)[0] - before))
    assert 0 < worst <= 100 / blocks + 1e-9


def test_blocks_cut_by_position_move_all_at_once():
    values = [20.0, 80.0] * 50

    def by_position(rows, k):
        size = math.ceil(len(rows) / k)
        return [rows[i : i + size][0] for i in range(0, len(rows), size)]

    # a row more in front, the last one cut off
    before, after = by_position(values, 50), by_position([80.0, *values[:-1]], 50)
    assert abs(np.mean(before) - np.mean(after)) == 60 > 100 / 50
    assert len(by_position(list(range(32561)), 6000)) == 5427        # and fewer blocks than the noise is divided by


def test_every_row_is_in_one_block_drawn_evenly_and_independently_of_its_place(monkeypatch):
    seen = []
    aggregated(monkeypatch, np.arange(30_000), lambda rows: seen.append(rows) or 50.0, 3, 5)
    assert np.sort(np.concatenate(seen)).tolist() == list(range(30_000))
    assert all((np.diff(rows) > 0).all() for rows in seen)
    for rows in seen:
        assert LEVEL < binom.cdf(len(rows), 30_000, 1 / 3) < 1 - LEVEL
        assert LEVEL < binom.cdf((rows < 15_000).sum(), 15_000, 1 / 3) < 1 - LEVEL


def test_empty_blocks_count_as_the_middle_and_a_nan_as_the_lower_bound(monkeypatch):
    assert aggregated(monkeypatch, [], lambda rows: 1 / 0, 8, 0)[0] == 50
    assert aggregated(monkeypatch, [9.0], lambda rows: math.inf, 8, 0)[0] == pytest.approx((7 * 50 + 100) / 8)
    assert aggregated(monkeypatch, [9.0], lambda rows: math.nan, 8, 0)[0] == pytest.approx(7 * 50 / 8)


def test_rows_of_a_table_are_rows_whatever_their_labels(monkeypatch):
    import pandas as pd

    table = pd.DataFrame({"age": [10.0, 20.0, 30.0, 40.0]}, index=[7, 7, "a", None])
    as_table = aggregated(monkeypatch, table, lambda rows: rows["age"].max(), 3, 1)
    assert as_table == aggregated(monkeypatch, table["age"].to_numpy(), np.max, 3, 1) == aggregated(
        monkeypatch, table["age"], max, 3, 1)


def test_the_noise_is_for_one_block():
    rng = np.random.default_rng(3)
    draws = np.array([sample_and_aggregate([1.0], lambda rows: 50.0, blocks=4, low=0, high=100, epsilon=0.5, rng=rng)
                      for _ in range(8_000)])
    has_scale(draws - 50, lambda y, s: np.where(y < 0, np.exp(-np.abs(y) / s) / 2, 1 - np.exp(-np.abs(y) / s) / 2),
              50.0, np.linspace(-150, 150, 40), off=1.25)


# --- values and parameters


@pytest.mark.parametrize("values", [[math.nan], [math.nan, math.inf, -math.inf], [1.7e308, -1.7e308] * 3, [5e-324]])
def test_no_value_raises_or_warns(values):
    for seed in range(5):
        assert math.isfinite(smooth_median(values, low=-1, high=1, epsilon=1.0, rng=seed))
        assert math.isfinite(smooth_median(values, low=-8e307, high=8e307, epsilon=100.0, delta=0.1, rng=seed))
    assert mean_local_sensitivity(values, low=-8e307, high=8e307) > 0
    assert 0 < smooth_sensitivity(values, beta=1.0, low=-1, high=1) <= 2
    assert median_distance(values, bound=0.5, low=-1, high=1) <= len(values)
    assert median_local_sensitivity(values, low=-1, high=1, steps=10**12) == 2


@pytest.mark.parametrize("call, name", [
    (lambda: median_local_sensitivity([], low=0, high=1), "values"),
    (lambda: smooth_median([[1.0]], low=0, high=1, epsilon=1.0), "values"),
    (lambda: median_local_sensitivity([1], low=0, high=1, steps=-1), "steps"),
    (lambda: smooth_sensitivity([1], beta=0.0, low=0, high=1), "beta"),
    (lambda: smooth_median([1], low=2, high=1, epsilon=1.0), "low"),
    (lambda: smooth_median([1], low=-1e308, high=1e308, epsilon=1.0), "high"),
    (lambda: smooth_median([1], low=0, high=1, epsilon=1.0, delta=1.0), "delta"),
    (lambda: smooth_scales(epsilon=1.0, method="best"), "method"),
    (lambda: median_distance([1], bound=0.0, low=0, high=1), "bound"),
    (lambda: laplace_delta(epsilon=0.1, beta=0.1, scale=1.0), "epsilon"),
    (lambda: cauchy_epsilon(beta=301.0, scale=1.0), "beta"), (lambda: cauchy_epsilon(beta=1.0, scale=0.0), "scale"),
    (lambda: propose_test_release(1.0, 1, bound=1.0, epsilon=1.0, delta=0.0), "delta"),
    (lambda: propose_test_release(1.0, 1, bound=-1.0,
            epsilon=1.0, delta=0.1), "bound"),
    (lambda: sample_and_aggregate([1], max, blocks=0, low=0, high=1, epsilon=1.0), "blocks"),
    (lambda: sample_and_aggregate(1.0, max, blocks=1, low=0, high=1, epsilon=1.0), "values"),
    (lambda: sample_and_aggregate([1], max, blocks=1, low=1, high=1, epsilon=1.0), "low"),
])
def test_bad_public_parameters_are_refused(call, name):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        call()
