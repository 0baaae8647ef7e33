"""The map of the book: every section, and the sections that its head names as needed before it."""
from __future__ import annotations

import html
import json
import re
from collections import Counter
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from bookext.translation.spoken import say

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
    """The pages that a section's head names."""
    head = HEAD.search(source)
    return linked(head[0], docname, owners) if head else []


def linked(text: str, docname: str, owners: dict[str, str]) -> list[str]:
    """The other pages that a text links: by their path, or by a label that stands on them."""
    found = []
    for role, target, path in ROLE.findall(text):
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


def behind(graph: dict[str, list[str]], page: str) -> set[str]:
    """All that is needed for a section, and for that, and so on."""
    return {one for other in graph[page] for one in {other, *behind(graph, other)}}


def needed(graph: dict[str, list[str]]) -> dict[str, list[str]]:
    """Without the arrows that others imply: what is needed for something that is needed anyway."""
    return {
        page: [one for one in pages if not any(one in behind(graph, other) for other in pages)]
        for page, pages in graph.items()
    }


def short(titles: dict[str, str]) -> dict[str, str]:
    """What a title says before its colon; what it says after it where two begin with the same words."""
    first = {page: title.partition(": ")[0] for page, title in titles.items()}
    alone = Counter(first.values())
    return {
        page: word if alone[word] == 1 else titles[page].partition(": ")[2].capitalize() for page, word in first.items()
    }


def draw(graph: dict[str, list[str]], numbers: dict[str, str], titles: dict[str, str], links: dict[str, str]) -> str:
    """A row for each chapter, a box for each section: its number, its name, and what to read first."""
    arrows, words = needed(graph), short(titles)
    names = {page: "at-" + numbers[page].replace(".", "-") for page in graph}
    rows: dict[str, list[str]] = {}
    for page in graph:
        first = ", ".join(sorted(numbers[one] for one in arrows[page]))
        after = f" <small>{say('after {sections}').format(sections=first)}</small>" if first else ""
        word = re.sub("(?<=[a-z])(?=[A-Z])", "<wbr>", html.escape(words[page]))
        box = f'<a class="{names[page]}" href="{html.escape(links[page])}"><b>{numbers[page]}</b> {word}{after}</a>'
        rows.setdefault(page.rpartition("/")[0], []).append(f"<li>{box}</li>")
    lists = "".join(f"<li><ol>{''.join(boxes)}</ol></li>" for boxes in rows.values())
    bright = ""
    for page in graph:
        kept = ",".join("." + names[one] for one in [page, *sorted(behind(graph, page))])
        bright += f".section-map:has(.{names[page]}:is(:hover,:focus-visible)) a:not({kept}){{opacity:.3}}"
    return (
        f"<style>{bright}</style>"
        f'<ol class="section-map" aria-label="{say("The sections, and what to read before each")}">{lists}</ol>'
    )


def fill(app, doctree, docname):
    places = list(doctree.findall(section_map))
    if not places:
        return
    env, owners = app.env, owners_of_labels(app.env)
    pages = [
        page
        for page in in_order(env, env.config.root_doc)
        if page.startswith("chapters/") and not page.endswith("/index")
    ]
    graph = {
        page: [one for one in prerequisites(text_of(Path(env.doc2path(page))), page, owners) if one in pages]
        for page in pages
    }
    numbers = {page: ".".join(map(str, env.titles[page].get("secnumber", ()))) for page in pages}
    titles = {page: env.titles[page].astext() for page in pages}
    links = {page: app.builder.get_relative_uri(docname, page) for page in pages}
    for place in places:
        place.replace_self(nodes.raw("", draw(graph, numbers, titles, links), format="html"))


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
