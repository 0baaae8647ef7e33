"""Checkers of chapter 3: local privacy."""
import functools
import math
from itertools import product

import numpy as np
from scipy.special import expit, logit

from dplib.local import Rappor
from provable_privacy.battery import Numbers, Pair, battery, drawn
from provable_privacy.speech import Wrong, answered, checker, compare_number, number, numbers

__all__ = ["ldp_belief", "ldp_days", "ldp_decoder", "ldp_liars", "ldp_oue", "ldp_plan", "ldp_set"]


def _two(answer, case):
    try:
        first, second = answer
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected two things, got {answer!r}") from None
    return first, second


# --------------------------------------------------------------------------------------------------------------- one report

@functools.cache
def _coins(own, other):
    """A learner's report with these chances of a one, each a function of ε and k."""
    def report(value, k, epsilon, rng):
        return (rng.random(k) < np.where(np.arange(k) == value, own(epsilon, k), other(epsilon, k))).astype(int)

    return report


def _one_coin(value, k, epsilon, rng):
    return (rng.random() < np.where(np.arange(k) == value, 0.5, expit(-epsilon))).astype(int)


def _half(e, k):
    return 0.5


def _lie(e, k):
    return expit(-e)


MISTAKES = {
    "both kinds of bits pay the whole ε, and two bits tell: the loss is 2ε": _coins(lambda e, k: expit(e), _lie),
    "each bit is kept with e^(ε/2)/(e^(ε/2) + 1): private, but not the optimized coins": _coins(lambda e, k: expit(e / 2), lambda e, k: expit(-e / 2)),
    "a zero becomes a one with 1/(e^(ε/2) + 1): more noise than ε asks for": _coins(_half, lambda e, k: expit(-e / 2)),
    "a zero becomes a one with 1/(e^(ε/k) + 1): more noise than ε asks for": _coins(_half, lambda e, k: expit(-e / k)),
    "the own bit is kept with e^(ε/2)/(e^(ε/2) + 1), as by the symmetric coins: with 1/(e^ε + 1) the loss is 3ε/2": _coins(lambda e, k: expit(e / 2), _lie),
    "a zero becomes a one with e^-ε: it is 1/(e^ε + 1)": _coins(_half, lambda e, k: math.exp(-e)),
    "the own bit is sent as it is; a zero there rules the value out, so the loss is infinite": _coins(lambda e, k: 1.0, _lie),
    "the other bits are sent as zeros; a one names the value, so the loss is infinite": _coins(_half, lambda e, k: 0.0),
    "the report does not depend on the value": _coins(_lie, _lie),
    "all bits are fair coins": _coins(_half, _half),
    "the chances are 3/4 and 1/4, whatever ε is": _coins(lambda e, k: 0.75, lambda e, k: 0.25),
    "the chances are those of randomized response with k values":
        _coins(lambda e, k: math.exp(e) / (math.exp(e) + k - 1), lambda e, k: 1 / (math.exp(e) + k - 1)),
    "one coin decides all bits; each needs its own": _one_coin,
}


def _pair(k, one, two, epsilon, **settings):
    return Pair(f"value {one} of {k} at ε = {epsilon:g} / value {two} of {k} at ε = {epsilon:g}", (one, k, epsilon), (two, k, epsilon),
                ((epsilon, 0.0),), (np.eye(k)[one], np.eye(k)[two]), law="exactly", **settings)


PAIRS = [
    _pair(5, 4, 1, 0.6, twice=800),
    _pair(2, 0, 1, 0.5, runs=3000),
    _pair(12, 11, 4, 0.7, runs=2000),
    _pair(4, 1, 3, 3.0, runs=3000),
    *(_pair(d["k"], d["k"] - 1, d["k"] // 2, d["epsilon"], runs=2000) for d in drawn(2, 71, k=(5, 9), epsilon=(0.2, 2.0))),
]


@checker
def ldp_oue(my_report):
    """`my_report(value, k, epsilon, rng)`: k bits, by optimized unary encoding."""
    def bits(answer, arguments, rng):
        value, k, epsilon = arguments
        got = answered(answer, value, k, epsilon, rng)
        given = np.asarray(got)
        if given.shape != (k,) or not ((given == 0) | (given == 1)).all():
            raise Wrong(f"expected {k} bits, each 0 or 1, got {got!r}"[:200])
        return got

    said = battery(my_report, lambda pair: Numbers(pair.one[1], "bit"), PAIRS, call=bits, mistakes=MISTAKES, right=_coins(_half, _lie), seed=71)
    return f"a fair coin on the own bit, 1/(e^ε + 1) on each other, as far as we can see; {said}"


# ------------------------------------------------------------------------------------------------------------------- planning

@checker
def ldp_plan(plan):
    """`plan(epsilon, k, error)`: the better protocol and the number of people."""
    for epsilon, k, error in ((1.0, 13, 0.001), (2.0, 13, 0.01), (1.0, 10, 0.02), (1.0, 11, 0.02),
                              (0.5, 2, 0.05), (0.5, 100, 0.05), (3.0, 62, 0.003), (3.0, 63, 0.003)):
        case = f"ε = {epsilon:g}, k = {k}, error {error:g}"
        name, people = _two(answered(plan, epsilon, k, error), case)
        grow = math.exp(epsilon)
        need = {"k-RR": (k - 2 + grow) / (grow - 1) ** 2 / error**2, "OUE": 4 * grow / (grow - 1) ** 2 / error**2}
        best = min(need, key=need.get)
        if name not in need:
            raise Wrong(f'{case}: the protocol must be "k-RR" or "OUE", got {name!r}')
        if name != best:
            raise Wrong(f"{case}: {best} needs {need[best]:,.0f} people, {name} {need[name]:,.0f}; the switch is at 3e^ε + 2 = {3 * grow + 2:.1f} values")
        people = number(people, case, whole=True)
        if abs(people - math.ceil(need[best])) < 0.5:
            continue
        said = f"{case}: {people:,.0f} people, but {math.ceil(need[best]):,} are needed"
        if abs(people - math.ceil(need[best] * error)) <= 1:
            raise Wrong(f"{said}; the error is the root of the variance: divide by its square")
        if people == math.floor(need[best]):
            raise Wrong(f"{said}; round up")
        raise Wrong(f"{said}; {'the error is too large with so few' if people < need[best] else 'fewer will do'}")
    return "the right protocol and not one person too many, in eight plans"


# -------------------------------------------------------------------------------------------------------------- days of RAPPOR

@checker
def ldp_days(days):
    """`days(f, p, q, hashes, budget)`: how many reports, with the filter kept and with fresh ones."""
    for f, p, q, hashes, budget in ((0.5, 0.5, 0.75, 2, 4.0), (0.5, 0.5, 0.75, 2, 4.5), (0.5, 0.5, 0.75, 2, 0.9), (0.25, 0.35, 0.65, 1, 3.0),
                                    (0.75, 0.4, 0.415, 4, 4.05), (0.1, 0.2, 0.9, 1, 5.0), (0.5, 0.5, 0.75, 1, 2.15), (0.25, 0.1, 0.6, 3, 12.5)):
        case = f"f = {f:g}, p = {p:g}, q = {q:g}, h = {hashes}, budget {budget:g}"
        got = [number(x, case, finite=False, whole=True) for x in _two(answered(days, f, p, q, hashes, budget), case)]
        rappor = Rappor(f=f, p=p, q=q, hashes=hashes)
        fresh = math.floor(budget / rappor.epsilon_one)
        kept = math.inf if rappor.epsilon_permanent <= budget else next(n for n in range(10_000) if rappor.epsilon(n + 1) > budget)
        if got == [kept, fresh]:
            continue
        if kept != fresh and got == [fresh, kept]:
            raise Wrong(f"{case}: the two are the wrong way round: kept first, then fresh")
        if got[0] != kept:
            said = f"{case}: {got[0]:g} reports with the filter kept, but {kept:g} fit"
            if got[0] == fresh:
                raise Wrong(f"{said}; this adds one report's loss again and again, but reports from one filter share it")
            if got[0] > kept:
                over = rappor.epsilon_permanent if math.isinf(got[0]) else rappor.epsilon(int(got[0]))
                raise Wrong(f"{said}: yours lose {over:.3f}")
            if math.isinf(kept):
                raise Wrong(f"{said}: the ceiling {rappor.epsilon_permanent:.3f} is within the budget")
            raise Wrong(f"{said}: {kept:g} reports lose {rappor.epsilon(max(1, int(kept))):.3f}")
        said = f"{case}: {got[1]:g} reports from fresh filters, but {fresh} fit"
        if got[1] == kept:
            raise Wrong(f"{said}; without memory there is no ceiling: every report costs {rappor.epsilon_one:.3f} again")
        raise Wrong(f"{said} at {rappor.epsilon_one:.3f} each")
    return "as the exact losses say, in eight designs"


# ------------------------------------------------------------------------------------------------------------------- the belief

@checker
def ldp_belief(belief):
    """`belief(reports, epsilon, prior)`: the probability of each person's bit."""
    rng = np.random.default_rng(72)
    for days, epsilon, prior in ((7, 0.5, 0.1), (1, 1.0, 0.5), (1, math.log(3), 0.1), (30, 1.0, 0.02), (2000, 2.0, 0.3), (5, 0.1, 0.9)):
        people = 12
        reports = (rng.random((people, days)) < np.linspace(0, 1, people)[:, None]).astype(int)
        case = f"{days} days, ε = {epsilon:.3g}, prior {prior:g}"
        what = f"{case}{' (do powers of e^ε overflow? add logarithms)' * (days > 1000)}"
        got = numbers(answered(belief, reports.copy(), epsilon, prior), (people,), what, finite=False)
        surplus = (2 * reports - 1).sum(axis=1)
        right = expit(logit(prior) + epsilon * surplus)
        if np.abs(got - right).max() < 1e-6:
            continue
        i = int(np.argmax(np.abs(got - right)))
        said = f"{case}: after {int(reports[i].sum())} yes of {days} you believe {got[i]:.4f}, Bayes {right[i]:.4f}"
        truth = float(expit(epsilon))
        rivals = {
            "the prior is left out": expit(epsilon * surplus),
            "the evidence is one report's, not that of all days": expit(logit(prior) + epsilon * np.sign(surplus)),
            "this is the share of ones, not a belief": reports.mean(axis=1),
            "this is the estimated share of ones, not a belief": (reports.mean(axis=1) - 1 + truth) / (2 * truth - 1),
            "a no speaks for 0 just as a yes speaks for 1: divide the odds": expit(logit(prior) + epsilon * reports.sum(axis=1)),
            "this is the probability of 0": 1 - right,
            "the odds change by e^ε with each report, not by e^(ε/2)": expit(logit(prior) + epsilon / 2 * surplus),
            "the odds change by e^ε with each report, not by e^(2ε)": expit(logit(prior) + 2 * epsilon * surplus),
            "a guess is not a belief": np.round(right),
        }
        for message, value in rivals.items():
            if np.abs(got - value).max() < 1e-6:
                raise Wrong(f"{said}; {message}")
        compare_number(got[i], float(right[i]), case, f"after {int(reports[i].sum())} yes of {days} Bayes says {right[i]:.4f}", tolerance=1e-6)
    return "Bayes' rule, for one day and for two thousand"


# --------------------------------------------------------------------------------------------------------------------- liars

@checker
def ldp_liars(liars):
    """`liars(n, k, epsilon, shift, method)`: the smallest number of liars."""
    for n, k, epsilon, shift in ((30_000, 13, 1.0, 0.01), (30_000, 13, 0.5, 0.05), (1000, 2, 2.0, 0.1), (1_000_000, 100, 3.0, 0.003), (7000, 5, 0.1, 0.033)):
        for method in ("k-RR", "OUE"):
            case = f"{method}, n = {n:,}, k = {k}, ε = {epsilon:g}, shift {shift:g}"
            said, grow = answered(liars, n, k, epsilon, shift, method), math.exp(epsilon)
            got = number(said, case)
            p, q = (0.5, 1 / (grow + 1)) if method == "OUE" else (grow / (grow + k - 1), 1 / (grow + k - 1))
            need = shift * n * (p - q) / (1 - q)
            right = math.ceil(need - 1e-9)
            if got == right:
                continue
            said = f"{case}: {got:,.6g} liars, but {right:,} are needed"
            rivals = {
                "so many would be needed if a liar counted as one honest person, but the decoder divides by p - q": math.ceil(shift * n - 1e-9),
                "a certain report adds (1 - q)/(p - q) and not 1/(p - q): what a lie would give anyway is taken away": math.ceil(shift * n * (p - q) - 1e-9),
                "at least: round up": math.floor(need),
                "at least so many, and people are whole: round up": need,
                "this is a share, not a number of people": need / n,
            }
            for message, value in rivals.items():
                if abs(got - value) < 1e-9 and value != right:
                    raise Wrong(f"{said}; {message}")
            raise Wrong(f"{said}; each adds (1 - q)/(p - q)/n = {(1 - q) / (p - q) / n:.3g} to the estimate")
    return "the smallest number, for both methods and five surveys"


# ------------------------------------------------------------------------------------------------------------------ the decoder

@checker
def ldp_decoder(honest_decode):
    """`honest_decode(reports, epsilon)`: unbiased shares from optimized unary reports."""
    for n, k, epsilon in ((2, 3, 2.0), (1, 3, 1.0), (2, 2, 0.5), (3, 2, 1.0)):
        case = f"{n} {'person' if n == 1 else 'people'}, k = {k}, ε = {epsilon:g}"
        tables = np.array(list(product((0, 1), repeat=n * k))).reshape(-1, n, k)
        found = np.array([numbers(answered(honest_decode, table.copy(), epsilon), (k,), f"{case} (a table may consist of zeros only)") for table in tables])
        lie = float(expit(-epsilon))
        for values in product(range(k), repeat=n):
            chance = np.where(np.array(values)[:, None] == np.arange(k), 0.5, lie)
            weights = np.where(tables, chance, 1 - chance).prod(axis=(1, 2))
            true = np.bincount(values, minlength=k) / n
            off = weights @ found - true
            if np.abs(off).max() < 1e-9:
                continue
            v = int(np.argmax(np.abs(off)))
            said = (f"{case}, values {list(values)}: over all {len(tables)} possible tables the mean share of {v} is {true[v] + off[v]:.4f}, "
                    f"the true one {true[v]:.4f}")
            plain = (tables.mean(axis=1) - lie) / (0.5 - lie)
            half = float(expit(-epsilon / 2))
            clipped = np.clip(plain, 0, 1)
            total = clipped.sum(axis=1, keepdims=True)
            some = total[:, 0] > 0
            if np.allclose(found[some], (clipped / np.where(total > 0, total, 1))[some], atol=1e-9):
                raise Wrong(f"{said}; the shares are still cut off, and then divided by their sum")
            rivals = {
                "the shares are still cut off at 0 or 1": clipped,
                "the shares are still cut off at 0": np.maximum(plain, 0),
                "the shares are still forced to add up to 1": plain / np.where(plain.sum(axis=1, keepdims=True) == 0, np.nan, plain.sum(axis=1, keepdims=True)),
                "these are the shares of ones, lies included": tables.mean(axis=1),
                "the lies are taken away, but what is left must be divided by p - q": tables.mean(axis=1) - lie,
                "these are the rates of the symmetric coins; OUE has 1/2 and 1/(e^ε + 1)": (tables.mean(axis=1) - half) / (1 - 2 * half),
                "a one is kept with 1/2 here, not with e^ε/(e^ε + 1)": (tables.mean(axis=1) - lie) / (1 - 2 * lie),
            }
            for message, value in rivals.items():
                if np.allclose(found, value, atol=1e-9):
                    raise Wrong(f"{said}; {message}")
            raise Wrong(said)
    rng, person = np.random.default_rng(73), np.arange(3000)
    for epsilon, values in ((1.0, 2 + 3 * (person % 2)), (2.0, np.where(person < 1500, 0, 6)), (3.0, np.where(person % 7 == 3, 4, 1))):
        lie = float(expit(-epsilon))
        table = (rng.random((3000, 7)) < np.where(values[:, None] == np.arange(7), 0.5, lie)).astype(int)
        got = numbers(answered(honest_decode, table.copy(), epsilon), (7,), "3,000 people")
        if np.abs(got - (table.mean(axis=0) - lie) / (0.5 - lie)).max() > 3 * math.sqrt(0.25 / 3000) / (0.5 - lie):
            raise Wrong(f"right on average for few people, but 3,000 at ε = {epsilon:g} give shares far from those of all their reports: use every report")
    return "right on average over all tables of reports of up to three people, for every list of true values"


# ---------------------------------------------------------------------------------------------------------------- sets of values

@checker
def ldp_set(set_size):
    """`set_size(epsilon, k)`: the best size of the reported set, and n times the variance for a value that nobody has."""
    for epsilon, k in ((1.0, 13), (1.0, 10), (0.1, 6), (2.0, 40), (3.0, 5), (0.5, 2), (0.05, 101)):
        case, d = f"ε = {epsilon:g}, k = {k}", np.arange(1, k)
        own = d * math.exp(epsilon) / (d * math.exp(epsilon) + k - d)
        other = (d - own) / (k - 1)
        varies = other * (1 - other) / (own - other) ** 2
        size, said = _two(answered(set_size, epsilon, k), case)
        size = number(size, f"{case}, the size", whole=True)
        if not 1 <= size < k:
            raise Wrong(f"{case}: a set of {size:g} of {k} values, but 1 ≤ d < k")
        best, at = float(varies.min()), float(varies[int(size) - 1])
        if at > best * (1 + 1e-9):
            raise Wrong(f"{case}: sets of {size:g} have {at:.4f}, but sets of {int(varies.argmin()) + 1} have {best:.4f}")
        hints = {
            "divide by the square of p - q": float(best * (own - other)[int(size) - 1]),
            "this is the variance of the share, not of the estimate: divide by (p - q)²": float((other * (1 - other))[int(size) - 1]),
            "this is its root": math.sqrt(best),
        }
        why = next((hint for hint, wrong in hints.items() if abs(number(said, case) - wrong) < 1e-3), f"sets of {size:g} have {best:.4f}")
        compare_number(said, best, f"{case}, n times the variance", why, tolerance=0.0, relative=1e-4)
    return "the best size and its variance, for seven pairs of ε and k"
