"""Synthetic data: rows that nobody ever was, drawn from privately measured tables.

All three generators do the same in three steps: *select* which small tables to measure, *measure* them with noise, and
*generate* rows from what was measured. `independent` measures every column alone, `chow_liu` also the pairs along a
tree, `mwem` keeps asking the question that its current guess answers worst. What was not measured need not be in
the rows.
"""
import datetime
import math

import numpy as np
import pandas as pd

from dplib import histograms, mechanisms, sensitivity
from dplib._types import Adjacency, Array, ArrayLike, Rng
from dplib._validate import array, choice, generator, listed, positive, shown, table, whole
from dplib._validate import counts as as_counts
from dplib.sensitivity import ADJACENCIES

__all__ = ["chow_liu", "independent", "mwem", "sample"]


def sample(weights: ArrayLike, *, rows: int, edges: ArrayLike | None = None, rng: Rng = None) -> Array:
    """Draw rows from a table of weights: the cell of each row, or a value in its bin where `edges` are given.

    Privacy
    -------
    measure : none to pay: post-processing, where `weights` were released (or are made of what was released)
    adjacency : that of the release
    guarantee : that of the release, for any number of rows

    Parameters
    ----------
    weights : array of any shape
        Zero or more, not all zero; need not sum to 1.
    rows : int
        Number of rows.
    edges : array, shape (k + 1,), optional
        Increasing bin edges, for a vector of k weights; values are uniform inside a bin.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array
        Without `edges` the cell indices, of shape (rows,) for a vector of weights and (rows, d) for a table of d axes;
        with `edges` float values of shape (rows,).

    Raises
    ------
    ValueError
        If a weight is negative or not finite, all are zero, or `edges` do not fit.

    References
    ----------
    Wasserman and Zhou (2010), section 2, on releasing a sample from a private density.

    Examples
    --------
    >>> sample([0, 1, 0], rows=4, rng=0).tolist()
    [1, 1, 1, 1]
    >>> sample([1, 3], rows=2, edges=[0, 10, 20], rng=0).round(1).tolist()
    [10.4, 10.2]
    """
    chances = array("weights", weights, least=1, low=0)
    rng = generator(rng)
    if chances.ndim == 0 or chances.max() == 0:
        raise ValueError("weights must be a table, not all of it zero")
    chances = chances / chances.max()            # the sum of the largest doubles is none
    cells = rng.choice(chances.size, size=whole("rows", rows, least=0), p=(chances / chances.sum()).ravel())
    if edges is None:
        return cells if chances.ndim == 1 else np.column_stack(np.unravel_index(cells, chances.shape))
    edges = array("edges", edges, ndim=1)
    if chances.ndim != 1 or edges.shape != (chances.size + 1,) or not np.all(np.diff(edges) > 0):
        raise ValueError(f"edges must be {chances.size + 1} increasing numbers beside a vector of weights")
    return rng.uniform(edges[cells], edges[cells + 1])


def independent(
    df: pd.DataFrame, domains: dict, *, epsilon: float, adjacency: Adjacency, rows: int | None = None, rng: Rng = None,
) -> pd.DataFrame:
    """Synthetic rows from noisy one-column tables: every column right, no column related to another.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : "replace" (number of rows public) or "add/remove" (then give `rows`: the number of rows is private)
    guarantee : upper bound, by basic composition over the columns, epsilon/d for each; one row per person

    Parameters
    ----------
    df : DataFrame
        The private rows.
    domains : dict of column to list
        The values each column may have, fixed without looking at the data; a cell outside counts as no value at all. A
        date is the same in each type: its ISO text, a `date`, a Timestamp.
    epsilon : float
        Privacy loss of everything, positive.
    adjacency : {"replace", "add/remove"}
    rows : int, optional
        Rows to draw; as many as `df` has, unless given.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    DataFrame of `rows` rows, with the columns of `domains`

    Raises
    ------
    ValueError
        If `df` is no DataFrame, a column is unknown, a domain is empty or has a value twice, or a parameter is out of
        range.

    References
    ----------
    The baseline of Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), PrivBayes with no parents.

    Examples
    --------
    >>> rows = pd.DataFrame({"smoker": [0, 1, 1, 0] * 500})
    >>> independent(rows, {"smoker": [0, 1]}, epsilon=1.0, adjacency="replace", rng=0).smoker.mean().round(2).item()
    0.5
    """
    codes, shape, rows, rng = _prepare(df, domains, rows, adjacency, rng)
    each = positive("epsilon", epsilon) / len(shape)
    columns = [
        sample(_measure(codes[:, [j]], shape[[j]], each, adjacency, rng), rows=rows, rng=rng) for j in range(len(shape))
    ]
    return _rows(columns, domains)


def chow_liu(
    df: pd.DataFrame, domains: dict, *, epsilon: float, adjacency: Adjacency, rows: int | None = None, rng: Rng = None,
) -> pd.DataFrame:
    """Synthetic rows from noisy tables of pairs of columns that form a tree: the relations on the tree are kept.

    A third of the budget measures every column, a third chooses the tree, edge by edge, with the exponential mechanism
    (score: L1 distance of the pair's table from the product of its columns' noisy tables), a third measures its pairs.
    Rows are drawn from the root down.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : "replace" (number of rows public) or "add/remove" (then give `rows`: the number of rows is private)
    guarantee : upper bound, by basic composition over d columns, d - 1 choices and d - 1 pairs; one row per person

    Parameters
    ----------
    df : DataFrame
        The private rows.
    domains : dict of column to list
        The values each column may have, fixed without looking at the data; a cell outside counts as no value at all. A
        date is the same in each type: its ISO text, a `date`, a Timestamp.
    epsilon : float
        Privacy loss of everything, positive.
    adjacency : {"replace", "add/remove"}
    rows : int, optional
        Rows to draw; as many as `df` has, unless given.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    DataFrame of `rows` rows, with the columns of `domains`
        Its `attrs["edges"]` lists the pairs of columns that were measured, parent first.

    Raises
    ------
    ValueError
        If `df` is no DataFrame, a column is unknown, a domain is empty or has a value twice, or a parameter is out of
        range.

    References
    ----------
    Chow and Liu (1968) for the tree; McKenna, Miklau and Sheldon (2021), section 3, for choosing it privately (MST).

    Examples
    --------
    >>> rows = pd.DataFrame({"a": [0, 1] * 1000, "b": [0, 1] * 1000, "c": [0, 0, 1, 1] * 500})
    >>> synthetic = chow_liu(rows, {"a": [0, 1], "b": [0, 1], "c": [0, 1]}, epsilon=3.0, adjacency="replace", rng=0)
    >>> bool((synthetic.a == synthetic.b).mean() > 0.95)
    True
    """
    codes, shape, rows, rng = _prepare(df, domains, rows, adjacency, rng)
    d, third = len(shape), positive("epsilon", epsilon) / 3
    single = [_measure(codes[:, [j]], shape[[j]], third / d, adjacency, rng) for j in range(d)]
    columns = {0: sample(single[0], rows=rows, rng=rng)}
    edges: list[tuple[int, int]] = []
    inside = [0]
    for _ in range(d - 1):
        pairs = [(i, j) for i in inside for j in range(d) if j not in inside]
        products = [len(codes) * np.outer(single[i], single[j]) for i, j in pairs]
        tables = [_table(codes[:, pair], shape[list(pair)]) for pair in pairs]
        distances = [np.abs(table - product).sum() for table, product in zip(tables, products)]
        # add/remove: the product's total moves too
        step = sensitivity.histogram(adjacency) + (0 if adjacency == "replace" else 1)
        parent, child = pairs[mechanisms.exponential(distances, sensitivity=step, epsilon=third / (d - 1), rng=rng)]
        joint = _measure(codes[:, [parent, child]], shape[[parent, child]], third / (d - 1), adjacency, rng)
        columns[child] = _draw_child(joint, columns[parent], single[child], rng)
        edges.append((parent, child))
        inside.append(child)
    drawn, names = _rows([columns[j] for j in range(d)], domains), list(domains)
    drawn.attrs["edges"] = [(names[parent], names[child]) for parent, child in edges]
    return drawn


_PASSES = 20                                     # over all measurements, after each round of mwem


def mwem(counts: ArrayLike, queries: ArrayLike, *, epsilon: float, rounds: int, rng: Rng = None) -> Array:
    """Multiplicative weights with the exponential mechanism: a histogram that answers a list of queries well.

    Start from the uniform histogram. Each round spends epsilon/(2 rounds) on finding a query that the current guess
    answers badly and as much on measuring it, and then moves weight, in 20 passes over all measurements so far, each
    step towards one of them (they need not agree with each other); a measured answer below zero or above the total
    counts as zero or the total. All of that is free. Returns the last guess.

    Privacy
    -------
    measure : epsilon-DP
    adjacency : replace; the total is public
    guarantee : upper bound, by basic composition over 2 rounds

    Parameters
    ----------
    counts : array, shape (k,)
        Rows in each cell; at least one row.
    queries : array, shape (m, k)
        Weight of each cell in each query, in [0, 1]; public.
    epsilon : float
        Privacy loss of everything, positive.
    rounds : int
        At least 1.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array, shape (k,)
        Positive, with the sum of `counts`.

    Raises
    ------
    ValueError
        If `counts` are no non-negative vector with a positive sum, `queries` do not fit or leave [0, 1], or a parameter
        is out of range.

    References
    ----------
    Hardt, Ligett and McSherry (2012), Figure 1, with the passes and the last guess of their experiments; the theorem is
    about one pass and the average guess, and privacy is the same.

    Examples
    --------
    >>> truth = np.repeat([900, 100], 8)
    >>> halves = np.repeat(np.eye(2), 8, axis=1)
    >>> answers = halves @ mwem(truth, halves, epsilon=1.0, rounds=10, rng=0)
    >>> bool(abs(answers[0] - 7200) < 400)
    True
    """
    counts = as_counts("counts", counts).astype(float)
    queries = array("queries", queries, ndim=2, least=1, low=0, high=1)
    if counts.ndim != 1 or counts.sum() <= 0:
        raise ValueError(f"counts must be a vector with at least one row, got shape {counts.shape}")
    if queries.shape[1] != counts.size:
        raise ValueError(f"queries must have {counts.size} columns, one for each count, got {queries.shape[1]}")
    rounds, rng = whole("rounds", rounds, least=1), generator(rng)
    each, n, truth = positive("epsilon", epsilon) / (2 * rounds), counts.sum(), queries @ counts
    guess = np.full(counts.size, n / counts.size)
    measured: dict[int, list[float]] = {}
    for _ in range(rounds):
        worst = mechanisms.exponential(np.abs(truth - queries @ guess), sensitivity=1, epsilon=each, rng=rng)
        measured.setdefault(worst, []).append(mechanisms.laplace(truth[worst], sensitivity=1, epsilon=each, rng=rng))
        for query, answers in list(measured.items()) * _PASSES:
            answer = np.clip(np.mean(answers), 0, n)         # where the truth is, and the step below cannot overflow
            guess *= np.exp(queries[query] * (answer - queries[query] @ guess) / (2 * n))
            guess *= n / guess.sum()
    return guess


def _prepare(df, domains, rows, adjacency, rng):
    """The rows as codes (-1 for a value outside its domain), the number of values of each column, and what to draw."""
    choice("adjacency", adjacency, ADJACENCIES)
    if not isinstance(domains, dict) or not domains:
        raise ValueError("domains must be a dict that names at least one column")
    table("df", df, [("domains", column) for column in domains])
    domains = {column: listed(f"domains[{shown(column)}]", domain) for column, domain in domains.items()}
    for column, domain in domains.items():
        if len(domain) == 0 or len(_places(column, domain)) < len(domain):
            raise ValueError(f"domains[{shown(column)}] must hold at least one value, and none twice")
    if rows is None and adjacency == "add/remove":
        raise ValueError("rows must be given under add/remove: the number of rows is private")
    codes = np.column_stack([_codes(df[column], _places(column, domain)) for column, domain in domains.items()])
    shape = np.array([len(domain) for domain in domains.values()])
    return codes, shape, len(df) if rows is None else whole("rows", rows, least=0), generator(rng)


def _places(column, domain):
    """Position of each value in its domain; all kinds of missing values are one, None."""
    try:
        return {
            None if missing else _key(value): place
            for place, (value, missing) in enumerate(zip(domain, pd.isna(pd.Series(domain, dtype=object))))
        }
    except TypeError:                            # a list among them
        raise ValueError(f"domains[{shown(column)}] must hold values that can be looked up") from None


def _key(value):
    """A value as it is looked up. Dates of every kind are one with their ISO text: that a column holds dates may be due
    to one row, so a domain of texts or days cannot be refused for it.
    """
    try:
        value = {np.datetime64: pd.Timestamp, np.timedelta64: pd.Timedelta}.get(type(value), lambda same: same)(value)
    except (ValueError, OverflowError):          # a date beyond those of pandas
        return value
    return value.isoformat().removesuffix("T00:00:00") if isinstance(value, datetime.date) else value


def _codes(column, places):
    """Position of each cell, judged alone: pandas' own look-up depends on the column's dtype, which one row can change
    for all.
    """

    def place(cell):
        try:
            return places.get(_key(cell), -1)
        except TypeError:                        # a cell that cannot be looked up, such as a list, is no value either
            return -1

    return np.array(
        [place(None if missing else cell) for cell, missing in zip(column.tolist(), column.isna())], dtype=np.int64
    )


def _table(codes, shape):
    """Counts of each combination of values; rows with a value outside its domain are left out."""
    kept = codes[(codes >= 0).all(axis=1)]
    return np.bincount(np.ravel_multi_index(kept.T, shape), minlength=math.prod(shape)).reshape(shape)


def _measure(codes, shape, epsilon, adjacency, rng):
    """A noisy table of relative frequencies, made non-negative."""
    noisy = histograms.perturb(_table(codes, shape), epsilon=epsilon, adjacency=adjacency, rng=rng)
    return histograms.simplex(noisy.ravel(), total=max(1.0, noisy.sum())).reshape(shape) / max(1.0, noisy.sum())


def _draw_child(joint, parents, fallback, rng):
    """One value for each parent's value, from the row of the joint table; from the column alone where the row is empty.
    """
    rows = np.where(joint.sum(axis=1, keepdims=True) > 0, joint, fallback)
    cumulative = np.cumsum(rows / rows.sum(axis=1, keepdims=True), axis=1)
    return np.minimum((rng.random(parents.size)[:, None] >= cumulative[parents]).sum(axis=1), joint.shape[1] - 1)


def _rows(columns, domains):
    drawn = zip(domains.items(), columns)
    return pd.DataFrame(
        {name: pd.Series(list(domain)).take(column).reset_index(drop=True) for (name, domain), column in drawn}
    )
