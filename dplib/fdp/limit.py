"""The central limit theorem for products of trade-off functions, with its error bound."""
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dplib._types import ArrayLike, Same
from dplib._validate import array, shown
from dplib.fdp.product import dominating_law
from dplib.fdp.tradeoff import TradeOff, approx, counted, gaussian  # noqa: F401  (approx for the examples)

__all__ = ["CentralLimit", "Moments", "clt", "moments"]


class Moments(NamedTuple):
    """Moments of the loss under P: the mean of -loss, of loss^2, of abs(loss)^3 and of abs(loss + kl)^3."""

    kl: float
    kappa2: float
    kappa3: float
    kappa3_bar: float


def moments(f: TradeOff) -> Moments:
    """The four functionals of f in the central limit theorem for f-DP; inf where f has a flat part (an infinite loss).

    Privacy
    -------
    measure : none by itself; kl is the Kullback-Leibler divergence of P from Q
    adjacency : the one of f
    guarantee : numerical, not a bound: of relative error about 1e-7 for gaussian(1) and smaller for laplace(1), but
        1e-5 for a lopsided `finite` and 1e-4 for gaussian(1000); mostly above the truth, not always

    Parameters
    ----------
    f : TradeOff

    Returns
    -------
    Moments

    Raises
    ------
    ValueError
        If `f` is not a TradeOff.

    References
    ----------
    Dong, Roth and Su (2022), section 3 (Theorem 3.4 of the preprint).

    Examples
    --------
    >>> m = moments(gaussian(1.0))
    >>> round(m.kl, 4), round(m.kappa2, 4)
    (0.5, 1.25)
    """
    if not isinstance(f, TradeOff):
        raise ValueError(f"f must be a TradeOff, got {shown(f)}")
    if f.back.infinite > 0:
        return Moments(*[math.inf] * 4)
    step = f.step or (max(f.ahead.reach, f.back.reach) / 2**14 or 1.0)
    # the other way round: masses under P, losses of the other sign
    loss, mass, *_ = dominating_law(f.back, f.ahead, step)
    kl = float((mass * loss).sum())
    return Moments(
        kl, *(float((mass * np.abs(loss - centre) ** power).sum()) for power, centre in ((2, 0), (3, 0), (3, kl)))
    )


@dataclass(frozen=True)
class CentralLimit:
    """G_mu as the limit of a product, with the Berry-Esseen band: lower <= product <= upper on [gamma, 1 - gamma]."""

    mu: float
    gamma: float

    def lower(self, alpha: ArrayLike) -> Same:
        """G_mu(alpha + gamma) - gamma; nan outside [gamma, 1 - gamma]."""
        return self._band(alpha, self.gamma)

    def upper(self, alpha: ArrayLike) -> Same:
        """G_mu(alpha - gamma) + gamma; nan outside [gamma, 1 - gamma]."""
        return self._band(alpha, -self.gamma)

    def _band(self, alpha, shift):
        alpha = array("alpha", alpha, low=0, high=1)
        inside = (alpha >= self.gamma) & (alpha <= 1 - self.gamma)
        value = gaussian(self.mu)(np.clip(alpha + shift, 0, 1)) - shift
        return np.where(inside, np.clip(value, 0, 1), np.nan)[()]


def clt(parts: Iterable[tuple[TradeOff, int]]) -> CentralLimit:
    """The central limit theorem for a product of symmetric trade-off functions [(f, n), ...], with its error bound.

    mu = 2 K / s with K the sum of kl and s^2 the sum of kappa2 - kl^2; gamma = 0.56 (sum of kappa3_bar) / s^3. G_mu
    alone is an approximation and can promise too much; `lower` is a bound.

    Privacy
    -------
    measure : f-DP
    adjacency : the one shared by the parts
    guarantee : the product lies between `lower` and `upper` for alpha in [gamma, 1 - gamma], up to the numerical error
        of `moments`; G_mu itself is no bound

    Parameters
    ----------
    parts : list of (TradeOff, int)

    Returns
    -------
    CentralLimit
        With mu, gamma, lower(alpha), upper(alpha).

    Raises
    ------
    ValueError
        If `parts` is not such a list, a part is not symmetric or has infinite moments, or all are perfectly private.

    References
    ----------
    Dong, Roth and Su (2022), section 3 (Theorem 3.4 of the preprint).

    Examples
    --------
    >>> limit = clt([(approx(1000**-0.5), 1000)])
    >>> round(float(limit.lower(0.05)), 3), round(float(limit.upper(0.05)), 3)
    (0.671, 0.82)
    """
    kl = variance = third = 0.0
    for f, n in counted(parts):
        grid = np.linspace(0, max(f.ahead.reach, f.back.reach), 257)
        if not f.symmetric and np.abs(f.ahead.delta(grid) - f.back.delta(grid)).max() > 1e-9:
            raise ValueError(f"parts must be symmetric, got {f!r}: the theorem does not hold for it")
        m = moments(f)
        if m.kappa3 == math.inf:
            raise ValueError(f"parts must have finite moments, got {f!r}: its curve has a flat part")
        kl, variance, third = kl + n * m.kl, variance + n * (m.kappa2 - m.kl**2), third + n * m.kappa3_bar
    if not variance > 0:
        raise ValueError("parts must not all be perfectly private")
    return CentralLimit(2 * kl / math.sqrt(variance), 0.56 * third / variance**1.5)
