"""Every Explorer of the book at every position of its controls, as a reader of the page meets it, and its parts."""

import base64
import gzip
import html
import io
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from provable_privacy import Explorer, style
from provable_privacy.explorer import live_picture
from provable_privacy.explorer.drawing import PAINTS, draw, markup, printable
from provable_privacy.explorer.page import plain, raised, show
from provable_privacy.explorer.pool import pool

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [ROOT / "intro.ipynb", *sorted((ROOT / "chapters").rglob("*.ipynb"))]
MOST_FRAMES = 36
LIMIT_KB = 20                                    # gzip, all Explorers of a page
EXPLORER = re.compile(r'<div class="explorer">.*?</script></div>', re.DOTALL)
CONTROL = re.compile(
    r'<label><span>(?P<slider>[^<]*)</span>'
    r'<input (?:class="[^"]*" )?type="range" max="(?P<last>\d+)" value="(?P<start>\d+)"[^>]*'
    r' data-values="(?P<values>[^"]*)"'
    r'|<div role="radiogroup" aria-label="(?P<group>[^"]*)">(?P<names>.*?)</div></div>'
)
FIRST = re.compile(
    r'<svg (?:class="[^"]*" )?role="img" aria-label="([^"]*)"[^>]*>(.*)</svg><figcaption aria-live="polite"[^>]*>'
    r'<span>(.*?)</span></figcaption>'
)
PAINT = re.compile(r'(?:fill|stroke)="(?!none|var)([^"]*)"')


class Shown:
    """An Explorer on a page: its controls (name, values, start), and the picture and words at each position."""

    def __init__(self, source):
        self.controls = []
        for found in CONTROL.finditer(source):
            if found["slider"] is not None:
                values, start = found["values"].split("|"), int(found["start"])
                assert len(values) == int(found["last"]) + 1
            else:
                choices = re.findall(r'value="(\d+)"( checked)?><span>(.*?)</span>', found["names"])
                values, start = [name for *_, name in choices], next(int(k) for k, checked, _ in choices if checked)
            self.controls.append((html.unescape(found["slider"] or found["group"]), values, start))
        self.pieces, rows = json.loads(
            re.search(r'<script type="application/json">(.*?)</script>', source, re.DOTALL)[1]
        )
        positions = itertools.product(*(range(len(values)) for _, values, _ in self.controls))
        frames = [("".join(self.pieces[number] for number in numbers), words) for numbers, words in rows]
        self.frames = dict(zip(positions, frames, strict=True))
        self.start = tuple(start for *_, start in self.controls)
        label, self.inner, self.caption = FIRST.search(source).groups()
        self.label = html.unescape(label)


def explorers_on(page):
    return [Shown(source) for source in EXPLORER.findall(page)]


def complaints(explorer):
    """What is wrong with one explorer."""
    if len(explorer.frames) > MOST_FRAMES:
        yield f"{len(explorer.frames)} frames, at most {MOST_FRAMES}"
    picture, words = explorer.frames[explorer.start]
    if (explorer.inner, explorer.label, explorer.caption) != (picture, words, raised(words)):
        yield "what stands in the page is not the frame of the start"
    for position, (_, words) in explorer.frames.items():
        if not any(character.isdigit() for character in words):
            yield f"no number in the words at {position}: {words!r}"
    for axis, (name, *_) in enumerate(explorer.controls):
        for what, index in (("picture", 0), ("words", 1)):
            lines = {}
            for position, frame in explorer.frames.items():
                lines.setdefault(position[:axis] + position[axis + 1:], set()).add(frame[index])
            if all(len(line) == 1 for line in lines.values()):
                yield f"{name} never changes the {what}"
    drawn = "".join(explorer.pieces)
    if ' id="' in drawn:
        yield "an id, which another picture of the page may have, too"
    yield from (
        f"the colour {colour} is none of the book's, and has no dark value"
        for colour in sorted(set(PAINT.findall(drawn)))
    )


def kilobytes(page):
    return len(gzip.compress("".join(EXPLORER.findall(page)).encode(), 6)) / 1000


def made_in(notebook):
    """How many Explorers a notebook shows."""
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", [])
    ]
    return sum(len(re.findall(r"\bExplorer\(", cell.source)) for cell in cells)


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_explorers_are_drawn_everywhere_and_tell_what_they_show(path, site, record_property):
    page = (site / path.relative_to(ROOT)).with_suffix(".html").read_text(encoding="utf-8")
    explorers = explorers_on(page)
    assert len(explorers) == page.count('class="explorer"') == made_in(nbformat.read(path, as_version=4)) > 0
    found = [complaint for explorer in explorers for complaint in complaints(explorer)]
    assert not found, "\n".join(found)
    record_property(
        "table", [f"{sum(len(explorer.frames) for explorer in explorers)} frames, {kilobytes(page):.1f} kB"]
    )
    assert kilobytes(page) <= LIMIT_KB


# --------------------------------------------------------------------------------------- the test above can fail: proof


def bar(height, words, color=style.ONE):
    figure = Figure(figsize=(0.5, 0.5))
    figure.subplots().bar([0], [height], color=color)
    figure.axes[0].set_ylim(0, 9)
    return figure, words


GRID, DEFAULT = {"epsilon": [1, 2], "method": ["plain", "clever"]}, {"epsilon": 1, "method": "clever"}


def height(epsilon, method):
    return epsilon + len(method) / 2


@pytest.mark.parametrize(
    ("draw", "grids", "default", "word"),
    [
        (lambda epsilon, method: bar(height(epsilon, method), f"{epsilon}, {method}"), GRID, DEFAULT, None),
        (lambda epsilon, method: bar(height(epsilon, method), "a bar"), GRID, DEFAULT, "no number"),
        (
            lambda epsilon, method: bar(epsilon, f"{epsilon}, {method}"),
            GRID,
            DEFAULT,
            "method never changes the picture",
        ),
        (
            lambda epsilon, method: bar(height(epsilon, method), f"{method} 1"),
            GRID,
            DEFAULT,
            "ε never changes the words",
        ),
        (
            lambda epsilon, method: bar(height(epsilon, method), f"{epsilon}, {method}", "#123456"),
            GRID,
            DEFAULT,
            "the colour #123456",
        ),
        (lambda epsilon: bar(epsilon / 10, f"{epsilon}"), {"epsilon": range(40)}, {"epsilon": 1}, "40 frames"),
    ],
)
def test_a_poor_explorer_is_refused(draw, grids, default, word):
    explorer, = explorers_on(f"<p>before</p>{Explorer(draw, grids, default).page()}<p>after</p>")
    found = list(complaints(explorer))
    assert (word is None and not found) or any(word in complaint for complaint in found)


@pytest.mark.parametrize(("right", "wrong", "word"), [
    ('<span>1, clever</span>', '<span>2, clever</span>', "not the frame of the start"),
    ('<label><input type="radio"', '<label><input type="radio"', None),
    ('path d=\\"', 'path id=\\"a\\" d=\\"', "an id"),
])
def test_a_page_that_was_changed_is_refused(right, wrong, word):
    page = Explorer(lambda epsilon, method: bar(height(epsilon, method), f"{epsilon}, {method}"), GRID, DEFAULT).page()
    assert right in page
    found = [complaint for explorer in explorers_on(page.replace(right, wrong)) for complaint in complaints(explorer)]
    assert (word is None and not found) or any(word in complaint for complaint in found)


def test_explorers_are_found_and_counted():
    one = Explorer(lambda x: bar(x, f"{x}"), {"x": [1, 2]}, {"x": 1}).page()
    assert len(explorers_on(one + "<p>between</p>" + one)) == 2
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in ("Explorer(f, {}, {})", "from provable_privacy import Explorer", "x = 1")
    ]
    cells += [
        nbformat.v4.new_code_cell("Explorer(f, {}, {})", metadata={"tags": ["remove-cell"]}),
        nbformat.v4.new_markdown_cell("Explorer("),
    ]
    assert made_in(nbformat.v4.new_notebook(cells=cells)) == 1


def test_a_heavy_page_is_noticed():
    luck = np.random.default_rng(1).random((30, 3000))
    heavy = Explorer(lambda x: (lines(luck[x]), f"{x}"), {"x": range(30)}, {"x": 1}).page()
    assert kilobytes(heavy) > LIMIT_KB


# ----------------------------------------------------------------------------------------------- what a page is made of


def lines(ys, **options):
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(ys, **options)
    return figure


def marks_of(figure):
    return draw(figure)[2]


@pytest.mark.parametrize("frames", [
    [], [[]], ["a"], ["abc", "abd"], ["abc", "abc"], ["aaa", "a", "aab"], ["abcabc", "bc"], ["xaby", "xab", "aby"],
    ["".join(np.random.default_rng(seed).choice(list("abc"), size=9)) for seed in range(9)],
])
def test_pieces_put_together_give_the_frames_back(frames):
    pieces, rows = pool(frames)
    assert [[one for number in row for one in pieces[number]] for row in rows] == [list(frame) for frame in frames]
    assert len(set(pieces)) == len(pieces) and {number for row in rows for number in row} == set(range(len(pieces)))


def test_what_always_goes_together_is_one_piece():
    assert pool(["axis red".split(), "axis blue".split()]) == ([("axis",), ("red",), ("blue",)], [[0, 1], [0, 2]])
    pieces, _ = pool(["abcdx", "abcdy"])
    assert ("a", "b", "c", "d") in pieces


def test_frames_share_their_axes():
    explorer, = explorers_on(Explorer(lambda x: (lines([0, x, 9]), f"{x}"), {"x": [1, 2, 3, 4]}, {"x": 1}).page())
    assert len(explorer.pieces) <= 2 + 4         # what stands before and after the line, and four lines


def test_frames_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="one size"):
        Explorer(lambda x: (Figure(figsize=(x, 1)), f"{x}"), {"x": [1, 2]}, {"x": 1}).page()


def test_paths_are_whole_relative_steps():
    figure = Figure(figsize=(1, 1))
    figure.add_artist(plt.Line2D([0, 0.5, 0.5, 0.5, 1], [0, 0, 0.25, 0.5, 1], color=style.ONE, lw=1))
    mark, = marks_of(figure)
    assert mark.body == "M0 720h360v-360l360-360" and "var(--c-one,#0063a8)" in mark.look and mark.joins


def test_dots_are_points_of_a_round_pen():
    dots = [
        mark
        for mark in marks_of(lines([1, 2, 3], marker="o", ls="", color=style.GOOD, ms=6))
        if "round" in (mark.look or "")
    ]
    assert len(dots) == 3 and all(
        mark.body.endswith("h0") and 'stroke-width="70"' in mark.look and mark.clip is None for mark in dots
    )


def test_only_what_leaves_its_axes_is_cut():
    figure = lines([1, 2, 3], color=style.ALARM)
    assert not any(mark.clip for mark in marks_of(figure))
    figure.axes[0].set_ylim(1, 2)
    cut, = (mark for mark in marks_of(figure) if mark.clip)
    assert "alarm" in cut.look and 'overflow="hidden"' in markup([cut])


def test_opaque_lines_of_one_look_are_one_path_and_others_keep_apart():
    figure = Figure(figsize=(1, 1))
    for alpha in (1, 1, 0.5, 0.5):
        figure.add_artist(plt.Line2D([0, 1], [0, 1], alpha=alpha))
    assert markup(marks_of(figure)).count("<path") == 3


def test_letters_are_text_held_by_the_end_that_the_figure_holds():
    figure = Figure(figsize=(1, 1))
    for align in ("left", "center", "right"):
        figure.text(0.5, 0.5, "a < b", ha=align, va="baseline")
    for mark, anchor in zip(marks_of(figure), (None, "middle", "end"), strict=True):
        assert 'x="360" y="360"' in mark.body and ">a &lt; b</text>" in mark.body
        assert re.findall(r'text-anchor="(\w+)"', mark.body) == [anchor] * (anchor is not None)


def test_powers_of_ten_are_raised_and_other_formulas_drawn():
    figure = lines([1, 1e3])
    figure.axes[0].set_yscale("log")
    assert '>10<tspan dy="-.5em" font-size=".7em">3</tspan></text>' in markup(marks_of(figure))
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, r"$\frac{1}{2}$")
    assert "<text" not in markup(marks_of(figure)) and "<path" in markup(marks_of(figure))


def test_a_heat_map_keeps_its_cells():
    figure = Figure(figsize=(2, 2))
    figure.subplots().imshow(np.arange(6).reshape(2, 3))
    assert markup(marks_of(figure)).count("<image ") == 1


def test_a_hatch_is_refused():
    figure = Figure(figsize=(2, 2))
    figure.subplots().bar([0], [1], hatch="/")
    with pytest.raises(NotImplementedError, match="hatches"):
        draw(figure)


def test_every_colour_has_a_light_and_a_dark_value():
    sheet = (ROOT / "tools" / "bookext" / "static" / "book" / "book.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--c-(\w+): (#\w{6});", re.search(re.escape(head) + r" \{(.*?)\}", sheet, re.DOTALL)[1]))
        for head in ("\n:is(.explorer, .thumb)", 'html[data-theme="dark"] :is(.explorer, .thumb)')
    )
    plain = {name: code for code, name in PAINTS.items() if code != "#000000"}      # matplotlib's own black is ink
    assert light == plain and dark.keys() == plain.keys() and dark["ink"] != light["ink"]


def test_numbers_keep_their_per_cent_sign_in_pictures_and_words():
    figure = Figure(figsize=(1, 1))
    figure.text(0.5, 0.5, "95 % of 7 %s")
    assert ">95\u202f% of 7\u202f%s</text>" in markup(marks_of(figure))
    assert explorers_on(Explorer(lambda x: bar(x, f"{x} %"), {"x": [1, 2]}, {"x": 1}).page())[0].label == "1\u202f%"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1e-5, "10⁻⁵"),
        (2.5e-9, "2.5\u202f×\u202f10⁻⁹"),
        (1e43, "10⁴³"),
        (30_000, "30,000"),
        (0.05, "0.05"),
        (1.0, "1"),
        (float("inf"), "inf"),
        ("1e-05 of a name", "10⁻⁵ of a name"),
    ],
)
def test_a_value_reads_as_people_write_it(value, words):
    assert show(value) == words and plain(value) == (f"{value:g}" if isinstance(value, float | int) else value)
    shown, = explorers_on(Explorer(lambda x: bar(1, f"δ = {x}: 3.5e+00 and a1e5"), {"x": [value]}, {"x": value}).page())
    (_, values, _), = shown.controls
    assert (
        values == [words]
        and not (isinstance(value, float) and "e-" in shown.label)
        and shown.label.endswith("3.5 and a1e5")
    )


def test_powers_in_words():
    assert raised("odds e^ε < e^2.5, 10^-5.") == "odds e<sup>ε</sup> &lt; e<sup>2.5</sup>, 10<sup>-5</sup>."


HOSTILE = [
    "<script>alert(1)</script>", "<!--<script>", "</script><img src=x onerror=alert(1)>", "a<b&amp;\"'", "]]>",
    "$\\mathdefault{<script>alert(1)</script>}$", "two\nlines\r\x1b[31m\x07", "\u202egnirts\u2028", "\ud800", "\x00",
]


class Elements(HTMLParser):
    """The elements and attributes of a page, and its words."""

    def __init__(self, page):
        super().__init__()
        self.seen, self.words = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.seen |= {tag, *(f"{tag} {name}" for name, _ in attributes)}

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        self.seen.add("a comment")


def explorer_named(name):
    """An Explorer that says a name wherever somebody's words can stand."""
    def draw_named(**values):
        figure = Figure(figsize=(4, 2))
        drawn = name if name.isprintable() else "what matplotlib cannot draw"
        figure.subplots().set_title(drawn)
        figure.axes[0].set_xticks([0], [drawn])
        return figure, f"{name}: {list(values.values())}"

    return Explorer(draw_named, {name: [name, f"{name} 2"]}, {name: name})


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_a_name_on_the_page_in_the_picture_and_in_the_terminal(name):
    here = explorer_named(name)
    usual, found = Elements(explorer_named("a name").page()), Elements(here.page())
    assert found.seen == usual.seen
    said = "".join(found.words)
    assert printable(name) in said and printable(said) == said
    assert "<!--" not in here.page() and len(explorers_on(here.page())) == 1
    usual = explorer_named("a name")
    live, usual = (live_picture(*one._draw(one.default)) for one in (here, usual))
    assert Elements(live).seen == Elements(usual).seen
    assert printable(repr(here)) == repr(here) and printable(live) == live
    here.page().encode()


# -------------------------------------------------------------------------------------------------------- with a kernel


def test_the_live_figure_moves():
    def draw_bar(epsilon, method):
        return bar(height(epsilon, method), f"e^{epsilon} is 5 % of {method}")

    box = Explorer(draw_bar, GRID, DEFAULT).widget()
    slider, choice, view = box.children
    before = view.value
    assert "e<sup>1</sup> is 5\u202f% of clever" in before and "<svg " in before and "5\u202f% of clever\"" in before
    slider.value = 2
    assert "<sup>2</sup>" in view.value and view.value != before
    choice.value = "plain"
    assert "of plain" in view.value
    assert (type(slider).__name__, type(choice).__name__) == ("SelectionSlider", "ToggleButtons")


def test_the_live_figure_shows_what_went_wrong():
    def broken(x):
        raise ZeroDivisionError("nothing <to> divide by")

    *_, view = Explorer(broken, {"x": [1, 2]}, {"x": 1}).widget().children
    assert view.value == "<pre>ZeroDivisionError: nothing &lt;to&gt; divide by</pre>"


@pytest.mark.parametrize("static", ["1", ""])
def test_a_saved_notebook_holds_the_default_frame_as_a_picture(static, monkeypatch):
    monkeypatch.setenv("DPLIB_STATIC", static)
    one, other = (Explorer(lambda x: bar(x, f"{x}"), {"x": [1, 5]}, {"x": x}) for x in (1, 5))
    bundle = one._repr_mimebundle_()
    assert bundle["text/plain"] == repr(one) and ("text/html" in bundle) == bool(static)
    still = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert still.format == "PNG" and still.mode == "P" and still.size == (55, 55) and len(still.getcolors()) > 4
    assert one.still() == one.still() != other.still()


def test_a_live_picture_is_the_frame_of_the_page():
    explorer = Explorer(lambda x: bar(x, f"{x} & more"), {"x": [3]}, {"x": 3})
    shown, = explorers_on(explorer.page())
    live = live_picture(*explorer._draw({"x": 3}))
    assert shown.inner in live and 'aria-label="3 &amp; more"' in live and "3 &amp; more</p>" in live
