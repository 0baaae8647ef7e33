"""Who has solved what: a class's notebooks as a table of students and exercises.

    python -m provable_privacy.results FOLDER                             reads what the notebooks say, and runs nothing
    python -m provable_privacy.results FOLDER --csv class.csv --picture class.png
    python -m provable_privacy.results FOLDER --rerun SECTION.ipynb        runs the answers again: read the warning

A student is a notebook in FOLDER, or a folder in it with all notebooks of that student. In the table ✓ is right, ✗
wrong, ○ not attempted, and · no verdict: never run, or stopped by an error. Solutions that a notebook brings with it
do not count.
"""

import argparse
import csv
import functools
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provable_privacy import speech
from provable_privacy.hand_in import CALL, MARKS, Unreadable, read_cells, verdicts

__all__ = ["Answers", "exercises", "picture", "read_class", "table"]

WARNING = (
    "Running a hand-in is running a stranger's program with your rights: it can read your files and send them away. "
    "Limits stop "
    "accidents, not malice; and an answer and its checker share one process, so that a determined student can still "
    "fake a ✓."
)
NONE = "·"
WIDEST = 30  # letters of a name in the picture and on the screen; the CSV has all
# for names in other scripts, where one of them is installed
SCRIPTS = (
    "Noto Sans CJK SC",
    "PingFang SC",
    "Microsoft YaHei",
    "WenQuanYi Zen Hei",
    "SimHei",
    "Arial Unicode MS",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Nirmala UI",
)


@dataclass
class Answers:
    """What is known of one student: exercise -> mark, and notes for the person who reads the table."""

    student: str
    marks: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)

    @property
    def right(self) -> int:
        """The number of exercises that are solved."""
        return sum(mark == "✓" for mark in self.marks.values())


def exercises() -> dict[str, list[str]]:
    """The checkers' names: section -> list of names, in the order in which the section asks."""
    from provable_privacy import check  # noqa: F401 (each checker registers itself)

    found: dict[str, list[str]] = {}
    for name, module in speech.CHECKERS.items():
        package, _, section = module.partition(".check.")
        if package == "provable_privacy":  # and no checker that somebody has written in a notebook
            found.setdefault(section, []).append(name)
    return dict(sorted(found.items()))


def read_saved(answers, path, known):
    """Add what a notebook says of itself. A cell speaks only for the exercises whose checkers it calls."""
    strange = {}
    for kind, source, lines, error in read_cells(path):
        called = [name for name in CALL.findall(source) if name in known] if kind == "code" else []
        found = verdicts(lines)
        answers.marks |= {name: found.get(name, NONE) for name in called}
        if called and error:
            strange.setdefault(f"stopped by {error}", {}).update(dict.fromkeys(called))
        if called and re.search(rf"print\([^)]*[{MARKS}]", source):
            strange.setdefault("the cell prints a mark itself", {}).update(dict.fromkeys(called))
    answers.notes += [f"{what}: {', '.join(names)}" for what, names in strange.items()]


def notebooks_of(folder):
    """Student -> the notebooks that are handed in, in alphabetical order."""
    found = {}
    for path in sorted(folder.rglob("*.ipynb")):
        place = path.relative_to(folder)
        if not any(part.startswith(".") for part in place.parts):
            found.setdefault(place.parts[0] if len(place.parts) > 1 else path.stem, []).append(path)
    return found


def read_class(folder: str | Path, again: Callable[[list[Path]], dict] | None = None) -> list[Answers]:
    """What a class has solved, a list of `Answers`, a student each.

    Parameters
    ----------
    folder : path
        Of the hand-ins.
    again : callable, optional
        Paths -> a dict: path -> (exercise -> mark, note), from running the notebooks again. Its marks replace the saved
        ones.

    Raises
    ------
    ValueError
        If there is no notebook in the folder.
    """
    folder = Path(folder)
    students = notebooks_of(folder) if folder.is_dir() else {}
    if not students:
        raise ValueError(f"no notebooks in {folder}")
    known, found = {name for names in exercises().values() for name in names}, []
    marks = again([path for paths in students.values() for path in paths]) if again else {}
    for student, paths in students.items():
        answers = Answers(student)
        for path in paths:
            try:
                read_saved(answers, path, known)
                if again:
                    run_again(answers, *marks[path])
                elif answers.marks and not answers.notes and set(answers.marks.values()) == {NONE}:
                    answers.notes.append(f"{path.name}: no answer was run")
            except Unreadable as reason:
                answers.notes.append(f"{path.name}: {reason}")
        found.append(answers)
    return found


def run_again(answers, marks, note):
    differ = [name for name, mark in marks.items() if answers.marks.get(name, NONE) != mark]
    if differ:
        answers.notes.append(
            f"saved otherwise: {', '.join(f'{name} {answers.marks.get(name, NONE)}' for name in differ)}"
        )
    if note:
        answers.notes.append(note)
    answers.marks |= marks


def columns(found):
    """The exercises of every section that somebody in the class has opened, in the order of the book."""
    seen = {name for answers in found for name in answers.marks}
    return [name for names in exercises().values() if seen & set(names) for name in names]


def table(found: list[Answers]) -> tuple[list[str], list[list]]:
    """Head and rows: student, a mark for each exercise, how many are right, notes."""
    names = columns(found)
    rows = [
        [one.student, *(one.marks.get(name, NONE) for name in names), one.right, "; ".join(one.notes)] for one in found
    ]
    return ["student", *names, "✓", "notes"], rows


def picture(found: list[Answers]) -> Any:
    """The class at a glance, a matplotlib Figure: students by the number of right answers (* has a note in the table),
    and how many have solved each exercise.
    """
    import matplotlib.patches

    from provable_privacy import style

    names, order = columns(found), sorted(found, key=lambda one: (-one.right, one.student))
    hue = {"✓": style.GOOD, "✗": style.ALARM, "○": style.MUTED, NONE: style.MUTED}
    paper = {"✓": "#cfe8df", "✗": "#f6d3db", "○": "#f1f2f4", NONE: "#ffffff"}
    longest = max(wide(short(one.student)) for one in [Answers("solved by"), *order])
    left, across, down = 0.1 + 0.088 * longest, 0.42 * len(names), 0.2 * (len(order) + 1.4)  # inches
    width, height = left + across + 0.8, 1.1 + down + 0.05
    fig, ax = style.figure(width=width, height=height, layout=None)
    ax.set_position((left / width, 0.05 / height, across / width, down / height))
    fonts = [*fonts_for_names()]
    for row, one in enumerate(order):
        for column, name in enumerate(names):
            mark = one.marks.get(name, NONE)
            ax.add_patch(matplotlib.patches.Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, color=paper[mark], lw=0))
            ax.text(column, row, mark, color=hue[mark], ha="center", va="center", fontsize=9)
        ax.text(-0.65, row, short(one.student), ha="right", va="center", fontsize=9, family=fonts)
        ax.text(len(names) - 0.35, row, f"{one.right}{' *' * bool(one.notes)}", ha="left", va="center", fontsize=9)
    ax.text(-0.65, len(order) + 0.3, "solved by", ha="right", va="center", fontsize=9, weight="bold")
    for column, name in enumerate(names):
        solved = sum(one.marks.get(name) == "✓" for one in order)
        share = f"{solved / len(order):.0%}"
        ax.text(column, len(order) + 0.3, share, ha="center", va="center", fontsize=8, weight="bold")
        ax.text(column - 0.1, -0.75, name, ha="left", va="bottom", fontsize=8, rotation=45, rotation_mode="anchor")
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(order) + 0.9, -0.5))
    ax.set_axis_off()
    return fig


def fonts_for_names():
    """Of the picture: its own font, and those for other scripts that this machine has."""
    import matplotlib.font_manager

    return ["DejaVu Sans", *sorted(set(SCRIPTS) & set(matplotlib.font_manager.get_font_names()), key=SCRIPTS.index)]


def save_picture(found, path):
    """Write the picture; returns a line for the lecturer if a name in it is not readable, else ""."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        picture(found).savefig(path, dpi=150)
    missing = any("missing from" in str(warning.message) for warning in said)
    return "(no font here has the letters of some names: boxes in the picture, whole in the table)" if missing else ""


def wide(text):
    """The columns that a text takes on a screen, where Chinese letters take two."""
    letters = [one for one in text if not unicodedata.combining(one)]
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in letters)


def short(name):
    """A name, cut if it is longer than a table should be wide."""
    while wide(name) > WIDEST:
        name = name.removesuffix("…")[:-1].rstrip() + "…"
    return name


def show(found):
    """The table in plain text, under it the exercises with the share that solved them, and the notes."""
    head, rows = table(found)
    names, width = head[1:-2], max(wide(short(row[0])) for row in [["student"], *rows])
    padded = [f"{short(row[0])}{' ' * (width - wide(short(row[0])))}" for row in rows]
    lines = [f"{'student':{width}}  {' '.join(f'{i + 1:>2}' for i in range(len(names)))}   ✓"]
    lines += [
        f"{name}  {' '.join(f' {mark}' for mark in row[1:-2])}  {row[-2]:2}{'  see the notes' if row[-1] else ''}"
        for name, row in zip(padded, rows, strict=True)
    ]
    lines += [""] + [
        f"{i + 1:2} {name}: {sum(row[i + 1] == '✓' for row in rows)} of {len(rows)}" for i, name in enumerate(names)
    ]
    if any(row[-1] for row in rows):
        lines += ["", "notes", *(f"  {row[0]}: {row[-1]}" for row in rows if row[-1])]
    return "\n".join(lines)


def main(arguments=None):
    """The command. Returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m provable_privacy.results", description=__doc__.splitlines()[0], epilog=WARNING
    )
    parser.add_argument("folder", type=Path, help="of the notebooks that were handed in")
    parser.add_argument("--csv", type=Path, help="write the table to this file")
    parser.add_argument("--picture", type=Path, help="write a picture of the class to this file (.png, .svg, .pdf)")
    parser.add_argument(
        "--rerun",
        type=Path,
        metavar="SECTION",
        help="run the answers again after the cells of this notebook, the original",
    )
    parser.add_argument("--seconds", type=int, default=60, help="that one hand-in may take when it runs again (60)")
    options = parser.parse_args(arguments)
    try:
        again = None
        if options.rerun:
            from provable_privacy.rerun import rerun

            print(f"{WARNING}\n", file=sys.stderr)
            again = functools.partial(rerun, options.rerun, seconds=options.seconds)
        found = read_class(options.folder, again)
        if not columns(found):
            said = "; ".join(note for one in found for note in one.notes)
            raise ValueError(f"no notebook in {options.folder} calls a checker of the book{f' ({said})' * bool(said)}")
        if options.csv:
            # the mark that Excel needs to see UTF-8
            with options.csv.open("w", encoding="utf-8-sig", newline="") as file:
                head, rows = table(found)
                csv.writer(file).writerows([head, *([safe(entry) for entry in row] for row in rows)])
        if options.picture:
            unreadable = save_picture(found, options.picture)
    except (ValueError, OSError, Unreadable) as error:
        print(error, file=sys.stderr)
        return 2
    print(show(found))
    if options.picture and unreadable:
        print(f"\n{unreadable}")
    return 0


def safe(entry):
    """A name that a spreadsheet would take for a formula is written as text."""
    return f"'{entry}" if isinstance(entry, str) and entry[:1] in "=+-@" and entry else entry


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # ✓ and ✗, on Windows too
    sys.exit(main())
