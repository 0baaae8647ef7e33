"""The map of the book: every section, and the sections that its head names as needed before it."""
from __future__ import annotations

import html
import json
import re
from functools import cache
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

WIDE, HIGH, LANE, STEP = 104, 40, 124, 68         # of a box, from chapter to chapter, from row to row
LONGEST = 15                                     # letters that fit into a box as they are
HEAD = re.compile(r"^Before this:.*$", re.MULTILINE)
ROLE = re.compile(r"\{(doc|ref|prf:ref)\}`(?:[^`<]*<)?([^`<>]+)>?`|\]\(([^)#]+)\.(?:ipynb|md)(?:#[^)]*)?\)")


class section_map(nodes.General, nodes.Element):
    """Stands for the map until every page has been read."""


class SectionMap(SphinxDirective):
    def run(self):
        for notebook in sorted(Path(self.env.srcdir, "chapters").rglob("*.ipynb")):
            self.env.note_dependency(str(notebook))     # draw again when a head changes
        return [section_map()]


def prerequisites(source: str, docname: str, owners: dict[str, str]) -> list[str]:
    """The pages that a section's head names: by their path, or by a label that stands on them."""
    head = HEAD.search(source)
    found = []
    for role, target, path in ROLE.findall(head[0]) if head else ():
        page = resolve(path or target, docname) if path or role == "doc" else owners.get(target.strip())
        if page and page != docname and page not in found:
            found.append(page)
    return found


def resolve(target: str, docname: str) -> str:
    if target.startswith("/"):
        return target[1:]
    parts: list[str] = []
    for part in (PurePosixPath(docname).parent / target).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def needed(graph: dict[str, list[str]]) -> dict[str, list[str]]:
    """Without the arrows that others imply: what is needed for something that is needed anyway."""
    @cache
    def before(page):
        return {one for other in graph[page] for one in {other, *before(other)}}

    return {page: [one for one in pages if not any(one in before(other) for other in pages if other != one)] for page, pages in graph.items()}


def places(graph: dict[str, list[str]]) -> dict[str, tuple[int, int]]:
    """One column a chapter; a section stands below the one before it and below all that it needs."""
    found: dict[str, tuple[int, int]] = {}
    chapters = list(dict.fromkeys(page.split("/")[1] for page in graph))
    lowest = dict.fromkeys(chapters, -1)
    for page, pages in graph.items():
        chapter = page.split("/")[1]
        row = max([lowest[chapter], *(found[other][1] for other in pages if other in found)]) + 1
        lowest[chapter], found[page] = row, (chapters.index(chapter), row)
    return found


def way(start: str, end: str, place, corner, arrows) -> str:
    """The path of an arrow: straight down to the next row, or through the gaps between rows and columns, never behind a box."""
    (x0, y0), (x1, y1), (column, row) = corner[start], corner[end], place[start]
    x0, x1, y0 = x0 + WIDE / 2, x1 + WIDE / 2, y0 + HIGH
    if place[end] == (column, row + 1):
        return f"M{x0:g} {y0}V{y1 - 4}"
    inside = sorted({one for page, pages in arrows.items() if place[page][0] == place[end][0] for one in pages}, key=place.get)
    lane = corner[end][0] - 3 - (LANE - WIDE - 6) * inside.index(start) / max(1, len(inside) - 1)       # each its own line in the gap
    below = y0 + 6 + 2 * column
    return f"M{x0:g} {y0}V{below}H{lane:g}V{y1 - 9}H{x1:g}V{y1 - 4}"


def draw(graph: dict[str, list[str]], names: dict[str, tuple[str, str]], titles: dict[str, str], links: dict[str, str]) -> str:
    """Boxes with a number and a word, arrows from what is needed first."""
    place, arrows = places(graph), needed(graph)
    corner = {page: (LANE * column + LANE - WIDE, STEP * row + 4) for page, (column, row) in place.items()}
    parts = [f'<path d="{way(other, page, place, corner, arrows)}" marker-end="url(#map-arrow)"/>'
             for page, pages in arrows.items() for other in pages]
    for page, (x, y) in corner.items():
        number, word = map(html.escape, names[page])
        fit = f' textLength="{WIDE - 8}" lengthAdjust="spacingAndGlyphs"' if len(names[page][1]) > LONGEST else ""
        parts.append(
            f'<a href="{html.escape(links[page])}"><title>{html.escape(titles[page])}</title><rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="5"/>'
            f'<text x="{x + WIDE / 2:g}" y="{y + 16}">{number}</text><text x="{x + WIDE / 2:g}" y="{y + 31}"{fit}>{word}</text></a>')
    width, height = max(x for x, _ in corner.values()) + WIDE + 4, max(y for _, y in corner.values()) + HIGH + 4
    return (
        '<div class="section-map" tabindex="0" role="group" aria-label="Map of the sections: arrows lead from what is needed first">'
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        '<defs><marker id="map-arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0 0L6 3L0 6z"/></marker></defs>{"".join(parts)}</svg></div>')


def fill(app, doctree, docname):
    places = list(doctree.findall(section_map))
    if not places:
        return
    env, owners = app.env, owners_of_labels(app.env)
    pages = [page for page in in_order(env, env.config.root_doc) if page.startswith("chapters/") and not page.endswith("/index")]
    graph = {page: [one for one in prerequisites(text_of(Path(env.doc2path(page))), page, owners) if one in pages] for page in pages}
    names, titles = {}, {}
    for page in pages:
        number = ".".join(map(str, env.titles[page].get("secnumber", ())))
        names[page] = number, page.split("/")[-1].replace("_", " ")
        titles[page] = f"{number} {env.titles[page].astext()}"
    links = {page: app.builder.get_relative_uri(docname, page) for page in pages}
    for place in places:
        place.replace_self(nodes.raw("", draw(graph, names, titles, links), format="html"))


def in_order(env, page):
    """The pages of the book as the table of contents lists them."""
    for child in env.toctree_includes.get(page, ()):
        yield child
        yield from in_order(env, child)


def owners_of_labels(env) -> dict[str, str]:
    """Label -> the page on which it stands, for headings and exercises and for theorems and their kin."""
    owners = {label: page for label, (page, _) in env.get_domain("std").anonlabels.items()}
    return owners | {label: entry["docname"] for label, entry in getattr(env, "proof_list", {}).items()}


def text_of(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def setup(app):
    app.add_node(section_map)
    app.add_directive("section-map", SectionMap)
    app.connect("doctree-resolved", fill)
