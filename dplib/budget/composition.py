"""What several releases cost together: the totals, and the two other accounts in which losses are kept, zCDP and RDP.
"""
import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from dplib._gaussian import log_delta
from dplib._types import ArrayLike, Same
from dplib._validate import non_negative, numbers, positive, probability, whole

__all__ = [
    "advanced", "basic", "gaussian_rdp", "gdp_to_approx", "optimal", "pure_to_zcdp", "rdp_to_approx", "zcdp_to_approx",
]

_LEAST = 5e-324                                  # the smallest double: a loss that is not 0 is never said to be
_MOST = 2**53                                    # releases: the whole numbers that floats hold
_MOST_TERMS = 10**7                              # of the binomial sum of `optimal`


def basic(epsilon: float, *, k: int = 1) -> float:
    """Total epsilon of k releases of `epsilon` each: k * epsilon, whatever the releases are and however they were
    chosen.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : the one shared by the releases
    guarantee : exact for releases of independent worst-case mechanisms

    Parameters
    ----------
    epsilon : float
        Privacy loss of each release.
    k : int
        Number of releases, at most 2^53. All digits hold for every epsilon; a total above all doubles is inf.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `epsilon` is not positive or k is not a whole number from 0 to 2^53.

    References
    ----------
    Dwork, Kenthapadi, McSherry, Mironov and Naor (2006), Theorem 1; Dwork and Roth (2014), Theorem 3.16.

    Examples
    --------
    >>> basic(0.25, k=8)
    2.0
    """
    return positive("epsilon", epsilon) * whole("k", k, least=0, most=_MOST)


def advanced(epsilon: float, *, k: int, delta_slack: float) -> float:
    """Total epsilon of k releases of `epsilon` each when a slack `delta_slack` is allowed.

    min{k epsilon, epsilon sqrt(2 k ln(1/delta_slack)) + k epsilon (e^epsilon - 1)}.

    Privacy
    -------
    measure : (result, delta_slack)-DP
    adjacency : the one shared by the releases
    guarantee : an upper bound; for few or large losses basic composition is the smaller and is returned

    Parameters
    ----------
    epsilon : float
        Privacy loss of each release.
    k : int
        Number of releases, fixed in advance; at most 2^53.
    delta_slack : float
        In (0, 1). Fourteen digits hold for every epsilon and delta_slack.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Dwork, Rothblum and Vadhan (2010), Theorem III.3.

    Examples
    --------
    >>> round(advanced(0.1, k=100, delta_slack=1e-5), 4)
    5.8502
    >>> advanced(1.0, k=20, delta_slack=1e-5)
    20.0
    """
    epsilon, k = positive("epsilon", epsilon), whole("k", k, least=0, most=_MOST)
    delta_slack = probability("delta_slack", delta_slack, zero=False)
    total = basic(epsilon, k=k)
    # e^epsilon - 1 > 1 already exceeds basic composition, and could overflow
    if epsilon > 1:
        return total
    return min(total, epsilon * math.sqrt(-2 * k * math.log(delta_slack)) + total * math.expm1(epsilon))


def optimal(epsilon: float, *, k: int, delta: float) -> float:
    """Smallest total epsilon that k releases of `epsilon` each can promise at `delta`.

    The worst mechanism of loss epsilon is randomized response, so this is the exact epsilon of k of its answers: a
    binomial sum, solved for its one unknown.

    Privacy
    -------
    measure : (result, delta)-DP
    adjacency : the one shared by the releases
    guarantee : exact for the worst mechanism (rounded up, as if the last digits of `delta` were lower): no smaller
        epsilon holds for all mechanisms. The releases may be chosen adaptively, but k and `epsilon` are fixed in
        advance

    Parameters
    ----------
    epsilon : float
        Privacy loss of each release.
    k : int
        Number of releases, fixed in advance; at most 10^7.
    delta : float
        In [0, 1); 0 gives basic composition. Up to 0.5 the result is rounded up by 1e-6 at most, and by 2e-9 at k =
        10^5.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kairouz, Oh and Viswanath (2017), Theorem 3.3 with delta = 0 for each release.

    Examples
    --------
    >>> round(optimal(0.1, k=100, delta=1e-5), 4)
    4.3068
    >>> optimal(0.1, k=100, delta=0.0)
    10.0
    """
    epsilon, k = positive("epsilon", epsilon), whole("k", k, least=0, most=_MOST_TERMS)
    delta = probability("delta", delta)
    total = basic(epsilon, k=k)
    if total in (0, math.inf) or delta == 0:
        return total
    lies = np.arange(k + 1)  # the loss is (k - 2 lies) epsilon
    log_p = (
        gammaln(k + 1) - gammaln(lies + 1) - gammaln(k - lies + 1) - lies * epsilon - k * math.log1p(math.exp(-epsilon))
    )
    losses = (k - 2 * lies) * epsilon
    # delta(t) is the largest P_j - e^t Q_j, where P_j and Q_j are the probabilities of the j largest losses: solve each
    # for t
    rounding = 1e-15 * (gammaln(k + 1) + total + 1)
    log_above = np.logaddexp.accumulate(log_p) + rounding
    log_other = np.logaddexp.accumulate(log_p - losses) - rounding
    with np.errstate(divide="ignore"):
        log_excess = log_above + np.log1p(-np.exp(np.minimum(math.log(delta) - log_above, 0.0)))
    return min(total, max(0.0, float(np.max(log_excess - log_other))))


def zcdp_to_approx(rho: float, *, delta: float) -> float:
    """Epsilon at `delta` of a rho-zCDP release.

    The minimum over orders alpha > 1 of rho alpha + ln(1/(alpha delta))/(alpha - 1) + ln(1 - 1/alpha). Every order is a
    valid bound; the best one solves rho (alpha - 1)^2 = ln(1/(alpha delta)).

    Privacy
    -------
    measure : (result, delta)-DP
    adjacency : the one under which rho-zCDP holds
    guarantee : an upper bound; for the Gaussian mechanism `gdp_to_approx` gives the exact, smaller number

    Parameters
    ----------
    rho : float
        zCDP parameter, zero or more; rhos of successive releases add.
    delta : float
        In (0, 1). Ten digits hold for every rho and delta.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `rho` is negative or `delta` not in (0, 1).

    References
    ----------
    Canonne, Kamath and Steinke (2020), section 2.3; Bun and Steinke (2016), Proposition 1.3, is the
    simpler and larger rho + 2 sqrt(rho ln(1/delta)).

    Examples
    --------
    >>> round(zcdp_to_approx(0.125, delta=1e-5), 6)
    2.165716
    """
    rho, delta = non_negative("rho", rho), probability("delta", delta, zero=False)
    if rho == 0:
        return 0.0

    def slope(log_excess):                       # of the bound, times (alpha - 1)^2, at alpha = 1 + exp(log_excess)
        return math.exp(2 * log_excess + math.log(rho)) + np.logaddexp(0.0, log_excess) + math.log(delta)

    highest = min(-math.log(delta), 0.5 * (math.log(-math.log(delta)) - math.log(rho))) + 1
    excess = math.exp(brentq(slope, highest - 800, highest, xtol=1e-13))
    return max(0.0, float(rho * (1 + excess) + _rdp_surcharge(excess, delta)))


def rdp_to_approx(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> float:
    """Epsilon at `delta` of a release whose Renyi divergence of order `orders[i]` is at most `rdp[i]`.

    Privacy
    -------
    measure : (result, delta)-DP
    adjacency : the one under which the Renyi bounds hold
    guarantee : an upper bound: the best over the orders given; more orders can only lower it

    Parameters
    ----------
    orders : float or array
        Orders alpha > 1.
    rdp : float or array, of the same shape
        Renyi divergence at each order; the divergences of successive releases add, order by order.
    delta : float
        In (0, 1).

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the shapes differ or are empty, an order is not above 1, a divergence is negative or nan, or `delta` not in
        (0, 1).

    References
    ----------
    Canonne, Kamath and Steinke (2020), section 2.3; Mironov (2017), Proposition 3, is the simpler and larger
    rdp + ln(1/delta)/(alpha - 1).

    Examples
    --------
    >>> orders = np.linspace(1.5, 30, 400)
    >>> round(rdp_to_approx(orders, gaussian_rdp(2.0, order=orders), delta=1e-5), 4)
    2.1657
    """
    orders, rdp = np.atleast_1d(numbers("orders", orders)), np.atleast_1d(numbers("rdp", rdp))
    delta = probability("delta", delta, zero=False)
    if orders.shape != rdp.shape or orders.size == 0:
        raise ValueError(f"orders and rdp must have the same, non-empty shape, got {orders.shape} and {rdp.shape}")
    if not (np.all(orders > 1) and np.all(np.isfinite(orders))):
        raise ValueError("orders must be finite and greater than 1")
    if not np.all(rdp >= 0):
        raise ValueError("rdp must be zero or more")
    return max(0.0, float(np.min(rdp + _rdp_surcharge(orders - 1, delta))))


def _rdp_surcharge(excess, delta):
    """What the way from Renyi order 1 + excess to (epsilon, delta) adds to the divergence."""
    return -(math.log(delta) + np.log1p(excess)) / excess - np.log1p(1 / excess)


def gdp_to_approx(mu: float, *, delta: float) -> float:
    """Epsilon at `delta` of a mu-GDP release, such as Gaussian noise of standard deviation sensitivity/mu.

    Privacy
    -------
    measure : (result, delta)-DP
    adjacency : the one under which mu-GDP holds
    guarantee : exact, rounded up in its last digits; mus of successive releases add in squares

    Parameters
    ----------
    mu : float
        GDP parameter, zero or more.
    delta : float
        In (0, 1). Nine digits hold for every mu and delta; an epsilon above all doubles is inf.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `mu` is negative or `delta` not in (0, 1).

    References
    ----------
    Dong, Roth and Su (2022), section 2 (Corollary 2.13 of the preprint); Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gdp_to_approx(1.0, delta=1e-5), 6)
    4.377178
    """
    mu, delta = non_negative("mu", mu), probability("delta", delta, zero=False)

    def excess(epsilon):                         # log of the true delta over the allowed one; decreasing in epsilon
        return log_delta(1 / max(mu, 1e-300), epsilon) - math.log(delta)

    if mu <= delta or excess(0.0) <= 0:          # delta(0) is below mu
        return 0.0
    size = max(min(1.0, mu), 1e-300)
    high = size
    while excess(high) > 0:
        high *= 2
    if high == math.inf:                         # so is mu^2/2
        return high
    return brentq(excess, 0.0, high, xtol=1e-13 * size, rtol=1e-13) * (1 + 1e-12) + 1e-13 * size


def pure_to_zcdp(epsilon: float) -> float:
    """Rho of zCDP that every epsilon-DP release satisfies: epsilon^2/2.

    Privacy
    -------
    measure : rho-zCDP
    adjacency : the one under which epsilon-DP holds
    guarantee : an upper bound; the smallest rho that always holds is epsilon tanh(epsilon/2), that of randomized
        response. All digits hold for epsilon from 1e-150 to 1e154; further on it is rounded up, to inf

    Parameters
    ----------
    epsilon : float
        Privacy loss of the release.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `epsilon` is not positive.

    References
    ----------
    Bun and Steinke (2016), Proposition 1.4.

    Examples
    --------
    >>> pure_to_zcdp(0.1)
    0.005000000000000001
    """
    epsilon = positive("epsilon", epsilon)
    return epsilon * epsilon / 2 or _LEAST        # inf where ** would overflow


def gaussian_rdp(sigma: float, *, order: Any, sensitivity: float = 1.0) -> Same:
    """Renyi divergence of Gaussian noise: order sensitivity^2 / (2 sigma^2).

    Privacy
    -------
    measure : (order, result)-RDP
    adjacency : the one under which `sensitivity` holds
    guarantee : exact

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise.
    order : float or array
        Above 1.
    sensitivity : float
        L2 sensitivity of the answers.

    Returns
    -------
    float or array, of the shape of `order`

    Raises
    ------
    ValueError
        If `sigma` or `sensitivity` is not positive or an order not above 1.

    References
    ----------
    Mironov (2017), Proposition 7.

    Examples
    --------
    >>> gaussian_rdp(2.0, order=4.0)
    0.5
    """
    order = numbers("order", order)
    if not (np.all(order > 1) and np.all(np.isfinite(order))):
        raise ValueError("order must be finite and greater than 1")
    mu = positive("sensitivity", sensitivity) / positive("sigma", sigma)
    with np.errstate(over="ignore"):
        divergence = np.maximum(order * (mu * mu / 2), _LEAST)
    return divergence if divergence.ndim else float(divergence)
