"""Secret shares, noise in parts, and what collusion costs: laws, closed forms, audits."""
import math

import numpy as np
import pytest
from laws import DRAWS, LEVEL, follows
from scipy import special, stats

from dplib import audit, mechanisms
from dplib.secure import MODULUS, collusion_epsilon, join, laplace_share, shared_pmf, split

HONEST = [1.0, 0.9, 0.5, 0.25, 0.1, 0.01]


def cells(values, edges):
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)


# --------------------------------------------------------------------------------------------------------------- shares

@pytest.mark.parametrize("servers", [2, 3, 7])
def test_shares_add_up_to_the_sum_of_the_values(servers):
    values = np.random.default_rng(1).integers(-1000, 1000, (5, 4))
    shares = split(values, servers=servers, rng=2)
    assert shares.shape == (servers, 5, 4) and shares.min() >= 0 and shares.max() < MODULUS
    assert np.array_equal(join(shares), values)
    assert join(shares.sum(axis=(1, 2))) == values.sum()


@pytest.mark.parametrize("value", [0, 1, -1, 2**31 - 1, -(2**31)])
def test_one_number_is_split_and_joined(value):
    assert join(split(value, servers=3, rng=1)) == value


def test_a_sum_beyond_the_modulus_wraps_around():
    assert join(split(np.full(3, 2**30), servers=2, rng=1).sum(axis=1)) == 3 * 2**30 - MODULUS


@pytest.mark.parametrize("seen", [[0], [1], [2], [0, 1], [0, 2], [1, 2]])
@pytest.mark.parametrize("value", [0, 12_345])
def test_all_servers_but_one_see_uniform_numbers(seen, value):
    shares = split(np.full(DRAWS, value), servers=3, rng=5)[seen]
    assert stats.kstest(shares[0] / MODULUS, "uniform").pvalue > LEVEL
    if len(seen) == 2:                           # in pairs: 64 equal squares
        square = (shares[0] * 8 // MODULUS) * 8 + shares[1] * 8 // MODULUS
        follows(np.bincount(square, minlength=64), np.full(64, 1 / 64), np.append(np.full(63, 0.98 / 63), 0.02))


def test_a_share_does_not_follow_its_value():
    one, other = (split(np.full(DRAWS, value), servers=2, rng=seed)[1] / MODULUS
                  for value, seed in ((1, 1), (2**31, 2)))
    assert stats.ks_2samp(one, other).pvalue > LEVEL


# ------------------------------------------------------------------------------------------------------- noise in parts

@pytest.mark.long
@pytest.mark.parametrize(("parties", "epsilon", "sensitivity"),
                         [(1, 1.0, 1), (10, 1.0, 1), (100, 0.5, 1), (40, 1.0, 3)])
def test_parts_add_up_to_discrete_laplace_noise(parties, epsilon, sensitivity):
    size = 4_000_000 // max(parties, 40)
    noise = laplace_share((parties, size), sensitivity=sensitivity, epsilon=epsilon, parties=parties, rng=7).sum(axis=0)
    reach = math.ceil(6 * sensitivity / epsilon)
    laws = []
    for rate in (epsilon / sensitivity, epsilon / sensitivity * 1.1, epsilon / sensitivity / 1.1):
        law = math.tanh(rate / 2) * np.exp(-rate * abs(np.arange(-reach, reach + 1)))
        tail = (1 - law.sum()) / 2
        laws.append(np.concatenate([[tail], law, [tail]]))
    follows(cells(noise, np.arange(-reach, reach + 2)), *laws)


def test_the_law_of_what_is_left_is_that_of_the_parts():
    noise = laplace_share((5, DRAWS), sensitivity=1, epsilon=1.0, parties=20, rng=3).sum(axis=0)
    z = np.arange(-8, 9)
    laws = []
    for honest in (0.25, 0.3, 0.2):
        law = shared_pmf(z, honest=honest, epsilon=1.0)
        tail = (1 - law.sum()) / 2
        laws.append(np.concatenate([[tail], law, [tail]]))
    follows(cells(noise, np.append(z, 9)), *laws)


@pytest.mark.parametrize("honest", HONEST)
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0])
def test_the_law_is_gauss_hypergeometric_and_inverts_its_transform(honest, epsilon):
    q, z = math.exp(-epsilon), np.arange(40.0)
    closed = (1 - q) ** (2 * honest) * q**z * special.poch(honest, z) / special.factorial(z) * special.hyp2f1(
        honest, honest + z, z + 1, q**2)
    law = shared_pmf(np.arange(40), honest=honest, epsilon=epsilon)
    assert np.allclose(law, closed, rtol=1e-9, atol=0)
    angle = 2 * np.pi * np.arange(4096) / 4096
    transform = np.fft.ifft(((1 - q) ** 2 / (1 - 2 * q * np.cos(angle) + q**2)) ** honest).real
    assert np.allclose(law, transform[:40], atol=1e-12)


def test_all_parts_together_are_discrete_laplace():
    z = np.arange(-30, 31)
    for epsilon, sensitivity in ((0.3, 1), (1.0, 1), (1.0, 4)):
        rate = epsilon / sensitivity
        law = shared_pmf(z, honest=1.0, epsilon=epsilon, sensitivity=sensitivity)
        assert np.allclose(law, math.tanh(rate / 2) * np.exp(-rate * abs(z)), rtol=1e-12, atol=0)


# ------------------------------------------------------------------------------------------------------------ collusion

@pytest.mark.parametrize(("honest", "loss"), list(zip(HONEST, [1.0, 1.099, 1.675, 2.373, 3.296, 5.604], strict=True)))
def test_the_loss_of_a_conspiracy(honest, loss):
    assert collusion_epsilon(honest, epsilon=1.0) == pytest.approx(loss, abs=6e-4)


@pytest.mark.parametrize("honest", HONEST)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_no_outcome_loses_more_and_the_bounds_hold(honest, epsilon, sensitivity):
    exact = collusion_epsilon(honest, epsilon=epsilon, sensitivity=sensitivity)
    z = np.arange(-120, 121)
    law = shared_pmf(z, honest=honest, epsilon=epsilon, sensitivity=sensitivity)
    losses = np.abs(np.log(law[sensitivity:] / law[:-sensitivity]))
    assert losses.max() == pytest.approx(exact, rel=1e-9)
    assert epsilon * (1 - 1e-12) <= exact <= epsilon + sensitivity * math.log(1 / honest) + 1e-12


@pytest.mark.parametrize("honest", HONEST)
@pytest.mark.parametrize("epsilon", [0.05, 5.0, 36.0, 200.0])
def test_the_loss_by_hypergeometric_series(honest, epsilon):
    """P(0) and P(1) are series of Gauss; at a large epsilon 1 - exp(-epsilon) is 1 to rounding."""
    squared = math.exp(-2 * epsilon)
    series = special.hyp2f1(honest, honest, 1, squared) / special.hyp2f1(honest, honest + 1, 2, squared)
    loss = epsilon - math.log(honest) + math.log(series)
    assert collusion_epsilon(honest, epsilon=epsilon) == pytest.approx(loss, rel=1e-8)


def test_more_honest_people_than_planned_do_not_lower_epsilon():
    """The steps of a law of shape 2 rise to epsilon, far out, and none passes it."""
    p = stats.nbinom.pmf(np.arange(3000), 2, -math.expm1(-1.0))
    steps = np.array([(p[:3000 - z] @ p[z:]) / (p[:2999 - z] @ p[z + 1:]) for z in range(200)])
    assert np.all(np.diff(steps) > 0) and 0.99 < np.log(steps[-1]) < 1.0


def test_an_audit_finds_the_loss_that_the_colluders_see():
    def run(count, size, rng):
        parts = laplace_share((5, size), sensitivity=1, epsilon=1.0, parties=20, rng=rng)
        return (count + parts.sum(axis=0)).astype(float)

    found = audit.audit(run, 0, 1, n=60_000, rng=1)
    assert 2.2 < found.epsilon <= collusion_epsilon(0.25, epsilon=1.0)


def test_parts_that_suffice_for_the_honest_keep_the_promise():
    """Half of the people may tell theirs: what the others hold is all of the noise."""
    def run(count, size, rng):
        parts = laplace_share((10, size), sensitivity=1, epsilon=1.0, parties=20, honest=0.5, rng=rng)
        return (count + parts.sum(axis=0)).astype(float)

    assert 0.9 < audit.audit(run, 0, 1, n=60_000, rng=1).epsilon <= 1
    whole = laplace_share((20, DRAWS), sensitivity=1, epsilon=1.0, parties=20, honest=0.5, rng=2).sum(axis=0)
    law = 2 * 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
    assert whole.var() == pytest.approx(law, rel=6 * math.sqrt(6 / DRAWS))


def test_a_part_of_a_discrete_gaussian_is_nearly_always_zero():
    """Why the parts must come from a law that can be divided: rounded or discrete normal noise vanishes."""
    part = mechanisms.discrete_gaussian(np.zeros(DRAWS, dtype=int), sigma=math.sqrt(9 / 1000), rng=1)
    assert not part.any() and laplace_share(DRAWS, sensitivity=1, epsilon=0.4, parties=1000, rng=1).any()


# ------------------------------------------------------------------------------------------------------------ bad input

@pytest.mark.parametrize("call", [
    lambda: split([1.5], servers=2), lambda: split([1], servers=1), lambda: split([1], servers=2.0),
    lambda: join([0.5]), lambda: join(3),
    lambda: laplace_share(3, sensitivity=1, epsilon=0, parties=3),
    lambda: laplace_share(3, sensitivity=1, epsilon=1.0, parties=0),
    lambda: laplace_share(3, sensitivity=1, epsilon=1.0, parties=2.5),
    lambda: laplace_share(3, sensitivity=1, epsilon=1.0, parties=3, honest=0),
    lambda: laplace_share(3, sensitivity=1, epsilon=1.0, parties=3, honest=1.1),
    lambda: laplace_share(3, sensitivity=0, epsilon=1.0, parties=3.5),
    lambda: shared_pmf([0.5], honest=1.0, epsilon=1.0),
    lambda: shared_pmf([0], honest=1.0, epsilon=1e-7), lambda: collusion_epsilon(0.5, epsilon=-1.0),
    lambda: collusion_epsilon(math.nan, epsilon=1.0),
])
def test_public_parameters_are_checked(call):
    with pytest.raises(ValueError, match=r"must (be|lie|have|hold)|whole number"):
        call()


@pytest.mark.parametrize("values", [[], [0], [2**62, -(2**62)], [True, False], np.zeros((2, 0, 3), dtype=np.int8)])
def test_private_numbers_change_neither_type_nor_shape(values):
    shares = split(values, servers=2, rng=1)
    assert shares.dtype == np.int64 and shares.shape == (2, *np.shape(values))
    assert join(shares).dtype == np.int64
