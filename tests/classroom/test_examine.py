"""A mechanism of one's own on two tables: what is refuted, what is not, and what cannot be examined."""
import numpy as np
import pytest

from dplib import mechanisms
from provable_privacy.battery import examine, makers
from provable_privacy.battery.exact import LEVEL
from provable_privacy.battery.makers import noisy

ONE, TWO = [3, 1, 4], [3, 1, 4, 1]


def exact(table):
    return [len(table), 4.0 * len(table)]


def scale(table):
    return 5.0


VECTOR = noisy(exact, scale)


def lines(table, rng):
    """The counts of values, where they are large enough; at ε = 1 the threshold is far too low."""
    counts = {value: table.count(value) + rng.laplace() for value in set(table)}
    return {value: count for value, count in sorted(counts.items()) if count > 0.5}


@pytest.mark.parametrize(("mechanism", "settings", "words"), [
    (lambda table, rng: len(table) + rng.laplace(scale=0.5), {"epsilon": 1.0}, "times as often"),
    (lambda table, rng: len(table), {"epsilon": 1.0}, "no noise there"),
    (makers.fixed_seed(VECTOR), {"epsilon": 1.0}, "a seed is fixed"),
    (noisy(exact, scale, makers.shared()), {"epsilon": 1.0}, "their difference is exact"),
    (noisy(exact, scale, makers.same_size()), {"epsilon": 1.0, "exact": exact}, "same size"),
    (noisy(exact, scale, makers.clipped(1.5)), {"epsilon": 1.0, "exact": exact}, "only one of the two"),
    (makers.stale(VECTOR), {"epsilon": 1.0, "exact": exact}, "of 1 call before"),
    (lines, {"epsilon": 0.2}, "the noisy count of 1 is at most"),
    (lambda table, rng: bool(len(table) % 2) ^ (rng.random() < 0.1), {"epsilon": 1.0}, "the outcome is exactly"),
    (lambda table, rng: len(table) + rng.normal(scale=0.8), {"epsilon": 1.0, "delta": 1e-3}, "and 0.001 more"),
    (lambda table, rng: VECTOR(table, rng).tolist() if len(table) > 3 else VECTOR(table, rng), {"epsilon": 5.0},
     "the type of what comes out"),
    (noisy(exact, scale, lambda rng, b, shape: rng.choice([-1, 1]) * rng.exponential(b, shape)),
     {"epsilon": 1.0, "exact": exact}, "the pair of the signs"),
])  # fmt: skip
def test_what_breaks_its_promise_is_refuted(mechanism, settings, words):
    finding = examine(mechanism, ONE, TWO, rng=5, **settings)
    assert finding.refuted and words in finding.found
    assert finding.epsilon == 0 or finding.epsilon >= settings["epsilon"]
    assert all(len(line) <= 80 for line in str(finding).splitlines())


def test_noise_that_is_drawn_again_below_0_is_seen_at_a_true_0():
    """As the page about mechanisms of one's own advises; far from 0 the same leak is too small to see."""
    patient = makers.again(noisy(len, lambda table: 1.0), lambda out, table: out < 0)
    at_zero = [examine(patient, [], [1], epsilon=1.0, exact=len, runs=40_000, rng=seed).refuted for seed in range(2)]
    assert all(at_zero) and not examine(patient, ONE, TWO, epsilon=1.0, exact=len, runs=40_000, rng=1).refuted


@pytest.mark.parametrize(("mechanism", "settings"), [
    (lambda table, rng: mechanisms.laplace(len(table), sensitivity=1, epsilon=1.0, rng=rng), {"epsilon": 1.0}),
    (noisy(lambda table: len(table), lambda table: 1.0, makers.geometric), {"epsilon": 1.0, "exact": len}),
    (VECTOR, {"epsilon": 1.0, "exact": exact}),
    (makers.given(VECTOR, table=ONE), {"epsilon": 0.0}),
    (lambda table, rng: max(0, round(len(table) + rng.laplace())), {"epsilon": 1.0}),
    (lambda table, rng: None if rng.random() < 0.5 else "yes", {"epsilon": 0.0}),
    (noisy(lambda table: len(table), lambda table: 4.0, makers.normal), {"epsilon": 1.0, "delta": 1e-3}),
    (lines, {"epsilon": 30.0}),
])  # fmt: skip
def test_what_keeps_its_promise_is_not_refuted(mechanism, settings):
    finding = examine(mechanism, ONE, TWO, rng=6, **settings)
    assert not finding.refuted and finding.epsilon == 0 and str(finding).startswith("Not refuted.")


def test_the_bound_on_epsilon_is_below_the_true_loss():
    """Of forty examinations of a mechanism with loss 2 between the tables, none may say more; most say nearly 2."""
    noisy_count = noisy(len, lambda table: 0.5, makers.laplace)
    bounds = [examine(noisy_count, ONE, TWO, epsilon=1.0, runs=3000, rng=seed).epsilon for seed in range(40)]
    assert max(bounds) <= 2 and np.median(bounds) > 1.2 and LEVEL < 1e-5


@pytest.mark.parametrize(("mechanism", "settings", "words"), [
    (VECTOR, {"epsilon": -1.0}, "epsilon must be"), (VECTOR, {"epsilon": np.nan}, "epsilon must be"),
    (VECTOR, {"epsilon": 1.0, "delta": 1.0}, "delta must be"), (VECTOR, {"epsilon": 1.0, "runs": 10}, "runs must be"),
    (lambda table, rng: [0.0] * len(table), {"epsilon": 1.0}, "one length, got lengths from 3 to 4"),
    (lambda table, rng: "a" if len(table) == 3 else 1.0, {"epsilon": 1.0}, "of one kind, got number, outcome"),
    (lambda table, rng: str(rng.random()), {"epsilon": 1.0}, "outcomes must be few"),
])  # fmt: skip
def test_what_cannot_be_examined_is_a_clear_error(mechanism, settings, words):
    with pytest.raises(ValueError, match=words):
        examine(mechanism, ONE, TWO, rng=1, **settings)
