"""Checkers of chapter 3: local privacy."""
import math
from itertools import product

import numpy as np
from scipy.special import expit, gammaln, logit

from dplib.local import Rappor
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["ldp_belief", "ldp_days", "ldp_decoder", "ldp_liars", "ldp_oue", "ldp_plan"]


def _number(value, case):
    """A number, or `Wrong`."""
    try:
        return float(np.asarray(value, dtype=float).reshape(()))
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected a number, got {value!r}") from None


def _whole(value, case):
    """A whole number, or infinity."""
    number = _number(value, case)
    if math.isnan(number) or math.isfinite(number) and number != round(number):
        raise Wrong(f"{case}: expected a whole number, got {number:g}")
    return number


def _pair(answer, case):
    if answer is None:
        raise NotAttempted
    try:
        first, second = answer
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected two things, got {answer!r}") from None
    return first, second


# --------------------------------------------------------------------------------------------------------------- one report

CASES = ((3, 2, 1.0, 6000), (2, 0, 0.5, 6000), (4, 1, 2.0, 6000), (3, 0, 3.0, 6000), (2, 1, 0.2, 6000), (12, 11, 1.0, 4000))


@checker
def ldp_oue(my_report):
    """`my_report(value, k, epsilon, rng)`: k bits, by optimized unary encoding."""
    for k, value, epsilon, runs in CASES:
        rng = np.random.default_rng(71)
        case = f"k = {k}, ε = {epsilon:g}"
        reports = np.empty((runs, k), dtype=int)
        for i in range(runs):
            reports[i] = _report(ask(my_report, value, k, epsilon, rng), k, case)
        if (reports == reports[0]).all():
            raise Wrong(f"{case}: the same report comes out every time: there is no noise, or a seed is fixed inside")
        outcome, laws = _outcomes(k, value)
        _judge(outcome(reports), laws, epsilon, k, case)
        if k <= 3:                                                           # two reports in a row are independent
            both = outcome(reports[::2]) * 2**k + outcome(reports[1::2])
            law = laws(0.5, expit(-epsilon))
            compare(np.bincount(both, minlength=4**k), np.outer(law, law).ravel(), {
                "the second report is a copy of the first: every person, and every report, needs coins of its own": np.diag(law).ravel()},
                lambda i, case=case: f"{case}: the pair of reports number {i}")
    return "a fair coin on the own bit, 1/(e^ε + 1) on each other (chi-square, six settings)"


def _report(answer, k, case):
    if answer is None:
        raise NotAttempted
    try:
        bits = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected {k} bits, got {answer!r}") from None
    if bits.shape != (k,) or not np.isin(bits, (0, 1)).all():
        raise Wrong(f"{case}: expected {k} bits, each 0 or 1, got {answer!r}")
    return bits


def _outcomes(k, value):
    """(reports -> numbers, (p, q) -> their law): the whole report for small k, the own bit and the sum of the others for large."""
    if k <= 4:
        table = np.array(list(product((0, 1), repeat=k)))
        place = 2 ** np.arange(k)[::-1]

        def law(p, q):
            chance = np.where(np.arange(k) == value, p, q)
            return np.where(table, chance, 1 - chance).prod(axis=1)

        return (lambda reports: reports @ place), law
    x = np.arange(k)
    ways = np.exp(gammaln(k) - gammaln(x + 1) - gammaln(k - x))

    def many(p, q):
        others = ways * q**x * (1 - q) ** (k - 1 - x)
        return np.concatenate([(1 - p) * others, p * others])

    return (lambda reports: reports[:, value] * k + np.delete(reports, value, axis=1).sum(axis=1)), many


def _judge(outcomes, laws, epsilon, k, case):
    right, half = laws(0.5, expit(-epsilon)), expit(epsilon / 2)
    rivals = {
        "both kinds of bits pay the whole ε, and two bits tell: the loss is 2ε": laws(expit(epsilon), expit(-epsilon)),
        "each bit is kept with e^(ε/2)/(e^(ε/2) + 1): private, but not the optimized coins": laws(half, 1 - half),
        "a zero becomes a one with 1/(e^(ε/2) + 1): more noise than ε asks for": laws(0.5, 1 - half),
        "the own bit is sent as it is; a zero there rules the value out, so the loss is infinite": laws(1.0, expit(-epsilon)),
        "the other bits are sent as zeros; a one names the value, so the loss is infinite": laws(0.5, 0.0),
        "the report does not depend on the value": laws(expit(-epsilon), expit(-epsilon)),
        "all bits are fair coins": laws(0.5, 0.5),
        "the chances are those of randomized response with k values": laws(math.exp(epsilon) / (math.exp(epsilon) + k - 1), 1 / (math.exp(epsilon) + k - 1)),
    }
    rivals = {f"{case}: {message}": law for message, law in rivals.items() if np.abs(law - right).max() > 1e-9}
    if k <= 4:
        rivals[f"{case}: one coin decides all bits; each needs its own"] = _one_coin(right, k, epsilon, laws)
    compare(np.bincount(outcomes, minlength=len(right)), right, rivals, lambda i: f"{case}: report number {i}, read as a binary number,")


def _one_coin(right, k, epsilon, laws):
    """The law when a single uniform number is compared with all chances."""
    low = float(expit(-epsilon))
    own = laws(1.0, 0.0)
    law = np.zeros_like(right)
    law[-1] = low
    law[0] = 0.5
    return law + (0.5 - low) * own


# ------------------------------------------------------------------------------------------------------------------- planning

@checker
def ldp_plan(plan):
    """`plan(epsilon, k, error)`: the better protocol and the number of people."""
    for epsilon, k, error in ((1.0, 13, 0.001), (2.0, 13, 0.01), (1.0, 10, 0.02), (1.0, 11, 0.02),
                              (0.5, 2, 0.05), (0.5, 100, 0.05), (3.0, 62, 0.003), (3.0, 63, 0.003)):
        case = f"ε = {epsilon:g}, k = {k}, error {error:g}"
        name, people = _pair(ask(plan, epsilon, k, error), case)
        grow = math.exp(epsilon)
        need = {"k-RR": (k - 2 + grow) / (grow - 1) ** 2 / error**2, "OUE": 4 * grow / (grow - 1) ** 2 / error**2}
        best = min(need, key=need.get)
        if name not in need:
            raise Wrong(f'{case}: the protocol must be "k-RR" or "OUE", got {name!r}')
        if name != best:
            raise Wrong(f"{case}: {best} needs {need[best]:,.0f} people, {name} {need[name]:,.0f}; the switch is at 3e^ε + 2 = {3 * grow + 2:.1f} values")
        people = _whole(people, case)
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
                                    (0.75, 0.4, 0.6, 4, 4.05), (0.1, 0.2, 0.9, 1, 5.0), (0.5, 0.5, 0.75, 1, 2.15), (0.25, 0.1, 0.6, 3, 12.5)):
        case = f"f = {f:g}, p = {p:g}, q = {q:g}, h = {hashes}, budget {budget:g}"
        got = [_whole(x, case) for x in _pair(ask(days, f, p, q, hashes, budget), case)]
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
    for days, epsilon, prior in ((1, 1.0, 0.5), (1, math.log(3), 0.1), (7, 0.5, 0.1), (30, 1.0, 0.02), (2000, 2.0, 0.3), (5, 0.1, 0.9)):
        people = 12
        reports = (rng.random((people, days)) < np.linspace(0, 1, people)[:, None]).astype(int)
        case = f"{days} days, ε = {epsilon:.3g}, prior {prior:g}"
        answer = ask(belief, reports.copy(), epsilon, prior)
        if answer is None:
            raise NotAttempted
        try:
            got = np.asarray(answer, dtype=float)
        except (TypeError, ValueError):
            raise Wrong(f"{case}: expected a probability for each person, got {type(answer).__name__}") from None
        if got.shape != (people,):
            raise Wrong(f"{case}: expected {people} probabilities, one for each person, got the shape {got.shape}")
        surplus = (2 * reports - 1).sum(axis=1)
        right = expit(logit(prior) + epsilon * surplus)
        if np.isfinite(got).all() and np.abs(got - right).max() < 1e-9:
            continue
        if not np.isfinite(got).all():
            raise Wrong(f"{case}: a belief is not a finite number; e^ε to the power of the days has overflowed, add logarithms")
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
            "a guess is not a belief": (surplus > 0).astype(float),
        }
        for message, value in rivals.items():
            if np.abs(got - value).max() < 1e-9:
                raise Wrong(f"{said}; {message}")
        raise Wrong(said)
    return "Bayes' rule, for one day and for two thousand"


# --------------------------------------------------------------------------------------------------------------------- liars

@checker
def ldp_liars(liars):
    """`liars(n, k, epsilon, shift, method)`: the smallest number of liars."""
    for n, k, epsilon, shift in ((30_000, 13, 1.0, 0.01), (30_000, 13, 0.5, 0.05), (1000, 2, 2.0, 0.1), (1_000_000, 100, 3.0, 0.003), (7000, 5, 0.1, 0.033)):
        for method in ("k-RR", "OUE"):
            case = f"{method}, n = {n:,}, k = {k}, ε = {epsilon:g}, shift {shift:g}"
            answer = ask(liars, n, k, epsilon, shift, method)
            if answer is None:
                raise NotAttempted
            got, grow = _whole(answer, case), math.exp(epsilon)
            p, q = (0.5, 1 / (grow + 1)) if method == "OUE" else (grow / (grow + k - 1), 1 / (grow + k - 1))
            need = shift * n * (p - q) / (1 - q)
            right = math.ceil(need - 1e-9)
            if got == right:
                continue
            said = f"{case}: {got:,.0f} liars, but {right:,} are needed"
            rivals = {
                "so many would be needed if a liar counted as one honest person, but the decoder divides by p - q": math.ceil(shift * n - 1e-9),
                "a certain report adds (1 - q)/(p - q) and not 1/(p - q): what a lie would give anyway is taken away": math.ceil(shift * n * (p - q) - 1e-9),
                "at least: round up": math.floor(need),
                "this is a share, not a number of people": need / n,
            }
            for message, value in rivals.items():
                if got == value and value != right:
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
        found = np.array([_shares(ask(honest_decode, table.copy(), epsilon), k, case) for table in tables])
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
    rng = np.random.default_rng(73)
    for epsilon in (0.3, 2.0):
        lie = float(expit(-epsilon))
        table = (rng.random((400, 7)) < np.where(np.arange(7) == 3, 0.5, lie)).astype(int)
        got = _shares(ask(honest_decode, table.copy(), epsilon), 7, "400 people")
        if np.abs(got - (table.mean(axis=0) - lie) / (0.5 - lie)).max() > 3 * math.sqrt(0.25 / 400) / (0.5 - lie):
            raise Wrong(f"right on average, but 400 people at ε = {epsilon:g} give shares far from those of all their reports: use every report")
    return "right on average over all tables of reports, for every list of true values"


def _shares(answer, k, case):
    if answer is None:
        raise NotAttempted
    try:
        shares = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        raise Wrong(f"{case}: expected {k} shares, got {type(answer).__name__}") from None
    if shares.shape != (k,):
        raise Wrong(f"{case}: expected {k} shares, got the shape {shares.shape}")
    if not np.isfinite(shares).all():
        raise Wrong(f"{case}: a share is not a finite number (a table may consist of zeros only)")
    return shares
