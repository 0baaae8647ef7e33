"""Sensitivity: how far one person can move the answer to a question.

Two adjacencies: under "add/remove" neighbours differ by one person's row being there or not; under "replace" by one
person's row having another value, the number of rows being public.
"""
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dplib._types import Adjacency, Array, ArrayLike
from dplib._validate import choice, finite, function, interval, listed, numbers, whole

__all__ = ["ADJACENCIES", "bounded_mean", "bounded_sum", "clip", "count", "empirical", "histogram"]

ADJACENCIES = ("add/remove", "replace")


def clip(values: ArrayLike, *, low: float, high: float) -> Array:
    """Values forced into [low, high]; a nan goes to `low`, without a warning, because values are private.

    Privacy
    -------
    measure : none by itself; it makes the sensitivity of sums and means finite
    adjacency : either
    guarantee : `low` and `high` must be chosen without looking at the data, or privately

    Parameters
    ----------
    values : array
    low, high : float
        Bounds, low <= high, in the units of `values`.

    Returns
    -------
    array of float, of the shape of `values`

    Raises
    ------
    ValueError
        If a bound is not finite or low > high.

    References
    ----------
    Dwork and Roth (2014), section 3.3 (sensitivity of bounded queries).

    Examples
    --------
    >>> clip([17.0, 95.0, float("nan")], low=18, high=90).tolist()
    [18.0, 90.0, 18.0]
    """
    low, high = interval(low, high)
    return np.fmin(np.fmax(numbers("values", values), low), high)     # of a number and nan, fmax takes the number


def increasing(values: ArrayLike, *, low: float, high: float) -> Array:
    """The values of one column, clipped and sorted; ValueError unless it is one column and high - low is a number."""
    low, high = interval(low, high)
    finite("high - low", high - low)
    return np.sort(clip(numbers("values", values, ndim=1), low=low, high=high))


def count(adjacency: Adjacency) -> float:
    """L1 sensitivity of a count: 1 under either adjacency.

    Privacy
    -------
    measure : a sensitivity, not a release
    adjacency : as given
    guarantee : exact

    Parameters
    ----------
    adjacency : {"add/remove", "replace"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `adjacency` is unknown.

    References
    ----------
    Dwork and Roth (2014), Example 3.1.

    Examples
    --------
    >>> count("add/remove")
    1.0
    """
    choice("adjacency", adjacency, ADJACENCIES)
    return 1.0


def bounded_sum(*, low: float, high: float, adjacency: Adjacency) -> float:
    """Sensitivity of the sum of values in [low, high]: max(abs(low), abs(high)) under add/remove, high - low under
    replace.

    Privacy
    -------
    measure : a sensitivity, not a release
    adjacency : as given
    guarantee : exact

    Parameters
    ----------
    low, high : float
        Public bounds to which the values were clipped.
    adjacency : {"add/remove", "replace"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a bound is not finite, low > high, or `adjacency` is unknown.

    References
    ----------
    Derived: the change is one value, or the difference of two.

    Examples
    --------
    >>> bounded_sum(low=20, high=80, adjacency="add/remove"), bounded_sum(low=20, high=80, adjacency="replace")
    (80.0, 60.0)
    """
    low, high = interval(low, high)
    return max(abs(low), abs(high)) if choice("adjacency", adjacency, ADJACENCIES) == "add/remove" else high - low


def bounded_mean(*, low: float, high: float, n: int) -> float:
    """Sensitivity of the mean of n values in [low, high] under replace (n public): (high - low) / n.

    Under add/remove n itself is private: release a sum and a count instead.

    Privacy
    -------
    measure : a sensitivity, not a release
    adjacency : replace only
    guarantee : exact

    Parameters
    ----------
    low, high : float
        Public bounds to which the values were clipped.
    n : int
        Public number of rows, at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a bound is not finite, low > high, or n is not a whole number >= 1.

    References
    ----------
    Derived from `bounded_sum`.

    Examples
    --------
    >>> bounded_mean(low=0, high=100, n=50)
    2.0
    """
    return bounded_sum(low=low, high=high, adjacency="replace") / whole("n", n, least=1)


def histogram(adjacency: Adjacency, *, norm: int = 1) -> float:
    """Sensitivity of a vector of disjoint counts: add/remove 1 in either norm; replace 2 (L1) or sqrt(2) (L2).

    Privacy
    -------
    measure : a sensitivity, not a release
    adjacency : as given
    guarantee : exact, for two bins or more, one row per person and bins fixed without looking at the data

    Parameters
    ----------
    adjacency : {"add/remove", "replace"}
    norm : {1, 2}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `adjacency` or `norm` is unknown.

    References
    ----------
    Dwork and Roth (2014), Example 3.2 (add/remove); the replace case moves one row between two bins.

    Examples
    --------
    >>> histogram("add/remove"), histogram("replace")
    (1.0, 2.0)
    """
    choice("norm", norm, (1, 2))
    return 1.0 if choice("adjacency", adjacency, ADJACENCIES) == "add/remove" else 2.0 ** (1 / norm)


def empirical(query: Callable, table: Sequence, *, universe: Iterable, adjacency: Adjacency) -> float:
    """Largest L1 change of `query` over all neighbours of this one `table`, by brute force; a row more comes last.

    The (global) sensitivity is the largest such value over all tables: this is a lower bound on it, and the judge in
    small cases. Do not release it: it depends on the data.

    Privacy
    -------
    measure : none: this is a property of the private table

    Parameters
    ----------
    query : callable
        Takes a list of records, returns a number or an array of fixed shape.
    table : list
        The records.
    universe : list
        Every record that a person could have.
    adjacency : {"add/remove", "replace"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `universe` is empty or `adjacency` is unknown.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), Definition of local sensitivity.

    Examples
    --------
    >>> empirical(sum, [3, 5], universe=range(11), adjacency="add/remove")
    10.0
    """
    query, table, universe = function("query", query), listed("table", table), listed("universe", universe)
    if not universe:
        raise ValueError("universe must not be empty")
    if choice("adjacency", adjacency, ADJACENCIES) == "add/remove":
        neighbours = [table + [record] for record in universe] + [table[:i] + table[i + 1 :] for i in range(len(table))]
    else:
        neighbours = [table[:i] + [record] + table[i + 1 :] for i in range(len(table)) for record in universe]
    here = np.asarray(query(table), dtype=float)
    return max((float(np.abs(np.asarray(query(other), dtype=float) - here).sum()) for other in neighbours), default=0.0)
