"""f-DP: privacy as a test that cannot be done well, and the exact arithmetic of such tests.

Somebody who sees the output and must tell one data set from its neighbour faces the laws P and Q of the output on the
two. The trade-off function f = T(P, Q) says how few of the Q's such a test can miss (type II error f(alpha)) when it
may wrongly reject P with probability alpha (type I error). The higher f, the more privacy; 1 - alpha is perfect.

A trade-off function is held here as its two privacy profiles, for epsilon >= 0,

    delta(epsilon) = sup over events S of Q(S) - e^epsilon P(S) = 1 + f*(-e^epsilon),   and the same with P and Q swapped.

Every number errs on the safe side: a delta or epsilon is never below the truth, a curve never above it, up to the last
digits of the closed forms. (The central limit theorem of `clt` is an approximation; only its band is a bound.)
"""
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, ndtr, ndtri

from dplib._validate import non_negative, probability, whole

__all__ = ["CentralLimit", "Moments", "TradeOff", "approx", "clt", "compose", "finite", "from_curve", "gaussian", "laplace", "moments", "worst"]


class _Side:
    """One privacy profile: `delta` on arrays of epsilon >= 0, never below the truth and close to it relatively, also where it is small.

    Beyond `reach` it is `infinite`, the mass of the infinite losses (or as near to it as makes no difference).
    """

    def __init__(self, delta, reach, infinite=0.0):
        self.delta, self.reach, self.infinite = delta, float(reach), float(infinite)

    @property
    def bounded(self):
        """Whether no finite loss is above `reach`."""
        return float(self.delta(self.reach)) <= self.infinite


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff:
    """A trade-off function f. Make one by `gaussian`, `laplace`, `approx`, `finite` or `from_curve`, then calculate with it.

    f(alpha) is the curve, f @ g the product (both outputs are seen), f ** n the n-fold product. The product theorem
    allows each mechanism to be chosen in view of the earlier outputs, but every f must be fixed in advance.

    Privacy
    -------
    measure : f-DP
    adjacency : the one under which f bounds the test between neighbours
    guarantee : exact from `gaussian`, `laplace`, `approx` and `finite`, a lower bound from `from_curve` and after numerical
        work (products, groups)

    References
    ----------
    Dong, Roth and Su (2022), sections 2 (trade-off functions) and 3 (products and composition).

    Examples
    --------
    >>> f = laplace(0.1) ** 100
    >>> round(f.epsilon(1e-5), 3), round(float(f(0.05)), 3)
    (4.22, 0.746)
    """

    ahead: _Side                                 # Q(S) - e^epsilon P(S): large losses ln(dQ/dP)
    back: _Side                                  # P(S) - e^epsilon Q(S)
    name: str
    curve: Callable | None = None                # closed form of f, where there is one
    step: float | None = None                    # where losses are whole multiples of a step
    mu: float | None = None                      # of a Gaussian
    parts: tuple = ()                            # of a product

    def __call__(self, alpha):
        """f(alpha) for alpha in [0, 1]: the highest of the supporting lines that the profiles give, never above f."""
        alpha = np.asarray(alpha, dtype=float)
        if not np.all((alpha >= 0) & (alpha <= 1)):
            raise ValueError(f"alpha must lie in [0, 1], got {alpha!r}")
        if self.curve is not None:
            return self.curve(alpha)[()]
        low, high = (np.full(alpha.shape, bound) for bound in (-min(self.back.reach, 700), min(self.ahead.reach, 700)))
        line = _minimum(lambda loss: self._height(loss) + np.exp(loss) * alpha, low, high)
        steepest = np.where(alpha == 0, self.ahead.infinite, 1)
        return np.clip(1 - np.minimum(line, steepest) - 1e-15 * (alpha > 0), 0, 1 - alpha)[()]

    def delta(self, epsilon):
        """Smallest delta for which f implies (epsilon, delta)-DP in this direction: sup over alpha of 1 - f(alpha) - e^epsilon alpha."""
        epsilon = np.asarray(epsilon, dtype=float)
        if not np.all(epsilon >= 0):
            raise ValueError(f"epsilon must be zero or more, got {epsilon!r}")
        known = np.where(np.isinf(epsilon), 0, epsilon)
        return np.where(np.isinf(epsilon), self.ahead.infinite, np.clip(self.ahead.delta(known) + 0.0, self.ahead.infinite, 1))[()]

    def epsilon(self, delta):
        """Smallest epsilon for which f implies (epsilon, delta)-DP in this direction; inf if there is none."""
        delta = probability("delta", delta)
        if self.delta(0.0) <= delta:
            return 0.0
        if delta < self.ahead.infinite or (delta == self.ahead.infinite and not self.ahead.bounded):
            return math.inf
        high = self.ahead.reach
        while self.delta(high) > delta:
            high *= 2
            if high > 1e7:
                return math.inf

        def excess(epsilon):
            return math.log(max(self.delta(epsilon), 1e-320)) - math.log(max(delta, 1e-320))

        root = brentq(excess, 0.0, high, xtol=1e-13 * high, rtol=1e-13)
        return float(min(high, root * (1 + 1e-12) + 1e-12 * min(1.0, high)))

    def inverse(self):
        """The same pair of laws the other way round, T(Q, P)."""
        other = replace(self, ahead=self.back, back=self.ahead, parts=tuple((f.inverse(), n) for f, n in self.parts))
        return self if self.symmetric else replace(other, name=f"{self.name}.inverse()", curve=None)

    @property
    def symmetric(self):
        """Whether f is known to be its own inverse."""
        return self.back is self.ahead or bool(self.parts) and all(f.symmetric for f, _ in self.parts)

    def symmetrize(self):
        """What holds in both directions: the convex hull of min(f, f inverse). Compose first, symmetrise last."""
        if self.symmetric:
            return self
        side = _worse([self.ahead, self.back])
        return TradeOff(side, side, f"{self.name}.symmetrize()", step=self.step)

    def subsample(self, p):
        """p f + (1 - p) Id: everybody takes part with probability p, independently. One direction only, not symmetrised.

        Compose f.subsample(p) and its inverse() separately, then take the worse of the two (Bu, Dong, Long and Su 2020; Dong, Roth
        and Su 2022, section 4, for samples of fixed size).
        """
        p = p if isinstance(p, (int, float)) and p == 1 else probability("p", p, zero=False)
        if p == 1:
            return self
        ahead, back = self.ahead, self.back

        def remove(epsilon):
            return p * ahead.delta(epsilon + np.log1p((p - 1) / p * np.expm1(-epsilon)))

        def add(epsilon):
            rest = np.maximum(1 + np.expm1(-epsilon) / p, 0.0)
            loss = -np.log(np.maximum(rest, 1e-300))
            return np.where(rest > 0, p * np.exp(np.minimum(epsilon, 700)) * rest * back.delta(loss), 0.0)

        far = ahead.reach + math.log1p((p - 1) / p * math.expm1(-ahead.reach)) if ahead.reach < 1 else np.logaddexp(math.log1p(-p), math.log(p) + ahead.reach)
        near = -math.log1p(p * math.expm1(-back.reach) if back.infinite == 0 else -p)
        sides = _Side(remove, far * (1 + 1e-13), p * ahead.infinite), _Side(add, near * (1 + 1e-13))
        return TradeOff(*sides, f"{self.name}.subsample({p:g})")

    def group(self, k):
        """What holds for groups of k: 1 - (1 - f) iterated k times (Dong, Roth and Su 2022, section 2).

        Its delta(epsilon) is the smallest delta(e1) + e^e1 delta(e2) + e^(e1+e2) delta(e3) + ... with e1 + e2 + ... = epsilon:
        every split is an upper bound, so is the best one found.
        """
        k = whole("k", k, least=1)
        if k == 1:
            return self
        if self.mu is not None:
            return gaussian(k * self.mu)
        ahead, back = _grouped(self, k), self.symmetric or _grouped(self.inverse(), k)

        def curve(alpha):
            for _ in range(k):
                alpha = 1 - self(alpha)
            return 1 - alpha

        return TradeOff(ahead, ahead if self.symmetric else back, f"{self.name}.group({k})", curve, self.step)

    def __matmul__(self, other):
        return compose([(self, 1), (other, 1)]) if isinstance(other, TradeOff) else NotImplemented

    def __pow__(self, n):
        return compose([(self, n)])

    def __repr__(self):
        return f"<TradeOff {self.name}>"

    def _height(self, loss):
        """The profile on the whole line: 1 - e^loss + e^loss back(-loss) where the loss is negative."""
        up, down = np.maximum(loss, 0.0), np.maximum(-loss, 0.0)
        return np.where(loss >= 0, self.ahead.delta(up), np.exp(-down) * self.back.delta(down) - np.expm1(-down))


def approx(epsilon, delta=0.0):
    """f of (epsilon, delta)-DP; with delta = 0 that of randomized response.

    Privacy
    -------
    measure : f-DP, equivalent to (epsilon, delta)-DP
    adjacency : the one under which (epsilon, delta)-DP holds
    guarantee : exact; the worst case over all (epsilon, delta)-DP mechanisms

    Parameters
    ----------
    epsilon : float
        Zero or more.
    delta : float
        In [0, 1).

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `epsilon` is negative or infinite, or `delta` not in [0, 1).

    References
    ----------
    Wasserman and Zhou (2010), Theorem 2.4; Dong, Roth and Su (2022), section 2.

    Examples
    --------
    >>> round(float(approx(1.0)(0.05)), 6)
    0.864086
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)

    def profile(loss):
        return delta - (1 - delta) * expit(epsilon) * np.expm1(np.minimum(loss - epsilon, 0.0))

    def curve(alpha):
        return np.maximum(0.0, np.maximum(1 - delta - np.exp(min(epsilon, 700)) * alpha, math.exp(-epsilon) * (1 - delta - alpha)))

    side = _Side(profile, epsilon, delta)
    return TradeOff(side, side, f"approx({epsilon:g}{f', {delta:g}' if delta else ''})", curve, epsilon or None)


def gaussian(mu):
    """G_mu = T(N(0, 1), N(mu, 1)): mu-GDP, as of Gaussian noise of standard deviation sensitivity/mu.

    Privacy
    -------
    measure : f-DP (mu-GDP)
    adjacency : the one under which the sensitivity holds
    guarantee : exact, rounded up in its last digits; products and groups of Gaussians stay Gaussian

    Parameters
    ----------
    mu : float
        Zero or more; 0 is perfect privacy.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `mu` is negative or infinite.

    References
    ----------
    Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(float(gaussian(1.0)(0.05)), 6), round(gaussian(1.0).epsilon(1e-5), 6)
    (0.740489, 4.377178)
    """
    mu = non_negative("mu", mu)
    if mu == 0:
        return replace(approx(0.0), name="gaussian(0)", mu=0.0)

    def profile(epsilon):                        # in log space, as in mechanisms.log_gaussian_delta
        z = np.minimum(epsilon / mu, 1e8)
        first = log_ndtr(mu / 2 - z)
        gap = np.minimum(0.0, epsilon + log_ndtr(-mu / 2 - z) - first)
        rounding = 1e-15 * (1 + epsilon - 2 * first) * np.exp(gap)
        return np.minimum(1.0, np.exp(first) * (rounding - np.expm1(gap)) * (1 + 1e-15 * (1 - first)))

    side = _Side(profile, mu * mu / 2 + 12 * mu)
    return TradeOff(side, side, f"gaussian({mu:g})", lambda alpha: ndtr(-ndtri(alpha) - mu), mu=mu)


def laplace(epsilon):
    """T(Lap(0, 1), Lap(epsilon, 1)): the Laplace mechanism for one number whose change attains the sensitivity.

    Privacy
    -------
    measure : f-DP, stronger than epsilon-DP
    adjacency : the one under which the sensitivity holds
    guarantee : exact for one number; for a vector use approx(epsilon), which holds for every epsilon-DP mechanism

    Parameters
    ----------
    epsilon : float
        Sensitivity over scale, zero or more.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `epsilon` is negative or infinite.

    References
    ----------
    Derived from the two densities by the lemma of Neyman and Pearson (1933).

    Examples
    --------
    >>> round(float(laplace(1.0)(0.25)), 6), round(float(laplace(1.0).delta(0.5)), 6)
    (0.367879, 0.221199)
    """
    epsilon = non_negative("epsilon", epsilon)

    def curve(alpha):
        left, least = alpha < math.exp(-epsilon) / 2, math.exp(-epsilon)
        with np.errstate(over="ignore"):
            middle = least / np.maximum(4 * alpha, 1e-300)
        return np.where(left, 1 - np.exp(min(epsilon, 700)) * alpha, np.where(alpha <= 0.5, middle, least * (1 - alpha)))

    side = _Side(lambda loss: -np.expm1(np.minimum(loss - epsilon, 0.0) / 2), epsilon)
    return TradeOff(side, side, f"laplace({epsilon:g})", curve)


def finite(p, q):
    """T(P, Q) of two laws on the same finitely many outcomes, by the lemma of Neyman and Pearson.

    Privacy
    -------
    measure : f-DP
    adjacency : the one of the two data sets
    guarantee : exact for this pair of data sets and this direction; a mechanism needs it for all pairs

    Parameters
    ----------
    p, q : array, shape (k,)
        Probability of each outcome on D and on D'.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `p` and `q` are not lists of probabilities of the same length, each summing to 1.

    References
    ----------
    Neyman and Pearson (1933).

    Examples
    --------
    >>> f = finite([0.75, 0.25], [0.25, 0.75])
    >>> round(f.epsilon(0.0), 4), round(float(f(0.25)), 4)
    (1.0986, 0.25)
    """
    laws = [np.asarray(law, dtype=float) for law in (p, q)]
    for name, law in zip("pq", laws):
        if law.ndim != 1 or not np.all(law >= 0) or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} must be a list of probabilities that sum to 1, got {law!r}")
    if laws[0].shape != laws[1].shape:
        raise ValueError(f"p and q must have the same length, got {laws[0].size} and {laws[1].size}")
    p, q = (law / law.sum() for law in laws)
    return TradeOff(_finite_side(p, q), _finite_side(q, p), f"finite({p.size} outcomes)")


def _finite_side(p, q):
    with np.errstate(divide="ignore"):
        losses = np.where(q > 0, np.log(np.maximum(q, 1e-323)) - np.log(p), -np.inf)
    order = np.argsort(losses)
    tails = [np.append(np.cumsum(law[order][::-1])[::-1], 0.0) for law in (p, q)]
    infinite, losses = q[p == 0].sum(), losses[order]

    def profile(epsilon):
        i = np.searchsorted(losses, epsilon, side="right")
        return np.maximum(infinite, tails[1][i] * (1 + 1e-15) - np.exp(np.minimum(epsilon, 700)) * tails[0][i])

    most = losses[np.isfinite(losses)].max(initial=0.0)
    return _Side(profile, most, infinite)


def worst(functions):
    """The best promise that all of several trade-off functions keep: the convex hull of their minimum.

    It is what one of several releases costs when each person takes part in one of them only.

    Privacy
    -------
    measure : f-DP
    adjacency : the one shared by the functions
    guarantee : exact; in each direction the largest of the deltas

    Parameters
    ----------
    functions : list of TradeOff

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `functions` is empty or holds anything else.

    References
    ----------
    Derived: the profile of a convex hull is the largest of the profiles.

    Examples
    --------
    >>> worst([gaussian(1.0), gaussian(2.0)]).epsilon(1e-5) == gaussian(2.0).epsilon(1e-5)
    True
    """
    functions = list({id(f): f for f in functions}.values())
    if not functions or not all(isinstance(f, TradeOff) for f in functions):
        raise ValueError(f"functions must be a list of TradeOff, got {functions!r}")
    if len(functions) == 1:
        return functions[0]
    if all(f.mu is not None for f in functions):
        return gaussian(max(f.mu for f in functions))
    ahead = _worse([f.ahead for f in functions])
    back = ahead if all(f.symmetric for f in functions) else _worse([f.back for f in functions])
    steps = {f.step for f in functions}
    return TradeOff(ahead, back, f"worst({len(functions)} functions)", step=steps.pop() if len(steps) == 1 else None)


def _worse(sides):
    return _Side(lambda epsilon: np.max([side.delta(epsilon) for side in sides], axis=0),
                 max(side.reach for side in sides), max(side.infinite for side in sides))  # fmt: skip


def from_curve(alpha, beta):
    """The highest trade-off function that is below every trade-off function through the given points.

    Between two points a convex curve lies above the lines through the neighbouring pairs, not above its own chord:
    joining the dots would promise more privacy than there is. The points (1, 0) and f(0) <= 1 are used, too. What the points
    prove at a single alpha may be more (at the points themselves it is beta), but all of it together is not convex.

    Privacy
    -------
    measure : f-DP
    adjacency : the one of the points
    guarantee : a lower bound on f, if the points lie on it, and no convex function is a higher one; estimates have no guarantee

    Parameters
    ----------
    alpha : array, shape (k,)
        Type I errors, increasing, in [0, 1].
    beta : array, shape (k,)
        The smallest type II error at each.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `alpha` is not increasing in [0, 1], the shapes differ, or no trade-off function passes through the points.

    References
    ----------
    Dong, Roth and Su (2022), section 2 (which functions are trade-off functions).

    Examples
    --------
    >>> f = from_curve([0.05, 0.25, 0.5], gaussian(1.0)([0.05, 0.25, 0.5]))
    >>> bool(f(0.1) < gaussian(1.0)(0.1))
    True
    """
    alpha, beta = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)
    if alpha.ndim != 1 or alpha.size == 0 or not np.all((alpha >= 0) & (alpha <= 1)) or not np.all(np.diff(alpha) > 0):
        raise ValueError(f"alpha must increase within [0, 1], got {alpha!r}")
    if beta.shape != alpha.shape or not np.all((beta >= 0) & (beta <= 1)):
        raise ValueError(f"beta must be as long as alpha, with values in [0, 1], got {beta!r}")
    a, b = _hull(np.concatenate([[0.0], alpha, [1.0]]), np.concatenate([[1.0], beta, [0.0]]))
    if np.any(np.abs(beta - np.interp(alpha, a, b)) > 1e-9):
        raise ValueError(f"beta: no trade-off function passes through these points, got {beta!r}")
    slope = np.diff(b) / np.diff(a)
    before, after = slope[:-1], np.append(slope[1:], 0.0)       # at each dip: lines through the pair to its left and the one to its right
    at_left, at_right = b[1:-1] - before * a[1:-1], b[1:] - after * a[1:]            # their heights at alpha = 0
    dip = np.clip((at_left - at_right[1:]) / np.maximum(after[1:] - before, 1e-300), a[1:-1], a[2:])
    a, b = _hull(np.concatenate([[0.0], dip, [1.0]]), np.maximum(0.0, np.concatenate([[at_right[0]], at_left + before * dip, [0.0]])))
    p, q = np.append(0.0, np.diff(a)), np.append(1 - b[0], -np.diff(b))
    return replace(finite(p, np.maximum(q, 0.0)), name=f"from_curve({alpha.size} points)")


def _hull(x, y):
    """Corners of the lower convex hull of points, from left to right."""
    hull = []
    for point in sorted(zip(x.tolist(), y.tolist())):
        if hull and hull[-1][0] == point[0]:     # the lower one came first
            continue
        while len(hull) > 1:
            (x0, y0), (x1, y1), (x2, y2) = *hull[-2:], point
            if (y1 - y0) * (x2 - x1) < (y2 - y1) * (x1 - x0):
                break
            hull.pop()
        hull.append(point)
    return np.array(hull).T


def compose(parts):
    """Product of many trade-off functions, [(f, n), ...]: f n times and so on, in any order.

    The loss of each part is moved to a lattice in the way that joins the dots of its profile in e^epsilon (an upper bound
    on a convex function, hence a pair of laws that is never more private), and the n-fold law is one Fourier transform.

    Privacy
    -------
    measure : f-DP
    adjacency : the one shared by the parts
    guarantee : a lower bound on the product: round-off, wrap-around and the cut-off tails are added to delta. Exact up to
        round-off when all losses are on one lattice (`approx`), exact for Gaussians. Each part must be fixed in advance;
        the mechanism behind it may be chosen in view of earlier outputs

    Parameters
    ----------
    parts : list of (TradeOff, int)

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `parts` is not such a list, or a count is not a whole number >= 0.

    References
    ----------
    Dong, Roth and Su (2022), section 3 (composition); Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022) (joining the dots).

    Examples
    --------
    >>> compose([(gaussian(3.0), 1), (gaussian(2.0), 4)])
    <TradeOff gaussian(5)>
    >>> round((approx(0.1) ** 100).epsilon(1e-5), 4)
    4.3068
    """
    counts = {}                                  # flat: a product of products is computed from the first factors
    for f, n in _pairs(parts):
        for part, times in f.parts or [(f, 1)]:
            counts[id(part)] = (part, counts.get(id(part), (part, 0))[1] + n * times)
    flat = [(f, n) for f, n in counts.values() if n and f.mu is None]
    mu = math.sqrt(math.fsum(n * f.mu**2 for f, n in counts.values() if f.mu is not None))
    if mu > 0 or not flat:
        flat.append((gaussian(mu), 1))
    told = [f for f, _ in flat if f.ahead.infinite > 1 - 1e-15]
    if told or (len(flat) == 1 and flat[0][1] == 1):       # beside an output that tells all, nothing counts
        return (told or [flat[0][0]])[0]
    ahead = _Product([(f.ahead, f.back, n, f.step) for f, n in flat])
    back = ahead if all(f.symmetric for f, _ in flat) else _Product([(f.back, f.ahead, n, f.step) for f, n in flat])
    name = " @ ".join(f"{f.name} ** {n}" if n > 1 else f.name for f, n in flat[:3]) + (" @ ..." if len(flat) > 3 else "")
    return TradeOff(ahead, back, f"({name})", parts=tuple(flat))


def _pairs(parts):
    try:
        pairs = [(f, n) for f, n in parts]
    except (TypeError, ValueError):
        raise ValueError(f"parts must be a list of (TradeOff, number) pairs, got {parts!r}") from None
    for f, _ in pairs:
        if not isinstance(f, TradeOff):
            raise ValueError(f"parts must be a list of (TradeOff, number) pairs, got {f!r} for a TradeOff")
    return [(f, whole("n", n, least=0)) for f, n in pairs]


_TAIL = 1e-16                                    # mass left outside the window, on each side
_ROUNDING = 2e-13                                # relative error of a profile and of the transforms, for each factor


class _Product(_Side):
    """Profile of a product in one direction, computed when it is first asked for.

    All is done on the law of the total loss tilted by e^(rate loss): an error of relative size r in it is an error of at
    most r e^(growth - rate epsilon) in delta(epsilon), so that small deltas keep their digits.
    """

    def __init__(self, parts):
        self.parts = parts
        self.infinite = -math.expm1(math.fsum(n * math.log1p(-min(ahead.infinite, 1 - 1e-16)) for ahead, _, n, _ in parts))
        self.top = sum(n * ahead.reach for ahead, _, n, _ in parts) * (1 + 1e-15)

    @cached_property
    def bounded(self):
        return all(ahead.bounded for ahead, *_ in self.parts)

    @cached_property
    def reach(self):
        step, start, above, *_ = self._table
        window = max(start + above.size * step, step)
        return min(self.top, window) if self.bounded else window

    def delta(self, epsilon):
        step, start, above, other, rate, growth, slack, infinite = self._table
        epsilon = np.asarray(epsilon, dtype=float)
        i = np.clip(np.ceil((epsilon - start) / step), 0, above.size - 1).astype(int)
        loss = start + i * step
        finite_part = np.maximum(above[i] - np.exp(np.minimum(epsilon - loss, 0.0)) * other[i], 0.0) * np.exp(growth - rate * loss)
        total = infinite + finite_part + slack * np.exp(growth - rate * epsilon)
        return np.where(self.bounded & (epsilon >= self.top), self.infinite, np.clip(total, self.infinite, 1.0))

    @cached_property
    def _table(self):
        step = _resolution(self.parts)
        laws = [(*_law(ahead, back, step), n) for ahead, back, n, _ in self.parts]
        variance = sum(n * _variance(loss, mass) for loss, mass, _, n in laws)
        variance = max(variance, 0.02 * max(loss[-1] for loss, *_ in laws) ** 2)
        rate = (math.sqrt(1 + 64 / variance) - 1) / 2      # so that a normal loss would have growth 8
        while True:
            growths = [math.log((np.maximum(mass, 0) * np.exp(rate * loss)).sum()) for loss, mass, *_ in laws]
            growth = sum(n * growth for growth, (*_, n) in zip(growths, laws))
            if growth <= 10:
                break
            rate /= 1.5
        tilted = [(loss, mass * np.exp(rate * loss - growth), n) for growth, (loss, mass, _, n) in zip(growths, laws)]
        start, stop = (math.floor(_far(tilted, -1) / step), math.ceil(_far(tilted, 1) / step))
        size = next_fast_len(max(stop - start + 2, *(loss.size for loss, *_ in laws), 16), real=True)
        factors = [rfft(mass, size) for _, mass, _ in tilted]
        spectrum, counts = np.zeros_like(factors[0]), [n for *_, n in tilted]
        seen = sum(n * np.log(np.abs(factor) + 1e-300) for n, factor in zip(counts, factors)) > -80      # the rest is below e^-80
        spectrum[seen] = math.prod(factor[seen] ** n for n, factor in zip(counts, factors))
        shift = -sum(n * (loss.size // 2) for loss, _, n in tilted)
        law = np.maximum(np.roll(irfft(spectrum, size), (shift - start) % size), 0.0)
        total = sum(n for *_, n in laws)
        infinite = -math.expm1(math.fsum(n * math.log1p(-min(lost, 1 - 1e-16)) for _, _, lost, n in laws))
        above, other = (np.append(_discounted(law, factor * step), 0.0) for factor in (rate, 1 + rate))
        return step, start * step, above, other, rate, growth, 4 * _TAIL + _ROUNDING * total, infinite


def _law(ahead, back, step):
    """Losses on a lattice, their masses under Q, and the mass of the infinite loss, of a pair that dominates the given one."""
    m = max(1, math.ceil(max(ahead.reach, back.reach) / step - 1e-9))
    loss = np.arange(m + 1) * step

    def bends(delta):                            # change of the slope in x = e^epsilon at each point but 0, times x
        rise = np.diff(delta, append=delta[-1])
        return (rise[1:] - math.exp(step) * rise[:-1]) / math.expm1(step)

    delta = ahead.delta(loss)
    up, down = bends(delta), bends(back.delta(loss)) * np.exp(-loss[1:])
    centre = 1 - delta[-1] - up.sum() - down.sum()
    return np.concatenate([-loss[:0:-1], loss]), np.concatenate([down[::-1], [centre], up]), float(delta[-1])


def _variance(loss, mass):
    mass = np.maximum(mass, 0) / np.maximum(mass, 0).sum()
    return float((mass * (loss - (mass * loss).sum()) ** 2).sum())


def _resolution(parts):
    """The lattice of the losses where they are on one, else a step far below the standard deviation of a typical loss."""
    steps = [step or math.inf for *_, step in parts]
    base = min(steps)
    if base < math.inf and all(abs(step / base - round(step / base)) < 1e-9 for step in steps if step < math.inf):
        if max(steps) < math.inf:
            return base
    else:
        base = 0.0
    count = sum(n for *_, n, _ in parts)
    finest = min(max(4096 / math.sqrt(count), 100), 1024)
    step = max(max(ahead.reach, back.reach) for ahead, back, *_ in parts) / 256 or 1.0
    for _ in range(40):
        variance = sum(n * _variance(*_law(ahead, back, step)[:2]) for ahead, back, n, _ in parts) / count
        wanted = math.sqrt(variance) / finest
        if step <= 1.05 * wanted or wanted == 0:
            break
        step = max(wanted, step / 64)
    return base / math.ceil(base / step) if base else step


def _far(laws, sign):
    """A loss beyond which the total has mass at most _TAIL, above (sign 1) or below (-1), by Chernoff's bound."""
    variance = sum(n * _variance(loss, mass) for loss, mass, n in laws)
    best = sum(n * loss[-1] for loss, _, n in laws)
    for share in (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0):
        tilt = share * math.sqrt(-2 * math.log(_TAIL) / max(variance, 1e-300))
        if tilt * max(loss[-1] for loss, *_ in laws) < 700:
            total = sum(n * math.log((np.maximum(mass, 0) * np.exp(sign * tilt * loss)).sum()) for loss, mass, n in laws)
            best = min(best, (total - math.log(_TAIL)) / tilt)
    return sign * best


def _discounted(mass, rate):
    """Sums over j >= i of mass[j] e^(-rate (j - i)), in blocks within which nothing underflows."""
    sums, block, carry = np.empty_like(mass), max(1, int(500 / rate)), 0.0
    for stop in range(mass.size, 0, -block):
        start = max(0, stop - block)
        weight = np.exp(-rate * np.arange(stop - start + 1))
        sums[start:stop] = (np.cumsum((mass[start:stop] * weight[:-1])[::-1])[::-1] + carry * weight[-1]) / weight[:-1]
        carry = sums[start]
    return sums


def _minimum(function, low, high, rounds=64):
    """Smallest value found by golden sections, of a function with one valley, elementwise: every value is a bound."""
    ratio = (math.sqrt(5) - 1) / 2
    best = np.minimum(function(low), function(high))
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(rounds):
        best = np.minimum(best, np.minimum(at_left, at_right))
        lower = at_left < at_right
        low, high = np.where(lower, low, left), np.where(lower, right, high)
        fresh = np.where(lower, high - ratio * (high - low), low + ratio * (high - low))
        value = function(fresh)
        left, right, at_left, at_right = (np.where(lower, fresh, right), np.where(lower, left, fresh),
                                          np.where(lower, value, at_right), np.where(lower, at_left, value))  # fmt: skip
    return best


def _grouped(f, k):
    """Profile of `f.group(k)` in the forward direction; the groups of 2, 3, ... on the way are tables joined in e^epsilon."""
    reach = min(max(f.ahead.reach, f.back.reach), 300.0)
    step = f.step / math.ceil(f.step * 1024 / reach) if f.step else max(reach, 1e-300) / 1024
    infinite = 0.0
    for _ in range(k):
        infinite = 1 - float(f(min(infinite, 1.0)))

    def longer(shorter, loss):
        low, high = np.full(np.shape(loss), -reach), np.full(np.shape(loss), reach)
        return _minimum(lambda one: f._height(one) + np.exp(one) * shorter(loss - one), low, high)

    def table(shorter, size):
        at = np.arange(-size, size + 1) * step
        values = longer(shorter, at)

        def joined(loss):
            i = np.clip(np.floor(loss / step).astype(int), -size, size - 1) + size
            inside = np.clip(loss - at[i], 0.0, step)
            chord = values[i] + (values[i + 1] - values[i]) * np.expm1(inside) / math.expm1(step)
            return np.where(loss < at[0], 1.0, chord)

        return joined

    profile = f._height
    for times in range(2, k):
        profile = table(profile, math.ceil(times * reach / step))
    return _Side(lambda epsilon: longer(profile, np.asarray(epsilon, dtype=float)), k * reach, infinite)


class Moments(NamedTuple):
    """Moments of the loss under P: the mean of -loss, of loss^2, of abs(loss)^3 and of abs(loss + kl)^3."""

    kl: float
    kappa2: float
    kappa3: float
    kappa3_bar: float


def moments(f):
    """The four functionals of f in the central limit theorem for f-DP; inf where f has a flat part (an infinite loss).

    Privacy
    -------
    measure : none by itself; kl is the Kullback-Leibler divergence of P from Q
    adjacency : the one of f
    guarantee : numerical, of relative error about 1e-7, above the truth

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
    Dong, Roth and Su (2022), Theorem 3.4.

    Examples
    --------
    >>> m = moments(gaussian(1.0))
    >>> round(m.kl, 4), round(m.kappa2, 4)
    (0.5, 1.25)
    """
    if not isinstance(f, TradeOff):
        raise ValueError(f"f must be a TradeOff, got {f!r}")
    if f.back.infinite > 0:
        return Moments(*[math.inf] * 4)
    step = f.step or (max(f.ahead.reach, f.back.reach) / 2**14 or 1.0)
    loss, mass, _ = _law(f.back, f.ahead, step)  # the other way round: masses under P, losses of the other sign
    kl = float((mass * loss).sum())
    return Moments(kl, *(float((mass * np.abs(loss - centre) ** power).sum()) for power, centre in ((2, 0), (3, 0), (3, kl))))


@dataclass(frozen=True)
class CentralLimit:
    """G_mu as the limit of a product, with the Berry-Esseen band: lower <= product <= upper on [gamma, 1 - gamma]."""

    mu: float
    gamma: float

    def lower(self, alpha):
        """G_mu(alpha + gamma) - gamma; nan outside [gamma, 1 - gamma]."""
        return self._band(alpha, self.gamma)

    def upper(self, alpha):
        """G_mu(alpha - gamma) + gamma; nan outside [gamma, 1 - gamma]."""
        return self._band(alpha, -self.gamma)

    def _band(self, alpha, shift):
        alpha = np.asarray(alpha, dtype=float)
        if not np.all((alpha >= 0) & (alpha <= 1)):
            raise ValueError(f"alpha must lie in [0, 1], got {alpha!r}")
        inside = (alpha >= self.gamma) & (alpha <= 1 - self.gamma)
        value = gaussian(self.mu)(np.clip(alpha + shift, 0, 1)) - shift
        return np.where(inside, np.clip(value, 0, 1), np.nan)[()]


def clt(parts):
    """The central limit theorem for a product of symmetric trade-off functions [(f, n), ...], with its error bound.

    mu = 2 K / s with K the sum of kl and s^2 the sum of kappa2 - kl^2; gamma = 0.56 (sum of kappa3_bar) / s^3. G_mu
    alone is an approximation and can promise too much; `lower` is a bound.

    Privacy
    -------
    measure : f-DP
    adjacency : the one shared by the parts
    guarantee : the product lies between `lower` and `upper` for alpha in [gamma, 1 - gamma]; G_mu itself is no bound

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
    Dong, Roth and Su (2022), Theorem 3.4.

    Examples
    --------
    >>> limit = clt([(approx(1000**-0.5), 1000)])
    >>> round(float(limit.lower(0.05)), 3), round(float(limit.upper(0.05)), 3)
    (0.671, 0.82)
    """
    kl = variance = third = 0.0
    for f, n in _pairs(parts):
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
