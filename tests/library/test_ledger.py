"""A ledger that threads share, that can be saved, and whose losses may be of any size."""
import asyncio
import contextlib
import copy
import itertools
import math
import multiprocessing
import pickle
import threading
import time

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import PROPERTY

from dplib import fdp
from dplib.budget import Budget, BudgetExceeded, advanced, basic, gdp_to_approx, optimal
from dplib.fdp import product
from dplib.mechanisms import gaussian_delta, gaussian_sigma
from dplib.sensitivity import ADJACENCIES

RULES = ["basic", "zcdp", "fdp"]
THREADS = 6


# --- one step


def at_once(*works):
    """Run these functions in threads that start together, and return what they return."""
    barrier, results = threading.Barrier(len(works)), [None] * len(works)

    def run(place, work):
        barrier.wait()
        results[place] = work()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def slowed(monkeypatch):
    """Give other threads time between the check and the charge."""
    def late(check):
        def checked(*arguments):
            result = check(*arguments)
            time.sleep(0.01)
            return result

        return checked

    for name in ("_spent", "_product"):
        monkeypatch.setattr(Budget, name, late(getattr(Budget, name)))


def asks(budget, epsilon, block=None):
    def ask():
        with budget.parallel(block) if block else contextlib.nullcontext():
            try:
                return budget.spend(epsilon)
            except BudgetExceeded:
                return 0

    return ask


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("block", [None, *ADJACENCIES])
def test_threads_together_spend_no_more_than_the_budget(monkeypatch, rule, block):
    budget = Budget(1.0, delta=1e-6, rule=rule)
    budget.spend(0.05)
    budget.spend(0.06)
    slowed(monkeypatch)
    granted = at_once(*[asks(budget, 0.6, block)] * THREADS)
    assert sorted(granted) == [0] * (THREADS - 1) + [0.6]
    assert [entry.epsilon for entry in budget.ledger] == [0.05, 0.06, 0.6] and budget.spent <= 1


@pytest.mark.parametrize("rule", RULES)
def test_without_the_lock_they_would_spend_more(monkeypatch, rule):
    budget = Budget(1.0, delta=1e-6, rule=rule)
    slowed(monkeypatch)
    budget._lock = contextlib.nullcontext()
    assert sum(at_once(*[asks(budget, 0.6)] * THREADS)) > 1


@pytest.mark.parametrize("rule", RULES)
def test_all_that_threads_spend_is_in_the_ledger(rule):
    budget = Budget(3.0, delta=1e-6, rule=rule)
    at_once(*[lambda: [budget.spend(0.01) for _ in range(20)]] * THREADS)
    assert len(budget.ledger) == 20 * THREADS
    alone = Budget(3.0, delta=1e-6, rule=rule)
    for _ in range(20 * THREADS):
        alone.spend(0.01)
    assert budget.spent == pytest.approx(alone.spent, rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_block_belongs_to_the_thread_that_opens_it(rule, adjacency):
    """Two threads are in blocks of their own, and a third outside of both."""
    budget = Budget(9.0, delta=1e-6, rule=rule)
    opened, spent = (threading.Barrier(3, timeout=10) for _ in range(2))

    def inside(losses):
        with budget.parallel(adjacency):
            opened.wait()
            for loss in losses:
                budget.spend(loss)
            with pytest.raises(RuntimeError):
                budget.parallel(adjacency).__enter__()
            spent.wait()

    def outside():
        opened.wait()
        budget.spend(0.5)
        spent.wait()

    at_once(lambda: inside([0.3, 0.2, 0.1]), lambda: inside([0.7, 0.4]), outside)
    alone = Budget(9.0, delta=1e-6, rule=rule)
    alone.spend(0.5)
    for losses in ([0.3, 0.2, 0.1], [0.7, 0.4]):
        with alone.parallel(adjacency):
            for loss in losses:
                alone.spend(loss)
    assert budget.spent == pytest.approx(alone.spent, rel=1e-6)
    assert sorted(entry.epsilon for entry in budget.ledger if entry.block is None) == [0.5]
    assert len({entry.block for entry in budget.ledger}) == 3


def test_a_block_belongs_to_the_task_that_opens_it():
    budget = Budget(1.0)

    async def inside():
        with budget.parallel("add/remove"):
            await asyncio.sleep(0.01)
            budget.spend(0.25)
            await asyncio.sleep(0.01)
            budget.spend(0.25)

    async def outside():
        await asyncio.sleep(0.015)
        budget.spend(0.5)

    async def both():
        await asyncio.gather(inside(), outside())

    asyncio.run(both())
    assert budget.spent == 0.75 and [entry.block for entry in budget.ledger].count(None) == 1


def test_the_ledger_that_is_read_is_a_copy():
    budget = Budget(1.0)
    budget.spend(0.5)
    budget.ledger.clear()
    assert len(budget.ledger) == 1 and budget.spent == 0.5


# --- saved and copied


def copies(thing):
    return [pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing), copy.copy(thing)]


@pytest.mark.parametrize("rule", RULES)
def test_a_budget_is_saved_with_its_history_and_goes_on_from_there(rule):
    budget = Budget(9.0, delta=1e-5, rule=rule, slack=5e-6 if rule == "zcdp" else None)
    budget.spend(0.5, delta=1e-6, label="mean")
    for loss in np.linspace(0.01, 0.02, 20):     # enough for a total that was composed on the way
        budget.spend(loss)
    with budget.parallel("replace"):
        budget.spend(0.25, label="north")
        budget.spend(0.125, label="south")
        for other in copies(budget):             # in which the block is closed
            assert other.spent == pytest.approx(budget.spent, rel=1e-9)
            other.spend(0.5)
            assert other.ledger[-1].block is None
    for other in copies(budget):
        lines = [[(entry.epsilon, entry.delta, entry.label, entry.block) for entry in one.ledger]
                 for one in (budget, other)]
        assert lines[0] == lines[1] and len(lines[0]) == 23
        assert other.spent == pytest.approx(budget.spent, rel=1e-12) and repr(other) == repr(budget)
        other.spend(0.5)
        with other.parallel("add/remove"), pytest.raises(BudgetExceeded):
            other.spend(9.0)
        assert len(budget.ledger) == 23 and other.spent > budget.spent


def test_a_refusal_is_saved_and_comes_back_from_another_process():
    refusal = BudgetExceeded("delta", 2.0, 1.0)
    for other in copies(refusal):
        assert (other.parameter, other.requested, other.remaining) == ("delta", 2.0, 1.0)
        assert str(other) == str(refusal) and type(other) is BudgetExceeded
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        waiting = pool.map_async(Budget(1.0).spend, [2.0])
        with pytest.raises(BudgetExceeded, match="needs epsilon 2, but only 1 remains"):
            waiting.get(timeout=60)


SAVED = {
    "approx": fdp.approx(1.0, delta=0.1), "gaussian": fdp.gaussian(1.0), "laplace": fdp.laplace(1.0),
    "finite": fdp.finite([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]), "points": fdp.from_curve([0.1, 0.5], [0.8, 0.3]),
    "sample": fdp.gaussian(1.0).subsample(0.1), "both ways": fdp.gaussian(1.0).subsample(0.1).symmetrize(),
    "inverse": fdp.gaussian(1.0).subsample(0.1).inverse(), "group": fdp.laplace(0.1).group(3),
    "worst": fdp.worst([fdp.laplace(1.0), fdp.gaussian(1.0)]), "power": fdp.laplace(0.3) ** 5,
    "product": fdp.laplace(0.2) @ fdp.gaussian(1.0).subsample(0.3),
}


@pytest.mark.parametrize("f", SAVED.values(), ids=SAVED)
def test_a_trade_off_function_is_saved(f):
    for other in copies(f):
        assert other(0.3) == f(0.3) and other.delta(0.5) == f.delta(0.5) and repr(other) == repr(f)
        assert other.symmetric == f.symmetric and other.inverse().epsilon(0.2) == f.inverse().epsilon(0.2)


# --- losses of any size


@pytest.mark.parametrize("budget, grants, asked", [
    (Budget(1.0, delta=1e-5, rule="zcdp"), [], 1e200), (Budget(1.0), [], 1.7e308), (Budget(1.7e308), [1e308], 1.6e308),
    (Budget(1e308, delta=1e-5, rule="zcdp"), [1e200], 1.7e308),
    (Budget(1000.0, delta=1e-5, rule="fdp"), [800.0], 800.0), (Budget(1e6, delta=1e-5, rule="fdp"), [1e-9], 1e300),
    (Budget(1.0, delta=1e-5, rule="fdp"), [0.5], 1e308), (Budget(1.0, rule="fdp"), [0.5], 800.0),
    (Budget(10.0, delta=1e-5, rule="fdp"), [], fdp.gaussian(1e50)),
    (Budget(10.0, delta=1e-5, rule="fdp"), [0.5], fdp.approx(1e100)),
    (Budget(10.0, rule="fdp"), [0.5], fdp.gaussian(0.1)),
])
def test_whatever_is_too_much_is_refused_and_charges_nothing(budget, grants, asked):
    for loss in grants:
        assert budget.spend(loss) == loss
    spent = budget.spent
    with pytest.raises(BudgetExceeded):
        budget.spend(asked)
    assert budget.spent == spent <= budget.epsilon and len(budget.ledger) == len(grants)


def exact_epsilon(losses, delta):
    """Epsilon at `delta` of randomised responses with these losses together, from all their 2^n outcomes."""
    total, chance = np.zeros(1), np.ones(1)
    for loss in losses:
        total = np.concatenate([total + loss, total - loss])
        chance = np.concatenate([chance, chance * math.exp(-loss)]) / (1 + math.exp(-loss))
    low, high = 0.0, math.fsum(losses)
    for _ in range(100):
        middle = (low + high) / 2
        above = total > middle
        small = (chance[above] * -np.expm1(middle - total[above])).sum() <= delta
        low, high = (low, middle) if small else (middle, high)
    return high


MIXED = {
    "a billionth and five": [1e-9, 5.0], "five and a billionth": [5.0, 1e-9], "a millionth and five": [1e-6, 5.0],
    "twice eight hundred": [800.0, 800.0], "decades": [10.0**k for k in range(-12, 7, 2)],
    "decades down": [10.0**k for k in range(6, -13, -2)], "near": [0.1, 0.2, 0.3, 0.5, 2**0.5, 3**0.5],
    "many small": [1e-7] * 6 + [3.0, 1e-3, 1e-3, 1e-3], "large and small": [1e6, 1e-12, 1.0, 1.0, 0.5],
}


@pytest.mark.parametrize("losses", MIXED.values(), ids=MIXED)
def test_losses_of_different_sizes_cost_what_all_their_outcomes_say(losses):
    budget = Budget(1e8, delta=1e-5, rule="fdp")
    for loss in losses:
        budget.spend(loss)
    for delta in (0.3, 1e-2, 1e-5):
        budget.delta = delta
        truth = exact_epsilon(losses, delta)
        assert truth * (1 - 1e-12) <= budget.spent <= truth * (1 + 1e-3)
    budget.delta = 0.0
    assert budget.spent == pytest.approx(math.fsum(losses), rel=1e-11)


def on_a_lattice(counts, unit, delta):
    """Epsilon at `delta` of randomised responses of losses `count` * `unit`, by convolving their laws one by one."""
    law = np.ones(1)
    for count in counts:
        p = 1 / (1 + math.exp(-count * unit))
        law = np.convolve(law, np.concatenate([[1 - p], np.zeros(2 * count - 1), [p]]))
    loss = (np.arange(law.size) - sum(counts)) * unit
    low, high = 0.0, sum(counts) * unit
    for _ in range(100):
        middle = (low + high) / 2
        above = loss > middle
        small = (law[above] * -np.expm1(middle - loss[above])).sum() <= delta
        low, high = (low, middle) if small else (middle, high)
    return high


def test_sixty_different_losses_are_composed_a_few_at_a_time_and_cost_what_their_law_says():
    counts = np.random.default_rng(3).permutation(np.arange(10, 250, 4))[:60]
    budget, most = Budget(50.0, delta=1e-6, rule="fdp"), 0
    for count in counts:
        budget.spend(count / 1000)
        most = max(most, len(budget._total.parts))
    truth = on_a_lattice(counts.tolist(), 1e-3, 1e-6)
    assert truth <= budget.spent <= truth * (1 + 1e-5) and most < 14
    budget.spend(budget.remaining)
    assert budget.spent == pytest.approx(50.0, rel=1e-4)


def test_what_was_composed_already_stays_on_its_side_of_the_truth():
    """Losses on no common lattice: a ledger and one product, which takes all of them at once."""
    losses = (10 ** np.random.default_rng(5).uniform(-6, 0, 40)).tolist()
    budget = Budget(50.0, delta=1e-6, rule="fdp")
    for loss in losses:
        budget.spend(loss)
    at_once_ = fdp.compose([(fdp.approx(loss), 1) for loss in losses]).epsilon(1e-6)
    assert budget.spent == pytest.approx(at_once_, rel=1e-4)
    large = [loss for loss in losses if loss > 0.01]
    assert budget.spent >= exact_epsilon(large[:16], 1e-6)


@pytest.mark.parametrize("k", [100, 10_000, 100_000])
def test_the_charge_for_round_off_grows_with_the_number_of_factors_and_is_far_above_it(k):
    f, error = fdp.approx(k**-0.5) ** k, 0.0
    table = f.ahead._table
    with mpmath.workdps(40):
        loss, above, other = mpmath.mpf(k**-0.5), mpmath.mpf(0), mpmath.mpf(0)
        chance = (1 + mpmath.exp(-loss)) ** -k
        for lies in range(k // 2 + 1):
            total = (k - 2 * lies) * loss
            if total < 3 and lies % (1 + k // 2000) == 0:
                truth, weight = above - mpmath.exp(total) * other, math.exp(table.growth - table.rate * float(total))
                charged = f.delta(float(total)) - float(truth)
                assert charged > 0
                error = max(error, abs(charged / weight - table.slack))
            above, other = above + chance, other + chance * mpmath.exp(-total)
            chance *= mpmath.exp(-loss) * (k - lies) / (lies + 1)
    assert table.slack > product.ROUNDING * k > 1000 * error


@pytest.mark.parametrize("losses", [[0.1] * 10, [0.3, 0.7], [0.25, 0.5, 1.0], [1 / 3, 2 / 3, 0.1]])
def test_nothing_is_left_at_the_sum_of_all_losses(losses):
    f = fdp.compose([(fdp.approx(loss), 1) for loss in losses])
    assert f.delta(math.fsum(losses)) <= 2e-15 and f.delta(math.fsum(losses) * (1 + 1e-14)) == 0
    assert f.delta(math.fsum(losses) * (1 - 1e-9)) > 0


# --- the ends of the ranges


def gaussian_truth(mu, epsilon):
    with mpmath.workdps(60 + 3 * abs(round(math.log10(mu)))):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("mu", [1e-30, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-40, 1e-20, 1e-12, 1e-5, 0.3])
def test_the_epsilon_of_a_gaussian_has_its_digits_for_every_mu(mu, delta):
    for epsilon in (fdp.gaussian(mu).epsilon(delta), gdp_to_approx(mu, delta=delta)):
        assert gaussian_truth(mu, epsilon) <= delta
        assert epsilon < mu * 1e-12 or gaussian_truth(mu, epsilon * (1 - 1e-9)) > delta


@PROPERTY
@given(st.floats(-20, 3), st.floats(-3, 36))
def test_the_delta_of_a_gaussian_is_right_to_ten_digits_and_never_below(log_mu, deviations):
    mu = 10**log_mu
    epsilon = mu * max(0.0, mu / 2 + deviations)
    truth = gaussian_truth(mu, epsilon)
    if truth > 1e-290:
        for delta in (float(fdp.gaussian(mu).delta(epsilon)), gaussian_delta(epsilon, sigma=1 / mu)):
            # the inverse of mu, and epsilon/mu, are rounded
            assert truth * (1 - 1e-15 * (1 + deviations**2 + mu * abs(deviations))) <= delta
            assert delta <= truth * (1 + 1e-10 + 1e-15 * mu * (1 + abs(deviations)))


@pytest.mark.parametrize("mu", [1e4, 1e6, 1e9, 1e30, 1e50])
def test_a_gaussian_of_no_privacy_costs_half_of_mu_squared(mu):
    """The quantile of the loss: mu^2/2 + 4.26 mu, for a delta of 1e-5 that its far end does not change."""
    low, high = mu**2 / 2 + 4.26 * mu, (mu**2 / 2 + 4.27 * mu) * (1 + 1e-14)
    assert low * (1 - 1e-14) <= fdp.gaussian(mu).epsilon(1e-5) <= high * (1 + 1e-11)
    assert gdp_to_approx(mu, delta=1e-5) == pytest.approx(fdp.gaussian(mu).epsilon(1e-5), rel=1e-11)


@pytest.mark.parametrize("epsilon", [1e-308, 1e-200, 1e-20, 1e-10, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("delta", [1e-40, 1e-20, 1e-5, 0.3])
def test_sigma_has_its_digits_for_every_epsilon(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta=delta)
    if sigma < 1e50:
        assert gaussian_truth(1 / mpmath.mpf(sigma), epsilon) <= delta
        assert gaussian_truth(1 / mpmath.mpf(sigma * (1 - 1e-10)), epsilon) > delta
    assert gaussian_sigma(epsilon * 2, delta=delta) <= sigma


@pytest.mark.parametrize("delta", [1e-300, 1e-5, 0.9])
def test_sigma_of_no_privacy_is_on_the_safe_side(delta):
    for epsilon in (1e100, 1e300, 1.7e308):
        sigma = gaussian_sigma(epsilon, delta=delta)
        assert 1 <= sigma * math.sqrt(2) * math.sqrt(epsilon) <= 1 + 3e-12


@pytest.mark.parametrize("call, name", [
    (lambda: fdp.gaussian(1e160), "mu"), (lambda: fdp.gaussian(1e-160), "mu"), (lambda: fdp.approx(1e200), "epsilon"),
    (lambda: fdp.laplace(5e-324), "epsilon"), (lambda: fdp.gaussian(1.0).subsample(1e-200), "p"),
    (lambda: fdp.laplace(1.0).group(51), "k"), (lambda: fdp.compose([(fdp.laplace(1.0), 10**12)]), "parts"),
    (lambda: fdp.compose([(fdp.laplace(1.0), 1), (1.0, 2)]), r"parts\[1\]"),
    (lambda: Budget(1e200, rule="fdp"), "epsilon"), (lambda: Budget(1e-200, rule="fdp"), "epsilon"),
    (lambda: Budget(1.0, rule="fdp").spend(1e-200), "epsilon"),
    (lambda: basic(1.0, k=10**400), "k"), (lambda: advanced(1.0, k=10**400, delta_slack=0.1), "k"),
    (lambda: optimal(1.0, k=10**9, delta=0.1), "k"),
    (lambda: gaussian_sigma(1e-308, delta=1e-310), "epsilon"),
    (lambda: gaussian_sigma(1e-9, delta=1e-5, sensitivity=1e305), "sensitivity"),
])
def test_what_is_out_of_range_is_refused_in_one_line_that_names_it(call, name):
    with pytest.raises(ValueError, match=rf"\b{name}") as refusal:
        call()
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 160


@pytest.mark.parametrize("f", [fdp.approx, fdp.laplace])
@pytest.mark.parametrize("loss", [1e-100, 1e-12, 1e-3, 800.0, 1e6, 1e100])
def test_products_of_the_smallest_and_the_largest_losses_are_numbers(f, loss):
    for g in (f(loss) ** 3, f(loss) @ fdp.approx(0.5), f(loss).group(2)):
        epsilons = [g.epsilon(delta) for delta in (0.0, 1e-12, 1e-5, 0.3)]
        assert all(np.isfinite(epsilons)) and np.all(np.diff(epsilons) <= 1e-11 * loss)
        assert epsilons[0] <= 3 * max(loss, 0.5) * (1 + 1e-11)
        assert 0 <= g.delta(loss) <= 1 and 0 <= g(0.1) <= 0.9
    assert (f(loss) ** 3).epsilon(0.0) == pytest.approx(3 * loss, rel=1e-11)
    assert list(itertools.accumulate([loss] * 3))[-1] <= (f(loss) ** 3).epsilon(0.0) * (1 + 1e-15)
