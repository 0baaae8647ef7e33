"""Synthetic data: what is asked of the private rows, what it costs, and what the drawn rows keep and lose.

The privacy of each generator is tested the way it is proved: with the noisy replies of the mechanisms held fixed, two
neighbours must give the same rows (nothing is used without noise), and no question may move by more than was charged.
"""
import datetime
import itertools
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from laws import LEVEL, follows

from dplib import histograms, mechanisms
from dplib.audit import audit
from dplib.sensitivity import ADJACENCIES
from dplib.synthetic import chow_liu, independent, mwem, sample

DOMAINS = {"a": [0, 1], "b": ["x", "y", "z"], "c": [0, 1]}
ODD = {"a": [2, math.nan, None, True, "0", [0], {}, math.inf, 1.0], "b": [None, 0, np.array([1, 2]), "X"],
       "c": [-1, None, pd.NaT, "x", 10**30]}
TABLES = {"independent": independent, "chow_liu": chow_liu}


class Asked(NamedTuple):
    kind: str
    question: np.ndarray
    sensitivity: float
    epsilon: float


def transcript(monkeypatch, generate, data, seed):
    """What `generate` returns and what it asked,
    when every mechanism gives a reply that does not depend on the data."""
    asked, rng = [], np.random.default_rng(seed)

    def laplace(value, *, sensitivity, epsilon, rng=None, fixed=rng):
        asked.append(Asked("laplace", np.array(value, dtype=float), sensitivity, epsilon))
        return fixed.uniform(-5, 20) + fixed.laplace(scale=10, size=np.shape(value))

    def exponential(scores, *, sensitivity, epsilon, rng=None, fixed=rng):
        asked.append(Asked("exponential", np.array(scores, dtype=float), sensitivity, epsilon))
        return int(fixed.integers(len(scores)))

    with monkeypatch.context() as patch:
        for name in mechanisms.__all__:          # whoever looks another way for noise finds none
            patch.delattr(mechanisms, name)
        patch.setattr(mechanisms, "laplace", laplace, raising=False)
        patch.setattr(mechanisms, "exponential", exponential, raising=False)
        return generate(data), asked


def moved(monkeypatch, generate, one, two, seed):
    """For each kind of question the furthest that one moved between two neighbours, over what was charged for it."""
    (out, here), (out2, there) = (transcript(monkeypatch, generate, data, seed) for data in (one, two))
    assert np.array_equal(np.asarray(out), np.asarray(out2))
    assert getattr(out, "attrs", None) == getattr(out2, "attrs", None)
    furthest = {}
    for a, b in zip(here, there, strict=True):
        assert a.kind == b.kind and a.question.shape == b.question.shape
        assert a.sensitivity == b.sensitivity and a.epsilon == b.epsilon
        change = np.abs(a.question - b.question)
        norm = change.sum() if a.kind == "laplace" else change.max()      # L1 for an answer, each score for a choice
        furthest[a.kind] = max(furthest.get(a.kind, 0.0), norm / a.sensitivity)
    return furthest


def neighbours(adjacency, rng):
    """Two tables that differ in one row, some with cells outside the domains,
    in columns of whatever dtype that makes."""
    names, n = list(DOMAINS), int(rng.integers(1, 8))

    def row(odd):
        cells = [(ODD if rng.random() < odd else DOMAINS)[name] for name in names]
        return [values[rng.integers(len(values))] for values in cells]

    rows, at = [row(rng.choice([0.0, 0.2])) for _ in range(n)], int(rng.integers(n))
    other = rows[:at] + ([row(0.4)] if adjacency == "replace" else []) + rows[at + 1 :]
    tables = [pd.DataFrame({name: [line[j] for line in lines] for j, name in enumerate(names)})
              for lines in (rows, other)]
    return tables if rng.random() < 0.5 else tables[::-1]


# --- drawing


def test_cells_are_drawn_by_their_weights():
    drawn = sample([1, 0, 3, 4], rows=100_000, rng=1)
    follows(np.bincount(drawn, minlength=4), [1 / 8, 0, 3 / 8, 4 / 8], [0.135, 0, 0.37, 0.495], [0.115, 0, 0.385, 0.5])
    table = np.array([[1, 2, 3], [0, 2, 0]])
    cells = sample(table, rows=100_000, rng=2)
    assert cells.shape == (100_000, 2)
    counts = np.zeros((2, 3))
    np.add.at(counts, tuple(cells.T), 1)
    follows(counts.ravel(), table.ravel() / 8, np.full(6, 1 / 6))
    assert sample(np.ones((2, 1, 3)), rows=5, rng=0).shape == (5, 3) and sample(np.ones((2, 2)), rows=0).shape == (0, 2)


def test_values_are_even_inside_their_bin():
    drawn = sample([1, 0, 3], rows=100_000, edges=[-1.0, 0.0, 5.0, 7.0], rng=3)
    counts = np.histogram(drawn, [-1, -0.5, 0, 5, 6, 7])[0]
    follows(counts, [1 / 8, 1 / 8, 0, 3 / 8, 3 / 8], [0.13, 0.12, 0, 0.375, 0.375], [1 / 8, 1 / 8, 0, 0.385, 0.365])
    assert sample([2], rows=4, edges=[0, 1], rng=3).dtype == float and sample([2], rows=0, edges=[0, 1]).shape == (0,)


def test_weights_are_relative_however_large_or_small():
    assert (sample([1e308, 1e308, 1e308], rows=50, rng=4).tolist() == sample([1, 1, 1], rows=50, rng=4).tolist()
            == sample([5e-324] * 3, rows=50, rng=4).tolist())
    for weights in ([], 1.0, [0, 0], [-1, 2], [math.nan], [math.inf, 1]):
        with pytest.raises(ValueError, match="weights"):
            sample(weights, rows=1)
    for edges in ([0, 1], [0, 1, 1], [0, 2, 1], [0, 1, math.inf], [0, math.nan, 1], [[0, 1, 2]]):
        with pytest.raises(ValueError, match="edges"):
            sample([1, 1], rows=1, edges=edges)
    with pytest.raises(ValueError, match="edges"):
        sample([[1, 1]], rows=1, edges=[0, 1, 2])


# --- privacy


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", TABLES)
def test_no_question_about_a_table_moves_by_more_than_is_charged(name, adjacency, monkeypatch):
    def generate(df):
        return TABLES[name](df, DOMAINS, epsilon=1.0, rows=20, adjacency=adjacency, rng=7)

    rng, furthest = np.random.default_rng(8), []
    for seed in range(120):
        furthest.append(moved(monkeypatch, generate, *neighbours(adjacency, rng), seed))
    largest = pd.DataFrame(furthest).max()
    assert (largest <= 1 + 1e-9).all()
    assert largest["laplace"] == 1 and largest.get("exponential", 1) > 0.9         # and no more is charged than that


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", TABLES)
def test_the_questions_about_a_table_cost_epsilon_in_all(name, adjacency, columns, monkeypatch):
    domains = dict(itertools.islice(DOMAINS.items(), columns))
    df = pd.DataFrame({"a": [0, 1, 1], "b": ["x", "x", "z"], "c": [1, 1, 1]})
    asked = transcript(monkeypatch, lambda df: TABLES[name](df, domains, epsilon=0.7, rows=9, adjacency=adjacency),
                       df, 0)[1]
    kinds = [one.kind for one in asked]
    if name == "independent":
        assert kinds == ["laplace"] * columns
        assert [one.epsilon for one in asked] == pytest.approx([0.7 / columns] * columns)
    else:
        assert kinds == ["laplace"] * columns + ["exponential", "laplace"] * (columns - 1)
        shares = [0.7 / 3 / columns] * columns + [0.7 / 3 / max(columns - 1, 1)] * 2 * (columns - 1)
        assert [one.epsilon for one in asked] == pytest.approx(shares)
    assert math.fsum(one.epsilon for one in asked) <= 0.7 * (1 + 1e-12)
    assert {one.sensitivity for one in asked if one.kind == "laplace"} == {2.0 if adjacency == "replace" else 1.0}
    assert {one.sensitivity for one in asked if one.kind == "exponential"} <= {2.0}


def test_no_question_of_mwem_moves_by_more_than_is_charged(monkeypatch):
    rng, furthest = np.random.default_rng(9), []
    for seed in range(60):
        k = int(rng.integers(2, 6))
        queries = np.vstack([rng.random((2, k)), rng.integers(0, 2, (3, k))])
        counts = rng.integers(1, 9, k)
        other = counts - np.eye(k, dtype=int)[rng.integers(k)] + np.eye(k, dtype=int)[rng.integers(k)]
        furthest.append(moved(monkeypatch, lambda counts, q=queries: mwem(counts, q, epsilon=1.0, rounds=4, rng=1),
                              counts, other, seed))
    largest = pd.DataFrame(furthest).max()
    assert largest["laplace"] == pytest.approx(1) and largest["exponential"] == pytest.approx(1)


@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_the_questions_of_mwem_cost_epsilon_in_all(rounds, monkeypatch):
    asked = transcript(monkeypatch, lambda counts: mwem(counts, np.eye(3), epsilon=0.7, rounds=rounds),
                       np.array([3, 0, 1]), 0)[1]
    assert [one.kind for one in asked] == ["exponential", "laplace"] * rounds
    assert [(one.sensitivity, one.epsilon) for one in asked] == [(1, pytest.approx(0.35 / rounds))] * 2 * rounds


def test_an_audit_of_the_noisy_tables_accepts_independent_and_refutes_epsilon_for_every_column(monkeypatch):
    tables = [pd.DataFrame({"a": [0, 1], "b": ["x", "y"], "c": [0, other]}) for other in (0, 1)]
    tables[1].loc[1] = [0, "z", 1]               # another row, other values in all columns

    def found():
        asked = [transcript(monkeypatch, lambda df: independent(df, DOMAINS, epsilon=1.0, adjacency="replace"),
                            df, 0)[1] for df in tables]

        def run(which, size, rng):               # the log likelihood ratio of all noisy tables
            ratio = np.zeros(size)
            for one, two, true in zip(*asked, asked[which]):
                scale = true.sensitivity / true.epsilon
                noisy = true.question + rng.laplace(scale=scale, size=(size, *true.question.shape))
                ratio += (np.abs(noisy - one.question) - np.abs(noisy - two.question)).sum(axis=1) / scale
            return ratio.round(6)

        return audit(run, 0, 1, n=60_000, confidence=1 - LEVEL, rng=10).epsilon

    assert 0.6 < found() <= 1
    perturb = histograms.perturb
    monkeypatch.setattr(histograms, "perturb",
                        lambda counts, *, epsilon, **rest: perturb(counts, epsilon=3 * epsilon, **rest))
    assert found() > 1.5


# --- odd rows and public shapes


@pytest.mark.parametrize("name", TABLES)
def test_a_cell_outside_its_domain_is_no_value_and_no_error(name):
    cells = [1] * 500 + [2, math.nan, None, "0", [0], {}, math.inf, pd.NaT, (0, [1])] * 20
    df = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": ["x"] * len(cells)})
    drawn = TABLES[name](df, {"a": [0, 1], "b": ["x", "y"]}, epsilon=1e9, adjacency="replace", rng=11)
    assert drawn.shape == (680, 2) and (drawn.a == 1).all() and (drawn.b == "x").all()
    nothing = TABLES[name](df, {"a": ["p", "q"], "b": [7, 8]}, epsilon=1e9, rows=50, adjacency="replace", rng=11)
    assert set(nothing.a) <= {"p", "q"} and set(nothing.b) <= {7, 8}
    nobody = TABLES[name](df[:0], {"a": [0, 1], "b": ["x"]}, epsilon=1.0, rows=5, adjacency="add/remove", rng=11)
    assert len(nobody) == 5 and (nobody.b == "x").all()


def test_one_cell_does_not_change_what_the_others_mean(monkeypatch):
    """A column of truth values becomes one of objects by one missing cell,
    and pandas' own look-up then finds what it did not."""
    for plain, odd in (([True, False] * 20, None), ([0, 1] * 20, "?"),
                       ([0, 1] * 20, None), ([0, 1] * 20, 1.5), (["0", "1"] * 20, 0)):
        for domain in ([0, 1], [False, True], [0.0, 1.0], ["0", "1"]):
            one, two = pd.DataFrame({"a": plain}), pd.DataFrame({"a": plain[:-1] + [odd]})
            for generate in TABLES.values():
                def mechanism(df, generate=generate, domain=domain):
                    return generate(df, {"a": domain}, epsilon=1.0, adjacency="replace", rng=0)

                furthest = moved(monkeypatch, mechanism, one, two, 0)
                assert furthest["laplace"] <= 1


@pytest.mark.parametrize("domain", [[7, "seven"], [(1, 2), (3, 4)], [None, "x"],
                                    [pd.Timestamp("2024-02-29")], [0.5, math.nan], [True, False], ["a"]])
@pytest.mark.parametrize("name", TABLES)
def test_values_come_out_as_they_went_in(name, domain):
    df = pd.DataFrame({"a": pd.Series([domain[0]] * 60, dtype=object), "b": [1] * 60})
    drawn = TABLES[name](df, {"a": domain, "b": [0, 1]}, epsilon=1e9, adjacency="replace", rng=12)
    if domain[0] is None:                        # what pandas writes for it depends on its version
        assert drawn.a.isna().all()
    else:
        assert all(type(value) is type(domain[0]) and value == domain[0] for value in drawn.a.tolist())
    assert (drawn.b == 1).all()


@pytest.mark.parametrize("name", TABLES)
def test_the_index_does_not_matter_and_the_table_is_left_alone(name):
    rng = np.random.default_rng(13)
    df = pd.DataFrame({column: rng.choice(domain, 40) for column, domain in DOMAINS.items()})
    odd = df.set_axis(rng.integers(0, 5, 40))
    kept = odd.copy()
    drawn = TABLES[name](odd, DOMAINS, epsilon=3.0, adjacency="replace", rng=14)
    pd.testing.assert_frame_equal(drawn, TABLES[name](df, DOMAINS, epsilon=3.0, adjacency="replace", rng=14))
    pd.testing.assert_frame_equal(odd, kept)
    assert drawn.index.tolist() == list(range(40)) and list(drawn) == list(DOMAINS)
    assert ([len(TABLES[name](df, DOMAINS, epsilon=3.0, rows=size, adjacency="replace", rng=1)) for size in (0, 1, 77)]
            == [0, 1, 77])


@pytest.mark.parametrize("name", TABLES)
def test_bad_shapes_are_refused(name):
    df, generate = pd.DataFrame({"a": [0, 1], "b": ["x", "y"]}), TABLES[name]
    for domains in ({}, {"nobody": [1]}, {"a": []}, {"a": [0, 0]}, {"a": [None, math.nan]},
                    {"a": [1, True]}, ["a"], None):
        with pytest.raises(ValueError, match="domains"):
            generate(df, domains, epsilon=1.0, adjacency="replace")
    with pytest.raises(ValueError, match="rows"):
        generate(df, {"a": [0, 1]}, epsilon=1.0, adjacency="add/remove")
    with pytest.raises(ValueError, match="df"):
        generate([[0]], {"a": [0, 1]}, epsilon=1.0, adjacency="replace")


# --- what is kept


def chain(n, rng):
    """Rows of a -> b -> c, a Markov chain: given b, a says nothing more about c."""
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.8, 2 * a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.7, b == 2, rng.random(n) < 0.4).astype(int)
    return pd.DataFrame({"a": a, "b": np.array(DOMAINS["b"])[b], "c": c})


def joint(df):
    codes = [df[name].map(domain.index) for name, domain in DOMAINS.items()]
    return np.bincount(np.ravel_multi_index(codes, (2, 3, 2)), minlength=12).reshape(2, 3, 2)


def laws(df):
    """The law of independent columns, of the chain, and of the rows themselves."""
    p = joint(df) / len(df)
    alone = np.einsum("i,j,k->ijk", p.sum((1, 2)), p.sum((0, 2)), p.sum((0, 1)))
    return alone.ravel(), (p.sum(2)[:, :, None] * p.sum(0) / p.sum((0, 2))[:, None]).ravel(), p.ravel()


def test_independent_keeps_the_columns_and_loses_what_relates_them():
    df = chain(3000, np.random.default_rng(15))
    alone, chained, _ = laws(df)
    follows(joint(independent(df, DOMAINS, epsilon=1e9, rows=60_000, adjacency="replace", rng=16)).ravel(),
            alone, chained)


def test_chow_liu_keeps_the_pairs_of_its_tree():
    df = chain(3000, np.random.default_rng(17))
    df.loc[df.index[:300], "c"] = df.a[:300]     # so that the rows are no chain any more
    alone, chained, itself = laws(df)
    drawn = chow_liu(df, DOMAINS, epsilon=1e9, rows=60_000, adjacency="replace", rng=18)
    assert drawn.attrs["edges"] == [("a", "b"), ("b", "c")]
    follows(joint(drawn).ravel(), chained, alone, itself)


def test_with_moderate_epsilon_a_strong_relation_survives():
    df = chain(4000, np.random.default_rng(19))
    true = ((df.a == 1) & (df.b == "z")).mean()
    kept = [((rows.a == 1) & (rows.b == "z")).mean()
            for rows in (chow_liu(df, DOMAINS, epsilon=2.0, adjacency="replace", rng=seed) for seed in range(10))]
    lost = [((rows.a == 1) & (rows.b == "z")).mean()
            for rows in (independent(df, DOMAINS, epsilon=2.0, adjacency="replace", rng=seed) for seed in range(10))]
    assert np.abs(np.array(kept) - true).max() < 0.06 < true - max(lost)


def spanning(edges, d):
    """Whether every column is reached once, each from one that was there before."""
    there = all(parent in {0, *(child for _, child in edges[:i])} for i, (parent, _) in enumerate(edges))
    once = {0, *(child for _, child in edges)} == set(range(d)) and len(edges) == d - 1
    return edges[0][0] == 0 and once and there


def test_the_edges_are_a_spanning_tree_and_with_a_large_epsilon_the_best_one():
    rng = np.random.default_rng(20)
    for d in (2, 3, 4, 5):
        names = [f"column {j}" for j in range(d)]
        domains = {name: [0, 1, 2] for name in names}
        for seed in range(6):
            codes = rng.integers(0, 3, (200, d))
            for j in range(1, d):
                codes[:, j] = np.where(rng.random(200) < rng.random(), codes[:, rng.integers(j)], codes[:, j])
            df = pd.DataFrame(codes, columns=names)
            any_tree, best = ([tuple(map(names.index, edge))
                               for edge in chow_liu(df, domains, epsilon=epsilon, rows=3, adjacency="replace",
                    rng=seed).attrs["edges"]]
                              for epsilon in (0.01, 1e9))
            assert spanning(any_tree, d) and spanning(best, d)
            shares = [np.bincount(column, minlength=3) / 200 for column in codes.T]
            weight = {(i, j): np.abs(np.histogram2d(codes[:, i], codes[:, j], bins=3, range=[[0, 3]] * 2)[0]
                                     - 200 * np.outer(shares[i], shares[j])).sum()
                      for i in range(d) for j in range(d) if i != j}
            heaviest = sorted(((weight[pair], pair) for pair in itertools.combinations(range(d), 2)), reverse=True)
            group, total = list(range(d)), 0.0   # Kruskal
            for heavy, (i, j) in heaviest:
                if group[i] != group[j]:
                    group, total = [group[i] if label == group[j] else label for label in group], total + heavy
            assert sum(weight[edge] for edge in best) == pytest.approx(total, abs=1e-3)


def test_one_column_has_no_edges_and_a_parent_never_seen_falls_back_on_the_column():
    df = pd.DataFrame({"a": [0, 0, 1] * 100})
    rows = chow_liu(df, {"a": [0, 1]}, epsilon=1e9, rows=10_000, adjacency="replace", rng=21)
    assert rows.attrs["edges"] == []
    follows(np.bincount(rows.a), [2 / 3, 1 / 3], [0.7, 0.3])
    for seed in range(30):                       # hardly any budget: many empty rows in the pairs' tables
        rows = chow_liu(df.assign(b=df.a, c=1), {"a": [0, 1, 2, 3], "b": [0, 1, 2], "c": [0, 1]},
                        epsilon=0.01, rows=50, adjacency="replace", rng=seed)
        assert rows.isin({"a": [0, 1, 2, 3], "b": [0, 1, 2], "c": [0, 1]}).all(axis=None)


# --- mwem


def ranges(k):
    return np.array([(np.arange(k) >= start) & (np.arange(k) < stop)
                     for start, stop in itertools.combinations(range(k + 1), 2)], dtype=float)


def test_mwem_answers_the_queries_better_than_no_data_would():
    k, queries = 16, ranges(16)
    counts = np.round(4000 * np.diff(np.tanh(np.linspace(-3, 1, k + 1)))).astype(int)
    errors = []
    for seed in range(10):
        guess = mwem(counts, queries, epsilon=1.0, rounds=8, rng=seed)
        assert guess.shape == (k,) and guess.min() > 0 and guess.sum() == pytest.approx(counts.sum())
        errors.append(np.abs(queries @ (guess - counts)).max())
    uniform = np.abs(queries @ (np.full(k, counts.mean()) - counts)).max()
    assert max(errors) < uniform / 4
    exact = mwem(counts, queries, epsilon=1e9, rounds=40, rng=0)
    assert np.abs(queries @ (exact - counts)).max() < uniform / 50 < min(errors)


def test_mwem_learns_what_it_measures_and_nothing_else():
    counts = np.array([900, 100, 30, 10])
    guess = mwem(counts, [[1, 1, 0, 0]], epsilon=1e9, rounds=30, rng=0)
    assert guess[:2] == pytest.approx([500, 500], rel=1e-3) and guess[2:] == pytest.approx([20, 20], rel=1e-3)
    assert mwem(counts, np.ones((1, 4)), epsilon=1.0, rounds=2, rng=0) == pytest.approx([260] * 4)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1.0, 1e9])
@pytest.mark.parametrize("counts", [[1, 0], [0, 0, 1], [10**9, 1]])
def test_mwem_stays_a_histogram_whatever_the_noise(counts, epsilon):
    for seed in range(10):
        guess = mwem(counts, np.eye(len(counts)), epsilon=epsilon, rounds=6, rng=seed)
        assert guess.min() > 0 and guess.sum() == pytest.approx(sum(counts))
        assert (guess == mwem(counts, np.eye(len(counts)), epsilon=epsilon, rounds=6, rng=seed)).all()


@pytest.mark.parametrize("cells", [
    pd.to_datetime(["2026-01-01", "2026-02-01"]), [datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)],
    ["2026-01-01", "2026-02-01"], np.array(["2026-01-01", "2026-02-01"], dtype="M8[D]"),
], ids=["timestamps", "dates", "texts", "datetime64"])
@pytest.mark.parametrize("domain", [
    pd.to_datetime(["2026-01-01", "2026-02-01", "2026-03-01"]).tolist(), ["2026-01-01", "2026-02-01", "2026-03-01"],
    [datetime.date(2026, month, 1) for month in (1, 2, 3)], np.array(["2026-01", "2026-02", "2026-03"], dtype="M8[D]"),
], ids=["timestamps", "texts", "dates", "datetime64"])
def test_a_date_is_the_same_day_in_every_type(cells, domain):
    df = pd.DataFrame({"day": pd.Series(list(cells) * 4000)})
    drawn = independent(df, {"day": domain}, epsilon=1.0, adjacency="replace", rng=0).day
    counts = drawn.value_counts().reindex(pd.Series(list(domain)), fill_value=0)
    assert counts.iloc[2] < 200 and abs(counts.iloc[0] - 4000) < 400 and abs(counts.iloc[1] - 4000) < 400


def test_mwem_refuses_bad_shapes_and_keeps_the_counts():
    counts = np.array([3, 1])
    mwem(counts, np.eye(2), epsilon=1.0, rounds=2)
    assert counts.tolist() == [3, 1]
    for bad in ([], [0, 0], [[1, 2]]):
        with pytest.raises(ValueError, match="counts"):
            mwem(bad, np.eye(2), epsilon=1.0, rounds=1)
    for bad in ([1, 0], np.eye(3), [[2, 0]], [[-1, 0]], [[math.nan, 0]], np.zeros((0, 2))):
        with pytest.raises(ValueError, match="queries"):
            mwem(counts, bad, epsilon=1.0, rounds=1)
