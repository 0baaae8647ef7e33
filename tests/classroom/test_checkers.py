"""All exercise checkers on the tables of answers of all sections: silent on the stub, content with what is right, clear about mistakes and leaks.

A module of `answers` is named as its section and has the tables SOLUTIONS and WRONG, perhaps STUBS, UNUSUAL and LEAKS (see `checking`),
and tests of its own, functions whose names begin with `test_`.
"""
import importlib
from pathlib import Path

import checking
import pytest

import provable_privacy.check
from provable_privacy.battery import Pair
from provable_privacy.battery.exact import LEVEL, p_value

HERE = Path(__file__).parent
SECTIONS = {path.stem: path.parent.name for path in sorted(Path(provable_privacy.check.__file__).parent.glob("[a-z]*/[a-z]*.py"))}


def suite(section):
    answers = importlib.import_module(f"answers.{section}")
    checkers = importlib.import_module(f"provable_privacy.check.{SECTIONS[section]}.{section}")
    tables = (getattr(answers, name, ()) for name in ("STUBS", "SOLUTIONS", "WRONG", "UNUSUAL", "LEAKS"))
    own = {name: staticmethod(test) for name, test in vars(answers).items() if name.startswith("test_")}
    return type(section, (checking.tests(checkers, *tables),), own)


def test_every_section_has_its_answers():
    assert {path.stem for path in HERE.glob("answers/*.py")} == SECTIONS.keys()


def pairs(value):
    """The pairs of tables in a constant of a checker."""
    if isinstance(value, Pair):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (pair for item in value for pair in pairs(item))


@pytest.mark.parametrize("section", SECTIONS)
def test_two_calls_are_made_often_enough_to_tell(section):
    """An event of both calls on the one table, and never on the other, in the half of the runs that tests it."""
    checkers = importlib.import_module(f"provable_privacy.check.{SECTIONS[section]}.{section}")
    level = LEVEL / 300                          # of one of the tests of a battery, or less
    for pair in pairs([value for name, value in vars(checkers).items() if not name.startswith("__")]):
        twice = [(2 * epsilon, 2 * delta) for epsilon, delta in pair.claims if pair.twice]
        assert not twice or min(p_value(pair.twice // 4, 0, pair.twice // 2, *claim, level) for claim in twice) < level, pair.what


for path in sorted(HERE.glob("answers/*.py")):
    globals()[f"Test_{path.stem}"] = suite(path.stem)
