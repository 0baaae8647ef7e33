"""A matplotlib figure as a list of marks: what is drawn, in whole tenths of a point, so that marks can be compared,
shared and written as SVG.
"""

import base64
import html
import io
import itertools
import math
import re
from typing import NamedTuple

import numpy as np
from matplotlib import colors, rc_context
from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.image import AxesImage
from matplotlib.path import Path
from matplotlib.transforms import Affine2D
from PIL import Image

from provable_privacy import style

__all__ = ["PAINTS", "Mark", "draw", "markup", "picture", "printable", "tidy"]

UNITS = 10  # in a point
PLAIN_SIZE = 10  # points: a text of this size needs no attribute
# a layout leaves room for the letters of a phone, which are larger by so much
ROOM = 1.15

# The style sheet of the book gives each name a light and a dark value; elsewhere the plain colour holds.
PAINTS = {
    style.ONE: "one",
    style.OTHER: "other",
    style.GOOD: "good",
    style.ALARM: "alarm",
    style.INK: "ink",
    style.MUTED: "muted",
    "#000000": "ink",
    "#ffffff": "paper",
    "#9aa3ad": "grey",
    "#c3c8ce": "light",
    "#d5d9de": "line",
    "#e9ebee": "faint",
    "#dfe3e8": "mist",
    "#7cc4ad": "mint",
    "#d9ebe7": "pale",
}
ALIGNED = {"left": 0, "center": 1, "right": 2, "baseline": 0, "bottom": 0, "center_baseline": 1, "top": 2}
ANCHORS = ("", ' text-anchor="middle"', ' text-anchor="end"')
ROUND = Path.unit_circle().codes
# ends of lines, what moves a terminal or turns a line around, and half a character
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")
EXPONENT = re.compile(r"(?<![\w.])(?P<digits>\d+(?:\.\d+)?)e(?P<power>[+-]?\d+)\b")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
POWER = re.compile(r"\$\\mathdefault\{(.*)\}\$")  # what a logarithmic axis writes beside its ticks


class Mark(NamedTuple):
    """One path, or one text or image."""

    clip: tuple | None  # x, y, width and height of the window through which it is seen
    # a path's attributes; None for a text or an image, which is written as it is
    look: str | None
    # neighbours of the same look may be one path: lines that cover what they cross
    joins: bool
    body: str  # a path's commands, or the element


def draw(figure, renderer=None):
    """Width, height and marks of a figure. A renderer that is used again remembers how wide its texts are."""
    renderer = renderer or Renderer()
    with rc_context(style.RC):
        figure.set_dpi(72)
        figure.patch.set_alpha(0)
        for axes in figure.axes:
            axes.patch.set_alpha(0)
        for image in figure.findobj(AxesImage):
            if image.get_interpolation() in ("auto", "antialiased", "nearest"):
                image.set_interpolation("none")  # its own cells, and not their copies at some number of dots
        return renderer.draw(figure)


class Canvas(FigureCanvasBase):
    """What a layout asks for the sizes of texts."""

    def __init__(self, figure, renderer):
        super().__init__(figure)
        self.renderer = renderer

    def get_renderer(self):
        return self.renderer


class Renderer(RendererBase):
    def draw(self, figure):
        self.width, self.height = (figure.get_size_inches() * 72).tolist()
        self.marks = []
        Canvas(figure, self)  # the figure has it from now on
        figure.draw(self)
        return round(self.width * UNITS), round(self.height * UNITS), self.marks

    def get_canvas_width_height(self):
        return self.width, self.height

    def get_text_width_height_descent(self, s, prop, ismath):
        return tuple(ROOM * size for size in super().get_text_width_height_descent(s, prop, ismath))

    def get_image_magnification(self):
        return 3  # 216 dots an inch

    def option_scale_image(self):
        return True

    def add(self, look, body, extent, gc, joins=False):
        """Note a mark, with its window if it reaches out of it; extent: left, top, right, bottom."""
        clip, box = None, gc.get_clip_rectangle()
        if gc.get_clip_path()[0] is not None or gc.get_hatch():
            raise NotImplementedError("an Explorer draws no hatches, and clips by rectangles only")
        if box is not None:
            edges = box.x0, self.height - box.y1, box.x1, self.height - box.y0
            left, top, right, bottom = (round(edge * UNITS) for edge in edges)
            if extent[0] < left or extent[1] < top or extent[2] > right or extent[3] > bottom:
                clip = (left, top, right - left, bottom - top)
        self.marks.append(Mark(clip, look, joins, body))

    def draw_path(self, gc, path, transform, rgbFace=None):
        opacity = gc.get_alpha() if gc.get_forced_alpha() else 1
        fill = (
            None
            if rgbFace is None
            else (paint(rgbFace), opacity * (rgbFace[3] if len(rgbFace) == 4 and not gc.get_forced_alpha() else 1))
        )
        stroke = (
            None
            if gc.get_linewidth() == 0
            else (paint(gc.get_rgb()), opacity * (1 if gc.get_forced_alpha() else gc.get_rgb()[3]))
        )
        fill, stroke = (None if one is None or one[1] == 0 else one for one in (fill, stroke))
        if not (fill or stroke):
            return
        window = (0, 0, self.width, self.height) if fill is None else None
        path = path.cleaned(
            transform, remove_nans=True, clip=window, simplify=None, curves=True, sketch=gc.get_sketch_params()
        )
        pen = round(gc.get_linewidth() * UNITS) if stroke else 0
        points = np.rint(path.vertices * (UNITS, -UNITS) + (0, self.height * UNITS)).astype(int)
        # these two have points that mean nothing
        seen = points[(path.codes != Path.STOP) & (path.codes != Path.CLOSEPOLY)]
        if not seen.size:
            return
        (left, top), (right, bottom) = seen.min(axis=0).tolist(), seen.max(axis=0).tolist()
        extent = (left - pen // 2, top - pen // 2, right + pen // 2, bottom + pen // 2)
        if fill and (not stroke or stroke == fill) and np.array_equal(path.codes[: len(ROUND)], ROUND):
            x, y = (left + right) // 2, (top + bottom) // 2  # a dot of a round pen
            look = f'{painted("stroke", fill)} stroke-width="{right - left + pen}" stroke-linecap="round"'
            self.add(look, f"M{x} {y}h0", extent, gc, joins=fill[1] == 1)
            return
        look = painted("fill", fill) if fill else ""
        if stroke:
            look += painted("stroke", stroke) + f' stroke-width="{pen}"' * (pen != UNITS) + dashes(gc)
            look += ' stroke-linejoin="miter"' * (gc.get_joinstyle() == "miter") + (
                "" if gc.get_capstyle() == "projecting" else f' stroke-linecap="{gc.get_capstyle()}"'
            )
        body = commands(points.tolist(), path.codes.tolist())
        if body:
            self.add(look, body, extent, gc, joins=not fill and stroke[1] == 1)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        words = html.escape(tidy(s), quote=False)
        words = spans(words) if ismath else words
        if words is None:  # a formula: its outlines
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
            return
        # the end by which the text is held, for a reader's letters are not matplotlib's
        along = 0
        if mtext is not None:
            upright = angle == 90 and mtext.get_rotation_mode() != "anchor"
            along = ALIGNED[mtext.get_verticalalignment() if upright else mtext.get_horizontalalignment()]
            width = self.get_text_width_height_descent(s, prop, ismath)[0] * along / 2
            x, y = x + width * math.cos(math.radians(angle)), y - width * math.sin(math.radians(angle))
        place = round(x * UNITS), round(y * UNITS)
        size = prop.get_size_in_points() / PLAIN_SIZE
        colour = gc.get_rgb()
        look = painted("fill", (paint(colour), gc.get_alpha() if gc.get_forced_alpha() else colour[3]))
        look += f' font-size="{size:.3g}em"' * (size != 1) + ANCHORS[along]
        look += ' font-weight="600"' * (
            prop.get_weight() in ("bold", "semibold", 600, 700)
        ) + ' font-style="italic"' * (prop.get_style() == "italic")
        look += ' font-family="monospace"' * (prop.get_family()[0] == "monospace")
        look += f' transform="rotate({-angle:g} {place[0]} {place[1]})"' if angle else ""
        self.add(None, f'<text x="{place[0]}" y="{place[1]}"{look}>{words}</text>', (*place, *place), gc)

    def draw_image(self, gc, x, y, im, transform=None):
        height, width = im.shape[:2]
        scale = (
            Affine2D().scale(1 / self.get_image_magnification())
            if transform is None
            else Affine2D().scale(1 / width, 1 / height) + transform
        )
        ends = (scale + Affine2D().translate(x, y)).transform([(0, 0), (width, height)]) * (UNITS, -UNITS) + (
            0,
            self.height * UNITS,
        )
        (x0, y0), (x1, y1) = np.rint(ends).astype(int).tolist()
        # its first row is at the bottom, unless the axis is turned
        rows = im[:: -1 if y1 < y0 else 1, :: 1 if x0 < x1 else -1]
        png = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(rows)).convert("RGBA" if (im[..., 3] < 255).any() else "RGB").save(
            png, "PNG", optimize=True
        )
        extent = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        self.add(
            None,
            f'<image x="{extent[0]}" y="{extent[1]}" width="{abs(x1 - x0)}" height="{abs(y1 - y0)}" '
            'preserveAspectRatio="none" image-rendering="pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"/>',
            extent,
            gc,
        )


def printable(words):
    """Words in one line, without characters that nobody sees."""
    return CONTROL.sub(" ", words)


def tidy(words):
    """Printable words. A number keeps its per cent sign when a line ends, and 1e-05 becomes a power of ten."""
    return EXPONENT.sub(power_of_ten, re.sub(r"(?<=\d) (?=%)", "\u202f", printable(words)))


def power_of_ten(found):
    """1.6e-05 as a reader writes it."""
    digits, power = found["digits"], int(found["power"])
    if power == 0:
        return digits
    times = "" if digits == "1" else f"{digits}\u202f×\u202f"
    return f"{times}10{str(power).translate(RAISED)}"


def paint(colour):
    code = colors.to_hex(colour[:3])
    return f"var(--c-{PAINTS[code]},{code})" if code in PAINTS else code


def painted(what, one):
    colour, opacity = one
    return f' {what}="{colour}"' + (f' {what}-opacity="{opacity:.2g}"' if opacity < 1 else "")


def dashes(gc):
    offset, lengths = gc.get_dashes()
    if lengths is None:
        return ""
    return (
        f' stroke-dasharray="{" ".join(str(round(one * UNITS)) for one in lengths)}"'
        + f' stroke-dashoffset="{round(offset * UNITS)}"' * bool(offset)
    )


def commands(points, codes):
    """SVG path commands in whole numbers; steps relative to the point before, and those in one direction joined."""
    out, start, at, step, last, place = [], (0, 0), (0, 0), (0, 0), "", 0

    def line():
        nonlocal step, last
        dx, dy = step
        if dx or dy:
            letter, numbers = (
                ("v", f"{dy}") if dx == 0 else ("h", f"{dx}") if dy == 0 else ("l", f"{dx}{'' if dy < 0 else ' '}{dy}")
            )
            out.append(
                numbers
                if letter == last and numbers[0] == "-"
                else f" {numbers}"
                if letter == last
                else letter + numbers
            )
            step, last = (0, 0), letter

    while place < len(codes) and codes[place] != Path.STOP:
        code = codes[place]
        length = {Path.CURVE3: 2, Path.CURVE4: 3}.get(code, 1)
        x, y = points[place + length - 1]
        dx, dy = x - at[0], y - at[1]
        if code == Path.LINETO:
            if step[0] * dy != step[1] * dx or step[0] * dx + step[1] * dy < 0:
                line()
            step = (step[0] + dx, step[1] + dy)
        else:
            line()
            if code == Path.MOVETO:
                if last == "M":
                    out.pop()  # nothing was drawn from there
                out.append(f"M{x} {y}")
                start = x, y
            elif code == Path.CLOSEPOLY:
                out.append("z")
                x, y = start
            else:
                out.append(
                    ("q" if code == Path.CURVE3 else "c")
                    + " ".join(f"{a - at[0]} {b - at[1]}" for a, b in points[place : place + length])
                )
            last = {Path.MOVETO: "M", Path.CLOSEPOLY: "z"}.get(code, "c")
        at = x, y
        place += length
    line()
    if last == "M":
        out.pop()
    return "".join(out)


def spans(formula):
    """`10^{-3}` of an axis as a text with raised parts; None if the formula needs more."""
    found = POWER.fullmatch(formula)
    parts = re.split(r"\^\{([^{}]*)\}", found[1].replace(r"\times", "×").replace("-", "−")) if found else ["\\"]
    if any(re.search(r"[\\{}^_]", part) for part in parts):
        return None
    raised = (
        f'<tspan dy="-.5em" font-size=".7em">{part}</tspan>'
        if k % 2
        else f'<tspan dy=".35em">{part}</tspan>'
        if k
        else part
        for k, part in enumerate(parts)
        if part
    )
    return "".join(raised)


def markup(marks):
    """The SVG of some marks, in order."""
    parts = []
    for clip, seen in itertools.groupby(marks, key=lambda mark: mark.clip):
        inner = "".join(element(look, list(same)) for look, same in itertools.groupby(seen, key=lambda mark: mark.look))
        # a picture in the picture cuts what leaves it, and needs no name that others might have, too
        if clip is not None:
            x, y, width, height = clip
            box = f'x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}"'
            inner = f'<svg {box} overflow="hidden">{inner}</svg>'
        parts.append(inner)
    return "".join(parts)


def element(look, marks):
    if look is None:
        return "".join(mark.body for mark in marks)
    if all(mark.joins for mark in marks) or len(marks) == 1:
        return f'<path d="{"".join(mark.body for mark in marks)}"{look}/>'
    return f"<g{look}>" + "".join(f'<path d="{mark.body}"/>' for mark in marks) + "</g>"


def picture(width, height, inner, words, more=""):
    """A whole picture. The letters grow with --t, which the style sheet sets on a phone; lines are one point wide,
    round at their joints.
    """
    return (
        f'<svg role="img" aria-label="{html.escape(words)}" viewBox="0 0 {width} {height}" fill="none" '
        f'stroke-width="{UNITS}" stroke-linecap="square" '
        f'stroke-linejoin="round" style="font-size:calc({PLAIN_SIZE * UNITS}px*var(--t,1));{more}">{inner}</svg>'
    )
