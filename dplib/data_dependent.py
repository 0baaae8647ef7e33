"""Noise that fits the data: less of it where the data are calm, without the amount of noise telling on anybody.

The median's global sensitivity is the whole range, and on most tables no row moves it far. Noise in proportion to the
local sensitivity is not private: its scale may jump between neighbours. Three ways that are: a bound on the local
sensitivity that changes slowly (`smooth_median`), a private test that the local sensitivity is small
(`propose_test_release`), and a question asked of many small groups of which one row is in only one
(`sample_and_aggregate`). For the local sensitivity of any question, by brute force, see `sensitivity.empirical`.
"""
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dplib._types import ArrayLike, Rng, Same
from dplib._validate import choice, function, generator, interval, non_negative, numbers, positive, probability, whole
from dplib.mechanisms import laplace
from dplib.sensitivity import clip, increasing

__all__ = [
    "Smoothing", "cauchy_epsilon", "laplace_delta", "mean_local_sensitivity", "median_distance",
    "median_local_sensitivity", "propose_test_release", "sample_and_aggregate", "smooth_median", "smooth_scales",
    "smooth_sensitivity",
]


def mean_local_sensitivity(values: ArrayLike, *, low: float, high: float) -> float:
    """How far one row added to or taken from these values can move their mean.

    A row more moves it by up to max(high - mean, mean - low) / (n + 1), a row less by abs(x - mean) / (n - 1). The mean
    of no rows counts as the middle of the range.

    Privacy
    -------
    measure : none: this is a property of the private table, and noise of this scale is not private
    adjacency : add/remove

    Parameters
    ----------
    values : array, shape (n,)
        Clipped to [low, high].
    low, high : float
        Public range.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a bound is not finite, low > high, or `values` is not one-dimensional.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), Definition of local sensitivity; the formula is derived.

    Examples
    --------
    >>> mean_local_sensitivity([0, 0, 0, 100], low=0, high=100)
    25.0
    """
    low, high = interval(low, high)
    x = increasing(values, low=low, high=high)
    n = len(x)
    mean = (x / n).sum() if n else (low + high) / 2
    added = max(high - mean, mean - low) / (n + 1)
    return float(max(added, np.abs(x - mean).max(initial=0.0) / max(n - 1, 1)))


def median_local_sensitivity(values: ArrayLike, *, low: float, high: float, steps: int = 0) -> float:
    """Largest change of the median by one replaced row, over all tables that differ from this one in at most `steps`
    rows.

    The median here is the ceil(n/2)-th smallest value x_m. The result is the widest gap x_(i + steps + 1) - x_i that
    holds x_m, where x_i is `low` below the first value and `high` above the last.

    Privacy
    -------
    measure : none: this is a property of the private table, and noise of this scale is not private
    adjacency : replace

    Parameters
    ----------
    values : array, shape (n,)
        At least one; clipped to [low, high].
    low, high : float
        Public range.
    steps : int
        Zero or more; 0 is the local sensitivity itself.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `values` is empty or not one-dimensional, low > high, or `steps` is not a whole number >= 0.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), section 3.1.

    Examples
    --------
    >>> median_local_sensitivity([1, 4, 5, 6, 9], low=0, high=100)
    1.0
    >>> median_local_sensitivity([1, 4, 5, 6, 9], low=0, high=100, steps=1)
    4.0
    """
    x, m = _padded(values, low, high)
    return _gap(x, m, whole("steps", steps, least=0))


def smooth_sensitivity(values: ArrayLike, *, beta: float, low: float, high: float) -> float:
    """Smallest upper bound on the median's local sensitivity that changes by at most a factor e^beta between
    neighbours.

    It is the largest e^(-beta t) `median_local_sensitivity(values, steps=t)` over t = 0, 1, 2, ...

    Privacy
    -------
    measure : none: this is a property of the private table; `smooth_median` adds the noise for which it is enough
    adjacency : replace

    Parameters
    ----------
    values : array, shape (n,)
        At least one; clipped to [low, high].
    beta : float
        Positive: the slower the bound may change, the larger it is.
    low, high : float
        Public range.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `values` is empty or not one-dimensional, low > high, or `beta` is not positive.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), Definition of beta-smooth sensitivity and section 3.1.

    Examples
    --------
    >>> round(smooth_sensitivity([1, 4, 5, 6, 9], beta=0.1, low=0, high=100), 3)
    77.779
    """
    x, m = _padded(values, low, high)
    beta, largest = positive("beta", beta), 0.0
    for t in range(len(x) - 1):
        weight = math.exp(-beta * t)
        if weight * (x[-1] - x[0]) <= largest:   # no later gap can win
            break
        largest = max(largest, weight * _gap(x, m, t))
    return largest


class Smoothing(NamedTuple):
    """How smooth the bound must be, and the scale of the noise for a bound of 1."""

    beta: float
    scale: float


def smooth_scales(*, epsilon: float, delta: float = 0.0, method: str = "exact") -> Smoothing:
    """Smoothness and noise scale with which noise in proportion to a smooth bound S costs (epsilon, delta).

    With delta = 0 the noise is S * scale * Cauchy, otherwise S * scale * Laplace. "classic" is the general theorem:
    beta = epsilon/6, scale = 6/epsilon for Cauchy; beta = epsilon/(2 ln(2/delta)), or epsilon/2 if that is less, and
    scale = 2/epsilon for Laplace.
    "exact" uses the loss itself (`cauchy_epsilon`, `laplace_delta`): for Cauchy the larger of beta = epsilon/sqrt(2)
    and ln(2 cosh(epsilon) - 1), and the smallest scale; for Laplace scale = 2/epsilon and the largest beta up to
    epsilon/2.

    Privacy
    -------
    measure : (epsilon, delta)-DP for an answer whose local sensitivity is at most S, with S smooth in beta
    adjacency : the one under which S is smooth
    guarantee : "exact" cannot be improved in its second constant given the first (Laplace: unless beta = epsilon/2),
        and is rounded to the safe side; "classic" is an upper bound, and with delta > 0 refused for epsilon > 1

    Parameters
    ----------
    epsilon : float
        At least 1e-100; more than 100 is read as 100.
    delta : float
        In [0, 1).
    method : {"exact", "classic"}

    Returns
    -------
    Smoothing

    Raises
    ------
    ValueError
        If a parameter is out of range, or for method="classic" with delta > 0 and epsilon > 1.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), section 2, for "classic"; "exact" is derived.

    Examples
    --------
    >>> smooth_scales(epsilon=1.0, method="classic").scale
    6.0
    >>> round(smooth_scales(epsilon=1.0).scale, 3)
    0.96
    """
    epsilon, delta = min(positive("epsilon", epsilon, least=1e-100), 100.0), probability("delta", delta)
    if choice("method", method, ("exact", "classic")) == "classic":
        if delta and epsilon > 1:
            raise ValueError(f"the classic theorem holds for epsilon at most 1, got {epsilon!r}: use method='exact'")
        if delta:
            return Smoothing(epsilon / max(2.0, 2 * math.log(2 / delta)), 2 / epsilon)
        return Smoothing(epsilon / 6, 6 / epsilon)
    if delta == 0:
        # 1/scale if only the change of the answer counted; beta up to `free` adds nothing
        level = 2 * math.sinh(epsilon / 2)
        free, beta = math.log1p(level**2) * (1 - 1e-12), epsilon / math.sqrt(2)
        if free > beta:
            return Smoothing(free, (1 + 1e-12) / level)
        inverse = 4 * math.exp(beta) * math.sinh((epsilon + beta) / 2) * math.sinh((epsilon - beta) / 2)
        return Smoothing(beta, (1 + 1e-12) / math.sqrt(inverse))

    def excess(beta):                            # increasing
        return _log_laplace_delta(epsilon, beta, 2 / epsilon) - math.log(delta)

    high = low = epsilon / 2
    while excess(low) > 0:
        low /= 2
    return Smoothing(brentq(excess, low, 2 * low, xtol=1e-14 * low) * (1 - 1e-12) if low < high else high, 2 / epsilon)


def cauchy_epsilon(*, beta: float, scale: float) -> float:
    """Exact epsilon of Cauchy noise of `scale` times a bound S that is smooth in `beta`.

    The largest log ratio of two Cauchy densities with centres f, f' and widths s, s' is the hyperbolic distance of f +
    i s and f' + i s', whose cosh is 1 + ((f - f')^2 + (s - s')^2) / (2 s s'). With abs(f - f') at most the smaller S
    and the widths a factor e^b apart, that is cosh b + e^(-b) / (2 scale^2): convex in b, so the worst b is 0 or beta.

    Privacy
    -------
    measure : epsilon-DP, epsilon the result
    adjacency : the one under which S is smooth
    guarantee : exact when two neighbours attain the smoothness and the change

    Parameters
    ----------
    beta : float
        Positive, at most 300.
    scale : float
        Width of the noise for a bound of 1, positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Derived; the log ratio is Harnack's inequality for the half plane, in its sharp form.

    Examples
    --------
    >>> round(cauchy_epsilon(beta=1 / 6, scale=6.0), 4)     # the classic constants for epsilon = 1
    0.2261
    """
    beta, scale = _beta(beta), positive("scale", scale)
    level = 2 * math.asinh(1 / (2 * scale))      # b = 0: cosh = 1 + 1/(2 scale^2)
    half = math.hypot(math.sinh(beta / 2), math.exp(-beta / 2) / (2 * scale))              # cosh d - 1 = 2 sinh(d/2)^2
    return max(level, 2 * math.asinh(half))


def laplace_delta(*, epsilon: float, beta: float, scale: float) -> float:
    """Exact delta of Laplace noise of `scale` times a bound S that is smooth in `beta`.

    With a = 1/scale, the wider law has a loss above epsilon only in its two tails, beyond the distances (epsilon + beta
    -+ a) / (e^beta - 1), in units of its own scale; the excess in each is (1 - e^(-beta)) / 2 times e^(-distance). The
    narrower law's loss is at most max(a, beta + a e^(-beta)), so it has no delta.

    Privacy
    -------
    measure : (epsilon, delta)-DP, delta the result
    adjacency : the one under which S is smooth
    guarantee : exact when two neighbours attain the smoothness and the change

    Parameters
    ----------
    epsilon : float
        At least beta + 1/scale: below, the formula does not hold.
    beta : float
        Positive, at most 300.
    scale : float
        Scale of the noise for a bound of 1, positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Derived.

    Examples
    --------
    >>> beta = smooth_scales(epsilon=1.0, delta=1e-6, method="classic").beta
    >>> f"{laplace_delta(epsilon=1.0, beta=beta, scale=2.0):.2e}"
    '4.06e-09'
    """
    epsilon, beta, scale = non_negative("epsilon", epsilon), _beta(beta), positive("scale", scale)
    if epsilon < (beta + 1 / scale) * (1 - 1e-12):
        raise ValueError(f"epsilon must be at least beta + 1/scale = {beta + 1 / scale!r}, got {epsilon!r}")
    return math.exp(_log_laplace_delta(epsilon, beta, scale))


def smooth_median(
    values: ArrayLike, *, low: float, high: float, epsilon: float, delta: float = 0.0, method: str = "exact",
    rng: Rng = None,
) -> float:
    """The median plus noise in proportion to its smooth sensitivity: Cauchy noise if delta = 0, else Laplace noise.

    The answer may lie outside [low, high]; clipping it is free. Where many values equal the median, the noise may be
    smaller than the last digit of a double: then the answer is the median itself, rounding being free, too.

    Privacy
    -------
    measure : (epsilon, delta)-DP
    adjacency : replace (the number of rows is public)
    guarantee : an upper bound; constants as in `smooth_scales`

    Parameters
    ----------
    values : array, shape (n,)
        At least one; clipped to [low, high], nan to `low`.
    low, high : float
        Public range.
    epsilon : float
        Positive.
    delta : float
        In [0, 1).
    method : {"exact", "classic"}
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `values` is empty or not one-dimensional, or a parameter is out of range.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), sections 2 and 3.1.

    Examples
    --------
    >>> 490 < smooth_median(range(1001), low=0, high=10_000, epsilon=1.0, rng=0) < 510
    True
    """
    beta, scale = smooth_scales(epsilon=epsilon, delta=delta, method=method)
    x, m = _padded(values, low, high)
    rng = generator(rng)
    noise = rng.laplace() if delta else rng.standard_cauchy()
    return float(x[m]) + smooth_sensitivity(values, beta=beta, low=low, high=high) * scale * noise


def median_distance(values: ArrayLike, *, bound: float, low: float, high: float) -> int | float:
    """Number of rows to replace before the median's local sensitivity can exceed `bound`; 0 if it does already.

    Privacy
    -------
    measure : none: this is a property of the private table; it changes by at most 1 between neighbours
    adjacency : replace

    Parameters
    ----------
    values : array, shape (n,)
        At least one; clipped to [low, high].
    bound : float
        Positive.
    low, high : float
        Public range.

    Returns
    -------
    int or inf
        inf if the whole range is no longer than `bound`.

    Raises
    ------
    ValueError
        If `values` is empty or not one-dimensional, or a parameter is out of range.

    References
    ----------
    Dwork and Lei (2009), the distance in propose-test-release; for the median derived from `median_local_sensitivity`.

    Examples
    --------
    >>> median_distance([1, 4, 5, 6, 9], bound=3.0, low=0, high=100)
    1
    """
    (x, m), bound = _padded(values, low, high), positive("bound", bound)
    if x[-1] - x[0] <= bound:
        return math.inf
    few, enough = -1, len(x) - 2                 # after replacing all n rows the gap is the whole range
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _gap(x, m, middle) > bound else (middle, enough)
    return enough


def propose_test_release(
    value: ArrayLike, distance: float, *, bound: float, epsilon: float, delta: float, rng: Rng = None,
) -> Same | None:
    """`value` with noise for the proposed sensitivity `bound`, if a private test finds that the bound holds; else None.

    The test is distance + Lap(1/epsilon) > ln(1/(2 delta))/epsilon. At distance 0 the bound may be false, and the test
    is passed with probability delta (at most 1/2). So of two neighbours at distance 0 each is answered only with
    probability delta: a loss of (0, delta). Otherwise the bound holds at one of them, the value changes by at most
    `bound`, and test and release cost epsilon each: a loss of (2 epsilon, 0).

    Privacy
    -------
    measure : (2 epsilon, delta)-DP for test and release together
    adjacency : the one of `distance`
    guarantee : exact for delta <= exp(-epsilon)/2: both the 2 epsilon and the delta are attained

    Parameters
    ----------
    value : float or array
        The exact answer.
    distance : float
        Rows to change before the local (L1) sensitivity of `value` exceeds `bound`; changes by at most 1 between
        neighbours, and is at least 1 where one row changes the value by at most `bound`.
    bound : float
        Proposed sensitivity, public.
    epsilon : float
        Positive; the cost of each of the two parts.
    delta : float
        In (0, 1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float or array of the shape of `value`, or None

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Dwork and Lei (2009); Dwork and Roth (2014), section 7.2. The threshold is derived.

    Examples
    --------
    >>> ages = [30] * 400
    >>> distance = median_distance(ages, bound=1.0, low=0, high=100)
    >>> answer = propose_test_release(30, distance, bound=1.0, epsilon=1.0, delta=1e-6, rng=0)
    >>> bool(abs(answer - 30) < 15)
    True
    >>> propose_test_release(30, 0, bound=1.0, epsilon=1.0, delta=1e-6, rng=0) is None
    True
    """
    epsilon, bound = positive("epsilon", epsilon), positive("bound", bound)
    delta = probability("delta", delta, zero=False)
    rng = generator(rng)
    distance = float(np.nan_to_num(numbers("distance", distance, ndim=0), nan=0.0, posinf=math.inf, neginf=-math.inf))
    if distance + rng.laplace(scale=1 / epsilon) > max(math.log(1 / (2 * delta)), 0.0) / epsilon:
        return laplace(value, sensitivity=bound, epsilon=epsilon, rng=rng)
    return None


def sample_and_aggregate(
    values: ArrayLike | pd.DataFrame | pd.Series, estimate: Callable, *, blocks: int, low: float, high: float,
    epsilon: float, rng: Rng = None,
) -> float:
    """Mean of an estimate over random blocks of the rows, with noise: one row is in one block, and a block moves the
    mean little.

    Each row draws its block by a coin of its own. So a row more, or another row in its place, leaves all blocks but one
    as they were, and the mean of the clipped estimates moves by at most (high - low) / blocks. Blocks cut by position
    do not have this: one row more shifts all that come after it.

    Privacy
    -------
    measure : epsilon-DP, whatever `estimate` computes
    adjacency : either
    guarantee : exact; `estimate` must look at nothing but its rows, and must answer on all of them: an exception that
        it raises is seen by everybody

    Parameters
    ----------
    values : array or DataFrame
        One row per person.
    estimate : callable
        Takes rows of `values` (one or more, in their order), returns a number; clipped to [low, high], nan to `low`. A
        block without rows counts as the middle of the range.
    blocks : int
        Public, at least 1.
    low, high : float
        Public range of the answer.
    epsilon : float
        Positive.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range, `values` is a single number, or low >= high.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), section 4, for the idea; with the plain mean, Smith (2011).

    Examples
    --------
    >>> ages = np.linspace(20, 60, 20_000)
    >>> 39 < sample_and_aggregate(ages, np.median, blocks=200, low=0, high=100, epsilon=1.0, rng=0) < 41
    True
    """
    blocks, (low, high) = whole("blocks", blocks, least=1), interval(low, high, long=True)
    sensitivity = (high - low) / blocks
    rng, estimate = generator(rng), function("estimate", estimate)
    if not isinstance(values, (pd.DataFrame, pd.Series)):
        values = numbers("values", values)
    if values.ndim == 0:
        raise ValueError("values must be rows, got a single number")
    labels = rng.integers(blocks, size=len(values))
    parts = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=blocks))[:-1])
    rows = values if isinstance(values, np.ndarray) else values.iloc
    answers = [float(estimate(rows[part])) if len(part) else (low + high) / 2 for part in parts]
    return float(
        laplace((clip(answers, low=low, high=high) / blocks).sum(), sensitivity=sensitivity, epsilon=epsilon, rng=rng)
    )


def _padded(values, low, high):
    """low, the sorted values, high; and the index there of the median."""
    low, high = interval(low, high)
    x = increasing(values, low=low, high=high)
    if not len(x):
        raise ValueError("values must hold at least one row")
    return np.concatenate([[low], x, [high]]), (len(x) + 1) // 2


def _gap(x, m, steps):
    """Widest x[i + steps + 1] - x[i] with i <= m <= i + steps + 1; beyond the ends, x is its first or last entry."""
    steps = min(steps, len(x) - 2)               # that many steps reach every row
    start = np.arange(m - steps - 1, m + 1)
    return float((x[np.minimum(start + steps + 1, len(x) - 1)] - x[np.maximum(start, 0)]).max())


def _beta(beta):
    if positive("beta", beta) > 300:
        raise ValueError(f"beta must be at most 300, got {beta!r}")
    return float(beta)


def _log_laplace_delta(epsilon, beta, scale):
    near = (epsilon + beta - 1 / scale) / math.expm1(beta)
    apart = 2 / (scale * math.expm1(beta))       # how much farther the other tail is
    return math.log(-math.expm1(-beta)) - near + math.log1p(math.exp(-apart)) - math.log(2)
