"""Checkers of the section on ranges and trees."""
import functools

import numpy as np
from scipy.special import bdtrc

from dplib import histograms
from provable_privacy.battery import Choice, Numbers, Pair, battery, looks_for
from provable_privacy.battery.makers import laplace, normal
from provable_privacy.entries import Number, entries
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["range_counter", "range_crossing", "range_release", "range_scale", "range_split"]


BINS, WHOLE = "counts of bins or days come in", "people and their ages are whole numbers"
ONE = "one cut comes out"

# -------------------------------------------------------------------------------------- the scale and the use of a tree

def _tree_rows(n, branching):
    """One row for each node of the tree over n bins, the root first: 1 for the bins below it."""
    rows, size = [], n
    while size >= 1:
        rows.append(np.kron(np.eye(n // size), np.ones(size)))
        size //= branching
    return np.vstack(rows)


TREES = {"binary": (1024, 2), "fourfold": (1024, 4)}
EPSILON = 0.5


def _nodes(tree):
    """How many levels a tree has, and most nodes that change when a person moves from the first bin to another."""
    rows = _tree_rows(*TREES[tree])
    return int(rows[:, 0].sum()), int(np.abs(rows[:, [0]] - rows[:, 1:]).sum(axis=0).max())


@entries("a level is paid for by everybody, and a wider tree has fewer of them")
def range_scale():
    """`answer`: (tree, adjacency) -> smallest Laplace scale on every node for which the tree costs epsilon = 0.5."""
    def entry(smallest, step, mistakes, also=()):
        mistakes |= {
            "{said} pays for one level; a person is counted once on every level": (1 / EPSILON, 2 / EPSILON),
            "{said} pays for one level less than there are: count the root and the leaves": smallest - step}
        return Number(smallest, "", mistakes, tolerance=1e-9, relative=1e-9, near=1e-5, also=also,
                      below=f"with scale {{said}} one person costs more than {EPSILON}",
                      above="scale {said} is private, but larger than needed")

    both = "a person who moves leaves one bin and enters another, and changes two nodes of a level"
    asked = {}
    for tree in TREES:
        levels, moved = _nodes(tree)
        asked[tree, "add/remove"] = entry(levels / EPSILON, 1 / EPSILON, {})
        asked[tree, "replace"] = entry(moved / EPSILON, 2 / EPSILON,        # the root does not move: one may use that
                                       {both: (moved / EPSILON / 2, levels / EPSILON)}, (2 * levels / EPSILON,))
    return asked


CROSSINGS = [(16, 2), (64, 4), (64, 8), (16, 4), (4, 2), (81, 3), (3, 3)]           # the last has a tie


@checker
def range_crossing(crossing):
    """`crossing(n, branching)`: the shortest length at which a consistent tree beats the flat histogram, or None."""
    for n, branching in CROSSINGS:
        rows, got = _tree_rows(n, branching), ask(crossing, n, branching)
        levels, covariance = rows[:, 0].sum(), np.linalg.inv(rows.T @ rows)
        exact, unfair = (_first_win(n, factor * covariance) for factor in (2 * levels**2, 2))
        if reason := _no_crossing(got, exact, unfair, levels):
            raise Wrong(f"n = {n}, branching {branching}: {reason}")
    return "right on seven trees, from 3 bins to 81"


def _no_crossing(got, exact, unfair, levels):
    """Words for a wrong length, or ""; `unfair` is the length for a tree with the noise of a flat bin."""
    if got == exact and not isinstance(got, bool):
        return ""
    if got is None:
        return f"the tree does win, from length {exact} on"
    if isinstance(got, bool) or not np.isclose(float(got), round(float(got))):
        return f"expected a length or None, got {got!r}"
    if exact is None:
        return ("at no length is the tree better (a tie is no win, and np.argmax finds a first True where there is "
                f"none), so None; got {got}")
    if got == unfair:
        return f"not {got}: at the same ε every node of the tree has {levels:g} times the noise of a flat bin"
    if got == exact - 1:
        return (f"not {got}: one off; does np.argmax count from zero, or are standard deviations averaged and not "
                "variances?")
    return f"not {got}: compare the variances at each length, averaged over all positions of a range in the domain"


def _first_win(n, covariance):
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
    for length in range(1, n + 1):
        i = np.arange(n - length + 1)
        j = i + length
        if (sums[j, j] - sums[i, j] - sums[j, i] + sums[i, i]).mean() < 2 * length * (1 - 1e-9):
            return length
    return None


# -------------------------------------------------------------------------------------------- a tree that is consistent

def _noisy(scale=lambda L: L, law=laplace, per_level=False, passes=histograms.consistent):
    """A release, right unless told otherwise; `passes` is linear, so that it is asked once what each node adds."""
    @functools.cache
    def given(n):
        levels, starts = n.bit_length(), 2 ** np.arange(1, n.bit_length()) - 1
        level = np.log2(np.arange(1, 2 * n)).astype(int)
        leaves = np.transpose([passes(np.split(node, starts))[-1] for node in np.eye(2 * n - 1)])
        scales = np.broadcast_to(scale(levels), levels)[level]
        return _tree_rows(n, 2), starts, leaves, scales, level if per_level else np.arange(2 * n - 1)

    def wrong(counts, epsilon, rng):
        rows, starts, leaves, scales, drawn = given(len(counts))
        noise = law(rng, 1.0, drawn.shape)[drawn] * scales / epsilon
        return np.split(rows @ (counts + leaves @ noise), starts)

    return wrong


def _redrawn_tree(counts, epsilon, rng):
    true, L = np.concatenate(histograms.tree(counts)), len(counts).bit_length()
    noisy = np.full(len(true), -1.0)
    while (noisy < 0).any():
        noisy = np.where(noisy < 0, true + rng.laplace(scale=L / epsilon, size=len(true)), noisy)
    return histograms.consistent(np.split(noisy, 2 ** np.arange(1, L) - 1))


RIGHT_TREE = _noisy()
BEYOND = "what comes out at its end on one table cannot come from a neighbour"
RELEASES = {
    "there is no noise": _noisy(lambda L: 0),
    "the noise has scale 1/ε on every node: that pays for one level, and a person is counted on every level":
        _noisy(lambda L: 1),
    "too little noise, about (levels − 1)/ε: the root and the leaves need their shares of ε, too":
        _noisy(lambda L: L - 1),
    "the noise is that of three levels, however many there are: count them": _noisy(lambda L: 3),
    "the root has no noise: under add/remove the number of people is private, too":
        _noisy(lambda L: L * (np.arange(L) > 0)),
    "the bins have noise 1/ε, which takes all of ε, and the other levels cost more":
        _noisy(lambda L: np.append(np.full(L - 1, L), 1)),
    "the noise grows with the height of a node, 1/ε, 2/ε, …: the levels share ε, and 1 + 1/2 + 1/3 + … is more than 1":
        _noisy(lambda L: np.arange(L, 0, -1)),
    "private, but here with twice the noise, as for replace: under add/remove a person changes one node of a level":
        _noisy(lambda L: 2 * L),
    "the noise has the standard deviation levels/ε; that must be its scale, and the standard deviation √2 times that":
        _noisy(lambda L: L / 2**0.5),
    "the noise is normal: no ε holds, whatever its size": _noisy(law=normal),
    "the noise is normal, of the right standard deviation: no ε holds, its tails fall too fast":
        _noisy(lambda L: 2**0.5 * L, normal),
    "one noise serves all nodes of a level: their differences are exact": _noisy(per_level=True),
    "private, but this is the flat histogram added up: the upper levels were not measured":
        _noisy(lambda L: 1, passes=list),
    "consistent, but the upper levels are not used: least squares averages what they say with the sum of the children":
        _noisy(passes=list),
    "a node below zero is drawn again: how often that happens depends on its true count, and the loss is more than ε":
        _redrawn_tree,
}


def _leaves(answer, arguments, rng):
    """The released leaves; the other levels must be their sums, and add nothing."""
    got, sizes = answered(answer, *arguments, rng), 2 ** np.arange(len(arguments[0]).bit_length())
    try:
        got = [np.atleast_1d(np.asarray(level, dtype=float)) for level in got]
    except (TypeError, ValueError):
        got = []
    if [level.shape for level in got] != [(size,) for size in sizes]:
        expected = f"expected levels of {', '.join(map(str, sizes))} numbers, the root first"
        raise Wrong(f"{expected}, got {[level.shape for level in got]}")
    nodes = np.concatenate(got)                  # node i has the children 2 i + 1 and 2 i + 2
    gap = np.abs(nodes[: len(got[-1]) - 1] - nodes[1::2] - nodes[2::2]).max(initial=0)
    if not gap < 1e-6:
        raise Wrong(f"a node and the sum of its children differ by {gap:.3g}: the tree is not consistent")
    return got[-1]


def _views(n):
    """The sums of all blocks except for the leaves."""
    return tuple((f"the sum of bins {i * size + 1} to {(i + 1) * size}", row)
                 for size in (2 ** np.arange(1, n.bit_length())).tolist()
                 for i, row in enumerate(np.kron(np.eye(n // size), np.ones(size))))


def _bins(pair):
    n = len(pair.one[0])
    return Numbers(n, [f"bin {i + 1}" for i in range(n)], _views(n) if n <= 8 else ())


def _tables(what, counts, more, epsilon, wide=0.0, **settings):
    """`counts`, and the same with `more` people; 3 runs of 4 are within `wide` standard deviations of the best."""
    one, two = np.array(counts), np.array(counts) + more
    rows = _tree_rows(len(one), 2)
    sd = np.sqrt(2 * np.diag(np.linalg.inv(rows.T @ rows))) * rows[:, 0].sum() / epsilon
    return Pair(what, (one, epsilon), (two, epsilon), ((epsilon * int(np.sum(np.abs(more))), 0.0),), (one, two),
                within=wide * sd if wide else None, share=0.75, **settings)


TABLES = [
    _tables("nobody in four bins / one person in the first", np.zeros(4, int), [1, 0, 0, 0], 0.4, runs=500, twice=260),
    _tables("four bins / one more person in the last", [3, 0, 4, 7], [0, 0, 0, 1], 0.5, runs=500),
    _tables("four bins / five more in the third", [5, 5, 5, 5], [0, 0, 5, 0], 0.5, 1.38, runs=2500, law=True),
    _tables("eight bins / six more in the first", [0, 0, 40, 7, 0, 1, 9, 5], [6, 0, 0, 0, 0, 0, 0, 0], 0.4, runs=1000,
            law=True),
    _tables("two bins of thousands, ε = 0.02 / 100 more in the second", [4000, 2500], [0, 100], 0.02, 1.38, runs=800,
            law=True),
    _tables("8 bins, ε = 0.55 / two more in the last", np.arange(8) % 3, [0] * 7 + [2], 0.55, runs=300),
    _tables("64 bins of hundreds / one more in the last", 150 + np.arange(64) % 7, [0] * 63 + [1], 0.5, runs=150),
    _tables("four bins, ε = 9 / one more in the first", [2, 0, 1, 0], [1, 0, 0, 0], 9.0, runs=1200, law=True),
]


@checker
@looks_for("far", "quotient", "own", "zero", size=BINS, empty=BINS, contents="a person is in one bin", fractions=WHOLE,
           negative=WHOLE, missing=WHOLE, order="a level comes out in the order of its nodes")
def range_release(release):
    """`release(counts, epsilon, rng)`: consistent binary tree, epsilon under add/remove; levels, the root first."""
    looked = battery(release, _bins, TABLES, call=_leaves, mistakes=RELEASES, right=RIGHT_TREE, seed=51)
    _on_16_bins(release)
    _on_one_bin(release)
    return f"parents equal the sum of their children, and {looked}"


def _on_16_bins(release):
    empty, full = np.zeros(16, int), 150 * (np.arange(16) == 5)
    if min(_leaves(release, (empty, 0.3), np.random.default_rng(seed)).min() for seed in range(20)) >= 0:
        raise Wrong("16 empty bins never come out below 0: where the noise is cut there, it no longer cancels in the "
                    "sums; least squares cuts nothing")
    long, rows = _tables("16 bins", full, empty, 0.3, 1.0), _tree_rows(16, 2)
    variances = np.diag(rows @ np.linalg.inv(rows.T @ rows) @ rows.T)[:15]
    off, sums = _counts_its_levels(release, _leaves, long, rows[:15], variances, 4400)
    bins = np.mean(off**2) / np.mean(long.within**2)             # the standard errors are 0.009: 0.05 by luck: 1e-7
    if bins > 1.06 or sums > 1.05 and bins > 0.95:               # with more of ε for the bins there is less noise there
        raise Wrong(f"consistent, but noisier than least squares: on 16 bins {bins:.3f} times the variance that it "
                    f"needs, on their sums {sums:.3f} times; has each level its share of ε, and is the mean of a "
                    "parent's own number and the sum of its children's weighted by how exact they are?")
    each = np.mean(off**2, axis=0)               # the standard errors are 0.026 of their mean
    if each.min() < 0.8 * each.mean():
        raise Wrong(f"on 16 bins the noise of bin {each.argmin() + 1} has {each.min() / each.mean():.2f} times the "
                    "variance that it has on average: a person in any bin is counted on every level, "
                    "and all nodes need noise")
    halves = np.corrcoef(off.T)[:8, 8:]          # only the root is above both: about -0.03 for the solution
    if np.abs(halves).max() > 0.25:
        raise Wrong(f"on 16 bins the noises of two bins far apart depend on each other ({np.abs(halves).max():.2f}): "
                    "draw a noise for each node")
    apart = np.abs(off[:, 0::2] - off[:, 1::2])                  # what a parent says cancels: two Laplace leaves
    size = np.sqrt(np.mean(apart**2))
    if apart.max() < 3.5 * size:                 # 16 are farther out for normal noise, 200 for Laplace noise
        raise Wrong(f"on 16 bins the noise is cut off: {BEYOND}")
    if np.mean(apart > 3 * size) < 0.0056:       # 0.0099 for Laplace noise, 0.0027 for normal noise
        raise Wrong("on 16 bins the tails of the noise fall too fast, like those of normal noise: then no ε holds, "
                    "whatever its size")
    if np.mean(apart > 3 * size) > 0.0127:       # 0.0143 for the difference of the sizes of two Laplace noises
        raise Wrong("on 16 bins the noises of two neighbours cancel in part: is their sign the same?")


def _on_one_bin(release):
    rng, people = np.random.default_rng(54), np.tile([0, 1, 1000, 1001], 700)
    try:
        noise = np.array([_leaves(release, (np.array([count]), 0.7), rng)[0] - count for count in people])
    except Wrong as reason:
        raise Wrong(f"on a single bin, which is a tree of one level: {reason}") from None
    _right_alone(noise, "on a single bin, of 0, 1, 1,000 or 1,001 people,")


def _right_alone(noise, where):
    """`Wrong` unless the noise of a single number at ε = 0.7 may be Laplace noise, or whole Laplace noise."""
    if (exact := np.mean(np.abs(noise) < 1e-9)) > 0.4:           # whole noise: 0.34
        raise Wrong(f"{where} there is no noise in {exact:.0%} of the cases")
    _not_cut_to_whole(noise, 0.7, where)
    size = 0.7 * np.abs(noise).mean()            # 1 for Laplace noise, 0.92 for whole noise; the standard error is 0.02
    if size < 0.81:
        raise Wrong(f"{where} the noise at ε = 0.7 has {size:.2f} times the size that it needs: is its scale rounded?")


def _counts_its_levels(answer, call, pair, rows, variances, runs, agreed=1.0):
    """The errors of some runs on five levels, and the mean of their squares over `variances` for the sums in `rows`.

    `variances` are in units of a node's. `Wrong` if the mean is too small: a shallow tree's noise on a deep one, or
    that of a larger ε. A tree without a root, which is right too, has 0.68 or more, and ln(16) + 1 levels have 0.57,
    with a standard error of 0.01. The first two errors are correlated if the levels agree, and not in a pile of blocks:
    then the noise may have `agreed` times the variance.
    """
    rng, node = np.random.default_rng(52), 2 * 5**2 / pair.one[1] ** 2
    off = np.array([call(answer, pair.one, rng) for _ in range(runs)], dtype=float) - pair.truth[0]
    ratio = np.mean((off @ rows.T) ** 2 / (node * variances))
    if ratio < 0.615 * (agreed if _agree(off) else 1):
        raise Wrong(f"on {pair.what} the noise has {ratio:.2f} times the variance that it needs: a person is counted "
                    "on every level, and all levels share ε")
    return off, ratio


def _agree(off):
    return abs(np.corrcoef(off[:, 0], off[:, 1])[0, 1]) > 0.2


def _not_cut_to_whole(noise, epsilon, where):
    """`Wrong` if there is none, or if it is 0 too often.

    Noise that is 0 just e^ε times as often as 1, and as −1, is refused with probability 1e-9.
    """
    noise = np.round(noise, 9)
    zeros, ones = int((noise == 0).sum()), int((np.abs(noise) == 1).sum())
    if zeros == noise.size:
        raise Wrong(f"{where} there is no noise in {zeros:,} runs")
    if ones and bdtrc(zeros - 1, zeros + ones, 1 / (1 + 2 * np.exp(-epsilon))) < 1e-9:
        raise Wrong(f"{where} the noise is 0 in {zeros:,} cases, and 1 or −1 in only {ones:,}: it is cut to whole "
                    "numbers towards 0, as `int` and `np.trunc` do, and then it is 0 twice as often as ε allows; round "
                    "the noise, or draw whole numbers")


# -------------------------------------------------------------------------------------------------- a total on the wall

def _season(Wall, arguments, rng):
    wall = ask(Wall, len(arguments[0]), arguments[1], rng)
    totals = [ask(wall.day, int(today)) for today in arguments[0]]
    if any(total is None for total in totals):
        raise Wrong("your function returned None: is the `return` missing?")
    if any(np.ndim(total) for total in totals):
        raise Wrong(f"each evening expected one number, the total so far, got {totals[0]!r}"[:200])
    return totals


USED = {                                         # the noises in each total: 1 for those that are used
    "tree": lambda day: day & -(day & -day).T == day.T,          # that of a block stands on the block's last day
    "levels": lambda day: day >> np.arange(len(day).bit_length()) & 1,
    "again": lambda day: day - 1 == USED["tree"](day).nonzero()[0],
    "fresh": lambda day: np.eye(len(day)),
    "one": np.ones_like,
    "days": lambda day: np.tri(len(day)),
}


def _with(scale=int.bit_length, blocks="tree", law=laplace, each=lambda L, size: 1):
    """A wall whose totals are sums of noises, right unless told otherwise.

    `scale` is a function of the days; `each`, of the levels and the size of a block, is a factor of its noise.
    """
    @functools.cache
    def used(days):
        day = np.arange(1, days + 1)[:, None]
        return USED[blocks](day).astype(float), each(days.bit_length(), (day & -day).ravel())

    class Counter:
        def __init__(self, days, epsilon, rng):
            self.used, times, self.t, self.total = *used(days), 0, 0
            self.draw = lambda: law(rng, scale(days) / epsilon, self.used.shape[1:]) * times
            self.noise = self.draw()

        def day(self, visits):
            self.t, self.total = self.t + 1, self.total + visits
            return self.total + self.used[self.t - 1] @ self.noise

    return Counter


class _Redrawn(_with()):
    def day(self, visits):
        said = super().day(visits)
        while said < 0:
            self.noise[self.t - 1] = self.draw()[self.t - 1]
            said = self.total + self.used[self.t - 1] @ self.noise
        return said


RIGHT_WALL = _with()
WALLS = {
    "fresh noise of scale 1/ε on each total: a visit on the first day moves all of them, and each costs ε":
        _with(lambda T: 1, "fresh"),
    "there is no noise": _with(lambda T: 0),
    "private, but with fresh noise of scale T/ε on each total, which grows with the season":
        _with(lambda T: T, "fresh"),
    "one noise serves all totals: their differences are then the exact daily visits": _with(lambda T: 1, "one"),
    "one noise serves all totals, however large: their differences are the exact daily visits": _with(blocks="one"),
    "one noise serves all blocks of a level: the total of day 3 minus those of days 2 and 1 is then exact":
        _with(blocks="levels"),
    "a block gets new noise for every total that uses it: these are many looks at the same days": _with(blocks="again"),
    "private, but this is the sum of noisy days: its noise grows like √t, and the tree was not used":
        _with(lambda T: 1, "days"),
    "private, but a block of two days has the noises of its two days: give each block one of its own, when it is "
    "complete":
        _with(blocks="days"),
    "every block has noise 1/ε: a visit lies in one block of every level, so the levels have to share ε":
        _with(lambda T: 1),
    "too little noise, about log₂(T)/ε on every block: with the days and the whole stream there are log₂(T) + 1 levels":
        _with(lambda T: T.bit_length() - 1),
    "fresh noise on each total, as large as that of a block: a visit on the first day moves all of them":
        _with(blocks="fresh"),
    "private, but with twice the noise: under add/remove a visit changes one block of a level":
        _with(lambda T: 2 * T.bit_length()),
    "the noise is normal, of the right standard deviation: no ε holds, its tails fall too fast":
        _with(lambda T: 2**0.5 * T.bit_length(), law=normal),
    "a total below zero is drawn again: how often that happens depends on the true total, and the loss is more than ε":
        _Redrawn,
    "a day of its own has noise 1/ε, which takes all of ε, and the longer blocks cost more":
        _with(each=lambda L, size: np.where(size > 1, 1, 1 / L)),
    "the noise grows with the block, 1/ε for a day, 2/ε for two, 3/ε for four: the levels share ε, and "
    "1 + 1/2 + 1/3 + … is more than 1": _with(lambda T: 1, each=lambda L, size: 1 + np.log2(size)),
}


def _seasons(what, visits, more, epsilon, wide=0.0, **settings):
    """`visits`, and the same with `more` on some days."""
    one, two = np.array(visits), np.array(visits) + more
    blocks = np.array([day.bit_count() for day in range(1, len(one) + 1)])
    sd = np.sqrt(2 * blocks) * len(one).bit_length() / epsilon
    claims = ((epsilon * int(np.abs(more).sum()), 0.0),) if np.any(more) else ()
    return Pair(what, (one, epsilon), (two, epsilon), claims, (one.cumsum(), two.cumsum()),
                within=wide * sd if wide else None, share=0.75, **settings)


def _totals(pair):
    n = len(pair.one[0])
    cumulated = np.vstack([np.zeros(n), np.eye(n)])
    blocks = [(f"the total of days {end - size + 1} to {end}", cumulated[end] - cumulated[end - size])
              for size in (2 ** np.arange(n.bit_length())).tolist() for end in range(size, n + 1, size)]
    return Numbers(n, [f"the total of day {day + 1}" for day in range(n)], tuple(blocks) if n <= 8 else ())


SEASONS = [
    _seasons("no visits in four days / one on the first", [0, 0, 0, 0], [1, 0, 0, 0], 0.4, runs=500, twice=260),
    _seasons("four days of hundreds / two more visits on the third", [300, 0, 200, 5], [0, 0, 2, 0], 0.8, runs=500),
    _seasons("four days / five more on the first day", [7, 1, 0, 4], [5, 0, 0, 0], 0.5, 1.38, runs=2000, law=True),
    _seasons("eight days / six more on the first day", [2, 3, 0, 0, 1, 2, 2, 9], [6, 0, 0, 0, 0, 0, 0, 0], 0.4,
             runs=800, law=True),
    _seasons("eight days / one more on the first and one on the third", [2, 3, 0, 0, 1, 2, 2, 9],
             [1, 0, 1, 0, 0, 0, 0, 0], 0.15, runs=300),
    _seasons("eight days / two more on the last", [0, 3, 0, 0, 1, 2, 2, 0], [0, 0, 0, 0, 0, 0, 0, 2], 0.4, runs=400),
    _seasons("two days of thousands, ε = 0.02 / 50 more on the second", [3000, 2000], [0, 50], 0.02, 1.38, runs=1100),
    _seasons("16 days / the same days", np.arange(16) % 5, np.zeros(16, int), 1.0, 1.38, runs=100),
    _seasons("64 days / one more on the first", np.arange(64) % 5, [1] + [0] * 63, 0.5, runs=150),
    _seasons("four days, ε = 9 / one more on the first", [2, 0, 1, 0], [1, 0, 0, 0], 9.0, runs=1200, law=True),
]


@checker
@looks_for("far", "quotient", "zero", size=BINS, empty=BINS, contents="a visit is on one day", fractions=WHOLE,
           negative=WHOLE, missing=WHOLE, order="one total comes out each evening")
def range_counter(Wall):
    """`Wall(days, epsilon, rng)` with `day(visits)`: the noisy total so far; days a power of two, add/remove."""
    if not isinstance(Wall, type):
        raise Wrong(f"expected a class, got {type(Wall).__name__}")
    looked = battery(Wall, _totals, SEASONS, call=_season, mistakes=WALLS, right=RIGHT_WALL, seed=52)
    long = _seasons("16 days", 1000 + np.arange(16) % 3, np.zeros(16, int), 0.3)
    blocks, rows, totals = np.array([day.bit_count() for day in range(1, 17)]), _tree_rows(16, 2), np.tri(16)
    agreed = np.mean(np.diag(totals @ np.linalg.inv(rows.T @ rows) @ totals.T) / blocks)
    off, more = _counts_its_levels(Wall, _season, long, np.eye(16), blocks, 1500, agreed)
    _pays_for_each_day(off, long, np.linalg.inv(rows.T @ rows))
    if more > 1.8:                               # 1 for the solution, 1.44 for one level too many
        raise Wrong(f"private, but on 16 days the noise has {more:.1f} times the variance that it needs")
    rng, visits = np.random.default_rng(56), np.tile([1000, 1001], 1400)
    noise = np.array([_season(Wall, ([today], 0.7), rng)[0] - today for today in visits])
    _right_alone(noise, "in a season of one day, of 1,000 or 1,001 visits,")
    return looked


def _pays_for_each_day(off, long, agreed):
    """`Wrong` if the blocks of a day cost more than ε: 1/scale of each, from the errors of the totals.

    The solution pays ε, with a standard error of 0.02; a tree without a root 1.18 ε, without a node for all days.
    """
    end, node = np.arange(1, 17), 2 * 5**2 / long.one[1] ** 2
    start = end - (end & -end)                   # of the block that is complete on a day
    inside = (start < end[:, None]) & (end[:, None] <= end)      # day (row) in that block (column)
    noise = off - np.column_stack([np.zeros(len(off)), off])[:, start]
    if np.abs(noise).max() < 3.3 * np.sqrt(np.mean(noise**2)):   # of 24,000, 23 are farther out if normal, else 200
        raise Wrong(f"on 16 days the noise is cut off: {BEYOND}")
    _not_cut_to_whole(noise[:, ::2], long.one[1], "on the odd days of 16")
    _independent(noise)
    least = np.diag(inside.T @ agreed @ inside) if _agree(off) else 1.0
    paid = inside @ np.sqrt(node * least / np.maximum(np.mean(noise**2, axis=0), 1e-9)) / 5
    if paid.max() > 1.3:
        raise Wrong(f"in a season of 16 days a visit on day {paid.argmax() + 1} costs {paid.max():.3g} ε: a visit on "
                    "any day lies in a block of every level, and 1/scale of its blocks, added up, may be ε")


def _independent(noise):
    """`Wrong` if two blocks share a noise, its sign or its size; without a root, or if levels agree, 0.8 is possible.

    A wall that prints no total below zero changes no noise here: there are thousands of visits.
    """
    for what, of in ("", noise), ("signs of the ", np.sign(noise)), ("sizes of the ", np.abs(noise)):
        together = np.abs(np.corrcoef(of.T) - np.eye(of.shape[1])).max()
        if not together < 0.97:
            raise Wrong(f"on 16 days the {what}noises of two blocks depend on each other ({together:.2f}): each block "
                        "needs a noise of its own")


# -------------------------------------------------------------------------------------------------------- a private cut

@functools.cache
def _scored(score, candidates, values, low, high):
    """The cuts of a list, and their scores: the lists are few, and each is asked about a thousand times."""
    values = np.frombuffer(values, dtype=int)
    cuts = candidates(values, np.arange(low + 1, high))
    return cuts, score(values, cuts).astype(float)


def _exponential(scores, epsilon, rng):
    return np.argmax(scores * epsilon / 2 + rng.gumbel(size=len(scores)))


def _cut(spend=1.0, pick=_exponential, score=lambda values, cuts: _balance(values, cuts, np.less),
         candidates=lambda values, cuts: cuts):
    """A cut, right unless told otherwise."""
    def wrong(values, low, high, epsilon, rng):
        cuts, scores = _scored(score, candidates, values.tobytes(), low, high)
        return int(cuts[pick(scores, spend * epsilon, rng)])

    return wrong


def _balance(values, cuts, below):
    return -np.abs(2 * below(values[:, None], cuts).sum(axis=0) - len(values))


def _those_there(values, cuts):
    found = np.intersect1d(values, cuts)
    return found if found.size else cuts


def _between(values, cuts):
    found = cuts[(cuts >= values.min()) & (cuts <= values.max())] if len(values) else cuts
    return found if found.size else cuts


def _else_the_first(candidates):
    return lambda values, cuts: candidates(values, cuts) if len(values) else cuts[:1]


def _median(values, low, high, epsilon, rng):
    return int(np.clip(np.median(values) if len(values) else low + 1, low + 1, high - 1))


RIGHT_CUT = _cut()
EXACT = "the cut is the exact best one: a neighbour whose best cut is another cannot give it, and the loss is infinite"
ENDS = "only cuts between the smallest and the largest value are tried, and these are two people"
CUTS = {
    "the score is a distance between values, and one person can move the median far; count people, |left − right|":
        _cut(score=lambda values, cuts: -np.abs(cuts - np.median(values if len(values) else cuts))),
    f"{EXACT} (the median itself)": _median,
    EXACT: _cut(pick=lambda scores, epsilon, rng: np.argmax(scores)),
    f"{EXACT}, drawn among ties":
        _cut(pick=lambda scores, epsilon, rng: rng.choice(np.flatnonzero(scores == scores.max()))),
    "only values that occur, or those between the smallest and the largest, can be cuts: the cuts that never come out "
    "tell who is there": _cut(candidates=_those_there),
    "only values that occur can be cuts, and of an empty list the cut is certain: the cuts that never come out tell "
    "who is there": _cut(candidates=_else_the_first(_those_there)),
    f"{ENDS}; of an empty list the cut is certain": _cut(candidates=_else_the_first(_between)),
    "the factor 2 of the exponential mechanism is missing: adding a person raises some scores and lowers others":
        _cut(2),
    "private, but at half of ε: the score is −|left − right|, and moves by 1 when a person is added": _cut(0.5),
    ENDS: _cut(candidates=_between),
    "this is a coin: the cut does not look at the data at all": _cut(score=lambda values, cuts: 0 * cuts),
    "people at the cut go to the left here; count those below the cut":
        _cut(score=lambda values, cuts: _balance(values, cuts, np.less_equal)),
}


def _lists(what, values, more, low, high, epsilon, often=({}, {}), runs=2500, law=True):
    one, two = ((np.array(v, dtype=int), low, high, epsilon) for v in (values, [*values, *more]))
    return Pair(what, one, two, ((epsilon * len(more), 0.0),) if more else (), runs=runs, law=law, often=often)


LISTS = [
    _lists("two of three at 1, the third at 9 / one more at 9", [1, 1, 9], [9], 0, 10, 0.5, runs=1000, law=False),
    _lists("nobody / one person aged 2", [], [2], 0, 8, 0.8, runs=1000, law=False),
    _lists("three at 5 / one more at 2", [5, 5, 5], [2], 0, 8, 0.6, runs=800, law="exactly"),
    _lists("two people / two more below", [12, 10], [10, 10], 10, 16, 2.0, law="exactly"),
    _lists("six people / three more at the upper end", [1, 1, 2, 6, 6, 6], [7, 7, 7], 0, 8, 1.0, law="exactly"),
    _lists("30 people, ε = 0.03 / three more at the lower end", [3, 19, 7, 9, 15, 11] * 5, [2, 2, 2], 0, 21, 0.03,
           runs=4000, law="exactly"),
    _lists("200 people, two cuts, ε = 0.03 / one more", [2] * 100 + [1] * 40 + [0] * 60, [0], 0, 3, 0.03, runs=800,
           law="exactly"),
    _lists("41 people around 20 / the same", list(range(10, 31)) * 2, [], 0, 41, 2.0, ({20: 0.2}, {20: 0.2}),
           runs=400, law=False),
    _lists("400 at 5 and 400 at 7 / one more at 7", [5] * 400 + [7] * 400, [7], 0, 12, 0.7, ({6: 0.2}, {6: 0.2}),
           runs=600, law=False),
    _lists("5,001 people / one more at 2", [2] * 2500 + [5] + [8] * 2500, [2], 0, 11, 0.7, runs=600, law="exactly"),
    _lists("three at the lower end / one more at 5", [0, 0, 0], [5], 0, 8, 0.9, runs=600, law=False),
    _lists("three people, 60 cuts / the same", [3, 60, 12], [], 0, 61, 0.5, runs=1500, law="exactly"),
    _lists("two below zero, ε = 6 / one more", [-4, -6], [-6], -31, -1, 6.0, runs=4000, law="exactly"),
]


def _whole(answer, arguments, rng):
    got, (low, high) = answered(answer, *arguments, rng), arguments[1:3]
    number = not np.ndim(got) and isinstance(got, (int, float, np.number)) and np.isfinite(got)
    if not number or got != round(got) or not low < got < high:
        raise Wrong(f"expected whole cuts from {low + 1} to {high - 1}: the cuts a place could have are public, and "
                    f"each must be possible; got {repr(got)[:60]}")
    return int(got)


@checker
@looks_for("far", "own", contents="each row is one number", fractions=WHOLE, missing=WHOLE, order=ONE, shared=ONE,
           zero=ONE)
def range_split(split):
    """`split(values, low, high, epsilon, rng)`: a cut near the median, between low and high, drawn at random."""
    def form(pair):
        return Choice(tuple(range(pair.one[1] + 1, pair.one[2])), "the cut")

    return battery(split, form, LISTS, call=_whole, mistakes=CUTS, right=RIGHT_CUT, seed=53)
