"""A release's plan, meaning and card: closed forms, the ledger, and what is refused."""
import dataclasses
import math

import numpy as np
import pytest

from dplib.budget import Budget
from dplib.release import Card, Question, odds, plan

QUESTIONS = [Question("month", 1, 25), Question("zip", 1, 30), Question("lines", 1, 20),
             Question("dollars", 3000, 40_000)]
FIELDS = {field.name: "said" for field in dataclasses.fields(Card) if field.type == "str"}


def purse():
    budget = Budget(1.0, delta=1e-6)
    budget.spend(0.25, label="one")
    budget.spend(0.5, delta=1e-7, label="two")
    return budget


def card(**other):
    return Card(**{**FIELDS, "epsilon": 0.75, "delta": 1e-7, **other})


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_each_interval_has_its_confidence(confidence):
    noise = np.random.default_rng(1).laplace(size=200_000)
    for question, epsilon in zip(QUESTIONS, plan(QUESTIONS, confidence=confidence).values(), strict=True):
        share = np.mean(np.abs(noise * question.sensitivity / epsilon) <= question.error)
        assert abs(share - confidence) < 6 * math.sqrt(confidence * (1 - confidence) / 200_000)


def test_the_plan_of_the_hospital():
    assert [round(epsilon, 4) for epsilon in plan(QUESTIONS).values()] == [0.1198, 0.0999, 0.1498, 0.2247]


def test_a_total_that_is_too_small_widens_every_interval_alike():
    free, tight = plan(QUESTIONS), plan(QUESTIONS, total=0.3)
    assert sum(tight.values()) == pytest.approx(0.3)
    assert len({round(free[label] / tight[label], 9) for label in free}) == 1
    assert plan(QUESTIONS, total=5.0) == free


@pytest.mark.parametrize("epsilon", [0.01, 0.594, 2.0, 50.0])
@pytest.mark.parametrize("prior", [0.001, 0.25, 0.5, 0.9])
def test_what_a_loss_means(epsilon, prior):
    found = odds(epsilon, prior=prior)
    assert (1 - found.posterior) * math.exp(epsilon) * prior / (1 - prior) == pytest.approx(
        found.posterior, abs=1e-6 if epsilon < 10 else 1.0)
    assert found.factor == pytest.approx(math.exp(epsilon))
    # of randomized response, which attains it
    assert found.advantage == pytest.approx(math.expm1(epsilon) / (math.exp(epsilon) + 1))


def test_a_loss_without_end_means_certainty():
    assert odds(1e6).posterior == odds(1e6).advantage == 1
    assert odds(1e6).factor == math.inf and math.isfinite(odds(708.0).factor)


def test_a_card_agrees_with_its_ledger():
    card().check(purse())
    page = card(product="Visits").markdown(purse())
    assert page.startswith("# Visits\n") and "| one | 0.25 | 0 |" in page
    assert "| two | 0.5 | 1e-07 |" in page and "| epsilon | 0.75 |" in page


@pytest.mark.parametrize(("other", "said"), [
    ({"epsilon": 0.5}, "epsilon is 0.5 on the card and 0.75 in the ledger"), ({"delta": 0.0}, "delta is 0 on the card"),
    ({"epsilon": 0.7499999}, "epsilon is 0.7499999 on the card and 0.75"), ({"epsilon": 0.751}, "epsilon is 0.751"),
    ({"epsilon": math.nan}, "is nan on the card"),
    ({"unit": " "}, "unit is empty"), ({"unit": None}, "unit is empty"),
    ({"raw_data": "", "audit": ""}, "audit is empty; raw_data is empty"),
])
def test_a_card_that_does_not_is_refused(other, said):
    for call in (card(**other).check, card(**other).markdown):
        with pytest.raises(ValueError, match=said):
            call(purse())


def test_a_card_may_round_its_losses_up_and_its_page_does():
    budget = Budget(1.0, delta=1e-6)
    for epsilon in (0.1, 0.2, 0.294117):
        budget.spend(epsilon, delta=1.23411e-7)
    for epsilon in (budget.spent, 0.59412, 0.5946):
        page = card(epsilon=epsilon, delta=3.7024e-7).markdown(budget)
        assert f"| epsilon | {'0.5946' if epsilon == 0.5946 else '0.5942'} |" in page
        assert "| delta | 3.703e-07 |" in page
        assert "| 0.1 | 1.235e-07 |" in page and "| 0.2 | 1.235e-07 |" in page and "| 0.2942 | 1.235e-07 |" in page


def test_a_bar_or_a_new_line_stays_in_its_cell():
    page = card(product="A", unit="a person | a year,\nall visits").markdown(purse())
    assert "| unit | a person \\| a year, all visits |" in page


def test_a_small_delta_is_not_left_out():
    budget = Budget(1.0, delta=1e-12)
    budget.spend(0.75, delta=1e-13, label="one")
    with pytest.raises(ValueError, match="delta is 0 on the card"):
        card(delta=0.0).check(budget)


@pytest.mark.parametrize(("adjacency", "epsilon", "delta"), [("add/remove", 0.5, 2e-7), ("replace", 0.75, 3e-7)])
def test_a_card_counts_a_parallel_block_as_the_ledger_does(adjacency, epsilon, delta):
    budget = Budget(1.0, delta=3e-7)
    with budget.parallel(adjacency):
        budget.spend(0.25, delta=1e-7)
        budget.spend(0.5, delta=2e-7)
    card(epsilon=epsilon, delta=delta).check(budget)


def test_a_card_has_no_defaults():
    for name in (*FIELDS, "epsilon", "delta"):
        with pytest.raises(TypeError):
            Card(**{**{key: value for key, value in {**FIELDS, "epsilon": 0.75, "delta": 1e-7}.items() if key != name}})


def test_two_questions_need_two_names():
    with pytest.raises(ValueError, match="labels of their own"):
        plan([Question("a", 1, 1), Question("a", 1, 2)])


@pytest.mark.parametrize("question", [Question("a", 0, 1), Question("a", 1, -1),
                                      Question("a", math.nan, 1), Question("a", 1, 1, cells=0)])
def test_a_question_is_checked(question):
    with pytest.raises(ValueError, match="must be"):
        plan([question])
