"""Answers to the exercises of the section on delta."""
import itertools
import math

import numpy as np
from scipy.special import ndtri

from dplib import distributions, mechanisms
from provable_privacy import check
from provable_privacy.battery.makers import difference, geometric, given, laplace, own_luck, shared, then, where
from provable_privacy.check.definitions import approximate_dp


def threshold(epsilon, delta):
    return 1 + math.log(0.5 / delta) / epsilon


def release(scale=1.0, at_least=threshold, law=laplace, *, fresh=False, exact=False, on_exact=False, order=None):
    """A learner's thresholded release, right unless told otherwise; the scale may be a function of count and counts."""
    def function(counts, epsilon, delta, rng):
        b = np.array([scale(count, counts) for count in counts.values()]) if callable(scale) else scale
        noise = law(rng, b / epsilon, (len(counts),))
        out = {}
        for (key, count), extra in zip(counts.items(), noise, strict=True):
            if (count if on_exact else count + extra) >= at_least(epsilon, delta):
                out[key] = count if exact else count + (rng.laplace(scale=scale / epsilon) if fresh else extra)
        return {key: out[key] for key in sorted(out, key=order and (lambda key: order(key, counts)))}

    return function


RIGHT = release()


def noisy(counts, epsilon, rng):
    """All noisy counts, by name."""
    return {key: float(counts[key] + rng.laplace(scale=1 / epsilon)) for key in sorted(counts)}


def strict(counts, epsilon, delta, rng):
    """With continuous noise > and >= are the same."""
    return {key: value for key, value in noisy(counts, epsilon, rng).items() if value > threshold(epsilon, delta)}


def zero_where_it_fails(counts, epsilon, delta, rng):
    """All categories that occur, with a 0 in place of the noisy counts that do not pass."""
    return {key: value * (value >= threshold(epsilon, delta)) for key, value in noisy(counts, epsilon, rng).items()}


def surely_above(raised=False):
    """What passes without noise always passes; with `raised`, its noisy count is then the threshold at least."""
    def function(counts, epsilon, delta, rng):
        at = threshold(epsilon, delta)
        return {key: max(value, at) if raised else value for key, value in noisy(counts, epsilon, rng).items()
                if max(value, counts[key]) >= at}

    return function


def whole_threshold(epsilon, delta):
    return 1 + math.ceil(math.log(1 / (delta * (1 + math.exp(-epsilon)))) / epsilon)


def delta_divided(counts, epsilon, delta, rng):
    return RIGHT(counts, epsilon, delta / max(len(counts), 1), rng)


def in_pairs(rng, scale, shape):
    """Each second noise is the one before, with the other sign."""
    noise = rng.laplace(scale=scale, size=shape)
    noise[1::2] = -noise[: 2 * (len(noise) // 2) : 2]
    return noise


def repeated(size):
    """So many noises, again and again."""
    return lambda rng, scale, shape: np.resize(laplace(rng, scale, (min(size, *shape),)), shape)


def whole_scale(rng, scale, shape):
    """The scale of the noise is rounded to a whole number."""
    return laplace(rng, max(round(scale), 1), shape)


def by_noisy_count(out, table, rng):
    return dict(sorted(out.items(), key=lambda line: -line[1]))


def cut_at_the_largest(out, table, rng):
    return {key: min(value, max(table[0].values())) for key, value in out.items()}


def kept_noise():
    """One noise for each category, drawn the first time that it is seen."""
    known = {}

    def function(counts, epsilon, delta, rng):
        values = {key: counts[key] + known.setdefault(key, rng.laplace()) / epsilon for key in sorted(counts)}
        return {key: value for key, value in values.items() if value >= threshold(epsilon, delta)}

    return function


def where_both_are_possible(p, q, epsilon):
    """A ratio first, and so nothing where it is 0 or infinite."""
    both = (p > 0) & (q > 0)
    return max(slack(p[both], q[both], epsilon), slack(q[both], p[both], epsilon))


def one_by_loop(p, q, epsilon):
    """By losses, the longer way."""
    def side(a, b):
        return sum(x - math.exp(epsilon) * y for x, y in zip(a, b, strict=True) if x > math.exp(epsilon) * y)

    return max(side(p, q), side(q, p))


def all_sets(p, q, epsilon):
    """By the definition, as the section does it first."""
    sets = np.array(list(itertools.product((0, 1), repeat=len(p))))
    return max((sets @ a - math.exp(epsilon) * (sets @ b)).max() for a, b in ((p, q), (q, p)))


def by_one_fraction(epsilon, delta, at):
    return max(delta, (math.exp(epsilon) + delta - math.exp(at) * (1 - delta)) / (1 + math.exp(epsilon)))


def tail_sigma(epsilon, delta):
    z = -ndtri(delta)
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def honest(scale, threshold):
    return math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))


def convert(epsilon, delta, at):
    return delta + (1 - delta) * max(0.0, math.exp(epsilon) - math.exp(at)) / (1 + math.exp(epsilon))


def never_empty(counts, epsilon, delta, rng):
    """If nothing passes, the largest category does all the same, if it may."""
    out, largest = RIGHT(counts, epsilon, delta, rng), max(counts, key=counts.get, default=None)
    least = threshold(epsilon, delta)
    return out or ({largest: least} if counts and counts[largest] > least else {})


SOLUTIONS = [
    (check.adp_exact_delta, lambda seed: lambda p, q, epsilon: distributions.exact_delta(p, q, epsilon=epsilon)),
    (check.adp_witness, lambda seed: np.random.default_rng(seed).permutation(5)),
    (check.adp_tail, lambda seed: tail_sigma),
    (check.adp_threshold, own_luck(RIGHT)),
    (check.adp_off_by_one, lambda seed: honest),
    (check.adp_convert, lambda seed: convert),
]


def slack(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


def by_outcome(p, q, epsilon):
    return max((p - math.exp(epsilon) * q).max(), (q - math.exp(epsilon) * p).max())


def by_tail(p, q, epsilon):
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(p) - np.log(q)
    return max(p[(p > 0) & (loss > epsilon)].sum(), q[(q > 0) & (-loss > epsilon)].sum())


WRONG = [  # checker, answer, a piece of what it must say
    (check.adp_exact_delta, by_outcome, "worst single outcome"),
    (check.adp_exact_delta, by_tail, "chance that the loss exceeds"),
    (check.adp_exact_delta, slack, "one direction only, D against D'"),
    (check.adp_exact_delta, lambda p, q, epsilon: slack(q, p, epsilon), "one direction only, D' against D"),
    (check.adp_exact_delta, lambda p, q, epsilon: slack(p, q, epsilon) + slack(q, p, epsilon), "both directions are"),
    (check.adp_exact_delta, lambda p, q, epsilon: (p - math.exp(epsilon) * q).sum(), "minus sign"),
    (check.adp_exact_delta, lambda p, q, epsilon: np.maximum(p - q, 0).sum(), "epsilon was not used"),
    (check.adp_exact_delta, where_both_are_possible, "impossible in one world"),
    (check.adp_exact_delta, lambda p, q, epsilon: 0.5, "sets needs"),
    (check.adp_exact_delta, lambda *case: round(all_sets(*case), 6), "the worst of all 32 sets needs 0.651019"),
    (check.adp_exact_delta, lambda p, q, epsilon: one_by_loop(p, q, epsilon) if len(p) < 12 else 1 / 6, "random tag"),
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
    (check.adp_tail, lambda epsilon, delta: mechanisms.gaussian_sigma(epsilon, delta=delta), "two different questions"),
    (check.adp_tail, lambda epsilon, delta: -ndtri(delta) / epsilon, "not centred"),
    (check.adp_tail, lambda epsilon, delta: math.sqrt(2 * math.log(1.25 / delta)) / epsilon, "classic formula"),
    (check.adp_tail, lambda epsilon, delta: 0.99 * tail_sigma(epsilon, delta), "more noise is needed"),
    (check.adp_tail, lambda epsilon, delta: 1.01 * tail_sigma(epsilon, delta), "less noise is enough"),
    (check.adp_tail, lambda epsilon, delta: -1, "must be positive"),
    (check.adp_tail, lambda epsilon, delta: math.inf, "finite"),
    (check.adp_threshold, release(at_least=lambda e, d: threshold(e, d) - 1), "lets a count of 0 pass"),
    (check.adp_threshold, release(at_least=lambda e, d: threshold(e, d / 2)), "higher than 1 + ln(1/2δ)/ε"),
    (check.adp_threshold, delta_divided, "divided by the number of categories"),
    (check.adp_threshold, release(0.5, lambda e, d: 1 + math.log(0.5 / d) / e / 2), "noise of half the scale"),
    (check.adp_threshold, release(2.0, lambda e, d: 1 + 2 * math.log(0.5 / d) / e), "noise of twice the scale"),
    (check.adp_threshold, release(0.5), "half the scale"),
    (check.adp_threshold, release(2.0), "twice the scale"),
    (check.adp_threshold, release(at_least=lambda e, d: -math.inf), "nothing is held back"),
    (check.adp_threshold, zero_where_it_fails, "printed with a 0"),
    (check.adp_threshold, release(at_least=lambda e, d: 0.0), "every positive noisy count"),
    (check.adp_threshold, release(fresh=True), "a second noise"),
    (check.adp_threshold, release(exact=True), "are exact"),
    (check.adp_threshold, release(on_exact=True), "compare the exact count"),
    (check.adp_threshold, surely_above(), "only the noisy count may decide"),
    (check.adp_threshold, release(law=shared()), "the difference of two of them is exact"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: {"heaven": 3.0}, "not in the data"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: list(counts), "expected a dict"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: dict.fromkeys(counts, math.nan), "finite number"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: {}, "published"),
    (check.adp_threshold, lambda counts, epsilon, delta, rng: print(end=""), "is the `return` missing?"),
    (check.adp_threshold, release(order=lambda key, counts: list(counts).index(key)), "sort by name"),
    (check.adp_off_by_one, lambda scale, threshold: honest(scale, threshold + 1), "the library's number"),
    (check.adp_off_by_one, lambda scale, threshold: 0.5 * math.exp(-(threshold - 1) / scale), "continuous"),
    (check.adp_off_by_one, lambda scale, threshold: 2 * honest(scale, threshold), "both tails"),
    (check.adp_off_by_one, lambda scale, threshold: 0.9 * honest(scale, threshold), "a false promise"),
    (check.adp_off_by_one, lambda scale, threshold: 1.1 * honest(scale, threshold), "too large"),
    (check.adp_off_by_one, lambda scale, threshold: "small", "expected a number"),
    (check.adp_convert, lambda epsilon, delta, at: delta * math.exp(epsilon - at), "publishes everything"),
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
    (check.adp_threshold, then(release(law=difference()), by_noisy_count)),
    (check.adp_threshold, release(at_least=whole_threshold, law=geometric)),
    (check.adp_convert, by_one_fraction),
]

LEAKS = [
    (check.adp_threshold, release(order=lambda key, counts: counts[key])),
    (check.adp_threshold, release(lambda count, counts: 0.01 if count >= 100 else 1)),
    (check.adp_threshold, release(lambda count, counts: 0.01 if len(counts) == 1 else 1)),
    (check.adp_threshold, release(lambda count, counts: 0.01 if len(set(counts.values())) == 1 < len(counts) else 1)),
    (check.adp_threshold, release(lambda count, counts: 0.01 if len(counts) > 10_000 else 1)),
    (check.adp_threshold, release(law=in_pairs)),
    (check.adp_threshold, release(law=shared())),
    (check.adp_threshold, kept_noise()),
    (check.adp_threshold, surely_above(raised=True)),
    (check.adp_threshold, release(law=geometric)),
    (check.adp_threshold, then(RIGHT, cut_at_the_largest)),
    (check.adp_threshold, given(RIGHT, epsilon=1.0)),
    (check.adp_threshold, given(RIGHT, delta=0.05)),
    (check.adp_threshold, where(lambda counts, epsilon, delta: epsilon > 5, release(1e-9), RIGHT)),      # large epsilon
    (check.adp_threshold, given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.1))),                      # small epsilon
    (check.adp_threshold, given(RIGHT, delta=lambda delta: max(delta, 1e-3))),                           # rare
    (check.adp_threshold, release(law=whole_scale)),
    (check.adp_threshold, release(at_least=lambda epsilon, delta: math.floor(threshold(epsilon, delta)))),
    (check.adp_threshold, release(lambda count, counts: 1e-9 if 100 < count < 900 else 1)),              # far
    (check.adp_threshold, where(lambda counts, epsilon, delta: 10 < len(counts) < 999, release(1e-9), RIGHT)),
    (check.adp_threshold, release(law=repeated(8))),                                                     # shared noise
    (check.adp_threshold, release(law=repeated(12))),
    (check.adp_threshold, never_empty),
]
