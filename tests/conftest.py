"""What all tests share: the environment of the kernels, and an order that keeps two workers busy."""
import os

import pytest

os.environ.pop("DPLIB_STATIC", None)        # only the book's build asks an Explorer for its static page
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # workers share the cores; their linear algebra must not fight over them


@pytest.fixture
def says(capsys):
    """What an exercise checker says of an answer: one line."""
    def says(checker, answer):
        checker(answer)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 1, lines
        return lines[0]

    return says


LONGEST_FIRST = ("tests/test_site.py::TestLight", "chapters/", "tests/test_site.py::TestDark", "tests/test_explorers.py", "tests/test_site.py",
                 "tests/test_checkers_", "tests/test_mutants.py")  # fmt: skip


def pytest_collection_modifyitems(items):
    """Long scopes first, and short ones last: neither worker then waits long for the other.

    One worker builds the book and drives the browser while the other runs the notebooks; the dark pages come when the book is there."""
    items.sort(key=lambda item: next((rank for rank, start in enumerate(LONGEST_FIRST) if item.nodeid.startswith(start)), len(LONGEST_FIRST)))


def pytest_terminal_summary(terminalreporter):
    """Print what tests have measured: record_property("table", lines)."""
    for report in terminalreporter.stats.get("passed", []):
        for name, lines in report.user_properties:
            if name == "table":
                terminalreporter.section(report.nodeid)
                terminalreporter.write("\n".join(lines) + "\n")
