"""Checkers of chapter 5, publishing a table once."""
import functools
from unittest import mock

import numpy as np

from dplib import histograms
from provable_privacy.battery import Numbers, Pair, battery
from provable_privacy.speech import Wrong, answered, checker, compare_number, number, numbers

__all__ = ["hist_interval", "hist_lattice", "hist_mend", "hist_phantom", "hist_simplex"]

EDGES = np.array([0.0, 10.0, 25.0, 50.0])


# ------------------------------------------------------------------------------------------------------------- the mended table

@functools.cache
def _with(scale=lambda n, k: 2, draw="laplace", after=lambda table, n: table,
          bins=lambda values, bins: (np.bincount(np.searchsorted(bins[1:-1], values, side="right"), minlength=len(bins) - 1),)):
    """A release, right unless told otherwise."""
    def wrong(values, edges, epsilon, rng):
        found = np.asarray(bins(values, bins=edges)[0])
        b = scale(len(values), len(found)) / epsilon
        return after(found + getattr(rng, draw)(scale=np.where(found > 0, b, 0) if scale is FILLED else b, size=len(found)), len(values))

    return wrong


def FILLED(n, k):
    return 2


def _half_open(values, bins):
    return [np.sum((low <= values) & (values < high)) for low, high in zip(bins[:-1], bins[1:])],


def _at_or_below(values, bins):
    return np.histogram(-values, bins=-bins[::-1])[0][::-1],


def _redrawn(values, edges, epsilon, rng):
    found = np.histogram(values, bins=edges)[0]
    out = np.full(len(found), -1.0)
    while (out < 0).any():
        out = np.where(out < 0, found + rng.laplace(scale=2 / epsilon, size=len(found)), out)
    return out


def _upward(values, edges, epsilon, rng):
    return np.histogram(values, bins=edges)[0] + np.maximum(rng.laplace(scale=2 / epsilon, size=len(edges) - 1), 0)


def _one_for_all(values, edges, epsilon, rng):
    return np.histogram(values, bins=edges)[0] + rng.laplace(scale=2 / epsilon)


MISTAKES = {
    "the noise has scale 1/epsilon: right for add/remove, but here n is public and one replaced row leaves one bin and enters another; the counts "
    "move by 2 together and the loss is 2 epsilon": _with(lambda n, k: 1),
    "the noise has twice the scale that privacy needs: the counts move by 2 together, so 2/epsilon is enough": _with(lambda n, k: 4),
    "the standard deviation of the noise is 2/epsilon; a Laplace scale of 2/epsilon has a standard deviation √2 times that": _with(lambda n, k: 2**0.5),
    "the scale is the number of bins over epsilon: however many bins there are, one replaced row moves two counts, so 2/epsilon is enough":
        _with(lambda n, k: k),
    "the scale is 2/(n epsilon): that is the noise for shares; a count is n times a share, and so is its noise, 2/epsilon": _with(lambda n, k: 2 / max(n, 1)),
    "this noise is normal: it keeps no epsilon, only an (epsilon, delta); use Laplace noise": _with(draw="normal"),
    "this noise is normal, of the right standard deviation: it keeps no epsilon; use Laplace noise": _with(lambda n, k: 8**0.5, "normal"),
    "only filled bins get noise: whether anybody is in a bin is then told exactly, an infinite loss": _with(FILLED),
    "there is no noise": _with(lambda n, k: 0),
    "the noise never goes down, so the printed count bounds the true one, and some tables are impossible for a neighbour: an infinite loss": _upward,
    "a negative count is thrown away and drawn again: how often that happens depends on the true count, and the loss is more than epsilon": _redrawn,
    "these are shares; print counts": _with(after=lambda t, n: t / max(n, 1)),
    "the lines are not in the order of the edges": _with(after=lambda t, n: np.sort(t)),
    "bins are [low, high), and only the last holds its upper edge": _with(bins=_half_open),
    "bins are [low, high): a value on an edge belongs to the bin above it": _with(bins=_at_or_below),
    "the edges are those of the data, and the ends of the table are then two people": _with(bins=lambda v, bins: np.histogram(v, bins=len(bins) - 1)),
    "one noise serves all bins: their differences are exact": _one_for_all,
}


def _whole_table(answer, arguments, rng):
    got, k = answered(answer, *arguments, rng), len(arguments[1]) - 1
    got = list(got.values()) if isinstance(got, dict) else got
    if np.shape(got) != (k,):
        raise Wrong(f"{k} bins, and the table has the shape {np.shape(got)}: print every bin, in the order of the edges; "
                    "which lines there are must not depend on who is in the data")
    return got


def _pair(what, values, moved, epsilon, edges=EDGES, **settings):
    """`values`, and the same with the first or last rows replaced."""
    one = np.array(values, dtype=float)
    two = np.concatenate([moved, one[len(moved):]]) if settings.pop("first", False) else np.concatenate([one[:len(one) - len(moved)], moved])
    truth = tuple(np.histogram(v, bins=edges)[0] for v in (one, two))
    claims = ((len(moved) * epsilon, 0.0),) if len(moved) else ()
    return Pair(what, (one, edges, epsilon), (two, edges, epsilon), claims, truth, within=3.38 / epsilon, share=0.75, **settings)


_rng = np.random.default_rng(51)
PAIRS = [
    _pair("a table of one patient in 12 bins / another patient", [3.0], [57.0], 1.2, np.arange(0.0, 61.0, 5.0), runs=3500),
    _pair("three of the same age / the third one older", [12.0, 12.0, 12.0], [49.0], 1.0, runs=1200),
    _pair("two in every bin / the last of them in the first", [1.0, 2.0, 11.0, 12.0, 30.0, 40.0], [3.0], 0.5, runs=1200, twice=400),
    _pair("60 in one bin / the last six of them in an empty one", 60 * [12.0], 6 * [5.0], 0.2, runs=3500),
    _pair("seven patients / three of them in other bins", [0.0, 3.0, 9.5, 12.0, 24.0, 12.0, 11.0], [30.0, 40.0, 49.0], 0.7, runs=16_000, first=True, law=True),
    _pair("2,000 patients in one of two bins / six of them in the other", _rng.uniform(0, 9, 2000), 6 * [11.5], 0.2, np.array([0, 9.0, 12.0]), runs=3500),
    _pair("nobody / nobody", [], [], 1.3, runs=400),
    _pair("ages on the edges / the same", [50.0, 50.0, 25.0, 10.0, 0.0, 10.0, 15.0], [], 40.0, runs=400),
]


@checker
def hist_mend(release):
    """`release(values, edges, epsilon, rng)`: the raw noisy counts of the bins, epsilon-private under replace."""
    looked = battery(release, lambda pair: Numbers(len(pair.one[1]) - 1, "bin"), PAIRS, call=_whole_table, mistakes=MISTAKES, right=_with(), seed=51)
    rng = np.random.default_rng(52)
    printed, others = (np.array([_whole_table(release, (np.array(few), EDGES, 1.3), rng) for _ in range(20)]) for few in ([], [3.0]))
    if not printed.any() and others.min() < 0:
        raise Wrong("a table of nobody is printed without noise: as n is public that tells nothing, but a raw noisy table has noise in every bin, "
                    "and where n is not public zeros would tell that nobody came")
    if printed.min() >= 0:                       # 60 counts, each below 0 in one of three calls at least
        raise Wrong("negative counts are printed as zero: free for privacy, but it makes phantom people; print the raw table")
    return looked


# ---------------------------------------------------------------------------------------------------------------------- the others

@checker
def hist_interval(half_width):
    """`half_width(epsilon, k, level)`: +-h holds for all k lines of a table under replace at once with probability `level`."""
    for epsilon, k, level in ((1.0, 1, 0.95), (1.0, 10, 0.95), (0.5, 100, 0.9), (2.0, 3, 0.99)):
        case, scale = f"for epsilon={epsilon:g}, k={k}, level={level:g}", 2 / epsilon
        got, right = number(answered(half_width, epsilon, k, level), case), -scale * np.log1p(-(level ** (1 / k)))
        if not got > 0:
            raise Wrong(f"{case}: expected a positive half-width, got {got:g}")
        covers = (1 - np.exp(-got / scale)) ** k
        said = {
            right / 2: f"this is the half-width for noise of scale 1/epsilon; under replace the scale is 2/epsilon, and yours covers {covers:.1%}",
            -scale * np.log1p(-level): f"this holds for one line; all {k} hold together in only {covers:.1%} of tables",
            scale * np.log(k / (1 - level)): f"adding up the k chances of a miss (Bonferroni) is safe and nearly right, {covers:.2%}; "
                                             "the lines are independent, so be exact",
        }
        why = next((words for value, words in said.items() if np.isclose(got, value, rtol=1e-6)),
                   f"±{got:.3f} holds for all lines in {covers:.2%} of tables, and should in {level:.0%}")
        compare_number(got, right, case, lambda got, why=why: why, tolerance=0, relative=1e-6)
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


def _by_hand(function, arguments, size, what):
    """The learner's vector, made without the function of `dplib` that the exercise asks for."""
    def refuse(*arguments, **keywords):
        called.append(True)
        raise Wrong

    called = []
    try:
        with mock.patch.object(histograms, "array", refuse):
            return numbers(answered(function, *arguments), (size,), what)
    except Wrong:
        if called:
            raise Wrong("write it without histograms.simplex or histograms.lattice, which is what the exercise asks for") from None
        raise


def _case(v, total, word):
    return f"for {v.round(2).tolist() if v.size < 6 else f'{v.size} noisy counts'} with {word} {total:g}"


@checker
def hist_simplex(project):
    """`project(v, total)`: the Euclidean nearest point with entries >= 0 and sum `total`."""
    for v, total in _tables(np.random.default_rng(52)):
        case = _case(v, total, "total")
        got, right = _by_hand(project, (v.copy(), total), v.size, case), histograms.simplex(v, total=total)
        if got.min() < -1e-9:
            raise Wrong(f"{case} an entry is {got.min():.3f}, below zero")
        if abs(got.sum() - total) > 1e-6 * max(total, 1):
            if abs(got.sum() - total) < 1e-3 * max(total, 1):
                raise Wrong(f"{case} the sum is {got.sum():.7f}: nearly; bisect until t no longer changes, or solve for it")
            if np.maximum(v, 0).sum() < total and np.allclose(got, np.maximum(v, 0), atol=1e-6):
                raise Wrong(f"{case} the sum is {got.sum():.4f}: the positive entries are too few, so what is subtracted, t, must be negative")
            if any(np.allclose(got, np.maximum(u - (u.sum() - total) / u.size, 0), atol=1e-6) for u in (v, np.maximum(v, 0))):
                raise Wrong(f"{case} the sum is {got.sum():.4f}: clipping after the shift breaks the sum; "
                            "the shift must be such that it is right after clipping")
            raise Wrong(f"{case} the sum is {got.sum():.4f} and should be {total:g}")
        if np.allclose(got, right, atol=1e-6):
            if not np.allclose(_by_hand(project, (got.copy(), total), v.size, "its own answer"), got, atol=1e-6):
                raise Wrong(f"{case} projecting the answer once more moves it: a legal table is its own nearest point")
            continue
        here, best, up = np.sqrt(((got - v) ** 2).sum()), np.sqrt(((right - v) ** 2).sum()), np.maximum(v, 0)
        if up.sum() > 0 and np.allclose(got, up * total / up.sum(), atol=1e-6):
            raise Wrong(f"{case} this is clip and rescale: nearest in L1, but at {here:.3f} and not {best:.3f} in the Euclidean distance")
        raise Wrong(f"{case} your point is legal, at Euclidean distance {here:.4f}; there is one at {best:.4f}")
    return "legal, nearest, and it leaves legal tables alone"


@checker
def hist_lattice(to_whole):
    """`to_whole(w, n)`: whole numbers >= 0 with sum n, as near to w as any in L1."""
    for w, n in _tables(np.random.default_rng(53)):
        n, case = int(n), _case(w, n, "n =")
        got = _by_hand(to_whole, (w.copy(), n), w.size, case)
        if np.any(got != np.round(got)):
            raise Wrong(f"{case} an entry is {got[got != np.round(got)][0]:g}, no whole number")
        if got.min() < 0:
            raise Wrong(f"{case} an entry is {got.min():g}, below zero")
        if got.sum() != n:
            alone = any(np.array_equal(got, np.maximum(way(w), 0)) for way in (np.round, np.floor))
            raise Wrong(f"{case} the sum is {got.sum():g} and should be {n}{': rounding each entry on its own does not keep the sum' if alone else ''}")
        here, best = np.abs(got - w).sum(), np.abs(histograms.lattice(w, n=n) - w).sum()
        if here > best + 1e-9:
            raise Wrong(f"{case} your table is legal, at L1 distance {here:.3f}; there is one at {best:.3f}. "
                        "Which single step, one up and one down, brings it nearer?")
    return "whole, legal, and no table is nearer"


@checker
def hist_phantom(surplus):
    """`surplus(counts, epsilon)`: expected total of max(count + Lap(1/epsilon), 0) over the lines, minus the true total."""
    for counts, epsilon in ((np.zeros(1000), 1.0), (np.array([0, 1, 2, 5, 0]), 1.0), (np.r_[np.full(50, 20), np.zeros(950)], 0.1), (np.array([3.0]), 0.5)):
        case, b = f"for {len(counts)} lines with {counts.sum():g} people at epsilon={epsilon:g}", 1 / epsilon
        got, right = number(answered(surplus, counts.copy(), epsilon), case), float(np.sum(b / 2 * np.exp(-counts / b)))
        scale = "check the scale of the noise (add/remove: 1/epsilon) and the factor ½"
        said = [
            (b / 2 * np.sum(counts == 0), "a small count is clipped too, only less often"),
            (b / 2 * len(counts), "half a scale is what an empty line gains; a full one gains next to nothing"),
            (right + counts.sum(), "this is the expected total; take off the people who are there"),
            *((value, scale) for value in (np.sum(b * np.exp(-counts / b / 2)), right / epsilon, right * epsilon, 2 * right)),
        ]
        near = abs(got - right) < 0.02 * right and "near, but this can be exact: integrate, and do not simulate"
        why = next((words for value, words in said if np.isclose(got, value, rtol=1e-6)), near or "")
        compare_number(got, right, case, lambda got, why=why, right=right: f"the answer is {right:.2f}, not {got:.2f}{why and ': '}{why}",
                       tolerance=0, relative=1e-6)
    return "as many as clipping adds on average, empty lines and small ones"
