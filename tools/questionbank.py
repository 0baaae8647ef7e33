"""The question bank: its questions stand in the book, their answers only in the instructors' edition.

    python tools/questionbank.py        checks every number of the answers, and prints what the bank holds
"""
from __future__ import annotations

import importlib
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

ROOT = Path(__file__).resolve().parents[1]
POINTS = {"★": 2, "★★": 4, "★★★": 8}
HEADING = re.compile(r"^### (Q(\d+)\.\d+)(?: (★+) (.+))?$", re.MULTILINE)
BLOCK = re.compile(r"```text\n(.*?)```", re.DOTALL)
LINE = re.compile(r"(.+?) ([=≈]) (.+)")
BOLD = re.compile(r"\*\*(.+?)\*\*")
CODE = re.compile(r"`[^`]*`")


@dataclass
class Entry:
    """A question or an answer: its name, such as Q1.2, its chapter, the stars and title of a question, and its text."""

    name: str
    chapter: int
    stars: str
    title: str
    text: str

    @property
    def points(self) -> int:
        return POINTS[self.stars]


def entries(text: str) -> list[Entry]:
    """The questions, or the answers, of a file."""
    found = list(HEADING.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    chapters = re.compile(r"\n## .*", re.DOTALL)
    return [
        Entry(
            match[1], int(match[2]), match[3] or "", match[4] or "", chapters.sub("", text[match.end() : end]).strip()
        )
        for match, end in zip(found, ends)
    ]


def read(name: str) -> str:
    return (ROOT / "course" / f"{name}.md").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------- the numbers of an answer


MODULES = ("anonymity", "attacks", "audit", "budget", "data_dependent", "distributions", "fdp", "histograms", "local",
           "mechanisms", "quantiles", "sensitivity", "svt")


def names() -> dict:
    """What the line of a number may use."""
    modules = [importlib.import_module(f"dplib.{name}") for name in MODULES]
    return {
        "math": math,
        "np": np,
        "Phi": ndtr,
        "Phi_inv": ndtri,
        **{module.__name__.rpartition(".")[2]: module for module in modules},
    }


def stated(number: str) -> tuple[float, float]:
    """The value of a number as it is printed, and half a unit of its last digit: "92.1 %" is 0.921 and 0.0005."""
    digits = number.removesuffix("%").strip().replace(",", "")
    scale = 100 if number.endswith("%") else 1
    return float(digits) / scale, 0.5 * 10.0 ** -len(digits.partition(".")[2]) / scale


def troubles(answer: Entry) -> list[str]:
    """What is wrong with an answer: lines that do not compute, bold numbers without a line, lines without a number."""
    prose, block = BLOCK.sub("", answer.text), "\n".join(BLOCK.findall(answer.text))
    found, claimed = [], set()
    for line in filter(None, block.splitlines()):
        number, relation, expression = LINE.fullmatch(line).groups()
        claimed.add(number)
        value, half = stated(number)
        try:
            computed = float(eval(expression, names()))      # our own file, not a stranger's
        except Exception as trouble:
            found.append(f"{answer.name}: {line}: {type(trouble).__name__}, {trouble}")
            continue
        allowed = half * 1.0000001 if relation == "≈" else 1e-9 * max(1, abs(value))
        if not abs(computed - value) <= allowed:
            found.append(f"{answer.name}: {line} is {computed:.8g}")
    bold = {words for words in BOLD.findall(CODE.sub("", prose)) if re.search(r"\d", words)}
    found += [f"{answer.name}: {number} is bold and has no line" for number in sorted(bold - claimed)]
    return found + [
        f"{answer.name}: {number} has a line and is not bold in the text" for number in sorted(claimed - bold)
    ]


# ------------------------------------------------------------------------------------------------- for the instructor


def booklet() -> str:
    """Questions and answers in one Markdown file, each answer below its question."""
    answers = {answer.name: answer.text for answer in entries(read("answers"))}
    head = (
        read("answers")
        .partition("\n### ")[0]
        .strip()
        .replace("# Answers to the question bank", "# Questions with answers")
    )
    parts, chapter = [head], None
    chapters = dict(re.findall(r"^## (\d+) (.+)$", read("questions"), re.MULTILINE))
    for question in entries(read("questions")):
        if question.chapter != chapter:
            chapter = question.chapter
            parts.append(f"## {chapter} {chapters[str(chapter)]}")
        parts += [
            f"### {question.name} {question.stars} {question.title} ({question.points} points)",
            question.text,
            "**Answer.**",
            answers[question.name],
        ]
    return "\n\n".join(parts) + "\n"


def main():
    questions = entries(read("questions"))
    wrong = [trouble for answer in entries(read("answers")) for trouble in troubles(answer)]
    for chapter in sorted({question.chapter for question in questions}):
        mine = [question for question in questions if question.chapter == chapter]
        print(f"chapter {chapter}: {len(mine)} questions, {sum(question.points for question in mine)} points")
    print(f"together: {len(questions)} questions, {sum(question.points for question in questions)} points")
    print("\n".join(wrong) or "every number is right")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
