"""Checkers of the section on a release from end to end: plans, odds, planted people, a card, years, and a mistake."""
import math

import numpy as np
import pandas as pd

from dplib import audit, release
from provable_privacy.speech import NotAttempted, Wrong, answered, checker, compare_dict, compare_number, number, numbers

__all__ = ["year_card", "year_odds", "year_pipelines", "year_plan", "year_plant", "year_split", "year_table", "year_wrong", "year_years"]


def _known(mistakes):
    """For `compare_dict`: the words for a mistake whose value was said, of (name, value) -> words."""
    def why(name, said):
        return next((f"not {said:g}; {words}" for (of, value), words in mistakes.items() if of == name and math.isclose(said, value, rel_tol=2e-3)), "")

    return why


@checker
def year_plan(answer):
    """The ε of two tables from the errors that are wanted, and their sum."""
    ten = math.log(10)
    right = {"loans": 4 * ten / 12, "fines": 50 * ten / 300, "together": 4 * ten / 12 + 50 * ten / 300}
    compare_dict(answer, right, _known({
        ("loans", ten / 12): "a reader is in up to four cells, so the sensitivity is 4",
        ("loans", 4 * math.log(20) / 12): "that is for 95 %; here 90 % of the cells are wanted",
        ("fines", 50 * math.log(20) / 300): "that is for 95 %; here 90 % of the cells are wanted",
        ("fines", ten / 300): "the sensitivity is 50 dollars",
        ("fines", 12 * 50 * ten / 300): "50 dollars are the most of the whole year, not of each month",
        ("together", math.hypot(right["loans"], right["fines"])): "pure losses add up; they do not add in squares",
    }))
    return "the budget follows from the errors"


@checker
def year_odds(answer):
    """What ε = 1.2 means to one person."""
    right = release.odds(1.2, prior=0.25)
    compare_dict(answer, {"sure": right.posterior, "factor": right.factor, "advantage": right.advantage}, _known({
        ("sure", release.odds(1.2).posterior): "that is from an even bet; he holds it to be one in four",
        ("sure", 100 * right.posterior): "write a share of 1, and not per cent",
        ("sure", 0.25 * math.exp(1.2)): "it is the odds that grow by e^ε, not the probability",
        ("factor", math.exp(2.4)): "that is both directions together; odds grow or fall by e^ε",
        ("factor", 1.2): "that is ε; odds change by e^ε",
        ("advantage", 1 - math.exp(-1.2)): "that is a bound, and not the smallest: (e^ε - 1)/(e^ε + 1)",
        ("advantage", math.expm1(1.2)): "an advantage is at most 1",
    }))
    return "in words that a patient can use"


@checker
def year_split(split):
    """`split(sensitivities, cells, total)`: the ε that make the sum of all variances smallest."""
    for sensitivities, cells, total in (([1, 10, 100, 1], [1, 1, 1, 1000], 2.0), ([1, 1, 3000], [12, 40, 12], 0.6), ([2.0], [5], 0.3), ([1, 1], [1, 8], 1.0)):
        given = f"for sensitivities {sensitivities}, cells {cells}, total {total:g}"
        got = numbers(answered(split, list(sensitivities), list(cells), total), (len(cells),), f"{given}: the ε")
        if np.any(got <= 0):
            raise Wrong(f"{given}: every ε must be positive")
        compare_number(got.sum(), total, f"{given}: the sum of the ε", tolerance=1e-6 * total)
        steps, many = np.array(sensitivities, float), np.array(cells, float)

        def cost(spent, steps=steps, many=many):
            return float(np.sum(many * (steps / spent) ** 2))

        rules = {"the cube root of (cells times squared sensitivity)": many * steps**2}
        best = total * np.cbrt(rules.popitem()[1])
        best *= total / best.sum()
        if cost(got) > cost(best) * (1 + 1e-4):
            weights = {"equal shares": np.ones(len(many)), "shares by sensitivity": steps, "shares by cells": many,
                       "shares by cells times sensitivity": many * steps,
                       "shares by the square root, as for two terms 1/ε": np.sqrt(many) * steps, "shares by the squares": many * steps**2}
            name = next((words for words, share in weights.items() if np.allclose(got, total * share / share.sum(), rtol=1e-3)), "your split")
            raise Wrong(f"{given}: {name} has {cost(got) / cost(best):.2f} times the smallest sum of variances")
    return "the smallest sum of variances, in four cases"


# ------------------------------------------------------------------------------------------------------------------ planted people

MONTHS = [f"2023-{month:02}" for month in range(1, 13)]
CAP = 500
PROMISED = {"visits": 1, "dollars": CAP}


def year_table():
    """A small table to try pipelines on: one visit each of 300 people."""
    rng = np.random.default_rng(77)
    month, day = rng.integers(1, 13, 300), rng.integers(1, 28, 300)
    return pd.DataFrame({"person": [f"p{i}" for i in range(300)], "day": [f"2023-{m:02}-{d:02}" for m, d in zip(month, day)],
                         "charge": rng.integers(20, 900, 300)})


def _tables(visits, *, tidy=True, bound=True, floor=True, public=True):
    visits = visits.assign(person=visits.person.astype(str))
    if tidy:
        visits = visits.assign(person=visits.person.str.strip().str.casefold())
    if bound:
        visits = visits.drop_duplicates("person", keep="first")
    month = visits.day.astype(str).str[:7]
    months = MONTHS if public else sorted(set(month))
    charge = pd.to_numeric(visits.charge, errors="coerce").fillna(0).clip(0 if floor else None, CAP)
    return {"visits": month.value_counts().reindex(months, fill_value=0), "dollars": charge.groupby(month).sum().reindex(months, fill_value=0)}


def _pipeline(**how):
    return lambda visits: _tables(visits, **how)


# the letters say nothing of what is wrong
year_pipelines = {"A": _pipeline(floor=False), "B": _pipeline(bound=False), "C": _pipeline(), "D": _pipeline(public=False), "E": _pipeline(tidy=False)}
SOUND = "C"
WANTED = {"A": "somebody who pays too little", "B": "somebody who comes more than once", "D": "a day that should not be there",
          "E": "one person whose name is written in two ways"}


@checker
def year_plant(people):
    """A dict of planted people that refutes the four broken pipelines and spares the sound one."""
    if not hasattr(people, "items"):
        raise Wrong(f"expected a dict, name to list of rows, got {type(people).__name__}")
    if not people:
        raise Wrong("nobody is planted")
    for name, rows in people.items():
        if rows is ...:
            raise NotAttempted
        try:
            table = pd.DataFrame(rows)
        except (TypeError, ValueError):
            raise Wrong(f"{name!r}: expected a list of rows, each a dict, got {rows!r}"[:200]) from None
        if set(table.columns) != {"person", "day", "charge"} or table.empty:
            raise Wrong(f"{name!r}: expected rows with person, day and charge, got {', '.join(map(str, table.columns)) or 'no row'}")
        if table.person.isna().any() or table.person.astype(str).str.strip().str.casefold().nunique() > 1:
            raise Wrong(f"{name!r} is more than one person: planting two people moves a sound table by two")
        if table.person.astype(str).str.strip().str.casefold().isin(year_table().person).any():
            raise Wrong(f"{name!r} is in the table already: plant somebody new")
    found = {letter: audit.planted(pipeline, year_table(), people, promised=PROMISED, public=list(PROMISED)).max(axis=1)
             for letter, pipeline in year_pipelines.items()}
    if found[SOUND].max() > 1 + 1e-9:
        raise Wrong(f"{found[SOUND].idxmax()!r} moves the tables of the sound pipeline, too: is the day a text such as 2023-05-17?")
    missed = [letter for letter in WANTED if found[letter].max() <= 1 + 1e-9]
    if missed:
        raise Wrong(f"pipeline{'s' if len(missed) > 1 else ''} {', '.join(missed)} passed; {missed[0]} falls to {WANTED[missed[0]]}")
    return f"four pipelines refuted by {len(people)} planted people, and the sound one spared"


# ------------------------------------------------------------------------------------------------------------------ words and years

CLAIMS = {
    "The odds about a patient change by at most 1.82, but in about one case in a million.": (
        True, "epsilon, delta and noise: e^0.594 is below 1.82; only a line with the truncated noise can say more, with a probability of about δ "
        "(with normal noise δ would not be that probability)"),
    "The table of charges is accurate to 40,000 dollars.": (False, "accuracy: that holds for 95 % of the cells"),
    "Next year's tables will cost nothing more.": (False, "horizon: this year's four tables; next year's losses add up"),
    "A disease with a single patient cannot be among the lines, but with probability one in a million.": (
        True, "thresholds: with one patient a line appears with probability δ at most"),
    "No number in the tables is exact.": (True, "exempt: nothing; every cell has noise, though a noise may happen to be 0"),
    "The program was proved to be correct.": (False, "audit: ten planted people are no proof"),
}


@checker
def year_card(answer):
    """Which sentences of the press release are true."""
    if hasattr(answer, "items"):
        for words, said in answer.items():
            if said is not ... and not isinstance(said, (bool, np.bool_)):
                raise Wrong(f"expected True or False for {str(words)!r}, got {said!r}")
    compare_dict(answer, {words: truth for words, (truth, _) in CLAIMS.items()}, lambda name, said: f"not {said}; {CLAIMS[name][1]}")
    return "read field by field"


@checker
def year_years(years):
    """`years(epsilon, prior, limit)`: the most years after which nobody is more than `limit` sure."""
    for epsilon, prior, limit in ((0.594, 0.5, 0.9), (0.1, 0.25, 0.5), (1.0, 0.5, 0.6), (0.25, 0.01, 0.99), (math.log(2), 0.5, 0.8), (0.3, 0.5, 0.5)):
        room = math.log(limit / (1 - limit)) - math.log(prior / (1 - prior))
        right = max(0, math.floor(room / epsilon + 1e-9))
        given = f"for epsilon = {epsilon:.3g}, prior = {prior:g}, limit = {limit:g}"
        said = number(answered(years, epsilon, prior, limit), given, whole=True)
        if said != right:
            sure = 1 / (1 + (1 / prior - 1) * math.exp(-said * epsilon))
            more = "" if said < 0 else f": after {said:g} years somebody may be {sure:.1%} sure"
            raise Wrong(f"{given}: not {said:g}{more}; {right} years are allowed")
    return "right in six cases, one of them reached exactly"


@checker
def year_wrong(answer):
    """A table with a quarter of its noise, and the same table again."""
    compare_dict(answer, {"first": 1.2, "second": 1.4, "factor": math.exp(1.4)}, _known({
        ("first", 0.6): "the noise was for a cap of 25 and the change up to 100: that table cost four times 0.2",
        ("first", 0.8): "that is the second table alone; the other two cost 0.2 each",
        ("second", 1.2): "the repetition is a release of its own: 0.2 more",
        ("second", 0.6): "the first release is out; a right one does not take it back",
        ("factor", math.exp(1.2)): "in all: the second release counts, too",
        ("factor", 1.4): "that is ε; odds change by e^ε",
        ("second", 2.0): "the repetition had the right noise",
    }))
    return "what was lost stays lost, and is said"
