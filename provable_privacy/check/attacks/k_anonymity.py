"""Checkers of chapter 1, k-anonymity and its kin."""
import copy
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from dplib import anonymity, attacks, data
from provable_privacy.speech import Wrong, answered, checker, compare_dict, compare_number

__all__ = ["kan_entropy", "kan_intersect", "kan_mend", "kan_mondrian", "kan_ordered", "kan_risk"]


# ------------------------------------------------------------------------------------------------------------ what k = 20 is worth

@checker
def kan_risk(answer):
    """`answer`: "row" -> chance of the right row in a class of 20, "certain" -> people, "likely" -> share of people at 95 % and above."""
    rich = (adult := data.load("adult_like")).Target == ">50K"
    labels = anonymity.mondrian(adult, ["Age", "Sex", "Race", "Marital Status"], k=20)
    size, above = np.bincount(labels), np.bincount(labels, weights=rich)
    most = np.maximum(above, size - above) / size
    right = {"row": 1 / 20, "certain": int(size[most == 1].sum()), "likely": size[most >= 0.95].sum() / len(adult)}

    def why(name, said):
        if name == "row":
            return f"{said:g} is not the chance of one row among twenty that look the same"
        if name == "certain":
            return {np.sum(most == 1): f"{said:g} is the number of classes; count the people in them",
                    size[above == size].sum(): "a class in which nobody earns more than $50,000 is all alike too"}.get(
                        said, f"not {said:g} people; add the sizes of all classes with one income class only")
        if np.isclose(said, (most >= 0.95).mean(), atol=5e-4):
            return "that is the share of classes; a large class holds more people than a small one"
        if np.isclose(said, size[most > 0.95].sum() / len(adult), atol=5e-4):
            return "a share of 95 % is enough: a class in which 19 of 20 have one income class counts too"
        if said > 1:
            return f"a share is between 0 and 1: divide by {'100' if said <= 100 else 'the number of people'}"
        return f"not {said:g}; take the larger of the two shares in each class, and weigh classes by their people"

    compare_dict(answer, right, why)
    return "one row in twenty, and for a quarter of the people a bet at 19 to 1 or better: k counts rows, not secrets"


# --------------------------------------------------------------------------------------------------------------- cutting a table

def _tables():
    rng = np.random.default_rng(1)
    smooth = pd.DataFrame({"age": rng.integers(18, 90, 500), "height": rng.normal(170, 10, 500).round(1)})
    mixed = pd.DataFrame({"age": rng.integers(18, 90, 400).astype(float), "town": rng.choice(["Aix", "Bern", "Cork", "Dole"], 400),
                          "sex": rng.choice(["F", "M"], 400)}, index=np.repeat(np.arange(1400, 1200, -1), 2))
    mixed.loc[mixed.index[:30], "age"] = np.nan
    mixed.loc[mixed.index[380:], "town"] = None
    ties = pd.DataFrame({"a": np.repeat([0, 0, 0, 1, 2, 3], 10), "b": np.tile([0, 1], 30), "secret": range(60)})
    return [("two columns of numbers", smooth, ["age", "height"]), ("text and missing values", mixed, ["age", "town", "sex"]),
            ("many equal values", ties, ["a", "b"])]


@checker
def kan_mondrian(split):
    """`split(df, qi, k)`: a list of arrays of row positions."""
    for name, df, qi in _tables():
        for k in (1, 2, 5, 12):
            found = [np.atleast_1d(np.asarray(part)) for part in answered(split, df.copy(), list(qi), k)]
            if any(part.size and not np.issubdtype(part.dtype, np.integer) for part in found):
                raise Wrong("a class is an array of row positions, whole numbers from 0 on")
            sizes = np.array([part.size for part in found])
            rows = np.concatenate([part.ravel() for part in found]) if found else np.array([], dtype=int)
            where = f"{name}, k = {k}"
            if rows.size and (rows.min() < 0 or rows.max() >= len(df)):
                raise Wrong(f"{where}: row {rows.max()} of a table of {len(df)} rows; positions count from 0, whatever the index says")
            times = np.bincount(rows, minlength=len(df))
            if times.max() > 1:
                raise Wrong(f"{where}: row {times.argmax()} is in {times.max()} classes; classes must not overlap")
            if times.min() == 0:
                raise Wrong(f"{where}: {np.sum(times == 0)} of {len(df)} rows are in no class; none may be lost (think of missing values)")
            if sizes.min() < k:
                raise Wrong(f"{where}: the smallest class has {sizes.min()} rows, fewer than k")
            label = np.empty(len(df), dtype=int)
            for number, part in enumerate(found):
                label[part.ravel()] = number
            alike = anonymity.classes(df, qi)
            if len(np.unique(np.column_stack([alike, label]), axis=0)) > alike.max() + 1:
                raise Wrong(f"{where}: rows that agree on all of qi are in different classes; a cut goes between two values of one of these columns")
            best = anonymity.mondrian(df, qi, k=k)
            loss, least = (sizes**2).sum(), (np.bincount(best) ** 2).sum()
            if loss > 1.15 * least:
                raise Wrong(f"{where}: the squares of your class sizes add up to {loss}, of ours to {least}; some part could still be cut, "
                            "perhaps in another column or beside the median")
    return "every class has k rows, no row is lost, and the classes are as small as ours, or nearly"


# ------------------------------------------------------------------------------------------------------------ diversity, closeness

def _entropy(groups):
    def one(values):
        shares = np.unique(values, return_counts=True)[1] / len(values)
        return float(np.exp(-(shares * np.log(shares)).sum()))

    return [one(values) for values in groups]


@checker
def kan_entropy(function):
    """`function(groups)`: the entropy l of a table whose classes have these lists of sensitive values."""
    rng = np.random.default_rng(2)
    tables = [
        [["flu", "HIV"]],
        [["flu"] * 5],
        [["a"] * 97 + ["b", "c", "d"], ["a", "a", "b", "c"]],
        [["flu", "flu", "flu", "cold"], ["flu", "cold", "injury"]],
        [["a", "b", "c", "d"], ["a"] * 6 + ["b"] * 2 + ["c"]],
        [rng.choice(list("abcde"), size=n).tolist() for n in (5, 9, 40, 100)],
    ]
    for groups in tables:
        each = _entropy(groups)
        short = str(groups) if len(str(groups)) < 90 else f"classes of {', '.join(str(len(values)) for values in groups)} rows"
        right, bits = min(each), np.log(each) / np.log(2)
        mistakes = [
            (np.log(right), "that is the entropy; l is its exponential, so that l equally frequent values give l"),
            (min(bits), "that is the entropy in bits; l is 2 to that power"),
            (float(np.exp(min(bits))), "the entropy is in bits and its exponential to the base e: use one base for both"),
            (min(len(set(values)) for values in groups), "that is distinct diversity: it does not see how often a value occurs"),
            (np.mean(each), "that is the mean over the classes; a table is as diverse as its least diverse class"),
            (max(each), "that is the most diverse class; the promise is as good as the least"),
            (np.floor(right), "do not round: entropy l need not be a whole number"),
        ]
        compare_number(answered(function, copy.deepcopy(groups)), right, f"for {short}", _first(mistakes, right), tolerance=1e-6)
    return "the number of equally frequent values that would be as uncertain, in the worst class"


def _first(mistakes, right):
    """What to say: the first mistake that has this value."""
    def why(said):
        reason = next((reason for value, reason in mistakes if np.isclose(said, value, rtol=1e-6, atol=1e-9)), "")
        return f"expected {right:.4f}, got {said:.4f}" + f": {reason}" * bool(reason)

    return why


def _earth_mover(p, q):
    return float(np.abs(np.cumsum(np.subtract(p, q))).sum() / (len(p) - 1))


@checker
def kan_ordered(distance):
    """`distance(p, q)`: the earth mover's distance with ordered distance of two arrays of shares."""
    rng = np.random.default_rng(3)
    pairs = [([0.4, 0.1, 0.1, 0.4], [0.1, 0.5, 0.2, 0.2]), ([1, 0, 0], [0, 0, 1]),
             ([1, 0, 0], [0, 1, 0]), ([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]), ([0.5, 0, 0.5], [0, 1, 0]), ([0, 1, 0], [0.5, 0, 0.5]),
             ([1 / 3] * 3 + [0] * 6, [1 / 9] * 9), ([0.2, 0.8], [0.7, 0.3])]
    pairs += [(rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(m))) for m in (3, 6, 12)]
    for p, q in pairs:
        p, q = np.array(p, dtype=float), np.array(q, dtype=float)
        right, m, carried = _earth_mover(p, q), len(p), np.cumsum(p - q)
        mistakes = [
            (np.abs(p - q).sum() / 2, "that is the equal distance, to which all moves are alike"),
            (np.abs(carried).sum(), "divide by the largest distance, m − 1 places"),
            (np.abs(carried).sum() / m, "the largest distance is m − 1 places, not m"),
            (abs(carried.sum()) / (m - 1), "take absolute values before you add: what goes to the right does not pay for what goes to the left"),
            (carried.sum() / (m - 1), "take absolute values before you add: work is never negative"),
            (np.abs(carried).max(), "that is the largest gap of the distribution functions; the work is their sum"),
        ]
        compare_number(answered(distance, p.copy(), q.copy()), right, f"from {p.round(3).tolist()} to {q.round(3).tolist()}",
                       _first(mistakes, right), tolerance=1e-6)
    return "the least work, without a search: what crosses each border"


@checker
def kan_mend(is_close):
    """`is_close(group, overall, t)`: whether the equal distance of two dicts from value to share is at most t."""
    rng = np.random.default_rng(4)
    values = list("abcdef")
    cases = [({"b": 0.1, "a": 0.9}, {"a": 0.1, "b": 0.9}),
             ({"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.25, "c": 0.5}), ({"a": 1.0}, {"a": 0.1, "b": 0.9}), ({"b": 0.9, "a": 0.1}, {"a": 0.1, "b": 0.9}),
             ({"c": 1.0}, {"a": 0.98, "b": 0.01, "c": 0.01})]
    for _ in range(20):
        overall = rng.dirichlet(np.ones(6))
        some = rng.permutation(6)[: rng.integers(1, 7)]
        cases.append((dict(zip((values[i] for i in some), rng.dirichlet(np.ones(len(some))))), dict(zip(values, overall))))
    for group, overall in cases:
        distance = sum(abs(group.get(value, 0) - share) for value, share in overall.items()) / 2
        for t in np.clip([distance - 3e-4, distance + 3e-4, 0.01, 0.97], 0, 1):
            if abs(t - distance) < 1e-4:
                continue
            said = answered(is_close, dict(group), dict(overall), float(t))
            if said not in (True, False):
                raise Wrong(f"it says {said!r}: give True or False, whether the distance is at most t")
            if said == (distance <= t):
                continue
            shown = f"class {_shown(group)}, table {_shown(overall)}: distance {distance:.4f}, t = {t:.4f}"
            seen = sum(abs(share - overall[value]) for value, share in group.items()) / 2
            largest = max(abs(group.get(value, 0) - share) for value, share in overall.items())
            if said and largest <= t < seen and is_close(dict(group), dict(overall), largest):
                if not is_close({"b": 0.1, "a": 0.9}, {"a": 0.1, "b": 0.9}, 0.5):
                    raise Wrong(f"{shown}, and it says close: add up all the differences and halve, the largest alone is not the distance")
            if said and seen <= t < distance and is_close(dict(group), dict(overall), (seen + distance) / 2):
                raise Wrong(f"{shown}, and it says close: a value that nobody in the class has is part of the difference too")
            if said:
                raise Wrong(f"{shown}, and it says close: does t still hold what the caller asked for when you compare, and the distance all its digits?")
            raise Wrong(f"{shown}, and it says not close, which is too strict")
    if not answered(is_close, {"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.25, "c": 0.5}, 0.5):
        raise Wrong("where the distance is t itself, 0.5, it says not close: at most t is allowed, and not only less")
    return "close means close again: to the t that was asked for, over all values"


def _shown(shares):
    return "{" + ", ".join(f"{value}: {share:.2f}" for value, share in sorted(shares.items())) + "}"


# ---------------------------------------------------------------------------------------------------------------------- two releases

def _pair(seed, values, shares=None, k=5):
    """Two releases of random classes of k and a few more rows, 150 people in both, and the truth."""
    rng = np.random.default_rng(seed)
    secret = rng.choice(values, size=450, p=shares)
    releases = []
    for own in (np.arange(150, 300), np.arange(300, 450)):
        rows = np.append(np.arange(150), own)
        labels = rng.permutation(300) // k                 # 60 classes of exactly k
        labels[labels >= 55] %= 55                         # five of them joined to others
        order = rng.permutation(300)                       # a release does not keep the order of its people
        releases.append((labels[order].tolist(), secret[rows][order].tolist(), labels[:150].tolist()))
    return *releases, secret[:150].tolist()


def _counted(first, second):
    """What the intersection and the values that are used up prove: person -> value."""
    stock = [Counter(zip(classes, values)) for classes, values, _ in (first, second)]
    homes, left, known = list(zip(first[2], second[2])), attacks.intersect([first, second]), {}
    while True:
        now = [{value for value in values if all(s[label, value] > 0 for s, label in zip(stock, home))} for values, home in zip(left, homes)]
        news = {person: now[person].pop() for person in range(len(homes)) if person not in known and len(now[person]) == 1}
        if not news:
            return known
        for person, value in news.items():
            for s, label in zip(stock, homes[person]):
                s[label, value] -= 1
        known |= news


def _has_other(first, second):
    """A function that tells whether some assignment that fits both tables gives a person another value: an integer program."""
    choices = [(who, value) for who, values in enumerate(attacks.intersect([first, second])) for value in sorted(values)]
    people = len(first[2])
    cells, most = {}, [1] * people                       # a row for each person, and one for each value of each class
    places = [(who, column) for column, (who, _) in enumerate(choices)]
    for number, (classes, values, homes) in enumerate((first, second)):
        stock = Counter(zip(classes, values))
        for column, (who, value) in enumerate(choices):
            cell = number, homes[who], value
            if cell not in cells:
                cells[cell] = people + len(cells)
                most.append(stock[cell[1:]])
            places.append((cells[cell], column))
    system = LinearConstraint(coo_array((np.ones(len(places)), np.transpose(places))), [1] * people + [0] * len(cells), most)

    def another(person, value):
        allowed = Bounds(0, [choice != (person, value) for choice in choices])
        return milp(np.zeros(len(choices)), integrality=np.ones(len(choices)), bounds=allowed, constraints=system).status == 0

    return another


@checker
def kan_intersect(certain):
    """`certain(first, second)`: person -> value, for people whose value two releases prove."""
    common = ["checkup", *"abcdefghijkl"]
    cases = [_pair(1, [f"v{i}" for i in range(50)]), _pair(2, [f"v{i}" for i in range(20)]),
             _pair(3, common, [0.52] + [0.04] * 12), _pair(4, common, [0.76] + [0.02] * 12)]
    total = 0
    for first, second, truth in cases:
        said = answered(certain, copy.deepcopy(first), copy.deepcopy(second))
        if not isinstance(said, Mapping):
            raise Wrong(f"expected a dict from person to value, got a {type(said).__name__}")
        left, counted = attacks.intersect([first, second]), _counted(first, second)
        for person, value in said.items():
            if person not in range(len(truth)):
                raise Wrong(f"person {person!r}: the people are numbered from 0 to {len(truth) - 1}, in the order of the third list")
            if isinstance(value, (set, frozenset, list, tuple)):
                raise Wrong(f"person {person}: {value!r} is a collection; give the value itself")
            if value not in left[person]:
                raise Wrong(f"person {person} cannot have {value!r}: the two classes have only {sorted(left[person])} in common")
            if value != truth[person]:
                raise Wrong(f"person {person} does not have {value!r}: {len(left[person])} values were possible; report none that you are not sure of")
        doubtful = sorted(set(said) - set(counted))
        another = _has_other(first, second) if doubtful else None
        for person in doubtful:
            if another(person, said[person]):
                raise Wrong(f"person {person} could have another of {len(left[person])} values; you were lucky, and luck is not certainty")
        if missed := sorted(set(counted) - set(said), key=lambda person: (len(left[person]), person)):
            person = missed[0]
            if len(left[person]) == 1:
                raise Wrong(f"{len(said)} people named, but person {person} is certain too: in both classes only {counted[person]!r} occurs")
            raise Wrong(f"{len(said)} people named, but {len(missed)} more are certain: in both classes of person {person} occur {sorted(left[person])}, "
                        f"and all but {counted[person]!r} are used up by people whose value is proved")
        total += len(counted)
    return f"{total} secrets of {sum(len(truth) for *_, truth in cases)}, each certain, from tables that keep their promise"
