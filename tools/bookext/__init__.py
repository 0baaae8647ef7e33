"""The book's own Sphinx extension: what the theme and its friends do not do by themselves.

* mathematics is set by the MathJax of an installed wheel, in the build where node is there, else in the browser;
  no page asks another host;
* notebooks run side by side, with figures as SVG and with every Explorer as a static page;
* they run again when dplib, the data or their checkers change;
* the first page has a map of the sections, drawn from their heads, and a section says where it stands;
* chapters carry the numbers of the book's plan, whether or not the chapters before them are written yet;
* a warning fails every build until it is gone, not only the first one, and pages go with the files they came from;
* every section is also written as a notebook that needs no plug-in, and buttons open it elsewhere once the book has
  an address;
* every page can be presented, one thing at a time; every code cell has an address, and the plans of the teaching kit
  open what they name;
* pages load no script, style sheet or font that they do not use, and are set in a book's face;
* exercises that ask for numbers, words and choices are answered on the page, and a reader sees what is done;
* printed columns are tables, long rows are cards on a phone, and claims have filters;
* words of the glossary say what they mean where they stand, and a search leads to places and shows their words;
* in its Chinese edition the same sources are read with their translations, and pages keep their addresses;
* every page says its licence, and works where a server allows no script and no style inside pages;
* small repairs of the theme, here and in ``static/book``.
"""
from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from importlib import metadata
from pathlib import Path

from docutils import nodes
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles as TocTreeCollector

from bookext import (
    answers,
    course,
    execution,
    glossary,
    launch,
    light,
    outputs,
    plain,
    public,
    quick,
    search,
    sectionmap,
    tables,
    translation,
    way,
)
from bookext.cache import book_key, cache_folder, note_of

HERE = Path(__file__).parent
FONTS = "output/chtml/fonts/woff-v2"


def configure(app, config):
    root, build = Path(app.srcdir), Path(app.outdir).parent
    # the sources as they are now, whatever changes during the build
    app.book_key = book_key(root, "zh" if translation.is_translated(app) else "html")
    config.html_context = {"default_mode": "auto", **config.html_context}       # the theme logs an error without it
    config.html_static_path = [*config.html_static_path, str(HERE / "static"), str(mathjax(build / "assets"))]
    config.mathjax_path = "mathjax/tex-chtml.js"
    config.templates_path = [*config.templates_path, str(HERE / "templates")]

    prepare_kernels(build, config.language)

    # jupyter-cache looks at the code cells alone, and would keep the results of an older dplib
    cache = cache_folder(root, build)
    for stale in set(build.glob(".jupyter_cache*")) - {cache}:
        shutil.rmtree(stale)
    config.nb_execution_cache_path = str(cache)

    # read every page again when the extension itself has changed
    config.bookext_digest = hashlib.sha256(
        b"".join(p.read_bytes() for p in sorted(HERE.rglob("*.*")) if p.suffix != ".pyc")
    ).hexdigest()


def mathjax(folder: Path) -> Path:
    """Copy the two parts of MathJax that the book uses, 1.5 MB of 24, out of the installed wheel."""
    wheel = Path(metadata.distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax"))
    if not (folder / "mathjax").exists():
        shutil.copytree(wheel / FONTS, folder / "mathjax" / FONTS)
        shutil.copy(wheel / "tex-chtml.js", folder / "mathjax")
    return folder


def prepare_kernels(build: Path, language: str):
    """What the kernels inherit: SVG figures and static explorers belong to the book, not to the notebooks."""
    profile = kernel_profile(build / "ipython")
    os.environ["IPYTHONDIR"] = str(profile)
    os.environ["DPLIB_STATIC"] = "1"
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # a section's small matrices gain nothing from more
    if language == translation.catalogue.LANGUAGE:
        translation.leave_letters_to_readers(profile)


def kernel_profile(folder: Path) -> Path:
    """An IPython directory of the build's own, because kernels write into theirs."""
    (folder / "profile_default").mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "ipython_kernel_config.py", folder / "profile_default")
    return folder


def number_chapters(assign_section_numbers):
    """Let Sphinx walk the chapters that exist, then number them by the plan.

    4 is the index of the fourth chapter, 4.1 its first section.
    """

    def assign(self, env):
        before, sections = env.toc_secnumbers, Counter()
        assign_section_numbers(self, env)
        for docname, anchors in env.toc_secnumbers.items():
            _, folder, page = docname.split("/")
            number = (1 + env.config.book_chapters.index(folder),)
            if page != "index":
                sections[folder] += 1
                number += (sections[folder],)
            env.toc_secnumbers[docname] = {anchor: () if anchor else number for anchor in anchors}
            env.titles[docname]["secnumber"] = list(number)
            for reference in env.tocs[docname].findall(nodes.reference):
                reference["secnumber"] = None if reference["anchorname"] else list(number)
        return [docname for docname, numbers in env.toc_secnumbers.items() if numbers != before.get(docname)]
    return assign


def forget_when_warned(app, exception):
    """Sphinx reads a page once and warns once; without its memory, the next build warns again."""
    if exception or app._warncount:
        Path(app.doctreedir, "environment.pickle").unlink(missing_ok=True)


def note_the_build(app, exception):
    """Say from which sources this was made, if nothing went wrong: the tests then need no second build."""
    note = note_of(Path(app.outdir))
    if exception or app._warncount:
        note.unlink(missing_ok=True)
    else:
        note.write_text(app.book_key, encoding="utf-8")


def remove_old_pages(app, exception):
    """Sphinx leaves the pages of files that were renamed or removed; the copies of their sources tell which."""
    if exception:
        return
    site = Path(app.outdir)
    for source in [path for path in (site / "_sources").rglob("*") if path.is_file()]:
        page = source.relative_to(site / "_sources").with_suffix("")
        if page.as_posix() not in app.env.found_docs:
            source.unlink()
            (site / page.with_suffix(".html")).unlink(missing_ok=True)


def drop_thebe(app, pagename, templatename, context, doctree):
    """For a button that the book does not have, sphinx-thebe causes an error in the console on every page."""
    context["script_files"] = [script for script in context.get("script_files", []) if not is_thebe(script)]


def is_thebe(script) -> bool:
    return "THEBE" in (script.attributes.get("body") or "") or str(script.filename or "").endswith("sphinx-thebe.js")


def setup(app):
    app.add_config_value("book_chapters", [], "env", list)
    app.add_config_value("bookext_digest", "", "env", str)
    app.connect("config-inited", configure, priority=100)
    app.connect("env-get-outdated", execution.outdated)
    app.connect("env-before-read-docs", execution.side_by_side)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", forget_when_warned)
    app.connect("build-finished", remove_old_pages)
    app.connect("build-finished", note_the_build, priority=1000)        # after all that may warn
    translation.setup(app)
    quick.setup(app)
    launch.setup(app)
    light.setup(app)
    sectionmap.setup(app)
    plain.setup(app)
    way.setup(app)
    course.setup(app)
    outputs.setup(app)
    tables.setup(app)
    search.setup(app)
    glossary.setup(app)
    answers.setup(app)
    public.setup(app)
    app.add_css_file("book/book.css", priority=900)
    app.add_css_file("book/present.css", priority=901)
    app.add_js_file("book/say.js")
    app.add_js_file("book/book.js")
    app.add_js_file("book/explorer.js")
    app.add_js_file("book/present.js")
    TocTreeCollector.assign_section_numbers = number_chapters(TocTreeCollector.assign_section_numbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
