"""Local privacy: everyone adds their own noise, and nobody has to be trusted with the truth."""
import math

import numpy as np

from dplib._validate import positive, whole

__all__ = ["estimate", "randomized_response"]


def randomized_response(values, *, epsilon, k=2, rng=None):
    """Each person reports the own value with probability e^epsilon/(e^epsilon + k - 1), else one of the others, evenly.

    Privacy
    -------
    measure : epsilon-DP for each report, against whoever collects it (local model)
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
        If `values` is not of an integer type, `epsilon` is not positive or k is not a whole number >= 2.

    References
    ----------
    Warner (1965) for k = 2; Kairouz, Oh and Viswanath (2016) for larger k.

    Examples
    --------
    >>> randomized_response([0, 0, 1, 1], epsilon=50.0, rng=0).tolist()
    [0, 0, 1, 1]
    """
    values, k, rng = np.asarray(values), whole("k", k, least=2), np.random.default_rng(rng)
    if not (np.issubdtype(values.dtype, np.integer) or values.dtype == bool):
        raise ValueError(f"values must hold integers, got dtype {values.dtype}")
    values = np.clip(values, np.int64(0), np.int64(k - 1)).astype(np.int64)       # clipped first, or a large uint64 would wrap
    lies = rng.random(values.shape) < _lying(positive("epsilon", epsilon), k)
    return np.where(lies, (values + rng.integers(1, k, values.shape)) % k, values)


def estimate(reports, *, epsilon, k=2):
    """Relative frequency of each value among the people behind the reports of `randomized_response`, with its error.

    Unbiased, hence not forced into [0, 1].

    Privacy
    -------
    measure : none to pay: it looks at the reports only (post-processing)
    adjacency : that of the reports
    guarantee : that of the reports

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
    reports, k = np.asarray(reports), whole("k", k, least=2)
    lie = _lying(positive("epsilon", epsilon), k) / (k - 1)
    if not (np.issubdtype(reports.dtype, np.integer) or reports.dtype == bool) or reports.size == 0:
        raise ValueError(f"reports must be a non-empty array of integers, got dtype {reports.dtype} and shape {reports.shape}")
    if reports.min() < 0 or reports.max() >= k:
        raise ValueError(f"reports must lie in 0..{k - 1}, got {reports.min()}..{reports.max()}")
    truth, gap = 1 - (k - 1) * lie, lie * math.expm1(min(epsilon, 700.0))       # gap is truth - lie, which cancels for small epsilon
    frequencies = (np.bincount(reports.ravel().astype(np.int64), minlength=k) / reports.size - lie) / gap
    inside = np.clip(frequencies, 0, 1)
    variance = (inside * truth * (1 - truth) + (1 - inside) * lie * (1 - lie)) / reports.size
    return frequencies, np.sqrt(variance) / gap


def _lying(epsilon, k):
    """Probability that a report is not the truth."""
    return (k - 1) / (math.exp(min(epsilon, 700.0)) + k - 1)
