"""Answers of the section on statistics from noisy answers: solutions, unusual right answers, leaks, and mistakes."""
import math

import numpy as np
from checking import seeded
from scipy import stats

from dplib import inference, mechanisms
from provable_privacy import check
from provable_privacy.battery.makers import (
    again,
    each_call,
    fixed_seed,
    given,
    mirrored,
    noisy,
    own_luck,
    same_size,
    shared,
    then,
    where,
)
from provable_privacy.check.deployment import inference as section


def bar(spread):
    """An interval of 1.96 standard deviations around the share."""
    def interval(noisy, n, sigma):
        share = noisy / n
        half = 1.96 * math.sqrt(spread(np.clip(share, 0, 1), n, sigma))
        return max(share - half, 0), min(share + half, 1)

    return interval


def exact(noisy, n, sigma, **settings):
    return inference.proportion_interval(noisy, n=n, scale=sigma, **{"noise": "gaussian", **settings})


def by_grid(noisy, n, sigma):
    """The shares of a grid that are not contradicted, a hair wider."""
    p, counts = np.linspace(0, 1, 801), np.arange(n + 1)
    law = stats.binom.pmf(counts, n, p[:, None])
    below = law @ stats.norm.cdf((noisy - counts) / sigma)
    kept = p[(below > 0.025) & (1 - below > 0.025)]
    return (max(kept[0] - 1.25e-3, 0), min(kept[-1] + 1.25e-3, 1)) if len(kept) else (float(noisy > n),) * 2


def score(noisy, n, sigma):
    """Wilson's interval with the noise in it: the spread is that of each share, but the law is taken for normal."""
    z = stats.norm.isf(0.025)
    a, b, c = n * (n + z * z), -n * (2 * noisy + z * z), noisy**2 - (z * sigma) ** 2
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    return tuple(np.clip([(-b - root) / (2 * a), (-b + root) / (2 * a)], 0, 1))


def outer(noisy, n, sigma):
    return section._clopper(noisy - 1.96 * sigma, n)[0], section._clopper(noisy + 1.96 * sigma, n)[1]


def uneven(noisy, n, sigma):
    """2 % on one side and 3 % on the other."""
    return exact(noisy, n, sigma, confidence=0.96)[0], exact(noisy, n, sigma, confidence=0.94)[1]


def parts(low=0.0, high=1.0):
    """The used and the unused part of the cap."""
    def exact(charges, cap, epsilon):
        part = np.clip(charges, low * cap, high * cap) / cap
        return np.array([part.sum(), (1 - part).sum()])

    return exact


def pair(scale=1.0, **how):
    return noisy(parts(**how), lambda charges, cap, epsilon: scale / epsilon)


def formed(form):
    """The right pair in another form."""
    return then(PAIR, lambda out, table, rng: form(out))


def one_sign(rng):
    """Two Laplace noises with one sign."""
    return rng.choice([-1, 1]) * rng.exponential(size=2)


PARTS, PAIR = parts(), pair()
ONE = noisy(PARTS, lambda charges, cap, epsilon: 1 / epsilon, shared())


def fine(charges, cap, epsilon, rng):
    """Whole noise of thousandths."""
    used = np.round(1000 * np.clip(charges, 0, cap) / cap).astype(int)
    sums = np.array([used.sum(), (1000 - used).sum()])
    return mechanisms.geometric(sums, sensitivity=1000, epsilon=epsilon, rng=rng) / 1000


def rounded_first(charges, cap, epsilon, rng):
    """Whole sums and whole noise: at exactly one half both sums are rounded alike, and one visit moves them by 2."""
    used, p = np.clip(charges, 0, cap) / cap, -math.expm1(-epsilon)
    return tuple(np.round([used.sum(), (1 - used).sum()]) + rng.geometric(p, 2) - rng.geometric(p, 2))


def total_and_difference(charges, cap, epsilon, rng):
    """Count and difference: each moves by at most 1, but together in L1 by 2, so each gets half."""
    part = np.clip(charges, 0, cap) / cap
    count, apart = len(part) + rng.laplace(scale=2 / epsilon), (2 * part - 1).sum() + rng.laplace(scale=2 / epsilon)
    return (count + apart) / 2, (count - apart) / 2


def contradicts(scale=1.0, level=0.05, tail=None, share=lambda mean, cap: mean / cap):
    def function(mean, used, unused, cap, epsilon):
        s = share(mean, cap)
        a, b = abs(1 - s) * scale / epsilon, abs(s) * scale / epsilon
        t = abs((1 - s) * used - s * unused)
        return (tail or inference._two_laplace_tail)(t, a, b) <= level

    return function


def characteristic(t, a, b):
    """The tail of the sum of two Laplace noises, from its characteristic function."""
    u = np.linspace(1e-9, 400 / max(a, b), 40_001)
    inside = np.sin(t * u) / u / ((1 + (a * u) ** 2) * (1 + (b * u) ** 2))
    return 1 - 2 / np.pi * np.trapezoid(inside, u)


BIAS = {"empty": 20_000, "three": 9447.3, "enough": 22}
COMBINED = {"year": 10_844.615, "first": 2799.154, "deviation": 23.534}


def years(rounds=499, *, noise=1.0, lot=True, size=abs):
    """A learner's replay, right unless told otherwise."""
    def p_value(first, second, epsilon, rng):
        plays = rng.poisson(max((first + second) / 2, 0) if lot else 0, (2, rounds))
        plays = mechanisms.geometric(plays, sensitivity=1, epsilon=epsilon / noise, rng=rng)
        return (1 + np.sum(size(plays[1] - plays[0]) >= size(second - first))) / (1 + rounds)

    return p_value


def one_noise(first, second, epsilon, rng):
    """The variance of the visits, and of the noise of one print only."""
    variance = max(first + second, 0) + 2 * math.exp(-epsilon) / (1 - math.exp(-epsilon)) ** 2
    return math.erfc(abs(first - second) / math.sqrt(2 * variance))


def normal(first, second, epsilon, rng):
    """No replay: the variance of the difference, and a normal law."""
    variance = max(first + second, 0) + 4 * math.exp(-epsilon) / (1 - math.exp(-epsilon)) ** 2
    return 2 * stats.norm.sf(abs(first - second) / math.sqrt(variance))


def textbook(first, second, epsilon, rng):
    a, b = max(first, 0), max(second, 0)
    return stats.binomtest(a, a + b).pvalue if a + b else 1.0


def line(noise=lambda b, sigma: sigma**2 * (1 + b**2)):
    """A scan of many slopes, in place of the formula."""
    def slopes(s_xx, s_xy, sigma):
        b = np.tan(np.linspace(-np.pi / 2 + 1e-7, np.pi / 2 - 1e-7, 400_001))
        kept = b[(s_xy - b * s_xx) ** 2 <= 1.959964**2 * noise(b, sigma)]
        return (-np.inf, np.inf) if abs(kept[0]) > 1e5 or abs(kept[-1]) > 1e5 else (kept[0], kept[-1])

    return slopes


COUNT = noisy(lambda charges, cap, epsilon: len(charges), lambda charges, cap, epsilon: 1 / epsilon)
COUNTED = then(COUNT, lambda out, table, rng: PAIR(*table, rng)[0] * np.array([1, -1]) + [0, out])


def contradicts_count(mean, used, count, cap, epsilon):
    s = mean / cap
    return inference._two_laplace_tail(abs(used - s * count), 1 / epsilon, s / epsilon) <= 0.05


SOLUTIONS = [
    (check.inf_proportion, lambda seed: exact),
    (check.inf_pair, own_luck(PAIR)),
    (check.inf_ratio, lambda seed: contradicts()),
    (check.inf_bias, lambda seed: BIAS),
    (check.inf_combine, lambda seed: COMBINED),
    (check.inf_test, own_luck(years())),
    (check.inf_line, lambda seed: section._slopes),
]

UNUSUAL = [
    (check.inf_proportion, by_grid),
    (check.inf_proportion, uneven),
    (check.inf_proportion, lambda *case: np.array(exact(*case))),
    (check.inf_pair, seeded(own_luck(formed(list)))),
    (check.inf_pair, seeded(own_luck(formed(tuple)))),
    (check.inf_pair, fine),
    (check.inf_pair, formed(np.round)),
    (check.inf_ratio, contradicts(tail=characteristic)),
    (check.inf_ratio, lambda *case: np.bool_(contradicts()(*case))),
    (check.inf_ratio, lambda *case: bool(section._mean_p(*case) <= 0.0501)),
    (check.inf_bias, {"empty": 20_000.0, "three": 20_000 * math.exp(-0.75), "enough": 22.0}),
    (check.inf_combine, {"year": 10_844.6, "first": 2799.2, "deviation": 23.5}),
    (check.inf_test, normal),
    (check.inf_test, seeded(own_luck(years(199)))),
    (check.inf_test, lambda first, second, epsilon, rng: float(np.float32(years()(first, second, epsilon, rng)))),
    (check.inf_line, line()),
    (check.inf_line, lambda *case: [np.float64(end) for end in section._slopes(*case)]),
]

LEAKS = [
    (check.inf_pair, where(lambda charges, cap, epsilon: len(charges) < 100, PAIR, PARTS)),
    (check.inf_pair, where(lambda charges, cap, epsilon: len(charges) < 50, PAIR, pair(0.5))),
    (check.inf_pair, where(lambda charges, cap, epsilon: len(charges) and not charges.any(), PARTS, PAIR)),
    (check.inf_pair, pair(0.8)),
    (check.inf_pair, pair(0.9)),
    (check.inf_pair, pair(0.4)),
    (check.inf_pair, pair(low=-1e9)),
    (check.inf_pair, pair(np.array([1.0, 0.0]))),
    (check.inf_pair, then(COUNT, lambda out, table, rng: (PARTS(*table)[0], out))),
    (check.inf_pair, ONE),
    (check.inf_pair, rounded_first),
    (check.inf_pair, given(PAIR, epsilon=lambda epsilon: max(epsilon, 0.5))),
    (check.inf_pair, given(PAIR, epsilon=lambda epsilon: 2 * epsilon)),
    (check.inf_pair, each_call(*8 * [PAIR], *10**5 * [pair(0.0)])),
    (check.inf_pair, fixed_seed(PAIR, 1)),
    # other lengths, a large and a small epsilon, rounded scales
    (check.inf_pair, where(lambda charges, cap, epsilon: 100 < len(charges) < 1000, PARTS, PAIR)),
    (check.inf_pair, where(lambda charges, cap, epsilon: epsilon >= 3, PARTS, PAIR)),
    (check.inf_pair, where(lambda charges, cap, epsilon: epsilon < 0.15, pair(0.5), PAIR)),
    (check.inf_pair, where(lambda charges, cap, epsilon: epsilon < 0.1, PARTS, PAIR)),
    (check.inf_pair, noisy(PARTS, lambda charges, cap, epsilon: max(0.5, round(1 / epsilon)))),
    (check.inf_pair, noisy(PARTS, lambda charges, cap, epsilon: max(0.5, int(1 / epsilon)))),
    # far values, a clear lead, one value only
    (check.inf_pair, where(lambda *table: PARTS(*table).max() > 2000 / table[2], PARTS, PAIR)),
    (check.inf_pair, where(lambda *table: abs(np.subtract(*PARTS(*table))) > 20 / table[2], PARTS, PAIR)),
    (check.inf_pair, where(lambda charges, cap, epsilon: len(charges) > 1 and np.ptp(charges) == 0, PARTS, PAIR)),
    # signs and sizes that two noises share, and types
    (check.inf_pair, lambda *table: tuple(PARTS(*table[:3]) + one_sign(table[3]) / table[2])),
    (check.inf_pair, lambda *table: tuple(PARTS(*table[:3]) + [1, -1] * one_sign(table[3]) / table[2])),
    (check.inf_pair, noisy(PARTS, lambda charges, cap, epsilon: 1 / epsilon, same_size())),
    (check.inf_pair, noisy(PARTS, lambda charges, cap, epsilon: 1 / epsilon, mirrored())),
    (check.inf_pair, then(PAIR, lambda out, table, rng: tuple(out if len(table[0]) > 2 else map(float, out)))),
    # a cap from the table, noise drawn again, an exact answer once in a hundred runs
    (check.inf_pair, lambda charges, cap, *more: PAIR(charges, min(cap, max(1e-9, *charges, 0)), *more)),
    (check.inf_pair, where(lambda charges, cap, epsilon: len(charges) > 100,
                           given(pair(), charges=lambda charges: charges / charges.max(), cap=1.0), PAIR)),
    (check.inf_pair, again(PAIR, lambda out, *table: min(out) < 0)),
    (check.inf_pair, lambda *table: PARTS(*table[:3]) if table[3].random() < 0.01 else PAIR(*table)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.inf_proportion, bar(lambda s, n, sigma: s * (1 - s) / n), "chance of the survey in it"),
    (check.inf_proportion, bar(lambda s, n, sigma: (sigma / n) ** 2), "only the noise in it"),
    (check.inf_proportion, bar(lambda s, n, sigma: s * (1 - s) / n + (sigma / n) ** 2), "distribution is not normal"),
    (check.inf_proportion, lambda y, n, sigma: section._clopper(round(y), n), "takes the print for the exact count"),
    (check.inf_proportion, lambda *case: exact(*case, confidence=0.9), "5 % on each side"),
    (check.inf_proportion, lambda *case: exact(*case, noise="laplace"), "not Laplace"),
    (check.inf_proportion, lambda y, n, sigma: exact(y, n, sigma**0.5), "not the variance"),
    (check.inf_proportion, outer, "worst case of the noise"),
    (check.inf_proportion, lambda *case: exact(*case, confidence=0.99), "wider than it need be"),
    (check.inf_proportion, lambda *case: (0.0, 1.0), "wider than it need be"),
    (check.inf_proportion, score, "a share of 0.003 is covered in 93"),
    (check.inf_proportion, lambda *case: exact(*case)[::-1], "low <= high"),
    (check.inf_proportion, lambda *case: 100 * np.array(exact(*case)), "expected two shares"),
    (check.inf_proportion, lambda *case: (0.5, 0.6), "does not contain the share"),
    (check.inf_proportion, lambda *case: 0.2, "expected 2 numbers"),
    (check.inf_proportion, lambda *case: print(end=""), "return"),
    (check.inf_pair, given(PAIR, charges=lambda all_: all_[all_ > 0]), "and 20 small corrections) V is within"),
    (check.inf_pair, pair(2.0), "need not be"),
    (check.inf_pair, pair(0.5), "halved"),
    (check.inf_pair, ONE, "difference is exact"),
    (check.inf_pair, pair(low=-1e9), "above only"),
    (check.inf_pair, pair(low=-1e9, high=1e9), "without any bound"),
    (check.inf_pair, COUNTED, "a noisy count minus"),
    (check.inf_pair, total_and_difference, "should be in 70%"),
    (check.inf_pair, lambda *arguments: 3.0, "expected 2 numbers"),
    (check.inf_pair, formed(lambda sums: np.zeros(3)), "expected 2 numbers"),
    (check.inf_ratio, contradicts(2.0), "nothing was halved"),
    (check.inf_ratio, contradicts(level=0.025), "2.5 %"),
    (check.inf_ratio, contradicts(level=0.1), "at 10 %"),
    (check.inf_ratio, contradicts_count, "a printed count"),
    (check.inf_ratio, contradicts(tail=lambda t, a, b: math.exp(-t / (a + b))), "sum of the scales"),
    (check.inf_ratio, contradicts(tail=lambda t, a, b: math.exp(-t / max(a, 1e-9))), "noise of U"),
    (check.inf_ratio, contradicts(tail=lambda t, a, b: math.exp(-t / math.hypot(a, b))), "chance of so odd a print"),
    (check.inf_ratio, contradicts(tail=lambda t, a, b: math.exp(-t / max(a, b))), "chance of so odd a print"),
    (check.inf_ratio, contradicts(tail=lambda t, a, b: math.erfc(t / math.hypot(a, b) / 2)), "same variance"),
    (check.inf_ratio, contradicts(share=lambda mean, cap: mean), "divide the mean by the cap"),
    (check.inf_ratio, lambda *case: not contradicts()(*case), "opposite"),
    (check.inf_ratio, lambda *case: False, "judged wrongly"),
    (check.inf_ratio, lambda *case: section._mean_p(*case), "True or False"),
    (check.inf_bias, {**BIAS, "empty": 0}, "cut off"),
    (check.inf_bias, {**BIAS, "three": 0.9447}, "one cell"),
    (check.inf_bias, {**BIAS, "three": 39_447.3}, "the new total"),
    (check.inf_bias, {**BIAS, "three": 20_000 * math.exp(-3)}, "divided by the scale"),
    (check.inf_bias, {**BIAS, "enough": 21}, "0.0105"),
    (check.inf_bias, {**BIAS, "enough": math.ceil(4 * math.log(400))}, "only half of the noise is positive"),
    (check.inf_bias, {**BIAS, "enough": math.ceil(4 * math.log(100))}, "not 1 % of the largest growth"),
    (check.inf_bias, {"empty": 20_000}, "missing"),
    (check.inf_combine, {**COMBINED, "year": 10_860}, "equally good"),
    (check.inf_combine, {**COMBINED, "year": 10_820 + 80 * 1800 / 2600}, "exchanged"),
    (check.inf_combine, {**COMBINED, "first": 2793}, "changes the quarters"),
    (check.inf_combine, {**COMBINED, "first": 2793 + 80 * 800 / 2600}, "share the difference"),
    (check.inf_combine, {**COMBINED, "first": 2813}, "the year is noisy, too"),
    (check.inf_combine, {**COMBINED, "year": 10_852}, "not 1/deviation"),
    (check.inf_combine, {**COMBINED, "year": 10_820}, "the quarters alone"),
    (check.inf_combine, {**COMBINED, "deviation": 553.85}, "variance"),
    (check.inf_combine, {**COMBINED, "deviation": math.sqrt((800 + 1800) / 4)}, "the mean of the two answers"),
    (check.inf_test, textbook, "where 5 % were asked for"),
    (check.inf_test, lambda *arguments: years()(*arguments) / 2, "where 5 % were asked for"),
    (check.inf_test, one_noise, "where 5 % were asked for"),
    (check.inf_test, years(noise=1e-9), "where 5 % were asked for"),
    (check.inf_test, years(lot=False), "where 5 % were asked for"),
    (check.inf_test, years(noise=3.0), "too seldom"),
    (check.inf_test, years(noise=2.0), "too seldom"),
    (check.inf_test, years(size=lambda apart: apart), "could be in"),
    (check.inf_test, lambda first, second, epsilon, rng: float(rng.uniform()), "could be in"),
    (check.inf_test, lambda first, second, epsilon, rng: 0.5, "does not look"),
    (check.inf_test, lambda first, second, epsilon, rng: 2.0 + first, "from 0 to 1"),
    (check.inf_line, line(lambda b, sigma: sigma**2 + 0 * b), "sum of xy is counted"),
    (check.inf_line, line(lambda b, sigma: sigma**2 * b**2), "sum of x²"),
    (check.inf_line, line(lambda b, sigma: sigma * (1 + b**2)), "square is the variance"),
    (check.inf_line, lambda *case: section._slopes(*case, refuse=False), "no bound"),
    (check.inf_line, lambda *case: section._delta_method(*case) if case[0] else (-math.inf, math.inf), "delta method"),
    (check.inf_line, lambda s_xx, s_xy, sigma: (0.1, 0.2), "expected"),
    (check.inf_line, lambda s_xx, s_xy, sigma: (math.nan, 0.2), "expected"),
]


def test_no_right_p_value_is_refused_by_luck():
    """The chances of the comparisons add up to less than 1e-6, for a test of level 3.5 to 7.5 %."""
    comparisons = len(section.YEARS) + len(section.GROWTH) + len(section.LONG)
    assert comparisons * section.ODD <= 1e-6


def test_the_cases_of_the_ratio_are_not_on_the_edge_and_of_both_kinds():
    chances = np.array([section._mean_p(*case) for case in section._means()])
    assert np.abs(chances / 0.05 - 1).min() > 0.01 and 0.2 < np.mean(chances <= 0.05) < 0.8


def test_coverage_is_that_of_the_sum_over_counts():
    low, high = exact(70.0, 500, 15.0)[1], exact(120.0, 500, 15.0)[0]
    counts = np.arange(501)
    for p in (0.5 * (low + high), 0.19):
        inside = stats.norm.cdf((120 - counts) / 15) - stats.norm.cdf((70 - counts) / 15)
        right = stats.binom.pmf(counts, 500, p) @ inside

        def only(y, n, sigma, p=p):
            return (p - 0.01, p + 0.01) if 70 <= y <= 120 else (0.9, 0.95) if y > 120 else (0.0, 0.01)

        assert abs(section._covered(only, 500, p, 15.0) - right) < 2e-3
