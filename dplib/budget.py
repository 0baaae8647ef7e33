"""Budget: what several releases cost together, and a ledger that refuses to overspend.

First the totals (`basic`, `advanced`, `optimal`), then the two other ledgers in which losses are kept, zCDP and RDP,
with the way back to (epsilon, delta), and last the `Budget` itself.
"""
import itertools
import math
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from dplib._validate import choice, non_negative, positive, probability, whole
from dplib.fdp import TradeOff, approx, compose, worst
from dplib.mechanisms import log_gaussian_delta
from dplib.sensitivity import ADJACENCIES

__all__ = [
    "Budget",
    "BudgetExceeded",
    "Entry",
    "advanced",
    "basic",
    "gaussian_rdp",
    "gdp_to_approx",
    "optimal",
    "pure_to_zcdp",
    "rdp_to_approx",
    "zcdp_to_approx",
]


def basic(epsilon, k=1):
    """Total epsilon of k releases of `epsilon` each: k * epsilon, whatever the releases are and however they were chosen.

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
        Number of releases.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `epsilon` is not positive or k is not a whole number >= 0.

    References
    ----------
    Dwork, Kenthapadi, McSherry, Mironov and Naor (2006), Theorem 1; Dwork and Roth (2014), Theorem 3.16.

    Examples
    --------
    >>> basic(0.25, k=8)
    2.0
    """
    return positive("epsilon", epsilon) * whole("k", k, least=0)


def advanced(epsilon, k, delta_slack):
    """Total epsilon of k releases of `epsilon` each when a failure probability `delta_slack` is allowed.

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
        Number of releases, fixed in advance.
    delta_slack : float
        In (0, 1).

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
    >>> round(advanced(0.1, 100, 1e-5), 4)
    5.8502
    >>> advanced(1.0, 20, 1e-5)
    20.0
    """
    epsilon, k, delta_slack = positive("epsilon", epsilon), whole("k", k, least=0), probability("delta_slack", delta_slack, zero=False)
    total = basic(epsilon, k)
    if epsilon > 1:                              # e^epsilon - 1 > 1 already exceeds basic composition, and could overflow
        return total
    return min(total, epsilon * math.sqrt(2 * k * math.log(1 / delta_slack)) + total * math.expm1(epsilon))


def optimal(epsilon, k, delta):
    """Smallest total epsilon that k releases of `epsilon` each can promise at failure probability `delta`.

    The worst mechanism of loss epsilon is randomized response, so this is the exact epsilon of k of its answers: a
    binomial sum, solved for its one unknown.

    Privacy
    -------
    measure : (result, delta)-DP
    adjacency : the one shared by the releases
    guarantee : exact for the worst mechanism (rounded up, as if the last digits of `delta` were lower): no smaller epsilon
        holds for all mechanisms. The releases may be chosen adaptively, but k and `epsilon` are fixed in advance

    Parameters
    ----------
    epsilon : float
        Privacy loss of each release.
    k : int
        Number of releases, fixed in advance.
    delta : float
        In [0, 1); 0 gives basic composition.

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
    >>> round(optimal(0.1, 100, 1e-5), 4)
    4.3068
    >>> optimal(0.1, 100, 0.0)
    10.0
    """
    epsilon, k, delta = positive("epsilon", epsilon), whole("k", k, least=0), probability("delta", delta)
    total = basic(epsilon, k)
    if total in (0, math.inf) or delta == 0:
        return total
    lies = np.arange(k + 1)                      # the loss is (k - 2 lies) epsilon
    log_p = gammaln(k + 1) - gammaln(lies + 1) - gammaln(k - lies + 1) - lies * epsilon - k * math.log1p(math.exp(-epsilon))
    losses = (k - 2 * lies) * epsilon
    # delta(t) is the largest P_j - e^t Q_j, where P_j and Q_j are the probabilities of the j largest losses: solve each for t
    rounding = 1e-15 * (gammaln(k + 1) + total + 1)
    log_above = np.logaddexp.accumulate(log_p) + rounding
    log_other = np.logaddexp.accumulate(log_p - losses) - rounding
    with np.errstate(divide="ignore"):
        log_excess = log_above + np.log1p(-np.exp(np.minimum(math.log(delta) - log_above, 0.0)))
    return min(total, max(0.0, float(np.max(log_excess - log_other))))


def zcdp_to_approx(rho, delta):
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
        In (0, 1).

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
    >>> round(zcdp_to_approx(0.125, 1e-5), 6)
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


def rdp_to_approx(orders, rdp, delta):
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
        If the shapes differ or are empty, an order is not above 1, a divergence is negative or nan, or `delta` not in (0, 1).

    References
    ----------
    Canonne, Kamath and Steinke (2020), section 2.3; Mironov (2017), Proposition 3, is the simpler and larger
    rdp + ln(1/delta)/(alpha - 1).

    Examples
    --------
    >>> orders = np.linspace(1.5, 30, 400)
    >>> round(rdp_to_approx(orders, gaussian_rdp(2.0, orders), 1e-5), 4)
    2.1657
    """
    orders, rdp = (np.atleast_1d(np.asarray(array, dtype=float)) for array in (orders, rdp))
    if orders.shape != rdp.shape or orders.size == 0:
        raise ValueError(f"orders and rdp must have the same, non-empty shape, got {orders.shape} and {rdp.shape}")
    if not (np.all(orders > 1) and np.all(np.isfinite(orders))):
        raise ValueError("orders must be finite and greater than 1")
    if not np.all(rdp >= 0):
        raise ValueError("rdp must be zero or more")
    return max(0.0, float(np.min(rdp + _rdp_surcharge(orders - 1, probability("delta", delta, zero=False)))))


def _rdp_surcharge(excess, delta):
    """What the way from Renyi order 1 + excess to (epsilon, delta) adds to the divergence."""
    return -(math.log(delta) + np.log1p(excess)) / excess - np.log1p(1 / excess)


def gdp_to_approx(mu, delta):
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
        In (0, 1).

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `mu` is negative or `delta` not in (0, 1).

    References
    ----------
    Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gdp_to_approx(1.0, 1e-5), 6)
    4.377178
    """
    mu, delta = non_negative("mu", mu), probability("delta", delta, zero=False)

    def excess(epsilon):                         # log of the true delta over the allowed one; decreasing in epsilon
        return log_gaussian_delta(1 / max(mu, 1e-300), epsilon) - math.log(delta)

    if mu <= delta or excess(0.0) <= 0:          # delta(0) is below mu
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    if high == math.inf:                         # so is mu^2/2
        return high
    return brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-13) * (1 + 1e-12) + 1e-13


def pure_to_zcdp(epsilon):
    """Rho of zCDP that every epsilon-DP release satisfies: epsilon^2/2.

    Privacy
    -------
    measure : rho-zCDP
    adjacency : the one under which epsilon-DP holds
    guarantee : an upper bound; the smallest rho that always holds is epsilon tanh(epsilon/2), that of randomized response

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
    return epsilon * epsilon / 2                 # inf where ** would overflow


def gaussian_rdp(sigma, order, sensitivity=1.0):
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
    >>> gaussian_rdp(2.0, 4.0)
    0.5
    """
    if not np.all(np.asarray(order, dtype=float) > 1):
        raise ValueError(f"order must be greater than 1, got {order!r}")
    mu = positive("sensitivity", sensitivity) / positive("sigma", sigma)
    return order * (mu * mu / 2)


class BudgetExceeded(ValueError):
    """A release was refused because it would overdraw the budget; nothing was drawn and nothing was charged.

    Attributes
    ----------
    requested, remaining : float
        What was asked for and what could still be spent, of `parameter` ("epsilon" or "delta").
    """

    def __init__(self, parameter, requested, remaining):
        super().__init__(f"this release needs {parameter} {requested:g}, but only {remaining:g} remains")
        self.parameter, self.requested, self.remaining = parameter, requested, remaining


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: what was spent, on what, and in which parallel block (None outside any).

    Under rule="fdp" `f` is the trade-off function; if that was spent, `epsilon` is what it costs alone at `delta`.
    """

    epsilon: float
    delta: float
    label: str
    block: int | None
    f: TradeOff | None = None


_approx = lru_cache(approx)                      # one object for equal releases, so that a product can count them


def _both_ways(f, delta):
    return max(f.epsilon(delta), f.inverse().epsilon(delta))


_TOLERANCE = 1e-12                               # relative: three times 0.1 may be charged to 0.3


class Budget:
    """A ledger for (epsilon, delta): ask it before every release, and it refuses what would overdraw.

    Privacy
    -------
    measure : (epsilon, delta)-DP for everything released under it, in any order, each release chosen in view of the last
    adjacency : the one shared by the releases
    guarantee : rule="basic" adds the losses. rule="zcdp" is a filter (losses may be chosen adaptively): it allows
        releases while sum(epsilon_i^2)/2 + sqrt(2 ln(1/slack) sum(epsilon_i^2)), or the plain sum, is at most epsilon.
        rule="fdp" multiplies trade-off functions, which is exact up to numerics, rounded up. It is no filter: the
        theorem wants the trade-off functions of all releases fixed in advance (what is asked may depend on earlier answers).
        Where all of them are Gaussian, stopping before the squares of mu pass a total is one (Smith and Thakurta 2022)

    Parameters
    ----------
    epsilon : float
        Total privacy loss allowed.
    delta : float
        Total failure probability allowed.
    rule : {"basic", "zcdp", "fdp"}
        How losses are added.
    slack : float, optional
        Part of `delta` that rule="zcdp" keeps for the composition itself; all of it unless given.

    Attributes
    ----------
    spent : float
        The epsilon of everything charged so far, under the rule; for rule="fdp" at the budget's delta.
    remaining : float
        The largest epsilon (with no delta) that a next release may have.
    ledger : list of Entry

    Raises
    ------
    ValueError
        If a parameter is out of range, or rule="zcdp" without a positive slack.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan (2016) for filters; Whitehouse, Ramdas, Rogers and Wu (2023), Theorem 1, for the
    filter of rule="zcdp" (it is the zCDP filter of losses epsilon_i^2/2 followed by Bun and Steinke (2016), Proposition 1.3);
    Dong, Roth and Su (2022), section 3, for rule="fdp".

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.spend(0.25, label="how many")
    0.25
    >>> budget.remaining
    0.75
    >>> budget.spend(0.8)
    Traceback (most recent call last):
    dplib.budget.BudgetExceeded: this release needs epsilon 0.8, but only 0.75 remains
    """

    def __init__(self, epsilon, delta=0.0, *, rule="basic", slack=None):
        self.epsilon, self.delta = positive("epsilon", epsilon), probability("delta", delta)
        self.rule = choice("rule", rule, ("basic", "zcdp", "fdp"))
        if rule != "zcdp":
            if slack is not None:
                raise ValueError("slack belongs to rule='zcdp'")
            self.slack = 0.0
        else:
            self.slack = probability("slack", self.delta if slack is None else slack, zero=False)
            if self.slack > self.delta:
                raise ValueError(f"slack must not exceed delta, got slack={self.slack!r}, delta={self.delta!r}")
        self.ledger = []
        self._blocks = []                        # the adjacency of each parallel block so far
        self._open = None                        # the number of the block we are in

    def spend(self, epsilon, delta=0.0, label=""):
        """Charge one release and return its epsilon, so that it can be used in the call that makes the release.

        Parameters
        ----------
        epsilon : float or TradeOff
            Privacy loss of the release; a trade-off function under rule="fdp" only.
        delta : float
            Its failure probability; left out with a trade-off function.
        label : str
            For the ledger.

        Returns
        -------
        float or TradeOff
            `epsilon`.

        Raises
        ------
        BudgetExceeded
            If the release would overdraw epsilon or delta; nothing is charged.
        ValueError
            If `epsilon` is not positive or `delta` not in [0, 1), or for a trade-off function under another rule.
        """
        if self.rule == "fdp":
            return self._spend_fdp(epsilon, delta, str(label))
        entry = Entry(positive("epsilon", epsilon), probability("delta", delta), str(label), self._open)
        if self._spent([*self.ledger, entry]) > self.epsilon * (1 + _TOLERANCE):
            raise BudgetExceeded("epsilon", entry.epsilon, self.remaining)
        charged = self._charges(self.ledger, "delta")
        if sum(self._charges([*self.ledger, entry], "delta")) + self.slack > self.delta * (1 + _TOLERANCE):
            raise BudgetExceeded("delta", entry.delta, max(0.0, self.delta - self.slack - sum(charged)))
        self.ledger.append(entry)
        return entry.epsilon

    def _spend_fdp(self, spent, delta, label):
        if not isinstance(spent, TradeOff):
            epsilon, delta = positive("epsilon", spent), probability("delta", delta)
            entry = Entry(epsilon, delta, label, self._open, _approx(epsilon, delta))
        elif delta:
            raise ValueError(f"delta belongs to a number, not to a trade-off function, got {delta!r}")
        else:
            entry = Entry(_both_ways(spent, self.delta), self.delta, label, self._open, spent)
        if self._spent([*self.ledger, entry]) > self.epsilon * (1 + _TOLERANCE) + _TOLERANCE:
            raise BudgetExceeded("epsilon", entry.epsilon, self.remaining)
        self.ledger.append(entry)
        return spent

    def _product(self, entries):
        """Everything charged as one trade-off function; a parallel block costs its worst release, or its worst pair."""
        factors = [entry.f for entry in entries if entry.block is None]
        for block, adjacency in enumerate(self._blocks):
            inside = [entry.f for entry in entries if entry.block == block]
            if adjacency == "replace" and len(inside) > 1:       # leaving one set and joining the other
                inside = [f.symmetrize() @ g.symmetrize() for f, g in itertools.combinations(inside, 2)]
            factors += [worst(inside)] if inside else []
        return compose([(f, 1) for f in factors])

    @contextmanager
    def parallel(self, adjacency="add/remove"):
        """Releases inside this block touch disjoint sets of people, fixed in advance; each `spend` is one such set.

        The block costs the largest loss in it under add/remove. Under replace a person can move from one set to
        another, and it costs the two largest together, if each release costs its loss under either relation, as
        noisy counts do.

        Parameters
        ----------
        adjacency : {"add/remove", "replace"}

        Raises
        ------
        ValueError
            If `adjacency` is unknown.
        RuntimeError
            If a block is already open.
        """
        choice("adjacency", adjacency, ADJACENCIES)
        if self._open is not None:
            raise RuntimeError("a parallel block is already open")
        self._open = len(self._blocks)
        self._blocks.append(adjacency)
        try:
            yield self
        finally:
            self._open = None

    @property
    def spent(self):
        return self._spent(self.ledger)

    def _spent(self, entries):
        if self.rule == "fdp":
            return _both_ways(self._product(entries), self.delta)
        losses = self._charges(entries, "epsilon")
        if self.rule == "basic":
            return math.fsum(losses)
        squares = math.fsum(loss**2 for loss in losses)
        return min(math.fsum(losses), squares / 2 + math.sqrt(-2 * math.log(self.slack) * squares))

    @property
    def remaining(self):
        if self.rule == "fdp":
            low, high = 0.0, self.epsilon + 2 * math.atanh(self.delta)     # one answer at most this, if nothing else was spent
            while high - low > 1e-9 * self.epsilon:
                middle = (low + high) / 2
                fits = self._spent([*self.ledger, Entry(middle, 0.0, "", self._open, approx(middle))]) <= self.epsilon
                low, high = (middle, high) if fits else (low, middle)
            return low
        inside = [entry.epsilon for entry in self.ledger if self._open is not None and entry.block == self._open]
        losses = self._charges([entry for entry in self.ledger if self._open is None or entry.block != self._open], "epsilon")
        room = self.epsilon - math.fsum(losses)
        if self.rule == "zcdp":                  # solve u^2/2 + u sqrt(2 ln(1/slack)) = epsilon for u^2 = sum of squares
            spread = -2 * math.log(self.slack)
            root = 2 * self.epsilon / (math.sqrt(spread + 2 * self.epsilon) + math.sqrt(spread))
            room = max(room, math.sqrt(max(0.0, root**2 - math.fsum(loss**2 for loss in losses))))
        if inside and self._blocks[self._open] == "replace":
            room -= max(inside)
        return max(0.0, room)

    def _charges(self, entries, field):
        """What each release outside a block, and each block as a whole, costs of `field`."""
        charges = [getattr(entry, field) for entry in entries if entry.block is None]
        for block, adjacency in enumerate(self._blocks):
            costs = sorted((getattr(entry, field) for entry in entries if entry.block == block), reverse=True)
            charges.append(math.fsum(costs[: 1 if adjacency == "add/remove" else 2]))
        return charges

    def __repr__(self):
        lines = [f"Budget(epsilon={self.epsilon:g}, delta={self.delta:g}, rule={self.rule!r}): spent {self.spent:.6g}, remaining {self.remaining:.6g}"]
        for entry in self.ledger:
            where = "" if entry.block is None else f"  (parallel block {entry.block + 1}, {self._blocks[entry.block]})"
            lines.append(f"  {entry.epsilon:<9.6g}{f'delta {entry.delta:<9.6g}' if entry.delta else ''} {entry.label}{where}")
        return "\n".join(lines)
