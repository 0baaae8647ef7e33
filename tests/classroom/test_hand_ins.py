"""Hand-ins as they come: the names that Canvas and Moodle give them, several of one student, copies, and broken or
hostile files, none of which may stop the table."""
import csv
import json
import os
import time
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_results import CLASS, RIGHT, STUB, TOUCH, WRONG, hand_in, marks, notebook, notes

from provable_privacy import hand_in as reading
from provable_privacy import results

SOLVED, OPEN = (RIGHT, "✓ svt_monotone: indeed\n"), (STUB, "○ svt_monotone: not attempted yet\n")
FAILED = (WRONG, "✗ svt_monotone: no\n")


def put(folder, files):
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return results.read_class(folder)


@pytest.mark.parametrize(("answers", "mark", "note"), [
    ([SOLVED, OPEN], "✓", "not the copy further down: svt_monotone"),
    ([SOLVED, (RIGHT,)], "✓", "not the copy further down"),
    ([FAILED, OPEN], "✗", "not the copy further down"),
    ([OPEN, SOLVED], "✓", ""),
    ([SOLVED, FAILED], "✗", ""),
    ([(f"# {RIGHT}", "✓ svt_monotone: indeed\n")], "·", "in a comment or a text only: svt_monotone"),
    ([("if True\n" + RIGHT, "✓ svt_monotone: indeed\n")], "·", "no Python"),
    ([("say = print", ""), (f"say('\\u2713 svt_monotone: indeed')\n{WRONG}", "✓ svt_monotone: indeed\n")], "✓",
     "the cell prints a mark itself"),
    ([(f"import sys\nsys.stdout.write('✓ svt_monotone: indeed')\n{WRONG}", "✓ svt_monotone: indeed\n")], "✓",
     "the cell prints a mark itself"),
    ([(f"print(chr(0x2713), 'svt_monotone: indeed')\n{WRONG}", "✓ svt_monotone: indeed\n")], "✓",
     "the cell prints a mark itself"),
    ([(f"print('\\N{{CHECK MARK}} svt_monotone: indeed')\n{WRONG}", "✓ svt_monotone: indeed\n")], "✓",
     "the cell prints a mark itself"),
    ([("def good(*_):\n    print('✓ svt_monotone: indeed')", ""), (WRONG, "✓ svt_monotone: indeed\n")], "✓",
     "another cell holds a mark"),
    ([("setattr(check, 'svt_monotone', say)\n" + WRONG, "✓ svt_monotone: indeed\n")], "✓", "changes a checker"),
    ([("from elsewhere import say\ncheck.svt_monotone = say", ""), (WRONG, "✓ svt_monotone: indeed\n")], "✓",
     "changes a checker"),
])
def test_what_counts_in_one_notebook(answers, mark, note, tmp_path):
    found = put(tmp_path, {"ann.ipynb": notebook(*answers)})
    assert marks(found) == {"ann": mark} and (note in notes(found)["ann"] if note else notes(found) == {})


def test_the_book_itself_is_given_no_note(tmp_path):
    """No cell of a section outside of its solutions looks like a forgery."""
    for path in Path(__file__).parents[2].glob("chapters/*/*.ipynb"):
        said = results.read_saved(path, {name for names in results.exercises().values() for name in names})
        assert said.notes == [] and set(said.marks.values()) == {"○"}, path


def test_of_several_notebooks_the_best_mark_counts_and_it_is_noted(tmp_path):
    found = put(tmp_path, {"ann/x.ipynb": notebook(OPEN), "ann/x-2.ipynb": notebook(SOLVED),
                           "ann/y.ipynb": notebook((TOUCH, "✗ svt_touch: no\n")),
                           "bob/a.ipynb": notebook(SOLVED), "bob/b.ipynb": notebook((RIGHT,))})
    assert marks(found) == {"ann": "✓", "bob": "✓"} and found[0].marks["svt_touch"] == "✗"
    assert notes(found) == {
        "ann": "in several notebooks (x-2.ipynb, x.ipynb), the best mark counts: svt_monotone",
        "bob": "in several notebooks (a.ipynb, b.ipynb), the best mark counts: svt_monotone"}


@pytest.mark.parametrize(("places", "students"), [
    (["doejohn_1001_50001_linkage.ipynb", "doejohn_LATE_1001_50002_above_threshold.ipynb",
      "doejohn_1001_50003_linkage-1.ipynb"], [("doejohn", "1001")]),
    (["doejohn_1001_5_x.ipynb", "doejohn_1002_6_x.ipynb"], [("doejohn (1001)", "1001"), ("doejohn (1002)", "1002")]),
    (["bobsmith_1002_7_annlee_1003_8_x.ipynb", "annlee_1003_9_x.ipynb"], [("annlee", "1003"), ("bobsmith", "1002")]),
    (["Jane Doe_12345_assignsubmission_file_/x.ipynb", "Jane Doe_12345_assignsubmission_file_/deep/y.ipynb"],
     [("Jane Doe", "12345")]),
    (["Jane Doe_12345_assignsubmission_file/x.ipynb"], [("Jane Doe", "12345")]),
    (["Jane Doe_12345_assignsubmission_file_x.ipynb", "Jane Doe_12345_assignsubmission_file_y.ipynb"],
     [("Jane Doe", "12345")]),
    (["bob/annlee_1003_9_x.ipynb", "bob/Ann_1_assignsubmission_file_/x.ipynb"], [("bob", "")]),
    (["ann.ipynb", "bob/one/x.ipynb", "bob/two/x.ipynb", "Li Ma.IPYNB"], [("Li Ma", ""), ("ann", ""), ("bob", "")]),
])
def test_whose_a_file_is(places, students, tmp_path):
    found = put(tmp_path, {place: notebook(OPEN) for place in places})
    assert [(one.student, one.number) for one in found] == students


LONGER = """
def level(k, epsilon, beta):
    safe = 8 * (np.log(k) + np.log(2 / beta)) / epsilon
    return brentq(lambda x: false_alarm(k, x, epsilon) - beta, 0, safe)

check.svt_level(level)
"""


def test_copies_are_noted(tmp_path):
    said = "✓ svt_level: indeed\n"
    other = LONGER.replace("safe", "most")
    found = put(tmp_path, {
        "ann.ipynb": notebook((LONGER, said)), "bob.ipynb": notebook((LONGER.replace("\n", "  # mine\n"), said)),
        "eve.ipynb": notebook((other, said)), "short.ipynb": notebook(SOLVED), "brief.ipynb": notebook(SOLVED),
        "one.ipynb": CLASS["right"], "two.ipynb": CLASS["right"],
        "blank.ipynb": CLASS["untouched"], "empty.ipynb": CLASS["untouched"]})
    assert notes(found) == {
        "ann": "the same as bob: svt_level", "bob": "the same as ann: svt_level",
        "one": "the same as two: the whole file", "two": "the same as one: the whole file"}


def test_an_answer_that_comes_to_every_mind_is_not_noted(tmp_path):
    cells = {f"s{i}.ipynb": notebook((LONGER + f"# {i}", "✓ svt_level: indeed\n")) for i in range(9)}
    assert notes(put(tmp_path, cells)) == {}


# -------------------------------------------------------------------------------------------- broken and hostile files

CELL = "print(" * 20_000 + "\n" + RIGHT
HOSTILE = {                                     # what happens in a class that does not wish us well -> its notebook
    "surrogate": notebook((RIGHT, "", "ERROR")).replace("ERROR", "\\ud800"),
    "parentheses": notebook((CELL, "✓ svt_monotone: indeed\n")),
    "minus": notebook(("-" * 100_000 + "1\n" + RIGHT,)),
    "sum": notebook(("x = " + "1+" * 60_000 + "1\n" + RIGHT,)),
    "marks": notebook((RIGHT, "✓ " * 200_000)),
    "escapes": notebook((RIGHT, "", "\x1b[2Jgone\n")),
    "deep": "[" * 200_000,
    "deep_dict": '{"cells":' * 100_000,
    "digits": '{"cells": ' + "9" * 5_000 + "}",
    "bytes": "\x00\xff",
    "cells_of_text": '{"cells": ["code", "code"]}',
    "no_source": '{"cells": [{"cell_type": "code"}]}',
    "odd_source": '{"cells": [{"cell_type": "code", "source": [1, null]}]}',
    "odd_outputs": '{"cells": [{"cell_type": "code", "source": "", "outputs": {"a": 1}}]}',
    "$\\frac{$": CLASS["right"],
    "new\nline\x1b[31m": CLASS["right"],
    "\u202egnirts": CLASS["right"],
    "=cmd('calc')!A0": CLASS["right"],
}


def special_files(folder, elsewhere):
    """Student -> nothing to read: what is no ordinary file. Returns their names."""
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "zero.ipynb").symlink_to("/dev/zero")
    (elsewhere / "solved.ipynb").write_text(CLASS["right"], encoding="utf-8")
    (folder / "outside.ipynb").symlink_to(elsewhere / "solved.ipynb")
    (folder / "self.ipynb").symlink_to("self.ipynb")
    (folder / "folder.ipynb").mkdir()
    (folder / "loop").mkdir()
    (folder / "loop" / "again.ipynb").symlink_to(folder, target_is_directory=True)
    with (folder / "huge.ipynb").open("wb") as file:
        file.truncate(reading.LARGEST + 1)
    with open(os.fsencode(folder) + b"/M\xfcller.ipynb", "w", encoding="utf-8") as file:
        file.write(CLASS["right"])
    return ["pipe", "zero", "outside", "self", "folder", "loop", "huge"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only where there are such files")
def test_no_file_stops_the_table(tmp_path, capsys):
    folder, csv_file, picture = tmp_path / "class", tmp_path / "a.csv", tmp_path / "a.png"
    folder.mkdir()
    hand_in(folder, HOSTILE | {"right": CLASS["right"]})
    silent = special_files(folder, tmp_path)
    begun = time.process_time()
    assert results.main([str(folder), "--csv", str(csv_file), "--picture", str(picture)]) == 0
    assert time.process_time() - begun < 15
    out = capsys.readouterr().out
    with csv_file.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert len(rows) == len(HOSTILE) + len(silent) + 2
    assert [name for name in silent if "not read" not in rows[name]["notes"] and name != "self"] == []
    assert all(rows[name]["svt_monotone"] == "·" for name in (*silent, "parentheses", "minus", "surrogate"))
    assert all(rows[name]["svt_monotone"] == "✓" for name in (
        "right", "M\\udcfcller", "$\\frac{$", "new\\nline\\x1b[31m", "\\u202egnirts", "'=cmd('calc')!A0"))
    shown = [letter for letter in out + csv_file.read_text(encoding="utf-8-sig") if letter != "\n"]
    assert [letter for letter in shown if letter != reading.plain(letter)] == []
    assert picture.read_bytes().startswith(b"\x89PNG")


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(
    ["code", "markdown", "stream", "error", RIGHT, "✓ svt_monotone: indeed\n", "\ud800", "````{solution-start} ex"])
KEYS = st.sampled_from(["cells", "cell_type", "source", "outputs", "output_type", "text", "ename", "x"])
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
NEARLY = st.fixed_dictionaries({"cells": st.lists(st.fixed_dictionaries(
    {"cell_type": st.just("code") | LEAVES, "source": st.just(RIGHT) | ANYTHING}, optional={"outputs": ANYTHING}))})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(thing=ANYTHING | NEARLY, cut=st.integers(0, 40), junk=st.binary(max_size=5))
def test_whatever_is_in_a_file_the_class_is_read(thing, cut, junk, tmp_path):
    raw = json.dumps(thing).encode()
    (tmp_path / "eve.ipynb").write_bytes(raw[: len(raw) - cut] + junk if cut < 20 else raw)
    (tmp_path / "right.ipynb").write_text(CLASS["right"], encoding="utf-8")
    found = {one.student: one for one in results.read_class(tmp_path)}
    assert found["right"].marks == {"svt_monotone": "✓"} and found.keys() == {"right", "eve"}
    results.show(list(found.values())).encode("utf-8")


def test_a_reading_that_fails_is_a_note(tmp_path, monkeypatch):
    def fail(raw):
        raise ZeroDivisionError

    monkeypatch.setattr(results, "cells_of", fail)
    assert notes(put(tmp_path, {"ann.ipynb": nbformat.writes(nbformat.v4.new_notebook())})) == {
        "ann": "ann.ipynb: cannot be read (ZeroDivisionError)"}
