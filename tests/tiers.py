"""Which tests are slow. `make test` leaves them out, `make test-all` runs them.

A test is slow because it says so (`@pytest.mark.slow`, or `long`), because of its file, its name or a fixture, or
because of what it cost when that was last recorded: `pytest --record-costs` writes costs.json. A test without a
recorded cost is quick, unless another rule makes it slow.
"""
import json
from pathlib import Path

COSTS = Path(__file__).with_name("costs.json")   # name of a test -> CPU seconds
LEAST = 0.5                                      # what costs less is not recorded

SLOW_FILES = ("tests/library/test_mutants.py", "tests/library/test_engine_spark.py", "tests/book/test_print.py")
SLOW_NAMES = ("test_the_solution_is_right_whatever_its_luck",)         # each stands in its notebook, with its checker
SLOW_FIXTURES = {"plain_log"}                    # it writes all sections as plain notebooks

PAGES = "TestPages::test_page"                   # a page in both themes and widths, with axe
ONE_OF_EACH_KIND = (
    "intro", "chapters/attacks/index", "chapters/mechanisms/laplace", "reference/glossary", "reference/claims",
    "reference/notation", "course/index", "course/plans/attacks", "genindex", "search",
)
UNUSUAL = "test_an_unusual_answer_that_is_right_is_accepted"           # quick: the first one of each checker

NO_LIMIT = (
    "tests/book/", "tests/classroom/test_results.py", "tests/classroom/test_explorers.py", "chapters/", "intro.ipynb")
LIMITS = {"test_a_leak_is_refused": 2.0, "test_a_wrong_answer_is_told_why": 0.5}       # seconds
LIMIT = 1.0                                      # of all other tests


def costs():
    return json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.exists() else {}


class Tiers:
    """Says of each test, in their order, whether it is slow."""

    def __init__(self, costs):
        self.costs, self.met = costs, set()

    def is_slow(self, item):
        place, _, row = item.nodeid.removesuffix("]").partition("[")
        file, test = place.partition("::")[0], place.rpartition("::")[2]
        if item.get_closest_marker("slow") or item.get_closest_marker("long"):
            return True
        if file in SLOW_FILES or test in SLOW_NAMES or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            return True
        if place.endswith(PAGES):
            return row not in ONE_OF_EACH_KIND
        if test == UNUSUAL:
            return not self.is_first(file, row)
        return not file.startswith(NO_LIMIT) and self.costs.get(item.nodeid, 0) > LIMITS.get(test, LIMIT)

    def is_first(self, file, row):
        """Whether no earlier unusual answer was for the same checker, whose name begins that of the row."""
        checker = file, row.partition("-")[0]
        first = checker not in self.met
        self.met.add(checker)
        return first
