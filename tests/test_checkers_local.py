"""The checkers of the section on local privacy: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import math
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit

from dplib.local import Rappor, estimate_unary, unary
from dplib.teaching import check
from dplib.teaching.check.mechanisms import local as checkers


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


def days(f, p, q, hashes, budget, *, flip=False, linear=False, fresh_like_kept=False, cap=True):
    rappor = Rappor(f=f, p=p, q=q, hashes=hashes)
    fresh = int(budget / rappor.epsilon_one)
    kept = math.inf if cap and rappor.epsilon_permanent <= budget else max([n for n in range(1, 200) if rappor.epsilon(n) <= budget], default=0)
    if linear:
        kept = fresh
    if fresh_like_kept:
        fresh = kept
    return (fresh, kept) if flip else (kept, fresh)


def by_enumeration(f, p, q, hashes, budget):
    """The loss of n reports from the laws of the number of ones, with no closed form."""
    def loss(n):
        if n > 60:
            return 2 * hashes * math.log((1 - f / 2) / (f / 2))
        c = np.arange(n + 1)
        up, down = (np.exp(c * np.log(x) + (n - c) * np.log1p(-x)) for x in (q, p))
        ratio = np.log(((1 - f / 2) * up + f / 2 * down) / (f / 2 * up + (1 - f / 2) * down))
        return hashes * (ratio.max() - ratio.min())

    fresh = math.floor(budget / loss(1))
    if loss(61) <= budget:
        return np.float64(np.inf), np.int64(fresh)
    return [next(n for n in range(100) if loss(n + 1) > budget), fresh]


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


STUBS = {
    "oue": lambda value, k, epsilon, rng: ..., "plan": lambda epsilon, k, error: ..., "days": lambda f, p, q, hashes, budget: ...,
    "belief": lambda reports, epsilon, prior: ..., "liars": lambda n, k, epsilon, shift, method: ..., "decoder": lambda reports, epsilon: ...,
}

SOLUTIONS = {
    "oue": [oue(), as_list_of_bool, by_dplib],
    "plan": [plan, lambda *a: [plan(*a)[0], float(plan(*a)[1])], lambda *a: (plan(*a)[0], np.int64(plan(*a)[1]))],
    "days": [days, by_enumeration, lambda *a: tuple(map(float, days(*a)))],
    "belief": [belief, belief_day_by_day],
    "liars": [liars, lambda *a: np.float64(liars(*a)), lambda *a: next(m for m in range(10**6) if m / liars(*a, up=float) >= 1)],
    "decoder": [decode, lambda reports, epsilon: list(decode(reports, epsilon)), lambda reports, epsilon: estimate_unary(reports, epsilon=epsilon)[0]],
}

WRONG = {
    "oue": [
        (oue(lambda e, k: expit(e)), "the loss is 2ε"),
        (oue(lambda e, k: expit(e / 2), lambda e, k: expit(-e / 2)), "not the optimized coins"),
        (oue(other=lambda e, k: expit(-e / 2)), "more noise than ε asks"),
        (oue(lambda e, k: 1.0, lambda e, k: 0.0), "there is no noise"),
        (oue(lambda e, k: 1.0), "rules the value out"),
        (oue(other=lambda e, k: 0.0), "names the value"),
        (oue(other=lambda e, k: 0.5), "all bits are fair coins"),
        (oue(blind=True), "does not depend on the value"),
        (oue(lambda e, k: math.exp(e) / (math.exp(e) + k - 1), lambda e, k: 1 / (math.exp(e) + k - 1)), "randomized response with k"),
        (oue(one_coin=True), "one coin decides all bits"),
        (fixed_seed, "a seed is fixed inside"),
        (copies(), "copy of the first"),
        (honest_to_small_values, "k = 12"),
        (noise_twice(), "coins of its own"),
        (only_small_k, "k = 12, ε = 1: the same report"),
        (lambda value, k, epsilon, rng: int(rng.integers(k)), "expected 3 bits"),
        (lambda value, k, epsilon, rng: rng.random(k), "expected 3 bits"),
        (0.5, "expected a function"),
    ],
    "plan": [
        (lambda e, k, error: plan(e, k, error, power=1), "divide by its square"),
        (lambda e, k, error: plan(e, k, error, up=math.floor), "round up"),
        (lambda e, k, error: plan(e, k, error, only="OUE"), "the switch is at"),
        (lambda e, k, error: plan(e, k, error, only="k-RR"), "the switch is at"),
        (lambda e, k, error: plan(e, k, error, off=1000), "fewer will do"),
        (lambda e, k, error: (plan(e, k, error)[0], plan(e, k, error)[1] // 2), "too large with so few"),
        (lambda e, k, error: ("Laplace", 5), "must be"),
        (lambda e, k, error: 1000, "expected two things"),
    ],
    "days": [
        (lambda *a: days(*a, flip=True), "the wrong way round"),
        (lambda *a: days(*a, linear=True), "again and again"),
        (lambda *a: days(*a, fresh_like_kept=True), "there is no ceiling"),
        (lambda *a: days(*a, cap=False), "is within the budget"),
        (lambda *a: (days(*a)[0] + 1, days(*a)[1]), "yours lose"),
        (lambda *a: (days(*a)[0], days(*a)[1] + 1), "reports from fresh filters"),
        (lambda *a: (math.inf, 3), "yours lose"),
        (lambda *a: (2.5, 1), "a whole number"),
        (lambda *a: 3, "expected two things"),
    ],
    "belief": [
        (lambda r, e, prior: belief(r, e, prior, no_prior=True), "the prior is left out"),
        (lambda r, e, prior: belief(r, e, prior, factor=0.5), "not by e^(ε/2)"),
        (lambda r, e, prior: belief(r, e, prior, factor=2), "not by e^(2ε)"),
        (lambda r, e, prior: belief(r, e, prior, sign=True), "one report's"),
        (lambda r, e, prior: 1 - belief(r, e, prior), "probability of 0"),
        (lambda r, e, prior: np.mean(r, axis=1), "share of ones"),
        (belief_by_products, "overflowed"),
        (lambda r, e, prior: belief(r, e, prior)[0], "one for each person"),
        (lambda r, e, prior: "likely", "expected"),
    ],
    "liars": [
        (lambda *a: liars(*a, pull=lambda p, q: 1.0), "as one honest person"),
        (lambda *a: liars(*a, pull=lambda p, q: 1 / (p - q)), "taken away"),
        (lambda *a: liars(*a, up=math.floor), "round up"),
        (lambda *a: liars(*a, rates="k-RR"), "liars"),
        (lambda *a: liars(*a, rates="OUE"), "liars"),
        (lambda *a: liars(*a, up=float) / a[0], "a whole number"),
        (lambda *a: "few", "expected a number"),
    ],
    "decoder": [
        (lambda r, e: decode(r, e, low=0, high=1), "cut off at 0 or 1"),
        (lambda r, e: decode(r, e, low=0), "cut off at 0"),
        (lambda r, e: decode(r, e, lies=False, divide=False), "lies included"),
        (lambda r, e: decode(r, e, divide=False), "divided by p - q"),
        (lambda r, e: decode(r, e, p=lambda e: expit(e / 2), q=lambda e: expit(-e / 2)), "symmetric coins"),
        (lambda r, e: decode(r, e, p=lambda e: expit(e)), "not with e^ε"),
        (lambda r, e: decode(r, e, normal=True), "add up to 1"),
        (lambda r, e: decode(r, e, low=0, high=1, normal=True), "not a finite number"),
        (lambda r, e: decode(r, e, rows=1), "the mean share"),
        (first_and_last_only, "the mean share"),
        (unbiased_but_wasteful, "the mean share"),
        (lambda r, e: decode(r, e, rows=3), "use every report"),
        (lambda r, e: 0.5, "the shape"),
        (lambda r, e: "all", "expected"),
    ],
}


def checker(name):
    return getattr(check, f"ldp_{name}")


def test_every_checker_of_the_section_is_tested():
    assert {f"ldp_{name}" for name in SOLUTIONS} == set(checkers.__all__) and STUBS.keys() == SOLUTIONS.keys() == WRONG.keys()


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_not_wrong(name, says):
    for stub in (STUBS[name], None, ..., lambda *_: None):
        assert says(checker(name), stub) == f"○ ldp_{name}: not attempted yet"


@pytest.mark.parametrize(("name", "answer"), [(name, answer) for name, answers in SOLUTIONS.items() for answer in answers])
def test_a_right_answer_is_right(name, answer, says):
    assert says(checker(name), answer).startswith(f"✓ ldp_{name}: ")


@pytest.mark.parametrize("seed", range(20))
def test_a_right_report_is_right_whatever_its_luck(seed, says):
    assert says(check.ldp_oue, oue(seed=seed)).startswith("✓")


@pytest.mark.parametrize(("name", "answer", "reason"), [(name, answer, reason) for name, answers in WRONG.items() for answer, reason in answers])
def test_a_wrong_answer_is_told_why(name, answer, reason, says):
    said = says(checker(name), answer)
    assert said.startswith(f"✗ ldp_{name}: ") and reason in said, said


def test_an_answer_that_raises_is_wrong_and_does_no_harm(says):
    for name in SOLUTIONS:
        assert says(checker(name), lambda *_: 1 / 0).startswith(f"✗ ldp_{name}: your function raised ZeroDivisionError")


@pytest.mark.parametrize(("k", "value"), [(2, 0), (3, 1), (4, 3), (5, 2), (12, 5)])
def test_the_law_of_a_report_is_that_of_its_bits(k, value):
    outcome, laws = checkers._outcomes(k, value)
    table = np.array(list(product((0, 1), repeat=k)))
    chance = np.where(np.arange(k) == value, 0.5, 0.3)
    law = np.bincount(outcome(table), weights=np.where(table, chance, 1 - chance).prod(axis=1))
    assert np.allclose(law, laws(0.5, 0.3)) and np.isclose(law.sum(), 1)
