"""Words of the glossary say what they mean where they stand.

A page carries the definitions of the words that it links, as data, and ``static/book/glossary.js`` shows them. In every
section the first ε and the first δ become such links.
"""
from __future__ import annotations

import hashlib
import json
import posixpath
import re
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes

GLOSSARY = "reference/glossary"
ENTRY = re.compile(r'<dt id="(term-[^"]+)">(.*?)<a class="headerlink".*?</dt>\s*<dd>(.*?)</dd>', re.DOTALL)
WORD = re.compile(r'<a class="reference internal" href="(?:[^"#]*glossary\.html)?#(term-[^"]+)"')
HREF = re.compile(r'(?<= href=")[^"]+')
BLOCK = re.compile(
    r'<script type="application/json" id="glossary-words">.*?</script>\s*<script [^>]*></script>\n?', re.DOTALL
)
FORMULA = re.compile(r'(#(term-\w+)")(><span class="xref std std-term"><span class="math)')
SCRIPT = Path(__file__).parent / "static/book/glossary.js"

LETTERS = {"ε": ("term-epsilon", r"\varepsilon"), "δ": ("term-delta", r"\delta")}
NAMES = {name: letter for letter, (name, _) in LETTERS.items()}
NOT_PROSE = (
    nodes.reference, nodes.title, nodes.literal, nodes.literal_block, nodes.raw, nodes.caption, nodes.citation,
    nodes.math, nodes.math_block,
)
BEFORE, AFTER = re.compile(r"[(\[“‘]+$"), re.compile(r"^[.,;:!?)\]”’%]+")


# ------------------------------------------------------------------------------------------------ the letters ε and δ


def link_letters(app, doctree, docname):
    """Link the first ε and the first δ of a section, unless its author did."""
    if app.builder.format != "html" or not docname.startswith("chapters/") or docname.endswith("/index"):
        return
    page = app.builder.get_relative_uri(docname, GLOSSARY)
    for letter, (name, tex) in LETTERS.items():
        if not any(link.get("refuri", "").endswith(f"#{name}") for link in doctree.findall(nodes.reference)):
            link_first(doctree, letter, tex, f"{page}#{name}")


def link_first(doctree, letter: str, tex: str, address: str):
    alone = re.compile(rf"(?<![\w(]){letter}(?![\w(′'])")
    for node in doctree.findall(lambda one: isinstance(one, (nodes.math, nodes.Text))):
        if not in_prose(node):
            continue
        if isinstance(node, nodes.math) and node.astext().strip() == tex:
            link_formula(node, address)
            return
        if isinstance(node, nodes.Text) and (found := alone.search(node.astext())):
            text = node.astext()
            before, after = nodes.Text(text[:found.start()]), nodes.Text(text[found.end():])
            node.parent.replace(node, [before, link_to(address, nodes.Text(letter)), after])
            return


def in_prose(node) -> bool:
    around, paragraph = node.parent, False
    while around is not None:
        if isinstance(around, NOT_PROSE):
            return False
        paragraph |= isinstance(around, nodes.paragraph)
        around = around.parent
    return paragraph


def link_to(address: str, what):
    word = nodes.inline("", "", what, classes=["xref", "std", "std-term"])
    return nodes.reference("", "", word, refuri=address, internal=True)


def link_formula(node, address: str):
    """A formula keeps the marks around it: light.py looks for them beside a formula, not beside a link."""
    parent, place = node.parent, node.parent.index(node)
    glued = nodes.inline("", "", classes=["glue"])
    before, after = (parent[place + step] if 0 <= place + step < len(parent) else None for step in (-1, 1))
    marks = [
        pattern.search(text.astext()) if isinstance(text, nodes.Text) else None
        for pattern, text in ((BEFORE, before), (AFTER, after))
    ]
    parent.replace(node, glued)
    if marks[0]:
        glued += nodes.Text(marks[0][0])
        parent.replace(before, nodes.Text(before.astext()[:marks[0].start()]))
    glued += link_to(address, node)
    if marks[1]:
        glued += nodes.Text(marks[1][0])
        parent.replace(after, nodes.Text(after.astext()[marks[1].end():]))


# ------------------------------------------------------------------------------------------------------ the definitions


def entries(page: str) -> dict[str, tuple[str, str]]:
    """Word of the glossary's page -> the word as it is written, and what it means."""
    return {name: (word.strip(), meaning.strip()) for name, word, meaning in ENTRY.findall(page)}


def seen_from(meaning: str, page: str) -> str:
    """A definition whose links start at a page, and not at the glossary."""
    def moved(link):
        address = urlsplit(link[0])
        if address.scheme:
            return link[0]
        target = posixpath.join(posixpath.dirname(GLOSSARY), address.path or posixpath.basename(f"{GLOSSARY}.html"))
        path = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"{path}#{address.fragment}" if address.fragment else path
    return HREF.sub(moved, meaning)


def with_words(text: str, page: str, known: dict[str, tuple[str, str]], script: str) -> str:
    """A page with the definitions of the words that it links, and with the script that shows them.

    A link that is a formula has no name for a screen reader: it gets one.
    """
    text = FORMULA.sub(lambda link: f'{link[1]} aria-label="{NAMES[link[2]]}"{link[3]}', BLOCK.sub("", text))
    names = sorted(set(WORD.findall(text)) & known.keys())
    if not names:
        return text
    words = {name: [known[name][0], seen_from(known[name][1], page)] for name in names}
    data = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    up = "../" * page.count("/")
    block = (
        f'<script type="application/json" id="glossary-words">{data}</script>'
        f'<script defer src="{up}_static/book/{script}"></script>\n'
    )
    return text.replace("</body>", f"{block}</body>")


def finish(app, exception):
    site = Path(app.outdir)
    if exception or app.builder.format != "html" or not (site / f"{GLOSSARY}.html").exists():
        return
    known = entries((site / f"{GLOSSARY}.html").read_text(encoding="utf-8"))
    script = f"{SCRIPT.name}?v={hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:8]}"
    for page in app.env.found_docs:
        path = site / f"{page}.html"
        text = path.read_text(encoding="utf-8")
        if (new := with_words(text, page, known, script)) != text:
            path.write_text(new, encoding="utf-8", newline="\n")


def setup(app):
    app.connect("doctree-resolved", link_letters)
    app.connect("build-finished", finish, priority=840)         # after formulas are drawn, before the search reads
    app.add_css_file("book/glossary.css", priority=903)
