"""Begin a section: its notebook, its checkers, their tests and its plan, with one exercise that works.

    python tools/new_section.py chapters/mechanisms/thresholds "Noisy thresholds"

Then write. `…` stands wherever something is missing, and the rules say what:

    PYTHONPATH=tools python tests/book/test_notebooks.py chapters/mechanisms/thresholds.ipynb
    python tools/notebooks.py run chapters/mechanisms/thresholds.ipynb
    pytest tests/classroom/answers/thresholds.py
"""
import argparse
import re
import sys
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebooks import dumps, normalise

ROOT = Path(__file__).resolve().parents[1]
FENCE = "```"

CHECKERS = '''"""Checkers of the section on {words}."""
from provable_privacy.entries import Number, entries

__all__ = ["{checker}"]


@entries("one person moves one count")
def {checker}():
    """`answer`: table -> epsilon for one person, when every count has Laplace noise of scale 2."""
    return {{
        "one count": Number(0.5, "epsilon is sensitivity/scale", {{"that is the scale": 2}}),
        "a histogram": Number(0.5, "a person is in one of its counts", {{"only one of its counts moves": 1}}),
    }}
'''

ANSWERS = '''"""The checkers of the section on {words}: what is right, and what each mistake is told."""
from provable_privacy import check

COSTS = {{"one count": 0.5, "a histogram": 0.5}}

SOLUTIONS = [
    (check.{checker}, lambda seed: COSTS),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.{checker}, {{**COSTS, "one count": 2}}, "that is the scale"),
    (check.{checker}, {{**COSTS, "a histogram": 1}}, "only one of its counts"),
    (check.{checker}, {{**COSTS, "a histogram": 0.1}}, "in one of its counts"),
]

UNUSUAL = [  # checker, answer: right, though it looks otherwise
    (check.{checker}, {{"one count": 1 / 2, "a histogram": 0.5004}}),
]

LEAKS = []  # checker, answer: a mechanism that looks right and is not private
'''

PLAN = '''
(plan-{label})=
## {title}

| min | what happens | show |
|---|---|---|
| 10 | {{ref}}`{exercise}` in pairs: guess first, then check. | {{ref}}`{exercise}` |
| 65 | … | … |

**Misconceptions**

- *…* …

**Discuss**

1. …
   *A good answer* …
'''

TITLE = """# {title}

… (the promise, in one sentence)

:::{{admonition}} Before you start
:class: note
Reading time: about 45 minutes; exercises: about 60 minutes.
Before this: … (what comes before, as links).
:::

**After this section you can**

- say what one person costs ({{ref}}`{exercise}`)."""

QUESTION = """({label}-question)=
## … (a question on the book's data, before any definition)

… Guess before you look."""

EXERCISE = FENCE + """{{exercise-start}} ★ What one person costs
:label: {exercise}
""" + FENCE + """

Every count gets Laplace noise of scale 2.
What does a table cost one person?

:::{{hint}}
:class: dropdown

How much does one person move the counts, added up?
:::"""

SOLUTION = FENCE + "{{solution-start}} {exercise}\n:class: dropdown\n" + FENCE + """

A person is in one count, and moves it by 1.
The noise has scale 2, so $\\varepsilon = 1/2$ for both."""

EXERCISES = """## Exercises

To answer, open this section in JupyterLab ({{ref}}`how <study-alone>`); each checker prints \
○ (not attempted), ✓, or ✗ with a reason."""

LAST = [
    "## What goes wrong\n\n…",
    "## In practice\n\n…",
    "## Check yourself\n\n:::{{admonition}} …?\n:class: dropdown\n\n…\n:::",
]
ENDS = ["## Claims you will meet\n\n- \"…\": …", "## Lessons\n\n- …\n\n**Next.** [… ](index.md)"]


def notebook(names):
    """The text of the new notebook, in normal form and with the outputs of its cells."""
    def words(name, text):
        return new_markdown_cell(text.format(**names), id=name)

    def code(name, source, said="", **metadata):
        outputs = [new_output("stream", name="stdout", text=f"{said}\n")] if said else []
        return new_code_cell(source.format(**names), id=name, metadata=metadata, outputs=outputs)

    stub = 'costs = {{"one count": ..., "a histogram": ...}}\ncheck.{checker}(costs)'
    solved = stub.replace("...", "0.5")
    fold = {"source_hidden": True, "outputs_hidden": True}
    cells = [
        words("title", TITLE),
        words("question", QUESTION),
        code("imports", "import numpy as np\nfrom provable_privacy import check, style"),
        code("setup", "rng = np.random.default_rng(1)\nstyle.use()"),
        code(
            "scale",
            'print(f"noise of scale {{1 / 0.5:.1f}} for one count at ε = 0.5")',
            "noise of scale 2.0 for one count at ε = 0.5",
        ),
        code("claim-scale", "# claim: at ε = 0.5 a count needs scale 2\nassert 1 / 0.5 == 2", tags=["remove-cell"]),
        *(words(f"last-{number}", text) for number, text in enumerate(LAST, 1)),
        words("exercises", EXERCISES),
        words(f"{names['exercise']}-start", EXERCISE),
        code(f"{names['exercise']}-stub", stub, f"○ {names['checker']}: not attempted yet"),
        words(f"{names['exercise']}-end", FENCE + "{{exercise-end}}\n" + FENCE),
        words(f"{names['exercise']}-solution-start", SOLUTION),
        code(
            f"{names['exercise']}-solution", solved, f"✓ {names['checker']}: one person moves one count", jupyter=fold
        ),
        words(f"{names['exercise']}-solution-end", FENCE + "{{solution-end}}\n" + FENCE),
        *(words(f"ends-{number}", text) for number, text in enumerate(ENDS, 1)),
    ]
    return dumps(normalise(new_notebook(cells=cells)))


def files(chapter, section, title):
    """Path -> text of the new files."""
    label = section.replace("_", "-")
    names = {
        "title": title,
        "words": title[0].lower() + title[1:],
        "label": label,
        "exercise": f"ex-{label}-cost",
        "checker": f"{section}_cost",
    }
    return {
        f"chapters/{chapter}/{section}.ipynb": notebook(names),
        f"provable_privacy/check/{chapter}/{section}.py": CHECKERS.format(**names),
        f"tests/classroom/answers/{section}.py": ANSWERS.format(**names),
    }, PLAN.format(**names)


def after(text, pattern, line):
    """The text with a line after the last one that matches."""
    places = [found.end() for found in re.finditer(rf"^{pattern}.*\n", text, re.MULTILINE)]
    return text[: places[-1]] + line + text[places[-1] :]


def imports_too(text, line):
    """The text of a module whose imports, in the order of the alphabet, have one more line."""
    lines = text.splitlines()
    head = [one for one in lines if not one.startswith("from ")]
    return "\n".join([*head, *sorted([*(one for one in lines if one.startswith("from ")), line])]) + "\n"


def begin(root, place, title):
    """Write all of it under `root`; returns what was written, as paths."""
    found = re.fullmatch(r"chapters/(\w+)/([a-z]\w*?)(\.ipynb)?", place)
    if not found or not (root / "chapters" / found[1] / "index.md").is_file():
        raise ValueError(
            f"expected chapters/CHAPTER/section with a chapter of the book and a name in small letters, got {place}"
        )
    chapter, section = found[1], found[2]
    new, plan = files(chapter, section, title)
    if there := [path for path in new if (root / path).exists()]:
        raise ValueError(f"{there[0]} is there already")
    for path, text in new.items():
        (root / path).write_text(text, encoding="utf-8")
    module = f"provable_privacy.check.{chapter}"
    changes = {
        f"provable_privacy/check/{chapter}/__init__.py": lambda text: imports_too(
            text, f"from {module}.{section} import *  # noqa: F403"
        ),
        "_toc.yml": lambda text: after(
            text, rf" *- file: chapters/{chapter}/", f"          - file: chapters/{chapter}/{section}\n"
        ),
        f"course/plans/{chapter}.md": lambda text: text + plan,
    }
    for path, change in changes.items():
        (root / path).write_text(change((root / path).read_text(encoding="utf-8")), encoding="utf-8")
    return [*new, *changes]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", help="chapters/CHAPTER/section")
    parser.add_argument("title", help="of the section, as a reader sees it")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the checkout (this one)")
    options = parser.parse_args(arguments)
    try:
        written = begin(options.root, options.place, options.title)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("written, or added to:", *written, sep="\n  ")
    print(
        "Next: put your exercises in the place of the one that shows how, also in the plan; write the notebook, two "
        "questions with their answers in course/bank.md, and a line in the chapter's index.md."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
