"""Keep the notebooks executed, small and in one form.

    python tools/notebooks.py run [FILES]       execute in a fresh kernel, then bring into normal form
    python tools/notebooks.py format [FILES]    bring into normal form
    python tools/notebooks.py check [FILES]     change nothing, complain about what is not right, exit with 1
    python tools/notebooks.py show [FILES]      print cells and text outputs, for `git diff`

Without FILES: intro.ipynb and every notebook under chapters/.

Normal form: text outputs and the execution counts 1, 2, 3, …; no pictures, no widgets, no timings, no metadata but what
the book reads; a solution shows neither its first line nor its output before it is opened in JupyterLab, and claims and
plotting code are folded there. The text outputs stay because `pytest --nbval` compares them; a notebook whose counts
are null passes nbval while testing nothing, so `check` refuses it.
"""
import argparse
import json
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_IN_CELLS = {"jupyter", "mystnb", "tags"}
FOLDED_TAGS = {"hide-input", "remove-cell", "remove-input"}
SOLUTION = "# a solution"                           # the one line of it that JupyterLab shows
GATE = re.compile(r"\{solution-(start|end)\}")     # a written proof has both in one cell
DROPPED_MIME = re.compile(r"image/|application/vnd\.jupyter\.widget-")
GOOD_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]+)?")
ONLY_HERE = re.compile(
    r"0x[0-9a-f]{6,}|/tmp/|/home/|/root/|/Users/|[A-Z]:\\|site-packages|ipykernel_\d|\bT_[0-9a-f]{5}"
)


def read(path):
    return nbformat.read(path, as_version=4)


def write(nb, path):
    path.write_text(dumps(normalise(nb)), encoding="utf-8", newline="\n")


def normalise(nb):
    """Bring a notebook into normal form, in place, and return it."""
    count, in_solution = 0, False
    for cell in nb.cells:
        cell.metadata = nbformat.from_dict(
            {key: value for key, value in cell.metadata.items() if key in KEPT_IN_CELLS and value}
        )
        cell.source = "\n".join(line.rstrip() for line in cell.source.strip("\n").split("\n"))
        if cell.cell_type == "markdown":
            gates = GATE.findall(cell.source)
            in_solution = gates[-1] == "start" if gates else in_solution
            if not cell.get("attachments"):
                cell.pop("attachments", None)
        elif cell.cell_type == "code":
            count += 1
            fold(cell, in_solution)
            cell.execution_count = count
            cell.outputs = normal_outputs(cell.outputs, count)
    nb.metadata = nbformat.from_dict(METADATA)
    nb.nbformat, nb.nbformat_minor = 4, 5
    return nb


def fold(cell, in_solution):
    """What JupyterLab keeps closed until somebody opens it."""
    cell.metadata.pop("jupyter", None)
    if in_solution and "remove-cell" not in cell.metadata.get("tags", []):
        if not cell.source.startswith(SOLUTION):
            cell.source = f"{SOLUTION}\n{cell.source}"
        cell.metadata["jupyter"] = {"outputs_hidden": True, "source_hidden": True}
    elif FOLDED_TAGS & set(cell.metadata.get("tags", [])):
        cell.metadata["jupyter"] = {"source_hidden": True}


def normal_outputs(outputs, count):
    kept = []
    for output in outputs:
        if output.output_type == "stream" and kept and kept[-1].get("name") == output.name:
            kept[-1].text += output.text
            continue
        if output.output_type in ("display_data", "execute_result"):
            output.metadata = nbformat.from_dict({})
            output.data = nbformat.from_dict(
                {mime: data for mime, data in output.data.items() if not DROPPED_MIME.match(mime)}
            )
            if not output.data:
                continue
        if output.output_type == "execute_result":
            output.execution_count = count
        if output.output_type == "error":
            output.traceback = []
        kept.append(output)
    return kept


def dumps(nb):
    nbformat.validate(nb)
    nb = nbformat.v4.rwbase.split_lines(nbformat.from_dict(nb))
    return json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def run(path):
    """Execute a notebook from top to bottom and write it back in normal form."""
    os.environ.pop("DPLIB_STATIC", None)            # the static page of an Explorer belongs to the book alone
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"     # this environment's kernel, whatever else is installed
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    nb = read(path)
    client = NotebookClient(
        nb,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=40"],     # no remarks about the kernel's transport
    )
    client.execute()
    write(nb, path)


def tidy(path):
    write(read(path), path)


def complaints(text):
    """What is wrong with the text of a notebook file, one line each."""
    try:
        ids = [cell.get("id") for cell in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"no notebook ({type(error).__name__})"]
    if len(set(ids)) < len(ids) or None in ids:  # nbformat would give new ones without a word
        return [
            f"{one}: two cells have this id, or none"
            for one in sorted(set(ids), key=str)
            if ids.count(one) > 1 or one is None
        ]
    nb = nbformat.reads(text, as_version=4)
    found, count = [], 0
    for cell in nb.cells:
        if RANDOM_ID.fullmatch(cell.id) or not GOOD_ID.fullmatch(cell.id):
            found.append(f"{cell.id}: not a meaningful id, such as fig-laplace-tail")
        if cell.cell_type == "code":
            count += 1
            found += [f"{cell.id}: {what}" for what in code_complaints(cell, count)]
    return found or (
        [] if dumps(normalise(nb)) == text else ["not in normal form: run `python tools/notebooks.py format`"]
    )


def show(path):
    """The notebook as plain text: every cell under its id, text outputs behind a bar."""
    for cell in read(path).cells:
        metadata = json.dumps(cell.metadata, ensure_ascii=False) if cell.metadata else ""
        print(f"[{cell.id}] {cell.cell_type} {metadata}".rstrip())
        print(cell.source)
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("ename", "")
            print("".join(f"  | {line}\n" for line in text.splitlines()), end="")
        print()


def code_complaints(cell, count):
    if not cell.source.strip():
        yield "an empty code cell"
    if cell.execution_count is None:
        yield "never executed: nbval would compare nothing"
    elif cell.execution_count != count:
        yield (f"run by hand, as number {cell.execution_count} where it is number {count}: "
               "run `python tools/notebooks.py run`")
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            yield f"writes to stderr: {output.text.strip()[:80]}"
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
            yield f"fails with {output.ename}"
        here = ONLY_HERE.search(json.dumps(output))
        if here:
            yield f"its output is different on another machine: {here.group()}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "format", "check", "show"])
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    files = options.files or [ROOT / "intro.ipynb", *sorted((ROOT / "chapters").rglob("*.ipynb"))]
    if options.command == "check":
        found = [f"{path}: {what}" for path in files for what in complaints(path.read_text(encoding="utf-8"))]
        print("\n".join(found), end="\n" if found else "")
        return bool(found)
    if options.command == "show":
        for path in files:
            show(path)
        return 0
    with ProcessPoolExecutor() as pool:
        list(pool.map({"run": run, "format": tidy}[options.command], files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
