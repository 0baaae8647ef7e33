"""Docutils nodes to Markdown that every notebook program reads without a plug-in."""
from __future__ import annotations

import html
import re

from docutils import nodes
from sphinx.locale import admonitionlabels

from bookext.translation.spoken import say

SILENT = {"target", "comment", "index", "substitution_definition", "script"}
BOXES = {"admonition", "note", "tip", "warning", "important", "attention", "seealso"}


def theorems():
    """What each kind of statement is called."""
    return {
        "theorem_node": say("Theorem"), "proposition_node": say("Proposition"), "definition_node": say("Definition"),
        "algorithm_node": say("Algorithm"), "lemma_node": say("Lemma"), "corollary_node": say("Corollary"),
        "example_node": say("Example"), "remark_node": say("Remark"),
    }


class Unknown(Exception):
    """A node for which there is no Markdown: nothing is left out in silence."""


class Markdown:
    """Writes the nodes of one page.

    Parameters
    ----------
    numbers : dict
        Of Sphinx: kind -> id -> number, for theorems, exercises, figures.
    address : callable
        Target of a reference -> its address for a reader of the notebook, or None if there is nowhere to go.
    headings : set of str, optional
        Of this notebook, which names one in italics where the page has a link to it.
    """

    def __init__(self, numbers, address, headings=()):
        self.numbers, self.address, self.headings, self.cited = numbers, address, headings, []

    def number(self, kind, node):
        return ".".join(map(str, self.numbers.get(kind, {}).get(node["ids"][0], ()))) if node["ids"] else ""

    # ---------------------------------------------------------------------------------------------------- inside a line

    def inline(self, node, in_table=False):
        return "".join(self.span(child, in_table) for child in node.children)

    def span(self, node, in_table):
        name = type(node).__name__
        if isinstance(node, nodes.Text):
            return escape(node.astext(), in_table)
        if name in ("emphasis", "strong"):
            mark = "*" if name == "emphasis" else "**"
            return f"{mark}{self.inline(node, in_table)}{mark}"
        if name == "literal":
            return code(node.astext(), in_table)
        if name == "math":
            return f"${formula(node.astext(), in_table)}$"
        if name == "math_block":                             # two dollars in the middle of a sentence
            return f"\n{self.block(node)}\n"
        if name in ("reference", "number_reference"):
            return self.link(node, in_table)
        if name in ("inline", "abbreviation", "generated"):
            return self.inline(node, in_table)
        if name in ("superscript", "subscript"):
            tag = name[:3]
            return f"<{tag}>{self.inline(node, in_table)}</{tag}>"
        if name in SILENT:
            return ""
        raise Unknown(f"in a line: {node.pformat()[:200]}")

    def link(self, node, in_table):
        words = self.inline(node, in_table)
        target = f"#{node['refid']}" if node.get("refid") else node.get("refuri", "")
        if "reference/bibliography" in target:
            self.cited.append(target.rpartition("#")[2])
        if not node.get("internal") and not target.startswith("#"):
            return f"<{target}>" if node.astext() == target else f"[{words}]({target})"
        address = self.address(target)
        if not address and node.astext() in self.headings and "*" not in words:
            return f"*{words}*"
        return f"[{words}]({address})" if address else words

    def title(self, node):
        """The line that opens a fold: HTML, because Markdown is not read there; a link in it would open its page."""
        tags = {"literal": "code", "emphasis": "em", "strong": "strong"}
        out = []
        for child in node.children:
            tag = tags.get(type(child).__name__)
            if isinstance(child, nodes.Text):
                out.append(html.escape(child.astext(), quote=False))
            elif isinstance(child, nodes.math):
                raise Unknown(f"a formula in the title of a fold, where it stays raw: {child.astext()[:80]}")
            else:
                out.append(f"<{tag}>{self.title(child)}</{tag}>" if tag else self.title(child))
        return "".join(out)

    # ----------------------------------------------------------------------------------------------------------- blocks

    def blocks(self, parts):
        return "\n\n".join(filter(None, map(self.block, parts)))

    def block(self, node):
        name = type(node).__name__
        if name in ("paragraph", "compact_paragraph"):
            return re.sub(r"(?m)^(\s*)([-+#>]|\d+[.)])(?=\s)", r"\1\\\2", self.inline(node))
        if name in ("bullet_list", "enumerated_list"):
            first = node.get("start", 1) if name == "enumerated_list" else None
            return "\n".join(
                self.item(child, "- " if first is None else f"{first + i}. ") for i, child in enumerate(node.children)
            )
        if name == "math_block":
            if re.search(r"(?<!\\)%", node.astext()):
                raise Unknown(f"a comment in a formula, which a quotation writes into one line: {node.astext()[:80]}")
            number = rf" \tag{{{node['number']}}}" if type(node.get("number")) is int else ""
            return f"$$\n{node.astext().strip()}{number}\n$$"
        if name == "literal_block":
            language = node.get("language", "")
            return f"```{language if language not in ('none', 'default') else ''}\n{node.astext()}\n```"
        if name == "table":
            return self.table(node)
        if name == "block_quote":
            return quote(self.blocks(node.children))
        if name in BOXES:
            titled = isinstance(node.children[0], nodes.title)
            body = self.blocks(node.children[titled:])
            if "dropdown" in node["classes"]:
                return fold(self.title(node.children[0]), body)
            return quote(f"**{self.inline(node.children[0]) if titled else admonitionlabels[name]}**\n\n{body}")
        if name in theorems():
            number = self.number(node["countertype"], node)
            head = f"**{theorems()[name]} {number}** {self.inline(node.children[0])}".rstrip()
            return quote(f"{head}\n\n{self.blocks(node.children[1].children)}")
        if name == "definition_list":
            return "\n\n".join(f"**{self.inline(item.children[0])}**\n\n{self.blocks(item.children[-1].children)}"
                               for item in node.children)
        if name in ("container", "compound", "section", "glossary"):
            return self.blocks(node.children)
        if name == "transition":
            return "---"
        # sphinx-thebe puts its script into every page
        if name in SILENT or name == "raw" and "<script" in node.astext():
            return ""
        raise Unknown(f"a block: {node.pformat()[:300]}")

    def item(self, node, mark):
        first, *rest = self.blocks(node.children).split("\n")
        return "\n".join([mark + first, *(" " * len(mark) + line if line else "" for line in rest)])

    def table(self, node):
        rows = [
            ["<br>".join(self.inline(child, in_table=True) for child in entry.children) for entry in row.children]
            for row in node.findall(nodes.row)
        ]
        sides = [" ".join(entry.get("classes", [])) for entry in next(node.findall(nodes.row)).children]
        ruler = ["---:" if "right" in side else ":---:" if "center" in side else "---" for side in sides]
        return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ruler, *rows[1:]])


def escape(text, in_table=False):
    if "$" in text:
        raise Unknown(f"a dollar sign, which some programs take for mathematics whatever stands before it: {text[:80]}")
    text = re.sub(r"([\\*`]|(?<!\w)_|_(?!\w)|~~)", r"\\\1", text).replace("<", "&lt;")
    text = re.sub(r"&(?=#?\w+;)(?!lt;)", "&amp;", text)
    return text.replace("|", r"\|").replace("\n", " ") if in_table else text


def code(text, in_table=False):
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    text = f" {text} " if text.startswith("`") or text.endswith("`") else text
    text = text.replace("|", r"\|") if in_table else text
    return f"{fence}{text}{fence}"


def formula(tex, in_table=False):
    tex = " ".join(tex.split())
    return re.sub(r"\\\|", r"\\Vert ", tex).replace("|", r"\vert ") if in_table else tex


def quote(text):
    """A quotation, with each formula in one line.

    JupyterLab cuts formulas out before it reads Markdown, and would show the marks of quotation that stand inside.
    """
    text = re.sub(
        r"(?m)^( *)\$\$\n((?:.*\n)*?) *\$\$$", lambda found: f"{found[1]}$${' '.join(found[2].split())}$$", text
    )
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def fold(title, body):
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
