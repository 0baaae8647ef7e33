"""The SQL text, run on DuckDB: what one person can change, for every salt; what it keeps, against a second program;
and that it cannot fail."""
import hashlib
import itertools
import json
import operator
import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.special import chdtrc

from dplib import data, engine

COLUMNS = {"person": "Int64", "key": "Int64", "cents": "Int64"}
ARGUMENTS = {"person": "person", "group": "key", "value": "cents", "high": 10_000, "num_groups": 5, "salt": "07"}
ROWS = np.random.default_rng(1)
CLUB = pd.DataFrame({"person": ROWS.integers(0, 400, 5000), "key": ROWS.zipf(1.4, 5000) % 60,
                     "cents": ROWS.integers(0, 20_000, 5000)}).astype("Int64")
PLANTED = {
    "plain": [(9999, 3, 500)],
    "every key": [(9999, key, 500) for key in range(200)],
    "one key, often": [(9999, 3, 9_000)] * 500,
    "rich": [(9999, 3, 2**63 - 1)] * 4,
    "in debt": [(9999, 3, -(2**63) + 1)] * 4,
    "both": [(9999, 3, 2**63 - 1), (9999, 4, -(2**63) + 1)],
    "no value": [(9999, 3, None)],
    "no key": [(9999, None, 5)],
    "nobody": [(None, 3, 5)] * 10,
    "a key of one's own": [(9999, 777, 5)],
    "the same pair, apart": [(9999, 3, 1), (9999, 4, 1), (9999, 3, 1)],
}


def lines(rows, types=COLUMNS):
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def run(text, table, name="events", threads=2):
    with duckdb.connect(config={"threads": threads}) as con:
        con.register(name, table)
        return con.sql(text).df()


def change(text, rows):
    """By how much the planted rows move all counts together, and all totals."""
    before, after = (run(text, table).set_index("grp")
                     for table in (CLUB, pd.concat([CLUB, lines(rows)], ignore_index=True)))
    cells = before.index.union(after.index)
    moved = [(after[column].reindex(cells, fill_value=0) - before[column].reindex(cells, fill_value=0)).abs()
             for column in ("people", "total")]
    return int(moved[0].sum()), int(moved[0].max()), int(moved[1].sum())


# ------------------------------------------------------------------------------------------- what one person can change

@pytest.mark.parametrize("who", PLANTED)
def test_a_planted_person_moves_no_more_than_promised(who):
    groups, most, total = change(engine.bounded_sql("events", **ARGUMENTS), PLANTED[who])
    assert groups <= 5 and most <= 1 and total <= 5 * 10_000
    assert groups == {"every key": 5, "no key": 0, "nobody": 0, "both": 2, "the same pair, apart": 2}.get(who, 1)
    assert total == {"every key": 2500, "one key, often": 10_000, "rich": 10_000,
                     "both": 10_000, "in debt": 0, "no value": 0, "no key": 0, "nobody": 0,
                     "a key of one's own": 5, "the same pair, apart": 3}.get(who, 500)


@pytest.mark.long
def test_random_people_of_any_form_move_no_more_than_promised_whatever_the_salt():
    rng, reached = np.random.default_rng(2), 0
    for _ in range(20):
        rows = [(9999, rng.choice([None, *range(70)]), rng.choice([None, -5, 0, 10, 10**7]))
                for _ in range(rng.integers(1, 40))]
        most = int(rng.integers(1, 7))
        groups, one, total = change(
            engine.bounded_sql("events", **{**ARGUMENTS, "num_groups": most, "salt": f"{rng.integers(2**60):x}"}), rows)
        assert groups <= most and one <= 1 and total <= most * 10_000
        reached += groups == most
    assert reached > 5


@pytest.mark.slow
def test_a_person_with_a_million_groups_moves_five():
    crowd = pd.DataFrame({"person": 9999, "key": np.arange(1_000_000), "cents": 1})
    assert run(engine.bounded_sql("events", **ARGUMENTS), crowd)[["people", "total"]].sum().tolist() == [5, 5]


@pytest.mark.parametrize(("leak", "old", "new", "who"), [
    ("no bound on groups", "place <= 5", "place <= 500", "every key"),
    ("one group too many", "place <= 5", "place < 7", "every key"),
    ("ranked over the groups", "partition by person", "partition by grp", "every key"),
    ("the sum is not clipped", "least(10000, sum(", "greatest(0, sum(", "one key, often"),
    ("rows instead of people", "count(*)", "sum(length(lot)) ", "plain"),
    ("null is a group", " and r.key is not null", "", "no key"),
    ("rows of nobody are a person", "r.person is not null and ", "", "nobody"),
])
def test_the_same_search_finds_the_leak_of_a_broken_text(leak, old, new, who):
    text = engine.bounded_sql("events", **ARGUMENTS)
    assert old in text
    groups, most, total = change(text.replace(old, new), PLANTED[who])
    allowed = (0, 0, 0) if who in ("no key", "nobody") else (5, 1, 50_000)
    assert (groups > allowed[0] or most > allowed[1] or total > allowed[2]
            or (who == "one key, often" and total > 10_000)), leak


def test_rows_that_are_not_clipped_let_a_debt_raise_an_error_and_a_debt_pull_a_total_down():
    text = engine.bounded_sql("events", **ARGUMENTS).replace("floor(greatest(0, least(10000, coalesce(r.cents, 0))))",
                                                             "coalesce(r.cents, 0)")
    assert change(text, [(9999, 3, -10**6)])[2] == 10**6
    with pytest.raises(duckdb.Error):
        change(text, PLANTED["in debt"])


# ----------------------------------------------------------------------------------- what it keeps, by a second program

def second(table, *, num_groups, salt, high):
    """The same lines by pandas and hashlib."""
    rows = table.dropna(subset=["person", "key"])
    cents = rows.cents.fillna(0).clip(0, high)
    pairs = rows.assign(cents=cents).groupby(["person", "key"], as_index=False).cents.sum()
    pairs["lot"] = [hashlib.md5(f"{salt}:{person}:{key}".encode()).hexdigest()[:12]
                    for person, key in zip(pairs.person, pairs.key)]
    kept = pairs.sort_values(["person", "lot"]).groupby("person").head(num_groups)
    kept = kept.assign(total=kept.cents.clip(upper=high))[["person", "key", "total"]]
    return kept.sort_values(["person", "key"]).astype(int).to_numpy()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("num_groups", "salt"), [(1, "0"), (5, "07"), (12, "deadbeef")])
def test_the_kept_lines_are_those_of_a_second_program(num_groups, salt, threads):
    planted = [lines(rows) for rows in PLANTED.values() if rows[0][2] is None or abs(rows[0][2]) < 10**6]
    table = pd.concat([CLUB, *planted], ignore_index=True)
    text = engine.kept_sql("events", **{**ARGUMENTS, "num_groups": num_groups, "salt": salt})
    found = run(text, table, threads=threads).sort_values(["person", "grp"]).astype(int).to_numpy()
    assert np.array_equal(found, second(table, num_groups=num_groups, salt=salt, high=10_000))


def test_the_counts_are_those_of_the_kept_lines_and_small_groups_are_left_out():
    kept = run(engine.kept_sql("events", **ARGUMENTS), CLUB)
    expected = kept.groupby("grp").agg(people=("total", "size"), total=("total", "sum")).astype(int)
    for at_least in (1, 3, int(expected.people.median()) + 1):
        found = run(engine.bounded_sql("events", **ARGUMENTS, at_least=at_least), CLUB)
        assert found.grp.is_monotonic_increasing and list(found.columns) == ["grp", "people", "total"]
        assert found.set_index("grp").astype(int).equals(expected[expected.people >= at_least].rename_axis("grp"))
    assert {str(kind) for kind in found[["people", "total"]].dtypes} == {"int64"}


def test_texts_are_persons_and_groups_too_and_counts_need_no_value():
    people = data.load("ratings").assign(user=lambda t: "u" + t.user.astype(str))
    found = run(engine.bounded_sql("ratings", person="user", group="date", num_groups=2, salt="1"), people, "ratings")
    assert list(found.columns) == ["grp", "people"] and found.people.sum() == 4000 and found.grp.is_monotonic_increasing


@pytest.mark.parametrize("names", list(itertools.permutations(["grp", "person", "total"])))
def test_columns_may_have_the_names_that_the_text_uses(names):
    person, group, value = names
    table = CLUB.rename(columns={"person": person, "key": group, "cents": value})
    usual = run(engine.bounded_sql("events", **ARGUMENTS), CLUB)
    assert run(engine.bounded_sql("lot", **{**ARGUMENTS, "person": person, "group": group, "value": value}),
               table, "lot").equals(usual)


def test_every_whole_and_decimal_type_is_summed_alike():
    club = CLUB.dropna()
    usual = run(engine.bounded_sql("events", **ARGUMENTS), club)
    for kind in ("int32", "uint16", "uint64", "float64"):
        assert run(engine.bounded_sql("events", **ARGUMENTS), club.astype({"cents": kind})).equals(usual)
    with duckdb.connect() as con:
        con.register("rows", club)
        con.execute("create table events as select person, key, cast(cents as decimal(38, 0)) as cents from rows")
        assert con.sql(engine.bounded_sql("events", **ARGUMENTS)).df().equals(usual)


def test_fractions_nan_and_infinity_become_whole_coins_without_an_error():
    table = pd.DataFrame({"person": range(6), "key": range(6), "cents": [0.99, 2.9, np.nan, np.inf, -np.inf, 1e300]})
    with duckdb.connect() as con:
        con.register("rows", table)
        con.execute(
            "create table events as select person, key, case when person = 2 then 'nan'::double else cents end as "
            "cents from rows")
        assert con.sql(engine.bounded_sql("events", **ARGUMENTS)).df().total.tolist() == [
            0, 2, 10_000, 10_000, 0, 10_000]


@pytest.mark.parametrize("kind", ["varchar", "date"])
def test_a_column_that_is_no_number_is_refused_whatever_it_holds(kind):
    for rows in ("", "insert into events values (1, 1, null)"):
        with duckdb.connect() as con:
            con.execute(f"create table events (person integer, key integer, cents {kind}); {rows}")
            with pytest.raises(duckdb.BinderException):
                con.sql(engine.bounded_sql("events", **ARGUMENTS))


def test_an_empty_table_gives_a_table_of_the_same_columns():
    usual, empty = (run(engine.bounded_sql("events", **ARGUMENTS), table) for table in (CLUB.dropna(), CLUB[:0]))
    assert len(empty) == 0 and empty.dtypes.equals(usual.dtypes)


def test_the_largest_value_cannot_overflow_its_sum():
    assert engine.LARGEST * 2**32 < 2**63
    club = pd.DataFrame({"person": range(3000), "key": 1, "cents": 2**62})
    assert run(engine.bounded_sql("events", **{**ARGUMENTS, "high": engine.LARGEST}), club).total.tolist() == [
        3000 * engine.LARGEST]


# -------------------------------------------------------------------------------------------------------------- the lot

def test_the_lot_is_fair_to_places_and_to_pairs_and_between_neighbouring_ids():
    people, keys, keep = 4000, 20, 5
    table = pd.DataFrame({"person": np.repeat(np.arange(100_000, 100_000 + people), keys),
                          "key": np.tile(np.arange(1, keys + 1), people)})
    for salt in ("1", "2", "3"):
        kept = run(engine.kept_sql("events", person="person", group="key", num_groups=keep, salt=salt), table)
        place = np.zeros((people, keys), dtype=int)
        place[kept.person - 100_000, kept.grp - 1] = 1
        share, both = keep / keys, keep * (keep - 1) / (keys * (keys - 1))
        by_key = ((place.sum(0) - people * share) ** 2).sum() / (people * share * (1 - share) * keys / (keys - 1))
        pairs = (place.T @ place)[np.triu_indices(keys, 1)]
        assert chdtrc(keys - 1, by_key) > 1e-6
        assert chdtrc(189, ((pairs - people * both) ** 2).sum() / (people * both * (1 - both))) > 1e-6
        assert abs((place[:-1] * place[1:]).sum(1).mean() - keep * share) < 6 / np.sqrt(people)


def test_another_salt_keeps_others_and_the_same_salt_the_same_on_one_thread_or_more():
    text = [engine.kept_sql("events", **{**ARGUMENTS, "salt": salt}) + " order by person, grp"
            for salt in ("07", "07", "08")]
    one, two, other = (run(text[i], CLUB, threads=threads) for i, threads in enumerate((1, 4, 2)))
    assert one.equals(two) and not one.equals(other)


# ----------------------------------------------------------------------------------------------------------- conditions

SCHEMA = {"person": int, "key": int, "cents": int, "town": str}


def test_no_condition_of_the_grammar_fails_or_counts_wrongly():
    rng = np.random.default_rng(3)
    table = CLUB.assign(town=rng.choice(["Oak", "", "5", "x y", "Ärmel", None], len(CLUB)))
    compare = dict(zip(engine.OPERATORS,
                       (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)))
    with duckdb.connect() as con:
        con.register("rows", table)
        con.execute("create table events as select * from rows")
        for _ in range(150):
            column, op = rng.choice(list(SCHEMA)), str(rng.choice(engine.OPERATORS))
            if column == "town":
                value = str(rng.choice(["Oak", "", "5", "Z", "Ärmel", "a (b) & c"]))
            else:
                value = int(rng.choice([0, 7, 50, -1, 2**63 - 1, 1 - 2**63]))
            asked = engine.condition(column, op, value, schema=SCHEMA)
            found = con.sql(f"select count(*) from events where {asked}").fetchall()[0][0]
            assert found == sum(compare[op](known, value) for known in table[column].dropna())


def test_a_column_named_like_a_word_of_sql_is_refused_or_counted_rightly():
    """Every word that DuckDB knows, as the name of a column: `null = 5` would count nothing, and say nothing."""
    with duckdb.connect() as con:
        words = {word for word, in con.sql("select keyword_name from duckdb_keywords()").fetchall()}
        refused = set()
        for word in sorted(words | {"current_date", "current_user", "rowid", "localtime"}):
            for name in (word, word.upper()):
                try:
                    asked = engine.condition(name, "=", 5, schema={name: int})
                except ValueError as error:
                    assert str(error).startswith("column must not be a word of SQL")
                    refused.add(word)
                else:
                    found = con.sql(f'select count(*) from (select 5 as "{word}") where {asked}').fetchall()[0][0]
                    assert found == 1, word
    assert {"order", "group", "end", "null", "true", "current_date"} <= refused and "charge" not in refused


@pytest.mark.parametrize("value",
                         ["it's", 'a"b', "a\\", "${env}", "a\0", "a\n", "‘a’", "a;b", 5, None, b"a", 1.0, True])
def test_a_text_that_could_end_itself_is_refused(value):
    with pytest.raises(ValueError, match="value must be"):
        engine.condition("town", "=", value, schema=SCHEMA)


@pytest.mark.parametrize("value", ["5", 5.0, None, True, 2**63, -(2**63), np.float64(5)])
def test_a_number_that_is_none_of_64_bits_is_refused(value):
    with pytest.raises(ValueError, match="value must be"):
        engine.condition("cents", "=", value, schema=SCHEMA)


@pytest.mark.parametrize(("column", "op"), [("age", "="), ("cents", "=="),
                                            ("cents", "in"), ("cents or 1", "="), ("", "="), (5, "="), ("cents", None)])
def test_an_unknown_column_or_operator_is_refused(column, op):
    with pytest.raises(ValueError, match="column must be|op must be"):
        engine.condition(column, op, 5, schema=SCHEMA)


def test_a_type_that_is_neither_int_nor_str_is_refused():
    with pytest.raises(ValueError, match="type of the column cents"):
        engine.condition("cents", "=", 5, schema={"cents": float})


def test_numpys_whole_numbers_are_whole_numbers():
    assert engine.condition("cents", "<=", np.int64(-5), schema=SCHEMA) == "cents <= -5"


# ----------------------------------------------------------------------------------------------------- public arguments

@pytest.mark.parametrize(("wrong", "said"), [
    ({"person": "a b"}, "person must be a column"), ({"group": "1a"}, "group must be a column"),
    ({"value": "x'"}, "value must be a column"),
    ({"person": None}, "person must be a column"), ({"group": "a.b"}, "group must be a column"),
    ({"value": "größe"}, "value must be a column"),
    ({"num_groups": 0}, "num_groups must be at least 1"), ({"num_groups": 2.5}, "num_groups must be a whole number"),
    ({"high": 0}, "high must be at least 1"), ({"high": 99.5}, "high must be a whole number"),
    ({"high": 2**31}, "high must be at most"),
    ({"high": None}, "value and high"), ({"value": None}, "value and high"),
    ({"salt": ""}, "salt must be"), ({"salt": "0x7"}, "salt must be"),
    ({"salt": 7}, "salt must be"), ({"salt": "a'"}, "salt must be"), ({"at_least": 0}, "at_least must be at least 1"),
])
def test_bad_arguments_are_refused_by_name(wrong, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        engine.bounded_sql("events", **{**ARGUMENTS, **wrong})


@pytest.mark.parametrize("table", ["a b", "events; drop table events", "", None, "a..b", ".a", "a."])
def test_a_bad_table_is_refused(table):
    with pytest.raises(ValueError, match="table must be a plain name"):
        engine.bounded_sql(table, **ARGUMENTS)


@pytest.mark.parametrize("schema", [None, ["cents"], "cents", {"cents": "int"}, {"cents": bool}, {}])
def test_a_schema_that_is_none_is_refused(schema):
    with pytest.raises(ValueError, match="schema|column must be"):
        engine.condition("cents", "=", 5, schema=schema)


def test_a_secret_salt_is_not_repeated_in_its_error():
    with pytest.raises(ValueError) as error:
        engine.bounded_sql("events", **{**ARGUMENTS, "salt": "deadbeeg"})
    assert "deadbee" not in str(error.value)


def test_a_table_may_be_named_with_its_schema():
    with duckdb.connect() as con:
        con.register("rows", CLUB)
        con.execute("create schema club; create table club.events as select * from rows")
        assert con.sql(engine.bounded_sql("club.events", **ARGUMENTS)).df().equals(
            run(engine.bounded_sql("events", **ARGUMENTS), CLUB))


# ------------------------------------------------------------------------------------------------------ what is printed

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_the_section_is_the_measured_one_and_keeps_what_was_asked():
    table = json.loads((ROOT / "benchmarks" / "engine.json").read_text(encoding="utf-8"))
    names = {"DuckDB, the text": "duckdb", "DuckDB, its own `hash()`": "duckdb, its own hash",
             "pandas": "pandas", "OpenDP on polars, a release": "opendp",
             "Spark, the text": "spark"}
    text = json.loads((ROOT / "chapters" / "deployment" / "engines.ipynb").read_text(encoding="utf-8"))
    prose = "\n".join("".join(cell["source"]) for cell in text["cells"] if cell["id"] == "practice")
    for name, case in names.items():
        cells = [table.get(str(10**k), {}).get(case) for k in (6, 7, 8)]
        shown = [f"{cell['cpu_s']:.3g} s, {cell['peak_gb']:.2g} GB" if cell else "not run" for cell in cells]
        assert f"| {name} | {' | '.join(shown)} |" in prose
    small, middle, large = (table[str(10**k)] for k in (6, 7, 8))
    assert small["duckdb"]["cpu_s"] <= small["pandas"]["cpu_s"]
    assert middle["duckdb"]["cpu_s"] <= min(middle[peer]["cpu_s"] for peer in ("pandas", "opendp"))
    assert large["duckdb"]["peak_gb"] < 5 and large["duckdb"]["cpu_s"] <= 3 * large["opendp"]["cpu_s"]
    rows = [[size[case][what] for what in ("groups", "people", "total")]
            for size in (small, middle) for case in ("duckdb", "duckdb, all of md5")]
    assert rows[0] == rows[1]
    assert rows[2] == rows[3] == [middle["spark"][what] for what in ("groups", "people", "total")]
