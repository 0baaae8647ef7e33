"""Checkers of chapter 4, using it: several answers, the split, who moves what, and the better tool for a known list."""
import functools
import itertools
from collections import Counter
from dataclasses import replace

import numpy as np

from dplib import data
from dplib.mechanisms import exponential_pmf
from dplib.svt import above_threshold, log_laplace_cdf, log_probability, scales
from provable_privacy.battery import Choice, battery, drawn
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import _compare, run_of as _run, runs_pair as _pair, whole_runs as _replies
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, compare_dict, is_stub, number

__all__ = ["svt_bound", "svt_curve", "svt_several", "svt_split", "svt_which"]

RUNS = 12_000


def _shared(replies, answers, threshold, b1, b2):
    """Probability of replies that share one noisy threshold, with scales b2, one for each answer; to about five digits."""
    t = np.linspace(-30, 30, 1201)
    weight = np.exp(-np.abs(t))
    level, log_p = threshold + b1 * t, 0.0
    for reply, answer, scale in zip(replies, answers, b2):
        log_p = log_p + log_laplace_cdf((answer - level if reply else level - answer) / scale)
    return float(weight @ np.exp(log_p) / weight.sum())


def _pattern_law(patterns, answers, threshold, b1, b2, *, c, redraw=None, shrinks=False):
    """Law of the patterns when the threshold's noise is drawn anew after each Yes, for every answer, or never."""
    law = []
    for replies in patterns:
        used = np.cumsum(replies) - replies
        scale = b2 * (c - used) / c if shrinks else np.full(len(replies), float(b2))
        ends = {None: [], "yes": list(np.flatnonzero(replies) + 1), "always": list(range(1, len(replies)))}[redraw]
        cuts = sorted({0, len(replies), *ends})
        law.append(np.prod([_shared(replies[i:j], answers[i:j], threshold, b1, scale[i:j]) for i, j in zip(cuts, cuts[1:])]))
    return np.array(law) / np.sum(law)


def _rivals(patterns, answers, threshold, epsilon, c):
    def law(b1, b2, **how):
        return _pattern_law(patterns, answers, threshold, b1 / epsilon, b2 / epsilon, c=c, **how)

    tiny = 1e-3
    return {
        f"it behaves like restarts of AboveThreshold with the whole epsilon each: {c} answers then cost {c} epsilon": law(2, 4, redraw="yes"),
        "the noise on the answers has no c in it: each Yes costs epsilon/2, and c of them c times that": law(2, 4),
        "the threshold's noise is drawn anew after each Yes, with the scale for a single draw: it then costs epsilon/2 every time. Draw it once, "
        "before the loop": law(2, 4 * c, redraw="yes"),
        "the threshold's noise is drawn anew for every answer: then No is not free": law(2, 4 * c, redraw="always"),
        "private, but a restart: the threshold's noise is drawn c times and c times as wide, where one draw of scale 2/epsilon serves the whole "
        "stream": law(2 * c, 4 * c, redraw="yes"),
        "private, but the threshold's noise is c times as wide as it must be": law(2 * c, 4 * c),
        "private, but with twice the noise it needs": law(4, 8 * c),
        "the noise on the answers is half of what it must be: 2c/epsilon is enough only where all answers move the same way": law(2, 2 * c),
        "the noise on the answers shrinks with the answers that are left: compute its scale before the loop, from the c at the start":
            law(2, 4 * c, shrinks=True),
        "the threshold has no noise: every No then costs": law(tiny, 4 * c),
        "the answers have no noise: an outcome can be possible in one world and impossible in the other": law(2, tiny),
        "there is no noise at all: the outcome tells the exact comparisons": law(tiny, tiny),
    }


FIVE = (0.5, 0.0, 1.0, -1.0, 0.5), 0.0, 10.0, 3                    # answers, threshold, epsilon, c
FOUR = (1.0, -2.0, 3.0, 0.0), 1.0, 4.0, 2
EIGHT = (0.0,) * 8, 0.0, 1.0, 2


def _waits(pattern):
    """How many No before each Yes, as 0, 1 or "2+"; "none" for a Yes that never came."""
    yes = np.flatnonzero(pattern)
    waits = np.diff(yes, prepend=-1) - 1
    return tuple("none" if i >= len(waits) else "2+" if waits[i] >= 2 else str(waits[i]) for i in range(2))


@functools.cache
def _several_laws(case):
    """The right law of the patterns, and those of the usual mistakes."""
    answers, threshold, epsilon, c = case
    patterns = _replies(len(answers), c)
    law = np.exp([log_probability(p, answers, threshold=threshold, noise=scales(epsilon, c=c)) for p in patterns])
    return law, _rivals(patterns, answers, threshold, epsilon, c)


def _exactly(pair):
    """The pair, with the law that its replies must have."""
    law = (np.exp([log_probability(p, answers, threshold=threshold, noise=scales(epsilon, c=c)) for p in _replies(len(answers), c)])
           for answers, threshold, epsilon, c in (pair.one, pair.two))
    return replace(pair, law=tuple(law))


@functools.cache
def _pairs():
    return [_exactly(pair) for pair in (
        _pair([0.0, 1.0], [1.0, 0.0], 0.5, 0.8, 1, twice=800),
        _pair([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], 0.5, 1.0, 2),
        _pair([-12.0] * 8, [-11.0] * 8, 0.0, 2.0, 2, runs=6000),
        _pair([16.0] * 3, [15.0] * 3, 0.0, 2.0, 2, runs=6000),
        _pair([-3.0] * 6, [-2.0] * 6, 0.0, 6.0, 5),
        *(_pair([-8.0, -7.0] * 3, [-7.0, -8.0] * 3, 0.0, case["epsilon"], case["c"]) for case in drawn(2, 23, epsilon=(0.2, 0.6), c=(4, 5))),
    )]


@checker
def svt_several(replies):
    """`replies(answers, threshold, epsilon, c, rng)`: a generator of True and False that ends after its c-th True."""
    rng = luck(22)
    stream = ask(replies, [-1e9] * 3, 0.0, 1.0, 2, rng)
    if not hasattr(stream, "__next__"):
        raise Wrong(f"expected a generator, which answers with `yield`, got {type(stream).__name__}")
    if (got := ask(list, stream)) != [False] * 3:
        raise Wrong(f"on three answers far below the threshold it yielded {got}, expected three times False")
    got = ask(list, ask(replies, [1e9] * 5, 0.0, 1.0, 2, rng))
    if got == [True]:
        raise Wrong("with c = 2 it stopped after its first Yes")
    if got != [True, True]:
        raise Wrong(f"with c = 2 and five answers far above the threshold it yielded {got}: it must end after its second True, "
                    "or every further Yes costs and nobody pays")
    read = []
    stream = ask(replies, (read.append(1) or -1e9 for _ in range(50)), 0.0, 1.0, 2, rng)
    ask(next, stream)
    if len(read) > 1:
        raise Wrong(f"it read {len(read)} answers before its first reply: in a stream the next question may depend on this reply")
    for case in (FIVE, FOUR, EIGHT):
        answers, threshold, epsilon, c = case
        patterns = _replies(len(answers), c)
        counted = Counter(_run(replies, (list(answers), threshold, epsilon, c), rng) for _ in range(2 * RUNS if case is EIGHT else RUNS))
        counts = np.array([counted[pattern] for pattern in patterns])
        law, rivals = _several_laws(case)
        names = [f"{list(pattern)}" for pattern in patterns]
        if case is EIGHT:                        # few cells, so that a threshold that is drawn again cannot hide among many
            cells = sorted({_waits(pattern) for pattern in patterns})
            pool = np.array([[_waits(pattern) == cell for pattern in patterns] for cell in cells], dtype=int)
            counts, law, names = pool @ counts, pool @ law, [f"(waits for the first and the second Yes) = {cell}" for cell in cells]
            rivals = {message: pool @ rival for message, rival in rivals.items()}
        _compare(rng, counts, law, rivals, lambda i: f"on answers {list(answers)}, threshold {threshold:g}, epsilon {epsilon:g}, c = {c}: {names[i]}")
    looked = battery(replies, lambda pair: Choice(_replies(len(pair.one[0]), pair.one[3]), "the run"), _pairs(), call=_run, seed=22)
    return f"every pattern of replies comes out as often as it must; {looked}"


@checker
def svt_split(share):
    """`share(c, monotone)`: the threshold's share of epsilon with which a comparison has the least variance."""
    for c, monotone in ((10, False), (1, False), (100, False), (1, True), (8, True), (50, True)):
        case, factor = f"for c = {c}, monotone={monotone}", c if monotone else 2 * c
        got, best = number(answered(share, c, monotone), f"{case} the share"), 1 / (1 + factor ** (2 / 3))
        if not 0 < got < 1:
            raise Wrong(f"{case} expected a share between 0 and 1, got {got:g}")
        if np.isclose(got, best, rtol=2e-3):
            continue
        variance = (1 / got**2 + (factor / (1 - got)) ** 2) / (1 / best**2 + (factor / (1 - best)) ** 2)
        reasons = {
            "that is the share of the answers, not of the threshold": 1 - best,
            "that makes the two noises equally wide, which is not the least variance of their difference": 1 / (1 + factor),
            "that minimises the sum of the two scales: minimise the sum of their squares": 1 / (1 + factor**0.5),
            "the factor 2 is missing, or should not be there: the answers' noise is 2c/e2 in general, c/e2 for monotone answers":
                1 / (1 + (factor * (2 if monotone else 0.5)) ** (2 / 3)),
        }
        for reason, value in reasons.items():
            if np.isclose(got, value, rtol=2e-3):
                raise Wrong(f"{case} {got:.4f} is not best: {reason}")
        if variance < 1.001:
            raise Wrong(f"{case} the share {got:.4f} is near the best and not within 0.2 % of it: use a finer grid, or a smaller tolerance")
        raise Wrong(f"{case} the share {got:.4f} gives {variance:.3f} times the least variance")
    return "the minimum, in all six cases; the closed form is 1/(1 + (2c)^(2/3)), monotone 1/(1 + c^(2/3))"


DIAGNOSES, DAYS = ("influenza", "injury", "asthma"), (0, 1)


def _running(table):
    return np.array([[sum(d == name and t <= day for d, t in table) for name in DIAGNOSES] for day in DAYS])


def _counts_of_day(table, name):
    return np.array([sum(d == name and t == day for d, t in table) for day in DAYS])


CASES = {                                        # stream -> (its answers from a table, adjacency)
    "running count of each diagnosis, add/remove": (_running, "add/remove"),
    "running count of each diagnosis, replace": (_running, "replace"),
    "running count minus a public plan, add/remove": (lambda table: _running(table) - 1.5, "add/remove"),
    "influenza, change since the day before, add/remove": (lambda table: np.diff(_counts_of_day(table, "influenza"), prepend=0), "add/remove"),
    "influenza minus injury, each day, add/remove": (lambda table: _counts_of_day(table, "influenza") - _counts_of_day(table, "injury"), "add/remove"),
    "days without any visit, up to each day, add/remove": (
        lambda table: np.array([sum(all(t != past for _, t in table) for past in DAYS if past <= day) for day in DAYS]), "add/remove"),
    "second largest count, up to each day, add/remove": (lambda table: np.sort(_running(table), axis=1)[:, -2], "add/remove"),
}


@functools.cache
def _apart(case):
    """A table and a neighbour between which two answers move apart, or None; and how many pairs were tried.

    Under add/remove each pair is looked at once, from the smaller table: the other direction only changes the signs.
    """
    stream, adjacency = CASES[case]
    universe = list(itertools.product(DIAGNOSES, DAYS))
    pairs, worst = 0, None
    for size in range(4):
        for table in itertools.combinations_with_replacement(universe, size):
            here = stream(table)
            if adjacency == "add/remove":
                neighbours = [(*table, record) for record in universe]
            else:
                neighbours = [(*table[:i], record, *table[i + 1 :]) for i in range(size) for record in universe]
            for other in neighbours:
                pairs += 1
                move = stream(other) - here
                if worst is None and move.max() > 0 > move.min():
                    worst = table, other
    return worst, pairs


@checker
def svt_which(answer):
    """`answer`: stream -> whether monotone=True may be set, judged by all neighbours of small tables."""
    def why(case, said):
        if not isinstance(said, (bool, np.bool_)):
            return f"say True or False, got {said!r}"
        apart, pairs = _apart(case)
        if apart:
            one, two = (", ".join(f"{d} on day {t}" for d, t in table) or "no visit" for table in apart)
            return f"not monotone. From [{one}] to [{two}] one answer goes up and another down"
        return f"in none of {pairs:,} pairs of neighbours does one answer go up and another down, so half the noise would do"

    if isinstance(answer, dict):                 # 1 and 0 are no answers here, though they equal True and False
        answer = {case: repr(said) if said is not ... and not isinstance(said, (bool, np.bool_)) else said for case, said in answer.items()}
    compare_dict(answer, {case: _apart(case)[0] is None for case in CASES}, why)
    return "as all neighbours of small tables say; it depends on the adjacency as much as on the questions"


WEEKS = 105


@checker
def svt_bound(bounded):
    """`bounded(users, weeks, most)`: (which rows to keep, sensitivity of one week's count, L1 sensitivity of all weeks)."""
    rng = np.random.default_rng(23)
    people = np.array([1, 2, 3, 4, 11, 21, 104, 1001])       # with these weeks, pairs that meet if their numbers are merged into one key
    calendar = np.array([0, 1, 2, 3, 4, 5, 11, 52, 53, 104])
    for most in (1, 2, 3):
        users, weeks = rng.choice(people, 240), rng.choice(calendar, 240)
        got = answered(bounded, users, weeks, most)
        if not isinstance(got, (tuple, list)) or len(got) != 3:
            raise Wrong("expected three results: the boolean array, the sensitivity of one week, and that of all weeks")
        keep, one_week, all_weeks = got
        if keep is ... or one_week is ... or all_weeks is ...:
            raise NotAttempted
        keep = np.asarray(keep)
        if keep.dtype != bool or keep.shape != users.shape:
            raise Wrong(f"expected a boolean array with one entry for each rating, got {keep.dtype} of shape {keep.shape}")
        for user, week in itertools.product(people, calendar):
            mine = (users == user) & (weeks == week)
            kept, least = int(keep[mine].sum()), min(most, int(mine.sum()))
            if kept > most:
                raise Wrong(f"with most = {most} a user keeps {kept} ratings in one week: the count of that week then moves by {kept}")
            if kept < least:
                raise Wrong(f"with most = {most} a user who has {int(mine.sum())} ratings in a week keeps only {kept}: bound each user in each "
                            "week by itself, not a user's ratings altogether, nor a week's, nor two pairs under one key")
        moves = []                               # brute force: without one user, what becomes of the counts?
        for user in people:
            rest = users != user
            without = np.asarray(ask(bounded, users[rest], weeks[rest], most)[0])
            moves.append(np.abs(np.bincount(weeks[keep], minlength=WEEKS) - np.bincount(weeks[rest][without], minlength=WEEKS)))
        if np.max(moves) > most:
            raise Wrong(f"with most = {most}, removing one user moved a week's count by {np.max(moves)}: what is kept of one must not depend on another")
        if one_week != most:
            raise Wrong(f"with most = {most}, one user moves a week's count by up to {most}, not {one_week}")
        if all_weeks > WEEKS * most:
            raise Wrong(f"with most = {most}, {all_weeks} is more than it must be: there are {WEEKS} weeks with at most {most} each")
        if all_weeks != WEEKS * most:
            hint = "a user may reach the bound in every week" if all_weeks in (most, WEEKS) else f"there are {WEEKS} weeks"
            raise Wrong(f"with most = {most}, all weeks together do not move by at most {all_weeks}: {hint}")
    return "bounded for each user in each week, and no user who leaves moves more than you say"


TOP, FILMS, EPSILONS, NEAR = 12, 600, (0.1, 0.3, 1.0), 0.05


@functools.cache
def _measured(runs=300):
    """epsilon -> (mean F1 of the tuned sparse vector technique, mean F1 of peeling) on the ratings table."""
    views = np.bincount(data.load("ratings").film, minlength=FILMS + 1)[1:]
    order = np.argsort(-views)
    best, between = np.isin(np.arange(FILMS), order[:TOP]), views[order[TOP - 1 : TOP + 1]].mean()
    rng, curve = np.random.default_rng(24), {}
    for epsilon in EPSILONS:
        f1 = []
        for _ in range(runs):
            shuffled = rng.permutation(FILMS)
            marks = shuffled[above_threshold(views[shuffled], threshold=between, sensitivity=1, epsilon=epsilon, c=TOP, monotone=True,
                                             split="optimal", rng=rng)]
            f1.append(2 * best[marks].sum() / (len(marks) + TOP))
        noisy = views * epsilon / TOP + rng.gumbel(size=(runs, FILMS))
        curve[epsilon] = float(np.mean(f1)), float(best[np.argpartition(-noisy, TOP, axis=1)[:, :TOP]].mean())
    return curve


def _peeling(scores, items, each, monotone):
    """Probability that the exponential mechanism draws these items one after the other."""
    p = exponential_pmf(scores, sensitivity=1, epsilon=each, monotone=monotone)
    return float(np.prod([p[item] / (1 - p[list(items[:i])].sum()) for i, item in enumerate(items)]))


def _drawn(peel, scores, c, epsilon, rng):
    items = tuple(int(i) for i in ask(peel, scores.copy(), c, epsilon, rng))
    if len(items) != c or not set(items) <= set(range(len(scores))):
        raise Wrong(f"expected {c} different indices of {len(scores)} items, got {items}")
    if len(set(items)) < c:
        raise Wrong(f"it drew an item twice, {items}: take an item away once it is drawn (after np.delete the others have new numbers)")
    return items


@checker
def svt_curve(answer):
    """`answer`: (peel(scores, c, epsilon, rng) -> c indices, {epsilon: (F1 of the sparse vector technique, F1 of peel)})."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong("expected a pair: (peel, curve)")
    peel, curve = answer
    rng, few, many = luck(25), np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.0, 6.0, 1.0, 0.0, 2.0, 3.0, 5.0, 1.0, 1.0])
    if is_stub(peel):
        raise NotAttempted
    for scores, c, epsilon in ((few, 2, 3.0), (few, 3, 1.5), (many, 2, 1.0)):                  # among many, the worst must have their chance too
        tuples = list(itertools.permutations(range(len(scores)), c))
        counted = Counter(_drawn(peel, scores, c, epsilon, rng) for _ in range(RUNS))

        def law(each, monotone=True, scores=scores, tuples=tuples):
            return np.array([_peeling(scores, items, each, monotone) for items in tuples])

        right, first = law(epsilon / c), tuple(np.argsort(-scores)[:c].tolist())
        rivals = {
            "each draw has the whole epsilon: c draws then cost c times as much": law(epsilon),
            "the draws do not share epsilon by c: with c = 3 each may cost epsilon/3": law(epsilon / 2),
            "each draw costs c/epsilon: the fraction is upside down, a draw may cost epsilon/c": law(c / epsilon),
            "epsilon is not used: a score counts as much whatever the budget": law(1.0),
            "private, but with a factor 2 that counts under add/remove do not need: all scores move the same way": law(epsilon / c, monotone=False),
            "there is no noise, or one for all: the best items are shown as they are": np.array([float(items == first) for items in tuples]),
            "the indices come sorted by number: give them in the order of drawing, best first": np.array(
                [sum(right[tuples.index(p)] for p in itertools.permutations(items)) if list(items) == sorted(items) else 0.0 for items in tuples]),
            "the indices come worst first: give them in the order of drawing, best first": np.array([right[tuples.index(items[::-1])] for items in tuples]),
        }
        _compare(rng, np.array([counted[items] for items in tuples]), right, rivals,
                 lambda i, scores=scores, c=c, epsilon=epsilon, tuples=tuples: f"on scores {scores.tolist()}, c = {c}, epsilon {epsilon:g}: {list(tuples[i])}")
    if all(value is ... for value in dict(curve).values()):
        raise Wrong("the mechanism is right; now measure the curve")
    if not set(EPSILONS) <= set(curve):
        raise Wrong(f"the curve needs epsilon = {', '.join(f'{e:g}' for e in EPSILONS)}")
    for epsilon, right in _measured().items():
        if curve[epsilon] is ...:
            raise Wrong(f"the curve still lacks epsilon = {epsilon:g}")
        got = tuple(float(x) for x in curve[epsilon])
        if np.allclose(got, right, atol=NEAR):
            continue
        if np.allclose(got, right[::-1], atol=NEAR):
            raise Wrong(f"at epsilon {epsilon:g} the two are swapped: first the sparse vector technique, then peeling")
        if got[1] < got[0]:
            raise Wrong(f"at epsilon {epsilon:g} you measured peeling below the sparse vector technique, {got[1]:.2f} against {got[0]:.2f}: "
                        "did both have the same epsilon in all, and c = 12?")
        which, i = ("the sparse vector technique", 0) if abs(got[0] - right[0]) > NEAR else ("peeling", 1)
        raise Wrong(f"at epsilon {epsilon:g} your F1 of {which} is {got[i]:.2f}, ours {right[i]:.2f}: tuned, c = 12, 200 runs or more, "
                    "and the threshold between the twelfth and the thirteenth?")
    return "the right law, and peeling is ahead at every epsilon up to 1"
