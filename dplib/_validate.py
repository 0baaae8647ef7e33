"""The doors of dplib: each argument of a public function comes in through one of these.

A *public* argument (a privacy parameter, a range, a flag, a choice, what was released, `rng`) that is wrong gets a
ValueError of one line that names it; a wrong type of `rng` gets a TypeError.

*Private* data never decides an error, a warning, a type or a length. `numbers` and `integers` read it cell by cell, and
what is no number becomes a nan, or a 0 among whole numbers. Their messages tell the parameter, the shape and the dtype,
never a value. The dtype of a column counts as public: dates are refused by their dtype.
"""
import math
import numbers as kinds
import operator
import reprlib
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from dplib._types import Array, Rng

LARGEST = sys.float_info.max
MOST_ROWS = 2**53                                # a float holds every whole number up to here
LEAST_RATE = 1e-12                               # noise on whole numbers of a smaller rate would not fit into 64 bits
_WHOLE = np.iinfo(np.int64)
_NO_NUMBERS = "mMcV"                             # kinds of dtype: dates, spans of time, complex numbers, records

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def shown(value: Any) -> str:
    """A public value as a message may show it: on one line, and not long."""
    if getattr(value, "shape", ()):
        return f"{type(value).__name__} of shape {value.shape}"
    try:
        text = " ".join(_short.repr(value).split())
    except Exception:                            # an object may fail to print itself
        text = ""
    return text if 0 < len(text) <= 100 else type(value).__name__


# ------------------------------------------------------------------------------------------- public numbers


def positive(name: str, value: Any, *, least: float = 0.0, most: float = math.inf) -> float:
    """Return `value` as a float; ValueError unless it is a positive, finite number in [least, most], where the digits
    of what is computed with it hold.
    """
    value = _number(name, value)
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must lie in [{least:g}, {most:g}], where the digits hold, got {value!r}")
    return value


def non_negative(name: str, value: Any, *, most: float = math.inf) -> float:
    """Return `value` as a float; ValueError unless it is zero or a positive, finite number of at most `most`."""
    value = _number(name, value)
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be zero or more and finite, got {value!r}")
    if value > most:
        raise ValueError(f"{name} must be at most {most:g}, where the digits hold, got {value!r}")
    return value


def noise_rate(name: str, rate: float) -> float:
    """Return `rate`, epsilon per unit; ValueError if whole-number noise of this rate would not fit into 64 bits."""
    if rate < LEAST_RATE:
        raise ValueError(f"{name} must be at least {LEAST_RATE:g}, got {rate!r}: the noise would not fit into 64 bits")
    return rate


def finite(name: str, value: Any) -> float:
    """Return `value` as a float; ValueError if it is nan or infinite."""
    value = _number(name, value)
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return value


def probability(name: str, value: Any, *, zero: bool = True, least: float = 0.0) -> float:
    """Return `value` as a float; ValueError unless it lies in [0, 1), or in (0, 1) where zero is not allowed, and is at
    least `least`, where the digits of what is computed with it hold.
    """
    value = _number(name, value)
    if not 0 <= value < 1 or (value == 0 and not zero):
        raise ValueError(f"{name} must lie in {'[0, 1)' if zero else '(0, 1)'}, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least:g}, where the digits hold, got {value!r}")
    return value


def share(name: str, value: Any) -> float:
    """Return `value` as a float; ValueError unless it lies in [0, 1]."""
    value = _number(name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    return value


def whole(name: str, value: Any, *, least: int, most: int = MOST_ROWS) -> int:
    """Return `value` as an int; ValueError unless it is a whole number of at least `least` and at most `most`."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {shown(value)}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(number)}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, got {shown(number)}")
    return number


def interval(low: Any, high: Any, *, long: bool = False) -> tuple[float, float]:
    """Return (low, high) as floats; ValueError unless both are finite and low <= high, and low < high where it must be
    `long`.
    """
    low, high = finite("low", low), finite("high", high)
    if low > high or (long and low == high):
        raise ValueError(f"low must {'be below' if long else 'not exceed'} high, got low={low!r}, high={high!r}")
    if long:
        finite("high - low", high - low)
    return low, high


def _number(name, value):
    if isinstance(value, float):
        return float(value)
    try:
        number = isinstance(value, (kinds.Real, Decimal)) and not isinstance(value, bool)
        if number or np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf":
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} must be a number, got {shown(value)}")


# ------------------------------------------------------------------------------------------- other public arguments


def flag(name: str, value: Any) -> bool:
    """Return `value`; ValueError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def choice(name: str, value: Any, options: Sequence) -> Any:
    """Return `value`; ValueError unless it is one of `options`."""
    try:
        if isinstance(value, (str, type)) or np.ndim(value) == 0:
            if any(value is option or value == option for option in options):
                return value
    except (TypeError, ValueError):              # what does not compare is none of them
        pass
    raise ValueError(f"{name} must be one of {', '.join(map(shown, options))}, got {shown(value)}")


def function(name: str, value: Any) -> Callable:
    """Return `value`; ValueError unless it can be called."""
    if not callable(value):
        raise ValueError(f"{name} must be a function, got {shown(value)}")
    return value


def generator(rng: Rng) -> np.random.Generator:
    """A numpy Generator from None, a whole number or a Generator; TypeError for anything else."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and (isinstance(rng, (bool, np.bool_)) or not isinstance(rng, (int, np.integer))):
        raise TypeError(f"rng must be None, a whole number or a numpy.random.Generator, got {shown(rng)}")
    if rng is not None and rng < 0:
        raise ValueError(f"rng must be zero or more, got {shown(rng)}")
    return np.random.default_rng(rng)


def array(
    name: str, value: Any, *, ndim: int | None = None, least: int = 0, low: float = -math.inf, high: float = math.inf,
    gaps: bool = False,
) -> Array:
    """Return public numbers as an array of floats; ValueError unless they are at least `least`, in `ndim` dimensions,
    finite and in [low, high]. With `gaps` they may be missing or infinite.
    """
    cells = _cells(name, value)
    if cells.dtype.kind == "O" and not all(_is_number(cell) or gaps and _is_gap(cell) for cell in cells.ravel()):
        raise ValueError(f"{name} must hold numbers, got dtype {cells.dtype}")
    found = numbers(name, cells, ndim=ndim, least=least)
    if gaps:
        return found
    fits = (found >= max(low, -LARGEST)) & (found <= min(high, LARGEST))
    if not fits.all():
        inside = f" in [{low:g}, {high:g}]" if high < math.inf else " and zero or more" if low == 0 else ""
        raise ValueError(f"{name} must be finite{inside}, and the number at {_first(~fits)} is not")
    return found


def whole_array(
    name: str, value: Any, *, ndim: int | None = None, least: int = 0, low: int = _WHOLE.min, high: int = _WHOLE.max,
) -> Array:
    """Return public whole numbers as an array of int64; ValueError unless they are at least `least`, in `ndim`
    dimensions, of a type of whole numbers and in [low, high].
    """
    cells = _cells(name, value)
    if cells.dtype.kind == "O" and all(isinstance(cell, (int, np.integer)) for cell in cells.ravel()):
        cells = cells.astype(object)
    elif cells.dtype.kind not in "biu":
        raise ValueError(f"{name} must hold whole numbers, got dtype {cells.dtype}")
    if (ndim is not None and cells.ndim != ndim) or cells.size < least:
        raise ValueError(f"{name} must be {_form(ndim, least)}, got shape {cells.shape}")
    fits = (cells >= low) & (cells <= high)
    if not np.all(fits):
        raise ValueError(f"{name} must lie in {low}..{high}, and the number at {_first(~fits)} does not")
    return cells.astype(np.int64)


def bits(name: str, value: Any) -> Array:
    """Return `value` as an array; ValueError unless it is a table of 0 and 1 with at least one row and one column."""
    table = array(name, value, gaps=True)
    if table.ndim != 2 or table.size == 0 or not np.isin(table, (0, 1)).all():
        raise ValueError(f"{name} must be a table of 0 and 1 with at least one row, got shape {table.shape}")
    return table.astype(np.uint8)


def laws(p: Any, q: Any) -> tuple[Array, Array]:
    """Return two laws on the same outcomes as arrays; ValueError unless both are probabilities that sum to 1."""
    both = []
    for name, law in (("p", p), ("q", q)):
        law = array(name, law, ndim=1, gaps=True)
        if not np.all(law >= 0) or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} must be a list of probabilities that sum to 1, got {law.size} numbers")
        both.append(law)
    if both[0].shape != both[1].shape:
        raise ValueError(f"p and q must have the same length, got {both[0].size} and {both[1].size}")
    return both[0], both[1]


def table(name: str, df: Any, columns: Sequence = (), *, least: int = 0) -> pd.DataFrame:
    """Return `df`; ValueError unless it is a DataFrame of at least `least` rows that has each of the columns once."""
    if not isinstance(df, pd.DataFrame):
        raise ValueError(f"{name} must be a DataFrame, got {type(df).__name__}")
    for parameter, column in columns:
        if (found := times(df.columns, column)) != 1:
            raise ValueError(
                f"{parameter} must name a column of {name}, got {shown(column)}, which {name} has "
                f"{'twice' if found else 'not'}"
            )
    if len(df) < least:
        raise ValueError(f"{name} must have at least {least} row{'s' * (least > 1)}, got {len(df)}")
    return df


def _form(ndim, least):
    form = {None: "an array", 0: "a single number", 1: "a vector", 2: "a matrix"}[ndim]
    return f"{form} of at least {least}" if least else form


def _first(wrong):
    return np.argwhere(wrong)[0].tolist()


def listed(name: str, value: Any) -> list:
    """Return the items of `value`, public or private, as a list; ValueError for one text, or for what has no items."""
    try:
        if not isinstance(value, (str, bytes)) and hasattr(type(value), "__iter__"):
            return list(value)
    except TypeError:                            # an array without axes
        pass
    raise ValueError(f"{name} must be a list, got {type(value).__name__}")


def times(items: Sequence, item: Any) -> int:
    """How often `item` is among `items`, whatever it is."""
    try:
        return list(items).count(item) if np.ndim(item) == 0 or isinstance(item, tuple) else 0
    except (TypeError, ValueError):              # neither equal nor not, such as NA
        return 0


# ------------------------------------------------------------------------------------------- private data


def numbers(name: str, value: Any, *, ndim: int | None = None, least: int = 0) -> Array:
    """Return private numbers as an array of floats; ValueError for a wrong shape, or a dtype of dates.

    A number in text counts; any other cell that is no number becomes a nan.
    """
    cells = _cells(name, value)
    if cells.dtype.kind not in "biuf":
        cells = np.array([_as_float(cell) for cell in cells.ravel()], dtype=float).reshape(cells.shape)
    if (ndim is not None and cells.ndim != ndim) or cells.size < least:
        raise ValueError(f"{name} must be {_form(ndim, least)}, got shape {cells.shape}")
    return cells.astype(float, copy=False)


def integers(name: str, value: Any, *, least: int = 0) -> Array:
    """Return private whole numbers as an array of int64; ValueError for fewer than `least`, or a dtype of fractions or
    dates.

    What is beyond 64 bits becomes the nearest that is not; a cell that is no whole number becomes 0.
    """
    cells = _cells(name, value, gap=0)
    if cells.dtype.kind == "f" and isinstance(value, (list, tuple)):
        one_by_one = np.array(value, dtype=object)       # one missing number in a list would make fractions of all
        cells = cells if all(isinstance(cell, float) for cell in one_by_one.ravel()) else one_by_one
    if cells.dtype.kind == "f" and cells.size:
        raise ValueError(f"{name} must hold whole numbers, got dtype {cells.dtype}")
    if cells.size < least:
        raise ValueError(f"{name} must be {_form(None, least)}, got shape {cells.shape}")
    if cells.dtype.kind == "O":
        found = [_as_whole(cell) for cell in cells.ravel()]
        return np.array(found, dtype=np.int64).reshape(cells.shape)
    cells = np.minimum(cells, np.uint64(_WHOLE.max)) if cells.dtype == np.uint64 else cells
    return cells.astype(np.int64, copy=False)


def counts(name: str, value: Any, *, integer: bool = False) -> Array:
    """Return private counts as an array, whole where its dtype is; ValueError if it is empty, of a dtype of dates, or
    of fractions with integer=True.

    What is no number, or below 0, becomes 0; more than 2^53, beyond which a float cannot count, becomes 2^53.
    """
    if integer or _cells(name, value, gap=0).dtype.kind in "biu":
        return np.clip(integers(name, value, least=1), 0, MOST_ROWS)
    return np.clip(np.nan_to_num(numbers(name, value, least=1), nan=0.0, posinf=MOST_ROWS), 0, MOST_ROWS)


def _cells(name, value, gap=math.nan):
    """An array of numbers where the dtype says that they are, else of objects; `gap` stands for what is missing."""
    if type(value) in (float, np.ndarray):       # most often
        pass
    elif isinstance(value, pd.DataFrame):
        value = [_cells(name, value.iloc[:, i], gap) for i in range(value.shape[1])]
        value = np.column_stack(value) if value else np.empty((0, 0))
    elif isinstance(value, np.ma.MaskedArray):
        value = _filled(value, gap)
    elif isinstance(value, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        value = _of_pandas(value, gap)
    elif hasattr(value, "to_pylist"):            # Arrow
        value = value.to_pylist()
    typed = isinstance(value, (np.ndarray, np.generic))
    try:
        cells = np.asarray(value)
        if cells.dtype.kind not in "biuf" and not (typed and cells.dtype.kind in _NO_NUMBERS):
            # cell by cell: one text in a list would make texts of all
            cells = cells.astype(object) if typed else np.array(value, dtype=object)
    except ValueError:
        raise ValueError(f"{name} must be an array, and its rows differ in length") from None
    if cells.dtype.kind in _NO_NUMBERS:
        raise ValueError(f"{name} must hold numbers, got dtype {cells.dtype}")
    return cells


def _filled(masked, gap):
    kind = masked.dtype.kind
    if kind in "biu" and gap == 0:
        return masked.filled(0)
    return masked.astype(float).filled(gap) if kind in "biuf" else masked.astype(object).filled(None)


def _of_pandas(column, gap):
    kind = getattr(column.dtype, "kind", "O")
    if isinstance(column.dtype, np.dtype) or kind not in "biufmM":
        return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.to_numpy(dtype=object)
    if kind in "mM":
        return np.empty(0, dtype=f"{kind}8[ns]")     # refused for its dtype
    whole = {"b": bool, "i": np.int64, "u": np.uint64}.get(kind, float) if gap == 0 else float
    return column.to_numpy(dtype=whole, na_value=whole(gap))


def _is_number(cell):
    return isinstance(cell, (kinds.Real, Decimal, np.bool_))


def _is_gap(cell):
    return cell is None or cell is pd.NA or cell is pd.NaT


def _as_float(cell):
    try:
        return float(cell) if _is_number(cell) or isinstance(cell, str) else math.nan
    except OverflowError:
        return math.inf if cell > 0 else -math.inf
    except Exception:                            # whatever a cell does, it is no number
        return math.nan


def _as_whole(cell):
    if not isinstance(cell, (int, np.integer)):
        number = _as_float(cell)
        cell = number if math.isfinite(number) and number == math.floor(number) else 0
    return min(max(int(cell), _WHOLE.min), _WHOLE.max)
