"""Checkers of chapter 3: the Gaussian mechanism."""
import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dplib.mechanisms import gaussian_delta, gaussian_sigma, log_gaussian_delta
from provable_privacy.battery import CENTRE, Numbers, Pair, battery, looks_for, luck
from provable_privacy.battery.looks import entangled
from provable_privacy.battery.makers import noisy, normal, shared
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, checker, numbers

__all__ = ["gau_break", "gau_clip", "gau_covariance", "gau_crossover", "gau_scales", "gau_sigma"]


def _sigma(epsilon, delta, sensitivity=1.0):
    return gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity)


def _classic(epsilon, delta, constant=1.25):
    return math.sqrt(2 * math.log(constant / delta)) / epsilon


def _tail_sigma(epsilon, delta):
    """Smallest sigma with P(L > epsilon) <= delta, sensitivity 1."""
    z = -float(ndtri(delta))
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


# --------------------------------------------------------------------------------------------------- the smallest sigma

SIGMA_CASES = [(1, 1e-5, 1), (0.5, 1e-6, 1.0), (0.01, 1e-3, 2.5), (3.0, 1e-9, math.sqrt(24)), (10.0, 1e-5, 1.0),
               (0.1, 0.2, 0.05), (2.0, 1e-12, 300.0), (50.0, 1e-5, 1.0), (800.0, 1e-5, 1.0), (1000, 1e-9, 7)]
SIGMAS = {
    "this is the classic formula, which is a bound and holds in a range; the delta of Gaussian noise is known exactly":
        lambda e, d, s: s * _classic(e, d),
    "this is the classic formula with 1 for 1.25; the delta of Gaussian noise is known exactly":
        lambda e, d, s: s * _classic(e, d, 1.0),
    "this makes the loss stay below epsilon with probability 1 - delta, which is more than (epsilon, delta)-DP asks":
        lambda e, d, s: s * _tail_sigma(e, d),
    "the sensitivity was not used; sigma is proportional to it": lambda e, d, s: _sigma(e, d),
    "the noise must grow with the sensitivity, not shrink": lambda e, d, s: _sigma(e, d) / s,
    "this is the variance; sigma is a standard deviation": lambda e, d, s: _sigma(e, d, s) ** 2,
    "sigma is proportional to the sensitivity, not to its square": lambda e, d, s: _sigma(e, d) * s**2,
    "this is mu = sensitivity/sigma; sigma was asked": lambda e, d, s: 1 / _sigma(e, d),
}


def _delta_then(got, right, epsilon, delta, sensitivity):
    if got <= 0:
        return "sigma must be positive"
    if got > right:
        return "this is private, but less noise is enough; solve to a relative precision of 1e-6"
    true = gaussian_delta(epsilon, sigma=got, sensitivity=sensitivity)
    return f"then delta is {true:.6g}, more than promised: the smallest sufficient sigma is larger"


@checker
def gau_sigma(analytic_sigma):
    """`analytic_sigma(epsilon, delta, sensitivity)`: the smallest sufficient sigma."""
    on_cases(analytic_sigma, SIGMA_CASES, _sigma, SIGMAS, what="sigma", otherwise=_delta_then)
    return "the smallest sigma, to six digits, from ε = 0.01 to 1,000"


def _break(delta, constant=1.25):
    def above(epsilon):
        return log_gaussian_delta(_classic(epsilon, delta, constant), epsilon) - math.log(delta)

    return brentq(above, 1, 30)


def _tail_break(delta):
    c = _classic(1, delta)
    return 2 * c * (c + float(ndtri(delta)))


BREAKS = {
    "this is the range of the theorem's proof; the promise is kept far beyond it": lambda delta: 1.0,
    "here the tail P(L > epsilon) passes delta; the smallest delta is still smaller": _tail_break,
    "this is the breaking point with 1 in place of 1.25": lambda delta: _break(delta, 1.0),
    "this is right at delta = 1e-5; the breaking point depends on delta": lambda delta: _break(1e-5),
}


def _delta_there(got, right, delta):
    if got <= 0:
        return "a positive epsilon was asked"
    true = f"there the true delta is {gaussian_delta(got, sigma=_classic(got, delta)):.4g}"
    return f"{true}, and the promise still holds" if got < right else f"{true} already"


@checker
def gau_break(breaking_point):
    """`breaking_point(delta)`: the epsilon from which on the classic sigma is too small."""
    on_cases(breaking_point, [(delta,) for delta in (1e-5, 1e-2, 1e-3, 1e-9, 0.05, 1e-12)], _break, BREAKS,
             rtol=0, atol=0.01, what="epsilon", otherwise=_delta_there)
    return "the promise holds below it, and breaks above, for six δ"


# ------------------------------------------------------------------------------------------------ a sum of clipped rows

def _good(rows):
    return np.where(np.isfinite(rows).all(axis=1)[:, None], rows, 0.0)


def _length(rows, least=1e-300):
    return np.maximum(np.linalg.norm(rows, axis=1), least)[:, None]


def _clipped(rows, clip):
    rows = _good(rows)
    return rows * (clip / _length(rows, clip))


def _sum(total=lambda rows, clip: _clipped(rows, clip).sum(axis=0), law=normal):
    """The noisy sum, right unless told otherwise."""
    return noisy(lambda rows, clip, epsilon, delta: total(_good(rows), clip),
                 lambda rows, clip, epsilon, delta: _sigma(epsilon, delta, clip), law)


SUM = _sum()
SUMS = {
    "the rows are not clipped: one person can move the sum by more than `clip`, and the noise does not cover it":
        _sum(lambda r, c: r.sum(axis=0)),
    "each entry is clipped on its own; a row of d entries may then still have length clip times the root of d":
        _sum(lambda r, c: np.clip(r, -c, c).sum(axis=0)),
    "rows are clipped to L1 length `clip`; that is private, but shrinks rows that are short enough in L2":
        _sum(lambda r, c: (r * (c / np.maximum(np.abs(r).sum(axis=1), c))[:, None]).sum(axis=0)),
    "short rows are stretched to length `clip`; clipping only shrinks":
        _sum(lambda r, c: (r * c / _length(r)).sum(axis=0)),
    "rows that are too long are dropped; they should be shrunk to length `clip`":
        _sum(lambda r, c: r[_length(r)[:, 0] <= c].sum(axis=0)),
    "the sum was clipped, and not each row: then one person can turn the whole answer":
        _sum(lambda r, c: _clipped(r.sum(axis=0)[None], c)[0]),
    "this is the mean of the clipped rows; the sum was asked, and the number of rows is not public":
        _sum(lambda r, c: _clipped(r, c).sum(axis=0) / max(len(r), 1)),
    "all rows are shrunk by the factor of the longest row, so one person changes every other row":
        _sum(lambda r, c: (r * min(1, c / _length(r).max(initial=1e-300))).sum(axis=0)),
    "all rows are shrunk by the length of the whole table, so one person changes every other row. The norm of each "
    "row needs axis=1": _sum(lambda r, c: (r * min(1, c / max(np.linalg.norm(r), 1e-300))).sum(axis=0)),
    "one noise serves all entries, so their differences are exact": _sum(law=shared(normal)),
}


def _tables(what, rows, more, clip, epsilon, delta, **settings):
    """`rows`, and the same with the rows `more` at the end; allowed is the normal law's own curve, at three ε."""
    one = np.array(rows, dtype=float).reshape(-1, len(more[0]))
    two, sigma = np.concatenate([one, np.array(more, dtype=float)]), _sigma(epsilon, delta, clip)
    exact = [_clipped(table, clip).sum(axis=0) for table in (one, two)]
    far = len(more) * clip
    mu = far / sigma
    claims = tuple((e, gaussian_delta(e, sigma=sigma, sensitivity=far)) for e in (0.0, mu**2 / 2, mu**2 / 2 + mu))
    return Pair(what, (one, clip, epsilon, delta), (two, clip, epsilon, delta), claims, tuple(exact), within=sigma,
                share=0.64, **settings)


MIXED = np.random.default_rng(18).normal(size=(30, 4)) * np.geomspace(0.01, 30, 30)[:, None] + 0.3
STEPS = np.searchsorted([200, 240, 280, 300, 320, 340, 360, 380], np.arange(400), side="right")[:, None] / 8
LONG = np.tile([600.0, 800.0], (60, 1))
SHORT = np.full((1500, 1), 0.01)                 # whose own bound would lie far below the public one
NO_NUMBERS = np.full((1, 12), np.nan)
SUM_TABLES = [
    _tables("no rows / one long row", [], [[0.0, -50.0, 0.0]], 2.0, 2.0, 0.01, runs=2500, twice=900),
    _tables("five rows of zeros / the same and a long row", np.zeros((5, 3)), [[0.3, 0, 0]], 0.05, 3.0, 1e-3,
            runs=1200),
    _tables("30 rows, short and long / the same and one more", 100 * MIXED, [[300.0, 400, 0, 0]], 300.0, 20.0, 0.01,
            runs=1200),
    _tables("one row of NaN, twelve columns / the same and a long one", NO_NUMBERS, [[0.0] * 11 + [7.0]], 3.0, 2.0,
            0.01, runs=600),
    _tables("1,500 short rows / the same and a long one", SHORT, [[2.0]], 1.0, 5.0, 1e-3, runs=500,
            looks=("own",)),
    _tables("two rows / the same and one with a NaN", [[1.0, 2.0], [0.1, 0.0]], [[np.nan, 40.0]], 1.0, 1.0, 1e-5,
            runs=800),
    _tables("one row / the same and one with infinite entries", [[0.01, 0.02]], [[np.inf, -np.inf]], 50.0, 0.5, 1e-3,
            runs=800),
    _tables("60 rows a thousand times too long / the same and two more", LONG, LONG[:2], 1.0, 0.8, 1e-6, runs=600),
    _tables("400 rows, from zeros to 1 / the same and a long one", STEPS, [[1000.0]], 1.0, 4.0, 1e-3, runs=600),
    _tables("one row of zeros / the same and six rows one way", [[0.0]], 6 * [[9.0]], 1.0, 1.0, 1e-3, runs=2500),
]


CALLS, WIDTH = 100, 600                          # sixty thousand noises
ROOM = 0.02                                      # of their standard deviation: 6.9 standard errors
SPREADS = {                                      # words -> the standard deviation of such noise
    "there is no noise": lambda sigma, clip, epsilon, delta: 0.0,
    "this is the noise of the classic formula: more than needed at small epsilon, too little at large; calibrate "
    "exactly":
        lambda sigma, clip, epsilon, delta: clip * _classic(epsilon, delta),
    "the noise does not use the bound: its sigma is for sensitivity 1, and one person moves the sum by `clip`":
        lambda sigma, clip, *_: sigma / clip,
    "the noise has twice the sigma it needs; under add/remove one row comes or goes, none is replaced":
        lambda sigma, *_: 2 * sigma,
    "sigma squared was passed where a standard deviation belongs": lambda sigma, *_: sigma**2,
    "the root of sigma was used: sigma passed as a variance?": lambda sigma, *_: math.sqrt(sigma),
    "the sensitivity of d entries in L2 is `clip`, not clip times the root of d":
        lambda sigma, *_: sigma * math.sqrt(WIDTH),
    "the noise is made for the sensitivity clip times d, as if in L1; in L2 the sensitivity is `clip`":
        lambda sigma, *_: sigma * WIDTH,
    "the noise is divided by the number of entries; every entry needs sigma in full": lambda sigma, *_: sigma / WIDTH,
    "the noise is divided by the root of the number of entries; every entry needs sigma in full":
        lambda sigma, *_: sigma / math.sqrt(WIDTH),
}


def _spread(release, rows, clip, epsilon, delta):
    """`Wrong` unless many noises have the smallest sufficient sigma, the normal shape, and are independent."""
    sigma, rng = _sigma(epsilon, delta, clip), luck(17)
    case = f"{len(rows)} rows, {WIDTH} columns, clip = {clip:g}, epsilon = {epsilon:g}, delta = {delta:g}"
    noise = np.array([numbers(answered(release, rows.copy(), clip, epsilon, delta, rng), (WIDTH,), case)
                      for _ in range(CALLS)])
    noise -= noise.mean(axis=0)
    sd = math.sqrt(np.mean(noise**2) * CALLS / (CALLS - 1))
    if rng.centred:
        raise Wrong(CENTRE.format(rng.centred))
    if sd > 1e-9 * sigma and np.ptp(noise, axis=1).max() < 1e-6 * sd:
        raise Wrong(f"{case}: one noise serves all entries, and their differences are exact")
    if abs(sd / sigma - 1) < ROOM:
        if words := _unlike_normal(noise, sd):
            raise Wrong(f"{case}: {words}")
        return
    for message, value in SPREADS.items():
        value = value(sigma, clip, epsilon, delta)
        if abs(sd - value) <= ROOM * value + 1e-9 * sigma:
            raise Wrong(f"{case}: {message}")
    verdict = "too little" if sd < sigma else "more than needed"
    raise Wrong(f"{case}: the noise has standard deviation {sd:.3g} where {sigma:.4g} is needed: {verdict}")


def _unlike_normal(noise, sd):
    """What else is wrong with noises of the right spread, in words."""
    if abs(np.mean((noise / sd) ** 4) - 3) > 0.28:                              # seven standard errors
        return "the noise has the right spread but not the normal shape"
    if np.abs(noise).max() < 3.5 * sd:                                          # by chance with probability 1e-12
        return (f"none of {noise.size:,} noises is beyond 3.5 sigma. If noise is cut off, an answer that it cannot "
                "reach on one table is possible on the other")
    if together := entangled(noise):
        i, j = together
        return f"the noises of entry {i + 1} and entry {j + 1} go together; they must be independent"
    half = WIDTH // 2
    for what, one, two, less in (("entry", noise[:, 1:], noise[:, :-1], 0),
                                 ("entry", noise[:, half:], noise[:, :half], 0),
                                 ("release", noise[1:], noise[:-1], 2 / CALLS)):      # less: their mean is subtracted
        for x, y in ((one, two), (one**2 - sd**2, two**2 - sd**2)):
            error = math.sqrt(np.mean(x**2) * np.mean(y**2) / x.size)
            if abs(np.mean(x * y)) > 7 * error + less * np.mean(x**2):
                return f"the noise of one {what} depends on that of another; they must be independent"
    return ""


def _bad_rows_are_zeros(release):
    rows, rng = np.array([[0.5, 0.2], [np.nan, 40.0], [0.1, 0.0], [-30.0, np.inf]]), luck(19)
    got = [numbers(answered(release, table, 1.0, 1000.0, 0.1, rng), (2,), "four rows") for table in (rows, _good(rows))]
    if np.abs(got[0] - got[1]).max() > 0.4:                                     # sigma is 0.023
        raise Wrong("a row with a NaN or an infinite entry counts as zeros, the whole row. In your sum its other "
                    "entries still count")


@checker
@looks_for("contents", "small", "rare", order="one array comes out", zero="the law of the noise is prescribed",
           straddles="only the bound decides, and rows lie on both sides of it",
           far="only the bound decides, and rows lie far beyond it", quotient="sigma is prescribed to 2 %")
def gau_clip(release):
    """`release(rows, clip, epsilon, delta, rng)`: the sum of rows clipped in L2, with the smallest Gaussian noise."""
    for n, *case in ((2, 3.0, 50.0, 0.01), (0, 0.5, 0.05, 1e-10), (60, 7.0, 3.0, 1e-4)):
        _spread(release, np.full((n, WIDTH), 0.001 * n), *case)
    seen = battery(release, lambda pair: Numbers(pair.one[0].shape[1], "entry"), SUM_TABLES, mistakes=SUMS, right=SUM,
                   seed=17)
    _bad_rows_are_zeros(release)
    return f"rows clipped, noise of the smallest sigma (to 2 %); {seen}"


# ------------------------------------------------------------------------------------------------- Laplace or Gaussian?

CROSSOVERS = [(1, 1e-5), (0.1, 1e-5), (4.0, 1e-5), (1.0, 1e-9), (0.5, 1e-3), (2.0, 1e-7), (8.0, 1e-6)]


def _crossover(epsilon, delta, squared=lambda e, d: (_sigma(e, d) * e) ** 2 / 2):
    """The first whole number above the square, for one count, of Gaussian noise in units of Laplace noise."""
    return math.floor(squared(epsilon, delta)) + 1


LARGER = {
    "this compares sigma with the scale b of Laplace noise; its standard deviation is the root of 2 times b":
        lambda e, d: _crossover(e, d, lambda e, d: (_sigma(e, d) * e) ** 2),
    "this is the crossover with the classic formula; calibrate exactly":
        lambda e, d: _crossover(e, d, lambda e, d: (_classic(e, d) * e) ** 2 / 2),
    "this uses the sigma of one count for all m; in L2 it grows like the root of m":
        lambda e, d: _crossover(e, d, lambda e, d: _sigma(e, d) * e / math.sqrt(2)),
    "a whole number of counts was asked": lambda e, d: (_sigma(e, d) * e) ** 2 / 2,
    "this is the last m for which Laplace noise is the better one": lambda e, d: _crossover(e, d) - 1,
}


def _deviations(m, right, epsilon, delta):
    if m < 1 or m != int(m):
        return "a whole number of counts, at least 1, was asked"
    laplace, gaussian = math.sqrt(2) * m / epsilon, _sigma(epsilon, delta) * math.sqrt(m)
    return (f"at this m the standard deviations are {laplace:.4g} (Laplace) and {gaussian:.4g} (Gaussian)"
            + ("" if m < right else ", but a smaller m is enough"))


@checker
def gau_crossover(crossover):
    """`crossover(epsilon, delta)`: smallest m with a smaller standard deviation for the Gaussian."""
    on_cases(crossover, CROSSOVERS, lambda epsilon, delta: _crossover(epsilon, delta), LARGER, rtol=1e-9, what="m",
             otherwise=_deviations)
    return "less noise from there on, and not before, for seven (ε, δ)"


# ------------------------------------------------------------------------------------------- a variance for a deviation

COVARIANCES = [(24, 1.0, 1e-5), (1, 1.0, 1e-5), (400, 0.5, 1e-6), (6, 3.0, 1e-3), (1, 20.0, 1e-5)]


def _kept(k, epsilon, delta, drawn=math.sqrt, length=math.sqrt):
    """The delta of noise of standard deviation drawn(sigma), for a step of this length."""
    return gaussian_delta(epsilon, sigma=drawn(_sigma(epsilon, delta, math.sqrt(k))), sensitivity=length(k))


DRAWN = {
    "this is the promised delta; the noise that is drawn does not have standard deviation sigma": lambda k, e, d: d,
    "this is the delta of noise with standard deviation sigma squared; the matrix holds variances, and sigma stands "
    "where sigma squared belongs": lambda k, e, d: _kept(k, e, d, drawn=lambda sigma: sigma**2),
    "the noise is right, but the step of a person in all k counts has length root k":
        lambda k, e, d: _kept(k, e, d, length=lambda k: 1.0),
    "the step of a person in all k counts has L2 length root k, not k": lambda k, e, d: _kept(k, e, d, length=float),
}


def _which(got, right, *case):
    if not 0 <= got <= 1:
        return "a delta lies between 0 and 1"
    return (("this is too small, and a larger one can be shown" if got < right else "this is more than is needed")
            + "; which standard deviation does the drawn noise have?")


@checker
def gau_covariance(honest_delta):
    """`honest_delta(k, epsilon, delta)`: the delta that noise of variance sigma really has."""
    on_cases(honest_delta, COVARIANCES, lambda k, epsilon, delta: _kept(k, epsilon, delta), DRAWN, what="delta",
             otherwise=_which)
    return "the δ of the noise that is really drawn, at five settings"


# ------------------------------------------------------------------------------------------------- noise for each bound

SCALES = [(np.array(bounds, dtype=float), epsilon, delta) for bounds, epsilon, delta in (
    ([1, 1, 1, 100], 1.0, 1e-5), ([3], 0.5, 1e-6), ([2] * 7, 2.0, 1e-3), ([0.01, 0.5, 4, 9, 30], 0.3, 1e-9),
    (range(1, 31), 5.0, 1e-4))]


def _scales(bounds, epsilon, delta):
    return _sigma(epsilon, delta) * np.sqrt(bounds * bounds.sum())


UNEVEN = {
    "these are the variances; standard deviations were asked": lambda a, e, d: _scales(a, e, d) ** 2,
    "private, but its total variance is not the smallest: equal noise gives too much to the small answers":
        lambda a, e, d: np.full(len(a), _sigma(e, d, np.linalg.norm(a))),
    "private, but its total variance is not the smallest: noise in proportion to the bounds gives too much to the "
    "large ones": lambda a, e, d: _sigma(e, d) * a * math.sqrt(len(a)),
}


def _shares(sds, bounds, epsilon, delta):
    """(mu, mu that is allowed) of these standard deviations."""
    return math.sqrt(((bounds / sds) ** 2).sum()), 1 / _sigma(epsilon, delta)


def _as_good(got, best, *case):
    """What a numerical minimiser finds may be a little off."""
    if got.min() <= 0:
        return False
    mu, allowed = _shares(got, *case)
    return abs(mu / allowed - 1) < 1e-6 and (got**2).sum() < (best**2).sum() * (1 + 1e-5)


def _too_much(got, best, bounds, epsilon, delta):
    if got.min() <= 0:
        return f"an answer gets no noise (sigma = {got.min():g}); anyone who moves it is seen"
    mu, allowed = _shares(got, bounds, epsilon, delta)
    if mu > allowed * (1 + 1e-6):
        true = gaussian_delta(epsilon, sigma=1 / mu)
        return f"not private enough: mu = {mu:.4g}, and delta is {true:.3g} at this epsilon"
    if mu < allowed * (1 - 1e-6):
        return f"private, but more noise than needed: mu = {mu:.4g} where {allowed:.4g} is allowed"
    return f"private, but the total variance is {(got**2).sum():.6g}, and {(best**2).sum():.6g} is enough"


@checker
def gau_scales(noise_scales):
    """`noise_scales(bounds, epsilon, delta)`: the standard deviations with the smallest total variance."""
    on_cases(noise_scales, SCALES, _scales, UNEVEN, rtol=1e-5, shape=lambda bounds, *_: (len(bounds),),
             what="the standard deviations", accepts=_as_good, otherwise=_too_much,
             show=lambda a, epsilon, delta:
             f"{len(a)} bounds from {a.min():g} to {a.max():g}, epsilon = {epsilon:g}, delta = {delta:g}")
    return "private, and no other choice has less total variance"
