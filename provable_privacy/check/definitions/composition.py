"""Checkers of the section on composition: budgets and ledgers."""
import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from provable_privacy.battery import Numbers, Pair, battery, drawn, looks_for
from provable_privacy.battery.makers import again, noisy, normal
from provable_privacy.entries import Number, Together, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["comp_crossover", "comp_delta", "comp_ledger", "comp_overlap", "comp_split", "comp_user"]


# ---------------------------------------------------------------------------------- basic against advanced composition

WINS = [(0.5, 1e-5), (0.1, 1e-5), (0.01, 1e-9), (0.3, 0.01), (0.6, 1e-6), (0.6925, 1e-5), (0.6, 0.5)]
NEVER = [(0.7, 1e-5), (1.0, 1e-5), (3.0, 0.1)]                           # from ln 2 on


def _first(gap=lambda epsilon: 2 - math.exp(epsilon), factor=2):
    """The first k with gap(epsilon) sqrt(k) > sqrt(factor ln(1/delta)), right unless told otherwise."""
    return lambda epsilon, delta: math.floor(factor * math.log(1 / delta) / gap(epsilon) ** 2) + 1


FIRST_MISTAKES = {
    "that is the first k for the sharper bound, with tanh": _first(lambda epsilon: 1 - math.tanh(epsilon / 2)),
    "a factor 2 before the square root is not in the theorem": _first(factor=8),
}


@checker
def comp_crossover(first_win):
    """`first_win(epsilon, delta)`: smallest k with eps sqrt(2 k ln(1/delta)) + k eps (e^eps - 1) < k eps, or None."""
    for epsilon, delta in WINS:
        if ask(first_win, epsilon, delta) is None:
            raise Wrong(f"epsilon = {epsilon:g}, delta = {delta:g}: there is such a k, because the square root "
                        "grows more slowly than k, and e^epsilon - 1 is below 1")
    on_cases(first_win, WINS, _first(), FIRST_MISTAKES, whole=True, rtol=0, what="k", otherwise=lambda got, right, *_:
             f"advanced composition {'does not win yet' if got < right else f'already wins at {right:,}'}")
    for epsilon, delta in NEVER:
        if (got := ask(first_win, epsilon, delta)) is not None:
            raise Wrong(f"epsilon = {epsilon:g}, delta = {delta:g}: the answer is None, not {got!r}: "
                        "the term k epsilon (e^epsilon - 1) alone is already above k epsilon"[:200])
    return "the right k in every case, and None from ln 2 on"


# ----------------------------------------------------------------------------------------------- many equal releases

TOTALS = [(0.7, 0.5, 4), (0.0, 1.0, 1), (1.0, 0.5, 4), (4.0, 0.1, 100), (0.0, 0.1, 50), (25.0, 0.5, 100),
          (11.0, 0.1, 100)]
LARGE = 60.0, 0.1, 10_000


def _delta(weigh=lambda rest: -np.expm1(np.minimum(rest, 0)), lie=0):
    """The mean of weigh(total - L), where L is the loss of k randomized responses; right unless told otherwise."""
    def delta(total, epsilon, k):
        lies = np.arange(k + 1)
        losses, log_ways = (k - 2 * lies) * epsilon, gammaln(k + 1) - gammaln(lies + 1) - gammaln(k - lies + 1)
        log_law = log_ways - lies * epsilon - k * math.log1p(math.exp(-epsilon)) - lie * losses
        return float(np.exp(log_law) @ weigh(total - losses))

    return delta


DELTA_MISTAKES = {
    "that is the probability of a loss above the total; the smallest delta weighs such a loss L by 1 - e^(total - L)":
        _delta(lambda rest: rest < 0),
    "losses below the total are counted too, with a negative weight: take only 1 - e^(total - L) > 0":
        _delta(lambda rest: -np.expm1(np.minimum(rest, 700))),
    "the law of the losses is that of the wrong world: truths have probability e^epsilon/(1 + e^epsilon)":
        _delta(lie=1),
}


@checker
def comp_delta(delta):
    """`delta(total, epsilon, k)`: exact delta of k randomized responses at `epsilon`, for the total epsilon `total`."""
    on_cases(delta, TOTALS, _delta(), DELTA_MISTAKES, atol=1e-15, otherwise=lambda got, right, total, epsilon, k:
             "above k epsilon nothing is left" if total > k * epsilon else "")
    if not np.isfinite(answered(delta, *LARGE)):
        raise Wrong("for k = 10,000 expected a finite number: work with the logarithm of the binomial law")
    on_cases(delta, [LARGE], _delta())
    return "exact in all cases, up to k = 10,000"


# ------------------------------------------------------------------------------------------------ parallel composition

AGES = {"under 40": (0.3, range(40)), "30 to 50": (0.2, range(30, 51)), "45 or more": (0.1, range(45, 110))}
TOUCHED = {                                      # release -> for each kind of smoker, what is counted and its epsilon
    "zips": [{("zip", code): 0.5} for code in range(8)],
    "both": [{("zip", code): 0.5, ("group", group): 0.5} for code in range(8) for group in range(10)],
    "ages": [{name: epsilon for name, (epsilon, ages) in AGES.items() if age in ages} for age in range(110)],
}


def _costs(touched):
    """The epsilon under add/remove and under replace, by trying all people and all pairs of people."""
    touched = [{}, *touched]                     # a person who does not smoke, too
    return (max(sum(counts.values()) for counts in touched),
            max(sum({**one, **two}[name] for name in one.keys() ^ two.keys()) for one in touched for two in touched))


@entries("0.5 and 1, 1 and 2, 0.5 and 0.6: under add/remove two claims of three were right, one of them not by "
         "parallel composition")
def comp_overlap():
    """`answer`: release -> (epsilon under add/remove, epsilon under replace)."""
    hints = {
        "zips": ("a person is counted in at most one ZIP", "a smoker who moves leaves one count and enters another"),
        "both": ("a smoker is counted once by ZIP and once by age",
                 "another ZIP and another age group: how many counts move?"),
        "ages": ("list the counts that a smoker of each age is in: no age is in all three",
                 "replace a smoker of 35 by one of 60: which counts move?"),
    }
    adjacencies = "under add/remove", "under replace"
    return {release: Together({name: Number(cost, hint, tolerance=1e-9)
                               for name, cost, hint in zip(adjacencies, _costs(TOUCHED[release]), both)})
            for release, both in hints.items()}


# ---------------------------------------------------------------------------------------------- a bounded count of rows

USER = "<U8"                                     # "user 101"


@functools.cache
def _counted(users):
    return np.unique(np.frombuffer(users, USER), return_counts=True)[1]


def _sizes(users):
    """How many ratings each user has; remembered, as the tables are few."""
    return _counted(users.tobytes())


def _bounded(users, most, epsilon):
    return int(np.minimum(_sizes(users), most).sum())


def _scale(users, most, epsilon):
    return most / epsilon


COUNT = noisy(_bounded, _scale)
COUNTS = {
    "there is no noise": noisy(_bounded, lambda users, most, epsilon: 0),
    "the noise protects one rating, not a user with all of theirs: one user moves the count by up to `most`":
        noisy(_bounded, lambda users, most, epsilon: 1 / epsilon),
    "the noise depends on the user with the most ratings, and so tells about them: only the bound `most` may enter":
        noisy(_bounded, lambda users, most, epsilon: _sizes(users).max(initial=1) / epsilon),
    "private, but with about twice the noise it needs: under add/remove one user moves the bounded count by `most`, "
    "not by twice that": noisy(_bounded, lambda users, most, epsilon: 2 * most / epsilon),
    "private, but with about one and a half times the noise it needs: the scale is `most` divided by epsilon":
        noisy(_bounded, lambda users, most, epsilon: 1.6 * most / epsilon),
    "private, but with more noise than it needs: one user moves the bounded count by `most`, not by one more":
        noisy(_bounded, lambda users, most, epsilon: (most + 1) / epsilon),
    "the noise is half of what it must be": noisy(_bounded, lambda users, most, epsilon: most / epsilon / 2),
    "the scale is upside down: it is sensitivity divided by epsilon":
        noisy(_bounded, lambda users, most, epsilon: epsilon / most),
    "there is no noise when the table is empty. Do you add one noise for each user? Add one noise to the whole "
    "answer, always": lambda users, most, epsilon, rng:
        _bounded(users, most, epsilon) + rng.laplace(scale=most / epsilon, size=len(_sizes(users))).sum(),
    "normal noise has no ε at all: its tails fall too fast":
        noisy(_bounded, lambda users, most, epsilon: 2**0.5 * most / epsilon, normal),
    "all ratings are counted, also those beyond the first `most` of a user, and one user can move that by any number":
        noisy(lambda users, most, epsilon: len(users), _scale),
    "`most` bounds the whole table, not each user": noisy(lambda users, most, epsilon: min(len(users), most), _scale),
    "users are counted, not their ratings": noisy(lambda users, most, epsilon: len(_sizes(users)), _scale),
    "near 0 the results are distributed as if noise were drawn again until the result is not negative, or as if "
    "the absolute value were taken. Drawing again is not private, because how often it happens depends on the "
    "count; an absolute value has a larger error than necessary. Set negative results to 0 instead":
        again(COUNT, lambda out, *table: out < 0),
}


def _table(sizes):
    """Users with so many ratings each, the first rows of everybody before the second rows of anybody."""
    rows = sorted((row, user) for user, size in enumerate(sizes) for row in range(size))
    return np.array([f"user {user}" for _, user in rows], dtype=USER)


def _users(what, common, more, most, epsilon, **settings):
    """Two tables, by the numbers of ratings; the second has the users of `more` as well."""
    one, two = (_table(common), most, epsilon), (_table([*common, *more]), most, epsilon)
    return Pair(what, one, two, ((len(more) * epsilon, 0.0),), (_bounded(*one), _bounded(*two)),
                within=1.69 * most / epsilon, share=0.75, **settings)


MANY = np.random.default_rng(22).integers(1, 20, 100).tolist()           # 950 ratings
CLUBS = [
    _users("nobody / one user with 30 ratings", [], [30], 4, 1.0, runs=12_000, law=True, twice=740),
    _users("one user with one rating / the same and three like them", [1], [1, 1, 1], 1, 0.7, looks=("quotient",)),
    _users("one user with 9 ratings / the same and one with 150", [9], [150], 5, 0.5, looks=("contents",)),
    _users("four users / the same and three with 12 ratings", [2, 4, 1, 6], [12] * 3, 4, 0.7, runs=8000),
    _users("four users / the same and one with two ratings", [3, 3, 3, 3], [2], 100, 1.3),
    _users("five users / the same and one with 9 ratings, ε = 4", [1, 2, 3, 3, 3], [9], 1, 4.0),
    _users("three users / the same and 40 with 5 ratings each, ε = 0.05", [2, 7, 1], [5] * 40, 3, 0.05, runs=2000),
    _users("100 users / the same and two with 40 ratings each", MANY, [40, 40], 20, 1.0, runs=1500,
           looks=("straddles",)),
    *(_users(f"five users / the same and one with 50 ratings, most = {case['most']}, ε = {case['epsilon']:g}",
             [1, 2, 3, 3, 3], [50], runs=2000, looks=("own",), **case)
      for case in drawn(2, 22, most=(2, 30), epsilon=(0.2, 1.5))),
]


@checker
@looks_for("zero", fractions="names come in", negative="names come in", missing="names come in",
           far="no threshold decides", order="one number comes out", shared="one number comes out")
def comp_user(count_ratings):
    """`count_ratings(users, most, epsilon, rng)`: bounded number of ratings, epsilon-DP for whole users."""
    seen = battery(count_ratings, Numbers(), CLUBS, mistakes=COUNTS, right=COUNT, seed=22)
    return f"a user moves the count by at most `most`, and the noise fits; {seen}"


# ------------------------------------------------------------------------------------------------------------- a ledger

@dataclass(frozen=True)
class No:
    """A step that must be refused."""

    step: object                                 # a number, or a dict from groups of ZIPs to numbers: in parallel


CODES = ("34301", "34302", "34303", "34521")
A, B, C, D = (frozenset([code]) for code in CODES)
LEDGERS = [                                      # (what, total, steps, what is left, or None: do not ask)
    ("a new ledger", 1.0, [], 1.0),
    ("a release is charged", 1.0, [0.25], 0.75),
    ("0.8 is more than the 0.75 that is left; a refused release is not charged", 1.0, [0.25, No(0.8)], 0.75),
    ("all that is left can be spent", 1.0, [0.25, No(0.8), 0.75], 0.0),
    ("a negative loss would add to the budget", 1.0, [0.5, No(-1.0), No({A: 0.1, B: -1.0})], 0.5),
    *((f"a loss of {bad:g} must change nothing", 1.0, [0.5, No(bad), No({A: 0.1, B: bad})], 0.5)
      for bad in (0.0, math.nan, math.inf)),
    ("three times 0.1 must fit into 0.3: compare with a little tolerance", 0.3, [0.1, 0.1, 0.1], 0.0),
    ("the tolerance is too large", 0.3, [0.1, 0.1, 0.1, No(1e-6)], 0.0),
]
MORE_LEDGERS = [
    *((f"{0.6 * more:g} is left: keep the losses as they are, a rounded account can be overdrawn", 1.0,
       [1 - 0.6 * more, No(more)], None) for more in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)),
    ("disjoint groups cost the largest epsilon", 1.0, [{A: 0.2, B: 0.3, C: 0.1}], 0.7),
    ("groups that share a ZIP are not parallel: its residents are charged for both", 1.0,
     [{A | B: 0.2, B | C: 0.3}], 0.5),
    ("the first two groups overlap, the third does not: charge the most that any one ZIP is charged", 1.0,
     [{A | B: 0.2, B | C: 0.3, D: 0.4}], 0.5),
    ("no ZIP is in more than two of these three groups", 1.0, [{A | B: 0.1, B | C: 0.1, C | D: 0.1}], 0.8),
    ("a refused parallel release must not be charged, not even in part", 0.5, [No({A: 0.3, A | B: 0.3})], 0.5),
]


def _cost(step):
    """What the resident who is charged most is charged."""
    if not isinstance(step, dict):
        return step
    return max(math.fsum(epsilon for group, epsilon in step.items() if code in group) for code in CODES)


def _evenings():
    """More rows: thirty evenings of releases at random, each looked at after every step."""
    rng = np.random.default_rng(24)

    def eighths(low, high):                      # are exact in binary
        return float(rng.integers(low, high)) / 8

    for _ in range(30):
        total = left = eighths(5, 20)
        steps = []
        for _ in range(15):
            step = eighths(1, 9) if rng.random() < 0.5 else {
                frozenset(code for code in CODES if rng.random() < 0.4) or A: eighths(1, 5) for _ in range(3)}
            what, fits = f"with {left:g} left a release costs {_cost(step):g}", _cost(step) <= left
            steps.append(step if fits else No(step))
            left -= _cost(step) if fits else 0
            yield what, total, steps[:], left


def _take(ledger, step):
    return ledger.parallel(dict(step)) if isinstance(step, dict) else ledger.spend(step)


def _refused(ledger, step):
    """The error with which the ledger refuses, of whatever kind; None where it does not."""
    try:
        _take(ledger, step)
    except Exception as error:
        return error


def _left(ledger):
    value = ask(getattr, ledger, "remaining")
    return float(value() if callable(value) else value)


def _play(MyLedger, what, total, steps, left):
    ledger = ask(MyLedger, total)
    for step in steps:
        must, step = isinstance(step, No), step.step if isinstance(step, No) else step
        error = _refused(ledger, step)
        if (error is not None) != must:
            called = f"parallel({_shown(step)})" if isinstance(step, dict) else f"spend({step:g})"
            raise Wrong(f"{what}: {called} {f'raised {type(error).__name__}: {error}' if error else 'is allowed'}")
    if left is not None and not math.isclose(_left(ledger), left, rel_tol=1e-9, abs_tol=1e-9):
        raise Wrong(f"{what}: remaining should be {left:g}, is {_left(ledger):g}")


def _shown(parts):
    return ", ".join(f"{'+'.join(sorted(group))}: {epsilon:g}" for group, epsilon in parts.items())


def _sold(ledger, price):
    """How many of 1,200 releases are allowed."""
    return sum(_refused(ledger, price) is None for _ in range(1200))


def _watch_the_tolerance(MyLedger):
    empty, nearly = ask(MyLedger, 0.3), ask(MyLedger, 1.0)
    for _ in range(3):
        ask(empty.spend, 0.1)
    for price in (1e-9, 1e-10, 1e-11, 1e-12, 1e-13):         # a tolerance for all of them together ends soon
        sold = _sold(empty, price)
        if sold == 1200:
            raise Wrong("each call allows the tolerance anew, so an empty ledger sells any number of releases of "
                        f"{price:g}. Compare the sum of all losses with the total")
        if sold * price > 2e-9:
            raise Wrong(f"the tolerance is too large: an empty ledger sells {sold:,} releases of {price:g}")
    ask(nearly.spend, 1 - 4e-8)
    if _sold(nearly, 4e-11) > 1060:                          # 1,000 fit
        raise Wrong("with 4e-08 left it sells 1,200 releases of 4e-11: a loss that is rounded away is never charged")


@checker
def comp_ledger(MyLedger):
    """`MyLedger(epsilon)`: `remaining`, `spend(epsilon)`, `parallel({frozenset of ZIPs: epsilon})`, for add/remove."""
    if not isinstance(MyLedger, type):
        raise Wrong(f"expected a class, got {type(MyLedger).__name__}")
    ledger, other = ask(MyLedger, 1.0), ask(MyLedger, 2.0)
    ask(ledger.spend, 0.25)
    if not math.isclose(_left(other), 2.0):
        raise Wrong(f"a second ledger of 2 has {_left(other):g} left after 0.25 is spent from the first")
    for row in LEDGERS:
        _play(MyLedger, *row)
    _watch_the_tolerance(MyLedger)
    for row in (*MORE_LEDGERS, *_evenings()):
        _play(MyLedger, *row)
    return "it adds, it knows what is disjoint, and it refuses before it charges (30 evenings against a model)"


# ------------------------------------------------------------------------------------------------- sharing out a budget

SPLITS = [([0.5, 3, 2, 10], [100, 1, 12.5, 2], 0.3), ([1, 1], [1, 8], 1.0), ([1, 8, 27], [1, 1, 1], 2.0),
          ([4], [7], 0.5)]


def _shares(rule):
    """Epsilons in proportion to rule(weights, squared sensitivities)."""
    def shares(weights, sensitivities, epsilon):
        share = rule(np.array(weights, dtype=float), np.square(sensitivities, dtype=float))
        return epsilon * share / share.sum()

    return shares


SPLIT_MISTAKES = {
    "equal shares: a question with a larger w Δ² gains more from an extra bit of budget": _shares(lambda w, s2: w**0),
    "shares in proportion to the sensitivities make all noises equal, but not the total smallest":
        _shares(lambda w, s2: np.sqrt(s2)),
    "the square root is too much: the derivative has a third power": _shares(lambda w, s2: np.sqrt(w * s2)),
    "in proportion to w Δ² is too much: the derivative has a third power": _shares(lambda w, s2: w * s2),
    "the weights are not used": _shares(lambda w, s2: np.cbrt(s2)),
    "the cube root is of w Δ², and the sensitivity is squared": _shares(lambda w, s2: np.cbrt(w * np.sqrt(s2))),
}


def _ratio(got, best, weights, sensitivities, epsilon):
    """The total, compared with the smallest."""
    totals = [(np.array(weights) * (np.array(sensitivities) / epsilons) ** 2).sum() for epsilons in (got, best)]
    return totals[0] / totals[1]


def _uses_all(got, epsilon):
    return got.min() > 0 and 1 - 1e-6 <= got.sum() / epsilon <= 1 + 1e-9


def _loss(got, best, weights, sensitivities, epsilon):
    if got.min() <= 0:
        return "expected positive numbers"
    if got.sum() > epsilon * (1 + 1e-9):
        return f"the shares sum to {got.sum():g}, more than there is"
    if got.sum() < epsilon * (1 - 1e-6):
        return f"the shares sum to {got.sum():g}: some of the budget is left unused"
    return f"the total is {_ratio(got, best, weights, sensitivities, epsilon):.3f} times the smallest possible"


@checker
def comp_split(split):
    """`split(weights, sensitivities, epsilon)`: the epsilons that minimise the sum of w (sensitivity/epsilon_i)^2."""
    on_cases(split, SPLITS, _shares(lambda w, s2: np.cbrt(w * s2)), SPLIT_MISTAKES, what="the epsilons",
             shape=lambda weights, *_: (len(weights),), otherwise=_loss,
             accepts=lambda got, best, *case: _uses_all(got, case[-1]) and _ratio(got, best, *case) <= 1 + 1e-6)
    return "no other split of the same budget has a smaller total"
