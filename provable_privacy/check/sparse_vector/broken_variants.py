"""Checkers of the museum of broken variants."""
import math

import numpy as np

from dplib.audit import runs_needed
from dplib.svt import VARIANTS, Scales, Variant, exact_loss, log_probability
from provable_privacy.battery import battery, drawn, looks_for
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import (
    ONE_THRESHOLD,
    form_of_runs,
    law_with,
    run_of,
    runs_pair,
    same_law,
    whole_runs,
    witness,
)
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, checker, is_stub, number

__all__ = ["svt_catch", "svt_endless", "svt_formula", "svt_repair", "svt_restart"]


ANSWERS = "a person moves answers, and not their number"


def _found(noise, c):
    """The loss of c positive answers after 60 negative ones, all of them strained."""
    outcome = np.append(np.zeros(60), np.ones(c))
    moved = np.where(outcome == 1, -1.0, 1.0)
    one, two = (log_probability(outcome, answers, threshold=-4 * noise.threshold, noise=noise)
                for answers in (0 * moved, moved))
    return one - two


# ---- the price of c answers

PRICES = [(0.5, 0.5, 1), (0.3, 0.7, 5), (0.7, 0.3, 5), (0.1, 0.9, 2), (1.0, 0.5, 10)]
PRICE_MISTAKES = {
    "an outcome with a larger loss exists. Which noise is drawn once, and which noise is drawn for every Yes?":
        lambda epsilon1, epsilon2, c: c * epsilon1 + epsilon2,
    "this is the price of one positive answer, and there are more": lambda epsilon1, epsilon2, c: epsilon1 + epsilon2,
    "this is the price of c separate runs. Here one noisy threshold serves all c answers, so ε₁ is paid once":
        lambda epsilon1, epsilon2, c: c * (epsilon1 + epsilon2),
}


def _price(epsilon1, epsilon2, c):
    return epsilon1 + c * epsilon2


def _what_price(got, right, epsilon1, epsilon2, c):
    if got < (found := _found(Scales(1 / epsilon1, 2 / epsilon2, math.inf), c)):
        return f"there is an outcome with a loss of {found:.3f}"
    return "no outcome loses as much: the shift argument proves a smaller price"


@checker
def svt_formula(formula):
    """`formula(epsilon1, epsilon2, c)`: what c positive answers cost with Laplace noise 1/epsilon1 and 2/epsilon2."""
    on_cases(formula, PRICES, _price, PRICE_MISTAKES, what="the price", otherwise=_what_price)
    return "it is the exact price at five settings: proved from above, attained from below"


# ---- five times the claim

def _what_loss(one, two, outcome):
    """Why an outcome of Alg. 6 loses so little."""
    if outcome.all() or not outcome.any():
        return "if all replies are the same, a slide of the threshold makes up for every answer. Mix Yes and No"
    apart = np.where(outcome == 1, -1, 1)
    if not np.all(np.sign(two - one) == apart):
        return "which way must the answers move so that neither slide of the threshold helps?"
    if np.any(one * apart < 0):
        return ("the answers move the right way, but some start on the side where a reply costs little. A No costs "
                "most above the threshold, a Yes below it")
    return "the answers move the right way. Take a longer list, or start them farther from the threshold"


@checker
def svt_endless(answer):
    """`answer`: (answers, answers2, outcome) on which Alg. 6 at epsilon = 1, threshold 0, loses more than 5."""
    one, two, outcome = witness(answer, "three lists: (answers, answers2, outcome)", most=200)
    if max(np.abs(one).max(), np.abs(two).max()) > 10_000:
        raise Wrong("answers that are at most 10,000 away from the threshold are enough")
    loss = exact_loss("alg6", one, two, outcome, threshold=0.0, epsilon=1.0)
    if loss < -5:
        raise Wrong(f"the loss is {loss:.2f}: swap the two lists")
    if loss <= 5:
        raise Wrong(f"the loss of this outcome is {loss:.2f}, not above 5: {_what_loss(one, two, outcome)}")
    return "five times the claim, and a longer list makes it as large as you like"


# ---- convict Alg. 4

MOST_RUNS = 2650


@checker
def svt_catch(answer):
    """`answer`: (answers, answers2, outcome, threshold), an event that convicts Alg. 4 (ε = 1, c = 1) in few runs."""
    one, two, outcome = witness(answer, "three lists and a number: (answers, answers2, outcome, threshold)", most=50,
                                shorter=True, stops="with c = 1 the run stops")
    threshold, noise = number(answer[3], "the threshold"), VARIANTS["alg4"].noise(1.0, 1)
    log_p, log_q = (log_probability(outcome, answers, threshold=threshold, noise=noise) for answers in (one, two))
    loss = log_p - log_q
    if loss < -1:
        raise Wrong(f"the second list makes this outcome likelier, with a loss of {-loss:.3f}: swap the two lists")
    if loss <= 1:
        raise Wrong(f"this outcome has a loss of {loss:.3f}, within the claim of 1, so no number of runs can convict")
    p, q = math.exp(log_p), math.exp(log_q)
    try:
        runs = runs_needed(p, q, epsilon=1.0)
    except ValueError:
        raise Wrong(f"the loss is {loss:.3f}, above 1, but the outcome has probability {p:.1e}: it would take more "
                    "than a hundred million runs") from None
    if runs > MOST_RUNS:
        raise Wrong(f"the loss is {loss:.3f} at probability {p:.4f}: this takes about {runs:,} runs, and you have "
                    f"{MOST_RUNS:,}. Trade loss against probability")
    return f"at most {MOST_RUNS:,} runs on each list convict Alg. 4, nineteen times out of twenty"


# ---- four repairs

REPAIRED = ("alg4", "alg6", "reused_value", "public_threshold")
SETTINGS = [
    (1.0, 1), (1.0, 3), (0.5, 2), (2.0, 10),
    *((case["epsilon"], case["c"]) for case in drawn(6, 24, epsilon=(0.05, 4.0), c=(1, 40))),
]


def _is_repaired(name, variant):
    copy = f"replace(svt.VARIANTS[{name!r}], …)"
    if not isinstance(variant, Variant):
        raise Wrong(f"{name}: expected a Variant, such as {copy}, got {type(variant).__name__}")
    if variant.source != VARIANTS[name].source:
        raise Wrong(f"{name}: this is the room of {variant.source}; fix that of {VARIANTS[name].source}: {copy}")
    if not callable(variant.threshold) or not callable(variant.query):
        raise Wrong(f"{name}: threshold and query are functions of epsilon and c, such as lambda e, c: 2 / e")
    if variant.releases:
        raise Wrong(f"{name} still publishes the answer that was compared: with noise of scale b, k answers lose k/b")
    if not variant.stops:
        raise Wrong(f"{name} still does not stop: m No and m Yes lose at least m divided by the scale on the answers")


def _costs_its_claim(name, variant, epsilon, c):
    (b1, b2, _), case = variant.noise(epsilon, c), f"{name} at epsilon={epsilon:g}, c={c}"
    if not (0 <= b1 < math.inf and 0 <= b2 < math.inf):
        raise Wrong(f"{case}: a scale must be a finite number and not negative, got {b1:g} and {b2:g}")
    if b1 == 0 or b2 == 0:
        raise Wrong(f"{case}: there is no noise on the {'threshold' if b1 == 0 else 'answers'}")
    loss = (c if variant.redraws else 1) / b1 + 2 * c / b2
    if loss > epsilon * (1 + 1e-6):
        sum_of = f"{'c/b1' if variant.redraws else '1/b1'} and 2c/b2 add up to {loss:.3f}"
        found = _found(Scales(b1, b2, math.inf), c)
        seen = "" if variant.redraws else f"; the exact loss of one outcome on {60 + c} answers is {found:.3f}"
        raise Wrong(f"{case}: {sum_of}{seen}")
    if loss < epsilon * (1 - 1e-3):
        raise Wrong(f"{case}: private, but it costs only {loss:.3f}: its answers have more noise than they need")


@checker
def svt_repair(mended):
    """`mended`: variant -> a `Variant` that stops, publishes no compared value, and costs exactly what it claims."""
    if not isinstance(mended, dict) or set(mended) != set(REPAIRED):
        raise Wrong(f"expected a dict with the variants {', '.join(REPAIRED)}")
    there = [name for name in REPAIRED if mended[name] is not ...]
    for name in there:
        _is_repaired(name, mended[name])
        for setting in SETTINGS:
            _costs_its_claim(name, mended[name], *setting)
    if len(there) < len(REPAIRED):
        raise NotAttempted(", ".join(name for name in REPAIRED if name not in there) if there else "")
    return "each of the four now costs what it claims, for every c that was tried, and no less"


# ---- the watch that starts again

RESTARTED = law_with(lambda c: (2 * c, 4 * c), "yes")        # the scales on threshold and answers, times epsilon
MISTAKES = {
    "each restart still costs the whole of epsilon: c alarms cost c epsilon":
        law_with(lambda c: (2, 4), "yes"),
    "the answers have the noise of one alarm: the loss is larger than epsilon as soon as c > 1":
        law_with(lambda c: (2 * c, 4), "yes"),
    "each restart draws a threshold of scale 2/epsilon, and each costs epsilon/2: c of them cost more than is left":
        law_with(lambda c: (2, 4 * c), "yes"),
    "the threshold's noise is drawn once, and the answers have the noise of one alarm: the loss is (1 + c)/2 epsilon":
        law_with(lambda c: (2, 4)),
    "the noise on the answers is half of what it must be: 2c/epsilon is enough only if all answers move one way":
        law_with(lambda c: (2, 2 * c)),
    "the noise on the answers is half of what it must be: each restart then costs 3/2 of its share":
        law_with(lambda c: (2 * c, 2 * c), "yes"),
    "the noise shrinks with the alarms that are left, as c is counted down: the last restart alone costs epsilon":
        law_with(lambda c: (2 * c, 4 * c), "yes", shrinks=True),
    "private, but the noise is larger than needed: if the threshold's noise is drawn once, it need not grow with c":
        law_with(lambda c: (2 * c, 4 * c)),
    "private, but with twice the noise it needs: the replies are worse, and nobody gains":
        law_with(lambda c: (4 * c, 8 * c), "yes"),
    "private, but epsilon is not split evenly between thresholds and answers, as this exercise asks":
        law_with(lambda c: (1 + (2 * c) ** (2 / 3), (1 + (2 * c) ** (-2 / 3)) * 2 * c)),
}
CASES = [                                        # (answers, threshold, epsilon, c), runs, what may be named
    (((0.0, 1.0, 0.0, -1.0), 0.0, 4.0, 3), 20_000, MISTAKES),
    (((-7.0,) * 8, 0.0, 2.0, 2), 8000, MISTAKES),
    (((2.5, 2.0, 3.0) * 2, 2.5, 3.0, 2), 25_000, MISTAKES),
    (((5016.0,) * 3, 5000.0, 2.0, 2), 10_000, {}),         # clear answers need noise too
    (((-16.0,) * 8, 0.0, 2.0, 2), 10_000, {}),
    (((-400.0,) * 12, 0.0, 0.01, 1), 3000, {}),
    (((5.0, -4.0, 6.0, 0.0), 1.0, 8.0, 8), 4000, {}),
    (((-3.5, -3.0, -2.5, -3.0), -3.0, 36.0, 24), 4000, {}),
    (((9.8, 10.1, 9.9), 10.0, 12.0, 1), 2000, {}),
    (((205.0,), 200.0, 0.5, 1), 1000, {}),
    (((-9.0,) * 60, 0.0, 2.0, 1), 1000, {}),
]
PAIRS = [
    runs_pair([0.0, 1.0], [1.0, 0.0], 0.5, 0.8, 1, twice=800),
    runs_pair([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], 0.5, 1.0, 2, runs=6000),
    runs_pair([-14.0, -14.0, -14.0], [0.0, -14.0, -14.0], 0.0, 0.1, 2, runs=2000),
    runs_pair([70.0, 140.0, 0.0], [140.0, 70.0, 0.0], 0.0, 0.01, 2, runs=2000),
    *(runs_pair([-2.0, -1.0] * 4, [-1.0, -2.0] * 4, 0.0, case["epsilon"], case["c"])
      for case in drawn(2, 23, epsilon=(0.5, 3.0), c=(3, 5))),
]


@checker
@looks_for("straddles", "far", "quotient", "shared", size=ANSWERS, empty=ANSWERS, contents=ANSWERS,
           order="replies come one by one", zero="only replies come out", missing="an answer is a number")
def svt_restart(alarms):
    """`alarms(answers, threshold, epsilon, c, rng)`: a generator of replies, epsilon-DP in all, for sensitivity 1."""
    if is_stub(alarms):
        raise NotAttempted
    rng = luck(22)
    for case, size, mistakes in CASES:
        answers, threshold, epsilon, c = case
        seen = [run_of(alarms, (list(answers), *case[1:]), rng) for _ in range(size)]
        on = f"on answers {list(answers)}, threshold {threshold:g}, epsilon {epsilon:g}, c {c}"
        same_law(seen, whole_runs(len(answers), c), case, RESTARTED, mistakes, rng,
                 lambda run, on=on: f"{on}: the run {list(run)}", also=ONE_THRESHOLD)
    looked = battery(alarms, form_of_runs, PAIRS, call=run_of, seed=22)
    return f"it stops, and its replies have a law that costs epsilon in all; {looked}"
