"""What every section keeps to.

A rule is a function that takes a section and yields what is wrong with it. Every rule is tried on every section, and
for every rule there is a broken section, made here, that it must refuse: a rule that refuses nothing would prove
nothing.
"""
import ast
import json
import re
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path

import nbformat
import notebooks
import pytest
import reading_time
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "chapters").rglob("*.ipynb"))
PAGES = sorted([*(ROOT / "chapters").rglob("*.md"), *(ROOT / "reference").rglob("*.md"), *(ROOT / "data").glob("*.md")])
CITATION_KEYS = set(
    re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
)
OBJECTIVES = "**After this section you can**"
HOW_TO_ANSWER = ("To answer, open this section in JupyterLab ({ref}`how <study-alone>`); "
                 "each checker prints ○ (not attempted), ✓, or ✗ with a reason.")
CLAIMS = "Claims you will meet"
HEADINGS = ["What goes wrong", "In practice", "Check yourself", "Exercises", "Lessons"]
LONGEST_CELL = 25
FEWEST_CLAIMS = 8
FEWEST_EXERCISES = 4
FEWEST_QUESTIONS = 3


# ------------------------------------------------------------------------------------------------ how a section is read


class Exercise:
    """An exercise, from its first gate to the last gate of its solution."""

    def __init__(self, title, options):
        self.title, self.label = title, options.get("label")
        self.cells, self.solution, self.solution_options = [], [], None

    @property
    def prose(self):
        return "\n\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")

    @property
    def is_coding(self):
        return any(cell.cell_type == "code" for cell in self.cells)


class Section:
    def __init__(self, text):
        self.text = text
        self.nb = nbformat.reads(text, as_version=4)
        self.code = [cell for cell in self.nb.cells if cell.cell_type == "code"]
        self.prose = "\n\n".join(cell.source for cell in self.nb.cells if cell.cell_type == "markdown")

    @cached_property
    def trees(self):
        """The syntax trees of the code cells that are plain Python."""
        return {cell.id: ast.parse(cell.source) for cell in self.code if is_python(cell.source)}

    def nodes(self, *kinds):
        return [(name, node) for name, tree in self.trees.items() for node in ast.walk(tree) if isinstance(node, kinds)]

    @cached_property
    def exercises(self):
        found, here = [], None
        for cell in self.nb.cells:
            start = re.match(r"`{3,}\{(exercise|solution)-start\} *(.*)", cell.source)
            if start and start[1] == "exercise":
                found.append(Exercise(start[2], options_of(cell.source)))
                here = found[-1].cells
            elif start:
                exercise = next((one for one in found if one.label == start[2]), Exercise("", {}))
                exercise.solution_options, here = options_of(cell.source), exercise.solution
            if here is not None:
                here.append(cell)
            if re.search(r"^`{3,}\{(exercise|solution)-end\}", cell.source, re.MULTILINE):
                here = None
        return found

    def under(self, heading):
        """The prose below a heading, up to the next one of its level."""
        found = re.search(rf"^## {re.escape(heading)}\b.*?(?=^## |\Z)", self.prose, re.MULTILINE | re.DOTALL)
        return found.group() if found else None


def is_python(source):
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def options_of(directive):
    return dict(re.findall(r"^:([\w-]+): *(.*)$", directive, re.MULTILINE))


def is_folded(options):
    return "dropdown" in options.get("class", "").split()


def directives(prose, name):
    """(title, options and body) of every colon- or backtick-fenced directive of this name, not nested in its like."""
    return re.findall(
        rf"^(?::{{3,}}|`{{3,}})\{{{name}\}} *(.*)\n((?:.*\n)*?)(?::{{3,}}|`{{3,}})$", prose + "\n", re.MULTILINE
    )


# ------------------------------------------------------------------------------------------------------------ the rules

RULES = {}


def rule(function):
    RULES[function.__name__] = function
    return function


@rule
def is_executed_and_in_normal_form(section):
    yield from notebooks.complaints(section.text)


@rule
def is_plain_python(section):
    yield from (
        f"{cell.id}: not plain Python; magics do not run everywhere"
        for cell in section.code
        if not is_python(cell.source)
    )


@rule
def keeps_cells_short(section):
    for cell in section.code:
        lines = cell.source.removeprefix(f"{notebooks.SOLUTION}\n").count("\n") + 1
        if lines > LONGEST_CELL:
            yield f"{cell.id}: {lines} lines"


@rule
def imports_first_and_little(section):
    first = section.code[0] if section.code else None
    imports = first and [line for line in first.source.splitlines() if re.match(r"import |from ", line)]
    if not imports:
        yield "the first code cell imports nothing"
    elif len(imports) > 4:
        yield f"{first.id}: {len(imports)} lines of imports"


@rule
def imports_by_name(section):
    yield from (
        f"{name}: star import"
        for name, node in section.nodes(ast.ImportFrom)
        if any(alias.name == "*" for alias in node.names)
    )


@rule
def draws_from_a_generator(section):
    for name, node in section.nodes(ast.Attribute):
        if ast.unparse(node.value) in ("np.random", "numpy.random") and node.attr not in ("default_rng", "Generator"):
            yield f"{name}: np.random.{node.attr}"
    for name, node in section.nodes(ast.Import, ast.ImportFrom):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        yield from (f"{name}: imports {module}" for module in modules if module in ("random", "numpy.random"))


@rule
def uses_no_widget_but_the_explorer(section):
    for name, node in section.nodes(ast.Import, ast.ImportFrom):
        if "ipywidgets" in ast.unparse(node):
            yield f"{name}: {ast.unparse(node)}"
    for name, node in section.nodes(ast.Name):
        if node.id in ("interact", "interactive", "interactive_output", "Output"):
            yield f"{name}: {node.id}"


@rule
def reads_data_through_dplib(section):
    for name, node in section.nodes(ast.Attribute, ast.Name):
        said = ast.unparse(node)
        reads = r"\.(read_(csv|table|json|parquet|pickle)|loadtxt|genfromtxt)$"
        if said in ("sys.path", "open", "os.chdir") or re.search(reads, said):
            yield f"{name}: {said}"


@rule
def rounds_what_it_shows(section):
    for cell in section.code:
        for output in cell.outputs:
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            bare = r"-?\d*\.\d+(e.\d+)?$|(np\.)?(float64|array)\("
            if output.output_type == "execute_result" and re.match(bare, shown):
                yield f"{cell.id}: ends on a bare number or array: {shown[:40]}"
            if re.search(r"\d\.\d{7}", shown):
                yield f"{cell.id}: shows more than six decimals"


@rule
def rounds_bounds_outward(section):
    """Odds "at most 1.28 to 1" are not at most e^0.25 = 1.284, nor is a loss of 1.378 "at least 1.38"."""
    rounded = re.compile(r"\{(np|math)\.exp\([^{}]*:[^{}]*\}")
    for cell in section.code:
        said = re.sub(r'"\s*\n\s*f?"', "", cell.source)                  # a sentence on several lines
        for found in rounded.finditer(said):
            if "at most" in said[max(0, found.start() - 60):found.end() + 40]:
                yield f"{cell.id}: {found[0]} is said to be at most, and may be rounded down: style.at_most"
        for found in re.finditer(r"at least (\{[^{}]*:\.[1-9]f\})", said):
            yield f"{cell.id}: {found[1]} is said to be at least, and may be rounded up: style.at_least"


@rule
def describes_every_figure(section):
    for cell in section.code:
        figures = [
            output for output in cell.outputs if str(output.get("data", {}).get("text/plain", "")).startswith("<Figure")
        ]
        mystnb = cell.metadata.get("mystnb", {})
        described = {**mystnb.get("image", {}), **mystnb.get("figure", {})}
        if len(figures) > 1:
            yield f"{cell.id}: {len(figures)} figures would share one description"
        yield from (f"{cell.id}: a figure without {what} in metadata.mystnb" for what in ("alt", "caption", "name")
                    if figures and not described.get(what))


@rule
def makes_claims_that_can_fail(section):
    claims = 0
    for cell in section.code:
        hidden, claim = "remove-cell" in cell.metadata.get("tags", []), cell.source.startswith("# claim: ")
        if hidden != claim:
            yield f"{cell.id}: a claim cell has the tag remove-cell and begins with `# claim: `, and no other cell does"
        if claim:
            claims += 1
            if not any(isinstance(node, ast.Assert) for name, node in section.nodes(ast.Assert) if name == cell.id):
                yield f"{cell.id}: a claim that asserts nothing"
    if claims < FEWEST_CLAIMS:
        yield f"{claims} claim cells, at least {FEWEST_CLAIMS}"


@rule
def sets_complete_exercises(section):
    if len(section.exercises) < FEWEST_EXERCISES:
        yield f"{len(section.exercises)} exercises, at least {FEWEST_EXERCISES}"
    for exercise in section.exercises:
        name = exercise.label or exercise.title
        if not re.fullmatch(r"ex-[a-z0-9-]+", exercise.label or ""):
            yield f"{name}: no label such as ex-noise-scale"
        if not re.match(r"★{1,3}(?!★)", exercise.title):
            yield f"{name}: the title does not begin with one to three stars"
        asides = directives(exercise.prose, "hint") + directives(exercise.prose, "admonition")
        if not any(is_folded(options_of(body)) and title in ("", "Hint") for title, body in asides):
            yield f"{name}: no folded hint"
        if exercise.is_coding and not any(
            "check." in cell.source for cell in exercise.cells if cell.cell_type == "code"
        ):
            yield f"{name}: no checker"


@rule
def solves_every_exercise(section):
    for exercise in section.exercises:
        if exercise.solution_options is None:
            yield f"{exercise.label}: no solution"
            continue
        if not is_folded(exercise.solution_options):
            yield f"{exercise.label}: the solution is not folded"
        code = [cell for cell in exercise.solution if cell.cell_type == "code"]
        yield from (
            f"{cell.id}: open in Jupyter, needs jupyter.source_hidden and outputs_hidden"
            for cell in code
            if not {"source_hidden", "outputs_hidden"}
            <= {key for key, on in cell.metadata.get("jupyter", {}).items() if on}
        )
        if exercise.is_coding and not any(
            "check." in cell.source and "✓" in json.dumps(cell.outputs, ensure_ascii=False) for cell in code
        ):
            yield f"{exercise.label}: no solution that its checker accepts"


@rule
def keeps_solutions_closed(section):
    """JupyterLab folds a solution's first cell and its code; what follows folds itself; the question stays open."""
    for exercise in section.exercises:
        yield from (f"{cell.id}: the exercise itself is folded as a solution" for cell in exercise.cells
                    if cell.cell_type == "code" and cell.source.startswith(notebooks.SOLUTION))
        kinds = [cell.cell_type for cell in exercise.solution]
        after = exercise.solution[kinds.index("code"):] if "code" in kinds else []
        for cell in after:
            text = reading_time.without_folds(cell.source) if cell.cell_type == "markdown" else ""
            text = re.sub(r"^(:{3,}|`{3,}).*$|^:[\w-]+:.*$", "", text, flags=re.MULTILINE).strip()
            if text:
                yield f"{cell.id}: open in JupyterLab before the solution is: {text[:60]}"


@rule
def tells_how_to_answer(section):
    if HOW_TO_ANSWER not in (section.under("Exercises") or ""):
        yield f"Exercises do not begin with: {HOW_TO_ANSWER}"


@rule
def states_a_true_reading_time(section):
    stated, (counted, _) = reading_time.stated(section.nb.cells), reading_time.count(section.nb.cells)
    if not stated:
        yield "no line `Reading time: about N minutes; exercises: about M minutes.`"
    elif abs(counted.minutes - stated[0]) > max(stated[0] / 3, 2.5):
        yield f"says {stated[0]} minutes, and counts {counted.minutes:.0f}"


@rule
def leaves_proofs_to_people(section):
    for exercise in section.exercises:
        if not exercise.is_coding and "A person reads" not in exercise.prose:
            yield f"{exercise.label}: has no checker, and does not say that a person reads it"


@rule
def claims_with_luck_of_its_own(section):
    """A claim that draws from the reader's generator would change what the next cell of the reader prints."""
    for cell in section.code:
        if cell.source.startswith("# claim: "):
            uses = {
                type(node.ctx).__name__
                for name, node in section.nodes(ast.Name)
                if name == cell.id and node.id == "rng"
            }
            if "Load" in uses and "Store" not in uses:
                yield f"{cell.id}: draws from the reader's generator"


@rule
def quotes_strangers_once(section):
    """What is said elsewhere stands in one box, or has a name: nobody reads the wrong version first."""
    box = section.under(CLAIMS) or ""
    for line in section.prose.replace(box, "").splitlines():
        if re.search(
            r"\b([Aa]|[Oo]ne|[Aa]nother|[Ss]ome) (web ?page|website|blog|online text|source (says|calls|has))"
            r"|[Yy]ou can read that",
            line,
        ):
            yield f"says who says so only in words: {line[:80]}"
    if box and not re.search(rf"^## {CLAIMS}\b(?:(?!^## ).)*^## Lessons", section.prose, re.MULTILINE | re.DOTALL):
        yield f"`## {CLAIMS}` does not stand directly before `## Lessons`"


@rule
def keeps_exercises_on_the_main_path(section):
    """What goes deeper can be skipped without loss for the exercises of one and two stars."""
    deeper = "\n".join(
        source for part, kind, source in reading_time.parts(section.nb.cells) if part == "deeper" and kind == "markdown"
    )
    labels = set(re.findall(r"^(?::label: *|\((?=\S+\)=$))([\w-]+)", deeper, re.MULTILINE))
    for exercise in section.exercises:
        needed = labels & set(re.findall(r"\{(?:prf:ref|ref|numref)\}`(?:[^`<]*<)?([\w-]+)>?`", exercise.prose))
        if needed and "★★★" not in exercise.title:
            yield f"{exercise.label}: needs {', '.join(sorted(needed))}, which goes deeper"


@rule
def practises_every_objective(section):
    listed = re.search(rf"^{re.escape(OBJECTIVES)}\n\n((?:[-*] .*\n?|  .*\n?)+)", section.prose, re.MULTILINE)
    if not listed:
        yield f"no list under a line {OBJECTIVES}"
        return
    labels = {exercise.label for exercise in section.exercises}
    for objective in re.split(r"^[-*] ", listed.group(1), flags=re.MULTILINE)[1:]:
        named = set(re.findall(r"`(ex-[a-z0-9-]+)`", objective))
        if not named or not named <= labels:
            yield f"objective without an exercise of this section: {objective.strip()}"


@rule
def proves_its_theorems(section):
    if "{prf:proof}" in section.prose:
        yield "{prf:proof} loses its title: use an {admonition} of class dropdown"
    proofs = [
        (title, options_of(body))
        for title, body in directives(section.prose, "admonition")
        if title.startswith("Proof")
    ]
    yield from (f"{title}: the proof is not folded" for title, options in proofs if not is_folded(options))
    proved = " ".join(title for title, _ in proofs)
    for kind in ("theorem", "lemma", "proposition", "corollary"):
        for title, body in directives(section.prose, f"prf:{kind}"):
            label = options_of(body).get("label")
            if f"{{prf:ref}}`{label}`" not in proved and "{cite" not in body:
                yield f"{label or title}: neither proved here nor cited"


@rule
def links_pages_by_their_files(section):
    """Such a link leads somewhere in JupyterLab too."""
    yield from (
        f"{{doc}}`{target}`: write [words](the/file.ipynb)" for target in re.findall(r"\{doc\}`([^`]*)`", section.prose)
    )


@rule
def writes_one_sentence_per_line(section):
    yield from crowded_lines(section.prose)


@rule
def keeps_fractions_in_a_line_low(section):
    yield from tall_formulas(section.prose)


@rule
def cites_what_exists(section):
    yield from unknown_citations(section.prose)


@rule
def has_all_its_parts(section):
    yield from (f"no heading `## {heading}`" for heading in HEADINGS if section.under(heading) is None)
    if not any(isinstance(node.func, ast.Name) and node.func.id == "Explorer" for _, node in section.nodes(ast.Call)):
        yield "no Explorer"
    questions = directives(section.under("Check yourself") or "", "admonition")
    folded = sum(is_folded(options_of(body)) for _, body in questions)
    if folded < FEWEST_QUESTIONS:
        yield f"{folded} folded questions under Check yourself, at least {FEWEST_QUESTIONS}"
    if not re.search(r"^\*\*Next\.\*\* .*\]\(\S+\.(?:ipynb|md)\)", section.prose, re.MULTILINE):
        yield "nothing says what comes next"


# ------------------------------------------------------------------------------------------------------ words and links

GLOSSARY = re.findall(
    r"^(\S.* \(.+\))$", (ROOT / "reference" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
)
EVERYDAY = {                                     # words that mostly mean what they mean everywhere
    "alarm", "alone", "class", "consistency", "error of type I, of type II", "filter", "generalisation", "horizon",
    "invariant", "mechanism", "membership", "projection", "replace", "threshold", "tracing", "workload",
}
NOT_PROSE = re.compile(
    # fences, formulas, headings, options
    r"^(`{3,})(?!\{prf).*?^\1`*$|^\$\$.*?\$\$|^\s*(?:#|:{3,}|`{3,})[^\n]*$|^:[\w-]+:[^\n]*$|^\([\w-]+\)=$"
    r"|\{term\}`[^`]*`|(?<!\\)\$[^$\n]+\$|\{(?!term\})[\w:]+\}`[^`]*`|(?<!\})`[^`\n]*`|!?\[[^\]\n]*\]\([^)\n]*\)",
    re.MULTILINE | re.DOTALL,
)


def forms(entry):
    """How a glossary entry is written in a sentence."""
    english = entry.rsplit(" (", 1)[0]
    for name in re.split(r", (?=[A-Z]{2}|zCDP)", english):
        stem = name.removesuffix("s") if name.endswith("neighbours") else name
        yield re.compile(rf"(?<![\w-]){re.escape(stem)}s?(?![\w-])", re.IGNORECASE)


def unlinked_terms(cells):
    """(entry, place in `main_prose`) for each glossary entry that a section's main path uses before it links it."""
    text = main_prose(cells)
    links = {}
    for link in re.finditer(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", text):
        links.setdefault(link[1].strip(), link.start())
    plain = re.sub(r"\{term\}`[^`]*`", lambda link: " " * len(link[0]), text)
    for entry in GLOSSARY:
        if entry.rsplit(" (", 1)[0] in EVERYDAY:
            continue
        used = min((found.start() for form in forms(entry) for found in [form.search(plain)] if found), default=None)
        if used is not None and used < links.get(entry, len(text)):
            yield entry, used


def main_prose(cells):
    """The open sentences of the main path; what is no sentence is blanked, so that places stay."""
    text = "\n\n".join(
        reading_time.without_folds(source)
        for part, kind, source in reading_time.parts(cells)
        if part == "main" and kind == "markdown"
    )
    return NOT_PROSE.sub(
        lambda found: found[0] if found[0].startswith("{term}") else re.sub(r"[^\n]", " ", found[0]), text
    )


@rule
def links_a_term_where_it_is_first_used(section):
    text = main_prose(section.nb.cells)
    yield from (
        f"{entry}: used before it is linked: …{text[max(0, place - 30):place + 40]!r}"
        for entry, place in unlinked_terms(section.nb.cells)
    )


ABBREVIATIONS = r"\b(e\.g|i\.e|cf|al|vs|v|p|pp|no|Fig|Eq|Alg|Thm|Dr|Mr|Mrs|Ms|St|[A-Z])\."
CODE_FENCE = (
    r"^(`{3,})(?!\{)[^\n]*\n.*?^\1`*$|^(`{3,})\{(?:math|code|code-cell|code-block|eval-rst|list-table)\}.*?^\2`*$"
)


def crowded_lines(prose):
    """Lines where one sentence ends and another begins, outside of code, mathematics, headings and tables."""
    prose = re.sub(CODE_FENCE, "", prose, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\$\$.*?\$\$", "", prose, flags=re.DOTALL)
    prose = re.sub(r"`[^`\n]*`|(?<!\\)\$[^$\n]*\$|\]\([^)\n]*\)", "x", prose)
    for line in prose.splitlines():
        text = re.sub(r"^\s*((\d+\.|[-*])\s+)?(\*+[^*]+\*+)?", "", line)      # a list's mark, a heading within the line
        text = re.sub(ABBREVIATIONS, "x", text)
        if not re.match(r"\s*[#|:`(]", line) and re.search(r"[\w)\]}”\"'*%][.?!][)”\"'*]*\s+[*(“\"']*[A-Z]", text):
            yield f"two sentences on one line: {line.strip()[:100]}"


def tall_formulas(prose):
    """Formulas in a line that push the lines around them apart."""
    prose = re.sub(r"\$\$.*?\$\$", "", prose, flags=re.DOTALL)
    yield from (
        f"a tall formula in a line: {formula}"
        for formula in re.findall(r"(?<!\\)\$[^$\n]*\\(?:dfrac|displaystyle)[^$\n]*\$", prose)
    )


def unknown_citations(prose):
    for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", prose):
        yield from (
            f"no {key.strip()} in references.bib" for key in keys.split(",") if key.strip() not in CITATION_KEYS
        )


# ------------------------------------------------------------------------------------------------ the rules on the book


@pytest.fixture(scope="module")
def sections():
    return {path: Section(path.read_text(encoding="utf-8")) for path in NOTEBOOKS}


def test_there_are_sections():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", RULES)
def test_section(name, path, sections):
    found = list(RULES[name](sections[path]))
    assert not found, "\n".join(found)


def test_the_first_page():
    first = Section((ROOT / "intro.ipynb").read_text(encoding="utf-8"))
    everywhere = [
        is_executed_and_in_normal_form, is_plain_python, keeps_cells_short, imports_by_name, draws_from_a_generator,
        uses_no_widget_but_the_explorer, reads_data_through_dplib, writes_one_sentence_per_line, cites_what_exists,
    ]
    found = [complaint for check in everywhere for complaint in check(first)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page(path):
    prose = path.read_text(encoding="utf-8")
    found = [*crowded_lines(prose), *unknown_citations(prose)]
    assert not found, "\n".join(found)


def repeated(names):
    return [name for name, times in Counter(names).items() if times > 1]


def labels(sections):
    """Every label that a page can be asked to jump to; two of a name would send the reader to either."""
    return [
        label
        for section in sections
        for label in re.findall(r"^(?::label: *|\((?=\S+\)=$))([\w-]+)", section.prose, re.MULTILINE)
    ]


def test_labels_are_unique_in_the_book(sections):
    assert repeated(labels(sections.values())) == []


def test_checkers_are_unique_in_the_book(sections):
    """An exercise's checker is its own: no name serves two exercises."""
    used = [name for section in sections.values() for exercise in section.exercises
            for name in {found for cell in exercise.cells for found in re.findall(r"\bcheck\.(\w+)\(", cell.source)}]
    assert repeated(used) == []


# ------------------------------------------------------------------------------------------------- the rules can say no


def text_cell(name, source):
    return new_markdown_cell(source, id=name)


def code_cell(name, source, *outputs, **metadata):
    return new_code_cell(source, id=name, outputs=list(outputs), metadata=metadata)


def stdout(text):
    return new_output("stream", name="stdout", text=text)


def exercise_cells(number):
    name, fence = f"ex-number-{number}", "```"
    hint = ":::{hint}\n:class: dropdown\n\nDivide.\n:::"
    solution = f"{fence}{{solution-start}} {name}\n:label: sol-number-{number}\n:class: dropdown\n{fence}\n\nSo."
    start = f"{fence}{{exercise-start}} {'★' * min(number, 3)} Number {number}\n:label: {name}\n{fence}"
    return [
        text_cell(f"{name}-start", f"{start}\n\nWrite it.\n\n{hint}"),
        code_cell(f"{name}-stub", f"answer = ...\ncheck.number_{number}(answer)", stdout("○ not attempted\n")),
        text_cell(f"{name}-end", f"{fence}{{exercise-end}}\n{fence}"),
        text_cell(f"{name}-solution-start", solution),
        code_cell(
            f"{name}-solution",
            f"answer = {number}\ncheck.number_{number}(answer)",
            stdout("✓ right\n"),
            jupyter={"source_hidden": True},
        ),
        text_cell(
            f"{name}-solution-end",
            f":::{{admonition}} Afterwards\n:class: dropdown\nIt fits.\n:::\n\n{fence}{{solution-end}}\n{fence}",
        ),
    ]


def proof_cells():
    fence, hint = "```", ":::{hint}\n:class: dropdown\n\nMultiply.\n:::"
    statement = (
        f"{fence}{{exercise-start}} ★★★ A proof\n:label: ex-proof\n{fence}\n\n"
        f"A person reads this proof, not the checker.\n\n{hint}"
    )
    return [
        text_cell("proof-start", f"{statement}\n\n{fence}{{exercise-end}}\n{fence}"),
        text_cell(
            "proof-solution",
            f"{fence}{{solution-start}} ex-proof\n:class: dropdown\n{fence}\n\nSo.\n\n{fence}{{solution-end}}\n{fence}",
        ),
    ]


def sound_section():
    """The text of the smallest section that keeps to every rule."""
    objectives = f"{OBJECTIVES}\n\n- count to one ({{ref}}`ex-number-1`)\n- count on ({{ref}}`ex-number-2`)"
    question = ":::{{admonition}} Question {}?\n:class: dropdown\n\nYes.\n:::"
    theorem = ":::{prf:theorem} Free\n:label: thm-free\n\nIt is free for $x. Y$.\n:::"
    proof = ":::{admonition} Proof of {prf:ref}`thm-free`\n:class: dropdown\n\nBy e.g. Laplace.\nDone.\n:::"
    figure = {"image": {"alt": "A peak of height 1 at 0."}, "figure": {"caption": "A peak.", "name": "fig-peak"}}
    figures = new_output("display_data", data={"text/plain": "<Figure size 1x1>"})
    times = "Reading time: about 2 minutes; exercises: about 5 minutes."
    nb = new_notebook(cells=[
        text_cell("title", f"# A section\n\nA promise.\n\n{times}\n\n{objectives}"),
        code_cell("imports", "import numpy as np"),
        text_cell("theorem", f"{theorem}\n\n{proof}"),
        code_cell("draw-once", "rng = np.random.default_rng(1)\nprint('0.5')", stdout("0.5\n")),
        code_cell("table", "table", new_output("execute_result", data={"text/plain": "a table"})),
        *(
            code_cell(f"claim-{n}", f"# claim: {n} is {n}\nassert {n} == {n}", tags=["remove-cell"])
            for n in range(FEWEST_CLAIMS)
        ),
        code_cell("fig-peak", "plot()", figures, mystnb=figure),
        code_cell("explorer", "Explorer(draw, grids, default)"),
        text_cell("wrong", "## What goes wrong\n\nA thing."),
        text_cell("practice", "## In practice\n\nAnother."),
        text_cell("questions", "\n\n".join(["## Check yourself", *map(question.format, "ABC")])),
        text_cell("deeper", "### Going deeper: why\n\n(why-free)=\nBecause."),
        text_cell("exercises", f"## Exercises\n\n{HOW_TO_ANSWER}"),
        *(cell for number in range(1, FEWEST_EXERCISES) for cell in exercise_cells(number)),
        *proof_cells(),
        text_cell("claims", f"## {CLAIMS}\n\n- A web page says: nothing is free."),
        text_cell("lessons", "## Lessons\n\n- One.\n\n**Next.** [Another](another.ipynb)."),
    ])
    return notebooks.dumps(notebooks.normalise(nb))


FAULTS = [
    ("is_executed_and_in_normal_form", '"execution_count": 1,', '"execution_count": null,'),
    ("is_plain_python", "print('0.5')", "%time print('0.5')"),
    ("keeps_cells_short", '"plot()"', json.dumps("plot()" + "\nplot()" * LONGEST_CELL)),
    ("imports_first_and_little", "import numpy as np", "np = 1"),
    ("imports_first_and_little", "import numpy as np", r"import a\nimport b\nimport c\nimport d\nimport e"),
    ("imports_by_name", "import numpy as np", "from numpy import *"),
    ("draws_from_a_generator", "default_rng(1)", "RandomState(1)"),
    ("draws_from_a_generator", "import numpy as np", "import random"),
    ("draws_from_a_generator", "import numpy as np", "from numpy.random import default_rng"),
    ("uses_no_widget_but_the_explorer", "import numpy as np", "import ipywidgets as w"),
    ("uses_no_widget_but_the_explorer", "plot()", "interact(plot)"),
    ("reads_data_through_dplib", "plot()", "sys.path.append(1)"),
    ("reads_data_through_dplib", "plot()", "pd.read_csv('a.csv')"),
    ("reads_data_through_dplib", "plot()", "open('a.csv')"),
    ("rounds_what_it_shows", r"0.5\n", r"0.3333333333\n"),
    ("rounds_what_it_shows", "a table", "0.123"),
    ("rounds_what_it_shows", "a table", "np.float64(0.5)"),
    ("rounds_what_it_shows", "a table", "array([1, 2])"),
    (
        "rounds_bounds_outward",
        '"plot()"',
        json.dumps('print(f"odds of {np.exp(epsilon):.3g}-fold "\n      f"at most")'),
    ),
    ("rounds_bounds_outward", '"plot()"', json.dumps('print(f"a loss of at least "\n      f"{loss:.2f}")')),
    ("describes_every_figure", '"alt": "A peak of height 1 at 0."', '"width": "90%"'),
    ("describes_every_figure", '"name": "fig-peak"', '"name": ""'),
    ("makes_claims_that_can_fail", "# claim: 3 is 3", "# 3 is 3"),
    ("makes_claims_that_can_fail", '"remove-cell"', '"hide-cell"'),
    ("makes_claims_that_can_fail", "assert 3 == 3", "3 == 3"),
    ("sets_complete_exercises", ":label: ex-number-3", ":name: ex-number-3"),
    ("sets_complete_exercises", "★★★ Number 3", "Number 3"),
    ("sets_complete_exercises", "★★★ Number 3", "★★★★ Number 3"),
    ("sets_complete_exercises", ":::{hint}", ":::{note}"),
    ("sets_complete_exercises", "check.number_3(answer)", "print(answer)"),
    ("sets_complete_exercises", "```{exercise-start} ★★★ Number 3", "Number 3"),
    ("solves_every_exercise", "{solution-start} ex-number-3", "{solution-start} ex-number-9"),
    (
        "solves_every_exercise",
        r':label: sol-number-3\n",' + '\n    ":class: dropdown',
        r':label: sol-number-3\n",' + '\n    ":class: open',
    ),
    ("solves_every_exercise", '"outputs_hidden": true', '"outputs_hidden": false'),
    ("solves_every_exercise", "✓ right", "✗ wrong"),
    ("keeps_solutions_closed", r':class: dropdown\n",' + '\n    "It fits.', r':class: open\n",' + '\n    "It fits.'),
    ("keeps_solutions_closed", r'"answer = ...\n', r'"# a solution\nanswer = ...\n'),
    ("keeps_solutions_closed", ":::{admonition} Afterwards", r"It fits.\n\n:::{admonition} Afterwards"),
    ("tells_how_to_answer", "To answer, open this", "Open this"),
    ("states_a_true_reading_time", "about 2 minutes;", "about 20 minutes;"),
    ("states_a_true_reading_time", "Reading time: about", "Reading time:"),
    ("leaves_proofs_to_people", "A person reads this proof", "The checker reads this proof"),
    ("claims_with_luck_of_its_own", "assert 3 == 3", "assert rng.random() < 3"),
    ("quotes_strangers_once", "A promise.", "A web page says it."),
    ("quotes_strangers_once", "## Lessons", "## Between\\n\\n## Lessons"),
    ("keeps_exercises_on_the_main_path", "Write it.", "By {ref}`why-free`, write it."),
    ("links_a_term_where_it_is_first_used", "A promise.", "A promise about the privacy loss."),
    ("practises_every_objective", "({ref}`ex-number-2`)", "(by heart)"),
    ("practises_every_objective", "({ref}`ex-number-2`)", "({ref}`ex-number-9`)"),
    ("practises_every_objective", OBJECTIVES, "**Aims**"),
    ("proves_its_theorems", "Proof of {prf:ref}`thm-free`", "Proof of {prf:ref}`thm-other`"),
    ("proves_its_theorems", ":::{admonition} Proof of {prf:ref}`thm-free`", ":::{prf:proof}"),
    (
        "proves_its_theorems",
        r'{prf:ref}`thm-free`\n",' + '\n    ":class: dropdown',
        r'{prf:ref}`thm-free`\n",' + '\n    ":class: open',
    ),
    ("links_pages_by_their_files", "A promise.", "A {doc}`promise <composition>`."),
    ("keeps_fractions_in_a_line_low", "for $x. Y$", r"for $\\dfrac{x}{Y}$"),
    ("writes_one_sentence_per_line", "A promise.", "A promise. Another one."),
    ("writes_one_sentence_per_line", "A promise.", "Is it? *It* is."),
    ("cites_what_exists", "A promise.", "A promise {cite:p}`nobody1900`."),
    *(("has_all_its_parts", f"## {heading}", "## Else") for heading in HEADINGS),
    ("has_all_its_parts", "Explorer(draw", "explore(draw"),
    ("has_all_its_parts", "[Another](another.ipynb)", "Another"),
    ("has_all_its_parts", ":::{admonition} Question A?", ":::{note}"),
]


@pytest.mark.parametrize("name", RULES)
def test_a_sound_section_is_accepted(name):
    assert list(RULES[name](Section(sound_section()))) == []


@pytest.mark.parametrize(("name", "right", "wrong"), FAULTS, ids=lambda value: str(value)[:30])
def test_a_broken_section_is_refused(name, right, wrong):
    text = sound_section()
    assert right in text
    assert list(RULES[name](Section(text.replace(right, wrong, 1))))


def test_every_rule_has_refused_something():
    assert {name for name, _, _ in FAULTS} == set(RULES)


@pytest.mark.parametrize("line", [
    "One, two (e.g. Three) and C. Dwork et al. Said so.",
    "It is `a.B. C` and $x. Y$ and ε. δ.",
    "| One. Two | Three. Four |",
    "1. First",
    "- **A heading.** The text",
    "# A title. With a point",
    "```python\nprint('One. Two')\n```",
    "```{math}\na. B\n```",
    "$$\na. B\n$$",
])
def test_lines_that_are_not_crowded(line):
    assert list(crowded_lines(line)) == []


def test_repeated_labels_are_noticed():
    twice = [Section(sound_section())] * 2
    assert "ex-number-1" in repeated(labels(twice)) and repeated(labels(twice[:1])) == []


def main(paths):
    """For an author: what the rules find in these sections, one line each, and 1 if they find anything."""
    found = [f"{Path(path).name}: {name}: {what}" for path in paths for name, rule in RULES.items()
             for what in rule(Section(Path(path).read_text(encoding="utf-8")))]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


@pytest.mark.parametrize(("old", "code"), [("## Lessons", 1), (None, 0)])
def test_an_author_asks_the_rules(tmp_path, capsys, old, code):
    path = tmp_path / "section.ipynb"
    path.write_text(sound_section().replace(old, "## Else", 1) if old else sound_section(), encoding="utf-8")
    assert main([path]) == code
    assert ("section.ipynb: has_all_its_parts: " in capsys.readouterr().out) == bool(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
