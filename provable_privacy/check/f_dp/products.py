"""Checkers of chapter 6: products of trade-off functions."""
import math

import numpy as np

from dplib import fdp
from provable_privacy.speech import Wrong, answered, checker, number, numbers

__all__ = ["prod_band", "prod_squares", "prod_tensor", "prod_vendor"]


def _most_caught(p, q, alpha):
    """The most that a randomized test of level alpha catches: a knapsack, filled by value for weight."""
    order = sorted(range(len(p)), key=lambda i: -math.atan2(q[i], p[i]))
    caught, room = 0.0, alpha
    for i in order:
        share = 1.0 if p[i] <= room else room / p[i]
        caught, room = caught + share * q[i], room - share * p[i]
        if share < 1:
            break
    return caught


def _tradeoff(p, q, alpha):
    return 1 - _most_caught(np.ravel(p).tolist(), np.ravel(q).tolist(), alpha)


def _without_coin(p, q, alpha):
    """The same without tossing a coin on the last outcome."""
    order = np.argsort(-np.arctan2(q, p), kind="stable")
    fits = np.cumsum(p[order]) <= alpha + 1e-12
    return 1 - q[order][fits].sum()


def _tensor_cases():
    rng = np.random.default_rng(8)
    yield ([0.75, 0.25], [0.25, 0.75]), ([0.75, 0.25], [0.25, 0.75]), (1 / 16, 0.25, 1.0, 0.0)
    yield ([0.5, 0.5, 0.0], [0.2, 0.7, 0.1]), ([0.9, 0.1], [0.4, 0.6]), (0.03, 0.3, 0.0)
    yield ([0.3, 0.7, 0.0, 0.0], [0.0, 0.6, 0.4, 0.0]), ([0.2, 0.3, 0.5], [0.5, 0.1, 0.4]), (0.1, 0.5, 0.8, 0.0)
    for sizes in ((2, 3), (4, 4), (6, 2), (5, 7)):
        pairs = [[rng.dirichlet(np.ones(size)) for _ in range(2)] for size in sizes]
        yield tuple(pairs[0]), tuple(pairs[1]), (0.01, 0.05, 0.4)


@checker
def prod_tensor(tensor):
    """`tensor(one, other, alpha)`: the product of T(one) and T(other) at alpha."""
    answers = []
    for one, other, levels in _tensor_cases():
        one, other = (tuple(np.asarray(law, dtype=float) for law in pair) for pair in (one, other))
        p, q = (np.outer(a, b).ravel() for a, b in zip(one, other))
        for alpha in levels:
            got = number(answered(tensor, tuple(law.copy() for law in one), tuple(law.copy() for law in other), alpha), "the product")
            right, f, g = _tradeoff(p, q, alpha), _tradeoff(*one, alpha), _tradeoff(*other, alpha)
            answers.append((f"alpha = {alpha:g}, laws of {one[0].size} and {other[0].size} outcomes", got, right, {
                "this is the smaller of the two curves; whoever sees both outputs can do better than with either alone": min(f, g),
                "this is the larger of the two curves": max(f, g),
                "two values of beta are multiplied; the attacker does not spend alpha twice, and need not accuse only when both tests do": f * g,
                "this is T(Q, P): the two laws are exchanged": _tradeoff(q, p, alpha),
                "the first test is applied after the second, 1 - f(1 - g): that is group privacy, not two outputs":
                    _tradeoff(*one, min(1.0, max(0.0, 1 - g))),
                "the last outcome that no longer fits is left out; a test may toss a coin on it": _without_coin(p, q, alpha),
                "this is the probability of being caught, not of being missed": 1 - right,
                "the two losses of 1 - beta are added": max(0.0, f + g - 1),
            }))
    for case, got, right, rivals in answers:
        if abs(got - right) < 1e-9:
            continue
        case += f": {got:.6f}, but the best test misses {right:.6f}"
        for message in rivals:                   # the mistake that explains all answers, if there is one
            if all(abs(said - theirs[message]) < 1e-9 for _, said, _, theirs in answers):
                raise Wrong(f"{case}; {message}")
        if 0 < right - got < 1e-3:
            raise Wrong(f"{case}; close and on the safe side, as products on a grid are; with finitely many outcomes it can be exact")
        raise Wrong(f"{case}; {'too low: no test is that good' if got < right else 'too high: there is a better test'}")
    return f"the best test on both outputs, in {len(answers)} cases, impossible outcomes included"


@checker
def prod_squares(sigmas):
    """`sigmas(mu, sensitivities)`: least total variance of Gaussian noises that are together mu-GDP."""
    for mu, widths in ((1.0, [1.0, 10.0, 100.0]), (0.5, [2.0, 2.0]), (2.0, [5.0]), (1.5, [0.1, 3.0, 40.0, 7.0, 1.0])):
        width = np.array(widths)
        got = numbers(answered(sigmas, mu, list(widths)), width.shape, "the standard deviations")
        if not np.all(got > 0):
            raise Wrong("a standard deviation must be positive")
        spent = math.sqrt(((width / got) ** 2).sum())
        right = np.sqrt(width * width.sum()) / mu
        case = f"mu = {mu:g}, sensitivities {widths}"
        more = (got**2).sum() / (right**2).sum()
        if abs(spent / mu - 1) <= 1e-6 and more <= 1 + 1e-5:     # at the best point the sum is flat, and optimisers stop anywhere near it
            continue
        if np.allclose(got, right**2, rtol=1e-6):
            raise Wrong(f"{case}: these are the variances; noise is asked for by its standard deviation")
        if spent > mu * (1 + 1e-6):
            hint = ""
            if abs((width / got).sum() / mu - 1) < 1e-6:
                hint = "; the mu were added"
            elif np.allclose(got, width / mu, rtol=1e-6):
                hint = "; each release spends the whole mu, and someone sees all of them"
            raise Wrong(f"{case}: together these are {spent:.7g}-GDP, more than was allowed{hint}")
        if spent < mu * (1 - 1e-6):
            hint = "; the mu add up in squares, not as they are" if abs((width / got).sum() / mu - 1) < 1e-6 else ""
            raise Wrong(f"{case}: private, but only {spent:.7g} of mu is used, and less noise will do{hint}")
        hint = "; every release got the same mu" if np.allclose(width / got, (width / got)[0], rtol=1e-6) else ""
        hint = hint or ("; every release got the same noise" if np.allclose(got, got[0], rtol=1e-6) else "")
        raise Wrong(f"{case}: exactly mu, but the variances add up to {more:.6g} times the least possible{hint}")
    return "exactly mu-GDP together, and no other choice has less total variance"


@checker
def prod_band(fewest):
    """`fewest(epsilon, alpha)`: smallest n with gamma of n randomized responses at most alpha."""
    for epsilon, alpha in ((2.0, 0.2), (1.0, 0.05), (0.1, 0.05), (3.0, 0.3), (0.1, 1e-5)):
        got = number(answered(fewest, epsilon, alpha), "the number of releases", whole=True)
        p, mean = 1 / (1 + math.exp(epsilon)), epsilon * math.tanh(epsilon / 2)        # P(evidence = epsilon), kl
        third = p * (epsilon + mean) ** 3 + (1 - p) * (epsilon - mean) ** 3
        variance = epsilon**2 - mean**2
        ratio = 0.56 * third / variance**1.5 / alpha
        right = math.ceil(ratio**2)
        if abs(got - right) <= max(1, 1e-9 * right) and abs(ratio**2 - round(ratio**2)) < 1e-6 * ratio**2 or got == right:
            continue
        case = f"epsilon = {epsilon:g}, alpha = {alpha:g}: {got:,.0f}"
        rivals = {
            "one too few: round up, for gamma is still above alpha there": right - 1,
            "gamma falls like 1/√n, not like 1/n": math.ceil(ratio),
            "gamma uses the moment about the mean of the evidence; this uses κ3": math.ceil((0.56 * epsilon**3 / variance**1.5 / alpha) ** 2),
            "the variance is κ2 - kl²; this uses κ2": math.ceil((0.56 * third / epsilon**3 / alpha) ** 2),
            "the factor 0.56 is missing": math.ceil((ratio / 0.56) ** 2),
            "this is where gamma falls below one half; the band must also reach alpha": math.ceil((ratio * alpha / 0.5) ** 2),
            "one too many": right + 1,
        }
        gamma = ratio * alpha / math.sqrt(max(got, 1))
        for message, value in rivals.items():
            if got == value:
                raise Wrong(f"{case}; {message}")
        if got < right:
            raise Wrong(f"{case}: gamma is {gamma:.4g} there, above alpha, and the band begins only at gamma")
        raise Wrong(f"{case}: fewer are enough, {right:,}")
    return "the first n with γ ≤ α, for five pairs of ε and α"


@checker
def prod_vendor(honest_epsilon):
    """`honest_epsilon(phases, delta)`: exact epsilon of subsampled Gaussian steps, the worse of the two directions."""
    for phases, delta in (([(0.01, 1.0, 1000), (0.05, 3.0, 200)], 1e-5), ([(0.3, 2.0, 20)], 1e-3), ([(1.0, 8.0, 16), (0.02, 1.5, 300)], 1e-6)):
        got = number(answered(honest_epsilon, list(phases), delta), "epsilon")
        steps = [(fdp.gaussian(1 / sigma).subsample(q), times) for q, sigma, times in phases]
        product = fdp.compose(steps)
        one, other = product.epsilon(delta), product.inverse().epsilon(delta)
        right = max(one, other)
        if -2e-5 <= got / right - 1 < 5e-4:      # dplib's own number is above the truth, by about 5e-6
            continue
        case = f"phases {phases}, delta = {delta:g}: epsilon {got:.4f}, but the product needs {right:.4f}"
        mu = math.sqrt(sum(q**2 * times * math.expm1(1 / sigma**2) for q, sigma, times in phases))
        rivals = {
            "this is the limit once more; it is an approximation and here it promises too much": lambda: fdp.gaussian(mu).epsilon(delta),
            "this is one direction only; in the other one the same steps cost more": lambda: min(one, other),
            "each step was symmetrised before it was multiplied: safe, but each direction has a product of its own":
                lambda: fdp.compose([(step.symmetrize(), times) for step, times in steps]).epsilon(delta),
            "nobody was sampled: this is the price without q":
                lambda: fdp.gaussian(math.sqrt(sum(times / sigma**2 for _, sigma, times in phases))).epsilon(delta),
            "each phase was converted to an epsilon of its own, and these were added":
                lambda: sum(max((step**times).epsilon(delta), (step**times).inverse().epsilon(delta)) for step, times in steps),
            "this is what the first phase costs alone": lambda: max((steps[0][0] ** steps[0][1]).epsilon(delta), 0.0),
            "every phase was charged for one step": lambda: fdp.compose([(step, 1) for step, _ in steps]).epsilon(delta),
        }
        for message, value in rivals.items():
            if abs(got - value()) < 2e-4 * max(got, 0.01):
                raise Wrong(f"{case}; {message}")
        if abs(got - right) < 5e-4:
            raise Wrong(f"{case}: rounded down, it is a false promise; round up, or not at all")
        raise Wrong(f"{case}: {'too low, a false promise' if got < right else 'safe, but more than it costs'}")
    return "what the product of all steps needs (for this noise presence is the dearer direction; in general ask both)"
