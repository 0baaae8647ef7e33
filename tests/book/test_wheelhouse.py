"""A wheelhouse: what it gathers, and, for real, an install without an index."""
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import wheelhouse
from packaging.utils import canonicalize_name
from test_ways_in import required

ROOT = Path(__file__).resolve().parents[2]
PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")


def test_it_holds_all_that_notebooks_and_the_bank_import_and_no_tool_of_the_book():
    names = wheelhouse.closure(wheelhouse.WANTED)
    assert {canonicalize_name(one) for one in required("sections")} < names
    assert {"jupyterlab", "ipykernel", "markdown-it-py", "mdit-py-plugins", "mdurl"} < names
    assert not names & {"sphinx", "jupyter-book", "playwright", "pytest"}


def test_every_package_of_it_is_pinned_with_hashes():
    names = wheelhouse.closure(wheelhouse.WANTED) - {"provable-privacy"}
    blocks = wheelhouse.pinned(names, PINS)
    assert {canonicalize_name(block.partition("==")[0]) for block in blocks} == names
    assert all(re.search("--hash=sha256:[0-9a-f]{64}", block) for block in blocks)


def test_only_what_is_asked_for_is_taken_from_the_pins():
    block = "NumPy==2.0 \\\n    --hash=sha256:a \\\n    --hash=sha256:b"
    text = f"# made by hand\n{block}\nnumpy-x==1 \\\n    --hash=sha256:c\n"
    assert wheelhouse.pinned({"numpy"}, text) == [block]


def test_without_a_wheel_of_the_book_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(wheelhouse, "MADE", tmp_path)
    with pytest.raises(SystemExit, match="make notebooks writes it"):
        wheelhouse.main()


@pytest.mark.long
def test_an_empty_environment_installs_all_of_it_without_an_index(tmp_path):
    """By the first cell of a notebook, which then does nothing the second time; and the instructors' bank runs."""
    made = wheelhouse.MADE / "provable-privacy-wheelhouse.zip"
    if not made.exists():
        pytest.skip("make wheelhouse was not run")
    for archive in (made, wheelhouse.MADE / "provable-privacy-instructor.zip"):
        with zipfile.ZipFile(archive) as file:
            file.extractall(tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env/bin/python"
    nowhere = {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""}
    notebook = tmp_path / "instructor/chapters/attacks/linkage.ipynb"
    ask = f"import json; exec(next(''.join(cell['source']) for cell in json.load(open({str(notebook)!r}))['cells'] " \
          "if cell.get('id') == 'setup'))"
    for said in ("Installing provable-privacy", ""):
        done = subprocess.run([python, "-c", ask], cwd=notebook.parent, capture_output=True, text=True, env=nowhere)
        assert done.returncode == 0 and done.stdout.startswith(said) and bool(said) == bool(done.stdout), done.stderr
    rest = ["jupyterlab", "markdown-it-py", "mdit-py-plugins"]
    pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", tmp_path / "wheelhouse", *rest]
    subprocess.run(pip, check=True, env=nowhere)
    subprocess.run([python, "-m", "jupyterlab", "--version"], check=True)
    bank = tmp_path / "instructor/tools/questionbank.py"
    subprocess.run([python, bank, "variants", "1"], cwd=tmp_path / "instructor", check=True)
