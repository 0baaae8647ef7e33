"""Checkers of chapter 7, groups that nobody listed."""
import math

import numpy as np
import pandas as pd

from dplib import partitions
from dplib.mechanisms import gaussian_delta
from provable_privacy.battery import Crowd, Lines, Pair, battery, luck, read_lines
from provable_privacy.battery.forms import MISSING
from provable_privacy.battery.laws import compare
from provable_privacy.speech import Wrong, answered, ask, checker, compare_dict, number, numbers

__all__ = ["grp_gaussian", "grp_leaks", "grp_lot", "grp_optimal", "grp_release", "grp_several"]

LISTS = {                                        # whether there is no epsilon and no delta below one half, and why
    "minimum": (True, "a name that four people bear is never printed, and with a fifth it always is"),
    "occurring": (True, "a name with one bearer is a line that is there or not; noise on its count does not hide that"),
    "floor": (False, "noise Lap(1) is right for one name per person, and a lone person's name passes 5 with probability e^-4/2 = 0.009: that is its delta"),
    "sorted": (True, "take two names with a thousand bearers each: one bearer more of the second turns their order, and both are nearly sure to be printed"),
    "public": (False, "the list was there before the table, and every name on it gets noise: nothing appears or vanishes because of a person"),
    "rarest": (True, "take ten names of a hundred bearers each: one bearer more decides for sure which of them is hidden"),
}


@checker
def grp_leaks(answer):
    """`answer`: way of publishing -> whether there is no epsilon and no delta below one half."""
    def why(name, said):
        if not isinstance(said, (bool, np.bool_)):
            return f"expected True or False, got {said!r}"
        return LISTS[name][1]

    compare_dict(answer, {name: leaks for name, (leaks, _) in LISTS.items()}, why)
    return "what appears, what vanishes and in which order: each is an answer"


# -------------------------------------------------------------------------------------------------------------- the best selection

def _recursion(n, epsilon, delta, start=0.0, fade=True):
    keep = start
    for _ in range(n):
        grow = math.exp(epsilon) * keep + delta
        keep = min(grow, 1 - math.exp(-epsilon) * (1 - keep - delta), 1.0) if fade else min(grow, 1.0)
    return keep


def _by_laplace(n, epsilon, delta):
    x = epsilon * (n - 1) - math.log(1 / (2 * delta))
    return 0.0 if n == 0 else math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


SELECTIONS = {
    "this is the chance of passing the threshold with Laplace noise: private, and less than could be": _by_laplace,
    "only the first inequality is used: the chance of hiding must not fall too fast either, 1 - π(n) <= e^ε (1 - π(n + 1)) + δ":
        lambda n, epsilon, delta: _recursion(n, epsilon, delta, fade=False),
    "this begins with δ for a group of nobody; π(0) is 0, and a lone person's group has δ": lambda n, epsilon, delta: _recursion(n + 1, epsilon, delta),
    "one person too few: a group of one appears with probability δ": lambda n, epsilon, delta: _recursion(max(n - 1, 0), epsilon, delta),
    "δ is left out of the second inequality: private, and less than could be":
        lambda n, epsilon, delta: _without_delta(n, epsilon, delta),
}


def _without_delta(n, epsilon, delta):
    keep = 0.0
    for _ in range(n):
        keep = min(math.exp(epsilon) * keep + delta, 1 - math.exp(-epsilon) * (1 - keep), 1.0)
    return keep


@checker
def grp_optimal(keep):
    """`keep(n, epsilon, delta)`: the largest probability with which a group of n people may appear, one group per person."""
    settings = [(math.log(2), 0.1), (1.0, 1e-6), (0.3, 0.012), (3.0, 1e-4)]
    sizes = [0, 1, 2, 3, 4, 5, 8, 11, 13, 14, 15, 16, 20, 27, 40, 60]
    for epsilon, delta in settings:
        said = {n: number(answered(keep, n, epsilon, delta), f"the chance of a group of {n}") for n in sizes}
        right = {n: _recursion(n, epsilon, delta) for n in sizes}
        off = [n for n in sizes if abs(said[n] - right[n]) > 1e-9 + 1e-6 * min(right[n], 1 - right[n] if right[n] < 1 - 1e-9 else 1)]
        if not off:
            continue
        n = off[0]
        case = f"at ε = {epsilon:.4g}, δ = {delta:g} a group of {n}: {said[n]:.6g}, and {right[n]:.6g} is the most that is allowed"
        for message, rival in SELECTIONS.items():
            if all(math.isclose(said[n], rival(n, epsilon, delta), rel_tol=1e-6, abs_tol=1e-9) for n in sizes):
                raise Wrong(f"{case}; {message}")
        if said[n] > 1 + 1e-9:
            raise Wrong(f"{case}; a probability is at most 1")
        if said[n] > right[n]:
            raise Wrong(f"{case}; so it is not private, between {max(n - 1, 0)} and {n} people or before")
        raise Wrong(f"{case}: private perhaps, but groups are hidden for nothing")
    return "the most that the four inequalities allow, at every size that we tried"


# -------------------------------------------------------------------------------------------------------------- one noise

def _noise(rng, size, epsilon, k, wide=1.0, cut=True):
    if not cut:
        p = -math.expm1(-epsilon / wide)
        return rng.geometric(p, size) - rng.geometric(p, size)
    x = np.arange(-k, k + 1)
    weight = np.exp(-epsilon / wide * np.abs(x))
    return rng.choice(x, size=size, p=weight / weight.sum())


def _publishing(*, wide=1.0, cut=True, again=False, exact=False, hide=lambda noisy, count, k: noisy <= k, shared=False, whole=True, order=sorted):
    """The release, right unless told otherwise."""
    def publish(counts, epsilon, k, rng):
        groups, size = list(counts), len(counts)
        true = np.array(list(counts.values()), dtype=int)
        noise = _noise(rng, size, epsilon, k, wide, cut) if whole else np.clip(rng.laplace(scale=1 / epsilon, size=size), -k, k)
        noise = np.broadcast_to(noise[:1], noise.shape) if shared else noise
        shown = true if exact else true + (_noise(rng, size, epsilon, k, wide, cut) if again else noise)
        lines = {group: y for group, y, z, n in zip(groups, shown, true + noise, true) if not hide(z, n, k)}
        return {group: lines[group] for group in (sorted(lines) if order is sorted else order(lines, counts))}

    return publish


PUBLISHED = {
    "a second noise was drawn for the number that is printed: a second release, at an ε of its own": _publishing(again=True),
    "the counts that are printed are exact; print the noisy count that decided": _publishing(exact=True),
    "a noisy count of exactly k is printed: a lone person's group then appears far more often than δ": _publishing(hide=lambda y, n, k: y < k),
    "a noisy count of k + 1 is held back, too: private, and groups are hidden for nothing": _publishing(hide=lambda y, n, k: y <= k + 1),
    "a lone person's group is left out by its true count: a group of two, which it becomes with one person more, then appears far more often than δ":
        _publishing(hide=lambda y, n, k: n < 2 or y <= k),
    "nothing is held back: a lone person's group is always there, and δ is 1": _publishing(hide=lambda y, n, k: False),
    "every positive noisy count is printed; it must be above k, or a lone person's group appears far too often":
        _publishing(hide=lambda y, n, k: y <= 0),
    "the true count is compared with k: groups of k and of k + 1 people are then told apart for sure": _publishing(hide=lambda y, n, k: n <= k),
    "the noise is not cut off at k: what one person alone makes possible then has more than δ": _publishing(cut=False),
    "Laplace noise, clipped to [-k, k], is no whole number, and piles up at the ends": _publishing(whole=False),
    "the noise has half the scale it needs: e^(-ε|x|) is its law": _publishing(wide=0.5),
    "the noise has twice the scale it needs: private at ε/2, with a larger δ": _publishing(wide=2.0),
    "one noise for all groups: two of them betray their difference": _publishing(shared=True),
}
SIZE = 12_000
GROUPS = tuple(f"name {i}" for i in range(SIZE))


def _chance(n, epsilon, k):
    """The chance with which a group of n appears."""
    x = np.arange(-k, k + 1)
    weight = np.exp(-epsilon * np.abs(x))
    return float(weight[n + x > k].sum() / weight.sum()) if n else 0.0


def _law(n, epsilon, k):
    """The counts that may be printed, and the probabilities of a hidden line and of each of them."""
    x = np.arange(-k, k + 1)
    weight = np.exp(-epsilon * np.abs(x))
    shown = n + x > k
    return (n + x)[shown], np.append(weight[~shown].sum(), weight[shown]) / weight.sum()


def _names(low, epsilon, k, **settings):
    """Groups of `low` people or of one more, each by its own coin; one of 0 is not in the table."""
    def build(coins):
        return {name: low + int(coin) for name, coin in zip(GROUPS, coins) if coin or low}, epsilon, k

    def cells(got, coins):
        values, _ = read_lines(got, GROUPS)
        return np.where(values < MISSING / 2, np.nan, values)

    return Crowd(f"group of {low}, k = {k} / group of {low + 1}, k = {k}", build, cells, SIZE, ((epsilon, _chance(1, epsilon, k)),), (low, low + 1),
                 words=("groups", "printed", "count"), **settings)


def _least(n, epsilon, k):
    return None if n == 0 else 0.8 * _chance(n, epsilon, k)


CROWDS = [_names(low, epsilon, k, law="exactly", published=((_least(low, epsilon, k), 0.0 if low == 0 else None), (_least(low + 1, epsilon, k), None)))
          for low, epsilon, k in ((3, 1.0, 3), (1, 1.0, 3), (9, 0.5, 6), (0, 1.0, 2))]


def _dict(what, one, two, epsilon, k, **settings):
    keys = tuple(sorted({*one, *two}))
    steps = sum(abs(one.get(key, 0) - two.get(key, 0)) for key in keys)
    slack = _chance(1, epsilon, k) * sum(math.exp(epsilon * i) for i in range(steps))
    return Pair(what, (dict(one), epsilon, k), (dict(two), epsilon, k), ((steps * epsilon, slack),),
                tuple([float(table.get(key, 0)) for key in keys] for table in (one, two)), **settings)


FIRST = {"Zoe Z.": 401, "Ada A.": 400, "Moe M.": 399, "Bea B.": 398}       # as value_counts() writes it
SECOND = {"Ada A.": 402, "Zoe Z.": 401, "Moe M.": 399, "Bea B.": 398}
DICTS = [
    _dict("a dict in the order of its counts / Ada A. has two more and is first", FIRST, SECOND, 0.5, 12, runs=3000, twice=800),
    _dict("an empty dict / one group with one person", {}, {"Ada A.": 1}, 1.0, 3, runs=1500),
    _dict("one group of 5,000 / of 5,001", {"Ada A.": 5000}, {"Ada A.": 5001}, 2.0, 20, runs=1000),
    _dict("four groups alike / the last has one more", dict.fromkeys("abcd", 40), {**dict.fromkeys("abcd", 40), "d": 41}, 0.9, 7, runs=1000),
    _dict("eight groups of forty / the same in the opposite order", dict.fromkeys("abcdefgh", 40), dict.fromkeys("hgfedcba", 40), 2.0, 4, runs=2000),
]


@checker
def grp_release(publish):
    """`publish(counts, epsilon, k, rng)`: group -> noisy count, for the groups that pass, by truncated geometric noise."""
    seen = battery(publish, lambda pair: Lines(tuple(sorted({*pair.one[0], *pair.two[0]}))), DICTS, crowds=CROWDS, mistakes=PUBLISHED, right=_publishing(),
                   seed=71)
    for n, epsilon, k in ((1, 1.0, 2), (3, 1.0, 3), (6, 1.0, 3), (9, 0.5, 6)):
        got, _ = read_lines(ask(publish, dict.fromkeys(GROUPS, n), epsilon, k, luck(73)), GROUPS)
        values, law = _law(n, epsilon, k)
        counts = np.append(np.count_nonzero(got < MISSING / 2), [np.count_nonzero(got == value) for value in values])
        if counts.sum() < SIZE:
            raise Wrong(f"of groups of {n}, with k = {k}, some come out with a count that the noise cannot give, such as "
                        f"{got[(got > MISSING / 2) & ~np.isin(got, values)][0]:g}")
        names = ["the line that is hidden", *(f"a count of {value}" for value in values)]
        compare(counts, law, {}, lambda i, n=n, k=k, names=names: f"of groups of {n}, with k = {k}, {names[i]}")
    return f"one noise decides and is printed; {seen}"


# -------------------------------------------------------------------------------------------------------------- several groups

def _limits(m, r, epsilon, delta):
    scale, one = m * r / epsilon, -math.expm1(math.log1p(-delta) / m)

    def tail(b, chance):
        return b * math.log(1 / (2 * chance))

    return (scale, r + tail(scale, one)), {
        "one person moves m counts: noise of scale r/ε is for one group": (r / epsilon, r + tail(r / epsilon, one)),
        "one person adds up to r rows to a group: noise of scale m/ε is for one row": (m / epsilon, r + tail(m / epsilon, one)),
        "a lone group holds up to r rows, not 1: it starts nearer to the threshold": (scale, 1 + tail(scale, one)),
        "a lone group holds r rows, not 0: without r in the threshold each of them passes too often": (scale, tail(scale, one)),
        "each of the m lone groups passes with probability δ here; that one of them does must have probability δ": (scale, r + tail(scale, delta)),
        "δ/m is safe, and not the largest: 1 - (1 - δ₁)^m = δ allows a little more": (scale, r + tail(scale, delta / m)),
        "Laplace noise exceeds x with probability ½ e^(-x/b): the ½ is missing, and the threshold is too high": (scale, r + scale * math.log(1 / one)),
        "this is Gaussian noise; the exercise asks for Laplace": tuple(partitions.gaussian_threshold(
            epsilon=epsilon, delta=delta, num_groups=m, per_group=r)),
    }


@checker
def grp_several(limit):
    """`limit(m, r, epsilon, delta)`: scale and smallest threshold of Laplace noise for m groups of one person, r rows in each."""
    for m, r, epsilon, delta in ((3, 2, 0.7, 0.2), (1, 1, 1.0, 1e-6), (5, 1, 1.0, 1e-6), (20, 4, 2.0, 0.01)):
        got = numbers(answered(limit, m, r, epsilon, delta), (2,), f"for m={m}, r={r}: scale and threshold")
        right, rivals = _limits(m, r, epsilon, delta)
        if np.allclose(got, right, rtol=1e-6):
            continue
        case = f"for m = {m}, r = {r}, ε = {epsilon:g}, δ = {delta:g}: scale {got[0]:.5g}, threshold {got[1]:.6g}"
        for message, rival in rivals.items():
            if np.allclose(got, rival, rtol=1e-6) and not np.allclose(rival, right, rtol=1e-6):
                raise Wrong(f"{case}; {message}")
        if got[0] < right[0] * (1 - 1e-6):
            raise Wrong(f"{case}; the noise is too small: one person moves the counts by m r in all")
        if got[0] > right[0] * (1 + 1e-6):
            raise Wrong(f"{case}; private perhaps, but a scale of {right[0]:g} is enough")
        true = partitions.threshold_delta("laplace", got[1], epsilon=epsilon, num_groups=m, per_group=r)
        raise Wrong(f"{case}; the δ of this threshold is {true:.4g}")
    return "exactly δ for a person who is alone in all groups, and for nobody more"


def _shift(epsilon, mu):
    return gaussian_delta(epsilon, sigma=1 / mu) if mu else 0.0


def _parts(epsilon, sigma, threshold, m):
    """Rival -> the number that it gives."""
    p = 0.5 * math.erfc(-(threshold - 1) / sigma / math.sqrt(2))
    mu = [math.sqrt(m - j) / sigma for j in range(m + 1)]
    alone, shared = 1 - p**m, _shift(epsilon, mu[0])
    return {
        "the two dangers are added up; no person has all groups alone and all groups shared": alone + shared,
        "this is the noise alone, for a person whose groups are all shared; what if some are theirs alone?": shared,
        "this is the chance that a lone group shows, for a person who is alone everywhere; what if the groups are shared?": alone,
        "if no lone group shows, the outcome speaks against the person, by p^j: the shared groups are compared at ε - j ln p, not at ε":
            max(1 - p**j + p**j * _shift(epsilon, mu[j]) for j in range(m + 1)),
        "the shared groups count only if no lone group shows: the factor p^j is missing":
            max(1 - p**j + _shift(epsilon - j * math.log(p), mu[j]) for j in range(m + 1)),
        "m shared groups move the counts by √m in L2, not by m": max(alone, _shift(epsilon, m / sigma)),
        "m shared groups move the counts by √m, not by 1": max(alone, _shift(epsilon, 1 / sigma)),
        "one lone group is counted; there may be m of them": max(1 - p, shared),
    }


@checker
def grp_gaussian(exact_delta):
    """`exact_delta(epsilon, sigma, threshold, m)`: smallest delta of Gaussian noise and a threshold, m groups per person."""
    cases = ((1.0, 4.22, 21.1, 1), (1.0, 25.0, 101.6, 20), (1.0, 18.0, 101.6, 20), (1.0, 18.9, 99.0, 20), (0.1, 4.0, 11.0, 6),
             (0.05, 5.1, 10.7, 8), (0.05, 1.65, 3.0, 8), (2.0, 1.0, 1.5, 3), (0.5, 2.5, 40.0, 4), (1.0, 3.0, -2.0, 2))
    mine, wrong = [number(answered(exact_delta, *case), "delta") for case in cases], [_parts(*case) for case in cases]
    for got, (epsilon, sigma, threshold, m) in zip(mine, cases):
        right = partitions.threshold_delta("gaussian", threshold, epsilon=epsilon, scale=sigma, num_groups=m)
        if math.isclose(got, right, rel_tol=1e-5):
            continue
        case = f"ε = {epsilon:g}, σ = {sigma:g}, threshold {threshold:g}, m = {m}: {got:.6g}, but it is {right:.6g}"
        for message in wrong[0]:                 # the mistake that explains all answers
            if all(math.isclose(one, other[message], rel_tol=1e-5) for one, other in zip(mine, wrong)):
                raise Wrong(f"{case}; {message}")
        raise Wrong(f"{case}; {'too small, a false promise' if got < right else 'safe, and too large'}")
    return "the worst mixture of lone and shared groups, in all cases that we tried"


# -------------------------------------------------------------------------------------------------------------- a lot

def _kept(keep_some, rows, most, rng, what):
    """The pairs that are kept, as a table; `Wrong` if they are not what may be kept."""
    table = pd.DataFrame(rows, columns=["user", "film"])
    got = ask(keep_some, table.copy(), most, rng)
    if got is None:
        raise Wrong("your function returned None: is the `return` missing?")
    if not isinstance(got, pd.DataFrame) or not {"user", "film"} <= set(got.columns):
        raise Wrong(f"expected a table with the columns user and film, got {type(got).__name__}")
    got = got[["user", "film"]]
    pairs, there = set(map(tuple, got.to_numpy().tolist())), set(map(tuple, table.to_numpy().tolist()))
    if not pairs <= there:
        raise Wrong(f"{what}: {min(pairs - there)} is kept, and is not in the table")
    if len(pairs) < len(got):
        raise Wrong(f"{what}: a pair of user and film is kept twice; one user then adds more than 1 to a film")
    size, may = got.groupby("user").size(), table.drop_duplicates().groupby("user").size().clip(upper=most)
    if (size > may.reindex(size.index)).any():
        user = (size - may.reindex(size.index)).idxmax()
        raise Wrong(f"{what}, most = {most}: {size[user]} films of user {user!r} are kept")
    if may.empty:
        return got
    short = (may - size.reindex(may.index, fill_value=0)).idxmax()
    if size.get(short, 0) < may[short]:
        raise Wrong(f"{what}, most = {most}: {size.get(short, 0)} films of user {short!r} are kept, and {may[short]} could be: "
                    "is the bound on the whole table, or on the rows before each pair is made unique, or may a draw take the same film again?")
    return got


def _same_for_all_rng(keep_some, what, before, others):
    """`Wrong` if an answer that takes nothing from `rng` keeps other rows of a user because of what other users have."""
    def kept(rows, seed):
        got = _kept(keep_some, rows, 1, luck(seed), what)
        return set(map(tuple, got[got.user != "one more"].to_numpy().tolist()))

    first = kept(before, 74)
    if first != kept(before, 75):
        return
    for rows, how in others:
        if moved := len(first - kept(rows, 75)):
            raise Wrong(f"{what}: nothing is taken from rng, and {how} {moved:,} users keep another film: the lot belongs to the places in the table, "
                        "or to its size, which others decide. Draw from rng, or from a hash of user and film")


PEOPLE, RUNS = 1500, 3
FAR = 5.5                                        # standard deviations of one run: the means of several runs are nearer


def _share(keep_some, rows, rng, what):
    """Share of the people, the planted one left out, who keep the first of their two films."""
    shares = []
    for _ in range(RUNS):
        got = _kept(keep_some, rows, 1, rng, what)
        got = got[got.user != "one more"]
        shares.append(got.film.str.startswith("first").mean())
    return float(np.mean(shares)), float(np.std(shares))


@checker
def grp_lot(keep_some):
    """`keep_some(table, most, rng)`: at most `most` films of each user, by lot, each pair once."""
    rng, mix = luck(72), np.random.default_rng(72)
    some = [("a", 1), ("a", 2), ("a", 3), ("b", 2), ("a", 2), ("a", 2), ("c", 9), ("b", 2), ("c", 8)]
    for most in (1, 2, 5):
        _kept(keep_some, some, most, rng, "three users, some rows twice")
    for rows in ([], [("a", 1)]):
        _kept(keep_some, rows, 2, rng, f"a table with {len(rows)} rows")
    width = FAR * math.sqrt(0.25 / PEOPLE)
    own = [(f"user {i}", f"{which} of {i}") for i in range(PEOPLE) for which in ("first", "second", "second")]
    planted = [("one more", f"second of {i}") for i in range(PEOPLE)]
    common = [(f"user {i}", film) for i in range(PEOPLE) for film in ("first film", "second film")]
    for what, before, more in ((f"{PEOPLE:,} people with two films of their own, the second twice", own, planted),
                               (f"{PEOPLE:,} people with the same two films", common, planted[:1] + [("one more", "second film")])):
        as_it_is, spread = _share(keep_some, before, rng, what)
        by_chance = [before[i] for i in mix.permutation(len(before))]
        if spread > 0.2:
            raise Wrong(f"{what}: in one run {'nearly all' if as_it_is else 'none'} keep the first, in another hardly anybody: one lot for all. Private, but "
                        "the counts then tell of the lot; each user needs one of their own")
        with_more, _ = _share(keep_some, before + more, rng, what)
        if abs(with_more - as_it_is) > 2 * width:
            raise Wrong(f"{what}: {as_it_is:.0%} keep the first of them, and {with_more:.0%} if one more user has seen the second: the choice looks at what "
                        "others have seen, and one user moves the rows of many")
        turned, _ = _share(keep_some, before[::-1], rng, what)
        mixed, _ = _share(keep_some, by_chance, rng, what)
        if max(abs(turned - as_it_is), abs(mixed - as_it_is)) > 2 * width:
            raise Wrong(f"{what}: {as_it_is:.0%} keep the first of them, and {turned:.0%} if the table comes in the opposite order: the choice looks at the "
                        "order of the table, which others decide")
        if abs(as_it_is - 0.5) > width:
            raise Wrong(f"{what}: {as_it_is:.0%} keep the first of them: private, but not fair, and the counts will not be in proportion")
        _same_for_all_rng(keep_some, what, before, ((before + more, "with one user more"), (by_chance, "with the rows in another order")))
    return "at most that many of each user, by a lot that nobody else can turn"
