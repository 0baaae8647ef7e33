"""Distributions: the exact privacy of a mechanism with finitely many outcomes, and mechanisms that show what delta
allows.

A mechanism that can give finitely many outcomes has a probability for each of them on D, `p`, and on its neighbour D',
`q`. Everything that differential privacy says about the pair can be read off these two lists.

The three catastrophes at the end are teaching devices: they keep a promise that sounds strict, and publish people.
"""
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dplib._types import Array, ArrayLike, Rng
from dplib._validate import generator, laws, non_negative, probability, whole

__all__ = ["catastrophe", "exact_delta", "exact_epsilon", "name_and_shame", "privacy_loss", "random_tag"]


def exact_epsilon(p: ArrayLike, q: ArrayLike) -> float:
    """Smallest epsilon for which two laws are epsilon-indistinguishable: the largest absolute log ratio of an outcome.

    For epsilon-DP the outcomes one by one are enough, because a ratio of sums is never above the largest ratio.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : the one of the two data sets
    guarantee : exact for this pair of data sets, both directions; a mechanism needs it for all pairs

    Parameters
    ----------
    p, q : array, shape (k,)
        Probability of each outcome on D and on D'.

    Returns
    -------
    float
        inf if an outcome is possible on one data set only.

    Raises
    ------
    ValueError
        If `p` and `q` are not lists of probabilities of the same length, each summing to 1.

    References
    ----------
    Dwork and Roth (2014), Definition 2.4.

    Examples
    --------
    >>> round(exact_epsilon([0.75, 0.25], [0.25, 0.75]), 4)
    1.0986
    """
    losses, _ = privacy_loss(p, q)
    p, q = laws(p, q)
    return math.inf if np.any((p == 0) & (q > 0)) else float(np.max(np.abs(losses)))


def exact_delta(p: ArrayLike, q: ArrayLike, *, epsilon: float) -> float:
    """Smallest delta for which two laws are (epsilon, delta)-indistinguishable, over all sets of outcomes.

    The worst set is the one of all outcomes that are more than e^epsilon times as likely on one side, so delta is the
    sum of p - e^epsilon q over the outcomes where that is positive; the larger of the two directions.

    Privacy
    -------
    measure : (epsilon, delta)-DP
    adjacency : the one of the two data sets
    guarantee : exact for this pair of data sets, both directions; a mechanism needs it for all pairs

    Parameters
    ----------
    p, q : array, shape (k,)
        Probability of each outcome on D and on D'.
    epsilon : float
        Zero or more; at 0 the result is the total variation distance.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `p` and `q` are not lists of probabilities of the same length, each summing to 1, or `epsilon` is negative.

    References
    ----------
    Balle and Wang (2018), Theorem 5, in terms of privacy losses; Dwork and Roth (2014), Definition 2.4.

    Examples
    --------
    >>> round(exact_delta([0.75, 0.25], [0.25, 0.75], epsilon=0.5), 4)
    0.3378
    """
    (p, q), epsilon = laws(p, q), non_negative("epsilon", epsilon)
    root = math.exp(min(epsilon, 1400.0) / 2)    # in two steps: e^epsilon may be no double, and q a very small one
    with np.errstate(over="ignore"):
        return float(max(np.maximum(one - root * (root * other), 0).sum() for one, other in ((p, q), (q, p))))


def privacy_loss(p: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
    """The privacy-loss random variable of a pair of laws: ln(p/q) of every outcome that is possible on D.

    Privacy
    -------
    measure : none by itself: epsilon-DP says that the loss is never above epsilon, (epsilon, delta)-DP that the mean of
        max(0, 1 - exp(epsilon - loss)) is at most delta
    adjacency : the one of the two data sets
    guarantee : exact, one direction (D against D')

    Parameters
    ----------
    p, q : array, shape (k,)
        Probability of each outcome on D and on D'.

    Returns
    -------
    losses, weights : arrays
        The loss of each outcome with p > 0 (inf where q = 0), and its probability on D.

    Raises
    ------
    ValueError
        If `p` and `q` are not lists of probabilities of the same length, each summing to 1.

    References
    ----------
    Dwork and Roth (2014), section 2.3.

    Examples
    --------
    >>> losses, weights = privacy_loss([0.75, 0.25], [0.25, 0.75])
    >>> losses.round(4).tolist(), weights.tolist()
    ([1.0986, -1.0986], [0.75, 0.25])
    """
    p, q = laws(p, q)
    possible = p > 0
    with np.errstate(divide="ignore"):
        return np.log(p[possible]) - np.log(q[possible]), p[possible]


def catastrophe(records: Iterable, *, delta: float, rng: Rng = None) -> list:
    """With probability `delta` publish the whole table, otherwise nothing.

    Privacy
    -------
    measure : (0, delta)-DP
    adjacency : either
    guarantee : exact; what it permits, once in 1/delta releases, is everything

    Parameters
    ----------
    records : sequence
        The private table.
    delta : float
        In [0, 1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    list
        All records, or none.

    Raises
    ------
    ValueError
        If `records` is no list or `delta` not in [0, 1).

    References
    ----------
    Folklore; see Vadhan (2017).

    Examples
    --------
    >>> catastrophe(["Ada", "Ben"], delta=1e-6, rng=0)
    []
    """
    everybody, delta, rng = _list(records), probability("delta", delta), generator(rng)
    return everybody if rng.random() < delta else []


def name_and_shame(records: Iterable, *, delta: float, rng: Rng = None) -> list:
    """Publish every record in clear with probability `delta`, independently of the others.

    Privacy
    -------
    measure : (0, delta)-DP
    adjacency : add/remove or replace, one record per person
    guarantee : exact; with n records the expected number of people published is n delta

    Parameters
    ----------
    records : sequence
        The private table, one record per person.
    delta : float
        In [0, 1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    list
        The published records, in their order.

    Raises
    ------
    ValueError
        If `records` is no list or `delta` not in [0, 1).

    References
    ----------
    Folklore; Dwork and Roth (2014), section 2.3, has the version with delta = 1/n.

    Examples
    --------
    >>> name_and_shame(["Ada", "Ben", "Cem"], delta=0.5, rng=2)
    ['Ada', 'Ben']
    """
    everybody, delta = _list(records), probability("delta", delta)
    chosen = generator(rng).random(len(everybody)) < delta
    return [record for record, out in zip(everybody, chosen, strict=True) if out]


def random_tag(record: Any, *, tags: int, rng: Rng = None) -> tuple[Any, int]:
    """Publish the record itself beside a random number from 0 to `tags` - 1.

    No single outcome has a probability above 1/tags, so the inequality of (epsilon, delta)-DP holds for every single
    outcome with epsilon = 0 and delta = 1/tags. For sets of outcomes it fails: the record is there in clear.

    Privacy
    -------
    measure : none: (epsilon, delta)-DP for no epsilon and no delta below 1
    adjacency : either
    guarantee : none; a counterexample to the definition "outcome by outcome"

    Parameters
    ----------
    record
        The private record.
    tags : int
        Number of tags, at least 1.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    (record, tag)

    Raises
    ------
    ValueError
        If `tags` is not a whole number >= 1.

    References
    ----------
    Folklore; see Meiser (2018) on why delta must be read over sets.

    Examples
    --------
    >>> random_tag("HIV", tags=1_000_000, rng=0)
    ('HIV', 850624)
    """
    return record, int(generator(rng).integers(whole("tags", tags, least=1, most=2**63 - 1)))


def _list(records):
    try:
        return list(records)
    except TypeError:
        raise ValueError(f"records must be a list, got {type(records).__name__}") from None
