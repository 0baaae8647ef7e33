"""The question bank: answers are right with today's numbers and with others, and no student can read them."""
import itertools
import math
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile

import editions
import numpy as np
import pytest
import questionbank
import quizfiles
from questionbank import ROOT, Question, bank, every, render, troubles, variant
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit

TOC = (ROOT / "_toc.yml").read_text(encoding="utf-8")
SECTIONS = re.findall(r"file: (chapters/\w+/(?!index)\w+)", TOC)
CHAPTERS = list(dict.fromkeys(section.split("/")[1] for section in SECTIONS))

BANK = bank()
TODAY = {question.name: variant(question, 0) for question in BANK}
WITH_NUMBERS = [question for question in BANK if question.numbers]
by_name = pytest.mark.parametrize("question", BANK, ids=lambda question: question.name)
choices = pytest.mark.parametrize("question", [one for one in BANK if one.kind == "Choice"], ids=lambda one: one.name)
with_numbers = pytest.mark.parametrize("question", WITH_NUMBERS, ids=lambda question: question.name)


def picked(question, count):
    """Some of the numbers that may be drawn: all if they are few, and else a sample with today's."""
    today, *others = every(question.numbers)
    return [today, *random.Random(question.name).sample(others, min(len(others), count - 1))]


def drawn_names(question):
    lines = [line for line in question.numbers.splitlines() if " | " in line]
    return {name for line in lines for name in line.partition(" = ")[0].split(", ")}


# ------------------------------------------------------------------------------------------------------------- the bank


def test_the_bank_is_large_and_each_chapter_has_its_part():
    assert len(BANK) >= 90
    for chapter in range(1, 1 + len(CHAPTERS)):
        mine = [question for question in BANK if question.chapter == chapter]
        sections = [section for section in SECTIONS if section.split("/")[1] == CHAPTERS[chapter - 1]]
        assert len(mine) >= 2 * len(sections) and {question.stars for question in mine} == {"★", "★★", "★★★"}
        assert [question.name for question in mine] == [f"Q{chapter}.{number}" for number in range(1, len(mine) + 1)]


def test_every_section_is_asked_about():
    named = {name for question in BANK for name in re.findall(r"\]\(\.\./(chapters/\w+/\w+)\.ipynb\)", question.text)}
    assert named == set(SECTIONS)


def test_each_question_has_its_answer():
    assert all(len(question.text.split()) > 10 and len(question.answer.split()) > 10 for question in BANK)


@by_name
def test_every_number_of_an_answer_is_computed_again(question):
    assert troubles(TODAY[question.name]) == []


@by_name
def test_what_is_to_be_computed_or_chosen_is_answered(question):
    assert question.kind in ("Choice", "Compute", "Find the leak", "Prove", "Judge")
    if question.kind == "Compute":
        assert question.asked and len({label for label, _, _ in question.asked}) == len(question.asked)
    if question.kind == "Choice":
        letters = re.findall(r"^- \(([a-z])\)", question.text, re.MULTILINE)
        assert len(letters) == 4 and all(f"({letter})" in question.answer for letter in letters)


@pytest.mark.parametrize(("text", "line", "trouble"), [
    # the number is wrong, and the two are not the same
    ("It is **0.71**.", "0.70 ≈ 1 / 2**0.5", 3),
    ("It is **0.71**.", "0.71 ≈ 1 / 2**0.5", 0),
    ("It is **0.72**.", "0.72 ≈ 1 / 2**0.5", 1),
    ("It is **3**.", "3 = 3.2", 1),                            # = is exact
    ("It is **1,234**, **5 %**.", "1,234 = 1000 + 234\n5 % ≈ 0.0562", 1),
    ("It is **12**.", "", 1),
    ("It is **12**.", "12 = nothing(3)", 1),
    ("It is **(d)**, see `x**2` and `y**3`.", "", 0),
    ("It is **−3**.", "−3 = 2 - 5  # what is left", 0),
])
def test_a_wrong_answer_is_noticed(text, line, trouble):
    assert len(troubles(Question("Q9.1", "★", "", "", text, tuple(line.splitlines())))) == trouble


def test_points_follow_the_stars():
    assert {question.stars: question.points for question in BANK} == {"★": 2, "★★": 4, "★★★": 8}
    text = questionbank.page()
    assert "One star is worth 2 points" in text and "two stars 4 points" in text and "three stars 8 points" in text


# ------------------------------------------------------------------------------------------------------------- variants


def unmarked(text):
    return re.sub(r"«(.+?) [=≈] .+?»", r"\1", text)


@by_name
def test_seed_0_gives_the_numbers_that_are_written(question):
    """Every mark and every line, computed, prints what stands there."""
    today = TODAY[question.name]
    for part in ("title", "text", "answer"):
        assert getattr(today, part) == unmarked(getattr(question, part))
    assert [line.split(" ")[0] for line in today.lines] == [line.split(" ")[0] for line in question.lines]
    assert "«" not in repr(today) and today.numbers == ""


def test_most_questions_can_be_drawn_with_other_numbers():
    assert len(WITH_NUMBERS) >= 75
    assert sum(question.can_be_drawn for question in BANK) >= 80
    assert not [question.name for question in BANK if question.kind == "Compute" and not question.numbers
                and question.name not in ("Q1.5",)]


@with_numbers
def test_every_number_that_can_be_drawn_is_used_and_gives_a_right_answer(question):
    follows = [line.partition(" = ")[2] for line in question.numbers.splitlines() if " | " not in line]
    rest = "\n".join([question.title, question.text, question.answer, *question.lines, *follows])
    assert all(re.search(rf"\b{name}\b", rest) for name in drawn_names(question))
    for known in picked(question, 40):
        made = render(question, known)
        assert troubles(made) == [], known
        assert not re.search(r"nan|inf\b|«|»|--|−−", made.text + made.answer), known


def unmarked_numbers(question):
    """Today's numbers, of three signs or more, that stand in the text or in the answer without a mark."""
    bare = questionbank.MARK.sub("«»", f"{question.title}\n{question.text}\n{question.answer}")
    bare = re.sub(r"\*\*.+?\*\*", "", bare).replace("{,}", ",")
    for text in questionbank.drawn(question, 0).values():
        value = questionbank.compute(text, {})
        forms = [value] if isinstance(value, str) else [f"{value:,.10g}", f"{value:.10g}", f"{100 * value:.10g} %"]
        for form in dict.fromkeys(forms):
            if len(form) > 2 and re.search(rf"(?<![\w.,]){re.escape(form)}(?![\w,.]*\d|\w)", bare):
                yield form


STAYS = {"Q7.9": {"400", "2000"}}      # they follow from the noise of N, which is not drawn


@with_numbers
def test_a_number_that_can_be_drawn_is_marked_wherever_it_stands(question):
    assert set(unmarked_numbers(question)) == STAYS.get(question.name, set())


def test_a_number_without_its_mark_is_noticed():
    wrong = Question("Q9.1", "★", "Compute: x", "Of «1,400 = n» people.", "Of 1,400.", (), "n = 1400 | 500")
    assert list(unmarked_numbers(wrong)) == ["1,400"]


BELOW_ZERO = {("Q3.1", "low")}


@with_numbers
def test_numbers_stay_in_sensible_ranges(question):
    for known in picked(question, 40):
        for name in sorted(drawn_names(question)):
            if (question.name, name) not in BELOW_ZERO and '"' not in known[name]:
                assert float(known[name]) > 0, known
        made = render(question, known)
        text = made.text + made.answer
        assert all(float(number) > 0 for number in re.findall(r"\\varepsilon = ([-−]?\d+(?:\.\d+)?)", text))
        assert all(0 < float(number.replace("−", "-")) <= 100 for number in re.findall(r"([-−]?\d[\d.]*) %", text))
        for line in made.lines:
            number, relation, _, _ = questionbank.LINE.fullmatch(line).groups()
            value, half = questionbank.stated(number)
            assert value > 0 and (relation == "=" or half <= value / 5), line


@pytest.mark.parametrize("question", [question for question in BANK if question.can_be_drawn], ids=lambda one: one.name)
def test_a_seed_is_reproducible_and_changes_the_question(question):
    seeds = {seed: variant(question, seed) for seed in range(8)}
    assert all(variant(question, seed) == made for seed, made in seeds.items())
    texts = [made.title + made.text for made in seeds.values()]
    assert texts[0] not in texts[1:] and len(set(texts)) >= 3


@choices
def test_options_take_their_letters_with_them(question):
    """The right option is the same sentence in every order, and each reason is that of its option."""
    fixed = {letter: text for letter, text in questionbank.OPTION.findall(TODAY[question.name].text)}
    known = questionbank.drawn(question, 0)
    for seed in range(1, 6):
        made = questionbank.shuffled(render(question, known), seed)
        moved = {text: letter for letter, text in questionbank.OPTION.findall(made.text)}
        assert sorted(moved.values()) == sorted(fixed) and list(moved) != list(fixed.values())
        for old, new in zip(questionbank.LETTER.findall(TODAY[question.name].answer),
                            questionbank.LETTER.findall(made.answer), strict=True):
            assert moved[fixed[old]] == new


@pytest.mark.parametrize(("like", "relation", "value", "text"), [
    ("5,000", "=", 12500, "12,500"), ("400", "=", 1600, "1,600"), ("2500", "=", 3600, "3600"),
    ("50{,}000", "=", 80_000, "80{,}000"), ("92.1 %", "≈", 0.5, "50.0 %"), ("15 %", "=", 0.1125, "11.25 %"),
    ("0.00046", "≈", 6.17e-5, "0.000062"), ("0.6 %", "≈", 0.0119, "1.2 %"), ("2.0", "=", 3, "3.0"),
    ("4", "=", 2.5, "2.5"), ("10^{-5}", "=", 1e-7, "10^{-7}"), ("−5", "=", -10, "−10"),
    ("-2.76", "≈", -4.359, "-4.36"), ("Fifty", "=", 100, "One hundred"),
    ("two million", "=", 3_000_000, "three million"), ("five", "=", 24, "twenty-four"),
    ("third", "=", "fourth", "fourth"),
])
def test_a_number_is_printed_as_todays_is(like, relation, value, text):
    assert questionbank.printed(like, relation, value) == text


def test_a_number_that_is_not_exact_is_refused():
    with pytest.raises(ValueError, match="not exact"):
        questionbank.printed("4", "=", 1 / 3)
    with pytest.raises(ValueError, match="power of ten"):
        questionbank.printed("10^{-5}", "=", 2e-5)


def test_two_lines_that_disagree_with_other_numbers_are_refused():
    wrong = Question("Q9.1", "★", "Compute: x", "Of «4 = n».", "It is **4**.", ("4 = n", "4 = 2 * 2"), "n = 4 | 5")
    assert variant(wrong, 0).answer == "It is **4**."
    with pytest.raises(ValueError, match=r"Q9.1: 4 has become \['5', '4'\]"):
        variant(wrong, 1)


def test_a_name_in_an_expression_is_not_the_name_of_an_argument():
    known = {"k": "7", "m": "2"}
    assert questionbank.named("f(0.5, k=k, m=3) + math.m + k**m + (k == m)", known) == (
        "f(0.5, k=7, m=3) + math.m + 7**2 + (7 == 2)"
    )


# --------------------------------------------------------------------------------------- the keys, computed another way


def gaussian_delta(epsilon, mu):
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def gaussian_epsilon(mu, delta):
    return brentq(lambda epsilon: gaussian_delta(epsilon, mu) - delta, 0, 200)


def gaussian_sigma(epsilon, delta, length):
    return brentq(lambda sigma: gaussian_delta(epsilon, length / sigma) - delta, 0.01, 1000)


def composed(epsilon, k, delta):
    """The loss of k answers by randomized response, from the law of their sum."""
    yes = np.arange(k + 1)
    law = stats.binom.pmf(yes, k, expit(epsilon))
    losses = (2 * yes - k) * epsilon
    return brentq(lambda total: law @ np.maximum(0, 1 - np.exp(total - losses)) - delta, 0, k * epsilon)


def first(start, holds):
    return next(number for number in itertools.count(start) if holds(number))


def events(p, q, factor):
    """The largest excess of one law over a multiple of another, over all events."""
    found = (event for size in range(4) for event in itertools.combinations(range(3), size))
    return max(sum(p[at] - factor * q[at] for at in event) for event in found)


def runs(loss):
    """The first number of runs whose two-sided Clopper-Pearson bounds at 95 % allow this loss."""
    def enough(n):
        return math.log(stats.beta.ppf(0.025, n, 1) / stats.beta.ppf(0.975, 1, n)) >= loss

    low, high = 1, 10**6
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def medians(table, values, steps):
    """The largest change of the median by one more replacement, after this many."""
    worst = 0
    for places in itertools.combinations(range(5), steps):
        for new in itertools.product(values, repeat=steps):
            changed = list(table)
            for place, value in zip(places, new):
                changed[place] = value
            for place, value in itertools.product(range(5), values):
                one = [*changed[:place], value, *changed[place + 1:]]
                worst = max(worst, abs(sorted(one)[2] - sorted(changed)[2]))
    return worst


def smooth(table, beta):
    return max(math.exp(-beta * steps) * medians(table, [0, 100, *table], steps) for steps in range(3))


def curve(p, q, alpha):
    """The trade-off function between two finite laws, from its corners."""
    order = sorted(range(len(p)), key=lambda at: -q[at] / p[at])
    return np.interp(alpha, np.cumsum([0, *(p[at] for at in order)]), 1 - np.cumsum([0, *(q[at] for at in order)]))


def clipped(table, total):
    cut = brentq(lambda t: sum(max(x - t, 0) for x in table) - total, -100, 100)
    return sum(abs(x - max(x - cut, 0)) for x in table)


def blocks(day):
    """How many blocks of a binary counter make up a day's total."""
    count = 0
    while day:
        day -= 2 ** int(math.log2(day))
        count += 1
    return count


def selection(factor, delta):
    """The largest probabilities for groups of 1 to 5 people, each found by bisection of both inequalities."""
    found, last = [], 0.0
    for _ in range(5):
        low, high = last, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            allowed = middle <= factor * last + delta and 1 - last <= factor * (1 - middle) + delta
            low, high = (middle, high) if allowed else (low, middle)
        found.append(low)
        last = low
    return found


def density(x, b):
    return math.exp(-abs(x) / b) / (2 * b)


def tail(x, b):
    """The probability that Laplace noise of scale b is above x."""
    return math.exp(-x / b) / 2 if x > 0 else 1 - math.exp(x / b) / 2


def two_noises(a, c, t):
    """The probability that two Laplace noises of different scales together are beyond t."""
    def beyond(x):
        return density(x, a) * (tail(t - x, c) + tail(t + x, c))

    return sum(quad(beyond, *ends)[0] for ends in ((-np.inf, -t), (-t, 0), (0, t), (t, np.inf)))


def gap_passes(b, gap):
    """The probability that one Laplace noise exceeds another of its scale by this gap."""
    def passes(x):
        return density(x, b) * tail(gap + x, b)

    return sum(quad(passes, *ends)[0] for ends in ((-np.inf, -gap), (-gap, 0), (0, np.inf)))


def best_share(w):
    found = minimize_scalar(lambda x: 1 / x**2 + w**2 / (1 - x) ** 2, bounds=(0.01, 0.99), options={"xatol": 1e-10})
    return [found.x, found.fun / (4 * (1 + w**2))]


def spread(marks):
    return max(a - b for a in marks for b in marks)


def local_error(k, n, p, q):
    return 100 * math.sqrt(q * (1 - q) / n) / (p - q)


norm, laplace = stats.norm, stats.laplace
KEYS = {
    "Q1.1": lambda n: [n.people * (n.alone / n.people) * n.share],
    "Q1.2": lambda n: [stats.binom.pmf(0, n.n - 1, n.p / 730.5)],
    "Q1.4": lambda n: [stats.binom.pmf([0, n.k], n.k, 1 / n.odds).sum()],
    "Q1.9": lambda n: [first(1, lambda m: (n.n + 1) ** m >= 2**n.n)],
    "Q1.10": lambda n: [expit(logit(n.members / n.people) + math.log(n.tpr / 0.001))],
    "Q1.11": lambda n: [None, math.ceil(
        brentq(lambda d: norm.sf(norm.isf(0.01) - math.sqrt(d / n.n)) - n.tpr, 1, 10**5, xtol=1e-9))],
    "Q1.12": lambda n: [expit(logit(n.prior) + n.eps)],
    "Q2.1": lambda n: [logit(1 - n.flip)],
    "Q2.2": lambda n: [logit(n.truth + (1 - n.truth) / 2)],
    "Q2.3": lambda n: [math.floor(1e4 * expit(logit(n.prior) - n.eps)) / 1e4,
                       math.ceil(1e4 * expit(logit(n.prior) + n.eps)) / 1e4],
    "Q2.5": lambda n: [math.log(n.a / n.c), events((n.a, n.m, n.c), (n.c, n.m, n.a), 2),
                       events((n.a, n.m, n.c), (n.c, n.m, n.a), 1)],
    "Q2.6": lambda n: [None, stats.poisson.sf(0, n.n * n.delta)],
    "Q2.7": lambda n: [None, laplace.cdf(n.size - 1 - laplace.isf(n.delta, scale=1 / n.eps), scale=1 / n.eps)],
    "Q2.9": lambda n: [sum([n.eps] * n.k), None, None, composed(n.eps, n.k, 1e-5)],
    "Q2.10": lambda n: [logit(1 - n.beta) / (2 * n.E + 1),
                        brentq(lambda e: 2 * laplace.sf(n.E, scale=1 / e) - n.beta, 1e-3, 50)],
    "Q2.12": lambda n: [runs(n.low), runs(n.high)],
    "Q3.1": lambda n: [max(abs(n.low), n.high), spread(range(n.low, n.high + 1)),
                       max(abs(n.low), n.high) + 1],
    "Q3.2": lambda n: [laplace.isf(0.025, scale=1 / n.eps), 2 * laplace.sf(n.t, scale=1 / n.eps)],
    "Q3.4": lambda n: [None, math.ceil(100 * gaussian_sigma(n.eps, 1e-5, math.sqrt(n.k))) / 100],
    "Q3.5": lambda n: [laplace.std(scale=n.m / n.eps), math.ceil(10 * gaussian_sigma(n.eps, 1e-6, n.root)) / 10],
    "Q3.6": lambda n: [1 / sum(math.exp(rate * (votes - n.first)) for votes in (n.first, n.second, n.third))
                       for rate in (n.eps, n.eps / 2)],
    "Q3.7": lambda n: [spread(range(-n.h, n.h + 1))],
    "Q3.8": lambda n: [local_error(n.k, n.n, math.exp(n.eps) / (math.exp(n.eps) + n.k - 1),
                                   1 / (math.exp(n.eps) + n.k - 1)),
                       local_error(n.k, n.n, 0.5, 1 / (math.exp(n.eps) + 1))],
    "Q3.10": lambda n: [medians((n.x1, n.x2, n.x2, n.x4, n.x5), (0, 100, n.x4, n.x5), steps) for steps in range(3)] + [
        smooth((n.x1, n.x2, n.x2, n.x4, n.x5), n.beta)],
    "Q4.2": lambda n: [None, None, math.hypot(laplace.std(scale=2 / n.eps), laplace.std(scale=4 / n.eps))],
    "Q4.7": lambda n: best_share(2 * n.c),
    "Q4.8": lambda n: [gap_passes(2 / n.eps, n.above - n.limit)],
    "Q5.2": lambda n: [n.cells * quad(lambda x: x * laplace.pdf(x, scale=1 / n.eps), 0, np.inf)[0],
                       n.cells * stats.dlaplace(n.eps).expect(lambda x: np.maximum(x, 0))],
    "Q5.3": lambda n: [laplace.isf(0.05, scale=n.scale), laplace.isf((1 - 0.9 ** (1 / n.cells)) / 2, scale=n.scale)],
    "Q5.5": lambda n: [clipped((n.a, n.b, -n.n, 0), n.total)],
    "Q5.7": lambda n: [1 + math.log2(n.bins), None, 1 + math.log2(n.bins) / 3],
    "Q5.8": lambda n: [laplace.std(scale=11) * math.sqrt(blocks(n.day))],
    "Q5.12": lambda n: [1 / n.k],
    "Q6.1": lambda n: [curve((n.p1, n.p2, n.p3), (n.q1, n.q2, n.q3), n.alpha),
                       (abs(n.p1 - n.q1) + abs(n.p2 - n.q2) + abs(n.p3 - n.q3)) / 2],
    "Q6.2": lambda n: [1 - n.delta - math.exp(n.eps) * n.alpha],
    "Q6.4": lambda n: [None, norm.cdf(norm.isf(0.01) - n.s / n.sigma)],
    "Q6.5": lambda n: [gaussian_delta(1, n.mu), 1 - gaussian_delta(1, n.mu) - math.e * n.alpha,
                       norm.cdf(norm.isf(n.alpha) - n.mu)],
    "Q6.6": lambda n: [np.linalg.norm([n.m1, n.m2, n.m3]),
                       gaussian_epsilon(np.linalg.norm([n.m1, n.m2, n.m3]), 1e-6)],
    "Q6.7": lambda n: [curve(np.kron((n.r, 1), (n.r, 1)) / n.d, np.kron((1, n.r), (1, n.r)) / n.d, 1 / (n.r + 1))],
    "Q6.8": lambda n: [norm.cdf(norm.isf(0.05) - n.k * n.mu)],
    "Q6.9": lambda n: [None, None, None, gaussian_epsilon(math.sqrt(n.k) / n.sigma, 1e-5)],
    "Q6.10": lambda n: [math.log((n.q * expit(e) + (1 - n.q) * expit(-e)) / expit(-e)) for e in (n.low, n.high)],
    "Q6.14": lambda n: [1 - max(1 - n.delta - math.exp(n.eps) * 0.01, math.exp(-n.eps) * (1 - n.delta - 0.01))],
    "Q7.1": lambda n: [laplace.sf(n.t - 1)],
    "Q7.2": lambda n: selection(n.r, n.d),
    "Q7.3": lambda n: [None, 1 + brentq(lambda x: 1 - laplace.cdf(x, scale=n.scale) ** n.m - 1e-5, 0, 1000)],
    "Q7.4": lambda n: [selection(n.r, n.d)[2]],
    "Q7.5": lambda n: [math.floor((2**31 - 1) / n.u)],
    "Q7.8": lambda n: [None, norm.isf(0.025) * math.sqrt(n.share * (1 - n.share) / n.n
                                                         + laplace.var(scale=1 / n.eps) / n.n**2)],
    "Q7.9": lambda n: [two_noises(n.a, n.c1, n.t1), two_noises(n.a, n.c2, n.t2)],
    "Q7.10": lambda n: [laplace.std(scale=1 / n.year), None,
                        (laplace.var(scale=1 / n.year) ** -1 + (4 * laplace.var(scale=1 / n.quarters)) ** -1) ** -0.5],
    "Q7.12": lambda n: [brentq(lambda e: 2 * laplace.sf(n.near, scale=1 / e) - 0.05, 1e-3, 50)],
    "Q7.14": lambda n: [first(0, lambda share: (n.a + n.b + share) % 256 == n.x)],
    "Q7.16": lambda n: [len({0 - a for a in range(n.size)} - {1 - a for a in range(n.size)}) / n.size],
}


class Numbers:
    def __init__(self, known):
        for name, text in known.items():
            setattr(self, name, questionbank.compute(text, {}))


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_right_by_another_computation(name):
    question, = (question for question in BANK if question.name == name)
    for known in picked(question, 6):
        lines = render(question, known).lines
        for line, other in zip(lines, KEYS[name](Numbers(known))):
            if other is not None:
                number, relation, _, _ = questionbank.LINE.fullmatch(line).groups()
                value, half = questionbank.stated(number)
                allowed = half * 1.001 if relation == "≈" else 1e-6 * max(1, value)
                assert abs(other - value) <= allowed, (line, other, known)


# ------------------------------------------------------------------------------------------ the files for the platforms

CLOZE = re.compile(r"\{(\d+):NUMERICAL:=(-?\d+(?:\.\d+)?):(\d+(?:\.\d+)?(?:e-\d+)?)\}")
IN_CANVAS = {"numerical_question", "multiple_choice_question", "essay_question"}


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """All questions with seed 5, and all files."""
    folder = tmp_path_factory.mktemp("papers")
    questionbank.write_variants(5, [question.name for question in BANK], folder)
    return {path.name: path for path in folder.iterdir()}


def made(name):
    question, = (question for question in BANK if question.name == name)
    return variant(question, 5)


def test_a_variant_is_four_files_that_are_always_the_same(tmp_path, capsys):
    for folder in ("a", "b", "c"):
        assert questionbank.main(["variants", "6" if folder == "c" else "5", "--to", str(tmp_path / folder)]) == 0
    files = {folder: {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in "abc"}
    assert set(files["a"]) == {"paper.md", "key.md", "moodle.xml", "canvas.zip"} and files["a"] == files["b"]
    assert all(files["a"][name] != files["c"][name] for name in files["a"])
    text = files["a"]["paper.md"].decode()
    assert text.count("\n### ") == sum(question.can_be_drawn for question in BANK) and "**Answer.**" not in text
    assert "](" not in text and "«" not in text and "(*Linkage*)\n" in text


@by_name
def test_a_test_names_the_sections_without_a_link(question):
    assert re.match(r"\(\*[^*]+\*(, \*[^*]+\*)?\)\n", question.task) and "](" not in question.task
    assert question.task.partition("\n")[2] == question.text.partition("\n")[2]


def test_a_paper_of_chosen_questions(tmp_path, capsys):
    assert questionbank.main(["variants", "3", "Q6.4", "Q4.3", "--to", str(tmp_path)]) == 0
    assert "Q4.3 has no numbers to draw" in capsys.readouterr().err
    paper = (tmp_path / "paper.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\S+)", paper, re.MULTILINE) == ["Q4.3", "Q6.4"] and "2 questions, 10 points" in paper
    with pytest.raises(SystemExit, match="The bank has no Q9.9"):
        questionbank.main(["variants", "3", "Q9.9", "--to", str(tmp_path)])


def test_without_a_reader_of_markdown_there_are_paper_and_key(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    quizfiles.converter.cache_clear()
    with pytest.raises(SystemExit, match="pip install markdown-it-py mdit-py-plugins"):
        questionbank.main(["variants", "3", "Q6.4", "--to", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"paper.md", "key.md"}


def test_the_key_has_every_answer_of_its_paper(papers):
    key = papers["key.md"].read_text(encoding="utf-8")
    assert all(made(question.name).text in key and made(question.name).answer in key for question in BANK)


def test_moodle_reads_what_is_written(papers):
    """By the rules of Moodle's import: types, names, formats, fractions, and numbers as its cloze reads them."""
    root = ElementTree.parse(papers["moodle.xml"]).getroot()
    category, *found = root.findall("question")
    assert root.tag == "quiz" and category.get("type") == "category"
    assert category.findtext("category/text") == "$course$/top/Provable Privacy, paper 5"
    for one in found:
        assert one.findtext("name/text") and one.find("questiontext").get("format") == "html"
        question = made(one.findtext("name/text").split()[0])
        text = one.findtext("questiontext/text")
        assert not [line for line in sentences(question) if line in text]
        gaps = CLOZE.findall(text)
        if one.get("type") == "cloze":
            assert text.count(":NUMERICAL:") == len(gaps) == len(question.asked) > 0
            assert sum(int(weight) for weight, _, _ in gaps) == max(question.points, len(gaps))
            for (_, value, _), (_, number, _) in zip(gaps, question.asked):
                assert float(value) == pytest.approx(questionbank.stated(number)[0] * (100 if "%" in number else 1))
            continue
        assert not gaps and 0 < float(one.findtext("defaultgrade")) <= question.points
        if one.get("type") == "multichoice":
            assert sorted(answer.get("fraction") for answer in one.findall("answer")) == ["0", "0", "0", "100"]
            assert one.findtext("single") == "true" and one.findtext("shuffleanswers") == "false"
        else:
            assert one.get("type") == "essay" and one.findtext("graderinfo/text")
    assert {one.findtext("name/text").split()[0] for one in found} == {question.name for question in BANK}


def test_canvas_reads_what_is_written(papers):
    """By the rules of Canvas' import of QTI 1.2: a manifest whose files are there, and items of known types."""
    with zipfile.ZipFile(papers["canvas.zip"]) as file:
        names = file.namelist()
        manifest, = (ElementTree.fromstring(file.read(name)) for name in names if name == "imsmanifest.xml")
        space = {"c": quizfiles.PACKAGE, "q": quizfiles.QTI, "z": quizfiles.QUIZ}
        resources = manifest.findall(".//c:resource", space)
        hrefs = [one.get("href") for one in manifest.findall(".//c:file", space)]
        assert sorted([*hrefs, "imsmanifest.xml"]) == sorted(names)
        test, meta = resources
        assert test.get("type") == "imsqti_xmlv1p2"
        assert test.find("c:dependency", space).get("identifierref") == meta.get("identifier")
        root, about = (ElementTree.fromstring(file.read(name)) for name in hrefs)
    assert about.get("identifier") == root.find("q:assessment", space).get("ident") == test.get("identifier")
    items = root.findall("q:assessment/q:section/q:item", space)
    assert len({item.get("ident") for item in items}) == len(items)
    total = 0.0
    for item in items:
        data = {field.findtext("q:fieldlabel", namespaces=space): field.findtext("q:fieldentry", namespaces=space)
                for field in item.findall(".//q:qtimetadatafield", space)}
        assert data["question_type"] in IN_CANVAS and float(data["points_possible"]) > 0
        total += float(data["points_possible"])
        response, = (one for one in item.find("q:presentation", space) if one.get("ident") == "response1")
        assert {one.get("respident") for one in item.iter() if one.get("respident")} <= {response.get("ident")}
        right = item.findtext(".//q:varequal", namespaces=space)
        if data["question_type"] == "numerical_question":
            low, high = (float(item.findtext(f".//q:{tag}", namespaces=space)) for tag in ("vargte", "varlte"))
            name, at = item.get("ident").split("_")
            number = made(name).asked[int(at) - 1][1]
            value = questionbank.stated(number)[0] * (100 if "%" in number else 1)
            assert low <= float(right) <= high and float(right) == pytest.approx(value)
        elif data["question_type"] == "multiple_choice_question":
            labels = [label.get("ident") for label in item.findall(".//q:response_label", space)]
            assert right in labels and len(labels) == 4
        else:
            assert right is None
    assert total == pytest.approx(sum(question.points for question in BANK), abs=0.2)
    assert float(about.findtext("z:points_possible", namespaces=space)) == pytest.approx(total)


def test_formulas_and_comparisons_survive_in_html():
    assert quizfiles.html("Is $a < b$ or `x<y`?") == r"<p>Is \(a &lt; b\) or <code>x&lt;y</code>?</p>"
    for question in BANK:
        text = re.sub(r"<code.*?</code>", "", quizfiles.html(made(question.name).task), flags=re.DOTALL)
        assert "$" not in text and "**" not in text, question.name


@pytest.mark.parametrize(("number", "relation", "allowed"), [
    ("550", "=", 0), ("1.5", "=", 0.015), ("79.6 %", "≈", 0.1), ("1,722", "≈", 1), ("0.6 %", "≈", 0.05),
    ("9.0", "≈", 0.05),
])
def test_a_rounded_number_may_be_off_by_its_last_digit(number, relation, allowed):
    assert quizfiles.tolerance(number, relation) == pytest.approx(allowed)


def test_a_choice_with_two_right_options_is_for_a_person():
    letters = {name: quizfiles.letter(question) for name, question in TODAY.items() if question.kind == "Choice"}
    assert letters == {"Q1.1": "b", "Q2.1": "c", "Q2.11": "c", "Q4.1": None, "Q5.11": "b", "Q6.3": None, "Q7.1": "b",
                       "Q7.11": "b"}


# --------------------------------------------------------------------------------------------- who may read the answers


def sentences(question):
    """The longer lines of an answer, of which none may stand where students read."""
    sums = (questionbank.LINE.fullmatch(line)[3] for line in question.lines)
    return [line for line in question.answer.splitlines() if len(line) > 40] + [one for one in sums if len(one) > 12]


def given_away(text, *, private=True):
    """Answers in a text, and the questions in it that are not public."""
    shown = set(questionbank.public())
    for name, question in TODAY.items():
        asked = [line for line in question.text.splitlines() if len(line) > 60 and not line.startswith("[")]
        lines = sentences(question) + (asked if private and name not in shown else [])
        yield from (f"{name}: {line}" for line in lines if line in text)


def test_an_answer_on_a_page_would_be_noticed():
    for question in TODAY.values():
        assert sentences(question) and list(given_away(f"<p>{sentences(question)[0]}</p>"))
    private, = (question for name, question in TODAY.items() if name == "Q1.1")
    assert list(given_away(private.text)) and not list(given_away(private.text, private=False))


def test_the_page_shows_a_third_of_the_bank_and_is_the_one_that_is_written():
    page = questionbank.PAGE.read_text(encoding="utf-8")
    assert page == questionbank.page()
    shown = questionbank.public()
    assert re.findall(r"^### (\S+)", page, re.MULTILINE) == shown and 0.3 < len(shown) / len(BANK) < 0.36
    assert {TODAY[name].kind for name in shown} == {question.kind for question in BANK}
    assert {TODAY[name].chapter for name in shown} == {question.chapter for question in BANK}
    assert f"This page shows {len(shown)} of the {len(BANK)} questions" in page and not list(given_away(page))


def test_no_answer_and_no_private_question_is_in_the_book(site):
    assert "course/bank" not in TOC
    files = [path for path in site.rglob("*") if path.is_file()]
    assert not [path for path in files if path.name.startswith(("bank", "questions_with"))]
    for path in files:
        if path.suffix in (".html", ".js", ".txt", ".md") and ("course" in path.parts or path.name == "searchindex.js"):
            assert list(given_away(path.read_text(encoding="utf-8"))) == [], path


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The zip files, with one notebook each."""
    folder = tmp_path_factory.mktemp("editions")
    for edition in ("student", "instructor"):
        section = folder / edition / "chapters" / "a" / "b.ipynb"
        section.parent.mkdir(parents=True)
        section.write_text("{}", encoding="utf-8")
    wheel = folder / "provable_privacy-1-py3-none-any.whl"
    wheel.write_bytes(b"")
    return {path.stem.rpartition("-")[2]: path for path in editions.pack(folder, wheel, editions.papers())}


def test_the_bank_is_in_the_instructors_zip_and_in_no_other(archives):
    for archive in ("student", "open"):
        with zipfile.ZipFile(archives[archive]) as file:
            texts = [file.read(name).decode() for name in file.namelist() if not name.endswith(".whl")]
            assert not [line for text in texts for line in given_away(text)]
            assert not [name for name in file.namelist() if "bank" in name]
    with zipfile.ZipFile(archives["student"]) as file:
        assert not [name for name in file.namelist() if "course" in name]
    with zipfile.ZipFile(archives["open"]) as file:
        assert "instructor/chapters/a/b.ipynb" in file.namelist()
        assert "make notebooks" in file.read("instructor/course/README.md").decode()
    with zipfile.ZipFile(archives["instructor"]) as file:
        text = file.read("instructor/course/questions_with_answers.md").decode()
    assert all(question.text in text and question.answer in text for question in TODAY.values())
    assert text.count("**Answer.**") == len(BANK)


def test_the_command_works_in_the_instructors_edition(archives, tmp_path, papers):
    with zipfile.ZipFile(archives["instructor"]) as file:
        file.extractall(tmp_path)
    command = [sys.executable, "tools/questionbank.py", "variants", "5", *(question.name for question in BANK)]
    done = subprocess.run(command, cwd=tmp_path / "instructor", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = {path.name: path for path in (tmp_path / "instructor" / "_build" / "variants" / "5").iterdir()}
    assert {name: path.read_bytes() for name, path in written.items()} == {
        name: path.read_bytes() for name, path in papers.items()
    }


def test_the_wheel_that_students_get_holds_no_course():
    import tomllib

    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert all(package.startswith(("dplib", "provable_privacy")) for package in packages)


def test_question_and_answers_need_no_plug_in():
    """The instructor reads them as plain Markdown: no role and no directive."""
    for text in (questionbank.BANK.read_text(encoding="utf-8"), questionbank.booklet()):
        found = re.findall(r"\{[a-z:]+\}`|^:{3,}|^`{3}\{", text.partition("\n### ")[2], re.MULTILINE)
        assert found == []


def test_the_check_says_what_the_bank_holds(capsys):
    assert questionbank.main([]) == 0
    said = capsys.readouterr().out
    assert f"together: {len(BANK)} questions" in said and "every number is right" in said
    assert f"{len(WITH_NUMBERS)} can be drawn with other numbers" in said
