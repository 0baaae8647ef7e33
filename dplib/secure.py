"""Sums that nobody may see the parts of, with noise that nobody knows: secret shares, and noise in parts.

Everybody splits a number into shares that say nothing one by one, and adds a part of the noise. Anyone who sees all but
one of the servers sees uniform numbers; anyone who knows some of the parts knows that much of the noise, and
`collusion_epsilon` says what is left of the promise.

A teaching version: numpy's generators can be predicted, and a real protocol has to agree on keys, to survive servers
that stop, and to refuse a person who sends a million.
"""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dplib._types import ArrayLike, Rng
from dplib._validate import generator, integers, noise_rate, numbers, positive, whole

__all__ = ["MODULUS", "collusion_epsilon", "join", "laplace_share", "shared_pmf", "split"]

MODULUS = 2**32
_LEAST_RATE = 1e-5                               # of a law that is summed up term by term
_LEAST_SHARE = 1e-300                            # honest parties: 1/honest must be a number
_MOST = 2**53                                    # whole numbers that floats hold


def split(values: ArrayLike, *, servers: int, rng: Rng = None) -> NDArray[np.int64]:
    """Additive shares of whole numbers modulo 2^32: all but the last are uniform, and the last makes the sum right.

    Privacy
    -------
    measure : none is needed: any servers - 1 of the shares of a number are independent and uniform, whatever the number
        is
    adjacency : any two numbers
    guarantee : exact for a perfect source of randomness, which numpy's generators are not; all shares together tell the
        number

    Parameters
    ----------
    values : int or array of int
        What the people want to add; a number outside of -2^31 to 2^31 - 1 is taken modulo 2^32.
    servers : int
        Number of shares of each, at least 2.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array of int64, shape (servers, *shape of values)
        Row i is what server i is sent; all in 0 ... 2^32 - 1.

    Raises
    ------
    ValueError
        If `values` is not of an integer type, or `servers` is less than 2.

    References
    ----------
    Bonawitz et al. (2017), for sums of secret inputs.

    Examples
    --------
    >>> shares = split([3, 0, 4], servers=3, rng=1)
    >>> shares.shape, int(join(shares.sum(axis=1)))
    ((3, 3), 7)
    """
    values = _integers("values", values) % MODULUS
    servers = whole("servers", servers, least=2)
    first = generator(rng).integers(0, MODULUS, (servers - 1, *values.shape))
    return np.concatenate([first, ((values - first.sum(axis=0)) % MODULUS)[None]])


def join(shares: ArrayLike) -> NDArray[np.int64] | np.int64:
    """Add up shares, or what each server has added up of them, and take the sum for a number of either sign.

    Privacy
    -------
    measure : that of the sum, which it makes public
    adjacency : that of the noise in the sum
    guarantee : none by itself: without noise the sum is exact

    Parameters
    ----------
    shares : array of int, shape (servers, ...)

    Returns
    -------
    int64, or an array of them, of the shape without the first axis
        The sum modulo 2^32, between -2^31 and 2^31 - 1: a larger sum wraps around.

    Raises
    ------
    ValueError
        If `shares` is not of an integer type, or has no axis.

    References
    ----------
    The book's {prf:ref}`thm-agg-shares`.

    Examples
    --------
    >>> int(join([2**32 - 5, 3]))
    -2
    """
    if np.isnan(numbers("shares", shares)).any():
        raise ValueError("shares must hold whole numbers, and some are none")
    shares = _integers("shares", shares)
    if shares.ndim == 0:
        raise ValueError("shares must have an axis of servers, got one number")
    total = (shares % MODULUS).sum(axis=0) % MODULUS
    return (total + MODULUS // 2) % MODULUS - MODULUS // 2


def laplace_share(
    size: int | tuple[int, ...], *, sensitivity: int, epsilon: float, parties: int, honest: float = 1.0,
    rng: Rng = None,
) -> NDArray[np.int64]:
    """Parts of discrete Laplace noise: those of a share `honest` of the `parties` add up to all of it, P(Z = z) =
    tanh(b/2) exp(-b|z|), b = epsilon/sensitivity.

    A part is the difference of two negative binomial variables of shape 1/(honest * parties). Such differences add up
    to one of the shapes' sum, and shape 1 is the geometric law, of which `mechanisms.geometric` takes the difference.

    Privacy
    -------
    measure : epsilon-DP of the sum, for anyone who knows no part of a share `honest` of the parties
    adjacency : the one under which `sensitivity` bounds the change of the sum
    guarantee : exact if that share or more are honest (if more are, no single outcome reaches epsilon, far ones come
        near it); if only a smaller share h is, the loss is `collusion_epsilon` of h/honest

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    sensitivity : int
        Largest change of the sum between neighbours.
    epsilon : float
        Privacy loss, positive.
    parties : int
        Everybody adds one part.
    honest : float
        Share of the parties whose parts alone must suffice, in (0, 1]. At 1 the parts of all are needed.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array of int64, of shape `size`

    Raises
    ------
    ValueError
        If `epsilon` is not positive, `parties` or `sensitivity` is no whole number of at least 1, `honest` is not in
        (0, 1], or the noise of one party would not fit into 64 bits.

    References
    ----------
    Goryczka and Xiong (2017), the distributed geometric mechanism.

    Examples
    --------
    >>> parts = laplace_share(2000, sensitivity=1, epsilon=1.0, parties=2000, rng=1)
    >>> parts.shape, bool(abs(parts.sum()) < 30)
    ((2000,), True)
    """
    rate, shape = _rate(epsilon, sensitivity), 1 / (_share(honest) * whole("parties", parties, least=1, most=_MOST))
    noise_rate("epsilon/sensitivity, and that times honest * parties,", rate / max(1, shape))
    p = -math.expm1(-rate)
    size = tuple(whole("size", one, least=0) for one in (size if isinstance(size, tuple) else (size,)))
    rng = generator(rng)
    return rng.negative_binomial(shape, p, size) - rng.negative_binomial(shape, p, size)


def shared_pmf(z: ArrayLike, *, honest: float, epsilon: float, sensitivity: int = 1) -> NDArray[np.float64]:
    """Law of the noise that is left to somebody who knows the parts of all but a share `honest` of the parties.

    The difference of two negative binomial variables of shape `honest` and ratio exp(-epsilon/sensitivity), by its
    convolution.

    Privacy
    -------
    measure : none: a law
    guarantee : exact to rounding

    Parameters
    ----------
    z : int or array of int
    honest : float
        Share of the parts that nobody else knows, in (0, 1].
    epsilon : float
        The loss that all parts together were made for.
    sensitivity : int

    Returns
    -------
    float or array of float, of the shape of `z`

    Raises
    ------
    ValueError
        If `z` is not of an integer type, `honest` is not in (0, 1], `epsilon` not positive, `sensitivity` no whole
        number >= 1, or epsilon/sensitivity below 1e-5.

    References
    ----------
    The book's {prf:ref}`thm-agg-collusion`; Harrison and Manurangsi (2025), where it is the generalized discrete
    Laplace law.

    Examples
    --------
    >>> shared_pmf([0, 1], honest=1.0, epsilon=1.0).round(4)
    array([0.4621, 0.17  ])
    """
    rate, z, honest = _summable(epsilon, sensitivity), abs(_integers("z", z).astype(float)), _share(honest)
    sums = _overlaps(z.ravel(), honest, rate).reshape(z.shape)
    return ((-math.expm1(-rate)) ** (2 * honest) * np.exp(-rate * z) * sums)[()]


def collusion_epsilon(honest: float, *, epsilon: float, sensitivity: int = 1) -> float:
    """Exact privacy loss of a sum, to somebody who knows the parts of the noise of all but a share `honest` of the
    parties.

    The law of what is left is log-convex on each side of zero, so that its steps are steepest at zero: the loss is
    ln P(0)/P(sensitivity). It lies between epsilon and epsilon + sensitivity * ln(1/honest).

    Privacy
    -------
    measure : epsilon-DP
    adjacency : the one under which the sum changes by `sensitivity` at most
    guarantee : exact, attained between the two worlds at the sums 0 and `sensitivity`

    Parameters
    ----------
    honest : float
        Share of the parts that nobody else knows, in (0, 1].
    epsilon : float
        The loss that all parts together were made for.
    sensitivity : int

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `honest` is not in (0, 1], `epsilon` not positive, `sensitivity` no whole number >= 1, or
        epsilon/sensitivity below 1e-5.

    References
    ----------
    The book's {prf:ref}`thm-agg-collusion`.

    Examples
    --------
    >>> [round(collusion_epsilon(h, epsilon=1.0), 3) for h in (1.0, 0.5, 0.1)]
    [1.0, 1.675, 3.296]
    """
    rate, honest = _summable(epsilon, sensitivity), _share(honest)
    epsilon, sensitivity = positive("epsilon", epsilon), whole("sensitivity", sensitivity, least=1)
    at_zero, beside = _overlaps([0.0, float(sensitivity)], honest, rate)
    return float(epsilon + np.log(at_zero / beside))


def _overlaps(shifts, shape, rate):
    """Sums over k of c(k) c(k + shift) exp(-2 rate k), where c(k) exp(-rate k) is the negative binomial law except for
    its constant.
    """
    # not by scipy's nbinom, whose argument 1 - exp(-rate) is 1 to rounding for a large rate
    k = np.arange(math.ceil(20 / rate))          # what is left out is smaller by exp(-40)
    first = _coefficient(k, shape) * np.exp(-rate * k) ** 2
    return np.array([first @ _coefficient(k + shift, shape) for shift in shifts])


def _coefficient(k, shape):
    return 1 / ((k + shape) * special.beta(k + 1, shape))


def _rate(epsilon, sensitivity):
    return positive("epsilon", epsilon) / whole("sensitivity", sensitivity, least=1, most=_MOST)


def _summable(epsilon, sensitivity):
    rate = _rate(epsilon, sensitivity)
    if rate < _LEAST_RATE:
        raise ValueError(f"epsilon/sensitivity must be at least {_LEAST_RATE:g}, got {rate!r}: the law is too long")
    return rate


def _share(honest):
    honest = positive("honest", honest)
    if not _LEAST_SHARE <= honest <= 1:
        raise ValueError(f"honest must lie in (0, 1] and be at least {_LEAST_SHARE:g}, got {honest!r}")
    return honest


def _integers(name: str, value: ArrayLike) -> NDArray[np.int64]:
    cells = numbers(name, value)
    return integers(name, value) if cells.size else cells.astype(np.int64)
