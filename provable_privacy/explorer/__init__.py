"""One interactive figure that works everywhere: with a kernel, in a page without one, and as a line of text."""

import base64
import html
import io
import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
from matplotlib import pyplot
from PIL import Image

from provable_privacy import style
from provable_privacy.explorer.drawing import draw, markup, picture, printable, tidy
from provable_privacy.explorer.page import label, page, picks, plain, raised, show

__all__ = ["Explorer"]


class Explorer:
    """A figure with sliders.

    `draw` is called with one value from each grid and returns a matplotlib Figure and a sentence that tells its key
    numbers; the sentence is shown under the picture and is its alternative text. `draw` must be pure: the same values
    give the same picture, so that a slider shows its parameter and not luck.

    With a live kernel the figure is an ipywidget that calls `draw` on every move. While the book is built (environment
    variable DPLIB_STATIC) it is a piece of HTML that holds every frame and needs no kernel, no library and no network.
    A program that shows neither, such as a viewer of saved notebooks, finds the default frame as a picture, or one line
    of text.

    Parameters
    ----------
    draw : callable
    grids : dict
        Slider name -> the values it can take, in order.
    default : dict
        Slider name -> the value at the start; must be on its grid.

    Raises
    ------
    ValueError
        If a grid is empty, or `default` does not name one value of each grid.

    Examples
    --------
    >>> def draw(epsilon):
    ...     fig, ax = style.figure()
    ...     return fig, f"noise scale {1 / epsilon:g}"
    >>> Explorer(draw, {"epsilon": [0.5, 1.0]}, {"epsilon": 1.0})
    Explorer(ε = 1): noise scale 1
    """

    def __init__(self, draw: Callable, grids: dict[str, Sequence], default: dict) -> None:
        self.draw, self.grids, self.default = (
            draw,
            {name: list(values) for name, values in grids.items()},
            dict(default),
        )
        if self.default.keys() != self.grids.keys():
            raise ValueError(f"default must name the sliders {', '.join(self.grids)}, got {', '.join(self.default)}")
        for name, values in self.grids.items():
            if self.default[name] not in values:
                raise ValueError(f"default {name} must be on its grid {values!r}, got {self.default[name]!r}")

    def frames(self) -> list:
        """Every combination of slider values, as dicts; the last slider moves fastest."""
        return [dict(zip(self.grids, values)) for values in itertools.product(*self.grids.values())]

    def __repr__(self) -> str:
        sliders = ", ".join(f"{label(name)} = {plain(value)}" for name, value in self.default.items())
        return f"Explorer({sliders}): {printable(self._draw(self.default)[1])}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        still = {"image/png": base64.b64encode(self.still()).decode(), "text/plain": repr(self)}
        if os.environ.get("DPLIB_STATIC"):
            return {"text/html": self.page(), **still}
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget().model_id}
        return {"application/vnd.jupyter.widget-view+json": view, **still}  # said by ourselves: ipywidgets 7 does not

    def still(self) -> bytes:
        """The default frame on paper, as the bytes of a PNG with few colours."""
        figure, _ = self._draw(self.default)
        full, small = io.BytesIO(), io.BytesIO()
        with matplotlib.rc_context(style.RC):
            figure.savefig(full, format="png", dpi=110, facecolor="white")
        Image.open(full).convert("RGB").quantize(64).save(small, "PNG", optimize=True)
        return small.getvalue()

    def widget(self) -> Any:
        """The live figure: an ipywidgets box of controls, sentence and picture that fits one screen of a laptop."""
        import ipywidgets

        controls = {}
        for name, values in self.grids.items():
            kind = ipywidgets.ToggleButtons if picks(values) else ipywidgets.SelectionSlider
            controls[name] = kind(
                options=[(show(value), value) for value in values], value=self.default[name], description=label(name)
            )
        view = ipywidgets.HTML()

        def redraw(_=None):
            try:
                view.value = live_picture(*self._draw({name: control.value for name, control in controls.items()}))
            except Exception as error:  # a widget swallows exceptions: show this one where the figure would be
                view.value = f"<pre>{html.escape(f'{type(error).__name__}: {error}')}</pre>"

        for control in controls.values():
            control.observe(redraw, names="value")
        redraw()
        return ipywidgets.VBox([*controls.values(), view])

    def page(self) -> str:
        """The figure for a page without a kernel: all frames behind sliders and choices, as one piece of HTML."""
        frames = self.frames()
        return page(map(self._draw, frames), self.grids, self.default, frames.index(self.default))

    def _draw(self, values):
        with matplotlib.rc_context(style.RC):
            figure, sentence = self.draw(**values)
        pyplot.close(figure)  # or a notebook shows it a second time
        return figure, sentence


def live_picture(figure, sentence):
    """The sentence first and a picture no wider than a column of text, on paper: in JupyterLab a cell is as wide as the
    window.
    """
    width, height, marks = draw(figure)
    shape = f"background:#fff;max-height:52vh;width:min(100%,40rem);aspect-ratio:{width}/{height}"
    words = f'<p style="line-height:1.4;max-width:40rem">{raised(tidy(sentence))}</p>'
    return words + picture(width, height, markup(marks), tidy(sentence), shape)
