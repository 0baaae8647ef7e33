"""Checkers of the section on epsilon."""
import math

import numpy as np

from dplib import data
from dplib.distributions import exact_epsilon
from dplib.teaching.check._laws import compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["dp_belief", "dp_epsilon", "dp_means", "dp_respond", "dp_survey", "dp_unit", "dp_user"]


def _table(answer, right, why, tolerance=1e-3):
    """Compare a dict of numbers, name by name, with the right ones; `why(name, said)` explains what is wrong."""
    answer = dict(answer)
    if all(value is ... for value in answer.values()):
        raise NotAttempted
    if set(answer) != set(right):
        raise Wrong(f"expected the names {', '.join(right)}")
    for name, value in right.items():
        if answer[name] is ...:
            raise Wrong(f"{name}: not attempted yet")
        said = float(answer[name])
        if math.isnan(said) or said != value and not abs(said - value) <= tolerance:
            raise Wrong(f"{name}: {why(name, said)}")


# ------------------------------------------------------------------------------------------------------------ the unit of privacy

@checker
def dp_unit(answer):
    """`answer`: release -> epsilon for one person when every published number has Laplace noise of scale 1."""
    hospital, ratings, posts, staff = (data.load(name, answers=True) for name in ("hospital", "ratings", "forum", "staff"))
    visits = int(hospital._person.value_counts().max())
    right = {
        "HIV visits in hospital, add/remove": visits,
        "number of ratings, add/remove": int(ratings._person.value_counts().max()),
        "number of posts, add/remove": int(posts._person.value_counts().max()),
        "staff by department (5 counts), add/remove": 1,
        "staff by department (5 counts), replace": _most_moved(staff),
        "number of visits, each row written twice, add/remove": 2 * visits,
    }
    hints = {
        "HIV visits in hospital, add/remove": "nobody visits twice in this table",
        "number of ratings, add/remove": "the unit is the person: take the subscriber with the most rows, not one row and not the median",
        "number of posts, add/remove": "the unit is the person: take the poster with the most rows",
        "staff by department (5 counts), add/remove": "a person who leaves takes one row out of one of the five counts",
        "staff by department (5 counts), replace": "a replaced row may leave one department and appear in another: two counts move",
        "number of visits, each row written twice, add/remove": "a 2-stable transformation comes before the count",
    }
    _table(answer, right, lambda name, said: f"not {said:g}; {hints[name]}", tolerance=1e-9)
    return "the same noise costs 1, 2, 10 or 152: the person decides, not the row"


def _most_moved(staff):
    """Largest L1 change of the counts by department when one row is exchanged for another."""
    kinds = sorted(set(staff.department))
    histogram = {kind: np.array([kind == other for other in kinds], dtype=int) for kind in kinds}
    return max(int(np.abs(histogram[a] - histogram[b]).sum()) for a in kinds for b in kinds)


# --------------------------------------------------------------------------------------------------------------- exact epsilon

FIVE = {
    "ninety": ([0.9, 0.1], [0.1, 0.9]),
    "die": ([5 / 6, 1 / 6], [1 / 6, 5 / 6]),
    "brave": ([1.0, 0.0], [0.5, 0.5]),
    "six": ([0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [0.1, 0.5, 0.1, 0.1, 0.1, 0.1]),
    "mute": ([0.5, 0.5], [0.5, 0.5]),
}


@checker
def dp_epsilon(answer):
    """`answer`: mechanism -> its exact epsilon."""
    right = {name: exact_epsilon(*pair) for name, pair in FIVE.items()}
    hints = {
        "ninety": "one outcome has probability 0.9 in one world and 0.1 in the other",
        "die": "the coin tells the truth too, half of the time: the truth has probability 4/6 + 1/6",
        "brave": "look at the outcome yes: how likely is it in each of the two worlds?",
        "six": "each false answer has probability 1/10",
        "mute": "the outcome does not depend on the truth",
    }

    def why(name, said):
        value = right[name]
        if 0 < value < math.inf and np.isclose(said, math.exp(value), rtol=1e-3):
            return f"{said:g} is the ratio; epsilon is its logarithm"
        return f"not {said:g}; {hints[name]}"

    _table(answer, right, why)
    return "all five; one of them has no epsilon, though a no can be denied"


@checker
def dp_belief(answer):
    """`answer`: question -> probability, for a release at epsilon = 1."""
    right = {
        "suspicion": _belief(0.1, 1),
        "even": _belief(0.5, 1),
        "twice": _belief(0.5, 2),
        "family": _belief(0.5, 3),
        "bet": 1 - _fewest_errors(1.0),
    }
    hints = {
        "suspicion": "turn 10 % into odds of 1 to 9, multiply by e, and turn back",
        "even": "odds of 1 to 1 become e to 1",
        "twice": "each release multiplies the odds by e at most",
        "family": "from none of the three to all of them it is three steps between neighbours, each a factor of e",
        "bet": "the advantage, share right minus share wrong, is at most tanh(1/2)",
    }

    def why(name, said):
        if name == "bet" and np.isclose(said, math.tanh(0.5), atol=1e-3):
            return f"{said:g} is the advantage; a player without any knowledge has advantage 0 and wins half of the plays"
        if name != "bet" and any(np.isclose(said, start * math.exp(e), rtol=2e-3) for start in (0.1, 0.5) for e in (1, 2, 3)):
            return f"not {said:g}; it is the odds that are multiplied, not the probability: {hints[name]}"
        if said > 1 or said < 0:
            return f"{said:g} is no probability; {hints[name]}"
        return f"not {said:g}; {hints[name]}"

    _table(answer, right, why, tolerance=6e-4)
    return "from 10 % to 23 %, from an even bet to 73 %; twice or for a family of three it is much more"


def _belief(prior, epsilon):
    return prior * math.exp(epsilon) / (1 - prior + prior * math.exp(epsilon))


def _fewest_errors(epsilon):
    """Smallest share of lost plays that the two inequalities on true and false positive rates allow, by search."""
    f = np.linspace(0, 1, 200_001)
    t = np.minimum(np.exp(epsilon) * f, 1 - np.exp(-epsilon) * (1 - f))
    return float((f + 1 - t).min() / 2)


def _grid(pair, steps=200):
    """Largest epsilon over pairs of means in [0, 1] that differ by 0.1, on a grid."""
    means = np.linspace(0, 0.9, steps * 9 // 10 + 1)
    return max(pair(mean, mean + 0.1) for mean in means)


def _bernoulli(p, q):
    return exact_epsilon([p, 1 - p], [q, 1 - q])


def _clamped(x, y):
    def law(mean):                               # the atoms at both ends, and the density between them
        inside = np.linspace(0, 1, 201)
        return np.concatenate(([0.5 * np.exp(-mean / 0.1)], 5 * np.exp(-np.abs(inside - mean) / 0.1), [0.5 * np.exp(-(1 - mean) / 0.1)]))

    return float(np.abs(np.log(law(x) / law(y))).max())


def _chosen(x, y):
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def log_density(mean, at):
        total = sum((b - a) / 2 * weights @ np.exp(-5 * np.abs((a + b) / 2 + (b - a) / 2 * nodes - mean)) for a, b in ((0, mean), (mean, 1)))
        return -5 * np.abs(at - mean) - np.log(total)

    at = np.array([0, x, y, 1])                  # the log ratio is linear between the two means and constant outside
    return float(np.abs(log_density(x, at) - log_density(y, at)).max())


@checker
def dp_means(answer):
    """`answer`: mechanism -> smallest epsilon under replace, ten values in [0, 1]."""
    right = {
        "clamped": _grid(_clamped),
        "truncated": math.inf,
        "coin": _bernoulli(0.0, 0.1),
        "soft": _grid(lambda x, y: _bernoulli(0.25 + x / 2, 0.25 + y / 2)),
        "chosen": _grid(_chosen),
    }

    def why(name, said):
        hint = {
            "clamped": "the mean moves by 0.1 and the noise has scale 0.1; what is done to the output afterwards costs nothing, and gains nothing here",
            "truncated": "the two worlds can put their outputs in two intervals that differ: is there an output that only one of them can give?",
            "coin": "take ten zeros and its neighbour: how likely is a 1 in each world?",
            "soft": "the probability of a 1 moves by 0.05; where in [0.25, 0.75] is that the largest ratio?",
            "chosen": "the exponent moves by at most 0.5, and the density's normalising factor moves too; compare the means 0 and 0.1 at the outcome 0",
        }[name]
        known = {
            ("soft", 0.2): "1.2 is the ratio and 0.2 its excess over 1; epsilon is its logarithm",
            ("chosen", 1.0): "1 is what the general theorem allows; the normalising factor moves by less than that allows for, so the smallest is smaller",
            ("chosen", 0.5): "the exponent alone gives 0.5; the normalising factor depends on the mean as well",
            ("clamped", 2.0): "under replace one value moves by at most 1, so the mean by at most 0.1, not 0.2",
        }
        return f"not {said:g}; " + next((text for (of, value), text in known.items() if of == name and np.isclose(said, value, rtol=1e-3)), hint)

    _table(answer, right, why)
    return "two have no epsilon at all, and the other three have 1, ln 1.2 and a little less than the theorem for the last"


# ---------------------------------------------------------------------------------------------------- randomized response

PEOPLE, CALLS = 6000, 8


@checker
def dp_respond(respond):
    """`respond(values, k, epsilon, rng)`: randomized response for k answers, an array of reports."""
    rng = np.random.default_rng(31)
    for k, epsilon in ((2, math.log(3)), (5, 1.0)):
        values = np.arange(PEOPLE) % k
        rng.shuffle(values)
        shifts = []
        for _ in range(CALLS):
            given = values.copy()
            got = ask(respond, given, k, epsilon, rng)
            if got is None:
                raise NotAttempted
            got = np.asarray(got)
            if got.shape != values.shape:
                raise Wrong(f"expected {PEOPLE:,} reports, one for each person, got an array of shape {got.shape}")
            if not np.isin(got, np.arange(k)).all():
                raise Wrong(f"a report is none of the answers 0 to {k - 1}: {got[~np.isin(got, np.arange(k))][0]!r}")
            shifts.append((got.astype(int) - values) % k)
        _independent(np.array(shifts), values, k, epsilon)
    return f"every report has the right law and its own coins (chi-square tests on {PEOPLE * CALLS:,} reports, k = 2 and 5)"


def _response_law(truth, k):
    return np.append(truth, np.full(k - 1, (1 - truth) / (k - 1)))


def _independent(shifts, values, k, epsilon):
    """`shifts[call, person]`: report minus truth, modulo k. Right law, and no two coins the same."""
    if (shifts == shifts[:, :1]).all() and shifts.any():
        raise Wrong("one coin for everybody: all tell the truth together or lie together, so who knows one true answer knows all; toss for each person")
    if shifts.any() and (shifts == shifts[0]).all():
        raise Wrong("the same coins in every survey: who learns them once can take the noise off; draw from rng in every call")
    e = math.exp(epsilon)
    law, case = _response_law(e / (e + k - 1), k), f"k = {k}, epsilon = {epsilon:.3g}"
    next_one = np.zeros(k)
    next_one[0], next_one[1] = e / (e + k - 1), (k - 1) / (e + k - 1)
    rivals = {
        f"there is no noise ({case}): every report is the truth": _response_law(1.0, k),
        f"too little noise ({case}): a lie must be one of the *other* answers, or the truth gets a second chance and epsilon is larger":
            _response_law(e / (e + k - 1) + (k - 1) / (e + k - 1) / k, k),
        f"too little noise ({case}): e^ε/(e^ε + 1) is the truth's probability for two answers only; with k answers each lie is rarer, so the ratio "
        "of truth to lie is larger than e^ε": _response_law(e / (e + 1), k),
        f"too little noise ({case}): your reports cost 2ε": _response_law(e**2 / (e**2 + k - 1), k),
        f"private, but more noise than needed ({case}): your reports cost only ε/2": _response_law(e**0.5 / (e**0.5 + k - 1), k),
        f"private, but more noise than needed ({case}): the denominator is e^ε + k − 1, not e^ε + k": _response_law(e / (e + k), k),
        f"not the right law ({case}): to keep the truth with probability (e^ε − 1)/(e^ε + k − 1) is right if otherwise *any* answer is drawn, "
        "the truth too; yours draws one of the others": _response_law((e - 1) / (e + k - 1), k),
    }
    if k > 2:
        rivals[f"a lie is always the next answer ({case}): then most pairs of report and truth are impossible, an infinite loss; lie evenly"] = next_one

    def name(shift):
        return f"{case}: {'the truth' if shift == 0 else f'the answer {shift} further on'}"

    for value in range(k):
        compare(np.bincount(shifts[:, values == value].ravel(), minlength=k), law, rivals, lambda shift, v=value: f"of true answer {v}, {name(shift)}")
    pairs, alike = np.outer(law, law).ravel(), np.diag(law).ravel()
    half = shifts.shape[1] // 2
    for one, two, who in ((shifts[:, 0::2], shifts[:, 1::2], "neighbours in the list"), (shifts[:, :half], shifts[:, half:], "people half a list apart"),
                          (shifts[0::2], shifts[1::2], "two surveys of the same person")):
        message = f"{case}: {who} share their coins, so the reports are not independent and reveal more together"
        compare(np.bincount((k * one + two).ravel(), minlength=k * k), pairs, {message: alike}, lambda cell, m=message: f"{m}; a pair of lies or truths")


# -------------------------------------------------------------------------------------------------------------- the size of a survey

@checker
def dp_survey(respondents):
    """`respondents(epsilon, error)`: smallest number of people for a standard error of at most `error`."""
    for epsilon, error in ((1.0, 0.01), (math.log(3), 0.02), (0.1, 0.05), (4.0, 0.005)):
        got = ask(respondents, epsilon, error)
        if got is None:
            raise NotAttempted
        got, p = float(got), 1 / (1 + math.exp(-epsilon))
        need = p * (1 - p) / (2 * p - 1) ** 2 / error**2
        exact, case = math.ceil(need - 1e-6), f"for epsilon = {epsilon:.3g}, error = {error:g}"
        if not math.isfinite(got) or got != round(got):
            raise Wrong(f"{case} expected a whole number of people, got {got:g}")
        if got == exact or abs(got - need) < 1.001 and abs(need - round(need)) < 1e-6 and got >= exact:
            continue
        mistakes = {
            "you answered for a noisy total of a trusted office (√2/ε for everybody together); here every person adds noise of their own":
                math.ceil(math.sqrt(2) / epsilon / error),
            "an error is a root of a variance: divide by the square of the error": math.ceil(need * error),
            "that is the error of the share of yes among the reports; the estimate divides it by 2p − 1": math.ceil(p * (1 - p) / error**2),
            "you divide by 2p − 1 once, and the variance needs it squared": math.ceil(p * (1 - p) / (2 * p - 1) / error**2),
            "you added the error of drawing people at random; here the people are fixed, only their coins are random": math.ceil(need + 0.25 / error**2),
        }
        for reason, value in mistakes.items():
            if abs(got - value) <= 1:
                raise Wrong(f"{case} not {got:,.0f}; {reason}")
        if got < exact:
            raise Wrong(f"{case} {got:,.0f} people are too few: the standard error would be {error * math.sqrt(need / max(got, 1e-9)):.4g}")
        raise Wrong(f"{case} {got:,.0f} people are more than needed: the standard error would be {error * math.sqrt(need / got):.4g}")
    return "the smallest number that does, in all four cases"


# ------------------------------------------------------------------------------------------------------------- bounded contributions

RUNS = 5000


def _below(x, scale):
    """Distribution function of Laplace noise."""
    x = np.asarray(x, dtype=float) / scale
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))


@checker
def dp_user(release):
    """`release(users, stars, B, epsilon, rng)`: the number of five-star ratings, at most B of a user, private for a user."""
    rng = np.random.default_rng(32)
    # every user has only fives or none, so that any honest way to keep B rows of a user gives the same count
    users = np.repeat([7, 3, 900, 12, 4, 5], [30, 1, 2, 5, 9, 3])
    stars = np.where(np.isin(users, (4, 5)), 2, 5)
    order = rng.permutation(len(users))
    users, stars = users[order], stars[order]
    for B, epsilon in ((4, 1.0), (2, 0.5), (40, 1.0)):      # at 40 nobody is cut, and the noise must be for 40 all the same
        got = []
        for _ in range(RUNS):
            value = ask(release, users.copy(), stars.copy(), B, epsilon, rng)
            if value is None:
                raise NotAttempted
            got.append(float(value))
        got = np.array(got)
        if not np.isfinite(got).all():
            raise Wrong("the released number is not finite")
        kept = np.array([min(B, int(np.sum((users == user) & (stars == 5)))) for user in np.unique(users)])
        true, all_fives, all_rows = int(kept.sum()), int((stars == 5).sum()), len(users)
        any_stars = sum(min(B, int(np.sum(users == user))) for user in np.unique(users))
        _compare_counts(got, true, B, epsilon, {"all_fives": all_fives, "all_rows": all_rows, "any_stars": any_stars})
    return f"at most B of each user, and noise for B (chi-square tests on {RUNS:,} runs, three settings)"


def _compare_counts(got, true, B, epsilon, other):
    case, scale = f"B = {B}, epsilon = {epsilon:g}", B / epsilon
    if np.ptp(got) == 0:
        raise Wrong(f"{case}: every run gives {got[0]:g}: no noise, or the same noise every time")
    inner = true + scale * np.array([-6, -4, -2.5, -1.5, -1, -0.6, -0.3, -0.1, 0, 0.1, 0.3, 0.6, 1, 1.5, 2.5, 4, 6])
    edges = np.sort(np.concatenate([inner, [other["all_fives"], other["all_fives"] + scale]]))

    def law(location, scale):
        return np.diff(np.concatenate([[0], _below(edges - location, scale), [1]]))

    rivals = {
        f"{case}: each user is bounded, but the noise is for one row: it must be B times as wide": law(true, 1 / epsilon),
        f"{case}: the noise fits B rows, but nobody's contribution is bounded: the heaviest user moves the count by 30": law(other["all_fives"], scale),
        f"{case}: no bound and noise for one row: that protects one rating, not one person": law(other["all_fives"], 1 / epsilon),
        f"{case}: ratings that are not five stars are counted as well": law(other["any_stars"], scale),
        f"{case}: all rows are counted, of all users and with any stars": law(other["all_rows"], scale),
        f"{case}: B bounds the whole table, not each user": law(B, scale),
        f"{case}: private, but with twice the noise it needs: add/remove moves the count by B": law(true, 2 * scale),
        f"{case}: half the noise that is needed": law(true, scale / 2),
        f"{case}: the noise follows the heaviest user of this table; a scale that depends on the data gives somebody away by its width":
            law(true, 30 / epsilon),
        f"{case}: the noise has scale ε·B, should be B/ε": law(true, B * epsilon),
        f"{case}: the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": law(true, scale / 2**0.5),
    }
    if epsilon == 1:
        del rivals[f"{case}: the noise has scale ε·B, should be B/ε"]
    counts = np.bincount(np.searchsorted(edges, got, side="right"), minlength=len(edges) + 1)

    def name(i):
        low, high = (edges[i - 1] if i else -np.inf), (edges[i] if i < len(edges) else np.inf)
        return f"{case}: a result between {low:.1f} and {high:.1f}"

    compare(counts, law(true, scale), rivals, name)
    pairs = np.array([(got[0::2] > true), (got[1::2] > true)])
    signs = np.bincount(2 * pairs[0] + pairs[1], minlength=4)
    compare(signs, np.full(4, 0.25),
            {f"{case}: one noise serves two releases": np.array([0.5, 0, 0, 0.5])}, lambda cell: f"{case}: a pair of runs, above or below the truth,")
