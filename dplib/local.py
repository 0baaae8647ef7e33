"""Local privacy: everyone adds their own noise, and nobody has to be trusted with the truth."""
import hashlib
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dplib._validate import choice, finite, positive, probability, whole

__all__ = ["Rappor", "estimate", "estimate_unary", "randomized_response", "unary"]


def randomized_response(values, *, epsilon, k=2, rng=None):
    """Each person reports the own value with probability e^epsilon/(e^epsilon + k - 1), else one of the others, evenly.

    Privacy
    -------
    measure : epsilon-DP for each report, against whoever collects it (local model)
    adjacency : replace: one person's value for another
    guarantee : exact: the likelihood ratio of a report is e^epsilon or e^-epsilon or 1

    Parameters
    ----------
    values : array of int
        The true values, 0 to k - 1; one beyond is moved to the nearest of the two ends.
    epsilon : float
        Privacy loss of one report, positive.
    k : int
        Number of possible values, at least 2.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int array of the shape of `values`

    Raises
    ------
    ValueError
        If `values` is not of an integer type, `epsilon` is not positive or k is not a whole number >= 2.

    References
    ----------
    Warner (1965) for k = 2; Kairouz, Oh and Viswanath (2016) for larger k.

    Examples
    --------
    >>> randomized_response([0, 0, 1, 1], epsilon=50.0, rng=0).tolist()
    [0, 0, 1, 1]
    """
    values, k, rng = np.asarray(values), whole("k", k, least=2), np.random.default_rng(rng)
    if not (np.issubdtype(values.dtype, np.integer) or values.dtype == bool):
        raise ValueError(f"values must hold integers, got dtype {values.dtype}")
    values = np.clip(values, np.int64(0), np.int64(k - 1)).astype(np.int64)       # clipped first, or a large uint64 would wrap
    lies = rng.random(values.shape) < _lying(positive("epsilon", epsilon), k)
    return np.where(lies, (values + rng.integers(1, k, values.shape)) % k, values)


def estimate(reports, *, epsilon, k=2):
    """Relative frequency of each value among the people behind the reports of `randomized_response`, with its error.

    Unbiased, hence not forced into [0, 1].

    Privacy
    -------
    measure : none to pay: it looks at the reports only (post-processing)
    adjacency : that of the reports
    guarantee : that of the reports

    Parameters
    ----------
    reports : array of int
        Each 0 to k - 1; at least one.
    epsilon, k
        As given to `randomized_response`.

    Returns
    -------
    frequencies, stderr : float arrays, shape (k,)
        The estimates and their standard errors, the people being fixed and only their coins random.

    Raises
    ------
    ValueError
        If there is no report, a report is not a whole number in 0..k-1 or a parameter is out of range.

    References
    ----------
    Warner (1965); Wang, Blocki, Li and Jha (2017), section 4, for k > 2.

    Examples
    --------
    >>> frequencies, stderr = estimate([1] * 600 + [0] * 400, epsilon=1.0)
    >>> frequencies.round(3).tolist(), stderr.round(3).tolist()
    ([0.284, 0.716], [0.03, 0.03])
    """
    reports, k = np.asarray(reports), whole("k", k, least=2)
    lie = _lying(positive("epsilon", epsilon), k) / (k - 1)
    if not (np.issubdtype(reports.dtype, np.integer) or reports.dtype == bool) or reports.size == 0:
        raise ValueError(f"reports must be a non-empty array of integers, got dtype {reports.dtype} and shape {reports.shape}")
    if reports.min() < 0 or reports.max() >= k:
        raise ValueError(f"reports must lie in 0..{k - 1}, got {reports.min()}..{reports.max()}")
    truth, gap = 1 - (k - 1) * lie, lie * math.expm1(min(epsilon, 700.0))       # gap is truth - lie, which cancels for small epsilon
    frequencies = (np.bincount(reports.ravel().astype(np.int64), minlength=k) / reports.size - lie) / gap
    inside = np.clip(frequencies, 0, 1)
    variance = (inside * truth * (1 - truth) + (1 - inside) * lie * (1 - lie)) / reports.size
    return frequencies, np.sqrt(variance) / gap


def unary(values, *, epsilon, k, method="optimized", rng=None):
    """Each person writes the own value as k bits, a single one among zeros, and reports every bit through a coin of its own.

    "optimized" keeps the one with probability 1/2 and turns a zero into a one with probability 1/(e^epsilon + 1).
    "symmetric" keeps every bit with probability e^(epsilon/2)/(e^(epsilon/2) + 1); this is basic RAPPOR asked once.
    The error of "optimized" does not grow with k: for the frequency of a rare value it is below that of
    `randomized_response` as soon as k > 3 e^epsilon + 2.

    Privacy
    -------
    measure : epsilon-DP for each report, against whoever collects it (local model)
    adjacency : replace: one person's value for another, which changes two of the bits
    guarantee : exact: the two bits together have likelihood ratios between e^-epsilon and e^epsilon, and reach both

    Parameters
    ----------
    values : array of int
        The true values, 0 to k - 1; one beyond is moved to the nearest of the two ends.
    epsilon : float
        Privacy loss of one report, positive.
    k : int
        Number of possible values, at least 2.
    method : {"optimized", "symmetric"}
    rng : None, int or numpy.random.Generator

    Returns
    -------
    array of 0 and 1 (uint8), of the shape of `values` and one more axis of length k

    Raises
    ------
    ValueError
        If `values` is not of an integer type, `method` is unknown, `epsilon` is not positive or k is not a whole number >= 2.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), section 4 (optimized); Erlingsson, Pihur and Korolova (2014) (symmetric).

    Examples
    --------
    >>> unary([0, 2], epsilon=50.0, k=3, method="symmetric", rng=0).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    values, k = np.asarray(values), whole("k", k, least=2)
    if not (np.issubdtype(values.dtype, np.integer) or values.dtype == bool):
        raise ValueError(f"values must hold integers, got dtype {values.dtype}")
    truth, lie, _ = _unary_rates(epsilon, method)
    moved = np.searchsorted(np.arange(1, k), values, side="right")               # how many of 1, ..., k - 1 the value reaches
    return _flip(moved[..., None] == np.arange(k), truth, lie, rng)


def estimate_unary(reports, *, epsilon, method="optimized"):
    """Relative frequency of each value among the people behind the reports of `unary`, with its error.

    Unbiased, hence not forced into [0, 1]; unlike those of `estimate` the frequencies need not sum to 1.

    Privacy
    -------
    measure : none to pay: it looks at the reports only (post-processing)
    adjacency : that of the reports
    guarantee : that of the reports

    Parameters
    ----------
    reports : array of 0 and 1, shape (n, k)
        One row for each person; at least one.
    epsilon, method
        As given to `unary`.

    Returns
    -------
    frequencies, stderr : float arrays, shape (k,)
        The estimates and their standard errors, the people being fixed and only their coins random.

    Raises
    ------
    ValueError
        If `reports` is not a table of 0 and 1 with at least one row and two columns or a parameter is out of range.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), section 4: the variance of a rare value is 4 e^epsilon/(n (e^epsilon - 1)^2) for "optimized".

    Examples
    --------
    >>> frequencies, stderr = estimate_unary([[1, 0]] * 300 + [[0, 1]] * 200 + [[0, 0]] * 500, epsilon=2.0)
    >>> frequencies.round(3).tolist(), stderr.round(3).tolist()
    ([0.475, 0.212], [0.035, 0.031])
    """
    reports = _bits("reports", reports)
    if reports.shape[1] < 2:
        raise ValueError(f"reports must have at least two columns, got shape {reports.shape}")
    truth, lie, gap = _unary_rates(epsilon, method)
    frequencies = (reports.mean(axis=0) - lie) / gap
    inside = np.clip(frequencies, 0, 1)
    return frequencies, np.sqrt((inside * (truth * (1 - truth) - lie * (1 - lie)) + lie * (1 - lie)) / len(reports)) / gap


@dataclass(frozen=True, kw_only=True)
class Rappor:
    """RAPPOR: reports about strings that nobody listed in advance, again and again from the same people.

    A value sets `hashes` bits of a Bloom filter; people belong to cohorts with different hash functions, so that two
    values that collide in one cohort are told apart in the others. `permanent` puts noise on the filter, once and for
    ever; `report` puts fresh noise on that for each report, so that reports cannot be linked too easily; `decode` looks
    for given candidates in the reports of all.

    Privacy
    -------
    measure : epsilon-DP of a person's reports, against whoever collects them (local model)
    adjacency : replace: one person's value for another, the cohort being public and drawn without looking at the value
    guarantee : `epsilon_one` for one report, `epsilon(n)` for n reports of one value, `epsilon_permanent` for any number;
        exact for two values with 2 * hashes different bits, smaller when bits coincide. All this is for one value kept
        for ever, with one permanent filter. n reports from n filters, one for each report, cost n * epsilon_one. m
        different values cost up to m * epsilon_permanent between people whose values change, and come back, at the same
        times; the times themselves are not protected

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
    def epsilon_one(self):
        """Loss of a single report: hashes * ln(q* (1 - p*) / (p* (1 - q*))), q* and p* being the chances of a one from end to end."""
        return self.epsilon(1)

    @property
    def epsilon_permanent(self):
        """Loss of the permanent filter, hence of any number of reports: 2 * hashes * ln((1 - f/2) / (f/2))."""
        return 2 * self.hashes * _log_ratio(self.f, 0.0)

    def epsilon(self, reports):
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

    def bloom(self, values, cohorts):
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
        if isinstance(values, (str, bytes)) or not np.iterable(values):
            raise ValueError(f"values must be a sequence, one for each person, got a {type(values).__name__}")
        names, found = [str(value) for value in values], {}
        cohorts = self._cohorts(cohorts, len(names))
        rows = [found.setdefault(pair, len(found)) for pair in zip(cohorts.tolist(), names)]
        filters = np.zeros((len(found), self.bits), dtype=np.uint8)
        for row, pair in enumerate(found):
            filters[row, [self._bit(index, *pair) for index in range(self.hashes)]] = 1
        return filters[np.array(rows, dtype=int)]

    def permanent(self, values, cohorts, *, rng=None):
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
        return _flip(self.bloom(values, cohorts) == 1, 1 - self.f / 2, self.f / 2, rng)

    def report(self, permanent, *, rng=None):
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
        permanent = np.asarray(permanent)
        if permanent.shape[-1:] != (self.bits,):
            raise ValueError(f"permanent must have a last axis of length bits={self.bits}, got shape {permanent.shape}")
        return _flip(permanent == 1, self.q, self.p, rng)

    def decode(self, reports, cohorts, candidates):
        """Relative frequency of each candidate among the people behind the reports, one of each person, with its error.

        Each bit, less its noise, is an unbiased count of the people who have it set; least squares explains these counts
        by the candidates' filters and a constant, which stands for everybody else. Unbiased if all others' filters were
        drawn by chance (a frequent value that is not listed lends weight to the candidates it collides with), hence
        neither forced into [0, 1] nor summing to 1. Looks at the reports only: costs nothing.

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
        reports = _bits("reports", reports)
        if reports.shape[1] != self.bits:
            raise ValueError(f"reports must have bits={self.bits} columns, got shape {reports.shape}")
        cohorts, candidates = self._cohorts(cohorts, len(reports)), list(candidates)
        zero = (1 - self.f / 2) * self.p + self.f / 2 * self.q                   # chance of a one where the filter has a zero
        groups = []                                                              # of each cohort: design matrix, everybody's unbiased bits
        for cohort in np.unique(cohorts):
            filters = self.bloom(candidates, np.full(len(candidates), cohort))
            design = np.column_stack([filters.T, np.ones(self.bits)])
            groups.append((design, (reports[cohorts == cohort] - zero) / ((1 - self.f) * (self.q - self.p))))
        gram = sum(len(people) * design.T @ design for design, people in groups)
        if len(candidates) == 0 or np.linalg.matrix_rank(gram, hermitian=True) < len(gram):
            raise ValueError(f"candidates must be at least one and differ in their filters, got {len(candidates)} for {len(groups)} cohorts")
        inverse = np.linalg.inv(gram)
        fit = inverse @ sum(design.T @ people.sum(axis=0) for design, people in groups)
        variance = sum((((people - design @ fit) @ design @ inverse) ** 2).sum(axis=0) for design, people in groups)
        return fit[:-1], np.sqrt(variance[:-1])

    def _bit(self, index, cohort, name):
        """The bit that hash function `index` of the cohort gives to a value."""
        key = f"{self.seed} {cohort} {index} {name}".encode(errors="surrogatepass")
        return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) % self.bits

    def _cohorts(self, cohorts, n):
        cohorts = np.asarray(cohorts)
        if cohorts.shape != (n,) or (n and not np.issubdtype(cohorts.dtype, np.integer)):
            raise ValueError(f"cohorts must be {n} whole numbers, one for each person, got dtype {cohorts.dtype} and shape {cohorts.shape}")
        if n and not 0 <= cohorts.min() <= cohorts.max() < self.cohorts:
            raise ValueError(f"cohorts must lie in 0..{self.cohorts - 1}, got {cohorts.min()}..{cohorts.max()}")
        return cohorts


def _flip(ones, truth, lie, rng):
    """Reports of bits: a one with probability `truth` where the bit is set and `lie` where it is not."""
    return (np.random.default_rng(rng).random(ones.shape) < np.where(ones, truth, lie)).astype(np.uint8)


def _unary_rates(epsilon, method):
    """Chance that a one is reported as a one, that a zero is, and the difference, which would cancel for small epsilon."""
    epsilon = positive("epsilon", epsilon)
    if choice("method", method, ("optimized", "symmetric")) == "optimized":
        return 0.5, float(expit(-epsilon)), math.tanh(epsilon / 2) / 2
    return float(expit(epsilon / 2)), float(expit(-epsilon / 2)), math.tanh(epsilon / 4)


def _bits(name, table):
    """A table of 0 and 1 with at least one row, as an array."""
    table = np.asarray(table)
    if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise ValueError(f"{name} must be a table of 0 and 1 with at least one row, got dtype {table.dtype} and shape {table.shape}")
    return table


def _log_ratio(f, x):
    """What one bit of the filter gives away after reports that are x times as likely from the wrong permanent bit as from the right."""
    wrong = f / 2 + (1 - f / 2) * x
    return math.log((1 - f / 2 + f / 2 * x) / wrong) if wrong > 0 else math.inf


def _lying(epsilon, k):
    """Probability that a report is not the truth."""
    return (k - 1) / (math.exp(min(epsilon, 700.0)) + k - 1)
