"""A ledger that refuses to overspend."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from dplib._types import Adjacency
from dplib._validate import choice, positive, probability
from dplib.fdp import TradeOff, approx, compose, worst
from dplib.sensitivity import ADJACENCIES

__all__ = ["Budget", "BudgetExceeded", "Entry"]


class BudgetExceeded(ValueError):
    """A release was refused because it would overdraw the budget; nothing was drawn and nothing was charged.

    Attributes
    ----------
    requested, remaining : float
        What was asked for and what could still be spent, of `parameter` ("epsilon" or "delta").
    """

    def __init__(self, parameter: str, requested: float, remaining: float) -> None:
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
    measure : (epsilon, delta)-DP for everything released under it, in any order, each release chosen in view of the
        last
    adjacency : the one shared by the releases
    guarantee : rule="basic" adds the losses. rule="zcdp" is a filter (losses may be chosen adaptively): it allows
        releases while sum(epsilon_i^2)/2 + sqrt(2 ln(1/slack) sum(epsilon_i^2)), or the plain sum, is at most epsilon.
        rule="fdp" multiplies trade-off functions, which is exact up to numerics, rounded up. It is no filter: the
        theorem wants the trade-off functions of all releases fixed in advance (what is asked may depend on earlier
        answers). Where all of them are Gaussian, stopping before the squares of mu pass a total is one (Smith and
        Thakurta 2022)

    Parameters
    ----------
    epsilon : float
        Total privacy loss allowed.
    delta : float
        Total delta allowed.
    rule : {"basic", "zcdp", "fdp"}
        How losses are added.
    slack : float, optional
        Part of `delta` that rule="zcdp" keeps for the composition itself; all of it unless given.

    Attributes
    ----------
    spent : float
        The epsilon of everything charged so far, under the rule; for rule="fdp" at the budget's delta.
    spent_delta : float
        What the releases cost of delta, without the slack; 0 for rule="fdp", whose `spent` is at the budget's delta.
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
    filter of rule="zcdp" (it is the zCDP filter of losses epsilon_i^2/2 followed by Bun and Steinke (2016), Proposition
    1.3); Dong, Roth and Su (2022), section 3, for rule="fdp".

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.spend(0.25, label="how many")
    0.25
    >>> budget.remaining
    0.75
    >>> budget.spend(0.8)
    Traceback (most recent call last):
    dplib.budget.ledger.BudgetExceeded: this release needs epsilon 0.8, but only 0.75 remains
    """

    def __init__(self, epsilon: float, *, delta: float = 0.0, rule: str = "basic", slack: float | None = None) -> None:
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
        self.ledger: list[Entry] = []
        self._blocks: list[Adjacency] = []       # the adjacency of each parallel block so far
        self._open: int | None = None            # the number of the block we are in

    def spend(self, epsilon: float | TradeOff, *, delta: float = 0.0, label: str = "") -> float | TradeOff:
        """Charge one release and return its epsilon, so that it can be used in the call that makes the release.

        Parameters
        ----------
        epsilon : float or TradeOff
            Privacy loss of the release; a trade-off function under rule="fdp" only.
        delta : float
            Its delta; left out with a trade-off function.
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
        if sum(self._charges([*self.ledger, entry], "delta")) + self.slack > self.delta * (1 + _TOLERANCE):
            raise BudgetExceeded("delta", entry.delta, max(0.0, self.delta - self.slack - self.spent_delta))
        self.ledger.append(entry)
        return entry.epsilon

    def _spend_fdp(self, spent, delta, label):
        if not isinstance(spent, TradeOff):
            epsilon, delta = positive("epsilon", spent), probability("delta", delta)
            if epsilon > (self.epsilon + 2 * math.atanh(self.delta)) * (1 + _TOLERANCE):       # too much by itself
                raise BudgetExceeded("epsilon", epsilon, self.remaining)
            if delta / (1 + _TOLERANCE) > self.delta:
                raise BudgetExceeded("delta", delta, self.delta)
            entry = Entry(epsilon, delta, label, self._open, _approx(epsilon, delta=delta))
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
    def parallel(self, adjacency: Adjacency) -> Iterator[Budget]:
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
    def spent(self) -> float:
        return self._spent(self.ledger)

    @property
    def spent_delta(self) -> float:
        return 0.0 if self.rule == "fdp" else math.fsum(self._charges(self.ledger, "delta"))

    def _spent(self, entries):
        if self.rule == "fdp":
            return _both_ways(self._product(entries), self.delta)
        losses = self._charges(entries, "epsilon")
        if self.rule == "basic":
            return math.fsum(losses)
        squares = math.fsum(loss**2 for loss in losses)
        return min(math.fsum(losses), squares / 2 + math.sqrt(-2 * math.log(self.slack) * squares))

    @property
    def remaining(self) -> float:
        if self.rule == "fdp":
            return self._remaining_fdp()
        inside = [entry.epsilon for entry in self.ledger if self._open is not None and entry.block == self._open]
        others = [entry for entry in self.ledger if self._open is None or entry.block != self._open]
        losses = self._charges(others, "epsilon")
        room = self.epsilon - math.fsum(losses)
        if self.rule == "zcdp":
            room = max(room, self._remaining_zcdp(losses))
        if inside and self._open is not None and self._blocks[self._open] == "replace":
            room -= max(inside)
        return max(0.0, room)

    def _remaining_zcdp(self, losses):
        """What the squares leave: u^2/2 + u sqrt(2 ln(1/slack)) = epsilon is solved for u^2, the sum of all squares."""
        spread = -2 * math.log(self.slack)
        root = 2 * self.epsilon / (math.sqrt(spread + 2 * self.epsilon) + math.sqrt(spread))
        return math.sqrt(max(0.0, root**2 - math.fsum(loss**2 for loss in losses)))

    def _remaining_fdp(self):
        """By bisection; the first bound is what one answer may cost if nothing else was spent."""
        low, high = 0.0, self.epsilon + 2 * math.atanh(self.delta)
        while high - low > 1e-9 * self.epsilon:
            middle = (low + high) / 2
            another = Entry(middle, 0.0, "", self._open, approx(middle))
            if self._spent([*self.ledger, another]) <= self.epsilon:
                low = middle
            else:
                high = middle
        return low

    def _charges(self, entries, field):
        """What each release outside a block, and each block as a whole, costs of `field`."""
        charges = [getattr(entry, field) for entry in entries if entry.block is None]
        for block, adjacency in enumerate(self._blocks):
            costs = sorted((getattr(entry, field) for entry in entries if entry.block == block), reverse=True)
            charges.append(math.fsum(costs[: 1 if adjacency == "add/remove" else 2]))
        return charges

    def __repr__(self) -> str:
        lines = [
            f"Budget(epsilon={self.epsilon:g}, delta={self.delta:g}, rule={self.rule!r}): spent {self.spent:.6g}, "
            f"remaining {self.remaining:.6g}"
        ]
        for entry in self.ledger:
            where = "" if entry.block is None else f"  (parallel block {entry.block + 1}, {self._blocks[entry.block]})"
            lines.append(
                f"  {entry.epsilon:<9.6g}{f'delta {entry.delta:<9.6g}' if entry.delta else ''} {entry.label}{where}"
            )
        return "\n".join(lines)
