"""Every stated sensitivity is the brute-force one: no neighbour of any small table moves the answer further,
and one attains it."""
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import PROPERTY

from dplib.sensitivity import ADJACENCIES, bounded_mean, bounded_sum, clip, count, empirical, histogram

BOUNDS = [(0, 3), (-2, 1), (-3, -1), (2, 4), (0, 0), (-1, 1)]


def largest(query, universe, adjacency, sizes=(0, 1, 2, 3)):
    """The exact sensitivity over all tables of these sizes."""
    tables = [table for size in sizes for table in itertools.product(universe, repeat=size)]
    return max(empirical(query, table, universe=universe, adjacency=adjacency) for table in tables)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_count_is_exact(adjacency):
    assert count(adjacency) == largest(lambda rows: sum(row == 1 for row in rows), [0, 1, 2], adjacency) == 1


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low, high", BOUNDS)
def test_bounded_sum_is_exact(low, high, adjacency):
    universe = range(low - 2, high + 3)

    def query(rows):
        return clip(rows, low=low, high=high).sum()

    assert bounded_sum(low=low, high=high, adjacency=adjacency) == largest(query, universe, adjacency, sizes=(0, 1, 2))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("low, high", BOUNDS)
def test_bounded_mean_is_exact_under_replace(low, high, n):
    def query(rows):
        return clip(rows, low=low, high=high).mean()

    assert bounded_mean(low=low, high=high, n=n) == pytest.approx(
        largest(query, range(low, high + 1), "replace", sizes=[n]), rel=1e-12)


@pytest.mark.parametrize("adjacency, expected", [("add/remove", 1), ("replace", 2)])
def test_histogram_is_exact_in_l1(adjacency, expected):
    def query(rows):
        return np.bincount(np.array(rows, dtype=int), minlength=3)

    assert histogram(adjacency) == largest(query, [0, 1, 2], adjacency) == expected


def test_histogram_in_l2_is_the_root_of_two_under_replace():
    def query(rows):
        return np.bincount(rows, minlength=3)

    pairs = itertools.product(itertools.product(range(3), repeat=2), repeat=2)
    moves = [query(one) - query(two) for one, two in pairs if sum(a != b for a, b in zip(one, two)) == 1]
    assert (histogram("replace", norm=2) == pytest.approx(max(np.linalg.norm(move) for move in moves))
            == pytest.approx(math.sqrt(2)))
    assert histogram("add/remove", norm=2) == 1


INTERVALS = st.tuples(st.integers(-50, 50), st.integers(-50, 50)).map(sorted)


@PROPERTY
@given(INTERVALS, st.lists(st.integers(-60, 60), max_size=6), st.sampled_from(ADJACENCIES))
def test_no_table_moves_a_clipped_sum_further(bounds, table, adjacency):
    low, high = bounds
    seen = empirical(lambda rows: clip(rows, low=low, high=high).sum(),
                     table, universe=[-60, low, high, 60, 0], adjacency=adjacency)
    assert seen <= bounded_sum(low=low, high=high, adjacency=adjacency)
    if adjacency == "add/remove":                # the row that attains it may always be added
        assert seen == bounded_sum(low=low, high=high, adjacency=adjacency)


@PROPERTY
@given(st.lists(st.integers(0, 3), max_size=6), st.sampled_from(ADJACENCIES))
def test_no_table_moves_a_histogram_further_and_each_attains_it(table, adjacency):
    seen = empirical(lambda rows: np.bincount(np.array(rows, dtype=int), minlength=4),
                     table, universe=range(4), adjacency=adjacency)
    assert seen == (histogram(adjacency) if table or adjacency == "add/remove" else 0)


@PROPERTY
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)),
       st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).map(sorted))
def test_clip_lands_in_the_interval_and_moves_nothing_that_was_there(values, bounds):
    low, high = bounds
    clipped = clip(values, low=low, high=high)
    assert ((low <= clipped) & (clipped <= high)).all()
    assert all(new == old for old, new in zip(values, clipped) if low <= old <= high)
    assert all(new == low for old, new in zip(values, clipped) if math.isnan(old))


def test_clip_keeps_shape_and_leaves_its_argument_alone():
    values = np.array([[1, np.nan], [-np.inf, np.inf]])
    assert clip(values, low=2, high=3).tolist() == [[2, 2], [2, 3]]
    assert np.isnan(values[0, 1])
    assert clip(float("nan"), low=5, high=9) == 5


def test_an_unclipped_nan_would_make_a_sum_useless_and_a_clipped_one_does_not():
    assert math.isnan(np.sum([1.0, math.nan])) and clip([1.0, math.nan], low=0, high=10).sum() == 1


def test_empirical_is_the_local_sensitivity():
    assert empirical(max, [1, 2, 9], universe=range(11), adjacency="add/remove") == 7          # take the 9 away
    assert empirical(max, [9, 9, 9], universe=range(11), adjacency="replace") == 1
    # the median can jump all the way
    assert empirical(np.median, [0, 0, 10], universe=range(11), adjacency="replace") == 10
    assert empirical(sum, [], universe=range(11), adjacency="replace") == 0                    # nobody to replace


def test_empirical_leaves_the_table_alone():
    table = [3, 1, 2]
    empirical(sum, table, universe=[0, 5], adjacency="replace")
    assert table == [3, 1, 2]
