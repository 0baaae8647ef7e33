"""Checkers of the museum of broken sparse vectors, in chapter 4."""
import math
from functools import cache
from itertools import islice, product

import numpy as np

from dplib.audit import runs_needed
from dplib.svt import VARIANTS, Scales, Variant, exact_loss, log_probability
from provable_privacy.battery import Choice, Pair, battery, drawn
from provable_privacy.battery.laws import LEVEL, _p_value
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import _compare, neighbours as _neighbours
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, is_stub, number

__all__ = ["svt_catch", "svt_endless", "svt_formula", "svt_repair", "svt_restart"]

REPAIRED = ("alg4", "alg6", "reused_value", "public_threshold")
SETTINGS = [(1.0, 1), (1.0, 3), (0.5, 2), (2.0, 10), *((case["epsilon"], case["c"]) for case in drawn(6, 24, epsilon=(0.05, 4.0), c=(1, 40)))]


def _found(variant, noise, c):
    """The loss of c positive answers after 60 negative ones, all of them strained."""
    outcome = np.append(np.zeros(60), np.ones(c))
    moved = np.where(outcome == 1, -1.0, 1.0)
    one, two = (log_probability(outcome, answers, threshold=-4 * noise.threshold, noise=noise) for answers in (0 * moved, moved))
    return one - two


@checker
def svt_repair(mended):
    """`mended`: variant -> a `Variant` that stops, publishes no compared value, and costs exactly what it claims."""
    if not isinstance(mended, dict) or set(mended) != set(REPAIRED):
        raise Wrong(f"expected a dict with the variants {', '.join(REPAIRED)}")
    missing = [name for name in REPAIRED if mended[name] is ...]
    for name in REPAIRED:
        variant = mended[name]
        if variant is ...:
            continue
        if not isinstance(variant, Variant):
            raise Wrong(f"{name}: expected a Variant, such as replace(svt.VARIANTS[{name!r}], …), got {type(variant).__name__}")
        if variant.source != VARIANTS[name].source:
            raise Wrong(f"{name}: this is the room of {variant.source}; mend that of {VARIANTS[name].source}: replace(svt.VARIANTS[{name!r}], …)")
        if not callable(variant.threshold) or not callable(variant.query):
            raise Wrong(f"{name}: threshold and query are functions of epsilon and c, such as lambda e, c: 2 / e")
        if variant.releases:
            raise Wrong(f"{name} still publishes the answer that was compared: with noise of scale b, k answers lose k/b")
        if not variant.stops:
            raise Wrong(f"{name} still does not stop: m No and m Yes lose at least m divided by the scale on the answers")
        for epsilon, c in SETTINGS:
            noise, case = variant.noise(epsilon, c), f"{name} at epsilon={epsilon:g}, c={c}"
            if not all(0 <= scale < math.inf for scale in noise[:2]):
                raise Wrong(f"{case}: a scale must be a finite number and not negative, got {noise.threshold:g} and {noise.query:g}")
            if noise.threshold == 0 or noise.query == 0:
                raise Wrong(f"{case}: there is no noise on the {'threshold' if noise.threshold == 0 else 'answers'}")
            loss = (c if variant.redraws else 1) / noise.threshold + 2 * c / noise.query
            if loss > epsilon * (1 + 1e-6):
                seen = "" if variant.redraws else f"; the exact loss of one outcome on {60 + c} answers is {_found(variant, noise, c):.3f}"
                raise Wrong(f"{case}: {'c/b1' if variant.redraws else '1/b1'} and 2c/b2 add up to {loss:.3f}{seen}")
            if loss < epsilon * (1 - 1e-3):
                raise Wrong(f"{case}: private, but it costs only {loss:.3f}: its answers are noisier than they need be")
    if missing:
        raise NotAttempted(", ".join(missing) if len(missing) < len(REPAIRED) else "")
    return "each of the four now costs what it claims, for every c that was tried, and no less"


@checker
def svt_endless(answer):
    """`answer`: (answers, answers2, outcome) on which Alg. 6 at epsilon = 1, threshold 0, loses more than 5."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 3:
        raise Wrong("expected three lists: (answers, answers2, outcome)")
    (one, two), outcome = _neighbours(*answer[:2]), np.asarray(answer[2])
    if one.size > 200 or max(np.abs(one).max(), np.abs(two).max()) > 10_000:
        raise Wrong("200 answers, none farther than 10,000 from the threshold, are more than enough")
    if outcome.ndim != 1 or not np.isin(outcome, (0, 1)).all() or outcome.shape != one.shape:
        raise Wrong("outcome must be a list of 0 (No) and 1 (Yes), one for each answer")
    loss = exact_loss("alg6", one, two, outcome, threshold=0.0, epsilon=1.0)
    if loss < -5:
        raise Wrong(f"the loss is {loss:.2f}: swap the two lists")
    if loss <= 5:
        if outcome.all() or not outcome.any():
            raise Wrong(f"the loss of this outcome is {loss:.2f}: replies of one kind only can be saved by a slide of the threshold; mix them")
        apart = np.where(outcome == 1, -1, 1)
        if np.all(np.sign(two - one) == apart):
            if np.any(one * apart < 0):
                raise Wrong(
                    f"the loss of this outcome is {loss:.2f}, not above 5: the answers move the right way, but some start on the cheap side; "
                    "a No costs most above the threshold, a Yes below it"
                )
            raise Wrong(
                f"the loss of this outcome is {loss:.2f}, not above 5: the answers move the right way; take a longer list, "
                "or start them farther from the threshold"
            )
        raise Wrong(f"the loss of this outcome is {loss:.2f}, not above 5: which way must the answers move so that neither slide of the threshold helps?")
    return "five times the claim, and a longer list makes it as large as you like"


@checker
def svt_formula(formula):
    """`formula(epsilon1, epsilon2, c)`: what c positive answers cost with Laplace noise 1/epsilon1 and 2/epsilon2."""
    for e1, e2, c in ((0.5, 0.5, 1), (0.3, 0.7, 5), (0.7, 0.3, 5), (0.1, 0.9, 2), (1.0, 0.5, 10)):
        truth, case = e1 + c * e2, f"for epsilon1={e1:g}, epsilon2={e2:g}, c={c}"
        got = number(answered(formula, e1, e2, c), f"{case} the price")
        if np.isclose(got, truth, rtol=1e-6):
            continue
        found = _found(None, Scales(1 / e1, 2 / e2, math.inf), c)
        if np.isclose(got, c * e1 + e2):
            raise Wrong(f"{case} c epsilon1 + epsilon2 is {got:g}, but there is an outcome with a loss of {found:.3f}: which noise is drawn how often?")
        if np.isclose(got, e1 + e2):
            raise Wrong(f"{case} you say {got:g}, the price of one positive answer; there is an outcome with a loss of {found:.3f}")
        if np.isclose(got, c * (e1 + e2)):
            raise Wrong(f"{case} you say {got:g}, the price of c separate runs; here one noisy threshold serves all c answers, and its slide is paid once")
        if got < found:
            raise Wrong(f"{case} you say {got:.3f}, but there is an outcome with a loss of {found:.3f}")
        raise Wrong(f"{case} you say {got:.3f}: no outcome loses as much, the shift argument proves less")
    return "it is the exact price at five settings: proved from above, attained from below"


MOST_RUNS = 2650


@checker
def svt_catch(answer):
    """`answer`: (answers, answers2, outcome, threshold), an event that convicts Alg. 4 (epsilon = 1, c = 1) in few runs."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 4:
        raise Wrong("expected three lists and a number: (answers, answers2, outcome, threshold)")
    (one, two), outcome, threshold = _neighbours(*answer[:2]), np.asarray(answer[2]), number(answer[3], "the threshold")
    if one.size > 50:
        raise Wrong("50 answers are more than enough: rare outcomes need many runs")
    if outcome.ndim != 1 or not np.isin(outcome, (0, 1)).all() or outcome.size > one.size:
        raise Wrong("outcome must be a list of 0 (No) and 1 (Yes), at most one for each answer")
    if outcome[:-1].any():
        raise Wrong("with c = 1 the run stops at its first Yes: only the last reply can be 1")
    noise = VARIANTS["alg4"].noise(1.0, 1)
    log_p, log_q = (log_probability(outcome, answers, threshold=threshold, noise=noise) for answers in (one, two))
    if log_q - log_p > 1:
        raise Wrong(f"the second list makes this outcome likelier, with a loss of {log_q - log_p:.3f}: swap the two lists")
    if log_p - log_q <= 1:
        raise Wrong(f"this outcome has a loss of {log_p - log_q:.3f}, within the claim of 1: no number of runs can convict by it")
    p, q = math.exp(log_p), math.exp(log_q)
    try:
        runs = runs_needed(p, q, epsilon=1.0)
    except ValueError:
        rare = f"the outcome has probability {p:.1e}: it would take more than a hundred million runs"
        raise Wrong(f"the loss is {log_p - log_q:.3f}, above 1, but {rare}") from None
    if runs > MOST_RUNS:
        raise Wrong(f"the loss is {log_p - log_q:.3f} at probability {p:.4f}: about {runs:,} runs, and you have {MOST_RUNS:,}. Trade loss against probability")
    return f"at most {MOST_RUNS:,} runs on each list convict Alg. 4, nineteen times out of twenty"


def _replies(size, c):
    """All complete runs over `size` answers that stop at the c-th positive reply."""
    return tuple(run for n in range(1, size + 1) for run in product((0, 1), repeat=n) if sum(run[:-1]) < c and (n == size or sum(run) == c))


@cache
def _law(runs, answers, threshold, noise, redraws, c=None):
    """Probabilities of runs; with `c`, of those in which all noise shrinks with the alarms that are left."""
    law = []
    for run in runs:
        ends = [i + 1 for i, reply in enumerate(run) if reply] if redraws else []
        cuts = [0, *ends, *([len(run)] if not ends or ends[-1] < len(run) else [])]
        left = [(c - i) / c if c else 1.0 for i in range(len(cuts))]
        law.append(math.exp(sum(log_probability(run[a:b], answers[a:b], threshold=threshold, noise=Scales(part * noise[0], part * noise[1], math.inf))
                                for a, b, part in zip(cuts, cuts[1:], left))))
    return np.array(law)


def _run(alarms, arguments, rng):
    """One run of a generator, as a tuple of 0 and 1."""
    answers, _, _, c = arguments
    replies = ask(alarms, *arguments, rng)
    if replies is None:
        raise Wrong("your function returned None; a generator says `yield`")
    run = tuple(int(bool(reply)) for reply in ask(lambda: list(islice(replies, len(answers) + 1))))
    if sum(run) > c or sum(run) == c and not run[-1]:
        raise Wrong(f"with c={c} it goes on after Yes number {c}: the replies were {list(run)}")
    if len(run) != len(answers) and sum(run) != c:
        raise Wrong(f"with {len(answers)} answers and c={c} the replies {list(run)} are not a complete run")
    return run


RIVALS = {                                       # threshold's scale and answers' scale times epsilon, whether the threshold is drawn again, perhaps c
    "each restart still costs the whole of epsilon: c alarms cost c epsilon": lambda c: (2, 4, True),
    "the answers have the noise of one alarm: the loss is larger than epsilon as soon as c > 1": lambda c: (2 * c, 4, True),
    "each restart draws a threshold of scale 2/epsilon, and each costs epsilon/2: c of them cost more than is left": lambda c: (2, 4 * c, True),
    "the threshold's noise is drawn once, but the answers have the noise of one alarm: the loss is (1 + c)/2 epsilon": lambda c: (2, 4, False),
    "the noise on the answers is half of what it must be: 2c/epsilon is enough only where all answers move the same way": lambda c: (2, 2 * c, False),
    "the noise on the answers is half of what it must be: each restart then costs 3/2 of its share": lambda c: (2 * c, 2 * c, True),
    "the noise shrinks with the alarms that are left, since c itself is counted down: the last restart alone costs epsilon":
        lambda c: (2 * c, 4 * c, True, c),
    "private, but if the threshold's noise is drawn once, its scale need not grow with c: noisier than it need be": lambda c: (2 * c, 4 * c, False),
    "private, but with twice the noise it needs: answers are worse for nothing": lambda c: (4 * c, 8 * c, True),
    "private, but with another split than the even one that this exercise asks for":
        lambda c: (1 + (2 * c) ** (2 / 3), (1 + (2 * c) ** (-2 / 3)) * 2 * c, False),
}


def _pair(one, two, threshold, epsilon, c, **settings):
    name = " / ".join(f"answers {list(a)}, threshold {threshold:g}, ε = {epsilon:g}, c = {c}" for a in (one, two))
    steps = np.abs(np.subtract(one, two)).max()
    return Pair(name, *((list(a), threshold, epsilon, c) for a in (one, two)), ((steps * epsilon, 0.0),), **settings)


PAIRS = [
    _pair([0.0, 1.0], [1.0, 0.0], 0.5, 0.8, 1, twice=800),
    _pair([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], 0.5, 1.0, 2, runs=6000),
    _pair([-14.0, -14.0, -14.0], [0.0, -14.0, -14.0], 0.0, 0.1, 2, runs=2000),
    _pair([70.0, 140.0, 0.0], [140.0, 70.0, 0.0], 0.0, 0.01, 2, runs=2000),
    *(_pair([-2.0, -1.0] * 4, [-1.0, -2.0] * 4, 0.0, case["epsilon"], case["c"]) for case in drawn(2, 23, epsilon=(0.5, 3.0), c=(3, 5))),
]
CASES = {((0.0, 1.0, 0.0, -1.0), 0.0, 4.0, 3): (20_000, RIVALS),          # runs, and what may be named
         ((-7.0,) * 8, 0.0, 2.0, 2): (8000, RIVALS), ((2.5, 2.0, 3.0) * 2, 2.5, 3.0, 2): (25_000, RIVALS),
         ((5016.0,) * 3, 5000.0, 2.0, 2): (10_000, {}), ((-16.0,) * 8, 0.0, 2.0, 2): (10_000, {}),   # clear answers need noise too
         ((-400.0,) * 12, 0.0, 0.01, 1): (3000, {}), ((5.0, -4.0, 6.0, 0.0), 1.0, 8.0, 8): (4000, {})}


@checker
def svt_restart(alarms):
    """`alarms(answers, threshold, epsilon, c, rng)`: a generator of replies, epsilon-DP in all, for sensitivity 1."""
    if is_stub(alarms):
        raise NotAttempted
    rng = luck(22)
    for (answers, threshold, epsilon, c), (size, named) in CASES.items():
        runs = _replies(len(answers), c)
        counts = np.bincount([runs.index(_run(alarms, (list(answers), threshold, epsilon, c), rng)) for _ in range(size)], minlength=len(runs))
        right, shared, *rivals = (_law(runs, answers, threshold, Scales(b1 / epsilon, b2 / epsilon, math.inf), *how)
                                  for b1, b2, *how in ((2 * c, 4 * c, True), (2, 4 * c, False), *(rival(c) for rival in named.values())))
        if _p_value(counts, shared) >= LEVEL:    # one threshold for all, noise that grows with c: private too
            continue
        _compare(rng, counts, right, dict(zip(named, rivals)),
                 lambda i: f"on answers {list(answers)}, threshold {threshold:g}, epsilon {epsilon:g}, c {c}: the run {list(runs[i])}")
    looked = battery(alarms, lambda pair: Choice(_replies(len(pair.one[0]), pair.one[3]), "the run"), PAIRS, call=_run, seed=22)
    return f"it stops, and its replies have a law that costs epsilon in all; {looked}"
