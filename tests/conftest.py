"""What all tests share: the environment of the kernels, and an order that keeps two workers busy."""
import fcntl
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from claims import alone_in

ROOT = Path(__file__).resolve().parents[1]

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


def once_per_run(tmp_path_factory, name, work):
    """Do work() in one of the workers; the others wait and read what it returned, a text."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / f"{name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = shared / name
        if not result.exists():
            result.write_text(work(), encoding="utf-8")
        return result.read_text(encoding="utf-8")


def build():
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n", "--keep-going"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return f"{done.returncode}\n{done.stdout}"


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """once(name, work): the text that work() returns, done by one worker for all."""
    return functools.partial(once_per_run, tmp_path_factory)


@pytest.fixture(scope="session")
def build_log(once):
    return once("build", build)


@pytest.fixture(scope="session")
def site(build_log):
    """The folder of the built book."""
    if not build_log.startswith("0\n"):
        pytest.fail("the book does not build: see test_the_book_builds_without_a_warning", pytrace=False)
    return ROOT / "_build" / "html"


LONGEST_FIRST = ("tests/book/test_site.py::TestPages", "chapters/", "tests/book/test_plain.py", "tests/book/test_site.py", "tests/classroom/test_checkers",
                 "tests/library/test_mutants.py")


def pytest_collection_modifyitems(items):
    """Long scopes first, and short ones last: neither worker then waits long for the other.

    One worker builds the book and drives the browser while the other runs the notebooks, in which each claim runs alone."""
    notebooks = {item.parent: [cell for cell in items if cell.parent is item.parent] for item in items if item.parent.nodeid.endswith(".ipynb")}
    for cells in notebooks.values():
        for item, given in zip(cells, alone_in([item.cell.source for item in cells]), strict=True):
            item.cell.source = given
    items.sort(key=lambda item: next((rank for rank, start in enumerate(LONGEST_FIRST) if item.nodeid.startswith(start)), len(LONGEST_FIRST)))


CONCERNS = {
    "the pages in a browser, and their build": ("tests/book/test_site.py", "tests/book/test_light.py", "tests/book/test_present.py"),
    "Explorers": ("tests/classroom/test_explorers.py",),
    "notebooks as committed": ("chapters/", "intro.ipynb"),
    "plain notebooks": ("tests/book/test_plain.py",),
    "the book on paper": ("tests/book/test_print.py",),
    "a class's results": ("tests/classroom/test_results.py",),
    "exercise checkers": ("tests/classroom/test_checkers", "tests/classroom/test_battery.py", "tests/classroom/test_speech.py"),
    "mutants": ("tests/library/test_mutants.py",),
    "rules for sections and tools": ("tests/book/",),
}
THE_REST = "laws, oracles and docstrings of dplib"


def seconds_by_concern(reports):
    """Seconds of the workers, set-up and tear-down included: concern -> seconds, the longest first."""
    found = dict.fromkeys([*CONCERNS, THE_REST], 0.0)
    for report in reports:
        found[next((concern for concern, starts in CONCERNS.items() if report.nodeid.startswith(starts)), THE_REST)] += report.duration
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def pytest_terminal_summary(terminalreporter):
    """Print how long what took, and what tests have measured: record_property("table", lines)."""
    reports = [report for outcome in terminalreporter.stats.values() for report in outcome if isinstance(report, pytest.TestReport)]
    if len(reports) > 1000:
        terminalreporter.section("seconds by concern")
        terminalreporter.write("".join(f"{seconds:7.0f}  {concern}\n" for concern, seconds in seconds_by_concern(reports).items()))
    for report in terminalreporter.stats.get("passed", []):
        for name, lines in report.user_properties:
            if name == "table":
                terminalreporter.section(report.nodeid)
                terminalreporter.write("\n".join(lines) + "\n")
