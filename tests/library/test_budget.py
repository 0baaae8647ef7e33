"""What releases cost together, and a ledger that no sequence of requests can overdraw."""
import itertools
import math

import mpmath
import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting.gaussian_mechanism import get_epsilon_gaussian
from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import PROPERTY
from scipy import integrate

from dplib import distributions, fdp
from dplib.budget import (
    Budget,
    BudgetExceeded,
    Entry,
    advanced,
    basic,
    gaussian_rdp,
    gdp_to_approx,
    optimal,
    pure_to_zcdp,
    rdp_to_approx,
    zcdp_to_approx,
)
from dplib.mechanisms import gaussian_delta, gaussian_sigma
from dplib.sensitivity import ADJACENCIES

dp.enable_features("contrib")

FLOAT = 1e-11                                    # relative slack for rounding


# --- composition formulas


# Dwork, Rothblum and Vadhan (2010), Theorem III.3, or k epsilon where that is smaller
@pytest.mark.parametrize("epsilon, k, total", [
    (0.01, 1000, 1.617929), (0.1, 10, 1.0), (0.1, 100, 5.850235), (0.1, 1000, 25.691363),
    (0.5, 100, 50.0), (1, 20, 20.0), (800, 3, 2400),
])
def test_advanced_composition_is_pinned_and_never_above_basic(epsilon, k, total):
    assert advanced(epsilon, k=k, delta_slack=1e-5) == pytest.approx(total, rel=1e-6)
    assert advanced(epsilon, k=k, delta_slack=1e-5) <= basic(epsilon, k=k) == pytest.approx(epsilon * k)


@pytest.mark.parametrize("epsilon, first", [(0.01, 24), (0.1, 29), (0.5, 187)])
def test_advanced_composition_pays_off_from_this_many_releases(epsilon, first):
    ks = np.arange(1, 400)
    gains = [int(k) for k in ks if advanced(epsilon, k=int(k), delta_slack=1e-5) < basic(epsilon, k=int(k))]
    assert gains == list(range(first, 400))


def test_nothing_released_costs_nothing():
    assert basic(1.0, k=0) == advanced(1.0, k=0, delta_slack=1e-5) == advanced(0.1, k=0, delta_slack=1e-5) == 0


@pytest.mark.parametrize("scale, k", [(10.0, 100), (2.0, 20), (1.0, 1)])
def test_laplace_answers_stay_below_advanced_composition_and_attain_basic(scale, k):
    loss = from_laplace_mechanism(parameter=scale, value_discretization_interval=1e-3,
                                  pessimistic_estimate=False).self_compose(k)
    assert loss.get_epsilon_for_delta(1e-5) <= advanced(1 / scale, k=k, delta_slack=1e-5)
    assert loss.get_delta_for_epsilon(basic(1 / scale, k=k) * (1 + 1e-9)) < 1e-9


def exact_delta(losses, epsilon):
    """delta(epsilon) of randomised responses with these losses together: the worst case of pure mechanisms."""
    delta = 0.0
    for truths in itertools.product((1, -1), repeat=len(losses)):
        p = math.prod(1 / (1 + math.exp(-truth * loss)) for truth, loss in zip(truths, losses))
        q = math.prod(1 / (1 + math.exp(truth * loss)) for truth, loss in zip(truths, losses))
        delta += max(0.0, p - math.exp(epsilon) * q)
    return delta


@pytest.mark.parametrize("epsilon, k", [(0.1, 12), (0.3, 10), (0.5, 12), (1.0, 6)])
@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3])
def test_advanced_composition_is_above_the_exact_optimum(epsilon, k, delta):
    assert exact_delta([epsilon] * k, advanced(epsilon, k=k, delta_slack=delta)) <= delta


# --- the ledger


def granted(budget, epsilon, delta=0.0):
    """Whether the budget grants this request, which it then returns, or leaves everything as it was."""
    before = (list(budget.ledger), budget.spent, budget.remaining)
    try:
        assert budget.spend(epsilon, delta=delta) == epsilon
        return True
    except BudgetExceeded:
        assert (budget.ledger, budget.spent, budget.remaining) == before
        return False


def test_three_times_a_tenth_fits_into_three_tenths_and_no_more():
    budget = Budget(0.3)
    assert [granted(budget, 0.1) for _ in range(3)] == [True] * 3       # though sum([0.1] * 3) > 0.3
    assert budget.remaining == 0 and not granted(budget, 1e-9)


def test_rounding_room_is_given_once_and_not_to_each_of_many_small_releases():
    budget = Budget(1.0)
    budget.spend(1.0)
    assert sum(granted(budget, 1e-12) for _ in range(100)) <= 1
    assert budget.spent <= 1 + 2e-12


@pytest.mark.parametrize("budget, request_, parameter, requested, remaining", [
    (Budget(1.0), (1.5, 0.0), "epsilon", 1.5, 1.0),
    (Budget(1.0, delta=1e-6), (0.5, 1e-5), "delta", 1e-5, 1e-6),
    (Budget(1.0), (0.5, 1e-9), "delta", 1e-9, 0.0),
    (Budget(1.0, delta=1e-5, rule="zcdp"), (0.5, 1e-9), "delta", 1e-9, 0.0),
])
def test_a_refusal_says_what_was_asked_and_what_is_left_and_charges_nothing(
    budget, request_, parameter, requested, remaining):
    before = repr(budget)
    with pytest.raises(BudgetExceeded, match=parameter) as refusal:
        budget.spend(request_[0], delta=request_[1])
    assert (refusal.value.parameter, refusal.value.requested) == (parameter, requested)
    assert refusal.value.remaining == pytest.approx(remaining)
    assert budget.spent == 0 and budget.ledger == [] and repr(budget) == before
    assert isinstance(refusal.value, ValueError)


def test_a_refusal_in_the_middle_leaves_the_rest_spendable():
    budget = Budget(1.0)
    budget.spend(0.6)
    with pytest.raises(BudgetExceeded) as refusal:
        budget.spend(0.5)
    assert refusal.value.remaining == pytest.approx(0.4)
    budget.spend(0.4)
    assert budget.spent == pytest.approx(1.0)


def test_deltas_add_up_to_delta_and_no_further():
    budget = Budget(10.0, delta=3e-6)
    for _ in range(3):
        budget.spend(1.0, delta=1e-6)
    with pytest.raises(BudgetExceeded, match="delta"):
        budget.spend(1.0, delta=1e-9)
    budget.spend(1.0)


def test_a_delta_that_is_too_large_by_itself_is_named_under_every_rule():
    for rule in ("basic", "fdp"):
        with pytest.raises(BudgetExceeded, match="needs delta 0.001, but only 1e-05"):
            Budget(1.0, delta=1e-5, rule=rule).spend(0.1, delta=1e-3)


def test_the_ledger_tells_what_was_spent_in_order():
    budget = Budget(2.0, delta=1e-5)
    budget.spend(0.5, label="mean")
    with budget.parallel(adjacency="add/remove"):
        budget.spend(0.25, delta=1e-6, label="north")
        budget.spend(0.5, label="south")
    with budget.parallel("replace"):
        budget.spend(0.125)
    expected = [Entry(0.5, 0.0, "mean", None), Entry(0.25, 1e-6, "north", 0),
                Entry(0.5, 0.0, "south", 0), Entry(0.125, 0.0, "", 1)]
    assert budget.ledger == expected
    assert all(word in repr(budget) for word in ("mean", "north", "south", "1.125", "0.875", "replace"))


# --- parallel releases


@pytest.mark.parametrize("adjacency, cost", [("add/remove", 0.5), ("replace", 0.8)])
def test_a_parallel_block_costs_its_largest_loss_or_under_replace_its_two_largest(adjacency, cost):
    budget = Budget(1.0)
    with budget.parallel(adjacency):
        for loss in (0.2, 0.5, 0.3, 0.1):
            budget.spend(loss)
    assert budget.spent == pytest.approx(cost)
    assert budget.remaining == pytest.approx(1 - cost)


@pytest.mark.parametrize("adjacency, cost", [("add/remove", 2e-6), ("replace", 3e-6)])
def test_a_parallel_block_charges_delta_the_same_way(adjacency, cost):
    budget = Budget(9.0, delta=cost)
    with budget.parallel(adjacency):
        for delta in (1e-6, 2e-6, 1e-6):
            budget.spend(0.1, delta=delta)
        with pytest.raises(BudgetExceeded, match="delta"):
            budget.spend(0.1, delta=3e-6)
    with pytest.raises(BudgetExceeded, match="delta"):
        budget.spend(0.1, delta=1e-9)


def test_inside_a_block_remaining_counts_what_the_block_already_costs():
    budget = Budget(1.0)
    budget.spend(0.25)
    with budget.parallel(adjacency="add/remove"):
        budget.spend(0.5)
        assert budget.remaining == pytest.approx(0.75)           # another set of people may lose as much again
        budget.spend(0.75)
    assert budget.remaining == 0
    budget = Budget(1.0)
    with budget.parallel("replace"):
        budget.spend(0.7)
        assert budget.remaining == pytest.approx(0.3)            # one person may move between the two sets
        with pytest.raises(BudgetExceeded):
            budget.spend(0.4)


def test_blocks_do_not_nest_and_an_error_inside_closes_them():
    budget = Budget(1.0)
    with pytest.raises(RuntimeError), budget.parallel(adjacency="add/remove"), budget.parallel(adjacency="add/remove"):
        pass
    with pytest.raises(KeyError), budget.parallel(adjacency="add/remove"):
        budget.spend(0.5)
        raise KeyError
    budget.spend(0.25)
    assert budget.ledger[-1].block is None and budget.spent == pytest.approx(0.75)


# --- properties


def cost(blocks, rule, slack):
    """Epsilon and delta of a ledger replayed from scratch: `blocks` holds (adjacency, [(epsilon, delta), ...])."""
    def of(column):
        return [sum(sorted(entry[column] for entry in entries)[-2 if adjacency == "replace" else -1 :])
                for adjacency, entries in blocks]

    losses, deltas = of(0), of(1)
    squares = sum(loss**2 for loss in losses)
    spread = math.sqrt(2 * math.log(1 / slack) * squares) if rule == "zcdp" else math.inf
    return min(sum(losses), squares / 2 + spread), sum(deltas) + (slack if rule == "zcdp" else 0)


SHARES = st.floats(1e-4, 1.2)
REQUESTS = st.lists(st.tuples(SHARES, st.sampled_from([0.0, 0.0, 0.3, 0.8])), max_size=5)
SCRIPTS = st.lists(st.tuples(st.sampled_from([None, *ADJACENCIES]), REQUESTS), max_size=8)
BUDGETS = st.tuples(st.sampled_from(["basic", "zcdp"]), st.floats(1e-3, 20), st.sampled_from([1e-9, 1e-5, 0.9]))


@PROPERTY
@given(BUDGETS, SCRIPTS)
def test_no_sequence_of_requests_overdraws_and_the_ledger_replays(kind, script):
    rule, epsilon, delta = kind
    budget = Budget(epsilon, delta=delta, rule=rule, slack=delta / 2 if rule == "zcdp" else None)
    blocks = []

    def ask(share, delta_share):
        request = share * (budget.remaining or epsilon), delta_share * delta
        return [request] if granted(budget, *request) else []

    for adjacency, requests in script:
        if adjacency is None:
            blocks += [("add/remove", charged) for request in requests if (charged := ask(*request))]
        else:
            blocks.append((adjacency, []))
            with budget.parallel(adjacency):
                for request in requests:
                    blocks[-1][1].extend(ask(*request))
        total, total_delta = cost(blocks, rule, budget.slack)
        assert total <= epsilon * (1 + FLOAT) and total_delta <= delta * (1 + FLOAT)
        assert budget.spent == pytest.approx(total, rel=1e-9)


@PROPERTY
@given(BUDGETS, st.lists(SHARES, max_size=4), st.sampled_from([None, *ADJACENCIES]))
def test_remaining_can_be_spent_and_a_millionth_more_cannot(kind, shares, adjacency):
    rule, epsilon, delta = kind
    budget = Budget(epsilon, delta=delta, rule=rule)

    def spend_some():
        for share in shares:
            budget.spend(min(share, 1) * budget.remaining / 3)

    def spend_the_rest():
        assume(budget.remaining > 0.05 * epsilon)
        with pytest.raises(BudgetExceeded):
            budget.spend(budget.remaining * (1 + 1e-6))
        budget.spend(budget.remaining)

    spend_some()
    if adjacency is None:
        spend_the_rest()
    else:
        with budget.parallel(adjacency):
            spend_some()
            spend_the_rest()
    assert budget.spent <= epsilon * (1 + FLOAT)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e-6, 1e-3, 0.1])
def test_the_advanced_filter_is_exact_for_small_budgets_too(epsilon):
    budget = Budget(epsilon, delta=1e-5, rule="zcdp")
    count = sum(granted(budget, epsilon / 40) for _ in range(100))
    assert 65 < count < 72                       # 40 by the sum; about 40^2 / (2 ln 1e5) = 69 by the square root
    budget.spend(budget.remaining)
    assert epsilon * (1 - 1e-9) <= budget.spent <= epsilon * (1 + 2e-12)


@PROPERTY
@given(st.floats(0.3, 3), st.sampled_from([0.5, 0.05, 1e-3]), st.lists(st.floats(0.05, 1), min_size=1, max_size=9))
def test_whatever_the_advanced_filter_lets_through_is_within_epsilon_and_delta(epsilon, slack, losses):
    budget, charged = Budget(epsilon, delta=slack, rule="zcdp"), []
    for loss in losses:
        try:
            charged.append(budget.spend(loss))
        except BudgetExceeded:
            continue
    assert exact_delta(charged, epsilon * (1 + FLOAT)) <= slack


def test_the_advanced_filter_lets_through_what_its_closed_form_says():
    budget = Budget(5.850235, delta=1e-5, rule="zcdp")
    count = sum(granted(budget, 0.1) for _ in range(200))
    assert count == 119      # 58 by the sum, 100 by the theorem of 2010 with its looser k (e^epsilon - 1)
    assert budget.spent == pytest.approx(count * 0.1**2 / 2 + math.sqrt(2 * math.log(1e5) * count * 0.1**2), rel=1e-12)


def test_advanced_never_allows_less_than_basic():
    budget = Budget(1.0, delta=1e-9, rule="zcdp")
    assert [budget.spend(0.5), budget.spend(0.5)] == [0.5, 0.5]
    assert budget.spent == 1.0


def test_slack_is_kept_out_of_delta():
    budget = Budget(1.0, delta=1e-5, rule="zcdp", slack=4e-6)
    budget.spend(0.1, delta=6e-6)
    with pytest.raises(BudgetExceeded, match="delta"):
        budget.spend(0.1, delta=1e-8)


# --- the optimal total

# Kairouz, Oh and Viswanath (2017), solved in 30 digits at delta = 1e-5
OPTIMAL = {(0.01, 1000): 1.197733, (0.1, 10): 0.993691, (0.1, 100): 4.306791,
           (0.1, 1000): 17.787128, (0.5, 100): 31.172863, (1, 20): 19.994726}


def composed_delta(epsilon, k, total):
    """delta at `total` of k answers of randomized response: the binomial sum, in 50 digits."""
    with mpmath.workdps(50):
        epsilon, total = mpmath.mpf(epsilon), mpmath.mpf(total)
        chance, ratio, delta = (1 + mpmath.exp(-epsilon)) ** -k, mpmath.exp(-epsilon), mpmath.mpf(0)
        for lies in range(k + 1):
            loss = (k - 2 * lies) * epsilon
            if loss <= total:
                break
            delta += chance * (1 - mpmath.exp(total - loss))
            chance *= ratio * (k - lies) / (lies + 1)
        return delta


@pytest.mark.parametrize("epsilon, k", OPTIMAL)
def test_optimal_composition_is_pinned_and_below_the_theorems(epsilon, k):
    assert optimal(epsilon, k=k, delta=1e-5) == pytest.approx(OPTIMAL[epsilon, k], abs=6e-7)
    assert optimal(epsilon, k=k, delta=1e-5) < advanced(epsilon, k=k, delta_slack=1e-5) <= basic(epsilon, k=k)


@pytest.mark.parametrize("epsilon, k, delta", [
    *((epsilon, k, 1e-5) for epsilon, k in OPTIMAL),
    (0.1, 1, 0.01), (2, 1, 1e-300), (0.3, 7, 1e-300), (0.3, 40, 0.2), (1, 30, 0.5),
    (1e-6, 300, 1e-9), (5, 4, 0.9), (20, 50, 1e-12),
])
def test_optimal_composition_is_the_smallest_epsilon_that_keeps_delta(epsilon, k, delta):
    total = optimal(epsilon, k=k, delta=delta)
    assert composed_delta(epsilon, k, total) <= delta < composed_delta(epsilon, k, total - 1e-9)


@pytest.mark.parametrize("epsilon, k, delta",
                         [(1, 1000, 0.5), (10, 3, 0.99986), (8, 300, 0.9), (0.02, 2000, 0.3), (40, 60, 0.999)])
def test_optimal_composition_is_rounded_up_where_rounding_shows(epsilon, k, delta):
    total = optimal(epsilon, k=k, delta=delta)
    assert composed_delta(epsilon, k, total) <= delta < composed_delta(epsilon, k, total - 1e-7)


@pytest.mark.parametrize("epsilon, k", [(0.3, 1), (0.3, 2), (0.7, 3), (1.0, 5), (0.1, 8)])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.01, 0.1])
def test_optimal_composition_is_that_of_the_product_law(epsilon, k, delta):
    p = np.ones(1)
    for _ in range(k):
        p = np.outer(p, [1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))]).ravel()
    q, total = p[::-1], optimal(epsilon, k=k, delta=delta)               # every answer turned round
    assert distributions.exact_delta(p, q, epsilon=total) <= delta + 1e-15
    assert total < 1e-9 or distributions.exact_delta(p, q, epsilon=total - 1e-9) > delta


def test_optimal_composition_is_0_where_the_total_variation_is_allowed():
    variation = math.tanh(0.05)                  # of randomized response at 0.1
    assert optimal(0.1, k=1, delta=variation + 1e-12) == 0 < optimal(0.1, k=1, delta=variation - 1e-6)
    assert optimal(1e-300, k=1000, delta=1e-9) == optimal(1.0, k=0, delta=0.5) == 0


@PROPERTY
@given(st.floats(1e-6, 5), st.integers(0, 60), st.floats(1e-12, 0.999), st.floats(1, 2))
def test_optimal_composition_rises_with_epsilon_and_k_falls_with_delta_and_is_never_above_the_theorems(
    epsilon, k, delta, factor):
    total, room = optimal(epsilon, k=k, delta=delta), 1e-9
    assert 0 <= total <= min(basic(epsilon, k=k), advanced(epsilon, k=k, delta_slack=delta) + room)
    assert optimal(epsilon, k=k, delta=0.0) == basic(epsilon, k=k)
    assert total <= optimal(epsilon * factor, k=k, delta=delta) + room
    assert total <= optimal(epsilon, k=k + 1, delta=delta) + room
    assert total <= optimal(epsilon, k=k, delta=delta / factor) + room


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1e-3, 1.0, 800.0, 1e290])
@pytest.mark.parametrize("k", [1, 1000, 10**6])
@pytest.mark.parametrize("delta", [1e-300, 1e-5, 1 - 1e-16])
def test_optimal_composition_of_a_million_releases_or_extreme_losses_is_a_number(epsilon, k, delta):
    assert 0 <= optimal(epsilon, k=k, delta=delta) <= basic(epsilon, k=k)


def test_a_million_small_losses_are_almost_gaussian():
    k, epsilon = 10**6, 0.001                    # mu-GDP in the limit, mu = 2 sqrt(k p(1 - p)) times epsilon, p = 1/2
    assert optimal(epsilon, k=k, delta=1e-5) == pytest.approx(gdp_to_approx(epsilon * k**0.5, delta=1e-5), rel=1e-3)
    assert optimal(1e305, k=10**6, delta=0.5) == math.inf


@pytest.mark.parametrize("compose", [
    lambda epsilon, k: advanced(epsilon, k=k, delta_slack=1e-5), lambda epsilon, k: optimal(epsilon, k=k, delta=1e-5),
])
def test_numbers_of_numpy_count_as_their_value(compose):
    assert compose(0.1, np.int8(127)) == compose(0.1, 127)
    total = compose(np.float32(0.1), 127)
    assert type(total) is float and total == compose(float(np.float32(0.1)), 127)


# --- zCDP, RDP and GDP, and the way back

# zCDP by Canonne, Kamath and Steinke (2020), minimised over real orders; the exact epsilon of the Gaussian of that rho
CONVERTED = {
    (2.0, 1e-5): (10.7248241129, 9.99725614643), (0.5, 1e-5): (4.72838698494, 4.37717809568),
    (0.125, 1e-5): (2.16571554518, 1.99309140442),
    (0.125, 1e-6): (2.41909317687, 2.25408465022), (0.005, 1e-5): (0.375261235699, 0.340669364684),
}
RHOS = [1e-6, 0.005, 0.125, 2.0, 50.0, 1e4]
DELTAS = [1e-300, 1e-9, 1e-5, 0.1, 0.9]


@pytest.mark.parametrize("rho, delta", CONVERTED)
def test_the_epsilon_of_zcdp_and_of_the_gaussian_are_pinned(rho, delta):
    loose, exact = CONVERTED[rho, delta]
    assert zcdp_to_approx(rho, delta=delta) == pytest.approx(loose, rel=1e-11)
    assert gdp_to_approx(math.sqrt(2 * rho), delta=delta) == pytest.approx(exact, rel=2e-11)


@pytest.mark.parametrize("rho, delta", [*CONVERTED, (0.02, 1e-9), (10.0, 1e-3)])
def test_the_epsilon_of_zcdp_is_opendps(rho, delta):
    scale = (1 / (2 * rho)) ** 0.5
    measurement = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=scale)
    assert measurement.map(1.0) == pytest.approx(rho, rel=1e-12)
    assert dp.c.make_zCDP_to_approxDP(measurement).map(1.0).epsilon(delta) == pytest.approx(
        zcdp_to_approx(rho, delta=delta), rel=1e-9)


def at_order(order, divergence, delta):
    """Epsilon at `delta` of a Renyi divergence of one order (Canonne, Kamath and Steinke 2020), in 40 digits."""
    with mpmath.workdps(40):
        order, divergence, delta = mpmath.mpf(order), mpmath.mpf(divergence), mpmath.mpf(delta)
        return float(divergence + mpmath.log(1 / (order * delta)) / (order - 1) + mpmath.log(1 - 1 / order))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_epsilon_of_zcdp_is_the_minimum_over_all_orders(rho, delta):
    total, excess = zcdp_to_approx(rho, delta=delta), np.exp(np.linspace(-12, 16, 300))
    found = [max(0.0, at_order(1 + one, rho * (1 + one), delta)) for one in excess]
    assert total <= min(found) * (1 + 1e-12)
    # once more near the best, where the bound is flat
    best = excess[np.argmin(found)] * np.exp(np.linspace(-0.1, 0.1, 401))
    assert total == pytest.approx(min(max(0.0, at_order(1 + one, rho * (1 + one), delta)) for one in best),
                                  rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_epsilon_of_zcdp_lies_between_the_gaussians_and_the_simple_formula(rho, delta):
    assert (gdp_to_approx(math.sqrt(2 * rho), delta=delta) * (1 - 1e-11)
            <= zcdp_to_approx(rho, delta=delta) <= rho + 2 * math.sqrt(rho * math.log(1 / delta)))


@PROPERTY
@given(st.floats(1e-9, 1e6), st.floats(1e-300, 0.999), st.floats(1, 3))
def test_epsilon_rises_with_rho_and_mu_and_falls_with_delta(size, delta, factor):
    for convert in (zcdp_to_approx, gdp_to_approx):
        total, room = convert(size, delta=delta), 1e-11
        assert total * (1 - room) - room <= convert(size * factor, delta=delta)
        assert total * (1 - room) - room <= convert(size, delta=delta / factor)


@pytest.mark.parametrize("convert", [zcdp_to_approx, gdp_to_approx])
def test_conversions_have_no_trouble_at_the_ends(convert):
    for delta in (1e-320, 1e-300, 1e-5, 1 - 1e-16):
        assert convert(0, delta=delta) == 0
        values = [convert(size, delta=delta) for size in (1e-320, 1e-300, 1e-9, 1.0, 1e9, 1e100, 1e300)]
        assert values == sorted(values) and values[0] < 1e-12 and values[-1] >= 1e300
    assert gdp_to_approx(1e200, delta=0.5) == math.inf                # its epsilon, about mu^2/2, is no double


@pytest.mark.parametrize("sigma, delta", [(0.5, 1e-5), (1.0, 1e-6), (4.0, 1e-5), (10.0, 1e-9)])
def test_renyi_orders_on_a_fine_grid_come_near_the_epsilon_of_zcdp_and_never_below(sigma, delta):
    rho = 1 / (2 * sigma**2)
    best = math.sqrt(math.log(1 / delta) / rho)
    orders = np.linspace(1.01, 1 + 2 * best, 20_000)
    total = rdp_to_approx(orders, gaussian_rdp(sigma, order=orders), delta=delta)
    assert zcdp_to_approx(rho, delta=delta) - 1e-9 <= total <= zcdp_to_approx(rho, delta=delta) + 1e-6
    few = rdp_to_approx([2, 4, 8, 64], gaussian_rdp(sigma, order=np.array([2, 4, 8, 64])), delta=delta)
    assert few == pytest.approx(min(at_order(order, rho * order, delta) for order in (2, 4, 8, 64)), rel=1e-12)
    assert few >= total
    assert few <= min(rho * order + math.log(1 / delta) / (order - 1) for order in (2, 4, 8, 64))      # Mironov (2017)


def test_renyi_orders_without_a_bound_do_not_help_and_epsilon_is_never_negative():
    assert rdp_to_approx([2.0, 3.0], [math.inf, 0.5], delta=1e-5) == rdp_to_approx(3.0, 0.5, delta=1e-5)
    assert rdp_to_approx(2.0, math.inf, delta=1e-5) == math.inf
    assert rdp_to_approx(2.0, 0.0, delta=0.9) == 0
    assert rdp_to_approx([[2.0], [3.0]], [[1.0], [0.5]], delta=1e-5) == rdp_to_approx([3.0], [0.5], delta=1e-5)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.01])
def test_the_epsilon_of_gdp_is_exact(mu, delta):
    epsilon = gdp_to_approx(mu, delta=delta)
    assert gaussian_delta(epsilon, sigma=1 / mu) <= delta * (1 + 1e-14)
    assert epsilon == 0 or gaussian_delta(epsilon * (1 - 1e-9), sigma=1 / mu) > delta
    assert epsilon == 0 or gaussian_sigma(epsilon, delta=delta) == pytest.approx(1 / mu, rel=1e-9)
    assert epsilon == pytest.approx(get_epsilon_gaussian(1 / mu, delta), rel=1e-8, abs=1e-9)


def test_the_epsilon_of_gdp_is_0_where_delta_allows_the_total_variation():
    variation = math.erf(0.5 / 8**0.5)           # of N(0, 1) and N(1/2, 1): 2 Phi(1/4) - 1
    assert (gdp_to_approx(0.5, delta=variation * (1 + 1e-9)) == 0
            < gdp_to_approx(0.5, delta=variation * (1 - 1e-6)) < 1e-5)


def renyi(p, q, order):
    return math.log(sum(one**order * other ** (1 - order) for one, other in zip(p, q))) / (order - 1)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
def test_the_rho_of_a_pure_release_bounds_the_worst_one_at_every_order(epsilon):
    p = [1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))]
    needed = [renyi(p, p[::-1], order) / order for order in 1 + np.exp(np.linspace(-7, 4, 60))]
    assert pure_to_zcdp(epsilon) == pytest.approx(epsilon**2 / 2, rel=1e-15)
    assert max(needed) <= epsilon * math.tanh(epsilon / 2) * (1 + 1e-9) <= pure_to_zcdp(epsilon) * (1 + 1e-9)
    # the smallest rho, reached as the order falls to 1
    assert needed[0] == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=2e-3)
    assert pure_to_zcdp(1e200) == math.inf


@pytest.mark.parametrize("sigma, sensitivity, order",
                         [(1.0, 1.0, 2.0), (2.0, 3.0, 1.5), (0.5, 0.3, 7.0), (4.0, 1.0, 30.0)])
def test_the_renyi_divergence_of_gaussian_noise_is_its_integral(sigma, sensitivity, order):
    def density(x):                              # of p^order q^(1 - order), times the root of 2 pi
        return math.exp(-(order * (x - sensitivity) ** 2 + (1 - order) * x**2) / (2 * sigma**2)) / sigma

    centre = order * sensitivity
    integral, _ = integrate.quad(density, centre - 14 * sigma, centre + 14 * sigma,
                                 epsabs=0, epsrel=1e-12, points=[centre])
    expected = math.log(integral / math.sqrt(2 * math.pi)) / (order - 1)
    assert gaussian_rdp(sigma, order=order, sensitivity=sensitivity) == pytest.approx(expected, rel=1e-9)
    assert gaussian_rdp(sigma, order=np.array([order, 2 * order]), sensitivity=sensitivity) == pytest.approx(
        [expected, 2 * expected], rel=1e-9)
    assert gaussian_rdp(1.0, order=2.0, sensitivity=1e200) == math.inf


# --- trade-off functions


def test_fdp_spends_the_product_of_trade_off_functions():
    budget = Budget(5.0, delta=1e-5, rule="fdp")
    f = fdp.gaussian(0.6)
    assert budget.spend(f, label="mean") is f and budget.spend(fdp.gaussian(0.8))
    assert budget.spent == pytest.approx(4.377178, abs=1e-6)
    assert budget.ledger[0].epsilon == pytest.approx(f.epsilon(1e-5)) and budget.ledger[0].label == "mean"
    assert budget.spend(0.1) == 0.1
    assert budget.spent == pytest.approx((fdp.gaussian(1.0) @ fdp.approx(0.1)).epsilon(1e-5), abs=1e-9)


def test_fdp_is_optimal_for_pure_releases_and_adds_up_without_delta():
    budget, pure = Budget(5.0, delta=1e-5, rule="fdp"), Budget(1.0, rule="fdp")
    for _ in range(40):
        budget.spend(0.1)
    assert 0 <= budget.spent - optimal(0.1, k=40, delta=1e-5) < 1e-6
    assert [granted(pure, 0.1) for _ in range(11)] == [True] * 10 + [False]
    assert pure.spent == pytest.approx(1.0) and pure.remaining == pytest.approx(0.0, abs=1e-8)


def test_fdp_takes_the_worse_direction_after_composing():
    budget, f = Budget(5.0, delta=1e-5, rule="fdp"), fdp.gaussian(1.0).subsample(0.05) ** 50
    budget.spend(f)
    assert budget.spent == pytest.approx(max(f.epsilon(1e-5), f.inverse().epsilon(1e-5)))
    assert f.epsilon(1e-5) != f.inverse().epsilon(1e-5)
    other = Budget(5.0, delta=1e-5, rule="fdp")
    other.spend(f.inverse())
    assert other.spent == pytest.approx(budget.spent)


@pytest.mark.parametrize("adjacency, mu", [("add/remove", 0.5), ("replace", math.hypot(0.5, 0.4))])
def test_a_parallel_block_under_fdp_costs_its_worst_release_or_its_worst_pair(adjacency, mu):
    budget = Budget(5.0, delta=1e-5, rule="fdp")
    budget.spend(fdp.gaussian(0.7))
    with budget.parallel(adjacency):
        for part in (0.4, 0.5, 0.1):
            budget.spend(fdp.gaussian(part))
    assert budget.spent == pytest.approx(fdp.gaussian(math.hypot(0.7, mu)).epsilon(1e-5), abs=1e-4)
    assert budget.spent >= fdp.gaussian(math.hypot(0.7, mu)).epsilon(1e-5)


@pytest.mark.long
def test_what_fdp_says_remains_can_be_spent_and_more_is_refused_before_it_is_charged():
    budget = Budget(2.0, delta=1e-5, rule="fdp")
    budget.spend(fdp.gaussian(0.3))
    assert not granted(budget, budget.remaining * 1.001)
    assert not granted(budget, 0.01, 1e-4) and not granted(budget, 5.0)
    with pytest.raises(BudgetExceeded):
        budget.spend(fdp.gaussian(2.0))
    for large in (2.1, 1e9):
        with pytest.raises(BudgetExceeded):
            budget.spend(large)
    assert len(budget.ledger) == 1 and granted(budget, budget.remaining) and budget.spent <= 2.0


def test_trade_off_functions_belong_to_fdp_and_come_without_delta():
    with pytest.raises(ValueError, match="epsilon"):
        Budget(1.0).spend(fdp.gaussian(0.1))
    with pytest.raises(ValueError, match="delta"):
        Budget(1.0, delta=1e-5, rule="fdp").spend(fdp.gaussian(0.1), delta=1e-6)
    with pytest.raises(ValueError, match="slack"):
        Budget(1.0, delta=1e-5, rule="fdp", slack=1e-6)
    for bad in (0.0, -1.0, None, math.nan):
        with pytest.raises(ValueError, match="epsilon"):
            Budget(1.0, rule="fdp").spend(bad)
