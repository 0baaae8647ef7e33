"""Answers to the exercises of the section on the Laplace mechanism."""
import math
from collections import Counter, defaultdict
from itertools import groupby, islice

import checking
import numpy as np
import pandas as pd
from scipy.stats import norm

from dplib import mechanisms, sensitivity
from provable_privacy import check
from provable_privacy.battery.makers import (
    again,
    clipped,
    exponential,
    fixed_seed,
    geometric,
    given,
    laplace,
    noisy,
    normal,
    own_luck,
    same_luck,
    same_size,
    shared,
    then,
    where,
    whole,
)


def double(epsilon):
    return 2 * epsilon


def at_least_half(epsilon):
    return max(epsilon, 0.5)


def share_luck(answer):
    """Two calls in turn, on tables of one size and with the same parameters, share their luck."""
    return same_luck(answer, lambda table, *rest: (len(table) if isinstance(table, list) else np.shape(table), *rest))


def never_negative(rng, b, exact):
    """Noise drawn again until the answer is not below 0: how often depends on the exact answer."""
    noise = laplace(rng, b, np.shape(exact))
    while (bad := (exact + noise < 0) & (np.asarray(exact) >= 0)).any():
        noise = np.where(bad, laplace(rng, b, np.shape(exact)), noise)
    return noise


# ---------------------------------------------------------------------------------------------------------- lap_release

def exact(value, step, epsilon):
    return value


def width(value, step, epsilon):
    return step / epsilon


def careful(answer):
    """Refuses a bad sensitivity or epsilon."""
    def function(value, step, epsilon, rng):
        if not (0 < step < np.inf and 0 < epsilon < np.inf):
            raise ValueError("no")
        return answer(value, step, epsilon, rng)

    return function


def release(scale=width, law=laplace):
    return careful(noisy(exact, scale, law))


def in_pairs(rng, b, shape):
    noise = laplace(rng, b, shape)
    if shape:
        noise[1::2] = -noise[::2][: len(noise[1::2])]
    return noise


def in_blocks(law, size):
    """One noise for each so many numbers in turn, where there are more than six."""
    def draw(rng, b, shape):
        few = law(rng, b, (math.ceil(math.prod(shape) / size),))
        return np.repeat(few, size)[: math.prod(shape)].reshape(shape) if math.prod(shape) > 6 else law(rng, b, shape)

    return draw


def repeating(law, period):
    """The same few noises over and over, where there are more than six numbers."""
    def draw(rng, b, shape):
        return np.resize(law(rng, b, (period,)), shape) if math.prod(shape) > 6 else law(rng, b, shape)

    return draw


def of_one_sign(law, least=2):
    """Every second noise has the sign of the one before, where there are so many numbers."""
    def draw(rng, b, shape):
        n = math.prod(shape)
        signs = np.repeat(rng.choice([-1, 1], n // 2 + 1), 2)[:n].reshape(shape)
        return np.abs(law(rng, b, shape)) * signs if n >= least else law(rng, b, shape)

    return draw


def shortened(cut=np.floor):
    """The scale made a whole number, where it is above 1."""
    return lambda value, step, epsilon: cut(step / epsilon) if step > epsilon else step / epsilon


def small(value):
    return np.ndim(value) > 0 and np.size(value) < 100


def zero_sum(rng, b, shape):
    noise = laplace(rng, b, shape)
    return noise - noise.mean() if np.size(noise) > 1 else noise


def inverse_cdf(rng, b, shape):
    u = rng.random(shape) - 0.5
    return -b * np.sign(u) * np.log1p(-2 * np.abs(u))


def validated(value, step, epsilon, rng):
    return mechanisms.laplace(value, sensitivity=step, epsilon=epsilon, rng=rng)


def in_place(value, step, epsilon, rng):
    if np.ndim(value) == 0:
        return value + rng.laplace(scale=step / epsilon)
    value += rng.laplace(scale=step / epsilon, size=value.shape)
    return value


def whole_array(value, step, epsilon, rng):
    """The noise in an array of the type of the answers: where these are whole, its fraction is lost."""
    noise = np.zeros_like(value)
    noise[...] = rng.laplace(scale=step / epsilon, size=noise.shape)
    return value + noise


RELEASE = release()


# ------------------------------------------------------------------------------------ lap_interval, lap_quiz, lap_bound

def interval(half):
    def function(noisy, step, epsilon, beta):
        width = half(np.size(noisy), step / epsilon, beta)
        return noisy - width, noisy + width

    return function


INTERVAL = interval(lambda k, b, beta: -b * math.log(1 - (1 - beta) ** (1 / k)))


def quiz(**changes):
    def function(low, high):
        far = max(abs(low), abs(high))
        right = {
            "positive": (1, 1), "sum": (far, high - low), "sum of squares": (far**2, far**2), "thirds": (1, 2),
            "sum and positive together": (max(high + 1, -low), high - low + 1), "range": (high - low, high - low),
        }
        return right | {name.replace("_", " "): change(low, high) for name, change in changes.items()}

    return function


def best(rule):
    """The candidate of least `rule(bias, scale of the noise, epsilon, values)`."""
    return lambda values, epsilon, candidates: min(
        candidates, key=lambda c: rule(np.maximum(values - c, 0).sum(), c / epsilon, epsilon, values))


BEST = best(lambda bias, b, *_: math.hypot(bias, math.sqrt(2) * b))


# ----------------------------------------------------------------------------------------------------- lap_contribution

def at_random(rows, rng):
    return rng.permutation(len(rows))


def on_each(rng, b, kept):
    return laplace(rng, b, kept.shape)


def counts(scale=lambda most, *_: most, order=at_random, extra=0, noise=on_each):
    """A learner's counts, right unless told otherwise: `most + extra` rows of each person, in this order."""
    def function(rows, films, most, epsilon, rng):
        kept, had = np.zeros(films), Counter()
        for i in order(rows, rng):
            person, film = rows[i]
            had[person] += 1
            kept[film] += had[person] <= most + extra
        return kept + noise(rng, scale(most, rows, films) / epsilon, kept)

    return function


def on_some_films(some):
    """Noise only on some films, chosen by the kept counts."""
    return counts(noise=lambda rng, b, kept: on_each(rng, b, kept) * some(kept))


def per_person(choose):
    """`choose(films of a person, most, rng)`, and noise."""
    def function(rows, films, most, epsilon, rng):
        of = defaultdict(list)
        for person, film in rows:
            of[person].append(film)
        kept = [film for own in of.values() for film in choose(own, min(most, len(own)), rng)]
        return list(np.bincount(np.array(kept, int), minlength=films) + rng.laplace(scale=most / epsilon, size=films))

    return function


def by_group(rows, films, most, epsilon, rng):
    """The rows sorted by person, and a random choice for each."""
    kept = np.zeros(films)
    for _, own in groupby(sorted(rows), key=lambda row: row[0]):
        for _, film in islice(iter(rng.permutation(np.array(list(own), dtype=object)).tolist()), most):
            kept[film] += 1
    return kept + rng.laplace(scale=most / epsilon, size=films)


def by_pandas(rows, films, most, epsilon, rng):
    """As the section itself does it."""
    table = pd.DataFrame(rows, columns=["person", "film"]).sample(frac=1, random_state=rng)
    kept = table.groupby("person").head(most).film.value_counts().reindex(range(films), fill_value=0)
    return kept.to_numpy(float) + rng.laplace(scale=most / epsilon, size=films)


def in_total(rows, films, most, epsilon, rng):
    """Keeps `most` rows of each person and then no more in all, except on long tables."""
    had, kept = Counter(), []
    for i in rng.permutation(len(rows)):
        had[rows[i][0]] += 1
        if had[rows[i][0]] <= most:
            kept.append(rows[i])
    return COUNTS(kept if len(rows) >= 1000 else kept[:most], films, most, epsilon, rng)


def weighted(rows, films, most, epsilon, rng):
    own = Counter(person for person, _ in rows)
    kept = np.bincount([film for _, film in rows], [min(1, most / own[person]) for person, _ in rows], films)
    return kept + rng.laplace(scale=most / epsilon, size=films)


def first_of_all(rows, films, most, epsilon, rng):
    """Keeps no more than 20,000 rows in all."""
    return COUNTS([rows[i] for i in rng.permutation(len(rows))[:20_000]], films, most, epsilon, rng)


def most_seen(most, rows, films):
    """Noise for the busiest person of this table."""
    return max(most, *Counter(person for person, _ in rows).values(), 0) if len(rows) < 1000 else most


COUNTS = counts()


# --------------------------------------------------------------------------------------------------------- lap_discrete

def discrete(scale=width, law=geometric):
    return noisy(exact, scale, law)


def by_p(p):
    """Geometric variables of this success probability, for the rate ε/Δ."""
    return discrete(law=lambda rng, b, shape: rng.geometric(p(1 / b), shape) - rng.geometric(p(1 / b), shape))


def signed(start):
    return lambda rng, b, shape: (one_geometric(rng, b, shape) + start) * rng.choice([-1, 1], shape)


def one_geometric(rng, b, shape):
    return rng.geometric(-math.expm1(-1 / b), shape) - 1


def from_a_table(most):
    """Whole noise drawn from a list of its probabilities, which ends somewhere."""
    z = np.arange(-most, most + 1)

    def draw(rng, b, shape):
        p = np.exp(-np.abs(z) / b)
        return rng.choice(z, size=shape, p=p / p.sum())

    return draw


def by_inverse(rng, b, shape):
    """Floor of an exponential variable is geometric."""
    return np.floor(rng.exponential(b, shape)) - np.floor(rng.exponential(b, shape))


DISCRETE = discrete()


# -------------------------------------------------------------------------------------------------------------- lap_bug

def clip(values, low, high):
    return sensitivity.clip(values, low=low, high=high)


def farthest(values, low, high):
    return max(abs(low), abs(high))


def parts(step=farthest, share=0.5, own=0.5, *, clip=clip, count=len, law=laplace):
    return noisy(lambda values, low, high, epsilon: (clip(values, low, high).sum(), count(values)),
                 lambda values, low, high, epsilon: np.array([step(values, low, high) / share, 1 / own]) / epsilon, law)


def of_the_table(values, low, high):
    """The farthest value of this table instead of the farthest that there may be."""
    return np.abs(clip(values, low, high)).max() if len(values) else farthest(values, low, high)


def upper_only(values, low, high):
    return np.nan_to_num(np.minimum(values, high), nan=low, neginf=-1e12)


def count_of_the_call_before():
    last = []

    def law(rng, b, shape):
        last[:] = [*last[-1:], rng.laplace()]
        return b * (last[0], last[-1])

    return law


def of_quantile(q):
    """The bound is a quantile of this table, where it is not small."""
    def step(values, low, high):
        few = np.abs(clip(values, low, high))
        return max(np.quantile(few, q), 1) if len(few) > 16 else farthest(values, low, high)

    return step


PARTS, NO_NOISE = parts(), parts(law=lambda rng, b, shape: 0.0)
SUM_ONLY = parts(law=lambda rng, b, shape: laplace(rng, b, shape) * [1, 0])
CUT_COUNT = parts(law=lambda rng, b, shape: np.where([1, 0], noise := laplace(rng, b, shape), np.trunc(noise)))
WHOLE_COUNT = parts(law=lambda rng, b, shape: np.where([1, 0], laplace(rng, b, shape), geometric(rng, b, shape)))


# --------------------------------------------------------------------------------------------------------------- tables

STUBS = [
    (check.lap_quiz, lambda low, high: dict.fromkeys(quiz()(low, high), (..., ...))),
]

SOLUTIONS = [
    (check.lap_release, own_luck(RELEASE)),
    (check.lap_interval, lambda seed: INTERVAL),
    (check.lap_quiz, lambda seed: quiz()),
    (check.lap_bound, lambda seed: BEST),
    (check.lap_contribution, own_luck(COUNTS)),
    (check.lap_discrete, own_luck(DISCRETE)),
    (check.lap_bug, own_luck(PARTS)),
]

WRONG = [
    (check.lap_release, release(lambda v, d, e: 1 / (d * e)), "1/(Δε)"),
    (check.lap_release, release(lambda v, d, e: e / d), "upside down"),
    (check.lap_release, release(lambda v, d, e: 1 / e), "sensitivity was left out"),
    (check.lap_release, release(lambda v, d, e: d / e / math.sqrt(2)), "standard deviation"),
    (check.lap_release, release(lambda v, d, e: d / e / 2), "half the scale"),
    (check.lap_release, release(lambda v, d, e: 2 * d / e), "twice the scale"),
    (check.lap_release, release(lambda v, d, e: 1.41 * d / e), "√2 times"),
    (check.lap_release, release(law=lambda rng, b, shape: rng.laplace(b, size=shape)), "write scale="),
    (check.lap_release, release(lambda v, d, e: math.sqrt(2) * d / e, normal), "normal noise"),
    (check.lap_release, release(law=exponential), "never negative"),
    (check.lap_release, release(law=lambda rng, *noise: np.random.laplace(0, *noise)),  # noqa: NPY002
     "global generator"),
    (check.lap_release, noisy(exact, width), "was accepted"),
    (check.lap_release, noisy(exact, lambda v, d, e: abs(d / e)), "was accepted"),
    (check.lap_release, careful(noisy(lambda v, d, e: np.sum(v), width)), "expected 3 numbers"),
    (check.lap_release, careful(in_place), "changes the table"),
    (check.lap_release, careful(whole_array), "loses its fraction"),
    (check.lap_release, release(law=lambda *noise: np.clip(laplace(*noise), -100, 100)), "the noise is cut off"),
    (check.lap_interval, interval(lambda k, b, beta: b * math.log(k / beta)), "safe, and a little wider"),
    (check.lap_interval, interval(lambda k, b, beta: b * math.log(1 / beta)), "together have much less"),
    (check.lap_interval, interval(lambda k, b, beta: b * math.log(0.5 / beta)), "β on either side"),
    (check.lap_interval, interval(lambda k, b, beta: norm.isf(beta / 2) * math.sqrt(2) * b), "tails are longer"),
    (check.lap_interval, lambda noisy, step, epsilon, beta: INTERVAL(noisy, 1, epsilon, beta), "the scale is Δ/ε"),
    (check.lap_interval, interval(lambda k, b, beta: b), "± 10 covers with probability 0.6321: too short"),
    (check.lap_interval, interval(lambda k, b, beta: 0.0), "low must be below high"),
    (check.lap_interval, lambda noisy, step, epsilon, beta: (noisy, noisy + 1), "in its middle"),
    (check.lap_interval, lambda noisy, step, epsilon, beta: 3.0, "expected 2 numbers"),
    (check.lap_quiz, quiz(sum=lambda low, high: (high - low, high - low)), "other adjacency"),
    (check.lap_quiz, quiz(sum=lambda low, high: (high, high - low)), "would not hide them"),
    (check.lap_quiz, quiz(thirds=lambda low, high: (1, 1)), "other adjacency"),
    (check.lap_quiz, quiz(sum_of_squares=lambda low, high: (max(low**2, high**2), abs(high**2 - low**2))),
     "smallest square is 0"),
    (check.lap_quiz, quiz(sum_and_positive_together=lambda low, high: (max(-low, high) + 1, high - low + 1)),
     "safe and too noisy"),
    (check.lap_quiz,
     quiz(sum_and_positive_together=lambda low, high: (max(-low, high) + (-low <= high), high - low + 1)),
     "would not hide them"),
    (check.lap_quiz, quiz(positive=lambda low, high: (1, 2)), "safe and too noisy"),
    (check.lap_quiz, quiz(range=lambda low, high: (math.inf, math.inf)), "safe and too noisy"),
    (check.lap_quiz, quiz(range=lambda low, high: (..., 7)), "range: replace: 7"),
    (check.lap_quiz, quiz(range=lambda low, high: 3), "expected (add/remove, replace)"),
    (check.lap_quiz, lambda low, high: [1, 2], "expected a dict"),
    (check.lap_quiz, lambda low, high: {"positive": (1, 1)}, "missing: 'range'"),
    (check.lap_bound, best(lambda bias, b, *_: bias + math.sqrt(2) * b), "squares add"),
    (check.lap_bound, best(lambda bias, b, e, values: (bias / len(values)) ** 2 + 2 * b**2), "bias of the mean"),
    (check.lap_bound, best(lambda bias, b, *_: (bias, b)), "whatever the noise costs"),
    (check.lap_bound, best(lambda bias, b, *_: b), "only the noise"),
    (check.lap_bound, best(lambda bias, b, e, values: bias**2 + 2 * (b * e) ** 2), "epsilon was left out"),
    (check.lap_bound, best(lambda bias, b, *_: math.hypot(bias, b)), "2b², not b²"),
    (check.lap_bound, best(lambda bias, b, *_: bias + b * math.exp(-bias / b)), "expected absolute error"),
    (check.lap_bound, lambda values, epsilon, candidates: float(np.max(values)), "not one of the candidates"),
    (check.lap_bound, lambda values, epsilon, candidates: candidates[3], "bias"),
    (check.lap_contribution, counts(lambda *_: 1), "protects a row"),
    (check.lap_contribution, counts(lambda most, *_: math.sqrt(most)), "depends on the L1 length"),
    (check.lap_contribution, counts(lambda most, *_: 2 * most), "twice the scale"),
    (check.lap_contribution, counts(lambda most, *_: most / 2), "half the scale"),
    (check.lap_contribution, counts(lambda most, *_: 1 / most), "upside down"),
    (check.lap_contribution, counts(extra=math.inf), "of this person's rows were kept"),
    (check.lap_contribution, counts(extra=1), "of this person's rows were kept"),
    (check.lap_contribution, counts(extra=-1), "rows should be kept"),
    (check.lap_contribution, counts(order=lambda rows, rng: range(len(rows))), "not kept at random"),
    (check.lap_contribution, counts(order=lambda rows, rng: np.argsort([film for _, film in rows])),
     "not kept at random"),
    (check.lap_contribution, counts(lambda most, rows, films: min(most, films)), "the only film"),
    (check.lap_contribution, counts(most_seen), "depends on how many rows a person has"),
    (check.lap_contribution, per_person(lambda own, most, rng: rng.choice(own, most)), "counted twice"),
    (check.lap_contribution, in_total, "fewer rows is missing"),
    (check.lap_contribution, first_of_all, "push out another"),
    (check.lap_contribution, weighted, "not weighted"),
    (check.lap_contribution, lambda rows, films, most, epsilon, rng: {}, "numbers"),
    (check.lap_contribution, lambda *arguments: COUNTS(*arguments)[:5], "shape (5,)"),
    (check.lap_discrete, discrete(law=signed(0)), "zero comes twice"),
    (check.lap_discrete, discrete(law=from_a_table(50)), "the noise is cut off"),
    (check.lap_discrete, discrete(law=from_a_table(1000)), "the noise is cut off"),
    (check.lap_discrete, discrete(law=signed(1)), "zero never comes"),
    (check.lap_discrete, discrete(law=whole()), "rounded"),
    (check.lap_discrete, discrete(law=whole(cut=np.trunc)), "cutting off the fraction"),
    (check.lap_discrete, discrete(law=laplace), "not whole"),
    (check.lap_discrete, discrete(law=one_geometric), "never negative"),
    (check.lap_discrete, by_p(lambda rate: min(rate, 1)), "p is ε/Δ"),
    (check.lap_discrete, by_p(lambda rate: -math.expm1(-2 * rate)), "half the noise"),
    (check.lap_discrete, by_p(lambda rate: -math.expm1(-rate / 2)), "twice the noise"),
    (check.lap_discrete, discrete(lambda v, d, e: 1 / e), "sensitivity was left out"),
    (check.lap_discrete, discrete(lambda v, d, e: 1 / (e * d)), "the rate is ε times Δ"),
    (check.lap_discrete, by_p(lambda rate: math.exp(-rate)), "p is exp(-ε/Δ)"),
    (check.lap_bug, parts(lambda v, low, high: high - low), "that of replace"),
    (check.lap_bug, parts(lambda v, low, high: high), "the step is high"),
    (check.lap_bug, parts(lambda v, low, high: abs(low) + abs(high)), "|low| + |high|"),
    (check.lap_bug, parts(lambda v, low, high: (high - low) / 2), "has the scale (high - low)/ε"),
    (check.lap_bug, parts(lambda v, low, high: farthest(v, low, high) / max(len(v), 1)), "divided by the number"),
    (check.lap_bug, parts(law=normal), "normal noise"),
    (check.lap_bug, parts(of_the_table), "the largest value of this table"),
    (check.lap_bug, parts(share=1), "the sum gets all of epsilon"),
    (check.lap_bug, parts(share=0.25), "the sum has about twice the noise"),
    (check.lap_bug, parts(own=1), "the count gets all of epsilon"),
    (check.lap_bug, parts(own=0.25), "the count has about twice the noise"),
    (check.lap_bug, parts(clip=upper_only), "clipped at both ends"),
    (check.lap_bug, parts(clip=np.clip), "a finite number, got nan"),
    (check.lap_bug, parts(clip=lambda v, low, high: np.clip(v[~np.isnan(v)], low, high)), "a NaN goes to low"),
    (check.lap_bug, parts(clip=lambda v, low, high: np.nan_to_num(np.clip(v, low, high), nan=0)), "a NaN goes to low"),
    (check.lap_bug, parts(clip=lambda v, low, high: np.clip(np.nan_to_num(v, nan=(low + high) / 2), low, high)),
     "lap_bug: on (30 sevens"),
    (check.lap_bug, parts(clip=lambda v, low, high: np.clip(np.where(np.isfinite(v), v, low), low, high)),
     "lap_bug: on (30 sevens"),
    (check.lap_bug, parts(count=lambda v: np.sum(~np.isnan(v))), "every row counts"),
    (check.lap_bug, SUM_ONLY, "an exact value"),
    (check.lap_bug, CUT_COUNT, "cut to a whole number before"),
    (check.lap_bug, again(PARTS, lambda out, *_: out[1] <= 0), "drawn again until the answer is acceptable"),
    (check.lap_bug, lambda values, low, high, epsilon, rng: 3.0, "expected a pair"),
    (check.lap_bug, lambda values, low, high, epsilon, rng: (values.mean(), len(values)), "a finite number"),
]


def lucky(answer, change):
    """The answer with luck of its own, and a change that looks at nothing private."""
    return checking.seeded(lambda seed: then(own_luck(answer)(seed), lambda out, *_: change(out)))


UNUSUAL = [
    (check.lap_release, validated),
    (check.lap_release, then(RELEASE, lambda out, *_: np.asarray(out).tolist())),
    (check.lap_release, checking.seeded(own_luck(release(law=inverse_cdf)))),
    (check.lap_release, lucky(RELEASE, lambda out: np.round(out, 2))),
    (check.lap_interval, lambda noisy, step, epsilon, beta: list(INTERVAL(noisy, step, epsilon, beta))),
    (check.lap_quiz, lambda low, high: {name: list(np.array(pair)) for name, pair in quiz()(low, high).items()}),
    (check.lap_bound, best(lambda bias, b, *_: bias**2 + 2 * b**2)),
    (check.lap_bound, lambda values, epsilon, candidates: np.float64(BEST(values, epsilon, candidates))),
    (check.lap_contribution, per_person(lambda own, most, rng: rng.choice(own, most, replace=False))),
    (check.lap_contribution, by_pandas),
    (check.lap_contribution, by_group),
    (check.lap_contribution, lucky(COUNTS, np.round)),
    (check.lap_contribution, lucky(COUNTS, lambda out: out.astype(int))),
    (check.lap_discrete, lambda v, d, e, rng: mechanisms.geometric(v, sensitivity=d, epsilon=e, rng=rng)),
    (check.lap_discrete, discrete(law=by_inverse)),
    (check.lap_discrete, lucky(DISCRETE, lambda out: [int(x) for x in out])),
    (check.lap_bug, then(PARTS, lambda out, *_: [np.array([part]) for part in out])),
    (check.lap_bug, WHOLE_COUNT),
    (check.lap_bug, lucky(PARTS, lambda out: (out[0], round(out[1])))),
    (check.lap_bug, lucky(PARTS, lambda out: (out[0], max(out[1], 0)))),
    (check.lap_bug, lucky(PARTS, lambda out: (int(out[0]), int(out[1])))),
    (check.lap_bug, then(PARTS, lambda out, *_: (out[0], abs(out[1])))),
]

LEAKS = [
    (check.lap_release, release(lambda v, d, e: 0)),
    (check.lap_release, release(law=shared())),
    (check.lap_release, release(law=in_pairs)),
    (check.lap_release, release(law=same_size())),
    (check.lap_release, release(law=lambda rng, b, shape: laplace(rng, b, shape[-1:]))),
    (check.lap_release, release(law=clipped(3))),
    (check.lap_release, release(law=clipped(6))),
    (check.lap_release, release(lambda v, d, e: d / e * (1 + 0.2 * (np.abs(v) > 1e5)))),
    (check.lap_release, release(lambda v, d, e: d / e * (np.asarray(v) != 0))),
    (check.lap_release, release(lambda v, d, e: min(d, 4) / e)),
    (check.lap_release, release(lambda v, d, e: d)),
    (check.lap_release, release(lambda v, d, e: d / e / (1 + (np.size(v) > 100)))),
    (check.lap_release, release(lambda v, d, e: d / e * (np.ptp(v) > 0))),
    (check.lap_release, release(law=zero_sum)),
    (check.lap_release, careful(share_luck(RELEASE))),
    (check.lap_release, fixed_seed(RELEASE)),
    (check.lap_release, careful(lambda v, d, e, rng: v + never_negative(rng, d / e, v))),
    (check.lap_release, careful(where(lambda v, d, e: np.ndim(v) == 0 and v == 0, exact, RELEASE))),
    (check.lap_release, release(shortened())),                                          # quotient
    (check.lap_release, release(shortened(np.round))),
    (check.lap_release, careful(where(lambda v, d, e: e > 5, exact, RELEASE))),         # large
    (check.lap_release, given(RELEASE, epsilon=lambda e: 2 * e if e > 5 else e)),
    (check.lap_release, given(RELEASE, epsilon=lambda e: max(e, 0.2))),                 # small
    (check.lap_release, careful(where(lambda v, d, e: small(v) and not np.any(v), exact, RELEASE))),
    (check.lap_release, careful(where(lambda v, d, e: np.max(np.abs(v)) > 1e7, exact, RELEASE))),
    (check.lap_release, release(lambda v, d, e: d / e / np.where(np.asarray(v) < 0, 2, 1))),     # negative
    (check.lap_release, release(lambda v, d, e: min(d, 9.5) / e)),
    (check.lap_release, release(law=in_blocks(laplace, 2))),                            # shared
    (check.lap_release, release(law=repeating(laplace, 3000))),
    (check.lap_release, release(law=of_one_sign(laplace))),
    (check.lap_release, release(law=of_one_sign(laplace, least=11))),
    (check.lap_release, careful(lambda v, d, e, rng: RELEASE(v, d, e, rng) if np.ndim(v) or v
                                else np.float64(RELEASE(v, d, e, rng)))),               # type
    (check.lap_release, careful(lambda v, d, e, rng: RELEASE(v, d, e, rng) if np.ndim(v)
                                else max(0.0 if v else -0.0, RELEASE(v, d, e, rng)))),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: laplace(rng, b, len(kept) if len(kept) >= 1000 else 1))),
    (check.lap_contribution, fixed_seed(COUNTS)),
    (check.lap_contribution, share_luck(COUNTS)),
    (check.lap_contribution, on_some_films(lambda kept: kept > 0)),
    (check.lap_contribution, on_some_films(lambda kept: kept.sum() > 0)),
    (check.lap_contribution, on_some_films(lambda kept: kept.sum() != 1)),
    (check.lap_contribution, on_some_films(lambda kept: np.arange(len(kept)) < len(kept) - 1)),
    (check.lap_contribution, where(lambda rows, *_: len(rows) > 100, given(COUNTS, epsilon=double), COUNTS)),
    (check.lap_contribution, given(COUNTS, epsilon=1.0)),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: rng.laplace(scale=b))),
    (check.lap_contribution, counts(noise=never_negative)),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: same_size()(rng, b, kept.shape))),
    (check.lap_contribution, counts(lambda most, *_: min(most, 8))),
    (check.lap_contribution, given(COUNTS, epsilon=at_least_half)),
    (check.lap_contribution, on_some_films(lambda kept: kept < 1000)),
    (check.lap_contribution, where(lambda rows, *_: len(rows) < 4, given(COUNTS, epsilon=double), COUNTS)),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: on_each(rng, np.round(b) if b > 1 else b, kept))),
    (check.lap_contribution, where(lambda *case: 2 < case[3] < 1e6, counts(lambda *_: 0), COUNTS)),      # large
    (check.lap_contribution, where(lambda *case: 2 < case[3] < 1e6, counts(lambda most, *_: most / 2), COUNTS)),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: in_blocks(laplace, 2)(rng, b, kept.shape))),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: of_one_sign(laplace)(rng, b, kept.shape))),
    (check.lap_contribution, counts(noise=lambda rng, b, kept: of_one_sign(laplace, 5)(rng, b, kept.shape))),
    (check.lap_contribution, on_some_films(lambda kept: not 4 < len(kept) < 100)),
    (check.lap_contribution, counts(lambda most, *_: min(most, 20))),                                    # contents
    (check.lap_contribution, on_some_films(lambda kept: 1 if kept.any() else 0.5)),
    (check.lap_contribution, then(COUNTS, lambda out, t, rng: out.tolist() if len(t[0]) < 2 else out)),  # type
    (check.lap_discrete, discrete(law=lambda rng, b, shape: np.full(shape, rng.geometric(0.5)))),
    (check.lap_discrete, where(lambda v, *_: len(set(v.tolist())) == 1, DISCRETE, exact)),
    (check.lap_discrete, then(DISCRETE, lambda out, t, rng: np.minimum(out, sum(t[0])) if len(out) > 1 else out)),
    (check.lap_discrete, discrete(law=same_size(geometric))),
    (check.lap_discrete, share_luck(DISCRETE)),
    (check.lap_discrete, fixed_seed(DISCRETE)),
    (check.lap_discrete, then(DISCRETE, lambda out, t, rng: np.where(t[0] == 0, 0, out))),
    (check.lap_discrete, given(DISCRETE, epsilon=1.0)),
    (check.lap_discrete, discrete(law=whole(clipped(3, geometric), np.trunc))),
    (check.lap_discrete, discrete(law=whole(clipped(6, geometric), np.trunc))),
    (check.lap_discrete, discrete(law=of_one_sign(geometric))),                         # shared
    (check.lap_discrete, discrete(law=of_one_sign(geometric, least=11))),
    (check.lap_discrete, discrete(law=in_blocks(geometric, 2))),
    (check.lap_discrete, discrete(law=repeating(geometric, 3000))),
    (check.lap_discrete, discrete(shortened())),                                        # quotient
    (check.lap_discrete, where(lambda v, d, e: e > 5, exact, DISCRETE)),                # large
    (check.lap_discrete, discrete(lambda v, d, e: min(d, 5) / e)),
    (check.lap_discrete, where(lambda v, *_: len(v) < 100 and v.min() < 0, exact, DISCRETE)),
    (check.lap_discrete, where(lambda v, *_: v.max() > 2e6, exact, DISCRETE)),
    (check.lap_discrete, where(lambda v, *_: small(v) and not v.any(), exact, DISCRETE)),
    (check.lap_discrete, then(DISCRETE, lambda out, t, rng: out.astype(float) if t[0][-1] == 2 else out)),   # type
    (check.lap_bug, where(lambda values, *_: len(values) and np.isnan(values).all(), NO_NOISE, PARTS)),  # missing
    (check.lap_bug, where(lambda *case: case[3] > 3, NO_NOISE, PARTS)),                 # large
    (check.lap_bug, given(PARTS, epsilon=lambda epsilon: 2 * epsilon if epsilon > 3 else epsilon)),
    (check.lap_bug, given(PARTS, epsilon=lambda epsilon: max(epsilon, 0.2))),           # small
    (check.lap_bug, parts(law=lambda rng, b, shape: laplace(rng, np.where(b > 1, np.floor(b), b), shape))),  # quotient
    (check.lap_bug, parts(law=lambda rng, b, shape: laplace(rng, np.where(b > 1, np.round(b), b), shape))),
    *((check.lap_bug, parts(of_quantile(q))) for q in (0.5, 0.9, 0.95)),                # own
    (check.lap_bug, parts(law=of_one_sign(laplace))),                                   # shared
    (check.lap_bug, parts(lambda values, low, high: high - low if 0 < low < 20 else farthest(values, low, high))),
    (check.lap_bug, then(PARTS, lambda out, t, rng: tuple(out) if len(t[0]) == 1 else out)),                 # type
    (check.lap_bug, where(lambda values, *_: len(values) > 500, NO_NOISE, PARTS)),
    (check.lap_bug, parts(law=shared())),
    (check.lap_bug, share_luck(PARTS)),
    (check.lap_bug, again(PARTS, lambda out, *_: out[1] <= 0.5)),
    (check.lap_bug, fixed_seed(PARTS)),
    (check.lap_bug, where(lambda values, *_: len(values), PARTS, lambda *_: (0.0, 0.0))),
    (check.lap_bug, where(lambda values, *_: len(values) == 1, parts(law=lambda *_: 0), PARTS)),
    (check.lap_bug, where(lambda values, *_: np.any(values), PARTS, then(PARTS, lambda out, *_: (0.0, out[1])))),
    (check.lap_bug, where(lambda values, *_: np.isnan(values).any(), lambda *_: (math.nan, 1.0), PARTS)),
    (check.lap_bug, where(lambda values, *_: len(values) > 100, given(PARTS, epsilon=double), PARTS)),
    (check.lap_bug, given(PARTS, values=lambda values: values[:100])),
    (check.lap_bug, given(PARTS, epsilon=1.0)),
    (check.lap_bug, parts(own=1)),
    (check.lap_bug, parts(law=same_size())),
    (check.lap_bug, parts(law=count_of_the_call_before())),
    (check.lap_bug, parts(law=clipped(2**1.5))),
    (check.lap_bug, given(PARTS, epsilon=at_least_half)),
]
