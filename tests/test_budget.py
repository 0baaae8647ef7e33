"""What releases cost together, and a ledger that no sequence of requests can overdraw."""
import itertools
import math

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import PROPERTY

from dplib.budget import Budget, BudgetExceeded, Entry, advanced, basic
from dplib.sensitivity import ADJACENCIES

FLOAT = 1e-11                                    # relative slack for rounding


# --- composition formulas


# Dwork, Rothblum and Vadhan (2010), Theorem III.3, or k epsilon where that is smaller
@pytest.mark.parametrize("epsilon, k, total", [
    (0.01, 1000, 1.617929), (0.1, 10, 1.0), (0.1, 100, 5.850235), (0.1, 1000, 25.691363), (0.5, 100, 50.0), (1, 20, 20.0), (800, 3, 2400),
])  # fmt: skip
def test_advanced_composition_is_pinned_and_never_above_basic(epsilon, k, total):
    assert advanced(epsilon, k, 1e-5) == pytest.approx(total, rel=1e-6)
    assert advanced(epsilon, k, 1e-5) <= basic(epsilon, k) == pytest.approx(epsilon * k)


@pytest.mark.parametrize("epsilon, first", [(0.01, 24), (0.1, 29), (0.5, 187)])
def test_advanced_composition_pays_off_from_this_many_releases(epsilon, first):
    ks = np.arange(1, 400)
    gains = [int(k) for k in ks if advanced(epsilon, int(k), 1e-5) < basic(epsilon, int(k))]
    assert gains == list(range(first, 400))


def test_nothing_released_costs_nothing():
    assert basic(1.0, 0) == advanced(1.0, 0, 1e-5) == advanced(0.1, 0, 1e-5) == 0


@pytest.mark.parametrize("scale, k", [(10.0, 100), (2.0, 20), (1.0, 1)])
def test_laplace_answers_stay_below_advanced_composition_and_attain_basic(scale, k):
    loss = from_laplace_mechanism(parameter=scale, value_discretization_interval=1e-3, pessimistic_estimate=False).self_compose(k)
    assert loss.get_epsilon_for_delta(1e-5) <= advanced(1 / scale, k, 1e-5)
    assert loss.get_delta_for_epsilon(basic(1 / scale, k) * (1 + 1e-9)) < 1e-9


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
    assert exact_delta([epsilon] * k, advanced(epsilon, k, delta)) <= delta


# --- the ledger


def granted(budget, *request):
    """Whether the budget grants this request, which it then returns, or leaves everything as it was."""
    before = (list(budget.ledger), budget.spent, budget.remaining)
    try:
        assert budget.spend(*request) == request[0]
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
    (Budget(1.0, 1e-6), (0.5, 1e-5), "delta", 1e-5, 1e-6),
    (Budget(1.0), (0.5, 1e-9), "delta", 1e-9, 0.0),
    (Budget(1.0, 1e-5, rule="advanced"), (0.5, 1e-9), "delta", 1e-9, 0.0),
])  # fmt: skip
def test_a_refusal_says_what_was_asked_and_what_is_left_and_charges_nothing(budget, request_, parameter, requested, remaining):
    before = repr(budget)
    with pytest.raises(BudgetExceeded, match=parameter) as refusal:
        budget.spend(*request_)
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
    budget = Budget(10.0, 3e-6)
    for _ in range(3):
        budget.spend(1.0, 1e-6)
    with pytest.raises(BudgetExceeded, match="delta"):
        budget.spend(1.0, 1e-9)
    budget.spend(1.0)


def test_the_ledger_tells_what_was_spent_in_order():
    budget = Budget(2.0, 1e-5)
    budget.spend(0.5, label="mean")
    with budget.parallel():
        budget.spend(0.25, 1e-6, "north")
        budget.spend(0.5, label="south")
    with budget.parallel("replace"):
        budget.spend(0.125)
    expected = [Entry(0.5, 0.0, "mean", None), Entry(0.25, 1e-6, "north", 0), Entry(0.5, 0.0, "south", 0), Entry(0.125, 0.0, "", 1)]
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
    budget = Budget(9.0, cost)
    with budget.parallel(adjacency):
        for delta in (1e-6, 2e-6, 1e-6):
            budget.spend(0.1, delta)
        with pytest.raises(BudgetExceeded, match="delta"):
            budget.spend(0.1, 3e-6)
    with pytest.raises(BudgetExceeded, match="delta"):
        budget.spend(0.1, 1e-9)


def test_inside_a_block_remaining_counts_what_the_block_already_costs():
    budget = Budget(1.0)
    budget.spend(0.25)
    with budget.parallel():
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
    with pytest.raises(RuntimeError), budget.parallel(), budget.parallel():
        pass
    with pytest.raises(KeyError), budget.parallel():
        budget.spend(0.5)
        raise KeyError
    budget.spend(0.25)
    assert budget.ledger[-1].block is None and budget.spent == pytest.approx(0.75)


# --- properties


def cost(blocks, rule, slack):
    """Epsilon and delta of a ledger replayed from scratch: `blocks` holds (adjacency, [(epsilon, delta), ...])."""
    def of(column):
        return [sum(sorted(entry[column] for entry in entries)[-2 if adjacency == "replace" else -1 :]) for adjacency, entries in blocks]

    losses, deltas = of(0), of(1)
    squares = sum(loss**2 for loss in losses)
    spread = math.sqrt(2 * math.log(1 / slack) * squares) if rule == "advanced" else math.inf
    return min(sum(losses), squares / 2 + spread), sum(deltas) + (slack if rule == "advanced" else 0)


SHARES = st.floats(1e-4, 1.2)
REQUESTS = st.lists(st.tuples(SHARES, st.sampled_from([0.0, 0.0, 0.3, 0.8])), max_size=5)
SCRIPTS = st.lists(st.tuples(st.sampled_from([None, *ADJACENCIES]), REQUESTS), max_size=8)
BUDGETS = st.tuples(st.sampled_from(["basic", "advanced"]), st.floats(1e-3, 20), st.sampled_from([1e-9, 1e-5, 0.9]))


@PROPERTY
@given(BUDGETS, SCRIPTS)
def test_no_sequence_of_requests_overdraws_and_the_ledger_replays(kind, script):
    rule, epsilon, delta = kind
    budget = Budget(epsilon, delta, rule=rule, slack=delta / 2 if rule == "advanced" else None)
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
    budget = Budget(epsilon, delta, rule=rule)

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
    budget = Budget(epsilon, 1e-5, rule="advanced")
    count = sum(granted(budget, epsilon / 40) for _ in range(100))
    assert 65 < count < 72                       # 40 by the sum; about 40^2 / (2 ln 1e5) = 69 by the square root
    budget.spend(budget.remaining)
    assert epsilon * (1 - 1e-9) <= budget.spent <= epsilon * (1 + 2e-12)


@PROPERTY
@given(st.floats(0.3, 3), st.sampled_from([0.5, 0.05, 1e-3]), st.lists(st.floats(0.05, 1), min_size=1, max_size=9))
def test_whatever_the_advanced_filter_lets_through_is_within_epsilon_and_delta(epsilon, slack, losses):
    budget, charged = Budget(epsilon, slack, rule="advanced"), []
    for loss in losses:
        try:
            charged.append(budget.spend(loss))
        except BudgetExceeded:
            continue
    assert exact_delta(charged, epsilon * (1 + FLOAT)) <= slack


def test_the_advanced_filter_lets_through_what_its_closed_form_says():
    budget = Budget(5.850235, 1e-5, rule="advanced")
    count = sum(granted(budget, 0.1) for _ in range(200))
    assert count == 119                          # 58 by the sum, 100 by the theorem of 2010 with its looser k (e^epsilon - 1)
    assert budget.spent == pytest.approx(count * 0.1**2 / 2 + math.sqrt(2 * math.log(1e5) * count * 0.1**2), rel=1e-12)


def test_advanced_never_allows_less_than_basic():
    budget = Budget(1.0, 1e-9, rule="advanced")
    assert [budget.spend(0.5), budget.spend(0.5)] == [0.5, 0.5]
    assert budget.spent == 1.0


def test_slack_is_kept_out_of_delta():
    budget = Budget(1.0, 1e-5, rule="advanced", slack=4e-6)
    budget.spend(0.1, 6e-6)
    with pytest.raises(BudgetExceeded, match="delta"):
        budget.spend(0.1, 1e-8)
