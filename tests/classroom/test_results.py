"""A class's results: from a made-up class in which everything happens that happens in a class."""
import csv
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from provable_privacy import rerun, results

SECTION = [("code", "from provable_privacy import check"), ("markdown", "## Exercises")]
STUB, RIGHT, WRONG = (f'check.svt_monotone({{"counts": {counts}, "totals": 1.0}})' for counts in ("...", 2.0, 4.0))
TOUCH = 'check.svt_touch({"daily": (1, 0.1)})'


def notebook(*answers, section=SECTION):
    """A hand-in: (source, what it printed, name of an error) a cell, after the cells of the section."""
    cells = [new_code_cell(source) if kind == "code" else new_markdown_cell(source) for kind, source in section]
    for source, *rest in answers:
        said, error = (*rest, "", None)[:2] if len(rest) < 2 else rest
        outputs = [new_output("stream", name="stdout", text=said)] if said else []
        outputs += [new_output("error", ename=error, evalue="", traceback=[])] if error else []
        cells.append(new_code_cell(source, outputs=outputs))
    return nbformat.writes(new_notebook(cells=cells))


CLASS = {
    "right": notebook((RIGHT, "✓ svt_monotone: indeed\n")),
    "wrong": notebook((WRONG, "✗ svt_monotone: no\n")),
    "untouched": notebook((STUB, "○ svt_monotone: not attempted yet\n")),
    "never_run": notebook((RIGHT,)),
    "crashed": notebook(("1/0\n" + RIGHT, "", "ZeroDivisionError")),
    "second_try": notebook((WRONG, "✗ svt_monotone: no\n"), (RIGHT, "✓ svt_monotone: indeed\n")),
    "edited": notebook((WRONG, "✓ svt_monotone: indeed\n")),
    "forged": notebook((WRONG + "\nprint('✓ svt_monotone: indeed')", "✗ svt_monotone: no\n✓ svt_monotone: indeed\n")),
    "elsewhere": notebook(
        ("print('hello')", "✓ svt_monotone: indeed\n"), (STUB, "○ svt_monotone: not attempted yet\n")
    ),
    "monkey": notebook(
        ("check.svt_monotone = lambda answer: print('✓ svt_monotone: indeed')\n" + WRONG, "✓ svt_monotone: indeed\n")
    ),
    "magics": notebook(("%matplotlib inline\n!echo hello\n" + RIGHT, "hello\n✓ svt_monotone: indeed\n")),
    "book": notebook((STUB, "○ svt_monotone: not attempted yet\n")).replace(
        '\n ],\n "metadata"',
        ",\n"
        + ",\n".join(
            nbformat.v4.nbjson.json.dumps(cell)
            for cell in (
                new_markdown_cell("````{solution-start} ex-x\n:class: dropdown\n````"),
                new_code_cell(RIGHT, outputs=[new_output("stream", name="stdout", text="✓ svt_monotone: indeed\n")]),
                new_markdown_cell("````{solution-end}\n````"),
            )
        )
        + '\n ],\n "metadata"',
    ),
    "broken": '{"cells": [',
    "no_cells": "[]",
    "nested": "[" * 100_000,
}
BY_SAVED = {
    "right": "✓",
    "wrong": "✗",
    "untouched": "○",
    "never_run": "·",
    "crashed": "·",
    "second_try": "✓",
    "edited": "✓",
    "forged": "✓",
    "elsewhere": "○",
    "monkey": "✓",
    "magics": "✓",
    "book": "○",
}
BY_RERUN = BY_SAVED | {"never_run": "✓", "edited": "✗", "forged": "✗", "monkey": "·"}


def hand_in(folder, notebooks):
    for student, text in notebooks.items():
        (folder / f"{student}.ipynb").write_text(text, encoding="utf-8")
    return folder


def marks(found, name="svt_monotone"):
    return {one.student: one.marks.get(name) for one in found if one.marks}


def notes(found):
    return {one.student: "; ".join(one.notes) for one in found if one.notes}


def test_the_saved_outputs_of_a_class(tmp_path):
    found = results.read_class(hand_in(tmp_path, CLASS))
    assert marks(found) == BY_SAVED
    said = notes(found)
    assert (
        said.keys() == {"crashed", "forged", "monkey", "broken", "no_cells", "nested", "never_run"}
        and "no answer" in said["never_run"]
    )
    assert (
        "ZeroDivisionError" in said["crashed"]
        and "prints a mark" in said["forged"]
        and "prints a mark" in said["monkey"]
    )
    assert all("cannot be read" in said[name] for name in ("broken", "no_cells", "nested"))


def test_a_huge_notebook_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("provable_privacy.hand_in.LARGEST", 1000)
    assert "not read" in notes(results.read_class(hand_in(tmp_path, {"huge": " " * 1001})))["huge"]


def test_a_folder_is_one_student_and_hidden_copies_are_none(tmp_path):
    for place, text in (
        ("ann/one", CLASS["right"]),
        ("ann/two", notebook((TOUCH, "✗ svt_touch: no\n"))),
        (".ipynb_checkpoints/ann", CLASS["wrong"]),
    ):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        hand_in(tmp_path, {place: text})
    ann, = results.read_class(tmp_path)
    assert ann.student == "ann" and ann.marks == {"svt_monotone": "✓", "svt_touch": "✗"} and ann.right == 1


def test_exercises_stand_in_the_order_of_the_book():
    sections = results.exercises()
    assert "svt_monotone" in sections["sparse_vector.above_threshold"] and len(sections) == len(
        list(Path(__file__).parents[2].glob("chapters/*/*.ipynb"))
    )
    head, rows = results.table([results.Answers("ann", {"svt_monotone": "✓"})])
    assert head == ["student", *sections["sparse_vector.above_threshold"], "✓", "notes"]
    assert rows[0].count("✓") == 1 and rows[0].count("·") == len(head) - 4


def test_the_command_writes_table_csv_and_picture(tmp_path, capsys):
    folder = tmp_path / "class"
    folder.mkdir()
    hand_in(folder, CLASS | {"=SUM(A1)": CLASS["right"]})
    assert results.main([str(folder), "--csv", str(tmp_path / "a.csv"), "--picture", str(tmp_path / "a.png")]) == 0
    out = capsys.readouterr().out
    assert (
        "svt_monotone: 7 of 16" in out
        and len([line for line in out.splitlines() if line.startswith(("right ", "wrong "))]) == 2
    )
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows["right"]["svt_monotone"] == rows["right"]["✓"].replace("1", "✓") == "✓" and "'=SUM(A1)" in rows
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


LONG = "Wolfgang Amadeus Theophilus Sebastian Müller-Lüdenscheidt"


def test_long_names_and_other_scripts_keep_the_columns(tmp_path):
    hand_in(tmp_path, {LONG: CLASS["right"], "王小明": CLASS["wrong"], "Eve": CLASS["forged"]})
    shown = results.show(results.read_class(tmp_path)).split("\n\n")
    rows = shown[0].splitlines()[1:]
    assert (
        len({results.wide(row[: re.search(r"(?: +[✓✗○·]){7}", row).end()]) for row in rows}) == 1
        and max(map(results.wide, rows)) < 80
    )
    assert LONG not in shown[0] and "Eve: the cell prints a mark itself: svt_monotone" in shown[2]


@pytest.mark.parametrize("students", [3, 60])
def test_in_the_picture_no_words_lie_on_others(students):
    """Twelve exercises; names are long."""
    names = [
        name for section in ("above_threshold", "streams") for name in results.exercises()[f"sparse_vector.{section}"]
    ]
    marks_of = lambda who: {name: "✓✗○·"[(who + place) % 4] for place, name in enumerate(names)}  # noqa: E731
    fig = results.picture(
        [results.Answers(f"{LONG} {who}" if who % 2 else f"Li {who}", marks_of(who)) for who in range(students)]
    )
    ax, = fig.axes
    flat = [text for text in ax.texts if text.get_rotation() == 0]
    low, high = np.array([text.get_window_extent().get_points() for text in flat]).swapaxes(
        0, 1
    )  # corners: a row for each text
    edge = fig.bbox
    assert np.all(low >= edge.min) and np.all(high <= edge.max)
    overlapping = np.argwhere(np.triu(np.all((low[:, None] < high) & (low < high[:, None]), axis=-1), 1))
    assert [[flat[place].get_text() for place in pair] for pair in overlapping] == []
    assert all(
        edge.x1 > text.get_window_extent().x1 and edge.y1 > text.get_window_extent().y1
        for text in ax.texts
        if text.get_rotation()
    )


@pytest.mark.parametrize(("files", "arguments", "word"), [
    ({}, [], "no notebooks"),
    ({"a": notebook(("x = 1",))}, [], "calls a checker"),
    ({"a": "no JSON"}, [], "a.ipynb: cannot be read"),
    ({"a": CLASS["right"]}, ["--rerun", "gone.ipynb"], "cannot be read"),
    ({"a": CLASS["right"]}, ["--rerun", "empty.ipynb"], "no section"),
    ({"a": CLASS["right"]}, ["--csv", "no/such/folder.csv"], "no/such/folder.csv"),
])
def test_bad_input_gets_one_line(files, arguments, word, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.ipynb").write_text(notebook(section=[]), encoding="utf-8")
    (tmp_path / "class").mkdir()
    hand_in(tmp_path / "class", files)
    assert results.main(["class", *arguments]) == 2
    said = capsys.readouterr().err.removeprefix(f"{results.WARNING}\n\n")
    assert word in said and said.count("\n") == 1


FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can fork")


@FORK
def test_running_again_hears_only_the_checkers(tmp_path):
    section = tmp_path / "section.ipynb"
    section.write_text(notebook((STUB,)), encoding="utf-8")
    folder = tmp_path / "class"
    folder.mkdir()
    harmful = {
        "endless": notebook((RIGHT,), ("while True: pass",), (WRONG,)),
        "asleep": notebook((RIGHT,), ("import time; time.sleep(1000)",), (WRONG,)),
        "memory": notebook(("bytearray(40_000_000_000)",), (RIGHT,)),
        "flood": notebook((RIGHT,), ("open('big', 'wb').write(bytes(20_000_000))",)),
        "leaves": notebook((RIGHT,), ("import os; os._exit(3)",), (WRONG,)),
    }
    again = lambda paths: rerun.rerun(section, paths, seconds=2)        # noqa: E731
    found = results.read_class(hand_in(folder, CLASS | harmful), again)
    assert marks(found) == BY_RERUN | dict.fromkeys(harmful, "✓")
    said = notes(found)
    assert (
        all("stopped" in said[name] for name in ("endless", "asleep", "leaves")) and "saved otherwise" in said["edited"]
    )
    assert not (folder / "big").exists()


@FORK
def test_a_hand_in_sees_no_network_where_the_system_can_cut_it_off(tmp_path):
    section, hand = tmp_path / "section.ipynb", tmp_path / "ann.ipynb"
    section.write_text(notebook((STUB,)), encoding="utf-8")
    ask = (
        "import socket\ntry:\n    socket.create_server(('127.0.0.1', 0))\n"
        "    socket.create_connection(('192.0.2.1', 80), 1)\n"
        "except OSError as error:\n    counts = 2.0 if error.errno == 101 else 4.0\n" + STUB.replace("...", "counts")
    )
    hand.write_text(notebook((ask,)), encoding="utf-8")
    heard = []
    found = rerun.rerun(section, [hand], hear=heard.append)
    if "NOT cut off" in heard[0]:
        pytest.skip("this system cannot cut the network off")
    assert found[hand][:2] == ({"svt_monotone": "✓"}, "")


def test_without_fork_it_says_so(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    with pytest.raises(ValueError, match="Windows"):
        rerun.rerun(tmp_path / "section.ipynb", [])
