"""The kinds of leaks that a checker looks for: what its pairs show, and what it may declare."""
import math

import numpy as np
import pytest

from provable_privacy.battery import Crowd, Lines, Numbers, Pair, battery, looks_for
from provable_privacy.battery.kinds import KINDS, known, shown
from provable_privacy.speech import Misdeclared


def mean(table, low, epsilon, rng):
    """An answer; only its parameters are looked at."""


def pair(one, two, epsilon=1.0, **settings):
    return Pair(f"{one} / {two}", (one, -0.5, epsilon), (two, -0.5, epsilon), ((7 * epsilon, 0.0),), **settings)


COINS = Crowd("a / b", None, None, 6000, ((0.2, 0.0),), (0, 1), calls=4)
SHOWN = [
    (Numbers(), pair([1], [2]), set()),
    (Numbers(), pair([1], [2, 3]), {"size"}),
    (Numbers(), pair(np.array([]), np.array([2.0])), {"size", "empty"}),
    (Numbers(), pair({"a": 1.5}, {"a": 2}), {"fractions"}),
    (Numbers(), pair([("a", 1)], [("a", -1)]), {"negative"}),
    (Numbers(), pair([1.0], [math.nan]), {"missing"}),
    (Numbers(), pair([1], [2], 0.3), {"small"}),
    (Numbers(), pair([1], [2], 2.0), {"large"}),
    (Numbers(), pair([1], [2], twice=100), {"calls"}),
    (Numbers(), pair([1], [2], looks=("far", "straddles")), {"far", "straddles"}),
    (Numbers(3), pair([1], [2]), {"shared"}),
    (Lines(("a", "b")), pair([1], [2]), {"shared", "order"}),
]


@pytest.mark.parametrize(("form", "at", "kinds"), SHOWN)
def test_what_a_pair_shows(form, at, kinds):
    assert shown(mean, form, [at]) == {"type"} | kinds
    assert shown(mean, lambda pair: form, [at]) == {"type"} | kinds


def test_what_a_crowd_shows():
    assert shown(mean, Numbers(), [], [COINS]) == {"shared", "zero", "small"}


def test_without_a_name_for_epsilon_the_claims_tell_it():
    assert "large" in shown(lambda table, low, e, rng: 0, Numbers(), [pair([1], [2], 0.3)])


def test_a_checker_declares_the_rest():
    @looks_for("far", order="one number comes out")
    def judge(answer):
        """A checker."""

    assert judge.kinds == ("far",) and judge.senseless == {"order": "one number comes out"}


@pytest.mark.parametrize("declare", [
    lambda: looks_for("fra"), lambda: looks_for(oder="one number"), lambda: looks_for("far", far="never"),
    lambda: looks_for(order=True),
    lambda: known(("size", "no such kind")),
    lambda: battery(mean, Numbers(), [pair([1], [2], looks=("fra",))]),
])  # fmt: skip
def test_a_declaration_that_nobody_understands_is_told_to_its_author(declare):
    with pytest.raises(Misdeclared):
        declare()


def test_each_kind_is_said_in_words():
    assert all(words[0].islower() and not words.endswith(".") for words in KINDS.values())
