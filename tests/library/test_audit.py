"""The audit: exact levels and power, honest mechanisms acquitted, broken ones caught."""
import math

import numpy as np
import pandas as pd
import pytest
from laws import LEVEL
from scipy import integrate, stats

from dplib import mechanisms, sensitivity, svt
from dplib.audit import (
    _choose_event,
    _conditional_bound,
    audit,
    epsilon_lower_bound,
    mu_lower_bound,
    planted,
    runs_needed,
)

STRICT = 1 - LEVEL

# --- bounds from counts


@pytest.mark.parametrize("k1, k2, n", [(0, 0, 10), (10, 0, 10), (10, 10, 10),
                                       (0, 10, 10), (7, 2, 10), (500, 100, 1000), (300, 299, 10**5)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 1 - 1e-6])
def test_epsilon_lower_bound_is_the_ratio_of_clopper_pearson_limits(k1, k2, n, delta, confidence):
    low = stats.binomtest(k1, n).proportion_ci(confidence, method="exact").low
    high = stats.binomtest(k2, n).proportion_ci(confidence, method="exact").high
    expected = math.log((low - delta) / high) if low > delta else -math.inf
    assert epsilon_lower_bound(k1, k2, n, delta=delta, confidence=confidence) == pytest.approx(expected, rel=1e-6)
    if 0 < low and high < 1:
        expected = stats.norm.ppf(low) - stats.norm.ppf(high)
        assert mu_lower_bound(k1, k2, n, confidence=confidence) == pytest.approx(expected, rel=1e-6)
    else:
        assert mu_lower_bound(k1, k2, n, confidence=confidence) == -math.inf


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("epsilon, delta", [(0.1, 0.0), (1.0, 0.0), (1.0, 0.05), (2.0, 0.0)])
def test_epsilon_lower_bound_is_too_high_at_most_this_often(n, epsilon, delta):
    k = np.arange(n + 1)
    over = np.array(
        [[epsilon_lower_bound(int(a), int(b), n, delta=delta, confidence=0.9) > epsilon for b in k] for a in k])
    for q in (0.01, 0.05, 0.1, 0.3):
        p = math.exp(epsilon) * q + delta
        if p <= 1:
            assert stats.binom.pmf(k, n, p) @ over @ stats.binom.pmf(k, n, q) <= 0.1


def test_mu_lower_bound_is_too_high_at_most_this_often():
    k, n = np.arange(61), 60
    over = np.array([[mu_lower_bound(int(a), int(b), n, confidence=0.9) > 1 for b in k] for a in k])
    for q in (0.02, 0.1, 0.3, 0.5, 0.8):
        p = stats.norm.cdf(stats.norm.ppf(q) + 1)
        assert stats.binom.pmf(k, n, p) @ over @ stats.binom.pmf(k, n, q) <= 0.1


def poisson_counts(mean):
    k = np.arange(math.ceil(mean + 12 * math.sqrt(mean) + 12))
    return k, stats.poisson.pmf(k, mean)


@pytest.mark.long
@pytest.mark.parametrize("alpha", [0.05, 1e-3])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("mean", [0.05, 0.5, 2, 10, 50, 200])
def test_conditional_bound_has_at_most_its_level_for_poisson_counts(mean, epsilon, alpha):
    k1, p1 = poisson_counts(math.exp(epsilon) * mean)
    k2, p2 = poisson_counts(mean)
    over = _conditional_bound(k1[:, None], k2[None, :], alpha) > epsilon
    assert p1 @ over @ p2 <= alpha
    if mean >= 10:
        assert p1 @ over @ p2 > alpha / 2.5      # and is not much more careful than that


def test_conditional_bound_is_the_clopper_pearson_limit_of_the_odds():
    for k1, k2 in [(1, 0), (5, 3), (40, 10), (1000, 20)]:
        p = stats.binomtest(k1, k1 + k2, alternative="greater").proportion_ci(0.95, method="exact").low
        assert _conditional_bound(k1, k2, 0.05) == pytest.approx(math.log(p / (1 - p)), rel=1e-9)
    assert _conditional_bound(0, 7, 0.05) == -math.inf


def power(runs, p, q, epsilon, alpha):
    """Exact probability that the conditional test rejects `epsilon`."""
    k1, p1 = poisson_counts(runs * p)
    k2, p2 = poisson_counts(runs * q) if q else (np.array([0]), np.array([1.0]))
    total = k1[:, None] + k2
    tail = stats.binom.sf(k1[:, None] - 1, total, 1 / (1 + math.exp(-epsilon)))
    return p1 @ (tail <= alpha) @ p2


@pytest.mark.parametrize("p, q, epsilon, confidence, wanted", [
    (0.3, 0.05, 1.0, 0.95, 0.95), (0.5, 0.1, 0.5, 0.99, 0.9), (0.02, 0.001, 1.0, 0.95, 0.5),
    (0.9, 0.0, 2.0, 0.999, 0.99), (0.7, 0.5, 0.1, 0.95, 0.8),
])
def test_runs_needed_gives_the_wanted_power_and_few_runs_less_do_not(p, q, epsilon, confidence, wanted):
    runs = runs_needed(p, q, epsilon=epsilon, confidence=confidence, power=wanted)
    assert power(runs, p, q, epsilon, 1 - confidence) >= wanted - 1e-8
    assert power(0.97 * runs - 1, p, q, epsilon, 1 - confidence) < wanted


def test_runs_needed_agrees_with_simulated_audits():
    rng, runs, trials = np.random.default_rng(31), runs_needed(0.3, 0.05, epsilon=1.0), 20_000
    k1, k2 = rng.poisson(0.3 * runs, trials), rng.poisson(0.05 * runs, trials)
    rejected = stats.binom.sf(k1 - 1, k1 + k2, 1 / (1 + math.exp(-1))) <= 0.05
    assert abs(rejected.mean() - 0.95) < 0.01


def test_a_certain_event_can_be_planned_for():
    assert runs_needed(1.0, 0.0, epsilon=1.0) <= runs_needed(0.9, 0.0, epsilon=1.0) <= 20
    assert runs_needed(1.0, 0.1, epsilon=1.0) <= runs_needed(0.9, 0.1, epsilon=1.0)


# --- correct mechanisms: the bound stays below the claim, and comes near it where one event shows the whole loss


def repeat(once):
    """A `run` for `audit` from one call."""
    return lambda data, size, rng: np.array([once(data, rng) for _ in range(size)])


def laplace(epsilon):
    return lambda data, size, rng: mechanisms.laplace(np.full(size, data), sensitivity=1, epsilon=epsilon, rng=rng)


def histogram(sensitivity):
    """Which of two counts are positive, after noise for this sensitivity."""
    return lambda data, size, rng: mechanisms.laplace(np.tile(data, (size, 1)),
                                                      sensitivity=sensitivity, epsilon=1, rng=rng) > 0


def geometric(data, size, rng):
    return mechanisms.geometric(np.full(size, data), sensitivity=1, epsilon=1, rng=rng)


def gaussian(data, size, rng):
    return mechanisms.gaussian(np.full(size, float(data)), sensitivity=1, epsilon=1, delta=0.01, rng=rng)


def select(mechanism, **parameters):
    return lambda scores, size, rng: mechanism(scores, sensitivity=1, epsilon=1, size=size, rng=rng, **parameters)


def pattern(indices, k, c):
    """The replies of a run as one number; a question not asked is no No."""
    replies = np.zeros(k, dtype=int)
    replies[indices] = 1
    if len(indices) == c:
        replies[indices[-1] + 1 :] = 2
    return replies @ 3 ** np.arange(k)


def sparse(c, **parameters):
    return repeat(lambda answers, rng: pattern(
        svt.above_threshold(answers, threshold=0, sensitivity=1, epsilon=1, c=c, rng=rng, **parameters),
            len(answers), c))


def interactive(answers, rng):
    watch = svt.AboveThreshold(0, sensitivity=1, epsilon=1, c=2, rng=rng)
    return pattern([i for i, answer in enumerate(answers) if not watch.halted and watch.ask(answer)], len(answers), 2)


def numeric(answers, rng):
    indices, values = svt.numeric_sparse(answers, threshold=0, sensitivity=1, epsilon=1, rng=rng)
    return (indices[0] + 1) * (1 if values[0] > 0 else -1) if len(indices) else 0


FLAT, TIPPED = [0, 0, 0], [1, -1, -1]            # one score rises and the others fall
LEAD, LEVEL_LEAD = [0, 3, 0], [1, 2, 1]          # the leader makes the sum, so that a follower moves against it
DOWN, UP = np.array([0.0] * 5 + [1.0]), np.array([1.0] * 5 + [0.0])

# name: run, claim, neighbours, and what an honest audit of this size has to see at least
CORRECT = {
    "laplace": (laplace(1.0), 1.0, [(0.0, 1.0), (5.0, 4.0)], 0.4),
    "laplace .5": (laplace(0.5), 0.5, [(0.0, 1.0), (5.0, 4.0)], 0.0),
    "laplace 3": (laplace(3.0), 3.0, [(0.0, 1.0), (5.0, 4.0)], 2.0),
    "histogram": (histogram(sensitivity.histogram("replace")), 1.0, [([1, 0], [0, 1]), ([2, 0], [1, 1])], 0.4),
    "geometric": (geometric, 1.0, [(0, 1), (8, 7)], 0.4),
    "exponential": (select(mechanisms.exponential), 1.0, [(FLAT, TIPPED), (LEAD, LEVEL_LEAD)], 0.35),
    "monotone exponential": (select(mechanisms.exponential, monotone=True),
                             1.0, [(LEAD, [1, 3, 0]), (FLAT, [1, 1, 0])], 0.4),
    **{f"noisy max, {noise}": (select(mechanisms.report_noisy_max, noise=noise),
                               1.0, [(FLAT, TIPPED), (LEAD, LEVEL_LEAD)], 0.35)
       for noise in ("exponential", "laplace", "gumbel")},
    "above_threshold": (sparse(1), 1.0, [(DOWN, UP), (UP, DOWN)], 0.1),
    "above_threshold, c = 3": (sparse(3, split="optimal"), 1.0, [(DOWN, UP), (UP, DOWN)], 0.0),
    "above_threshold, monotone": (sparse(2, monotone=True), 1.0, [(UP, 0 * UP), (0 * UP, DOWN)], 0.0),
    "AboveThreshold": (repeat(interactive), 1.0, [(DOWN, UP), (UP, DOWN)], 0.0),
    "numeric_sparse": (repeat(numeric), 1.0, [(DOWN, UP), (UP, DOWN)], 0.0),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_mechanism_is_acquitted_though_its_loss_is_seen(name):
    run, claim, neighbours, seen = CORRECT[name]
    results = [audit(run, d, d2, n=10_000, confidence=STRICT, rng=32) for d, d2 in neighbours]
    assert all(result.epsilon <= claim for result in results)
    assert max(_conditional_bound(result.k1, result.k2, 0.05) for result in results) > seen


@pytest.mark.parametrize("d, d2", [(0, 1), (1, 0)])
def test_gaussian_is_acquitted_at_its_delta_and_not_at_delta_zero(d, d2):
    assert audit(gaussian, d, d2, n=100_000, delta=0.01, confidence=STRICT, rng=34).epsilon <= 1
    assert audit(gaussian, d, d2, n=100_000, delta=0.01, rng=34).epsilon > 0.6
    assert audit(gaussian, d, d2, n=100_000, delta=0.0, rng=34).epsilon > 1


# --- broken mechanisms: caught at three times the runs that their most telling event needs (audit spends half on
# finding one)


def naked(data, size, rng):
    return np.full(size, float(data))


def comparisons(threshold_noise, query_noise, stops):
    """Vectorised above-threshold at threshold 0, with noise as given;
    a run that does not stop replies to everything."""

    def run(answers, size, rng):
        k = len(answers)
        passed = answers + query_noise(rng, (size, k)) >= threshold_noise(rng, size)
        if stops:
            passed &= np.cumsum(passed, axis=1) <= 1
        return passed @ 2 ** np.arange(k)

    return run


def lap(scale, columns=None):
    return lambda rng, shape: rng.laplace(scale=scale, size=shape if columns is None else (shape, columns))


def nothing(rng, shape):
    return 0


ALL_UP = np.zeros(6), np.ones(6)
LOW_UP = np.full(12, -2.0), np.full(12, -1.0)
CROSS = np.array([0] * 4 + [1] * 4), np.array([1] * 4 + [0] * 4)
NOISE = svt.scales(1.0)


def chances(outcome, pair):
    return [math.exp(svt.log_probability(outcome, answers, threshold=0.0, noise=NOISE)) for answers in pair]


def reuse(answers, size, rng):
    """Algorithm 3 of Lyu, Su and Li (2017), which prints the noisy answer that it compared: first hit after 5 No,
    and is it small?"""
    noisy = answers + rng.laplace(scale=NOISE.query, size=(size, len(answers)))
    passed = noisy >= rng.laplace(scale=NOISE.threshold, size=(size, 1))
    return (passed.argmax(axis=1) == 5) & (noisy[:, 5] <= 2) & passed[:, 5]


def reuse_chance(answers):
    def density(t):
        silent = np.prod(stats.laplace.cdf((t - answers[:5]) / NOISE.query))
        window = stats.laplace.cdf((2 - answers[5]) / NOISE.query) - stats.laplace.cdf((t - answers[5]) / NOISE.query)
        return stats.laplace.pdf(t, scale=NOISE.threshold) * silent * window

    return integrate.quad(density, -80, 2, points=[0, 1], limit=200)[0]


def noisy_max_small_scale(scores, size, rng):
    return np.argmax(np.array(scores) + rng.laplace(size=(size, len(scores))), axis=1)


def wins(scores):
    """P(the first wins) with Laplace noise of scale 1."""
    def density(x):
        return stats.laplace.pdf(x - scores[0]) * np.prod(stats.laplace.cdf(x - np.array(scores[1:])))

    return integrate.quad(density, -30, 30, points=sorted({*scores}), limit=200)[0]


def softmax(scores):
    return (np.exp(scores) / np.exp(scores).sum())[0]


BROKEN = {
    "no noise": (naked, (0.0, 1.0), (1.0, 0.0)),
    "half the scale": (laplace(2.0), (0.0, 1.0), (1 / 2, math.exp(-2) / 2)),
    "histogram noise 1/epsilon under replace": (histogram(1), ([1, 0], [0, 1]),
                                                ((1 - math.exp(-1) / 2) / 2, math.exp(-1) / 4)),
    "exponential without the 2": (select(mechanisms.exponential, monotone=True),
                                  (LEVEL_LEAD, LEAD), (softmax(LEVEL_LEAD), softmax(LEAD))),
    "noisy max with Lap(1/epsilon)": (noisy_max_small_scale, (LEVEL_LEAD, LEAD), (wins(LEVEL_LEAD), wins(LEAD))),
    "public threshold": (comparisons(nothing, lap(4), stops=True), ALL_UP, (2**-6, (math.exp(-1 / 4) / 2) ** 6)),
    "threshold noise redrawn for every query": (
        comparisons(lap(2, 12), lap(4), stops=True), LOW_UP, [p**12 for p in chances([0], LOW_UP)]),
    "no noise on the answers": (
        comparisons(lap(2, 1), nothing, stops=True), (np.array([0, 1]), np.array([1, 0])),
        ((1 - math.exp(-1 / 2)) / 2, 0.0)),
    "no stopping": (comparisons(lap(2, 1), lap(4), stops=False), CROSS, chances([0] * 4 + [1] * 4, CROSS)),
    "noisy value reused": (reuse, (DOWN, UP), (reuse_chance(DOWN), reuse_chance(UP))),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_mechanism_is_caught(name):
    run, (d, d2), (p, q) = BROKEN[name]
    assert audit(run, d, d2, n=3 * runs_needed(p, q, epsilon=1.0), rng=35).epsilon > 1


def rare(data, size, rng):
    """Whole numbers with Laplace noise, and on the second data set one output in a hundred that gives it away."""
    honest = np.floor(data + rng.laplace(size=size))
    return np.where((rng.random(size) < 0.01) & (data == 1), 50.0, honest)


@pytest.mark.long
@pytest.mark.parametrize("run, n, wanted", [
    # as runs_needed promises
    (laplace(math.sqrt(2)), 3 * runs_needed(0.5, math.exp(-math.sqrt(2)) / 2, epsilon=1.0), 0.9),
    (laplace(1.2), 10_000, 0.85),
    (rare, 4000, 0.6),
    (lambda data, size, rng: rng.laplace(scale=1.0 + data, size=size), 2000, 0.85),           # both tails
])
def test_an_audit_that_searches_sees_nearly_as_much_as_one_that_knows_the_event(run, n, wanted):
    found = sum(audit(run, 0.0, 1.0, n=n, rng=seed).epsilon > 1 for seed in range(200))
    assert stats.binomtest(found, 200, wanted, alternative="less").pvalue > LEVEL


# --- the event must come from other runs


@pytest.mark.long
def test_an_event_chosen_on_the_runs_that_test_it_accuses_the_innocent_and_audit_does_not():
    rng, trials, n, wrong, right = np.random.default_rng(36), 300, 2000, 0, 0
    run = laplace(1.0)
    for _ in range(trials):
        one, two = run(0.0, n, rng), run(1.0, n, rng)
        edges = np.quantile(np.concatenate([one, two]), np.linspace(0, 1, 61)[1:-1])
        a, b = (np.bincount(np.searchsorted(edges, x), minlength=60) for x in (one, two))
        order = np.argsort(-(a + 0.5) / (b + 0.5))
        wrong += (_conditional_bound(np.cumsum(a[order]), np.cumsum(b[order]), 0.05) > 1).any()
        right += audit(run, 0.0, 1.0, n=n, rng=rng).epsilon > 1
    assert wrong / trials > 0.9
    assert stats.binomtest(right, trials, 0.05, alternative="greater").pvalue > LEVEL


@pytest.mark.parametrize("outputs", [
    lambda told, rng: told,
    lambda told, rng: np.where(told, "yes", "no"),
    lambda told, rng: np.where(told, 300, rng.integers(0, 100, told.size)),
    lambda told, rng: np.column_stack([rng.integers(0, 2, told.size), told]),
    *(lambda told, rng, odd=odd: np.where(told, odd, rng.random(told.size))
      for odd in (math.nan, math.inf, -math.inf, 7.0)),
])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0)])
def test_a_leak_is_found_in_either_direction_whatever_the_outputs_look_like(outputs, pair):
    def leak(data, size, rng):
        return outputs(rng.random(size) < (0.5 if data else 0.1), rng)

    result = audit(leak, *pair, n=4000, rng=37)
    assert 1.2 < result.epsilon < math.log(0.5 / 0.1) + 0.2 and result.k1 > result.k2 and result.n == 4000


def test_the_event_of_an_audit_can_be_asked_again():
    result = audit(laplace(1.0), 0.0, 1.0, n=20_000, rng=38)
    rng = np.random.default_rng(39)
    p, q = (result.event(laplace(1.0)(data, 200_000, rng)).mean() for data in (0.0, 1.0))
    assert abs(math.log(p / q)) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("seed", range(20))
def test_an_audit_of_very_few_runs_says_nothing_and_does_not_fail(seed):
    assert audit(lambda data, size, rng: rng.integers(0, 2, size), 0, 1, n=2, rng=seed).epsilon <= 1
    assert audit(laplace(1.0), 0.0, 1.0, n=3, rng=seed).epsilon <= 1


def test_a_run_that_returns_too_few_outputs_is_refused():
    with pytest.raises(ValueError, match="run must return"):
        audit(lambda data, size, rng: np.zeros(size - 1), 0, 1, n=100, rng=0)


def test_the_chosen_event_is_the_likelier_one_on_the_first_data_set_unless_swapped():
    rng = np.random.default_rng(40)
    one, two = rng.integers(0, 2, 1000), np.zeros(1000, dtype=int)
    event, swapped = _choose_event(one, two, 0.0)
    assert (event(np.array([0, 1])).tolist(), swapped) == ([False, True], False)
    event, swapped = _choose_event(two, one, 0.0)
    assert (event(np.array([0, 1])).tolist(), swapped) == ([False, True], True)


# ------------------------------------------------------------------------------------------------------- planted people

VISITS = pd.DataFrame({"person": ["a", "b", "c"], "month": ["May", "May", "June"], "paid": [10, 20, 30]})


def by_month(table, *, one_each=True, list_of=("May", "June"), low=0):
    kept = table.drop_duplicates("person") if one_each else table
    months = sorted(set(kept.month)) if list_of is None else list(list_of)
    return {"visits": kept.month.value_counts().reindex(months, fill_value=0),
            "paid": kept.paid.clip(low, 50).groupby(kept.month).sum(min_count=0).reindex(months, fill_value=0)}


def rows(**other):
    return {"person": "x", "month": "May", "paid": 20, **other}


PEOPLE = {"plain": [rows()], "twice": [rows(), rows(month="June")], "refund": [rows(paid=-5000)],
          "July": [rows(month="July")]}
PROMISED = {"visits": 1, "paid": 50}


def planted_in(aggregate, table=VISITS, people=PEOPLE, public=("visits", "paid")):
    return planted(aggregate, table, people, promised=PROMISED, public=public)


def test_planted_people_spare_what_keeps_its_promise():
    found = planted_in(by_month)
    assert list(found.index) == list(PEOPLE) and found.to_numpy().max() == 1 and found.loc["plain", "paid"] == 20 / 50


@pytest.mark.parametrize(("broken", "person", "table", "change"), [
    ({"one_each": False}, "twice", "visits", 2.0), ({"low": None}, "refund", "paid", 100.0),
    ({"list_of": None}, "July", "visits", np.inf),
])
def test_each_broken_step_is_found_by_its_person(broken, person, table, change):
    found = planted_in(lambda rows: by_month(rows, **broken))
    assert found.loc[person, table] == change
    assert found.drop(person).to_numpy().max() <= 1


def test_a_failure_and_a_missing_number_are_infinite():
    def fails(table):
        return by_month(table.assign(paid=table.paid.astype(int)))

    def missing(table):
        found = by_month(table)
        return {**found, "paid": found["paid"] + (np.nan if table.paid.isna().any() else 0)}

    nobody_knows = {"no bill": [rows(paid=np.nan)]}
    assert np.isinf(planted_in(fails, people=nobody_knows)).all(axis=None)
    assert planted_in(missing, people=nobody_knows).loc["no bill"].tolist() == [1.0, np.inf]


def test_a_list_that_is_not_public_may_grow():
    def lines(table):
        return {"lines": table.month.value_counts()}

    for public, change in (((), 1.0), (("lines",), np.inf)):
        assert planted(lines, VISITS, {"July": [rows(month="July")]}, promised={"lines": 1},
                       public=public).loc["July", "lines"] == change


def test_a_number_missing_in_both_worlds_says_nothing_and_a_new_table_says_all():
    def means(table):
        found = by_month(table)
        return {**found, "paid": found["paid"].where(found["paid"] > 1000)}

    def late(table):
        return {**by_month(table), **({"late": table.paid} if "July" in set(table.month) else {})}

    assert planted_in(means)["paid"].max() == 0
    found = planted_in(late)
    assert np.isinf(found.loc["July"]).all() and found.drop("July").to_numpy().max() <= 1


def test_planted_people_do_not_touch_the_table():
    before = VISITS.copy()
    planted_in(by_month)
    pd.testing.assert_frame_equal(VISITS, before)


@pytest.mark.parametrize("promised", [{"visits": 1}, {"visits": 1, "paid": 0}, {"visits": 1, "paid": 50, "more": 1}])
def test_promises_must_fit_the_tables(promised):
    with pytest.raises(ValueError, match="promised"):
        planted(by_month, VISITS, PEOPLE, promised=promised)
