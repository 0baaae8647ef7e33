"""Answers for the checkers of the section on using it: right ones, wrong ones and leaks."""
import functools
import itertools

import numpy as np
from checking import stub

from answers.broken_variants import alarms
from provable_privacy import check
from provable_privacy.battery.makers import centred, clipped, difference, given, kept, laplace, stale, where
from provable_privacy.check.sparse_vector import streams

several = functools.partial(alarms, lambda c: (2, 4 * c), again="")
RIGHT = several()


def spoilt(change):
    """The noise of an answer, in units of its scale, is changed as the answer says."""
    return several(change=lambda noise, answer, far, i: change(answer, noise))


BARE = alarms(lambda c: (0, 0), again="")


def bare_at_times(answers, threshold, epsilon, c, rng):
    """Without noise in two of a thousand runs."""
    yield from (BARE if rng.random() < 0.002 else RIGHT)(answers, threshold, epsilon, c, rng)


def redrawn_at_times(answers, threshold, epsilon, c, rng):
    """A fresh threshold for every ten answers."""
    left = c
    for i, answer in enumerate(answers):
        if i % 10 == 0:
            level = threshold + rng.laplace(scale=2 / epsilon)
        passed = bool(answer + rng.laplace(scale=4 * c / epsilon) >= level)
        left -= passed
        yield passed
        if left == 0:
            return


def two_by_two(rng, scale, shape):
    """From the ninth answer on, two share their noise."""
    noise = laplace(rng, scale, shape)
    noise[9::2] = noise[8::2]
    return noise


def with_answers(change):
    """Each reply is changed in view of its answer, which is still read when it is due."""
    def replies(answers, *rest):
        read = []
        for reply in RIGHT((read.append(answer) or answer for answer in answers), *rest):
            yield change(reply, read[-1])

    return replies


def read_the_rest(answers, *rest):
    """Reads all answers as soon as it has replied to the first."""
    answers = iter(answers)

    def read():
        yield from itertools.islice(answers, 1)
        yield from list(answers)

    yield from RIGHT(read(), *rest)


def one_draw_at_a_time(answers, threshold, epsilon, c, rng):
    level, scale, left = threshold + rng.laplace(scale=2 / epsilon), 4 * c / epsilon, c
    for answer in answers:
        passed = answer + rng.laplace(scale=scale) >= level
        yield passed
        left -= passed
        if left == 0:
            return


def read_ahead(answers, *rest):
    yield from RIGHT(list(answers), *rest)


def one_by_one(scores, c, epsilon, rng):
    """Peeling as it is defined, without Gumbel noise."""
    left, items = list(range(len(scores))), []
    for _ in range(c):
        weight = np.exp(epsilon / c * (scores[left] - max(scores[left])))
        items.append(left.pop(int(rng.choice(len(left), p=weight / weight.sum()))))
    return items


def share(power=2 / 3, factor=2.0, monotone_factor=1.0):
    return lambda c, monotone: 1 / (1 + ((monotone_factor if monotone else factor) * c) ** power)


def bounded(key=zip, one_week=lambda most: most, all_weeks=lambda most: 105 * most, extra=0):
    """Keeps `most` ratings of each key."""
    def answer(users, weeks, most):
        keep, times = np.zeros(len(users), dtype=bool), {}
        for row, name in enumerate(key(users, weeks)):
            times[name] = times.get(name, 0) + 1
            keep[row] = times[name] <= most + extra
        return keep, one_week(most), all_weeks(most)

    return answer


def peel(each=lambda epsilon, c: epsilon / c, *, noise="gumbel", order=list, seed=None):
    own = None if seed is None else np.random.default_rng(seed)

    def answer(scores, c, epsilon, rng):
        rng = own or rng
        noisy = scores * each(epsilon, c) + (0 if noise is None else getattr(rng, noise)(size=len(scores)))
        return order(np.argsort(-noisy)[:c])

    return answer


def among_the_best(scores, c, epsilon, rng):
    """Draws among the 2c best only, which the scores decide without noise."""
    best = np.argsort(-scores)[: 2 * c]
    return best[peel()(scores[best], c, epsilon, rng)]


def noisy_first(scores, c, epsilon, rng):
    """In a long list only the best item is drawn with noise."""
    items = peel()(scores, c, epsilon, rng)
    rest = [item for item in np.argsort(-scores) if item != items[0]]
    return items if len(scores) < 100 else [items[0], *rest[: c - 1]]


def peel_bare_at_times(scores, c, epsilon, rng):
    return peel(noise=None if rng.random() < 0.005 else "gumbel")(scores, c, epsilon, rng)


def two_share(scores, c, epsilon, rng):
    """Beyond ten items, two neighbours in the list share their noise."""
    noise = rng.gumbel(size=len(scores))
    noise[11::2] = noise[10:-1:2]
    return np.argsort(-(scores * epsilon / c + noise))[:c]


def lead(least):
    """Without noise where the best item is so far ahead."""
    return where(lambda scores, c, epsilon: np.diff(np.sort(scores))[-1] >= least, peel(noise=None), peel())


def repeating(scores, c, epsilon, rng):
    return [int(np.argmax(scores * epsilon / c + rng.gumbel(size=len(scores)))) for _ in range(c)]


def shifting(scores, c, epsilon, rng):
    """Drawn items are deleted, and the indices are those of what is left."""
    drawn = []
    for _ in range(c):
        drawn.append(int(np.argmax(scores * epsilon / c + rng.gumbel(size=len(scores)))))
        scores = np.delete(scores, drawn[-1])
    return drawn


CURVE = streams._measured()
SHIFTED = {**CURVE, 0.1: (CURVE[0.1][0] + 0.08, CURVE[0.1][1])}
SWAPPED = {epsilon: pair[::-1] for epsilon, pair in CURVE.items()}
WHICH = {question: streams._apart(question)[0] is None for question in streams.QUESTIONS}
REPLACE, PLAN, CHANGE, MINUS = list(WHICH)[1:5]
MERGED = [                                       # keys under which two pairs of user and week meet
    lambda users, weeks: [f"{user}{week}" for user, week in zip(users, weeks)],
    *(lambda users, weeks, a=a, b=b: a * users + b * weeks for a, b in (
        (10, 1), (52, 1), (100, 1), (104, 1), (1, 100), (1, 1000), (1, 1))),
]

STUBS = [
    (check.svt_bound, lambda users, weeks, most: (..., ..., ...)),
    (check.svt_curve, (stub, dict.fromkeys(CURVE, ...))),
]

SOLUTIONS = [
    (check.svt_several, lambda seed: several(seed=seed)),
    (check.svt_split, lambda seed: share()),
    (check.svt_which, lambda seed: WHICH),
    (check.svt_bound, lambda seed: bounded()),
    (check.svt_curve, lambda seed: (peel(seed=seed), CURVE)),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.svt_several, alarms(lambda c: (2, 4)), "restarts of AboveThreshold with the whole epsilon"),
    (check.svt_several, alarms(lambda c: (2, 4), again=""), "no c in it"),
    (check.svt_several, several(again="yes"), "drawn anew after each Yes"),
    (check.svt_several, several(again="every", seed=1), "drawn anew for every answer"),
    (check.svt_several, alarms(), "private, but a restart"),
    (check.svt_several, alarms(again=""), "c times as wide as it must be"),
    (check.svt_several, alarms(lambda c: (4, 8 * c), again=""), "twice the noise"),
    (check.svt_several, alarms(lambda c: (2, 2 * c), again=""), "half of what it must be"),
    (check.svt_several, several(shrinks=True), "shrinks"),
    (check.svt_several, alarms(lambda c: (0, 4 * c), again=""), "the threshold has no noise"),
    (check.svt_several, alarms(lambda c: (2, 0), again=""), "answers have no noise"),
    (check.svt_several, alarms(lambda c: (0, 0), again=""), "no noise at all"),
    (check.svt_several, several(rho=centred, nu=centred), "write scale="),
    (check.svt_several, several(stops=False), "end after its second True"),
    (check.svt_several, read_ahead, "before its first reply"),
    (check.svt_several, read_the_rest, "before reply 2"),
    (check.svt_several, with_answers(lambda reply, answer: reply and (answer or 1.5)), "expected True or False"),
    (check.svt_several, lambda answers, *rest: itertools.chain(RIGHT(answers, *rest), [True]), "must yield nothing"),
    (check.svt_several, lambda *arguments: [False] * 3, "expected a generator"),
    (check.svt_several, given(RIGHT, c=1), "stopped after its first Yes"),
    (check.svt_several, lambda answers, *rest: (1 / 0 for _ in answers), "ZeroDivisionError"),
    (check.svt_several, 7, "expected a function"),
    (check.svt_split, lambda c, monotone: 0.5, "times the least variance"),
    (check.svt_split, lambda c, monotone: round(share()(c, monotone), 3), "near the best"),
    (check.svt_split, share(power=1), "equally wide"),
    (check.svt_split, share(power=1 / 2), "sum of the two scales"),
    (check.svt_split, share(factor=1), "factor 2"),
    (check.svt_split, share(monotone_factor=2), "factor 2"),
    (check.svt_split, lambda c, monotone: 1 - share()(c, monotone), "share of the answers"),
    (check.svt_split, lambda c, monotone: 3, "between 0 and 1"),
    (check.svt_which, {**WHICH, REPLACE: True}, "goes up and another down"),
    (check.svt_which, {**WHICH, PLAN: False}, "half the noise would do"),
    (check.svt_which, {**WHICH, MINUS: False}, "half the noise would do"),
    (check.svt_which, {**WHICH, PLAN: "yes"}, "True or False"),
    (check.svt_which, {**WHICH, PLAN: 1}, "True or False"),
    (check.svt_which, {PLAN: True}, "missing"),
    (check.svt_bound, bounded(lambda users, weeks: users), "each user in each week"),
    (check.svt_bound, bounded(lambda users, weeks: weeks), "each user in each week"),
    *((check.svt_bound, bounded(key), "two pairs under one key") for key in MERGED),
    (check.svt_bound, bounded(extra=1), "so its count moves by"),
    (check.svt_bound, bounded(one_week=lambda most: 9), "not 9"),
    (check.svt_bound, bounded(all_weeks=lambda most: most), "in every week"),
    (check.svt_bound, bounded(all_weeks=lambda most: 152), "105 weeks"),
    (check.svt_bound, lambda users, weeks, most: (np.arange(3), 1, 105), "boolean array"),
    (check.svt_bound, lambda users, weeks, most: np.arange(len(users)) < most, "three results"),
    (check.svt_curve, (peel(lambda epsilon, c: epsilon), CURVE), "whole epsilon"),
    (check.svt_curve, (peel(lambda epsilon, c: epsilon / 2), CURVE), "do not share epsilon by c"),
    (check.svt_curve, (peel(lambda epsilon, c: c / epsilon), CURVE), "upside down"),
    (check.svt_curve, (peel(lambda epsilon, c: 1.0), CURVE), "epsilon is not used"),
    (check.svt_curve, (peel(lambda epsilon, c: epsilon / (2 * c)), CURVE), "do not need"),
    (check.svt_curve, (peel(noise=None), CURVE), "no noise"),
    (check.svt_curve, (lambda scores, c, epsilon, rng: np.argsort(-scores - rng.gumbel())[:c], CURVE), "one for all"),
    (check.svt_curve, (peel(noise="laplace"), CURVE), "should in"),
    (check.svt_curve, (peel(order=sorted), CURVE), "sorted by number"),
    (check.svt_curve, (peel(order=lambda indices: indices[::-1]), CURVE), "worst first"),
    (check.svt_curve, (repeating, CURVE), "twice"),
    (check.svt_curve, (peel(), dict.fromkeys(CURVE, ...)), "now measure"),
    (check.svt_curve, (peel(), {0.1: CURVE[0.1]}), "the curve needs"),
    (check.svt_curve, (peel(), {**CURVE, 1.0: ...}), "still lacks epsilon = 1"),
    (check.svt_curve, (peel(), SHIFTED), "your F1 of the sparse vector"),
    (check.svt_curve, (peel(), SWAPPED), "swapped"),
    (check.svt_curve, (peel(), {**CURVE, 0.1: (0.9, 0.4)}), "below the sparse vector"),
    (check.svt_curve, 5, "expected a pair"),
    (check.svt_curve, peel(), "expected a pair"),
    (check.svt_curve, (shifting, CURVE), "new numbers"),
]


UNUSUAL = [
    (check.svt_bound, bounded(lambda users, weeks: 105 * users + weeks)),
    (check.svt_bound, bounded(lambda users, weeks: map(str, zip(users, weeks)))),
    (check.svt_several, several(rho=difference(), nu=difference())),
    (check.svt_several, one_draw_at_a_time),
    (check.svt_several, lambda *arguments: map(bool, RIGHT(*arguments))),
    (check.svt_curve, (one_by_one, CURVE)),
    (check.svt_curve, (peel(), {e: tuple(round(x, 2) for x in pair) for e, pair in CURVE.items()})),
]

LEAKS = [
    (check.svt_several, spoilt(lambda answer, noise: 0.0 if answer < -6 else noise)),
    (check.svt_several, spoilt(lambda answer, noise: max(noise, 0.0) if answer > 9 else noise)),
    (check.svt_several, spoilt(lambda answer, noise: np.clip(noise, -2, 2))),
    (check.svt_several, spoilt(lambda answer, noise: 0.8 * noise)),
    (check.svt_several, spoilt(lambda answer, noise: noise if answer > -2 else noise / 2)),
    (check.svt_several, several(rho=kept())),
    (check.svt_several, alarms(lambda c: (2, 4 * min(c, 3)), again="")),
    (check.svt_several, given(RIGHT, epsilon=lambda epsilon: max(epsilon, 1))),
    # far below and far above, in numbers and in scales
    (check.svt_several, spoilt(lambda answer, noise: -np.inf if answer < -25 else noise)),
    (check.svt_several, spoilt(lambda answer, noise: -np.inf if answer < -1000 else noise)),
    (check.svt_several, spoilt(lambda answer, noise: np.inf if 300 < answer < 5000 else noise)),
    (check.svt_several, several(change=lambda noise, answer, far, i: -np.inf if far < -20 else noise)),
    (check.svt_several, several(change=lambda noise, answer, far, i: np.inf if far > 20 else noise)),
    (check.svt_several, several(nu=clipped(5))),
    (check.svt_several, several(rho=clipped(3))),
    # a threshold of the code, for epsilon, c, the answers, and their number
    (check.svt_several, given(RIGHT, epsilon=lambda epsilon: max(epsilon, 0.15))),
    (check.svt_several, where(lambda answers, threshold, epsilon, c: epsilon > 12, BARE, RIGHT)),
    (check.svt_several, where(lambda answers, threshold, *_: threshold > 100, BARE, RIGHT)),
    (check.svt_several, where(lambda answers, threshold, *_: threshold < 0, BARE, RIGHT)),
    (check.svt_several, alarms(lambda c: (2, 4 * min(c, 8)), again="")),
    (check.svt_several, several(change=lambda noise, answer, far, i: noise if i < 9 else 0.0)),
    (check.svt_several, several(change=lambda noise, answer, far, i: noise if i < 30 else noise / 2)),
    (check.svt_several, spoilt(lambda answer, noise: 0.0 if isinstance(answer, int) else noise)),
    # rare events, shared noise, types
    (check.svt_several, bare_at_times),
    (check.svt_several, redrawn_at_times),
    (check.svt_several, several(nu=two_by_two)),
    (check.svt_several, with_answers(lambda reply, answer: int(reply) if answer > 0.5 else reply)),
    (check.svt_several, with_answers(lambda reply, answer: np.bool_(reply) if answer > 0.5 else reply)),
    # a clear lead, items far behind, a threshold of the code
    (check.svt_curve, (lead(20), CURVE)),
    (check.svt_curve, (lead(200), CURVE)),
    (check.svt_curve, (given(peel(), scores=lambda x: np.where(x < x.max() - 100, -1e9, x)), CURVE)),
    (check.svt_curve, (where(lambda scores, c, epsilon: len(scores) > 20, peel(noise=None), peel()), CURVE)),
    (check.svt_curve, (where(lambda scores, c, epsilon: epsilon > 5, peel(noise=None), peel()), CURVE)),
    (check.svt_curve, (where(lambda scores, *_: scores.dtype.kind == "i", peel(noise=None), peel()), CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: epsilon / min(c, 5)), CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: max(epsilon, 0.1) / c), CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: 2 * epsilon if c == 1 else epsilon / c), CURVE)),
    (check.svt_curve, (where(lambda scores, *_: (np.diff(scores) <= 0).all(), peel(noise=None), peel()), CURVE)),
    # rare events, shared noise, two calls, types
    (check.svt_curve, (peel_bare_at_times, CURVE)),
    (check.svt_curve, (noisy_first, CURVE)),
    (check.svt_curve, (two_share, CURVE)),
    (check.svt_curve, (stale(peel(), lambda scores, c, epsilon: (*scores, c, epsilon)), CURVE)),
    (check.svt_curve, (lambda scores, *rest: (list if scores[0] > 3 else np.array)(peel()(scores, *rest)), CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: c / epsilon), CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: 1.0), CURVE)),
    (check.svt_curve, (among_the_best, CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: (epsilon / c) ** 0.5), CURVE)),
]


def test_half_the_noise_is_judged_pair_by_pair():
    """Some neighbours may move all answers up and others all down; only a pair that moves two apart forbids it."""
    assert [question for question, allowed in WHICH.items() if not allowed] == [REPLACE, CHANGE]


def test_peeling_is_ahead_on_the_ratings():
    assert all(sparse < peeling for sparse, peeling in CURVE.values())
