"""Is this sample from that law? For learners' mechanisms whose outputs are few and whose law is known exactly."""

import math

import numpy as np
from scipy.special import rel_entr, xlogy

from provable_privacy.speech import Wrong

__all__ = ["compare", "p_value"]

LEVEL = 1e-6  # how often a right answer is refused
FITS = 1e-3  # how often a mistake is not named


def compare(counts, law, rivals, name, level=LEVEL):
    """Return quietly if `counts` may come from `law`; otherwise raise `Wrong` with the message of the likeliest rival.

    Parameters
    ----------
    counts : int array, shape (k,)
        How often each outcome happened.
    law : array, shape (k,)
        The right probabilities.
    rivals : dict
        Message -> the probabilities under one typical mistake.
    name : callable
        Outcome number -> what to call it, for the message when no rival fits either.
    level : float
        How often a right answer is refused, at most.
    """
    counts = np.asarray(counts)
    if p_value(counts, law) >= level:
        return
    if rivals:
        message, rival = max(rivals.items(), key=lambda item: _log_likelihood(counts, item[1]))
        if p_value(counts, rival) >= FITS:
            raise Wrong(message)
    share = counts / counts.sum()
    worst = int(np.argmax(np.abs(share - law)))
    raise Wrong(
        f"{name(worst)} comes out in {share[worst]:.1%} of {counts.sum():,} runs, but should in {law[worst]:.1%}"
    )


def _log_likelihood(counts, law):
    return xlogy(counts, np.maximum(law, 1e-12)).sum()


def p_value(counts, law):
    """Bound on the chance that counts from `law` are as unlike it, in relative entropy, as these.

    Outcomes of fewer than five expected runs are pooled. With n runs and k outcomes, n times the relative entropy is at
    least t with probability at most e^-t (et/(k - 1))^(k - 1) for t > k - 1 (Agrawal, IEEE Transactions on Information
    Theory 66, 2020). This holds for any n. Pearson's chi-square with few expected runs may be wrong a thousandfold at
    1e-9.
    """
    law = np.asarray(law, dtype=float)
    rare = law * counts.sum() < 5
    counts, law = (np.append(v[~rare], v[rare].sum()) for v in (counts, law))
    expected, others = law * counts.sum(), np.count_nonzero(law > 1e-12) - 1
    if counts[expected < 1e-9].any():  # what never happens has happened
        return 0.0
    t = float(rel_entr(counts, expected).sum() + expected.sum() - counts.sum())
    return min(1.0, math.exp(-t + others * (1 + math.log(t / others)))) if t > others > 0 else 1.0
