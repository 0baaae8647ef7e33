"""The plain notebooks: words of the page, code of the source, no solution for students, no need of a plug-in."""
import base64
import copy
import io
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import editions
import nbformat
import pytest
import yaml
from bookext import translation
from bookext.cache import CHECKERS, Checkers, cache_folder
from bookext.plain import PAGES, PlainNotebooks, how_to_open, on_paper, say_where_to_answer, stand_in
from bookext.plain import markdown as plain
from bookext.plain.edition import Edition, alone, first_cell, waiting
from bookext.translation import catalogue, spoken
from bs4 import BeautifulSoup
from claims import MARK, bound, loaded
from conftest import build
from docutils import nodes
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
WAITING = "Run this cell for the slider.\n"
SECTIONS = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "chapters").rglob("*.ipynb"))
BUILT = ROOT / "_build" / "notebooks"
MYST = re.compile(r"\{[a-z:-]+\}`|^:{3,}|^`{3,}\{|^\([\w-]+\)=$", re.MULTILINE)


@pytest.fixture(scope="session")
def plain_log(once, build_log):
    """The builder shares what the book's build has read and run."""
    return once("notebooks", lambda: build("notebooks", "--builder", "custom", "--custom-builder", "notebooks"))


@pytest.fixture(scope="session")
def read(plain_log):
    """A built notebook, by its edition and section."""
    if not plain_log.startswith("0\n"):
        pytest.fail("the plain notebooks do not build: see test_the_notebooks_build_without_a_warning", pytrace=False)
    return lambda edition, section: nbformat.read(BUILT / edition / f"{section}.ipynb", as_version=4)


def source(section):
    return nbformat.read(ROOT / f"{section}.ipynb", as_version=4)


def texts(nb):
    return [cell.source for cell in nb.cells if cell.cell_type == "markdown"]


def codes(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code" and cell.id != "setup"]


def solution_cells(nb):
    """The code cells between the gates of solutions."""
    inside, found = False, []
    for cell in nb.cells:
        gates = re.findall(r"\{solution-(start|end)\}", cell.source) if cell.cell_type == "markdown" else []
        inside = gates[-1] == "start" if gates else inside
        if inside and cell.cell_type == "code":
            found.append(cell)
    return found


# ----------------------------------------------------------------------------------------------- what a section becomes


def test_the_notebooks_build_without_a_warning(plain_log):
    assert plain_log.startswith("0\n") and "WARNING" not in plain_log, plain_log[-4000:]
    for edition in ("student", "instructor"):
        written = [
            path.relative_to(BUILT / edition).with_suffix("").as_posix() for path in (BUILT / edition).rglob("*.ipynb")
        ]
        assert sorted(written) == sorted([*SECTIONS, *PAGES, "start"])
    alone = BUILT / "solutions"
    assert sorted(path.relative_to(alone).with_suffix("").as_posix() for path in alone.rglob("*.ipynb")) == SECTIONS


@pytest.mark.parametrize("section", SECTIONS)
def test_the_instructors_code_is_the_sources_without_its_claims(read, section):
    wanted = [cell for cell in source(section).cells if cell.cell_type == "code" and not cell.source.startswith(MARK)]
    found = codes(read("instructor", section))
    shown = [(cell.id, cell.source, without_stills(cell)) for cell in found]
    assert shown == [(cell.id, cell.source, cell.outputs) for cell in wanted]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_students_have_the_same_without_solutions_and_outputs(read, section):
    solutions = {cell.id for cell in solution_cells(source(section))}
    students, instructors = codes(read("student", section)), codes(read("instructor", section))
    assert [cell.source for cell in students] == [cell.source for cell in instructors if cell.id not in solutions]
    assert solutions
    assert not any(cell.outputs and "Explorer(" not in cell.source or cell.execution_count for cell in students)
    assert not any("Solution to" in text or "For the instructor" in text for text in texts(read("student", section)))


def without_stills(cell):
    """The outputs of a cell without the pictures of Explorers, and without the line that stands below them."""
    outputs = [copy.deepcopy(output) for output in cell.outputs if output.get("text") != WAITING]
    for output in outputs:
        output.get("data", {}).pop("image/png", None)
    return outputs


@pytest.mark.parametrize("edition", ["student", "instructor"])
@pytest.mark.parametrize("section", SECTIONS)
def test_every_explorer_is_seen_before_anything_runs(read, edition, section):
    explorers = [cell for cell in codes(read(edition, section)) if re.search(r"^Explorer\(", cell.source, re.MULTILINE)]
    assert explorers
    for cell in explorers:
        output, waiting = cell.outputs
        assert waiting.text == WAITING
        assert output.data["text/plain"].startswith("Explorer(")
        still = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
        assert still.width > 500 and len(still.getcolors()) > 4


@pytest.mark.parametrize("section", SECTIONS)
def test_the_instructor_sees_every_figure_before_anything_runs(read, section):
    outputs = [output for cell in codes(read("instructor", section)) for output in cell.outputs]
    figures = [output.data for output in outputs if output.get("data", {}).get("text/plain", "").startswith("<Figure ")]
    assert all(Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).width > 300 for data in figures)
    committed = [output for cell in source(section).cells if cell.cell_type == "code" for output in cell.outputs]
    assert len(figures) == sum("<Figure " in output.get("data", {}).get("text/plain", "") for output in committed)


def test_an_edition_is_not_heavy(read):
    for edition in ("student", "instructor"):
        assert sum(len(zlib.compress(path.read_bytes())) for path in (BUILT / edition).rglob("*.ipynb")) < 4e6


@pytest.mark.parametrize("section", SECTIONS)
def test_no_visible_cell_uses_what_only_claims_or_solutions_define(section):
    cells = [cell for cell in source(section).cells if cell.cell_type == "code"]
    solutions = {cell.id for cell in solution_cells(source(section))}
    kept = [cell for cell in cells if not cell.source.startswith(MARK)]
    for edition in (kept, [cell for cell in kept if cell.id not in solutions]):
        known = set()
        for cell in edition:
            known |= bound(cell.source)
        left_out = set().union(*(bound(cell.source) for cell in cells if cell not in edition)) - known
        used = {name: cell.id for cell in edition for name in loaded(cell.source) & left_out}
        assert not used, used


def test_one_begins_as_all_do_and_runs_in_another_folder(read, tmp_path):
    """That all run and say what is committed is tested with the committed notebooks, where a claim has its process."""
    begins = {
        nb.cells[place].source
        for nb in (read(edition, section) for edition in ("student", "instructor") for section in SECTIONS)
        for place in [next(i for i, cell in enumerate(nb.cells) if cell.cell_type == "code")]
    }
    assert len(begins) == 1 and min(begins).startswith("# @title Run this cell first")
    nb = read("instructor", "chapters/histograms/bins")
    wanted = {cell.id: printed(cell).removesuffix(WAITING) for cell in codes(nb)}
    NotebookClient(nb, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert {cell.id: printed(cell) for cell in codes(nb)} == wanted


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs if output.output_type == "stream")


# ------------------------------------------------------------------------------------ what its text is without plug-ins

RENDER = (
    MarkdownIt("commonmark", {"html": True})
    .enable("table")
    .use(dollarmath_plugin, allow_space=False, double_inline=True)
)


def rendered(text):
    """What CommonMark with mathematics makes of a text, as words: formulas and code are taken out."""
    soup = BeautifulSoup(RENDER.render(text), "html.parser")
    for gone in soup.select(".math, eqn, eq, code"):
        gone.decompose()
    return soup


MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


@pytest.mark.parametrize("edition", ["student", "instructor"])
@pytest.mark.parametrize("page", ["start", *SECTIONS, *PAGES])
def test_every_link_leads_somewhere(read, edition, page):
    """Without an address of the book: into this edition or into the web; and a notebook opens without a question."""
    assert read(edition, page).metadata.kernelspec.name == "python3"
    here = BUILT / edition / f"{page}.ipynb"
    for text in texts(read(edition, page)):
        targets = [link["href"] for link in rendered(text).find_all("a", href=True)]
        near = [target for target in targets if not target.startswith("http")]
        assert [target for target in near if not (here.parent / target).is_file()] == []
        assert "(how)" not in text and "open this section in JupyterLab" not in text


@pytest.mark.parametrize("edition", ["student", "instructor"])
@pytest.mark.parametrize("section", ["start", *SECTIONS, *PAGES])
def test_nothing_needs_a_plug_in(read, edition, section):
    """S* is the name of the smooth sensitivity; JupyterLab takes formulas out before it reads any mark of Markdown."""
    for text in texts(read(edition, section)):
        assert not [formula for formula in MATHS.findall(text) if re.search(r"^\s*>", formula, re.MULTILINE)]
        words = rendered(text).get_text(" ")
        assert not MYST.search(text) and not re.search(r"\$|(?<!S)\*|\]\(|\\\(|:::", words), (MYST.search(text), words)


def squeezed(soup):
    """Letters and digits only: how a page breaks and punctuates its numbers is its own affair."""
    return re.sub(r"\W+", "", soup.get_text(" "))


@pytest.mark.parametrize("section", SECTIONS)
def test_the_words_are_those_of_the_page(read, site, section):
    page = BeautifulSoup((site / f"{section}.html").read_text(encoding="utf-8"), "html.parser").find("article")
    for gone in page.select(
        "script, .headerlink, .math, mjx-container, code, pre, .explorer, .cell_input, .cell > details > summary, "
        ".cell_output > :not(figure), button, figcaption .caption-number, h1 > .section-number, nav, "
        ".prev-next-footer, .way"
    ):
        gone.decompose()
    nb = read("instructor", section)
    text = "\n\n".join(cell for cell in texts(nb) if "For the instructor" not in cell).split("## Works cited")[0]
    missing = strange(
        squeezed(page).replace(*(squeezed(BeautifulSoup(words, "html.parser")) for words in ANSWER)),
        squeezed(rendered(without_labels(text))),
    )
    assert not missing, missing


ANSWER = "To answer, open this section in JupyterLab (how)", "To answer, fill in the cells below and run them"


def without_labels(text):
    text = re.sub(r"^\*Figure [\d.]+\.\* ", "", text, flags=re.MULTILINE)
    return re.sub(r"^From \*Provable.*$", "", text, flags=re.MULTILINE)


def strange(words, others, width=24):
    """The pieces of one text that are nowhere in another."""
    known = {others[i:i + width] for i in range(len(others) - width + 1)}
    return [words[i:i + 60] for i in range(0, len(words) - width, width) if words[i:i + width] not in known]


# -------------------------------------------------------------------------------------- small documents, and what fails


def paragraph(*children):
    return nodes.paragraph("", "", *children)


def markdown(address=lambda target: None):
    return plain.Markdown({"theorem": {"thm-a": (4, 1)}}, address, {"The law"})


def reference(target, words="here", **options):
    return nodes.reference("", words, refuri=target, **options)


@pytest.mark.parametrize(("node", "wanted"), [
    (paragraph(nodes.Text("2 * 3 < 7 & _x_ `b`")), r"2 \* 3 &lt; 7 & \_x\_ \`b\`"),
    (paragraph(nodes.Text("# no heading")), r"\# no heading"),
    (paragraph(nodes.Text("1. no list")), r"\1. no list"),
    (paragraph(nodes.strong("", "a"), nodes.Text(" "), nodes.emphasis("", "b")), "**a** *b*"),
    (paragraph(nodes.literal("", "a`b")), "``a`b``"),
    (paragraph(nodes.math("", "a\n= b")), "$a = b$"),
    (nodes.math_block("", "a = b", number=3), "$$\na = b \\tag{3}\n$$"),
    (paragraph(reference("https://a.org")), "[here](https://a.org)"),
    (paragraph(reference("other#b", internal=True)), "here"),
    (
        nodes.bullet_list(
            "",
            nodes.list_item(
                "",
                paragraph(nodes.Text("a")),
                nodes.bullet_list("", nodes.list_item("", paragraph(nodes.Text("b")))),
            ),
            nodes.list_item("", paragraph(nodes.Text("c"))),
        ),
        "- a\n\n  - b\n- c",
    ),
    (nodes.note("", paragraph(nodes.Text("a"))), "> **Note**\n>\n> a"),
    (
        nodes.note("", paragraph(nodes.Text("a")), nodes.math_block("", "a\n  = b", number=3)),
        "> **Note**\n>\n> a\n>\n> $$a = b \\tag{3}$$",
    ),
    (paragraph(reference("#b", internal=True, words="The law")), "*The law*"),
    (
        nodes.admonition("", nodes.title("", "Hint"), paragraph(nodes.Text("a")), classes=["dropdown"]),
        "<details>\n<summary>Hint</summary>\n\na\n\n</details>",
    ),
])
def test_a_node_becomes_markdown(node, wanted):
    assert markdown().block(node) == wanted


@pytest.mark.parametrize("section", SECTIONS)
def test_the_solutions_are_the_instructors(read, section):
    """Alone in a notebook, which begins with the section's title."""
    wanted = [cell.id for cell in solution_cells(source(section))]
    alone = read("solutions", section)
    assert [cell.id for cell in alone.cells if cell.cell_type == "code"] == wanted
    title, first, *_ = texts(alone)
    assert title == f"{texts(read('student', section))[0].splitlines()[0]}: solutions"
    assert first.startswith("#### Solution to Exercise ")


def test_the_first_page_names_all_sections_in_their_order(read):
    for edition in ("student", "instructor"):
        text = "\n".join(texts(read(edition, "start")))
        listed = re.findall(r"- \[(\d\.\d) .*\]\((chapters/.*)\.ipynb\)", text)
        assert sorted(section for _, section in listed) == SECTIONS
        assert [number for number, _ in listed] == sorted(number for number, _ in listed)
        assert all(words in text for words in ("## Hand in", "CC BY 4.0", f"version {editions_version()}"))


def editions_version():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@pytest.mark.parametrize(("instructor", "kept"), [(True, ["out", "still", WAITING]), (False, ["still", WAITING])])
def test_an_explorer_brings_its_picture_and_nothing_else_to_students(instructor, kept):
    shown = new_output("execute_result", data={"text/plain": "Explorer(x = 1): one"}, execution_count=2)
    printed_too = new_output("stream", name="stdout", text="out")
    one = new_output("execute_result", data={"text/plain": "1"}, execution_count=1)
    other = new_code_cell("1", id="other", execution_count=1, outputs=[one])
    explorer = new_code_cell("Explorer(f, {}, {})", id="explorer", execution_count=2, outputs=[printed_too, shown])
    source = new_notebook(cells=[other, explorer])
    here = Edition(source, markdown(), (4, 1), instructor, {"explorer": ["still"]})
    for place in range(2):
        here.code(nodes.container(cell_index=place))
    first, second = here.cells
    assert bool(first.outputs) == instructor
    assert [one.get("text") or one.data["image/png"] for one in second.outputs] == kept
    assert second.execution_count == second.outputs[-2].execution_count == (2 if instructor else None)
    nbformat.validate(new_notebook(cells=here.cells))


def test_the_pictures_are_those_of_the_run_that_made_the_pages(tmp_path):
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python"}}
    cells = [new_code_cell("Explorer(f, {}, {})", id="explorer"), new_code_cell("1", id="other")]
    source = new_notebook(cells=cells, metadata=kernel)
    run = copy.deepcopy(source)
    png = io.BytesIO()
    Image.new("RGBA", (2, 1)).save(png, "PNG")
    still = base64.b64encode(png.getvalue()).decode()
    run.cells[0].outputs = [
        new_output("execute_result", data={"text/plain": "Explorer(x = 1): one", "image/png": still}, execution_count=1)
    ]
    run.cells[1].outputs = [new_output("execute_result", data={"text/plain": "1"}, execution_count=2)]
    checked = {CHECKERS: Checkers(tmp_path).hash_for(run)}
    for mode, folder in (("cache", tmp_path / "cache"), ("off", cache_folder(tmp_path, tmp_path / "_build"))):
        config = SimpleNamespace(nb_execution_cache_path=str(tmp_path / "cache"), nb_execution_mode=mode, language="en")
        builder = SimpleNamespace(config=config, app=SimpleNamespace(srcdir=tmp_path))
        if mode == "off":                        # a learner's copy, before the book was built
            assert PlainNotebooks.stills(builder, source) is None
        get_cache(folder).cache_notebook_bundle(CacheBundleIn(run, "a.ipynb", data=checked), check_validity=False)
        assert PlainNotebooks.stills(builder, source) == {"explorer": [on_paper(still)]}
    paper = Image.open(io.BytesIO(base64.b64decode(on_paper(still)))).convert("RGB")
    assert paper.size == (2, 1) and paper.getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("mode", ["off", "cache"])
def test_where_nothing_runs_a_figure_keeps_its_place(mode):
    """And with it its caption and its number, which are not in the text."""
    figure = new_output("display_data", data={"text/plain": "<Figure size 580x320 with 1 Axes>"})
    printed = new_output("stream", name="stdout", text="<Figure ")
    nb = new_notebook(cells=[new_code_cell("draw()", outputs=[figure, printed])])
    app = SimpleNamespace(config=SimpleNamespace(nb_execution_mode=mode))
    app.env = SimpleNamespace(doc2path=lambda name, base: f"{name}.ipynb")
    given = [nbformat.writes(nb)]
    stand_in(app, "chapters/a/one", given)
    drawn, other = nbformat.reads(given[0], as_version=4).cells[0].outputs
    assert ("image/png" in drawn.data) == (mode == "off") and other == printed
    if mode == "off":
        assert Image.open(io.BytesIO(base64.b64decode(drawn.data["image/png"]))).size == (1, 1)


def test_a_link_leads_where_the_reader_can_go():
    node = paragraph(reference("other#b", internal=True))
    assert markdown(lambda target: f"https://book.org/{target}").block(node) == "[here](https://book.org/other#b)"


@pytest.mark.parametrize(("target", "address"), [
    ("chapters/a/two#c", "two.ipynb"),
    ("chapters/b/one", "../b/one.ipynb"),
    ("chapters/b/index", "../b/one.ipynb"),
    ("#c", None),
    ("reference/notation", "../../reference/notation.ipynb"),
    ("reference/glossary#term-law", None),
    ("course/index", plain.Unknown),
])
def test_without_an_address_a_link_leads_to_a_notebook_or_its_words_say_enough(target, address):
    builder = SimpleNamespace(
        config=SimpleNamespace(html_baseurl=""),
        sections=lambda: ["chapters/a/one", "chapters/a/two", "chapters/b/one"],
        env=SimpleNamespace(toctree_includes={"chapters/b/index": ["chapters/b/one"]}),
    )
    if address is plain.Unknown:
        with pytest.raises(plain.Unknown, match="in no edition"):
            PlainNotebooks.address(builder, "chapters/a/one", target)
    else:
        assert PlainNotebooks.address(builder, "chapters/a/one", target) == address


def test_who_has_opened_a_section_is_not_told_to_open_it():
    link = reference("intro#study-alone", "how", internal=True)
    told = paragraph(
        nodes.Text("To answer, open this section in JupyterLab ("), link, nodes.Text("); each checker prints")
    )
    say_where_to_answer(told)
    assert told.astext() == "To answer, fill in the cells below and run them; each checker prints"
    with pytest.raises(plain.Unknown, match="opening"):
        say_where_to_answer(
            paragraph(nodes.Text("See "), reference("intro#study-alone", internal=True), nodes.Text("."))
        )


@pytest.mark.parametrize(("node", "word"), [
    (nodes.math_block("", "a % b"), "comment"),
    (paragraph(nodes.Text("for $50")), "dollar"),
    (nodes.admonition("", nodes.title("", "", nodes.math("", "q")), paragraph(), classes=["dropdown"]), "fold"),
    (nodes.sidebar(), "sidebar"),
    (paragraph(nodes.footnote_reference()), "footnote"),
])
def test_what_cannot_be_said_plainly_stops_the_build(node, word):
    with pytest.raises(plain.Unknown, match=word):
        markdown().block(node)


def test_words_that_are_missing_are_noticed():
    page, notebook = "abcdefghij" * 10, "abcdefghij" * 5
    assert not strange(page, page) and not strange(notebook, page)
    assert strange(notebook + "somethingelse" * 3 + notebook, page)


def test_each_edition_is_packed_with_the_wheel(tmp_path):
    for edition in ("student", "instructor"):
        (tmp_path / edition).mkdir()
        (tmp_path / edition / "a.ipynb").write_text(edition, encoding="utf-8")
    (tmp_path / "provable_privacy-1-py3-none-any.whl").write_bytes(b"wheel")
    first = [path.read_bytes() for path in editions.pack(tmp_path, tmp_path / "provable_privacy-1-py3-none-any.whl")]
    made = editions.pack(tmp_path, tmp_path / "provable_privacy-1-py3-none-any.whl")
    assert [path.read_bytes() for path in made] == first
    with zipfile.ZipFile(made[0]) as file:
        wheel = "provable_privacy-1-py3-none-any.whl"
        assert file.namelist() == ["student/a.ipynb", f"student/{wheel}", "student/README.txt"]
        assert f'"./{wheel}[sections]" jupyterlab' in file.read("student/README.txt").decode()
        assert file.read("student/a.ipynb") == b"student"


# ----------------------------------------------------------------------------------------------------- another language


class Marked(dict):
    """A catalogue that has everything."""

    def get(self, text, default=None):
        return f"译{text}"


def test_what_the_builder_says_by_itself_is_in_the_language_of_the_book(monkeypatch):
    theorem = type("theorem_node", (nodes.Element,), {})
    node = theorem("", nodes.title("", "(Law)"), nodes.section("", paragraph(nodes.Text("a"))), ids=["thm-a"])
    node["countertype"] = "theorem"
    link = reference("intro#study-alone", "how", internal=True)
    told = paragraph(nodes.Text("译To answer, open this section in JupyterLab ("), link, nodes.Text("); it prints"))
    assert markdown().block(node).startswith("> **Theorem 4.1** (Law)")
    english = first_cell("1.1.0", "").source
    monkeypatch.setattr(spoken, "words", Marked({"": ""}))
    assert markdown().block(node).startswith("> **译Theorem 4.1** (Law)")
    say_where_to_answer(told)
    assert told.astext() == "译To answer, fill in the cells below and run them; it prints"
    assert waiting() == f"译{WAITING}"
    section = new_notebook(cells=[nbformat.v4.new_markdown_cell("# 4.1 One")])
    assert alone(section, []).cells[0].source == "译# 4.1 One: solutions"
    code = first_cell("1.1.0", "").source
    compile(code, "the first cell", "exec")
    assert "speak(" not in english and code.endswith('languages.speak("zh_CN")')
    assert code.count("译") == 10 and code.startswith("# 译@title") and code.replace("译", "").startswith(english[:200])
    assert "译You need Python 3.11 or newer." in how_to_open("provable_privacy-1-py3-none-any.whl")
    assert editions.how_to_get_the_bank().startswith("# 译The question bank")


def test_code_and_outputs_of_a_translated_notebook_are_those_of_its_run(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "known", lambda page: {"a word of it": "其中一词"})
    (tmp_path / "cache").mkdir()
    shown = [
        new_output("display_data", data={"text/plain": "<Figure size 1x1>", "image/svg+xml": "<svg />"}),
        new_output("execute_result", execution_count=1, data={
            "text/plain": "Explorer(x = 1): one",
            "text/html": '<div class="explorer"><figure><svg style="x"></svg><figcaption>',
        }),
        new_output("stream", name="stdout", text="其中一词\n"),
    ]
    printed = new_output("stream", name="stdout", text="a word of it\n")
    source = new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# a word of it", id="title"),
            new_code_cell('print("a word of it")', id="one", execution_count=1, outputs=[printed]),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python"}},
    )
    nbformat.write(source, tmp_path / "a.ipynb")
    config = SimpleNamespace(
        nb_execution_cache_path=str(tmp_path / "cache"), nb_execution_mode="cache", language="en"
    )
    env = SimpleNamespace(doc2path=lambda name: tmp_path / "a.ipynb")
    builder = SimpleNamespace(config=config, env=env, app=SimpleNamespace(srcdir=tmp_path))
    assert PlainNotebooks.source(builder, "a") == nbformat.read(tmp_path / "a.ipynb", as_version=4)
    config.language = catalogue.LANGUAGE
    run = copy.deepcopy(source)
    run.cells[1].source, run.cells[1].outputs = 'print("其中一词")', shown
    bundle = CacheBundleIn(run, "a.ipynb", data={CHECKERS: Checkers(tmp_path).hash_for(run)})
    get_cache(tmp_path / "cache").cache_notebook_bundle(bundle, check_validity=False)
    own = PlainNotebooks.source(builder, "a")
    title, cell = own.cells
    assert title.source == "# 其中一词" and cell.source == 'print("其中一词")' and cell.outputs[2].text == "其中一词\n"
    assert [dict(output.data) for output in cell.outputs[:2]] == [
        {"text/plain": "<Figure size 1x1>"}, {"text/plain": "Explorer(x = 1): one"}
    ]
    figure, explorer = PlainNotebooks.stills(builder, own)["one"]
    assert figure == '<svg style="background: white" />'
    assert explorer.startswith('<svg xmlns="http://www.w3.org/2000/svg"') and explorer.endswith("</svg>")


@pytest.mark.slow
def test_a_section_becomes_a_plain_notebook_in_chinese(tmp_path):
    section = "chapters/sparse_vector/above_threshold"
    chapter = "chapters/sparse_vector/index"
    pages = [*PAGES, "reference/bibliography"]
    for name in (f"{section}.ipynb", f"{chapter}.md", *(f"{page}.md" for page in pages), "references.bib",
                 "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "intro.md").write_text("# A book\n\n(study-alone)=\n## Alone\n\nAs you like.\n", encoding="utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["execute"]["execute_notebooks"] = "off"
    config["sphinx"]["local_extensions"] = {"bookext": str(ROOT / "tools")}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    parts = [
        {"caption": "Chapters", "numbered": 2, "chapters": [{"file": chapter, "sections": [{"file": section}]}]},
        {"caption": "Reference", "chapters": [{"file": page} for page in pages]},
    ]
    toc = {"format": "jb-book", "root": "intro", "parts": parts}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    made = tmp_path / "_build/zh/notebooks"
    code = "import sys; from pathlib import Path; from bookext.translation import build; " \
        "build.run(Path(sys.argv[1]), 'notebooks', Path(sys.argv[2]))"       # it warns of pages that are not there
    done = subprocess.run([sys.executable, "-c", code, made, tmp_path], cwd=ROOT / "tools", capture_output=True,
                          text=True, check=False)
    assert (made / "student" / f"{section}.ipynb").exists(), done.stderr[-3000:]
    nb = nbformat.read(made / "student" / f"{section}.ipynb", as_version=4)
    wanted = {cell.id: cell.source for cell in nbformat.reads(chinese(section), as_version=4).cells}
    assert [cell.id for cell in codes(nb) if cell.source != wanted[cell.id]] == []
    assert any(re.search("[\u4e00-\u9fff]", cell.source) for cell in codes(nb))
    english = [text for text in texts(nb) if not re.search("[\u4e00-\u9fff]", text)]
    assert english == []


def chinese(section):
    return translation.read(section, (ROOT / f"{section}.ipynb").read_text(encoding="utf-8"))
