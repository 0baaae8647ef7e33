"""Checkers of the section on sums whose parts nobody may see: shares, parts of noise, conspiracies, silent phones."""
import contextlib
import functools
import itertools
import math

import numpy as np
import scipy

from dplib import secure
from provable_privacy.battery import laws, looks_for, luck
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, checker, numbers

__all__ = ["agg_collusion", "agg_dropout", "agg_part", "agg_shares"]

LEVEL = 3e-9                                     # of each of 360 looks: all together refuse one right answer in 10^6


def _whole(got, shape, what):
    array = numbers(got, shape, what)
    if not np.all(array == np.round(array)):
        raise Wrong(f"{what}: expected whole numbers, got {array[array != np.round(array)].flat[0]:g}")
    return array.astype(np.int64)


# ----------------------------------------------------------------------------------------------------------- shares

M = secure.MODULUS
ROWS = 20_000
FEW = [(2, np.array([5, 0, -3])), (3, np.array([2**31 - 1, -(2**31), 7])), (2, np.zeros(0, dtype=int))]
MANY = [(2, [1_000_000]), (3, [0]), (3, [-1, 2**31 - 1]), (5, [2**30])]      # servers, and values of 20,000 people
SHORT = [(1, 1500), (100, 20)]                   # people in a call, and calls
ALONE = "draw each on its own"


def _shares(split, values, servers, rng):
    """The shares of these values; `Wrong` if they are none or do not add up."""
    got = answered(split, values.copy(), servers, rng)
    shares = _whole(got, (servers, len(values)), f"{servers} rows of {len(values):,} shares")
    if (outside := shares[(shares < 0) | (shares >= M)]).size:
        raise Wrong(f"a share must lie between 0 and 2^32 - 1, got {outside[0]}: count modulo 2^32")
    sums = shares.sum(axis=0) % M
    for at in np.flatnonzero(sums != values % M)[:1]:
        raise Wrong(f"the shares of {values[at]} must add up to it modulo 2^32; yours add up to {sums[at]}")
    return shares


def _flat(sample):
    """Whether a sample may be uniform on 0 ... 2^32 - 1."""
    return scipy.stats.kstest(sample / M, "uniform").pvalue >= LEVEL


def _uniform(what, sample):
    """`Wrong` unless the size of these numbers and their last bits look uniform."""
    if not _flat(sample):
        raise Wrong(f"{what} is not uniform on 0 ... 2^32 - 1 (half of the numbers should be above 2^31, "
                    f"{np.mean(sample >= 2**31):.1%} are): it tells something")
    if scipy.stats.chisquare(np.bincount(sample % 16, minlength=16)).pvalue < LEVEL:
        raise Wrong(f"the last bits of {what} are not uniform: they tell something")


def _seen_by_all_but(left_out, shares, of):
    """`Wrong` unless what all servers but one see looks like independent uniform numbers."""
    seen, who = np.delete(shares, left_out, axis=0), np.delete(np.arange(len(shares)), left_out) + 1
    for server, share in zip(who, seen):
        _uniform(f"what server {server} gets of {of}", share)
        if len(np.unique(share)) < share.size - 8:       # of 20,000 numbers below 2^32 only a few pairs are equal
            raise Wrong(f"the share of server {server} is drawn once for many people: who knows one knows all")
    both = np.append(seen, -seen % M)            # of 160,000 about three pairs are equal by chance, 30 once in 10^11
    if len(np.unique(both)) < both.size - 30:
        raise Wrong(f"some shares come twice, or add up to 0 with others: {ALONE}")
    if len(seen) > 1:
        _uniform(f"the sum of what all but server {left_out + 1} get of {of}", seen.sum(axis=0) % M)
        _uniform(f"the difference of what two servers get of {of}", (seen[0] - seen[1]) % M)
    for one, other in itertools.combinations_with_replacement(seen, 2):
        if _echo(one, other):
            raise Wrong(f"the share of one person depends on that of another: {ALONE}")


def _echo(one, other):
    """Whether many shares of `other` follow, by a sum or a difference, from those of `one` some places before or after.

    A share is a point on a circle. At each of the n distances the points of n independent pairs add up to a sum whose
    squared length, over n, exceeds t with probability exp(-t); where each pair comes twice it is twice as long.
    """
    a, b = (np.fft.fft(np.exp(2j * np.pi * share / M)) for share in (one, other))
    turned = np.fft.fft(np.exp(-2j * np.pi * other / M))
    most = math.log(4 * one.size / LEVEL) * one.size * (2 if one is other else 1)
    for product in (a * b.conj(), a * turned.conj(), a * b, a * turned):
        length = np.abs(np.fft.ifft(product)) ** 2
        if length[one is other:].max() > most:   # at distance 0 a share is compared with itself
            return True
    return False


@checker
@looks_for("size", "empty", "contents", "negative", "shared", "calls", fractions="values are whole numbers",
           missing="values are whole numbers", type="shares are whole numbers", order="a share belongs to its person",
           own="a share is uniform, whatever the value is", zero="shares are never below 0",
           **dict.fromkeys(("small", "large", "quotient"), "no ε in the exercise"))
def agg_shares(split):
    """`split(values, servers, rng)`: shares modulo 2^32, of which any servers - 1 say nothing."""
    for seed, (servers, values) in enumerate(FEW):
        _shares(split, values, servers, luck(seed))
    for servers, values in MANY:
        shares = _shares(split, np.resize(values, ROWS), servers, luck(servers))
        for left_out in range(servers):
            of = " and ".join(f"{value:,}" for value in values)
            _seen_by_all_but(left_out, shares, f"shares of {of} at {servers} servers")
    for people, calls in SHORT:
        rng, few = luck(people), np.full(people, 77)
        shares = np.hstack([_shares(split, few, 2, rng) for _ in range(calls)])
        for left_out in range(2):
            _seen_by_all_but(left_out, shares, f"shares of 77, {calls:,} calls with {people} of them")
    one, other = (_shares(split, np.arange(1000), 2, luck(seed)) for seed in (8, 9))
    if np.mean(one == other) > 0.01:
        raise Wrong("two calls give the same shares: draw them anew, from rng")
    return ("they add up, and all but one server see uniform numbers "
            "(values -1, 0, 77, a million, 2^30 and 2^31 - 1, two to five servers)")


# --------------------------------------------------------------------------------------------------- parts of noise

CASES = [                                        # parties, epsilon, sensitivity
    (1, 4.0, 1), (10, 0.7, 1), (60, 0.12, 1), (400, 2.0, 7), (20, 0.9, 200), (5, 0.001, 1), (3, 10.0, 4)]
CALLS = 1000                                     # sums of ten parts, each part from a call of its own
CELLS = 9                                        # cells of about one scale: from -9 to 9, and the tails


@functools.cache
def _difference(shape, rate):
    """P(0), P(1), ... of the difference of two negative binomial variables, where q = exp(-rate)."""
    p = scipy.stats.nbinom.pmf(np.arange(max(2000, int(25 / rate))), shape, -math.expm1(-rate))
    if len(p) == 2000:
        return np.correlate(p, p, mode="full")[len(p) - 1:]
    return np.maximum(scipy.signal.fftconvolve(p, p[::-1])[len(p) - 1:], 0)


def _times(law, d):
    """The law of d times as much."""
    return np.column_stack([law, np.zeros((len(law), d - 1))]).ravel()


SUMS = {                                         # words -> the law of the sums
    "each part is the whole noise: parties times too much of it": lambda n, eps, d: _difference(n, eps / d),
    "the sensitivity is left out of the rate: q is exp(-epsilon/sensitivity)": lambda n, eps, d: _difference(1, eps),
    "this is noise for sensitivity 1, times the sensitivity: every sum is a multiple of it, so a change of 1 is seen":
        lambda n, eps, d: _times(_difference(1, eps), d),
    "the rate is divided among the people; divide the shape, for q belongs to the sum":
        lambda n, eps, d: _difference(n, n * eps / d),
    "the shape is 1/(2 parties): the two variables of a part each have the shape 1/parties":
        lambda n, eps, d: _difference(0.5, eps / d),
}


def _step(epsilon, sensitivity):
    return max(1, round(sensitivity / epsilon))


def _law(law, step):
    """Probabilities of the cells and of the tails."""
    law = np.append(law, np.zeros(max(CELLS * step + 1 - len(law), 0)))
    inside = np.array([law[abs(np.arange(z * step, (z + 1) * step))].sum() for z in range(-CELLS, CELLS)])
    return np.append(inside, max(1 - inside.sum(), 0))


def _cells(sums, step):
    """How many sums there are in each cell, and in the tails."""
    place = sums // step + CELLS
    inside = (place >= 0) & (place < 2 * CELLS)
    return np.append(np.bincount(place[inside], minlength=2 * CELLS), np.count_nonzero(~inside))


def _right_sums(sums, *case, calls=1):
    """`Wrong` unless these are whole-number Laplace noise, or as many such noises in one."""
    if not sums.any():
        raise Wrong(f"all {len(sums):,} sums are 0; noise that is small and rounded adds up to nothing")
    rate, step = case[1] / case[2], _step(*case[1:])
    right = _law(_difference(calls, rate), step)
    rivals = {words: _law(law(*case), step) for words, law in SUMS.items()}
    rivals = {words: law for words, law in rivals.items() if not np.allclose(law, right, atol=1e-6)}
    try:
        laws.compare(_cells(sums, step), right, rivals, lambda cell: "", level=LEVEL)
    except Wrong as reason:
        if str(reason) in rivals:
            raise
        sd, should = sums.std(), math.sqrt(2 * calls * math.exp(-rate)) / -math.expm1(-rate)
        shape = "; their size is right, but not their law" if abs(sd / should - 1) < 0.02 else ""
        raise Wrong("the sums do not have the law of whole-number Laplace noise, with standard deviation "
                    f"{sd:.2f}, which should be {should:.2f}{shape}") from None


def _independent(drawn, parties):
    """`Wrong` if parts are large together, or some are larger than others."""
    rows, half, one = drawn.reshape(-1, parties), len(drawn) // 2, float(np.mean(drawn != 0))
    pairs = {
        "beside each other": rows[:, :2].T,
        "of one place in this sum and the next": (drawn[:-parties], drawn[parties:]),
        "half of the list apart": (drawn[:half], drawn[-half:]),
        "as far from either end of the list": (drawn[:half], drawn[::-1][:half]),
    }
    for where, (a, b) in pairs.items():
        both = np.count_nonzero((a != 0) & (b != 0))
        if scipy.stats.binom.sf(both - 1, len(a), one**2) < LEVEL:
            raise Wrong(f"parts go together: two {where} are both different from 0 in {both / len(a):.2%}, "
                        f"which should be {one**2:.2%}; each person draws on their own")
        alike = np.count_nonzero(a * b > 0)
        if both and scipy.stats.binomtest(alike, both, 0.5).pvalue < LEVEL:
            raise Wrong(f"parts go together: two {where} have the same sign in {alike / both:.1%}, which should be "
                        "50 %; each person draws on their own")
    least, most = (side(np.count_nonzero(rows, axis=0)) for side in (np.min, np.max))
    law = scipy.stats.binom(len(rows), one)
    if min(law.cdf(least), law.sf(most - 1)) * parties < LEVEL:
        raise Wrong("some of the parts are larger than others; every part has the same law")


def _parts(part, case, size, rng):
    return _whole(answered(part, *case, size, rng), (size,), f"{size:,} parts")


@contextlib.contextmanager
def _telling(case, more=""):
    """A `Wrong` that names the case."""
    try:
        yield
    except Wrong as reason:
        case = f"parties = {case[0]}, epsilon = {case[1]:g}, sensitivity = {case[2]}"
        raise Wrong(f"with {case}{more}: {reason}") from None


NO_TABLE = ("empty", "contents", "fractions", "negative", "missing", "far", "own")


@checker
@looks_for("size", "straddles", "small", "large", "quotient", "shared", "calls", "zero", type="parts are whole numbers",
           order="a part belongs to its person", **dict.fromkeys(NO_TABLE, "no table in the exercise"))
def agg_part(part):
    """`part(parties, epsilon, sensitivity, size, rng)`: `parties` of them add up to whole-number Laplace noise."""
    totals = []
    for seed, case in enumerate(CASES):
        size = case[0] * (30_000 if case[0] <= 60 else 6_000)
        with _telling(case):
            drawn = _parts(part, case, size, luck(70 + seed))
            for sums in (drawn.reshape(-1, case[0]).sum(axis=1), drawn.reshape(case[0], -1).sum(axis=0)):
                _right_sums(sums, *case)
            if case[0] > 1:
                _independent(drawn, case[0])
        totals.append(drawn.sum())
    if not any(totals):                          # by chance once in 10^11
        raise Wrong("all parts of a call add up to exactly 0: what one person adds another takes away; "
                    "each person draws on their own")
    case, rng = CASES[1], luck(77)               # each of ten people draws one part, in a call of their own
    with _telling(case, ", one part in a call"):
        _right_sums(np.array([sum(_parts(part, case, 1, rng)[0] for _ in range(case[0])) for _ in range(CALLS)]), *case)
    for times in (1, 2):                         # and all parts of a call added up
        with _telling(case, f", {times * case[0]} parts in a call"):
            sums = [_parts(part, case, times * case[0], rng).sum() for _ in range(CALLS)]
            _right_sums(np.array(sums), *case, calls=times)
    one, other = (_parts(part, (1, 0.1, 1), 500, luck(seed)) for seed in (78, 79))
    if np.mean(one == other) > 0.5:              # two right answers agree in about one place of forty
        raise Wrong("two calls give the same parts: draw them anew, from rng")
    parties = ", ".join(str(case[0]) for case in sorted(CASES))
    return f"the sums of {parties} parts have the law of whole-number Laplace noise"


# --------------------------------------------------------------------------------------------------- what they know

CONSPIRACIES = [(0.37, 0.83), (1.0, 0.7), (0.25, 2.0), (0.9, 0.1), (0.02, 0.5)]


def _loss(honest, epsilon):
    return secure.collusion_epsilon(honest, epsilon=epsilon)


def _second_step(honest, epsilon):
    one, two = secure.shared_pmf([1, 2], honest=honest, epsilon=epsilon)
    return math.log(one / two)


LOSSES = {
    "that is the bound ε + ln(1/h); the exact loss is ln P(0)/P(1)": lambda h, epsilon: epsilon + math.log(1 / h),
    "that is ε/h: a part of the noise is missing, not a part of the rate": lambda h, epsilon: epsilon / h,
    "that is the promise to those who know no part": lambda h, epsilon: epsilon,
    "`honest` is the share that keeps its parts secret": lambda h, epsilon: _loss(max(1 - h, 1e-6), epsilon),
    "that is the step from 1 to 2; the steepest is from 0 to 1": _second_step,
}


@checker
def agg_collusion(loss):
    """`loss(honest, epsilon)`: the exact loss when only a share `honest` of the parts is unknown."""
    on_cases(loss, CONSPIRACIES, _loss, LOSSES, rtol=0, atol=1e-4, what="the loss")
    return "exact for five conspiracies"


FLEETS = [(1000, 100, 300, 1.0), (50, 0, 0, 0.5), (2000, 100, 0, 2.0), (12, 0, 9, 1.5)]


def _plan(unknown=lambda parties, silent, told: parties - silent - told, there=lambda parties, silent, told: parties,
          shapes=1, variables=2, power=1):
    def plan(parties, silent, told, epsilon):
        shape, q = shapes / unknown(parties, silent, told), math.exp(-epsilon)
        deviation = math.sqrt(variables * there(parties, silent, told) * shape * q) / (1 - q)
        return shape, deviation**power

    return plan


PLANS = {
    "with that shape every part must arrive: when one falls silent, the noise is too small":
        _plan(lambda n, silent, told: n),
    "the shape forgets that the silent take their parts with them": _plan(lambda n, silent, told: n - told),
    "the shape forgets that the parts of those who told hide nothing": _plan(lambda n, silent, told: n - silent),
    "both variables of a part have the whole shape": _plan(shapes=0.5),
    "that is the noise of the unknown parts when some fall silent; when nobody falls silent there is more":
        _plan(there=lambda n, silent, told: n - silent - told),
    "a part is a difference of two variables, so the variance is twice as large": _plan(variables=1),
    "that is the variance; the standard deviation is its root": _plan(power=2),
    "the deviation is asked for when nobody falls silent": _plan(there=lambda n, silent, told: n - silent),
}


@checker
def agg_dropout(plan):
    """`plan(parties, silent, told, epsilon)`: the shape of each part, and the standard deviation of all of them."""
    on_cases(plan, FLEETS, _plan(), PLANS, rtol=(1e-4, 1e-3), shape=lambda *case: (2,),
             what="shape and standard deviation")
    return "right in four cases"
