"""Where a section stands in its chapter, under its last line."""
from __future__ import annotations

import html
from pathlib import PurePosixPath


def tell(app, pagename, templatename, context, doctree):
    chapter = str(PurePosixPath(pagename).parent / "index")
    sections = app.env.toctree_includes.get(chapter, [])
    if "body" in context and pagename in sections:
        title, link = html.escape(app.env.titles[chapter].astext()), html.escape(app.builder.get_relative_uri(pagename, chapter))
        context["body"] += f'<p class="way">Section {sections.index(pagename) + 1} of {len(sections)} in <a href="{link}">{title}</a></p>\n'


def setup(app):
    app.connect("html-page-context", tell)
