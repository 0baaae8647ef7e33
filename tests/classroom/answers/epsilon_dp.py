"""Answers to the exercises of the section on epsilon."""
import inspect
import math

import checking
import numpy as np

from dplib import distributions, local
from provable_privacy import check
from provable_privacy.battery.makers import again, fixed_seed, given, then, where
from provable_privacy.check.definitions import epsilon_dp

UNIT = {
    "HIV visits in hospital, add/remove": 1,
    "number of ratings, add/remove": 152,
    "number of posts, add/remove": 10,
    "staff by department (5 counts), add/remove": 1,
    "staff by department (5 counts), replace": 2,
    "number of visits, each row written twice, add/remove": 2,
}
FIVE = {"ninety": math.log(9), "die": math.log(5), "brave": math.inf, "six": math.log(5), "mute": 0}
BELIEF = {"suspicion": 0.232, "even": 0.7311, "twice": 0.8808, "family": 0.9526, "bet": 0.7311}
MEANS = {"clamped": 1, "truncated": math.inf, "coin": math.inf, "soft": math.log(1.2), "chosen": 0.8306}


def respond(truth=lambda e, k: e / (e + k - 1), *, seed=None, others=True, shared="", way=None):
    """A learner's randomized response, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, k, epsilon, rng):
        rng, n = own or rng, len(values)
        p = truth(math.exp(epsilon), k)
        honest = rng.random(n) < p
        if shared == "everybody":
            honest = np.full(n, rng.random() < p)
        shift = rng.integers(1 if others else 0, k, n)
        if shared == "everybody":
            shift = np.full(n, shift[0])
        i = np.arange(n)
        whose = {"pairs": i // 2 * 2, "halves": i % max(n // 2, 1), "two apart": i // 4 * 4 + i % 2}
        if shared in whose:
            honest, shift = honest[whose[shared]], shift[whose[shared]]
        if way == "next":
            shift[:] = 1
        return np.where(honest, values, (values + shift) % k)

    return function


def one_by_one(values, k, epsilon, rng):
    """A loop over people, with a list of answers to choose from."""
    e = math.exp(epsilon)
    cut = e / (e + k - 1)
    luck, place = rng.random(len(values)), rng.integers(0, k - 1, len(values))
    return [int(v) if u < cut else [w for w in range(k) if w != v][i] for v, u, i in zip(values, luck, place)]


def mixture(values, k, epsilon, rng):
    """The same law written as: keep the answer, or say anything at all."""
    e = math.exp(epsilon)
    keep = rng.random(len(values)) < (e - 1) / (e + k - 1)
    return np.where(keep, values, rng.integers(0, k, len(values)))


def people_needed(variance=lambda p: p * (1 - p) / (2 * p - 1) ** 2, power=2, extra=0.0, up=0):
    def function(epsilon, error):
        p = math.exp(epsilon) / (1 + math.exp(epsilon))
        return math.ceil((variance(p) + extra) / error**power - 1e-7) + up

    return function


def five_stars(scale=lambda B, epsilon: B / epsilon, bound="user", *, stars_only=True, seed=None, keep="clip",
               again=False):
    own, memory = None if seed is None else np.random.default_rng(seed), []

    def function(users, stars, B, epsilon, rng):
        rng = own or rng
        if stars_only:
            users = users[stars == 5]
        each = np.unique(users, return_counts=True)[1]
        total = {"user": np.minimum(each, B).sum(), "none": each.sum(), "table": np.minimum(B, each.sum())}[bound]
        if keep == "first rows":
            total = sum(1 for i, user in enumerate(users) if np.sum(users[:i] == user) < B)
        if again and memory and memory[0][0] == (B, epsilon):
            return memory.pop()[1]
        result = total + rng.laplace(scale=scale(B, epsilon))
        memory[:] = [((B, epsilon), result)]
        return result

    return function


def noisiest(values, k, epsilon, rng):
    """The largest of k noisy indicators."""
    return np.argmax(np.eye(k)[values] + rng.laplace(scale=1 / epsilon, size=(len(values), k)), axis=1)


def first_rows(users, stars, B, epsilon, rng):
    """Bounds the rows of a user before it looks for the fives."""
    kept = np.concatenate([np.flatnonzero(users == user)[:B] for user in np.unique(users)] or [np.zeros(0, dtype=int)])
    return np.sum(stars[kept] == 5) + rng.laplace(scale=B / epsilon)


def noise_of_the_heaviest(users, stars, B, epsilon, rng):
    each = np.unique(users[stars == 5], return_counts=True)[1]
    return np.minimum(each, B).sum() + rng.laplace(scale=min(B, each.max(initial=1)) / epsilon)


def whole(seed):
    own = np.random.default_rng(seed)

    def function(users, stars, B, epsilon, rng):
        p = -math.expm1(-epsilon / B)
        return int(EXACT(users, stars, B, epsilon, rng)) + own.geometric(p) - own.geometric(p)

    return function


def sixty_four_bits(seed):
    own = np.random.default_rng(seed)

    def function(values, k, epsilon, rng):
        cut = int(2**63 * math.exp(epsilon) / (math.exp(epsilon) + k - 1))
        return [int(v) if int(own.integers(0, 2**63)) < cut else int((v + own.integers(1, k)) % k) for v in values]

    return function


def all_or_nobody(values, k, epsilon, rng):
    """One coin says whether all tell the truth; each has a lie of their own."""
    if rng.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return values
    return (values + rng.integers(1, k, len(values))) % k


def quota(values, k, epsilon, rng):
    honest = rng.permutation(len(values)) < round(len(values) * math.exp(epsilon) / (math.exp(epsilon) + k - 1))
    return np.where(honest, values, (values + rng.integers(1, k, len(values))) % k)


def somebody_lies(values, k, epsilon, rng):
    """All coins are tossed again while all of several people would tell the truth."""
    while True:
        reports = RESPOND(values, k, epsilon, rng)
        if len(values) < 2 or (reports != values).any():
            return reports


def repeated(size):
    """So many coins, again and again."""
    def function(values, k, epsilon, rng):
        whose = np.arange(len(values)) % size
        honest = rng.random(len(values)) < math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        return np.where(honest[whose], values, (values + rng.integers(1, k, len(values))[whose]) % k)

    return function


def in_twos(values, k, epsilon, rng):
    """The coins of the second half are those of the first, turned round."""
    coins = rng.random((len(values) + 1) // 2)
    honest = np.append(coins, 1 - coins)[: len(values)] < math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    return np.where(honest, values, (values + rng.integers(1, k, len(values))) % k)


def whole_scale(users, stars, B, epsilon, rng):
    """The scale of the noise, B/ε, is rounded to a whole number if it is more than 1."""
    return EXACT(users, stars, B, epsilon, rng) + rng.laplace(scale=round(B / epsilon) if B > epsilon else B / epsilon)


def remembers():
    last = {}

    def function(values, k, epsilon, rng):
        honest = rng.random(len(values)) < math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        old = last.get((len(values), k))
        honest = honest if old is None else np.where(np.arange(len(values)) <= len(values) // 2, honest, old)
        last[len(values), k] = honest
        return np.where(honest, values, (values + rng.integers(1, k, len(values))) % k)

    return function


def runs_of_user(users, stars, B, epsilon, rng):
    """At most B of each run of equal users: this depends on the order of the rows."""
    starts = np.flatnonzero(np.diff(users[stars == 5], prepend=-1))
    return np.minimum(np.diff(np.append(starts, np.sum(stars == 5))), B).sum() + rng.laplace(scale=B / epsilon)


USER, EXACT, RESPOND = five_stars(), five_stars(lambda B, epsilon: 0), respond()


def TRUTH(values, k, epsilon):  # noqa: N802
    return values


SOLUTIONS = [
    (check.dp_unit, lambda seed: UNIT),
    (check.dp_epsilon, lambda seed: FIVE),
    (check.dp_respond, lambda seed: respond(seed=seed)),
    (check.dp_survey, lambda seed: people_needed()),
    (check.dp_user, lambda seed: five_stars(seed=seed)),
    (check.dp_means, lambda seed: MEANS),
    (check.dp_belief, lambda seed: BELIEF),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.dp_unit, {**UNIT, "number of ratings, add/remove": 1}, "not one row"),
    (check.dp_unit, {**UNIT, "number of ratings, add/remove": 21}, "not the median"),
    (check.dp_unit, {**UNIT, "staff by department (5 counts), add/remove": 5}, "one of the five counts"),
    (check.dp_unit, {**UNIT, "staff by department (5 counts), replace": 1}, "two counts move"),
    (check.dp_unit, {**UNIT, "number of posts, add/remove": 3}, "most posts"),
    (check.dp_unit, {**UNIT, "number of visits, each row written twice, add/remove": 1}, "2-stable"),
    (check.dp_unit, {"number of posts, add/remove": 10}, "expected the names"),
    (check.dp_unit, 5, "expected a dict"),
    (check.dp_epsilon, {**FIVE, "ninety": 2.2}, "rounded too far"),
    (check.dp_epsilon, {**FIVE, "ninety": 9}, "its logarithm"),
    (check.dp_epsilon, {**FIVE, "ninety": 0.9}, "0.9 on one table"),
    (check.dp_epsilon, {**FIVE, "die": math.log(2)}, "tells the truth too"),
    (check.dp_epsilon, {**FIVE, "brave": math.log(2)}, "outcome yes"),
    (check.dp_epsilon, {**FIVE, "six": 0}, "1/10"),
    (check.dp_epsilon, {**FIVE, "six": math.nan}, "expected a number"),
    (check.dp_epsilon, {**FIVE, "mute": 0.5}, "does not depend"),
    (check.dp_epsilon, {**FIVE, "mute": "none"}, "expected a number"),
    (check.dp_respond, respond(lambda e, k: 1.0), "no noise"),
    (check.dp_respond, respond(others=False), "second chance"),
    (check.dp_respond, respond(lambda e, k: e / (e + 1)), "two answers only"),
    (check.dp_respond, respond(lambda e, k: e**2 / (e**2 + k - 1)), "cost 2ε"),
    (check.dp_respond, respond(lambda e, k: e**0.5 / (e**0.5 + k - 1)), "only ε/2"),
    (check.dp_respond, respond(lambda e, k: e / (e + k)), "not e^ε + k"),
    (check.dp_respond, respond(lambda e, k: (e - 1) / (e + k - 1)), "also the true one. Yours"),
    (check.dp_respond, respond(lambda e, k: 1.2 / (1.2 + k - 1)), "at least should be"),
    (check.dp_respond, respond(way="next"), "always the next answer"),
    (check.dp_respond, respond(shared="everybody"), "they all tell the truth together or all lie"),
    (check.dp_respond, all_or_nobody, "each with a lie of their own"),
    (check.dp_respond, respond(shared="pairs"), "neighbours in the list share"),
    (check.dp_respond, respond(shared="halves"), "half a list apart share"),
    (check.dp_respond, then(RESPOND, lambda out, table, rng: rng.permutation(out)), "in another order than the people"),
    (check.dp_respond, fixed_seed(RESPOND), "a seed is fixed inside"),
    (check.dp_respond, lambda values, k, epsilon, rng: values[:5], "one for each person"),
    (check.dp_respond, lambda values, k, epsilon, rng: values + 1, "none of the answers"),
    (check.dp_respond, lambda values: values, "TypeError"),
    (check.dp_respond, "no function", "expected a function"),
    (check.dp_survey, people_needed(power=1), "square of the error"),
    (check.dp_survey, people_needed(lambda p: p * (1 - p)), "share of yes among the reports"),
    (check.dp_survey, people_needed(lambda p: p * (1 - p) / (2 * p - 1)), "squared"),
    (check.dp_survey, people_needed(extra=0.25), "1/4 for the variance of a report"),
    (check.dp_survey, lambda epsilon, error: math.ceil(2**0.5 / epsilon / error), "trusted office"),
    (check.dp_survey, people_needed(up=5), "more than needed"),
    (check.dp_survey, people_needed(up=-5), "too few"),
    (check.dp_survey, people_needed(up=-1), "would be 0.0100004"),
    (check.dp_survey, lambda epsilon, error: math.inf, "finite number"),
    (check.dp_survey, lambda epsilon, error: 0.5, "whole number"),
    (check.dp_user, five_stars(lambda B, epsilon: 1 / epsilon), "noise is for one row"),
    (check.dp_user, five_stars(bound="none"), "nobody's contribution"),
    (check.dp_user, five_stars(lambda B, epsilon: 1 / epsilon, bound="none"), "one rating, not one person"),
    (check.dp_user, five_stars(bound="table"), "whole table"),
    (check.dp_user, first_rows, "fives are lost"),
    (check.dp_user, five_stars(stars_only=False), "not five stars"),
    (check.dp_user, given(USER, stars=lambda stars: np.where(stars >= 4, 5, stars)), "not five stars"),
    (check.dp_user, five_stars(lambda B, epsilon: B * epsilon), "should be B/ε"),
    (check.dp_user, five_stars(lambda B, epsilon: 2 * B / epsilon), "twice the noise"),
    (check.dp_user, five_stars(lambda B, epsilon: (B + 1) / epsilon), "twice the noise"),
    (check.dp_user, five_stars(lambda B, epsilon: B / epsilon / 2), "half the noise"),
    (check.dp_user, five_stars(lambda B, epsilon: B / epsilon / 2**0.5), "smaller than that"),
    (check.dp_user, five_stars(lambda B, epsilon: 0), "there is no noise there"),
    (check.dp_user, five_stars(again=True), "that of 1 call before"),
    (check.dp_user, noise_of_the_heaviest, "heaviest user of this table"),
    (check.dp_user, lambda users, stars, B, epsilon, rng: rng.normal(15, 5), "should be in 75%"),
    (check.dp_user, lambda users, stars, B, epsilon, rng: math.nan, "finite number"),
    (check.dp_user, lambda users, stars, B, epsilon, rng: print(end=""), "is the `return` missing?"),
    (check.dp_user, then(EXACT, lambda out, t, rng: out + rng.laplace(t[2] / t[3])), "is the centre"),
    (check.dp_user, then(EXACT, lambda out, t, rng: out + rng.normal(scale=2**0.5 * t[2] / t[3])), "normal noise"),
    (check.dp_user, again(USER, lambda out, *table: out < 0), "drawn again until the result is not negative"),
    (check.dp_user, then(USER, lambda out, table, rng: abs(out)), "absolute value"),
    (check.dp_means, {**MEANS, "clamped": 2}, "not 0.2"),
    (check.dp_means, {**MEANS, "truncated": 1}, "only one of them can give"),
    (check.dp_means, {**MEANS, "coin": 0.1}, "ten zeros"),
    (check.dp_means, {**MEANS, "soft": 0.2}, "its excess over 1"),
    (check.dp_means, {**MEANS, "soft": math.log(3)}, "largest ratio"),
    (check.dp_means, {**MEANS, "chosen": 1}, "general theorem"),
    (check.dp_means, {**MEANS, "chosen": 0.5}, "exponent alone"),
    (check.dp_belief, {**BELIEF, "suspicion": 0.272}, "the odds are multiplied"),
    (check.dp_belief, {**BELIEF, "even": 1.359}, "the odds are multiplied"),
    (check.dp_belief, {**BELIEF, "even": 0.5}, "1 to 1 become e to 1"),
    (check.dp_belief, {**BELIEF, "twice": 0.7311}, "each release multiplies"),
    (check.dp_belief, {**BELIEF, "family": 0.7311}, "three steps"),
    (check.dp_belief, {**BELIEF, "bet": 0.462}, "is the advantage"),
    (check.dp_belief, {**BELIEF, "bet": 2}, "is not a probability"),
]


UNUSUAL = [
    (check.dp_respond, one_by_one),
    (check.dp_respond, mixture),
    (check.dp_respond, checking.seeded(sixty_four_bits)),
    (check.dp_respond, lambda values, k, e, rng: local.randomized_response(values, k=k, epsilon=e, rng=rng)),
    (check.dp_user, five_stars(keep="first rows")),
    (check.dp_user, checking.seeded(whole)),
    (check.dp_user, then(USER, lambda out, table, rng: round(out))),
    (check.dp_user, then(USER, lambda out, table, rng: max(out, 0.0))),
    (check.dp_survey, lambda epsilon, error: float(people_needed()(epsilon, error))),
    (check.dp_epsilon, {name: round(value, 4) if math.isfinite(value) else value for name, value in FIVE.items()}),
]

LEAKS = [
    (check.dp_respond, noisiest),
    (check.dp_respond, quota),
    (check.dp_respond, respond(shared="two apart")),
    (check.dp_respond, then(RESPOND, lambda out, table, rng: np.where(table[0] == 0, 0, out))),
    (check.dp_respond, then(RESPOND, lambda out, table, rng: np.append(out[:-1], table[0][-1]))),
    (check.dp_respond, where(lambda values, k, epsilon: len(set(values.tolist())) == 1, TRUTH, RESPOND)),
    (check.dp_respond, where(lambda values, k, epsilon: k > 5, TRUTH, RESPOND)),
    (check.dp_respond, given(RESPOND, epsilon=1.0)),
    (check.dp_respond, given(RESPOND, k=2)),
    (check.dp_respond, remembers()),
    (check.dp_respond, somebody_lies),
    (check.dp_respond, where(lambda values, k, epsilon: epsilon > 5, TRUTH, RESPOND)),                   # large epsilon
    (check.dp_respond, where(lambda values, k, epsilon: k - 1 < 0.001 * math.exp(epsilon), TRUTH, RESPOND)),
    (check.dp_respond, given(RESPOND, epsilon=lambda epsilon: max(epsilon, 0.2))),                       # small epsilon
    (check.dp_respond, where(lambda values, k, epsilon: 9 < len(values) < 1000, TRUTH, RESPOND)),        # sizes
    (check.dp_respond, where(lambda values, k, epsilon: k > 9, TRUTH, RESPOND)),
    (check.dp_respond, where(lambda values, k, epsilon: len(values) == 2, TRUTH, RESPOND)),
    *((check.dp_respond, where(lambda values, k, epsilon, n=n: k == n, TRUTH, RESPOND)) for n in (4, 7, 8)),
    (check.dp_respond, repeated(10)),                                                                    # shared coins
    (check.dp_respond, repeated(64)),
    (check.dp_respond, in_twos),
    (check.dp_user, where(lambda users, stars, B, epsilon: epsilon > 2, EXACT, USER)),                   # large epsilon
    (check.dp_user, given(USER, epsilon=lambda epsilon: max(epsilon, 0.1))),                             # small epsilon
    (check.dp_user, whole_scale),
    (check.dp_user, where(lambda users, stars, B, epsilon: len(users) > 400, EXACT, USER)),              # sizes
    (check.dp_user, where(lambda users, stars, B, epsilon: B > 40, EXACT, USER)),
    (check.dp_user, five_stars(lambda B, epsilon: B / epsilon / (2 if B > 9 else 1))),
    (check.dp_user, where(lambda users, stars, B, epsilon: not (stars == 5).any(), EXACT, USER)),
    (check.dp_user, where(lambda users, stars, B, epsilon: len(users) == 0, EXACT, USER)),
    (check.dp_user, where(lambda users, stars, B, epsilon: len(users) == 1, EXACT, USER)),
    (check.dp_user, where(lambda users, stars, B, epsilon: len(users) == 0, lambda *table: math.nan, USER)),
    (check.dp_user, lambda u, s, B, epsilon, rng: USER(u, s, B, epsilon * max(len(u) / 100, 1), rng)),
    (check.dp_user, given(USER, epsilon=1.0)),
    (check.dp_user, then(EXACT, lambda out, t, rng: out + np.clip(rng.laplace(), -2, 2) * t[2] / t[3])),
    (check.dp_user, then(EXACT, lambda out, t, rng: np.array(out).astype(np.int8) + rng.laplace(scale=t[2] / t[3]))),
    (check.dp_user, then(EXACT, lambda out, t, rng: min(out, 100) + rng.laplace(scale=t[2] / t[3]))),
    (check.dp_user, runs_of_user),
    (check.dp_user, then(EXACT, lambda out, t, rng: out + int(rng.laplace(scale=t[2] / t[3])))),
    (check.dp_user, five_stars(again=True)),
]


def test_an_entry_that_is_still_missing_is_named_and_is_no_mistake(says):
    said = says(check.dp_unit, {**UNIT, "number of posts, add/remove": ...})
    assert said.startswith("○ dp_unit: number of posts, add/remove not attempted yet")


def test_the_exact_answers_are_those_of_another_computation():
    """By brute force over outcomes and neighbours, or by a formula that the checker does not use."""
    laws = epsilon_dp.FIVE
    assert np.isclose(1 - epsilon_dp._fewest_errors(1.0), (1 + np.tanh(0.5)) / 2, atol=1e-5)
    assert all(np.isclose(distributions.exact_epsilon(*laws[name][:2]), FIVE[name]) for name in FIVE)

    def total(mean):
        return (2 - np.exp(-5 * mean) - np.exp(-5 * (1 - mean))) / 5

    assert np.isclose(epsilon_dp._grid(epsilon_dp._chosen), 0.5 + np.log(total(0.1) / total(0.0)), rtol=1e-9)
    assert np.isclose(epsilon_dp._grid(epsilon_dp._clamped), 1) and np.isclose(MEANS["chosen"], 0.8306, atol=1e-4)
    grid = np.linspace(0, 1, 101)                # means that differ by less than 0.1 are no worse
    close = [epsilon_dp._chosen(x, y) for x in grid for y in grid if 0 < y - x <= 0.1 + 1e-9]
    assert max(close) <= epsilon_dp._grid(epsilon_dp._chosen) + 1e-9


def test_the_stub_of_a_function_has_the_arguments_that_its_checker_gives():
    assert len(inspect.signature(respond()).parameters) == 4 and len(inspect.signature(five_stars()).parameters) == 5
