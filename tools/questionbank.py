"""The question bank: each question with its answer and with the numbers that may stand in both.

    python tools/questionbank.py                    checks every number of the answers, and prints what the bank holds
    python tools/questionbank.py page               writes the page of the questions that everybody may read
    python tools/questionbank.py variants SEED      writes a paper with other numbers and its key, as Markdown, and the
                                                    same questions for Moodle and Canvas
    python tools/questionbank.py variants SEED Q1.2 Q6.4 --to FOLDER      these questions only, into this folder

SEED is a whole number; the same seed gives the same paper, and seed 0 gives the numbers that the bank is written with.
The head of course/bank.md says how a question is written.
"""
from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import math
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

ROOT = Path(__file__).resolve().parents[1]
BANK, PAGE = ROOT / "course" / "bank.md", ROOT / "course" / "questions.md"
POINTS = {"★": 2, "★★": 4, "★★★": 8}
HEADING = re.compile(r"^### (Q(\d+)\.\d+) (★+) (.+)$", re.MULTILINE)
ANSWER = "\n\n**Answer.**\n\n"
BLOCK = re.compile(r"\n*```text\n(.*?)\n```", re.DOTALL)
NUMBERS = re.compile(r"\n*```numbers\n(.*?)\n```", re.DOTALL)
MARK = re.compile(r"«(.+?) ([=≈]) (.+?)»")
LINE = re.compile(r"(.+?) ([=≈]) (.+?)(?:  # (.+))?")
BOLD = re.compile(r"`[^`]*`|\*\*(.+?)\*\*")
OPTION = re.compile(r"^- \(([a-z])\) (.+)$", re.MULTILINE)
LETTER = re.compile(r"\(([a-z])\)")
LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
SECTIONS = re.compile(rf"\A((?:{LINK.pattern}(?:, )?)+)\.\n")      # the line that names a question's sections


@dataclass(frozen=True)
class Question:
    """A question and its answer: texts, the lines that compute the bold numbers, and what those may be."""

    name: str               # such as Q1.2
    stars: str
    title: str
    text: str
    answer: str             # without the lines
    lines: tuple[str, ...]
    numbers: str = ""       # what may be drawn, in the bank only

    @property
    def chapter(self) -> int:
        return int(self.name[1:].partition(".")[0])

    @property
    def points(self) -> int:
        return POINTS[self.stars]

    @property
    def kind(self) -> str:
        return self.title.partition(":")[0]

    @property
    def task(self) -> str:
        """The text as it stands in a test, which names the sections and has no links."""
        return SECTIONS.sub(lambda line: "(" + LINK.sub(r"*\1*", line[1]) + ")\n", self.text)

    @property
    def heading(self) -> str:
        return f"### {self.name} {self.stars} {self.title}"

    @property
    def can_be_drawn(self) -> bool:
        return bool(self.numbers) or self.kind == "Choice"

    @property
    def asked(self) -> list[tuple[str, str, str]]:
        """What a student enters: its label, the number, and whether the number is exact (=) or rounded (≈)."""
        found = (LINE.fullmatch(line).groups() for line in self.lines)
        return [(label, number, relation) for number, relation, _, label in found if label]


def bank() -> list[Question]:
    """The questions as they are written, with the marks of what may change."""
    text = BANK.read_text(encoding="utf-8")
    found = list(HEADING.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [parse(match, text[match.end():end]) for match, end in zip(found, ends)]


def parse(heading: re.Match, body: str) -> Question:
    text, _, answer = re.sub(r"\n## .*", "", body, flags=re.DOTALL).strip().partition(ANSWER)
    lines = "\n".join(BLOCK.findall(answer)).splitlines()
    numbers = "\n".join(NUMBERS.findall(answer))
    answer = NUMBERS.sub("", BLOCK.sub("", answer)).strip()
    return Question(heading[1], heading[3], heading[4], text, answer, tuple(lines), numbers)


def head() -> str:
    return BANK.read_text(encoding="utf-8").partition("\n## 1 ")[0]


def public() -> list[str]:
    """The names of the questions that everybody may read."""
    return re.search(r"^Public: (.+)$", head(), re.MULTILINE)[1].split()


def chapters() -> dict[int, str]:
    found = re.findall(r"^## (\d+) (.+)$", BANK.read_text(encoding="utf-8"), re.MULTILINE)
    return {int(number): title for number, title in found}


# ------------------------------------------------------------------------------------------- the numbers of an answer


MODULES = ("anonymity", "attacks", "audit", "budget", "data_dependent", "distributions", "fdp", "histograms", "local",
           "mechanisms", "quantiles", "sensitivity", "svt")


@functools.cache
def names() -> dict:
    """What the line of a number may use."""
    modules = [importlib.import_module(f"dplib.{name}") for name in MODULES]
    return {
        "math": math,
        "np": np,
        "Phi": ndtr,
        "Phi_inv": ndtri,
        "fraction": fraction,
        "listed": listed,
        **{module.__name__.rpartition(".")[2]: module for module in modules},
    }


def fraction(above: int, below: int) -> str:
    """A fraction in lowest terms, as it is set within a line."""
    common = math.gcd(above, below)
    above, below = above // common, below // common
    return rf"\tfrac{above}{below}" if max(above, below) < 10 else rf"\tfrac{{{above}}}{{{below}}}"


def listed(values) -> str:
    """Values in words: 1, 2 and 3."""
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}"


def stated(number: str) -> tuple[float, float]:
    """The value of a number as it is printed, and half a unit of its last digit: "92.1 %" is 0.921 and 0.0005."""
    digits = number.removesuffix("%").strip().replace(",", "").replace("−", "-")
    scale = 100 if number.endswith("%") else 1
    return float(digits) / scale, 0.5 * 10.0 ** -len(digits.partition(".")[2]) / scale


def troubles(question: Question) -> list[str]:
    """What is wrong with an answer: lines that do not compute, bold numbers without a line, lines without a number."""
    found, claimed = [], set()
    for line in question.lines:
        number, relation, expression, _ = LINE.fullmatch(line).groups()
        claimed.add(number)
        value, half = stated(number)
        try:
            computed = float(compute(expression, {}))
        except Exception as trouble:
            found.append(f"{question.name}: {line}: {type(trouble).__name__}, {trouble}")
            continue
        allowed = half * 1.0000001 if relation == "≈" else 1e-9 * max(1, abs(value))
        if not abs(computed - value) <= allowed:
            found.append(f"{question.name}: {line} is {computed:.8g}")
    bold = {words for words in BOLD.findall(question.answer) if re.search(r"\d", words)}
    found += [f"{question.name}: {number} is bold and has no line" for number in sorted(bold - claimed)]
    return found + [
        f"{question.name}: {number} has a line and is not bold in the text" for number in sorted(claimed - bold)
    ]


# ---------------------------------------------------------------------------------------------------------- variants


def named(expression: str, known: dict[str, str]) -> str:
    """An expression with the numbers in place of their names; `k` of `k=` is the name of an argument, and stays."""
    if not known:
        return expression
    each = "|".join(map(re.escape, known))
    return re.sub(rf"(?<![\w.])({each})\b(?!=[^=])", lambda match: known[match[1]], expression)


def compute(expression: str, known: dict[str, str]):
    return eval(named(expression, known), dict(names()))      # our own file, not a stranger's


def written(value) -> str:
    """A computed number as it stands in an expression."""
    if isinstance(value, bool | str | list | tuple):
        return repr(value)
    if value == int(value) and not isinstance(value, float):
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    return f"{value:.12g}"


def fill(numbers: str, pick: Callable[[list[str]], str]) -> dict[str, str] | None:
    """The numbers by their names, where `pick` chooses among those of a line, or None if a condition fails."""
    known: dict[str, str] = {}
    for line in numbers.splitlines():
        if line.startswith("where "):
            if not compute(line.removeprefix("where "), known):
                return None
            continue
        left, _, right = line.partition(" = ")
        choices = right.split(" | ")
        if len(choices) == 1:
            known[left] = written(compute(right, known))
        else:
            keys, chosen = left.split(", "), pick(choices)
            known.update(zip(keys, chosen.split(", ") if len(keys) > 1 else [chosen], strict=True))
    return known


def every(numbers: str) -> Iterator[dict[str, str]]:
    """All that may be drawn, today's numbers first."""
    lines = [line for line in numbers.splitlines() if " | " in line and not line.startswith("where ")]
    for chosen in itertools.product(*(line.partition(" = ")[2].split(" | ") for line in lines)):
        known = fill(numbers, functools.partial(lambda rest, _: next(rest), iter(chosen)))
        if known is not None:
            yield known


def drawn(question: Question, seed: int) -> dict[str, str]:
    """The numbers of a seed: today's for 0, and others for every other seed."""
    today = fill(question.numbers, lambda choices: choices[0])
    if seed == 0 or not question.numbers:
        return today
    rng = random.Random(f"{question.name} {seed}")
    while (known := fill(question.numbers, rng.choice)) in (None, today):
        pass
    return known


ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def spelled(number: int) -> str:
    """A whole number in words."""
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" {spelled(number % size)}" if number % size else ""
            return f"{spelled(number // size)} {name}{rest}"
    if number < 20:
        return ONES[number]
    return TENS[number // 10 - 2] + (f"-{ONES[number % 10]}" if number % 10 else "")


def printed(like: str, relation: str, value) -> str:
    """A value printed as today's number is: in words, as a power of ten, in per cent, with commas and decimals.

    A rounded number (≈) has as many decimals as today's, or more if too few digits would count.
    """
    if isinstance(value, str):
        return value
    if like.startswith("10^"):
        exponent = round(math.log10(value))
        if not math.isclose(value, 10.0 ** exponent):
            raise ValueError(f"{value} is no power of ten")
        return f"10^{{{exponent}}}"
    if like.replace(" ", "").replace("-", "").isalpha():
        word = spelled(int(value))
        return word.capitalize() if like[0].isupper() else word
    percent = like.endswith("%")
    scaled = value * 100 if percent else value
    digits = like.removesuffix("%").strip()
    decimals = len(digits.partition(".")[2])
    comma = "{,}" if "{,}" in digits else ","
    if relation == "=":
        exact = Decimal(scaled) if isinstance(scaled, int) else Decimal(f"{float(scaled):.10g}")
        least = -exact.normalize().as_tuple().exponent
        if least > 6:
            raise ValueError(f"{value} is not exact")
        decimals = max(least, decimals if digits.endswith("0") else 0, 0)
    else:
        exact = Decimal(float(scaled))
        if decimals and exact:
            count = min(2, len(digits.replace(".", "").lstrip("-−0")))
            decimals = max(decimals, count - 1 - exact.adjusted())
    text = f"{exact:,.{decimals}f}"
    if "," not in digits and not (len(digits.partition(".")[0]) < 4 and abs(scaled) >= 1000):
        text = text.replace(",", "")
    text = text.replace(",", comma)
    if like.startswith("−"):
        text = text.replace("-", "−")
    return f"{text} %" if percent else text


def render(question: Question, known: dict[str, str]) -> Question:
    """A question of the bank with these numbers."""
    def mark(match):
        return printed(match[1], match[2], compute(match[3], known))

    lines, new = [], {}
    for line in question.lines:
        number, relation, expression, label = LINE.fullmatch(line).groups()
        computed = printed(number, relation, compute(expression, known))
        new.setdefault(number, []).append(computed)
        lines.append(f"{computed} {relation} {named(expression, known)}" + (f"  # {label}" if label else ""))
    answer = MARK.sub(mark, question.answer)
    bold = BOLD.findall(answer)
    waiting = {}
    for number, computed in new.items():
        if len(set(computed)) > 1 and len(computed) != bold.count(number):
            raise ValueError(f"{question.name}: {number} has become {computed}")
        waiting[number] = iter(computed if len(set(computed)) > 1 else itertools.repeat(computed[0]))

    def embolden(match):
        return f"**{next(waiting[match[1]])}**" if match[1] in waiting else match[0]

    return replace(
        question,
        title=MARK.sub(mark, question.title),
        text=MARK.sub(mark, question.text),
        answer=BOLD.sub(embolden, answer),
        lines=tuple(lines),
        numbers="",
    )


def shuffled(question: Question, seed: int) -> Question:
    """A question with its options in another order, if it has options and the seed is not 0."""
    options = OPTION.findall(question.text)
    if seed == 0 or question.kind != "Choice":
        return question
    order = list(range(len(options)))
    rng = random.Random(f"{question.name} options {seed}")
    while order == sorted(order):
        rng.shuffle(order)
    letters = [letter for letter, _ in options]
    moved = {letters[old]: letters[new] for new, old in enumerate(order)}
    lines = iter(f"- ({letters[new]}) {options[old][1]}" for new, old in enumerate(order))
    return replace(
        question,
        text=OPTION.sub(lambda match: next(lines), question.text),
        answer=LETTER.sub(lambda match: f"({moved.get(match[1], match[1])})", question.answer),
    )


def variant(question: Question, seed: int) -> Question:
    return shuffled(render(question, drawn(question, seed)), seed)


# ---------------------------------------------------------------------------------------------------- what is written


def entry(question: Question) -> str:
    """A question with its points, and its answer below it."""
    lines = [re.sub(r"  # .*", "", line) for line in question.lines]
    block = ["```text\n" + "\n".join(lines) + "\n```"] if lines else []
    return "\n\n".join(
        [f"{question.heading} ({question.points} points)", question.text, "**Answer.**", question.answer, *block]
    )


KEY = """\
A number in bold is computed again by the line below the answer that begins with it, in Python with `math`, numpy as
`np`, `Phi` and `Phi_inv` for the normal law, and the modules of `dplib`.
Partial credit: half of the points for a bare number, all but one point for a right argument with a slip of arithmetic.
"""


def by_chapter(questions: list[Question], show: Callable[[Question], str]) -> str:
    titles, parts = chapters(), []
    for chapter, mine in itertools.groupby(questions, key=lambda question: question.chapter):
        parts += [f"## {chapter} {titles[chapter]}", *map(show, mine)]
    return "\n\n".join(parts) + "\n"


def booklet() -> str:
    """Questions and answers in one Markdown file, each answer below its question."""
    intro = f"""\
# Questions with answers

For instructors: no page has all of this, and no student's copy.
In the folder above this one, `python tools/questionbank.py variants SEED` writes a paper with other numbers, its key,
and files for Moodle and Canvas.
{KEY}
"""
    return intro + by_chapter([variant(question, 0) for question in bank()], entry)


def page() -> str:
    """The page of the questions that everybody may read."""
    shown, questions = set(public()), bank()
    today = [variant(question, 0) for question in questions if question.name in shown]
    sentences = [
        "Questions for examinations and graded homework.",
        f"This page shows {len(today)} of the {len(questions)} questions of the bank, "
        "each with its number in the bank.",
        "The other questions, all answers, and a command that draws questions with other numbers "
        "are in the instructor edition only ({doc}`how to get it <index>`).",
        "None of the questions is an exercise of the book, "
        "though some go on from a theorem, a figure or a question of it.",
        "One star is worth 2 points and five minutes, two stars 4 points and a quarter of an hour, "
        "three stars 8 points and half an hour.",
        "A bare number earns half of the points; in a multiple choice the reason earns more than the letter.",
        "Adjacency is add/remove of one person unless a question says *replace*.",
    ]
    intro = "\n".join(["# Question bank\n", *sentences]) + "\n\n"
    return intro + by_chapter(today, lambda question: f"{question.heading}\n\n{question.text}")


def paper(questions: list[Question], seed: int) -> str:
    points = sum(question.points for question in questions)
    parts = [
        f"# Paper {seed}",
        f"{len(questions)} questions, {points} points. "
        "Adjacency is add/remove of one person unless a question says *replace*. "
        "A bare number earns half of the points.",
    ]
    for question in questions:
        parts += [f"{question.heading} ({question.points} points)", question.task]
    return "\n\n".join(parts) + "\n"


def write_variants(seed: int, chosen: list[str], folder: Path) -> list[Path]:
    """Write the paper of a seed, its key, and the files for Moodle and Canvas."""
    import quizfiles

    everything = bank()
    unknown = sorted(set(chosen) - {question.name for question in everything})
    if unknown:
        raise SystemExit(f"The bank has no {', '.join(unknown)}.")
    wanted = [question for question in everything if (question.name in chosen if chosen else question.can_be_drawn)]
    for question in wanted:
        if not question.can_be_drawn and seed != 0:
            print(f"{question.name} has no numbers to draw: it stands as it is.", file=sys.stderr)
    made = [variant(question, seed) for question in wanted]
    wrong = [trouble for question in made for trouble in troubles(question)]
    if wrong:
        raise SystemExit("\n".join(wrong))
    folder.mkdir(parents=True, exist_ok=True)
    name = f"Provable Privacy, paper {seed}"
    files = [folder / file for file in ("paper.md", "key.md", "moodle.xml", "canvas.zip")]
    files[0].write_text(paper(made, seed), encoding="utf-8")
    files[1].write_text(f"# Key of paper {seed}\n\n{KEY}\n{by_chapter(made, entry)}", encoding="utf-8")
    files[2].write_bytes(quizfiles.moodle(made, name))
    files[3].write_bytes(quizfiles.canvas(made, name))
    return files


def edition() -> dict[str, str]:
    """What the instructors' edition holds of the bank: names of files, and their texts."""
    here = Path(__file__).resolve().parent
    return {
        "course/questions_with_answers.md": booklet(),
        "course/bank.md": BANK.read_text(encoding="utf-8"),
        **{f"tools/{name}": (here / name).read_text(encoding="utf-8") for name in ("questionbank.py", "quizfiles.py")},
    }


def check() -> int:
    questions = bank()
    wrong = [trouble for question in questions for trouble in troubles(variant(question, 0))]
    for chapter in chapters():
        mine = [question for question in questions if question.chapter == chapter]
        print(f"chapter {chapter}: {len(mine)} questions, {sum(question.points for question in mine)} points")
    print(f"together: {len(questions)} questions, {sum(question.points for question in questions)} points")
    numbers = sum(bool(question.numbers) for question in questions)
    options = sum(question.kind == "Choice" and not question.numbers for question in questions)
    print(f"{numbers} can be drawn with other numbers, and {options} more with their options in another order")
    print("\n".join(wrong) or "every number is right")
    return bool(wrong)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("page", help="write the page of the questions that everybody may read")
    variants = commands.add_parser("variants", help="write a paper with other numbers, and its key")
    variants.add_argument("seed", type=int)
    variants.add_argument("questions", nargs="*", metavar="QUESTION", help="such as Q1.2 (all that can be drawn)")
    variants.add_argument("--to", type=Path, metavar="FOLDER", help="(_build/variants/SEED)")
    options = parser.parse_args(arguments)
    if options.command == "page":
        PAGE.write_text(page(), encoding="utf-8")
    elif options.command == "variants":
        folder = options.to or ROOT / "_build" / "variants" / str(options.seed)
        print(*write_variants(options.seed, options.questions, folder), sep="\n")
    else:
        return check()
    return 0


if __name__ == "__main__":
    sys.exit(main())
