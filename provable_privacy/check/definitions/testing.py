"""Checkers of chapter 2, testing a promise, and the programs that the section puts to the test."""
import time
from collections import Counter
from functools import lru_cache

import numpy as np
from scipy.special import bdtrik

from dplib.audit import epsilon_lower_bound, runs_needed
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, compare_dict, number

__all__ = ["audit_break", "audit_largest", "audit_notice", "audit_runs", "audit_split"]

LEVEL = 1e-6                                     # how often a right answer is refused


# ------------------------------------------------------------------------------- the programs, each sold as epsilon = 1

def vendor(table, size, rng):
    """How many rows? As sold to the town."""
    epsilon, deviation = 1.0, 1.0
    scale = deviation / (epsilon * np.sqrt(2))
    return len(table) + rng.laplace(scale=scale, size=size)


def own_bins(ages, size, rng):
    """A histogram of four bins, over the range of the ages."""
    counts, _ = np.histogram(ages, bins=4)
    return counts + rng.laplace(scale=1.0, size=(size, 4))


def same_noise(ages, size, rng):
    """How many are under 65, and how many are not?"""
    young = sum(age < 65 for age in ages)
    noise = rng.laplace(scale=1.0, size=size)
    return np.column_stack([young + noise, len(ages) - young + noise])


def tidy_sum(ages, size, rng):
    """The sum of the ages, never less than 0 and never more than can be."""
    noisy = np.clip(ages, 0, 100).sum() + rng.laplace(scale=100.0, size=size)
    return np.clip(noisy, 0, len(ages) * max(ages, default=0))


def plain_mean(ages, size, rng):
    """The mean of the ages: a noisy sum over their number."""
    noisy = np.clip(ages, 0, 100).sum() + rng.laplace(scale=100.0, size=size)
    return noisy / max(len(ages), 1)


# ------------------------------------------------------------------------------------------------------------- exercises

RUNS = 100_000
PROGRAMS = {"same_noise": same_noise, "tidy_sum": tidy_sum, "plain_mean": plain_mean}


def _tables(answer):
    """Two tables of ages that differ by one row, or `Wrong`."""
    tables = []
    for table in answer:
        table = [float(age) for age in table]
        if len(table) > 1000:
            raise Wrong("a thousand rows are more than enough")
        if not all(0 <= age <= 120 for age in table):
            raise Wrong("ages lie between 0 and 120")
        tables.append(table)
    one, two = (Counter(table) for table in tables)
    extra, missing = (one - two).total(), (two - one).total()
    if extra + missing != 1:
        raise Wrong(
            f"these are not neighbours: {extra} rows are only in the first table and {missing} only in the second; under add/remove one row is there or not"
        )
    return tables


def _refute(program, answer):
    """`Wrong` unless the event, on fresh runs, certifies a loss above 1 between the two tables."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 3:
        raise Wrong("expected (table, table2, event)")
    tables, event = _tables(answer[:2]), answer[2]
    rng = np.random.default_rng(24)
    outputs = np.concatenate([program(table, RUNS, rng) for table in tables])
    order = rng.permutation(2 * RUNS)            # the event sees the outputs, and not where they come from
    happened = np.asarray(ask(event, outputs[order].copy()))
    if happened.shape != (2 * RUNS,) or not np.isin(happened, (0, 1)).all():
        raise Wrong("event(outputs) must say True or False for each run: an array with one entry for each row of outputs")
    k1, k2 = (int(happened[order < RUNS].sum()), int(happened[order >= RUNS].sum()))
    if epsilon_lower_bound(k1, k2, RUNS, confidence=1 - LEVEL) > 1:
        return
    seen = f"of {RUNS:,} runs each, the event happens in {k1:,} on the first table and in {k2:,} on the second"
    if epsilon_lower_bound(k2, k1, RUNS, confidence=1 - LEVEL) > 1:
        raise Wrong(f"{seen}: swap the two tables")
    if k1 == 0:
        raise Wrong(f"{seen}: it never happens where it should")
    if k1 > np.e * k2:
        raise Wrong(f"{seen}: a ratio of {k1 / max(k2, 1):.2f}, above e = 2.72, but by no more than luck may add; look for a larger ratio, or a likelier event")
    raise Wrong(f"{seen}: a ratio of {k1 / max(k2, 1):.2f}, and it must be above e = 2.72")


@checker
def audit_break(answer):
    """`answer`: program -> (table, table2, event), neighbours and an event that refute epsilon = 1."""
    if set(answer) != set(PROGRAMS):
        raise Wrong(f"expected the programs {', '.join(PROGRAMS)}")
    todo = [name for name in PROGRAMS if answer[name] is ...]
    for name in [name for name in PROGRAMS if name not in todo]:
        try:
            _refute(PROGRAMS[name], answer[name])
        except Wrong as reason:
            raise Wrong(f"{name}: {reason}") from None
    if todo:
        raise NotAttempted(", ".join(todo) if len(todo) < len(PROGRAMS) else "")
    return f"all three are refuted: on {RUNS:,} fresh runs each, a loss above 1, wrong once in a million times"


def _laplace(scale):
    return lambda answer, size, rng: answer + rng.laplace(scale=scale, size=size)


def _same(answer, size, rng):
    return rng.normal(size=size)


def _one_sided(answer, size, rng):
    """On 1, three outputs in ten are what never comes out on 0."""
    return rng.random(size) + 2 * answer * (rng.random(size) < 0.3)


def _two_floors(answer, size, rng):
    """Randomized response at ε = 4, told by a number anywhere on its floor: every event on one floor is at the limit."""
    return rng.random(size) + np.where(rng.random(size) < 1 / (1 + np.exp(4)), 1 - answer, answer)


class _Metered:
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
        metered = _Metered(run)
        bound = answered(my_audit, metered, 0.0, 1.0, n, rng)
        if metered.used and max(metered.used.values()) > n + 6 * n**0.5:
            raise Wrong(f"it made {max(metered.used.values()):,} runs on one data set, and n = {n:,} are paid for")
        try:
            found.append(float(bound))
        except (TypeError, ValueError):
            raise Wrong(f"it returned {bound!r}, and not a number"[:200]) from None
        if np.isnan(found[-1]):
            raise Wrong("it returned nan; an event that never happens says nothing: return -inf")
    return np.array(found)


AUDITS, SECONDS = 1500, 4.0


@checker
def audit_split(my_audit):
    """`my_audit(run, d, d2, n, rng)`: a lower bound on the loss, at 95 %, from n runs on each data set."""
    for run, n, times, truth, what in ((_laplace(1.0), 1000, 100, 1.0, "a correct Laplace mechanism at ε = 1"),
                                       (_same, 400, AUDITS, 0.0, "a mechanism that ignores its data"),
                                       (_two_floors, 7000, AUDITS // 4, 4.0, "randomized response at ε = 4, 0 or 1 plus a number up to 1")):
        bounds = _bounds(my_audit, run, n, times, 25)
        wrong, most = int((bounds > truth + 1e-9).sum()), int(np.floor(bdtrik(1 - LEVEL / 3, len(bounds), 0.05))) + 1
        if wrong > most:
            raise Wrong(
                f"of {len(bounds):,} audits of {what}, {wrong} put its loss above the truth, and 5 % may. Are the event and its direction chosen on "
                "other runs than those that test it, is one event tested, once, and is the bound a confidence bound, at 95 %?"
            )
    for run, why in ((_laplace(1 / 3), "the event {output <= t} with a good t shows it"),
                     (_one_sided, "only on the second data set do some outputs occur: try both directions, and more than one kind of event")):
        bounds = _bounds(my_audit, run, 4000, 10, 26)
        if (bounds > 1).sum() < 0.9 * len(bounds):
            raise Wrong(f"it misses a gross violation of ε = 1 in {int((bounds <= 1).sum())} of 10 audits with n = 4,000; {why}")
    return "three sound mechanisms are accused no more often than 5 % allows, and two gross violations of ε = 1 are caught"


ANSWERS = 10


@lru_cache
def _best_runs(true):
    """Fewest runs that refute epsilon = 1 by any event, for randomized response among ten answers whose true loss is `true`."""
    laws = np.ones((2, ANSWERS))
    laws[0, 0] = laws[1, 1] = np.exp(true)
    laws /= laws.sum(axis=1, keepdims=True)
    order = np.argsort(laws[1] / laws[0])                    # most telling answers first: the best event is some of these
    events = np.cumsum(laws[:, order], axis=1).T
    return min(runs_needed(float(p), float(q), epsilon=1.0) for p, q in events[:3] if np.log(p / q) > 1)


@checker
def audit_runs(answer):
    """`answer`: true epsilon -> runs on each of two true answers that refute the claim 1, by the best event."""
    answer, expected = dict(answer), (1.2, 1.5, 3.0)
    if sorted(float(true) for true in answer) != sorted(expected):
        raise Wrong(f"expected the true losses {expected}")
    todo = [f"{true:g}" for true, runs in answer.items() if runs is ...]
    for true, runs in answer.items():
        if runs is ...:
            continue
        best, runs, e = _best_runs(float(true)), number(runs, f"{true:g}"), np.exp(float(true))
        if 0.97 * best <= runs <= 1.06 * best:
            continue
        if np.isclose(runs, runs_needed(e / (1 + e), 1 / (1 + e), epsilon=1.0), rtol=0.05):
            raise Wrong(f"{true:g}: {runs:,.0f} would be right for two answers; among ten, the truth is rarer")
        if np.isclose(runs, runs_needed(1 - np.exp(-0.1 * float(true)) / 2, e**-0.9 / 2, epsilon=1.0), rtol=0.05):
            raise Wrong(f"{true:g}: {runs:,.0f} is the price of the Laplace mechanism; here the reports are one of ten answers")
        if runs < best:
            raise Wrong(f"a true loss of {true:g} is not refuted by {runs:,.0f} runs with probability 95 %, whatever the event")
        raise Wrong(f"a true loss of {true:g} can be refuted with fewer than {runs:,.0f} runs: take the most telling event")
    if todo:
        raise NotAttempted(", ".join(todo) if len(todo) < len(expected) else "")
    return "the nearer the truth is to the claim, the dearer it is to tell them apart"


@checker
def audit_largest(largest):
    """`largest(n, confidence, delta)`: the largest bound that `epsilon_lower_bound` can ever return from n runs on each data set."""
    for n, confidence, delta in ((100, 0.95, 0.0), (10_000, 0.95, 0.0), (10_000, 0.99, 1e-5), (30, 0.95, 0.2), (3, 0.95, 0.0), (3, 0.95, 0.3), (2, 0.95, 0.4),
                                 (1_000_000, 0.95, 0.01)):
        got = number(answered(largest, n, confidence, delta), "the ceiling", finite=False)
        best, alpha = epsilon_lower_bound(n, 0, n, confidence=confidence, delta=delta), 1 - confidence
        case = f"for n = {n:,} at {confidence:.0%}, δ = {delta:g}"
        if got == best or np.isclose(got, best, rtol=1e-6, atol=1e-9):
            continue
        x = (alpha / 2) ** (1 / n)
        if np.isclose(got, np.log(n), rtol=1e-3):
            raise Wrong(f"{case}: ln n leaves the confidence out; an event that did not happen in n runs may still have a probability of about 3.7/n")
        if np.isclose(got, -np.log(np.expm1(-np.log(alpha) / n)), rtol=1e-6):
            raise Wrong(f"{case}: each of the two intervals has half of the error, α/2, and not all of it")
        if delta and np.isclose(got, np.log(x / (1 - x)), rtol=1e-6):
            raise Wrong(f"{case}: δ is not used; it is taken off the lower bound of the first probability")
        if best == -np.inf:
            raise Wrong(f"{case}: after δ is taken off nothing is left of the lower bound, so no counts say anything: return -np.inf, not {got:g}")
        if got > best:
            raise Wrong(f"{case}: {got:.6g} is more than {best:.6g}, which the extreme counts give")
        raise Wrong(f"{case}: {got:.6g} is not the largest; which counts k1 and k2 are the most extreme?")
    return "no event can certify more: with n runs about ln n - 1.3 at 95 %"


TRUE_SENTENCES = set("ACE")


@checker
def audit_notice(answer):
    """`answer`: the numbers behind a privacy notice, and which of its sentences are true."""
    answer = dict(answer)
    right = {"month": 60.0, "odds_day": np.exp(2), "belief_day": 0.01 * np.exp(2) / (0.99 + 0.01 * np.exp(2)), "true": "ACE"}
    hints = {
        "month": "thirty reports, each with its own ε, and basic composition",
        "odds_day": "one report multiplies the odds by e^ε at most",
        "belief_day": "turn 1 % into odds, multiply, and turn the odds back into a probability",
    }
    reasons = {
        "A": "the noise is drawn on the phone, so what it sends is a randomized answer",
        "B": "thirty fresh reports cost thirty times ε, not once",
        "C": "the bound on the odds holds from any prior belief, so whatever else is known",
        "D": "ε = 2 moves the odds by a factor of up to 7.4, which is much, and a month moves them without a useful bound",
        "E": "sending a stored report again is post-processing: it costs nothing more",
    }
    if "true" in answer and answer["true"] is not ...:
        said = {str(letter).upper() for letter in answer["true"]} - {" ", ","}
        if not said <= set(reasons):
            raise Wrong(f"expected letters from A to E, got {answer['true']!r}")
        for letter in sorted(said ^ set(right["true"])):
            raise Wrong(f"sentence {letter} is {'true' if letter in right['true'] else 'false'}: {reasons[letter]}")
        answer["true"] = right["true"]
    compare_dict(answer, right, lambda name, said: f"not {said:g}; {hints[name]}", tolerance=1e-4, relative=1e-2)
    return "each of its sentences can be kept"
