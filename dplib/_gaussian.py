"""The delta of Gaussian noise in log space, where the plain difference of two normal tails overflows or cancels."""
import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from dplib._types import Array


def log_delta(sigma: float, epsilon: float) -> float:
    """Log of delta(epsilon) for N(0, sigma^2) v N(1, sigma^2), never below the truth."""
    tail, share = tails(0.5 / sigma, epsilon * sigma, epsilon)
    return float(tail) + math.log(share) if tail > -math.inf else -math.inf     # the first: below every double


def tails(half: Any, shift: Any, epsilon: Any) -> tuple[Array, Array]:
    """delta(epsilon) = Phi(half - shift) - e^epsilon Phi(-half - shift) as the log of the first term and the share left
    of it.

    With noise of standard deviation sigma, `half` is 1/(2 sigma) and `shift` is epsilon sigma. The share is rounded up,
    which makes it an upper bound where the two terms nearly cancel.
    """
    first = log_ndtr(half - shift)
    with np.errstate(invalid="ignore"):          # both terms may be 0
        gap = np.minimum(0.0, epsilon + log_ndtr(-half - shift) - first)
    return first, 1e-15 * (1 + epsilon - 2 * first) * np.exp(gap) - np.expm1(gap)
