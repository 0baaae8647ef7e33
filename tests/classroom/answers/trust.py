"""Answers of the section on trust: solutions, unusual right answers, leaks, and mistakes with what they are told."""
import math

import numpy as np
from scipy import stats

from dplib import secure
from provable_privacy import check
from provable_privacy.battery.makers import fixed_seed, given, own_luck, then, where

M = 2**32


def uniform(rng, shape):
    return rng.integers(0, M, shape)


def split(draw=uniform, last=lambda values, shares: (values - shares.sum(axis=0)) % M):
    """A learner's shares, right unless told otherwise."""
    def function(values, servers, rng):
        shares = draw(rng, (servers - 1, len(values)))
        return np.vstack([shares, last(values, shares)])

    return function


def rolled(values, servers, rng):
    """The share that makes the sum right is at another server for each person."""
    shares = SPLIT(values, servers, rng)
    return np.array([np.roll(column, i) for i, column in enumerate(shares.T)]).T.reshape(shares.shape)


def halves(second):
    """The shares of the second half of the people follow from those of the first half."""
    def draw(rng, shape):
        shares, half = uniform(rng, shape), shape[1] // 2
        shares[:, half:2 * half] = second(shares[:, :half]) % M
        return shares

    return split(draw)


def pads(values, servers, rng):
    """Differences of pads that cancel around a ring, the value on the first; two servers need another form."""
    if servers == 2:
        return SPLIT(values, servers, rng)
    pad = rng.integers(0, M, (servers, len(values)))
    shares = pad - np.roll(pad, 1, axis=0)
    shares[0] += values
    return (shares % M).astype(np.uint64)


def part(shape=lambda parties: 1 / parties, q=lambda parties, epsilon, sensitivity: math.exp(-epsilon / sensitivity)):
    def function(parties, epsilon, sensitivity, size, rng):
        return np.subtract(*rng.negative_binomial(shape(parties), 1 - q(parties, epsilon, sensitivity), (2, size)))

    return function


def by_gamma(parties, epsilon, sensitivity, size, rng):
    """A negative binomial variable is a Poisson one whose mean has a gamma law."""
    q = math.exp(-epsilon / sensitivity)
    means = rng.gamma(1 / parties, q / (1 - q), (2, size))
    return (rng.poisson(means[0]) - rng.poisson(means[1])).astype(float)


def by_clusters(parties, epsilon, sensitivity, size, rng):
    """And a Poisson number of logarithmic variables."""
    q = math.exp(-epsilon / sensitivity)

    def one():
        many = rng.poisson(-math.log1p(-q) / parties, size)
        out = np.zeros(size, dtype=int)
        np.add.at(out, np.repeat(np.arange(size), many), rng.logseries(q, many.sum()))
        return out

    return one() - one()


def rounded(draw):
    return lambda parties, epsilon, sensitivity, size, rng: np.round(draw(rng, parties, sensitivity / epsilon, size))


def less_itself(other):
    """Differences of one list and itself in another order: all of them together are nothing."""
    def function(parties, epsilon, sensitivity, size, rng):
        a = rng.negative_binomial(1 / parties, -math.expm1(-epsilon / sensitivity), size)
        return a - other(a, rng)

    return function


def plain(values, servers):
    """The values themselves, for the first server."""
    return np.vstack([values % M, np.zeros((servers - 1, len(values)))])


def next_door(rng, shape):
    """The second server gets for each person what the first one gets for the next, and a bit more."""
    shares = uniform(rng, shape)
    shares[1:2] = (np.roll(shares[:1], 1) + 12_345) % M
    return shares


def every_tenth(shares):
    """The share of every tenth person follows from another one's."""
    return np.where(np.arange(shares.shape[1]) % 10, shares, (np.roll(shares, 7, axis=1) + 99) % M)


def signed(shared):
    """Parts whose signs are partly shared: `shared(signs, parties)`."""
    def function(parties, epsilon, sensitivity, size, rng):
        size_of = np.abs(PART(parties, epsilon, sensitivity, size, rng))
        return size_of * shared(rng.choice([-1, 1], size), parties)

    return function


def even(parts, place, rng):
    """The parts with one of them moved by 1 where their sum is odd."""
    if len(parts) > 1 and parts.sum() % 2:
        parts[place] += rng.choice([-1, 1])
    return parts


SPLIT, PART = split(), part()
WHOLE = part(shape=lambda parties: 1.0)          # each part is noise for the whole sum
ONE_FOR_ALL = then(WHOLE, lambda out, t, rng: out * (np.arange(len(out)) % t[0] == 0))
NOW_AND_THEN = then(WHOLE, lambda out, t, rng: out * (rng.random(len(out)) < 1 / t[0]))


def loss(law=lambda honest, epsilon: stats.nbinom.pmf(np.arange(9000), honest, -math.expm1(-epsilon)), step=0):
    def function(honest, epsilon):
        p = law(honest, epsilon)
        steps = [p[:len(p) - z] @ p[z:] for z in range(3)]
        return math.log(steps[step] / steps[step + 1])

    return function


def by_transform(honest, epsilon):
    """The law from its Fourier transform."""
    q, angle = math.exp(-epsilon), 2 * np.pi * np.arange(2**16) / 2**16
    law = np.fft.ifft(((1 - q) ** 2 / (1 - 2 * q * np.cos(angle) + q**2)) ** honest).real
    return float(np.log(law[0] / law[1]))


def plan(unknown=lambda n, silent, told: n - silent - told, there=lambda n, silent, told: n, variables=2, power=0.5):
    def function(parties, silent, told, epsilon):
        shape, q = 1 / unknown(parties, silent, told), math.exp(-epsilon)
        return shape, (variables * there(parties, silent, told) * shape * q / (1 - q) ** 2) ** power

    return function


SOLUTIONS = [
    (check.agg_shares, own_luck(SPLIT)),
    (check.agg_part, own_luck(PART)),
    (check.agg_collusion, lambda seed: loss()),
    (check.agg_dropout, lambda seed: plan()),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.agg_shares, split(last=lambda values, shares: values - shares.sum(axis=0)), "count modulo 2^32"),
    (check.agg_shares, split(last=lambda values, shares: values % M), "must add up to it"),
    (check.agg_shares, lambda values, servers, rng: np.full((servers, len(values)), 0.5), "whole numbers"),
    (check.agg_shares, lambda values, servers, rng: np.zeros((1, len(values))), "2 rows of"),
    (check.agg_shares, split(draw=lambda rng, shape: rng.integers(0, 100, shape)), "is not uniform"),
    (check.agg_shares, lambda values, servers, rng: print(end=""), "return"),
    (check.agg_part, WHOLE, "each part is the whole noise"),
    (check.agg_part, given(PART, sensitivity=1), "sensitivity is left out"),
    (check.agg_part, part(lambda n: 1.0, lambda n, epsilon, d: math.exp(-epsilon * n / d)), "rate is divided"),
    (check.agg_part, part(shape=lambda parties: 0.5 / parties), "the shape is 1/(2 parties)"),
    (check.agg_part, then(given(PART, sensitivity=1), lambda out, t, rng: t[2] * out), "times the sensitivity"),
    (check.agg_part, rounded(lambda rng, n, scale, size: rng.laplace(scale=scale / n, size=size)), "the sums"),
    (check.agg_part, less_itself(lambda a, rng: rng.permutation(a)), "all parts of a call add up to exactly 0"),
    (check.agg_part, NOW_AND_THEN, "their size is right, but not their law"),
    (check.agg_part, then(PART, lambda out, t, rng: 0 * out), "adds up to nothing"),
    (check.agg_part, then(PART, lambda out, t, rng: out + 0.5), "whole numbers"),
    (check.agg_part, then(PART, lambda out, t, rng: 0), "expected"),
    (check.agg_part, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.agg_collusion, lambda honest, epsilon: epsilon + math.log(1 / honest), "that is the bound"),
    (check.agg_collusion, lambda honest, epsilon: epsilon / honest, "ε/h"),
    (check.agg_collusion, lambda honest, epsilon: epsilon, "know no part"),
    (check.agg_collusion, lambda honest, epsilon: 2 * epsilon, "epsilon = 0.83: not 1.66"),
    (check.agg_collusion, loss(step=1), "step from 1 to 2"),
    (check.agg_collusion, lambda honest, epsilon: loss()(max(1 - honest, 1e-6), epsilon), "keeps its parts secret"),
    (check.agg_collusion, lambda honest, epsilon: round(loss()(honest, epsilon), 2), "rounded too far"),
    (check.agg_collusion, lambda honest, epsilon: "much", "expected a number"),
    (check.agg_dropout, plan(lambda n, silent, told: n), "every part must arrive"),
    (check.agg_dropout, plan(lambda n, silent, told: n - told), "take their parts with them"),
    (check.agg_dropout, plan(lambda n, silent, told: n - silent), "those who told"),
    (check.agg_dropout, plan(there=lambda n, silent, told: n - silent - told), "there is more"),
    (check.agg_dropout, plan(there=lambda n, silent, told: n - silent), "when nobody falls silent"),
    (check.agg_dropout, plan(variables=1), "twice as large"),
    (check.agg_dropout, plan(power=1), "that is the variance"),
    (check.agg_dropout, lambda *case: (plan()(*case)[0] / 2, plan()(*case)[1] / 2**0.5), "have the whole shape"),
    (check.agg_dropout, lambda *case: 1.0, "2 numbers"),
]

UNUSUAL = [
    (check.agg_shares, pads),
    (check.agg_shares, rolled),
    (check.agg_shares, split(lambda rng, shape: sum(rng.integers(0, 256, shape) << (8 * i) for i in range(4)))),
    (check.agg_shares, lambda values, servers, rng: secure.split(values, servers=servers, rng=rng).tolist()),
    (check.agg_part, by_gamma),
    (check.agg_part, by_clusters),
    (check.agg_part, lambda n, epsilon, d, size, rng: list(
        secure.laplace_share(size, sensitivity=d, epsilon=epsilon, parties=n, rng=rng))),
    (check.agg_collusion, by_transform),
    (check.agg_collusion, lambda honest, epsilon: round(loss()(honest, epsilon), 5)),
    (check.agg_dropout, lambda *arguments: list(plan()(*arguments))),
]

LEAKS = [
    (check.agg_shares, halves(lambda first: first + 1)),
    (check.agg_shares, halves(lambda first: -first)),
    (check.agg_shares, halves(lambda first: -first[:, ::-1])),
    (check.agg_shares, split(lambda rng, shape: rng.permuted(np.tile(uniform(rng, shape[1:]), (shape[0], 1)), axis=1))),
    (check.agg_shares, split(lambda rng, shape: rng.integers(0, 2**31, shape))),
    (check.agg_shares, split(lambda rng, shape: rng.integers(0, M // 16, shape) * 16)),
    (check.agg_shares, split(lambda rng, shape: np.tile(uniform(rng, (shape[0], 1)), shape[1]))),
    (check.agg_shares, split(lambda rng, shape: np.tile(uniform(rng, shape[1:]), (shape[0], 1)))),
    (check.agg_shares, fixed_seed(SPLIT, 1)),
    (check.agg_shares, split(lambda rng, shape: np.abs(rng.normal(0, 2**30, shape)).astype(np.int64) % M)),
    (check.agg_shares, split(lambda rng, shape: (uniform(rng, (shape[0], 1)) + np.arange(shape[1])) % M)),
    (check.agg_shares, lambda x, n, rng: np.vstack([np.zeros((n - 2, len(x))), SPLIT(x, 2, rng)])),
    # lists of other lengths, mixed values, more servers; few seeds; one server's shares in another place of another's
    (check.agg_shares, where(lambda values, servers: len(values) == 1, plain, SPLIT)),
    (check.agg_shares, where(lambda values, servers: len(values) == 100, plain, SPLIT)),
    (check.agg_shares, where(lambda values, servers: len(set(values.tolist())) > 1, plain, SPLIT)),
    (check.agg_shares, where(lambda values, servers: (np.abs(values) > 2**30).any(), plain, SPLIT)),
    (check.agg_shares, where(lambda values, servers: servers > 4, plain, SPLIT)),
    (check.agg_shares, lambda x, n, rng: SPLIT(x, n, np.random.default_rng(rng.integers(5000)))),
    (check.agg_shares, split(next_door)),
    (check.agg_shares, split(lambda rng, shape: every_tenth(uniform(rng, shape)))),
    (check.agg_part, fixed_seed(PART, 0)),
    (check.agg_part, lambda n, epsilon, d, size, rng: np.round(np.subtract(*rng.gamma(1 / n, d / epsilon, (2, size))))),
    (check.agg_part, rounded(lambda rng, n, scale, size: rng.normal(scale=math.sqrt(2 / n) * scale, size=size))),
    (check.agg_part, ONE_FOR_ALL),
    (check.agg_part, less_itself(lambda a, rng: a[::-1])),
    (check.agg_part, then(PART, lambda out, t, rng: np.clip(out, -1, 1))),
    (check.agg_part, then(PART, lambda out, t, rng: np.abs(out))),
    (check.agg_part, given(PART, epsilon=lambda epsilon: 2 * epsilon)),
    (check.agg_part, part(lambda parties: 1 / parties if parties < 100 else 0.7 / parties)),
    # a small or a large epsilon, rounded scales, a large sensitivity
    (check.agg_part, given(PART, epsilon=lambda epsilon: epsilon * (1 + (epsilon < 0.5)))),
    (check.agg_part, given(PART, epsilon=lambda epsilon: epsilon * (1 + 9 * (epsilon > 3)))),
    (check.agg_part, lambda n, epsilon, d, size, rng: PART(n, 1 / max(1, round(d / epsilon)), 1, size, rng)),
    (check.agg_part, lambda n, epsilon, d, size, rng: PART(n, 1 / max(1, int(d / epsilon)), 1, size, rng)),
    (check.agg_part, given(PART, sensitivity=lambda sensitivity: min(sensitivity, 5))),
    (check.agg_part, given(PART, sensitivity=lambda sensitivity: min(sensitivity, 50))),
    (check.agg_part, given(PART, epsilon=lambda epsilon: max(epsilon, 0.05))),
    (check.agg_part, where(lambda n, epsilon, *_: epsilon > 8, lambda *case: np.zeros(case[3]), PART)),
    # the sum of a call is even
    (check.agg_part, then(PART, lambda out, t, rng: even(out, -1, rng))),
    (check.agg_part, then(PART, lambda out, t, rng: even(out, rng.integers(len(out)), rng))),
    (check.agg_part, then(PART, lambda out, t, rng: even(out, 0, rng) if len(out) > t[0] else out)),
    # signs that parts share
    (check.agg_part, signed(lambda sign, n: np.repeat(sign, 2)[:len(sign)])),
    (check.agg_part, signed(lambda sign, n: np.where(np.arange(len(sign)) // n % 2, np.roll(sign, n), sign))),
    (check.agg_part, signed(lambda sign, n: np.append(sign[:len(sign) // 2], sign[:-(len(sign) // 2)]))),
    # few parts in a call, few seeds, a person who adds nothing
    (check.agg_part, where(lambda n, epsilon, d, size: size < 100, lambda n, epsilon, d, size: np.zeros(size), PART)),
    (check.agg_part, lambda *case: PART(*case[:-1], np.random.default_rng(case[-1].integers(50)))),
    (check.agg_part, then(PART, lambda out, t, rng: out * ((np.arange(len(out)) % t[0] > 0) | (t[0] < 100)))),
]
