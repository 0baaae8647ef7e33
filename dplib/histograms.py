"""Histograms: publish a table of counts once, and correct it afterwards without looking at the data again.

`perturb` and `perturb_tree` look at the data and pay for it. `simplex`, `lattice` and `consistent` work on what they
published (post-processing, free): they make counts non-negative, sums right and the levels of a tree agree.
"""
import math
from collections.abc import Sequence

import numpy as np

from dplib import mechanisms, sensitivity
from dplib._types import Adjacency, Array, ArrayLike, Rng
from dplib._validate import array, choice, flag, generator, interval, listed, numbers, positive, whole
from dplib._validate import counts as as_counts
from dplib.sensitivity import ADJACENCIES

__all__ = ["choose_bins", "consistent", "lattice", "perturb", "perturb_tree", "range_count", "simplex", "tree"]


def perturb(
    counts: ArrayLike, *, epsilon: float, adjacency: Adjacency, integer: bool = False, rng: Rng = None,
) -> Array:
    """Every count plus independent noise: Laplace, or discrete Laplace where the result should be whole numbers.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : "replace" (number of rows public): one row leaves one bin and enters another, scale 2/epsilon;
        "add/remove": scale 1/epsilon
    guarantee : exact for two bins or more, one row per person and bins fixed without looking at the data; every bin
        gets noise, empty ones too

    Parameters
    ----------
    counts : array of any shape
        Rows in each bin, zero or more.
    epsilon : float
        Privacy loss, positive.
    adjacency : {"replace", "add/remove"}
    integer : bool
        Discrete Laplace noise; `counts` must be of an integer type.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array of the shape of `counts`
        May be negative.

    Raises
    ------
    ValueError
        If `counts` is empty or of a dtype of dates, or with integer=True of fractions; if a parameter is out of range.

    References
    ----------
    Wasserman and Zhou (2010), section 4, with noise 2/epsilon on counts; Dwork, McSherry, Nissim and Smith (2006).

    Examples
    --------
    >>> perturb([40, 0, 60], epsilon=1.0, integer=True, adjacency="replace", rng=1).tolist()
    [36, 6, 59]
    """
    step = sensitivity.histogram(choice("adjacency", adjacency, ADJACENCIES))
    if flag("integer", integer):
        counts = as_counts("counts", counts, integer=True)
        return mechanisms.geometric(counts, sensitivity=int(step), epsilon=epsilon, rng=rng)
    return mechanisms.laplace(as_counts("counts", counts), sensitivity=step, epsilon=epsilon, rng=rng)


def simplex(v: ArrayLike, *, total: float = 1.0) -> Array:
    """The nearest point, in Euclidean distance, with non-negative entries that sum to `total`.

    All entries are lowered (or raised) by the same amount and those below zero set to zero. The result is also one of
    the many points that are nearest in L1.

    Privacy
    -------
    measure : none to pay: post-processing of the released `v`, with its guarantee, if `total` is public or was released

    Parameters
    ----------
    v : array, shape (k,)
        A noisy histogram.
    total : float
        Positive.

    Returns
    -------
    array, shape (k,)

    Raises
    ------
    ValueError
        If `v` is no non-empty vector of finite numbers or `total` is not positive.

    References
    ----------
    Held, Wolfe and Crowder (1974); Duchi, Shalev-Shwartz, Singer and Chandra (2008), Figure 1.

    Examples
    --------
    >>> simplex([0.7, 0.5, -0.1]).round(3).tolist()
    [0.6, 0.4, 0.0]
    """
    v, total = array("v", v, ndim=1, least=1), positive("total", total)
    # measured from the largest: nothing is left that far below, however large all are
    v = np.maximum(v - v.max(), -2 * total)
    return np.maximum(v - _water_level(v, total), 0.0)


def lattice(w: ArrayLike, *, n: int) -> Array:
    """Non-negative whole numbers with sum `n`, as near to `w` as any in L1.

    There may be several; this one is also even-handed: what has to be added or taken away beyond rounding is spread.

    Privacy
    -------
    measure : none to pay: post-processing of the released `w`, with its guarantee, if `n` is public or was released

    Parameters
    ----------
    w : array, shape (k,)
        Noisy counts.
    n : int
        Zero or more.

    Returns
    -------
    int array, shape (k,)

    Raises
    ------
    ValueError
        If `w` is no non-empty vector of finite numbers or n is not a whole number >= 0.

    References
    ----------
    Derived: the distance is a sum of convex functions of one whole number each, for which the greedy choice is optimal
    (Ibaraki and Katoh 1988).

    Examples
    --------
    >>> lattice([51.0, 27.6, 21.6], n=100).tolist()
    [51, 28, 21]
    """
    w, n = array("w", w, ndim=1, least=1), whole("n", n, least=0)
    w = np.clip(w, 0, 2.0**53)                   # beyond, a float is too coarse to count with
    m = np.floor(w)
    fraction, missing = w - m, n - int(m.sum())
    if missing > 0:                              # first the steps that cost least: to the next whole number above
        up = np.argsort(-fraction, kind="stable")[:missing]
        up = up[fraction[up] > 0]
        m[up] += 1
        missing -= up.size
    if missing > 0:                              # then every step costs the same: raise all alike
        share, rest = divmod(missing, m.size)
        m += share
        m[np.argsort(m, kind="stable")[:rest]] += 1
    elif missing < 0:                            # so does every step down, from whatever is positive
        m = np.maximum(m - m.max(), -n)
        m = np.maximum(m - math.floor(_water_level(m, n)), 0) if n else np.zeros_like(m)
        m[np.flatnonzero(m)[: int(m.sum()) - n]] -= 1
    return m.astype(np.int64)


def _water_level(v, total):
    """The t for which the positive parts of v - t sum to `total`."""
    descending = np.sort(v)[::-1]
    levels = (np.cumsum(descending) - total) / np.arange(1, v.size + 1)
    return levels[np.flatnonzero(descending > levels)[-1]]


def choose_bins(
    values: ArrayLike, *, candidates: Sequence[int], low: float, high: float, epsilon: float, epsilon_release: float,
    rng: Rng = None,
) -> int:
    """How many equal bins on [low, high] to use for a histogram that will be perturbed at `epsilon_release`.

    Exponential mechanism over the candidates. The score is minus an estimate of the integrated squared error of the
    perturbed histogram as a density on [0, 1]: the leave-one-out risk of the exact histogram with m bins plus the
    noise, 8 m^2/(n epsilon_release)^2.

    Privacy
    -------
    measure : epsilon-DP, for the choice alone
    adjacency : replace (the number of values is public)
    guarantee : upper bound: every score is charged the sensitivity of the finest candidate, 2 (n + 1) m/n^2

    Parameters
    ----------
    values : array, shape (n,)
        At least two; clipped to [low, high]. One on the edge of a bin may fall on either side of it, by rounding: give
        whole years as their middles.
    candidates : sequence of int
        Numbers of bins, fixed without looking at the data.
    low, high : float
        Public bounds, low < high.
    epsilon : float
        Privacy loss of the choice.
    epsilon_release : float
        Privacy loss of the histogram that will be published; it decides how fine is too fine.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int
        One of the candidates.

    Raises
    ------
    ValueError
        If there are fewer than two values, no candidates, a candidate is not a whole number >= 1, high - low is not
        positive and finite or a parameter is out of range.

    References
    ----------
    Rudemo (1982) for the risk estimate; McSherry and Talwar (2007) for the choice; the sensitivity is derived in the
    book.

    Examples
    --------
    >>> ages = np.random.default_rng(0).normal(40, 10, 50_000)
    >>> choose_bins(ages, candidates=[1, 4, 16, 64, 256], low=0, high=100, epsilon=1.0, epsilon_release=1.0, rng=0)
    64
    """
    low, high = interval(low, high, long=True)
    width = high - low
    candidates = [whole("candidates", candidate, least=1) for candidate in listed("candidates", candidates)]
    if not candidates:
        raise ValueError("candidates must not be empty")
    values = numbers("values", values, ndim=1, least=2)
    n, noise = values.size, positive("epsilon_release", epsilon_release)
    place = (sensitivity.clip(values, low=low, high=high) - low) / width

    def risk(bins):
        counts = np.bincount(np.minimum((place * bins).astype(np.int64), bins - 1), minlength=bins)
        error = bins / (n * noise)
        return (2 * bins - (n + 1) * bins * np.sum((counts / n) ** 2)) / (n - 1) + 8 * error * error

    step = 2 * (n + 1) * max(candidates) / n**2
    return candidates[
        mechanisms.exponential([-risk(bins) for bins in candidates], sensitivity=step, epsilon=epsilon, rng=rng)
    ]


def tree(counts: ArrayLike, *, branching: int = 2) -> list[Array]:
    """The counts of all nodes of a complete tree over the bins, level by level, the root first.

    Privacy
    -------
    measure : none: exact counts, not to be published
    adjacency : either; one row is counted once on every level

    Parameters
    ----------
    counts : array, shape (branching^h,)
        Rows in each bin, zero or more.
    branching : int
        Children of a node, at least 2.

    Returns
    -------
    list of h + 1 arrays, of 1, branching, branching^2, ... entries

    Raises
    ------
    ValueError
        If the length is no power of `branching`, `counts` is of a dtype of dates, or `branching` is below 2.

    References
    ----------
    Hay, Rastogi, Miklau and Suciu (2010), section 4.

    Examples
    --------
    >>> [level.tolist() for level in tree([1, 2, 3, 4])]
    [[10], [3, 7], [1, 2, 3, 4]]
    """
    counts, branching = as_counts("counts", counts), whole("branching", branching, least=2)
    if counts.ndim != 1:
        raise ValueError(f"counts must be a vector, got shape {counts.shape}")
    _height(counts.size, branching)
    levels = [counts]
    while levels[0].size > 1:
        levels.insert(0, levels[0].reshape(-1, branching).sum(axis=1))
    return levels


def perturb_tree(
    counts: ArrayLike, *, epsilon: float, adjacency: Adjacency, branching: int = 2, rng: Rng = None,
) -> list[Array]:
    """The tree of the counts with Laplace noise on every node, the budget shared evenly by the levels.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : "replace" (number of rows public): scale 2 levels/epsilon; "add/remove": scale levels/epsilon
    guarantee : exact under add/remove; under replace an upper bound: the root is public and never moves, so that the
        levels below lose epsilon (levels - 1)/levels in all; one row per person

    Parameters
    ----------
    counts : array, shape (branching^h,)
        Rows in each bin, zero or more.
    epsilon : float
        Privacy loss of the whole tree, positive.
    adjacency : {"replace", "add/remove"}
    branching : int
        Children of a node, at least 2.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    list of h + 1 arrays, the root first
        The levels do not agree with each other: see `consistent`.

    Raises
    ------
    ValueError
        If the length is no power of `branching`, `counts` is of a dtype of dates, or a parameter is out of range.

    References
    ----------
    Hay, Rastogi, Miklau and Suciu (2010), section 4.1.

    Examples
    --------
    >>> [level.round(1).tolist() for level in perturb_tree([1, 2, 3, 4], epsilon=1000.0, adjacency="replace", rng=0)]
    [[10.0], [3.0, 7.0], [1.0, 2.0, 3.0, 4.0]]
    """
    levels, rng = tree(counts, branching=branching), generator(rng)
    one_level = sensitivity.histogram(choice("adjacency", adjacency, ADJACENCIES))
    return [
        mechanisms.laplace(level, sensitivity=one_level * len(levels), epsilon=epsilon, rng=rng) for level in levels
    ]


def consistent(levels: Sequence[ArrayLike], *, branching: int = 2) -> list[Array]:
    """The tree nearest to a noisy one, in Euclidean distance, in which every node is the sum of its children.

    One pass up, averaging what a node and its children say about it, and one pass down.

    Privacy
    -------
    measure : none to pay: post-processing of a released tree
    adjacency : that of the release
    guarantee : that of the release; no linear unbiased estimate of any range has a smaller variance, where all nodes
        have the same noise

    Parameters
    ----------
    levels : list of arrays, of 1, branching, branching^2, ... entries
        As `perturb_tree` returns it.
    branching : int
        Children of a node, at least 2.

    Returns
    -------
    list of arrays, as `levels`

    Raises
    ------
    ValueError
        If a level has the wrong length or an entry that is not finite, or `branching` is below 2.

    References
    ----------
    Hay, Rastogi, Miklau and Suciu (2010), Theorem 3.

    Examples
    --------
    >>> [level.tolist() for level in consistent([[10.0], [4.0, 3.0]])]
    [[9.0], [5.0, 4.0]]
    """
    given = _levels(levels, branching)
    best = [given[-1]]                           # from the leaves up: the best estimate from a node's own subtree
    for height, level in enumerate(reversed(given[:-1]), start=1):
        own, below = branching**height, (branching**height - 1) / (branching - 1)
        best.insert(0, (own * level + below * best[0].reshape(-1, branching).sum(axis=1)) / (own + below))
    agreed = [best[0]]
    for level in best[1:]:
        children = level.reshape(-1, branching)
        agreed.append((children + ((agreed[-1] - children.sum(axis=1)) / branching)[:, None]).ravel())
    return agreed


def range_count(levels: Sequence[ArrayLike], *, start: int, stop: int, branching: int = 2) -> float:
    """The sum over the bins start, ..., stop - 1, added up from the fewest nodes of the tree.

    Privacy
    -------
    measure : none to pay: post-processing of a released tree
    adjacency : that of the release
    guarantee : that of the release; at most 2 (branching - 1) nodes of a level are used

    Parameters
    ----------
    levels : list of arrays
        As for `consistent`.
    start, stop : int
        0 <= start <= stop <= number of bins.
    branching : int
        Children of a node, at least 2.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a level has the wrong length or an entry that is not finite, the range does not lie in the bins, or
        `branching` is below 2.

    References
    ----------
    Hay, Rastogi, Miklau and Suciu (2010), section 4.1.

    Examples
    --------
    >>> range_count(tree([1, 2, 3, 4]), start=1, stop=4)
    9.0
    """
    given = _levels(levels, branching)
    start, stop = whole("start", start, least=0), whole("stop", stop, least=0)
    if not start <= stop <= given[-1].size:
        raise ValueError(f"start and stop must satisfy 0 <= start <= stop <= {given[-1].size}, got {start} and {stop}")
    total = 0.0
    # take the odd ends of the range here, leave the whole families to the parents
    for level in reversed(given):
        first, last = -(-start // branching), stop // branching
        if first >= last or level.size == 1:
            return total + float(level[start:stop].sum())
        total += float(level[start : first * branching].sum() + level[last * branching : stop].sum())
        start, stop = first, last
    return total


def _height(size, branching):
    height = 0
    while branching**height < size:
        height += 1
    if branching**height != size:
        raise ValueError(f"the number of bins must be a power of branching={branching}, got {size}")
    return height


def _levels(levels: Sequence[ArrayLike], branching: int) -> list[Array]:
    branching = whole("branching", branching, least=2)
    given = [array("levels", level, ndim=1, least=1) for level in listed("levels", levels)]
    sizes = [level.size for level in given]
    if not given or sizes != [branching**depth for depth in range(len(given))]:
        raise ValueError(f"levels must have 1, {branching}, {branching**2}, ... entries, got {sizes}")
    return given
