"""The page of questions: twenty, three sentences each, with links; every number of it is computed here."""
import re
from math import erfc, exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest

from dplib import audit, data, mechanisms, sensitivity
from dplib.budget import composition

PAGE = Path(__file__).resolve().parents[2] / "reference" / "questions.md"
QUESTION = re.compile(r"^\((ask-[\w-]+)\)=\n## ([^\n]+\?)\n\n(.+?)\n*(?=^\(ask-|\Z)", re.MULTILINE | re.DOTALL)
ROLE = re.compile(r"\{(?:prf:ref|ref|term)\}`[^`]+`")
ALONE = re.compile(r"(?<![\w√⁻])\d[\d,]*(?:\.\d+)?(?: %)?(?![\w⁻]|\.\d)")
ASKED = {name: (title, answer) for name, title, answer in QUESTION.findall(PAGE.read_text(encoding="utf-8"))}


def sentences(answer):
    return re.findall(r"[.!?](?=\s|$)", ROLE.sub("", answer))


def numbers(answer):
    """The numbers of an answer, without the ε, δ and Δ at which it speaks."""
    return ALONE.findall(re.sub(r"[εδΔ] = (?:10⁻⁵|ln 3|\d+(?:\.\d+)?)|L1|95 %", "", ROLE.sub("", answer)))


def believed(epsilon):
    return f"{100 / (1 + exp(-epsilon)):.1f} %"


def passes(delta):
    """How many times as often as δ the loss of Gaussian noise passes ε = 1."""
    mu = 1 / mechanisms.gaussian_sigma(1, delta=delta)
    return erfc((1 / mu - mu / 2) / sqrt(2)) / 2 / delta


def alone():
    people = data.load("people")
    return (people.groupby(["zip", "sex", "dob"]).dob.transform("size") == 1).mean()


def within(bound, epsilon):
    return 1 - exp(-bound * epsilon / sensitivity.count("add/remove"))


def phantoms(lines):
    """What clipping at zero adds to so many empty lines with noise Lap(1), on average."""
    x = np.linspace(0, 60, 600_001)
    return lines * (x * np.exp(-x) / 2).sum() * (x[1] - x[0])


def at_home(n, epsilon):
    """How many people it takes at home for the relative error that n have at the centre."""
    p = exp(epsilon) / (exp(epsilon) + 1)
    of_one = p * (1 - p) / (2 * p - 1) ** 2
    return of_one * n**2 / (2 / epsilon**2)


COMPUTED = {
    "ask-epsilon": lambda: [believed(epsilon) for epsilon in (0.1, 1, 5)],
    "ask-names": lambda: [f"{100 * alone():.0f} %"],
    "ask-hash": lambda: [f"{data.load('people').zip.nunique() * 2 * round(100 * 365.25):,}"],
    "ask-again": lambda: [f"{composition.basic(1, k=12):.0f}"],
    "ask-noise": lambda: [f"{log(20):.0f}", f"{sqrt(2):.2f}"],
    "ask-people": lambda: [
        f"{log(20) / 0.1:.0f}", f"{100 * 30 / 1000:.0f} %", "1,000", f"{100 * 30 / 30_000:.1f} %", "30,000",
        f"{round(at_home(1000, log(3)), -4):,.0f}", "1,000",
    ],
    "ask-adjacency": lambda: [f"{sensitivity.histogram(one):.0f}" for one in ("add/remove", "replace")],
    "ask-negative": lambda: [f"{phantoms(1000):.0f}"],
    "ask-audit": lambda: [f"{audit.epsilon_lower_bound(10**6, 0, 10**6):.1f}"],
}


def test_there_are_twenty_questions():
    text = PAGE.read_text(encoding="utf-8")
    assert len(ASKED) == 20 == text.count("\n## ") and text.count("(ask-") == 20


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_has_three_sentences_and_links(name):
    answer = ASKED[name][1]
    assert len(sentences(answer)) == 3 == len(answer.splitlines())
    assert len(re.findall(r"\{(?:prf:)?ref\}`", answer)) >= 2


@pytest.mark.parametrize("name", ASKED)
def test_every_number_of_an_answer_is_computed(name):
    computed = COMPUTED.get(name, list)()
    assert numbers(ASKED[name][1]) == computed


def test_what_is_said_in_words():
    assert 16 <= passes(1e-5) < 16.5             # "sixteen times"
    assert 0.95 < within(3, 1) < 0.951 and 0.95 < within(30, 0.1) < 0.951


def test_a_number_too_many_and_a_missing_sentence_are_noticed():
    assert numbers("At ε = 1 and δ = 10⁻⁵ it is 3.5 % of 1,000 ({ref}`a-9`).") == ["3.5 %", "1,000"]
    assert len(sentences("One 1.5. Two ({ref}`a. b`)?\nThree!")) == 3
