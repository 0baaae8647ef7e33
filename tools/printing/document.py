"""The built pages as one HTML document for paper."""

from __future__ import annotations

import html
import re
import tomllib
from importlib import util
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin

import lxml.html
import yaml
from bookext.translation.spoken import pictured, say
from lxml.html import HtmlElement, builder

HERE = Path(__file__).parent
LEFT_OUT = (
    "reference/dplib",
    "reference/provable_privacy",
    "course",
)  # of the whole book: eighty pages of signatures, and what is for those who teach
FONTS = Path(util.find_spec("matplotlib").origin).parent / "mpl-data/fonts/ttf"
SONG = '"Songti SC", "Noto Serif CJK SC", "Noto Serif SC", "Source Han Serif SC", SimSun'  # as systems call it
NARROW_MARKS = "U+0-B6, U+B8-2013, U+2015-2017, U+201A-201B, U+201E-2025, U+2027-10FFFF"  # Chinese has its own quotes
PLAIN_INK = {"p", "n", "o", "w", "si", "nn", "fm", "vm", ""}  # pieces of code that look like the code around them
UNBROKEN = 10  # lines of code that stay on one page
NARROW, WIDE = 88, 104  # columns of code at the usual and at the smallest size

IDLE = (
    "headerlink",
    "way",
    "prev-next-footer",
    "tooltip-content",
    "doors",
    "thumb",
    "filters",
    "above-input",
)  # code that the page shows only on demand
MATHEMATICS = re.compile(r"^(?:mjx-|\.(?:MJX|TEX|s-)|@font-face \{ font-family: MJX).*$", re.MULTILINE)
ADDRESS = re.compile(r'url\("(?!data:)([^"]+)"\)')


class NotBuilt(Exception):
    """The pages are not there, or not as they should be."""


class Entry(NamedTuple):
    """A line of the table of contents."""

    level: int
    title: str
    anchor: str


def groups_of(toc: dict, wanted=()) -> list[list[str]]:
    """The pages of each chapter, in order, its own page first: those that are wanted, or all of the book on paper."""

    def pages(entry):
        return [entry["file"], *(page for section in entry.get("sections", ()) for page in pages(section))]

    def among(page, names):
        return any(page in (name, f"{name}/index") or page.startswith(f"{name}/") for name in names)

    chapters = [[toc["root"]], *(pages(chapter) for part in toc["parts"] for chapter in part["chapters"])]
    kept = (
        [page for page in group if (among(page, wanted) if wanted else not among(page, LEFT_OUT))] for group in chapters
    )
    return [group for group in kept if group]


def anchor_of(page: str) -> str:
    return page.replace("/", "-")


def find(element: HtmlElement, *names: str) -> list[HtmlElement]:
    """All elements below that have one of these classes."""
    wanted = set(names)
    return [
        one
        for one in element.iterdescendants()
        if isinstance(one.tag, str) and not wanted.isdisjoint((one.get("class") or "").split())
    ]


def words_of(element: HtmlElement) -> str:
    """Its text in one line, with words for formulas."""

    def parts(element):
        yield element.get("aria-label") if element.tag == "mjx-container" else element.text
        for child in element:
            yield from parts(child) if isinstance(child.tag, str) else ()
            yield child.tail

    return " ".join("".join(filter(None, parts(element))).split())


# ------------------------------------------------------------------------------------------------------------- one page


class Page:
    """What paper takes of one built page.

    Parameters
    ----------
    site : path
    name : str
        As in the table of contents.
    printed : set of str
        The pages that a link may lead to.
    level : int
        Of its heading.
    """

    def __init__(self, site: Path, name: str, printed: set[str], level: int):
        path = site / f"{name}.html"
        if not path.is_file():
            raise NotBuilt(f"there is no page {name}: make book builds the pages")
        self.site, self.name, self.printed, self.level = site, name, printed, level
        tree = lxml.html.parse(str(path), parser=lxml.html.HTMLParser(encoding="utf-8"))
        self.article = tree.getroot().find(".//article")
        for formula in find(self.article, "math"):
            speak(formula, name)
        for explorer in find(self.article, "explorer"):
            explorer.replace(find(explorer, "controls")[0], settings(explorer))
        hidden = [code for cell in find(self.article, "tag_hide-input") for code in find(cell, "cell_input")]
        for idle in [*find(self.article, *IDLE), *hidden, *self.article.iter("button", "script", "mjx-assistive-mml")]:
            idle.drop_tree()
        for cell in find(self.article, "cell"):
            self.quieten(cell)
        for code in self.article.xpath(".//pre"):
            set_code(code)
        headings = list(self.article.iter("h1", "h2", "h3", "h4", "h5"))
        self.headings = [words_of(heading) for heading in headings]
        self.title = self.headings[0]
        self.anchor_all()
        for heading in headings:
            heading.tag = f"h{min(int(heading.tag[1]) + level - 1, 6)}"
        self.solutions = find(self.article, "solution")
        for solution in self.solutions:
            solution.drop_tree()

    @staticmethod
    def quieten(cell: HtmlElement):
        """An unanswered exercise says nothing on paper, and neither does a cell without anything to see."""
        for output in find(cell, "cell_output"):
            if words_of(output).startswith("○ "):
                output.drop_tree()
        if not cell.text_content().strip() and not cell.xpath(".//img|.//svg"):
            cell.drop_tree()

    def anchor_all(self):
        """Names of this page's own for its anchors, and addresses in the document for its links and pictures."""
        mark = anchor_of(self.name)
        seen = set()
        for element in self.article.xpath(".//*[@id]"):
            if element.get("id") in seen:  # every proof is called proof-content
                del element.attrib["id"]
            else:
                seen.add(element.get("id"))
                element.set("id", f"{mark}--{element.get('id')}")
        for link in self.article.xpath(".//a[@href]"):
            link.attrib.pop("title", None)
            target = self.inside(link.get("href"))
            if target and not target.startswith("data:"):  # paper has no files to hand out
                link.set("href", target)
            else:
                link.tag = "span" if next(link.iterancestors("svg"), None) is None else "g"
                del link.attrib["href"]
        for picture in self.article.xpath(".//img[@src]"):
            if not re.match("[a-z]+:", picture.get("src")):
                picture.set(
                    "src", (self.site / self.name).parent.joinpath(unquote(picture.get("src"))).resolve().as_uri()
                )
        before, _, after = say("Solution on page {number}").partition("{number}")
        for exercise in find(self.article, "exercise"):
            solution = f"{mark}--sol-{exercise.get('id').removeprefix(f'{mark}--ex-')}"
            if self.article.xpath(".//*[@id=$name]", name=solution):
                exercise.append(
                    builder.P(
                        builder.A(before, page_number(solution), after, href=f"#{solution}"),
                        builder.CLASS("to-solution"),
                    )
                )

    def inside(self, address: str) -> str | None:
        """Where a link leads: into the document, to the world, or nowhere."""
        if re.match(r"[a-z]+:", address):
            return address
        path, _, anchor = address.partition("#")
        target = urljoin(f"/{self.name}.html", path)[1:].removesuffix(".html") if path else self.name
        if target not in self.printed:
            return None
        return f"#{anchor_of(target)}" + (f"--{anchor}" if anchor else "")

    def section(self) -> str:
        self.article.tag = "section"
        self.article.set("id", anchor_of(self.name))
        self.article.set("class", f"page level{self.level}")
        return lxml.html.tostring(self.article, encoding="unicode", with_tail=False)


def page_number(anchor: str) -> HtmlElement:
    """A place for the number of the page with this anchor, as wide as any that may come."""
    number = builder.B("000", builder.CLASS("page-number"))
    number.set("data-page", anchor)
    return number


def settings(explorer: HtmlElement) -> HtmlElement:
    """Where its sliders and choices stand, as words."""
    found = []
    for control in explorer.xpath("./div/*[self::label or @role]"):
        chosen = control.xpath(".//input[@checked]/following-sibling::span")
        value = chosen[0].text_content() if chosen else control.xpath(".//input")[0].get("aria-valuetext")
        found.append(builder.SPAN(f"{control[0].text_content()} = {value}"))
    return builder.P(builder.CLASS("settings"), *found)


def speak(formula: HtmlElement, page: str):
    """A formula that is drawn is a picture with words: its MathML in one line."""
    drawn, read = formula.find("mjx-container"), formula.find(".//math")
    if drawn is None or read is None:
        raise NotBuilt(
            f"{page}: a formula is not set, {formula.text_content()[:60]!r}: make book sets them where it finds node"
        )
    drawn.set("role", "img")
    drawn.set("aria-label", re.sub(r"\s+", " ", linear(read)).strip())
    drawn.append(
        builder.SPAN("\N{NO-BREAK SPACE}", builder.CLASS("said"))
    )  # Chromium gives words to a picture with text in it


def linear(element: HtmlElement) -> str:
    r"""MathML as a line of text.

    >>> formula = "<math><mfrac><mn>1</mn><msup><mi>e</mi><mi>ε</mi></msup></mfrac></math>"
    >>> linear(lxml.html.fragment_fromstring(formula))
    '1/(e^ε)'
    """
    parts = [linear(child) for child in element]
    if element.tag == "mo":
        sign = re.sub("[\u2061-\u2064]", "", element.text or "")
        return f" {sign} " if re.fullmatch(r"[=<>≤≥≠≈≡∈∼+−±×→↦∪∩⊆∣,]", sign) else sign
    if not parts:
        return element.text or ""
    if element.tag in ("msub", "msup", "msubsup", "mfrac", "munder", "mover", "munderover"):
        parts = [part if len(part) == 1 or part.isalnum() else f"({part.strip()})" for part in parts]
        marks = {"mfrac": "/", "msup": "^", "mover": "^"}.get(element.tag, "_")
        return marks.join(parts[:2]) + "".join(f"^{part}" for part in parts[2:])
    if element.tag == "msqrt":
        return f"√({''.join(parts)})"
    return {"mtr": ", ", "mtable": "; "}.get(element.tag, "").join(parts)


def set_code(code: HtmlElement):
    """Fewer pieces, and lines that fit: smaller ones first, then lines that go on below, further to the right."""
    for piece in code.xpath(".//span"):
        if set((piece.get("class") or "").split()) <= PLAIN_INK:
            piece.drop_tag()
    lines = code.text_content().rstrip("\n").split("\n")
    longest = max(map(columns, lines))
    if len(lines) > UNBROKEN:
        code.getparent().classes.add("long")
    if NARROW < longest <= WIDE:
        code.set("style", f"--fit: {NARROW / longest:.3f}")
    elif longest > WIDE and len(code) == 0:
        code.text = None
        code.extend(builder.SPAN(line or " ", builder.CLASS("line")) for line in lines)


def columns(line: str) -> int:
    """How wide it is: a Chinese character takes two columns."""
    return sum(2 if sign >= "\u2e80" else 1 for sign in line)


# --------------------------------------------------------------------------------------------------- all pages together


class Document:
    """The book, a chapter or a section for paper.

    Parameters
    ----------
    root : path
        Of the book: its table of contents and its name.
    site : path
        The built pages.
    wanted : sequence of str
        Only the pages whose names begin so; all, if there are none.
    language : str
        Of the pages, as HTML names it.

    Raises
    ------
    NotBuilt
        If a page is missing, or was built without its formulas, or there is none that is wanted.
    """

    def __init__(self, root: Path, site: Path, wanted=(), language="en"):
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
        groups, heads = (
            groups_of(toc, wanted),
            {toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])},
        )
        self.root, self.site, self.language = root, site, language
        self.pages = [page for group in groups for page in group]
        if not self.pages:
            raise NotBuilt(f"the book has no page {', '.join(wanted)}")
        self.book, self.author, self.whole = say(config["title"]), say(config["author"]), not wanted
        self.subject = say("An executable introduction to differential privacy")
        self.year = config.get("copyright", "")
        self.contents, self.headings, self.heads, self.body = [], [], [], []
        if len(self.pages) > 1:
            self.headings.append(say("Contents"))
        for group in groups:
            self.add(group, group[0] in heads)
        self.title = self.book if self.whole else self.contents[0].title

    def add(self, names: list[str], has_head: bool):
        """A chapter's own page, if it is printed, the pages below it, and after them the solutions of all exercises."""
        printed = set(self.pages)
        pages = [Page(self.site, name, printed, 2 if has_head and name != names[0] else 1) for name in names]
        chapter = pages[0].title if has_head and len(pages) > 1 else ""
        for page in pages:
            self.begin(anchor_of(page.name), page.level, page.title, chapter if page.level == 2 else "")
            self.body.append(page.section())
            self.headings += page.headings
        solved = [page for page in pages if page.solutions]
        if solved:
            number = pages[0].title.partition(" ")[0].rstrip(".")
            title = (
                say("Solutions to chapter {number}")
                if chapter
                else say("Solutions to section {number}")
                if len(pages) == 1
                else say("Solutions")
            ).format(number=number)
            anchor = f"solutions-{anchor_of(names[0].rpartition('/')[0])}"
            level = 2 if chapter else 1
            self.begin(anchor, level, title, chapter)
            parts = [f"<h{level}>{title}</h{level}>"]
            self.headings.append(title)
            for page in solved:
                if len(solved) > 1:
                    parts.append(f"<h{level + 1}>{html.escape(page.title)}</h{level + 1}>")
                    self.headings.append(page.title)
                parts += [
                    lxml.html.tostring(solution, encoding="unicode", with_tail=False) for solution in page.solutions
                ]
            self.body.append(f'<section class="page solutions level{level}" id="{anchor}">{"".join(parts)}</section>')

    def begin(self, anchor: str, level: int, title: str, chapter: str):
        """A part of the document that begins a page: its line of the contents, its running heads."""
        self.contents.append(Entry(level, title, anchor))
        left, right = (quoted(words) for words in (chapter or self.book, title if title != self.book else ""))
        self.heads.append(
            f"@page {anchor} {{ @top-left {{ content: {left} }} @top-right {{ content: {right} }} }}\n"
            f"#{anchor} {{ page: {anchor} }}"
        )

    def html(self) -> str:
        chinese = self.language == "zh-CN"
        marks = f" unicode-range: {NARROW_MARKS};" * chinese
        paper = (HERE / "paper.css").read_text(encoding="utf-8")
        faces = [("Book", f"STIXGeneral{name}", *look) for name, look in FOUR.items()]
        faces += [("Plain", f"DejaVuSans{name}", *look) for name, look in DEJAVU.items()]
        faces += [("Code", f"DejaVuSansMono{name}", *look) for name, look in DEJAVU.items()]
        sheet = "\n".join(
            [
                *(
                    f"@font-face {{ font-family: {family}; font-weight: {weight}; font-style: {style}; "
                    f'src: url("{(FONTS / file).as_uri()}.ttf");{marks if family == "Book" else ""} }}'
                    for family, file, weight, style in faces
                ),
                paper.replace("Book, Plain", f"Book, {SONG}, Plain") if chinese else paper,
                mathematics(self.site / "_static/light/book.css"),
                *self.heads,
            ]
        )
        front, body = self.cover() if self.whole else "", "".join(self.body)
        if not self.whole:  # inside of the last part: outside it would begin a page
            body = f"{body.removesuffix('</section>')}{self.colophon()}</section>"
        if len(self.pages) > 1:
            front += self.list_of_contents()
        return (
            f'<!doctype html><html lang="{self.language}"><head><meta charset="utf-8">'
            f"<title>{html.escape(self.title)}</title><style>{sheet}</style></head>"
            f"<body>{front}<main>{body}</main></body></html>"
        )

    def cover(self) -> str:
        picture = pictured((self.site / "_static/book/cover.svg").read_text(encoding="utf-8"))
        return (
            f'<section class="cover">{picture}<p class="title">{html.escape(self.book)}</p>'
            f'<p class="subtitle">{self.subject}</p>'
            f'<p class="edition">{html.escape(self.author)}<br>{self.version()}</p></section>{self.colophon()}'
        )

    def colophon(self) -> str:
        """What a reader may do with it, and how to name it: behind the cover, or after the last page of a part."""
        author = html.escape(self.author[:1].upper() + self.author[1:])
        named = ", ".join(filter(None, [self.version(), self.year]))
        licence = "https://creativecommons.org/licenses/by/4.0/"
        rights = say(
            "© {year} {author}. Text, figures and data: Creative Commons Attribution 4.0, {address}. Code: MIT licence."
        ).format(
            year=self.year, author=html.escape(self.author), address=f'<a href="{licence}">{licence}</a>'
        )
        cited = say("To cite: {author}. <i>{book}: an executable introduction to differential privacy</i>. {version}.")
        cited = cited.format(author=author, book=html.escape(self.book), version=named)
        fonts = say("Set in STIX, DejaVu and the fonts of MathJax, which are under licences of their own.")
        return (
            f'<section class="colophon{" leaf" * self.whole}"><p>{rights}</p><p>{cited}</p><p>{fonts}</p></section>'
        )

    def version(self) -> str:
        """Which one this is, as a course names it; "" where no package says it."""
        package = self.root / "pyproject.toml"
        project = tomllib.loads(package.read_text(encoding="utf-8"))["project"] if package.is_file() else {}
        return say("Version {number}").format(number=project["version"]) if project else ""

    def list_of_contents(self) -> str:
        lines = (
            f'<li class="level{entry.level}"><a href="#{entry.anchor}"><span>{html.escape(entry.title)}</span><i></i>'
            f"{lxml.html.tostring(page_number(entry.anchor), encoding='unicode')}</a></li>"
            for entry in self.contents
        )
        return f'<nav class="contents"><h1>{say("Contents")}</h1><ol>{"".join(lines)}</ol></nav>'


FOUR = {"": (400, "normal"), "Italic": (400, "italic"), "Bol": (700, "normal"), "BolIta": (700, "italic")}
DEJAVU = {"": (400, "normal"), "-Oblique": (400, "italic"), "-Bold": (700, "normal"), "-BoldOblique": (700, "italic")}


def quoted(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


def mathematics(sheet: Path) -> str:
    """Of the pages' style sheet the part that draws formulas, with its fonts."""
    if not sheet.is_file():
        raise NotBuilt("the pages have no style sheet for formulas: make book builds it")
    text = sheet.read_text(encoding="utf-8")
    rules = "\n".join(MATHEMATICS.findall(text))
    return ADDRESS.sub(
        lambda found: f'url("{sheet.parent.joinpath(found[1].partition("?")[0]).resolve().as_uri()}")', rules
    )
