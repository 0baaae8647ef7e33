"""Attacks on published tables and answers: what leaks when names are removed and nothing else is done.

No attack here takes an answer key: each is given what an attacker has, and the caller looks up afterwards whether it
was right (`roc` and `tpr_at` measure that). Rows are people, but in `fuzzy_link`, where a person has many; a mask is a
boolean array over the rows, by position.
"""
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from dplib._labels import plain
from dplib._types import Array, ArrayLike
from dplib._validate import array, choice, function, listed, non_negative, positive, share, shown, table

__all__ = [
    "Match", "difference", "fuzzy_link", "intersect", "link", "reconstruct", "roc", "tpr_at", "tracing", "tracker",
]


def link(released: pd.DataFrame, public: pd.DataFrame, on: str | Sequence[Hashable]) -> pd.DataFrame:
    """Pairs of rows that match only each other: their values of `on` occur once in either table.

    A pair is a guess, not a proof: the person behind the released row may be missing from the public table, and
    somebody else who is in it may share their values. A row with a missing value in `on` is left out of the attack.

    Privacy
    -------
    measure : none: an attack on a table whose rows are published, however few columns
    adjacency : either
    guarantee : k-anonymity on all of `on` with k > 1 leaves no row to match; under differential privacy a row that
        matches could as well be there without the person

    Parameters
    ----------
    released, public : DataFrame
        The table without names and the table with names; no row label occurs twice in either.
    on : str or list of str
        Columns of both tables.

    Returns
    -------
    DataFrame
        Columns `released` and `public`: the labels of the two rows; in the order of the released table.

    Raises
    ------
    ValueError
        If a table is empty, a column is unknown or of another type in the other table, or a row label occurs twice.

    References
    ----------
    Sweeney (2002), on linking medical data to a voter list.

    Examples
    --------
    >>> released = pd.DataFrame({"zip": ["34301", "34301", "34302"], "sex": ["F", "F", "M"]})
    >>> released["diagnosis"] = ["flu", "HIV", "asthma"]
    >>> public = pd.DataFrame({"name": ["Ann", "Bob"], "zip": ["34301", "34302"], "sex": ["F", "M"]}, index=["a", "b"])
    >>> link(released, public, ["zip", "sex"]).to_dict("records")
    [{'released': 2, 'public': 'b'}]
    """
    on = [on] if isinstance(on, str) else listed("on", on)
    if not on:
        raise ValueError("on must name at least one column")
    alone = []
    for name, rows in (("released", released), ("public", public)):
        table(name, rows, [("on", column) for column in on], least=1)
        if not rows.index.is_unique:
            raise ValueError(f"{name} must not hold a row label twice")
        keys = pd.DataFrame({place: plain(rows[column]) for place, column in enumerate(on)})
        keys = keys.dropna().drop_duplicates(keep=False)
        alone.append(keys.assign(**{name: plain(keys.index)}))
    if not all(map(len, alone)):
        return pd.DataFrame({"released": alone[0]["released"][:0], "public": alone[1]["public"][:0]})
    try:
        return alone[0].merge(alone[1], on=list(range(len(on))))[["released", "public"]]
    except ValueError:
        raise ValueError(f"on must name columns of the same type in both tables, got {on}") from None


@dataclass(frozen=True, eq=False)
class Match:
    """What `fuzzy_link` found.

    Attributes
    ----------
    person : object
        The pseudonym that stands out, or None if none stands out enough.
    best : object
        The pseudonym with the highest score, whether it stands out or not.
    eccentricity : float
        How far it is ahead of the second, in standard deviations of all scores.
    scores : Series
        The score of every pseudonym, highest first.
    """

    person: object
    best: object
    eccentricity: float
    scores: pd.Series


def fuzzy_link(
    known: pd.DataFrame, records: pd.DataFrame, *, person: str = "user", item: str = "film",
    tolerance: dict[str, float] | None = None, threshold: float = 1.5,
) -> Match:
    """Find one target among pseudonyms from a few things known about them, some of them wrong.

    Every known row gives each pseudonym that has the same item the points weight * sum of exp(-distance / tolerance)
    over the compared columns; weight is 1 / log(1 + pseudonyms that have the item), so that rare items say more. The
    best pseudonym is believed only if it is more than `threshold` standard deviations of all scores ahead of the
    second.

    Privacy
    -------
    measure : none: an attack on a table in which names have become numbers
    adjacency : either; a person is all rows of one pseudonym
    guarantee : differential privacy for whole persons limits it whatever the attacker knows; epsilon-DP for single rows
        is only m epsilon-DP for a person of m rows

    Parameters
    ----------
    known : DataFrame
        What the attacker knows about one target: the columns `item` and those of `tolerance`.
    records : DataFrame
        The published table: the same columns and `person`.
    person, item : str
        Names of columns.
    tolerance : dict of str to float
        For each compared column, the distance at which its points fall to 1/e: numbers by difference, dates (ISO text
        or datetimes) by days. Default {"stars": 1, "date": 14}; {} compares items alone.
    threshold : float
        At least 0.

    Returns
    -------
    Match

    Raises
    ------
    ValueError
        If a table is empty, a column is unknown, a tolerance is not positive or `threshold` is negative.

    References
    ----------
    Narayanan and Shmatikov (2008), algorithm Scoreboard-RH; their weight is 1 / log(support), infinite at a support of
    one.

    Examples
    --------
    >>> records = pd.DataFrame({"user": [7, 7, 8, 8, 9, 9, 6, 6], "film": [1, 2, 1, 3, 1, 2, 1, 3]})
    >>> records["stars"] = [5, 1, 4, 4, 2, 5, 3, 3]
    >>> known = pd.DataFrame({"film": [1, 2], "stars": [5, 2]})
    >>> found = fuzzy_link(known, records, tolerance={"stars": 1}, threshold=1.0)
    >>> found.person, round(found.eccentricity, 2)
    (7, 2.0)
    """
    tolerance = {"stars": 1, "date": 14} if tolerance is None else tolerance
    if not isinstance(tolerance, dict):
        raise ValueError(f"tolerance must be a dict from column to distance, got {shown(tolerance)}")
    tolerance = {column: positive(f"tolerance of {column}", width) for column, width in tolerance.items()}
    threshold, compared = non_negative("threshold", threshold), [("tolerance", column) for column in tolerance]
    table("known", known, [("item", item), *compared], least=1)
    table("records", records, [("person", person), ("item", item), *compared], least=1)
    who, people = pd.factorize(plain(records[person]))   # -1 where missing
    rows = np.flatnonzero((who >= 0) & records[item].isin(known[item].dropna()))
    which, items = pd.factorize(records[item].iloc[rows])
    pairs = pd.DataFrame({"item": which, "row": rows, "who": who[rows]})
    weight = 1 / np.log1p(pairs.groupby("item")["who"].nunique().to_numpy())
    clues = pd.DataFrame({"item": pd.Index(items).get_indexer(known[item]), "clue": np.arange(len(known))})
    pairs = pairs.merge(clues, on="item")                # every record with every clue about its item
    close = 0.0 if tolerance else 1.0
    for column, width in tolerance.items():
        one, two = _number(known[column].iloc[pairs["clue"]]), _number(records[column].iloc[pairs["row"]])
        with np.errstate(over="ignore", invalid="ignore"):
            close = close + np.nan_to_num(np.exp(-np.abs(one - two) / width))
    points = weight[pairs["item"]] * close
    best_of_a_clue = pd.Series(points).groupby([pairs["who"], pairs["clue"]]).max()
    scores = np.bincount(best_of_a_clue.index.get_level_values(0), best_of_a_clue, minlength=len(people))
    scores = pd.Series(scores, index=pd.Index(people, name=person)).sort_values(ascending=False, kind="stable")
    best = next(iter(scores.index.tolist()), None)
    lead = scores.iloc[0] - scores.iloc[1] if len(scores) > 1 else 0.0
    # a tie is a tie, rounded or not
    eccentricity = float(lead / scores.std(ddof=0)) if lead > 1e-9 * scores.max() else 0.0
    return Match(best if eccentricity > threshold else None, best, eccentricity, scores)


def _number(column):
    """A column as floats: numbers as they are, anything else as dates, in days."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float, na_value=np.nan)
    dates = pd.to_datetime(column.astype("string"), format="ISO8601", errors="coerce", utc=True)
    return ((dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(dtype=float)


def difference(ask: Callable[[Array], float], group: ArrayLike, target: ArrayLike) -> float:
    """The value of one person, from two questions about groups that differ by that person.

    Privacy
    -------
    measure : none: an attack on exact answers to counts and sums
    adjacency : either
    guarantee : if every answer is epsilon-DP the two together are 2 epsilon-DP, and their noise hides the person

    Parameters
    ----------
    ask : callable
        `ask(mask)` answers a count or a sum over the rows of a mask.
    group : array of bool, shape (n,)
        A group large enough to ask about; it need not hold the target.
    target : int or array of bool, shape (n,)
        Position of the row, or a mask.

    Returns
    -------
    float
        ask(group with the target) - ask(group without the target).

    Raises
    ------
    ValueError
        If `group` is not a mask or `target` is neither a mask of its length nor a position in it.

    References
    ----------
    Dwork and Roth (2014), section 1.1 (differencing attacks).

    Examples
    --------
    >>> salary = np.array([41_000, 52_000, 38_000, 97_000])
    >>> difference(lambda mask: salary[mask].sum().item(), group=[True, True, True, True], target=3)
    97000
    """
    ask, group = function("ask", ask), _mask("group", group)
    target = _target(target, len(group))
    return ask(group | target) - ask(group & ~target)


def tracker(ask: Callable[[Array], float], target: ArrayLike, padding: ArrayLike) -> float:
    """The answer about a group too small to ask about, from four questions that are all large.

    q(C) = q(C or T) + q(C or not T) - q(T) - q(not T) for every count and sum, where T is any padding. If an interface
    refuses fewer than k and more than n - k rows, none of the four is refused when T has 2k to n - 2k rows and C at
    most k.

    Privacy
    -------
    measure : none: an attack on exact answers that are refused by the size of the group
    adjacency : either
    guarantee : if every answer is epsilon-DP the four together are 4 epsilon-DP; refusing by size alone guarantees
        nothing

    Parameters
    ----------
    ask : callable
        `ask(mask)` answers a count or a sum over the rows of a mask; an exception that it raises goes through.
    target : int or array of bool, shape (n,)
        C: position of a row, or a mask.
    padding : array of bool, shape (n,)
        T, the tracker.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `padding` is not a mask or `target` is neither a mask of its length nor a position in it.

    References
    ----------
    Denning, Denning and Schwartz (1979), the general tracker.

    Examples
    --------
    >>> salary = np.array([41_000, 52_000, 38_000, 97_000, 45_000, 60_000, 39_000, 71_000])
    >>> def ask(mask):
    ...     if not 2 <= mask.sum() <= 6:
    ...         raise PermissionError("too few or too many rows")
    ...     return salary[mask].sum().item()
    >>> tracker(ask, target=3, padding=np.arange(8) < 4)
    97000
    """
    ask, padding = function("ask", ask), _mask("padding", padding)
    target = _target(target, len(padding))
    return ask(target | padding) + ask(target | ~padding) - ask(padding) - ask(~padding)


def _mask(name: str, mask: ArrayLike) -> Array:
    mask = mask.to_numpy() if isinstance(mask, (pd.Series, pd.Index)) else mask
    try:
        mask = np.asarray(mask)
    except ValueError:                           # rows of several lengths
        mask = np.empty((0, 0))
    if mask.ndim != 1 or mask.dtype != bool:
        raise ValueError(f"{name} must be a vector of booleans, got {mask.dtype} of shape {mask.shape}")
    return mask


def _target(target: ArrayLike, n: int) -> Array:
    if np.isscalar(target) or target is None:
        if isinstance(target, (bool, np.bool_)) or not isinstance(target, (int, np.integer)) or not 0 <= target < n:
            raise ValueError(f"target must be a mask or a position in 0..{n - 1}, got {shown(target)}")
        return np.arange(n) == target
    target = _mask("target", target)
    if len(target) != n:
        raise ValueError(f"target must be a mask of length {n}, got length {len(target)}")
    return target


def reconstruct(queries: ArrayLike, answers: ArrayLike, *, method: str = "least squares") -> Array:
    """Guess n secret bits from noisy counts over subsets of them.

    Finds the vector in best agreement with the answers, by squared error or by absolute error within [0, 1], and
    rounds. An answer that is missing is left out. A bit that the answers do not touch is guessed 0.

    Privacy
    -------
    measure : none: an attack on many answers, each with a little noise
    adjacency : replace
    guarantee : if all answers together are epsilon-DP no method gets more than e^epsilon/(1 + e^epsilon) of n
        independent fair bits right on average

    Parameters
    ----------
    queries : array, shape (m, n)
        Row i is 1 where answer i counts the bit and 0 elsewhere.
    answers : array, shape (m,)
        Noisy values of queries @ bits.
    method : {"least squares", "lp"}
        Least squares wants clearly more answers than bits: with about n it follows the noise. The linear program is
        slower; it withstands a share of answers that are arbitrarily wrong.

    Returns
    -------
    array of int, shape (n,)
        The guess, 0 or 1.

    Raises
    ------
    ValueError
        If `queries` is not a finite matrix, `answers` not a vector of its length, or `method` is unknown.

    References
    ----------
    Dinur and Nissim (2003); Dwork, McSherry and Talwar (2007) for decoding by linear programming.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bits, queries = rng.integers(0, 2, 50), rng.integers(0, 2, (300, 50))
    >>> (reconstruct(queries, queries @ bits + rng.normal(0, 1, 300)) == bits).mean().item()
    1.0
    """
    choice("method", method, ("least squares", "lp"))
    queries = array("queries", queries, ndim=2, least=1)
    answers = array("answers", answers, ndim=1, gaps=True)
    if len(answers) != len(queries):
        raise ValueError(f"answers must be {len(queries)}, one for each query, got {len(answers)}")
    given = np.isfinite(answers)
    queries, answers = queries[given], answers[given]
    m, n = queries.shape
    if m == 0:
        return np.zeros(n, dtype=int)
    centred = answers - queries.sum(axis=1) / 2          # where the answers leave a choice, the middle is no bit's side
    if method == "least squares":
        half = np.linalg.lstsq(queries, centred, rcond=None)[0]
    else:
        # answers = queries @ half + over - under, least total over + under
        # beyond what bits can give, an answer only adds a constant to the total
        reach = np.abs(queries).sum(axis=1) / 2
        centred = np.clip(centred, -reach, reach)
        cost = np.repeat([0.0, 1.0], [n, 2 * m])
        bounds = [(-0.5, 0.5)] * n + [(0, None)] * (2 * m)
        half = linprog(
            cost, A_eq=np.hstack([queries, np.eye(m), -np.eye(m)]), b_eq=centred, bounds=bounds, method="highs"
        ).x[:n]
    return (half > 1e-9).astype(int)


def tracing(released: ArrayLike, population: ArrayLike, targets: ArrayLike) -> Array:
    """How much each target looks like a member of the group whose means were released: high means member.

    The score is the inner product of (target - population) and (released - population), divided by the standard
    deviation that it has for a stranger. For somebody outside the group whose d bits are independent with the
    population's probabilities p it has mean 0 and variance 1, whatever was released (but it is 0 if that is p). For a
    member of a group of n such people, and exact means, its mean is about sqrt(d / n) where the p (1 - p) are alike and
    somewhat less where they differ, so that the area under the ROC curve is about Phi(sqrt(d / n) / sqrt(2)). A missing
    value, released or of a target, says nothing.

    Privacy
    -------
    measure : none: an attack on many means of one group
    adjacency : the group with and without the target, or with another in their place
    guarantee : if the means together are (epsilon, delta)-DP, every membership test has TPR <= e^epsilon FPR + delta

    Parameters
    ----------
    released : array, shape (d,)
        Published means of d binary attributes over the group; noise may take them out of [0, 1].
    population : array, shape (d,)
        Means of the attributes outside, strictly between 0 and 1.
    targets : array, shape (t, d)
        One row of 0s and 1s for each target; also a DataFrame.

    Returns
    -------
    array of float, shape (t,)

    Raises
    ------
    ValueError
        If the shapes differ or `population` is not inside (0, 1).

    References
    ----------
    Homer et al. (2008), with another statistic; Dwork, Smith, Steinke, Ullman and Vadhan (2015) for this inner product.

    Examples
    --------
    >>> tracing(released=[0.9, 0.1, 0.5], population=[0.5, 0.5, 0.5], targets=[[1, 0, 1], [0, 1, 1]]).round(3).tolist()
    [1.414, -1.414]
    """
    released, targets = array("released", released, ndim=1, gaps=True), array("targets", targets, ndim=2, gaps=True)
    population = array("population", population, ndim=1, least=1)
    if not ((population > 0) & (population < 1)).all():
        raise ValueError("population must lie strictly between 0 and 1")
    for name, found in (("released", len(released)), ("targets", targets.shape[1])):
        if found != len(population):
            raise ValueError(f"{name} must have {len(population)} columns, as population has, got {found}")
    shift = np.where(np.isfinite(released), released - population, 0.0)
    shift = shift / max(np.abs(shift).max(), np.finfo(float).tiny)           # the scale cancels
    known = np.isfinite(targets)
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.where(known, targets - population, 0.0) @ shift
    deviations = np.sqrt(known @ (population * (1 - population) * shift**2))
    return np.divide(products, deviations, out=np.zeros(len(targets)), where=deviations > 0)


def roc(members: ArrayLike, others: ArrayLike) -> tuple[Array, Array]:
    """The ROC curve of a membership score: at each distinct threshold, who of the others and of the members is at or
    above it.

    Equal scores pass together, so a score that says nothing gives the two points (0, 0) and (1, 1). A nan passes last.

    Privacy
    -------
    measure : none: describes an attack
    adjacency : a member's data in or out
    guarantee : for a test of an (epsilon, delta)-DP release the true curve, not each measured one, has TPR <= e^epsilon
        FPR + delta

    Parameters
    ----------
    members, others : array
        Scores of members and of non-members; high means member.

    Returns
    -------
    (fpr, tpr) : tuple of two arrays of float
        Non-decreasing, from (0, 0) to (1, 1), one point more than there are distinct scores.

    Raises
    ------
    ValueError
        If either is empty or not a vector.

    References
    ----------
    Dong, Roth and Su (2022), section 2: 1 - TPR against FPR is never below the trade-off function of the two laws,
    and reaches it for the best score.

    Examples
    --------
    >>> fpr, tpr = roc(members=[3, 2, 2], others=[2, 1])
    >>> fpr.tolist(), tpr.round(2).tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.33, 1.0, 1.0])
    """
    scores = []
    for name, part in (("members", members), ("others", others)):
        part = array(name, part, ndim=1, least=1, gaps=True)
        scores.append(np.sort(np.where(np.isnan(part), -np.inf, part)))
    thresholds = np.unique(np.concatenate(scores))[::-1]
    tpr, fpr = (np.append(0.0, (len(part) - np.searchsorted(part, thresholds)) / len(part)) for part in scores)
    return fpr, tpr


def tpr_at(members: ArrayLike, others: ArrayLike, *, fpr: float) -> float:
    """The largest true positive rate of a threshold whose false positive rate is at most `fpr`.

    Privacy
    -------
    measure : none: describes an attack
    adjacency : a member's data in or out
    guarantee : as `roc`; at a small `fpr` this is what an attacker can be sure of, which the area under the curve hides

    Parameters
    ----------
    members, others : array
        Scores of members and of non-members; high means member.
    fpr : float
        In [0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `roc`, or if `fpr` is not in [0, 1].

    References
    ----------
    Derived from `roc`.

    Examples
    --------
    >>> tpr_at(members=[3, 3, 2, 1], others=[2, 1, 1, 0], fpr=0.25)
    0.75
    """
    most, (wrong, right) = share("fpr", fpr), roc(members, others)
    return float(right[wrong <= most].max())


def intersect(releases: Iterable) -> list[set]:
    """The values that the class of each target has in every one of two or more releases.

    Each release hides a target among the rows of one class. The target's value is among the values of the class, in
    every release that holds the target; where one value is left, it is disclosed, and for certain. The sets are an
    upper bound of what is possible: a value that a class holds once is used up by a target who is known to have it, so
    that two releases may prove more. One release alone is the homogeneity attack. No value left means that the target
    is not in all of them.

    Privacy
    -------
    measure : none: an attack on k-anonymous, l-diverse or t-close tables
    adjacency : either
    guarantee : these notions do not compose, and none limits it; two epsilon-DP releases are together 2 epsilon-DP

    Parameters
    ----------
    releases : list of (classes, values, where)
        classes and values, one for each published row: its class and its sensitive value. where, one for each target:
        the class that their quasi-identifiers fall in, missing if they are known not to be in this release. A row with
        a missing class is suppressed; a missing value is a value of its own, None.

    Returns
    -------
    list of set
        The values common to the target's classes; every value, for a target who is in no release.

    Raises
    ------
    ValueError
        If there is no release, lengths differ, or a target's class has no rows.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), the intersection attack.

    Examples
    --------
    >>> first = ([1, 1, 2, 2], ["flu", "HIV", "flu", "asthma"], [1, 2])
    >>> second = (["a", "a", "b"], ["HIV", "asthma", "flu"], ["a", "b"])
    >>> intersect([first, second])
    [{'HIV'}, {'flu'}]
    """
    tables: list[tuple[dict, list]] = []
    for number, release in enumerate(listed("releases", releases)):
        release = listed(f"releases[{number}]", release)
        if len(release) != 3:
            raise ValueError(f"releases[{number}] must be classes, values and where, got {len(release)} of them")
        classes, values, where = (_with_none(f"releases[{number}]", part) for part in release)
        if len(classes) != len(values):
            raise ValueError(
                f"releases[{number}] must have a value for each class label, got {len(classes)} labels and "
                f"{len(values)} values"
            )
        if number and len(where) != len(tables[0][1]):
            raise ValueError(
                f"releases[{number}] must be about the {len(tables[0][1])} targets of the first, got {len(where)}"
            )
        candidates: dict[Hashable, set] = {}
        for label, value in zip(classes, values):
            candidates.setdefault(label, set()).add(value)
        if unknown := [label for label in where if label is not None and label not in candidates]:
            raise ValueError(f"releases[{number}] has no rows in class {shown(unknown[0])}, where a target should be")
        candidates.pop(None, None)                       # suppressed rows
        tables.append((candidates, where))
    if not tables:
        raise ValueError("releases must hold one at least")
    everything = {value for candidates, _ in tables for values in candidates.values() for value in values}
    survivors = [set(everything) for _ in tables[0][1]]
    for candidates, where in tables:
        for left, label in zip(survivors, where):
            if label is not None:
                left &= candidates[label]
    return survivors


def _with_none(name, values):
    """A list of plain values, each missing one as None."""
    values = listed(name, values.tolist() if hasattr(values, "tolist") else values)
    if not all(isinstance(value, Hashable) for value in values):
        raise ValueError(f"{name} must hold labels and values that can be looked up")
    return [None if value is None or value is pd.NA or value != value else value for value in values]
