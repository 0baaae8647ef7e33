"""Checkers of chapter 6: privacy as a test."""
import math

import numpy as np
import scipy

from dplib import fdp
from provable_privacy.entries import OneOf, entries
from provable_privacy.formulas import on_cases, rounded
from provable_privacy.speech import Wrong, answered, checker, numbers

__all__ = ["tf_best_test", "tf_conditions", "tf_court", "tf_inverse", "tf_verdict"]


def _least_missed(p, q, alpha, order=lambda p, q: -q / p):
    """Type II error of the test that takes what is free and fills alpha up in this order, by default the best one."""
    free = p == 0
    sure, p, q = q[free].sum(), p[~free], q[~free]
    at = np.argsort(order(p, q), kind="stable")
    return float(np.interp(alpha, np.append(0, np.cumsum(p[at])), 1 - sure - np.append(0, np.cumsum(q[at]))))


# --------------------------------------------------------------------------------------- what the promise allows

COURT = [  # epsilon, delta, alpha
    (1.0, 0.0, 0.05),
    (1.0, 0.01, 0.05),
    (1.0, 0.01, 0.5),
    (0.5, 0.3, 0.9),
    (2.0, 0.1, 0.6),
    (0.0, 0.2, 0.3),
    (4.0, 0.0, 0.5),
    (1.5, 0.1, 0.17),
    (0.3, 0.0, 0.0),
    (1.0, 0.05, 1.0),
]


def _court(epsilon, delta, alpha):
    """By the laws from which every (epsilon, delta)-DP test can be made: randomized response, or a proof."""
    yes = (1 - delta) / (1 + math.exp(-epsilon))
    law = np.array([delta, yes, 1 - delta - yes, 0.0])
    return _least_missed(law, law[::-1], alpha)


def _from_lines(combine, sign=1):
    """`combine(one, two)` of the lines that the promise gives in the two directions; delta counts `sign` times."""
    return lambda epsilon, delta, alpha: combine(
        1 - sign * delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - sign * delta - alpha)
    )


COURT_MISTAKES = {
    "this is the largest share that can be found; the question asks for the smallest share that is missed":
        lambda *case: 1 - _court(*case),
    "this is the first line only, and it falls below 0. Which line does the promise in the other direction give?":
        _from_lines(lambda one, two: one),
    "this is the first line and the floor. The promise in the other direction gives another line, and that line is "
    "higher here": _from_lines(lambda one, two: max(0.0, one)),
    "a share cannot be negative: where delta is used up, everybody may be found": _from_lines(max),
    "this is the second line alone": _from_lines(lambda one, two: two),
    "delta was not used": _from_lines(lambda one, two: max(0.0, one, two), sign=0),
    "delta was added, but it helps the attacker: the curve must be lower":
        _from_lines(lambda one, two: max(0.0, one, two), sign=-1),
    "this is perfect privacy, epsilon was not used": lambda epsilon, delta, alpha: 1 - delta - alpha,
}


def _safe_or_false(got, right, *case):
    if got > right:
        return f"a mechanism that keeps the promise can be attacked so that only {right:.6f} are missed"
    return f"{got:.6f} is safe to say, but more follows: {right:.6f}"


@checker
def tf_court(missed_at_least):
    """`missed_at_least(epsilon, delta, alpha)`: smallest type II error that (epsilon, delta)-DP allows."""
    on_cases(missed_at_least, COURT, _court, COURT_MISTAKES, rtol=0, atol=1e-7, what="the share missed",
             otherwise=lambda *case: rounded(*case[:2]) or _safe_or_false(*case))
    return "as much as the promise gives, and a mechanism that attains it exists"


# --------------------------------------------------------------------------------------- the four conditions

CONDITIONS = ("convex", "continuous", "nonincreasing", "diagonal", "None")


def _drawing(broken, reason, **holds):
    """`holds`: condition -> why this drawing keeps it."""
    kept = {name: f"it keeps that condition: {why}" for name, why in holds.items()}
    return OneOf(CONDITIONS, broken, mistakes=kept | {"none": f"it is no trade-off function: {reason}"})


@entries("each drawing by the one condition that it breaks, and (c) by none")
def tf_conditions():
    """`broken`: drawing -> the condition that it breaks, or None."""
    lines, steady = "the larger of two straight lines is convex", "it has no jump"
    below, falls = "it is nowhere above 1 - x", "it never rises"
    return {
        "a": _drawing("diagonal", "always accusing has the errors (1, 0), and the drawing says that a fifth is missed",
                      convex=lines, continuous=steady, nonincreasing=falls),
        "b": _drawing("convex", "a coin between never (0, 1/2) and always (1, 0) has the errors (1/2, 1/4), "
                      "and the drawing says 3/8", continuous=steady, nonincreasing=falls, diagonal=below),
        "c": _drawing("None", "", convex=lines, continuous=steady, nonincreasing=falls, diagonal=below),
        "d": _drawing("continuous", "at x = 0 everybody is missed, and at the smallest x above it only half",
                      convex="the jump at 0 is upwards at an end: every chord is still above the curve",
                      nonincreasing=falls, diagonal=below),
    }


# --------------------------------------------------------------------------------------- the best test

def _random_law(rng, size):
    law = rng.dirichlet(np.full(size, 0.7)) * (rng.random(size) < 0.8)
    return law / law.sum() if law.sum() > 0 else np.full(size, 1 / size)


def _tests():
    """(p, q, alpha): with ties, with impossible outcomes, with a small alpha, and at random."""
    rng = np.random.default_rng(31)
    yield from (([0.6, 0.3, 0.1], [0.2, 0.3, 0.5], alpha) for alpha in (0.0, 0.05, 0.1, 0.25, 0.4, 0.9, 1.0))
    yield from (([0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.5, 0.0], alpha) for alpha in (0.0, 0.3))
    yield [0.02, 0.9, 0.08], [0.2, 0.5, 0.3], 0.03
    for size in (2, 4, 8, 60):
        yield from ((_random_law(rng, size), _random_law(rng, size), alpha) for alpha in (0.0, 0.05, 0.3, 0.8))


@checker
def tf_best_test(best_test):
    """`best_test(p, q, alpha)`: rejection probabilities of a most powerful test of level alpha."""
    cases = [(np.array(p), np.array(q), alpha) for p, q, alpha in _tests()]
    for p, q, alpha in cases:
        test = numbers(answered(best_test, p.copy(), q.copy(), alpha), p.shape, "the probabilities of rejecting")
        small = p.size < 9
        laws = f"p = {p.round(3).tolist()}, q = {q.round(3).tolist()}" if small else f"{p.size} outcomes"
        case = f"{laws}, alpha = {alpha:g}"
        if not np.all((test >= -1e-9) & (test <= 1 + 1e-9)):
            shown = test.round(3).tolist() if small else "others"
            raise Wrong(f"{case}: a probability of rejecting must lie in [0, 1], got {shown}")
        one, two, best = float(test @ p), float(1 - test @ q), _least_missed(p, q, alpha)
        case += f": your test has the errors ({one:.4f}, {two:.4f})"
        if one > alpha + 1e-9:
            raise Wrong(f"{case}; the first one is above alpha")
        if two > best + 1e-9:
            reason = _not_the_best(p, q, alpha, test, one, two)
            raise Wrong(f"{case}, and ({alpha:g}, {best:.4f}) is possible; {reason}")
    return f"no test of the same level misses less, in {len(cases)} cases"


def _not_the_best(p, q, alpha, test, one, two):
    if np.any((p == 0) & (q > 0) & (test < 1)):
        return "an outcome with p = 0 is rejected at no cost"
    if one < alpha - 1e-9:
        certain = np.all((test < 1e-9) | (test > 1 - 1e-9))
        how = ": reject the next outcome with the probability for which it is enough" if certain else ""
        return f"a part of alpha is left over{how}"
    for name, order in (("q", lambda p, q: -q), ("p", lambda p, q: p)):
        if abs(two - _least_missed(p, q, alpha, order)) < 1e-9:
            return f"it takes the outcomes in the order of {name}, but what counts is how much q one gets for p"
    return "reject in the order of falling q/p"


# --------------------------------------------------------------------------------------- the inverse

CURVES = {                                       # what it is called -> the curve, and where its inverse is asked for
    "the three words": (lambda t: np.interp(t, [0, 0.1, 0.4, 1], [1, 0.5, 0.2, 0]), (0.35, 0.0, 0.1, 0.2, 0.7, 1.0)),
    "f = 0.7 (1 - x)^2": (lambda t: 0.7 * (1 - np.asarray(t, dtype=float)) ** 2, (0.0, 0.1, 0.3, 0.7, 0.9)),
    "f = max(0, 1/2 - x)": (lambda t: np.maximum(0.0, 0.5 - np.asarray(t, dtype=float)), (0.0, 0.2, 0.5, 0.8)),
    "f = (1 - sqrt(x))^2": (lambda t: (1 - np.sqrt(t)) ** 2, (0.01, 0.25, 0.81)),
    "perfect privacy": (lambda t: 1 - np.asarray(t, dtype=float), (0.0, 0.3, 1.0)),
    "f = 0": (lambda t: 0 * np.asarray(t, dtype=float), (0.0, 0.4)),
    "G_1": (fdp.gaussian(1.0), (0.05, 0.5)),
    "f of epsilon 2": (fdp.approx(2.0), (0.01, 1 / (1 + math.exp(2)), 0.3)),       # the second is the corner
}


def _bisect(f, alpha):
    if float(f(0.0)) <= alpha:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if float(f(middle)) <= alpha else (middle, high)
    return high


def _not_the_inverse(got, right, f, alpha):
    asked = f"the smallest t with f(t) <= alpha is {right:.6f}"
    if float(f(0.0)) <= alpha:
        return f"{asked}: alpha is not below f(0), so nothing has to be accused wrongly"
    if got > right:
        end = "where f is 0 on a whole stretch, take its left end" if alpha == 0 else "yours is not the smallest"
        return f"{asked}; {end}"
    return f"{asked}; f(t) is {float(f(max(got, 0.0))):.6f} at yours, above alpha"


@checker
def tf_inverse(inverse):
    """`inverse(f, alpha)`: the smallest t with f(t) <= alpha."""
    names = {f: name for name, (f, _) in CURVES.items()}
    mistakes = {
        "this is f(alpha) itself; the curve has to be turned round": lambda f, alpha: float(f(alpha)),
        "this is 1 - f(alpha), the power, not the inverse": lambda f, alpha: 1 - float(f(alpha)),
    }
    on_cases(inverse, [(f, alpha) for f, alphas in CURVES.values() for alpha in alphas], _bisect, mistakes,
             rtol=0, atol=2e-6, what="the inverse", show=lambda f, alpha: f"{names[f]}, alpha = {alpha:g}",
             otherwise=_not_the_inverse)
    return f"the smallest t, on {len(CURVES)} curves with flat parts, corners and low starts"


# --------------------------------------------------------------------------------------- a verdict from counts

EXPERIMENTS, TESTS, MOST_ALARMS = 200, 200, 28   # P(binomial(200, 5 %) > 28) < 1e-6
LAPLACE, PERFECT, BENT = fdp.laplace(1.0), fdp.approx(0.0), fdp.finite([0.9, 0.1], [0.5, 0.5])
LATE = "not noticed; is beta the share that is missed, n - found, and is the upper limit used for both errors?"
CONTENT = [(40, 3.0, 0.5), (50, 3.0, 0.5), (50, 3.0, 0.95), (300, 4.6, 0.95)]        # runs, epsilon, confidence


def _expected(epsilon, n):
    """The counts that Laplace noise of this epsilon should give at eleven thresholds."""
    t = np.arange(-2, 3.1, 0.5)
    return [np.round(n * scipy.stats.laplace.sf(x)).astype(int) for x in (epsilon * t, epsilon * (t - 1))]


def _innocent():
    """(f, counts, n, confidence, words): to call f refuted by these counts is wrong."""
    for n in (500, 20_000):
        for counts in ([[n // 10, n // 2]] * 2, _expected(0.2, n)):
            yield LAPLACE, counts, n, 0.95, (
                f"a program that tells far less than it may, {n:,} runs: its points lie above the curve, and you call "
                "the claim refuted. Is beta the share missed, (n - found)/n?"
            )
        bent = [[0, n // 10, n], [0, n // 2, n]]
        for name, f, counts in (("Laplace", LAPLACE, _expected(1.0, n)), ("one-sided", BENT, bent)):
            yield f, counts, n, 0.95, (
                f"an honest {name} program, {n:,} runs, every count as expected: its points lie on the curve f, and "
                "you call the claim refuted. A point is below the curve for sure only where its upper limits are"
            )
    yield fdp.approx(1.0), ([0], [4]), 50, 0.95, (
        "50 runs, 0 accused, 4 found: alpha was not seen and may still be 3 %, so the point may lie above the curve: "
        "alpha needs an upper limit as well"
    )
    yield PERFECT, ([13], [7]), 20, 0.95, "20 runs, 13 accused, 7 found: the point lies above the curve"
    yield PERFECT, ([467], [533]), 1000, 0.999999, (
        "1,000 runs, 467 accused, 533 found: chance does this once in 600 times even if the claim is true, and you "
        "call it refuted at a confidence of 0.999999"
    )


def _guilty():
    """(counts, n, confidence, what they are): all refute the curve of Laplace noise at epsilon 1."""
    for n, epsilon in ((5000, 2.0), (50_000, 1.3)):
        yield (_expected(epsilon, n), n, 0.95,
               f"Laplace noise made for epsilon = {epsilon:g}, sold as 1, {n:,} runs, counts as expected")
    yield ([0], [700]), 5000, 0.95, "5,000 runs, nobody accused, 700 found, claim: Laplace at epsilon 1"
    yield (([2500] * 29 + [4300], [3400] * 29 + [5000]), 5000, 0.99,
           "5,000 runs, 4,300 accused, 5,000 found at the last of 30 tests, claim: Laplace at epsilon 1")


def _false_alarm(says, n, epsilon, confidence):
    """Exact probability that the claim is called refuted where randomized response attains it."""
    k = np.arange(n + 1)
    law = scipy.stats.binom.pmf(k, n, 1 / (1 + math.exp(epsilon)))
    likely, f = k[law > 1e-8], fdp.approx(epsilon)
    return sum(law[i] * law[j] for i in likely for j in likely if says(f, ([i], [n - j]), n, confidence))


@checker
def tf_verdict(refuted):
    """`refuted(f, accused, found, n, confidence)`: whether the counts refute the trade-off function f."""
    def says(f, counts, n, confidence=0.95):
        answer = answered(refuted, f, *map(np.array, counts), n, confidence)
        fitting = isinstance(answer, (int, np.bool_, np.integer, np.ndarray)) and np.ndim(answer) == 0
        if not fitting or answer not in (0, 1):
            raise Wrong(f"expected True or False, got {answer!r}")
        return bool(answer)

    for *case, words in _innocent():
        if says(*case):
            raise Wrong(words)
    for *case, words in _guilty():
        if not says(LAPLACE, *case):
            raise Wrong(f"{words}: {LATE}")
    rng = np.random.default_rng(77)
    blind = ([rng.binomial(1000, 0.5, TESTS) for _ in range(2)] for _ in range(EXPERIMENTS))
    alarms = sum(says(PERFECT, counts, 1000) for counts in blind)
    if alarms > MOST_ALARMS:
        raise Wrong(
            f"outputs that say nothing, judged by {TESTS} independent tests: {alarms} of {EXPERIMENTS} experiments are "
            "called refuted at 95 % confidence. The more tests, the more often one of them looks bad by chance: share "
            "the error among all limits"
        )
    if says(PERFECT, ([500] * 1999 + [464], [500] * 1999 + [536]), 1000, 0.5):
        raise Wrong(
            "2,000 tests, 1,000 runs, 464 accused and 536 found at the worst of them, claim: perfect privacy. Among so "
            "many independent tests chance does this three times in four even if the claim is true, and you call it "
            "refuted at a confidence of 0.5: is the error shared among all the limits of this experiment, not of "
            "another?"
        )
    for n, epsilon, confidence in CONTENT:
        alarm = _false_alarm(says, n, epsilon, confidence)
        if alarm > 1 - confidence:
            raise Wrong(
                f"randomized response at epsilon = {epsilon:g}, which keeps its promise, {n} runs, one test, "
                f"confidence {confidence:g}: over all counts that can come out, you call the claim refuted with "
                f"probability {alarm:.3f}. Each test has two limits: both share the error, and each has to hold at "
                "every count, as those of Clopper and Pearson do"
            )
    return "refutes what is refuted, in the middle and at the edges, and accuses no honest program too often"
