"""What a translator has to translate: the units of a page, each with its place, and the page put together again.

A page is a notebook or a Markdown file. A unit of its text is a paragraph, a heading, a cell of a table, the title of a
box, a caption, an alternative text; a unit of its code is a comment or a literal that is shown. What stands between
units is carried over byte for byte: ``rebuild(page, lambda unit: None)`` gives the page back as it was.
"""
from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).resolve().parents[3]
EXTENSIONS = {
    "amsmath", "colon_fence", "deflist", "dollarmath", "html_image", "linkify", "substitution", "tasklist",
}
TITLED = re.compile(r"admonition|prf:\w+|exercise-start")           # the argument is a title, the body is text
TEXT = re.compile(r"admonition|prf:\w+|note|warning|glossary")      # the body is text
OPTION = re.compile(r"\s*:[\w-]+:")
WORDS = re.compile(r"[^\W\d_]{2}")
OWN_NAME = re.compile(r"[^()]+ \([^()]*[\u4e00-\u9fff][^()]*\)")    # a word of the glossary brings its Chinese along
CLAIM = "remove-cell"                            # the tag of what no page shows


class Unit(NamedTuple):
    kind: str                                    # paragraph, heading, cell, title, caption, alt, comment, string,
                                                 # fstring or label
    place: str                                   # id of the notebook's cell; "" in a Markdown file
    start: int                                   # where it stands in the cell's text; -1 in the cell's metadata
    end: int
    text: str                                    # as the translator sees it: lines without indentation and list marks
    indent: str = ""                             # what begins its further lines


@cache
def parser():
    config = MdParserConfig(enable_extensions=EXTENSIONS, dmath_double_inline=True, linkify_fuzzy_links=False)
    return create_md_parser(config, RendererHTML)


def line_starts(lines: list[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


# ---------------------------------------------------------------------------------------------------------------- text


class Text:
    """The units of a piece of Markdown."""

    def __init__(self, source: str, place: str = ""):
        self.place, self.lines, self.found = place, source.split("\n"), []
        self.starts = line_starts(self.lines)
        self.walk(source, 0)
        self.found.sort(key=lambda unit: unit.start)

    def note(self, kind: str, content: str, first: int, last: int, column: int = 0) -> int:
        """The unit in the lines from first to before last; where it ends in its first line."""
        parts = content.strip("\n").split("\n")
        at = self.lines[first].find(parts[0], column)
        if at < 0:
            raise ValueError(f"{self.place}: not found in its line: {parts[0]!r}")
        end = self.starts[first] + at + len(parts[0])
        for part, number in zip(parts[1:], range(first + 1, last)):
            end = self.starts[number] + self.lines[number].rindex(part.strip()) + len(part.strip())
        indent = re.sub(r"[^\s>]", " ", self.lines[first][:at]) if kind == "paragraph" else ""
        text = "\n".join(part.strip() for part in parts)
        self.found.append(Unit(kind, self.place, self.starts[first] + at, end, text, indent))
        return at + len(parts[0])

    def walk(self, text: str, offset: int):
        tags, column, row = [], 0, -1
        for token in parser().parse(text):
            if token.type == "inline" and WORDS.search(token.content):
                first, last = (offset + number for number in token.map)
                if tags[-1] in ("th", "td"):
                    column = column if first == row else 0
                    row, column = first, self.note("cell", token.content.replace("|", r"\|"), first, last, column)
                else:
                    self.note("heading" if tags[-1][0] == "h" else "paragraph", token.content, first, last)
            elif token.type in ("fence", "colon_fence"):
                self.fence(token, offset + token.map[0])
            elif token.type.endswith("_open"):
                tags.append(token.tag)
            elif token.type.endswith("_close"):
                tags.pop()

    def fence(self, token, first: int):
        named = re.fullmatch(r"\{([\w:-]+)\}\s*(.*)", token.info.strip())
        if not named:
            return
        name, title = named.groups()
        if title and TITLED.fullmatch(name) and WORDS.search(title):
            self.note("title", title, first, first + 1, self.lines[first].index("}"))
        body = token.content.split("\n")
        if name == "glossary":
            for number, line in enumerate(body, first + 1):
                if line.startswith(" ") and line.strip():
                    self.note("paragraph", line.strip(), number, number + 1)
        elif TEXT.fullmatch(name):
            options = next((place for place, line in enumerate(body) if not OPTION.match(line)), len(body))
            self.walk("\n" * options + "\n".join(body[options:]), first + 1)


def text_units(source: str, place: str = "") -> list[Unit]:
    return Text(source, place).found


# ---------------------------------------------------------------------------------------------------------------- code

SHOWN_BY = {
    "print", "set_title", "set_xlabel", "set_ylabel", "title", "suptitle", "xlabel", "ylabel", "annotate", "text",
    "legend",
}
SHOWN_AS = {"label", "title", "xlabel", "ylabel", "xticklabels", "yticklabels", "labels", "words"}
LOOKS = {                                        # arguments that are never words
    "loc", "ha", "va", "color", "arrowprops", "dtype", "how", "on", "ls", "fmt", "textcoords", "xycoords", "where",
    "transform",
}
FIELD = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
HEADS = re.compile(r"\{f?'((?:[^'{}]|\{[^{}]*\})*)'[:!}]")        # words that a field pads: {'clip at':>8}
SQL = re.compile(
    r"\bselect\b|\bcase when\b|\bthen \w+ else\b|^error\(|^greatest\(|\bfrom \w+ where\b"
    r"|^\s*with \w+ as\b|^create table\b|^set \w+ =|\bdesc$|\border by\b|\bgroup by\b|\bcount\(\*\)", re.IGNORECASE,
)
SEVERAL = re.compile(r"[^\W\d_]\W*\s\W*\w|\w\W*\s\W*[^\W\d_]")


def code_units(source: str, place: str) -> list[Unit]:
    """Comments, and literals that are shown: of several words, or of one word where it is printed or drawn.

    Other single words are names for the program: keys, columns, what a checker asks for.
    """
    lines = source.split("\n")
    starts, found = line_starts(lines), []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and WORDS.search(token.string):
            start = starts[token.start[0] - 1] + token.start[1]
            skip = len(re.match(r"#\s*", token.string)[0])
            text = token.string[skip:]
            found.append(Unit("comment", place, start + skip, start + len(token.string), text))
    for node, shown in literals(ast.parse(source)):
        kind = "fstring" if isinstance(node, ast.JoinedStr) else "string"
        text = template(node)
        if is_shown(text, kind, shown):
            ends = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            start, end = (starts[line - 1] + len(lines[line - 1].encode()[:column].decode()) for line, column in ends)
            found.append(Unit(kind, place, start, end, text))
    return sorted(found, key=lambda unit: unit.start)


def named(labels) -> re.Pattern:
    """Where a program names one of these words, in the fields of an f-string too."""
    return re.compile(rf"(?<![\w'\"])(['\"])({'|'.join(map(re.escape, labels))})\1(?!['\"])")


def label_units(source: str, place: str, labels) -> list[Unit]:
    """The words of a program that readers see in its tables and figures: a translator names them."""
    found = named(labels).finditer(source) if labels else ()
    return [Unit("label", place, one.start(2), one.end(2), one[2]) for one in found]


def is_shown(text: str, kind: str, shown: bool) -> bool:
    plain = FIELD.sub(" ", " ".join([text, *HEADS.findall(text)])) if kind == "fstring" else text
    if not WORDS.search(plain) or SQL.search(plain):
        return False
    if shown:
        return True
    if text in names() or columns().issuperset(re.findall(r"[^\W\d]+", plain)):
        return False
    return bool(SEVERAL.search(FIELD.sub("x", text) if kind == "fstring" else text))


def tables():
    for path in sorted((ROOT / "data").glob("*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            yield csv.reader(file)


@cache
def names() -> frozenset[str]:
    """Words that are names: the literals of dplib, such as columns and adjacencies, and what the tables hold."""
    found = {value for table in tables() for row in table for value in row if " " in value}
    for path in (ROOT / "dplib").rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return frozenset(found)


@cache
def columns() -> frozenset[str]:
    """The columns of the tables: "dob zip sex" is no sentence, and "age >= 18" is a question to pandas."""
    return frozenset(word for table in tables() for name in next(table) for word in re.findall(r"[^\W\d]+", name))


def literals(node, shown: bool = False):
    """The literals and f-strings of a program, and whether a call shows them as they are.

    Words in a field belong to their f-string.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str) or isinstance(node, ast.JoinedStr):
        yield node, shown
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name != "split":                      # "dob zip sex".split()
            yield from literals(node.func)
        for one in node.args:
            yield from literals(one, name in SHOWN_BY)
        for one in node.keywords:
            if one.arg not in LOOKS:
                yield from literals(one.value, one.arg in SHOWN_AS)
    else:
        passed_on = shown and isinstance(node, (ast.List, ast.Tuple, ast.IfExp, ast.BinOp, ast.Starred))
        for one in ast.iter_child_nodes(node):
            yield from literals(one, passed_on)


def template(node) -> str:
    """A literal as a translator sees it: its words, with the fields of an f-string as they are written."""
    if isinstance(node, ast.Constant):
        return node.value
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(part.value.replace("{", "{{").replace("}", "}}"))
        else:
            conversion = f"!{chr(part.conversion)}" if part.conversion >= 0 else ""
            spec = ":" + template(part.format_spec) if part.format_spec else ""
            parts.append(f"{{{ast.unparse(part.value)}{conversion}{spec}}}")
    return "".join(parts)


SAYING = re.compile(r"\b(?!(?:and|or|of|is|to|in|by)\b)[^\W\d_]{2}")        # "{one} and {other}" alone fits too much


def message_units(source: str) -> list[Unit]:
    """What a module of checkers may print: its literals of several words, and the words between which a field chooses.

    Nobody replaces them: `provable_privacy.languages` takes them for patterns.
    """
    tree, found = ast.parse(source), []
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}          # docstrings
    inside = [
        (one, isinstance(choice, ast.IfExp))
        for node in ast.walk(tree) if isinstance(node, ast.FormattedValue)
        for choice in ast.walk(node.value) if not isinstance(choice, ast.JoinedStr)
        for one in ast.iter_child_nodes(choice)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) or isinstance(one, ast.JoinedStr)
    ]
    for node, shown in [*literals(tree), *inside]:
        text = template(node)
        words = FIELD.sub(" ", text)
        is_said = SAYING.search(words) and (shown or SEVERAL.search(FIELD.sub("x", text)))
        is_name = columns().issuperset(re.findall(r"[^\W\d]+", words))
        if is_said and not is_name and text.isprintable() and id(node) not in told:
            found.append(Unit("message", "", node.lineno, node.col_offset, text))
    return sorted(found, key=lambda unit: (unit.start, unit.end))


# ---------------------------------------------------------------------------------------------------------------- pages


def units(page: str, notebook: bool, labels=()) -> list[Unit]:
    if not notebook:
        return text_units(page)
    found = []
    for cell in json.loads(page)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found += text_units(source, cell["id"])
        elif CLAIM not in cell["metadata"].get("tags", []):
            found += [unit for unit, _ in captions(cell)] + code_units(source, cell["id"])
            found += label_units(source, cell["id"], labels)
    return found


def captions(cell):
    """The words in a cell's metadata: each unit, and the dict that holds it."""
    for place, kind in (("figure", "caption"), ("image", "alt")):
        holder = cell["metadata"].get("mystnb", {}).get(place, {})
        if holder.get(kind):
            yield Unit(kind, cell["id"], -1, -1, holder[kind]), holder


def rebuild(page: str, notebook: bool, translate, labels: dict[str, str] | None = None) -> str:
    """The page with every unit replaced by ``translate(unit)``; where that is None, as it was.

    Labels are replaced wherever they stand, so that a table's keys stay one.
    """
    if not notebook:
        return replaced(page, text_units(page), translate)
    nb = json.loads(page)
    for cell in nb["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            source = replaced(source, text_units(source, cell["id"]), translate)
        elif CLAIM in cell["metadata"].get("tags", []):
            continue
        else:
            for unit, holder in captions(cell):
                if (said := translate(unit)) is not None:
                    holder[unit.kind] = said
            source = replaced(source, code_units(source, cell["id"]), translate)
            if labels:
                source = named(labels).sub(lambda one: f"{one[1]}{labels[one[2]]}{one[1]}", source)
        cell["source"] = source.splitlines(keepends=True)
    return json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def replaced(source: str, found: list[Unit], translate) -> str:
    parts, place = [], 0
    for unit in found:
        said = translate(unit) if unit.start >= place else None         # a unit may lie in one that is translated
        if said is None:
            continue
        if unit.kind in ("string", "fstring"):
            said = literal(said, unit, source)
        elif unit.kind == "cell":
            said = said.replace("\n", " ")
        else:
            said = said.replace("\n", "\n" + unit.indent)
        parts += [source[place:unit.start], said]
        place = unit.end
    return "".join([*parts, source[place:]])


def width(text: str) -> int:
    """How many columns a text takes where code is shown."""
    return sum(2 if "\u1100" <= one else 1 for one in text)


PIECE = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}|[\x21-\x7a\x7c\x7e]+\s*|.", re.DOTALL)
ENDS = re.compile(r"[，。；：、！？）”’%]")       # no line begins with one


def literal(said: str, unit: Unit, source: str) -> str:
    """A translated literal as it stands in the code: on one line if the old one did, else cut at a page's width."""
    quoted = quoted_field if unit.kind == "fstring" else quoted_words
    if "\n" not in source[unit.start:unit.end]:
        return quoted(said)
    before = width(source[source.rfind("\n", 0, unit.start) + 1:unit.start])
    lines, line = [], ""
    for piece in PIECE.findall(said):
        if line and width(line + piece) > 78 - before and not ENDS.match(piece):
            lines.append(line)
            line = ""
        line += piece
    return ("\n" + " " * before).join(map(quoted, [*lines, line]))


def quoted_words(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') + '"'


def quoted_field(text: str) -> str:
    """An f-string: before Python 3.12 nothing may be escaped inside of its fields."""
    text = text.replace("\n", "\\n")
    around = next(one for one in ('"', "'", '"""') if one not in text)
    return ("f" if "{" in text or "}" in text else "") + around + text + around
