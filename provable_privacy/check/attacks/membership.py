"""Checkers of the section on membership."""
import math

import numpy as np

from dplib.attacks import tpr_at, tracing
from provable_privacy.battery import Numbers, Pair, battery, drawn, looks_for, luck
from provable_privacy.battery.makers import noisy, normal, same_size, shared
from provable_privacy.entries import Number, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, checker, numbers

__all__ = ["mem_base", "mem_epsilon", "mem_release", "mem_score", "mem_tpr"]


# ---------------------------------------------------------------------------------------------------- scores and lines

@checker
def mem_score(score):
    """`score(released, population, targets)`: high for members; compared with tracing on studies of known members."""
    rng = np.random.default_rng(51)
    for d, n in ((800, 100), (1500, 300)):
        mine, best = [], []
        for _ in range(3):
            population = rng.uniform(0.1, 0.9, d)
            people = (rng.random((n + 400, d)) < population).astype(int)
            released, order = people[:n].mean(axis=0), rng.permutation(n + 400)
            inside, targets = order < n, people[order]
            got = answered(score, released.copy(), population.copy(), targets.copy())
            got = numbers(got, (n + 400,), "one score for each target")
            traced = tracing(released, population, targets)
            found, turned, known = (tpr_at(x[inside], x[~inside], fpr=0.05) for x in (got, -got, traced))
            if found < 0.02 < turned - 0.3:
                raise Wrong("members score low and strangers high: change the sign")
            mine.append(found)
            best.append(known)
        if np.mean(mine) < np.mean(best) - 0.15:
            raise Wrong(f"with {d} markers and {n} members your score finds {np.mean(mine):.0%} of the members at 5 "
                        f"% false positives, and tracing finds {np.mean(best):.0%}. For each marker ask two things: "
                        "do the release and the target lie on the same side of the population? How far is the "
                        "release from it?")
    return "about as many members as tracing finds, in studies with 800 and 1,500 markers"


_luck = np.random.default_rng(52)
SCORES = [(np.array(members), np.array(strangers), fpr) for members, strangers, fpr in [
    ([3, 3, 2, 1], [2, 1, 1, 0], 0.25), ([1, 1, 1], [1, 0, 0, 0], 0.1), ([2, 2], [2, 2, 2], 0.5), ([5, 4], [1, 2], 0.0),
    ([0.5, 0.1], [0.9, 0.7], 0.5),
    *((_luck.integers(0, 8, 30), _luck.integers(0, 7, 40), fpr) for fpr in (0.0, 0.05, 0.2, 1.0)),
    *((_luck.normal(1, 1, 50), _luck.normal(0, 1, 80), fpr) for fpr in (0.01, 0.05, 0.5))]]


def _found_at(members, strangers, fpr):
    lines = [*members, *strangers, np.inf]
    return max(np.mean(members >= line) for line in lines if np.mean(strangers >= line) <= fpr + 1e-12)


def _scores(members, strangers, fpr):
    if len(members) < 6:
        return f"members {members.tolist()}, strangers {strangers.tolist()}, fpr {fpr:g}"
    return f"{len(members)} members and {len(strangers)} strangers, fpr {fpr:g}"


def _missed(got, right, members, strangers, fpr):
    line, many = np.quantile(strangers, 1 - fpr), "no line keeps to the allowed share of strangers and finds so many"
    if got > right and np.isclose(got, np.mean(members >= line)):
        many = (f"a quantile as the line accuses {np.sum(strangers >= line)} of {len(strangers)} strangers, more than "
                "allowed; count who is at or above the line")
    few = (f"{right:.3f} can be found. Try every line, not one quantile alone: also a line that no stranger passes, "
           "and a line that accuses exactly the allowed share")
    return f"{many}: equal scores pass together" if got > right else few


@checker
def mem_tpr(found_at):
    """`found_at(members, strangers, fpr)`: largest TPR of a line whose FPR is at most `fpr`, equal scores together."""
    on_cases(found_at, SCORES, _found_at, rtol=0, atol=1e-9, what="the share", show=_scores, otherwise=_missed)
    return "right on all twelve cases, ties included"


# -------------------------------------------------------------------------------------------- what an accusation means

@entries("five times the odds: a coin becomes 83 %, one in a thousand half a per cent")
def mem_base():
    """`answer`: coin, town, ratio: beliefs after a likelihood ratio of 5, and the ratio that makes 1/1000 one half."""
    hint = "odds after are odds before times TPR/FPR = 5, and a probability is odds/(1 + odds)"
    found = "25 % is how many members are found, which is another question"
    odds = "these are the odds, and a probability is asked: it is odds/(1 + odds)"
    close = "mind the difference between odds and probability: 1 in 1,000 is odds of 1 to 999"

    def entry(right, mistakes):
        return Number(right, hint, mistakes, tolerance=4.9e-6, relative=5e-4, near=1e-4)

    return {
        "coin": entry(5 / 6, {
            "95 % is how many strangers are not accused, which is another question": 0.95, found: 0.25, odds: 5}),
        "town": entry(5 / 1004, {
            "that is the probability times 5, and it is the odds that are multiplied by 5. If you multiplied the "
            "odds, your answer is rounded too far: give five decimals": 0.005,
            found: 0.25, odds: 5 / 999, close: 5 / 1005}),
        "ratio": entry(999, {close: 1000}),
    }


RATES = [(0.5, 0.05), (0.98, 0.7), (0.05, 0.5), (0.7, 0.98), (0.3, 0.3)]
EDGES = [(0.0, 0.0), (0.1, 0.0), (0.0, 0.1), (1.0, 0.9), (1.0, 1.0)]


def _loss(one, other):
    """The size of the logarithm of a ratio; equal chances say nothing, also where both are 0."""
    return 0.0 if one == other else math.inf if min(one, other) == 0 else abs(math.log(one / other))


def _disproved(tpr, fpr):
    return max(_loss(tpr, fpr), _loss(1 - tpr, 1 - fpr))


def _why(got, right, tpr, fpr):
    if right == math.inf:
        why = "an outcome that is possible in one world only rules out every ε"
    elif tpr == fpr:
        why = "equal rates disprove no ε, zeros and ones included"
    elif tpr < fpr:
        why = "members and strangers may change places: an attack that is always wrong is a good one"
    elif right == _loss(1 - tpr, 1 - fpr):
        why = "not being accused is an outcome too: compare 1 - TPR with 1 - FPR, both ways"
    else:
        why = "take the largest of the natural logarithms of the ratios"
    return f"it should be {right:.3f}; {why}"


@checker
def mem_epsilon(disproved):
    """`disproved(tpr, fpr)`: the smallest epsilon that is still possible."""
    for rates in (RATES, EDGES):
        on_cases(disproved, rates, _disproved, rtol=0, atol=1e-9, finite=False, what="ε", otherwise=_why)
    return "both outcomes, both directions, zeros included"


# ------------------------------------------------------------------------------------------------------- private means

def _means(table, epsilon):
    return table.mean(axis=0)


def _noise(scale, *law):
    """The means with noise of a scale, at ε = 1, that follows from the numbers of rows and columns."""
    return noisy(_means, lambda table, epsilon: scale(*table.shape) / epsilon, *law)


RIGHT = _noise(lambda n, d: d / n)


def _again(high):
    """Each mean is drawn again until it lies between 0 and `high`."""
    def means(table, epsilon, rng):
        out = np.full(table.shape[1], -1.0)
        while (bad := (out < 0) | (out > high)).any():
            out[bad] = RIGHT(table, epsilon, rng)[bad]
        return out

    return means


MISTAKES = {
    "there is no noise at all": _noise(lambda n, d: 0),
    "each mean alone has the noise for ε, and together they cost d times as much": _noise(lambda n, d: 1 / n),
    "one noise serves all means: the difference of two means is exact": _noise(lambda n, d: d / n, shared()),
    "two means have noise of the same size: their sum or their difference is exact":
        _noise(lambda n, d: d / n, same_size()),
    "the noise is made for sums, which move by 1; a mean moves by 1/n": _noise(lambda n, d: d),
    "the noise is half of what it must be": _noise(lambda n, d: d / n / 2),
    "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2":
        _noise(lambda n, d: d / n / 2**0.5),
    "the noise uses the distance in L2, the root of the number of columns: Laplace noise needs L1":
        _noise(lambda n, d: d**0.5 / n),
    "normal noise satisfies no ε at all, whatever its size": _noise(lambda n, d: d / n, normal),
    "normal noise satisfies no ε at all, its tails fall too fast": _noise(lambda n, d: 2**0.5 * d / n, normal),
    "noise is drawn again until no mean is below 0: how often depends on the table; cut the result instead":
        _again(np.inf),
    "noise is drawn again until each mean is in [0, 1]: how often depends on the table; cut the result instead":
        _again(1),
    "private, but with twice the noise it needs: an entry moves by 1 when a row is replaced, not by 2":
        _noise(lambda n, d: 2 * d / n),
}


def _flip(what, table, rows, columns, epsilon, **settings):
    """This table, and the same with these entries flipped."""
    one, two = np.array(table), np.array(table)
    two[np.ix_(rows, columns)] = 1 - two[np.ix_(rows, columns)]
    n, d = one.shape
    return Pair(what, (one, epsilon), (two, epsilon), ((len(rows) * epsilon, 0.0),),
                (one.mean(axis=0), two.mean(axis=0)), within=1.69 * d / n / epsilon, share=0.75, **settings)


_luck = np.random.default_rng(53)
MIXED = _luck.integers(0, 2, (9, 4))
LARGE = _luck.integers(0, 2, (400, 3)) * (np.arange(400) < 392)[:, None]
TABLES = [
    _flip("zeros only / one row of ones", np.zeros((12, 4), int), [5], range(4), 1.0, runs=2500),
    _flip("ones except for one entry / another row of zeros", [[1, 1, 1]] * 5 + [[0, 1, 1]], [0], range(3), 0.7),
    _flip("nine mixed rows / the last one different in the first column", MIXED, [8], [0], 0.5, runs=2000, twice=400),
    _flip("nine mixed rows / the last one different in all columns", MIXED, [8], range(4), 1.0, runs=14_000),
    _flip("one row / another", [[1, 0]], [0], [0, 1], 0.8, runs=2000),
    _flip("400 rows, ε = 0.05 / ones in the last eight", LARGE, range(392, 400), range(3), 0.05),
    *(_flip(f"{at['n']} rows, {at['d']} columns, ε = {at['epsilon']} / one row different",
            _luck.integers(0, 2, (at["n"], at["d"])), [0], range(at["d"]), at["epsilon"], runs=2500)
      for at in drawn(1, 531, n=(4, 40), d=(2, 7), epsilon=(0.3, 1.2))),
    _flip("ones only, in ten columns / zeros in the last two of a row", np.ones((6, 10), int), [2], [8, 9], 0.8,
          runs=600),
    _flip("two rows, one of them a one / both are", [[1], [0]], [1], [0], 1.0, runs=2000),
    _flip("six rows of 40 columns / one different in the last", np.eye(6, 40, dtype=int), [0], [39], 0.8, runs=300),
    _flip("four rows, ε = 12 / the first different in both columns", [[1, 0], [0, 1], [1, 1], [1, 0]], [0], [0, 1],
          12.0, runs=1500, law=True),
    _flip("one column with a single one / five more of its rows are ones", np.eye(60, 1, dtype=int), range(1, 6), [0],
          0.3, runs=40_000),
]
WIDE = _luck.integers(0, 2, (2000, 240))


def _grows_with_the_columns(private_means):
    """`Wrong` if the means of a wide table are nearer to the exact ones than an answer that keeps ε = 1 can be.

    Errors below s/2n in nine of ten columns tell 2^(.53 d) tables apart that are s rows from each other, so s is at
    least .37 d/ε.
    """
    (n, d), rng, form = WIDE.shape, luck(54), Numbers(WIDE.shape[1], "mean")
    try:
        means = [form.read(answered(private_means, WIDE.copy(), 1.0, rng)) for _ in range(20)]
    except Wrong as reason:
        raise Wrong(f"on {n:,} rows of {d} columns: {reason}") from None
    near = np.quantile(np.abs(np.array(means) - WIDE.mean(axis=0)), 0.9)
    if near < 0.18 * d / n:
        raise Wrong(f"on {n:,} rows of {d} columns nine means in ten are within {near:.2g} of the exact means at ε "
                    "= 1. No answer that keeps ε comes so near: the noise must grow with the number of columns, "
                    "however many there are")


@checker
@looks_for("contents", "own", "zero", size="a row is replaced", empty="a row is replaced",
           fractions="entries are 0 or 1", negative="entries are 0 or 1", missing="entries are 0 or 1",
           order="a mean of each column comes out", straddles="nothing is compared with a threshold")
def mem_release(private_means):
    """`private_means(table, epsilon, rng)`: column means with noise, together epsilon-DP when one row is replaced."""
    seen = battery(private_means, lambda pair: Numbers(len(pair.truth[0]), "mean"), TABLES, mistakes=MISTAKES,
                   right=RIGHT, seed=53)
    _grows_with_the_columns(private_means)
    return seen
