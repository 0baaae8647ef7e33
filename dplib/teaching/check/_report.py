"""How a checker speaks: ○ not attempted, ✓ right, ✗ with the reason. It never raises because of an answer."""
import functools
import warnings

import numpy as np

__all__ = ["NotAttempted", "Wrong", "ask", "checker", "number"]


class Wrong(Exception):
    """The answer is wrong; the message says why, to the learner."""


class NotAttempted(Exception):
    """There is no answer yet."""


def checker(judge):
    """Make a checker of `judge(answer)`, which returns a word of praise or raises `Wrong` or `NotAttempted`."""
    name = judge.__name__

    @functools.wraps(judge)
    def check(answer):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if answer is None or answer is ...:
                    raise NotAttempted
                print(f"✓ {name}: {judge(answer)}")
        except NotAttempted:
            print(f"○ {name}: not attempted yet")
        except Wrong as reason:
            print(f"✗ {name}: {reason}")
        except (Exception, SystemExit) as error:
            print(f"✗ {name}: your answer does not have the expected form, checking it raised {type(error).__name__}: {error}")

    return check


def ask(function, *arguments, **keywords):
    """What the learner's function returns; `Wrong` if it raises, `NotAttempted` if it is still the stub."""
    if not callable(function):
        raise Wrong(f"expected a function, got {type(function).__name__}")
    try:
        result = function(*arguments, **keywords)
    except NotImplementedError:
        raise NotAttempted from None
    except (Exception, SystemExit) as error:
        raise Wrong(f"your function raised {type(error).__name__}: {error}") from None
    if result is ...:
        raise NotAttempted
    return result


def number(value, what):
    """A finite number, as a float; `Wrong` for anything else, `NotAttempted` if there is none."""
    if value is None:
        raise NotAttempted
    try:
        value = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise Wrong(f"{what}: expected a number, got {value!r}") from None
    if value.size != 1:
        raise Wrong(f"{what}: expected a number, got an array of shape {value.shape}")
    if not np.isfinite(value).all():
        raise Wrong(f"{what}: expected a finite number, got {value.item():g}")
    return value.item()
