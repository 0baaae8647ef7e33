"""Is this sample from that law? For learners' mechanisms whose outputs are few and whose law is known exactly."""
import numpy as np
from scipy.special import chdtrc, xlogy

from dplib.teaching.check._report import Wrong

__all__ = ["compare"]

LEVEL = 1e-6                                     # how often a right answer is refused


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
        How often a right answer is refused, in the limit of many runs.
    """
    counts = np.asarray(counts)
    if _p_value(counts, law) >= level:
        return
    if rivals:
        message, rival = max(rivals.items(), key=lambda item: _log_likelihood(counts, item[1]))
        if _p_value(counts, rival) >= LEVEL:
            raise Wrong(message)
    share = counts / counts.sum()
    worst = int(np.argmax(np.abs(share - law)))
    raise Wrong(f"{name(worst)} comes out in {share[worst]:.1%} of {counts.sum():,} runs, but should in {law[worst]:.1%}")


def _log_likelihood(counts, law):
    return xlogy(counts, np.maximum(law, 1e-12)).sum()


def _p_value(counts, law):
    """Pearson's chi-square, with outcomes of fewer than five expected runs pooled."""
    expected = np.asarray(law) * counts.sum()
    rare = expected < 5
    counts, expected = (np.append(v[~rare], v[rare].sum()) for v in (counts, expected))
    if expected[-1] < 1e-9:                      # nothing pooled, or nothing possible there
        if counts[-1]:
            return 0.0
        counts, expected = counts[:-1], expected[:-1]
    if len(counts) < 2:
        return 1.0
    return float(chdtrc(len(counts) - 1, ((counts - expected) ** 2 / np.maximum(expected, 0.5)).sum()))
