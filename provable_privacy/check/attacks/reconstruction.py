"""Checkers of the section on differencing and reconstruction."""
from itertools import combinations_with_replacement, product

import numpy as np
from scipy.special import bdtrc, ndtr, ndtri

from provable_privacy.battery import Numbers, Pair, battery, drawn, looks_for, luck
from provable_privacy.battery.makers import noisy, normal, shared
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, is_stub

__all__ = ["rec_ages", "rec_collapse", "rec_defend", "rec_mend", "rec_tight", "rec_tracker"]


# ------------------------------------------------------------------------------------------------------- differencing

DESKS = [(40, 8, 0), (41, 8, 40), (97, 19, 48), (120, 24, 7), (300, 1, 299), (1000, 200, 640)]       # n, k, target


class Desk:
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


def _spied(spy, desk, target):
    """What the learner's function says. Its errors pass, so that a refusal can be told from the others."""
    got = spy(lambda group: desk.ask(group), len(desk.values), target) if callable(spy) else ask(spy)
    if got is ... or got is None and is_stub(spy):
        raise NotAttempted
    if got is None:
        raise Wrong("your function returned None: is the `return` missing?")
    return float(got)


@checker
def rec_tracker(spy):
    """`spy(ask, n, target)`: a value, from at most five questions; small and large groups are refused."""
    rng = np.random.default_rng(41)
    for n, k, target in DESKS:
        values = rng.integers(10_000, 200_000, n)
        desk, value, case = Desk(values, k), values[target], f"with n = {n} and k = {k}"
        try:
            got = _spied(spy, desk, target)
        except PermissionError as refusal:
            raise Wrong(f"{case} a question was {refusal}; every group that you ask about, and the rest, must be "
                        "large") from None
        if desk.questions > 5:
            raise Wrong(f"{desk.questions} questions, and five are allowed (four are enough)")
        if abs(got + value) <= 0.5:
            raise Wrong("the right number with the wrong sign: the groups that hold the target are to be added")
        if not abs(got - value) <= 0.5:
            raise Wrong(f"{case} it says {got:,.0f}, and the value is {value:,}; count how often each person is added "
                        "and taken away")
    return "the exact value behind six interfaces, from at most five questions each"


# ---------------------------------------------------------------------------------------- two vectors, the same answers

def _bits(vector):
    bits = np.asarray(list(vector))
    if bits.shape != (8,) or not np.isin(bits, (0, 1)).all():
        raise Wrong("each vector must hold eight bits, 0 or 1")
    return bits


@checker
def rec_tight(answer):
    """`answer`: (bits, other, function of a group): 8 bits that one interface with error 1 cannot tell apart."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 3:
        raise Wrong("expected (bits, other_bits, answer)")
    one, two = map(_bits, answer[:2])
    if (apart := int(np.sum(one != two))) != 4:
        raise Wrong(f"the vectors differ in {apart} places, and they must differ in 4")
    for group in map(np.array, product((0, 1), repeat=8)):
        name, counts = f"for the group {''.join(map(str, group))}", (int(group @ one), int(group @ two))
        if abs(counts[0] - counts[1]) > 2:
            raise Wrong(f"{name} the true counts are {counts[0]} and {counts[1]}, so no answer is within 1 of both. "
                        "Choose vectors that differ in both directions, equally often")
        said = float(ask(answer[2], group.copy()))
        if not all(abs(said - count) <= 1 + 1e-9 for count in counts):
            raise Wrong(f"{name} the answer {said:g} is not within 1 of both true counts, {counts[0]} and {counts[1]}")
    return "all 256 answers fit both vectors: four wrong bits, at an error of 1"


# -------------------------------------------------------------------------------------------------- ages from a median

BLOCKS = [(3, 30, 44, 82), (3, 30, 43.7, 82), (2, 49.5, 49.5, 99), (4, 11.5, 11.8, 20), (1, 7, 7, 7), (3, 5, 9, 6)]


def _fitting(count, median, mean, oldest):
    lists = combinations_with_replacement(range(oldest + 1), count)
    return {ages for ages in lists
            if ages[-1] == oldest and abs(sum(ages) / count - mean) <= 0.05 + 1e-9 and np.median(ages) == median}


def _misfit(ages, count, median, oldest):
    if max(ages) != oldest:
        return "the oldest is not that old"
    if np.median(ages) != median:
        return "its median is another"
    return f"its mean is {np.mean(ages):.3f}" if len(ages) == count else "that is another number of people"


@checker
def rec_ages(fitting):
    """`fitting(count, median, mean, oldest)`: all sorted tuples of ages that fit."""
    for count, median, mean, oldest in BLOCKS:
        got = [tuple(int(age) for age in ages) for ages in answered(fitting, count, median, mean, oldest)]
        right = _fitting(count, median, mean, oldest)
        case = f"for {count} people, median {median:g}, mean {mean:g}, oldest {oldest}"
        if any(list(ages) != sorted(ages) for ages in got):
            raise Wrong(f"{case}: the tuples must be sorted, or the same people are counted in several orders")
        if extra := set(got) - right:
            raise Wrong(f"{case}: {min(extra)} does not fit, {_misfit(min(extra), count, median, oldest)}")
        if missing := right - set(got):
            ages = min(missing)
            raise Wrong(f"{case}: {ages} fits as well, and is missing: its median is {np.median(ages):g}, its mean "
                        f"{np.mean(ages):.3f}, which is published with one decimal")
    return "exactly the ages that fit, in all six cases"


# --------------------------------------------------------------------------------------------------- where it collapses

STUDIES = [(120, 480, 76 / 120), (100, 200, 0.5), (60, 600, 0.8)]


def _collapse(freedom=lambda n, m: m - n - 1, more=0.05, half=4):
    """The noise that leaves majority + 5 % of the bits right, right unless told otherwise."""
    return lambda n, m, majority: np.sqrt(freedom(n, m)) / (half * ndtri(max(majority + more, 0.501)))


COLLAPSES = {
    "n unknowns have to be fitted as well: put m - n under the root": _collapse(lambda n, m: m),
    "that is where the share falls to the majority, not to the majority and 5 % more": _collapse(more=0),
    "a bit is right when its error stays below one half, not one": _collapse(half=2),
}


def _left(got, right, n, m, majority):
    share = ndtr(np.sqrt(m - n - 1) / (4 * got)) if got > 0 else 1.0
    return f"that leaves {share:.0%} of the bits right, and it should be {majority + 0.05:.0%}"


@checker
def rec_collapse(collapse):
    """`collapse(n, m, majority)`: the noise at which least squares gets majority + 5 % of the bits right."""
    on_cases(collapse, STUDIES, _collapse(), COLLAPSES, rtol=0.02, what="the noise", otherwise=_left,
             accepts=lambda got, right, *_: 0.9 <= got / right <= 1.1)
    return "within 10 % in all three cases"


# --------------------------------------------------------------------------------------------- the error of the answers

def _asked(m, n, shift, rng):
    queries, bits = rng.integers(0, 2, (m, n)), rng.integers(0, 2, n)
    return queries, queries @ bits + rng.normal(shift, 2.0, m), bits


_luck = np.random.default_rng(42)
ASKED = [_asked(*case, _luck) for case in ((30, 12, 0.0), (480, 120, 1.5), (7, 40, -2.0))]


def _error(of):
    """A number from the errors of the answers."""
    return lambda queries, answers, bits: float(of(answers - queries @ bits))


ERRORS = {
    "the root is missing": _error(lambda error: np.mean(error**2)),
    "squares and averages in the wrong order: errors of opposite sign cancel": _error(lambda error: abs(error.mean())),
    "squares and averages in the wrong order: errors of opposite sign cancel, and the root is missing":
        _error(lambda error: error.mean() ** 2),
    "that is the mean absolute error": _error(lambda error: np.abs(error).mean()),
    "that is the standard deviation: a constant error counts too": _error(np.std),
}


@checker
def rec_mend(rmse):
    """`rmse(queries, answers, bits)`: the root mean square error of the answers to these queries."""
    try:
        callable(rmse) and rmse(*(array.copy() for array in ASKED[0]))
    except ValueError as problem:
        raise Wrong(f"for 30 questions it raised ValueError: {problem}; the exact counts are queries @ bits, or does "
                    "it take them from somewhere else?") from None
    on_cases(rmse, ASKED, _error(lambda error: np.sqrt(np.mean(error**2))), ERRORS, what="the error",
             show=lambda queries, *_: f"{len(queries)} questions", otherwise=lambda got, right, *_:
             f"the answers to the same questions are off by {right:.3f}. Compare them with queries @ bits: square "
             "the differences, take the mean, then the root")
    return "the error of these answers, on these questions"


# -------------------------------------------------------------------------------------------------------- noisy counts

def _counts(queries, bits, epsilon):
    return queries @ bits


def _noise(scale, *law):
    """Counts with noise; its scale, at ε = 1, follows from the most groups of one person, all groups and all people."""
    return noisy(_counts, lambda queries, bits, epsilon:
                 scale(queries.sum(axis=0).max(initial=0), *queries.shape) / epsilon, *law)


def _pairs_of_one_size(rng, scale, shape):
    noise = rng.laplace(scale=scale, size=shape)
    noise[1::2] = noise[0::2][: len(noise) // 2] * rng.choice([-1, 1], len(noise) // 2)
    return noise


RIGHT = _noise(lambda most, m, n: most)


def _again(largest):
    """Each answer is drawn again until it lies between 0 and `largest(queries)`."""
    def counts(queries, bits, epsilon, rng):
        out = np.full(len(queries), -1.0)
        while (bad := (out < 0) | (out > largest(queries))).any():
            out[bad] = RIGHT(queries, bits, epsilon, rng)[bad]
        return out

    return counts


MISTAKES = {
    "there is no noise at all: 240 such answers are the table": _noise(lambda most, m, n: 0),
    "each answer has noise of scale 1/ε, as if it were the only answer. A person who is in several groups is in "
    "several answers, and together these cost that many times ε":
        _noise(lambda most, m, n: 1),
    "one noise serves all answers: the difference of two answers is exact": _noise(lambda most, m, n: most, shared()),
    "two answers have noise of the same size: their sum or their difference is exact":
        _noise(lambda most, m, n: most, _pairs_of_one_size),
    "the noise is made for the average person; the promise is also for whoever is in the most groups":
        noisy(_counts, lambda queries, bits, epsilon: queries.sum(axis=0).mean() / epsilon),
    "the noise is half of what it must be": _noise(lambda most, m, n: most / 2),
    "the noise has the scale of half of all answers; a person can be in more groups than half":
        _noise(lambda most, m, n: m / 2),
    "the noise grows like the root of the number of groups, as for the distance in L2: Laplace noise needs L1":
        _noise(lambda most, m, n: m**0.5),
    "the noise is scaled by the distance in L2, which is the root of the number of groups that a person is in. "
    "Laplace noise needs the distance in L1":
        _noise(lambda most, m, n: most**0.5),
    "the noise grows with the number of people, in all or in a group. What counts is how many answers one person "
    "can change": _noise(lambda most, m, n: n),
    "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2":
        _noise(lambda most, m, n: most / 2**0.5),
    "normal noise satisfies no ε at all, its tails fall too fast": _noise(lambda most, m, n: 2**0.5 * most, normal),
    "normal noise satisfies no ε at all, whatever its size": _noise(lambda most, m, n: most, normal),
    "noise is drawn again until no answer is below 0: how often depends on the bits; cut the answer instead":
        _again(lambda queries: np.inf),
    "noise is drawn again until each answer is possible: how often depends on the bits; cut the answer instead":
        _again(lambda queries: queries.shape[1]),
    "private, but here with about twice the noise it needs": _noise(lambda most, m, n: 2 * most),
}


def _flip(what, queries, bits, people, epsilon, **settings):
    """These bits, and the same with the bits of these people replaced."""
    queries, one = np.array(queries), np.array(bits)
    two = one.copy()
    two[people] = 1 - two[people]
    return Pair(what, (queries, one, epsilon), (queries, two, epsilon), ((len(people) * epsilon, 0.0),),
                (queries @ one, queries @ two), share=0.75, **settings,
                within=1.69 * len(queries) / epsilon)        # the number of questions is a scale that is enough


_luck = np.random.default_rng(43)
GROUPS = [[1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [1, 0, 0, 1, 1], [1, 1, 1, 0, 0]]    # the first is in all, the last in one
WARDS = np.eye(14, dtype=int).repeat(9, axis=1)
FLIPS = [
    _flip("nobody is ill / the one who is in all four groups is", GROUPS, [0] * 5, [0], 1.0, twice=800),
    _flip("all are ill / all but the last", GROUPS, [1] * 5, [4], 0.5),
    _flip("two are ill / one of them is not", GROUPS, [0, 1, 0, 1, 0], [3], 0.4),
    _flip("one group, ε = 0.02 / 15 of its people are ill", [[1] * 20 + [0]], [0] * 20 + [1], range(15), 0.02,
          runs=2500),
    _flip("nobody is ill / the one who is in all three groups is", np.eye(3, 9, 0, int) | (np.arange(9) == 0),
          [0] * 9, [0], 0.4, runs=2000),
    _flip("30 people, nobody is ill / the one in all six groups is", np.eye(6, 30, 0, int) | (np.arange(30) == 0),
          [0] * 30, [0], 1.0, runs=1200),
    _flip("two groups, nobody is ill / the one who is in both is", [[1, 1, 0], [1, 0, 1]], [0] * 3, [0], 1.0,
          runs=12_000),
    _flip("a firm of one who is well / the same, ill", [[1], [1], [0], [0]], [0], [0], 0.7),
    _flip("14 wards of nine people, ε = 0.25 / four more of the last are ill", WARDS, [1] + [0] * 125, range(119, 123),
          0.25, runs=2600),
    *(_flip(f"{at['n']} people, {at['m']} questions, ε = {at['epsilon']} / the last bit replaced",
            _luck.integers(0, 2, (at["m"], at["n"])), _luck.integers(0, 2, at["n"]), [at["n"] - 1], at["epsilon"],
            runs=2500)
      for at in drawn(1, 431, n=(4, 9), m=(2, 7), epsilon=(0.3, 1.2))),
    _flip("one group of eight, two are ill / nobody is", [[1] * 8], [1, 0, 1] + [0] * 5, [0, 2], 0.75, runs=72_000),
    _flip("130 questions about six people / one of them is ill", np.random.default_rng(46).integers(0, 2, (130, 6)),
          [0, 1, 0, 1, 0, 0], [0], 0.5, runs=300),
    _flip("four groups, all are ill, ε = 12 / the one who is in all is not", GROUPS, [1] * 5, [0], 12.0, runs=1500,
          law=True),
]
MANY = _luck.integers(0, 2, (2000, 200))


def _gives_few_bits_away(answer, epsilon, calls):
    """`Wrong` if least squares finds more bits than any attack can; by luck once in a thousand million times.

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
        raise Wrong(f"from the answers to {m:,} random questions at ε = {epsilon:g} least squares finds "
                    f"{found / calls / n:.0%} of {calls * n:,} bits. No attack on answers that keep ε finds more "
                    f"than {ceiling:.0%}: the noise must grow with the number of groups that a person is in, "
                    "however many")


@checker
@looks_for("contents", "quotient", "own", "zero", size="a bit is replaced", empty="a bit is replaced",
           fractions="bits are 0 or 1", negative="bits are 0 or 1", missing="bits are 0 or 1",
           order="an answer to each question comes out")
def rec_defend(private_answers):
    """`private_answers(queries, bits, epsilon, rng)`: noisy counts, together epsilon-DP when one bit is replaced."""
    seen = battery(private_answers, lambda pair: Numbers(len(pair.truth[0]), "answer"), FLIPS, mistakes=MISTAKES,
                   right=RIGHT, seed=43)
    _gives_few_bits_away(private_answers, 1.0, 8)
    return seen
