"""Answers to the exercises of the section on testing a promise."""
import itertools

import numpy as np
from scipy.special import betaincinv, logit

from dplib import audit
from dplib.audit import epsilon_lower_bound
from provable_privacy import check
from provable_privacy.given import testing


def my_audit(*, snoop=False, one_way=False, point=False, greedy=1, seed=None, confidence=0.95):
    """A learner's split audit, right unless told otherwise."""
    def function(run, d, d2, n, rng):
        rng = rng if seed is None else np.random.default_rng([seed, rng.integers(2**32)])
        half = greedy * (n // 2)
        looks = [run(table, half, rng) for table in (d, d2)]
        tests = looks if snoop else [run(table, half, rng) for table in (d, d2)]
        cuts = np.quantile(np.concatenate(looks), np.linspace(0, 1, 31)[1:-1])
        best = (-np.inf,)
        for first, second in ((0, 1), (1, 0))[: 1 if one_way else 2]:
            a, b = (np.bincount(np.searchsorted(cuts, looks[i]), minlength=30) for i in (first, second))
            order = np.argsort(np.log(b + 0.5) - np.log(a + 0.5))
            k1, k2 = np.cumsum(a[order]), np.cumsum(b[order])
            scores = np.where(k1 > 0, logit(betaincinv(np.maximum(k1, 1), k2 + 1, 0.05)), -np.inf)
            if scores.max() > best[0]:
                best = (scores.max(), order[: scores.argmax() + 1], first, second)
        _, bins, first, second = best
        k1, k2 = (int(np.isin(np.searchsorted(cuts, tests[i]), bins).sum()) for i in (first, second))
        if point:
            return np.log((k1 + 0.5) / (k2 + 0.5))
        return epsilon_lower_bound(k1, k2, half, confidence=confidence)

    return function


def thresholds(run, d, d2, n, rng):
    """Searches and tests on the same runs, among the events {x <= t} and their complements at four quantiles."""
    one, two = (run(table, n, rng) for table in (d, d2))
    best = -np.inf
    for t in np.quantile(np.concatenate([one, two]), [0.2, 0.4, 0.6, 0.8]):
        for a, b in (((one <= t).sum(), (two <= t).sum()), ((one > t).sum(), (two > t).sum())):
            for k1, k2 in ((a, b), (b, a)):
                best = max(best, logit(betaincinv(max(k1, 1), k2 + 1, 0.05)) if k1 else -np.inf)
    return best


def equal_bins(run, d, d2, n, rng, many=20):
    """The most telling of equal bins, tested on the runs that chose it."""
    one, two = run(d, n, rng), run(d2, n, rng)
    edges = np.histogram_bin_edges(np.concatenate([one, two]), many)
    counts = [np.histogram(sample, edges)[0] for sample in (one, two)]
    return max(audit.epsilon_lower_bound(int(k1), int(k2), n) for a, b in zip(*counts) for k1, k2 in ((a, b), (b, a)))


def best_of_four(run, d, d2, n, rng):
    """Four sound audits, and the largest bound: wrong so often that a few audits on a slow machine show it too."""
    return max(audit.audit(run, d, d2, n=n // 4, rng=rng).epsilon for _ in range(4))


def runs(true, others=9):
    """For randomized response among ten answers: the truth and one of the others."""
    return audit.runs_needed(np.exp(true) / (np.exp(true) + others), 1 / (np.exp(true) + others), epsilon=1.0)


RUNS = {true: runs(true) for true in (1.2, 1.5, 3.0)}
BREAK = {
    "same_noise": ([30, 70], [30], lambda out: out[:, 1] - out[:, 0] > -0.5),
    "tidy_sum": ([50], [], lambda out: out > 0),
    "plain_mean": ([0], [0, 0], lambda out: np.abs(out) > 250),
}
NOTICE = {"month": 60, "odds_day": np.exp(2), "belief_day": 0.0695, "true": "ACE"}


def largest(n, confidence, delta):
    log_x = np.log((1 - confidence) / 2) / n
    return np.log((np.exp(log_x) - delta) / -np.expm1(log_x)) if np.exp(log_x) > delta else -np.inf


def never_below_0(n, confidence, delta):
    bound = largest(n, confidence, delta)
    return max(bound, 0.0) if bound > -9 else bound


def broken(name, *answer):
    return {**BREAK, name: answer}


SOLUTIONS = [
    (check.audit_split, lambda seed: my_audit(seed=seed)),
    (check.audit_runs, lambda seed: RUNS),
    (check.audit_largest, lambda seed: largest),
    (check.audit_break, lambda seed: BREAK),
    (check.audit_notice, lambda seed: NOTICE),
]


def thirds(run, d, d2, n, rng):
    """A third of the runs for the search, two thirds for the test, of events {x <= t} and {x > t}."""
    few = n // 3
    one, two = (run(table, few, rng) for table in (d, d2))
    cuts = np.quantile(np.concatenate([one, two]), np.linspace(0.02, 0.98, 12))

    def bound(samples, t, above, turned):
        k = [int(((x > t) == above).sum()) for x in samples]
        return epsilon_lower_bound(*k[:: -1 if turned else 1], len(samples[0]))

    event = max(itertools.product(cuts, (True, False), (True, False)), key=lambda event: bound((one, two), *event))
    return bound([run(table, n - few, rng) for table in (d, d2)], *event)


def everything(out):
    return np.ones(len(out), dtype=bool)


WRONG = [  # checker, answer, a piece of what it must say
    (check.audit_split, my_audit(snoop=True), "other runs"),
    (check.audit_split, my_audit(point=True), "confidence bound"),
    (check.audit_split, my_audit(confidence=0.6), "at 95 %"),
    (check.audit_split, thresholds, "other runs"),
    (check.audit_split, equal_bins, "other runs"),
    (check.audit_split, best_of_four, "only one event, and only once"),
    (check.audit_split, lambda run, d, d2, n, rng: print(end=""), "`return` missing"),
    (check.audit_split, my_audit(one_way=True), "both directions"),
    (check.audit_split, my_audit(greedy=2), "are allowed"),
    (check.audit_split, lambda run, d, d2, n, rng: 0.0, "misses a gross violation"),
    (check.audit_split, lambda run, d, d2, n, rng: float("nan"), "nan"),
    (check.audit_split, lambda run, d, d2, n, rng: 1 / 0, "ZeroDivisionError"),
    (check.audit_split, "no function", "expected a function"),
    (check.audit_runs, {1.2: 2208, 1.5: 404, 3.0: 47}, "Laplace mechanism"),
    (check.audit_runs, {**RUNS, 1.5: runs(1.5, others=1)}, "for two answers"),
    (check.audit_runs, {**RUNS, 3.0: 2 * RUNS[3.0]}, "most telling"),
    (check.audit_runs, {**RUNS, 1.2: 900}, "whatever the event"),
    (check.audit_runs, {1.2: 2200}, "expected the names 1.2, 1.5, 3.0"),
    (check.audit_largest, lambda n, confidence, delta: np.log(n), "leaves the confidence out"),
    (check.audit_largest, lambda n, level, delta: -np.log(np.expm1(-np.log(1 - level) / n)), "half of the error"),
    (check.audit_largest, lambda n, confidence, delta: largest(n, confidence, 0.0), "δ is not used"),
    (check.audit_largest, lambda *case: max(largest(*case), -99), "no counts say anything"),
    (check.audit_largest, never_below_0, "more than"),
    (check.audit_largest, lambda *case: largest(*case) + 0.1, "more than"),
    (check.audit_largest, lambda *case: largest(*case) - 0.1, "most extreme"),
    (check.audit_break, broken("same_noise", [30, 70], [30, 60, 1], everything), "not neighbours"),
    (check.audit_break, broken("same_noise", [30, 70], [30], everything), "ratio of 1.00"),
    (check.audit_break, broken("same_noise", [30], [30, 70], BREAK["same_noise"][2]), "swap"),
    (check.audit_break, broken("same_noise", [30, 70], [31], everything), "not neighbours"),
    (check.audit_break, broken("tidy_sum", [50], [], lambda out: out > 1000), "never happens"),
    (check.audit_break, broken("tidy_sum", [50], [], lambda out: out.mean() > 0), "True or False for each run"),
    (check.audit_break, broken("tidy_sum", [50], [200, 50], everything), "between 0 and 120"),
    (check.audit_break, broken("plain_mean", [0], [0, 0], lambda out: np.abs(out) > 95), "must be above e"),
    (check.audit_break, broken("plain_mean", [0], [0, 0], lambda out: np.abs(out) > 1000), "happens more often"),
    (check.audit_break, broken("same_noise", [30, 70], [30], lambda out: out[:, 1] > 3), "luck alone may give that"),
    (check.audit_break, broken("plain_mean", [0], [0, 0], lambda out: 1 / 0), "ZeroDivisionError"),
    (check.audit_break, broken("plain_mean", [0], [0, 0]), "expected (table, table2, event)"),
    (check.audit_notice, {**NOTICE, "month": 2}, "basic composition"),
    (check.audit_notice, {**NOTICE, "odds_day": 2}, "odds by at most e^ε"),
    (check.audit_notice, {**NOTICE, "belief_day": 0.0739}, "turn 1 % into odds"),
    (check.audit_notice, {**NOTICE, "true": "ABCE"}, "sentence B is false"),
    (check.audit_notice, {**NOTICE, "true": "AC"}, "sentence E is true"),
    (check.audit_notice, {**NOTICE, "true": "ACDE"}, "sentence D is false"),
    (check.audit_notice, {**NOTICE, "true": "XYZ"}, "not on the list"),
    (check.audit_notice, {"month": 60}, "missing"),
]

UNUSUAL = [
    (check.audit_split, lambda run, d, d2, n, rng: audit.audit(run, d, d2, n=n, rng=rng).epsilon),
    (check.audit_split, thirds),
    (check.audit_break, broken("same_noise", [], [70], lambda out: (out[:, 1] < out[:, 0] + 0.5).tolist())),
    (check.audit_break, broken("tidy_sum", [], [100], lambda out: (out == 0) | (out < -5))),
    (check.audit_break, broken("plain_mean", [100], [100, 100], lambda out: out > 500)),
    (check.audit_runs, {true: 1.02 * runs for true, runs in RUNS.items()}),
    (check.audit_notice, {**NOTICE, "true": ["e", "c", "a"]}),
]


def test_what_is_still_missing_is_named_and_is_no_mistake(says):
    rows = ((check.audit_break, BREAK, "tidy_sum"), (check.audit_runs, RUNS, 1.5), (check.audit_notice, NOTICE, "true"))
    for checker, answer, part in rows:
        assert says(checker, {**answer, part: ...}).startswith(f"○ {checker.__name__}: {part} not attempted yet")


def test_an_event_cannot_learn_which_table_it_is_shown(says):
    """Two calls, True for the first and False for the second, would refute anything."""
    calls = []

    def event(out):
        calls.append(len(out))
        return np.full(len(out), len(calls) == 1)

    assert says(check.audit_break, broken("same_noise", [30, 70], [30], event)).startswith("✗")


def test_the_programs_are_as_broken_as_the_section_says():
    """Against independent laws: sqrt 2 for the vendor, and the tails of the mean."""
    rng = np.random.default_rng(1)
    noise = np.abs(testing.vendor([1, 2], 200_000, rng) - 2)
    assert abs(noise.mean() * 2**0.5 - 1) < 6 / 200_000**0.5
    mean = np.abs(testing.plain_mean([0, 0], 200_000, rng)) > 100
    assert abs(mean.mean() - np.exp(-2)) < 6 * (np.exp(-2) / 200_000) ** 0.5
