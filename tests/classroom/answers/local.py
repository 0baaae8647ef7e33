"""The checkers of the section on local privacy: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import math

import numpy as np
from scipy.special import expit, logit

from dplib.local import Rappor, estimate_unary, unary
from provable_privacy import check


def oue(own=lambda e, k: 0.5, other=lambda e, k: 1 / (math.exp(e) + 1), *, one_coin=False, seed=None, blind=False):
    """A learner's report, right unless told otherwise."""
    luck = None if seed is None else np.random.default_rng(seed)

    def my_report(value, k, epsilon, rng):
        rng = luck or rng
        chance = np.full(k, other(epsilon, k))
        if not blind:
            chance[value] = own(epsilon, k)
        coins = rng.random() if one_coin else rng.random(k)
        return (coins < chance).astype(int)

    return my_report


def fixed_seed(value, k, epsilon, rng):
    return oue()(value, k, epsilon, np.random.default_rng(0))


def copies():
    """Every second report is that of before."""
    kept = {}

    def my_report(value, k, epsilon, rng):
        key = (value, k, epsilon)
        if key in kept:
            return kept.pop(key)
        kept[key] = oue()(value, k, epsilon, rng)
        return kept[key]

    return my_report


def only_small_k(value, k, epsilon, rng):
    """Right up to four values, without noise beyond."""
    return oue()(value, k, epsilon, rng) if k <= 4 else np.eye(k, dtype=int)[value]


def honest_to_small_values(value, k, epsilon, rng):
    """The own bit is a coin for the first six values only."""
    report = oue()(value, k, epsilon, rng)
    report[value] = report[value] if value < 6 else 1
    return report


def noise_twice():
    """Beyond two values, every second report has the coins of the one before."""
    kept = []

    def my_report(value, k, epsilon, rng):
        coins = kept.pop() if kept and len(kept[-1]) == k else rng.random(k)
        if k > 2 and not my_report.used:
            kept.append(coins)
        my_report.used = not my_report.used
        chance = np.full(k, 1 / (math.exp(epsilon) + 1))
        chance[value] = 0.5
        return (coins < chance).astype(int)

    my_report.used = False
    return my_report


def as_list_of_bool(value, k, epsilon, rng):
    report = [bool(rng.random() < 1 / (1 + math.exp(epsilon))) for _ in range(k)]
    report[value] = bool(rng.integers(2))
    return report


def by_dplib(value, k, epsilon, rng):
    return unary(value, epsilon=epsilon, k=k, rng=rng)


def plan(epsilon, k, error, *, power=2, up=math.ceil, only=None, off=0):
    grow = math.exp(epsilon)
    need = {"k-RR": k - 2 + grow, "OUE": 4 * grow}
    best = only or min(need, key=need.get)
    return best, up(need[best] / (grow - 1) ** 2 / error**power) + off


def days(f, p, q, hashes, budget, *, flip=False, linear=False, fresh_like_kept=False, cap=True, most=300):
    rappor = Rappor(f=f, p=p, q=q, hashes=hashes)
    fresh = int(budget / rappor.epsilon_one)
    kept = math.inf if cap and rappor.epsilon_permanent <= budget else max([n for n in range(1, most) if rappor.epsilon(n) <= budget], default=0)
    if linear:
        kept = fresh
    if fresh_like_kept:
        fresh = kept
    return (fresh, kept) if flip else (kept, fresh)


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


def belief(reports, epsilon, prior, *, factor=1.0, no_prior=False, sign=False):
    surplus = (2 * np.asarray(reports) - 1).sum(axis=1)
    return expit((0 if no_prior else logit(prior)) + factor * epsilon * (np.sign(surplus) if sign else surplus))


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
    method = rates or method
    p, q = (0.5, 1 / (grow + 1)) if method == "OUE" else (grow / (grow + k - 1), 1 / (grow + k - 1))
    return up(shift * n / pull(p, q))


def decode(reports, epsilon, *, low=-math.inf, high=math.inf, normal=False, p=lambda e: 0.5, q=lambda e: float(expit(-e)), divide=True, lies=True, rows=None):
    shares = np.mean(np.asarray(reports)[:rows], axis=0) - (q(epsilon) if lies else 0)
    if divide:
        shares = shares / (p(epsilon) - q(epsilon))
    shares = np.clip(shares, low, high)
    return shares / shares.sum() if normal else shares


def first_and_last_only(reports, epsilon):
    """Unbiased for up to two people, and biased for three."""
    return decode(np.asarray(reports)[[0, -1]], epsilon)


def unbiased_but_wasteful(reports, epsilon):
    """Weights that add up to one and are far from even: wrong shares, for they must count every person alike."""
    weights = np.arange(1, len(reports) + 1) / (len(reports) * (len(reports) + 1) / 2)
    return (weights @ np.asarray(reports) - expit(-epsilon)) / (0.5 - expit(-epsilon))


def sorted_others(value, k, epsilon, rng):
    """Beyond four values the other bits come out in order."""
    report = oue()(value, k, epsilon, rng)
    return np.insert(np.sort(np.delete(report, value)), value, report[value]) if k > 4 else report


def quota(value, k, epsilon, rng):
    """As many ones among the others as expected, neither more nor less."""
    report, others = np.zeros(k, dtype=int), np.delete(np.arange(k), value)
    report[rng.choice(others, max(1, round((k - 1) / (1 + math.exp(epsilon)))), replace=False)] = 1
    report[value] = rng.integers(2)
    return report


def kept_coins():
    """The coins of the first report of each length, for ever."""
    coins = {}

    def my_report(value, k, epsilon, rng):
        luck = coins.setdefault(k, rng.random(k))
        return (luck < np.where(np.arange(k) == value, 0.5, expit(-epsilon))).astype(int)

    return my_report


def seeded_by_the_value(value, k, epsilon, rng):
    report = oue()(value, k, epsilon, rng)
    report[value] = np.random.default_rng([value, k]).integers(2)
    return report


def last_value_naked(value, k, epsilon, rng):
    report = oue()(value, k, epsilon, rng)
    report[-1] |= value == k - 1
    return report


def by_64_bits(value, k, epsilon, rng):
    """Coins made of whole 64-bit words."""
    words = rng.integers(2**64, size=k, dtype=np.uint64)
    return [int(words[i] < (2**63 if i == value else int(2**64 * expit(-epsilon)))) for i in range(k)]


def set_size(epsilon, k, *, power=2, worst=False, shift=0):
    d = np.arange(1, k)
    p = d * np.exp(epsilon) / (d * np.exp(epsilon) + k - d)
    q = (d - p) / (k - 1)
    varies = q * (1 - q) / (p - q) ** power
    at = min(max(int(np.argmax(varies) if worst else np.argmin(q * (1 - q) / (p - q) ** 2)) + shift, 0), k - 2)
    return d[at], varies[at]


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
    (check.ldp_oue, lambda seed: oue(seed=seed)), (check.ldp_plan, lambda seed: plan), (check.ldp_days, lambda seed: days),
    (check.ldp_belief, lambda seed: belief),
    (check.ldp_liars, lambda seed: liars), (check.ldp_decoder, lambda seed: decode), (check.ldp_set, lambda seed: set_size),
]

UNUSUAL = [
    (check.ldp_oue, as_list_of_bool),
    (check.ldp_oue, by_dplib),
    (check.ldp_oue, by_64_bits),
    (check.ldp_plan, lambda *a: [plan(*a)[0], float(plan(*a)[1])]),
    (check.ldp_days, by_enumeration),
    (check.ldp_days, lambda *a: tuple(map(float, days(*a)))),
    (check.ldp_belief, belief_day_by_day),
    (check.ldp_liars, lambda *a: next(m for m in range(10**6) if m / liars(*a, up=float) >= 1)),
    (check.ldp_decoder, lambda reports, epsilon: list(decode(reports, epsilon))),
    (check.ldp_decoder, lambda reports, epsilon: estimate_unary(reports, epsilon=epsilon)[0]),
    (check.ldp_decoder, lambda reports, epsilon: decode(reports, epsilon) + (1 - decode(reports, epsilon).sum()) / np.shape(reports)[1]),
    (check.ldp_set, set_size_by_sums),
]

LEAKS = [(check.ldp_oue, answer) for answer in (
    oue(lambda e, k: 1.0, lambda e, k: 0.0), oue(lambda e, k: expit(e)), oue(one_coin=True), sorted_others, quota, kept_coins(),
    seeded_by_the_value, last_value_naked, fixed_seed, copies(), noise_twice(), only_small_k, honest_to_small_values,
    lambda value, k, epsilon, rng: oue()(value, k, 1.0, rng),
    lambda value, k, epsilon, rng: oue()(value, k, 2 * epsilon if epsilon > 2.5 else epsilon, rng),
    lambda value, k, epsilon, rng: np.roll(oue()(value, k, epsilon, rng), -1) * np.append(np.ones(k - 1, dtype=int), 0),
)]

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
    (check.ldp_oue, oue(blind=True), "does not depend on the value"),
    (check.ldp_oue, oue(lambda e, k: math.exp(e) / (math.exp(e) + k - 1), lambda e, k: 1 / (math.exp(e) + k - 1)), "randomized response with k"),
    (check.ldp_oue, oue(one_coin=True), "one coin decides all bits"),
    (check.ldp_oue, fixed_seed, "a seed is fixed inside"),
    (check.ldp_oue, lambda value, k, epsilon, rng: int(rng.integers(k)), "expected 5 bits"),
    (check.ldp_oue, lambda value, k, epsilon, rng: rng.random(k), "expected 5 bits"),
    (check.ldp_oue, 0.5, "expected a function"),
    (check.ldp_plan, lambda e, k, error: plan(e, k, error, power=1), "divide by its square"),
    (check.ldp_plan, lambda e, k, error: plan(e, k, error, up=math.floor), "round up"),
    (check.ldp_plan, lambda e, k, error: plan(e, k, error, only="OUE"), "the switch is at"),
    (check.ldp_plan, lambda e, k, error: plan(e, k, error, only="k-RR"), "the switch is at"),
    (check.ldp_plan, lambda e, k, error: plan(e, k, error, off=1000), "fewer will do"),
    (check.ldp_plan, lambda e, k, error: (plan(e, k, error)[0], plan(e, k, error)[1] // 2), "too large with so few"),
    (check.ldp_plan, lambda e, k, error: ("Laplace", 5), "must be"),
    (check.ldp_plan, lambda e, k, error: 1000, "expected two things"),
    (check.ldp_days, lambda *a: days(*a, flip=True), "the wrong way round"),
    (check.ldp_days, lambda *a: days(*a, linear=True), "again and again"),
    (check.ldp_days, lambda *a: days(*a, fresh_like_kept=True), "there is no ceiling"),
    (check.ldp_days, lambda *a: days(*a, cap=False), "is within the budget"),
    (check.ldp_days, lambda *a: (days(*a)[0] + 1, days(*a)[1]), "yours lose"),
    (check.ldp_days, lambda *a: (days(*a)[0], days(*a)[1] + 1), "reports from fresh filters"),
    (check.ldp_days, lambda *a: (math.inf, 3), "yours lose"),
    (check.ldp_days, lambda *a: (2.5, 1), "a whole number"),
    (check.ldp_days, lambda *a: days(*a, most=101), "but 191 fit"),
    (check.ldp_days, lambda *a: 3, "expected two things"),
    (check.ldp_belief, lambda r, e, prior: belief(r, e, prior, no_prior=True), "the prior is left out"),
    (check.ldp_belief, lambda r, e, prior: belief(r, e, prior, factor=0.5), "not by e^(ε/2)"),
    (check.ldp_belief, lambda r, e, prior: belief(r, e, prior, factor=2), "not by e^(2ε)"),
    (check.ldp_belief, lambda r, e, prior: belief(r, e, prior, sign=True), "one report's"),
    (check.ldp_belief, lambda r, e, prior: 1 - belief(r, e, prior), "probability of 0"),
    (check.ldp_belief, lambda r, e, prior: np.mean(r, axis=1), "share of ones"),
    (check.ldp_belief, lambda r, e, prior: np.round(belief(r, e, prior)), "a guess is not a belief"),
    (check.ldp_belief, belief_by_products, "do powers of e^ε overflow"),
    (check.ldp_belief, lambda r, e, prior: belief(r, e, prior)[0], "expected 12 numbers"),
    (check.ldp_belief, lambda r, e, prior: "likely", "expected 12 numbers"),
    (check.ldp_liars, lambda *a: liars(*a, pull=lambda p, q: 1.0), "as one honest person"),
    (check.ldp_liars, lambda *a: liars(*a, pull=lambda p, q: 1 / (p - q)), "taken away"),
    (check.ldp_liars, lambda *a: liars(*a, up=math.floor), "round up"),
    (check.ldp_liars, lambda *a: liars(*a, rates="k-RR"), "liars"),
    (check.ldp_liars, lambda *a: liars(*a, rates="OUE"), "liars"),
    (check.ldp_liars, lambda *a: liars(*a, up=float) / a[0], "this is a share"),
    (check.ldp_liars, lambda *a: liars(*a, up=float), "people are whole"),
    (check.ldp_liars, lambda *a: "few", "expected a number"),
    (check.ldp_decoder, lambda r, e: decode(r, e, low=0, high=1), "cut off at 0 or 1"),
    (check.ldp_decoder, lambda r, e: decode(r, e, low=0), "cut off at 0"),
    (check.ldp_decoder, lambda r, e: decode(r, e, lies=False, divide=False), "lies included"),
    (check.ldp_decoder, lambda r, e: decode(r, e, divide=False), "divided by p - q"),
    (check.ldp_decoder, lambda r, e: decode(r, e, p=lambda e: expit(e / 2), q=lambda e: expit(-e / 2)), "symmetric coins"),
    (check.ldp_decoder, lambda r, e: decode(r, e, p=lambda e: expit(e)), "not with e^ε"),
    (check.ldp_decoder, lambda r, e: decode(r, e, normal=True), "add up to 1"),
    (check.ldp_decoder, lambda r, e: decode(r, e, low=0, high=1, normal=True), "may consist of zeros only"),
    (check.ldp_decoder, lambda r, e: decode(r, e, rows=1), "the mean share"),
    (check.ldp_decoder, first_and_last_only, "the mean share"),
    (check.ldp_decoder, unbiased_but_wasteful, "the mean share"),
    (check.ldp_decoder, lambda r, e: decode(r, e, rows=3), "use every report"),
    (check.ldp_decoder, lambda r, e: 0.5, "expected 3 numbers"),
    (check.ldp_decoder, lambda r, e: "all", "expected"),
    (check.ldp_oue, lambda value, k, epsilon, rng: None if value else oue()(value, k, epsilon, rng), "is the `return` missing?"),
    (check.ldp_belief, lambda r, e, prior: np.round(belief(r, e, prior), 3), "rounded too far"),
    (check.ldp_decoder, lambda r, e: decode(np.asarray(r)[::2] if len(r) > 3 else r, e), "use every report"),
    (check.ldp_decoder, lambda r, e: decode(np.asarray(r)[:1000], e), "use every report"),
    (check.ldp_set, lambda e, k: set_size(e, k, power=1), "divide by the square"),
    (check.ldp_set, lambda e, k: (1, set_size(e, k)[1]), "but sets of 3 have"),
    (check.ldp_set, lambda e, k: set_size(e, k, shift=1), "but sets of 3 have"),
    (check.ldp_set, lambda e, k: (k, 1.0), "1 ≤ d < k"),
    (check.ldp_set, lambda e, k: (set_size(e, k)[0], round(set_size(e, k)[1], 2)), "rounded too far"),
    (check.ldp_set, lambda e, k: set_size(e, k)[1], "expected two things"),
]
