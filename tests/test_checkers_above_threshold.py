"""The checkers of the first section on sparse vectors: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import numpy as np
import pytest
from scipy.optimize import brentq

from dplib import svt
from dplib.teaching import check
from dplib.teaching.check.sparse_vector import above_threshold


def first_above(threshold_scale=2.0, query_scale=4.0, *, redraw=False, ignore_sensitivity=False, silent=None, seed=None, draw="laplace"):
    """A learner's AboveThreshold, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(answers, threshold, epsilon, sensitivity, rng):
        rng = own or rng
        unit = (1 if ignore_sensitivity else sensitivity) / epsilon
        noise = (lambda scale: rng.laplace(scale=scale)) if draw == "laplace" else (lambda scale: rng.normal(scale=2**0.5 * scale))
        level = threshold + noise(threshold_scale * unit)
        for index, answer in enumerate(answers):
            if redraw:
                level = threshold + noise(threshold_scale * unit)
            if answer + noise(query_scale * unit) >= level:
                return index
        return silent(rng, answers) if silent else None

    return function


class Watch:
    """A learner's streaming AboveThreshold, right unless a subclass changes it."""

    redraw = unstoppable = False
    threshold_scale, query_scale = 2.0, 4.0

    def __init__(self, threshold, epsilon, rng):
        self.threshold, self.epsilon, self.rng, self.halted = threshold, epsilon, rng, False
        self.level = threshold + rng.laplace(scale=self.threshold_scale / epsilon)

    def ask(self, answer):
        if self.halted and not self.unstoppable:
            raise RuntimeError
        if self.redraw:
            self.level = self.threshold + self.rng.laplace(scale=self.threshold_scale / self.epsilon)
        self.halted = bool(answer + self.rng.laplace(scale=self.query_scale / self.epsilon) >= self.level)
        return self.halted


def with_seed(seed):
    class Seeded(Watch):
        luck = np.random.default_rng(seed)

        def __init__(self, threshold, epsilon, rng):
            super().__init__(threshold, epsilon, self.luck)

    return Seeded


def one_noise_for_all(answers, threshold, epsilon, sensitivity, rng):
    gap = rng.laplace(scale=2 * sensitivity / epsilon) - rng.laplace(scale=4 * sensitivity / epsilon)
    return next((index for index, answer in enumerate(answers) if answer >= threshold + gap), None)


def redrawn_later(answers, threshold, epsilon, sensitivity, rng):
    """A new threshold noise after the fourth answer: right on short lists."""
    for index, answer in enumerate(answers):
        if index in (0, 4):
            level = threshold + rng.laplace(scale=2 * sensitivity / epsilon)
        if answer + rng.laplace(scale=4 * sensitivity / epsilon) >= level:
            return index
    return None


def in_place(answers, threshold, epsilon, sensitivity, rng):
    """Changes the list that it is given: bad manners, but private."""
    level = threshold + rng.laplace(scale=2 * sensitivity / epsilon)
    for index in range(len(answers)):
        answers[index] += rng.laplace(scale=4 * sensitivity / epsilon)
        if answers[index] >= level:
            return index
    return None


def stub(*arguments):
    ...


def exact_level(k, epsilon, beta):
    def excess(level):
        return -np.expm1(svt.log_probability(np.zeros(k), np.full(k, -level), noise=svt.scales(epsilon))) - beta

    return brentq(excess, 0.0, 5000.0)


TOUCH = {"daily": (1, 0.1), "excess": (200, 20), "week": (7, 0.7)}

STUBS = [
    (check.svt_touch, dict.fromkeys(TOUCH, ...)),
    (check.svt_build, stub),
    (check.svt_level, stub),
    (check.svt_counterexample, ...),
    (check.svt_refute, ...),
    (check.svt_mend, ...),
    (check.svt_monotone, ...),
]

SOLUTIONS = [
    (check.svt_touch, lambda seed: TOUCH),
    (check.svt_build, lambda seed: first_above(seed=seed)),
    (check.svt_level, lambda seed: exact_level),
    (check.svt_counterexample, lambda seed: ([0] * 21, [1] * 21, [0] * 21)),
    (check.svt_refute, lambda seed: ([0] * 5, [1] * 4 + [-1])),
    (check.svt_mend, with_seed),
    (check.svt_monotone, lambda seed: 2.0),
]


class Redrawn(Watch):
    redraw = True


class Unstoppable(Watch):
    unstoppable = True


class NoisyNo(Watch):
    """Refuses a second alarm, but goes on saying No."""

    def ask(self, answer):
        was_halted, self.halted = self.halted, False
        reply = super().ask(answer)
        if was_halted and reply:
            raise RuntimeError
        self.halted = was_halted or reply
        return reply


class Memoised(Watch):
    """The same answer gets the same noise."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.noise = {}

    def ask(self, answer):
        if self.halted:
            raise RuntimeError
        self.noise.setdefault(answer, self.rng.laplace(scale=self.query_scale / self.epsilon))
        self.halted = bool(answer + self.noise[answer] >= self.level)
        return self.halted


class Mute(Watch):
    """Says No for ever after its alarm, without looking: post-processing, and private."""

    def ask(self, answer):
        return False if self.halted else super().ask(answer)


class Stubborn(Watch):
    """Refuses with an exception of its own."""

    def ask(self, answer):
        if self.halted:
            raise StopIteration
        return super().ask(answer)


class HalfNoise(Watch):
    threshold_scale, query_scale = 1.0, 2.0


WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_touch, {**TOUCH, "excess": (100, 10)}, "worst evening"),
    (check.svt_touch, {**TOUCH, "daily": (200, 20)}, "how many daily counts"),
    (check.svt_touch, {**TOUCH, "week": (1, 0.1)}, "how many evenings"),
    (check.svt_touch, {**TOUCH, "week": ...}, "week: not attempted yet"),
    (check.svt_touch, {**TOUCH, "week": (7, 0.1)}, "does not cost 0.1"),
    (check.svt_touch, {"daily": (1, 0.1)}, "expected the streams"),
    (check.svt_touch, 7, "expected form"),
    (check.svt_build, first_above(0, 0), "no noise at all"),
    (check.svt_build, first_above(0, 4), "threshold has no noise"),
    (check.svt_build, first_above(2, 0), "answers have no noise"),
    (check.svt_build, first_above(2, 2), "noise on the answers is half"),
    (check.svt_build, first_above(1, 4), "noise on the threshold is half"),
    (check.svt_build, first_above(1, 2), "all noise is half"),
    (check.svt_build, first_above(2**0.5, 8**0.5), "Laplace scale is smaller"),
    (check.svt_build, first_above(4, 8), "twice the noise"),
    (check.svt_build, first_above(redraw=True), "drawn anew"),
    (check.svt_build, first_above(ignore_sensitivity=True), "ignores the sensitivity"),
    (check.svt_build, first_above(4, 2), "swapped"),
    (check.svt_build, one_noise_for_all, "one noise serves all"),
    (check.svt_build, redrawn_later, "comes out in"),
    (check.svt_build, first_above(draw="normal"), "comes out in"),
    (check.svt_build, first_above(silent=lambda rng, answers: int(rng.integers(len(answers)))), "say None"),
    (check.svt_build, lambda *arguments: True, "expected an index"),
    (check.svt_build, lambda *arguments: 0.5, "expected an index"),
    (check.svt_build, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.svt_build, lambda answers: 0, "TypeError"),
    (check.svt_build, "no function", "expected a function"),
    (check.svt_level, lambda k, epsilon, beta: 8 * (np.log(k) + np.log(2 / beta)) / epsilon, "the theorem's"),
    (check.svt_level, lambda k, epsilon, beta: exact_level(1, epsilon, beta), "too low"),
    (check.svt_level, lambda k, epsilon, beta: 1.1 * exact_level(k, epsilon, beta), "higher than needed"),
    (check.svt_level, lambda k, epsilon, beta: 0.999 * exact_level(k, epsilon, beta) - 0.01, "too low"),
    (check.svt_level, lambda k, epsilon, beta: float("nan"), "finite level"),
    (check.svt_level, lambda k, epsilon, beta: "high", "expected form"),
    (check.svt_counterexample, ([1] * 21, [0] * 21, [0] * 21), "swap"),
    (check.svt_counterexample, ([0] * 20, [1] * 20, [0] * 20), "must exceed 5"),
    (check.svt_counterexample, ([-1] * 21, [0] * 21, [0] * 21), "at or above"),
    (check.svt_counterexample, ([0] * 21, [3] * 21, [0] * 21), "not neighbours"),
    (check.svt_counterexample, ([0] * 40, [1] * 40, [0, 1] * 20), "only the last reply"),
    (check.svt_counterexample, ([0] * 21, [1] * 20, [0] * 21), "same length"),
    (check.svt_counterexample, ([np.nan] * 21, [1] * 21, [0] * 21), "finite"),
    (check.svt_counterexample, ([0] * 21, [1] * 21), "three lists"),
    (check.svt_counterexample, 5, "three lists"),
    (check.svt_refute, ([0], [1]), "no audit can find more"),
    (check.svt_refute, ([0] * 61, [1] * 60 + [-1]), "likelier (a shorter one"),
    (check.svt_refute, ([0] * 2, [1, -1]), "no audit can find more"),
    (check.svt_refute, ([0] * 5, [9] * 5), "not neighbours"),
    (check.svt_refute, ([0] * 201, [1] * 201), "more than enough"),
    (check.svt_mend, Redrawn, "drawn anew"),
    (check.svt_mend, Unstoppable, "after its alarm"),
    (check.svt_mend, NoisyNo, "after its alarm"),
    (check.svt_mend, Memoised, "comes out in"),
    (check.svt_mend, HalfNoise, "all noise is half"),
    (check.svt_mend, first_above(), "expected a class"),
    (check.svt_monotone, 1.0, "loss of 1.500"),
    (check.svt_monotone, 4.0, "not the smallest"),
    (check.svt_monotone, -1, "between 0 and 1000"),
    (check.svt_monotone, "two", "expected form"),
]


def test_every_checker_is_tested():
    names = set(above_threshold.__all__)
    for table in (STUBS, SOLUTIONS, WRONG):
        assert {row[0].__name__ for row in table} == names


@pytest.mark.parametrize("checker, answer", [*STUBS, *((checker, None) for checker, _ in STUBS)])
def test_a_stub_is_not_attempted(says, checker, answer):
    assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"


@pytest.mark.parametrize("checker, solution", SOLUTIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_solution_is_right_whatever_its_luck(says, checker, solution):
    for seed in range(20):                       # 80 chi-square tests at 1e-6 in all
        assert says(checker, solution(seed)).startswith(f"✓ {checker.__name__}: ")


@pytest.mark.parametrize("checker, answer, reason", WRONG)
def test_a_wrong_answer_is_told_why(says, checker, answer, reason):
    said = says(checker, answer)
    assert said.startswith(f"✗ {checker.__name__}: ") and reason in said


def test_a_right_answer_gets_the_same_line_every_time(says):
    """Notebooks are compared line by line, and a learner's mechanism is not seeded."""
    assert len({says(check.svt_build, first_above(seed=seed)) for seed in range(5)}) == 1
    assert len({says(check.svt_mend, with_seed(seed)) for seed in range(5)}) == 1


@pytest.mark.parametrize("checker, answer", [
    (check.svt_build, in_place),
    (check.svt_mend, Mute),
    (check.svt_mend, Stubborn),
    (check.svt_refute, ([0] * 4 + [-4] * 5, [1] * 4 + [-5] * 5)),
    (check.svt_counterexample, ([0] * 20 + [0.98], [1] * 21, [0] * 21)),
])
def test_an_unusual_answer_that_is_right_is_accepted(says, checker, answer):
    assert says(checker, answer).startswith("✓")
