"""Checkers of chapter 2: delta."""
import itertools
import math

import numpy as np
from scipy.special import ndtr, ndtri

from dplib import distributions, mechanisms
from dplib.svt import log_laplace_cdf
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker, number

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
        loss = np.log(p) - np.log(q)
        return {
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
    rng = np.random.default_rng(5)
    cases = [(*(np.array(law) for law in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])), 0.3)]
    cases += [(_random_law(rng, size), _random_law(rng, size), epsilon) for size in (2, 3, 5, 8) for epsilon in (0.0, 0.4, 1.2) for _ in range(4)]
    tags = np.repeat([1 / 12, 0.0], 12)
    for p, q, epsilon in cases:
        answer = ask(my_delta, p.copy(), q.copy(), epsilon)
        if answer is None:
            raise NotAttempted
        got, right = number(answer, "delta"), _over_all_sets(p, q, epsilon)
        if abs(got - right) < 1e-9:
            continue
        case = (f"p = {p.round(3).tolist()}, q = {q.round(3).tolist()}, epsilon = {epsilon:g}: "
                f"{got:.6f}, but the worst of all {2 ** len(p)} sets needs {right:.6f}")
        for message, value in _mistaken_deltas(p, q, epsilon).items():
            if abs(got - value) < 1e-9:
                raise Wrong(f"{case}; {message}")
        raise Wrong(case)
    if abs(number(ask(my_delta, tags.copy(), tags[::-1].copy(), 0.5), "delta") - 1) > 1e-9:
        raise Wrong("the random tag with 12 tags publishes the record: its delta is 1")
    return "the same as all sets of outcomes, on 49 pairs of laws, and 1 for the random tag"


P = np.array([0.10, 0.10, 0.10, 0.10, 0.10, 0.17, 0.17, 0.16])
Q = np.array([0.04, 0.04, 0.04, 0.04, 0.04, 0.26, 0.27, 0.27])
CLAIM = math.log(2), 0.03                        # epsilon, delta: true for each single outcome, in both directions


@checker
def adp_witness(outcomes):
    """`outcomes`: the set of outcome numbers on which the claim (ln 2, 0.03) fails by most."""
    try:
        if len(outcomes) == len(P) and all(isinstance(i, (bool, np.bool_)) for i in outcomes):
            outcomes = np.flatnonzero(list(outcomes))        # a mask, as in P > 2 * Q
        chosen = sorted({int(i) for i in outcomes if int(i) == i})
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
    for epsilon, delta in ((1.0, 1e-5), (0.3, 1e-6), (3.0, 0.01)):
        answer = ask(tail_sigma, epsilon, delta)
        if answer is None:
            raise NotAttempted
        got, z = number(answer, "sigma"), -float(ndtri(delta))
        if got <= 0:
            raise Wrong(f"sigma must be positive, got {got:g}")
        right = (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)
        case = f"epsilon = {epsilon:g}, delta = {delta:g}: with sigma = {got:.4f} the loss exceeds epsilon with probability {_tail(got, epsilon):.3g}"
        if abs(got / right - 1) < 1e-4:
            continue
        if abs(got / mechanisms.gaussian_sigma(epsilon, delta) - 1) < 1e-4:
            raise Wrong(f"{case}; this sigma is the one that suffices for (epsilon, delta), and it is smaller: the two are not the same question")
        if abs(got / (z / epsilon) - 1) < 1e-4:
            raise Wrong(f"{case}; the loss is not centred at 0, its mean is 1/(2 sigma^2)")
        if abs(got / (math.sqrt(2 * math.log(1.25 / delta)) / epsilon) - 1) < 1e-4:
            raise Wrong(f"{case}; the classic formula is a bound, and the law of the loss is known exactly")
        if got < right:
            raise Wrong(f"{case}, too often: more noise is needed")
        raise Wrong(f"{case}: safe, but less noise will do")
    return "the loss stays below ε with probability 1 - δ, and with no more noise than that takes"


def _laplace_cdf(x):
    return np.exp(log_laplace_cdf(np.asarray(x, dtype=float)))


def _release_law(count, scale, threshold, edges):
    """Law of: not published, or published with a noisy count from one edge to the next; a noisy count below `threshold` is held back."""
    inside = np.diff(_laplace_cdf((np.maximum(edges, threshold) - count) / scale))
    return np.append(1 - inside.sum(), inside)


CATEGORIES = 30_000


@checker
def adp_threshold(release):
    """`release(counts, epsilon, delta, rng)`: category -> noisy count, for the categories whose noisy count passes."""
    rng = np.random.default_rng(11)
    for epsilon, delta, count in ((1.0, 0.05, 1), (1.0, 0.05, 4), (0.5, 0.01, 1), (0.5, 0.01, 9)):
        got = ask(release, {f"film {i}": count for i in range(CATEGORIES)}, epsilon, delta, rng)
        if got is None:
            raise NotAttempted
        if not isinstance(got, dict):
            raise Wrong(f"expected a dict of category and noisy count, got {type(got).__name__}")
        if not all(isinstance(key, str) and key.startswith("film ") for key in got):
            raise Wrong("a category came out that is not in the data")
        values = np.array([float(value) for value in got.values()])
        case = f"epsilon = {epsilon:g}, delta = {delta:g}, {CATEGORIES:,} categories of {count}"
        if not np.isfinite(values).all():
            raise Wrong(f"{case}: a noisy count is not a finite number")
        if len(values) and not np.allclose(values, count) and np.all(values == np.round(values)):
            raise Wrong(f"{case}: all published counts are whole numbers; here Laplace noise is asked for, and the noisy count as it is "
                        "(integer noise can be private too, with a threshold of its own)")
        if len(values) and np.allclose(values, count):
            raise Wrong(f"{case}: the published counts are exact; publish the noisy count that was compared")
        if len(np.unique(np.round(np.abs(values - count), 9))) < 0.9 * len(values) and np.any(values != np.round(values)):
            raise Wrong(f"{case}: the same noise comes again and again; each category needs a noise of its own, or two of them betray their difference")
        b, tail = 1 / epsilon, math.log(0.5 / delta) / epsilon
        threshold = 1 + tail
        edges = np.append(-np.inf, np.append(threshold + b * np.array([0, 0.3, 0.7, 1.2, 2.0]), np.inf))
        places = np.searchsorted(edges, values + 1e-9, side="right")
        counts = np.bincount(places, minlength=len(edges))
        counts[0] = CATEGORIES - len(values)
        law = _release_law(count, b, threshold, edges)
        kinds = {
            "the threshold is ln(1/2δ)/ε, which lets a count of 0 pass with probability δ; but the last person makes the count 1": (b, tail),
            "the threshold is 1 + ln(1/δ)/ε: private, but a Laplace variable exceeds ln(1/δ)/ε with probability δ/2 only, and categories are "
            "lost for nothing": (b, 1 + math.log(1 / delta) / epsilon),
            "the noise has half the scale it needs": (b / 2, threshold),
            "the noise has twice the scale it needs": (2 * b, threshold),
            "noise of half the scale, and the threshold that goes with it: epsilon is twice what was promised": (b / 2, 1 + tail / 2),
            "noise of twice the scale, and the threshold that goes with it: private, but one person moves one count by 1 only": (2 * b, 1 + 2 * tail),
            "nothing is held back: a category with one person in it is always there, and delta is 1": (b, -math.inf),
            "every positive noisy count is published: a lone person's category comes out most of the time": (b, 0.0),
        }
        rivals = {f"{case}: {message}": _release_law(count, *kind, edges) for message, kind in kinds.items()}
        passes, again = 1 - law[0], np.diff(_laplace_cdf((edges - count) / b))
        rivals[f"{case}: a second noise was drawn for the number that is published: a second release, at an epsilon of its own"] = (
            np.append(1 - passes, passes * again))
        alone = "nothing is published, as if the exact count was compared with the threshold: a noisy 1 has to pass with probability delta"
        rivals[f"{case}: {alone}" if count < threshold else f"{case}: the exact count was compared with the threshold"] = (
            np.append(1.0, np.zeros(len(edges) - 1)) if count < threshold else np.append(0.0, again))
        compare(counts, law, rivals, lambda i, case=case, edges=edges: (
            f"{case}: {'not published' if i == 0 else f'a noisy count from {edges[i - 1]:.2f} to {edges[i]:.2f}'}"))
    many = {f"film {i}": 1000 for i in range(50)}
    if ask(release, dict(many), 1.0, 0.05, rng) == ask(release, dict(many), 1.0, 0.05, rng):
        raise Wrong("two releases have the same noise: draw it from rng, or whoever sees both learns exact differences")
    shuffled = {f"film {i}": 1000 + 7 * int(i) % 50 for i in rng.permutation(50)}
    came, by_count = list(ask(release, dict(shuffled), 0.1, 0.05, rng)), sorted(shuffled, key=shuffled.get)
    if came in (by_count, by_count[::-1]):
        raise Wrong("the categories come out in the order of their exact counts, and no noise protects that order: "
                    "sort them by name or by noisy count")
    return "a lone person comes out with probability δ, and the noise is what ε asks (chi-square, 120,000 categories)"


@checker
def adp_off_by_one(honest_delta):
    """`honest_delta(scale, threshold)`: P(1 + discrete Laplace >= threshold), whole threshold >= 1."""
    for scale, threshold in ((1.0, 5), (1.0, 1), (2.5, 20), (0.4, 3)):
        answer = ask(honest_delta, scale, threshold)
        if answer is None:
            raise NotAttempted
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
        answer = ask(convert, epsilon, delta, at)
        if answer is None:
            raise NotAttempted
        got, right = number(answer, "delta"), distributions.exact_delta(*_worst_law(epsilon, delta), at)
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
