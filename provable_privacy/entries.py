"""Exercises that are answered by entering something: a number, a word, True or False, a set, or several of these.

A checker of this kind is a declaration: what is right, how near an entry must be, and a message for each known mistake.
It is plain data: the book's pages carry it, and `answers.js` judges there what is entered, in the same words::

    @entries("the person decides, not the row")
    def dp_unit():
        '''`answer`: release -> epsilon for one person.'''
        return {
            "visits": Number(1, hint="nobody may visit twice"),
            "ratings": Number(152, hint="the unit is the person", mistakes={"21 is the median": 21}),
        }
"""

import functools
import math
import numbers as numeric
from dataclasses import dataclass, field, fields, is_dataclass

import numpy as np

from provable_privacy.speech import Misdeclared, NotAttempted, OnlyInPart, Wrong, checker, compare_number, number

__all__ = ["AnyOf", "Number", "OneOf", "Together", "TrueFalse", "entries"]


@dataclass(frozen=True)
class Number:
    """A number. A message with `{said}` in it is printed alone, with the number there; others come after "not 3; "."""

    right: float
    hint: str = ""  # for any other number
    mistakes: dict = field(default_factory=dict)  # words -> the number, or several, that shows the mistake
    tolerance: float = 1e-3
    relative: float = 0.0
    whole: bool = False  # refuse a fraction at once
    between: tuple = ()  # (low, high, words): what lies outside is told these words
    below: str = ""  # for numbers that are too small, where no mistake is known
    above: str = ""  # for those that are too large
    near: float = 1e-3  # how near, relatively, an entry must be to a known mistake
    also: tuple = ()  # other numbers that are right
    unsigned: bool = False  # whether the sign does not matter

    def judge(self, said):
        value = number(said, "", finite=False, whole=self.whole)
        value = abs(value) if self.unsigned else value
        if value in self.also:
            return
        try:
            compare_number(value, self.right, "", self.words, tolerance=self.tolerance, relative=self.relative)
        except Wrong:
            if any(value in np.ravel(mistake) for mistake in self.mistakes.values()):  # not called "rounded too far"
                raise Wrong(self.words(value)) from None
            raise

    def words(self, said):
        for words, values in self.mistakes.items():
            if any(self.shows(said, value) for value in np.ravel(values)):
                return sentence(words, said)
        if self.between and not self.between[0] <= said <= self.between[1]:
            return sentence(self.between[2], said)
        return sentence((self.below if said < self.right else self.above) or self.hint, said)

    def shows(self, said, value):
        allowed = max(self.tolerance, max(self.relative, self.near) * abs(value)) if math.isfinite(value) else 0.0
        closer = not math.isfinite(self.right) or abs(said - value) <= abs(said - self.right)
        return said == value or closer and abs(said - value) <= allowed


@dataclass(frozen=True)
class OneOf:
    """One of a few words, in any case of letters."""

    of: tuple
    right: str
    hint: str = ""
    mistakes: dict = field(default_factory=dict)  # a wrong word -> what it is told, instead of the hint

    def __post_init__(self):
        if self.right not in self.of:
            raise Misdeclared(f"{self.right!r} is right, and is not among {self.of}")

    def judge(self, said):
        word = str(said).strip().lower()
        if word not in {str(one).lower() for one in self.of}:
            raise Wrong(f"{said!r} is not on the list: {', '.join(map(str, self.of))}"[:300])
        if word != str(self.right).lower():
            known = {str(wrong).lower(): words for wrong, words in self.mistakes.items()}
            raise Wrong(sentence(known.get(word, self.hint), word))


@dataclass(frozen=True)
class TrueFalse:
    """True or False; `why` tells the reason to those who are wrong."""

    right: bool
    why: str

    def judge(self, said):
        if not isinstance(said, (bool, np.bool_)):
            raise Wrong(f"answer True or False, got {said!r}"[:200])
        if bool(said) != self.right:
            raise Wrong(self.why)


@dataclass(frozen=True)
class AnyOf:
    """A set of items: a learner enters those that belong, as a set, a list, or one alone.

    `of` has a reason for each item, why it belongs or why it does not; `right` are the items that belong.
    """

    of: dict  # item -> reason
    right: tuple
    belongs: str = "{item} belongs to them: {why}"  # what is said of an item that was left out
    not_: str = "{item} does not belong to them: {why}"  # and of one too many

    def __post_init__(self):
        if strange := [item for item in self.right if item not in self.of]:
            raise Misdeclared(f"{strange[0]!r} is right, and is not among {list(self.of)}")

    def judge(self, said):
        items = {str(item).strip().lower(): item for item in self.of}
        chosen = {str(one).strip().lower() for one in _listed(said, self.of)} - {"", ","}
        if strange := sorted(chosen - set(items)):
            raise Wrong(f"{strange[0]!r} is not on the list: {', '.join(map(str, self.of))}"[:300])
        for key, item in items.items():
            if (key in chosen) != (item in self.right):
                words = self.belongs if item in self.right else self.not_
                raise Wrong(words.format(item=item, why=self.of[item]))


def _listed(said, of):
    """The items of a list, a set, a text of letters, or one item alone."""
    if isinstance(said, str):
        return said if all(len(str(item)) == 1 for item in of) else [said]
    if isinstance(said, (bool, numeric.Number)) or not hasattr(said, "__iter__"):
        return [said]
    found = list(said)
    if any(one is ... for one in found):
        raise NotAttempted
    return found


@dataclass(frozen=True)
class Together:
    """Several entries in a tuple, a list or an array: `parts` names each of them."""

    parts: dict  # name -> entry

    def judge(self, said):
        if not isinstance(said, (tuple, list, np.ndarray)) or len(said) != len(self.parts):
            raise Wrong(f"expected ({', '.join(self.parts)}), got {said!r}"[:200])
        judge_all({name: (entry, one) for (name, entry), one in zip(self.parts.items(), said)})


def sentence(words, said):
    """What a wrong entry is told."""
    shown = f"{said:g}" if isinstance(said, numeric.Number) else str(said)
    return words.replace("{said}", shown) if "{said}" in words else f"not {shown}; {words}" if words else f"not {shown}"


def called(name):
    """How a message names an entry."""
    return ", ".join(name) if isinstance(name, tuple) else str(name)


def judge_all(pairs):
    """Judge name -> (entry, what was said); entries that are still missing are told when nothing else is wrong."""
    missing = []
    for name, (entry, said) in pairs.items():
        name = called(name)
        try:
            if said is ...:
                raise NotAttempted
            entry.judge(said)
        except NotAttempted as part:
            missing.append(f"{name}: {part}" if str(part) else name)
        except Wrong as reason:
            raise Wrong(f"{name}: {reason}") from None
    if missing:
        partly = len(missing) < len(pairs) or any(": " in name for name in missing)
        raise OnlyInPart(", ".join(missing)) if partly else NotAttempted


def same_names(answer, asked):
    """The answer as a dict with the names that are asked for; `Wrong` if it has others."""
    if not hasattr(answer, "keys"):
        raise Wrong(f"expected a dict with the names {', '.join(map(str, asked))}, got {type(answer).__name__}")
    answer = {name: answer[name] for name in answer.keys()}
    unknown = ", ".join(sorted(map(repr, set(answer) - set(asked))))
    missing = ", ".join(sorted(map(repr, set(asked) - set(answer))))
    expected = f"expected the names {', '.join(map(str, asked))}"
    if unknown:
        raise Wrong(f"unknown: {unknown}; {expected}"[:300])
    if missing:
        raise Wrong(f"missing: {missing}; {expected}"[:300])
    return answer


def entries(praise):
    """Make a checker of a function that returns the declaration: name -> entry for a dict, or one entry alone.

    Parameters
    ----------
    praise : str
        What a right answer is told.

    Returns
    -------
    A decorator. The checker's attribute `declared` is the function, whose result is computed once, and `praise` the
    word of praise.
    """

    def decorate(declare):
        declared = functools.cache(declare)

        @functools.wraps(declare)
        def judge(answer):
            asked = declared()
            if isinstance(asked, dict):
                answer = same_names(answer, asked)
                judge_all({name: (entry, answer[name]) for name, entry in asked.items()})
            else:
                asked.judge(answer)
            return praise

        check = checker(judge)
        check.declared, check.praise = declared, praise
        return check

    return decorate


def published(check):
    """The declaration of a checker, and its praise, for a page: only texts, numbers, lists, and "inf" for infinity."""
    declared = check.declared()
    return [check.praise, plain(declared if isinstance(declared, dict) else {"": declared})]


def plain(value):
    """Plain data: an entry is a dict with its kind, any other dict is a list of pairs."""
    if is_dataclass(value):
        return {"kind": type(value).__name__} | {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return [[called(name), plain(one)] for name, one in value.items()]
    if isinstance(value, (tuple, list, np.ndarray)):
        return [plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    return "inf" if value == math.inf else value
