"""Answers to the exercises of the section on membership."""
import checking
import numpy as np

from dplib.attacks import tpr_at, tracing
from provable_privacy import check
from provable_privacy.battery.makers import (
    centred,
    clipped,
    fixed_seed,
    geometric,
    given,
    laplace,
    noisy,
    normal,
    own_luck,
    shared,
    then,
    where,
)


def distances(released, population, targets):
    """Homer's question: nearer to the release than to the population?"""
    return np.abs(targets - population).sum(axis=1) - np.abs(targets - released).sum(axis=1)


def likelihoods(released, population, targets):
    released = np.clip(released, 0.001, 0.999)
    return targets @ np.log(released / population) + (1 - targets) @ np.log((1 - released) / (1 - population))


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


def strictly(members, strangers, fpr):
    """Fewer than the allowed share of strangers."""
    return max((np.mean(members >= line) for line in members if np.mean(strangers >= line) < fpr), default=0)


def optimist(members, strangers, fpr):
    """Breaks ties in favour of the attacker."""
    return tpr_at(members + 1e-9, strangers, fpr=fpr)


def exact(table, epsilon):
    return table.mean(axis=0)


def scale(table, epsilon):
    n, d = table.shape
    return d / n / epsilon


def means(b=lambda n, d: d / n, law=laplace):
    """A learner's private means, right unless told otherwise; `b` is the scale at ε = 1."""
    return noisy(exact, lambda table, epsilon: b(*table.shape) / epsilon, law)


def by_table(b):
    """With a scale, at ε = 1, that depends on more than the size of the table."""
    return noisy(exact, lambda table, epsilon: b(table) / epsilon)


RIGHT = means()
WHOLE_SUMS = noisy(lambda table, epsilon: table.sum(axis=0), lambda table, epsilon: table.shape[1] / epsilon, geometric)


def from_sums(table, epsilon, rng):
    """Noisy sums, divided by the public number of rows."""
    n, d = table.shape
    return [(table[:, j].sum() + rng.laplace(scale=d / epsilon)) / n for j in range(d)]


def cell_by_cell(condition):
    """Exact in the columns where the condition holds."""
    return then(RIGHT, lambda out, table, rng: np.where(condition(table[0]), table[0].mean(axis=0), out))


def second_like_first(rng, scale, shape):
    """The second noise is the first one."""
    noise = rng.laplace(scale=scale, size=shape)
    noise[1:2] = noise[:1]
    return noise


def second_of_the_same_size(rng, scale, shape):
    noise = rng.laplace(scale=scale, size=shape)
    noise[1:2] = np.abs(noise[0]) * rng.choice([-1, 1])
    return noise


def repeated(size):
    """So many noises, again and again."""
    return lambda rng, scale, shape: np.resize(laplace(rng, scale, (min(size, *shape),)), shape)


def sum_zero(rng, scale, shape):
    noise = rng.laplace(scale=scale, size=shape)
    return noise - noise.mean() if len(noise) > 1 else noise


def drawn_again(high):
    """Draws each mean again until it looks like one."""
    def function(table, epsilon, rng):
        n, d = table.shape
        noise = rng.laplace(scale=d / n / epsilon, size=d)
        for j in range(d):
            while not 0 <= table[:, j].mean() + noise[j] <= high:
                noise[j] = rng.laplace(scale=d / n / epsilon)
        return table.mean(axis=0) + noise

    return function


def changes_its_table(out, table, rng):
    table[0][:] = 0
    return out


def remembers():
    """Keeps the noise of its first call on tables of a size."""
    noise = {}

    def function(table, epsilon, rng):
        return exact(table, epsilon) + noise.setdefault(table.shape, RIGHT(0 * table, epsilon, rng))

    return function


def furthest(table):
    """How far two rows of the table are from each other at most."""
    rows = np.unique(table, axis=0)
    return np.abs(rows[:, None] - rows).sum(axis=2).max() or table.shape[1]


def equal_columns_once(table, epsilon, rng):
    noise = {column.tobytes(): rng.laplace(scale=scale(table, epsilon)) for column in table.T}
    return [column.mean() + noise[column.tobytes()] for column in table.T]


LEAKS = [(check.mem_release, leak) for leak in (
    then(RIGHT, lambda out, table, rng: np.where(table[0].any(axis=0), out, 0)),
    cell_by_cell(lambda table: table.mean(axis=0) == 1),
    cell_by_cell(lambda table: table.sum(axis=0) == 1),
    means(law=second_of_the_same_size),
    means(law=sum_zero),
    noisy(lambda table, epsilon: np.vstack([table, table[-1:]]).mean(axis=0), scale),
    by_table(lambda table: table.shape[1] / len(table) * np.maximum(2 * table.std(axis=0), 0.03)),
    then(RIGHT, changes_its_table),
    means(law=clipped(2)),
    given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.3)),
    remembers(),
    means(lambda n, d: d / n * (1 if n < 100 else 0.3)),
    given(RIGHT, epsilon=1.0),
    means(lambda n, d: min(d, 4) / n / (1 if d < 4 else 2)),
    by_table(lambda table: (np.count_nonzero(np.ptp(table, axis=0)) or table.shape[1]) / len(table)),
    by_table(lambda table: furthest(table) / len(table)),
    equal_columns_once,
    where(lambda table, epsilon: epsilon > 2, exact, RIGHT),                     # large epsilon
    means(law=repeated(10)),                                                     # shared noise
    where(lambda table, epsilon: table.all(), exact, RIGHT),
    cell_by_cell(lambda table: np.arange(table.shape[1]) >= 8),
    means(lambda n, d: min(d, 8) / n),
    means(lambda n, d: d / n * (1 if n <= 40 else 0.5)),
    noisy(lambda table, epsilon: table.sum(axis=0) / max(len(table) - 1, 1), scale))]


BELIEF = {"coin": 5 / 6, "town": 5 / 1004, "ratio": 999}

SOLUTIONS = [
    (check.mem_score, lambda seed: lambda *a: (1 + seed) * tracing(*a)),
    (check.mem_tpr, lambda seed: lambda members, others, fpr: tpr_at(members, others, fpr=fpr)),
    (check.mem_base, lambda seed: BELIEF),
    (check.mem_epsilon, lambda seed: disproved),
    (check.mem_release, own_luck(RIGHT)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.mem_score, lambda r, p, x: -tracing(r, p, x), "change the sign"),
    (check.mem_score, lambda r, p, x: -np.abs(x - r).sum(axis=1), "same side"),
    (check.mem_score, lambda r, p, x: x @ p, "same side"),
    (check.mem_score, lambda r, p, x: (x - p) @ np.sign(r - p), "How far is the release"),
    (check.mem_score, lambda r, p, x: tracing(r, p, x)[:5], "got an array of shape (5,)"),
    (check.mem_score, lambda r, p, x: np.full(len(x), np.nan), "got nan"),
    (check.mem_score, lambda r: 0, "TypeError"),
    (check.mem_tpr, by_quantile, "equal"),
    (check.mem_tpr, above_quantile, "more than allowed"),
    (check.mem_tpr, lambda m, s, f: np.mean(np.array(m) > np.percentile(s, 100 - 100 * f)), "accuses 1 of 4 strangers"),
    (check.mem_tpr, never_above_all, "every line"),
    (check.mem_tpr, optimist, "equal scores pass together"),
    (check.mem_tpr, lambda m, s, f: np.mean(m > np.quantile(s, 1 - f, method="higher")), "not one quantile alone"),
    (check.mem_tpr, lambda m, s, f: 0.0, "every line"),
    (check.mem_tpr, strictly, "exactly the allowed share"),
    (check.mem_base, {**BELIEF, "coin": 0.95}, "another question"),
    (check.mem_base, {**BELIEF, "coin": 5}, "these are the odds"),
    (check.mem_base, {**BELIEF, "town": 5 / 999}, "these are the odds"),
    (check.mem_base, {**BELIEF, "town": 0.005}, "odds that are multiplied"),
    (check.mem_base, {**BELIEF, "town": 0.25}, "25 %"),
    (check.mem_base, {**BELIEF, "town": 5 / 1005}, "odds of 1 to 999"),
    (check.mem_base, {**BELIEF, "town": 0.00497}, "not 0.00497"),
    (check.mem_base, {**BELIEF, "ratio": 20}, "not 20"),
    (check.mem_base, {**BELIEF, "ratio": 1000}, "odds of 1 to 999"),
    (check.mem_base, {"coin": 5 / 6}, "missing: 'ratio'"),
    (check.mem_base, {"coin": 5 / 6, "ratio": 999}, "missing: 'town'"),
    (check.mem_epsilon, lambda tpr, fpr: abs(np.log(max(tpr, 1e-9) / max(fpr, 1e-9))), "not being accused"),
    (check.mem_epsilon, lambda tpr, fpr: max(0, np.log(tpr / fpr), np.log((1 - fpr) / (1 - tpr))), "change places"),
    (check.mem_epsilon, lambda tpr, fpr: disproved(tpr, fpr) / np.log(2), "natural logarithms"),
    (check.mem_epsilon, lambda tpr, fpr: max(0, np.log(tpr / fpr), np.log((1 - tpr) / (1 - fpr))), "both ways"),
    (check.mem_epsilon, lambda tpr, fpr: np.inf if {tpr, fpr} & {0, 1} else disproved(tpr, fpr), "equal rates"),
    (check.mem_epsilon, lambda tpr, fpr: min(disproved(tpr, fpr), 50), "rules out every ε"),
    (check.mem_epsilon, lambda tpr, fpr: abs(np.log(tpr / fpr)) if fpr < 0.1 else 1 / 0, "ZeroDivisionError"),
    (check.mem_release, means(lambda n, d: 0), "no noise at all"),
    (check.mem_release, means(lambda n, d: 1 / n), "each mean alone"),
    (check.mem_release, means(lambda n, d: d), "made for sums"),
    (check.mem_release, means(lambda n, d: d / n / 2), "half of what it must be"),
    (check.mem_release, means(lambda n, d: 2 * d / n), "twice the noise"),
    (check.mem_release, means(lambda n, d: d / n / 2**0.5), "smaller than that by √2"),
    (check.mem_release, means(lambda n, d: d**0.5 / n), "L2"),
    (check.mem_release, means(law=centred), "centre"),
    (check.mem_release, means(law=normal), "no ε at all"),
    (check.mem_release, means(lambda n, d: 2**0.5 * d / n, normal), "no ε at all"),
    (check.mem_release, means(law=shared()), "one noise serves all"),
    (check.mem_release, means(law=second_like_first), "exact"),
    (check.mem_release, drawn_again(1), "drawn again until each mean"),
    (check.mem_release, drawn_again(np.inf), "drawn again until no mean"),
    (check.mem_release, fixed_seed(RIGHT), "a seed is fixed inside"),
    (check.mem_release, lambda table, epsilon, rng: 0.5, "expected 4 numbers"),
    (check.mem_release, lambda table, epsilon, rng: table.mean(axis=0) + np.nan, "finite numbers"),
    (check.mem_release, lambda table, epsilon, rng: print(end=""), "is the `return` missing"),
]


UNUSUAL = [
    (check.mem_score, distances),
    (check.mem_score, lambda r, p, x: (x - p) @ (r - p)),
    (check.mem_score, likelihoods),
    (check.mem_score, lambda r, p, x: (x - p) / (p * (1 - p)) @ (r - p)),
    (check.mem_base, {"coin": 0.8333, "town": 0.00498, "ratio": 999.0}),
    (check.mem_release, from_sums),
    (check.mem_release, checking.seeded(own_luck(then(WHOLE_SUMS, lambda out, table, rng: out / len(table[0]))))),
    (check.mem_release, then(RIGHT, lambda out, table, rng: np.clip(out, 0, 1))),
    (check.mem_release, then(RIGHT, lambda out, table, rng: np.abs(out))),
]
