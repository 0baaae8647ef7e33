"""Exercises that ask for a function with one right value: the answer is compared with ours on many cases."""

import inspect
import math

import numpy as np

from provable_privacy.speech import Wrong, answered, number, numbers

__all__ = ["on_cases", "refuses", "rounded"]


def on_cases(
    function,
    cases,
    right,
    mistakes=None,
    *,
    rtol=1e-6,
    atol=0.0,
    shape=None,
    whole=False,
    finite=True,
    what="the result",
    show=None,
    accepts=None,
    below="",
    above="",
    otherwise=None,
    alike=None,
    everywhere=False,
):
    """`Wrong` unless `function` gives on every case what `right` gives.

    The message names the first wrong case, and the mistake that explains all wrong cases. If there is none, it names
    one that explains the first.

    Parameters
    ----------
    function : callable
        The learner's.
    cases : iterable of tuples
        The arguments; arrays and lists are copied, and must come back unchanged.
    right : callable
        The correct function.
    mistakes : dict
        Message -> the function with a mistake. One that raises on a case is not named there.
    rtol, atol : float
        An answer is right within this tolerance of the right value. A mistake is named if the answer is within the same
        tolerance of the mistake's value, and the right value is not.
    shape : callable
        `shape(*arguments)` is the shape of the result; without it a result is one number.
    whole, finite : bool
        Refuse fractions; refuse infinity.
    what : str
        What the result is called.
    show : callable
        `show(*arguments)` names a case; without it, "epsilon = 1, delta = 1e-05".
    accepts : callable
        `accepts(got, right value, arguments)`: whether the answer is right after all.
    below, above : str
        Messages where no mistake is known: for a result that is nowhere too large, and for any other.
    otherwise : callable
        `otherwise(got, right value, arguments)`: the message instead of these two.
    alike : float
        How near (relatively) a mistake must be, where that is not as near as an answer.
    everywhere : bool
        Name a mistake only if it gives what the learner's function gives in all cases, the right ones too.
    """
    asked, wrong = [], []
    for case in map(tuple, cases):
        words = show(*case) if show else shown(right, case)
        got, value = _asked(function, case, words, what, shape, whole, finite), right(*case)
        asked.append((case, words, got, value))
        if not _near(got, value, rtol, atol) and not (accepts and accepts(got, value, *case)):
            wrong.append(asked[-1])
    if not wrong:
        return
    case, words, got, value = wrong[0]
    mistakes = mistakes or {}
    fitting = [[m for m in mistakes if _gives(mistakes[m], one, rtol, atol, alike, differs=True)] for one in wrong]
    reason = next(
        (message for message in fitting[0] if all(message in others for others in fitting)),
        fitting[0][0] if fitting[0] and not everywhere else "",
    )
    if reason and everywhere and not all(_gives(mistakes[reason], one, rtol, atol, alike) for one in asked):
        reason = ""
    if not reason:
        reason = otherwise(got, value, *case) if otherwise else below if np.all(got <= value) else above
        reason = reason or rounded(got, value)
    text = f"{got:.6g}" if np.ndim(got) == 0 else np.array2string(np.asarray(got), precision=4, threshold=8)
    raise Wrong(f"{words}: not {text}{f'; {reason}' if reason else ''}")


def _asked(function, case, words, what, shape, whole, finite):
    given = [_copy(argument) for argument in case]
    try:
        got = answered(function, *given)
        got = numbers(got, shape(*case), what, finite) if shape else number(got, what, finite=finite, whole=whole)
    except Wrong as reason:
        raise Wrong(f"{words}: {reason}") from None
    try:
        np.testing.assert_equal(given, list(case))
    except AssertionError:
        raise Wrong(f"{words}: your function changes what it is given; work on a copy") from None
    return got


def _copy(argument):
    if type(argument) in (tuple, list):
        return type(argument)(map(_copy, argument))
    return argument.copy() if isinstance(argument, (np.ndarray, dict, set)) else argument


def _near(got, value, rtol, atol):
    return bool(np.allclose(got, value, rtol=rtol, atol=atol))


def _gives(mistake, asked, rtol, atol, alike=None, differs=False):
    """Whether the mistake gives what was got in this case, and perhaps not what is right."""
    case, _, got, value = asked
    try:
        theirs = mistake(*case)
    except Exception:
        return False
    near = _near(got, theirs, rtol if alike is None else alike, atol)
    return np.shape(theirs) == np.shape(got) and near and not (differs and _near(value, theirs, rtol, atol))


def rounded(got, value):
    """Words for a number that has only the first digits of the right one, two at least; none for others."""
    short = np.ndim(got) == 0 and any(float(f"{value:.{digits}g}") == got != value for digits in range(2, 9))
    return "it is right, but rounded too far; give more digits" if short else ""


def shown(function, case):
    """A case in words, by the names of the function's parameters."""
    names = inspect.signature(function).parameters
    return ", ".join(f"{name} = {_text(value)}" for name, value in zip(names, case) if not callable(value))


def _text(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray) or isinstance(value, (list, tuple)) and len(value) > 8:
        return f"{len(value):,} values" if len(value) > 8 else str(np.asarray(value).tolist())
    return str(value)


def refuses(function, arguments, bad, *, error=ValueError):
    """`Wrong` if `function` fails on good arguments, or does not raise `error` where one of them is bad.

    Parameters
    ----------
    function : callable
        The learner's, whose parameters may have any names: arguments are given by place.
    arguments : dict
        Name of a parameter, as the exercise calls it -> a good value.
    bad : dict
        Name -> values that must be refused.
    """
    answered(function, *arguments.values())
    for name, values in bad.items():
        for value in values:
            said = (
                f"{name} = {value:g}"
                if isinstance(value, (int, float)) and not math.isnan(value)
                else f"{name} = {value}"
            )
            try:
                function(*(arguments | {name: value}).values())
            except error:
                continue
            except Exception as other:
                raise Wrong(f"{said} raised {type(other).__name__}; a {error.__name__} was asked for") from None
            raise Wrong(f"{said} was accepted; a {error.__name__} was asked for")
