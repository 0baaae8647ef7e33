"""The first cell of a plain notebook: what it installs and from where, and where it stops with one line."""
import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from bookext.plain.edition import MODULES, first_cell
from test_ways_in import required

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "git+https://github.com/a-university/provable.privacy@v1.1.0"
WHEEL = "provable_privacy-1.1.0-py3-none-any.whl"
PIP = """
import json, pathlib, shutil, sys
here = pathlib.Path(__file__).parents[2]
(here / "pip.json").write_text(json.dumps(sys.argv[1:]))
if not (here / "new").is_dir():
    sys.exit("ERROR: No matching distribution found")
for new in here.glob("new/*.dist-info"):
    for old in here.glob(f"site/{new.name.partition('-')[0]}-*.dist-info"):
        shutil.rmtree(old)
shutil.copytree(here / "new", here / "site", dirs_exist_ok=True)
"""


def distribution(folder, name, version, *modules):
    """Lay a distribution into a folder as pip does."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "top_level.txt").write_text("\n".join(modules) + "\n", encoding="utf-8")
    for module in modules:
        (folder / module).mkdir(exist_ok=True)
        (folder / module / "__init__.py").write_text("", encoding="utf-8")


def book(folder, version):
    distribution(folder, "provable-privacy", version, "dplib", "provable_privacy")


class Machine:
    """A Python with nothing but what a test lays into its one folder, and a pip that installs what lies ready."""

    def __init__(self, root):
        self.root, self.site = root, root / "site"
        self.notebooks = root / "my notes, été" / "chapters"
        self.notebooks.mkdir(parents=True)
        (self.site / "pip").mkdir(parents=True)
        (self.site / "pip/__init__.py").touch()
        (self.site / "pip/__main__.py").write_text(PIP, encoding="utf-8")
        for module in MODULES.split():
            (self.site / f"{module}.py").write_text("", encoding="utf-8")
        book(root / "new", "1.1.0")

    def run(self, address="", before=""):
        """What the cell says: its output, or its last line where it stops."""
        code = f"{before}\n{first_cell('1.1.0', address).source}"
        done = subprocess.run(
            [sys.executable, "-S", "-c", code], cwd=self.notebooks, capture_output=True, encoding="utf-8", check=False,
            env={**os.environ, "PYTHONPATH": str(self.site), "PYTHONUTF8": "1"},
        )
        return (done.stdout + done.stderr.partition("Stop: ")[2]).strip() if done.stdout + done.stderr else ""

    def asked(self):
        """What pip was told, or None."""
        note = self.root / "pip.json"
        return json.loads(note.read_text(encoding="utf-8")) if note.exists() else None


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_it_looks_for_all_that_sections_need():
    owners = packages_distributions()
    found = {one.lower().replace("_", "-") for module in MODULES.split() for one in owners[module]}
    assert required("sections") - found == {"numpy", "scipy", "pandas", "pillow", "ipython"}     # others need these


def test_it_is_folded_and_names_no_version_of_its_own():
    cell = first_cell("1.1.0", ADDRESS)
    assert cell.metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    assert cell.source.startswith("# @title")
    assert cell.source.splitlines()[-1] == f'prepare("1.1.0", "{ADDRESS}", "{MODULES}".split())'
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"] in cell.source


@pytest.mark.parametrize(("version", "installs"), [
    ("1.1.0", False), ("1.1.4", False), ("1.12.0", False), ("1.0.9", True), ("2.0.0", True), ("0.9", True),
])
def test_versions_are_compared(machine, version, installs):
    book(machine.site, version)
    (machine.notebooks / WHEEL).touch()
    said = machine.run()
    assert bool(machine.asked()) == installs
    assert said == "" or installs and said.endswith("Done.")


def test_what_is_missing_beside_the_book_is_installed(machine):
    book(machine.site, "1.1.0")
    (machine.site / "opendp.py").unlink()
    assert machine.run(ADDRESS).endswith("Done.") and machine.asked()


@pytest.mark.parametrize("address", ["", ADDRESS])
@pytest.mark.parametrize("place", [".", "..", "../.."])
def test_the_wheel_that_lies_near_is_preferred(machine, place, address):
    (machine.notebooks / place / WHEEL).touch()
    (machine.notebooks / "provable_privacy-1.0.0-py3-none-any.whl").touch()
    assert machine.run(address).endswith("Done.")
    *rest, last = machine.asked()
    assert rest == ["install", "--quiet", "--disable-pip-version-check"]
    assert last.endswith(f"{WHEEL}[sections]") and Path(last.removesuffix("[sections]")).is_file()


def test_without_a_wheel_the_tag_is_installed(machine):
    machine.run(ADDRESS)
    assert machine.asked()[-1] == f"provable-privacy[sections] @ {ADDRESS}"


def test_without_either_it_says_what_to_do(machine):
    assert machine.run().startswith(f"Put {WHEEL} into the folder of this notebook") and machine.asked() is None


def test_with_a_wheelhouse_no_network_is_used(machine):
    wheelhouse = machine.notebooks.parent / "wheelhouse"
    wheelhouse.mkdir()
    (wheelhouse / WHEEL).touch()
    machine.run(ADDRESS)
    assert machine.asked()[-4:] == ["--no-index", "--find-links", str(wheelhouse), f"{wheelhouse / WHEEL}[sections]"]


@pytest.mark.parametrize("installed", [False, True])
def test_a_strangers_distribution_is_refused(machine, installed):
    if installed:
        book(machine.site, "1.1.0")
    distribution(machine.site, "dplib", "3.0", "dplib")
    said = machine.run(ADDRESS)
    assert said.startswith("Another project's dplib is in") and machine.asked() is None


@pytest.mark.parametrize("installed", [False, True])
def test_a_file_of_that_name_is_refused(machine, installed):
    if installed:
        book(machine.site, "1.1.0")
    (machine.notebooks / "dplib.py").touch()
    said = machine.run(ADDRESS)
    assert said.startswith("Another project's dplib") and "rename the file" in said and machine.asked() is None


@pytest.mark.parametrize(("before", "restart"), [("import drawing", True), ("", False)])
def test_a_loaded_library_that_was_replaced_asks_for_a_restart(machine, before, restart):
    distribution(machine.site, "drawing", "3.10.0", "drawing")
    distribution(machine.root / "new", "drawing", "3.11.2", "drawing")
    said = machine.run(ADDRESS, before)
    assert ("another version of drawing before. Restart the kernel once" in said) == restart
    assert said.endswith("Done.") != restart


def test_what_pip_says_when_it_fails_is_told(machine):
    (machine.root / "new").rename(machine.root / "gone")
    said = machine.run(ADDRESS)
    assert "ERROR: No matching distribution found" in said and "provable-privacy-wheelhouse.zip" in said


def test_it_stops_with_words_and_without_a_traceback():
    """As IPython shows it."""
    ask = f"""
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_cell({first_cell("9.0.0", "").source!r})
"""
    done = subprocess.run([sys.executable, "-c", ask], cwd="/", capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip().startswith("Put provable_privacy-9.0.0") and len(done.stdout.strip().splitlines()) == 1
