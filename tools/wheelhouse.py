"""Gather all packages that the notebooks need, so that an edition installs without a network.

    python tools/wheelhouse.py          (make wheelhouse)

writes _build/notebooks/provable-privacy-wheelhouse.zip, beside the editions that `make notebooks` has written: the
wheels of the book, of what its notebooks import, of JupyterLab, and of what the instructors' question bank reads with.
They are those of requirements.txt, checked against its hashes, for this system and this version of Python. Unpacked
beside an edition, they are what the first cell of a notebook installs.
"""
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

from bookext.plain import STAMP
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "_build" / "notebooks"
WANTED = ("provable-privacy[sections]", "jupyterlab", "markdown-it-py", "mdit-py-plugins")
HOW = """\
All packages that the notebooks of Provable Privacy need, for {system} and Python {python}.

Unpack this folder beside the notebooks. In the folder that has both:

    python3 -m venv .venv
    .venv/bin/pip install --no-index --find-links wheelhouse "provable-privacy[sections]" jupyterlab

For the instructors' question bank, install markdown-it-py and mdit-py-plugins in the same way.
"""


def closure(wanted):
    """The distributions that these requirements need here, from what is installed: canonical names."""
    found, todo = set(), [Requirement(one) for one in wanted]
    while todo:
        one = todo.pop()
        key = canonicalize_name(one.name), *sorted(one.extras)
        if key in found:
            continue
        found.add(key)
        for line in metadata.requires(one.name) or ():
            needs = Requirement(line)
            if needs.marker is None or any(needs.marker.evaluate({"extra": extra}) for extra in (*one.extras, "")):
                todo.append(needs)
    return {name for name, *_ in found}


def pinned(names, text):
    """The blocks of requirements.txt, each a version with its hashes, of these distributions."""
    blocks = re.findall(r"^[\w.-]+==.*(?:\n +--hash=.*)*", text, re.MULTILINE)
    return [block for block in blocks if canonicalize_name(block.partition("==")[0]) in names]


def gather(folder):
    """Download or build the wheels into a folder. Ends with pip's own words if that cannot be done."""
    names = closure(WANTED) - {"provable-privacy"}
    blocks = pinned(names, (ROOT / "requirements.txt").read_text(encoding="utf-8"))
    if missing := names - {canonicalize_name(block.partition("==")[0]) for block in blocks}:
        sys.exit(f"requirements.txt does not pin {', '.join(sorted(missing))}.")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    wishes = folder / "requirements.txt"
    wishes.write_text("\n".join(blocks) + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--require-hashes", "--wheel-dir", folder]
    if subprocess.run([*pip, "--requirement", wishes]).returncode:
        sys.exit("pip could not get these packages.")
    wishes.unlink()


def main():
    books = sorted(MADE.glob("provable_privacy-*.whl"))
    if not books:
        sys.exit("There is no wheel of the book in _build/notebooks: make notebooks writes it.")
    folder = ROOT / "_build" / "wheelhouse"
    gather(folder)
    made = MADE / "provable-privacy-wheelhouse.zip"
    how = HOW.format(system=sys.platform, python=".".join(map(str, sys.version_info[:2])))
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as file:                # wheels are packed already
        file.writestr(zipfile.ZipInfo("wheelhouse/README.txt", STAMP), how)
        for wheel in sorted([*folder.glob("*.whl"), books[-1]], key=lambda path: path.name):
            file.writestr(zipfile.ZipInfo(f"wheelhouse/{wheel.name}", STAMP), wheel.read_bytes())
    print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
