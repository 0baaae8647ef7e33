"""The tables of `data/`: shipped files, generators, data sheets and loader agree with each other."""
import gzip
import hashlib
import importlib
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dplib import data
from dplib.data import describe, load

TOWN = ["people", "hospital", "voters", "ratings", "forum", "staff"]
SHIPPED = [*TOWN, "adult_like"]
TRUE_FILE = os.environ.get("DPLIB_ADULT")


def generator(name):
    """A generator beside the tables, imported from its file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(data.FOLDER)
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def town():
    return generator("town")


@pytest.fixture(scope="module")
def fresh(town):
    return town.make_town()


@pytest.fixture(scope="module")
def adult_like():
    return generator("adult_like")


@pytest.fixture(autouse=True)
def no_download(monkeypatch, tmp_path):
    """Every test starts without UCI Adult, with an empty cache and without a network."""
    def refuse(*args, **kwargs):
        raise OSError("no network in the tests")

    monkeypatch.delenv("DPLIB_ADULT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("pooch.retrieve", refuse)


def sheet_table(sheet, header):
    """The rows of the one table in a data sheet whose header line begins as given."""
    lines = (data.FOLDER / sheet).read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(header))
    rows = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def number(text):
    return float(text.replace(",", ""))


# ---- the shipped files


@pytest.mark.parametrize("name", SHIPPED)
def test_checksum_and_bytes(name, tmp_path):
    packed = (data.FOLDER / f"{name}.csv.gz").read_bytes()
    assert packed[3] & 8 == 0 and packed[4:8] == bytes(4), "gzip header carries a file name or a time"
    digest = hashlib.sha256(gzip.decompress(packed)).hexdigest()
    assert f"{digest}  {name}.csv" in (data.FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    frame = load(name, answers=True)
    generator("save").save(name, frame.drop(columns="age") if name == "people" else frame, tmp_path)
    again = (tmp_path / f"{name}.csv.gz").read_bytes()
    assert gzip.decompress(again) == gzip.decompress(packed), "load and save are not inverse"


def test_files_are_small_and_complete():
    files = sorted(file.name for file in data.FOLDER.glob("*.csv.gz"))
    assert files == sorted(f"{name}.csv.gz" for name in SHIPPED)
    assert sum((data.FOLDER / file).stat().st_size for file in files) <= 1_600_000


def test_save_updates_only_its_line(tmp_path):
    save = generator("save").save
    save("b", pd.DataFrame({"x": [1]}), tmp_path)
    save("a", pd.DataFrame({"x": [2]}), tmp_path)
    before = (tmp_path / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    save("a", pd.DataFrame({"x": [3]}), tmp_path)
    after = (tmp_path / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert [line[64:] for line in after[2:]] == ["  a.csv", "  b.csv"]
    assert before[:2] == after[:2] and before[0][0] == before[1][0] == "#"
    assert before[2] != after[2] and before[3] == after[3]


# ---- the town


def test_generator_makes_the_shipped_town(fresh):
    """Statistics, not bytes: exp and log may differ in their last digit on another machine."""
    for name in TOWN:
        shipped = load(name, answers=True)
        shipped = shipped.drop(columns="age") if name == "people" else shipped
        assert shipped.columns.tolist() == fresh[name].columns.tolist()
        assert abs(len(shipped) - len(fresh[name])) <= 0.002 * len(shipped)
        for column in shipped:
            old, new = shipped[column], fresh[name][column]
            if pd.api.types.is_numeric_dtype(old):
                assert new.mean() == pytest.approx(old.mean(), rel=0.01), (name, column)
            elif old.nunique() < 100:
                share = old.value_counts(normalize=True).sub(new.value_counts(normalize=True), fill_value=0)
                assert share.abs().sum() < 0.01, (name, column)
            else:
                assert abs(new.nunique() - old.nunique()) <= 0.01 * len(old), (name, column)


def test_make_town_is_pure_and_seeded(town, fresh):
    again, other = town.make_town(), town.make_town(seed=1)
    for name in TOWN:
        pd.testing.assert_frame_equal(fresh[name], again[name])
        assert not fresh[name].equals(other[name])


def test_tables_have_streams_of_their_own(town, fresh, monkeypatch):
    """A change in the voter roll must not move the hospital or the ratings."""
    monkeypatch.setattr(town, "make_voters", lambda rng, people: rng.random(10**5))
    changed = town.make_town()
    for name in ["people", "hospital", "ratings", "forum", "staff"]:
        pd.testing.assert_frame_equal(fresh[name], changed[name])


def test_generators_use_no_global_random_state():
    for file in data.FOLDER.glob("*.py"):
        used = set(re.findall(r"np\.random\.(\w+)", file.read_text(encoding="utf-8")))
        assert used <= {"default_rng"}, (file.name, used)


def test_answer_keys_are_right():
    people = load("people")
    for name, same in {"hospital": ["zip", "sex", "dob", "diagnosis"], "voters": ["name", "sex", "dob", "zip"],
                       "forum": ["name"], "staff": ["name", "sex", "age"]}.items():
        table = load(name, answers=True)
        truth = people.loc[table["_person"], same].reset_index(drop=True)
        pd.testing.assert_frame_equal(table[same], truth, check_dtype=False)
    ratings, forum = load("ratings", answers=True), load("forum", answers=True)
    assert (ratings.groupby("user")["_person"].nunique() == 1).all()
    owner = ratings.drop_duplicates("user").set_index("user")["_person"]
    assert (owner.loc[forum["_user"]].to_numpy() == forum["_person"]).all()


@pytest.mark.parametrize("name", SHIPPED)
def test_answer_keys_are_hidden_unless_asked_for(name):
    shown, all_columns = load(name).columns, load(name, answers=True).columns
    assert not any(column.startswith("_") for column in shown)
    keys = [column for column in all_columns if column.startswith("_")]
    expected = {"people": [], "adult_like": [], "forum": ["_user", "_person"]}.get(name, ["_person"])
    assert keys == expected and [*shown, *keys] == all_columns.tolist()


def test_unit_of_privacy():
    for table, rows, people, each in sheet_table("town.md", "| table | rows"):
        frame = load(table, answers=True)
        person = frame["_person"] if "_person" in frame else frame.index.to_series()
        most = person.value_counts()
        assert (len(frame), person.nunique()) == (number(rows), number(people)), table
        if each in ("one row", "at most one row"):
            assert most.max() == 1, table
        else:
            assert each == f"{most.min()} to {most.max()} rows", table


def test_people_are_possible(town):
    people, hospital, voters = load("people"), load("hospital"), load("voters")
    assert people.zip.value_counts().to_dict() == town.ZIPS
    assert (hospital.visit >= hospital.dob).all(), "visited before birth"
    assert (voters.registered - voters.dob.str[:4].astype(int) >= 18).all()
    assert voters.name.is_monotonic_increasing
    assert set(people[people.diagnosis == "pregnancy"].sex) == {"F"}
    assert (people[people.age < 16].income == 0).all()


def test_age_counts_birthdays():
    people = load("people")
    birthdays_had = 2024 - people.dob.str[:4].astype(int) - (people.dob.str[5:] > "01-01")
    assert (people.age == birthdays_had).all()
    assert (people.dob.str[5:] == "01-01").any(), "nobody tests the edge"


def test_uniqueness_is_what_the_sheet_says():
    people = load("people")
    people = people.assign(month=people.dob.str[:7], year=people.dob.str[:4])
    target = {"zip, sex, dob": 87.4, "sex, dob": 61.6, "zip, dob": 76.9,
              "zip, sex, month of birth": 12.1, "zip, sex, year of birth": 0.48,
              "zip, sex, year of birth, occupation, education": 18.8, "name": 80, "name, dob": 100}
    for known, alone, _ in sheet_table("town.md", "| columns known"):
        columns = [word.removesuffix(" of birth") for word in known.split(", ")]
        measured = 100 * (~people.duplicated(columns, keep=False)).mean()
        half_a_digit = 0.5 / 10 ** len(alone.partition(".")[2])
        assert abs(measured - float(alone)) < half_a_digit + 1e-9, known
        assert abs(measured - target.pop(known)) < 1, known
    assert not target


def test_linkage_is_what_the_sheet_says():
    key = ["zip", "sex", "dob"]
    hospital, voters = load("hospital", answers=True), load("voters", answers=True)
    single = voters[~voters.duplicated(key, keep=False)]
    match = hospital.merge(single, on=key, suffixes=("", "_voter"))
    right = match["_person"] == match["_person_voter"]
    sheet = (data.FOLDER / "town.md").read_text(encoding="utf-8")
    assert f"{len(match):,} fit exactly one voter" in sheet
    assert f"{right.sum():,} of these name the right person" in sheet
    assert f"The other {(~right).sum()} visitors are not in the roll" in sheet
    assert not match["_person"][~right].isin(voters["_person"]).any()
    assert 0.95 < right.mean() < 0.97


def daily_influenza(hospital):
    flu = hospital[hospital.diagnosis == "influenza"].groupby("visit").size()
    return flu.reindex(pd.date_range("2023-01-01", "2023-12-31").strftime("%Y-%m-%d"), fill_value=0)


def test_influenza_calendar(town):
    season = pd.Series(town.flu_season(), index=pd.date_range("2023-01-01", "2023-12-31").strftime("%Y-%m-%d"))
    assert town.QUIET_FLU_RATE == data.QUIET_FLU_RATE == 2.0
    assert (season["2023-05-01":"2023-10-15"] == 2.0).all() and (season["2023-10-16":] > 2.0).all()
    assert season["2023-01-01":"2023-04-30"].idxmax() == "2023-02-05" and season["2023-05-01":].idxmax() == "2023-11-10"
    assert 8 <= season["2023-10-26"] <= 10 and season["2023-12-31"] == 4
    # The visits that the health model yields are those the calendar intends, on average over towns: three standard
    # errors and 2 %.
    visits = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        visits.append((town.make_hospital(rng, town.make_people(rng)).diagnosis == "influenza").sum())
    assert abs(np.mean(visits) - season.sum()) < 3 * np.sqrt(season.sum() / 6) + 0.02 * season.sum()


def test_influenza_in_the_shipped_table():
    hospital = load("hospital")
    daily = daily_influenza(hospital)
    assert daily.sum() == 1916
    quiet = daily["2023-05-01":"2023-10-15"]
    assert abs(quiet.mean() - 2.0) < 3 * np.sqrt(2.0 / len(quiet))
    excess = (daily["2023-05-15":"2023-11-30"] - data.QUIET_FLU_RATE).cumsum()
    assert len(excess) == 200
    before = excess[:"2023-10-15"]
    assert (before.min(), before.max()) == (-8, 15)
    assert [(excess > level).idxmax() for level in (40, 60, 80)] == ["2023-10-26", "2023-10-30", "2023-11-02"]
    others = hospital[hospital.diagnosis != "influenza"]
    by_quarter = pd.to_datetime(others.visit).dt.quarter.value_counts(normalize=True)
    assert (by_quarter - 0.25).abs().max() < 0.02


def test_forum_is_as_off_as_the_sheet_says():
    forum, ratings = load("forum", answers=True), load("ratings")
    both = forum.merge(ratings, left_on=["_user", "film"], right_on=["user", "film"], suffixes=("", "_true"))
    assert len(both) == len(forum)
    days = (pd.to_datetime(both.date) - pd.to_datetime(both.date_true)).dt.days.abs()
    assert days.max() == 14
    slips = (both.stars - both.stars_true).abs()
    assert slips.max() == 1 and 0.10 < slips.mean() < 0.18
    assert forum.groupby("_user").name.nunique().max() == 1 and forum.groupby("name")["_user"].nunique().max() == 1


def test_one_rating_with_its_date_tells_less_than_three():
    """Known ratings (stars, date within 14 days) that single out a subscriber: 0.23 with one, 0.95 with two,
    all with three."""
    ratings = load("ratings")
    user, film = ratings.user.to_numpy() - 100_000, ratings.film.to_numpy() - 1
    stars, day = np.zeros((2000, 600)), np.full((2000, 600), -1000)
    when = (pd.to_datetime(ratings.date) - pd.Timestamp("2022-01-01")).dt.days.to_numpy()
    stars[user, film], day[user, film] = ratings.stars, when
    rng, alone = np.random.default_rng(5), {1: 0, 2: 0, 3: 0}
    rows_of = ratings.groupby("user").indices
    for who in rng.choice(2000, 400, replace=False):
        rows = rng.choice(rows_of[100_000 + who], 3, replace=False)
        near = np.abs(day[:, film[rows]] - when[rows]) <= 14
        fits = near & (stars[:, film[rows]] == ratings.stars.to_numpy()[rows])
        for k in alone:
            alone[k] += fits[:, :k].all(axis=1).sum() == 1
    # 400 people, seed fixed: four standard errors of a proportion are 0.08, 0.05 and 0.02.
    assert abs(alone[1] / 400 - 0.23) < 0.08 and abs(alone[2] / 400 - 0.95) < 0.05 and alone[3] / 400 > 0.98


# ---- the synthetic Adult


@pytest.fixture(scope="module")
def stand_in():
    """A table with the true file's columns, so that the generator runs without it."""
    return load("adult_like").assign(fnlwgt=1)


def test_measure_spends_one_epsilon(adult_like, stand_in, monkeypatch):
    spent, real = [], adult_like.laplace

    def watched(value, *, sensitivity, epsilon, rng=None):
        assert value.sum() == len(stand_in), "a person is not in exactly one cell"
        assert sensitivity == 1 and isinstance(rng, np.random.Generator)
        spent.append(epsilon)
        return real(value, sensitivity=sensitivity, epsilon=epsilon, rng=rng)

    monkeypatch.setattr(adult_like, "laplace", watched)
    adult_like.measure(stand_in, rng=0)
    assert len(spent) == 14 and sum(spent) == pytest.approx(1.0, abs=1e-12)
    spent.clear()
    adult_like.measure(stand_in, epsilon=3.0, rng=0)
    assert sum(spent) == pytest.approx(3.0, abs=1e-12)
    with pytest.raises(ValueError, match="epsilon must be positive"):
        adult_like.measure(stand_in, epsilon=0.0, rng=0)


def test_one_person_moves_one_cell_of_each_table(adult_like, stand_in, monkeypatch):
    monkeypatch.setattr(adult_like, "laplace", lambda value, **_: value)
    tables, fewer = adult_like.measure(stand_in), adult_like.measure(stand_in.drop(index=7))
    for name in tables:
        assert np.abs(tables[name] - fewer[name]).sum() == 1


def test_only_measure_reads_the_data(adult_like, stand_in, monkeypatch):
    """With the noisy tables fixed, another data set of the same size gives the same release."""
    noisy = adult_like.measure(stand_in, rng=0)
    monkeypatch.setattr(adult_like, "measure", lambda *args, **kwargs: noisy)
    other = stand_in.head(1).sample(len(stand_in), replace=True)
    pd.testing.assert_frame_equal(adult_like.release(stand_in, rng=1), adult_like.release(other, rng=1))


def test_release_stays_in_its_domain_and_near_its_source(adult_like, stand_in):
    out = adult_like.release(stand_in, rng=1)
    assert out.columns.tolist() == load("adult_like").columns.tolist() and len(out) == len(stand_in)
    for column, values in adult_like.CATEGORIES.items():
        assert out[column].isin(values).all(), column
    for column, edges in adult_like.BINS.items():
        assert out[column].between(edges[0], edges[-1] - 1).all(), column
    for column in ["Sex", "Race", "Target", "Education", "Relationship"]:
        gap = out[column].value_counts(normalize=True).sub(stand_in[column].value_counts(normalize=True), fill_value=0)
        assert gap.abs().sum() / 2 < 0.03, column
    assert abs(out.Age.clip(upper=30).sum() / stand_in.Age.clip(upper=30).sum() - 1) < 0.005


def test_encode_never_stumbles_over_a_value(adult_like, stand_in):
    odd = stand_in.head(3).copy()
    odd["Age"], odd["Capital Gain"] = [np.nan, -5, 400], [1e9, np.inf, -np.inf]
    odd["Occupation"], odd["Race"] = ["Wizard", None, ""], ["?", None, "Martian"]
    codes = adult_like.encode(odd)
    assert codes["Age"].tolist() == [0, 0, 73] and codes["Capital Gain"].tolist() == [14, 14, 0]
    assert codes["Occupation"].tolist() == [0, 0, 0] and codes["Race"].tolist() == [0, 0, 0]


def test_shares_are_what_the_sheet_says(adult_like):
    rows = sheet_table("adult_like.md", "| counted")
    assert len(rows) == len(adult_like.TABLES) == 14
    for (counted, within, cells, share), (target, given, part) in zip(rows, adult_like.TABLES):
        assert counted == target and within == (", ".join(given) or "everybody")
        assert number(cells) == np.prod([adult_like.SIZES[axis] for axis in [*given, target]])
        assert float(share) == pytest.approx(part / adult_like.SHARES, abs=1e-9)


def test_bins_and_groups_are_in_order(adult_like):
    for edges in adult_like.BINS.values():
        assert (np.diff(edges) > 0).all()
    for column, first in adult_like.GROUPS.values():
        assert first[0] == 0 and (np.diff(first) > 0).all() and first[-1] < adult_like.SIZES[column]
    for values in adult_like.CATEGORIES.values():
        assert len(values) == len(set(values))


def adult_statistics(table):
    rich, women = table.Target == ">50K", table.Sex == "Female"
    return {
        "rows": len(table),
        "sum of min(age, 30)": table.Age.clip(upper=30).sum(),
        "mean age": table.Age.mean(),
        "people above 86": (table.Age > 86).sum(),
        "mean capital gain": table["Capital Gain"].mean(),
        "people with a capital gain of 99,999": (table["Capital Gain"] == 99999).sum(),
        "share above 50K": rich.mean(),
        "share above 50K, Bachelors and higher": rich[table["Education-Num"] >= 13].mean(),
        "correlation of age and hours": table.Age.corr(table["Hours per week"]),
        "correlation of education and income": table["Education-Num"].corr(rich.astype(float)),
        "women recorded as husbands": (women & (table.Relationship == "Husband")).sum(),
        "men recorded as wives": (~women & (table.Relationship == "Wife")).sum(),
    }


def assert_statistics(table, position):
    measured = adult_statistics(table)
    for statistic, *values in sheet_table("adult_like.md", "| statistic"):
        printed = values[position]
        places = len(printed.partition(".")[2])
        assert f"{measured.pop(statistic):,.{places}f}" == printed, statistic
    assert not measured


def test_adult_like_is_what_the_sheet_says():
    assert_statistics(load("adult_like"), 1)


def test_education_and_its_number_agree(adult_like):
    table = load("adult_like")
    assert (table.Education == np.array(adult_like.CATEGORIES["Education"])[table["Education-Num"] - 1]).all()


# ---- the data sheets


@pytest.mark.parametrize("name", SHIPPED)
def test_sheet_describes_every_column(name):
    table, sheet = load(name, answers=True), describe(name)
    assert sheet.columns.tolist() == ["column", "type", "meaning", "range"]
    assert sheet["column"].tolist() == table.columns.tolist()
    assert_ranges(table, sheet)


def assert_ranges(table, sheet):
    words = {"five": 5, "six": 6, "seven": 7, "eight": 8, "eleven": 11,
             "thirteen": 13, "fourteen": 14, "sixteen": 16, "forty-one": 41}
    for column, kind, meaning, values in sheet.itertuples(index=False):
        known = table[column].dropna()
        assert ("may be missing" in meaning) == table[column].hasnans, column
        if kind == "whole number":
            low, high = map(number, values.split(" to "))
            assert pd.api.types.is_integer_dtype(known) and low <= known.min() and known.max() <= high, column
        elif kind == "date":
            assert known.str.fullmatch(r"\d{4}-\d\d-\d\d").all() and f"{known.min()} to {known.max()}" == values, column
        else:
            assert kind == "text" and pd.api.types.is_string_dtype(known), column
            if values.endswith(" values"):
                assert known.nunique() <= words[values.removesuffix(" values")], column
            elif ", " in values and "names" not in values:
                assert set(known) == set(values.split(", ")), column


def test_describe_knows_adult_without_the_file():
    adult = describe("adult")["column"].tolist()
    assert adult == data.ADULT_COLUMNS
    assert describe("adult_like")["column"].tolist() == [column for column in adult if column != "fnlwgt"]


# ---- the loader


def test_load_from_another_folder(tmp_path):
    script = "from dplib.data import load, describe; print(len(load('staff')), len(describe('staff')))"
    out = subprocess.run([sys.executable, "-c", script], cwd=tmp_path,
                         capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.split() == ["120", "7"]


def test_load_returns_a_new_table_each_time():
    first = load("staff")
    first["salary"] = 0
    assert load("staff").salary.min() > 0


def test_zip_and_dates_stay_text():
    table = load("hospital")
    assert table.zip.str.len().eq(5).all() and isinstance(table.visit.iloc[0], str)


@pytest.mark.parametrize("name", ["town", "", None, ["people"]])
@pytest.mark.parametrize("function", [load, describe])
def test_unknown_name(function, name):
    with pytest.raises(ValueError) as error:
        function(name)
    assert str(error.value) == (
        f"unknown table {name!r}: choose one of people, hospital, voters, ratings, forum, staff, adult_like, adult")


def test_missing_and_damaged_files(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"staff\.csv\.gz is missing: reinstall dplib or"):
        load("staff")
    with pytest.raises(FileNotFoundError, match=r"town\.md is missing"):
        describe("staff")
    (tmp_path / "SHA256SUMS").write_text(f"# comment\n{'0' * 64}  staff.csv\n", encoding="utf-8")
    for content in [gzip.compress(b"name\nAda\n"), gzip.compress(b"name\nAda\n")[:-6],
                    b"\x1f\x8bnot gzip", b"name\nAda\n", b""]:
        (tmp_path / "staff.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"staff\.csv\.gz is damaged, its checksum differs: reinstall dplib or"):
            load("staff")


# ---- UCI Adult


def uci(table, *, header, compressed):
    """`table` as UCI's adult.data writes it, or as a CSV with a header."""
    if header:
        text = table.to_csv(index=False, lineterminator="\n")
    else:
        rows = table.astype(object).where(table.notna(), "?").astype(str)
        text = "".join(", ".join(row) + "\n" for row in rows.itertuples(index=False)) + "\n"
    return gzip.compress(text.encode()) if compressed else text.encode()


@pytest.fixture
def fake_adult(stand_in, monkeypatch):
    """A small table that the loader takes for Adult, because its content hash is set to this one's."""
    table = stand_in.head(300)[data.ADULT_COLUMNS].reset_index(drop=True)
    digest = hashlib.sha256(table.to_csv(index=False, lineterminator="\n").encode()).hexdigest()
    monkeypatch.setattr(data, "ADULT_SHA256", digest)
    return table


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_adult_from_the_environment(fake_adult, tmp_path, monkeypatch, header, compressed):
    path = tmp_path / "some file"
    path.write_bytes(uci(fake_adult, header=header, compressed=compressed))
    monkeypatch.setenv("DPLIB_ADULT", str(path))
    loaded = load("adult")
    pd.testing.assert_frame_equal(loaded, fake_adult)
    assert loaded.Workclass.hasnans and not (loaded == "?").any(axis=None)
    loaded["Age"] = 0
    assert load("adult").Age.min() >= 17, "the cache was changed from outside"


def test_adult_from_the_cache(fake_adult, tmp_path):
    (tmp_path / "cache" / "dplib").mkdir(parents=True)
    (tmp_path / "cache" / "dplib" / "adult.data").write_bytes(uci(fake_adult, header=False, compressed=False))
    pd.testing.assert_frame_equal(load("adult"), fake_adult)


def test_adult_from_the_download(fake_adult, tmp_path, monkeypatch):
    asked = {}

    def retrieve(url, known_hash, fname, path):
        asked.update(url=url, known_hash=known_hash)
        path.mkdir(parents=True)
        (path / fname).write_bytes(uci(fake_adult, header=False, compressed=False))
        return str(path / fname)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    pd.testing.assert_frame_equal(load("adult"), fake_adult)
    assert asked["url"].startswith("https://archive.ics.uci.edu/") and asked["url"].endswith("/adult.data")
    assert asked["known_hash"] == "sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
    assert (tmp_path / "cache" / "dplib" / "adult.data").is_file()


def test_adult_cannot_be_had(monkeypatch):
    with pytest.raises(FileNotFoundError,
                       match=r"could not be downloaded \(OSError\): put adult.data from .* DPLIB_ADULT .*'adult_like'"):
        load("adult")

    def tampered(*args, **kwargs):
        raise ValueError("hash")

    monkeypatch.setattr("pooch.retrieve", tampered)
    with pytest.raises(ValueError, match="is not UCI Adult, its checksum differs: put adult.data"):
        load("adult")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(FileNotFoundError, match="pooch is not installed to download it: put adult.data"):
        load("adult")


def test_adult_path_is_wrong(tmp_path, monkeypatch, stand_in):
    monkeypatch.setenv("DPLIB_ADULT", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError,
                       match="DPLIB_ADULT names .*nowhere.* set it to UCI's adult.data, or unset it"):
        load("adult")
    other = stand_in.head(5)[data.ADULT_COLUMNS]
    wrong = {"empty": b"", "torn": gzip.compress(b"39, State-gov")[:-4],
             "picture": bytes(range(128, 256)), "ragged": b"1, 2\n1, 2, 3, 4\n",
             "rows": uci(other, header=True, compressed=False), "wide": ("1," * 30 + "1\n").encode()}
    for name, content in wrong.items():
        (tmp_path / name).write_bytes(content)
        monkeypatch.setenv("DPLIB_ADULT", str(tmp_path / name))
        with pytest.raises(ValueError, match="is not UCI Adult: expected the 32,561 rows"):
            load("adult")


@pytest.mark.skipif(not TRUE_FILE, reason="the true UCI Adult is not here: set DPLIB_ADULT to its path to run this")
def test_true_adult(adult_like, monkeypatch, tmp_path):
    monkeypatch.setenv("DPLIB_ADULT", TRUE_FILE)
    adult = load("adult")
    assert adult.shape == (32561, 15) and adult.Age.clip(upper=30).sum() == 913809
    assert adult.isna().sum()[lambda n: n > 0].to_dict() == {"Workclass": 1836, "Occupation": 1843, "Country": 583}
    assert hashlib.sha256(uci(adult, header=False, compressed=False)).hexdigest() == data.ADULT_FILE_SHA256
    assert_ranges(adult, describe("adult"))
    assert_statistics(adult, 0)
    for column, values in adult_like.CATEGORIES.items():
        assert set(adult[column].fillna("")) <= set(values), column
    for column, edges in adult_like.BINS.items():
        assert adult[column].between(edges[0], edges[-1] - 1).all(), column
    shipped, again = load("adult_like").fillna(""), adult_like.release(adult, rng=adult_like.SEED)
    sheet = (data.FOLDER / "adult_like.md").read_text(encoding="utf-8")
    said = re.search(r"is ([\d.]+) for age, ([\d.]+) for education, ([\d.]+) for occupation and ([\d.]+) for hours",
                     sheet).groups()
    for column, distance in zip(["Age", "Education", "Occupation", "Hours per week"], said):
        true = adult[column].fillna("").value_counts(normalize=True)
        ours, made = (table[column].value_counts(normalize=True) for table in (shipped, again))
        assert round(true.sub(ours, fill_value=0).abs().sum() / 2, 3) == float(distance), column
        assert ours.sub(made, fill_value=0).abs().sum() < 0.01
