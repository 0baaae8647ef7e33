"""The tools themselves, and what the repository may contain."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import conftest
import nbformat
import notebooks
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
TOC = (ROOT / "_toc.yml").read_text(encoding="utf-8")


# --------------------------------------------------------------------------------------------------- tools/notebooks.py


def untidy():
    """A notebook as Jupyter leaves it: timings, widgets, pictures and counts out of order."""
    outputs = [
        new_output("stream", name="stdout", text="one\n"),
        new_output("stream", name="stdout", text="two\n"),
        new_output("display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 1x1>"}),
        new_output("display_data", data={"application/vnd.jupyter.widget-view+json": {"model_id": "5f"}}),
        new_output("execute_result", execution_count=41, data={"text/plain": "two"}),
    ]
    cell = new_code_cell("answer   \n", id="answer", execution_count=41, outputs=outputs)
    cell.metadata.update(execution={"shell.execute_reply": "now"}, tags=["remove-cell"], collapsed=False)
    nb = new_notebook(cells=[new_markdown_cell("# ε", id="title"), cell])
    nb.metadata.update(
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {}}}, language_info={"version": "3.99"}
    )
    return nb


def tidy():
    return notebooks.dumps(notebooks.normalise(untidy()))


def test_the_normal_form_keeps_what_is_compared_and_nothing_else():
    nb = json.loads(tidy())
    cell = nb["cells"][1]
    assert nb["metadata"] == notebooks.METADATA
    assert cell["metadata"] == {"jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
    assert cell["execution_count"] == 1 and cell["source"] == ["answer"]
    assert [output.get("text") or output["data"] for output in cell["outputs"]] == [
        ["one\n", "two\n"], {"text/plain": ["<Figure size 1x1>"]}, {"text/plain": ["two"]}]
    assert "ε" in tidy() and tidy().endswith("}\n")


def test_a_solution_shows_neither_its_first_line_nor_its_output():
    nb = new_notebook(
        cells=[
            new_markdown_cell("```{solution-start} ex-a\n```", id="start"),
            new_code_cell("check.a(7)", id="solution"),
            new_markdown_cell("```{solution-end}\n```", id="end"),
            new_code_cell("7", id="after"),
        ]
    )
    solution, after = (cell for cell in notebooks.normalise(nb).cells if cell.cell_type == "code")
    assert solution.source == "# a solution\ncheck.a(7)"
    assert solution.metadata == {"jupyter": {"source_hidden": True, "outputs_hidden": True}}
    assert after.source == "7" and after.metadata == {}


def test_what_stands_after_a_proof_or_claims_something_is_no_solution():
    written = "```{solution-start} ex-a\n```\n\nProof.\n\n```{solution-end}\n```"
    claim = new_code_cell("# claim: 7", id="claim", metadata={"tags": ["remove-cell"]})
    nb = new_notebook(cells=[new_markdown_cell(written, id="proof"), new_code_cell("answer = ...", id="stub"),
                             new_markdown_cell("```{solution-start} ex-b\n```", id="start"), claim])
    stub, claim = (cell for cell in notebooks.normalise(nb).cells if cell.cell_type == "code")
    assert stub.source == "answer = ..." and stub.metadata == {}
    assert claim.source == "# claim: 7" and claim.metadata["jupyter"] == {"source_hidden": True}


def test_the_normal_form_is_a_fixed_point():
    assert notebooks.dumps(notebooks.normalise(nbformat.reads(tidy(), as_version=4))) == tidy()
    assert notebooks.complaints(tidy()) == []


@pytest.mark.parametrize(("right", "wrong", "word"), [
    ('"execution_count": 1,\n   "id"', '"execution_count": null,\n   "id"', "never executed"),
    ('"execution_count": 1,\n   "id"', '"execution_count": 7,\n   "id"', "as number 7 where it is number 1"),
    ('"language_info"', '"widgets": {}, "language_info"', "normal form"),
    ('"id": "answer"', '"id": "title"', "two cells"),
    ('"id": "answer"', '"id": "5f0c9a1b"', "meaningful"),
    ('"id": "answer"', '"id": "Answer_1"', "meaningful"),
    ('"name": "stdout"', '"name": "stderr"', "stderr"),
    ('"one\\n"', '"<object at 0x7f3a5c1d>\\n"', "another machine"),
    ('"one\\n"', '"/home/me/book\\n"', "another machine"),
    ('"answer"\n', '""\n', "empty"),
    (
        '"data": {\n      "text/plain": [\n       "two"\n      ]\n     },\n'
        '     "execution_count": 1,\n     "metadata": {},\n     "output_type": "execute_result"',
        '"ename": "NameError", "evalue": "", "traceback": [], "output_type": "error"',
        "NameError",
    ),
])
def test_check_refuses(right, wrong, word):
    assert right in tidy()
    found = notebooks.complaints(tidy().replace(right, wrong, 1))
    assert any(word in complaint for complaint in found), found


@pytest.mark.parametrize("text", ["no JSON", "[]", "{}", '{"cells": [1]}'])
def test_a_file_that_is_no_notebook_gets_one_line(text):
    assert len(notebooks.complaints(text)) == 1 and notebooks.complaints(text)[0].startswith("no notebook")


def test_run_format_and_check_from_the_command_line(tmp_path, capsys):
    path = tmp_path / "section.ipynb"
    nb = new_notebook(cells=[new_code_cell("import os\nprint(os.environ.get('DPLIB_STATIC'), 6 * 7)", id="answer")])
    nbformat.write(nb, path)
    assert notebooks.main(["check", str(path)]) == 1 and "never executed" in capsys.readouterr().out
    run = [sys.executable, ROOT / "tools" / "notebooks.py", "run", path]
    subprocess.run(run, check=True, env={**os.environ, "DPLIB_STATIC": "1"})
    once = path.read_bytes()
    assert b"None 42" in once and notebooks.main(["check", str(path)]) == 0
    subprocess.run(run, check=True)
    assert path.read_bytes() == once
    assert notebooks.main(["format", str(path)]) == 0 and path.read_bytes() == once
    capsys.readouterr()
    assert notebooks.main(["show", str(path)]) == 0 and "\n  | None 42\n" in capsys.readouterr().out


SCRIPTS = ["benchmarks/checkers.py", "benchmarks/engine.py", "benchmarks/pages.py", "tools/editions.py",
           "tools/new_section.py", "tools/notebooks.py"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_finds_what_it_imports_wherever_it_is_called(script, tmp_path):
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, ROOT / script, "--help"], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "usage:" in done.stdout, done.stderr


# ----------------------------------------------------------------------------------------------------- the book's build


def test_every_chapter_has_a_number_in_the_plan():
    folders = set(re.findall(r"chapters/(\w+)/", TOC))
    assert folders and folders <= set(CONFIG["sphinx"]["config"]["book_chapters"])


def test_the_build_stops_at_errors():
    assert CONFIG["execute"]["raise_on_error"] is True and CONFIG["execute"]["stderr_output"] == "error"


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize(("target", "command"), [
    ("book", "jupyter-book build . -W -n --keep-going"), ("test", ".venv/bin/pytest"),
    ("test-all", '.venv/bin/pytest -m "" --live')])
def test_make_calls_the_plain_commands(target, command):
    shown = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert command in shown


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize(("python", "said"), [
    ("no-such-python", "there is no no-such-python"),
    ("old", "Python 3.11 or newer is needed"),
    ("bare", "python3-venv"),
])
def test_make_says_what_is_missing(python, said, tmp_path):
    for name in ("Makefile", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    refuse = {"old": "*version_info*) exit 1;; -V) echo Python 3.9.2;;", "bare": "*ensurepip*) exit 1;;"}
    if python in refuse:
        (tmp_path / python).write_text(f'#!/bin/sh\ncase "$*" in {refuse[python]} esac\n', encoding="utf-8")
        (tmp_path / python).chmod(0o755)
        python = f"./{python}"
    done = subprocess.run(
        ["make", "book", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and said in done.stdout


# ------------------------------------------------------------------------------------------------- what is in the files

BROWSER = "/usr/bin/chromium"       # where the tests look first; the only path of a machine that may be written down
UNWANTED = {
    "a package registry": re.compile(
        r"pypi\.org|pythonhosted|registry\.npmjs|registry\.yarnpkg|conda\.anaconda|proxy\.golang|--index-url"
    ),
    "a path of one machine": re.compile(r"(?<![\w.~])/(?:home|root|Users|work|opt|tmp|mnt|srv)/\w"),
    "the end of a line": re.compile(r"[ \t]+$", re.MULTILINE),
    "a carriage return": re.compile(r"\r"),
    "an unfinished merge": re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE),
}
# the patterns above and the samples below, and the patterns of tools/notebooks.py, are what they look for
EXEMPT = {"tests/book/test_tools.py", "tools/notebooks.py"}


def faults(text):
    found = [what for what, pattern in UNWANTED.items() if pattern.search(text)]
    return (
        found
        + ["no newline at its end"] * (not text.endswith("\n"))
        + ["empty lines at its end"] * text.endswith("\n\n")
    )


def tracked_files():
    if not shutil.which("git"):
        pytest.skip("no git, which knows what belongs to the book")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip(f"git does not know what belongs to the book: {listed.stderr.strip()}")
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]


def text_of(path):
    """The text of a file, None for a binary one."""
    try:
        return (ROOT / path).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None


def test_the_files_are_clean():
    found = [
        f"{path}: {fault}"
        for path in tracked_files()
        if path not in EXEMPT and (text := text_of(path))
        for fault in faults(text)
    ]
    assert not found, "\n".join(found)


def test_nothing_generated_or_foreign_is_tracked():
    found = [
        path
        for path in tracked_files()
        if re.search(r"(^|/)(_build|\.venv|__pycache__|node_modules)/|\.(min\.js|pyc|woff2?)$", path)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text", ["https://pypi.org/simple\n", "see /home/me/x\n", "trailing \n", "a\r\n", "a\n\n", "a", "<<<<<<< HEAD\n"]
)
def test_an_unclean_text_is_noticed(text):
    assert len(faults(text)) == 1


@pytest.mark.parametrize(
    "text", ["#!/usr/bin/env bash\n", f"{BROWSER}\n", "https://doi.org/10.1/home/x\n", "../work/x\n"]
)
def test_a_clean_text_is_accepted(text):
    assert faults(text) == []


def test_ruff_finds_nothing():
    """Its rules are in pyproject.toml."""
    process = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", ROOT],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout


def test_seconds_are_told_by_concern():
    class Report:
        def __init__(self, nodeid, duration):
            self.nodeid, self.duration = nodeid, duration

    took = {
        "tests/book/test_site.py::a": 3,
        "chapters/a/b.ipynb::Cell 1": 2,
        "chapters/a/b.ipynb::Cell 2": 2,
        "dplib/audit.py::dplib.audit": 1,
    }
    found = conftest.seconds_by_concern([Report(*one) for one in took.items()])
    assert list(found.items())[:3] == [
        ("notebooks as committed", 4),
        ("the pages in a browser, and their build", 3),
        (conftest.THE_REST, 1),
    ]
    assert sum(found.values()) == 8
