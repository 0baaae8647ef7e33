"""A ledger that refuses to overspend."""
from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from dplib._types import Adjacency
from dplib._validate import choice, positive, probability
from dplib.fdp import TradeOff, approx, compose, gaussian, worst
from dplib.fdp.tradeoff import LARGEST_LOSS, settled
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

    def __reduce__(self) -> tuple:
        return type(self), (self.parameter, self.requested, self.remaining), vars(self)


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
_LEAST_TOTAL = 1e-90                             # under rule="fdp"
_FEW_PARTS = 4                                   # that `remaining` composes again for each of its guesses
_MOST_PARTS = 12                                 # of the product under rule="fdp" that is composed for each release

# The parallel blocks that this thread or asyncio task is in: (budget, number of the block).
_inside: ContextVar[tuple] = ContextVar("parallel blocks", default=())


def _sum(losses):
    try:
        return math.fsum(losses)
    except OverflowError:
        return math.inf


def _short(total):
    """The same total; where it is a product of many different functions, composed now and from then on one function.
    """
    return settled(total) if len(total.parts) > _MOST_PARTS else total


class Budget:
    """A ledger for (epsilon, delta): ask it before every release, and it refuses what would overdraw.

    The check and the charge are one step, under one lock, so that threads may share a budget. A budget can be pickled
    and copied with its history; a copy is a second budget, so only one of the two may pay.

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
        A copy: what is charged stays charged.

    Raises
    ------
    ValueError
        If a parameter is out of range, or rule="zcdp" without a positive slack. Under rule="fdp" epsilon must be from
        1e-90 to 1e100, and each loss at least 1e-100.

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
        if self.rule == "fdp" and not _LEAST_TOTAL <= self.epsilon <= LARGEST_LOSS:
            raise ValueError(
                f"epsilon must be from {_LEAST_TOTAL:g} to {LARGEST_LOSS:g} under rule='fdp', got {self.epsilon!r}"
            )
        self._ledger: list[Entry] = []
        self._blocks: list[Adjacency] = []       # the adjacency of each parallel block so far
        self._open: set[int] = set()             # the numbers of those that are open
        self._total = gaussian(0.0)              # under rule="fdp": what is outside of open blocks, as one function
        self._costs: dict[int, list[TradeOff]] = {}      # and for each open block, what it is the worst of
        self._lock = threading.RLock()

    def __getstate__(self) -> dict:
        """Everything but the lock. Blocks belong to a thread: in a copy they are closed."""
        with self._lock:
            state = vars(self) | {"_total": self._product(self._total, self._costs), "_costs": {}, "_open": set()}
            state |= {"_ledger": list(self._ledger), "_blocks": list(self._blocks)}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state, _lock=threading.RLock())

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
        with self._lock:
            block = self._block()
            if self.rule == "fdp":
                return self._spend_fdp(epsilon, delta, str(label), block)
            entry = Entry(positive("epsilon", epsilon), probability("delta", delta), str(label), block)
            if self._spent([*self._ledger, entry]) / (1 + _TOLERANCE) > self.epsilon:
                raise BudgetExceeded("epsilon", entry.epsilon, self.remaining)
            if _sum(self._charges([*self._ledger, entry], "delta")) + self.slack > self.delta * (1 + _TOLERANCE):
                raise BudgetExceeded("delta", entry.delta, max(0.0, self.delta - self.slack - self.spent_delta))
            self._ledger.append(entry)
            return entry.epsilon

    def _spend_fdp(self, spent, delta, label, block):
        if not isinstance(spent, TradeOff):
            epsilon, delta = positive("epsilon", spent), probability("delta", delta)
            if epsilon > (self.epsilon + 2 * math.atanh(self.delta)) * (1 + _TOLERANCE):       # too much by itself
                raise BudgetExceeded("epsilon", epsilon, self.remaining)
            if delta / (1 + _TOLERANCE) > self.delta:
                raise BudgetExceeded("delta", delta, self.delta)
            entry = Entry(epsilon, delta, label, block, _approx(epsilon, delta=delta))
            spent = epsilon
        elif probability("delta", delta):
            raise ValueError(f"delta belongs to a number, not to a trade-off function, got {delta!r}")
        else:
            entry = Entry(_both_ways(spent, self.delta), self.delta, label, block, spent)
        total, costs = self._with(entry.f, block, self._total)
        if _both_ways(self._product(total, costs), self.delta) > self.epsilon * (1 + _TOLERANCE) + _TOLERANCE:
            raise BudgetExceeded("epsilon", entry.epsilon, self.remaining)
        self._total, self._costs = _short(total), costs
        self._ledger.append(entry)
        return spent

    def _with(self, f, block, total):
        """The total and the costs of the open blocks after f is charged."""
        if block is None:
            return compose([(total, 1), (f, 1)]), self._costs
        before = [entry.f for entry in self._ledger if entry.block == block and entry.f is not None]
        if self._blocks[block] == "replace":     # leaving one set and joining the other
            added = [f.symmetrize() @ g.symmetrize() for g in before] or [f]
            kept = self._costs[block] if len(before) > 1 else []
        else:
            added, kept = [f], self._costs[block]
        return total, self._costs | {block: [*kept, *added]}

    def _product(self, total, costs):
        """Everything as one trade-off function; a parallel block costs its worst release, or its worst pair."""
        return compose([(total, 1), *((worst(inside), 1) for inside in costs.values() if inside)])

    def _block(self):
        """The number of the parallel block that this thread or task is in, or None."""
        return next((block for budget, block in _inside.get() if budget is self and block in self._open), None)

    @contextmanager
    def parallel(self, adjacency: Adjacency) -> Iterator[Budget]:
        """Releases inside this block touch disjoint sets of people, fixed in advance; each `spend` is one such set.

        The block costs the largest loss in it under add/remove. Under replace a person can move from one set to
        another, and it costs the two largest together, if each release costs its loss under either relation, as
        noisy counts do.

        The block belongs to the thread, or the asyncio task, that opens it: what others spend in the meantime is
        charged outside of it.

        Parameters
        ----------
        adjacency : {"add/remove", "replace"}

        Raises
        ------
        ValueError
            If `adjacency` is unknown.
        RuntimeError
            If this thread or task has a block open already.
        """
        choice("adjacency", adjacency, ADJACENCIES)
        with self._lock:
            if self._block() is not None:
                raise RuntimeError("a parallel block is already open")
            block = len(self._blocks)
            self._blocks.append(adjacency)
            self._open.add(block)
            self._costs = self._costs | {block: []}
        _inside.set((*_inside.get(), (self, block)))
        try:
            yield self
        finally:
            _inside.set(tuple(one for one in _inside.get() if one != (self, block)))
            with self._lock:
                self._open.discard(block)
                costs = self._costs.pop(block)
                if costs:
                    self._total = _short(compose([(self._total, 1), (worst(costs), 1)]))

    @property
    def ledger(self) -> list[Entry]:
        with self._lock:
            return list(self._ledger)

    @property
    def spent(self) -> float:
        with self._lock:
            if self.rule == "fdp":
                return _both_ways(self._product(self._total, self._costs), self.delta)
            return self._spent(self._ledger)

    @property
    def spent_delta(self) -> float:
        with self._lock:
            return 0.0 if self.rule == "fdp" else _sum(self._charges(self._ledger, "delta"))

    def _spent(self, entries):
        losses = self._charges(entries, "epsilon")
        if self.rule == "basic":
            return _sum(losses)
        root = math.hypot(*losses)               # of the sum of squares
        return min(_sum(losses), root * root / 2 + math.sqrt(-2 * math.log(self.slack)) * root)

    @property
    def remaining(self) -> float:
        with self._lock:
            block = self._block()
            if self.rule == "fdp":
                return self._remaining_fdp(block)
            inside = [entry.epsilon for entry in self._ledger if block is not None and entry.block == block]
            others = [entry for entry in self._ledger if block is None or entry.block != block]
            losses = self._charges(others, "epsilon")
            room = self.epsilon - _sum(losses)
            if self.rule == "zcdp":
                room = max(room, self._remaining_zcdp(losses))
            if inside and self._blocks[block] == "replace":
                room -= max(inside)
            return max(0.0, room)

    def _remaining_zcdp(self, losses):
        """What the squares leave: u^2/2 + u sqrt(2 ln(1/slack)) = epsilon is solved for u^2, the sum of all squares."""
        spread = -2 * math.log(self.slack)
        root = math.sqrt(2) * self.epsilon / (math.sqrt(spread / 2 + self.epsilon) + math.sqrt(spread / 2))
        spent = math.hypot(*losses)
        return math.sqrt(max(0.0, root - spent)) * math.sqrt(root + spent)

    def _remaining_fdp(self, block):
        """By bisection; the first bound is what one answer may cost if nothing else was spent."""
        total = settled(self._total) if len(self._total.parts) > _FEW_PARTS else self._total

        def fits(epsilon, total):
            return _both_ways(self._product(*self._with(approx(epsilon), block, total)), self.delta) <= self.epsilon

        low, high = 0.0, min(self.epsilon + 2 * math.atanh(self.delta), LARGEST_LOSS)
        while high - low > 1e-9 * self.epsilon:
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle, total) else (low, middle)
        while low > 0 and not fits(low, self._total):    # `spend` composes all parts at once: not the same last digits
            low = max(0.0, low * (1 - 1e-6) - 1e-9 * self.epsilon)
        return low if low > 1e-9 * self.epsilon else 0.0

    def _charges(self, entries, field):
        """What each release outside a block, and each block as a whole, costs of `field`."""
        charges = [getattr(entry, field) for entry in entries if entry.block is None]
        for block, adjacency in enumerate(self._blocks):
            costs = sorted((getattr(entry, field) for entry in entries if entry.block == block), reverse=True)
            charges.append(_sum(costs[: 1 if adjacency == "add/remove" else 2]))
        return charges

    def __repr__(self) -> str:
        with self._lock:
            spent, remaining, entries = self.spent, self.remaining, self.ledger
        lines = [
            f"Budget(epsilon={self.epsilon:g}, delta={self.delta:g}, rule={self.rule!r}): spent {spent:.6g}, "
            f"remaining {remaining:.6g}"
        ]
        for entry in entries:
            where = "" if entry.block is None else f"  (parallel block {entry.block + 1}, {self._blocks[entry.block]})"
            lines.append(
                f"  {entry.epsilon:<9.6g}{f'delta {entry.delta:<9.6g}' if entry.delta else ''} {entry.label}{where}"
            )
        return "\n".join(lines)
