"""Plain notebooks: a Sphinx builder that writes every section as a notebook that reads well without any plug-in.

    jupyter-book build . --builder custom --custom-builder notebooks        (make notebooks)

Words, numbers and links are those of the page, because both come from the same resolved document; code is that of the
source. Two editions: ``student`` has no solutions and no outputs, ``instructor`` has both and the notes for teaching.
Claims are in neither. Every Explorer has its default frame as a picture in both, for programs that show saved notebooks
and run nothing; the instructor's figures are there too. The pages that sections refer to, such as the notation, come
along as notebooks without code: no link is dead. Each edition begins with ``start.ipynb``. ``solutions`` has the
solutions of each section alone.

If ``execute_notebooks`` is ``off``, nothing runs: pictures come from what the book's build has run, if it has.
"""
from __future__ import annotations

import base64
import copy
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from posixpath import relpath

import nbformat
from docutils import nodes
from nbformat.v4 import new_markdown_cell, new_notebook
from PIL import Image
from sphinx.builders import Builder

from bookext import launch, translation
from bookext.cache import Checkers, cache_folder, executed
from bookext.plain.edition import DRAWN, KERNEL, Edition, alone, page, teaching_notes
from bookext.plain.markdown import Markdown, Unknown
from bookext.translation.spoken import say, template

EDITIONS = ("student", "instructor")
PAGES = (
    "data/adult_like", "data/town",
    "reference/battery", "reference/checks", "reference/claims", "reference/glossary", "reference/notation",
)
# where a link leads there, its words say enough without it
WORDS = ("reference/bibliography", "reference/dplib", "reference/glossary", "reference/provable_privacy")
ALONE = "intro#study-alone"                      # how to open a section: whoever reads a plain notebook has done it
# part of a zip's name -> its edition
ARCHIVES = {"student": "student", "instructor": "instructor", "instructor-open": "instructor"}
STANDS_ALONE = 'xmlns="http://www.w3.org/2000/svg" width="640" font-family="DejaVu Sans, sans-serif"'
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="      # a white PNG
STAMP = (2026, 1, 1, 0, 0, 0)                    # of every file in a zip: the same book gives the same bytes


class PlainNotebooks(Builder):
    name = "notebooks"
    format = "ipynb"
    out_suffix = ".ipynb"
    supported_image_types = ["image/svg+xml", "image/png", "image/webp"]

    def init(self):
        self._works, self._plans = None, {}

    def get_outdated_docs(self):
        return self.sections()

    def sections(self):
        return sorted(
            page for page in self.env.found_docs if page.startswith("chapters/") and not page.endswith("/index")
        )

    def get_target_uri(self, docname, typ=None):
        return docname

    def get_relative_uri(self, from_, to, typ=None):
        return to

    def prepare_writing(self, docnames):
        pass

    def write_doc(self, docname, doctree):
        if docname not in self.sections():
            return
        source = self.source(docname)
        stills = self.stills(source)
        say_where_to_answer(doctree)
        for edition in EDITIONS:
            markdown = self.markdown(docname)
            here = Edition(source, markdown, self.env.titles[docname]["secnumber"], edition == "instructor", stills)
            nb = here.notebook(doctree, self.front(docname, edition), self.install(), self.works(), self.notes(docname))
            self.save(nb, edition, docname)
        self.save(alone(nb, here.solutions), "solutions", docname)

    def save(self, nb, edition, docname):
        path = Path(self.outdir, edition, f"{docname}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nbformat.writes(nb) + "\n", encoding="utf-8", newline="\n")

    def finish(self):
        """Write the pages that sections refer to, and remove what is left of sections that are gone."""
        for docname in PAGES:
            nb = page(self.env.get_and_resolve_doctree(docname, self), self.markdown(docname))
            for edition in EDITIONS:
                self.save(nb, edition, docname)
        for edition in EDITIONS:
            self.save(self.start(edition), edition, "start")
        for edition in (*EDITIONS, "solutions"):
            for path in Path(self.outdir, edition).rglob("*.ipynb"):
                name = path.relative_to(Path(self.outdir, edition)).with_suffix("").as_posix()
                if name not in (*self.sections(), *PAGES, "start"):
                    path.unlink()

    # --------------------------------------------------------------------------------------------- what a section needs

    def source(self, docname):
        """The notebook in the language of the book, with the words that its cells have printed."""
        path = Path(self.env.doc2path(docname))
        text = path.read_text(encoding="utf-8")
        if not translation.is_translated(self):
            return nbformat.reads(text, as_version=4)
        source = nbformat.reads(translation.read(docname, text), as_version=4)
        if run := run_of(self, source):
            cells = {cell.id: cell for cell in source.cells}
            for done in run.cells:               # the cache keeps cells of code
                cells[done.id].execution_count = done.execution_count
                cells[done.id].outputs = [words_of(output) for output in done.outputs]
        return source

    def stills(self, source):
        """Id of a cell -> what its Explorer or its figures look like, from the notebook as the build has run it.

        None if the notebooks are not executed, and the book's build has not done it either.
        """
        run = run_of(self, source)
        if run is None and self.config.nb_execution_mode == "off":
            return None
        found = {}
        for cell in run.cells:
            for output in cell.get("outputs", ()):
                if output.get("data", {}).get("text/plain", "").startswith(DRAWN):
                    data, own = output.data, translation.is_translated(self)
                    found.setdefault(cell.id, []).append(drawn_by_reader(data) if own else on_paper(data["image/png"]))
        return found

    def markdown(self, docname, inside=None):
        """What writes a page, or a part of it that stands in the notebook of another one."""
        return Markdown(
            self.env.toc_fignumbers.get(docname, {}), lambda target: self.address(inside or docname, target, docname)
        )

    def address(self, docname, target, written=None):
        """The page in the published book; without one, the neighbouring notebook, or None where the words say enough.

        Raises
        ------
        Unknown
            If the reader would look for something that is not there.
        """
        page, _, anchor = target.partition("#")
        page = page or written or docname
        if self.config.html_baseurl:
            return f"{self.config.html_baseurl.rstrip('/')}/{page}.html{f'#{anchor}' if anchor else ''}"
        if page == docname or page in WORDS:
            return None
        if page.startswith("chapters/") and page.endswith("/index"):
            page = self.env.toctree_includes[page][0]
        if page not in (*self.sections(), *PAGES):
            raise Unknown(
                f"{docname} refers to {page}, which is in no edition: "
                "without an address of the book these words are dead"
            )
        return f"{relpath(page, docname.rpartition('/')[0])}.ipynb"

    def front(self, docname, edition):
        page = self.address(docname, "") if self.config.html_baseurl else None
        where = say(" ([this section as a page]({page}))").format(page=page) if page else ""
        words = {
            "student": say("From *Provable Privacy*, a copy for your answers that needs no plug-in{where}. "
                           "Its first cell of code installs `dplib` and `provable_privacy` where they are missing."),
            "instructor": say("From *Provable Privacy*, a copy with solutions that needs no plug-in{where}. "
                              "Its first cell of code installs `dplib` and `provable_privacy` where they are missing."),
        }
        return words[edition].format(where=where)

    def install(self):
        """The version that a notebook needs, and where the release with its tag can be installed from, or nothing."""
        version = launch.version(Path(self.app.srcdir))
        url = self.config.html_theme_options.get("repository_url", "")
        return version, f"git+{url}@v{version}" if url else ""

    def start(self, edition):
        """The first page: the sections in their order, and what to do with them."""
        order = []
        for chapter in self.env.toctree_includes[self.config.root_doc]:
            if chapter.startswith("chapters/"):
                order.append(f"\n**{self.heading(chapter)}**\n")
                order += [f"- [{self.heading(name)}]({name}.ipynb)" for name in self.env.toctree_includes[chapter]]
        pages = [f"- [{self.env.titles[name].astext()}]({name}.ipynb)" for name in PAGES]
        version, _ = self.install()
        lead = {
            "student": say("Each section of the book is a notebook with the text of its page and empty cells for your "
                           "answers."),
            "instructor": say("Each section of the book is a notebook with the text of its page, all solutions, and a "
                              "plan for a class. The students' edition has the same exercises without solutions."),
        }
        text = template("start.md").strip().format(
            lead=lead[edition], order="\n".join(order), pages="\n".join(pages), version=version
        )
        parts = re.split(r"\n\n(?=## )", text)
        cells = [new_markdown_cell(part, id=f"text-{i}") for i, part in enumerate(parts)]
        return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})

    def heading(self, docname):
        title = self.env.titles[docname]
        return f"{'.'.join(map(str, title['secnumber']))} {title.astext()}"

    def works(self):
        if self._works is None:
            page, markdown = "reference/bibliography", self.markdown("reference/bibliography")
            self._works = {
                key: " ".join(markdown.inline(line) for line in citation.findall(nodes.paragraph))
                for citation in self.env.get_and_resolve_doctree(page, self).findall(nodes.citation)
                for key in citation["ids"]
            }
        return self._works

    def notes(self, docname):
        _, chapter, section = docname.split("/")
        plans = f"course/plans/{chapter}"
        if plans not in self.env.found_docs:
            return ""
        if plans not in self._plans:             # once for all sections of the chapter, and both editions
            self._plans[plans] = self.env.get_and_resolve_doctree(plans, self)
        return teaching_notes(self._plans[plans], section, self.markdown(plans, inside=docname))


def run_of(builder, source):
    """The notebook as the book's build has run it, or None."""
    root, cache = Path(builder.app.srcdir), Path(builder.config.nb_execution_cache_path)
    if builder.config.nb_execution_mode == "off":
        cache = cache_folder(root, root / "_build")
    return executed(cache, source, Checkers(root))


def stand_in(app, docname, source):
    """Where nothing runs, a picture for each figure: without one its caption and its number would be lost."""
    if app.config.nb_execution_mode != "off" or app.env.doc2path(docname, base=False)[-6:] != ".ipynb":
        return
    nb = json.loads(source[0])
    for cell in nb["cells"]:
        for output in cell.get("outputs", ()):
            if "".join(output.get("data", {}).get("text/plain", "")).startswith("<Figure "):
                output["data"]["image/png"] = DOT
    source[0] = json.dumps(nb)


def say_where_to_answer(doctree):
    """Who reads this has opened the section: the answers go into the cells below."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri") == ALONE:
            before, _, after = link.parent.children[:3]
            words = say("To answer, open this section in JupyterLab (")
            if not (before.astext() == words and after.astext().startswith({"(": ")", "（": "）"}[words[-1]])):
                raise Unknown(f"words about opening a section: {link.parent.astext()[:80]}")
            told = say("To answer, fill in the cells below and run them")
            link.parent[:3] = [nodes.Text(f"{told}{after.astext()[1:]}")]


def words_of(output):
    """An output as it stands in a source: without its pictures."""
    output = copy.deepcopy(output)
    if "data" in output:
        words = {kind: data for kind, data in output.data.items() if not kind.startswith("image/")}
        output.data = {kind: data for kind, data in words.items() if 'class="explorer"' not in data}
        output.metadata = {}
    return output


def on_paper(picture):
    """A PNG on white and with few colours: kernels draw on nothing, which is unreadable where the program is dark."""
    full, small = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA"), io.BytesIO()
    white = Image.new("RGBA", full.size, "white")
    Image.alpha_composite(white, full).convert("RGB").quantize(64).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


def drawn_by_reader(data):
    """An SVG on white, whose letters the reader's fonts draw: the kernel may have none for Chinese."""
    if "image/svg+xml" in data:
        return data["image/svg+xml"].replace("<svg ", '<svg style="background: white" ', 1)
    picture = data["text/html"].partition("<figure>")[2].partition("<figcaption")[0]
    return picture.replace("<svg ", f'<svg {STANDS_ALONE} ', 1).replace('style="', 'style="background: white; ', 1)


def pack(folder, wheel, papers=None, language=""):
    """Put each edition into a zip file, with the wheel of dplib that its first cells install; the instructor's twice.

    Parameters
    ----------
    folder : path
        Of the editions, as the builder leaves it; the zip files are written beside them.
    wheel : path
    papers : dict, optional
        Archive -> what else belongs into it, a dict of place and text.
    language : str, optional
        At the end of the names of the zip files.

    Returns
    -------
    list of paths
    """
    made = []
    for archive, edition in ARCHIVES.items():
        made.append(Path(folder, f"provable-privacy-{archive}{language and '-'}{language}.zip"))
        with zipfile.ZipFile(made[-1], "w", zipfile.ZIP_DEFLATED) as file:
            for path in [*sorted(Path(folder, edition).rglob("*.ipynb")), Path(wheel)]:
                place = path.relative_to(folder) if path.suffix == ".ipynb" else Path(edition, path.name)
                file.writestr(zipfile.ZipInfo(place.as_posix(), STAMP), path.read_bytes(), zipfile.ZIP_DEFLATED)
            texts = {"README.txt": how_to_open(Path(wheel).name), **(papers or {}).get(archive, {})}
            for place, text in sorted(texts.items()):
                file.writestr(zipfile.ZipInfo(f"{edition}/{place}", STAMP), text, zipfile.ZIP_DEFLATED)
    return made


def how_to_open(wheel):
    """What a person reads who has unpacked the archive and has no notebook program yet."""
    return template("README.txt").format(wheel=wheel, version=wheel.split("-")[1])


def branch(folder, wheel):
    """Lay out the branch that Binder, Colab and hubs open: the students' edition, the wheel, and what Binder installs.

    Parameters
    ----------
    folder : path
        Of the editions, as the builder leaves it; the branch is written into ``branch`` beside them.
    wheel : path

    Returns
    -------
    path
    """
    made = Path(folder, "branch")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(Path(folder, "student"), made / "student")
    shutil.copy(wheel, made)
    (made / ".binder").mkdir()
    (made / ".binder/requirements.txt").write_text(f"./{Path(wheel).name}[sections]\njupyterlab\n", encoding="utf-8")
    (made / ".binder/runtime.txt").write_text("python-3.11\n", encoding="utf-8")
    (made / "README.md").write_text(
        "The sections of *Provable Privacy* as plain notebooks, for your answers. "
        "Written by `make notebooks`; nothing here is edited by hand.\n",
        encoding="utf-8",
    )
    return made


def setup(app):
    app.add_builder(PlainNotebooks)
    app.connect("source-read", stand_in)
