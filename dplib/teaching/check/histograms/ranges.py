"""Checkers of the section on ranges and trees."""
import numpy as np

from dplib.mechanisms import exponential_pmf
from dplib.sensitivity import ADJACENCIES
from dplib.teaching.check._laws import LEVEL, _log_likelihood, _p_value, compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["range_counter", "range_crossing", "range_release", "range_scale", "range_split"]


def _tree_rows(n, branching):
    """One row for each node of the tree over n bins, the root first: 1 for the bins below it."""
    rows, size = [], n
    while size >= 1:
        rows.append(np.kron(np.eye(n // size), np.ones(size)))
        size //= branching
    return np.vstack(rows)


TREES = {"binary": (1024, 2), "fourfold": (1024, 4)}


@checker
def range_scale(answer):
    """`answer`: (tree, adjacency) -> smallest Laplace scale on every node that makes the whole tree cost epsilon = 0.5."""
    answer = dict(answer)
    if all(value is ... for value in answer.values()):
        raise NotAttempted
    wanted = {(tree, adjacency) for tree in TREES for adjacency in ADJACENCIES}
    if set(answer) != wanted:
        raise Wrong(f"expected the four keys {sorted(wanted)}")
    for (tree, adjacency), said in answer.items():
        if said is ...:
            raise Wrong(f"{tree}, {adjacency}: not attempted yet")
        rows, said = _tree_rows(*TREES[tree]), float(said)
        added = np.abs(rows[:, :1]).sum()                                    # one person more in the first bin
        moved = np.abs(rows[:, [0]] - rows[:, 1:]).sum(axis=0).max()         # one person leaves it for another
        levels = added
        smallest = (added if adjacency == "add/remove" else moved) / 0.5
        where = f"{tree}, {adjacency}"
        if adjacency == "replace" and np.isclose(said, 2 * levels / 0.5):
            continue                                                         # charges for the root, which cannot move: safe
        if np.isclose(said, smallest, rtol=1e-9):
            continue
        if adjacency == "replace" and (np.isclose(said, smallest / 2) or np.isclose(said, levels / 0.5)):
            raise Wrong(f"{where}: a person who moves leaves one bin and enters another, and changes two nodes of a level")
        if np.isclose(said, 1 / 0.5) or np.isclose(said, 2 / 0.5):
            raise Wrong(f"{where}: {said:g} pays for one level; a person is counted once on every level")
        if np.isclose(said, smallest - (2 if adjacency == "add/remove" else 4)):
            raise Wrong(f"{where}: {said:g} pays for one level less than there are: count the root and the leaves")
        if said < smallest:
            raise Wrong(f"{where}: with scale {said:g} one person costs {smallest * 0.5 / said:.3g} and not 0.5")
        raise Wrong(f"{where}: scale {said:g} is private, but larger than needed by a factor of {said / smallest:.3g}")
    return "a level is paid for by everybody, and a wider tree has fewer of them"


@checker
def range_crossing(crossing):
    """`crossing(n, branching)`: the shortest length at which a consistent tree beats the flat histogram, or None."""
    for n, branching in ((16, 2), (64, 4), (64, 8), (16, 4), (4, 2), (81, 3)):
        rows = _tree_rows(n, branching)
        levels = rows[:, 0].sum()
        covariance = np.linalg.inv(rows.T @ rows)
        exact, unfair = (_first_win(n, factor * covariance) for factor in (2 * levels**2, 2))
        got = ask(crossing, n, branching)
        where = f"n = {n}, branching {branching}"
        if got is None and exact is not None:
            if all(ask(crossing, *case) is None for case in ((64, 4), (64, 8))):
                raise NotAttempted
            raise Wrong(f"{where}: the tree does win, from length {exact} on")
        if got is not None and (isinstance(got, bool) or not np.isclose(float(got), round(float(got)))):
            raise Wrong(f"{where}: expected a length or None, got {got!r}")
        if got == exact:
            continue
        if got == unfair:
            raise Wrong(f"{where}: not {got}: at the same ε every node of the tree has {levels:g} times the noise of a flat bin")
        if exact is None:
            raise Wrong(f"{where}: at no length is the tree better, so None; got {got}")
        if got == exact - 1:
            raise Wrong(f"{where}: not {got}: one off; the answer is a length, and np.argmax counts from zero")
        raise Wrong(f"{where}: not {got}: compare the variances at each length, averaged over all positions of a range in the domain")
    return "right on six trees, from 4 bins to 81"


def _first_win(n, covariance):
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
    for length in range(1, n + 1):
        i = np.arange(n - length + 1)
        j = i + length
        if (sums[j, j] - sums[i, j] - sums[j, i] + sums[i, i]).mean() < 2 * length * (1 - 1e-9):
            return length
    return None


# ---------------------------------------------------------------- noise that is a weighted sum of independent Laplace variables

CELLS, PER_SCALE, BINS = 2**15, 40, 16


def _masses(scales):
    """Grid and probabilities of a sum of independent Laplace variables with these scales (signs do not matter)."""
    scales = np.abs(np.asarray(scales, dtype=float))
    scales = scales[scales > 1e-9]
    step = scales.min() / PER_SCALE
    grid = (np.arange(CELLS) - CELLS // 2) * step
    product = 1.0
    for scale in scales:
        edges = np.append(grid - step / 2, grid[-1] + step / 2)
        cdf = np.where(edges < 0, np.exp(np.minimum(edges, 0) / scale) / 2, 1 - np.exp(-np.maximum(edges, 0) / scale) / 2)
        product = product * np.fft.rfft(np.fft.ifftshift(np.diff(cdf)))
    return grid, step, np.maximum(np.fft.fftshift(np.fft.irfft(product, CELLS)), 0)


def _cdf(scales, points):
    if not np.any(np.abs(scales) > 1e-9):                                    # no noise at all
        return np.where(points > 0, 1.0, 0.0)
    grid, step, masses = _masses(scales)
    return np.interp(points, grid + step / 2, np.cumsum(masses), left=0.0, right=1.0)


def _edges(scales):
    grid, step, masses = _masses(scales)
    return np.interp(np.arange(1, BINS) / BINS, np.cumsum(masses), grid + step / 2)


def _judge(noise, statistics, right, rivals, names):
    """Is `noise` (runs, outputs) a linear map of fresh Laplace noise as `right` says? Each row of a map holds signed scales.

    `statistics` are rows of weights on the outputs; `right` and `rivals` are matrices (outputs, independent variables).
    """
    seen = noise @ statistics.T
    laws, counts = {message: [] for message in (None, *rivals)}, []
    for row, values in zip(statistics, seen.T):
        edges = _edges(row @ right)
        counts.append(np.bincount(np.searchsorted(edges, values), minlength=BINS))
        for message, mixing in ((None, right), *rivals.items()):
            laws[message].append(np.diff(np.concatenate([[0], _cdf(row @ mixing, edges), [1]])))
    values = [_p_value(count, law) for count, law in zip(counts, laws[None])]
    if min(values) >= LEVEL:
        return None
    fit = {message: sum(_log_likelihood(count, law) for count, law in zip(counts, laws[message])) for message in rivals}
    best = max(fit, key=fit.get)
    if min(_p_value(count, law) for count, law in zip(counts, laws[best])) >= LEVEL:
        return best
    worst = int(np.argmin(values))
    width, expected = np.percentile(np.abs(seen[:, worst]), 50), np.interp(0.75, np.arange(1, BINS) / BINS, _edges(statistics[worst] @ right))
    return (f"{names[worst]} has the wrong law: half of all errors are within {width:.3g}, and should be within {expected:.3g}; "
            "is every noise fresh, independent and Laplace, and the sums those of the tree?")


RUNS, EPSILON = 4_000, 1.5


@checker
def range_release(release):
    """`release(counts, epsilon, rng)`: binary tree over the bins, epsilon under add/remove, consistent; levels, root first."""
    rng, counts = np.random.default_rng(51), np.array([3, 0, 40, 7])
    rows = _tree_rows(4, 2)
    levels, noise = 3, []
    for _ in range(RUNS):
        got = ask(release, counts.copy(), EPSILON, rng)
        if got is None:
            raise NotAttempted
        got = [np.atleast_1d(np.asarray(level, dtype=float)) for level in got]
        if [level.shape for level in got] != [(1,), (2,), (4,)]:
            raise Wrong(f"on four bins expected levels of 1, 2 and 4 numbers, the root first, got {[level.shape for level in got]}")
        gap = max(np.abs(above - below.reshape(-1, 2).sum(axis=1)).max() for above, below in zip(got, got[1:]))
        if not gap < 1e-6:
            raise Wrong(f"a node and the sum of its children differ by {gap:.3g}: the tree is not consistent")
        noise.append(got[-1] - counts)
    scale = levels / EPSILON
    fit, one = np.linalg.pinv(rows), 1 / EPSILON
    below = np.hstack([np.zeros((4, 3)), np.eye(4)])                          # from the leaves alone
    divided = np.eye(7)[:1]                                                  # one pass down only: what a parent says, shared out
    for level in (np.eye(7)[1:3], np.eye(7)[3:]):
        divided = level + np.kron((divided - level.reshape(-1, 2, 7).sum(axis=1)) / 2, np.ones((2, 1)))
    rivals = {
        "there is no noise": 0 * fit,
        "the noise has scale 1/ε on every node: that pays for one level, and a person is counted on three": one * fit,
        "the noise has scale (levels − 1)/ε: count the root and the leaves": (levels - 1) * one * fit,
        "private, but with the noise for replace: under add/remove a person changes one node of a level": 2 * scale * fit,
        "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": scale / 2**0.5 * fit,
        "private, but this is the flat histogram added up: the upper levels were not measured": one * below,
        "consistent, but the upper levels are not used: least squares averages what they say with the sum of the children": scale * below,
        "consistent, but not least squares: a parent must also learn from its children, on the way up": scale * divided,
    }
    statistics = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1], [1, 0, 0, 0], [0, 0, 0, 1], [1, 0, -1, 0]], dtype=float)
    names = ["the root", "the difference of the two halves", "the difference of the first two leaves", "the difference of the last two leaves",
             "the first leaf", "the last leaf", "the difference of the first leaf and the third"]
    complaint = _judge(np.array(noise), statistics, scale * fit, rivals, names)
    if complaint:
        raise Wrong(complaint)
    more, fit = np.array([3, 0, 40, 7, 0, 1, 9, 5]), np.linalg.pinv(_tree_rows(8, 2))   # another size and another epsilon: nothing may be built in
    noise = [np.asarray(ask(release, more.copy(), 0.5, rng)[-1], dtype=float) for _ in range(RUNS // 2)]
    if noise[0].shape != (8,):
        raise Wrong(f"on eight bins expected eight leaves, got an array of shape {noise[0].shape}")
    rivals = {"on four bins the noise is right, on eight it is that of three levels: count them": 3 / 0.5 * fit,
              "the noise does not depend on epsilon as it should": levels / EPSILON * fit,
              "the noise has the right scale at ε = 1.5, and does not move with ε": 4 / EPSILON * fit}
    statistics = np.array([[1] * 8, [1] + [0] * 7, [1, -1] + [0] * 6], dtype=float)
    complaint = _judge(np.array(noise) - more, statistics, 4 / 0.5 * fit, rivals, ["on eight bins the root", "on eight bins the first leaf",
                                                                                  "on eight bins the difference of the first two leaves"])
    if complaint:
        raise Wrong(complaint)
    return f"parents equal the sum of their children, and the noise has the exact law (chi-square test on {RUNS:,} runs)"


def _blocks(days, root=True):
    """Which dyadic blocks make the total of each day; without the root the last day needs its two halves."""
    nodes = [(size, index) for size in 2 ** np.arange(int(np.log2(days)) + root) for index in range(days // size)]
    rows = np.zeros((days, len(nodes)))
    for day in range(1, days + 1):
        start = 0
        while start < day:
            size = max(size for size, index in nodes if start == size * index and start + size <= day)
            rows[day - 1, nodes.index((size, start // size))] = 1
            start += size
    return rows


@checker
def range_counter(Wall):
    """`Wall(days, epsilon, rng)` with `day(visits)`: the noisy total so far; days a power of two, add/remove."""
    if not isinstance(Wall, type):
        raise Wrong(f"expected a class, got {type(Wall).__name__}")
    rng, visits, days = np.random.default_rng(52), np.array([3, 0, 2, 5]), 4
    noise = []
    for _ in range(RUNS):
        wall = ask(Wall, days, EPSILON, rng)
        got = [ask(wall.day, int(today)) for today in visits]
        if all(total is None for total in got):
            raise NotAttempted
        if any(np.ndim(total) or total is None for total in got):
            raise Wrong(f"each evening expected one number, the total so far, got {got}")
        noise.append(np.array(got, dtype=float) - np.cumsum(visits))
    if np.abs(np.median(noise, axis=0)).max() > 3:
        raise Wrong("the totals are off by more than noise: is the answer the sum of all visits up to and including today?")
    one, tree = 1 / EPSILON, _blocks(days)
    fresh = np.eye(days)
    rivals = {
        "there is no noise": 0 * tree,
        "fresh noise of scale 1/ε on each total: a visit on the first day moves all four, and together they cost 4ε": one * fresh,
        "private, but with fresh noise of scale T/ε on each total, which grows with the season": days * one * fresh,
        "one noise serves all totals: their differences are then the exact daily visits": one * np.ones((days, 1)),
        "one noise serves all totals, however large: their differences are the exact daily visits": 3 * one * np.ones((days, 1)),
        "private, but this is the sum of noisy days: its noise grows like √t, and the tree was not used": one * np.tril(np.ones((days, days))),
        "every block has noise 1/ε: a visit lies in one block of every level, so the levels have to share ε": one * tree,
        "every block has noise log₂(T)/ε: with the days and the whole stream there are log₂(T) + 1 levels": 2 * one * tree,
        "private, but with twice the noise: under add/remove a visit changes one block of a level": 6 * one * tree,
    }
    statistics = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [-1, 1, 0, 0], [0, -1, 1, 0], [0, 0, -1, 1]], dtype=float)
    names = ["the total of day 1", "the total of day 2", "the total of day 4", "the step from day 1 to 2", "the step from day 2 to 3",
             "the step from day 3 to 4"]
    complaint = _judge(np.array(noise), statistics, 3 * one * tree, rivals, names)
    if complaint and _judge(np.array(noise), statistics, 2 * one * _blocks(days, root=False), {complaint: 0 * tree}, names) is not None:
        raise Wrong(complaint)
    noise = []
    for _ in range(RUNS // 2):                                                # another season and another epsilon: nothing may be built in
        wall = ask(Wall, 8, 0.5, rng)
        noise.append(np.array([ask(wall.day, 2) for _ in range(8)], dtype=float) - 2 * np.arange(1, 9))
    statistics, tree = np.eye(8)[[0, 6, 7]], _blocks(8)
    names = [f"in a season of eight days the total of day {day}" for day in (1, 7, 8)]
    rivals = {"right for four days; in a season of eight a visit lies in four blocks": 3 / 0.5 * tree,
              "the noise does not move with ε, or not with the number of days": 3 / EPSILON * tree}
    complaint = _judge(np.array(noise), statistics, 4 / 0.5 * tree, rivals, names)
    if complaint and _judge(np.array(noise), statistics, 3 / 0.5 * _blocks(8, root=False), {complaint: 0 * tree}, names) is not None:
        raise Wrong(complaint)
    return f"every total and every step has the law of the tree (chi-square test on {RUNS:,} runs)"


@checker
def range_split(split):
    """`split(values, low, high, epsilon, rng)`: a cut, low < cut < high, near the median, by the exponential mechanism."""
    rng = np.random.default_rng(53)
    for values, low, high, epsilon in (([1, 1, 2, 6, 6, 6], 0, 8, 1.0), ([12, 10], 10, 16, 2.0)):
        values, candidates = np.array(values), np.arange(low + 1, high)
        got = [ask(split, values.copy(), low, high, epsilon, rng) for _ in range(8_000)]
        if any(cut is None for cut in got):
            raise NotAttempted
        got = np.asarray(got, dtype=float)
        if got.shape != (8_000,) or not np.array_equal(got, got.round()) or got.min() <= low or got.max() >= high:
            raise Wrong(f"expected whole cuts from {low + 1} to {high - 1}: the cuts a place could have are public, and each must be possible")
        counts = np.bincount(got.astype(int) - low - 1, minlength=candidates.size)
        left = (values[:, None] < candidates).sum(axis=0)
        score = -np.abs(2 * left - values.size).astype(float)
        some = np.isin(candidates, values)

        def law(factor, score=score, allowed=None):
            weights = exponential_pmf(score, sensitivity=1, epsilon=epsilon * factor) * (1 if allowed is None else allowed)
            return weights / weights.sum()

        best = (score == score.max()).astype(float)
        first, last = np.eye(candidates.size)[[np.argmax(best), candidates.size - 1 - np.argmax(best[::-1])]]
        median = np.eye(candidates.size)[int(np.clip(np.median(values), low + 1, high - 1)) - low - 1]
        exact = "the cut is the exact best one: a neighbour whose best cut is another cannot give it, and the loss is infinite"
        rivals = {
            exact: first,
            exact + ".": last,
            exact + " (the median itself)": median,
            exact + ", drawn among ties": best / best.sum(),
            "only values that occur can be cuts: a cut at 12 then says that somebody is 12": law(1, allowed=some),
            "the factor 2 of the exponential mechanism is missing: adding a person raises some scores and lowers others": law(2),
            "private, but at half of ε: |left − right| moves by 1 when a person is added, not by 2": law(0.5),
            "this is a coin: the cut does not look at the data at all": law(1, score=0 * score),
            "people at the cut go to the left here; count those below the cut": law(1, score=-np.abs(2 * (values[:, None] <= candidates).sum(axis=0)
                                                                                               - values.size).astype(float)),
        }
        compare(counts, law(1), rivals, lambda i: f"on {values.tolist()} with ε = {epsilon:g}, the cut {candidates[i]}")
    return "every cut comes out as often as it must (chi-square test on 8,000 runs, two tables)"
