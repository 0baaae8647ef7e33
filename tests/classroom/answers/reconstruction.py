"""Answers to the exercises of the section on differencing and reconstruction."""
from itertools import combinations_with_replacement, permutations

import checking
import numpy as np
import pytest
from scipy.special import ndtri

from dplib.attacks import reconstruct, tracker
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
    scaled,
    shared,
    then,
    where,
)


def spy(seed=None):
    """The tracker with the first half, or with a random half, as padding."""
    def function(ask, n, target):
        order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
        return tracker(ask, target, order < n // 2)

    return function


def five_questions(ask, n, target):
    """Differencing by hand, with a test question first."""
    person, half = np.arange(n) == target, np.arange(n) % 2 == 0
    ask(half)
    return ask(person | half) - ask(half) + ask(person | ~half) - ask(~half)


def one_is_enough(ask, n, target):
    """Two questions do: half of the others, with and without the target."""
    others = (np.arange(n) != target) & (np.arange(n) % 2 == 0)
    return ask(others | (np.arange(n) == target)) - ask(others)


def tells_everybody_apart(ask, n, target):
    everybody = np.ones(n, bool)
    return ask(everybody) - ask(np.arange(n) != target)


def many_questions(ask, n, target):
    for shift in range(6):
        ask((np.arange(n) + shift) % 2 == 0)
    return spy()(ask, n, target)


BITS, OTHER = np.array([1, 1, 0, 0, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 0, 0, 0, 0])


def half_way(group):
    return (group @ BITS + group @ OTHER) / 2


def two_vectors(seed):
    p = np.random.default_rng(seed).permutation(8)
    return BITS[p], OTHER[p], lambda group: (group @ BITS[p] + group @ OTHER[p]) / 2


def fitting(count, median, mean, oldest, *, near=0.05 + 1e-9, exact_oldest=True, order=False):
    ages = np.array(list(combinations_with_replacement(range(oldest + 1), count)))
    fits = (np.median(ages, axis=1) == median) & (abs(ages.mean(axis=1) - mean) <= near)
    fits &= not exact_oldest or ages[:, -1] == oldest
    return {other for right in ages[fits].tolist() for other in (permutations(right) if order else [tuple(right)])}


def collapse(n, m, majority):
    return np.sqrt(m - n) / (4 * ndtri(majority + 0.05))


def rmse(queries, answers, bits):
    return np.sqrt(np.mean((answers - queries @ bits) ** 2))


OLD = np.arange(480)


def exact(queries, bits, epsilon):
    return queries @ bits


def most(queries):
    return queries.sum(axis=0).max()


def private(b=most, law=laplace):
    """A learner's private counts, right unless told otherwise; `b` is the scale at ε = 1."""
    return noisy(exact, lambda queries, bits, epsilon: b(queries) / epsilon, law)


RIGHT = private()


def by_name(queries, bits, epsilon, rng):
    """A list, with the noise added one by one."""
    scale = max(sum(column) for column in queries.T.tolist()) / epsilon
    return [int(row @ bits) + rng.laplace(0, scale) for row in queries]


def equal_questions_once(queries, bits, epsilon, rng):
    once = list({tuple(row): row for row in queries.tolist()}.values())
    return RIGHT(np.array(once), bits, epsilon, rng)[[once.index(row) for row in queries.tolist()]]


def sizes_twice(rng, scale, shape):
    """Re-uses a size and tosses a new sign: 150 exact equations in 300 answers."""
    noise = rng.laplace(scale=scale, size=shape)
    noise[1::2] = noise[0::2][: len(noise) // 2] * rng.choice([-1, 1], len(noise) // 2)
    return noise


def sum_zero(rng, scale, shape):
    noise = rng.laplace(scale=scale, size=shape)
    return noise - noise.mean() if len(noise) > 1 else noise


def repeated(size):
    """So many noises, again and again."""
    return lambda rng, scale, shape: np.resize(laplace(rng, scale, (min(size, *shape),)), shape)


def drawn_again(top):
    """Draws each answer again until it is possible."""
    def function(queries, bits, epsilon, rng):
        counts, scale = (queries @ bits).tolist(), most(queries) / epsilon
        noise = rng.laplace(scale=scale, size=len(counts)).tolist()
        for j in range(len(counts)):
            while not 0 <= counts[j] + noise[j] <= top(queries):
                noise[j] = rng.laplace(scale=scale)
        return np.add(counts, noise)

    return function


def remembers():
    kept = {}
    return lambda queries, bits, epsilon, rng: queries @ bits + kept.setdefault(
        queries.shape, RIGHT(queries, 0 * bits, epsilon, rng))


def first_eight(out, table, rng):
    return np.where(np.arange(len(out)) < 8, out, table[0] @ table[1])


def of_the_ill(queries, bits, epsilon):
    """The sensitivity from the people who are ill."""
    return queries[:, bits == 1].sum(axis=0).max(initial=1) / epsilon


LEAKS = [(check.rec_defend, leak) for leak in (
    private(law=sizes_twice),
    then(RIGHT, lambda out, table, rng: np.where(table[0] @ table[1] > 0, out, 0)),
    then(RIGHT, first_eight),
    noisy(exact, of_the_ill),
    private(law=clipped(2)),
    private(law=sum_zero),
    given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.3)),
    remembers(),
    where(lambda queries, bits, epsilon: bits.sum() == 2, exact, RIGHT),
    where(lambda queries, bits, epsilon: not bits.any(), exact, RIGHT),
    where(lambda queries, bits, epsilon: bits.all(), exact, RIGHT),
    where(lambda queries, bits, epsilon: len(bits) == 1, exact, RIGHT),
    where(lambda queries, bits, epsilon: len(bits) > 100, exact, RIGHT),
    given(RIGHT, epsilon=1.0),
    private(lambda queries: most(queries) * (0.5 if queries.shape[1] > 100 else 1)),
    private(lambda queries: most(queries) * (0.5 if len(queries) > 7 else 1)),
    private(lambda queries: min(most(queries), 8)),
    private(lambda queries: most(queries) * (1e-9 if most(queries) > 5 else 1)),
    where(lambda queries, bits, epsilon: epsilon > 2, exact, RIGHT),             # large epsilon
    given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.1)),                     # small epsilon
    private(lambda queries: max(np.quantile(queries.sum(axis=0), 0.9), 1)),      # own
    where(lambda queries, bits, epsilon: 20 < len(bits) < 100, exact, RIGHT),    # sizes
    where(lambda queries, bits, epsilon: 10 < len(queries) < 20, exact, RIGHT),
    then(RIGHT, lambda out, table, rng: np.where(abs(table[0] @ table[1] - 14) < 6, table[0] @ table[1], out)),
    private(law=repeated(8)),                                                    # shared noise
    private(law=repeated(64)),
    where(lambda queries, bits, epsilon: 20 < len(queries) < 1000, exact, RIGHT))]


SOLUTIONS = [
    (check.rec_tracker, spy),
    (check.rec_tight, two_vectors),
    (check.rec_ages, lambda seed: fitting),
    (check.rec_collapse, lambda seed: lambda *case: collapse(*case) * np.random.default_rng(seed).uniform(0.95, 1.05)),
    (check.rec_mend, lambda seed: rmse),
    (check.rec_defend, own_luck(RIGHT)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.rec_tracker, tells_everybody_apart, "refused"),
    (check.rec_tracker, many_questions, "five are allowed"),
    (check.rec_tracker, lambda ask, n, target: -spy()(ask, n, target), "wrong sign"),
    (check.rec_tracker, lambda ask, n, target: ask(np.arange(n) < n // 2), "count how often"),
    (check.rec_tracker, lambda ask, n, target: ask([target]), "booleans"),
    (check.rec_tracker, lambda ask, n, target: tracker(ask, target, np.arange(n) < 30), "n = 1000"),
    (check.rec_tracker, lambda ask: 0, "TypeError"),
    (check.rec_tracker, 188_500, "expected a function"),
    (check.rec_tight, (BITS, 1 - BITS, half_way), "8 places"),
    (check.rec_tight, (np.r_[np.ones(4), np.zeros(4)], np.zeros(8), half_way), "both directions"),
    (check.rec_tight, ([1] * 3 + [0] * 5, [0] * 3 + [1] + [0] * 4, lambda group: group[:4].sum() / 2), "equally often"),
    (check.rec_tight, (BITS, OTHER, lambda group: group @ BITS), "not within 1 of both"),
    (check.rec_tight, (BITS[:4], OTHER[:4], half_way), "eight bits"),
    (check.rec_tight, (BITS, OTHER), "expected (bits"),
    (check.rec_ages, lambda *a: fitting(*a, order=True), "sorted"),
    (check.rec_ages, lambda *a: fitting(*a, exact_oldest=False), "oldest is not that old"),
    (check.rec_ages, lambda *a: fitting(*a, near=1), "its mean is"),
    (check.rec_ages, lambda *a: fitting(*a, near=1e-9), "its mean 43.667"),
    (check.rec_ages, lambda *a: {ages for ages in fitting(*a) if ages[len(ages) // 2] == a[1]}, "its median is 49.5"),
    (check.rec_ages, lambda *a: {ages for ages in fitting(*a) if ages[0] > 0}, "(0, 99) fits as well"),
    (check.rec_ages, lambda *a: {ages for ages in fitting(*a) if ages[-1] < 99}, "(0, 99) fits as well"),
    (check.rec_ages, lambda *a: set(), "is missing"),
    (check.rec_ages, 7, "expected a function"),
    (check.rec_collapse, lambda n, m, majority: np.sqrt(m) / (4 * ndtri(majority + 0.05)), "m - n"),
    (check.rec_collapse, lambda n, m, majority: 2 * collapse(n, m, majority), "one half"),
    (check.rec_collapse, lambda n, m, majority: np.sqrt(m - n) / (4 * ndtri(max(majority, 0.501))), "5 % more"),
    (check.rec_collapse, lambda n, m, majority: np.sqrt(n) * 2, "of the bits right"),
    (check.rec_mend, lambda q, a, b: np.mean(a - OLD) ** 2, "somewhere else"),
    (check.rec_mend, lambda q, a, b: np.sqrt(np.mean((a - b @ q)**2)), "are queries @ bits"),
    (check.rec_mend, lambda q, a, b: np.mean((a - q @ b) ** 2), "root is missing"),
    (check.rec_mend, lambda q, a, b: np.mean(a - q @ b) ** 2, "wrong order"),
    (check.rec_mend, lambda q, a, b: np.abs(a - q @ b).mean(), "mean absolute"),
    (check.rec_mend, lambda q, a, b: np.std(a - q @ b), "constant error"),
    (check.rec_mend, lambda q, a, b: np.sqrt(np.mean((a - q[::-1] @ b) ** 2)), "same questions"),
    (check.rec_mend, lambda q, a, b: np.sqrt(np.sum((a - q @ b) ** 2)), "then the root"),
    (check.rec_mend, lambda q, a, b: np.sqrt(np.sum((a - q @ b) ** 2) / len(b)), "take the mean"),
    (check.rec_mend, lambda q, a, b: [].append(rmse(q, a, b)), "is the `return` missing"),
    (check.rec_tracker, lambda ask, n, target: [].append(spy()(ask, n, target)), "is the `return` missing"),
    (check.rec_defend, private(lambda queries: 0), "no noise at all"),
    (check.rec_tracker, lambda ask, n, target: ask.__self__.values[target], "AttributeError"),
    (check.rec_defend, private(lambda queries: 1), "as if it were the only answer"),
    (check.rec_defend, private(lambda queries: most(queries) / 2), "half of what it must be"),
    (check.rec_defend, private(lambda queries: 2 * most(queries)), "twice the noise"),
    (check.rec_defend, private(lambda queries: 2 * len(queries)), "twice the noise"),
    (check.rec_defend, private(lambda queries: most(queries) / 2**0.5), "smaller than that by √2"),
    (check.rec_defend, private(lambda queries: queries.shape[1]), "number of people"),
    (check.rec_defend, private(lambda queries: queries.sum(axis=1).max()), "in all or in a group"),
    (check.rec_defend, private(lambda queries: max(queries.sum(axis=0).min(), 1)), "the one who is in all four groups"),
    (check.rec_defend, private(lambda queries: len(queries) ** 0.5), "like the root of the number of groups"),
    (check.rec_defend, private(lambda queries: most(queries) + 1), "here with about twice"),
    (check.rec_defend, private(lambda queries: queries.sum(axis=0).mean()), "average person"),
    (check.rec_defend, private(lambda queries: len(queries) / 2), "half of all answers"),
    (check.rec_defend, private(lambda queries: most(queries) ** 0.5), "needs the distance in L1"),
    (check.rec_defend, private(law=centred), "centre"),
    (check.rec_defend, private(law=scaled(2**0.5, normal)), "no ε at all"),
    (check.rec_defend, private(law=normal), "whatever its size"),
    (check.rec_defend, private(law=shared()), "one noise serves all"),
    (check.rec_defend, private(law=sizes_twice), "same size"),
    (check.rec_defend, drawn_again(lambda queries: queries.shape[1]), "drawn again until each answer is possible"),
    (check.rec_defend, drawn_again(lambda queries: np.inf), "drawn again until no answer is below 0"),
    (check.rec_defend, fixed_seed(RIGHT), "a seed is fixed inside"),
    (check.rec_defend, then(RIGHT, lambda out, table, rng: out[:3]), "expected 4 numbers"),
    (check.rec_defend, lambda *a: print(end=""), "is the `return` missing"),
    (check.rec_defend, lambda queries: 0, "TypeError"),
]


UNUSUAL = [
    (check.rec_tracker, five_questions),
    (check.rec_tracker, one_is_enough),
    (check.rec_tight, (BITS.tolist(), OTHER.tolist(), lambda group: sum(group[:4]) / 2)),
    (check.rec_defend, private(len)),
    (check.rec_defend, checking.seeded(own_luck(private(law=geometric)))),
    (check.rec_defend, by_name),
    (check.rec_defend, then(RIGHT, lambda out, table, rng: np.abs(out))),
    (check.rec_defend, equal_questions_once),
    (check.rec_defend, then(RIGHT, lambda out, table, rng: np.round(out))),
]


@pytest.mark.parametrize("n, m, majority", [(120, 480, 76 / 120), (100, 200, 0.5), (60, 600, 0.8)])
def test_the_collapse_is_where_the_checker_thinks(n, m, majority):
    """At the noise that the checker takes for right, the attack gets majority + 5 % of the bits, within 2 points."""
    rng, sigma, right = np.random.default_rng(1), np.sqrt(m - n - 1) / (4 * ndtri(majority + 0.05)), []
    for _ in range(100):
        bits, queries = rng.integers(0, 2, n), rng.integers(0, 2, (m, n))
        right.append(np.mean(reconstruct(queries, queries @ bits + rng.normal(scale=sigma, size=m)) == bits))
    assert abs(np.mean(right) - majority - 0.05) < 0.02 + 5 * np.std(right) / 10 * 0.2
