"""The checkers of the section on synthetic data: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import numpy as np
import pytest

from dplib import histograms, mechanisms, synthetic
from dplib.teaching import check
from dplib.teaching.check.histograms import synthetic as section


def stub(*arguments):
    ...


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
    return np.repeat(np.arange(len(noisy)), histograms.lattice(size * weights / weights.sum(), size))


def mwem(*, seed=None, choose=1.0, measure=1.0, shared=False, alias=False, blind=False, signed=False, greedy=False, step=2, total=True,
         per_round=True, gauss=False):
    """A learner's MWEM, right unless told otherwise."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(counts, queries, epsilon, rounds, rng):
        rng, n, each = own or rng, counts.sum(), epsilon / (2 * (rounds if per_round else 1))
        guess = np.full(len(counts), n / len(counts))
        one = rng.laplace(scale=1 / each)
        for _ in range(rounds):
            old = guess if alias else guess.copy()
            gaps = queries @ (counts - guess) if signed else np.abs(queries @ (counts - guess))
            worst = np.argmax(gaps) if greedy else mechanisms.exponential(gaps / (n if blind else 1), sensitivity=1, epsilon=choose * each, rng=rng)
            q = queries[worst]
            noise = one if shared else rng.normal(scale=2**0.5 / each) if gauss else rng.laplace(scale=measure / each)
            guess *= np.exp(q * (q @ counts + noise - q @ guess) / (step * n))
            if total:
                guess *= n / guess.sum()
            if alias and np.allclose(guess, old):
                break
        return guess

    return function


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


TABLES = [["school", "income", "work"], ["zip", "sex", "decade", "smoker"], ["decade", "work"]]
VENDOR = {"nobody": False, "million": True, "relations": False, "intervals": False, "attack": False, "odds": True}

STUBS = [
    (check.syn_rows, stub),
    (check.syn_mwem, stub),
    (check.syn_attack, stub),
    (check.syn_choose, ...),
    (check.syn_choose, []),
    (check.syn_interval, stub),
    (check.syn_vendor, dict.fromkeys(VENDOR, ...)),
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
    (check.syn_rows, drawn_by(np.ones_like), "not used"),
    (check.syn_rows, drawn_by(lambda noisy: np.exp(noisy - noisy.max())), "through an exponential"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0, None) if noisy.max() > 0 else -noisy), "equally likely"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 0, None)), "ValueError"),
    (check.syn_rows, drawn_by(lambda noisy: np.clip(noisy, 5, None)), "comes out in"),
    (check.syn_rows, rounded, "at random"),
    (check.syn_rows, lambda noisy, size, rng: np.zeros(3), "shape"),
    (check.syn_rows, lambda noisy, size, rng: rng.random(size), "cell numbers"),
    (check.syn_rows, 7, "expected a function"),
    (check.syn_mwem, mwem(shared=True), "same noise serves all rounds"),
    (check.syn_mwem, lambda *a: mwem()(*a[:3], 1, a[4]), "is that of one"),
    (check.syn_mwem, mwem(alias=True), "is that of one"),
    (check.syn_mwem, mwem(blind=True), "chosen blindly"),
    (check.syn_mwem, mwem(choose=2), "twice its share"),
    (check.syn_mwem, mwem(choose=0.5), "half of its share"),
    (check.syn_mwem, mwem(greedy=True), "chosen without noise"),
    (check.syn_mwem, mwem(signed=True), "should be"),
    (check.syn_mwem, mwem(measure=0), "no noise"),
    (check.syn_mwem, mwem(measure=0.5), "half of what it must be"),
    (check.syn_mwem, mwem(measure=2), "twice what it must be"),
    (check.syn_mwem, mwem(gauss=True), "do not have Laplace noise"),
    (check.syn_mwem, mwem(per_round=False), "whole budget"),
    (check.syn_mwem, mwem(step=1), "should be"),
    (check.syn_mwem, mwem(total=False), "add up"),
    (check.syn_mwem, lambda counts, *a: counts.copy(), "the table itself"),
    (check.syn_mwem, lambda counts, *a: counts[:2], "shape"),
    (check.syn_attack, lambda rows, candidates: -nearest(rows, candidates), "wrong way"),
    (check.syn_attack, lambda rows, candidates: np.zeros(len(candidates)), "below 0.7"),
    (check.syn_attack, lambda rows, candidates: nearest(rows, candidates)[:5], "score for each"),
    (check.syn_attack, lambda rows, candidates: np.full(len(candidates), np.nan), "finite"),
    (check.syn_attack, lambda rows: rows, "TypeError"),
    (check.syn_choose, [["school", "income"], ["work", "income"], ["zip", "sex", "decade", "smoker"], ["decade", "work"]], "3 are enough"),
    (check.syn_choose, [list(section.SIZES)], "more than 350"),
    (check.syn_choose, [["school", "income", "work"], ["decade", "work"], ["zip", "smoker"], ["zip", "sex"]], "together"),
    (check.syn_choose, [["age", "sex"]], "no column age"),
    (check.syn_choose, 7, "expected form"),
    (check.syn_interval, half_width(noise=0), "textbook interval"),
    (check.syn_interval, half_width(noise=2), "scale 1/ε"),
    (check.syn_interval, half_width(noise=4), "2b²"),
    (check.syn_interval, half_width(z=1), "one standard deviation"),
    (check.syn_interval, half_width(centred=False), "not centred"),
    (check.syn_interval, half_width(draw=0), "noise alone"),
    (check.syn_interval, half_width(noise=80), "too wide"),
    (check.syn_interval, lambda *a: "wide", "expected form"),
    (check.syn_vendor, {**VENDOR, "nobody": True}, "made from somebody"),
    (check.syn_vendor, {**VENDOR, "attack": True}, "only a proof"),
    (check.syn_vendor, {**VENDOR, "odds": ...}, "odds: not attempted yet"),
    (check.syn_vendor, {**VENDOR, "odds": "yes"}, "True or False"),
    (check.syn_vendor, {"odds": True}, "expected the sentences"),
]


def test_every_checker_is_tested():
    names = set(section.__all__)
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == names


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, None) for checker, _ in STUBS)])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    lines = {says(checker, solution(seed)) for seed in range(20)}    # 120 tests at 1e-6 in all
    assert len(lines) == 1 and lines.pop().startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and reason in said


@pytest.mark.parametrize("checker, answer", [
    (check.syn_rows, lambda noisy, size, rng: synthetic.sample(np.clip(noisy, 0, None) if noisy.max() > 0 else np.ones(len(noisy)), size, rng=rng)),
    (check.syn_mwem, lambda c, q, e, t, rng: mwem()(c, q[:, :], e, t, np.random.default_rng(rng.integers(2**60)))),
    (check.syn_attack, matches),
    (check.syn_choose, [("work", "decade"), {"income", "work", "school"}, ["smoker", "decade", "sex", "zip"]]),
    (check.syn_interval, half_width(z=1.959964)),
])
def test_an_unusual_answer_that_is_right_is_accepted(says, checker, answer):
    assert says(checker, answer).startswith("✓")


def test_the_interval_covers():
    """The formula of the exercise against simulation: five standard errors of the standard deviation of 4,000 runs."""
    rng, values, weights, n, size, epsilon = np.random.default_rng(54), np.array([10.0, 30, 50, 70]), np.array([0.4, 0.3, 0.2, 0.1]), 30_000, 20_000, 0.1
    means = []
    for _ in range(4000):
        noisy = weights * n + rng.laplace(scale=2 / epsilon, size=4)
        means.append(rng.multinomial(size, noisy / noisy.sum()) @ values / size)
    predicted = half_width()(values, weights, n, size, epsilon) / 1.96
    assert abs(np.std(means) / predicted - 1) < 5 / np.sqrt(2 * 4000)
