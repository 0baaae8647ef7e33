"""Checkers of the section on AboveThreshold."""
import functools
import itertools

import numpy as np
from scipy.optimize import brentq

from dplib.audit import audit
from dplib.svt import index_pmf, log_laplace_cdf, log_probability, scales
from provable_privacy.battery import Choice, Pair, battery, drawn, looks_for
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import law_of_runs, neighbours, same_law, whole_runs, witness
from provable_privacy.entries import Number, Together, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, ask, checker

__all__ = ["svt_build", "svt_counterexample", "svt_level", "svt_mend", "svt_monotone", "svt_refute", "svt_touch"]

ANSWERS, INDEX = "a person moves answers, and not their number", "one index comes out"

# ------------------------------------------------------------------------------------------- what one visit can touch

EVENINGS = 200
STREAMS = {                                      # stream -> its answers, from the visits of each evening, and a hint
    "daily": (lambda visits: visits, "how many daily counts does one visit belong to?"),
    "excess": (np.cumsum, "take the worst evening for the visit: which one stays in the running total longest?"),
    "week": (lambda visits: np.convolve(visits, np.ones(7))[: len(visits)],
             "for how many evenings does a visit stay in the seven-day count?"),
}


@entries("the same noise costs 0.1, 20 or 0.7: what one person can touch decides")
def svt_touch():
    """`answer`: stream -> (answers that one visit can move, epsilon of Laplace noise of scale 10 on every answer)."""
    def entry(view, hint):
        moves = [np.abs(view(one) - view(0 * one)) for one in np.eye(EVENINGS)]
        most, distance = max(map(np.count_nonzero, moves)), max(move.sum() for move in moves)
        cost = f"one visit moves the {most} answers by {distance:g} in all (L1). Which ε is that at scale 10?"
        return Together({"answers moved": Number(most, hint, tolerance=0),
                         "epsilon": Number(distance / 10, cost, relative=1e-6, tolerance=0)})

    return {stream: entry(*case) for stream, case in STREAMS.items()}


# ------------------------------------------------------------------------------ the law of the index of the first Yes

def _law(noise, again=""):
    """The law on a case, when `noise` gives the scales on threshold and answers from epsilon and the sensitivity."""
    def law(answers, threshold, epsilon, sensitivity):
        runs = whole_runs(len(answers), 1)
        found = dict(zip(runs, law_of_runs(runs, answers, threshold, *noise(epsilon, sensitivity), again)))
        return [*(found[(0,) * index + (1,)] for index in range(len(answers))), found[(0,) * len(answers)]]

    return law


def _units(b1, b2, again=""):
    """The law when the scales are these multiples of sensitivity/epsilon."""
    return _law(lambda epsilon, sensitivity: (b1 * sensitivity / epsilon, b2 * sensitivity / epsilon), again)


def _one_noise(answers, threshold, epsilon, sensitivity):
    """The law when all comparisons share one noise: then the larger answer passes whenever the smaller one does."""
    best = np.maximum.accumulate([_units(2, 4)((answer,), threshold, epsilon, sensitivity)[0] for answer in answers])
    return np.append(np.diff(best, prepend=0), 1 - best[-1])


PLAIN = (-1.0, 2.0, -4.0, 2.0, -1.0, 0.0, 2.0, 3.0), 0.5, 1.0, 1.0          # answers, threshold, epsilon, sensitivity
SCALED = (-8.0, 4.0, -12.0, 12.0), 1.0, 1.4, 3.0
RUNS = 16_000
MISTAKES = {                                     # on the plain case: words -> the law under the mistake
    "the two scales are swapped: the wide noise belongs to the answers": _units(4, 2),
    "one noise serves all answers, so two answers keep their order. Between (0, 1) and (1, 0) an outcome can become "
    "impossible, an infinite loss. Each comparison needs a noise of its own": _one_noise,
    "there is no noise at all: the outcome tells the exact comparison": _units(0, 0),
    "the threshold has no noise: every No then costs, and the loss grows with the length of the list": _units(0, 4),
    "the answers have no noise: between answers (0, 1) and (1, 0) an outcome can be possible for one and impossible "
    "for the other, an infinite loss": _units(2, 0),
    "the threshold's noise is drawn anew for every question: then No is not free, and the loss grows with the list":
        _units(2, 4, "every"),
    "the noise on the answers is half of what it must be: the threshold may move by Δ one way and the answer by Δ the "
    "other way, so their distance changes by 2Δ": _units(2, 2),
    "the noise on the threshold is half of what it must be": _units(1, 4),
    "all noise is half of what it must be: half of epsilon goes to the threshold and half to the answers": _units(1, 2),
    "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2":
        _units(2**0.5, 8**0.5),
    "private, but with twice the noise it needs: the replies are worse, and nobody gains": _units(4, 8),
}
SCALED_MISTAKES = {                              # it was right where both are 1, so it is how they enter
    "the noise ignores epsilon": _law(lambda e, s: (2 * s, 4 * s)),
    "the noise ignores the sensitivity": _law(lambda e, s: (2 / e, 4 / e)),
    "the noise grows with epsilon: divide by it": _law(lambda e, s: (2 * s * e, 4 * s * e)),
    "the noise on the threshold ignores the sensitivity": _law(lambda e, s: (2 / e, 4 * s / e)),
    "the noise on the answers ignores the sensitivity": _law(lambda e, s: (2 * s / e, 4 / e)),
}


def _has_the_law(run, case, mistakes, rng):
    answers, threshold, epsilon, _ = case
    seen = [run(list(answers), *case[1:], rng) for _ in range(RUNS)]
    on = f"on answers {list(answers)}, threshold {threshold:g}, epsilon {epsilon:g}"
    same_law(seen, (*range(len(answers)), None), case, _units(2, 4), mistakes, rng,
             lambda index: f"{on}: index {index}")


def _pair(one, two, threshold, epsilon, sensitivity, *, name=None, **settings):
    """Two lists of answers; the claim is epsilon for each step of the sensitivity."""
    steps, noise = np.abs(np.subtract(one, two)).max() / sensitivity, scales(epsilon, sensitivity=sensitivity)
    on = f"threshold {threshold:g}, ε = {epsilon:g}, Δ = {sensitivity:g}"
    return Pair(name or f"answers {one}, {on} / answers {two}, {on}",
                *((answers, threshold, epsilon, sensitivity) for answers in (one, two)), ((steps * epsilon, 0.0),),
                law=tuple(index_pmf(answers, threshold=threshold, noise=noise) for answers in (one, two)), **settings)


def _same(size, low, runs):
    return _pair([low] * size, [low + 1] * size, 0.0, 1.0, 1.0, runs=runs,
                 name=f"{size} answers of {low:g}, threshold 0, ε = 1, Δ = 1 / {size} of {low + 1:g}")


def _random(sensitivity, seed):
    for case in drawn(2, seed, epsilon=(0.4, 2.5), sensitivity=sensitivity, threshold=(-5.0, 5.0)):
        threshold, epsilon, step = case["threshold"], case["epsilon"], case["sensitivity"]
        rng = np.random.default_rng([seed, round(100 * epsilon)])
        one = np.round(threshold + 4 * step / epsilon * rng.uniform(-1, 0.5, 5), 2)
        two = np.round(one + step * rng.uniform(-1, 1, 5), 2)
        yield _pair(one.tolist(), two.tolist(), threshold, epsilon, step)


PAIRS = [
    _pair([0.0, 1.0], [1.0, 0.0], 0.5, 1.0, 1.0, twice=800),
    _pair([-3.0], [0.0], 0.0, 1.0, 1.0, runs=2000),
    _pair([0.0, 0.0], [3.0, 3.0], 0.0, 1.0, 1.0, runs=2000),
    _pair([16.0], [15.0], 0.0, 1.0, 1.0, runs=6000),               # what is clearly above fails in 1.2 % of runs
    _pair([-2.0] * 8 + [2.0], [1.0] * 8 + [-1.0], 0.0, 1.0, 1.0, runs=8000, watch=(8,)),
    _same(40, -13.0, 1500), _same(40, -7.0, 6000), _same(200, -30.0, 800),     # the last: alarm in 7 %, 8 %
    _same(600, -24.0, 450),
    _pair([-17.0] * 19 + [0.5], [-16.0] * 19 + [-0.5], 0.0, 1.0, 1.0, runs=1000,
          name="20 answers, -17 and the last 0.5, ε = 1 / -16 and -0.5"),
    _pair([9.8, 10.1], [10.1, 9.9], 10.0, 9.0, 1.0, runs=2000),
    _pair([880.0, 1100.0, 900.0], [900.0, 1080.0, 920.0], 1000.0, 0.02, 1.0, runs=3000),
    _pair([-7.5, -6.5], [-6.5, -7.5], -7.0, 1.6, 1.0, runs=8000),              # 2/1.6 and 4/1.6 are not whole
]
BUILD = [
    _pair([6.0], [0.0], 1.0, 0.5, 2.0, runs=2000), _pair([3.0, -4.0], [-3.0, 2.0], 1.0, 1.0, 6.0, runs=1000),
    _pair([0.9, 1.6], [1.1, 1.4], 1.0, 1.0, 0.2),
    *PAIRS, *_random((0.3, 4.0), 20),
]
MEND = [*PAIRS, *_random((1.0, 1.0), 21)]


def _indices(pair):
    return Choice((*range(len(pair.one[0])), None), "the index")


# ----------------------------------------------------------------------------------------------------------- build it

CLEAR = [([0.0, 1e6, 0.0], 1), ([-1e6, -1e6], None)]       # answers, and the index at a threshold of 100
ELSEWHERE = {
    None: "is the `return` missing?",
    0: "that is the place of the first No: is the comparison turned round?",
    2: "indices begin at 0, and the run stops at its first Yes",
}


def _stops_where_it_must(first_above, rng):
    for answers, expected in CLEAR:
        got = ask(first_above, list(answers), 100.0, 1.0, 1.0, rng)
        if isinstance(got, bool) or not (got is None or isinstance(got, (int, np.integer))):
            raise Wrong(f"expected an index or None, got {got!r}")
        if got is not None and expected is None:
            raise Wrong(f"on answers far below the threshold it returned {got!r}: say None, so that nobody takes "
                        "silence for an alarm")
        if got != expected:
            why = ELSEWHERE.get(got, ELSEWHERE[2])
            raise Wrong(f"on answers {answers} with threshold 100 it returned {got!r}, expected {expected!r}: {why}")


@checker
@looks_for("straddles", "far", "quotient", "shared", size=ANSWERS, empty=ANSWERS, contents=ANSWERS, order=INDEX,
           zero=INDEX, missing="an answer is a number")
def svt_build(first_above):
    """`first_above(answers, threshold, epsilon, sensitivity, rng)`: the index of the first Yes, or None."""
    rng = luck(20)
    _stops_where_it_must(first_above, rng)
    for case, mistakes in ((PLAIN, MISTAKES), (SCALED, SCALED_MISTAKES)):
        _has_the_law(functools.partial(ask, first_above), case, mistakes, rng)
    return f"the law of AboveThreshold; {battery(first_above, _indices, BUILD, seed=20, may_change=True)}"


# ------------------------------------------------------------------------------------------------ set the alarm level

LEVELS = [(10, 1.0, 0.05), (1000, 1.0, 0.01), (2, 0.25, 0.4)]


def _false_alarm(k, epsilon, level):
    return -np.expm1(log_probability(np.zeros(k), np.full(k, -float(level)), threshold=0.0, noise=scales(epsilon)))


@functools.cache
def _lowest(k, epsilon, beta):
    return brentq(lambda level: _false_alarm(k, epsilon, level) - beta, 0, 1000 / epsilon)


LEVEL_MISTAKES = {
    "the theorem's level is safe, but it is far higher than needed, so real alarms come late. Use the exact law":
        lambda k, epsilon, beta: 8 * (np.log(k) + np.log(2 / beta)) / epsilon,
}


def _what_level(got, right, k, epsilon, beta):
    if got < right:
        return f"this is too low: the chance of a false alarm is {_false_alarm(k, epsilon, got):.2%}, above {beta:.0%}"
    return f"this is safe, but higher than needed by a factor of {got / right:.2f}"


@checker
def svt_level(level):
    """`level(k, epsilon, beta)`: the smallest level above the quiet one with P(false alarm in k answers) <= beta."""
    on_cases(level, LEVELS, _lowest, LEVEL_MISTAKES, what="the level", otherwise=_what_level,
             accepts=lambda got, right, *case: right * (1 - 1e-3) <= got <= right * 1.02)
    return "just high enough, in all three cases"


# ----------------------------------------------------------------------------------------- break the public threshold

@checker
def svt_counterexample(answer):
    """`answer`: (answers, answers2, outcome), on which noise Lap(4) against a public threshold 0 loses more than 5."""
    one, two, outcome = witness(answer, "three lists: (answers, answers2, outcome)", stops="the run stops")
    side = np.where(outcome == 1, 1, -1)
    loss = float((log_laplace_cdf(side * one / 4) - log_laplace_cdf(side * two / 4)).sum())
    if loss < -5:
        raise Wrong(f"the loss is {loss:.2f}: swap the two lists")
    if loss <= 5 + 1e-9:
        raise Wrong(f"the loss is {loss:.2f}, and it must exceed 5. A No can lose at most 1/4. It loses that much when "
                    "both answers lie at or above the threshold")
    return "no epsilon survives this: a longer list makes it as large as you like"


# --------------------------------------------------------------------------------------- refute "the replies cost ε₁"

CLAIM, AUDIT_RUNS = 0.5, 40_000


def _first_yes(answers, size, rng):
    """Index of the first Yes in `size` runs of AboveThreshold at epsilon = 1 and threshold 0; the length for none."""
    noise = scales(1.0)
    threshold = rng.laplace(scale=noise.threshold, size=(size, 1))
    passed = answers + rng.laplace(scale=noise.query, size=(size, len(answers))) >= threshold
    return np.where(passed.any(axis=1), passed.argmax(axis=1), len(answers))


def _why_not_refuted(one, two):
    """What the exact laws say about an audit that did not succeed."""
    laws = [index_pmf(answers, threshold=0.0, noise=scales(1.0)) for answers in (one, two)]
    often = np.maximum(*laws) > 1e-9             # no audit sees less, and the ratio may be one of rounding errors
    losses = np.abs(np.log(laws[0] / laws[1]))
    loss = float(losses[often].max())
    if loss <= CLAIM and not often.all():
        return ("outcomes with a loss above 0.5 have a probability below one in a billion, and no audit sees them. "
                "Bring the answers nearer to the threshold")
    if loss <= CLAIM:
        return f"the largest loss of an outcome of these lists is {loss:.3f}, and no audit can find more"
    likely = np.maximum(*laws)[losses > CLAIM].max()
    return (f"an outcome with a loss of {loss:.2f} exists, but those with more than 0.5 have a probability of at most "
            f"{likely:.3f}. An audit needs half of its {AUDIT_RUNS:,} runs to find the event. Make the loss larger (a "
            "longer list) or the outcome likelier (a shorter one, answers nearer to the threshold)")


@checker
def svt_refute(answer):
    """`answer`: (answers, answers2), neighbours on which an audit refutes "the replies alone cost epsilon/2"."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong("expected two lists: (answers, answers2)")
    one, two = neighbours(*answer)
    if one.size == 4:
        raise Wrong("these have the length of the lists in the text, four: find a pair of another length")
    if one.size > 200:
        raise Wrong("200 answers are more than enough: rare outcomes need many runs")
    bounds = [audit(_first_yes, one, two, n=AUDIT_RUNS, rng=seed).epsilon for seed in range(3)]
    if min(bounds) <= CLAIM:
        raise Wrong(f"not all of three audits were above 0.5: {_why_not_refuted(one, two)}")
    return "three audits out of three put the loss above 0.5, each with 95 % confidence"


# ------------------------------------------------------------------------------------------------------ fix the watch

LATE = (1e6, -1e6, 100.0, 1e6, 0.0, 1e6, -1e6)             # answers after the alarm


def _conversation(Watch, arguments, rng):
    answers, threshold, epsilon, _ = arguments
    watch = ask(Watch, threshold, epsilon, rng)
    return next((index for index, answer in enumerate(answers) if ask(watch.ask, answer)), None)


def _reply(watch, answer):
    """The reply and the words of a watch that has halted. Any refusal will do, if it says nothing about the answers."""
    try:
        return watch.ask(answer), ""
    except (Exception, SystemExit) as error:
        return type(error), str(error)


def _after_a_true_alarm(Watch, rng):
    """For both orders of the late answers, after no or three quiet ones: replies and words."""
    for silent, answers in itertools.product((0, 3), (LATE, LATE[::-1])):
        watch = ask(Watch, 100.0, 1.0, rng)
        if any([ask(watch.ask, -1e6) for _ in range(silent)]) or not ask(watch.ask, 1e6):
            raise Wrong("at a threshold of 100 an answer of a million must pass, with a reply that is true. Minus a "
                        "million must not pass: its reply must be false, and a text is true")
        yield [_reply(watch, answer) for answer in answers]


def _after_a_false_alarm(Watch, rng):
    for _ in range(4):
        watch = ask(Watch, 100.0, 1.0, rng)
        if any(ask(watch.ask, 99.0) for _ in range(1000)):
            yield [_reply(watch, answer) for answer in LATE]


def _halts(Watch, rng):
    true = list(_after_a_true_alarm(Watch, rng))
    replies = [reply for heard in (*true, *_after_a_false_alarm(Watch, rng)) for reply, _ in heard]
    if any(reply is not replies[0] and reply != replies[0] for reply in replies):
        raise Wrong("after its alarm it goes on comparing: one threshold noise pays for one Yes. A watch that has "
                    "halted must refuse every question")
    if isinstance(replies[0], (int, float, np.generic)):
        raise Wrong(f"after its alarm it says {replies[0]} to every question. That is private, but people will take it "
                    "for a comparison that was not made; it must refuse")
    for one, two in zip(true[::2], true[1::2]):
        if told := [said for (_, said), (_, other) in zip(one, two) if said != other]:
            raise Wrong(f"it refuses, but its words depend on the answer or on the noise, and no ε pays for that: "
                        f"{told[0]}"[:200])


@checker
@looks_for("straddles", "far", "quotient", "shared", size=ANSWERS, empty=ANSWERS, contents=ANSWERS, order=INDEX,
           zero=INDEX, missing="an answer is a number")
def svt_mend(Watch):
    """`Watch(threshold, epsilon, rng)` with `ask(answer) -> bool`: AboveThreshold for sensitivity 1 and one alarm."""
    if not isinstance(Watch, type):
        raise Wrong(f"expected a class, got {type(Watch).__name__}")
    _halts(Watch, luck(21))
    _has_the_law(lambda *arguments: _conversation(Watch, arguments[:-1], arguments[-1]), PLAIN, MISTAKES, luck(21))
    return f"it halts, and has the law of AboveThreshold; {battery(Watch, _indices, MEND, call=_conversation, seed=21)}"


# ----------------------------------------------------------------------------------------------- counts move together

@entries("half the noise of the general case for counts, and a quarter for running totals, at the same epsilon")
def svt_monotone():
    """`answer`: smallest Laplace scales on `counts` (threshold noise Lap(2)) and `totals` (Lap(1)) for epsilon = 1."""
    def entry(smallest):
        return Number(smallest, relative=1e-6, tolerance=0,
                      between=(0, 1000, "expected a scale between 0 and 1000, got {said}"),
                      below="with scale {said} an outcome on two neighbouring streams has a loss above 1",
                      above="scale {said} is private but not the smallest")

    return {"counts": entry(2.0), "totals": entry(1.0)}
