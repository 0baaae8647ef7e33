"""Groups that nobody listed: which lines of a GROUP BY may appear, and with which numbers.

Where the groups are not public, a group that occurs because of one person must not appear just because that person is
there. So every group that occurs gets noise, and only those appear whose noisy count reaches a threshold; delta pays
for the lone person who passes it. The noise that decides is the noise that is published. Adjacency is add/remove one
person throughout, who is in at most `num_groups` of the groups with at most `per_group` rows in each: see that it is
so, with `bound`.

The threshold never looks at the data. For one or two groups per person truncated geometric noise publishes most, for
more the Gaussian (where exactly they change over depends a little on epsilon and delta); its noise and its threshold
may each use the whole of delta (`threshold_delta` says why).
"""
from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtri

from dplib._gaussian import tails
from dplib._labels import plain, without_memory
from dplib._types import Rng
from dplib._validate import (
    MOST_ROWS,
    choice,
    finite,
    generator,
    integers,
    noise_rate,
    positive,
    probability,
    whole,
    whole_array,
)
from dplib._validate import table as frame
from dplib.mechanisms import gaussian_sigma

__all__ = [
    "Threshold", "bound", "gaussian_threshold", "laplace_threshold", "release", "selection_probability",
    "threshold_delta",
]

_LEAST, _FINEST = 1e-300, 1e-200                 # of delta, of per_group: beyond, what is computed is no double
_MOST_GROUPS = 10**7                             # each number of lone groups is looked at
NOISES = ("truncated geometric", "laplace", "gaussian")


class Threshold(NamedTuple):
    """Publish a count if, with noise of this `scale`, it is at least `threshold`; both in rows."""

    scale: float
    threshold: float


# ------------------------------------------------------------------------------------------ one group per person


def selection_probability(n: int | np.ndarray, *, epsilon: float, delta: float) -> float | np.ndarray:
    """The largest probability with which a group of `n` people may appear, where each person is in one group.

    As much as the definition allows, from one size to the next: it begins at 0, each person more lets it grow to
    exp(epsilon) times as much plus delta, as long as the probability of hiding does not fall faster than that either.
    `release` with truncated geometric noise lets a group appear with this probability, and prints its count.

    Privacy
    -------
    measure : (epsilon, delta)-DP, if every group appears independently with this probability and nothing else is told
    adjacency : add/remove one person, who is in one group
    guarantee : exact, and no private release that lists only groups with people lists one of this size more often

    Parameters
    ----------
    n : int or array of int
        Sizes, in people; none is 0.
    epsilon : float
        Privacy loss, positive.
    delta : float
        In (0, 1): the probability with which a group of one person appears.

    Returns
    -------
    float or array of the shape of `n`

    Raises
    ------
    ValueError
        If a parameter is out of range, or `n` does not hold whole numbers.

    References
    ----------
    Desfontaines, Voss, Gipson and Mandayam (2022), Theorem 1, for the recursion and its optimality; the closed form is
    derived.

    Examples
    --------
    >>> selection_probability(np.array([0, 1, 10, 14, 20]), epsilon=1.0, delta=1e-6).round(4).tolist()
    [0.0, 0.0, 0.0128, 0.6999, 0.9993]
    """
    rate, delta = _rate(epsilon, 1, 1), probability("delta", delta, zero=False, least=_LEAST)
    sizes = whole_array("n", n)
    fall, one = math.exp(-rate), -math.expm1(-rate)
    k = math.ceil(math.log1p(one * (1 - delta) / ((1 + fall) * delta)) / rate)   # up to here the first inequality binds
    sizes = np.clip(sizes, 0, min(2 * k + 2, MOST_ROWS))       # there it is 1
    if sizes.size > 2 * k + 3:
        return np.asarray(selection_probability(np.arange(2 * k + 3), epsilon=epsilon, delta=delta))[sizes]
    sizes = sizes.astype(float)

    def rising(n):                               # delta (1 + e^rate + ... + e^((n - 1) rate)), at most 1 for n <= k
        return delta * -np.expm1(-n * rate) * np.exp((n - 1) * rate) / one

    beyond = np.maximum(sizes - k, 0.0)
    hidden = np.exp(-beyond * rate) * (1 - rising(float(k))) + np.expm1(-beyond * rate) * delta * fall / one
    result = np.clip(np.where(sizes <= k, rising(np.minimum(sizes, k)), 1 - hidden), 0.0, 1.0)
    return result if result.ndim else float(result)


# ------------------------------------------------------------------------------------- several groups per person


def laplace_threshold(*, epsilon: float, delta: float, num_groups: int = 1, per_group: float = 1.0) -> Threshold:
    """Scale of Laplace noise on every count, and the threshold, that together are (epsilon, delta)-DP.

    Privacy
    -------
    measure : (epsilon, delta)-DP for noisy counts of at least the threshold, of all groups that occur
    adjacency : add/remove one person, who is in at most `num_groups` of the groups with at most `per_group` in each
    guarantee : exact: 1 - (1 - delta_1)^num_groups = delta, delta_1 the chance that a lone person's group passes

    Parameters
    ----------
    epsilon : float
        Privacy loss, positive.
    delta : float
        In (0, 1).
    num_groups : int
        The most groups of one person.
    per_group : float
        The most that one person adds to a group: rows, or whatever the counts count.

    Returns
    -------
    Threshold
        scale, threshold, in the units of `per_group`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Korolova, Kenthapadi, Mishra and Ntoulas (2009), Algorithm 1, for the idea; delta is derived.

    Examples
    --------
    >>> scale, threshold = laplace_threshold(epsilon=1.0, delta=1e-6, num_groups=2)
    >>> scale, round(threshold, 1)
    (2.0, 28.6)
    """
    rate, one = _rate(epsilon, num_groups, per_group), _each(delta, num_groups)
    tail = -math.log(2 * one) if one <= 0.5 else math.log(2) + math.log1p(-one)
    return Threshold(1 / rate, float(per_group) + tail / rate)


def gaussian_threshold(*, epsilon: float, delta: float, num_groups: int = 1, per_group: float = 1.0) -> Threshold:
    """Standard deviation of Gaussian noise on every count, and the threshold, that together are (epsilon, delta)-DP.

    Privacy
    -------
    measure : (epsilon, delta)-DP for noisy counts of at least the threshold, of all groups that occur
    adjacency : add/remove one person, who is in at most `num_groups` of the groups with at most `per_group` in each
    guarantee : exact (`threshold_delta`): the noise uses all of delta where the person is alone nowhere, the threshold
        all of it where the person is alone everywhere; no smaller noise would do, and for this noise no smaller
        threshold

    Parameters
    ----------
    epsilon : float
        Privacy loss, positive.
    delta : float
        In (0, 1).
    num_groups : int
        The most groups of one person.
    per_group : float
        The most that one person adds to a group.

    Returns
    -------
    Threshold
        scale (a standard deviation), threshold.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Balle and Wang (2018), Theorem 8, for the noise; Wilkins, Kifer, Zhang and Karrer (2024) for noise and threshold
    together. Wilson et al. (2020) charge the sum of both.

    Examples
    --------
    >>> sigma, threshold = gaussian_threshold(epsilon=1.0, delta=1e-6, num_groups=20)
    >>> round(sigma, 2), round(threshold, 1)
    (18.89, 101.6)
    """
    one, per_group = _each(delta, num_groups), positive("per_group", per_group, least=_FINEST, most=1 / _FINEST)
    epsilon, num_groups = positive("epsilon", epsilon), whole("num_groups", num_groups, least=1, most=_MOST_GROUPS)
    sigma = gaussian_sigma(epsilon, delta=delta, sensitivity=per_group * math.sqrt(num_groups))
    threshold, step = per_group - sigma * float(ndtri(one)), 1e-14 * sigma
    while _gaussian_delta(epsilon, sigma, threshold, np.arange(1, num_groups + 1), num_groups, per_group) > delta:
        # rounding: in exact arithmetic the last of these binds
        threshold, step = threshold + step, 2 * step
    return Threshold(sigma, threshold)


def threshold_delta(
    noise: str, threshold: float, *, epsilon: float, scale: float | None = None, num_groups: int = 1,
    per_group: float = 1.0,
) -> float:
    """The smallest delta at `epsilon` of publishing the noisy counts that are at least `threshold`.

    Of a person's groups some are theirs alone and occur in one world only; each of them stays hidden with a probability
    p. The others are shared, and only move. With j lone groups, one of them shows with probability 1 - p^j; where none
    does, the worlds differ by the shared ones, and the outcome speaks against the person by the factor p^j. The worst j
    counts.

    Privacy
    -------
    measure : (epsilon, result)-DP for noisy counts of at least the threshold, of all groups that occur
    adjacency : add/remove one person, who is in at most `num_groups` of the groups with at most `per_group` in each
    guarantee : exact: the largest over all tables, approached as shared groups grow

    Parameters
    ----------
    noise : {"laplace", "geometric", "gaussian"}
    threshold : float
    epsilon : float
        Positive.
    scale : float, optional
        Of the noise: a standard deviation for "gaussian", and needed there; for the others num_groups per_group /
        epsilon, which is the least that suffices, where none is given.
    num_groups : int
        The most groups of one person.
    per_group : float
        The most that one person adds to a group.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If a parameter is out of range, the scale is missing, or too small for `epsilon` at any threshold.

    References
    ----------
    Wilkins, Kifer, Zhang and Karrer (2024) for Gaussian noise; the rest is derived.

    Examples
    --------
    >>> round(threshold_delta("gaussian", 32.03, epsilon=1.0, scale=6.17, num_groups=2), 7)
    5e-07
    """
    threshold, rate = finite("threshold", threshold), _rate(epsilon, num_groups, per_group)
    epsilon, per_group = float(epsilon), positive("per_group", per_group, most=1 / _FINEST)
    num_groups = whole("num_groups", num_groups, least=1, most=_MOST_GROUPS)
    if choice("noise", noise, ("laplace", "geometric", "gaussian")) == "gaussian":
        scale, lone = positive("scale", scale, least=_FINEST), np.arange(num_groups + 1)
        return min(1.0, _gaussian_delta(epsilon, scale, threshold, lone, num_groups, per_group))
    if scale is not None:
        scale = positive("scale", scale)
        if scale * rate < 1 - 1e-9:
            least = f"num_groups per_group / epsilon = {1 / rate:g}"
            raise ValueError(f"scale must be at least {least} for {noise!r} noise, got {scale!r}")
        rate = 1 / scale
    if noise == "geometric":
        if per_group != math.floor(per_group):
            raise ValueError(f"per_group must be a whole number for geometric noise, got {per_group!r}")
        one = _geometric_tail(math.ceil(threshold) - int(per_group), rate)
    else:
        x = (threshold - per_group) * rate
        one = 0.5 * math.exp(-x) if x >= 0 else 1 - 0.5 * math.exp(x)
    return -math.expm1(num_groups * math.log1p(-one)) if one < 1 else 1.0


def release(
    counts: pd.Series, *, epsilon: float, delta: float, noise: str = "truncated geometric", num_groups: int = 1,
    per_group: int = 1, at_least: int = 1, rng: Rng = None,
) -> pd.Series:
    """Noisy counts of those groups whose noisy count reaches the threshold: the noise that decides is published.

    Truncated geometric noise X is a whole number between -k and k, with P(X = x) proportional to exp(-rate abs(x)),
    rate = epsilon / (num_groups per_group), and a group appears if its noisy count is above k. A group without people
    never appears, so it needs no noise and nobody has to know it. One more person changes a probability by at most the
    factor exp(rate) per row, except for the values that are possible in one world only. Delta pays for those. Their
    probability falls in steps as k grows; a coin for each group takes the smallest k that suffices or the k below it,
    so that delta is used up exactly.

    Privacy
    -------
    measure : (epsilon, delta)-DP for groups and counts together
    adjacency : add/remove one person, who is in at most `num_groups` of the groups with at most `per_group` rows in
        each
    guarantee : exact, for lone and shared groups together. The list of groups is private: that is what delta pays for.
        With truncated geometric noise, one group and one row per person, a group of n people appears with
        `selection_probability` (at the one size n = 2k it is less than delta below)

    Parameters
    ----------
    counts : pandas.Series of whole numbers
        Rows of each group, the groups in the index, as `groupby(...).size()` gives them. A group twice counts together,
        one without rows is not there. The type of the index must be fixed in advance: it is kept, and published.
    epsilon : float
        Privacy loss, positive.
    delta : float
        In (0, 1).
    noise : {"truncated geometric", "laplace", "gaussian"}
    num_groups, per_group : int
        The most groups of one person, and the most rows of one person in a group.
    at_least : int
        No group with fewer rows is ever published (this costs nothing: the noise is added to what exceeds at_least -
        1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    pandas.Series of int64 for "truncated geometric", else of float64
        Noisy counts of the groups that appear, sorted by group; its index knows no others.

    Raises
    ------
    ValueError
        If a parameter is out of range, or `counts` is no Series of whole numbers.

    References
    ----------
    Desfontaines, Voss, Gipson and Mandayam (2022), section 3.3, for truncated geometric noise with one k; several
    groups and rows and the coin are derived. The others as `laplace_threshold` and `gaussian_threshold`.

    Examples
    --------
    >>> counts = pd.Series({"Ann": 1, "Bea": 300, "Cyd": 12})
    >>> release(counts, epsilon=1.0, delta=1e-6, rng=1).to_dict()
    {'Bea': 300}
    >>> release(counts, epsilon=1.0, delta=1e-6, noise="gaussian", num_groups=3, rng=1).round(1).to_dict()
    {'Bea': 306.0}
    """
    choice("noise", noise, NOISES)
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=False)
    num_groups, per_group = whole("num_groups", num_groups, least=1), whole("per_group", per_group, least=1)
    hidden = whole("at_least", at_least, least=1) - 1
    counts = _groups(counts)
    counts, rng = counts[counts > hidden], generator(rng)
    excess = counts.to_numpy() - hidden
    if noise == "truncated geometric":
        rate, k, lower = _truncation(epsilon, delta, num_groups=num_groups, per_group=per_group)
        reach = k - (rng.random(excess.size) < lower)
        noisy = excess + _truncated_noise(rate, k, reach, rng)
        passed = noisy > reach
    else:
        if noise == "laplace":
            limit, draw = laplace_threshold, rng.laplace
        else:
            limit, draw = gaussian_threshold, rng.normal
        scale, threshold = limit(epsilon=epsilon, delta=delta, num_groups=num_groups, per_group=per_group)
        noisy = excess + draw(scale=scale, size=excess.size)
        passed = noisy >= threshold
    return _by_group(pd.Series(noisy + hidden, index=counts.index, name=counts.name)[passed])


def bound(
    table: pd.DataFrame, *, person: str, group: str, num_groups: int, salt: str | None = None, rng: Rng = None
) -> pd.DataFrame:
    """At most `num_groups` groups of each person, chosen at random, each once: a count per group may be computed from
    it.

    A person's groups are chosen by that person's own rows and by coins, or by a salted hash in place of coins, and by
    nothing else. So one more person adds at most `num_groups` rows and moves no other row: that is why counts of the
    result move by at most 1 in at most `num_groups` groups, for every value of the coins. The coins make it fair.

    Privacy
    -------
    measure : none: the result is private and must not be released; it is what `release` may be given, counted by group
    adjacency : add/remove one person with all their rows
    guarantee : exact: the result changes by that person's rows, at most `num_groups` of them; with coins that is so
        of the law of the result, as long as nobody knows them

    Parameters
    ----------
    table : pandas.DataFrame
        A row without a person or without a group does not count. Nothing else is read into the labels: a blank text is
        a label, so clean them first.
    person, group : column names
    num_groups : int
        The most groups of one person.
    salt : str, optional
        Key of the hash that chooses the groups (md5 of salt, person and group, as printed, 1.0 as 1): the same groups
        for the same table on every machine.
    rng : int or numpy.random.Generator, optional
        Coins instead of a salt, dealt out in the order of the table. Give one of the two.

    Returns
    -------
    pandas.DataFrame
        Columns `person` and `group`, each pair once, in the order of the table.

    Raises
    ------
    ValueError
        If a column is not there, `num_groups` is no whole number of at least 1, or not exactly one of `salt` and `rng`
        is given.

    References
    ----------
    Wilson et al. (2020), section 2, for bounding by a random choice; that no randomness is needed for privacy is
    derived.

    Examples
    --------
    >>> table = pd.DataFrame({"user": [1, 1, 1, 2], "film": ["A", "B", "C", "A"]})
    >>> bound(table, person="user", group="film", num_groups=2, salt="2023").groupby("user").size().to_dict()
    {1: 2, 2: 1}
    """
    frame("table", table, [("person", person), ("group", group)])
    num_groups = whole("num_groups", num_groups, least=1)
    if (salt is None) == (rng is None):
        raise ValueError("give one of salt and rng: what chooses the groups?")
    if salt is not None and (not isinstance(salt, str) or not salt):
        raise ValueError("salt must be a text")      # and is not repeated here: it is a secret
    pairs = table[list(dict.fromkeys((person, group)))].dropna().drop_duplicates(ignore_index=True)
    if salt is None:
        lots = generator(rng).random(len(pairs))
    else:
        texts = (f"{salt}:{a}:{b}" for a, b in zip(map(_printed, pairs[person]), map(_printed, pairs[group])))
        lots = np.array([_md5(text) for text in texts], dtype=object)
    codes = pd.factorize(pairs[person])[0]
    order = np.lexsort((lots, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    place = np.arange(len(pairs)) - np.repeat(starts, np.diff(starts, append=len(pairs)))
    return without_memory(pairs.iloc[np.sort(order[place < num_groups])].reset_index(drop=True))


# ------------------------------------------------------------------------------------------------ below


def _md5(text):
    return hashlib.md5(text.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()


def _printed(label):
    """As a whole number where it is one: an empty cell or a fraction elsewhere turns 1 into 1.0."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _rate(epsilon, num_groups, per_group):
    """The loss that noise of scale 1 / rate may have for each row that a person adds to a group."""
    epsilon, per_group = positive("epsilon", epsilon, most=1e100), positive("per_group", per_group, least=_FINEST)
    rate = epsilon / whole("num_groups", num_groups, least=1) / per_group
    return noise_rate("epsilon / (num_groups per_group)", rate)


def _each(delta, num_groups):
    """The probability of one of `num_groups` independent accidents, of which at least one happens with probability
    delta.
    """
    delta = probability("delta", delta, zero=False, least=_LEAST)
    return -math.expm1(math.log1p(-delta) / whole("num_groups", num_groups, least=1))


def _first(holds):
    """The smallest whole number, zero or more, for which `holds`: it does from there on."""
    high = 1
    while not holds(high - 1):
        high *= 2
    low = high // 2
    while low < high - 1:
        middle = (low + high - 1) // 2
        low, high = (low, middle + 1) if holds(middle) else (middle + 1, high)
    return low


def _geometric_tail(x, rate):
    """P(Z >= x) of discrete Laplace noise, x whole."""
    if x <= 0:
        return 1 - _geometric_tail(1 - x, rate)
    return math.exp(-rate * x) / (1 + math.exp(-rate))


def _truncation(epsilon, delta, *, num_groups, per_group):
    """Rate, the smallest bound k that suffices, and the probability of the bound k - 1 with which delta is used up."""
    rate, one = _rate(epsilon, num_groups, per_group), _each(delta, num_groups)

    def alone(k):                                # P(X > k - per_group) for noise on -k..k: the lone group shows
        total = -math.expm1(-rate) - 2 * math.exp(-rate) * math.expm1(-rate * k)
        if k >= per_group:
            return math.exp(-rate * (k - per_group + 1)) * -math.expm1(-rate * per_group) / total
        low = per_group - k                      # 1 - P(X >= per_group - k)
        return 1 - math.exp(-rate * low) * -math.expm1(-rate * (k + 1 - low)) / total if low <= k else 1.0

    k = _first(lambda k: alone(k) <= one)
    return rate, k, (one - alone(k)) / (alone(k - 1) - alone(k))


def _truncated_noise(rate, k, reach, rng):
    """Whole numbers between -reach and reach, which is k or k - 1, with probabilities proportional to exp(-rate
    abs(x)).
    """
    decay = -np.expm1(-rate * np.array([k - 1.0, k]))[reach - (k - 1)]
    zero, fall = -math.expm1(-rate), math.exp(-rate)
    size = np.log1p(-rng.random(reach.size) * decay)     # of what is not zero, by the inverse of its tail
    size = np.minimum(size * (-1 / rate), reach - 1).astype(np.int64) + 1
    coin = rng.random(reach.size) * (zero + 2 * fall * decay) - zero
    return np.where(coin < 0, 0, np.where(coin < fall * decay, size, -size))


def _gaussian_delta(epsilon, sigma, threshold, lone, num_groups, per_group):
    """The largest delta over these numbers of lone groups, of the world with the person against the one without.

    The other direction is never worse: both are one less the smallest weighted error of a test between two Gaussians,
    with weights of the same product, which are further apart in this direction; and for Gaussians that makes the error
    smaller.
    """
    log_hidden = lone * max(float(log_ndtr((threshold - per_group) / sigma)), -1e300)    # 0 times an infinity is none
    mu = per_group * np.sqrt(num_groups - lone) / sigma
    return float((-np.expm1(log_hidden) + np.exp(log_hidden) * _shift_delta(epsilon - log_hidden, mu)).max())


def _shift_delta(epsilon, mu):
    """delta at `epsilon` > 0 of N(0, 1) v N(mu, 1), elementwise, never below the truth."""
    wide = np.maximum(mu, 1e-300)
    with np.errstate(over="ignore", invalid="ignore"):
        first, share = tails(wide / 2, epsilon / wide)
    return np.where((mu > 0) & np.isfinite(first), np.exp(first) * share, 0.0)


def _groups(counts):
    """The groups that occur, each once, with their rows as int64."""
    if not isinstance(counts, pd.Series):
        raise ValueError(f"counts must be a pandas Series with the groups in its index, got {type(counts).__name__}")
    nothing = counts.empty and counts.dtype == object                   # what pandas makes of no counts at all
    if not (nothing or pd.api.types.is_integer_dtype(counts.dtype)):
        raise ValueError(f"counts must hold whole numbers, got dtype {counts.dtype}")
    values = np.clip(integers("counts", counts), 0, MOST_ROWS)
    counts = pd.Series(values, index=plain(counts.index), name=counts.name)
    if not counts.index.is_unique:
        counts = counts.groupby(level=list(range(counts.index.nlevels)), dropna=False, sort=False).sum()
    return counts


def _by_group(published):
    """Sorted by label, so that the order is a function of what is published; and without the names of what is not."""
    index = published.index
    if isinstance(index, pd.MultiIndex):
        published.index = index.remove_unused_levels()
    try:
        return published.sort_index()
    except TypeError:                            # labels of several types have no order of their own
        return published.iloc[sorted(range(len(published)), key=lambda i: (type(index[i]).__name__, str(index[i])))]
