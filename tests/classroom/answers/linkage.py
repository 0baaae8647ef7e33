"""Answers to the exercises of the section on linkage."""
import hashlib
import itertools
from collections import Counter
from datetime import date
from statistics import mode

import numpy as np
import pandas as pd
import pytest

from dplib import attacks
from provable_privacy import check
from provable_privacy.check.attacks import linkage
from provable_privacy.given.linkage import world

CASES = {"roll": "re-identification", "class": "attribute", "model": "membership", "counts": "reconstruction",
         "disk": "direct leak", "forum": "re-identification"}
DAYS = np.arange("1924-01-01", "2024-01-01", dtype="M8[D]").astype(str)


def frac_unique(df, qi):
    return 1 - df.duplicated(qi, keep=False).mean()


def by_groups(df, qi):
    """The same with a groupby."""
    return (df.groupby(qi, dropna=False).size() == 1).sum() / len(df)


def by_label(df, qi):
    return len(df.drop(df.index[df.duplicated(qi, keep=False)])) / len(df)


def glued(df, qi):
    """(1, 11) and (11, 1) become one text."""
    text = ["".join(map(str, row)) for row in df[qi].itertuples(index=False)]
    return by_groups(pd.DataFrame({"text": text}), ["text"])


def alone(ages, size, days=730.5):
    share = pd.Series(ages).value_counts(normalize=True)
    return np.sum(share * (1 - share / days) ** (size - 1))


def jackknife(ages, size):
    """The plug-in with its bias removed: nearer the truth."""
    n, (seen, counts) = len(ages), np.unique(ages, return_counts=True)
    without = [alone(np.delete(ages, np.argmax(ages == age)), size) for age in seen]
    return n * alone(ages, size) - (n - 1) * np.dot(counts, without) / n


def by_poisson(ages, size):
    """With the exponential in place of the power: right to a thousandth."""
    share = np.bincount(ages) / len(ages)
    return np.sum(share * np.exp(-size * share / 730.5))


def once(table, on):
    return table.drop_duplicates(on, keep=False)


def whole(table, on):
    return table.dropna(subset=on)


def names_for(released, public, on):
    found = attacks.link(released, public, on)
    return dict(zip(found.released, public.loc[found.public, "name"]))


def by_hand(released, public, on):
    rows = once(whole(released, on), on)
    roll = once(whole(public, on), on).set_index(on)["name"].to_dict()
    return {label: roll[tuple(key)] for label, *key in rows[on].itertuples() if tuple(key) in roll}


def with_all(released, public, on):
    """A left join: who matches nobody is NaN."""
    rows, roll = (once(whole(table, on), on) for table in (released, public))
    return rows.rename_axis("row").reset_index().merge(roll, on=on, how="left").set_index("row")["name"].to_dict()


def by_tuples(released, public, on):
    """Knows None, and not NaN."""
    visits, voters = (list(map(tuple, table[on].to_numpy())) for table in (released, public))
    rows, people, names = Counter(visits), Counter(voters), dict(zip(voters, public["name"]))
    return {label: names[k] for label, k in zip(released.index, visits) if None not in k and rows[k] == people[k] == 1}


def on_what_is_common(released, public, on):
    rows, roll = (once(whole(table, on), on) for table in (released, public))
    return rows.rename_axis("row").reset_index().merge(roll).set_index("row")["name"].to_dict()


def takes_places_for_labels(released, public, on):
    roll = [tuple(row) for row in public[on].to_numpy()]
    keys = {label: tuple(row) for label, row in released[on].dropna().drop_duplicates(keep=False).iterrows()}
    return {label: public["name"][roll.index(key)] for label, key in keys.items() if roll.count(key) == 1}


def colleague(released, public, on):
    both = released.reset_index().merge(public, on=on)
    return dict(zip(both["index"], both["name"]))


def keeps_missing(released, public, on):
    return colleague(once(released, on), once(public, on), on)


def keeps_twins(released, public, on):
    return colleague(whole(released, on), once(whole(public, on), on), on)


def takes_a_name_for_a_person(released, public, on):
    both = once(whole(released, on).reset_index().merge(whole(public, on), on=on), "index")
    return once(both, "name").set_index("index")["name"].to_dict()


def counts_names_for_voters(released, public, on):
    """Two voters with one name and the same values are one to it."""
    voters = public.dropna(subset=on).groupby(on)["name"].agg(["nunique", "first"])
    one = voters.loc[voters["nunique"] == 1, "first"].to_dict()
    rows = once(whole(released, on), on)
    return {label: one[tuple(key)] for label, *key in rows[on].itertuples() if tuple(key) in one}


def with_nobody(released, public, on):
    names = names_for(released, public, on)
    return {**names, min(names): "Nobody"}


def by_position(released, public, on):
    return names_for(released.reset_index(drop=True), public, on)


def book_of(salt, days=DAYS, mark="|"):
    people = list(itertools.product("FM", days))
    return {hashlib.sha256(f"{salt}{mark}{sex}|{day}".encode()).hexdigest(): (sex, str(day)) for sex, day in people}


def reverse(codes, salt):
    book = book_of(salt)
    return [book.get(code) for code in codes]


def without_salt(codes, salt):
    return reverse(codes, "")


def without_leap_days(codes, salt):
    book = book_of(salt, [day for day in DAYS if not day.endswith("02-29")])
    return [book.get(code) for code in codes]


def makes_somebody_up(codes, salt):
    return [one or ("F", "1970-01-01") for one in reverse(codes, salt)]


def found_only(codes, salt):
    return [one for one in reverse(codes, salt) if one]


def find(known, records, threshold=3.0):
    return attacks.fuzzy_link(known, records, tolerance={"stars": 1, "day": 14}, threshold=threshold).person


def by_counting(known, records):
    """Who has five of the films within two weeks of the day; nobody if two have."""
    pairs = records.merge(known, on="film")
    near = pairs[(pairs.day_x - pairs.day_y).abs() <= 14].groupby("user").film.nunique()
    best = near[near >= 5]
    return best.index[0] if len(best) == 1 else None


def believes_the_first(known, records):
    return find(known, records, threshold=0.0)


def wants_all(known, records):
    pairs = records.merge(known, on="film")
    near = pairs[(pairs.day_x - pairs.day_y).abs() <= 14].groupby("user").film.nunique()
    return next(iter(near[near == 8].index), None)


def names_the_second(known, records):
    found = attacks.fuzzy_link(known, records, tolerance={"stars": 1, "day": 14}, threshold=4.0)
    return None if found.person is None else found.scores.index[1]


SOLUTIONS = [                                    # none of them draws anything
    (check.link_classify, lambda seed: CASES),
    (check.link_unique, lambda seed: frac_unique),
    (check.link_extrapolate, lambda seed: alone),
    (check.link_mend, lambda seed: names_for),
    (check.link_reverse, lambda seed: reverse),
    (check.link_score, lambda seed: find),
]

UNUSUAL = [
    (check.link_classify, {case: f" {goal.upper()} " for case, goal in CASES.items()}),
    (check.link_unique, by_groups),
    (check.link_extrapolate, by_poisson),
    (check.link_extrapolate, jackknife),
    (check.link_extrapolate, lambda ages, size: round(alone(ages, size), 2)),
    (check.link_mend, by_hand),
    (check.link_mend, with_all),
    (check.link_reverse, lambda codes, salt: [list(one) if one else None for one in reverse(codes, salt)]),
    *((check.link_reverse, lambda codes, salt, day=day: [one and (one[0], day(one[1])) for one in reverse(codes, salt)])
      for day in (date.fromisoformat, np.datetime64)),
    (check.link_score, by_counting),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.link_classify, {**CASES, "class": "re-identification"}, "which row is the uncle's"),
    (check.link_classify, {**CASES, "model": "attribute"}, "she was in it"),
    (check.link_classify, {**CASES, "counts": "hacking"}, "not on the list"),
    (check.link_classify, {"roll": "membership"}, "expected the names"),
    (check.link_classify, 5, "expected a dict"),
    (check.link_unique, lambda df, qi: print(end=""), "is the `return` missing"),
    (check.link_unique, lambda df, qi: len(df.drop_duplicates(qi)) / len(df), "a row that has a twin"),
    (check.link_unique, lambda df, qi: (df.groupby(qi).size() == 1).sum() / len(df), "missing value is a value too"),
    (check.link_unique, lambda df, qi: frac_unique(df.dropna(subset=qi), qi), "rows with a missing value"),
    (check.link_unique, lambda df, qi: (df.groupby(qi, dropna=False).size() == 1).mean(), "among the classes"),
    (check.link_unique, lambda df, qi: 100 * frac_unique(df, qi), "in percent"),
    (check.link_unique, lambda df, qi: df.duplicated(qi, keep=False).mean(), "not alone"),
    (check.link_unique, lambda df, qi: (~df.duplicated(qi, keep=False)).sum(), "the number of rows"),
    (check.link_unique, by_label, "the same label as a row with a twin"),
    (check.link_unique, lambda df, qi: 0.123, "rows are alone"),
    (check.link_unique, glued, "a random table, columns a, c"),
    (check.link_unique, lambda df, qi: df.drop_duplicates(qi, keep=False, inplace=True) or 1.0, "changes the table"),
    (check.link_unique, lambda df, qi: df.nothing, "raised AttributeError"),
    (check.link_unique, 0.87, "expected a function"),
    (check.link_extrapolate, lambda ages, size: alone(ages, len(ages)), "not those in the sample"),
    (check.link_extrapolate, lambda ages, size: alone(ages, size, 365.25), "a day and a sex"),
    (check.link_extrapolate, lambda ages, size: (1 - 1 / (730.5 * len(set(ages)))) ** (size - 1), "not equally common"),
    (check.link_extrapolate, lambda ages, size: (1 - np.mean(ages == mode(ages)) / 730.5) ** (size - 1), "most common"),
    (check.link_extrapolate, lambda ages, size: 1 - alone(ages, size), "not alone"),
    (check.link_extrapolate, lambda ages, size: 100 * alone(ages, size), "in percent"),
    (check.link_extrapolate, lambda ages, size: 0.5, "0.660 of the residents can be expected"),
    (check.link_mend, colleague, "row"),
    (check.link_mend, keeps_missing, "missing value"),
    (check.link_mend, keeps_twins, "which of them is the voter's"),
    (check.link_mend, takes_a_name_for_a_person, "Two voters may have the same name"),
    (check.link_mend, counts_names_for_voters, "fits 2 voters"),
    (check.link_mend, by_tuples, "missing value"),
    (check.link_mend, on_what_is_common, "by the columns of `on` only"),
    (check.link_mend, takes_places_for_labels, "raised KeyError"),
    (check.link_mend, by_position, "labels are those of its index"),
    (check.link_mend, lambda released, public, on: {}, "gave them no name"),
    (check.link_mend, lambda released, public, on: names_for(released.dropna(), public, on), "row"),
    (check.link_mend, lambda released, public, on: [], "expected a dict"),
    (check.link_mend, with_nobody, "got 'Nobody'"),
    (check.link_mend, lambda rows, public, on: colleague(once(rows, on).dropna(), public.dropna(), on), "one of them"),
    (check.link_reverse, without_salt, "the salt is published"),
    (check.link_reverse, without_leap_days, "leap days too"),
    (check.link_reverse, lambda codes, salt: [None] * len(codes), "all 64 digits"),
    (check.link_reverse, makes_somebody_up, "belongs to nobody"),
    (check.link_reverse, found_only, "one for each code"),
    (check.link_reverse, lambda codes, salt: reverse(codes, salt)[::-1], "code"),
    (check.link_score, believes_the_first, "how far it is ahead"),
    (check.link_score, wants_all, "may miss two"),
    (check.link_score, names_the_second, "somebody else"),
    (check.link_score, lambda known, records: "me", "not a pseudonym"),
    (check.link_score, lambda known, records: [].append(1), "is the `return` missing"),
]


def test_a_case_that_is_left_open_is_told_and_is_not_wrong(says):
    said = says(check.link_classify, {**CASES, "counts": ...})
    assert said.startswith("○ link_classify: counts not attempted yet")


def test_more_columns_never_make_a_row_less_alone():
    """What the first exercise lets the reader find, on the table that its checker uses."""
    shares = [np.mean(linkage._times("a random table", *columns) == 1) for columns in ("a", "ab", "abc")]
    assert shares == sorted(shares) and shares[0] < shares[-1]


@pytest.mark.parametrize("seed", [3, 10, 16])
def test_the_solution_would_do_in_other_worlds(seed):
    """The worlds of the first twenty in which people stand out least."""
    records, present, absent = world(seed)
    assert sum(find(known, records) == who for who, known in present) >= 27
    assert sum(find(known, records) is not None for _, known in absent) <= 1


def test_the_expected_share_alone_is_that_of_fresh_towns():
    """The closed form against 400 towns drawn at random: within five standard errors."""
    rng = np.random.default_rng(6)
    ages, size = rng.integers(20, 60, 500), 4000
    drawn = []
    for _ in range(400):
        cell = rng.choice(ages, size) * 730.5 + np.floor(rng.random(size) * 730.5)
        drawn.append(np.mean(np.unique(cell, return_counts=True)[1] == 1) * len(np.unique(cell)) / size)
    share = np.unique(ages, return_counts=True)[1] / len(ages)
    assert abs(np.mean(drawn) - linkage._people_alone(share, size)) < 5 * np.std(drawn) / np.sqrt(len(drawn)) + 1e-3
