"""Budget: what several releases cost together, and a ledger that refuses to overspend."""
import math
from contextlib import contextmanager
from dataclasses import dataclass

from dplib._validate import choice, positive, probability, whole
from dplib.sensitivity import ADJACENCIES

__all__ = ["Budget", "BudgetExceeded", "Entry", "advanced", "basic"]


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
    total, delta_slack = basic(epsilon, k), probability("delta_slack", delta_slack, zero=False)
    if epsilon > 1:                              # e^epsilon - 1 > 1 already exceeds basic composition, and could overflow
        return total
    return min(total, epsilon * math.sqrt(2 * k * math.log(1 / delta_slack)) + total * math.expm1(epsilon))


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
    """One line of the ledger: what was spent, on what, and in which parallel block (None outside any)."""

    epsilon: float
    delta: float
    label: str
    block: int | None


_TOLERANCE = 1e-12                               # relative: three times 0.1 may be charged to 0.3


class Budget:
    """A ledger for (epsilon, delta): ask it before every release, and it refuses what would overdraw.

    Privacy
    -------
    measure : (epsilon, delta)-DP for everything released under it, in any order, each release chosen in view of the last
    adjacency : the one shared by the releases
    guarantee : rule="basic" adds the losses. rule="advanced" is a filter (losses may be chosen adaptively): it allows
        releases while sum(epsilon_i^2)/2 + sqrt(2 ln(1/slack) sum(epsilon_i^2)), or the plain sum, is at most epsilon

    Parameters
    ----------
    epsilon : float
        Total privacy loss allowed.
    delta : float
        Total failure probability allowed.
    rule : {"basic", "advanced"}
        How losses are added.
    slack : float, optional
        Part of `delta` that rule="advanced" keeps for the composition itself; all of it unless given.

    Attributes
    ----------
    spent : float
        The epsilon of everything charged so far, under the rule.
    remaining : float
        The largest epsilon (with no delta) that a next release may have.
    ledger : list of Entry

    Raises
    ------
    ValueError
        If a parameter is out of range, or rule="advanced" without a positive slack.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan (2016) for filters; Whitehouse, Ramdas, Rogers and Wu (2023), Theorem 1, for the
    advanced filter (it is the zCDP filter of losses epsilon_i^2/2 followed by Bun and Steinke (2016), Proposition 1.3).

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
        self.rule = choice("rule", rule, ("basic", "advanced"))
        if rule == "basic":
            if slack is not None:
                raise ValueError("slack belongs to rule='advanced'")
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
        epsilon : float
            Privacy loss of the release.
        delta : float
            Its failure probability.
        label : str
            For the ledger.

        Returns
        -------
        float
            `epsilon`.

        Raises
        ------
        BudgetExceeded
            If the release would overdraw epsilon or delta; nothing is charged.
        ValueError
            If `epsilon` is not positive or `delta` not in [0, 1).
        """
        entry = Entry(positive("epsilon", epsilon), probability("delta", delta), str(label), self._open)
        if self._spent([*self.ledger, entry]) > self.epsilon * (1 + _TOLERANCE):
            raise BudgetExceeded("epsilon", entry.epsilon, self.remaining)
        charged = self._charges(self.ledger, "delta")
        if sum(self._charges([*self.ledger, entry], "delta")) + self.slack > self.delta * (1 + _TOLERANCE):
            raise BudgetExceeded("delta", entry.delta, max(0.0, self.delta - self.slack - sum(charged)))
        self.ledger.append(entry)
        return entry.epsilon

    @contextmanager
    def parallel(self, adjacency="add/remove"):
        """Releases inside this block touch disjoint sets of people, fixed in advance; each `spend` is one such set.

        The block costs the largest loss in it under add/remove. Under replace a person can move from one set to
        another, and it costs the two largest together.

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
        losses = self._charges(entries, "epsilon")
        if self.rule == "basic":
            return math.fsum(losses)
        squares = math.fsum(loss**2 for loss in losses)
        return min(math.fsum(losses), squares / 2 + math.sqrt(-2 * math.log(self.slack) * squares))

    @property
    def remaining(self):
        inside = [entry.epsilon for entry in self.ledger if self._open is not None and entry.block == self._open]
        losses = self._charges([entry for entry in self.ledger if self._open is None or entry.block != self._open], "epsilon")
        room = self.epsilon - math.fsum(losses)
        if self.rule == "advanced":              # solve u^2/2 + u sqrt(2 ln(1/slack)) = epsilon for u^2 = sum of squares
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
