"""Checkers of the section on using it: several answers, the split, who moves what, the better tool for a known list."""
import functools
import itertools
from dataclasses import replace

import numpy as np

from dplib import data
from dplib.mechanisms import exponential_pmf
from dplib.svt import above_threshold, index_pmf, log_laplace_cdf, scales
from provable_privacy.battery import Choice, Pair, battery, drawn, looks_for
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import (
    ONE_THRESHOLD,
    form_of_runs,
    law_with,
    run_of,
    runs_pair,
    same_law,
    true_or_false,
    whole_runs,
)
from provable_privacy.entries import TrueFalse, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, is_stub

__all__ = ["svt_bound", "svt_curve", "svt_several", "svt_split", "svt_which"]

RUNS = 12_000                                    # of most lists of answers or scores

# ---- several answers, as a generator

def _shrinking(answers, threshold, epsilon, c):
    """The law when the noise on the answers has scale 4/epsilon for each Yes that is left; to about five digits."""
    t = np.linspace(-30, 30, 1201)               # the threshold's noise, in units of 2/epsilon
    weight = np.exp(-np.abs(t)) / np.exp(-np.abs(t)).sum()
    level, law = threshold + 2 / epsilon * t, []
    for run in whole_runs(len(answers), c):
        left = c - np.cumsum(run) + run
        law.append(weight @ np.exp(sum(
            log_laplace_cdf((1 if reply else -1) * (answer - level) * epsilon / 4 / n)
            for reply, answer, n in zip(run, answers, left))))
    return np.array(law)


MISTAKES = {                                     # the laws with these scales on threshold and answers, times epsilon
    "it behaves like restarts of AboveThreshold with the whole epsilon each: c answers then cost c epsilon":
        law_with(lambda c: (2, 4), "yes"),
    "the noise on the answers has no c in it: each Yes costs epsilon/2, and c of them cost c times that":
        law_with(lambda c: (2, 4)),
    "the threshold's noise is drawn anew after each Yes, with the scale for a single draw. It then costs epsilon/2 "
    "every time. Draw it once, before the loop": law_with(lambda c: (2, 4 * c), "yes"),
    "the threshold's noise is drawn anew for every answer: then No is not free":
        law_with(lambda c: (2, 4 * c), "every"),
    "private, but a restart: the threshold's noise is drawn c times and is c times as wide. One draw of scale "
    "2/epsilon serves the whole stream": law_with(lambda c: (2 * c, 4 * c), "yes"),
    "private, but the threshold's noise is c times as wide as it must be": law_with(lambda c: (2 * c, 4 * c)),
    "private, but with twice the noise it needs": law_with(lambda c: (4, 8 * c)),
    "the noise on the answers is half of what it must be: 2c/epsilon is enough only if all answers move one way":
        law_with(lambda c: (2, 2 * c)),
    "the noise on the answers shrinks with the answers that are left: compute its scale before the loop, from the c at "
    "the start": _shrinking,
    "the threshold has no noise: every No then costs": law_with(lambda c: (0, 4 * c)),
    "the answers have no noise: an outcome can be possible in one world and impossible in the other":
        law_with(lambda c: (2, 0)),
    "there is no noise at all: the outcome tells the exact comparisons": law_with(lambda c: (0, 0)),
}


@functools.cache
def _waits(run):
    """How many No before each of two Yes, as 0, 1 or "2+"; "none" for a Yes that never came."""
    waits = np.diff(np.flatnonzero(run), prepend=-1) - 1
    return tuple("none" if i >= len(waits) else "2+" if waits[i] >= 2 else str(waits[i]) for i in range(2))


def _pooled(law):
    """The law of the waits, from that of the runs."""
    def pooled(answers, threshold, epsilon, c):
        runs, probabilities = whole_runs(len(answers), c), law(answers, threshold, epsilon, c)
        return [sum(p for run, p in zip(runs, probabilities) if _waits(run) == cell) for cell in CELLS]

    return pooled


CASES = [                                        # (answers, threshold, epsilon, c), runs; here mistakes are named
    # here, and nowhere else, no noise on the threshold is unlike a fresh one for every answer
    (((-4.0,) * 8, 0.0, 1.0, 1), 6000),
    (((0.5, 0.0, 1.0, -1.0, 0.5), 0.0, 10.0, 3), RUNS),
    (((1.0, -2.0, 3.0, 0.0), 1.0, 4.0, 2), RUNS),
]
WIDE = [
    # a small epsilon, up to two scales below the threshold and above it; six scales below it and above it
    (((-400.0, -100.0, -900.0, -200.0), 0.0, 0.02, 2), 3000),
    (((400.0, 100.0, 900.0, 30.0), 0.0, 0.05, 5), 3000),
    (((-2400.0,) * 8, 0.0, 0.02, 2), 4000),
    (((2400.0,) * 4, 0.0, 0.05, 5), 8000),
    # large numbers and many alarms; a large epsilon below zero; whole numbers
    (((10_000.0, 9_990.0, 10_030.0, 9_950.0), 10_000.0, 2.0, 20), 3000),
    (((-7.1, -7.0, -7.3, -6.9), -7.0, 30.0, 3), 3000),
    (((3, 1, 2, 2), 2, 5.0, 2), 3000),
]
EIGHT = ((0.0,) * 8, 0.0, 1.0, 2)                # its runs are pooled: a redrawn threshold could hide among many cells
# long lists of one answer, with c = 1: where is the first Yes? In the first list much noise on the threshold delays it
LONG = [(((6.0,) * 100, 0.0, 1.0, 1), 20_000), (((-8.0,) * 100, 0.0, 1.0, 1), 4000)]
PARTS = (0, 2, 5, 10, 20, 40, 70, 100)           # where the first Yes is: from each of these to the next
# the comparisons without noise; with it they have one chance in 10^11, so once in all runs is too often
TURNS, AS_THEY_ARE = ([0.0, 1.0] * 20, 0.5, 1.0, 41), (0, 1) * 20
CELLS = sorted(set(map(_waits, whole_runs(8, 2))))
POOLED = {words: _pooled(law) for words, law in MISTAKES.items()}


def _part(run):
    """The part in which the first Yes of a run is, if it stops there."""
    return int(np.searchsorted(PARTS, len(run) - run[-1], side="right")) - 1


def _law_of_parts(answers, threshold, epsilon, c):
    return np.add.reduceat(index_pmf(answers, threshold=threshold, noise=scales(epsilon)), PARTS)


def _in_words(part):
    if part == len(PARTS) - 1:
        return "no Yes among 100 answers"
    return f"the first Yes at number {PARTS[part] + 1} to {PARTS[part + 1]}"


@functools.cache
def _pairs():
    pairs = [
        runs_pair([0.0, 1.0], [1.0, 0.0], 0.5, 0.8, 1, twice=800),
        runs_pair([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], 0.5, 1.0, 2),
        runs_pair([-12.0] * 8, [-11.0] * 8, 0.0, 2.0, 2, runs=6000),
        runs_pair([16.0] * 3, [15.0] * 3, 0.0, 2.0, 2, runs=6000),
        runs_pair([-3.0] * 6, [-2.0] * 6, 0.0, 6.0, 5),
        *(runs_pair([-8.0, -7.0] * 3, [-7.0, -8.0] * 3, 0.0, case["epsilon"], case["c"])
          for case in drawn(2, 23, epsilon=(0.2, 0.6), c=(4, 5))),
    ]
    return [replace(pair, law=tuple(ONE_THRESHOLD(tuple(answers), *rest) for answers, *rest in (pair.one, pair.two)))
            for pair in pairs]


def _is_a_stream(replies, rng):
    """Looks at what is clear: a generator that ends after its c-th Yes and reads no answer before it is due."""
    stream = ask(replies, [-1e9] * 3, 0.0, 1.0, 2, rng)
    if not hasattr(stream, "__next__"):
        raise Wrong(f"expected a generator, which answers with `yield`, got {type(stream).__name__}")
    if ask(list, ask(replies, [], 0.0, 1.0, 2, rng)):
        raise Wrong("without an answer it must yield nothing")
    if (got := ask(list, stream)) != [False] * 3:
        raise Wrong(f"on three answers far below the threshold it yielded {got}, expected three times False")
    got = ask(list, ask(replies, [1e9] * 5, 0.0, 1.0, 2, rng))
    true_or_false(got)
    if got == [True]:
        raise Wrong("with c = 2 it stopped after its first Yes")
    if got != [True, True]:
        raise Wrong(f"with c = 2 and five answers far above the threshold it yielded {got}. It must end after its "
                    "second True: every further Yes costs, and nobody pays")
    read = []
    stream = ask(replies, (read.append(1) or answer for answer in [-1e9] * 9 + [1e9] * 9), 0.0, 1.0, 2, rng)
    for due in range(1, 12):
        ask(next, stream)
        if len(read) > due:
            raise Wrong(f"it read {len(read)} answers before {'its first reply' if due == 1 else f'reply {due}'}. In a "
                        "stream the next question may depend on this reply")


def _runs_of(replies, case, runs, rng):
    answers, *rest = case
    return [run_of(replies, (list(answers), *rest), rng) for _ in range(runs)]


def _on(case, outcome):
    answers, threshold, epsilon, c = case
    return f"on answers {list(answers)}, threshold {threshold:g}, epsilon {epsilon:g}, c = {c}: {outcome}"


@checker
@looks_for("straddles", "far", "quotient", "rare", "fractions", "shared", "own", order="replies come one by one",
           zero="True or False comes out", size="both lists have equally many answers",
           contents="an answer is one number, and one person moves each by at most 1")
def svt_several(replies):
    """`replies(answers, threshold, epsilon, c, rng)`: a generator of True and False that ends after its c-th True."""
    rng = luck(22)
    _is_a_stream(replies, rng)
    for (case, runs), mistakes in [(one, MISTAKES) for one in CASES] + [(one, {}) for one in WIDE]:
        same_law(_runs_of(replies, case, runs, rng), whole_runs(len(case[0]), case[-1]), case, ONE_THRESHOLD, mistakes,
                 rng, lambda run, case=case: _on(case, list(run)))
    same_law(map(_waits, _runs_of(replies, EIGHT, 2 * RUNS, rng)), CELLS, EIGHT, _pooled(ONE_THRESHOLD), POOLED,
             rng, lambda cell: _on(EIGHT, f"(waits for the first and the second Yes) = {cell}"))
    for case, runs in LONG:
        same_law(map(_part, _runs_of(replies, case, runs, rng)), range(len(PARTS)), case, _law_of_parts, {}, rng,
                 lambda part, answer=case[0][0]:
                 f"on 100 times the answer {answer:g}, threshold 0, epsilon 1, c = 1: {_in_words(part)}")
    if bare := _runs_of(replies, TURNS, 4000, rng).count(AS_THEY_ARE):
        raise Wrong(f"on 40 answers that lie below and above the threshold in turn, epsilon 1, c = 41, the replies are "
                    f"those without noise in {bare} of 4,000 runs. With noise they never are: is it left out at times?")
    looked = battery(replies, form_of_runs, _pairs(), call=run_of, seed=22)
    return f"every pattern of replies comes out as often as it must; {looked}"


# ---- split it by hand

SPLITS = [(10, False), (1, False), (100, False), (1, True), (8, True), (50, True)]


def _share(power, factor=lambda c, monotone: c if monotone else 2 * c):
    """1/(1 + factor^power), with the factor by which the answers' scale exceeds the threshold's at an even split."""
    return lambda c, monotone: 1 / (1 + factor(c, monotone) ** power)


def _best(c, monotone):
    return _share(2 / 3)(c, monotone)


SPLIT_MISTAKES = {
    "that is the share of the answers, not of the threshold": lambda c, monotone: 1 - _best(c, monotone),
    "that makes the two noises equally wide. The variance of their difference is not least there": _share(1),
    "that minimises the sum of the two scales: minimise the sum of their squares": _share(1 / 2),
    "the factor 2 is missing, or should not be there. The noise on the answers is 2c/e2 in general, and c/e2 for "
    "monotone answers": _share(2 / 3, lambda c, monotone: 2 * c if monotone else c),
}


def _what_share(got, best, c, monotone):
    if not 0 < got < 1:
        return "expected a share between 0 and 1"
    factor = c if monotone else 2 * c
    one, least = (1 / share**2 + (factor / (1 - share)) ** 2 for share in (got, best))
    if one < 1.001 * least:
        return "that is near the best, but not within 0.2 % of it. Use a finer grid, or a smaller tolerance"
    return f"that gives {one / least:.3f} times the least variance"


@checker
def svt_split(share):
    """`share(c, monotone)`: the threshold's share of epsilon with which a comparison has the least variance."""
    on_cases(share, SPLITS, _best, SPLIT_MISTAKES, rtol=2e-3, what="the share", otherwise=_what_share)
    return "the minimum, in all six cases; the closed form is 1/(1 + (2c)^(2/3)), monotone 1/(1 + c^(2/3))"


# ---- which streams move together

DIAGNOSES, DAYS = ("influenza", "injury", "asthma"), (0, 1)
VISITS = list(itertools.product(DIAGNOSES, DAYS))


def _running(table):
    return np.array([[sum(d == name and t <= day for d, t in table) for name in DIAGNOSES] for day in DAYS])


def _counts_of_day(table, name):
    return np.array([sum(d == name and t == day for d, t in table) for day in DAYS])


def _change(table):
    return np.diff(_counts_of_day(table, "influenza"), prepend=0)


def _minus_injury(table):
    return _counts_of_day(table, "influenza") - _counts_of_day(table, "injury")


def _days_without(table):
    return np.array([sum(all(t != past for _, t in table) for past in DAYS if past <= day) for day in DAYS])


QUESTIONS = {                                    # stream -> its answers from a table, adjacency
    "running count of each diagnosis, add/remove": (_running, "add/remove"),
    "running count of each diagnosis, replace": (_running, "replace"),
    "running count minus a public plan, add/remove": (lambda table: _running(table) - 1.5, "add/remove"),
    "influenza, change since the day before, add/remove": (_change, "add/remove"),
    "influenza minus injury, each day, add/remove": (_minus_injury, "add/remove"),
    "days without any visit, up to each day, add/remove": (_days_without, "add/remove"),
    "second largest count, up to each day, add/remove":
        (lambda table: np.sort(_running(table), axis=1)[:, -2], "add/remove"),
}


def _neighbours(adjacency):
    """Pairs of small tables; under add/remove from the smaller one, as the other direction only changes the signs."""
    for size in range(4):
        for table in itertools.combinations_with_replacement(VISITS, size):
            if adjacency == "add/remove":
                yield from ((table, (*table, visit)) for visit in VISITS)
            else:
                yield from ((table, (*table[:i], visit, *table[i + 1 :])) for i in range(size) for visit in VISITS)


@functools.cache
def _apart(question):
    """Two neighbours between which one answer goes up and another down, or None; and how many pairs there are."""
    stream, adjacency = QUESTIONS[question]
    stream, pairs = functools.cache(stream), list(_neighbours(adjacency))
    moves = ((one, two, stream(two) - stream(one)) for one, two in pairs)
    return next(((one, two) for one, two, move in moves if move.max() > 0 > move.min()), None), len(pairs)


@entries("as all neighbours of small tables say; it depends on the adjacency as much as on the questions")
def svt_which():
    """`answer`: stream -> whether monotone=True may be set, judged by all neighbours of small tables."""
    def entry(question):
        apart, pairs = _apart(question)
        if not apart:
            return TrueFalse(True, f"in none of {pairs:,} pairs of neighbours does one answer go up and another down, "
                                   "so half the noise would do")
        one, two = (", ".join(f"{d} on day {t}" for d, t in table) or "no visit" for table in apart)
        return TrueFalse(False, f"not monotone. From [{one}] to [{two}] one answer goes up and another down")

    return {question: entry(question) for question in QUESTIONS}


# ---- bound what one person adds

WEEKS = 105
# among these there are pairs of user and week that meet if the two numbers are merged into one key
PEOPLE = np.array([1, 2, 3, 4, 11, 21, 104, 1001])
CALENDAR = np.array([0, 1, 2, 3, 4, 5, 11, 52, 53, 104])


def _three_results(got, users):
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        raise Wrong("expected three results: the boolean array, the sensitivity of one week, and that of all weeks")
    if any(part is ... for part in got):
        raise NotAttempted
    keep = np.asarray(got[0])
    if keep.dtype != bool or keep.shape != users.shape:
        raise Wrong(f"expected a boolean array with one entry for each rating, got {keep.dtype} of shape {keep.shape}")
    return keep, *got[1:]


def _keeps_as_many_as_it_may(keep, users, weeks, most):
    for user, week in itertools.product(PEOPLE, CALENDAR):
        mine = (users == user) & (weeks == week)
        kept, there = int(keep[mine].sum()), int(mine.sum())
        if kept > most:
            raise Wrong(f"with most = {most} a user keeps {kept} ratings in one week, so its count moves by {kept}")
        if kept < min(most, there):
            raise Wrong(f"with most = {most} a user who has {there} ratings in a week keeps only {kept}. Bound each "
                        "user in each week: not all ratings of a user, not all of a week, not two pairs under one key")


def _moves(bounded, keep, users, weeks, most):
    """By brute force: how far the counts of the weeks move when one user leaves, for each user."""
    for user in PEOPLE:
        rest = users != user
        without = np.asarray(ask(bounded, users[rest], weeks[rest], most)[0])
        counts, others = (np.bincount(of, minlength=WEEKS) for of in (weeks[keep], weeks[rest][without]))
        yield np.abs(counts - others)


@checker
def svt_bound(bounded):
    """`bounded(users, weeks, most)`: (which rows to keep, sensitivity of one week's count, L1 sensitivity of all)."""
    rng = np.random.default_rng(23)
    for most, size in ((1, 240), (2, 240), (3, 240), (9, 2400)):
        users, weeks = rng.choice(PEOPLE, size), rng.choice(CALENDAR, size)
        keep, one_week, all_weeks = _three_results(answered(bounded, users, weeks, most), users)
        _keeps_as_many_as_it_may(keep, users, weeks, most)
        said = f"with most = {most}"
        if (moved := np.max(list(_moves(bounded, keep, users, weeks, most)))) > most:
            raise Wrong(f"{said}, removing one user moved a week's count by {moved}. What is kept of one user must not "
                        "depend on another")
        if one_week != most:
            raise Wrong(f"{said}, one user moves a week's count by up to {most}, not {one_week}")
        if all_weeks > WEEKS * most:
            raise Wrong(f"{said}, {all_weeks} is more than needed: there are {WEEKS} weeks with at most {most} each")
        if all_weeks != WEEKS * most:
            full = "a user may reach the bound in every week"
            hint = full if all_weeks in (most, WEEKS) else f"there are {WEEKS} weeks"
            raise Wrong(f"{said}, all weeks together can move by more than {all_weeks}: {hint}")
    return "bounded for each user in each week, and no user who leaves moves more than you say"


# ---- the better tool, measured

TOP, FILMS, EPSILONS, NEAR = 12, 600, (0.1, 0.3, 1.0), 0.05


@functools.cache
def _measured(runs=300):
    """epsilon -> (mean F1 of the tuned sparse vector technique, mean F1 of peeling) on the ratings table."""
    views = np.bincount(data.load("ratings").film, minlength=FILMS + 1)[1:]
    order = np.argsort(-views)
    best, between = np.isin(np.arange(FILMS), order[:TOP]), views[order[TOP - 1 : TOP + 1]].mean()
    rng = np.random.default_rng(24)

    def sparse(epsilon):
        shuffled = rng.permutation(FILMS)
        marks = shuffled[above_threshold(views[shuffled], threshold=between, sensitivity=1, epsilon=epsilon, c=TOP,
                                         monotone=True, split="optimal", rng=rng)]
        return 2 * best[marks].sum() / (len(marks) + TOP)

    def peeling(epsilon):
        noisy = views * epsilon / TOP + rng.gumbel(size=(runs, FILMS))
        return best[np.argpartition(-noisy, TOP, axis=1)[:, :TOP]].mean()

    return {e: (float(np.mean([sparse(e) for _ in range(runs)])), float(peeling(e))) for e in EPSILONS}


def _peeled(each=lambda epsilon, c: epsilon / c, monotone=True):
    """The law of the items that the exponential mechanism draws one after the other, with epsilon `each`."""
    def law(scores, c, epsilon):
        p = exponential_pmf(scores, sensitivity=1, epsilon=each(epsilon, c), monotone=monotone)
        return np.array([np.prod([p[item] / (1 - p[list(items[:i])].sum()) for i, item in enumerate(items)])
                         for items in _outcomes(scores, c)])

    return law


def _outcomes(scores, c):
    return list(itertools.permutations(range(len(scores)), c))


def _moved_to(place):
    """The law when the items come out in another order: `place(items)` is where they go."""
    def law(scores, c, epsilon):
        outcomes, moved = _outcomes(scores, c), {}
        for items, p in zip(outcomes, _peeled()(scores, c, epsilon)):
            moved[place(items)] = moved.get(place(items), 0.0) + p
        return np.array([moved.get(items, 0.0) for items in outcomes])

    return law


def _exact_best(scores, c, epsilon):
    return np.array([float(items == tuple(np.argsort(-scores)[:c])) for items in _outcomes(scores, c)])


PEELING_MISTAKES = {
    "each draw has the whole epsilon: c draws then cost c times as much": _peeled(lambda epsilon, c: epsilon),
    "the draws do not share epsilon by c: with c = 3 each may cost epsilon/3": _peeled(lambda epsilon, c: epsilon / 2),
    "each draw costs c/epsilon. The fraction is upside down: a draw may cost epsilon/c":
        _peeled(lambda epsilon, c: c / epsilon),
    "epsilon is not used: a score counts as much whatever the budget": _peeled(lambda epsilon, c: 1.0),
    "private, but with a factor 2 that counts under add/remove do not need: all scores move the same way":
        _peeled(monotone=False),
    "there is no noise, or one for all: the best items are shown as they are": _exact_best,
    "the indices come sorted by number: give them in the order of drawing, best first":
        _moved_to(lambda items: tuple(sorted(items))),
    "the indices come worst first: give them in the order of drawing, best first": _moved_to(lambda items: items[::-1]),
}
FEW, MANY = np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.0, 6.0, 1.0, 0.0, 2.0, 3.0, 5.0, 1.0, 1.0])
DRAWS = [                                        # scores, c, epsilon; here mistakes are named
    (FEW, 2, 3.0),
    (FEW, 3, 1.5),
    (MANY, 2, 1.0),                              # the worst of many must have a chance
]
WIDE_DRAWS = [                                   # a lead, far behind; whole numbers, a large epsilon; falling scores
    (np.array([0.0, 300.0, 600.0, 40.0]), 2, 0.02),
    (np.array([2, 1, 3, 1, 0]), 5, 12.0),
    (np.array([3.0, 2.0, 2.0, 0.0]), 1, 0.8),
]
LONG_LIST = np.arange(600) ** 2 // 900, 12, 0.5  # two items that stand side by side are nearly alike
RANKS = (0, 1, 2, 3, 5, 8, 12, 20, 40, 100)      # places in the true order, pooled from each of these to the next
NEIGHBOURS = [                                   # scores, those with one person more, c, epsilon
    (FEW, FEW + [1, 0, 1, 0], 2, 0.3),
    (np.array([40.0, 0.0, 40.0, 1.0]), np.array([40.0, 1.0, 41.0, 1.0]), 2, 1.0),
]
PAIRS = [Pair(f"scores {one.tolist()} / scores {two.tolist()}", (one, c, epsilon), (two, c, epsilon), ((epsilon, 0.0),),
              twice=640) for one, two, c, epsilon in NEIGHBOURS]


def _drawn(peel, scores, c, epsilon, rng):
    items = tuple(int(i) for i in ask(peel, scores.copy(), c, epsilon, rng))
    if len(items) != c or not set(items) <= set(range(len(scores))):
        raise Wrong(f"expected {c} different indices of {len(scores)} items, got {items}")
    if len(set(items)) < c:
        raise Wrong(f"it drew an item twice, {items}. Take an item away once it is drawn. After np.delete the others "
                    "have new numbers")
    return items


def _in_a_long_list(peel, rng):
    """The first two items of twelve out of 600, by their exact law; never are the twelve best drawn in their order."""
    scores, c, epsilon = LONG_LIST
    order = np.argsort(-scores, kind="stable")
    place, seen = np.argsort(order), np.array([_drawn(peel, *LONG_LIST, rng) for _ in range(1500)])
    said = f"on 600 scores from 0 to {scores.max()}, c = {c}, epsilon {epsilon:g}"
    if bare := int((seen == order[:c]).all(axis=1).sum()):
        raise Wrong(f"{said}, the items are the twelve best in their order in {bare} of {len(seen):,} runs. With noise "
                    "they never are: is it left out at times?")
    p = exponential_pmf(scores[order], sensitivity=1, epsilon=epsilon / c, monotone=True)
    for number, law in enumerate((p, p * ((p / (1 - p)).sum() - p / (1 - p)))):
        same_law(np.searchsorted(RANKS, place[seen[:, number]], side="right") - 1, range(len(RANKS)), (),
                 lambda law=law: np.add.reduceat(law, RANKS), {}, rng, lambda part, number=number:
                 f"{said}: as item number {number + 1} one of the places from {RANKS[part] + 1} on")


def _peels(peel):
    if is_stub(peel):
        raise NotAttempted
    rng = luck(25)
    draws = [(draw, PEELING_MISTAKES) for draw in DRAWS] + [(draw, {}) for draw in WIDE_DRAWS]
    for (scores, c, epsilon), mistakes in draws:
        on = f"on scores {scores.tolist()}, c = {c}, epsilon {epsilon:g}"
        same_law([_drawn(peel, scores, c, epsilon, rng) for _ in range(RUNS)], _outcomes(scores, c),
                 (scores, c, epsilon), _peeled(), mistakes, rng, lambda items, on=on: f"{on}: {list(items)}")
    _in_a_long_list(peel, rng)
    battery(peel, Choice(tuple(_outcomes(FEW, 2)), "the items"), PAIRS, seed=25,
            call=lambda peel, arguments, rng: _drawn(peel, *arguments, rng))


def _is_the_curve(curve):
    if all(value is ... for value in dict(curve).values()):
        raise Wrong("the mechanism is right; now measure the curve")
    if not set(EPSILONS) <= set(curve):
        raise Wrong(f"the curve needs epsilon = {', '.join(f'{e:g}' for e in EPSILONS)}")
    for epsilon, right in _measured().items():
        if curve[epsilon] is ...:
            raise Wrong(f"the curve still lacks epsilon = {epsilon:g}")
        sparse, peeling = got = tuple(float(x) for x in curve[epsilon])
        if np.allclose(got, right, atol=NEAR):
            continue
        if np.allclose(got, right[::-1], atol=NEAR):
            raise Wrong(f"at epsilon {epsilon:g} the two are swapped: first the sparse vector technique, then peeling")
        if peeling < sparse:
            raise Wrong(f"at epsilon {epsilon:g} you measured peeling below the sparse vector technique, {peeling:.2f} "
                        f"against {sparse:.2f}: did both have the same epsilon in all, and c = 12?")
        i = 0 if abs(sparse - right[0]) > NEAR else 1
        which = ("the sparse vector technique", "peeling")[i]
        raise Wrong(f"at epsilon {epsilon:g} your F1 of {which} is {got[i]:.2f}, ours {right[i]:.2f}. Is it tuned, "
                    "with c = 12, 200 runs or more, and the threshold between the twelfth and the thirteenth?")


@checker
@looks_for("straddles", "far", "large", "quotient", "rare", "order", "shared", "own",
           contents="one person moves each score by at most 1", size="the list of items is public",
           empty="the list of items is public", fractions="scores are counts", negative="scores are counts",
           missing="scores are counts", zero="items come out")
def svt_curve(answer):
    """`answer`: (peel(scores, c, epsilon, rng) -> c indices, {epsilon: (F1 of the sparse vector technique, peel)})."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong("expected a pair: (peel, curve)")
    peel, curve = answer
    _peels(peel)
    _is_the_curve(curve)
    return "the right law, and peeling is ahead at every epsilon up to 1"
