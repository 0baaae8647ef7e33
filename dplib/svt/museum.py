"""A museum of sparse vectors: published variants, right and wrong, with the exact loss of what they do."""
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dplib._types import Array, ArrayLike, Rng
from dplib._validate import array, choice, finite, flag, generator, numbers, positive, whole
from dplib.svt.law import as_replies, log_probability
from dplib.svt.mechanism import Scales

__all__ = ["VARIANTS", "Variant", "exact_loss", "run_variant", "worst_loss"]


_LEAST = 1e-100                                  # of epsilon: its scales, times c, stay doubles


def _never(epsilon, c):
    return math.inf


def _claimed(epsilon, c):
    return epsilon


@dataclass(frozen=True)
class Variant:
    """One variant of the sparse vector technique, for answers of sensitivity 1, with what it claims and what it keeps.

    Attributes
    ----------
    source : str
        Where it stands.
    threshold, query : callable
        (epsilon, c) -> Laplace scale on the threshold and on the answers; 0 for no noise.
    guarantee : callable
        (epsilon, c) -> the pure epsilon that it really has over lists of any length; inf if none, though a variant that
        stops then still has an (epsilon, delta).
    claim : callable
        (epsilon, c) -> the total that its source claims.
    stops : bool
        Whether it stops at its c-th positive answer.
    redraws : bool
        Whether it draws a new threshold noise after each positive answer.
    releases : bool
        Whether it publishes the noisy answer that passed.
    flaw : str
        What is wrong with it, empty if nothing is.
    fix : str
        The change that makes it private.
    """

    source: str
    threshold: Callable
    query: Callable
    guarantee: Callable
    claim: Callable = field(default_factory=lambda: _claimed)
    stops: bool = True
    redraws: bool = False
    releases: bool = False
    flaw: str = ""
    fix: str = ""

    def noise(self, epsilon: float, c: int = 1) -> Scales:
        """The scales of a run as `Scales`."""
        return Scales(float(self.threshold(epsilon, c)), float(self.query(epsilon, c)), math.inf)


VARIANTS = {
    "alg1": Variant(
        "Lyu, Su and Li (2017), Algorithm 1",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 4 * c / e,
        guarantee=_claimed,
    ),
    "alg2": Variant(
        "Dwork and Roth (2014), Sparse",
        threshold=lambda e, c: 2 * c / e,
        query=lambda e, c: 4 * c / e,
        guarantee=_claimed,
        redraws=True,
    ),
    "alg3": Variant(
        "Roth's lecture notes (2011)",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 2 * c / e,
        guarantee=_never,
        releases=True,
        flaw=("publishes the noisy answer that passed, an upper limit for the noisy threshold; and its answers have "
              "half the noise they need"),
        fix="publish a fresh noisy answer, paid for by itself, and double the noise on the answers",
    ),
    "alg4": Variant(
        "Lee and Clifton (2014)",
        threshold=lambda e, c: 4 / e,
        query=lambda e, c: 4 / (3 * e),
        guarantee=lambda e, c: (1 + 6 * c) / 4 * e,
        flaw="the noise on the answers does not grow with c, and is too small even for c = 1",
        fix="noise 2c/epsilon2 on the answers",
    ),
    "alg5": Variant(
        "Stoddard, Chen and Machanavajjhala (2014)",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 0,
        guarantee=_never,
        stops=False,
        flaw="no noise on the answers: the order of two answers can be read off",
        fix="noise on the answers, and a stop",
    ),
    "alg6": Variant(
        "Chen, Xiao, Zhang and Xu (2015)",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 2 / e,
        guarantee=_never,
        stops=False,
        flaw="never stops: every positive answer costs, and nobody counts them",
        fix="stop at the c-th positive answer, noise 4c/epsilon on the answers",
    ),
    "no_stop": Variant(
        "a note on the web: the loop goes on",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 4 / e,
        guarantee=_never,
        stops=False,
        flaw="the noise is right for one positive answer, but it does not stop there",
        fix="stop",
    ),
    "reused_value": Variant(
        "the same note: the compared value may be published",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 4 * c / e,
        guarantee=_never,
        releases=True,
        flaw="publishes the noisy answer that passed",
        fix="publish a fresh noisy answer, paid for by itself",
    ),
    "noise_of_one": Variant(
        "the same note: c answers for c epsilon1 + epsilon2",
        threshold=lambda e, c: 2 / e,
        query=lambda e, c: 4 / e,
        guarantee=lambda e, c: (1 + c) / 2 * e,
        claim=lambda e, c: (c + 1) / 2 * e,
        flaw="gives c answers with the noise of one",
        fix="noise 2c/epsilon2 on the answers",
    ),
    "public_threshold": Variant(
        "the same note: the threshold's own sensitivity is zero",
        threshold=lambda e, c: 0,
        query=lambda e, c: 4 * c / e,
        guarantee=_never,
        flaw="no noise on the threshold: every negative answer is a release of its own",
        fix="noise 1/epsilon1 on the threshold",
    ),
}


def exact_loss(
    name: str, answers: ArrayLike, neighbours: ArrayLike, outcome: ArrayLike, *, threshold: float, epsilon: float,
    c: int = 1, values: ArrayLike | None = None,
) -> float:
    """Exact privacy loss of one outcome of a variant between two lists of answers.

    log P(outcome | answers) - log P(outcome | neighbours), by quadrature; for published values the log-ratio of
    densities.

    Privacy
    -------
    measure : the privacy loss of one outcome
    adjacency : the lists should differ by at most 1 in every answer
    guarantee : none: this describes the variant

    Parameters
    ----------
    name : str
        A key of `VARIANTS`.
    answers, neighbours : array, shape (k,)
        The exact answers in the two worlds, of sensitivity 1.
    outcome : sequence of 0/1
        The replies; where the variant stops, with at most c positive ones, and none after the c-th.
    threshold : float
        Public.
    epsilon : float
        What the variant is set to; its claim is `Variant.claim`, mostly the same.
    c : int
        Number of positive answers it promises.
    values : array, optional
        For a variant that publishes values: those of the positive replies.

    Returns
    -------
    float
        inf if only the first world can give the outcome, -inf if only the second can.

    Raises
    ------
    ValueError
        If the variant is unknown, the outcome impossible for it in both worlds, or a parameter is out of range.

    References
    ----------
    Lyu, Su and Li (2017), Figure 1 and section 3.

    Examples
    --------
    >>> exact_loss("alg5", [0, 1], [1, 0], [0, 1], threshold=0.0, epsilon=1.0)
    inf
    >>> round(exact_loss("alg1", [0] * 11, [1] * 10 + [-1], [0] * 10 + [1], threshold=-8.0, epsilon=1.0), 4)
    0.9996
    """
    variant, replies = _variant(name), as_replies(outcome)
    answers, neighbours = array("answers", answers, ndim=1), array("neighbours", neighbours, ndim=1)
    if len(answers) != len(neighbours):
        raise ValueError(f"answers and neighbours must be as many, got {len(answers)} and {len(neighbours)}")
    noise = variant.noise(positive("epsilon", epsilon, least=_LEAST), whole("c", c, least=1))
    if variant.stops and (replies.sum() > c or (replies.sum() == c and not replies[-1:].all())):
        raise ValueError(
            f"{name} stops at positive answer {c}: the outcome {replies.astype(int).tolist()} cannot happen"
        )
    if values is not None and not variant.releases:
        raise ValueError(f"{name} publishes no values")
    one, two = (
        _log_law(variant, replies, list_, finite("threshold", threshold), noise, values)
        for list_ in (answers, neighbours)
    )
    if one == two == -math.inf:
        raise ValueError(f"the outcome {replies.astype(int).tolist()} is impossible in both worlds")
    return one - two


def _variant(name):
    return VARIANTS[choice("name", name, tuple(VARIANTS))]


def _log_law(variant, outcome, answers, threshold, noise, values):
    if not variant.redraws:
        return log_probability(outcome, answers, threshold=threshold, noise=noise, values=values)
    # a fresh threshold after each positive reply
    ends = np.append(np.flatnonzero(outcome) + 1, outcome.size)
    starts = np.append(0, ends[:-1])
    return sum(
        log_probability(outcome[a:b], answers[a:b], threshold=threshold, noise=noise)
        for a, b in zip(starts, ends)
        if a < b
    )


def worst_loss(name: str, *, k: int, epsilon: float, c: int = 1) -> float:
    """Largest privacy loss of a variant that we can find on lists of k answers.

    A search over neighbours that strain the proof (every negative answer moves one way, every positive one the other,
    at the threshold and far from it), over the number of positive answers and over the threshold, in both directions;
    published values lie far below.

    Privacy
    -------
    measure : a lower bound on the epsilon of epsilon-DP
    adjacency : answers that differ by at most 1
    guarantee : every loss in the search is exact; for VARIANTS the search comes as near as you like to the guarantee as
        k grows

    Parameters
    ----------
    name : str
        A key of `VARIANTS`.
    k : int
        Length of the list, at least 1.
    epsilon : float
        What the variant is set to; its claim is `Variant.claim`, mostly the same.
    c : int
        Number of positive answers it promises.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the variant is unknown or a parameter is out of range.

    References
    ----------
    Lyu, Su and Li (2017), section 3, for the counterexamples.

    Examples
    --------
    >>> round(worst_loss("alg4", k=60, epsilon=1.0, c=2), 3)
    3.25
    """
    variant, epsilon = _variant(name), positive("epsilon", epsilon, least=_LEAST)
    k, c = whole("k", k, least=1), whole("c", c, least=1)
    worst = 0.0
    for positives in range(min(c, k) + 1) if variant.stops else (0, 1, k // 2, k):
        outcome = np.zeros(k)
        # spread evenly, the last reply positive
        outcome[np.arange(1, positives + 1) * k // max(positives, 1) - 1] = 1
        for base, moves in _strains(outcome, 50 / epsilon):
            for threshold in (-4 / epsilon, -1.0, 0.0, 0.5, 1.0, 4 / epsilon):
                values = np.full(positives, threshold - 50 / epsilon) if variant.releases else None
                try:
                    loss = exact_loss(
                        name, base, base + moves, outcome, threshold=threshold, epsilon=epsilon, c=c, values=values
                    )
                except ValueError:               # impossible in both worlds
                    continue
                worst = max(worst, abs(loss))    # the other direction has the same loss with the other sign
    return worst


def _strains(outcome, far):
    """Lists and moves that strain the proof: negative answers up and positive ones down, all up, only the negative ones
    up.
    """
    # with answers far on the wrong side of the threshold every tail is an exponential
    apart = np.where(outcome == 1, -1.0, 1.0)
    return [
        (0 * outcome, apart),
        (outcome, apart),
        (far * apart, apart),
        (0 * outcome, np.ones_like(outcome)),
        (0 * outcome, 1 - outcome),
    ]


def run_variant(
    name: str, answers: ArrayLike, *, threshold: float, epsilon: float, c: int = 1, size: int = 1, values: bool = False,
    rng: Rng = None,
) -> Array | tuple[Array, Array]:
    """Independent runs of a variant on one list of answers.

    Privacy
    -------
    measure : epsilon-DP with the epsilon that `VARIANTS[name].guarantee` gives, for each run
    adjacency : the one under which no single answer changes by more than 1
    guarantee : most are not what they claim: for experiments and audits only

    Parameters
    ----------
    name : str
        A key of `VARIANTS`.
    answers : array, shape (k,)
        Exact answers of sensitivity 1.
    threshold : float
        Public.
    epsilon : float
        What the variant is set to; its claim is `Variant.claim`, mostly the same.
    c : int
        Number of positive answers it promises.
    size : int
        Number of runs.
    values : bool
        Return the published values too.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    replies : int array, shape (size, k)
        1 for a positive reply, 0 for a negative one, -1 where the run had stopped.
    published : float array, shape (size, k), only with values=True
        The noisy answer where the variant published it, nan elsewhere.

    Raises
    ------
    ValueError
        If the variant is unknown or a parameter is out of range.

    References
    ----------
    Lyu, Su and Li (2017), Figure 1.

    Examples
    --------
    >>> run_variant("alg1", [-900, 900, 0], threshold=0.0, epsilon=1.0, rng=0).tolist()
    [[0, 1, -1]]
    """
    variant, threshold = _variant(name), finite("threshold", threshold)
    noise = variant.noise(positive("epsilon", epsilon, least=_LEAST), whole("c", c, least=1))
    answers, rng = numbers("answers", answers, ndim=1), generator(rng)
    shape = (whole("size", size, least=0), answers.size)
    noisy = answers + rng.laplace(scale=noise.query, size=shape)
    level = threshold + rng.laplace(scale=noise.threshold, size=(shape[0], 1))
    if variant.redraws:                          # answer by answer: each positive reply replaces its run's threshold
        passed, fresh = np.empty(shape, dtype=bool), threshold + rng.laplace(scale=noise.threshold, size=shape)
        for i in range(shape[1]):
            passed[:, i] = noisy[:, i] >= level[:, 0]
            level[passed[:, i], 0] = fresh[passed[:, i], i]
    else:
        passed = noisy >= level
    stopped = (np.cumsum(passed, axis=1) - passed >= c) if variant.stops else np.zeros(shape, dtype=bool)
    replies = np.where(stopped, -1, passed)
    if not flag("values", values):
        return replies
    return replies, np.where((replies == 1) & variant.releases, noisy, np.nan)
