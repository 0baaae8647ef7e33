"""The checkers of the section on trust: silent on the stub, content with the solution, and able to say what is wrong."""
import math

import numpy as np
from scipy import stats

from dplib import secure
from provable_privacy import check

M = 2**32


def split(draw=lambda rng, shape: rng.integers(0, M, shape), last=lambda values, shares: (values - shares.sum(axis=0)) % M, seed=None):
    """A learner's shares, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, servers, rng):
        shares = draw(own or rng, (servers - 1, len(values)))
        return np.vstack([shares, last(values, shares)])

    return function


def rolled(values, servers, rng):
    """The share that makes the sum right is at another server for each person."""
    shares = split()(values, servers, rng)
    return np.array([np.roll(column, i) for i, column in enumerate(shares.T)]).T.reshape(shares.shape)


def halves(shares, second):
    """Whoever comes in the second half of the list gets shares that follow from those of the first half."""
    half = shares.shape[1] // 2
    shares[:, half:2 * half] = second(shares[:, :half]) % M
    return shares


def bytewise(values, servers, rng):
    shares = sum(rng.integers(0, 256, (servers - 1, len(values))) << (8 * i) for i in range(4))
    return np.vstack([shares, (values - shares.sum(axis=0)) % M])


def pads(values, servers, rng):
    """Differences of pads that cancel around a ring, the value on the first; two servers need a pad of another form."""
    if servers == 2:
        return split()(values, servers, rng)
    pad = rng.integers(0, M, (servers, len(values)))
    shares = pad - np.roll(pad, 1, axis=0)
    shares[0] += values
    return shares % M


def part(shape=lambda parties: 1 / parties, q=lambda parties, epsilon, sensitivity: math.exp(-epsilon / sensitivity), seed=None):
    own = None if seed is None else np.random.default_rng(seed)

    def function(parties, epsilon, sensitivity, size, rng):
        one, other = (own or rng).negative_binomial(shape(parties), 1 - q(parties, epsilon, sensitivity), (2, size))
        return one - other

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


def now_and_then(parties, epsilon, sensitivity, size, rng):
    """The whole noise, or nothing: each part with the right variance."""
    return part(shape=lambda parties: 1.0)(parties, epsilon, sensitivity, size, rng) * (rng.random(size) < 1 / parties)


def rounded(parties, epsilon, sensitivity, size, rng):
    return np.round(rng.laplace(scale=sensitivity / epsilon / parties, size=size)).astype(int)


def rounded_normal(parties, epsilon, sensitivity, size, rng):
    return np.round(rng.normal(scale=math.sqrt(2 / parties) * sensitivity / epsilon, size=size)).astype(int)


def mirrored(parties, epsilon, sensitivity, size, rng):
    """Differences of one list and itself from the end: together they are nothing."""
    a = rng.negative_binomial(1 / parties, -math.expm1(-epsilon / sensitivity), size)
    return a - a[::-1]


def shuffled(parties, epsilon, sensitivity, size, rng):
    """Differences of one list and itself in another order: all of them together are nothing."""
    a = rng.negative_binomial(1 / parties, -math.expm1(-epsilon / sensitivity), size)
    return a - rng.permutation(a)


def one_for_all(parties, epsilon, sensitivity, size, rng):
    """The first of each `parties` people adds all the noise."""
    out = np.zeros((size // parties, parties), dtype=int)
    out[:, 0] = part(shape=lambda parties: 1.0)(parties, epsilon, sensitivity, size // parties, rng)
    return out.ravel()


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


def plan(unknown=lambda parties, silent, told: parties - silent - told, there=lambda parties, silent, told: parties, variables=2):
    def function(parties, silent, told, epsilon):
        shape, q = 1 / unknown(parties, silent, told), math.exp(-epsilon)
        return shape, math.sqrt(variables * there(parties, silent, told) * shape * q) / (1 - q)

    return function


SOLUTIONS = [
    (check.agg_shares, lambda seed: split(seed=seed)),
    (check.agg_part, lambda seed: part(seed=seed)),
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
    (check.agg_part, part(shape=lambda parties: 1.0), "each part is the whole noise"),
    (check.agg_part, part(q=lambda n, epsilon, sensitivity: math.exp(-epsilon)), "sensitivity is left out"),
    (check.agg_part, part(shape=lambda parties: 1.0, q=lambda n, epsilon, sensitivity: math.exp(-epsilon * n / sensitivity)), "rate is divided"),
    (check.agg_part, part(shape=lambda parties: 0.5 / parties), "the shape is 1/(2 parties)"),
    (check.agg_part, lambda n, epsilon, sensitivity, size, rng: sensitivity * part()(n, epsilon, 1, size, rng), "times the sensitivity"),
    (check.agg_part, rounded, "the sums"),
    (check.agg_part, shuffled, "all parts of a call add up to exactly 0"),
    (check.agg_part, now_and_then, "their size is right, and their law another"),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: np.zeros(size), "adds up to nothing"),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: rng.laplace(size=size), "whole numbers"),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: 0, "expected"),
    (check.agg_part, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.agg_collusion, lambda honest, epsilon: epsilon + math.log(1 / honest), "that is the bound"),
    (check.agg_collusion, lambda honest, epsilon: epsilon / honest, "ε/h"),
    (check.agg_collusion, lambda honest, epsilon: epsilon, "know no part"),
    (check.agg_collusion, lambda honest, epsilon: 2 * epsilon, "epsilon = 0.83: not 1.66"),
    (check.agg_collusion, loss(step=1), "step from 1 to 2"),
    (check.agg_collusion, lambda honest, epsilon: loss()(max(1 - honest, 1e-6), epsilon), "the share that keeps quiet"),
    (check.agg_collusion, lambda honest, epsilon: round(loss()(honest, epsilon), 2), "rounded too far"),
    (check.agg_collusion, lambda honest, epsilon: "much", "expected a number"),
    (check.agg_dropout, plan(unknown=lambda parties, silent, told: parties), "insures against nobody"),
    (check.agg_dropout, plan(unknown=lambda parties, silent, told: parties - told), "take their parts with them"),
    (check.agg_dropout, plan(unknown=lambda parties, silent, told: parties - silent), "those who told"),
    (check.agg_dropout, plan(there=lambda parties, silent, told: parties - silent - told), "there is more"),
    (check.agg_dropout, plan(there=lambda parties, silent, told: parties - silent), "nobody falls silent here"),
    (check.agg_dropout, plan(variables=1), "twice as large"),
    (check.agg_dropout, lambda parties, silent, told, epsilon: (plan()(parties, silent, told, epsilon)[0], plan()(parties, silent, told, epsilon)[1] ** 2),
     "variance"),
    (check.agg_dropout, lambda parties, silent, told, epsilon: 1.0, "2 numbers"),
]

UNUSUAL = [
    (check.agg_shares, lambda values, servers, rng: pads(values, servers, rng).astype(np.uint64)),
    (check.agg_shares, rolled),
    (check.agg_shares, bytewise),
    (check.agg_shares, lambda values, servers, rng: secure.split(values, servers=servers, rng=rng).tolist()),
    (check.agg_part, by_gamma),
    (check.agg_part, by_clusters),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: list(
        secure.laplace_share(size, sensitivity=sensitivity, epsilon=epsilon, parties=parties, rng=rng))),
    (check.agg_collusion, by_transform),
    (check.agg_collusion, lambda honest, epsilon: round(loss()(honest, epsilon), 5)),
    (check.agg_dropout, lambda *arguments: list(plan()(*arguments))),
]

LEAKS = [
    (check.agg_shares, split(draw=lambda rng, shape: halves(rng.integers(0, M, shape), lambda first: first + 1))),
    (check.agg_shares, split(draw=lambda rng, shape: halves(rng.integers(0, M, shape), lambda first: -first))),
    (check.agg_shares, split(draw=lambda rng, shape: halves(rng.integers(0, M, shape), lambda first: -first[:, ::-1]))),
    (check.agg_shares, split(draw=lambda rng, shape: rng.permuted(np.repeat(rng.integers(0, M, (1, shape[1])), shape[0], axis=0), axis=1))),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: part()(parties, epsilon, sensitivity, size, np.random.default_rng(0))),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: np.round(
        np.subtract(*rng.gamma(1 / parties, sensitivity / epsilon, (2, size)))).astype(int)),
    (check.agg_shares, split(draw=lambda rng, shape: rng.integers(0, 2**31, shape))),
    (check.agg_shares, split(draw=lambda rng, shape: rng.integers(0, M // 16, shape) * 16)),
    (check.agg_shares, split(draw=lambda rng, shape: np.repeat(rng.integers(0, M, (shape[0], 1)), shape[1], axis=1))),
    (check.agg_shares, split(draw=lambda rng, shape: np.repeat(rng.integers(0, M, (1, shape[1])), shape[0], axis=0))),
    (check.agg_shares, split(draw=lambda rng, shape: np.random.default_rng(1).integers(0, M, shape))),
    (check.agg_shares, split(draw=lambda rng, shape: np.abs(rng.normal(0, 2**30, shape)).astype(np.int64) % M)),
    (check.agg_shares, split(draw=lambda rng, shape: (rng.integers(0, M, (shape[0], 1)) + np.arange(shape[1])) % M)),
    (check.agg_shares, lambda values, servers, rng: np.vstack([np.zeros((servers - 2, len(values)), dtype=int), split()(values, 2, rng)])),
    (check.agg_part, rounded_normal),
    (check.agg_part, one_for_all),
    (check.agg_part, mirrored),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: np.clip(part()(parties, epsilon, sensitivity, size, rng), -1, 1)),
    (check.agg_part, lambda parties, epsilon, sensitivity, size, rng: np.abs(part()(parties, epsilon, sensitivity, size, rng))),
    (check.agg_part, part(q=lambda n, epsilon, sensitivity: math.exp(-2 * epsilon / sensitivity))),
    (check.agg_part, part(shape=lambda parties: 1 / parties if parties < 100 else 0.7 / parties)),
]
