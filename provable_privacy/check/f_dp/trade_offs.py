"""Checkers of chapter 6: privacy as a test."""
import math

import numpy as np
import scipy

from dplib import fdp
from provable_privacy.speech import Wrong, answered, checker, compare_dict, compare_number, number

__all__ = ["tf_best_test", "tf_conditions", "tf_court", "tf_inverse", "tf_verdict"]


def _best(p, q, alpha):
    """Smallest type II error by Neyman and Pearson."""
    sure = q[p == 0].sum()
    p, q = p[p > 0], q[p > 0]
    order = np.argsort(-q / p)
    return float(np.interp(alpha, np.append(0, np.cumsum(p[order])), 1 - sure - np.append(0, np.cumsum(q[order]))))


def _worst_pair(epsilon, delta):
    """A proof of D, randomized response, a proof of D': the pair of laws that every (epsilon, delta)-DP test can be made from."""
    yes = (1 - delta) / (1 + math.exp(-epsilon))
    law = np.array([delta, yes, 1 - delta - yes, 0.0])
    return law, law[::-1]


@checker
def tf_court(missed_at_least):
    """`missed_at_least(epsilon, delta, alpha)`: smallest type II error that (epsilon, delta)-DP allows."""
    answers = []
    for epsilon, delta, alpha in ((1.0, 0.0, 0.05), (1.0, 0.01, 0.05), (1.0, 0.01, 0.5), (0.5, 0.3, 0.9), (2.0, 0.1, 0.6), (0.0, 0.2, 0.3),
                                  (4.0, 0.0, 0.5), (1.5, 0.1, 0.17), (0.3, 0.0, 0.0), (1.0, 0.05, 1.0)):
        got, right = number(answered(missed_at_least, epsilon, delta, alpha), "the share missed"), _best(*_worst_pair(epsilon, delta), alpha)
        one, two = 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha)
        answers.append((f"epsilon = {epsilon:g}, delta = {delta:g}, alpha = {alpha:g}", got, right, {
            "this is the share that can be found at most; asked is the share missed at least": 1 - right,
            "this is the first line only, and it falls below 0; what of the promise in the other direction?": one,
            "this is the first line and the floor; the promise in the other direction gives a line of its own, which is higher here": max(0.0, one),
            "a share cannot be negative: where delta is used up, everybody may be found": max(one, two),
            "this is the second line alone": two,
            "this is the larger of the second line and 0, without the first": max(0.0, two),
            "delta was not used": max(0.0, 1 - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - alpha)),
            "delta was added: it helps the attacker, so the curve sinks":
                max(0.0, 1 + delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 + delta - alpha)),
            "this is perfect privacy, epsilon was not used": 1 - delta - alpha,
        }))
    named = [message for message in answers[0][3] if all(abs(got - rivals[message]) < 1e-9 for _, got, _, rivals in answers)]
    for case, got, right, _ in answers:

        def why(got, right=right):
            if named:
                return f"{got:.6f}; {named[0]}"
            if got > right:
                return f"{got:.6f}, but a mechanism that keeps the promise can be attacked so that only {right:.6f} are missed"
            return f"{got:.6f} is safe to say, but more follows: {right:.6f}"

        compare_number(got, right, case, why, tolerance=1e-7)
    return "as much as the promise gives, and a mechanism that attains it exists"


NAMES = ("convex", "continuous", "nonincreasing", "diagonal")
BROKEN = {"a": "diagonal", "b": "convex", "c": None, "d": "continuous"}
HOLDS = {
    "convex": {"a": "the larger of two straight lines is convex", "c": "the larger of two straight lines is convex",
               "d": "the jump at 0 is upwards at an end: every chord is still above the curve"},
    "continuous": {name: "it has no jump" for name in "abc"},
    "nonincreasing": {name: "it never rises" for name in "abcd"},
    "diagonal": {name: "it is nowhere above 1 - x" for name in "bcd"},
}
FAILS = {
    "a": "always accusing has the errors (1, 0), and the drawing says that a fifth is missed even so",
    "b": "a coin between never (0, 1/2) and always (1, 0) has the errors (1/2, 1/4), and the drawing says 3/8",
    "d": "at x = 0 everybody is missed, and at the smallest x above it only half",
}


@checker
def tf_conditions(broken):
    """`broken`: drawing -> the condition that it breaks, or None."""
    if not isinstance(broken, dict):
        raise Wrong('expected a dictionary with the keys "a", "b", "c" and "d"')
    said = {name: value.strip().lower() if isinstance(value, str) else value for name, value in broken.items()}
    said = {name: None if value == "none" else value for name, value in said.items()}

    def why(name, got):
        if got is not None and got not in NAMES:
            return f'expected one of {", ".join(NAMES)}, or None, got {broken[name]!r}'
        return f"this is no trade-off function: {FAILS[name]}" if got is None else f"it is all right there ({got}): {HOLDS[got][name]}"

    compare_dict(said, BROKEN, why)
    return "each drawing by the one condition that it breaks, and (c) by none"


def _random_law(rng, size):
    law = rng.dirichlet(np.full(size, 0.7)) * (rng.random(size) < 0.8)
    return law / law.sum() if law.sum() > 0 else np.full(size, 1 / size)


@checker
def tf_best_test(best_test):
    """`best_test(p, q, alpha)`: rejection probabilities of a most powerful test of level alpha."""
    rng = np.random.default_rng(31)
    cases = [(np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5]), alpha) for alpha in (0.0, 0.05, 0.1, 0.25, 0.4, 0.9, 1.0)]
    cases += [(np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.25, 0.25, 0.5, 0.0]), alpha) for alpha in (0.0, 0.3)]
    cases += [(np.array([0.02, 0.9, 0.08]), np.array([0.2, 0.5, 0.3]), 0.03)]
    cases += [(_random_law(rng, size), _random_law(rng, size), alpha) for size in (2, 4, 8, 60) for alpha in (0.0, 0.05, 0.3, 0.8)]
    for p, q, alpha in cases:
        answer = answered(best_test, p.copy(), q.copy(), alpha)
        try:
            test = np.asarray(answer, dtype=float)
        except (TypeError, ValueError):
            raise Wrong(f"expected one probability for each outcome, got {answer!r}") from None
        if test.shape != p.shape:
            raise Wrong(f"expected {p.size} probabilities, one for each outcome, got an array of shape {test.shape}")
        small = p.size < 9
        case = f"p = {p.round(3).tolist()}, q = {q.round(3).tolist()}, alpha = {alpha:g}" if small else f"{p.size} outcomes, alpha = {alpha:g}"
        if not np.all((test >= -1e-9) & (test <= 1 + 1e-9)):
            raise Wrong(f"{case}: a probability of rejecting must lie in [0, 1], got {test.round(3).tolist() if small else 'others'}")
        one, two, best = float(test @ p), float(1 - test @ q), _best(p, q, alpha)
        case += f": your test has the errors ({one:.4f}, {two:.4f})"
        if one > alpha + 1e-9:
            raise Wrong(f"{case}; the first one is above alpha")
        if two <= best + 1e-9:
            continue
        case += f", and ({alpha:g}, {best:.4f}) is possible"
        if np.any((p == 0) & (q > 0) & (test < 1)):
            raise Wrong(f"{case}; an outcome with p = 0 is rejected at no cost")
        if np.all((test < 1e-9) | (test > 1 - 1e-9)) and one < alpha - 1e-9:
            raise Wrong(f"{case}; a part of alpha is left over: reject the next outcome with the probability for which it is enough")
        if one < alpha - 1e-9:
            raise Wrong(f"{case}; a part of alpha is left over")
        if abs(two - _greedy(p, q, alpha, -q)) < 1e-9:
            raise Wrong(f"{case}; it takes the outcomes in the order of q, but what counts is how much q one gets for p")
        if abs(two - _greedy(p, q, alpha, p)) < 1e-9:
            raise Wrong(f"{case}; it takes the outcomes in the order of p, but what counts is how much q one gets for p")
        raise Wrong(f"{case}; reject in the order of falling q/p")
    return f"no test of the same level misses less, in {len(cases)} cases"


def _greedy(p, q, alpha, key):
    """Type II error of filling alpha up in the order of `key`."""
    order = np.argsort(key, kind="stable")
    order = order[p[order] > 0]
    return float(np.interp(alpha, np.append(0, np.cumsum(p[order])), 1 - q[p == 0].sum() - np.append(0, np.cumsum(q[order]))))


def _curve(x, y):
    return lambda t: np.interp(t, x, y)


@checker
def tf_inverse(inverse):
    """`inverse(f, alpha)`: the smallest t with f(t) <= alpha."""
    words = _curve([0, 0.1, 0.4, 1], [1, 0.5, 0.2, 0])
    curves = {
        "the three words": (words, (0.0, 0.1, 0.2, 0.35, 0.7, 1.0)),
        "f = 0.7 (1 - x)^2": (lambda t: 0.7 * (1 - np.asarray(t, dtype=float)) ** 2, (0.0, 0.1, 0.3, 0.7, 0.9)),
        "f = max(0, 1/2 - x)": (lambda t: np.maximum(0.0, 0.5 - np.asarray(t, dtype=float)), (0.0, 0.2, 0.5, 0.8)),
        "f = (1 - sqrt(x))^2": (lambda t: (1 - np.sqrt(t)) ** 2, (0.01, 0.25, 0.81)),
        "perfect privacy": (lambda t: 1 - np.asarray(t, dtype=float), (0.0, 0.3, 1.0)),
        "f = 0": (lambda t: 0 * np.asarray(t, dtype=float), (0.0, 0.4)),
        "G_1": (fdp.gaussian(1.0), (0.05, 0.5)),
        "f of epsilon 2": (fdp.approx(2.0), (0.01, 1 / (1 + math.exp(2)), 0.3)),       # the second is the corner
    }
    answers = []
    for name, (f, alphas) in curves.items():
        for alpha in alphas:
            answers.append((name, f, alpha, number(answered(inverse, f, alpha), "the inverse"), _bisect(f, alpha)))
    for name, f, alpha, got, right in answers:
        if abs(got - right) < 2e-6:
            continue
        case = f"{name}, alpha = {alpha:g}: {got:.6f}, but the smallest t with f(t) <= alpha is {right:.6f}"
        if all(abs(mine - float(g(at))) < 1e-6 for _, g, at, mine, _ in answers):
            raise Wrong(f"{case}; this is f(alpha) itself, the curve has to be turned round")
        if all(abs(mine - (1 - float(g(at)))) < 1e-6 for _, g, at, mine, _ in answers):
            raise Wrong(f"{case}; this is 1 - f(alpha), the power, not the inverse")
        if float(f(0.0)) <= alpha:
            raise Wrong(f"{case}: alpha is not below f(0), so nothing has to be accused wrongly")
        if got > right and alpha == 0:
            raise Wrong(f"{case}; where f is 0 on a whole stretch, take its left end")
        if got > right:
            raise Wrong(f"{case}; not the smallest")
        raise Wrong(f"{case}; f(t) is {float(f(max(got, 0.0))):.6f} there, above alpha")
    return f"the smallest t, on {len(curves)} curves with flat parts, corners and low starts"


def _bisect(f, alpha):
    if float(f(0.0)) <= alpha:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if float(f(middle)) <= alpha else (middle, high)
    return high


EXPERIMENTS, TESTS, MOST_ALARMS = 200, 200, 28   # P(binomial(200, 5 %) > 28) < 1e-6


@checker
def tf_verdict(refuted):
    """`refuted(f, accused, found, n, confidence)`: whether the counts refute the claim that the trade-off function is at least f."""
    def says(f, accused, found, n, confidence=0.95):
        answer = answered(refuted, f, np.array(accused), np.array(found), n, confidence)
        if not (isinstance(answer, (bool, np.bool_, int, np.integer)) or (isinstance(answer, np.ndarray) and answer.shape == ())) or int(answer) not in (0, 1):
            raise Wrong(f"expected True or False, got {answer!r}")
        return bool(answer)

    laplace, perfect, bent, t = fdp.laplace(1.0), fdp.approx(0.0), fdp.finite([0.9, 0.1], [0.5, 0.5]), np.arange(-2, 3.1, 0.5)

    def expected(epsilon, n):
        tail = [np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2) for x in (epsilon * t, epsilon * (t - 1))]
        return [np.round(n * part).astype(int) for part in tail]

    for n in (500, 20_000):
        blind = [n // 10, n // 2]
        if says(laplace, blind, blind, n) or says(laplace, *expected(0.2, n), n):
            raise Wrong(f"a program that tells far less than it may, {n:,} runs: its points lie above the curve, and you call the claim refuted. "
                        "Is beta the share missed, (n - found)/n?")
        for name, f, counts in (("Laplace", laplace, expected(1.0, n)), ("one-sided", bent, ([0, n // 10, n], [0, n // 2, n]))):
            if says(f, *counts, n):
                raise Wrong(f"an honest {name} program, {n:,} runs, every count as expected: its points lie on the curve f, and you call the claim refuted. "
                            "A point is below the curve for sure only where its upper limits are")
    if says(fdp.approx(1.0), [0], [4], 50):
        raise Wrong("50 runs, 0 accused, 4 found: alpha was not seen and may still be 3 %, so the point may lie above the curve: "
                    "alpha needs an upper limit as well")
    if says(perfect, [13], [7], 20):
        raise Wrong("20 runs, 13 accused, 7 found, claim: perfect privacy. The point lies above the curve")
    if says(perfect, [467], [533], 1000, 0.999999):
        raise Wrong("1,000 runs, 467 accused, 533 found: chance does this once in 600 times even if the claim is true, "
                    "and you call it refuted at a confidence of 0.999999")
    late = "if this bug is missed, is beta the share that is missed, n - found, and the upper limit used for both?"
    for n, epsilon in ((5000, 2.0), (50_000, 1.3)):
        if not says(laplace, *expected(epsilon, n), n):
            raise Wrong(f"Laplace noise made for epsilon = {epsilon:g}, sold as 1, {n:,} runs, counts as expected: not noticed; {late}")
    if not says(laplace, [0], [700], 5000):
        raise Wrong(f"5,000 runs, nobody accused, 700 found, claim: Laplace at epsilon 1: not noticed; {late}")
    if not says(laplace, [2500] * 29 + [4300], [3400] * 29 + [5000], 5000, 0.99):
        raise Wrong(f"5,000 runs, 4,300 accused, 5,000 found at the last of 30 tests, claim: Laplace at epsilon 1: not noticed; {late}")
    rng, alarms = np.random.default_rng(77), 0
    for _ in range(EXPERIMENTS):
        alarms += says(perfect, rng.binomial(1000, 0.5, TESTS), rng.binomial(1000, 0.5, TESTS), 1000)
    if alarms > MOST_ALARMS:
        raise Wrong(f"outputs that say nothing, judged by {TESTS} independent tests: {alarms} of {EXPERIMENTS} experiments are called refuted at 95 % "
                    "confidence. The more tests, the more often one of them looks bad by chance: share the error among all limits")
    if says(perfect, [500] * 1999 + [464], [500] * 1999 + [536], 1000, 0.5):
        raise Wrong("2,000 tests, 1,000 runs, 464 accused and 536 found at the worst of them, claim: perfect privacy. Among so many independent tests "
                    "chance does this three times in four even if the claim is true, and you call it refuted at a confidence of 0.5: is the error shared "
                    "among all the limits of this experiment, not of another?")
    for n, epsilon, confidence in ((40, 3.0, 0.5), (50, 3.0, 0.5), (50, 3.0, 0.95), (300, 4.6, 0.95)):
        alarm = _false_alarm(says, n, epsilon, confidence)
        if alarm > 1 - confidence:
            raise Wrong(f"randomized response at epsilon = {epsilon:g}, which keeps its promise, {n} runs, one test, confidence {confidence:g}: over all "
                        f"counts that can come out, you call the claim refuted with probability {alarm:.3f}. Each test has two limits: both share the error, "
                        "and each has to hold at every count, as those of Clopper and Pearson do")
    return "refutes what is refuted, in the middle and at the edges, and accuses no honest program too often"


def _false_alarm(says, n, epsilon, confidence):
    """Exact probability that the claim is called refuted where randomized response attains it."""
    a, k = 1 / (1 + math.exp(epsilon)), np.arange(n + 1)
    law = scipy.stats.binom.pmf(k, n, a)
    likely = k[law > 1e-8]
    return sum(law[i] * law[j] for i in likely for j in likely if says(fdp.approx(epsilon), [i], [n - j], n, confidence))
