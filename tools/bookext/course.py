"""The teaching kit's links: code cells have addresses, and what a plan names opens large.

* Every code cell that a page shows has an anchor and a label, section/cell:
  ``{ref}`the slider <linkage/explorer-picker>` ``.
* A link in the table of a plan starts the present mode of the section's page there:
  ``linkage.html?present#cell-explorer-picker``.
* The directive ``book-size`` is a table of the chapters: sections, exercises, and their time, as the sections state
  them.
"""
from __future__ import annotations

from pathlib import Path, PurePosixPath

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from bookext import way

PLANS = "course/plans/"


def name_cells(app, doctree):
    """Give the code cells of a section their anchors, and tell Sphinx their labels."""
    docname = app.env.docname
    if not docname.startswith("chapters/") or PurePosixPath(docname).name == "index":
        return
    cells = nbformat.read(Path(app.env.doc2path(docname)), as_version=4).cells
    labels = app.env.get_domain("std").anonlabels
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            cell = cells[node["cell_index"]].id
            node["ids"].append(f"cell-{cell}")
            labels[f"{PurePosixPath(docname).name}/{cell}"] = docname, f"cell-{cell}"


def present(app, doctree, docname):
    """In the tables of the plans, let links into sections start the present mode there."""
    if app.builder.format != "html" or not docname.startswith(PLANS):
        return
    for table in doctree.findall(nodes.table):
        for reference in table.findall(nodes.reference):
            page, _, anchor = reference.get("refuri", "").partition("#")
            if anchor and "chapters/" in page:
                reference["refuri"] = f"{page}?present#{anchor}"


class BookSize(SphinxDirective):
    """The chapters, their sections and exercises, and the hours that both take."""

    def run(self):
        rows = []
        for chapter in self.config.book_chapters:
            sections = sorted((Path(self.env.srcdir) / "chapters" / chapter).glob("*.ipynb"))
            for section in sections:
                self.env.note_dependency(str(section))
            facts = [way.facts(section, section.stat().st_mtime) for section in sections]
            rows.append((f"{{doc}}`/chapters/{chapter}/index`", len(sections), *map(sum, zip(*facts))))
        rows.append(("together", *(sum(row[column] for row in rows) for column in range(1, 5))))
        lines = ["| chapter | sections | reading | tasks | time |", "|---|---:|---:|---:|---:|",
                 *(f"| {title} | {count} | {way.hours(read)} | {exercises} | {way.hours(practise)} |"
                   for title, count, read, practise, exercises in rows)]
        container = nodes.Element()
        self.state.nested_parse(StringList(lines, self.get_source_info()[0]), 0, container)
        return container.children


def setup(app):
    app.add_directive("book-size", BookSize)
    app.connect("doctree-read", name_cells)
    app.connect("doctree-resolved", present)
