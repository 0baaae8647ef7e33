"""The makers of mistakes and leaks do what their names say."""
import numpy as np
import pytest

from provable_privacy.battery import makers
from provable_privacy.battery.makers import again, each_call, fixed_seed, given, noisy, own_luck, stale, then, where


def exact(table, epsilon):
    return np.asarray(table, dtype=float)


def scale(table, epsilon):
    return 1 / epsilon


RIGHT, TABLE = noisy(exact, scale), [1.0, 2.0, 3.0, 4.0]


def noise(law, epsilon=0.5, table=TABLE):
    return noisy(exact, scale, law)(table, epsilon, np.random.default_rng(3)) - table


def test_noise_has_the_scale_of_its_arguments():
    table = np.zeros(200_000)
    for law, mean_size in ((makers.laplace, 1.0), (makers.normal, (2 / np.pi) ** 0.5), (makers.exponential, 1.0)):
        assert abs(np.abs(noise(law, 0.5, table)).mean() / 2 - mean_size) < 0.01
    drawn = noise(makers.geometric, 0.5, table)
    assert np.all(drawn == np.round(drawn)) and abs(np.mean(drawn == 0) - np.tanh(0.25)) < 0.005


@pytest.mark.parametrize(("law", "holds"), [
    (makers.shared(), lambda z: np.ptp(z) < 1e-9), (makers.same_size(), lambda z: np.ptp(np.abs(z)) < 1e-9),
    (makers.mirrored(), lambda z: np.allclose(z[2:], -z[:2])), (makers.one_sided(), lambda z: np.all(z >= 0)),
    (makers.clipped(0.1), lambda z: np.abs(z).max() <= 0.2 + 1e-9),
    (makers.whole(), lambda z: np.allclose(z, np.round(z))),
])  # fmt: skip
def test_a_broken_law_is_broken_as_it_says(law, holds):
    assert holds(noise(law)) and not holds(noise(makers.laplace))


def test_noise_can_be_shared_along_one_axis():
    out = noise(makers.shared(axis=0), table=np.zeros((3, 2)))
    assert np.ptp(out, axis=0).max() < 1e-9 < np.ptp(out, axis=1).min()


def test_answers_can_be_changed():
    rng = np.random.default_rng
    assert np.array_equal(given(RIGHT, epsilon=lambda e: 2 * e)(TABLE, 0.5, rng(1)), RIGHT(TABLE, 1.0, rng(1)))
    assert np.array_equal(given(RIGHT, epsilon=1.0)(TABLE, 0.5, rng(1)), RIGHT(TABLE, 1.0, rng(1)))
    assert then(RIGHT, lambda out, table, rng: len(table))(TABLE, 0.5, rng(1)) == 2
    assert np.array_equal(where(lambda table, epsilon: len(table) > 3, exact, RIGHT)(TABLE, 0.5, rng(1)), TABLE)
    assert np.array_equal(
        where(lambda table, epsilon: len(table) > 4, exact, RIGHT)(TABLE, 0.5, rng(1)), RIGHT(TABLE, 0.5, rng(1))
    )
    assert again(RIGHT, lambda out, table, epsilon: out.min() < 0)(TABLE, 0.5, rng(1)).min() >= 0


def test_luck_can_be_its_own_fixed_or_stale():
    rng = np.random.default_rng
    own, fixed, kept = own_luck(RIGHT)(1), fixed_seed(RIGHT), stale(RIGHT)
    one, two = own(TABLE, 1.0, rng(1)), own(TABLE, 1.0, rng(1))
    assert not np.array_equal(one, two) and np.array_equal(one, own_luck(RIGHT)(1)(TABLE, 1.0, rng(9)))
    assert np.array_equal(fixed(TABLE, 1.0, rng(1)), fixed(TABLE, 1.0, rng(2)))
    said = [kept(TABLE, 1.0, rng(seed)) for seed in range(4)]
    assert (
        np.array_equal(said[0], said[1]) and np.array_equal(said[2], said[3]) and not np.array_equal(said[1], said[2])
    )
    turn = each_call(exact, RIGHT)
    assert np.array_equal(turn(TABLE, 1.0, rng(1)), TABLE) and not np.array_equal(turn(TABLE, 1.0, rng(1)), TABLE)
