"""Groups that nobody listed: laws by enumeration, joint deltas by brute force, a linear programme,
and Google's numbers."""
import hashlib
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LEVEL, PROPERTY, follows
from scipy import optimize, special, stats

from dplib import partitions
from dplib.audit import audit
from dplib.distributions import exact_delta
from dplib.mechanisms import gaussian_delta
from dplib.partitions import (
    bound,
    gaussian_threshold,
    laplace_threshold,
    release,
    selection_probability,
    threshold_delta,
)

NOISES = partitions.NOISES
HIDDEN = None                                    # the outcome of a group that does not appear
SETTINGS = [(1.0, 1e-6), (0.5, 1e-3), (2.0, 0.3), (0.1, 1e-5), (1.0, 0.05)]


# ------------------------------------------------------------------------------------------------ the best selection


def as_much_as_allowed(n, epsilon, delta):
    """The recursion, one person at a time."""
    keep = [0.0]
    while len(keep) <= n:
        last = keep[-1]
        keep.append(min(math.exp(epsilon) * last + delta, 1 - math.exp(-epsilon) * (1 - last - delta), 1.0))
    return np.array(keep)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-5, 0.01, 0.4, 0.9, 1 - 1e-9])
def test_the_closed_form_is_the_recursion(epsilon, delta):
    found = selection_probability(np.arange(400), epsilon=epsilon, delta=delta)
    assert found == pytest.approx(as_much_as_allowed(399, epsilon, delta), abs=1e-12, rel=1e-9)


@pytest.mark.parametrize("epsilon, delta", [*SETTINGS, (0.05, 0.2)])
def test_no_linear_programme_finds_more(epsilon, delta):
    """All four inequalities, and as much of each probability in turn as they allow."""
    size, grow = 40, math.exp(epsilon)
    rows, limits = [], []
    for n in range(size - 1):
        for a, b in ((n, n + 1), (n + 1, n)):
            appear, hide = np.zeros(size), np.zeros(size)
            appear[[a, b]], hide[[a, b]] = (1, -grow), (-1, grow)
            rows, limits = [*rows, appear, hide], [*limits, delta, delta + grow - 1]
    found = selection_probability(np.arange(size), epsilon=epsilon, delta=delta)
    assert (np.array(rows) @ found <= np.array(limits) + 1e-12).all()
    for n in (1, 5, 14, 39):
        best = optimize.linprog(-np.eye(size)[n], A_ub=rows, b_ub=limits,
                                bounds=[(0, 0), *[(0, 1)] * (size - 1)], method="highs")
        assert -best.fun == pytest.approx(found[n], abs=1e-9)


# python-dp 1.1.5, create_partition_strategy(strategy, epsilon, delta, groups).probability_of_keep(n)
GOOGLE = {
    ("truncated_geometric", 1.0, 1e-6, 1): {1: 1e-06, 10: 0.012818308050524604,
                                            14: 0.6998870989884536, 22: 0.9998999051190347, 30: 1},
    ("truncated_geometric", 0.5, 1e-5, 1): {1: 1e-05, 10: 0.0022723651244467738,
                                            20: 0.3395212518781121, 25: 0.940436830177021, 45: 1.0},
    ("truncated_geometric", 1.0, 1e-6, 5): {1: 2.0000008000004803e-07,
                                            30: 0.0003635265954304139, 67: 0.5809146128506278, 110: 0.9999237471173503},
    ("truncated_geometric", 2.0, 1e-3, 3): {1: 0.00033344450621402194,
                                            9: 0.14158789757426074, 12: 0.7630342856158476, 20: 0.9992060761637069},
    ("laplace", 1.0, 1e-6, 1): {1: 1.0000000000287557e-06, 10: 0.008103083927575416,
                                14: 0.4424133920089208, 22: 0.9998104359893022},
    ("laplace", 1.0, 1e-6, 5): {1: 2.000000800528312e-07, 60: 0.026650481249300806,
                                67: 0.10807303067855933, 110: 0.9995741171675495},
    ("laplace", 2.0, 1e-3, 3): {1: 0.0003334445062139757, 9: 0.06906544322953978,
                                12: 0.5101193994121472, 20: 0.9976348809574137},
    ("gaussian", 1.0, 1e-6, 1): {1: 4.999999999588667e-07, 14: 0.027752993106566315,
                                 22: 0.4669052100412169, 30: 0.959836411562683},
    ("gaussian", 1.0, 1e-6, 5): {1: 1.0000002004240116e-07, 30: 0.012885434700242615,
                                 60: 0.8002308588559446, 75: 0.9913082123747241},
}


@pytest.mark.parametrize("strategy, epsilon, delta, groups", GOOGLE)
def test_probabilities_beside_googles_library(strategy, epsilon, delta, groups):
    """Its first two strategies are ours; its Gaussian splits delta into two halves, so that more groups pass ours."""
    theirs = GOOGLE[strategy, epsilon, delta, groups]
    n, kept = np.array(list(theirs)), np.array(list(theirs.values()))
    one = -math.expm1(math.log1p(-delta) / groups)
    if strategy == "truncated_geometric":
        assert selection_probability(n, epsilon=epsilon / groups, delta=one) == pytest.approx(kept, rel=1e-12)
    elif strategy == "laplace":
        t = laplace_threshold(epsilon=epsilon, delta=delta, num_groups=groups)
        assert stats.laplace.sf((t.threshold - n) / t.scale) == pytest.approx(kept, rel=1e-9)
    else:
        t = gaussian_threshold(epsilon=epsilon, delta=delta, num_groups=groups)
        ours = special.ndtr((n - t.threshold) / t.scale)
        assert (ours > kept).all() and (ours < 3 * kept).all()


def test_a_minimum_size_shifts_the_probabilities_like_googles_pre_threshold():
    theirs = {9: 0.0, 10: 1e-06, 19: 0.012818308050524604, 23: 0.6998870989884536}     # as above, with pre_threshold=10
    for n, kept in theirs.items():
        assert selection_probability(max(n - 9, 0), epsilon=1.0, delta=1e-6) == pytest.approx(kept, rel=1e-12)


def test_selection_takes_arrays_of_any_shape_and_nobody_is_no_group():
    found = selection_probability(np.array([[0, 1], [-5, 2]]), epsilon=1.0, delta=0.01)
    assert found == pytest.approx(np.array([[0.0, 0.01], [0.0, 0.01 * math.e + 0.01]]))
    assert isinstance(selection_probability(3, epsilon=1.0, delta=0.01), float)
    assert selection_probability(np.array([], dtype=int), epsilon=1.0, delta=0.01).shape == (0,)


# ------------------------------------------------------------------------------------------------ truncated noise


def truncated_law(count, epsilon, delta, num_groups=1, per_group=1, reach=None):
    """Published value (or HIDDEN) -> probability, by enumeration over both bounds; the bounds found by trying all."""
    rate, one = epsilon / (num_groups * per_group), -math.expm1(math.log1p(-delta) / num_groups)

    def noise(k):
        x = np.arange(-k, k + 1)
        weight = np.exp(-rate * np.abs(x))
        return x, weight / weight.sum()

    def leak(k):
        x, p = noise(k)
        return p[x > k - per_group].sum()

    k = next(k for k in itertools.count() if leak(k) <= one)
    lower = (one - leak(k)) / (leak(k - 1) - leak(k))
    law = {HIDDEN: 0.0}
    for bound_, share in ((k, 1 - lower), (k - 1, lower)):
        for x, p in zip(*noise(bound_)):
            seen = int(count + x) if count > 0 and count + x > bound_ else HIDDEN
            law[seen] = law.get(seen, 0.0) + share * p
    if count <= 0:
        law = {HIDDEN: 1.0}
    return law


def side_by_side(*laws):
    outcomes = list(dict.fromkeys(itertools.chain(*laws)))
    return [np.array([law.get(outcome, 0.0) for outcome in outcomes]) for law in laws]


def joint(pairs):
    """The product of independent pairs of laws, outcomes of equal ratio merged."""
    one, two = np.ones(1), np.ones(1)
    for p, q in pairs:
        one, two = np.outer(one, p).ravel(), np.outer(two, q).ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num(np.round(np.log(one) - np.log(two), 10), posinf=1e9, neginf=-1e9)
        _, place = np.unique(ratio, return_inverse=True)
        one, two = np.bincount(place, one), np.bincount(place, two)
    return one / one.sum(), two / two.sum()


def bounds_of(epsilon, delta, **bounds):
    return partitions._truncation(epsilon, delta, **{"num_groups": 1, "per_group": 1, **bounds})


@pytest.mark.parametrize("epsilon, delta", SETTINGS)
def test_with_truncated_noise_groups_appear_as_often_as_can_be(epsilon, delta):
    _, k, lower = bounds_of(epsilon, delta)
    for n in (0, 1, 2, k - 1, k, k + 1, k + 3, 2 * k - 1, 2 * k, 2 * k + 1, 2 * k + 30):
        appears = 1 - truncated_law(n, epsilon, delta)[HIDDEN]
        best = selection_probability(n, epsilon=epsilon, delta=delta)
        if n == 2 * k:
            assert best - delta < appears <= best + 1e-12
        else:
            assert appears == pytest.approx(best, abs=1e-12)
    assert 0 <= lower <= 1


@pytest.mark.parametrize("epsilon, delta", SETTINGS)
@pytest.mark.parametrize("per_group", [1, 2, 5])
def test_the_release_of_one_group_has_exactly_its_delta(epsilon, delta, per_group):
    _, k, _ = bounds_of(epsilon, delta, per_group=per_group)
    worst = 0.0
    for n in (0, 1, 3, max(k - 1, 0), k, 2 * k + 5):
        for rows in range(1, per_group + 1):
            pair = side_by_side(truncated_law(n + rows, epsilon, delta, per_group=per_group),
                                truncated_law(n, epsilon, delta, per_group=per_group))
            worst = max(worst, exact_delta(*pair, epsilon=epsilon))
    assert worst == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("num_groups, per_group, epsilon, delta",
                         [(2, 1, 1.0, 0.05), (3, 1, 1.0, 0.05), (2, 2, 1.5, 0.02), (3, 1, 0.4, 0.3)])
def test_the_release_of_several_groups_has_exactly_its_delta_for_a_person_who_is_alone_in_all_of_them(
    num_groups, per_group, epsilon, delta):
    found = []
    for alone in range(num_groups + 1):
        pairs = [side_by_side(*(truncated_law(count, epsilon, delta, num_groups, per_group)
                                for count in (others + per_group, others)))
                 for others in [0] * alone + [300] * (num_groups - alone)]
        found.append(exact_delta(*joint(pairs), epsilon=epsilon))
    assert max(found) == found[-1] == pytest.approx(delta, rel=1e-9) and found[0] < delta


@pytest.mark.parametrize("epsilon, delta, num_groups, per_group",
                         [(1.0, 1e-3, 1, 1), (1.0, 0.05, 1, 2), (0.7, 0.2, 2, 1), (3.0, 0.6, 1, 1)])
def test_the_sampler_draws_that_law(epsilon, delta, num_groups, per_group):
    _, k, _ = bounds_of(epsilon, delta, num_groups=num_groups, per_group=per_group)
    for n in {1, max(k, 1), k + 3}:
        counts = pd.Series(np.full(60_000, n))
        out = release(counts, epsilon=epsilon, delta=delta, num_groups=num_groups, per_group=per_group, rng=n)
        assert out.dtype == np.int64
        law = truncated_law(n, epsilon, delta, num_groups, per_group)
        seen = out.value_counts().to_dict() | {HIDDEN: len(counts) - len(out)}
        assert set(seen) - {HIDDEN} <= set(law)
        off = truncated_law(n, epsilon * 1.05, delta, num_groups, per_group) if n > 1 else {
            HIDDEN: 1 - 2 * delta, k + 1: 2 * delta}
        follows(*side_by_side(seen, law, off))


# -------------------------------------------------------------------------------- thresholds: joint laws by brute force


def whole_law(count, threshold, scale, reach=400):
    """Discrete Laplace noise and a threshold: published value -> probability."""
    z = np.arange(-reach, reach + 1)
    p = np.exp(-np.abs(z) / scale)
    p /= p.sum()
    shown = count + z >= threshold
    return {HIDDEN: p[~shown].sum()} | dict(zip((count + z[shown]).tolist(), p[shown]))


@pytest.mark.parametrize("num_groups, per_group, threshold",
                         [(1, 1, 4), (2, 1, 8), (3, 1, 12), (1, 2, 9), (2, 2, 12), (2, 1, 2), (1, 1, 1)])
def test_the_delta_of_whole_thresholds_is_that_of_the_joint_law(num_groups, per_group, threshold):
    found, scale, nobody = [], num_groups * per_group / 1.0, {HIDDEN: 1.0}
    for alone in range(num_groups + 1):
        lone = side_by_side(whole_law(per_group, threshold, scale), nobody)
        shared = side_by_side(whole_law(60 + per_group, threshold, scale), whole_law(60, threshold, scale))
        found.append(exact_delta(*joint([lone] * alone + [shared] * (num_groups - alone)), epsilon=1.0))
    claim = threshold_delta("geometric", threshold, epsilon=1.0, num_groups=num_groups, per_group=per_group)
    assert max(found) == pytest.approx(claim, rel=1e-6) and max(found) == found[-1]
    if (per_group, threshold) in ((1, 4), (1, 8), (1, 12)):
        assert claim == pytest.approx({4: 0.036397, 8: 0.037240, 12: 0.044012}[threshold], abs=5e-7)


def binned(cdf, count, threshold, edges):
    """A noisy count in cells above the threshold; first the cell of what stays hidden."""
    edges = edges[edges > threshold]
    return np.diff(np.concatenate([[0.0], cdf(np.concatenate([[threshold], edges]) - count), [1.0]]))


def joint_delta(cdf, epsilon, threshold, alone, num_groups, per_group, others=200.0, cells=120, reach=60.0):
    """A lower bound on delta by brute force: every noisy count is only told by its cell,
    so the joint law is a table."""
    edges = np.linspace(others - reach, others + reach + per_group, cells)
    lone = (binned(cdf, per_group, threshold, edges), np.append(1.0, np.zeros(np.count_nonzero(edges > threshold) + 1)))
    shared = tuple(binned(cdf, count, threshold, edges) for count in (others + per_group, others))
    return max(exact_delta(*joint([lone] * alone + [shared] * (num_groups - alone)), epsilon=epsilon),
               exact_delta(*reversed(joint([lone] * alone + [shared] * (num_groups - alone))),
                           epsilon=epsilon))


def gaussian_formula(epsilon, sigma, threshold, alone, num_groups, per_group):
    """The theorem for one number of lone groups, from Balle and Wang's delta,
    whose negative arguments are derived here."""
    def shift(epsilon, mu):
        if mu == 0:
            return max(0.0, 1 - math.exp(epsilon))
        return (gaussian_delta(epsilon, sigma=1 / mu) if epsilon >= 0
                else 1 - math.exp(epsilon) + math.exp(epsilon) * gaussian_delta(-epsilon, sigma=1 / mu))

    p, mu = stats.norm.cdf((threshold - per_group) / sigma), per_group * math.sqrt(num_groups - alone) / sigma
    return max(1 - p**alone + p**alone * shift(epsilon - alone * math.log(p), mu),
               shift(epsilon + alone * math.log(p), mu))


GAUSSIANS = [      # (epsilon, sigma, threshold, num_groups, per_group); a threshold far too low, too
    (1.0, 1.5, 3.5, 1, 1), (1.0, 1.8848, 4.6839, 2, 1), (1.0, 2.4, 6.0, 3, 1),
    (0.3, 3.0, 5.0, 3, 1), (1.0, 3.0, 3.0, 3, 1), (0.2, 2.0, 1.0, 2, 1),
    (1.0, 3.5, 9.0, 1, 2), (0.8, 4.0, 8.0, 2, 2), (0.5, 6.0, 14.0, 3, 3), (2.0, 1.0, 1.5, 3, 1), (1.0, 0.5, 1.13, 3, 1),
]


@pytest.mark.long
@pytest.mark.parametrize("epsilon, sigma, threshold, num_groups, per_group", GAUSSIANS)
def test_the_gaussian_theorem_beside_the_joint_law_on_a_grid(epsilon, sigma, threshold, num_groups, per_group):
    def cdf(x):
        return special.ndtr(x / sigma)

    worst = 0.0
    for alone in range(num_groups + 1):
        said = gaussian_formula(epsilon, sigma, threshold, alone, num_groups, per_group)
        grid = joint_delta(cdf, epsilon, threshold, alone, num_groups, per_group, reach=7 * sigma)
        assert said * (1 - 0.01) - 1e-6 <= grid <= said * (1 + 1e-9), (alone, grid, said)
        ours = partitions._gaussian_delta(epsilon, sigma, threshold, np.array([alone]), num_groups, per_group)
        assert ours == pytest.approx(said, rel=1e-9)
        worst = max(worst, said)
    assert threshold_delta("gaussian", threshold, epsilon=epsilon, scale=sigma,
                           num_groups=num_groups, per_group=per_group) == pytest.approx(worst, rel=1e-9)


def test_either_end_can_be_the_worst():
    """Noise too small: the person who is alone nowhere. A threshold too low: the one who is alone everywhere."""
    small = [gaussian_formula(0.3, 1.0, 5.5, alone, 8, 1) for alone in range(9)]
    low = [gaussian_formula(0.3, 9.0, 3.5, alone, 8, 1) for alone in range(9)]
    assert small.index(max(small)) == 0 and low.index(max(low)) == 8


@pytest.mark.parametrize("others", [0.0, 1.0, 4.0, 12.0])
def test_shared_groups_that_are_small_are_no_worse_than_large_ones(others):
    """The theorem takes them as large; small ones may hide, which is post-processing."""
    def cdf(x):
        return special.ndtr(x / 2.4)

    for alone in range(4):
        said = gaussian_formula(1.0, 2.4, 6.0, alone, 3, 1)
        assert joint_delta(cdf, 1.0, 6.0, alone, 3, 1, others=others + 1e-9, reach=16.0) <= said * (1 + 1e-9)


@pytest.mark.parametrize("num_groups, per_group, threshold",
                         [(1, 1, 3.2), (2, 1, 6.0), (3, 1, 9.0), (2, 3, 15.0), (3, 1, 0.5)])
def test_the_laplace_theorem_beside_the_joint_law_on_a_grid(num_groups, per_group, threshold):
    scale = num_groups * per_group / 1.0

    def cdf(x):
        return stats.laplace.cdf(x / scale)

    found = [joint_delta(cdf, 1.0, threshold, alone, num_groups, per_group, reach=12 * scale, cells=80)
             for alone in range(num_groups + 1)]
    claim = threshold_delta("laplace", threshold, epsilon=1.0, num_groups=num_groups, per_group=per_group)
    assert max(found) == pytest.approx(claim, rel=1e-9) and max(found) == found[-1]
    wider = threshold_delta("laplace", threshold, epsilon=1.0, scale=1.5 * scale,
                            num_groups=num_groups, per_group=per_group)
    one = stats.laplace.sf((threshold - per_group) / (1.5 * scale))
    assert wider == pytest.approx(1 - (1 - one) ** num_groups, rel=1e-9)


# ----------------------------------------------------------------------------------------- thresholds that use up delta

PARAMETERS = list(itertools.product([1e-3, 0.1, 1.0, 8.0], [1e-12, 1e-6, 0.01, 0.4], [1, 2, 7, 200], [1, 4]))


@pytest.mark.parametrize("epsilon, delta, num_groups, per_group", PARAMETERS)
def test_thresholds_use_up_delta_and_no_more(epsilon, delta, num_groups, per_group):
    right = {"epsilon": epsilon, "num_groups": num_groups, "per_group": per_group}
    for noise, threshold in (("laplace", laplace_threshold), ("gaussian", gaussian_threshold)):
        scale, at = threshold(delta=delta, **right)
        assert threshold_delta(noise, at, scale=scale, **right) == pytest.approx(delta, rel=1e-6)
        assert threshold_delta(noise, at - 0.01 * scale, scale=scale, **right) > delta * 1.001
    assert threshold_delta("gaussian", at, scale=scale, **right) <= delta * (1 + 1e-9)
    assert scale == pytest.approx(partitions.gaussian_sigma(epsilon, delta=delta,
            sensitivity=per_group * math.sqrt(num_groups)))     # no smaller noise would do


def test_noise_and_threshold_may_each_use_all_of_delta():
    """Where delta is split in two halves, as libraries do, only half of it is used."""
    sigma = partitions.gaussian_sigma(1.0, delta=0.5e-6, sensitivity=math.sqrt(20))
    split = 1 - sigma * special.ndtri(-math.expm1(math.log1p(-0.5e-6) / 20))
    assert threshold_delta("gaussian", split, epsilon=1.0, scale=sigma, num_groups=20) == pytest.approx(
        0.5e-6, rel=1e-6)
    ours = gaussian_threshold(epsilon=1.0, delta=1e-6, num_groups=20)
    assert (round(sigma, 2), round(split, 2)) == (19.52, 107.42)
    assert (round(ours.scale, 2), round(ours.threshold, 2)) == (18.89, 101.64)


def test_thresholds_of_the_book():
    table = {1: (14.12, 21.08), 2: (28.63, 30.23), 3: (43.66, 37.37), 5: (74.66, 48.88),
             20: (323.4, 101.64), 100: (1773.8, 238.09)}
    for m, (laplace, gaussian) in table.items():
        assert laplace_threshold(epsilon=1.0, delta=1e-6, num_groups=m).threshold == pytest.approx(laplace, abs=0.06)
        assert gaussian_threshold(epsilon=1.0, delta=1e-6, num_groups=m).threshold == pytest.approx(gaussian, abs=0.006)


def test_a_million_groups_of_one_person_are_no_trouble():
    scale, threshold = gaussian_threshold(epsilon=1.0, delta=1e-6, num_groups=10**6)
    assert threshold_delta("gaussian", threshold, epsilon=1.0, scale=scale, num_groups=10**6) == pytest.approx(
        1e-6, rel=1e-4)
    one = pd.Series(1, index=range(10**6))
    assert len(release(one, epsilon=1.0, delta=1e-6, num_groups=10**6, rng=0)) == 0
    rows = pd.DataFrame({"person": "ada", "group": np.arange(10**6)})
    assert len(bound(rows, person="person", group="group", num_groups=3, rng=0)) == 3


# ------------------------------------------------------------------------------------------------ the release


@pytest.mark.parametrize("noise, size", [("laplace", 15), ("gaussian", 21)])
def test_noise_decides_and_is_published(noise, size):
    counts = pd.Series(np.full(60_000, size))
    right = {"epsilon": 1.0, "delta": 1e-6}
    scale, threshold = {"laplace": laplace_threshold, "gaussian": gaussian_threshold}[noise](**right)
    out = release(counts, noise=noise, rng=3, **right)
    assert out.dtype == np.float64 and out.min() >= threshold
    cdf = stats.laplace.cdf if noise == "laplace" else stats.norm.cdf
    edges = threshold + scale * np.linspace(0, 3, 25)

    def law(scale):
        return np.diff(np.concatenate([[0], cdf((edges - size) / scale), [1]]))

    seen = np.bincount(np.searchsorted(edges, out), minlength=26) + np.append(
        len(counts) - len(out), np.zeros(25, dtype=int))
    follows(seen, law(scale), law(scale * 1.05), law(scale / 1.05))


@pytest.mark.parametrize("noise", NOISES)
def test_small_groups_are_never_published_where_a_minimum_is_asked_for_and_the_others_as_if_they_were_smaller(noise):
    counts = pd.Series(np.repeat([29, 30, 300], [20_000, 20_000, 50]))
    out = release(counts, epsilon=1.0, delta=0.05, noise=noise, at_least=30, rng=5)
    assert out.index.min() >= 20_000             # none of those with 29, and about delta of those with 30
    appear = np.count_nonzero(out.index < 40_000)
    assert stats.binomtest(appear, 20_000, 0.05).pvalue > LEVEL
    large = out[out.index >= 40_000]
    assert len(large) == 50 and abs(large.mean() - 300) < 5


@pytest.mark.parametrize("noise", NOISES)
def test_the_order_and_the_index_tell_only_what_is_published(noise):
    rows = {"Zoe": 400, "Ada": 500, "Moe": 450, "one of a kind": 1}
    series = pd.Series(rows)
    out = release(series, epsilon=1.0, delta=1e-6, noise=noise, rng=1)
    assert out.index.tolist() == ["Ada", "Moe", "Zoe"]
    again = release(series.iloc[::-1], epsilon=1.0, delta=1e-6, noise=noise, rng=1)
    assert again.index.tolist() == ["Ada", "Moe", "Zoe"]
    categories = series.set_axis(pd.CategoricalIndex(list(rows), categories=list(rows)[::-1], ordered=True))
    out = release(categories, epsilon=1.0, delta=1e-6, noise=noise, rng=1)
    assert out.index.tolist() == ["Ada", "Moe", "Zoe"] and b"one of a kind" not in pickled(out)
    levels = series.set_axis(pd.MultiIndex.from_product([["F"], list(rows)], names=["sex", "name"]))
    out = release(levels, epsilon=1.0, delta=1e-6, noise=noise, rng=1)
    assert out.index.tolist() == [("F", "Ada"), ("F", "Moe"), ("F", "Zoe")] and b"one of a kind" not in pickled(out)
    assert out.index.names == ["sex", "name"]


def pickled(thing):
    import pickle

    return pickle.dumps(thing)


@pytest.mark.parametrize("index", [pd.RangeIndex(3), pd.date_range("2023-01-01", periods=3),
                                   pd.timedelta_range("1h", periods=3)])
def test_the_kind_of_index_does_not_tell_that_no_group_is_hidden(index):
    all_there, one_hidden = (release(pd.Series([3000, 3000, last], index=index),
                                     epsilon=1.0, delta=1e-6, rng=0).iloc[:2] for last in (3000, 1))
    assert type(all_there.index) is type(one_hidden.index) is not pd.RangeIndex
    assert getattr(all_there.index, "freq", None) is getattr(one_hidden.index, "freq", None) is None


def test_pandas_would_have_kept_the_names_of_hidden_groups():
    """The control for the test above: a mask alone leaves them in the index."""
    levels = pd.Series([400, 1], index=pd.MultiIndex.from_product([["F"], ["Ada", "one of a kind"]]))
    assert b"one of a kind" in pickled(levels[levels > 100])


ODD = {
    "nothing": pd.Series([], dtype=int), "nothing at all": pd.Series({}), "nobody": pd.Series({"a": 0, "b": -3}),
    "a group without a name": pd.Series([500, 1, 400], index=["a", None, np.nan]),
    "names of several types": pd.Series([500, 400, 1], index=["a", 7, (2, 3)]),
    "a group twice": pd.Series([300, 300, 1], index=["a", "a", "b"]), "a key that one person has": pd.Series({"a": 1}),
    "as many as int64 can hold": pd.Series({"a": 2**63 - 1}), "more than that": pd.Series({"a": np.uint64(2**64 - 1)}),
    "unknown counts": pd.Series([5, None, 500], dtype="Int64"),
    "dates": pd.Series([500], index=pd.to_datetime(["2023-01-01"])),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", ODD)
def test_nothing_is_raised_and_no_type_changes_because_of_private_values(noise, name):
    out = release(ODD[name], epsilon=1.0, delta=1e-9, noise=noise, num_groups=2, rng=2)
    assert isinstance(out, pd.Series) and out.dtype == (np.float64 if noise in ("laplace", "gaussian") else np.int64)
    assert out.index.dtype == ODD[name].index.dtype and out.index.is_unique and np.isfinite(out).all()
    if name.startswith("no") or "one person" in name:
        assert out.empty


def test_a_group_twice_counts_together():
    counts = pd.Series([30, 30], index=["a", "a"])
    assert abs(release(counts, epsilon=1.0, delta=1e-6, rng=0)["a"] - 60) < 15
    pair = counts.set_axis(pd.MultiIndex.from_tuples([("a", 1.0), ("a", 1.0)]))
    assert abs(release(pair, epsilon=1.0, delta=1e-6, rng=0)[("a", 1.0)] - 60) < 15


def test_the_argument_is_left_as_it_was():
    counts = pd.Series({"b": 40, "a": 50}, name="people")
    before = counts.copy()
    assert release(counts, epsilon=1.0, delta=1e-6, rng=0).name == "people"
    pd.testing.assert_series_equal(counts, before)


@pytest.mark.parametrize("counts", [[3, 5], {"a": 3}, np.array([3]), None,
                                    pd.Series([0.5, 2]), pd.Series(["3"]), pd.Series([True]), pd.DataFrame({"n": [3]}),
                                    pd.Series([1, None])])
def test_counts_of_another_type_are_refused(counts):
    with pytest.raises(ValueError, match="counts must"):
        release(counts, epsilon=1.0, delta=1e-6)


# ------------------------------------------------------------------------------------------------ what an audit sees


def outcomes(counts, size, rng, mechanism):
    """The table of one group, released `size` times: -1 where it is hidden."""
    out = np.full(size, -1.0)
    if counts:
        shown = mechanism(pd.Series(np.full(size, counts)), rng)
        out[shown.index] = shown
    return out


BROKEN = {                                       # a program, the pair that betrays it
    "noise on the groups that occur": (lambda c, rng: c + rng.geometric(0.63, len(c))
                                       - rng.geometric(0.63, len(c)), (1, 0)),
    "a threshold on the true count": (lambda c, rng: c[c >= 5] + rng.geometric(0.63, (c >= 5).sum())
                                      - rng.geometric(0.63, (c >= 5).sum()), (5, 4)),
    "a second noise": (
        lambda c, rng: (c + rng.laplace(size=len(c)))[release(c, epsilon=1.0, delta=0.01, rng=rng).index], (5, 4)),
    "noise for one group of five": (lambda c, rng: release(c, epsilon=5.0, delta=0.01, noise="laplace", rng=rng),
                                    (21, 20)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_audit_refutes_what_leaks(name):
    mechanism, pair = BROKEN[name]
    found = audit(lambda data, size, rng: outcomes(data, size, rng, mechanism),
                  *pair, n=60_000, delta=0.01, confidence=1 - LEVEL, rng=1)
    assert found.epsilon > 1.0


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("pair", [(1, 0), (5, 4), (9, 8), (21, 20)])
def test_an_audit_acquits_what_does_not(noise, pair):
    def run(data, size, rng):
        return outcomes(data, size, rng,
                        lambda counts, rng: release(counts, epsilon=1.0, delta=0.01, noise=noise, rng=rng))

    assert audit(run, *pair, n=60_000, delta=0.01, confidence=1 - LEVEL, rng=2).epsilon <= 1.0


# ---------------------------------------------------------------------------------------- bounding what one person adds

FILMS = pd.DataFrame({"user": [1, 1, 1, 2, 1, 2, 3], "film": list("abcaaba"), "stars": range(7)})
LOTS = [{"salt": "2023"}, {"rng": 0}]


def pairs(table):
    return set(map(tuple, table.to_numpy().tolist()))


@pytest.mark.parametrize("lot", LOTS)
def test_nobody_keeps_more_than_they_may_and_the_rest_is_theirs(lot):
    out = bound(FILMS, person="user", group="film", num_groups=2, **lot)
    assert out.columns.tolist() == ["user", "film"] and out.index.tolist() == list(range(len(out)))
    assert out.groupby("user").size().to_dict() == {1: 2, 2: 2, 3: 1}
    assert pairs(out) <= pairs(FILMS[["user", "film"]]) and len(pairs(out)) == len(out)
    assert pairs(bound(FILMS, person="user", group="film", num_groups=9, **lot)) == pairs(FILMS[["user", "film"]])


GROUPS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcde")), max_size=14)


@pytest.mark.long
@PROPERTY
@given(GROUPS, st.lists(st.sampled_from("abcde"), max_size=8), st.integers(1, 3),
       st.integers(0, 99), st.randoms(use_true_random=False))
def test_one_person_more_adds_their_rows_and_moves_nobody_elses(others, own, num_groups, salt, shuffle):
    """For every salt, wherever in the table that person stands."""
    rows = [*others, *((9, film) for film in own)]
    shuffle.shuffle(rows)
    with_her, without = (bound(pd.DataFrame(table, columns=["user", "film"]),
                               person="user", group="film", num_groups=num_groups, salt=str(salt))
                         for table in (rows, others))
    assert pairs(without) == pairs(with_her[with_her.user != 9])
    assert (with_her.user == 9).sum() == min(len(set(own)), num_groups)


def test_a_crowd_does_not_turn_because_of_one_person():
    """A thousand people who saw both films, and one viewer more of the second:
    by popularity all thousand would change over."""
    crowd = pd.DataFrame([(user, film) for user in range(1000) for film in "ab"], columns=["user", "film"])
    more = pd.concat([crowd, pd.DataFrame({"user": [1000], "film": ["b"]})])

    def counts(table):
        return bound(table, person="user", group="film", num_groups=1, salt="7").groupby("film").size()

    change = counts(more) - counts(crowd)
    assert change.to_dict() == {"a": 0, "b": 1} and 400 < counts(crowd)["a"] < 600


def test_an_empty_cell_or_a_fraction_moves_nobody_elses_rows():
    """Either turns a column of whole numbers into floats."""
    table = pd.DataFrame({"user": np.repeat(np.arange(50), 4), "film": np.tile(np.arange(4), 50)})
    for film in (None, 2.5):
        more = pd.concat([table, pd.DataFrame({"user": [99], "film": [film]})], ignore_index=True)
        one, two = (bound(rows, person="user", group="film", num_groups=2, salt="07") for rows in (table, more))
        assert two[two["user"] < 50].astype(int).equals(one)


def test_a_salt_is_the_md5_of_salt_person_and_group_and_the_table_may_be_shuffled():
    def lot(user, film):
        return hashlib.md5(f"2023:{user}:{film}".encode()).hexdigest()

    table = pd.DataFrame([(user, film) for user in range(50) for film in range(20)], columns=["user", "film"])
    kept = bound(table, person="user", group="film", num_groups=3, salt="2023")
    assert pairs(kept) == {(user, film) for user in range(50)
                           for film in sorted(range(20), key=lambda film: lot(user, film))[:3]}
    assert pairs(bound(table.sample(frac=1, random_state=1), person="user",
                       group="film", num_groups=3, salt="2023")) == pairs(kept)
    assert pairs(bound(table, person="user", group="film", num_groups=3, salt="2024")) != pairs(kept)


@pytest.mark.parametrize("lot", LOTS)
def test_the_lot_is_fair(lot):
    table = pd.DataFrame([(user, film) for user in range(4000) for film in range(10)], columns=["user", "film"])
    kept = bound(table, person="user", group="film", num_groups=2, **lot)
    both = kept.groupby("user").film.agg(lambda films: tuple(sorted(films))).value_counts()
    every = [both.get(pair, 0) for pair in itertools.combinations(range(10), 2)]
    assert stats.chisquare(every).pvalue > LEVEL


STRANGE = {
    "null person or key": pd.DataFrame({"user": [1, None, 2, 2], "film": ["a", "a", None, "b"]}),
    "no rows": FILMS[:0], "no rows and no types": pd.DataFrame({"user": [], "film": []}),
    "names of several types": pd.DataFrame({"user": [1, "1", (1, 2), 2.5], "film": [b"x", "x", 7, pd.Timestamp(0)]}),
    "categories": FILMS.astype({"user": "category", "film": "category"}),
    "half a surrogate": pd.DataFrame({"user": ["\ud800"], "film": ["\udc00"]}, dtype=object),
}


@pytest.mark.parametrize("lot", LOTS)
@pytest.mark.parametrize("name", STRANGE)
def test_bounding_raises_nothing_because_of_private_values(name, lot):
    table = STRANGE[name]
    out = bound(table, person="user", group="film", num_groups=1, **lot)
    assert out.columns.tolist() == ["user", "film"]
    assert out.dtypes.map(str).tolist() == table[["user", "film"]].dtypes.map(str).tolist()
    assert not out.isna().any(axis=None) and len(out) == table.dropna(subset=["user", "film"]).user.nunique()


@pytest.mark.parametrize("change, message", [
    ({"table": [[1, "a"]]}, "table"), ({"person": "mood"}, "person must name a column of table, got 'mood'"),
    ({"group": None}, "group"),
    ({"group": ["film", "stars"]}, "group"), ({"table": FILMS.set_axis(["user", "film", "film"], axis=1)}, "group"),
    ({"num_groups": 0}, "num_groups must be at least 1"), ({"num_groups": 1.5}, "num_groups"),
    ({"salt": None}, "one of salt and rng"),
    ({"rng": 3}, "one of salt and rng"), ({"salt": ""}, "salt"), ({"salt": 7}, "salt"),
])
def test_bounding_refuses_bad_public_parameters(change, message):
    with pytest.raises(ValueError, match=message):
        bound(**{"table": FILMS, "person": "user", "group": "film", "num_groups": 2, "salt": "s", **change})


@pytest.mark.parametrize("change, message", [
    ({"scale": 0.5}, "scale must be at least"), ({"noise": "gaussian"}, "scale"),
    ({"noise": "truncated geometric"}, "noise"),
    ({"threshold": math.nan}, "threshold"), ({"noise": "geometric", "per_group": 1.5}, "per_group"),
    ({"epsilon": 1e-13}, "64 bits"),
])
def test_the_delta_of_a_threshold_refuses_bad_public_parameters(change, message):
    with pytest.raises(ValueError, match=message):
        threshold_delta(**{"noise": "laplace", "threshold": 15, "epsilon": 1.0, **change})
