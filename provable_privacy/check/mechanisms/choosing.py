"""Checkers of chapter 3: choosing."""
import functools
import itertools
import math

import numpy as np
from scipy.special import softmax

from dplib import sensitivity as sens
from dplib.budget import Budget
from provable_privacy.battery import Choice, Numbers, Pair, battery, looks_for, luck
from provable_privacy.battery.makers import gumbel, normal
from provable_privacy.entries import Number, Together, entries
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["em_flip", "em_max", "em_median", "em_score", "em_winner"]

SPREADS = {                                      # score -> sensitivity, spread, and what one person can do
    "veto": (1, 1, "one person adds a veto to some proposals and none to others, so the scores move by 0 or -1"),
    "borda": (4, 4, "one ballot lifts the first by 4 and the last by 0"),
    "net": (1, 2, "one viewer gives this film +1 and that film -1"),
    "quartile": (0.75, 1.5, "an added person moves the inner number by 3/4 at every r above that person. Inside "
                            "the absolute value this is a loss at one r and a gain at another"),
}


@entries("the largest change of one score, and the largest difference of two changes")
def em_score():
    """`answer`: score -> (sensitivity, spread) under add/remove."""
    def entry(right, why):
        return Number(right, tolerance=1e-9,
                      below=f"{{said}} is too small, so the choice would cost more than it says; {why}",
                      above=f"{{said}} is too large: this is safe, but it adds noise for nothing; {why}")

    return {name: Together({"sensitivity": entry(most, why), "spread": entry(spread, why)})
            for name, (most, spread, why) in SPREADS.items()}


# ------------------------------------------------------------------------------------------------- the winner of a vote

def _winning(rate=lambda most, epsilon, scores: epsilon / most, present=False, law=gumbel):
    """The exponential mechanism on counts, right unless told otherwise."""
    def winner(rows, candidates, most, epsilon, rng):
        scores = np.array([rows.count(name) for name in candidates], dtype=float)
        weights = rate(most, epsilon, scores) * scores + law(rng, 1.0, scores.shape)
        drawn = np.where(scores > 0, weights, -np.inf) if present and scores.any() else weights
        return candidates[int(np.argmax(drawn))]

    return winner


WINNER = _winning()
WINNERS = {
    "safe, but when a person is added all counts move in the same direction, so the factor 2 is not needed":
        _winning(lambda m, e, s: e / (2 * m)),
    "one person can put all `most` rows on one name; the sensitivity is not 1": _winning(lambda m, e, s: e),
    "one person can put all `most` rows on one name, which is more than your rate allows":
        _winning(lambda m, e, s: e / 2),
    "the sensitivity is computed from the rows. Take the public number `most`, even where nobody has so many rows":
        _winning(lambda m, e, s: e / min(m, max(s.max(), 1))),
    "the rate is epsilon times the sensitivity; it is epsilon divided by it": _winning(lambda m, e, s: e * m),
    "twice the rate that the theorem allows": _winning(lambda m, e, s: 2 * e / m),
    "a candidate whom nobody named is never drawn. The list is public, so leaving out a candidate reveals that "
    "nobody named it":
        _winning(present=True),
    "normal noise has no ε at all: a name far behind betrays every row": _winning(law=normal),
    "at a large ε the largest count always wins. A large ε needs its noise too":
        _winning(lambda m, e, s: 1e9 if e > 3 else e / m),
}


def _votes(what, one, two, persons, most, epsilon, strangers=0, **settings):
    """Rows that name lists A, B, ... so often; `two` has the rows of `persons` more people."""
    names = tuple(f"list {letter}" for letter in "ABCDEFG"[: len(one)])
    tables = []
    for counts in (one, two):
        rows = [name for name, count in zip(names, counts) for _ in range(count)] + ["nobody"] * strangers
        order = np.random.default_rng(91).permutation(len(rows))
        tables.append(([rows[i] for i in order], list(names), most, epsilon))
    laws = [softmax(np.array(counts) * epsilon / most) for counts in (one, two)]
    often = tuple({names[i]: 0.94 * law[i] for i in [int(law.argmax())] if law[i] > 1.2 / len(law)} for law in laws)
    return Pair(what, *tables, ((persons * epsilon, 0.0),), often=often, **settings)


A = {"watch": ("list A",)}
VOTES = [
    _votes("counts 2, 1, 0, 0 / one more for C", [2, 1, 0, 0], [2, 1, 1, 0], 1, 1, 0.5, runs=2500),
    _votes("no rows / three rows of one person", [0, 0, 0], [3, 0, 0], 1, 3, 1.0, runs=4000, twice=740, **A),
    _votes("counts 0, 3, 2 and three strangers / one more for C", [0, 3, 2], [0, 3, 3], 1, 1, 0.7, 3, runs=3000,
           law=True, **A),
    _votes("counts 3, 1, 0 / one more for B", [3, 1, 0], [3, 2, 0], 1, 5, 3.0, 1, runs=4000, law=True),
    _votes("counts 0, 10, ε = 2 / twelve rows of one person for A", [0, 10], [12, 10], 1, 12, 2.0, runs=2500,
           looks=("contents",), **A),
    _votes("counts 0, 8 / two people with four rows each for A", [0, 8], [8, 8], 2, 4, 1.0, runs=5000, law=True, **A),
    _votes("counts 150, 150, 0 / one more for B", [150, 150, 0], [150, 151, 0], 1, 1, 1.0, runs=600),
    _votes("counts 3,000, 3,000 / one more for B", [3000, 3000], [3000, 3001], 1, 1, 1.0, runs=400),
    _votes("counts 0, 5, ε = 0.68 / five people more for A", [0, 5], [5, 5], 5, 1, 0.68, runs=14_000,
           looks=("quotient",), **A),
    _votes("counts 0, 40, ε = 0.1 / forty people more for A", [0, 40], [40, 40], 40, 1, 0.1, 9, runs=6000,
           looks=("far",), **A),
    _votes("three strangers only / one more for C", [0, 0, 0], [0, 0, 1], 1, 1, 1.0, 3, runs=800),
    _votes("seven counts, ε = 6 / twelve rows of one person for B", [16, 6, 3, 0, 0, 14, 0], [16, 18, 3, 0, 0, 14, 0],
           1, 12, 6.0, runs=3000, law=True),
]


def _named(winner, arguments, rng):
    name = ask(winner, *arguments, rng)
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        raise Wrong(f"expected the name of a candidate, got the number {name}")
    return name


def _far_ahead(winner):
    """B has the chance e^-100 each time, and half where the weights are cut off."""
    rng, rows = np.random.default_rng(91), ["list A"] * 200_000 + ["list B"] * 199_900
    for _ in range(6):
        name = _named(winner, (list(rows), ["list B", "list A"], 1, 1.0), rng)
        if name != "list A":
            raise Wrong("200,000 rows of list A and 199,900 of B, epsilon = 1: expected 'list A', which is 100 ahead, "
                        f"got {name!r}"[:200])


BEHIND, LEAD, CALLS = 200, 9, 4000               # each has a chance of at least e^-9/2: all together 49 calls


def _not_always_the_first(choose):
    """`Wrong` where a lead of 9 in units of the rate is taken for certain: 200 others stand so far behind."""
    if not sum(choose() for _ in range(CALLS)):
        raise Wrong(f"one of {BEHIND + 1} is ahead of all others by {LEAD} in units of the rate, and is chosen in all "
                    f"of {CALLS:,} runs. Each other needs its small chance, about e^-{LEAD}: where it has none, it is "
                    "possible on one table and impossible on another")


ONE_CHOICE = {"order": "one outcome comes out", "shared": "one outcome comes out", "zero": "no number comes out"}


@checker
@looks_for("rare", **ONE_CHOICE, fractions="names come in", negative="names come in", missing="names come in",
           straddles="nothing is compared with a threshold", own="the sensitivity comes in")
def em_winner(winner):
    """`winner(rows, candidates, most, epsilon, rng)`: a name, by the exponential mechanism at rate epsilon/most."""
    _far_ahead(winner)
    seen = battery(winner, lambda pair: Choice(tuple(pair.one[1]), "the winner"), VOTES, call=_named, mistakes=WINNERS,
                   right=WINNER, seed=91)
    rng, rows, names = luck(90), ["list 0"] * 2 * LEAD, [f"list {i}" for i in range(BEHIND + 1)]
    _not_always_the_first(lambda: _named(winner, (rows.copy(), names.copy(), 1, 0.5), rng) != "list 0")
    return f"named nearly as often as the rate allows; {seen}"


# ---------------------------------------------------------------------------------------------------- noisy max, broken

def noisy_max_law(scores, scale):
    """Exact law of the index of the largest integer score plus Laplace noise.

    By Gauss-Legendre panels between the integers.
    """
    scores = np.asarray(scores, dtype=float)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    edges = np.arange(scores.min() - 60 * scale, scores.max() + 60 * scale)
    z = ((edges[:, None] + 0.5 + nodes / 2).ravel()[None, :] - scores[:, None]) / scale
    density = np.exp(-np.abs(z)) / 2
    cdf = np.where(z < 0, density, 1 - density)
    w = np.tile(weights / 2, len(edges)) / scale
    return np.array([(w * density[i] * np.delete(cdf, i, axis=0).prod(axis=0)).sum() for i in range(len(scores))])


def _neighbours(lists):
    """Two arrays of a few whole scores, at most 1 apart."""
    try:
        one, other = (np.array(scores, dtype=float) for scores in lists)
    except (TypeError, ValueError):
        raise Wrong("expected a pair of lists of scores, such as ([0, 1], [1, 1])") from None
    if one.ndim != 1 or one.shape != other.shape or len(one) < 2:
        raise Wrong("expected two lists of the same length, of at least two candidates")
    if len(one) > 4:
        raise Wrong(f"{len(one)} candidates; use at most four, because with many it is too easy")
    both = np.concatenate([one, other])
    if not np.isfinite(both).all() or (both != np.round(both)).any() or np.ptp(both) > 300:
        raise Wrong("scores must be whole numbers, no more than 300 apart")
    if np.abs(one - other).max() > 1:
        raise Wrong(f"a score differs by {np.abs(one - other).max():g} between your lists; "
                    "neighbours differ by at most 1")
    return one, other


@checker
def em_max(lists):
    """`lists`: two neighbouring integer score lists on which noisy max with Lap(1) loses more than 1.95."""
    one, other = _neighbours(lists)
    worst = float(np.abs(np.log(noisy_max_law(one, 1)) - np.log(noisy_max_law(other, 1))).max())
    if worst <= 1.95:
        hint = ("all scores move the same way" if np.ptp(one - other) <= 1 else
                "what if the score that rises begins far behind, and more than one score falls?")
        raise Wrong(f"the largest loss of an index on these lists is {worst:.3f}, and more than 1.95 is asked: {hint}")
    return f"a loss of {worst:.3f} where 1 was promised"


# ----------------------------------------------------------------------------------------------------- permute-and-flip

def flip_law(scores, rate):
    """Exact law of permute-and-flip: evenly among the candidates whose coins show heads."""
    heads = np.exp(rate * (np.asarray(scores, dtype=float) - np.max(scores)))
    coins = np.array(list(itertools.product((0, 1), repeat=len(heads)))[1:])
    chance = np.where(coins, heads, 1 - heads).prod(axis=1)
    return (chance / coins.sum(axis=1)) @ coins


def _flipping(rate=lambda sensitivity, epsilon: epsilon / (2 * sensitivity), law=flip_law):
    """An index by the exact law, right unless told otherwise."""
    @functools.cache
    def cumulative(scores, rate):
        return np.cumsum(law(np.array(scores), rate))[:-1]

    def flip(scores, sensitivity, epsilon, rng):
        steps = cumulative(tuple(scores), rate(sensitivity, epsilon))
        return int(np.searchsorted(steps, rng.random(), side="right"))

    return flip


def _in_order(scores, rate):
    """The same coins, but the candidates asked in their order."""
    heads = np.exp(rate * (scores - scores.max()))
    return heads * np.cumprod(np.append(1.0, 1 - heads[:-1]))


def _one_coin(scores, rate):
    """One uniform number decides all coins: evenly among those whose p is above it."""
    heads = np.exp(rate * (scores - scores.max()))
    steps = np.append(0.0, np.sort(heads))
    return sum((high - low) * (heads >= high) / (heads >= high).sum() for low, high in itertools.pairwise(steps))


FLIP = _flipping()
FLIPS = {
    "one random number decides all the coins; each candidate needs a coin of its own": _flipping(law=_one_coin),
    "the results are distributed as those of the exponential mechanism, or nearly, as with Laplace noise: private, "
    "but with larger errors. With coins, do not ask a refused candidate again":
        _flipping(law=lambda u, rate: softmax(rate * u)),
    "the candidates are asked in their order; put them into a random order first": _flipping(law=_in_order),
    "the 2 in 2 sensitivity is missing": _flipping(lambda s, e: e / s),
    "safe, but at half the rate that is allowed": _flipping(lambda s, e: e / (4 * s)),
    "the sensitivity is not used": _flipping(lambda s, e: e / 2),
    "the sensitivity is cut to a whole number, which is too small":
        _flipping(lambda s, e: e / (2 * (math.floor(s) if s >= 1 else s))),
    "the scores are rounded to 32 bits, which can move large ones by 1":
        _flipping(law=lambda u, rate: flip_law(np.float32(u), rate)),
    "the sensitivity is not used, and the 2 is missing": _flipping(lambda s, e: e),
}


def _scores(one, two, sensitivity, epsilon, exact=True, **settings):
    """Two lists of scores that differ by at most the sensitivity; the law of each is prescribed."""
    tables = [(np.array(scores, dtype=float), sensitivity, epsilon) for scores in (one, two)]
    laws = tuple(flip_law(scores, epsilon / (2 * sensitivity)) for scores, *_ in tables)
    return Pair(f"scores {one} / scores {two}", *tables, ((epsilon, 0.0),),
                law="exactly" if exact else laws, **settings)


SCORES = [
    _scores([3, 9, 0], [6, 6, -3], 3.0, 1.0, runs=4000, twice=740, watch=(0, 1)),
    _scores([8, 7, 10, 8, 3], [5, 10, 7, 11, 6], 3.0, 1.5, runs=3000, watch=(1, 3)),
    _scores([0, 0, 0, 0], [1, -1, -1, -1], 1.0, 1.2, runs=2500, watch=(0,)),
    _scores([1499, 1490, 1500, 1500], [1500, 1489, 1499, 1500], 1.0, 2.0, runs=1500),
    _scores([-2000, -2003], [-2003, -2000], 3.0, 0.5, runs=1500, watch=(0,)),
    _scores([0, 9, 9], [1, 8, 8], 1.0, 1.0, False, runs=2000),
    _scores([33, 0, 0], [30, 3, 3], 3.0, 0.3, False, runs=8000, watch=(1,)),
    _scores([-4.5, -2.25, -7.1, -3.6, -9, -5.2, -6.6], [-4.1, -2.95, -7.8, -2.9, -8.3, -5.9, -5.9], 0.7, 1.0,
            runs=4000, looks=("quotient",)),
    _scores([5, 4.6], [4.6, 5], 1.0, 7.0, runs=3000),
    _scores([600, 0, 0], [570, 30, 30], 30.0, 0.1, runs=3000, looks=("far",)),
    _scores([0, 1.9], [1.9, 0], 1.9, 4.0, runs=3000),
    _scores([2**24 + 1, 2**24 + 2], [2**24 + 2, 2**24 + 1], 1.0, 1.5, runs=3000),
]


def _index(flip, arguments, rng):
    got = ask(flip, *arguments, rng)
    if got is None:
        raise Wrong("nobody was chosen; the best candidate's coin always shows heads")
    return got


@checker
@looks_for("rare", **ONE_CHOICE, size="scores come in, and no table", empty="scores come in, and no table",
           contents="each score is one number", missing="a score is a finite number",
           straddles="nothing is compared with a threshold", own="the sensitivity comes in")
def em_flip(flip):
    """`flip(scores, sensitivity, epsilon, rng)`: an index, by permute-and-flip."""
    seen = battery(flip, lambda pair: Choice(tuple(range(len(pair.one[0]))), "the index"), SCORES, call=_index,
                   mistakes=FLIPS, right=FLIP, seed=92)
    rng, scores = luck(90), np.append(np.zeros(BEHIND), 2.0 * LEAD)
    _not_always_the_first(lambda: _index(flip, (scores.copy(), 1.0, 1.0), rng) != BEHIND)
    return f"the law of permute-and-flip; {seen}"


# ------------------------------------------------------------------------------------------------------------- a median

def _clip(values, low, high):
    return sens.clip(values, low=low, high=high)


def _median(rate=1.0, lengths=True, empty=False, shift=lambda n: 0.0, read=lambda values, low, high: values):
    """A median by the exponential mechanism, right unless told otherwise; `read` comes before clipping."""
    def median(values, low, high, epsilon, budget, rng):
        epsilon = budget.spend(epsilon)
        x = np.sort(_clip(read(np.asarray(values, dtype=float), low, high), low, high))
        edges, n = np.concatenate([[low], x, [high]]), len(x)
        widths = np.diff(edges)
        with np.errstate(divide="ignore"):
            logits = np.where((widths > 0) | empty, np.log(widths) if lengths else 0.0, -np.inf)
        off = np.abs(np.arange(n + 1) - n / 2 + shift(len(values)))
        i = int(np.argmax(logits - rate * epsilon * off + rng.gumbel(size=n + 1)))
        return edges[i] + widths[i] * rng.random()

    return median


MEDIAN = _median()
MEDIANS = {
    "safe, but under add/remove the spread of the median's score is 1: the rate may be epsilon": _median(0.5),
    "the rate is twice what the theorem allows": _median(2.0),
    "the lengths of the steps are forgotten, a narrow step counts as much as a wide one": _median(lengths=False),
    "the lengths of the steps are forgotten, and a step of length 0 publishes a value":
        _median(lengths=False, empty=True),
    "the middle is rounded up: where n is odd it is a half, and rounded it moves by 1 for one person":
        _median(shift=lambda n: -(n % 2) / 2),
    "the middle is rounded down: where n is odd it is a half, and rounded it moves by 1 for one person":
        _median(shift=lambda n: n % 2 / 2),
    "values outside the range are left out; they are people below or above, so clip them":
        _median(read=lambda x, low, high: x[(x >= low) & (x <= high)]),
    "a NaN is left out; it counts as low": _median(read=lambda x, low, high: x[~np.isnan(x)]),
    "a NaN is counted as 0; it counts as low": _median(read=lambda x, low, high: np.nan_to_num(x)),
    "a NaN is counted as high; it counts as low": _median(read=lambda x, low, high: np.where(np.isnan(x), high, x)),
    "an infinite value is counted as low; only a NaN is":
        _median(read=lambda x, low, high: np.where(np.isfinite(x), x, low)),
    "an infinite value is left out; it is a person below or above, so clip it":
        _median(read=lambda x, low, high: x[~np.isinf(x)]),
    "equal values count only once; each is a person below or above":
        _median(read=lambda x, low, high: np.unique(_clip(x, low, high))),
    "the score is centred one half too far to the left": _median(shift=lambda n: 0.5),
    "the score is centred one half too far to the right": _median(shift=lambda n: -0.5),
    "evenly on the range, whatever the values are": _median(0.0),
    "at a large ε the step in the middle is always taken. A large ε needs its noise too": _median(100.0),
}


def _earners(what, values, more, low, high, epsilon, within, share, **settings):
    """`values`, and the same with the values `more`; `share` of the answers are so near the exact median."""
    tables = [(np.array(x, dtype=float), low, high, epsilon) for x in (values, [*values, *more])]
    exact = [float(np.median(_clip(x, low, high))) if len(x) else (low + high) / 2 for x, *_ in tables]
    return Pair(what, *tables, ((len(more) * epsilon, 0.0),), tuple(exact), within=within, share=share, **settings)


FOUR = [3.0, 1.0, 4.0, 2.0]
TWELVE = [-5.0, 3.0, 3.5, 40.0, 90.0, 250.0, 30.0, 12.0, 55.0, 120.0, 101.0, 300.0]
INFINITE = [*np.linspace(700, 900, 21), *2 * [-math.inf, *5 * [math.inf], *4 * [-1e9]]]
ENDS = np.repeat([0.0, 0.8, 10.0], [43, 13, 54])
EARNERS = [
    _earners("no values / one value", [], [2.001], 2.0, 3.0, 1.0, 1.0, 0.99, runs=600),
    _earners("four values / the same and one far above", [8.0, 1.0, 4.0, 2.0], [99.0], 0.0, 10.0, 1.0, 2.5, 0.3,
             runs=1500, law=True),
    _earners("twelve values, some outside the range / the same and 60", TWELVE, [60.0], 0.0, 100.0, 0.4, 40.0, 0.5,
             runs=1200, twice=300, law=True),
    _earners("five equal values / six", [7.0] * 5, [7.0], -5.0, 10.0, 1.5, 3.0, 0.3, runs=600, law=True),
    _earners("four values / the same and three NaN", FOUR, [math.nan] * 3, -3.0, 10.0, 1.0, 2.5, 0.3,
             runs=800, law=True),
    _earners("41 values, twelve of them infinite / the same and a trillion", INFINITE, [1e12], 0.0, 1000.0, 1.0, 40.0,
             0.8, runs=400),
    _earners("1,200 values / the same and two at the top", list(np.linspace(100, 900, 1200)), [900.0] * 2, 0.0, 1000.0,
             1.0, 1.0, 0.77, runs=1000, law=True),
    _earners("110 values, nearly all at the ends / the same and 23 at the bottom", ENDS, [0.0] * 23, 0.0, 10.0, 0.1,
             10.0, 0.99, runs=1100, law=True),
    _earners("two equal values / the same and two at the top", [1.0, 1.0], [9.0, 9.0], -8.0, 10.0, 1.0, 18.0, 0.99,
             runs=3500),
    _earners("one value / the same and one at the bottom", [1.0], [0.0], 0.0, 10.0, 2.0, 10.0, 0.99, runs=4500),
    _earners("two values / the same and one at the bottom", [1.0, 9.0], [0.0], 0.0, 10.0, 2.0, 10.0, 0.99, runs=3500),
    _earners("one NaN / the same and one at the top", [math.nan], [10.0], 0.0, 10.0, 1.0, 10.0, 0.99, runs=600),
    _earners("two values above the range / the same and one below", [-0.5, 3.0], [-99.0], -8.0, -1.0, 1.0, 7.0, 0.99,
             runs=600),
    _earners("60 values in the middle, ε = 0.05 / the same and five at the top", np.linspace(400, 600, 60),
             [1000.0] * 5, 0.0, 1000.0, 0.05, 1000.0, 0.99, runs=2500, law=True, looks=("own", "far")),
    _earners("three values next to 5, ε = 6 / the same and 9", [4.99, 5.0, 5.01], [9.0], 0.0, 10.0, 6.0, 10.0, 0.99,
             runs=2000, law=True),
]


def _paid(median, arguments, rng, ledgers=None):
    """The answer, which must be paid for; `ledgers` keeps what was written into the ledger on each table."""
    *table, epsilon = arguments
    budget, written = Budget(10 * epsilon), _key(arguments)
    got = answered(median, *table, epsilon, budget, rng)
    if ledgers is not None:
        ledgers.setdefault(written, set()).add(tuple((e.epsilon, e.delta, e.label, e.block) for e in budget.ledger))
    if not math.isclose(budget.spent, epsilon, rel_tol=1e-9):
        raise Wrong(f"the ledger says {budget.spent:g} was spent, but the answer costs {epsilon:g}")
    (_, low, high), x = table, np.asarray(got)
    if x.dtype.kind in "iuf" and x.size == 1 and not low <= x.item() <= high and np.isfinite(x):
        raise Wrong(f"an answer of {x.item():g} lies outside the public range; clip the values first")
    return got


def _key(arguments):
    values, *given = arguments
    return values.tobytes(), *given


def _same_ledgers(ledgers):
    """`Wrong` where the ledger, which everybody may read, is another one on the other table of a pair."""
    for pair in EARNERS:
        one, two = (ledgers[_key(table)] for table in (pair.one, pair.two))
        if len(one) == len(two) == 1 and one != two:
            (one,), (two,) = one, two
            said = [", ".join(f"{epsilon:g} {label!r}" for epsilon, _, label, _ in entries) for entries in (one, two)]
            raise Wrong(f"on ({pair.name(0)}) the ledger says {said[0]}, and on ({pair.name(1)}) {said[1]}. The "
                        "ledger is published too, so its entries and their labels must not depend on the values")


def _overdrawn(median, values, low, high, epsilon):
    """What happens when there is too little on the ledger."""
    rng, budget = np.random.default_rng(94), Budget(epsilon / 2)
    before = rng.bit_generator.state
    try:
        result = median(np.array(values), low, high, epsilon, budget, rng)
    except Exception:
        if rng.bit_generator.state != before:
            raise Wrong("the noise is drawn before the budget is charged. Then anyone who repeats the call sees "
                        "draws that were never charged") from None
        return
    raise Wrong(f"the budget has {epsilon / 2:g} and epsilon is {epsilon:g}, but an answer is given ({result}): spend "
                "first, and let its error through")


def _published(median):
    rng = np.random.default_rng(95)
    if answered(median, np.full(2000, math.e), 0.0, 10.0, 1.0, Budget(1.0), rng) == math.e:
        raise Wrong(f"2,000 equal values, {math.e:.4f}, came out exactly: a step of length 0 must have no chance at "
                    "all, or it publishes a value")
    values = np.sqrt([2.0, 3, 5, 7, 11, 13, 17, 19])
    got = [answered(median, values.copy(), 0.0, 10.0, 1.0, Budget(1.0), rng) for _ in range(1500)]
    exact = np.isin(np.array(got, dtype=float).ravel(), values)
    if exact.sum() > 1:
        raise Wrong(f"in {exact.sum()} of {exact.size:,} calls a value of the table came out exactly, with all its "
                    "digits; draw a number inside of the step")


@checker
@looks_for("rare", order="one number comes out", shared="one number comes out", contents="each row is one number",
           straddles="only the range decides, and values lie on both sides of it", quotient="the rate is ε itself",
           zero="the answer is drawn from the range, and no noise is added")
def em_median(median):
    """`median(values, low, high, epsilon, budget, rng)`: by the exponential mechanism at rate epsilon."""
    answered(median, np.array([8.0, 1.0, 4.0]), 0.0, 10.0, 1.0, Budget(10.0), np.random.default_rng(93))
    _overdrawn(median, [8.0, 1.0, 4.0, 2.0], 0.0, 10.0, 1.0)
    ledgers = {}

    def paid(function, arguments, rng):          # the checker's own mistakes are called too
        return _paid(function, arguments, rng, ledgers if function is median else None)

    seen = battery(median, Numbers(), EARNERS, call=paid, mistakes=MEDIANS, right=MEDIAN, seed=93)
    _same_ledgers(ledgers)
    _published(median)
    return f"paid for before it is drawn; {seen}"
