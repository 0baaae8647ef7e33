"""The sparse vector technique: watch a stream of questions and pay only for the few answers that pass a threshold."""
from itertools import islice
from typing import NamedTuple

import numpy as np

from dplib._validate import choice, finite, positive, probability, whole

__all__ = ["AboveThreshold", "Scales", "above_threshold", "index_pmf", "log_laplace_cdf", "log_probability", "numeric_sparse", "scales"]


class Scales(NamedTuple):
    """Laplace scales of one run: on the threshold, on each compared answer, on each released value (inf: none is released)."""

    threshold: float
    query: float
    value: float


def scales(epsilon, *, c=1, sensitivity=1.0, monotone=False, numeric=0.0, split="even"):
    """Noise scales with which the sparse vector technique costs `epsilon` in all.

    `epsilon` is cut into three: a share `numeric` for released values, and the rest between threshold (e1) and
    comparisons (e2), evenly or in the ratio 1 : (2c)^(2/3) (monotone 1 : c^(2/3)) that minimises the variance of the
    compared difference. The scales are sensitivity/e1, 2 c sensitivity/e2 (monotone: c sensitivity/e2) and
    c sensitivity/e3.

    Privacy
    -------
    measure : epsilon-DP for a run with these scales that stops at its c-th positive answer
    adjacency : the one under which no single answer changes by more than `sensitivity`
    guarantee : exact for long lists; monotone=True needs all answers to move the same way between neighbours, which
        holds for counts under add/remove, not under replace

    Parameters
    ----------
    epsilon : float
        Total privacy loss.
    c : int
        Number of positive answers after which the run stops.
    sensitivity : float
        Largest change of any one answer.
    monotone : bool
        All answers move the same way between neighbours.
    numeric : float
        Share of epsilon kept for releasing values, in [0, 1).
    split : {"even", "optimal"}

    Returns
    -------
    Scales

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Lyu, Su and Li (2017), Algorithm 7 with Theorems 4 and 5, section 4.2 for the split.

    Examples
    --------
    >>> scales(1.0)
    Scales(threshold=2.0, query=4.0, value=inf)
    >>> scales(1.0, c=4, split="optimal")
    Scales(threshold=5.0, query=10.0, value=inf)
    """
    epsilon, c, sensitivity = positive("epsilon", epsilon), whole("c", c, least=1), positive("sensitivity", sensitivity)
    numeric, factor = probability("numeric", numeric), c if monotone else 2 * c
    ratio = factor ** (2 / 3) if choice("split", split, ("even", "optimal")) == "optimal" else 1.0
    for_values = numeric * epsilon
    for_threshold = (epsilon - for_values) / (1 + ratio)
    for_queries = epsilon - for_values - for_threshold
    return Scales(sensitivity / for_threshold, factor * sensitivity / for_queries, c * sensitivity / for_values if numeric else np.inf)


def above_threshold(answers, threshold, *, epsilon, c=1, sensitivity=1.0, monotone=False, split="even", rng=None):
    """Indices of the first `c` answers that pass a noisy threshold.

    One noise is drawn for the threshold, a fresh one for every comparison, and the run stops at its c-th positive
    answer. Answers are read in blocks, so an early hit in a long list is cheap and an endless iterator is welcome.

    Privacy
    -------
    measure : epsilon-DP, however many answers are read
    adjacency : the one under which no single answer changes by more than `sensitivity`
    guarantee : exact for long lists (the loss comes arbitrarily close to epsilon); monotone as in `scales`

    Parameters
    ----------
    answers : array, shape (k,), or iterable of float
        The exact answers, in order. A nan never passes. An iterator is read up to 4,096 answers ahead: where an answer
        depends on the replies before it, use `AboveThreshold`.
    threshold : float
        Public, in the units of the answers.
    epsilon, c, sensitivity, monotone, split
        As for `scales`.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int array
        At most c indices, increasing; empty if no answer passed.

    Raises
    ------
    ValueError
        If a parameter is out of range or `answers` is an array that is not one-dimensional.

    References
    ----------
    Lyu, Su and Li (2017), Algorithm 1; for c = 1, Dwork and Roth (2014), Algorithm 1 and Theorem 3.23.

    Examples
    --------
    >>> above_threshold([0, 0, 900, 0], threshold=400, epsilon=1.0, rng=0).tolist()
    [2]
    """
    noise = scales(epsilon, c=c, sensitivity=sensitivity, monotone=monotone, split=split)
    return _scan(answers, finite("threshold", threshold), noise, c, np.random.default_rng(rng))[0]


def numeric_sparse(answers, threshold, *, epsilon, c=1, sensitivity=1.0, monotone=False, split="even", numeric=0.5, rng=None):
    """Indices of the first `c` answers that pass a noisy threshold, and those answers with fresh noise.

    The released values carry noise of their own, paid from the share `numeric` of epsilon. Printing the noisy answer
    that was compared instead would make the privacy loss grow without bound with the length of the list.

    Privacy
    -------
    measure : epsilon-DP in all
    adjacency : the one under which no single answer changes by more than `sensitivity`
    guarantee : `above_threshold` with (1 - numeric) epsilon, then c Laplace releases that share numeric epsilon

    Parameters
    ----------
    answers, threshold, epsilon, c, sensitivity, monotone, split
        As for `above_threshold`.
    numeric : float
        Share of epsilon for the values, in (0, 1).
    rng : None, int or numpy.random.Generator

    Returns
    -------
    indices : int array
    values : float array of the same length

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Dwork and Roth (2014), Algorithm 3 (NumericSparse); Lyu, Su and Li (2017), Algorithm 7.

    Examples
    --------
    >>> indices, values = numeric_sparse([0, 0, 9000, 0], 4000, epsilon=1.0, rng=0)
    >>> indices.tolist(), abs(values[0] - 9000) < 100
    ([2], np.True_)
    """
    noise = scales(epsilon, c=c, sensitivity=sensitivity, monotone=monotone, split=split, numeric=probability("numeric", numeric, zero=False))
    rng = np.random.default_rng(rng)
    indices, exact = _scan(answers, finite("threshold", threshold), noise, c, rng)
    return indices, exact + rng.laplace(scale=noise.value, size=exact.size)


_BLOCK = 4096


def _scan(answers, threshold, noise, c, rng):
    """Indices and exact values of the first c answers that pass."""
    threshold = threshold + rng.laplace(scale=noise.threshold)
    indices, exact, start = [np.empty(0, dtype=np.intp)], [np.empty(0)], 0
    for block in _blocks(answers):
        passed = np.flatnonzero(block + rng.laplace(scale=noise.query, size=block.size) >= threshold)[:c]
        indices.append(start + passed)
        exact.append(block[passed])
        c, start = c - passed.size, start + block.size
        if c == 0:
            break
    return np.concatenate(indices), np.concatenate(exact)


def _blocks(answers):
    if hasattr(answers, "__len__"):
        answers = np.asarray(answers, dtype=float)
        if answers.ndim != 1:
            raise ValueError(f"answers must be one-dimensional, got shape {answers.shape}")
        yield from (answers[i : i + _BLOCK] for i in range(0, answers.size, _BLOCK))
    else:
        answers = iter(answers)
        while (block := np.fromiter(islice(answers, _BLOCK), dtype=float)).size:
            yield block


class AboveThreshold:
    """`above_threshold` as a conversation: ask one question at a time, until it halts.

    The same law as `above_threshold`, and with the same seed the same answers.

    Privacy
    -------
    measure : epsilon-DP for the whole conversation
    adjacency : the one under which no single answer changes by more than `sensitivity`
    guarantee : as `above_threshold`; each question may be chosen in view of the replies so far

    Parameters
    ----------
    threshold, epsilon, c, sensitivity, monotone, split, rng
        As for `above_threshold`.

    Attributes
    ----------
    halted : bool
        True after the c-th positive reply.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Lyu, Su and Li (2017), Algorithm 1.

    Examples
    --------
    >>> watch = AboveThreshold(400, epsilon=1.0, rng=0)
    >>> [watch.ask(answer) for answer in (0, 0, 900)], watch.halted
    ([False, False, True], True)
    """

    def __init__(self, threshold, *, epsilon, c=1, sensitivity=1.0, monotone=False, split="even", rng=None):
        self._noise = scales(epsilon, c=c, sensitivity=sensitivity, monotone=monotone, split=split)
        self._rng, self._left = np.random.default_rng(rng), c
        self._threshold = finite("threshold", threshold) + self._rng.laplace(scale=self._noise.threshold)

    @property
    def halted(self):
        return self._left == 0

    def ask(self, answer):
        """Whether this exact answer passes.

        Parameters
        ----------
        answer : float
            Private; a nan never passes.

        Returns
        -------
        bool

        Raises
        ------
        RuntimeError
            If the mechanism has halted: its budget is spent.
        """
        if self.halted:
            raise RuntimeError("this mechanism has given all its positive answers and halted; start a new one, with its own epsilon")
        passed = bool(answer + self._rng.laplace(scale=self._noise.query) >= self._threshold)
        self._left -= passed
        return passed


def log_probability(outcome, answers, threshold=0.0, *, noise):
    """Exact log-probability of one sequence of replies, by quadrature over the noisy threshold.

    Given the noisy threshold t the replies are independent, so the probability is the integral over t of the Laplace
    density times one Laplace distribution function per reply. Both are smooth between the points where an absolute
    value has its corner; Gauss-Legendre on pieces cut there gives about ten digits, in log space.

    Privacy
    -------
    measure : none: this describes the mechanism, and is computed from exact answers
    adjacency : none
    guarantee : the difference of two such numbers for neighbouring answers is a privacy loss

    Parameters
    ----------
    outcome : sequence of 0/1 (or of bool)
        The replies, 1 for "passes"; at most as many as `answers`.
    answers : array, shape (k,)
        Exact answers; those beyond the last reply do not matter.
    threshold : float
    noise : Scales
        From `scales`, or any (threshold, query, value) to study a mechanism that is wrong.

    Returns
    -------
    float
        -inf for an impossible outcome.

    Raises
    ------
    ValueError
        If there are more replies than answers, `answers` is not a vector of finite numbers, or a scale is not positive.

    References
    ----------
    The law of Algorithm 1 in Lyu, Su and Li (2017).

    Examples
    --------
    >>> round(float(np.exp(log_probability([0, 1], [0, 0], noise=scales(1.0)))), 6)
    0.208333
    """
    outcome, answers = np.asarray(outcome, dtype=bool), _finite_vector(answers)
    if outcome.size > answers.size:
        raise ValueError(f"outcome has {outcome.size} replies, but there are only {answers.size} answers")
    pairs, repeats = np.unique(answers[: outcome.size] + 1j * outcome, return_counts=True)     # equal replies count together
    t, total = _nodes(pairs.real, finite("threshold", threshold), noise)
    for pair, times in zip(pairs, repeats):
        total = total + times * log_laplace_cdf((pair.real - t if pair.imag else t - pair.real) / noise.query)
    peak = total.max()
    return float(peak + np.log(np.exp(total - peak).sum()))


def index_pmf(answers, threshold=0.0, *, noise):
    """Exact law of the first positive reply: the probability of each index, and last that of none.

    Privacy
    -------
    measure : none: this describes the mechanism, and is computed from exact answers
    adjacency : none
    guarantee : none

    Parameters
    ----------
    answers : array, shape (k,)
    threshold : float
    noise : Scales

    Returns
    -------
    array, shape (k + 1,), summing to 1

    Raises
    ------
    ValueError
        If `answers` is not a vector of finite numbers or a scale is not positive.

    References
    ----------
    As `log_probability`.

    Examples
    --------
    >>> index_pmf([0, 1, 2], 1.0, noise=scales(1.0)).round(4).tolist()
    [0.4181, 0.2505, 0.15, 0.1813]
    """
    answers = _finite_vector(answers)
    t, log_weight = _nodes(answers, finite("threshold", threshold), noise)
    silent, law = np.exp(log_weight), np.empty(answers.size + 1)
    for i, answer in enumerate(answers):
        x = (t - answer) / noise.query
        tail = 0.5 * np.exp(-np.abs(x))
        law[i] = silent @ np.where(x < 0, 1 - tail, tail)
        silent = silent * np.where(x < 0, tail, 1 - tail)
    law[-1] = silent.sum()
    return law


def _finite_vector(answers):
    answers = np.asarray(answers, dtype=float)
    if answers.ndim != 1 or not np.isfinite(answers).all():
        raise ValueError(f"answers must be a vector of finite numbers, got shape {answers.shape}")
    return answers


_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _nodes(answers, threshold, noise):
    """Quadrature nodes for the noisy threshold, and the logs of weight times Laplace density."""
    b1, b2 = positive("noise.threshold", noise.threshold), positive("noise.query", noise.query)
    corners = np.unique(np.append(answers, threshold))
    reach = 45 * max(b1, b2)
    cuts = np.concatenate([[corners[0] - reach], corners, [corners[-1] + reach]])
    pieces = np.ceil(np.diff(cuts) / min(b1, b2))
    if pieces.sum() > 100_000:
        raise ValueError(f"answers and scales differ too much for the quadrature: they span {pieces.sum():.3g} times the smallest scale")
    edges = np.concatenate([np.linspace(a, b, int(n), endpoint=False) for a, b, n in zip(cuts[:-1], cuts[1:], pieces)] + [cuts[-1:]])
    half = np.diff(edges) / 2
    t = (edges[:-1, None] + half[:, None] * (_POINTS + 1)).ravel()
    return t, np.log(np.outer(half, _WEIGHTS).ravel()) - np.abs(t - threshold) / b1 - np.log(2 * b1)


def log_laplace_cdf(x):
    """Log of the distribution function of Lap(1), accurate in both tails.

    The reply "No" to `answer` at noisy threshold t, with noise of scale b, has log-probability
    log_laplace_cdf((t - answer) / b), and "Yes" has log_laplace_cdf((answer - t) / b).

    Privacy
    -------
    measure : none: a function of numbers
    adjacency : none
    guarantee : none

    Parameters
    ----------
    x : float or array

    Returns
    -------
    float or array of the shape of `x`

    Raises
    ------
    TypeError
        If `x` does not hold numbers.

    References
    ----------
    The closed form: e^x/2 below 0, 1 - e^-x/2 above.

    Examples
    --------
    >>> log_laplace_cdf(np.array([-1000.0, 0.0])).round(4).tolist()
    [-1000.6931, -0.6931]
    """
    return np.where(x < 0, np.minimum(x, 0) - np.log(2), np.log1p(-0.5 * np.exp(-np.maximum(x, 0))))
