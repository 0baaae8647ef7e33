"""Checkers of chapter 3: the Gaussian mechanism."""
import functools
import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dplib.mechanisms import gaussian_delta, gaussian_sigma, log_gaussian_delta
from provable_privacy.battery import CENTRE, Numbers, Pair, battery, luck
from provable_privacy.speech import Wrong, answered, ask, checker, number, numbers

__all__ = ["gau_break", "gau_clip", "gau_covariance", "gau_crossover", "gau_scales", "gau_sigma"]


def _classic(epsilon, delta, constant=1.25):
    return math.sqrt(2 * math.log(constant / delta)) / epsilon


def _tail_sigma(epsilon, delta):
    """Smallest sigma with P(L > epsilon) <= delta, sensitivity 1."""
    z = -float(ndtri(delta))
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


SIGMA_CASES = ((1, 1e-5, 1), (0.5, 1e-6, 1.0), (0.01, 1e-3, 2.5), (3.0, 1e-9, math.sqrt(24)), (10.0, 1e-5, 1.0), (0.1, 0.2, 0.05),
               (2.0, 1e-12, 300.0), (50.0, 1e-5, 1.0), (800.0, 1e-5, 1.0), (1000, 1e-9, 7))


@checker
def gau_sigma(analytic_sigma):
    """`analytic_sigma(epsilon, delta, sensitivity)`: the smallest sufficient sigma."""
    for epsilon, delta, sensitivity in SIGMA_CASES:
        case = f"epsilon = {epsilon:g}, delta = {delta:g}, sensitivity = {sensitivity:.4g}"
        got, right = number(ask(analytic_sigma, epsilon, delta, sensitivity), case), gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity)
        if got <= 0:
            raise Wrong(f"{case}: sigma must be positive, got {got:g}")
        if abs(got / right - 1) < 1e-6:
            continue
        case += f": got {got:.6g}"
        one = right / sensitivity
        typical = {
            "this is the classic formula, a bound with a range; the delta of Gaussian noise is known exactly": sensitivity * _classic(epsilon, delta),
            "this is the classic formula with 1 for 1.25; the delta of Gaussian noise is known exactly": sensitivity * _classic(epsilon, delta, 1.0),
            "this makes the loss stay below epsilon with probability 1 - delta, which is more than (epsilon, delta)-DP asks":
                sensitivity * _tail_sigma(epsilon, delta),
            "the sensitivity was not used; sigma is proportional to it": one,
            "the noise must grow with the sensitivity, not shrink": one / sensitivity,
            "this is the variance; sigma is a standard deviation": right**2,
            "sigma is proportional to the sensitivity, not to its square": one * sensitivity**2,
            "this is mu = sensitivity/sigma; sigma was asked": 1 / one,
        }
        for message, value in typical.items():
            if abs(got / value - 1) < 1e-6:
                raise Wrong(f"{case}; {message}")
        if got < right:
            true = gaussian_delta(epsilon, sigma=got, sensitivity=sensitivity)
            raise Wrong(f"{case}, but then delta is {true:.6g}, more than promised: the smallest sufficient sigma is larger")
        raise Wrong(f"{case}: private, but less noise will do; solve to a relative precision of 1e-6")
    return "the smallest sigma, to six digits, from ε = 0.01 to 1,000"


def _break(delta, constant=1.25):
    return brentq(lambda epsilon: log_gaussian_delta(_classic(epsilon, delta, constant), epsilon) - math.log(delta), 1, 30)


@checker
def gau_break(breaking_point):
    """`breaking_point(delta)`: the epsilon from which on the classic sigma is too small."""
    for delta in (1e-5, 1e-2, 1e-3, 1e-9, 0.05, 1e-12):
        case = f"delta = {delta:g}"
        got, right, c = number(ask(breaking_point, delta), case), _break(delta), _classic(1, delta)
        if abs(got - right) <= 0.01:
            continue
        if got <= 0:
            raise Wrong(f"{case}: expected a positive epsilon, got {got:g}")
        case += f": got {got:.4g}"
        typical = {
            "this is the range of the theorem's proof; the promise is kept for much longer": 1.0,
            "here the tail P(L > epsilon) passes delta; the smallest delta is still smaller": 2 * c * (c + float(ndtri(delta))),
            "this is the breaking point with 1 in place of 1.25": _break(delta, 1.0),
            "this is right at delta = 1e-5; the breaking point depends on delta": _break(1e-5),
        }
        for message, value in typical.items():
            if abs(got - value) <= 0.01:
                raise Wrong(f"{case}; {message}")
        true = gaussian_delta(got, sigma=_classic(got, delta))
        if got < right:
            raise Wrong(f"{case}, but there the true delta is {true:.4g}, and the promise still holds")
        raise Wrong(f"{case}, but there the true delta is {true:.4g} already")
    return "the promise holds below it, and breaks above, for six δ"


def _good(rows):
    return np.where(np.isfinite(rows).all(axis=1)[:, None], rows, 0.0)


def _clipped(rows, clip):
    rows = _good(rows)
    return rows * (clip / np.maximum(np.linalg.norm(rows, axis=1), clip))[:, None]


@functools.cache
def _sum(total=lambda rows, clip: _clipped(rows, clip).sum(axis=0), draw=None):
    """The noisy sum, right unless told otherwise."""
    def release(rows, clip, epsilon, delta, rng):
        sigma, width = gaussian_sigma(epsilon, delta=delta, sensitivity=clip), rows.shape[1]
        return total(_good(rows), clip) + (rng.normal(scale=sigma, size=width) if draw is None else draw(rng, sigma, width))

    return release


def _length(rows, least=1e-300):
    return np.maximum(np.linalg.norm(rows, axis=1), least)[:, None]


SUMS = {
    "the rows are not clipped: one person can move the sum by more than `clip`, and the noise does not cover it": _sum(lambda r, c: r.sum(axis=0)),
    "each entry is clipped on its own; a row of d entries may then still have length clip times the root of d":
        _sum(lambda r, c: np.clip(r, -c, c).sum(axis=0)),
    "rows are clipped to L1 length `clip`; that is private, but shrinks rows that are short enough in L2":
        _sum(lambda r, c: (r * (c / np.maximum(np.abs(r).sum(axis=1), c))[:, None]).sum(axis=0)),
    "short rows are stretched to length `clip`; clipping only shrinks": _sum(lambda r, c: (r * c / _length(r)).sum(axis=0)),
    "rows that are too long are dropped; they should be shrunk to length `clip`": _sum(lambda r, c: r[_length(r)[:, 0] <= c].sum(axis=0)),
    "the sum was clipped, and not each row: then one person can turn the whole answer": _sum(lambda r, c: _clipped(r.sum(axis=0)[None], c)[0]),
    "this is the mean of the clipped rows; the sum was asked, and the number of rows is not public":
        _sum(lambda r, c: _clipped(r, c).sum(axis=0) / max(len(r), 1)),
    "all rows are shrunk by the factor of the longest; so one person moves every other row":
        _sum(lambda r, c: (r * min(1, c / _length(r).max(initial=1e-300))).sum(axis=0)),
    "all rows are shrunk by the length of the whole table (the norm of each row needs axis=1); so one person moves every other row":
        _sum(lambda r, c: (r * min(1, c / max(np.linalg.norm(r), 1e-300))).sum(axis=0)),
    "one noise serves all entries, so their differences are exact": _sum(draw=lambda rng, s, k: np.full(k, rng.normal(scale=s))),
}


def _tables(what, rows, more, clip, epsilon, delta, **settings):
    """`rows`, and the same with the rows `more` at the end; what is allowed is the normal law's own curve, at three ε."""
    one = np.array(rows, dtype=float).reshape(-1, len(more[0]))
    two, sigma = np.concatenate([one, np.array(more, dtype=float)]), gaussian_sigma(epsilon, delta=delta, sensitivity=clip)
    exact = [_clipped(table, clip).sum(axis=0) for table in (one, two)]
    far = len(more) * clip
    mu = far / sigma
    claims = tuple((e, gaussian_delta(e, sigma=sigma, sensitivity=far)) for e in (0.0, mu**2 / 2, mu**2 / 2 + mu))
    return Pair(what, (one, clip, epsilon, delta), (two, clip, epsilon, delta), claims, tuple(exact), within=sigma, share=0.64, **settings)


_rng = np.random.default_rng(18)
STEPS = np.searchsorted([200, 240, 280, 300, 320, 340, 360, 380], np.arange(400), side="right")[:, None] / 8     # a median, a quartile, a decile
MIXED = _rng.normal(size=(30, 4)) * np.geomspace(0.01, 30, 30)[:, None] + 0.3
SUM_TABLES = [
    _tables("no rows / one long row", [], [[0.0, -50.0, 0.0]], 2.0, 2.0, 0.01, runs=1500, twice=900),
    _tables("five rows of zeros / the same and a short row", np.zeros((5, 3)), [[0.3, 0.0, 0.0]], 0.5, 3.0, 1e-3, runs=1200),
    _tables("30 rows, short and long / the same and one more", MIXED, [[3.0, 4.0, 0.0, 0.0]], 3.0, 20.0, 0.01, runs=1200),
    _tables("two rows / the same and one with a NaN", [[1.0, 2.0], [0.1, 0.0]], [[np.nan, 40.0]], 1.0, 1.0, 1e-5, runs=800),
    _tables("one row / the same and one with infinite entries", [[0.01, 0.02]], [[np.inf, -np.inf]], 50.0, 0.5, 1e-3, runs=800),
    _tables("60 rows a thousand times too long / the same and two more", np.tile([600.0, 800.0], (60, 1)), 2 * [[600.0, 800.0]], 1.0, 0.8, 1e-6, runs=600),
    _tables("400 rows, from zeros to 1 / the same and a long one", STEPS, [[1000.0]], 1.0, 4.0, 1e-3, runs=600),
    _tables("one row of zeros / the same and six rows one way", [[0.0]], 6 * [[9.0]], 1.0, 1.0, 1e-3, runs=2500),
]
CALLS, WIDTH = 100, 600


def _spread(release, rows, clip, epsilon, delta):
    """`Wrong` unless sixty thousand noises have the smallest sufficient sigma, to 2 %."""
    sigma, rng = gaussian_sigma(epsilon, delta=delta, sensitivity=clip), luck(17)
    case = f"{len(rows)} rows, {WIDTH} columns, clip = {clip:g}, epsilon = {epsilon:g}, delta = {delta:g}"
    noise = np.array([numbers(answered(release, rows.copy(), clip, epsilon, delta, rng), (WIDTH,), case) for _ in range(CALLS)])
    noise -= noise.mean(axis=0)
    sd, room = math.sqrt(np.mean(noise**2) * CALLS / (CALLS - 1)), 0.02        # 6.9 standard errors
    if rng.centred:
        raise Wrong(CENTRE.format(rng.centred))
    if sd > 1e-9 * sigma and np.ptp(noise, axis=1).max() < 1e-6 * sd:
        raise Wrong(f"{case}: one noise serves all entries, and their differences are exact")
    if abs(sd / sigma - 1) < room:
        if abs(np.mean((noise / sd) ** 4) - 3) > 0.28:                          # seven standard errors
            raise Wrong(f"{case}: the noise has the right spread but not the normal shape")
        if np.abs(noise).max() < 3.5 * sd:                                      # by chance with probability 1e-12
            raise Wrong(f"{case}: none of {noise.size:,} noises is beyond 3.5 sigma: an answer that noise cut off cannot reach tells the tables apart")
        for what, one, two in (("entry", noise[:, 1:], noise[:, :-1]), ("entry", noise[:, WIDTH // 2:], noise[:, :WIDTH // 2]),
                               ("release", noise[1:], noise[:-1])):
            for x, y in ((one, two), (one**2 - sd**2, two**2 - sd**2)):
                if abs(np.mean(x * y)) > 7 * math.sqrt(np.mean(x**2) * np.mean(y**2) / x.size) + 2 / CALLS * np.mean(x**2) * (what == "release"):
                    raise Wrong(f"{case}: the noise of one {what} depends on that of another; they must be independent")
        return
    for message, value in {
        "there is no noise": 0.0,
        "this is the noise of the classic formula: more than needed at small epsilon, too little at large; calibrate exactly": clip * _classic(epsilon, delta),
        "the noise does not know the bound: its sigma is for sensitivity 1, and one person moves the sum by `clip`": sigma / clip,
        "the noise has twice the sigma it needs; under add/remove one row comes or goes, none is replaced": 2 * sigma,
        "sigma squared was passed where a standard deviation belongs": sigma**2,
        "the root of sigma was used: sigma passed as a variance?": math.sqrt(sigma),
        "the sensitivity of d entries in L2 is `clip`, not clip times the root of d": sigma * math.sqrt(WIDTH),
        "the noise is made for the sensitivity clip times d, as if in L1; in L2 it is `clip`": sigma * WIDTH,
        "the noise is divided by the number of entries; every entry needs sigma in full": sigma / WIDTH,
        "the noise is divided by the root of the number of entries; every entry needs sigma in full": sigma / math.sqrt(WIDTH),
    }.items():
        if abs(sd - value) <= room * value + 1e-9 * sigma:
            raise Wrong(f"{case}: {message}")
    verdict = "too little" if sd < sigma else "more than needed"
    raise Wrong(f"{case}: the noise has standard deviation {sd:.3g} where {sigma:.4g} is needed: {verdict}")


@checker
def gau_clip(release):
    """`release(rows, clip, epsilon, delta, rng)`: the sum of rows clipped in L2, with the smallest Gaussian noise."""
    for n, *case in ((2, 3.0, 20.0, 0.01), (0, 0.5, 0.4, 1e-8), (60, 7.0, 3.0, 1e-4)):
        _spread(release, np.full((n, WIDTH), 0.001 * n), *case)
    seen = battery(release, lambda pair: Numbers(pair.one[0].shape[1], "entry"), SUM_TABLES, mistakes=SUMS, right=_sum(), seed=17)
    rows, rng = np.array([[0.5, 0.2], [np.nan, 40.0], [0.1, 0.0], [-30.0, np.inf]]), luck(19)
    got = [numbers(answered(release, table, 1.0, 1000.0, 0.1, rng), (2,), "four rows") for table in (rows, _good(rows))]
    if np.abs(got[0] - got[1]).max() > 0.4:                                     # sigma is 0.023
        raise Wrong("a row with a NaN or an infinite entry counts as zeros, the whole of it, and in your sum its other entries count")
    return f"rows clipped, noise of the smallest sigma (to 2 %); {seen}"


@checker
def gau_crossover(crossover):
    """`crossover(epsilon, delta)`: smallest m with a smaller standard deviation for the Gaussian."""
    for epsilon, delta in ((1, 1e-5), (0.1, 1e-5), (4.0, 1e-5), (1.0, 1e-9), (0.5, 1e-3), (2.0, 1e-7), (8.0, 1e-6)):
        case = f"epsilon = {epsilon:g}, delta = {delta:g}"
        got, one = number(ask(crossover, epsilon, delta), case), gaussian_sigma(epsilon, delta=delta)
        right = math.floor((one * epsilon) ** 2 / 2) + 1
        if got == right:
            continue
        case += f": got {got:g}"
        classic = _classic(epsilon, delta)
        typical = {
            "this compares sigma with the scale b of Laplace noise; its standard deviation is the root of 2 times b": math.floor((one * epsilon) ** 2) + 1,
            "this is the crossover with the classic formula; calibrate exactly": math.floor((classic * epsilon) ** 2 / 2) + 1,
            "this uses the sigma of one count for all m; in L2 it grows like the root of m": math.floor(one * epsilon / math.sqrt(2)) + 1,
            "a whole number of counts was asked": (one * epsilon) ** 2 / 2,
            "this is the last m for which Laplace noise is the better one": right - 1,
        }
        for message, value in typical.items():
            if abs(got - value) < 1e-6 * max(1, value):
                raise Wrong(f"{case}; {message}")
        if got < 1 or got != int(got):
            raise Wrong(f"{case}; a whole number of counts, at least 1, was asked")
        sds = f"the standard deviations are {math.sqrt(2) * got / epsilon:.4g} (Laplace) and {one * math.sqrt(got):.4g} (Gaussian)"
        raise Wrong(f"{case}; at this m {sds}" + ("" if got < right else ", but a smaller m is enough"))
    return "less noise from there on, and not before, for seven (ε, δ)"


@checker
def gau_covariance(honest_delta):
    """`honest_delta(k, epsilon, delta)`: the delta that noise of variance sigma really has."""
    for k, epsilon, delta in ((24, 1.0, 1e-5), (1, 1.0, 1e-5), (400, 0.5, 1e-6), (6, 3.0, 1e-3), (1, 20.0, 1e-5)):
        case = f"k = {k}, epsilon = {epsilon:g}, delta = {delta:g}"
        step = math.sqrt(k)
        sigma = gaussian_sigma(epsilon, delta=delta, sensitivity=step)
        got, right = number(ask(honest_delta, k, epsilon, delta), case), gaussian_delta(epsilon, sigma=math.sqrt(sigma), sensitivity=step)
        if abs(got - right) <= 1e-6 * right:
            continue
        case += f": got {got:.6g}"
        typical = {
            "this is the promised delta; the noise that is drawn does not have standard deviation sigma": delta,
            "this is the delta of noise with standard deviation sigma squared; the matrix holds variances, and sigma stands where sigma squared belongs":
                gaussian_delta(epsilon, sigma=sigma**2, sensitivity=step),
            "the noise is right, but the step of a person in all k counts has length root k": gaussian_delta(epsilon, sigma=math.sqrt(sigma)),
            "the step of a person in all k counts has L2 length root k, not k": gaussian_delta(epsilon, sigma=math.sqrt(sigma), sensitivity=k),
        }
        for message, value in typical.items():
            if abs(got - value) <= 1e-6 * value:
                raise Wrong(f"{case}; {message}")
        if not 0 <= got <= 1:
            raise Wrong(f"{case}; a delta lies between 0 and 1")
        raise Wrong(f"{case}, {'too small: a larger one can be shown' if got < right else 'more than is needed'}; "
                    "which standard deviation does the drawn noise have?")
    return "the δ of the noise that is really drawn, at five settings"


@checker
def gau_scales(noise_scales):
    """`noise_scales(bounds, epsilon, delta)`: the standard deviations with the smallest total variance."""
    for bounds, epsilon, delta in (([1.0, 1.0, 1.0, 100.0], 1.0, 1e-5), ([3.0], 0.5, 1e-6), ([2.0] * 7, 2.0, 1e-3),
                                   ([0.01, 0.5, 4.0, 9.0, 30.0], 0.3, 1e-9), (list(range(1, 31)), 5.0, 1e-4)):
        a, one = np.array(bounds, dtype=float), gaussian_sigma(epsilon, delta=delta)
        case = f"{len(a)} bounds from {a.min():g} to {a.max():g}, epsilon = {epsilon:g}, delta = {delta:g}"
        got = numbers(answered(noise_scales, a.copy(), epsilon, delta), (len(a),), case)
        if got.min() <= 0:
            raise Wrong(f"{case}: an answer gets no noise (sigma = {got.min():g}); whoever moves it is seen")
        best = one * np.sqrt(a * a.sum())
        if np.allclose(got, best, rtol=1e-5, atol=0):
            continue
        if np.allclose(got, best**2, rtol=1e-5, atol=0):
            raise Wrong(f"{case}: these are the variances; standard deviations were asked")
        mu = math.sqrt(((a / got) ** 2).sum())
        if mu * one > 1 + 1e-6:
            raise Wrong(f"{case}: not private enough: mu = {mu:.4g}, and delta is {gaussian_delta(epsilon, sigma=1 / mu):.3g} at this epsilon")
        if mu * one < 1 - 1e-6:
            raise Wrong(f"{case}: private, but more noise than needed: mu = {mu:.4g} where {1 / one:.4g} is allowed")
        total, least = (got**2).sum(), (best**2).sum()
        if total < least * (1 + 1e-5):
            continue
        message = f"{case}: private, and mu is used up, but the total variance {total:.6g} can be brought down to {least:.6g}"
        if np.ptp(got) < 1e-6 * got.max():
            raise Wrong(f"{message}: equal noise gives too much to the small answers")
        if np.ptp(got / a) < 1e-6 * (got / a).max():
            raise Wrong(f"{message}: noise in proportion to the bounds gives too much to the large ones")
        raise Wrong(message)
    return "private, and no other choice has less total variance"
