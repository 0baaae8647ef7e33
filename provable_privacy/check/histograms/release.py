"""Checkers of chapter 5, publishing a table once."""
import contextlib
from unittest import mock

import numpy as np

from dplib import histograms
from provable_privacy.battery import Numbers, Pair, battery, looks_for
from provable_privacy.battery.makers import laplace, noisy, normal, scaled, shared
from provable_privacy.formulas import on_cases, rounded
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["hist_interval", "hist_lattice", "hist_mend", "hist_phantom", "hist_simplex"]

EDGES = np.array([0.0, 10.0, 25.0, 50.0])


# -------------------------------------------------------------------------------------------------------- the raw table

def _table(values, edges, epsilon):
    return np.bincount(np.searchsorted(edges[1:-1], values, side="right"), minlength=len(edges) - 1)


def _half_open(values, edges, epsilon):
    return np.array([np.sum((low <= values) & (values < high)) for low, high in zip(edges[:-1], edges[1:])])


def _at_or_below(values, edges, epsilon):
    return np.histogram(-values, bins=-edges[::-1])[0][::-1]


def _edges_of_the_data(values, edges, epsilon):
    return np.histogram(values, bins=len(edges) - 1)[0]


def _right_scale(values, edges, epsilon):
    return 2 / epsilon


def _with(factor=1.0, law=laplace, exact=_table):
    """The exact table and noise, right unless told otherwise; `factor` changes the scale 2/epsilon."""
    return noisy(exact, _right_scale, scaled(factor, law))


def _scale(scale):
    return noisy(_table, scale)


def _as_printed(change):
    """The right table, changed when it is printed."""
    return lambda values, edges, epsilon, rng: change(RIGHT(values, edges, epsilon, rng), values)


def _line_by_line(values, edges, epsilon, rng):
    """A line is drawn again until it is not negative."""
    true = _table(values, edges, epsilon)
    out = np.full(len(true), -1.0)
    while (out < 0).any():
        out = np.where(out < 0, true + rng.laplace(scale=2 / epsilon, size=len(true)), out)
    return out


RIGHT = _with()
MISTAKES = {
    "the noise has scale 1/epsilon: right for add/remove, but here n is public and one replaced row leaves one bin and "
    "enters another; the counts move by 2 together and the loss is 2 epsilon": _with(1 / 2),
    "the noise has twice the scale that privacy needs: the counts move by 2 together, so 2/epsilon is enough": _with(2),
    "the standard deviation of the noise is 2/epsilon; a Laplace scale of 2/epsilon has a standard deviation √2 times "
    "that": _with(2**-0.5),
    "the scale is the number of bins over epsilon: however many bins there are, one replaced row moves two counts, so "
    "2/epsilon is enough": _scale(lambda values, edges, epsilon: (len(edges) - 1) / epsilon),
    "the scale is 2/(n epsilon), which is for shares; a count is n times a share, and its noise has scale 2/epsilon":
        _scale(lambda values, edges, epsilon: 2 / max(len(values), 1) / epsilon),
    "this noise is normal: it keeps no epsilon, only an (epsilon, delta); use Laplace noise": _with(law=normal),
    "this noise is normal, of the right standard deviation: it keeps no epsilon; use Laplace noise":
        _with(2**0.5, normal),
    "only filled bins get noise: that tells exactly whether anybody is in a bin, an infinite loss":
        _scale(lambda *table: np.where(_table(*table) > 0, 2 / table[-1], 0)),
    "there is no noise": _with(0),
    "the noise never goes down, so the printed count bounds the true one, and some tables are impossible for a "
    "neighbour: an infinite loss": _with(law=lambda *scale: np.maximum(laplace(*scale), 0)),
    "a negative count is drawn again: how often that happens depends on the true count, and the loss is more than "
    "epsilon": _line_by_line,
    "these are shares; print counts": _as_printed(lambda table, values: table / max(len(values), 1)),
    "the lines are not in the order of the edges": _as_printed(lambda table, values: np.sort(table)),
    "bins are [low, high), and only the last holds its upper edge": _with(exact=_half_open),
    "bins are [low, high): a value on an edge belongs to the bin above it": _with(exact=_at_or_below),
    "the edges are those of the data, and the ends of the table are then two people": _with(exact=_edges_of_the_data),
    "one noise serves all bins: their differences are exact": _with(law=shared()),
}


def _whole_table(answer, arguments, rng):
    got, k = answered(answer, *arguments, rng), len(arguments[1]) - 1
    got = list(got.values()) if isinstance(got, dict) else got
    if np.shape(got) != (k,):
        raise Wrong(f"{k} bins, and the table has the shape {np.shape(got)}: print every bin, in the order of the "
                    "edges; which lines there are must not depend on who is in the data")
    return got


def _pair(what, values, moved, epsilon, edges=EDGES, first=False, **settings):
    """`values`, and the same with the first or last rows replaced."""
    one = np.array(values, dtype=float)
    kept = one[len(moved):] if first else one[:len(one) - len(moved)]
    two = np.concatenate([moved, kept] if first else [kept, moved])
    truth = tuple(np.histogram(v, bins=edges)[0] for v in (one, two))
    claims = ((len(moved) * epsilon, 0.0),) if len(moved) else ()
    return Pair(what, (one, edges, epsilon), (two, edges, epsilon), claims, truth,
                within=3.38 / epsilon, share=0.75, **settings)


TWO_THOUSAND = np.random.default_rng(51).uniform(0, 9, 2000)
EVERY_SECOND, THE_OTHERS = (np.arange(start, 60.0, 10.0) for start in (3.0, 8.0))
PAIRS = [
    _pair("a table of one patient in 30 bins / another patient", [3.0], [57.0], 1.4, np.arange(0.0, 61.0, 2.0),
          runs=3500),
    _pair("24 patients in every second of 12 bins / six of them in the others", np.repeat(EVERY_SECOND, 4)[::-1],
          THE_OTHERS, 0.2, np.arange(0.0, 61.0, 5.0), runs=600),
    _pair("three of the same age / the third one older", [12.0, 12.0, 12.0], [49.0], 1.0, runs=1200),
    _pair("two in every bin / the last of them in the first", [1.0, 2.0, 11.0, 12.0, 30.0, 40.0], [3.0], 0.5,
          runs=1200, twice=400),
    _pair("120 below zero, in one bin / 60 of them in an empty one", 120 * [-8.0], 60 * [-15.0], 0.02, EDGES - 20,
          runs=3500),
    _pair("seven patients / three of them in other bins", [0.0, 3.0, 9.5, 12.0, 24.0, 12.0, 11.0], [30.0, 40.0, 49.0],
          0.7, first=True, runs=16_000, law=True),
    _pair("2,000 patients in one of two bins / six of them in the other", TWO_THOUSAND, 6 * [11.5], 0.2,
          np.array([0, 9.0, 12.0]), runs=3500),
    _pair("12,000 patients / one of them in another bin", np.repeat(TWO_THOUSAND, 6), [11.5], 1.0,
          np.array([0, 9.0, 12.0]), runs=150),
    _pair("400 patients, ε = 9 / one of them in another bin", 400 * [12.0], [5.0], 9.0, runs=2500, law=True),
    _pair("nobody / nobody", [], [], 1.3, runs=400),
    _pair("ages on the edges / the same", [50.0, 50.0, 25.0, 10.0, 0.0, 10.0, 15.0], [], 40.0, runs=400),
]


@checker
@looks_for("empty", "far", "quotient", "own", "zero", size="a row is replaced", contents="each row is one number",
           missing="a value lies in a bin", order="a count for each bin comes out")
def hist_mend(release):
    """`release(values, edges, epsilon, rng)`: the raw noisy counts of the bins, epsilon-private under replace."""
    def form(pair):
        return Numbers(len(pair.one[1]) - 1, "bin")

    looked = battery(release, form, PAIRS, call=_whole_table, mistakes=MISTAKES, right=RIGHT, seed=51)
    _prints_raw_counts(release, np.random.default_rng(52))
    return looked


def _prints_raw_counts(release, rng):
    printed, others = (np.array([_whole_table(release, (np.array(few), EDGES, 1.3), rng) for _ in range(20)])
                       for few in ([], [3.0]))
    if not printed.any() and others.min() < 0:
        raise Wrong("a table of nobody is printed without noise: as n is public that tells nothing, but a raw noisy "
                    "table has noise in every bin, and where n is not public zeros would tell that nobody came")
    if printed.min() >= 0:                       # 60 counts, each below 0 in one of three calls at least
        raise Wrong("negative counts are printed as zero: that costs no privacy, but it adds people who do not exist; "
                    "print the raw table")


# -------------------------------------------------------------------------------------------- an interval for all lines

WIDTHS = [(1.0, 1, 0.95), (1.0, 10, 0.95), (0.5, 100, 0.9), (2.0, 3, 0.99)]


def _width(epsilon, k, level, scale=2):
    return -scale / epsilon * np.log1p(-(level ** (1 / k)))


WIDTH_MISTAKES = {
    "this is the half-width for noise of scale 1/epsilon; under replace the scale is 2/epsilon":
        lambda epsilon, k, level: _width(epsilon, k, level, scale=1),
    "this holds for one line; all lines hold together less often": lambda epsilon, k, level: _width(epsilon, 1, level),
    "adding up the k chances of a miss (Bonferroni) is safe and nearly right; the lines are independent, so be exact":
        lambda epsilon, k, level: 2 / epsilon * np.log(k / (1 - level)),
}


def _covered(got, right, epsilon, k, level):
    if not got > 0:
        return "expected a positive half-width"
    covers = (1 - np.exp(-got * epsilon / 2)) ** k
    covered = f"±{got:.3f} holds for all lines in {covers:.2%} of tables, and should in {level:.0%}"
    return rounded(got, right) or covered


@checker
def hist_interval(half_width):
    """`half_width(epsilon, k, level)`: +-h holds for all k lines of a table under replace with probability `level`."""
    on_cases(half_width, WIDTHS, _width, WIDTH_MISTAKES, what="the half-width", otherwise=_covered)
    return "it holds for all lines at once, and is no wider than that takes"


# --------------------------------------------------------------------------------------------------------- legal tables

def _tables(rng):
    """Noisy tables of many shapes, with the total each should have."""
    yield np.array([6.4, 3.6, 2.4, -1.0]), 10.0
    for k in (1, 2, 3, 5, 12, 40):
        for centre in (-3.0, 0.5, 4.0):
            yield rng.normal(centre, 4, size=k), float(rng.choice([1.0, 7.0, 60.0]))
    yield np.array([2.0, 2.0, 2.0, -1.0]), 3.0
    yield np.array([-5.0, -4.0, -9.0]), 2.0
    yield np.array([0.25, 0.5, 0.25]), 1.0


TABLES, MORE_TABLES = (list(_tables(np.random.default_rng(seed))) for seed in (52, 53))


def _written_by_hand(function, cases):
    """`Wrong` if it calls the function of `dplib` that the exercise asks for."""
    with mock.patch.object(histograms, "array", side_effect=ValueError) as used:
        for v, total in cases:
            with contextlib.suppress(Wrong):
                ask(function, v.copy(), total)
    if used.called:
        raise Wrong("write it without histograms.simplex or histograms.lattice, which is what the exercise asks for")


def _noisy_counts(v):
    return v.round(2).tolist() if v.size < 6 else f"{v.size} noisy counts"


def _nearest(v, total):
    return histograms.simplex(v, total=total)


def _shifted(v, total):
    return np.maximum(v - (v.sum() - total) / v.size, 0)


def _rescaled(v, total):
    return np.maximum(v, 0) * total / np.maximum(v, 0).sum()


SHIFT = "clipping after the shift breaks the sum; the shift must be such that the sum is right after clipping"
SIMPLEX_MISTAKES = {
    SHIFT: _shifted,
    f"the clipped table is shifted and clipped again: {SHIFT}": lambda v, total: _shifted(np.maximum(v, 0), total),
    "where the positive entries add up to less than the total, what is subtracted, t, must be negative":
        lambda v, total: np.minimum(_nearest(v, total), np.maximum(v, 0)),
    "this is clip and rescale: it is nearest in L1, but not in the Euclidean distance": _rescaled,
}


def _not_nearest(got, right, v, total):
    if got.min() < -1e-9:
        return f"an entry is {got.min():.3f}, below zero"
    if abs(got.sum() - total) > 1e-6 * max(total, 1):
        nearly = abs(got.sum() - total) < 1e-3 * max(total, 1)
        return (f"the sum is {got.sum():.7f}: nearly; bisect until t no longer changes, or solve for it" if nearly else
                f"the sum is {got.sum():.4f} and should be {total:g}")
    if v.min() >= 0 and np.isclose(v.sum(), total):
        return "this table is legal, so that it is its own nearest point"
    here, best = (np.sqrt(((point - v) ** 2).sum()) for point in (got, right))
    return f"your point is legal, at Euclidean distance {here:.4f}; there is one at {best:.4f}"


def _is_nearest(got, right, v, total):
    legal = got.min() >= -1e-9 and abs(got.sum() - total) <= 1e-6 * max(total, 1)
    return legal and np.allclose(got, right, atol=1e-6)


@checker
def hist_simplex(project):
    """`project(v, total)`: the Euclidean nearest point with entries >= 0 and sum `total`."""
    _written_by_hand(project, TABLES)
    legal = [(_nearest(*table), table[1]) for table in TABLES]
    on_cases(project, TABLES + legal, _nearest, SIMPLEX_MISTAKES, rtol=0, atol=1e-9, alike=1e-6, accepts=_is_nearest,
             otherwise=_not_nearest, shape=lambda v, total: v.shape,
             show=lambda v, total: f"{_noisy_counts(v)} with total {total:g}")
    return "legal, nearest, and it leaves legal tables alone"


ALONE = "rounding each entry on its own does not keep the sum"
LATTICE_MISTAKES = {
    ALONE: lambda w, n: np.maximum(np.round(w), 0),
    f"{ALONE}, nor does rounding down": lambda w, n: np.maximum(np.floor(w), 0),
}


def _fault(got, right, w, n):
    """Words for a table that is not among the nearest, or ""."""
    if np.any(got != np.round(got)):
        return f"an entry is {got[got != np.round(got)][0]:g}, no whole number"
    if got.min() < 0:
        return f"an entry is {got.min():g}, below zero"
    if got.sum() != n:
        return f"the sum is {got.sum():g} and should be {n}"
    here, best = (np.abs(table - w).sum() for table in (got, right))
    if here <= best + 1e-9:
        return ""
    return (f"your table is legal, at L1 distance {here:.3f}; there is one at {best:.3f}. "
            "Which single step, one up and one down, brings it nearer?")


@checker
def hist_lattice(to_whole):
    """`to_whole(w, n)`: whole numbers >= 0 with sum n, as near to w as any in L1."""
    tables = [(w, int(n)) for w, n in MORE_TABLES]
    _written_by_hand(to_whole, tables)
    on_cases(to_whole, tables, lambda w, n: histograms.lattice(w, n=n), LATTICE_MISTAKES, rtol=0,
             accepts=lambda *case: not _fault(*case), otherwise=_fault, shape=lambda w, n: w.shape,
             show=lambda w, n: f"{_noisy_counts(w)} with n = {n}")
    return "whole, legal, and no table is nearer"


# ------------------------------------------------------------------------------------------------------------- phantoms

VILLAGES = [
    (np.zeros(1000), 1.0),
    (np.array([0, 1, 2, 5, 0]), 1.0),
    (np.r_[np.full(50, 20), np.zeros(950)], 0.1),
    (np.array([3.0]), 0.5),
]


def _surplus(counts, epsilon, scale=1.0, factor=1 / 2):
    b = scale / epsilon
    return factor * b * np.sum(np.exp(-counts / b))


CHECK = "check the scale of the noise (add/remove: 1/epsilon) and the factor ½"
SURPLUS_MISTAKES = {
    "a small count is clipped too, only less often": lambda counts, epsilon: np.sum(counts == 0) / (2 * epsilon),
    "an empty line gains half a scale, but a full one gains next to nothing":
        lambda counts, epsilon: len(counts) / (2 * epsilon),
    "this is the expected total; subtract the people who are there":
        lambda counts, epsilon: _surplus(counts, epsilon) + counts.sum(),
    f"{CHECK}: the noise is that of replace": lambda counts, epsilon: _surplus(counts, epsilon, scale=2),
    f"{CHECK}: it is missing": lambda counts, epsilon: _surplus(counts, epsilon, factor=1),
    f"{CHECK}: 1/epsilon is in it twice": lambda counts, epsilon: _surplus(counts, epsilon) / epsilon,
    f"{CHECK}: 1/epsilon is missing": lambda counts, epsilon: _surplus(counts, epsilon) * epsilon,
}


def _near(got, right, counts, epsilon):
    near = ": near, but this can be exact: integrate, and do not simulate" if abs(got - right) < 0.02 * right else ""
    return f"the answer is {right:.2f}{near}"


@checker
def hist_phantom(surplus):
    """`surplus(counts, epsilon)`: expected sum of max(count + Lap(1/epsilon), 0) over the lines, minus the total."""
    on_cases(surplus, VILLAGES, _surplus, SURPLUS_MISTAKES, otherwise=_near, what="the surplus",
             show=lambda counts, epsilon: f"{len(counts)} lines with {counts.sum():g} people, epsilon = {epsilon:g}")
    return "as many as clipping adds on average, empty lines and small ones"
