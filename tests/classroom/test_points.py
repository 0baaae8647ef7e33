"""Points, rosters, the gradebooks of Canvas and Moodle, the marks of proofs, feedback; and a class of forty, read and
run again."""
import csv
import json
import re
from pathlib import Path

import pytest
from test_hand_ins import HOSTILE, OPEN, SOLVED, put
from test_rerun import ATTACKS
from test_results import CLASS, STUB, TOUCH, WRONG, notebook

from provable_privacy import points, results

ROOT = Path(__file__).parents[2]
TOUCHED = (TOUCH.replace("}", ', "excess": (200, 20), "week": (7, 0.7)}'), "✓ svt_touch: indeed\n")


# ---------------------------------------------------------------------------------------------- stars, weeks, points

TABLE = ROOT / "provable_privacy" / "exercises.csv"
WEEKS = range(1, 13)


def table_of_exercises():
    """Section, label, stars, checkers, whether a person reads it, and week: as the notebooks and the syllabus say."""
    syllabus = (ROOT / "course" / "syllabus.md").read_text(encoding="utf-8")
    weeks = {label: week for week, asked in re.findall(r"^\| (\d+) \|.*\|([^|]*)\|$", syllabus, re.MULTILINE)
             for label in re.findall(r"{ref}`(ex-[^`]*)`", asked)}
    toc, rows, solution = (ROOT / "_toc.yml").read_text(encoding="utf-8"), [], False
    for place in re.findall(r"file: chapters/(\w+/\w+)$", toc, re.MULTILINE):
        path = ROOT / "chapters" / f"{place}.ipynb"
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                for gate in re.findall(r"\{solution-(start|end)\}", source):
                    solution = gate == "start"
                if head := re.search(r"\{exercise(?:-start)?\} (★+) .*\n:label: (\S+)", source):
                    read = re.search(r"[Aa] person reads", source) is not None
                    rows.append([place.replace("/", "."), head[2], len(head[1]), [], read, weeks.pop(head[2], "")])
            elif rows and not solution:
                rows[-1][3] += [name for name in re.findall(r"\bcheck\.(\w+)\(", source) if name not in rows[-1][3]]
    assert not weeks, f"the syllabus asks for what there is not: {', '.join(weeks)}"
    lines = [",".join([section, label, str(stars), " ".join(checkers), "yes" if read or not checkers else "", week])
             for section, label, stars, checkers, read, week in rows]
    return "\n".join(["section,label,stars,checkers,read,week", *lines, ""])


def test_the_table_is_that_of_the_notebooks_and_of_the_syllabus():
    assert TABLE.read_text(encoding="utf-8") == table_of_exercises(), "run: python tests/classroom/test_points.py"
    assert sorted(name for one in points.exercises().values() for name in one.checkers) == sorted(
        name for names in results.exercises().values() for name in names)
    assert {one.section for one in points.exercises().values()} == set(results.exercises())
    assert all(points.homework(week) for week in WEEKS)
    assert "Half of the stars of a week are enough for full credit" in (ROOT / "course/syllabus.md").read_text("utf-8")


def test_points_by_section_by_week_and_in_all():
    """Week 7 asks svt_touch (one star), svt_mend, dd_witness and fin_bug."""
    ann = results.Answers("ann", {"svt_touch": "✓", "svt_monotone": "✓", "svt_mend": "✗"})
    head, (best, row) = points.points([ann], {})
    book = points.exercises()
    section = [one.stars for one in book.values() if one.section == "sparse_vector.above_threshold"]
    week = [book[label].stars for label in points.homework(7)]
    assert head == ["student", "id", "sparse_vector.above_threshold", "week 7", "all"]
    assert best[2:] == [sum(section), sum(week), sum(section)] and row == ["ann", "", 4, 1, 4]
    assert points.credit(ann, 7, {}) == (1, sum(week) / 2)
    every = results.Answers("bob", dict.fromkeys((name for one in book.values() for name in one.checkers), "✓"))
    assert all(points.credit(every, week, {})[0] == points.credit(every, week, {})[1] for week in WEEKS)
    assert points.points([ann], {("ann", "ex-svt-monotone"): 1.5})[1][1] == ["ann", "", 2.5, 1, 2.5]


# ------------------------------------------------------------------------------------------------------- the rosters

CANVAS_EXPORT = """Student,ID,SIS User ID,SIS Login ID,Section,Essay (12),Final Score
    Points Possible,,,,,10,(read only)
"Doe, John",1001,S1,jdoe@x.edu,Course 101,9,90
"Müller, Ann-Marie",1002,S2,amueller@x.edu,Course 101,,
"Nobody, Nora",1003,S3,nnobody@x.edu,Course 101,,
"Student, Test",1009,,,Course 101,,
"""
MOODLE_PEOPLE = """First name,Surname,ID number,Email address
John,Doe,A1,jdoe@x.edu
Ann-Marie,Müller,A2,amueller@x.edu
Nora,Nobody,A3,nnobody@x.edu
"""
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",""" \
    """"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 501","John Doe",jdoe@x.edu,"Submitted for grading",,"20,00",Yes,"Monday, 5 October 2026, 9:00 AM",-,
"Participant 502","Ann-Marie Müller",amueller@x.edu,"Submitted for grading",,"20,00",Yes,-,-,
"Participant 503","Nora Nobody",nnobody@x.edu,"No submission",,"20,00",Yes,-,-,
"""
CANVAS_FILES = {"doejohn_1001_5_above.ipynb": notebook(SOLVED, TOUCHED),
                "mullerannmarie_LATE_1002_6_above.ipynb": notebook(OPEN)}
MOODLE_FILES = {"John Doe_501_assignsubmission_file_/a.ipynb": notebook(SOLVED, TOUCHED),
                "Ann-Marie Müller_502_assignsubmission_file_/a.ipynb": notebook(OPEN)}


def command(tmp_path, files, roster, *wanted):
    """Run the command; returns what is in each file that was wanted."""
    put(tmp_path / "class", files)
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    places = {one: tmp_path / f"{one}.csv" for one in wanted}
    arguments = [word for one, place in places.items() for word in (f"--{one}", str(place))]
    assert results.main([str(tmp_path / "class"), "--roster", str(tmp_path / "roster.csv"), *arguments]) == 0
    return {one: [*csv.reader(place.read_text(encoding="utf-8-sig").splitlines())] for one, place in places.items()}


@pytest.mark.parametrize(("files", "roster", "missing"), [
    (CANVAS_FILES, CANVAS_EXPORT, {"Nobody, Nora", "Student, Test"}),
    (MOODLE_FILES, MOODLE_PEOPLE, {"Nora Nobody"}),
    (MOODLE_FILES, WORKSHEET, {"Nora Nobody"}),
    (MOODLE_FILES, "John Doe\nAnn-Marie Müller\nNora Nobody\n", {"Nora Nobody"}),
    (MOODLE_FILES, "501\n502\n503\n", {"503"}),
    ({"jdoe.ipynb": notebook(SOLVED)}, "Username;Full name\njdoe;John Doe\nnora;Nora\n", {"Nora"}),
])
def test_who_is_missing_gets_a_row(files, roster, missing, tmp_path):
    said = command(tmp_path, files, roster, "csv")["csv"]
    notes = {row[0]: row[-1] for row in said[1:]}
    assert {name for name, note in notes.items() if "nothing handed in" in note} == missing
    assert not any("not on the roster" in note for note in notes.values()), notes


def test_a_name_that_two_have_decides_nothing(tmp_path):
    said = command(tmp_path, {"Li Ma.ipynb": notebook(SOLVED)}, "Full name,ID number\nLi Ma,1\nLi Ma,2\n", "csv")["csv"]
    assert [(row[0], row[-1].split(":")[0]) for row in said[1:]] == [
        ("Li Ma", "not on the roster, or on it more than once"), ("Li Ma", "nothing handed in"),
        ("Li Ma", "nothing handed in")]


def imported_by_canvas(rows):
    """What Canvas' importer reads from a file, by its rules (lib/gradebook_importer.rb): column -> points possible, and
    student's number -> column -> score."""
    head, *rest = rows
    assert len(head) > 3 and "Student" in head[0] and "ID" in head[1]
    assert re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3]) and "Section" in head[4]
    assert len({len(row) for row in rows}) == 1                       # or it takes another separator
    work = head[5:]
    assert not re.search("(Current|Final|Override) (Score|Points|Grade|Status)", " ".join(work))
    possible = [row for row in rest if "Points Possible" in row[0]]
    assert rest.index(possible[0]) == 0 and len(possible) == 1
    scores = {row[1]: dict(zip(work, row[5:], strict=True)) for row in rest[1:]}
    assert all(re.fullmatch(r"(\d+(\.\d+)?)?", score) for row in scores.values() for score in row.values())
    return dict(zip(work, possible[0][5:], strict=True)), scores


def test_what_canvas_imports(tmp_path):
    rows = command(tmp_path, CANVAS_FILES, CANVAS_EXPORT, "canvas")["canvas"]
    possible, scores = imported_by_canvas(rows)
    full = points.credit(results.Answers(""), 7, {})[1]
    assert possible == {"Homework of week 7": str(full)}
    assert scores == {"1001": {"Homework of week 7": "1"}, "1002": {"Homework of week 7": "0"},
                      "1003": {"Homework of week 7": ""}, "1009": {"Homework of week 7": ""}}
    assert rows[2][:5] == ["Doe, John", "1001", "S1", "jdoe@x.edu", "Course 101"]
    assert not (tmp_path / "canvas.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_what_moodle_imports(tmp_path):
    """Its users by number and e-mail, each of them known; a grade is a number, or empty for none."""
    head, *rows = command(tmp_path, MOODLE_FILES, MOODLE_PEOPLE, "moodle")["moodle"]
    assert head == ["ID number", "Email address", "Homework of week 7"]
    assert rows == [["A1", "jdoe@x.edu", "1"], ["A2", "amueller@x.edu", "0"], ["A3", "nnobody@x.edu", ""]]


def test_the_grading_worksheet_of_moodle_is_filled(tmp_path):
    """The importer needs the columns Identifier, Grade and Last modified (grade); all others come back as they were."""
    before = [*csv.reader(WORKSHEET.splitlines())]
    after = command(tmp_path, MOODLE_FILES, WORKSHEET, "moodle")["moodle"]
    full = points.credit(results.Answers(""), 7, {})[1]
    place = before[0].index("Grade")
    assert [row[place] for row in after] == ["Grade", str(points.short(20 / full)), "0", ""]
    assert [row[:place] + row[place + 1 :] for row in after] == [row[:place] + row[place + 1 :] for row in before]


@pytest.mark.parametrize(("roster", "word"), [
    ("Full name\nJohn Doe\n", "needs one of the columns"), ("", "needs one of the columns"),
    (b"\xff\xfe", "no table in UTF-8"),
])
def test_a_roster_that_does_not_serve_gets_one_line(roster, word, tmp_path, capsys):
    put(tmp_path / "class", MOODLE_FILES)
    (tmp_path / "roster.csv").write_bytes(roster if isinstance(roster, bytes) else roster.encode())
    assert results.main([str(tmp_path / "class"), "--roster", str(tmp_path / "roster.csv"), "--moodle",
                         str(tmp_path / "m.csv")]) == 2
    said = capsys.readouterr().err
    assert word in said and said.count("\n") == 1 and not (tmp_path / "m.csv").exists()


# --------------------------------------------------------------------------------------------------- proofs, feedback

def test_marks_of_proofs_are_merged_on_the_next_run(tmp_path):
    folder, proofs, table = tmp_path / "class", tmp_path / "proofs.csv", tmp_path / "points.csv"
    put(folder, CANVAS_FILES)
    arguments = [str(folder), "--proofs", str(proofs), "--points", str(table)]
    assert results.main(arguments) == 0
    text = proofs.read_text(encoding="utf-8-sig")
    assert "doejohn,1001,ex-svt-monotone,3,,\n" in text.replace("\r", "")
    proofs.write_text(text.replace("1001,ex-svt-monotone,3,,", '1001,ex-svt-monotone,3,"1,5",=half of it'),
                      encoding="utf-8")
    for _ in range(2):
        assert results.main([*arguments, "--feedback", str(tmp_path / "said")]) == 0
    rows = [*csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines())]
    assert {row["student"]: row["all"] for row in rows[1:]} == {"doejohn": "2.5", "mullerannmarie": "0"}
    assert "doejohn,1001,ex-svt-monotone,3,1.5,'=half of it" in proofs.read_text(encoding="utf-8-sig")
    said = (tmp_path / "said" / "doejohn_1001.txt").read_text(encoding="utf-8")
    assert "ex-svt-monotone: 1.5 of 3\n    ✓ svt_monotone: indeed\n    =half of it\n" in said
    assert "ex-svt-touch: 1 of 1\n    ✓ svt_touch: indeed\n" in said and "\nall: 2.5 of " in said


@pytest.mark.parametrize(("row", "word"), [
    ("doejohn,1001,ex-svt-monotone,3,4,", "row 2: points '4'"),
    ("doejohn,1001,ex-svt-monotone,3,nan,", "row 2: points 'nan'"),
    ("doejohn,1001,ex-svt-monotone,3,much,", "row 2: points 'much'"),
    ("doejohn,1001,ex-none,3,1,", "exercise 'ex-none'"),
])
def test_a_wrong_entry_is_named(row, word, tmp_path):
    (tmp_path / "proofs.csv").write_text(f"student,id,exercise,stars,points,remark\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(word)):
        points.read_proofs(tmp_path / "proofs.csv")


def test_feedback_files_stay_in_their_folder(tmp_path):
    names = ["../../up", "a/b", "a_b", ".", "", "CON", "x" * 300, "new\nline", "王小明"]
    found = [results.Answers(name, {"svt_touch": "✗"}, words={"svt_touch": "✗ svt_touch: no"}) for name in names]
    points.feedback(tmp_path / "said", found, {})
    assert len([*(tmp_path / "said").iterdir()]) == len(names) and [*tmp_path.iterdir()] == [tmp_path / "said"]
    assert all("✗ svt_touch: no" in path.read_text(encoding="utf-8") for path in (tmp_path / "said").iterdir())


# ------------------------------------------------------------------------------------------------- a class of forty

MONOTONE = "svt_monotone"
LIES = "import os\nfor one in (0, 1, 2): os.write(one, {!r}.encode())\n"


def forty():
    """Student -> notebook, mark when it is read, mark when it runs again."""
    made = {name: (CLASS[name], saved, again) for name, saved, again in [
        ("right", "✓", "✓"), ("wrong", "✗", "✗"), ("untouched", "○", "○"), ("never_run", "·", "✓"),
        ("edited", "✓", "✗"), ("forged", "✓", "✗"), ("monkey", "✓", "·"), ("book", "○", "○"),
        ("broken", None, None), ("nested", None, None)]}
    made |= {f"good_{i}": (notebook(SOLVED, TOUCHED), "✓", "✓") for i in range(10)}
    made |= {name: (notebook((attack,), SOLVED), "✓", "✓") for name, attack in ATTACKS.items()
             if name not in ("children", "flood", "parent")}
    for i in range(3):
        lies = LIES.format(json.dumps({f"good_{i}": [{MONOTONE: "✗"}, "a lie", {}]}) + "\n")
        made[f"liar_{i}"] = notebook((lies + WRONG, "✓ svt_monotone: indeed\n")), "✓", "✗"
    hostile = ("deep", "digits", "bytes", "cells_of_text", "no_source", "odd_source", "odd_outputs")
    made |= {name: (HOSTILE[name], None, None) for name in hostile}
    made |= {"two_copies": (notebook(SOLVED, OPEN), "✓", "✓"), "$\\frac{$": (CLASS["right"], "✓", "✓"),
             "=1+1": (CLASS["right"], "✓", "✓")}
    return made


@pytest.mark.slow
def test_a_class_of_forty_is_right_when_it_is_read_and_when_it_runs_again(tmp_path, capsys):
    made = forty()
    assert len(made) == 40
    put(tmp_path / "class", {f"{name}.ipynb": text for name, (text, *_) in made.items()})
    section, roster = tmp_path / "section.ipynb", tmp_path / "roster.csv"
    section.write_text(notebook((STUB,), (TOUCH,)), encoding="utf-8")
    roster.write_text(CANVAS_EXPORT.partition("\n")[0] + "\n" + "".join(
        f"{name},{i},,,One,,\n" for i, name in enumerate([*made, "absent"], start=1)), encoding="utf-8")
    for again, arguments in ((1, []), (2, ["--rerun", str(section), "--seconds", "3"])):
        files = {one: tmp_path / f"{one}{again}.csv" for one in ("csv", "points", "canvas")}
        wanted = [word for one, place in files.items() for word in (f"--{one}", str(place))]
        assert results.main([str(tmp_path / "class"), "--roster", str(roster), *wanted, *arguments]) == 0
        rows = {row["student"].removeprefix("'"): row for row in csv.DictReader(
            files["csv"].read_text(encoding="utf-8-sig").splitlines())}
        assert {name: rows[name][MONOTONE] for name in rows} == {
            name: entry[again] or "·" for name, entry in made.items()} | {"absent": "·"}
        possible, scores = imported_by_canvas([*csv.reader(files["canvas"].read_text(encoding="utf-8").splitlines())])
        by_name = {name: scores[str(i)]["Homework of week 7"] for i, name in enumerate([*made, "absent"], start=1)}
        assert by_name["good_3"] == "1" and by_name["wrong"] == "0" and by_name["absent"] == by_name["broken"] == ""
        assert list(possible) == ["Homework of week 7"]
    assert "Protections that are on" in capsys.readouterr().err


if __name__ == "__main__":                       # write the table anew
    TABLE.write_text(table_of_exercises(), encoding="utf-8")
