"""The exact law of what the technique says, so that a claim about its privacy loss can be computed and not only
believed.
"""
import numpy as np
from scipy.special import logsumexp

from dplib._types import Array, ArrayLike, Same
from dplib._validate import array, finite, non_negative, numbers, positive, shown
from dplib.svt.mechanism import Scales, scales  # noqa: F401  (scales for the examples)

__all__ = ["index_pmf", "log_laplace_cdf", "log_probability"]


def log_probability(
    outcome: ArrayLike, answers: ArrayLike, *, threshold: float, noise: Scales, values: ArrayLike | None = None,
) -> float:
    """Exact log-probability of one sequence of replies, by quadrature over the noisy threshold.

    Given the noisy threshold t the replies are independent, so the probability is the integral over t of the Laplace
    density times one Laplace distribution function per reply. Both are smooth between the points where an absolute
    value has its corner; Gauss-Legendre on pieces cut there gives about ten digits, in log space.

    Privacy
    -------
    measure : none: this describes the mechanism, and is computed from exact answers
    guarantee : the difference of two such numbers for neighbouring answers is a privacy loss

    Parameters
    ----------
    outcome : sequence of 0/1 (or of bool)
        The replies, 1 for "passes"; at most as many as `answers`.
    answers : array, shape (k,)
        Exact answers; those beyond the last reply do not matter.
    threshold : float
    noise : Scales
        From `scales`, or any (threshold, query, value) to study a mechanism that is wrong; a scale of 0 is no noise.
    values : array, optional
        For a mechanism that publishes the noisy answers that passed: these values, one for each 1 in `outcome`. The
        result is then a log-density in them.

    Returns
    -------
    float
        -inf for an impossible outcome.

    Raises
    ------
    ValueError
        If there are more replies than answers, `answers` is not a vector of finite numbers, a scale is negative,
        `values` are given without noise on both threshold and answers, or the answers span too many of the scales.

    References
    ----------
    The law of Algorithm 1 in Lyu, Su and Li (2017).

    Examples
    --------
    >>> round(float(np.exp(log_probability([0, 1], [0, 0], threshold=0.0, noise=scales(1.0)))), 6)
    0.208333
    """
    passed = as_replies(outcome)
    answers = array("answers", answers, ndim=1)
    if passed.size > answers.size:
        raise ValueError(f"outcome has {passed.size} replies, but there are only {answers.size} answers")
    answers, threshold = answers[: passed.size], finite("threshold", threshold)
    b1, b2 = (non_negative(f"noise.{part}", _scale(noise, part)) for part in ("threshold", "query"))
    if values is not None:
        return _log_density(passed, answers, threshold, b1, b2, array("values", values, ndim=1))
    if b2 == 0:                                  # the noisy threshold must lie above every No and not above any Yes
        low, high = max(answers[~passed], default=-np.inf), min(answers[passed], default=np.inf)
        if b1 == 0:
            return 0.0 if low < threshold <= high else -np.inf
        return _log_interval(low, high, threshold, b1)
    if b1 == 0:
        return float(log_laplace_cdf(np.where(passed, answers - threshold, threshold - answers) / b2).sum())
    # equal ones count together
    replies, repeats = np.unique(np.column_stack([answers, passed]), axis=0, return_counts=True)
    t, total = _nodes(replies[:, 0], threshold, b1, b2)
    for (answer, yes), times in zip(replies, repeats):
        total = total + times * log_laplace_cdf((answer - t if yes else t - answer) / b2)
    return float(logsumexp(total))


def as_replies(outcome: ArrayLike) -> Array:
    """The replies as booleans; ValueError unless they are a vector of 0 and 1."""
    found = array("outcome", outcome, ndim=1)
    if not np.isin(found, (0, 1)).all():
        raise ValueError("outcome must hold only 0 and 1")
    return found == 1


def _scale(noise, part):
    if not hasattr(noise, part):
        raise ValueError(f"noise must be the scales that svt.scales returns, got {shown(noise)}")
    return getattr(noise, part)


def _log_density(outcome, answers, threshold, b1, b2, values):
    """Each published value must not lie below the noisy threshold; its density does not depend on it otherwise."""
    if values.size != outcome.sum():
        raise ValueError(f"outcome has {outcome.sum()} positive replies, but there are {values.size} values")
    b1, b2 = positive("noise.threshold", b1), positive("noise.query", b2)
    silent, repeats = np.unique(answers[~outcome], return_counts=True)
    t, total = _nodes(np.append(silent, values), threshold, b1, b2)
    for answer, times in zip(silent, repeats):
        total = total + times * log_laplace_cdf((t - answer) / b2)
    total = np.where(t <= values.min(initial=np.inf), total, -np.inf)
    return float(logsumexp(total)) - float((np.abs(values - answers[outcome]) / b2 + np.log(2 * b2)).sum())


def _log_interval(low, high, centre, scale):
    """log P(low < centre + Lap(scale) <= high), accurate in both tails and for intervals of any width."""
    if not low < high:
        return -np.inf
    gap, low, high = high - low, (low - centre) / scale, (high - centre) / scale
    if low > 0:                                  # by symmetry, where the distribution function is small
        low, high = -high, -low
    # density times width: the ends may be the same number after the division
    if gap / scale < 1e-12:
        return float(np.log(gap) - np.log(2 * scale) + min(high, 0.0))
    if high <= 0:
        return float(high - np.log(2) + np.log(-np.expm1(-gap / scale)))
    return float(np.log((-np.expm1(-high) - np.expm1(low)) / 2))


def index_pmf(answers: ArrayLike, *, threshold: float, noise: Scales) -> Array:
    """Exact law of the first positive reply: the probability of each index, and last that of none.

    Privacy
    -------
    measure : none: this describes the mechanism, and is computed from exact answers

    Parameters
    ----------
    answers : array, shape (k,)
    threshold : float
    noise : Scales

    Returns
    -------
    array, shape (k + 1,), summing to 1

    Raises
    ------
    ValueError
        If `answers` is not a vector of finite numbers, a scale is not positive, or the answers span too many of them.

    References
    ----------
    As `log_probability`.

    Examples
    --------
    >>> index_pmf([0, 1, 2], threshold=1.0, noise=scales(1.0)).round(4).tolist()
    [0.4181, 0.2505, 0.15, 0.1813]
    """
    answers = array("answers", answers, ndim=1)
    b1, b2 = (positive(f"noise.{part}", _scale(noise, part)) for part in ("threshold", "query"))
    t, log_weight = _nodes(answers, finite("threshold", threshold), b1, b2)
    silent, law = np.exp(log_weight), np.empty(answers.size + 1)
    for i, answer in enumerate(answers):
        x = (t - answer) / b2
        tail = 0.5 * np.exp(-np.abs(x))
        law[i] = silent @ np.where(x < 0, 1 - tail, tail)
        silent = silent * np.where(x < 0, tail, 1 - tail)
    law[-1] = silent.sum()
    return law


_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _nodes(answers, threshold, b1, b2):
    """Quadrature nodes for the noisy threshold, and the logs of weight times Laplace density."""
    corners = np.unique(np.append(answers, threshold))
    reach = 45 * max(b1, b2)
    cuts = np.concatenate([[corners[0] - reach], corners, [corners[-1] + reach]])
    pieces = np.ceil(np.diff(cuts) / min(b1, b2))
    if pieces.sum() > 100_000:
        raise ValueError(
            f"answers, threshold and noise (epsilon, c) differ too much for the quadrature: they span "
            f"{pieces.sum():.3g} times the smallest scale"
        )
    edges = np.concatenate(
        [np.linspace(a, b, int(n), endpoint=False) for a, b, n in zip(cuts[:-1], cuts[1:], pieces)] + [cuts[-1:]]
    )
    width = np.diff(edges)[:, None]              # never 0, but half of it can be
    t = (edges[:-1, None] + width * ((_POINTS + 1) / 2)).ravel()
    return t, (np.log(width) + np.log(_WEIGHTS / 2)).ravel() - np.abs(t - threshold) / b1 - np.log(2 * b1)


def log_laplace_cdf(x: float | Array) -> Same:
    """Log of the distribution function of Lap(1), accurate in both tails.

    The reply "No" to `answer` at noisy threshold t, with noise of scale b, has log-probability
    log_laplace_cdf((t - answer) / b), and "Yes" has log_laplace_cdf((answer - t) / b).

    Privacy
    -------
    measure : none: a function of numbers

    Parameters
    ----------
    x : float or array

    Returns
    -------
    float or array of the shape of `x`

    Raises
    ------
    TypeError
        If `x` does not hold numbers.

    References
    ----------
    The closed form: e^x/2 below 0, 1 - e^-x/2 above.

    Examples
    --------
    >>> log_laplace_cdf(np.array([-1000.0, 0.0])).round(4).tolist()
    [-1000.6931, -0.6931]
    """
    x = numbers("x", x)
    return np.where(x < 0, np.minimum(x, 0) - np.log(2), np.log1p(-0.5 * np.exp(-np.maximum(x, 0))))[()]
