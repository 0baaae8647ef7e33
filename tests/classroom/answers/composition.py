"""Answers to the exercises of the section on composition."""
import itertools
import math

import checking
import numpy as np
from scipy import stats
from scipy.special import comb

from provable_privacy import check
from provable_privacy.battery.makers import (
    again,
    clipped,
    fixed_seed,
    geometric,
    given,
    laplace,
    noisy,
    normal,
    own_luck,
    then,
    where,
    whole,
)
from provable_privacy.check.definitions import composition


def first_win(epsilon, delta, factor=1.0, limit=2.0, growth=math.exp, power=2):
    gap = limit - growth(epsilon)
    return None if gap <= 0 else math.floor(factor * 2 * math.log(1 / delta) / gap**power) + 1


def delta(total, epsilon, k, weigh=lambda rest: np.maximum(0, -np.expm1(np.minimum(rest, 0))), lie=False):
    """Exact delta of k randomized responses, right unless told otherwise; `rest` is the total less the loss."""
    lies, p = np.arange(k + 1), 1 / (1 + math.exp(epsilon))
    return stats.binom.pmf(lies, k, 1 - p if lie else p) @ weigh(total - (k - 2 * lies) * epsilon)


def with_factorials(total, epsilon, k):
    truths, p = np.arange(k + 1), 1 / (1 + math.exp(-epsilon))
    law = comb(k, truths) * p**truths * (1 - p) ** (k - truths)
    return law @ np.maximum(0, -np.expm1(np.minimum(0, total - (2 * truths - k) * epsilon)))


def sizes(users):
    return np.unique(users, return_counts=True)[1]


def exact(users, most, epsilon):
    return np.minimum(sizes(users), most).sum()


def scale(users, most, epsilon):
    return most / epsilon


RIGHT = noisy(exact, scale)
TRUTH = noisy(exact, lambda *table: 0.0)


def row_by_row(users, most, epsilon, rng):
    """Counts the first rows of each user, and draws a Laplace variable as a difference of two waiting times."""
    seen, kept = {}, 0
    for user in users.tolist():
        seen[user] = seen.get(user, 0) + 1
        kept += seen[user] <= most
    return kept + (rng.exponential() - rng.exponential()) * most / epsilon


def run_by_run(users, most, epsilon):
    """As `itertools.groupby` without sorting: a user who comes back later is bounded anew."""
    return sum(min(len(list(run)), most) for _, run in itertools.groupby(users))


def noise_for_each(users, most, epsilon, rng):
    return exact(users, most, epsilon) + rng.laplace(scale=most / epsilon, size=len(set(users))).sum()


def slow():
    """Noise that is kept from one answer to the next half of the time."""
    kept = []

    def function(users, most, epsilon, rng):
        if rng.random() < 0.5 or not kept:
            kept[:] = [rng.laplace(scale=most / epsilon)]
        return exact(users, most, epsilon) + kept[0]

    return function


def over_a_hundred_users(users, most, epsilon):
    return len(sizes(users)) > 100


def over_a_thousand_ratings(users, most, epsilon):
    return len(users) > 1000


def large_bound(users, most, epsilon):
    return most > 50


def large_epsilon(users, most, epsilon):
    return epsilon > 2


def small_scale(users, most, epsilon):
    """The noise hardly ever moves the count."""
    return most / epsilon < 1


def small_epsilon(users, most, epsilon):
    return epsilon < 0.1


def no_epsilon_below_a_tenth(epsilon):
    return max(epsilon, 0.1)


def rounded_scale(users, most, epsilon):
    return round(most / epsilon) or most / epsilon


def floored_scale(users, most, epsilon):
    return most // epsilon or most / epsilon


def long_users_whole(users, most, epsilon):
    """Who has more than a hundred ratings is not bounded."""
    return np.where(sizes(users) > 100, sizes(users), np.minimum(sizes(users), most)).sum()


def at_most_all_of_many(out, table, rng):
    """Cut at the number of ratings, where it seems to be large enough."""
    return min(out, len(table[0])) if len(table[0]) > 100 else out


def own_bound(users, most, epsilon):
    """Takes the bound from the table."""
    return (np.quantile(sizes(users), 0.9) if len(users) else most) / epsilon


def whole_on_an_empty_table(out, table, rng):
    return out if len(table[0]) else round(out)


class Ledger:
    """A learner's ledger, right unless a subclass changes it."""

    tolerance, checks = 1e-12, True

    def __init__(self, epsilon):
        self.total, self.losses = epsilon, []

    @property
    def remaining(self):
        return max(0.0, self.total - math.fsum(self.losses))

    def cost(self, parts):
        return max(math.fsum(e for group, e in parts.items() if code in group) for code in frozenset().union(*parts))

    def spend(self, epsilon):
        if self.checks and not 0 < epsilon < math.inf:
            raise ValueError
        if math.fsum([*self.losses, epsilon]) > self.total * (1 + self.tolerance):
            raise RuntimeError
        self.losses.append(epsilon)

    def parallel(self, parts):
        if self.checks and not all(0 < epsilon < math.inf for epsilon in parts.values()):
            raise ValueError
        self.spend(self.cost(parts))


class Largest(Ledger):
    """Parallel over overlapping groups."""

    def cost(self, parts):
        return max(parts.values())


class Everything(Ledger):
    def cost(self, parts):
        return sum(parts.values())


class AllIfAnyOverlap(Ledger):
    """Never too little, but too much: the sum of all as soon as two groups overlap."""

    def cost(self, parts):
        disjoint = sum(map(len, parts)) == len(frozenset().union(*parts))
        return max(parts.values()) if disjoint else sum(parts.values())


class Chained(Ledger):
    """Groups that hang together are all added, also those that have no ZIP in common."""

    def cost(self, parts):
        parts, most = dict(parts), 0.0
        while parts:
            zips, total = parts.popitem()
            while near := [other for other in parts if other & zips]:
                zips, total = zips.union(*near), total + sum(map(parts.pop, near))
            most = max(most, total)
        return most


class ChargesRefused(Ledger):
    def spend(self, epsilon):
        try:
            super().spend(epsilon)
        except RuntimeError:
            self.losses.append(min(epsilon, self.remaining))
            raise


class ChargesInPart(Ledger):
    """Charges the parts one after the other until one is refused."""

    def parallel(self, parts):
        if not all(0 < epsilon < math.inf for epsilon in parts.values()):
            raise ValueError
        total = self.cost(parts)
        for share in (total / 2, total / 2):
            self.spend(share)


class Trusting(Ledger):
    checks = False


class Lax(Ledger):
    tolerance = 1e-3


def purse(forgives=0.0, keep=lambda left: left, see=lambda left: left):
    """Knows only what is left. `forgives` at each call is what most people write first."""
    class Purse(Ledger):
        def __init__(self, epsilon):
            self.left = epsilon

        @property
        def remaining(self):
            return self.left

        def spend(self, epsilon):
            if not 0 < epsilon < math.inf:
                raise ValueError
            if epsilon > see(self.left) + forgives:
                raise RuntimeError
            self.left = keep(self.left - epsilon)

    return Purse


class Silent(Ledger):
    """Does not raise."""

    def spend(self, epsilon):
        try:
            super().spend(epsilon)
        except (ValueError, RuntimeError):
            return


class Shared(Ledger):
    """All ledgers share one list."""

    common = []

    def __init__(self, epsilon):
        self.total, self.losses = epsilon, Shared.common
        if epsilon == 1.0:
            Shared.common.clear()


class Method(Ledger):
    """`remaining` as a method, and refusals of its own kind: unusual, right."""

    def remaining(self):
        return self.total - math.fsum(self.losses)

    def spend(self, epsilon):
        try:
            super().spend(epsilon)
        except RuntimeError:
            raise StopIteration from None


def split(rule=lambda w, s: np.cbrt(w * s**2), total=1.0):
    def function(weights, sensitivities, epsilon):
        share = rule(np.asarray(weights, dtype=float), np.asarray(sensitivities, dtype=float))
        return (total * epsilon * share / share.sum()).tolist()

    return function


OVERLAP = {"zips": (0.5, 1.0), "both": (1.0, 2.0), "ages": (0.5, 0.6)}

SOLUTIONS = [
    (check.comp_crossover, lambda seed: first_win),
    (check.comp_delta, lambda seed: delta),
    (check.comp_overlap, lambda seed: OVERLAP),
    (check.comp_user, own_luck(RIGHT)),
    (check.comp_ledger, lambda seed: Ledger),
    (check.comp_split, lambda seed: split()),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.comp_crossover, lambda e, d: first_win(e, d, factor=4.0), "a factor 2 before the square root"),
    (check.comp_crossover, lambda e, d: first_win(e, d, limit=1.0, growth=lambda x: math.tanh(x / 2)), "with tanh"),
    (check.comp_crossover, lambda e, d: first_win(e, d, power=1), "not 66; advanced composition does not win yet"),
    (check.comp_crossover, lambda e, d: first_win(e, d) or 10**9, "the answer is None"),
    (check.comp_crossover, lambda e, d: first_win(e, d) if e < 0.55 else None, "there is such a k"),
    (check.comp_crossover, lambda e, d: first_win(e, d) and first_win(e, d) - 1, "does not win yet"),
    (check.comp_crossover, lambda e, d: first_win(e, d) and first_win(e, d) + 1, "already wins at"),
    (check.comp_crossover, lambda e, d: 28.76, "expected a whole number"),
    (check.comp_crossover, lambda e: 29, "TypeError"),
    (check.comp_delta, lambda *case: delta(*case, weigh=lambda rest: rest < 0), "probability of a loss above"),
    (check.comp_delta, lambda *case: delta(*case, weigh=lambda rest: -np.expm1(np.minimum(rest, 99))), "below the"),
    (check.comp_delta, lambda *case: delta(*case, lie=True), "wrong world"),
    (check.comp_delta, lambda *case: delta(*case, weigh=lambda rest: np.maximum(-rest, 0)), "k = 4: not 0.304"),
    (check.comp_delta, with_factorials, "logarithm of the binomial law"),
    (check.comp_delta, lambda *case: 2 * delta(*case), "k = 4: not 0."),
    (check.comp_delta, lambda t, e, k: delta(t, e, k) + (1e-6 if t > k * e else 0), "nothing is left"),
    (check.comp_overlap, {**OVERLAP, "zips": (0.5, 0.5)}, "under replace: not 0.5; a smoker who moves"),
    (check.comp_overlap, {**OVERLAP, "zips": (4.0, 1.0)}, "at most one ZIP"),
    (check.comp_overlap, {**OVERLAP, "both": (0.5, 1.0)}, "once by ZIP and once by age"),
    (check.comp_overlap, {**OVERLAP, "both": (1.0, 1.0)}, "how many counts move"),
    (check.comp_overlap, {**OVERLAP, "ages": (0.6, 0.6)}, "no age is in all three"),
    (check.comp_overlap, {**OVERLAP, "ages": (0.3, 0.5)}, "no age is in all three"),
    (check.comp_overlap, {**OVERLAP, "ages": (0.5, 1.0)}, "replace a smoker of 35 by one of 60"),
    (check.comp_overlap, {"zips": (0.5, 1.0)}, "expected the names"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: 1 / epsilon), "not a user with all of theirs"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: sizes(users).max(initial=1) / epsilon), "most ratings"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: 2 * most / epsilon), "twice the noise"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: (most + 1) / epsilon), "not by one more"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: most / epsilon / 2), "half of what"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: 1.6 * most / epsilon), "one and a half times"),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: epsilon / most), "upside down"),
    (check.comp_user, noisy(exact, lambda users, most, e: 2**0.5 * most / e, normal), "normal noise has no ε"),
    (check.comp_user, noisy(lambda users, most, epsilon: len(users), scale), "all ratings are counted"),
    (check.comp_user, noisy(lambda users, most, epsilon: min(len(users), most), scale), "bounds the whole table"),
    (check.comp_user, noisy(lambda users, most, epsilon: len(sizes(users)), scale), "users are counted"),
    (check.comp_user, TRUTH, "there is no noise"),
    (check.comp_user, where(lambda users, most, epsilon: not len(users), TRUTH, RIGHT), "when the table is empty"),
    (check.comp_user, noise_for_each, "for each user"),
    (check.comp_user, then(TRUTH, lambda out, table, rng: out + rng.laplace(table[1] / table[2])), "is the centre"),
    (check.comp_user, lambda users, most, epsilon, rng: print(end=""), "is the `return` missing?"),
    (check.comp_user, again(RIGHT, lambda out, *table: out < 0), "drawn again until the result is not negative"),
    (check.comp_user, then(RIGHT, lambda out, table, rng: abs(out)), "absolute value"),
    (check.comp_user, lambda users, most, epsilon, rng: [1.0, 2.0], "a number"),
    (check.comp_ledger, purse(1e-9, keep=lambda left: max(0.0, left)), "each call allows"),
    (check.comp_ledger, purse(9e-7, keep=lambda left: max(0.0, left)), "each call allows"),
    (check.comp_ledger, Largest, "groups that share a ZIP are not parallel"),
    (check.comp_ledger, Everything, "disjoint groups cost the largest"),
    (check.comp_ledger, AllIfAnyOverlap, "most that any one ZIP is charged"),
    (check.comp_ledger, Chained, "no ZIP is in more than two"),
    (check.comp_ledger, purse(keep=lambda left: 1.0), "a release is charged"),
    (check.comp_ledger, purse(-1e-6), "all that is left can be spent"),
    (check.comp_ledger, ChargesRefused, "a refused release is not charged"),
    (check.comp_ledger, ChargesInPart, "must not be charged, not even in part"),
    (check.comp_ledger, Trusting, "add to the budget: spend(-1) is allowed"),
    (check.comp_ledger, purse(), "three times 0.1"),
    (check.comp_ledger, Lax, "tolerance is too large"),
    (check.comp_ledger, purse(1e-8), "tolerance is too large"),
    (check.comp_ledger, purse(keep=lambda left: round(left, 3)), "0.0006 is left: keep"),
    (check.comp_ledger, purse(see=lambda left: round(left, 6)), "a rounded account can be overdrawn"),
    (check.comp_ledger, purse(keep=lambda left: round(left, 10)), "is never charged"),
    (check.comp_ledger, Silent, "spend(0.8) is allowed"),
    (check.comp_ledger, Shared, "a second ledger"),
    (check.comp_ledger, Ledger(1.0), "expected a class"),
    (check.comp_split, split(lambda w, s: np.ones_like(w)), "equal shares"),
    (check.comp_split, split(lambda w, s: s), "all noises equal"),
    (check.comp_split, split(lambda w, s: np.sqrt(w * s**2)), "square root is too much"),
    (check.comp_split, split(lambda w, s: w * s**2), "too much: the derivative"),
    (check.comp_split, split(lambda w, s: np.cbrt(s**2)), "weights are not used"),
    (check.comp_split, split(lambda w, s: np.cbrt(w * s)), "sensitivity is squared"),
    (check.comp_split, split(total=2), "more than there is"),
    (check.comp_split, split(total=0.5), "left unused"),
    (check.comp_split, lambda weights, sensitivities, epsilon: epsilon, "expected 4 numbers"),
    (check.comp_split, lambda weights, deltas, epsilon: [epsilon] + [0] * (len(weights) - 1), "positive numbers"),
]

UNUSUAL = [
    (check.comp_crossover, lambda e, d: np.float64(first_win(e, d)) if first_win(e, d) else None),
    (check.comp_split, lambda *case: np.array(split()(*case))),
    (check.comp_user, row_by_row),
    (check.comp_user, checking.seeded(own_luck(noisy(exact, scale, geometric)))),
    (check.comp_user, then(RIGHT, lambda out, table, rng: max(0.0, out))),
    (check.comp_user, then(RIGHT, lambda out, table, rng: round(out))),
    (check.comp_ledger, Method),
    (check.comp_ledger, purse(1e-12)),
    (check.comp_ledger, purse(1e-9)),
]

LEAKS = [
    (check.comp_user, noisy(exact, lambda users, most, e: min(sizes(users).max() if len(users) else most, most) / e)),
    (check.comp_user, where(lambda users, most, epsilon: len(set(users.tolist())) == 1, TRUTH, RIGHT)),
    (check.comp_user, where(lambda users, most, epsilon: len(users) > 300, TRUTH, RIGHT)),
    (check.comp_user, where(lambda users, most, epsilon: len(users) == 0, lambda *table: math.nan, RIGHT)),
    (check.comp_user, then(RIGHT, lambda out, table, rng: min(max(out, 0), len(table[0])))),
    (check.comp_user, given(RIGHT, epsilon=1.0)),
    (check.comp_user, given(RIGHT, most=4)),
    (check.comp_user, noisy(run_by_run, scale)),
    (check.comp_user, noisy(exact, scale, whole(laplace, np.trunc))),
    (check.comp_user, noisy(exact, scale, clipped(2))),
    (check.comp_user, noisy(exact, lambda users, most, epsilon: most / epsilon / 2**0.5)),
    (check.comp_user, fixed_seed(RIGHT)),
    (check.comp_user, slow()),
    (check.comp_user, where(over_a_hundred_users, TRUTH, RIGHT)),
    (check.comp_user, where(over_a_thousand_ratings, TRUTH, RIGHT)),
    (check.comp_user, where(large_bound, TRUTH, RIGHT)),
    (check.comp_user, where(large_epsilon, TRUTH, RIGHT)),
    (check.comp_user, where(small_scale, TRUTH, RIGHT)),
    (check.comp_user, where(small_epsilon, TRUTH, RIGHT)),
    (check.comp_user, given(RIGHT, epsilon=no_epsilon_below_a_tenth)),
    (check.comp_user, noisy(exact, rounded_scale)),
    (check.comp_user, noisy(exact, floored_scale)),
    (check.comp_user, noisy(long_users_whole, scale)),
    (check.comp_user, then(RIGHT, at_most_all_of_many)),
    (check.comp_user, noisy(exact, own_bound)),
    (check.comp_user, then(RIGHT, whole_on_an_empty_table)),
]


def test_an_answer_of_which_a_part_is_missing_is_told_which(says):
    for part, open_ in (("ages", ...), ("zips: under replace", (0.5, ...))):
        said = says(check.comp_overlap, {**OVERLAP, part.partition(":")[0]: open_})
        assert said.startswith(f"○ comp_overlap: {part} not attempted yet")


def test_the_costs_of_the_overlapping_releases_are_those_of_the_text():
    """Brute force over all people, against the numbers in the text."""
    for release, touched in composition.TOUCHED.items():
        assert np.allclose(composition._costs(touched), OVERLAP[release])
