"""The same text on Spark and on DuckDB, row for row. Runs where Java 17 (or newer) and pyspark are,
and says otherwise how to get them."""
import importlib.util
import shutil

import duckdb
import numpy as np
import pandas as pd
import pytest

from dplib import engine

HERE = shutil.which("java") and importlib.util.find_spec("pyspark")
pytestmark = [
    pytest.mark.skipif(not HERE,
                       reason="needs Java and pyspark: apt-get install default-jre-headless; pip install '.[spark]'"),
    pytest.mark.filterwarnings("ignore"),        # pyspark leaves sockets open
]

ASK = {"person": "person", "group": "film", "value": "cents", "high": 10_000, "num_groups": 5, "salt": "07"}
ODD = [*((-1, film, 500) for film in range(300)), *[(-2, 3, 2**62)] * 4, *[(-3, 3, -(2**62))] * 4,
       (-4, 3, None), (-5, None, 5), (None, 3, 5)]


def tickets():
    rng = np.random.default_rng(71)
    plain = pd.DataFrame({"person": rng.integers(0, 500, 8000), "film": rng.zipf(1.4, 8000) % 200,
                          "cents": rng.integers(-50, 20_000, 8000)})
    return pd.concat([plain, pd.DataFrame(ODD, columns=list(plain))]).astype("Int64")


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    settings = {"spark.driver.memory": "1g", "spark.ui.enabled": "false",
                "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1", "spark.sql.ansi.enabled": "true"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    rows = [tuple(None if pd.isna(x) else int(x) for x in row) for row in tickets().itertuples(index=False)]
    session.createDataFrame(rows, "person bigint, film bigint, cents bigint").createOrReplaceTempView("tickets")
    named = [(None if person is None else f"p{person}", None if film is None else f"film {film}",
              None if cents is None else cents / 4)
             for person, film, cents in rows]
    session.createDataFrame(named, "person string, film string, cents double").createOrReplaceTempView("named")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def duck():
    with duckdb.connect() as con:
        con.register("given", tickets())
        con.execute("create table tickets as select * from given")
        con.execute(
            "create table named as select 'p' || person as person, 'film ' || film as film, cents / 4.0::double as "
            "cents from given")
        yield con


def both(spark, duck, text):
    return [tuple(map(tuple, rows)) for rows in (spark.sql(text).collect(), duck.sql(text).fetchall())]


def test_the_kept_rows_and_the_small_table_are_the_same(spark, duck):
    for most in (1, 5):
        ask = {**ASK, "num_groups": most}
        kept, known = both(spark, duck, engine.kept_sql("tickets", **ask) + " order by person, grp")
        assert kept == known and len(kept) > 400 * most
        small, known = both(spark, duck, engine.bounded_sql("tickets", **ask, at_least=3))
        assert small == known and len(small) > 20


def test_texts_and_fractions_too(spark, duck):
    kept, known = both(spark, duck, engine.kept_sql("named", **ASK) + " order by person, grp")
    assert kept == known and len(kept) > 2000


def test_spark_raises_where_a_sum_overflows_and_the_bounded_text_does_not(spark):
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="(?i)overflow"):
        spark.sql("select sum(cents) from tickets where person = -2").collect()
    assert spark.sql(engine.bounded_sql("tickets", **ASK)).collect()


def test_a_condition_is_the_same_filter(spark, duck):
    for column, op, value in (("cents", ">=", 500), ("film", "<>", 3), ("person", "=", -1)):
        text = "select count(*) from tickets where " + engine.condition(
            column, op, value, schema={"cents": int, "film": int, "person": int})
        mine, known = both(spark, duck, text)
        assert mine == known
