"""Answers for the checkers of the museum of broken variants: right ones, wrong ones and leaks."""
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from dplib.svt import VARIANTS, Scales
from provable_privacy import check
from provable_privacy.battery.makers import centred, difference, given, kept, laplace, normal, scaled, shared, where
from provable_privacy.check.sparse_vector.broken_variants import SETTINGS, _found

REPAIRED = {
    "alg4": replace(VARIANTS["alg4"], query=lambda e, c: 8 * c / (3 * e)),
    "alg6": replace(VARIANTS["alg6"], stops=True, query=lambda e, c: 4 * c / e),
    "reused_value": replace(VARIANTS["reused_value"], releases=False),
    "public_threshold": replace(VARIANTS["public_threshold"], threshold=lambda e, c: 2 / e),
}


def repaired(name, **changes):
    return {**REPAIRED, name: replace(REPAIRED[name], **changes)}


def alarms(scales=lambda c: (2 * c, 4 * c), *, again="yes", stops=True, shrinks=False, rho=laplace, nu=laplace,
           change=lambda noise, answer, far, i: noise, seed=None):
    """A learner's generator, right unless told otherwise.

    `rho` and `nu` are the laws of noise on threshold and answers; `change` may spoil the noise of an answer that lies
    `far` above the threshold, in units of c/epsilon. With `seed` it has luck of its own.
    """
    own = None if seed is None else np.random.default_rng(seed)

    def replies(answers, threshold, epsilon, c, rng):
        rng, left, noise, passed = own or rng, c, None, False
        for i, answer in enumerate(answers):
            b1, b2 = scales(left if shrinks else c)
            if i == 0 or again == "every" or again == "yes" and passed:
                level = threshold + rho(rng, b1 / epsilon, ())
            noise = nu(rng, 1.0, (64,)) if i % 64 == 0 else noise
            spoilt = change(noise[i % 64], answer, (answer - threshold) * epsilon / c, i)
            passed = bool(answer + b2 / epsilon * spoilt >= level)
            yield passed
            left -= passed
            if stops and left == 0:
                return

    return replies


def one_threshold(change=lambda noise, answer, far, i: noise, **how):
    """Algorithm 1, which draws the threshold's noise once."""
    return alarms(lambda c: (2, 4 * c), again="", change=change, **how)


def at_most(most):
    """Splits the budget for so many alarms, however many there are."""
    return alarms(lambda c: (2 * min(c, most), 4 * min(c, most)))


RIGHT, STANDARD = alarms(), scaled(2**0.5, normal)
ALG6 = ([0] * 12, [1] * 6 + [-1] * 6, [0] * 6 + [1] * 6)
ALG4 = ([0] * 4 + [1.5], [1] * 4 + [0.5], [0] * 4 + [1], 0.5)

SOLUTIONS = [
    (check.svt_repair, lambda seed: REPAIRED),
    (check.svt_repair, lambda seed: repaired("alg6", redraws=True, threshold=lambda e, c: 2 * c / e)),
    (check.svt_endless, lambda seed: ALG6),
    (check.svt_formula, lambda seed: lambda epsilon1, epsilon2, c: epsilon1 + c * epsilon2),
    (check.svt_catch, lambda seed: ALG4),
    (check.svt_restart, lambda seed: alarms(seed=seed)),
    (check.svt_restart, lambda seed: one_threshold(seed=seed)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_repair, repaired("alg6", query=lambda e, c: (4 * c if (e, c) in SETTINGS[:4] else 2) / e),
     "add up to"),
    (check.svt_repair, {"alg4": REPAIRED["alg4"]}, "expected a dict with the variants"),
    (check.svt_repair, {**REPAIRED, "alg4": 2.0}, "expected a Variant"),
    (check.svt_repair, {**REPAIRED, "alg4": VARIANTS["alg4"]},
     "add up to 1.750; the exact loss of one outcome on 61 answers is 1.750"),
    (check.svt_repair, repaired("alg4", query=lambda e, c: 8 / (3 * e)), "c=3"),
    (check.svt_repair, repaired("alg4", query=lambda e, c: 4 * c / e), "costs only 0.750"),
    (check.svt_repair, dict.fromkeys(REPAIRED, VARIANTS["alg1"]),
     "alg4: this is the room of Lyu, Su and Li (2017), Algorithm 1; fix that of Lee and Clifton"),
    (check.svt_repair, repaired("alg4", query=4.0), "functions of epsilon and c"),
    (check.svt_repair, repaired("alg4", query=lambda e, c: np.inf), "finite"),
    (check.svt_repair, repaired("alg6", stops=False), "does not stop"),
    (check.svt_repair, repaired("alg6", query=lambda e, c: 2 / e), "add up to 1.500"),
    (check.svt_repair, repaired("alg6", redraws=True), "add up to 2.000"),
    (check.svt_repair, {**REPAIRED, "reused_value": VARIANTS["reused_value"]}, "still publishes"),
    (check.svt_repair, {**REPAIRED, "public_threshold": VARIANTS["public_threshold"]}, "no noise on the threshold"),
    (check.svt_repair, repaired("public_threshold", threshold=lambda e, c: 4 / e), "costs only 0.750"),
    (check.svt_repair, 7, "expected a dict"),
    (check.svt_endless, ([0] * 12, [1] * 12, [0] * 12), "all replies are the same"),
    (check.svt_endless, ([0] * 12, [1] * 12, [0] * 6 + [1] * 6), "which way must the answers move"),
    (check.svt_endless, (ALG6[1], ALG6[0], ALG6[2]), "swap"),
    (check.svt_endless, ([0] * 10, [1] * 5 + [-1] * 5, [0] * 5 + [1] * 5), "is 4.49, not above 5"),
    (check.svt_endless, ([0] * 2, [9] * 2, [0, 1]), "not neighbours"),
    (check.svt_endless, ([1e6] * 6 + [-1e6] * 6, [1e6 + 1] * 6 + [-1e6 - 1] * 6, [0] * 6 + [1] * 6), "at most 10,000"),
    (check.svt_endless, ([0] * 201, [1] * 201, [0] * 201), "more than enough"),
    (check.svt_endless, ([0] * 2, [1] * 2, [0, 2]), "one for each answer"),
    (check.svt_endless, 5, "expected three lists"),
    (check.svt_endless, ([0] * 12, [1] * 12), "expected three lists"),
    (check.svt_endless, ([-50] * 6 + [50] * 6, [-49] * 6 + [49] * 6, [0] * 6 + [1] * 6), "costs little"),
    (check.svt_endless, ([50] * 5 + [-50] * 5, [51] * 5 + [-51] * 5, [0] * 5 + [1] * 5), "Take a longer list"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: c * epsilon1 + epsilon2, "which noise is drawn for every Yes"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: epsilon1 + epsilon2, "price of one positive answer"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: c * (epsilon1 + epsilon2), "c separate runs"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: (1 + c) / 2 * 0.9, "there is an outcome with a loss of 1.000"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: 99.0, "no outcome loses as much"),
    (check.svt_formula, 3.8, "expected a function"),
    (check.svt_formula, lambda *arguments: print(end=""), "is the `return` missing"),
    (check.svt_catch, (ALG4[1], ALG4[0], ALG4[2], 0.5), "swap"),
    (check.svt_catch, ([0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1], 0.5), "about 2,720 runs"),
    (check.svt_catch, ([0, 1], [1, 0], [0, 1], 0.5), "about"),
    (check.svt_catch, ([0], [1], [0], 0.0), "within the claim"),
    (check.svt_catch, ([0] * 12 + [1], [1] * 12 + [0], [0] * 12 + [1], 0.5), "Trade loss against probability"),
    (check.svt_catch, ([0] * 9 + [1], [1] * 9 + [0], [0] * 9 + [1], 40.0), "more than a hundred million"),
    (check.svt_catch, ([0, 0], [1, 1], [1, 0], 0.5), "stops at its first Yes"),
    (check.svt_catch, ([0] * 51, [1] * 51, [0] * 51, 0.5), "more than enough"),
    (check.svt_catch, ([0] * 2, [3] * 2, [0, 1], 0.5), "not neighbours"),
    (check.svt_catch, ([0] * 2, [1] * 2, [0, 0.5], 0.5), "outcome must be"),
    (check.svt_catch, (*ALG4[:3], "half"), "the threshold: expected a number"),
    (check.svt_catch, 5, "three lists and a number"),
    (check.svt_catch, ([0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1]), "three lists and a number"),
    (check.svt_restart, alarms(lambda c: (2, 4)), "each restart still costs the whole"),
    (check.svt_restart, alarms(lambda c: (2 * c, 4)), "noise of one alarm: the loss is larger"),
    (check.svt_restart, alarms(lambda c: (2, 4 * c)), "each restart draws a threshold"),
    (check.svt_restart, alarms(lambda c: (2, 4), again=""), "(1 + c)/2"),
    (check.svt_restart, alarms(again=""), "need not grow with c"),
    (check.svt_restart, alarms(lambda c: (2 * c, 2 * c)), "half of what it must be: each restart"),
    (check.svt_restart, alarms(lambda c: (2, 2 * c), again=""), "half of what it must be: 2c/epsilon"),
    (check.svt_restart, alarms(shrinks=True), "c is counted down"),
    (check.svt_restart, alarms(lambda c: (1 + (2 * c) ** (2 / 3), 2 * c + (2 * c) ** (1 / 3)), again=""), "evenly"),
    (check.svt_restart, alarms(lambda c: (2 * (c - 1) or 2, 4 * (c - 1) or 4)), "comes out in"),
    (check.svt_restart, alarms(lambda c: (4 * c, 8 * c)), "twice the noise"),
    (check.svt_restart, alarms(rho=centred, nu=centred), "write scale="),
    (check.svt_restart, alarms(stops=False), "goes on after Yes"),
    (check.svt_restart, alarms(rho=STANDARD, nu=STANDARD), "comes out in"),
    (check.svt_restart, lambda answers, threshold, epsilon, c, rng: iter([True]), "not a complete run"),
    (check.svt_restart, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.svt_restart, lambda *arguments: 5, "TypeError"),
    (check.svt_restart, "no function", "expected a function"),
]


UNUSUAL = [
    (check.svt_restart, lambda *arguments: list(RIGHT(*arguments))),
    (check.svt_restart, one_threshold()),
    (check.svt_restart, one_threshold(rho=difference(), nu=difference())),
    (check.svt_endless, ([60] * 6 + [-60] * 6, [61] * 6 + [-61] * 6, [0] * 6 + [1] * 6)),
    (check.svt_catch, ([0] * 3 + [1.25], [1] * 3 + [0.25], [0] * 3 + [1], 0.5)),
]

LEAKS = [
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: 0.0 if answer < -6 else noise)),
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: np.clip(noise, -2, 2))),
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: noise if i < 4 else noise / 2)),
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: 0.8 * noise)),
    (check.svt_restart, alarms(nu=shared())),
    (check.svt_restart, one_threshold(rho=kept())),
    (check.svt_restart, at_most(2)),
    (check.svt_restart, one_threshold(lambda noise, answer, far, i: noise if far < 3 else inf)),
    (check.svt_restart, one_threshold(lambda noise, answer, far, i: noise if far < 12 else inf)),
    (check.svt_restart, one_threshold(lambda noise, answer, far, i: noise if far >= -8 else -inf)),
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: noise if i < 8 else 0.0)),
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: noise if i < 8 else noise / 2)),
    (check.svt_restart, alarms(lambda c: (2 * c, 4 * c if c > 1 else 2))),
    (check.svt_restart, given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.5))),
    (check.svt_restart, at_most(3)),
    (check.svt_restart, at_most(5)),
    (check.svt_restart, where(lambda answers, threshold, *rest: threshold > 1, alarms(lambda c: (1e-9, 4 * c)), RIGHT)),
    (check.svt_restart, given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.05))),
    (check.svt_restart, given(RIGHT, epsilon=lambda epsilon: 1e9 if epsilon > 10 else epsilon)),         # large epsilon
    (check.svt_restart, at_most(10)),
    (check.svt_restart, alarms(change=lambda noise, answer, far, i: noise if i < 12 else 0.0)),          # sizes
    (check.svt_restart, where(lambda answers, threshold, *rest: threshold < 0, given(RIGHT, epsilon=1e9), RIGHT)),
    (check.svt_restart, where(lambda answers, *rest: len(answers) == 1, given(RIGHT, epsilon=1e9), RIGHT)),
    (check.svt_restart, where(lambda answers, *rest: 100 < max(answers) < 1000, given(RIGHT, epsilon=1e9), RIGHT)),
    (check.svt_restart, where(lambda answers, threshold, *rest: max(map(abs, [threshold, *answers])) > 1000,
                              given(RIGHT, epsilon=1e9), RIGHT)),
]


def test_a_repair_to_come_is_not_wrong(says):
    assert says(check.svt_repair, {**REPAIRED, "alg6": ...}).startswith("○ svt_repair: alg6 not attempted yet")


@pytest.mark.parametrize("e1, e2, c", [(0.3, 0.7, 5), (0.7, 0.3, 5), (1.0, 0.5, 10)])
def test_the_price_is_attained(e1, e2, c):
    found = _found(Scales(1 / e1, 2 / e2, inf), c)
    assert e1 + c * e2 - 1e-3 < found <= e1 + c * e2 + 1e-9
