"""Gather in _build/release what is published: the wheel, the editions, the PDF and the pages.

A bill of materials and checksums go with them.
`make release` calls this when it has made all of them from one state of the sources.
"""
import hashlib
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

from bookext.cache import is_built
from bookext.plain import STAMP

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build"
MADE = ("notebooks/*.whl", "notebooks/provable-privacy-student.zip", "notebooks/provable-privacy-instructor-open.zip",
        "pdf/provable-privacy.pdf")


def pages(site: Path, made: Path):
    """The built pages as one file; the same bytes for the same pages, whatever the folder that they were built in."""
    with zipfile.ZipFile(made, "w") as file:
        for path in sorted(path for path in site.rglob("*") if path.is_file() and path.name != ".buildinfo"):
            place = zipfile.ZipInfo(f"{made.stem}/{path.relative_to(site).as_posix()}", STAMP)
            file.writestr(place, path.read_bytes(), zipfile.ZIP_DEFLATED)


def bill(made: Path):
    """What the book is made with, package by package, in the format CycloneDX: from the pins and their hashes."""
    tool = BUILD / "bill"
    venv.create(tool, clear=True, with_pip=True)
    program = tool / ("Scripts" if sys.platform == "win32" else "bin")
    pins = ROOT / "tools" / "bill-requirements.txt"
    subprocess.run([program / "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", pins], check=True)
    subprocess.run([
        program / "cyclonedx-py", "requirements", ROOT / "requirements.txt", "--pyproject", ROOT / "pyproject.toml",
        "--output-reproducible", "--output-file", made,
    ], check=True)


def checksums(folder: Path):
    """One line for each file, as sha256sum writes and checks them."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir()) if path.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def main():
    if not is_built(ROOT, "html"):
        sys.exit("The pages in _build/html are not those of the sources: make release builds them.")
    folder = BUILD / "release"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for pattern in MADE:
        made, = BUILD.glob(pattern)
        shutil.copy(made, folder)
    pages(BUILD / "html", folder / "provable-privacy-pages.zip")
    bill(folder / "bom.json")
    checksums(folder)
    print((folder / "SHA256SUMS").read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
