"""Answers to the exercises of the section on ranges and trees."""
import math

import checking
import numpy as np

from dplib import histograms, mechanisms
from provable_privacy import check
from provable_privacy.battery import makers
from provable_privacy.battery.makers import fixed_seed, given, laplace, normal, own_luck, scaled, then, where

SCALES = {("binary", "add/remove"): 22, ("binary", "replace"): 40,
          ("fourfold", "add/remove"): 12, ("fourfold", "replace"): 20}


# --------------------------------------------------------------------------------------------------------- the crossing

def matrix(n, branching):
    sizes = [branching**k for k in range(9) if branching**k <= n]
    return np.vstack([np.kron(np.eye(n // size), np.ones(size)) for size in sizes])


def crossing(levels=True, shift=0, tie=1e-9, of=lambda variance: variance):
    """A learner's crossing by brute force, right unless told otherwise."""
    def function(n, branching):
        rows = matrix(n, branching)
        covariance = 2 * (rows[:, 0].sum() if levels else 1) ** 2 * np.linalg.inv(rows.T @ rows)
        for length in range(1, n + 1):
            variances = [covariance[i : i + length, i : i + length].sum() for i in range(n - length + 1)]
            if np.mean(of(np.array(variances))) < of(2 * length) * (1 - tie):
                return length + shift
        return None

    return function


# --------------------------------------------------------------------------------------------------------------- a tree

def tree(scale=lambda L: L, law=laplace, passes=histograms.consistent):
    """A learner's release, right unless told otherwise; `scale` is of the number of levels, one or one for each."""
    def function(counts, epsilon, rng):
        levels = histograms.tree(counts)
        scales = np.broadcast_to(scale(len(levels)), len(levels)) / epsilon
        return passes([level + law(rng, b, level.shape) for level, b in zip(levels, scales)])

    return function


def exact(counts, epsilon):
    return histograms.tree(counts)


def flat(levels):
    return [levels[-1].reshape(len(level), -1).sum(axis=1) for level in levels]


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


def never_below(levels):
    """Leaves without negatives, added up."""
    return histograms.tree(np.maximum(histograms.consistent(levels)[-1], 0))


def as_lists(levels):
    return [level.tolist() for level in histograms.consistent(levels)]


def by_lstsq(counts, epsilon, rng):
    """Least squares in one go, as lists: another way to the same release."""
    rows, L = matrix(len(counts), 2)[::-1], len(counts).bit_length()
    leaves = np.linalg.lstsq(rows, rows @ counts + rng.laplace(scale=L / epsilon, size=len(rows)), rcond=None)[0]
    return [leaves.reshape(2**d, -1).sum(axis=1).tolist() for d in range(L)]


def filled(counts, epsilon, rng):
    """No noise on nodes without people."""
    levels = histograms.tree(counts)
    noises = [laplace(rng, len(levels) / epsilon, level.shape) for level in levels]
    return histograms.consistent([level + noise * (level > 0) for level, noise in zip(levels, noises)])


def redrawn(counts, epsilon, rng):
    """A node's noise is drawn until the node is not negative."""
    def drawn(count):
        return next(x for x in iter(lambda: count + rng.laplace(scale=len(levels) / epsilon), None) if x >= 0)

    levels = histograms.tree(counts)
    return histograms.consistent([np.array([drawn(count) for count in level]) for level in levels])


def shares(weights):
    """Scales that give each level its share of ε."""
    return lambda L: np.sum(weights(np.arange(L))) / weights(np.arange(L))


def natural(L):
    """Levels as many as ln(n) + 1, where log₂(n) + 1 are needed."""
    return 1 + (L - 1) * math.log(2)


def bare_root(L):
    return np.append(0, np.full(L - 1, L))


def cheap_bins(L):
    return np.append(np.full(L - 1, L), 1)


def by_height(L):
    return np.arange(L, 0, -1)


FAR = 2 * 2**0.5
CLIPPED, TOWARDS_ZERO, ROUNDED = makers.clipped(FAR), makers.whole(cut=np.trunc), makers.whole(cut=np.rint)


def drawn_again(rng, scale, shape):
    """Drawn again where it is far out: what is left of an exponential law after so many whole stretches."""
    noise = laplace(rng, scale, shape)
    return np.sign(noise) * (np.abs(noise) % (FAR * scale))


def wrapped(rng, scale, shape):
    return (laplace(rng, scale, shape) + 2 * scale) % (4 * scale) - 2 * scale


def repeated(size):
    """So many noises, again and again."""
    return lambda rng, scale, shape: np.resize(laplace(rng, scale, (min(size, *shape),)), shape)


def same_signs(rng, scale, shape):
    """Two neighbours have noise of the same sign."""
    return np.abs(laplace(rng, scale, shape)) * np.repeat(rng.choice([-1, 1], shape), 2)[: shape[0]]


def whole_scale(noisy):
    """The scale, levels/ε, is rounded to a whole number."""
    return lambda table, epsilon, rng: noisy(lambda L: max(round(L / epsilon), 1) * epsilon)(table, epsilon, rng)


def of_those_there(counts, epsilon, rng):
    """As many levels as the bins with people in them need."""
    return tree(lambda L: 1 + math.log2(max(np.count_nonzero(counts), 1)))(counts, epsilon, rng)


def on_eight(rng, scale, shape):
    """The first eight nodes of a level have noise."""
    return laplace(rng, scale, shape) * (np.arange(*shape) < 8)


# --------------------------------------------------------------------------------------------------------------- a wall

def wall(noise):
    """A learner's class that adds `noise(days, epsilon, rng)` to the running totals."""
    class Wall:
        def __init__(self, days, epsilon, rng):
            self.noise, self.total = list(noise(days, epsilon, rng)), 0

        def day(self, visits):
            self.total += visits
            return self.total + self.noise.pop(0)

    return Wall


def blocks(scale=lambda L: L, law=laplace, later=1.0):
    """Noise of a tree, right unless told otherwise: of blocks that are complete after day 8 only this part."""
    def noise(days, epsilon, rng):
        L, day, totals = days.bit_length(), np.arange(1, days + 1), 0
        for j, b in enumerate(reversed(np.broadcast_to(scale(L), L) / epsilon)):
            ends = np.arange(1, (days >> j) + 1) << j
            block = law(rng, b, ends.shape) * np.where(ends > 8, later, 1)
            totals = totals + np.where(day >> j & 1, block[(day >> j) - 1], 0)  # the bits of a day are its blocks
        return totals

    return noise


def each(scale):
    return lambda days, epsilon, rng: rng.laplace(scale=scale(days) / epsilon, size=days)


def one(scale):
    return lambda days, epsilon, rng: np.full(days, rng.laplace(scale=scale / epsilon))


def noisy_days(scale):
    return lambda days, epsilon, rng: each(scale)(days, epsilon, rng).cumsum()


def agreeing(scale=lambda L: L):
    """Totals of a tree whose levels agree."""
    return lambda days, epsilon, rng: tree(scale)(np.zeros(days, int), epsilon, rng)[-1].cumsum()


def refreshed(days, epsilon, rng):
    """New noise in a block for every total that uses it."""
    return [blocks()(days, epsilon, rng)[day] for day in range(days)]


def turned_round(days, epsilon, rng):
    """The last total has the first day's noise, with the other sign."""
    noise = blocks()(days, epsilon, rng)
    noise[-1] = np.round(-noise[0], 9)
    return noise


def without_root(days, epsilon, rng):
    """The last day from its two halves: one level less to pay for, except where there is one day only."""
    scale = max(days.bit_length() - 1, 1) / epsilon
    levels = [rng.laplace(scale=scale, size=2**d) for d in range(min(days - 1, 1), days.bit_length())]
    totals = []
    for day in range(1, days + 1):
        total, start = 0.0, 0
        for level in levels:
            size = days // level.size
            while start + size <= day:
                total, start = total + level[start // size], start + size
        totals.append(total)
    return totals


class Stack:
    """The solution of the section: equal blocks merge, and the merged block gets a noise of its own."""

    def __init__(self, days, epsilon, rng):
        self.scale, self.rng, self.blocks = days.bit_length() / epsilon, rng, []

    def day(self, visits):
        size, count = 1, visits
        while self.blocks and self.blocks[-1][0] == size:
            count, size = count + self.blocks.pop()[1], 2 * size
        self.blocks.append((size, count, count + self.rng.laplace(scale=self.scale)))
        return sum(noisy for _, _, noisy in self.blocks)


class NeverNegative(Stack):
    """Prints no total below zero: post-processing, and private."""

    def day(self, visits):
        return max(super().day(visits), 0.0)


class Quiet(Stack):
    """No noise while nobody came."""

    def day(self, visits):
        said = super().day(visits)
        return said if any(count for _, count, _ in self.blocks) else 0.0


class OneSign(Stack):
    """All blocks have noise of the same sign."""

    def __init__(self, days, epsilon, rng):
        super().__init__(days, epsilon, rng)
        self.sign = rng.choice([-1, 1])

    def day(self, visits):
        super().day(visits)
        size, count, noisy = self.blocks.pop()
        self.blocks.append((size, count, count + self.sign * abs(noisy - count)))
        return sum(noisy for _, _, noisy in self.blocks)


class QuietOnMany(Stack):
    """No noise while some hundreds have come."""

    def day(self, visits):
        said, total = super().day(visits), sum(count for _, count, _ in self.blocks)
        return float(total) if 100 < total < 900 else said


class Redrawn(Stack):
    """A total is drawn until it is not negative."""

    def day(self, visits):
        kept, said = list(self.blocks), -1
        while said < 0:
            self.blocks = list(kept)
            said = super().day(visits)
        return said


class NoMethod:
    def __init__(self, days, epsilon, rng):
        self.rng = rng


class Silent(NoMethod):
    def day(self, visits):
        ...


class TodayOnly(NoMethod):
    def day(self, visits):
        return 100 * visits + self.rng.laplace()


class Lists(NoMethod):
    def day(self, visits):
        return [visits]


# ---------------------------------------------------------------------------------------------------------------- a cut

def balance(left, n):
    return -np.abs(2 * left - n)


def split(factor=1.0, score=balance, candidates=lambda values, cuts: cuts):
    """A learner's cut, right unless told otherwise; where there is no candidate, all cuts are tried."""
    def function(values, low, high, epsilon, rng):
        cuts = np.arange(low + 1, high)
        some = candidates(values, cuts) if len(values) else cuts
        cuts = some if len(some) else cuts
        scores = score((values[:, None] < cuts).sum(axis=0), len(values))
        return int(cuts[mechanisms.exponential(scores, sensitivity=1, epsilon=factor * epsilon, rng=rng)])

    return function


def between(values, cuts):
    return cuts[(cuts >= values.min()) & (cuts <= values.max())]


def within_reach(values, cuts):
    """Those whose score is not far below the best."""
    scores = balance((values[:, None] < cuts).sum(axis=0), len(values))
    return cuts[scores >= scores.max() - 10]


def leads(by):
    """Whether the best cut is better than all others by so much."""
    def function(values, low, high, epsilon):
        scores = np.sort(balance((values[:, None] < np.arange(low + 1, high)).sum(axis=0), len(values)))
        return len(scores) > 1 and scores[-1] - scores[-2] >= by

    return function


def or_first(cut):
    """Where nobody is, the first cut."""
    return where(lambda values, *rest: len(values) > 0, cut, lambda values, low, *rest: low + 1)


def best_of_ties(values, low, high, epsilon, rng):
    cuts = np.arange(low + 1, high)
    scores = balance((values[:, None] < cuts).sum(axis=0), len(values))
    return int(rng.choice(cuts[scores == scores.max()]))


def backwards(values, low, high, epsilon, rng):
    """Reads the list from its end, with a generator of its own."""
    return SPLIT(values[::-1], low, high, epsilon, np.random.default_rng(rng.integers(2**60)))


def by_distance(values, low, high, epsilon, rng):
    """The distance from the median as the score: one row more can turn it round."""
    middle = np.median(values) if len(values) else (low + high) / 2
    scores = -np.abs(np.arange(low + 1, high) - middle)
    return int(mechanisms.exponential(scores, sensitivity=1, epsilon=epsilon, rng=rng)) + low + 1


def noisy_median(values, low, high, epsilon, rng):
    noisy = np.median(values) + rng.laplace(scale=2 / epsilon) if len(values) else low
    return int(np.clip(round(noisy), low + 1, high - 1))


def median(values, low, high, epsilon, rng):
    return int(np.clip(np.median(values) if len(values) else low, low + 1, high - 1))


def best(values, low, high, epsilon, rng):
    cuts = np.arange(low + 1, high)
    return int(cuts[np.argmax(balance((values[:, None] < cuts).sum(axis=0), len(values)))])


def first_of_gap(cut, given, rng):
    """The lowest cut that has as many people below it."""
    values, low, *_ = given
    return int(max(values[values < cut].max(initial=low), low) + 1)


TREE, SPLIT, THOSE_THERE, BETWEEN = tree(), split(), split(candidates=np.intersect1d), split(candidates=between)

STUBS = [
    (check.range_counter, Silent),
]

SOLUTIONS = [
    (check.range_scale, lambda seed: SCALES),
    (check.range_crossing, lambda seed: crossing()),
    (check.range_release, own_luck(TREE)),
    (check.range_counter, lambda seed: wall(own_luck(blocks())(seed))),
    (check.range_split, own_luck(SPLIT)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.range_scale, {**SCALES, ("binary", "add/remove"): 2}, "one level"),
    (check.range_scale, {**SCALES, ("binary", "add/remove"): 20}, "root and the leaves"),
    (check.range_scale, {**SCALES, ("fourfold", "replace"): 10}, "two nodes of a level"),
    (check.range_scale, {**SCALES, ("binary", "replace"): 22}, "two nodes of a level"),
    (check.range_scale, {**SCALES, ("fourfold", "add/remove"): 100}, "larger than needed"),
    (check.range_scale, {**SCALES, ("binary", "add/remove"): 11}, "costs more than 0.5"),
    (check.range_scale, {**SCALES, ("binary", "add/remove"): ..., ("binary", "replace"): 1}, "costs"),
    (check.range_scale, {("binary", "add/remove"): 22}, "missing"),
    (check.range_scale, 7, "expected a dict"),
    (check.range_crossing, crossing(levels=False), "times the noise of a flat bin"),
    (check.range_crossing, crossing(shift=-1), "one off"),
    (check.range_crossing, crossing(of=np.sqrt), "standard deviations averaged"),
    (check.range_crossing, crossing(tie=-1e-9), "a tie is no win"),
    (check.range_crossing, lambda n, b: crossing()(n, b) or 1, "a first True where there is none"),
    (check.range_crossing, lambda n, b: None if n != 64 else 63, "tree does win"),
    (check.range_crossing, lambda n, b: 1, "not 1"),
    (check.range_crossing, lambda n, b: 5, "averaged over all positions"),
    (check.range_crossing, lambda n, b: 2.5, "expected a length or None"),
    (check.range_crossing, "often", "expected a function"),
    (check.range_release, tree(lambda L: 0), "no noise"),
    (check.range_release, tree(lambda L: L / 3), "pays for one level"),
    (check.range_release, given(tree(lambda L: 2), epsilon=1.0), "times as often"),
    (check.range_release, tree(lambda L: L - 1), "the root and the leaves need"),
    (check.range_release, tree(bare_root), "the root has no noise"),
    (check.range_release, tree(cheap_bins), "the bins have noise 1/ε"),
    (check.range_release, tree(by_height), "the noise grows with the height"),
    (check.range_release, tree(lambda L: 3), "that of three levels"),
    (check.range_release, tree(lambda L: 2 * L), "as for replace"),
    (check.range_release, tree(lambda L: 2 ** (L - 1)), "here with twice the noise"),
    (check.range_release, tree(lambda L: L / 2**0.5), "√2 times that"),
    (check.range_release, tree(lambda L: L / 3, passes=flat), "flat histogram"),
    (check.range_release, tree(passes=flat), "the upper levels are not used"),
    (check.range_release, tree(passes=only_down), "noisier than least squares"),
    (check.range_release, tree(passes=halves), "noisier than least squares"),
    (check.range_release, tree(passes=list), "not consistent"),
    (check.range_release, tree(law=scaled(2**0.5, normal)), "like those of normal noise"),
    (check.range_release, tree(law=makers.shared()), "one noise serves all nodes"),
    (check.range_release, tree(law=normal), "the noise is normal"),
    (check.range_release, redrawn, "drawn again"),
    (check.range_release, tree(passes=never_below), "never come out below 0"),
    (check.range_release, fixed_seed(TREE, 3), "a seed is fixed inside"),
    (check.range_release, lambda counts, epsilon, rng: counts, "levels of 1, 2, 4"),
    (check.range_release, lambda counts: counts, "TypeError"),
    (check.range_release, lambda counts, epsilon, rng: print(end=""), "return"),
    (check.range_counter, wall(lambda days, epsilon, rng: np.zeros(days)), "no noise"),
    (check.range_counter, wall(each(lambda days: 1)), "and each costs ε"),
    (check.range_counter, wall(each(lambda days: 4)), "should be in 75%"),
    (check.range_counter, wall(each(int.bit_length)), "fresh noise on each total"),
    (check.range_counter, wall(each(lambda days: days)), "which grows with the season"),
    (check.range_counter, wall(one(1.0)), "exact daily visits"),
    (check.range_counter, wall(one(3.0)), "exact daily visits"),
    (check.range_counter, wall(noisy_days(lambda days: 1)), "sum of noisy days"),
    (check.range_counter, wall(noisy_days(int.bit_length)), "give each block one of its own"),
    (check.range_counter, wall(given(blocks(lambda L: 2), epsilon=1.0)), "times as often"),
    (check.range_counter, wall(blocks(lambda L: 3)), "all levels share ε"),
    (check.range_counter, wall(blocks(lambda L: L / 3)), "levels have to share"),
    (check.range_counter, wall(blocks(lambda L: 2 / 3 * L)), "log₂(T) + 1 levels"),
    (check.range_counter, wall(blocks(lambda L: 2 * L)), "twice the noise"),
    (check.range_counter, wall(blocks(lambda L: 1.5 * L)), "times the variance that it needs"),
    (check.range_counter, wall(blocks(natural)), "times the variance that it needs"),
    (check.range_counter, wall(blocks(lambda L: L / 2**0.5)), "times the variance that it needs"),
    (check.range_counter, wall(blocks(law=scaled(2**0.5, normal))), "noise is normal"),
    (check.range_counter, wall(blocks(law=makers.shared())), "one noise serves all blocks of a level"),
    (check.range_counter, wall(blocks(cheap_bins)), "a day of its own has noise 1/ε"),
    (check.range_counter, wall(blocks(by_height)), "the noise grows with the block"),
    (check.range_counter, wall(refreshed), "gets new noise for every total"),
    (check.range_counter, Redrawn, "drawn again"),
    (check.range_counter, Lists, "one number"),
    (check.range_counter, TodayOnly, "range_"),
    (check.range_counter, NoMethod, "AttributeError"),
    (check.range_counter, blocks(), "expected a class"),
    (check.range_split, median, "loss is infinite"),
    (check.range_split, best, "loss is infinite"),
    (check.range_split, best_of_ties, "drawn among ties"),
    (check.range_split, lambda values, *given: SPLIT(values - 1, *given), "people at the cut go to the left"),
    (check.range_split, split(2.0), "factor 2"),
    (check.range_split, split(0.5), "half of ε"),
    (check.range_split, split(score=lambda left, n: 0 * left), "a coin"),
    (check.range_split, THOSE_THERE, "only values that occur"),
    (check.range_split, or_first(THOSE_THERE), "only values that occur can be cuts"),
    (check.range_split, BETWEEN, "between the smallest and the largest"),
    (check.range_split, or_first(BETWEEN), "between the smallest and the largest"),
    (check.range_split, split(score=lambda left, n: -np.abs(left - n / 3)), "should be in 20%"),
    (check.range_split, lambda values, low, high, epsilon, rng: high, "must be possible; got"),
    (check.range_split, lambda values, *given: np.median(values) + given[-1].laplace(), "expected whole cuts"),
    (check.range_split, 4, "expected a function"),
    (check.range_split, by_distance, "count people"),
    (check.range_split, lambda values, low, high, epsilon, rng: (low + high) // 2, "law of the right answer"),
]

UNUSUAL = [
    (check.range_scale, {**SCALES, ("binary", "replace"): 44, ("fourfold", "replace"): 24}),
    (check.range_release, by_lstsq),
    (check.range_release, tree(law=makers.geometric)),
    (check.range_release, tree(law=ROUNDED)),
    (check.range_release, tree(shares(lambda level: np.where(level > 0, 2, 1)))),
    (check.range_release, tree(shares(lambda level: 2 ** (level / 3)))),
    (check.range_release, checking.seeded(own_luck(tree(passes=as_lists)))),
    (check.range_counter, Stack),
    (check.range_counter, wall(blocks(lambda L: (L + 1) * np.append(np.ones(L - 1), 0.5)))),
    (check.range_counter, wall(blocks(law=makers.geometric))),
    (check.range_counter, wall(blocks(law=ROUNDED))),
    (check.range_counter, NeverNegative),
    (check.range_counter, wall(without_root)),
    (check.range_counter, wall(agreeing())),
    (check.range_split, then(SPLIT, lambda cut, given, rng: float(cut))),
    (check.range_split, backwards),
    (check.range_split, checking.seeded(own_luck(SPLIT))),
]

LEAKS = [
    (check.range_release, filled),
    (check.range_release, where(lambda counts, epsilon: len(counts) <= 4, TREE, exact)),
    (check.range_release, where(lambda counts, epsilon: counts.sum() > 0, TREE, exact)),
    (check.range_release, tree(law=makers.shared())),
    (check.range_release, tree(bare_root)),
    (check.range_release, tree(cheap_bins)),
    (check.range_release, tree(by_height)),
    (check.range_release, given(TREE, epsilon=2.0)),
    (check.range_release, given(TREE, epsilon=1.0)),
    (check.range_release, tree(natural)),
    (check.range_release, where(lambda counts, epsilon: counts.sum() > 1000, tree(lambda L: L / 2), TREE)),
    (check.range_release, tree(law=on_eight)),
    (check.range_release, tree(law=drawn_again)),
    (check.range_release, tree(law=wrapped)),
    (check.range_release, tree(law=CLIPPED)),
    (check.range_release, tree(law=TOWARDS_ZERO)),
    (check.range_release, where(lambda counts, epsilon: len(counts) > 1, TREE, exact)),
    (check.range_release, where(lambda counts, epsilon: epsilon > 2, exact, TREE)),                      # large epsilon
    (check.range_release, given(TREE, epsilon=lambda epsilon: max(epsilon, 0.1))),                       # small epsilon
    (check.range_release, whole_scale(tree)),
    (check.range_release, where(lambda counts, epsilon: 100 < counts.max() < 1000, exact, TREE)),        # contents
    (check.range_release, where(lambda counts, epsilon: len(counts) == 1 and counts[0] < 500, exact, TREE)),
    (check.range_release, where(lambda counts, epsilon: len(counts) > 16, exact, TREE)),
    (check.range_release, tree(law=repeated(8))),                                                        # shared noise
    (check.range_release, tree(law=same_signs)),
    (check.range_release, of_those_there),
    (check.range_counter, wall(where(lambda days, epsilon: epsilon > 2, lambda days, epsilon: [0] * days, blocks()))),
    (check.range_counter, wall(given(blocks(), epsilon=lambda epsilon: max(epsilon, 0.1)))),
    (check.range_counter, wall(whole_scale(blocks))),
    (check.range_counter, wall(where(lambda days, epsilon: days == 1, lambda days, epsilon: [0], blocks()))),
    (check.range_counter, wall(where(lambda days, epsilon: days > 16, lambda days, epsilon: [0] * days, blocks()))),
    (check.range_counter, QuietOnMany),
    (check.range_counter, wall(blocks(law=repeated(4)))),
    (check.range_counter, wall(blocks(law=repeated(8)))),
    (check.range_counter, OneSign),
    (check.range_counter, wall(blocks(later=0.0))),
    (check.range_counter, wall(blocks(later=0.5))),
    (check.range_counter, wall(blocks(law=CLIPPED))),
    (check.range_counter, wall(blocks(law=TOWARDS_ZERO))),
    (check.range_counter, wall(blocks(law=makers.shared()))),
    (check.range_counter, wall(agreeing(natural))),
    (check.range_counter, wall(each(int.bit_length))),
    (check.range_counter, wall(given(blocks(), epsilon=1.0))),
    (check.range_counter, wall(blocks(cheap_bins))),
    (check.range_counter, wall(blocks(by_height))),
    (check.range_counter, wall(turned_round)),
    (check.range_counter, Quiet),
    (check.range_counter, wall(refreshed)),
    (check.range_split, best),
    (check.range_split, by_distance),
    (check.range_split, noisy_median),
    (check.range_split, THOSE_THERE),
    (check.range_split, where(lambda values, *_: len(values) > 1, SPLIT, lambda v, low, *_: low + 1 + len(v))),
    (check.range_split, where(lambda values, *rest: len(values) < 100, SPLIT, median)),
    (check.range_split, where(lambda values, low, high, epsilon: epsilon > 5, best_of_ties, SPLIT)),     # large epsilon
    (check.range_split, given(SPLIT, epsilon=lambda epsilon: max(epsilon, 0.1))),                        # small epsilon
    (check.range_split, split(candidates=within_reach)),                                                 # far
    (check.range_split, where(leads(3), best, SPLIT)),
    (check.range_split, where(leads(20), best, SPLIT)),
    (check.range_split, where(lambda values, low, *rest: low < 0, best, SPLIT)),                         # negative
    (check.range_split, where(lambda values, *rest: 9 < len(values) < 41, best, SPLIT)),                 # sizes
    (check.range_split, where(lambda values, *rest: 41 < len(values) < 700, best, SPLIT)),
    (check.range_split, where(lambda values, *rest: len(values) > 1 and np.ptp(values) == 0, best, SPLIT)),
    (check.range_split, where(lambda values, low, high, epsilon: high - low == 3, best, SPLIT)),
    (check.range_split, where(lambda values, low, high, epsilon: high - low > 42, best, SPLIT)),
    (check.range_split, lambda v, low, high, epsilon, rng: SPLIT(v, low, high, epsilon * max(1, len(v) / 500), rng)),
    (check.range_split, where(lambda values, *rest: len(values) > 100, then(SPLIT, first_of_gap), SPLIT)),
    (check.range_split, where(lambda values, low, *rest: len(values) > 2 and (values <= low).all(),
                              lambda values, low, *rest: low + 1, SPLIT)),
]
