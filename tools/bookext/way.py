"""Where a section stands in its chapter, and what the first pages tell of the others: pictures, minutes, exercises."""
from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path, PurePosixPath

import nbformat
import reading_time
from docutils import nodes

from bookext.sectionmap import in_order
from bookext.translation.spoken import say

EXPLORER = re.compile(
    r'<div class="explorer">.*?<figure><svg [^>]*?viewBox="(?P<box>[^"]*)"[^>]*>(?P<inner>.*?)</svg><figcaption',
    re.DOTALL,
)
LETTERS = re.compile(r"<text\b.*?</text>", re.DOTALL)


def tell(app, pagename, templatename, context, doctree):
    chapter = str(PurePosixPath(pagename).parent / "index")
    sections = app.env.toctree_includes.get(chapter, [])
    if "body" in context and pagename in sections:
        title = html.escape(app.env.titles[chapter].astext())
        link = html.escape(app.builder.get_relative_uri(pagename, chapter))
        place = say("Section {number} of {count} in {chapter}").format(
            number=sections.index(pagename) + 1, count=len(sections), chapter=f'<a href="{link}">{title}</a>'
        )
        context["body"] += f'<p class="way">{place}</p>\n'


@cache
def facts(path: Path, changed: float) -> tuple[int, int, int]:
    """Minutes to read, minutes for the exercises, number of exercises of a section, as it states them."""
    cells = nbformat.read(path, as_version=4).cells
    count = sum(
        len(re.findall(r"\{exercise(?:-start)?\}", cell.source)) for cell in cells if cell.cell_type == "markdown"
    )
    return (*(reading_time.stated(cells) or (0, 0)), count)


def hours(minutes: int) -> str:
    """In halves: 5 hours, 8½ hours."""
    whole, half = divmod(round(minutes / 30), 2)
    several = whole > 1 or whole == half == 1
    return (say("{number} hours") if several else say("{number} hour")).format(number=f"{whole or ''}{'½' * half}")


def watch(app, docname, source):
    """Read the pages that tell of sections again when a section has changed."""
    folder = {app.config.root_doc: Path(app.srcdir, "chapters")}.get(docname, Path(app.env.doc2path(docname)).parent)
    if docname == app.config.root_doc or docname.startswith("chapters/") and docname.endswith("/index"):
        for section in sorted(folder.rglob("*.ipynb")):
            app.env.note_dependency(str(section))


def told(app, section) -> tuple[int, int, int]:
    path = Path(app.env.doc2path(section))
    return facts(path, path.stat().st_mtime)


def listed(app, doctree, docname, pages):
    """The list items that begin with a link to one of the pages, each page once: page -> item."""
    addresses, found = {app.builder.get_relative_uri(docname, page): page for page in pages}, {}
    for item in doctree.findall(nodes.list_item):
        reference = next(iter(item.findall(nodes.reference)), None)
        page = addresses.get(reference.get("refuri")) if reference is not None else None
        if page:
            found.setdefault(page, item)
    return found


def time_chapter(app, doctree, docname):
    """A chapter's first page: a button to begin, its sections as cards with minutes and exercises, and its hours."""
    sections = app.env.toctree_includes.get(docname, [])
    if app.builder.format != "html" or not docname.startswith("chapters/") or not sections:
        return
    add_button(app, doctree, docname, sections[0])
    cards = listed(app, doctree, docname, sections)
    for section, item in cards.items():
        read, practise, count = told(app, section)
        words = say("{read} minutes to read, {count} exercises ({practise} minutes)").format(
            read=read, count=count, practise=practise
        )
        make_card(item, number_of(app, section), thumbnail(app.env, section), words)
    if cards:
        last = list(cards.values())[-1].parent
        reading, practising = (sum(told(app, section)[place] for section in cards) for place in (0, 1))
        words = say(
            "The whole chapter takes about {reading} of reading, without what goes deeper, "
            "and {practising} of exercises."
        ).format(reading=hours(reading), practising=hours(practising))
        last.parent.insert(last.parent.index(last) + 1, nodes.paragraph("", words))


def number_of(app, page) -> str:
    return ".".join(map(str, app.env.titles[page].get("secnumber", ())))


def add_button(app, doctree, docname, section):
    title = f"{number_of(app, section)}: {app.env.titles[section].astext()}"
    words = html.escape(say("Start with {section}").format(section=title))
    link = html.escape(app.builder.get_relative_uri(docname, section))
    inner = (node for node in doctree.findall(nodes.section) if isinstance(node.parent, nodes.section))
    first = next(inner, None)
    if first is not None:
        button = f'<p class="doors"><a href="{link}">{words}</a></p>'
        first.parent.insert(first.parent.index(first), nodes.raw("", button, format="html"))


def make_card(item, number, picture, words):
    reference = next(iter(item.findall(nodes.reference)))
    reference.parent.insert(reference.parent.index(reference), nodes.inline("", f"{number}\u2002", classes=["number"]))
    item.parent["classes"] = sorted({*item.parent["classes"], "sections"})
    if picture:
        item.insert(0, nodes.raw("", picture, format="html"))
    item += nodes.raw("", f'<p class="facts">{words}</p>', format="html")


def thumbnail(env, section) -> str:
    """The lines of a section's first explorer, without its letters."""
    for raw in env.get_doctree(section).findall(nodes.raw):
        if found := EXPLORER.search(raw.astext()):
            return (
                f'<svg class="thumb" aria-hidden="true" viewBox="{found["box"]}" fill="none" stroke-width="10" '
                f'stroke-linecap="square" stroke-linejoin="round">{LETTERS.sub("", found["inner"])}</svg>'
            )
    return ""


def furnish(app, doctree, docname):
    """The first page: a list of links as doors, the book in figures below them, and its chapters as cards."""
    if app.builder.format != "html" or docname != app.config.root_doc:
        return
    chapters = {
        page: app.env.toctree_includes.get(page, [])
        for page in in_order(app.env, docname)
        if page.startswith("chapters/") and page.endswith("/index")
    }
    for chapter, item in listed(app, doctree, docname, chapters).items():
        reading, practising, count = (
            sum(told(app, section)[place] for section in chapters[chapter]) for place in range(3)
        )
        words = say("{sections} sections, {reading} to read, {count} exercises ({practising})").format(
            sections=len(chapters[chapter]), reading=hours(reading), count=count, practising=hours(practising)
        )
        make_card(item, number_of(app, chapter), thumbnail(app.env, chapters[chapter][0]), words)
    doors = next((one for one in doctree.findall(nodes.bullet_list) if all(is_link(item) for item in one)), None)
    if doors is not None:
        doors["classes"].append("doors")
        counts = in_figures(app, [section for sections in chapters.values() for section in sections])
        items = "".join(f"<li><strong>{count:,}</strong> {html.escape(words)}</li>" for words, count in counts.items())
        figures = nodes.raw("", f'<ul class="figures">{items}</ul>', format="html")
        doors.parent.insert(doors.parent.index(doors) + 1, figures)


def is_link(item) -> bool:
    """Whether a list item is one link and nothing else."""
    words = "".join(reference.astext() for reference in item.findall(nodes.reference))
    return len(list(item.findall(nodes.reference))) == 1 and words == item.astext()


def in_figures(app, sections) -> dict[str, int]:
    """What there is to count, from the notebooks: words -> number."""
    cells = [cell for section in sections for cell in nbformat.read(app.env.doc2path(section), as_version=4).cells]
    code = [cell for cell in cells if cell.cell_type == "code"]
    return {
        say("sections"): len(sections),
        say("figures to move"): sum(
            len(re.findall(r"\bExplorer\(", cell.source))
            for cell in code
            if "remove-cell" not in cell.metadata.get("tags", [])
        ),
        say("exercises"): sum(told(app, section)[2] for section in sections),
        say("tested statements"): sum(len(re.findall(r"^# claim:", cell.source, re.MULTILINE)) for cell in code),
    }


def setup(app):
    app.connect("html-page-context", tell)
    app.connect("source-read", watch)
    app.connect("doctree-resolved", time_chapter)
    app.connect("doctree-resolved", furnish)
