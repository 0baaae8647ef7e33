"""Checkers of chapter 4, the sparse vector technique."""
import functools
import itertools
from collections import Counter

import numpy as np
from scipy.optimize import brentq

from dplib.audit import audit
from dplib.svt import Scales, index_pmf, log_laplace_cdf, log_probability, scales
from provable_privacy.battery import Choice, Pair, battery, drawn
from provable_privacy.battery.diagnosis import CENTRE
from provable_privacy.battery.laws import compare
from provable_privacy.battery.runs import luck
from provable_privacy.speech import Wrong, answered, ask, checker, compare_dict, compare_number, number

__all__ = ["svt_build", "svt_counterexample", "svt_level", "svt_mend", "svt_monotone", "svt_refute", "svt_touch"]

EVENINGS = 200
STREAMS = {                                      # stream -> its answers, from the number of visits on each evening
    "daily": lambda visits: visits,
    "excess": np.cumsum,
    "week": lambda visits: np.convolve(visits, np.ones(7))[: len(visits)],
}
TOUCHED = {
    "daily": "how many daily counts does one visit belong to?",
    "excess": "take the worst evening for the visit: which one stays in the running total longest?",
    "week": "for how many evenings does a visit stay in the seven-day count?",
}


@checker
def svt_touch(answer):
    """`answer`: stream -> (answers that one visit can move, epsilon of Laplace noise of scale 10 on every answer)."""
    right = {}
    for stream, view in STREAMS.items():
        moves = [np.abs(view(one) - view(np.zeros(EVENINGS))) for one in np.eye(EVENINGS)]
        right[stream] = max(int(np.count_nonzero(move)) for move in moves), max(move.sum() for move in moves) / 10

    def why(stream, said):
        touched, epsilon = right[stream]
        if not isinstance(said, (tuple, list)) or len(said) != 2:
            return f"expected a pair (answers moved, epsilon), got {said!r}"
        if number(said[0], f"{stream}, answers moved") != touched:
            return f"not {said[0]} answers; {TOUCHED[stream]}"
        compare_number(said[1], epsilon, f"{stream}, epsilon", lambda cost: f"not {cost:g}; {touched} answers is right; they move by {epsilon * 10:g} "
                       f"in all (L1), so noise of scale 10 does not cost {cost:g}", relative=1e-6, tolerance=0)

    if isinstance(answer, dict):
        answer = {stream: right[stream] if stream in right and said is not ... and not why(stream, said) else said for stream, said in answer.items()}
    compare_dict(answer, right, why)
    return "the same noise costs 0.1, 20 or 0.7: what one person can touch decides"


def _independent(passes):
    """Law of the first success in independent trials, and last of none."""
    passes = np.asarray(passes)
    silent = np.cumprod(np.append(1, 1 - passes))
    return np.append(silent[:-1] * passes, silent[-1])


def _shared(alone):
    """Law of the first success when all comparisons share one noise, from the probability that each passes alone."""
    best = np.maximum.accumulate(alone)
    return np.append(np.diff(np.append(0, best)), 1 - best[-1])


def _rivals(answers, threshold, epsilon, sensitivity=1.0):
    """Message -> law of the index of the first Yes, under the mistakes that people make."""
    answers = np.asarray(answers, dtype=float)

    def law(b1, b2):
        return index_pmf(answers, threshold=threshold, noise=Scales(b1, b2, np.inf))

    b1, b2, _ = scales(epsilon, sensitivity=sensitivity)
    if sensitivity != 1:                         # it was right where both are 1, so it is how they enter
        unit, plain = scales(epsilon), scales(1.0, sensitivity=sensitivity)
        return {
            "the noise ignores epsilon": law(plain.threshold, plain.query), "the noise ignores the sensitivity": law(unit.threshold, unit.query),
            "the noise grows with epsilon: divide by it": law(*scales(1 / epsilon, sensitivity=sensitivity)[:2]),
            "the noise on the threshold ignores the sensitivity": law(unit.threshold, b2),
            "the noise on the answers ignores the sensitivity": law(b1, unit.query),
        }
    alone = [index_pmf([answer], threshold=threshold, noise=Scales(b1, b2, np.inf))[0] for answer in answers]
    certain = np.where(answers >= threshold, 1.0, 0.0)
    public = np.exp(log_laplace_cdf((answers - threshold) / b2))
    return {
        "the two scales are swapped: the wide noise belongs to the answers": law(b2, b1),
        "one noise serves all answers: then two answers keep their order, and between (0, 1) and (1, 0) an outcome can become impossible, "
        "an infinite loss; each comparison needs a noise of its own": _shared(alone),
        "there is no noise at all: the outcome tells the exact comparison": _independent(certain),
        "the threshold has no noise: every No then costs, and the loss grows with the length of the list": _independent(public),
        "the answers have no noise: between answers (0, 1) and (1, 0) an outcome can be possible for one and impossible for the other, "
        "an infinite loss": _shared(np.exp(log_laplace_cdf((answers - threshold) / b1))),
        "the threshold's noise is drawn anew for every question: then No is not free, and the loss grows with the list": _independent(alone),
        "the noise on the answers is half of what it must be: when the threshold moves by Δ one way and the answer by Δ the other, "
        "they part by 2Δ": law(b1, b2 / 2),
        "the noise on the threshold is half of what it must be": law(b1 / 2, b2),
        "all noise is half of what it must be: half of epsilon goes to the threshold and half to the answers": law(b1 / 2, b2 / 2),
        "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": law(b1 / 2**0.5, b2 / 2**0.5),
        "private, but with twice the noise it needs: answers are worse for nothing": law(2 * b1, 2 * b2),
    }


PLAIN, RUNS = [-1.0, 2.0, -4.0, 2.0, -1.0, 0.0, 2.0, 3.0], 16_000


def _same_law(run, cases, rng):
    """`Wrong`, with the mistake that has the law of these runs, unless it is that of AboveThreshold."""
    for answers, threshold, epsilon, sensitivity in cases:
        counts = Counter(run(list(answers), threshold, epsilon, sensitivity, rng) for _ in range(RUNS))
        law = index_pmf(answers, threshold=threshold, noise=scales(epsilon, sensitivity=sensitivity))
        _compare(rng, np.array([counts[i] for i in (*range(len(answers)), None)]), law, _rivals(answers, threshold, epsilon, sensitivity),
                 lambda i: f"on answers {answers}, threshold {threshold:g}, epsilon {epsilon:g}: index {i if i < len(answers) else None}")


def _compare(rng, *how):
    """`laws.compare`, which first asks whether the noise was drawn around its scale."""
    try:
        compare(*how)
    except Wrong:
        if rng.centred:
            raise Wrong(CENTRE.format(rng.centred)) from None
        raise


def _pair(one, two, threshold, epsilon, sensitivity, *, name=None, **settings):
    """Two lists of answers; the claim is epsilon for each step of the sensitivity, and the law that of AboveThreshold."""
    steps, noise = np.abs(np.subtract(one, two)).max() / sensitivity, scales(epsilon, sensitivity=sensitivity)
    name = name or " / ".join(f"answers {list(a)}, threshold {threshold:g}, ε = {epsilon:g}, Δ = {sensitivity:g}" for a in (one, two))
    return Pair(name, *((list(a), threshold, epsilon, sensitivity) for a in (one, two)), ((steps * epsilon, 0.0),),
                law=tuple(index_pmf(a, threshold=threshold, noise=noise) for a in (one, two)), **settings)


def _random(sensitivity, seed):
    for case in drawn(2, seed, epsilon=(0.4, 2.5), sensitivity=sensitivity, threshold=(-5.0, 5.0)):
        rng, unit = np.random.default_rng([seed, round(100 * case["epsilon"])]), case["sensitivity"] / case["epsilon"]
        one = np.round(case["threshold"] + 4 * unit * rng.uniform(-1, 0.5, 5), 2)
        two = np.round(one + case["sensitivity"] * rng.uniform(-1, 1, 5), 2)
        yield _pair(one.tolist(), two.tolist(), case["threshold"], case["epsilon"], case["sensitivity"])


PAIRS = [
    _pair([0.0, 1.0], [1.0, 0.0], 0.5, 1.0, 1.0, twice=800),
    _pair([-3.0], [0.0], 0.0, 1.0, 1.0, runs=2000),
    _pair([0.0, 0.0], [3.0, 3.0], 0.0, 1.0, 1.0, runs=2000),
    _pair([16.0], [15.0], 0.0, 1.0, 1.0, runs=6000),                           # what is clearly above fails in 1.2% of runs
    _pair([-2.0] * 8 + [2.0], [1.0] * 8 + [-1.0], 0.0, 1.0, 1.0, runs=8000, watch=(8,)),
    *(_pair([low] * 40, [low + 1] * 40, 0.0, 1.0, 1.0, runs=runs, name=f"40 answers of {low:g}, threshold 0, ε = 1, Δ = 1 / 40 of {low + 1:g}")
      for low, runs in ((-13.0, 1500), (-7.0, 6000))),
    _pair([-30.0] * 200, [-29.0] * 200, 0.0, 1.0, 1.0, runs=800, name="200 answers of -30, threshold 0, ε = 1, Δ = 1 / 200 of -29"),    # alarm in 7 %, 8 %
]
BUILD = [_pair([6.0], [0.0], 1.0, 0.5, 2.0, runs=2000), _pair([0.9, 1.6], [1.1, 1.4], 1.0, 1.0, 0.2), *PAIRS, *_random((0.3, 4.0), 20)]
MEND = [*PAIRS, *_random((1.0, 1.0), 21)]


def _index(pair):
    return Choice((*range(len(pair.one[0])), None), "the index")


@checker
def svt_build(first_above):
    """`first_above(answers, threshold, epsilon, sensitivity, rng)`: the index of the first Yes, or None."""
    rng = luck(20)
    for answers, expected in (([0.0, 1e6, 0.0], 1), ([-1e6, -1e6], None)):
        got = ask(first_above, list(answers), 100.0, 1.0, 1.0, rng)
        if isinstance(got, bool) or not (got is None or isinstance(got, (int, np.integer))):
            raise Wrong(f"expected an index or None, got {got!r}")
        if got is not None and expected is None:
            raise Wrong(f"on answers far below the threshold it returned {got!r}: say None, so that silence cannot be taken for an alarm")
        if got != expected:
            why = ("is the `return` missing?" if got is None else "that is the place of the first No: is the comparison turned round?" if got == 0
                   else "indices begin at 0, and the run stops at its first Yes")
            raise Wrong(f"on answers {answers} with threshold 100 it returned {got!r}, expected {expected!r}: {why}")
    _same_law(functools.partial(ask, first_above), ((PLAIN, 0.5, 1.0, 1.0), ([-8.0, 4.0, -12.0, 12.0], 1.0, 1.4, 3.0)), rng)
    return f"the law of AboveThreshold; {battery(first_above, _index, BUILD, seed=20, may_change=True)}"


@checker
def svt_level(level):
    """`level(k, epsilon, beta)`: the smallest alarm level above the quiet level with P(false alarm in k answers) <= beta."""
    for k, epsilon, beta in ((10, 1.0, 0.05), (1000, 1.0, 0.01), (2, 0.25, 0.4)):
        got = number(answered(level, k, epsilon, beta), f"for k={k}, epsilon={epsilon:g}, beta={beta:g} the level")
        exact = brentq(lambda x: _false_alarm(k, epsilon, x) - beta, 0, 1000 / epsilon)
        theorem = 8 * (np.log(k) + np.log(2 / beta)) / epsilon
        case = f"for k={k}, epsilon={epsilon:g}, beta={beta:g}"
        if got < exact * (1 - 1e-3):
            raise Wrong(f"{case} a level of {got:.2f} is too low: the chance of a false alarm is {_false_alarm(k, epsilon, got):.2%}, above {beta:.0%}")
        if np.isclose(got, theorem, rtol=1e-6):
            raise Wrong(f"{case} the theorem's {got:.1f} is safe, but {got / exact:.1f} times what is needed, and real alarms come late: use the exact law")
        if got > exact * 1.02:
            raise Wrong(f"{case} a level of {got:.2f} is safe but higher than needed by a factor of {got / exact:.2f}")
    return "just high enough, in all three cases"


def _false_alarm(k, epsilon, level):
    return -np.expm1(log_probability(np.zeros(k), np.full(k, -float(level)), threshold=0.0, noise=scales(epsilon)))


@checker
def svt_counterexample(answer):
    """`answer`: (answers, answers2, outcome) on which Laplace noise of scale 4 against a public threshold 0 loses more than 5."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 3:
        raise Wrong("expected three lists: (answers, answers2, outcome)")
    (answers, answers2), outcome = _neighbours(*answer[:2]), np.asarray(answer[2])
    if outcome.ndim != 1 or not np.isin(outcome, (0, 1)).all() or len(outcome) != len(answers):
        raise Wrong("outcome must be a list of 0 (No) and 1 (Yes), one for each answer")
    if outcome[:-1].any():
        raise Wrong("the run stops at its first Yes: only the last reply can be 1")
    side = np.where(outcome == 1, 1, -1)
    loss = float((log_laplace_cdf(side * answers / 4) - log_laplace_cdf(side * answers2 / 4)).sum())
    if loss < -5:
        raise Wrong(f"the loss is {loss:.2f}: swap the two lists")
    if loss <= 5 + 1e-9:
        raise Wrong(f"the loss is {loss:.2f}, and it must exceed 5; a No can lose at most 1/4, when both answers lie at or above the threshold")
    return "no epsilon survives this: a longer list makes it as large as you like"


def _neighbours(answers, answers2):
    """Two neighbouring lists of answers, or `Wrong`."""
    one, two = (np.asarray(list(x), dtype=float) for x in (answers, answers2))
    if one.ndim != 1 or one.shape != two.shape or one.size == 0:
        raise Wrong("the two lists of answers must have the same length, at least one")
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise Wrong("answers must be finite numbers")
    if np.abs(one - two).max() > 1 + 1e-9:
        raise Wrong(f"these are not neighbours: one answer differs by {np.abs(one - two).max():g}, and one person moves each by at most 1")
    return one, two


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
    often = np.maximum(*laws) > 1e-9             # below that the ratio may be one of rounding errors, and no audit sees it
    loss = float(np.abs(np.log(laws[0] / laws[1]))[often].max())
    if loss <= CLAIM and not often.all():
        return (
            "not all of three audits were above 0.5: the outcomes with a loss above 0.5 have a probability below one in a billion, "
            "and no audit sees them; bring the answers nearer to the threshold"
        )
    if loss <= CLAIM:
        return f"not all of three audits were above 0.5: the worst single outcome of these lists has a loss of {loss:.3f}, and no audit can find more"
    likely = max(max(p, q) for p, q in zip(*laws) if abs(np.log(p / q)) > CLAIM)
    return (
        f"not all of three audits were above 0.5, though an outcome with a loss of {loss:.2f} exists: those above 0.5 have a probability of "
        f"{likely:.3f} at most. Half of the {AUDIT_RUNS:,} runs go into finding the event; make the loss larger (a longer list) or the outcome "
        "likelier (a shorter one, answers nearer to the threshold)"
    )


@checker
def svt_refute(answer):
    """`answer`: (answers, answers2), neighbours on which an audit refutes "the replies alone cost epsilon/2"."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong("expected two lists: (answers, answers2)")
    one, two = _neighbours(*answer)
    if one.size == 4:
        raise Wrong("these have the length of the lists in the text, four: find a pair of another length")
    if one.size > 200:
        raise Wrong("200 answers are more than enough: rare outcomes need many runs")
    bounds = [audit(_first_yes, one, two, n=AUDIT_RUNS, rng=seed).epsilon for seed in range(3)]
    if min(bounds) <= CLAIM:
        raise Wrong(_why_not_refuted(one, two))
    return "three audits out of three put the loss above 0.5, each with 95 % confidence"


def _conversation(Watch, arguments, rng):
    answers, threshold, epsilon, _ = arguments
    watch = ask(Watch, threshold, epsilon, rng)
    return next((index for index, answer in enumerate(answers) if ask(watch.ask, answer)), None)


def _refusal(watch, answer):
    try:
        return watch.ask(answer), ""
    except (Exception, SystemExit) as error:     # any refusal will do, if it says nothing about answers or noise
        return type(error), str(error)


@checker
def svt_mend(Watch):
    """`Watch(threshold, epsilon, rng)` with `ask(answer) -> bool`: AboveThreshold for sensitivity 1 and one alarm."""
    if not isinstance(Watch, type):
        raise Wrong(f"expected a class, got {type(Watch).__name__}")
    rng, after, words, late = luck(21), [], [], (1e6, -1e6, 100.0, 1e6, 0.0, 1e6, -1e6)
    for silent, answers in itertools.product((0, 3), (late, late[::-1])):
        watch = ask(Watch, 100.0, 1.0, rng)
        if any([ask(watch.ask, -1e6) for _ in range(silent)]) or not ask(watch.ask, 1e6):
            raise Wrong("at a threshold of 100 an answer of a million must pass, with a reply that is true, and one of minus a million not, with a false one "
                        "(False; a text is true)")
        replies, said = zip(*(_refusal(watch, answer) for answer in answers))
        after, words = [*after, *replies], [*words, said]
    for _ in range(4):
        watch = ask(Watch, 100.0, 1.0, rng)
        if any(ask(watch.ask, 99.0) for _ in range(1000)):      # a false alarm halts too
            after += [_refusal(watch, answer)[0] for answer in late]
    if any(reply is not after[0] and reply != after[0] for reply in after):
        raise Wrong("after its alarm it goes on comparing: one threshold noise pays for one Yes. A watch that has halted must refuse every question")
    if isinstance(after[0], (int, float, np.generic)):
        raise Wrong(f"after its alarm it says {after[0]} to every question: private, but taken for a comparison that was not made; it must refuse")
    if told := [said for one, two in (words[:2], words[2:]) for said, other in zip(one, two) if said != other]:
        raise Wrong(f"it refuses, but the words tell on the answer or on the noise, and nobody pays for that: {told[0]}"[:200])
    _same_law(lambda *arguments: _conversation(Watch, arguments[:-1], arguments[-1]), [(PLAIN, 0.5, 1.0, 1.0)], luck(21))
    return f"it halts, and has the law of AboveThreshold; {battery(Watch, _index, MEND, call=_conversation, seed=21)}"


WORST = [np.append(np.ones(40), 0), np.append(np.zeros(40), 1), np.ones(41)]       # steps of 41 counts that move up together


@checker
def svt_monotone(answer):
    """`answer`: the smallest Laplace scales on `counts` (threshold noise Lap(2)) and on running `totals` (Lap(1)) for epsilon = 1, sensitivity 1."""
    outcome, right = np.append(np.zeros(40), 1), {"counts": 2.0, "totals": 1.0}

    def why(stream, scale):
        if not 0 < scale < 1000:
            return f"expected a scale between 0 and 1000, got {scale:g}"
        noise, moves = Scales(right[stream], scale, np.inf), WORST if stream == "counts" else WORST[1:]
        at = [(x + (0 * move, move)[i], t) for x in (np.zeros(41), np.append(np.full(40, 30.0), -30)) for move in moves for t in (-3.0, 0.0, 0.5, 1.0, 4.0)
              for i in (0, 1)]
        logs = [log_probability(outcome, answers, threshold=t, noise=noise) for answers, t in at]
        most = np.abs(np.subtract(logs[::2], logs[1::2])).max()
        if most > 1 + 1e-6:
            return f"with scale {scale:g} an outcome on two neighbouring streams has a loss of {most:.3f}, above 1"
        return f"scale {scale:g} is private but not the smallest: all streams we tried stay below a loss of {most:.3f}"

    compare_dict(answer, right, why, relative=1e-6, tolerance=0)
    return "half the noise of the general case for counts, and a quarter for running totals, at the same epsilon"
