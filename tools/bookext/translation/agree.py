"""Both editions have computed the same: cell by cell the same numbers and marks in all outputs, whatever the words."""
from __future__ import annotations

import html
import json
import re
from collections import Counter

import nbformat
from jupyter_cache import get_cache

from bookext import prepare_kernels
from bookext.cache import Checkers, cache_folder, executed
from bookext.execution import execute
from bookext.outputs import parts
from bookext.translation import catalogue, read
from bookext.translation.lint import english_values
from bookext.translation.units import ROOT

NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|[○✓✗½¼¾]")
FRAMES = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
LETTERS = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
# matplotlib notes a text before it draws it as paths, and a formula before it writes it sign by sign
DRAWN = re.compile(r"<!-- (.*?) -->(?:\s*<g[^>]*>\s*<text\b.*?</text>)?|<text\b[^>]*>(.*?)</text>", re.DOTALL)


def numbers(text: str) -> Counter:
    return Counter(one.rstrip(",").replace("−", "-") for one in NUMBER.findall(text.replace("minus ", "−")))


def texts(cell) -> list[str]:
    """What a cell's outputs say: lines, sentences of Explorers, the letters of each figure."""
    found = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            found += output.text.splitlines()
        data = output.get("data", {})
        if 'class="explorer"' in data.get("text/html", ""):
            pieces, frames = json.loads(FRAMES.search(data["text/html"])[1])
            for row, sentence in frames:
                found += [sentence, " | ".join(LETTERS.findall("".join(pieces[number] for number in row)))]
        elif "image/svg+xml" in data:
            drawn = DRAWN.findall(data["image/svg+xml"])
            found.append(html.unescape(" | ".join(note or letters for note, letters in drawn)))
    return found


def tables(cell) -> list[int]:
    """How many rows the tables have that a page makes of what the cell prints."""
    printed = [output.text for output in cell.get("outputs", ()) if output.output_type == "stream"]
    return [len(one.rows) for text in printed for kind, one in parts(text) if kind == "table"]


def differences(english, own):
    """Pairs of cells that do not agree. A month may become a number."""
    for place, (one, two) in enumerate(zip(english.cells, own.cells, strict=True)):
        if one.cell_type != "code" or not two.source.strip():            # claims are empty in the second edition
            continue
        if (rows := tables(one)) and rows != tables(two):
            yield f"cell {one.id or place}: tables of {rows} rows in English and of {tables(two)} here: see their heads"
        said, again = texts(one), texts(two)
        if len(said) != len(again):
            yield f"cell {one.id or place}: {len(said)} lines in English, {len(again)} here"
        for old, new in zip(said, again):
            lost, more = numbers(old) - numbers(new), numbers(new) - numbers(old)
            named = english_values(old)
            if lost or any(not number.isdigit() or int(number) not in named for number in more):
                yield f"cell {one.id or place}: {old[:90]!r} -> {new[:90]!r}"


def sources(page: str):
    """The notebook of a section in both languages, and the folders in which they are built."""
    text, _ = catalogue.source(page)
    yield nbformat.reads(text, as_version=4), ROOT / "_build"
    yield nbformat.reads(read(page, text), as_version=4), ROOT / "_build/zh"


def run(pages: list[str]):
    """Execute sections in both languages as the books' builds do, where that is not done yet."""
    for language, build in (("en", ROOT / "_build"), (catalogue.LANGUAGE, ROOT / "_build/zh")):
        prepare_kernels(build, language)
        cache = get_cache(cache_folder(ROOT, build))
        books = [(ROOT / f"{page}.ipynb", nb) for page in pages for nb, folder in sources(page) if folder == build]
        execute(books, cache, Checkers(ROOT), timeout=120)


def compared(page: str) -> list[str] | None:
    """How the two executions of a section differ; None if one of the editions has not been built since it changed."""
    checkers = Checkers(ROOT)
    found = [executed(cache_folder(ROOT, build), nb, checkers) for nb, build in sources(page)]
    return None if None in found else list(differences(*found))
