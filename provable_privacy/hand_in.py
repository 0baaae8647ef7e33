"""What a notebook that was handed in says: its cells, what they printed, and the verdicts in it."""

import json
import re

__all__ = ["CALL", "MARKS", "Unreadable", "read_cells", "verdicts"]

MARKS = "✓✗○"
VERDICT = re.compile(rf"^([{MARKS}]) (\w+): (.*)$", re.MULTILINE)
CALL = re.compile(r"\bcheck\.(\w+)\(")
SOLUTION = re.compile(r"\{solution-(start|end)\}")
LARGEST = 50_000_000  # bytes of a notebook that is still read


class Unreadable(Exception):
    """A notebook that cannot be read; the message says why."""


def read_cells(path):
    """(kind, source, what it printed, name of the error that stopped it) of every cell that is the student's.

    Raises
    ------
    Unreadable
        If the file is no notebook, or larger than 50 MB.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise Unreadable(f"larger than {LARGEST // 10**6} MB, not read")
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        rows = [(cell["cell_type"], text(cell["source"]), printed(cell), stopped(cell)) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"cannot be read as a notebook ({type(error).__name__})") from None
    theirs, in_solution = [], False
    for row in rows:
        gates = SOLUTION.findall(row[1]) if row[0] == "markdown" else []
        in_solution = gates[-1] == "start" if gates else in_solution
        if not in_solution:
            theirs.append(row)
    return theirs


def text(source):
    return source if isinstance(source, str) else "".join(source)


def printed(cell):
    return "".join(
        text(output.get("text", "")) for output in cell.get("outputs", []) if output.get("output_type") == "stream"
    )


def stopped(cell):
    return next(
        (
            str(output.get("ename", "an error"))
            for output in cell.get("outputs", [])
            if output.get("output_type") == "error"
        ),
        None,
    )


def verdicts(lines):
    """Exercise -> mark, from what the checkers printed; the last word counts."""
    return {name: mark for mark, name, _ in VERDICT.findall(lines)}
