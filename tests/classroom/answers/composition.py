"""The checkers of the section on composition: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import itertools
import math

import numpy as np
from scipy import stats
from scipy.special import comb, gammaln

from provable_privacy import check
from provable_privacy.check.definitions import composition


def first_win(epsilon, delta, factor=1.0, limit=2.0, growth=math.exp):
    gap = limit - growth(epsilon)
    return None if gap <= 0 else math.floor(factor * 2 * math.log(1 / delta) / gap**2) + 1


def delta(total, epsilon, k, weigh=True, clip=True, lie=False):
    """Exact delta of k randomized responses, right unless told otherwise."""
    lies = np.arange(k + 1)
    log_law = gammaln(k + 1) - gammaln(lies + 1) - gammaln(k - lies + 1) - lies * epsilon - k * math.log1p(math.exp(-epsilon))
    losses = (k - 2 * lies) * epsilon
    law = np.exp(log_law - losses if lie else log_law)
    with np.errstate(over="ignore"):
        excess = -np.expm1(total - losses)
    if clip:
        excess = np.maximum(excess, 0)
    return law @ (excess if weigh else (excess > 0))


def by_losses(epsilon, k):
    """The law of k randomized responses, and their losses."""
    lies = np.arange(k + 1)
    return stats.binom.pmf(lies, k, 1 / (1 + math.exp(epsilon))), (k - 2 * lies) * epsilon


def with_factorials(total, epsilon, k):
    truths, p = np.arange(k + 1), 1 / (1 + math.exp(-epsilon))
    law = comb(k, truths) * p**truths * (1 - p) ** (k - truths)
    return law @ np.maximum(0, -np.expm1(np.minimum(0, total - (2 * truths - k) * epsilon)))


def count_ratings(seed=None, scale=lambda sizes, most, epsilon: most / epsilon, bounded=True, draw="laplace"):
    own = None if seed is None else np.random.default_rng(seed)

    def function(users, most, epsilon, rng):
        sizes = np.unique(users, return_counts=True)[1]
        b, rng = scale(sizes, most, epsilon), own or rng
        noise = {"laplace": lambda: rng.laplace(scale=b), "normal": lambda: rng.normal(scale=b * math.sqrt(2)),
                 "geometric": lambda: rng.geometric(-math.expm1(-1 / b)) - rng.geometric(-math.expm1(-1 / b))}[draw]()
        return (np.minimum(sizes, most) if bounded else sizes).sum() + noise

    return function


def reseeded(users, most, epsilon, rng):
    return count_ratings(seed=1)(users, most, epsilon, rng)


RIGHT = count_ratings()


def exact(users, most):
    return np.minimum(np.unique(users, return_counts=True)[1], most).sum()


def exact_where(when):
    """No noise on some tables."""
    return lambda users, most, epsilon, rng: float(exact(users, most)) if when(users, most, epsilon) else RIGHT(users, most, epsilon, rng)


def never_negative(users, most, epsilon, rng):
    while True:
        result = RIGHT(users, most, epsilon, rng)
        if result >= 0:
            return result


class Slow:
    """Noise that is kept from one answer to the next half of the time."""

    def __init__(self):
        self.noise = 0.0

    def __call__(self, users, most, epsilon, rng):
        if rng.random() < 0.5 or self.noise == 0:
            self.noise = rng.laplace(scale=most / epsilon)
        return exact(users, most) + self.noise


def row_by_row(users, most, epsilon, rng):
    """Counts the first rows of each user, and draws a Laplace variable as a difference of two waiting times."""
    seen, kept = {}, 0
    for user in users.tolist():
        seen[user] = seen.get(user, 0) + 1
        kept += seen[user] <= most
    return kept + (rng.exponential() - rng.exponential()) * most / epsilon


def run_by_run(users, most, epsilon, rng):
    """As `itertools.groupby` without sorting: a user who comes back later is bounded anew."""
    return sum(min(len(list(run)), most) for _, run in itertools.groupby(users)) + rng.laplace(scale=most / epsilon)


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


class Strict(Ledger):
    tolerance = 0.0

    def spend(self, epsilon):
        if not 0 < epsilon < math.inf:
            raise ValueError
        if epsilon > self.total:
            raise RuntimeError
        self.total -= epsilon


class Lax(Ledger):
    tolerance = 1e-3


class Forgiving(Ledger):
    """What most people write first: a tolerance at each call."""

    forgives = 1e-9

    def __init__(self, epsilon):
        self.left = epsilon

    @property
    def remaining(self):
        return self.left

    def spend(self, epsilon):
        if not 0 < epsilon < math.inf:
            raise ValueError
        if epsilon > self.left + self.forgives:
            raise RuntimeError
        self.left = max(0.0, self.left - epsilon)


class Generous(Forgiving):
    forgives = 9e-7


class InDebt(Forgiving):
    """The tolerance once in all: the purse may go a little below 0."""

    forgives = 1e-12

    def spend(self, epsilon):
        if not 0 < epsilon < math.inf:
            raise ValueError
        if epsilon > self.left + self.forgives:
            raise RuntimeError
        self.left -= epsilon


def tolerating(forgives):
    """More of it."""
    return type("Tolerating", (InDebt,), {"forgives": forgives})


def rounding(digits, kept=True):
    """An account rounded after each release, so that three times 0.1 fit into 0.3; or one that is kept exactly and compared rounded."""
    class Rounding(Forgiving):
        def spend(self, epsilon):
            if not 0 < epsilon < math.inf:
                raise ValueError
            if epsilon > (self.left if kept else round(self.left, digits)):
                raise RuntimeError
            self.left = round(self.left - epsilon, digits) if kept else self.left - epsilon

    return Rounding


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


def split(weights, sensitivities, epsilon, rule=lambda w, s: np.cbrt(w * s**2), total=1.0):
    share = rule(np.asarray(weights, dtype=float), np.asarray(sensitivities, dtype=float))
    return (total * epsilon * share / share.sum()).tolist()


def split_by(rule, total=1.0):
    return lambda weights, sensitivities, epsilon: split(weights, sensitivities, epsilon, rule, total)


OVERLAP = {"zips": (0.5, 1.0), "both": (1.0, 2.0), "ages": (0.5, 0.6)}

SOLUTIONS = [
    (check.comp_crossover, lambda seed: first_win),
    (check.comp_delta, lambda seed: delta),
    (check.comp_overlap, lambda seed: OVERLAP),
    (check.comp_user, lambda seed: count_ratings(seed=seed)),
    (check.comp_ledger, lambda seed: Ledger),
    (check.comp_split, lambda seed: split),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.comp_crossover, lambda e, d: first_win(e, d, factor=4.0), "a factor 2 before the square root"),
    (check.comp_crossover, lambda e, d: first_win(e, d, limit=1.0, growth=lambda x: math.tanh(x / 2)), "with tanh"),
    (check.comp_crossover, lambda e, d: first_win(e, d) and math.floor(2 * math.log(1 / d) / (2 - math.exp(e))) + 1, "does not win yet at k=66"),
    (check.comp_crossover, lambda e, d: first_win(e, d) or 10**9, "the answer is None"),
    (check.comp_crossover, lambda e, d: first_win(e, d) if e < 0.55 else None, "there is such a k"),
    (check.comp_crossover, lambda e, d: first_win(e, d) and first_win(e, d) - 1, "does not win yet"),
    (check.comp_crossover, lambda e, d: first_win(e, d) and first_win(e, d) + 1, "already wins at"),
    (check.comp_crossover, lambda e, d: 28.76, "whole number or None"),
    (check.comp_crossover, lambda e: 29, "TypeError"),
    (check.comp_delta, lambda t, e, k: delta(t, e, k, weigh=False), "probability of a loss above"),
    (check.comp_delta, lambda t, e, k: delta(t, e, k, clip=False), "below the total too"),
    (check.comp_delta, lambda t, e, k: delta(t, e, k, lie=True), "wrong world"),
    (check.comp_delta, lambda t, e, k: sum(p * max(loss - t, 0) for p, loss in zip(*by_losses(e, k))), "expected 0.203607"),
    (check.comp_delta, with_factorials, "logarithm of the binomial law"),
    (check.comp_delta, lambda t, e, k: 2 * delta(t, e, k), "expected"),
    (check.comp_delta, lambda t, e, k: delta(t, e, k) + (1e-6 if t > k * e else 0), "nothing is left"),
    (check.comp_overlap, {**OVERLAP, "zips": (0.5, 0.5)}, "a smoker who moves"),
    (check.comp_overlap, {**OVERLAP, "zips": (4.0, 1.0)}, "one ZIP at most"),
    (check.comp_overlap, {**OVERLAP, "both": (0.5, 1.0)}, "once by ZIP and once by age"),
    (check.comp_overlap, {**OVERLAP, "both": (1.0, 1.0)}, "how many counts move"),
    (check.comp_overlap, {**OVERLAP, "ages": (0.6, 0.6)}, "no age is in all three"),
    (check.comp_overlap, {**OVERLAP, "ages": (0.3, 0.5)}, "no age is in all three"),
    (check.comp_overlap, {**OVERLAP, "ages": (0.5, 1.0)}, "in the place of one of 60"),
    (check.comp_overlap, {"zips": (0.5, 1.0)}, "expected the releases"),
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: 1 / epsilon), "not a user with all of theirs"),
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: sizes.max(initial=1) / epsilon), "keenest user"),
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: 2 * most / epsilon), "twice the noise"),
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: (most + 1) / epsilon), "twice the noise"),
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: most / epsilon / 2), "half of what"),
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: 1.6 * most / epsilon), "twice the noise it needs"),
    (check.comp_user, count_ratings(draw="normal"), "normal noise has no ε"),
    (check.comp_user, count_ratings(bounded=False), "all ratings are counted"),
    (check.comp_user, lambda users, most, epsilon, rng: float(exact(users, most)), "there is no noise"),
    (check.comp_user, exact_where(lambda users, most, epsilon: len(users) == 0), "where nobody is in the table"),
    (check.comp_user, lambda users, most, epsilon, rng: exact(users, most) + rng.laplace(scale=most / epsilon, size=len(set(users))).sum(), "for each user"),
    (check.comp_user, lambda users, most, epsilon, rng: exact(users, most) + rng.laplace(most / epsilon), "is the centre"),
    (check.comp_user, lambda users, most, epsilon, rng: print(end=""), "is the `return` missing?"),
    (check.comp_user, never_negative, "drawn again while the result is negative"),
    (check.comp_user, lambda users, most, epsilon, rng: abs(RIGHT(users, most, epsilon, rng)), "nearly that of an absolute value"),
    (check.comp_user, lambda users, most, epsilon, rng: [1.0, 2.0], "a number"),
    (check.comp_ledger, Forgiving, "at each call"),
    (check.comp_ledger, Generous, "at each call"),
    (check.comp_ledger, Largest, "groups that share a ZIP are not parallel"),
    (check.comp_ledger, Everything, "three disjoint groups cost the largest"),
    (check.comp_ledger, AllIfAnyOverlap, "most that any one ZIP is charged"),
    (check.comp_ledger, ChargesRefused, "must not be charged"),
    (check.comp_ledger, ChargesInPart, "must not be charged, not even in part"),
    (check.comp_ledger, Trusting, "refills the purse"),
    (check.comp_ledger, Strict, "three times 0.1"),
    (check.comp_ledger, Lax, "tolerance is too large"),
    (check.comp_ledger, tolerating(1e-8), "tolerance is too large"),
    (check.comp_ledger, rounding(3), "it allows 0.001 when 0.0006 is left"),
    (check.comp_ledger, rounding(6, kept=False), "a rounded account can be overdrawn"),
    (check.comp_ledger, rounding(10), "is never charged"),
    (check.comp_ledger, Silent, "allows 0.8"),
    (check.comp_ledger, Shared, "a second ledger"),
    (check.comp_ledger, Ledger(1.0), "expected a class"),
    (check.comp_split, split_by(lambda w, s: np.ones_like(w)), "equal shares"),
    (check.comp_split, split_by(lambda w, s: s), "all noises equal"),
    (check.comp_split, split_by(lambda w, s: np.sqrt(w * s**2)), "square root is too much"),
    (check.comp_split, split_by(lambda w, s: w * s**2), "too much: the derivative"),
    (check.comp_split, split_by(lambda w, s: np.cbrt(s**2)), "weights are not used"),
    (check.comp_split, split_by(lambda w, s: np.cbrt(w * s)), "sensitivity is squared"),
    (check.comp_split, split_by(lambda w, s: np.cbrt(w * s**2), total=2), "more than there is"),
    (check.comp_split, split_by(lambda w, s: np.cbrt(w * s**2), total=0.5), "left unused"),
    (check.comp_split, lambda weights, sensitivities, epsilon: epsilon, "positive numbers"),
]

UNUSUAL = [
    (check.comp_crossover, lambda e, d: np.float64(first_win(e, d)) if first_win(e, d) else None),
    (check.comp_split, lambda w, s, e: np.array(split(w, s, e))),
    (check.comp_user, row_by_row),
    (check.comp_user, count_ratings(draw="geometric")),
    (check.comp_user, lambda users, most, epsilon, rng: max(0.0, RIGHT(users, most, epsilon, rng))),
    (check.comp_user, lambda users, most, epsilon, rng: round(RIGHT(users, most, epsilon, rng))),
    (check.comp_ledger, Method),
    (check.comp_ledger, InDebt),
    (check.comp_ledger, tolerating(1e-9)),
]

LEAKS = [
    (check.comp_user, count_ratings(scale=lambda sizes, most, epsilon: np.minimum(sizes, most).max(initial=0) / epsilon if len(sizes) else most / epsilon)),
    (check.comp_user, exact_where(lambda users, most, epsilon: len(set(users.tolist())) == 1)),
    (check.comp_user, exact_where(lambda users, most, epsilon: len(users) > 300)),
    (check.comp_user, lambda users, most, epsilon, rng: RIGHT(users, most, epsilon, rng) if len(users) else math.nan),
    (check.comp_user, lambda users, most, epsilon, rng: min(max(RIGHT(users, most, epsilon, rng), 0), len(users))),
    (check.comp_user, lambda users, most, epsilon, rng: RIGHT(users, most, 1.0, rng)),
    (check.comp_user, lambda users, most, epsilon, rng: RIGHT(users, 4, epsilon, rng)),
    (check.comp_user, run_by_run),
    (check.comp_user, lambda users, most, epsilon, rng: exact(users, most) + int(rng.laplace(scale=most / epsilon))),
    (check.comp_user, lambda users, most, epsilon, rng: exact(users, most) + np.clip(rng.laplace(), -2, 2) * most / epsilon),
    (check.comp_user, lambda users, most, epsilon, rng: exact(users, most) + rng.laplace(scale=most / epsilon / 2**0.5)),
    (check.comp_user, reseeded),
    (check.comp_user, Slow()),
]


def test_an_answer_of_which_a_part_is_missing_is_told_which(says):
    assert says(check.comp_overlap, {**OVERLAP, "ages": ...}) == "○ comp_overlap: ages not attempted yet"
    assert says(check.comp_overlap, {**OVERLAP, "zips": (0.5, ...)}) == "○ comp_overlap: zips under replace not attempted yet"


def test_the_costs_of_the_overlapping_releases_are_those_of_the_text():
    """Brute force over all people, against the numbers in the text."""
    costs = composition._overlap_costs()
    assert {name: tuple(round(cost, 12) for cost in pair) for name, pair in costs.items()} == OVERLAP
