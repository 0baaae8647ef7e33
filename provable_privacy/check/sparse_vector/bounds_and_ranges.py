"""Checkers of chapter 4, the section on clip bounds and range queries."""
import sys
import tracemalloc
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from dplib.budget import Budget
from dplib.svt import index_pmf, log_probability, scales
from provable_privacy.battery import Lines, Numbers, Pair, battery
from provable_privacy.battery.runs import luck
from provable_privacy.check.sparse_vector.replies import _compare
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, is_stub, number

__all__ = ["svt_auto_mean", "svt_gain", "svt_global", "svt_threshold", "svt_vectorise"]

RUNS = 6_000


def _cells(residuals, cells=16):
    """Counts of residuals, in units of the right scale, in cells that Lap(1) fills evenly."""
    return np.bincount(np.searchsorted(_edges(cells), residuals), minlength=cells)


def _edges(cells):
    u = np.arange(1, cells) / cells
    return np.sign(u - 0.5) * -np.log1p(-np.abs(2 * u - 1))


def _wider(factor, cells=16):
    """Law of the cells when the noise is `factor` times as wide as it should be."""
    x = _edges(cells) / factor
    cdf = np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x)))
    return np.diff(cdf, prepend=0, append=1)


def _noise(rng, errors, scale, what, rivals):
    """Raise `Wrong` unless `errors` look like Lap(scale), or rounded to a grid; `rivals`: factor, or several -> why the noise is so wide."""
    if min(np.ptp(errors), np.ptp(errors / scale)) < 1e-9:
        raise Wrong(f"{what} has no noise at all")
    step = np.diff(np.unique(errors.round(9))).min()
    if np.allclose(errors / step, (errors / step).round(), rtol=0, atol=1e-6):       # rounded, to whole numbers, say: spread each evenly over its cell
        errors = errors + step * np.random.default_rng(1).uniform(-0.5, 0.5, len(errors))
    residuals = errors / scale
    laws = {f"{what} has {reason}": np.mean([_wider(f) for f in np.atleast_1d(factor)], axis=0) for factor, reason in rivals.items()}
    _compare(rng, _cells(residuals), _wider(1.0), laws, lambda i: f"{what}: the noise does not have the right law; its cell {i + 1} of 16 equally likely ones")
    off = (np.abs(residuals).mean() - 1) * np.sqrt(len(residuals))          # mean size of Lap(1): 1, with standard deviation 1
    if abs(off) > 5.5:
        raise Wrong(f"{what} has noise that is somewhat too {'small' if off < 0 else 'large'}")
    if np.abs(residuals).max() < np.log(len(residuals) / 25):                # a chance of e^-25
        raise Wrong(f"{what} has noise that is cut off: what lies at its end with one table cannot come from a neighbour")


def _fresh(first, second, who):
    """Raise `Wrong` if two noises, or a noise and a choice, depend on each other in sign or in size."""
    def sides(x):
        return np.sign(x - np.mean(x)), np.sign(np.abs(x) - np.median(np.abs(x)))

    for one in sides(first):
        for two in sides(second):                # independent: a mean of 0, with standard error at most 1/sqrt(size)
            if abs(np.mean((one - one.mean()) * (two - two.mean()))) > 6 / np.sqrt(len(first)):
                raise Wrong(f"{who} one draw of noise: anyone who puts them together sees through it; draw afresh for each")


VALUES = np.append(np.repeat([0.0, 3.5, 12.0, 40.0, 90.0], [20, 40, 9, 5, 3]), 700.0)     # skewed: one person of 78 has 700
BOUNDS = np.array([10, 20, 50, 100, 800, 3000])                                # two candidates above everybody
LONGER = np.append(BOUNDS, [4000, 5000, 6000, 7000])


def _mean(values, epsilon):
    """Arguments of an automatic mean but for its budget, of which a new one is made for each run."""
    return np.array(values, dtype=float), BOUNDS, -3.0, epsilon


def _many(threshold, epsilon):
    return VALUES.copy(), BOUNDS.copy(), threshold, epsilon


def _paid(auto_mean, arguments, rng):
    *given, epsilon = arguments
    got = ask(auto_mean, *given, budget := Budget(epsilon), rng)
    if len(budget.ledger) != 3:                  # where nothing passed, perhaps
        _ledger(budget, epsilon)
    return got


def _tables(what, one, two, epsilon, **settings):
    return Pair(what, _mean(one, epsilon), _mean(two, epsilon), ((epsilon, 0.0),), **{"runs": 1000, **settings})


MEANS = [
    _tables("nobody / one person with 700", [], [700], 0.6),
    _tables("one person with 0 / nobody", [0], [], 0.9),
    _tables("twenty zeros / the same and one person with 3,000", [0] * 20, [0] * 20 + [3000], 0.5),
    _tables("thirty people with 40 / one fewer", [40] * 30, [40] * 29, 0.7, twice=430),
    _tables("400 people, the last has 15 / without the last", [*np.tile([1, 60], 200)[:-1], 15], np.tile([1, 60], 200)[:-1], 0.8),
]


@checker
def svt_auto_mean(auto_mean):
    """`auto_mean(values, bounds, threshold, budget, rng)`: (bound, noisy sum, noisy count), a third of budget.epsilon each."""
    rng, epsilon, threshold = luck(24), 0.9, -3.0
    budget = Budget(epsilon)
    got = answered(auto_mean, *_many(threshold, budget), rng)
    if not (isinstance(got, tuple) and len(got) == 3):
        raise Wrong(f"expected a tuple (bound, noisy sum, noisy count), got {got!r}")
    _ledger(budget, epsilon)
    _poor(auto_mean, rng)
    for t, always in ((1e6, BOUNDS[-1]), (-1e6, BOUNDS[0])):
        extreme = {float(_paid(auto_mean, _many(t, epsilon), rng)[0]) for _ in range(20)}
        if extreme != {float(always)} and t > 0:
            raise Wrong(f"nothing passes a threshold of a million, yet the bound was {min(extreme):g}: a candidate drawn at random says nothing, "
                        "and one looked up in the values is not private; take the last")
        if extreme != {float(always)}:
            raise Wrong(f"with a threshold far below everything the first candidate {always} must be chosen, not {max(extreme):g}")
    bounds, totals, numbers = np.array([_paid(auto_mean, _many(threshold, epsilon), rng) for _ in range(RUNS)], dtype=float).T
    _bound_law(rng, bounds, threshold, epsilon / 3)
    # where the first candidate passes, or none, as good as surely: both still need noise, and so do three people, and many at another epsilon
    few, more = np.array([12.0, 90.0, 700.0]), np.tile(VALUES, 8)
    first = np.array([_paid(auto_mean, (few.copy(), BOUNDS.copy(), -25.0, epsilon), rng) for _ in range(RUNS // 2)], dtype=float).T
    _bound_law(rng, first[0], -25.0, epsilon / 3, few, named=False)
    last = np.array([_paid(auto_mean, (more.copy(), LONGER.copy(), 45.0, 0.3), rng) for _ in range(RUNS // 2)], dtype=float).T
    _bound_law(rng, last[0], 45.0, 0.1, more, LONGER, named=False)
    clipped = np.minimum(VALUES[:, None], bounds).sum(axis=0)
    scale = 3 / epsilon
    residuals, counted = (totals - clipped) / (bounds * scale), numbers - len(VALUES)
    one_sided = abs(np.sign(residuals).mean()) > 8 / np.sqrt(RUNS) and np.ptp(residuals) > 1e-9
    left_out = np.where(VALUES[:, None] > bounds, 0, VALUES[:, None]).sum(axis=0)
    for other, why in ((VALUES.sum(), "the sum is not clipped at the chosen bound: one person with a million would move it by a million"),
                       (left_out, "the sum leaves out everybody above the chosen bound: clip them, so that each counts for the bound")):
        if one_sided and abs(np.median(totals - other)) < abs(np.median(totals - clipped)) / 2:
            raise Wrong(why)
    if 0 < np.median(np.abs(residuals)) < 0.1 and not rng.centred:           # the right noise has median ln 2
        raise Wrong("the noisy sum has noise for sensitivity 1, but one person can move it by the whole bound")
    if np.median(np.abs(residuals)) > 1 and abs(np.median(np.abs(totals - clipped)) / (BOUNDS[-1] * scale) - np.log(2)) < 0.08:
        raise Wrong("the noise on the sum is for the last candidate: once the bound is chosen, one person moves the sum by at most that bound")
    for errors, wide, what in ((totals - clipped, bounds * scale, "the noisy sum"), (counted, scale, "the noisy count"),
                               (first[1] - np.minimum(few[:, None], first[0]).sum(axis=0), first[0] * scale, "the noisy sum of three people"),
                               (first[2] - len(few), scale, "the noisy count of three people"),
                               (last[1] - np.minimum(more[:, None], last[0]).sum(axis=0), last[0] * 10, f"the noisy sum of {len(more)} people at ε = 0.3"),
                               (last[2] - len(more), 10, f"the noisy count of {len(more)} people at ε = 0.3")):
        _noise(rng, errors, wide, what, {
            1 / 3: "a third of the noise it needs: all of ε was spent on it alone", 0.5: "half of the noise it needs", 2.0: "twice the noise it needs",
            1.5: "noise for a smaller share of ε than a third: accuracy thrown away", 2 / 3: "noise for half of ε, but its share is a third"})
    chosen = np.searchsorted(BOUNDS, bounds)
    for one, two, who in ((residuals, counted, "the sum and the count"), (residuals, chosen, "the search for the bound and the sum"),
                          (counted, chosen, "the search for the bound and the count"), (chosen[1:], chosen[:-1], "one search and the next"),
                          (residuals[1:], residuals[:-1], "one sum and the next"), (counted[1:], counted[:-1], "one count and the next"),
                          (residuals[1:], counted[:-1], "one count and the next sum"), (counted[1:], residuals[:-1], "one sum and the next count")):
        _fresh(one, two, f"{who} share")
    form = Numbers(3, names=("the bound", "the sum", "the count"))
    return f"ledger, bound, sum and count are what they must be; {battery(auto_mean, form, MEANS, call=_paid, seed=24)}"


def _ledger(budget, epsilon):
    if not budget.ledger:
        raise Wrong("nothing was charged: call budget.spend for every release")
    if budget.spent < epsilon * (1 - 1e-9):
        charged = ", ".join(f"{entry.epsilon:g}" for entry in budget.ledger)
        raise Wrong(f"the ledger shows {charged}, in all {budget.spent:g} of {epsilon:g}: the bound, the sum and the count are three releases, a third each")
    if not np.allclose([entry.epsilon for entry in budget.ledger], epsilon / 3) or len(budget.ledger) != 3:
        raise Wrong(f"the ledger has {len(budget.ledger)} entries; expected three, of a third of ε each")


def _poor(auto_mean, rng):
    budget = Budget(0.9)
    budget.spend(0.5, label="somebody else's release")
    try:
        released = auto_mean(*_many(-3.0, budget), rng)
    except Exception:                            # it works on a full budget, so it is the poor one that it refuses
        return
    if released is None:
        return
    raise Wrong("with 0.5 of 0.9 already spent by somebody else it released everything all the same: let the ledger refuse")


def _bound_law(rng, bounds, threshold, epsilon, values=VALUES, candidates=BOUNDS, named=True):
    if not np.isin(bounds, candidates).all():
        raise Wrong("the bound is not always one of the candidates")
    asked = -(values[:, None] > candidates).sum(axis=0).astype(float)

    def law(noise, answers=asked, silent=-1):
        pmf = index_pmf(answers, threshold=threshold, noise=noise)
        share = np.full(len(asked), 1 / len(asked)) if silent == "random" else np.eye(len(asked))[silent]
        return pmf[:-1] + pmf[-1] * share

    right = scales(epsilon, monotone=True)
    rivals = {
        "the bound is drawn at random where nothing passed: that is private, and useless; take the last candidate": law(right, silent="random"),
        "where nothing passed it takes the first candidate, which clips nearly everybody: take the last": law(right, silent=0),
        "the bound is private, but its noise is twice what counts need: they all move the same way, monotone=True": law(scales(epsilon)),
        "the search for the bound spends all of ε, not a third": law(scales(3 * epsilon, monotone=True)),
        "the noise of the search for the bound is half of what it must be": law(scales(2 * epsilon, monotone=True)),
        "the search for the bound has no noise: the bound tells the exact counts": law(scales(1000 * epsilon)),
        "the bound is always the last candidate: private, but with noise for the one in a million": np.eye(len(asked))[-1],
        "the counts have the wrong sign: it stops where many are above the bound": law(right, -asked),
    }
    counts = (bounds[:, None] == candidates).sum(axis=0)
    _compare(rng, counts, law(right), rivals if named else {}, lambda i: f"at ε = {3 * epsilon:g} and threshold {threshold:g} the bound {candidates[i]}")


@checker
def svt_vectorise(count_above):
    """`count_above(values, bounds)`: how many values exceed each bound, without a loop over either."""
    rng = np.random.default_rng(25)
    values, bounds = rng.integers(0, 50, size=200) / 2, np.arange(-1, 30, 0.5)
    before, at, right = values.copy(), bounds.copy(), (values[:, None] > bounds).sum(axis=0)
    got = np.asarray(answered(count_above, values, bounds), dtype=float)
    for name, now, then in (("values", values, before), ("bounds", bounds, at)):
        if not np.array_equal(now, then):
            raise Wrong(f"it changes `{name}`: sort a copy")
    if got.shape != right.shape:
        raise Wrong(f"expected {right.size} counts, one for each bound, got shape {got.shape}")
    if not np.array_equal(got, right):
        reasons = {
            "a value equal to the bound is not above it: which side does searchsorted take?": (before[:, None] >= bounds).sum(axis=0),
            "these are the values that are not above the bound": (before[:, None] <= bounds).sum(axis=0),
            "these have the sign of the queries: return the counts": -right,
            "are the values sorted?": len(before) - np.searchsorted(before, bounds, side="right"),
        }
        i = int(np.argmax(got != right))
        reason = next((why for why, other in reasons.items() if np.array_equal(got, other)), f"{right[i]} values exceed {bounds[i]:g}, and it says {got[i]:g}")
        raise Wrong(f"some counts are wrong: {reason}")
    for few, at in (([], [1.0, 2.0]), ([2.0], [3.0, 2.0, 1.0, 3.0]), ([5.0, 5.0, -1.0], [])):
        got = np.asarray(answered(count_above, np.array(few), np.array(at)), dtype=float)
        if got.tolist() != [sum(value > bound for value in few) for bound in at]:
            raise Wrong(f"for values {few} and bounds {at} it returned {got.tolist()}")
    steps = [_steps(count_above, values, np.linspace(0, 25, k)) for k in (50, 450)]
    steps2 = [_steps(count_above, np.resize(values, n), bounds) for n in (100, 500)]
    if steps[1] - steps[0] > 400 or steps2[1] - steps2[0] > 400:
        over = "bounds" if steps[1] - steps[0] > 400 else "values"
        raise Wrong(f"right, but it loops over the {over} in Python: with more of them it takes more steps of the interpreter")
    many = rng.random(2000)
    tracemalloc.start()
    try:
        ask(count_above, many, many)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 1e6:
        raise Wrong("right and without a loop, but it makes a table of values times bounds: for 30,000 of each that is a billion cells")
    return "right, without a loop and without a table of all pairs"


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


def _too_early(k, people, epsilon, threshold):
    noise = scales(epsilon, monotone=True)
    return -np.expm1(log_probability(np.zeros(k), np.full(k, -float(people)), threshold=float(threshold), noise=noise))


@checker
def svt_threshold(threshold):
    """`threshold(k, people, epsilon, beta)`: the smallest T at which k candidates stop too early with probability <= beta."""
    for k, people, epsilon, beta in ((30, 100, 0.1, 0.05), (1000, 50, 0.5, 0.01), (5, 400, 0.05, 0.1)):
        got = number(answered(threshold, k, people, epsilon, beta), f"for k={k}, people={people}, epsilon={epsilon:g}, beta={beta:g} the threshold")
        exact = brentq(lambda t: _too_early(k, people, epsilon, t) - beta, -people, 1000 / epsilon - people)
        case = f"for k={k}, people={people}, epsilon={epsilon:g}, beta={beta:g}"
        general = brentq(lambda t: -np.expm1(log_probability(np.zeros(k), np.full(k, -float(people)), threshold=t, noise=scales(epsilon))) - beta,
                         -people, 1000 / epsilon - people)
        mistakes = {
            "that is the distance from the answers to the threshold; the answers lie at -people": exact + people,
            "that would be right if the answers lay at +people: they are minus a count": exact + 2 * people,
            "this is the threshold for noise 2/ε₂; counts all move the same way and need half of it, monotone=True": general,
        }
        for reason, other in mistakes.items():
            if abs(got - other) < 0.2 / epsilon:
                raise Wrong(f"{case} a threshold of {got:.1f} is safe but too high: {reason}")
        if got < exact - 0.02 / epsilon:
            raise Wrong(f"{case} a threshold of {got:.1f} is too low: the search stops too early in {_too_early(k, people, epsilon, got):.1%} of runs")
        if got > exact + 0.2 / epsilon:
            raise Wrong(f"{case} a threshold of {got:.1f} is safe but {got - exact:.1f} higher than needed: nothing passes when it should")
    return "safe and no higher than needed, in all three cases"


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


def _counts(one, two, threshold, **settings):
    steps = max(abs(a - b) for a, b in zip(one, two))
    return Pair(f"counts {one}, threshold {threshold:g} / counts {two}", (one, threshold), (two, threshold), ((float(steps), 0.0),), (one, two),
                **{"runs": 1200, **settings})


RANGES = [
    _counts([0], [1], 0.0, runs=2000, twice=740),
    _counts([0, 0, 0], [1, 1, 1], 10.0, runs=2000),
    _counts([50, 120, 50], [50, 121, 51], 100.0),
    _counts([60, 60, 60, 60, 60, 300], [61, 60, 61, 60, 61, 301], 100.0),
    _counts([12_000, 12_000], [12_001, 12_000], 100.0),
]


@checker
def svt_global(release):
    """`release(queries, table, threshold, rng)`: [(index, value), ...] at epsilon = 1 for at most two ranges."""
    if is_stub(release):
        raise NotAttempted
    rng = luck(26)
    _values(rng, *_found(release, np.array([92.0, 103.0, 60.0, 101.0]), 100.0, rng))
    clear, equal = np.array([4970.0, 4968.0, *[4900.0] * 6, 5035.0, 5031.0]), np.zeros(4)          # clear ones need noise too, late ones and equal ones
    for answers, threshold, size in ((clear, 5000.0, RUNS), (equal, 0.0, RUNS // 3)):
        _values(rng, *_found(release, answers, threshold, rng, size, named=False))
    looked = battery(release, lambda pair: Lines(tuple(range(len(pair.one[0])))), RANGES, call=_ranges, seed=26)
    return f"it reads its own table, and pays for ranges and values; {looked}"


def _values(rng, runs, answers):
    """Raise `Wrong` unless the values of the ranges that were found have the noise that they need."""
    found, errors, many, place = np.array([(i, value - answers[i], len(run), k) for run in runs for k, (i, value) in enumerate(run.items())]).T
    wide = np.where((many == 1) & (np.abs(errors[many == 1]).mean() < 3), 2, 4)     # a range that was found alone may have all of ε/2
    if np.ptp(errors) > 1e-9 and errors.mean() > 1.2 and not rng.centred:   # fresh noise has mean 0 with standard error below .08
        raise Wrong("the values lie too high: the noisy answers that were compared are published, and those are the ones that were lucky; draw fresh noise")
    for these in (many == 2, many > 0):
        _noise(rng, errors[these], wide[these], "a value", {
            (0.5, 1.0): "noise for ε/2 at one place and for ε/4 at the other: two values share ε/2",
            0.5: "half of the noise it needs: two values share ε/2, so each has ε/4", 0.25: "a quarter of the noise it needs: two values share ε/2",
            2.0: "twice the noise it needs", 2**-0.5: "noise of the right scale as a standard deviation, but a Laplace scale is smaller than that by √2"})
    twins = np.array([[value - answers[i] for i, value in run.items()] for run in runs if len(run) == 2])
    _fresh(*twins.T, "the two values share")
    _fresh((errors / wide)[place == 0], found[place == 0], "the search and the values share")


def _found(release, answers, threshold, rng, size=RUNS, named=True):
    """The runs on these counts, and the counts, or `Wrong`, with the mistake if it is to be named, unless the ranges have the right law."""
    runs = [_ranges(release, (answers, threshold), rng) for _ in range(size)]
    outcomes = Counter(map(tuple, runs))
    names, law, rivals = _two_of(tuple(answers.tolist()), threshold, named)
    counts = np.array([outcomes[name] for name in names[:len(law)]])
    if len(names) > len(law):
        counts, law = np.append(counts, size - counts.sum()), np.append(law, 1 - law.sum())
    _compare(rng, counts, law, rivals, lambda i: f"on the counts {answers.tolist()}, threshold {threshold:g}: the outcome with the ranges {list(names[i])}")
    return runs, answers


@cache
def _two_of(answers, threshold, named):
    """Names and laws of the outcomes of a run that stops at its second Yes, epsilon 1/2 for the comparisons; a last name for those with a hopeless range."""
    k, near = len(answers), [i for i, answer in enumerate(answers) if abs(answer - threshold) < 50]
    pure = [(), *((i,) for i in near), *combinations(near, 2)]
    names = pure if len(near) == k else [*pure, ("any other",)]

    def law(noise):
        replies = [np.isin(np.arange(k if len(name) < 2 else name[1] + 1), name) for name in pure]
        return np.exp([log_probability(those, answers, threshold=threshold, noise=noise) for those in replies])

    right = law(scales(0.5, c=2, monotone=True))
    if not named:
        return names, right, {}
    rivals = {
        "the search has the noise for one range, but it finds two: c=2": law(scales(0.5, monotone=True)),
        "the search spends all of ε, and the values have to be paid for too": law(scales(1.0, c=2, monotone=True)),
        "the ranges are private, but with twice the noise that counts need: monotone=True": law(scales(0.5, c=2)),
        "the ranges are found without noise": law(scales(500.0, c=2)),
        "private, but with another split than the even one that this exercise asks for": law(scales(0.5, c=2, monotone=True, split="optimal")),
    }
    return names, right, rivals


@checker
def svt_gain(smallest_k):
    """`smallest_k(c, numeric)`: from how many questions on the values of numeric_sparse have less noise than direct answers."""
    for c, numeric in ((5, 0.5), (1, 0.5), (3, 0.25), (10, 0.8), (4, 0.3)):
        got = int(number(answered(smallest_k, c, numeric), f"for c={c}, numeric={numeric:g} the number of questions", whole=True))
        scale = scales(1.0, c=c, monotone=True, numeric=numeric).value
        case = f"for c={c}, numeric={numeric:g}, at ε = 1"
        if np.isclose(got, scale):
            raise Wrong(f"{case} with {got} questions the direct answers have scale {got} and the values {scale:g}: that is a tie, no gain yet")
        if got < scale:
            raise Wrong(f"{case} with {got} questions the direct answers have scale {got}, and the values {scale:g}: no gain")
        if got - 1 > scale * (1 + 1e-9):
            raise Wrong(f"{case} with {got - 1} questions the direct answers already have scale {got - 1}, more than the {scale:g} of the values")
    return "more than c over the share, at one half more than 2c"
