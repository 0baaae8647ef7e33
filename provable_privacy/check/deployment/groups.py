"""Checkers of the section on groups that nobody listed."""
import math

import numpy as np
import pandas as pd

from dplib import partitions
from dplib.mechanisms import gaussian_delta
from provable_privacy.battery import Crowd, Lines, Pair, battery, looks_for, luck, read_lines
from provable_privacy.battery.forms import MISSING
from provable_privacy.battery.laws import compare
from provable_privacy.battery.makers import geometric
from provable_privacy.entries import TrueFalse, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["grp_gaussian", "grp_leaks", "grp_lot", "grp_optimal", "grp_release", "grp_several"]


@entries("what appears, what vanishes and in which order: each is an answer")
def grp_leaks():
    """`answer`: way of publishing -> whether there is no epsilon and no delta below one half."""
    return {
        "minimum": TrueFalse(True, "a name that four people bear is never printed, and with a fifth it always is"),
        "occurring": TrueFalse(True, "a name with one bearer has a line or not; noise on its count does not hide that"),
        "floor": TrueFalse(False, "noise Lap(1) is right for one name per person. The name of a lone person passes "
                                  "5 with probability e^-4/2 = 0.009: that is its delta"),
        "sorted": TrueFalse(True, "take two names with a thousand people each. One more person with the second "
                                  "name changes their order, and both names are nearly certain to be printed"),
        "public": TrueFalse(False, "the list was there before the table, and every name on it gets noise: "
                            "nothing appears or vanishes because of a person"),
        "rarest": TrueFalse(True, "take ten names of a hundred bearers each: "
                            "one bearer more decides for sure which of them is hidden"),
    }


# ---------------------------------------------------------------------------------------------- the best selection

SIZES = [0, 1, 2, 3, 4, 5, 8, 11, 13, 14, 15, 16, 20, 27, 40, 60]
SETTINGS = [(math.log(2), 0.1), (1.0, 1e-6), (0.3, 0.012), (3.0, 1e-4)]


def _selection(step=lambda keep, e, delta: min(e * keep + delta, 1 - (1 - keep - delta) / e, 1.0), ahead=0):
    """The chance of a group of n, person by person."""
    def keep(n, epsilon, delta):
        chance = 0.0
        for _ in range(n + ahead):
            chance = step(chance, math.exp(epsilon), delta)
        return chance

    return keep


def _by_laplace(n, epsilon, delta):
    x = epsilon * (n - 1) - math.log(1 / (2 * delta))
    return 0.0 if n == 0 else math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


SELECTIONS = {
    "that is the chance of passing the threshold with Laplace noise: private, but less than the most": _by_laplace,
    "only the first inequality is used; the chance of hiding must not fall too fast either: "
    "1 - π(n) <= e^ε (1 - π(n + 1)) + δ":
        _selection(lambda keep, e, delta: min(e * keep + delta, 1.0)),
    "this starts with δ for an empty group; π(0) is 0, and the group of a lone person has δ": _selection(ahead=1),
    "one person too few: a group of one appears with probability δ": _selection(ahead=-1),
    "δ is left out of the second inequality: private, but less than the most":
        _selection(lambda keep, e, delta: min(e * keep + delta, 1 - (1 - keep) / e, 1.0)),
}


def _unlike_best(got, right, n, epsilon, delta):
    if got > 1 + 1e-9:
        return "a probability is at most 1"
    most = f"{right:.6g} is the most that is allowed"
    if got > right:
        return f"{most}, so it is not private between {max(n - 1, 0)} and {n} people, or before"
    return f"{most}: private perhaps, but it hides groups without need"


@checker
def grp_optimal(keep):
    """`keep(n, epsilon, delta)`: the largest probability with which a group of n people may appear."""
    on_cases(keep, [(n, *setting) for setting in SETTINGS for n in SIZES], _selection(), SELECTIONS, rtol=0, atol=1e-9,
             what="the chance", otherwise=_unlike_best)
    return "the most that the four inequalities allow, at every size that we tried"


# ------------------------------------------------------------------------------------------------------- one noise

def _publishing(*, wide=1.0, cut=True, again=False, exact=False, shared=False, hide=lambda noisy, count, k: noisy <= k):
    """The release, right unless told otherwise."""
    def publish(counts, epsilon, k, rng):
        groups, true = list(counts), np.array(list(counts.values()), dtype=int)

        def noise():
            if not cut:
                return geometric(rng, 1 / epsilon, true.shape)
            x = np.arange(-k, k + 1)
            weight = np.exp(-epsilon / wide * np.abs(x))
            return rng.choice(x, size=true.shape, p=weight / weight.sum())

        decides = np.full(true.shape, noise()[:1]) if shared and groups else noise()
        prints = 0 if exact else noise() if again else decides
        shown = [not hide(noisy, count, k) for noisy, count in zip(true + decides, true)]
        return {group: y for group, y, there in sorted(zip(groups, true + prints, shown)) if there}

    return publish


PUBLISHED = {
    "a second noise was drawn for the number that is printed: a second release, at an ε of its own":
        _publishing(again=True),
    "the counts that are printed are exact; print the noisy count that decided": _publishing(exact=True),
    "a noisy count of exactly k is printed: a lone person's group then appears far more often than δ":
        _publishing(hide=lambda y, n, k: y < k),
    "a noisy count of k + 1 is also held back: private, but it hides groups without need":
        _publishing(hide=lambda y, n, k: y <= k + 1),
    "the group of a lone person is left out because its true count is 1. With one more person it is a group of "
    "two, and that group appears far more often than δ":
        _publishing(hide=lambda y, n, k: n < 2 or y <= k),
    "nothing is held back: a lone person's group is always there, and δ is 1": _publishing(hide=lambda y, n, k: False),
    "every positive noisy count is printed; it must be above k, or a lone person's group appears far too often":
        _publishing(hide=lambda y, n, k: y <= 0),
    "the true count is compared with k: groups of k and of k + 1 people are then told apart for sure":
        _publishing(hide=lambda y, n, k: n <= k),
    "the noise is not cut off at k: what one person alone makes possible then has more than δ": _publishing(cut=False),
    "the noise has half the scale it needs: e^(-ε|x|) is its law": _publishing(wide=0.5),
    "the noise has twice the scale it needs: private at ε/2, with a larger δ": _publishing(wide=2.0),
    "one noise for all groups: the difference of two counts is exact": _publishing(shared=True),
}
SIZE = 12_000
GROUPS = tuple(f"name {i}" for i in range(SIZE))


def _law(n, epsilon, k):
    """The counts that may be printed, and the probabilities of a hidden line and of each of them."""
    x = np.arange(-k, k + 1)
    weight = np.exp(-epsilon * np.abs(x))
    shown = n + x > k
    return (n + x)[shown], np.append(weight[~shown].sum(), weight[shown]) / weight.sum()


def _chance(n, epsilon, k):
    """The chance with which a group of n appears."""
    return float(_law(n, epsilon, k)[1][1:].sum())


def _names(low, epsilon, k):
    """Groups of `low` people or of one more, each by its own coin; one of 0 is not in the table."""
    def build(coins):
        return {name: low + int(coin) for name, coin in zip(GROUPS, coins) if coin or low}, epsilon, k

    def cells(got, coins):
        values, _ = read_lines(got, GROUPS)
        return np.where(values < MISSING / 2, np.nan, values)

    def published(n):                            # nobody's group never appears, others nearly as often as they may
        return (0.8 * _chance(n, epsilon, k), None) if n else (None, 0.0)

    return Crowd(f"group of {low}, k = {k} / group of {low + 1}, k = {k}", build, cells, SIZE,
                 ((epsilon, _chance(1, epsilon, k)),), (low, low + 1), words=("groups", "printed", "count"),
                 law="exactly", published=(published(low), published(low + 1)),
                 looks=("straddles",) if low in (k, 2 * k) else ())


CROWDS = [_names(3, 1.0, 3), _names(1, 1.0, 3), _names(12, 0.55, 6), _names(0, 1.0, 2)]


def _dict(what, one, two, epsilon, k, **settings):
    keys = _keys(one, two)
    steps = sum(abs(one.get(key, 0) - two.get(key, 0)) for key in keys)
    slack = _chance(1, epsilon, k) * sum(math.exp(epsilon * i) for i in range(steps))
    return Pair(what, (dict(one), epsilon, k), (dict(two), epsilon, k), ((steps * epsilon, slack),),
                tuple([float(table.get(key, 0)) for key in keys] for table in (one, two)), **settings)


def _keys(one, two):
    return tuple(sorted({*one, *two}))


FIRST = {"Zoe Z.": 401, "Ada A.": 400, "Moe M.": 399, "Bea B.": 398}     # as value_counts() writes it
LIMITS = [29, 30, 59, 60, 61, 100, 1000]         # of each three groups; at k = 30 a group above 60 always appears
BELOW = {f"{name} {limit}": limit for limit in LIMITS for name in "abc"}
ABOVE = {name: limit + (name[0] == "b") for name, limit in BELOW.items()}
DICTS = [
    _dict("a dict in the order of its counts / Ada A. has two more and is first",
          FIRST, {"Ada A.": 402} | FIRST | {"Ada A.": 402}, 0.5, 12, runs=3000, twice=800),
    _dict("an empty dict / one group with one person", {}, {"Ada A.": 1}, 1.0, 3, runs=1500),
    _dict("one group of five million / it has one more", {"Ada A.": 5_000_000}, {"Ada A.": 5_000_001}, 2.0, 20,
          runs=1000, looks=("far",)),
    _dict("21 groups of k - 1, k, 2k - 1, 2k, 2k + 1, 100 and 1,000 people / seven of them have one more",
          BELOW, ABOVE, 0.07, 30, runs=1000, looks=("straddles",)),
    _dict("two groups of 2k / the last has one more", {"a": 14, "b": 14}, {"a": 14, "b": 15}, 0.9, 7, runs=1000,
          looks=("straddles",)),
    _dict("eight groups of forty / the same in the opposite order",
          dict.fromkeys("abcdefgh", 40), dict.fromkeys("hgfedcba", 40), 2.0, 4, runs=2000),
]


def _right_law(publish, n, epsilon, k):
    """`Wrong` unless groups of n are printed as often as they should be, with the right counts."""
    got, _ = read_lines(ask(publish, dict.fromkeys(GROUPS, n), epsilon, k, luck(73)), GROUPS)
    values, law = _law(n, epsilon, k)
    out = got[got > MISSING / 2]
    if (strange := out[~np.isin(out, values)]).size:
        raise Wrong(f"of groups of {n}, with k = {k}, some come out with a count that the noise cannot give, such as "
                    f"{strange[0]:g}")
    counts = [SIZE - out.size, *((out == value).sum() for value in values)]
    names = ["the line that is hidden", *(f"a count of {value}" for value in values)]
    compare(counts, law, {}, lambda i: f"of groups of {n}, with k = {k}, {names[i]}")


@checker
@looks_for("quotient", "zero", contents="each person is in one group", fractions="counts of people are whole",
           negative="counts of people are not negative", missing="counts of people are numbers",
           own="k and the scale are given")
def grp_release(publish):
    """`publish(counts, epsilon, k, rng)`: group -> noisy count, for the groups that pass; truncated geometric noise."""
    seen = battery(publish, lambda pair: Lines(_keys(pair.one[0], pair.two[0])), DICTS, crowds=CROWDS,
                   mistakes=PUBLISHED, right=_publishing(), seed=71)
    for case in ((1, 0.1, 6), (2, 1.0, 1), (3, 1.0, 3), (7, 6.0, 3), (13, 0.55, 6)):
        _right_law(publish, *case)
    return f"one noise decides and is printed; {seen}"


# --------------------------------------------------------------------------------------------------- several groups

BOUNDS = [(3, 2, 0.7, 0.2), (1, 1, 1.0, 1e-6), (5, 1, 1.0, 1e-6), (20, 4, 2.0, 0.01)]


def _limit(moved=lambda m, r: m * r, lone=lambda r: r, tail=0.5,
           one=lambda m, delta: -math.expm1(math.log1p(-delta) / m)):
    """Scale and threshold, right unless told otherwise."""
    def limit(m, r, epsilon, delta):
        scale = moved(m, r) / epsilon
        return scale, lone(r) + scale * math.log(tail / one(m, delta))

    return limit


LIMITS = {
    "one person moves m counts: noise of scale r/ε is for one group": _limit(lambda m, r: r),
    "one person adds up to r rows to a group: noise of scale m/ε is for one row": _limit(lambda m, r: m),
    "a lone group holds up to r rows, not 1: it starts nearer to the threshold": _limit(lone=lambda r: 1),
    "a lone group holds r rows, not 0: without r in the threshold each of them passes too often":
        _limit(lone=lambda r: 0),
    "here each of the m lone groups passes with probability δ; but δ is the probability that at least one of them "
    "passes":
        _limit(one=lambda m, delta: delta),
    "δ/m is safe, but not the largest: 1 - (1 - δ₁)^m = δ allows a little more": _limit(one=lambda m, delta: delta / m),
    "Laplace noise exceeds x with probability ½ e^(-x/b): the ½ is missing, and the threshold is too high":
        _limit(tail=1),
    "this is Gaussian noise; the exercise asks for Laplace noise": lambda m, r, epsilon, delta:
        partitions.gaussian_threshold(epsilon=epsilon, delta=delta, num_groups=m, per_group=r)[:2],
}


def _unlike_limit(got, right, m, r, epsilon, delta):
    if got[0] < right[0] * (1 - 1e-6):
        return "the noise is too small: one person moves the counts by m r in all"
    if got[0] > right[0] * (1 + 1e-6):
        return f"private perhaps, but a scale of {right[0]:g} is enough"
    true = partitions.threshold_delta("laplace", got[1], epsilon=epsilon, num_groups=m, per_group=r)
    return f"the δ of this threshold is {true:.4g}"


@checker
def grp_several(limit):
    """`limit(m, r, epsilon, delta)`: scale and smallest threshold of Laplace noise, r rows in each of m groups."""
    on_cases(limit, BOUNDS, _limit(), LIMITS, shape=lambda *case: (2,), what="scale and threshold",
             otherwise=_unlike_limit)
    return "exactly δ for a person who is alone in all groups, and for nobody more"


THRESHOLDS = [(1.0, 4.22, 21.1, 1), (1.0, 25.0, 101.6, 20), (1.0, 18.0, 101.6, 20), (1.0, 18.9, 99.0, 20),
              (0.1, 4.0, 11.0, 6), (0.05, 5.1, 10.7, 8), (0.05, 1.65, 3.0, 8), (2.0, 1.0, 1.5, 3), (0.5, 2.5, 40.0, 4),
              (1.0, 3.0, -2.0, 2)]


def _threshold_delta(epsilon, sigma, threshold, m):
    return partitions.threshold_delta("gaussian", threshold, epsilon=epsilon, scale=sigma, num_groups=m)


def _hides(sigma, threshold):
    """p, the chance that a lone group does not show."""
    return 0.5 * math.erfc(-(threshold - 1) / sigma / math.sqrt(2))


def _lone(sigma, threshold, m):
    """The chance that one of m lone groups shows."""
    return 1 - _hides(sigma, threshold) ** m


def _shared(epsilon, sigma, m):
    """The delta of m counts that move by 1 each."""
    return gaussian_delta(epsilon, sigma=sigma / math.sqrt(m)) if m else 0.0


DELTAS = {
    "the two dangers are added up; no person has all groups alone and all groups shared":
        lambda e, s, t, m: _lone(s, t, m) + _shared(e, s, m),
    "this is the noise alone, for a person whose groups are all shared; what if some are theirs alone?":
        lambda e, s, t, m: _shared(e, s, m),
    "this is the chance that a lone group shows, for a person who is alone everywhere; what if the groups are shared?":
        lambda e, s, t, m: _lone(s, t, m),
    "if no lone group appears, this outcome speaks against the person by the factor p^j. So the shared groups must "
    "be compared at ε - j ln p, not at ε":
        lambda e, s, t, m: max(_lone(s, t, j) + _hides(s, t) ** j * _shared(e, s, m - j) for j in range(m + 1)),
    "the shared groups count only if no lone group shows: the factor p^j is missing": lambda e, s, t, m:
        max(_lone(s, t, j) + _shared(e - j * math.log(_hides(s, t)), s, m - j) for j in range(m + 1)),
    "m shared groups move the counts by √m in L2, not by m":
        lambda e, s, t, m: max(_lone(s, t, m), _shared(e, s, m**2)),
    "m shared groups move the counts by √m, not by 1": lambda e, s, t, m: max(_lone(s, t, m), _shared(e, s, 1)),
    "one lone group is counted; there may be m of them": lambda e, s, t, m: max(_lone(s, t, 1), _shared(e, s, m)),
}


@checker
def grp_gaussian(exact_delta):
    """`exact_delta(epsilon, sigma, threshold, m)`: smallest delta of Gaussian noise and a threshold, for m groups."""
    on_cases(exact_delta, THRESHOLDS, _threshold_delta, DELTAS, rtol=1e-5, what="delta",
             below="too small, a false promise", above="safe, but too large")
    return "the worst mixture of lone and shared groups, in all cases that we tried"


# ------------------------------------------------------------------------------------------------- a few, at random

PEOPLE, RUNS = 1500, 3
FAR = 5.5 * math.sqrt(0.25 / PEOPLE)             # 5.5 standard deviations of one run; the means of several are nearer
SOME = [("a", 1), ("a", 2), ("a", 3), ("b", 2), ("a", 2), ("a", 2), ("c", 9), ("b", 2), ("c", 8)]
OWN = [(f"user {i}", f"{which} of {i}") for i in range(PEOPLE) for which in ("first", "second", "second")]
COMMON = [(f"user {i}", film) for i in range(PEOPLE) for film in ("first film", "second film")]
TABLES = [                                       # in words, the rows, and those of one user more
    (f"{PEOPLE:,} people with two films of their own, the second twice", OWN,
     [("one more", f"second of {i}") for i in range(PEOPLE)]),
    (f"{PEOPLE:,} people with the same two films", COMMON,
     [("one more", "second of 0"), ("one more", "second film")]),
]
SHARED = ["first film", "second film", "third film", "fourth film"]
FEW = [                                          # users, films of each, most, and how many times it is asked
    (7, 2, 1, 60), (60, 3, 2, 8), (300, 4, 3, 4),
]
BLOCKS = (1, PEOPLE // 2)                        # of users so far apart in a list the choices are compared


def _kept(keep_some, rows, most, rng, what):
    """The pairs that are kept, as a table; `Wrong` if they are not what may be kept."""
    table = pd.DataFrame(rows, columns=["user", "film"])
    got = answered(keep_some, table.copy(), most, rng)
    if not isinstance(got, pd.DataFrame) or not {"user", "film"} <= set(got.columns):
        raise Wrong(f"expected a table with the columns user and film, got {type(got).__name__}")
    got = got[["user", "film"]]
    pairs, there = (set(map(tuple, one.to_numpy().tolist())) for one in (got, table))
    if not pairs <= there:
        raise Wrong(f"{what}: {min(pairs - there)} is kept, and is not in the table")
    if len(pairs) < len(got):
        raise Wrong(f"{what}: a pair of user and film is kept twice; one user then adds more than 1 to a film")
    may = table.drop_duplicates().groupby("user").size().clip(upper=most)
    size = got.groupby("user").size().reindex(may.index, fill_value=0)
    for user in size.index[size > may][:1]:
        raise Wrong(f"{what}, most = {most}: {size[user]} films of user {user!r} are kept")
    for user in size.index[size < may][:1]:
        raise Wrong(f"{what}, most = {most}: {size[user]} films of user {user!r} are kept, and {may[user]} could be. "
                    "Is the bound on the whole table, or on the rows before each pair is made unique? "
                    "Or may a draw take the same film again?")
    return got[got.user != "one more"]


def _same_without_rng(keep_some, what, before, others):
    """`Wrong` if an answer that takes nothing from `rng` keeps other rows of a user because of other users."""
    def kept(rows, seed):
        return set(map(tuple, _kept(keep_some, rows, 1, luck(seed), what).to_numpy().tolist()))

    first = kept(before, 74)
    if first != kept(before, 75):
        return
    for how, rows in others.items():
        if moved := len(first - kept(rows, 75)):
            raise Wrong(f"{what}: nothing is taken from rng, and {how} {moved:,} users keep another film. So the "
                        "choice depends on the places of the rows or on the size of the table, which other people "
                        "change. Draw from rng, or from a hash of user and film")


def _choices(keep_some, rows, rng, what):
    """In each of some runs, whether a user keeps the first film: a row for each run, the planted user left out."""
    users = [user for user in dict.fromkeys(user for user, _ in rows) if user != "one more"]
    kept = [_kept(keep_some, rows, 1, rng, what).set_index("user").film for _ in range(RUNS)]
    return np.array([films.reindex(users).str.startswith("first") for films in kept], dtype=bool), users


def _each_alone(chosen, users, what):
    """`Wrong` if users who stand near each other, or half a list apart, choose alike or in turn."""
    expected = 2 * chosen.mean() * (1 - chosen.mean())
    for order in (np.arange(len(users)), np.argsort(users)):
        for apart in BLOCKS:
            one, two = chosen[:, order[apart:]], chosen[:, order[:-apart]]
            if abs((one != two).mean(axis=1) - expected).max() > FAR * math.sqrt(PEOPLE / one.shape[1]):
                raise Wrong(f"{what}: users {apart} places apart too often choose alike, or in turn. One more user "
                            "changes these places, and with them the choices. Each user needs a choice of their own")


def _in_proportion(keep_some, users, films, most, times, rng):
    """`Wrong` if a film that all have seen is kept too often or too rarely, without or with one user more."""
    rows = [(f"user {i}", film) for i in range(users) for film in SHARED[:films]]
    what, share, far = f"{users} people with the same {films} films, most = {most}", most / films, None
    for more in ([], [("one more", SHARED[films - 1])], [("one more", SHARED[0])]):
        kept = [_kept(keep_some, rows + more, most, rng, what) for _ in range(times)]
        if far is None:
            lucky = len({frozenset(map(tuple, one.to_numpy().tolist())) for one in kept}) > 1
            far = 6 * math.sqrt(0.25 / (users * (times if lucky else 1)))
        for film in (SHARED[0], SHARED[films - 1]):
            seen = float(np.mean([(one.film == film).sum() / users for one in kept]))
            if abs(seen - share) > far:
                which = f"{film} when one user more has seen the {more[0][1]}" if more else film
                raise Wrong(f"{what}: {seen:.0%} keep the {which}, and {share:.0%} should. Is the choice "
                            "fair, and is it independent of all other users?")


NO_NOISE = "no noise is added"


@checker
@looks_for("size", "empty", "contents", "straddles", "shared", fractions="the table holds names",
           negative="the table holds names", missing="each row has a user and a film", far=NO_NOISE, small=NO_NOISE,
           large=NO_NOISE, quotient=NO_NOISE, zero=NO_NOISE, own=NO_NOISE, order="the rows are counted, not published",
           type="the rows are counted, not published", calls="a fixed key may choose")
def grp_lot(keep_some):
    """`keep_some(table, most, rng)`: at most `most` films of each user, at random, each pair once."""
    rng, mix = luck(72), np.random.default_rng(72)
    for most in (1, 2, 5):
        _kept(keep_some, SOME, most, rng, "three users, some rows twice")
    for rows in ([], [("a", 1)]):
        _kept(keep_some, rows, 2, rng, f"a table with {len(rows)} rows")
    for what, rows, more in TABLES:
        chosen, users = _choices(keep_some, rows, rng, what)
        share, mixed = float(chosen.mean()), [rows[i] for i in mix.permutation(len(rows))]
        first = f"{what}: {share:.0%} keep the first of them"
        if np.std(chosen.mean(axis=1)) > 0.2:
            raise Wrong(f"{what}: in one run nearly all keep the first, in another hardly anyone: all users share "
                        "one random choice. This is private, but the counts depend on that one choice. Each user "
                        "needs a choice of their own")
        with_more = float(_choices(keep_some, rows + more, rng, what)[0].mean())
        if abs(with_more - share) > 2 * FAR:
            raise Wrong(f"{first}, and {with_more:.0%} if one more user has seen the second: the choice depends on "
                        "what others have seen, and one user changes the rows of many")
        others = [_choices(keep_some, other, rng, what)[0] for other in (rows[::-1], mixed)]
        if max(abs(float(other.mean()) - share) for other in others) > 2 * FAR:
            raise Wrong(f"{first}, and {others[0].mean():.0%} if the table comes in the opposite order: the choice "
                        "depends on the order of the table, which others decide")
        if abs(share - 0.5) > FAR:
            raise Wrong(f"{first}: private, but not fair, and the counts will not be in proportion")
        _same_without_rng(keep_some, what, rows,
                          {"with one user more": rows + more, "with the rows in another order": mixed})
        if (chosen != chosen[0]).any():          # there is luck in it
            _each_alone(chosen, users, what)
            surplus = 2 * np.concatenate([chosen, *others]).sum(axis=1) - PEOPLE
            if abs(surplus).max() <= 3:          # once in sixteen runs, if each chooses alone
                raise Wrong(f"{what}: in each of {len(surplus)} runs exactly as many users keep one film as the "
                            "other. Users who choose alone do not do that: here the choice depends on what others "
                            "keep")
    for case in FEW:
        _in_proportion(keep_some, *case, rng)
    return "at most that many of each user, by a random choice that nobody else can change"
