"""The technique itself: noise scales, a whole list at once, and a conversation."""
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from dplib._types import Array, ArrayLike, Rng
from dplib._validate import choice, finite, flag, generator, numbers, positive, probability, shown, whole

__all__ = ["AboveThreshold", "Scales", "above_threshold", "numeric_sparse", "scales"]


class Scales(NamedTuple):
    """Laplace scales of one run: on the threshold, on each compared answer, on each released value (inf: none is
    released).
    """

    threshold: float
    query: float
    value: float


def scales(
    epsilon: float, *, c: int = 1, sensitivity: float = 1.0, monotone: bool = False, numeric: float = 0.0,
    split: str = "even",
) -> Scales:
    """Noise scales with which the sparse vector technique costs `epsilon` in all.

    `epsilon` is cut into three: a share `numeric` for released values, and the rest between threshold (e1) and
    comparisons (e2), evenly or in the ratio 1 : (2c)^(2/3) (monotone 1 : c^(2/3)) that minimises the variance of the
    compared difference. The scales are sensitivity/e1, 2 c sensitivity/e2 (monotone: c sensitivity/e2) and
    c sensitivity/e3.

    Privacy
    -------
    measure : epsilon-DP for a run with these scales that stops at its c-th positive answer
    adjacency : the one under which no single answer changes by more than `sensitivity`
    guarantee : exact for long lists (an upper bound with monotone=True and numeric > 0); monotone=True needs all
        answers to move the same way between neighbours, which holds for counts under add/remove, in general not under
        replace

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
    positive("sensitivity / epsilon", c * (sensitivity / epsilon), most=1e300)
    numeric, factor = probability("numeric", numeric), c if flag("monotone", monotone) else 2 * c
    ratio = factor ** (2 / 3) if choice("split", split, ("even", "optimal")) == "optimal" else 1.0
    for_values = numeric * epsilon
    for_threshold = (epsilon - for_values) / (1 + ratio)
    for_queries = epsilon - for_values - for_threshold
    return Scales(
        sensitivity / for_threshold,
        factor * sensitivity / for_queries,
        c * sensitivity / for_values if numeric else np.inf,
    )


def above_threshold(
    answers: ArrayLike | Iterable[float], *, threshold: float, sensitivity: float, epsilon: float, c: int = 1,
    monotone: bool = False, split: str = "even", rng: Rng = None,
) -> Array:
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
    sensitivity, epsilon, c, monotone, split
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
    >>> above_threshold([0, 0, 900, 0], threshold=400, sensitivity=1, epsilon=1.0, rng=0).tolist()
    [2]
    """
    noise = scales(epsilon, c=c, sensitivity=sensitivity, monotone=monotone, split=split)
    return _scan(answers, finite("threshold", threshold), noise, c, generator(rng))[0]


def numeric_sparse(
    answers: ArrayLike | Iterable[float], *, threshold: float, sensitivity: float, epsilon: float, c: int = 1,
    monotone: bool = False, split: str = "even", numeric: float = 0.5, rng: Rng = None,
) -> tuple[Array, Array]:
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
    answers, threshold, sensitivity, epsilon, c, monotone, split
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
    >>> indices, values = numeric_sparse([0, 0, 9000, 0], threshold=4000, sensitivity=1, epsilon=1.0, rng=0)
    >>> indices.tolist(), bool(abs(values[0] - 9000) < 100)
    ([2], True)
    """
    numeric = probability("numeric", numeric, zero=False)
    noise = scales(epsilon, c=c, sensitivity=sensitivity, monotone=monotone, split=split, numeric=numeric)
    rng = generator(rng)
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
        answers = numbers("answers", answers, ndim=1)
        yield from (answers[i : i + _BLOCK] for i in range(0, answers.size, _BLOCK))
    elif hasattr(answers, "__next__") or hasattr(answers, "__iter__") and np.ndim(answers):
        answers = iter(answers)
        while (block := numbers("answers", list(islice(answers, _BLOCK)))).size:
            yield block
    else:
        raise ValueError(f"answers must be a vector or an iterator, got {shown(answers)}")


class AboveThreshold:
    """`above_threshold` as a conversation: ask one question at a time, until it halts.

    The same law as `above_threshold`, and with the same seed the same answers.

    Privacy
    -------
    measure : epsilon-DP for the whole conversation
    adjacency : the one under which no single answer changes by more than `sensitivity`
    guarantee : as `above_threshold`; each question may be chosen in view of the replies so far. With j positive replies
        the loss is at most that of the threshold plus j/c of that of the questions, so a ledger may charge as it goes

    Parameters
    ----------
    threshold, sensitivity, epsilon, c, monotone, split, rng
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
    >>> watch = AboveThreshold(400, sensitivity=1, epsilon=1.0, rng=0)
    >>> [watch.ask(answer) for answer in (0, 0, 900)], watch.halted
    ([False, False, True], True)
    """

    def __init__(
        self, threshold: float, *, sensitivity: float, epsilon: float, c: int = 1, monotone: bool = False,
        split: str = "even", rng: Rng = None,
    ) -> None:
        self._noise = scales(epsilon, c=c, sensitivity=sensitivity, monotone=monotone, split=split)
        self._rng, self._left = generator(rng), c
        self._threshold = finite("threshold", threshold) + self._rng.laplace(scale=self._noise.threshold)

    @property
    def halted(self) -> bool:
        return self._left == 0

    def ask(self, answer: float) -> bool:
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
            raise RuntimeError("halted: start a new one, with its own epsilon")
        noisy = float(numbers("answer", answer)) + self._rng.laplace(scale=self._noise.query)
        passed = bool(noisy >= self._threshold)
        self._left -= passed
        return passed
