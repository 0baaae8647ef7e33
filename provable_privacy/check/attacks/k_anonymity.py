"""Checkers of the section on k-anonymity and its variants."""
import copy
import functools
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from dplib import anonymity, attacks, data
from provable_privacy.entries import Number, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, checker

__all__ = ["kan_entropy", "kan_intersect", "kan_mend", "kan_mondrian", "kan_ordered", "kan_risk"]


# ------------------------------------------------------------------------------------------------ what k = 20 is worth

@entries("for a quarter of the people the odds are 19 to 1 or better, although each row hides among twenty: k "
         "counts rows, not secrets")
def kan_risk():
    """`answer`: "row" -> chance of the right row in a class of 20, "certain" -> people, "likely" -> share of people."""
    rich = (adult := data.load("adult_like")).Target == ">50K"
    labels = anonymity.mondrian(adult, ["Age", "Sex", "Race", "Marital Status"], k=20)
    size, above = np.bincount(labels), np.bincount(labels, weights=rich)
    most = np.maximum(above, size - above) / size
    return {
        "row": Number(1 / 20, "{said} is not the chance of one row among twenty that look the same"),
        "certain": Number(size[most == 1].sum(), "add the sizes of all classes in which everyone has the same income "
                                                 "class", {
            "{said} is the number of classes; count the people in them": np.sum(most == 1),
            "a class in which nobody earns more than $50,000 is all alike too": size[above == size].sum()}),
        "likely": Number(
            size[most >= 0.95].sum() / len(adult),
            "take the larger of the two shares in each class, and weigh classes by their people",
            {"that is the share of classes; a large class holds more people than a small one": (most >= 0.95).mean(),
             "a share of 95 % is enough: a class in which 19 of 20 have one income class counts too":
                 size[most > 0.95].sum() / len(adult)},
            between=(0, 1, "a share is between 0 and 1: divide a percentage by 100, or people by the number of all "
                           "people")),
    }


# ------------------------------------------------------------------------------------------------------ cutting a table

@functools.cache
def _tables():
    rng = np.random.default_rng(1)
    smooth = pd.DataFrame({"age": rng.integers(18, 90, 500), "height": rng.normal(170, 10, 500).round(1)})
    mixed = pd.DataFrame({"age": rng.integers(18, 90, 400).astype(float),
                          "town": rng.choice(["Aix", "Bern", "Cork", "Dole"], 400),
                          "sex": rng.choice(["F", "M"], 400)}, index=np.repeat(np.arange(1400, 1200, -1), 2))
    mixed.loc[mixed.index[:30], "age"] = np.nan
    mixed.loc[mixed.index[380:], "town"] = None
    ties = pd.DataFrame({"a": np.repeat([0, 0, 0, 1, 2, 3], 10), "b": np.tile([0, 1], 30), "secret": range(60)})
    return [("two columns of numbers", smooth, ["age", "height"]),
            ("text and missing values", mixed, ["age", "town", "sex"]), ("many equal values", ties, ["a", "b"])]


def _partition(found, n, k):
    """The class of each row, or `Wrong` unless these are classes of at least k rows that share out all rows."""
    found = [np.atleast_1d(np.asarray(part)) for part in found]
    if any(part.size and not np.issubdtype(part.dtype, np.integer) for part in found):
        raise Wrong("a class is an array of row positions, whole numbers from 0 on")
    sizes = np.array([part.size for part in found])
    rows = np.concatenate([part.ravel() for part in found]) if found else np.array([], dtype=int)
    if rows.size and (rows.min() < 0 or rows.max() >= n):
        raise Wrong(f"row {rows.max()} of a table of {n} rows; positions count from 0, whatever the index says")
    times = np.bincount(rows, minlength=n)
    if times.max() > 1:
        raise Wrong(f"row {times.argmax()} is in {times.max()} classes; classes must not overlap")
    if times.min() == 0:
        raise Wrong(f"{np.sum(times == 0):,} of {n:,} rows are in no class; none may be lost (think of missing values)")
    if sizes.min() < k:
        raise Wrong(f"the smallest class has {sizes.min()} rows, fewer than k")
    label = np.empty(n, dtype=int)
    label[rows] = np.repeat(np.arange(len(found)), sizes)
    return label


def _as_small_as_ours(label, df, qi, k):
    """`Wrong` unless rows that are alike stay together, and the classes are about as small as those of mondrian."""
    alike = anonymity.classes(df, qi)
    if len(np.unique(np.column_stack([alike, label]), axis=0)) > alike.max() + 1:
        raise Wrong("rows that agree on all of qi are in different classes; a cut goes between two values of one of "
                    "these columns")
    loss, least = (int((np.bincount(labels) ** 2).sum()) for labels in (label, anonymity.mondrian(df, qi, k=k)))
    if loss > 1.15 * least:
        raise Wrong(f"the squares of your class sizes add up to {loss}, and those of ours to {least}. Some class "
                    "can still be cut, perhaps by another column or beside the median")


@checker
def kan_mondrian(split):
    """`split(df, qi, k)`: a list of arrays of row positions."""
    for name, df, qi in _tables():
        for k in (1, 2, 5, 12):
            found = answered(split, df.copy(), list(qi), k)
            try:
                _as_small_as_ours(_partition(found, len(df), k), df, qi, k)
            except Wrong as reason:
                raise Wrong(f"{name}, k = {k}: {reason}") from None
    return "every class has k rows, no row is lost, and the classes are as small as ours, or nearly"


# ------------------------------------------------------------------------------------------------- diversity, closeness

_luck = np.random.default_rng(2)
ILLS = [
    [["flu", "HIV"]],
    [["flu"] * 5],
    [["a"] * 97 + ["b", "c", "d"], ["a", "a", "b", "c"]],
    [["flu", "flu", "flu", "cold"], ["flu", "cold", "injury"]],
    [["a", "b", "c", "d"], ["a"] * 6 + ["b"] * 2 + ["c"]],
    [_luck.choice(list("abcde"), size=n).tolist() for n in (5, 9, 40, 100)],
]


def _entropies(groups):
    shares = [np.unique(values, return_counts=True)[1] / len(values) for values in groups]
    return np.array([-(share * np.log(share)).sum() for share in shares])


def _entropy_l(groups):
    return np.exp(_entropies(groups).min())


ENTROPY_MISTAKES = {
    "that is the entropy; l is its exponential, so that l equally frequent values give l":
        lambda groups: _entropies(groups).min(),
    "that is the entropy in bits; l is 2 to that power": lambda groups: _entropies(groups).min() / np.log(2),
    "the entropy is in bits and its exponential to the base e: use one base for both":
        lambda groups: np.exp(_entropies(groups).min() / np.log(2)),
    "that is distinct diversity: it does not see how often a value occurs":
        lambda groups: min(len(set(values)) for values in groups),
    "that is the mean over the classes; a table is as diverse as its least diverse class":
        lambda groups: np.exp(_entropies(groups)).mean(),
    "that is the most diverse class; the promise is as good as the least":
        lambda groups: np.exp(_entropies(groups).max()),
    "do not round: entropy l need not be a whole number": lambda groups: np.floor(_entropy_l(groups) + 1e-9),
}


@checker
def kan_entropy(function):
    """`function(groups)`: the entropy l of a table whose classes have these lists of sensitive values."""
    on_cases(function, [(groups,) for groups in ILLS], _entropy_l, ENTROPY_MISTAKES, what="l", show=lambda groups:
             str(groups) if len(str(groups)) < 90 else f"classes of {', '.join(map(str, map(len, groups)))} rows")
    return "the number of equally frequent values that would be as uncertain, in the worst class"


_luck = np.random.default_rng(3)
SHARES = [(np.array(p), np.array(q)) for p, q in [
    ([0.4, 0.1, 0.1, 0.4], [0.1, 0.5, 0.2, 0.2]), ([1.0, 0, 0], [0, 0, 1.0]), ([1.0, 0, 0], [0, 1.0, 0]),
    ([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]), ([0.5, 0, 0.5], [0, 1.0, 0]), ([0, 1.0, 0], [0.5, 0, 0.5]),
    ([1 / 3] * 3 + [0] * 6, [1 / 9] * 9), ([0.2, 0.8], [0.7, 0.3]),
    *(_luck.dirichlet(np.ones(m), 2) for m in (3, 6, 12))]]


def _carried(p, q):
    """What crosses the border after each value."""
    return np.cumsum(p - q)


def _earth_mover(p, q):
    return np.abs(_carried(p, q)).sum() / (len(p) - 1)


MOVE_MISTAKES = {
    "that is the equal distance, to which all moves are alike": lambda p, q: np.abs(p - q).sum() / 2,
    "divide by the largest distance, m − 1 places": lambda p, q: np.abs(_carried(p, q)).sum(),
    "the largest distance is m − 1 places, not m": lambda p, q: np.abs(_carried(p, q)).sum() / len(p),
    "take absolute values before you add: what goes to the right does not pay for what goes to the left":
        lambda p, q: abs(_carried(p, q).sum()) / (len(p) - 1),
    "take absolute values before you add: work is never negative": lambda p, q: _carried(p, q).sum() / (len(p) - 1),
    "that is the largest gap of the distribution functions; the work is their sum":
        lambda p, q: np.abs(_carried(p, q)).max(),
}


@checker
def kan_ordered(distance):
    """`distance(p, q)`: the earth mover's distance with ordered distance of two arrays of shares."""
    on_cases(distance, SHARES, _earth_mover, MOVE_MISTAKES, rtol=0, atol=1e-6, what="the distance",
             everywhere=True, show=lambda p, q: f"from {p.round(3).tolist()} to {q.round(3).tolist()}")
    return "the least work, without a search: what crosses each border"


AB = {"a": 0.1, "b": 0.9}


def _classes():
    """Shares of values in a class and in the table."""
    rng = np.random.default_rng(4)
    yield from [({"b": 0.1, "a": 0.9}, AB), ({"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.25, "c": 0.5}), ({"a": 1.0}, AB),
                ({"b": 0.9, "a": 0.1}, AB), ({"c": 1.0}, {"a": 0.98, "b": 0.01, "c": 0.01})]
    for _ in range(20):
        overall, some = rng.dirichlet(np.ones(6)), rng.permutation(6)[: rng.integers(1, 7)]
        shares = rng.dirichlet(np.ones(len(some)))
        yield {"abcdef"[i]: share for i, share in zip(some, shares)}, dict(zip("abcdef", overall))


def _equal_distance(group, overall):
    return sum(abs(group.get(value, 0) - share) for value, share in overall.items()) / 2


def _too_kind(is_close, group, overall, t):
    """Why an answer says close where it is not: of two mistakes, the one that it makes."""
    largest = max(abs(group.get(value, 0) - share) for value, share in overall.items())
    seen = _equal_distance(group, {value: overall[value] for value in group})
    both = seen + _equal_distance(group, overall)
    if largest <= t < seen and is_close(dict(group), dict(overall), largest):
        if not is_close({"b": 0.1, "a": 0.9}, dict(AB), 0.5):
            return "add up all the differences and halve, the largest alone is not the distance"
    if seen <= t and is_close(dict(group), dict(overall), both / 2):
        return "a value that nobody in the class has is part of the difference too"
    return "does t still hold what the caller asked for when you compare, and the distance all its digits?"


@checker
def kan_mend(is_close):
    """`is_close(group, overall, t)`: whether the equal distance of two dicts from value to share is at most t."""
    for group, overall in _classes():
        distance = _equal_distance(group, overall)
        for t in np.clip([distance - 3e-4, distance + 3e-4, 0.01, 0.97], 0, 1):
            if abs(t - distance) < 1e-4:
                continue
            said = answered(is_close, dict(group), dict(overall), float(t))
            if said not in (True, False):
                raise Wrong(f"it says {said!r}: give True or False, whether the distance is at most t")
            if said != (distance <= t):
                why = f"close: {_too_kind(is_close, group, overall, t)}" if said else "not close, which is too strict"
                raise Wrong(f"class {_shown(group)}, table {_shown(overall)}: distance {distance:.4f}, t = {t:.4f}, "
                            f"and it says {why}")
    if not answered(is_close, {"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.25, "c": 0.5}, 0.5):
        raise Wrong("where the distance is t itself, 0.5, it says not close: at most t is allowed, not only less")
    return "close means close again: to the t that was asked for, over all values"


def _shown(shares):
    return "{" + ", ".join(f"{value}: {share:.2f}" for value, share in sorted(shares.items())) + "}"


# --------------------------------------------------------------------------------------------------------- two releases

def _pair(seed, values, shares=None, k=5):
    """Two releases of random classes of k and a few more rows, 150 people in both, and the truth."""
    rng = np.random.default_rng(seed)
    secret = rng.choice(values, size=450, p=shares)
    releases = []
    for own in (np.arange(150, 300), np.arange(300, 450)):
        rows = np.append(np.arange(150), own)
        labels = rng.permutation(300) // k                   # 60 classes of exactly k
        labels[labels >= 55] %= 55                           # five of them joined to others
        order = rng.permutation(300)                         # a release does not keep the order of its people
        releases.append((labels[order].tolist(), secret[rows][order].tolist(), labels[:150].tolist()))
    return *releases, secret[:150].tolist()


COMMON = ["checkup", *"abcdefghijkl"]
RELEASES = [_pair(1, [f"v{i}" for i in range(50)]), _pair(2, [f"v{i}" for i in range(20)]),
            _pair(3, COMMON, [0.52] + [0.04] * 12), _pair(4, COMMON, [0.76] + [0.02] * 12)]


def _counted(first, second):
    """What the intersection and the values that are used up prove: person -> value."""
    stock = [Counter(zip(classes, values)) for classes, values, _ in (first, second)]
    homes, left, known = list(zip(first[2], second[2])), attacks.intersect([first, second]), {}
    while True:
        now = [{value for value in values if all(s[label, value] > 0 for s, label in zip(stock, home))}
               for values, home in zip(left, homes)]
        news = {who: values.pop() for who, values in enumerate(now) if who not in known and len(values) == 1}
        if not news:
            return known
        for person, value in news.items():
            for s, label in zip(stock, homes[person]):
                s[label, value] -= 1
        known |= news


def _has_other(first, second):
    """A function that tells, by an integer program, whether some assignment of values gives a person another one."""
    possible, people = attacks.intersect([first, second]), len(first[2])
    choices = [(who, value) for who, values in enumerate(possible) for value in sorted(values)]
    cells, most = {}, [1] * people               # a row for each person, and one for each value of each class
    places = [(who, column) for column, (who, _) in enumerate(choices)]
    for number, (classes, values, homes) in enumerate((first, second)):
        stock = Counter(zip(classes, values))
        for column, (who, value) in enumerate(choices):
            cell = number, homes[who], value
            if cell not in cells:
                cells[cell] = people + len(cells)
                most.append(stock[cell[1:]])
            places.append((cells[cell], column))
    matrix = coo_array((np.ones(len(places)), np.transpose(places)))
    system = LinearConstraint(matrix, [1] * people + [0] * len(cells), most)

    def another(person, value):
        allowed = Bounds(0, [choice != (person, value) for choice in choices])
        cost, whole = np.zeros(len(choices)), np.ones(len(choices))
        return milp(cost, integrality=whole, bounds=allowed, constraints=system).status == 0

    return another


def _possible(said, left, truth):
    """`Wrong` unless each named value is one of a person's possible values, and the true one."""
    if not isinstance(said, Mapping):
        raise Wrong(f"expected a dict from person to value, got a {type(said).__name__}")
    for person, value in said.items():
        if person not in range(len(truth)):
            raise Wrong(f"person {person!r}: the people are numbered from 0 to {len(truth) - 1}, in the order of the "
                        "third list")
        if isinstance(value, (set, frozenset, list, tuple)):
            raise Wrong(f"person {person}: {value!r} is a collection; give the value itself")
        if value not in left[person]:
            raise Wrong(f"person {person} cannot have {value!r}: the two classes have only {sorted(left[person])} in "
                        "common")
        if value != truth[person]:
            raise Wrong(f"person {person} does not have {value!r}: {len(left[person])} values were possible; report "
                        "only those that are certain")


@checker
def kan_intersect(certain):
    """`certain(first, second)`: person -> value, for people whose value two releases prove."""
    total = 0
    for first, second, truth in RELEASES:
        said = answered(certain, copy.deepcopy(first), copy.deepcopy(second))
        left, counted = attacks.intersect([first, second]), _counted(first, second)
        _possible(said, left, truth)
        doubtful = sorted(set(said) - set(counted))
        another = _has_other(first, second) if doubtful else None
        for person in doubtful:
            if another(person, said[person]):
                raise Wrong(f"person {person} could have another of {len(left[person])} values. Your value is right "
                            "by luck; report only values that are certain")
        if missed := sorted(set(counted) - set(said), key=lambda person: (len(left[person]), person)):
            person = missed[0]
            more = f"person {person} is certain too: in both classes only {counted[person]!r} occurs"
            if len(left[person]) > 1:
                more = (f"{len(missed)} more are certain. In both classes of person {person} these values occur: "
                        f"{sorted(left[person])}. All of them except {counted[person]!r} belong to people whose "
                        "value is proved already")
            raise Wrong(f"{len(said)} people named, but {more}")
        total += len(counted)
    people = sum(len(truth) for *_, truth in RELEASES)
    return f"{total} secrets of {people}, each certain, from tables that keep their promise"
