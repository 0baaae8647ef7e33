"""Checkers of chapter 6: Gaussian differential privacy."""
import functools
import math

import numpy as np
from scipy.special import ndtr, ndtri

from dplib import fdp
from provable_privacy.formulas import on_cases, rounded
from provable_privacy.speech import Wrong, answered, checker

__all__ = ["gdp_envelope", "gdp_group", "gdp_honest", "gdp_profile", "gdp_trap"]


def _bell(alpha, mu):
    return ndtr(-ndtri(alpha) - mu)


def _where(got, right, alpha):
    """In words: where a curve is farthest from the right one, or where it promises too much."""
    i = int(np.argmax(got - right if np.any(got > right + 1e-9) else right - got))
    got, right, alpha = (np.atleast_1d(curve)[i] for curve in (got, right, alpha))
    return f"at α = {alpha:.4g} yours is {got:.8g}, but {right:.8g} follows"


# --------------------------------------------------------------------------------------- the profile of mu

PROFILE = [  # mu, epsilon
    (2.0, 0.3),
    (1.0, 1.0),
    (0.5, 0.0),
    (0.5, 1.0),
    (0.25, 2.0),
    (6.0, 20.0),
    (37.0, 684.5),
    (40.0, 800.0),
    (40.0, 1000.0),
    (0.1, 0.0),
    (1.0, 30.0),
]


def _delta(mu, epsilon):
    return float(fdp.gaussian(mu).delta(epsilon))


def _of_tails(combine):
    """`combine(plus, minus, e)` of the two values of Φ in the formula and e^ε."""
    return lambda mu, epsilon: combine(ndtr(mu / 2 - epsilon / mu), ndtr(-mu / 2 - epsilon / mu), np.exp(epsilon))


PROFILE_MISTAKES = {
    "e^ε has overflowed, or its partner vanished: subtract logarithms": lambda mu, epsilon: math.inf,
    "the second term is lost: e^ε is beyond a float, or its partner below; subtract logarithms":
        _of_tails(lambda plus, minus, e: plus if minus == 0 else math.nan),
    "the two terms are added: they are P(S) and e^ε Q(S), and δ is their difference":
        _of_tails(lambda plus, minus, e: plus + e * minus),
    "a sign is wrong within Φ: ε/μ is subtracted in both terms, and μ/2 is added in the first term only":
        lambda mu, epsilon: ndtr(mu / 2 + epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 + epsilon / mu),
    "e^ε is missing before the second term": _of_tails(lambda plus, minus, e: plus - minus),
    "this is the probability that the loss exceeds ε; the second term must be subtracted":
        _of_tails(lambda plus, minus, e: plus),
    "it is ε/μ, not εμ":
        lambda mu, epsilon: ndtr(mu / 2 - epsilon * mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon * mu),
    "this is the formula in σ with μ in its place; μ is one over σ":
        lambda mu, epsilon: _delta(1 / mu, epsilon) or math.nan,
    "the terms are the wrong way round": _of_tails(lambda plus, minus, e: e * minus - plus),
}


def _delta_is(got, right, *case):
    verdict = "yours promises too much" if got < right else "yours is safe, but the formula is exact"
    return rounded(got, right) or f"δ is {right:.6g}: {verdict}"


@checker
def gdp_profile(my_delta):
    """`my_delta(mu, epsilon)`: delta of mu-GDP at epsilon."""
    answered(my_delta, *PROFILE[0])              # not attempted, or of another form

    def seen(mu, epsilon):                       # nan as infinity, for one mistake has both
        got = my_delta(mu, epsilon)
        return math.inf if isinstance(got, (float, np.floating)) and math.isnan(got) else got

    on_cases(seen, PROFILE, _delta, PROFILE_MISTAKES, finite=False, what="δ", otherwise=_delta_is,
             show=lambda mu, epsilon: f"μ = {mu:g}, ε = {epsilon:g}")
    return "six digits from δ = 5e-193 to 0.63, overflow or not"


# --------------------------------------------------------------------------------------- lines under a curve

def _steep(pairs, alpha):
    return np.max([1 - d - np.exp(e) * alpha for e, d in pairs], axis=0)


def _flat(pairs, alpha):
    return np.max([np.exp(-e) * (1 - d - alpha) for e, d in pairs], axis=0)


def _highest(pairs, alpha):
    return np.max([np.zeros_like(alpha), *(fdp.approx(e, delta=d)(alpha) for e, d in pairs)], axis=0)


ENVELOPE_MISTAKES = {
    "errors are not negative: 0 is a line too":
        lambda pairs, alpha: np.maximum(_steep(pairs, alpha), _flat(pairs, alpha)),
    "only the steep line of each pair is used; the pairs hold in both orders, which gives a flat line as well":
        lambda pairs, alpha: np.maximum(_steep(pairs, alpha), 0),
    "only the flat line of each pair is used": lambda pairs, alpha: np.maximum(_flat(pairs, alpha), 0),
    "this is the lowest of the curves; all pairs hold, so the highest counts":
        lambda pairs, alpha: np.min([fdp.approx(e, delta=d)(alpha) for e, d in pairs], axis=0),
}


def _reports():
    """What the list is called -> pairs (epsilon, delta) that a report could hold, long and short, sorted or not."""
    bell, other = fdp.gaussian(1.0), fdp.laplace(1.5)
    return {
        "20 pairs of μ = 1": [(e, float(bell.delta(e))) for e in np.linspace(0, 5, 20)],
        "one pair": [(1.0, float(bell.delta(1.0)))],
        "the pair (1, 0)": [(1.0, 0.0)],
        "the pairs (0.5, 0.2) and (2, 0.05)": [(0.5, 0.2), (2.0, 0.05)],
        "7 pairs of Laplace noise, shuffled":
            [(e, float(other.delta(e))) for e in np.random.default_rng(8).permutation(np.linspace(0, 1.5, 7))],
        "a pair with a useless one beside it": [(0.3, 0.1), (0.4, 0.9)],
        "the pair (0, 0.3)": [(0.0, 0.3)],
    }


def _not_the_highest(got, right, pairs, alpha):
    verdict = "safe, but more follows"
    if np.any(got > right + 1e-9):
        reason = "joined points, an average, or a guess at the rest?"
        verdict = f"a mechanism that keeps all pairs does worse than your promise ({reason})"
    return f"{_where(got, right, alpha)}: {verdict}"


@checker
def gdp_envelope(rebuild):
    """`rebuild(pairs, alpha)`: largest type II errors that follow from all pairs."""
    for name, pairs in _reports().items():
        corners = np.array([(1 - d) / (1 + math.exp(e)) for e, d in pairs])
        cases = [(pairs, alpha) for alpha in (np.linspace(0, 1, 401), np.array([0.9, 0.2]), corners)]
        on_cases(rebuild, cases, _highest, ENVELOPE_MISTAKES, rtol=0, atol=1e-9, shape=lambda pairs, alpha: alpha.shape,
                 what="type II errors", show=lambda pairs, alpha, name=name: name, otherwise=_not_the_highest)
    return "exactly what follows, on seven lists of pairs"


# --------------------------------------------------------------------------------------- a pair is not a curve

def _laws(answer, case):
    try:
        p, q = (np.asarray(law, dtype=float) for law in answer)
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected two lists of probabilities, p and q") from None
    for law in (p, q):
        if law.ndim != 1 or law.shape != p.shape or law.size == 0:
            raise Wrong(f"{case}: p and q must be lists of the same length, got the shapes {p.shape} and {q.shape}")
        if not (np.all(law >= -1e-12) and abs(law.sum() - 1) < 1e-9):
            raise Wrong(
                f"{case}: not a list of probabilities: they sum to {law.sum():.6g}, the smallest is {law.min():.3g}"
            )
    return [np.maximum(law, 0) / np.maximum(law, 0).sum() for law in (p, q)]


@checker
def gdp_trap(trap):
    """`trap(mu, epsilon)`: laws p, q with the delta of mu at epsilon, in both directions, that are not mu-GDP."""
    for mu, epsilon in ((1.0, 1.0), (0.5, 0.3), (2.0, 3.0), (1.0, 0.0)):
        case, allowed = f"μ = {mu:g}, ε = {epsilon:g}", _delta(mu, epsilon)
        p, q = _laws(answered(trap, mu, epsilon), case)
        for name, one, two in (("on D' against D", p, q), ("on D against D'", q, p)):
            need = float(np.maximum(two - math.exp(epsilon) * one, 0).sum())
            if need > allowed * (1 + 1e-9) + 1e-12:
                raise Wrong(
                    f"{case}: {name} your laws need δ = {need:.4g}, the measurement would show more than {allowed:.4g}"
                )
        if max(_below(p, q, mu), _below(q, p, mu)) < 1e-10:
            raise Wrong(f"{case}: the pair holds, but so does μ-GDP: your curve never falls below G_μ")
    return "the pair is right, and μ-GDP is false"


def _below(p, q, mu):
    """How far the curve T(p, q) falls below that of mu."""
    alpha = np.append(np.linspace(0, 1, 2001), np.logspace(-12, -3, 200))
    return float(np.max(_bell(alpha, mu) - fdp.finite(p, q)(alpha)))


# --------------------------------------------------------------------------------------- a group

ALPHA = np.array([0.0, 1 / 729, 0.0519, 0.2, 0.5, 0.9, 1.0])           # the second on no grid of decimals
GROUPS = [  # what the curve is called, the curve, how many people
    ("G_0.5", fdp.gaussian(0.5), 4),
    ("G_0.5", fdp.gaussian(0.5), 1),
    ("G_0.3", fdp.gaussian(0.3), 7),
    ("randomized response at ε = 0.4", fdp.approx(0.4), 3),
    ("(0.2, 0.05)-DP", fdp.approx(0.2, delta=0.05), 5),
    ("a curve of four lines", fdp.finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]).symmetrize(), 3),
]


def _iterated(f, k, alpha):
    for _ in range(k):
        alpha = f(np.clip(alpha, 0, 1))
    return alpha


def _group(f, k, alpha):
    """The power 1 - f is applied k times; then the type II error is what is missing to 1."""
    return 1 - _iterated(lambda power: 1 - f(power), k, alpha)


GROUP_MISTAKES = {  # words -> mistake(f, k, alpha)
    "f itself is iterated; it is the power 1 - f that goes from one data set to the next": _iterated,
    "this is the power; the type II error is what is missing to 1": lambda f, k, alpha: 1 - _group(f, k, alpha),
    "this is a power of a number, (1 - f)^k; the function is applied k times":
        lambda f, k, alpha: 1 - (1 - f(alpha)) ** k,
    "the losses of k people were added up as k errors; the power goes through 1 - f once for each of them":
        lambda f, k, alpha: np.maximum(0, 1 - k * (1 - f(alpha))),
    "one step too many": lambda f, k, alpha: _group(f, k + 1, alpha),
    "this is f itself: nothing was done for the group": lambda f, k, alpha: f(alpha),
    "this is f to the power k": lambda f, k, alpha: f(alpha) ** k,
    "this is the curve of √k, the rule for k releases about one person; a group moves by k":
        lambda f, k, alpha: _bell(alpha, 0.5 * math.sqrt(k)),
}


@checker
def gdp_group(group_curve):
    """`group_curve(f, k)`: a function of alpha, the curve for groups of k."""
    def verdict(got, right, alpha):
        false = np.any(got > right + 1e-9)
        return f"{_where(got, right, alpha)}: {'your promise is false' if false else 'safe, but more follows'}"

    for name, f, k in GROUPS:
        curve = answered(group_curve, lambda x, f=f: f(np.clip(x, 0, 1)), k)
        if not callable(curve):
            raise Wrong(f"group_curve must return a function of α, got {type(curve).__name__}")
        mistakes = {words: functools.partial(mistake, f, k) for words, mistake in GROUP_MISTAKES.items()}
        on_cases(curve, [(ALPHA,), (0.2,)], functools.partial(_group, f, k), mistakes, rtol=0, atol=1e-9,
                 shape=np.shape, what="type II errors", otherwise=verdict, show=lambda alpha, name=name, k=k:
                 f"{name}, groups of {k}{'' if np.ndim(alpha) else ', for a single α = 0.2'}")
    return "as iterated step by step, on six curves"


# --------------------------------------------------------------------------------------- the mu of an epsilon

HONEST_MISTAKES = {
    "this is the library's number: zCDP does not imply GDP": lambda epsilon: epsilon,
    "√(π/2) ε is the limit for small ε; the exact μ is smaller": lambda epsilon: epsilon * math.sqrt(math.pi / 2),
}


def _touching(epsilon):
    return -2 * float(ndtri(1 / (1 + math.exp(epsilon))))


def _not_touching(got, right, epsilon):
    corner = 1 / (1 + math.exp(epsilon))
    verdict = "the promise is false" if got < right else "true, but a smaller μ will do"
    return rounded(got, right) or (
        f"with this μ the bells promise a type II error of {_bell(corner, got):.4f} at α = {corner:.4f}, where "
        f"randomized response has {corner:.4f}; {verdict}"
    )


@checker
def gdp_honest(honest_mu):
    """`honest_mu(epsilon)`: smallest mu such that epsilon-DP implies mu-GDP."""
    on_cases(honest_mu, [(2.0,), (1.0,), (0.1,), (5.0,), (12.0,)], _touching, HONEST_MISTAKES, what="μ",
             show=lambda epsilon: f"ε = {epsilon:g}", otherwise=_not_touching)
    return "the bells touch the corner of randomized response"
