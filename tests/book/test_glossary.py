"""Words of the glossary say what they mean where they stand: the data of a page, and the box that shows it."""
import json
import re
from types import SimpleNamespace

import pytest
from bookext import glossary
from docutils import nodes
from test_site import AXE, PAGES, READY, Reader, address, browser, phone, serve  # noqa: F401 (three fixtures)

SECTION = "chapters/definitions/epsilon_dp.html"
ENTRY = (
    '<dt id="term-odds">odds (几率)<a class="headerlink" href="#term-odds">#</a></dt><dd><p>Of two '
    '<a class="reference internal" href="#term-world"><span class="xref std std-term">worlds</span></a>: '
    '<a class="reference internal" href="../chapters/a/b.html#thm-x">Theorem 2.2</a> '
    '<a class="reference external" href="https://example.org/">there</a>.</p></dd>'
)
LINK = (
    '<a class="reference internal" href="../../reference/glossary.html#term-odds">'
    '<span class="xref std std-term">odds</span></a>'
)


# ------------------------------------------------------------------------------------------------- the data of a page


def data_of(text):
    found = re.search(r'<script type="application/json" id="glossary-words">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1]) if found else {}


def test_a_page_carries_the_words_that_it_links_and_no_others():
    known = glossary.entries(ENTRY + ENTRY.replace("odds", "law"))
    assert list(known) == ["term-odds", "term-law"]
    text = glossary.with_words(f"<body>{LINK}</body>", "chapters/a/b", known, "glossary.js?v=1")
    assert list(data_of(text)) == ["term-odds"] and data_of(text)["term-odds"][0] == "odds (几率)"
    assert '<script defer src="../../_static/book/glossary.js?v=1"></script>' in text
    assert text.count("<script") == 2 and not re.search(r"id=\"glossary-words\">[^<]*<(?!/script>)", text)
    assert glossary.with_words(text, "chapters/a/b", known, "glossary.js?v=1") == text
    assert glossary.with_words(text.replace(LINK, ""), "chapters/a/b", known, "glossary.js") == "<body></body>"


@pytest.mark.parametrize(("page", "links"), [
    ("chapters/a/c", ["../../reference/glossary.html#term-world", "b.html#thm-x"]),
    ("intro", ["reference/glossary.html#term-world", "chapters/a/b.html#thm-x"]),
    ("reference/questions", ["glossary.html#term-world", "../chapters/a/b.html#thm-x"]),
])
def test_the_links_of_a_definition_start_where_it_is_shown(page, links):
    meaning = glossary.entries(ENTRY)["term-odds"][1]
    assert re.findall(r'href="([^"]+)"', glossary.seen_from(meaning, page)) == [*links, "https://example.org/"]


def test_every_word_that_a_page_links_has_its_definition_there(site):
    known = glossary.entries((site / "reference/glossary.html").read_text(encoding="utf-8"))
    assert len(known) > 140
    for page in PAGES:
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        linked = set(re.findall(r'glossary\.html#(term-[^"]+)"[^>]*><span class="xref', text))
        assert linked <= data_of(text).keys(), page
        for name, (word, meaning) in data_of(text).items():
            assert word and len(re.sub("<.*?>", "", meaning)) > 15 and "\\(" not in meaning, name
            for link in re.findall(r'href="([^"#:]+)', meaning):
                assert (site / page).parent.joinpath(link).resolve().is_file(), (page, name, link)


# --------------------------------------------------------------------------------------------------------- ε and δ


def section(*parts, title="About ε"):
    paragraph = nodes.paragraph("", "", *parts)
    return nodes.section("", nodes.title("", title), paragraph)


def linked(doctree, docname="chapters/a/b", builder="html"):
    app = SimpleNamespace(builder=SimpleNamespace(
        format=builder, get_relative_uri=lambda page, target: f"../../{target}.html"))
    glossary.link_letters(app, doctree, docname)
    return [(link["refuri"], link.astext()) for link in doctree.findall(nodes.reference)]


EPSILON = ("../../reference/glossary.html#term-epsilon", "ε")


def test_the_first_letter_of_a_section_is_linked():
    assert linked(section(nodes.Text("f(ε) at δ(ε), then ε = 1 and ε = 2"))) == [EPSILON]
    assert linked(section(nodes.literal("", "ε"), nodes.Text(", ε′ and nothing"))) == []
    assert [target[-5:] for target, _ in linked(section(nodes.Text("ε and δ.")))] == ["silon", "delta"]
    assert linked(section(nodes.Text("ε")), "chapters/a/index") == linked(section(nodes.Text("ε")), "intro") == []
    assert linked(section(nodes.Text("ε")), builder="ipynb") == []


def test_a_letter_that_its_author_links_is_left_alone():
    by_hand = nodes.reference("", "the bound", refuri=EPSILON[0])
    assert linked(section(nodes.Text("ε is "), by_hand)) == [(EPSILON[0], "the bound")]


def test_a_formula_keeps_its_marks():
    doctree = section(nodes.Text("at any price ("), nodes.math("", r"\varepsilon"), nodes.Text("), and so on"))
    assert linked(doctree) == [(EPSILON[0], r"\varepsilon")]
    glued, = (node for node in doctree.findall(nodes.inline) if "glue" in node["classes"])
    assert glued.astext() == r"(\varepsilon),"
    assert doctree[1].astext() == r"at any price (\varepsilon), and so on"
    assert linked(section(nodes.math("", r"e^\varepsilon"))) == []


def test_a_formula_that_is_a_link_has_a_name(site):
    link = '<a href="../../reference/glossary.html#term-delta"{}><span class="xref std std-term"><span class="math">'
    text = glossary.with_words(link.format(""), "chapters/a/b", {}, "glossary.js")
    assert text == link.format(' aria-label="δ"') == glossary.with_words(text, "chapters/a/b", {}, "glossary.js")
    for page in PAGES:
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert not re.search(r'#term-\w+"><span class="xref std std-term"><span class="math', text), page


def test_sections_link_both_letters_where_they_use_them(site):
    text = (site / SECTION).read_text(encoding="utf-8")
    assert text.count('glossary.html#term-epsilon"') == 1
    assert {"term-epsilon", "term-delta"} <= data_of((site / "chapters/f_dp/accounting.html").read_text("utf-8")).keys()


# ----------------------------------------------------------------------------------------------------------- the box


@pytest.fixture
def desk(browser, address):  # noqa: F811
    reader = Reader(browser)
    reader.open(address + SECTION)
    yield reader.page
    assert reader.noted == []
    reader.context.close()


def word_of(page, place=0):
    return page.locator("article a:has(> .std-term)").nth(place)


def shown(page):
    return page.locator("#glossary-word").all_inner_texts()


def test_the_pointer_shows_a_definition_may_move_onto_it_and_leaves_it(desk):
    word_of(desk).hover()
    desk.wait_for_selector("#glossary-word")
    box = desk.locator("#glossary-word")
    assert len(box.inner_text()) > 40
    box.hover()
    desk.wait_for_timeout(600)
    assert box.is_visible()                      # it stays for as long as the pointer is on it
    desk.mouse.move(5, 5)
    desk.wait_for_selector("#glossary-word", state="detached")


def test_the_keyboard_shows_a_definition_reaches_its_links_and_escape_closes_it(desk):
    word = next(one for one in desk.locator("article a:has(> .std-term)").all() if "neighbours" in one.inner_text())
    word.evaluate("one => one.previousElementSibling?.focus()")
    desk.keyboard.press("Tab")
    word.focus()
    assert "Two data sets" in shown(desk)[0]
    assert word.evaluate("one => document.getElementById(one.getAttribute('aria-describedby')).textContent").strip()
    desk.keyboard.press("Tab")
    assert desk.evaluate("document.activeElement.closest('#glossary-word') && document.activeElement.textContent")
    desk.keyboard.press("Escape")
    assert shown(desk) == [] and word.evaluate("one => one === document.activeElement")
    assert word.get_attribute("aria-describedby") is None


def test_the_box_lies_in_the_window_and_looks_like_the_page(desk):
    for width in (1280, 390):
        desk.set_viewport_size({"width": width, "height": 700})
        for place in range(0, desk.locator("article a:has(> .std-term)").count(), 5):
            word = word_of(desk, place)
            if not word.is_visible():
                continue
            word.scroll_into_view_if_needed()
            desk.mouse.move(0, 0)
            word.hover()
            desk.wait_for_selector("#glossary-word")
            box, of = desk.locator("#glossary-word").bounding_box(), word.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] >= 0
            assert box["y"] >= of["y"] + of["height"] - 30 or box["y"] + box["height"] <= of["y"] + 2
            desk.keyboard.press("Escape")


def faults(page):
    """What axe says of the box, also of the contrast of all its texts."""
    page.evaluate("document.querySelectorAll('#glossary-word *').forEach(one => one.dataset.sample = '')")
    return list(Reader.told(page.evaluate("axe.run('#glossary-word', {preload: false})")["violations"]))


def test_a_definition_can_be_read(desk):
    word_of(desk).hover()
    desk.wait_for_selector("#glossary-word")
    desk.evaluate(AXE)
    for scheme in ("light", "dark"):
        desk.emulate_media(color_scheme=scheme)
        desk.evaluate(READY)
        assert faults(desk) == [] and len(shown(desk)) == 1
    desk.evaluate("document.querySelector('#glossary-word').style.color = '#333'")
    assert any("color-contrast" in fault for fault in faults(desk))


def test_a_first_tap_shows_a_definition_and_a_second_one_follows_the_link(browser, address):  # noqa: F811
    context = phone(browser)
    page = context.new_page()
    page.goto(address + SECTION)
    word_of(page).tap()
    assert len(shown(page)) == 1 and page.url.endswith(SECTION)
    page.locator(".bd-article h1").tap()
    assert shown(page) == []
    word_of(page).tap()
    word_of(page).tap()
    page.wait_for_url("**/reference/glossary.html#term-*")
    context.close()


def test_without_scripts_a_word_is_a_link(browser, address):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + SECTION)
    word_of(page).click()
    page.wait_for_url("**/reference/glossary.html#term-*")
    context.close()
