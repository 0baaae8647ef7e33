"""Mechanisms: the private answer to one question.

`laplace`, `geometric` and `gaussian` take the exact answer, the sensitivity of the question and the privacy parameters,
and return a noisy answer of the same shape; `discrete_gaussian` takes the noise itself in their place. Arrays are
treated as one vector-valued answer, with noise drawn for every entry. `exponential` and `report_noisy_max` take a score
for each candidate, and return the index of one.
Randomness comes from `rng`: None (fresh entropy), an int, or a `numpy.random.Generator`.

These are for learning. numpy's generators are not cryptographic, and continuous noise in floating point leaks
through its last bits (Mironov 2012); `geometric` and `discrete_gaussian` work on integers and do not have that leak.
"""
import math

import numpy as np
from scipy.optimize import brentq

from dplib._gaussian import log_delta as log_gaussian_delta
from dplib._types import Array, ArrayLike, Rng, Same
from dplib._validate import (
    LEAST_RATE,
    choice,
    flag,
    generator,
    integers,
    noise_rate,
    non_negative,
    numbers,
    positive,
    probability,
    whole,
)

__all__ = [
    "discrete_gaussian", "exponential", "exponential_pmf", "gaussian", "gaussian_delta", "gaussian_sigma", "geometric",
    "laplace", "report_noisy_max",
]


def laplace(value: ArrayLike, *, sensitivity: float, epsilon: float, rng: Rng = None) -> Same:
    """Laplace mechanism: `value` plus independent Laplace noise of scale sensitivity/epsilon on every entry.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : the one under which `sensitivity` bounds the L1 change of `value`
    guarantee : exact for one number whose change attains the sensitivity (trade-off of Lap(0, b) v Lap(sensitivity, b))

    Parameters
    ----------
    value : float or array
        The exact answer, in the units of the question. What is no number is a nan, and a nan comes out as it is.
    sensitivity : float
        Largest L1 change of `value` between neighbours, same units.
    epsilon : float
        Privacy loss, positive.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float or array of the shape of `value`

    Raises
    ------
    ValueError
        If `sensitivity` or `epsilon` is not positive and finite.

    References
    ----------
    Dwork, McSherry, Nissim and Smith (2006), Proposition 1; Dwork and Roth (2014), Theorem 3.6.

    Examples
    --------
    >>> noisy = laplace([100, 250], sensitivity=1, epsilon=0.5, rng=1)
    >>> noisy.shape
    (2,)
    """
    scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    value = numbers("value", value)
    return _add(
        value, generator(rng).laplace(scale=positive("sensitivity/epsilon", scale), size=value.shape)
    )


def geometric(value: ArrayLike, *, sensitivity: int, epsilon: float, rng: Rng = None) -> Same:
    """Geometric mechanism: integer `value` plus discrete Laplace noise, P(Z = z) = tanh(b/2) exp(-b|z|), b =
    epsilon/sensitivity.

    The noise is the difference of two geometric variables; its variance is 2 q / (1 - q)^2 with q = exp(-b).

    Privacy
    -------
    measure : epsilon-DP
    adjacency : the one under which `sensitivity` bounds the L1 change of `value`
    guarantee : exact for one count whose change attains the sensitivity, except for the rounding of its probabilities:
        the noise is drawn through floats, and its values have no last bits that could leak

    Parameters
    ----------
    value : int or array of int
        The exact counts; what is no whole number counts as 0, and what is beyond 64 bits as the nearest that is not.
    sensitivity : int
        Largest L1 change between neighbours.
    epsilon : float
        Privacy loss, positive.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int or array of int64, of the shape of `value`

    Raises
    ------
    ValueError
        If `value` is of a type of fractions or dates, `sensitivity` not a whole number >= 1, `epsilon` not positive, or
        epsilon/sensitivity below 1e-12.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2009), the geometric mechanism.

    Examples
    --------
    >>> int(geometric(100, sensitivity=1, epsilon=2.0, rng=3)) in range(80, 121)
    True
    """
    value = integers("value", value)
    rate = positive("epsilon", epsilon) / whole("sensitivity", sensitivity, least=1)
    rng, p = generator(rng), -math.expm1(-noise_rate("epsilon/sensitivity", rate))
    return _add(value, rng.geometric(p, value.shape) - rng.geometric(p, value.shape))


def gaussian(
    value: ArrayLike, *, sensitivity: float, sigma: float | None = None, epsilon: float | None = None,
    delta: float | None = None, rng: Rng = None,
) -> Same:
    """Gaussian mechanism: `value` plus independent normal noise on every entry.

    Give either `sigma`, the standard deviation of the noise itself, or `epsilon` and `delta`, from which the
    smallest sufficient sigma is computed (`gaussian_sigma`, analytic).

    Privacy
    -------
    measure : (epsilon, delta)-DP; with `sigma` given, (sensitivity/sigma)-GDP
    adjacency : the one under which `sensitivity` bounds the L2 change of `value`
    guarantee : exact when the change attains the sensitivity

    Parameters
    ----------
    value : float or array
        The exact answer. What is no number is a nan, and a nan comes out as it is.
    sensitivity : float
        Largest L2 change of `value` between neighbours.
    sigma : float, optional
        Standard deviation of the noise, in the units of `value` (not multiplied by the sensitivity).
    epsilon, delta : float, optional
        Privacy parameters, instead of `sigma`.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    float or array of the shape of `value`

    Raises
    ------
    ValueError
        If a parameter is out of range, or if not exactly one of `sigma` and (`epsilon`, `delta`) is given.

    References
    ----------
    Balle and Wang (2018), Theorem 8; Dong, Roth and Su (2022), section 2.

    Examples
    --------
    >>> float(gaussian(10.0, sensitivity=1, sigma=1e-12, rng=0).round(6))
    10.0
    """
    sensitivity = positive("sensitivity", sensitivity)
    if sigma is None:
        if epsilon is None or delta is None:
            raise ValueError("give sigma, or both epsilon and delta")
        sigma = gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity)
    elif epsilon is not None or delta is not None:
        raise ValueError("give sigma, or epsilon and delta, not both")
    value = numbers("value", value)
    return _add(value, generator(rng).normal(scale=positive("sigma", sigma), size=value.shape))


def gaussian_sigma(epsilon: float, *, delta: float, sensitivity: float = 1.0, method: str = "analytic") -> float:
    """Standard deviation that makes the Gaussian mechanism (epsilon, delta)-DP.

    Privacy
    -------
    measure : (epsilon, delta)-DP
    adjacency : the one under which `sensitivity` bounds the L2 change
    guarantee : "analytic" is the smallest sigma that suffices, rounded up: ten digits hold for every epsilon and delta;
        "classic" is sqrt(2 ln(1.25/delta)) sensitivity/epsilon, proved only for epsilon <= 1 and refused above

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1).
    sensitivity : float
        L2 sensitivity.
    method : {"analytic", "classic"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range, method="classic" with epsilon > 1, or sigma is too large for a float.

    References
    ----------
    Balle and Wang (2018), Theorem 8; Dwork and Roth (2014), Theorem A.1.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, delta=1e-5), 6)
    3.730632
    >>> round(gaussian_sigma(1.0, delta=1e-5, method="classic"), 6)
    4.844805
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=False)
    sensitivity = positive("sensitivity", sensitivity)
    if choice("method", method, ("analytic", "classic")) == "classic":
        if epsilon > 1:
            raise ValueError(f"the classic theorem holds for epsilon at most 1, got {epsilon!r}: use method='analytic'")
        return _possible(math.sqrt(2 * (math.log(1.25) - math.log(delta))) / epsilon, sensitivity, epsilon)

    def excess(log_sigma):                       # log of the true delta over the wanted one; decreasing in sigma
        return log_gaussian_delta(math.exp(log_sigma), epsilon) - math.log(delta)

    # delta is below 1/(sigma sqrt(2 pi)), which it has at epsilon = 0
    most = 1e-6 - math.log(delta) - 0.5 * math.log(2 * math.pi)
    centre = 0.5 * math.log(2 * (math.log(2) - math.log(delta))) - math.log(epsilon)
    centre = min(max(centre, -0.5 * (math.log(2) + math.log(epsilon))), most)
    if centre > 708:
        _possible(math.inf, sensitivity, epsilon)
    low, high = centre - 1, min(centre + 1, most)
    while excess(low) < 0:
        low -= 1
    while excess(high) > 0:
        high += 1
    log_sigma = brentq(excess, low, high, xtol=1e-14, rtol=1e-15)
    return _possible(math.exp(log_sigma) * (1 + 1e-12), sensitivity, epsilon)


def _possible(sigma, sensitivity, epsilon):
    """The standard deviation at this sensitivity, if floats can hold it."""
    if sigma * sensitivity == math.inf:
        raise ValueError(f"sensitivity/epsilon must be smaller, got {sensitivity!r}/{epsilon!r}: sigma is no float")
    return sigma * sensitivity


def gaussian_delta(epsilon: float, *, sigma: float, sensitivity: float = 1.0) -> float:
    """Smallest delta for which Gaussian noise is (epsilon, delta)-DP: the inverse question of `gaussian_sigma`.

    Privacy
    -------
    measure : (epsilon, result)-DP
    adjacency : the one under which `sensitivity` holds
    guarantee : exact, for every epsilon; rounded up (ten digits hold where it is above 1e-300), and 0 where it is below
        the smallest double

    Parameters
    ----------
    epsilon : float
        Zero or more.
    sigma : float
        Standard deviation of the noise.
    sensitivity : float
        L2 sensitivity of the answers.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If `epsilon` is negative or another parameter not positive.

    References
    ----------
    Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_delta(1.0, sigma=1.0), 6)
    0.126937
    """
    epsilon, ratio = non_negative("epsilon", epsilon), positive("sigma", sigma) / positive("sensitivity", sensitivity)
    return min(1.0, math.exp(log_gaussian_delta(positive("sigma/sensitivity", ratio), epsilon)) * (1 + 1e-15))


def discrete_gaussian(value: ArrayLike, *, sigma: float, rng: Rng = None) -> Same:
    """Integer `value` plus discrete Gaussian noise, P(Z = z) proportional to exp(-z^2 / (2 sigma^2)) over the integers.

    Sampled by rejection from the discrete Laplace (vectorised); the acceptance test is done in floating point.

    Privacy
    -------
    measure : zCDP with rho = sensitivity^2 / (2 sigma^2) for one integer answer or a vector of L2 sensitivity
        `sensitivity`
    adjacency : the one under which that sensitivity holds
    guarantee : an upper bound; its exact delta differs from the continuous Gaussian's (sigma=1, epsilon=1: .1414 v
        .1269)

    Parameters
    ----------
    value : int or array of int
        The exact counts; what is no whole number counts as 0, and what is beyond 64 bits as the nearest that is not.
    sigma : float
        Parameter of the law; very nearly its standard deviation once sigma >= 1.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int or array of int64, of the shape of `value`

    Raises
    ------
    ValueError
        If `value` is of a type of fractions or dates, or `sigma` is not positive and below 1e12.

    References
    ----------
    Canonne, Kamath and Steinke (2020), Algorithm 3 and Theorem 4.

    Examples
    --------
    >>> abs(int(discrete_gaussian(0, sigma=2.0, rng=5))) < 30
    True
    """
    value, sigma = integers("value", value), positive("sigma", sigma)
    if sigma >= 1 / LEAST_RATE:
        raise ValueError(f"sigma must be below {1 / LEAST_RATE:g}, got {sigma!r}: the noise would not fit into 64 bits")
    sigma = max(sigma, 1e-3)                     # below, the noise is 0 except with a probability that is no double
    rng, t = generator(rng), math.floor(sigma) + 1
    noise, done = np.empty(value.size, dtype=np.int64), 0
    while done < value.size:
        proposal = geometric(
            np.zeros(2 * (value.size - done) + 8, dtype=np.int64), sensitivity=1, epsilon=1 / t, rng=rng
        )
        chance = np.exp(-((np.abs(proposal) - sigma**2 / t) ** 2) / (2 * sigma**2))
        accepted = proposal[rng.random(proposal.size) < chance][: value.size - done]
        noise[done : done + accepted.size] = accepted
        done += accepted.size
    return _add(value, noise.reshape(value.shape))


def exponential(
    scores: ArrayLike, *, sensitivity: float, epsilon: float, monotone: bool = False, size: int | None = None,
    rng: Rng = None,
) -> Same:
    """Exponential mechanism: an index, with probability proportional to exp(epsilon score / (2 sensitivity)).

    Drawn as the largest score plus Gumbel noise, which is the same law and cannot overflow.

    Privacy
    -------
    measure : epsilon-DP for each draw (`size` draws cost `size` times epsilon)
    adjacency : the one under which no score changes by more than `sensitivity`
    guarantee : with monotone=True the factor 2 is dropped; that holds only where all scores move the same way between
        neighbours, such as counts under add/remove

    Parameters
    ----------
    scores : array, shape (k,)
        Larger is better; a nan ranks last.
    sensitivity : float
        Largest change of any one score.
    epsilon : float
        Privacy loss of one draw, positive.
    monotone : bool
        All scores move the same way between neighbours.
    size : int, optional
        Number of independent draws; None for one index.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int, or int array of shape (size,)

    Raises
    ------
    ValueError
        If `scores` is not a non-empty vector or a parameter is out of range.

    References
    ----------
    McSherry and Talwar (2007), Theorem 6; Dwork and Roth (2014), Theorem 3.10.

    Examples
    --------
    >>> exponential([0.0, 0.0, 500.0], sensitivity=1, epsilon=1.0, rng=0)
    2
    """
    logits = _logits(scores, sensitivity, epsilon, monotone)
    return _noisy_argmax(logits, lambda rng, shape: rng.gumbel(size=shape), size, rng)


def exponential_pmf(scores: ArrayLike, *, sensitivity: float, epsilon: float, monotone: bool = False) -> Array:
    """Exact law of `exponential`: the probability of each index.

    Privacy
    -------
    measure : none: this is the law itself, computed from the private scores, and must not be released

    Parameters
    ----------
    scores, sensitivity, epsilon, monotone
        As for `exponential`.

    Returns
    -------
    array, shape (k,), summing to 1

    Raises
    ------
    ValueError
        As `exponential`.

    References
    ----------
    McSherry and Talwar (2007), Definition 2.

    Examples
    --------
    >>> exponential_pmf([0, 0, 2], sensitivity=1, epsilon=1.0).round(3).tolist()
    [0.212, 0.212, 0.576]
    """
    logits = _logits(scores, sensitivity, epsilon, monotone)
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


_NOISE = {
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape),
    "gumbel": lambda rng, shape: rng.gumbel(size=shape),
}


def report_noisy_max(
    scores: ArrayLike, *, sensitivity: float, epsilon: float, noise: str = "exponential", monotone: bool = False,
    size: int | None = None, rng: Rng = None,
) -> Same:
    """Index of the largest score after adding noise of scale 2 sensitivity/epsilon to each (sensitivity/epsilon if
    monotone).

    Privacy
    -------
    measure : epsilon-DP for each draw (`size` draws cost `size` times epsilon)
    adjacency : the one under which no score changes by more than `sensitivity`
    guarantee : only the index is private: the noisy maximum itself must not be released; monotone=True halves the
        noise, which holds only where all scores move the same way between neighbours, such as counts under add/remove

    Parameters
    ----------
    scores : array, shape (k,)
        Larger is better; a nan ranks last.
    sensitivity : float
        Largest change of any one score.
    epsilon : float
        Privacy loss of one draw, positive.
    noise : {"exponential", "laplace", "gumbel"}
        "exponential" is permute-and-flip, "gumbel" the exponential mechanism.
    monotone : bool
        All scores move the same way between neighbours.
    size : int, optional
        Number of independent draws; None for one index.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int, or int array of shape (size,)

    Raises
    ------
    ValueError
        If `scores` is not a non-empty vector or a parameter is out of range.

    References
    ----------
    Dwork and Roth (2014), Claim 3.9; McKenna and Sheldon (2020); Ding et al. (2021).

    Examples
    --------
    >>> report_noisy_max([3.0, 900.0, 1.0], sensitivity=1, epsilon=1.0, rng=0)
    1
    """
    draw = _NOISE[choice("noise", noise, tuple(_NOISE))]
    return _noisy_argmax(_logits(scores, sensitivity, epsilon, monotone), draw, size, rng)


_HUGE = 1e150


def _logits(scores, sensitivity, epsilon, monotone):
    scores = numbers("scores", scores, ndim=1, least=1)
    scores = np.fmin(np.fmax(scores, -_HUGE), _HUGE)     # a private nan ranks last, silently
    step = (1 if flag("monotone", monotone) else 2) * positive("sensitivity", sensitivity)
    factor = positive("epsilon", epsilon) / step
    with np.errstate(over="ignore"):             # measured from the best score, or large scores would swallow the noise
        return (scores - scores.max()) * positive("epsilon/sensitivity", factor)


def _noisy_argmax(logits, draw, size, rng):
    rng = generator(rng)
    if size is None:
        return int(np.argmax(logits + draw(rng, logits.shape)))
    return np.argmax(logits + draw(rng, (whole("size", size, least=0), logits.size)), axis=1)


def _add(value, noise):
    with np.errstate(over="ignore"):             # a private value may be as large as it likes
        return value + noise
