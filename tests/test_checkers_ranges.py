"""The checkers of the section on ranges and trees: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import numpy as np
import pytest

from dplib import histograms, mechanisms
from dplib.teaching import check
from dplib.teaching.check.histograms import ranges

SCALES = {("binary", "add/remove"): 22, ("binary", "replace"): 40, ("fourfold", "add/remove"): 12, ("fourfold", "replace"): 20}


def stub(*arguments):
    ...


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


def by_lstsq(counts, epsilon, rng):
    """Least squares in one go, as lists: another way to the same release."""
    rows = np.vstack([np.kron(np.eye(2**d), np.ones(len(counts) // 2**d)) for d in range(int(np.log2(len(counts))) + 1)])
    y = rows @ counts + rng.laplace(scale=int(np.log2(len(counts)) + 1) / epsilon, size=len(rows))
    leaves = np.linalg.lstsq(rows, y, rcond=None)[0]
    return [leaves.reshape(2**d, -1).sum(axis=1).tolist() for d in range(int(np.log2(len(counts))) + 1)]


def frozen(counts, epsilon, rng):
    return release(seed=3)(counts, epsilon, rng)


def counter(seed=None, factor=3.0, way="tree", draw="laplace"):
    own = None if seed is None else np.random.default_rng(seed)

    def function(visits, epsilon, rng):
        rng, days = own or rng, len(visits)
        if way == "each":
            return np.cumsum(visits) + rng.laplace(scale=factor / epsilon, size=days)
        if way == "one":
            return np.cumsum(visits) + rng.laplace(scale=factor / epsilon)
        if way == "days":
            return np.cumsum(visits + rng.laplace(scale=factor / epsilon, size=days))
        if way == "exact":
            return np.cumsum(visits)
        levels = histograms.tree(visits)
        scale = factor(len(levels), epsilon) if callable(factor) else factor * len(levels) / 3 / epsilon
        blocks = [level + (rng.laplace(scale=scale, size=level.size) if draw == "laplace" else rng.normal(scale=2**0.5 * scale, size=level.size))
                  for level in levels]
        return [histograms.range_count(blocks, 0, day) for day in range(1, days + 1)]

    return function


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
        self.blocks.append((size, count, count + self.rng.laplace(scale=self.scale)))
        return sum(noisy for _, _, noisy in self.blocks)


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
            cuts = np.unique(values[(values > low) & (values < high)])
        left = (values[:, None] < cuts).sum(axis=0)
        points = -np.abs(2 * left - len(values)) if score is None else score(left, len(values))
        return int(cuts[mechanisms.exponential(points, sensitivity=1, epsilon=factor * epsilon, rng=own or rng)])

    return function


def median(values, low, high, epsilon, rng):
    return int(np.clip(np.median(values), low + 1, high - 1))


def best(values, low, high, epsilon, rng):
    cuts = np.arange(low + 1, high)
    return int(cuts[np.argmin(np.abs(2 * (values[:, None] < cuts).sum(axis=0) - len(values)))])


STUBS = [
    (check.range_scale, dict.fromkeys(SCALES, ...)),
    (check.range_crossing, stub),
    (check.range_release, stub),
    (check.range_counter, ...),
    (check.range_split, ...),
    (check.range_counter, Silent),
    (check.range_split, stub),
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
    (check.range_scale, {**SCALES, ("binary", "add/remove"): ...}, "not attempted"),
    (check.range_scale, {("binary", "add/remove"): 22}, "expected the four keys"),
    (check.range_scale, 7, "expected form"),
    (check.range_crossing, crossing(levels=False), "times the noise of a flat bin"),
    (check.range_crossing, crossing(shift=-1), "one off"),
    (check.range_crossing, never, "tree does win"),
    (check.range_crossing, lambda n, b: 1, "not 1"),
    (check.range_crossing, lambda n, b: 2.5, "expected a length or None"),
    (check.range_crossing, "often", "expected a function"),
    (check.range_release, release(factor=0.0), "no noise"),
    (check.range_release, release(factor=1.0), "pays for one level"),
    (check.range_release, release(factor=2.0), "(levels − 1)"),
    (check.range_release, release(factor=6.0), "noise for replace"),
    (check.range_release, release(factor=3 / 2**0.5), "smaller than that by √2"),
    (check.range_release, release(factor=1.0, flat=True), "flat histogram"),
    (check.range_release, release(flat=True), "upper levels are not used"),
    (check.range_release, release(passes=only_down), "learn from its children"),
    (check.range_release, release(passes=list), "not consistent"),
    (check.range_release, release(draw="normal"), "wrong law"),
    (check.range_release, release(shared=True), "wrong law"),
    (check.range_release, frozen, "wrong law"),
    (check.range_release, lambda counts, epsilon, rng: counts, "levels of 1, 2 and 4"),
    (check.range_release, lambda counts: counts, "TypeError"),
    (check.range_release, release(factor=lambda levels, epsilon: 2.0), "does not depend on epsilon"),
    (check.range_release, release(factor=lambda levels, epsilon: 3 / epsilon), "count them"),
    (check.range_counter, wall(counter(factor=lambda levels, epsilon: 2.0)), "does not move with"),
    (check.range_counter, wall(counter(factor=lambda levels, epsilon: 3 / epsilon)), "in four blocks"),
    (check.range_scale, {**SCALES, ("binary", "replace"): 22}, "two nodes of a level"),
    (check.range_counter, wall(counter(way="exact")), "no noise"),
    (check.range_counter, wall(counter(factor=1.0, way="each")), "together they cost 4ε"),
    (check.range_counter, wall(counter(factor=4.0, way="each")), "grows with the season"),
    (check.range_counter, wall(counter(factor=1.0, way="one")), "exact daily visits"),
    (check.range_counter, wall(counter(factor=3.0, way="one")), "exact daily visits"),
    (check.range_counter, wall(counter(factor=1.0, way="days")), "sum of noisy days"),
    (check.range_counter, wall(counter(factor=1.0)), "levels have to share"),
    (check.range_counter, wall(counter(factor=2.0)), "log₂(T) + 1 levels"),
    (check.range_counter, wall(counter(factor=6.0)), "twice the noise"),
    (check.range_counter, wall(counter(draw="normal")), "wrong law"),
    (check.range_counter, wall(refreshed), "wrong law"),
    (check.range_counter, Lists, "one number"),
    (check.range_counter, TodayOnly, "off by more than noise"),
    (check.range_counter, NoMethod, "AttributeError"),
    (check.range_counter, counter(), "expected a class"),
    (check.range_split, median, "loss is infinite"),
    (check.range_split, best, "loss is infinite"),
    (check.range_split, split(factor=2.0), "factor 2"),
    (check.range_split, split(factor=0.5), "half of ε"),
    (check.range_split, split(score=lambda left, n: 0 * left), "a coin"),
    (check.range_split, split(candidates="values"), "only values that occur"),
    (check.range_split, split(score=lambda left, n: -np.abs(left - n / 3)), "comes out|in the cut"),
    (check.range_split, lambda values, low, high, epsilon, rng: high, "expected whole cuts"),
    (check.range_split, lambda values, low, high, epsilon, rng: np.median(values) + rng.laplace(), "expected whole cuts"),
    (check.range_split, 4, "expected a function"),
]


def test_every_checker_is_tested():
    names = set(ranges.__all__)
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == names


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, None) for checker in {row[0]: 0 for row in STUBS})])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    seeds = range(20) if checker not in (check.range_scale, check.range_crossing) else range(1)
    lines = {says(checker, solution(seed)) for seed in seeds}        # 20 * (7 + 6 + 2) chi-square tests at 1e-6
    assert len(lines) == 1 and lines.pop().startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and any(piece in said for piece in reason.split("|"))


@pytest.mark.parametrize("checker, answer", [
    (check.range_scale, {**SCALES, ("binary", "replace"): 44, ("fourfold", "replace"): 24}),
    (check.range_release, by_lstsq),
    (check.range_counter, Stack),
    (check.range_counter, wall(without_root)),
    (check.range_split, lambda values, low, high, epsilon, rng: float(split()(values, low, high, epsilon, rng))),
])
def test_an_unusual_answer_that_is_right_is_accepted(says, checker, answer):
    assert says(checker, answer).startswith("✓")


def test_the_law_of_a_sum_of_laplace_noises():
    """One noise has its closed form; two of one scale have the density (1 + |x|/b) e^(-|x|/b)/(4b)."""
    points = np.linspace(-6, 6, 25)
    one = np.where(points < 0, np.exp(-np.abs(points) / 2) / 2, 1 - np.exp(-np.abs(points) / 2) / 2)
    assert np.allclose(ranges._cdf([2.0, 0.0], points), one, atol=1e-3)
    x = np.abs(points)
    two = np.where(points < 0, (2 + x) * np.exp(-x) / 4, 1 - (2 + x) * np.exp(-x) / 4)
    assert np.allclose(ranges._cdf([1.0, -1.0], points), two, atol=1e-3)
