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


def pytest_collection_modifyitems(items):
    """One worker builds the book and drives the browser while the other does the rest; the dark pages wait for whoever is free."""
    items.sort(key=lambda item: (not item.nodeid.startswith("tests/test_site.py::TestLight"), "::TestDark" in item.nodeid))


def pytest_terminal_summary(terminalreporter):
    """Print what tests have measured: record_property("table", lines)."""
    for report in terminalreporter.stats.get("passed", []):
        for name, lines in report.user_properties:
            if name == "table":
                terminalreporter.section(report.nodeid)
                terminalreporter.write("\n".join(lines) + "\n")
