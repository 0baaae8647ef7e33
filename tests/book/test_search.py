"""The search: what it reads from pages, what it finds for twenty questions, and what its page weighs."""
import json
import re
from urllib.parse import quote, unquote, urlsplit

import pytest
from bookext import search
from test_site import GENERATED, LIMIT_KB, PAGES, Reader, address, browser, serve  # noqa: F401 (three fixtures)
from weighing import asked_for, weight

# ----------------------------------------------------------------------------------------------------- what it reads

PAGE = """<html><nav>not this</nav><article class="bd-article">
<section id="noise"><h1><span class="section-number">3.1. </span>Noise<a class="headerlink" href="#noise">#</a></h1>
<p>First &amp; <em>foremost</em>:<br/>two lines.</p>
<div class="cell"><div class="cell_input"><pre>code()</pre></div></div>
<div class="proof theorem admonition" id="thm-a"><p class="admonition-title"><span>Theorem 3.1 </span> (A law)</p>
<section class="theorem-content" id="proof-content"><p>It holds.</p></section></div>
<p>After it.</p>
<div class="exercise admonition" id="ex-a"><p class="admonition-title">Exercise 3.1 (Try)</p><p>Compute it.</p></div>
<div class="solution dropdown admonition" id="solution-1"><p class="admonition-title">Solution</p><p>Forty.</p></div>
<section id="deeper"><h2>Deeper</h2><ul><li><p>One.</p></li><li>Two.</li></ul></section>
<dl class="glossary"><dt id="term-odds">odds (几率)<a class="headerlink">#</a></dt><dd><p>A ratio.</p></dd></dl>
<dl class="py"><dt class="sig" id="a.f">a.f(x, *, y=1)</dt><dd><p>Adds.</p>
<dl class="field-list"><dt>Parameters</dt></dl></dd></dl>
<table><tr id="a01"><td><p>A01</p></td><td><p>a claim</p></td><td><p>wrong</p></td></tr></table>
</section></article></html>"""


def test_a_page_is_read_as_places_with_what_stands_there():
    found = {place.anchor: (place.title[0], place.passages) for place in search.places_of(PAGE)}
    assert found == {
        "noise": ("3.1. Noise", ["First & foremost:two lines.", "After it."]),
        "thm-a": ("Theorem 3.1 (A law)", ["It holds."]),
        "ex-a": ("Exercise 3.1 (Try)", ["Compute it."]),
        "deeper": ("Deeper", ["One.", "Two."]),
        "term-odds": ("odds (几率)", ["A ratio."]),
        "a.f": ("a.f", ["Adds."]),
        "a01": ("A01", ["a claim · wrong"]),
    }


@pytest.mark.parametrize(("mathml", "line"), [
    ("<msup><mi>e</mi><mrow><mi>ε</mi><mo>/</mo><mn>2</mn></mrow></msup>", "e^(ε/2)"),
    ("<mfrac><mn>1</mn><mrow><mn>1</mn><mo>+</mo><mi>x</mi></mrow></mfrac>", "1/(1 + x)"),
    ("<mi>P</mi><mo stretchy='false'>(</mo><mi>S</mi><mo>)</mo><mo>≤</mo><mi>δ</mi>", "P(S) ≤ δ"),
    ("<msqrt><mn>2</mn></msqrt><msub><mi>x</mi><mi>i</mi></msub>", "√2x_i"),
    ("<msup><mi>D</mi><mo>′</mo></msup>", "D′"),
    ("<mi>ln</mi><mo>\u2061</mo><mfrac><mi>p</mi><mi>q</mi></mfrac>", "ln p/q"),
    ("<mn>10</mn><msup><mi>t</mi><mrow><mo>−</mo><mn>5</mn></mrow></msup>", "10t^(−5)"),
])
def test_a_formula_is_a_line_of_text(mathml, line):
    drawn = "<mjx-math class='x'><mjx-mi>drawn</mjx-mi></mjx-math>"
    tree = search.Tree(f"<article><p>{drawn}<math>{mathml}</math></p></article>")
    assert search.line_of(tree.root) == line


def test_words_are_compared_without_marks_numbers_and_what_says_nothing():
    assert search.words_of("The Rényi order α of 12 k-anonymous rows, e² times") == [
        "renyi", "order", "α", "anonymous", "rows", "e2", "times"]


def test_what_is_written_is_what_was_read():
    pages = {name: search.places_of(PAGE) for name in ("b/one", "b/two")}
    index, shards, pairs = search.knowledge(pages)
    places = [place for found in pages.values() for place in found]
    assert [text for shard in shards for text in shard] == [place.passages for place in places]
    words, number = index["words"].split(" "), 0
    assert len(words) == len(index["where"]) and "forty" not in words
    found = []
    for step in index["where"][words.index("holds")]:
        number += step >> 1
        found.append(number)
    assert found == [place for place, one in enumerate(places) if one.anchor == "thm-a"]
    assert index["places"][0] == [0, "noise", "3.1. Noise"] and index["pages"] == ["b/one", "b/two"]
    assert index["pairs"] == len(pairs) == 1 and sum(index["lengths"]) == sum(map(len, index["where"]))


def test_pairs_of_characters_lie_in_the_file_of_the_first_one(monkeypatch):
    monkeypatch.setattr(search, "PAIRS", 2)
    index, _, pairs = search.knowledge({"one": [search.Place("a", ["稀疏向量"], ["隐私预算 and noise"])]})
    found = {word: number for number, part in enumerate(pairs) for word in part["words"].split()}
    assert index["words"] == "noise" and index["pairs"] == 4
    assert found == {word: ord(word[0]) % 4 for word in ("稀疏", "疏向", "向量", "隐私", "私预", "预算")}


# ----------------------------------------------------------------------------------------------------- what it finds

WANTED = {                                       # a question -> places of which one must be among the first three
    "neighbors": ["reference/glossary.html#term-neighbours", "#def-dp-neighbours"],
    "what is delta": ["reference/glossary.html#term-delta", "reference/questions.html#what-is-for"],
    "what is δ": ["reference/glossary.html#term-delta", "reference/questions.html#what-is-for"],
    "how do I choose epsilon": ["reference/questions.html#how-do-i-choose"],
    "randomised": ["reference/glossary.html#term-randomized-response", "#thm-dp-rr"],
    "Randomized responses": ["reference/glossary.html#term-randomized-response", "#thm-dp-rr"],
    "laplace noise scale": ["reference/questions.html#how-large-is-the-noise", "#term-Laplace-mechanism"],
    "is hashing enough": ["reference/questions.html#is-hashing-enough"],
    "can I ask again tomorrow": ["reference/questions.html#can-i-ask-again-tomorrow"],
    "which mechanism do I take": ["reference/questions.html#which-mechanism-do-i-take"],
    "k-anonymity": ["reference/glossary.html#term-k-anonymity-k", "chapters/attacks/k_anonymity.html"],
    "generalization": ["reference/glossary.html#term-generalisation"],
    "anonymized data": ["chapters/attacks/index.html"],
    "membership inference": ["reference/glossary.html#term-membership-inference"],
    "composition": ["chapters/definitions/composition.html"],
    "synthetic data": ["chapters/histograms/synthetic.html", "chapters/histograms/index.html"],
    "sensitivity of a mean": ["chapters/mechanisms/laplace.html#a-recipe-for-sensitivity"],
    "one person with many rows": ["reference/questions.html#what-if-one-person-has-many-rows", "#one-person-many-rows"],
    "floating point": ["reference/glossary.html#term-floating-point-attack"],
    "how many bins": ["chapters/histograms/bins.html"],
    "DP-SGD": ["chapters/f_dp/learning.html", "#alg-sgd"],
    "privacy budget": ["reference/glossary.html#term-budget"],
    "report noisy max": ["reference/glossary.html#term-report-noisy-max", "#thm-em-noise"],
    "renyi": ["#def-comp-zcdp"],
    "隐私预算": ["reference/glossary.html#term-budget"],
}


@pytest.fixture(scope="module")
def searcher(browser, address):  # noqa: F811
    reader = Reader(browser)

    def ask(question):
        """Where the first places are, their excerpts, and what is said of the search."""
        reader.open(f"{address}search.html?q={quote(question)}")
        reader.page.locator("#search-status:not(:empty)").wait_for()
        reader.page.locator("#search-results .context:not([data-filled])").first.wait_for(state="detached")
        items = reader.page.locator("#search-results li")
        links = items.locator("a").evaluate_all("all => all.map(one => one.href)")
        assert reader.noted == []
        return (
            [unquote(link.removeprefix(address)) for link in links],
            items.locator(".context").evaluate_all("all => all.map(one => [one.textContent, one.innerHTML])"),
            reader.page.locator("#search-status").inner_text(),
        )

    yield ask
    reader.context.close()


@pytest.mark.parametrize("question", WANTED)
def test_a_question_leads_to_its_place(question, searcher, site):
    links, excerpts, _ = searcher(question)
    first = links[:3]
    assert any(link.endswith(wanted) for link in first for wanted in WANTED[question]), first
    for link, (words, _) in zip(links, excerpts):
        path, _, anchor = link.partition("#")
        text = (site / path).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in text, link
        assert len(words) <= 300 and not re.search(r"\\[a-z(]", words), words
    only_in_titles = re.search("[\u4e00-\u9fff]", question)        # the Chinese names of an English glossary
    assert only_in_titles or any("<mark>" in marked for _, marked in excerpts)


def test_what_is_found_can_be_read(browser, address):  # noqa: F811
    reader = Reader(browser)
    assert reader.complaints(f"{address}search.html?q=what+is+delta") == []
    assert reader.page.locator("#search-results li").count() == 8
    reader.context.close()


def test_british_and_american_words_find_the_same(searcher):
    for one, other in (("neighbours", "neighbors"), ("randomised", "randomized"), ("generalisation", "generalization"),
                       ("analyse", "analyze"), ("labelled", "labeled"), ("choosing", "chosen")):
        assert searcher(one)[0] == searcher(other)[0] != []


def test_what_is_not_found_is_said(searcher):
    links, _, said = searcher("xylophone")
    assert links == [] and said == "Nothing found for “xylophone”."
    links, _, said = searcher("laplace xylophone")
    assert links and said.startswith("No place has all words")
    assert searcher("<img src=x onerror=alert(1)>")[2].endswith("“<img src=x onerror=alert(1)>”.")


def test_more_places_are_shown_when_asked_for(browser, address):  # noqa: F811
    reader = Reader(browser)
    reader.open(f"{address}search.html?q=noise")
    page = reader.page
    page.locator("#search-results li").nth(7).wait_for()
    page.locator("#search-more").press("Enter")
    assert page.locator("#search-results li").count() == 16
    assert page.evaluate("document.activeElement === document.querySelectorAll('#search-results a')[8]")
    reader.context.close()


def test_a_result_leads_to_its_place_and_leaves_no_marks(browser, address):  # noqa: F811
    reader = Reader(browser)
    reader.open(f"{address}search.html?q=two+coins")
    link = reader.page.locator("#search-results a[href*='#']").first
    link.click()
    reader.page.wait_for_load_state()
    assert reader.page.evaluate("document.querySelector(':target')") is not None
    assert reader.page.locator(".highlighted, .highlight-link").count() == 0
    reader.context.close()


def test_the_icon_stands_before_the_first_letter(browser, address):  # noqa: F811
    reader = Reader(browser)
    reader.open(f"{address}search.html?q=noise")
    form = reader.page.locator(".bd-search-container form")
    assert right_of_icon(form) <= first_letter(form)
    reader.open(f"{address}intro.html")
    reader.page.keyboard.press("Control+k")
    form = reader.page.locator("#pst-search-dialog form")
    form.wait_for()
    assert right_of_icon(form) <= first_letter(form)
    reader.context.close()


def right_of_icon(form):
    box = form.locator(".fa-magnifying-glass").bounding_box()
    return box["x"] + box["width"]


def first_letter(form):
    field = form.locator("input")
    return field.bounding_box()["x"] + field.evaluate("one => parseFloat(getComputedStyle(one).paddingLeft)")


def test_a_book_on_a_disk_is_searched_too(browser, site):  # noqa: F811
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q=laplace")
    page.locator("#search-results .context mark").first.wait_for()
    context.close()


def test_every_page_can_be_found(site):
    text = (site / search.FOLDER / "index.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("bookSearch.start(").rstrip().removesuffix(");"))
    assert set(index["pages"]) == set(PAGES) - set(GENERATED)
    assert {index["pages"][page] for page, _, _ in index["places"]} == set(index["pages"])


def test_the_page_with_an_answer_is_light(browser, site, address, record_property):  # noqa: F811
    lines = []
    for question in ("", *list(WANTED)[::4]):
        asked = asked_for(browser, f"{address}search.html{question and '?q=' + quote(question)}")
        lines.append((sum(weight(site / urlsplit(file).path) for file in asked), len(asked), question))
    record_property("table", [f"{heavy:6.0f} kB {count:3} files  {question}" for heavy, count, question in lines])
    assert max(lines)[0] <= LIMIT_KB, max(lines)
