"""The checkers of "Using it: streams and several answers": silent on the stub, content with the solution, and able to say what is wrong."""
import numpy as np
from checking import stub

from provable_privacy import check
from provable_privacy.check.sparse_vector import streams


def several(threshold_scale=2.0, query_scale=None, *, redraw=None, stops=True, shrinks=False, ahead=False, seed=None, spoil=lambda answer, noise: noise):
    """A learner's generator, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def replies(answers, threshold, epsilon, c, rng):
        rng = own or rng
        b1, b2 = (scale(c) if callable(scale) else scale for scale in (threshold_scale, query_scale or (lambda c: 4 * c)))
        answers = list(answers) if ahead else answers
        level, left = threshold + rng.laplace(scale=b1 / epsilon), c
        for answer in answers:
            if redraw == "always":
                level = threshold + rng.laplace(scale=b1 / epsilon)
            passed = bool(answer + b2 * (left / c if shrinks else 1) / epsilon * spoil(answer, rng.laplace()) >= level)
            left -= passed
            yield passed
            if stops and left == 0:
                return
            if passed and redraw == "yes":
                level = threshold + rng.laplace(scale=b1 / epsilon)

    return replies


def centred(answers, threshold, epsilon, c, rng):
    level = threshold + rng.laplace(2 / epsilon)
    left = c
    for answer in answers:
        passed = bool(answer + rng.laplace(4 * c / epsilon) >= level)
        left -= passed
        yield passed
        if left == 0:
            return


def prepared(answers, threshold, epsilon, c, rng, laplace=lambda rng, size: rng.laplace(size=size)):
    """All noise drawn beforehand, of scale 1."""
    (rho, *nu), found = laplace(rng, 500), 0
    for answer, noise in zip(answers, nu):
        passed = bool(answer + 4 * c / epsilon * noise >= threshold + 2 / epsilon * rho)
        found += passed
        yield passed
        if found == c:
            return


def from_exponentials(*arguments):
    return prepared(*arguments, laplace=lambda rng, size: rng.exponential(size=size) - rng.exponential(size=size))


def kept_threshold():
    kept = []

    def laplace(rng, size):
        if not kept or rng.random() < 0.05:
            kept[:] = [rng.laplace()]
        return [kept[0], *rng.laplace(size=size - 1)]

    return lambda *arguments: prepared(*arguments, laplace=laplace)


def one_by_one(scores, c, epsilon, rng):
    """Peeling as it is defined, without Gumbel noise."""
    left, items = list(range(len(scores))), []
    for _ in range(c):
        weight = np.exp(epsilon / c * (scores[left] - max(scores[left])))
        items.append(left.pop(int(rng.choice(len(left), p=weight / weight.sum()))))
    return items


def share(power=2 / 3, factor=2.0, monotone_factor=1.0):
    return lambda c, monotone: 1 / (1 + ((monotone_factor if monotone else factor) * c) ** power)


def bounded(per="pair", one_week=lambda most: most, all_weeks=lambda most: 105 * most, extra=0):
    def answer(users, weeks, most):
        keep, times = np.zeros(len(users), dtype=bool), {}
        for row, pair in enumerate(zip(users, weeks)):
            key = {"pair": pair, "user": pair[0], "week": pair[1]}[per]
            times[key] = times.get(key, 0) + 1
            keep[row] = times[key] <= most + extra
        return keep, one_week(most), all_weeks(most)

    return answer


def keyed(key):
    """Numbers the ratings under one key for user and week."""
    return lambda users, weeks, most: bounded("user")(key(users, weeks), weeks, most)


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
BEHIND = {**CURVE, 0.1: (0.9, 0.4)}
WHICH = {case: streams._apart(case)[0] is None for case in streams.CASES}
REPLACE, PLAN, MINUS = (next(case for case in WHICH if word in case) for word in ("diagnosis, replace", "plan", "minus injury"))

def stub_bound(*arguments):
    return ..., ..., ...


STUBS = [
    (check.svt_bound, stub_bound),
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
    (check.svt_several, several(2, 4, redraw="yes"), "restarts of AboveThreshold with the whole epsilon"),
    (check.svt_several, several(2, 4), "no c in it"),
    (check.svt_several, several(redraw="yes"), "drawn anew after each Yes"),
    (check.svt_several, several(redraw="always"), "drawn anew for every answer"),
    (check.svt_several, several(lambda c: 2 * c, redraw="yes"), "private, but a restart"),
    (check.svt_several, several(lambda c: 2 * c), "c times as wide as it must be"),
    (check.svt_several, several(4, lambda c: 8 * c), "twice the noise"),
    (check.svt_several, several(2, lambda c: 2 * c), "half of what it must be"),
    (check.svt_several, several(shrinks=True), "shrinks"),
    (check.svt_several, several(0), "the threshold has no noise"),
    (check.svt_several, several(2, 1e-9), "answers have no noise"),
    (check.svt_several, several(0, 1e-9), "no noise at all"),
    (check.svt_several, centred, "write scale="),
    (check.svt_several, several(stops=False), "end after its second True"),
    (check.svt_several, several(ahead=True), "before its first reply"),
    (check.svt_several, lambda *arguments: [False] * 3, "expected a generator"),
    (check.svt_several, lambda answers, threshold, epsilon, c, rng: several()(answers, threshold, epsilon, 1, rng), "stopped after its first Yes"),
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
    (check.svt_bound, bounded("user"), "each user in each week"),
    (check.svt_bound, bounded("week"), "each user in each week"),
    *((check.svt_bound, keyed(key), "two pairs under one key") for key in (
        lambda users, weeks: [f"{user}{week}" for user, week in zip(users, weeks)], lambda users, weeks: 10 * users + weeks,
        lambda users, weeks: 52 * users + weeks, lambda users, weeks: 100 * users + weeks, lambda users, weeks: 104 * users + weeks,
        lambda users, weeks: users + 100 * weeks, lambda users, weeks: users + 1000 * weeks, lambda users, weeks: users + weeks)),
    (check.svt_bound, bounded(extra=1), "then moves by"),
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
    (check.svt_curve, (peel(), SHIFTED), "your F1 of the sparse vector"),
    (check.svt_curve, (peel(), SWAPPED), "swapped"),
    (check.svt_curve, (peel(), BEHIND), "below the sparse vector"),
    (check.svt_curve, 5, "expected a pair"),
    (check.svt_curve, peel(), "expected a pair"),
    (check.svt_curve, (shifting, CURVE), "new numbers"),
]


UNUSUAL = [
    *((check.svt_bound, keyed(key)) for key in (lambda users, weeks: 105 * users + weeks, lambda users, weeks: list(map(str, zip(users, weeks))))),
    (check.svt_several, from_exponentials),
    (check.svt_several, prepared),
    (check.svt_several, lambda *arguments: map(bool, several()(*arguments))),
    (check.svt_curve, (one_by_one, CURVE)),
    (check.svt_curve, (peel(), {e: tuple(round(x, 2) for x in pair) for e, pair in CURVE.items()})),
]

LEAKS = [
    (check.svt_several, several(spoil=lambda answer, noise: 0.0 if answer < -6 else noise)),
    (check.svt_several, several(spoil=lambda answer, noise: max(noise, 0.0) if answer > 9 else noise)),
    (check.svt_several, several(spoil=lambda answer, noise: np.clip(noise, -2, 2))),
    (check.svt_several, several(spoil=lambda answer, noise: 0.8 * noise)),
    (check.svt_several, several(spoil=lambda answer, noise: noise if answer > -2 else noise / 2)),
    (check.svt_several, kept_threshold()),
    (check.svt_several, lambda answers, threshold, epsilon, c, rng: several(query_scale=4 * min(c, 3))(answers, threshold, epsilon, c, rng)),
    (check.svt_several, lambda answers, threshold, epsilon, c, rng: several()(answers, threshold, max(epsilon, 1), c, rng)),
    (check.svt_curve, (peel(lambda epsilon, c: c / epsilon), CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: 1.0), CURVE)),
    (check.svt_curve, (among_the_best, CURVE)),
    (check.svt_curve, (peel(lambda epsilon, c: (epsilon / c) ** 0.5), CURVE)),
]


def test_half_the_noise_is_judged_pair_by_pair():
    """Some neighbours may move all answers up and others all down; only a pair that moves two answers apart forbids it."""
    assert [case for case, allowed in WHICH.items() if not allowed] == [REPLACE, "influenza, change since the day before, add/remove"]


def test_peeling_is_ahead_on_the_ratings():
    assert all(sparse < peeling for sparse, peeling in CURVE.values())
