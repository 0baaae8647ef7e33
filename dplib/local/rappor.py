"""RAPPOR: strings that nobody listed in advance, reported again and again."""
import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dplib._types import Array, ArrayLike, Rng
from dplib._validate import bits, finite, listed, numbers, probability, whole, whole_array
from dplib.local.reports import flip

__all__ = ["Rappor"]


@dataclass(frozen=True, kw_only=True)
class Rappor:
    """RAPPOR: reports about strings that nobody listed in advance, again and again from the same people.

    A value sets `hashes` bits of a Bloom filter; people belong to cohorts with different hash functions, so that two
    values that collide in one cohort are told apart in the others. `permanent` puts noise on the filter, once and for
    ever; `report` puts fresh noise on that for each report, so that reports cannot be linked too easily; `decode` looks
    for given candidates in the reports of all.

    Privacy
    -------
    measure : epsilon-DP of a person's reports, against anyone who collects them (local model)
    adjacency : replace: one person's value for another, the cohort being public and drawn without looking at the value
    guarantee : `epsilon_one` for one report, `epsilon(n)` for n reports of one value, `epsilon_permanent` for any
        number; exact for two values with 2 * hashes different bits, smaller when bits coincide. All this is for one
        value kept for ever, with one permanent filter. n reports from n filters, one for each report, cost n *
        epsilon_one. m different values cost up to m * epsilon_permanent between people whose values change, and come
        back, at the same times; the times themselves are not protected

    Parameters
    ----------
    bits : int
        Length of the Bloom filter, at least 2.
    hashes : int
        Bits set by a value (two of them may coincide).
    cohorts : int
        Number of cohorts.
    f : float
        A bit of the permanent filter is the true one with probability 1 - f, otherwise a fair coin. With f = 0 nothing
        limits the loss of many reports.
    p, q : float
        Probabilities that a zero and a one of the permanent filter are reported as a one, 0 <= p < q <= 1.
    seed : int
        Fixes the hash functions; public.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Erlingsson, Pihur and Korolova (2014): Theorem 1 is `epsilon_permanent`, Theorem 2 is `epsilon_one`. They select
    candidates by the lasso before a least squares fit; `decode` fits all candidates, and other values as a constant.

    Examples
    --------
    >>> rappor = Rappor(hashes=2, f=0.5, p=0.5, q=0.75)
    >>> round(rappor.epsilon_one, 3), round(rappor.epsilon(10), 3), round(rappor.epsilon_permanent, 3)
    (1.074, 4.299, 4.394)
    """

    bits: int = 128
    hashes: int = 2
    cohorts: int = 16
    f: float = 0.5
    p: float = 0.5
    q: float = 0.75
    seed: int = 0

    def __post_init__(self):
        for name, least in (("bits", 2), ("hashes", 1), ("cohorts", 1), ("seed", 0)):
            whole(name, getattr(self, name), least=least)
        probability("f", self.f)
        if not probability("p", self.p) < finite("q", self.q) <= 1:
            raise ValueError(f"q must lie in (p, 1] with p={self.p!r}, got {self.q!r}")

    @property
    def epsilon_one(self) -> float:
        """Loss of a single report: hashes * ln(q* (1 - p*) / (p* (1 - q*))), q* and p* being the chances of a one from
        end to end.
        """
        return self.epsilon(1)

    @property
    def epsilon_permanent(self) -> float:
        """Loss of the permanent filter, hence of any number of reports: 2 * hashes * ln((1 - f/2) / (f/2))."""
        return 2 * self.hashes * _log_ratio(self.f, 0.0)

    def epsilon(self, reports: int) -> float:
        """Exact loss of this many reports of one value by one person, all from the same permanent filter.

        The reports that tell most are the unanimous ones: all n ones where only the first value has its bits, all n
        zeros where only the second has.

        Parameters
        ----------
        reports : int
            At least 1.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If `reports` is not a whole number >= 1.
        """
        n = whole("reports", reports, least=1)
        return self.hashes * sum(_log_ratio(self.f, x**n) for x in (self.p / self.q, (1 - self.q) / (1 - self.p)))

    def bloom(self, values: Iterable, cohorts: ArrayLike) -> Array:
        """The Bloom filters, without any noise: private.

        Parameters
        ----------
        values : sequence of str or int
            One for each person; two values are the same if they print the same.
        cohorts : array of int
            The cohort of each person, 0 to `self.cohorts` - 1.

        Returns
        -------
        array of 0 and 1 (uint8), shape (n, bits)

        Raises
        ------
        ValueError
            If there is not exactly one cohort for each value, or a cohort is not a whole number in range.
        """
        names = [str(value) for value in listed("values", values)]
        cohorts = self._cohorts(cohorts, len(names))
        found: dict[tuple[int, str], int] = {}
        rows = [found.setdefault(pair, len(found)) for pair in zip(cohorts.tolist(), names)]
        filters = np.zeros((len(found), self.bits), dtype=np.uint8)
        for row, pair in enumerate(found):
            filters[row, [self._bit(index, *pair) for index in range(self.hashes)]] = 1
        return filters[np.array(rows, dtype=int)]

    def permanent(self, values: Iterable, cohorts: ArrayLike, *, rng: Rng = None) -> Array:
        """The permanent filters: to be drawn once for each person and value, and kept by the person.

        Drawn anew for each report, they would average out, and epsilon_permanent would limit nothing.

        Parameters
        ----------
        values, cohorts
            As for `bloom`.
        rng : None, int or numpy.random.Generator

        Returns
        -------
        array of 0 and 1 (uint8), shape (n, bits)

        Raises
        ------
        ValueError
            As `bloom`.
        """
        return flip(self.bloom(values, cohorts) == 1, 1 - self.f / 2, self.f / 2, rng)

    def report(self, permanent: ArrayLike, *, rng: Rng = None) -> Array:
        """One report from each permanent filter, with fresh coins.

        Parameters
        ----------
        permanent : array of 0 and 1, shape (..., bits)
        rng : None, int or numpy.random.Generator

        Returns
        -------
        array of 0 and 1 (uint8), of the shape of `permanent`

        Raises
        ------
        ValueError
            If the last axis is not of length bits.
        """
        permanent = numbers("permanent", permanent)
        if permanent.shape[-1:] != (self.bits,):
            raise ValueError(f"permanent must have a last axis of length bits={self.bits}, got shape {permanent.shape}")
        return flip(permanent == 1, self.q, self.p, rng)

    def decode(self, reports: ArrayLike, cohorts: ArrayLike, candidates: Iterable) -> tuple[Array, Array]:
        """Relative frequency of each candidate among the people behind the reports, one of each person, with its error.

        Each bit, less its noise, is an unbiased count of the people who have it set; least squares explains these
        counts by the candidates' filters and a constant, which stands for everybody else. Unbiased if all others'
        filters were drawn by chance (a frequent value that is not listed lends weight to the candidates it collides
        with), hence neither forced into [0, 1] nor summing to 1. Looks at the reports only: costs nothing.

        Parameters
        ----------
        reports : array of 0 and 1, shape (n, bits)
        cohorts : array of int, shape (n,)
        candidates : sequence of str or int
            Public: the values to look for, each once.

        Returns
        -------
        frequencies, stderr : float arrays, shape (number of candidates,)
            The standard errors are for many people, and count coins, cohorts and the drawing of the people.

        Raises
        ------
        ValueError
            If shapes do not fit, a report is not 0 or 1, or the candidates cannot be told apart in these cohorts.
        """
        reports = bits("reports", reports)
        if reports.shape[1] != self.bits:
            raise ValueError(f"reports must have bits={self.bits} columns, got shape {reports.shape}")
        cohorts, candidates = self._cohorts(cohorts, len(reports)), listed("candidates", candidates)
        # chance of a one where the filter has a zero
        zero = (1 - self.f / 2) * self.p + self.f / 2 * self.q
        # of each cohort: design matrix, everybody's unbiased bits
        groups = []
        for cohort in np.unique(cohorts):
            filters = self.bloom(candidates, np.full(len(candidates), cohort))
            design = np.column_stack([filters.T, np.ones(self.bits)])
            groups.append((design, (reports[cohorts == cohort] - zero) / ((1 - self.f) * (self.q - self.p))))
        gram = sum(len(people) * design.T @ design for design, people in groups)
        if len(candidates) == 0 or np.linalg.matrix_rank(gram, hermitian=True) < len(gram):
            raise ValueError(
                f"candidates must be at least one and differ in their filters, got {len(candidates)} for "
                f"{len(groups)} cohorts"
            )
        inverse = np.linalg.inv(gram)
        fit = inverse @ sum(design.T @ people.sum(axis=0) for design, people in groups)
        variance = sum((((people - design @ fit) @ design @ inverse) ** 2).sum(axis=0) for design, people in groups)
        return fit[:-1], np.sqrt(variance[:-1])

    def _bit(self, index, cohort, name):
        """The bit that hash function `index` of the cohort gives to a value."""
        key = f"{self.seed} {cohort} {index} {name}".encode(errors="surrogatepass")
        return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) % self.bits

    def _cohorts(self, cohorts: ArrayLike, n: int) -> Array:
        if n == 0 and np.size(cohorts) == 0:     # numpy takes an empty list for fractions
            return np.empty(0, dtype=np.int64)
        cohorts = whole_array("cohorts", cohorts, ndim=1, low=0, high=self.cohorts - 1)
        if len(cohorts) != n:
            raise ValueError(f"cohorts must be {n} whole numbers, one for each person, got {len(cohorts)}")
        return cohorts


def _log_ratio(f, x):
    """What one bit of the filter gives away after reports that are x times as likely from the wrong permanent bit as
    from the right.
    """
    wrong = f / 2 + (1 - f / 2) * x
    return math.log((1 - f / 2 + f / 2 * x) / wrong) if wrong > 0 else math.inf
