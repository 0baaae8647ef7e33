"""Answers to the exercises of the section on synthetic data."""
import checking
import numpy as np

from dplib import histograms, mechanisms, synthetic
from provable_privacy import check
from provable_privacy.battery.makers import fixed_seed, given, laplace, normal, own_luck, scaled, then, where, whole
from provable_privacy.check.histograms import synthetic as section


def weights(noisy):
    return np.clip(noisy, 0, None) if noisy.max() > 0 else np.ones(len(noisy))


def drawn_by(weigh):
    return lambda noisy, size, rng: rng.choice(len(noisy), size=size, p=weigh(noisy) / weigh(noisy).sum())


def rounded(noisy, size, rng):
    shares = weights(noisy) / weights(noisy).sum()
    return np.repeat(np.arange(len(noisy)), histograms.lattice(size * shares, n=size))


def exponential(gaps, epsilon, rng):
    return mechanisms.exponential(gaps, sensitivity=1, epsilon=epsilon, rng=rng)


def gumbel(gaps, epsilon, rng):
    return np.argmax(gaps + rng.gumbel(scale=2 / epsilon, size=len(gaps)))


def mwem(*, choose=1.0, measure=1.0, law=laplace, pick=exponential, score=np.abs, exact_from=99, step=2, total=True,
         clip=False, again=False, noise_of=lambda t, worst: t, quiet=lambda gap: False, part=lambda q: 1.0,
         finish=float, done=lambda t, gaps, true: False):
    """A learner's MWEM, right unless told otherwise."""
    def function(counts, queries, epsilon, rounds, rng):
        n, each, true = counts.sum(), epsilon / (2 * rounds), queries @ counts
        guess, noises = np.full(len(counts), n / len(counts)), {}
        for t in range(rounds):
            gaps = score(true - queries @ guess)
            if done(t, gaps, true):
                break
            worst = int(np.argmax(gaps) if t >= exact_from else pick(gaps, choose * each, rng))
            q, noise = queries[worst], noises.setdefault(noise_of(t, worst), law(rng, measure / each, ()))
            answer = finish(true[worst] + (0 if quiet(gaps[worst]) else part(q) * noise))
            while again and not 0 <= answer <= n:
                answer = true[worst] + rng.laplace(scale=1 / each)
            guess = guess * np.exp(q * ((np.clip(answer, 0, n) if clip else answer) - q @ guess) / (step * n))
            if total:
                guess *= n / guess.sum()
        return guess

    return function


def exact_choice(when):
    """The exponential mechanism, but the worst query without noise where `when(gaps, epsilon)` holds."""
    return mwem(pick=lambda gaps, epsilon, rng:
                np.argmax(gaps) if when(gaps, epsilon) else exponential(gaps, epsilon, rng))


def no_noise_where(condition):
    """Exact measurements where the condition holds; with almost no noise there is nothing to tell."""
    return where(lambda counts, queries, epsilon, rounds: epsilon < 1e6 and condition(counts, queries, epsilon, rounds),
                 mwem(measure=0), MWEM)


def last_round(part):
    """Only so much of the noise in the last of several rounds."""
    def answer(counts, queries, epsilon, rounds, rng):
        scales = iter([1.0] * (rounds - 1) + [part if rounds > 1 else 1.0])
        return mwem(law=lambda rng, b, shape: next(scales) * laplace(rng, b, shape))(
            counts, queries, epsilon, rounds, rng)

    return answer


def whole_scale(rng, scale, shape):
    return laplace(rng, max(1, round(scale)) if scale > 1e-3 else scale, shape)


def near(part):
    """Stops when all answers of the guess are within this part of the true ones."""
    return mwem(done=lambda t, gaps, true: t > 0 and np.all(gaps <= 1e-8 + part * true))


def noisy_worst(counts, queries, epsilon, rounds, rng):
    """One noise chooses and is measured: a round's loss grows with the number of queries that a person moves."""
    n, guess = counts.sum(), np.full(len(counts), counts.sum() / len(counts))
    for _ in range(rounds):
        answers = queries @ counts + rng.laplace(scale=2 * rounds / epsilon, size=len(queries))
        i = np.argmax(np.abs(answers - queries @ guess))
        guess = guess * np.exp(queries[i] * (answers[i] - queries[i] @ guess) / (2 * n))
        guess *= n / guess.sum()
    return guess


def nearest(rows, candidates):
    return -(candidates[:, None, :] != rows[None]).sum(axis=2).min(axis=1)


def matches(rows, candidates):
    """Counts the rows that agree in all but one cell."""
    return ((candidates[:, None, :] != rows[None]).sum(axis=2) <= 1).sum(axis=1)


def half_width(noise=8.0, z=1.96, centred=True, draw=1.0, by_size=False, weighted=False, add=np.linalg.norm):
    def function(values, weights, n, size, epsilon):
        off = values - (weights * values).sum()
        part = (off if centred else values) ** 2 * (weights if weighted else 1)
        drawn = np.sqrt(draw * (weights * off**2).sum() / size)
        return z * add([drawn, np.sqrt(noise * part.sum()) / ((size if by_size else n) * epsilon)])

    return function


TABLES = [[one, "sex", "smoker"] for one in ("zip", "decade", "work")]
PAIRS = [[one, other] for one in ("zip", "decade", "work") for other in ("sex", "smoker")]
VENDOR = {"nobody": False, "million": True, "relations": False, "intervals": False, "attack": False, "informed": True,
          "anybody": False}

ROWS, MWEM = drawn_by(weights), mwem()

STUBS = [
    (check.syn_choose, []),
]

SOLUTIONS = [
    (check.syn_rows, own_luck(ROWS)),
    (check.syn_mwem, own_luck(MWEM)),
    (check.syn_attack, lambda seed: nearest),
    (check.syn_choose, lambda seed: TABLES),
    (check.syn_interval, lambda seed: half_width()),
    (check.syn_vendor, lambda seed: VENDOR),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.syn_rows, drawn_by(np.abs), "were made positive"),
    (check.syn_rows, drawn_by(lambda noisy: noisy - noisy.min()), "raised by the same amount"),
    (check.syn_rows, drawn_by(np.ones_like), "though some counts are above zero"),
    (check.syn_rows, drawn_by(lambda noisy: np.exp(noisy - noisy.max())), "through an exponential"),
    (check.syn_rows, drawn_by(lambda noisy: weights(noisy) if noisy.max() > 0 else -noisy), "equally likely"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0, None)), "ValueError"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0.5, None)), "comes out in"),
    (check.syn_rows, given(ROWS, noisy=np.round), "comes out in"),
    (check.syn_rows, drawn_by(lambda noisy: weights(noisy if noisy.sum() > 0 else 0 * noisy)), "some counts are"),
    (check.syn_rows, rounded, "at random"),
    (check.syn_rows, lambda noisy, size, rng: np.zeros(3), "shape"),
    (check.syn_rows, lambda noisy, size, rng: rng.random(size), "cell numbers"),
    (check.syn_rows, lambda noisy, size, rng: ROWS(noisy, max(size, 1), rng), "asked for no rows"),
    (check.syn_rows, 7, "expected a function"),
    (check.syn_mwem, mwem(noise_of=lambda t, worst: 0), "the same noise serves all rounds"),
    (check.syn_mwem, mwem(noise_of=lambda t, worst: worst), "asking again then teaches nothing"),
    (check.syn_mwem, given(MWEM, rounds=1), "is that of one round"),
    (check.syn_mwem, mwem(done=lambda t, gaps, true: t > 0), "is that of one round"),
    (check.syn_mwem, mwem(pick=lambda gaps, epsilon, rng: exponential(gaps / 1000, epsilon, rng)), "chosen blindly"),
    (check.syn_mwem, mwem(choose=2), "the choice spends twice its share"),
    (check.syn_mwem, mwem(choose=2, measure=0.5), "what both may spend together"),
    (check.syn_mwem, mwem(choose=0.5), "the choice spends half of its share"),
    (check.syn_mwem, mwem(exact_from=0), "chosen without noise"),
    (check.syn_mwem, mwem(exact_from=1), "only the first choice has noise"),
    (check.syn_mwem, mwem(exact_from=2), "in a later round the choice has no noise"),
    (check.syn_mwem, mwem(score=np.positive), "lost their absolute value"),
    (check.syn_mwem, mwem(measure=0), "no noise"),
    (check.syn_mwem, mwem(measure=0.5), "half of what it must be"),
    (check.syn_mwem, mwem(measure=2), "twice what it must be"),
    (check.syn_mwem, mwem(law=scaled(2**0.5, normal)), "normal noise"),
    (check.syn_mwem, lambda c, q, e, t, rng: MWEM(c, q, t * e, t, rng), "spends the whole budget"),
    (check.syn_mwem, mwem(again=True), "is drawn again"),
    (check.syn_mwem, noisy_worst, "the noise that chose the query"),
    (check.syn_mwem, mwem(part=lambda q: 1 / q.sum()), "divided by the sum of the query's weights"),
    (check.syn_mwem, mwem(finish=np.round), "are rounded"),
    (check.syn_mwem, mwem(done=lambda t, gaps, true: gaps.max() < 1), "it stops when the truth is near"),
    (check.syn_mwem, near(0.05), "takes all its rounds"),
    (check.syn_mwem, near(0.01), "takes all its rounds"),
    (check.syn_mwem, mwem(step=1), "should be"),
    (check.syn_mwem, mwem(total=False), "add up"),
    (check.syn_mwem, lambda counts, *rest: counts.copy(), "the table itself"),
    (check.syn_mwem, lambda counts, *rest: counts[:2], "6 numbers"),
    (check.syn_attack, lambda rows, candidates: -nearest(rows, candidates), "wrong way"),
    (check.syn_attack, lambda rows, candidates: np.zeros(len(candidates)), "below 0.7"),
    (check.syn_attack, lambda rows, candidates: nearest(rows, candidates)[:5], "300 numbers"),
    (check.syn_attack, lambda rows, candidates: np.full(len(candidates), np.nan), "finite"),
    (check.syn_attack, lambda rows: rows, "TypeError"),
    (check.syn_choose, PAIRS, "a standard deviation of 17.0/ε, and 12.0/ε is possible"),
    (check.syn_choose, [["zip", "sex", "decade", "smoker"], ["work", "sex", "smoker"]], "deviation of 24.0/ε"),
    (check.syn_choose, [*TABLES[:2], *PAIRS[4:]], "a standard deviation of 16.0/ε"),
    (check.syn_choose, [*TABLES, ["school"]], "12.0/ε is possible"),
    (check.syn_choose, [list(section.SIZES)], "more than 350"),
    (check.syn_choose, [*TABLES[:2], ["work", "sex"], ["smoker", "sex"]], "no table has smoker, work together"),
    (check.syn_choose, [["age", "sex"]], "no column age; the columns are"),
    (check.syn_choose, 7, "expected form"),
    (check.syn_interval, half_width(noise=0), "textbook interval"),
    (check.syn_interval, half_width(noise=2), "scale 1/ε"),
    (check.syn_interval, half_width(noise=4), "2b²"),
    (check.syn_interval, half_width(z=1), "one standard deviation"),
    (check.syn_interval, half_width(centred=False), "not centred"),
    (check.syn_interval, half_width(draw=0), "noise alone"),
    (check.syn_interval, half_width(by_size=True), "divided by the rows drawn"),
    (check.syn_interval, half_width(weighted=True), "the noise was weighted"),
    (check.syn_interval, half_width(add=sum), "variances add"),
    (check.syn_interval, half_width(noise=80), "too wide"),
    (check.syn_interval, lambda *a: "wide", "expected a number"),
    (check.syn_vendor, {**VENDOR, "nobody": True}, "made from somebody"),
    (check.syn_vendor, {**VENDOR, "attack": True}, "only a proof"),
    (check.syn_vendor, {**VENDOR, "informed": False}, "read as odds"),
    (check.syn_vendor, {**VENDOR, "anybody": True}, "all smokers"),
    (check.syn_vendor, {**VENDOR, "anybody": "yes"}, "True or False"),
    (check.syn_vendor, {"anybody": True}, "missing"),
]


UNUSUAL = [
    (check.syn_rows, lambda noisy, size, rng: synthetic.sample(weights(noisy), rows=size, rng=rng)),
    (check.syn_mwem, lambda *given: MWEM(*given[:4], np.random.default_rng(given[4].integers(2**60)))),
    (check.syn_mwem, then(MWEM, lambda guess, given, rng: guess.tolist())),
    (check.syn_mwem, checking.seeded(own_luck(mwem(pick=gumbel)))),
    (check.syn_mwem, mwem(clip=True)),
    (check.syn_attack, matches),
    (check.syn_choose, [tuple(table) for table in TABLES[::-1]]),
    (check.syn_interval, half_width(z=1.959964)),
]

LEAKS = [
    (check.syn_mwem, mwem(done=lambda t, gaps, true: gaps.max() < 1)),
    (check.syn_mwem, near(0.05)),
    (check.syn_mwem, mwem(exact_from=2)),
    (check.syn_mwem, mwem(again=True)),
    (check.syn_mwem, noisy_worst),
    (check.syn_mwem, mwem(exact_from=1)),
    (check.syn_mwem, mwem(exact_from=0)),
    (check.syn_mwem, mwem(noise_of=lambda t, worst: 0)),
    (check.syn_mwem, mwem(measure=0)),
    (check.syn_mwem, mwem(quiet=lambda gap: gap < 1)),
    (check.syn_mwem, mwem(quiet=lambda gap: gap > 100)),
    (check.syn_mwem, given(MWEM, epsilon=lambda epsilon: epsilon if epsilon > 1e6 else 1.0)),
    (check.syn_mwem, fixed_seed(MWEM, 7)),
    (check.syn_mwem, where(lambda counts, *rest: len(counts) > 3, MWEM, lambda counts, *rest: counts * 1.0)),
    (check.syn_mwem, then(mwem(measure=1e-6), lambda guess, given, rng: np.round(guess))),
    (check.syn_mwem, mwem(part=lambda q: 1 / q.sum())),
    (check.syn_mwem, mwem(part=lambda q: 1 / np.count_nonzero(q))),
    (check.syn_mwem, mwem(part=lambda q: 1 / np.linalg.norm(q))),
    (check.syn_mwem, mwem(part=lambda q: q[q > 0].mean())),
    (check.syn_mwem, mwem(part=lambda q: 0.0 if ((q > 0) & (q < 1)).any() else 1.0)),
    (check.syn_mwem, mwem(law=whole())),
    (check.syn_mwem, mwem(law=whole_scale)),
    (check.syn_mwem, mwem(quiet=lambda gap: gap > 300)),
    (check.syn_mwem, exact_choice(lambda gaps, epsilon: np.ptp(np.sort(gaps)[-2:]) > 100)),
    (check.syn_mwem, exact_choice(lambda gaps, epsilon: epsilon < 0.03)),
    (check.syn_mwem, exact_choice(lambda gaps, epsilon: 0.6 < epsilon < 1e6)),
    (check.syn_mwem, exact_choice(lambda gaps, epsilon: len(gaps) > 3)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: epsilon < 0.1)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: epsilon / rounds > 2)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: rounds == 3)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: rounds > 4)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: len(counts) > 4)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: counts.sum() > 20_000)),
    (check.syn_mwem, no_noise_where(lambda counts, queries, epsilon, rounds: (queries @ counts == counts.sum()).all())),
    (check.syn_mwem, last_round(0)),
    (check.syn_mwem, last_round(0.5)),
]


def test_the_interval_covers():
    """The formula of the exercise against simulation: five standard errors of the standard deviation of 4,000 runs."""
    rng, n, size, epsilon = np.random.default_rng(54), 30_000, 20_000, 0.1
    values, weights = np.array([10.0, 30, 50, 70]), np.array([0.4, 0.3, 0.2, 0.1])
    means = []
    for _ in range(4000):
        noisy = weights * n + rng.laplace(scale=2 / epsilon, size=4)
        means.append(rng.multinomial(size, noisy / noisy.sum()) @ values / size)
    predicted = half_width()(values, weights, n, size, epsilon) / 1.96
    assert abs(np.std(means) / predicted - 1) < 5 / np.sqrt(2 * 4000)
