"""Privacy profiles, and the profile of a product of many, computed by one Fourier transform."""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dplib._types import Array, ArrayLike

TAIL = 1e-16                                     # mass left outside the window, on each side
ROUNDING = 2e-13                                 # relative error of a profile and of the transforms, for each factor


class Profile(ABC):
    """One privacy profile: `delta` on arrays of epsilon >= 0, never below the truth and close to it relatively, also
    where it is small.

    Attributes
    ----------
    reach : float
        Beyond it `delta` is `infinite`, or as near to it as makes no difference.
    infinite : float
        The mass of the infinite losses.
    bounded : bool
        Whether no finite loss is above `reach`.
    """

    infinite: float

    @property
    @abstractmethod
    def reach(self) -> float:
        ...

    @property
    @abstractmethod
    def bounded(self) -> bool:
        ...

    @abstractmethod
    def delta(self, epsilon: ArrayLike) -> Array:
        ...


class Formula(Profile):
    """A profile that is given as a function."""

    def __init__(self, delta: Callable[[Any], Any], reach: float, infinite: float = 0.0) -> None:
        self._delta, self._reach, self.infinite = delta, float(reach), float(infinite)

    @property
    def reach(self) -> float:
        return self._reach

    @property
    def bounded(self) -> bool:
        return float(self.delta(self.reach)) <= self.infinite

    def delta(self, epsilon: ArrayLike) -> Array:
        return self._delta(epsilon)


def worse(profiles: list[Profile]) -> Profile:
    """The largest of several profiles, everywhere."""
    reach, infinite = max(profile.reach for profile in profiles), max(profile.infinite for profile in profiles)
    return Formula(lambda epsilon: np.max([profile.delta(epsilon) for profile in profiles], axis=0), reach, infinite)


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

    def variance(self) -> float:
        mass = np.maximum(self.mass, 0) / np.maximum(self.mass, 0).sum()
        return float((mass * (self.loss - (mass * self.loss).sum()) ** 2).sum())

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
        return (rise[1:] - math.exp(step) * rise[:-1]) / math.expm1(step)

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
        self.top = sum(factor.times * factor.ahead.reach for factor in factors) * (1 + 1e-15)

    @cached_property
    def bounded(self) -> bool:
        return all(factor.ahead.bounded for factor in self.factors)

    @cached_property
    def reach(self) -> float:
        table = self._table
        window = max(table.start + table.above.size * table.step, table.step)
        return min(self.top, window) if self.bounded else window

    def delta(self, epsilon: ArrayLike) -> Array:
        table, epsilon = self._table, np.asarray(epsilon, dtype=float)
        i = np.clip(np.ceil((epsilon - table.start) / table.step), 0, table.above.size - 1).astype(int)
        loss = table.start + i * table.step
        tail = np.maximum(table.above[i] - np.exp(np.minimum(epsilon - loss, 0.0)) * table.other[i], 0.0)
        finite_part = tail * np.exp(table.growth - table.rate * loss)
        total = table.infinite + finite_part + table.slack * np.exp(table.growth - table.rate * epsilon)
        return np.where(self.bounded & (epsilon >= self.top), self.infinite, np.clip(total, self.infinite, 1.0))

    @cached_property
    def _table(self):
        step = _resolution(self.factors)
        laws = [dominating_law(factor.ahead, factor.back, step, factor.times) for factor in self.factors]
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
    variance = max(variance, 0.02 * max(one.loss[-1] for one in laws) ** 2)
    rate = (math.sqrt(1 + 64 / variance) - 1) / 2
    while True:
        growth = sum(one.times * one.log_moment(rate) for one in laws)
        if growth <= 10:
            return rate, growth
        rate /= 1.5


def _resolution(factors):
    """The lattice of the losses where they are on one, else a step far below the standard deviation of a typical loss.
    """
    steps = [factor.step or math.inf for factor in factors]
    base = min(steps)
    if base < math.inf and all(abs(step / base - round(step / base)) < 1e-9 for step in steps if step < math.inf):
        if max(steps) < math.inf:
            return base
    else:
        base = 0.0
    count = sum(factor.times for factor in factors)
    finest = min(max(4096 / math.sqrt(count), 100), 1024)
    step = max(factor.reach for factor in factors) / 256 or 1.0
    for _ in range(40):
        variance = (
            sum(factor.times * dominating_law(factor.ahead, factor.back, step).variance() for factor in factors) / count
        )
        wanted = math.sqrt(variance) / finest
        if step <= 1.05 * wanted or wanted == 0:
            break
        step = max(wanted, step / 64)
    return base / math.ceil(base / step) if base else step


def _far(laws, sign):
    """A loss beyond which the total has mass at most TAIL, above (sign 1) or below (-1), by Chernoff's bound."""
    variance = sum(one.times * one.variance() for one in laws)
    best = sum(one.times * one.loss[-1] for one in laws)
    for share in (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0):
        tilt = share * math.sqrt(-2 * math.log(TAIL) / max(variance, 1e-300))
        if tilt * max(one.loss[-1] for one in laws) < 700:
            total = sum(one.times * one.log_moment(sign * tilt) for one in laws)
            best = min(best, (total - math.log(TAIL)) / tilt)
    return sign * best


def _discounted(mass, rate):
    """Sums over j >= i of mass[j] e^(-rate (j - i)), in blocks within which nothing underflows."""
    # The filter 1/(1 - e^-rate z) of scipy.signal does the same; but importing it takes longer than all of dplib.
    sums, block, carry = np.empty_like(mass), max(1, int(500 / rate)), 0.0
    for stop in range(mass.size, 0, -block):
        start = max(0, stop - block)
        weight = np.exp(-rate * np.arange(stop - start + 1))
        inside = np.cumsum((mass[start:stop] * weight[:-1])[::-1])[::-1]
        sums[start:stop] = (inside + carry * weight[-1]) / weight[:-1]
        carry = sums[start]
    return sums
