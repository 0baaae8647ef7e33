"""Answers of the section on a release from end to end: solutions, unusual right answers, and mistakes."""
import math

import numpy as np
import pandas as pd

from dplib import audit, release
from provable_privacy import check
from provable_privacy.given.year import year_pipelines, year_table

TEN = math.log(10)
PLAN = {"loans": 4 * TEN / 12, "fines": 50 * TEN / 300, "together": 4 * TEN / 12 + 50 * TEN / 300}
ODDS = {"sure": 0.5254, "factor": math.exp(1.2), "advantage": math.tanh(0.6)}
SENTENCES = list(check.year_card.declared())


def card(*truth):
    return dict(zip(SENTENCES, truth))


CARD = card(True, False, False, True, True, False)
MONDAY = {"first": 1.2, "second": 1.4, "factor": math.exp(1.4)}


def split(weigh=lambda steps, many: np.cbrt(many * steps**2), total=lambda total: total):
    def function(sensitivities, cells, budget):
        weights = weigh(np.array(sensitivities, dtype=float), np.array(cells, dtype=float))
        return total(budget) * weights / weights.sum()

    return function


def by_search(sensitivities, cells, total):
    """Lagrange's multiplier by bisection."""
    weights = [many * step**2 for step, many in zip(sensitivities, cells)]
    low, high = 1e-12, 1e15
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if sum((weight / middle) ** (1 / 3) for weight in weights) > total else (low, middle)
    return [(weight / low) ** (1 / 3) for weight in weights]


def visit(**other):
    return {"person": "x", "day": "2023-05-17", "charge": 100, **other}


PEOPLE = {
    "often": [visit(day=f"2023-{month:02}-01") for month in range(1, 13)],
    "refund": [visit(charge=-10_000)],
    "in 2031": [visit(day="2031-01-01")],
    "two spellings": [visit(), visit(person=" X", day="2023-06-01")],
    "no name": [visit(person="")],
}


def without(*names):
    return {name: rows for name, rows in PEOPLE.items() if name not in names}


def years(exactly=1e-9, start=lambda prior: math.log(prior / (1 - prior)), more=0):
    def function(epsilon, prior, limit):
        return max(0, math.floor((math.log(limit / (1 - limit)) - start(prior)) / epsilon + exactly)) + more

    return function


def year_by_year(epsilon, prior, limit):
    count = 0
    while release.odds((count + 1) * epsilon, prior=prior).posterior <= limit + 1e-12:
        count += 1
    return count


SOLUTIONS = [
    (check.year_plan, lambda seed: PLAN),
    (check.year_odds, lambda seed: ODDS),
    (check.year_split, lambda seed: split()),
    (check.year_plant, lambda seed: PEOPLE),
    (check.year_card, lambda seed: CARD),
    (check.year_years, lambda seed: years()),
    (check.year_wrong, lambda seed: MONDAY),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.year_plan, {**PLAN, "loans": TEN / 12}, "up to four cells"),
    (check.year_plan, {**PLAN, "loans": 4 * math.log(20) / 12}, "90 %"),
    (check.year_plan, {**PLAN, "fines": 50 * math.log(20) / 300}, "90 %"),
    (check.year_plan, {**PLAN, "fines": TEN / 300}, "is 50 dollars"),
    (check.year_plan, {**PLAN, "fines": 12 * PLAN["fines"]}, "the whole year"),
    (check.year_plan, {**PLAN, "together": math.hypot(PLAN["loans"], PLAN["fines"])}, "add up"),
    (check.year_plan, {"loans": 1}, "missing"),
    (check.year_odds, {**ODDS, "sure": 0.7685}, "even odds"),
    (check.year_odds, {**ODDS, "sure": 0.83}, "the odds are multiplied"),
    (check.year_odds, {**ODDS, "sure": 100 * ODDS["sure"]}, "between 0 and 1"),
    (check.year_odds, {**ODDS, "advantage": 1 - math.exp(-1.2)}, "not the smallest"),
    (check.year_odds, {**ODDS, "advantage": math.exp(1.2) - 1}, "at most 1"),
    (check.year_odds, {**ODDS, "factor": math.exp(2.4)}, "both directions"),
    (check.year_odds, {**ODDS, "factor": 1.2}, "that is ε"),
    (check.year_split, split(lambda steps, many: np.ones(len(many))), "equal shares"),
    (check.year_split, split(lambda steps, many: np.sqrt(many) * steps), "square root"),
    (check.year_split, split(lambda steps, many: many), "shares by cells"),
    (check.year_split, split(lambda steps, many: many * steps), "shares by cells times sensitivity"),
    (check.year_split, split(lambda steps, many: np.cbrt(steps**2)), "times the smallest"),
    (check.year_split, split(total=lambda total: total / 2), "the sum of the ε"),
    (check.year_split, lambda sensitivities, cells, total: [total] + [0] * (len(cells) - 1), "must be positive"),
    (check.year_split, lambda sensitivities, cells, total: 1, "4 numbers"),
    (check.year_plant, {"plain": [visit()]}, "passed; A needs somebody who pays too little"),
    (check.year_plant, without("in 2031"), "pipeline D passed"),
    (check.year_plant, without("two spellings"), "E needs one person whose name"),
    (check.year_plant, without("no name"), "F needs a row without a name"),
    (check.year_plant, {**PEOPLE, "no name": [visit(person="", day="2023-11-02")]}, "in another month"),
    (check.year_plant, {"both": [visit(), visit(person="y")]}, "more than one person"),
    (check.year_plant, {"again": [visit(person="p7")]}, "already"),
    (check.year_plant, {"bad": [{"who": 1}]}, "person, day and charge"),
    (check.year_plant, {}, "nobody is planted"),
    (check.year_plant, [visit()], "expected a dict"),
    (check.year_plant, {"one": visit()}, "a list of rows"),
    (check.year_card, card(*6 * [True]), "accuracy"),
    (check.year_card, card(False, False, False, True, True, False), "nly a line with the truncated noise can say more"),
    (check.year_card, card(True, False, True, True, True, False), "horizon"),
    (check.year_card, card(True, False, False, False, True, False), "with probability δ at most"),
    (check.year_card, card(True, False, False, True, False, False), "Every cell has noise"),
    (check.year_card, card(True, False, False, True, True, True), "no proof"),
    (check.year_card, card(*6 * [1]), "True or False"),
    (check.year_years, years(more=1), "sure; 3 years are allowed"),
    (check.year_years, years(start=lambda prior: 0.0), "epsilon = 0.1"),
    (check.year_years, years(exactly=-1e-9), "years are allowed"),
    (check.year_years, lambda epsilon, prior, limit: 1.5, "whole number"),
    (check.year_wrong, {**MONDAY, "first": 0.6}, "four times 0.2"),
    (check.year_wrong, {**MONDAY, "first": 0.8}, "the second table alone"),
    (check.year_wrong, {**MONDAY, "second": 2.0}, "had the right noise"),
    (check.year_wrong, {**MONDAY, "second": 1.2}, "a release of its own"),
    (check.year_wrong, {**MONDAY, "second": 0.6}, "does not take it back"),
    (check.year_wrong, {**MONDAY, "factor": 1.4}, "that is ε"),
    (check.year_wrong, {**MONDAY, "factor": 4.1}, "rounded too far"),
    (check.year_wrong, {**MONDAY, "factor": 4.07}, "not 4.07"),
    (check.year_wrong, {**MONDAY, "factor": math.exp(1.2)}, "the second counts, too"),
]

UNUSUAL = [
    (check.year_plan, {name: np.float32(value) for name, value in PLAN.items()}),
    (check.year_split, by_search),
    (check.year_split, lambda *arguments: tuple(split()(*arguments))),
    (check.year_plant, {name: pd.DataFrame(rows) for name, rows in PEOPLE.items()}),
    (check.year_plant, {"all": [visit(person=""), visit(charge=-1e9),
                                visit(charge=-1e9, person="X ", day="2023-02-02")],
                        "in 2031": PEOPLE["in 2031"]}),
    (check.year_plant, {**PEOPLE, "no name": [visit(person=None)]}),
    (check.year_plant, {**PEOPLE, "no name": [visit(person=" "), visit(person=np.nan)]}),
    (check.year_wrong, {**MONDAY, "factor": 4.06}),
    (check.year_wrong, {**MONDAY, "factor": 4.05}),
    (check.year_years, year_by_year),
    (check.year_years, lambda *arguments: float(years()(*arguments))),
    (check.year_card, card(*map(np.bool_, CARD.values()))),
]


def test_each_pipeline_but_one_falls_to_its_own_person(says):
    """No planted person finds two broken pipelines, except for the one who comes twice under two names."""
    for name in PEOPLE:
        assert "passed" in says(check.year_plant, without(name)) or name == "often"


NAMES = ["x", "X", " x", "x\t", "", " ", "\u00a0", None, np.nan, pd.NA]
DAYS = ["2023-05-17", "2023-05-17", "2023-08-01", "2031-01-01", "unknown", "", None, 20230517,
        pd.Timestamp("2023-05-17")]
CHARGES = [100, -1e9, 1e9, 10**30, 2**64, "free", "100", "-inf", float("inf"), None, np.nan, True]


def test_the_sound_pipeline_is_sound_for_every_person_and_no_other_is():
    """A person with any writings of one name, beside two rows without a name, moves no table by more than promised."""
    rng, moved = np.random.default_rng(31), dict.fromkeys(year_pipelines, 0.0)
    table = pd.concat([year_table(), pd.DataFrame([visit(person=None, day="2023-02-03")])])
    people = {number: [{"person": NAMES[rng.integers(len(NAMES))], "day": DAYS[rng.integers(len(DAYS))],
                        "charge": CHARGES[rng.integers(len(CHARGES))]} for _ in range(rng.integers(1, 7))]
              for number in range(150)}
    people |= {("name", index): [visit(person=name)] for index, name in enumerate(NAMES)}
    for letter, pipeline in year_pipelines.items():
        found = audit.planted(pipeline, table, people, promised={"visits": 1, "dollars": 500},
                              public=["visits", "dollars"])
        moved[letter] = found.to_numpy().max()
    assert [letter for letter, most in moved.items() if most <= 1] == ["C"]
