"""What a release needs besides noise: a budget from wanted errors, what epsilon means to a person, and the card beside
the table.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from decimal import ROUND_CEILING
from numbers import Real
from typing import NamedTuple

from dplib._validate import listed, positive, probability, shown, whole
from dplib.budget import Budget
from dplib.rounding import rounded

__all__ = ["Card", "Meaning", "Question", "odds", "plan"]


class Question(NamedTuple):
    """A table that will be asked for, with the error that its readers can bear.

    Privacy
    -------
    measure : none: a public plan
    adjacency : the one under which `sensitivity` bounds the L1 change of all cells together

    Parameters
    ----------
    label : str
    sensitivity : float
        Largest L1 change of the whole table by one person, after bounding.
    error : float
        Wanted half-width of an interval for one cell, in the units of the cell.
    cells : int
        How many cells the table has. `plan` does not use it: each cell has the wanted interval by itself.
    """

    label: str
    sensitivity: float
    error: float
    cells: int = 1


class Meaning(NamedTuple):
    """What a privacy loss means to one person: see `odds`."""

    factor: float
    posterior: float
    advantage: float


def plan(questions: Iterable[Question], *, total: float | None = None, confidence: float = 0.95) -> dict[str, float]:
    """Epsilon of each question, so that each of its cells with Laplace noise has the wanted interval.

    Noise of scale sensitivity/epsilon is within w of 0 with probability 1 - exp(-w epsilon/sensitivity), so each
    epsilon is sensitivity ln(1/(1 - confidence)) / error, and none smaller would do.

    Privacy
    -------
    measure : epsilon-DP, if each question is answered once with Laplace noise at its epsilon; the losses add up
    adjacency : the one of the questions' sensitivities
    guarantee : the sum of the values

    Parameters
    ----------
    questions : iterable of Question
    total : float, optional
        The most that all of them may cost. If they cost more, every interval is widened by the same factor.
    confidence : float
        Of each single interval, in (0, 1).

    Returns
    -------
    dict of str to float

    Raises
    ------
    ValueError
        If two labels are equal, a number is not positive and finite, `cells` is no whole number of at least 1, or
        `confidence` is not in (0, 1).

    References
    ----------
    The book's {prf:ref}`prop-year-plan`.

    Examples
    --------
    >>> spend = plan([Question("month", 1, 25), Question("dollars", 3000, 40_000)])
    >>> {label: round(epsilon, 3) for label, epsilon in spend.items()}
    {'month': 0.12, 'dollars': 0.225}
    """
    wide, spend = math.log(1 / (1 - probability("confidence", confidence, zero=False))), {}
    for place, question in enumerate(listed("questions", questions)):
        if not isinstance(question, Question):
            raise ValueError(f"questions[{place}] must be a Question, got {shown(question)}")
        label, sensitivity, error, cells = question
        if not isinstance(label, str) or label in spend:
            raise ValueError(f"questions must have labels of their own, got {shown(label)} at [{place}]")
        whole("cells", cells, least=1)
        spend[label] = positive("sensitivity", sensitivity) * wide / positive("error", error)
    used, most = sum(spend.values()), math.inf if total is None else positive("total", total)
    if used > most:
        spend = {label: epsilon * most / used for label, epsilon in spend.items()}
    return spend


def odds(epsilon: float, *, prior: float = 0.5) -> Meaning:
    """What a pure loss `epsilon` means to one person, whatever an attacker knows beside the release.

    Privacy
    -------
    measure : a reading of epsilon-DP
    adjacency : that of the release
    guarantee : bounds; an attacker who knows all but one person reaches the first two at an outcome that attains the
        loss, and the advantage only if every outcome does, as with randomized response

    Parameters
    ----------
    epsilon : float
        Positive.
    prior : float
        How likely the attacker held the worse of the two worlds before, in (0, 1).

    Returns
    -------
    Meaning
        `factor`, by which odds change at most (inf for an `epsilon` of 709 and more); `posterior`, the largest
        probability afterwards; `advantage`, the most that true positives may exceed false positives.

    Raises
    ------
    ValueError
        If `epsilon` is not positive or `prior` is not in (0, 1).

    References
    ----------
    The book's {prf:ref}`thm-dp-readings`; Kairouz, Oh and Viswanath (2015) for the advantage.

    Examples
    --------
    >>> [round(value, 3) for value in odds(0.594)]
    [1.811, 0.644, 0.289]
    """
    epsilon, prior = positive("epsilon", epsilon), probability("prior", prior, zero=False)
    return Meaning(
        math.exp(epsilon) if epsilon < 709 else math.inf,
        1 / (1 + (1 / prior - 1) * math.exp(-epsilon)),
        math.tanh(epsilon / 2),
    )


def _rounded_up(loss: float) -> str:
    return f"{float(rounded(loss, 4, ROUND_CEILING)):g}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Card:
    """The card that is published beside a table: who promises what to whom, and what the numbers rest on.

    Every field is a sentence or two, except `epsilon` and `delta`. No field has a default: what is not known is said.

    Privacy
    -------
    measure : a statement about (epsilon, delta)-DP
    adjacency : a field of its own
    guarantee : `check` compares it with the ledger; it proves nothing about the program

    Parameters
    ----------
    product, publisher, contact, date : str
    people : str
        Whose data, and where they came from.
    unit, adjacency, horizon : str
        What of a person is protected, between which worlds, and for how long.
    epsilon, delta : float
        Of everything that is published under this card.
    composition : str
        How the losses were added.
    bounds, domains, thresholds : str
        With where each of them came from.
    noise, generator : str
    exempt : str
        What is published exactly.
    looked_at : str
        What was seen of the data before these choices were made.
    post_processing, accuracy : str
        And of what the error is one: of the table, or of the world.
    software, audit, raw_data : str
        `audit` with what it does not prove; `raw_data` with what becomes of the table.

    References
    ----------
    Near et al. (2025), NIST SP 800-226; Nanayakkara et al. (2025), a registry of deployments.
    """

    product: str
    publisher: str
    contact: str
    date: str
    people: str
    unit: str
    adjacency: str
    horizon: str
    epsilon: float
    delta: float
    composition: str
    bounds: str
    domains: str
    thresholds: str
    noise: str
    generator: str
    exempt: str
    looked_at: str
    post_processing: str
    accuracy: str
    software: str
    audit: str
    raw_data: str

    def check(self, budget: Budget) -> None:
        """Return quietly if the card is complete and says what the ledger says.

        Epsilon and delta may be rounded up, by one part in a thousand at most: rounded down, they promise too much.

        Parameters
        ----------
        budget : Budget
            Under which the release was made.

        Raises
        ------
        ValueError
            With all that is missing, and with what differs from the ledger.
        """
        fields = dataclasses.asdict(self)
        said_in_words = {name: said for name, said in fields.items() if name not in ("epsilon", "delta")}
        wrong = [
            f"{name} is empty"
            for name, said in said_in_words.items()
            if not isinstance(said, str) or not said.strip()
        ]
        delta = budget.spent_delta if budget.rule == "basic" else budget.delta
        for name, said, spent in (("epsilon", self.epsilon, budget.spent), ("delta", self.delta, delta)):
            if isinstance(said, bool) or not isinstance(said, Real):
                wrong.append(f"{name} must be a number, got {shown(said)}")
            elif not spent * (1 - 1e-9) <= said <= spent * (1 + 1e-3):
                wrong.append(f"{name} is {said:.9g} on the card and {spent:.9g} in the ledger")
        if wrong:
            raise ValueError("; ".join(wrong))

    def markdown(self, budget: Budget) -> str:
        """The card as a page of Markdown, with the ledger line by line; losses have four digits, rounded up.

        Parameters
        ----------
        budget : Budget
            Under which the release was made; the card is checked against it first.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            As `check`.
        """
        self.check(budget)

        def cell(text: str) -> str:  # a bar or a new line would end the cell
            return " ".join(text.split()).replace("|", "\\|")

        said = {
            name: text if isinstance(text, str) else _rounded_up(text)
            for name, text in dataclasses.asdict(self).items()
        }
        rows = [f"| {name.replace('_', ' ')} | {cell(text)} |" for name, text in said.items()]
        lines = [
            f"| {cell(entry.label or 'without a label')} | {_rounded_up(entry.epsilon)} | {_rounded_up(entry.delta)} |"
            for entry in budget.ledger
        ]
        return "\n".join(
            [
                f"# {self.product}",
                "",
                "| what | |",
                "|---|---|",
                *rows,
                "",
                "| release | ε | δ |",
                "|---|---:|---:|",
                *lines,
                "",
            ]
        )
