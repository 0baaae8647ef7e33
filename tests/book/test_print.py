"""The book on paper: nothing is missing, nothing is cut, and the numbers of its pages are true."""

import re
from collections import Counter

import editions
import lxml.html
import pikepdf
import pypdf
import pytest
import yaml
from bookext.translation import spoken
from playwright.sync_api import sync_playwright
from printing import Document, NoBrowser, NoFace, NotBuilt, Press, Spoilt, chromium, groups_of, press
from printing.document import Entry, linear
from test_site import NO_BROWSER

ROOT = editions.ROOT
CHAPTER, SECTION = "chapters/sparse_vector/index", "chapters/sparse_vector/above_threshold"
SOLVED = re.compile(r"#asolution|Solutionto(?:Exercise)?[\d.]+\(")


@pytest.fixture(scope="module")
def paper():
    """A printing press that stays warm."""
    if chromium() is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--disable-gpu", "--disable-background-networking"]
        )
        yield lambda: Press(browser)
        browser.close()


def squeezed(text):
    return re.sub(r"\s+", "", text)


class Printed:
    """A printed file, as programs and readers find it."""

    def __init__(self, path, document, numbers):
        self.path, self.document, self.numbers = path, document, numbers
        self.source = lxml.html.fromstring(path.with_suffix(".html").read_text(encoding="utf-8"))
        self.reader = pypdf.PdfReader(path)
        self.texts = [page.extract_text() for page in self.reader.pages]

    def outline(self):
        """Depth, title and page of every entry."""

        def entries(level, depth):
            for entry in level:
                if isinstance(entry, list):
                    yield from entries(entry, depth + 1)
                else:
                    yield depth, entry.title, self.reader.get_destination_page_number(entry) + 1

        return list(entries(self.reader.outline, 1))


@pytest.fixture(scope="module")
def printed(site, paper, tmp_path_factory):
    """The first page of a chapter and one of its sections."""
    path = tmp_path_factory.mktemp("paper") / "chapter.pdf"
    document = Document(ROOT, site, [CHAPTER, SECTION])
    return Printed(path, document, paper().print(document, path))


@pytest.fixture(scope="module")
def page(site):
    return (
        lxml.html.parse(str(site / f"{SECTION}.html"), parser=lxml.html.HTMLParser(encoding="utf-8"))
        .getroot()
        .find(".//article")
    )


def with_class(element, name):
    return element.xpath(f".//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]")


# ------------------------------------------------------------------------------------------------- what paper must show


def test_every_formula_is_drawn_and_has_words(printed, page):
    formulas = len(with_class(page, "math")) + len(
        printed.source.xpath("//*[@id='chapters-sparse_vector-index']//mjx-container")
    )
    assert formulas > 200 and len(printed.source.xpath("//mjx-container[@aria-label!='']")) == formulas
    others = len(printed.source.xpath("//main//img|//main//div[contains(@class, 'explorer')]//svg[@role]"))
    with pikepdf.open(printed.path) as pdf:
        kinds = Counter(
            str(one.S) for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and "/S" in one and "/Alt" in one
        )
    assert kinds["/Figure"] == formulas + others


def test_the_outline_is_the_documents_headings(printed):
    wanted = printed.source.xpath("//h1|//h2|//h3|//h4|//h5")
    found = printed.outline()
    assert [depth for depth, _, _ in found] == [int(heading.tag[1]) for heading in wanted]
    for (_, title, _), heading in zip(found, wanted):
        if not heading.xpath(".//mjx-container"):
            assert title == " ".join(heading.text_content().split())
    opened = [
        entry for entry in found if entry[1] in {line.title for line in printed.document.contents} and entry[0] < 3
    ]
    assert [(depth, title) for depth, title, _ in opened] == [
        (line.level, line.title) for line in printed.document.contents
    ]


def test_contents_and_outline_tell_the_true_pages(printed):
    assert list(untrue(printed.document.contents, printed.texts)) == []
    assert [
        squeezed(title)
        for _, title, number in printed.outline()
        if squeezed(title)[:12] not in squeezed(printed.texts[number - 1])
    ] == []


def untrue(contents, texts):
    """The lines of the contents whose page does not begin as they say; every page has its number at its foot."""
    numbers = {}
    for entry in contents:
        found = re.search(r"\s*".join(map(re.escape, squeezed(entry.title))) + r"\s*(\d+)\b", texts[0])
        if found:
            numbers[entry.title] = int(found[1])
        else:
            yield f"{entry.title}: not listed"
    for title, number in numbers.items():
        here, before = (squeezed("".join(texts[place - 1 : place])) for place in (number, number - 1))
        if squeezed(title) not in here or squeezed(title) in before and number > min(numbers.values()):
            yield f"{title}: page {number} does not begin it"
    for number, text in enumerate(texts, 1):
        if str(number) not in text.split():
            yield f"page {number} has another number"


def test_solutions_stand_at_the_end_and_nowhere_before(printed, page):
    first = printed.numbers["solutions-chapters-sparse_vector"]
    assert early(printed.texts, first) == []
    solutions = with_class(page, "solution")
    assert len(SOLVED.findall(squeezed("".join(printed.texts[first - 1 :])))) > len(solutions) > 4
    assert len(
        printed.source.xpath("//section[contains(@class, 'solutions')]//div[contains(@class, 'solution ')]")
    ) == len(solutions)
    pointed = printed.source.xpath("//p[@class='to-solution']//b/@data-page")
    assert len(pointed) == len(solutions) and all(first <= printed.numbers[anchor] for anchor in pointed)


def early(texts, first):
    """The pages before the solutions that show a part of one."""
    return [number for number, text in enumerate(texts[: first - 1], 1) if number > 1 and SOLVED.search(squeezed(text))]


def test_an_explorer_is_its_picture_its_settings_and_its_sentence(printed, page):
    text = squeezed("".join(printed.texts))
    for explorer in with_class(page, "explorer"):
        picture, sentence = explorer.xpath(".//svg[@role]")[0], explorer.xpath(".//figcaption/span")[0]
        assert squeezed(sentence.text_content())[:60] in text
        assert picture.get("aria-label") in printed.source.xpath("//svg/@aria-label")
        for slider in explorer.xpath(".//input[@data-values]"):
            assert f"{squeezed(slider.getparent().text_content())}={slider.get('aria-valuetext')}" in text
    assert not printed.source.xpath("//main//input|//main//script|//main//button")


def test_the_letters_are_those_of_the_books_own_fonts(printed):
    found = Counter(name for page in printed.reader.pages for name in fonts(page))
    assert {"STIXGeneral-Regular", "STIXGeneral-Bold", "DejaVuSansMono", "MathJax_Math-Italic"} <= found.keys()
    assert [name for name in found if not name.startswith(("STIXGeneral", "DejaVuSans", "MathJax_"))] == []


def fonts(page):
    """The names of a page's fonts; each is in the file, as outlines or as drawings, or this fails."""
    for font in page["/Resources"].get("/Font", {}).values():
        font = font.get_object()
        inner = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
        described = inner["/FontDescriptor"].get_object()
        assert "/CharProcs" in font or any(key.startswith("/FontFile") for key in described), inner
        yield described["/FontName"].lstrip("/").partition("+")[2]


def test_it_says_what_it_is_and_can_be_read_aloud(printed):
    root = printed.reader.trailer["/Root"]
    assert (
        root["/Lang"] == "en"
        and root["/MarkInfo"]["/Marked"]
        and "/StructTreeRoot" in root
        and root["/ViewerPreferences"]["/DisplayDocTitle"]
    )
    assert printed.reader.metadata.title == printed.document.title == "4. The sparse vector technique"
    assert (
        printed.reader.metadata.author == yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["author"]
    )
    links = {
        str(link["/A"]["/URI"])
        for page in printed.reader.pages
        for link in map(pypdf.generic.IndirectObject.get_object, page.get("/Annots", []))
        if "/URI" in link.get("/A", {})
    }
    assert not [link for link in links if not link.startswith("http")]


def test_code_that_the_page_hides_stays_hidden(printed, page):
    hidden = page.xpath(".//*[contains(@class, 'tag_hide-input')]//*[contains(@class, 'cell_input')]")
    text = squeezed(printed.source.text_content())
    assert hidden and not [code for code in hidden if squeezed(code.text_content())[:80] in text]


def test_the_whole_book_is_assembled_in_the_order_of_its_contents(site):
    document = Document(ROOT, site)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter["file"] for chapter in toc["parts"][0]["chapters"]]
    assert document.whole and document.pages == sum(groups_of(toc), []) and document.pages[0] == "intro"
    assert (
        not [page for page in document.pages if page.startswith(("reference/dplib", "course/"))]
        and "course/syllabus" in groups_of(toc, ["course"])[0]
    )
    anchors = [entry.anchor for entry in document.contents]
    assert [anchor for anchor in anchors if not anchor.startswith("solutions-")] == [
        page.replace("/", "-") for page in document.pages
    ]
    for chapter, following in zip(chapters, [*chapters[1:], "reference/notation"]):
        place = anchors.index(following.replace("/", "-"))
        assert anchors[place - 1] == f"solutions-{chapter.removesuffix('/index').replace('/', '-')}"
    source = lxml.html.fromstring(document.html())
    names = Counter(source.xpath("//@id"))
    assert [name for name, times in names.items() if times > 1] == []
    assert [link for link in source.xpath("//a/@href") if link.startswith("#") and link[1:] not in names] == []
    assert not [link for link in source.xpath("//a/@href") if not link.startswith(("#", "http"))]


# ------------------------------------------------------------------------------------------ small books, and what fails

FORMULA = (
    '<span class="math notranslate nohighlight"><mjx-container jax="CHTML">'
    '<mjx-math aria-hidden="true"><mjx-mi><mjx-c class="mjx-c78"></mjx-c></mjx-mi>'
    "</mjx-math><mjx-assistive-mml><math><mi>x</mi></math></mjx-assistive-mml></mjx-container></span>"
)


def small_book(folder, body="", sheet="mjx-c::before { content: 'x'; }"):
    """A book of two pages."""
    (folder / "_config.yml").write_text('title: Small\nauthor: nobody\ncopyright: "2001"\n', encoding="utf-8")
    (folder / "_toc.yml").write_text("root: intro\nparts:\n  - chapters:\n      - file: more\n", encoding="utf-8")
    (folder / "_static" / "light").mkdir(parents=True)
    (folder / "_static" / "light" / "book.css").write_text(sheet, encoding="utf-8")
    (folder / "_static" / "book").mkdir()
    (folder / "_static" / "book" / "cover.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', encoding="utf-8"
    )
    for name, text in (
        ("intro", body),
        ("more", '<p>as <a href="intro.html#here">there</a>, <a href="gone.html">or not</a></p>'),
    ):
        heading = f'<h1>{name.capitalize()}<a class="headerlink" href="#here">#</a></h1>'
        article = f'<article><section id="here">{heading}<p>Hello {FORMULA}.</p>{text}</section></article>'
        (folder / f"{name}.html").write_text(f"<!doctype html><html><body>{article}</body></html>", encoding="utf-8")
    return folder


def test_a_small_book_is_printed_twice_in_the_same_bytes(paper, tmp_path, monkeypatch):
    picture = '<svg viewBox="0 0 99 20"><a href="gone.html"><text y="9">in a picture</text></a></svg>'
    folded = '<div class="cell tag_hide-input"><div class="cell_input"><pre>hidden</pre></div></div>'
    book = small_book(tmp_path, f"{picture}<pre>{'wide ' * 60}</pre>{folded}")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    for name in ("one.pdf", "two.pdf"):
        numbers = paper().print(Document(book, book), tmp_path / name)
    assert numbers == {"intro": 4, "more": 5, "intro--here": 4}
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()
    pdf = pypdf.PdfReader(tmp_path / "two.pdf")
    assert pdf.metadata["/CreationDate"] == pdf.metadata["/ModDate"] == "D:20010909014640Z"
    texts = [page.extract_text() for page in pdf.pages]
    assert "Small" in texts[0] and re.search(r"Intro\s*4\s*More\s*5", texts[2])
    assert "in a picture" in texts[3] and "or not" in texts[4] and "hidden" not in "".join(texts)
    assert "© 2001 nobody" in texts[1] and "Attribution 4.0" in texts[1] and "To cite: Nobody. Small" in texts[1]


def test_a_part_tells_its_licence_on_its_last_page(paper, tmp_path):
    book = small_book(tmp_path)
    paper().print(Document(book, book, ["more"]), tmp_path / "more.pdf")
    only, = pypdf.PdfReader(tmp_path / "more.pdf").pages
    assert "Attribution 4.0" in only.extract_text() and "To cite: Nobody. Small" in only.extract_text()


def test_a_chinese_book_is_printed_in_chinese(paper, tmp_path, monkeypatch):
    exercise = (
        '<div class="exercise admonition" id="ex-a"><p>Why?</p></div>'
        '<div class="solution admonition" id="sol-a"><p>So.</p></div>'
    )
    book = small_book(tmp_path, f"<p>私隐</p><pre>{'宽' * 50}</pre>{exercise}")
    said = {
        "Contents": "目录",
        "Solutions": "解答",
        "Solution on page {number}": "解答见第 {number} 页",
        "Small": "小书",
    }
    monkeypatch.setattr(spoken, "words", said)
    document = Document(book, book, language="zh-CN")
    source = lxml.html.fromstring(document.html())
    assert source.get("lang") == "zh-CN" and document.title == "小书"
    assert source.findtext(".//nav/h1") == "目录" and source.xpath("//pre/@style") == ["--fit: 0.880"]
    assert [one.text_content() for one in with_class(source, "to-solution")] == ["解答见第 000 页"]
    if not has_chinese(paper()):
        with pytest.raises(NoFace, match="apt-get install fonts-noto-cjk"):
            paper().print(document, tmp_path / "zh.pdf")
        return
    paper().print(document, tmp_path / "zh.pdf")
    pdf = pypdf.PdfReader(tmp_path / "zh.pdf")
    assert pdf.trailer["/Root"]["/Lang"] == "zh-CN" and "私隐" in "".join(page.extract_text() for page in pdf.pages)


def has_chinese(machine):
    with machine.sheet() as page:
        return page.evaluate(press.HAS_CHINESE)


@pytest.mark.parametrize(
    ("body", "sheet", "word"),
    [
        ('<img alt="gone" src="gone.png">', "", "a picture is missing"),
        ('<img alt="foreign" src="https://example.org/a.png">', "", "another host was asked"),
        (
            "",
            '@font-face { font-family: MJXTEX; src: url("gone.woff2"); }\n'
            'mjx-c { font-family: MJXTEX; }\nmjx-c::before { content: "x"; }',
            "a font is missing",
        ),
        (
            '<svg aria-label="bars" viewBox="0 0 9 9">'
            '<svg width="9" height="9" overflow="hidden" style="overflow: visible"><path d="M1 1v90000"/></svg></svg>',
            "",
            "leaves its frame: bars",
        ),
        ('<table><tr><td><div style="width: 900px">wide</div></td></tr></table>', "", "wider than the paper: wide"),
        (f"{FORMULA.replace('mjx-mi', 'mjx-merror')}", "", "a formula with an error"),
    ],
)
def test_what_would_spoil_the_print_is_noticed(paper, body, sheet, word, tmp_path):
    book = small_book(tmp_path, body, *filter(None, [sheet]))
    with pytest.raises(Spoilt, match=word):
        paper().print(Document(book, book), tmp_path / "spoilt.pdf")


def test_a_page_that_moves_or_an_outline_that_does_not_fit_is_noticed(paper, tmp_path, monkeypatch):
    book = small_book(tmp_path)
    document = Document(book, book)
    document.headings.append("one more")
    with pytest.raises(Spoilt, match="outline"):
        paper().print(document, tmp_path / "outline.pdf")
    answers = iter([{"intro": 3, "more": 4}, {"intro": 3, "more": 5}])
    monkeypatch.setattr(press, "places", lambda path: next(answers))
    with pytest.raises(Spoilt, match="moved"):
        paper().print(Document(book, book), tmp_path / "moved.pdf")


@pytest.mark.parametrize(
    ("body", "word"), [(r'<span class="math notranslate nohighlight">\(x^2\)</span>', "not set"), ("", "no page")]
)
def test_pages_that_are_not_built_are_noticed(body, word, tmp_path):
    book = small_book(tmp_path, body)
    if not body:
        (book / "more.html").unlink()
    with pytest.raises(NotBuilt, match=word):
        Document(book, book)
    with pytest.raises(NotBuilt, match="has no page nowhere"):
        Document(book, book, ["nowhere"])


def test_without_a_browser_there_is_one_clear_line(monkeypatch, capsys):
    monkeypatch.setattr(press.shutil, "which", lambda name: None)
    with pytest.raises(NoBrowser, match="apt-get install chromium"):
        Press()
    with pytest.raises(SystemExit) as end:
        editions.pdf()
    assert str(end.value).startswith("no Chromium") and "\n" not in str(end.value)


def test_untrue_pages_and_early_solutions_are_noticed():
    contents = [Entry(1, "One", "one"), Entry(1, "Two", "two")]
    texts = ["Contents One 2 Two 3 1", "One 2", "Two 3"]
    assert list(untrue(contents, texts)) == [] and early(texts, 3) == []
    assert len(list(untrue(contents, ["Contents One 3 Two 2 1", *texts[1:]]))) == 2
    assert list(untrue(contents, [*texts[:2], "Two 4"])) == ["page 3 has another number"]
    assert list(untrue([*contents, Entry(1, "Three", "three")], texts)) == ["Three: not listed"]
    assert (
        early(["Contents", "Solution to Exercise 4.1 (★ Guess)", "solutions"], 3)
        == [2]
        == early(["Contents", "# a solution", "solutions"], 3)
    )


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>", "a/(b + 1)"),
        (
            "<msup><mi>e</mi><mi>ε</mi></msup><mo>≤</mo><msqrt><msub><mi>x</mi><mn>10</mn></msub></msqrt>",
            "e^ε ≤ √(x_10)",
        ),
        (
            "<msubsup><mo>∫</mo><mn>0</mn><mi>∞</mi></msubsup>"
            "<mi>f</mi><mo>\u2061</mo><mo>(</mo><mi>x</mi><mo>)</mo>",
            "∫_0^∞f(x)",
        ),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable>",
            "a, b; c",
        ),
    ],
)
def test_a_formula_in_one_line(formula, words):
    assert linear(lxml.html.fragment_fromstring(f"<math>{formula}</math>")) == words


def test_the_numbers_are_read_from_the_file(tmp_path):
    with pikepdf.new() as pdf:
        for _ in range(3):
            pdf.add_blank_page()
        pdf.Root.Dests = pikepdf.Dictionary({"/here": pikepdf.Array([pdf.pages[1].obj, pikepdf.Name.Fit])})
        pdf.save(tmp_path / "a.pdf")
    assert press.places(tmp_path / "a.pdf") == {"here": 2}
