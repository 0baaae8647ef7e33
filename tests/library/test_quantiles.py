"""Private quantiles: the spread that sets the rate is exactly right for every table (brute force),
and the sampler has the law."""
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import PROPERTY, follows

from dplib.mechanisms import exponential_pmf
from dplib.quantiles import median, quantile, quantile_density, quantiles
from dplib.sensitivity import ADJACENCIES

UNIVERSE = [0, 1e-9, 1e-6, 1 - 1e-6, 1 - 1e-9, 1]     # gaps of very different length: the loss comes near its supremum
CUTS = np.array(UNIVERSE)
INSIDE = (CUTS[1:] + CUTS[:-1]) / 2


def neighbours(table, universe, adjacency):
    if adjacency == "replace":
        return [sorted([*table[:i], x, *table[i + 1 :]]) for i in range(len(table)) for x in universe]
    return [sorted([*table, x]) for x in universe]


def log_density(values, q, points, *, epsilon, adjacency):
    edges, probabilities = quantile_density(values, share=q, low=0, high=1, epsilon=epsilon, adjacency=adjacency)
    i = np.searchsorted(edges, points) - 1
    return np.log(probabilities[i] / np.diff(edges)[i])


def worst_loss(q, adjacency, sizes=(1, 2, 3, 4), epsilon=1.0):
    def law(table):
        return log_density(table, q, INSIDE, epsilon=epsilon, adjacency=adjacency)

    tables = [list(table) for n in sizes for table in itertools.combinations_with_replacement(UNIVERSE, n)]
    return max(np.abs(law(one) - law(two)).max() for one in tables for two in neighbours(one, UNIVERSE, adjacency))


# --- the guarantee


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("q", [0, 0.25, 0.5, 1])
def test_the_loss_comes_up_to_epsilon_and_not_beyond(q, adjacency):
    assert 0.999 < worst_loss(q, adjacency) <= 1 + 1e-9


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_quantile_far_out_costs_no_more(adjacency):
    assert 0.4 < worst_loss(0.9, adjacency) <= 1 + 1e-9              # ten rows would be needed for the whole epsilon


def test_the_rates_of_replace_hold_under_add_remove_but_not_the_other_way_round():
    def worst(built_for, asked_under):
        tables = [list(table) for n in (1, 2, 3) for table in itertools.combinations_with_replacement(UNIVERSE, n)]
        return max(np.abs(log_density(one, 0.5, INSIDE, epsilon=1.0, adjacency=built_for)
                          - log_density(two, 0.5, INSIDE, epsilon=1.0, adjacency=built_for)).max()
                   for one in tables for two in neighbours(one, UNIVERSE, asked_under))

    assert worst("replace", "add/remove") == pytest.approx(0.5, abs=1e-3)
    assert worst("add/remove", "replace") == pytest.approx(2, abs=1e-3)


@pytest.mark.parametrize("q", [0, 0.1, 0.3, 0.5, 0.8, 1])
def test_the_density_is_the_exponential_mechanism_on_a_fine_grid(q):
    values, points = [0.5, 2, 2, 3.25], (np.arange(4000) + 0.5) / 1000
    below = np.searchsorted(values, points)
    law = exponential_pmf(-np.abs(below - q * 4), sensitivity=1.0, epsilon=1.4, monotone=q in (0, 1))
    edges, probabilities = quantile_density(values, share=q, low=0, high=4, epsilon=1.4, adjacency="replace")
    assert edges.tolist() == [0, *values, 4]
    assert probabilities == pytest.approx([law[(a < points) & (points < b)].sum()
                                           for a, b in itertools.pairwise(edges)], abs=1e-12)
    assert probabilities[2] == 0                 # between the two equal values


def test_by_hand():
    edges, probabilities = quantile_density([1, 3], share=0.5, low=0, high=4, epsilon=2.0, adjacency="replace")
    assert probabilities == pytest.approx(np.array([1 / math.e, 2, 1 / math.e]) / (2 + 2 / math.e))
    twice = quantile_density([1, 3], share=0.5, low=0, high=4, epsilon=1.0, adjacency="add/remove")[1]
    assert twice == pytest.approx(probabilities)      # the median under add/remove needs half the epsilon
    assert quantile_density([], share=0.3, low=-1, high=7, epsilon=1.0, adjacency="replace")[1].tolist() == [1]


# --- the sampler


def test_a_draw_follows_the_density_and_is_uniform_inside():
    values, rng = [1, 2, 2, 5, 9], np.random.default_rng(0)
    draws = np.array([quantile(values, share=0.3, low=0, high=10, epsilon=1.0, adjacency="replace", rng=rng)
                      for _ in range(15_000)])
    cells = np.linspace(0, 10, 41)               # the values are among these

    def law(epsilon):
        edges, probabilities = quantile_density(values, share=0.3, low=0, high=10, epsilon=epsilon, adjacency="replace")
        heights = probabilities[np.diff(edges) > 0] / np.diff(edges)[np.diff(edges) > 0]
        return heights[np.searchsorted(np.unique(edges), (cells[1:] + cells[:-1]) / 2) - 1] / 4

    follows(np.histogram(draws, cells)[0], law(1.0), law(0.7), law(1.4))


@pytest.mark.parametrize("values, at", [([], None), ([3.0], None), ([2.0] * 50, None), (list(range(10)), 4.5)])
def test_the_median_is_the_half_quantile(values, at):
    assert median(values, low=0, high=9, epsilon=2.0, adjacency="replace", rng=4) == quantile(
        values, share=0.5, low=0, high=9, epsilon=2.0,
            adjacency="replace", rng=4)
    if at:
        assert abs(median(values, low=0, high=9, epsilon=500.0, adjacency="replace", rng=4) - at) <= 0.5


def test_equal_values_leave_no_interval_to_hit_and_a_public_noise_gives_them_one():
    ages, rng = np.repeat([30.0, 50.0, 80.0], [100, 801, 100]), np.random.default_rng(1)
    plain = [median(ages, low=0, high=100, epsilon=1.0, adjacency="replace", rng=rng) for _ in range(200)]
    spread = [median(ages + rng.uniform(-0.5, 0.5, ages.size), low=0, high=100,
                     epsilon=1.0, adjacency="replace", rng=rng) for _ in range(200)]
    assert np.abs(np.array(plain) - 50).mean() > 5 and np.abs(np.array(spread) - 50).max() < 0.6


# --- several


def joint_law(values, qs, rates, points):
    """log density of two quantiles (upper one first) at all pairs of points, by hand: the product of two laws."""
    def log_law(rows, q, rate, low, high, at):
        edges = np.concatenate([[low], np.sort(rows), [high]])
        widths = np.diff(edges)
        logs = np.log(widths, where=widths > 0, out=np.full(len(widths), -np.inf))
        total = np.logaddexp.reduce(logs - rate * np.abs(np.arange(len(widths)) - q * len(rows)))
        below = sum(np.asarray(at) > row for row in rows) if len(rows) else np.zeros(np.shape(at), dtype=int)
        return -rate * np.abs(below - q * len(rows)) - total

    rows = np.asarray(values, dtype=float)
    table = np.full((len(points), len(points)), -np.inf)
    for j, top in enumerate(points):
        first = log_law(rows, qs[1], rates[0], 0.0, 1.0, [top])[0]
        lower = points[:j]
        if j:
            table[:j, j] = first + log_law(rows[rows < top], qs[0] / qs[1], rates[1], 0.0, top, lower)
    return table


# both are medians; two levels
QS, RATES = [0.25, 0.5], {"replace": (0.5 / 2, 0.5 / 2), "add/remove": (0.5 / 1, 0.5 / 1)}


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_two_quantiles_follow_the_product_of_their_laws(adjacency):
    values, rng, fine = [0.2, 0.3, 0.6, 0.7, 0.7, 0.9], np.random.default_rng(2), 200
    draws = np.array([quantiles(values, shares=QS, low=0, high=1, epsilon=6.0, adjacency=adjacency, rng=rng)
                      for _ in range(20_000)])
    points = (np.arange(fine) + 0.5) / fine

    def law(factor):
        table = np.exp(joint_law(values, QS, [6 * factor * rate for rate in RATES[adjacency]], points))
        table[np.arange(fine), np.arange(fine)] = 0
        cells = table.reshape(10, fine // 10, 10, fine // 10).sum(axis=(1, 3))
        return cells / cells.sum()

    # off the diagonal the quadrature is exact enough
    inside = (np.floor(draws * 10)[:, 0] < np.floor(draws * 10)[:, 1])
    counts = np.histogram2d(draws[inside, 0], draws[inside, 1], bins=np.linspace(0, 1, 11))[0]
    upper = np.triu_indices(10, 1)
    laws = [law(factor)[upper] / law(factor)[upper].sum() for factor in (1, 0.65, 1.5)]
    follows(counts[upper], *laws)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_two_quantiles_together_cost_epsilon(adjacency):
    universe, points = [0.0, 0.02, 0.5, 0.98, 1.0], np.array([0.005, 0.015, 0.1, 0.3, 0.6, 0.9, 0.985, 0.995])
    tables = [list(table) for n in (1, 2, 3) for table in itertools.combinations_with_replacement(universe, n)]
    worst = 0.0
    for one in tables:
        first = joint_law(one, QS, RATES[adjacency], points)
        for two in neighbours(one, universe, adjacency):
            other = joint_law(two, QS, RATES[adjacency], points)
            seen = np.isfinite(first)
            assert (seen == np.isfinite(other)).all()
            worst = max(worst, np.abs(first[seen] - other[seen]).max())
    assert 0.6 < worst <= 1 + 1e-9


@pytest.mark.parametrize("m, levels", [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4)])
def test_the_levels_are_as_many_as_halvings(m, levels, monkeypatch):
    seen = []
    monkeypatch.setattr("dplib.quantiles._draw",
                        lambda x, q, low, high, rate, rng: seen.append((len(x), round(q, 9), rate)) or (low + high) / 2)
    qs = np.arange(1, m + 1) / (m + 1)
    answers = quantiles(np.linspace(0, 1, 100), shares=qs, low=0, high=1, epsilon=1.0, adjacency="add/remove")
    assert len(seen) == m and (np.diff(answers) > 0).all()
    assert len({rate for *_, rate in seen}) <= levels
    assert seen[0][2] == pytest.approx(1 / levels / (2 * max(seen[0][1], 1 - seen[0][1])))
    if m in (1, 3, 7):
        # every level reads each row once
        assert [q for _, q, _ in seen] == [0.5] * m and sum(n for n, *_ in seen) == 100 * levels


def test_a_level_of_two_ranges_costs_a_replaced_row_twice(monkeypatch):
    rates = []
    monkeypatch.setattr("dplib.quantiles._draw", lambda x, q, low, high, rate, rng: rates.append(rate)
                        or (low + high) / 2)
    quantiles([], shares=[0.1, 0.5, 0.6], low=0, high=1, epsilon=1.0, adjacency="replace")
    # shares 1/5 and 1/5: spread 2 * 4/5 each
    assert rates == pytest.approx([0.5 / 2, 0.5 / (1.6 + 1.6), 0.5 / (1.6 + 1.6)])
    rates.clear()
    quantiles([], shares=[0, 0.5, 1], low=0, high=1, epsilon=1.0, adjacency="replace")
    assert rates == pytest.approx([0.5 / 2, 0.5 / 2, 0.5 / 2])       # a minimum and a maximum: 1 each


@PROPERTY
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=12),
       st.lists(st.integers(0, 16), min_size=1, max_size=6, unique=True),
       st.sampled_from([1e-6, 1.0, 1e6, 1e300]), st.integers(0, 99))
def test_answers_are_sorted_and_in_range_whatever_the_values(values, sixteenths, epsilon, seed):
    qs = np.sort(sixteenths) / 16
    answers = quantiles(values, shares=qs, low=-2, high=3, epsilon=epsilon, adjacency="replace", rng=seed)
    assert (np.diff(answers) >= 0).all() and ((-2 <= answers) & (answers <= 3)).all()
    assert -2 <= quantile(values, share=qs[0], low=-2, high=3, epsilon=epsilon, adjacency="replace", rng=seed) <= 3
    edges, probabilities = quantile_density(values, share=qs[0], low=-2, high=3, epsilon=epsilon, adjacency="replace")
    assert probabilities.sum() == pytest.approx(1) and (probabilities[np.diff(edges) == 0] == 0).all()


def test_a_lot_of_epsilon_gives_the_quantiles():
    values = np.random.default_rng(3).permutation(np.arange(1000.0))
    qs = np.arange(1, 10) / 10
    answers = quantiles(values, shares=qs, low=0, high=1000, epsilon=1e4, adjacency="replace", rng=0)
    assert np.abs(answers - 1000 * qs).max() <= 1
    assert values[0] != 0                        # the argument is left as it was


def test_a_nan_counts_as_the_lower_bound():
    one = quantile_density([math.nan, 4.0, -math.inf, 99.0], share=0.5, low=1, high=5, epsilon=1.0, adjacency="replace")
    two = quantile_density([1, 4, 1, 5], share=0.5, low=1, high=5, epsilon=1.0, adjacency="replace")
    assert all((a == b).all() for a, b in zip(one, two))


@pytest.mark.parametrize("change, name", [
    ({"share": -0.1}, "share"), ({"share": 1.1}, "share"), ({"share": math.nan}, "share"),
    ({"share": "half"}, "share"), ({"low": 5}, "low"),
    ({"low": 6}, "low"),
    ({"low": -1e308, "high": 1e308}, "high"), ({"high": math.inf}, "high"),
    ({"epsilon": 0}, "epsilon"), ({"adjacency": "swap"}, "adjacency"),
    ({"values": [[1.0]]}, "values"), ({"values": 1.0}, "values"),
])
def test_bad_public_parameters_are_refused(change, name):
    right = {"values": [1.0], "share": 0.5, "low": 0, "high": 5, "epsilon": 1.0, "adjacency": "replace"}
    for function in (quantile, quantile_density):
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            function(**{**right, **change})


@pytest.mark.parametrize("qs", [[], 0.5, [0.5, 0.5], [0.6, 0.5], [-0.1],
                                [1.1], [math.nan], [0.1, math.nan], "ab", None, [[0.5]]])
def test_bad_lists_of_quantiles_are_refused(qs):
    with pytest.raises(ValueError, match="shares"):
        quantiles([1.0], shares=qs, low=0, high=5, epsilon=1.0, adjacency="replace")
