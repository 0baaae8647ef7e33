"""The delta of Gaussian noise in log space, where the plain difference of two normal tails overflows or cancels."""
import math
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr

from dplib._types import Array

NOTHING = -1e6                                   # the log of a delta far below every double


def log_delta(sigma: float, epsilon: float) -> float:
    """Log of delta(epsilon) for N(0, sigma^2) v N(1, sigma^2), never below the truth; `NOTHING` for all that is less.
    """
    tail, share = tails(0.5 / sigma, epsilon * sigma)
    return max(NOTHING, float(tail) + math.log(share)) if tail > NOTHING else NOTHING


def tails(half: Any, shift: Any) -> tuple[Array, Array]:
    """delta(epsilon) = Phi(half - shift) - e^epsilon Phi(-half - shift) as the log of the first term and the share left
    of it, both rounded up.

    With noise of standard deviation sigma, `half` is 1/(2 sigma) and `shift` is epsilon sigma. In terms of Mills' ratio
    R = (1 - Phi)/phi the share is 1 - R(shift + half)/R(shift - half): nothing large cancels. It has ten digits or more
    where delta is a double.
    """
    half, shift = np.asarray(half, dtype=float), np.asarray(shift, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):   # an infinite shift: the first term is 0, and there is no share
        first = log_ndtr(half * (1 + 2.3e-16) - shift * (1 - 2.3e-16)) * (1 - 4e-15)
        near = _mills(np.maximum(shift - half, -8.0))    # further on the share is 1
        share, narrow = 1 - _mills(shift + half) / near * (1 - 4e-15), half < 1e-3
        if narrow.any():
            share = np.where(narrow, _narrow(half, shift) / near, share)
    return first, np.minimum(share, 1.0)


def _mills(x):
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


def _narrow(half, shift):
    """R(shift - half) - R(shift + half) by the series about `shift`, for a small `half`.

    -R' = 1 - x R, which is at most 1/(1 + x^2), and -R''' = (2 + x^2)(-R') - x R, at most min(2, 6/x^2) of it.
    """
    ratio, square = _mills(shift), np.square(shift)
    slope = np.minimum(1 - shift * ratio + 4e-15, 1 / (1 + square))
    third = np.clip((2 + square) * slope - shift * ratio, 0.0, slope * np.minimum(2, 6 / np.maximum(square, 1e-300)))
    return 2 * half * (slope + half**2 / 6 * third) * (1 + half**4 + 4e-15)
