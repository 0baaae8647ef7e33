"""What the extension makes of outputs, tables and first pages: by rules, each with a fault that it notices."""
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bookext import outputs, quick, tables, way
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [ROOT / "intro.ipynb", *sorted((ROOT / "chapters").rglob("*.ipynb"))]

# ----------------------------------------------------------------------------------------------------- what cells print

READ = {
    "numbers under words": (
        "  k   random groups  found\n  2           63.7%  4,664\n 10            6.6%  3,716",
        ["k", "random groups", "found"], ["2", "63.7%", "4,664"]),
    "names before numbers": (
        "         right  wrong\nplain       12      3\nclever     127     30",
        ["", "right", "wrong"], ["plain", "12", "3"]),
    "single blanks": (
        "       dob sex   zip\n1968-04-05   F 34521\n1964-04-10   F 34521",
        ["dob", "sex", "zip"], ["1968-04-05", "F", "34521"]),
    "a head of whole numbers": (
        "noise       1      2\n60 runs  99.4%  89.3%\nlaw      99.4%  89.4%",
        ["noise", "1", "2"], ["60 runs", "99.4%", "89.3%"]),
    "a head of values": (
        "at α =            0.05   0.50\nchord            0.740  0.159\none safe curve   0.615  0.069",
        ["at α =", "0.05", "0.50"], ["chord", "0.740", "0.159"]),
    "padded labels": (
        "         one release   both\nk =  3         0.0%    64.2%\nk = 10         0.0%     3.8%",
        ["", "one release", "both"], ["k = 3", "0.0%", "64.2%"]),
    "an empty cell": (
        "answer        vault  table\nfour lines     1.41   2.83\na stretch             14.14",
        ["answer", "vault", "table"], ["four lines", "1.41", "2.83"]),
    "what has no value": (
        "  n  exact  band\n  1   0.86  none\n 10   0.75   inf",
        ["n", "exact", "band"], ["1", "0.86", "none"]),
}


@pytest.mark.parametrize("case", READ)
def test_columns_under_a_head_are_a_table(case):
    text, head, first = READ[case]
    (kind, found), = outputs.parts(text + "\n")
    assert kind == "table" and found.head == head and found.rows[0] == first and len(found.rows) == 2


@pytest.mark.parametrize("text", [
    "one line",
    "k = 5: 2,093 voters named\nk = 9:   890 voters named\nk = 7:   412 voters named",
    "all      7 people, median 39\nwomen    4 people, median 41\nmen      3 people, median 15",
    # no head
    "basic     3.97\nadvanced  8.55\nexact     1.20",
    # one head over two columns
    "penalty  train  found at 5 %, 1 %\n  1e-06  99.2%      90.6%  76.1%\n  0.001  96.8%      34.7%   9.1%",
    # a label under another head
    "       add/remove  replace\nwhat somebody asks    1        2\nsum                   9        7",
    # nothing is a number
    "word  other\none   two\nthree four",
    # a head over nothing
    "  q    σ  steps  (ε at δ = 1)\n0.1    4    100\n0.2    2     50",
    "✓ right: all of it\n\n  two  blocks\n",
])
def test_lines_that_are_no_table_stay_as_they_are(text):
    assert [kind for kind, _ in outputs.parts(text)] == ["text"] and outputs.parts(text)[0][1] == text.rstrip("\n")


def test_a_part_of_a_table_is_none():
    whole = "noise       1      2\n60 runs  99.4%  89.3%\nlaw      99.4%  89.4%"
    assert [kind for kind, _ in outputs.parts(f"{whole}\nodd         no  12.1%")] == ["text"]
    cut = outputs.parts("  a    b   words\n  2  2.5   79% ± 1\n 10  3.5   81% ± 1\nat ε = 0.94:")
    assert cut[-1] == ("text", "at ε = 0.94:")
    assert [kind for kind, _ in outputs.parts(f"a word before\n{whole}\nand after it")] == ["text", "table", "text"]


def test_a_table_tells_names_from_numbers_and_writes_powers():
    found = outputs.markup(
        outputs.Table(["δ <", "at ε =", "who"], [["1e-05", "1.60e+06", "she"], ["1", "2.0e+00", "he"]])
    )
    head = '<th scope="col" class="n">δ &lt;</th><th scope="col" class="n">at ε\u00a0=</th><th scope="col">who</th>'
    power = '<th scope="row" class="n">10<sup>−5</sup></th><td class="n">1.60\u202f×\u202f10<sup>6</sup></td>'
    assert head in found and f"{power}<td>she</td>" in found and ">2.0</td>" in found


LISTED = (
    "# dplib.local\n@decorated\ndef f(x):\n    # why\n    return x\n\n"
    "with k = 2 it is right\n# dplib.budget\nclass B:\n    pass"
)


def test_a_source_is_shown_as_code():
    assert [kind for kind, _ in outputs.parts(LISTED)] == ["listing", "text", "listing"]
    first, words, last = (what for _, what in outputs.parts(LISTED))
    assert first.rstrip().endswith("return x") and last.startswith("# dplib.budget")
    assert words == "with k = 2 it is right"


def document_with(text, builder="html"):
    block = nodes.literal_block(text, text, classes=["output", "stream"], language="myst-ansi")
    doctree = nodes.container("", block, classes=["cell_output"])
    outputs.dress(SimpleNamespace(builder=SimpleNamespace(format=builder)), doctree, "a")
    return doctree


def test_a_page_has_tables_and_code_where_a_notebook_has_text():
    text = f"before\n{READ['an empty cell'][0]}\n{LISTED}"
    page = document_with(text)
    kinds = [type(child).__name__ for child in page]
    assert kinds == ["literal_block", "raw", "literal_block", "literal_block", "literal_block"]
    assert [child.get("language") for child in page] == ["myst-ansi", None, "python", "myst-ansi", "python"]
    assert page[0]["classes"] == ["output", "stream"] and page[1]["classes"] == []
    assert [type(child).__name__ for child in document_with(text, "ipynb")] == ["literal_block"]


def printed(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            yield from ((cell.id, output.get("text", "")) for output in cell.outputs)


def ink(text):
    return "".join(text.split())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_letter_of_an_output_is_lost(path):
    for cell, text in printed(path):
        again = "".join(
            "".join([*what.head, *sum(what.rows, [])]) if kind == "table" else what
            for kind, what in outputs.parts(text)
        )
        assert ink(again) == ink(text), cell


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_head_stands_above_columns_that_do_not_fit_it(path):
    lost = [(cell, head) for cell, text in printed(path) for head in outputs.lost_heads(text) if cell not in PANDAS]
    assert lost == []


PANDAS = {"eight-coarse", "mondrian-check", "ends-mend"}        # tables of names, as pandas prints them


def test_a_head_that_does_not_fit_is_noticed():
    head = "       add/remove  replace"
    text = f"before\n{head}\nwhat somebody asks    1        2\nsum                   9        7"
    assert outputs.lost_heads(text) == [head]
    assert outputs.lost_heads(READ["padded labels"][0]) == []
    assert outputs.lost_heads("all      7 people\nwomen    4 people\nmen  3") == []


# ---------------------------------------------------------------------------------------------------- tables and claims


def written_table(*rows):
    head, *body = [row.split("|") for row in rows]
    first = "".join(f'<th class="head"><p>{cell}</p></th>\n' for cell in head)
    others = "".join(
        '<tr class="row-even">' + "".join(f"<td><p>{cell}</p></td>\n" for cell in row) + "</tr>\n" for row in body
    )
    return ('<div class="pst-scrollable-table-container"><table class="table">\n<thead>\n<tr class="row-odd">'
            f"{first}</tr>\n</thead>\n<tbody>\n{others}</tbody>\n</table></div>")


def arranged(body):
    context = {"body": body}
    tables.arrange(None, "a", "page.html", context, doctree=True)
    return context["body"]


def test_long_rows_are_cards_that_name_their_columns():
    body = arranged(written_table("question|add|replace|why", "count|1|2|<em>so</em>"))
    assert 'class="table cards" role="table"' in body
    assert body.count('role="row"') == 2 and body.count('role="columnheader"') == 4
    assert re.findall(r'<td role="cell" data-label="(\w+)"><p>(.*?)</p>', body) == [
        ("question", "count"), ("add", "1"), ("replace", "2"), ("why", "<em>so</em>")]
    assert "filters" not in body


def test_short_rows_stay_side_by_side():
    for rows in (["a|b", "1|2"], ["question|add|replace", "count|1|2"]):
        assert arranged(written_table(*rows)) == written_table(*rows)
    assert "cards" in arranged(written_table("question|add|replace", f"count|{'long ' * 20}|2"))
    assert "cards" in arranged(written_table("symbol|meaning", f"{'many symbols, ' * 4}|short"))


CLAIMS = written_table(
    "|claim|verdict|where",
    "A01|nothing leaks|wrong: it does|here",
    "A02|noise|right, of privacy|there",
    "A03|wrongly said|imprecise|",
)


def test_verdicts_have_a_colour_and_claims_an_address():
    body = arranged(CLAIMS)
    verdicts = re.findall(r'<strong class="verdict (\w+)">(\w+)</strong>', body)
    assert verdicts == [("wrong",) * 2, ("right",) * 2, ("imprecise",) * 2]
    assert re.findall(r'id="(\w+)"', body) == ["a01", "a02", "a03"] and '<a class="anchor" href="#a02">A02</a>' in body
    assert re.findall(r'data-verdict="(\w+)">(.*?)</button>', body) == [
        ("all", "all 3"), ("right", "right 1"), ("imprecise", "imprecise 1"), ("wrong", "wrong 1")]


def without_verdict(page):
    rows = re.findall(r'<tr role="row"(?: id="\w+")?>(.*?)</tr>', page, re.DOTALL)
    return [tables.words(row)[:60] for row in rows if 'data-label="verdict"' in row and 'class="verdict ' not in row]


def test_every_claim_is_right_imprecise_or_wrong(site):
    page = (site / "reference/claims.html").read_text(encoding="utf-8")
    written = re.findall(r"^\| [A-E]?\d+ \|", (ROOT / "reference/claims.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert page.count('class="verdict ') == len(written) > 150 and without_verdict(page) == []
    assert without_verdict(arranged(CLAIMS.replace("imprecise", "hard to say"))) == ["A03 wrongly said hard to say"]


# ------------------------------------------------------------------------------------------------------ the first pages


def item(words, *links):
    paragraph = nodes.paragraph("", "", *(nodes.reference("", link) for link in links), nodes.Text(words))
    return nodes.list_item("", paragraph)


def test_doors_are_links_and_nothing_else():
    assert way.is_link(item("", "Start"))
    assert not way.is_link(item(" here", "Start")) and not way.is_link(item("", "Start", "or not"))


def test_a_card_has_a_number_a_picture_and_facts():
    one = nodes.bullet_list("", item(": what it is", "Laplace"))
    way.make_card(one[0], "3.1", "<svg></svg>", "50 minutes")
    assert one["classes"] == ["sections"]
    assert one.astext() == '<svg></svg>\n\n3.1\u2002Laplace: what it is\n\n<p class="facts">50 minutes</p>'


def test_a_thumbnail_is_the_first_explorer_without_letters():
    page = (
        '<div class="explorer"><div class="controls" hidden></div>'
        '<figure><svg role="img" viewBox="0 0 9 5" fill="none"><path d="M0 0h9"/>'
        '<text x="1">1 &lt; 2</text></svg><figcaption aria-live="polite">'
    )
    tree = nodes.container("", nodes.raw("", "<p></p>", format="html"), nodes.raw("", page, format="html"))
    found = way.thumbnail(SimpleNamespace(get_doctree=lambda section: tree), "a")
    assert 'viewBox="0 0 9 5"' in found and '<path d="M0 0h9"/></svg>' in found
    assert "text" not in found and 'aria-hidden="true"' in found
    assert way.thumbnail(SimpleNamespace(get_doctree=lambda section: nodes.container()), "a") == ""


def counted(page):
    return {
        words: int(count.replace(",", ""))
        for count, words in re.findall(r"<li><strong>([\d,]+)</strong> (.*?)</li>", page)
    }


def test_the_figures_on_the_first_page_are_those_of_the_book(site):
    found = counted((site / "intro.html").read_text(encoding="utf-8"))
    sections = [path for path in NOTEBOOKS if path.parent.parent.name == "chapters"]
    pages = [(site / path.relative_to(ROOT)).with_suffix(".html").read_text(encoding="utf-8") for path in sections]
    assert found["sections"] == len(sections)
    assert found["figures to move"] == sum(page.count('<div class="explorer">') for page in pages)
    assert found["exercises"] == sum(
        len(re.findall(r'<div class="(?=[^"]*\badmonition\b)[^"]*\bexercise\b', page)) for page in pages
    )
    assert found["tested statements"] == sum(path.read_text(encoding="utf-8").count('"# claim:') for path in sections)


def poor_chapters(site):
    for page in sorted(site.glob("chapters/*/index.html")):
        text = page.read_text(encoding="utf-8")
        sections = len(list((ROOT / page.relative_to(site)).parent.glob("*.ipynb")))
        if (
            text.count('<p class="facts">') != sections
            or text.count('class="thumb"') != sections
            or text.count('<p class="doors">') != 1
        ):
            yield page.parent.name


def test_a_chapter_has_a_card_for_each_section_and_a_button_to_begin(site, tmp_path):
    assert list(poor_chapters(site)) == []
    text = (site / "chapters/attacks/index.html").read_text(encoding="utf-8")
    (tmp_path / "chapters/attacks").mkdir(parents=True)
    for fault in ('<p class="facts">', 'class="thumb"', '<p class="doors">'):
        (tmp_path / "chapters/attacks/index.html").write_text(text.replace(fault, "", 1), encoding="utf-8")
        assert list(poor_chapters(tmp_path)) == ["attacks"]
    first = (site / "intro.html").read_text(encoding="utf-8")
    chapters = len(list(site.glob("chapters/*/index.html")))
    assert first.count('<p class="facts">') == first.count('class="thumb"') == chapters > 5
    assert re.search(r'<ul class="doors[^>]*>\s*<li><p><a [^>]*href="chapters/attacks/linkage.html"', first)


# ---------------------------------------------------------------------------------------------------- what is done once


class Read:
    """An environment that counts how often a document is read."""

    config = "as configured"

    def __init__(self):
        self.count = 0

    def get_doctree(self, docname):
        self.count += 1
        return f"{docname}, {self.count}"


def test_a_document_is_read_once_for_all_numbers_in_it_and_again_when_it_may_have_changed():
    resolve = quick.remembering(lambda domain, env, page, place: (env.get_doctree(page), env.config, place))
    env, other = Read(), Read()
    wanted = [("a, 1", "as configured", place) for place in (1, 2)]
    assert [resolve(None, env, "a", place) for place in (1, 2)] == wanted
    assert resolve(None, other, "a", 3) == ("a, 1", "as configured", 3) and (env.count, other.count) == (1, 1)
    quick.forget()
    assert resolve(None, env, "a", 4)[0] == "a, 2"
