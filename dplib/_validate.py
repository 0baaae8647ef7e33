"""Checks of public parameters. Nothing here may ever look at private data: an error would tell about it."""
import math
import operator
import sys
from typing import Any

import numpy as np

from dplib._types import Array

LARGEST = sys.float_info.max
LEAST_RATE = 1e-12                               # noise on whole numbers of a smaller rate would not fit into 64 bits


def positive(name: str, value: Any) -> float:
    """Return `value` as a float; ValueError unless it is a positive, finite number."""
    value = _number(name, value)
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return value


def non_negative(name: str, value: Any) -> float:
    """Return `value` as a float; ValueError unless it is zero or a positive, finite number."""
    value = _number(name, value)
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be zero or more and finite, got {value!r}")
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


def probability(name: str, value: Any, *, zero: bool = True) -> float:
    """Return `value` as a float; ValueError unless it lies in [0, 1), or in (0, 1) where zero is not allowed."""
    value = _number(name, value)
    if not 0 <= value < 1 or (value == 0 and not zero):
        raise ValueError(f"{name} must lie in {'[0, 1)' if zero else '(0, 1)'}, got {value!r}")
    return value


def share(name: str, value: Any) -> float:
    """Return `value` as a float; ValueError unless it lies in [0, 1]."""
    value = _number(name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    return value


def whole(name: str, value: Any, *, least: int) -> int:
    """Return `value` as an int; ValueError unless it is a whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def choice(name, value, options):
    """Return `value`; ValueError unless it is one of `options`."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value


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


def array(
    name: str, value: Any, *, ndim: int | None = None, least: int = 0, low: float | None = None,
    high: float | None = None,
) -> Array:
    """Return `value` as an array of floats; ValueError unless it holds numbers, in `ndim` dimensions, and at least
    `least` of them.

    Of private numbers nothing else may be asked. With `low` or `high` all must be finite and in this range (-inf and
    inf: any finite number).
    """
    numbers = np.asarray(value)
    try:
        if numbers.dtype.kind not in "biuf":
            numbers = _objects(value, numbers)
        numbers = numbers.astype(float, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got dtype {numbers.dtype}") from None
    if (ndim is not None and numbers.ndim != ndim) or numbers.size < least:
        form = {None: "an array", 1: "a vector", 2: "a matrix"}[ndim]
        raise ValueError(f"{name} must be {form}{f' of at least {least}' if least else ''}, got shape {numbers.shape}")
    if low is not None or high is not None:
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        if numbers.size and not (max(low, -LARGEST) <= numbers.min() and numbers.max() <= min(high, LARGEST)):
            inside = f" in [{low:g}, {high:g}]" if high < math.inf else " and zero or more" if low == 0 else ""
            raise ValueError(f"{name} must be finite{inside}, got {value!r}")
    return numbers


def integers(name: str, value: Any) -> Array:
    """Return `value` as an array; ValueError unless it is of an integer type or bool."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "biu":
        raise ValueError(f"{name} must hold integers, got dtype {numbers.dtype}")
    return numbers


def bits(name: str, value: Any) -> Array:
    """Return `value` as an array; ValueError unless it is a table of 0 and 1 with at least one row and one column."""
    table = np.asarray(value)
    if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise ValueError(
            f"{name} must be a table of 0 and 1 with at least one row, got dtype {table.dtype} and shape {table.shape}"
        )
    return table


def laws(p: Any, q: Any) -> tuple[Array, Array]:
    """Return two laws on the same outcomes as arrays; ValueError unless both are probabilities that sum to 1."""
    both = []
    for name, law in (("p", p), ("q", q)):
        law = array(name, law, ndim=1)
        if not np.all(law >= 0) or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} must be a list of probabilities that sum to 1, got {law!r}")
        both.append(law)
    if both[0].shape != both[1].shape:
        raise ValueError(f"p and q must have the same length, got {both[0].size} and {both[1].size}")
    return both[0], both[1]


def _number(name, value):
    try:
        if not isinstance(value, (str, bytes)):  # float("1.0") is a number to Python, and a slip in a call
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} must be a number, got {value!r}")


def _objects(value, numbers):
    """Numbers among them that numpy does not know for numbers, such as pandas' missing value, which becomes a nan."""
    if numbers.dtype.kind != "O":
        raise TypeError
    return value.to_numpy(dtype=float, na_value=np.nan) if hasattr(value, "to_numpy") else numbers
