"""Checkers of the section on linkage."""
import functools
import hashlib
from collections import Counter

import numpy as np
import pandas as pd
from scipy.special import gammainc

from provable_privacy.entries import OneOf, entries
from provable_privacy.formulas import on_cases
from provable_privacy.given.linkage import world
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["link_classify", "link_extrapolate", "link_mend", "link_reverse", "link_score", "link_unique"]


# ---------------------------------------------------------------------------------------------------- kinds of attacks

GOALS = "re-identification", "attribute", "membership", "reconstruction", "direct leak"


@entries("only two of the six put a name beside a row")
def link_classify():
    """`answer`: case -> one of GOALS."""
    return {
        "roll": OneOf(GOALS, "re-identification", "a name was put beside a row"),
        "class": OneOf(GOALS, "attribute", "nobody knows which row is the uncle's, but what do we still learn "
                                           "about him?"),
        "model": OneOf(GOALS, "membership", "no row was read; what was learned is that she was in it"),
        "counts": OneOf(GOALS, "reconstruction", "not one person: the rows themselves came back from totals"),
        "disk": OneOf(GOALS, "direct leak", "nothing had to be worked out: the names were there"),
        "forum": OneOf(GOALS, "re-identification", "a pseudonym got a name"),
    }


# -------------------------------------------------------------------------------------------------------- who is alone

def _random_table(rng, n=400):
    table = {"a": rng.integers(0, 12, n), "b": rng.choice(list("xyz"), n), "c": rng.integers(0, 40, n)}
    table = pd.DataFrame(table).astype(object)
    return table.mask(rng.random(table.shape) < 0.1)


HAND = pd.DataFrame({
    "zip": ["34301", "34301", "34301", "34302", "34302", None, None, "34303"],
    "sex": ["F", "F", "M", "F", "M", "F", "F", None],
    "year": [1980, 1980, 1980, 1990, 1990, 1970, 1971, 1990],
}, index=[5, 7, 7, 0, 1, 2, 3, 2])
TABLES = {"the table of eight rows": HAND, "a random table": _random_table(np.random.default_rng(3))}
COLUMNS = [("the table of eight rows", qi) for qi in (["zip", "sex", "year"], ["zip", "sex"], ["year"])] + [
    ("a random table", qi) for qi in (["a"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"])]


@functools.cache
def _times(name, *columns):
    """How often the values of each row occur; a missing value is a value of its own."""
    rows = [tuple("missing" if pd.isna(value) else ("value", value) for value in row)
            for row in TABLES[name][list(columns)].itertuples(index=False)]
    count = Counter(rows)
    return np.array([count[row] for row in rows])


def _alone(of=lambda times, whole, index: np.mean(times == 1)):
    """From how often each row occurs, where no value is missing, and the labels; right unless told otherwise."""
    return lambda table, qi: float(of(_times(table, *qi), TABLES[table][qi].notna().all(axis=1), TABLES[table].index))


UNIQUE_MISTAKES = {
    "one row of each class is counted; a row that has a twin is not alone":
        _alone(lambda times, whole, index: np.mean(1 / times)),
    "a missing value is a value too: a row is told apart by having none":
        _alone(lambda times, whole, index: np.mean((times == 1) & whole)),
    "rows with a missing value belong to the whole, and can be alone":
        _alone(lambda times, whole, index: np.sum((times == 1) & whole) / max(whole.sum(), 1)),
    "you choose rows by their label, and a row that is alone may have the same label as a row with a twin":
        _alone(lambda times, whole, index: np.mean(~index.isin(index[times > 1]))),
    "it is the number of rows, not their share": _alone(lambda times, whole, index: np.sum(times == 1)),
    "it is the share that is alone among the classes, not among the rows":
        _alone(lambda times, whole, index: np.sum(times == 1) / np.sum(1 / times)),
    "it is the share that is not alone": _alone(lambda times, whole, index: np.mean(times > 1)),
    "it is in percent; give a share between 0 and 1": _alone(lambda times, whole, index: 100 * np.mean(times == 1)),
}


def _rows_alone(got, right, table, qi):
    times = _times(table, *qi)
    return f"{np.sum(times == 1)} of {len(times)} rows are alone"


@checker
def link_unique(frac_unique):
    """`frac_unique(df, qi)`: the share of the rows that are alone with their values of the columns in the list `qi`."""
    table = HAND.copy()
    answered(frac_unique, table, ["zip", "sex", "year"])
    if not table.equals(HAND):
        raise Wrong("your function changes the table that it is given; work on a copy")
    on_cases(lambda table, qi: frac_unique(TABLES[table].copy(), qi), COLUMNS, _alone(), UNIQUE_MISTAKES, rtol=0,
             atol=1e-9, what="the share", otherwise=_rows_alone,
             show=lambda table, qi: f"{table}, columns {', '.join(qi)}")
    return "right, with missing values and repeated labels too"


# --------------------------------------------------------------------------------------------- from a sample to a town

def _gamma(shape, scale):
    """The shares of the ages 0 to 99 in a town."""
    return np.diff(gammainc(shape, np.array([*range(100), np.inf]) / scale))


def _people_alone(share, size, days=730.5):
    """The share of so many residents who are alone with their age, their birthday and their sex."""
    return float(np.sum(share * (1 - share / days) ** (size - 1)))


TOWNS = {                                        # size -> name, shares of the ages, people whose age is known
    20_000: ("a town of 20,000", _gamma(4, 10), 1_500),
    6_000: ("a campus of 6,000", np.bincount(np.arange(18, 26), minlength=100) / 8, 700),
    300: ("a village of 300", _gamma(4, 10), 200),
    9_000: ("a suburb of 9,000", _gamma(7, 5), 800),
}
_luck = np.random.default_rng(8)
SAMPLES = [(_luck.choice(100, known, p=share), size) for size, (_, share, known) in TOWNS.items()]


def _expected(ages, size):
    return _people_alone(TOWNS[size][1], size)


def _shares(ages):
    return np.unique(ages, return_counts=True)[1] / len(ages)


TOWN_MISTAKES = {
    "the others are all residents, not those in the sample": lambda ages, size: _people_alone(_shares(ages), len(ages)),
    "with 365 days and no sex each day holds twice as many people: a cell is a day and a sex":
        lambda ages, size: _people_alone(_shares(ages), size, 365.25),
    "ages are not equally common: the probability of a stranger in your cell depends on how common your age is":
        lambda ages, size: (1 - 1 / (730.5 * len(_shares(ages)))) ** (size - 1),
    "it is the share alone at the most common age only":
        lambda ages, size: (1 - _shares(ages).max() / 730.5) ** (size - 1),
    "it is the share that is not alone": lambda ages, size: 1 - _people_alone(_shares(ages), size),
    "it is in percent; give a share between 0 and 1": lambda ages, size: 100 * _people_alone(_shares(ages), size),
}


@checker
def link_extrapolate(alone):
    """`alone(ages, size)`: from a sample of ages, the share of `size` residents alone on sex and date of birth."""
    on_cases(alone, SAMPLES, _expected, TOWN_MISTAKES, rtol=0, atol=2e-3, what="the share",
             accepts=lambda got, right, *_: abs(got - right) <= 0.03,
             show=lambda ages, size: f"{TOWNS[size][0]}, {len(ages)} ages known",
             otherwise=lambda got, right, *_: f"{right:.3f} of the residents can be expected to be alone")
    return "right in a town, on a campus, in a village and in a suburb"


# ------------------------------------------------------------------------------------------------------ names for rows

ON = ["zip", "sex", "born"]


def _two_tables(rng, n=300):
    """A release and a roll with twins, strangers, missing values and labels of their own."""
    roll = pd.DataFrame({"zip": rng.choice(["34301", "34302", "34303"], n), "sex": rng.choice(["F", "M"], n),
                         "born": rng.integers(1940, 2004, n).astype(str)}).astype(object)
    roll.insert(0, "name", [f"Voter {number}" for number in rng.permutation(n) // 2])    # names occur twice
    visits = pd.concat([roll.sample(n // part, random_state=int(rng.integers(1000))) for part in (2, 3)])
    visits = visits.drop(columns="name").assign(diagnosis="influenza", since=2022)       # `since` is not in `on`
    roll = roll.assign(since=2023)
    for table in (visits, roll):
        table.index = rng.permutation(1000)[: len(table)]
        for column, missing in (("zip", None), ("born", np.nan)):
            table.loc[rng.random(len(table)) < 0.01, column] = missing
    visits.loc[rng.random(len(visits)) < 0.1, "diagnosis"] = None
    alone = [table.dropna(subset=ON).drop_duplicates(ON, keep=False) for table in (roll, visits[ON])]
    namesakes = alone[0].merge(alone[1], on=ON).head(3)      # one name, the same values, two voters
    return visits, pd.concat([roll, namesakes.set_axis(range(2000, 2000 + len(namesakes)))])


class Match:
    """What there is to know of a row: its values, how often they occur in both tables, and whose name it should get."""

    def __init__(self, visits, roll):
        self.labels, self.whole = visits.index, visits[ON].notna().all(axis=1).to_numpy()
        self.keys, voters = (list(map(tuple, table[ON].to_numpy())) for table in (visits, roll))
        self.rows, self.voters, names = Counter(self.keys), Counter(voters), dict(zip(voters, roll["name"]))
        self.right = {label: names[key] for label, key, known in zip(self.labels, self.keys, self.whole)
                      if known and self.rows[key] == self.voters[key] == 1}

    def judge(self, label, name):
        if label not in self.labels:
            raise Wrong(f"{label!r} is not the label of a released row; the labels are those of its index")
        place = self.labels.get_loc(label)
        voters, rows = self.voters[self.keys[place]], self.rows[self.keys[place]]
        if not self.whole[place]:
            raise Wrong(f"row {label} has a missing value and got a name: two missing values do not agree, but pandas "
                        "joins them")
        if voters > 1:
            raise Wrong(f"row {label} fits {voters} voters and got the name of one of them")
        if rows > 1:
            raise Wrong(f"row {label} got a name, but {rows} released rows have its values: which of them is the "
                        "voter's?")
        if self.right.get(label) != name:
            raise Wrong(f"row {label} got {name!r}, but the voter with its values is {self.right.get(label)!r}")


@checker
def link_mend(names_for):
    """`names_for(released, public, on)`: label of a released row -> name, for rows that match only each other."""
    for seed in range(4):
        visits, roll = _two_tables(np.random.default_rng(seed))
        got = answered(names_for, visits.copy(), roll.copy(), list(ON))
        if not isinstance(got, dict):
            raise Wrong(f"expected a dict from row label to name, got {type(got).__name__}")
        got, match = {label: name for label, name in got.items() if not pd.isna(name)}, Match(visits, roll)
        for label, name in got.items():
            match.judge(label, name)
        if missed := match.right.keys() - got.keys():
            raise Wrong(f"{len(missed)} of {len(match.right)} rows match exactly one voter, and you gave them no "
                        f"name, for example row {min(missed)}. Two voters may have the same name: compare voters by "
                        "the columns of `on` only")
    return "a name where two rows match only each other"


# ------------------------------------------------------------------------------------------------------- hashed people

def _coded(seed, salt):
    """People, and the codes of all of them but number 7, which is a code of nobody."""
    rng, days = np.random.default_rng(seed), np.arange("1924-01-01", "2024-01-01", dtype="M8[D]").astype(str)
    people = [(str(sex), str(day)) for sex, day in zip(rng.choice(["F", "M"], 60), rng.choice(days, 60))]
    people += [("F", "1924-01-01"), ("M", "2023-12-31"), ("F", "2000-02-29"), people[0]]
    texts = [f"{salt}|{sex}|{born}" for sex, born in people]
    people[7], texts[7] = None, "nobody"
    return people, [hashlib.sha256(text.encode()).hexdigest() for text in texts]


@checker
def link_reverse(reverse):
    """`reverse(codes, salt)`: (sex, dob) for each code sha256(salt|sex|dob), None for a code that belongs to nobody."""
    for seed, salt in enumerate(("", "town hall 2023")):
        people, codes = _coded(seed, salt)
        got = [tuple(str(part)[:10] for part in one) if isinstance(one, (tuple, list)) else one
               for one in answered(reverse, list(codes), salt)]
        if len(got) != len(codes):
            raise Wrong(f"expected {len(codes)} answers, one for each code and in their order, got {len(got)}")
        wrong = [number for number, (one, other) in enumerate(zip(got, people)) if one != other]
        if not wrong:
            continue
        if all(one is None for one in got):
            raise Wrong("with a salt your list finds nobody: the salt is published, so hash it with every candidate"
                        if salt else "nobody is found: hash exactly salt|sex|dob, with both bars also where the salt "
                                     "is empty, and "
                        "keep all 64 digits")
        if wrong == [7]:
            raise Wrong(f"code 7 belongs to nobody and got {got[7]!r}; say None")
        first = next(number for number in wrong if number != 7)
        if got[first] is None:
            raise Wrong(f"{len(wrong)} of {len(codes)} codes not found, for example that of {people[first]}: all days "
                        "from 1924 to 2023, leap days too")
        raise Wrong(f"code {first} is that of {people[first]}, got {got[first]!r}")
    return "everybody found, salt or no salt, and nobody invented"


# ------------------------------------------------------------------------------------------- a few clues of a person

@checker
def link_score(find):
    """`find(known, records)`: the pseudonym of a person of whom eight ratings are known, two of them wrong, or None."""
    records, present, absent = world(11)
    own = records.loc[records["user"] == present[0][0], ["film", "stars", "day"]]
    if ask(find, own.head(8).reset_index(drop=True), records) is None:
        raise Wrong("you say of somebody that they are not in the table, although eight ratings in the table are "
                    "exactly the known ones: is the `return` missing?")
    people, pseudonyms, answers = [*present, *absent], set(records["user"]), [None] * 60
    for place in np.random.default_rng(12).permutation(60):              # nobody can count the questions
        got = answers[place] = ask(find, people[place][1].copy(), records.copy())
        if got is not None and got not in pseudonyms:
            raise Wrong(f"{got!r} is not a pseudonym of the table; return one of them or None")
    right = sum(got == who for got, (who, _) in zip(answers, present))
    mistaken = sum(got is not None and got != who for got, (who, _) in zip(answers, present))
    invented = sum(got is not None for got in answers[30:])
    if invented > 1:
        raise Wrong(f"{right} of 30 people found, but you named {invented} of the 30 who are not in the table. Some "
                    "candidate always comes first; ask how far it is ahead of the second")
    if mistaken > 1:
        raise Wrong(f"{mistaken} of 30 people got the pseudonym of somebody else")
    if right < 27:
        raise Wrong(f"{right} of 30 people found, 27 wanted. Two of the eight clues are wrong, so a candidate may "
                    "miss two clues; and dates may be wrong by up to 14 days")
    return "nearly all found, hardly anybody named who is absent"
