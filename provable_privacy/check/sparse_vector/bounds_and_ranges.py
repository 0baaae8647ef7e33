"""Checkers of the section on clip bounds and range queries."""
import sys
import tracemalloc
from functools import cache, partial
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from dplib.budget import Budget
from dplib.svt import index_pmf, log_probability, scales
from provable_privacy.battery import Lines, Numbers, Pair, battery, looks_for
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import same_law
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, is_stub

__all__ = ["svt_auto_mean", "svt_gain", "svt_global", "svt_threshold", "svt_vectorise"]

COUNTS = "queries are asked, each a count"

# ---- thirty thousand questions, no loop

HALVES = np.random.default_rng(25).integers(0, 50, size=200) / 2
COUNTS = [                                       # values, bounds
    (HALVES, np.arange(-1, 30, 0.5)),
    *((np.array(values), np.array(bounds)) for values, bounds in (
        ([], [1.0, 2.0]), ([2.0], [3.0, 2.0, 1.0, 3.0]), ([5.0, 5.0, -1.0], []))),
]


def _above(values, bounds):
    return (values[:, None] > bounds).sum(axis=0)


COUNT_MISTAKES = {
    "a value equal to the bound is not above it: which side does searchsorted take?":
        lambda values, bounds: (values[:, None] >= bounds).sum(axis=0),
    "these are the values that are not above the bound": lambda values, bounds: (values[:, None] <= bounds).sum(axis=0),
    "these have the sign of the queries: return the counts": lambda values, bounds: -_above(values, bounds),
    "are the values sorted?": lambda values, bounds: len(values) - np.searchsorted(values, bounds, side="right"),
}


def _which_count(got, right, values, bounds):
    i = int(np.argmax(got != right))
    return f"{right[i]} values exceed {bounds[i]:g}, and it says {got[i]:g}"


def _steps(function, *arguments):
    """How many instructions of the Python interpreter a call takes."""
    steps, old = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += 1
        return trace

    sys.settrace(trace)
    try:
        ask(function, *arguments)
    finally:
        sys.settrace(old)
    return steps


def _does_not_loop(count_above):
    values, bounds = COUNTS[0]
    sizes = {"bounds": [(values, np.linspace(0, 25, k)) for k in (50, 450)],
             "values": [(np.resize(values, n), bounds) for n in (100, 500)]}
    for over, (few, many) in sizes.items():
        if _steps(count_above, *many) - _steps(count_above, *few) > 400:
            raise Wrong(f"right, but it loops over the {over} in Python: more of them take the interpreter more steps")


def _makes_no_table(count_above):
    many = np.random.default_rng(26).random(2000)
    tracemalloc.start()
    try:
        ask(count_above, many, many)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 1e6:
        raise Wrong("right and without a loop, but it makes a table of values times bounds. For 30,000 of each that "
                    "is a billion cells")


@checker
def svt_vectorise(count_above):
    """`count_above(values, bounds)`: how many values exceed each bound, without a loop over either."""
    on_cases(count_above, COUNTS, _above, COUNT_MISTAKES, shape=lambda values, bounds: bounds.shape,
             what="the counts, one for each bound", otherwise=_which_count)
    _does_not_loop(count_above)
    _makes_no_table(count_above)
    return "right, without a loop and without a table of all pairs"


# ---- a threshold for all data

SEARCHES = [(30, 100, 0.1, 0.05), (1000, 50, 0.5, 0.01), (5, 400, 0.05, 0.1)]


def _too_early(k, people, epsilon, threshold, monotone=True):
    noise = scales(epsilon, monotone=monotone)
    answers = np.full(k, -float(people))
    return -np.expm1(log_probability(np.zeros(k), answers, threshold=float(threshold), noise=noise))


@cache
def _smallest(k, people, epsilon, beta, monotone=True):
    return brentq(lambda threshold: _too_early(k, people, epsilon, threshold, monotone) - beta,
                  -people, 1000 / epsilon - people)


THRESHOLD_MISTAKES = {
    "that is too high. It is the distance from the answers to the threshold, and the answers lie at -people":
        lambda k, people, epsilon, beta: _smallest(k, people, epsilon, beta) + people,
    "that is too high. It would be right if the answers lay at +people, but they are minus a count":
        lambda k, people, epsilon, beta: _smallest(k, people, epsilon, beta) + 2 * people,
    "that is too high. It is the threshold for noise 2/ε₂. Counts all move the same way and need half of it, "
    "monotone=True": partial(_smallest, monotone=False),
}


def _near_enough(got, right, k, people, epsilon, beta):
    return -0.02 <= (got - right) * epsilon <= 0.2


def _what_threshold(got, right, k, people, epsilon, beta):
    if got < right:
        return f"that is too low: the search stops too early in {_too_early(k, people, epsilon, got):.1%} of runs"
    return f"that is safe, but {got - right:.1f} higher than needed, so nothing passes when it should"


@checker
def svt_threshold(threshold):
    """`threshold(k, people, epsilon, beta)`: smallest T at which k candidates stop too early with chance <= beta."""
    on_cases(threshold, SEARCHES, _smallest, THRESHOLD_MISTAKES, rtol=1e-4, what="the threshold",
             accepts=_near_enough, otherwise=_what_threshold)
    return "safe and no higher than needed, in all three cases"


# ---- is this the noise?

RUNS, CELLS = 6000, 16
SHARES = np.arange(1, CELLS) / CELLS - 0.5
EDGES = np.sign(SHARES) * -np.log1p(-2 * np.abs(SHARES))   # Lap(1) fills the cells between them evenly


def _in_cells(*factors):
    """The law of the cells for noise that is this many times as wide as it should be; the mean of several."""
    x = EDGES / np.array(factors)[:, None]
    cdf = np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x)))
    return np.diff(cdf, prepend=0, append=1).mean(axis=0)


def _noise(rng, errors, scale, what, mistakes):
    """Raise `Wrong` unless `errors` look like Lap(scale), perhaps rounded. `mistakes`: words -> how often as wide."""
    if min(np.ptp(errors), np.ptp(errors / scale)) < 1e-9:
        raise Wrong(f"{what} has no noise at all")
    step = np.diff(np.unique(errors.round(9))).min()
    if np.allclose(errors / step, (errors / step).round(), rtol=0, atol=1e-6):   # rounded: spread each over its cell
        errors = errors + step * np.random.default_rng(1).uniform(-0.5, 0.5, len(errors))
    residuals = errors / scale
    same_law(np.searchsorted(EDGES, residuals).tolist(), range(CELLS), (), partial(_in_cells, 1),
             {f"{what} has {words}": partial(_in_cells, *factors) for words, factors in mistakes.items()}, rng,
             lambda i: f"{what}: the noise does not have the right law; its cell {i + 1} of 16 equally likely ones")
    off = (np.abs(residuals).mean() - 1) * np.sqrt(len(residuals))       # mean size of Lap(1): 1, standard deviation 1
    if abs(off) > 5.5:
        raise Wrong(f"{what} has noise that is somewhat too {'small' if off < 0 else 'large'}")
    if np.abs(residuals).max() < np.log(len(residuals) / 25):            # a chance of e^-25
        raise Wrong(f"{what} has noise that is cut off. A value at its end with one table cannot come from a neighbour")


def _fresh(first, second, who):
    """Raise `Wrong` if two noises, or a noise and a choice, depend on each other in sign or in size."""
    def sides(x):
        return np.sign(x - np.mean(x)), np.sign(np.abs(x) - np.median(np.abs(x)))

    for one in sides(first):
        for two in sides(second):                # independent: a mean of 0, with standard error at most 1/sqrt(size)
            if abs(np.mean((one - one.mean()) * (two - two.mean()))) > 6 / np.sqrt(len(first)):
                raise Wrong(f"{who} one draw of noise, so the two together reveal it. Draw fresh noise for each")


# ---- the automatic mean

VALUES = np.append(np.repeat([0.0, 3.5, 12.0, 40.0, 90.0], [20, 40, 9, 5, 3]), 700.0)     # one person of 78 has 700
BOUNDS = np.array([10, 20, 50, 100, 800, 3000])            # two candidates above everybody
LONGER = np.append(BOUNDS, np.arange(4000, 10_000, 1000))


def _paid(auto_mean, arguments, rng):
    """The answer, with a new budget for each run."""
    values, bounds, threshold, epsilon = arguments
    got = ask(auto_mean, values, bounds, threshold, budget := Budget(epsilon), rng)
    if len(budget.ledger) != 3:                  # where nothing passed, perhaps
        _ledger(budget, epsilon)
    return got


def _sample(auto_mean, case, runs, rng):
    """Bounds, noisy sums and noisy counts of some runs."""
    values, bounds, *rest = case
    return np.array([_paid(auto_mean, (values.copy(), bounds.copy(), *rest), rng) for _ in range(runs)], dtype=float).T


def _ledger(budget, epsilon):
    if not budget.ledger:
        raise Wrong("nothing was charged: call budget.spend for every release")
    charged = ", ".join(f"{entry.epsilon:g}" for entry in budget.ledger)
    if budget.spent < epsilon * (1 - 1e-9):
        raise Wrong(f"the ledger shows {charged}, in all {budget.spent:g} of {epsilon:g}. The bound, the sum and the "
                    "count are three releases, a third each")
    if not np.allclose([entry.epsilon for entry in budget.ledger], epsilon / 3) or len(budget.ledger) != 3:
        raise Wrong(f"the ledger shows {charged}; expected three entries, of a third of ε each")


def _pays_for_each_part(auto_mean, rng):
    got = answered(auto_mean, VALUES.copy(), BOUNDS.copy(), -3.0, budget := Budget(0.9), rng)
    if not (isinstance(got, tuple) and len(got) == 3):
        raise Wrong(f"expected a tuple (bound, noisy sum, noisy count), got {got!r}")
    _ledger(budget, 0.9)


def _refuses_when_poor(auto_mean, rng):
    budget = Budget(0.9)
    budget.spend(0.5, label="somebody else's release")
    try:
        released = auto_mean(VALUES.copy(), BOUNDS.copy(), -3.0, budget, rng)
    except Exception:                            # it works on a full budget, so it is the poor one that it refuses
        return
    if released is not None:
        raise Wrong("somebody else had already spent 0.5 of 0.9, and it released everything. Let the ledger refuse")


def _bounds_at_the_ends(auto_mean, rng):
    """At a threshold that nothing passes, and at one that everything passes."""
    last, first = ({float(bound) for bound in _sample(auto_mean, (VALUES, BOUNDS, threshold, 0.9), 20, rng)[0]}
                   for threshold in (1e6, -1e6))
    if last != {float(BOUNDS[-1])}:
        raise Wrong(f"nothing passes a threshold of a million, yet the bound was {min(last):g}. A candidate drawn at "
                    "random says nothing, and one looked up in the values is not private. Take the last candidate")
    if first != {float(BOUNDS[0])}:
        raise Wrong(f"with a threshold far below everything the first candidate {BOUNDS[0]} must be chosen, not "
                    f"{max(first):g}")


def _bound_law(noise, sign=-1):
    """The law of the bound on a case, when `noise` gives the scales of the search from its third of epsilon."""
    def law(values, bounds, threshold, epsilon):
        pmf = index_pmf(sign * _above(values, bounds), threshold=threshold, noise=noise(epsilon / 3))
        return pmf[:-1] + pmf[-1] * (np.arange(len(bounds)) == len(bounds) - 1)

    return law


BOUND = _bound_law(lambda third: scales(third, monotone=True))
BOUND_MISTAKES = {
    "the bound is private, but its noise is twice what counts need: they all move the same way, monotone=True":
        _bound_law(scales),
    "the search for the bound spends all of ε, not a third": _bound_law(lambda third: scales(3 * third, monotone=True)),
    "the noise of the search for the bound is half of what it must be":
        _bound_law(lambda third: scales(2 * third, monotone=True)),
    "the search for the bound has no noise: the bound tells the exact counts":
        _bound_law(lambda third: scales(1000 * third)),
    "the counts have the wrong sign: it stops where many are above the bound":
        _bound_law(lambda third: scales(third, monotone=True), sign=1),
}
NOISE_MISTAKES = {                               # words -> how many times as wide as it should be
    "a third of the noise it needs: all of ε was spent on it alone": [1 / 3],
    "half of the noise it needs": [0.5],
    "twice the noise it needs": [2.0],
}
FEW, MORE = np.array([12.0, 90.0, 700.0]), np.tile(VALUES, 8)
CASES = [                                        # (values, candidates, threshold, epsilon), runs, mistakes, of whom
    ((VALUES, BOUNDS, -3.0, 0.9), RUNS, BOUND_MISTAKES, ""),
    ((FEW, BOUNDS, -25.0, 0.9), RUNS // 2, {}, " of three people"),                       # the first candidate passes
    ((MORE, LONGER, 45.0, 0.3), RUNS // 2, {}, f" of {len(MORE)} people at ε = 0.3"),     # no candidate passes
    ((VALUES, BOUNDS, -3.3, 12.0), RUNS // 3, {}, " at ε = 12"),
    ((np.tile(VALUES, 100), BOUNDS, -600.0, 0.03), RUNS // 3, {}, " of 7,800 people at ε = 0.03"),
]


def _clipped(values, bounds):
    """The clipped sum for each run's bound."""
    return np.minimum(values[:, None], bounds).sum(axis=0)


def _chooses(case, bounds, mistakes, rng):
    values, candidates, threshold, epsilon = case
    if not np.isin(bounds, candidates).all():
        raise Wrong("the bound is not always one of the candidates")
    same_law(bounds.tolist(), candidates.tolist(), case, BOUND, mistakes, rng,
             lambda bound: f"at ε = {epsilon:g} and threshold {threshold:g} the bound {bound}")


def _clips(case, bounds, totals, rng):
    """Looks at the sum for mistakes that have words of their own."""
    values, candidates, _, epsilon = case
    clipped, unit, one = _clipped(values, bounds), 3 / epsilon, values[:, None]
    errors = totals - clipped
    residuals = errors / (bounds * unit)
    one_sided = abs(np.sign(residuals).mean()) > 8 / np.sqrt(RUNS) and np.ptp(residuals) > 1e-9
    others = {
        "the sum is not clipped at the chosen bound: one person with a million would move it by a million":
            values.sum(),
        "the sum leaves out everybody above the chosen bound: clip them, so that each counts for the bound":
            np.where(one > bounds, 0, one).sum(axis=0),
    }
    for words, other in others.items():
        if one_sided and abs(np.median(totals - other)) < abs(np.median(errors)) / 2:
            raise Wrong(words)
    size = np.median(np.abs(residuals))          # ln 2 if the noise is right
    if 0 < size < 0.1 and not rng.centred:
        raise Wrong("the noisy sum has noise for sensitivity 1, but one person can move it by the whole bound")
    if size > 1 and abs(np.median(np.abs(errors)) / (candidates[-1] * unit) - np.log(2)) < 0.08:
        raise Wrong("the noise on the sum is for the last candidate. Once the bound is chosen, one person moves the "
                    "sum by at most that bound")


def _shares_no_noise(bounds, totals, numbers, case):
    values, candidates, _, _ = case
    drawn = {"search": np.searchsorted(candidates, bounds), "sum": (totals - _clipped(values, bounds)) / bounds,
             "count": numbers - len(values)}
    for one, other in (("sum", "count"), ("sum", "search"), ("count", "search")):
        _fresh(drawn[one], drawn[other], f"the {other} and the {one} share")
    for one, other in (("search", "search"), ("sum", "sum"), ("count", "count"), ("sum", "count"), ("count", "sum")):
        _fresh(drawn[one][1:], drawn[other][:-1], f"one {other} and the next {one} share")


def _tables(what, one, two, epsilon, **settings):
    tables = ((np.array(values, dtype=float), BOUNDS, -3.0, epsilon) for values in (one, two))
    return Pair(what, *tables, ((epsilon, 0.0),), **{"runs": 1000, **settings})


MEANS = [
    _tables("nobody / one person with 700", [], [700], 0.6),
    _tables("one person with 0 / nobody", [0], [], 0.9),
    _tables("twenty zeros / the same and one person with 3,000", [0] * 20, [0] * 20 + [3000], 0.5),
    _tables("thirty people with 40 / one fewer", [40] * 30, [40] * 29, 0.7, twice=430),
    _tables("400 people, the last has 15 / without the last", [*[1, 60] * 199, 1, 15], [*[1, 60] * 199, 1], 0.8),
]


@checker
@looks_for("far", "quotient", "rare", "own", contents="each row is one number", negative="values are not negative",
           missing="values are numbers", order="three numbers come out")
def svt_auto_mean(auto_mean):
    """`auto_mean(values, bounds, threshold, budget, rng)`: (bound, noisy sum, noisy count), a third of ε for each."""
    rng = luck(24)
    _pays_for_each_part(auto_mean, rng)
    _refuses_when_poor(auto_mean, rng)
    _bounds_at_the_ends(auto_mean, rng)
    samples = []
    for case, runs, mistakes, _ in CASES:
        samples.append(_sample(auto_mean, case, runs, rng))
        _chooses(case, samples[-1][0], mistakes, rng)
    _clips(CASES[0][0], *samples[0][:2], rng)
    for ((values, _, _, epsilon), _, _, whose), (bounds, totals, numbers) in zip(CASES, samples):
        _noise(rng, totals - _clipped(values, bounds), bounds * 3 / epsilon, f"the noisy sum{whose}", NOISE_MISTAKES)
        if epsilon < 3:
            _noise(rng, numbers - len(values), 3 / epsilon, f"the noisy count{whose}", NOISE_MISTAKES)
        elif np.mean(np.abs(numbers - len(values)) < 1e-9) > 0.99:       # whole noise is 0 in 96 % of the runs there
            raise Wrong(f"the noisy count{whose} has no noise")
    _shares_no_noise(*samples[0], CASES[0][0])
    form = Numbers(3, names=("the bound", "the sum", "the count"))
    return f"ledger, bound, sum and count are what they must be; {battery(auto_mean, form, MEANS, call=_paid, seed=24)}"


# ---- two mistakes in a range release

class Table(list):
    """A table that knows whether it is the one that was passed; a copy is as good."""

    def copy(self):
        return self


def _ranges(release, arguments, rng):
    """The answer's pairs on a table with these counts, as a dict."""
    counts, threshold = arguments
    mine, strangers = Table(), []

    def query(count):
        def ask_table(table):
            if table is not mine:
                strangers.append(table)
            return count if table is mine else 0.0

        return ask_table

    try:
        got = release([query(count) for count in counts], mine, threshold, rng)
    except NameError as error:
        raise Wrong(f"it needs something that is not among its arguments: {error}") from None
    except Exception as error:
        raise Wrong(f"your function raised {type(error).__name__}: {error}") from None
    if got is None or got is ...:
        raise Wrong("your function returned None: is the `return` missing?")
    if strangers:
        raise Wrong("a range was asked of a table that is not the argument, and nobody is charged for it")
    try:
        pairs = [(int(i), float(v)) for i, v in got]
    except (TypeError, ValueError):
        raise Wrong(f"expected a list of pairs (index, value), got {got!r}") from None
    if len(pairs) > 2 or sorted({i for i, _ in pairs}) != [i for i, _ in pairs]:
        raise Wrong(f"expected at most two pairs (index, value) in order, got {got!r}")
    return dict(pairs)


OTHER = ("any other",)


def _outcomes(counts, threshold):
    """The sets of ranges that a run may find; those with a hopeless range are one outcome."""
    near = [i for i, count in enumerate(counts) if abs(count - threshold) < 50]
    return [(), *((i,) for i in near), *combinations(near, 2), *[OTHER] * (len(near) < len(counts))]


def _found_with(noise):
    """The law of the outcomes of a run that stops at its second Yes."""
    @cache
    def law(counts, threshold):
        outcomes = _outcomes(counts, threshold)
        ends = [outcome[1] + 1 if len(outcome) == 2 else len(counts) for outcome in outcomes if outcome != OTHER]
        law = np.exp([log_probability(np.isin(np.arange(end), outcome), counts, threshold=threshold, noise=noise)
                      for end, outcome in zip(ends, outcomes)])
        return law if len(law) == len(outcomes) else np.append(law, 1 - law.sum())

    return law


FOUND = _found_with(scales(0.5, c=2, monotone=True))
SEARCH_MISTAKES = {
    "the search has the noise for one range, but it finds two: c=2": _found_with(scales(0.5, monotone=True)),
    "the search spends all of ε, and the values have to be paid for too": _found_with(scales(1.0, c=2, monotone=True)),
    "the ranges are private, but with twice the noise that counts need: monotone=True": _found_with(scales(0.5, c=2)),
    "the ranges are found without noise": _found_with(scales(500.0, c=2)),
    "private, but ε/2 is not split evenly between threshold and counts, as this exercise asks":
        _found_with(scales(0.5, c=2, monotone=True, split="optimal")),
}
VALUE_MISTAKES = {                               # words -> how many times as wide as it should be, at one place or two
    "noise for ε/2 at one place and for ε/4 at the other: two values share ε/2": [0.5, 1.0],
    "half of the noise it needs: two values share ε/2, so each has ε/4": [0.5],
    "a quarter of the noise it needs: two values share ε/2": [0.25],
    "twice the noise it needs": [2.0],
    "noise of the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": [2**-0.5],
}
TABLES = [                                       # counts, threshold, runs, mistakes
    ((92.0, 103.0, 60.0, 101.0), 100.0, RUNS, SEARCH_MISTAKES),
    ((4970.0, 4968.0, *[4900.0] * 6, 5035.0, 5031.0), 5000.0, RUNS, {}),                  # clear ones need noise too
    ((0.0,) * 4, 0.0, RUNS // 3, {}),
]


def _finds(release, counts, threshold, size, mistakes, rng):
    """The runs on these counts, or `Wrong` unless the ranges have the right law."""
    outcomes = _outcomes(counts, threshold)
    runs = [_ranges(release, (np.array(counts), threshold), rng) for _ in range(size)]
    found = [tuple(run) for run in runs]
    same_law([outcome if outcome in outcomes else OTHER for outcome in found], outcomes, (counts, threshold), FOUND,
             mistakes, rng, lambda outcome: f"on the counts {list(counts)}, threshold {threshold:g}: "
                                            f"the outcome with the ranges {list(outcome)}")
    return runs


def _cut(values, threshold):
    """Which values are cut off from below, at 0 or at the threshold: the same for all tables, so it tells nothing."""
    floor = values.min()
    at = values == floor
    return at & (floor in (0.0, threshold) and not at.all())


def _likely(errors, cut, scale):
    """The logarithm of the likelihood of Laplace noise; where it is `cut` off it lies at the error or below."""
    size, below = np.abs(errors) / scale, errors < 0
    tail = np.where(below, np.log(0.5) - size, np.log1p(-np.exp(-size) / 2))
    return np.where(cut, tail, -size - np.log(2 * scale)).sum()


def _drawn_below(rng, errors, scale):
    """Laplace noises at or below these errors."""
    size = np.abs(errors) / scale
    p = rng.uniform(size=len(errors)) * np.where(errors < 0, np.exp(-size) / 2, 1 - np.exp(-size) / 2)
    return scale * np.where(p < 0.5, np.log(2 * p), -np.log(2 - 2 * p))


def _values(rng, runs, counts, threshold):
    """Raise `Wrong` unless the values of the ranges that were found have the noise that they need."""
    found, values, many, place = np.array(
        [(i, value, len(run), k) for run in runs for k, (i, value) in enumerate(run.items())]).T
    errors, cut, alone = values - np.array(counts)[found.astype(int)], _cut(values, threshold), many == 1
    # a range that was found alone may have all of ε/2
    all_of_it = _likely(errors[alone], cut[alone], 2) > _likely(errors[alone], cut[alone], 4)
    wide = np.where(alone & all_of_it, 2, 4)
    if cut.any():                                # noise that was cut off is drawn, so that its law can be looked at
        step = np.diff(np.unique(errors.round(9))).min()
        grid = step if np.allclose(errors / step, (errors / step).round(), rtol=0, atol=1e-6) else 0
        drawn = _drawn_below(np.random.default_rng(2), errors[cut] + grid / 2, wide[cut])
        errors[cut] = (drawn / step).round() * step if grid else drawn
    if np.ptp(errors) > 1e-9 and errors.mean() > 1.2 and not rng.centred:    # fresh: mean 0, standard error below .08
        raise Wrong("the values lie too high. They are the noisy answers that were compared, and those that pass have "
                    "lucky noise; draw fresh noise")
    for these in (many == 2, many > 0):
        _noise(rng, errors[these], wide[these], "a value", VALUE_MISTAKES)
    _fresh(*errors[many == 2].reshape(-1, 2).T, "the two values share")
    _fresh((errors / wide)[place == 0], found[place == 0], "the search and the values share")


def _counts(one, two, threshold, **settings):
    steps = max(abs(a - b) for a, b in zip(one, two))
    return Pair(f"counts {one}, threshold {threshold:g} / counts {two}", (one, threshold), (two, threshold),
                ((float(steps), 0.0),), (one, two), **{"runs": 1200, **settings})


RANGES = [
    _counts([0], [1], 0.0, runs=2000, twice=740),
    _counts([0, 0, 0], [1, 1, 1], 10.0, runs=2000),
    _counts([50, 120, 50], [50, 121, 51], 100.0),
    _counts([60, 60, 60, 60, 60, 300], [61, 60, 61, 60, 61, 301], 100.0),
    _counts([12_000, 12_000], [12_001, 12_000], 100.0),
    _counts([4] * 11 + [2], [5] * 11 + [3], -8.0, runs=800),
    _counts([9000, 12_000], [9000, 12_001], 11_998.0, runs=800),
    _counts([99], [100], 100.0, runs=400),
    _counts([99, 60], [100, 60], 100.0, runs=400),
]


NO_TABLE = "ranges with their counts come in, and no rows"


@checker
@looks_for("straddles", "far", "shared", size=NO_TABLE, empty=NO_TABLE, contents=NO_TABLE,
           fractions="counts of people are whole", negative="counts of people are not negative",
           missing="counts of people are whole", small="ε is 1", large="ε is 1", quotient="ε is 1")
def svt_global(release):
    """`release(queries, table, threshold, rng)`: [(index, value), ...] at epsilon = 1 for at most two ranges."""
    if is_stub(release):
        raise NotAttempted
    rng = luck(26)
    for counts, *case in TABLES:
        _values(rng, _finds(release, counts, *case, rng), counts, case[0])
    _finds(release, (44.0,) * 60, 100.0, RUNS // 3, {}, rng)        # one run in 28 finds a range that is far below
    looked = battery(release, lambda pair: Lines(tuple(range(len(pair.one[0])))), RANGES, call=_ranges, seed=26)
    return f"it reads its own table, and pays for ranges and values; {looked}"


# ---- when is it sparse enough?

GAINS = [(5, 0.5), (1, 0.5), (3, 0.25), (10, 0.8), (4, 0.3)]


def _value_scale(c, numeric):
    return scales(1.0, c=c, monotone=True, numeric=numeric).value


def _first_gain(c, numeric):
    return int(_value_scale(c, numeric) * (1 + 1e-9)) + 1


def _what_gain(got, right, c, numeric):
    scale = _value_scale(c, numeric)
    if got > right:
        return (f"with {right} questions the direct answers already have scale {right}, more than the {scale:g} of the "
                "values")
    tie = "that is a tie, no gain yet" if np.isclose(got, scale) else "no gain"
    return f"with {got:g} questions the direct answers have scale {got:g}, and the values {scale:g}: {tie}"


@checker
def svt_gain(smallest_k):
    """`smallest_k(c, numeric)`: from how many questions on the values have less noise than direct answers."""
    on_cases(smallest_k, GAINS, _first_gain, whole=True, what="the number of questions", otherwise=_what_gain)
    return "more than c over the share, at one half more than 2c"
