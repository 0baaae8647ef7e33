"""Checkers of chapter 6, section 4: accounting."""
import itertools
import math

import numpy as np
from scipy.optimize import minimize_scalar

from dplib import fdp
from provable_privacy.speech import Wrong, answered, checker, compare_dict, number

__all__ = ["acc_honest", "acc_pld", "acc_rdp", "acc_sample", "acc_sigma"]


# ------------------------------------------------------------------------------------------------------------ from Renyi to epsilon

def _conversion(curve, delta, sharp=True):
    """The best bill over real orders, and its order: a fine grid, then a search within the best of its gaps."""
    def bill(log_excess):
        order = 1 + math.exp(log_excess)
        extra = math.log1p(-1 / order) - math.log(order) / (order - 1) if sharp else 0.0
        return curve(order) + math.log(1 / delta) / (order - 1) + extra

    grid = np.linspace(math.log(0.04), math.log(510), 800)
    bills = [bill(x) for x in grid]
    i = int(np.argmin(bills))
    found = minimize_scalar(bill, bounds=(grid[max(i - 1, 0)], grid[min(i + 1, grid.size - 1)]), method="bounded", options={"xatol": 1e-9})
    return max(0.0, min(found.fun, bills[i])), 1 + math.exp(found.x)


def _gaussian_curve(mu):
    return lambda order: order * mu * mu / 2


def _coin_curve(epsilon, k):
    """Renyi divergence of k randomized responses."""
    def curve(order):
        with_truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        first = order * math.log(with_truth) + (1 - order) * math.log1p(-with_truth)
        second = order * math.log1p(-with_truth) + (1 - order) * math.log(with_truth)
        return k * float(np.logaddexp(first, second)) / (order - 1)

    return curve


@checker
def acc_rdp(rdp_to_eps):
    """`rdp_to_eps(curve, delta)`: smallest epsilon over all orders by the improved conversion."""
    cases = [("a hundred Sundays", _gaussian_curve(1.0), 1e-5), ("one Sunday (mu = 0.1)", _gaussian_curve(0.1), 1e-5),
             ("mu = 5", _gaussian_curve(5.0), 1e-9), ("mu = 12", _gaussian_curve(12.0), 1e-5), ("mu = 0.2 at delta = 0.001", _gaussian_curve(0.2), 1e-3),
             ("a hundred coins at 0.1", _coin_curve(0.1, 100), 1e-5), ("mu = 0.02", _gaussian_curve(0.02), 1e-5),
             ("mu = 80", _gaussian_curve(80.0), 1e-5), ("mu = 0.001 at delta = 0.001", _gaussian_curve(0.001), 1e-3)]    # best orders in 1.05 to 500, or 0
    for name, curve, delta in cases:
        value = answered(rdp_to_eps, lambda order, curve=curve: curve(float(order)), delta)
        got, (right, order) = number(value, name, finite=False), _conversion(curve, delta)
        if -1e-7 * right <= got - right <= 2e-3 * right:
            continue
        if got < 0:
            raise Wrong(f"{name}: {got:.4f}; the theorem is about ε ≥ 0, so the answer is at least 0")
        plain, _ = _conversion(curve, delta, sharp=False)
        if abs(got - plain) <= 1e-3 * plain:
            raise Wrong(f"{name}: {got:.4f} is the bill without c_lambda; with ln((alpha - 1)/alpha) - ln(alpha)/(alpha - 1) it is {right:.4f}")
        whole = min(curve(a) + math.log(1 / delta) / (a - 1) + math.log1p(-1 / a) - math.log(a) / (a - 1) for a in range(2, 501))
        if abs(got - whole) <= 1e-3 * whole and got > right:
            raise Wrong(f"{name}: {got:.4f} is the best of the whole orders; at order {order:.2f} it is {right:.4f}")
        if got < right:
            raise Wrong(f"{name}: {got:.4f} is below every order's bill: a false promise. The best order, {order:.2f}, gives {right:.4f}")
        raise Wrong(f"{name}: {got:.4f} is valid but not the smallest: order {order:.2f} gives {right:.4f}")
    return "the best order found in nine cases, from near 1 to hundreds"


# ------------------------------------------------------------------------------------------------------------------------- a bracket

def _lattice_law(losses, weights, k):
    """Law of the sum of k losses that are whole multiples of one base, exactly but for round-off: plain convolution, no transform."""
    span = max(abs(loss) for loss in losses)
    one = np.zeros(2 * span + 1)
    np.add.at(one, np.array(losses) + span, weights)
    total, power, n = np.ones(1), one, k
    while n:
        if n & 1:
            total = np.convolve(total, power)
        n >>= 1
        if n:
            power = np.convolve(power, power)
    return np.arange(-k * span, k * span + 1), total


def _exact_epsilon(base, losses, weights, infinite, k, delta):
    """Epsilon of k steps whose finite losses are base times `losses` with `weights`, and infinite with probability `infinite`."""
    total, law = _lattice_law(losses, weights, k)
    lost = -math.expm1(k * math.log1p(-infinite)) if infinite < 1 else 1.0
    if lost > delta:
        return math.inf
    low, high = 0.0, base * float(total[-1])

    def excess(epsilon):
        above = base * total > epsilon
        return lost + float(law[above] @ -np.expm1(epsilon - base * total[above])) - delta

    if excess(0.0) <= 0:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _pair(base, losses, p, infinite=0.0):
    """Laws p and q with these losses; q's remainder sits on an outcome of its own, with p = 0, and p's infinite mass where q = 0."""
    p = np.array(p) * (1 - infinite)
    q = p * np.exp(-base * np.array(losses))
    rest = 1 - q.sum()
    assert rest > -1e-12
    laws = np.append(p, [infinite, 0.0]), np.append(q, [0.0, max(rest, 0.0)])
    keep = (laws[0] > 0) | (laws[1] > 1e-15)
    return tuple(law[keep] / law[keep].sum() for law in laws)


def _coin(epsilon):
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return epsilon, [1, -1], [truth, 1 - truth]


_STEPS = {  # name -> (base, losses in bases, probabilities under p), mass of the infinite loss, k, delta
    "a hundred coins at 0.1": (_coin(0.1), 0.0, 100, 1e-5),
    "one coin at 0.777": (_coin(0.777), 0.0, 1, 1e-5),
    "eighty coins at 0.5": (_coin(0.5), 0.0, 80, 1e-6),
    "forty steps of three outcomes": ((0.0237, [9, 1, -7], [0.35, 0.4, 0.25]), 0.0, 40, 1e-5),
    "the same the other way round": ((0.0237, [7, -1, -9], [0.4, 0.45, 0.15]), 0.0, 40, 1e-4),
    "fifty coins at 0.1, each with a catastrophe of 1e-7": (_coin(0.1), 1e-7, 50, 1e-5),
    "a hundred coins at 0.05, each with a catastrophe of 9e-8": (_coin(0.05), 9e-8, 100, 1e-5),
    "a hundred coins at 0.1, each with a catastrophe of 1e-6": (_coin(0.1), 1e-6, 100, 1e-5),
    "three hundred coins at 0.0317": (_coin(0.0317), 0.0, 300, 1e-5),
    "three coins at 0.4, with delta = 0": (_coin(0.4), 0.0, 3, 0.0),
}


_NOTHING_LEFT = "where delta is 0 round-off decides: charge it at the upper end, which is the largest total at most, and forgive it at the lower one"


@checker
def acc_pld(my_bracket):
    """`my_bracket(p, q, k, delta)`: (low, high) that holds epsilon of k steps, less than 0.1 wide."""
    for name, ((base, losses, weights), infinite, k, delta) in _STEPS.items():
        p, q = _pair(base, losses, weights, infinite)
        answer = answered(my_bracket, p.copy(), q.copy(), k, delta)
        if not isinstance(answer, (tuple, list, np.ndarray)) or len(answer) != 2:
            raise Wrong(f"expected a pair (low, high), got {answer!r}")
        low, high = (number(end, name, finite=False) for end in answer)
        exact = _exact_epsilon(base, losses, np.array(weights) * (1 - infinite), infinite, k, delta)
        if exact == math.inf:
            if high < math.inf:
                raise Wrong(f"{name}: the infinite losses alone have probability {-math.expm1(k * math.log1p(-infinite)):.1e} > delta, so ε is infinite")
            continue
        if low > high and max(low, high) >= exact - 1e-9:
            raise Wrong(f"{name}: low = {low:.4f} is above high = {high:.4f}")
        places = 4 if min(abs(low - exact), abs(high - exact)) > 1e-4 else 9     # else the wrong would look like the right
        case = f"{name}: ({low:.{places}f}, {high:.{places}f})"
        free = _exact_epsilon(base, losses, np.array(weights), 0.0, k, delta)
        if high < exact - 1e-9:
            hint = ""
            if infinite and abs(high - free) < 0.1:
                hint = ": the mass of the infinite losses, which is part of delta, is forgotten, or charged for one of the k steps only"
            elif not delta:
                hint = f": {_NOTHING_LEFT}"
            elif k * max(losses) * base > 15:
                hint = ": does a large total come back at the other end of the transform?"
            elif high > 0.8 * exact or high == 0:
                hint = ": for the upper end every loss must be rounded up, not to the nearest point, and what is dropped be charged to delta"
            raise Wrong(f"{case} does not hold the true {exact:.{places}f}{hint}")
        if low > exact + 1e-9:
            hint = "for the lower end every loss must be rounded down, and ε be read off one grid point lower"
            if low >= exact + 0.1:
                hint = "is it p against q, are only the outcomes with q = 0 infinite, and is δ the mean of 1 - e^(ε - loss) where the loss is above ε?"
            raise Wrong(f"{case} does not hold the true {exact:.{places}f}: {hint}")
        if high - low >= 0.1:
            hint = "k times the step of the grid, and a step or two for reading ε off it" if delta else _NOTHING_LEFT
            raise Wrong(f"{case} is {high - low:.3g} wide; it should be less than 0.1 ({hint})")
    return "every bracket holds the exact value and is narrow, with catastrophes and with totals up to 40"


# ------------------------------------------------------------------------------------------------------------------------- which bill

_REPORTS = {
    "a": (True, "orders are computed from σ and k, not from data: the best of valid bounds is one"),
    "b": (False, "a limit is not a bound; here it is below the truth"),
    "c": (False, "a loss above 3 has some probability in each step; dropped, it is missing from δ"),
    "d": (False, "rounding to the nearest moves some losses down: the result may be on either side"),
    "e": (False, "the neighbour the other way round costs more, and the promise is for both"),
    "f": (True, "it is too high, but the symmetrised curve lies below both directions, so it holds"),
}


@checker
def acc_honest(honest):
    """`honest`: letter -> whether the report's method gives a bound."""
    right = {letter: right for letter, (right, _) in _REPORTS.items()}

    def why(letter, said):
        return f"{right[letter]}: {_REPORTS[letter][1]}" if isinstance(said, (bool, np.bool_)) else f"expected True or False, got {said!r}"

    if isinstance(honest, dict):
        honest = {letter: ... if said is None else said if isinstance(said, (bool, np.bool_)) or said is ... else repr(said) for letter, said in honest.items()}
    compare_dict(honest, right, why)
    return "two bounds, both too high; the other four methods promise nothing"


# ------------------------------------------------------------------------------------------------------------- one ticket, many draws

def _exact_sample_loss(epsilon, rate, k):
    """Largest loss, either way, of k randomized responses that see one lot: all transcripts."""
    truth = 1 / (1 + math.exp(-epsilon))
    absent, present = np.array([1 - truth, truth]), np.array([truth, 1 - truth])
    worst = 0.0
    for answers in itertools.product((0, 1), repeat=k):
        out, inside = absent[list(answers)].prod(), present[list(answers)].prod()
        worst = max(worst, abs(math.log(((1 - rate) * out + rate * inside) / out)))
    return worst


@checker
def acc_sample(honest_total):
    """`honest_total(epsilon, rate, k, known)`: pure epsilon of k answers about one Poisson sample."""
    cases = [(0.5, 0.2, 3), (0.1, 0.01, 100), (1.0, 0.5, 1), (1.0, 0.05, 6), (2.0, 0.001, 20), (0.3, 1.0, 4), (20.0, 0.01, 100)]
    for epsilon, rate, k in cases:
        for known in (False, True):
            value = answered(honest_total, epsilon, rate, k, known)
            case = f"for epsilon = {epsilon:g}, rate = {rate:g}, k = {k}, known = {known}"
            got = number(value, case, finite=False)
            if known:
                right = k * epsilon
            elif k <= 6:
                right = _exact_sample_loss(epsilon, rate, k)
            else:
                right = float(np.logaddexp(math.log1p(-rate), math.log(rate) + k * epsilon))
            if abs(got - right) <= 1e-6 * right:
                continue
            afresh = k * (math.log1p(rate * math.expm1(epsilon)))
            if not math.isfinite(got):
                raise Wrong(f"{case}: expected a finite number, got {got:g}; e^(k epsilon) is too large for a float, use a sum of logarithms")
            if known:
                raise Wrong(f"{case}: {got:.4f}; who knows that the lot was drawn sees k answers about a patient who is in: {right:.4f}")
            if abs(got - afresh) <= 1e-6 * afresh:
                raise Wrong(f"{case}: {got:.4f} is for a fresh sample for each answer; the program draws one, and the total is {right:.4f}")
            if abs(got - rate * k * epsilon) <= 1e-6 * got:
                raise Wrong(f"{case}: {got:.4f} multiplies by the rate, which is right for tiny losses only: {right:.4f}")
            raise Wrong(f"{case}: expected {right:.4f}, got {got:.4f}" + ("; that promises too much" if got < right else "; less is enough"))
    return "one lottery for all the answers, none for whom it is known"


# -------------------------------------------------------------------------------------------------------------------------- how much noise

def _spent(sigma, delta, rate, steps):
    """Of the evidence for presence (D' against D), and for absence."""
    f = fdp.gaussian(1 / sigma).subsample(rate) ** steps
    return f.epsilon(delta), f.inverse().epsilon(delta)


@checker
def acc_sigma(noise_for):
    """`noise_for(epsilon, delta, rate, steps)`: smallest sigma, within 1 %, of Poisson-sampled Gaussian steps."""
    for epsilon, delta, rate, steps in ((1.0, 1e-5, 1.0, 100), (1.0, 1e-5, 0.02, 500), (4.0, 1e-6, 0.1, 200)):
        value = answered(noise_for, epsilon, delta, rate, steps)
        case = f"for epsilon = {epsilon:g}, delta = {delta:g}, rate = {rate:g}, {steps} steps"
        got = number(value, case)
        if not 0.55 < got < 220:
            raise Wrong(f"{case}: expected a sigma between 0.6 and 200, got {got:g}")
        ahead, back = _spent(got, delta, rate, steps)
        if max(ahead, back) <= epsilon * (1 + 1e-4):
            least = max(_spent(got * 0.9895, delta, rate, steps))
            if least <= epsilon:
                unsampled = max(_spent(got, delta, 1.0, steps)) if rate < 1 else math.inf
                hint = " (that is the noise without any sampling)" if unsampled < 1.03 * epsilon else ""
                raise Wrong(f"{case}: sigma = {got:.3f} spends only {max(ahead, back):.3f}{hint}: less noise will do")
            continue
        limit = fdp.gaussian(math.sqrt(math.expm1(1 / got**2) * steps) * rate).epsilon(delta)
        if rate < 1 and abs(limit - epsilon) < min(0.02 * epsilon, abs(back - epsilon)):
            raise Wrong(f"{case}: sigma = {got:.3f} is what the limit theorem asks; the truth at it is {ahead:.3f}: a limit is no bound")
        if back <= epsilon * (1 + 1e-4) and ahead > 1.02 * epsilon:          # and not the lower end of a halving in both directions
            raise Wrong(f"{case}: sigma = {got:.3f} limits the evidence for absence, but that for presence spends {ahead:.3f}: ask both directions")
        raise Wrong(f"{case}: sigma = {got:.3f} spends {max(ahead, back):.4f}: more noise is needed")
    return "enough noise, and no more than one per cent too much (presence is the dearer direction here; in general ask both)"
