"""Inference: what noisy answers say, with the noise and the sample in the error.

Everything here reads printed numbers only, so it is free. An interval is made by turning a test round: it holds the
values that the printed numbers do not contradict. `proportion_interval` and `ratio_interval` do this exactly,
`slope_interval` to first order; `independence_test` plays the release again; `least_squares` combines answers that
overlap.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import bdtr, ndtr, ndtri, stdtrit

from dplib import sensitivity
from dplib._types import Same
from dplib._validate import array, choice, finite, generator, interval, non_negative, numbers, probability, share, whole

__all__ = [
    "Estimate", "independence_test", "least_squares", "line_sums", "noisy_binomial_cdf", "proportion_interval",
    "proportion_test", "ratio_interval", "slope_interval",
]

NOISES = ("geometric", "laplace", "gaussian")
# the binomial law is cut where each tail weighs less than e^-37.5, 6e-17
_FORGOTTEN = 37.5
_MOST, _WIDEST = 10**12, 1e100                   # people, and noise, for which the sums below fit and hold


def noisy_binomial_cdf(y: ArrayLike, *, n: int, p: float, scale: float, noise: str = "geometric") -> Same:
    """P(X + Z <= y) for X binomial(n, p) and independent noise Z: the law of a noisy count of a sample.

    Privacy
    -------
    measure : none to pay: it knows the law of the release and none of its numbers

    Parameters
    ----------
    y : float or array
        Where to evaluate; any shape.
    n : int
        People asked; public.
    p : float
        Share of the population, in [0, 1].
    scale : float
        Of the noise, zero or more: b for "geometric" (discrete Laplace, P(z) proportional to e^(-abs(z)/b); b is
        1/epsilon for a count) and for "laplace"; the standard deviation for "gaussian". 0 means no noise.
    noise : {"geometric", "laplace", "gaussian"}

    Returns
    -------
    float, or array of the shape of `y`
        Exact except for rounding, of about n times 1e-15 at most.

    Raises
    ------
    ValueError
        If `y` is no number or a parameter is out of range.

    References
    ----------
    Awan and Slavkovic (2020) have it for discrete Laplace plus uniform noise.

    Examples
    --------
    >>> round(noisy_binomial_cdf(95, n=500, p=0.19, scale=10.0), 4)
    0.5154
    """
    n, p, scale = whole("n", n, least=1, most=_MOST), share("p", p), non_negative("scale", scale, most=_WIDEST)
    choice("noise", noise, NOISES)
    y = numbers("y", y)
    if np.isnan(y).any():
        raise ValueError("y must hold numbers, and one is a nan")
    # Bernstein's inequality
    reach = _FORGOTTEN / 3 + math.sqrt(_FORGOTTEN**2 / 9 + 2 * _FORGOTTEN * n * p * (1 - p))
    counts = np.arange(max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1)
    upto = bdtr(counts[:-1], n, p)
    law = np.diff(upto, prepend=0.0, append=1.0)
    found = _noise_cdf(y[..., None] - counts, scale, noise) @ law
    return found if found.ndim else float(found)


def proportion_interval(
    noisy: float, *, n: int, scale: float, noise: str = "geometric", confidence: float = 0.95
) -> tuple[float, float]:
    """Confidence interval for the share of a population, from the noisy count of a sample of n.

    The shares p that neither tail contradicts: P_p(Y >= noisy) and P_p(Y <= noisy) are both above (1 - confidence)/2, Y
    being the noisy count. Without noise it is the interval of Clopper and Pearson. Where the printed count is so far
    outside 0..n that noise alone is a surprise, no share is left; then it is the one that is contradicted least, 0 or
    1, a point.

    Privacy
    -------
    measure : none to pay: post-processing of the printed count, with the guarantee of the release

    Parameters
    ----------
    noisy : float
        The count as printed: not rounded up to 0, not clipped to n; whole where the noise is.
    n : int
        People asked, drawn independently of one another from the population; public.
    scale, noise
        As for `noisy_binomial_cdf`.
    confidence : float
        In (0, 1).

    Returns
    -------
    low, high : float
        In [0, 1]. Covers p with probability at least `confidence`, for every p and n.

    Raises
    ------
    ValueError
        If `noisy` is not finite, or not whole with noise that is, or a parameter is out of range.

    References
    ----------
    Clopper and Pearson (1934) without noise; Awan and Slavkovic (2020), who show for a slightly different noise how to
    come out shortest among the unbiased.

    Examples
    --------
    >>> low, high = proportion_interval(109, n=500, scale=10.0)
    >>> round(low, 3), round(high, 3)
    (0.151, 0.289)
    """
    noisy, n, scale = _printed(noisy, noise), whole("n", n, least=1, most=_MOST), non_negative("scale", scale)
    tail = (1 - probability("confidence", confidence, zero=False)) / 2

    def above(p: float) -> float:                # rises with p
        return _at_least(noisy, n, p, scale, noise) - tail

    def below(p: float) -> float:                # falls with p
        return noisy_binomial_cdf(noisy, n=n, p=p, scale=scale, noise=noise) - tail

    return _crossing(above, 0.0, 1.0), _crossing(below, 1.0, 0.0)


def proportion_test(
    noisy: float, *, n: int, p0: float, scale: float, noise: str = "geometric", alternative: str = "two-sided"
) -> float:
    """P-value of the hypothesis that the share of a population is p0, from the noisy count of a sample of n.

    `proportion_interval` holds exactly the p0 whose two-sided p-value is above 1 - confidence, if there is one.

    Privacy
    -------
    measure : none to pay: post-processing of the printed count, with the guarantee of the release

    Parameters
    ----------
    noisy, n
        As for `proportion_interval`.
    p0 : float
        In [0, 1].
    scale, noise
        As for `noisy_binomial_cdf`.
    alternative : {"two-sided", "greater", "less"}
        What is suspected of the share.

    Returns
    -------
    float
        At most alpha with probability at most alpha, if the share is p0. Two-sided: twice the smaller tail, at most 1.

    Raises
    ------
    ValueError
        As `proportion_interval`.

    References
    ----------
    Awan and Slavkovic (2020); discrete Laplace noise plus a uniform number from -1/2 to 1/2, which anyone may add,
    makes their one-sided test, than which no test that is as private has more power.

    Examples
    --------
    >>> round(proportion_test(109, n=500, p0=0.15, scale=10.0, alternative="greater"), 3)
    0.024
    """
    noisy, n, p0, scale = _printed(noisy, noise), whole("n", n, least=1), share("p0", p0), non_negative("scale", scale)
    above, below = _at_least(noisy, n, p0, scale, noise), noisy_binomial_cdf(noisy, n=n, p=p0, scale=scale, noise=noise)
    if choice("alternative", alternative, ("two-sided", "greater", "less")) == "two-sided":
        return min(1.0, 2 * min(above, below))
    return above if alternative == "greater" else below


def ratio_interval(top: float, bottom: float, *, top_scale: float, bottom_scale: float, low: float, high: float,
                   confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval for the ratio of two sums of a table, such as a mean, each printed with Laplace noise of its
    own.

    The ratios r that the two numbers do not contradict: at the truth, top - r * bottom is a sum of two Laplace noises
    whose law is known exactly, however small the bottom is. It is the ratio in *this table*, without the error of a
    sample. Where the bottom may be zero, everything from low to high may be left: then the numbers say nothing. If
    every ratio in the range is contradicted it is the one that is contradicted least, a point.

    Privacy
    -------
    measure : none to pay: post-processing of the two printed numbers, with the guarantee of the release

    Parameters
    ----------
    top, bottom : float
        The two sums as printed, say of clipped values and of people; their noises independent.
    top_scale, bottom_scale : float
        Scales b of the Laplace noises, zero or more.
    low, high : float
        Public bounds of the ratio, such as the ends to which values were clipped.
    confidence : float
        In (0, 1).

    Returns
    -------
    low, high : float
        The smallest interval that holds all ratios that are not contradicted. They are themselves an interval where top
        and bottom are positive and `low` is not negative. It covers with probability `confidence` at least.

    Raises
    ------
    ValueError
        If a number is not finite or a parameter is out of range.

    References
    ----------
    The idea is Fieller's (1954), for normal errors; the law is derived in the section.

    Examples
    --------
    >>> low, high = ratio_interval(2_270_000, 3830, top_scale=60_000, bottom_scale=20, low=0, high=3000)
    >>> round(low), round(high)
    (545, 640)
    """
    top, bottom, (low, high) = finite("top", top), finite("bottom", bottom), interval(low, high)
    a, b = non_negative("top_scale", top_scale), non_negative("bottom_scale", bottom_scale)
    alpha = 1 - probability("confidence", confidence, zero=False)

    def excess(r: float) -> float:
        return _two_laplace_tail(abs(top - r * bottom), a, abs(r) * b) - alpha

    # left and right of the best ratio the fit gets worse, and beyond zero perhaps better again: one crossing on each
    # side
    best = min(max(top / bottom, low), high) if bottom else low
    best = max((best, low, high), key=excess)
    if excess(best) <= 0:
        return best, best
    return _crossing(excess, low, best), _crossing(excess, high, best)


class Estimate(NamedTuple):
    """What `least_squares` found: the estimates, shape (k,), and their covariance by the noise alone, shape (k, k)."""

    value: np.ndarray
    covariance: np.ndarray


def least_squares(design: ArrayLike, answers: ArrayLike, *, variances: ArrayLike) -> Estimate:
    """The numbers behind noisy answers that overlap, by weighted least squares.

    Among all estimates that are linear in the answers and unbiased it has the smallest variance, for each number and
    for each sum of them (Gauss and Markov), whatever the law of the noise. The answers must be as they were noised: an
    answer that was rounded up to zero is no longer unbiased.

    Privacy
    -------
    measure : none to pay: post-processing of the printed answers, with the guarantee of the release

    Parameters
    ----------
    design : array, shape (m, k)
        Row i says of which numbers answer i is the sum: 1 for those in it, 0 for the others (or any public weights).
    answers : array, shape (m,)
        The noisy answers, their noises independent.
    variances : array, shape (m,)
        Of the noises, positive: 2 b^2 for Laplace noise of scale b.

    Returns
    -------
    Estimate
        `value`, shape (k,), and `covariance`, shape (k, k); a sum w @ value has the variance w @ covariance @ w.

    Raises
    ------
    ValueError
        If shapes do not fit, something is not finite, a variance is not positive or the answers do not determine the
        numbers.

    References
    ----------
    Aitken's form of the Gauss-Markov theorem, proved in the section; for trees of counts Hay, Rastogi, Miklau and Suciu
    (2010).

    Examples
    --------
    >>> both = least_squares([[1, 0], [0, 1], [1, 1]], [40, 52, 98], variances=[2, 2, 2])
    >>> both.value.round(9).tolist(), both.covariance.round(2).tolist()
    ([42.0, 54.0], [[1.33, -0.67], [-0.67, 1.33]])
    """
    design = array("design", design, ndim=2, least=1)
    answers, variances = array("answers", answers, ndim=1), array("variances", variances, ndim=1)
    for name, given in (("answers", answers), ("variances", variances)):
        if len(given) != len(design):
            raise ValueError(f"{name} must have a number for each row of design, {len(design)}, got {len(given)}")
    if variances.min() <= 0:
        raise ValueError("variances must be positive, and one is not")
    weights = 1 / np.sqrt(variances)
    left, sizes, right = np.linalg.svd(design * weights[:, None], full_matrices=False)
    if len(design) < design.shape[1] or sizes[-1] <= 1e-12 * sizes[0]:
        raise ValueError(
            f"answers must determine the numbers, got a design of rank {np.linalg.matrix_rank(design)} for "
            f"{design.shape[1]} numbers"
        )
    solve = right.T / sizes
    return Estimate(solve @ (left.T @ (answers * weights)), solve @ solve.T)


def independence_test(noisy: ArrayLike, *, scale: float, noise: str = "geometric", rounds: int = 999,
                      rng: np.random.Generator | int | None = None) -> float:
    """P-value of the hypothesis that rows and columns of a noisy table of counts have nothing to do with each other.

    The release is played again `rounds` times in a world without a relation, with the margins that the table suggests:
    a sample is drawn, the noise put on. The statistic is the sum of (count - expected)^2/(expected + v), v being the
    variance of the noise: a plain chi-square divides by too little. Its null law is simulated from estimated margins,
    so the level is not exact; it is near (shown in the section, by simulation), and with few people the test is too
    careful.

    Privacy
    -------
    measure : none to pay: post-processing of the printed table, with the guarantee of the release

    Parameters
    ----------
    noisy : array, shape (r, c)
        The counts as printed, at least two rows and two columns; they may be negative.
    scale, noise
        Of the noise in each cell, as for `noisy_binomial_cdf`; independent from cell to cell.
    rounds : int
        Replays; the p-value is a multiple of 1/(rounds + 1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float
        In (0, 1].

    Raises
    ------
    ValueError
        If `noisy` is no table of finite numbers with two rows and two columns, or a parameter is out of range.

    References
    ----------
    Gaboardi, Lim, Rogers and Vadhan (2016) for the replay; Rogers and Kifer (2017) put the noise into the statistic
    too.

    Examples
    --------
    >>> independence_test([[310, 190], [290, 210]], scale=1.0, rng=1) > 0.05
    True
    >>> independence_test([[350, 150], [250, 250]], scale=1.0, rng=1)
    0.001
    """
    noisy, rng = array("noisy", noisy, ndim=2, least=1), generator(rng)
    scale, rounds = non_negative("scale", scale, most=_WIDEST), whole("rounds", rounds, least=1)
    if min(noisy.shape) < 2:
        raise ValueError(f"noisy must have at least two rows and two columns, got shape {noisy.shape}")
    draw, variance = _replay(choice("noise", noise, NOISES), scale)
    people = max(round(noisy.sum()), 1)
    rows, columns = (np.maximum(noisy.sum(axis=axis), 0.5) for axis in (1, 0))
    law = np.outer(rows / rows.sum(), columns / columns.sum())
    played = rng.multinomial(people, law.ravel(), rounds).reshape(rounds, *noisy.shape)
    played = played + draw(rng, played.shape)
    extreme = np.count_nonzero(_dependence(played, variance) >= _dependence(noisy, variance) * (1 - 1e-12))
    return (1 + int(extreme)) / (1 + rounds)


def line_sums(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """The six sums that hold all that a regression of y on x needs: n, and the sums of x, x^2, y, xy and y^2.

    Private: put noise on them. Values outside [-1, 1] are clipped, and a nan counts as -1, so one person moves them by
    at most sqrt(6) in L2 and 6 in L1, and adding `mechanisms.gaussian(..., sensitivity=math.sqrt(6))` makes the release
    that `slope_interval` reads.

    Privacy
    -------
    measure : none: these are exact sums of the data
    adjacency : add/remove one person with one row: sensitivity sqrt(6) in L2, attained at a corner

    Parameters
    ----------
    x, y : array, shape (n,)
        Scaled to [-1, 1] with public bounds.

    Returns
    -------
    array, shape (6,)

    Raises
    ------
    ValueError
        If x and y are not two vectors of one length. An empty table gives zeros.

    References
    ----------
    Derived: 1 + x^2 + x^4 + y^2 + x^2 y^2 + y^4 <= 6.

    Examples
    --------
    >>> line_sums([0.0, 1.0], [0.5, 1.0]).tolist()
    [2.0, 1.0, 1.0, 1.5, 1.0, 1.25]
    """
    x, y = numbers("x", x, ndim=1), numbers("y", y, ndim=1)
    if x.shape != y.shape:
        raise ValueError(f"x and y must be vectors of one length, got shapes {x.shape} and {y.shape}")
    x, y = sensitivity.clip(x, low=-1.0, high=1.0), sensitivity.clip(y, low=-1.0, high=1.0)
    return np.array([len(x), x.sum(), (x * x).sum(), y.sum(), (x * y).sum(), (y * y).sum()])


def slope_interval(
    sums: ArrayLike, *, sigma: float, target: str = "table", confidence: float = 0.95
) -> tuple[float, float]:
    """Confidence interval for the slope of a line, from the six sums of `line_sums` with Gaussian noise on each.

    A slope b is kept if C_xy - b C_xx, which is zero at the table's slope except for noise, is not too large for its
    own standard deviation; C are the centred sums. To first order in noise/n: printed means stand for the true ones.

    Privacy
    -------
    measure : none to pay: post-processing of the printed sums, with the guarantee of the release

    Parameters
    ----------
    sums : array, shape (6,)
        As printed.
    sigma : float
        Standard deviation of the noise in each, zero or more.
    target : {"table", "population"}
        The least-squares slope of the people in the table, or that of the population they were drawn from. The second
        adds the textbook's error of a sample, for which deviations from the line must spread alike along it.
    confidence : float
        In (0, 1).

    Returns
    -------
    low, high : float
        -inf and inf where the spread of x, or the number of people, could be noise: then the sums say nothing; also
        for two people or fewer.

    Raises
    ------
    ValueError
        If `sums` is not six finite numbers or a parameter is out of range.

    References
    ----------
    Fieller (1954) for the form; the variance is derived in the section.

    Examples
    --------
    >>> low, high = slope_interval([1000, 50, 400, 100, 210, 300], sigma=10.0)
    >>> round(low, 2), round(high, 2)
    (0.46, 0.57)
    """
    sums, sigma = array("sums", sums, ndim=1), non_negative("sigma", sigma, most=_WIDEST)
    choice("target", target, ("table", "population"))
    level = (1 + probability("confidence", confidence, zero=False)) / 2
    if sums.shape != (6,):
        raise ValueError(f"sums must be six finite numbers, got shape {sums.shape}")
    n, c_xx, c_xy, c_yy, x, y = _centred(sums)
    z = float(ndtri(level) if target == "table" or n <= 2 else stdtrit(n - 2, level))
    # variance of C_xy - b C_xx: v_yy - 2 b v_xy + b^2 v_xx, of the noise, and of the sample
    v_yy = sigma**2 * (1 + x**2) * (1 + y**2)
    v_xy = sigma**2 * x * y * (2 + x**2)
    v_xx = sigma**2 * (1 + 4 * x**2 + x**4)
    if n <= max(z * sigma, 2) or c_xx <= z * math.sqrt(v_xx):
        return -math.inf, math.inf
    if target == "population":
        v_yy += max(c_yy - c_xy**2 / c_xx, 0.0) / (n - 2) * c_xx
    square, middle, constant = c_xx**2 - z**2 * v_xx, c_xy * c_xx - z**2 * v_xy, c_xy**2 - z**2 * v_yy
    half = math.sqrt(max(middle**2 - square * constant, 0.0))
    return (middle - half) / square, (middle + half) / square


def _centred(sums: np.ndarray) -> tuple[float, float, float, float, float, float]:
    """Number of people, sums of squares and products about the means, and the means, which lie in [-1, 1]."""
    n, s_x, s_xx, s_y, s_xy, s_yy = (float(s) for s in sums)
    if n <= 0:
        return n, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y = min(max(s_x / n, -1.0), 1.0), min(max(s_y / n, -1.0), 1.0)
    return n, s_xx - 2 * x * s_x + n * x**2, s_xy - x * s_y - y * s_x + n * x * y, s_yy - 2 * y * s_y + n * y**2, x, y


def _dependence(tables: np.ndarray, variance: float) -> np.ndarray:
    """Sum of (count - expected)^2/(expected + variance of the noise) of each table."""
    rows, columns = (np.maximum(tables.sum(axis=axis, keepdims=True), 0.0) for axis in (-1, -2))
    expected = rows * columns / np.maximum(tables.sum(axis=(-1, -2), keepdims=True), 1.0)
    return ((tables - expected) ** 2 / np.maximum(expected + variance, 1e-9)).sum(axis=(-1, -2))


def _replay(noise: str, scale: float) -> tuple[Callable, float]:
    """A function that draws the noise, and its variance."""
    if scale == 0:
        return lambda rng, shape: 0.0, 0.0
    if noise == "geometric":
        p = -math.expm1(-1 / scale)
        return lambda rng, shape: rng.geometric(p, shape) - rng.geometric(p, shape), 2 * (1 - p) / p**2
    if noise == "laplace":
        return lambda rng, shape: rng.laplace(scale=scale, size=shape), 2 * scale**2
    return lambda rng, shape: rng.normal(scale=scale, size=shape), scale**2


def _noise_cdf(x: np.ndarray, scale: float, noise: str) -> np.ndarray:
    """P(Z <= x)."""
    if scale < 1e-100:
        return (x >= 0).astype(float)
    if noise == "gaussian":
        return ndtr(x / scale)
    if noise == "geometric":
        x, q = np.floor(x), math.exp(-1 / scale)
        beyond = np.exp(-np.abs(x) / scale) / (1 + q)
        return np.where(x < 0, beyond, 1 - q * beyond)
    beyond = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x < 0, beyond, 1 - beyond)


def _at_least(noisy: float, n: int, p: float, scale: float, noise: str) -> float:
    """P(Y >= noisy), by symmetry: n - Y is the noisy count of the others."""
    return noisy_binomial_cdf(n - noisy, n=n, p=1 - p, scale=scale, noise=noise)


def _two_laplace_tail(t: float, a: float, b: float) -> float:
    """P(|A + B| >= t) for independent Laplace noises of scales a and b."""
    small, big = sorted((a, b))
    if big == 0:
        return float(t == 0)
    if small == 0:
        return math.exp(-t / big)
    gap = 1 - small / big
    if gap < 1e-5:                               # the limit, for the geometric mean of the scales
        m = math.sqrt(small * big)
        return math.exp(-t / m) * (1 + t / (2 * m))
    return (math.exp(-t / big) - (1 - gap) ** 2 * math.exp(-t / small)) / (gap * (2 - gap))


def _crossing(function: Callable, start: float, end: float) -> float:
    """Where an increasing (from start to end) function becomes positive: start if it is so there, end if it never does.
    """
    if function(start) > 0:
        return start
    if function(end) <= 0:
        return end
    return float(brentq(function, start, end, xtol=1e-14 * max(abs(start), abs(end), 1.0), rtol=1e-14))


def _printed(noisy: float, noise: str) -> float:
    noisy = finite("noisy", noisy)
    if choice("noise", noise, NOISES) == "geometric" and noisy != round(noisy):
        raise ValueError(f"noisy must be a whole number where the noise is, got {noisy!r}")
    return noisy
