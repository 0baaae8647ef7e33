"""Checkers of chapter 2: delta."""
import itertools
import math

import numpy as np
from scipy.special import ndtr, ndtri

from dplib import distributions, mechanisms
from provable_privacy.battery import Crowd, Lines, Pair, battery, drawn, read_lines
from provable_privacy.battery.forms import MISSING
from provable_privacy.speech import Wrong, answered, checker, number

__all__ = ["adp_convert", "adp_exact_delta", "adp_off_by_one", "adp_tail", "adp_threshold", "adp_witness"]


def _over_all_sets(p, q, epsilon):
    """Smallest delta by its definition: every set of outcomes, both directions."""
    sets = np.array(list(itertools.product((0, 1), repeat=len(p))))
    one, two = sets @ p, sets @ q
    return float(max((one - math.exp(epsilon) * two).max(), (two - math.exp(epsilon) * one).max()))


def _random_law(rng, size):
    law = rng.dirichlet(np.full(size, 0.7)) * (rng.random(size) < 0.8)
    return law / law.sum() if law.sum() > 0 else np.full(size, 1 / size)


def _mistaken_deltas(p, q, epsilon):
    """Message -> the number that a typical mistake gives."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        loss, common = np.log(p) - np.log(q), (p > 0) & (q > 0)
        return {
            "outcomes that are impossible in one world were left out; there no factor is enough, and delta must take all of their probability":
                max(np.maximum(a - math.exp(epsilon) * b, 0)[common].sum() for a, b in ((p, q), (q, p))),
            "this is the worst single outcome; the definition asks about sets of outcomes, and their slacks add up":
                max((p - math.exp(epsilon) * q).max(), (q - math.exp(epsilon) * p).max(), 0),
            "this is the chance that the loss exceeds epsilon; an outcome whose loss is just above epsilon needs hardly any slack":
                max(p[(p > 0) & (loss > epsilon)].sum(), q[(q > 0) & (-loss > epsilon)].sum()),
            "this is one direction only, D against D'; the other one is larger here": np.maximum(p - math.exp(epsilon) * q, 0).sum(),
            "this is one direction only, D' against D; the other one is larger here": np.maximum(q - math.exp(epsilon) * p, 0).sum(),
            "both directions are added; delta is the larger of the two":
                np.maximum(p - math.exp(epsilon) * q, 0).sum() + np.maximum(q - math.exp(epsilon) * p, 0).sum(),
            "outcomes with p below e^epsilon q were counted with a minus sign; the worst set leaves them out":
                max((p - math.exp(epsilon) * q).sum(), (q - math.exp(epsilon) * p).sum()),
            "this is the total variation distance, delta at epsilon = 0: epsilon was not used": np.maximum(p - q, 0).sum(),
        }


@checker
def adp_exact_delta(my_delta):
    """`my_delta(p, q, epsilon)`: smallest delta of two finite laws, both directions."""
    rng = np.random.default_rng(20)
    cases = [(_random_law(rng, size), _random_law(rng, size), epsilon) for size in (5, 2, 3, 8) for epsilon in (0.4, 0.0, 1.2) for _ in range(4)]
    cases += [(*(np.array(law) for law in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])), 0.3)]
    tags = np.repeat([1 / 6, 0.0], 6)
    for p, q, epsilon in cases:
        answer = answered(my_delta, p.copy(), q.copy(), epsilon)
        got, right = number(answer, "delta"), _over_all_sets(p, q, epsilon)
        if abs(got - right) < 1e-9:
            continue
        case = (f"p = {p.round(3).tolist()}, q = {q.round(3).tolist()}, epsilon = {epsilon:g}: "
                f"{got:.10g}, but the worst of all {2 ** len(p)} sets needs {right:.10g}")
        for message, value in _mistaken_deltas(p, q, epsilon).items():
            if abs(got - value) < 1e-9:
                raise Wrong(f"{case}; {message}")
        raise Wrong(case)
    if abs(number(answered(my_delta, tags.copy(), tags[::-1].copy(), 0.5), "delta") - 1) > 1e-9:
        raise Wrong("the random tag with 6 tags publishes the record: its delta is 1")
    return "the same as all sets of outcomes, on 49 pairs of laws, and 1 for the random tag"


P = np.array([0.10, 0.10, 0.10, 0.10, 0.10, 0.17, 0.17, 0.16])
Q = np.array([0.04, 0.04, 0.04, 0.04, 0.04, 0.26, 0.27, 0.27])
CLAIM = math.log(2), 0.03                        # epsilon, delta: true for each single outcome, in both directions


@checker
def adp_witness(outcomes):
    """`outcomes`: the set of outcome numbers on which the claim (ln 2, 0.03) fails by most."""
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
    epsilon, delta = CLAIM
    one, two = P[chosen].sum(), Q[chosen].sum()
    need, best = max(one - math.exp(epsilon) * two, two - math.exp(epsilon) * one), _over_all_sets(P, Q, epsilon)
    if need <= delta + 1e-12:
        raise Wrong(f"P(S) = {one:.2f} and Q(S) = {two:.2f}: this set needs a delta of {max(need, 0):.2f}, which the claim allows")
    if need < best - 1e-9:
        raise Wrong(f"this set needs {need:.2f} and so refutes the claim; another one needs more. Take every outcome that adds something")
    return f"P(S) = {one:.1f}, Q(S) = {two:.1f}: delta is {best:.1f} and not {delta:g}"


def _tail(sigma, epsilon):
    """P(L > epsilon) of Gaussian noise sigma at sensitivity 1: L is normal with mean 1/(2 sigma^2) and variance 1/sigma^2."""
    return float(ndtr(-(epsilon - 0.5 / sigma**2) * sigma))


@checker
def adp_tail(tail_sigma):
    """`tail_sigma(epsilon, delta)`: smallest sigma with P(L > epsilon) <= delta, sensitivity 1."""
    for epsilon, delta in ((0.3, 1e-6), (1.0, 1e-5), (3.0, 0.01)):
        answer = answered(tail_sigma, epsilon, delta)
        got, z = number(answer, "sigma"), -float(ndtri(delta))
        if got <= 0:
            raise Wrong(f"sigma must be positive, got {got:g}")
        right = (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)
        case = f"epsilon = {epsilon:g}, delta = {delta:g}: with sigma = {got:.4f} the loss exceeds epsilon with probability {_tail(got, epsilon):.3g}"
        if abs(got / right - 1) < 1e-4:
            continue
        if abs(got / mechanisms.gaussian_sigma(epsilon, delta=delta) - 1) < 1e-4:
            raise Wrong(f"{case}; this sigma is the one that suffices for (epsilon, delta), and it is smaller: the two are not the same question")
        if abs(got / (z / epsilon) - 1) < 1e-4:
            raise Wrong(f"{case}; the loss is not centred at 0, its mean is 1/(2 sigma^2)")
        if abs(got / (math.sqrt(2 * math.log(1.25 / delta)) / epsilon) - 1) < 1e-4:
            raise Wrong(f"{case}; the classic formula is a bound, and the law of the loss is known exactly")
        if got < right:
            raise Wrong(f"{case}, too often: more noise is needed")
        raise Wrong(f"{case}: safe, but less noise will do")
    return "the loss stays below ε with probability 1 - δ, and with no more noise than that takes"


def _threshold(epsilon, delta):
    return 1 + math.log(0.5 / delta) / epsilon


def _releasing(scale=1.0, threshold=_threshold, *, exact=False, again=False, shared=None, zeros=False, sure=False):
    """Thresholded release, right unless told otherwise."""
    def release(counts, epsilon, delta, rng):
        keys, values = list(counts), np.array(list(counts.values()), dtype=float)
        noise = rng.laplace(scale=scale / epsilon, size=len(values))
        if shared is not None:
            noise = shared(noise)
        passed = np.maximum(values, values + noise) if sure else values if exact else values + noise
        passed = passed >= threshold(epsilon, delta)
        shown = values + (rng.laplace(scale=scale / epsilon, size=len(values)) if again else noise)
        return {key: value if ok else 0.0 for key, value, ok in sorted(zip(keys, shown, passed)) if ok or zeros}

    return release


RELEASES = {
    "the threshold is ln(1/2δ)/ε, which lets a count of 0 pass with probability δ; but the last person makes the count 1":
        _releasing(threshold=lambda e, d: math.log(0.5 / d) / e),
    "the threshold is above 1 + ln(1/2δ)/ε, as 1 + ln(1/δ)/ε is (what a Laplace variable exceeds with probability δ/2 only): private, but categories are "
    "lost for nothing":
        _releasing(threshold=lambda e, d: 1 + math.log(1 / d) / e),
    "delta is divided by the number of categories: private, but a person is in one category only, and the others are lost for nothing":
        lambda counts, e, d, rng: _releasing()(counts, e, d / max(len(counts), 1), rng),
    "the noise has half the scale it needs": _releasing(0.5),
    "the noise has twice the scale it needs": _releasing(2.0),
    "noise of half the scale, and the threshold that goes with it: epsilon is twice what was promised":
        _releasing(0.5, lambda e, d: 1 + math.log(0.5 / d) / e / 2),
    "noise of twice the scale, and the threshold that goes with it: private, but one person moves one count by 1 only":
        _releasing(2.0, lambda e, d: 1 + 2 * math.log(0.5 / d) / e),
    "nothing is held back: a category with one person in it is always there, and delta is 1": _releasing(threshold=lambda e, d: -math.inf),
    "a category that does not pass is printed with a 0: that it is printed at all betrays a lone person; leave it out": _releasing(zeros=True),
    "every positive noisy count is published: a lone person's category comes out most of the time": _releasing(threshold=lambda e, d: 0.0),
    "a lone person's category hardly ever comes out, as where the exact count is compared with the threshold: a noisy 1 has to pass with probability delta":
        _releasing(exact=True),
    "a category whose exact count passes always comes out: whether it does, only the noisy count may decide": _releasing(sure=True),
    "a second noise was drawn for the number that is published: a second release, at an epsilon of its own": _releasing(again=True),
    "the published counts are exact; publish the noisy count that was compared": _releasing(0.0),
    "one noise for all categories: two of them betray their difference": _releasing(shared=lambda noise: np.broadcast_to(noise[:1], noise.shape)),
}

SIZE = 20_000
FILMS = tuple(f"film {i}" for i in range(SIZE))


def _films(low, high, epsilon, delta, **settings):
    """Categories of `low` people or of `high`, each by its own coin; one of 0 is not in the table."""
    def build(coins):
        return {film: (high if coin else low) for film, coin in zip(FILMS, coins) if coin or low}, epsilon, delta

    def cells(got, coins):
        values, _ = read_lines(got, FILMS)
        return np.where(values < MISSING / 2, np.nan, values)

    what, steps = f"category of {low}, δ = {delta:g} / category of {high}, δ = {delta:g}", high - low
    slack = delta * sum(math.exp(epsilon * i) for i in range(steps))          # what delta becomes after so many steps
    return Crowd(what, build, cells, SIZE, ((steps * epsilon, slack),), (low, high), **settings)


def _least(count, epsilon, delta):
    """A little less than the chance with which `count` comes out of the release with Laplace noise, or with whole noise and its own threshold."""
    b = 1 / epsilon
    whole = 1 + b * (math.log(1 / delta) - math.log1p(math.exp(-epsilon)))     # e^(-(t - 1)/b) / (1 + e^(-1/b)) = delta
    laplace = math.exp(-(_threshold(epsilon, delta) - count) / b) / 2
    rest = math.exp(-max(math.ceil(whole) - count, 0) / b) / (1 + math.exp(-epsilon))
    return 0.85 * min(laplace, rest)


CROWDS = [
    _films(0, 1, 1.0, 0.05, published=((None, 0.0), (_least(1, 1.0, 0.05), None))),
    _films(1, 2, 1.0, 0.05),
    _films(8, 9, 0.5, 0.01, published=((_least(8, 0.5, 0.01), None), (None, None))),       # the threshold lies between them
    _films(1000, 1003, 0.7, 1e-4, published=((0.999, None), (0.999, None)), within=1.69 / 0.7, share=0.75),
] + [_films(0, 1, case["epsilon"], case["delta"], published=((None, 0.0), (None, None)))
     for case in [*drawn(1, 11, epsilon=(0.3, 2.0), delta=(0.02, 0.04)), {"epsilon": 2.0, "delta": 0.0677}]]    # there whole noise passes more often


def _dict(what, one, two, epsilon, delta, **settings):
    keys = tuple(sorted({*one, *two}))
    steps = sum(abs(one.get(key, 0) - two.get(key, 0)) for key in keys)
    return Pair(what, (dict(one), epsilon, delta), (dict(two), epsilon, delta), ((steps * epsilon, steps * math.exp((steps - 1) * epsilon) * delta),),
                tuple([float(table.get(key, 0)) for key in keys] for table in (one, two)), **settings)


ONE = {"film d": 1003, "film b": 1001, "film f": 1000, "film a": 999, "film c": 998, "film e": 990}    # as most_common() writes it
TWO = {"film d": 1003, "film f": 1002, "film b": 1001, "film a": 999, "film c": 998, "film e": 990}
DICTS = [
    _dict("a dict in the order of its counts / film f has two more and is second", ONE, TWO, 0.5, 1e-4, runs=3000, twice=800),
    _dict("an empty dict / one category with one person", {}, {"film a": 1}, 1.0, 0.05, runs=3000),
    _dict("one category with 60 people / the same with 61", {"film a": 60}, {"film a": 61}, 1.0, 1e-3, runs=2000),
    _dict("four categories alike / the last has one more", dict.fromkeys("abcd", 40), {**dict.fromkeys("abcd", 40), "d": 41}, 0.9, 1e-3, runs=2000),
]


@checker
def adp_threshold(release):
    """`release(counts, epsilon, delta, rng)`: category -> noisy count, for the categories whose noisy count passes."""
    seen = battery(release, lambda pair: Lines(tuple(sorted({*pair.one[0], *pair.two[0]}))), DICTS, crowds=CROWDS, mistakes=RELEASES, seed=11)
    return f"a lone person comes out with probability δ; {seen}"


@checker
def adp_off_by_one(honest_delta):
    """`honest_delta(scale, threshold)`: P(1 + discrete Laplace >= threshold), whole threshold >= 1."""
    for scale, threshold in ((2.5, 20), (1.0, 1), (1.0, 5), (0.4, 3)):
        answer = answered(honest_delta, scale, threshold)
        got, ratio = number(answer, "delta"), math.exp(-1 / scale)
        right = ratio ** (threshold - 1) / (1 + ratio)
        if abs(got / right - 1) < 1e-6:
            continue
        case = f"scale {scale:g}, threshold {threshold}: {got:.6g}, but a noisy 1 is published with probability {right:.6g}"
        rivals = {
            "this is the library's number: it leaves out the noisy counts that equal the threshold, and those are published": right * ratio,
            "this is the tail of continuous Laplace noise": 0.5 * ratio ** (threshold - 1),
            "this is both tails": 2 * right,
        }
        for message, value in rivals.items():
            if abs(got / value - 1) < 1e-6:
                raise Wrong(f"{case}; {message}")
        raise Wrong(f"{case}; {'too small, a false promise' if got < right else 'too large'}")
    return "the exact chance that a lone person's category comes out"


def _worst_law(epsilon, delta):
    """Four outcomes: a proof of D, a proof of D', and between them randomized response."""
    yes = (1 - delta) / (1 + math.exp(-epsilon))
    return np.array([delta, yes, 1 - delta - yes, 0]), np.array([0, 1 - delta - yes, yes, delta])


@checker
def adp_convert(convert):
    """`convert(epsilon, delta, at)`: smallest delta at `at` that follows from (epsilon, delta)-DP alone."""
    for epsilon, delta, at in ((1.0, 1e-5, 1.0), (1.0, 1e-5, 3.0), (1.0, 0.01, 0.5), (0.5, 0.1, 0.0), (2.0, 0.0, 1.0)):
        answer = answered(convert, epsilon, delta, at)
        got, right = number(answer, "delta"), distributions.exact_delta(*_worst_law(epsilon, delta), epsilon=at)
        if abs(got - right) < 1e-9 * max(1, 1 / max(right, 1e-3)) and (right == 0 or abs(got / right - 1) < 1e-6):
            continue
        case = f"from ({epsilon:g}, {delta:g}) to epsilon = {at:g}: {got:.6g}"
        if got < right and at > epsilon:
            raise Wrong(f"{case} does not follow: a catastrophe with probability {delta:g} keeps the promise and never improves. "
                        "A Gaussian does better, but the pair alone does not say that it is one")
        if got < right:
            raise Wrong(f"{case} does not follow: a mechanism that keeps the promise needs {right:.6g} there")
        raise Wrong(f"{case} is safe, but less is enough: {right:.6g}")
    return "as much as follows, and a mechanism that attains it exists"
