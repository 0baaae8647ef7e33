"""How fast an engine bounds contributions beside its peers, on this machine, in one run.

    python3 -m venv .venv-engine && .venv-engine/bin/pip install -r benchmarks/engine-requirements.txt
    .venv-engine/bin/python benchmarks/engine.py    # a million and ten million rows; the table, and engine.json
    .venv-engine/bin/python benchmarks/engine.py --rows 1e8 --only duckdb opendp    # 1 GB of rows, 5 GB of memory

Every case is a process of its own, import and all: its CPU seconds and its peak memory (a million rows: the best of
three). Sizes that are not run again stay in the file. DuckDB makes the rows from hashes, 25 per person, with one robot
that has 1 % of them, and 100,000 groups. Nothing here is a test.
"""
import argparse
import datetime
import json
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".json")
GROUPS, CAP = 5, 10_000                          # groups a person may be in, cents a person may add to one
THREADS, MEMORY = 2, "4GB"
QUERY = {"table": "events", "person": "person", "group": "key", "value": "cents",
         "high": CAP, "num_groups": GROUPS, "salt": "07"}


def make(rows, path):
    """Parquet of `rows` events: person, key, cents."""
    import duckdb

    duckdb.connect(config={"threads": THREADS, "memory_limit": MEMORY}).execute(f"""
        copy (
          select
            case when w % 100 = 0 then 0 else 1 + cast(floor({rows // 25 - 1} * pow(u, 1.5)) as bigint) end as person,
            cast(floor(100000 * pow(v, 4)) as bigint) as key,
            cast(100 + (w // 128) % 9000 + case when (w // 1048576) % 50 = 0 then 100000 else 0 end as bigint) as cents
          from (select (hash(i * 3 + 1) % 1000000007) / 1000000007.0 as u,
            (hash(i * 3 + 2) % 1000000007) / 1000000007.0 as v, hash(i * 3) as w from range({rows}) as t(i))
        ) to '{path}' (format parquet, row_group_size 1000000)""")


# ----------------------------------------------------------------------- the cases: one bounded aggregate, or a release

def duckdb_(path, change=lambda text: text):
    import duckdb

    from dplib import engine

    with tempfile.TemporaryDirectory(dir=path.parent) as spill:
        con = duckdb.connect(config={"threads": THREADS, "memory_limit": MEMORY, "temp_directory": spill})
        con.execute(f"create view events as select * from '{path}'")
        return con.sql(change(engine.bounded_sql(**QUERY))).fetchnumpy()


def own_hash(path):
    """DuckDB's own hash for the lot: cheaper, and another sample on every other engine, perhaps on the next version."""
    return duckdb_(path, lambda text: text.replace(lot(text), "hash(person, grp, 7)"))


def full_md5(path):
    """All 32 digits of the lot, as most texts have it: the same rows, more memory."""
    return duckdb_(path,
                   lambda text: text.replace(lot(text), lot(text).removeprefix("substring(").removesuffix(", 1, 12)")))


def lot(text):
    start = text.index("substring(md5(")
    return text[start:text.index(" as lot")]


def pandas_(path):
    import numpy as np
    import pandas as pd

    events = pd.read_parquet(path)
    pairs = events.assign(cents=events.cents.clip(0, CAP)).groupby(["person", "key"], as_index=False).cents.sum()
    pairs["cents"] = pairs.cents.clip(upper=CAP)
    pairs["lot"] = np.random.default_rng(1).random(len(pairs))
    pairs = pairs.sort_values(["person", "lot"])
    kept = pairs[pairs.groupby("person").cumcount() < GROUPS]
    return kept.groupby("key", as_index=False).agg(people=("cents", "size"), total=("cents", "sum"))


def opendp(path):
    """A whole release by OpenDP's Context on polars; it keeps rows by lot, not groups, and adds its noise."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.scan_parquet(path), privacy_unit=dp.unit_of(contributions=1, identifier="person"),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-6), split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=10**9)])
    query = context.query().truncate_per_group(GROUPS).group_by("key")
    people, total = dp.len(signed=True).alias("people"), pl.col("cents").fill_null(0).dp.sum((0, CAP)).alias("total")
    return query.agg(people, total).release().collect().to_pandas()


def spark(path):
    from pyspark.sql import SparkSession

    from dplib import engine

    session = (SparkSession.builder.master(f"local[{THREADS}]")
               .config("spark.driver.memory", "3g").config("spark.ui.enabled", "false")
               .config("spark.sql.shuffle.partitions", "8").getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    session.read.parquet(str(path)).createOrReplaceTempView("events")
    found = session.sql(engine.bounded_sql(**QUERY)).toPandas()
    java = Path(f"/proc/{session.sparkContext._gateway.proc.pid}")      # the engine itself, which no parent waits for
    ticks = sum(map(int, (java / "stat").read_text().rsplit(")")[-1].split()[11:13]))
    peak = next(int(line.split()[1]) for line in (java / "status").read_text().splitlines() if line.startswith("VmHWM"))
    found.attrs["beside"] = {"cpu_s": ticks / os.sysconf("SC_CLK_TCK"), "peak_gb": peak / 1e6}
    session.stop()
    return found


CASES = {"duckdb": duckdb_, "duckdb, all of md5": full_md5, "duckdb, its own hash": own_hash,
         "pandas": pandas_, "opendp": opendp, "spark": spark}


# ------------------------------------------------------------------------------------------------------------ measuring

def measured(case, path):
    """CPU seconds (of the process and what it waited for),
    wall seconds and peak gigabytes of a case in a process of its own."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = os.posix_spawn(sys.executable, [sys.executable, __file__, "--case", case, "--file", str(path)],
                                 os.environ | {"OMP_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2",
                                               "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
                                 file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, used = os.wait4(process, 0)
        wall = time.perf_counter() - start
        out.seek(0)
        if status:
            raise SystemExit(f"{case} failed")
        said = json.loads(out.read().splitlines()[-1])
    beside = said.pop("beside", {"cpu_s": 0, "peak_gb": 0})
    return {"cpu_s": round(used.ru_utime + used.ru_stime + beside["cpu_s"], 2), "wall_s": round(wall, 1),
            "peak_gb": round(used.ru_maxrss / 1e6 + beside["peak_gb"], 2), **said}


def run_case(case, path):
    found = CASES[case](path)
    print(json.dumps({"groups": len(found["people"]), "people": int(found["people"].sum()),
                      "total": int(found["total"].sum()),
                      **getattr(found, "attrs", {})}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=float, default=[1e6, 1e7])
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--case"), parser.add_argument("--file", type=Path)
    asked = parser.parse_args()
    if asked.case:
        return run_case(asked.case, asked.file)
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for rows in map(int, asked.rows):
        path = asked.folder / f"events-{rows}.parquet"
        if not path.exists():
            make(rows, path)
        here = table.setdefault(str(rows), {})
        for case in asked.only:
            runs = [measured(case, path) for _ in range(3 if rows <= 10**6 else 1)]
            here[case] = {"date": datetime.date.today().isoformat(), **min(runs, key=lambda run: run["cpu_s"])}
            print(f"{rows:>11,}  {case:22}", *(f"{name} {value}" for name, value in here[case].items()), flush=True)
            TABLE.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
