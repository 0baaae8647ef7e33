"""What a checker does with answers of any kind: it says one line, and never raises."""
import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from provable_privacy.battery import Choice, Labels, Lines, Numbers, Pair, battery, laws
from provable_privacy.speech import Wrong, answered, ask, checker, compare_number, number, numbers


def judged(form, one, two):
    @checker
    def some_check(answer):
        return battery(answer, form, [Pair("a / b", (one,), (two,), ((1.0, 0.0),), runs=800)])

    return some_check


class Rude(Exception):
    def __str__(self):
        raise RuntimeError


class Hostile:
    """An object whose every look fails."""

    def __repr__(self):
        raise Rude

    __eq__ = __hash__ = __bool__ = __float__ = __len__ = __iter__ = __array__ = __getitem__ = __call__ = __repr__


def endless(*arguments):
    return endless(*arguments)


def raises(error):
    def function(*arguments):
        raise error

    return function


def loud(value, rng):
    print("so far", value)
    return float(np.sum(value)) + rng.laplace()


def closes(value, rng):
    sys.stdout.close()
    return 1.0


CYCLE = []
CYCLE.append(CYCLE)
OUTPUTS = [
    Hostile(),
    object(),
    CYCLE,
    {},
    {"a": Hostile()},
    {"a": "many"},
    "1.5",
    b"1",
    10**400,
    1j,
    Decimal("NaN"),
    Decimal("0.5"),
    Fraction(1, 3),
    set(),
    [[1], [1, 2]],
    (i for i in range(3)),
    np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    np.ma.masked,
    np.datetime64("2024-01-01"),
    np.array("x", dtype=object),
    np.zeros((2, 0)),
    [None, None],
    NotImplemented,
    float,
    lambda: 1,
    range(2),
    memoryview(b"12"),
]
ODD = [
    Hostile(),
    Hostile,
    object(),
    7,
    "text",
    CYCLE,
    endless,
    raises(Rude()),
    raises(SystemExit(3)),
    raises(StopIteration()),
    closes,
    (i for i in range(3)),
    *(lambda *arguments, got=got: got for got in OUTPUTS),
]


@pytest.mark.parametrize(
    "form, one, two",
    [
        (Numbers(), 0.0, 1.0),
        (Numbers(2), np.zeros(2), np.eye(2)[0]),
        (Choice(("a", None)), 0.0, 1.0),
        (Labels(2, 3), np.zeros(2, int), np.eye(2, dtype=int)[0]),
        (Lines(("a", "b")), {"a": 1}, {"a": 2}),
    ],
)
def test_an_odd_answer_gets_one_line(capsys, form, one, two):
    check, signs = judged(form, one, two), ""
    for answer in ODD:
        check(answer)
        line = capsys.readouterr().out
        assert line.count("\n") == 1 and line[1:].startswith(" some_check: "), line
        signs += line[0]
    assert set(signs) <= {"✗", "✓"} and signs.count("✓") <= 4            # a constant that may come out is private


def test_what_an_answer_prints_or_sets_does_not_stay(capsys):
    def sets(value, rng):
        np.random.seed(3)  # noqa: NPY002
        np.seterr(all="raise")
        np.set_printoptions(precision=1)
        return float(value) + rng.laplace()

    before = np.random.get_state()[1].tolist(), np.geterr(), np.get_printoptions()  # noqa: NPY002
    for answer in (loud, sets):
        judged(Numbers(), 0.0, 1.0)(answer)
        line = capsys.readouterr().out
        assert line.count("\n") == 1 and line.startswith("✓ some_check: "), line
    assert (np.random.get_state()[1].tolist(), np.geterr(), np.get_printoptions()) == before  # noqa: NPY002


def test_a_call_that_raises_is_shown():
    def divide(rows, most, epsilon, query, rng):
        raise ZeroDivisionError("division by zero")

    rest = 1 / 3, sum, np.random.default_rng(1)
    with pytest.raises(Wrong) as small:
        ask(divide, np.arange(3), np.int64(0), *rest)
    assert (
        str(small.value)
        == "your function raised ZeroDivisionError: division by zero "
        "(called with rows = [0, 1, 2], most = 0, epsilon = 0.333333)"
    )
    with pytest.raises(Wrong, match=r"rows = a list of 5,000, most = inf, epsilon = 0.333333\)"):
        ask(divide, [7] * 5000, math.inf, *rest)
    with pytest.raises(Wrong, match="rows = an array of 5,000, most"):
        ask(divide, np.zeros((5000, 2)), True, *rest)
    with pytest.raises(Wrong, match=r"missing\? Or was it not reached"):
        answered(lambda values: None if values else 1, [3])
    with pytest.raises(Wrong, match="TypeError.*positional argument[^(]*$"):
        ask(divide, 1)


def test_numbers_of_other_kinds_are_read():
    for value in (Decimal("0.5"), Fraction(1, 2), np.float32(0.5), [0.5], np.array(0.5), np.array([Decimal("0.5")])):
        assert number(value, "it") == 0.5
    assert numbers(range(3), (3,), "they").tolist() == [0, 1, 2]
    for value in ("0.5", ["0.5"], 1j, np.datetime64("2024-01-01"), 10**400, None):
        with pytest.raises(Wrong):
            number(value, "it")


@pytest.mark.parametrize(
    "said, right, rounded",
    [
        (999, 1000, False),
        (1000, 999, False),
        (250, 251, False),
        (1.23, 1.23456, True),
        (1200, 1234.5, True),
        (0.33, 1 / 3, True),
        (0.3, 1 / 3, False),
    ],
)
def test_only_a_rounded_number_is_called_rounded(said, right, rounded):
    with pytest.raises(Wrong) as told:
        compare_number(said, right, "it", tolerance=1e-6)
    assert ("rounded too far" in str(told.value)) == rounded


@pytest.mark.parametrize(
    "said, right, tolerance, digits",
    [
        (1.23, 1.23456, 1e-3, "give 3 digits after the point"),
        (10840, 10844.6, 0.05, "1 digit after"),
        (1200, 1234.5, 6, "give all digits before the point"),
    ],
)
def test_as_many_digits_are_asked_for_as_the_tolerance_needs(said, right, tolerance, digits):
    with pytest.raises(Wrong, match=digits):
        compare_number(said, right, "it", tolerance=tolerance)


@pytest.mark.parametrize(
    "law, runs",
    [([0.5, 0.5], 50), ([0.9, 0.06, 0.04], 200), ([0.99, 0.004, 0.003, 0.003], 2000), (np.full(20, 0.05), 400)],
)
def test_the_bound_on_a_law_is_a_bound(law, runs):
    counts = np.random.default_rng(5).multinomial(runs, law, 20_000)
    p = np.array([laws.p_value(row, law) for row in counts])
    for level in (0.1, 1e-2, 1e-3):
        assert np.mean(p < level) <= level + 5 * math.sqrt(level / 20_000)
    shifted = np.random.default_rng(6).multinomial(20 * runs, np.roll(law, 1) * 0.3 + np.array(law) * 0.7, 1)[0]
    assert np.ptp(law) < 1e-9 or laws.p_value(shifted, law) < 1e-9


def test_two_outcomes_are_bounded_even_at_tiny_levels():
    """The exact chance of all counts whose bound is below the level, where chi-square has failed."""
    from scipy.stats import binom

    n, q = 5000, 0.001
    for level in (1e-6, 1e-9):
        counts = np.arange(200)
        refused = np.array([laws.p_value(np.array([n - k, k]), [1 - q, q]) < level for k in counts])
        assert binom.pmf(counts, n, q)[refused].sum() + binom.sf(199, n, q) <= level
        chi_square = (counts - n * q) ** 2 / (n * q * (1 - q)) > {1e-6: 23.93, 1e-9: 37.32}[level]
        assert binom.pmf(counts, n, q)[chi_square].sum() > 30 * level
