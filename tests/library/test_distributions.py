"""The exact privacy of a mechanism with finitely many outcomes, against all sets of outcomes;
and the three catastrophes."""
import itertools
import math

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_randomized_response
from hypothesis import given
from hypothesis import strategies as st
from laws import PROPERTY, follows

from dplib.distributions import catastrophe, exact_delta, exact_epsilon, name_and_shame, privacy_loss, random_tag

HALVES, LEFT, RIGHT = [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]
EPSILONS = st.floats(0, 4)


def law(weights):
    return np.array(weights) / sum(weights)


def weights(k):
    return st.lists(st.integers(0, 6), min_size=k, max_size=k).filter(any).map(law)


PAIRS = st.integers(1, 6).flatmap(lambda k: st.tuples(weights(k), weights(k)))


def worst_set(p, q, epsilon):
    """delta by the definition: the largest P(S) - e^epsilon Q(S), over every set S of outcomes and both directions."""
    sets = [list(chosen) for chosen in itertools.product([False, True], repeat=len(p))]
    return max(one[s].sum() - math.exp(epsilon) * other[s].sum() for one, other in ((p, q), (q, p)) for s in sets)


# --- exact epsilon and delta


# randomized response at odds of 3; a coin against a certainty; the same law twice
@pytest.mark.parametrize("p, q, epsilon, delta_at_0, delta_at_half", [
    ([0.75, 0.25], [0.25, 0.75], math.log(3), 0.5, 0.75 - math.exp(0.5) / 4),
    (HALVES, LEFT, math.inf, 0.5, 0.5),
    (LEFT, RIGHT, math.inf, 1.0, 1.0),
    (HALVES, HALVES, 0.0, 0.0, 0.0),
    ([0.5, 0.5, 0.0], [0.25, 0.75, 0.0], math.log(2), 0.25, 0.5 - math.exp(0.5) / 4),
])
def test_known_pairs(p, q, epsilon, delta_at_0, delta_at_half):
    for one, other in ((p, q), (q, p)):
        assert exact_epsilon(one, other) == pytest.approx(epsilon, rel=1e-14)
        assert exact_delta(one, other, epsilon=0) == pytest.approx(delta_at_0, rel=1e-14)
        assert exact_delta(one, other, epsilon=0.5) == pytest.approx(delta_at_half, rel=1e-14)


def test_the_worse_direction_counts():
    p, q = [0.9, 0.1, 0.0], [0.5, 0.1, 0.4]      # 0.4 is impossible on one side, so no epsilon helps that direction
    assert exact_delta(p, q, epsilon=2.0) == exact_delta(q, p, epsilon=2.0) == 0.4
    assert exact_epsilon(p, q) == exact_epsilon(q, p) == math.inf


@PROPERTY
@given(PAIRS, EPSILONS)
def test_delta_is_the_worst_of_all_sets(pair, epsilon):
    assert exact_delta(*pair, epsilon=epsilon) == pytest.approx(worst_set(*pair, epsilon), abs=1e-14)


@PROPERTY
@given(PAIRS)
def test_epsilon_is_the_worst_log_ratio_of_all_sets(pair):
    p, q = pair
    ratios = [0.0]
    for chosen in itertools.product([False, True], repeat=len(p)):
        here, there = p[list(chosen)].sum(), q[list(chosen)].sum()
        if here or there:
            ratios.append(abs(math.log(here / there)) if here and there else math.inf)
    assert exact_epsilon(p, q) == pytest.approx(max(ratios), abs=1e-12)


@PROPERTY
@given(PAIRS, EPSILONS, EPSILONS)
def test_delta_is_total_variation_at_0_falls_with_epsilon_and_ends_at_exact_epsilon(pair, epsilon, more):
    p, q = pair
    assert exact_delta(p, q, epsilon=0) == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-14)
    assert 0 <= exact_delta(p, q, epsilon=epsilon + more) <= exact_delta(p, q, epsilon=epsilon) <= 1 + 1e-14
    largest = exact_epsilon(p, q)
    if largest < math.inf:
        assert exact_delta(p, q, epsilon=largest) < 1e-14
        assert largest == 0 or exact_delta(p, q, epsilon=largest * (1 - 1e-6)) > 0
    else:
        assert exact_delta(p, q, epsilon=1e6) == max(p[q == 0].sum(), q[p == 0].sum()) > 0


@PROPERTY
@given(PAIRS, EPSILONS, st.data())
def test_merging_outcomes_never_costs_privacy(pair, epsilon, data):
    p, q = pair
    label = data.draw(st.lists(st.integers(0, 2), min_size=len(p), max_size=len(p)))
    merged = [np.bincount(label, weights=one, minlength=3) for one in pair]
    assert exact_delta(*merged, epsilon=epsilon) <= exact_delta(p, q, epsilon=epsilon) + 1e-14
    assert exact_epsilon(*merged) <= exact_epsilon(p, q) + 1e-12


@pytest.mark.parametrize("epsilon", [700.0, 701.0, 705.0])
def test_delta_is_right_where_e_to_the_epsilon_is_no_number(epsilon):
    tiny = 1e-310                                # what e^701 times it is: 2.8e-6
    expected = 0.5 - math.exp(epsilon + math.log(tiny))
    assert exact_delta(HALVES, [tiny, 1.0], epsilon=epsilon) == pytest.approx(expected, rel=1e-12)


def test_huge_epsilons_leave_what_is_impossible_on_the_other_side():
    assert exact_delta(HALVES, LEFT, epsilon=1e308) == 0.5
    assert exact_delta(HALVES, [5e-324, 1.0], epsilon=1e308) == exact_delta(HALVES, [5e-324, 1.0], epsilon=744.5) == 0


@pytest.mark.parametrize("lie", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_randomized_response_costs_the_same_in_dp_accounting(lie, k):
    loss = from_randomized_response(noise_parameter=lie, num_buckets=k, value_discretization_interval=1e-5)
    p, q = np.full((2, k), lie / k)
    p[0] += 1 - lie
    q[1] += 1 - lie
    assert exact_epsilon(p, q) == pytest.approx(loss.get_epsilon_for_delta(0.0), abs=2e-5)
    for epsilon in (0.0, 0.3, 1.0):
        assert exact_delta(p, q, epsilon=epsilon) == pytest.approx(loss.get_delta_for_epsilon(epsilon), abs=2e-5)


# --- the privacy-loss variable


@PROPERTY
@given(PAIRS, EPSILONS)
def test_delta_is_the_mean_of_what_the_loss_exceeds(pair, epsilon):
    def excess(p, q):
        losses, chances = privacy_loss(p, q)
        return (chances * np.maximum(0, 1 - np.exp(epsilon - losses))).sum()

    p, q = pair
    assert max(excess(p, q), excess(q, p)) == pytest.approx(exact_delta(p, q, epsilon=epsilon), abs=1e-14)


@PROPERTY
@given(PAIRS)
def test_losses_are_those_of_the_possible_outcomes_and_change_the_measure(pair):
    p, q = pair
    losses, chances = privacy_loss(p, q)
    assert chances.tolist() == p[p > 0].tolist()
    assert (chances * np.exp(-losses)) == pytest.approx(q[p > 0], abs=1e-15)
    assert (losses == math.inf).tolist() == (q[p > 0] == 0).tolist()


def test_losses_are_pinned():
    losses, chances = privacy_loss([0.5, 0.25, 0.25, 0.0], [0.25, 0.75, 0.0, 0.0])
    assert losses == pytest.approx([math.log(2), -math.log(3), math.inf]) and chances.tolist() == [0.5, 0.25, 0.25]


def test_the_lists_need_not_sum_to_one_in_the_last_bit_but_nan_is_no_probability():
    p = [1 / 49] * 49                            # sums to 0.9999999999999999 or 1.0000000000000007, by the Python
    assert sum(p) != 1 and exact_epsilon(p, p) == 0
    with pytest.raises(ValueError, match="q"):
        exact_delta(p, [1 / 49] * 48 + [1 / 49 + 1e-8], epsilon=1.0)
    with pytest.raises(ValueError, match="q"):
        exact_delta(HALVES, [math.nan, 1.0], epsilon=1.0)


# --- the catastrophes

TABLES = [("ada", "ben"), ("ada", "cem"), ("ada",), ("ben", "ada"), ("ada", "ada"), ()]
NEIGHBOURS = [(TABLES[0], TABLES[1]), (TABLES[0], TABLES[2]), (TABLES[2], TABLES[5]),
              (TABLES[4], TABLES[2]), (TABLES[3], TABLES[4])]


def law_of_name_and_shame(table, delta):
    out = {}
    for chosen in itertools.product([False, True], repeat=len(table)):
        outcome = tuple(itertools.compress(table, chosen))
        out[outcome] = out.get(outcome, 0) + math.prod(delta if one else 1 - delta for one in chosen)
    return out


def law_of_catastrophe(table, delta):
    return {tuple(table): delta, (): 1 - delta} if table else {(): 1.0}


LAWS = {name_and_shame: law_of_name_and_shame, catastrophe: law_of_catastrophe}


def aligned(*laws):
    outcomes = sorted(set().union(*laws))
    return [[one.get(outcome, 0.0) for outcome in outcomes] for one in laws]


@pytest.mark.parametrize("mechanism", LAWS)
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.25, 0.9])
def test_a_catastrophe_keeps_its_delta_at_epsilon_0_and_no_smaller_one(mechanism, delta):
    found = [exact_delta(*aligned(*(LAWS[mechanism](table, delta) for table in pair)), epsilon=0)
             for pair in NEIGHBOURS]
    assert max(found) == pytest.approx(delta, rel=1e-9, abs=1e-16)
    assert all(one <= delta * (1 + 1e-9) for one in found)
    new_person = aligned(LAWS[mechanism](TABLES[2], delta), LAWS[mechanism](TABLES[5], delta))
    assert exact_delta(*new_person, epsilon=30.0) == delta      # no epsilon helps: what is published was impossible


@pytest.mark.parametrize("mechanism", LAWS)
def test_a_catastrophe_has_its_law(mechanism):
    rng, table, n = np.random.default_rng(1), ("ada", "ben", "cem"), 30_000
    runs = [tuple(mechanism(table, delta=0.3, rng=rng)) for _ in range(n)]
    other = next(law for one, law in LAWS.items() if one is not mechanism)
    laws = aligned(*(LAWS[mechanism](table, delta) for delta in (0.3, 0.27, 0.33)), other(table, 0.3))
    counts = [runs.count(outcome) for outcome in sorted(law_of_name_and_shame(table, 0.3))]
    assert sum(counts) == n
    follows(counts, *laws)


def test_name_and_shame_publishes_n_delta_people_in_their_order():
    people = list(range(100_000))
    published = name_and_shame(people, delta=0.001, rng=3)
    assert published == sorted(published) and abs(len(published) - 100) < 50           # 5 standard deviations
    assert name_and_shame(people, delta=0, rng=3) == catastrophe(people, delta=0, rng=3) == []


def test_the_caller_gets_a_list_of_its_own():
    table = ["ada"]
    published = next(out for seed in range(100) if (out := catastrophe(table, delta=0.5, rng=seed)))
    assert published == table and published is not table


@pytest.mark.parametrize("mechanism", LAWS)
def test_the_records_may_be_anything(mechanism):
    for seed in range(12):
        for table in ([math.nan, None, "x", (1, 2)], np.array([math.inf, 1.0]), iter(["a"]), {"a": 1}):
            assert isinstance(mechanism(table, delta=0.5, rng=seed), list)


def test_a_random_tag_has_its_law_and_shows_the_record():
    rng, n = np.random.default_rng(4), 60_000
    runs = [random_tag("ada", tags=6, rng=rng) for _ in range(n)]
    assert {record for record, _ in runs} == {"ada"} and all(type(tag) is int for _, tag in runs[:5])
    counts = np.bincount([tag for _, tag in runs], minlength=7)
    follows(counts, [1 / 6] * 6 + [0], [1 / 7] * 7, [0] + [1 / 6] * 6, law([21, 20, 20, 20, 20, 19, 0]))


@pytest.mark.parametrize("tags", [1, 5, 1000])
def test_a_random_tag_passes_outcome_by_outcome_and_fails_as_a_set(tags):
    p, q = np.append(np.full(tags, 1 / tags), np.zeros(tags)), np.append(np.zeros(tags), np.full(tags, 1 / tags))
    assert (p <= q + 1 / tags).all() and (q <= p + 1 / tags).all()
    for epsilon in (0.0, 1.0, 800.0):
        assert exact_delta(p, q, epsilon=epsilon) == pytest.approx(1)
    assert exact_epsilon(p, q) == math.inf
