"""For static/book/answers.js: the declarations of a page's exercises, and which exercises lie behind its links."""
from __future__ import annotations

import json

from bookext.sectionmap import in_order
from bookext.translation.spoken import translated
from provable_privacy import check
from provable_privacy.entries import published
from provable_privacy.points import exercises


def labels_of(app, page: str) -> list[str]:
    """The exercises of a section, of a chapter, or of the book."""
    if page == app.config.root_doc:
        return list(exercises())
    section = page.removeprefix("chapters/").removesuffix("index").replace("/", ".")
    return [label for label, one in exercises().items() if f"{one.section}.".startswith(f"{section.rstrip('.')}.")]


def declared(label: str):
    """The declaration of the exercise, in the words of this edition, if its answer is entered."""
    checkers = [getattr(check, name) for name in exercises()[label].checkers]
    entered = len(checkers) == 1 and hasattr(checkers[0], "declared")
    return translated(published(checkers[0]), checkers[0].__name__) if entered else None


def tell(app, pagename, templatename, context, doctree):
    labels = labels_of(app, pagename) if pagename.startswith("chapters/") or pagename == app.config.root_doc else []
    if "body" not in context or not labels:
        return
    gathers = pagename == app.config.root_doc or pagename.endswith("/index")
    behind = [page for page in in_order(app.env, pagename) if page.startswith("chapters/")] if gathers else []
    link = app.builder.get_relative_uri
    data = {
        "prefix": pagename.removesuffix(app.config.root_doc).removesuffix("index") if gathers else f"{pagename}#",
        "answers": {} if gathers else {label: found for label in labels if (found := declared(label))},
        "places": {"": labels} | {link(pagename, page): labels_of(app, page) for page in behind},
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    context["body"] += f'<script type="application/json" id="answers-data">{text}</script>\n'
    app.add_js_file("book/answers.js")


def setup(app):
    app.connect("html-page-context", tell)
    app.add_css_file("book/answers.css", priority=902)
