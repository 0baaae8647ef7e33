"""Your own mechanism on two of your own tables: what the battery looks at, what it finds, and what it cannot see."""

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dplib.rounding import at_least
from provable_privacy.battery.exact import LEVEL, Refused, p_value, still
from provable_privacy.battery.forms import Choice, Form, Lines, Numbers
from provable_privacy.battery.hunt import Telling, hunt
from provable_privacy.battery.looks import memory
from provable_privacy.battery.runs import Pair, look_of_sorts, sort_of
from provable_privacy.speech import Wrong

__all__ = ["Finding", "examine"]

LARGEST = 700.0  # no epsilon above this is told
EACH = LEVEL / 20  # of each of the 16 events at most that are tested


@dataclass(frozen=True)
class Finding:
    """What `examine` has found. Printed, it is a few sentences."""

    refuted: bool
    found: str  # why it is refuted, or ""
    epsilon: float  # at least this, between the two tables; 0.0 where no event was counted
    looked: str
    unseen: str

    def __str__(self) -> str:
        parts = [f"Refuted: {self.found}." if self.refuted else "Not refuted."]
        parts += [f"Between these two tables ε is at least {at_least(self.epsilon)}."] if self.epsilon else []
        parts += [f"Looked at: {self.looked}", f"Cannot see: {self.unseen}"]
        return "\n".join(textwrap.fill(part, 60, subsequent_indent="    ") for part in parts)


def examine(
    mechanism: Callable,
    one: Any,
    two: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 10_000,
    exact: Callable | None = None,
    rng: None | int | np.random.Generator = None,
) -> Finding:
    """Look for an event that tells two tables apart more than epsilon and delta allow.

    Parameters
    ----------
    mechanism : callable
        `mechanism(table, rng)` returns a number, a list or an array of numbers of one length, a dict of numbers, or one
        of a few outcomes (a text, None, True, a tuple).
    one, two : object
        Two tables between which the promise must hold, such as neighbours. The mechanism must not change them.
    epsilon, delta : float
        The loss that is allowed between these two tables: epsilon >= 0, 0 <= delta < 1. For neighbours this is the
        promise itself.
    runs : int
        Calls of the mechanism in all, at least 1,000.
    exact : callable, optional
        `exact(table)` is the output without noise. With it, some kinds of events are found with fewer runs, and a noise
        that comes again in a later call is noticed.
    rng : None, int or numpy.random.Generator
        Draws which table each run sees, and is handed to the mechanism.

    Returns
    -------
    Finding
        `refuted` is wrong with probability at most 1e-6 if calls are independent. The event is chosen on one half of
        the runs and tested on the other half; events that are known in advance are tested on all. A chi-square test,
        which holds in the limit, looks for calls that are not independent. Not refuted does not mean private.

    Raises
    ------
    ValueError
        If epsilon, delta or runs are out of range, if the outputs have no common form, or if one of them is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> def count(table, rng):
    ...     return len(table) + rng.laplace(scale=0.5)
    >>> finding = examine(count, range(9), range(10), epsilon=1.0, rng=1)
    >>> finding.refuted, finding.epsilon > 1.4
    (True, True)
    >>> examine(count, range(9), range(10), epsilon=2.0, rng=1).refuted
    False
    """
    if not 0 <= epsilon < LARGEST:
        raise ValueError(f"epsilon must be at least 0 and below {LARGEST:g}, got {epsilon}")
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta}")
    if runs < 1000:
        raise ValueError(f"runs must be at least 1,000, got {runs}")
    rng = np.random.default_rng(rng)
    world = rng.integers(0, 2, runs)
    outputs = [mechanism((one, two)[w], rng) for w in world]
    form = _form(outputs)
    truth = (None, None) if exact is None else (exact(one), exact(two))
    pair = Pair("the first table / the second table", (one,), (two,), ((epsilon, delta),), truth)
    try:
        x = np.array([form.read(output) for output in outputs]).reshape(runs, form.columns)
    except Wrong as reason:
        raise ValueError(f"an output cannot be read: {reason}") from None
    found, bound = _told(form, pair, x, world, outputs)
    return Finding(bool(found), found, bound, _looked(form, runs), _unseen(epsilon, delta, runs, exact))


def _form(outputs: list) -> Form:
    """What all outputs look like."""
    kinds = {_kind(output) for output in outputs}
    if kinds == {"number"}:
        return Numbers()
    if kinds == {"numbers"}:
        lengths = {len(output) for output in outputs}
        if len(lengths) == 1:
            return Numbers(lengths.pop())
        raise ValueError(f"outputs must have one length, got lengths from {min(lengths)} to {max(lengths)}")
    if kinds == {"dict"}:
        return Lines(tuple(dict.fromkeys(key for output in outputs for key in output)))
    if kinds == {"outcome"}:
        try:
            outcomes = tuple(dict.fromkeys(outputs))
        except TypeError:
            raise ValueError(f"an outcome must be hashable, got {type(outputs[0]).__name__}") from None
        if len(outcomes) <= 1000:
            return Choice(outcomes)
        raise ValueError(f"outcomes must be few, got {len(outcomes):,} different ones")
    raise ValueError(f"outputs must all be of one kind, got {', '.join(sorted(kinds))}")


def _kind(output):
    if isinstance(output, (float, int, np.number)) and not isinstance(output, (bool, np.bool_)):
        return "number"
    if isinstance(output, (list, np.ndarray)):
        return "numbers"
    return "dict" if isinstance(output, dict) else "outcome"


def _told(form, pair, x, world, outputs):
    """(what tells the tables apart, a lower bound on epsilon), or ("", 0.0)."""
    search, names = np.arange(len(x)) < len(x) // 2, {}
    sorts = [names.setdefault(sort_of(output), len(names)) for output in outputs]
    try:
        still(pair, x, world, 0.1 * LEVEL)
        columns = chain(form.statistics(x, pair, search & (world == 0)), [look_of_sorts(sorts, list(names))])
        hunt(pair, columns, world, pair.claims, 0.8 * LEVEL, search, form.known(x, pair))
        memory(form, pair, x, world)
    except Telling as event:
        return str(event), _at_least(event)
    except (Refused, Wrong) as reason:
        return str(reason), 0.0
    return "", 0.0


def _at_least(event):
    """The largest epsilon that the counts of the event refute, with LEVEL for all events together."""
    seen, other, runs = event.seen[event.d], event.seen[1 - event.d], sum(event.runs)
    promised, delta = event.claim

    def beyond(epsilon):
        return p_value(seen, other, runs, epsilon, delta, EACH) - EACH

    return float(brentq(beyond, promised, LARGEST)) if beyond(promised) < 0 < beyond(LARGEST) else promised


def _looked(form, runs):
    what = {
        Numbers: "each output and its type, sums and differences of two, sizes and signs of their noises, the sum of "
        "all",
        Lines: "which lines come out and in which order, each count and its type, and sums and differences of two",
        Choice: "each outcome and its type, and sets of outcomes",
    }[type(form)]
    return f"{runs:,} runs, half of them to find an event and half to test it; {what}."


def _unseen(epsilon, delta, runs, exact):
    needed = math.ceil(math.log(LEVEL / 10) / -math.log1p(math.exp(-epsilon))) + delta * runs / 2
    rarest = min(1.0, 4 * needed / runs)
    return (
        f"an event that never happens on the other table and has probability below about {rarest:.2g} on this one; "
        "noise that is slightly too small; most events of three or more outputs together; other tables; digits after "
        f"the ninth; the time that a call takes. More runs see more{'' if exact else ', and so does `exact`'}."
    )
