"""Points of a class: stars by section, by week of the syllabus and in all, with the marks that a person gave.

An exercise is worth its stars; one with several checkers gives each an equal part. An exercise that a person reads has
no points until that person enters them in a table, and an entry there replaces what the checkers gave.
"""

import csv
import functools
import io
import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provable_privacy.hand_in import plain

__all__ = [
    "Exercise",
    "add_roster",
    "credit",
    "exercises",
    "feedback",
    "points",
    "read_proofs",
    "read_table",
    "safe",
    "write_canvas",
    "write_moodle",
    "write_proofs",
    "write_table",
]

PROOFS = ["student", "id", "exercise", "stars", "points", "remark"]
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
MOODLE = ["ID number", "Username", "Email address"]  # by which Moodle finds a student, each where the roster has it
NAMES = ["Student", "Full name", "name", "student"]
NUMBERS = ["ID", "Identifier", "id", "ID number", "SIS User ID", "SIS Login ID", "Username", "Email address"]


@dataclass(frozen=True)
class Exercise:
    """Of the book: what it is worth, and who marks it."""

    label: str
    section: str
    stars: int
    checkers: tuple[str, ...]
    read: bool  # by a person
    week: int | None  # of the syllabus, where it is homework


@functools.cache
def exercises() -> dict[str, Exercise]:
    """Label -> exercise, in the order of the book."""
    with (Path(__file__).parent / "exercises.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["label"]: Exercise(
                row["label"],
                row["section"],
                int(row["stars"]),
                tuple(row["checkers"].split()),
                row["read"] == "yes",
                int(row["week"]) if row["week"] else None,
            )
            for row in csv.DictReader(file)
        }


def homework(week: int) -> list[str]:
    """The labels of the exercises that the syllabus asks in a week."""
    return [label for label, one in exercises().items() if one.week == week]


def seen(found: Iterable[Any]) -> tuple[list[str], list[int]]:
    """The sections and the weeks of which somebody has handed in an exercise."""
    names = {name for one in found for name in one.marks}
    met = [exercise for exercise in exercises().values() if names & set(exercise.checkers)]
    return list(dict.fromkeys(one.section for one in met)), sorted({one.week for one in met if one.week})


def points_of(one, exercise, proofs):
    """The points of a student for an exercise."""
    read = proofs.get((key_of(one), exercise.label))
    if read is not None:
        return read
    right = sum(one.marks.get(name) == "✓" for name in exercise.checkers)
    return exercise.stars * right / max(len(exercise.checkers), 1)


def key_of(one):
    return one.number or one.student


def total(one, labels, proofs):
    return sum(points_of(one, exercises()[label], proofs) for label in labels)


def points(found: list[Any], proofs: dict[tuple[str, str], float]) -> tuple[list[str], list[list[Any]]]:
    """Head and rows: student, id, points by section, by week and in all; the first row has what can be reached."""
    sections, weeks = seen(found)
    book = exercises()
    groups = {section: [label for label in book if book[label].section == section] for section in sections}
    whole = [label for labels in groups.values() for label in labels]
    groups |= {f"week {week}": homework(week) for week in weeks} | {"all": whole}
    best = [sum(book[label].stars for label in labels) for labels in groups.values()]
    rows = [[one.student, one.number, *(short(total(one, part, proofs)) for part in groups.values())] for one in found]
    return ["student", "id", *groups], [["points possible", "", *best], *rows]


def short(value):
    """A number with two digits at most, as Canvas shows it."""
    return round(value) if value == round(value) else round(value, 2)


def credit(one: Any, week: int, proofs: dict[tuple[str, str], float]) -> tuple[float, float]:
    """The homework's credit of a week and the full credit: half of the stars are enough."""
    labels = homework(week)
    full = sum(exercises()[label].stars for label in labels) / 2
    return short(min(total(one, labels, proofs), full)), short(full)


# ------------------------------------------------------------------------------------------------ tables, in and out


def safe(entry: Any) -> Any:
    """A name that a spreadsheet would take for a formula is written as text."""
    return f"'{entry}" if isinstance(entry, str) and entry[:1] in tuple("=+-@") and len(entry) > 1 else entry


def unsafe(entry):
    """What `safe` was given."""
    return entry[1:] if entry[:1] == "'" and entry[1:2] in tuple("=+-@") else entry


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, of its own head; one without a known head has names or numbers in its first column.

    Raises
    ------
    ValueError
        If the file is not UTF-8, or no table.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        lines = text.splitlines()
        separator = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
        rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=separator) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: no table in UTF-8 ({type(error).__name__})") from None
    head = [cell.strip() for cell in rows[0]] if rows else []
    known = {*PROOFS, *NAMES, *NUMBERS, "First name", "Last name", "Surname"}
    if not known & set(head):
        head, rows = ["student"], [["student"], *([row[0]] for row in rows)]
    return [dict(zip(head, [*row, *[""] * len(head)], strict=False)) for row in rows[1:]]


def write_table(path: Path, rows: Iterable[Iterable[Any]], mark: str = "") -> None:
    """Write a CSV file, an ordinary one whole or not at all. `mark` is what Excel needs at the start to see UTF-8."""
    path, text = Path(path), io.StringIO(newline="")
    csv.writer(text).writerows([safe(entry) for entry in row] for row in rows)
    ordinary = not path.is_symlink() and (path.is_file() or not path.exists())
    place = path.with_name(f"{path.name}.part") if ordinary else path
    with place.open("w", encoding="utf-8", newline="") as file:
        file.write(mark + text.getvalue())
    if ordinary:
        place.replace(path)


def name_of(row):
    """Of a row of a roster."""
    whole = next((row[head] for head in NAMES if row.get(head)), "")
    parts = [row.get("First name", ""), row.get("Last name", "") or row.get("Surname", "")]
    return whole.strip() or " ".join(part for part in parts if part).strip() or next(iter(row.values()), "").strip()


def numbers_of(row):
    """What can stand for a student in the name of a file: "Participant 12345" is the 12345 of Moodle's folders."""
    given = [row[head].strip() for head in NUMBERS if row.get(head, "").strip()]
    return {re.sub(r"^Participant ", "", one) for one in given}


def spelled(name):
    """The letters of a name, for comparison: "Doe, John", "John Doe" and Canvas' "doejohn" are the same."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    words = ["".join(filter(str.isalnum, word)) for word in re.split(r"[\s,]+", letters)]
    words = [word for word in words if word]
    return {" ".join(sorted(words)), "".join(words), "".join(words[-1:] + words[:-1])}


def same_number(row, one):
    return not {one.number, one.student}.isdisjoint(numbers_of(row) | {name_of(row)})


def same_name(row, one):
    return not spelled(name_of(row)).isdisjoint(spelled(re.sub(r" \(\d+\)$", "", one.student)))


def add_roster(found: list[Any], roster: list[dict[str, str]], blank: type) -> list[tuple[dict[str, str], Any]]:
    """Pairs of a row of the roster and a student. Who is missing is added to the list, and who is too many gets a note.

    A number decides before a name, and a name only where one row and one student have it.
    """
    rows = [row for row in roster if "Points Possible" not in name_of(row)]
    pairs, left = {}, list(found)
    for alike in (same_number, same_name):
        fits = {i: [one for one in left if alike(row, one)] for i, row in enumerate(rows) if i not in pairs}
        for i, ones in fits.items():
            if len(ones) == 1 and sum(ones[0] is other for each in fits.values() for other in each) == 1:
                pairs[i] = ones[0]
        left = [one for one in left if all(one is not other for other in pairs.values())]
    for one in left:
        one.tell("not on the roster, or on it more than once")
    for i, row in enumerate(rows):
        if i not in pairs:
            number = row.get("ID") or next(iter(sorted(numbers_of(row))), "")
            pairs[i] = blank(name_of(row), number="" if number == name_of(row) else number)
            pairs[i].tell("nothing handed in")
            found.append(pairs[i])
    return [(row, pairs[i]) for i, row in enumerate(rows)]


def results_of(one, weeks, proofs):
    """The credit of each week; nothing, and no zero, for a student who has handed in nothing."""
    return ["" if not one.marks else credit(one, week, proofs)[0] for week in weeks]


def write_canvas(path: Path, found: list[Any], pairs: list[tuple[dict[str, str], Any]], proofs: dict) -> None:
    """A file for Import in Canvas' gradebook: its five columns, a column for each week, and a row of what is possible.

    Canvas finds a student by ID, then by SIS ids, then by name. An empty cell changes nothing there.
    """
    weeks = seen(found)[1]
    rows = pairs or [({"Student": one.student, "ID": one.number}, one) for one in found]
    full = [credit(found[0], week, proofs)[1] for week in weeks]
    body = [
        [name_of(row), *(row.get(head, "") for head in CANVAS[1:]), *results_of(one, weeks, proofs)]
        for row, one in rows
    ]
    head = [*CANVAS, *(f"Homework of week {week}" for week in weeks)]
    write_table(path, [head, ["    Points Possible", "", "", "", "", *full], *body])


def write_moodle(path: Path, found: list[Any], pairs: list[tuple[dict[str, str], Any]], proofs: dict) -> None:
    """A file for Moodle: the assignment's grading worksheet with grades in it, or one for the import of grades.

    Raises
    ------
    ValueError
        If the roster has nothing by which Moodle finds a student: it refuses a file with an unknown one.
    """
    weeks = seen(found)[1]
    head = list(pairs[0][0]) if pairs else []
    if {"Identifier", "Grade", "Last modified (grade)"} <= set(head):
        rows = [
            [{**row, "Grade": worksheet_grade(row, one, weeks, proofs)}[name] for name in head] for row, one in pairs
        ]
    elif given := [name for name in MOODLE if any(row.get(name, "").strip() for row, _ in pairs)]:
        head = [*given, *(f"Homework of week {week}" for week in weeks)]
        rows = [
            [*(row.get(name, "") for name in given), *results_of(one, weeks, proofs)]
            for row, one in pairs
            if any(row.get(name, "").strip() for name in given)
        ]
    else:
        raise ValueError(f"for Moodle, --roster needs one of the columns {', '.join(MOODLE)}, or a grading worksheet")
    write_table(path, [head, *rows])


def worksheet_grade(row, one, weeks, proofs):
    """The share of the full credit of all weeks, of the worksheet's maximum."""
    if not one.marks or not weeks:
        return row["Grade"]
    got, full = (sum(parts) for parts in zip(*(credit(one, week, proofs) for week in weeks), strict=True))
    most = re.sub(",", ".", row.get("Maximum Grade", "") or "100")
    return short(got / full * float(most))


# ------------------------------------------------------------------------------------------- what a person reads, says


def read_proofs(path: Path) -> dict[tuple[str, str], tuple[float | None, str]]:
    """(id or name, exercise) -> (points or None, remark), from the table that a person fills in.

    Raises
    ------
    ValueError
        If an exercise is unknown, or points are no number from 0 to its stars.
    """
    found: dict[tuple[str, str], tuple[float | None, str]] = {}
    for place, row in enumerate(read_table(path) if Path(path).exists() else [], start=2):
        exercise, given = exercises().get(row.get("exercise", "")), row.get("points", "").strip()
        try:
            value = float(given.replace(",", ".")) if given else None
        except ValueError:
            value = math.nan
        if exercise is None or value is not None and not 0 <= value <= exercise.stars:
            what = f"points {given!r}" if exercise else f"exercise {row.get('exercise', '')!r}"
            raise ValueError(f"{path}, row {place}: {plain(what)}")
        key = row.get("id", "").strip() or unsafe(row.get("student", ""))
        found[key, exercise.label] = value, unsafe(row.get("remark", ""))
    return found


def write_proofs(path: Path, found: list[Any], entered: dict) -> None:
    """The table for a person: a row for each student and exercise to read, with what was entered before."""
    sections, _ = seen(found)
    wanted = [one for one in exercises().values() if one.read and one.section in sections]
    rows, used = [], set()
    for one in found:
        keys = [exercise.label for exercise in wanted if one.marks]
        keys += [label for who, label in entered if who == key_of(one) and label not in keys]
        for label in keys:
            value, remark = entered.get((key_of(one), label), (None, ""))
            used.add((key_of(one), label))
            given = "" if value is None else short(value)
            rows.append([one.student, one.number, label, exercises()[label].stars, given, remark])
    for who, label in entered.keys() - used:  # what was entered is never lost
        value, remark = entered[who, label]
        rows.append([who, "", label, exercises()[label].stars, "" if value is None else short(value), remark])
    write_table(path, [PROOFS, *rows], mark="\ufeff")


def feedback(folder: Path, found: list[Any], entered: dict) -> None:
    """Write a text file for each student: what the checkers said, what a person entered, and the points."""
    folder.mkdir(parents=True, exist_ok=True)
    proofs = {key: value for key, (value, _) in entered.items() if value is not None}
    taken: set[str] = set()
    for one in found:
        lines = [one.student, ""]
        for label, exercise in exercises().items():
            value, remark = entered.get((key_of(one), label), (None, ""))
            said = [one.words.get(name, f"{one.marks[name]} {name}") for name in exercise.checkers if name in one.marks]
            if said or value is not None or remark:
                lines += [f"{label}: {short(points_of(one, exercise, proofs))} of {exercise.stars}"]
                lines += [f"    {words}" for words in [*said, *([plain(remark)] if remark else [])]]
        if len(lines) == 2:
            lines.append("Nothing handed in.")
        head, rows = points([one], proofs)
        lines += ["", *(f"{name}: {got} of {most}" for name, most, got in zip(head, *rows, strict=True) if most != "")]
        lines = [line for line in lines if not line.startswith("student: ")]
        name = re.sub(r"[^\w-]+", "_", f"{one.student}_{one.number}")[:80].strip("_") or "student"
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
