"""Checkers of the section on linkage."""
import hashlib
from collections import Counter

import numpy as np
import pandas as pd
import scipy

from provable_privacy.speech import Wrong, answered, ask, checker, compare_dict, number

__all__ = ["link_classify", "link_extrapolate", "link_mend", "link_reverse", "link_score", "link_unique"]

GOALS = ["re-identification", "attribute", "membership", "reconstruction", "direct leak"]
CASES = {                                        # case -> the goal that was reached, and what to ask oneself
    "roll": ("re-identification", "a name was put beside a row"),
    "class": ("attribute", "nobody knows which row is the uncle's; what was learned all the same?"),
    "model": ("membership", "no row was read; what was learned is that she was in it"),
    "counts": ("reconstruction", "not one person: the rows themselves came back from totals"),
    "disk": ("direct leak", "nothing had to be worked out: the names were there"),
    "forum": ("re-identification", "a pseudonym got a name"),
}


@checker
def link_classify(answer):
    """`answer`: case -> one of GOALS."""
    def why(case, word):
        return f"not {word}; {CASES[case][1]}" if word in GOALS else f"{word!r} is not on the list: {', '.join(GOALS)}"

    said = {case: word if word is ... else str(word).strip().lower() for case, word in dict(answer).items()}
    compare_dict(said, {case: goal for case, (goal, _) in CASES.items()}, why)
    return "only two of the six put a name beside a row"


def _times(table, columns):
    """How often the values of each row occur; a missing value is a value of its own."""
    rows = [tuple("missing" if pd.isna(value) else ("value", value) for value in row) for row in table[columns].itertuples(index=False)]
    count = Counter(rows)
    return np.array([count[row] for row in rows])


def _hand_table():
    return pd.DataFrame({
        "zip": ["34301", "34301", "34301", "34302", "34302", None, None, "34303"],
        "sex": ["F", "F", "M", "F", "M", "F", "F", None],
        "year": [1980, 1980, 1980, 1990, 1990, 1970, 1971, 1990],
    }, index=[5, 7, 7, 0, 1, 2, 3, 2])


def _random_table(rng, n=400):
    table = pd.DataFrame({"a": rng.integers(0, 12, n), "b": rng.choice(list("xyz"), n), "c": rng.integers(0, 40, n)}).astype(object)
    return table.mask(rng.random(table.shape) < 0.1)


@checker
def link_unique(frac_unique):
    """`frac_unique(df, qi)`: the share of the rows that are alone with their values of the columns in the list `qi`."""
    rng = np.random.default_rng(3)
    tables = [("the table of eight rows", _hand_table(), [["zip", "sex", "year"], ["zip", "sex"], ["year"]]),
              ("a random table", _random_table(rng), [["a"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]])]
    for name, table, choices in tables:
        for qi in choices:
            given = table.copy()
            where = f"{name}, columns {', '.join(qi)}"
            got, times = number(answered(frac_unique, given, list(qi)), where), _times(table, qi)
            if not given.equals(table):
                raise Wrong("your function changes the table that it is given")
            if np.isclose(got, np.mean(times == 1), atol=1e-9):
                continue
            whole = table[qi].notna().all(axis=1).to_numpy()
            mistakes = {
                "one row of each class is counted; a row that has a twin is not alone": np.sum(1 / times) / len(table),
                "a missing value is a value too: a row is told apart by having none": np.sum((times == 1) & whole) / len(table),
                "rows with a missing value belong to the whole, and can be alone": np.sum((times == 1) & whole) / max(whole.sum(), 1),
                "you choose rows by their label, and a row that is alone may bear the label of a twin": np.mean(~table.index.isin(table.index[times > 1])),
                "it is the number of rows, not their share": np.sum(times == 1),
                "it is the share that is alone among the classes, not among the rows": np.sum(times == 1) / np.sum(1 / times),
                "it is the share that is not alone": np.mean(times > 1),
                "it is in percent; give a share between 0 and 1": 100 * np.mean(times == 1),
            }
            for message, value in mistakes.items():
                if np.isclose(got, value, atol=1e-9):
                    raise Wrong(f"{message} ({where})")
            raise Wrong(f"{got:.4f} on {where}; {np.sum(times == 1)} of {len(table)} rows are alone, {np.mean(times == 1):.4f}")
    return "right, with missing values and repeated labels too"


def _alone(share, size, days=730.5):
    return float(np.sum(share * (1 - share / days) ** (size - 1)))


def _gamma(shape, scale):
    """The shares of the ages 0 to 99 in a town."""
    return np.diff(scipy.stats.gamma(shape, scale=scale).cdf([*range(100), np.inf]))


@checker
def link_extrapolate(alone):
    """`alone(ages, size)`: estimate from a sample of ages the share of a ZIP code's `size` residents who are alone on sex and date of birth."""
    rng, campus = np.random.default_rng(8), np.bincount(np.arange(18, 26), minlength=100) / 8
    places = [("a town of 20,000", _gamma(4, 10), 20_000, 1_500), ("a campus of 6,000", campus, 6_000, 700),
              ("a village of 300", _gamma(4, 10), 300, 200), ("a suburb of 9,000", _gamma(7, 5), 9_000, 800)]
    for name, truth, size, known in places:
        ages = rng.choice(100, known, p=truth)
        got, exact = number(answered(alone, ages.copy(), size), name), _alone(truth, size)
        if abs(got - exact) <= 0.03:
            continue
        share = np.unique(ages, return_counts=True)[1] / known
        mistakes = {
            "the others are all residents, not those in the sample": _alone(share, known),
            "with 365 days and no sex each day holds twice as many people: a cell is a day and a sex": _alone(share, size, 365.25),
            "ages are not equally common: the probability of a stranger in your cell depends on how common your age is":
                (1 - 1 / (730.5 * len(share))) ** (size - 1),
            "it is the share alone at the most common age only": (1 - share.max() / 730.5) ** (size - 1),
            "it is the share that is not alone": 1 - _alone(share, size),
            "it is in percent; give a share between 0 and 1": 100 * _alone(share, size),
        }
        where = f"{name}, {known} ages known: {got:.3f}, and {exact:.3f} of the residents can be expected to be alone"
        if message := next((message for message, value in mistakes.items() if np.isclose(got, value, atol=2e-3)), None):
            raise Wrong(f"{message} ({where})")
        raise Wrong(where)
    return "right in a town, on a campus, in a village and in a suburb"


def _two_tables(rng, n=300):
    """A release and a roll with twins, strangers, missing values and labels of their own."""
    roll = pd.DataFrame({"zip": rng.choice(["34301", "34302", "34303"], n), "sex": rng.choice(["F", "M"], n),
                         "born": rng.integers(1940, 2004, n).astype(str)}).astype(object)
    roll.insert(0, "name", [f"Voter {number}" for number in rng.permutation(n) // 2])             # a name may be that of two people
    visits = pd.concat([roll.sample(n // 2, random_state=int(rng.integers(1000))), roll.sample(n // 3, random_state=int(rng.integers(1000)))])
    visits = visits.drop(columns="name").assign(diagnosis="influenza", since=2022)               # both have `since`, and it is not in `on`
    roll = roll.assign(since=2023)
    for table in (visits, roll):
        table.index = rng.permutation(1000)[: len(table)]
        for column, missing in (("zip", None), ("born", np.nan)):
            table.loc[rng.random(len(table)) < 0.01, column] = missing
    visits.loc[rng.random(len(visits)) < 0.1, "diagnosis"] = None
    on = ["zip", "sex", "born"]
    alone = [table.dropna(subset=on).drop_duplicates(on, keep=False) for table in (roll, visits[on])]
    namesakes = alone[0].merge(alone[1], on=on).head(3)                  # two voters with one name and the same values are two voters
    return visits, pd.concat([roll, namesakes.set_axis(range(2000, 2000 + len(namesakes)))])


@checker
def link_mend(names_for):
    """`names_for(released, public, on)`: label of a released row -> name, for rows that match only each other on all of `on`."""
    on = ["zip", "sex", "born"]
    for seed in range(4):
        visits, roll = _two_tables(np.random.default_rng(seed))
        got = answered(names_for, visits.copy(), roll.copy(), list(on))
        if not isinstance(got, dict):
            raise Wrong(f"expected a dict from row label to name, got {type(got).__name__}")
        got = {label: name for label, name in got.items() if not pd.isna(name)}         # None is no name, nor is NaN
        whole = {"visits": visits[on].notna().all(axis=1).to_numpy(), "roll": roll[on].notna().all(axis=1).to_numpy()}
        key = [list(map(tuple, table[on].to_numpy())) for table in (visits, roll)]
        seen = [Counter(keys) for keys in key]
        voter = dict(zip(key[1], roll["name"]))
        right = {label: voter[k] for label, k, known in zip(visits.index, key[0], whole["visits"]) if known and seen[0][k] == 1 and seen[1][k] == 1}
        for label, name in got.items():
            if label not in visits.index:
                raise Wrong(f"{label!r} is not the label of a released row; the labels are those of its index")
            place = visits.index.get_loc(label)
            if not whole["visits"][place]:
                raise Wrong(f"row {label} has a missing value and got a name: two missing values are no agreement, and pandas joins them")
            k = key[0][place]
            if seen[1][k] > 1:
                raise Wrong(f"row {label} fits {seen[1][k]} voters and got the name of one of them")
            if seen[0][k] > 1:
                raise Wrong(f"row {label} got a name, but {seen[0][k]} released rows have its values: which of them is the voter's?")
            if right.get(label) != name:
                raise Wrong(f"row {label} got {name!r}, but the voter with its values is {right.get(label)!r}")
        if missed := right.keys() - got.keys():
            raise Wrong(f"{len(missed)} of {len(right)} rows match one voter and only that one, and got no name, for example row {min(missed)}; "
                        "two voters may have one name, and only the columns of `on` count")
    return "a name where two rows match only each other"


def _codes(people, salt):
    return [hashlib.sha256(f"{salt}|{sex}|{born}".encode()).hexdigest() for sex, born in people]


@checker
def link_reverse(reverse):
    """`reverse(codes, salt)`: (sex, dob) for each code sha256(salt|sex|dob), None for a code that belongs to nobody."""
    days = np.arange("1924-01-01", "2024-01-01", dtype="M8[D]").astype(str)
    for seed, salt in enumerate(("", "town hall 2023")):
        rng = np.random.default_rng(seed)
        people = [(str(sex), str(day)) for sex, day in zip(rng.choice(["F", "M"], 60), rng.choice(days, 60))]
        people += [("F", "1924-01-01"), ("M", "2023-12-31"), ("F", "2000-02-29")]
        people.append(people[0])
        codes = _codes(people, salt)
        codes[7] = hashlib.sha256(b"nobody").hexdigest()
        got = [tuple(str(part)[:10] for part in one) if isinstance(one, (tuple, list)) else one for one in list(answered(reverse, list(codes), salt))]
        if len(got) != len(codes):
            raise Wrong(f"expected {len(codes)} answers, one per code and in their order, got {len(got)}")
        expected = [*people[:7], None, *people[8:]]
        if got == expected:
            continue
        if all(one is None for one in got):
            if salt:
                raise Wrong("with a salt your list finds nobody: the salt is published, so hash it with every candidate")
            raise Wrong("nobody is found: hash exactly salt|sex|dob, with both bars also where the salt is empty, and keep all 64 digits")
        wrong = [number for number, (one, other) in enumerate(zip(got, expected)) if one != other]
        if wrong == [7]:
            raise Wrong(f"code 7 belongs to nobody and got {got[7]!r}; say None")
        first = next(number for number in wrong if number != 7)
        if got[first] is None:
            raise Wrong(f"{len(wrong)} of {len(codes)} codes not found, for example that of {expected[first]}: all days from 1924 to 2023, leap days too")
        raise Wrong(f"code {first} is that of {expected[first]}, got {got[first]!r}")
    return "everybody found, salt or no salt, and nobody invented"


def _world(seed):
    """Ratings of 300 pseudonyms; eight clues about 60 people, two of them wrong; half of the people are not in the table."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, 201)
    rows = []
    for user in range(300):
        films = rng.choice(200, size=rng.integers(14, 40), replace=False, p=popular / popular.sum())
        rows += [(user, film, rng.integers(1, 6), rng.integers(0, 730)) for film in films]
    records = pd.DataFrame(rows, columns=["user", "film", "stars", "day"])
    records["user"] = records["user"].map(dict(enumerate(rng.permutation(9000)[:300] + 1000)))
    clues = []
    for user in rng.choice(records["user"].unique(), 60, replace=False):
        own = records[records["user"] == user]
        known = own.sample(8, random_state=int(rng.integers(10_000)))[["film", "stars", "day"]].reset_index(drop=True)
        known["stars"] = np.clip(known["stars"] + rng.choice([-1, 0, 0, 0, 1], 8), 1, 5)
        known["day"] += rng.integers(-14, 15, 8)
        never = np.setdiff1d(np.arange(200), own["film"])
        known.loc[:1, "film"] = rng.choice(never, 2, replace=False)
        known.loc[:1, "day"] = rng.integers(0, 730, 2)
        clues.append((user, known.sample(frac=1, random_state=int(rng.integers(10_000))).reset_index(drop=True)))
    gone = {user for user, _ in clues[30:]}
    return records[~records["user"].isin(gone)].reset_index(drop=True), clues[:30], clues[30:]


@checker
def link_score(find):
    """`find(known, records)`: the pseudonym of a person of whom eight ratings are known, two of them wrong, or None."""
    records, present, absent = _world(11)
    who = present[0][0]
    if ask(find, records.loc[records["user"] == who, ["film", "stars", "day"]].head(8).reset_index(drop=True), records) is None:
        raise Wrong("of somebody whose eight ratings stand in the table as they are known you say that they are not there: is the `return` missing?")
    people, pseudonyms, answers = [*present, *absent], set(records["user"]), [None] * 60
    for place in np.random.default_rng(12).permutation(60):              # nobody can count the questions
        got = answers[place] = ask(find, people[place][1].copy(), records.copy())
        if got is not None and got not in pseudonyms:
            raise Wrong(f"{got!r} is not a pseudonym of the table; return one of them or None")
    right = sum(got == who for got, (who, _) in zip(answers, present))
    mistaken = sum(got is not None and got != who for got, (who, _) in zip(answers, present))
    invented = sum(got is not None for got in answers[30:])
    if invented > 1:
        raise Wrong(f"{right} of 30 people found, but of the 30 who are not in the table you named {invented}: somebody is always first, ask by how much")
    if mistaken > 1:
        raise Wrong(f"{mistaken} of 30 people got the pseudonym of somebody else")
    if right < 27:
        raise Wrong(f"{right} of 30 people found, 27 wanted: two of the eight clues are wrong, so a candidate may miss two, and dates are off by up to 14 days")
    return "nearly all found, hardly anybody named who is absent"
