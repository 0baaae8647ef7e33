"""The checkers of the section on the Gaussian mechanism: silent on the stub, content with the solution, able to say what is wrong."""
import math

import checking
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dplib import mechanisms
from provable_privacy import check


def classic(epsilon, delta, sensitivity=1.0, constant=1.25):
    return sensitivity / epsilon * math.sqrt(2 * math.log(constant / delta))


def by_bisection(epsilon, delta, sensitivity):
    """Right, and not by dplib's way of solving; a numpy scalar is returned."""
    low, high = np.float64(1e-9), np.float64(1e6)
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if mechanisms.log_gaussian_delta(middle, epsilon) > math.log(delta) else (low, middle)
    return np.float64(high * sensitivity)


def tail_sigma(epsilon, delta, sensitivity):
    z = -ndtri(delta)
    return sensitivity * (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def breaking(delta, constant=1.25):
    return brentq(lambda e: mechanisms.log_gaussian_delta(classic(e, delta, constant=constant), e) - math.log(delta), 1, 30)


def breaking_of_the_tail(delta):
    c = classic(1, delta)
    return 2 * c * (c + ndtri(delta))


def clipped(rows, clip):
    rows = np.where(np.isfinite(rows).all(axis=1)[:, None], rows, 0.0)
    return rows * (clip / np.maximum(np.linalg.norm(rows, axis=1), clip))[:, None]


def scale_of(epsilon, delta, sensitivity):
    return mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity)


def release(sum_of=lambda rows, clip: clipped(rows, clip).sum(axis=0), *, sigma=None, draw=None, seed=None):
    """A learner's release, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(rows, clip, epsilon, delta, rng):
        rng, scale = own or rng, (sigma or scale_of)(epsilon, delta, clip)
        noise = rng.normal(scale=scale, size=rows.shape[1]) if draw is None else draw(rng, scale, rows)
        return sum_of(np.where(np.isfinite(rows).all(axis=1)[:, None], rows, 0.0), clip) + noise

    return function


def by_loop(rows, clip, epsilon, delta, rng):
    """A list, by the long way, with Gaussian noise from dplib."""
    total = [0.0] * rows.shape[1]
    for row in rows.tolist():
        if not all(math.isfinite(x) for x in row):
            continue
        length = math.sqrt(sum(x * x for x in row))
        total = [t + x * (clip / length if length > clip else 1) for t, x in zip(total, row, strict=True)]
    return list(mechanisms.gaussian(total, sensitivity=clip, epsilon=epsilon, delta=delta, rng=rng))


def seed_inside(rows, clip, epsilon, delta, rng):
    return release(seed=4)(rows, clip, epsilon, delta, rng)


def data_bound(rows, clip, epsilon, delta, rng):
    """Calibrates to the longest row of this table instead of the public bound."""
    longest = min(clip, np.linalg.norm(rows, axis=1).max(initial=1e-9))
    return release(sigma=lambda e, d, c: mechanisms.gaussian_sigma(e, delta=d, sensitivity=longest))(rows, clip, epsilon, delta, rng)


def clipped_at(bound):
    """Clips at a bound that is computed from the lengths of all rows."""
    def total(rows, clip):
        return clipped(rows, min(clip, max(bound(np.linalg.norm(rows, axis=1)), 1e-300))).sum(axis=0) if len(rows) else rows.sum(axis=0)

    return release(total)


def divides_by_zero(rows, clip, epsilon, delta, rng):
    rows = rows[np.isfinite(rows).all(axis=1)]
    length = np.linalg.norm(rows, axis=1)
    return release(lambda r, c: (r * np.minimum(1, c / length * (length / length))[:, None]).sum(axis=0))(rows, clip, epsilon, delta, rng)


def without_the_bad(rows, clip, epsilon, delta, rng):
    """Rows that are not finite are left out, which is the same as zeros."""
    return release()(rows[np.isfinite(rows).all(axis=1)], clip, epsilon, delta, rng)


def keeps_nan(rows, clip, epsilon, delta, rng):
    length = np.linalg.norm(rows, axis=1)
    sigma = mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=clip)
    return (rows * (clip / np.maximum(length, clip))[:, None]).sum(axis=0) + rng.normal(scale=sigma, size=rows.shape[1])


def only_where(condition):
    """Noise only on the tables, or entries, where the condition holds."""
    def function(rows, clip, epsilon, delta, rng):
        exact = clipped(rows, clip).sum(axis=0)
        return exact + rng.normal(scale=mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=clip), size=exact.size) * condition(rows, exact)

    return function


def rounded(make):
    return lambda *arguments: np.round(make(*arguments), 3)


def same_size(rng, scale, rows):
    return rng.normal(scale=scale) * rng.choice([-1, 1], rows.shape[1])


def spoils_the_table(rows, clip, epsilon, delta, rng):
    rows *= 0.5
    return release()(rows, clip, epsilon, delta, rng)


def remembering():
    """Every second release has the noise of the one before, with the opposite sign and a trace of its own."""
    last = []

    def function(rows, clip, epsilon, delta, rng):
        z = -last.pop() * (1 + 1e-6 * rng.random()) if last else rng.normal(size=rows.shape[1])
        if not function.repeats:
            last.append(z)
        function.repeats = not function.repeats
        return clipped(rows, clip).sum(axis=0) + z * mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=clip)

    function.repeats = False
    return function


def in_pairs(rng, scale, rows):
    half = rng.normal(scale=scale, size=rows.shape[1] // 2)
    return np.concatenate([half, half * (1 + 1e-6 * rng.random(half.size))])


def zero_sum(rng, scale, rows):
    noise = rng.normal(scale=scale, size=rows.shape[1])
    return noise - noise.mean() if noise.size > 1 else noise


def nearly_best(bounds, epsilon, delta):
    """What a numerical minimiser finds: a little off, and just private enough."""
    got = scales(bounds, epsilon, delta) * (1 + 1e-4 * np.cos(np.arange(len(bounds))))
    return got * math.sqrt(np.sum((np.asarray(bounds) / got) ** 2)) * mechanisms.gaussian_sigma(epsilon, delta=delta)


def crossover(epsilon, delta):
    return next(m for m in range(1, 1000) if mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=math.sqrt(m)) < math.sqrt(2) * m / epsilon)


def honest(k, epsilon, delta, spread=math.sqrt, length=math.sqrt):
    """The delta that is kept by noise of the variance that should have been its standard deviation, for rows of this length."""
    sigma = spread(mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=math.sqrt(k)))
    return mechanisms.gaussian_delta(epsilon, sigma=sigma, sensitivity=length(k))


def scales(bounds, epsilon, delta):
    return mechanisms.gaussian_sigma(epsilon, delta=delta) * np.sqrt(bounds * np.sum(bounds))


def equal(bounds, epsilon, delta):
    return np.full(len(bounds), mechanisms.gaussian_sigma(epsilon, delta=delta, sensitivity=np.linalg.norm(bounds)))


SOLUTIONS = [
    (check.gau_sigma, lambda seed: by_bisection),
    (check.gau_break, lambda seed: breaking),
    (check.gau_clip, lambda seed: release(seed=seed)),
    (check.gau_crossover, lambda seed: crossover),
    (check.gau_covariance, lambda seed: honest),
    (check.gau_scales, lambda seed: scales),
]

UNUSUAL = [
    (check.gau_sigma, scale_of),
    (check.gau_break, lambda delta: round(breaking(delta), 2)),
    (check.gau_clip, by_loop),
    (check.gau_clip, without_the_bad),
    (check.gau_clip, release(draw=lambda rng, scale, rows: np.array([rng.normal(0, scale) for _ in range(rows.shape[1])]))),
    (check.gau_clip, checking.seeded(lambda seed: rounded(release(seed=seed)))),
    (check.gau_clip, release(draw=lambda rng, scale, rows: scale * ndtri((rng.integers(0, 2**53, rows.shape[1]) + 0.5) / 2**53))),
    (check.gau_crossover, lambda epsilon, delta: float(crossover(epsilon, delta))),
    (check.gau_crossover, lambda epsilon, delta: np.int64(crossover(epsilon, delta))),
    (check.gau_scales, lambda bounds, epsilon, delta: list(scales(bounds, epsilon, delta))),
    (check.gau_scales, nearly_best),
]

WRONG = [
    (check.gau_sigma, classic, "classic formula, a bound"),
    (check.gau_sigma, lambda e, d, s: classic(e, d, s, 1.0), "1 for 1.25"),
    (check.gau_sigma, tail_sigma, "with probability 1 - delta"),
    (check.gau_sigma, lambda e, d, s: mechanisms.gaussian_sigma(e, delta=d), "sensitivity was not used"),
    (check.gau_sigma, lambda e, d, s: s**2 * mechanisms.gaussian_sigma(e, delta=d), "not to its square"),
    (check.gau_sigma, lambda e, d, s: mechanisms.gaussian_sigma(e, delta=d, sensitivity=s) ** 2, "this is the variance"),
    (check.gau_sigma, lambda e, d, s: 0.999 * mechanisms.gaussian_sigma(e, delta=d, sensitivity=s), "more than promised"),
    (check.gau_sigma, lambda e, d, s: 1.001 * mechanisms.gaussian_sigma(e, delta=d, sensitivity=s), "less noise will do"),
    (check.gau_sigma, lambda e, d, s: mechanisms.gaussian_sigma(e, delta=d, sensitivity=s) if e < 700 else math.nan, "finite number"),
    (check.gau_sigma, lambda e, d, s: -1.0, "must be positive"),
    (check.gau_sigma, lambda e, d, s: "three", "expected a number"),
    (check.gau_break, lambda delta: 1.0, "range of the theorem"),
    (check.gau_break, lambda delta: 8.42, "depends on delta"),
    (check.gau_break, breaking_of_the_tail, "the smallest delta is still smaller"),
    (check.gau_break, lambda delta: breaking(delta, 1.0), "1 in place of 1.25"),
    (check.gau_break, lambda delta: 7.0, "still holds"),
    (check.gau_break, lambda delta: 12.0, "already"),
    (check.gau_break, lambda delta: -1, "positive epsilon"),
    (check.gau_clip, release(lambda rows, clip: rows.sum(axis=0)), "not clipped"),
    (check.gau_clip, release(lambda rows, clip: np.clip(rows, -clip, clip).sum(axis=0)), "each entry is clipped"),
    (check.gau_clip, release(lambda rows, clip: (rows * np.minimum(1, clip / np.maximum(np.abs(rows).sum(axis=1), 1e-9))[:, None]).sum(axis=0)), "L1 length"),
    (check.gau_clip, release(lambda rows, clip: rows[np.linalg.norm(rows, axis=1) <= clip].sum(axis=0)), "dropped"),
    (check.gau_clip, release(lambda rows, clip: clipped(rows, clip).sum(axis=0) / max(len(rows), 1)), "mean"),
    (check.gau_clip, release(lambda rows, clip: clipped(rows.sum(axis=0)[None], clip)[0]), "the sum was clipped"),
    (check.gau_clip, release(lambda rows, clip: (rows / max(1, np.linalg.norm(rows) / clip)).sum(axis=0)), "axis=1"),
    (check.gau_clip, release(lambda rows, clip: (rows * (clip / np.maximum(np.linalg.norm(rows, axis=1), 1e-300))[:, None]).sum(axis=0)), "stretched"),
    (check.gau_clip, release(lambda rows, clip: clipped(rows, clip).sum(axis=0) + 3 * clip), "within"),
    (check.gau_clip, release(sigma=classic), "classic formula"),
    (check.gau_clip, release(sigma=lambda e, d, c: mechanisms.gaussian_sigma(e, delta=d)), "does not know the bound"),
    (check.gau_clip, release(sigma=lambda e, d, c: 2 * mechanisms.gaussian_sigma(e, delta=d, sensitivity=c)), "twice the sigma"),
    (check.gau_clip, release(sigma=lambda e, d, c: mechanisms.gaussian_sigma(e, delta=d, sensitivity=c) ** 2), "sigma squared"),
    (check.gau_clip, release(sigma=lambda e, d, c: math.sqrt(mechanisms.gaussian_sigma(e, delta=d, sensitivity=c))), "root of sigma"),
    (check.gau_clip, release(sigma=lambda e, d, c: 0.95 * mechanisms.gaussian_sigma(e, delta=d, sensitivity=c)), "too little"),
    (check.gau_clip, release(sigma=lambda e, d, c: 1.05 * mechanisms.gaussian_sigma(e, delta=d, sensitivity=c)), "more than needed"),
    (check.gau_clip, release(draw=lambda rng, scale, rows: rng.normal(scale=scale / math.sqrt(rows.shape[1]), size=rows.shape[1])),
     "root of the number of entries"),
    (check.gau_clip, release(draw=lambda rng, scale, rows: 0.0), "there is no noise"),
    (check.gau_clip, release(draw=lambda rng, scale, rows: rng.normal(scale=scale)), "one noise serves all entries"),
    (check.gau_clip, release(draw=lambda rng, scale, rows: rng.normal(scale, size=rows.shape[1])), "write scale="),
    (check.gau_clip, release(draw=lambda rng, scale, rows: rng.laplace(scale=scale / math.sqrt(2), size=rows.shape[1])), "normal shape"),
    (check.gau_clip, release(draw=lambda rng, scale, rows: rng.uniform(-1, 1, size=rows.shape[1]) * scale * math.sqrt(3)), "normal shape"),
    (check.gau_clip, release(draw=lambda rng, scale, rows: scale * np.clip(rng.normal(size=rows.shape[1]), -3, 3)), "beyond 3.5 sigma"),
    (check.gau_clip, lambda rows, *given: release()(np.nan_to_num(rows, posinf=0, neginf=0), *given), "the whole of it"),
    (check.gau_clip, keeps_nan, "finite"),
    (check.gau_clip, divides_by_zero, "finite"),
    (check.gau_clip, spoils_the_table, "changes the table"),
    (check.gau_clip, lambda rows, clip, epsilon, delta, rng: 3.0, "expected 600 numbers"),
    (check.gau_clip, 3.0, "expected a function"),
    (check.gau_crossover, lambda e, d: math.floor((mechanisms.gaussian_sigma(e, delta=d) * e) ** 2) + 1, "root of 2 times b"),
    (check.gau_crossover, lambda e, d: math.floor((classic(e, d) * e) ** 2 / 2) + 1, "classic formula"),
    (check.gau_crossover, lambda e, d: crossover(e, d) - 1, "the last m"),
    (check.gau_crossover, lambda e, d: (mechanisms.gaussian_sigma(e, delta=d) * e) ** 2 / 2, "whole number"),
    (check.gau_crossover, lambda e, d: next(m for m in range(1, 1000) if mechanisms.gaussian_sigma(e, delta=d) < math.sqrt(2) * m / e),
     "sigma of one count for all m"),
    (check.gau_crossover, lambda e, d: 7, "smaller m is enough"),
    (check.gau_crossover, lambda e, d: 2, "at this m"),
    (check.gau_covariance, lambda k, e, d: d, "promised delta"),
    (check.gau_covariance, lambda k, e, d: honest(k, e, d, spread=np.square), "holds variances"),
    (check.gau_covariance, lambda k, e, d: honest(k, e, d, length=lambda k: 1), "has length root k"),
    (check.gau_covariance, lambda k, e, d: 0.5, "more than is needed"),
    (check.gau_covariance, lambda k, e, d: 2.0, "between 0 and 1"),
    (check.gau_scales, equal, "equal noise"),
    (check.gau_scales, lambda b, e, d: b * math.sqrt(len(b)) * mechanisms.gaussian_sigma(e, delta=d), "in proportion to the bounds"),
    (check.gau_scales, lambda b, e, d: scales(b, e, d) ** 2, "standard deviations were asked"),
    (check.gau_scales, lambda b, e, d: b * mechanisms.gaussian_sigma(e, delta=d), "not private enough"),
    (check.gau_scales, lambda b, e, d: 1.01 * scales(b, e, d), "more noise than needed"),
    (check.gau_scales, lambda b, e, d: np.where(b < 2, 0, scales(b, e, d)), "gets no noise"),
    (check.gau_scales, lambda b, e, d: scales(b, e, d).sum(), "numbers"),
]

LEAKS = [(check.gau_clip, leak) for leak in (
    release(draw=lambda rng, scale, rows: rng.normal(scale=scale)), release(draw=zero_sum), release(draw=in_pairs), release(draw=same_size), remembering(),
    seed_inside, data_bound, keeps_nan, only_where(lambda rows, exact: exact != 0), only_where(lambda rows, exact: len(rows) > 0),
    only_where(lambda rows, exact: len(rows) != 1), only_where(lambda rows, exact: exact.size > 100), only_where(lambda rows, exact: 1 - (len(rows) > 50) / 2),
    only_where(lambda rows, exact: 0.5 if exact.size < 100 else 1), only_where(lambda rows, exact: np.arange(exact.size) > 0),
    release(draw=lambda rng, scale, rows: np.clip(rng.normal(scale=scale, size=rows.shape[1]), -2 * scale, 2 * scale)),
    release(lambda rows, clip: clipped(rows[:50], clip).sum(axis=0)), clipped_at(np.mean), clipped_at(np.median),
    *(clipped_at(lambda lengths, q=q: np.quantile(lengths, q)) for q in (0.75, 0.9, 0.95)))]
