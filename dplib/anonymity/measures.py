"""k, l and t of a table, and how much it lost."""
from collections.abc import Hashable

import numpy as np
import pandas as pd  # noqa: F401  (for the examples)
from scipy.special import entr

from dplib._types import Array, Columns
from dplib._validate import choice, flag, positive, shown, whole
from dplib.anonymity.tables import column_names, combine, rank

__all__ = ["average_class", "classes", "discernibility", "k_anonymity", "l_diversity", "t_closeness"]

_CELLS = 2**22  # of a table class by value held at one time


def classes(df: pd.DataFrame, qi: Columns) -> Array:
    """The class of every row: rows with equal quasi-identifiers have equal labels.

    Labels are 0, 1, ... in the sorted order of the quasi-identifiers, a missing value after all others.

    Privacy
    -------
    measure : none: a description of one table

    Parameters
    ----------
    df : DataFrame
        At least one row; any index.
    qi : list of column names, or one name
        The quasi-identifiers.

    Returns
    -------
    array of int, one label per row, in the order of the rows

    Raises
    ------
    ValueError
        If `df` is not a table with rows, or `qi` does not name its columns, each once.

    References
    ----------
    Samarati and Sweeney (1998).

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["M", "F", None, "F"], "zip": [1, 1, 1, 1]}, index=[7, 7, 5, 0])
    >>> classes(table, ["sex", "zip"]).tolist()
    [1, 0, 2, 0]
    """
    return combine([rank(df[name])[0] for name in column_names("qi", df, qi)])


def k_anonymity(df: pd.DataFrame, qi: Columns) -> int:
    """The k of a table: the number of rows in its smallest class.

    Privacy
    -------
    measure : none: k is a property of one table, not a guarantee of the mechanism that made it
    guarantee : who knows only the quasi-identifiers of a person in the table finds k rows or more, not one; k does not
        survive background knowledge, a second release, or a class whose rows all say the same

    Parameters
    ----------
    df, qi
        As for `classes`.

    Returns
    -------
    int, at least 1

    Raises
    ------
    ValueError
        As `classes`.

    References
    ----------
    Samarati and Sweeney (1998); Sweeney (2002).

    Examples
    --------
    >>> k_anonymity(pd.DataFrame({"age": [30, 30, 40, 40, 40]}), ["age"])
    2
    """
    return int(np.bincount(classes(df, qi)).min())


def l_diversity(
    df: pd.DataFrame, qi: Columns, sensitive: Hashable, *, method: str = "distinct", c: float | None = None,
) -> int | float:
    """The l of a table: how varied the sensitive values are in the least varied class.

    "distinct": different values in the class. "entropy": the exponential of the entropy of its values, which is the
    number of equally frequent values that would be as uncertain. "recursive": the largest l for which r_1 < c (r_l +
    ... + r_m) in every class, r_1 >= ... >= r_m being how often each value occurs; if that holds for no l, which takes
    c <= 1, the answer is 1: every table counts as 1-diverse.

    Privacy
    -------
    measure : none: l is a property of one table, not a guarantee of the mechanism that made it
    guarantee : the most frequent value of a class has a share of at most 1 - (l - 1)/k' in a class of k' rows
        (distinct) or below c/(c + 1) (recursive, l >= 2); background knowledge that rules values out, or values that
        mean the same, defeat it

    Parameters
    ----------
    df, qi
        As for `classes`.
    sensitive : column name
    method : {"distinct", "entropy", "recursive"}
    c : float
        Positive, for "recursive" and only there.

    Returns
    -------
    int; float for "entropy" (l equal values give l up to rounding)

    Raises
    ------
    ValueError
        As `classes`; if `sensitive` is no column, `method` is unknown, or `c` is missing, not positive or out of place.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007).

    Examples
    --------
    >>> table = pd.DataFrame({"zip": [1, 1, 1, 1, 2, 2], "illness": ["flu", "flu", "flu", "cold", "flu", "cold"]})
    >>> l_diversity(table, ["zip"], "illness")
    2
    >>> round(l_diversity(table, ["zip"], "illness", method="entropy"), 3)
    1.755
    >>> [l_diversity(table, ["zip"], "illness", method="recursive", c=c) for c in (3, 3.5)]
    [1, 2]
    """
    if choice("method", method, ("distinct", "entropy", "recursive")) == "recursive":
        c = positive("c", c)
    elif c is not None:
        raise ValueError(f"c is for method='recursive' only, got {shown(c)} with method={method!r}")
    blocks = _counts(df, qi, sensitive)
    if method == "distinct":
        return min(int((counts > 0).sum(axis=1).min()) for counts in blocks)
    if method == "entropy":
        return float(np.exp(min(entr(_shares(counts)).sum(axis=1).min() for counts in blocks)))
    smallest = []
    for counts in blocks:
        ascending = np.sort(counts, axis=1)
        tails = np.cumsum(ascending, axis=1)     # all the r_l + ... + r_m, of which one fewer holds for each l more
        smallest.append((c * tails > ascending[:, -1:]).sum(axis=1).min())
    return max(1, int(min(smallest)))


def t_closeness(df: pd.DataFrame, qi: Columns, sensitive: Hashable, *, ordered: bool = False) -> float:
    """The t of a table: the largest distance between the sensitive values of a class and those of the whole table.

    The earth mover's distance; between any two different values it is 1 (then the total variation distance), or if
    `ordered` the difference of their places among the m sorted values, divided by m - 1. A missing value sorts last.

    Privacy
    -------
    measure : none: t is a property of one table, not a guarantee of the mechanism that made it
    guarantee : learning somebody's class moves an outsider's distribution of the sensitive value by at most t from that
        of the whole table, if nothing else is known of that person; it does not survive a second release

    Parameters
    ----------
    df, qi
        As for `classes`.
    sensitive : column name
    ordered : bool
        Whether near values are alike: for numbers, dates and ordered categories.

    Returns
    -------
    float, 0 to 1; 0 if there is one value only

    Raises
    ------
    ValueError
        As `classes`; if `sensitive` is no column, or `ordered` is not a bool.

    References
    ----------
    Li, Li and Venkatasubramanian (2007).

    Examples
    --------
    >>> table = pd.DataFrame({"zip": [1, 1, 2, 2], "income": [10, 20, 30, 30]})
    >>> t_closeness(table, ["zip"], "income"), t_closeness(table, ["zip"], "income", ordered=True)
    (0.5, 0.375)
    """
    flag("ordered", ordered)
    names = column_names("qi", df, qi)
    code, values = rank(df[column_names("sensitive", df, [sensitive])[0]])
    overall = np.bincount(code) / len(code)
    largest = 0.0
    for counts in _counts(df, names, sensitive):
        excess = _shares(counts) - overall
        if ordered:                              # what must be carried past each value, one place at a time
            moved = np.abs(np.cumsum(excess, axis=1)).sum(axis=1) / max(len(overall) - 1, 1)
        else:
            moved = np.abs(excess).sum(axis=1) / 2
        largest = max(largest, float(moved.max()))
    return largest


def discernibility(df: pd.DataFrame, qi: Columns) -> int:
    """Information loss of a table as the number of pairs, ordered and with itself, of rows that look alike: the sum of
    squared class sizes.

    Privacy
    -------
    measure : none: a loss of usefulness, not a gain of privacy

    Parameters
    ----------
    df, qi
        As for `classes`.

    Returns
    -------
    int, from n (all rows differ) to n squared (all are alike)

    Raises
    ------
    ValueError
        As `classes`.

    References
    ----------
    Bayardo and Agrawal (2005); C_DM of LeFevre, DeWitt and Ramakrishnan (2006).

    Examples
    --------
    >>> discernibility(pd.DataFrame({"age": [30, 30, 40, 40, 40]}), ["age"])
    13
    """
    return int((np.bincount(classes(df, qi)) ** 2).sum())


def average_class(df: pd.DataFrame, qi: Columns, *, k: int = 1) -> float:
    """Rows in a class on average, divided by the k that was asked for: 1 is the best that a k-anonymous table can do.

    Privacy
    -------
    measure : none: a loss of usefulness, not a gain of privacy

    Parameters
    ----------
    df, qi
        As for `classes`.
    k : int
        At least 1; 1 gives the plain average.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `classes`; if `k` is not a whole number >= 1.

    References
    ----------
    C_AVG of LeFevre, DeWitt and Ramakrishnan (2006).

    Examples
    --------
    >>> average_class(pd.DataFrame({"age": [30, 30, 40, 40, 40]}), ["age"], k=2)
    1.25
    """
    number = int(classes(df, qi).max()) + 1
    return len(df) / (number * whole("k", k, least=1))


def _counts(df, qi, sensitive):
    """How often each class has each sensitive value, as dense matrices of a bounded number of classes each."""
    label = classes(df, qi)
    code, _ = rank(df[column_names("sensitive", df, [sensitive])[0]])
    number, width = int(label.max()) + 1, int(code.max()) + 1
    step = max(1, _CELLS // width)
    for start in range(0, number, step):
        height = min(step, number - start)
        inside = slice(None) if height == number else (start <= label) & (label < start + height)
        yield np.bincount((label[inside] - start) * width + code[inside], minlength=height * width).reshape(
            height, width
        )


def _shares(counts):
    return counts / counts.sum(axis=1, keepdims=True)
