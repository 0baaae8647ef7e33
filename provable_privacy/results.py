"""Who has solved what: a class's notebooks as a table of students and exercises.

    python -m provable_privacy.results FOLDER                             reads what the notebooks say, and runs nothing
    python -m provable_privacy.results FOLDER --csv class.csv --picture class.png
    python -m provable_privacy.results FOLDER --roster roster.csv --points points.csv --canvas import.csv
    python -m provable_privacy.results FOLDER --rerun SECTION.ipynb        runs the answers again: read the warning

A student is a notebook in FOLDER, or a folder in it with all notebooks of that student; FOLDER may also be what Canvas
or Moodle gives when all hand-ins are downloaded. In the table ✓ is right, ✗ wrong, ○ not attempted, and · no verdict:
never run, or stopped by an error. Solutions that a notebook brings with it do not count. Saved marks are what a
notebook says of itself, and no proof.
"""

import argparse
import functools
import hashlib
import sys
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provable_privacy import points, speech
from provable_privacy.alike import mark_alike, shape
from provable_privacy.hand_in import (
    CALL,
    NONE,
    Unreadable,
    calls,
    cells_of,
    changes_checkers,
    hand_ins,
    holds_mark,
    later,
    load,
    parsed,
    plain,
    words,
)

__all__ = ["Answers", "exercises", "picture", "read_class", "table"]

WARNING = (
    "Running a hand-in is running a stranger's program. The next lines say what keeps it from your files, your network "
    "and the other hand-ins on this machine. An answer and its checker share one process, so that a determined student "
    "can still fake a ✓ of their own."
)
FILES = {
    "roster": "a CSV of names or ids, such as what Canvas or Moodle exports: who is missing gets a row",
    "points": "write the points by section, by week of the syllabus and in all",
    "canvas": "write the homework's credit as a file that Canvas' gradebook imports",
    "moodle": "write it as a file that Moodle imports; needs the roster",
    "proofs": "a CSV for the marks that a person gives: read if it is there, and written with a row for each",
    "feedback": "write a text file for each student with what the checkers said",
}
BEST = f"{NONE}○✗✓"  # of several notebooks
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
    number: str = ""  # in Canvas or Moodle
    shapes: dict = field(default_factory=dict, repr=False)  # exercise -> what the answer's cell looks like
    files: set = field(default_factory=set, repr=False)  # fingerprints
    words: dict = field(default_factory=dict, repr=False)  # exercise -> what its checker said

    def __post_init__(self) -> None:
        self.student = plain(self.student)

    def tell(self, note: str) -> None:
        """Add a note, unless it stands there already."""
        if plain(note) not in self.notes:
            self.notes.append(plain(note))

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


def read_saved(path, known):
    """What a notebook says of itself. A cell speaks only for the exercises whose checkers it calls."""
    raw, said, strange = load(path), Answers(path.name), {}
    said.files.add(hashlib.sha256(raw).hexdigest())
    for kind, source, lines, error in cells_of(raw):
        if kind == "code":
            for what, names in read_cell(said, source, lines, error, known).items():
                strange.setdefault(what, {}).update(dict.fromkeys(names))
    for what, names in strange.items():
        said.tell(f"{what}: {', '.join(names)}" if names else what)
    return said


def read_cell(said, source, lines, error, known):
    """Add the marks of a cell; what is odd in it -> the exercises that it touches."""
    tree, found = parsed(source), words(lines)
    written = list(dict.fromkeys(name for name in CALL.findall(source) if name in known))
    called = [name for name in calls(tree) if name in written] if tree else []
    undone = []
    for name in written:
        before, mark = said.marks.get(name, NONE), found.get(name, NONE)[0] if name in called else NONE
        said.marks[name] = later(before, mark)
        undone += [name] if said.marks[name] != mark else []
        if mark == said.marks[name] != NONE:
            said.words[name] = found[name]
        if mark in "✓✗":
            said.shapes[name] = shape(source)
    odd = {
        f"stopped by {error}": called if error else [],
        "the cell prints a mark itself": called if tree and holds_mark(tree) else [],
        "called in a comment or a text only": [name for name in found if name in written and name not in called],
        "an earlier verdict counts, and not the copy further down": undone,
    }
    odd = {what: names for what, names in odd.items() if names}
    if tree is None and written:
        odd = {"a cell that is no Python cannot have run": written}
    elif tree and holds_mark(tree) and not called:
        odd["another cell holds a mark"] = []
    if tree and changes_checkers(tree):
        odd["a cell changes a checker"] = called
    return odd


def read_safely(path, known):
    """What a notebook says, or a note why it says nothing: no file stops the table."""
    try:
        return read_saved(path, known)
    except Unreadable as reason:
        note = reason
    except Exception as error:
        note = f"cannot be read ({type(error).__name__})"
    said = Answers(path.name)
    said.tell(f"{short(path.name)}: {note}")
    return said


def together(student, number, parts):
    """The notebooks of one student as one: the best mark of an exercise counts."""
    whole, seen = Answers(student, number=number), {}
    for part in parts:
        whole.files |= part.files
        for note in part.notes:
            whole.tell(note)
        for name, mark in part.marks.items():
            seen.setdefault(name, []).append(short(part.student))
            if BEST.index(mark) >= BEST.index(whole.marks.get(name, NONE)):
                whole.marks[name] = mark
                for kept, new in ((whole.shapes, part.shapes), (whole.words, part.words)):
                    kept |= {name: new[name]} if name in new else {}
    several = {name: files for name, files in seen.items() if len(files) > 1}
    if several:
        files = dict.fromkeys(file for files in several.values() for file in files)
        whole.tell(f"in several notebooks ({', '.join(files)}), the best mark counts: {', '.join(several)}")
    return whole


def read_class(folder: str | Path, again: Callable[[list[Path]], dict] | None = None) -> list[Answers]:
    """What a class has solved, a list of `Answers`, a student each.

    Parameters
    ----------
    folder : path
        Of the hand-ins.
    again : callable, optional
        Paths -> a dict: path -> (exercise -> mark, note, exercise -> words), from running them again. Its marks replace
        the saved ones of the same notebook; of exercises that it does not name, the saved marks stay.

    Raises
    ------
    ValueError
        If there is no notebook in the folder.
    """
    folder = Path(folder)
    students = hand_ins(folder) if folder.is_dir() else {}
    if not students:
        raise ValueError(f"no notebooks in {folder}")
    known, found = {name for names in exercises().values() for name in names}, []
    saved = {path: read_safely(path, known) for paths in students.values() for path in paths}
    for path, (marks, note, *heard) in (again(list(saved)) if again else {}).items():
        run_again(saved[path], {name: mark for name, mark in marks.items() if name in known}, note, *heard)
    names = [name for name, _ in students]
    for (student, number), paths in students.items():
        whole = together(
            f"{student} ({number})" if names.count(student) > 1 else student, number, [saved[path] for path in paths]
        )
        if not again and whole.marks and not whole.notes and set(whole.marks.values()) == {NONE}:
            whole.tell("no answer was run")
        found.append(whole)
    mark_alike(found)
    return found


def run_again(said, marks, note, heard=()):
    differ = [f"{name} {said.marks.get(name, NONE)}" for name in marks if said.marks.get(name, NONE) != marks[name]]
    if differ:
        said.tell(f"saved otherwise: {', '.join(differ)}")
    if note:
        said.tell(note)
    said.marks |= marks
    said.words = {name: line for name, line in said.words.items() if name not in marks} | dict(heard)


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
        name = short(one.student)
        ax.text(-0.65, row, name, ha="right", va="center", fontsize=9, family=fonts, parse_math=False)
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
    for name, what in FILES.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FOLDER" if name == "feedback" else "FILE", help=what)
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
            hear = functools.partial(print, file=sys.stderr)
            again = functools.partial(rerun, options.rerun, seconds=options.seconds, hear=hear)
        found = read_class(options.folder, again)
        if not columns(found):
            said = "; ".join(note for one in found for note in one.notes)
            raise ValueError(f"no notebook in {options.folder} calls a checker of the book{f' ({said})' * bool(said)}")
        unreadable = write(options, found)
    except (ValueError, OSError, Unreadable) as error:
        print(error, file=sys.stderr)
        return 2
    print(show(found))
    if unreadable:
        print(f"\n{unreadable}")
    return 0


def write(options, found):
    """Write the files that are asked for; returns what is to be said of the picture."""
    pairs = points.add_roster(found, points.read_table(options.roster), Answers) if options.roster else []
    entered = points.read_proofs(options.proofs) if options.proofs else {}
    given = {key: value for key, (value, _) in entered.items() if value is not None}
    if options.csv:
        head, rows = table(found)
        points.write_table(options.csv, [head, *rows], mark="\ufeff")
    if options.points:
        head, rows = points.points(found, given)
        points.write_table(options.points, [head, *rows], mark="\ufeff")
    if options.canvas:
        points.write_canvas(options.canvas, found, pairs, given)
    if options.moodle:
        points.write_moodle(options.moodle, found, pairs, given)
    if options.proofs:
        points.write_proofs(options.proofs, found, entered)
    if options.feedback:
        points.feedback(options.feedback, found, entered)
    return save_picture(found, options.picture) if options.picture else ""


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # ✓ and ✗, on Windows too
    sys.exit(main())
