"""Tables that a phone shows as cards, one a row; on the page of claims, coloured verdicts, anchors and filters."""
from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path

from bookext.translation.spoken import say

HERE = Path(__file__).parent
TABLE = re.compile(r'<table class="table">(?P<inner>.*?)</table>', re.DOTALL)
HEAD = re.compile(r'<th class="[^"]*head[^"]*">(.*?)</th>', re.DOTALL)
ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL)
CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
LONG_ROW = 100                                   # letters: with three columns, more than a phone can hold side by side
LONG_NAME = 45                                   # letters of a row's first cell, formulas as they are written

NUMBER = re.compile(r"<p>([A-E]\d\d)</p>")


def words(cell: str) -> str:
    return " ".join(html.unescape(TAG.sub("", cell)).split())


def needs_cards(heads: list[str], rows: list[list[str]]) -> bool:
    """Whether rows are too long to stand side by side on a phone."""
    letters = sum(len(words(cell)) for row in rows for cell in row) / max(len(rows), 1)
    return (
        len(heads) > 3
        or (len(heads) == 3 and letters >= LONG_ROW)
        or any(len(words(row[0])) > LONG_NAME for row in rows)
    )


def lay_out(table) -> str:
    """A table with the names of its columns in its cells, if a phone shows it as cards.

    Rows that are shown as cards are no rows for a screen reader: roles say what they mean.
    """
    heads = [words(head) for head in HEAD.findall(table["inner"])]
    rows = [CELL.findall(row) for row in ROW.findall(table["inner"])]
    rows = [row for row in rows if row]
    if not needs_cards(heads, rows) or any(len(row) != len(heads) for row in rows):
        return table[0]
    names, verdict = iter(heads * len(rows)), say("verdict") in heads

    def cell(found):
        name, inner = next(names), found[1]
        if verdict and name == say("verdict"):
            inner = coloured(inner)
        label = f' data-label="{html.escape(name)}"' if name else ""
        return f'<td role="cell"{label}>{inner}</td>'

    def row(found):
        number = NUMBER.search(found[1]) if verdict else None
        mark = f' id="{number[1].lower()}"' if number else ""
        inner = found[1]
        if number:
            anchor = f'<p><a class="anchor" href="#{number[1].lower()}">{number[1]}</a></p>'
            inner = inner.replace(number[0], anchor, 1)
        return f'<tr role="row"{mark}>{CELL.sub(cell, inner)}</tr>'

    inner = ROW.sub(row, table["inner"])
    for tag in ("thead", "tbody"):
        inner = inner.replace(f"<{tag}>", f'<{tag} role="rowgroup">')
    inner = re.sub(r'<th class="[^"]*head[^"]*">', '<th class="head" role="columnheader">', inner)
    return f'<table class="table cards{" claims" if verdict else ""}" role="table">{inner}</table>'


def verdicts() -> dict[str, str]:
    return {"right": say("right"), "imprecise": say("imprecise"), "wrong": say("wrong")}


def coloured(cell: str) -> str:
    for verdict, word in verdicts().items():
        if cell.startswith(f"<p>{word}"):
            return cell.replace(word, f'<strong class="verdict {verdict}">{word}</strong>', 1)
    return cell


def filters(body: str) -> str:
    """Buttons and a field above the first table of verdicts, for a browser with scripts."""
    counts = Counter(re.findall(r'class="verdict (\w+)"', body))
    place = body.find('<div class="pst-scrollable-table-container"><table class="table cards claims"')
    if place < 0:
        return body
    names = {"all": say("all"), **verdicts()}
    counts["all"] = sum(counts.values())
    controls = "".join(
        f'<button type="button" aria-pressed="{str(name == "all").lower()}" data-verdict="{name}">'
        f"{shown} {counts[name]}</button>"
        for name, shown in names.items()
    )
    script = (HERE / "claims.js").read_text(encoding="utf-8")
    box = (
        f'<div class="filters" role="group" aria-label="{say("Which claims to show")}" hidden>{controls}'
        f'<input type="search" aria-label="{say("a word of a claim")}" '
        f'placeholder="{say("a word, or a number such as B05")}">'
        '<p role="status"></p></div>'
    )
    return f"{body[:place]}{box}{body[place:]}<script>{script}</script>"


def arrange(app, pagename, templatename, context, doctree):
    if "body" in context and doctree is not None:
        context["body"] = filters(TABLE.sub(lay_out, context["body"]))


def setup(app):
    app.connect("html-page-context", arrange, priority=400)     # before formulas are held together
