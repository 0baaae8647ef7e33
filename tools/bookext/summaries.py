"""The first words of every page, in the page that searches."""
from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).parent
LONGEST = 240                                    # letters
ASIDE = (nodes.literal_block, nodes.table, nodes.Admonition, nodes.container)


def first_words(doctree) -> str:
    """The first paragraph of a page's text, to the end of a sentence or a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        parent = paragraph.parent
        while parent is not None and not isinstance(parent, ASIDE):
            parent = parent.parent
        words = " ".join(paragraph.astext().split())
        if parent is None and len(words) > 20:
            break
    else:
        return ""
    if len(words) <= LONGEST:
        return words
    cut = words[:LONGEST]
    sentence = re.match(r".*[.?!](?= )", cut)
    return sentence[0] if sentence else f"{cut.rpartition(' ')[0]} …"


def remember(app, doctree):
    app.env.first_words[app.env.docname] = first_words(doctree)


def begin(app):
    app.env.first_words = getattr(app.env, "first_words", {})


def forget(app, env, docname):
    env.first_words.pop(docname, None)


def write(app, exception):
    page = Path(app.outdir, "search.html")
    if exception or app.builder.format != "html" or not page.exists():
        return
    text = page.read_text(encoding="utf-8")
    if 'id="summaries"' in text:
        return
    words = {name: found for name, found in sorted(app.env.first_words.items()) if found}
    data = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    script = (HERE / "summaries.js").read_text(encoding="utf-8")
    text = text.replace(
        "</body>", f'<script type="application/json" id="summaries">{data}</script><script>{script}</script></body>'
    )
    page.write_text(text, encoding="utf-8", newline="\n")


def setup(app):
    app.connect("builder-inited", begin)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-read", remember)
    app.connect("build-finished", write)
