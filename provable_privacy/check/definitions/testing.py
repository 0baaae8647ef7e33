"""Checkers of the section on testing a promise."""
import functools
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrik

from dplib.audit import epsilon_lower_bound, runs_needed
from provable_privacy.entries import AnyOf, Number, entries, judge_all, same_names
from provable_privacy.formulas import on_cases
from provable_privacy.given.testing import plain_mean, same_noise, tidy_sum
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["audit_break", "audit_largest", "audit_notice", "audit_runs", "audit_split"]

LEVEL = 1e-6                                     # how often a right answer is refused


# ------------------------------------------------------------------------------------- programs that break a promise

RUNS = 100_000


def _neighbours(answer):
    """Two tables of ages that differ by one row, or `Wrong`."""
    tables = [[float(age) for age in table] for table in answer]
    if max(map(len, tables)) > 1000:
        raise Wrong("a thousand rows are more than enough")
    if not all(0 <= age <= 120 for table in tables for age in table):
        raise Wrong("ages lie between 0 and 120")
    one, two = map(Counter, tables)
    extra, missing = (one - two).total(), (two - one).total()
    if extra + missing != 1:
        raise Wrong(f"these are not neighbours: {extra} rows are only in the first table and {missing} only in the "
                    "second; under add/remove two neighbours differ by one row")
    return tables


def _certified(k1, k2):
    return epsilon_lower_bound(k1, k2, RUNS, confidence=1 - LEVEL) > 1


def _not_enough(k1, k2):
    if _certified(k2, k1):
        return "swap the two tables"
    if k1 == 0:
        return "it never happens where it should"
    if k1 <= np.e * k2:
        return f"a ratio of {k1 / k2:.2f}, and it must be above e = 2.72"
    ratio = f"the ratio of {k1 / k2:.2f} is above e = 2.72, but" if k2 else "it happens on one table only, but"
    return f"{ratio} luck alone may give that; look for a larger ratio, or for an event that happens more often"


@dataclass(frozen=True)
class Refuted:
    """Two neighbours and an event that certifies, on fresh runs of the program, a loss above 1 between them."""

    program: object

    def judge(self, said):
        if not isinstance(said, (tuple, list)) or len(said) != 3:
            raise Wrong("expected (table, table2, event)")
        k1, k2 = self.counted(_neighbours(said[:2]), said[2])
        if not _certified(k1, k2):
            raise Wrong(f"of {RUNS:,} runs each, the event happens in {k1:,} on the first table and in {k2:,} on the "
                        f"second: {_not_enough(k1, k2)}")

    def counted(self, tables, event):
        """How often the event happens on each table. It sees the outputs, and not which table they come from."""
        rng = np.random.default_rng(24)
        outputs = np.concatenate([self.program(table, RUNS, rng) for table in tables])
        order = rng.permutation(2 * RUNS)
        happened = np.asarray(ask(event, outputs[order].copy()))
        if happened.shape != (2 * RUNS,) or not np.isin(happened, (0, 1)).all():
            raise Wrong("event(outputs) must say True or False for each run: an array with one entry for each row")
        return int(happened[order < RUNS].sum()), int(happened[order >= RUNS].sum())


PROGRAMS = {"same_noise": Refuted(same_noise), "tidy_sum": Refuted(tidy_sum), "plain_mean": Refuted(plain_mean)}


@checker
def audit_break(answer):
    """`answer`: program -> (table, table2, event), neighbours and an event that refute epsilon = 1."""
    answer = same_names(answer, PROGRAMS)
    judge_all({name: (program, answer[name]) for name, program in PROGRAMS.items()})
    return f"all three are refuted: a loss above 1 on {RUNS:,} fresh runs each; luck alone does that once in a million"


# -------------------------------------------------------------------------------------------- an audit of one's own

def _laplace(scale):
    return lambda answer, size, rng: answer + rng.laplace(scale=scale, size=size)


def _same(answer, size, rng):
    return rng.normal(size=size)


def _one_sided(answer, size, rng):
    """On 1, three outputs in ten are what never comes out on 0."""
    return rng.random(size) + 2 * answer * (rng.random(size) < 0.3)


def _two_floors(answer, size, rng):
    """Randomized response at ε = 4, told by a number on its floor: every event on one floor is at the limit."""
    return rng.random(size) + np.where(rng.random(size) < 1 / (1 + np.exp(4)), 1 - answer, answer)


AUDITS, SECONDS = 1500, 4.0
SOUND = [                                        # a mechanism, what it is, its loss, runs of an audit, audits
    (_laplace(1.0), "a correct Laplace mechanism at ε = 1", 1.0, 1000, 100),
    (_same, "a mechanism that ignores its data", 0.0, 400, AUDITS),
    (_two_floors, "randomized response at ε = 4, 0 or 1 plus a number up to 1", 4.0, 7000, AUDITS // 4),
]
BROKEN = [                                       # a mechanism that violates ε = 1, how to catch it
    (_laplace(1 / 3), "the event {output <= t} with a good t shows it"),
    (_one_sided, "some outputs occur on the second data set only: try both directions and several kinds of events"),
]


class Metered:
    """A mechanism that counts its runs on each data set."""

    def __init__(self, run):
        self.run, self.used = run, Counter()

    def __call__(self, answer, size, rng=None):
        self.used[answer] += int(size)
        return self.run(answer, int(size), np.random.default_rng(rng))


def _bounds(my_audit, run, n, times, seed):
    """The bounds of `times` audits; of fewer if they are slow."""
    found, start = [], time.process_time()
    for i, rng in enumerate(np.random.default_rng(seed).spawn(times)):
        if i % 100 == 99 and time.process_time() - start > SECONDS:
            break
        metered = Metered(run)
        bound = answered(my_audit, metered, 0.0, 1.0, n, rng)
        if metered.used and max(metered.used.values()) > n + 6 * n**0.5:
            raise Wrong(f"it made {max(metered.used.values()):,} runs on one data set, and only n = {n:,} are allowed")
        try:
            found.append(float(bound))
        except (TypeError, ValueError):
            raise Wrong(f"it returned {bound!r}, which is not a number"[:200]) from None
        if np.isnan(found[-1]):
            raise Wrong("it returned nan; an event that never happens says nothing: return -inf")
    return np.array(found)


@checker
def audit_split(my_audit):
    """`my_audit(run, d, d2, n, rng)`: a lower bound on the loss, at 95 %, from n runs on each data set."""
    for run, what, loss, n, times in SOUND:
        bounds = _bounds(my_audit, run, n, times, 25)
        wrong = int((bounds > loss + 1e-9).sum())
        if wrong > int(np.floor(bdtrik(1 - LEVEL / 3, len(bounds), 0.05))) + 1:
            raise Wrong(f"of {len(bounds):,} audits of {what}, {wrong} put its loss above the truth, and 5 % may. "
                        "Do you choose the event and its direction on other runs than those that test it? Do you "
                        "test only one event, and only once? Is the bound a confidence bound at 95 %?")
    for run, why in BROKEN:
        missed = int((_bounds(my_audit, run, 4000, 10, 26) <= 1).sum())
        if missed > 1:
            raise Wrong(f"it misses a gross violation of ε = 1 in {missed} of 10 audits with n = 4,000; {why}")
    return ("three sound mechanisms are accused no more often than 5 % allows, and two gross violations of ε = 1 are "
            "caught")


# ------------------------------------------------------------------------------------------------ what an audit needs

ANSWERS = 10


@functools.cache
def _best_runs(true):
    """Fewest runs that refute epsilon = 1 by any event: randomized response among ten answers, whose loss is `true`."""
    laws = np.ones((2, ANSWERS))
    laws[0, 0] = laws[1, 1] = np.exp(true)
    laws /= laws.sum(axis=1, keepdims=True)
    order = np.argsort(laws[1] / laws[0])        # most telling answers first: the best event is some of these
    events = np.cumsum(laws[:, order], axis=1).T
    return min(runs_needed(float(p), float(q), epsilon=1.0) for p, q in events[:3] if np.log(p / q) > 1)


@entries("the nearer the true loss is to the claimed loss, the more runs an audit needs to tell them apart")
def audit_runs():
    """`answer`: true epsilon -> runs on each of two true answers that refute the claim 1, by the best event."""
    def entry(true):
        e = np.exp(true)
        return Number(
            round(1.015 * _best_runs(true)), relative=0.0444,            # from 3 % below the fewest to 6 % above
            mistakes={
                "{said} would be right for two answers; among ten, the truth is rarer":
                    runs_needed(e / (1 + e), 1 / (1 + e), epsilon=1.0),
                "{said} is right for the Laplace mechanism; here a report is one of ten answers":
                    runs_needed(1 - np.exp(-0.1 * true) / 2, e**-0.9 / 2, epsilon=1.0)},
            below="{said} runs do not refute this loss with probability 95 %, whatever the event",
            above="fewer than {said} runs are enough: take the most telling event")

    return {true: entry(true) for true in (1.2, 1.5, 3.0)}


CEILINGS = [(100, 0.95, 0.0), (10_000, 0.95, 0.0), (10_000, 0.99, 1e-5), (30, 0.95, 0.2), (3, 0.95, 0.0),
            (3, 0.95, 0.3), (2, 0.95, 0.4), (1_000_000, 0.95, 0.01)]


def _ceiling(n, confidence, delta):
    return epsilon_lower_bound(n, 0, n, confidence=confidence, delta=delta)


CEILING_MISTAKES = {
    "ln n leaves the confidence out; an event that did not happen in n runs may have a probability of about 3.7/n":
        lambda n, confidence, delta: np.log(n),
    "each of the two intervals has half of the error, α/2, and not all of it":
        lambda n, confidence, delta: -np.log(np.expm1(-np.log(1 - confidence) / n)),
    "δ is not used; it is taken off the lower bound of the first probability":
        lambda n, confidence, delta: _ceiling(n, confidence, 0.0),
}


def _off(got, right, n, confidence, delta):
    if right == -np.inf:
        return "after δ is taken off, nothing is left of the lower bound, so no counts say anything: return -np.inf"
    if got > right:
        return f"that is more than {right:.6g}, which the extreme counts give"
    return "that is not the largest; which counts k1 and k2 are the most extreme?"


@checker
def audit_largest(largest):
    """`largest(n, confidence, delta)`: the largest bound of `epsilon_lower_bound` from n runs on each data set."""
    on_cases(largest, CEILINGS, _ceiling, CEILING_MISTAKES, atol=1e-9, finite=False, what="the ceiling", otherwise=_off)
    return "no event can certify more: with n runs about ln n - 1.3 at 95 %"


# --------------------------------------------------------------------------------------------------- a privacy notice

@entries("each of its sentences can be kept")
def audit_notice():
    """`answer`: the numbers behind a privacy notice, and which of its sentences are true."""
    odds = np.exp(2)
    return {
        "month": Number(60, "thirty reports, each with its own ε, and basic composition", relative=1e-2),
        "odds_day": Number(odds, "one report multiplies the odds by at most e^ε", relative=1e-2),
        "belief_day": Number(0.01 * odds / (0.99 + 0.01 * odds), tolerance=1e-4, relative=1e-2,
                             hint="turn 1 % into odds, multiply, and turn the odds back into a probability"),
        "true": AnyOf({
            "A": "the noise is drawn on the phone, so what it sends is a randomized answer",
            "B": "thirty fresh reports cost thirty times ε, not once",
            "C": "the bound on the odds holds for any prior belief, so whatever else is known",
            "D": "ε = 2 multiplies the odds by up to 7.4, which is much; and for a month there is no useful bound",
            "E": "sending a stored report again is post-processing: it costs nothing more",
        }, ("A", "C", "E"), "sentence {item} is true: {why}", "sentence {item} is false: {why}"),
    }
