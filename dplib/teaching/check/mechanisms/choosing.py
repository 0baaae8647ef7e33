"""Checkers of chapter 3: choosing."""
import itertools
import math

import numpy as np
from scipy.special import softmax

from dplib.budget import Budget, BudgetExceeded
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["em_flip", "em_max", "em_median", "em_score", "em_winner"]

SPREADS = {"veto": (1, 1), "borda": (4, 4), "net": (1, 2), "quartile": (0.75, 1.5)}
WORLDS = {                                       # what one person can do, for the messages
    "veto": "one person adds a veto to some proposals and none to others, so the scores move by 0 or -1",
    "borda": "one ballot lifts the first by 4 and the last by 0",
    "net": "one viewer gives this film +1 and that film -1",
    "quartile": "an added person moves the inner number by 3/4 at every r above; there the bars make it a loss at one r and a gain at another",
}


@checker
def em_score(answer):
    """`answer`: score -> (sensitivity, spread) under add/remove."""
    if not isinstance(answer, dict) or set(answer) != set(SPREADS):
        raise Wrong(f"expected a dict with the keys {', '.join(SPREADS)}")
    if all(pair is ... or pair is None for pair in answer.values()):
        raise NotAttempted
    for name, right in SPREADS.items():
        try:
            got = tuple(float(value) for value in answer[name])
        except (TypeError, ValueError):
            got = ()
        if len(got) != 2:
            raise Wrong(f"{name}: expected a pair of numbers (sensitivity, spread), got {answer[name]!r}")
        for what, mine, true in zip(("sensitivity", "spread"), got, right):
            if not abs(mine - true) < 1e-9:
                side = "too small, so the choice would cost more than it says" if mine < true else "too large: safe, but noise for nothing"
                raise Wrong(f"{name}: a {what} of {mine:g} is {side}; {WORLDS[name]}")
    return "the largest change of one score, and the largest difference of two changes"


def _in_pairs(drawn, law, name):
    """Refuse draws that depend on the draw before."""
    k, drawn = len(law), np.asarray(drawn)
    half = len(drawn) // 2 * 2
    counts = np.bincount(drawn[:half:2] * k + drawn[1:half:2], minlength=k * k)
    same = {f"{name}: two runs after each other agree, so noise is used twice": np.diag(law).ravel()}
    compare(counts, np.outer(law, law).ravel(), same, lambda i: f"{name}, in two runs after each other, {i // k} and then {i % k},")


WINNERS = [  # how often each candidate stands in the table, rows of strangers, most, epsilon, draws
    ([3, 2, 0], 2, 1, 0.7, 6000),
    ([9, 7, 7, 4, 0, 0], 0, 3, 1.5, 5000),
    ([0, 0, 0, 0], 1, 2, 1.0, 2000),
    ([0, 6], 0, 4, 2.5, 3000),
    ([3, 1, 0], 1, 5, 3.0, 4000),                # nobody owns as many rows as `most` allows
    ([1500, 1499, 0], 0, 1, 1.0, 1500),
]


@checker
def em_winner(winner):
    """`winner(rows, candidates, most, epsilon, rng)`: a name, by the exponential mechanism at rate epsilon/most."""
    rng = np.random.default_rng(91)
    for counts, strangers, most, epsilon, runs in WINNERS:
        names = [f"list {letter}" for letter in "ABCDEF"[: len(counts)]]
        rows = [name for name, count in zip(names, counts) for _ in range(count)] + ["nobody"] * strangers
        rows = [rows[i] for i in rng.permutation(len(rows))]
        case = f"counts {counts}, most = {most}, epsilon = {epsilon:g}"
        drawn = []
        for run in range(runs):
            name = ask(winner, list(rows), list(names), most, epsilon, rng)
            if name is None and run == 0:
                raise NotAttempted
            if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
                raise Wrong(f"{case}: expected the name of a candidate, got the number {name}")
            if not isinstance(name, str) or name not in names:
                raise Wrong(f"{case}: {name!r} is none of the public candidates")
            drawn.append(names.index(name))
        scores = np.array(counts, dtype=float)
        law, present = softmax(scores * epsilon / most), scores > 0
        found = np.bincount(drawn, minlength=len(counts))
        if found.max() == runs and law.max() < 0.999:
            raise Wrong(f"{case}: always {names[int(np.argmax(found))]!r}; either nothing is drawn at random, or weights like e^1500 have overflowed, or "
                        "a seed is fixed inside")
        rivals = {
            f"{case}: safe, but the counts all move the same way when a person is added, so the 2 may go": softmax(scores * epsilon / (2 * most)),
            f"{case}: one person can put all {most} rows on one name; the sensitivity is not 1": softmax(scores * epsilon),
            f"{case}: one person can put all {most} rows on one name, which is more than your rate allows": softmax(scores * epsilon / 2),
            f"{case}: the sensitivity is read off the rows; it is the public number `most`, even where nobody owns so many":
                softmax(scores * epsilon / min(most, max(scores.max(), 1))),
            f"{case}: the scores are worth too much, epsilon times the sensitivity": softmax(scores * epsilon * most),
            f"{case}: twice the rate that the theorem allows": softmax(2 * scores * epsilon / most),
            f"{case}: a candidate whom nobody named is never drawn; the list is public, and leaving out who is not in the rows tells who is":
                law * present / (law * present).sum() if present.any() else law,
            f"{case}: evenly drawn, whatever the rows say": np.full(len(counts), 1 / len(counts)),
        }
        rivals = {message: rival for message, rival in rivals.items() if np.abs(rival - law).max() > 1e-9}
        compare(found, law, rivals, lambda i: f"{case}: {names[i]!r}")
        _in_pairs(drawn, law, case)
    return "the exact law on six tables, candidates without a row and an empty table included"


def noisy_max_law(scores, scale):
    """Exact law of the index of the largest integer score plus Laplace noise, by Gauss-Legendre panels between the integers."""
    scores = np.asarray(scores, dtype=float)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    edges = np.arange(scores.min() - 60 * scale, scores.max() + 60 * scale)
    z = ((edges[:, None] + 0.5 + nodes / 2).ravel()[None, :] - scores[:, None]) / scale
    density = np.exp(-np.abs(z)) / 2
    cdf = np.where(z < 0, density, 1 - density)
    w = np.tile(weights / 2, len(edges)) / scale
    return np.array([(w * density[i] * np.delete(cdf, i, axis=0).prod(axis=0)).sum() for i in range(len(scores))])


@checker
def em_max(lists):
    """`lists`: two neighbouring integer score lists on which noisy max with Lap(1) loses more than 1.95."""
    try:
        one, other = (np.array(scores, dtype=float) for scores in lists)
    except (TypeError, ValueError):
        raise Wrong("expected a pair of lists of scores, such as ([0, 1], [1, 1])") from None
    if one.ndim != 1 or one.shape != other.shape or len(one) < 2:
        raise Wrong("expected two lists of the same length, of at least two candidates")
    if len(one) > 4:
        raise Wrong(f"{len(one)} candidates; at most four, please: with a crowd it is too easy")
    both = np.concatenate([one, other])
    if not np.isfinite(both).all() or (both != np.round(both)).any() or np.ptp(both) > 300:
        raise Wrong("scores must be whole numbers, no more than 300 apart")
    if np.abs(one - other).max() > 1:
        raise Wrong(f"a score differs by {np.abs(one - other).max():g} between your lists; neighbours differ by at most 1")
    losses = np.log(noisy_max_law(one, 1)) - np.log(noisy_max_law(other, 1))
    worst = float(np.abs(losses).max())
    if worst <= 1.95:
        hint = "all scores move the same way" if np.ptp(one - other) <= 1 else "what if the one that climbs begins far behind, and more than one sinks?"
        raise Wrong(f"the largest loss of an index on these lists is {worst:.3f}: {hint}")
    return f"a loss of {worst:.3f} where 1 was promised"


def flip_law(scores, rate):
    """Exact law of permute-and-flip: evenly among the candidates whose coins show heads."""
    heads = np.exp(rate * (np.asarray(scores, dtype=float) - np.max(scores)))
    coins = np.array(list(itertools.product((0, 1), repeat=len(heads)))[1:])
    chance = np.where(coins, heads, 1 - heads).prod(axis=1)
    return (chance / coins.sum(axis=1)) @ coins


def _in_order(scores, rate):
    """The same coins, but the candidates asked in their order."""
    heads = np.exp(rate * (scores - scores.max()))
    return heads * np.cumprod(np.append(1.0, 1 - heads[:-1]))


FLIPS = [  # scores, sensitivity, epsilon
    ([1, 3, 0], 1.0, 1.0),
    ([8, 7, 10, 8, 3], 3.0, 1.5),
    ([0, 0, 0, 0], 1.0, 0.5),
    ([1499, 1490, 1500, 1500], 1.0, 2.0),
    ([-2000, -2003], 3.0, 0.5),
]


@checker
def em_flip(flip):
    """`flip(scores, sensitivity, epsilon, rng)`: an index, by permute-and-flip."""
    rng = np.random.default_rng(92)
    for scores, sensitivity, epsilon in FLIPS:
        scores, runs = np.array(scores, dtype=float), 5000
        k, rate = len(scores), epsilon / (2 * sensitivity)
        case = f"scores {scores.astype(int).tolist()}, sensitivity = {sensitivity:g}, epsilon = {epsilon:g}"
        drawn = []
        for run in range(runs):
            index = ask(flip, scores.copy(), sensitivity, epsilon, rng)
            if index is None:
                if run == 0 and k == len(FLIPS[0][0]):
                    raise NotAttempted
                raise Wrong(f"{case}: nobody was chosen; the best candidate's coin always shows heads")
            try:
                number = int(index)
            except (TypeError, ValueError):
                raise Wrong(f"{case}: expected the index of a candidate, got {index!r}") from None
            if number != index or not 0 <= number < k:
                raise Wrong(f"{case}: expected an index from 0 to {k - 1}, got {index!r}")
            drawn.append(number)
        law, found = flip_law(scores, rate), np.bincount(drawn, minlength=k)
        if found.max() == runs:
            raise Wrong(f"{case}: candidate {drawn[0]} in every run: that is the exact answer, or a seed is fixed inside")
        rivals = {
            f"{case}: this is the law of the exponential mechanism, or near it: as private, and more noise than is needed; a refused candidate "
            "must not be asked again": softmax(rate * scores),
            f"{case}: the candidates are asked in their order; put them into a random order first": _in_order(scores, rate),
            f"{case}: the 2 in 2 sensitivity is missing": flip_law(scores, 2 * rate),
            f"{case}: safe, but half the rate will do more than is needed": flip_law(scores, rate / 2),
            f"{case}: the sensitivity is not used": flip_law(scores, epsilon / 2),
            f"{case}: the sensitivity is not used, and the 2 is missing": flip_law(scores, epsilon),
            f"{case}: evenly drawn; if you do not measure from the best score, large scores make every coin heads": np.full(k, 1 / k),
        }
        rivals = {message: rival for message, rival in rivals.items() if np.abs(rival - law).max() > 1e-9}
        compare(found, law, rivals, lambda i: f"{case}: candidate {i}")
        _in_pairs(drawn, law, case)
    return "the exact law of permute-and-flip on five lists of scores"


MEDIANS = [  # values, low, high, epsilon
    ([8.0, 1.0, 4.0, 2.0], 0.0, 10.0, 1.0),
    ([-5.0, 3.0, 3.5, 40.0, 90.0, 250.0, 30.0, 12.0, 55.0, 120.0, 101.0, 300.0], 0.0, 100.0, 0.4),
    ([7.0] * 5, -5.0, 10.0, 1.5),
    ([], 2.0, 3.0, 1.0),
    ([900.0], 0.0, 1000.0, 2.0),
]
PIECES = 3                                       # every step is cut, to see that the answer is even within it


def _median_law(values, low, high, rate, shift=0.0, lengths=True):
    edges = np.concatenate([[low], np.sort(np.clip(values, low, high)), [high]])
    n, widths = len(values), np.diff(edges)
    with np.errstate(divide="ignore"):
        logits = np.where(widths > 0, np.log(widths) if lengths else 0.0, -np.inf) - rate * np.abs(np.arange(n + 1) - n / 2 + shift)
    return edges, np.repeat(softmax(logits) / PIECES, PIECES)


def _overdrawn(median, values, low, high, epsilon):
    """What happens when there is too little on the ledger."""
    rng, budget = np.random.default_rng(94), Budget(epsilon / 2)
    before = rng.bit_generator.state
    try:
        result = median(np.array(values), low, high, epsilon, budget, rng)
    except BudgetExceeded:
        if rng.bit_generator.state != before:
            raise Wrong("the noise is drawn before the budget is asked: whoever repeats the call sees draws that nobody paid for") from None
        return
    if result is None or result is ...:
        raise NotAttempted
    raise Wrong(f"the budget has {epsilon / 2:g} and epsilon is {epsilon:g}, but an answer is given: spend first, and let its error through")


@checker
def em_median(median):
    """`median(values, low, high, epsilon, budget, rng)`: by the exponential mechanism at rate epsilon, on the ledger."""
    rng, runs = np.random.default_rng(93), 2500
    first = ask(median, np.array(MEDIANS[0][0]), *MEDIANS[0][1:], Budget(10.0), rng)
    if first is None:
        raise NotAttempted
    _overdrawn(median, *MEDIANS[0])
    for values, low, high, epsilon in MEDIANS:
        case = f"values {values}, range [{low:g}, {high:g}], epsilon = {epsilon:g}"
        drawn = np.empty(runs)
        for run in range(runs):
            budget = Budget(10 * epsilon)
            answer = ask(median, np.array(values), low, high, epsilon, budget, rng)
            if not math.isclose(budget.spent, epsilon, rel_tol=1e-9):
                raise Wrong(f"{case}: the ledger says {budget.spent:g} was spent, but the answer costs {epsilon:g}")
            try:
                drawn[run] = answer
            except (TypeError, ValueError):
                raise Wrong(f"{case}: expected a number, got {answer!r}") from None
        if not np.isfinite(drawn).all():
            raise Wrong(f"{case}: the answer is not a finite number")
        if drawn.min() < low or drawn.max() > high:
            raise Wrong(f"{case}: an answer of {drawn[np.argmax(np.abs(drawn - low))]:g} lies outside the public range; clip the values first")
        inside = np.isin(drawn, [value for value in values if low < value < high])
        if inside.mean() > 0.01:
            raise Wrong(f"{case}: {drawn[inside][0]:g} was published, which is somebody's value; the candidates are all points of the range")
        if len(np.unique(drawn)) < runs / 10:
            raise Wrong(f"{case}: only {len(np.unique(drawn))} different answers; a step is chosen, and then the point on it must be drawn evenly")
        edges, law = _median_law(values, low, high, epsilon)
        step = np.clip(np.searchsorted(edges, drawn, side="right") - 1, 0, len(edges) - 2)
        width = np.diff(edges)[step]
        piece = np.clip((PIECES * (drawn - edges[step]) / np.where(width > 0, width, 1)).astype(int), 0, PIECES - 1)
        found = np.bincount(step * PIECES + piece, minlength=len(law))
        rivals = {
            f"{case}: safe, but under add/remove the spread of the median's score is 1: the rate may be epsilon":
                _median_law(values, low, high, epsilon / 2)[1],
            f"{case}: the rate is twice what the theorem allows": _median_law(values, low, high, 2 * epsilon)[1],
            f"{case}: the lengths of the steps are forgotten, a narrow step counts as much as a wide one":
                _median_law(values, low, high, epsilon, lengths=False)[1],
            f"{case}: values outside the range are left out; they are people below or above, so clip them":
                _median_law(values, low, high, epsilon, shift=(sum(v > high for v in values) - sum(v < low for v in values)) / 2)[1],
            f"{case}: the score is centred one half too far to the left": _median_law(values, low, high, epsilon, shift=0.5)[1],
            f"{case}: the score is centred one half too far to the right": _median_law(values, low, high, epsilon, shift=-0.5)[1],
            f"{case}: evenly on the range, whatever the values are": _median_law(values, low, high, 0.0)[1],
        }
        rivals = {message: rival for message, rival in rivals.items() if np.abs(rival - law).max() > 1e-9}
        compare(found, law, rivals,
                lambda i: f"{case}: part {i % PIECES + 1} of {PIECES} of the step from {edges[i // PIECES]:g} to {edges[i // PIECES + 1]:g}")
        halves = np.cumsum(law)[:-1]
        cut = int(np.argmin(np.abs(halves - 0.5)))
        low_side = (step * PIECES + piece <= cut).astype(int)
        _in_pairs(low_side, np.array([1 - halves[cut], halves[cut]]), f"{case}: side 0 or 1 of the middle")
    return "the exact law on five tables, paid for before it is drawn"
