"""Classes, diversity and closeness are what a loop over rows says;
Mondrian and the lattice are what their definitions say."""
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import PROPERTY

from dplib import anonymity
from dplib.anonymity import (
    average_class,
    classes,
    discernibility,
    k_anonymity,
    l_diversity,
    lattice_search,
    mondrian,
    recode,
    t_closeness,
)

WARD = pd.DataFrame({                            # two classes of four rows and one of three
    "zip": list("AAAABBBBCCC"),
    "sex": list("FFFFFFFFMMM"),
    "illness": ["flu", "flu", "cold", "ulcer", "flu", "flu", "flu", "cold", "cold", "ulcer", "ulcer"],
    "days": [1, 2, 3, 4, 1, 1, 1, 4, 2, 3, 4],
})
QI = ["zip", "sex"]

MISSING = "missing"                              # in the oracles, where nan is not equal to itself
NUMBERS = st.one_of(st.integers(-3, 3), st.just(math.nan)).map(float)
TEXTS = st.sampled_from(["a", "b", "c", None])


def tables(least=1, most=14):
    row = st.tuples(NUMBERS, TEXTS, st.integers(0, 2), TEXTS)
    return st.lists(row, min_size=least, max_size=most).map(
        lambda rows: pd.DataFrame(rows, columns=["x", "y", "z", "s"]))


def plain(value):
    return MISSING if pd.isna(value) else value


def groups(df, qi):
    """Row positions by their quasi-identifiers, with a loop."""
    found = defaultdict(list)
    for position, row in enumerate(df[qi].itertuples(index=False)):
        found[tuple(plain(value) for value in row)].append(position)
    return found


def sensitive_values(df, qi, sensitive):
    """The overall list of sensitive values and that of each class."""
    column = [plain(value) for value in df[sensitive]]
    return column, [[column[position] for position in rows] for rows in groups(df, qi).values()]


# --- classes and k

@PROPERTY
@given(tables(), st.sampled_from([["x"], ["y", "x"], ["x", "y", "z"]]))
def test_equal_labels_are_equal_quasi_identifiers(df, qi):
    label = classes(df, qi)
    assert sorted(set(label.tolist())) == list(range(label.max() + 1))
    assert {tuple(rows) for rows in groups(df, qi).values()} == {
        tuple(np.flatnonzero(label == one)) for one in set(label)}
    sizes = [len(rows) for rows in groups(df, qi).values()]
    assert k_anonymity(df, qi) == min(sizes)
    assert discernibility(df, qi) == sum(size**2 for size in sizes)
    assert average_class(df, qi, k=2) == pytest.approx(np.mean(sizes) / 2)


def test_labels_follow_the_sorted_order_and_a_missing_value_is_last():
    df = pd.DataFrame({"x": [2.0, np.nan, -1.0, 2.0], "y": ["b", "a", "a", "a"]})
    assert classes(df, ["x", "y"]).tolist() == [2, 3, 0, 1]
    assert classes(df, "x").tolist() == classes(df, ["x"]).tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize("column", [
    [1.0, math.nan, 1.0, math.nan], ["a", None, "a", None], pd.to_datetime(["2020-01-01", None, "2020-01-01", None]),
    pd.array([1, None, 1, None], dtype="Int64"), pd.Categorical(["a", None, "a", None]), [None, math.nan, None, pd.NaT],
])
def test_a_missing_value_is_a_value_of_its_own(column):
    df = pd.DataFrame({"q": column, "s": list("aabb")})
    assert k_anonymity(df, ["q"]) == (2 if df["q"].notna().any() else 4)
    assert k_anonymity(df.iloc[:3], ["q"]) == (1 if df["q"].notna().any() else 3)


def test_a_unique_row_is_not_overlooked_because_something_is_missing_in_it():
    df = pd.DataFrame({"q": [1, 1, np.nan, 2, 2], "s": list("abcde")})
    assert k_anonymity(df, ["q"]) == 1


@pytest.mark.parametrize("column", [[1, "1", 1, "1"], [[1], [2], [1], [2]],
                                    [(1,), 2, (1,), 2], [True, 0, True, 0], [{1}, "a", {1}, "a"]])
def test_cells_of_any_kind_can_be_told_apart(column):
    df = pd.DataFrame({"q": pd.Series(column, dtype=object), "s": 0})
    assert k_anonymity(df, ["q"]) == 2
    assert sorted(np.bincount(mondrian(df, ["q"], k=2))) == [2, 2]


def test_more_combinations_than_an_integer_can_number():
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(300, 12)).repeat(2, axis=0))
    assert k_anonymity(df, list(range(12))) == 2 and classes(df, list(range(12))).max() == 299


# --- diversity and closeness

def entropy_l(values):
    return math.prod((len(values) / n) ** (n / len(values)) for n in Counter(values).values())


def recursive_l(values, c):
    r = sorted(Counter(values).values(), reverse=True)
    return max((least for least in range(1, len(r) + 1) if r[0] < c * sum(r[least - 1 :])), default=1)


def test_diversity_of_the_ward():
    assert l_diversity(WARD, QI, "illness") == 2
    assert l_diversity(WARD, QI, "illness", method="entropy") == pytest.approx(4 / 3**0.75)      # shares 3/4 and 1/4
    # class A has 2, 1, 1; B has 3, 1; C has 2, 1
    assert [l_diversity(WARD, QI, "illness", method="recursive", c=c) for c in (0.1, 1, 2, 3, 3.01, 100)] == [
        1, 1, 1, 1, 2, 2]
    assert l_diversity(WARD.iloc[:4], QI, "illness", method="recursive", c=2) == 2    # 2 < 2 (1 + 1), but not 2 < 2 * 1
    assert l_diversity(WARD.iloc[:4], QI, "illness", method="recursive", c=2.5) == 3


@pytest.mark.parametrize("number", [1, 2, 5])
def test_l_equal_values_are_l_diverse_in_every_sense(number):
    df = pd.DataFrame({"q": 0, "s": np.arange(3 * number) % number})
    assert l_diversity(df, ["q"], "s") == l_diversity(df, ["q"], "s", method="recursive", c=1.5) == number
    assert l_diversity(df, ["q"], "s", method="entropy") == pytest.approx(number, rel=1e-14)


@PROPERTY
@given(tables(), st.sampled_from([["x"], ["z"], ["y", "z"]]), st.floats(0.1, 5))
def test_diversity_is_that_of_the_least_varied_class(df, qi, c):
    lists = sensitive_values(df, qi, "s")[1]
    assert l_diversity(df, qi, "s") == min(len(set(values)) for values in lists)
    assert l_diversity(df, qi, "s", method="entropy") == pytest.approx(min(map(entropy_l, lists)))
    assert l_diversity(df, qi, "s", method="recursive", c=c) == min(recursive_l(values, c) for values in lists)
    assert l_diversity(df, qi, "s", method="entropy") <= l_diversity(df, qi, "s") + 1e-9


def test_closeness_of_known_tables():
    # the salaries of Li, Li and Venkatasubramanian
    df = pd.DataFrame({"q": [0, 0, 0, 1, 1, 1, 2, 2, 2], "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
    assert t_closeness(df, ["q"], "salary") == pytest.approx(2 / 3)
    assert t_closeness(df, ["q"], "salary", ordered=True) == pytest.approx(0.375)      # as they say, for {3, 4, 5}
    mixed = df.assign(q=[0, 0, 0, 1, 1, 1, 0, 0, 0])
    # {6, 8, 11} is nearer to the whole
    assert t_closeness(mixed, ["q"], "salary", ordered=True) == pytest.approx(1 / 6)
    assert (t_closeness(df.assign(salary=1), ["q"], "salary")
            == t_closeness(df.assign(salary=1), ["q"], "salary", ordered=True) == 0)


def earth_mover(one, two, order):
    """Between two lists of numbers-in-order, each of weight 1: sort and match equal shares,
    a formula other than dplib's."""
    times = math.lcm(len(one), len(two))
    left, right = (sorted(order[value] for value in values for _ in range(times // len(values)))
                   for values in (one, two))
    return sum(abs(a - b) for a, b in zip(left, right)) / times


@PROPERTY
@given(tables(), st.sampled_from([["x"], ["z"], ["y", "z"]]), st.sampled_from(["s", "x"]))
def test_closeness_is_the_distance_of_the_farthest_class(df, qi, sensitive):
    column, lists = sensitive_values(df, qi, sensitive)
    order = {value: place for place, value in enumerate(sorted(set(column) - {MISSING}) + [MISSING])}
    overall = Counter(column)
    variation = [sum(max(0, Counter(v)[s] / len(v) - overall[s] / len(column)) for s in overall) for v in lists]
    assert t_closeness(df, qi, sensitive) == pytest.approx(max(variation), abs=1e-12)
    moved = max(earth_mover(values, column, order) for values in lists) / max(len(set(column)) - 1, 1)
    assert t_closeness(df, qi, sensitive, ordered=True) == pytest.approx(moved, abs=1e-12)


def test_large_tables_are_counted_in_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"q": rng.integers(0, 40, 500), "s": rng.integers(0, 9, 500)})

    def measures():
        kinds = [l_diversity(df, ["q"], "s", method=kind, c=2 if kind == "recursive" else None)
                 for kind in ("distinct", "entropy", "recursive")]
        return [*kinds, t_closeness(df, ["q"], "s"), t_closeness(df, ["q"], "s", ordered=True)]

    at_once = measures()
    for cells in (1, 20, 100):
        monkeypatch.setattr(anonymity.measures, "_CELLS", cells)
        assert measures() == at_once


@pytest.mark.parametrize("index",
                         [range(100, 111), list("kjihgfedcba"), [0] * 11, pd.MultiIndex.from_product([[0], range(11)])])
def test_rows_are_known_by_position_and_not_by_label(index):
    shuffled = WARD.set_axis(pd.Index(index)).sample(frac=1, random_state=3)
    for df in (shuffled, WARD.sample(frac=1, random_state=1)):
        assert k_anonymity(df, QI) == 3
        assert l_diversity(df, QI, "illness") == l_diversity(WARD, QI, "illness")
        assert t_closeness(df, QI, "illness") == t_closeness(WARD, QI, "illness")
        assert t_closeness(df, QI, "days", ordered=True) == t_closeness(WARD, QI, "days", ordered=True)
        label = mondrian(df, ["days", "illness"], k=3)
        table = recode(df, ["days", "illness"], label)
        assert table.index.equals(df.index) and list(table) == list(df)
        assert table.groupby(label)["days"].nunique().eq(1).all()
        found = lattice_search(df, {"zip": [lambda column: "*"], "sex": []}, k=3)
        assert found.table.index.equals(df.index) and found.levels == {"zip": 0, "sex": 0}


def test_arguments_are_left_alone():
    before = WARD.copy()
    recode(WARD, QI, mondrian(WARD, QI, k=3))
    lattice_search(WARD, {"zip": [lambda column: "*"]}, k=5)
    pd.testing.assert_frame_equal(WARD, before)


# --- Mondrian

def cuts(values, k):
    """All cuts of a list of comparable values with k on both sides: the values that are the least of the upper side."""
    return [value for value in sorted(set(values)) if k <= sum(v < value for v in values) <= len(values) - k]


def ranked(df, qi):
    """Places of the rows in the sorted values of each column, a missing value last."""
    columns = []
    for name in qi:
        values = [plain(value) for value in df[name]]
        order = {value: place for place, value in enumerate(sorted(set(values) - {MISSING}) + [MISSING])}
        columns.append([order[value] for value in values])
    return np.array(columns).T


@PROPERTY
@given(tables(least=3, most=40), st.integers(1, 3), st.sampled_from([["x"], ["y", "x"], ["x", "y", "z"]]))
def test_mondrian_cuts_as_long_as_it_can_into_boxes_that_do_not_touch(df, k, qi):
    label, place = mondrian(df, qi, k=k), ranked(df, qi)
    parts = [place[label == one] for one in range(label.max() + 1)]
    assert min(map(len, parts)) >= k and sum(map(len, parts)) == len(df)
    for part in parts:
        assert not any(cuts(column.tolist(), k) for column in part.T)
    for one, two in itertools.combinations(parts, 2):
        assert ((one.max(axis=0) < two.min(axis=0)) | (two.max(axis=0) < one.min(axis=0))).any()
    assert k_anonymity(recode(df, qi, label), qi) >= k


def by_definition(points, span, k):
    """Strict Mondrian on a list of number tuples, as a set of classes; the evenest allowed cut, the lower of two."""
    width = [(max(column) - min(column)) / scale for column, scale in zip(zip(*points), span)]
    for axis in sorted(range(len(span)), key=lambda axis: -width[axis]):
        values = [point[axis] for point in points]
        if allowed := cuts(values, k):
            cut = min(allowed, key=lambda cut: (abs(2 * sum(v < cut for v in values) - len(values)), cut))
            below, above = [p for p in points if p[axis] < cut], [p for p in points if p[axis] >= cut]
            return by_definition(below, span, k) + by_definition(above, span, k)
    return [sorted(points)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 5])
def test_mondrian_is_the_algorithm_of_its_definition(seed, k):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"a": rng.integers(0, 8, 120), "b": rng.integers(0, 3, 120) * 1000,
                       "c": np.round(rng.exponential(size=120), 1)})
    label = mondrian(df, ["a", "b", "c"], k=k)
    found = [sorted(map(tuple, rows.tolist()))
             for _, rows in pd.Series(range(120)).groupby(label).apply(lambda rows: df.to_numpy()[rows]).items()]
    assert found == by_definition(list(map(tuple, df.to_numpy().tolist())), np.ptp(df.to_numpy(), axis=0), k)


def test_mondrian_finds_the_cut_on_either_side_of_a_tied_median():
    for values in ([0, 1, 1, 1, 1], [1, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 2, 2]):
        k = min(Counter(values).values())
        assert mondrian(pd.DataFrame({"x": values}), ["x"], k=k).tolist() == [value - values[0] for value in values]
        assert mondrian(pd.DataFrame({"x": values}), ["x"], k=k + 1).tolist() == [0] * len(values)


def test_mondrian_cuts_the_dimension_that_is_widest_relative_to_the_table():
    df = pd.DataFrame({"age": [20, 20, 30, 30, 40, 40, 41, 41], "pay": [0, 1000, 0, 1000, 2000, 90_000, 2000, 90_000]})
    # first age, in two fours; then the young differ by 10/21 in age and 1/90 in pay, the old by 1/21 and 88/90
    assert mondrian(df, ["pay", "age"], k=2).tolist() != [0] * 8
    parts = mondrian(df, ["age", "pay"], k=2)
    assert [df[parts == one].to_numpy().tolist() for one in range(4)] == [
        [[20, 0], [20, 1000]], [[30, 0], [30, 1000]], [[40, 2000], [41, 2000]],
        [[40, 90_000], [41, 90_000]]]


def test_categories_are_ordered_as_they_say_and_text_as_text():
    sizes = pd.Categorical(["small", "medium", "large", "small", "medium", "large"],
                           categories=["small", "medium", "large"], ordered=True)
    df = pd.DataFrame({"size": sizes, "name": ["2", "10", "1", "2", "10", "1"]})
    assert mondrian(df, ["size"], k=2).tolist() == [0, 1, 2, 0, 1, 2]
    assert mondrian(df, ["name"], k=2).tolist() == [2, 1, 0, 2, 1, 0]             # "1" < "10" < "2"
    assert recode(df, ["size"], np.zeros(6))["size"].tolist() == ["small, medium, large"] * 6


def visits(seed, size=2000):
    """A table like that of a hospital: ages, wards, dates of birth as text and as timestamps,
    and something missing in each."""
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("2024-01-01") - pd.to_timedelta(rng.gamma(8, 1800, size).astype(int), unit="D")
    df = pd.DataFrame({"age": 2023.0 - born.year, "ward": rng.choice(list("abcdefgh"), size),
                       "dob": born.strftime("%Y-%m-%d"), "born": born})
    return df.mask(rng.random(df.shape) < 0.02)


def test_classes_do_not_depend_on_the_order_of_the_rows_the_units_or_the_dress_of_a_date():
    df, qi = visits(0), ["age", "ward", "dob"]
    label = mondrian(df, qi, k=5)
    order = np.random.default_rng(1).permutation(len(df))
    assert (mondrian(df.iloc[order], qi, k=5) == label[order]).all()
    assert (mondrian(df.assign(age=df["age"] * 4 + 7), qi, k=5) == label).all()
    dressed = df.assign(born=df["born"].where(df["dob"].notna()), dob=df["dob"].where(df["born"].notna()))
    assert (mondrian(dressed, ["ward", "dob"], k=5) == mondrian(dressed, ["ward", "born"], k=5)).all()


@pytest.mark.parametrize("column", [
    [math.nan] * 6, [math.inf, -math.inf, 0, 1, 2, math.nan], [1.7e308, -1.7e308, 0, 5e-324, 1, 2],
    [0, -0.0, 0, 0, 0, 0],
    [2**63 - 1, -(2**63), 2**53, 2**53 + 1, 0, 1], [7, math.nan, 7, math.nan, 7, math.nan],
    [5e-324, 0, 0, 5e-324, 0, 5e-324], [-1, "x", None, 2.5, (), []],
    pd.array([1, None, 3, 4, 5, 6], dtype="Int64"), [True, False] * 3, pd.to_datetime(["2020-01-01", None] * 3),
])
@pytest.mark.filterwarnings("error")
def test_no_value_in_a_cell_raises_or_warns(column):
    df = pd.DataFrame({"q": column, "s": column})
    assert 1 <= k_anonymity(df, ["q"]) <= 6 and l_diversity(df, ["q"], "s") == 1
    assert 0 <= t_closeness(df, ["q"], "s") <= 1 and 0 <= t_closeness(df, ["q"], "s", ordered=True) <= 1
    for k in (1, 2, 3):
        label = mondrian(df, ["q"], k=k)
        assert np.bincount(label).min() >= k
        assert k_anonymity(recode(df, ["q"], label), ["q"]) >= k
        assert lattice_search(df, {"q": [lambda column: "*"]}, k=k).suppressed == 0
    assert mondrian(df, ["q"], k=1).max() == classes(df, ["q"]).max()      # with k = 1 every different value is a class


# --- recoding

def test_recoded_values_say_what_the_class_shares():
    df = pd.DataFrame({
        "age": [18, 25, 20, 40, 40, 40], "below": [-5, 3, 0, 1, 2, 2],
        "share": [0.5, 2, 1, 3, 3, np.nan], "sex": ["F", "M", "F", "M", "M", None],
        "dob": ["2000-01-03", "2000-01-01", "2000-01-02", "1990-05-05", "1990-05-05", "1990-05-05"], "odd": [None] * 6,
    })
    table = recode(df, list(df), [1, 1, 1, 0, 0, 0])
    assert table.iloc[2].tolist() == ["18-25", "-5 to 3", "0.5-2", "F, M", "2000-01-01, 2000-01-02, 2000-01-03", "?"]
    assert table.iloc[3].tolist() == ["40", "1 to 2", "3, ?", "M, ?", "1990-05-05", "?"]
    dates = pd.DataFrame({"dob": [f"2000-01-0{day}" for day in (5, 2, 3, 9, 1)]})
    assert set(recode(dates, "dob", ["x"] * 5)["dob"]) == {"2000-01-01 to 2000-01-09"}
    assert recode(dates, "dob", range(5))["dob"].tolist() == dates["dob"].tolist()


@PROPERTY
@given(tables(least=2), st.integers(1, 4))
def test_recoding_is_true_of_every_row_and_equal_within_a_class(df, number):
    label = np.arange(len(df)) % number
    table = recode(df, ["x", "y"], label)
    assert k_anonymity(table, ["x", "y"]) >= np.bincount(label[label < len(df)]).min()
    for one in set(label):
        x, y = df["x"][label == one], {plain(value) for value in df["y"][label == one]}
        assert table["x"][label == one].nunique() == 1 and table["y"][label == one].nunique() == 1
        shown = table["x"][label == one].iloc[0]
        ends = [f"{value:g}" for value in (x.min(), x.max()) if not math.isnan(value)]
        assert ("?" in shown) == x.isna().any() and all(end in shown for end in ends)
        assert set(table["y"][label == one].iloc[0].split(", ")) == {value.replace(MISSING, "?") for value in y}
    pd.testing.assert_frame_equal(table[["z", "s"]], df[["z", "s"]])


def test_a_recoded_table_of_visits_is_k_anonymous():
    df, qi = visits(2), ["age", "ward", "dob", "born"]
    assert k_anonymity(df, qi) == 1
    for k in (2, 10, 50):
        label = mondrian(df, qi, k=k)
        assert k_anonymity(recode(df, qi, label), qi) >= np.bincount(label).min() >= k


# --- the lattice

LADDERS = {
    "x": [lambda column: column // 2, lambda column: column // 4, lambda column: 0],
    "y": [{"a": "ab", "b": "ab", "c": "c"}, lambda column: ["*"] * len(column)],
    "z": [lambda column: "*"],
}


def small_table(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 40))
    return pd.DataFrame({"x": rng.integers(0, 8, size), "y": rng.choice(["a", "b", "c", None], size),
                         "z": rng.integers(0, 2, size)})


def climbed(df, node):
    """The table at one node, one column at a time."""
    table = df.copy()
    for (name, ladder), level in zip(LADDERS.items(), node):
        if level:
            rung = ladder[level - 1]
            table[name] = df[name].map(rung) if isinstance(rung, dict) else rung(df[name])
    return table


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("suppress", [0.0, 0.1, 0.35])
def test_the_search_finds_every_minimal_node_and_the_best(seed, suppress):
    df, qi = small_table(seed), list(LADDERS)
    for k in (2, 3, 5):
        small = {}
        for node in itertools.product(range(4), range(3), range(2)):
            small[node] = sum(len(rows) for rows in groups(climbed(df, node), qi).values() if len(rows) < k)
        above = {node: [tuple(n + (i == j) for j, n in enumerate(node)) for i in range(3)] for node in small}
        for node in small:                       # suppressed rows never grow up the lattice
            assert all(small[up] <= small[node] for up in above[node] if up in small)
        fit = {node for node in small if small[node] <= suppress * len(df) + 1e-9}
        minimal = fit - {up for node in fit for up in above[node]}
        found = lattice_search(df, LADDERS, k=k, suppress=suppress)
        best = tuple(found.levels.values())
        assert {tuple(levels.values()) for levels in found.minimal} == minimal and best in minimal

        def loss(node):
            return sum(level / height for level, height in zip(node, (3, 2, 1))) / 3

        assert found.loss == pytest.approx(loss(best)) == pytest.approx(min(map(loss, fit)))
        assert found.suppressed == small[best] == min(small[node]
                                                      for node in fit if math.isclose(loss(node), loss(best)))
        assert k_anonymity(found.table, qi) >= k and len(found.table) == len(df) - found.suppressed
        pd.testing.assert_frame_equal(found.table, climbed(df, best).loc[found.table.index], check_dtype=False)
        assert found.tested <= found.nodes == len(small)
        assert found.tested == len(small) - len({node for node in fit if node not in minimal})

        cheap_x = lattice_search(df, LADDERS, k=k, suppress=suppress,
                                 cost=lambda levels: levels["x"] + 10 * levels["y"] + 5 * levels["z"])
        assert cheap_x.loss == min(x + 10 * y + 5 * z for x, y, z in fit)


def test_suppressing_one_outlier_saves_a_level():
    df = pd.DataFrame({"age": [20, 20, 30, 30, 30, 30, 30, 30, 30, 97]}, index=list("abcdefghij"))
    ladder = {"age": [lambda age: age // 50, lambda age: "*"]}
    assert lattice_search(df, ladder, k=2).levels == {"age": 2}
    found = lattice_search(df, ladder, k=2, suppress=0.1)
    assert (found.levels, found.suppressed, list(found.table.index)) == ({"age": 0}, 1, list("abcdefghi"))
    assert lattice_search(df, ladder, k=3, suppress=0.29).levels == {"age": 1}  # two of ten may go, three would have to
    many = pd.DataFrame({"age": [1] * 71 + list(range(100, 129))})
    # though 0.29 * 100 < 29
    assert lattice_search(many, {"age": [lambda age: "*"]}, k=2, suppress=0.29).suppressed == 29


def test_a_table_that_is_anonymous_already_is_left_as_it_is():
    found = lattice_search(WARD, {"zip": [lambda column: "*"], "sex": [lambda column: "*"]}, k=3)
    assert (found.levels, found.loss, found.tested, found.nodes) == ({"zip": 0, "sex": 0}, 0, 1, 4)
    pd.testing.assert_frame_equal(found.table, WARD)
    assert lattice_search(WARD, {"sex": []}, k=3).loss == 0


@pytest.mark.parametrize("hierarchies", [
    None, {}, [], {"nope": []}, {"zip": None}, {"zip": "*"}, {"zip": ["*"]}, {"zip": [lambda column: ["*"]]},
    {"days": [lambda days: days // 2, lambda days: days // 3]},
    {"zip": [{"A": 1, "B": 1, "C": 2}, {"A": 1, "B": 2, "C": 2}]},
])
def test_a_bad_hierarchy_is_refused(hierarchies):
    with pytest.raises(ValueError, match="hierarchies"):
        lattice_search(WARD, hierarchies, k=2)


def test_a_k_out_of_reach_is_refused():
    with pytest.raises(ValueError, match="k=4 .* hierarchies"):
        lattice_search(WARD, {"zip": [{"A": "AB", "B": "AB", "C": "C"}], "sex": []}, k=4)
    for function in (lambda k: mondrian(WARD, QI, k=k), lambda k: lattice_search(WARD, {"zip": []}, k=k)):
        with pytest.raises(ValueError, match="k must not exceed the number of rows, 11, got 12"):
            function(12)


# --- bad input

CALLS = {
    "classes": classes, "k_anonymity": k_anonymity, "discernibility": discernibility, "average_class": average_class,
    "l_diversity": lambda df, qi: l_diversity(df, qi, "illness"),
    "t_closeness": lambda df, qi: t_closeness(df, qi, "illness"),
    "mondrian": lambda df, qi: mondrian(df, qi, k=2), "recode": lambda df, qi: recode(df, qi, [0] * 11),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_bad_tables_and_columns_are_refused(call):
    for bad in (["nope"], "nope", ["zip", "nope"], [], None, 7, ["zip", "zip"], [["zip"]]):
        with pytest.raises(ValueError, match=r"\bqi\b"):
            call(WARD, bad)
    for bad in (WARD.iloc[:0], [[1, 2]], {"zip": [1]}, WARD["zip"], None, 3):
        with pytest.raises(ValueError, match=r"\bdf\b"):
            call(bad, ["zip"])
    with pytest.raises(ValueError, match=r"\bqi\b"):
        call(pd.concat([WARD, WARD[["zip"]]], axis=1), ["zip"])                  # which of the two?


@pytest.mark.parametrize("parameters", [
    {"method": "other"}, {"method": None}, {"method": "recursive"}, {"method": "recursive", "c": 0},
    {"method": "recursive", "c": math.nan},
    {"method": "recursive", "c": "3"}, {"c": 2}, {"method": "entropy", "c": 2},
])
def test_bad_kinds_of_diversity_are_refused(parameters):
    with pytest.raises(ValueError, match="method|^c "):
        l_diversity(WARD, QI, "illness", **parameters)


def test_other_bad_parameters_are_refused():
    for sensitive in (None, "nope", 7, ["illness"]):
        for measure in (l_diversity, t_closeness):
            with pytest.raises(ValueError, match="sensitive"):
                measure(WARD, QI, sensitive)
    with pytest.raises(ValueError, match="ordered"):
        t_closeness(WARD, QI, "days", ordered="yes")
    for k in (0, -1, 2.0, None, "2", math.nan):
        for call in (lambda k: mondrian(WARD, QI, k=k), lambda k: average_class(WARD, QI, k=k),
                     lambda k: lattice_search(WARD, {"zip": []}, k=k)):
            with pytest.raises(ValueError, match=r"\bk\b"):
                call(k)
    for labels in ([0] * 10, 0, None, np.zeros((11, 1))):
        with pytest.raises(ValueError, match="labels"):
            recode(WARD, QI, labels)
    for suppress in (-0.1, 1.0, math.nan, None, "0.1"):
        with pytest.raises(ValueError, match="suppress"):
            lattice_search(WARD, {"zip": []}, k=2, suppress=suppress)
    with pytest.raises(ValueError, match="cost"):
        lattice_search(WARD, {"zip": []}, k=2, cost=3)
