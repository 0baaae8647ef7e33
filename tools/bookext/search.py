"""What the page that searches knows: every place of the book, the words that stand there, and its text for excerpts.

The finished pages are read, so that a place has the anchor, the number and the symbols that its reader sees. A place is
what has an address of its own: a section, a theorem, an exercise, a word of the glossary, a claim, a function. One file
with the words of all places comes with the page; their texts come a few at a time, when they are shown, and so do the
pairs of Chinese characters for which somebody asks. The files are scripts, so that a book on a disk can be searched, too. ``static/book/search.js`` does the rest: endings, spellings and
ranks.
"""
from __future__ import annotations

import hashlib
import json
import re
import shutil
import unicodedata
from collections import Counter, defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder

from bookext.sectionmap import in_order

FOLDER = "_static/search"
SHARD = 6000                                     # letters of text in one file, and the rest of a place
PAIRS = 1000                                     # pairs of Chinese characters in one file, more or less
TITLES_ONLY = ("course/plans/", "reference/bibliography")       # the sections say it better

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
DRAWN = re.compile(r"<(mjx-math|svg|script|style|pre)\b.*?</\1>", re.DOTALL)
LINES = {"p", "dt", "figcaption", "caption", "h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS = {
    *LINES, "div", "section", "ul", "ol", "li", "dl", "dd", "table", "thead", "tbody", "tr", "figure", "blockquote",
}
# what is not text, and what would tell an answer
SILENT = {"pre", "nav", "button", "noscript", "details", "form", "aside"}
SILENT_CLASSES = {
    "headerlink", "explorer", "cell_input", "cell_output", "results", "solution", "toctree-wrapper", "filters", "facts",
    "figures", "section-map", "doors", "way", "field-list", "rubric", "eqno", "backrefs",
}
BOXES = {"proof", "exercise", "citation"}        # classes of boxes that have an address
TITLES = {"admonition-title", "label"}

HAN = "\u3400-\u9fff"
RELATIONS = set("=<>≤≥≈∈→≪≫∼∝⊂⊆⇒⇔≠+−×⊗∪∩|")
MARKS = {"msup": "^", "msub": "_", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^"}
STOP = set("""
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    enough for from get got had has have having he her hers him his how i if in into is it its itself just let like
    many may me might more most much must my no nor not of on only or other our ours out over own s same shall she
    should so some such t than that the their theirs them then there these they this those through to too under until
    up us very was we were what when where which while who whom whose why will with would you your yours
""".split())
EMPTY = (                                        # characters of grammar: pairs with one of them say nothing
    "的了是在和与有不也就都而及或被把从到对于这那它其之以为上下里中个则若因此所但们吗呢么什怎哪谁你我自己每各些任何只"
    "再还又已该将并且如果候得着地没更最很太给让才来去过几一二三两四五六七八十百千万多少次能可要会"
)


class Place(NamedTuple):
    anchor: str
    title: list[str]
    passages: list[str]


class Tree(HTMLParser):
    """The elements of a page's article."""

    def __init__(self, page: str):
        super().__init__()
        self.builder, self.open = TreeBuilder(), []
        self.handle_starttag("article", [])
        self.feed(DRAWN.sub("", page[page.find(">", page.find("<article")) + 1:page.rfind("</article>")]))
        while self.open:
            self.builder.end(self.open.pop())
        self.root = self.builder.close()

    def handle_starttag(self, tag, attributes):
        self.builder.start(tag, {name: value or "" for name, value in attributes})
        if tag in VOID:
            self.builder.end(tag)
        else:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.builder.start(tag, dict(attributes))
        self.builder.end(tag)

    def handle_endtag(self, tag):
        while tag in self.open:
            last = self.open.pop()
            self.builder.end(last)
            if last == tag:
                return

    def handle_data(self, data):
        self.builder.data(data)


def classes(node: Element) -> set[str]:
    return set(node.get("class", "").split())


def is_silent(node: Element) -> bool:
    return node.tag in SILENT or not SILENT_CLASSES.isdisjoint(classes(node))


def line_of(node: Element) -> str:
    """The text of an element in one line, formulas as one would type them."""
    return " ".join(text_of(node).split()).replace("\\(", "").replace("\\)", "")


def text_of(node: Element) -> str:
    if is_silent(node):
        return ""
    if node.tag == "math":
        return formula(node)
    parts = [node.text or ""]
    for child in node:
        parts += [text_of(child), child.tail or ""]
    return "".join(parts)


def formula(node: Element) -> str:
    """MathML as a line of text: e^(ε/2), 1/(1 + x)."""
    parts = [formula(child) for child in node]
    if node.tag == "mo":
        sign = (node.text or "").strip()
        return f" {sign} " if sign in RELATIONS else sign
    if node.tag == "mfrac":
        return "/".join(map(grouped, parts))
    if node.tag in MARKS:
        marks = "" if set("".join(parts[1:])) <= set("′*∗¯^~") else MARKS[node.tag]
        return parts[0] + "".join(f"{marks[place:place + 1]}{grouped(part)}" for place, part in enumerate(parts[1:]))
    if node.tag == "msqrt":
        return f"√{grouped(''.join(parts))}"
    if node.tag == "mi" and len(node.text or "") > 1:
        return f" {node.text} "                  # ln p
    line = (node.text or "").strip() + {"mtable": "; ", "mtr": " "}.get(node.tag, "").join(parts)
    line = re.sub(r"^ [−+] ", lambda sign: sign[0].strip(), line.replace("\u2061", ""))
    return re.sub(r"([a-z]) +\(", r"\1(", line)


def grouped(part: str) -> str:
    part = part.strip()
    return f"({part})" if re.search(r"[\s/+−]", part) and not re.fullmatch(r"\([^()]*\)", part) else part


def places_of(page: str) -> list[Place]:
    """The places of a page, in order, each with the text that stands in no smaller one."""
    found = []
    read(Tree(page).root, None, found)
    return [place for place in found if place.title]


def read(node: Element, place: Place | None, found: list[Place]):
    for child in node:
        begins = begins_place(child)
        if is_silent(child):
            continue
        here = place
        if begins:
            here = Place(child.get("id"), [], [])
            found.append(here)
        if child.tag == "dt" and begins:
            place = here                         # what stands below a word is told of it
        if child.tag == "tr":
            cells = [line for cell in child if (line := line_of(cell))]
            say(here, cells, begins)
        elif child.tag in LINES or not any(inner.tag in BLOCKS for inner in child):
            is_title = child.tag in ("h1", "h2", "h3", "h4") or begins or not TITLES.isdisjoint(classes(child))
            line = line_of(child)
            say(here, [line.partition("(")[0] if "sig" in classes(child) else line], is_title)
        else:
            read(child, here, found)


def say(place: Place | None, lines: list[str], is_title: bool):
    if place is not None and is_title and lines and not place.title:
        place.title.append(lines[0])
        lines = lines[1:]
    passage = " · ".join(lines)
    if place is not None and re.search(r"\w", passage):
        place.passages.append(passage)


def begins_place(node: Element) -> bool:
    name = node.get("id") or ""
    if not name or name.endswith("-content"):    # a part of a box
        return False
    return node.tag in ("section", "dt", "tr") or node.tag == "div" and not BOXES.isdisjoint(classes(node))


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: small letters without marks; neither numbers nor single letters."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(one))
    others = re.findall(rf"[^\W_{HAN}]+", plain)
    words = [one for one in others if not re.fullmatch(r"\d+|[a-z]", one) and one not in STOP]
    runs = re.findall(f"[{HAN}]+", plain)        # Chinese has no blanks: it is compared by pairs of neighbours
    pairs = [run[place:place + 2] for run in runs for place in range(max(1, len(run) - 1))]
    return words + [pair for pair in pairs if not set(pair) & set(EMPTY)]


def knowledge(pages: dict[str, list[Place]]) -> tuple[dict, list[list[list[str]]], list[dict]]:
    """What a search starts from, the passages of all places in files, and the pairs of Chinese characters in files.

    A word has a list of numbers, one for each place that has it: how many places after the last one, doubled, and one
    more if the word stands there three times.
    """
    places, shards, first, room = [], [], [], 0
    lengths: list[int] = []                      # of each place, in different words
    counts: dict[str, list[int]] = defaultdict(list)
    last: dict[str, int] = defaultdict(int)
    for page, found in enumerate(pages.values()):
        for place in found:
            number = len(places)
            words = Counter(words_of(" ".join([*place.title, *place.passages])))
            lengths.append(len(words))
            for word, times in words.items():
                counts[word].append(2 * (number - last[word]) + (times > 2))
                last[word] = number
            if room <= 0:
                first.append(number)
                shards.append([])
                room = SHARD
            shards[-1].append(place.passages)
            room -= sum(len(passage) + len(re.findall(f"[{HAN}]", passage)) for passage in place.passages)
            places.append([page, place.anchor, place.title[0]])
    chinese = [word for word in counts if re.match(f"[{HAN}]", word)]
    files = 1 + len(chinese) // PAIRS
    by_file = [sorted(word for word in chinese if ord(word[0]) % files == number) for number in range(files)]

    def part(words):
        return {"words": " ".join(words), "where": [counts[word] for word in words]}
    index = {
        "pages": list(pages), "places": places, "lengths": lengths, "files": first, "stop": sorted(STOP), "empty": EMPTY,
        "pairs": files, **part(sorted(counts.keys() - set(chinese))),
    }
    return index, shards, list(map(part, by_file))


def write(site: Path, names: list[str]):
    """The files of the search, for the finished pages of these names."""
    pages = {name: places_of((site / f"{name}.html").read_text(encoding="utf-8")) for name in names}
    for name, places in pages.items():
        if name.startswith(TITLES_ONLY):
            pages[name] = [place._replace(passages=[]) for place in places if not re.match("id\\d", place.anchor)]
    index, shards, pairs = knowledge(pages)
    shutil.rmtree(site / FOLDER, ignore_errors=True)
    (site / FOLDER).mkdir(parents=True)
    texts = {f"{number}.js": call("texts", number, passages) for number, passages in enumerate(shards)}
    texts |= {f"pairs{number}.js": call("pairs", number, part) for number, part in enumerate(pairs)}
    index["mark"] = hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:8]
    texts["index.js"] = call("start", index)
    for name, text in texts.items():
        (site / FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    page = site / "search.html"
    text = page.read_text(encoding="utf-8")
    for script in ("search/index.js", "book/search.js"):       # a browser keeps what has not changed
        mark = hashlib.sha256((site / "_static" / script).read_bytes()).hexdigest()[:8]
        text = re.sub(rf'(_static/{re.escape(script)})[^"]*', rf"\1?v={mark}", text)
    page.write_text(text, encoding="utf-8", newline="\n")


def call(name: str, *values) -> str:
    data = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)
    return f"bookSearch.{name}({','.join(data)});\n"


def finish(app, exception):
    if not exception and app.builder.format == "html" and Path(app.outdir, "search.html").exists():
        root = app.config.root_doc
        write(Path(app.outdir), list(dict.fromkeys([root, *in_order(app.env, root)])))


def replace_sphinx(app):
    """Its index is not made, and its page is ours: templates/search.html."""
    if app.builder.format == "html":
        app.builder.search = False


def add_page(app):
    return [("search", {}, "search.html")]


def setup(app):
    app.connect("builder-inited", replace_sphinx)
    app.connect("html-collect-pages", add_page)
    app.connect("build-finished", finish, priority=850)         # after formulas are drawn
    app.add_css_file("book/search.css", priority=902)
