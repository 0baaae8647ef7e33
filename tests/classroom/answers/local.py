"""Answers to the exercises of the section on local privacy."""
import math
from functools import partial

import numpy as np
from scipy.special import expit, logit

from dplib.local import Rappor, estimate_unary, unary
from provable_privacy import check
from provable_privacy.battery.makers import fixed_seed, given, own_luck, stale, then, where

# -------------------------------------------------------------------------------------------------------------- ldp_oue


def oue(own=lambda e, k: 0.5, other=lambda e, k: expit(-e), toss=lambda rng, k: rng.random(k)):
    """A learner's report, right unless told otherwise."""
    def my_report(value, k, epsilon, rng):
        chance = np.full(k, other(epsilon, k))
        chance[value] = own(epsilon, k)
        return (toss(rng, k) < chance).astype(int)

    return my_report


def naked(value, k, epsilon):
    return np.eye(k, dtype=int)[value]


def with_bit(out, place, bit):
    out = out.copy()
    out[place] = bit
    return out


def kept_coins():
    """The coins of the first report of each length, for ever."""
    coins = {}
    return lambda rng, k: coins.setdefault(k, rng.random(k))


def coins_twice():
    """Beyond two values, every second report has the coins of the one before."""
    last = {}

    def toss(rng, k):
        if k in last:
            return last.pop(k)
        coins = rng.random(k)
        if k > 2:
            last[k] = coins
        return coins

    return toss


def sorted_others(out, table, rng):
    value = table[0]
    return np.insert(np.sort(np.delete(out, value)), value, out[value])


def quota(value, k, epsilon, rng):
    """As many ones among the others as expected, neither more nor less."""
    report, others = np.zeros(k, dtype=int), np.delete(np.arange(k), value)
    report[rng.choice(others, max(1, round((k - 1) / (1 + math.exp(epsilon)))), replace=False)] = 1
    report[value] = rng.integers(2)
    return report


def two_by_two(rng, k):
    """From the ninth bit on, two share their coin."""
    coins = rng.random(k)
    coins[9::2] = coins[8 : k - 1 : 2]
    return coins


def bare_at_times(value, k, epsilon, rng):
    """Without coins in two of a thousand reports."""
    return naked(value, k, epsilon) if rng.random() < 0.002 else OUE(value, k, epsilon, rng)


def never_empty(out, table, rng):
    """An empty report of many bits becomes the truth."""
    return out if out.any() or len(out) < 6 else naked(*table)


def as_list_of_bool(value, k, epsilon, rng):
    report = [bool(rng.random() < 1 / (1 + math.exp(epsilon))) for _ in range(k)]
    report[value] = bool(rng.integers(2))
    return report


def by_dplib(value, k, epsilon, rng):
    return unary(value, epsilon=epsilon, k=k, rng=rng)


def by_64_bits(value, k, epsilon, rng):
    """Coins made of whole 64-bit words."""
    words = rng.integers(2**64, size=k, dtype=np.uint64)
    return [int(words[i] < (2**63 if i == value else int(2**64 * expit(-epsilon)))) for i in range(k)]


OUE = oue()


# --------------------------------------------------------------------------------------------------- ldp_plan, ldp_days

def plan(epsilon, k, error, *, power=2, up=math.ceil, only=None, off=0, times=1):
    grow = math.exp(epsilon)
    need = {"k-RR": k - 2 + grow, "OUE": 4 * grow}
    best = only or min(need, key=need.get)
    return best, up(times * need[best] / (grow - 1) ** 2 / error**power) + off


def days(f, p, q, hashes, budget, *, cap=True, most=300, change=lambda kept, fresh: (kept, fresh)):
    rappor = Rappor(f=f, p=p, q=q, hashes=hashes)
    fresh = int(budget / rappor.epsilon_one)
    if cap and rappor.epsilon_permanent <= budget:
        return change(math.inf, fresh)
    return change(max([n for n in range(1, most) if rappor.epsilon(n) <= budget], default=0), fresh)


def by_enumeration(f, p, q, hashes, budget):
    """The loss of n reports from the laws of the number of ones, with no closed form."""
    def loss(n):
        if n > 300:
            return 2 * hashes * math.log((1 - f / 2) / (f / 2))
        c = np.arange(n + 1)
        up, down = (np.exp(c * np.log(x) + (n - c) * np.log1p(-x)) for x in (q, p))
        ratio = np.log(((1 - f / 2) * up + f / 2 * down) / (f / 2 * up + (1 - f / 2) * down))
        return hashes * (ratio.max() - ratio.min())

    fresh = math.floor(budget / loss(1))
    if loss(301) <= budget:
        return np.float64(np.inf), np.int64(fresh)
    return [next(n for n in range(300) if loss(n + 1) > budget), fresh]


# ----------------------------------------------------------------------------------- ldp_belief, ldp_liars, ldp_decoder

def belief(reports, epsilon, prior, *, start=logit, evidence=lambda surplus: surplus):
    return expit(start(prior) + epsilon * evidence((2 * np.asarray(reports) - 1).sum(axis=1)))


def belief_by_products(reports, epsilon, prior):
    """Right until it overflows."""
    yes = np.asarray(reports).sum(axis=1)
    no = np.asarray(reports).shape[1] - yes
    odds = prior / (1 - prior) * np.exp(epsilon) ** yes / np.exp(epsilon) ** no
    return odds / (1 + odds)


def belief_day_by_day(reports, epsilon, prior):
    """As a list, one report after another."""
    found = []
    for row in reports:
        log_odds = math.log(prior / (1 - prior))
        for bit in row:
            log_odds += epsilon if bit else -epsilon
        found.append(1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0)
    return found


def liars(n, k, epsilon, shift, method, *, pull=lambda p, q: (1 - q) / (p - q), up=math.ceil, rates=None):
    grow = math.exp(epsilon)
    oue = (rates or method) == "OUE"
    p, q = (0.5, 1 / (grow + 1)) if oue else (grow / (grow + k - 1), 1 / (grow + k - 1))
    return up(shift * n / pull(p, q))


def decode(reports, epsilon, *, low=-math.inf, high=math.inf, normal=False, p=lambda e: 0.5, q=lambda e: expit(-e),
           divide=True, lies=True, rows=None):
    shares = np.mean(np.asarray(reports)[:rows], axis=0) - (q(epsilon) if lies else 0)
    shares = np.clip(shares / (p(epsilon) - q(epsilon)) if divide else shares, low, high)
    return shares / shares.sum() if normal else shares


def moved(reports, epsilon):
    """Shares that add up to one, and are right on average."""
    shares = decode(reports, epsilon)
    return shares + (1 - shares.sum()) / len(shares)


def unbiased_but_wasteful(reports, epsilon):
    """Weights that add up to one and are far from even: wrong shares, for they must count every person alike."""
    weights = np.arange(1, len(reports) + 1) / (len(reports) * (len(reports) + 1) / 2)
    return decode([weights @ np.asarray(reports)], epsilon)


# -------------------------------------------------------------------------------------------------------------- ldp_set

def set_size(epsilon, k, *, power=2, shift=0, change=lambda size, value: (size, value)):
    d = np.arange(1, k)
    p = d * np.exp(epsilon) / (d * np.exp(epsilon) + k - d)
    q = (d - p) / (k - 1)
    at = min(int(np.argmin(q * (1 - q) / (p - q) ** 2)) + shift, k - 2)
    return change(d[at], (q * (1 - q) / (p - q) ** power)[at])


def set_size_by_sums(epsilon, k):
    """From binomial coefficients, without the short formulas."""
    def of(d):
        inside, outside = math.exp(epsilon) * math.comb(k - 1, d - 1), math.comb(k - 1, d)
        own = inside / (inside + outside)
        other = (math.exp(epsilon) * math.comb(k - 2, d - 2) if d > 1 else 0.0) + math.comb(k - 2, d - 1)
        other /= inside + outside
        return other * (1 - other) / (own - other) ** 2

    best = min(range(1, k), key=of)
    return [best, of(best)]


# --------------------------------------------------------------------------------------------------------------- tables

STUBS = [
    (check.ldp_oue, lambda value, k, epsilon, rng: ...),
    (check.ldp_plan, lambda epsilon, k, error: ...),
    (check.ldp_days, lambda f, p, q, hashes, budget: ...),
    (check.ldp_belief, lambda reports, epsilon, prior: ...),
    (check.ldp_liars, lambda n, k, epsilon, shift, method: ...),
    (check.ldp_decoder, lambda reports, epsilon: ...),
    (check.ldp_set, lambda epsilon, k: ...),
]

SOLUTIONS = [
    (check.ldp_oue, own_luck(OUE)),
    (check.ldp_plan, lambda seed: plan),
    (check.ldp_days, lambda seed: days),
    (check.ldp_belief, lambda seed: belief),
    (check.ldp_liars, lambda seed: liars),
    (check.ldp_decoder, lambda seed: decode),
    (check.ldp_set, lambda seed: set_size),
]

UNUSUAL = [
    (check.ldp_oue, as_list_of_bool),
    (check.ldp_oue, by_dplib),
    (check.ldp_oue, by_64_bits),
    (check.ldp_plan, lambda *case: [plan(*case)[0], float(plan(*case)[1])]),
    (check.ldp_days, by_enumeration),
    (check.ldp_days, partial(days, change=lambda kept, fresh: (float(kept), float(fresh)))),
    (check.ldp_belief, belief_day_by_day),
    (check.ldp_liars, lambda *case: next(m for m in range(10**6) if m / liars(*case, up=float) >= 1)),
    (check.ldp_decoder, lambda reports, epsilon: list(decode(reports, epsilon))),
    (check.ldp_decoder, lambda reports, epsilon: estimate_unary(reports, epsilon=epsilon)[0]),
    (check.ldp_decoder, moved),
    (check.ldp_set, set_size_by_sums),
]

LEAKS = [
    (check.ldp_oue, naked),
    (check.ldp_oue, oue(lambda e, k: expit(e))),
    (check.ldp_oue, oue(toss=lambda rng, k: rng.random())),
    (check.ldp_oue, where(lambda value, k, epsilon: k > 4, then(OUE, sorted_others), OUE)),
    (check.ldp_oue, quota),
    (check.ldp_oue, oue(toss=kept_coins())),
    (check.ldp_oue, then(OUE, lambda out, t, rng: with_bit(out, t[0], np.random.default_rng(t[:2]).integers(2)))),
    (check.ldp_oue, then(OUE, lambda out, t, rng: with_bit(out, -1, out[-1] | (t[0] == t[1] - 1)))),
    (check.ldp_oue, fixed_seed(OUE, 0)),
    (check.ldp_oue, stale(OUE, lambda *table: table)),
    (check.ldp_oue, oue(toss=coins_twice())),
    (check.ldp_oue, where(lambda value, k, epsilon: k <= 4, OUE, naked)),
    (check.ldp_oue, then(OUE, lambda out, t, rng: with_bit(out, t[0], out[t[0]] | (t[0] >= 6)))),
    (check.ldp_oue, given(OUE, epsilon=1.0)),
    (check.ldp_oue, given(OUE, epsilon=lambda epsilon: 2 * epsilon if epsilon > 2.5 else epsilon)),
    (check.ldp_oue, then(OUE, lambda out, t, rng: with_bit(np.roll(out, -1), -1, 0))),
    # a threshold of the code, for k, epsilon and the value
    (check.ldp_oue, where(lambda value, k, epsilon: k > 30, naked, OUE)),
    (check.ldp_oue, where(lambda value, k, epsilon: epsilon > 4, naked, OUE)),
    (check.ldp_oue, where(lambda value, k, epsilon: value > 11, naked, OUE)),
    (check.ldp_oue, given(OUE, epsilon=lambda epsilon: max(epsilon, 0.15))),
    (check.ldp_oue, oue(other=lambda e, k: round(float(expit(-e)), 1))),
    # rare events, shared coins, types
    (check.ldp_oue, bare_at_times),
    (check.ldp_oue, then(OUE, never_empty)),
    (check.ldp_oue, oue(toss=two_by_two)),
    (check.ldp_oue, then(OUE, lambda out, t, rng: out.astype(float) if t[0] > t[1] / 2 else out)),
    (check.ldp_oue, then(OUE, lambda out, t, rng: [int(b) if i == t[0] else b for i, b in enumerate(out)])),
    (check.ldp_oue, then(OUE, lambda out, t, rng: out * np.where(np.arange(t[1]) == t[0], -1.0, 1.0) ** (1 - out))),
]

WRONG = [
    (check.ldp_oue, oue(lambda e, k: expit(e)), "the loss is 2ε"),
    (check.ldp_oue, oue(lambda e, k: expit(e / 2), lambda e, k: expit(-e / 2)), "not the optimized coins"),
    (check.ldp_oue, oue(other=lambda e, k: expit(-e / 2)), "more noise than ε asks"),
    (check.ldp_oue, oue(other=lambda e, k: math.exp(-e)), "with e^-ε: it is"),
    (check.ldp_oue, oue(other=lambda e, k: math.exp(-e) / 2), "✗ ldp_oue: on (value"),
    (check.ldp_oue, oue(lambda e, k: 1.0, lambda e, k: 0.0), "there is no noise"),
    (check.ldp_oue, oue(lambda e, k: 1.0), "rules the value out"),
    (check.ldp_oue, oue(other=lambda e, k: 0.0), "names the value"),
    (check.ldp_oue, oue(other=lambda e, k: 0.5), "all bits are fair coins"),
    (check.ldp_oue, oue(lambda e, k: expit(e / 2)), "the loss is 3ε/2"),
    (check.ldp_oue, oue(other=lambda e, k: expit(-e / k)), "1/(e^(ε/k) + 1)"),
    (check.ldp_oue, oue(lambda e, k: 0.75, lambda e, k: 0.25), "whatever ε is"),
    (check.ldp_oue, oue(lambda e, k: expit(-e)), "does not depend on the value"),
    (check.ldp_oue, oue(lambda e, k: math.exp(e) / (math.exp(e) + k - 1), lambda e, k: 1 / (math.exp(e) + k - 1)),
     "randomized response with k"),
    (check.ldp_oue, oue(toss=lambda rng, k: rng.random()), "one coin decides all bits"),
    (check.ldp_oue, fixed_seed(OUE, 0), "a seed is fixed inside"),
    (check.ldp_oue, lambda value, k, epsilon, rng: int(rng.integers(k)), "expected 5 bits"),
    (check.ldp_oue, lambda value, k, epsilon, rng: rng.random(k), "expected 5 bits"),
    (check.ldp_oue, where(lambda value, *_: value, lambda *_: None, OUE), "is the `return` missing?"),
    (check.ldp_oue, 0.5, "expected a function"),
    (check.ldp_plan, partial(plan, power=1), "divide by its square"),
    (check.ldp_plan, partial(plan, up=math.floor), "round up"),
    (check.ldp_plan, partial(plan, only="OUE"), "the switch is at"),
    (check.ldp_plan, partial(plan, only="k-RR"), "the switch is at"),
    (check.ldp_plan, partial(plan, times=2), "people are enough"),
    (check.ldp_plan, partial(plan, times=0.5), "too large with so few"),
    (check.ldp_plan, lambda epsilon, k, error: ("Laplace", 5), "is not on the list"),
    (check.ldp_plan, lambda epsilon, k, error: 1000, "expected (protocol, people)"),
    (check.ldp_days, partial(days, change=lambda kept, fresh: (fresh, kept)), "in the wrong order"),
    (check.ldp_days, partial(days, change=lambda kept, fresh: (fresh, fresh)), "share their loss"),
    (check.ldp_days, partial(days, change=lambda kept, fresh: (kept, kept)), "there is no ceiling"),
    (check.ldp_days, partial(days, cap=False), "is within the budget"),
    (check.ldp_days, partial(days, change=lambda kept, fresh: (kept + 1, fresh)), "reports lose"),
    (check.ldp_days, partial(days, change=lambda kept, fresh: (kept, fresh + 1)), "with fresh filters: not"),
    (check.ldp_days, lambda *case: (math.inf, 3), "with the filter kept: not inf"),
    (check.ldp_days, lambda *case: (2.5, 1), "a whole number"),
    (check.ldp_days, partial(days, most=101), "191 fit"),
    (check.ldp_days, lambda *case: 3, "expected (with the filter kept, with fresh filters)"),
    (check.ldp_belief, partial(belief, start=lambda prior: 0), "the prior is left out"),
    (check.ldp_belief, partial(belief, evidence=lambda surplus: surplus / 2), "not by e^(ε/2)"),
    (check.ldp_belief, partial(belief, evidence=lambda surplus: 2 * surplus), "not by e^(2ε)"),
    (check.ldp_belief, partial(belief, evidence=np.sign), "one report's"),
    (check.ldp_belief, lambda *case: 1 - belief(*case), "probability of 0"),
    (check.ldp_belief, lambda r, e, prior: np.mean(r, axis=1), "this is the share of ones"),
    (check.ldp_belief, lambda r, e, prior: (np.mean(r, axis=1) - expit(-e)) / (2 * expit(e) - 1), "estimated share"),
    (check.ldp_belief, lambda r, e, prior: expit(logit(prior) + e * np.sum(r, axis=1)), "a no speaks for 0"),
    (check.ldp_belief, lambda *case: np.round(belief(*case)), "a guess is not a belief"),
    (check.ldp_belief, lambda *case: np.round(belief(*case), 3), "rounded too far"),
    (check.ldp_belief, lambda *case: belief(*case) ** 2, "and Bayes' rule says"),
    (check.ldp_belief, belief_by_products, "do powers of e^ε overflow"),
    (check.ldp_belief, lambda *case: belief(*case)[0], "expected 12 numbers"),
    (check.ldp_belief, lambda r, e, prior: "likely", "expected 12 numbers"),
    (check.ldp_liars, partial(liars, pull=lambda p, q: 1.0), "as one honest person"),
    (check.ldp_liars, partial(liars, pull=lambda p, q: 1 / (p - q)), "subtract what a lie"),
    (check.ldp_liars, partial(liars, up=math.floor), "round up"),
    (check.ldp_liars, partial(liars, rates="k-RR"), "liars"),
    (check.ldp_liars, partial(liars, rates="OUE"), "liars"),
    (check.ldp_liars, lambda n, *case: liars(n, *case, up=float) / n, "this is a share"),
    (check.ldp_liars, partial(liars, up=float), "people are whole"),
    (check.ldp_liars, lambda *case: "few", "expected a number"),
    (check.ldp_decoder, partial(decode, low=0, high=1), "cut off at 0 or 1"),
    (check.ldp_decoder, partial(decode, low=0), "cut off at 0"),
    (check.ldp_decoder, partial(decode, lies=False, divide=False), "lies included"),
    (check.ldp_decoder, partial(decode, divide=False), "divided by p - q"),
    (check.ldp_decoder, partial(decode, p=lambda e: expit(e / 2), q=lambda e: expit(-e / 2)), "symmetric coins"),
    (check.ldp_decoder, partial(decode, p=expit), "not with e^ε"),
    (check.ldp_decoder, partial(decode, normal=True), "add up to 1"),
    (check.ldp_decoder, partial(decode, low=0, high=1, normal=True), "may consist of zeros only"),
    (check.ldp_decoder, lambda r, e: np.nan_to_num(decode(r, e, low=0, high=1, normal=True)), "divided by their sum"),
    (check.ldp_decoder, partial(decode, rows=1), "the mean share"),
    (check.ldp_decoder, lambda r, e: decode(np.asarray(r)[[0, -1]], e), "the mean share"),
    (check.ldp_decoder, unbiased_but_wasteful, "the mean share"),
    (check.ldp_decoder, partial(decode, rows=3), "use every report"),
    (check.ldp_decoder, lambda r, e: decode(r[::2] if len(r) > 3 else r, e), "use every report"),
    (check.ldp_decoder, partial(decode, rows=1000), "use every report"),
    (check.ldp_decoder, lambda r, e: 0.5, "expected 3 numbers"),
    (check.ldp_decoder, lambda r, e: "all", "expected"),
    (check.ldp_set, partial(set_size, power=1), "divide by the square"),
    (check.ldp_set, partial(set_size, power=0), "not of the estimate"),
    (check.ldp_set, partial(set_size, change=lambda size, value: (size, value**0.5)), "this is its root"),
    (check.ldp_set, partial(set_size, change=lambda size, value: (1, value)), "sets of 3 have"),
    (check.ldp_set, partial(set_size, shift=1), "sets of 3 have"),
    (check.ldp_set, lambda epsilon, k: (k, 1.0), "1 ≤ d < k"),
    (check.ldp_set, partial(set_size, change=lambda size, value: (size, round(value, 2))), "rounded too far"),
    (check.ldp_set, partial(set_size, change=lambda size, value: value), "expected (the size, n times the variance)"),
]
