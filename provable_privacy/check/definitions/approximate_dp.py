"""Checkers of the section on delta."""
import itertools
import math

import numpy as np
from scipy.special import ndtr, ndtri

from dplib import distributions, mechanisms
from provable_privacy.battery import Crowd, Lines, Pair, battery, drawn, looks_for, read_lines
from provable_privacy.battery.forms import MISSING
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, checker

__all__ = ["adp_convert", "adp_exact_delta", "adp_off_by_one", "adp_tail", "adp_threshold", "adp_witness"]


# ---------------------------------------------------------------------------------------------------- the exact delta

def _random_law(rng, size):
    law = rng.dirichlet(np.full(size, 0.7)) * (rng.random(size) < 0.8)
    return law / law.sum() if law.sum() > 0 else np.full(size, 1 / size)


def _laws():
    """Pairs of random laws, one pair that is easy to read, and the random tag of the text."""
    rng, tag = np.random.default_rng(20), np.repeat([1 / 6, 0.0], 6)
    for size, epsilon, _ in itertools.product((5, 2, 3, 8), (0.4, 0.0, 1.2), range(4)):
        yield _random_law(rng, size), _random_law(rng, size), epsilon
    yield np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5]), 0.3
    yield tag, tag[::-1].copy(), 0.5


LAWS = list(_laws())


def _over_all_sets(p, q, epsilon):
    """Smallest delta by its definition: every set of outcomes, both directions."""
    sets = np.array(list(itertools.product((0, 1), repeat=len(p))))
    one, two = sets @ p, sets @ q
    return float(max((one - math.exp(epsilon) * two).max(), (two - math.exp(epsilon) * one).max()))


def _slacks(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0)


def _larger(side):
    """The larger of both directions."""
    return lambda p, q, epsilon: max(side(p, q, epsilon), side(q, p, epsilon))


DELTAS = {
    "outcomes that are impossible in one world were left out; there no factor is enough, and delta must take all of "
    "their probability": _larger(lambda p, q, epsilon: _slacks(p, q, epsilon)[(p > 0) & (q > 0)].sum()),
    "this is the worst single outcome; the definition asks about sets of outcomes, and their slacks add up":
        _larger(lambda p, q, epsilon: _slacks(p, q, epsilon).max()),
    "this is the chance that the loss exceeds epsilon; an outcome whose loss is just above epsilon needs hardly any "
    "slack": _larger(lambda p, q, epsilon: p[p > math.exp(epsilon) * q].sum()),
    "this is one direction only, D against D'; the other one is larger here":
        lambda p, q, epsilon: _slacks(p, q, epsilon).sum(),
    "this is one direction only, D' against D; the other one is larger here":
        lambda p, q, epsilon: _slacks(q, p, epsilon).sum(),
    "both directions are added; delta is the larger of the two":
        lambda p, q, epsilon: _slacks(p, q, epsilon).sum() + _slacks(q, p, epsilon).sum(),
    "outcomes with p below e^epsilon q were counted with a minus sign; the worst set leaves them out":
        _larger(lambda p, q, epsilon: (p - math.exp(epsilon) * q).sum()),
    "this is the total variation distance, delta at epsilon = 0: epsilon was not used":
        lambda p, q, epsilon: np.maximum(p - q, 0).sum(),
}


def _as_text(p, q, epsilon):
    tag = "the random tag, which publishes the record, " if len(p) == 12 else ""
    return f"{tag}p = {p.round(3).tolist()}, q = {q.round(3).tolist()}, epsilon = {epsilon:g}"


@checker
def adp_exact_delta(my_delta):
    """`my_delta(p, q, epsilon)`: smallest delta of two finite laws, both directions."""
    on_cases(my_delta, LAWS, _over_all_sets, DELTAS, rtol=0, atol=1e-9, what="delta", show=_as_text,
             otherwise=lambda got, right, p, *_: f"the worst of all {2 ** len(p)} sets needs {right:.10g}")
    return "the same as all sets of outcomes, on 49 pairs of laws, and 1 for the random tag"


# ---------------------------------------------------------------------------------------------------------- a witness

P = np.array([0.10, 0.10, 0.10, 0.10, 0.10, 0.17, 0.17, 0.16])
Q = np.array([0.04, 0.04, 0.04, 0.04, 0.04, 0.26, 0.27, 0.27])
CLAIM = math.log(2), 0.03                        # epsilon, delta: true for each single outcome, in both directions


def _chosen(outcomes):
    """The numbers of the outcomes, from a set, a list, a mask or what np.where gives."""
    try:
        outcomes = np.ravel(list(outcomes))                  # np.where gives an array in a tuple
        if len(outcomes) == len(P) and all(i in (0, 1) for i in outcomes):
            outcomes = np.flatnonzero(outcomes)              # a mask, as in P > 2 * Q
        if any(int(i) != i for i in outcomes):
            raise ValueError
        chosen = sorted({int(i) for i in outcomes})
    except (TypeError, ValueError):
        raise Wrong("expected a set of outcome numbers, such as {0, 7}") from None
    if not chosen:
        raise Wrong("the empty set has probability 0 in both worlds")
    if min(chosen) < 0 or max(chosen) >= len(P):
        raise Wrong(f"outcomes are numbered from 0 to {len(P) - 1}")
    return chosen


@checker
def adp_witness(outcomes):
    """`outcomes`: the set of outcome numbers on which the claim (ln 2, 0.03) fails by most."""
    chosen, (epsilon, delta) = _chosen(outcomes), CLAIM
    one, two = P[chosen].sum(), Q[chosen].sum()
    need, best = max(one - math.exp(epsilon) * two, two - math.exp(epsilon) * one), _over_all_sets(P, Q, epsilon)
    if need <= delta + 1e-12:
        raise Wrong(f"P(S) = {one:.2f} and Q(S) = {two:.2f}: this set needs a delta of {max(need, 0):.2f}, which the "
                    "claim allows")
    if need < best - 1e-9:
        raise Wrong(f"this set needs {need:.2f} and so refutes the claim; another one needs more. Take every outcome "
                    "that adds something")
    return f"P(S) = {one:.1f}, Q(S) = {two:.1f}: delta is {best:.1f} and not {delta:g}"


# ------------------------------------------------------------------------------------------------- a tail of the loss

TAILS = [(0.3, 1e-6), (1.0, 1e-5), (3.0, 0.01)]
TAIL_MISTAKES = {
    "this is the sigma that (epsilon, delta)-DP needs, which is smaller: these are two different questions":
        lambda epsilon, delta: mechanisms.gaussian_sigma(epsilon, delta=delta),
    "the loss is not centred at 0, its mean is 1/(2 sigma^2)": lambda epsilon, delta: -ndtri(delta) / epsilon,
    "the classic formula is a bound, and the law of the loss is known exactly":
        lambda epsilon, delta: math.sqrt(2 * math.log(1.25 / delta)) / epsilon,
}


def _tail_sigma(epsilon, delta):
    z = -float(ndtri(delta))
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def _tail(got, right, epsilon, delta):
    """P(L > epsilon): the loss L is normal with mean 1/(2 sigma^2) and variance 1/sigma^2, at sensitivity 1."""
    if got <= 0:
        return "sigma must be positive"
    exceeds = f"with this sigma the loss exceeds epsilon with probability {ndtr((0.5 / got**2 - epsilon) * got):.3g}"
    return exceeds + (", too often: more noise is needed" if got < right else ": safe, but less noise is enough")


@checker
def adp_tail(tail_sigma):
    """`tail_sigma(epsilon, delta)`: smallest sigma with P(L > epsilon) <= delta, sensitivity 1."""
    on_cases(tail_sigma, TAILS, _tail_sigma, TAIL_MISTAKES, rtol=1e-4, what="sigma", otherwise=_tail)
    return "the loss stays below ε with probability 1 - δ, and with no more noise than that takes"


# ------------------------------------------------------------------------------------------------ a thresholded release

def _threshold(epsilon, delta):
    return 1 + math.log(0.5 / delta) / epsilon


def _releasing(scale=1.0, threshold=_threshold, *, exact=False, again=False, shared=False, zeros=False, sure=False):
    """Thresholded release, right unless told otherwise."""
    def release(counts, epsilon, delta, rng):
        values = np.array(list(counts.values()), dtype=float)
        noise = rng.laplace(scale=scale / epsilon, size=len(values))
        if shared:
            noise = np.broadcast_to(noise[:1], noise.shape)
        compared = np.maximum(values, values + noise) if sure else values if exact else values + noise
        passed = compared >= threshold(epsilon, delta)
        shown = values + (rng.laplace(scale=scale / epsilon, size=len(values)) if again else noise)
        return {key: value if ok else 0.0 for key, value, ok in sorted(zip(counts, shown, passed)) if ok or zeros}

    return release


RELEASE = _releasing()
RELEASES = {
    "the threshold is ln(1/2δ)/ε, which lets a count of 0 pass with probability δ; but the last person makes the count "
    "1":
        _releasing(threshold=lambda e, d: math.log(0.5 / d) / e),
    "the threshold is higher than 1 + ln(1/2δ)/ε. At 1 + ln(1/δ)/ε, for example, a noisy 1 passes with probability "
    "δ/2 only. This is private, but it loses more categories than necessary":
        _releasing(threshold=lambda e, d: 1 + math.log(1 / d) / e),
    "delta is divided by the number of categories: private, but each person is in one category only, so more are lost "
    "than necessary": lambda counts, e, d, rng: RELEASE(counts, e, d / max(len(counts), 1), rng),
    "the noise has half the scale it needs": _releasing(0.5),
    "the noise has twice the scale it needs": _releasing(2.0),
    "noise of half the scale, and the threshold that goes with it: epsilon is twice what was promised":
        _releasing(0.5, lambda e, d: 1 + math.log(0.5 / d) / e / 2),
    "noise of twice the scale, and the threshold that goes with it: private, but one person moves one count by 1 only":
        _releasing(2.0, lambda e, d: 1 + 2 * math.log(0.5 / d) / e),
    "nothing is held back: a category with one person in it is always there, and delta is 1":
        _releasing(threshold=lambda e, d: -math.inf),
    "a category that does not pass is printed with a 0. That it is printed at all reveals a single person: leave "
    "it out":
        _releasing(zeros=True),
    "every positive noisy count is published: the category of a single person comes out most of the time":
        _releasing(threshold=lambda e, d: 0.0),
    "the category of a single person hardly ever comes out. Do you compare the exact count with the threshold? A "
    "noisy 1 must pass with probability delta": _releasing(exact=True),
    "a category whose exact count passes always comes out: only the noisy count may decide whether it does":
        _releasing(sure=True),
    "a second noise was drawn for the number that is published: this is a second release, with an epsilon of its own":
        _releasing(again=True),
    "the published counts are exact; publish the noisy count that was compared": _releasing(0.0),
    "one noise for all categories: the difference of two of them is exact": _releasing(shared=True),
}

FILMS = tuple(f"film {i}" for i in range(20_000))


def _films(low, high, epsilon, delta, **settings):
    """Categories of `low` people or of `high`, each by its own coin; one of 0 is not in the table."""
    def build(coins):
        return {film: (high if coin else low) for film, coin in zip(FILMS, coins) if coin or low}, epsilon, delta

    def cells(got, coins):
        values, _ = read_lines(got, FILMS[: len(coins)])
        return np.where(values < MISSING / 2, np.nan, values)

    what, steps = f"category of {low}, δ = {delta:g} / category of {high}, δ = {delta:g}", high - low
    slack = delta * sum(math.exp(epsilon * i) for i in range(steps))     # what delta becomes after so many steps
    size = settings.pop("size", len(FILMS))
    return Crowd(what, build, cells, size, ((steps * epsilon, slack),), (low, high), **settings)


def _least(count, epsilon, delta):
    """A little less than the chance of `count` to come out, with Laplace noise or with whole noise."""
    laplace = math.exp(-epsilon * (_threshold(epsilon, delta) - count)) / 2
    beyond = 1 + math.exp(-epsilon)              # whole noise reaches t with probability e^(-εt) / beyond, so ...
    threshold = math.ceil(1 - math.log(delta * beyond) / epsilon)        # ... this is its threshold
    return 0.85 * min(laplace, math.exp(-epsilon * max(threshold - count, 0)) / beyond)


NEVER, ANY = (None, 0.0), (None, None)           # the least and the greatest share of categories that may come out
CROWDS = [
    _films(0, 1, 1.0, 0.05, published=(NEVER, (_least(1, 1.0, 0.05), None))),
    _films(1, 2, 1.0, 0.05),
    _films(8, 9, 0.5, 0.01, published=((_least(8, 0.5, 0.01), None), ANY)),          # the threshold lies between them
    _films(1000, 1003, 0.7, 1e-4, published=((0.999, None), (0.999, None)), within=1.69 / 0.7, share=0.75),
    *(_films(0, 1, **case, published=(NEVER, ANY)) for case in drawn(1, 11, epsilon=(0.3, 2.0), delta=(0.02, 0.04))),
    _films(0, 1, 2.0, 0.0677, published=(NEVER, ANY)),              # there whole noise passes more often
    _films(0, 1, 1.3, 1e-4, published=(NEVER, (None, 1e-4))),
    _films(300, 301, 6.0, 1e-3),
    _films(1000, 1030, 0.02, 1e-4, size=400, calls=20),
]


def _dict(what, one, two, epsilon, delta, **settings):
    keys = tuple(sorted({*one, *two}))
    steps = sum(abs(one.get(key, 0) - two.get(key, 0)) for key in keys)
    return Pair(what, (one, epsilon, delta), (two, epsilon, delta),
                ((steps * epsilon, steps * math.exp((steps - 1) * epsilon) * delta),),
                tuple([float(table.get(key, 0)) for key in keys] for table in (one, two)), **settings)


ONE = {"film d": 1003, "film b": 1001, "film f": 1000, "film a": 999, "film c": 998, "film e": 990}
TWO = {"film d": 1003, "film f": 1002, "film b": 1001, "film a": 999, "film c": 998, "film e": 990}
FOUR, MANY = dict.fromkeys("abcd", 40), dict.fromkeys([f"town {i}" for i in range(10, 34)], 40)
DICTS = [
    _dict("a dict in the order of its counts / film f has two more and is second", ONE, TWO, 0.5, 1e-4, runs=3000,
          twice=800),
    _dict("an empty dict / one category with one person", {}, {"film a": 1}, 1.0, 0.05, runs=3000),
    _dict("one category with 60 people / the same with 61", {"film a": 60}, {"film a": 61}, 1.0, 1e-3, runs=2000),
    _dict("four categories alike / the last has one more", FOUR, {**FOUR, "d": 41}, 0.9, 1e-3, runs=2000),
    _dict("one category with 4 people / the same with 5", {"film a": 4}, {"film a": 5}, 1.0, 0.01, runs=1000),
    _dict("24 categories alike / the last has one more", MANY, {**MANY, "town 33": 41}, 0.3, 1e-3, runs=400),
]


@checker
@looks_for("straddles", "far", "quotient", "rare", "own", contents="each person is in one category",
           fractions="counts of people are whole", negative="counts of people are not negative",
           missing="counts of people are whole", zero="counts near 0 do not come out")
def adp_threshold(release):
    """`release(counts, epsilon, delta, rng)`: category -> noisy count, for the categories whose noisy count passes."""
    seen = battery(release, lambda pair: Lines(tuple(sorted({*pair.one[0], *pair.two[0]}))), DICTS, crowds=CROWDS,
                   mistakes=RELEASES, seed=11)
    return f"a lone person comes out with probability δ; {seen}"


# --------------------------------------------------------------------------------------- the noise of a library, by one

NOISES = [(2.5, 20), (1.0, 1), (1.0, 5), (0.4, 3)]


def _honest(scale, threshold):
    return math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))


NOISE_MISTAKES = {
    "this is the library's number: it leaves out the noisy counts that equal the threshold, and those are published":
        lambda scale, threshold: _honest(scale, threshold + 1),
    "this is the tail of continuous Laplace noise": lambda scale, threshold: 0.5 * math.exp(-(threshold - 1) / scale),
    "this is both tails": lambda scale, threshold: 2 * _honest(scale, threshold),
}


@checker
def adp_off_by_one(honest_delta):
    """`honest_delta(scale, threshold)`: P(1 + discrete Laplace >= threshold), whole threshold >= 1."""
    on_cases(honest_delta, NOISES, _honest, NOISE_MISTAKES, what="delta", below="too small, a false promise",
             above="too large")
    return "the exact chance that a lone person's category comes out"


# ------------------------------------------------------------------------------------------------------ another epsilon

PROMISES = [(1.0, 1e-5, 1.0), (1.0, 1e-5, 3.0), (1.0, 0.01, 0.5), (0.5, 0.1, 0.0), (2.0, 0.0, 1.0)]


def _follows(epsilon, delta, at):
    """From the worst mechanism: a proof of D, a proof of D', and between them randomized response."""
    yes = (1 - delta) / (1 + math.exp(-epsilon))
    p, q = [delta, yes, 1 - delta - yes, 0], [0, 1 - delta - yes, yes, delta]
    return distributions.exact_delta(np.array(p), np.array(q), epsilon=at)


def _promised(got, right, epsilon, delta, at):
    if got > right:
        return f"it is safe, but less is enough: {right:.6g}"
    if at > epsilon:
        return (f"it does not follow: a mechanism that publishes everything with probability {delta:g} also keeps "
                "this promise, and at any smaller δ it has no finite ε. A Gaussian does better, but the pair (ε, "
                "δ) alone does not say which mechanism it is")
    return f"it does not follow: a mechanism that keeps the promise needs {right:.6g} there"


@checker
def adp_convert(convert):
    """`convert(epsilon, delta, at)`: smallest delta at `at` that follows from (epsilon, delta)-DP alone."""
    on_cases(convert, PROMISES, _follows, what="delta", otherwise=_promised)
    return "as much as follows, and a mechanism that attains it exists"
