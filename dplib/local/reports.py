"""One value of each person, reported once: randomized response, and one bit for each possible value."""
import math

import numpy as np
from scipy.special import expit

from dplib._types import Array, ArrayLike, Rng
from dplib._validate import bits, choice, generator, integers, positive, whole, whole_array

__all__ = ["estimate", "estimate_unary", "randomized_response", "unary"]

_LEAST = 1e-300                                  # of epsilon, where reports say anything that a double can hold


def randomized_response(values: ArrayLike, *, epsilon: float, k: int = 2, rng: Rng = None) -> Array:
    """Each person reports the own value with probability e^epsilon/(e^epsilon + k - 1), else one of the others, evenly.

    Privacy
    -------
    measure : epsilon-DP for each report, against anyone who collects it (local model)
    adjacency : replace: one person's value for another
    guarantee : exact: the likelihood ratio of a report is e^epsilon or e^-epsilon or 1

    Parameters
    ----------
    values : array of int
        The true values, 0 to k - 1; one beyond is moved to the nearest of the two ends.
    epsilon : float
        Privacy loss of one report, positive.
    k : int
        Number of possible values, at least 2.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int array of the shape of `values`

    Raises
    ------
    ValueError
        If `values` is of a type of fractions or dates, `epsilon` is not positive or k is not a whole number >= 2.

    References
    ----------
    Warner (1965) for k = 2; Kairouz, Oh and Viswanath (2016) for larger k.

    Examples
    --------
    >>> randomized_response([0, 0, 1, 1], epsilon=50.0, rng=0).tolist()
    [0, 0, 1, 1]
    """
    values, k, rng = integers("values", values), whole("k", k, least=2), generator(rng)
    values = np.clip(values, 0, k - 1)
    lies = rng.random(values.shape) < _lying(positive("epsilon", epsilon), k)
    return np.where(lies, (values + rng.integers(1, k, values.shape)) % k, values)


def estimate(reports: ArrayLike, *, epsilon: float, k: int = 2) -> tuple[Array, Array]:
    """Relative frequency of each value among the people behind the reports of `randomized_response`, with its error.

    Unbiased, hence not forced into [0, 1].

    Privacy
    -------
    measure : none to pay: post-processing of the reports, with the guarantee of the reports

    Parameters
    ----------
    reports : array of int
        Each 0 to k - 1; at least one.
    epsilon, k
        As given to `randomized_response`.

    Returns
    -------
    frequencies, stderr : float arrays, shape (k,)
        The estimates and their standard errors, the people being fixed and only their coins random.

    Raises
    ------
    ValueError
        If there is no report, a report is not a whole number in 0..k-1 or a parameter is out of range.

    References
    ----------
    Warner (1965); Wang, Blocki, Li and Jha (2017), section 4, for k > 2.

    Examples
    --------
    >>> frequencies, stderr = estimate([1] * 600 + [0] * 400, epsilon=1.0)
    >>> frequencies.round(3).tolist(), stderr.round(3).tolist()
    ([0.284, 0.716], [0.03, 0.03])
    """
    k = whole("k", k, least=2)
    reports = whole_array("reports", reports, least=1, high=k - 1, low=0)
    epsilon = positive("epsilon", epsilon, least=_LEAST)
    lie = _lying(epsilon, k) / (k - 1)
    # gap is truth - lie, which cancels for small epsilon
    truth, gap = 1 - (k - 1) * lie, lie * math.expm1(min(epsilon, 700.0))
    frequencies = (np.bincount(reports.ravel(), minlength=k) / reports.size - lie) / gap
    inside = np.clip(frequencies, 0, 1)
    variance = (inside * truth * (1 - truth) + (1 - inside) * lie * (1 - lie)) / reports.size
    return frequencies, np.sqrt(variance) / gap


def unary(values: ArrayLike, *, epsilon: float, k: int, method: str = "optimized", rng: Rng = None) -> Array:
    """Each person writes the own value as k bits, a single one among zeros, and reports every bit through a coin of its
    own.

    "optimized" keeps the one with probability 1/2 and turns a zero into a one with probability 1/(e^epsilon + 1).
    "symmetric" keeps every bit with probability e^(epsilon/2)/(e^(epsilon/2) + 1); this is basic RAPPOR asked once.
    The error of "optimized" does not grow with k: for the frequency of a rare value it is below that of
    `randomized_response` as soon as k > 3 e^epsilon + 2.

    Privacy
    -------
    measure : epsilon-DP for each report, against anyone who collects it (local model)
    adjacency : replace: one person's value for another, which changes two of the bits
    guarantee : exact: the two bits together have likelihood ratios between e^-epsilon and e^epsilon, and reach both

    Parameters
    ----------
    values : array of int
        The true values, 0 to k - 1; one beyond is moved to the nearest of the two ends.
    epsilon : float
        Privacy loss of one report, positive.
    k : int
        Number of possible values, at least 2.
    method : {"optimized", "symmetric"}
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array of 0 and 1 (uint8), of the shape of `values` and one more axis of length k

    Raises
    ------
    ValueError
        If `values` is of a type of fractions or dates, `method` is unknown, `epsilon` is not positive or k is not a
        whole number >= 2.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), section 4 (optimized); Erlingsson, Pihur and Korolova (2014) (symmetric).

    Examples
    --------
    >>> unary([0, 2], epsilon=50.0, k=3, method="symmetric", rng=0).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    values, k = integers("values", values), whole("k", k, least=2)
    truth, lie, _ = _unary_rates(epsilon, method)
    # how many of 1, ..., k - 1 the value reaches
    moved = np.searchsorted(np.arange(1, k), values, side="right")
    return flip(moved[..., None] == np.arange(k), truth, lie, rng)


def estimate_unary(reports: ArrayLike, *, epsilon: float, method: str = "optimized") -> tuple[Array, Array]:
    """Relative frequency of each value among the people behind the reports of `unary`, with its error.

    Unbiased, hence not forced into [0, 1]; unlike those of `estimate` the frequencies need not sum to 1.

    Privacy
    -------
    measure : none to pay: post-processing of the reports, with the guarantee of the reports

    Parameters
    ----------
    reports : array of 0 and 1, shape (n, k)
        One row for each person; at least one.
    epsilon, method
        As given to `unary`.

    Returns
    -------
    frequencies, stderr : float arrays, shape (k,)
        The estimates and their standard errors, the people being fixed and only their coins random.

    Raises
    ------
    ValueError
        If `reports` is not a table of 0 and 1 with at least one row and two columns or a parameter is out of range.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), section 4: the variance of a rare value is 4 e^epsilon/(n (e^epsilon - 1)^2) for
    "optimized".

    Examples
    --------
    >>> frequencies, stderr = estimate_unary([[1, 0]] * 300 + [[0, 1]] * 200 + [[0, 0]] * 500, epsilon=2.0)
    >>> frequencies.round(3).tolist(), stderr.round(3).tolist()
    ([0.475, 0.212], [0.035, 0.031])
    """
    reports = bits("reports", reports)
    if reports.shape[1] < 2:
        raise ValueError(f"reports must have at least two columns, got shape {reports.shape}")
    truth, lie, gap = _unary_rates(positive("epsilon", epsilon, least=_LEAST), method)
    frequencies = (reports.mean(axis=0) - lie) / gap
    inside = np.clip(frequencies, 0, 1)
    return frequencies, np.sqrt(
        (inside * (truth * (1 - truth) - lie * (1 - lie)) + lie * (1 - lie)) / len(reports)
    ) / gap


def _lying(epsilon, k):
    """Probability that a report is not the truth."""
    return (k - 1) / (math.exp(min(epsilon, 700.0)) + k - 1)


def _unary_rates(epsilon, method):
    """Chance that a one is reported as a one, that a zero is, and the difference, which would cancel for small epsilon.
    """
    epsilon = positive("epsilon", epsilon)
    if choice("method", method, ("optimized", "symmetric")) == "optimized":
        return 0.5, float(expit(-epsilon)), math.tanh(epsilon / 2) / 2
    return float(expit(epsilon / 2)), float(expit(-epsilon / 2)), math.tanh(epsilon / 4)


def flip(ones, truth, lie, rng):
    """Reports of bits: a one with probability `truth` where the bit is set and `lie` where it is not."""
    return (generator(rng).random(ones.shape) < np.where(ones, truth, lie)).astype(np.uint8)
