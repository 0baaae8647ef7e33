"""The checkers of the first section on sparse vectors: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import math
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

from dplib import svt
from provable_privacy import check


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


def first_below(answers, threshold, epsilon, sensitivity, rng):
    return first_above()([-answer for answer in answers], -threshold, epsilon, sensitivity, rng)


def of_standard_noise(change=lambda rho, nu, rng: (rho, nu), stop=lambda answers, threshold, sensitivity: False):
    """AboveThreshold from noises of scale 1, which `change` may spoil; `stop` says None before any comparison."""
    def function(answers, threshold, epsilon, sensitivity, rng):
        rho, nu = change(rng.laplace(), rng.laplace(size=len(answers)), rng)
        if stop(np.asarray(answers), threshold, sensitivity):
            return None
        passed = np.asarray(answers) + 4 * sensitivity / epsilon * nu >= threshold + 2 * sensitivity / epsilon * rho
        return int(np.argmax(passed)) if passed.any() else None

    return function


def kept_for_twenty_calls():
    kept = []

    def change(rho, nu, rng):
        if not kept or rng.random() < 0.05:
            kept[:] = [rho]
        return kept[0], nu

    return of_standard_noise(change)


def far_below_skipped(answers, threshold, epsilon, sensitivity, rng):
    """What lies far below the threshold fails for certain."""
    near = [answer if answer > threshold - 20 * sensitivity / epsilon else -math.inf for answer in answers]
    return of_standard_noise()(near, threshold, epsilon, sensitivity, rng)


def surely_above(answers, threshold, epsilon, sensitivity, rng):
    """What lies far above the threshold passes for certain."""
    clear = next((i for i, answer in enumerate(answers) if answer >= threshold + 8 * sensitivity / epsilon), None)
    found = of_standard_noise()(answers, threshold, epsilon, sensitivity, rng)
    return clear if found is None else found if clear is None else min(found, clear)


def each_twice(rho, nu, rng):
    return rho, np.repeat(nu, 2)[: len(nu)]


def last_exact(rho, nu, rng):
    return rho, np.append(nu[:-1], 0.0)


def new_threshold_every_ten(rho, nu, rng):
    return np.repeat(rng.laplace(size=len(nu) // 10 + 1), 10)[: len(nu)], nu


def new_threshold_every_four(rho, nu, rng):
    return np.repeat(rng.laplace(size=len(nu) // 4 + 1), 4)[: len(nu)], nu


def eight_noises_in_turn(rho, nu, rng):
    return rho, np.resize(nu[:8], len(nu))


def one_noise_for_all(rho, nu, rng):
    return rho, nu[0]


def quiet_from_the_ninth(rho, nu, rng):
    return rho, np.where(np.arange(len(nu)) < 8, nu, nu / 4)


def cut_at_two(rho, nu, rng):
    return np.clip(rho, -2, 2), np.clip(nu, -2, 2)


def centred(answers, threshold, epsilon, sensitivity, rng):
    level = threshold + rng.laplace(2 * sensitivity / epsilon)
    return next((i for i, answer in enumerate(answers) if answer + rng.laplace(4 * sensitivity / epsilon) >= level), None)


def noisiest(answers, threshold, epsilon, sensitivity, rng):
    noisy = np.asarray(answers) + rng.laplace(scale=4 * sensitivity / epsilon, size=len(answers))
    return int(np.argmax(noisy)) if noisy.max() >= threshold else None


def at_epsilon_one(answers, threshold, epsilon, sensitivity, rng):
    return first_above()(answers, threshold, 1.0, sensitivity, rng)


def in_place(answers, threshold, epsilon, sensitivity, rng):
    """Changes the list that it is given: bad manners, but private."""
    level = threshold + rng.laplace(scale=2 * sensitivity / epsilon)
    for index in range(len(answers)):
        answers[index] += rng.laplace(scale=4 * sensitivity / epsilon)
        if answers[index] >= level:
            return index
    return None


def from_uniform_bits(answers, threshold, epsilon, sensitivity, rng):
    """Laplace noise from the signs and logarithms of 64-bit dice."""
    bits = rng.integers(0, 2**64, len(answers) + 1, dtype=np.uint64)
    noise = np.where(bits & np.uint64(1), 1, -1) * -np.log((bits >> np.uint64(11)) * 2.0**-53 + 2.0**-54)
    hit = np.flatnonzero(np.add(answers, 4 * sensitivity / epsilon * noise[1:]) >= threshold + 2 * sensitivity / epsilon * noise[0])
    return int(hit[0]) if hit.size else None


def one_exponential_minus_another(answers, threshold, epsilon, sensitivity, rng):
    noise = rng.exponential(size=len(answers) + 1) - rng.exponential(size=len(answers) + 1)
    hit = np.flatnonzero(np.add(answers, 4 * sensitivity / epsilon * noise[1:]) >= threshold + 2 * sensitivity / epsilon * noise[0])
    return hit[0] if hit.size else None


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


class RefusesOnce(Watch):
    """Goes on with the same noisy threshold after one refusal."""

    def ask(self, answer):
        if self.halted:
            self.halted = False
            raise RuntimeError
        return super().ask(answer)


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


class OneThresholdForAllWatches(Watch):
    rho = None

    def __init__(self, threshold, epsilon, rng):
        super().__init__(threshold, epsilon, rng)
        if type(self).rho is None or rng.random() < 0.05:
            type(self).rho = rng.laplace()
        self.level = threshold + 2 / epsilon * self.rho


class TiredWatch(Watch):
    """Half the noise from the ninth answer on."""

    asked = 0

    def ask(self, answer):
        self.asked += 1
        self.query_scale = 4.0 if self.asked < 9 else 2.0
        return super().ask(answer)


class SureWatch(Watch):
    """What lies far above the threshold passes for certain."""

    def ask(self, answer):
        passed = super().ask(answer)
        self.halted = passed or answer >= self.threshold + 8 / self.epsilon
        return self.halted


class NewThresholdEveryTen(Watch):
    asked = 0

    def ask(self, answer):
        self.asked += 1
        self.redraw = self.asked % 10 == 0
        return super().ask(answer)


class CentredWatch(Watch):
    def __init__(self, threshold, epsilon, rng):
        super().__init__(threshold, epsilon, rng)
        self.level = threshold + rng.laplace(2 / epsilon)


class Mute(Watch):
    """Says No for ever after its alarm, without looking: private, and no refusal."""

    def ask(self, answer):
        return False if self.halted else super().ask(answer)


class Silent(Watch):
    """Says neither Yes nor No after its alarm."""

    def ask(self, answer):
        return None if self.halted else super().ask(answer)


class Alarmed(Watch):
    """Says Yes for ever after its alarm."""

    def ask(self, answer):
        return self.halted or super().ask(answer)


class Stubborn(Watch):
    """Refuses with an exception of its own."""

    def ask(self, answer):
        if self.halted:
            raise StopIteration
        return super().ask(answer)


class Prepared(Watch):
    """Draws its noises in blocks, beforehand."""

    def __init__(self, threshold, epsilon, rng):
        super().__init__(threshold, epsilon, rng)
        self.stock = []

    def ask(self, answer):
        if self.halted:
            raise RuntimeError
        self.stock = self.stock or list(self.rng.laplace(scale=4 / self.epsilon, size=16))
        self.halted = bool(answer + self.stock.pop() >= self.level)
        return self.halted


class Counting(Watch):
    """Says how many questions it has heard, which everybody knows."""

    asked = 0

    def ask(self, answer):
        self.asked += 1
        if self.halted:
            raise RuntimeError(f"question {self.asked} refused")
        return super().ask(answer)


class Echo(Watch):
    """Quotes the answer that it refuses."""

    def ask(self, answer):
        if self.halted:
            raise RuntimeError(f"halted, {answer} not compared")
        return super().ask(answer)


class ShowsItsLevel(Watch):
    def ask(self, answer):
        if self.halted:
            raise RuntimeError(f"the alarm was given at a level of {self.level:.1f}")
        return super().ask(answer)


class HaltsWhenTrue(Watch):
    """Halts only after an alarm that is true; after a false one it goes on."""

    def ask(self, answer):
        passed = super().ask(answer)
        self.halted = passed and answer >= self.threshold
        return passed


class InWords(Watch):
    def ask(self, answer):
        return "Yes" if super().ask(answer) else "No"


class HalfNoise(Watch):
    threshold_scale, query_scale = 1.0, 2.0


def exact_level(k, epsilon, beta):
    def excess(level):
        return -np.expm1(svt.log_probability(np.zeros(k), np.full(k, -level), threshold=0.0, noise=svt.scales(epsilon))) - beta

    return brentq(excess, 0.0, 5000.0)


def union_bound(k, epsilon, beta):
    return exact_level(1, epsilon, beta / k)


def as_if_independent(k, epsilon, beta):
    return exact_level(1, epsilon, 1 - (1 - beta) ** (1 / k))


def counted_from_one(*arguments):
    index = first_above()(*arguments)
    return None if index is None else index + 1


def sensitivity_for_one(threshold=True):
    def function(answers, bar, epsilon, sensitivity, rng):
        scales = (1, sensitivity) if threshold else (sensitivity, 1)
        return first_above(2 * scales[0], 4 * scales[1])(answers, bar, epsilon, 1.0, rng)

    return function


TOUCH = {"daily": (1, 0.1), "excess": (200, 20), "week": (7, 0.7)}
SCALES = {"counts": 2.0, "totals": 1.0}

SOLUTIONS = [
    (check.svt_touch, lambda seed: TOUCH),
    (check.svt_build, lambda seed: first_above(seed=seed)),
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
    (check.svt_build, from_uniform_bits),
    (check.svt_build, one_exponential_minus_another),
    (check.svt_mend, Silent),
    (check.svt_mend, Stubborn),
    (check.svt_mend, Prepared),
    (check.svt_mend, Counting),
    (check.svt_refute, ([0] * 4 + [-4] * 5, [1] * 4 + [-5] * 5)),
    (check.svt_counterexample, ([0] * 20 + [0.98], [1] * 21, [0] * 21)),
]

LEAKS = [
    (check.svt_build, of_standard_noise(quiet_from_the_ninth)),
    (check.svt_build, of_standard_noise(each_twice)),
    (check.svt_build, of_standard_noise(last_exact)),
    (check.svt_build, of_standard_noise(cut_at_two)),
    (check.svt_build, of_standard_noise(stop=lambda answers, threshold, sensitivity: answers.max() < threshold - 12)),
    (check.svt_build, surely_above),
    (check.svt_build, far_below_skipped),
    (check.svt_build, kept_for_twenty_calls()),
    (check.svt_build, of_standard_noise(new_threshold_every_ten)),
    (check.svt_build, of_standard_noise(eight_noises_in_turn)),
    (check.svt_build, at_epsilon_one),
    *((check.svt_build, lambda answers, *rest, whole=whole: first_above()(list(map(whole, answers)), *rest)) for whole in (int, round)),
    (check.svt_build, noisiest),
    (check.svt_build, first_above(1.7, 3.4)),
    (check.svt_mend, RefusesOnce),
    (check.svt_mend, HaltsWhenTrue),
    (check.svt_mend, Echo),
    (check.svt_mend, ShowsItsLevel),
    (check.svt_mend, OneThresholdForAllWatches),
    (check.svt_mend, TiredWatch),
    (check.svt_mend, SureWatch),
    (check.svt_mend, NewThresholdEveryTen),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_touch, {**TOUCH, "excess": (100, 10)}, "worst evening"),
    (check.svt_touch, {**TOUCH, "daily": (200, 20)}, "how many daily counts"),
    (check.svt_touch, {**TOUCH, "week": (1, 0.1)}, "how many evenings"),
    (check.svt_touch, {**TOUCH, "week": 7}, "expected a pair"),
    (check.svt_touch, {**TOUCH, "week": (7, 0.1)}, "does not cost 0.1"),
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
    (check.svt_build, first_above(redraw=True), "drawn anew"),
    (check.svt_build, first_above(ignore_sensitivity=True), "ignores the sensitivity"),
    (check.svt_build, sensitivity_for_one(True), "noise on the threshold ignores"),
    (check.svt_build, sensitivity_for_one(False), "noise on the answers ignores"),
    (check.svt_build, at_epsilon_one, "the noise ignores epsilon"),
    (check.svt_build, lambda answers, threshold, epsilon, *rest: first_above()(answers, threshold, 1 / epsilon, *rest), "divide by it"),
    (check.svt_build, lambda answers, threshold, epsilon, sensitivity, rng: first_above()(answers, threshold, epsilon, sensitivity**2, rng), "should in"),
    (check.svt_build, counted_from_one, "indices begin at 0"),
    (check.svt_build, first_above(4, 2), "swapped"),
    (check.svt_build, of_standard_noise(one_noise_for_all), "one noise serves all"),
    (check.svt_build, of_standard_noise(new_threshold_every_four), "should in"),
    (check.svt_build, first_above(draw="normal"), "should in"),
    (check.svt_build, centred, "write scale="),
    (check.svt_build, first_above(silent=lambda rng, answers: int(rng.integers(len(answers)))), "say None"),
    (check.svt_build, lambda *arguments: True, "expected an index"),
    (check.svt_build, lambda *arguments: 0.5, "expected an index"),
    (check.svt_build, lambda *arguments: 1 / 0, "ZeroDivisionError"),
    (check.svt_build, lambda answers: 0, "TypeError"),
    (check.svt_build, "no function", "expected a function"),
    (check.svt_level, lambda k, epsilon, beta: 8 * (np.log(k) + np.log(2 / beta)) / epsilon, "the theorem's"),
    (check.svt_level, union_bound, "for k=2, epsilon=0.25, beta=0.4"),
    (check.svt_level, as_if_independent, "for k=2, epsilon=0.25, beta=0.4"),
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
    (check.svt_mend, Redrawn, "drawn anew"),
    (check.svt_mend, Unstoppable, "after its alarm"),
    (check.svt_mend, NoisyNo, "after its alarm"),
    (check.svt_mend, HaltsWhenTrue, "after its alarm"),
    (check.svt_mend, Alarmed, "it says True to every question"),
    (check.svt_mend, Mute, "it says False to every question"),
    (check.svt_mend, Memoised, "should in"),
    (check.svt_mend, Echo, "nobody pays for that: halted, 1000000.0 not compared"),
    (check.svt_mend, InWords, "a text is true"),
    (check.svt_mend, HalfNoise, "all noise is half"),
    (check.svt_mend, CentredWatch, "write scale="),
    (check.svt_mend, first_above(), "expected a class"),
    (check.svt_monotone, {**SCALES, "counts": 1.0}, "loss of 1.500"),
    (check.svt_monotone, {**SCALES, "counts": 4.0}, "not the smallest"),
    (check.svt_monotone, {**SCALES, "totals": 0.99}, "loss of 1.010"),
    (check.svt_monotone, {**SCALES, "totals": 2.0}, "not the smallest"),
    (check.svt_monotone, {**SCALES, "counts": -1}, "between 0 and 1000"),
    (check.svt_monotone, {**SCALES, "counts": "two"}, "expected a number"),
    (check.svt_monotone, 2.0, "expected a dict"),
]


def test_one_unfinished_stream_is_not_wrong(says):
    assert says(check.svt_touch, {**TOUCH, "week": ...}) == "○ svt_touch: week not attempted yet"
