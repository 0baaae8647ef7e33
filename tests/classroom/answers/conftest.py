"""Each file here is the tests of one section's checkers: `pytest tests/classroom/answers/laplace.py` runs them."""
import importlib

import checking
import pytest

from provable_privacy import check, results  # noqa: F401 (checkers register themselves)


class Section(pytest.Module):
    """A file of tables, and the tests that `checking` makes of them."""

    def _getobj(self):
        module = super()._getobj()
        section = next(name for name in results.exercises() if name.endswith(f".{self.path.stem}"))
        tables = [getattr(module, name, ()) for name in checking.TABLES]
        module.TestCheckers = checking.tests(importlib.import_module(f"provable_privacy.check.{section}"), *tables)
        return module


def pytest_pycollect_makemodule(module_path, parent):
    if module_path.stem not in ("conftest", "__init__"):
        return Section.from_parent(parent, path=module_path)
