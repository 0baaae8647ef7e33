"""The checkers of the section on clip bounds and range queries: silent on the stub, content with the solution, clear about mistakes."""
import numpy as np
from scipy.optimize import brentq

from dplib import mechanisms, svt
from dplib.budget import Budget
from provable_privacy import check


def count_above(values, bounds):
    return len(values) - np.searchsorted(np.sort(values), bounds, side="right")


def auto_mean(*, seed=None, silent=-1, monotone=True, search=1 / 3, total=1 / 3, number=1 / 3, charge=(1 / 3, 1 / 3, 1 / 3), clip=True,
              unit=False, widest=False, sign=-1, own_budget=False, always=None, exact=False):
    """A learner's automatic mean, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, bounds, threshold, budget, rng):
        rng, epsilon = own or rng, budget.epsilon
        budget = Budget(epsilon) if own_budget else budget
        for share in charge:
            budget.spend(share * epsilon)
        found = svt.above_threshold(sign * count_above(values, bounds), threshold=threshold, sensitivity=1, epsilon=search * epsilon,
                                    monotone=monotone, rng=rng)
        nothing = int(rng.integers(len(bounds))) if silent == "random" else silent
        bound = bounds[found[0] if found.size else nothing] if always is None else bounds[always]
        clipped = np.minimum(values, bound).sum() if clip else values.sum()
        noisy = clipped if exact else mechanisms.laplace(clipped, sensitivity=1 if unit else max(bounds) if widest else bound, epsilon=total * epsilon, rng=rng)
        return bound, noisy, mechanisms.laplace(len(values), sensitivity=1, epsilon=number * epsilon, rng=rng)

    return function


def release(*, seed=None, c=2, search=0.5, scale=4.0, monotone=True, reuse=False, one=False, table=None):
    """A learner's range release, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(queries, mine, threshold, rng):
        rng = own or rng
        counts = np.array([query(mine if table is None else table) for query in queries])
        if reuse or one:
            noise = svt.scales(0.5, c=1 if one else 2, monotone=True)
            level, noisy = threshold + rng.laplace(scale=noise.threshold), counts + rng.laplace(scale=noise.query, size=len(counts))
            return [(i, noisy[i] if reuse else counts[i] + rng.laplace(scale=scale)) for i in np.flatnonzero(noisy >= level)[:2]]
        found = svt.above_threshold(counts, threshold=threshold, sensitivity=1, epsilon=search, c=c, monotone=monotone, rng=rng)[:2]
        return [(i, counts[i] + (rng.laplace(scale=scale) if scale else 0.0)) for i in found]

    return function


def by_hand(*, laplace=lambda rng, size=None: rng.laplace(size=size), sum_noise="fresh", number_noise="fresh", factor=1.0, empty_exact=False,
            zero_exact=False, constant_exact=False, large_exact=False, sure=np.inf, kept=None,
            late_exact=False, many_half=False, before=None):
    """An automatic mean from noises of scale 1, and ways to leak with them; farther than `sure` from the threshold its search has no noise."""
    def function(values, bounds, threshold, budget, rng):
        third = budget.epsilon / 3
        pay = [budget.spend(third) for _ in range(3)]
        rho, for_sum, for_number = laplace(rng, 3)
        if kept is not None:
            if not kept or rng.random() < 0.05:
                kept[:] = [rho]
            rho = kept[0]
        asked, nu = -count_above(values, bounds), laplace(rng, len(bounds))
        nu[8 if late_exact else len(nu):] = 0
        passed = asked + 2 / pay[0] * nu >= threshold + 2 / pay[0] * rho
        passed = np.where(abs(asked - threshold) > sure / pay[0], asked >= threshold, passed)
        bound = bounds[int(np.argmax(passed)) if passed.any() else -1]
        for_sum = {"fresh": factor * for_sum, "search": rho, "search turned": -rho}[sum_noise]
        for_number = {"fresh": for_number, "sum": for_sum, "sum, fresh sign": abs(for_sum) * rng.choice([-1, 1])}[number_noise]
        if many_half and len(values) > 100:
            for_sum, for_number = for_sum / 2, for_number / 2
        if before is not None:
            before[:], for_number = [for_sum], before[0] if before else for_number
        exact = (empty_exact and len(values) == 0 or zero_exact and len(values) > 0 and not values.any()
                 or constant_exact and len(values) > 1 and np.ptp(values) == 0 or large_exact and len(values) > 300)
        number = len(values) + (0 if exact else for_number / pay[2])
        return bound, np.minimum(values, bound).sum() + bound * for_sum / pay[1], number

    return function


def at_epsilon(change):
    """A third of another epsilon for the noise, a third of the right one in the ledger."""
    def function(values, bounds, threshold, budget, rng):
        for _ in range(3):
            budget.spend(budget.epsilon / 3)
        return auto_mean()(values, bounds, threshold, Budget(change(budget.epsilon)), rng)

    return function


def half_noise(where):
    """The ledger is right, and the noise is half of what it must be for some tables."""
    def function(values, bounds, threshold, budget, rng):
        got = auto_mean()(values, bounds, threshold, Budget(2 * budget.epsilon if where(values) else budget.epsilon), rng)
        for _ in range(3):
            budget.spend(budget.epsilon / 3)
        return got

    return function


def cut(at):
    """Laplace noise that ends at so many scales."""
    return lambda rng, size=None: np.clip(rng.laplace(size=size), -at, at)


def drawn_again(at):
    """Laplace noise, drawn again where it is farther out than so many scales."""
    def laplace(rng, size=None):
        noise = rng.laplace(size=size)
        while np.any(far := np.abs(noise) > at):
            noise = np.where(far, rng.laplace(size=size), noise)
        return noise

    return laplace


def release_by_hand(*, laplace=lambda rng, size=None: rng.laplace(size=size), value_noise="fresh", factor=1.0, zero_exact=False, clear_exact=False, sure=np.inf,
                    kept=None):
    """A range release from noises of scale 1, and ways to leak with them; farther than `sure` from the threshold its search has no noise."""
    def function(queries, table, threshold, rng):
        counts = np.array([query(table) for query in queries])
        (rho, one), nu = laplace(rng, 2), laplace(rng, len(counts))
        if kept is not None:
            if not kept or rng.random() < 0.05:
                kept[:] = [one]
            one = kept[0]
        passed = counts + 8 * nu >= threshold + 4 * rho
        found = np.flatnonzero(np.where(abs(counts - threshold) > sure, counts >= threshold, passed))[:2]
        if clear_exact:
            nu = np.where(abs(counts - threshold) > 150, 0, nu)
            found = np.flatnonzero(counts + 8 * nu >= threshold + 4 * rho)[:2]
        fresh = 4 * factor * laplace(rng, len(counts))
        if value_noise == "search":
            fresh = 4 * nu
        elif value_noise != "fresh":
            fresh = 4 * one * (rng.choice([-1, 1], len(counts)) if "signs" in value_noise else np.ones(len(counts)))
        if kept is not None:
            fresh[:] = 4 * one
        noise = np.where((counts == 0) & zero_exact, 0, fresh)
        if clear_exact:
            noise = np.where(counts > 5000, 0, noise)
        return [(i, counts[i] + noise[i]) for i in found]

    return function


def from_noises(*, search=lambda i, count: 1, value=lambda i, count: 1, level=lambda threshold: 1, by_count=False):
    """A range release whose noises are multiplied by what their place or their count says."""
    def function(queries, table, threshold, rng):
        counts, kept = [query(table) for query in queries], {}
        bar = threshold + 4 * level(threshold) * rng.laplace()
        found = [i for i, count in enumerate(counts) if count + 8 * search(i, count) * rng.laplace() >= bar][:2]
        luck = [kept.setdefault(counts[i], rng.laplace()) if by_count else rng.laplace() for i in found]
        return [(i, counts[i] + 4 * value(i, counts[i]) * noise) for i, noise in zip(found, luck)]

    return function


def whole_numbers(queries, table, threshold, rng):
    counts = np.array([query(table) for query in queries])
    found = svt.above_threshold(counts, threshold=threshold, sensitivity=1, epsilon=0.5, c=2, monotone=True, rng=rng)
    return [(i, mechanisms.geometric(int(counts[i]), sensitivity=1, epsilon=0.25, rng=rng)) for i in found]


def shared_by_those_found(queries, table, threshold, rng):
    counts = np.array([query(table) for query in queries])
    found = svt.above_threshold(counts, threshold=threshold, sensitivity=1, epsilon=0.5, c=2, monotone=True, rng=rng)
    return [(i, counts[i] + rng.laplace(scale=2 * len(found))) for i in found]


def whole_count(values, bounds, threshold, budget, rng):
    bound, total, _ = auto_mean()(values, bounds, threshold, budget, rng)
    return bound, round(total), mechanisms.geometric(len(values), sensitivity=1, epsilon=budget.epsilon / 3, rng=rng)


def stops_by_itself(how):
    def function(values, bounds, threshold, budget, rng):
        if budget.remaining < budget.epsilon:
            if how == "None":
                return None
            raise ValueError("somebody else has spent it")
        return auto_mean()(values, bounds, threshold, budget, rng)

    return function


def leaves_out(values, bounds, threshold, budget, rng):
    """The sum of those below the bound only."""
    bound, total, number = auto_mean()(values, bounds, threshold, budget, rng)
    return bound, total - bound * (values > bound).sum(), number


def pays_for_what_passed(values, bounds, threshold, budget, rng):
    own = Budget(budget.epsilon)
    got = auto_mean()(values, bounds, threshold, own, rng)
    for _ in range(1 if got[0] == bounds[-1] else 3):
        budget.spend(budget.epsilon / 3)
    return got


def clips_in_place(values, bounds, threshold, budget, rng):
    bound, total, number = auto_mean()(values, bounds, threshold, budget, rng)
    values[values > bound] = bound
    return bound, total, number


def numeric_sparse(queries, table, threshold, rng):
    counts = np.array([query(table.copy()) for query in queries])
    return zip(*svt.numeric_sparse(counts, threshold=threshold, sensitivity=1, epsilon=1.0, c=2, monotone=True, numeric=0.5, rng=rng))


def half_for_the_first(queries, table, threshold, rng):
    return [(i, value + (rng.laplace(scale=4) if k else rng.laplace(scale=2))) for k, (i, value) in enumerate(release(scale=0)(queries, table, threshold, rng))]


def silent_on_no_rows(queries, table, threshold, rng):
    return release()(queries, table, threshold, rng) if len(table) else []


def level(k, people, epsilon, beta, *, monotone=True):
    def excess(threshold):
        noise = svt.scales(epsilon, monotone=monotone)
        return -np.expm1(svt.log_probability(np.zeros(k), np.full(k, -float(people)), threshold=threshold, noise=noise)) - beta

    return brentq(excess, -people, 2000 / epsilon)


def optimal_split(queries, table, threshold, rng):
    counts = np.array([query(table) for query in queries])
    found = svt.above_threshold(counts, threshold=threshold, sensitivity=1, epsilon=0.5, c=2, monotone=True, split="optimal", rng=rng)
    return [(i, counts[i] + rng.laplace(scale=4)) for i in found]


def centred_release(queries, table, threshold, rng):
    counts = np.array([query(table) for query in queries])
    return [(i, counts[i] + rng.laplace(4)) for i in svt.above_threshold(counts, threshold=threshold, sensitivity=1, epsilon=0.5, c=2, monotone=True, rng=rng)]


def centred_mean(values, bounds, threshold, budget, rng):
    third = budget.epsilon / 3
    found = svt.above_threshold(-count_above(values, bounds), threshold=threshold, sensitivity=1, epsilon=budget.spend(third), monotone=True, rng=rng)
    bound = bounds[found[0] if found.size else -1]
    return bound, np.minimum(values, bound).sum() + rng.laplace(bound / budget.spend(third)), len(values) + rng.laplace(1 / budget.spend(third))


def smallest_k(c, numeric):
    return int(np.floor(c / numeric + 1e-9)) + 1


def loop_over_bounds(values, bounds):
    return np.array([(values > bound).sum() for bound in bounds])


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


SOLUTIONS = [
    (check.svt_auto_mean, lambda seed: auto_mean(seed=seed)),
    (check.svt_vectorise, lambda seed: count_above),
    (check.svt_threshold, lambda seed: level),
    (check.svt_global, lambda seed: release(seed=seed)),
    (check.svt_gain, lambda seed: smallest_k),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_auto_mean, auto_mean(silent="random"), "drawn at random says nothing"),
    (check.svt_auto_mean, auto_mean(silent=0), "nothing passes a threshold of a million"),
    (check.svt_auto_mean, auto_mean(monotone=False), "twice what counts need"),
    (check.svt_auto_mean, auto_mean(search=1), "spends all of ε"),
    (check.svt_auto_mean, auto_mean(search=2 / 3), "half of what it must be"),
    (check.svt_auto_mean, auto_mean(search=1e6), "no noise: the bound tells"),
    (check.svt_auto_mean, auto_mean(always=-1), "first candidate 10 must be chosen"),
    (check.svt_auto_mean, auto_mean(sign=1), "wrong sign"),
    (check.svt_auto_mean, auto_mean(clip=False), "not clipped"),
    (check.svt_auto_mean, leaves_out, "leaves out everybody above"),
    (check.svt_auto_mean, pays_for_what_passed, "in all 0.3 of 0.9"),
    (check.svt_auto_mean, lambda values, *rest: auto_mean()(values[values > 0], *rest), "the noisy count: the noise does not have the right law"),
    (check.svt_auto_mean, lambda values, *rest: auto_mean()(values.astype(int), *rest), "the noisy sum"),
    (check.svt_auto_mean, clips_in_place, "changes the table"),
    (check.svt_auto_mean, auto_mean(clip=False), "not clipped"),                  # the table is as it was
    (check.svt_auto_mean, auto_mean(unit=True), "sensitivity 1"),
    (check.svt_auto_mean, auto_mean(widest=True), "for the last candidate"),
    (check.svt_auto_mean, auto_mean(exact=True), "the noisy sum has no noise"),
    (check.svt_auto_mean, auto_mean(total=1), "the noisy sum has a third"),
    (check.svt_auto_mean, auto_mean(total=1 / 6), "the noisy sum has twice"),
    (check.svt_auto_mean, auto_mean(number=1), "the noisy count has a third"),
    (check.svt_auto_mean, auto_mean(number=2 / 3), "the noisy count has half"),
    (check.svt_auto_mean, auto_mean(charge=()), "nothing was charged"),
    (check.svt_auto_mean, auto_mean(charge=(1 / 3, 1 / 3)), "three releases"),
    (check.svt_auto_mean, auto_mean(charge=(0.5, 0.25, 0.25)), "a third of ε each"),
    (check.svt_auto_mean, auto_mean(own_budget=True), "nothing was charged"),
    (check.svt_auto_mean, lambda *arguments: 7.0, "expected a tuple"),
    (check.svt_auto_mean, 7.0, "expected a function"),
    (check.svt_vectorise, loop_over_bounds, "loops over the bounds"),
    (check.svt_vectorise, lambda values, bounds: [sum(v > b for v in values) for b in bounds], "loops over the"),
    (check.svt_vectorise, lambda values: 0, "TypeError"),
    (check.svt_vectorise, loop_over_values, "loops over the values"),
    (check.svt_vectorise, lambda values, bounds: (values[:, None] > bounds).sum(axis=0), "table of values times bounds"),
    (check.svt_vectorise, lambda values, bounds: len(values) - np.searchsorted(np.sort(values), bounds), "which side"),
    (check.svt_vectorise, lambda values, bounds: np.searchsorted(np.sort(values), bounds, side="right"), "not above"),
    (check.svt_vectorise, lambda values, bounds: -count_above(values, bounds), "sign of the queries"),
    (check.svt_vectorise, lambda values, bounds: len(values) - np.searchsorted(values, bounds, side="right"), "are the values sorted"),
    (check.svt_vectorise, lambda values, bounds: count_above(values, bounds)[:5], "expected"),
    (check.svt_vectorise, sorts_in_place, "it changes `values`"),
    (check.svt_vectorise, turns_bounds, "it changes `bounds`"),
    (check.svt_vectorise, cumulative, "values exceed"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + people, "distance from the answers"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta, monotone=False), "monotone=True"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(1, people, epsilon, beta), "too low"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + 2 * people, "lay at +people"),
    (check.svt_threshold, lambda k, people, epsilon, beta: level(k, people, epsilon, beta) + 1 / epsilon, "higher than needed"),
    (check.svt_threshold, lambda k, people, epsilon, beta: 0.0, "too early in 16.5%"),
    (check.svt_threshold, lambda k, people, epsilon, beta: "low", "expected a number"),
    (check.svt_threshold, lambda *arguments: print(end=""), "is the `return` missing"),
    (check.svt_global, release(table=[]), "not the argument"),
    (check.svt_global, release(scale=2.0), "half of the noise"),
    (check.svt_global, release(scale=8.0), "twice the noise"),
    (check.svt_global, half_for_the_first, "ε/2 at one place and for ε/4 at the other"),
    (check.svt_global, silent_on_no_rows, "the ranges [] comes out in 100.0%"),
    (check.svt_global, lambda *arguments: dict(release()(*arguments)), "list of pairs"),
    (check.svt_global, release(scale=0), "no noise"),
    (check.svt_global, release(reuse=True), "fresh noise"),
    (check.svt_global, release(one=True), "noise for one range"),
    (check.svt_global, release(search=1.0), "spends all of ε"),
    (check.svt_global, release(monotone=False), "twice the noise that counts need"),
    (check.svt_global, release(search=500.0), "without noise"),
    (check.svt_global, optimal_split, "another split"),
    (check.svt_global, centred_release, "write scale="),
    (check.svt_auto_mean, centred_mean, "write scale="),
    (check.svt_global, lambda queries, table, threshold, rng: [query(adult) for query in queries], "not among its arguments"),  # noqa: F821
    (check.svt_global, lambda queries, table, threshold, rng: [(0, 1.0), (0, 1.0)], "at most two pairs"),
    (check.svt_gain, lambda c, numeric: int(round(c / numeric)), "a tie"),
    (check.svt_gain, lambda c, numeric: 2 * c + 1, "for c=3"),
    (check.svt_gain, lambda c, numeric: c + 1, "no gain"),
    (check.svt_gain, lambda c, numeric: smallest_k(c, numeric) + 1, "already have scale"),
    (check.svt_gain, lambda c, numeric: c / numeric + 0.3, "whole number"),
]


UNUSUAL = [
    (check.svt_auto_mean, by_hand()),
    (check.svt_auto_mean, by_hand(laplace=lambda rng, size=None: rng.exponential(size=size) - rng.exponential(size=size))),
    (check.svt_auto_mean, lambda *arguments: tuple(float(x) for x in by_hand()(*arguments))),
    (check.svt_auto_mean, whole_count),
    (check.svt_auto_mean, stops_by_itself("None")),
    (check.svt_auto_mean, stops_by_itself("ValueError")),
    (check.svt_global, release_by_hand()),
    (check.svt_global, numeric_sparse),
    (check.svt_global, whole_numbers),
    (check.svt_global, shared_by_those_found),
    (check.svt_global, lambda *arguments: [(i, round(value)) for i, value in release()(*arguments)]),
    (check.svt_global, lambda *arguments: [(i, round(2 * value) / 2) for i, value in release()(*arguments)]),
    (check.svt_global, release_by_hand(laplace=lambda rng, size=None: rng.exponential(size=size) - rng.exponential(size=size))),
    (check.svt_global, lambda *arguments: [[int(i), value] for i, value in release()(*arguments)]),
    (check.svt_vectorise, lambda values, bounds: np.searchsorted(np.sort(-values), -np.asarray(bounds), side="left")),
    (check.svt_gain, lambda c, numeric: float(smallest_k(c, numeric))),
]

LEAKS = [
    (check.svt_auto_mean, by_hand(sum_noise="search")),
    (check.svt_auto_mean, by_hand(sum_noise="search turned")),
    (check.svt_auto_mean, by_hand(number_noise="sum")),
    (check.svt_auto_mean, by_hand(number_noise="sum, fresh sign")),
    (check.svt_auto_mean, by_hand(factor=0.9)),
    (check.svt_auto_mean, by_hand(empty_exact=True)),
    (check.svt_auto_mean, by_hand(zero_exact=True)),
    (check.svt_auto_mean, by_hand(constant_exact=True)),
    (check.svt_auto_mean, by_hand(large_exact=True)),
    (check.svt_auto_mean, by_hand(sure=6)),
    (check.svt_auto_mean, by_hand(kept=[])),
    (check.svt_auto_mean, by_hand(laplace=cut(3))),
    (check.svt_auto_mean, by_hand(laplace=cut(4))),
    (check.svt_auto_mean, by_hand(laplace=drawn_again(5))),
    (check.svt_auto_mean, at_epsilon(lambda epsilon: max(epsilon, 0.9))),
    (check.svt_auto_mean, at_epsilon(lambda epsilon: 0.9)),
    (check.svt_auto_mean, by_hand(late_exact=True)),
    (check.svt_auto_mean, by_hand(many_half=True)),
    (check.svt_auto_mean, by_hand(before=[])),
    (check.svt_auto_mean, half_noise(lambda values: len(values) > 500)),
    (check.svt_auto_mean, half_noise(lambda values: len(values) < 10)),
    (check.svt_global, release_by_hand(value_noise="search")),
    (check.svt_global, release_by_hand(value_noise="one")),
    (check.svt_global, release_by_hand(value_noise="one, fresh signs")),
    (check.svt_global, release_by_hand(factor=0.9)),
    (check.svt_global, lambda *arguments: [(i, round(value)) for i, value in release_by_hand(factor=0.8)(*arguments)]),
    (check.svt_global, release_by_hand(zero_exact=True)),
    (check.svt_global, release_by_hand(clear_exact=True)),
    (check.svt_global, release_by_hand(sure=20)),
    (check.svt_global, release_by_hand(kept=[])),
    (check.svt_global, release_by_hand(laplace=cut(4))),
    (check.svt_global, release_by_hand(laplace=drawn_again(5))),
    (check.svt_global, from_noises(search=lambda i, count: count != 0)),
    (check.svt_global, from_noises(search=lambda i, count: i < 8)),
    (check.svt_global, from_noises(value=lambda i, count: i < 8)),
    (check.svt_global, from_noises(value=lambda i, count: 0.5 if count > 1000 else 1)),
    (check.svt_global, from_noises(level=lambda threshold: threshold > 0)),
    (check.svt_global, from_noises(by_count=True)),
    (check.svt_global, lambda queries, table, *rest: from_noises()(queries, table, *rest) if len({query(table) for query in queries}) > 1 or len(queries) < 2
     else [(i, query(table)) for i, query in enumerate(queries[:2]) if query(table) >= rest[0]]),
]
