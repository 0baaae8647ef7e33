"""Checkers of the section on statistics from noisy answers."""
import math

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, ndtri

from dplib import inference, mechanisms
from provable_privacy.battery import Numbers, Pair, battery, looks_for, luck
from provable_privacy.battery.makers import given, noisy, shared, then
from provable_privacy.entries import Number, entries
from provable_privacy.formulas import on_cases, shown
from provable_privacy.speech import Wrong, answered, checker, number, numbers

__all__ = ["inf_bias", "inf_combine", "inf_line", "inf_pair", "inf_proportion", "inf_ratio", "inf_test"]

Z = float(ndtri(0.975))


# ------------------------------------------------------------------------------------------- a share, normal noise

SURVEYS = [(500, 0.19, 15.0), (50, 0.02, 1.0), (200, 0.5, 30.0), (30, 0.0, 2.0), (40, 0.9, 6.0), (50, 0.003, 0.25)]
MOST = 0.985                                     # n, the share of the world, sigma; and the largest coverage


def _exact(noisy, n, sigma, **settings):
    return inference.proportion_interval(noisy, n=n, scale=sigma, **{"noise": "gaussian", **settings})


def _around(variance):
    """1.96 standard deviations around the printed share; `variance(share, n, sigma)` is that of the share."""
    def interval(noisy, n, sigma):
        share = noisy / n
        half = Z * math.sqrt(variance(min(max(share, 0.0), 1.0), n, sigma))
        return share - half, share + half

    return interval


def _clopper(k, n):
    k = min(max(k, 0.0), n)
    return (betaincinv(k, n - k + 1, 0.025) if k > 0 else 0.0), (betaincinv(k + 1, n - k, 0.975) if k < n else 1.0)


INTERVALS = {
    "this interval has the chance of the survey in it and not the noise":
        _around(lambda share, n, sigma: share * (1 - share) / n),
    "this interval has only the noise in it: it is for the people who were asked, not for the world":
        _around(lambda share, n, sigma: (sigma / n) ** 2),
    "adding the two variances is nearly right. But the spread is estimated from the print, and the distribution is "
    "not normal; so with few people the interval covers less than it says":
        _around(lambda share, n, sigma: share * (1 - share) / n + (sigma / n) ** 2),
    "Clopper and Pearson's interval takes the print for the exact count; put the noise into the law":
        lambda y, n, sigma: _clopper(round(y), n),
    "this adds the worst case of the survey to the worst case of the noise, and that is more than is needed":
        lambda y, n, sigma: (_clopper(y - Z * sigma, n)[0], _clopper(y + Z * sigma, n)[1]),
    "the noise is normal with standard deviation sigma, not Laplace or of whole numbers":
        lambda *case: _exact(*case, noise="laplace"),
    "5 % on each side make 10 %": lambda *case: _exact(*case, confidence=0.9),
    "sigma is the standard deviation, not the variance": lambda y, n, sigma: _exact(y, n, math.sqrt(sigma)),
}


def _ends(interval, y, n, sigma):
    case = f"for noisy={y:.2f}, n={n}, sigma={sigma:g}"
    low, high = numbers(answered(interval, float(y), n, sigma), (2,), f"{case} the interval")
    inside = np.clip([low, high], 0, 1)
    if inside[0] > inside[1] or high > 2:        # an interval may leave [0, 1] a little; per cent leave it far
        raise Wrong(f"{case} expected two shares, 0 <= low <= high <= 1, got {low:.4g} and {high:.4g}")
    return inside


def _edge(holds, inside, outside):
    """Where `holds` turns from true to false between the two; `outside` if it never does."""
    if holds(outside):
        return outside
    for _ in range(15):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def _covered(interval, n, p, sigma):
    """How often the interval holds p: the law of the print between the two ends of the prints whose interval does."""
    def holds(y):
        low, high = _ends(interval, y, n, sigma)
        return low - 1e-9 <= p <= high + 1e-9

    if not holds(n * p):
        raise Wrong(f"if the share is {p:g}, then noisy={n * p:g} is the most likely print of n={n} at "
                    f"sigma={sigma:g}, and your interval for this print does not contain the share")
    reach = 6 * math.sqrt(n * p * (1 - p) + sigma**2)
    ends = [_edge(holds, n * p, n * p + side * reach) for side in (-1, 1)]
    below, upto = inference.noisy_binomial_cdf(ends, n=n, p=p, scale=sigma, noise="gaussian")
    return upto - below


def _likeness(interval):
    """What is known of a wrong interval that looks like this one."""
    prints = [(93.4, 500, 15.0), (1.2, 50, 1.0), (120.5, 200, 30.0)]
    mine = [_ends(interval, *case) for case in prints]
    for words, mistake in INTERVALS.items():
        if np.allclose(mine, [np.clip(mistake(*case), 0, 1) for case in prints], rtol=1e-5, atol=2e-3):
            return f"; {words}"
    return ""


@checker
def inf_proportion(interval):
    """`interval(noisy, n, sigma)`: 95 % for the share of the world, from a count of n with normal noise."""
    for n, p, sigma in SURVEYS:
        held = _covered(interval, n, p, sigma)
        said = f"n={n}, sigma={sigma:g}: a share of {p:g} is covered in {held:.2%} of surveys"
        if held < 0.9495:
            raise Wrong(f"{said}, and at least 95 % should be{_likeness(interval)}")
        if held > MOST:
            raise Wrong(f"{said}, so the interval is wider than it need be{_likeness(interval)}")
    return "covers in 95 % to 98.5 % of surveys, in all six cases, computed without simulation"


# --------------------------------------------------------------------------------------------- the used and the unused

def _parts(cut=lambda charges, cap: np.clip(charges, 0, cap)):
    """The used and the unused part of the cap."""
    def exact(charges, cap, epsilon):
        part = cut(np.asarray(charges, dtype=float), cap) / cap
        return np.array([part.sum(), (1 - part).sum()])

    return exact


def _scale(used=1.0, unused=1.0):
    return lambda charges, cap, epsilon: np.array([used, unused]) / epsilon


PARTS = _parts()
PAIR = noisy(PARTS, _scale())
PAIRED = {
    "epsilon is halved, and need not be: one visit moves the two together by 1":
        given(PAIR, epsilon=lambda epsilon: epsilon / 2),
    "the noise is halved: the two together move by 1, so each needs Lap(1/epsilon)":
        given(PAIR, epsilon=lambda epsilon: 2 * epsilon),
    "charges are not cut to the cap: a large one moves U up and V down without any bound":
        noisy(_parts(lambda charges, cap: charges), _scale()),
    "charges are cut above only; a negative one, a correction, moves both sums": noisy(_parts(np.minimum), _scale()),
    "one noise serves both sums, so their difference is exact":
        noisy(PARTS, lambda charges, cap, epsilon: 1 / epsilon, shared()),
    "V is a noisy count minus the noisy U: the count and U cost epsilon each":
        then(PAIR, lambda out, table, rng: (out[0], len(table[0]) - out[0] + rng.laplace(scale=1 / table[2]))),
    "the unused part has no noise": noisy(PARTS, _scale(unused=0.0)),
    "the used part has no noise": noisy(PARTS, _scale(used=0.0)),
}


def _visits(what, charges, more, cap, epsilon, **settings):
    """`charges`, and the same with the visits `more`."""
    one, two = ((np.array(rows, dtype=float), cap, epsilon) for rows in (charges, [*charges, *more]))
    return Pair(what, one, two, ((len(more) * epsilon, 0.0),), (PARTS(*one), PARTS(*two)),
                within=max(1.5 / epsilon, 1.0), share=0.7, **settings)


MANY, SOME = np.linspace(0.2, 0.9, 3000), np.linspace(0, 1500, 400)
VISITS = [
    _visits("one visit at half the cap / two such visits", [250.0], [250.0], 500.0, 3.0, runs=2000),
    _visits("three visits / the same and one that costs a billion", [10.0, 20.0, 30.0], [1e9], 100.0, 0.5, runs=1500,
            twice=300, looks=("far",)),
    _visits("two visits and 20 small corrections / the same and a correction of minus ten thousand",
            [10.0, 90.0] + 20 * [-5.0], [-1e4], 100.0, 1.0, runs=1500),
    _visits("3,000 visits below the cap / the same and one at half of it", MANY, [0.5], 1.0, 2.0, runs=2000,
            looks=("own",)),
    _visits("400 visits / the same and four at half the cap", SOME, 4 * [500.0], 1000.0, 0.5, runs=3000,
            looks=("contents",)),
    _visits("two visits for nothing / the same and twenty at the cap", 2 * [0.0], 20 * [100.0], 100.0, 0.05, runs=3000),
    # so many runs tell Lap(0.9/epsilon) from Lap(1/epsilon)
    _visits("no visits / two at the cap", [], 2 * [3000.0], 3000.0, 0.7, runs=45_000, looks=("quotient",)),
]


def _two(release, arguments, rng):
    return numbers(answered(release, *arguments, rng), (2,), "the pair of U and V")


@checker
@looks_for("zero", missing="a charge is a number", order="the two numbers have fixed places",
           straddles="the code has no threshold but the cap")
def inf_pair(release):
    """`release(charges, cap, epsilon, rng)`: noisy used and unused parts of the cap, ε-DP for both together."""
    seen = battery(release, Numbers(2, names=("U", "V")), VISITS, call=_two, mistakes=PAIRED, right=PAIR, seed=73)
    return f"the whole of epsilon for both; {seen}"


# ----------------------------------------------------------------------------------------------- the mean of a pair

def _surprise(t, a, b):
    """P(|Lap(a) + Lap(b)| >= t)."""
    big, small = max(a, b), min(a, b)
    if small < 1e-12 * big:
        return math.exp(-t / big)
    if big - small < 1e-6 * big:
        return math.exp(-t / big) * (1 + t / (2 * big))
    return (big**2 * math.exp(-t / big) - small**2 * math.exp(-t / small)) / (big**2 - small**2)


def _mean_p(mean, used, unused, cap, epsilon, tail=_surprise):
    """The chance of so odd a print at this mean, right unless told otherwise."""
    s = mean / cap
    return tail(abs((1 - s) * used - s * unused), abs(1 - s) / epsilon, s / epsilon)


def _by(tail):
    return lambda *case: _mean_p(*case, tail=tail)


MEANS = {
    "only the noise of U is counted": _by(lambda t, a, b: math.exp(-t / max(a, 1e-12))),
    "only the noise of V is counted": _by(lambda t, a, b: math.exp(-t / max(b, 1e-12))),
    "two Laplace noises are not one with the sum of the scales": _by(lambda t, a, b: math.exp(-t / (a + b))),
    "two Laplace noises together are not a normal noise of the same variance":
        _by(lambda t, a, b: math.erfc(t / (2 * math.hypot(a, b)))),
    "the noise of the pair has scale 1/epsilon: nothing was halved": _by(lambda t, a, b: _surprise(t, 2 * a, 2 * b)),
    "that is for a printed sum and a printed count; V is the unused part, and m = c U/(U + V)":
        lambda mean, u, v, cap, epsilon: _surprise(abs(u - mean / cap * v), 1 / epsilon, mean / cap / epsilon),
    "that is at 2.5 %: the chance of so odd a print counts both sides already": lambda *case: 2 * _mean_p(*case),
    "that is at 10 %: both sides count, and half of the chance is one side": lambda *case: _mean_p(*case) / 2,
    "divide the mean by the cap: (1 - m/c) U - (m/c) V":
        lambda mean, u, v, cap, epsilon: _mean_p(mean, u, v, 1.0, epsilon),
}


def _means():
    """Cases near the edge of what is kept, and far from it."""
    rng, cases = np.random.default_rng(74), []
    while len(cases) < 320:
        cap, epsilon = float(rng.choice([1.0, 100.0, 3000.0])), float(rng.choice([0.1, 0.5, 1.0, 2.0]))
        visits, share = int(rng.choice([0, 3, 40, 400])), rng.uniform(0.05, 0.95)
        used = visits * share + rng.laplace(scale=1 / epsilon)
        unused = visits * (1 - share) + rng.laplace(scale=1 / epsilon)
        mean = cap * float(rng.choice([0.0, 0.02, share, rng.uniform(), 0.5, 1.0]))
        if len(cases) % 2:                       # both noises count, and the chance is near 5 %
            mean = cap * (share := rng.uniform(0.15, 0.85))
            noise = rng.choice([-1, 1]) * rng.uniform(2.4, 4.2) * max(share, 1 - share) / epsilon
            used = (share * unused + noise) / (1 - share)
        p = _mean_p(mean, used, unused, cap, epsilon)
        if abs(p / 0.05 - 1) > 0.01 and (p < 0.4 or len(cases) % 4 == 0):
            cases.append((mean, float(used), float(unused), cap, epsilon))
    return cases


def _verdict(contradicts, case):
    got = answered(contradicts, *case)
    if isinstance(got, (bool, np.bool_)):
        return bool(got)
    raise Wrong(f"for {shown(_mean_p, case)} expected True or False, got {got!r}"[:300])


@checker
def inf_ratio(contradicts):
    """`contradicts(mean, used, unused, cap, epsilon)`: whether the printed pair contradicts the mean at 5 %."""
    cases = _means()
    said, right = [_verdict(contradicts, case) for case in cases], [_mean_p(*case) <= 0.05 for case in cases]
    wrong = [case for case, one, two in zip(cases, said, right) if one != two]
    if not wrong:
        return f"right on {len(cases)} prints, {sum(right)} of which contradict the mean"
    if len(wrong) == len(cases):
        raise Wrong("every verdict is the opposite of the right one: True means that the print contradicts the mean")
    words = next((words for words, mistake in MEANS.items() if [mistake(*case) <= 0.05 for case in cases] == said),
                 f"the chance of so odd a print is {_mean_p(*wrong[0]):.3f} at that mean")
    raise Wrong(f"{len(wrong)} of {len(cases)} prints are judged wrongly, such as {shown(_mean_p, wrong[0])}: {words}")


# ------------------------------------------------------------------------------------------------------ two by hand

@entries("and a table without anybody in it becomes a town")
def inf_bias():
    """`answer`: what 10,000 cells at scale 4 gain by being cut at zero, empty or with three people; and `enough`."""
    three = 20_000 * math.exp(-0.75)
    return {
        "empty": Number(20_000, tolerance=0, relative=1e-3, mistakes={
            "noise is positive as often as negative, but the negative half is cut off": 0,
            "only half of the noise is positive": 40_000,
            "that is one cell; there are ten thousand": 2,
        }),
        "three": Number(three, tolerance=0, relative=1e-3, mistakes={
            "that is one cell; there are ten thousand": three / 10_000,
            "that is the new total; how much does it grow?": 30_000 + three,
            "the exponent is n divided by the scale": 20_000 * math.exp(-3),
        }),
        "enough": Number(22, tolerance=0, mistakes={
            "at 21 it is still 0.0105": 21,
            "only half of the noise is positive": 24,
            "0.01 of a person, not 1 % of the largest growth": 19,
        }),
    }


@entries("better than either answer")
def inf_combine():
    """`answer`: the best year and first quarter from four quarters (Lap(10)) and a year (Lap(30)), and `deviation`."""
    quarters, apart, variance = 10_820, 80, 800 * 1800 / 2600
    moved = apart * 800 / 2600
    return {
        "year": Number(quarters + moved, tolerance=0.06, near=2e-6, mistakes={
            "the two answers are not equally good: weigh them by 1/variance": 10_860,
            "the weights are exchanged": quarters + apart * 1800 / 2600,
            "four noises add up in variance, not in scale": quarters + apart * 40 / 70,
            "that is the sum of the quarters alone": quarters,
            "that is the printed year alone": 10_900,
            "weights are 1/variance, not 1/deviation": quarters + apart * 20 / (20 + 30),
        }),
        "first": Number(2793 + moved / 4, tolerance=0.06, near=2e-6, mistakes={
            "what the year says about the sum changes the quarters, too": 2793,
            "the four quarters share the difference": 2793 + moved,
            "not all of the difference: the year is noisy, too": 2813,
        }),
        "deviation": Number(math.sqrt(variance), tolerance=0.06, mistakes={
            "that is the variance": variance,
            "they are combined, not added up: the variance is 1/(1/800 + 1/1800)": math.sqrt(2600),
            "that is the mean of the two answers; the best weights give less": math.sqrt(650),
            "the variance of Lap(b) is 2b²": math.sqrt(variance / 2),
        }),
    }


# -------------------------------------------------------------------------------------------------------- two years

YEARS = [(200.0, 0.1), (20.0, 0.2), (500.0, 1.0), (3.0, 0.5)]        # a common mean, and epsilon
GROWTH = [(200.0, 280.0, 0.1), (150.0, 100.0, 1.0)]
TRIES, FAIR = 250, 0.075
# here with eight times as many tries, to see 1 % or 10 % where 5 % were asked for
LONG, SELDOM, CLOSE = [(20.0, 0.2), (500.0, 1.0)], 0.035, 0.06
ODD = 1e-6 / 20                                  # with this probability a comparison refuses a right answer


def _years(first, second, epsilon, size, rng):
    return mechanisms.geometric(rng.poisson((first, second), (size, 2)), sensitivity=1, epsilon=epsilon, rng=rng)


def _ours(first, second, epsilon, rng, rounds=99):
    plays = _years(*2 * [max((first + second) / 2, 0)], epsilon, rounds, rng)
    return (1 + np.sum(np.abs(plays[:, 0] - plays[:, 1]) >= abs(first - second))) / (1 + rounds)


def _rejects(p_value, prints, epsilon, rng):
    """In how many of the prints the hypothesis is rejected."""
    out = 0
    for first, second in prints:
        case = f"for first={first}, second={second}, epsilon={epsilon:g}"
        p = number(answered(p_value, int(first), int(second), epsilon, rng), f"{case} the p-value")
        if not 0 <= p <= 1 + 1e-9:
            raise Wrong(f"{case} expected a p-value from 0 to 1, got {p:g}")
        out += p <= 0.05
    return out


@checker
def inf_test(p_value):
    """`p_value(first, second, epsilon, rng)`: whether two noisy Poisson counts have one mean; level 5 %, and power."""
    rng = luck(75)
    if len({round(number(answered(p_value, *two, 0.5, rng), "the p-value"), 3) for two in ((20, 20), (0, 60))}) == 1:
        raise Wrong("two equal counts and 0 against 60 have the same p-value: it does not look at the counts")
    for mean, epsilon in YEARS:
        long = (mean, epsilon) in LONG
        tries, most = (8 * TRIES, CLOSE) if long else (TRIES, FAIR)
        hits = _rejects(p_value, _years(mean, mean, epsilon, tries, rng), epsilon, rng)
        said = (f"two years with the same mean, {mean:g}, at epsilon={epsilon:g}: the hypothesis is true and rejected "
                f"in {hits / tries:.1%}")
        if bdtrc(hits - 1, tries, most) < ODD:
            raise Wrong(f"{said}, where 5 % were asked for. Does the comparison contain the noise of both prints, "
                        "and the chance of the visits?")
        if long and bdtr(hits, tries, SELDOM) < ODD:
            raise Wrong(f"{said}, where about 5 % were asked for: that is too seldom. The noise of each print has "
                        "scale 1/epsilon. Count each chance once")
    for first, second, epsilon in GROWTH:
        hits = _rejects(p_value, _years(first, second, epsilon, TRIES, rng), epsilon, rng)
        prints = _years(first, second, epsilon, 1000, np.random.default_rng(76))
        share = np.mean([_ours(*two, epsilon, rng) <= 0.05 for two in prints])
        if bdtr(hits, TRIES, 0.6 * share) < ODD:
            raise Wrong(f"means of {first:g} and {second:g} visits, at epsilon={epsilon:g}: the difference is seen in "
                        f"{hits / TRIES:.0%} of releases, and could be in {share:.0%}")
    return "rejects a true hypothesis in about 5 %, on four pairs of years, and sees a difference"


# ----------------------------------------------------------------------------------------------- through the origin

PRINTS = [(400.0, 130.0, 10.0), (400.0, -130.0, 10.0), (60.0, 12.0, 20.0), (25.0, 90.0, 10.0), (15.0, 90.0, 10.0),
          (-80.0, 30.0, 10.0), (19.0, 2.0, 10.0), (90.0, 0.0, 2.0), (0.0, 0.0, 1.0)]


def _slopes(s_xx, s_xy, sigma, z=Z, weights=(1.0, 1.0), refuse=True):
    v_xy, v_xx = (weight * (z * sigma) ** 2 for weight in weights)
    first, last = s_xx**2 - v_xx, s_xy**2 - v_xy
    if first <= 0 and refuse:
        return -math.inf, math.inf
    root = math.sqrt(max((s_xx * s_xy) ** 2 - first * last, 0.0))
    return tuple(sorted(((s_xx * s_xy - root) / first, (s_xx * s_xy + root) / first)))


def _delta_method(s_xx, s_xy, sigma):
    slope = s_xy / s_xx
    half = Z * sigma * math.hypot(1, slope) / abs(s_xx)
    return slope - half, slope + half


LINES = {
    "only the noise of the sum of xy is counted: V(b) = sigma²(1 + b²)": lambda *case: _slopes(*case, weights=(1, 0)),
    "only the noise of the sum of x² is counted: V(b) = sigma²(1 + b²)": lambda *case: _slopes(*case, weights=(0, 1)),
    "where the leading coefficient is negative the slopes that are kept have no bound: they are outside the two roots":
        lambda *case: _slopes(*case, refuse=False),
    "sigma is the standard deviation; its square is the variance":
        lambda s_xx, s_xy, sigma: _slopes(s_xx, s_xy, math.sqrt(sigma)),
    "5 % on each side make 10 %: take 1.96, not 1.64": lambda *case: _slopes(*case, z=float(ndtri(0.95))),
    "that is the delta method, which takes a straight line for the quotient; solve the quadratic": _delta_method,
}


@checker
def inf_line(slopes):
    """`slopes(s_xx, s_xy, sigma)`: the slopes of a line through the origin that two noisy sums do not contradict."""
    on_cases(slopes, PRINTS, _slopes, LINES, rtol=2e-3, atol=2e-3, shape=lambda *case: (2,), finite=False,
             what="the slopes", otherwise=lambda got, right, *case: "expected {:.4g} to {:.4g}".format(*right))
    endless = sum(math.isinf(_slopes(*case)[0]) for case in PRINTS)
    return f"right on {len(PRINTS)} prints, {endless} of which allow any slope"
