"""Answers to the exercises of the section on k-anonymity."""
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from dplib import anonymity, attacks
from provable_privacy import check
from provable_privacy.check.attacks import k_anonymity

# ------------------------------------------------------------------------------------------------------ learners' cuts

def cut(box, good, rows):
    spread = np.ptp(box[rows], axis=0)
    for axis in np.argsort(-spread, kind="stable"):
        values = box[rows, axis]
        median = np.sort(values)[len(values) // 2]
        sides = values < median, values <= median
        for low in sorted(sides, key=lambda s: abs(2 * s.sum() - len(s))):
            if good(rows[low]) and good(rows[~low]):
                return cut(box, good, rows[low]) + cut(box, good, rows[~low])
    return [rows]


def ranks(df, qi, first=False):
    places = []
    for name in qi:
        code, values = df[name].factorize(sort=True)
        code = np.where(code < 0, -1 if first else len(values), code) + first
        places.append(code / max(code.max(), 1))
    return np.column_stack(places)


def by_rank(df, qi, k):
    return cut(ranks(df, qi), lambda part: len(part) >= k, np.arange(len(df)))


def shuffled(seed):
    """Right, with classes and rows in any order, as lists."""
    luck = np.random.default_rng(seed)

    def split(df, qi, k):
        parts = [luck.permutation(part).tolist() for part in by_rank(df, qi, k)]
        return [parts[i] for i in luck.permutation(len(parts))]

    return split


def missing_first(df, qi, k):
    return cut(ranks(df, qi, first=True), lambda part: len(part) >= k, np.arange(len(df)))


def packages(df, qi, k):
    labels = anonymity.mondrian(df, qi, k=k)
    return [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]


def by_label(df, qi, k):
    return [df.index.to_numpy()[part] for part in by_rank(df, qi, k)]


def drops_missing(df, qi, k):
    kept = np.flatnonzero(df[qi].notna().all(axis=1))
    return [kept[part] for part in by_rank(df.iloc[kept].reset_index(drop=True), qi, k)]


def one_fewer(df, qi, k):
    return by_rank(df, qi, max(1, k - 1))


def overlapping(df, qi, k):
    """The median row belongs to both sides."""
    parts = by_rank(df, qi, k)
    return [np.append(parts[0], parts[-1][0]), *parts[1:]] if len(parts) > 1 else parts


def from_labels(df, qi, k):
    """Takes the last row that has a label for the row."""
    place = {label: row for row, label in enumerate(df.index)}
    return [[place[label] for label in df.index[part]] for part in by_rank(df, qi, k)]


def only_widest(df, qi, k):
    """Gives up when the widest column has no allowed cut."""
    box = ranks(df, qi)

    def go(rows):
        values = box[rows, np.ptp(box[rows], axis=0).argmax()]
        low = values < np.sort(values)[len(values) // 2]
        return go(rows[low]) + go(rows[~low]) if min(low.sum(), (~low).sum()) >= k else [rows]

    return go(np.arange(len(df)))


def too_careful(df, qi, k):
    return by_rank(df, qi, 2 * k)


def uncut(df, qi, k):
    return [np.arange(len(df))]


# -------------------------------------------------------------------------------------------------- the other learners

def entropies(groups):
    shares = [pd.Series(list(values)).value_counts(normalize=True) for values in groups]
    return [-sum(share * np.log(share)) for share in shares]


def work(p, q):
    """The earth mover's distance as a linear program."""
    m = len(p)
    cost = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / (m - 1)
    sums = np.vstack([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    return linprog(cost.ravel(), A_eq=sums, b_eq=np.append(p, q)).fun


def cumulated(p, q):
    return np.abs(np.cumsum(p) - np.cumsum(q)).sum() / (len(p) - 1)


def differences(group, overall):
    return [abs(group.get(value, 0) - share) for value, share in overall.items()]


def partial(group, overall, t):
    return sum(abs(share - overall[value]) for value, share in group.items()) / 2 <= t


def overwritten(group, overall, t):
    distance = 0
    for value, t in group.items():
        distance += abs(t - overall[value]) / 2
    return distance <= t


def overwritten_still(group, overall, t):
    distance = 0
    for value, t in overall.items():
        distance += abs(group.get(value, 0) - t) / 2
    return distance <= t


def with_digits(digits):
    return lambda group, overall, t: round(sum(differences(group, overall)) / 2, digits) <= t


def surplus(group, overall, t):
    """Right: what the class has too much of."""
    return sum(max(0, share - overall[value]) for value, share in group.items()) <= t


def survivors(first, second):
    return attacks.intersect([first, second])


def intersection_only(first, second):
    return {person: min(left) for person, left in enumerate(survivors(first, second)) if len(left) == 1}


def certain(first, second):
    """Strikes out values one person at a time, where the checker goes in rounds."""
    known, tables = {}, [[[label, value] for label, value in zip(*release[:2])] for release in (first, second)]
    while True:
        for person, homes in enumerate(zip(first[2], second[2])):
            mine = [{value for label, value in table if label == home} for table, home in zip(tables, homes)]
            if person not in known and len(mine[0] & mine[1]) == 1:
                known[person] = min(mine[0] & mine[1])
                for table, home in zip(tables, homes):
                    table.remove([home, known[person]])
                break
        else:
            return known


KNOWN = {}                                       # an integer program for each person: once is enough


def proved_in_fact(first, second):
    """All that two tables prove, by an integer program."""
    key = tuple(first[0]), tuple(first[1])
    if key not in KNOWN:
        answer, another = certain(first, second), k_anonymity._has_other(first, second)
        for person, values in enumerate(survivors(first, second)):
            if person not in answer and len(values) < 4:
                answer.update((person, value) for value in values if not another(person, value))
        KNOWN[key] = answer
    return KNOWN[key]


def likeliest(first, second, of=99):
    """Guesses the most frequent value that is left, where at most so many are."""
    common, left = first[1] + second[1], enumerate(survivors(first, second))
    return {person: max(sorted(values), key=common.count) for person, values in left if len(values) <= of}


def one_release(first, second):
    return {person: min(left) for person, left in enumerate(attacks.intersect([first])) if len(left) == 1}


def by_union(first, second):
    found = {}
    for classes, values, where in (first, second):
        for person, label in enumerate(where):
            mine = [value for other, value in zip(classes, values) if other == label]
            found.setdefault(person, []).extend(mine)
    return {person: max(set(values), key=values.count) for person, values in found.items()}


def lucky(truths):
    """Knows the answer key."""
    def guess(first, second):
        for one, _, truth in truths:
            if one == first:
                return dict(enumerate(truth))

    return guess


PAIRS = k_anonymity.RELEASES
RISK = {"row": 0.05, "certain": 2974, "likely": 0.26228}

SOLUTIONS = [
    (check.kan_risk, lambda seed: RISK),
    (check.kan_mondrian, shuffled),
    (check.kan_entropy, lambda seed: lambda groups: np.exp(min(entropies(groups)))),
    (check.kan_ordered, lambda seed: cumulated),
    (check.kan_mend, lambda seed: surplus),
    (check.kan_intersect, lambda seed: certain),
]

UNUSUAL = [
    (check.kan_risk, {**RISK, "likely": 0.262}),
    *((check.kan_mondrian, split) for split in (by_rank, missing_first, packages)),
    (check.kan_ordered, work),
    (check.kan_ordered, lambda p, q: wasserstein_distance(range(len(p)), range(len(q)), p, q) / (len(p) - 1)),
    (check.kan_intersect, proved_in_fact),
]

WRONG = [
    (check.kan_risk, {**RISK, "row": 20}, "chance of one row among twenty"),
    (check.kan_risk, {**RISK, "certain": 0}, "a class in which nobody earns more"),
    (check.kan_risk, {**RISK, "certain": 44}, "44 is the number of classes"),
    (check.kan_risk, {**RISK, "certain": 45}, "add the sizes of all classes"),
    (check.kan_risk, {**RISK, "likely": 8540}, "people by the number of all people"),
    (check.kan_risk, {**RISK, "likely": 26.2}, "divide a percentage by 100"),
    (check.kan_risk, {**RISK, "likely": 0.2463}, "share of classes"),
    (check.kan_risk, {**RISK, "likely": 0.05}, "weigh classes by their people"),
    (check.kan_risk, {**RISK, "likely": 0.26}, "rounded too far"),
    (check.kan_risk, {**RISK, "likely": 0.258}, "95 % is enough"),
    (check.kan_risk, {"row": 0.05}, "expected the names"),
    (check.kan_risk, {**RISK, "certain": np.nan}, "got nan"),
    (check.kan_mondrian, by_label, "positions count from 0"),
    (check.kan_mondrian, drops_missing, "in no class"),
    (check.kan_mondrian, one_fewer, "fewer than k"),
    (check.kan_mondrian, overlapping, "must not overlap"),
    (check.kan_mondrian, from_labels, "must not overlap"),
    (check.kan_mondrian, lambda df, qi, k: by_rank(df, list(df), k), "one of these columns"),
    (check.kan_mondrian, only_widest, "can still be cut"),
    (check.kan_mondrian, too_careful, "can still be cut"),
    (check.kan_mondrian, uncut, "can still be cut"),
    (check.kan_mondrian, lambda df, qi, k: np.array_split(np.arange(len(df)), len(df) // k), "agree on all of qi"),
    (check.kan_mondrian, lambda df, qi, k: [[row] for row in range(len(df))], "agree on all of qi"),
    (check.kan_mondrian, lambda df, qi, k: [["a"]], "whole numbers"),
    (check.kan_mondrian, lambda df, qi, k: [], "in no class"),
    (check.kan_mondrian, lambda df, qi, k: df["nobody"], "raised KeyError"),
    (check.kan_entropy, lambda groups: min(entropies(groups)), "its exponential"),
    (check.kan_entropy, lambda groups: min(entropies(groups)) / np.log(2), "in bits"),
    (check.kan_entropy, lambda groups: np.exp(min(entropies(groups)) / np.log(2)), "one base for both"),
    (check.kan_entropy, lambda groups: min(len(set(values)) for values in groups), "distinct diversity"),
    (check.kan_entropy, lambda groups: np.exp(entropies(groups)).mean(), "mean over the classes"),
    (check.kan_entropy, lambda groups: np.exp(max(entropies(groups))), "the most diverse class"),
    (check.kan_entropy, lambda groups: np.floor(np.exp(min(entropies(groups))) + 1e-9), "do not round"),
    (check.kan_entropy, lambda groups: round(np.exp(min(entropies(groups)))), "do not round"),
    (check.kan_entropy, lambda groups: np.ceil(np.exp(min(entropies(groups))) - 1e-9), "rows: not 2"),
    (check.kan_entropy, lambda groups: round(np.exp(min(entropies(groups))), 3), "rounded too far"),
    (check.kan_entropy, lambda groups: print(end=""), "is the `return` missing"),
    (check.kan_entropy, lambda groups: -1.0, "not -1"),
    (check.kan_ordered, lambda p, q: np.abs(p - q).sum() / 2, "equal distance"),
    (check.kan_ordered, lambda p, q: np.abs(np.cumsum(p - q)).sum(), "divide by the largest distance"),
    (check.kan_ordered, lambda p, q: np.abs(np.cumsum(p - q)).sum() / len(p), "not m"),
    (check.kan_ordered, lambda p, q: np.cumsum(p - q).sum() / (len(p) - 1), "before you add"),
    (check.kan_ordered, lambda p, q: abs(np.cumsum(p - q).sum()) / (len(p) - 1), "does not pay for"),
    (check.kan_ordered, lambda p, q: np.abs(np.cumsum(p - q)).max(), "largest gap"),
    (check.kan_ordered, lambda p, q: 0.0, "not 0"),
    (check.kan_mend, overwritten, "does t still hold"),
    (check.kan_mend, partial, "that nobody in the class has"),
    (check.kan_mend, overwritten_still, "does t still hold"),
    (check.kan_mend, lambda group, overall, t: surplus(group, overall, t + 0.01), "does t still hold"),
    (check.kan_mend, lambda group, overall, t: sum(differences(group, overall)) <= t, "too strict"),
    (check.kan_mend, with_digits(2), "all its digits"),
    (check.kan_mend, with_digits(3), "all its digits"),
    (check.kan_mend, lambda group, overall, t: max(differences(group, overall)) <= t, "the largest alone"),
    (check.kan_mend, lambda group, overall, t: 0.3, "give True or False"),
    (check.kan_mend, lambda group, overall, t: surplus(group, overall, np.nextafter(t, 0)), "where the distance is t"),
    (check.kan_mend, lambda group, overall, t: True, "close"),
    (check.kan_mend, 7, "expected a function"),
    (check.kan_intersect, likeliest, "only those that are certain"),
    (check.kan_intersect, lambda first, second: likeliest(first, second, of=2), "only those that are certain"),
    (check.kan_intersect, one_release, "is certain too"),
    (check.kan_intersect, intersection_only, "belong to people whose value"),
    (check.kan_intersect, by_union, ""),
    (check.kan_intersect, lambda first, second: {}, "is certain too"),
    (check.kan_intersect, lambda first, second: [None] * 150, "expected a dict"),
    (check.kan_intersect, lambda first, second: {"Alice": "flu"}, "numbered from 0"),
    (check.kan_intersect, lambda first, second: dict.fromkeys(range(150), "flu"), "in common"),
    (check.kan_intersect, lucky(PAIRS), "right by luck"),
]


def test_the_loop_that_overwrites_is_convicted_alone(says):
    """With every value in the class, only the overwritten parameter is wrong: the sharp case of the exercise."""
    group, overall = {"b": 0.1, "a": 0.9}, {"a": 0.1, "b": 0.9}
    assert overwritten_still(group, overall, 0.05) != surplus(group, overall, 0.05) == partial(group, overall, 0.05)


def test_the_hidden_pairs_keep_their_promise():
    """Each release is 5-anonymous, its people are in their classes, and some values can be found, but not all."""
    for first, second, truth in PAIRS:
        for classes, values, where in (first, second):
            assert min(pd.Series(classes).value_counts()) >= 5
            assert len(classes) == len(values) == 300 and len(where) == 150
        left = survivors(first, second)
        assert all(value in values for value, values in zip(truth, left))
        assert 0 < sum(len(values) == 1 for values in left) < 150


def test_two_tables_prove_more_than_their_intersection():
    """The smallest case: P and Q share a class with one HIV, and only HIV is common to P's classes."""
    first = ([1, 1, 2], ["HIV", "flu", "flu"], [1, 1])
    second = (["a", "a", "b", "b"], ["HIV", "asthma", "HIV", "flu"], ["a", "b"])
    assert intersection_only(first, second) == {0: "HIV"}
    assert k_anonymity._counted(first, second) == {0: "HIV", 1: "flu"} == certain(first, second)
    another = k_anonymity._has_other(first, second)
    assert not another(1, "flu") and another(1, "HIV")


def test_counting_proves_389_of_the_394_that_are_proved_in_fact():
    """What the solution says of the checker's cases; by another route it finds the same people as the checker."""
    counted = [k_anonymity._counted(first, second) for first, second, _ in PAIRS]
    assert counted == [certain(first, second) for first, second, _ in PAIRS]
    assert [len(known) for known in counted] == [123, 97, 70, 99]
    assert sum(len(intersection_only(*pair[:2])) for pair in PAIRS) == 311
    assert sum(len(proved_in_fact(first, second)) for first, second, _ in PAIRS) == 394
    for known, (*_, truth) in zip(counted, PAIRS):
        assert all(truth[person] == value for person, value in known.items())


@pytest.mark.parametrize("m", [2, 3, 5, 9])
def test_the_closed_form_is_the_least_work(m):
    p, q = np.random.default_rng(m).dirichlet(np.ones(m), 2)
    assert np.isclose(k_anonymity._earth_mover(p, q), work(p, q), atol=1e-9)
