"""Checkers of chapter 2, testing a promise, and the programs that the section puts to the test."""
from collections import Counter

import numpy as np
from scipy.special import bdtrik

from dplib.audit import epsilon_lower_bound, runs_needed
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

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
        raise Wrong(f"{seen}: a ratio above e, but too rare to be certain; look for a likelier event")
    raise Wrong(f"{seen}: a ratio of {k1 / max(k2, 1):.2f}, and it must be above e = 2.72")


@checker
def audit_break(answer):
    """`answer`: program -> (table, table2, event), neighbours and an event that refute epsilon = 1."""
    if all(value is ... for value in dict(answer).values()):
        raise NotAttempted
    if set(answer) != set(PROGRAMS):
        raise Wrong(f"expected the programs {', '.join(PROGRAMS)}")
    for name, program in PROGRAMS.items():
        if answer[name] is ...:
            raise Wrong(f"{name}: not attempted yet")
        try:
            _refute(program, answer[name])
        except Wrong as reason:
            raise Wrong(f"{name}: {reason}") from None
    return f"all three are refuted: on {RUNS:,} fresh runs each, a loss above 1, wrong once in a million times"


def _laplace(scale):
    return lambda answer, size, rng: answer + rng.laplace(scale=scale, size=size)


def _same(answer, size, rng):
    return rng.normal(size=size)


def _one_sided(answer, size, rng):
    """On 1, three outputs in ten are what never comes out on 0."""
    return rng.random(size) + 2 * answer * (rng.random(size) < 0.3)


class _Metered:
    """A mechanism that counts its runs on each data set."""

    def __init__(self, run):
        self.run, self.used = run, Counter()

    def __call__(self, answer, size, rng=None):
        self.used[answer] += int(size)
        return self.run(answer, int(size), np.random.default_rng(rng))


def _bounds(my_audit, run, n, times, seed):
    found = []
    for rng in np.random.default_rng(seed).spawn(times):
        metered = _Metered(run)
        bound = ask(my_audit, metered, 0.0, 1.0, n, rng)
        if bound is None:
            raise NotAttempted
        if metered.used and max(metered.used.values()) > n + 6 * n**0.5:
            raise Wrong(f"it made {max(metered.used.values()):,} runs on one data set, and n = {n:,} are paid for")
        bound = float(bound)
        if np.isnan(bound):
            raise Wrong("it returned nan; an event that never happens says nothing: return -inf")
        found.append(bound)
    return np.array(found)


AUDITS = 120


@checker
def audit_split(my_audit):
    """`my_audit(run, d, d2, n, rng)`: a lower bound on the loss, at 95 %, from n runs on each data set."""
    most = int(np.floor(bdtrik(1 - LEVEL, AUDITS, 0.05))) + 1
    for run, n, truth, what in ((_laplace(1.0), 1000, 1.0, "a correct Laplace mechanism at ε = 1"),
                                (_same, 1000, 0.0, "a mechanism that ignores its data")):
        wrong = int((_bounds(my_audit, run, n, AUDITS, 25) > truth + 1e-9).sum())
        if wrong > most:
            raise Wrong(
                f"of {AUDITS} audits of {what}, {wrong} put its loss above the truth, and 5 % may. Are the event and its direction chosen on other "
                "runs than those that test it, and is the bound a confidence bound?"
            )
    for run, why in ((_laplace(1 / 3), "the event {output <= t} with a good t shows it"),
                     (_one_sided, "only on the second data set do some outputs occur: try both directions, and more than one kind of event")):
        bounds = _bounds(my_audit, run, 4000, 10, 26)
        if (bounds > 1).sum() < 9:
            raise Wrong(f"it misses a gross violation of ε = 1 in {int((bounds <= 1).sum())} of 10 audits with n = 4,000; {why}")
    return f"valid ({AUDITS} audits of each of two sound mechanisms) and able to see: two gross violations of ε = 1 are caught"


def _best_runs(true):
    """Fewest runs that refute epsilon = 1 by an event {x <= t}, for Laplace noise whose true loss is `true`."""
    t = np.linspace(-1.5, 0.99, 250)
    p = np.where(t < 0, np.exp(true * np.minimum(t, 0)) / 2, 1 - np.exp(-true * np.maximum(t, 0)) / 2)
    q = np.exp(true * (t - 1)) / 2
    share, fair = p / (p + q), np.e / (1 + np.e)
    spread = np.sqrt(share * (1 - share)) + np.sqrt(fair * (1 - fair))
    rough = np.where(share > fair, (spread / np.maximum(share - fair, 1e-9)) ** 2 / (p + q), np.inf)   # normal approximation
    found = [runs_needed(float(p[i]), float(q[i]), 1.0) for i in np.argsort(rough)[:12]]
    return min(found)


@checker
def audit_runs(answer):
    """`answer`: true epsilon -> runs on each data set that refute the claim 1, by the best event {x <= t}."""
    if all(value is ... for value in dict(answer).values()):
        raise NotAttempted
    expected = (1.2, 1.5, 3.0)
    if sorted(float(true) for true in answer) != sorted(expected):
        raise Wrong(f"expected the true losses {expected}")
    for true, runs in answer.items():
        if runs is ...:
            raise Wrong(f"{true}: not attempted yet")
        best = _best_runs(float(true))
        if float(runs) < 0.97 * best:
            raise Wrong(f"a true loss of {true:g} is not refuted by {runs:,} runs with probability 95 %, whatever the threshold")
        if float(runs) > 1.06 * best:
            raise Wrong(f"a true loss of {true:g} can be refuted with fewer than {runs:,} runs: move the threshold")
    return "the nearer the truth is to the claim, the dearer it is to tell them apart"


@checker
def audit_largest(largest):
    """`largest(n, confidence)`: the largest bound that `epsilon_lower_bound` can ever return from n runs on each data set."""
    for n, confidence in ((100, 0.95), (10_000, 0.95), (10_000, 0.99), (1_000_000, 0.95)):
        got = ask(largest, n, confidence)
        if got is None:
            raise NotAttempted
        got, alpha = float(got), 1 - confidence
        best = epsilon_lower_bound(n, 0, n, confidence=confidence)
        case = f"for n = {n:,} at {confidence:.0%}"
        if np.isclose(got, best, rtol=1e-6, atol=1e-9):
            continue
        if np.isclose(got, np.log(n), rtol=1e-3):
            raise Wrong(f"{case}: ln n leaves the confidence out; an event that did not happen in n runs may still have a probability of about 3.7/n")
        if np.isclose(got, -np.log(np.expm1(-np.log(alpha) / n)), rtol=1e-6):
            raise Wrong(f"{case}: each of the two intervals has half of the error, α/2, and not all of it")
        if got > best:
            raise Wrong(f"{case}: {got:.4f} is more than {best:.4f}, which the extreme counts give")
        raise Wrong(f"{case}: {got:.4f} is not the largest; which counts k1 and k2 are the most extreme?")
    return "no event can certify more: with n runs about ln n - 1.3 at 95 %"


TRUE_SENTENCES = set("ACE")


@checker
def audit_notice(answer):
    """`answer`: the numbers behind a privacy notice, and which of its sentences are true."""
    answer = dict(answer)
    if all(value is ... for value in answer.values()):
        raise NotAttempted
    numbers = {"month": 60.0, "odds_day": np.exp(2), "belief_day": 0.01 * np.exp(2) / (0.99 + 0.01 * np.exp(2))}
    hints = {
        "month": "thirty reports, each with its own ε, and basic composition",
        "odds_day": "one report multiplies the odds by e^ε at most",
        "belief_day": "turn 1 % into odds, multiply, and turn the odds back into a probability",
    }
    if set(answer) != {*numbers, "true"}:
        raise Wrong(f"expected the entries {', '.join([*numbers, 'true'])}")
    for name, value in numbers.items():
        if answer[name] is ...:
            raise Wrong(f"{name}: not attempted yet")
        if not np.isclose(float(answer[name]), value, rtol=1e-2):
            raise Wrong(f"{name}: not {float(answer[name]):g}; {hints[name]}")
    if answer["true"] is ...:
        raise Wrong("true: not attempted yet")
    said = {str(letter).upper() for letter in answer["true"]} - {" ", ","}
    reasons = {
        "A": "the noise is drawn on the phone, so the clear answer never leaves it",
        "B": "thirty fresh reports cost thirty times ε, not once",
        "C": "the bound on the odds holds from any prior belief, so whatever else is known",
        "D": "ε = 2 moves the odds by a factor of up to 7.4, which is much, and a month moves them without a useful bound",
        "E": "sending a stored report again is post-processing: it costs nothing more",
    }
    if not said <= set(reasons):
        raise Wrong(f"expected letters from A to E, got {answer['true']!r}")
    for letter in sorted(said ^ TRUE_SENTENCES):
        raise Wrong(f"sentence {letter} is {'true' if letter in TRUE_SENTENCES else 'false'}: {reasons[letter]}")
    return "a notice that a lawyer and a statistician could both sign"
