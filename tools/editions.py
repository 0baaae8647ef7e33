"""Make the editions that are not the web page.

    python tools/editions.py notebooks      plain notebooks for students and for instructors, each as a zip file with the wheel of dplib

All of it is written into _build/notebooks. Run it with the Python of .venv (make notebooks does).
"""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from bookext.plain import branch, pack

ROOT = Path(__file__).resolve().parents[1]


def command(builder):
    """What makes an edition of the pages that the book's build has read and run."""
    book = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n", "--keep-going"]
    return [*book, "--builder", "custom", "--custom-builder", builder]


def notebooks():
    folder = ROOT / "_build" / "notebooks"
    subprocess.run(command("notebooks"), cwd=ROOT, check=True)
    shutil.rmtree(ROOT / "build", ignore_errors=True)        # where setuptools would find modules that are gone
    for old in folder.glob("*.whl"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    wheel, = folder.glob("*.whl")
    branch(folder, wheel)
    for made in pack(folder, wheel):
        print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("edition", choices=["notebooks"])
    {"notebooks": notebooks}[parser.parse_args().edition]()


if __name__ == "__main__":
    main()
