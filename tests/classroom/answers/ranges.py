"""The checkers of the section on ranges and trees: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import math

import checking
import numpy as np

from dplib import histograms, mechanisms
from provable_privacy import check

SCALES = {("binary", "add/remove"): 22, ("binary", "replace"): 40, ("fourfold", "add/remove"): 12, ("fourfold", "replace"): 20}
ROWS = {n: np.vstack([np.kron(np.eye(2**d), np.ones(n // 2**d)) for d in range(int(np.log2(n)) + 1)]) for n in (1, 2, 4, 8, 16)}

def crossing(levels=True, shift=0, tie=1e-9):
    """A learner's crossing by brute force, right unless told otherwise."""
    def function(n, branching):
        rows, size = [], n
        while size >= 1:
            rows.append(np.kron(np.eye(n // size), np.ones(size)))
            size //= branching
        matrix = np.vstack(rows)
        covariance = 2 * (len(rows) if levels else 1) ** 2 * np.linalg.inv(matrix.T @ matrix)
        for length in range(1, n + 1):
            variances = [covariance[i : i + length, i : i + length].sum() for i in range(n - length + 1)]
            if np.mean(variances) < 2 * length * (1 - tie):
                return length + shift
        return None

    return function


def never(n, branching):
    return None if n != 64 else 63


def release(seed=None, factor=3.0, passes=histograms.consistent, draw="laplace", shared=False, flat=False):
    own = None if seed is None else np.random.default_rng(seed)

    def function(counts, epsilon, rng):
        rng, levels = own or rng, histograms.tree(counts)
        scale = factor(len(levels), epsilon) if callable(factor) else factor * len(levels) / 3 / epsilon
        if shared:
            noise = [np.full(level.size, rng.laplace(scale=scale)) for level in levels]
        elif draw == "normal":
            noise = [rng.normal(scale=2**0.5 * scale, size=level.size) for level in levels]
        else:
            noise = [rng.laplace(scale=scale, size=level.size) for level in levels]
        noisy = [level + z for level, z in zip(levels, noise)]
        if flat:
            return [noisy[-1].reshape(2**d, -1).sum(axis=1) for d in range(len(levels))]
        return passes(noisy)

    return function


def only_down(levels):
    """Shares out what a parent says, without asking the children on the way up."""
    agreed = levels[:1]
    for level in levels[1:]:
        children = level.reshape(-1, 2)
        agreed.append((children + ((agreed[-1] - children.sum(axis=1)) / 2)[:, None]).ravel())
    return agreed


def halves(levels):
    """A parent is half what it says and half what its children do, on the way up; right on the way down."""
    levels = list(levels)
    for i in reversed(range(len(levels) - 1)):
        levels[i] = (levels[i] + levels[i + 1].reshape(-1, 2).sum(axis=1)) / 2
    return only_down(levels)


def by_lstsq(counts, epsilon, rng):
    """Least squares in one go, as lists: another way to the same release."""
    rows = ROWS[len(counts)]
    y = rows @ counts + rng.laplace(scale=int(np.log2(len(counts)) + 1) / epsilon, size=len(rows))
    leaves = np.linalg.lstsq(rows, y, rcond=None)[0]
    return [leaves.reshape(2**d, -1).sum(axis=1).tolist() for d in range(int(np.log2(len(counts))) + 1)]


def frozen(counts, epsilon, rng):
    return release(seed=3)(counts, epsilon, rng)


def counter(seed=None, factor=3.0, way="tree", draw="laplace"):
    own = None if seed is None else np.random.default_rng(seed)

    def function(visits, epsilon, rng):
        rng, day = own or rng, np.arange(1, len(visits) + 1)
        if way == "each":
            return np.cumsum(visits) + rng.laplace(scale=factor / epsilon, size=len(day))
        if way == "one":
            return np.cumsum(visits) + rng.laplace(scale=factor / epsilon)
        if way == "days":
            return np.cumsum(visits + rng.laplace(scale=factor / epsilon, size=len(day)))
        if way == "exact":
            return np.cumsum(visits)
        levels = histograms.tree(visits)
        scale = factor(len(levels), epsilon) if callable(factor) else factor * len(levels) / 3 / epsilon
        blocks = [level + (rng.laplace(scale=scale, size=level.size) if draw == "laplace" else rng.normal(scale=2**0.5 * scale, size=level.size))
                  for level in levels]
        return sum(np.where(day >> j & 1, block[(day >> j) - 1], 0) for j, block in enumerate(reversed(blocks)))  # the bits of a day are its blocks

    return function


def each_alone(visits, epsilon, rng):
    """Fresh noise on each total, as large as a block's."""
    return np.cumsum(visits) + rng.laplace(scale=len(visits).bit_length() / epsilon, size=len(visits))


def whole(scale, rng):
    """Discrete Laplace noise for nodes."""
    q = np.exp(-1 / scale)
    return lambda size: rng.geometric(1 - q, size) - rng.geometric(1 - q, size)


def geometric_tree(counts, epsilon, rng):
    levels = histograms.tree(counts)
    draw = whole(len(levels) / epsilon, rng)
    return histograms.consistent([level + draw(level.size) for level in levels])


def by_level(scales):
    """A tree whose levels have noise of these scales, times 1/ε; the passes weigh all alike all the same."""
    def function(counts, epsilon, rng):
        levels = histograms.tree(counts)
        return histograms.consistent([level + rng.laplace(scale=b / epsilon, size=level.size) for level, b in zip(levels, scales(len(levels)))])

    return function


def shares(weights):
    """Scales that give each level its share of ε."""
    return lambda L: np.sum(weights(np.arange(L))) / weights(np.arange(L))


def filled_tree(counts, epsilon, rng):
    """No noise on nodes without people."""
    levels = histograms.tree(counts)
    return histograms.consistent([level + np.where(level > 0, rng.laplace(scale=len(levels) / epsilon, size=level.size), 0) for level in levels])


def exact_when_long(counts, epsilon, rng):
    """Right on four bins; on more, the true total and halves."""
    out = release()(counts, epsilon, rng)
    return out if len(counts) <= 4 else [counts.reshape(len(level), -1).sum(axis=1) for level in out]


def wall(function):
    """A learner's class that adds the noise of `function` on an empty stream to the running total."""
    class Wall:
        def __init__(self, days, epsilon, rng):
            self.noise, self.total = list(function(np.zeros(days, dtype=int), epsilon, rng)), 0

        def day(self, visits):
            self.total += visits
            return self.total + self.noise.pop(0)

    return Wall


class Stack:
    """The solution of the section: equal blocks merge, and the merged block gets a noise of its own."""

    def __init__(self, days, epsilon, rng):
        self.scale, self.rng, self.blocks = days.bit_length() / epsilon, rng, []

    def day(self, visits):
        size, count = 1, visits
        while self.blocks and self.blocks[-1][0] == size:
            count, size = count + self.blocks.pop()[1], 2 * size
        self.blocks.append((size, count, count + self.rng.laplace(scale=self.scale * self.part(size))))
        return sum(noisy for _, _, noisy in self.blocks)

    def part(self, size):
        return 1


class Adding(Stack):
    """Blocks that merge add up their noises: the sum of noisy days, with the noise of a tree."""

    def day(self, visits):
        self.blocks.append((1, visits, visits + self.rng.laplace(scale=self.scale)))
        return sum(noisy for _, _, noisy in self.blocks)


class QuieterDays(Stack):
    """A day of its own has two shares of ε, and so half of the noise."""

    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon * days.bit_length() / (days.bit_length() + 1), rng)

    def part(self, size):
        return 1 if size > 1 else 0.5


class CheapDays(Stack):
    """A day of its own has noise 1/ε."""

    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon, rng)
        self.levels = days.bit_length()

    def part(self, size):
        return 1 if size > 1 else 1 / self.levels


class GrowingBlocks(CheapDays):
    def part(self, size):
        return size.bit_length() / self.levels


class Coins:
    def __init__(self, rng):
        self.rng = rng

    def laplace(self, scale):
        return int(whole(scale, self.rng)(1)[0])


class Changed:
    """Laplace noise, and what an answer makes of it."""

    def __init__(self, rng, make):
        self.rng, self.make = rng, make

    def laplace(self, scale, size=None):
        return self.make(self.rng.laplace(scale=scale, size=size), scale)


def clipped(noise, scale):
    return np.clip(noise, -2 * 2**0.5 * scale, 2 * 2**0.5 * scale)


def again(noise, scale):
    """Drawn again where it is far out: what is left of an exponential law after so many whole stretches."""
    return np.sign(noise) * (np.abs(noise) % (2 * 2**0.5 * scale))


def wrapped(noise, scale):
    return (noise + 2 * scale) % (4 * scale) - 2 * scale


def towards_zero(noise, scale):
    """In whole numbers, as `int` makes them."""
    return np.trunc(noise)


def rounded(noise, scale):
    return np.rint(noise)


def changed(make):
    return lambda counts, epsilon, rng: release()(counts, epsilon, Changed(rng, make))


class ClippedStack(Stack):
    make = staticmethod(clipped)

    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon, Changed(rng, self.make))


class CutToInt(ClippedStack):
    make = staticmethod(towards_zero)


class RoundedStack(ClippedStack):
    make = staticmethod(rounded)


class WholeStack(Stack):
    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon, Coins(rng))


class Later(Stack):
    """From the ninth day on there is this part of the noise."""

    rest = 0.0

    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon, rng)
        self.t = 0

    def day(self, visits):
        self.t += 1
        self.scale *= self.rest if self.t == 9 else 1
        return super().day(visits)


class HalfLater(Later):
    rest = 0.5


class NeverNegative(Stack):
    """Prints no total below zero: post-processing, and private."""

    def day(self, visits):
        return max(super().day(visits), 0.0)


class PerLevel:
    """One noise for all blocks of a level."""

    def __init__(self, days, epsilon, rng):
        self.noise = rng.laplace(scale=days.bit_length() / epsilon, size=days.bit_length())
        self.total = self.t = 0

    def day(self, visits):
        self.total, self.t = self.total + visits, self.t + 1
        return self.total + sum(z for j, z in enumerate(self.noise) if self.t >> j & 1)


class Mirror(Stack):
    """The last total has the first day's noise, turned round."""

    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon, rng)
        self.days, self.t = days, 0

    def day(self, visits):
        self.t += 1
        said = super().day(visits)
        self.first = said - visits if self.t == 1 else self.first
        return said if self.t < self.days else round(said - self.blocks[-1][2] + self.blocks[-1][1] - self.first, 9)


class Quiet(Stack):
    """No noise while nobody came."""

    def day(self, visits):
        said = super().day(visits)
        return said if any(count for _, count, _ in self.blocks) else 0.0


class NoMethod:
    def __init__(self, days, epsilon, rng):
        ...


class Silent(NoMethod):
    def day(self, visits):
        ...


class TodayOnly(NoMethod):
    def __init__(self, days, epsilon, rng):
        self.rng = rng

    def day(self, visits):
        return 100 * visits + self.rng.laplace()


class Lists(NoMethod):
    def day(self, visits):
        return [visits]


def refreshed(visits, epsilon, rng):
    """New noise in a block for every total that uses it."""
    return [counter()(visits, epsilon, rng)[day] for day in range(len(visits))]


def without_root(visits, epsilon, rng):
    """The last day from its two halves: one level less to pay for."""
    levels = histograms.tree(visits)[1:]
    blocks = [level + rng.laplace(scale=len(levels) / epsilon, size=level.size) for level in levels]
    totals = []
    for day in range(1, len(visits) + 1):
        total, start = 0.0, 0
        for level in blocks:
            size = len(visits) // level.size
            while start + size <= day:
                total, start = total + level[start // size], start + size
        totals.append(total)
    return totals


def split(seed=None, factor=1.0, score=None, candidates=None):
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, low, high, epsilon, rng):
        cuts = np.arange(low + 1, high)
        if candidates == "values":
            there = np.unique(values[(values > low) & (values < high)])
            cuts = there if there.size else cuts
        left = (values[:, None] < cuts).sum(axis=0)
        points = -np.abs(2 * left - len(values)) if score is None else score(left, len(values))
        return int(cuts[mechanisms.exponential(points, sensitivity=1, epsilon=factor * epsilon, rng=own or rng)])

    return function


def by_distance(values, low, high, epsilon, rng):
    """The exponential mechanism with the distance from the median as its score: one row more can turn it round."""
    cuts = np.arange(low + 1, high)
    middle = np.median(values) if len(values) else (low + high) / 2
    return int(mechanisms.exponential(-np.abs(cuts - middle), sensitivity=1, epsilon=epsilon, rng=rng)) + low + 1


def noisy_median(values, low, high, epsilon, rng):
    return int(np.clip(round(np.median(values) + rng.laplace(scale=2 / epsilon)) if len(values) else low, low + 1, high - 1))


def never_below(passes):
    """Leaves without negatives, added up."""
    def function(counts, epsilon, rng):
        return histograms.tree(np.maximum(passes(counts, epsilon, rng)[-1], 0))

    return function


def median(values, low, high, epsilon, rng):
    return int(np.clip(np.median(values) if len(values) else low, low + 1, high - 1))


def best(values, low, high, epsilon, rng):
    cuts = np.arange(low + 1, high)
    return int(cuts[np.argmin(np.abs(2 * (values[:, None] < cuts).sum(axis=0) - len(values)))])


def between(values, low, high, epsilon, rng):
    """Tries the cuts between the smallest and the largest value only."""
    cuts = np.arange(max(low + 1, values.min()), min(high, values.max() + 1)) if len(values) else []
    cuts = cuts if len(cuts) else np.arange(low + 1, high)
    return int(cuts[mechanisms.exponential(-np.abs(2 * (values[:, None] < cuts).sum(axis=0) - len(values)), sensitivity=1, epsilon=epsilon, rng=rng)])


def or_first(cut):
    """Where nobody is, the first cut."""
    return lambda values, low, high, epsilon, rng: cut(values, low, high, epsilon, rng) if len(values) else low + 1


def redrawn(counts, epsilon, rng):
    """A node's noise is drawn until the node is not negative."""
    levels = histograms.tree(counts)
    return histograms.consistent([np.array([next(x for x in iter(lambda n=n: n + rng.laplace(scale=len(levels) / epsilon), None) if x >= 0) for n in level])
                                  for level in levels])


class Redrawn(Stack):
    """Tomorrow's total is drawn until it is not negative."""

    def day(self, visits):
        kept, said = list(self.blocks), -1
        while said < 0:
            self.blocks = list(kept)
            said = super().day(visits)
        return said


def agreeing(factor=lambda levels: levels):
    """Totals of a tree whose levels agree."""
    def function(visits, epsilon, rng):
        levels = histograms.tree(visits)
        noisy = [level + rng.laplace(scale=factor(len(levels)) / epsilon, size=level.size) for level in levels]
        return histograms.consistent(noisy)[-1].cumsum()

    return function


def mean_deviation(n, branching):
    """Averages standard deviations over the positions."""
    rows = np.vstack([np.kron(np.eye(n // size), np.ones(size)) for size in [branching**k for k in range(9) if branching**k <= n]])
    covariance = 2 * rows[:, 0].sum() ** 2 * np.linalg.inv(rows.T @ rows)
    for length in range(1, n + 1):
        if np.mean([np.sqrt(covariance[i : i + length, i : i + length].sum()) for i in range(n - length + 1)]) < np.sqrt(2 * length) * (1 - 1e-9):
            return length
    return None


STUBS = [
    (check.range_counter, Silent),
]

SOLUTIONS = [
    (check.range_scale, lambda seed: SCALES),
    (check.range_crossing, lambda seed: crossing()),
    (check.range_release, release),
    (check.range_counter, lambda seed: wall(counter(seed=seed))),
    (check.range_split, split),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.range_scale, {**SCALES, ("binary", "add/remove"): 2}, "one level"),
    (check.range_scale, {**SCALES, ("binary", "add/remove"): 20}, "root and the leaves"),
    (check.range_scale, {**SCALES, ("fourfold", "replace"): 10}, "two nodes of a level"),
    (check.range_scale, {**SCALES, ("fourfold", "add/remove"): 100}, "larger than needed"),
    (check.range_scale, {**SCALES, ("binary", "add/remove"): 11}, "costs 1 and not 0.5"),
    (check.range_scale, {**SCALES, ("binary", "add/remove"): ..., ("binary", "replace"): 1}, "costs"),
    (check.range_scale, {("binary", "add/remove"): 22}, "missing"),
    (check.range_scale, 7, "expected a dict"),
    (check.range_crossing, crossing(levels=False), "times the noise of a flat bin"),
    (check.range_crossing, crossing(shift=-1), "one off"),
    (check.range_crossing, crossing(tie=-1e-9), "a tie is no win"),
    (check.range_crossing, lambda n, b: crossing()(n, b) or 1, "a first True where there is none"),
    (check.range_crossing, mean_deviation, "standard deviations averaged"),
    (check.range_release, redrawn, "drawn again"),
    (check.range_counter, Redrawn, "drawn again"),
    (check.range_split, between, "between the smallest and the largest"),
    (check.range_crossing, never, "tree does win"),
    (check.range_crossing, lambda n, b: 1, "not 1"),
    (check.range_crossing, lambda n, b: 2.5, "expected a length or None"),
    (check.range_crossing, "often", "expected a function"),
    (check.range_release, release(factor=0.0), "no noise"),
    (check.range_release, release(factor=1.0), "pays for one level"),
    (check.range_release, release(factor=2.0), "law of the right answer"),
    (check.range_release, release(factor=6.0), "as for replace"),
    (check.range_release, release(factor=3 / 2**0.5), "smaller than that by √2"),
    (check.range_release, release(factor=1.0, flat=True), "flat histogram"),
    (check.range_release, release(flat=True), "the upper levels are not used"),
    (check.range_release, release(passes=only_down), "noisier than least squares"),
    (check.range_release, release(passes=halves), "noisier than least squares"),
    (check.range_release, release(passes=list), "not consistent"),
    (check.range_release, release(draw="normal"), "like those of normal noise"),
    (check.range_release, release(shared=True), "one noise serves all nodes"),
    (check.range_release, changed(wrapped), "the noise is cut off"),
    (check.range_release, frozen, "a seed is fixed inside"),
    (check.range_release, lambda counts, epsilon, rng: counts, "levels of 1, 2, 4"),
    (check.range_release, lambda counts: counts, "TypeError"),
    (check.range_release, release(factor=lambda levels, epsilon: 2.0), "times as often"),
    (check.range_release, release(factor=lambda levels, epsilon: 3 / epsilon), "that of three levels"),
    (check.range_counter, wall(counter(factor=lambda levels, epsilon: 2.0)), "times as often"),
    (check.range_counter, wall(counter(factor=lambda levels, epsilon: 3 / epsilon)), "and all share ε"),
    (check.range_scale, {**SCALES, ("binary", "replace"): 22}, "two nodes of a level"),
    (check.range_counter, wall(counter(way="exact")), "no noise"),
    (check.range_counter, wall(counter(factor=1.0, way="each")), "and each costs ε"),
    (check.range_counter, wall(counter(factor=4.0, way="each")), "should be in 75%"),
    (check.range_counter, wall(counter(factor=1.0, way="one")), "exact daily visits"),
    (check.range_counter, wall(counter(factor=3.0, way="one")), "exact daily visits"),
    (check.range_counter, wall(counter(factor=1.0, way="days")), "sum of noisy days"),
    (check.range_counter, Adding, "give each block one of its own"),
    (check.range_counter, wall(counter(factor=1.0)), "levels have to share"),
    (check.range_counter, wall(counter(factor=2.0)), "log₂(T) + 1 levels"),
    (check.range_counter, wall(counter(factor=6.0)), "twice the noise"),
    (check.range_counter, wall(counter(factor=4.5)), "times the variance that it needs"),
    (check.range_counter, wall(counter(factor=lambda levels, epsilon: (1 + math.log(2 ** (levels - 1))) / epsilon)), "times the variance that it needs"),
    (check.range_counter, wall(counter(factor=3 / 2**0.5)), "times the variance that it needs"),
    (check.range_counter, wall(each_alone), "fresh noise on each total"),
    (check.range_release, release(factor=lambda levels, epsilon: 2 ** (levels - 1) / epsilon), "here with twice the noise"),
    (check.range_counter, wall(counter(draw="normal")), "noise is normal"),
    (check.range_counter, wall(refreshed), "gets new noise for every total"),
    (check.range_counter, Lists, "one number"),
    (check.range_counter, TodayOnly, "range_"),
    (check.range_counter, NoMethod, "AttributeError"),
    (check.range_counter, counter(), "expected a class"),
    (check.range_split, median, "loss is infinite"),
    (check.range_split, best, "loss is infinite"),
    (check.range_split, split(factor=2.0), "factor 2"),
    (check.range_split, split(factor=0.5), "half of ε"),
    (check.range_split, split(score=lambda left, n: 0 * left), "a coin"),
    (check.range_split, split(candidates="values"), "only values that occur"),
    (check.range_split, or_first(split(candidates="values")), "only values that occur can be cuts"),
    (check.range_split, or_first(between), "between the smallest and the largest"),
    (check.range_split, split(score=lambda left, n: -np.abs(left - n / 3)), "should be in 20%"),
    (check.range_split, lambda values, low, high, epsilon, rng: high, "must be possible; got"),
    (check.range_split, lambda values, low, high, epsilon, rng: np.median(values) + rng.laplace(), "expected whole cuts"),
    (check.range_split, 4, "expected a function"),
    (check.range_split, by_distance, "count people"),
    (check.range_split, lambda values, low, high, epsilon, rng: (low + high) // 2, "law of the right answer"),
    (check.range_release, never_below(release()), "never come out below 0"),
    (check.range_release, lambda counts, epsilon, rng: print(end=""), "return"),
]

UNUSUAL = [
    (check.range_scale, {**SCALES, ("binary", "replace"): 44, ("fourfold", "replace"): 24}),
    (check.range_release, by_lstsq),
    (check.range_release, geometric_tree),
    (check.range_release, changed(rounded)),
    (check.range_release, by_level(shares(lambda level: np.where(level > 0, 2, 1)))),
    (check.range_release, by_level(shares(lambda level: 2 ** (level / 3)))),
    (check.range_release, checking.seeded(lambda seed: release(seed=seed, passes=lambda levels: [level.tolist() for level in histograms.consistent(levels)]))),
    (check.range_counter, Stack),
    (check.range_counter, QuieterDays),
    (check.range_counter, WholeStack),
    (check.range_counter, RoundedStack),
    (check.range_counter, NeverNegative),
    (check.range_counter, wall(without_root)),
    (check.range_counter, wall(agreeing())),
    (check.range_split, lambda values, low, high, epsilon, rng: float(split()(values, low, high, epsilon, rng))),
    (check.range_split, lambda values, low, high, epsilon, rng: split()(values[::-1], low, high, epsilon, np.random.default_rng(rng.integers(2**60)))),
    (check.range_split, checking.seeded(split)),
]

LEAKS = [
    (check.range_release, filled_tree),
    (check.range_release, exact_when_long),
    (check.range_release, lambda counts, epsilon, rng: release()(counts, epsilon, rng) if counts.sum() else histograms.tree(counts)),
    (check.range_release, release(shared=True)),
    (check.range_release, by_level(lambda L: np.append(0, np.full(L - 1, L)))),
    (check.range_release, by_level(lambda L: np.append(np.full(L - 1, L), 1))),
    (check.range_release, by_level(lambda L: np.arange(L, 0, -1))),
    (check.range_release, lambda counts, epsilon, rng: release()(counts, 2.0, rng)),
    (check.range_release, lambda counts, epsilon, rng: release()(counts, 1.0, rng)),
    (check.range_release, release(factor=lambda levels, epsilon: (1 + math.log(2 ** (levels - 1))) / epsilon)),
    (check.range_release, lambda counts, epsilon, rng: release(factor=3.0 if counts.sum() <= 1000 else 1.5)(counts, epsilon, rng)),
    (check.range_release, changed(lambda noise, scale: np.where(np.arange(noise.size) < 8, noise, 0))),
    (check.range_release, changed(again)),
    (check.range_release, changed(clipped)),
    (check.range_release, changed(towards_zero)),
    (check.range_release, lambda counts, epsilon, rng: release()(counts, epsilon, rng) if len(counts) > 1 else [counts]),
    (check.range_counter, Later),
    (check.range_counter, HalfLater),
    (check.range_counter, ClippedStack),
    (check.range_counter, CutToInt),
    (check.range_counter, PerLevel),
    (check.range_counter, wall(agreeing(lambda levels: 1 + math.log(2 ** (levels - 1))))),
    (check.range_counter, wall(each_alone)),
    (check.range_counter, wall(lambda visits, epsilon, rng: counter()(visits, 1.0, rng))),
    (check.range_counter, CheapDays),
    (check.range_counter, GrowingBlocks),
    (check.range_counter, Mirror),
    (check.range_counter, Quiet),
    (check.range_counter, wall(refreshed)),
    (check.range_split, best),
    (check.range_split, by_distance),
    (check.range_split, noisy_median),
    (check.range_split, split(candidates="values")),
    (check.range_split, lambda values, low, high, epsilon, rng: split()(values, low, high, epsilon, rng) if len(values) > 1 else low + 1 + len(values)),
    (check.range_split,
     lambda values, low, high, epsilon, rng: split()(values, low, high, epsilon, rng) if len(values) < 100 else median(values, low, high, 1, 1)),
]
