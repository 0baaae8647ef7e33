"""What is returned carries only what is released: no category, dictionary, note or level of a row that is not there.

In each place of a table or an index where something may be remembered stands a secret, and the pickle of what comes
back is searched for it.
"""
import pickle

import numpy as np
import pandas as pd
import pytest

from dplib import anonymity, attacks, partitions, synthetic

SECRET = "hush271828"
COMMON = ["34301"] * 40 + ["34302"] * 40


def values(kind):
    """Eighty common values and one secret one, as a Series of this kind."""
    column = pd.Series([*COMMON, SECRET])
    if kind == "categories":
        return column.astype("category")
    if kind == "dictionary":
        arrow = pytest.importorskip("pyarrow")
        return pd.Series(pd.arrays.ArrowExtensionArray(arrow.array(column.tolist()).dictionary_encode()))
    if kind == "arrow":
        pytest.importorskip("pyarrow")
        return column.astype("string[pyarrow]")
    return column.astype({"objects": object, "texts": "string"}[kind])


KINDS = ["objects", "texts", "categories", "dictionary", "arrow"]


@pytest.fixture(params=KINDS)
def column(request):
    return values(request.param)


def noted(df):
    """The table with a note of the row that is not published."""
    df.attrs["removed"] = SECRET
    return df


def told(thing):
    return SECRET.encode() in pickle.dumps(thing)


def test_a_pickle_shows_a_secret_category_dictionary_and_note():
    assert all(told(values(kind)[:80]) for kind in ("categories",))
    assert told(noted(pd.DataFrame({"zip": ["34301"]}))) and not told(values("objects")[:80].tolist())


@pytest.mark.parametrize("noise", partitions.NOISES)
def test_a_list_of_groups_knows_no_group_that_is_not_on_it(column, noise):
    counts = column.to_frame("zip").groupby("zip", observed=True).size()
    if counts.index.dtype != column.dtype:                   # pandas may lose the dictionary on its way
        counts.index = pd.Index(column.drop_duplicates()).sort_values()
    counts.attrs["lone"] = SECRET
    for given in (counts, pd.concat({SECRET[:4]: counts}, names=["half", "zip"])):
        published = partitions.release(given, epsilon=1.0, delta=1e-9, noise=noise, rng=0)
        assert len(published) == 2 and not told(published) and not told(published.index)


def test_levels_of_an_index_are_forgotten(column):
    index = pd.MultiIndex.from_arrays([column.array, range(81)], names=["zip", "row"])
    published = partitions.release(pd.Series([500] * 80 + [1], index=index), epsilon=1.0, delta=1e-9, rng=0)
    assert len(published) == 80 and not told(published)


def test_a_generalised_table_knows_no_row_that_it_suppressed(column):
    rows = pd.DataFrame({"zip": column, "illness": column.to_numpy()[::-1]})
    rows["illness"] = column.where(column != SECRET, column.iloc[0])
    rows["note"] = pd.Series([*COMMON, SECRET], dtype="category")
    noted(rows.set_index(pd.CategoricalIndex([*map(str, range(80)), SECRET])))
    for table in (rows, rows.set_index(pd.CategoricalIndex([*map(str, range(80)), SECRET]))):
        found = anonymity.lattice_search(noted(table), {"zip": [lambda zip: "*"]}, k=2, suppress=0.4)
        assert found.levels == {"zip": 0} and len(found.table) == 80
        assert not told(found.table)


def test_a_recoded_table_has_no_notes_and_no_unused_categories():
    rows = noted(pd.DataFrame({"age": [20, 21, 50, 51], "illness": pd.Categorical(["flu"] * 4, ["flu", SECRET])}))
    assert not told(anonymity.recode(rows, ["age"], [0, 0, 1, 1]))


@pytest.mark.parametrize("generator", [synthetic.independent, synthetic.chow_liu])
def test_synthetic_rows_know_only_their_domains(column, generator):
    rows = noted(pd.DataFrame({"zip": column, "sex": ["F", "M"] * 40 + ["F"]}))
    domains = {"zip": ["34301", "34302"], "sex": ["F", "M"]}
    drawn = generator(rows, domains, epsilon=1.0, adjacency="replace", rng=0)
    assert drawn.zip.isin(["34301", "34302"]).all() and not told(drawn)


def test_what_is_counted_per_person_forgets_who_is_left_out(column):
    visits = noted(pd.DataFrame({"person": column, "place": [*range(80), np.nan]}))
    assert not told(partitions.bound(visits, person="person", group="place", num_groups=40, salt="07"))


def test_what_an_attack_found_has_no_notes_of_the_rest(column):
    hospital = noted(pd.DataFrame({"zip": column.drop_duplicates(ignore_index=True), "sex": list("FMF")}))
    hospital.index = pd.CategoricalIndex(["a", "b", SECRET])
    voters = pd.DataFrame({"zip": ["34301", "34302"], "sex": list("FM")}, index=pd.Index(["x", "y"], dtype="category"))
    pairs = attacks.link(hospital.astype({"zip": object}), voters, ["zip", "sex"])
    assert pairs.to_numpy().tolist() == [["a", "x"], ["b", "y"]] and not told(pairs)


def test_a_dictionary_that_holds_a_value_twice_is_read_by_its_values():
    arrow = pytest.importorskip("pyarrow")
    twice = arrow.DictionaryArray.from_arrays(arrow.array([0, 2, 1, 1]), arrow.array(["a", "b", "a"]))
    table = pd.DataFrame({"zip": [1, 1, 1, 1], "illness": pd.arrays.ArrowExtensionArray(twice)})
    plain = table.astype({"illness": object})
    assert anonymity.k_anonymity(table, ["illness"]) == anonymity.k_anonymity(plain, ["illness"]) == 2
    for ordered in (False, True):
        assert anonymity.t_closeness(table, ["illness"], "zip", ordered=ordered) == anonymity.t_closeness(
            plain, ["illness"], "zip", ordered=ordered)
        assert anonymity.t_closeness(table, ["zip"], "illness", ordered=ordered) == 0
