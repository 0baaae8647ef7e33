"""What the README promises: one line installs enough, and nothing needs what only POSIX systems have."""
import ast
import functools
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [ROOT / "intro.ipynb", *sorted((ROOT / "chapters").rglob("*.ipynb"))]
STUDY_LINE = 'python3 -m venv .venv && .venv/bin/pip install ".[study]" && .venv/bin/python tools/study.py'
NOT_FOR_WINDOWS = [ROOT / "provable_privacy" / name for name in ("rerun.py", "cage.py")]   # there it says so
OWN_TOOLS = [
    path
    for folder in ("dplib", "provable_privacy", "tools", "data")
    for path in (ROOT / folder).rglob("*.py")
    if path not in NOT_FOR_WINDOWS
]
POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios"}
POSIX_CALLS = re.compile(
    r"os\.(fork|getuid|geteuid|getgid|uname|wait\w*|nice|chown|killpg|setsid|symlink|mkfifo|getloadavg|sched_\w+)"
    r"|signal\.(SIGALRM|alarm|SIGKILL|SIGHUP|setitimer)|multiprocessing\.get_context\(.fork"
)


def code_of(notebook):
    return "\n\n".join(cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code")


def sources():
    return [
        *((path, path.read_text(encoding="utf-8")) for path in OWN_TOOLS),
        *((path, code_of(path)) for path in NOTEBOOKS),
    ]


def imported(code):
    """The top-level packages that a piece of code imports, outside of the standard library."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"dplib", "provable_privacy"}


def required(extra):
    """The distributions that an extra names, with those of the extras that it names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"]) + list(project["optional-dependencies"][extra])
    found = set()
    while wanted:
        requirement = wanted.pop()
        inner = re.match(re.escape(project["name"]) + r"\[([\w,-]+)\]", requirement)
        if inner:
            wanted += [one for name in inner[1].split(",") for one in project["optional-dependencies"][name]]
        else:
            found.add(re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-"))
    return found


distributions = functools.cache(packages_distributions)


def missing_from(extra, code):
    """The packages that the code imports and the extra does not install."""
    return {
        name
        for name in imported(code)
        if not {one.lower().replace("_", "-") for one in distributions().get(name, [name])} & required(extra)
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_study_line_installs_all_that_a_notebook_imports(path):
    assert missing_from("study", code_of(path)) == set()


def test_an_extra_that_lacks_something_is_noticed():
    assert missing_from("teaching", "import opendp.prelude as dp\nimport numpy") == {"opendp"}
    assert missing_from("study", "from sklearn import svm") == {"sklearn"}


# its list of August 2026, of what its kernel imports at the start; another copy of one of these asks for a restart
COLAB = {
    "numpy": "2.0.2", "scipy": "1.16.3", "pandas": "2.2.2", "matplotlib": "3.10.0", "pillow": "11.3.0",
    "ipython": "7.34.0", "ipywidgets": "7.7.1", "threadpoolctl": "3.6.0",
}


def test_nothing_that_colab_has_loaded_is_replaced():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {one.name: one for one in map(Requirement, [
        *project["dependencies"], *project["optional-dependencies"]["teaching"]])}
    assert wanted.keys() == COLAB.keys()
    assert [name for name, one in wanted.items() if COLAB[name] not in one.specifier] == []


@pytest.mark.parametrize("page", ["README.md", "intro.ipynb", "reference/dplib.md"])
def test_the_study_line_is_the_same_everywhere(page):
    text = (ROOT / page).read_text(encoding="utf-8") if page.endswith(".md") else "\n".join(
        cell.source for cell in nbformat.read(ROOT / page, as_version=4).cells)
    assert STUDY_LINE in text.splitlines()


def only_posix(code):
    """What a piece of code uses that Windows has not, and text files whose encoding depends on the system."""
    tree = ast.parse(code)
    yield from (f"import {name}" for name in imported_anything(tree) & POSIX_ONLY)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Call) and POSIX_CALLS.match(ast.unparse(node)):
            yield ast.unparse(node)
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.match(r"/(tmp|dev|proc|usr|etc)(/|$)", node.value)
        ):
            yield repr(node.value)
        if (
            isinstance(node, ast.Call)
            and opens_text(node)
            and not any(keyword.arg in ("encoding", None) for keyword in node.keywords)
        ):
            yield f"no encoding: {ast.unparse(node)}"


def imported_anything(tree):
    whole = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    parts = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in whole + parts}


def opens_text(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [
        argument.value
        for argument in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    opens = name == "open" and ast.unparse(call.func) not in ("Image.open", "pikepdf.open")
    return name in ("read_text", "write_text") or (opens and not any("b" in mode for mode in modes[-1:]))


def test_nothing_that_a_reader_runs_needs_posix():
    found = [f"{path.relative_to(ROOT)}: {what}" for path, code in sources() for what in only_posix(code)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("code", [
    "import fcntl", "from resource import getrusage", "os.fork()", "signal.alarm(3)", "path = '/dev/null'",
    "open('a.csv')", "path.read_text()", "path.write_text('ε')", "multiprocessing.get_context('fork')",
])
def test_what_needs_posix_is_noticed(code):
    assert list(only_posix(code))


@pytest.mark.parametrize(
    "code",
    ["open(path, 'rb')", "path.read_text(encoding='utf-8')", "gzip.open(path, 'wt', encoding='utf-8')", "os.environ"],
)
def test_what_runs_everywhere_is_accepted(code):
    assert list(only_posix(code)) == []


def test_linear_algebra_keeps_to_one_thread_in_a_notebook():
    """On a busy machine the threads of a small product wait for each other: ten seconds become three minutes."""
    ask = ("import json, provable_privacy, threadpoolctl\n"
           "print(json.dumps([[pool['user_api'], pool['num_threads']] for pool in threadpoolctl.threadpool_info()]))")
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, encoding="utf-8", env=free, check=True
    )
    threads = [number for kind, number in json.loads(done.stdout) if kind == "blas"]
    assert threads and set(threads) == {1}
