"""One execution serves a notebook's page and its test, and runs again when it may come out otherwise."""
from types import SimpleNamespace

import conftest
import notebooks
import pytest
import replay
from bookext import execution, note_the_build
from bookext.cache import CHECKERS, SOURCES, Checkers, book_key, executed, execution_key, is_built
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes
from nbval.plugin import IPyNbFile, NbCellError

FILES = {
    "provable_privacy/check/__init__.py": "from provable_privacy.check.part import *\n",
    "provable_privacy/check/part/__init__.py": "from provable_privacy.check.part.one import *\n",
    "provable_privacy/check/part/one.py": "def one_first(answer): pass\n",
    "provable_privacy/check/part/two.py": "from provable_privacy.check.part import one\ntwo_first = one.one_first\n",
    "provable_privacy/check/part/three.py": "from .two import two_first\ndef three_first(answer): pass\n",
}
CODE = {
    "one": "from provable_privacy import check\ncheck.one_first(1)",
    "two": "check.two_first(2)",
    "three": "from provable_privacy.check.part import three\nthree.three_first(3)",
    "none": "from provable_privacy import check, style",
}


@pytest.fixture
def project(tmp_path):
    """A small copy of what an execution rests on."""
    sources = [source if source.endswith(".py") else f"{source}/file.py" for source in SOURCES]
    for name, text in (dict.fromkeys(sources, "1") | FILES).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    return tmp_path


def change(project, file):
    path = project / "provable_privacy/check/part" / file
    path.write_text(path.read_text(encoding="utf-8") + "changed = True\n", encoding="utf-8")


# ------------------------------------------------------------------------------------------ what all executions rest on

@pytest.mark.parametrize("source", SOURCES)
def test_the_book_runs_again_when_its_sources_change(project, source):
    before = execution_key(project)
    assert execution_key(project) == before
    file = project / source if source.endswith(".py") else project / source / "file.py"
    file.write_text("2", encoding="utf-8")
    changed = execution_key(project)
    file.rename(file.with_name("renamed.py"))
    assert len({before, changed, execution_key(project)}) == 3


def test_the_book_runs_again_when_a_library_changes(project, monkeypatch):
    before = execution_key(project)
    monkeypatch.setattr("bookext.cache.metadata.version", lambda name: f"{name} 99")
    assert execution_key(project) != before


def test_the_book_does_not_run_again_for_prose_or_for_a_checker(project):
    before = execution_key(project)
    (project / "intro.md").write_text("prose", encoding="utf-8")
    (project / "chapters" / "section.ipynb").write_text("{}", encoding="utf-8")
    (project / "dplib" / "__pycache__").mkdir()
    (project / "dplib" / "__pycache__" / "file.cpython-311.pyc").write_bytes(b"")
    change(project, "one.py")
    assert execution_key(project) == before


# --------------------------------------------------------------------------------------- what one of them rests on, too

def hashes(project):
    return {name: Checkers(project).hash_for(new_notebook(cells=[new_code_cell(code)])) for name, code in CODE.items()}


@pytest.mark.parametrize(("file", "concerned"), [
    ("one.py", {"one", "two", "three"}), ("two.py", {"two", "three"}), ("three.py", {"three"}), ("__init__.py", set())])
def test_a_changed_checker_concerns_the_notebooks_that_call_it_or_what_imports_it(project, file, concerned):
    before = hashes(project)
    change(project, file)
    assert {name for name, now in hashes(project).items() if now != before[name]} == concerned


def test_a_notebook_whose_checkers_are_not_known_rests_on_all(project):
    assert Checkers(project).used_by("check.nobody_knows(1)") == {project / file for file in FILES}


def test_each_section_of_the_book_rests_on_its_own_checkers():
    checkers = Checkers(replay.ROOT)
    for path in sorted((replay.ROOT / "chapters").glob("*/*.ipynb")):
        code = "\n".join(cell.source for cell in replay.code_cells(notebooks.read(path)))
        used = {module.stem for module in checkers.used_by(code)}
        assert path.stem in used and len(used) <= 3, (path.stem, used)


# ----------------------------------------------------------------------------------------------------- the book's build

class Book:
    """A book of two notebooks and a page, as Sphinx sees it; `fails` are the notebooks that fail."""

    def __init__(self, project, monkeypatch):
        self.project, self.ran, self.fails = project, [], set()
        self.found_docs = {"one", "three", "words"}
        for name in ("one", "three"):
            self.write(name, CODE[name])
        (project / "words.md").write_text("# Words", encoding="utf-8")
        cache = str(project / "cache")
        config = SimpleNamespace(
            language="en", nb_execution_mode="cache", nb_execution_cache_path=cache, nb_execution_timeout=1
        )
        self.app = SimpleNamespace(srcdir=project, config=config)
        monkeypatch.setattr(execution, "single_nb_execution", self.execute)

    def write(self, name, code):
        nb = new_notebook(cells=[new_markdown_cell("# Words"), new_code_cell(code)])
        (self.project / f"{name}.ipynb").write_text(writes(nb), encoding="utf-8")

    def doc2path(self, name):
        return self.project / f"{name}.{'md' if name == 'words' else 'ipynb'}"

    def execute(self, nb, **options):
        name = next(name for name, code in CODE.items() if nb.cells[1].source.startswith(code))
        self.ran.append(name)
        return SimpleNamespace(err=name in self.fails, time=1)

    def build(self, added=()):
        """The pages that are read again, and the notebooks that run."""
        self.ran.clear()
        outdated = execution.outdated(self.app, self, set(added), set(), set())
        execution.side_by_side(self.app, self, [*added, *outdated])
        return sorted(outdated), sorted(self.ran)


@pytest.fixture
def book(project, monkeypatch):
    return Book(project, monkeypatch)


def test_a_changed_checker_runs_its_notebook_again_and_no_other(book):
    assert book.build(added=book.found_docs) == ([], ["one", "three"])
    assert book.build() == ([], [])
    change(book.project, "three.py")
    assert book.build() == (["three"], ["three"])
    book.write("one", CODE["one"] + "\n")
    assert book.build() == (["one"], ["one"])


def test_a_notebook_that_fails_does_not_show_what_it_said_before(book):
    book.build(added=book.found_docs)
    change(book.project, "three.py")
    book.fails = {"three"}
    assert book.build() == book.build() == (["three"], ["three"])
    with pytest.raises(KeyError):
        get_cache(book.project / "cache").match_cache_notebook(notebooks.read(book.doc2path("three")))


def built(project, warnings=0, exception=None):
    """Whether the pages count as built, after a build that began with the sources as they were."""
    (project / "_build/html").mkdir(parents=True, exist_ok=True)
    app = SimpleNamespace(outdir=project / "_build/html", book_key=book_key(project), _warncount=warnings)
    note_the_build(app, exception)
    return is_built(project, "html")


@pytest.mark.parametrize("what", [
    "chapters/section.ipynb", "_config.yml", "dplib/file.py", "provable_privacy/check/part/one.py"])
def test_nothing_is_built_again_until_a_source_changes(project, what):
    assert not is_built(project, "html")
    assert built(project)
    (project / what).write_text("changed", encoding="utf-8")
    assert not is_built(project, "html")


def test_all_is_built_again_when_a_library_changes(project, monkeypatch):
    assert built(project)
    monkeypatch.setattr("bookext.cache.metadata.version", lambda name: f"{name} 99")
    assert not is_built(project, "html")


def test_a_build_with_a_warning_or_an_error_does_not_count(project):
    assert built(project) and not built(project, warnings=1)
    assert built(project) and not built(project, exception=ValueError())
    assert built(project) and not is_built(project, "notebooks")
    (project / "_build/html").rmdir()
    assert not is_built(project, "html")


# ------------------------------------------------------------------------------- notebooks compared with its executions

@pytest.fixture
def notebook(project, request, monkeypatch):
    """A notebook as committed, of which the book's build has the execution: a word, a figure and an explorer."""
    told = [new_output("stream", name="stdout", text="one\n"),
            new_output("display_data", data={"text/plain": "<Figure>", "image/svg+xml": "<svg/>"}),
            new_output("execute_result", data={"text/plain": "Explorer(a)", "text/html": "<div/>"}, execution_count=1)]
    run = new_notebook(cells=[new_code_cell(CODE["one"], outputs=told, execution_count=1)])
    checkers = Checkers(project)
    bundle = CacheBundleIn(run, "one", data={CHECKERS: checkers.hash_for(run)})
    get_cache(project / "cache").cache_notebook_bundle(bundle)
    monkeypatch.setattr(replay, "build", lambda: (project / "cache", Checkers(project)))
    monkeypatch.setattr(request.config.option, "live", False)
    for output in told[1:]:
        output.data = {"text/plain": output.data["text/plain"]}
    path = project / "one.ipynb"
    path.write_text(writes(run), encoding="utf-8")
    return path


def cells(path, request, monkeypatch):
    """Its cells, set up, and how often a kernel was started for them."""
    kernels = []
    monkeypatch.setattr(IPyNbFile, "setup", lambda self: kernels.append(self))
    file = replay.Notebook.from_parent(request.session, path=path)
    found = list(file.collect())
    file.setup()
    return found, len(kernels)


def test_a_notebook_is_compared_with_the_books_execution(notebook, request, monkeypatch):
    (cell,), kernels = cells(notebook, request, monkeypatch)
    cell.runtest()
    assert kernels == 0 and ("notebook", "compared") in cell.user_properties


@pytest.mark.parametrize(("right", "wrong"), [
    (r"one\n", r"two\n"), ("Explorer(a)", "Explorer(b)"), ("<Figure>", "<Figures>")])
def test_a_changed_output_is_noticed(notebook, request, monkeypatch, right, wrong):
    text = notebook.read_text(encoding="utf-8")
    assert right in text
    notebook.write_text(text.replace(right, wrong), encoding="utf-8")
    (cell,), kernels = cells(notebook, request, monkeypatch)
    with pytest.raises(NbCellError, match="differ from the book's execution"):
        cell.runtest()
    assert kernels == 0


@pytest.mark.parametrize("what", ["a changed cell", "a changed checker", "no cache", "--live"])
def test_a_notebook_runs_where_the_book_has_not_executed_it_as_it_is(notebook, request, monkeypatch, what):
    if what == "a changed cell":
        text = notebook.read_text(encoding="utf-8")
        notebook.write_text(text.replace("one_first(1)", "one_first(2)"), encoding="utf-8")
    elif what == "a changed checker":
        change(notebook.parent, "one.py")
    elif what == "no cache":
        monkeypatch.setattr(replay, "build", lambda: (notebook.parent / "gone", Checkers(notebook.parent)))
    else:
        monkeypatch.setattr(request.config.option, "live", True)
    assert cells(notebook, request, monkeypatch)[1] == 1 and not (notebook.parent / "gone").exists()


@pytest.mark.parametrize(("named", "live"), [
    (["tests"], False), (["tests", "chapters/a/b.ipynb"], True), (["chapters/a/b.ipynb::Cell 3"], True), ([], False)])
def test_a_notebook_that_is_named_runs(named, live):
    sources = pytest.Config.ArgsSource
    config = SimpleNamespace(
        option=SimpleNamespace(live=False, record_costs=False), pluginmanager=SimpleNamespace(register=bool),
        ArgsSource=sources, args_source=sources.ARGS if named else sources.TESTPATHS,
        args=named or ["tests", "intro.ipynb"])
    conftest.pytest_configure(config)
    assert config.option.live == live


@pytest.mark.parametrize(("ways", "live", "said"), [
    (["compared", "compared"], False, "notebooks: 2 compared with the book's execution, 0 run"),
    (["compared", "run"], False, "1 run (make book has not executed them as they are now: b1.ipynb)"),
    (["run", "run"], True, "notebooks: 0 compared with the book's execution, 2 run"),
])
def test_the_terminal_says_how_notebooks_were_tested(ways, live, said):
    reports = [SimpleNamespace(when="call", nodeid=f"b{number}.ipynb::Cell {cell}", user_properties=[("notebook", way)])
               for number, way in enumerate(ways) for cell in range(2)]
    lines = []
    replay.pytest_terminal_summary(SimpleNamespace(
        stats={"passed": reports}, write_line=lines.append, config=SimpleNamespace(option=SimpleNamespace(live=live))))
    assert len(lines) == 1 and lines[0].endswith(said)


def test_nothing_is_made_where_no_book_was_built(tmp_path):
    assert executed(tmp_path / "cache", new_notebook(), None) is None and list(tmp_path.iterdir()) == []
