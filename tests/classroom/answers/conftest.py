"""Each file here is the tests of one section's checkers: `pytest tests/classroom/answers/laplace.py` runs them."""
import importlib

import checking
import pytest

from provable_privacy import check, results, speech  # noqa: F401 (checkers register themselves)


class Section(pytest.Module):
    """A file of tables, and the tests that `checking` makes of them."""

    def _getobj(self):
        module = super()._getobj()
        if strange := [name for name, value in vars(module).items() if is_table(value) and name not in checking.TABLES]:
            raise self.CollectError(f"{self.path.name}: {strange[0]} is none of {', '.join(checking.TABLES)}")
        section = next(name for name in results.exercises() if name.endswith(f".{self.path.stem}"))
        tables = [getattr(module, name, ()) for name in checking.TABLES]
        module.TestCheckers = checking.tests(importlib.import_module(f"provable_privacy.check.{section}"), *tables)
        return module


def is_table(value):
    """Whether this is a list of rows that begin with a checker."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(row, tuple) and row and getattr(row[0], "__name__", "") in speech.CHECKERS for row in value)


def pytest_pycollect_makemodule(module_path, parent):
    if module_path.stem not in ("conftest", "__init__"):
        return Section.from_parent(parent, path=module_path)
