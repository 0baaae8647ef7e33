"""Checks of public parameters. Nothing here may ever look at private data: an error would tell about it."""
import math
import operator


def positive(name, value):
    """Return `value` as a float; ValueError unless it is a positive, finite number."""
    value = _number(name, value)
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return value


def non_negative(name, value):
    """Return `value` as a float; ValueError unless it is zero or a positive, finite number."""
    value = _number(name, value)
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be zero or more and finite, got {value!r}")
    return value


def finite(name, value):
    """Return `value` as a float; ValueError if it is nan or infinite."""
    value = _number(name, value)
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return value


def probability(name, value, *, zero=True):
    """Return `value` as a float; ValueError unless it lies in [0, 1), or in (0, 1) where zero is not allowed."""
    value = _number(name, value)
    if not 0 <= value < 1 or (value == 0 and not zero):
        raise ValueError(f"{name} must lie in {'[0, 1)' if zero else '(0, 1)'}, got {value!r}")
    return value


def whole(name, value, *, least):
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


def interval(low, high):
    """Return (low, high) as floats; ValueError unless both are finite and low <= high."""
    low, high = finite("low", low), finite("high", high)
    if low > high:
        raise ValueError(f"low must not exceed high, got low={low!r}, high={high!r}")
    return low, high


def _number(name, value):
    try:
        if not isinstance(value, (str, bytes)):  # float("1.0") is a number to Python, and a slip in a call
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} must be a number, got {value!r}")
