"""What holds for all sections' checkers; the tests of each section are in its file of `answers`."""
import importlib
from pathlib import Path

import pytest

from provable_privacy import check, results
from provable_privacy.battery import Pair
from provable_privacy.battery.exact import LEVEL, p_value

SECTIONS = list(results.exercises())


def test_every_section_has_its_answers():
    answers = {path.stem for path in Path(__file__).parent.glob("answers/*.py")} - {"__init__", "conftest"}
    assert answers == {section.rpartition(".")[2] for section in SECTIONS}


def test_every_checker_of_a_section_can_be_called():
    assert {name for section in SECTIONS for name in results.exercises()[section]} == {
        name for name, value in vars(check).items() if hasattr(value, "__wrapped__")}


def pairs(value):
    """The pairs of tables in a constant of a checker."""
    if isinstance(value, Pair):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (pair for item in value for pair in pairs(item))


@pytest.mark.parametrize("section", SECTIONS)
def test_two_calls_are_made_often_enough_to_tell(section):
    """An event of both calls on the one table, and never on the other, in the half of the runs that tests it."""
    checkers = importlib.import_module(f"provable_privacy.check.{section}")
    level = LEVEL / 300                          # of one of the tests of a battery, or less
    for pair in pairs([value for name, value in vars(checkers).items() if not name.startswith("__")]):
        twice = [(2 * epsilon, 2 * delta) for epsilon, delta in pair.claims if pair.twice]
        tests = [p_value(pair.twice // 4, 0, pair.twice // 2, *claim, level) for claim in twice]
        assert not twice or min(tests) < level, pair.what
