"""Privacy profiles, and the profile of a product of many, computed by one Fourier transform."""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dplib._types import Array, ArrayLike

TAIL = 1e-16                                     # mass left outside the window, on each side
ROUNDING = 2e-13                                 # relative error of a profile and of the transforms, for each factor
SMALL = 2.0**-12                                 # losses this much smaller than the largest get a lattice of their own
MOST_POINTS = 2**22                              # of the lattice of one loss


class Profile(ABC):
    """One privacy profile: `delta` on arrays of epsilon >= 0, never below the truth and close to it relatively, also
    where it is small.

    Attributes
    ----------
    reach : float
        Beyond it `delta` is `infinite`, or as near to it as makes no difference.
    infinite : float
        The mass of the infinite losses.
    top : float
        No finite loss is above it; inf where they have no bound.
    bounded : bool
        Whether they have one.
    """

    infinite: float

    @property
    @abstractmethod
    def reach(self) -> float:
        ...

    @property
    @abstractmethod
    def top(self) -> float:
        ...

    @property
    def bounded(self) -> bool:
        return self.top < math.inf

    @abstractmethod
    def delta(self, epsilon: ArrayLike) -> Array:
        ...

    def settled(self) -> Profile:
        """The same profile, without what it was computed from."""
        return self


class Formula(Profile):
    """A profile that is given as a function: one of a module or a `partial` of it, so that it can be pickled."""

    def __init__(
        self, delta: Callable[[Any], Any], reach: float, infinite: float = 0.0, *, top: float | None = None
    ) -> None:
        self._delta, self._reach, self.infinite, self._top = delta, float(reach), float(infinite), top

    @property
    def reach(self) -> float:
        return self._reach

    @property
    def top(self) -> float:
        if self._top is None:
            self._top = self.reach if float(self.delta(self.reach)) <= self.infinite else math.inf
        return self._top

    def delta(self, epsilon: ArrayLike) -> Array:
        return self._delta(epsilon)


def worse(profiles: list[Profile]) -> Profile:
    """The largest of several profiles, everywhere."""
    reach, infinite, top = (max(getattr(one, name) for one in profiles) for name in ("reach", "infinite", "top"))
    return Formula(partial(_largest, profiles=profiles), reach, infinite, top=top)


def _largest(epsilon, *, profiles):
    return np.max([profile.delta(epsilon) for profile in profiles], axis=0)


class Factor(NamedTuple):
    """`times` equal factors of a product: their profiles in the two directions, and the step of their losses if there
    is one.
    """

    ahead: Profile
    back: Profile
    times: int
    step: float | None

    @property
    def reach(self) -> float:
        return max(self.ahead.reach, self.back.reach)

    def swapped(self) -> Factor:
        """The same factor in the other direction."""
        return self._replace(ahead=self.back, back=self.ahead)


class Law(NamedTuple):
    """Finite losses on a lattice, their masses, and the mass of the infinite loss; `times` of them, independent."""

    loss: np.ndarray
    mass: np.ndarray
    infinite: float
    times: int

    def mean(self) -> float:
        mass = np.maximum(self.mass, 0)
        return float((mass * self.loss).sum() / mass.sum())

    def variance(self) -> float:
        mass = np.maximum(self.mass, 0)
        return float((mass * (self.loss - self.mean()) ** 2).sum() / mass.sum())

    def log_moment(self, rate: float) -> float:
        """Log of the mean of e^(rate loss), for the finite losses of one of them."""
        return math.log((np.maximum(self.mass, 0) * np.exp(rate * self.loss)).sum())

    def tilted(self, rate: float) -> Law:
        """The law with masses in proportion to mass e^(rate loss)."""
        return self._replace(mass=self.mass * np.exp(rate * self.loss - self.log_moment(rate)))


def dominating_law(ahead: Profile, back: Profile, step: float, times: int = 1) -> Law:
    """The law of the loss under Q, on a lattice, of a pair that dominates the given one."""
    m = max(1, math.ceil(max(ahead.reach, back.reach) / step - 1e-9))
    loss = np.arange(m + 1) * step

    def bends(delta):                            # change of the slope in x = e^epsilon at each point but 0, times x
        rise = np.diff(delta, append=delta[-1])
        return (rise[:-1] - math.exp(-step) * rise[1:]) / math.expm1(-step)

    delta = ahead.delta(loss)
    up, down = bends(delta), bends(back.delta(loss)) * np.exp(-loss[1:])
    centre = 1 - delta[-1] - up.sum() - down.sum()
    mass = np.concatenate([down[::-1], [centre], up])
    return Law(np.concatenate([-loss[:0:-1], loss]), mass, float(delta[-1]), times)


class Table(NamedTuple):
    """The tilted law of a product's loss, summed up from above at each point of the lattice start, start + step, ..."""

    step: float
    start: float
    above: np.ndarray                            # discounted by e^(-rate loss)
    other: np.ndarray                            # discounted by e^(-(1 + rate) loss)
    rate: float
    growth: float                                # log of the mean of e^(rate loss)
    slack: float                                 # what rounding and the cut-off tails may be worth
    infinite: float


class Product(Profile):
    """Profile of a product in one direction, computed when it is first asked for.

    All is done on the law of the total loss tilted by e^(rate loss): an error of relative size r in it is an error of
    at most r e^(growth - rate epsilon) in delta(epsilon), so that small deltas keep their digits.
    """

    def __init__(self, factors: list[Factor]) -> None:
        self.factors = factors
        self.infinite = any_infinite((factor.ahead.infinite, factor.times) for factor in factors)
        self._top = math.fsum(factor.times * factor.ahead.top for factor in factors) * (1 + 5e-16)

    @property
    def top(self) -> float:
        return self._top

    @cached_property
    def reach(self) -> float:
        table = self._table
        return min(self.top, max(table.start + table.above.size * table.step, table.step))

    def delta(self, epsilon: ArrayLike) -> Array:
        table, epsilon = self._table, np.asarray(epsilon, dtype=float)
        i = np.clip(np.ceil((epsilon - table.start) / table.step), 0, table.above.size - 1).astype(int)
        loss = table.start + i * table.step
        tail = np.maximum(table.above[i] - np.exp(np.minimum(epsilon - loss, 0.0)) * table.other[i], 0.0)
        finite_part = tail * np.exp(table.growth - table.rate * loss)
        total = table.infinite + finite_part + table.slack * np.exp(table.growth - table.rate * epsilon)
        highest = self.infinite - np.expm1(np.minimum(epsilon - self.top, 0.0))      # if all losses were the largest
        return np.clip(total, self.infinite, np.minimum(highest, 1.0))

    def settled(self) -> Product:
        """Computed now, without the factors that it came from."""
        other = copy(self)
        other._table, other.factors = self._table, []
        return other

    def __getstate__(self) -> dict:
        """Without what can be computed again."""
        again = ("_table", "reach") if self.factors else ()
        return {name: value for name, value in vars(self).items() if name not in again}

    @cached_property
    def _table(self):
        factors = self.factors if lattice(self.factors) else _by_size(self.factors)
        step = _resolution(factors)
        laws = [dominating_law(factor.ahead, factor.back, step, factor.times) for factor in factors]
        rate, growth = _rate(laws)
        tilted = [one.tilted(rate) for one in laws]
        start, stop = math.floor(_far(tilted, -1) / step), math.ceil(_far(tilted, 1) / step)
        size = next_fast_len(max(stop - start + 2, *(one.loss.size for one in laws), 16), real=True)
        transforms = [rfft(one.mass, size) for one in tilted]
        spectrum = np.zeros_like(transforms[0])
        logs = (one.times * np.log(np.abs(transform) + 1e-300) for one, transform in zip(laws, transforms))
        seen = sum(logs) > -80                   # the rest is below e^-80
        spectrum[seen] = math.prod(transform[seen] ** one.times for one, transform in zip(laws, transforms))
        shift = -sum(one.times * (one.loss.size // 2) for one in laws)
        total = np.maximum(np.roll(irfft(spectrum, size), (shift - start) % size), 0.0)
        above, other = (np.append(_discounted(total, factor * step), 0.0) for factor in (rate, 1 + rate))
        slack = 4 * TAIL + ROUNDING * sum(one.times for one in laws)
        infinite = any_infinite((one.infinite, one.times) for one in laws)
        return Table(step, start * step, above, other, rate, growth, slack, infinite)


def any_infinite(pairs):
    """Chance that at least one loss is infinite, from pairs (chance of one, how often)."""
    return -math.expm1(math.fsum(times * math.log1p(-min(infinite, 1 - 1e-16)) for infinite, times in pairs))


def _rate(laws):
    """How much to tilt the total loss, and the log of the mean of e^(rate loss) then: about 8 for a normal loss, 10 at
    most.
    """
    variance = sum(one.times * one.variance() for one in laws)
    variance = max(variance, 0.02 * max(one.loss[-1] for one in laws) ** 2, 1e-280)
    rate = 32 / variance / (math.sqrt(1 + 64 / variance) + 1)
    while True:
        growth = sum(one.times * one.log_moment(rate) for one in laws)
        if growth <= 10:
            return rate, growth
        rate /= 1.5


def lattice(factors):
    """The smallest step of the losses that have one, if it divides the others and the lattice is not too long; else 0.
    """
    steps = [factor.step for factor in factors if factor.step]
    base = min(steps, default=0.0)
    if not steps or not all(abs(step / base - round(step / base)) < 1e-9 for step in steps):
        return 0.0
    if max(factor.reach for factor in factors) / base > MOST_POINTS / 16:
        return 0.0
    spread = math.sqrt(math.fsum(factor.times * (factor.reach / base) ** 2 for factor in factors))
    return base if 4 * spread < MOST_POINTS else 0.0


def _by_size(factors):
    """Losses that are much smaller than the largest are composed first, by themselves: one lattice for all of them
    would be too long, or too coarse for the small ones.
    """
    most = max(factor.reach for factor in factors)
    small = [factor for factor in factors if factor.reach < most * SMALL]
    if sum(factor.times for factor in small) < 2:
        return factors
    ahead = Product(small)
    back = ahead if all(one.back is one.ahead for one in small) else Product([factor.swapped() for factor in small])
    return [factor for factor in factors if factor.reach >= most * SMALL] + [Factor(ahead, back, 1, None)]


def _resolution(factors):
    """The lattice of the losses where they are on one, else a step far below the standard deviation of a typical loss.
    """
    base = lattice(factors)
    if base and all(factor.step for factor in factors):
        return base
    count, most = sum(factor.times for factor in factors), max(factor.reach for factor in factors)
    finest = min(max(4096 / math.sqrt(count), 100), 1024)
    step = most / 256 or 1.0
    for _ in range(40):
        laws = [dominating_law(factor.ahead, factor.back, step, factor.times) for factor in factors]
        variance = sum(one.times * one.variance() for one in laws) / count
        mean = sum(one.times * one.mean() for one in laws) / count
        wanted = max(
            math.sqrt(variance) / finest, math.sqrt(count * variance) / 2**19, mean / 2**14, most / MOST_POINTS
        )
        if step <= 1.05 * wanted or wanted == 0:
            break
        step = max(wanted, step / 64)
    if not base:                                 # the largest loss keeps its place, if it has one
        largest = max(factors, key=lambda factor: factor.reach)
        base = largest.step if largest.step and largest.step > step else 0.0
    return base / math.ceil(base / step) if base else step


def _far(laws, sign):
    """A loss beyond which the total has mass at most TAIL, above (sign 1) or below (-1), by Chernoff's bound."""
    variance = sum(one.times * one.variance() for one in laws)
    best, one_most = sum(one.times * one.loss[-1] for one in laws), max(one.loss[-1] for one in laws)
    for share in (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0):
        tilt = min(share * math.sqrt(-2 * math.log(TAIL) / max(variance, 1e-280)), 600 / one_most)
        total = sum(one.times * one.log_moment(sign * tilt) for one in laws)
        best = min(best, (total - math.log(TAIL)) / tilt)
    return sign * best


def _discounted(mass, rate):
    """Sums over j >= i of mass[j] e^(-rate (j - i)), in blocks within which nothing underflows."""
    # The filter 1/(1 - e^-rate z) of scipy.signal does the same; but importing it takes longer than all of dplib.
    if rate > 30:                                # only the next few count, and the rest underflows
        sums = mass.copy()
        for j in range(1, min(mass.size, math.ceil(750 / rate))):
            sums[:-j] += math.exp(-rate * j) * mass[j:]
        return sums
    sums, block, carry = np.empty_like(mass), max(1, int(min(mass.size, 500 / rate))), 0.0
    for stop in range(mass.size, 0, -block):
        start = max(0, stop - block)
        weight = np.exp(-rate * np.arange(stop - start + 1))
        inside = np.cumsum((mass[start:stop] * weight[:-1])[::-1])[::-1]
        sums[start:stop] = (inside + carry * weight[-1]) / weight[:-1]
        carry = sums[start]
    return sums
