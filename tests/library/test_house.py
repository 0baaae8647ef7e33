"""dplib stands alone below: it knows nothing of the book, and no module of either package leads back to itself."""
import ast
import functools
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {name: ROOT / name for name in ("dplib", "provable_privacy")}
BELOW = {"numpy", "scipy", "pandas", "pooch"}    # pooch only where the true Adult is downloaded


def modules():
    """Name -> file, of all modules of both packages."""
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


@functools.cache
def imported(path):
    """All modules that a file imports, at its top or inside of a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(whole if (whole := f"{node.module}.{alias.name}") in MODULES else node.module
                        for alias in node.names)
    return found


def circle(arrows):
    """One circle of imports, or None."""
    try:
        TopologicalSorter(arrows).prepare()
    except ValueError as error:                  # graphlib's CycleError
        return error.args[1]


def test_dplib_imports_nothing_of_the_book():
    wanted = {top for name, path in MODULES.items() if name.startswith("dplib")
              for one in imported(path) if (top := one.split(".")[0]) != "dplib"}
    assert wanted - set(sys.stdlib_module_names) <= BELOW


def test_no_module_imports_in_a_circle():
    arrows = {name: {one for one in imported(path) if one in MODULES and one != name} for name, path in MODULES.items()}
    assert sum(map(len, arrows.values())) > 100 and circle(arrows) is None


def test_a_circle_is_seen():
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}


def test_no_module_is_named_like_a_test():
    assert not [name for name in MODULES if re.fullmatch(r"_?test(_\w+)?|\w+_test", name.rpartition(".")[2])]


def test_the_wheel_has_every_package():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert {*listed} - {"dplib._files"} == {name for name, path in MODULES.items() if path.name == "__init__.py"}


@pytest.mark.parametrize("old", ["import dplib.teaching", "from dplib.teaching import check",
                                 "from dplib.teaching.check import mechanisms"])
def test_who_asks_for_the_old_name_is_told_the_new_one(old):
    done = subprocess.run([sys.executable, "-c", old], capture_output=True, text=True, encoding="utf-8")
    assert done.stderr.splitlines()[-1] == (
        "ImportError: dplib.teaching is now provable_privacy: from provable_privacy import Explorer, check, source, "
        "style")
