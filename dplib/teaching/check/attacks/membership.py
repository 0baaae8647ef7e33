"""Checkers of the section on membership."""
import numpy as np

from dplib.attacks import tpr_at, tracing
from dplib.teaching.check._laws import LEVEL, _p_value, compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker
from dplib.teaching.check.attacks.reconstruction import RUNS, _edges, _laplace_law, _normal_law

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
            got = ask(score, released.copy(), population.copy(), people[order])
            if got is None:
                raise NotAttempted
            got = np.asarray(got, dtype=float)
            if got.shape != (n + 400,):
                raise Wrong(f"expected {n + 400} numbers, one for each target, got shape {got.shape}")
            if not np.isfinite(got).all():
                raise Wrong("some scores are not finite numbers")
            inside = order < n
            mine.append(tpr_at(got[inside], got[~inside], 0.05))
            if mine[-1] < 0.02 < tpr_at(-got[inside], -got[~inside], 0.05) - 0.3:
                raise Wrong("members score low and strangers high: turn the sign round")
            traced = tracing(released, population, people[order])
            best.append(tpr_at(traced[inside], traced[~inside], 0.05))
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
        got = ask(found_at, np.array(members), np.array(strangers), fpr)
        if got is None:
            raise NotAttempted
        got, right = float(got), _found_at(members, strangers, fpr)
        if np.isclose(got, right, atol=1e-9):
            continue
        shown = f"members {members}, strangers {strangers}" if len(members) < 6 else f"{len(members)} members and {len(strangers)} strangers"
        quantile = np.mean(np.array(members) >= np.quantile(strangers, 1 - fpr))
        where = f"{shown}, fpr {fpr:g}: {right:.3f} can be found, and you say {got:.3f}"
        if got > right and np.isclose(got, quantile):
            raise Wrong(f"{where}; a quantile as the line accuses more strangers than allowed where scores are equal")
        if got > right:
            raise Wrong(f"{where}; no line keeps to the allowed share of strangers and finds so many: equal scores pass together")
        raise Wrong(f"{where}; try all lines, not one quantile alone, and also a line that no stranger passes")
    return "right on all twelve cases, ties included"


@checker
def mem_base(answer):
    """`answer`: coin, town, ratio: beliefs after a likelihood ratio of 5, and the ratio that makes 1/1000 one half."""
    answer = dict(answer)
    if all(value is ... for value in answer.values()):
        raise NotAttempted
    if set(answer) != {"coin", "town", "ratio"}:
        raise Wrong("expected coin, town and ratio")
    for name, right in (("coin", 5 / 6), ("town", 5 / 1004), ("ratio", 999.0)):
        if answer[name] is ...:
            raise Wrong(f"{name}: not attempted yet")
        said = float(answer[name])
        if np.isclose(said, right, rtol={"coin": 5e-3, "town": 2e-3, "ratio": 5e-4}[name]):
            continue
        if name == "coin" and np.isclose(said, 0.95, atol=1e-3):
            raise Wrong("coin: 95 % is how many strangers are not accused, which is another question")
        if name in ("coin", "town") and np.isclose(said, 0.25, atol=1e-3):
            raise Wrong(f"{name}: 25 % is how many members are found, which is another question")
        if np.isclose(said, {"coin": 5.0, "town": 5 / 999, "ratio": 1000}[name], rtol=1e-6):
            raise Wrong(f"{name}: close; mind the difference between odds and probability: 1 in 1,000 is odds of 1 to 999")
        if np.isclose(said, 0.005, rtol=1e-6):
            raise Wrong(f"{name}: that multiplies the probability by 5; it is the odds that are multiplied")
        raise Wrong(f"{name}: not {said:g}; odds after are odds before times TPR/FPR = 5, and a probability is odds/(1 + odds)")
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
        got = ask(disproved, tpr, fpr)
        if got is None:
            raise NotAttempted
        got, right = float(got), _disproved(tpr, fpr)
        if got == right or np.isclose(got, right, atol=1e-9):
            continue
        where = f"TPR {tpr:g}, FPR {fpr:g}: {got:.3f}, and it should be {right:.3f}"
        if np.isinf(right):
            raise Wrong(f"{where}; an outcome that is possible in one world only rules out every ε")
        if tpr < fpr:
            raise Wrong(f"{where}; members and strangers may change places: an attack that is always wrong is a good one")
        if right == abs(np.log((1 - tpr) / (1 - fpr)) if tpr < 1 else 0):
            raise Wrong(f"{where}; not being accused is an outcome too: compare 1 - TPR with 1 - FPR")
        raise Wrong(f"{where}; take natural logarithms of the ratios")
    return "both outcomes, both directions, zeros included"


@checker
def mem_release(private_means):
    """`private_means(table, epsilon, rng)`: column means with Laplace noise, together epsilon-DP when one row is replaced."""
    rng = np.random.default_rng(53)
    for n, d, epsilon in ((20, 8, 1.0), (50, 4, 0.2)):
        table = rng.integers(0, 2, (n, d))
        flipped = table.copy()
        flipped[0] = 1 - flipped[0]
        for world in (table, flipped):
            _judge_means(private_means, world, epsilon, rng)
    return f"independent Laplace noise of scale d/(nε) on every mean (chi-square test, {RUNS:,} runs on each of four tables)"


UNIT = 1000                                      # noise is counted in thousandths of its right scale, so that cuts are fine


def _judge_means(private_means, table, epsilon, rng):
    (n, d), noise, right = table.shape, [], table.shape[1] / (table.shape[0] * epsilon)
    for _ in range(RUNS):
        got = ask(private_means, table.copy(), epsilon, rng)
        if got is None:
            raise NotAttempted
        got = np.asarray(got, dtype=float)
        if got.shape != (d,):
            raise Wrong(f"expected {d} means, one for each column, got shape {got.shape}")
        noise.append(got - table.mean(axis=0))
    noise = np.array(noise)
    if not np.isfinite(noise).all():
        raise Wrong("some means are not finite numbers")
    if np.abs(noise).max() < 1e-12:
        raise Wrong("there is no noise at all")
    if np.all(noise == noise[0]):
        raise Wrong("the noise is the same in every run: whoever has the program subtracts it")
    if np.allclose(noise, noise[:, :1]):
        raise Wrong("one noise serves all means: the difference of two means is exact")
    means = noise + table.mean(axis=0)
    if means.min() >= 0 and means.max() <= 1:
        raise Wrong("the results are cut to [0, 1]; that is allowed in life, but then the noise cannot be checked here")
    worst = np.abs(np.corrcoef(noise.T) - np.eye(d)).max()
    if not worst < 7 / np.sqrt(RUNS):
        raise Wrong(f"the noises of two means are correlated ({worst:.2f}): part of them cancels in a difference")
    edges, where = _edges(UNIT), f"with {n} rows, {d} columns and ε = {epsilon:g}"
    counts = np.histogram(noise / right * UNIT, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    if _p_value(counts, _laplace_law(edges, UNIT)) >= LEVEL:
        return
    rivals = {
        f"{where}: each mean alone has the noise for ε, together they cost {d} ε": _laplace_law(edges, UNIT / d),
        f"{where}: the noise is made for sums, which move by 1; a mean moves by 1/{n}": _laplace_law(edges, UNIT * n),
        f"{where}: the noise is half of what it must be": _laplace_law(edges, UNIT / 2),
        f"{where}: the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2": _laplace_law(edges, UNIT / 2**0.5),
        f"{where}: the noise uses the distance in L2, the root of the number of columns: Laplace noise needs L1": _laplace_law(edges, UNIT / d**0.5),
        f"{where}: normal noise satisfies no ε at all, whatever its size": _normal_law(edges, UNIT),
        f"{where}: normal noise satisfies no ε at all, its tails fall too fast": _normal_law(edges, UNIT * 2**0.5),
        f"{where}: private, but with twice the noise it needs: an entry moves by 1 when a row is replaced, not by 2": _laplace_law(edges, 2 * UNIT),
    }
    cut = [-np.inf, *(edges / UNIT * right).round(3), np.inf]
    compare(counts, _laplace_law(edges, UNIT), rivals, lambda i: f"{where}: noise between {cut[i]:g} and {cut[i + 1]:g}")
