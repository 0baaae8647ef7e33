"""The kinds of leaks: which of them a checker looks for, from its pairs and from what it declares."""

import inspect

import numpy as np

from provable_privacy.battery.forms import Choice, Lines
from provable_privacy.battery.runs import changed
from provable_privacy.speech import Misdeclared

__all__ = ["KINDS", "looks_for", "shown"]

KINDS = {  # name -> what a checker that looks for it has
    "size": "two tables that differ in their number of rows",
    "empty": "an empty table",
    "contents": "people, queries or rows that use all that the inputs allow: several rows or cells, weights",
    "fractions": "numbers that are not whole, in the part of the input that is private",
    "negative": "negative numbers there",
    "missing": "a NaN or an infinite number there",
    "straddles": "one table below a threshold of the code, and its neighbour above it",
    "far": "values far below or far above what decides, or a clear lead",
    "small": "an ε of at most 0.3",
    "large": "an ε of at least 2",
    "quotient": "a scale, sensitivity divided by ε, that is not a whole number and not nearly one",
    "rare": "events of probability below a thousandth",
    "order": "the order of the lines that come out",
    "type": "the type of what comes out: a whole number or a float, one of numpy's, a list or an array, the sign of 0",
    "shared": "two outputs that share a noise, its size or its sign",
    "calls": "two calls that share a noise, or know of each other",
    "zero": "noise that is drawn again until the answer is not below 0",
    "own": "bounds or scales that are taken from the table itself",
}
SMALL, LARGE, MANY = 0.3, 2.0, 20_000  # of these ε, and of so many runs at a true value of 0


def looks_for(*kinds, **senseless):
    """Kinds that a checker looks for besides what its pairs show; for others, why they make no sense in its exercise.

    Stands below `@checker`: `@looks_for("far", order="one number comes out")`.
    """
    known((*kinds, *senseless))
    if silent := [kind for kind, reason in senseless.items() if not isinstance(reason, str)]:
        raise Misdeclared(
            f"{silent[0]}: why it makes no sense must be said in words, got {senseless[silent[0]]!r}"[:200]
        )
    if both := set(kinds) & set(senseless):
        raise Misdeclared(f"a kind cannot be looked for and make no sense: {', '.join(sorted(both))}")

    def note(judge):
        judge.kinds, judge.senseless = kinds, senseless
        return judge

    return note


def known(kinds):
    """`Misdeclared` for a kind that there is not."""
    for kind in kinds:
        if kind not in KINDS:
            raise Misdeclared(f"{kind!r} is no kind of leak; they are {', '.join(KINDS)}")


def shown(answer, form, pairs, crowds=()):
    """The kinds that a battery with these pairs and crowds looks for, as far as it can be computed."""
    places = [*pairs, *crowds]
    forms = [form(pair) if callable(form) else form for pair in pairs]
    private = [part for pair in pairs for part in zip(pair.one, pair.two) if changed(*([one] for one in part))]
    sizes = [tuple(len(one) for one in part) for part in private if all(hasattr(one, "__len__") for one in part)]
    numbers = np.array([x for part in private for x in _numbers_in(part)], dtype=float)
    finite = numbers[np.isfinite(numbers)]
    losses = [epsilon for pair in pairs for epsilon in _epsilons(answer, pair)]
    losses += [epsilon for crowd in crowds for epsilon, _ in crowd.claims]
    found = {
        "size": any(one != two for one, two in sizes),
        "empty": any(0 in both for both in sizes),
        "fractions": (finite != np.round(finite)).any(),
        "negative": (finite < 0).any(),
        "missing": len(finite) < len(numbers),
        "small": min(losses, default=1.0) <= SMALL,
        "large": max(losses, default=1.0) >= LARGE,
        "order": any(isinstance(one, Lines) for one in forms),
        "type": bool(pairs),
        "shared": bool(crowds) or any(one.columns > 1 and not isinstance(one, Choice) for one in forms),
        "calls": any(pair.twice for pair in pairs),
        "zero": any(0 in crowd.truth and crowd.size * crowd.calls >= MANY for crowd in crowds),
    }
    return {kind for kind, looked in found.items() if looked} | {kind for place in places for kind in place.looks}


def _epsilons(answer, pair):
    """The ε that the answer is given on a pair, or those that are allowed between the two tables."""
    names = list(inspect.signature(answer).parameters)
    place = names.index("epsilon") if "epsilon" in names else len(pair.one)
    return pair.one[place : place + 1] or [epsilon for epsilon, _ in pair.claims if epsilon > 0]


def _numbers_in(value):
    """All numbers in a table."""
    if isinstance(value, np.ndarray):
        yield from value.ravel().tolist() if value.dtype.kind in "iuf" else ()
    elif isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _numbers_in(one)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
