"""Where a section stands in its chapter; and on a chapter's first page, how long each of its sections takes, and the whole of it."""
from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path, PurePosixPath

import nbformat
import reading_time
from docutils import nodes


def tell(app, pagename, templatename, context, doctree):
    chapter = str(PurePosixPath(pagename).parent / "index")
    sections = app.env.toctree_includes.get(chapter, [])
    if "body" in context and pagename in sections:
        title, link = html.escape(app.env.titles[chapter].astext()), html.escape(app.builder.get_relative_uri(pagename, chapter))
        context["body"] += f'<p class="way">Section {sections.index(pagename) + 1} of {len(sections)} in <a href="{link}">{title}</a></p>\n'


@cache
def facts(path: Path, changed: float) -> tuple[int, int, int]:
    """Minutes to read, minutes for the exercises, number of exercises of a section, as it states them."""
    cells = nbformat.read(path, as_version=4).cells
    count = sum(len(re.findall(r"\{exercise(?:-start)?\}", cell.source)) for cell in cells if cell.cell_type == "markdown")
    return (*(reading_time.stated(cells) or (0, 0)), count)


def hours(minutes: int) -> str:
    """In halves: 5 hours, 8½ hours."""
    whole, half = divmod(round(minutes / 30), 2)
    return f"{whole or ''}{'½' * half} hour{'s' * (whole > 1 or whole == half == 1)}"


def watch(app, docname, source):
    """Read a chapter's first page again when a section has changed."""
    page = Path(app.env.doc2path(docname))
    if page.name == "index.md" and docname.startswith("chapters/"):
        for section in page.parent.glob("*.ipynb"):
            app.env.note_dependency(str(section))


def time_chapter(app, doctree, docname):
    """Write its minutes and exercises behind each section of a chapter's first page, and the chapter's hours below the list."""
    sections = {app.builder.get_relative_uri(docname, section): section for section in app.env.toctree_includes.get(docname, [])}
    if app.builder.format != "html" or not docname.startswith("chapters/") or not sections:
        return
    told = []
    for item in doctree.findall(nodes.list_item):
        reference = next(iter(item.findall(nodes.reference)), None)
        section = sections.get(reference.get("refuri")) if reference is not None else None
        if section and section not in dict(told):
            path = Path(app.env.doc2path(section))
            told.append((section, facts(path, path.stat().st_mtime)))
            read, practise, count = told[-1][1]
            item += nodes.raw("", f'<p class="facts">{read} minutes to read, {count} exercises ({practise} minutes)</p>', format="html")
            last = item.parent
    if told:
        last["classes"].append("sections")
        reading, practising = (sum(row[place] for _, row in told) for place in (0, 1))
        words = f"The whole chapter takes about {hours(reading)} of reading, without what goes deeper, and {hours(practising)} of exercises."
        last.parent.insert(last.parent.index(last) + 1, nodes.paragraph("", words))


def setup(app):
    app.connect("html-page-context", tell)
    app.connect("source-read", watch)
    app.connect("doctree-resolved", time_chapter)
