"""Every Explorer of every section, at every position of its sliders."""
import builtins
import functools
import json
import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import pytest

from dplib.teaching import Explorer

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "chapters").rglob("*.ipynb"))
MOST_FRAMES = 36
LIMIT_KB = 500


def explorers_of(cells):
    """Run code cells, one after the other, and return the explorers they make."""
    made, make = [], Explorer.__init__

    def record(self, *arguments, **options):
        make(self, *arguments, **options)
        self.page = functools.cache(self.page)      # every frame is drawn once
        made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Explorer, "__init__", record)
        patch.setattr(plt, "show", lambda *_, **__: plt.close("all"))
        patch.setattr(builtins, "display", lambda *_: None, raising=False)
        namespace = {"__name__": "__main__"}
        for cell in cells:
            exec(compile(cell.source, cell.id, "exec"), namespace)
    plt.close("all")
    return made


def frames(explorer):
    """What a reader of the page sees, picture and alt text, at every position of the sliders."""
    shown = json.loads(re.search(r'<script type="application/json">(.*?)</script>', explorer.page(), re.DOTALL)[1])
    return {tuple(values.values()): tuple(frame) for values, frame in zip(explorer.frames(), shown, strict=True)}


def complaints(explorer):
    """What is wrong with one explorer."""
    if len(explorer.frames()) > MOST_FRAMES:
        yield f"{len(explorer.frames())} frames, at most {MOST_FRAMES}"
        return                                       # too many to draw
    drawn = frames(explorer)
    if tuple(explorer.default[name] for name in explorer.grids) not in drawn:
        yield f"the default {explorer.default} is not on the grid"
    for position, (_, alt) in drawn.items():
        if not any(character.isdigit() for character in alt):
            yield f"no number in the alt text at {position}: {alt!r}"
    for axis, name in enumerate(explorer.grids):
        for what, index in (("picture", 0), ("alt text", 1)):
            lines = {}
            for position, frame in drawn.items():
                lines.setdefault(position[:axis] + position[axis + 1:], set()).add(frame[index])
            if all(len(line) == 1 for line in lines.values()):
                yield f"{name} never changes the {what}"


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def explorers(request):
    matplotlib.use("Agg")
    cells = nbformat.read(request.param, as_version=4).cells
    return explorers_of(cell for cell in cells if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", []))


def test_explorers_are_drawn_everywhere_and_tell_what_they_show(explorers, record_property):
    found = [complaint for explorer in explorers for complaint in complaints(explorer)]
    weight = sum(len(explorer.page().encode()) for explorer in explorers) / 1000
    record_property("table", [f"{len(explorers)} explorers, {weight:.0f} kB"])
    assert explorers and not found, "\n".join(found)
    assert weight <= LIMIT_KB


# ------------------------------------------------------------------------------------------- the test above can fail: proof

def bar(height, alt):
    figure, axes = plt.subplots()
    axes.bar([0], [height])
    axes.set_ylim(0, 9)
    return figure, alt


GRID, DEFAULT = {"epsilon": [1, 2], "threshold": [3, 4]}, {"epsilon": 1, "threshold": 3}


@pytest.mark.parametrize(("draw", "grids", "default", "word"), [
    (lambda epsilon, threshold: bar(epsilon + threshold, f"{epsilon}, {threshold}"), GRID, DEFAULT, None),
    (lambda epsilon, threshold: bar(epsilon + threshold, "a bar"), GRID, DEFAULT, "no number"),
    (lambda epsilon, threshold: bar(epsilon, f"{epsilon}, {threshold}"), GRID, DEFAULT, "threshold never changes the picture"),
    (lambda epsilon, threshold: bar(epsilon + threshold, f"{threshold}"), GRID, DEFAULT, "epsilon never changes the alt text"),
    (lambda epsilon: bar(epsilon / 10, f"{epsilon}"), {"epsilon": range(40)}, {"epsilon": 1}, "40 frames"),
])
def test_a_poor_explorer_is_refused(draw, grids, default, word):
    found = list(complaints(Explorer(draw, grids, default)))
    assert (word is None and not found) or any(word in complaint for complaint in found)


def test_explorers_are_found_wherever_they_are_made():
    source = "from dplib.teaching import Explorer\nmade = Explorer(print, {'x': [1]}, {'x': 1})\nExplorer(print, {'y': [2]}, {'y': 2})"
    cell = nbformat.v4.new_code_cell(source)
    assert [list(explorer.grids) for explorer in explorers_of([cell])] == [["x"], ["y"]]
