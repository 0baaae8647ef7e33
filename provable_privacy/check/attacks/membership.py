"""Checkers of the section on membership."""
import numpy as np

from dplib.attacks import tpr_at, tracing
from provable_privacy.battery import Numbers, Pair, battery, drawn, luck
from provable_privacy.speech import Wrong, answered, checker, compare_dict, number, numbers

__all__ = ["mem_base", "mem_epsilon", "mem_release", "mem_score", "mem_tpr"]


@checker
def mem_score(score):
    """`score(released, population, targets)`: high for members; compared with tracing on studies whose members are known here."""
    rng = np.random.default_rng(51)
    for d, n in ((800, 100), (1500, 300)):
        mine, best = [], []
        for _ in range(3):
            population = rng.uniform(0.1, 0.9, d)
            people = (rng.random((n + 400, d)) < population).astype(int)
            released = people[:n].mean(axis=0)
            order = rng.permutation(n + 400)
            got = numbers(answered(score, released.copy(), population.copy(), people[order]), (n + 400,), "one score for each target")
            inside = order < n
            mine.append(tpr_at(got[inside], got[~inside], fpr=0.05))
            if mine[-1] < 0.02 < tpr_at(-got[inside], -got[~inside], fpr=0.05) - 0.3:
                raise Wrong("members score low and strangers high: turn the sign round")
            traced = tracing(released, population, people[order])
            best.append(tpr_at(traced[inside], traced[~inside], fpr=0.05))
        if np.mean(mine) < np.mean(best) - 0.15:
            raise Wrong(f"with {d} markers and {n} members it finds {np.mean(mine):.0%} of the members at 5 % false positives, "
                        f"and tracing {np.mean(best):.0%}; does it ask for each marker whether release and target lie on the same side "
                        "of the population, and how far out the release is?")
    return "about as many members as tracing finds, in studies with 800 and 1,500 markers"


def _found_at(members, strangers, fpr):
    lines = [*set(members) | set(strangers), np.inf]
    return max(np.mean(np.array(members) >= line) for line in lines if np.mean(np.array(strangers) >= line) <= fpr + 1e-12)


@checker
def mem_tpr(found_at):
    """`found_at(members, strangers, fpr)`: the largest TPR of a line whose FPR is at most `fpr`, equal scores together."""
    rng = np.random.default_rng(52)
    cases = [([3, 3, 2, 1], [2, 1, 1, 0], 0.25), ([1, 1, 1], [1, 0, 0, 0], 0.1), ([2, 2], [2, 2, 2], 0.5), ([5, 4], [1, 2], 0.0), ([0.5, 0.1], [0.9, 0.7], 0.5)]
    cases += [(rng.integers(0, 8, 30).tolist(), rng.integers(0, 7, 40).tolist(), fpr) for fpr in (0.0, 0.05, 0.2, 1.0)]
    cases += [(rng.normal(1, 1, 50).tolist(), rng.normal(0, 1, 80).tolist(), fpr) for fpr in (0.01, 0.05, 0.5)]
    for members, strangers, fpr in cases:
        got, right = number(answered(found_at, np.array(members), np.array(strangers), fpr), "the share"), _found_at(members, strangers, fpr)
        if np.isclose(got, right, atol=1e-9):
            continue
        shown = f"members {members}, strangers {strangers}" if len(members) < 6 else f"{len(members)} members and {len(strangers)} strangers"
        line = np.quantile(strangers, 1 - fpr)
        quantile, accused = np.mean(np.array(members) >= line), np.sum(np.array(strangers) >= line)
        where = f"{shown}, fpr {fpr:g}: {right:.3f} can be found, and you say {got:.3f}"
        if got > right and np.isclose(got, quantile):
            raise Wrong(f"{where}; a quantile as the line accuses {accused} of {len(strangers)} strangers, more than allowed: "
                        "count who is at or above the line, equal scores together")
        if got > right:
            raise Wrong(f"{where}; no line keeps to the allowed share of strangers and finds so many: equal scores pass together")
        raise Wrong(f"{where}; try all lines, not one quantile alone: also a line that no stranger passes, and one that accuses just the allowed share")
    return "right on all twelve cases, ties included"


@checker
def mem_base(answer):
    """`answer`: coin, town, ratio: beliefs after a likelihood ratio of 5, and the ratio that makes 1/1000 one half."""
    def slip(name, said):
        if name == "coin" and np.isclose(said, 0.95, atol=1e-3):
            return "95 % is how many strangers are not accused, which is another question"
        if name in ("coin", "town") and np.isclose(said, 0.25, atol=1e-3):
            return "25 % is how many members are found, which is another question"
        if np.isclose(said, {"coin": 5.0, "town": 5 / 999}.get(name, np.nan), rtol=1e-6):
            return "these are the odds, and a probability is asked: mind the difference between odds and probability, odds/(1 + odds)"
        if np.isclose(said, {"ratio": 1000, "town": 5 / 1005}.get(name, np.nan), rtol=1e-4):
            return "close; mind the difference between odds and probability: 1 in 1,000 is odds of 1 to 999"
        if name == "town" and np.isclose(said, 0.005, rtol=1e-6):
            return "that is the probability times 5, and it is the odds that are multiplied; or the right answer rounded too far: give five decimals"
        return ""

    answer = dict(answer)
    for name, said in answer.items():
        if said is not ... and (words := slip(name, number(said, name, finite=False))):
            raise Wrong(f"{name}: {words}")
    compare_dict(answer, {"coin": 5 / 6, "town": 5 / 1004, "ratio": 999.0}, tolerance=4.9e-6, relative=5e-4, why=lambda name, said:
                 f"not {said:g}; odds after are odds before times TPR/FPR = 5, and a probability is odds/(1 + odds)")
    return "five times the odds: a coin becomes 83 %, one in a thousand half a per cent"


def _disproved(tpr, fpr):
    worst = 0.0
    for one, other in ((tpr, fpr), (1 - tpr, 1 - fpr)):
        if (one == 0) != (other == 0):
            return np.inf
        if one > 0:
            worst = max(worst, abs(np.log(one / other)))
    return worst


@checker
def mem_epsilon(disproved):
    """`disproved(tpr, fpr)`: the smallest epsilon that is still possible."""
    for tpr, fpr in ((0.5, 0.05), (0.98, 0.7), (0.05, 0.5), (0.7, 0.98), (0.3, 0.3), (0.0, 0.0), (0.1, 0.0), (0.0, 0.1), (1.0, 0.9), (1.0, 1.0)):
        got, right = number(answered(disproved, tpr, fpr), "ε", finite=False), _disproved(tpr, fpr)
        if got == right or np.isclose(got, right, atol=1e-9):
            continue
        where = f"TPR {tpr:g}, FPR {fpr:g}: {got:.3f}, and it should be {right:.3f}"
        if np.isinf(right):
            raise Wrong(f"{where}; an outcome that is possible in one world only rules out every ε")
        if tpr == fpr:
            raise Wrong(f"{where}; equal rates disprove no ε, zeros and ones included")
        if tpr < fpr:
            raise Wrong(f"{where}; members and strangers may change places: an attack that is always wrong is a good one")
        if right == abs(np.log((1 - tpr) / (1 - fpr)) if tpr < 1 else 0):
            raise Wrong(f"{where}; not being accused is an outcome too: compare 1 - TPR with 1 - FPR, both ways")
        raise Wrong(f"{where}; take the largest of the natural logarithms of the ratios")
    return "both outcomes, both directions, zeros included"


def _with(scale, draw="laplace"):
    """A learner's wrong answer: noise of this scale at ε = 1, from the numbers of rows and columns."""
    def wrong(table, epsilon, rng):
        n, d = table.shape
        return table.mean(axis=0) + getattr(rng, draw)(scale=scale(n, d) / epsilon, size=d)

    return wrong


def _shared(table, epsilon, rng):
    n, d = table.shape
    return table.mean(axis=0) + rng.laplace(scale=d / n / epsilon)


def _same_size(table, epsilon, rng):
    n, d = table.shape
    return table.mean(axis=0) + np.abs(rng.laplace(scale=d / n / epsilon)) * rng.choice([-1, 1], d)


def _again(high):
    def wrong(table, epsilon, rng):
        out, draw = np.full(table.shape[1], -1.0), _with(lambda n, d: d / n)
        while (bad := (out < 0) | (out > high)).any():
            out[bad] = draw(table, epsilon, rng)[bad]
        return out

    return wrong


MISTAKES = {
    "there is no noise at all": lambda table, epsilon, rng: table.mean(axis=0),
    "each mean alone has the noise for ε, and together they cost d times as much": _with(lambda n, d: 1 / n),
    "one noise serves all means: the difference of two means is exact": _shared,
    "two means have noise of the same size: their sum or their difference is exact": _same_size,
    "the noise is made for sums, which move by 1; a mean moves by 1/n": _with(lambda n, d: d),
    "the noise is half of what it must be": _with(lambda n, d: d / n / 2),
    "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": _with(lambda n, d: d / n / 2**0.5),
    "the noise uses the distance in L2, the root of the number of columns: Laplace noise needs L1": _with(lambda n, d: d**0.5 / n),
    "normal noise satisfies no ε at all, whatever its size": _with(lambda n, d: d / n, "normal"),
    "normal noise satisfies no ε at all, its tails fall too fast": _with(lambda n, d: 2**0.5 * d / n, "normal"),
    "noise is drawn again until no mean is below 0: how often depends on the table; cut the result instead": _again(np.inf),
    "noise is drawn again until each mean is in [0, 1]: how often depends on the table; cut the result instead": _again(1),
    "private, but with twice the noise it needs: an entry moves by 1 when a row is replaced, not by 2": _with(lambda n, d: 2 * d / n),
}


def _flip(what, table, rows, columns, epsilon, **settings):
    """This table, and the same with these entries flipped."""
    one, two = np.array(table), np.array(table)
    two[np.ix_(rows, columns)] = 1 - two[np.ix_(rows, columns)]
    n, d = one.shape
    return Pair(what, (one, epsilon), (two, epsilon), ((len(rows) * epsilon, 0.0),), (one.mean(axis=0), two.mean(axis=0)),
                within=1.69 * d / n / epsilon, share=0.75, **settings)


_rng = np.random.default_rng(53)
MIXED = _rng.integers(0, 2, (9, 4))
TABLES = [
    _flip("zeros only / one row of ones", np.zeros((12, 4), int), [5], range(4), 1.0, runs=2500),
    _flip("ones but for one entry / another row of zeros", np.vstack([np.ones((5, 3), int), [0, 1, 1]]), [0], range(3), 0.7),
    _flip("nine mixed rows / the last one different in the first column", MIXED, [8], [0], 0.5, runs=2000, twice=400),
    _flip("nine mixed rows / the last one different in all columns", MIXED, [8], range(4), 1.0, runs=14_000),
    _flip("one row / another", [[1, 0]], [0], [0, 1], 0.8, runs=2000),
    _flip("400 rows, ε = 0.05 / ones in the last eight", _rng.integers(0, 2, (400, 3)) * (np.arange(400) < 392)[:, None], range(392, 400), range(3), 0.05),
    *(_flip(f"{at['n']} rows, {at['d']} columns, ε = {at['epsilon']} / one row different", _rng.integers(0, 2, (at["n"], at["d"])), [0],
            range(at["d"]), at["epsilon"], runs=2500) for at in drawn(1, 531, n=(4, 40), d=(2, 7), epsilon=(0.3, 1.2))),
    _flip("ones only, in ten columns / zeros in the last two of a row", np.ones((6, 10), int), [2], [8, 9], 0.8, runs=600),
    _flip("two rows, one of them a one / both are", [[1], [0]], [1], [0], 1.0, runs=2000),
    _flip("one column with a single one / five more of its rows are ones", np.eye(60, 1, dtype=int), range(1, 6), [0], 0.3, runs=40_000),
]
WIDE = _rng.integers(0, 2, (2000, 240))


@checker
def mem_release(private_means):
    """`private_means(table, epsilon, rng)`: column means with noise, together epsilon-DP when one row is replaced."""
    looked = battery(private_means, lambda pair: Numbers(len(pair.truth[0]), "mean"), TABLES, mistakes=MISTAKES, seed=53)
    # Errors below s/2n in nine of ten columns tell 2^(.53 d) tables apart that are s rows from each other, so s is .37 d/ε or more.
    (n, d), rng, mean, form = WIDE.shape, luck(54), WIDE.mean(axis=0), Numbers(WIDE.shape[1], "mean")
    try:
        near = np.quantile([np.abs(form.read(answered(private_means, WIDE.copy(), 1.0, rng)) - mean) for _ in range(20)], 0.9)
    except Wrong as reason:
        raise Wrong(f"on {n:,} rows of {d} columns: {reason}") from None
    if near < 0.18 * d / n:
        raise Wrong(f"on {n:,} rows of {d} columns nine means in ten are within {near:.2g} of the exact ones at ε = 1, and no answer that keeps ε is so near: "
                    "the noise has to grow with the number of columns, however many there are")
    return looked
