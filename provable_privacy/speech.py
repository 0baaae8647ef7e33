"""How a checker speaks: ○ not attempted, ✓ right, ✗ with the reason. It never raises because of an answer."""

import contextlib
import dis
import functools
import inspect
import io
import math
import numbers as numbers_
import types
import warnings

import numpy as np

from provable_privacy import languages
from provable_privacy.languages import speak

__all__ = [
    "CHECKERS",
    "NotAttempted",
    "Wrong",
    "answered",
    "ask",
    "checker",
    "compare_number",
    "is_stub",
    "listen",
    "number",
    "numbers",
    "of",
    "progress",
    "speak",
]


class Wrong(Exception):
    """The answer is wrong; the message says why, to the learner."""


class NotAttempted(Exception):
    """There is no answer yet, or none for the part that is named."""


class Misdeclared(Exception):
    """The exercise itself is declared wrongly: a message for its author, and no fault of an answer."""


class OnlyInPart(NotAttempted):
    """There is no answer yet for the part that is named, and the rest is right."""


CHECKERS: dict[str, str] = {}  # name -> the module of its section, in the order in which the section asks
_listeners = [print]
_heard: dict[str, bool] = {}  # name -> whether an answer was right, of the checkers that were asked by this kernel
_noted: list = []  # where `ask` puts what answers return, while somebody wants to see it before it is read


def listen(listener):
    """Let `listener(line)` hear what checkers say from now on, instead of the terminal."""
    _listeners[:] = [listener]


def checker(judge):
    """Make a checker of `judge(answer)`, which returns a word of praise or raises `Wrong` or `NotAttempted`.

    `Misdeclared` alone goes through to the caller.
    """
    name = judge.__name__
    CHECKERS[name] = judge.__module__

    def verdict(answer):
        try:
            if answer is None or answer is ...:
                raise NotAttempted
            return "✓", str(judge(answer))
        except OnlyInPart as parts:
            return "○", f"{parts} not attempted yet; the rest is right"
        except NotAttempted as part:
            return "○", f"{part} not attempted yet" if str(part) else "not attempted yet"
        except Wrong as reason:
            return "✗", str(reason)
        except Misdeclared:
            raise
        except (Exception, SystemExit) as error:
            return "✗", f"your answer does not have the expected form, checking it raised {_words(error)}"

    @functools.wraps(judge)
    def check(answer):
        drawn = np.random.get_state()  # noqa: NPY002
        # thousands of calls must not print thousands of lines, nor leave numpy changed
        with (
            warnings.catch_warnings(action="ignore"),
            np.errstate(),
            np.printoptions(),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            mark, words = verdict(answer)
        np.random.set_state(drawn)  # noqa: NPY002
        _heard[name] = _heard.get(name, False) or mark == "✓"
        _listeners[0](f"{mark} {name}: {languages.said(' '.join(words.splitlines()))}")

    return check


def progress():
    """Say how many exercises are right so far, of each section of which an answer was checked by this kernel."""
    for section in dict.fromkeys(CHECKERS[name] for name in _heard):
        names = [name for name, module in CHECKERS.items() if module == section]
        missing = ", ".join(name for name in names if not _heard.get(name))
        right = f"{section.rpartition('.')[2]}: {sum(_heard.get(name, False) for name in names)} of {len(names)} right"
        _listeners[0](languages.said(f"{right}; still open: {missing}" if missing else right))
    if not _heard:
        _listeners[0](languages.said("no answer was checked since this notebook started"))


def _words(error):
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an exception of the learner's own, whose text fails
        return type(error).__name__


def ask(function, *arguments, **keywords):
    """What the learner's function returns; `Wrong` if it raises, `NotAttempted` if it is still the stub."""
    if not callable(function):
        raise Wrong(f"expected a function, got {type(function).__name__}")
    try:
        result = function(*arguments, **keywords)
    except NotImplementedError:
        raise NotAttempted from None
    except (Exception, SystemExit) as error:
        called = _called(function, arguments, keywords)
        reason = f"your function raised {_words(error)}"
        raise Wrong(f"{reason} (called with {called})" if called else reason) from None
    if result is ... or result is None and is_stub(function):
        raise NotAttempted
    if _noted:
        _noted[-1].append(result)
    return result


@contextlib.contextmanager
def noting(results):
    """What answers return to `ask` goes into the list `results` too."""
    _noted.append(results)
    try:
        yield
    finally:
        _noted.pop()


def _called(function, arguments, keywords):
    """Which call failed, in few words: numbers, texts and small tables by value, large ones by their size."""
    try:
        given = inspect.signature(function).bind(*arguments, **keywords).arguments
        parts = [f"{name} = {shown}" for name, value in given.items() if (shown := _shown(value))]
    except Exception:  # an odd callable, too many arguments, or a repr that fails
        return ""
    return ", ".join(parts)


def _shown(value):
    """A value that fits into a line, or the size of a larger one; "" for what says nothing, such as a function."""
    if isinstance(value, (np.ndarray, np.generic)):
        value, kind = value.tolist(), "array"
    else:
        kind = type(value).__name__
    if not isinstance(value, (bool, numbers_.Real, str, list, tuple)):
        return ""
    text = (
        f"{value:.6g}" if isinstance(value, float) else str(value) if isinstance(value, numbers_.Real) else repr(value)
    )
    if len(text) <= 60:
        return text
    return (
        f"{'an' if kind == 'array' else 'a'} {kind} of {len(value):,}"
        if isinstance(value, (list, tuple))
        else f"{text[:50]}…"
    )


def is_stub(function):
    """Whether a function (or a method of a class) has no body yet.

    It may hold a docstring, `pass`, `...`, or names that are set to `...`.
    """
    if isinstance(function, type):
        return any(is_stub(method) for method in vars(function).values() if isinstance(method, types.FunctionType))
    function = getattr(function, "func", function)  # functools.partial
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and _empty(code)


@functools.lru_cache
def _empty(code):
    idle = {"RESUME", "NOP", "CACHE", "COPY_FREE_VARS", "MAKE_CELL", "POP_TOP", "RETURN_VALUE", "STORE_FAST"}
    return all(
        step.opname in idle or step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval in (None, ...)
        for step in dis.get_instructions(code)
    )


def answered(function, *arguments, **keywords):
    """As `ask`, for a function that must return something: None is `Wrong`."""
    result = ask(function, *arguments, **keywords)
    if result is None:
        raise Wrong("your function returned None: is the `return` missing? Or was it not reached?")
    return result


def of(what, words):
    """Words about something that has a name, or has none ("")."""
    return f"{what}: {words}" if what else words


def numbers(values, shape, what, finite=True):
    """An array of numbers of this shape; `Wrong` for anything else, `NotAttempted` for `...`."""
    if type(values) is np.ndarray and values.dtype == float and values.shape == shape and np.isfinite(values).all():
        return values
    if values is ...:
        raise NotAttempted
    expected = "a number" if shape == () else f"{shape[0]} numbers" if len(shape) == 1 else f"an array of shape {shape}"
    if values is None:
        raise Wrong(of(what, f"expected {expected}, got None: is the `return` missing?"))
    try:
        array = np.asarray(values, dtype=float)
        if np.asarray(values).dtype.kind in "USM":  # "3.7" is a text, and a date is no number
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise Wrong(of(what, f"expected {expected}, got {values!r}")[:200]) from None
    if array.shape != shape and not (shape == () and array.size == 1):
        got = f"an array of shape {array.shape}" if array.ndim else repr(values)
        raise Wrong(of(what, f"expected {expected}, got {got}"))
    if np.isnan(array).any() or finite and np.isinf(array).any():
        expected = expected if not finite else "a finite number" if shape == () else "finite numbers"
        raise Wrong(of(what, f"expected {expected}, got {array[~np.isfinite(array)].flat[0]:g}"))
    return array.reshape(shape)


def number(value, what, *, finite=True, whole=False):
    """A number, as a float; `Wrong` for anything else.

    Infinity passes only if not `finite`, fractions only if not `whole`.
    """
    value = float(numbers(value, (), what, finite))
    if whole and math.isfinite(value) and value != round(value):
        near = f"{math.floor(value)} or {math.ceil(value)}"
        raise Wrong(of(what, f"expected a whole number, got {value:g}: which does what is asked, {near}?"))
    return value


def compare_number(said, right, what, why="", *, tolerance=1e-3, relative=0.0):
    """`Wrong` unless `said` is the number `right`; `why` is a hint, or a function of what was said."""
    said, allowed = (
        number(said, what, finite=False),
        max(tolerance, relative * abs(right) if math.isfinite(right) else 0.0),
    )
    if said == right or abs(said - right) <= allowed:
        return
    if math.isfinite(right) and right != round(right):  # who says 999 for 1000 has miscounted, not rounded
        for decimals in range(1 - math.floor(math.log10(abs(right))), 12):  # two digits at least
            if abs(said - right) <= 0.5001 * 10.0**-decimals and abs(said - round(said, decimals)) < 1e-12 * max(
                1, abs(said)
            ):
                needed = max(math.ceil(-math.log10(2 * allowed)), decimals + 1) if allowed else decimals + 6
                asked = "all digits before" if needed < 1 else f"{needed} digit{'s' if needed > 1 else ''} after"
                raise Wrong(of(what, f"{said:g} is right, but rounded too far; give {asked} the point"))
    hint = why(said) if callable(why) else why and f"not {said:g}; {why}"
    raise Wrong(of(what, hint or f"not {said:g}"))
