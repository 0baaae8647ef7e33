"""What pages say by themselves: ``say("Start with {section}")`` in the extension, ``say("Done")`` in its scripts.

In a translated book the words come from ``locale/zh_CN/book.po``, and the scripts find theirs in each page. There too
are the words that no page holds: titles in the table of contents and names of sliders. What checkers say, on pages too,
is translated by `provable_privacy.languages`.
"""
from __future__ import annotations

import ast
import json
import re

import nbformat
import yaml

from bookext.translation import catalogue
from bookext.translation.units import CLAIM, ROOT, WORDS, code_units, replaced, text_units
from provable_privacy import check, languages, speech  # noqa: F401 (each checker registers itself)

SAID = re.compile(r'\bsay\(("(?:[^"\\]|\\.)+")')
THEME = ("Provable Privacy", "Provable Privacy: to the first page", "Search this book...", "Click to show",
         "Click to hide", "Show the code", "Hide the code", "the authors of Provable Privacy")
VERDICT = re.compile(r"^([○✓✗]) (\w+): (.*)$", re.MULTILINE)
NAME = re.compile(r"[\w-]+")
COVER = ROOT / "tools/bookext/static/book/cover.svg"
IN_PICTURE = re.compile(r'(?<=>)[^<>\n]+(?=</text>)|(?<=aria-label=")[^"]+')
IN_FORMULA = re.compile(r"\\text\{( *)([^{}$]*\b[a-z]{2,}[^{}$]*?)( *)\}")               # \text{TPR} is a symbol
PLAIN = ROOT / "tools/bookext/plain"
TEMPLATES = ("start.md", "README.txt", "first_cell.py")          # of the plain notebooks

words: dict[str, str] = {}                       # of the book that is built; empty if it is not translated


def say(text: str) -> str:
    return words.get(text, text)


def checkers_say(text: str, name: str = "") -> str:
    """What a checker, perhaps that of this name, says in the language of the book that is built."""
    return languages.said(text, speech.CHECKERS.get(name, ""), catalogue.LANGUAGE if words else "")


def pictured(svg: str) -> str:
    """The picture of the cover with its words said."""
    return IN_PICTURE.sub(lambda one: say(one[0]), svg)


def formulas(text: str, known: dict[str, str]) -> str:
    """A text whose formulas say their words as `known` has them."""
    def said(one):
        before, word, after = one.groups()
        return known.get(in_formula(word), in_formula(word)).replace("{", "{" + before).replace("}", after + "}")
    return IN_FORMULA.sub(said, text)


def in_formula(word: str) -> str:
    return f"\\text{{{word}}}"


def start(language: str):
    """Take the words of a language for the build that begins."""
    words.clear()
    if language == catalogue.LANGUAGE:
        words.update(catalogue.known(catalogue.BOOK))


def template(name: str) -> str:
    """A text of the plain notebooks in the words of the book that is built."""
    return replaced((PLAIN / name).read_text(encoding="utf-8"), parts(name), lambda unit: words.get(unit.text))


def parts(name: str):
    """The units of such a text; what begins with a field is no sentence."""
    text, place = (PLAIN / name).read_text(encoding="utf-8"), name.partition(".")[0]
    found = code_units(text, place) if name.endswith(".py") else text_units(text, place)
    return [unit for unit in found if not unit.text.startswith("{")]


def in_scripts() -> dict[str, str]:
    """The words that scripts say: English -> translation."""
    texts = [text for _, text in said_by("tools/bookext/static", "*.js")]
    return {text: words[text] for text in texts if text in words}


def said_by(folder: str, pattern: str):
    """What files say: pairs of the name of a file and the English."""
    for path in sorted((ROOT / folder).rglob(pattern)):
        code = path.read_text(encoding="utf-8")
        found = calls(code) if path.suffix == ".py" else map(json.loads, SAID.findall(code))
        yield from ((path.stem, text) for text in found)


def calls(code: str):
    """The arguments of say in a module, in the order of its lines."""
    found = [
        node.args[0] for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say"
    ]
    found = [one for one in found if isinstance(one, ast.Constant)]
    return [one.value for one in sorted(found, key=lambda one: (one.lineno, one.col_offset))]


def notebooks():
    for path in sorted((ROOT / "chapters").rglob("*.ipynb")):
        yield path.stem, nbformat.read(path, as_version=4)


def captions(toc):
    """The names of the parts in the table of contents."""
    if isinstance(toc, dict):
        yield from [toc["caption"]] if "caption" in toc else []
        toc = list(toc.values())
    if isinstance(toc, list):
        for one in toc:
            yield from captions(one)


def texts():
    """Pairs of what says a text and the text, in the order of the file."""
    yield from ((f"string {place}", text) for place, text in all_texts() if WORDS.search(text))
    for name in TEMPLATES:
        for unit in parts(name):
            yield f"{unit.kind} {unit.place}", unit.text


def all_texts():
    yield from (("theme", text) for text in THEME)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    yield from (("contents", text) for text in captions(toc))
    yield from (("cover", text) for text in IN_PICTURE.findall(COVER.read_text(encoding="utf-8")))
    yield from said_by("tools/bookext", "*.py")
    yield from said_by("tools", "editions.py")
    yield from said_by("tools/printing", "*.py")
    yield from said_by("tools/bookext", "*.html")
    yield from said_by("tools/bookext/static", "*.js")
    for section, nb in notebooks():
        text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
        yield from ((f"formula {section}", in_formula(word)) for _, word, _ in IN_FORMULA.findall(text))
        cells = [cell for cell in nb.cells if cell.cell_type == "code" and CLAIM not in cell.metadata.get("tags", [])]
        yield from ((f"slider {section}", name) for name in controls("\n".join(cell.source for cell in cells)))


def translated(declaration, checker: str = ""):
    """The declaration of an exercise that is answered on the page, with its words translated; one word is a name."""
    if isinstance(declaration, dict):
        return {translated(name, checker): translated(one, checker) for name, one in declaration.items()}
    if isinstance(declaration, list):
        return [translated(one, checker) for one in declaration]
    is_said = isinstance(declaration, str) and not NAME.fullmatch(declaration)
    return checkers_say(declaration, checker) if is_said else declaration


def controls(code: str):
    """The names of the sliders of a notebook's Explorers, and the words between which a reader chooses."""
    nodes = list(ast.walk(ast.parse(code)))
    named = {
        target.id: node.value for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Explorer":
            for name, values in zip(node.args[1].keys, node.args[1].values):
                yield name.value.replace("_", " ")
                yield from choices(values, named)


def choices(values, named):
    """The words in a list, or the keys of a dict that ``list(...)`` lists."""
    if isinstance(values, ast.Call) and getattr(values.func, "id", "") == "list":
        held = values.args[0]
        inner = isinstance(held, ast.Subscript)
        found = named.get(getattr(held.value if inner else held, "id", ""))
        if inner and found:
            key = ast.literal_eval(held.slice)
            found = next((one for name, one in zip(found.keys, found.values) if name.value == key), None)
        values = ast.List(elts=found.keys) if isinstance(found, ast.Dict) else values
    if isinstance(values, ast.List):
        yield from (one.value for one in values.elts if isinstance(one, ast.Constant) and isinstance(one.value, str))
