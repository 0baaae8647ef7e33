"""What a folder of hand-ins holds: whose a notebook is, its cells, what they printed, and the verdicts in it.

Nothing in it is trusted. Only ordinary files inside the folder are read, and no link is followed.
"""

import ast
import json
import os
import re
import stat
import unicodedata
import warnings
from os import open as descriptor
from pathlib import Path

__all__ = [
    "CALL",
    "MARKS",
    "NONE",
    "Unreadable",
    "hand_ins",
    "later",
    "parsed",
    "plain",
    "read_cells",
    "verdicts",
    "words",
]

MARKS, NONE = "✓✗○", "·"
RANK = {NONE: 0, "○": 1, "✗": 2, "✓": 2}
VERDICT = re.compile(rf"^([{MARKS}]) (\w{{1,99}}): .*$", re.MULTILINE)
CALL = re.compile(r"\bcheck\.(\w{1,99})\(")
SOLUTION = re.compile(r"\{solution-(start|end)\}")
LARGEST = 50_000_000  # bytes of a notebook that is still read
SAID = 1_000  # letters of what a checker says
LONGEST = 200_000  # letters of a cell that is still read as Python
# the name of a file (Canvas), of a folder or file (Moodle), as the system writes it when all hand-ins are downloaded
CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_.+", re.DOTALL)
MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_file(?:_.*)?", re.DOTALL)
JOINERS = "\u200c\u200d"  # invisible letters that names in some scripts need


class Unreadable(Exception):
    """A notebook that cannot be read; the message says why."""


def plain(text):
    """A text that a terminal, a table and a picture can show: what is no letter or sign becomes its number."""
    return "".join(
        letter
        if letter in JOINERS or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else letter.encode("unicode_escape").decode("ascii")
        for letter in str(text)
    )


def hand_ins(folder):
    """(name, number in Canvas or Moodle or "") -> the notebooks of this student, in alphabetical order.

    A student is a file in the folder, or a folder in it. What lies deeper belongs to the student of that folder,
    whatever it is called.
    """
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*files, *folders]):
            if name.lower().endswith(".ipynb") and not name.startswith("."):
                path = Path(place, name)
                found.setdefault(student(path.relative_to(folder).parts), []).append(path)
    return {who: sorted(paths) for who, paths in sorted(found.items())}


def student(parts):
    system = MOODLE.fullmatch(parts[0]) or (CANVAS.fullmatch(parts[0]) if len(parts) == 1 else None)
    if system:
        return system["name"], system["id"]
    return (parts[0] if len(parts) > 1 else parts[0][: -len(".ipynb")]), ""


def read_cells(path):
    """(kind, source, what it printed, name of the error that stopped it) of every cell that is the student's.

    Raises
    ------
    Unreadable
        If the file is no notebook, no ordinary file, or larger than 50 MB.
    """
    return cells_of(load(path))


def load(path):
    """The bytes of an ordinary file."""
    try:
        kind = path.lstat().st_mode
        if not stat.S_ISREG(kind):
            what = "a link" if stat.S_ISLNK(kind) else "a folder" if stat.S_ISDIR(kind) else "no ordinary file"
            raise Unreadable(f"{what}, not read")
        with open(path, "rb", opener=carefully) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable("no ordinary file, not read")
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read ({type(error).__name__})") from None
    if len(raw) > LARGEST:
        raise Unreadable(f"larger than {LARGEST // 10**6} MB, not read")
    return raw


def carefully(path, flags):
    """Open what may have become a link or a pipe since we looked."""
    return descriptor(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def cells_of(raw):
    try:
        cells = json.loads(raw.decode("utf-8"))["cells"]
        rows = [(cell["cell_type"], text(cell["source"]), printed(cell), stopped(cell)) for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError) as error:
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
            str(output.get("ename", "an error"))[:80]
            for output in cell.get("outputs", [])
            if output.get("output_type") == "error"
        ),
        None,
    )


def later(old, new):
    """Which of two marks counts, the second said after the first: a verdict is undone by another verdict alone."""
    return new if RANK[new] >= RANK[old] else old


def verdicts(lines):
    """Exercise -> mark, from what the checkers printed; the last verdict counts."""
    return {name: line[0] for name, line in words(lines).items()}


def words(lines):
    """Exercise -> the whole line of the verdict that counts."""
    found = {}
    for match in VERDICT.finditer(lines):
        before = found.get(match[2], NONE)[0]
        if later(before, match[1]) == match[1]:
            found[match[2]] = plain(match[0][:SAID])
    return found


def parsed(source):
    """The cell as a tree, or None if it is no Python: then it cannot have run."""
    for code in (source, without_magic(source)) if len(source) <= LONGEST else ():
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def without_magic(source):
    """A cell without what only IPython understands."""
    lines = [re.sub(r"^(\s*)[%!?].*", r"\1pass", line) for line in source.splitlines()]
    return "\n".join(re.sub(r"^(\s*\w{1,99} *= *)[%!].*", r"\1None", line) for line in lines)


def calls(tree):
    """The checkers that a cell calls by their names: not those in its comments and texts."""
    return [
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and names_check(node.func.value)
    ]


def names_check(node):
    return isinstance(node, ast.Name) and node.id == "check"


def holds_mark(tree):
    """Whether a cell could print a mark itself: a text in it has one, or the number of one beside `chr`."""
    codes, nodes = {ord(mark) for mark in MARKS}, list(ast.walk(tree))
    by_number = any(isinstance(node, ast.Name) and node.id == "chr" for node in nodes)
    return any(
        isinstance(value, int)
        and by_number
        and value in codes
        or isinstance(value, str)
        and not codes.isdisjoint(map(ord, value))
        or isinstance(value, bytes)
        and any(mark.encode() in value for mark in MARKS)
        for value in (node.value for node in nodes if isinstance(node, ast.Constant))
    )


def changes_checkers(tree):
    """Whether a cell does more with `check` than to call what is in it."""
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and names_check(node.value)]
    names = [node for node in ast.walk(tree) if names_check(node)]
    own = any(isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == "check" for node in ast.walk(tree))
    return own or len(names) > len(attributes) or any(not isinstance(node.ctx, ast.Load) for node in attributes)
