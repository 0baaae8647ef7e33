"""What all tests share: options, the choice of the quick ones, the built book, an order for two workers."""
import fcntl
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import replay
import tiers

ROOT = Path(__file__).resolve().parents[1]

os.environ.pop("DPLIB_STATIC", None)        # only the book's build asks an Explorer for its static page
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # the workers' linear algebra must not fight for cores


def pytest_addoption(parser):
    group = parser.getgroup("the book")
    group.addoption("--live", action="store_true", help="run all notebooks, also those that the book has executed")
    group.addoption("--record-costs", action="store_true", help="run slow tests, too, and write tests/costs.json")


def pytest_configure(config):
    config.pluginmanager.register(replay)
    if config.option.record_costs:
        config.option.markexpr = ""
        config.pluginmanager.register(Meter())
    if not hasattr(config, "workerinput") and config.args_source is config.ArgsSource.ARGS:
        # who names a notebook wants it run
        config.option.live |= any(name.partition("::")[0].endswith(".ipynb") for name in config.args)


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


def build(made, *options):
    """Exit code and log of a build; none is needed where pages are those of the sources, made without a warning."""
    from bookext.cache import is_built
    if is_built(ROOT, made):
        return "0\n"
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n", "--keep-going", *options]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return f"{done.returncode}\n{done.stdout}"


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """once(name, work): the text that work() returns, done by one worker for all."""
    return functools.partial(once_per_run, tmp_path_factory)


@pytest.fixture(scope="session")
def build_log(once):
    return once("build", lambda: build("html"))


@pytest.fixture(scope="session")
def site(build_log):
    """The folder of the built book."""
    if not build_log.startswith("0\n"):
        pytest.fail("the book does not build: see test_the_book_builds_without_a_warning", pytrace=False)
    return ROOT / "_build" / "html"


LONGEST_FIRST = (
    "tests/book/test_site.py::TestPages", "tests/book/test_site.py", "tests/book/test_present.py", "chapters/",
    "tests/book/test_plain.py", "tests/library/test_mutants.py", "tests/classroom/answers/",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is slow. Long scopes first, and short ones last: neither worker then waits long for the other."""
    choice = tiers.Tiers(tiers.costs())
    for item in items:
        if choice.is_slow(item):
            item.add_marker("slow")
    items.sort(key=lambda item: rank(item.nodeid))


def rank(name):
    return next((place for place, start in enumerate(LONGEST_FIRST) if name.startswith(start)), len(LONGEST_FIRST))


class Meter:
    """Notes the CPU seconds that each test takes, with the processes that it waits for."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        before = os.times()
        try:
            return (yield)
        finally:
            item.user_properties.append(("cpu", sum(os.times()[:4]) - sum(before[:4])))


def record_costs(reports):
    """Write what the tests of the files that ran have cost; other files keep their records."""
    spent = {report.nodeid: dict(report.user_properties)["cpu"] for report in reports if report.when == "call"}
    files = {name.partition("::")[0] for name in spent}
    kept = {name: cost for name, cost in tiers.costs().items() if name.partition("::")[0] not in files}
    dear = {name: round(cost, 1) for name, cost in spent.items() if cost >= tiers.LEAST}
    kept |= {name: cost for name, cost in dear.items() if not name.startswith(tiers.NO_LIMIT)}
    tiers.COSTS.write_text(json.dumps(kept, indent=0, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


CONCERNS = {
    "the pages in a browser, and their build": (
        "tests/book/test_site.py", "tests/book/test_light.py", "tests/book/test_present.py"),
    "Explorers": ("tests/classroom/test_explorers.py",),
    "notebooks as committed": ("chapters/", "intro.ipynb"),
    "plain notebooks": ("tests/book/test_plain.py",),
    "the book on paper": ("tests/book/test_print.py",),
    "a class's results": ("tests/classroom/test_results.py",),
    "exercise checkers": ("tests/classroom/",),
    "mutants": ("tests/library/test_mutants.py",),
    "rules for sections and tools": ("tests/book/",),
}
THE_REST = "laws, oracles and docstrings of dplib"


def seconds_by_concern(reports):
    """Seconds of the workers, set-up and tear-down included: concern -> seconds, the longest first."""
    found = dict.fromkeys([*CONCERNS, THE_REST], 0.0)
    for report in reports:
        concern = next((name for name, starts in CONCERNS.items() if report.nodeid.startswith(starts)), THE_REST)
        found[concern] += report.duration
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def pytest_terminal_summary(terminalreporter):
    """Print how long what took, and what tests have measured: record_property("table", lines)."""
    found = [report for outcome in terminalreporter.stats.values() for report in outcome]
    reports = [report for report in found if isinstance(report, pytest.TestReport)]
    if len(reports) > 1000:
        terminalreporter.section("seconds by concern")
        seconds = seconds_by_concern(reports).items()
        terminalreporter.write("".join(f"{spent:7.0f}  {concern}\n" for concern, spent in seconds))
    if terminalreporter.config.option.record_costs:
        record_costs(reports)
    for report in terminalreporter.stats.get("passed", []):
        for name, lines in report.user_properties:
            if name == "table":
                terminalreporter.section(report.nodeid)
                terminalreporter.write("\n".join(lines) + "\n")
