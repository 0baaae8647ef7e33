"""Type hints: every public name carries them, they are true as far as a type checker sees,
and the wheel hands them on."""
import importlib
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dplib
import provable_privacy

ROOT = Path(__file__).parents[2]
# the checkers and what serves them are asked by their names alone, with an answer that may be anything; of the Explorer
# a reader sees the class
HIDDEN = ("provable_privacy.check", "provable_privacy.battery", "provable_privacy.entries", "provable_privacy.formulas",
          "provable_privacy.given", "provable_privacy.speech", "provable_privacy.hand_in", "provable_privacy.rerun",
          "provable_privacy.cage", "provable_privacy.alike", "provable_privacy.explorer.", "dplib.teaching")
MODULES = [module.name for package in (dplib, provable_privacy)
           for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
           if not any(part.startswith("_") for part in module.name.split(".")) and not module.name.startswith(HIDDEN)]


def functions(module):
    """Name and function of everything public in a module, and of the public methods of its classes."""
    for name in getattr(module, "__all__", []):
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and thing.__module__.startswith(("dplib", "provable_privacy")):
            for method, value in vars(thing).items():
                function = (value.fget if isinstance(value, property) else inspect.unwrap(value)
                            if callable(value) else value)
                if inspect.isfunction(function) and function.__code__.co_filename == inspect.getsourcefile(thing) \
                        and (not method.startswith("_") or method in ("__init__", "__call__")):
                    yield f"{name}.{method}", function


def without_hints(function):
    """What of a signature is not annotated."""
    signature = inspect.signature(function)
    bare = [name for name, parameter in signature.parameters.items() if parameter.annotation is parameter.empty
            and name != "self"]
    return bare + ["return"] * (signature.return_annotation is signature.empty)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_carries_type_hints(name):
    bare = {thing: without_hints(function) for thing, function in functions(importlib.import_module(name))}
    assert {thing: missing for thing, missing in bare.items() if missing} == {}


def test_missing_hints_are_seen():
    seen = dict(functions(importlib.import_module("dplib.fdp"))) | dict(
        functions(importlib.import_module("dplib.budget")))
    assert {"TradeOff.subsample", "TradeOff.__call__", "Budget.__init__", "Budget.spent", "Budget.parallel"} <= set(
        seen)

    def half(value: float, rng=None) -> float:
        return value

    def none(value):
        return value

    assert without_hints(half) == ["rng"] and without_hints(none) == ["value", "return"]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """A function that runs the type checker: its exit code, and what it wrote."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", f"--cache-dir={tmp_path_factory.mktemp('mypy')}"]

    def run(*arguments):
        done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_the_type_checker_finds_nothing(mypy):
    assert mypy() == (0, "")


@pytest.mark.slow
def test_the_type_checker_sees_a_wrong_call(mypy, tmp_path):
    (tmp_path / "wrong.py").write_text("from dplib import mechanisms, quantiles\n"
                                       "mechanisms.laplace(1.0, sensitivity='one', epsilon=1.0)\n"
                                       "quantiles.median([1.0], low=0, high=1, epsilon=1.0, adjacency='swap')\n",
                                       encoding="utf-8")
    code, output = mypy(str(tmp_path / "wrong.py"))
    assert code == 1
    assert [line.split(":")[1] for line in output.splitlines() if ": error:" in line] == ["2", "3"]


def test_the_wheel_says_that_it_is_typed():
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    assert "py.typed" in data["dplib"] and (ROOT / "dplib" / "py.typed").is_file()
