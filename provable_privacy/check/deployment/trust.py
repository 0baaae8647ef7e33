"""Checkers of the section on sums that nobody may see the parts of: shares, parts of noise, conspiracies, silent phones."""
import math

import numpy as np
import scipy

from dplib import secure
from provable_privacy.battery import laws, luck
from provable_privacy.speech import Wrong, answered, checker, compare_number, numbers

__all__ = ["agg_collusion", "agg_dropout", "agg_part", "agg_shares"]

LEVEL = 5e-9                                     # of each of 140 looks at most: a right answer is refused by all together once in 10^6 at most
ROWS = 20_000


# ------------------------------------------------------------------------------------------------------------------------ shares

def _whole(got, shape, what):
    array = numbers(got, shape, what)
    if not np.all(array == np.round(array)):
        raise Wrong(f"{what}: expected whole numbers, got {array[array != np.round(array)].flat[0]:g}")
    return array.astype(np.int64)


def _shares(split, values, servers, seed):
    shares = _whole(answered(split, values.copy(), servers, luck(seed)), (servers, len(values)), f"{servers} rows of {len(values):,} shares")
    if np.any((shares < 0) | (shares >= secure.MODULUS)):
        outside = shares[(shares < 0) | (shares >= secure.MODULUS)].flat[0]
        raise Wrong(f"a share must lie between 0 and 2^32 - 1, got {outside}: count modulo 2^32")
    if not np.array_equal(shares.sum(axis=0) % secure.MODULUS, values % secure.MODULUS):
        at = int(np.flatnonzero(shares.sum(axis=0) % secure.MODULUS != values % secure.MODULUS)[0])
        raise Wrong(f"the shares of {values[at]} must add up to it modulo 2^32; yours add up to {int(shares[:, at].sum() % secure.MODULUS)}")
    return shares


def _uniform(sample, what):
    """`Wrong` unless a sample of hours looks uniform on the clock: its size, and its last digits."""
    if scipy.stats.kstest(sample / secure.MODULUS, "uniform").pvalue < LEVEL:
        raise Wrong(f"{what} is not uniform on 0 ... 2^32 - 1 (half of the numbers should be above 2^31, "
                    f"{np.mean(sample >= 2**31):.1%} are): it tells something")
    if scipy.stats.chisquare(np.bincount(sample % 16, minlength=16)).pvalue < LEVEL:
        raise Wrong(f"the last bits of {what} are not uniform: they tell something")


@checker
def agg_shares(split):
    """`split(values, servers, rng)`: shares modulo 2^32, of which any servers - 1 say nothing."""
    for seed, (servers, values) in enumerate([(2, np.array([5, 0, -3])), (3, np.array([2**31 - 1, -(2**31), 7])), (2, np.zeros(0, dtype=int))]):
        _shares(split, values, servers, seed)
    for servers, value in ((2, 1_000_000), (3, 0), (3, -1), (4, 2**30)):
        shares = _shares(split, np.full(ROWS, value), servers, servers)
        for left_out in range(servers):
            seen = np.delete(shares, left_out, axis=0)
            who = f"what server {{}} gets of shares of {value:,} at {servers} servers"
            for row, share in enumerate(seen):
                _uniform(share, who.format(row + (row >= left_out) + 1))
                if len(np.unique(share)) < ROWS - 8:         # 20,000 of 2^32 hours meet twice only a few times
                    raise Wrong(f"the share of server {row + (row >= left_out) + 1} is drawn once for many people: whoever knows one of them knows all")
            hours = np.append(seen, -seen % secure.MODULUS)      # of 120,000 about one pair meets by chance, 16 once in 10^14
            if len(np.unique(hours)) < hours.size - 30:
                raise Wrong("some shares are others over again, or add up to 0 with them: draw each on its own")
            if len(seen) > 1:
                _uniform(seen.sum(axis=0) % secure.MODULUS, f"the sum of what all but server {left_out + 1} get of shares of {value:,} at {servers} servers")
                _uniform((seen[0] - seen[1]) % secure.MODULUS, f"the difference of what two servers get of shares of {value:,} at {servers} servers")
            for one, other in ((seen[0][1:], seen[0][:-1]), (seen[0][ROWS // 2:], seen[0][:ROWS // 2])):
                for together in (one - other, one + other):
                    if scipy.stats.kstest(together % secure.MODULUS / secure.MODULUS, "uniform").pvalue < LEVEL:
                        raise Wrong("the shares of one person and another go together: draw each on its own")
    again = [_shares(split, np.arange(1000), 2, seed) for seed in (8, 9)]
    if np.mean(again[0] == again[1]) > 0.01:
        raise Wrong("two calls give the same shares: draw them anew, from rng")
    return "they add up, and all but one server see uniform numbers (values -1, 0, a million and 2^30, two to four servers)"


# ------------------------------------------------------------------------------------------------------------------ parts of noise

CASES = [(1, 1.0, 1), (10, 0.7, 1), (60, 1.0, 3), (400, 2.0, 1)]
CELLS = 9                                        # from -9 to 9, and the two tails


def _law(law, epsilon, sensitivity):
    """Probabilities of the cells: what is below -9 scales, -9 ... 9, above."""
    step = max(1, round(sensitivity / epsilon))
    inside = np.array([law[abs(np.arange(z * step, (z + 1) * step))].sum() for z in range(-CELLS, CELLS)])
    return np.append(inside, max(1 - inside.sum(), 0))


def _cells(sums, epsilon, sensitivity):
    step = max(1, round(sensitivity / epsilon))
    place = np.floor_divide(sums, step)
    inside = (place >= -CELLS) & (place < CELLS)
    return np.append(np.bincount(place[inside] + CELLS, minlength=2 * CELLS), np.count_nonzero(~inside))


def _difference(shape, q):
    k = np.arange(2000)
    p = scipy.stats.nbinom.pmf(k, shape, 1 - q)
    return np.correlate(p, p, mode="full")[len(p) - 1:]


def _rivals(parties, epsilon, sensitivity):
    q = math.exp(-epsilon / sensitivity)
    tails = np.arange(2000)
    fine = {
        "each part is the whole noise: parties times too much of it": _difference(parties, q),
        "the sensitivity is left out of the rate: q is exp(-epsilon/sensitivity)": _difference(1.0, math.exp(-epsilon)),
        "this is noise for sensitivity 1, times the sensitivity: every sum is a multiple of it, and shows a change of 1 for sure":
            np.where(tails % sensitivity == 0, _difference(1.0, math.exp(-epsilon))[tails // sensitivity], 0.0),
        "the rate is divided among the people, and not the shape: q belongs to the sum": _difference(parties, math.exp(-epsilon * parties / sensitivity))
        if parties * epsilon < 600 else np.where(tails == 0, 1.0, 0.0),
        "the shape is 1/(2 parties): the two variables of a part each have the shape 1/parties": _difference(0.5, q),
        "the parts add up to nothing: noise that is small and rounded is always 0": np.where(tails == 0, 1.0, 0.0),
    }
    return {words: _law(law, epsilon, sensitivity) for words, law in fine.items()}


@checker
def agg_part(part):
    """`part(parties, epsilon, sensitivity, size, rng)`: `parties` of them add up to whole-number Laplace noise."""
    totals = []
    for case, (parties, epsilon, sensitivity) in enumerate(CASES):
        many = 30_000 if parties <= 60 else 6_000
        rng, size = luck(70 + case), parties * many
        given = f"with parties = {parties}, epsilon = {epsilon:g}, sensitivity = {sensitivity}"
        drawn = _whole(answered(part, parties, epsilon, sensitivity, size, rng), (size,), f"{given}: {size:,} parts")
        right = _law(_difference(1.0, math.exp(-epsilon / sensitivity)), epsilon, sensitivity)
        rivals = {words: law for words, law in _rivals(parties, epsilon, sensitivity).items() if not np.allclose(law, right, atol=1e-6)}
        for order in (drawn.reshape(many, parties).sum(axis=1), drawn.reshape(parties, many).sum(axis=0)):
            try:
                laws.compare(_cells(order, epsilon, sensitivity), right, rivals, lambda cell: "the sum", level=LEVEL)
            except Wrong as reason:
                if np.count_nonzero(order) == 0:
                    raise Wrong(f"{given}: all {many:,} sums are 0; noise that is small and rounded adds up to nothing") from None
                words = str(reason)
                if words.startswith("the sum "):
                    sd = math.sqrt(2 * math.exp(-epsilon / sensitivity)) / (1 - math.exp(-epsilon / sensitivity))
                    words = f"the sums do not have the law of whole-number Laplace noise, with standard deviation {order.std():.2f}, which should be {sd:.2f}"
                    if abs(order.std() / sd - 1) < 0.02:
                        words += "; their size is right, and their law another"
                raise Wrong(f"{given}: {words}") from None
        totals.append(drawn.sum())
        if parties > 1:
            neighbours, half, one = drawn.reshape(many, parties), size // 2, float(np.mean(drawn != 0))
            pairs = {"beside each other": neighbours[:, :2].T, "half of the list apart": (drawn[:half], drawn[-half:]),
                     "as far from either end of the list": (drawn[:half], drawn[::-1][:half])}
            for where, (a, b) in pairs.items():
                both = np.mean((a != 0) & (b != 0))
                if scipy.stats.binom.sf(both * len(a) - 1, len(a), min(1.0, one**2)) < LEVEL:
                    raise Wrong(f"{given}: parts go together (two {where} are both different from 0 in {both:.2%}, which should be {one**2:.2%}); "
                                "each person draws on their own")
            owner = np.mean(neighbours != 0, axis=0)
            if scipy.stats.binom.sf(owner.max() * many - 1, many, one) * parties < LEVEL:
                raise Wrong(f"{given}: some of the parts are larger than others; every part has the same law")
    if not any(totals):                                      # by chance once in 10^11
        raise Wrong("all parts of a call add up to exactly 0: what one person adds another takes away; each draws on their own")
    again = [_whole(answered(part, 1, 0.1, 1, 500, luck(seed)), (500,), "500 parts") for seed in (78, 79)]
    if np.mean(again[0] == again[1]) > 0.5:                  # two right answers agree in about one place of forty
        raise Wrong("two calls give the same parts: draw them anew, from rng")
    return f"the sums of {', '.join(str(parties) for parties, *_ in CASES)} parts have the law of whole-number Laplace noise"


# ------------------------------------------------------------------------------------------------------------------- what they know

@checker
def agg_collusion(loss):
    """`loss(honest, epsilon)`: the exact loss when only a share `honest` of the parts is unknown."""
    for honest, epsilon in ((0.37, 0.83), (1.0, 0.7), (0.25, 2.0), (0.9, 0.1), (0.02, 0.5)):
        right = secure.collusion_epsilon(honest, epsilon=epsilon)
        mistakes = {
            "that is the bound ε + ln(1/h); the exact loss is ln P(0)/P(1)": epsilon + math.log(1 / honest),
            "that is ε/h: a part of the noise is missing, not a part of the rate": epsilon / honest,
            "that is the promise to those who know no part": epsilon,
            "that is the loss when the others are honest: `honest` is the share that keeps quiet":
                secure.collusion_epsilon(max(1 - honest, 1e-6), epsilon=epsilon),
            "that is the step from 1 to 2; the steepest is from 0 to 1":
                float(-np.diff(np.log(secure.shared_pmf([1, 2], honest=honest, epsilon=epsilon)))[0]),
        }

        def why(said, mistakes=mistakes, right=right):
            words = next((words for words, value in mistakes.items() if abs(said - value) < 2e-4 < abs(value - right)), "")
            return f"not {said:.4f}; {words}" if words else f"not {said:.4f}"

        compare_number(answered(loss, honest, epsilon), right, f"honest = {honest:g}, epsilon = {epsilon:g}", why, tolerance=1e-4)
    return "exact for five conspiracies"


@checker
def agg_dropout(plan):
    """`plan(parties, silent, told, epsilon)`: the shape of each part, and the standard deviation of all of them."""
    for parties, silent, told, epsilon in ((1000, 100, 300, 1.0), (50, 0, 0, 0.5), (2000, 100, 0, 2.0), (12, 0, 9, 1.5)):
        unknown, q = parties - silent - told, math.exp(-epsilon)
        given = f"parties = {parties}, silent = {silent}, told = {told}, epsilon = {epsilon:g}"
        shape, sd = numbers(answered(plan, parties, silent, told, epsilon), (2,), f"{given}: shape and standard deviation")
        shapes = {1 / parties: "that insures against nobody", 1 / (parties - told): "the silent take their parts with them",
                  1 / (parties - silent): "those who told hide nothing", 1 / (2 * unknown): "both variables of a part have the whole shape",
                  unknown / parties: "that is the share; the shapes of the unknown parts add up to 1"}
        compare_number(shape, 1 / unknown, f"{given}: the shape", lambda said, shapes=shapes: next(
            (f"not {said:.6g}; {words}" for value, words in shapes.items() if math.isclose(said, value, rel_tol=1e-4)), f"not {said:.6g}"),
            tolerance=0, relative=1e-4)
        deviations = {math.sqrt(2 * q) / (1 - q): "that is the noise of the unknown parts; when nobody falls silent there is more",
                      math.sqrt(parties / unknown * q) / (1 - q): "a part is a difference of two variables, so the variance is twice as large",
                      2 * parties / unknown * q / (1 - q) ** 2: "that is the variance",
                      math.sqrt(2 * (parties - silent) / unknown * q) / (1 - q): "nobody falls silent here"}
        compare_number(sd, math.sqrt(2 * parties / unknown * q) / (1 - q), f"{given}: the standard deviation", lambda said, deviations=deviations: next(
            (f"not {said:.4g}; {words}" for value, words in deviations.items() if math.isclose(said, value, rel_tol=1e-3)), f"not {said:.4g}"),
            tolerance=0, relative=1e-3)
    return "right in four cases"
