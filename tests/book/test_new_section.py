"""A section that was just begun: its exercise works, its tests pass, and the rules say what is still missing."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import new_section
import pytest
from test_notebooks import RULES, Section

ROOT = Path(__file__).resolve().parents[2]
PLACE = "chapters/histograms/new_shapes"
MISSING = {"makes_claims_that_can_fail", "sets_complete_exercises", "has_all_its_parts", "states_a_true_reading_time"}


@pytest.fixture
def checkout(tmp_path):
    """What a section touches, in a copy."""
    for folder in ("provable_privacy", "tests", "tools", "course", "chapters/histograms"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("_toc.yml", "pyproject.toml", "references.bib"):
        shutil.copy(ROOT / file, tmp_path / file)
    assert new_section.main([PLACE, "New shapes", "--root", str(tmp_path)]) == 0
    return tmp_path


def test_the_rules_find_only_what_is_not_written_yet(checkout):
    section = Section((checkout / f"{PLACE}.ipynb").read_text(encoding="utf-8"))
    found = {name for name, rule in RULES.items() if list(rule(section))}
    assert found <= MISSING and "has_all_its_parts" in found
    assert "chapters/histograms/new_shapes\n" in (checkout / "_toc.yml").read_text(encoding="utf-8")
    assert "ex-new-shapes-cost" in (checkout / "course/plans/histograms.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_its_notebook_runs_and_its_checkers_pass_their_tests(checkout):
    before = (checkout / f"{PLACE}.ipynb").read_text(encoding="utf-8")
    here = os.environ | {"PYTHONPATH": os.pathsep.join([str(checkout), str(ROOT)])}
    commands = (
        ["tools/notebooks.py", "run", f"{PLACE}.ipynb"],
        ["-m", "pytest", "-q", "-n0", "-m", "", "-p", "no:cacheprovider", "tests/classroom/answers/new_shapes.py"],
    )
    for command in commands:
        done = subprocess.run(
            [sys.executable, *command], cwd=checkout, env=here, capture_output=True, text=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and (checkout / f"{PLACE}.ipynb").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(("place", "words"), [
    ("chapters/nowhere/x", "a chapter of the book"), ("histograms/x", "expected chapters/CHAPTER/section"),
    ("chapters/histograms/bins", "is there already"), ("chapters/histograms/Bins", "small letters"),
])
def test_a_place_that_cannot_be_is_told(capsys, place, words):
    assert new_section.main([place, "X"]) == 2
    assert words in capsys.readouterr().err
