"""Trade-off functions: the curves, and what can be calculated with them."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from dplib._gaussian import tails
from dplib._types import ArrayLike, Same
from dplib._validate import array, laws, non_negative, numbers, probability, share, shown, whole
from dplib.fdp.product import Factor, Formula, Product, Profile, lattice, worse

__all__ = ["TradeOff", "approx", "compose", "finite", "from_curve", "gaussian", "laplace", "worst"]

LARGEST_LOSS, LARGEST_MU, LEAST = 1e100, 1e50, 1e-100    # of one release, so that squares of sums are doubles
MOST_PARTS = 10**9                               # of a product: the charge for round-off is 2e-13 for each
MOST_PEOPLE = 50                                 # of a group, where there is no closed form


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff:
    """A trade-off function f. Make one by `gaussian`, `laplace`, `approx`, `finite` or `from_curve`, then calculate
    with it.

    f(alpha) is the curve, f @ g the product (both outputs are seen), f ** n the n-fold product. The product theorem
    allows each mechanism to be chosen in view of the earlier outputs, but every f must be fixed in advance.

    Privacy
    -------
    measure : f-DP
    adjacency : the one under which f bounds the test between neighbours
    guarantee : exact from `gaussian`, `laplace`, `approx` and `finite`, a lower bound from `from_curve` and after
        numerical work (products, groups)

    References
    ----------
    Dong, Roth and Su (2022), sections 2 (trade-off functions) and 3 (products and composition).

    Examples
    --------
    >>> f = laplace(0.1) ** 100
    >>> round(f.epsilon(1e-5), 3), round(float(f(0.05)), 3)
    (4.22, 0.746)
    """

    ahead: Profile                               # Q(S) - e^epsilon P(S): large losses ln(dQ/dP)
    back: Profile                                # P(S) - e^epsilon Q(S)
    name: str
    curve: Callable | None = None                # closed form of f, where there is one
    step: float | None = None                    # where losses are whole multiples of a step
    mu: float | None = None                      # of a Gaussian
    parts: tuple = ()                            # of a product

    def __call__(self, alpha: ArrayLike) -> Same:
        """f(alpha) for alpha in [0, 1]: the highest of the supporting lines that the profiles give, never above f."""
        alpha = array("alpha", alpha, low=0, high=1)
        if self.curve is not None:
            return self.curve(alpha)[()]
        low, high = (np.full(alpha.shape, bound) for bound in (-min(self.back.reach, 700), min(self.ahead.reach, 700)))
        line = _minimum(lambda loss: self._height(loss) + np.exp(loss) * alpha, low, high)
        steepest = np.where(alpha == 0, self.ahead.infinite, 1)
        return np.clip(1 - np.minimum(line, steepest) - 1e-15 * (alpha > 0), 0, 1 - alpha)[()]

    def delta(self, epsilon: ArrayLike) -> Same:
        """Smallest delta for which f implies (epsilon, delta)-DP in this direction: sup over alpha of 1 - f(alpha) -
        e^epsilon alpha.
        """
        epsilon = numbers("epsilon", epsilon)
        if not np.all(epsilon >= 0):
            raise ValueError("epsilon must be zero or more")
        known = np.where(np.isinf(epsilon), 0, epsilon)
        return np.where(
            np.isinf(epsilon), self.ahead.infinite, np.clip(self.ahead.delta(known) + 0.0, self.ahead.infinite, 1)
        )[()]

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon for which f implies (epsilon, delta)-DP in this direction; inf if there is none."""
        delta = probability("delta", delta)
        if self.delta(0.0) <= delta:
            return 0.0
        if delta < self.ahead.infinite or (delta == self.ahead.infinite and not self.ahead.bounded):
            return math.inf
        high = self.ahead.reach
        while self.delta(high) > delta:
            high = min(2 * high, self.ahead.top)
            if high == math.inf:
                return high

        def excess(epsilon):
            return math.log(max(self.delta(epsilon), 1e-320)) - math.log(max(delta, 1e-320))

        root = brentq(excess, 0.0, high, xtol=1e-13 * high, rtol=1e-13)
        return float(min(high, root * (1 + 1e-12) + 1e-12 * min(1.0, high)))

    def inverse(self) -> TradeOff:
        """The same pair of laws the other way round, T(Q, P)."""
        other = replace(self, ahead=self.back, back=self.ahead, parts=tuple((f.inverse(), n) for f, n in self.parts))
        return self if self.symmetric else replace(other, name=f"{self.name}.inverse()", curve=None)

    @property
    def symmetric(self) -> bool:
        """Whether f is known to be its own inverse."""
        return self.back is self.ahead or bool(self.parts) and all(f.symmetric for f, _ in self.parts)

    def symmetrize(self) -> TradeOff:
        """What holds in both directions: the convex hull of min(f, f inverse). Compose first, symmetrise last."""
        if self.symmetric:
            return self
        side = worse([self.ahead, self.back])
        return TradeOff(side, side, f"{self.name}.symmetrize()", step=self.step)

    def subsample(self, p: float) -> TradeOff:
        """p f + (1 - p) Id: everybody takes part with probability p, independently. One direction only, not
        symmetrised.

        For add/remove, where f is T(without the person, with them); under replace it does not hold for such samples.
        Compose f.subsample(p) and its inverse() separately, then take the worse of the two (Bu, Dong, Long and Su 2020;
        Dong, Roth and Su 2022, section 4, for samples of fixed size). p is from 1e-100 to 1.
        """
        p = share("p", p)
        if p < LEAST:
            raise ValueError(f"p must be at least {LEAST:g}, got {p!r}")
        if p == 1:
            return self
        far = _diluted(self.ahead.reach, p)
        near = -math.log1p(p * math.expm1(-self.back.reach) if self.back.infinite == 0 else -p)
        farther = Formula(
            partial(_removed, profile=self.ahead, p=p), far * (1 + 1e-13), p * self.ahead.infinite,
            top=None if self.ahead.bounded else math.inf,
        )
        nearer = Formula(partial(_added, profile=self.back, p=p), near * (1 + 1e-13))
        return TradeOff(farther, nearer, f"{self.name}.subsample({p:g})")

    def group(self, k: int) -> TradeOff:
        """What holds for groups of k: 1 - (1 - f) iterated k times (Dong, Roth and Su 2022, section 2).

        Its delta(epsilon) is the smallest delta(e1) + e^e1 delta(e2) + e^(e1+e2) delta(e3) + ... with e1 + e2 + ... =
        epsilon: every split is an upper bound, so is the best one found. k is at most 50, except for a Gaussian.
        """
        k = whole("k", k, least=1, most=MOST_PARTS if self.mu is not None else MOST_PEOPLE)
        if k == 1:
            return self
        if self.mu is not None:
            return _gaussian(k * self.mu)
        ahead = _grouped(self, k)
        back = ahead if self.symmetric else _grouped(self.inverse(), k)
        return TradeOff(ahead, back, f"{self.name}.group({k})", partial(_iterated, f=self, k=k), self.step)

    def __matmul__(self, other: TradeOff) -> TradeOff:
        return compose([(self, 1), (other, 1)]) if isinstance(other, TradeOff) else NotImplemented

    def __pow__(self, n: int) -> TradeOff:
        return compose([(self, whole("n", n, least=0, most=2**53))])

    def __repr__(self) -> str:
        return f"<TradeOff {self.name}>"

    def _height(self, loss):
        """The profile on the whole line: 1 - e^loss + e^loss back(-loss) where the loss is negative."""
        up, down = np.maximum(loss, 0.0), np.maximum(-loss, 0.0)
        return np.where(loss >= 0, self.ahead.delta(up), np.exp(-down) * self.back.delta(down) - np.expm1(-down))


def approx(epsilon: float, *, delta: float = 0.0) -> TradeOff:
    """f of (epsilon, delta)-DP; with delta = 0 that of randomized response.

    Privacy
    -------
    measure : f-DP, equivalent to (epsilon, delta)-DP
    adjacency : the one under which (epsilon, delta)-DP holds
    guarantee : exact; the worst case over all (epsilon, delta)-DP mechanisms

    Parameters
    ----------
    epsilon : float
        Zero, or from 1e-100 to 1e100: there all digits hold.
    delta : float
        In [0, 1).

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `epsilon` is out of range, or `delta` not in [0, 1).

    References
    ----------
    Wasserman and Zhou (2010), Theorem 2.4; Dong, Roth and Su (2022), section 2.

    Examples
    --------
    >>> round(float(approx(1.0)(0.05)), 6)
    0.864086
    """
    epsilon, delta = _loss("epsilon", epsilon, LARGEST_LOSS), probability("delta", delta)
    side = Formula(partial(_approx_delta, epsilon=epsilon, delta=delta), epsilon, delta)
    curve = partial(_approx_curve, epsilon=epsilon, delta=delta)
    return TradeOff(side, side, f"approx({epsilon:g}{f', {delta:g}' if delta else ''})", curve, epsilon or None)


def _approx_delta(loss, *, epsilon, delta):
    return delta - (1 - delta) * expit(epsilon) * np.expm1(np.minimum(loss - epsilon, 0.0))


def _approx_curve(alpha, *, epsilon, delta):
    return np.maximum(
        0.0, np.maximum(1 - delta - np.exp(min(epsilon, 700)) * alpha, math.exp(-epsilon) * (1 - delta - alpha))
    )


def gaussian(mu: float) -> TradeOff:
    """G_mu = T(N(0, 1), N(mu, 1)): mu-GDP, as of Gaussian noise of standard deviation sensitivity/mu.

    Privacy
    -------
    measure : f-DP (mu-GDP)
    adjacency : the one under which the sensitivity holds
    guarantee : exact, rounded up in its last digits; products and groups of Gaussians stay Gaussian

    Parameters
    ----------
    mu : float
        Zero, which is perfect privacy, or from 1e-100 to 1e50. Ten digits of delta hold for mu up to 1e5, and eleven of
        epsilon for all.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `mu` is out of range.

    References
    ----------
    Dong, Roth and Su (2022), section 2 (Corollary 2.13 of the preprint); Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(float(gaussian(1.0)(0.05)), 6), round(gaussian(1.0).epsilon(1e-5), 6)
    (0.740489, 4.377178)
    """
    return _gaussian(_loss("mu", mu, LARGEST_MU))


def _gaussian(mu):
    if mu == 0:
        return replace(approx(0.0), name="gaussian(0)", mu=0.0)
    side = Formula(partial(_gaussian_delta, mu=mu), mu * mu / 2 * (1 + 2e-15) + 12 * mu, top=math.inf)
    return TradeOff(side, side, f"gaussian({mu:g})", partial(_gaussian_curve, mu=mu), mu=mu)


def _gaussian_delta(epsilon, *, mu):
    with np.errstate(over="ignore"):
        tail, share = tails(mu / 2, np.minimum(epsilon / mu, mu + 1e8))
    return np.minimum(1.0, np.exp(tail) * share * (1 + 1e-15))


def _gaussian_curve(alpha, *, mu):
    return ndtr(-ndtri(alpha) - mu)


def laplace(epsilon: float) -> TradeOff:
    """T(Lap(0, 1), Lap(epsilon, 1)): the Laplace mechanism for one number whose change attains the sensitivity.

    Privacy
    -------
    measure : f-DP, stronger than epsilon-DP
    adjacency : the one under which the sensitivity holds
    guarantee : exact for one number; for a vector use approx(epsilon), which holds for every epsilon-DP mechanism

    Parameters
    ----------
    epsilon : float
        Sensitivity over scale: zero, or from 1e-100 to 1e100, where all digits hold.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `epsilon` is out of range.

    References
    ----------
    Derived from the two densities by the lemma of Neyman and Pearson (1933).

    Examples
    --------
    >>> round(float(laplace(1.0)(0.25)), 6), round(float(laplace(1.0).delta(0.5)), 6)
    (0.367879, 0.221199)
    """
    epsilon = _loss("epsilon", epsilon, LARGEST_LOSS)
    side = Formula(partial(_laplace_delta, epsilon=epsilon), epsilon)
    return TradeOff(side, side, f"laplace({epsilon:g})", partial(_laplace_curve, epsilon=epsilon))


def _laplace_delta(loss, *, epsilon):
    return -np.expm1(np.minimum(loss - epsilon, 0.0) / 2)


def _laplace_curve(alpha, *, epsilon):
    left, least = alpha <= math.exp(-epsilon) / 2, math.exp(-epsilon)
    with np.errstate(over="ignore"):
        middle = least / np.maximum(4 * alpha, 1e-300)
    return np.where(left, 1 - np.exp(min(epsilon, 700)) * alpha, np.where(alpha <= 0.5, middle, least * (1 - alpha)))


def finite(p: ArrayLike, q: ArrayLike) -> TradeOff:
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
    one, other = (law / law.sum() for law in laws(p, q))
    return TradeOff(_outcomes(one, other), _outcomes(other, one), f"finite({one.size} outcomes)")


def _outcomes(p, q):
    with np.errstate(divide="ignore"):
        losses = np.where(q > 0, np.log(np.maximum(q, 1e-323)) - np.log(p), -np.inf)
    order = np.argsort(losses)
    tails = [np.append(np.cumsum(law[order][::-1])[::-1], 0.0) for law in (p, np.where(p > 0, q, 0.0))]
    infinite, losses = q[p == 0].sum(), losses[order]
    profile = partial(_outcomes_delta, losses=losses, above=tails[1], other=tails[0], infinite=infinite)
    return Formula(profile, losses[np.isfinite(losses)].max(initial=0.0), infinite)


def _outcomes_delta(epsilon, *, losses, above, other, infinite):
    i = np.searchsorted(losses, epsilon, side="right")
    return infinite + np.maximum(0.0, above[i] * (1 + 1e-15) - np.exp(np.minimum(epsilon, 700)) * other[i])


def worst(functions: Iterable[TradeOff]) -> TradeOff:
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
    try:
        functions = list({id(f): f for f in functions}.values())
    except TypeError:
        functions = []
    if not functions or not all(isinstance(f, TradeOff) for f in functions):
        raise ValueError("functions must be a list of TradeOff, with at least one")
    if len(functions) == 1:
        return functions[0]
    if all(f.mu is not None for f in functions):
        return _gaussian(max(f.mu for f in functions if f.mu is not None))
    ahead = worse([f.ahead for f in functions])
    back = ahead if all(f.symmetric for f in functions) else worse([f.back for f in functions])
    steps = {f.step for f in functions}
    return TradeOff(ahead, back, f"worst({len(functions)} functions)", step=steps.pop() if len(steps) == 1 else None)


def from_curve(alpha: ArrayLike, beta: ArrayLike) -> TradeOff:
    """The highest trade-off function that is below every trade-off function through the given points.

    Between two points a convex curve lies above the lines through the neighbouring pairs, not above its own chord:
    joining the dots would promise more privacy than there is. The points (1, 0) and f(0) <= 1 are used, too. What the
    points prove at a single alpha may be more (at the points themselves it is beta), but all of it together is not
    convex.

    Privacy
    -------
    measure : f-DP
    adjacency : the one of the points
    guarantee : a lower bound on f, if the points lie on it, and no convex function is a higher one; estimates have no
        guarantee

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
    alpha = array("alpha", alpha, ndim=1, least=1, low=0, high=1)
    beta = array("beta", beta, ndim=1, low=0, high=1)
    if not np.all(np.diff(alpha) > 0):
        raise ValueError("alpha must increase")
    if beta.shape != alpha.shape:
        raise ValueError(f"beta must be as long as alpha, {alpha.size}, got {beta.size}")
    a, b = lower_hull(np.concatenate([[0.0], alpha, [1.0]]), np.concatenate([[1.0], beta, [0.0]]))
    if np.any(np.abs(beta - np.interp(alpha, a, b)) > 1e-9):
        raise ValueError("beta: no trade-off function passes through these points")
    # the hull left out points on a line between two others, which say that all between those is on it
    points = np.unique(np.concatenate([a, alpha]))
    slope = (np.diff(b) / np.diff(a))[np.searchsorted(a, points[1:]) - 1]
    a, b = points, np.interp(points, a, b)
    # at each dip: lines through the pair to its left and the one to its right
    before, after = slope[:-1], np.append(slope[1:], 0.0)
    at_left, at_right = b[1:-1] - before * a[1:-1], b[1:] - after * a[1:]            # their heights at alpha = 0
    dip = np.clip((at_left - at_right[1:]) / np.maximum(after[1:] - before, 1e-300), a[1:-1], a[2:])
    a, b = lower_hull(
        np.concatenate([[0.0], dip, [1.0]]),
        np.maximum(0.0, np.concatenate([[at_right[0]], at_left + before * dip, [0.0]])),
    )
    p, q = np.append(0.0, np.diff(a)), np.append(1 - b[0], -np.diff(b))
    return replace(finite(p, np.maximum(q, 0.0)), name=f"from_curve({alpha.size} points)")


def lower_hull(x, y):
    """Corners of the lower convex hull of points, from left to right."""
    hull: list[tuple[float, float]] = []
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


def compose(parts: Iterable[tuple[TradeOff, int]]) -> TradeOff:
    """Product of many trade-off functions, [(f, n), ...]: f n times and so on, in any order.

    The loss of each part is moved to a lattice in the way that joins the dots of its profile in e^epsilon (an upper
    bound on a convex function, hence a pair of laws that is never more private), and the n-fold law is one Fourier
    transform.

    Privacy
    -------
    measure : f-DP
    adjacency : the one shared by the parts
    guarantee : a lower bound on the product: round-off, wrap-around and the cut-off tails are added to delta. Exact up
        to round-off when all losses are on one lattice (`approx`), exact for Gaussians. Each part must be fixed in
        advance; the mechanism behind it may be chosen in view of earlier outputs

    Parameters
    ----------
    parts : list of (TradeOff, int)
        At most 10^9 in all. Round-off is charged with 2e-13 for each, so that epsilon has three digits or more at a
        delta well above the sum of that.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If `parts` is not such a list, or a count is not a whole number >= 0.

    References
    ----------
    Dong, Roth and Su (2022), section 3 (composition); Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022) (joining
    the dots).

    Examples
    --------
    >>> compose([(gaussian(3.0), 1), (gaussian(2.0), 4)])
    <TradeOff gaussian(5)>
    >>> round((approx(0.1) ** 100).epsilon(1e-5), 4)
    4.3068
    """
    counts: Counter[TradeOff] = Counter()        # flat: a product of products is computed from the first factors
    for f, n in counted(parts):
        for part, times in f.parts or [(f, 1)]:
            counts[part] += n * times
    flat = [(f, n) for f, n in counts.items() if n and f.mu is None]
    mu = math.sqrt(math.fsum(n * f.mu**2 for f, n in counts.items() if f.mu is not None))
    if mu > 0 or not flat:
        flat.append((_gaussian(mu), 1))
    for f, _ in flat:
        if f.ahead.infinite > 1 - 1e-15:         # beside an output that tells all, nothing counts
            return f
    if len(flat) == 1 and flat[0][1] == 1:
        return flat[0][0]
    if sum(n for _, n in flat) > MOST_PARTS:
        raise ValueError(f"parts must be at most {MOST_PARTS:,} in all, got {sum(n for _, n in flat):,}")
    factors = [Factor(f.ahead, f.back, n, f.step) for f, n in flat]
    ahead = Product(factors)
    back = ahead if all(f.symmetric for f, _ in flat) else Product([factor.swapped() for factor in factors])
    name = " @ ".join(f"{f.name} ** {n}" if n > 1 else f.name for f, n in flat[:3]) + (
        " @ ..." if len(flat) > 3 else ""
    )
    return TradeOff(ahead, back, f"({name})", parts=tuple(flat))


def settled(f: TradeOff) -> TradeOff:
    """A product that is computed now, and further products are computed from it and no longer from its factors."""
    on_lattice = all(part.step for part, _ in f.parts)
    step = lattice([Factor(part.ahead, part.back, n, part.step) for part, n in f.parts]) if on_lattice else 0.0
    ahead = f.ahead.settled()
    back = ahead if f.back is f.ahead else f.back.settled()
    return replace(f, ahead=ahead, back=back, parts=(), step=step or None)


def counted(parts):
    """The pairs of a product as a list; ValueError unless it holds (TradeOff, whole number) pairs."""
    try:
        pairs = [tuple(pair) for pair in parts]
    except TypeError:
        raise ValueError(f"parts must be a list of (TradeOff, number) pairs, got {shown(parts)}") from None
    for i, pair in enumerate(pairs):
        if len(pair) != 2 or not isinstance(pair[0], TradeOff):
            raise ValueError(f"parts[{i}] must be a pair (TradeOff, number), got {shown(pair)}")
    return [(f, whole(f"n in parts[{i}]", n, least=0, most=2**53)) for i, (f, n) in enumerate(pairs)]


def _removed(epsilon, *, profile, p):
    """A profile after sampling, of the world with the person against the one without."""
    return p * profile.delta(epsilon + np.log1p((p - 1) / p * np.expm1(-epsilon)))


def _added(epsilon, *, profile, p):
    """The other direction."""
    gone = np.expm1(-epsilon) / p
    rest, loss = np.maximum(1 + gone, 0.0), -np.log1p(np.maximum(gone, np.nextafter(-1, 0)))
    return np.where(rest > 0, p * np.exp(np.minimum(epsilon, 700)) * rest * profile.delta(loss), 0.0)


def _iterated(alpha, *, f, k):
    for _ in range(k):
        alpha = 1 - f(alpha)
    return 1 - alpha


def _loss(name, value, most):
    value = non_negative(name, value)
    if value > most or 0 < value < LEAST:
        raise ValueError(f"{name} must be 0 or from {LEAST:g} to {most:g}, got {value!r}")
    return value


def _diluted(loss, p):
    """ln(1 - p + p e^loss), what is left of a loss that counts with probability p only."""
    return math.log1p(p * math.expm1(loss)) if loss < 1 else float(np.logaddexp(math.log1p(-p), math.log(p) + loss))


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
        left, right = np.where(lower, fresh, right), np.where(lower, left, fresh)
        at_left, at_right = np.where(lower, value, at_right), np.where(lower, at_left, value)
    return best


def _grouped(f, k):
    """Profile of `f.group(k)` in the forward direction; the groups of 2, 3, ... on the way are tables joined in
    e^epsilon.
    """
    reach = min(max(f.ahead.reach, f.back.reach), 300.0)
    step = f.step / math.ceil(f.step * 1024 / reach) if f.step else max(reach, 1e-300) / 1024
    infinite = 0.0
    for _ in range(k):
        infinite = 1 - float(f(min(infinite, 1.0)))

    profile = f._height
    for times in range(2, k):
        profile = _Joined(f, profile, reach, step, math.ceil(times * reach / step))
    top = k * f.ahead.top * (1 + 5e-16) if f.ahead.infinite == 0 else math.inf
    delta = partial(_grouped_delta, f=f, shorter=profile, reach=reach, top=top)
    return Formula(delta, min(k * reach, top), infinite, top=top if top < math.inf else None)


def _grouped_delta(loss, *, f, shorter, reach, top=math.inf):
    """One more in the group: the best split of the loss between f and the profile of the others."""
    loss = np.asarray(loss, dtype=float)
    low, high = np.full(loss.shape, -reach), np.full(loss.shape, reach)
    found = _minimum(lambda one: f._height(one) + np.exp(one) * shorter(loss - one), low, high)
    return np.minimum(found, -np.expm1(np.minimum(loss - top, 0.0)))


class _Joined:
    """The profile of a group with one more, as a table joined in e^epsilon."""

    def __init__(self, f, shorter, reach, step, size):
        self.step, self.size, self.at = step, size, np.arange(-size, size + 1) * step
        self.values = _grouped_delta(self.at, f=f, shorter=shorter, reach=reach)

    def __call__(self, loss):
        i = np.clip(np.floor(loss / self.step).astype(int), -self.size, self.size - 1) + self.size
        inside = np.clip(loss - self.at[i], 0.0, self.step)
        chord = self.values[i] + (self.values[i + 1] - self.values[i]) * np.expm1(inside) / math.expm1(self.step)
        return np.where(loss < self.at[0], 1.0, chord)
