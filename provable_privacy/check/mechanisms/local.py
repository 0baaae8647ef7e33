"""Checkers of chapter 3: local privacy."""
import functools
import math
from itertools import product

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom

from dplib.local import Rappor
from provable_privacy.battery import Numbers, Pair, battery, drawn, looks_for, luck
from provable_privacy.battery.laws import compare
from provable_privacy.entries import Number, OneOf, Together
from provable_privacy.formulas import on_cases, shown
from provable_privacy.speech import Wrong, answered, checker, numbers

__all__ = ["ldp_belief", "ldp_days", "ldp_decoder", "ldp_liars", "ldp_oue", "ldp_plan", "ldp_set"]


def _in_each(cases, function, declare):
    """The function's answers, judged by the entries that `declare(*case)` gives."""
    for case in cases:
        try:
            declare(*case).judge(answered(function, *case))
        except Wrong as reason:
            raise Wrong(f"{shown(declare.__wrapped__, case)}: {reason}") from None


# ----------------------------------------------------------------------------------------------------------- one report

def _half(e, k):
    return 0.5


def _lie(e, k):
    return expit(-e)


def _coins(own=_half, other=_lie, toss=lambda rng, k: rng.random(k)):
    """A report with these chances of a one, each a function of ε and k; right unless told otherwise."""
    def report(value, k, epsilon, rng):
        return (toss(rng, k) < np.where(np.arange(k) == value, own(epsilon, k), other(epsilon, k))).astype(int)

    return report


REPORT = _coins()
REPORTS = {
    "both kinds of bits cost the whole ε, and two bits tell: the loss is 2ε": _coins(lambda e, k: expit(e)),
    "each bit is kept with e^(ε/2)/(e^(ε/2) + 1): private, but not the optimized coins":
        _coins(lambda e, k: expit(e / 2), lambda e, k: expit(-e / 2)),
    "a zero becomes a one with 1/(e^(ε/2) + 1): more noise than ε asks for": _coins(other=lambda e, k: expit(-e / 2)),
    "a zero becomes a one with 1/(e^(ε/k) + 1): more noise than ε asks for": _coins(other=lambda e, k: expit(-e / k)),
    "the true bit is kept with e^(ε/2)/(e^(ε/2) + 1), as with the symmetric coins. Together with 1/(e^ε + 1) the "
    "loss is 3ε/2":
        _coins(lambda e, k: expit(e / 2)),
    "a zero becomes a one with e^-ε: it is 1/(e^ε + 1)": _coins(other=lambda e, k: math.exp(-e)),
    "the true bit is sent as it is; a zero there rules the value out, so the loss is infinite":
        _coins(lambda e, k: 1.0),
    "the other bits are sent as zeros; a one then names the value, so the loss is infinite":
        _coins(other=lambda e, k: 0.0),
    "the report does not depend on the value": _coins(_lie),
    "all bits are fair coins": _coins(other=_half),
    "the chances are 3/4 and 1/4, whatever ε is": _coins(lambda e, k: 0.75, lambda e, k: 0.25),
    "the chances are those of randomized response with k values":
        _coins(lambda e, k: math.exp(e) / (math.exp(e) + k - 1), lambda e, k: 1 / (math.exp(e) + k - 1)),
    "one coin decides all bits; each needs its own": _coins(toss=lambda rng, k: rng.random()),
}


def _pair(k, one, two, epsilon, **settings):
    return Pair(f"value {one} of {k} at ε = {epsilon:g} / value {two} of {k} at ε = {epsilon:g}", (one, k, epsilon),
                (two, k, epsilon), ((epsilon, 0.0),), (np.eye(k)[one], np.eye(k)[two]), law="exactly", **settings)


PAIRS = [
    _pair(5, 4, 1, 0.6, twice=800),
    _pair(2, 0, 1, 0.5, runs=3000),
    _pair(12, 11, 4, 0.7, runs=2000),
    _pair(4, 1, 3, 3.0, runs=3000),
    *(_pair(d["k"], d["k"] - 1, d["k"] // 2, d["epsilon"], runs=2000)
      for d in drawn(2, 71, k=(5, 9), epsilon=(0.2, 2.0))),
]


LONG = [(39, 40, 0.05), (0, 40, 9.0)]             # value, k, ε of reports with many bits


def _in_long_reports(my_report):
    """The own bit and the number of the other ones by their exact law; at a small ε never is the own bit alone."""
    rng, runs = luck(74), 4000
    for value, k, epsilon in LONG:
        on, lie = f"on value {value} of {k} at ε = {epsilon:g}", expit(-epsilon)
        reports = np.array([_bits(my_report, (value, k, epsilon), rng) for _ in range(runs)], dtype=int)
        own, others = reports[:, value], reports.sum(axis=1) - reports[:, value]
        if epsilon < 1 and (bare := int((own > others).sum())):
            raise Wrong(f"{on} the bit of the true value is the only one in {bare} of {runs:,} reports. With the "
                        "coins it never is: are they sometimes left out?")
        starts = np.unique(np.append(0, binom.ppf((0.1, 0.3, 0.5, 0.7, 0.9), k - 1, lie) + 1)).astype(int)
        law = np.outer((0.5, 0.5), np.add.reduceat(binom.pmf(np.arange(k), k - 1, lie), starts))
        cells = own * len(starts) + np.searchsorted(starts, others, side="right") - 1
        compare(np.bincount(cells, minlength=law.size), law.ravel(), {}, lambda cell, on=on, starts=starts:
                f"{on} the own bit {cell // len(starts)} with {starts[cell % len(starts)]} or more other ones")


def _bits(answer, arguments, rng):
    got, k = answered(answer, *arguments, rng), arguments[1]
    given = np.asarray(got)
    minus = given.dtype.kind == "f" and np.signbit(given).any()          # -0.0 is 0, and could tell which 0 is yours
    if minus or given.shape != (k,) or not ((given == 0) | (given == 1)).all():
        raise Wrong(f"expected {k} bits, each 0 or 1, got {got!r}"[:200])
    return got


@checker
@looks_for("straddles", "small", "rare", "own", empty="a person has one value", size="a person has one value",
           contents="a person has one value", fractions="a value is one of a list", negative="a value is one of a list",
           missing="a value is one of a list", far="a value is one of a list", order="the bits come in their places",
           quotient="coins have no scale", zero="coins have no scale")
def ldp_oue(my_report):
    """`my_report(value, k, epsilon, rng)`: k bits, by optimized unary encoding."""
    said = battery(my_report, lambda pair: Numbers(pair.one[1], "bit"), PAIRS, call=_bits, mistakes=REPORTS,
                   right=REPORT, seed=71)
    _in_long_reports(my_report)
    return f"a fair coin on the true bit, and 1/(e^ε + 1) on each other bit, as far as we can see; {said}"


# ------------------------------------------------------------------------------------------------------------- planning

PLANS = [(1.0, 13, 0.001), (2.0, 13, 0.01), (1.0, 10, 0.02), (1.0, 11, 0.02),
         (0.5, 2, 0.05), (0.5, 100, 0.05), (3.0, 62, 0.003), (3.0, 63, 0.003)]


@functools.cache
def _plan(epsilon, k, error):
    grow = math.exp(epsilon)
    need = {name: times / (grow - 1) ** 2 / error**2 for name, times in (("k-RR", k - 2 + grow), ("OUE", 4 * grow))}
    best = min(need, key=need.get)
    people = math.ceil(need[best])
    compared = (f"k-RR needs {need['k-RR']:,.0f} people, OUE {need['OUE']:,.0f}; "
                f"the switch is at 3e^ε + 2 = {3 * grow + 2:.1f} values")
    mistakes = {
        f"{people:,} people are needed; the error is the root of the variance: divide by its square":
            math.ceil(need[best] * error),
        f"{people:,} people are needed; round up": math.floor(need[best]),
    }
    return Together({
        "protocol": OneOf(("k-RR", "OUE"), best, compared),
        "people": Number(people, mistakes=mistakes, whole=True,
                         below=f"{people:,} people are needed; the error is too large with so few",
                         above=f"{people:,} people are enough"),
    })


@checker
def ldp_plan(plan):
    """`plan(epsilon, k, error)`: the better protocol and the number of people."""
    _in_each(PLANS, plan, _plan)
    return "the right protocol and not one person too many, in eight plans"


# ------------------------------------------------------------------------------------------------------- days of RAPPOR

DESIGNS = [(0.5, 0.5, 0.75, 2, 4.0), (0.5, 0.5, 0.75, 2, 4.5), (0.5, 0.5, 0.75, 2, 0.9), (0.25, 0.35, 0.65, 1, 3.0),
           (0.75, 0.4, 0.415, 4, 4.05), (0.1, 0.2, 0.9, 1, 5.0), (0.5, 0.5, 0.75, 1, 2.15), (0.25, 0.1, 0.6, 3, 12.5)]


@functools.cache
def _days(f, p, q, hashes, budget):
    rappor = Rappor(f=f, p=p, q=q, hashes=hashes)
    one, ceiling = rappor.epsilon_one, rappor.epsilon_permanent
    fresh = math.floor(budget / one)
    kept = math.inf if ceiling <= budget else next(n for n in range(10_000) if rappor.epsilon(n + 1) > budget)
    fits = "any number fits" if math.isinf(kept) else f"{kept} fit"
    reason = (f"the ceiling {ceiling:.3f} is within the budget" if math.isinf(kept) else
              f"{kept + 1} reports lose {rappor.epsilon(kept + 1):.3f}")
    return Together({
        "with the filter kept": Number(kept, f"{fits}: {reason}", whole=True, mistakes={
            f"{fits}: reports from one filter share their loss, and {{said}} is right for fresh filters. Or are the "
            "two numbers in the wrong order?": fresh}),
        "with fresh filters": Number(fresh, f"{fresh} fit, at {one:.3f} each", whole=True, mistakes={
            f"{fresh} fit: without memory there is no ceiling, and every report costs {one:.3f} again": kept}),
    })


@checker
def ldp_days(days):
    """`days(f, p, q, hashes, budget)`: how many reports, with the filter kept and with fresh ones."""
    _in_each(DESIGNS, days, _days)
    return "as the exact losses say, in eight designs"


# ----------------------------------------------------------------------------------------------------------- the belief

_draw = np.random.default_rng(72)
BELIEFS = [((_draw.random((12, days)) < np.linspace(0, 1, 12)[:, None]).astype(int), epsilon, prior)
           for days, epsilon, prior in ((7, 0.5, 0.1), (1, 1.0, 0.5), (1, math.log(3), 0.1), (30, 1.0, 0.02),
                                        (2000, 2.0, 0.3), (5, 0.1, 0.9))]


def _belief(evidence):
    """Bayes' rule with this change of the log odds, a function of the reports and ε."""
    return lambda reports, epsilon, prior: expit(logit(prior) + evidence(reports, epsilon))


def _surplus(reports):
    return (2 * reports - 1).sum(axis=1)


BAYES = _belief(lambda reports, epsilon: epsilon * _surplus(reports))
GUESSES = {
    "the prior is left out": lambda reports, epsilon, prior: BAYES(reports, epsilon, 0.5),
    "the evidence is one report's, not that of all days": _belief(lambda reports, e: e * np.sign(_surplus(reports))),
    "this is the share of ones, not a belief": lambda reports, epsilon, prior: reports.mean(axis=1),
    "this is the estimated share of ones, not a belief":
        lambda reports, epsilon, prior: (reports.mean(axis=1) - expit(-epsilon)) / (2 * expit(epsilon) - 1),
    "a no speaks for 0 just as a yes speaks for 1: divide the odds":
        _belief(lambda reports, e: e * reports.sum(axis=1)),
    "this is the probability of 0": lambda *case: 1 - BAYES(*case),
    "the odds change by e^ε with each report, not by e^(ε/2)": _belief(lambda reports, e: e / 2 * _surplus(reports)),
    "the odds change by e^ε with each report, not by e^(2ε)": _belief(lambda reports, e: 2 * e * _surplus(reports)),
    "a guess is not a belief": lambda *case: np.round(BAYES(*case)),
}


def _worst(got, right, reports, *case):
    i, days = int(np.argmax(np.abs(got - right))), reports.shape[1]
    if np.abs(got - right).max() < 0.006:
        return "right, but rounded too far; give six digits after the point"
    return f"after {int(reports[i].sum())} yes of {days} you believe {got[i]:.4f}, and Bayes' rule says {right[i]:.4f}"


def _survey_of(reports, epsilon, prior):
    hint = " (do powers of e^ε overflow? add logarithms)" if reports.shape[1] > 1000 else ""
    return f"{reports.shape[1]} days, ε = {epsilon:.3g}, prior {prior:g}{hint}"


@checker
def ldp_belief(belief):
    """`belief(reports, epsilon, prior)`: the probability of each person's bit."""
    on_cases(belief, BELIEFS, BAYES, GUESSES, rtol=0, atol=1e-6, shape=lambda reports, *_: (len(reports),),
             finite=False, what="the beliefs", show=_survey_of, otherwise=_worst)
    return "Bayes' rule, for one day and for two thousand"


# ---------------------------------------------------------------------------------------------------------------- liars

CAMPAIGNS = [(*case, method) for case in (
    (30_000, 13, 1.0, 0.01), (30_000, 13, 0.5, 0.05), (1000, 2, 2.0, 0.1), (1_000_000, 100, 3.0, 0.003),
    (7000, 5, 0.1, 0.033)) for method in ("k-RR", "OUE")]


def _rates(k, epsilon, method):
    grow = math.exp(epsilon)
    return (0.5, 1 / (grow + 1)) if method == "OUE" else (grow / (grow + k - 1), 1 / (grow + k - 1))


def _liars(pull=lambda p, q: (1 - q) / (p - q), whole=lambda need: math.ceil(need - 1e-9)):
    """How many it takes if each adds pull(p, q)/n to the estimate."""
    return lambda n, k, epsilon, shift, method: whole(shift * n / pull(*_rates(k, epsilon, method)))


CROWDS = {
    "that many would be needed if a liar counted as one honest person, but the decoder divides by p - q":
        _liars(lambda p, q: 1.0),
    "a certain report adds (1 - q)/(p - q) and not 1/(p - q): subtract what a lie would give anyway":
        _liars(lambda p, q: 1 / (p - q)),
    "at least so many are needed: round up": _liars(whole=math.floor),
    "at least so many are needed, and people are whole: round up": _liars(whole=float),
    "this is a share, not a number of people": lambda n, *case: _liars(whole=float)(n, *case) / n,
}


def _each_adds(got, right, n, k, epsilon, shift, method):
    p, q = _rates(k, epsilon, method)
    return f"{right:,} liars are needed; each adds (1 - q)/(p - q)/n = {(1 - q) / (p - q) / n:.3g} to the estimate"


@checker
def ldp_liars(liars):
    """`liars(n, k, epsilon, shift, method)`: the smallest number of liars."""
    on_cases(liars, CAMPAIGNS, _liars(), CROWDS, rtol=0, atol=1e-9, what="the number of liars", otherwise=_each_adds,
             show=lambda n, k, epsilon, shift, method:
             f"{method}, n = {n:,}, k = {k}, ε = {epsilon:g}, shift {shift:g}")
    return "the smallest number, for both methods and five surveys"


# ---------------------------------------------------------------------------------------------------------- the decoder

def _plain(shares, epsilon):
    """The right decoder of the shares of ones."""
    lie = expit(-epsilon)
    return (shares - lie) / (0.5 - lie)


def _divided(shares):
    """Divided by their sum, where that is not 0."""
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total == 0, np.nan, total)


DECODERS = {                                     # words -> a function of the shares of ones
    "the shares are still cut off, and then divided by their sum": lambda s, e: _divided(np.clip(_plain(s, e), 0, 1)),
    "the shares are still cut off at 0 or 1": lambda s, e: np.clip(_plain(s, e), 0, 1),
    "the shares are still cut off at 0": lambda s, e: np.maximum(_plain(s, e), 0),
    "the shares are still forced to add up to 1": lambda s, e: _divided(_plain(s, e)),
    "these are the shares of ones, lies included": lambda s, e: s,
    "the lies are taken away, but what is left must be divided by p - q": lambda s, e: s - expit(-e),
    "these are the rates of the symmetric coins; OUE has 1/2 and 1/(e^ε + 1)":
        lambda s, e: (s - expit(-e / 2)) / (1 - 2 * expit(-e / 2)),
    "a one is kept with 1/2 here, not with e^ε/(e^ε + 1)": lambda s, e: (s - expit(-e)) / (1 - 2 * expit(-e)),
}


def _unbiased(decode, n, k, epsilon):
    """`Wrong` unless the mean over all tables of n reports is the true share, for every list of n values."""
    case = f"{n} {'person' if n == 1 else 'people'}, k = {k}, ε = {epsilon:g}"
    tables = np.array(list(product((0, 1), repeat=n * k))).reshape(-1, n, k)
    found = np.array([numbers(answered(decode, table.copy(), epsilon), (k,),
                              f"{case} (a table may consist of zeros only)") for table in tables])
    for values in product(range(k), repeat=n):
        chance = np.where(np.array(values)[:, None] == np.arange(k), 0.5, expit(-epsilon))
        mean = np.where(tables, chance, 1 - chance).prod(axis=(1, 2)) @ found
        true = np.bincount(values, minlength=k) / n
        if np.abs(mean - true).max() < 1e-9:
            continue
        v = int(np.argmax(np.abs(mean - true)))
        said = (f"{case}, values {list(values)}: over all {len(tables)} possible tables the mean share of {v} is "
                f"{mean[v]:.4f}, the true one {true[v]:.4f}")
        shares = tables.mean(axis=1)
        reason = next((words for words, rival in DECODERS.items() if _same(found, rival(shares, epsilon))), "")
        raise Wrong(f"{said}; {reason}" if reason else said)


def _same(found, rival):
    """Wherever the rival has a value."""
    known = ~np.isnan(rival).any(axis=1)
    return known.any() and np.allclose(found[known], rival[known], atol=1e-9)


def _uses_all(decode):
    rng, person = np.random.default_rng(73), np.arange(3000)
    for epsilon, values in ((1.0, 2 + 3 * (person % 2)), (2.0, np.where(person < 1500, 0, 6)),
                            (3.0, np.where(person % 7 == 3, 4, 1))):
        lie = float(expit(-epsilon))
        table = (rng.random((3000, 7)) < np.where(values[:, None] == np.arange(7), 0.5, lie)).astype(int)
        got = numbers(answered(decode, table.copy(), epsilon), (7,), "3,000 people")
        if np.abs(got - _plain(table.mean(axis=0), epsilon)).max() > 3 * math.sqrt(0.25 / 3000) / (0.5 - lie):
            raise Wrong(f"right on average for few people, but 3,000 at ε = {epsilon:g} give shares far from those of "
                        "all their reports: use every report")


@checker
def ldp_decoder(honest_decode):
    """`honest_decode(reports, epsilon)`: unbiased shares from optimized unary reports."""
    for case in ((2, 3, 2.0), (1, 3, 1.0), (2, 2, 0.5), (3, 2, 1.0)):
        _unbiased(honest_decode, *case)
    _uses_all(honest_decode)
    return "right on average over all tables of reports of up to three people, for every list of true values"


# ------------------------------------------------------------------------------------------------------- sets of values

SETS = [(1.0, 13), (1.0, 10), (0.1, 6), (2.0, 40), (3.0, 5), (0.5, 2), (0.05, 101)]


@functools.cache
def _set(epsilon, k):
    d = np.arange(1, k)
    own = d * math.exp(epsilon) / (d * math.exp(epsilon) + k - d)
    other = (d - own) / (k - 1)
    varies, gap = other * (1 - other) / (own - other) ** 2, own - other
    i = int(varies.argmin())
    hint = f"sets of {i + 1} have the smallest variance, {varies[i]:.4f}/n"
    return Together({
        "the size": Number(i + 1, hint, whole=True, between=(1, k - 1, "the size must be 1 ≤ d < k")),
        "n times the variance": Number(varies[i], f"sets of {i + 1} have {varies[i]:.4f}", {
            "divide by the square of p - q": varies[i] * gap[i],
            "this is the variance of the share, not of the estimate: divide by (p - q)²": varies[i] * gap[i] ** 2,
            "this is its root": math.sqrt(varies[i]),
        }, tolerance=0.0, relative=1e-4),
    })


@checker
def ldp_set(set_size):
    """`set_size(epsilon, k)`: the best size of a set, and n times the variance for a value that nobody has."""
    _in_each(SETS, set_size, _set)
    return "the best size and its variance, for seven pairs of ε and k"
