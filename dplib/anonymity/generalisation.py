"""Two ways to make a table k-anonymous: classes of rows, or levels of whole columns."""
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_list_like

from dplib._labels import without_memory
from dplib._types import Array, ArrayLike, Columns
from dplib._validate import function, listed, probability, shown, whole
from dplib.anonymity.measures import classes
from dplib.anonymity.tables import column_names, combine, is_number, rank

__all__ = ["Generalisation", "lattice_search", "mondrian", "recode"]

_LISTED = 4     # values that `recode` lists before it writes a range


def mondrian(df: pd.DataFrame, qi: Columns, *, k: int) -> Array:
    """Classes of at least k rows by strict Mondrian: cut the table, and each part again, as long as both parts keep k
    rows.

    A part is cut at the median of the quasi-identifier on which it is widest, relative to the whole table, or of the
    next widest if that one has no allowed cut. Numbers are measured by value; text (ISO dates among it), timestamps and
    categories by their place in the sorted order, a pandas categorical in the order of its categories. A missing value
    comes last, for numbers one average step beyond the largest. Rows with equal quasi-identifiers are never separated.

    Privacy
    -------
    measure : none: the classes depend on the data, and say so
    guarantee : every class has at least k rows, so that `recode` makes a k-anonymous table of them; nothing is said of
        the sensitive values in a class, nor of two such tables together

    Parameters
    ----------
    df, qi
        As for `classes`.
    k : int
        From 1 to the number of rows.

    Returns
    -------
    array of int, one label per row, in the order of the rows

    Raises
    ------
    ValueError
        As `classes`; if `k` is not a whole number from 1 to the number of rows.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006).

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 21, 22, 50, 51, 60], "sex": list("FMFMFM")})
    >>> mondrian(table, ["age", "sex"], k=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    names, k = column_names("qi", df, qi), _at_most_rows(df, k)
    ranks = [rank(df[name]) for name in names]
    box = np.array([code for code, _ in ranks], dtype=np.int32)
    place = np.zeros((len(names), box.max() + 1))
    for row, name, (code, values) in zip(place, names, ranks):
        row[: code.max() + 1] = _places(values, is_number(df[name]), missing=code.max() == len(values))
    label, found = np.empty(len(df), dtype=int), 0
    todo = [np.arange(len(df))]
    while todo:
        rows = todo.pop()
        low = _cut(box[:, rows], place, k) if len(rows) >= 2 * k else None
        if low is None:
            label[rows] = found
            found += 1
        else:
            todo += [rows[~low], rows[low]]
    return label


def recode(df: pd.DataFrame, qi: Columns, labels: ArrayLike) -> pd.DataFrame:
    """A copy of the table in which each quasi-identifier is replaced by what the rows with the same label share, as
    text.

    Numbers become a value or a range, "18" or "18-25" ("-4 to 3" in a column with negative numbers); anything else the
    list of values, "F, M", or if there are more than four the first and last in sorted order, "1938-11-21 to
    1942-03-01". A missing value is written "?".

    Privacy
    -------
    measure : none: a description of one table
    guarantee : rows with one label become equal on `qi`, so that k is at least the number of rows of the rarest label;
        the ends of a range are values of somebody in the class

    Parameters
    ----------
    df, qi
        As for `classes`.
    labels : array
        One label per row, in the order of the rows, as from `mondrian`; an index is not looked at.

    Returns
    -------
    DataFrame
        With the index and the columns of `df`.

    Raises
    ------
    ValueError
        As `classes`; if `labels` is not one label per row.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), who call it the summary statistic of a region.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 21, 22, 50, 51, 60], "sex": list("FMFMFM"), "smoker": [0, 1, 0, 0, 1, 1]})
    >>> recode(table, ["age", "sex"], [0, 0, 0, 1, 1, 1]).drop_duplicates(["age", "sex"])
         age   sex  smoker
    0  20-22  F, M       0
    3  50-60  F, M       0
    """
    names = column_names("qi", df, qi)
    if len(labels := listed("labels", labels)) != len(df) or not all(map(np.isscalar, labels)):
        raise ValueError(f"labels must be one label per row, {len(df)} in all, got {len(labels)}")
    label = rank(pd.Series(labels))[0]
    table = without_memory(df)
    for name in names:
        code, values = rank(df[name])
        shown = _texts(values, is_number(df[name]))
        # the different values of each class, class by class
        pairs = np.unique(label * (len(values) + 1) + code)
        group, code = np.divmod(pairs, len(values) + 1)
        ends, code = np.flatnonzero(np.diff(group, prepend=-1, append=-1)).tolist(), code.tolist()
        table[name] = np.array([shown(code[start:end]) for start, end in itertools.pairwise(ends)], dtype=object)[label]
    return table


@dataclass(frozen=True, eq=False)
class Generalisation:
    """What `lattice_search` found.

    Attributes
    ----------
    levels : dict
        Column name -> level, 0 being the value itself.
    table : DataFrame
        The generalised table without the suppressed rows; the other rows keep their index.
    suppressed : int
        Rows left out.
    loss : float
        Information loss of `levels`.
    minimal : tuple of dict
        All level choices that reach k while none below them does; `levels` is one of them.
    tested, nodes : int
        Level choices that had to be looked at, and how many there are.
    """

    levels: dict
    table: pd.DataFrame
    suppressed: int
    loss: float
    minimal: tuple
    tested: int
    nodes: int


def lattice_search(
    df: pd.DataFrame, hierarchies: Mapping, *, k: int, suppress: float = 0.0,
    cost: Callable[[dict], float] | None = None,
) -> Generalisation:
    """The least generalisation of whole columns that makes the table k-anonymous, possibly without a few rows.

    The choices of one level for each column form a lattice. Going up merges classes, so that a row in a class of k
    stays in such a class: above a choice that suffices all suffice, also with suppression. The search goes up from the
    values themselves, tests only what lies above no such choice, counting the merged classes of a choice below instead
    of the rows, and takes the best of the minimal ones.

    Privacy
    -------
    measure : none: the levels are chosen by looking at the data
    guarantee : the returned table is k-anonymous; see `k_anonymity` for what that is worth

    Parameters
    ----------
    df : DataFrame
        At least one row; any index.
    hierarchies : dict
        Quasi-identifier -> list of its levels 1, 2, ...; level 0, the value itself, is not listed. A level is a mapping
        from the original value to the general one (a value that it lacks becomes missing), or a function that takes the
        column as a Series and returns as many values, or one for all, such as `lambda zip: "*"`. Each level must be
        coarser than the one before.
    k : int
        From 1 to the number of rows.
    suppress : float
        Largest share of rows, in [0, 1), that may be left out because their class is smaller than k.
    cost : callable
        From a dict of levels to a number that never falls when a level rises. By default the mean over the columns of
        level / highest level: what Sweeney's precision lacks to 1, not counting suppressed rows.

    Returns
    -------
    Generalisation
        Of the least cost; if several, the one that suppresses fewest rows.

    Raises
    ------
    ValueError
        If `df` has no rows, `hierarchies` is not as described or a level is not coarser on the values in the table, a
        parameter is out of range, or no choice of levels reaches `k` (a highest level that is the same for all always
        does).

    References
    ----------
    Samarati (2001); Sweeney (2002); LeFevre, DeWitt and Ramakrishnan (2005).

    Examples
    --------
    >>> table = pd.DataFrame({"age": [21, 24, 25, 33, 38, 39], "sex": list("FMFMFM")})
    >>> found = lattice_search(table, {"age": [lambda age: age // 10 * 10], "sex": [{"F": "*", "M": "*"}]}, k=3)
    >>> found.levels, found.loss, found.suppressed
    ({'age': 1, 'sex': 1}, 1.0, 0)
    >>> lattice_search(table, {"age": [lambda age: age // 10 * 10], "sex": [lambda sex: "*"]}, k=2, suppress=0.4).table
       age sex
    0   20   F
    2   20   F
    3   30   M
    5   30   M
    """
    if not isinstance(hierarchies, Mapping):
        raise ValueError(f"hierarchies must be a dict from column to list of levels, got {shown(hierarchies)}")
    names = column_names("hierarchies", df, list(hierarchies))
    # 0.29 * 100 is 28.99...
    k, allowed = _at_most_rows(df, k), int(probability("suppress", suppress) * len(df) + 1e-9)
    if cost is not None:
        function("cost", cost)
    columns = [_levels(df[name], name, hierarchies[name]) for name in names]
    codes = [[rank(column)[0] for column in levels] for levels in columns]
    for name, levels in zip(names, codes):
        for level, (fine, coarse) in enumerate(itertools.pairwise(levels), start=1):
            if combine([fine, coarse]).max() > fine.max():
                raise ValueError(
                    f"hierarchies[{name!r}]: level {level} is not coarser than the one before, it separates values "
                    "that were equal"
                )

    def loss(node):
        if cost is not None:
            return float(cost(dict(zip(names, node))))
        return sum(level / max(len(levels) - 1, 1) for level, levels in zip(node, columns)) / len(node)

    minimal, tested = _climb(codes, k, allowed)
    if not minimal:
        raise ValueError(
            f"k={k} is not reached by any choice from hierarchies: add a level that is the same for all values"
        )
    best = min(minimal, key=lambda node: (loss(node), minimal[node], node))
    table = df.copy()
    for name, levels, level in zip(names, columns, best):
        table[name] = levels[level].array
    label = classes(table, names)
    return Generalisation(
        levels=dict(zip(names, best)),
        table=without_memory(table[np.bincount(label)[label] >= k]),
        suppressed=minimal[best],
        loss=loss(best),
        minimal=tuple(dict(zip(names, node)) for node in minimal),
        tested=tested,
        nodes=math.prod(len(levels) for levels in columns),
    )


def _climb(codes, k, allowed):
    """Each minimal choice of levels with the rows it suppresses, and the number of choices tested, from the bottom up.

    codes[i][level] holds the classes of column i at that level.
    """
    nodes = sorted(itertools.product(*(range(len(levels)) for levels in codes)), key=sum)
    suffices: set[tuple] = set()
    minimal: dict[tuple, int] = {}
    # of each tested choice that does not suffice: a row of each class, and its size
    coarser: dict[tuple, tuple] = {}
    tested, rows = 0, len(codes[0][0])
    for _, same_height in itertools.groupby(nodes, key=sum):
        finer, coarser = coarser, {}
        for node in same_height:
            below = [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]
            if not suffices.isdisjoint(below):
                suffices.add(node)
                continue
            tested += 1
            first, sizes = finer[below[0]] if below else (np.arange(rows), np.ones(rows, dtype=int))
            label = combine([levels[level][first] for levels, level in zip(codes, node)])
            merged = np.bincount(label, weights=sizes).astype(int)
            small = int(merged[merged < k].sum())
            if small <= allowed:
                suffices.add(node)
                minimal[node] = small
            else:
                # one row stands for its class
                coarser[node] = first[np.unique(label, return_index=True)[1]], merged
    return minimal, tested


def _at_most_rows(df, k):
    if whole("k", k, least=1) > len(df):
        raise ValueError(f"k must not exceed the number of rows, {len(df)}, got {shown(k)}")
    return int(k)


def _places(values, number, missing):
    """Where the sorted values lie between 0 and 1, and after them a missing value if there is one."""
    place = np.arange(len(values), dtype=float)
    if number and len(values):
        place = np.nan_to_num(values.to_numpy(dtype=float))              # infinities become the largest floats
        place = place / max(np.abs(place).max(), 5e-324)                 # so that no difference overflows
    if missing:
        step = np.diff(place).mean() if len(place) > 1 else 1.0
        place = np.append(place, place[-1] + step if len(place) else 0.0)
    return (place - place[0]) / (place[-1] - place[0]) if place[-1] > place[0] else np.zeros(len(place))


def _cut(box, place, k):
    """Which rows of a part are below its cut; None if no cut leaves k rows on both sides."""
    axis = np.arange(len(box))
    width = place[axis, box.max(axis=1)] - place[axis, box.min(axis=1)]
    for widest in np.argsort(-width, kind="stable"):
        values = box[widest]
        median = np.partition(values, len(values) // 2)[len(values) // 2]
        # Of all cuts the two beside the median leave the most rows on their smaller side: if neither is allowed, none
        # is.
        below, above = np.count_nonzero(values < median), np.count_nonzero(values > median)
        if max(below, above) >= k:
            return values < median if below >= above else values <= median
    return None


def _texts(values, number):
    """A function that writes a sorted list of places among the values, the missing one last, as a text."""
    text = [str(value).removesuffix(".0") if number else str(value) for value in values.tolist()]
    link = "-" if number and len(values) and values[0] >= 0 else " to "

    def shown(places):
        missing = places[-1] == len(text)
        known = places[:-1] if missing else places
        if len(known) > (1 if number else _LISTED):
            parts = [f"{text[known[0]]}{link}{text[known[-1]]}"]
        else:
            parts = [text[place] for place in known]
        return ", ".join(parts + ["?"] * missing)

    return shown


def _levels(column, name, levels):
    """The column at level 0, 1, ... of its hierarchy."""
    if not isinstance(levels, (list, tuple)) or not all(
        isinstance(level, Mapping) or callable(level) for level in levels
    ):
        raise ValueError(f"hierarchies[{name!r}] must be a list of functions or mappings, got {shown(levels)}")
    columns = [column]
    for level in levels:
        general = column.map(level) if isinstance(level, Mapping) else level(column)
        if is_list_like(general) and len(general) != len(column):
            raise ValueError(f"hierarchies[{name!r}] must give {len(column)} values or one for all, got {len(general)}")
        columns.append(pd.Series(getattr(general, "array", general), index=column.index))
    return columns
