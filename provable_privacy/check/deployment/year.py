"""Checkers of the section on a release from end to end: plans, odds, planted people, a card, years, and a mistake."""
import math

import numpy as np
import pandas as pd

from dplib import audit, release
from provable_privacy.entries import Number, TrueFalse, entries
from provable_privacy.formulas import on_cases
from provable_privacy.given.year import CAP, read_names, year_pipelines, year_table
from provable_privacy.speech import NotAttempted, Wrong, checker

__all__ = ["year_card", "year_odds", "year_plan", "year_plant", "year_split", "year_wrong", "year_years"]


# ----------------------------------------------------------------------------------------------- a budget, and odds

@entries("the budget follows from the errors")
def year_plan():
    """The ε of two tables from the errors that are wanted, and their sum."""
    ten, twenty = math.log(10), math.log(20)
    loans, fines = 4 * ten / 12, 50 * ten / 300
    for_95 = "that is for 95 % of the cells; here 90 % are wanted"
    return {
        "loans": Number(loans, mistakes={
            "a reader is in up to four cells, so the sensitivity is 4": ten / 12,
            for_95: 4 * twenty / 12,
        }),
        "fines": Number(fines, mistakes={
            for_95: 50 * twenty / 300,
            "the sensitivity is 50 dollars": ten / 300,
            "50 dollars is the cap for the whole year, not for each month": 12 * 50 * ten / 300,
        }),
        "together": Number(loans + fines, mistakes={
            "pure losses add up; this is the root of the sum of their squares": math.hypot(loans, fines),
        }),
    }


@entries("in words that a patient can use")
def year_odds():
    """What ε = 1.2 means to one person."""
    right = release.odds(1.2, prior=0.25)
    return {
        "sure": Number(right.posterior, mistakes={
            "that starts from even odds; the neighbour starts from one in four": release.odds(1.2).posterior,
            "write a number between 0 and 1, not per cent": 100 * right.posterior,
            "the odds are multiplied by e^ε, not the probability": 0.25 * math.exp(1.2),
        }),
        "factor": Number(right.factor, mistakes={
            "that is both directions together; odds grow or fall by e^ε": math.exp(2.4),
            "that is ε; odds change by e^ε": 1.2,
        }),
        "advantage": Number(right.advantage, mistakes={
            "that is a bound, but not the smallest, which is (e^ε - 1)/(e^ε + 1)": 1 - math.exp(-1.2),
            "an advantage is at most 1": math.expm1(1.2),
        }),
    }


# ------------------------------------------------------------------------------------------------- a budget, divided

BUDGETS = [
    ([1, 10, 100, 1], [1, 1, 1, 1000], 2.0),
    ([1, 1, 3000], [12, 40, 12], 0.6),
    ([2.0], [5], 0.3),
    ([1, 1], [1, 8], 1.0),
]


def _shares(weigh):
    """The total, divided in proportion to the weights."""
    def split(sensitivities, cells, total):
        weights = weigh(np.array(sensitivities, float), np.array(cells, float))
        return total * weights / weights.sum()

    return split


SHARES = {
    "equal shares: many cells, or a large sensitivity, need more": _shares(lambda s, c: np.ones(len(c))),
    "shares by cells, without the sensitivities": _shares(lambda s, c: c),
    "shares by cells times sensitivity: set the derivative to zero": _shares(lambda s, c: c * s),
    "the square root is for a sum of terms 1/ε; a variance has 1/ε²": _shares(lambda s, c: np.sqrt(c) * s),
}


def _fault(got, right, sensitivities, cells, total):
    """What is wrong with a split, or nothing."""
    if np.any(got <= 0):
        return "every ε must be positive"
    if abs(got.sum() - total) > 1e-6 * total:
        return f"the sum of the ε is {got.sum():g}, not {total:g}"
    variance, best = (np.dot(cells, (np.array(sensitivities) / spent) ** 2) for spent in (got, right))
    return variance > best * (1 + 1e-4) and f"the sum of the variances is {variance / best:.2f} times the smallest"


@checker
def year_split(split):
    """`split(sensitivities, cells, total)`: the ε that make the sum of all variances smallest."""
    on_cases(split, BUDGETS, _shares(lambda s, c: np.cbrt(c * s**2)), SHARES, what="the ε",
             shape=lambda sensitivities, cells, total: (len(cells),),
             accepts=lambda *case: not _fault(*case), otherwise=_fault)
    return "the smallest sum of variances, in four cases"


# --------------------------------------------------------------------------------------------------- planted people

PROMISED = {"visits": 1, "dollars": CAP}
SOUND = "C"
WANTED = {
    "A": "somebody who pays too little",
    "B": "somebody who comes more than once",
    "D": "a day that should not be there",
    "E": "one person whose name is written in two ways",
    "F": "a row without a name, in another month than the one that is in the table",
}


def _one_person(name, rows):
    """`Wrong` unless these are the rows of one person who is not in the table yet."""
    if rows is ...:
        raise NotAttempted
    try:
        table = pd.DataFrame(rows)
    except (TypeError, ValueError):
        raise Wrong(f"{name!r}: expected a list of rows, each a dict, got {rows!r}"[:200]) from None
    if set(table.columns) != {"person", "day", "charge"} or table.empty:
        columns = ", ".join(map(str, table.columns)) or "no row"
        raise Wrong(f"{name!r}: expected rows with person, day and charge, got {columns}")
    person = read_names(table.person)
    person = person[person != ""]
    if person.nunique() > 1:
        raise Wrong(f"{name!r} is more than one person; two people move the tables of a sound pipeline by two")
    if person.isin(year_table().person).any():
        raise Wrong(f"{name!r} is in the table already: plant somebody new")


@checker
def year_plant(people):
    """A dict of planted people that refutes the five broken pipelines and spares the sound one."""
    if not hasattr(people, "items"):
        raise Wrong(f"expected a dict, name to list of rows, got {type(people).__name__}")
    if not people:
        raise Wrong("nobody is planted")
    for name, rows in people.items():
        _one_person(name, rows)
    moved = {letter: audit.planted(pipeline, year_table(), people, promised=PROMISED, public=list(PROMISED)).max(axis=1)
             for letter, pipeline in year_pipelines.items()}
    if moved[SOUND].max() > 1 + 1e-9:
        who = moved[SOUND].idxmax()
        raise Wrong(f"{who!r} moves the tables of the sound pipeline, too: is the day a text such as 2023-05-17?")
    missed = [letter for letter in WANTED if moved[letter].max() <= 1 + 1e-9]
    if missed:
        letters = f"pipeline{'s' if len(missed) > 1 else ''} {', '.join(missed)}"
        raise Wrong(f"{letters} passed; {missed[0]} needs {WANTED[missed[0]]}")
    planted = "one planted person" if len(people) == 1 else f"{len(people)} planted people"
    return f"five pipelines refuted by {planted}, and the sound one spared"


# -------------------------------------------------------------------------------------------------- words and years

@entries("read field by field")
def year_card():
    """Which sentences of the press release are true."""
    return {
        "Odds about a patient change by at most a factor of 1.82, except about once in a million releases.": TrueFalse(
            True, "epsilon, delta and noise: e^0.594 is below 1.82. Only a line with the truncated noise can say more, "
            "with a probability of about δ. With normal noise δ would not be that probability"),
        "The table of charges is accurate to 40,000 dollars.":
            TrueFalse(False, "accuracy: that holds for 95 % of the cells"),
        "Next year's tables will cost nothing more.":
            TrueFalse(False, "horizon: the card is for this year's four tables; next year's losses are added to it"),
        "A diagnosis with one patient becomes a line at most once in a million releases.":
            TrueFalse(True, "thresholds: with one patient a line appears with probability δ at most"),
        "No number was published without noise.":
            TrueFalse(True, "exempt: nothing. Every cell has noise. In some cells the noise happens to be 0, and "
                            "nobody knows in which"),
        "The program was proved to be correct.": TrueFalse(False, "audit: twelve planted people are no proof"),
    }


HORIZONS = [(0.594, 0.5, 0.9), (0.1, 0.25, 0.5), (1.0, 0.5, 0.6), (0.25, 0.01, 0.99), (math.log(2), 0.5, 0.8),
            (0.3, 0.5, 0.5)]


def _allowed(epsilon, prior, limit):
    room = math.log(limit / (1 - limit)) - math.log(prior / (1 - prior))
    return max(0, math.floor(room / epsilon + 1e-9))


def _sure_after(got, right, epsilon, prior, limit):
    sure = 1 / (1 + (1 / prior - 1) * math.exp(-got * epsilon))
    after = "" if got < 0 else f"after {got:g} years a reader may be {sure:.1%} sure; "
    return f"{after}{right} years are allowed"


@checker
def year_years(years):
    """`years(epsilon, prior, limit)`: the most years after which nobody is more than `limit` sure."""
    on_cases(years, HORIZONS, _allowed, rtol=0, whole=True, what="the years", otherwise=_sure_after)
    return "right in six cases, one of them reached exactly"


@entries("what was lost stays lost, and is said")
def year_wrong():
    """A table with a quarter of its noise, and the same table again."""
    return {
        "first": Number(1.2, mistakes={
            "the noise was for a cap of 25 and the change is up to 100: that table cost four times 0.2": 0.6,
            "that is the second table alone; the other two cost 0.2 each": 0.8,
        }),
        "second": Number(1.4, mistakes={
            "the repetition is a release of its own: 0.2 more": 1.2,
            "the first release was published; a right one does not take it back": 0.6,
            "the repetition had the right noise": 2.0,
        }),
        "factor": Number(math.exp(1.4), tolerance=0.006, mistakes={
            "that is for the first release; the second counts, too": math.exp(1.2),
            "that is ε; odds change by e^ε": 1.4,
        }),
    }
