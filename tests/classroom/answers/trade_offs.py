"""Answers to the section on privacy as a test."""
import math

import numpy as np
import pytest
from scipy.special import betaincinv, ndtri

from provable_privacy import check
from provable_privacy.check.f_dp import trade_offs


def court(epsilon, delta, alpha):
    return max(0.0, 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha))


def first_line(epsilon, delta, alpha):
    return max(0.0, 1 - delta - math.exp(epsilon) * alpha)


def best_test(p, q, alpha, *, key=None, coin=True, free=True):
    """A learner's most powerful test, right unless told otherwise."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    test, left = np.where((p == 0) & (q > 0) & free, 1.0, 0.0), alpha
    some = np.flatnonzero(p > 0)
    for i in some[np.argsort(-q[some] / p[some] if key is None else key(p, q)[some])]:
        if p[i] <= left + 1e-12:
            test[i] = 1.0
        elif coin:
            test[i] = left / p[i]
        else:
            break
        left = max(0.0, left - p[i])
    return test


def ties_together(p, q, alpha):
    """The same by a level of the ratio and one coin for all outcomes on it, as a list."""
    ratio = np.divide(q, p, out=np.full(p.size, np.inf), where=p > 0)
    ratio[(p == 0) & (q == 0)] = -1
    for level in sorted(set(ratio.tolist()), reverse=True):
        above, on = p[ratio > level].sum(), p[ratio == level].sum()
        if on > 0 and above + on >= alpha - 1e-12:
            return [1.0 if r > level else min(1.0, (alpha - above) / on) if r == level else 0.0 for r in ratio]
    return [1.0] * p.size


def inverse(f, alpha):
    low, high = 0.0, 1.0
    if f(low) <= alpha:
        return low
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if f(middle) <= alpha else (middle, high)
    return high


def on_a_grid(f, alpha, size=1_000_001):
    t = np.linspace(0, 1, size)
    return t[np.argmax(f(t) <= alpha + 1e-15)]


def joined(f, alpha, size):
    """Straight lines between the points of a grid."""
    t = np.linspace(0, 1, size)
    return np.interp(alpha, np.asarray(f(t))[::-1], t[::-1])


def upper(k, n, tail):
    """Clopper and Pearson's upper limit of a probability."""
    return np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1)


def lower(k, n, tail):
    return np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0)


def refuted(f, accused, found, n, confidence, tests=None, used=None, sided=2, high_alpha=True, swap=False, low=False):
    """A learner's verdict, right unless told otherwise."""
    missed = found if swap else n - found
    tail = (1 - (used or confidence)) / (sided * (tests or len(accused)))
    alpha, beta = (lower(k, n, tail) if low else upper(k, n, tail) for k in (accused, missed))
    return bool(np.any(beta < f(alpha if high_alpha else accused / n)))


def either_way(f, accused, found, n, confidence):
    """As if the claim were about the inverse, too."""
    alpha, beta = (upper(k, n, (1 - confidence) / (2 * len(k))) for k in (accused, n - found))
    return bool(np.any(beta < f(alpha)) or np.any(alpha < f(beta)))


def cut_off(f, accused, found, n, confidence):
    """Where the limit is not defined, as at n of n, it counts as 0."""
    tail = (1 - confidence) / (2 * len(accused))
    alpha, beta = (np.nan_to_num(betaincinv(k + 1, n - k, 1 - tail)) for k in (accused, n - found))
    return bool(np.any(beta < f(alpha)))


def by_hoeffding(f, accused, found, n, confidence):
    """Wider limits, one test at a time, an integer for an answer."""
    width = math.sqrt(math.log(2 * len(accused) / (1 - confidence)) / (2 * n))
    alpha, beta = accused / n + width, 1 - found / n + width
    return int(any(b < float(f(min(1.0, a))) for a, b in zip(alpha.tolist(), beta.tolist(), strict=True)))


def by_wilson(f, accused, found, n, confidence):
    """Limits that hold on average over the counts, not at each."""
    z = -ndtri((1 - confidence) / (2 * len(accused)))
    roots = ((k, np.sqrt(k * (n - k) / n**3 + (z / (2 * n)) ** 2)) for k in (accused, n - found))
    alpha, beta = (np.minimum(1, (k / n + z * z / (2 * n) + z * root) / (1 + z * z / n)) for k, root in roots)
    return bool(np.any(beta < f(alpha)))


def by_wald(f, accused, found, n, confidence, *, wider=0.5, at_none=0.0):
    """Normal limits, with the correction for continuity, or with the rule of three where nothing was seen."""
    z = -ndtri((1 - confidence) / (2 * len(accused)))
    alpha, beta = (np.clip(k / n + z * np.sqrt(k * (n - k) / n**3) + wider / n, at_none / n * (k == 0), 1)
                   for k in (accused, n - found))
    return bool(np.any(beta < f(alpha)))


def point(f, accused, found, n, confidence):
    return bool(np.any(1 - found / n < f(accused / n)))


RIGHT = {"a": "diagonal", "b": "convex", "c": None, "d": "continuous"}

SOLUTIONS = [
    (check.tf_court, lambda seed: court),
    (check.tf_conditions, lambda seed: RIGHT),
    (check.tf_best_test, lambda seed: best_test),
    (check.tf_inverse, lambda seed: inverse),
    (check.tf_verdict, lambda seed: refuted),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.tf_court, first_line, "another line"),
    (check.tf_court, lambda e, d, a: 1 - d - math.exp(e) * a, "falls below 0"),
    (check.tf_court, lambda e, d, a: max(1 - d - math.exp(e) * a, math.exp(-e) * (1 - d - a)), "cannot be negative"),
    (check.tf_court, lambda e, d, a: court(e, 0.0, a), "delta was not used"),
    (check.tf_court, lambda e, d, a: court(e, -d, a), "delta was added"),
    (check.tf_court, lambda e, d, a: 1 - court(e, d, a), "largest share that can be found"),
    (check.tf_court, lambda e, d, a: 1 - d - a, "perfect privacy"),
    (check.tf_court, lambda e, d, a: math.exp(-e) * (1 - d - a), "second line alone"),
    (check.tf_court, lambda e, d, a: court(e, d, a) if e > 1 else first_line(e, d, a), "another line"),
    (check.tf_court, lambda e, d, a: court(e, d, a) + 0.001, "can be attacked"),
    (check.tf_court, lambda e, d, a: first_line(e, d, a) if a < 0.5 else court(e, d, a), "alpha = 0.17: not 0.138113"),
    (check.tf_court, lambda e, d, a: (first_line if a < 1 / (1 + math.exp(e)) else court)(e, d, a), "not 0.138113"),
    (check.tf_court, lambda e, d, a: 0.0, "0.000000 is safe to say, but more follows"),
    (check.tf_court, lambda e, d, a: round(court(e, d, a), 3), "rounded too far"),
    (check.tf_court, lambda e, d, a: "much", "expected a number"),
    (check.tf_court, lambda e, d, a: math.nan, "finite"),
    (check.tf_court, lambda e, a: 0, "TypeError"),
    (check.tf_conditions, {**RIGHT, "a": "continuous"}, "has no jump"),
    (check.tf_conditions, {**RIGHT, "a": None}, "a fifth is missed"),
    (check.tf_conditions, {**RIGHT, "b": None}, "3/8"),
    (check.tf_conditions, {**RIGHT, "b": "nonincreasing"}, "never rises"),
    (check.tf_conditions, {**RIGHT, "c": "convex"}, "straight lines"),
    (check.tf_conditions, {**RIGHT, "d": "convex"}, "every chord"),
    (check.tf_conditions, {**RIGHT, "d": "diagonal"}, "nowhere above"),
    (check.tf_conditions, {**RIGHT, "d": "round"}, "is not on the list"),
    (check.tf_conditions, {"a": None}, "missing"),
    (check.tf_conditions, ["diagonal", "convex", None, "continuous"], "expected a dict"),
    (check.tf_best_test, lambda p, q, a: best_test(p, q, a, key=lambda p, q: -q), "in the order of q"),
    (check.tf_best_test, lambda p, q, a: best_test(p, q, a, key=lambda p, q: p), "the order of p"),
    (check.tf_best_test, lambda p, q, a: best_test(p, q, a, coin=False), "a part of alpha is left over: reject"),
    (check.tf_best_test, lambda p, q, a: best_test(p, q, a, free=False), "at no cost"),
    (check.tf_best_test, lambda p, q, a: best_test(q, p, a), "the first one is above alpha"),
    (check.tf_best_test, lambda p, q, a: np.full(len(p), a), "is possible"),
    (check.tf_best_test, lambda p, q, a: (q > p).astype(float), "above alpha"),
    (check.tf_best_test, lambda p, q, a: 2 * best_test(p, q, a) - 1, "must lie in [0, 1]"),
    (check.tf_best_test, lambda p, q, a: np.full(len(p), np.nan), "expected finite numbers"),
    (check.tf_best_test, lambda p, q, a: 0.3, "expected 3 numbers"),
    (check.tf_best_test, lambda p, q, a: "all", "the probabilities of rejecting: expected"),
    (check.tf_inverse, lambda f, a: f(a), "f(alpha) itself"),
    (check.tf_inverse, lambda f, a: 1 - f(a), "the power"),
    (check.tf_inverse, lambda f, a: 1.0, "not the smallest"),
    (check.tf_inverse, lambda f, a: 0.0, "above alpha"),
    (check.tf_inverse, lambda f, a: inverse(f, a) if a < f(0.0) else 0.5, "nothing has to be accused wrongly"),
    (check.tf_inverse, lambda f, a: 1.0 if a == 0 else inverse(f, a), "left end"),
    (check.tf_inverse, lambda f, a: on_a_grid(f, a, 1001), "not the smallest"),
    (check.tf_inverse, lambda f, a: joined(f, a, 10_001), "f of epsilon 2, alpha = 0.119203"),
    (check.tf_inverse, lambda f, a: joined(f, a, 100_001), "f of epsilon 2, alpha = 0.119203"),
    (check.tf_inverse, lambda f, a: np.zeros(3), "expected a number"),
    (check.tf_verdict, point, "every count as expected"),
    (check.tf_verdict, lambda *a: refuted(*a, tests=1), "share the error"),
    (check.tf_verdict, lambda *a: refuted(*a, tests=1, sided=1), "share the error"),
    (check.tf_verdict, lambda *a: refuted(*a, tests=14), "of another"),
    (check.tf_verdict, lambda *a: refuted(*a, high_alpha=False), "alpha needs an upper limit"),
    (check.tf_verdict, lambda *a: refuted(*a, sided=1), "share the error"),
    (check.tf_verdict, lambda *a: refuted(*a, sided=1.33), "share the error"),
    (check.tf_verdict, lambda *a: refuted(*a, sided=2 / 3), "share the error"),
    (check.tf_verdict, lambda *a: refuted(*a, used=0.95), "at a confidence of 0.999999"),
    (check.tf_verdict, lambda *a: refuted(*a, low=True), "every count as expected"),
    (check.tf_verdict, lambda *a: refuted(*a, swap=True), "(n - found)/n"),
    (check.tf_verdict, either_way, "an honest one-sided program"),
    (check.tf_verdict, cut_off, "an honest one-sided program"),
    (check.tf_verdict, by_wilson, "as those of Clopper and Pearson do"),
    (check.tf_verdict, by_wald, "50 runs, one test, confidence 0.95"),
    (check.tf_verdict, lambda *a: by_wald(*a, wider=0.0, at_none=3.0), "300 runs, one test, confidence 0.95"),
    (check.tf_verdict, lambda *a: False, "not noticed"),
    (check.tf_verdict, lambda f, k, found, *rest: refuted(f, k[:20], found[:20], *rest), "at the last of 30 tests"),
    (check.tf_verdict, lambda f, k, *rest: bool(k.any()) and refuted(f, k, *rest), "nobody accused, 700 found"),
    (check.tf_verdict, lambda *a: True, "far less than it may"),
    (check.tf_verdict, lambda *a: "yes", "expected True or False"),
    (check.tf_verdict, 0.3, "expected a function"),
]


UNUSUAL = [
    (check.tf_court, lambda e, d, a: np.max([0, 1 - d - np.exp(e) * a, (1 - d - a) / np.exp(e)], keepdims=True)),
    (check.tf_court, lambda e, d, a: np.float32(court(e, d, a))),
    (check.tf_conditions, {"a": " Diagonal", "b": "CONVEX", "c": "None", "d": "continuous"}),
    (check.tf_best_test, ties_together),
    (check.tf_inverse, on_a_grid),
    (check.tf_inverse, lambda f, a: np.array([inverse(f, a)])),
    (check.tf_verdict, by_hoeffding),
    (check.tf_verdict, lambda *a: np.bool_(refuted(*a))),
    (check.tf_verdict, lambda *a: np.array(refuted(*a))),
]


@pytest.mark.parametrize(("changed", "line"), [
    ({"c": ...}, "○ tf_conditions: c not attempted yet"),
    ({"c": ..., "b": None}, "✗ tf_conditions: b: not none; it is no"),
])
def test_one_open_entry_is_open_and_the_others_are_judged(says, changed, line):
    assert says(check.tf_conditions, {**RIGHT, **changed}).startswith(line)


@pytest.mark.parametrize("seed", range(20))
def test_the_oracle_of_the_best_test_is_linear_programming(seed):
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    p, q = (trade_offs._random_law(rng, 7) for _ in range(2))
    alpha = rng.random()
    least = 1 + linprog(-q, A_ub=[p], b_ub=[alpha], bounds=(0, 1)).fun
    assert trade_offs._least_missed(p, q, alpha) == pytest.approx(least, abs=1e-8)
