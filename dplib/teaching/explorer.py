"""One interactive figure that works everywhere: with a kernel, in a page without one, and as a line of text."""
import base64
import html
import io
import itertools
import json
import os

import matplotlib
from matplotlib import pyplot
from PIL import Image

from dplib.teaching import style

__all__ = ["Explorer"]

SYMBOLS = {"epsilon": "ε", "delta": "δ", "sensitivity": "Δ", "mu": "μ", "sigma": "σ", "rho": "ρ", "alpha": "α", "beta": "β"}
DOTS_PER_INCH, COLOURS = 150, 24                 # a frame weighs about 8 kB


class Explorer:
    """A figure with sliders.

    `draw` is called with one value from each grid and returns a matplotlib Figure and a sentence that tells its key
    numbers; the sentence is shown under the picture and is its alternative text. `draw` must be pure: the same values
    give the same picture, so that a slider shows its parameter and not luck.

    With a live kernel the figure is an ipywidget that calls `draw` on every move. While the book is built (environment
    variable DPLIB_STATIC) it is a piece of HTML that holds every frame and needs no kernel, no library and no network.
    Everywhere else it is one line of text.

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

    def __init__(self, draw, grids, default):
        self.draw, self.grids, self.default = draw, {name: list(values) for name, values in grids.items()}, dict(default)
        if self.default.keys() != self.grids.keys():
            raise ValueError(f"default must name the sliders {', '.join(self.grids)}, got {', '.join(self.default)}")
        for name, values in self.grids.items():
            if self.default[name] not in values:
                raise ValueError(f"default {name} must be on its grid {values!r}, got {self.default[name]!r}")

    def frames(self):
        """Every combination of slider values, as dicts; the last slider moves fastest."""
        return [dict(zip(self.grids, values)) for values in itertools.product(*self.grids.values())]

    def __repr__(self):
        sliders = ", ".join(f"{label(name)} = {show(value)}" for name, value in self.default.items())
        return f"Explorer({sliders}): {self._draw(self.default)[1]}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if os.environ.get("DPLIB_STATIC"):
            return {"text/plain": repr(self), "text/html": self.page()}
        return {**self.widget()._repr_mimebundle_(), "text/plain": repr(self)}

    def widget(self):
        """The live figure: an ipywidgets box of sliders, sentence and picture that fits one screen of a laptop."""
        import ipywidgets

        sliders = {
            name: ipywidgets.SelectionSlider(options=[(show(v), v) for v in values], value=self.default[name], description=label(name))
            for name, values in self.grids.items()
        }
        view = ipywidgets.HTML()

        def redraw(_=None):
            try:
                view.value = live_picture(*self._frame({name: slider.value for name, slider in sliders.items()}))
            except Exception as error:           # a widget swallows exceptions: show this one where the figure would be
                view.value = f"<pre>{html.escape(f'{type(error).__name__}: {error}')}</pre>"

        for slider in sliders.values():
            slider.observe(redraw, names="value")
        redraw()
        return ipywidgets.VBox([*sliders.values(), view])

    def page(self):
        """The figure for a page without a kernel: all frames behind range inputs, as one piece of HTML."""
        frames = [self._frame(values) for values in self.frames()]
        sliders = "".join(
            f'<label><span>{html.escape(label(name))}</span>'
            f'<input type="range" min="0" max="{len(values) - 1}" value="{values.index(self.default[name])}" '
            f'aria-valuetext="{show(self.default[name])}" data-values="{html.escape(json.dumps([show(v) for v in values]))}">'
            f"<output>{show(self.default[name])}</output></label>"
            for name, values in self.grids.items()
        )
        data = json.dumps([[source, sentence] for source, sentence in frames], ensure_ascii=False).replace("</", "<\\/")
        start = frames[self.frames().index(self.default)]
        return (
            f'<div class="explorer">{sliders}{picture(*start)}'
            f'<script type="application/json">{data}</script><script>{SCRIPT}</script></div>'
        )

    def _draw(self, values):
        with matplotlib.rc_context(style.RC):
            figure, sentence = self.draw(**values)
        pyplot.close(figure)                     # or a notebook shows it a second time
        return figure, sentence

    def _frame(self, values):
        """The picture of these slider values as a data URI, and its sentence."""
        figure, sentence = self._draw(values)
        png, webp = io.BytesIO(), io.BytesIO()
        with matplotlib.rc_context(style.RC):
            figure.savefig(png, format="png", dpi=DOTS_PER_INCH, transparent=True)
        image = Image.open(png).quantize(COLOURS, method=Image.Quantize.FASTOCTREE).convert("RGBA")
        image.save(webp, "WEBP", lossless=True, method=6)
        return f"data:image/webp;base64,{base64.b64encode(webp.getvalue()).decode()}", sentence


def label(name):
    """What a slider is called on the page."""
    return SYMBOLS.get(name, name.replace("_", " "))


def show(value):
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def picture(source, sentence):
    sentence = html.escape(sentence)
    return f'<figure><img src="{source}" alt="{sentence}" style="max-width:100%"><figcaption aria-hidden="true">{sentence}</figcaption></figure>'


def live_picture(source, sentence):
    """The sentence first and a picture no wider than a column of text: in JupyterLab a cell is as wide as the window."""
    sentence = html.escape(sentence)
    return f'<p style="line-height:1.4;max-width:40rem">{sentence}</p><img src="{source}" alt="{sentence}" style="max-height:52vh;max-width:min(100%,40rem)">'


SCRIPT = """(function (box) {
  var frames = JSON.parse(box.querySelector('script[type="application/json"]').textContent);
  var sliders = Array.from(box.querySelectorAll('input')), image = box.querySelector('img'), caption = box.querySelector('figcaption');
  function show() {
    var index = 0;
    sliders.forEach(function (slider) {
      var values = JSON.parse(slider.dataset.values), value = values[slider.value];
      index = index * values.length + Number(slider.value);
      slider.setAttribute('aria-valuetext', value);
      slider.nextElementSibling.textContent = value;
    });
    image.src = frames[index][0];
    image.alt = caption.textContent = frames[index][1];
  }
  sliders.forEach(function (slider) { slider.addEventListener('input', show); });
  window.addEventListener('pageshow', show);
})(document.currentScript.parentNode);"""
