"""The book in Chinese: the same sources, with every unit that has a translation replaced before Sphinx reads the page.

Nothing is copied and no notebook is changed. A page keeps its anchors, its cells and their ids, so a link, a plan or a
label leads to the same place in both editions. Claims are asserted in the English edition; here their cells are empty,
and a test compares the numbers in all outputs.
"""
from __future__ import annotations

import json
import os
import re
from pathlib import Path

from docutils import nodes
from markdown_it.tree import SyntaxTreeNode
from myst_parser.mdit_to_docutils.base import DocutilsRenderer

from bookext.translation import catalogue, spoken
from bookext.translation.spoken import say
from bookext.translation.units import CLAIM, parser, rebuild

WIDE = "[\u2e80-\u9fff\uff00-\uffef\u3000-\u303f\u201c\u201d\u2014\u2026]"
QUOTES = "“”‘’—…·"                               # Chinese has its own, as wide as a character
BROKEN_LINE = re.compile(rf"(?<={WIDE})\n[ ]*(?=\S)")           # a line of Chinese ends without a blank
OWN_TERM = re.compile(
    r"(?P<open>\{term\}`(?:[^`<]*<)?|(?m:^))(?P<english>[^`<>()\n{]+) "
    r"\((?P<own>[^()`\n]*[\u4e00-\u9fff][^()`\n]*)\)(?P<close>>?`|(?m:$))"
)
FONTS = """\
# letters as text: the reader's fonts draw them, and Last Resort, which matplotlib brings, says how much room they take
svg.fonttype: none
font.family: DejaVu Sans, Last Resort High-Efficiency, sans-serif
"""
QUIET = """
# Last Resort has no bold face, and matplotlib says so for every letter
c.InteractiveShellApp.exec_lines = ["__import__('logging').getLogger('matplotlib.font_manager').setLevel('ERROR')"]
"""


def is_translated(app) -> bool:
    return app.config.language == catalogue.LANGUAGE


# ------------------------------------------------------------------------------------------------------------ the pages


def read(page: str, text: str) -> str:
    """The source of a page in Chinese. What has no translation stays English."""
    known, notebook = catalogue.known(page), text.lstrip().startswith("{")

    def translation(unit):
        said = known.get(unit.text)
        return said and BROKEN_LINE.sub("", said) if unit.kind == "paragraph" else said

    text, words = rebuild(text, notebook, translation, catalogue.labels(page)), catalogue.known(catalogue.BOOK)
    if not notebook:
        return own_terms(text)
    nb = json.loads(text)
    for cell in nb["cells"]:
        if CLAIM in cell["metadata"].get("tags", []):
            cell["source"] = []
        elif cell["cell_type"] == "markdown":
            text = spoken.formulas("".join(cell["source"]), words)
            cell["source"] = own_terms(text).splitlines(keepends=True)
    return json.dumps(nb, ensure_ascii=False)


def own_terms(text: str) -> str:
    """The glossary's "histogram (直方图)" as "直方图（histogram）", where it stands and where it is named."""
    return OWN_TERM.sub(lambda one: f"{one['open']}{one['own']}（{one['english']}）{one['close']}", text)


def headings(page: str) -> list[SyntaxTreeNode]:
    """A page's English headings, in order."""
    text, notebook = catalogue.source(page)
    cells = json.loads(text)["cells"] if notebook else [{"cell_type": "markdown", "source": [text]}]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    trees = [SyntaxTreeNode(parser().parse(source)) for source in sources]
    return [token for tree in trees for token in tree.walk() if token.type == "heading"]


def words_of(heading: SyntaxTreeNode) -> str:
    shown = ("text", "code_inline", "math_inline")
    return "".join(one.content for one in heading.children[0].walk() if one.type in shown)


def translate(app, docname, source):
    if is_translated(app) and docname in catalogue.pages():
        path = catalogue.path_of(docname)
        if path.exists():
            app.env.note_dependency(str(path))
        source[0] = read(docname, source[0])
        app.env.temp_data["english_headings"] = headings(docname)


def english_addresses(generate):
    """A heading's anchor comes from its English words."""
    def generate_heading_target(self, token, level, node, title_node):
        left = self.sphinx_env.temp_data.get("english_headings") if self.sphinx_env else None
        if left:
            token = left.pop(0)
            title_node = nodes.title("", words_of(token))
        return generate(self, token, level, node, title_node)
    return generate_heading_target


# ----------------------------------------------------------------------------------------- what pages say by themselves


CONTROL = re.compile(                            # of an Explorer: its name, or a word to choose
    r'(<label><span>|role="radiogroup" aria-label="|<div role="radiogroup"[^>]*><span>|type="radio"[^>]*><span>)'
    r'([^<>"]+)(?=[<"])'
)
SUBTITLE = re.compile(r" \((★[^()<]*)\)")        # sphinx-exercise writes these brackets where it writes the page


def configure(app, config):
    """Before sphinx-togglebutton writes its hints."""
    spoken.start(config.language)
    if not is_translated(app):
        return
    for name in ("html_title", "project", "author", "nb_code_prompt_show", "nb_code_prompt_hide"):
        setattr(config, name, say(str(getattr(config, name))))
    config.togglebutton_hint, config.togglebutton_hint_hide = say("Click to show"), say("Click to hide")
    options = config.html_theme_options
    options["logo"] = {name: say(text) for name, text in options.get("logo", {}).items()}
    options["search_bar_text"] = say(options.get("search_bar_text") or "Search this book...")
    config.proof_title_format = "（%t）"
    if config.html_baseurl:
        config.html_baseurl = f"{config.html_baseurl.rstrip('/')}/zh/"


def name_parts(app, config):
    """After sphinx-external-toc has read the contents."""
    for document in getattr(config, "external_site_map", {}).values():
        for tree in document.subtrees:
            tree.caption = tree.caption and say(tree.caption)


def leave_letters_to_readers(profile: Path):
    """Figures in which the reader's fonts draw the letters; the kernels inherit it."""
    (profile / "matplotlibrc").write_text(FONTS, encoding="utf-8")
    os.environ["MATPLOTLIBRC"] = str(profile / "matplotlibrc")
    with (profile / "profile_default/ipython_kernel_config.py").open("a", encoding="utf-8") as file:
        file.write(QUIET)


def speak(app, doctree):
    """What stands in outputs and comes from no page: verdicts, names of sliders. Latin words stay slanted."""
    if not is_translated(app):
        return
    def verdict(line):
        return f"{line[1]} {line[2]}: {spoken.checkers_say(line[3], line[2])}"
    for block in list(doctree.findall(nodes.literal_block)):
        if "output" in block["classes"] and spoken.VERDICT.search(block.astext()):
            said = spoken.VERDICT.sub(verdict, block.astext())
            block.rawsource, block[:] = said, [nodes.Text(said)]
    for word in doctree.findall(nodes.emphasis):
        if not re.search(WIDE, word.astext()):
            word["classes"].append("latin")
    for raw in doctree.findall(nodes.raw):
        if 'class="explorer"' in raw.astext():
            said = CONTROL.sub(lambda one: one[1] + say(one[2]), raw.astext())
            raw.rawsource, raw[:] = said, [nodes.Text(said)]


def finish_page(app, pagename, templatename, context, doctree):
    """The brackets around stars, and what templates and scripts say."""
    context["say"] = say
    if is_translated(app) and "body" in context:
        data = json.dumps(spoken.in_scripts(), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        context["body"] = SUBTITLE.sub("（\\1）", context["body"])
        context["body"] += f'<script type="application/json" id="book-words">{data}</script>\n'


def setup(app):
    app.connect("config-inited", configure, priority=60)
    app.connect("config-inited", name_parts, priority=950)
    app.connect("source-read", translate, priority=100)
    app.connect("doctree-read", speak, priority=900)
    app.connect("html-page-context", finish_page, priority=950)
    if app.config.language == catalogue.LANGUAGE:
        app.add_css_file("book/zh.css", priority=950)
        if not hasattr(DocutilsRenderer.generate_heading_target, "__wrapped__"):
            wrapped = english_addresses(DocutilsRenderer.generate_heading_target)
            wrapped.__wrapped__ = DocutilsRenderer.generate_heading_target
            DocutilsRenderer.generate_heading_target = wrapped
