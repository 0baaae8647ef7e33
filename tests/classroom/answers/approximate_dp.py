"""The checkers of the section on delta: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import itertools
import math

import numpy as np
from scipy.special import ndtri

from dplib import distributions, mechanisms
from provable_privacy import check
from provable_privacy.check.definitions import approximate_dp


def release(scale=1.0, lift=1.0, *, tail=0.5, seed=None, pass_all=False, fresh=False, exact=False, one_noise=False, in_pairs=False, at_least=None,
            on_exact=False, order=lambda noisy, counts: sorted(noisy)):
    """A learner's thresholded release, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(counts, epsilon, delta, rng):
        rng, b = own or rng, scale / epsilon
        threshold = (lift + b * math.log(tail / delta)) if at_least is None else at_least
        noise = rng.laplace(scale=b, size=len(counts))
        if one_noise:
            noise[:] = rng.laplace(scale=b)
        if in_pairs:
            noise[1::2] = -noise[::2]
        out = {}
        for (category, count), extra in zip(counts.items(), noise, strict=True):
            if pass_all or (count if on_exact else count + extra) >= threshold:
                out[category] = count if exact else count + (rng.laplace(scale=b) if fresh else extra)
        return {category: out[category] for category in order(out, counts)}

    return function


def where_both_are_possible(p, q, epsilon):
    """A ratio first, and so nothing where it is 0 or infinite."""
    both = (p > 0) & (q > 0)
    return max(slack(p[both], q[both], epsilon), slack(q[both], p[both], epsilon))


def strict(counts, epsilon, delta, rng):
    """With continuous noise > and >= are the same; and a list in another order is the same list."""
    threshold = 1 + math.log(0.5 / delta) / epsilon
    noisy = {category: float(count + rng.laplace(scale=1 / epsilon)) for category, count in counts.items()}
    return {category: noisy[category] for category in sorted(noisy) if noisy[category] > threshold}


def from_exponentials(counts, epsilon, delta, rng):
    """Laplace noise as a difference of two exponentials, in the order of the noisy counts."""
    threshold = 1 + np.log(1 / (2 * delta)) / epsilon
    noisy = np.array(list(counts.values())) + (rng.exponential(size=len(counts)) - rng.exponential(size=len(counts))) / epsilon
    lines = sorted(zip(noisy, counts, strict=True), reverse=True)
    return {category: float(value) for value, category in lines if value >= threshold}


def zero_where_it_fails(counts, epsilon, delta, rng):
    """All categories that occur, with a 0 in place of the noisy counts that do not pass."""
    threshold = 1 + math.log(0.5 / delta) / epsilon
    noisy = {category: counts[category] + rng.laplace(scale=1 / epsilon) for category in sorted(counts)}
    return {category: value if value >= threshold else 0 for category, value in noisy.items()}


def whole(counts, epsilon, delta, rng):
    """Noise of whole numbers, with the threshold that it needs."""
    threshold = 1 + math.ceil(math.log(1 / (delta * (1 + math.exp(-epsilon)))) / epsilon)
    q = -math.expm1(-epsilon)
    noise = rng.geometric(q, len(counts)) - rng.geometric(q, len(counts))
    return {category: int(counts[category] + extra) for category, extra in sorted(zip(counts, noise, strict=True)) if counts[category] + extra >= threshold}


def whole_noise_with_the_threshold_of_laplace(counts, epsilon, delta, rng):
    q = -math.expm1(-epsilon)
    noisy = {key: counts[key] + rng.geometric(q) - rng.geometric(q) for key in sorted(counts)}
    return {key: value for key, value in noisy.items() if value >= 1 + math.log(0.5 / delta) / epsilon}


RIGHT = release()


def weak_where(when, share=0.01):
    """A hundredth of the noise on some tables or counts."""
    def function(counts, epsilon, delta, rng):
        many = {key: value for key, value in counts.items() if when(value, counts)}
        out = RIGHT({key: value for key, value in counts.items() if key not in many}, epsilon, delta, rng)
        threshold = 1 + math.log(0.5 / delta) / epsilon
        noisy = {key: value + rng.laplace(scale=share / epsilon) for key, value in many.items()}
        out.update({key: value for key, value in noisy.items() if value >= threshold})
        return {key: out[key] for key in sorted(out)}

    return function


def surely_above(raised=False):
    """What passes without noise always passes; with `raised`, its noisy count is then the threshold at least."""
    def function(counts, epsilon, delta, rng):
        threshold = 1 + math.log(0.5 / delta) / epsilon
        noisy = {key: counts[key] + rng.laplace(scale=1 / epsilon) for key in sorted(counts)}
        return {key: max(value, threshold) if raised else value for key, value in noisy.items() if max(value, counts[key]) >= threshold}

    return function


def kept_noise():
    """One noise for each category, drawn the first time that it is seen."""
    known = {}

    def function(counts, epsilon, delta, rng):
        threshold = 1 + math.log(0.5 / delta) / epsilon
        noisy = {key: counts[key] + known.setdefault(key, rng.laplace()) / epsilon for key in sorted(counts)}
        return {key: value for key, value in noisy.items() if value >= threshold}

    return function


def one_by_loop(p, q, epsilon):
    """By losses, the longer way."""
    def side(a, b):
        return sum(x - math.exp(epsilon) * y for x, y in zip(a, b, strict=True) if x > math.exp(epsilon) * y)

    return max(side(p, q), side(q, p))


def all_sets(p, q, epsilon):
    """By the definition, as the section does it first."""
    sets = np.array(list(itertools.product((0, 1), repeat=len(p))))
    return max((sets @ a - math.exp(epsilon) * (sets @ b)).max() for a, b in ((p, q), (q, p)))


def tail_sigma(epsilon, delta):
    z = -ndtri(delta)
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def honest(scale, threshold):
    return math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))


def convert(epsilon, delta, at):
    return delta + (1 - delta) * max(0.0, math.exp(epsilon) - math.exp(at)) / (1 + math.exp(epsilon))


SOLUTIONS = [
    (check.adp_exact_delta, lambda seed: lambda p, q, epsilon: distributions.exact_delta(p, q, epsilon=epsilon)),
    (check.adp_witness, lambda seed: np.random.default_rng(seed).permutation(5)),
    (check.adp_tail, lambda seed: tail_sigma),
    (check.adp_threshold, lambda seed: release(seed=seed)),
    (check.adp_off_by_one, lambda seed: honest),
    (check.adp_convert, lambda seed: convert),
]


def slack(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


def by_tail(p, q, epsilon):
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(p) - np.log(q)
    return max(p[(p > 0) & (loss > epsilon)].sum(), q[(q > 0) & (-loss > epsilon)].sum())


WRONG = [  # checker, answer, a piece of what it must say
    (check.adp_exact_delta, lambda p, q, epsilon: max((p - math.exp(epsilon) * q).max(), (q - math.exp(epsilon) * p).max()), "worst single outcome"),
    (check.adp_exact_delta, by_tail, "chance that the loss exceeds"),
    (check.adp_exact_delta, slack, "one direction only, D against D'"),
    (check.adp_exact_delta, lambda p, q, epsilon: slack(q, p, epsilon), "one direction only, D' against D"),
    (check.adp_exact_delta, lambda p, q, epsilon: slack(p, q, epsilon) + slack(q, p, epsilon), "both directions are added"),
    (check.adp_exact_delta, lambda p, q, epsilon: (p - math.exp(epsilon) * q).sum(), "minus sign"),
    (check.adp_exact_delta, lambda p, q, epsilon: np.maximum(p - q, 0).sum(), "epsilon was not used"),
    (check.adp_exact_delta, where_both_are_possible, "impossible in one world"),
    (check.adp_exact_delta, lambda p, q, epsilon: 0.5, "sets needs"),
    (check.adp_exact_delta, lambda p, q, epsilon: round(all_sets(p, q, epsilon), 6), ": 0.65102, but the worst of all 32 sets needs 0.651019"),
    (check.adp_exact_delta, lambda p, q, epsilon: distributions.exact_delta(p, q, epsilon=epsilon) if len(p) < 12 else 1 / 6, "random tag"),
    (check.adp_exact_delta, lambda p, q, epsilon: p, "expected a number"),
    (check.adp_exact_delta, lambda p, q: 0, "TypeError"),
    (check.adp_exact_delta, "no function", "expected a function"),
    (check.adp_witness, {0}, "the claim allows"),
    (check.adp_witness, {5, 6, 7}, "the claim allows"),
    (check.adp_witness, {0, 1}, "another one needs more"),
    (check.adp_witness, {0, 1, 2, 3, 4, 5}, "the claim allows"),
    (check.adp_witness, set(), "empty set"),
    (check.adp_witness, {9}, "numbered from 0 to 7"),
    (check.adp_witness, 3, "a set of outcome numbers"),
    (check.adp_witness, "xy", "a set of outcome numbers"),
    (check.adp_witness, [0, 1, 2, 3, 4, 0.5], "a set of outcome numbers"),
    (check.adp_witness, [1, 1, 0, 0, 0, 0, 0, 0], "another one needs more"),
    (check.adp_tail, lambda epsilon, delta: mechanisms.gaussian_sigma(epsilon, delta=delta), "not the same question"),
    (check.adp_tail, lambda epsilon, delta: -ndtri(delta) / epsilon, "not centred"),
    (check.adp_tail, lambda epsilon, delta: math.sqrt(2 * math.log(1.25 / delta)) / epsilon, "classic formula"),
    (check.adp_tail, lambda epsilon, delta: 0.99 * tail_sigma(epsilon, delta), "more noise is needed"),
    (check.adp_tail, lambda epsilon, delta: 1.01 * tail_sigma(epsilon, delta), "less noise will do"),
    (check.adp_tail, lambda epsilon, delta: -1, "must be positive"),
    (check.adp_tail, lambda epsilon, delta: math.inf, "finite"),
    (check.adp_threshold, release(lift=0.0), "lets a count of 0 pass"),
    (check.adp_threshold, release(tail=1.0), "above 1 + ln(1/2δ)/ε"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: RIGHT(counts, epsilon, delta / max(len(counts), 1), rng), "divided by the number of categories"),
    (check.adp_threshold, release(scale=0.5), "half the scale"),
    (check.adp_threshold, release(scale=2.0), "twice the scale"),
    (check.adp_threshold, release(pass_all=True), "nothing is held back"),
    (check.adp_threshold, zero_where_it_fails, "printed with a 0"),
    (check.adp_threshold, release(at_least=0.0), "every positive noisy count"),
    (check.adp_threshold, release(fresh=True), "a second noise"),
    (check.adp_threshold, release(exact=True), "are exact"),
    (check.adp_threshold, release(on_exact=True), "exact count is compared"),
    (check.adp_threshold, surely_above(), "only the noisy count may decide"),
    (check.adp_threshold, release(one_noise=True), "betray their difference"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: {"heaven": 3.0}, "not in the data"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: list(counts), "expected a dict"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: dict.fromkeys(counts, math.nan), "finite number"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: {}, "published"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: print(end=""), "is the `return` missing?"),
    (check.adp_threshold, release(order=lambda noisy, counts: [key for key in counts if key in noisy]), "sort by name"),
    (check.adp_off_by_one, lambda scale, threshold: honest(scale, threshold + 1), "the library's number"),
    (check.adp_off_by_one, lambda scale, threshold: 0.5 * math.exp(-(threshold - 1) / scale), "continuous"),
    (check.adp_off_by_one, lambda scale, threshold: 2 * honest(scale, threshold), "both tails"),
    (check.adp_off_by_one, lambda scale, threshold: 0.9 * honest(scale, threshold), "a false promise"),
    (check.adp_off_by_one, lambda scale, threshold: 1.1 * honest(scale, threshold), "too large"),
    (check.adp_off_by_one, lambda scale, threshold: "small", "expected a number"),
    (check.adp_convert, lambda epsilon, delta, at: delta * math.exp(epsilon - at), "a catastrophe"),
    (check.adp_convert, lambda epsilon, delta, at: delta, "needs"),
    (check.adp_convert, lambda epsilon, delta, at: 1.0, "less is enough"),
    (check.adp_convert, lambda epsilon, delta, at: delta + max(0, math.exp(epsilon) - math.exp(at)), "less is enough"),
    (check.adp_convert, lambda epsilon, delta, at: [1, 2], "expected a number"),
]

UNUSUAL = [
    (check.adp_exact_delta, one_by_loop),
    (check.adp_exact_delta, all_sets),
    (check.adp_witness, [4, 3, 2, 1, 0, 0]),
    (check.adp_witness, approximate_dp.P > 2 * approximate_dp.Q),
    (check.adp_witness, [1, 1, 1, 1, 1, 0, 0, 0]),
    (check.adp_witness, np.where(approximate_dp.P > 2 * approximate_dp.Q)),
    (check.adp_witness, np.argwhere(approximate_dp.P > 2 * approximate_dp.Q)),
    (check.adp_tail, lambda epsilon, delta: np.array(tail_sigma(epsilon, delta)).astype(np.float32)),
    (check.adp_threshold, strict),
    (check.adp_threshold, from_exponentials),
    (check.adp_threshold, whole),
    (check.adp_convert, lambda epsilon, delta, at: max(delta, (math.exp(epsilon) + delta - math.exp(at) * (1 - delta)) / (1 + math.exp(epsilon)))),
]

LEAKS = [
    (check.adp_threshold, release(order=lambda noisy, counts: sorted(noisy, key=counts.get))),
    (check.adp_threshold, weak_where(lambda count, counts: count >= 100)),
    (check.adp_threshold, weak_where(lambda count, counts: len(counts) == 1)),
    (check.adp_threshold, weak_where(lambda count, counts: len(set(counts.values())) == 1 and len(counts) > 1)),
    (check.adp_threshold, weak_where(lambda count, counts: len(counts) > 10_000)),
    (check.adp_threshold, release(in_pairs=True)),
    (check.adp_threshold, release(one_noise=True)),
    (check.adp_threshold, kept_noise()),
    (check.adp_threshold, surely_above(raised=True)),
    (check.adp_threshold, whole_noise_with_the_threshold_of_laplace),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: {k: min(v, max(counts.values())) for k, v in RIGHT(counts, epsilon, delta, rng).items()}),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: RIGHT(counts, 1.0, delta, rng)),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: RIGHT(counts, epsilon, 0.05, rng)),
]
