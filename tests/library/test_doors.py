"""Whatever is put in the place of an argument: each public function gives a right answer, or an error of one line that
names the argument and tells nothing of private data."""
import datetime
import math
import pickle
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from test_validation import BY_ANOTHER_NAME, RIGHT, permanent

from dplib import _validate as doors
from dplib import audit, budget, data_dependent, engine, mechanisms, sensitivity

SECRET = 271828                                  # stands in private data, and in no message
SECRETS = re.compile(r"271828|271,828|2\.7e\+05|hush")

# what a caller may put by mistake, each made anew
ODD = {
    "None": lambda: None,
    "True": lambda: True,
    "text": lambda: "hush",
    "number as text": lambda: "271828",
    "empty text": lambda: "",
    "bytes": lambda: b"hush",
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "0": lambda: 0,
    "-1": lambda: -1,
    "half": lambda: 2.5,
    "tiny": lambda: 1e-320,
    "small": lambda: 1e-300,
    "huge": lambda: 1e308,
    "-huge": lambda: -1e308,
    "too long for a float": lambda: 10**400,
    "too long for 64 bits": lambda: 2**63,
    "complex": lambda: 1j,
    "decimal": lambda: Decimal("0.25"),
    "decimal nan": lambda: Decimal("NaN"),
    "fraction": lambda: Fraction(1, 4),
    "float32": lambda: np.float32(0.25),
    "int8": lambda: np.int8(1),
    "uint8": lambda: np.uint8(255),
    "bool of numpy": lambda: np.bool_(True),
    "date": lambda: datetime.date(2026, 1, 1),
    "datetime64": lambda: np.datetime64("2026-01-01"),
    "timestamp": lambda: pd.Timestamp("2026-01-01"),
    "NA": lambda: pd.NA,
    "NaT": lambda: pd.NaT,
    "no list": lambda: [],
    "list of None": lambda: [None],
    "ragged": lambda: [[1.0], [1.0, SECRET]],
    "mixed": lambda: [SECRET, "hush", None],
    "texts": lambda: ["hush", "b"],
    "nans": lambda: [math.nan, SECRET, math.inf],
    "negative": lambda: [-1.0, SECRET],
    "long whole": lambda: [10**30, -(10**30)],
    "tuple": lambda: (1, 2),
    "dict": lambda: {"hush": SECRET},
    "empty dict": dict,
    "set": lambda: {SECRET},
    "object": object,
    "function": lambda: abs,
    "type": lambda: int,
    "ellipsis": lambda: ...,
    "iterator": lambda: iter([1.0, None, "hush"]),
    "range": lambda: range(3),
    "empty array": lambda: np.array([]),
    "array of one": lambda: np.array([0.25]),
    "array without axes": lambda: np.array(0.25),
    "matrix": lambda: np.full((2, 2), SECRET),
    "cube": lambda: np.zeros((2, 1, 2)),
    "array of texts": lambda: np.array(["hush", "b"]),
    "array of objects": lambda: np.array([SECRET, None, "hush"], dtype=object),
    "array of dates": lambda: np.array(["2026-01-01", "NaT"], dtype="M8[D]"),
    "array of records": lambda: np.zeros(2, dtype="i4,f8"),
    "complex array": lambda: np.array([1j, SECRET]),
    "int8 array": lambda: np.array([3, -1], dtype=np.int8),
    "masked": lambda: np.ma.array([SECRET, 2.0], mask=[True, False]),
    "nullable": lambda: pd.Series([SECRET, pd.NA], dtype="Int64"),
    "series": lambda: pd.Series([float(SECRET), np.nan]),
    "series of texts": lambda: pd.Series(["hush", None]),
    "series of dates": lambda: pd.Series(pd.to_datetime(["2026-01-01", None])),
    "categories": lambda: pd.Series([SECRET, 2, None], dtype="category"),
    "index": lambda: pd.Index([SECRET, 2]),
    "several levels": lambda: pd.Series([SECRET, 3], index=pd.MultiIndex.from_tuples([("hush", 1), ("b", 2)])),
    "empty frame": pd.DataFrame,
    "frame": lambda: pd.DataFrame({"hush": [SECRET, 2]}),
    "frame with a column twice": lambda: pd.DataFrame([[SECRET, 2]], columns=["a", "a"]),
    "old generator": lambda: np.random.RandomState(0),
    "generator": lambda: np.random.default_rng(0),
}
# an error of the caller's own function goes through: here only what is no function, and no data for one
CALLED = {"run", "aggregate", "estimate", "query", "ask", "cost"}
GIVEN_TO_IT = {(sensitivity.empirical, "table"), (sensitivity.empirical, "universe"), (audit.planted, "table"),
               (data_dependent.sample_and_aggregate, "values"), (permanent, "values")}
# private data, of which no message may tell; the rest is public
PRIVATE = {"value", "values", "scores", "counts", "df", "x", "distance", "data", "neighbour", "records", "record"}
PUBLIC_VALUE = {engine.bounded_sql, engine.kept_sql, engine.condition}
ALIASES = BY_ANOTHER_NAME | {
    "sensitivity": "sensitivity|sigma", "k1": "k1|n", "k2": "k2|n", "n": r"\bn\b|k1|k2", "levels": "levels|branching",
    "counts": "counts|count|bins", "run": "run", "queries": "queries|answers", "neighbours": "neighbours|answers",
    "schema": "schema|column",
}


def calls():
    for function, right in RIGHT.items():
        for name in right:
            for odd, make in ODD.items():
                if name in CALLED and callable(make()) or (function, name) in GIVEN_TO_IT:
                    continue
                yield function, name, odd, make


def outcome(function, name, make):
    """None for an answer or a clear refusal, else what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            function(**{**RIGHT[function], name: make()})
        except (ValueError, TypeError) as error:
            if not isinstance(error, ValueError) and name != "rng":
                return f"{type(error).__name__}: {error}"
            text = str(error)
            if "\n" in text or len(text) > 300:
                return f"long: {text[:200]!r}"
            if not re.search(ALIASES.get(name, rf"\b{re.escape(name)}\b"), text):
                return f"does not name {name}: {text}"
            if name in PRIVATE and function not in PUBLIC_VALUE and SECRETS.search(text):
                return f"tells: {text}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"




@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_whatever_stands_in_an_argument_there_is_an_answer_or_an_error_that_names_it(function):
    unclear = {(name, odd): wrong for one, name, odd, make in calls() if one is function
               if (wrong := outcome(function, name, make))}
    assert not unclear


def test_the_table_sees_an_unclear_error_and_a_message_that_tells():
    def careless(values, *, epsilon=1.0):
        if np.ndim(values) == 0:
            raise ValueError(f"values must be a vector, got {values!r}")
        return [1.0][epsilon]

    RIGHT[careless] = {"values": [1.0], "epsilon": 0}
    try:
        assert outcome(careless, "values", ODD["number as text"]).startswith("tells")
        assert outcome(careless, "epsilon", ODD["text"]).startswith("TypeError")
        assert outcome(careless, "epsilon", ODD["0"]) is None
    finally:
        del RIGHT[careless]


# --- the doors themselves

def same(found, wanted):
    assert found.dtype == np.asarray(wanted).dtype and np.array_equal(found, wanted, equal_nan=found.dtype == float)


COLUMNS = [
    ([1, None], [1, math.nan]), ([1, "2", "two"], [1, 2, math.nan]), (pd.Series(["1", None]), [1, math.nan]),
    (pd.Series(["1", "x"], dtype=object), [1, math.nan]), (pd.Series([1, pd.NA], dtype="Int64"), [1, math.nan]),
    (pd.Series([1.5, pd.NA], dtype="Float64"), [1.5, math.nan]),
    (pd.Series([True, pd.NA], dtype="boolean"), [1, math.nan]),
    (pd.Series([7, None, 7], dtype="category"), [7, math.nan, 7]), (np.ma.array([1, 2], mask=[0, 1]), [1, math.nan]),
    (np.ma.array([1.5, 2], mask=[0, 1]), [1.5, math.nan]), ([10**30, 10**400, -(10**400)], [1e30, math.inf, -math.inf]),
    ([Decimal("1.5"), Fraction(1, 4)], [1.5, 0.25]), ([datetime.date(2026, 1, 1), 3], [math.nan, 3]),
    ([np.datetime64("2026-01-01"), 3], [math.nan, 3]), ([1 + 2j, 3], [math.nan, 3]),
    (np.array(["1", "x"]), [1, math.nan]),
    (pd.DataFrame({"a": [1, 2], "b": ["x", "3"]}), [[1, math.nan], [2, 3]]), (range(3), [0, 1, 2]),
]


@pytest.mark.parametrize("column, read", COLUMNS, ids=lambda part: type(part).__name__)
def test_private_numbers_are_read_cell_by_cell(column, read):
    same(doors.numbers("x", column), np.array(read, dtype=float))


def test_private_whole_numbers_are_read_cell_by_cell():
    for column, read in (
        ([3, None], [3, 0]), ([3, math.nan], [3, 0]), ([3, "4", "x"], [3, 4, 0]), ([2**64 - 1, 1], [2**63 - 1, 1]),
        ([10**30, -(10**30)], [2**63 - 1, -(2**63)]), (np.array([2**64 - 1], dtype=np.uint64), [2**63 - 1]),
        (pd.Series([3, pd.NA], dtype="UInt64"), [3, 0]), (pd.Series([True, pd.NA], dtype="boolean"), [1, 0]),
        (np.ma.array([3, 9], mask=[0, 1]), [3, 0]), (pd.Series([3, 4], dtype="category"), [3, 4]),
        (np.array([3, -1], dtype=np.int8), [3, -1]), ([True, 2], [1, 2]),
    ):
        same(doors.integers("x", column), np.array(read, dtype=np.int64))


def test_a_type_is_public_and_refused_in_one_line():
    dates = pd.Series(pd.to_datetime(["2026-01-01", None]))
    for column in (dates, dates.dt.tz_localize("UTC"), dates.to_numpy(), dates - dates, pd.DataFrame({"a": dates}),
                   np.array([1j]), np.zeros(2, dtype="i4,f8")):
        for door in (doors.numbers, doors.integers, doors.counts, doors.array):
            with pytest.raises(ValueError, match="^x must hold numbers, got dtype [^\n]*$"):
                door("x", column)
    for column in (1.0, [0.5, 2.0], np.array([2.0]), pd.Series([1.0, 2.0], dtype="Float64")):
        with pytest.raises(ValueError, match="^x must hold whole numbers, got dtype float64$"):
            doors.integers("x", column)


def test_one_cell_changes_only_its_own_number():
    """Whatever one person's cell holds, all others are read as before, and the length and type stay."""
    for odd, make in ODD.items():
        cell = make()
        if isinstance(cell, (str, bytes)) or not hasattr(cell, "__len__"):
            for column in ([1, 2, cell], pd.Series([1, 2, cell], dtype=object), np.array([1, 2, cell], dtype=object)):
                for door in (doors.numbers, doors.integers, doors.counts):
                    read = door("x", column)
                    assert read.shape == (3,) and read[:2].tolist() == [1, 2], odd


def test_arrow_columns_are_read_as_all_others():
    arrow = pytest.importorskip("pyarrow")
    dictionary = arrow.DictionaryArray.from_arrays(arrow.array([0, 1, 0, 2]), arrow.array([5, 7, 5]))
    for column, read in (
        (arrow.array([1, None]), [1, math.nan]), (arrow.array(["1", "x"]), [1, math.nan]), (dictionary, [5, 7, 5, 5]),
        (pd.Series([1, None], dtype="int64[pyarrow]"), [1, math.nan]),
        (pd.Series([True, None], dtype="bool[pyarrow]"), [1, math.nan]),
        (pd.Series(pd.arrays.ArrowExtensionArray(dictionary)), [5, 7, 5, 5]),
    ):
        same(doors.numbers("x", column), np.array(read, dtype=float))
        same(doors.integers("x", column), np.nan_to_num(read).astype(np.int64))


@pytest.mark.parametrize("rng", [True, "seed", 1.0, [1, 2], np.random.RandomState(0), np.random.PCG64(0)])
def test_a_wrong_type_of_rng_is_a_type_error(rng):
    with pytest.raises(TypeError, match="^rng must be None, a whole number or a numpy.random.Generator"):
        mechanisms.laplace(0.0, sensitivity=1, epsilon=1, rng=rng)


def test_a_negative_seed_is_a_value_error():
    with pytest.raises(ValueError, match="^rng must be zero or more, got -1$"):
        mechanisms.laplace(0.0, sensitivity=1, epsilon=1, rng=-1)


def test_only_a_bool_is_a_flag():
    for bad in ("False", 0, 1, None, [], np.array([True])):
        with pytest.raises(ValueError, match="^monotone must be True or False"):
            mechanisms.exponential([1.0], sensitivity=1, epsilon=1, monotone=bad)
    assert mechanisms.exponential([1.0], sensitivity=1, epsilon=1, monotone=np.True_) == 0


def test_a_refusal_can_be_kept_and_sent():
    refusal = pickle.loads(pickle.dumps(budget.BudgetExceeded("epsilon", 2.0, 1.0)))
    assert (str(refusal), refusal.requested, refusal.remaining) == (
        str(budget.BudgetExceeded("epsilon", 2.0, 1.0)), 2.0, 1.0)
