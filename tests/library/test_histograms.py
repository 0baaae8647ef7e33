"""Histograms: the law of the noise, and projections, trees and scores beside brute force, linear algebra and OpenDP."""
import itertools
import math

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import DRAWS, LEVEL, PROPERTY, follows, has_scale
from scipy import optimize, stats

from dplib import mechanisms
from dplib.audit import audit
from dplib.histograms import choose_bins, consistent, lattice, perturb, perturb_tree, range_count, simplex, tree
from dplib.mechanisms import exponential_pmf
from dplib.sensitivity import ADJACENCIES, empirical, histogram

dp.enable_features("contrib")

STEP = {"replace": 2.0, "add/remove": 1.0}
TAILS = np.concatenate([[0.002, 0.01], np.linspace(0.025, 0.975, 39), [0.99, 0.998]])
NOISY = st.lists(st.one_of(st.floats(-50, 50), st.integers(-9, 9).map(float), st.integers(-9, 9).map(lambda x: x / 2)),
                 min_size=1, max_size=12)
TREES = [(2, 0), (2, 1), (2, 4), (3, 2), (4, 2), (5, 1)]


def laplace_cdf(x, scale):
    return stats.laplace.cdf(x, scale=scale)


def dlaplace_cdf(x, scale):
    return stats.dlaplace.cdf(x, 1 / scale)


# --- noise


@pytest.mark.parametrize("adjacency, epsilon", [("replace", 1.0), ("add/remove", 1.0), ("replace", 0.2)])
def test_every_bin_gets_laplace_noise_also_an_empty_one(adjacency, epsilon):
    counts, scale = np.array([40, 0]), STEP[adjacency] / epsilon
    noise = perturb(np.tile(counts, (DRAWS, 1)), epsilon=epsilon, adjacency=adjacency, rng=1) - counts
    for column in noise.T:
        has_scale(column, laplace_cdf, scale, stats.laplace.ppf(TAILS, scale=scale))
    signs = (noise > 0) @ [2, 1]
    follows(np.bincount(signs, minlength=4), [0.25] * 4, [0.5, 0, 0, 0.5])      # one draw for each bin


@pytest.mark.parametrize("adjacency, epsilon", [("replace", 1.0), ("add/remove", 0.5)])
def test_whole_counts_get_discrete_laplace_noise(adjacency, epsilon):
    counts = np.array([40, 0])
    noisy = perturb(np.tile(counts, (DRAWS, 1)), epsilon=epsilon, adjacency=adjacency, integer=True, rng=2)
    assert noisy.dtype == np.int64
    for column in (noisy - counts).T:
        has_scale(column, dlaplace_cdf, STEP[adjacency] / epsilon, np.arange(-40, 41))


@pytest.mark.parametrize("integer", [False, True])
def test_an_audit_accepts_the_scale_for_replace_and_refutes_the_one_for_add_remove(integer):
    def found(adjacency, d, d2, epsilon):
        def run(counts, size, rng):
            noisy = perturb(np.tile(counts, (size, 1)), epsilon=epsilon, adjacency=adjacency, integer=integer, rng=rng)
            return noisy[:, 0] - noisy[:, 1]

        return audit(run, np.array(d), np.array(d2), n=40_000, confidence=1 - LEVEL, rng=3).epsilon

    assert 0.5 < found("replace", [3, 2], [2, 3], 1.5) <= 1.5
    assert found("add/remove", [3, 2], [2, 3], 1.5) > 1.5
    assert 0.5 < found("add/remove", [3, 2], [2, 2], 1.5) <= 1.5


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (2, 1, 2)])
def test_noise_comes_in_the_shape_of_the_counts_and_leaves_them_alone(shape):
    counts = np.full(shape, 5)
    for integer in (False, True):
        noisy = perturb(counts, epsilon=0.01, integer=integer, adjacency="replace", rng=4)
        assert noisy.shape == shape and len(np.unique(noisy)) == counts.size and (counts == 5).all()


def test_counts_of_any_numeric_type_are_counts():
    for counts in ([1, 0], [True, False], np.array([1, 0], dtype=np.uint8), [1.0, 0.0]):
        assert perturb(counts, epsilon=1e9, adjacency="replace", rng=5) == pytest.approx([1, 0], abs=1e-6)
    for counts in ([], np.array(["2026-01-01"], dtype="M8[D]"), np.array([1j])):
        with pytest.raises(ValueError, match="counts"):
            perturb(counts, epsilon=1.0, adjacency="replace")


def test_what_is_no_count_is_0_and_raises_nothing():
    for count in (-1, math.nan, -math.inf, "one", None, pd.NA, 1j):
        assert perturb([5, count], epsilon=1e9, adjacency="replace", rng=5) == pytest.approx([5, 0], abs=1e-6)
    assert perturb([math.inf], epsilon=1e9, adjacency="replace", rng=5) == pytest.approx([2**53])
    assert perturb([3, None, -2], epsilon=50.0, adjacency="replace", integer=True, rng=5).tolist() == [3, 0, 0]
    masked = np.ma.array([7, 9], mask=[False, True])
    for columns in (pd.Series([7, pd.NA], dtype="Int64"), pd.Series([7, None]), masked):
        assert [level.tolist() for level in tree(columns)] == [[7], [7, 0]]


def test_fractions_are_no_whole_counts():
    with pytest.raises(ValueError, match="counts must hold whole numbers"):
        perturb([1.5, 2.0], epsilon=1.0, integer=True, adjacency="replace")


# --- projections


@PROPERTY
@given(NOISY, st.floats(0.01, 200))
def test_simplex_meets_the_optimality_conditions(v, total):
    v, x = np.array(v), simplex(v, total=total)
    assert x.min() >= 0 and x.sum() == pytest.approx(total, rel=1e-12)
    level = (v - x)[x > 0]
    assert level == pytest.approx(np.full(level.size, level[0]), abs=1e-9)      # what is left was lowered by the same,
    assert (v[x == 0] <= level[0] + 1e-9).all()                                 # and what is gone was not above it
    assert simplex(x, total=total) == pytest.approx(x, abs=1e-9)
    # the least in L1
    assert np.abs(x - v).sum() == pytest.approx(-v[v < 0].sum() + abs(total - v[v > 0].sum()), abs=1e-8)


def test_simplex_is_what_an_optimiser_finds():
    rng = np.random.default_rng(6)
    for k in (1, 2, 3, 5):
        for _ in range(5):
            v, total = rng.normal(scale=2, size=k), rng.uniform(0.5, 5)
            found = optimize.minimize(lambda x, v=v: ((x - v) ** 2).sum(), np.full(k, total / k),
                                      jac=lambda x, v=v: 2 * (x - v), method="SLSQP", bounds=[(0, None)] * k,
                                      constraints={"type": "eq", "fun": lambda x, t=total: x.sum() - t},
                                      options={"ftol": 1e-14})
            assert simplex(v, total=total) == pytest.approx(found.x, abs=1e-6)


def test_simplex_of_enormous_and_of_tiny_numbers():
    assert simplex([1e20, 0.0], total=1.0).tolist() == [1, 0]
    assert simplex([1e300, 1e300, -1e300], total=1.0).tolist() == [0.5, 0.5, 0]
    assert simplex([-1e18, -1e18 - 1e6], total=3.0).tolist() == [3, 0]
    assert simplex([1e-200, 0.0], total=1e-250) == pytest.approx([1e-250, 0])
    assert simplex([-5.0]).tolist() == [1]
    assert simplex(np.random.default_rng(7).normal(size=10_000), total=100.0).sum() == pytest.approx(100, rel=1e-12)


def points(k, n):
    """Every non-negative whole vector of k entries with sum n."""
    bars = np.array(list(itertools.combinations(range(n + k - 1), k - 1)), dtype=int).reshape(
        math.comb(n + k - 1, n), k - 1)
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n + k - 1)])
    return np.diff(ends, axis=1) - 1


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_no_lattice_point_is_nearer(k):
    rng = np.random.default_rng(8)
    for n in range(7):
        every = points(k, n)
        assert len(every) == math.comb(n + k - 1, k - 1) and (every.sum(axis=1) == n).all()
        halves, whole = rng.integers(-6, 14, (100, k)) / 2, rng.integers(-3, 7, (60, k))
        real = rng.normal(1, 3, (120, k))
        for w in np.concatenate([halves, whole, real]):
            x = lattice(w, n=n)
            assert x.dtype == np.int64 and x.min() >= 0 and x.sum() == n
            assert np.abs(x - w).sum() == pytest.approx(np.abs(every - w).sum(axis=1).min(), abs=1e-9)


@pytest.mark.parametrize("k, n", [(20, 5), (20, 60), (40, 41), (15, 300)])
def test_lattice_is_as_near_as_integer_programming_gets(k, n):
    w = np.random.default_rng(k * n).normal(2, 3, k)
    away = np.hstack([np.eye(k), -np.eye(k)]), np.hstack([-np.eye(k), -np.eye(k)])      # x - w <= t and w - x <= t
    rows = [optimize.LinearConstraint(away[0], ub=w), optimize.LinearConstraint(away[1], ub=-w),
            optimize.LinearConstraint(np.r_[np.ones(k), np.zeros(k)], n, n)]
    best = optimize.milp(np.r_[np.zeros(k), np.ones(k)], constraints=rows, integrality=np.r_[np.ones(k), np.zeros(k)])
    assert best.success and np.abs(lattice(w, n=n) - w).sum() == pytest.approx(best.fun, abs=1e-6)


@PROPERTY
@given(NOISY, st.integers(0, 60))
def test_lattice_keeps_whole_numbers_and_lowers_all_alike(w, n):
    w, x = np.array(w), lattice(w, n=n)
    assert (lattice(x, n=n) == x).all()
    if n and np.floor(np.maximum(w, 0)).sum() >= n:
        assert np.abs(x - simplex(w, total=n)).max() < 2


def test_lattice_is_even_handed():
    assert lattice([5, 5, 5], n=9).tolist() == [3, 3, 3] and sorted(lattice([5, 5, 5], n=10)) == [3, 3, 4]
    assert sorted(lattice([0, -4, 0], n=8)) == [2, 3, 3] and lattice([-1.0, -2.0], n=0).tolist() == [0, 0]
    assert lattice([0.9, 0.2, 0.0], n=1).tolist() == [1, 0, 0]


def test_lattice_of_enormous_numbers():
    assert lattice([1e300, 0.0, -1e300], n=5).tolist() == [5, 0, 0]
    assert lattice([1e300] * 3, n=6).tolist() == [2, 2, 2] and lattice([1e300] * 3, n=0).tolist() == [0, 0, 0]
    assert lattice([1e12 + 0.5, 1e12], n=3).tolist() in ([2, 1], [1, 2])


# --- bins


def charged(monkeypatch, values, candidates, **parameters):
    """The scores that `choose_bins` hands to the exponential mechanism, and the sensitivity that it charges."""
    calls = []
    with monkeypatch.context() as patch:
        patch.setattr(mechanisms, "exponential", lambda scores, **rest: calls.append((np.array(scores), rest)) or 0)
        choose_bins(values, candidates=candidates,
                    **{"low": 0, "high": 1, "epsilon": 1.0, "epsilon_release": 1.0, **parameters})
    assert len(calls) == 1
    return calls[0]


def risk(values, m, epsilon):
    """Leave-one-out risk of the histogram with m bins on [0, 1], and the squared error of Laplace noise 2/epsilon,
    the long way."""
    n, bins = len(values), np.minimum((np.asarray(values) * m).astype(int), m - 1)
    square = sum(m * (np.sum(bins == j) / n) ** 2 for j in range(m))             # the integral of the squared density
    left_out = sum(m * np.sum(np.delete(bins, i) == bins[i]) / (n - 1) for i in range(n)) / n
    return square - 2 * left_out + m * stats.laplace.var(scale=2 * m / (n * epsilon)) / m


def test_the_score_is_the_risk_and_the_choice_has_the_exact_law(monkeypatch):
    values, candidates = np.random.default_rng(9).beta(2, 5, 12), [1, 2, 5]
    scores = np.array([-risk(values, m, 20.0) for m in candidates])
    found, rest = charged(monkeypatch, values, candidates, epsilon=6.0, epsilon_release=20.0)
    assert found == pytest.approx(scores, rel=1e-12)
    assert rest["sensitivity"] == pytest.approx(2 * 13 * 5 / 12**2)
    assert rest["epsilon"] == 6.0 and not rest.get("monotone", False)
    rng = np.random.default_rng(10)
    drawn = [choose_bins(values, candidates=candidates, low=0, high=1, epsilon=6.0, epsilon_release=20.0, rng=rng)
             for _ in range(12_000)]
    law = exponential_pmf(scores, sensitivity=2 * 13 * 5 / 12**2, epsilon=6.0)
    wrong = [exponential_pmf(scores, sensitivity=2 * 13 * m / 12**2, epsilon=6.0) for m in (3, 8)]
    follows([drawn.count(m) for m in candidates], law, *wrong, [1 / 3] * 3)


@pytest.mark.parametrize("candidates", [[2], [3], [4], [1, 2, 4], [1, 3]])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_no_neighbour_moves_a_score_by_more_than_is_charged_and_some_moves_it_by_as_much(monkeypatch, candidates, n):
    finest = max(candidates)
    centres = (np.arange(finest) + 0.5) / finest
    largest = 0.0
    for table in itertools.combinations_with_replacement(centres, n):
        here, rest = charged(monkeypatch, table, candidates)
        for other in {tuple(sorted(table[:i] + (value,) + table[i + 1 :])) for i in range(n) for value in centres}:
            largest = max(largest, np.abs(charged(monkeypatch, other, candidates)[0] - here).max())
    assert rest["sensitivity"] == pytest.approx(2 * (n + 1) * finest / n**2)
    assert largest == pytest.approx(rest["sensitivity"])


def test_large_samples_get_sensible_bins():
    rng, candidates = np.random.default_rng(11), [1, 4, 16, 64, 256]
    ages, flat = rng.normal(40, 10, 50_000), rng.uniform(0, 100, 50_000)

    def chosen(values, release):
        return {choose_bins(values, candidates=candidates, low=0, high=100,
                            epsilon=1.0, epsilon_release=release, rng=seed) for seed in range(30)}

    # noisier, hence coarser
    assert min(chosen(ages, 1.0)) == 16 and chosen(ages, 0.005) == {16} and chosen(ages, 0.001) == {4}
    assert chosen(flat, 0.002) == {1, 4}


def test_any_values_can_be_binned(monkeypatch):
    odd = [math.nan, math.inf, -math.inf, 1.7e308, -5.0, 1.0, 0.25]
    scores = charged(monkeypatch, odd, [1, 2, 4])[0]
    assert scores == pytest.approx(charged(monkeypatch, [0, 1, 0, 1, 0, 1, 0.25], [1, 2, 4])[0])
    shifted = charged(monkeypatch, np.array([0, 1, 0, 1, 0, 1, 0.25]) * 7 - 3, [1, 2, 4], low=-3, high=4)[0]
    assert shifted == pytest.approx(scores)
    assert choose_bins(odd, candidates=[3, 3], low=0, high=1, epsilon=1.0, epsilon_release=1e-200, rng=0) == 3


# --- trees


def design(branching, height):
    """One row for each node, root first: the bins below it."""
    return np.vstack([np.kron(np.eye(branching**depth), np.ones(branching ** (height - depth)))
                      for depth in range(height + 1)])


def split(nodes, branching):
    """A vector of all nodes, cut into levels."""
    sizes = itertools.takewhile(lambda size: size <= len(nodes), (branching**depth for depth in itertools.count()))
    ends = np.cumsum(list(sizes))
    return np.split(nodes, ends[ends < len(nodes)])


@pytest.mark.parametrize("branching, height", TREES)
def test_the_tree_holds_all_sums(branching, height):
    counts = np.random.default_rng(12).integers(0, 99, branching**height)
    levels = tree(counts, branching=branching)
    assert [level.size for level in levels] == [branching**depth for depth in range(height + 1)]
    assert (np.concatenate(levels) == design(branching, height) @ counts).all()


def test_a_tree_of_small_integers_does_not_overflow():
    assert [level.tolist() for level in tree(np.array([200, 100], dtype=np.uint8))] == [[300], [200, 100]]
    assert tree([True, True])[0].tolist() == [2]


@pytest.mark.parametrize("size, branching", [(3, 2), (6, 2), (8, 3), (10, 4)])
def test_a_number_of_bins_that_makes_no_complete_tree_is_refused(size, branching):
    for build in (tree, lambda counts, *, branching: perturb_tree(counts, epsilon=1.0,
                                                                  branching=branching, adjacency="replace")):
        with pytest.raises(ValueError, match="power of branching"):
            build(np.ones(size), branching=branching)
    with pytest.raises(ValueError, match="counts"):
        tree(np.ones((2, 2)))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_person_moves_each_level_by_no_more_than_a_histogram(adjacency):
    def level(depth):
        return lambda table: tree(np.bincount(np.array(table, dtype=int), minlength=4))[depth]

    moved = [empirical(level(depth), [0, 3, 3, 1], universe=range(4), adjacency=adjacency) for depth in range(3)]
    root = 1.0 if adjacency == "add/remove" else 0.0                              # under replace the total is public
    assert moved == [root, histogram(adjacency), histogram(adjacency)]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_every_level_gets_its_share_of_the_budget(adjacency, monkeypatch):
    counts, rng, calls = np.array([5, 0, 2]), np.random.default_rng(13), []
    scale = 2 * STEP[adjacency] / 0.8
    noise = np.array([np.concatenate(perturb_tree(counts, epsilon=0.8, branching=3, adjacency=adjacency, rng=rng))
                      for _ in range(12_000)])
    noise -= [7, 5, 0, 2]
    has_scale(noise[:, 0], laplace_cdf, scale, stats.laplace.ppf(TAILS, scale=scale), off=1.12)
    has_scale(noise[:, 1:].ravel(), laplace_cdf, scale, stats.laplace.ppf(TAILS, scale=scale), off=1.07)
    follows(np.bincount((noise > 0) @ [8, 4, 2, 1], minlength=16), [1 / 16] * 16, [1 / 8, 0] * 8)
    monkeypatch.setattr(mechanisms, "laplace",
                        lambda value, *, sensitivity, epsilon, rng: calls.append(sensitivity / epsilon) or value)
    perturb_tree(np.ones(27), epsilon=2.0, branching=3, adjacency=adjacency)
    assert calls == [4 * STEP[adjacency] / 2.0] * 4


@pytest.mark.parametrize("branching, height", TREES)
def test_consistent_is_the_least_squares_solution(branching, height):
    rng, nodes = np.random.default_rng(14), design(branching, height)
    for noisy in rng.normal(scale=20, size=(5, len(nodes))):
        best = nodes @ np.linalg.lstsq(nodes, noisy, rcond=None)[0]
        agreed = consistent(split(noisy, branching), branching=branching)
        assert np.concatenate(agreed) == pytest.approx(best, abs=1e-9)
        assert np.concatenate(consistent(agreed, branching=branching)) == pytest.approx(best, abs=1e-9)
    truth = tree(rng.integers(0, 99, branching**height), branching=branching)
    assert np.concatenate(consistent(truth, branching=branching)) == pytest.approx(np.concatenate(truth), abs=1e-9)


@pytest.mark.parametrize("branching, bins", [(2, 256), (3, 243), (4, 256), (10, 100)])
def test_consistent_leaves_are_opendps(branching, bins):
    rng = np.random.default_rng(15)
    noisy = [np.round(level + rng.laplace(scale=5, size=level.size))
             for level in tree(rng.poisson(20, bins), branching=branching)]
    peer = dp.t.make_consistent_b_ary_tree(branching)(np.concatenate(noisy).astype(int).tolist())
    assert consistent(noisy, branching=branching)[-1] == pytest.approx(np.array(peer)[-bins:], abs=1e-8)


@pytest.mark.parametrize("branching, height", TREES)
def test_every_range_is_the_direct_sum_from_the_fewest_nodes(branching, height):
    bins = branching**height
    counts = np.random.default_rng(16).integers(0, 99, bins)
    levels, ones = tree(counts, branching=branching), split(np.ones(len(design(branching, height))), branching)
    widths = [branching**depth for depth in range(height + 1)]
    for stop in range(bins + 1):
        fewest = {stop: 0}                       # nodes that fill the bins from here to `stop`
        for start in range(stop - 1, -1, -1):
            fewest[start] = 1 + min(fewest[start + width] for width in widths if start % width == 0
                                    and start + width <= stop)
        for start in range(stop + 1):
            assert range_count(levels, start=start, stop=stop, branching=branching) == counts[start:stop].sum()
            assert range_count(ones, start=start, stop=stop, branching=branching) == fewest[start]
            for depth in range(height + 1):
                only = [level * (other == depth) for other, level in enumerate(ones)]
                assert range_count(only, start=start, stop=stop, branching=branching) <= 2 * (branching - 1)


def test_a_range_beyond_the_bins_is_refused():
    levels = tree([1, 2, 3, 4])
    for start, stop in ((-1, 2), (3, 2), (0, 5), (1.0, 2), (0, None)):
        with pytest.raises(ValueError, match="start|stop"):
            range_count(levels, start=start, stop=stop)
    for bad in ([], [[1.0], [1.0]], [[1.0], [1.0, math.nan]], levels[1:]):
        for use in (consistent, lambda levels: range_count(levels, start=0, stop=1)):
            with pytest.raises(ValueError, match="levels"):
                use(bad)


@pytest.mark.parametrize("branching, height", [(2, 3), (3, 2), (4, 1)])
def test_a_consistent_range_has_the_least_variance_without_bias(branching, height):
    nodes = design(branching, height)
    map_ = np.column_stack([np.concatenate(consistent(split(unit, branching), branching=branching))
                            for unit in np.eye(len(nodes))])
    assert map_ @ nodes == pytest.approx(nodes, abs=1e-9)                         # unbiased
    covariance, leaves = np.linalg.inv(nodes.T @ nodes), map_[-(branching**height) :]
    better = 0
    for start, stop in itertools.combinations(range(branching**height + 1), 2):
        asked = np.zeros(branching**height)
        asked[start:stop] = 1
        variance = ((asked @ leaves) ** 2).sum()                                  # in units of one node's
        assert variance == pytest.approx(asked @ covariance @ asked)              # Gauss and Markov
        plain = range_count(split(np.ones(len(nodes)), branching), start=start, stop=stop, branching=branching)
        assert variance <= plain + 1e-9
        better += variance < 0.9 * plain
    assert better
