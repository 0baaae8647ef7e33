"""The checkers of the section on membership: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import checking
import numpy as np

from dplib.attacks import tpr_at, tracing
from provable_privacy import check


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
    return tpr_at(members + 1e-9, strangers, fpr=fpr)


def means(factor=1.0, *, scale=None, draw="laplace", shared=False, seed=None, cut=False, correlated=False):
    """A learner's private means, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(table, epsilon, rng):
        rng, (n, d) = own or rng, table.shape
        b = factor * (scale(n, d) if scale else d / n) / epsilon
        noise = rng.laplace(scale=b, size=d) if draw == "laplace" else rng.normal(scale=b, size=d)
        if shared:
            noise = np.full(d, noise[0])
        if correlated and d > 1:
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


def own_means(seed):
    return means(seed=seed)


def whole(seed):
    """Geometric noise on the sums."""
    own = np.random.default_rng(seed)

    def function(table, epsilon, rng):
        n, d = table.shape
        p = -np.expm1(-epsilon / d)
        return (table.sum(axis=0) + own.geometric(p, d) - own.geometric(p, d)) / n

    return function


# ------------------------------------------------------------------------------------------------- leaks, as a student would write them

def only_where_somebody(table, epsilon, rng):
    return np.where(table.sum(axis=0) > 0, means()(table, epsilon, rng), 0)


def not_where_everybody(table, epsilon, rng):
    return np.where(table.mean(axis=0) == 1, 1, means()(table, epsilon, rng))


def exact_where_one(table, epsilon, rng):
    return np.where(table.sum(axis=0) == 1, table.mean(axis=0), means()(table, epsilon, rng))


def same_size(table, epsilon, rng):
    released = means()(table, epsilon, rng)
    released[1:2] = table.mean(axis=0)[1:2] + abs(released[0] - table[:, 0].mean()) * rng.choice([-1, 1])
    return released


def noises_that_sum_to_zero(table, epsilon, rng):
    n, d = table.shape
    noise = rng.laplace(scale=d / n / epsilon, size=d)
    return table.mean(axis=0) + (noise - noise.mean() if d > 1 else noise)


def last_row_twice(table, epsilon, rng):
    n, d = table.shape
    return np.vstack([table, table[-1:]]).mean(axis=0) + rng.laplace(scale=d / n / epsilon, size=d)


def less_noise_where_rare(table, epsilon, rng):
    n, d = table.shape
    return table.mean(axis=0) + rng.laplace(scale=d / n / epsilon, size=d) * np.maximum(2 * table.std(axis=0), 0.03)


def changes_its_table(table, epsilon, rng):
    released = means()(table, epsilon, rng)
    table[:] = 0
    return released


def cut_tails(table, epsilon, rng):
    n, d = table.shape
    return table.mean(axis=0) + np.clip(rng.laplace(scale=d / n / epsilon, size=d), -2 * d / n / epsilon, 2 * d / n / epsilon)


def remembers():
    kept = {}
    return lambda table, epsilon, rng: table.mean(axis=0) + kept.setdefault(table.shape, means()(0 * table, epsilon, rng))


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


def never_much_noise(table, epsilon, rng):
    return means()(table, max(epsilon, 0.3), rng)


def less_for_large_tables(table, epsilon, rng):
    return means(1 if len(table) < 100 else 0.3)(table, epsilon, rng)


def for_epsilon_one(table, epsilon, rng):
    return means()(table, 1.0, rng)


def for_four_columns(table, epsilon, rng):
    return means(scale=lambda n, d: min(d, 4) / n / (1 if d < 4 else 2))(table, epsilon, rng)


def for_columns_that_vary(table, epsilon, rng):
    return means(scale=lambda n, d: (np.count_nonzero(np.ptp(table, axis=0)) or d) / n)(table, epsilon, rng)


def for_the_rows_furthest_apart(table, epsilon, rng):
    rows = np.unique(table, axis=0)
    return means(scale=lambda n, d: (np.abs(rows[:, None] - rows).sum(axis=2).max() or d) / n)(table, epsilon, rng)


def equal_columns_once(table, epsilon, rng):
    n, d = table.shape
    noise = {column.tobytes(): rng.laplace(scale=d / n / epsilon) for column in table.T}
    return [column.mean() + noise[column.tobytes()] for column in table.T]


def exact_where_all(table, epsilon, rng):
    return table.mean(axis=0) if table.all() else means()(table, epsilon, rng)


def first_eight(table, epsilon, rng):
    return np.where(np.arange(table.shape[1]) < 8, means()(table, epsilon, rng), table.mean(axis=0))


def eight_at_most(table, epsilon, rng):
    return means(scale=lambda n, d: min(d, 8) / n)(table, epsilon, rng)


def half_for_more_than_forty(table, epsilon, rng):
    return means(0.5 if len(table) > 40 else 1)(table, epsilon, rng)


def one_row_fewer(table, epsilon, rng):
    n, d = table.shape
    return table.sum(axis=0) / max(n - 1, 1) + rng.laplace(scale=d / n / epsilon, size=d)


LEAKS = [(check.mem_release, leak) for leak in (
    only_where_somebody, not_where_everybody, exact_where_one, same_size, noises_that_sum_to_zero, last_row_twice, less_noise_where_rare,
    changes_its_table, cut_tails, never_much_noise, remembers(), less_for_large_tables, for_epsilon_one, for_four_columns,
    for_columns_that_vary, for_the_rows_furthest_apart, equal_columns_once, exact_where_all, first_eight, eight_at_most, half_for_more_than_forty,
    one_row_fewer)]


BELIEF = {"coin": 5 / 6, "town": 5 / 1004, "ratio": 999}

SOLUTIONS = [
    (check.mem_score, lambda seed: lambda *a: (1 + seed) * tracing(*a)),
    (check.mem_tpr, lambda seed: lambda members, others, fpr: tpr_at(members, others, fpr=fpr)),
    (check.mem_base, lambda seed: BELIEF),
    (check.mem_epsilon, lambda seed: disproved),
    (check.mem_release, own_means),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.mem_score, lambda r, p, x: -tracing(r, p, x), "sign round"),
    (check.mem_score, lambda r, p, x: -np.abs(x - r).sum(axis=1), "same side"),
    (check.mem_score, lambda r, p, x: x @ p, "same side"),
    (check.mem_score, lambda r, p, x: (x - p) @ np.sign(r - p), "how far out"),
    (check.mem_score, lambda r, p, x: tracing(r, p, x)[:5], "got an array of shape (5,)"),
    (check.mem_score, lambda r, p, x: np.full(len(x), np.nan), "got nan"),
    (check.mem_score, lambda r: 0, "TypeError"),
    (check.mem_tpr, by_quantile, "equal"),
    (check.mem_tpr, above_quantile, "a quantile as the line"),
    (check.mem_tpr, lambda m, s, f: np.mean(np.array(m) > np.percentile(s, 100 - 100 * f)), "accuses 1 of 4 strangers"),
    (check.mem_tpr, never_above_all, "all lines"),
    (check.mem_tpr, optimist, "equal scores pass together"),
    (check.mem_tpr, lambda m, s, f: np.mean(m > np.quantile(s, 1 - f, method="higher")), "not one quantile alone"),
    (check.mem_tpr, lambda m, s, f: 0.0, "all lines"),
    (check.mem_tpr, lambda m, s, f: max((np.mean(m >= line) for line in m if np.mean(s >= line) < f), default=0), "just the allowed share"),
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
    (check.mem_epsilon, lambda tpr, fpr: np.inf if {tpr, fpr} & {0, 1} else disproved(tpr, fpr), "equal rates disprove no ε"),
    (check.mem_epsilon, lambda tpr, fpr: min(disproved(tpr, fpr), 50), "rules out every ε"),
    (check.mem_epsilon, lambda tpr, fpr: abs(np.log(tpr / fpr)) if tpr > 0.4 and fpr < 0.1 else 1 / 0, "ZeroDivisionError"),
    (check.mem_release, lambda table, epsilon, rng: table.mean(axis=0), "no noise at all"),
    (check.mem_release, means(scale=lambda n, d: 1 / n), "each mean alone"),
    (check.mem_release, means(scale=lambda n, d: d), "made for sums"),
    (check.mem_release, means(0.5), "half of what it must be"),
    (check.mem_release, means(2), "twice the noise"),
    (check.mem_release, means(2**-0.5), "smaller than that by √2"),
    (check.mem_release, means(scale=lambda n, d: d**0.5 / n), "L2"),
    (check.mem_release, lambda table, epsilon, rng: table.mean(axis=0) + rng.laplace(table.shape[1] / len(table) / epsilon, size=table.shape[1]), "centre"),
    (check.mem_release, means(draw="normal"), "no ε at all"),
    (check.mem_release, means(2**0.5, draw="normal"), "no ε at all"),
    (check.mem_release, means(shared=True), "one noise serves all"),
    (check.mem_release, means(correlated=True), "exact"),
    (check.mem_release, drawn_again(1), "drawn again until each mean"),
    (check.mem_release, drawn_again(np.inf), "drawn again until no mean"),
    (check.mem_release, frozen, "a seed is fixed inside"),
    (check.mem_release, lambda table, epsilon, rng: 0.5, "expected 4 numbers"),
    (check.mem_release, lambda table, epsilon, rng: table.mean(axis=0) + np.nan, "finite numbers"),
    (check.mem_release, lambda table, epsilon, rng: print(end=""), "is the `return` missing"),
]


UNUSUAL = [
    (check.mem_score, distances),
    (check.mem_score, lambda r, p, x: (x - p) @ (r - p)),
    (check.mem_score, lambda r, p, x: x @ np.log(np.clip(r, 0.001, 0.999) / p) + (1 - x) @ np.log((1 - np.clip(r, 0.001, 0.999)) / (1 - p))),
    (check.mem_score, lambda r, p, x: (x - p) / (p * (1 - p)) @ (r - p)),
    (check.mem_base, {"coin": 0.8333, "town": 0.00498, "ratio": 999.0}),
    (check.mem_release, from_sums),
    (check.mem_release, checking.seeded(whole)),
    (check.mem_release, means(cut=True)),
    (check.mem_release, lambda table, epsilon, rng: np.abs(means()(table, epsilon, rng))),
]
