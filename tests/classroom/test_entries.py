"""Exercises that are answered by entering something: what is accepted, and what each mistake is told."""
import math

import numpy as np
import pytest

from provable_privacy import check, speech
from provable_privacy.battery import Numbers, Pair, battery
from provable_privacy.battery.makers import noisy
from provable_privacy.entries import AnyOf, Number, OneOf, Together, TrueFalse, entries
from provable_privacy.formulas import on_cases, refuses
from provable_privacy.speech import Misdeclared, Wrong, checker

LAPLACE = noisy(len, lambda table: 1.0)


def pair(what, claims=((1.0, 0.0),), truth=(0, 1)):
    return Pair(what, ("",), ("x",), claims, truth)


@entries("all of them")
def table():
    """`answer`: one of everything."""
    return {
        "third": Number(
            1 / 3, "divide by three", {"that is the percentage": 33.3}, below="more than that", above="less"
        ),
        "none": Number(math.inf, "no bound holds"),
        "people": Number(
            250, "count the rows", tolerance=0, whole=True, between=(0, 1000, "{said} people do not live there")
        ),
        "goal": OneOf(
            ("membership", "attribute"), "attribute", "what was learned?", {"membership": "she was known to be in it"}
        ),
        "safe": TrueFalse(False, "one pair refutes it"),
        "lines": AnyOf(
            {1: "it is harmless", 2: "it wraps", 3: "it has no seed"},
            (2, 3),
            "line {item} breaks the claim: {why}",
            "line {item} does not: {why}",
        ),
        "pair": Together({"moved": Number(2, "two counts move"), "cost": Number(0.2, "two times 0.1")}),
    }


RIGHT = {
    "third": 0.3333,
    "none": np.inf,
    "people": 250,
    "goal": " Attribute",
    "safe": np.False_,
    "lines": {2, 3},
    "pair": (2, 0.2),
}


def test_what_is_right_is_accepted(says):
    assert says(table, RIGHT) == "✓ table: all of them"
    assert says(table, RIGHT | {"lines": "32", "pair": [2.0, 0.2], "third": 1 / 3}).startswith("✓")


@pytest.mark.parametrize(("name", "said", "words"), [
    ("third", 33.3, "third: not 33.3; that is the percentage"),
    ("third", 0.1, "third: not 0.1; more than that"), ("third", 0.5, "third: not 0.5; less"),
    ("third", 0.33, "rounded too far"), ("third", "1/3", "expected a number"), ("third", None, "expected a number"),
    ("none", 5, "none: not 5; no bound holds"), ("people", 250.5, "whole number"),
    ("people", 251, "not 251; count the rows"),
    ("people", 1001, "people: 1001 people do not live there"),
    ("goal", "membership", "not membership; she was known to be in it"),
    ("goal", "linkage", "'linkage' is not on the list: membership, attribute"),
    ("safe", True, "safe: one pair refutes it"),
    ("safe", 1, "answer True or False"), ("lines", {1, 2, 3}, "line 1 does not: it is harmless"),
    ("lines", [2], "line 3 breaks the claim: it has no seed"), ("lines", {2, 3, 9}, "'9' is not on the list"),
    ("lines", 2, "line 3 breaks the claim"), ("pair", (2, 0.3), "pair: cost: not 0.3; two times 0.1"),
    ("pair", 2, "expected (moved, cost), got 2"),
])  # fmt: skip
def test_a_mistake_is_told(says, name, said, words):
    line = says(table, RIGHT | {name: said})
    assert line.startswith("✗ table: ") and words in line


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (5, "expected a dict with the names third"),
        ({"third": 0.3333}, "missing: 'goal'"),
        (RIGHT | {"x": 1}, "unknown: 'x'"),
    ],
)
def test_names_that_are_unknown_or_missing_are_told(says, answer, words):
    assert words in says(table, answer)


def test_what_is_missing_is_told_when_the_rest_is_right(says):
    assert says(table, dict.fromkeys(RIGHT, ...)) == "○ table: not attempted yet"
    assert (
        says(table, RIGHT | {"third": ..., "pair": (2, ...)})
        == "○ table: third, pair: cost not attempted yet; the rest is right"
    )
    assert says(table, RIGHT | {"third": ..., "safe": True}).startswith("✗ table: safe")


def test_one_entry_needs_no_dict(says):
    @entries("both")
    def lines():
        return AnyOf({1: "harmless", 2: "it wraps"}, (2,))

    assert says(lines, {2}) == says(lines, 2) == says(lines, (2,)) == "✓ lines: both"
    assert says(lines, {1, 2}) == "✗ lines: 1 does not belong to them: harmless"
    assert says(lines, {...}) == says(lines, ...) == "○ lines: not attempted yet"


def test_progress_counts_what_is_right_in_each_section(capsys, monkeypatch):
    monkeypatch.setattr(speech, "_heard", {})
    check.progress()
    check.dp_unit(...)
    check.progress()
    check.year_odds({"sure": 0.5253, "factor": 3.3201, "advantage": 0.5370})
    check.year_odds({"sure": 0.5, "factor": 3.3201, "advantage": 0.5370})
    check.progress()
    first, _, begun, right, wrong, *both = capsys.readouterr().out.splitlines()
    assert first == "no answer was checked since this notebook started"
    assert begun == (
        "epsilon_dp: 0 of 7 right; still open: dp_unit, dp_epsilon, dp_belief, dp_means, dp_respond, dp_survey, dp_user"
    )
    assert right.startswith("✓") and wrong.startswith("✗")
    assert both == [begun, "year: 1 of 7 right; still open: year_plan, year_split, year_plant, year_card, year_years, "
                    "year_wrong"]


def test_a_mistake_is_named_only_where_it_is_nearer_than_what_is_right():
    entry = Number(2.7183, "take e", {"that is e rounded down": 2.717})
    with pytest.raises(Wrong, match="rounded down"):
        entry.judge(2.7166)
    entry.judge(2.7180)


# ----------------------------------------------------------------------------------------------- functions on cases

def error(epsilon, people):
    return math.sqrt(2) / epsilon / people


@checker
def my_error(answer):
    on_cases(answer, [(1.0, 10), (0.5, 7)], error, {
        "that is the scale": lambda epsilon, people: 1 / epsilon / people,
        "never on every case": lambda epsilon, people: 1 / (epsilon - 1) / people,
        "people are left out": lambda epsilon, people: math.sqrt(2) / epsilon,
    }, above="too much")
    return "yes"


@pytest.mark.parametrize(("answer", "words"), [
    (error, "✓ my_error: yes"), (lambda e, n: 1 / e / n, "epsilon = 1, people = 10: not 0.1; that is the scale"),
    (lambda e, n: 2**0.5 / e, "people are left out"),
    (lambda e, n: 9.0, "not 9; too much"), (lambda e, n: 0.0, "not 0"),
    (lambda e, n: 1 / n if e == 1 else error(e, n), "that is the scale"),
    (lambda e, n: "x", "people = 10: the result: expected a number"),
    (lambda e: 1, "raised TypeError"), (lambda e, n: print(end=""), "is the `return` missing?"),
    (lambda e, n: math.nan, "finite number"),
])  # fmt: skip
def test_a_function_is_compared_on_all_cases(says, answer, words):
    assert words in says(my_error, answer)


def test_a_function_that_changes_what_it_is_given_is_told():
    def sorts(values):
        values.sort()
        return float(values[0])

    with pytest.raises(Wrong, match="changes what it is given"):
        on_cases(sorts, [(np.array([3.0, 1.0]),)], lambda values: float(values.min()))


def test_arrays_are_compared_by_shape_and_value():
    def doubled(values):
        return 2 * values

    on_cases(lambda values: [2 * v for v in values], [(np.arange(3),)], doubled, shape=lambda values: values.shape)
    with pytest.raises(Wrong, match="expected 3 numbers"):
        on_cases(lambda values: values[:2], [(np.arange(3),)], doubled, shape=lambda values: values.shape)
    with pytest.raises(Wrong, match="not doubled"):
        on_cases(
            lambda v: v, [(np.arange(3),)], doubled, {"not doubled": lambda v: v}, shape=lambda values: values.shape
        )


def test_bad_arguments_must_be_refused():
    def careful(epsilon, delta):
        if not 0 < epsilon < math.inf or not 0 <= delta < 1:
            raise ValueError

        return epsilon

    bad = {"epsilon": (0, -1.0, math.nan, math.inf), "delta": (1, -0.1)}
    refuses(careful, {"epsilon": 1.0, "delta": 0.1}, bad)
    with pytest.raises(Wrong, match="epsilon = 0 was accepted; a ValueError was asked for"):
        refuses(lambda epsilon, delta: epsilon, {"epsilon": 1.0, "delta": 0.1}, bad)
    with pytest.raises(Wrong, match="epsilon = 0 raised ZeroDivisionError; a ValueError was asked for"):
        refuses(lambda epsilon, delta: 1 / epsilon, {"epsilon": 1.0, "delta": 0.1}, bad)


# ----------------------------------------------------------------------------------- what an author declares wrongly

@pytest.mark.parametrize(("declare", "words"), [
    (lambda: AnyOf({"a": "yes"}, ("b",)), "'b' is right, and is not among"),
    (lambda: OneOf(("a", "b"), "c"), "'c' is right, and is not among"),
    (lambda: battery(LAPLACE, Numbers(), [pair("a / b", ())]), "no pair has claims"),
    (lambda: battery(LAPLACE, Numbers(), [pair("a / b", (1.0, 0.0))]), "claims must be a tuple of pairs"),
    (lambda: battery(LAPLACE, Numbers(), [pair("a / b"), pair("a / b")]), "two pairs are called 'a / b'"),
    (lambda: battery(LAPLACE, Numbers(4), [pair("a / b", truth=([0], [1]))]), "truth has 1 numbers, and an output"),
])  # fmt: skip
def test_an_author_is_told_and_no_learner_blamed(declare, words):
    with pytest.raises(Misdeclared, match=words):
        declare()

    @checker
    def badly_declared(answer):
        declare()

    with pytest.raises(Misdeclared):
        badly_declared(1)
