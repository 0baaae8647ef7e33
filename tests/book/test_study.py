"""A learner's copy: nothing that a learner wrote is lost, and solutions come when asked for."""
import json
from pathlib import Path

import nbformat
import pytest
import study
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from test_plain import SECTIONS, plain_log, read  # noqa: F401 (fixtures)

from provable_privacy import check

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path("chapters/a/one.ipynb")
NEWER = "one.new.ipynb"


def notebook(*sources):
    cells = [new_code_cell(one, id=f"c{i}") for i, one in enumerate(sources)]
    return nbformat.writes(new_notebook(cells=cells)).encode()


OLD, NEW, NEWEST = notebook("answer = ..."), notebook("answer = ...", "1"), notebook("answer = ...", "2")
MINE = notebook("answer = 3")


@pytest.fixture
def folder(tmp_path):
    study.bring(tmp_path / "copy", {PLACE: OLD})
    return tmp_path / "copy"


def change(path, content):
    path.write_bytes(content)
    return path


def test_a_new_copy_has_all_files(folder):
    assert (folder / PLACE).read_bytes() == OLD and study.bring(folder, {PLACE: OLD}) == {}


def test_a_file_that_nobody_changed_is_renewed(folder):
    assert study.bring(folder, {PLACE: NEW}) == {}
    assert (folder / PLACE).read_bytes() == NEW and not (folder / PLACE).with_name(NEWER).exists()


def test_a_file_that_was_only_run_is_renewed(folder):
    nb = nbformat.reads(OLD, as_version=4)
    nb.cells[0].execution_count, nb.cells[0].outputs = 1, [new_output("stream", name="stdout", text="○")]
    nb.metadata["language_info"] = {"name": "python"}
    change(folder / PLACE, nbformat.writes(nb).encode())
    study.bring(folder, {PLACE: NEW})
    assert (folder / PLACE).read_bytes() == NEW


@pytest.mark.parametrize("mine", [
    MINE, notebook("answer = ...", "my own cell"), notebook(), b"{ broken", b"\xff\xfe", b"", b"[]", b'{"cells": [3]}',
])
def test_what_a_learner_wrote_stays_and_the_newer_version_is_put_beside_it(folder, mine):
    change(folder / PLACE, mine)
    assert study.bring(folder, {PLACE: OLD}) == {} and (folder / PLACE).read_bytes() == mine
    assert study.bring(folder, {PLACE: NEW}) == {PLACE: PLACE.with_name(NEWER)}
    assert (folder / PLACE).read_bytes() == mine and (folder / PLACE).with_name(NEWER).read_bytes() == NEW
    assert study.bring(folder, {PLACE: NEW}) == {}                              # it is said once


def test_the_newest_takes_the_place_of_an_offer_that_nobody_touched(folder):
    change(folder / PLACE, MINE)
    study.bring(folder, {PLACE: NEW})
    assert study.bring(folder, {PLACE: NEWEST}) == {PLACE: PLACE.with_name(NEWER)}
    assert (folder / PLACE).with_name(NEWER).read_bytes() == NEWEST and (folder / PLACE).read_bytes() == MINE


def test_an_offer_in_which_somebody_wrote_stays_too(folder):
    change(folder / PLACE, MINE)
    study.bring(folder, {PLACE: NEW})
    change((folder / PLACE).with_name(NEWER), MINE)
    assert study.bring(folder, {PLACE: NEWEST}) == {PLACE: PLACE.with_name("one.new2.ipynb")}
    assert (folder / PLACE).read_bytes() == (folder / PLACE).with_name(NEWER).read_bytes() == MINE


def test_who_takes_the_newer_version_is_left_alone(folder):
    change(folder / PLACE, MINE)
    study.bring(folder, {PLACE: NEW})
    (folder / PLACE).with_name(NEWER).replace(folder / PLACE)
    assert study.bring(folder, {PLACE: NEW}) == {} and study.bring(folder, {PLACE: NEWEST}) == {}
    assert (folder / PLACE).read_bytes() == NEWEST


def test_a_file_that_was_deleted_comes_back(folder):
    (folder / PLACE).unlink()
    assert study.bring(folder, {PLACE: OLD}) == {} and (folder / PLACE).read_bytes() == OLD


@pytest.mark.parametrize("notes", [None, "{", "[]"])
def test_without_notes_nothing_is_lost(folder, notes):
    change(folder / PLACE, MINE)
    (folder / study.NOTES).unlink() if notes is None else (folder / study.NOTES).write_text(notes, encoding="utf-8")
    assert study.bring(folder, {PLACE: OLD}) == {PLACE: PLACE.with_name(NEWER)}
    assert (folder / PLACE).read_bytes() == MINE


# ----------------------------------------------------------------------------------------------------------- solutions


@pytest.fixture
def copy_with_solutions(tmp_path, monkeypatch):
    cells = [
        new_markdown_cell("# 1.1 One: solutions"),
        new_markdown_cell("#### Solution to Exercise 1.1\n\nCount the rows."),
        new_code_cell("# a solution\ncheck.dp_unit({})"),
        new_markdown_cell("One person moves two counts."),
        new_markdown_cell("#### Solution to Exercise 1.2\n\nAnother one."),
        new_code_cell("# a solution\ncheck.dp_means({})"),
    ]
    (tmp_path / "solutions/definitions").mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells), tmp_path / "solutions/definitions/one.ipynb")
    (tmp_path / "chapters/definitions").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "chapters/definitions")
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda one: shown.append(one.data))
    return shown


@pytest.mark.parametrize("asked", ["dp_unit", "check.dp_unit", check.dp_unit])
def test_a_solution_is_shown_whole_and_alone(copy_with_solutions, asked):
    check.solution(asked)
    wanted = (
        "#### Solution to Exercise 1.1\n\nCount the rows.\n\n"
        "```python\ncheck.dp_unit({})\n```\n\nOne person moves two counts."
    )
    assert copy_with_solutions == [wanted]


def test_what_is_no_exercise_is_said(copy_with_solutions, capsys):
    for asked in ("dp_units", 3, None):
        check.solution(asked)
        assert f"There is no exercise {asked}." in capsys.readouterr().out
    assert not copy_with_solutions


def test_a_copy_without_solutions_says_where_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    check.solution("dp_unit")
    assert "The page of the section has them" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------- the copy, as it is made


@pytest.fixture(scope="module")
def files(once):
    once("study", lambda: study.build() or "")
    return study.given()


@pytest.mark.slow
def test_nothing_runs_and_the_words_and_numbers_are_those_of_the_students_edition(files, read):  # noqa: F811
    """That edition is made by running all notebooks; captions and the numbers of figures come from pictures."""
    for section in SECTIONS:
        mine = nbformat.reads(files[Path(f"{section}.ipynb")], as_version=4)
        assert [(cell.cell_type, cell.source) for cell in mine.cells] == [
            (cell.cell_type, cell.source) for cell in read("student", section).cells
        ]


@pytest.mark.slow
def test_the_copy_has_a_first_page_and_solutions_apart(files):
    start = "\n".join("".join(cell["source"]) for cell in json.loads(files[Path("start.ipynb")])["cells"])
    assert "check.solution(" in start and "overwrites nothing that you have written" in start
    solutions = {place.relative_to("solutions").as_posix() for place in files if place.parts[0] == "solutions"}
    assert solutions == {section.removeprefix("chapters/") + ".ipynb" for section in SECTIONS}
    for place, content in files.items():
        if place.parts[0] == "chapters":
            code = [cell.source for cell in nbformat.reads(content, as_version=4).cells if cell.cell_type == "code"]
            assert not [source for source in code if source.startswith(("# a solution", "# claim:"))]
