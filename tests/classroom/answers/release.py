"""Answers to the exercises of the section on publishing a table once."""
import heapq
from bisect import bisect

import checking
import numpy as np
from scipy.optimize import brentq

from dplib import histograms
from provable_privacy import check
from provable_privacy.battery.makers import (
    centred,
    fixed_seed,
    geometric,
    given,
    laplace,
    noisy,
    normal,
    one_sided,
    own_luck,
    same_size,
    shared,
    then,
    where,
)


def exact(values, edges, epsilon):
    return np.histogram(values, bins=edges)[0]


def only_lines_that_occur(values, edges, epsilon):
    return np.unique(np.digitize(values, edges), return_counts=True)[1]


def half_open(values, edges, epsilon):
    """Loses the value on the last edge."""
    return np.array([np.sum((low <= values) & (values < high)) for low, high in zip(edges[:-1], edges[1:])])


def table(factor=2.0, law=laplace, exact=exact):
    """A learner's release, right unless told otherwise; the factor of the scale may depend on n and the counts."""
    def scale(values, edges, epsilon):
        return (factor(len(values), exact(values, edges, epsilon)) if callable(factor) else factor) / epsilon

    return noisy(exact, scale, law)


def printed(change):
    return then(TABLE, lambda table, given, rng: change(table))


def redrawn(values, edges, epsilon, rng):
    """Draws the noise of each line until the count is not negative."""
    out = []
    for count in exact(values, edges, epsilon):
        out.append(-1)
        while out[-1] < 0:
            out[-1] = count + rng.laplace(scale=2 / epsilon)
    return out


def used_again():
    """Half of the lines have the noise of the call before."""
    kept = {}

    def law(rng, scale, shape):
        noise = kept.setdefault(shape, rng.laplace(size=shape))
        kept[shape] = np.where(rng.random(shape) < 0.5, noise, rng.laplace(size=shape))
        return scale * noise

    return table(law=law)


def as_list(values, edges, epsilon, rng):
    """No numpy histogram, a list, whole-number noise as a difference of two geometric numbers."""
    found = [0] * (len(edges) - 1)
    for value in values.tolist():
        found[min(bisect(edges.tolist(), value), len(found)) - 1] += 1
    stop = -np.expm1(-epsilon / 2)
    return [count + int(rng.geometric(stop)) - int(rng.geometric(stop)) for count in found]


def half_width(factor=2.0, *, lines=True):
    def function(epsilon, k, level):
        return -factor / epsilon * np.log(1 - level ** (1 / k if lines else 1))

    return function


def bisected(v, total):
    """The projection by root finding."""
    t = brentq(lambda t: np.maximum(v - t, 0).sum() - total, v.min() - total - 1, v.max(), xtol=1e-13)
    return np.maximum(v - t, 0)


def rescaled(v, total):
    up = np.maximum(v, 0)
    return up * total / up.sum() if up.sum() > 0 else np.full(len(v), total / len(v))


def shifted_then_clipped(v, total):
    return np.maximum(v - (v.sum() - total) / len(v), 0)


def greedy(w, n):
    m = np.zeros(len(w), dtype=int)
    queue = [(abs(1 - w[j]) - abs(w[j]), j) for j in range(len(w))]
    heapq.heapify(queue)
    for _ in range(n):
        j = heapq.heappop(queue)[1]
        m[j] += 1
        heapq.heappush(queue, (abs(m[j] + 1 - w[j]) - abs(m[j] - w[j]), j))
    return m


def rounded_simplex(w, n):
    """Rounds the Euclidean point and gives the rest to the largest line: legal, not nearest."""
    m = np.floor(bisected(w, n) if n else np.zeros(len(w))).astype(int)
    m[np.argmin(w)] += n - m.sum()
    return m


def turned_round(rng, scale, shape):
    """The second noise is the first, with the other sign."""
    noise = laplace(rng, scale, shape)
    return np.r_[noise[0], -noise[0], noise[2:]]


def phantoms(counts, epsilon):
    return np.sum(np.exp(-epsilon * np.asarray(counts))) / (2 * epsilon)


def handed_out(w, n):
    """Rounds down and hands out what is missing, also where it is less than nothing."""
    whole = np.floor(np.maximum(w, 0))
    whole[np.argsort(whole - np.maximum(w, 0))[: int(n - whole.sum())]] += 1
    return whole


TABLE = table()

SOLUTIONS = [
    (check.hist_mend, own_luck(TABLE)),
    (check.hist_interval, lambda seed: half_width()),
    (check.hist_simplex, lambda seed: bisected),
    (check.hist_lattice, lambda seed: greedy),
    (check.hist_phantom, lambda seed: phantoms),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.hist_mend, table(1.0), "right for add/remove"),
    (check.hist_mend, table(1.0, geometric), "times as often"),
    (check.hist_mend, table(4.0), "twice the scale that privacy needs"),
    (check.hist_mend, table(4.0, geometric), "should be in 75%"),
    (check.hist_mend, table(2**0.5), "√2 times that"),
    (check.hist_mend, table(8**0.5), "should be in 75%"),
    (check.hist_mend, table(lambda n, found: len(found)), "the scale is the number of bins over epsilon"),
    (check.hist_mend, table(lambda n, found: 2 / max(n, 1)), "which is for shares"),
    (check.hist_mend, table(law=normal), "normal"),
    (check.hist_mend, table(lambda n, found: 2 * (found > 0)), "only filled bins"),
    (check.hist_mend, table(0.0), "no noise"),
    (check.hist_mend, printed(lambda table: np.maximum(table, 0)), "printed as zero"),
    (check.hist_mend, table(law=one_sided()), "only one of the two tables"),
    (check.hist_mend, table(law=lambda *scale: np.maximum(laplace(*scale), 0)), "infinite"),
    (check.hist_mend, table(law=shared()), "one noise"),
    (check.hist_mend, used_again(), "call before"),
    (check.hist_mend, printed(np.sort), "order of the edges"),
    (check.hist_mend, table(law=centred), "write scale="),
    (check.hist_mend, lambda values, edges, epsilon, rng: print(end=""), "return"),
    (check.hist_mend, then(TABLE, lambda table, given, rng: table / max(len(given[0]), 1)), "shares"),
    (check.hist_mend, printed(lambda table: histograms.simplex(table, total=7.0)), "should be"),
    (check.hist_mend, table(exact=only_lines_that_occur), "which lines there are"),
    (check.hist_mend, table(exact=lambda values, edges, e: np.histogram(values, len(edges) - 1)[0]), "of the data"),
    (check.hist_mend, table(exact=half_open), "upper edge"),
    (check.hist_mend, table(exact=lambda values, edges, e: np.bincount(
        np.searchsorted(edges[1:-1], values), minlength=len(edges) - 1)), "belongs to the bin above it"),
    (check.hist_mend, then(TABLE, lambda table, given, rng: np.clip(table, 0, len(given[0]))), "printed as zero"),
    (check.hist_mend, printed(lambda table: np.maximum(np.round(table), 0)), "printed as zero"),
    (check.hist_mend, redrawn, "drawn again"),
    (check.hist_mend, table(lambda n, found: 2 * (n > 0)), "as n is public"),
    (check.hist_mend, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.hist_mend, lambda values, edges, *rest: [np.nan] * (len(edges) - 1), "finite numbers"),
    (check.hist_mend, "no function", "expected a function"),
    (check.hist_interval, half_width(1.0), "under replace the scale is 2/epsilon"),
    (check.hist_interval, half_width(lines=False), "this holds for one line"),
    (check.hist_interval, lambda epsilon, k, level: 2 / epsilon * np.log(k / (1 - level)), "Bonferroni"),
    (check.hist_interval, lambda epsilon, k, level: 1.96 * 8**0.5 / epsilon, "should in"),
    (check.hist_interval, lambda epsilon, k, level: -1.0, "positive"),
    (check.hist_interval, lambda *a: round(half_width()(*a), 2), "rounded too far"),
    (check.hist_simplex, rescaled, "clip and rescale"),
    (check.hist_simplex, shifted_then_clipped, "clipping after the shift"),
    (check.hist_simplex, lambda v, total: bisected(v, total) + 1e-5, "nearly"),
    (check.hist_simplex, lambda v, total: np.minimum(bisected(v, total), np.maximum(v, 0)), "must be negative"),
    (check.hist_simplex, lambda v, total: v - (v.sum() - total) / len(v), "below zero"),
    (check.hist_simplex, lambda v, total: bisected(v, 1.0), "the sum is 1.0000 and should be 10"),
    (check.hist_simplex, lambda v, total: np.maximum(v, 0), "the sum is 12.4000 and should be 10"),
    (check.hist_simplex, lambda v, total: np.full(len(v), total / len(v)), "there is one at"),
    (check.hist_simplex, lambda v, total: v[:-1], "numbers"),
    (check.hist_lattice, lambda w, n: np.round(np.maximum(w, 0)), "rounding each entry on its own"),
    (check.hist_lattice, handed_out, "the sum is 14 and should be 10"),
    (check.hist_lattice, rounded_simplex, "there is one at"),
    (check.hist_lattice, lambda w, n: bisected(w, n), "no whole number"),
    (check.hist_lattice, lambda w, n: np.r_[n, np.zeros(len(w) - 1)], "there is one at"),
    (check.hist_lattice, lambda w, n: np.r_[n + 1, -1, w[2:] * 0] if w.size > 1 else w * 0 + n, "below zero"),
    (check.hist_phantom, lambda counts, epsilon: np.sum(counts == 0) / (2 * epsilon), "a small count is clipped too"),
    (check.hist_phantom, lambda counts, epsilon: len(counts) / (2 * epsilon), "next to nothing"),
    (check.hist_phantom, lambda counts, epsilon: 2 * phantoms(counts, epsilon), "check the scale"),
    (check.hist_phantom, lambda counts, epsilon: phantoms(counts, epsilon) + np.sum(counts), "subtract the people"),
    (check.hist_phantom, lambda counts, epsilon: 0.0, "the answer is"),
    (check.hist_phantom, lambda counts, epsilon: 0.9995 * phantoms(counts, epsilon), "do not simulate"),
    (check.hist_simplex, lambda v, total: histograms.simplex(v, total=total), "write it without histograms.simplex"),
    (check.hist_lattice, lambda w, n: histograms.lattice(w, n=n), "without histograms.simplex or histograms.lattice"),
]


UNUSUAL = [
    (check.hist_mend, table(law=geometric)),
    (check.hist_mend, printed(np.round)),
    (check.hist_mend, printed(lambda table: dict(enumerate(table)))),
    (check.hist_mend, as_list),
    (check.hist_mend, printed(lambda table: np.maximum(table, -3))),
    (check.hist_mend, checking.seeded(own_luck(printed(lambda table: table.tolist())))),
    (check.hist_mend, then(TABLE, lambda table, given, rng: table + (len(given[0]) - table.sum()) / len(table))),
    (check.hist_simplex, lambda v, total: bisected(v, total).tolist()),
    (check.hist_lattice, lambda w, n: greedy(w[::-1], n)[::-1].astype(float)),
    (check.hist_phantom, lambda counts, epsilon: sum(
        brentq(lambda s, c=c: np.log(2 * epsilon * s) + epsilon * c, 1e-300, 1e3, xtol=1e-14) for c in counts)),
]

LEAKS = [
    (check.hist_mend, table(lambda n, found: 2 * (found > 0))),
    (check.hist_mend, table(lambda n, found: 2 if n > 1 else 0)),
    (check.hist_mend, table(lambda n, found: 2 * min(1, 100 / max(n, 1)))),
    (check.hist_mend, table(lambda n, found: 2 if np.ptp(found) else 0)),
    (check.hist_mend, table(lambda n, found: 2 * (np.arange(len(found)) < 9))),
    (check.hist_mend, table(lambda n, found: 0 if found.max() == n else 2)),
    (check.hist_mend, given(TABLE, epsilon=1.0)),
    (check.hist_mend, given(TABLE, epsilon=lambda epsilon: max(epsilon, 0.5))),
    (check.hist_mend, table(lambda n, found: 1 if n > 50 else 2)),
    (check.hist_mend, table(lambda n, found: 1 if n > 1000 else 2)),
    (check.hist_mend, table(lambda n, found: 1 if len(found) > 3 else 2)),
    (check.hist_mend, table(lambda n, found: min(2, max((found > 0).sum(), 1)))),
    (check.hist_mend, table(lambda n, found: min(2, max(found.max(), 1)))),
    (check.hist_mend, where(lambda values, *rest: len(values) > 1, TABLE, lambda v, edges, e: edges[1:] * np.nan)),
    (check.hist_mend, table(law=turned_round)),
    (check.hist_mend, table(law=same_size())),
    (check.hist_mend, table(law=lambda *scale: np.clip(laplace(*scale), -8, 8))),
    (check.hist_mend, printed(lambda table: np.sort(table)[::-1])),
    (check.hist_mend, used_again()),
    (check.hist_mend, fixed_seed(TABLE)),
    (check.hist_mend, where(lambda values, edges, epsilon: 2 < epsilon < 10, exact, TABLE)),             # large epsilon
    (check.hist_mend, where(lambda values, edges, epsilon: epsilon < 0.1, exact, TABLE)),                # small epsilon
    (check.hist_mend, given(TABLE, epsilon=lambda epsilon: max(epsilon, 0.1))),
    (check.hist_mend, where(lambda values, edges, epsilon: 10 < len(values) < 59, exact, TABLE)),        # sizes
    (check.hist_mend, where(lambda values, edges, epsilon: 300 < len(values) < 1999, exact, TABLE)),
    (check.hist_mend, where(lambda values, edges, epsilon: len(values) > 9999, exact, TABLE)),
    (check.hist_mend, where(lambda values, edges, epsilon: len(edges) > 13, exact, TABLE)),
    (check.hist_mend, table(lambda n, found: 2 * (np.abs(np.arange(len(found)) - 5.5) > 2))),
    (check.hist_mend, where(lambda values, *rest: values.min(initial=0) < 0, exact, TABLE)),             # negative
]
