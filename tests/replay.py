"""One execution of a notebook serves its page and its test.

Where the book's build has executed the very same cells, with the same package, data and checkers, the committed outputs
are compared with that execution. A notebook of which there is none, or a stale one, runs, as all do with --live.
"""
import functools
from pathlib import Path

import pytest
from claims import alone_in
from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def build():
    """The folder of the execution cache that is right for the sources, and the checkers as they are."""
    # these imports take seconds, which few runs of tests need
    from bookext.cache import Checkers, cache_folder
    return cache_folder(ROOT, ROOT / "_build"), Checkers(ROOT)


def code_cells(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def outputs_of(nb, folder, checkers):
    """What the book's build has made of each code cell, None if it has not executed the notebook as it is now."""
    from bookext.cache import executed
    found = executed(folder, nb, checkers)
    return found and [[without_pictures(output) for output in cell.outputs] for cell in code_cells(found)]


def without_pictures(output):
    """An output without what the book's kernels add for its pages: figures as SVG, and Explorers as HTML."""
    data = output.get("data", {})
    data.pop("image/svg+xml", None)
    if data.get("text/plain", "").startswith("Explorer("):
        data.pop("text/html", None)
    return output


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    found = yield
    return [Notebook.from_parent(parent, path=file_path) if type(one) is IPyNbFile else one for one in found]


class Notebook(IPyNbFile):
    """A notebook; `executed` is what the book's build has made of each code cell, None if the cells run in a kernel."""

    def collect(self):
        for cell in super().collect():
            cell = Cell.from_parent(self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options)
            cell.add_marker("notebook")
            yield cell

    def setup(self):
        self.executed = None if self.config.option.live else outputs_of(self.nb, *build())
        if self.executed is None:
            cells = code_cells(self.nb)
            for cell, given in zip(cells, alone_in([cell.source for cell in cells]), strict=True):
                cell.source = given
            super().setup()
        else:
            self.setup_sanitize_files()


class Cell(IPyNbCell):
    def runtest(self):
        made = self.parent.executed
        self.user_properties.append(("notebook", "run" if made is None else "compared"))
        if made is None:
            super().runtest()
        elif not self.compare_outputs(made[self.cell_num], coalesce_streams(self.cell.outputs)):
            self.raise_cell_error("Cell outputs differ from the book's execution", "\n".join(self.comparison_traceback))


def pytest_terminal_summary(terminalreporter):
    """Say how the notebooks were tested."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    cells = [report for report in reports if getattr(report, "when", "") == "call"]
    ways = {cell.nodeid.partition("::")[0]: dict(cell.user_properties).get("notebook") for cell in cells}
    run, compared = (sorted(name for name in ways if ways[name] == way) for way in ("run", "compared"))
    if run or compared:
        live = terminalreporter.config.option.live
        why = f" (make book has not executed them as they are now: {', '.join(run)})" if run and not live else ""
        said = f"notebooks: {len(compared)} compared with the book's execution, {len(run)} run{why}"
        terminalreporter.write_line(said)
