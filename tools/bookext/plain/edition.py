"""The cells of one section in one edition: text from the page, code from the notebook, byte for byte."""
from __future__ import annotations

import copy

import nbformat
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookext.plain.markdown import Unknown, fold
from bookext.translation import catalogue, spoken
from bookext.translation.spoken import say, template

MODULES = "matplotlib ipywidgets threadpoolctl opendp dp_accounting riskcal duckdb"      # what it looks for


# without one, JupyterLab asks
SPEAK = f"""

from provable_privacy import languages

languages.speak("{catalogue.LANGUAGE}")
"""
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
DRAWN = ("Explorer(", "<Figure ")


class Edition:
    """One section for students, without solutions, or for instructors, with solutions and notes."""

    def __init__(self, source, markdown, secnumber, instructor, stills=None):
        """``stills``: id of a cell -> the pictures of its Explorer or its figures, for programs that run nothing; None
        if the notebooks were not executed.
        """
        self.source, self.markdown, self.secnumber, self.instructor = source, markdown, secnumber, instructor
        self.stills = stills
        self.cells, self.pending, self.level, self.solutions = [], [], 0, []

    def notebook(self, doctree, front, install, works, notes):
        """The whole notebook.

        Parameters
        ----------
        front : str
            The line under the title that says what this file is.
        install : tuple of str
            The version that is needed, and from where it can be installed; the address may be empty.
        works : dict
            Key of a citation -> its entry in the bibliography.
        notes : str
            For the instructor, on top; may be empty.
        """
        self.markdown.headings = {title.astext() for title in doctree.findall(nodes.title)}
        self.walk(doctree)
        cited = [works[key] for key in dict.fromkeys(self.markdown.cited) if key in works]
        if cited:
            self.flush()
            self.say(f"## {say('Works cited')}", "\n".join(f"- {work}" for work in sorted(cited)))
        self.flush()
        title, rest = self.cells[0], self.cells[1:]
        title.source += f"\n\n{front}"
        on_top = [new_markdown_cell(notes)] if notes and self.instructor else []
        cells = [title, *on_top, first_cell(*install), *rest]
        for i, cell in enumerate(cells):
            if cell.cell_type == "markdown":
                cell.id = f"text-{i}"
        nb = new_notebook(cells=cells, metadata=copy.deepcopy(self.source.metadata))
        nbformat.validate(nb)
        return nb

    def say(self, *texts):
        self.pending += filter(None, texts)

    def flush(self):
        if self.pending:
            self.cells.append(new_markdown_cell("\n\n".join(self.pending)))
            self.pending = []

    def walk(self, node):
        self.level += 1
        for child in node.children:
            kind = type(child).__name__
            if kind == "section":
                self.flush()
                self.walk(child)
            elif kind == "title":
                number = ".".join(map(str, self.secnumber)) + " " if self.level == 2 and self.secnumber else ""
                self.say(f"{'#' * (self.level - 1)} {number}{self.markdown.inline(child)}")
            elif kind == "exercise_enumerable_node":
                self.exercise(child)
            elif kind == "solution_node":
                self.solution(child)
            elif isinstance(child, nodes.Element) and child.get("nb_element") == "cell_code":
                self.code(child)
            else:
                try:
                    self.say(self.markdown.block(child))
                except Unknown as problem:
                    raise Unknown(f"line {child.line}: {problem}") from None
        self.level -= 1

    def code(self, node):
        """A code cell, and below it the captions of its figures."""
        self.flush()
        cell = copy.deepcopy(self.source.cells[node["cell_index"]])
        tags = cell.metadata.get("tags", [])
        cell.metadata = nbformat.from_dict({
            **({"jupyter": {"source_hidden": True}} if "hide-input" in tags else {}),
            **({"tags": ["raises-exception"]} if "raises-exception" in tags else {}),
        })
        drawn = [one for one in cell.outputs if one.get("data", {}).get("text/plain", "").startswith(DRAWN)]
        explorers = [one for one in drawn if one.data["text/plain"].startswith("Explorer(")]
        if self.stills is not None:
            for output, still in zip(drawn, self.stills.get(cell.id, ()), strict=True):
                output.data["image/svg+xml" if still.startswith("<") else "image/png"] = still
        if not self.instructor:
            cell.outputs = list(explorers)
            cell.execution_count = None
        if explorers:
            cell.outputs.append(new_output("stream", name="stdout", text=waiting()))
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
        self.cells.append(cell)
        for figure in node.findall(nodes.figure):
            for caption in figure.findall(nodes.caption):
                number = self.markdown.number("figure", figure)
                self.say(f"*{say('Figure {number}.').format(number=number)}* {self.markdown.inline(caption)}")

    def exercise(self, node):
        self.flush()
        title = self.markdown.inline(node.children[0]).strip().removeprefix("(").removesuffix(")")
        number = self.markdown.number("exercise", node)
        self.say(f"### {say('Exercise {number}: {title}').format(number=number, title=title)}")
        for child in node.children[1:]:
            self.walk(child)
        self.flush()

    def solution(self, node):
        self.flush()
        if self.instructor:
            begin = len(self.cells)
            self.say(f"#### {' '.join(node.children[0].astext().split())}")
            for child in node.children[1:]:
                self.walk(child)
            self.flush()
            self.solutions += self.cells[begin:]


def waiting():
    """Below an Explorer's picture, until the cell has run."""
    return say("Run this cell for the slider.") + "\n"


def alone(nb, solutions):
    """The solutions of a section as a notebook of their own, for who asks for them."""
    title = say("{title}: solutions").format(title=nb.cells[0].source.splitlines()[0])
    return new_notebook(cells=[new_markdown_cell(title, id="title"), *solutions], metadata=copy.deepcopy(nb.metadata))


def first_cell(version, address):
    """The cell that installs, folded in JupyterLab and in Colab; in a translated copy checkers speak its language."""
    code = template("first_cell.py").rstrip() + (SPEAK.rstrip() if spoken.words else "")
    code = code.replace('"WANTED"', f'"{version}"').replace('"ADDRESS"', f'"{address}"').replace("MODULES", MODULES)
    return new_code_cell(code, id="setup", metadata={"jupyter": {"source_hidden": True}, "cellView": "form"})


def page(doctree, markdown):
    """A page without code, to which sections refer, as a notebook: a cell for each heading."""
    here = Edition(new_notebook(), markdown, (), instructor=False)
    here.walk(doctree)
    here.flush()
    for i, cell in enumerate(here.cells):
        cell.id = f"text-{i}"
    return new_notebook(cells=here.cells, metadata={"kernelspec": KERNEL})


def teaching_notes(plans, name, markdown):
    """The plan of one section, from the plans of its chapter, folded; empty if there is none."""
    for section in plans.findall(nodes.section):
        if f"plan-{name.replace('_', '-')}" in section["ids"]:
            return fold(say("For the instructor: a class of 75 minutes"), markdown.blocks(section.children[1:]))
    return ""
