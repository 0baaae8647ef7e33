"""Answers for the checkers of the section on AboveThreshold: right ones, wrong ones and leaks."""
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from dplib import svt
from provable_privacy import check
from provable_privacy.battery.makers import (
    centred,
    clipped,
    difference,
    given,
    kept,
    laplace,
    normal,
    own_luck,
    scaled,
    shared,
    then,
    where,
)


def first_above(b1=2, b2=4, *, rho=lambda rng, scale, shape: rng.laplace(scale=scale), nu=laplace, silent=None):
    """AboveThreshold, right unless told otherwise; `rho` and `nu` are the laws of noise on threshold and answers."""
    def answer(answers, threshold, epsilon, sensitivity, rng):
        unit, size = sensitivity / epsilon, (len(answers),)
        passed = np.asarray(answers) + nu(rng, b2 * unit, size) >= threshold + rho(rng, b1 * unit, size)
        index = int(passed.argmax())
        return index if passed[index] else silent and silent(rng, answers)

    return answer


def blocks(size):
    """One noise for this many answers in a row."""
    return lambda rng, scale, shape: np.repeat(laplace(rng, scale, shape[0] // size + 1), size)[:shape[0]]


def by_place(factor):
    """Noise on each answer times a factor that depends on its place and on their number."""
    return lambda rng, scale, shape: laplace(rng, scale, shape) * factor(np.arange(shape[0]), shape[0])


def from_bits(rng, scale, shape):
    """Laplace noise from the signs and logarithms of 64-bit dice."""
    bits = rng.integers(0, 2**64, shape, dtype=np.uint64)
    size = -np.log((bits >> np.uint64(11)) * 2.0**-53 + 2.0**-54)
    return scale * np.where(bits & np.uint64(1), 1, -1) * size


def on(view):
    """AboveThreshold on other answers: `view(answers, threshold, unit)`."""
    return lambda answers, threshold, epsilon, sensitivity, rng: RIGHT(
        view(np.asarray(answers), threshold, sensitivity / epsilon), threshold, epsilon, sensitivity, rng)


def first_below(answers, threshold, *rest):
    return RIGHT(np.negative(answers), -threshold, *rest)


def noisiest(answers, threshold, epsilon, sensitivity, rng):
    noisy = np.asarray(answers) + rng.laplace(scale=4 * sensitivity / epsilon, size=len(answers))
    return int(np.argmax(noisy)) if noisy.max() >= threshold else None


def in_place(answers, threshold, epsilon, sensitivity, rng):
    """A loop that changes the list that it is given: bad manners, but private."""
    level = threshold + rng.laplace(scale=2 * sensitivity / epsilon)
    for index in range(len(answers)):
        answers[index] += rng.laplace(scale=4 * sensitivity / epsilon)
        if answers[index] >= level:
            return index
    return None


def whole_scales(answers, threshold, epsilon, sensitivity, rng):
    """Both scales are rounded to whole numbers."""
    unit = sensitivity / epsilon
    return first_above(*(max(round(k * unit), 1) / unit for k in (2, 4)))(answers, threshold, epsilon, sensitivity, rng)


def repeated(size):
    """So many noises, again and again."""
    return lambda rng, scale, shape: np.resize(laplace(rng, scale, (min(size, *shape),)), shape)


def leads(by):
    """Whether the largest answer leads by so many times sensitivity/epsilon."""
    def function(answers, threshold, epsilon, sensitivity):
        second, first = sorted([-math.inf, *answers])[-2:]
        return math.inf > first - second > by * sensitivity / epsilon

    return function


class Watch:
    """A learner's streaming AboveThreshold; `watch` makes a class of it with other methods."""

    asked, b1, b2, law = 0, 2.0, 4.0, staticmethod(laplace)

    def __init__(self, threshold, epsilon, rng):
        self.threshold, self.epsilon, self.rng, self.halted = threshold, epsilon, rng, False
        self.new_level()

    def new_level(self):
        self.level = self.threshold + self.law(self.rng, self.b1 / self.epsilon, ())

    def noise(self, answer):
        return self.rng.laplace(scale=self.b2 / self.epsilon)

    def compare(self, answer):
        self.halted = bool(answer + self.noise(answer) >= self.level)
        return self.halted

    def late(self, answer):
        raise RuntimeError

    def ask(self, answer):
        self.asked += 1
        return self.late(answer) if self.halted else self.compare(answer)


def watch(**methods):
    law = {"law": staticmethod(methods["law"])} if "law" in methods else {}
    return type("Watch", (Watch,), methods | law)


def with_seed(seed):
    own = np.random.default_rng(seed)
    return watch(__init__=lambda self, threshold, epsilon, rng: Watch.__init__(self, threshold, epsilon, own))


def refuse(words="", error=RuntimeError):
    raise error(words)


def noisy_no(self, answer):
    """Refuses a second alarm, but goes on saying No."""
    reply, self.halted = self.compare(answer), True
    return refuse() if reply else reply


def refuses_once(self, answer):
    """Goes on with the same noisy threshold after one refusal."""
    self.halted = False
    refuse()


def halts_when_true(self, answer):
    """Halts only after an alarm that is true; after a false one it goes on."""
    passed = Watch.compare(self, answer)
    self.halted = passed and answer >= self.threshold
    return passed


def redrawn(often):
    """The threshold's noise is drawn anew before some questions."""
    def compare(self, answer):
        if self.asked % often == 0:
            self.new_level()
        return Watch.compare(self, answer)

    return watch(compare=compare)


def memoised(self, answer):
    """The same answer gets the same noise."""
    self.__dict__.setdefault("known", {}).setdefault(answer, Watch.noise(self, answer))
    return self.known[answer]


def from_stock(self, answer):
    """Noises are drawn in blocks, beforehand."""
    self.stock = getattr(self, "stock", None) or list(self.rng.laplace(scale=4 / self.epsilon, size=16))
    return self.stock.pop()


def if_epsilon(answer):
    """A watch that is made with another epsilon, `answer(epsilon)`."""
    return watch(__init__=lambda self, threshold, epsilon, rng: Watch.__init__(self, threshold, answer(epsilon), rng))


def in_a_circle(size):
    """So many noises, again and again."""
    def noise(self, answer):
        circle = self.__dict__.setdefault("circle", {})
        return circle.setdefault(self.asked % size, Watch.noise(self, answer))

    return watch(noise=noise)


def surely(self, answer):
    """What lies far above the threshold passes for certain."""
    return math.inf if answer >= self.threshold + 8 / self.epsilon else Watch.noise(self, answer)


def exact_level(k, epsilon, beta):
    def excess(level):
        noise = svt.scales(epsilon)
        return -np.expm1(svt.log_probability(np.zeros(k), np.full(k, -level), threshold=0.0, noise=noise)) - beta

    return brentq(excess, 0.0, 5000.0)


RIGHT, EXACT, STANDARD = first_above(), first_above(0, 0), scaled(2**0.5, normal)
TOUCH = {"daily": (1, 0.1), "excess": (200, 20), "week": (7, 0.7)}
SCALES = {"counts": 2.0, "totals": 1.0}

SOLUTIONS = [
    (check.svt_touch, lambda seed: TOUCH),
    (check.svt_build, own_luck(RIGHT)),
    (check.svt_level, lambda seed: exact_level),
    (check.svt_counterexample, lambda seed: ([0] * 21, [1] * 21, [0] * 21)),
    (check.svt_refute, lambda seed: ([0] * 5, [1] * 4 + [-1])),
    (check.svt_mend, with_seed),
    (check.svt_monotone, lambda seed: SCALES),
]

UNUSUAL = [
    (check.svt_touch, {**TOUCH, "excess": [200, np.float64(20)], "week": (7, 7 * 0.1)}),
    (check.svt_touch, {**TOUCH, "daily": (1, Fraction(1, 10))}),
    (check.svt_build, in_place),
    (check.svt_build, first_above(rho=shared(from_bits), nu=from_bits)),
    (check.svt_build, first_above(rho=shared(difference()), nu=difference())),
    (check.svt_mend, watch(ask=lambda self, answer: None if self.halted else self.compare(answer))),
    (check.svt_mend, watch(late=lambda self, answer: refuse(error=StopIteration))),
    (check.svt_mend, watch(noise=from_stock)),
    (check.svt_mend, watch(late=lambda self, answer: refuse(f"question {self.asked} refused"))),
    (check.svt_refute, ([0] * 4 + [-4] * 5, [1] * 4 + [-5] * 5)),
    (check.svt_counterexample, ([0] * 20 + [0.98], [1] * 21, [0] * 21)),
]

LEAKS = [
    (check.svt_build, first_above(nu=by_place(lambda i, n: np.where(i < 8, 1, 1 / 4)))),
    (check.svt_build, first_above(nu=blocks(2))),
    (check.svt_build, first_above(nu=by_place(lambda i, n: i < n - 1))),
    (check.svt_build, first_above(rho=shared(clipped(2)), nu=clipped(2))),
    (check.svt_build, on(lambda x, threshold, unit: np.where(x.max() < threshold - 12, -math.inf, x))),
    (check.svt_build, on(lambda x, threshold, unit: np.where(x >= threshold + 8 * unit, math.inf, x))),
    (check.svt_build, on(lambda x, threshold, unit: np.where(x > threshold - 20 * unit, x, -math.inf))),
    (check.svt_build, first_above(rho=shared(kept()))),
    (check.svt_build, first_above(rho=blocks(10))),
    (check.svt_build, first_above(nu=lambda rng, scale, shape: np.resize(laplace(rng, scale, 8), shape))),
    (check.svt_build, given(RIGHT, epsilon=1.0)),
    (check.svt_build, on(lambda x, threshold, unit: x.astype(int))),
    (check.svt_build, on(lambda x, threshold, unit: np.round(x))),
    (check.svt_build, noisiest),
    (check.svt_build, first_above(1.7, 3.4)),
    (check.svt_build, where(lambda answers, threshold, epsilon, step: epsilon > 5, EXACT, RIGHT)),       # large epsilon
    (check.svt_build, given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.1))),                          # small epsilon
    (check.svt_build, whole_scales),
    (check.svt_build, where(lambda answers, *rest: len(answers) > 200, EXACT, RIGHT)),                   # sizes
    (check.svt_build, where(lambda answers, threshold, *rest: threshold > 100, EXACT, RIGHT)),
    (check.svt_build, where(lambda answers, *rest: 9 < len(answers) < 40, EXACT, RIGHT)),
    (check.svt_build, where(lambda answers, threshold, epsilon, step: step > 3.5, EXACT, RIGHT)),
    (check.svt_build, where(leads(15), EXACT, RIGHT)),
    (check.svt_build, first_above(nu=repeated(100))),                                                    # shared noise
    (check.svt_build, where(leads(4), EXACT, RIGHT)),                                                    # far
    (check.svt_mend, watch(late=refuses_once)),
    (check.svt_mend, watch(compare=halts_when_true)),
    (check.svt_mend, watch(late=lambda self, answer: refuse(f"halted, {answer} not compared"))),
    (check.svt_mend, watch(late=lambda self, answer: refuse(f"the alarm was given at a level of {self.level:.1f}"))),
    (check.svt_mend, watch(law=kept())),
    (check.svt_mend, watch(noise=lambda self, answer: Watch.noise(self, answer) * (1 if self.asked < 9 else 1 / 2))),
    (check.svt_mend, watch(noise=surely)),
    (check.svt_mend, redrawn(10)),
    (check.svt_mend, if_epsilon(lambda epsilon: 1e9 if epsilon > 5 else epsilon)),                       # large epsilon
    (check.svt_mend, if_epsilon(lambda epsilon: max(epsilon, 0.1))),                                     # small epsilon
    (check.svt_mend, in_a_circle(50)),                                                                   # shared noise
    (check.svt_mend, watch(noise=lambda self, answer: Watch.noise(self, answer) * (self.asked < 200))),  # sizes
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_touch, {**TOUCH, "excess": (100, 10)}, "worst evening"),
    (check.svt_touch, {**TOUCH, "daily": (200, 20)}, "how many daily counts"),
    (check.svt_touch, {**TOUCH, "week": (1, 0.1)}, "how many evenings"),
    (check.svt_touch, {**TOUCH, "week": 7}, "expected (answers moved, epsilon)"),
    (check.svt_touch, {**TOUCH, "week": (7, 0.1)}, "by 7 in all"),
    (check.svt_touch, {**TOUCH, "week": (7, "0.7")}, "expected a number, got '0.7'"),
    (check.svt_touch, {"daily": (1, 0.1)}, "missing: 'excess', 'week'"),
    (check.svt_touch, 7, "expected a dict"),
    (check.svt_build, first_below, "is the comparison turned round?"),
    (check.svt_build, first_above(0, 0), "no noise at all"),
    (check.svt_build, first_above(0, 4), "threshold has no noise"),
    (check.svt_build, first_above(2, 0), "answers have no noise"),
    (check.svt_build, first_above(2, 2), "noise on the answers is half"),
    (check.svt_build, first_above(1, 4), "noise on the threshold is half"),
    (check.svt_build, first_above(1, 2), "all noise is half"),
    (check.svt_build, first_above(2**0.5, 8**0.5), "Laplace scale is smaller"),
    (check.svt_build, first_above(4, 8), "twice the noise"),
    (check.svt_build, first_above(rho=laplace), "drawn anew"),
    (check.svt_build, given(RIGHT, sensitivity=1.0), "ignores the sensitivity"),
    (check.svt_build, lambda x, t, e, s, rng: first_above(2, 4 * s)(x, t, e, 1, rng), "on the threshold ignores"),
    (check.svt_build, lambda x, t, e, s, rng: first_above(2 * s, 4)(x, t, e, 1, rng), "on the answers ignores"),
    (check.svt_build, given(RIGHT, epsilon=1.0), "the noise ignores epsilon"),
    (check.svt_build, given(RIGHT, epsilon=lambda epsilon: 1 / epsilon), "divide by it"),
    (check.svt_build, given(RIGHT, sensitivity=lambda sensitivity: sensitivity**2), "should in"),
    (check.svt_build, then(RIGHT, lambda index, table, rng: index if index is None else index + 1), "begin at 0"),
    (check.svt_build, first_above(4, 2), "swapped"),
    (check.svt_build, first_above(nu=shared()), "one noise serves all"),
    (check.svt_build, first_above(rho=blocks(4)), "should in"),
    (check.svt_build, first_above(rho=shared(STANDARD), nu=STANDARD), "should in"),
    (check.svt_build, first_above(rho=shared(centred), nu=centred), "write scale="),
    (check.svt_build, first_above(silent=lambda rng, answers: int(rng.integers(len(answers)))), "say None"),
    (check.svt_build, lambda *arguments: True, "expected an index"),
    (check.svt_build, lambda *arguments: 0.5, "expected an index"),
    (check.svt_build, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.svt_build, lambda answers: 0, "TypeError"),
    (check.svt_build, "no function", "expected a function"),
    (check.svt_level, lambda k, epsilon, beta: 8 * (np.log(k) + np.log(2 / beta)) / epsilon, "the theorem's"),
    (check.svt_level, lambda k, epsilon, beta: exact_level(1, epsilon, beta / k), "k = 2, epsilon = 0.25, beta"),
    (check.svt_level, lambda k, e, beta: exact_level(1, e, 1 - (1 - beta) ** (1 / k)), "k = 2, epsilon = 0.25, beta"),
    (check.svt_level, lambda k, epsilon, beta: exact_level(1, epsilon, beta), "too low"),
    (check.svt_level, lambda k, epsilon, beta: 1.1 * exact_level(k, epsilon, beta), "higher than needed"),
    (check.svt_level, lambda k, epsilon, beta: 0.999 * exact_level(k, epsilon, beta) - 0.01, "too low"),
    (check.svt_level, lambda k, epsilon, beta: float("nan"), "finite number"),
    (check.svt_level, lambda k, epsilon, beta: "high", "expected a number"),
    (check.svt_level, lambda k, epsilon, beta: print(end=""), "is the `return` missing"),
    (check.svt_counterexample, ([1] * 21, [0] * 21, [0] * 21), "swap"),
    (check.svt_counterexample, ([0] * 20, [1] * 20, [0] * 20), "must exceed 5"),
    (check.svt_counterexample, ([-1] * 21, [0] * 21, [0] * 21), "at or above"),
    (check.svt_counterexample, ([0] * 21, [3] * 21, [0] * 21), "not neighbours"),
    (check.svt_counterexample, ([0] * 40, [1] * 40, [0, 1] * 20), "only the last reply"),
    (check.svt_counterexample, ([0] * 21, [1] * 20, [0] * 21), "same length"),
    (check.svt_counterexample, ([np.nan] * 21, [1] * 21, [0] * 21), "finite"),
    (check.svt_counterexample, ([0] * 21, [1] * 21), "three lists"),
    (check.svt_counterexample, 5, "three lists"),
    (check.svt_refute, ([0] * 4, [1, 1, 1, -1]), "another length"),
    (check.svt_refute, ([1, 1, 1, -1], [0] * 4), "another length"),
    (check.svt_refute, ([0], [1]), "no audit can find more"),
    (check.svt_refute, ([0] * 61, [1] * 60 + [-1]), "likelier (a shorter one"),
    (check.svt_refute, ([2000] * 4 + [-2000], [2001] * 4 + [-2001]), "nearer to the threshold"),
    (check.svt_refute, ([0] * 5, [1] * 4 + [-1], [0] * 4 + [1]), "expected two lists"),
    (check.svt_refute, ([0] * 2, [1, -1]), "no audit can find more"),
    (check.svt_refute, ([0] * 5, [9] * 5), "not neighbours"),
    (check.svt_refute, ([0] * 201, [1] * 201), "more than enough"),
    (check.svt_mend, redrawn(1), "drawn anew"),
    (check.svt_mend, watch(late=Watch.compare), "after its alarm"),
    (check.svt_mend, watch(late=noisy_no), "after its alarm"),
    (check.svt_mend, watch(compare=halts_when_true), "after its alarm"),
    (check.svt_mend, watch(late=lambda self, answer: True), "it says True to every question"),
    (check.svt_mend, watch(late=lambda self, answer: False), "it says False to every question"),
    (check.svt_mend, watch(noise=memoised), "should in"),
    (check.svt_mend, watch(late=lambda self, answer: refuse(f"{answer} not compared")), "1000000.0 not compared"),
    (check.svt_mend, watch(ask=lambda self, answer: "Yes" if Watch.ask(self, answer) else "No"), "a text is true"),
    (check.svt_mend, watch(b1=1.0, b2=2.0), "all noise is half"),
    (check.svt_mend, watch(law=centred), "write scale="),
    (check.svt_mend, RIGHT, "expected a class"),
    (check.svt_monotone, {**SCALES, "counts": 1.0}, "has a loss above 1"),
    (check.svt_monotone, {**SCALES, "counts": 4.0}, "not the smallest"),
    (check.svt_monotone, {**SCALES, "totals": 0.99}, "has a loss above 1"),
    (check.svt_monotone, {**SCALES, "totals": 2.0}, "not the smallest"),
    (check.svt_monotone, {**SCALES, "counts": -1}, "between 0 and 1000"),
    (check.svt_monotone, {**SCALES, "counts": "two"}, "expected a number"),
    (check.svt_monotone, 2.0, "expected a dict"),
]


@pytest.mark.parametrize(("stream", "scale", "steps"), [
    ("counts", 2.0, [np.append(np.ones(40), 0), np.append(np.zeros(40), 1), np.ones(41)]),
    ("totals", 1.0, [np.append(np.zeros(40), 1), np.ones(41)]),
])  # fmt: skip
def test_a_scale_below_the_smallest_loses_more_than_1(stream, scale, steps):
    """Of 40 No and then Yes on 41 answers, where one person moves the answers by any of the steps."""
    def largest_loss(noise):
        def log(answers, threshold):
            return svt.log_probability(np.append(np.zeros(40), 1), answers, threshold=threshold, noise=noise)

        starts = [np.zeros(41), np.append(np.full(40, 30.0), -30)]
        cases = itertools.product(starts, steps, (-3.0, 0.0, 0.5, 1.0, 4.0))
        return max(abs(log(start, threshold) - log(start + step, threshold)) for start, step, threshold in cases)

    assert SCALES[stream] == scale
    less, right, more = (largest_loss(svt.Scales(scale, factor * scale, np.inf)) for factor in (0.99, 1, 1.01))
    assert max(right, more) <= 1 + 1e-9 < 1.004 < less


def test_one_unfinished_stream_is_not_wrong(says):
    assert says(check.svt_touch, {**TOUCH, "week": ...}).startswith("○ svt_touch: week not attempted yet")
