"""adult_like: 32,561 invented people who resemble UCI Adult, made from noisy tables with privacy loss epsilon = 1.

    python data/adult_like.py    reads UCI Adult by dplib.data.load("adult"), writes adult_like.csv.gz beside this file

The steps are encode, measure, sample, decode. Only `measure` reads the data; all that follows is post-processing.

Privacy: epsilon-DP with epsilon = 1 under adding or removing one person. A person stands in one cell of each table, so
each table has L1 sensitivity 1; the tables spend EPSILON * share / sum of shares each, which add up to EPSILON by
sequential composition. The number of rows is public. Domains, bins, tables and shares are public choices that cost
nothing; they were made by hand, by people who know Adult. Adult is public and the seed is printed below, so this shows
the technique; it does not protect these 32,561 people. adult_like.md says more.
"""
import numpy as np
import pandas as pd

from dplib.mechanisms import laplace

EPSILON, SEED = 1.0, 1994
COLUMNS = ["Age", "Workclass", "Education", "Education-Num", "Marital Status", "Occupation", "Relationship", "Race",
           "Sex", "Capital Gain", "Capital Loss", "Hours per week", "Country", "Target"]

# ---- domains: the documented values of each column. A value that is not listed, or is missing, counts as the first.
CATEGORIES = {
    "Workclass": ["", "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov",
                  "Without-pay", "Never-worked"],
    "Education": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
                  "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"],
    "Marital Status": ["Never-married", "Married-civ-spouse", "Married-AF-spouse", "Divorced", "Separated", "Widowed",
                       "Married-spouse-absent"],
    "Occupation": ["", "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
                   "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving",
                   "Priv-house-serv", "Protective-serv", "Armed-Forces"],
    "Relationship": ["Unmarried", "Wife", "Husband", "Own-child", "Not-in-family", "Other-relative"],
    "Race": ["Other", "White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo"],
    "Sex": ["Female", "Male"],
    "Country": ["", "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
                "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras",
                "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France",
                "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala",
                "Nicaragua", "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong",
                "Holand-Netherlands"],
    "Target": ["<=50K", ">50K"],
}

# Bins of the numbers: the first value of each bin, then one past the last value. A number outside counts as the nearest
# inside.
BINS = {
    "Age": range(17, 92),
    "Hours per week": range(1, 101),
    "Capital Gain": [0, 1, 1500, 3000, 4000, 5000, 7000, 7500, 9000, 14000, 15500, 20000, 30000, 50000, 99999, 100000],
    "Capital Loss": [0, 1, 1000, 1600, 1850, 1950, 2100, 2500, 4500],
}

# Coarser versions of a column, for use in tables: name -> (column, first code of each group).
GROUPS = {
    # from 17, 20, 23, 26, 30, 35, ..., 70, 80
    "age band": ("Age", [0, 3, 6, 9, 13, 18, 23, 28, 33, 38, 43, 48, 53, 63]),
    "age group": ("Age", [0, 3, 8, 18, 33, 48]),  # from 17, 20, 25, 35, 50, 65
    "school": ("Education", [0, 8, 9, 12, 13]),  # below high school; high school; some college; Bachelors; above
    "week": ("Hours per week", [0, 19, 34, 39, 40, 49, 59]),  # from 1, 20, 35, 40, 41, 50, 60 hours
    "married": ("Marital Status", [0, 1, 3]),  # never; with a spouse; once
}

SIZES = {column: len(values) for column, values in CATEGORIES.items()}
SIZES |= {column: len(edges) - 1 for column, edges in BINS.items()}
SIZES |= {group: len(first) for group, (_, first) in GROUPS.items()}

# The tables, in the order in which people are drawn: what is counted, within which groups, and its share of the budget
# in twentieths.
TABLES = [
    ("Age", [], 4),
    ("Sex", ["age band"], 1),
    ("Marital Status", ["age band", "Sex"], 1),
    ("Relationship", ["Marital Status", "Sex"], 1),
    ("Race", [], 1),
    ("Country", ["Race"], 1),
    ("Education", ["age group"], 1),
    ("Occupation", ["school", "Sex"], 1),
    ("Workclass", ["Occupation"], 1),
    ("week", ["Occupation", "Sex"], 1),
    ("Hours per week", [], 2),
    ("Target", ["school", "married", "age group"], 2),
    ("Capital Gain", ["Target"], 2),
    ("Capital Loss", ["Target"], 1),
]
SHARES = sum(share for _, _, share in TABLES)


def encode(adult):
    """Each column as codes 0, 1, 2, ...: row by row, without a look at any other row."""
    codes = {}
    for column, values in CATEGORIES.items():
        codes[column] = np.maximum(pd.Index(values).get_indexer(adult[column]), 0)
    for column, edges in BINS.items():
        number = np.nan_to_num(adult[column].to_numpy(dtype=float), nan=edges[0])
        codes[column] = np.digitize(np.clip(number, edges[0], edges[-1] - 1), edges) - 1
    return add_groups(codes)


def add_groups(codes):
    """Add the coarser versions of the columns that are there."""
    for group, (column, first) in GROUPS.items():
        if column in codes:
            codes[group] = np.digitize(codes[column], first) - 1
    return codes


def measure(adult, *, epsilon=EPSILON, rng=None):
    """The noisy tables, by the name of what they count: all that is ever learnt from the data.

    Every person adds 1 to one cell of each table, so a table changes by at most 1 when a person comes or goes.
    """
    # one stream for all tables: the same seed in each would repeat the noise, and a difference remove it
    rng = np.random.default_rng(rng)
    codes = encode(adult)
    noisy = {}
    for target, given, share in TABLES:
        axes = [*given, target]
        counts = np.zeros([SIZES[axis] for axis in axes])
        np.add.at(counts, tuple(codes[axis] for axis in axes), 1)
        noisy[target] = laplace(counts, sensitivity=1, epsilon=epsilon * share / SHARES, rng=rng)
    return noisy


def sample(noisy, n, *, epsilon=EPSILON, rng=None):
    """Codes of `n` people drawn from the noisy tables, one column after the other."""
    rng = np.random.default_rng(rng)
    codes = {}
    for target, given, share in TABLES:
        # Most cells of a large table hold almost nobody, but their noise is as large as any: what is below two noise
        # scales is dropped.
        floor = 2 * SHARES / (epsilon * share) if given else 0.0
        table = np.where(noisy[target] > floor, noisy[target], 0.0).reshape(-1, SIZES[target])
        if target == "Hours per week":  # its group, the week, has been drawn: keep to it
            week = np.digitize(np.arange(SIZES[target]), GROUPS["week"][1]) - 1
            table, group = table * (week == np.arange(SIZES["week"])[:, None]) + 1e-9, codes["week"]
        else:
            # a group left without counts falls back on the column's total
            table = table + 1e-6 * table.mean(axis=0) + 1e-9
            group = (np.ravel_multi_index([codes[axis] for axis in given], [SIZES[axis] for axis in given])
                     if given else np.zeros(n, int))
        codes[target] = deal(table, group, rng)
        add_groups(codes)
    return codes


def deal(table, group, rng):
    """A code for each person, by their group's row of `table`: in its proportions as nearly as whole people can be,
    in random order."""
    order = rng.permutation(len(group))
    place = np.empty(len(group), dtype=int)
    place[order] = pd.Series(group[order]).groupby(group[order]).cumcount()
    size = np.bincount(group, minlength=len(table))
    point = (place + rng.random(len(table))[group]) / size[group]
    cumulative = np.cumsum(table, axis=1)[:, :-1] / table.sum(axis=1, keepdims=True)
    return (cumulative[group] <= point[:, None]).sum(axis=1)


def decode(codes, *, rng=None):
    """Codes back to a table with UCI's columns except fnlwgt. Inside a bin, every whole number is equally likely."""
    rng = np.random.default_rng(rng)
    columns = {column: np.array(values)[codes[column]] for column, values in CATEGORIES.items()}
    for column, edges in BINS.items():
        edges = np.array(edges)
        columns[column] = rng.integers(edges[codes[column]], edges[codes[column] + 1])
    columns["Education-Num"] = codes["Education"] + 1
    return pd.DataFrame(columns)[COLUMNS]


def release(adult, *, epsilon=EPSILON, rng=None):
    """The whole way: a synthetic table of as many rows as `adult`, epsilon-DP as said above."""
    rng = np.random.default_rng(rng)
    noisy = measure(adult, epsilon=epsilon, rng=rng)
    return decode(sample(noisy, len(adult), epsilon=epsilon, rng=rng), rng=rng)


if __name__ == "__main__":
    from save import save

    from dplib.data import load

    try:
        adult = load("adult")
    except (FileNotFoundError, ValueError) as error:
        raise SystemExit(f"adult_like is made from the true UCI Adult. {error}") from None
    table = release(adult, rng=SEED)
    save("adult_like", table)
    print(f"adult_like {len(table):6,} rows, epsilon = {EPSILON}")
