"""Checkers of chapter 6: Gaussian differential privacy."""
import math

import numpy as np
from scipy.special import ndtr, ndtri

from dplib import fdp
from provable_privacy.speech import Wrong, answered, ask, checker, compare_number, number, numbers

__all__ = ["gdp_envelope", "gdp_group", "gdp_honest", "gdp_profile", "gdp_trap"]


def _bell(alpha, mu):
    return ndtr(-ndtri(alpha) - mu)


# ------------------------------------------------------------------------------------------------------- the profile of mu

PROFILE = ((2.0, 0.3), (1.0, 1.0), (0.5, 0.0), (0.5, 1.0), (0.25, 2.0), (6.0, 20.0), (37.0, 684.5), (40.0, 800.0), (40.0, 1000.0), (0.1, 0.0), (1.0, 30.0))


@checker
def gdp_profile(my_delta):
    """`my_delta(mu, epsilon)`: delta of mu-GDP at epsilon."""
    for mu, epsilon in PROFILE:
        case, right = f"μ = {mu:g}, ε = {epsilon:g}", float(fdp.gaussian(mu).delta(epsilon))
        got = answered(my_delta, mu, epsilon)
        if isinstance(got, (float, np.floating)) and not math.isfinite(got):
            raise Wrong(f"{case}: your δ is {got}, the true one {right:.4f}; e^ε has overflowed, or its partner vanished: subtract logarithms")
        compare_number(got, right, case, lambda got, mu=mu, epsilon=epsilon, right=right: _profile_said(got, mu, epsilon, right), tolerance=0.0, relative=1e-6)
    return "six digits from δ = 5e-193 to 0.63, overflow or not"


def _profile_said(got, mu, epsilon, right):
    plus, minus = ndtr(mu / 2 - epsilon / mu), ndtr(-mu / 2 - epsilon / mu)
    with np.errstate(all="ignore"):
        rivals = {
            "the second term is lost: e^ε is beyond a float, or its partner below; subtract logarithms": plus if minus == 0 else math.nan,
            "the two terms are added: they are P(S) and e^ε Q(S), and δ is their difference": plus + np.exp(epsilon) * minus,
            "a sign is wrong within Φ: ε/μ is taken away in both terms, μ/2 is added in the first one only": (
                ndtr(mu / 2 + epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 + epsilon / mu)),
            "e^ε is missing before the second term": plus - minus,
            "this is the probability that the loss exceeds ε, without what is subtracted": plus,
            "it is ε/μ, not εμ": ndtr(mu / 2 - epsilon * mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon * mu),
            "this is the formula in σ with μ in its place; μ is one over σ": float(fdp.gaussian(1 / mu).delta(epsilon)),
            "the terms are the wrong way round": np.exp(epsilon) * minus - plus,
        }
    said = f"{got:.6g}, but δ is {right:.6g}"
    for message, value in rivals.items():
        if math.isfinite(value) and value and abs(got - value) <= 1e-6 * abs(value) and abs(value - right) > 1e-6 * right:
            return f"{said}; {message}"
    return f"{said}: yours promises too much" if got < right else f"{said}: safe, but the formula is exact"


# ------------------------------------------------------------------------------------------------------- lines under a curve

def _highest(pairs, alpha):
    return np.max([np.zeros_like(alpha), *(fdp.approx(epsilon, delta=delta)(alpha) for epsilon, delta in pairs)], axis=0)


def _reports():
    """(name, pairs): lists that a report could hold, long and short, sorted or not."""
    rng = np.random.default_rng(8)
    bell, other = fdp.gaussian(1.0), fdp.laplace(1.5)
    yield "20 pairs of μ = 1", [(e, float(bell.delta(e))) for e in np.linspace(0, 5, 20)]
    yield "one pair", [(1.0, float(bell.delta(1.0)))]
    yield "the pair (1, 0)", [(1.0, 0.0)]
    yield "the pairs (0.5, 0.2) and (2, 0.05)", [(0.5, 0.2), (2.0, 0.05)]
    yield "7 pairs of Laplace noise, shuffled", [(e, float(other.delta(e))) for e in rng.permutation(np.linspace(0, 1.5, 7))]
    yield "a pair with a useless one beside it", [(0.3, 0.1), (0.4, 0.9)]
    yield "the pair (0, 0.3)", [(0.0, 0.3)]


@checker
def gdp_envelope(rebuild):
    """`rebuild(pairs, alpha)`: largest type II errors that follow from all pairs."""
    for name, pairs in _reports():
        for alpha in (np.linspace(0, 1, 401), np.array([0.9, 0.2]), np.array([(1 - d) / (1 + math.exp(e)) for e, d in pairs])):      # corners
            answer = answered(rebuild, list(pairs), alpha.copy())
            got, right = numbers(answer, alpha.shape, f"{name}, type II errors"), _highest(pairs, alpha)
            if np.abs(got - right).max() < 1e-9:
                continue
            false = np.any(got > right + 1e-9)       # then say so where it is
            i = int(np.argmax(got - right if false else right - got))
            case = f"{name}, at α = {alpha[i]:.4g}: yours is {got[i]:.4g}, but {right[i]:.4g} follows"
            up = np.max([1 - d - np.exp(e) * alpha for e, d in pairs], axis=0)
            across = np.max([np.exp(-e) * (1 - d - alpha) for e, d in pairs], axis=0)
            low = np.min([fdp.approx(e, delta=d)(alpha) for e, d in pairs], axis=0)
            rivals = {
                "errors are not negative: 0 is a line too": np.maximum(up, across),
                "only the steep line of each pair is used; the pairs hold in both orders, which gives a flat line as well": np.maximum(up, 0),
                "only the steep line of each pair is used, and errors are not negative": up,
                "only the flat line of each pair is used": np.maximum(across, 0),
                "this is the lowest of the curves; all pairs hold, so the highest counts": low,
            }
            if len(pairs) > 1 or pairs[0][0] > 0:
                for message, value in rivals.items():
                    if np.abs(got - value).max() < 1e-9:
                        raise Wrong(f"{case}; {message}")
            if false:
                raise Wrong(f"{case}: a mechanism that keeps all pairs does worse than your promise (joined points, an average, or a guess at the rest?)")
            raise Wrong(f"{case}: safe, but more follows")
    return "exactly what follows, on seven lists of pairs"


# ---------------------------------------------------------------------------------------------------- a pair is not a curve

def _laws(answer, case):
    try:
        p, q = (np.asarray(law, dtype=float) for law in answer)
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected two lists of probabilities, p and q") from None
    for law in (p, q):
        if law.ndim != 1 or law.shape != p.shape or law.size == 0:
            raise Wrong(f"{case}: p and q must be lists of the same length, got the shapes {p.shape} and {q.shape}")
        if not (np.all(law >= -1e-12) and abs(law.sum() - 1) < 1e-9):
            raise Wrong(f"{case}: not a list of probabilities: they sum to {law.sum():.6g}, the smallest is {law.min():.3g}")
    return [np.maximum(law, 0) / np.maximum(law, 0).sum() for law in (p, q)]


@checker
def gdp_trap(trap):
    """`trap(mu, epsilon)`: laws p, q with the delta of mu at epsilon, in both directions, that are not mu-GDP."""
    for mu, epsilon in ((1.0, 1.0), (0.5, 0.3), (2.0, 3.0), (1.0, 0.0)):
        answer = answered(trap, mu, epsilon)
        case = f"μ = {mu:g}, ε = {epsilon:g}"
        p, q = _laws(answer, case)
        allowed = float(fdp.gaussian(mu).delta(epsilon))
        for name, one, two in (("on D' against D", p, q), ("on D against D'", q, p)):
            need = float(np.maximum(two - math.exp(epsilon) * one, 0).sum())
            if need > allowed * (1 + 1e-9) + 1e-12:
                raise Wrong(f"{case}: {name} your laws need δ = {need:.4g}, the measurement would show more than {allowed:.4g}")
        below = max(_below(p, q, mu), _below(q, p, mu))
        if below < 1e-10:
            raise Wrong(f"{case}: the pair holds, but so does μ-GDP: your curve never falls below G_μ")
    return "the pair is right, and μ-GDP is false"


def _below(p, q, mu):
    """How far the curve T(p, q) falls below that of mu."""
    alpha = np.append(np.linspace(0, 1, 2001), np.logspace(-12, -3, 200))
    return float(np.max(_bell(alpha, mu) - fdp.finite(p, q)(alpha)))


# -------------------------------------------------------------------------------------------------------------- a group

@checker
def gdp_group(group_curve):
    """`group_curve(f, k)`: a function of alpha, the curve for groups of k."""
    alpha = np.array([0.0, 1 / 729, 0.0519, 0.2, 0.5, 0.9, 1.0])            # the second on no grid of decimals
    bent = fdp.finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]).symmetrize()
    for name, f, k in (("G_0.5", fdp.gaussian(0.5), 4), ("G_0.5", fdp.gaussian(0.5), 1), ("G_0.3", fdp.gaussian(0.3), 7),
                       ("randomized response at ε = 0.4", fdp.approx(0.4), 3), ("(0.2, 0.05)-DP", fdp.approx(0.2, delta=0.05), 5),
                       ("a curve of four lines", bent, 3)):
        curve = answered(group_curve, lambda x, f=f: f(np.clip(x, 0, 1)), k)
        if not callable(curve):
            raise Wrong(f"group_curve must return a function of α, got {type(curve).__name__}")
        case = f"{name}, groups of {k}"
        got, one = (numbers(ask(curve, x.copy() if x.ndim else float(x)), x.shape, f"{case}, type II errors") for x in (alpha, np.array(0.2)))
        power = alpha
        for _ in range(k):
            power = 1 - f(power)
        right = 1 - power
        if abs(one - got[3]) > 1e-9:
            raise Wrong(f"{case}: a single α and an array of them give different curves")
        if np.abs(got - right).max() < 1e-9:
            continue
        false = np.any(got > right + 1e-9)           # then say so where it is
        i = int(np.argmax(got - right if false else right - got))
        said = f"{case}, at α = {alpha[i]:g}: yours is {got[i]:.8g}, but {right[i]:.8g} follows"
        iterated, extra = alpha, alpha
        for _ in range(k):
            iterated = f(np.clip(iterated, 0, 1))
        for _ in range(k + 1):
            extra = 1 - f(np.clip(extra, 0, 1))
        rivals = {
            "f itself is iterated; it is the power 1 - f that goes from one data set to the next": iterated,
            "this is the power; the type II error is what is missing to 1": power,
            "this is a power of a number, (1 - f)^k; the function is applied k times": 1 - (1 - f(alpha)) ** k,
            "the losses of k people were added up as k errors; the power goes through 1 - f once for each of them": np.maximum(0, 1 - k * (1 - f(alpha))),
            "one step too many": 1 - extra,
            "this is f itself: nothing was done for the group": f(alpha),
            "this is f to the power k": f(alpha) ** k,
            "the curve of √k: that is the rule for k releases about one person, a group moves by k": _bell(alpha, 0.5 * math.sqrt(k)),
        }
        for message, value in rivals.items():
            if np.abs(got - value).max() < 1e-9:
                raise Wrong(f"{said}; {message}")
        raise Wrong(f"{said}{': your promise is false' if false else ': safe, but more follows'}")
    return "as iterated step by step, on six curves"


# ------------------------------------------------------------------------------------------------------------ the mu of an epsilon

@checker
def gdp_honest(honest_mu):
    """`honest_mu(epsilon)`: smallest mu such that epsilon-DP implies mu-GDP."""
    for epsilon in (2.0, 1.0, 0.1, 5.0, 12.0):
        answer = answered(honest_mu, epsilon)
        corner = 1 / (1 + math.exp(epsilon))
        got, right = number(answer, f"ε = {epsilon:g}"), -2 * float(ndtri(corner))

        def why(got, epsilon=epsilon, corner=corner, right=right):
            case = (f"with μ = {got:.4f} the bells promise a type II error of {_bell(corner, got):.4f} at α = {corner:.4f}, "
                    f"where randomized response has {corner:.4f}")
            if abs(got / epsilon - 1) < 1e-6:
                return f"{case}; this is the library's number: zCDP does not imply GDP"
            if got < right:
                return f"{case}; the promise is false"
            if abs(got / (epsilon * math.sqrt(math.pi / 2)) - 1) < 1e-6:
                return f"{case}; √(π/2) ε is the limit for small ε; the exact μ is smaller"
            return f"{case}; true, but a smaller μ will do"

        compare_number(got, right, f"ε = {epsilon:g}", why, tolerance=0.0, relative=1e-6)
    return "the bells touch the corner of randomized response"
