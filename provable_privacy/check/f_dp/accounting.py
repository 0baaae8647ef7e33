"""Checkers of chapter 6, section 4: accounting."""
import itertools
import math

import numpy as np
from scipy.optimize import minimize_scalar

from dplib import fdp
from provable_privacy.entries import TrueFalse, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import Wrong, answered, checker, number

__all__ = ["acc_honest", "acc_pld", "acc_rdp", "acc_sample", "acc_sigma"]


# --------------------------------------------------------------------------------------- from Renyi to epsilon

def _bill(order, curve, delta, sharp=True):
    extra = math.log1p(-1 / order) - math.log(order) / (order - 1) if sharp else 0.0
    return curve(order) + math.log(1 / delta) / (order - 1) + extra


def _conversion(curve, delta, sharp=True):
    """The best bill over real orders, and its order: a fine grid, then a search within the best of its gaps."""
    def bill(log_excess):
        return _bill(1 + math.exp(log_excess), curve, delta, sharp)

    grid = np.linspace(math.log(0.04), math.log(510), 800)
    bills = [bill(x) for x in grid]
    i = int(np.argmin(bills))
    ends = grid[max(i - 1, 0)], grid[min(i + 1, grid.size - 1)]
    found = minimize_scalar(bill, bounds=ends, method="bounded", options={"xatol": 1e-9})
    return max(0.0, min(found.fun, bills[i])), 1 + math.exp(found.x)


def _gaussian_curve(mu):
    return lambda order: order * mu * mu / 2


def _coin_curve(epsilon, k):
    """Renyi divergence of k randomized responses."""
    truth = math.log(1 / (1 + math.exp(-epsilon)))
    lie = truth - epsilon

    def curve(order):
        both = np.logaddexp(order * truth + (1 - order) * lie, order * lie + (1 - order) * truth)
        return k * float(both) / (order - 1)

    return curve


CURVES = {                                       # best orders from 1.05 to 500, or epsilon 0
    "a hundred Sundays": (_gaussian_curve(1.0), 1e-5),
    "one Sunday (mu = 0.1)": (_gaussian_curve(0.1), 1e-5),
    "mu = 5": (_gaussian_curve(5.0), 1e-9),
    "mu = 12": (_gaussian_curve(12.0), 1e-5),
    "mu = 0.2 at delta = 0.001": (_gaussian_curve(0.2), 1e-3),
    "a hundred coins at 0.1": (_coin_curve(0.1, 100), 1e-5),
    "mu = 0.02": (_gaussian_curve(0.02), 1e-5),
    "mu = 80": (_gaussian_curve(80.0), 1e-5),
    "mu = 0.001 at delta = 0.001": (_gaussian_curve(0.001), 1e-3),
}
RDP_MISTAKES = {
    "this is the bill without c_lambda, which is ln((alpha - 1)/alpha) - ln(alpha)/(alpha - 1)":
        lambda curve, delta: _conversion(curve, delta, sharp=False)[0],
    "this is the best of the whole orders; an order between them is better":
        lambda curve, delta: max(0.0, min(_bill(order, curve, delta) for order in range(2, 501))),
}


def _not_the_smallest(got, right, curve, delta):
    if got < 0:
        return "the theorem is about ε ≥ 0, so the answer is at least 0"
    verdict = "this is below every order's bill: a false promise" if got < right else "valid but not the smallest"
    return f"{verdict}; the best order, {_conversion(curve, delta)[1]:.2f}, gives {right:.4f}"


@checker
def acc_rdp(rdp_to_eps):
    """`rdp_to_eps(curve, delta)`: smallest epsilon over all orders by the improved conversion."""
    names = {curve: name for name, (curve, _) in CURVES.items()}
    on_cases(rdp_to_eps, CURVES.values(), lambda curve, delta: _conversion(curve, delta)[0], RDP_MISTAKES, rtol=1e-7,
             alike=1e-3, finite=False, what="epsilon", show=lambda curve, delta: names[curve],
             accepts=lambda got, right, *case: 0 <= got - right <= 2e-3 * right, otherwise=_not_the_smallest)
    return "the best order found in nine cases, from near 1 to hundreds"


# --------------------------------------------------------------------------------------- a bracket

def _lattice_law(losses, weights, k):
    """Law of the sum of k losses that are whole multiples of one base: plain convolution, no transform."""
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


def _infinite_after(k, infinite):
    """Probability that one of k losses is infinite, where each is with probability `infinite`."""
    return -math.expm1(k * math.log1p(-infinite))


def _exact_epsilon(base, losses, weights, infinite, k, delta):
    """Epsilon of k steps whose losses are infinite, or base times one of `losses` with its weight."""
    total, law = _lattice_law(losses, weights, k)
    lost, law = _infinite_after(k, infinite), law * (1 - infinite) ** k
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
    """Laws p and q with these losses; p has its infinite mass where q = 0, and q has what is left where p = 0."""
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


_NOTHING_LEFT = (
    "where delta is 0, the result depends on round-off. For the upper end add the charge for round-off to delta, and "
    "use the largest total if nothing is small enough; for the lower end subtract the charge"
)


def _too_low(high, exact, name):
    """Why an upper end is below the truth."""
    (base, losses, weights), infinite, k, delta = _STEPS[name]
    if infinite and abs(high - _exact_epsilon(base, losses, weights, 0.0, k, delta)) < 0.1:
        return ": the infinite losses are part of delta; you forget them, or charge for one of the k steps only"
    if not delta:
        return f": {_NOTHING_LEFT}"
    if k * max(losses) * base > 15:
        return ": does a large total come back at the other end of the transform?"
    if high > 0.8 * exact or high == 0:
        return ": for the upper end round every loss up, not to the nearest point, and charge to delta what is dropped"
    return ""


def _too_high(low, exact):
    """Why a lower end is above the truth."""
    if low >= exact + 0.1:
        return ("do you compare p against q? Are only outcomes with q = 0 infinite? "
                "Is δ the mean of 1 - e^(ε - loss) over the losses above ε?")
    return "for the lower end every loss must be rounded down, and ε be read off one grid point lower"


@checker
def acc_pld(my_bracket):
    """`my_bracket(p, q, k, delta)`: (low, high) that holds epsilon of k steps, less than 0.1 wide."""
    for name, ((base, losses, weights), infinite, k, delta) in _STEPS.items():
        answer = answered(my_bracket, *_pair(base, losses, weights, infinite), k, delta)
        if not isinstance(answer, (tuple, list, np.ndarray)) or len(answer) != 2:
            raise Wrong(f"expected a pair (low, high), got {answer!r}")
        low, high = (number(end, name, finite=False) for end in answer)
        exact = _exact_epsilon(base, losses, weights, infinite, k, delta)
        if exact == math.inf:
            if high < math.inf:
                lost = _infinite_after(k, infinite)
                raise Wrong(f"{name}: the infinite losses alone have probability {lost:.1e} > delta, so ε is infinite")
            continue
        if low > high and max(low, high) >= exact - 1e-9:
            raise Wrong(f"{name}: low = {low:.4f} is above high = {high:.4f}")
        places = 4 if min(abs(low - exact), abs(high - exact)) > 1e-4 else 9     # or the wrong would look right
        case = f"{name}: ({low:.{places}f}, {high:.{places}f})"
        if high < exact - 1e-9:
            raise Wrong(f"{case} does not hold the true {exact:.{places}f}{_too_low(high, exact, name)}")
        if low > exact + 1e-9:
            raise Wrong(f"{case} does not hold the true {exact:.{places}f}: {_too_high(low, exact)}")
        if high - low >= 0.1:
            hint = "k times the step of the grid, and a step or two for reading ε off it" if delta else _NOTHING_LEFT
            raise Wrong(f"{case} is {high - low:.3g} wide; it should be less than 0.1 ({hint})")
    return "every bracket holds the exact value and is narrow, with catastrophes and with totals up to 40"


# --------------------------------------------------------------------------------------- which bill

@entries("two methods give upper bounds, both too high; the other four methods prove nothing")
def acc_honest():
    """`honest`: letter -> whether the report's method gives a bound."""
    return {
        "a": TrueFalse(True, "True: orders come from σ and k, not from the data; the best of valid bounds is valid"),
        "b": TrueFalse(False, "False: a limit is not a bound; here it is below the truth"),
        "c": TrueFalse(False, "False: a loss above 3 has some probability in each step; dropped, it is missing from δ"),
        "d": TrueFalse(False, "False: rounding to the nearest moves some losses down, so the result may be on "
                              "either side of the truth"),
        "e": TrueFalse(False, "False: evidence for presence costs more, and the promise is for both directions"),
        "f": TrueFalse(True, "True: it is too high, but the symmetrised curve lies below both directions, so it holds"),
    }


# --------------------------------------------------------------------------------------- one ticket, many draws

def _exact_sample_loss(epsilon, rate, k):
    """Largest loss, either way, of k randomized responses that see one lot: all transcripts."""
    truth = 1 / (1 + math.exp(-epsilon))
    absent, present = np.array([1 - truth, truth]), np.array([truth, 1 - truth])
    worst = 0.0
    for answers in itertools.product((0, 1), repeat=k):
        out, inside = absent[list(answers)].prod(), present[list(answers)].prod()
        worst = max(worst, abs(math.log(((1 - rate) * out + rate * inside) / out)))
    return worst


SAMPLES = [  # epsilon, rate, how many answers about the sample
    (0.5, 0.2, 3),
    (0.1, 0.01, 100),
    (1.0, 0.5, 1),
    (1.0, 0.05, 6),
    (2.0, 0.001, 20),
    (0.3, 1.0, 4),
    (20.0, 0.01, 100),
]


def _total(epsilon, rate, k, known):
    if known:
        return k * epsilon
    if k <= 6:
        return _exact_sample_loss(epsilon, rate, k)
    return float(np.logaddexp(math.log1p(-rate), math.log(rate) + k * epsilon))


SAMPLE_MISTAKES = {
    "e^(k epsilon) is too large for a float, use a sum of logarithms": lambda *case: math.inf,
    "whoever knows that the person was drawn sees k answers about a patient who is in the sample: k epsilon":
        lambda epsilon, rate, k, known: _total(epsilon, rate, k, False),
    "this is for a fresh sample for each answer, and the program draws one for all":
        lambda epsilon, rate, k, known: k * math.log1p(rate * math.expm1(epsilon)),
    "this multiplies by the rate, which is right for tiny losses only":
        lambda epsilon, rate, k, known: rate * k * epsilon,
}


@checker
def acc_sample(honest_total):
    """`honest_total(epsilon, rate, k, known)`: pure epsilon of k answers about one Poisson sample."""
    on_cases(honest_total, [(*case, known) for case in SAMPLES for known in (False, True)], _total, SAMPLE_MISTAKES,
             finite=False, what="epsilon", below="that promises too much", above="less is enough")
    return "one sample for all the answers, and no help from sampling against someone who knows who was drawn"


# --------------------------------------------------------------------------------------- how much noise

def _spent(sigma, delta, rate, steps):
    """Of the evidence for presence (D' against D), and for absence."""
    f = fdp.gaussian(1 / sigma).subsample(rate) ** steps
    return f.epsilon(delta), f.inverse().epsilon(delta)


TRAININGS = [(1.0, 1e-5, 1.0, 100), (1.0, 1e-5, 0.02, 500), (4.0, 1e-6, 0.1, 200)]   # epsilon, delta, rate, steps


@checker
def acc_sigma(noise_for):
    """`noise_for(epsilon, delta, rate, steps)`: smallest sigma, within 1 %, of Poisson-sampled Gaussian steps."""
    for epsilon, delta, rate, steps in TRAININGS:
        case = f"for epsilon = {epsilon:g}, delta = {delta:g}, rate = {rate:g}, {steps} steps"
        sigma = number(answered(noise_for, epsilon, delta, rate, steps), case)
        if not 0.55 < sigma < 220:
            raise Wrong(f"{case}: expected a sigma between 0.6 and 200, got {sigma:g}")
        ahead, back = _spent(sigma, delta, rate, steps)
        case, enough = f"{case}: sigma = {sigma:.3f}", epsilon * (1 + 1e-4)
        if max(ahead, back) <= enough:
            if max(_spent(sigma * 0.9895, delta, rate, steps)) <= epsilon:
                unsampled = max(_spent(sigma, delta, 1.0, steps)) if rate < 1 else math.inf
                hint = " (that is the noise without any sampling)" if unsampled < 1.03 * epsilon else ""
                raise Wrong(f"{case} spends only {max(ahead, back):.3f}{hint}: less noise will do")
            continue
        limit = fdp.gaussian(math.sqrt(math.expm1(1 / sigma**2) * steps) * rate).epsilon(delta)
        if rate < 1 and abs(limit - epsilon) < min(0.02 * epsilon, abs(back - epsilon)):
            raise Wrong(f"{case} is what the limit theorem asks; the truth at it is {ahead:.3f}: a limit is no bound")
        if back <= enough and ahead > 1.02 * epsilon:    # and not the lower end of a halving in both directions
            raise Wrong(f"{case} limits the loss if absent, but if present it is {ahead:.3f}: ask both directions")
        raise Wrong(f"{case} spends {max(ahead, back):.4f}: more noise is needed")
    return "enough noise, at most one per cent too much; here presence costs more, but in general ask both directions"
