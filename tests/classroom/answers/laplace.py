"""The checkers of the section on the Laplace mechanism: silent on the stub, content with the solution, and able to say what is wrong."""
import itertools
import math
from collections import Counter

import checking
import numpy as np
import pandas as pd

from dplib import mechanisms, sensitivity
from provable_privacy import check


def luck(seed, rng):
    """The generator of the checker, or luck of one's own."""
    return rng if seed is None else seed


def release(scale=lambda step, epsilon: step / epsilon, *, seed=None, refuse=True, draw=None):
    """A learner's Laplace mechanism, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(value, step, epsilon, rng):
        if refuse and not (0 < step < np.inf and 0 < epsilon < np.inf):
            raise ValueError("no")
        value = np.asarray(value, dtype=float)
        b, rng = scale(step, epsilon), luck(own, rng)
        return value + (rng.laplace(scale=b, size=value.shape) if draw is None else draw(rng, b, value))

    return function


def one_noise(rng, b, value):
    return rng.laplace(scale=b)


def in_pairs(rng, b, value):
    noise = rng.laplace(scale=b, size=value.shape)
    if noise.ndim:
        noise[1::2] = -noise[::2][: len(noise[1::2])]
    return noise


def cut_off(rng, b, value, at=3):
    return np.clip(rng.laplace(scale=b, size=value.shape), -at * b, at * b)


def by_value(rng, b, value):
    return rng.laplace(scale=b * (1 + (np.abs(value) > 1e5) * 0.2), size=value.shape)


def inverse_cdf(rng, b, value):
    u = rng.random(value.shape) - 0.5
    return -b * np.sign(u) * np.log1p(-2 * np.abs(u))


def listed(value, step, epsilon, rng):
    out = release()(value, step, epsilon, rng)
    return out.tolist()


def validated(value, step, epsilon, rng):
    return mechanisms.laplace(value, sensitivity=step, epsilon=epsilon, rng=rng)


def in_place(value, step, epsilon, rng):
    validated(0, step, epsilon, rng)
    if np.ndim(value) == 0:
        return value + rng.laplace(scale=step / epsilon)
    value += rng.laplace(scale=step / epsilon, size=value.shape)
    return value


def whole_array(value, step, epsilon, rng):
    """The noise in an array of the type of the answers: where these are whole, its fraction is lost."""
    release()(0.0, step, epsilon, rng)
    noise = np.zeros_like(value)
    for i in np.ndindex(noise.shape):
        noise[i] = rng.laplace(scale=step / epsilon)
    return value + noise


def from_a_table(most):
    """Whole noise drawn from a list of its probabilities, which ends somewhere."""
    z = np.arange(-most, most + 1)

    def draw(rng, rate, shape):
        p = np.exp(-rate * np.abs(z))
        return rng.choice(z, size=shape, p=p / p.sum())

    return draw


def interval(half):
    def function(noisy, step, epsilon, beta):
        noisy = np.asarray(noisy, dtype=float)
        width = half(noisy.size, step / epsilon, beta)
        return noisy - width, noisy + width

    return function


def exact_half(k, b, beta):
    return -b * math.log(1 - (1 - beta) ** (1 / k))


def quiz(**changes):
    def function(low, high):
        far = max(abs(low), abs(high))
        right = {
            "positive": (1, 1), "sum": (far, high - low), "sum of squares": (far**2, far**2),
            "sum and positive together": (max(high + 1, -low), high - low + 1), "thirds": (1, 2), "range": (high - low, high - low),
        }
        return right | {name.replace("_", " "): change(low, high) for name, change in changes.items()}

    return function


def stub_quiz(low, high):
    return dict.fromkeys(quiz()(low, high), (..., ...))


def best(rule):
    return lambda values, epsilon, candidates: min(candidates, key=lambda c: rule(np.maximum(values - c, 0).sum(), c, epsilon, values))


def right_rule(bias, c, epsilon, values):
    return math.hypot(bias, math.sqrt(2) * c / epsilon)


def counts(*, seed=None, scale=lambda most: most, how="lot", fixed=False, bound=True, extra=0):
    own = None if seed is None else np.random.default_rng(seed)

    def function(rows, films, most, epsilon, rng):
        rng = np.random.default_rng(5) if fixed else luck(own, rng)
        kept, had = np.zeros(films), {}
        order = rng.permutation(len(rows)) if how == "lot" else range(len(rows))
        if how == "film":
            order = sorted(order, key=lambda i: rows[i][1])
        for i in order:
            person, film = rows[i]
            had[person] = had.get(person, 0) + 1
            if had[person] <= most + extra or not bound:
                kept[film] += 1
        return kept + rng.laplace(scale=scale(most) / epsilon, size=films)

    return function


def in_total(rows, films, most, epsilon, rng):
    """Keeps `most` rows of each person and then 12,000 in all: right but for very long tables, and here one person pushes out another."""
    kept, had, room = np.zeros(films), {}, most
    for i in rng.permutation(len(rows)):
        person, film = rows[i]
        had[person] = had.get(person, 0) + 1
        if had[person] <= most and room:
            kept[film] += 1
            room -= len(rows) < 1000
    return kept + rng.laplace(scale=most / epsilon, size=films)


def weighted(rows, films, most, epsilon, rng):
    own = {person: sum(1 for other, _ in rows if other == person) for person, _ in rows} if len(rows) < 1000 else dict.fromkeys(
        (person for person, _ in rows), 1)
    kept = np.zeros(films)
    for person, film in rows:
        kept[film] += min(1, most / own[person])
    return kept + rng.laplace(scale=most / epsilon, size=films)


def by_person(rows, films, most, epsilon, rng):
    """A choice for each person without replacement, the other way to write it."""
    of = {}
    for person, film in rows:
        of.setdefault(person, []).append(film)
    kept = [film for films_of in of.values() for film in rng.choice(films_of, size=min(most, len(films_of)), replace=False)]
    return list(np.bincount(np.array(kept, dtype=int), minlength=films) + rng.laplace(scale=most / epsilon, size=films))


def by_group(rows, films, most, epsilon, rng):
    """The rows sorted by person, and a lot for each."""
    kept = np.zeros(films)
    for _, own in itertools.groupby(sorted(rows), key=lambda row: row[0]):
        for _, film in itertools.islice(iter(rng.permutation(np.array(list(own), dtype=object)).tolist()), most):
            kept[film] += 1
    return kept + rng.laplace(scale=most / epsilon, size=films)


def by_pandas(rows, films, most, epsilon, rng):
    """As the section itself does it."""
    table = pd.DataFrame(rows, columns=["person", "film"]).sample(frac=1, random_state=rng)
    kept = table.groupby("person").head(most).film.value_counts().reindex(range(films), fill_value=0)
    return kept.to_numpy(float) + rng.laplace(scale=most / epsilon, size=films)


def whole(*, seed=None, draw=None):
    own = None if seed is None else np.random.default_rng(seed)

    def geometrics(rng, rate, shape):
        p = -math.expm1(-rate)
        return rng.geometric(p, shape) - rng.geometric(p, shape)

    def function(value, step, epsilon, rng):
        value = np.asarray(value)
        return value + (draw or geometrics)(luck(own, rng), epsilon / step, value.shape)

    return function


def signed(start):
    return lambda rng, rate, shape: (rng.geometric(-math.expm1(-rate), shape) - 1 + start) * rng.choice([-1, 1], shape)


def geometric_pair(p):
    return lambda rng, rate, shape: rng.geometric(p(rate), shape) - rng.geometric(p(rate), shape)


def same_sign(rng, rate, shape):
    noise = np.abs(whole()(np.zeros(shape, int), 1, rate, rng))
    return noise * np.repeat(rng.choice([-1, 1], shape[0] // 2), 2)


def by_inverse(rng, rate, shape):
    """Floor of an exponential variable is geometric."""
    return np.floor(rng.exponential(1 / rate, shape)) - np.floor(rng.exponential(1 / rate, shape))


def parts(*, seed=None, clip=lambda x, low, high: sensitivity.clip(x, low=low, high=high), step=lambda low, high: max(abs(low), abs(high)),
          share=0.5, count_share=0.5, count=len, reuse=False, draw="laplace"):
    own = None if seed is None else np.random.default_rng(seed)

    def function(values, low, high, epsilon, rng):
        rng = luck(own, rng)
        noise = getattr(rng, draw)()
        other = noise if reuse else getattr(rng, draw)()
        return (clip(values, low, high).sum() + noise * step(low, high) / (share * epsilon), count(values) + other / (count_share * epsilon))

    return function


def drawn_again(enough):
    """The count is drawn until it is enough, as somebody does who wants to divide by it."""
    def function(*arguments):
        total, count = PARTS(*arguments)
        while not enough(count):
            count = PARTS(*arguments)[1]
        return total, count

    return function


def with_noise(noise):
    """These two noises of scale 1, each times what the sum or the count needs."""
    def function(values, low, high, epsilon, rng):
        noises = noise(rng)
        return (sensitivity.clip(values, low=low, high=high).sum() + noises[0] * max(abs(low), abs(high)) * 2 / epsilon, len(values) + noises[1] * 2 / epsilon)

    return function


def count_of_the_call_before():
    last = []

    def noises(rng):
        last[:] = [*last[-1:], rng.laplace()]
        return last[0], last[-1]

    return noises


def upper_only(values, low, high):
    return np.nan_to_num(np.minimum(values, high), nan=low, neginf=-1e12)


def drop_nan(values, low, high):
    return np.clip(values[~np.isnan(values)], low, high)


def step_of_the_table(values, low, high, epsilon, rng):
    """The farthest value of this table instead of the farthest that there may be."""
    far = np.abs(sensitivity.clip(values, low=low, high=high)).max() if len(values) else max(abs(low), abs(high))
    return parts(step=lambda *_: far)(values, low, high, epsilon, rng)


def most_seen(rows, films, most, epsilon, rng):
    """Noise for the busiest person of this table."""
    had = max(Counter(person for person, _ in rows).values(), default=0) if len(rows) < 1000 else most
    return counts(scale=lambda most: max(most, had))(rows, films, most, epsilon, rng)


def noise_for_many_films(rows, films, most, epsilon, rng):
    noise = rng.laplace(scale=most / epsilon, size=films if films >= 1000 else 1)
    return counts(scale=lambda most: 1e-12)(rows, films, most, epsilon, rng) + noise


def same_in_each_row(rng, b, value):
    return rng.laplace(scale=b, size=value.shape[-1:])


def at_most_the_total(value, step, epsilon, rng):
    """No count is larger than all of them together, which is exact."""
    noisy = WHOLE(value, step, epsilon, rng)
    return np.minimum(noisy, max(np.sum(value), 1)) if np.size(value) > 1 else noisy


def equal_counts_only(value, step, epsilon, rng):
    value = np.asarray(value)
    return whole()(value, step, epsilon, rng) if np.all(value == value.flat[0]) else value


def with_replacement(rows, films, most, epsilon, rng):
    """numpy's `choice` draws with replacement unless told not to."""
    of = {}
    for person, film in rows:
        of.setdefault(person, []).append(film)
    kept = [film for films_of in of.values() for film in rng.choice(films_of, size=min(most, len(films_of)))]
    return np.bincount(np.array(kept, dtype=int), minlength=films) + rng.laplace(scale=most / epsilon, size=films)


def first_of_all(rows, films, most, epsilon, rng):
    """Keeps no more than 20,000 rows in all."""
    return counts()([rows[i] for i in rng.permutation(len(rows))[:20_000]], films, most, epsilon, rng)


def same_size(rng, b, value):
    return rng.laplace(scale=b) * rng.choice([-1, 1], np.shape(value))


def never_negative(exact, b, rng):
    """Noise drawn again until the answer is not below 0: how often depends on the exact answer."""
    exact = np.array(exact, dtype=float)
    out = exact + rng.laplace(scale=b, size=exact.shape)
    while (bad := (out < 0) & (exact >= 0)).any():
        out = np.where(bad, exact + rng.laplace(scale=b, size=exact.shape), out)
    return out


def zero_sum(noise):
    return noise - noise.mean() if noise.size > 1 else noise


def by_some_films(where):
    """Noise only on some films, chosen by the kept counts."""
    def function(rows, films, most, epsilon, rng):
        exact = np.round(counts()(rows, films, most, 1e9, rng))
        return exact + rng.laplace(scale=most / epsilon, size=films) * where(exact)

    return function


def kept(make):
    """An answer that keeps the noise of a call for the next one with the same parameters."""
    last = {}

    def function(table, *arguments):
        key = (np.shape(table) if isinstance(table, np.ndarray) else len(table) if isinstance(table, list) else 0, *arguments[:-1])
        state = last.pop(key, None)
        if state is None:
            last[key] = arguments[-1].bit_generator.state
        else:
            now, arguments[-1].bit_generator.state = arguments[-1].bit_generator.state, state
        result = make(table, *arguments)
        if state is not None:
            arguments[-1].bit_generator.state = now
        return result

    return function


def then(make, change):
    """An answer after which `change(output, arguments, rng)` comes."""
    return lambda *arguments: change(make(*arguments), arguments[:-1], arguments[-1])


STUBS = [
    (check.lap_quiz, stub_quiz),
]

SOLUTIONS = [
    (check.lap_release, lambda seed: release(seed=seed)),
    (check.lap_interval, lambda seed: interval(exact_half)),
    (check.lap_quiz, lambda seed: quiz()),
    (check.lap_bound, lambda seed: best(right_rule)),
    (check.lap_contribution, lambda seed: counts(seed=seed)),
    (check.lap_discrete, lambda seed: whole(seed=seed)),
    (check.lap_bug, lambda seed: parts(seed=seed)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.lap_release, release(lambda step, epsilon: 1 / (step * epsilon)), "1/(Δε)"),
    (check.lap_release, release(lambda step, epsilon: epsilon / step), "upside down"),
    (check.lap_release, release(lambda step, epsilon: 1 / epsilon), "sensitivity was left out"),
    (check.lap_release, release(lambda step, epsilon: step / epsilon / math.sqrt(2)), "standard deviation"),
    (check.lap_release, release(lambda step, epsilon: step / epsilon / 2), "half the scale"),
    (check.lap_release, release(lambda step, epsilon: 2 * step / epsilon), "twice the scale"),
    (check.lap_release, release(lambda step, epsilon: 1.41 * step / epsilon), "√2 times"),
    (check.lap_release, release(draw=lambda rng, b, value: rng.laplace(b, size=value.shape)), "write scale="),
    (check.lap_release, release(draw=lambda rng, b, value: rng.normal(scale=math.sqrt(2) * b, size=value.shape)), "normal noise"),
    (check.lap_release, release(draw=lambda rng, b, value: rng.exponential(b, size=value.shape)), "never negative"),
    (check.lap_release, release(draw=lambda rng, b, value: np.random.laplace(scale=b, size=value.shape)), "global generator"),  # noqa: NPY002
    (check.lap_release, release(refuse=False), "was accepted"),
    (check.lap_release, lambda value, step, epsilon, rng: release(refuse=False)(value, abs(step), abs(epsilon), rng), "was accepted"),
    (check.lap_release, lambda value, step, epsilon, rng: release()(np.sum(value), step, epsilon, rng), "expected 3 numbers"),
    (check.lap_release, in_place, "changes the table"),
    (check.lap_release, whole_array, "loses its fraction"),
    (check.lap_release, release(draw=lambda rng, b, value: np.clip(rng.laplace(scale=b, size=value.shape), -100, 100)), "noise that is cut off"),
    (check.lap_interval, interval(lambda k, b, beta: b * math.log(k / beta)), "safe, and a little wider"),
    (check.lap_interval, interval(lambda k, b, beta: b * math.log(1 / beta)), "together have much less"),
    (check.lap_interval, interval(lambda k, b, beta: b * math.log(0.5 / beta)), "β on either side"),
    (check.lap_interval, interval(lambda k, b, beta: 1.959964 * math.sqrt(2) * b), "Laplace tails are longer"),
    (check.lap_interval, interval(lambda k, b, beta: 0.0), "low must be below high"),
    (check.lap_interval, lambda noisy, step, epsilon, beta: (noisy, noisy + 1), "in its middle"),
    (check.lap_interval, lambda noisy, step, epsilon, beta: 3.0, "expected a pair"),
    (check.lap_quiz, quiz(sum=lambda low, high: (high - low, high - low)), "other adjacency"),
    (check.lap_quiz, quiz(sum=lambda low, high: (high, high - low)), "would not hide them"),
    (check.lap_quiz, quiz(thirds=lambda low, high: (1, 1)), "would not hide them"),
    (check.lap_quiz, quiz(sum_of_squares=lambda low, high: (max(low**2, high**2), abs(high**2 - low**2))), "smallest square is 0"),
    (check.lap_quiz, quiz(sum_and_positive_together=lambda low, high: (max(abs(low), high) + 1, high - low + 1)), "safe and too noisy"),
    (check.lap_quiz, quiz(sum_and_positive_together=lambda low, high: (max(-low, high) + (high >= -low), high - low + 1)), "would not hide them"),
    (check.lap_quiz, quiz(positive=lambda low, high: (1, 2)), "safe and too noisy"),
    (check.lap_quiz, quiz(range=lambda low, high: (math.inf, math.inf)), "finite number"),
    (check.lap_quiz, quiz(range=lambda low, high: (..., 7)), "'range' under replace"),
    (check.lap_quiz, quiz(range=lambda low, high: 3), "expected a pair"),
    (check.lap_quiz, lambda low, high: [1, 2], "expected a dict"),
    (check.lap_quiz, lambda low, high: {"positive": (1, 1)}, "no answer to 'sum'"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: bias + math.sqrt(2) * c / epsilon), "squares add"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: math.hypot(bias / len(values), math.sqrt(2) * c / epsilon)), "bias of the mean"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: (bias, c)), "whatever the noise costs"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: c), "only the noise"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: math.hypot(bias, math.sqrt(2) * c)), "epsilon was left out"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: math.hypot(bias, c / epsilon)), "2b², not b²"),
    (check.lap_bound, best(lambda bias, c, epsilon, values: bias + c / epsilon * math.exp(-bias * epsilon / c)), "expected absolute error"),
    (check.lap_bound, lambda values, epsilon, candidates: float(np.max(values)), "not one of the candidates"),
    (check.lap_bound, lambda values, epsilon, candidates: candidates[3], "bias"),
    (check.lap_contribution, counts(scale=lambda most: 1), "protects a row"),
    (check.lap_contribution, counts(scale=math.sqrt), "charged in L1"),
    (check.lap_contribution, counts(scale=lambda most: 2 * most), "twice the scale"),
    (check.lap_contribution, counts(bound=False), "of this person's rows were kept"),
    (check.lap_contribution, counts(extra=1), "of this person's rows were kept"),
    (check.lap_contribution, counts(extra=-1), "rows should be kept"),
    (check.lap_contribution, counts(how="first"), "not by lot"),
    (check.lap_contribution, counts(how="film"), "not by lot"),
    (check.lap_contribution, lambda rows, films, *given: counts(scale=lambda most: min(most, films))(rows, films, *given), "the only film"),
    (check.lap_contribution, most_seen, "follows the rows that a person has"),
    (check.lap_contribution, with_replacement, "counted twice"),
    (check.lap_contribution, in_total, "rows should be kept"),
    (check.lap_contribution, first_of_all, "push out another"),
    (check.lap_contribution, weighted, "not weighted"),
    (check.lap_contribution, lambda rows, films, most, epsilon, rng: {}, "numbers"),
    (check.lap_contribution, lambda rows, films, most, epsilon, rng: counts()(rows, films, most, epsilon, rng)[:5], "shape (5,)"),
    (check.lap_discrete, whole(draw=signed(0)), "zero comes twice"),
    (check.lap_discrete, whole(draw=from_a_table(50)), "noise that is cut off"),
    (check.lap_discrete, whole(draw=from_a_table(1000)), "noise that is cut off"),
    (check.lap_discrete, whole(draw=signed(1)), "zero never comes"),
    (check.lap_discrete, whole(draw=lambda rng, rate, shape: np.round(rng.laplace(scale=1 / rate, size=shape))), "rounded"),
    (check.lap_discrete, whole(draw=lambda rng, rate, shape: np.trunc(rng.laplace(scale=1 / rate, size=shape))), "a fraction cut off"),
    (check.lap_discrete, whole(draw=lambda rng, rate, shape: rng.laplace(scale=1 / rate, size=shape)), "not whole"),
    (check.lap_discrete, whole(draw=lambda rng, rate, shape: rng.geometric(-math.expm1(-rate), shape) - 1), "never negative"),
    (check.lap_discrete, whole(draw=geometric_pair(lambda rate: min(rate, 1))), "p is ε/Δ"),
    (check.lap_discrete, whole(draw=geometric_pair(lambda rate: -math.expm1(-2 * rate))), "half the noise"),
    (check.lap_discrete, whole(draw=geometric_pair(lambda rate: -math.expm1(-rate / 2))), "twice the noise"),
    (check.lap_discrete, lambda value, step, epsilon, rng: whole()(value, 1, epsilon, rng), "sensitivity was left out"),
    (check.lap_discrete, lambda value, step, epsilon, rng: whole()(value, 1, epsilon * step, rng), "the rate is ε times Δ"),
    (check.lap_discrete, whole(draw=geometric_pair(lambda rate: math.exp(-rate))), "p is exp(-ε/Δ)"),
    (check.lap_bug, parts(step=lambda low, high: high - low), "that of replace"),
    (check.lap_bug, parts(step=lambda low, high: high), "the step is high"),
    (check.lap_bug, parts(step=lambda low, high: abs(low) + abs(high)), "|low| + |high|"),
    (check.lap_bug, parts(step=lambda low, high: (high - low) / 2), "has the scale (high - low)/ε"),
    (check.lap_bug, parts(draw="normal"), "normal noise"),
    (check.lap_bug, step_of_the_table, "the largest value of this table"),
    (check.lap_bug, parts(share=1), "the sum gets all of epsilon"),
    (check.lap_bug, parts(count_share=1), "the count gets all of epsilon"),
    (check.lap_bug, parts(clip=upper_only), "clipped at both ends"),
    (check.lap_bug, parts(clip=np.clip), "a finite number, got nan"),
    (check.lap_bug, parts(clip=drop_nan), "a NaN goes to low"),
    (check.lap_bug, parts(clip=lambda values, low, high: np.nan_to_num(np.clip(values, low, high), nan=0.0)), "a NaN goes to low"),
    (check.lap_bug, parts(clip=lambda values, low, high: np.clip(np.nan_to_num(values, nan=(low + high) / 2), low, high)), "lap_bug: on (30 sevens"),
    (check.lap_bug, parts(clip=lambda values, low, high: np.clip(np.where(np.isfinite(values), values, low), low, high)), "lap_bug: on (30 sevens"),
    (check.lap_bug, parts(count=lambda values: np.sum(~np.isnan(values))), "every row counts"),
    (check.lap_bug, lambda values, low, high, epsilon, rng: (parts()(values, low, high, epsilon, rng)[0], len(values)), "an exact value"),
    (check.lap_bug, lambda values, low, high, epsilon, rng: (PARTS(values, low, high, epsilon, rng)[0], len(values) + int(rng.laplace(scale=2 / epsilon))),
     "cut to a whole number before"),
    (check.lap_bug, drawn_again(lambda count: count > 0), "drawn again until the answer suits"),
    (check.lap_bug, lambda values, low, high, epsilon, rng: 3.0, "expected a pair"),
    (check.lap_bug, lambda values, low, high, epsilon, rng: (values.mean(), len(values)), "a finite number"),
]

UNUSUAL = [
    (check.lap_release, validated),
    (check.lap_release, listed),
    (check.lap_release, checking.seeded(lambda seed: release(draw=inverse_cdf, seed=seed))),
    (check.lap_release, checking.seeded(lambda seed: then(release(seed=seed), lambda got, *_: np.round(got, 2)))),
    (check.lap_interval, lambda noisy, step, epsilon, beta: list(interval(exact_half)(noisy, step, epsilon, beta))),
    (check.lap_quiz, lambda low, high: {name: list(np.array(pair)) for name, pair in quiz()(low, high).items()}),
    (check.lap_bound, best(lambda bias, c, epsilon, values: bias**2 + 2 * (c / epsilon) ** 2)),
    (check.lap_bound, lambda values, epsilon, candidates: np.float64(best(right_rule)(values, epsilon, candidates))),
    (check.lap_contribution, by_person),
    (check.lap_contribution, by_pandas),
    (check.lap_contribution, by_group),
    (check.lap_contribution, checking.seeded(lambda seed: then(counts(seed=seed), lambda got, *_: np.round(got)))),
    (check.lap_contribution, checking.seeded(lambda seed: then(counts(seed=seed), lambda got, *_: got.astype(int)))),
    (check.lap_discrete, lambda value, step, epsilon, rng: mechanisms.geometric(value, sensitivity=step, epsilon=epsilon, rng=rng)),
    (check.lap_discrete, whole(draw=by_inverse)),
    (check.lap_discrete, checking.seeded(lambda seed: then(whole(seed=seed), lambda got, *_: [int(x) for x in got]))),
    (check.lap_bug, lambda values, low, high, epsilon, rng: [np.array([part]) for part in parts()(values, low, high, epsilon, rng)]),
    (check.lap_bug, checking.seeded(lambda seed: then(parts(seed=seed), lambda got, *_: (got[0], round(got[1]))))),
    (check.lap_bug, checking.seeded(lambda seed: then(parts(seed=seed), lambda got, *_: (got[0], max(got[1], 0))))),
    (check.lap_bug, checking.seeded(lambda seed: then(parts(seed=seed), lambda got, *_: (int(got[0]), int(got[1]))))),
    (check.lap_bug, then(parts(), lambda got, *_: (got[0], abs(got[1])))),
]

RELEASE, COUNTS, WHOLE, PARTS = release(), counts(), whole(), parts()
LEAKS = [
    *((check.lap_release, leak) for leak in (
        release(draw=lambda rng, b, value: 0.0), release(draw=one_noise), release(draw=in_pairs), release(draw=same_size), release(draw=same_in_each_row),
        release(draw=cut_off), release(draw=lambda *given: cut_off(*given, at=6)), release(draw=by_value),
        release(draw=lambda rng, b, value: rng.laplace(scale=b, size=value.shape) * (value != 0)), release(lambda step, epsilon: min(step, 4) / epsilon),
        release(lambda step, epsilon: step), release(draw=lambda rng, b, value: rng.laplace(scale=b / (1 + (value.size > 100)), size=value.shape)),
        release(draw=lambda rng, b, value: rng.laplace(scale=b, size=value.shape) * (np.ptp(value) > 0 if value.size else 1)),
        release(draw=lambda rng, b, value: zero_sum(rng.laplace(scale=b, size=value.shape))), kept(RELEASE),
        lambda value, step, epsilon, rng: RELEASE(value, step, epsilon, np.random.default_rng(3)),
        lambda value, step, epsilon, rng: never_negative(value, step / epsilon + 0 * RELEASE(0.0, step, epsilon, rng), rng),
        lambda value, step, epsilon, rng: value if np.ndim(value) == 0 and value == 0 and step < np.inf > epsilon > 0 < step
        else RELEASE(value, step, epsilon, rng))),
    *((check.lap_contribution, leak) for leak in (
        noise_for_many_films, counts(fixed=True), kept(COUNTS), by_some_films(lambda exact: exact > 0), by_some_films(lambda exact: exact.sum() > 0),
        by_some_films(lambda exact: exact.sum() != 1), by_some_films(lambda exact: np.arange(len(exact)) < len(exact) - 1),
        lambda rows, films, most, epsilon, rng: COUNTS(rows, films, most, epsilon * (1 + (len(rows) > 100)), rng),
        lambda rows, films, most, epsilon, rng: COUNTS(rows, films, most, 1.0, rng),
        then(counts(scale=lambda most: 1e-9), lambda got, arguments, rng: got + rng.laplace(scale=arguments[2] / arguments[3])),
        then(counts(scale=lambda most: 1e-9), lambda got, arguments, rng: never_negative(np.round(got), arguments[2] / arguments[3], rng)),
        then(counts(scale=lambda most: 1e-9), lambda got, arguments, rng: got + same_size(rng, arguments[2] / arguments[3], got)),
        counts(scale=lambda most: min(most, 8)), lambda rows, films, most, epsilon, rng: COUNTS(rows, films, most, max(epsilon, 0.5), rng),
        by_some_films(lambda exact: exact < 1000),
        lambda rows, films, most, epsilon, rng: COUNTS(rows, films, most, epsilon * (1 + (len(rows) < 4)), rng))),
    *((check.lap_discrete, leak) for leak in (
        whole(draw=lambda rng, rate, shape: np.full(shape, rng.geometric(0.5))), equal_counts_only, at_most_the_total, whole(draw=same_sign), kept(WHOLE),
        lambda value, step, epsilon, rng: WHOLE(value, step, epsilon, np.random.default_rng(3)),
        lambda value, step, epsilon, rng: np.where(np.asarray(value) == 0, 0, WHOLE(value, step, epsilon, rng)),
        lambda value, step, epsilon, rng: WHOLE(value, step, 1.0, rng),
        *(whole(draw=lambda rng, rate, shape, at=at: np.clip(WHOLE(np.zeros(shape, int), 1, rate, rng), -at / rate, at / rate).astype(int)) for at in (3, 6)))),
    *((check.lap_bug, leak) for leak in (
        parts(reuse=True), kept(PARTS), drawn_again(lambda count: count > 0.5),
        lambda values, low, high, epsilon, rng: PARTS(values, low, high, epsilon, np.random.default_rng(3)),
        lambda values, low, high, epsilon, rng: PARTS(values, low, high, epsilon, rng) if len(values) else (0.0, 0.0),
        lambda values, low, high, epsilon, rng: (sensitivity.clip(values, low=low, high=high).sum(), 1.0) if len(values) == 1
        else PARTS(values, low, high, epsilon, rng),
        lambda values, low, high, epsilon, rng: (0.0, PARTS(values, low, high, epsilon, rng)[1]) if not np.any(values)
        else PARTS(values, low, high, epsilon, rng),
        lambda values, low, high, epsilon, rng: (math.nan, 1.0) if np.isnan(values).any() else PARTS(values, low, high, epsilon, rng),
        lambda values, low, high, epsilon, rng: PARTS(values, low, high, epsilon * (1 + (len(values) > 100)), rng),
        lambda values, low, high, epsilon, rng: PARTS(values[:100], low, high, epsilon, rng),
        lambda values, low, high, epsilon, rng: PARTS(values, low, high, 1.0, rng),
        lambda values, low, high, epsilon, rng: (PARTS(values, low, high, epsilon, rng)[0], len(values) + PARTS([], low, high, 2 * epsilon, rng)[1]),
        with_noise(lambda rng: rng.laplace() * rng.choice([-1, 1], 2)), with_noise(count_of_the_call_before()),
        with_noise(lambda rng: np.clip(rng.laplace(size=2), -(2**1.5), 2**1.5)),
        lambda values, low, high, epsilon, rng: PARTS(values, low, high, max(epsilon, 0.5), rng))),
]
