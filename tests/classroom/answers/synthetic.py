"""The checkers of the section on synthetic data: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import checking
import numpy as np

from dplib import histograms, mechanisms, synthetic
from provable_privacy import check
from provable_privacy.check.histograms import synthetic as section


def rows(seed=None):
    own = None if seed is None else np.random.default_rng(seed)

    def draw(noisy, size, rng):
        weights = np.clip(noisy, 0, None)
        if weights.sum() == 0:
            weights = np.ones(len(noisy))
        return (own or rng).choice(len(noisy), size=size, p=weights / weights.sum())

    return draw


def drawn_by(weigh):
    return lambda noisy, size, rng: rng.choice(len(noisy), size=size, p=weigh(noisy) / weigh(noisy).sum())


def rounded(noisy, size, rng):
    weights = np.clip(noisy, 0, None)
    if weights.sum() == 0:
        weights = np.ones(len(noisy))
    return np.repeat(np.arange(len(noisy)), histograms.lattice(size * weights / weights.sum(), n=size))


def mwem(*, seed=None, choose=1.0, measure=1.0, shared=False, alias=False, blind=False, signed=False, greedy=False, step=2, total=True,
         per_round=True, gauss=False, stop=0, exact_from=99, gumbel=False, clip=False, quiet=lambda gap: False, remembers=False,
         enough=None, again=False):
    """A learner's MWEM, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(counts, queries, epsilon, rounds, rng):
        rng, n, each = own or rng, counts.sum(), epsilon / (2 * (rounds if per_round else 1))
        guess = np.full(len(counts), n / len(counts))
        one, known = rng.laplace(scale=1 / each), {}
        for t in range(rounds):
            old = guess if alias else guess.copy()
            gaps = queries @ (counts - guess) if signed else np.abs(queries @ (counts - guess))
            if gaps.max() < stop:
                break
            if greedy or t >= exact_from:
                worst = np.argmax(gaps)
            elif gumbel:
                worst = np.argmax(gaps + rng.gumbel(scale=2 / each, size=len(gaps)))
            else:
                worst = mechanisms.exponential(gaps / (n if blind else 1), sensitivity=1, epsilon=choose * each, rng=rng)
            q = queries[worst]
            noise = one if shared else rng.normal(scale=2**0.5 / each) if gauss else rng.laplace(scale=measure / each)
            noise = known.setdefault(int(worst), noise) if remembers else noise
            answer = q @ counts + (0 if quiet(gaps[worst]) else noise)
            while again and not 0 <= answer <= n:
                answer = q @ counts + rng.laplace(scale=1 / each)
            guess *= np.exp(q * ((np.clip(answer, 0, n) if clip else answer) - q @ guess) / (step * n))
            if total:
                guess *= n / guess.sum()
            if alias and np.allclose(guess, old):
                break
            if enough and np.allclose(queries @ guess, queries @ counts, rtol=enough):
                break
        return guess

    return function


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


def half_width(noise=8.0, z=1.96, centred=True, draw=1.0, by_size=False):
    def function(values, weights, n, size, epsilon):
        off = values - (weights * values).sum()
        part = (off if centred else values)**2
        return z * np.sqrt(draw * (weights * off**2).sum() / size + noise * part.sum() / ((size if by_size else n) * epsilon)**2)

    return function


TABLES = [[one, "sex", "smoker"] for one in ("zip", "decade", "work")]
PAIRS = [[one, other] for one in ("zip", "decade", "work") for other in ("sex", "smoker")]
VENDOR = {"nobody": False, "million": True, "relations": False, "intervals": False, "attack": False, "informed": True, "anybody": False}

STUBS = [
    (check.syn_choose, []),
]

SOLUTIONS = [
    (check.syn_rows, lambda seed: rows(seed)),
    (check.syn_mwem, lambda seed: mwem(seed=seed)),
    (check.syn_attack, lambda seed: nearest),
    (check.syn_choose, lambda seed: TABLES),
    (check.syn_interval, lambda seed: half_width()),
    (check.syn_vendor, lambda seed: VENDOR),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.syn_rows, drawn_by(np.abs), "turned around"),
    (check.syn_rows, drawn_by(lambda noisy: noisy - noisy.min()), "lifted by the same amount"),
    (check.syn_rows, drawn_by(np.ones_like), "though some are above zero"),
    (check.syn_rows, drawn_by(lambda noisy: np.exp(noisy - noisy.max())), "through an exponential"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0, None) if noisy.max() > 0 else -noisy), "equally likely"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0, None)), "ValueError"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0.5, None)), "comes out in"),
    (check.syn_rows, lambda noisy, size, rng: rows()(np.round(noisy), size, rng), "comes out in"),
    (check.syn_rows, lambda noisy, size, rng: rows()(noisy if noisy.sum() > 0 else np.ones(len(noisy)), size, rng), "though some are above zero"),
    (check.syn_rows, rounded, "at random"),
    (check.syn_rows, lambda noisy, size, rng: np.zeros(3), "shape"),
    (check.syn_rows, lambda noisy, size, rng: rng.random(size), "cell numbers"),
    (check.syn_rows, 7, "expected a function"),
    (check.syn_mwem, mwem(shared=True), "the same noise serves all rounds"),
    (check.syn_mwem, mwem(remembers=True), "a second look then teaches nothing"),
    (check.syn_mwem, lambda *a: mwem()(*a[:3], 1, a[4]), "is that of one"),
    (check.syn_mwem, mwem(alias=True), "is that of one"),
    (check.syn_mwem, mwem(blind=True), "chosen blindly"),
    (check.syn_mwem, mwem(choose=2), "law"),
    (check.syn_mwem, mwem(choose=2, measure=0.5), "and together they may"),
    (check.syn_mwem, mwem(choose=0.5), "law"),
    (check.syn_mwem, mwem(greedy=True), "chosen without noise"),
    (check.syn_mwem, mwem(signed=True), "should be"),
    (check.syn_mwem, mwem(measure=0), "no noise"),
    (check.syn_mwem, mwem(measure=0.5), "law"),
    (check.syn_mwem, mwem(measure=2), "law"),
    (check.syn_mwem, mwem(gauss=True), "law"),
    (check.syn_mwem, mwem(per_round=False), "law"),
    (check.syn_mwem, mwem(enough=0.05), "takes all its rounds"),
    (check.syn_mwem, mwem(enough=0.01), "takes all its rounds"),
    (check.syn_mwem, mwem(step=1), "should be"),
    (check.syn_mwem, mwem(total=False), "add up"),
    (check.syn_mwem, lambda counts, *a: counts.copy(), "the table itself"),
    (check.syn_mwem, lambda counts, *a: counts[:2], "6 numbers"),
    (check.syn_attack, lambda rows, candidates: -nearest(rows, candidates), "wrong way"),
    (check.syn_attack, lambda rows, candidates: np.zeros(len(candidates)), "below 0.7"),
    (check.syn_attack, lambda rows, candidates: nearest(rows, candidates)[:5], "300 numbers"),
    (check.syn_attack, lambda rows, candidates: np.full(len(candidates), np.nan), "finite"),
    (check.syn_attack, lambda rows: rows, "TypeError"),
    (check.syn_choose, PAIRS, "a standard deviation of 17.0/ε, and 12.0/ε is possible"),
    (check.syn_choose, [["zip", "sex", "decade", "smoker"], ["work", "sex", "smoker"]], "a standard deviation of 24.0/ε, and 12.0/ε is possible"),
    (check.syn_choose, [*TABLES[:2], *PAIRS[4:]], "a standard deviation of 16.0/ε"),
    (check.syn_choose, [*TABLES, ["school"]], "12.0/ε is possible"),
    (check.syn_choose, [list(section.SIZES)], "more than 350"),
    (check.syn_choose, [*TABLES[:2], ["work", "sex"], ["smoker", "sex"]], "nobody measures smoker, work together"),
    (check.syn_choose, [["age", "sex"]], "no column age; the columns are"),
    (check.syn_choose, 7, "expected form"),
    (check.syn_interval, half_width(noise=0), "textbook interval"),
    (check.syn_interval, half_width(noise=2), "scale 1/ε"),
    (check.syn_interval, half_width(noise=4), "2b²"),
    (check.syn_interval, half_width(z=1), "one standard deviation"),
    (check.syn_interval, half_width(centred=False), "not centred"),
    (check.syn_interval, half_width(draw=0), "noise alone"),
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
    (check.syn_rows, lambda noisy, size, rng: synthetic.sample(np.clip(noisy, 0, None) if noisy.max() > 0 else np.ones(len(noisy)), rows=size, rng=rng)),
    (check.syn_mwem, lambda c, q, e, t, rng: mwem()(c, q[:, :], e, t, np.random.default_rng(rng.integers(2**60)))),
    (check.syn_mwem, lambda *arguments: mwem()(*arguments).tolist()),
    (check.syn_mwem, checking.seeded(lambda seed: mwem(seed=seed, gumbel=True))),
    (check.syn_mwem, mwem(clip=True)),
    (check.syn_attack, matches),
    (check.syn_choose, [tuple(table) for table in TABLES[::-1]]),
    (check.syn_interval, half_width(z=1.959964)),
]

LEAKS = [
    (check.syn_mwem, mwem(stop=1)),
    (check.syn_mwem, mwem(enough=0.05)),
    (check.syn_mwem, mwem(exact_from=2)),
    (check.syn_mwem, mwem(again=True)),
    (check.syn_mwem, noisy_worst),
    (check.syn_mwem, mwem(exact_from=1)),
    (check.syn_mwem, mwem(greedy=True)),
    (check.syn_mwem, mwem(shared=True)),
    (check.syn_mwem, mwem(measure=0)),
    (check.syn_mwem, mwem(quiet=lambda gap: gap < 1)),
    (check.syn_mwem, mwem(quiet=lambda gap: gap > 100)),
    (check.syn_mwem, lambda c, q, e, t, rng: mwem()(c, q, 1.0, t, rng) if e < 1e6 else mwem()(c, q, e, t, rng)),
    (check.syn_mwem, lambda c, q, e, t, rng: mwem()(c, q, e, t, np.random.default_rng(7))),
    (check.syn_mwem, lambda c, q, e, t, rng: mwem()(c, q, e, t, rng) if len(c) > 3 else c * 1.0),
    (check.syn_mwem, lambda c, q, e, t, rng: np.round(mwem(measure=1e-6)(c, q, e, t, rng))),
]


def test_the_interval_covers():
    """The formula of the exercise against simulation: five standard errors of the standard deviation of 4,000 runs."""
    rng, values, weights, n, size, epsilon = np.random.default_rng(54), np.array([10.0, 30, 50, 70]), np.array([0.4, 0.3, 0.2, 0.1]), 30_000, 20_000, 0.1
    means = []
    for _ in range(4000):
        noisy = weights * n + rng.laplace(scale=2 / epsilon, size=4)
        means.append(rng.multinomial(size, noisy / noisy.sum()) @ values / size)
    predicted = half_width()(values, weights, n, size, epsilon) / 1.96
    assert abs(np.std(means) / predicted - 1) < 5 / np.sqrt(2 * 4000)
