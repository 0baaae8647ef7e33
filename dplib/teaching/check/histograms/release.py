"""Checkers of chapter 5, publishing a table once."""
import numpy as np
from scipy.special import ndtr

from dplib import histograms
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["hist_bins", "hist_interval", "hist_lattice", "hist_mend", "hist_phantom", "hist_simplex"]

RUNS = 6_000
EDGES = np.array([0.0, 10.0, 25.0, 50.0])
VALUES = [0.0, 3.0, 9.5, 10.0, 10.0, 24.0, 12.0]                 # counts 3, 4, 0
CELLS = np.linspace(-1, 1, 17)[1:-1]                             # 16 cells: quantiles of the right law, as signed tail levels


# ------------------------------------------------------------------------------------------------- the noise of a learner's table

def _laplace_cdf(x, scale):
    x = np.asarray(x, dtype=float) / scale
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


def _cuts(scale):
    """Where the sixteen equally likely cells of Lap(scale) meet."""
    return np.sign(CELLS) * -scale * np.log1p(-np.abs(CELLS))


def _cells(cdf, cuts):
    return np.diff(np.concatenate([[0], cdf(cuts), [1]]))


def _whole_law(scale, reach):
    """Discrete Laplace: probabilities proportional to exp(-|x| / scale) of -reach .. reach, the ends holding the tails."""
    ratio, x = np.exp(-1 / scale), np.arange(-reach, reach + 1)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(x)
    law[[0, -1]] = ratio**reach / (1 + ratio)
    return law


MISTAKES = {
    0.5: "the noise has scale 1/epsilon: right for add/remove, but here n is public and one replaced row leaves one bin and enters another; the counts "
    "move by 2 together and the loss is 2 epsilon",
    2: "the noise has twice the scale that privacy needs: the counts move by 2 together, so 2/epsilon is enough",
    2**-0.5: "the standard deviation of the noise is 2/epsilon; a Laplace scale of 2/epsilon has a standard deviation √2 times that",
    2**0.5: "the noise has √2 times the scale that privacy needs",
    1.5: "the scale is the number of bins over epsilon: however many bins there are, one replaced row moves two counts, so 2/epsilon is enough",
    1 / len(VALUES): "the scale is 2/(n epsilon): that is the noise for shares; a count is n times a share, and so is its noise, 2/epsilon",
}


def _judge_column(noise, epsilon, where):
    """`noise`: what was added to one count in every run. Raise `Wrong` unless it is Lap(2/epsilon) or its discrete sister."""
    scale = 2 / epsilon
    if noise.min() >= 0:
        raise Wrong(f"{where} never gets negative noise: the printed count bounds the true one, and some tables are impossible for a neighbour. "
                    "Add the noise as it is; clip, if you must, only what is printed, and here print it raw")
    if np.all(noise == np.round(noise)):
        reach = int(np.ceil(4 * scale))
        counts = np.bincount(np.clip(noise, -reach, reach).astype(int) + reach, minlength=2 * reach + 1)
        rivals = {message: _whole_law(scale * factor, reach) for factor, message in MISTAKES.items()}
        rounded = _laplace_cdf(np.arange(-reach, reach) + 0.5, scale)
        if _fits(counts, np.diff(np.concatenate([[0], rounded, [1]]))):          # rounded Laplace: post-processing, private
            return
        compare(counts, _whole_law(scale, reach), rivals, lambda i: f"{where}: whole-number noise of {i - reach}")
        return
    cuts = _cuts(scale)
    counts = np.bincount(np.searchsorted(cuts, noise), minlength=16)
    rivals = {message: _cells(lambda x, b=scale * factor: _laplace_cdf(x, b), cuts) for factor, message in MISTAKES.items()}
    rivals["this noise is normal: it keeps no epsilon, only an (epsilon, delta); use Laplace noise"] = _cells(lambda x: ndtr(x / scale), cuts)
    compare(counts, np.full(16, 1 / 16), rivals, lambda i: f"{where}: noise in the cell {i + 1} of sixteen")


def _fits(counts, law):
    try:
        compare(counts, law, {"": law}, str)
    except Wrong:
        return False
    return True


def _judge_pair(one, two, message):
    """Refuse two columns of noise that know of each other: signs and sizes, four cells each."""
    cell = [np.searchsorted(np.quantile(column, [0.25, 0.5, 0.75]), column, side="right") if len(set(column[:50].tolist())) > 40
            else np.sign(column).astype(int) + 1 for column in (one, two)]
    share = [np.bincount(c, minlength=4) / len(c) for c in cell]
    table = np.bincount(4 * cell[0] + cell[1], minlength=16)
    if not _fits(table, np.outer(*share).ravel()):
        raise Wrong(message)


@checker
def hist_mend(release):
    """`release(values, edges, epsilon, rng)`: the raw noisy counts of the bins, epsilon-private under replace."""
    rng = np.random.default_rng(51)

    def printed(values, epsilon):
        table = ask(release, np.array(values), EDGES.copy(), epsilon, rng)
        if table is None:
            raise NotAttempted
        table = np.asarray(list(table.values()) if isinstance(table, dict) else table, dtype=float)
        if table.shape != (len(EDGES) - 1,):
            raise Wrong(f"three bins, and the table has the shape {table.shape} on values {values}: print every bin, in the order of the edges; "
                        "which lines there are must not depend on who is in the data")
        if not np.all(np.isfinite(table)):
            raise Wrong("the table holds numbers that are not finite")
        return table

    for values, counts in ((VALUES, [3, 4, 0]), ([50.0, 50.0, 25.0, 10.0], [0, 1, 3]), ([1.0, 1.0], [2, 0, 0]), ([30.0] * 5, [0, 0, 5])):
        got = printed(values, 1e9)
        if np.allclose(got * len(values), counts, atol=1e-3) and len(values) > 1:
            raise Wrong("these are shares; print counts")
        if not np.allclose(got, counts, atol=1e-3):
            if np.allclose(np.sort(got), np.sort(counts), atol=1e-3):
                raise Wrong("the lines are not in the order of the edges")
            raise Wrong(f"with next to no noise, values {values} give {got.round(2).tolist()} and should give {counts}: bins are [low, high), "
                        "and only the last holds its upper edge")
    for values, counts, epsilon in ((VALUES, [3, 4, 0], 1.0), ([30.0] * 5, [0, 0, 5], 0.5), ([1.0] + [12.0] * 60 + [40.0] * 2, [1, 60, 2], 2.0)):
        tables = np.array([printed(values, epsilon) for _ in range(RUNS)])
        noise, where = tables - counts, [f"bin {j + 1} (true count {count}, epsilon {epsilon:g})" for j, count in enumerate(counts)]
        for name, column in zip(where, noise.T):
            if np.all(column == 0):
                raise Wrong(f"{name} has no noise: whether anybody is there is then told exactly, an infinite loss")
        if tables.min() >= 0:
            raise Wrong("no printed count is ever negative: clipping afterwards is free for privacy, but it makes phantom people; print the raw table, "
                        "and if it is the noise that you clipped, the loss is infinite")
        if np.all(tables == tables[0]):
            raise Wrong("the same data give the same table every time: the noise is fixed, and whoever reads the program takes it off again. "
                        "Draw from `rng`")
        if np.allclose(tables.sum(axis=1), tables.sum(axis=1)[0]):
            raise Wrong("the printed counts always have the same sum: print the raw table; post-processing is for later")
        for i, j in ((0, 1), (0, 2), (1, 2)):
            _judge_pair(noise[:, i], noise[:, j], f"the noises of bins {i + 1} and {j + 1} depend on each other: their difference then tells too much. "
                        "Draw one for every bin")
        for column in noise.T:
            _judge_pair(column[:-1], column[1:], "the noise of a release depends on that of the one before: draw anew every time")
        for name, column in zip([*where, "all bins together"], [*noise.T, noise.ravel()]):
            _judge_column(column, epsilon, name)
    return f"every bin gets its own noise, and the right amount (chi-square tests on {RUNS:,} tables, three data sets)"


# ---------------------------------------------------------------------------------------------------------------------- the others

@checker
def hist_interval(half_width):
    """`half_width(epsilon, k, level)`: +-h holds for all k lines of a table under replace at once with probability `level`."""
    for epsilon, k, level in ((1.0, 1, 0.95), (1.0, 10, 0.95), (0.5, 100, 0.9), (2.0, 3, 0.99)):
        got = ask(half_width, epsilon, k, level)
        if got is None:
            raise NotAttempted
        got, scale = float(got), 2 / epsilon
        case = f"for epsilon={epsilon:g}, k={k}, level={level:g}"
        if not got > 0 or not np.isfinite(got):
            raise Wrong(f"{case} expected a positive half-width, got {got:g}")
        right = -scale * np.log1p(-(level ** (1 / k)))
        covers = (1 - np.exp(-got / scale)) ** k
        if abs(got - right) <= 1e-6 * right:
            continue
        if abs(got - right / 2) <= 1e-6 * right:
            raise Wrong(f"{case} this is the half-width for noise of scale 1/epsilon; under replace the scale is 2/epsilon, and yours covers {covers:.1%}")
        if k > 1 and abs(got + scale * np.log1p(-level)) <= 1e-6 * right:
            raise Wrong(f"{case} this holds for one line; all {k} hold together in only {covers:.1%} of tables")
        if k > 1 and abs(got - scale * np.log(k / (1 - level))) <= 1e-6 * right:
            raise Wrong(f"{case} adding up the k chances of a miss (Bonferroni) is safe and nearly right, {covers:.2%}; the lines are independent, so be exact")
        raise Wrong(f"{case} ±{got:.3f} holds for all lines in {covers:.2%} of tables, and should in {level:.0%}")
    return "it holds for all lines at once, and is no wider than that takes"


def _tables(rng):
    """Noisy tables of many shapes, with the total each should have."""
    yield np.array([6.4, 3.6, 2.4, -1.0]), 10.0
    for k in (1, 2, 3, 5, 12, 40):
        for centre in (-3.0, 0.5, 4.0):
            yield rng.normal(centre, 4, size=k), float(rng.choice([1.0, 7.0, 60.0]))
    yield np.array([2.0, 2.0, 2.0, -1.0]), 3.0
    yield np.array([-5.0, -4.0, -9.0]), 2.0
    yield np.array([0.25, 0.5, 0.25]), 1.0


def _vector(got, k, what):
    if got is None:
        raise NotAttempted
    got = np.asarray(got)
    if got.shape != (k,) or not np.issubdtype(got.dtype, np.number) or not np.all(np.isfinite(got.astype(float))):
        raise Wrong(f"expected {k} finite numbers for {what}")
    return got.astype(float)


@checker
def hist_simplex(project):
    """`project(v, total)`: the Euclidean nearest point with entries >= 0 and sum `total`."""
    for v, total in _tables(np.random.default_rng(52)):
        case = f"{v.round(2).tolist() if v.size < 6 else f'{v.size} noisy counts'} with total {total:g}"
        got, right = _vector(ask(project, v.copy(), total), v.size, case), histograms.simplex(v, total)
        if got.min() < -1e-9:
            raise Wrong(f"for {case} an entry is {got.min():.3f}, below zero")
        if abs(got.sum() - total) > 1e-6 * max(total, 1):
            raise Wrong(f"for {case} the sum is {got.sum():.4f}: clipping after the shift breaks the sum; "
                        "the shift must be such that it is right after clipping")
        if np.allclose(got, right, atol=1e-6):
            again = _vector(ask(project, got.copy(), total), v.size, "its own answer")
            if not np.allclose(again, got, atol=1e-6):
                raise Wrong(f"for {case} projecting the answer once more moves it: a legal table is its own nearest point")
            continue
        here, best = np.sqrt(((got - v) ** 2).sum()), np.sqrt(((right - v) ** 2).sum())
        up = np.maximum(v, 0)
        if up.sum() > 0 and np.allclose(got, up * total / up.sum(), atol=1e-6):
            raise Wrong(f"for {case} this is clip and rescale: nearest in L1, but at {here:.3f} and not {best:.3f} in the Euclidean distance")
        raise Wrong(f"for {case} your point is legal, at Euclidean distance {here:.4f}; there is one at {best:.4f}")
    return "legal, nearest, and it leaves legal tables alone"


@checker
def hist_lattice(to_whole):
    """`to_whole(w, n)`: whole numbers >= 0 with sum n, as near to w as any in L1."""
    for w, n in _tables(np.random.default_rng(53)):
        n = int(n)
        case = f"{w.round(2).tolist() if w.size < 6 else f'{w.size} noisy counts'} with n = {n}"
        got = _vector(ask(to_whole, w.copy(), n), w.size, case)
        if np.any(got != np.round(got)):
            raise Wrong(f"for {case} an entry is {got[got != np.round(got)][0]:g}, no whole number")
        if got.min() < 0:
            raise Wrong(f"for {case} an entry is {got.min():g}, below zero")
        if got.sum() != n:
            raise Wrong(f"for {case} the sum is {got.sum():g}: rounding each entry on its own does not keep the sum")
        here, best = np.abs(got - w).sum(), np.abs(histograms.lattice(w, n) - w).sum()
        if here > best + 1e-9:
            raise Wrong(f"for {case} your table is legal, at L1 distance {here:.3f}; there is one at {best:.3f}. "
                        "Which single step, one up and one down, brings it nearer?")
    return "whole, legal, and no table is nearer"


@checker
def hist_phantom(surplus):
    """`surplus(counts, epsilon)`: expected total of max(count + Lap(1/epsilon), 0) over the lines, minus the true total."""
    for counts, epsilon in ((np.zeros(1000), 1.0), (np.array([0, 1, 2, 5, 0]), 1.0), (np.r_[np.full(50, 20), np.zeros(950)], 0.1), (np.array([3.0]), 0.5)):
        got = ask(surplus, counts.copy(), epsilon)
        if got is None:
            raise NotAttempted
        got, scale = float(got), 1 / epsilon
        right = float(np.sum(scale / 2 * np.exp(-counts / scale)))
        case = f"for {len(counts)} lines with {counts.sum():g} people at epsilon={epsilon:g}"
        if np.isclose(got, right, rtol=1e-6):
            continue
        if np.isclose(got, scale / 2 * np.sum(counts == 0), rtol=1e-6):
            raise Wrong(f"{case} the answer is {right:.2f}, not {got:.2f}: a small count is clipped too, only less often")
        if np.isclose(got, scale / 2 * len(counts), rtol=1e-6):
            raise Wrong(f"{case} the answer is {right:.2f}, not {got:.2f}: half a scale is what an empty line gains; a full one gains next to nothing")
        if np.isclose(got, right + counts.sum(), rtol=1e-6):
            raise Wrong(f"{case} this is the expected total; take off the people who are there")
        if np.isclose(got, np.sum(scale * np.exp(-counts / scale / 2)), rtol=1e-6) or np.isclose(got, right / epsilon, rtol=1e-6) or np.isclose(
                got, right * epsilon, rtol=1e-6) or np.isclose(got, 2 * right, rtol=1e-6):
            raise Wrong(f"{case} the answer is {right:.2f}, not {got:.2f}: check the scale of the noise (add/remove: 1/epsilon) and the factor ½")
        raise Wrong(f"{case} the answer is {right:.2f}, not {got:.2f}")
    return "as many as clipping adds on average, empty lines and small ones"


def _risk(m, n, epsilon):
    """Exact expected integrated squared error for the density 1/2 + x on [0, 1], released under replace."""
    edges = np.linspace(0, 1, m + 1)
    squares = np.sum(np.diff(edges / 2 + edges**2 / 2) ** 2)
    return 13 / 12 - m * squares, m / n * (1 - squares), 8 * m**2 / (n * epsilon) ** 2


@checker
def hist_bins(choose):
    """`choose(n, epsilon)`: a number of bins for the density 1/2 + x on [0, 1] whose exact risk is within 2 % of the best."""
    for n, epsilon in ((1000, 0.1), (1000, 1.0), (100_000, 0.01), (1_000_000, 1.0), (200, 0.05), (50_000, 0.2)):
        m = ask(choose, n, epsilon)
        if m is None:
            raise NotAttempted
        case = f"for n={n:,}, epsilon={epsilon:g}"
        if isinstance(m, bool) or float(m) != int(m) or not 1 <= m <= 10**6:
            raise Wrong(f"{case} expected a number of bins, at least 1, got {m!r}")
        risks = np.array([_risk(k, n, epsilon) for k in range(1, 401)])
        here, best, at = sum(_risk(int(m), n, epsilon)), risks.sum(axis=1).min(), int(np.argmin(risks.sum(axis=1))) + 1
        if here <= 1.02 * best:
            continue
        without_noise = int(np.argmin(risks[:, :2].sum(axis=1))) + 1
        without_sampling = int(np.argmin(risks[:, [0, 2]].sum(axis=1))) + 1
        much = f"{case} {int(m)} bins have {here / best:.2f} times the risk of the best"
        if abs(m - without_noise) <= 1 and without_noise != at:
            raise Wrong(f"{much}: that would be right without privacy; the noise adds 8 m²/(n epsilon)²")
        if abs(m - without_sampling) <= 1 and without_sampling != at:
            raise Wrong(f"{much}: that would be right if the noise were all; sampling adds about m/n")
        raise Wrong(f"{much}: too {'many, they drown in noise' if m > at else 'few, they hide the slope'}")
    return "within 2 % of the best risk, in all six cases"
