"""What cells print, as a page shows it: columns under a head as a table, sources of dplib as code.

A notebook keeps its output as text. The page makes of it what the text says: a head of words above columns that line
up.
"""
from __future__ import annotations

import html
import re
from typing import NamedTuple

from docutils import nodes

NUMBER = re.compile(r"(?:[-+−±]?\$?\.?\d.{0,17}|[-−]?inf|nan|none|无|\[.*\])")
PADDED = re.compile(r"(?<=[=(:,])\s+(?=[-−\d.])")                    # "k =  5" in a column of labels
WHOLE = re.compile(r"\d[\d,]*")
GOES_ON = re.compile(r"\S\s{2,}(?:\S.*\s)?[-+−±$.]*\d[\d,.%]*$")
HEAD = re.compile(r"[^\W\d].*\s{2,}.*[^\W\d]\S*$")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b")
LISTING = re.compile(r"# (?:dplib|provable_privacy)[\w.]*")
CODE = re.compile(r"\s|$|#|@|(?:async )?def |class |[)\]}]")


class Table(NamedTuple):
    head: list[str]
    rows: list[list[str]]


def columns(lines: list[str], gap: int) -> list[list[str]]:
    """The cells of lines, cut where every line has at least so many blanks."""
    wide = max(map(len, lines))
    inked = "".join("x" if any(line[place:place + 1].strip() for line in lines) else " " for place in range(wide))
    cuts = [found.span() for found in re.finditer(rf"x(?:\s{{0,{gap - 1}}}x)*", inked)]
    return [[PADDED.sub(" ", line[start:end].strip()) for start, end in cuts] for line in lines]


def table(lines: list[str]) -> Table | None:
    """These lines as a table, if the first is a head and the others are its rows."""
    if len(lines) < 3 or not all(map(str.strip, lines)):
        return None
    words = re.split(r"\s{2,}", lines[0].strip())
    for gap in (2, 1):
        head, *rows = columns(lines, gap)
        in_one_piece = (
            gap == 2
            or all(map(all, rows))
            and (all(" " not in cell for cell in head) or [cell for cell in head if cell] == words)
        )
        if len(head) > 1 and in_one_piece and is_table(head, rows):
            return Table(head, rows)
    return None


def is_table(head: list[str], rows: list[list[str]]) -> bool:
    """Whether no cell is cut or missing, and the head differs in kind from what stands below it."""
    body = [cell for row in rows for cell in row]
    numeric = numbers_in(rows)
    for place in range(1, len(head)):
        filled = [bool(row[place]) for row in rows]
        if not (all(filled) or place in numeric and any(filled)):
            return False
    if (
        any("  " in cell for cell in (*head, *body))
        or not all(head[1:])
        or not all(row[0] and any(row[1:]) for row in rows)
    ):
        return False
    if any(head[place] and not NUMBER.fullmatch(head[place]) for place in numeric):
        return True
    return (
        len(numeric) > 1
        and not NUMBER.fullmatch(head[0])
        and all(re.search(r"[.%]|inf", row[place] or ".") for row in rows for place in numeric)
        and (head[0].endswith("=") or all(WHOLE.fullmatch(head[place]) for place in numeric))
    )


def lost_heads(text: str) -> list[str]:
    """Lines that look like a head above numbers, and are not that of a table."""
    found = []
    for kind, what in parts(text):
        lines = what.split("\n") if kind == "text" else []
        found += [head for head, *below in zip(lines, lines[1:], lines[2:])
                  if HEAD.search(head.strip()) and not GOES_ON.search(head) and all(map(GOES_ON.search, below))]
    return found


def numbers_in(rows: list[list[str]]) -> list[int]:
    """The columns that hold numbers."""
    return [place for place in range(len(rows[0])) if all(NUMBER.fullmatch(row[place] or "0") for row in rows)]


def parts(text: str) -> list[tuple[str, object]]:
    """The text in order, as tables, listings and what is neither."""
    lines, found, place = text.rstrip("\n").split("\n"), [], 0
    while place < len(lines):
        if LISTING.fullmatch(lines[place]):
            end = place + 1
            while end < len(lines) and CODE.match(lines[end]) and not LISTING.fullmatch(lines[end]):
                end += 1
            found.append(("listing", "\n".join(lines[place:end])))
        else:
            end = next((end for end in range(len(lines), place + 2, -1) if table(lines[place:end])), None)
            if end and not any(map(GOES_ON.search, lines[end:end + 1])):          # or it would be a part of a table
                found.append(("table", table(lines[place:end])))
            else:
                end = place + 1
                if found and found[-1][0] == "text":
                    found[-1] = ("text", f"{found[-1][1]}\n{lines[place]}")
                else:
                    found.append(("text", lines[place]))
        place = end
    return found


def markup(one: Table) -> str:
    """A table as HTML: names to the left, numbers to the right, a row's first cell its name."""
    right = numbers_in(one.rows)
    sides = [' class="n"' if place in right else "" for place in range(len(one.head))]
    head = "".join(
        f'<th scope="col"{side}>{shown(cell)}</th>' if cell else "<td></td>" for cell, side in zip(one.head, sides)
    )
    rows = []
    for first, *others in one.rows:
        cells = "".join(f"<td{side}>{shown(cell)}</td>" for cell, side in zip(others, sides[1:]))
        rows.append(f'<tr><th scope="row"{sides[0]}>{shown(first)}</th>{cells}</tr>')
    return f'<div class="results"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def shown(cell: str) -> str:
    return POWER.sub(power_of_ten, html.escape(cell, quote=False)).replace(" =", "\u00a0=")


def power_of_ten(found) -> str:
    """1.6e-05 as a reader writes it."""
    digits, power = found[1], int(found[2])
    times = "" if digits == "1" else f"{digits}\u202f×\u202f"
    return f"{times}10<sup>{str(power).replace('-', '−')}</sup>" if power else digits


def dress(app, doctree, docname):
    if app.builder.format != "html":
        return
    for block in list(doctree.findall(nodes.literal_block)):
        if "stream" in block["classes"] and "output" in block["classes"]:
            found = parts(block.astext())
            if any(kind != "text" for kind, _ in found):
                place = block.parent.index(block)            # replace_self would hand the classes on
                block.parent[place:place + 1] = [dressed(kind, what, block) for kind, what in found]


def dressed(kind, what, block):
    if kind == "table":
        return nodes.raw("", markup(what), format="html")
    if kind == "listing":
        return nodes.literal_block(what, what, language="python", classes=["listing"])
    return nodes.literal_block(what, what, **{name: block[name] for name in ("classes", "language") if name in block})


def setup(app):
    app.connect("doctree-resolved", dress)
