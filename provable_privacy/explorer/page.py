"""An Explorer for a page without a kernel: all frames as pieces that they share, behind a page's own controls."""

import hashlib
import html
import json
import re

from provable_privacy.explorer.drawing import Renderer, draw, markup, picture, printable, tidy
from provable_privacy.explorer.pool import pool

__all__ = ["label", "page", "picks", "plain", "raised", "show"]

SYMBOLS = {
    "epsilon": "ε",
    "delta": "δ",
    "sensitivity": "Δ",
    "mu": "μ",
    "sigma": "σ",
    "rho": "ρ",
    "alpha": "α",
    "beta": "β",
}


def label(name):
    """What a slider is called on the page."""
    return SYMBOLS.get(name, printable(name).replace("_", " "))


def plain(value):
    """A slider's value in a line of text, as Python prints it."""
    return f"{value:g}" if isinstance(value, (int, float)) else printable(str(value))


def show(value):
    """A slider's value beside the slider, as a reader writes it: 30,000 and 10⁻⁵."""
    return f"{value:,}" if isinstance(value, int) else tidy(plain(value))


def picks(values):
    """Whether these are names to choose from, and not numbers along a line."""
    return any(isinstance(value, (bool, str)) for value in values)


def raised(sentence):
    """The sentence as HTML, with e^ε as a power."""
    return re.sub(r"\^(-?\w+(?:\.\d+)?)", r"<sup>\1</sup>", html.escape(sentence))


def page(drawn, grids, default, start):
    """One piece of HTML: controls that stay hidden where scripts do, the first frame, and what the page's script
    (`explorer.js` of the book) needs for the others.

    Parameters
    ----------
    drawn : iterable of (Figure, str)
        In the order of the frames.
    grids, default : dict
        As given to `Explorer`.
    start : int
        The frame that is shown first.
    """
    renderer, sizes, frames, sentences = Renderer(), set(), [], []
    for figure, sentence in drawn:
        width, height, marks = draw(figure, renderer)
        sizes.add((width, height))
        frames.append(marks)
        sentences.append(tidy(sentence))
    if len(sizes) > 1:
        raise ValueError(f"all frames must have one size, got {sorted(sizes)}")
    pieces, rows = pool(frames)
    pieces = [markup(piece) for piece in pieces]
    data = json.dumps([pieces, list(zip(rows, sentences))], ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")  # no "</script>" and no "<!--" for the parser of the page
    mark = hashlib.sha256(data.encode()).hexdigest()[:6]
    first = picture(*sizes.pop(), "".join(pieces[number] for number in rows[start]), sentences[start])
    longest = html.escape(max(sentences, key=len))
    controls = "".join(control(name, values, values.index(default[name]), mark) for name, values in grids.items())
    return (
        f'<div class="explorer"><div class="controls" hidden>{controls}</div>'
        f"<figure>{first}"
        '<figcaption aria-live="polite" '
        f'data-longest="{longest}"><span>{raised(sentences[start])}</span></figcaption></figure>'
        f'<script type="application/json">{data}</script></div>'
    )


def control(name, values, start, mark):
    name, shown = html.escape(label(name)), [html.escape(show(value)) for value in values]
    if picks(values):
        choices = "".join(
            f'<label><input type="radio" name="{name} {mark}" '
            f'value="{place}"{" checked" * (place == start)}><span>{value}</span></label>'
            for place, value in enumerate(shown)
        )
        return (
            f'<div role="radiogroup" aria-label="{name}"><span>{name}</span><div class="choices">{choices}</div></div>'
        )
    last = len(values) - 1
    place = f"--stops:{max(last, 1)};--at:{start / max(last, 1):.3g}"
    return (
        f'<label><span>{name}</span><input type="range" max="{last}" value="{start}" aria-valuetext="{shown[start]}" '
        f'data-values="{"|".join(shown)}" style="{place}"></label><output aria-live="off">{shown[start]}</output>'
    )
