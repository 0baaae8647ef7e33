"""Answers to the exercises of the section on finite computers."""
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from provable_privacy import check


def mine(y, f):
    return np.asarray(y) / ((f + 1) * 2.0**-53) % 1 != 0


def mine_listed(y, f):
    """One release after the other, with Fractions."""
    return [(Fraction(value) * 2**53 / (f + 1)).denominator != 1 for value in y.tolist()]


def true_loss(recipe, epsilon):
    return epsilon + (math.log(2) if recipe == "int(noise)" else 0)


def below(n, bit):
    while True:
        x = 0
        for _ in range((n - 1).bit_length()):
            x = 2 * x + bit()
        if x < n:
            return x


def exp_coin(gamma, bit, die=below):
    k = 1
    while die(gamma.denominator * k, bit) < gamma.numerator:
        k += 1
    return k % 2 == 1


def failures(coin, most=math.inf):
    """How often a coin succeeds before it fails, at most so often."""
    g = 0
    while g < most and coin():
        g += 1
    return g


def size_of(epsilon, bit, **limit):
    return failures(partial(exp_coin, epsilon, bit), **limit)


def two_sided(coin, **limit):
    return failures(coin, **limit) - failures(coin, **limit)


def whole_noise(epsilon, bit, **limit):
    return two_sided(partial(exp_coin, epsilon, bit), **limit)


def signed(epsilon, bit):
    """A sign and a size, minus zero refused: right as well; as a numpy whole number."""
    while True:
        minus, size = bit(), size_of(epsilon, bit)
        if size or not minus:
            return np.int64(-size if minus else size)


def half_the_noise(epsilon, bit):
    return whole_noise(min(2 * epsilon, Fraction(1)), bit)


def two_zeros(epsilon, bit):
    size = size_of(epsilon, bit)
    return -size if bit() else size


def by_float(epsilon, bit):
    u = sum(bit() * 2.0 ** -(i + 1) for i in range(53)) + 2.0**-54
    return int(math.log(u) / -float(epsilon)) * (1 if bit() else -1)


def from_elsewhere(epsilon, bit):
    return int(np.random.default_rng().integers(-3, 4))


def twice(tossing=False):
    """Every noise is used two times.

    Perhaps with a coin tossed in vain, and forgotten in time for the same coins to give the same noises.
    """
    memory = []

    def noise(epsilon, bit):
        if tossing and len(memory) == 16_000:
            memory.clear()
        if tossing and len(memory) % 2:
            bit()
        memory.append(memory[-1] if len(memory) % 2 else whole_noise(epsilon, bit))
        return memory[-1]

    return noise


def elsewhere_tossing(epsilon, bit):
    bit()
    own, p = np.random.default_rng(), 1 - 2.718281828 ** -(int(str(epsilon.numerator)) / int(str(epsilon.denominator)))
    return int(own.geometric(p) - own.geometric(p))


def cut(x, low=-128, high=127):
    return min(max(int(x), low), high)


def total(values, low, high):
    s = 0
    for x in values:
        s = cut(s + cut(x, low, high))
    return s


def of_the_sum(change):
    """A change of the exact sum."""
    return lambda values, low, high: change(sum(cut(x, low, high) for x in values))


def saturates_in_16_bits(values, low, high):
    """Cut to eight bits at the end, but added up in 16, which wrap."""
    return int(cut(np.sum([cut(x, low, high) for x in values], dtype=np.int16)))


def from_both_sides(values, low, high):
    """In another order where no partial sum turns round."""
    return total(reversed(values) if low >= 0 or high <= 0 else values, low, high)


WRAPS = of_the_sum(lambda s: (s + 128) % 256 - 128)
UP_ONLY = of_the_sum(lambda s: s if -128 <= s <= 127 else 127)


def cut_once_with_fractions(values, low, high):
    return max(-128, min(127, sum((Fraction(max(low, min(high, x))) for x in values), Fraction(0))))


def by_words(size):
    """Dice by rejection from words of this many bits, as libraries have it."""
    def die(n, bit):
        while (x := word(size, bit)) >= 2**size // n * n:
            pass
        return x % n

    return by_dice(die)


def word(size, bit):
    return sum(bit() << i for i in range(size))


def by_dice(die):
    """The noise of exp_coin with another die."""
    return lambda epsilon, bit: two_sided(partial(exp_coin, epsilon, bit, die))


def by_remainders(spare):
    """Dice from some bits more than necessary, and the remainder: not even."""
    return by_dice(lambda n, bit: word(spare + (n - 1).bit_length(), bit) % n)


def short_series(epsilon, bit):
    """The first four terms of e^-ε, as a fraction."""
    chance = 1 - epsilon + epsilon**2 / 2 - epsilon**3 / 6
    return two_sided(lambda: below(chance.denominator, bit) < chance.numerator)


def fast(epsilon, bit):
    """Canonne, Kamath and Steinke: a remainder, a quotient and a sign."""
    while True:
        u = below(epsilon.denominator, bit)
        if exp_coin(Fraction(u, epsilon.denominator), bit):
            size = (u + epsilon.denominator * size_of(Fraction(1), bit)) // epsilon.numerator
            minus = bit()
            if size or not minus:
                return -size if minus else size


def by_decimal(epsilon, bit):
    """A coin with sixteen binary digits."""
    return word(16, bit) < int((-Decimal(epsilon.numerator) / epsilon.denominator).exp() * 2**16)


def exact_total(released, n, scale, seeds, first=0):
    totals = [n * (released - np.random.default_rng(seed).laplace(scale=scale)) for seed in range(first, seeds)]
    return round(min(totals, key=lambda rest: abs(rest - round(rest))))


def total_by_arrays(released, n, scale, seeds):
    noise = np.array([np.random.default_rng(seed).laplace(scale=scale) for seed in range(seeds)])
    totals = n * (released - noise)
    return np.rint(totals[np.argmin(np.abs(totals - np.rint(totals)))])


SOLUTIONS = [
    (check.fin_catch, lambda seed: mine),
    (check.fin_truncate, lambda seed: true_loss),
    (check.fin_coins, lambda seed: whole_noise),
    (check.fin_saturate, lambda seed: total),
    (check.fin_seed, lambda seed: exact_total),
    (check.fin_bug, lambda seed: {4, 5, 6}),
]

UNUSUAL = [
    (check.fin_catch, mine_listed),
    (check.fin_coins, signed),
    (check.fin_coins, fast),
    (check.fin_coins, by_words(64)),
    (check.fin_coins, by_words(32)),
    (check.fin_saturate, of_the_sum(lambda s: float(cut(s)))),
    (check.fin_saturate, cut_once_with_fractions),
    (check.fin_saturate, from_both_sides),
    (check.fin_seed, total_by_arrays),
    (check.fin_bug, [6, 4, 5]),
    (check.fin_bug, "456"),
    (check.fin_bug, np.array([4, 5, 6])),
]

LEAKS = [
    (check.fin_coins, by_remainders(1)),
    (check.fin_coins, short_series),
    (check.fin_coins, partial(whole_noise, most=200)),
    (check.fin_coins, partial(whole_noise, most=40)),
    (check.fin_coins, two_zeros),
    (check.fin_coins, twice()),
    (check.fin_coins, from_elsewhere),
    (check.fin_coins, half_the_noise),
    (check.fin_coins, lambda epsilon, bit: whole_noise(epsilon, bit) or 0.0),           # type
    (check.fin_coins, lambda epsilon, bit: noise if (noise := whole_noise(epsilon, bit)) < 0 else np.int64(noise)),
    (check.fin_saturate, lambda values, low, high: (float if len(values) % 2 else int)(total(values, low, high))),
    (check.fin_saturate, lambda values, low, high: total(values, low, high) if len(values) < 1000 else 0),   # size
    (check.fin_saturate, lambda values, low, high: total(values, low, high) if low <= 0 else sum(values)),
    (check.fin_saturate, lambda values, *bounds: (total if len(values) < 1000 else of_the_sum(cut))(values, *bounds)),
    (check.fin_saturate, WRAPS),
    (check.fin_saturate, saturates_in_16_bits),
    (check.fin_saturate, UP_ONLY),
]

WRONG = [
    (check.fin_catch, lambda y, f: y < f + 0.5, "are accused"),
    (check.fin_catch, lambda y, f: 2 * y, "expected truth values"),
    (check.fin_catch, lambda y, f: y > f + 0.5, "turn the answer round"),
    (check.fin_catch, lambda y, f: np.zeros(len(y), bool), "only 0.0%"),
    (check.fin_catch, lambda y, f: np.ones(len(y), bool), "no attack"),
    (check.fin_catch, lambda y, f: y * 2.0**53 % 1 != 0, "Which power of two"),
    (check.fin_catch, lambda y, f: y * 2.0**52 % 1 != 0, "are accused"),
    (check.fin_catch, lambda y, f: True, "truth values, one for each"),
    (check.fin_catch, lambda y: y, "TypeError"),
    (check.fin_catch, lambda y, f: mine(y, f) | (y == 0), "a release of 0"),
    (check.fin_truncate, lambda recipe, epsilon: epsilon, "half as wide"),
    (check.fin_truncate, lambda recipe, epsilon: epsilon + math.log(2), "nothing is lost here"),
    (check.fin_truncate, lambda recipe, epsilon: math.log(2) if recipe == "int(noise)" else epsilon, "another"),
    (check.fin_truncate, lambda recipe, epsilon: 2 * epsilon, "twice as wide"),
    (check.fin_truncate, lambda recipe, epsilon: true_loss(recipe, epsilon) * (recipe == "int(noise)"), "full loss"),
    (check.fin_truncate, lambda recipe, epsilon: true_loss(recipe, 1.0), "at ε = 0.1"),
    (check.fin_coins, two_zeros, "plus zero and minus zero"),
    (check.fin_coins, size_of, "never negative"),
    (check.fin_coins, lambda epsilon, bit: (1 + size_of(epsilon, bit)) * (1 if bit() else -1), "0 never comes"),
    (check.fin_coins, half_the_noise, "half the noise that is needed"),
    (check.fin_coins, lambda epsilon, bit: whole_noise(Fraction(1), bit), "noise for ε = 1"),
    (check.fin_coins, lambda epsilon, bit: whole_noise(epsilon / 2, bit), "twice as large"),
    (check.fin_coins, by_remainders(1), "remainders of numbers with 1 bits to spare"),
    (check.fin_coins, short_series, "after its fourth term"),
    (check.fin_coins, by_float, "a float was made"),
    (check.fin_coins, by_decimal, "float with more digits"),
    (check.fin_coins, partial(whole_noise, most=40), "Where the sizes are cut off"),
    (check.fin_coins, lambda epsilon, bit: None if bit() else 0, "is the `return` missing?"),
    (check.fin_coins, lambda epsilon, bit: int(2.0 ** -(epsilon.numerator / epsilon.denominator) * bit()),
     "a float was made"),
    (check.fin_coins, from_elsewhere, "no coin"),
    (check.fin_coins, twice(), "no coin at all"),
    (check.fin_coins, twice(tossing=True), "depend on one another"),
    (check.fin_coins, elsewhere_tossing, "some randomness comes from elsewhere"),
    (check.fin_coins, lambda epsilon, bit: bit() / 2, "whole number"),
    (check.fin_coins, lambda epsilon, bit: bit(), "only the values"),
    (check.fin_coins, lambda epsilon, bit: [bit() for _ in range(10**6)], "loop never end"),
    (check.fin_saturate, WRAPS, "wraps around"),
    (check.fin_saturate, of_the_sum(lambda s: s), "eight bits"),
    (check.fin_saturate, lambda values, low, high: cut(sum(values)), "cut the values to their bounds first"),
    (check.fin_saturate, lambda values, low, high: 0, "no partial sum leaves"),
    (check.fin_saturate, lambda values, low, high: total(sorted(values, key=abs)[::-1], low, high), "of the rows"),
    (check.fin_saturate, lambda values, low, high: max(total(values, low, high), -127), "the exact sum is -128"),
    (check.fin_saturate, saturates_in_16_bits, "wraps around"),
    (check.fin_saturate, UP_ONLY, "more than the bound"),
    (check.fin_seed, lambda released, n, *_: round(released), "this is the release, rounded; the noise"),
    (check.fin_seed, lambda released, n, *_: round(n * released), "rounded; the noise"),
    (check.fin_seed, lambda *case: exact_total(*case) + 1e-9, "except for a rounding"),
    (check.fin_seed, lambda released, n, *seeds: exact_total(released, n, *seeds) / n, "this is the mean;"),
    (check.fin_seed, lambda released, n, *seeds: round(exact_total(released, n, *seeds) / n), "the mean, rounded"),
    (check.fin_seed, lambda released, n, *seeds: n * exact_total(released, 1, *seeds), "which seed"),
    (check.fin_seed, lambda *case: exact_total(*case[:-1], 1), "which seed"),
    (check.fin_seed, lambda *case: exact_total(*case[:-1], case[-1] - 1), "the last seed"),
    (check.fin_seed, lambda *case: abs(exact_total(*case)), "which seed"),
    (check.fin_seed, lambda *case: max(exact_total(*case), 0), "which seed"),
    (check.fin_seed, partial(exact_total, first=1), "0 is a seed too"),
    (check.fin_seed, lambda *case: (0, 35), "expected a number"),
    (check.fin_bug, {4, 5, 6, 8}, "post-processing"),
    (check.fin_bug, {4, 5}, "made whole"),
    (check.fin_bug, {5, 6}, "how large may the sum"),
    (check.fin_bug, {4, 6}, "attacker know"),
    (check.fin_bug, {1, 4}, "line 1 does not"),
    (check.fin_bug, {0}, "'0' is not on the list: 1, 2, 3, 4, 5, 6, 7, 8, 9"),
]


@pytest.mark.parametrize("seed", range(5))
def test_coins_of_any_luck_are_right(says, seed, monkeypatch):
    """The checker's own coins, tossed again: 20 other streams."""
    plain = np.random.default_rng
    monkeypatch.setattr("numpy.random.default_rng", lambda number: plain([seed, number]))
    assert says(check.fin_coins, signed if seed % 2 else whole_noise).startswith("✓")


def test_the_checker_leaves_fractions_alone():
    check.fin_coins(by_float)
    assert float(Fraction(1, 2)) == 0.5 and math.exp(0) == 1 and "__float__" not in vars(Fraction)
