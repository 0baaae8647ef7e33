"""What a section says is needed before it: the map of the book is drawn from it, so it has to be true."""
import importlib
import pkgutil
import re
from pathlib import Path

import nbformat
import pytest
import reading_time
from bookext import sectionmap, way

ROOT = Path(__file__).resolve().parents[2]
TOC = re.findall(r"file: (chapters/\w+/(?!index)\w+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
CELLS = {page: nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells for page in TOC}
LABEL = re.compile(r"^(?::label: *|\((?=\S+\)=$))([\w-]+)", re.MULTILINE)
NAMES = sorted(
    {one.name for one in pkgutil.iter_modules([str(ROOT / "dplib")]) if not one.name.startswith("_")}
    - {"teaching", "data"}
)
# the first page tells of the data
MODULES = {name: importlib.import_module(f"dplib.{name}") for name in NAMES}
FUNCTION = re.compile(rf"\b((?:{'|'.join(MODULES)})\.\w+)")
REFERENCE = re.compile(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`")
TERM = re.compile(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`")
ENTRY = re.compile(r"^(\S.*)\n(?:    .*\n)*?    .*\(\{(?:prf:)?ref\}`([\w-]+)`\)\.$", re.MULTILINE)


def prose(cells):
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def code(cells):
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def graph_of(texts):
    """Section -> the sections that its head names; and label -> the section on which it stands."""
    owners = {label: page for page, text in texts.items() for label in LABEL.findall(text)}
    graph = {
        page: [one for one in sectionmap.prerequisites(text, page, owners) if one in texts]
        for page, text in texts.items()
    }
    return graph, owners


def before(graph, page, path=()):
    """All that is needed for a section, and for that, and so on."""
    assert page not in path, f"needs itself: {' <- '.join([*path, page])}"
    return {one for other in graph[page] for one in {other, *before(graph, other, (*path, page))}}


def leans_on(page, graph, owners, used):
    """The labels on earlier sections that a section uses and its head does not lead to."""
    order, known = list(graph), {page, *before(graph, page)}
    for label in used:
        owner = owners.get(label, page)
        if owner not in known and order.index(owner) < order.index(page):
            yield f"{label} of {owner}"


def strange_terms(page, graph, owners, homes, text):
    """The terms that a section links and an earlier one defines, to which neither its head nor the paragraph leads."""
    order, known = list(graph), {page, *before(graph, page)}
    for paragraph in text.split("\n\n"):
        for term in TERM.findall(paragraph):
            home = owners[homes[term]] if term in homes else page
            told = {*known, *sectionmap.linked(paragraph, page, owners)}
            if home not in told and order.index(home) < order.index(page):
                yield f"{term}, of {home}"


def functions_in(text):
    """The functions of dplib that a text names: `budget.advanced`, `svt.index_pmf`, ..."""
    return {
        found
        for found in FUNCTION.findall(text)
        if callable(getattr(MODULES[found.partition(".")[0]], found.partition(".")[2], None))
    }


def met_first(graph, told, called):
    """Functions that a section calls, and that neither its own words nor the sections that it needs tell of or call."""
    home = {}
    for page in graph:
        for function in told[page]:
            home.setdefault(function, page)
    order = list(graph)
    for page in graph:
        behind = before(graph, page)
        known = told[page].union(*(told[one] | called[one] for one in behind))
        for function in sorted(called[page] - known):
            if function in home and order.index(home[function]) < order.index(page):
                yield f"{page} calls {function}, of {home[function]}"


GRAPH, OWNERS = graph_of({page: prose(cells) for page, cells in CELLS.items()})
HOMES = dict(ENTRY.findall((ROOT / "reference" / "glossary.md").read_text(encoding="utf-8")))


def test_the_whole_book_is_on_the_map():
    assert len(GRAPH) == len(list((ROOT / "chapters").rglob("*.ipynb")))


@pytest.mark.parametrize("page", GRAPH)
def test_a_section_says_what_it_needs(page):
    assert sectionmap.HEAD.search(prose(CELLS[page])), "no line that begins with `Before this:`"
    before(GRAPH, page)                              # raises if the arrows go round


@pytest.mark.parametrize("page", GRAPH)
def test_the_main_path_leans_on_nothing_earlier_that_the_head_leaves_out(page):
    main = "\n".join(
        source for part, kind, source in reading_time.parts(CELLS[page]) if (part, kind) == ("main", "markdown")
    )
    found = list(leans_on(page, GRAPH, OWNERS, REFERENCE.findall(reading_time.without_folds(main))))
    assert not found, "\n".join(found)


def test_a_term_that_a_section_defines_says_in_the_glossary_where():
    assert len(HOMES) > 70 and set(HOMES.values()) <= set(OWNERS)


@pytest.mark.parametrize("page", GRAPH)
def test_the_terms_of_the_main_path_are_defined_where_the_head_leads_or_later(page):
    main = "\n\n".join(
        source for part, kind, source in reading_time.parts(CELLS[page]) if (part, kind) == ("main", "markdown")
    )
    found = set(strange_terms(page, GRAPH, OWNERS, HOMES, main.partition("## Where this comes from")[0]))
    assert not found, "\n".join(found)


def test_no_section_calls_a_function_of_an_earlier_one_that_neither_its_head_nor_its_words_lead_to():
    main = {
        page: [(kind, source) for part, kind, source in reading_time.parts(cells) if part == "main"]
        for page, cells in CELLS.items()
    }
    called = {
        page: functions_in("\n".join(source for kind, source in found if kind == "code"))
        for page, found in main.items()
    }
    told = {
        page: functions_in("\n".join([
            *re.findall(r"`[^`]*`", prose(CELLS[page])),
            *re.findall(r"^source\(.*", code(CELLS[page]), re.MULTILINE),
        ]))
        for page in GRAPH
    }
    assert sum(map(len, called.values())) > 50 and not list(met_first(GRAPH, told, called))


@pytest.mark.parametrize("page", GRAPH)
def test_no_proof_leans_on_a_section_that_the_head_leaves_out(page):
    proofs = re.findall(r"^:{3,}\{admonition\} Proof.*?^:{3,}$", prose(CELLS[page]), re.MULTILINE | re.DOTALL)
    outside = {
        label
        for proof in proofs
        for label in REFERENCE.findall(proof)
        if OWNERS.get(label, page) not in {page, *before(GRAPH, page)}
    }
    assert outside == set()


@pytest.mark.parametrize("chapter", sorted({page.rpartition("/")[0] for page in GRAPH}))
def test_a_chapter_says_how_long_each_of_its_sections_takes(site, chapter):
    text = (site / chapter / "index.html").read_text(encoding="utf-8")
    found = re.findall(r'<p class="facts">(\d+) minutes to read, (\d+) exercises \((\d+) minutes\)</p>', text)
    cells = [CELLS[page] for page in TOC if page.rpartition("/")[0] == chapter]
    stated = [(*reading_time.stated(one), len(re.findall(r":label: ex-", prose(one)))) for one in cells]
    assert [(int(read), int(practise), int(count)) for read, count, practise in found] == stated
    whole = [way.hours(sum(minutes)) for minutes in list(zip(*stated, strict=True))[:2]]
    assert f"takes about {whole[0]} of reading, without what goes deeper, and {whole[1]} of exercises." in text


@pytest.mark.parametrize(
    ("minutes", "words"), [(30, "½ hour"), (60, "1 hour"), (95, "1½ hours"), (310, "5 hours"), (340, "5½ hours")]
)
def test_hours_are_told_in_halves(minutes, words):
    assert way.hours(minutes) == words


# -------------------------------------------------------------------------------------- the tests above can fail: proof

TEXTS = {
    "chapters/a/one": "Before this: nothing.\n\n(heading-one)=\n## One",
    "chapters/a/two": "Before this: [one](one.ipynb).\n\n:::{prf:theorem} T\n:label: thm-two\n:::",
    "chapters/b/three": "Before this: {prf:ref}`thm-two` and {ref}`one <heading-one>`.",
    "chapters/b/four": "Before this: [one](../a/one.ipynb).",
}


def test_a_head_is_read_by_files_labels_and_theorems():
    graph, owners = graph_of(TEXTS)
    assert graph == {"chapters/a/one": [], "chapters/a/two": ["chapters/a/one"],
                     "chapters/b/three": ["chapters/a/two", "chapters/a/one"], "chapters/b/four": ["chapters/a/one"]}
    assert owners == {"heading-one": "chapters/a/one", "thm-two": "chapters/a/two"}


def test_what_a_head_leaves_out_is_noticed():
    graph, owners = graph_of(TEXTS)
    assert list(leans_on("chapters/b/four", graph, owners, ["thm-two"])) == ["thm-two of chapters/a/two"]
    assert not list(leans_on("chapters/b/three", graph, owners, ["thm-two", "heading-one", "unknown"]))
    # a later section is not needed, but announced
    assert not list(leans_on("chapters/a/one", graph, owners, ["thm-two"]))


def test_a_function_that_nobody_told_of_is_noticed():
    graph, _ = graph_of(TEXTS)
    nobody = dict.fromkeys(graph, set())
    told = nobody | {"chapters/a/two": {"budget.advanced"}}
    called = nobody | {"chapters/b/four": {"budget.advanced"}}
    assert list(met_first(graph, told, called)) == ["chapters/b/four calls budget.advanced, of chapters/a/two"]
    assert not list(met_first(graph, told | {"chapters/b/four": {"budget.advanced"}}, called))  # its own words tell
    assert not list(met_first(graph, told, nobody | {"chapters/b/three": {"budget.advanced"}}))  # its head leads there
    later, earlier = {"chapters/b/four": {"budget.advanced"}}, {"chapters/a/two": {"budget.advanced"}}
    assert not list(met_first(graph, nobody | later, nobody | earlier))
    found = functions_in("`budget.advanced` and `budget.nothing`, mechanisms.laplace(3)")
    assert found == {"budget.advanced", "mechanisms.laplace"}


def test_a_term_of_another_section_is_noticed():
    graph, owners = graph_of(TEXTS)
    homes = dict(ENTRY.findall("two (二)\n    After one ({prf:ref}`thm-two`).\n\nnobody (无)\n    Nobody's.\n"))
    assert homes == {"two (二)": "thm-two"}
    text = "Of {term}`pairs <two (二)>` and {term}`nobody <nobody (无)>`."
    assert list(strange_terms("chapters/b/four", graph, owners, homes, text)) == ["two (二), of chapters/a/two"]
    assert not list(strange_terms("chapters/b/four", graph, owners, homes, text + "\nSee [two](../a/two.ipynb)."))
    assert not list(strange_terms("chapters/b/three", graph, owners, homes, text))  # its head leads there
    assert not list(strange_terms("chapters/a/one", graph, owners, homes, text))  # a later section


def test_a_circle_is_noticed():
    graph, _ = graph_of(TEXTS)
    graph["chapters/a/one"] = ["chapters/b/three"]
    with pytest.raises(AssertionError, match="needs itself"):
        before(graph, "chapters/a/two")


def drawn(graph, titles):
    numbers = {page: f"1.{place}" for place, page in enumerate(graph)}
    return sectionmap.draw(graph, numbers, titles, {page: f"{page}.html?a&b" for page in graph})


def test_the_map_names_each_section_once_and_what_to_read_first_without_what_that_implies():
    graph, _ = graph_of(TEXTS)
    assert sectionmap.needed(graph)["chapters/b/three"] == ["chapters/a/two"]
    found = drawn(graph, dict(zip(graph, ("A & B: c", "Using it: so", "Using it: more", "D"))))
    boxes = re.findall(
        r'<a class="(at-1-\d)" href="([^"]*)"><b>([^<]*)</b> ([^<]*?)(?: <small>after ([^<]*)</small>)?</a>', found
    )
    assert [box[2:] for box in boxes] == [
        ("1.0", "A &amp; B", ""),
        ("1.1", "So", "1.0"),
        ("1.2", "More", "1.1"),
        ("1.3", "D", "1.0"),
    ]
    assert all("?a&amp;b" in box[1] for box in boxes) and found.count("<li><ol>") == 2


def test_the_map_keeps_bright_what_a_section_rests_on():
    graph, _ = graph_of(TEXTS)
    rules = dict(re.findall(r"has\(\.(at-1-\d):[^{]*?not\(([^)]*)\)", drawn(graph, dict.fromkeys(graph, "A"))))
    assert rules == {
        "at-1-0": ".at-1-0",
        "at-1-1": ".at-1-1,.at-1-0",
        "at-1-2": ".at-1-2,.at-1-0,.at-1-1",
        "at-1-3": ".at-1-3,.at-1-0",
    }
