"""All exercise checkers on the tables of answers of all sections: silent on the stub, content with what is right, clear about mistakes and leaks.

A module of `answers` is named as its section and has the tables SOLUTIONS and WRONG, perhaps STUBS, UNUSUAL and LEAKS (see `checking`),
and tests of its own, functions whose names begin with `test_`.
"""
import importlib
from pathlib import Path

import checking

import dplib.teaching.check

HERE = Path(__file__).parent
SECTIONS = {path.stem: path.parent.name for path in sorted(Path(dplib.teaching.check.__file__).parent.glob("[a-z]*/[a-z]*.py"))}


def suite(section):
    answers = importlib.import_module(f"answers.{section}")
    checkers = importlib.import_module(f"dplib.teaching.check.{SECTIONS[section]}.{section}")
    tables = (getattr(answers, name, ()) for name in ("STUBS", "SOLUTIONS", "WRONG", "UNUSUAL", "LEAKS"))
    own = {name: staticmethod(test) for name, test in vars(answers).items() if name.startswith("test_")}
    return type(section, (checking.tests(checkers, *tables),), own)


def test_every_section_has_its_answers():
    assert {path.stem for path in HERE.glob("answers/*.py")} == SECTIONS.keys()


for path in sorted(HERE.glob("answers/*.py")):
    globals()[f"Test_{path.stem}"] = suite(path.stem)
