"""Quantiles: the exponential mechanism over a whole interval of answers.

A quantile has no useful sensitivity: one row can move the median across the whole range. But a wrong answer is a little
wrong: it misses the wanted number of values below it by some count, and a row changes that count by at most 1. So every
point r of [low, high] gets the score -abs(#{x < r} - q n), and is drawn with density exp(rate * score). Between two
neighbouring values the score is constant, so there are only n + 1 intervals to choose from, by length and score.
"""
import numpy as np
from scipy.special import softmax

from dplib._types import Adjacency, Array, ArrayLike, Rng
from dplib._validate import array, choice, generator, interval, positive, shown
from dplib._validate import share as between_0_and_1
from dplib.sensitivity import ADJACENCIES, increasing

__all__ = ["median", "quantile", "quantile_density", "quantiles"]


def quantile(
    values: ArrayLike, *, share: float, low: float, high: float, epsilon: float, adjacency: Adjacency, rng: Rng = None,
) -> float:
    """One point of [low, high] that has about a `share` of the values below it, by the exponential mechanism.

    Why the guarantee holds: let d be the change of the score, as a function of r. The loss is at most the rate times
    (largest d - smallest d). Replacing a row changes #{x < r} by -1, 0 or 1, so d is in [-1, 1]: a spread of 2. Adding
    a row moves #{x < r} - q n by 1 - q or by -q, so abs(d) <= max(q, 1 - q): a spread of 2 max(q, 1 - q), which is 1
    for the median. For q = 0 and q = 1 the score is monotone and the spread is 1. The rate is epsilon over the spread.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : as given; "replace" has the smaller rate (for shares 0 and 1 the same) and is epsilon-DP under
        add/remove too
    guarantee : exact: for 0 < q < 1 no larger rate holds for all tables; under add/remove the number of rows stays
        private

    Parameters
    ----------
    values : array, shape (n,)
        Clipped to [low, high], nan to `low`; no rows at all are rows, too. An interval between equal values has no
        length: spread whole numbers such as ages first, each by noise of its own and of a public width.
    share : float
        In [0, 1].
    low, high : float
        Public range, low < high.
    epsilon : float
        Privacy loss, positive.
    adjacency : {"replace", "add/remove"}
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float
        In [low, high]; in general none of the values.

    Raises
    ------
    ValueError
        If a parameter is out of range, low >= high, or `values` is not one-dimensional.

    References
    ----------
    McSherry and Talwar (2007), Theorem 6, for the mechanism; Smith (2011) draws quantiles with it. The spread is
    derived.

    Examples
    --------
    >>> 480 < quantile(range(1001), share=0.5, low=0, high=10**6, epsilon=1.0, adjacency="replace", rng=0) < 520
    True
    """
    low, high = interval(low, high, long=True)
    x = increasing(values, low=low, high=high)
    share = between_0_and_1("share", share)
    rate = positive("epsilon", epsilon) / _spread([share], adjacency)
    return _draw(x, share, low, high, rate, generator(rng))


def median(
    values: ArrayLike, *, low: float, high: float, epsilon: float, adjacency: Adjacency, rng: Rng = None,
) -> float:
    """The point of [low, high] with about half of the values below it: `quantile` with share 1/2.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : as given; under "add/remove" the rate is twice that under "replace"
    guarantee : exact, as `quantile`

    Parameters
    ----------
    values, low, high, epsilon, adjacency, rng
        As for `quantile`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `quantile`.

    References
    ----------
    As `quantile`.

    Examples
    --------
    >>> 48 < median(np.linspace(40, 60, 1000), low=0, high=100, epsilon=1.0, adjacency="replace", rng=0) < 52
    True
    """
    return quantile(values, share=0.5, low=low, high=high, epsilon=epsilon, adjacency=adjacency, rng=rng)


def quantile_density(
    values: ArrayLike, *, share: float, low: float, high: float, epsilon: float, adjacency: Adjacency,
) -> tuple[Array, Array]:
    """Exact law of `quantile`: the intervals between neighbouring values, and the probability of each.

    Inside an interval the answer is uniform; an interval of length 0 has probability 0.

    Privacy
    -------
    measure : none: this is the law itself, computed from the private values, and must not be released

    Parameters
    ----------
    values, share, low, high, epsilon, adjacency
        As for `quantile`.

    Returns
    -------
    edges : array, shape (n + 2,)
        `low`, the sorted values, `high`.
    probabilities : array, shape (n + 1,)
        Summing to 1.

    Raises
    ------
    ValueError
        As `quantile`.

    References
    ----------
    McSherry and Talwar (2007), Definition 2.

    Examples
    --------
    >>> edges, probabilities = quantile_density([1, 3], share=0.5, low=0, high=4, epsilon=2.0, adjacency="replace")
    >>> edges.tolist(), probabilities.round(3).tolist()
    ([0.0, 1.0, 3.0, 4.0], [0.134, 0.731, 0.134])
    """
    low, high = interval(low, high, long=True)
    x = increasing(values, low=low, high=high)
    share = between_0_and_1("share", share)
    edges, logits = _law(x, share, low, high, positive("epsilon", epsilon) / _spread([share], adjacency))
    return edges, softmax(logits)


def quantiles(
    values: ArrayLike, *, shares: ArrayLike, low: float, high: float, epsilon: float, adjacency: Adjacency,
    rng: Rng = None,
) -> Array:
    """Several quantiles by halving: the middle one first, then those below it among the rows below it, and so on.

    m quantiles take ceil(log2(m + 1)) levels, and each level has an equal part of epsilon: at each level a row lies in
    one range only. Adding it changes the rows of that one range, so the level costs what its most expensive quantile
    costs: the spread of `quantile` under add/remove. Replacing it may take it out of one range and into another, so the
    level costs the two largest of these spreads together, and a level with a single quantile what `quantile` costs.

    Privacy
    -------
    measure : epsilon-DP for all answers together
    adjacency : as given; the rates for "replace" are epsilon-DP under add/remove too
    guarantee : an upper bound

    Parameters
    ----------
    values : array, shape (n,)
        As for `quantile`.
    shares : array, shape (m,)
        Increasing, in [0, 1].
    low, high, epsilon, adjacency, rng
        As for `quantile`.

    Returns
    -------
    array, shape (m,)
        Never decreasing.

    Raises
    ------
    ValueError
        If `shares` is empty, not increasing or not in [0, 1]; otherwise as `quantile`.

    References
    ----------
    Kaplan, Schnapp and Stemmer (2022), algorithm ApproximateQuantiles. The constants here are derived.

    Examples
    --------
    >>> wanted = {"shares": [0.25, 0.5, 0.75], "low": 0, "high": 20_000}
    >>> quartiles = quantiles(np.arange(10_001), **wanted, epsilon=1.0, adjacency="replace", rng=0)
    >>> (np.abs(quartiles - [2500, 5000, 7500]) < 100).tolist()
    [True, True, True]
    """
    low, high = interval(low, high, long=True)
    x = increasing(values, low=low, high=high)
    wanted, rng = _increasing(shares), generator(rng)
    part = positive("epsilon", epsilon) / len(wanted).bit_length()
    answers = np.empty(len(wanted))
    # quantiles first..last-1, between the shares a and b, of these rows
    nodes = [(0, len(wanted), 0.0, 1.0, x, low, high)]
    while nodes:
        middles = [(first + last) // 2 for first, last, *_ in nodes]
        inner = [(wanted[middle] - a) / (b - a) for middle, (_, _, a, b, *_) in zip(middles, nodes)]
        rate, level, nodes = part / _spread(inner, adjacency), nodes, []
        for middle, q, (first, last, a, b, rows, left, right) in zip(middles, inner, level):
            answers[middle] = r = _draw(rows, q, left, right, rate, rng)
            cut = np.searchsorted(rows, r)
            if first < middle:
                nodes.append((first, middle, a, wanted[middle], rows[:cut], left, r))
            if middle + 1 < last:
                nodes.append((middle + 1, last, wanted[middle], b, rows[cut:], r, right))
    return answers


def _spread(shares, adjacency):
    """Largest loss, per unit of rate, of quantiles asked of disjoint ranges of rows."""
    inner = [0 < q < 1 for q in shares]
    # one row more in this range
    alone = [2 * max(q, 1 - q) if inside else 1.0 for q, inside in zip(shares, inner)]
    if choice("adjacency", adjacency, ADJACENCIES) == "add/remove":
        return max(alone)
    if len(shares) == 1:
        return 2.0 if inner[0] else 1.0
    return sum(sorted(alone)[-2:])


def _law(x, q, low, high, rate):
    """Edges and log weights (up to a constant) of the intervals; the best score among those of positive length counts
    0.
    """
    edges = np.concatenate([[low], x, [high]])
    widths = np.diff(edges)
    miss, wide = np.abs(np.arange(len(widths)) - q * len(x)), widths > 0
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return edges, np.where(wide, np.log(widths) - rate * (miss - miss[wide].min(initial=np.inf)), -np.inf)


def _draw(x, q, low, high, rate, rng):
    edges, logits = _law(x, q, low, high, rate)
    i = np.argmax(logits + rng.gumbel(size=len(logits)))
    return float(min(edges[i] + rng.random() * (edges[i + 1] - edges[i]), edges[i + 1]))


def _increasing(shares):
    wanted = array("shares", shares, ndim=1, least=1, low=0, high=1)
    if not np.all(np.diff(wanted) > 0):
        raise ValueError(f"shares must increase, got {shown(wanted.tolist())}")
    return wanted.tolist()
