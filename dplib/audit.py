"""Auditing: a lower bound on the privacy loss of a mechanism, from running it on two neighbouring data sets.

An audit can show that a mechanism is worse than it claims; it can never prove that a mechanism is private. The event
that tells the two data sets apart must be chosen on other runs than those that test it: chosen among many on the same
runs, it accuses a correct mechanism far too often, and among all unions of many bins almost every time.
"""
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtrc, bdtrik, betaincinv, expit, gammaincinv, logit, ndtri, pdtr, pdtrik

from dplib._types import Array, ArrayLike, Rng
from dplib._validate import function, generator, listed, positive, probability, shown, whole
from dplib._validate import table as frame

__all__ = ["AuditResult", "Event", "audit", "epsilon_lower_bound", "mu_lower_bound", "planted", "runs_needed"]


def epsilon_lower_bound(k1: int, k2: int, n: int, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """Lower confidence bound on epsilon from the counts of one event, fixed in advance, in n runs on each data set.

    log((p1 - delta) / p2) with p1 and p2 the Clopper-Pearson bounds on the event's two probabilities, each at half
    the error. One direction only: it compares P(event | D) with P(event | D').

    Privacy
    -------
    measure : a lower bound on the epsilon of (epsilon, delta)-DP
    adjacency : the one of the two data sets
    guarantee : exceeds the true loss with probability at most 1 - confidence

    Parameters
    ----------
    k1, k2 : int
        Runs on D and on D' in which the event happened.
    n : int
        Runs on each.
    delta : float
        The delta of the claim.
    confidence : float
        In (0, 1).

    Returns
    -------
    float
        Says nothing if it is negative; -inf where the event may be no likelier on D than `delta`.

    Raises
    ------
    ValueError
        If a count is not a whole number in 0..n or a parameter is out of range.

    References
    ----------
    Clopper and Pearson (1934); the use for privacy as in Ding et al. (2018) and Jagielski et al. (2020).

    Examples
    --------
    >>> round(epsilon_lower_bound(500, 100, 1000), 3)
    1.36
    """
    low, high = _clopper_pearson(k1, k2, n, confidence)
    delta = probability("delta", delta)
    return math.log((low - delta) / high) if low > delta else -math.inf


def mu_lower_bound(k1: int, k2: int, n: int, *, confidence: float = 0.95) -> float:
    """Lower confidence bound on the mu of Gaussian DP, from the counts of one event fixed in advance.

    Privacy
    -------
    measure : a lower bound on mu of mu-GDP
    adjacency : the one of the two data sets
    guarantee : exceeds the true mu with probability at most 1 - confidence

    Parameters
    ----------
    k1, k2, n, confidence
        As for `epsilon_lower_bound`.

    Returns
    -------
    float
        Says nothing if it is negative; -inf if k1 = 0 or k2 = n.

    Raises
    ------
    ValueError
        As `epsilon_lower_bound`.

    References
    ----------
    Dong, Roth and Su (2022), section 2, for G_mu; Nasr et al. (2023), section 4, for the audit.

    Examples
    --------
    >>> round(mu_lower_bound(500, 100, 1000), 3)
    1.095
    """
    low, high = _clopper_pearson(k1, k2, n, confidence)
    return float(ndtri(low) - ndtri(high))


def _clopper_pearson(k1, k2, n, confidence):
    """Lower bound on the first probability and upper bound on the second, together at `confidence`."""
    n = whole("n", n, least=1)
    for name, k in (("k1", k1), ("k2", k2)):
        if whole(name, k, least=0) > n:
            raise ValueError(f"{name} must not exceed n={n}, got {shown(k)}")
    alpha = (1 - probability("confidence", confidence, zero=False)) / 2
    low = betaincinv(k1, n - k1 + 1, alpha) if k1 else 0.0
    high = betaincinv(k2 + 1, n - k2, 1 - alpha) if k2 < n else 1.0
    return float(low), float(high)


def _conditional_bound(k1, k2, alpha):
    """Lower bound on log(p1/p2) from two Poisson counts: given k1 + k2, k1 is binomial with odds p1/p2."""
    k1, k2 = np.asarray(k1, dtype=float), np.asarray(k2, dtype=float)
    return logit(np.where(k1 > 0, betaincinv(np.maximum(k1, 1), k2 + 1, alpha), 0.0))


def runs_needed(p: float, q: float, *, epsilon: float, confidence: float = 0.95, power: float = 0.95) -> int:
    """Runs on each data set after which an audit of one known event rejects the claim `epsilon` with probability
    `power`.

    For the conditional bound that `audit` uses, with a Poisson number of runs. `audit` itself needs about two to
    four times as many, because half of its runs go into finding an event, and the event that it finds is not quite the
    best one.

    Privacy
    -------
    measure : none: plans an audit of epsilon-DP
    adjacency : the one of the two data sets
    guarantee : exact for the stated test

    Parameters
    ----------
    p, q : float
        Probabilities of the event on D and on D'.
    epsilon : float
        The claim to be rejected.
    confidence, power : float
        In (0, 1).

    Returns
    -------
    int
        The smallest expected number of runs, to about one per cent.

    Raises
    ------
    ValueError
        If p <= e^epsilon q, so that no number of runs can reject the claim, if more than 2^26 (67 million) runs would
        be needed, or a parameter is out of range.

    References
    ----------
    Przyborowski and Wilenski (1940) for the conditional test of two Poisson rates.

    Examples
    --------
    >>> runs_needed(0.3, 0.05, epsilon=1.0)
    336
    """
    if (p := positive("p", p)) > 1:
        raise ValueError(f"p must lie in (0, 1], got {p!r}")
    q, epsilon = probability("q", q), positive("epsilon", epsilon)
    alpha, power = 1 - probability("confidence", confidence, zero=False), probability("power", power, zero=False)
    if p * math.exp(-epsilon) <= q:
        raise ValueError(
            f"the event does not contradict epsilon={epsilon!r}: p={p!r} is at most e^epsilon times q={q!r}"
        )

    def reaches(runs):
        mean = runs * (p + q)
        if mean < 1e-6:                          # no event in any run
            return False
        total = np.arange(max(1, math.floor(pdtrik(1e-9, mean))), math.ceil(pdtrik(1 - 1e-9, mean)) + 1)
        weight = np.diff(pdtr(np.append(total[0] - 1, total), mean))
        return weight @ bdtrc(_critical(total, expit(epsilon), alpha) - 1, total, p / (p + q)) >= power

    low, high = 0, 16
    while not reaches(high):
        low, high = high, 2 * high
        if high > 2**26:
            raise ValueError(
                f"more than 67 million runs are needed: p={p!r} is too rare, or too near e^epsilon times q={q!r}"
            )
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _critical(total, odds, alpha):
    """Smallest k with P(Binomial(total, odds) >= k) <= alpha."""
    k = np.floor(bdtrik(1 - alpha, total, odds)) + 1
    k = np.where(bdtrc(k - 2, total, odds) <= alpha, k - 1, k)
    return np.where(bdtrc(k - 1, total, odds) <= alpha, k, k + 1)


@dataclass(frozen=True)
class Event:
    """A set of outputs: `event(outputs)` tells for each output whether it is in the set.

    Attributes
    ----------
    members : array
        The outputs in the set, one per row; or, for real-valued outputs, the cells (low, high] as rows.
    cells : bool
        Whether `members` are cells.
    """

    members: np.ndarray
    cells: bool

    def __call__(self, outputs: ArrayLike) -> Array:
        if self.cells:
            x, (low, high) = _real(outputs), self.members.T
            return (((low < x) | (low == -np.inf)) & (x <= high)).any(axis=1)
        rows = np.concatenate([self.members, _rows(outputs)])
        labels = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        return np.isin(labels[len(self.members) :], labels[: len(self.members)])


@dataclass(frozen=True)
class AuditResult:
    """What an audit found. The claim is refuted, at the audit's confidence, if it is below `epsilon`.

    Attributes
    ----------
    epsilon : float
        Lower confidence bound on the loss; may be negative, and then says nothing.
    event : Event
        The event that was tested.
    k1, k2 : int
        How often it happened on the data set that the choosing runs showed it likelier on, and on the other.
    n : int
        Expected number of runs on each data set in all, as asked.
    """

    epsilon: float
    event: Event
    k1: int
    k2: int
    n: int


def audit(
    run: Callable[[Any, int, np.random.Generator], ArrayLike], data: Any, neighbour: Any, *, n: int, delta: float = 0.0,
    confidence: float = 0.95, rng: Rng = None,
) -> AuditResult:
    """Lower confidence bound on the privacy loss between two neighbouring data sets, by running the mechanism.

    n/2 runs on each data set choose the event and the direction; a Poisson(n/2) number of further runs on each tests
    it. Because that number is Poisson the two counts are independent Poisson variables, and given their sum one is
    exactly binomial: a Clopper-Pearson bound on its odds is a bound on log(P(event | D) / P(event | D')).
    For delta > 0 two exact Poisson bounds are used, each at half the error.

    Privacy
    -------
    measure : a lower bound on the epsilon of (epsilon, delta)-DP
    adjacency : the one of the two data sets
    guarantee : exceeds the true loss with probability at most 1 - confidence; says nothing about other data sets

    Parameters
    ----------
    run : callable
        `run(data, size, rng)` returns `size` independent outputs: an array of shape (size,) or (size, m).
    data, neighbour : object
        Two neighbouring data sets, passed to `run`.
    n : int
        Expected number of runs on each data set, at least 2.
    delta : float
        The delta of the claim.
    confidence : float
        In (0, 1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    AuditResult

    Raises
    ------
    ValueError
        If `run` does not return `size` outputs or a parameter is out of range.

    References
    ----------
    Ding et al. (2018) and Bichsel et al. (2021) for searching the event; Przyborowski and Wilenski (1940) for the test.

    Examples
    --------
    >>> def run(answer, size, rng):
    ...     return answer + rng.laplace(scale=1.0, size=size)
    >>> 0.8 < audit(run, 0.0, 1.0, n=20_000, rng=1).epsilon <= 1.0
    True
    """
    run, n, delta = function("run", run), whole("n", n, least=2), probability("delta", delta)
    alpha, rng = 1 - probability("confidence", confidence, zero=False), generator(rng)
    event, swapped = _choose_event(_draw(run, data, n // 2, rng), _draw(run, neighbour, n // 2, rng), delta, alpha)
    k1, k2 = (int(event(_draw(run, one, rng.poisson(n / 2), rng)).sum()) for one in (data, neighbour))
    if swapped:
        k1, k2 = k2, k1
    if delta == 0:
        epsilon = float(_conditional_bound(k1, k2, alpha))
    else:
        low = gammaincinv(k1, alpha / 2) / (n / 2) if k1 else 0.0
        epsilon = math.log((low - delta) / (gammaincinv(k2 + 1, 1 - alpha / 2) / (n / 2))) if low > delta else -math.inf
    return AuditResult(epsilon, event, k1, k2, n)


def planted(
    aggregate: Callable[[pd.DataFrame], Mapping[str, pd.Series]], table: pd.DataFrame, people: Mapping[str, Any], *,
    promised: Mapping[str, float], public: Collection[str] = (),
) -> pd.DataFrame:
    """How far adding one person moves the exact tables of a release, as a multiple of the sensitivity that was
    promised.

    The half of an audit that needs no noise and no statistics: a change of more than the promised sensitivity, another
    list of tables or of published cells, a number that is missing in one world or an error refutes the promise at once.
    The types of the numbers and the order of private cells are not compared.

    Privacy
    -------
    measure : an exact lower bound on the sensitivity
    adjacency : add one person
    guarantee : above 1 refutes the promise; 1 or less says nothing about people who were not planted, nor about other
        tables

    Parameters
    ----------
    aggregate : callable
        `aggregate(table)` returns a dict of pandas Series: the exact tables, before any noise.
    table : pandas.DataFrame
        The rows of everybody else.
    people : dict
        Name of a planted person -> their rows, as a list of dicts or a DataFrame.
    promised : dict
        Name of a table -> the promised L1 sensitivity of it, positive.
    public : collection of str
        Tables whose list of cells is published as it is. In the others a cell that one world lacks counts as 0 there.

    Returns
    -------
    pandas.DataFrame, one row per planted person, one column per table
        L1 change over promise; inf where the tables or a public list of cells change, a number is missing in one world
        only, or `aggregate` fails.

    Raises
    ------
    ValueError
        If the tables that `aggregate` returns without anybody planted are not those of `promised`, or a promise is not
        positive.

    References
    ----------
    The book's {prf:ref}`prop-year-planted`.

    Examples
    --------
    >>> visits = pd.DataFrame({"month": ["May", "May", "June"]})
    >>> def by_month(table):
    ...     return {"visits": table.month.value_counts().reindex(["May", "June"], fill_value=0)}
    >>> people = {"one visit": [{"month": "May"}], "two visits": [{"month": "May"}, {"month": "June"}]}
    >>> planted(by_month, visits, people, promised={"visits": 1}, public=["visits"]).visits.to_dict()
    {'one visit': 1.0, 'two visits': 2.0}
    """
    for name, given in (("promised", promised), ("people", people)):
        if not isinstance(given, Mapping):
            raise ValueError(f"{name} must be a dict, got {shown(given)}")
    promised = {name: positive(f"promised[{shown(name)}]", step) for name, step in promised.items()}
    public = listed("public", public)
    without = function("aggregate", aggregate)(frame("table", table))
    if set(without) != set(promised):
        raise ValueError(f"promised must name the tables that aggregate returns, {', '.join(map(repr, without))}")
    found = {}
    for person, rows in people.items():
        try:
            there = aggregate(pd.concat([table, pd.DataFrame(rows)], ignore_index=True))
            if set(there) != set(promised):  # one more table tells as much as an error
                raise KeyError("another list of tables")
            found[person] = {
                name: _change(without[name], there[name], name in public) / step for name, step in promised.items()
            }
        except Exception:  # an error that one person brings about tells that they are there
            found[person] = dict.fromkeys(promised, math.inf)
    return pd.DataFrame.from_dict(found, orient="index", columns=list(promised))


def _change(one, other, public):
    if public and list(one.index) != list(other.index):
        return math.inf
    cells = one.index.union(other.index)
    one, other = (table.reindex(cells, fill_value=0).astype(float) for table in (one, other))
    if not one.isna().equals(other.isna()):
        return math.inf
    change = float((other - one)[one != other].abs().sum())  # an infinite number in both worlds is no change
    return math.inf if math.isnan(change) else change


def _draw(run, data, size, rng):
    try:
        outputs = np.asarray(run(data, size, rng))
    except ValueError as reason:
        if "inhomogeneous" not in str(reason):
            raise
        raise ValueError(f"run must return {size} outputs of one shape") from None
    if outputs.shape[:1] != (size,):
        raise ValueError(f"run must return {size} outputs, got an array of shape {outputs.shape}")
    return outputs


_CELLS = 24                                      # of real outputs
_ENDS, _SINGLES = 0.003, 0.001                   # the more events compete, the more of their luck is taken off


def _choose_event(one, two, delta, alpha=0.05):
    """The event, and whether it is likelier on the second data set, that looks worst on these runs.

    Three families compete: unions of the most telling outputs, all outputs up to one or from one on (in their order),
    and single outputs. Each event is judged by a lower bound on its loss, at the error of the test to come or a smaller
    one: in a rich family the best of many is lucky.
    """
    both = np.concatenate([_rows(one), _rows(two)])
    members, labels = np.unique(both, axis=0, return_inverse=True)
    cells = both.shape[1] == 1 and both.dtype.kind == "f" and len(members) > _CELLS
    if cells:
        both = _real(both)
        edges = np.unique(np.quantile(both, np.linspace(0, 1, _CELLS + 1)[1:-1], method="lower"))
        labels = np.searchsorted(edges, both[:, 0])
        members = np.column_stack([np.append(-np.inf, edges), np.append(edges, np.inf)])
    labels = labels.ravel()
    counts = [np.bincount(part, minlength=len(members)) for part in (labels[: len(one)], labels[len(one) :])]
    unions = 10.0 ** -min(len(members) / 5, 5)
    highest, event, direction = -np.inf, members[:1], False
    for swapped, (a, b) in enumerate((counts, counts[::-1])):
        rising, telling = np.arange(len(members)), np.argsort(np.log(b + 0.5) - np.log(a + 0.5), kind="stable")
        for order, level in ((telling, unions), (rising, _ENDS), (rising[::-1], _ENDS), (rising, None)):
            k1, k2 = (a, b) if level is None else (np.cumsum(a[order]), np.cumsum(b[order]))
            score = _conditional_bound(k1 - delta * len(one), k2, min(alpha, level or _SINGLES))
            i = int(np.argmax(score))
            if score[i] > highest:
                highest, direction = score[i], bool(swapped)
                event = members[[i]] if level is None else members[order[: i + 1]]
    return Event(event, cells), direction


def _rows(outputs):
    outputs = np.asarray(outputs)
    return outputs.reshape(len(outputs), math.prod(outputs.shape[1:]))


def _real(outputs):
    """Real outputs as a column; a nan is told as +inf."""
    return np.nan_to_num(_rows(outputs).astype(float), nan=np.inf, posinf=np.inf, neginf=-np.inf)
