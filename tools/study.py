"""Make a learner's copy of the notebooks in the folder my-copy, and open it in JupyterLab.

    python tools/study.py               (make lab)
    python tools/study.py --no-browser  makes the copy, and only says where it is

The copy has the sections without solutions and claims, with the numbers and the words of the pages. Nothing runs
meanwhile. What a learner has written is never overwritten: a file in which a cell was changed or added stays as it is,
and if the book has a newer version of it, that is put beside it as NAME.new.ipynb. To begin a section anew, rename or
delete its file and run the command again. The folder my-copy/solutions has the solutions; `check.solution` reads them.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from bookext.cache import is_built

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "my-copy"
MADE = "study/_build/notebooks"                  # in _build, apart from what the book's build has run
NOTES = ".from-the-book.json"                    # place of a file -> what its cells were when the book gave it
ADDED = """\
## This copy

`check.solution("dp_unit")` shows the solution of that exercise. The folder `solutions` has all of them.

The command that made this copy can run again, and it overwrites nothing that you have written.
When the book has a newer version of a notebook in which you wrote, that version is put beside yours.
Its name ends in `.new.ipynb`. Compare the two, and take over what you want to keep.
To begin a notebook anew, rename or delete it and run the command again."""


def build():
    """Write the plain notebooks into _build, if those there are not made from the sources as they are."""
    if is_built(ROOT, MADE):
        return
    print("Making your copy of the notebooks. This takes about a minute.", flush=True)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["execute"]["execute_notebooks"] = "off"
    config["sphinx"]["local_extensions"] = {"bookext": str(ROOT / "tools")}
    place = ROOT / "_build" / "study"
    place.mkdir(parents=True, exist_ok=True)
    (place / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", ".", "-n", "--quiet"]
    command += ["--config", place / "_config.yml", "--path-output", place]
    command += ["--builder", "custom", "--custom-builder", "notebooks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}\nThe notebooks could not be made.")


def given():
    """Place in a learner's folder -> the bytes that the book has for it."""
    made = ROOT / "_build" / MADE
    found = {path.relative_to(made / "student"): path.read_bytes() for path in (made / "student").rglob("*.ipynb")}
    for path in (made / "solutions").rglob("*.ipynb"):
        found[Path("solutions") / path.relative_to(made / "solutions" / "chapters")] = path.read_bytes()
    start = json.loads(found[Path("start.ipynb")])
    start["cells"].insert(-1, {"cell_type": "markdown", "id": "this-copy", "metadata": {}, "source": ADDED})
    found[Path("start.ipynb")] = (json.dumps(start, indent=1, ensure_ascii=False) + "\n").encode()
    return dict(sorted(found.items()))


def written(content):
    """A short hash of what stands in the cells of a notebook; outputs and settings do not count as written."""
    try:
        cells = [[cell["cell_type"], "".join(cell["source"])] for cell in json.loads(content)["cells"]]
        content = json.dumps(cells).encode()
    except (ValueError, KeyError, TypeError):    # not a notebook any more: whatever it is, it stays
        pass
    return hashlib.sha256(content).hexdigest()[:16]


def bring(folder, files):
    """Bring a folder up to date without a loss.

    Parameters
    ----------
    folder : path
    files : dict
        Place in the folder -> the bytes of the newest version.

    Returns
    -------
    dict
        Place of a notebook in which somebody wrote -> place of its newer version.
    """
    notes = folder / NOTES
    try:
        known, beside = dict(json.loads(notes.read_text(encoding="utf-8"))), {}
    except (OSError, ValueError, TypeError):     # a new folder, or notes that somebody spoilt
        known, beside = {}, {}
    for place, content in files.items():
        new, told = written(content), known.get(place.as_posix())
        if told == new and (folder / place).exists():
            continue
        number, target = 0, place
        while (folder / target).exists():
            now = written((folder / target).read_bytes())
            if now in (new, known.get(target.as_posix())):
                break
            number += 1
            target = place.with_suffix(f".new{number if number > 1 else ''}.ipynb")
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        (folder / target).write_bytes(content)
        known[target.as_posix()] = known[place.as_posix()] = new
        if target != place:
            beside[place] = target
    folder.mkdir(parents=True, exist_ok=True)
    notes.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return beside


def without_plugin():
    """The environment of a JupyterLab without the plug-in for authors, which numbers formulas in its own way."""
    settings = ROOT / "_build" / "study" / "jupyter" / "labconfig"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "page_config.json").write_text('{"disabledExtensions": {"jupyterlab-myst": true}}\n', encoding="utf-8")
    paths = [str(settings.parent), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-browser", action="store_true", help="make the copy, and do not open it")
    chosen = parser.parse_args()
    build()
    for place, newer in bring(COPY, given()).items():
        print(f"my-copy/{place.as_posix()} has your changes and stays as it is; a newer version is in {newer.name}")
    if chosen.no_browser:
        print("Your copy is in the folder my-copy. Begin with my-copy/start.ipynb.")
        return
    subprocess.run([sys.executable, "-m", "jupyterlab", "start.ipynb"], cwd=COPY, env=without_plugin())


if __name__ == "__main__":
    main()
