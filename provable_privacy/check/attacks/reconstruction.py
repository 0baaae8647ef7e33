"""Checkers of the section on differencing and reconstruction."""
from itertools import combinations_with_replacement, product

import numpy as np
from scipy.special import bdtrc, ndtr, ndtri

from provable_privacy.battery import Numbers, Pair, battery, drawn, luck
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, is_stub, number

__all__ = ["rec_ages", "rec_collapse", "rec_defend", "rec_mend", "rec_tight", "rec_tracker"]


def _nothing(got, function):
    if got is ... or got is None and is_stub(function):
        raise NotAttempted
    if got is None:
        raise Wrong("your function returned None: is the `return` missing?")


class _Interface:
    """Answers sums over groups of k to n - k people, and counts the questions, the refused ones too."""

    def __init__(self, values, k):
        self.values, self.k, self.questions = values, k, 0

    def ask(self, group):
        group = np.asarray(group)
        if group.dtype != bool or group.shape != self.values.shape:
            raise Wrong(f"ask takes an array of {len(self.values)} booleans, got {group.dtype} of shape {group.shape}")
        self.questions += 1
        size = int(group.sum())
        if not self.k <= size <= len(self.values) - self.k:
            raise PermissionError(f"refused: a group of {size} of {len(self.values)}")
        return int(self.values[group].sum())


@checker
def rec_tracker(spy):
    """`spy(ask, n, target)`: the target's value, from at most five questions to an interface that refuses small and large groups."""
    rng = np.random.default_rng(41)
    for n, k, target in ((40, 8, 0), (41, 8, 40), (97, 19, 48), (120, 24, 7), (300, 1, 299), (1000, 200, 640)):
        values = rng.integers(10_000, 200_000, n)
        interface = _Interface(values, k)
        try:
            got = spy(lambda group, desk=interface: desk.ask(group), n, target) if callable(spy) else ask(spy)
        except PermissionError as refusal:
            raise Wrong(f"with n = {n} and k = {k} a question was {refusal}; every group that you ask about, and the rest, must be large") from None
        _nothing(got, spy)
        if interface.questions > 5:
            raise Wrong(f"{interface.questions} questions, and five are allowed (four are enough)")
        if not np.isclose(float(got), values[target], rtol=0, atol=0.5):
            if np.isclose(float(got), -values[target], rtol=0, atol=0.5):
                raise Wrong("the right number with the wrong sign: the groups that hold the target are to be added")
            raise Wrong(f"with n = {n} and k = {k} it says {float(got):,.0f}, and the value is {values[target]:,}; "
                        "count how often each person is added and taken away")
    return "the exact value behind six interfaces, from at most five questions each"


@checker
def rec_tight(answer):
    """`answer`: (bits, other, function of a group), two vectors of 8 bits that one interface with error 1 cannot tell apart."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 3:
        raise Wrong("expected (bits, other_bits, answer)")
    one, two = (np.asarray(list(bits)) for bits in answer[:2])
    for bits in (one, two):
        if bits.shape != (8,) or not np.isin(bits, (0, 1)).all():
            raise Wrong("each vector must hold eight bits, 0 or 1")
    apart = int(np.sum(one != two))
    if apart != 4:
        raise Wrong(f"the vectors differ in {apart} places, and they must in 4")
    for group in product((0, 1), repeat=8):
        group = np.array(group)
        counts = int(group @ one), int(group @ two)
        if abs(counts[0] - counts[1]) > 2:
            raise Wrong(f"for the group {''.join(map(str, group))} the true counts are {counts[0]} and {counts[1]}: "
                        "no answer is within 1 of both; let the vectors disagree in both directions, equally often")
        said = float(ask(answer[2], group.copy()))
        if not all(abs(said - count) <= 1 + 1e-9 for count in counts):
            raise Wrong(f"for the group {''.join(map(str, group))} the answer {said:g} is not within 1 of both true counts, {counts[0]} and {counts[1]}")
    return "all 256 answers fit both vectors: four wrong bits, at an error of 1"


def _fitting(count, median, mean, oldest):
    lists = combinations_with_replacement(range(oldest + 1), count)
    return {ages for ages in lists if ages[-1] == oldest and abs(sum(ages) / count - mean) <= 0.05 + 1e-9 and np.median(ages) == median}


@checker
def rec_ages(fitting):
    """`fitting(count, median, mean, oldest)`: all sorted tuples of ages that fit."""
    for count, median, mean, oldest in ((3, 30, 44, 82), (3, 30, 43.7, 82), (2, 49.5, 49.5, 99), (4, 11.5, 11.8, 20), (1, 7, 7, 7), (3, 5, 9, 6)):
        got = answered(fitting, count, median, mean, oldest)
        got, right = [tuple(int(age) for age in ages) for ages in got], _fitting(count, median, mean, oldest)
        where = f"for {count} people, median {median:g}, mean {mean:g}, oldest {oldest}"
        if any(list(ages) != sorted(ages) for ages in got):
            raise Wrong(f"{where}: the tuples must be sorted, or the same people are counted in several orders")
        if extra := set(got) - right:
            ages = min(extra)
            why = ("the oldest is not that old" if max(ages) != oldest else "its median is another" if np.median(ages) != median
                   else f"its mean is {np.mean(ages):.3f}" if len(ages) == count else "that is another number of people")
            raise Wrong(f"{where}: {ages} does not fit, {why}")
        if missing := right - set(got):
            raise Wrong(f"{where}: {min(missing)} fits as well, and is missing: its median is {np.median(min(missing)):g}, "
                        f"its mean {np.mean(min(missing)):.3f}, which is published with one decimal")
    return "exactly the ages that fit, in all six cases"


@checker
def rec_collapse(collapse):
    """`collapse(n, m, majority)`: the noise at which least squares gets majority + 5 % of the bits right."""
    for n, m, majority in ((120, 480, 76 / 120), (100, 200, 0.5), (60, 600, 0.8)):
        got = number(answered(collapse, n, m, majority), f"for n = {n} and m = {m}")
        exact = np.sqrt(m - n - 1) / (4 * ndtri(majority + 0.05))
        if 0.9 <= got / exact <= 1.1:
            continue
        where = f"for n = {n}, m = {m} and a majority of {majority:.0%}"
        for value, message in (
            (np.sqrt(m) / (4 * ndtri(majority + 0.05)), "n unknowns have to be fitted as well: put m - n under the root"),
            (np.sqrt(m - n) / (4 * ndtri(max(majority, 0.501))), "that is where the share falls to the majority, not to the majority and 5 % more"),
            (np.sqrt(m - n) / (2 * ndtri(majority + 0.05)), "a bit is right when its error stays below one half, not one"),
        ):
            if np.isclose(got, value, rtol=0.02):
                raise Wrong(f"{where} you say {got:.1f}; {message}")
        share = ndtr(np.sqrt(m - n - 1) / (4 * got)) if got > 0 else 1.0
        raise Wrong(f"{where} a noise of {got:.1f} leaves {share:.0%} of the bits right, and it should be {majority + 0.05:.0%}")
    return "within 10 % in all three cases"


@checker
def rec_mend(rmse):
    """`rmse(queries, answers, bits)`: the root mean square error of the answers to these queries."""
    rng = np.random.default_rng(42)
    for m, n, shift in ((30, 12, 0.0), (480, 120, 1.5), (7, 40, -2.0)):
        queries, bits = rng.integers(0, 2, (m, n)), rng.integers(0, 2, n)
        error = rng.normal(shift, 2.0, m)
        try:
            got = rmse(queries.copy(), queries @ bits + error, bits.copy()) if callable(rmse) else ask(rmse)
        except ValueError as problem:
            raise Wrong(f"for {m} questions it raised ValueError: {problem}; the exact counts are queries @ bits, "
                        "or does it take them from somewhere else?") from None
        _nothing(got, rmse)
        got, right = float(got), np.sqrt(np.mean(error**2))
        if np.isclose(got, right, rtol=1e-6):
            continue
        for value, message in (
            (right**2, "the root is missing"),
            (abs(error.mean()), "squares and averages in the wrong order: errors of opposite sign cancel"),
            (error.mean() ** 2, "squares and averages in the wrong order: errors of opposite sign cancel, and the root is missing"),
            (np.abs(error).mean(), "that is the mean absolute error"),
            (error.std(), "that is the standard deviation: a constant error counts too"),
        ):
            if np.isclose(got, value, rtol=1e-6):
                raise Wrong(f"for {m} questions it says {got:.3f}, and it should be {right:.3f}: {message}")
        raise Wrong(f"for {m} questions it says {got:.3f}, and the answers to the same questions are off by {right:.3f}: compare with "
                    "queries @ bits, and take the root of the mean of the squares, one for each question")
    return "the error of these answers, on these questions"


def _with(scale, draw="laplace"):
    """A learner's wrong answer: noise of this scale at ε = 1, from the most groups that one is in, their number, and the people."""
    def wrong(queries, bits, epsilon, rng):
        (m, n), most = queries.shape, queries.sum(axis=0).max(initial=0)
        return queries @ bits + getattr(rng, draw)(scale=scale(most, m, n) / epsilon, size=m)

    return wrong


def _shared(queries, bits, epsilon, rng):
    return queries @ bits + rng.laplace(scale=queries.sum(axis=0).max(initial=0) / epsilon)


def _same_size(queries, bits, epsilon, rng):
    m = len(queries)
    noise = rng.laplace(scale=queries.sum(axis=0).max(initial=0) / epsilon, size=m)
    noise[1::2] = noise[0::2][: m // 2] * rng.choice([-1, 1], m // 2)
    return queries @ bits + noise


def _average(queries, bits, epsilon, rng):
    return queries @ bits + rng.laplace(scale=queries.sum(axis=0).mean() / epsilon, size=len(queries))


def _again(largest):
    def wrong(queries, bits, epsilon, rng):
        out, draw = np.full(len(queries), -1.0), _with(lambda most, m, n: most)
        while (bad := (out < 0) | (out > largest(queries))).any():
            out[bad] = draw(queries, bits, epsilon, rng)[bad]
        return out

    return wrong


MISTAKES = {
    "there is no noise at all: 240 such answers are the table": lambda queries, bits, epsilon, rng: queries @ bits,
    "here each answer has the noise 1/ε, as if it were alone; together they cost as many ε as one person is in groups": _with(lambda most, m, n: 1),
    "one noise serves all answers: the difference of two answers is exact": _shared,
    "two answers have noise of the same size: their sum or their difference is exact": _same_size,
    "the noise is made for the average person; the promise is also for whoever is in the most groups": _average,
    "the noise is half of what it must be": _with(lambda most, m, n: most / 2),
    "the noise has the scale of half of all answers; a person can be in more groups than half": _with(lambda most, m, n: m / 2),
    "the noise grows like the root of the number of groups, as for the distance in L2: Laplace noise needs L1": _with(lambda most, m, n: m**0.5),
    "the noise is made for the distance in L2, the root of the number of groups that one is in: Laplace noise needs L1": _with(lambda most, m, n: most**0.5),
    "the noise grows with the number of people, of all or of a group; what counts is how many answers one of them can move": _with(lambda most, m, n: n),
    "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": _with(lambda most, m, n: most / 2**0.5),
    "normal noise satisfies no ε at all, its tails fall too fast": _with(lambda most, m, n: 2**0.5 * most, "normal"),
    "normal noise satisfies no ε at all, whatever its size": _with(lambda most, m, n: most, "normal"),
    "noise is drawn again until no answer is below 0: how often depends on the bits; cut the answer instead": _again(lambda queries: np.inf),
    "noise is drawn again until each answer is possible: how often depends on the bits; cut the answer instead": _again(lambda queries: queries.shape[1]),
    "private, but here with about twice the noise it needs": _with(lambda most, m, n: 2 * most),
}


def _flip(what, queries, bits, people, epsilon, **settings):
    """These bits, and the same with the bits of these people replaced."""
    queries, one = np.array(queries), np.array(bits)
    two = one.copy()
    two[people] = 1 - two[people]
    return Pair(what, (queries, one, epsilon), (queries, two, epsilon), ((len(people) * epsilon, 0.0),), (queries @ one, queries @ two),
                within=1.69 * len(queries) / epsilon, share=0.75, **settings)      # the number of questions is a scale that suffices


_rng = np.random.default_rng(43)
GROUPS = np.array([[1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [1, 0, 0, 1, 1], [1, 1, 1, 0, 0]])      # person 0 is in all, the last in one
FLIPS = [
    _flip("nobody is ill / the one who is in all four groups is", GROUPS, [0] * 5, [0], 1.0, twice=800),
    _flip("all are ill / all but the last", GROUPS, [1] * 5, [4], 0.5),
    _flip("two are ill / one of them is not", GROUPS, [0, 1, 0, 1, 0], [3], 0.4),
    _flip("one group, ε = 0.05 / eight of its people are ill", [[1] * 20 + [0]], [0] * 20 + [1], range(8), 0.05, runs=2000),
    _flip("nobody is ill / the one who is in all three groups is", np.eye(3, 9, 0, int) | (np.arange(9) == 0), [0] * 9, [0], 0.4, runs=2000),
    _flip("two groups, nobody is ill / the one who is in both is", [[1, 1, 0], [1, 0, 1]], [0] * 3, [0], 1.0, runs=12_000),
    _flip("a firm of one who is well / the same, ill", [[1], [1], [0], [0]], [0], [0], 0.7),
    _flip("20 wards of six people, ε = 0.25 / four more of the last are ill", np.eye(20, dtype=int).repeat(6, axis=1), [1] + [0] * 119, range(115, 119), 0.25,
          runs=1700),
    *(_flip(f"{at['n']} people, {at['m']} questions, ε = {at['epsilon']} / the last bit replaced", _rng.integers(0, 2, (at["m"], at["n"])),
            _rng.integers(0, 2, at["n"]), [at["n"] - 1], at["epsilon"], runs=2500)
      for at in drawn(1, 431, n=(4, 9), m=(2, 7), epsilon=(0.3, 1.2))),
    _flip("one group of eight, two are ill / nobody is", [[1] * 8], [1, 0, 1, 0, 0, 0, 0, 0], [0, 2], 0.75, runs=72_000),
]
MANY = _rng.integers(0, 2, (2000, 200))


@checker
def rec_defend(private_answers):
    """`private_answers(queries, bits, epsilon, rng)`: noisy counts, together epsilon-DP when one bit is replaced."""
    looked = battery(private_answers, lambda pair: Numbers(len(pair.truth[0]), "answer"), FLIPS, mistakes=MISTAKES, seed=43)
    _gives_few_bits_away(private_answers, 1.0, 8)
    return looked


def _gives_few_bits_away(answer, epsilon, calls):
    """`Wrong` if least squares finds more of random bits in the answers to many questions than any attack can, but for luck of probability 1e-9.

    Whatever the answers and the other bits say of a bit, a guess at it is right with probability e^ε/(1 + e^ε) at most.
    """
    (m, n), rng, form, found = MANY.shape, luck(44), Numbers(len(MANY), "answer"), 0
    ceiling, solve = 1 / (1 + np.exp(-epsilon)), np.linalg.pinv(MANY)
    for bits in np.random.default_rng(45).integers(0, 2, (calls, n)):
        try:
            answers = form.read(answered(answer, MANY.copy(), bits.copy(), epsilon, rng))
        except Wrong as reason:
            raise Wrong(f"on {m:,} questions about {n} people: {reason}") from None
        found += int(((solve @ answers > 0.5) == bits).sum())
    if bdtrc(found - 1, calls * n, ceiling) < 1e-9:
        raise Wrong(f"from the answers to {m:,} random questions at ε = {epsilon:g} least squares finds {found / calls / n:.0%} of {calls * n:,} bits, and no "
                    f"attack on answers that keep ε finds more than {ceiling:.0%}: the noise has to grow with the groups that one is in, however many")
