"""The checkers of the museum of broken sparse vectors: silent on the stub, content with the solution, clear about mistakes."""
from dataclasses import replace

import numpy as np
import pytest

from dplib.svt import VARIANTS
from dplib.teaching import check
from dplib.teaching.check.sparse_vector import broken_variants


def stub(*arguments):
    ...


MENDED = {
    "alg4": replace(VARIANTS["alg4"], query=lambda e, c: 8 * c / (3 * e)),
    "alg6": replace(VARIANTS["alg6"], stops=True, query=lambda e, c: 4 * c / e),
    "reused_value": replace(VARIANTS["reused_value"], releases=False),
    "public_threshold": replace(VARIANTS["public_threshold"], threshold=lambda e, c: 2 / e),
}


def mended(name, **changes):
    return {**MENDED, name: replace(MENDED[name], **changes)}


def alarms(threshold_scale=lambda c: 2 * c, query_scale=lambda c: 4 * c, *, redraw=True, stop=True, seed=None, draw="laplace"):
    """A learner's generator, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(answers, threshold, epsilon, c, rng):
        rng = own or rng
        noise = (lambda scale: rng.laplace(scale=scale)) if draw == "laplace" else (lambda scale: rng.normal(scale=2**0.5 * scale))
        level, left = threshold + noise(threshold_scale(c) / epsilon), c
        for answer in answers:
            passed = bool(answer + noise(query_scale(c) / epsilon) >= level)
            yield passed
            left -= passed
            if left == 0 and stop:
                return
            if passed and redraw:
                level = threshold + noise(threshold_scale(c) / epsilon)

    return function


def one(c):
    return 1


ALG6 = ([0] * 12, [1] * 6 + [-1] * 6, [0] * 6 + [1] * 6)
ALG4 = ([0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1], 0.5)

STUBS = [
    (check.svt_repair, dict.fromkeys(MENDED, ...)),
    (check.svt_endless, ...),
    (check.svt_formula, stub),
    (check.svt_catch, ...),
    (check.svt_restart, stub),
]

SOLUTIONS = [
    (check.svt_repair, lambda seed: MENDED),
    (check.svt_repair, lambda seed: mended("alg6", redraws=True, threshold=lambda e, c: 2 * c / e)),
    (check.svt_endless, lambda seed: ALG6),
    (check.svt_formula, lambda seed: lambda epsilon1, epsilon2, c: epsilon1 + c * epsilon2),
    (check.svt_catch, lambda seed: ALG4),
    (check.svt_restart, lambda seed: alarms(seed=seed)),
    (check.svt_restart, lambda seed: alarms(lambda c: 2, redraw=False, seed=seed)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_repair, {**MENDED, "alg6": ...}, "alg6 is still to be mended"),
    (check.svt_repair, {"alg4": MENDED["alg4"]}, "expected the variants"),
    (check.svt_repair, {**MENDED, "alg4": 2.0}, "expected a Variant"),
    (check.svt_repair, {**MENDED, "alg4": VARIANTS["alg4"]}, "add up to 1.750; the exact loss of one outcome on 61 answers is 1.750"),
    (check.svt_repair, mended("alg4", query=lambda e, c: 8 / (3 * e)), "c=3"),
    (check.svt_repair, mended("alg4", query=lambda e, c: 4 * c / e), "costs only 0.750"),
    (check.svt_repair, mended("alg4", query=4.0), "functions of epsilon and c"),
    (check.svt_repair, mended("alg4", query=lambda e, c: np.inf), "finite"),
    (check.svt_repair, mended("alg6", stops=False), "does not stop"),
    (check.svt_repair, mended("alg6", query=lambda e, c: 2 / e), "add up to 1.500"),
    (check.svt_repair, mended("alg6", redraws=True), "add up to 2.000"),
    (check.svt_repair, {**MENDED, "reused_value": VARIANTS["reused_value"]}, "still publishes"),
    (check.svt_repair, {**MENDED, "public_threshold": VARIANTS["public_threshold"]}, "no noise on the threshold"),
    (check.svt_repair, mended("public_threshold", threshold=lambda e, c: 4 / e), "costs only 0.750"),
    (check.svt_repair, 7, "expected form"),
    (check.svt_endless, ([0] * 12, [1] * 12, [0] * 12), "of one kind only"),
    (check.svt_endless, ([0] * 12, [1] * 12, [0] * 6 + [1] * 6), "which way must the answers move"),
    (check.svt_endless, (ALG6[1], ALG6[0], ALG6[2]), "swap"),
    (check.svt_endless, ([0] * 10, [1] * 5 + [-1] * 5, [0] * 5 + [1] * 5), "is 4.49, not above 5"),
    (check.svt_endless, ([0] * 2, [9] * 2, [0, 1]), "not neighbours"),
    (check.svt_endless, ([0] * 201, [1] * 201, [0] * 201), "more than enough"),
    (check.svt_endless, ([0] * 2, [1] * 2, [0, 2]), "one for each answer"),
    (check.svt_endless, 5, "expected form"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: c * epsilon1 + epsilon2, "which noise is drawn how often"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: epsilon1 + epsilon2, "price of one positive answer"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: c * (epsilon1 + epsilon2), "c separate runs"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: (1 + c) / 2 * 0.9, "there is an outcome with a loss of 1.000"),
    (check.svt_formula, lambda epsilon1, epsilon2, c: 99.0, "no outcome loses as much"),
    (check.svt_formula, 3.8, "expected a function"),
    (check.svt_catch, (ALG4[1], ALG4[0], ALG4[2], 0.5), "swap"),
    (check.svt_catch, ([0, 1], [1, 0], [0, 1], 0.5), "about"),
    (check.svt_catch, ([0], [1], [0], 0.0), "within the claim"),
    (check.svt_catch, ([0] * 12 + [1], [1] * 12 + [0], [0] * 12 + [1], 0.5), "Trade loss against probability"),
    (check.svt_catch, ([0] * 9 + [1], [1] * 9 + [0], [0] * 9 + [1], 40.0), "more than a hundred million"),
    (check.svt_catch, ([0, 0], [1, 1], [1, 0], 0.5), "stops at its first Yes"),
    (check.svt_catch, ([0] * 51, [1] * 51, [0] * 51, 0.5), "more than enough"),
    (check.svt_catch, ([0] * 2, [3] * 2, [0, 1], 0.5), "not neighbours"),
    (check.svt_catch, ([0] * 2, [1] * 2, [0, 0.5], 0.5), "outcome must be"),
    (check.svt_catch, 5, "expected form"),
    (check.svt_restart, alarms(lambda c: 2, lambda c: 4), "each restart still costs the whole"),
    (check.svt_restart, alarms(query_scale=lambda c: 4), "noise of one alarm: the loss is larger"),
    (check.svt_restart, alarms(lambda c: 2), "each restart draws a threshold"),
    (check.svt_restart, alarms(lambda c: 2, lambda c: 4, redraw=False), "(1 + c)/2"),
    (check.svt_restart, alarms(redraw=False), "need not grow with c"),
    (check.svt_restart, alarms(lambda c: 4 * c, lambda c: 8 * c), "twice the noise"),
    (check.svt_restart, alarms(stop=False), "goes on after Yes"),
    (check.svt_restart, alarms(draw="normal"), "comes out in"),
    (check.svt_restart, lambda answers, threshold, epsilon, c, rng: iter([True]), "not a complete run"),
    (check.svt_restart, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.svt_restart, lambda *arguments: 5, "TypeError"),
    (check.svt_restart, "no function", "expected a function"),
]


def test_every_checker_is_tested():
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == set(broken_variants.__all__)


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, None) for checker, _ in STUBS)])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    for seed in range(20):                       # 80 chi-square tests at 1e-6 in all
        assert says(checker, solution(seed)).startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and reason in said, said


def test_a_right_answer_gets_the_same_line_every_time(says):
    """Notebooks are compared line by line, and a learner's mechanism is not seeded."""
    assert len({says(check.svt_restart, alarms(seed=seed)) for seed in range(5)}) == 1


@pytest.mark.parametrize("e1, e2, c", [(0.3, 0.7, 5), (0.7, 0.3, 5), (1.0, 0.5, 10)])
def test_the_price_is_attained(e1, e2, c):
    found = broken_variants._found(None, broken_variants.Scales(1 / e1, 2 / e2, np.inf), c)
    assert e1 + c * e2 - 1e-3 < found <= e1 + c * e2 + 1e-9
