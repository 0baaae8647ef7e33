"""The checkers of the section on membership: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import numpy as np
import pytest

from dplib.attacks import tpr_at, tracing
from dplib.teaching import check
from dplib.teaching.check.attacks import membership


def stub(*arguments):
    ...


def distances(released, population, targets):
    """Homer's question: nearer to the release than to the population?"""
    return np.abs(targets - population).sum(axis=1) - np.abs(targets - released).sum(axis=1)


def disproved(tpr, fpr):
    ratios = []
    for one, other in ((tpr, fpr), (1 - tpr, 1 - fpr)):
        if one == other:
            ratios.append(0.0)
        elif min(one, other) == 0:
            return float("inf")
        else:
            ratios.append(abs(np.log(one) - np.log(other)))
    return max(ratios)


def by_quantile(members, strangers, fpr):
    return np.mean(members >= np.quantile(strangers, 1 - fpr))


def above_quantile(members, strangers, fpr):
    return np.mean(members > np.quantile(strangers, 1 - fpr))


def never_above_all(members, strangers, fpr):
    """Tries only the strangers' scores as lines."""
    return max([np.mean(members >= line) for line in strangers if np.mean(strangers >= line) <= fpr], default=0.0)


def optimist(members, strangers, fpr):
    """Breaks ties in favour of the attacker."""
    return tpr_at(members + 1e-9, strangers, fpr)


def means(factor=1.0, *, scale=None, draw="laplace", shared=False, seed=None, cut=False, correlated=False):
    """A learner's private means, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(table, epsilon, rng):
        rng, (n, d) = own or rng, table.shape
        b = factor * (scale(n, d) if scale else d / n) / epsilon
        noise = rng.laplace(scale=b, size=d) if draw == "laplace" else rng.normal(scale=b, size=d)
        if shared:
            noise = np.full(d, noise[0])
        if correlated:
            noise[1] = noise[0]
        released = table.mean(axis=0) + noise
        return np.clip(released, 0, 1) if cut else released

    return function


def from_sums(table, epsilon, rng):
    """Noisy sums, divided by the public number of rows."""
    n, d = table.shape
    return [(table[:, j].sum() + rng.laplace(scale=d / epsilon)) / n for j in range(d)]


def frozen(table, epsilon, rng):
    n, d = table.shape
    return table.mean(axis=0) + np.random.default_rng(1).laplace(scale=d / n / epsilon, size=d)


BELIEF = {"coin": 5 / 6, "town": 5 / 1004, "ratio": 999}

STUBS = [(getattr(check, name), stub) for name in membership.__all__ if name != "mem_base"] + [(check.mem_base, dict.fromkeys(BELIEF, ...))]

SOLUTIONS = [
    (check.mem_score, lambda seed: lambda *a: (1 + seed) * tracing(*a)),
    (check.mem_tpr, lambda seed: tpr_at),
    (check.mem_base, lambda seed: BELIEF),
    (check.mem_epsilon, lambda seed: disproved),
    (check.mem_release, lambda seed: means(seed=seed)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.mem_score, lambda r, p, x: -tracing(r, p, x), "sign round"),
    (check.mem_score, lambda r, p, x: -np.abs(x - r).sum(axis=1), "same side"),
    (check.mem_score, lambda r, p, x: x @ p, "same side"),
    (check.mem_score, lambda r, p, x: (x - p) @ np.sign(r - p), "how far out"),
    (check.mem_score, lambda r, p, x: tracing(r, p, x)[:5], "got shape (5,)"),
    (check.mem_score, lambda r, p, x: np.full(len(x), np.nan), "not finite"),
    (check.mem_score, lambda r: 0, "TypeError"),
    (check.mem_tpr, by_quantile, "equal"),
    (check.mem_tpr, above_quantile, "a quantile as the line"),
    (check.mem_tpr, never_above_all, "all lines"),
    (check.mem_tpr, optimist, "equal scores pass together"),
    (check.mem_tpr, lambda m, s, f: np.mean(m > np.quantile(s, 1 - f, method="higher")), "not one quantile alone"),
    (check.mem_tpr, lambda m, s, f: 0.0, "all lines"),
    (check.mem_base, {**BELIEF, "coin": 0.95}, "another question"),
    (check.mem_base, {**BELIEF, "coin": 5}, "odds and probability"),
    (check.mem_base, {**BELIEF, "town": 0.005}, "odds that are multiplied"),
    (check.mem_base, {**BELIEF, "town": 0.25}, "25 %"),
    (check.mem_base, {**BELIEF, "ratio": 20}, "not 20"),
    (check.mem_base, {**BELIEF, "ratio": 1000}, "odds and probability"),
    (check.mem_base, {**BELIEF, "ratio": ...}, "ratio: not attempted yet"),
    (check.mem_base, {"coin": 5 / 6}, "expected coin"),
    (check.mem_epsilon, lambda tpr, fpr: abs(np.log(max(tpr, 1e-9) / max(fpr, 1e-9))), "not being accused"),
    (check.mem_epsilon, lambda tpr, fpr: max(0, np.log(tpr / fpr), np.log((1 - fpr) / (1 - tpr))), "change places"),
    (check.mem_epsilon, lambda tpr, fpr: disproved(tpr, fpr) / np.log(2), "natural logarithms"),
    (check.mem_epsilon, lambda tpr, fpr: min(disproved(tpr, fpr), 50), "rules out every ε"),
    (check.mem_epsilon, lambda tpr, fpr: abs(np.log(tpr / fpr)) if tpr > 0.4 and fpr < 0.1 else 1 / 0, "ZeroDivisionError"),
    (check.mem_release, lambda table, epsilon, rng: table.mean(axis=0), "no noise at all"),
    (check.mem_release, means(scale=lambda n, d: 1 / n), "each mean alone"),
    (check.mem_release, means(scale=lambda n, d: d), "made for sums"),
    (check.mem_release, means(0.5), "half of what it must be"),
    (check.mem_release, means(2), "twice the noise"),
    (check.mem_release, means(2**-0.5), "smaller than that by √2"),
    (check.mem_release, means(scale=lambda n, d: d**0.5 / n), "L2"),
    (check.mem_release, means(0.95), "noise between"),
    (check.mem_release, means(1.05), "noise between"),
    (check.mem_release, means(draw="normal"), "no ε at all"),
    (check.mem_release, means(2**0.5, draw="normal"), "no ε at all"),
    (check.mem_release, means(shared=True), "one noise serves all"),
    (check.mem_release, means(correlated=True), "correlated"),
    (check.mem_release, means(cut=True), "cut to [0, 1]"),
    (check.mem_release, frozen, "same in every run"),
    (check.mem_release, lambda table, epsilon, rng: 0.5, "got shape ()"),
]


def test_every_checker_is_tested():
    names = set(membership.__all__)
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == names


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, None) for checker, _ in STUBS)])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    lines = {says(checker, solution(seed)) for seed in range(20)}       # 80 chi-square tests at 1e-6
    assert len(lines) == 1 and lines.pop().startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and reason in said


@pytest.mark.parametrize("checker, answer", [
    (check.mem_score, distances),
    (check.mem_score, lambda r, p, x: (x - p) @ (r - p)),
    (check.mem_score, lambda r, p, x: x @ np.log(np.clip(r, 0.001, 0.999) / p) + (1 - x) @ np.log((1 - np.clip(r, 0.001, 0.999)) / (1 - p))),
    (check.mem_release, from_sums),
    (check.mem_base, {"coin": 0.8333, "town": 0.00498, "ratio": 999.0}),
])
def test_an_unusual_but_right_answer_is_accepted(says, checker, answer):
    assert says(checker, answer).startswith("✓")
