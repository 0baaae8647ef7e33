"""Answers for the checkers of the section on clip bounds and range queries: right ones, wrong ones and leaks."""
import checking
import numpy as np
from scipy.optimize import brentq

from dplib import mechanisms, svt
from provable_privacy import check
from provable_privacy.battery.makers import (
    centred,
    clipped,
    difference,
    geometric,
    kept,
    laplace,
    own_luck,
    same_size,
    shared,
    then,
    where,
)


def count_above(values, bounds):
    return len(values) - np.searchsorted(np.sort(values), bounds, side="right")


def drawn_again(at):
    """Laplace noise, drawn again where it is farther out than so many scales."""
    def law(rng, scale, shape):
        noise = laplace(rng, scale, shape)
        while np.any(far := np.abs(noise) > at * scale):
            noise = np.where(far, laplace(rng, scale, shape), noise)
        return noise

    return law


def auto_mean(b1=6, b2=6, total=3, number=3, *, law=laplace, charge=(1 / 3, 1 / 3, 1 / 3), sign=-1,
              silent=lambda rng, bounds: bounds[-1], clip=np.minimum,
              width=lambda bound, bounds: bound, at=lambda epsilon, values: epsilon,
              search=lambda noise, far: noise, change=lambda noise, values, rng: noise):
    """An automatic mean with scales b1/ε and b2/ε for the search, bound * total/ε and number/ε.

    `search` may spoil the noise of candidates that are `far` from the threshold, in units of 3/ε. `change` may spoil
    the noises on threshold, sum and count. All noise is for the epsilon `at(epsilon, values)`.
    """
    def answer(values, bounds, threshold, budget, rng):
        for share in charge:
            budget.spend(share * budget.epsilon)
        epsilon, asked = at(budget.epsilon, values), sign * count_above(values, bounds)
        rho, for_sum, for_number = change(law(rng, 1.0, (3,)), values, rng)
        nu = search(b2 / epsilon * law(rng, 1.0, (len(bounds),)), (asked - threshold) * epsilon / 3)
        passed = asked + nu >= threshold + b1 / epsilon * rho
        bound = bounds[passed.argmax()] if passed.any() else silent(rng, bounds)
        noise = width(bound, bounds) * total / epsilon * for_sum
        return bound, clip(values, bound).sum() + noise, len(values) + number / epsilon * for_number

    return answer


def times(factor):
    """The three noises times numbers that depend on the values."""
    return auto_mean(change=lambda noise, values, rng: noise * factor(values))


def one_call_late():
    """The count has the noise that the sum had in the call before."""
    last = []

    def change(noise, values, rng):
        last.append(noise[1])
        return (*noise[:2], last.pop(0) if len(last) > 1 else noise[2])

    return auto_mean(change=change)


def pays_for_what_passed(values, bounds, threshold, budget, rng):
    got = auto_mean(charge=())(values, bounds, threshold, budget, rng)
    for _ in range(1 if got[0] == bounds[-1] else 3):
        budget.spend(budget.epsilon / 3)
    return got


def clips_in_place(values, bounds, threshold, budget, rng):
    bound, total, number = MEAN(values, bounds, threshold, budget, rng)
    values[values > bound] = bound
    return bound, total, number


def with_the_library(values, bounds, threshold, budget, rng):
    asked, third = -count_above(values, bounds), budget.epsilon / 3
    search = {"threshold": threshold, "sensitivity": 1, "monotone": True, "epsilon": budget.spend(third), "rng": rng}
    bound = next((bounds[i] for i in svt.above_threshold(asked, **search)), bounds[-1])
    total = mechanisms.laplace(np.minimum(values, bound).sum(), sensitivity=bound, epsilon=budget.spend(third), rng=rng)
    return bound, total, mechanisms.laplace(len(values), sensitivity=1, epsilon=budget.spend(third), rng=rng)


def poor(values, bounds, threshold, budget):
    return budget.remaining < budget.epsilon


def refuses(*arguments):
    raise ValueError("somebody else has spent it")


def release(b1=4, b2=8, value=4, *, law=laplace, fresh=None, bar=lambda rho, threshold: rho,
            search=lambda nu, counts, far: nu, publish=lambda fresh, counts, nu: fresh):
    """A range release with these scales on threshold, counts and values; the functions may spoil their noises."""
    def answer(queries, table, threshold, rng):
        counts = np.array([query(table) for query in queries])
        size = counts.shape
        nu = search(law(rng, b2, size), counts, counts - threshold)
        found = np.flatnonzero(counts + nu >= threshold + bar(law(rng, b1, ()), threshold))[:2]
        noise = publish((fresh or law)(rng, value, size), counts, nu)
        return [(i, counts[i] + noise[i]) for i in found]

    return answer


def found_without(noise):
    """A release whose values have the noise `noise(rng, place, number of ranges found)`."""
    return then(release(value=0), lambda out, given, rng: [
        (i, value + noise(rng, place, len(out))) for place, (i, value) in enumerate(out)])


def numeric_sparse(queries, table, threshold, rng):
    counts = np.array([query(table.copy()) for query in queries])
    return zip(*svt.numeric_sparse(
        counts, threshold=threshold, sensitivity=1, epsilon=1.0, c=2, monotone=True, numeric=0.5, rng=rng))


def nothing_near(queries, table, threshold):
    """Whether all counts lie far below the threshold."""
    return max(query(table) for query in queries) < threshold - 40


def rounded(answer, steps=1):
    return then(answer, lambda out, given, rng: [(i, round(steps * value) / steps) for i, value in out])


def not_below(answer, floor=lambda threshold: 0.0):
    return then(answer, lambda out, given, rng: [(i, max(floor(given[2]), value)) for i, value in out])


def level(k, people, epsilon, beta, *, monotone=True):
    def excess(threshold):
        noise = svt.scales(epsilon, monotone=monotone)
        answers = np.full(k, -float(people))
        return -np.expm1(svt.log_probability(np.zeros(k), answers, threshold=threshold, noise=noise)) - beta

    return brentq(excess, -people, 2000 / epsilon)


def smallest_k(c, numeric):
    return int(np.floor(c / numeric + 1e-9)) + 1


def loop_over_values(values, bounds):
    counts = np.zeros(len(bounds))
    for value in values:
        counts += value > bounds
    return counts


def cumulative(values, bounds):
    """Right for whole numbers only."""
    below = np.append(0, np.cumsum(np.bincount(np.maximum(values, 0).astype(int))))
    return len(values) - below[np.clip(np.floor(bounds), -1, len(below) - 2).astype(int) + 1]


def turns_bounds(values, bounds):
    bounds *= -1
    return np.searchsorted(np.sort(-values), bounds, side="left")


def sorts_in_place(values, bounds):
    values.sort()
    return count_above(values, bounds)


MEAN, RELEASE = auto_mean(), release()
KEPT, KEPT_VALUE = kept(), kept()

SOLUTIONS = [
    (check.svt_auto_mean, own_luck(MEAN)),
    (check.svt_vectorise, lambda seed: count_above),
    (check.svt_threshold, lambda seed: level),
    (check.svt_global, own_luck(RELEASE)),
    (check.svt_gain, lambda seed: smallest_k),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_auto_mean, auto_mean(silent=lambda rng, bounds: rng.choice(bounds)), "drawn at random says nothing"),
    (check.svt_auto_mean, auto_mean(silent=lambda rng, bounds: bounds[0]), "nothing passes a threshold of a million"),
    (check.svt_auto_mean, auto_mean(6, 12), "twice what counts need"),
    (check.svt_auto_mean, auto_mean(2, 2), "spends all of ε"),
    (check.svt_auto_mean, auto_mean(3, 3), "half of what it must be"),
    (check.svt_auto_mean, auto_mean(0, 0), "no noise: the bound tells"),
    (check.svt_auto_mean, auto_mean(search=lambda noise, far: -np.inf), "first candidate 10 must be chosen"),
    (check.svt_auto_mean, auto_mean(sign=1), "wrong sign"),
    (check.svt_auto_mean, auto_mean(clip=lambda values, bound: values), "not clipped"),
    (check.svt_auto_mean, auto_mean(clip=lambda values, bound: values[values <= bound]), "leaves out everybody above"),
    (check.svt_auto_mean, where(poor, refuses, pays_for_what_passed), "in all 0.3 of 0.9"),
    (check.svt_auto_mean, lambda values, *rest: MEAN(values[values > 0], *rest), "count: the noise does not have"),
    (check.svt_auto_mean, lambda values, *rest: MEAN(values.astype(int), *rest), "the noisy sum"),
    (check.svt_auto_mean, clips_in_place, "changes the table"),
    (check.svt_auto_mean, auto_mean(clip=lambda values, bound: values), "not clipped"),        # the table is as it was
    (check.svt_auto_mean, auto_mean(width=lambda bound, bounds: 1), "sensitivity 1"),
    (check.svt_auto_mean, auto_mean(width=lambda bound, bounds: max(bounds)), "for the last candidate"),
    (check.svt_auto_mean, auto_mean(total=0), "the noisy sum has no noise"),
    (check.svt_auto_mean, auto_mean(total=1), "the noisy sum has a third"),
    (check.svt_auto_mean, auto_mean(total=6), "the noisy sum has twice"),
    (check.svt_auto_mean, auto_mean(number=1), "the noisy count has a third"),
    (check.svt_auto_mean, auto_mean(number=1.5), "the noisy count has half"),
    (check.svt_auto_mean, auto_mean(charge=()), "nothing was charged"),
    (check.svt_auto_mean, auto_mean(charge=(1 / 3, 1 / 3)), "three releases"),
    (check.svt_auto_mean, auto_mean(charge=(0.5, 0.25, 0.25)), "a third of ε each"),
    (check.svt_auto_mean, auto_mean(law=centred), "write scale="),
    (check.svt_auto_mean, lambda *arguments: 7.0, "expected a tuple"),
    (check.svt_auto_mean, 7.0, "expected a function"),
    (check.svt_vectorise, lambda values, bounds: [np.sum(values > bound) for bound in bounds], "loops over the bounds"),
    (check.svt_vectorise, lambda values, bounds: [sum(v > b for v in values) for b in bounds], "loops over the"),
    (check.svt_vectorise, lambda values: 0, "TypeError"),
    (check.svt_vectorise, loop_over_values, "loops over the values"),
    (check.svt_vectorise, lambda values, bounds: (values[:, None] > bounds).sum(axis=0), "table of values"),
    (check.svt_vectorise, lambda values, bounds: len(values) - np.searchsorted(np.sort(values), bounds), "which side"),
    (check.svt_vectorise, lambda values, bounds: np.searchsorted(np.sort(values), bounds, side="right"), "not above"),
    (check.svt_vectorise, lambda values, bounds: -count_above(values, bounds), "sign of the queries"),
    (check.svt_vectorise, lambda values, bounds: len(values) - np.searchsorted(values, bounds, "right"), "sorted"),
    (check.svt_vectorise, lambda values, bounds: count_above(values, bounds)[:5], "expected"),
    (check.svt_vectorise, sorts_in_place, "changes what it is given"),
    (check.svt_vectorise, turns_bounds, "changes what it is given"),
    (check.svt_vectorise, cumulative, "values exceed"),
    (check.svt_threshold, lambda k, people, *rest: level(k, people, *rest) + people, "distance from the answers"),
    (check.svt_threshold, lambda *arguments: level(*arguments, monotone=False), "monotone=True"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(1, people, epsilon, beta), "too low"),
    (check.svt_threshold, lambda k, people, *rest: level(k, people, *rest) + 2 * people, "lay at +people"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + 1 / epsilon, "higher"),
    (check.svt_threshold, lambda k, people, epsilon, beta: 0.0, "too early in 16.5%"),
    (check.svt_threshold, lambda k, people, epsilon, beta: "low", "expected a number"),
    (check.svt_threshold, lambda *arguments: print(end=""), "is the `return` missing"),
    (check.svt_global, lambda queries, table, *rest: RELEASE(queries, [], *rest), "not the argument"),
    (check.svt_global, release(value=2), "half of the noise"),
    (check.svt_global, release(value=1), "a quarter of the noise"),
    (check.svt_global, release(value=8), "twice the noise"),
    (check.svt_global, found_without(lambda rng, place, many: rng.laplace(scale=4 if place else 2)), "at one place"),
    (check.svt_global, where(lambda queries, table, threshold: not table, lambda *arguments: [], RELEASE),
     "the ranges [] comes out in 100.0%"),
    (check.svt_global, lambda *arguments: dict(RELEASE(*arguments)), "list of pairs"),
    (check.svt_global, release(value=0), "no noise"),
    (check.svt_global, release(publish=lambda fresh, counts, nu: nu), "fresh noise"),
    (check.svt_global, release(4, 4), "noise for one range"),
    (check.svt_global, release(2, 4), "spends all of ε"),
    (check.svt_global, release(4, 16), "twice the noise that counts need"),
    (check.svt_global, release(0, 0), "without noise"),
    (check.svt_global, release(*svt.scales(0.5, c=2, monotone=True, split="optimal")[:2]), "not split evenly"),
    (check.svt_global, release(fresh=centred), "write scale="),
    (check.svt_global, lambda queries, table, threshold, rng: [query(adult) for query in queries], "not among its"),  # noqa: F821
    (check.svt_global, lambda queries, table, threshold, rng: [(0, 1.0), (0, 1.0)], "at most two pairs"),
    (check.svt_gain, lambda c, numeric: int(round(c / numeric)), "a tie"),
    (check.svt_gain, lambda c, numeric: 2 * c + 1, "c = 3"),
    (check.svt_gain, lambda c, numeric: c + 1, "no gain"),
    (check.svt_gain, lambda c, numeric: smallest_k(c, numeric) + 1, "already have scale"),
    (check.svt_gain, lambda c, numeric: c / numeric + 0.3, "whole number"),
]


UNUSUAL = [
    (check.svt_auto_mean, with_the_library),
    (check.svt_auto_mean, auto_mean(law=difference())),
    (check.svt_auto_mean, then(MEAN, lambda out, given, rng: tuple(map(float, out)))),
    (check.svt_auto_mean, then(auto_mean(number=0), lambda out, given, rng: (
        out[0], round(out[1]), out[2] + geometric(rng, 3 / given[3].epsilon, ())))),
    (check.svt_auto_mean, where(poor, lambda *arguments: None, MEAN)),
    (check.svt_auto_mean, where(poor, refuses, MEAN)),
    (check.svt_global, lambda *arguments: tuple(RELEASE(*arguments))),
    (check.svt_global, numeric_sparse),
    (check.svt_global, release(fresh=geometric)),
    (check.svt_global, found_without(lambda rng, place, many: rng.laplace(scale=2 * many))),
    (check.svt_global, rounded(RELEASE)),
    (check.svt_global, rounded(RELEASE, 2)),
    *((check.svt_global, checking.seeded(own_luck(not_below(answer))))
      for answer in (RELEASE, rounded(RELEASE), release(fresh=geometric))),
    (check.svt_global, checking.seeded(own_luck(not_below(RELEASE, lambda threshold: threshold)))),
    (check.svt_global, release(law=difference())),
    (check.svt_global, lambda *arguments: [[int(i), value] for i, value in RELEASE(*arguments)]),
    (check.svt_vectorise, lambda values, bounds: np.searchsorted(np.sort(-values), -np.asarray(bounds), side="left")),
    (check.svt_gain, lambda c, numeric: float(smallest_k(c, numeric))),
]

LEAKS = [
    (check.svt_auto_mean, auto_mean(change=lambda noise, values, rng: noise[[0, 0, 2]])),
    (check.svt_auto_mean, auto_mean(change=lambda noise, values, rng: noise[[0, 0, 2]] * (1, -1, 1))),
    (check.svt_auto_mean, auto_mean(change=lambda noise, values, rng: noise[[0, 1, 1]])),
    (check.svt_auto_mean, auto_mean(change=lambda noise, values, rng: noise[[0, 1, 1]] * (1, 1, rng.choice([-1, 1])))),
    (check.svt_auto_mean, auto_mean(total=2.7)),
    (check.svt_auto_mean, times(lambda values: (1, 1, len(values) > 0))),
    (check.svt_auto_mean, times(lambda values: (1, 1, len(values) == 0 or values.any()))),
    (check.svt_auto_mean, times(lambda values: (1, 1, len(values) < 2 or np.ptp(values) > 0))),
    (check.svt_auto_mean, times(lambda values: (1, 1, len(values) <= 300))),
    (check.svt_auto_mean, auto_mean(search=lambda noise, far: np.where(abs(far) > 6, np.sign(far) * np.inf, noise))),
    (check.svt_auto_mean, auto_mean(change=lambda noise, values, rng: (KEPT(rng, 1.0, ()), *noise[1:]))),
    (check.svt_auto_mean, auto_mean(law=clipped(3))),
    (check.svt_auto_mean, auto_mean(law=clipped(4))),
    (check.svt_auto_mean, auto_mean(law=drawn_again(5))),
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: max(epsilon, 0.9))),
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: 0.9)),
    (check.svt_auto_mean, auto_mean(search=lambda noise, far: np.where(np.arange(len(noise)) < 8, noise, 0))),
    (check.svt_auto_mean, times(lambda values: (1, 0.5, 0.5) if len(values) > 100 else 1)),
    (check.svt_auto_mean, one_call_late()),
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: 2 * epsilon if len(values) > 500 else epsilon)),
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: 2 * epsilon if len(values) < 10 else epsilon)),
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: 100 * epsilon if epsilon > 5 else epsilon)),  # large
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: max(epsilon, 0.1))),                          # small
    (check.svt_auto_mean, auto_mean(at=lambda epsilon, values: 2 * epsilon if len(values) > 999 else epsilon)),
    (check.svt_auto_mean, times(lambda values: (1, values.sum() < 1e5, 1))),
    (check.svt_auto_mean, where(lambda values, bounds, *rest: len(bounds) > 10, auto_mean(0, 0), MEAN)),
    (check.svt_global, release(publish=lambda fresh, counts, nu: nu / 2)),
    (check.svt_global, where(nothing_near, lambda *arguments: [], RELEASE)),
    (check.svt_global, where(lambda queries, table, threshold: len(queries) > 10, release(0, 0, 0), RELEASE)),
    (check.svt_global, where(lambda queries, table, threshold: threshold < 0, release(0, 0, 0), RELEASE)),
    (check.svt_global, where(lambda queries, table, threshold: threshold > 5000, release(0, 0, 0), RELEASE)),
    (check.svt_global, release(fresh=shared())),
    (check.svt_global, release(fresh=same_size())),
    (check.svt_global, release(value=3.6)),
    (check.svt_global, rounded(release(value=3.2))),
    (check.svt_global, release(publish=lambda fresh, counts, nu: fresh * (counts != 0))),
    (check.svt_global, release(search=lambda nu, counts, far: nu * (abs(far) <= 150),
                               publish=lambda fresh, counts, nu: fresh * (counts <= 5000))),
    (check.svt_global, release(search=lambda nu, counts, far: np.where(abs(far) > 20, far * np.inf, nu))),
    (check.svt_global, release(fresh=shared(KEPT_VALUE))),
    (check.svt_global, release(law=clipped(4))),
    (check.svt_global, release(law=drawn_again(5))),
    (check.svt_global, release(search=lambda nu, counts, far: nu * (counts != 0))),
    (check.svt_global, release(search=lambda nu, counts, far: nu * (np.arange(len(nu)) < 8))),
    (check.svt_global, release(publish=lambda fresh, counts, nu: fresh * (np.arange(len(nu)) < 8))),
    (check.svt_global, release(publish=lambda fresh, counts, nu: fresh / np.where(counts > 1000, 2, 1))),
    (check.svt_global, release(bar=lambda rho, threshold: rho * (threshold > 0))),
    (check.svt_global, release(publish=lambda fresh, counts, nu: fresh[np.unique(counts, return_inverse=True)[1]])),
    (check.svt_global, where(
        lambda queries, table, threshold: len({query(table) for query in queries}) == 1 < len(queries),
        release(0, 0, 0), RELEASE)),
    *((check.svt_global, where(lambda queries, table, threshold, few=few: len(queries) == few,
                               release(0, 0), RELEASE)) for few in (1, 2)),
    (check.svt_global, release(publish=lambda fresh, counts, nu: np.maximum(fresh, counts.min() - counts))),
    (check.svt_global, release(publish=lambda fresh, counts, nu: np.maximum(fresh, 0))),
]
