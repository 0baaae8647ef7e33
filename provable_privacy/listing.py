"""Show a function as it stands in the package."""

import ast
import inspect
import textwrap
from collections.abc import Callable

__all__ = ["source"]


def source(function: Callable) -> None:
    """Print the source of a function or class of dplib as it is installed, without its docstring.

    Parameters
    ----------
    function : function or class

    Examples
    --------
    >>> from dplib.svt import AboveThreshold
    >>> source(AboveThreshold.halted.fget)
    # dplib.svt.mechanism
    @property
    def halted(self) -> bool:
        return self._left == 0
    """
    code = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(code).body[0]
    assert isinstance(definition, (ast.FunctionDef, ast.ClassDef))
    first = definition.body[0]
    lines = code.splitlines()
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        del lines[first.lineno - 1 : first.end_lineno]
    print(f"# {function.__module__}", *lines, sep="\n")
