"""Answers to the exercises of the section on the Gaussian mechanism."""
import math
from functools import partial

import checking
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dplib import mechanisms
from provable_privacy import check
from provable_privacy.battery.makers import (
    clipped,
    fixed_seed,
    given,
    laplace,
    noisy,
    normal,
    own_luck,
    same_size,
    shared,
    then,
    where,
)


def sigma_of(epsilon, delta, sensitivity=1.0):
    return mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity)


def classic(epsilon, delta, sensitivity=1.0, constant=1.25):
    return sensitivity / epsilon * math.sqrt(2 * math.log(constant / delta))


def by_bisection(epsilon, delta, sensitivity):
    """Right, and not by dplib's way of solving; a numpy scalar is returned."""
    low, high = np.float64(1e-9), np.float64(1e6)
    for _ in range(200):
        middle = math.sqrt(low * high)
        too_small = mechanisms.log_gaussian_delta(middle, epsilon) > math.log(delta)
        low, high = (middle, high) if too_small else (low, middle)
    return np.float64(high * sensitivity)


def tail_sigma(epsilon, delta, sensitivity):
    z = -ndtri(delta)
    return sensitivity * (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def breaking(delta, constant=1.25):
    def over(epsilon):
        return mechanisms.log_gaussian_delta(classic(epsilon, delta, constant=constant), epsilon) - math.log(delta)

    return brentq(over, 1, 30)


def breaking_of_the_tail(delta):
    c = classic(1, delta)
    return 2 * c * (c + ndtri(delta))


# ------------------------------------------------------------------------------------------------------------- gau_clip

def good(rows):
    return np.where(np.isfinite(rows).all(axis=1)[:, None], rows, 0.0)


def lengths(rows):
    return np.linalg.norm(rows, axis=1)[:, None]


def short(rows, clip):
    return rows * (clip / np.maximum(lengths(rows), clip))


def exact(rows, clip, epsilon, delta):
    return short(good(rows), clip).sum(axis=0)


def release(rows_of=short, *, sigma=sigma_of, law=normal, good=good):
    """A learner's release, right unless told otherwise: the sum of `rows_of(rows, clip)`."""
    return noisy(lambda rows, clip, epsilon, delta: rows_of(good(rows), clip).sum(axis=0),
                 lambda rows, clip, epsilon, delta: sigma(epsilon, delta, clip), law)


def longest(rows, clip, epsilon, delta):
    """The sigma of the longest row of this table."""
    return sigma_of(epsilon, delta, min(clip, lengths(rows).max(initial=1e-9)))


def times(factor, law=normal):
    return release(sigma=lambda *given: factor * sigma_of(*given), law=law)


def times_width(power):
    return release(law=lambda rng, scale, shape: normal(rng, scale * shape[0] ** power, shape))


def only_where(factor):
    """Noise times `factor(rows, exact)`, 0 on some tables or entries."""
    return noisy(exact, lambda *given: sigma_of(*given[2:], given[1]) * factor(given[0], exact(*given)), normal)


def clipped_at(bound):
    """Clips at a bound that is computed from the lengths of all rows."""
    return release(lambda rows, clip: short(rows, min(clip, max(bound(lengths(rows)), 1e-300))) if len(rows) else rows)


def by_loop(rows, clip, epsilon, delta, rng):
    """A list, by the long way, with Gaussian noise from dplib."""
    total = [0.0] * rows.shape[1]
    for row in rows.tolist():
        if not all(math.isfinite(x) for x in row):
            continue
        length = math.sqrt(sum(x * x for x in row))
        total = [t + x * (clip / length if length > clip else 1) for t, x in zip(total, row, strict=True)]
    return list(mechanisms.gaussian(total, sensitivity=clip, epsilon=epsilon, delta=delta, rng=rng))


def without_the_bad(rows):
    """Left out, which is the same as zeros."""
    return rows[np.isfinite(rows).all(axis=1)]


def spoils_the_table(rows, *rest):
    rows *= 0.5
    return RELEASE(rows, *rest)


def remembering():
    """Every second release has the noise of the one before, with the opposite sign and a trace of its own."""
    last = []

    def law(rng, scale, shape):
        if last:
            return -last.pop() * (1 + 1e-6 * rng.random()) * scale
        last.append(rng.normal(size=shape))
        return last[0] * scale

    return law


def in_pairs(rng, scale, shape):
    half = rng.normal(scale=scale, size=shape[0] // 2)
    return np.concatenate([half, half * (1 + 1e-6 * rng.random(half.size))])


def of_one_sign(rng, scale, shape):
    """Every second noise has the sign of the one before."""
    signs = np.repeat(rng.choice([-1, 1], shape[0] // 2 + 1), 2)[: shape[0]]
    return np.abs(normal(rng, scale, shape)) * signs


def zero_sum(rng, scale, shape):
    noise = normal(rng, scale, shape)
    return noise - noise.mean() if noise.size > 1 else noise


RELEASE = release()


# ------------------------------------------------------------------------- gau_crossover, gau_covariance and gau_scales

def crossover(epsilon, delta, gaussian=lambda epsilon, delta, m: sigma_of(epsilon, delta, math.sqrt(m))):
    return next(m for m in range(1, 1000) if gaussian(epsilon, delta, m) < math.sqrt(2) * m / epsilon)


def honest(k, epsilon, delta, spread=math.sqrt, length=math.sqrt):
    """The delta of noise whose variance should have been its standard deviation, for rows of this length."""
    sigma = spread(sigma_of(epsilon, delta, math.sqrt(k)))
    return mechanisms.gaussian_delta(epsilon, sigma=sigma, sensitivity=length(k))


def scales(bounds, epsilon, delta):
    return sigma_of(epsilon, delta) * np.sqrt(bounds * np.sum(bounds))


def nearly_best(bounds, epsilon, delta):
    """What a numerical minimiser finds: a little off, and just private enough."""
    got = scales(bounds, epsilon, delta) * (1 + 1e-4 * np.cos(np.arange(len(bounds))))
    return got * math.sqrt(np.sum((np.asarray(bounds) / got) ** 2)) * sigma_of(epsilon, delta)


SOLUTIONS = [
    (check.gau_sigma, lambda seed: by_bisection),
    (check.gau_break, lambda seed: breaking),
    (check.gau_clip, own_luck(RELEASE)),
    (check.gau_crossover, lambda seed: crossover),
    (check.gau_covariance, lambda seed: honest),
    (check.gau_scales, lambda seed: scales),
]

UNUSUAL = [
    (check.gau_sigma, sigma_of),
    (check.gau_break, lambda delta: round(breaking(delta), 2)),
    (check.gau_clip, by_loop),
    (check.gau_clip, given(RELEASE, rows=without_the_bad)),
    (check.gau_clip, release(law=lambda rng, scale, shape: np.array([rng.normal(0, scale) for _ in range(*shape)]))),
    (check.gau_clip, checking.seeded(lambda seed: then(own_luck(RELEASE)(seed), lambda out, *_: np.round(out, 3)))),
    (check.gau_clip, release(law=lambda rng, scale, n: scale * ndtri((rng.integers(0, 2**53, n) + 0.5) / 2**53))),
    (check.gau_crossover, lambda epsilon, delta: float(crossover(epsilon, delta))),
    (check.gau_crossover, lambda epsilon, delta: np.int64(crossover(epsilon, delta))),
    (check.gau_scales, lambda bounds, epsilon, delta: list(scales(bounds, epsilon, delta))),
    (check.gau_scales, nearly_best),
]

WRONG = [
    (check.gau_sigma, classic, "classic formula, which is a bound"),
    (check.gau_sigma, partial(classic, constant=1.0), "1 for 1.25"),
    (check.gau_sigma, tail_sigma, "with probability 1 - delta"),
    (check.gau_sigma, lambda e, d, s: sigma_of(e, d), "sensitivity was not used"),
    (check.gau_sigma, lambda e, d, s: s**2 * sigma_of(e, d), "not to its square"),
    (check.gau_sigma, lambda e, d, s: sigma_of(e, d) / s, "grow with the sensitivity"),
    (check.gau_sigma, lambda e, d, s: sigma_of(e, d, s) ** 2, "this is the variance"),
    (check.gau_sigma, lambda e, d, s: 1 / sigma_of(e, d), "this is mu"),
    (check.gau_sigma, lambda e, d, s: 0.999 * sigma_of(e, d, s), "more than promised"),
    (check.gau_sigma, lambda e, d, s: 1.001 * sigma_of(e, d, s), "less noise is enough"),
    (check.gau_sigma, lambda e, d, s: sigma_of(e, d, s) if e < 700 else math.nan, "finite number"),
    (check.gau_sigma, lambda e, d, s: -1.0, "must be positive"),
    (check.gau_sigma, lambda e, d, s: "three", "expected a number"),
    (check.gau_break, lambda delta: 1.0, "range of the theorem"),
    (check.gau_break, lambda delta: 8.42, "depends on delta"),
    (check.gau_break, breaking_of_the_tail, "the smallest delta is still smaller"),
    (check.gau_break, lambda delta: breaking(delta, 1.0), "1 in place of 1.25"),
    (check.gau_break, lambda delta: 7.0, "still holds"),
    (check.gau_break, lambda delta: 12.0, "already"),
    (check.gau_break, lambda delta: -1, "positive epsilon"),
    (check.gau_clip, release(lambda rows, clip: rows), "not clipped"),
    (check.gau_clip, release(lambda rows, clip: np.clip(rows, -clip, clip)), "each entry is clipped"),
    (check.gau_clip, release(lambda rows, clip: rows * (clip / np.maximum(np.abs(rows).sum(1), clip))[:, None]),
     "L1 length"),
    (check.gau_clip, release(lambda rows, clip: rows[lengths(rows)[:, 0] <= clip]), "dropped"),
    (check.gau_clip, release(lambda rows, clip: short(rows, clip) / max(len(rows), 1)), "mean"),
    (check.gau_clip, release(lambda rows, clip: short(rows.sum(axis=0)[None], clip)), "the sum was clipped"),
    (check.gau_clip, release(lambda rows, clip: rows / max(1, np.linalg.norm(rows) / clip)), "axis=1"),
    (check.gau_clip, release(lambda rows, clip: rows / max([1, *lengths(rows) / clip])), "the factor of the longest"),
    (check.gau_clip, release(lambda rows, clip: rows * (clip / np.maximum(lengths(rows), 1e-300))), "stretched"),
    (check.gau_clip, then(RELEASE, lambda out, table, rng: out + 3 * table[1]), "within"),
    (check.gau_clip, release(sigma=classic), "classic formula"),
    (check.gau_clip, release(sigma=lambda e, d, c: sigma_of(e, d)), "does not use the bound"),
    (check.gau_clip, times(2), "twice the sigma"),
    (check.gau_clip, release(sigma=lambda *given: sigma_of(*given) ** 2), "sigma squared"),
    (check.gau_clip, release(sigma=lambda *given: math.sqrt(sigma_of(*given))), "root of sigma"),
    (check.gau_clip, times(0.95), "too little"),
    (check.gau_clip, times(1.05), "more than needed"),
    (check.gau_clip, times_width(-0.5), "root of the number"),
    (check.gau_clip, times_width(-1), "by the number of entries"),
    (check.gau_clip, times_width(0.5), "the root of d"),
    (check.gau_clip, times_width(1), "as if in L1"),
    (check.gau_clip, times(0), "there is no noise"),
    (check.gau_clip, release(law=shared(normal)), "one noise serves all entries"),
    (check.gau_clip, release(law=lambda rng, scale, shape: rng.normal(scale, size=shape)), "write scale="),
    (check.gau_clip, times(0.5**0.5, laplace), "normal shape"),
    (check.gau_clip, times(3**0.5, lambda rng, scale, shape: scale * rng.uniform(-1, 1, shape)), "normal shape"),
    (check.gau_clip, release(law=clipped(3, normal)), "beyond 3.5 sigma"),
    (check.gau_clip, given(RELEASE, rows=lambda rows: np.nan_to_num(rows, posinf=0, neginf=0)), "the whole row"),
    (check.gau_clip, release(good=lambda rows: rows), "finite"),
    (check.gau_clip,
     release(lambda r, clip: r / lengths(r) * np.minimum(clip, lengths(r)), good=without_the_bad), "finite"),
    (check.gau_clip, spoils_the_table, "changes the table"),
    (check.gau_clip, lambda rows, clip, epsilon, delta, rng: 3.0, "expected 600 numbers"),
    (check.gau_clip, 3.0, "expected a function"),
    (check.gau_crossover, lambda e, d: math.floor((sigma_of(e, d) * e) ** 2) + 1, "root of 2 times b"),
    (check.gau_crossover, lambda e, d: math.floor((classic(e, d) * e) ** 2 / 2) + 1, "classic formula"),
    (check.gau_crossover, lambda e, d: crossover(e, d) - 1, "the last m"),
    (check.gau_crossover, lambda e, d: (sigma_of(e, d) * e) ** 2 / 2, "whole number"),
    (check.gau_crossover, lambda e, d: crossover(e, d, lambda e, d, m: sigma_of(e, d)), "sigma of one count for all m"),
    (check.gau_crossover, lambda e, d: 7, "smaller m is enough"),
    (check.gau_crossover, lambda e, d: 2, "at this m"),
    (check.gau_crossover, lambda e, d: 0, "at least 1, was asked"),
    (check.gau_covariance, lambda k, e, d: d, "promised delta"),
    (check.gau_covariance, lambda k, e, d: honest(k, e, d, spread=np.square), "holds variances"),
    (check.gau_covariance, lambda k, e, d: honest(k, e, d, length=lambda k: 1), "has length root k"),
    (check.gau_covariance, lambda k, e, d: honest(k, e, d, length=lambda k: k), "root k, not k"),
    (check.gau_covariance, lambda k, e, d: 0.5, "more than is needed"),
    (check.gau_covariance, lambda k, e, d: 2.0, "between 0 and 1"),
    (check.gau_scales, lambda b, e, d: np.full(len(b), sigma_of(e, d, np.linalg.norm(b))), "equal noise"),
    (check.gau_scales, lambda b, e, d: b * math.sqrt(len(b)) * sigma_of(e, d), "in proportion to the bounds"),
    (check.gau_scales, lambda b, e, d: scales(b, e, d) ** 2, "standard deviations were asked"),
    (check.gau_scales, lambda b, e, d: b * sigma_of(e, d), "not private enough"),
    (check.gau_scales, lambda b, e, d: 1.01 * scales(b, e, d), "more noise than needed"),
    (check.gau_scales, lambda b, e, d: np.where(b < 2, 0, scales(b, e, d)), "gets no noise"),
    (check.gau_scales, lambda b, e, d: scales(b, e, d).sum(), "numbers"),
]

LEAKS = [
    (check.gau_clip, release(law=shared(normal))),
    (check.gau_clip, release(law=zero_sum)),
    (check.gau_clip, release(law=in_pairs)),
    (check.gau_clip, release(law=same_size(normal))),
    (check.gau_clip, release(law=remembering())),
    (check.gau_clip, fixed_seed(RELEASE)),
    (check.gau_clip, noisy(exact, longest, normal)),
    (check.gau_clip, release(good=lambda rows: rows)),
    (check.gau_clip, only_where(lambda rows, exact: exact != 0)),
    (check.gau_clip, only_where(lambda rows, exact: len(rows) > 0)),
    (check.gau_clip, only_where(lambda rows, exact: len(rows) != 1)),
    (check.gau_clip, only_where(lambda rows, exact: exact.size > 100)),
    (check.gau_clip, only_where(lambda rows, exact: 1 - (len(rows) > 50) / 2)),
    (check.gau_clip, only_where(lambda rows, exact: 0.5 if exact.size < 100 else 1)),
    (check.gau_clip, only_where(lambda rows, exact: np.arange(exact.size) > 0)),
    (check.gau_clip, release(law=clipped(2, normal))),
    (check.gau_clip, given(RELEASE, rows=lambda rows: rows[:50])),
    (check.gau_clip, clipped_at(np.mean)),
    (check.gau_clip, clipped_at(np.median)),
    *((check.gau_clip, clipped_at(partial(np.quantile, q=q))) for q in (0.75, 0.9, 0.95, 0.99)),
    (check.gau_clip, only_where(lambda rows, exact: not len(rows) or np.isfinite(rows).all(axis=1).any())),  # missing
    (check.gau_clip, where(lambda *case: case[2] > 21, times(0.5), RELEASE)),           # large
    (check.gau_clip, given(RELEASE, epsilon=lambda epsilon: max(epsilon, 0.4))),        # small
    (check.gau_clip, given(RELEASE, delta=lambda delta: max(delta, 1e-8))),
    (check.gau_clip, release(law=of_one_sign)),                                         # shared
    (check.gau_clip, release(law=lambda rng, scale, n: (of_one_sign if n[0] < 10 else normal)(rng, scale, n))),
    (check.gau_clip, release(law=lambda rng, scale, n: np.resize(normal(rng, scale, (200,)), n) if n[0] > 200 else
                             normal(rng, scale, n))),
    (check.gau_clip, release(lambda rows, clip: short(rows, clip) if clip > 0.4 else rows)),                 # far
    (check.gau_clip, release(lambda rows, clip: short(rows, min(clip, 50)))),
    (check.gau_clip, only_where(lambda rows, exact: len(rows) < 500)),                  # size
    (check.gau_clip, then(RELEASE, lambda out, t, rng: out if len(t[0]) else list(out))),                    # type
]
