"""The page about checks says which kinds of leaks each checker of a mechanism looks for, as the checkers declare it."""
import importlib
import string
import sys
from pathlib import Path
from unittest import mock

import pytest

from provable_privacy import results
from provable_privacy.battery import looked
from provable_privacy.battery.kinds import KINDS, shown
from provable_privacy.speech import listen

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "classroom"))
PAGE = ROOT / "reference" / "checks.md"
WIDTH = 18                                       # letters for the name of a checker
BEGIN, END = "% which leaks: made by tests/book/test_checks.py\n", "% end of which leaks\n"


def mechanisms(names=()):
    """(section, name, checker, solutions) of each exercise whose answers are tested for leaks; or of the named ones."""
    for section, exercises in results.exercises().items():
        if names and not {*names} & {*exercises}:
            continue
        checkers = importlib.import_module(f"provable_privacy.check.{section}")
        answers = importlib.import_module(f"answers.{section.rpartition('.')[2]}")
        for name in checkers.__all__:
            checker = getattr(checkers, name)
            code = getattr(getattr(checker, "__wrapped__", None), "__code__", None)
            leaks = any(row[0] is checker for row in getattr(answers, "LEAKS", ()))
            if code and ("battery" in code.co_names or leaks or hasattr(checker, "kinds")):
                yield checkers, name, checker, next(make for one, make in answers.SOLUTIONS if one is checker)


def looked_for(checkers, checker, solution):
    """The kinds of leaks that a checker looks for: what its pairs show, and what it declares."""
    kinds = set(getattr(checker, "kinds", ()))

    def recorder(answer, form, pairs, *, crowds=(), **settings):
        kinds.update(shown(answer, form, pairs, crowds))
        return looked(pairs, crowds)

    with mock.patch.object(checkers, "battery", recorder, create=True):
        listen(lambda line: None)
        try:
            checker(solution(0))
        finally:
            listen(print)
    return kinds


def table():
    """What the page shows: narrow enough for a phone and for paper."""
    letters = dict(zip(KINDS, string.ascii_lowercase))
    rows, why = [f"{'':{WIDTH}}{' '.join(letters.values())}"], []
    for checkers, name, checker, solution in mechanisms():
        kinds, senseless = looked_for(checkers, checker, solution), getattr(checker, "senseless", {})
        marks = ["x" if kind in kinds else "-" if kind in senseless else "." for kind in KINDS]
        rows.append(f"{name:{WIDTH}}{' '.join(marks)}")
        reasons = {}
        for kind, reason in senseless.items():
            if kind not in kinds:
                reasons.setdefault(reason, []).append(letters[kind])
        if reasons:
            said = [f"{', '.join(sorted(of))}: {reason}" for reason, of in reasons.items()]
            why.append(f"- `{name}`: {'; '.join(said)}")
    return "\n".join([
        *(f"- `{letters[kind]}` *{kind}*: {words}" for kind, words in KINDS.items()), "", "```text", *rows, "```", "",
        ":::{admonition} Why a kind makes no sense in an exercise", ":class: dropdown", "", *why, ":::", ""])


def with_table(text):
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2]


def test_the_page_shows_what_the_checkers_declare():
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text and with_table(text) == text, "run: python tests/book/test_checks.py"


def test_every_checker_of_a_mechanism_says_which_leaks_it_looks_for():
    silent = [name for _, name, checker, _ in mechanisms() if not hasattr(checker, "kinds")]
    assert not silent, "these have no @looks_for(...)"


def test_a_checker_without_a_declaration_is_seen(monkeypatch):
    section = importlib.import_module("provable_privacy.check.mechanisms.laplace")
    for field in ("kinds", "senseless"):
        monkeypatch.delattr(section.lap_bug, field)
    with pytest.raises(AssertionError, match="lap_bug"):
        test_every_checker_of_a_mechanism_says_which_leaks_it_looks_for()


def show(names):
    """Print what some checkers look for."""
    for checkers, name, checker, solution in mechanisms(names):
        if name in names:
            kinds, senseless = looked_for(checkers, checker, solution), getattr(checker, "senseless", {})
            print(f"{name}: {', '.join(kind for kind in KINDS if kind in kinds)}")
            print(f"    blank: {', '.join(kind for kind in KINDS if kind not in kinds and kind not in senseless)}")


if __name__ == "__main__":                       # write the table into the page; or `show` some checkers
    if sys.argv[1:2] == ["show"]:
        sys.exit(show(sys.argv[2:]))
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
