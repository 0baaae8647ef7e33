"""Checkers of the section on finite computers."""
import math
from fractions import Fraction
from itertools import product
from unittest import mock

import numpy as np

from provable_privacy.battery.laws import compare
from provable_privacy.speech import NotAttempted, Wrong, answered, checker, compare_number, is_stub, number

__all__ = ["fin_bug", "fin_catch", "fin_coins", "fin_saturate", "fin_seed", "fin_truncate"]


@checker
def fin_catch(mine):
    """`mine(y, f)`: true where a release with float Laplace noise came from f and cannot have come from f + 1."""
    rng, runs = np.random.default_rng(61), 40_000
    for epsilon, shares in ((1.0, {0: 0.20, 1: 0.10, 3: 0.04}), (2.0, {0: 0.30, 1: 0.15, 3: 0.02}), (0.25, {0: 0.05, 1: 0.03, 3: 0.02})):
        for f, least in shares.items():
            caught, alarms = (_verdicts(mine, g + rng.laplace(scale=1 / epsilon, size=runs), f) for g in (f, f + 1))
            where = f"ε = {epsilon:g}, {f} against {f + 1}"
            if alarms.all() and caught.all():
                raise Wrong(f"{where}: everything is called {f}; that is no attack")
            if alarms.mean() > caught.mean():
                raise Wrong(f"{where}: it is the releases of {f + 1} that you catch; turn the answer round")
            if alarms.any():
                raise Wrong(f"{where}: {alarms.sum():,} of {runs:,} releases of {f + 1} are accused; look for what {f + 1} can never produce, "
                            "not for what is more likely")
            if caught.mean() < least:
                raise Wrong(f"{where}: no false alarm, but only {caught.mean():.1%} of the releases of {f} are caught; {least:.0%} are in reach. "
                            f"Which power of two divides every release of {f + 1}?")
    for f in (0, 1, 3):
        if _verdicts(mine, np.zeros(1), f).any():
            raise Wrong(f"a release of 0 is called one of {f}, and noise of {-f - 1} makes it from {f + 1}")
    return "no false alarm for three pairs of counts at three ε, and enough caught"


def _verdicts(mine, y, f):
    got = np.asarray(answered(mine, y.copy(), f))
    if got.shape != y.shape:
        raise Wrong(f"expected an array of {len(y):,} truth values, one for each release, got shape {got.shape}")
    if not np.isin(got, (0, 1)).all():
        raise Wrong("expected truth values")
    return got.astype(bool)


RECIPES = ("int(noise)", "floor(noise)", "int(answer + noise)")


@checker
def fin_truncate(true_loss):
    """`true_loss(recipe, epsilon)` for the three recipes."""
    for epsilon in (1.0, 0.1, 2.5):
        for recipe in RECIPES:
            where, right = f"{recipe} at ε = {epsilon:g}", epsilon + (math.log(2) if recipe == "int(noise)" else 0)
            got = number(answered(true_loss, recipe, epsilon), where)
            if np.isclose(got, right, rtol=1e-6, atol=1e-12):
                continue
            if recipe == "int(noise)":
                if np.isclose(got, epsilon):
                    raise Wrong(f"{where}: more than ε; the bin at 0 takes noise from -1 to 1, every other bin is half as wide")
                if np.isclose(got, math.log(2)):
                    raise Wrong(f"{where}: the width of the bin is a part of the loss, the noise's own decay another")
                if np.isclose(got, 2 * epsilon):
                    raise Wrong(f"{where}: not 2 ε; the bin at 0 is twice as wide whatever ε is")
            elif np.isclose(got, epsilon + math.log(2)):
                raise Wrong(f"{where}: nothing is lost here: the result is a function of answer + noise, since "
                            + ("floor commutes with adding a whole number" if recipe.startswith("floor") else "the cut comes after the noise"))
            elif got < right:
                raise Wrong(f"{where}: in the tail the full loss ε is left")
            compare_number(got, right, where, "write down the probabilities of neighbouring whole numbers", tolerance=1e-6)
    return "ε + ln 2, ε and ε, at three ε"


class _Float(Exception):
    """Somebody made a float of a fraction."""


def _refuse(*arguments, **keywords):
    raise _Float


class _Whole(int):
    """A whole number that does not become a float."""

    __truediv__ = __rtruediv__ = __float__ = _refuse


def _guarded(epsilon):
    """The fraction, its numerator and denominator unwilling to be divided as floats."""
    fraction = Fraction(epsilon)
    fraction._numerator, fraction._denominator = _Whole(epsilon.numerator), _Whole(epsilon.denominator)
    return fraction


EDGE, REPLAYED, MOST_BITS = 6, 100, 200_000


COINS = ((Fraction(1), 16_000), (Fraction(1, 3), 15_000), (Fraction(4, 7), 5000), (Fraction(1, 100), 120))           # ε, draws


@checker
def fin_coins(whole_noise):
    """`whole_noise(epsilon, bit)`: exact discrete Laplace noise from fair coins."""
    if "Decimal" in getattr(getattr(whole_noise, "__code__", None), "co_names", ()):
        raise Wrong("a Decimal is a float with more digits: e^-ε is not a fraction, and no finite number of digits is exact")
    for place, (epsilon, draws) in enumerate(COINS):
        rng = np.random.default_rng(630 + place)
        values, used = np.empty(draws, dtype=int), []
        store, tossed = iter(()), []

        def bit():
            nonlocal store
            used[-1] += 1
            if used[-1] > MOST_BITS:
                raise Wrong(f"one noise took more than {MOST_BITS:,} coins: does a loop never end?")
            value = next(store, None)
            if value is None:
                tossed.append(rng.integers(0, 2, 4096).tolist())
                store = iter(tossed[-1])
                value = next(store)
            return value

        where = f"ε = {epsilon}"
        try:
            with (mock.patch.object(Fraction, "__float__", _refuse), mock.patch("math.exp", _refuse), mock.patch("math.log", _refuse),
                  mock.patch("math.expm1", _refuse)):
                for i in range(draws):
                    used.append(0)
                    got = _ask_exactly(whole_noise, _guarded(epsilon), bit)
                    if got is None and is_stub(whole_noise):
                        raise NotAttempted
                    if got is None:
                        raise Wrong("your function returned None: is the `return` missing?")
                    if isinstance(got, bool) or int(got) != got:
                        raise Wrong(f"expected a whole number, got {got!r}")
                    values[i] = int(got)
                store = iter([value for block in tossed for value in block])       # the same coins once more
                again = [used.append(0) or int(_ask_exactly(whole_noise, _guarded(epsilon), bit)) for _ in range(REPLAYED)]
        except _Float:
            raise Wrong("a float was made on the way; e^-ε is not a fraction, and its float is not exact: use exp_coin") from None
        if not any(used):
            raise Wrong("no coin was tossed: the randomness comes from elsewhere, or there is none")
        if min(used) == 0:
            raise Wrong("some noises took no coin at all: they are old ones, or their randomness comes from elsewhere")
        if again != values[:REPLAYED].tolist():
            raise Wrong("the same coins gave other noises: there is randomness from elsewhere, or something is kept from call to call")
        if len(set(values)) < 3:
            raise Wrong(f"{where}: only the values {sorted(set(values))} occur")
        q = math.exp(-epsilon)
        z, far = np.arange(-EDGE, EDGE + 1), math.ceil(2 / epsilon)
        if (np.abs(values) <= far).all() and (1 - 2 * q ** (far + 1) / (1 + q)) ** draws < 1e-7:
            raise Wrong(f"{where}: none of {draws:,} sizes is above {far}; where the sizes are cut off, a release is possible from one count and "
                        "impossible from its neighbour")
        rivals = {
            f"{where}: zero comes out twice as often as it should: plus zero and minus zero are one number": _folded(lambda k: q ** abs(k) * (1 + (k == 0))),
            f"{where}: the noise is never negative: one geometric variable is half of the matter": _folded(lambda k: (k >= 0) * q**k if k >= 0 else 0),
            f"{where}: 0 never comes: a geometric variable that counts from 1 was given a sign": _folded(lambda k: (k != 0) * q ** abs(k)),
            f"{where}: the noise falls by e^-2ε a step, half of what is needed": _folded(lambda k: q ** (2 * abs(k))),
            f"{where}: the noise falls by e^-ε/2 a step: private, and twice as large as it must be": _folded(lambda k: q ** (abs(k) / 2)),
            f"{where}: the coin fails with probability ε instead of 1 - e^-ε": _folded(lambda k: float(1 - epsilon) ** abs(k) if epsilon < 1 else (k == 0)),
            f"{where}: that is noise for ε = 1, whatever ε is asked for": _folded(lambda k: math.exp(-abs(k))),
            f"{where}: e^-ε was cut off after its fourth term, -ε³/6, and is not exact":
                _folded(lambda k: float(1 - epsilon + epsilon**2 / 2 - epsilon**3 / 6) ** abs(k)),
        } | {f"{where}: the dice are remainders of numbers with {spare} bits to spare, and not fair: what is too large must be tossed again":
             _by_remainders(epsilon, spare) for spare in range(3)}
        counts = np.bincount(np.clip(values, -EDGE, EDGE) + EDGE, minlength=2 * EDGE + 1)
        compare(counts, _folded(lambda k: q ** abs(k)), rivals, lambda i: f"{where}: {'at most ' if i == 0 else 'at least ' if i == 2 * EDGE else ''}{z[i]}")
        half = draws // 2                       # pairs of successive draws: equal about as often as the law says
        same = np.mean(values[: 2 * half : 2] == values[1 : 2 * half : 2])
        law = _folded(lambda k: q ** abs(k), 400)
        chance = float(law @ law)
        if abs(same - chance) > 7 * math.sqrt(chance / half):
            raise Wrong(f"{where}: successive noises depend on one another")
    return (f"the right law at {len(COINS)} ε, as far as {sum(draws for _, draws in COINS):,} draws can tell, from coins, and with no float that we saw; "
            "that it is exact is yours to prove")


def _by_remainders(epsilon, spare):
    """The law of noise whose dice are the remainders of numbers with so many bits to spare."""
    chance, ahead = 0.0, 1.0
    for k in range(1, 40):
        n, top = epsilon.denominator * k, epsilon.numerator
        rounds, rest = divmod(2 ** ((n - 1).bit_length() + spare), n)
        success = (rounds * top + min(rest, top)) / (rounds * n + rest)
        chance, ahead = chance + ahead * (1 - success) * (k % 2), ahead * success
    return _folded(lambda k: chance ** abs(k))


def _ask_exactly(function, *arguments):
    if not callable(function):
        raise Wrong(f"expected a function, got {type(function).__name__}")
    try:
        result = function(*arguments)
    except (Wrong, _Float):
        raise
    except NotImplementedError:
        raise NotAttempted from None
    except Exception as error:
        raise Wrong(f"your function raised {type(error).__name__}: {error}") from None
    if result is ...:
        raise NotAttempted
    return result


def _folded(weight, edge=EDGE, far=800):
    """A law on -edge..edge from weights on the whole numbers, the tails in the last cells."""
    weights = np.array([float(weight(k)) for k in range(-far, far + 1)])
    folded = np.zeros(2 * edge + 1)
    np.add.at(folded, np.clip(np.arange(-far, far + 1), -edge, edge) + edge, weights)
    return folded / folded.sum()


def _saturating(values, low, high):
    s = 0
    for x in values:
        s = min(max(s + min(max(x, low), high), -128), 127)
    return s


@checker
def fin_saturate(total):
    """`total(values, low, high)`: in [-128, 127], exact where nothing overflows, and one row moves it by the bound at most."""
    rng = np.random.default_rng(64)
    small = [list(t) for n in range(4) for t in product((-70, -5, 0, 3, 90, 300), repeat=n)]
    long = [rng.integers(-150, 150, size).tolist() for size in (8, 30, 100) for _ in range(6)] + [
        [100] * 30, [-100] * 30, [50] * 3 + [-60] * 9, [50, -40] * 3, [40, -50] * 3, [-60, -60, -8]]
    for low, high in ((-60, 60), (0, 100), (-100, 20), (0, 1), (-10, -2)):
        bound = max(abs(low), abs(high))
        past_16_bits = [[end] * (2**15 // abs(end) + extra) for end in (low, high) if abs(end) >= 20 for extra in (1, 2)]
        for table in small + long + past_16_bits:
            whole = _total(total, table, low, high)
            where = f"{table if len(table) < 5 else f'a table of {len(table)}'}, cut to [{low}, {high}]"
            if not -128 <= whole <= 127:
                raise Wrong(f"{where}: {whole} does not fit into eight bits")
            cut = [min(max(x, low), high) for x in table]
            partial = np.cumsum([0, *cut])
            if partial.min() >= -128 and partial.max() <= 127 and whole != partial[-1]:
                if whole == (sum(table) + 128) % 256 - 128 or whole == min(max(sum(table), -128), 127):
                    raise Wrong(f"{where}: {whole}, and it is {partial[-1]}; the values are to be cut to their bounds first")
                raise Wrong(f"{where}: {whole}, but the exact sum is {partial[-1]} and no partial sum leaves the range, in the order of the rows")
            for i in range(len(table) if len(table) < 9 else 6 if len(table) < 200 else 1):
                fewer = _total(total, table[:i] + table[i + 1 :], low, high)
                if abs(whole - fewer) > bound:
                    wrapped = len(table) > 200 or whole == (sum(cut) + 128) % 256 - 128
                    reason = "it wraps around" if wrapped else "which is more than the bound"
                    raise Wrong(f"{where}: {whole} with row {i} and {fewer} without it, a step of {abs(whole - fewer)} where {bound} is allowed: {reason}")
    return "in range, exact where it can be, and no row moves it by more than its bound"


def _total(total, table, low, high):
    return int(number(answered(total, list(table), low, high), "the sum", whole=True))


@checker
def fin_seed(exact_total):
    """`exact_total(released, n, scale, seeds)`: n times the mean under Laplace noise of a seeded generator."""
    for secret, total, n, scale, seeds in ((0, 35, 1, 10.0, 300), (2718, 15_331, 8, 20.0, 3000), (777, 0, 3, 2.5, 1500), (1023, -4, 5, 3.0, 1024),
                                           (50, 120_001, 40, 100.0, 2000)):
        released = total / n + np.random.default_rng(secret).laplace(scale=scale)
        where = f"released {released:.3f}, n = {n}, scale {scale:g}, {seeds:,} seeds"
        got = answered(exact_total, released, n, scale, seeds)
        if isinstance(got, (tuple, list)):
            raise Wrong("expected one number, the total")
        got = number(got, where)
        if got == total:
            continue
        hints = {
            "the total but for a rounding; return the whole number": abs(got - total) < 1e-6,
            "the mean; the total is n times that": n > 1 and (abs(got - total / n) < 1e-6 or got == round(total / n)),
            "the release, rounded; the noise is still in it": got in (round(released), round(n * released)),
            "wrong; the last seed below the bound is a seed too": got == _nearest(released, n, scale, range(seeds - 1)),
            "wrong; 0 is a seed too": got == _nearest(released, n, scale, range(1, seeds)),
        }
        why = next((hint for hint, fits in hints.items() if fits), "wrong; which seed leaves a multiple of 1/n, to within 1e-9?")
        raise Wrong(f"{where}: the total was {total:,}, and {got:,.10g} is {why}")
    return "five totals recovered, five seeds and scales"


def _nearest(released, n, scale, seeds):
    """The total that these seeds make nearest to a whole number."""
    totals = [n * (released - np.random.default_rng(seed).laplace(scale=scale)) for seed in seeds]
    return round(min(totals, key=lambda rest: abs(rest - round(rest))))


HARMLESS = {
    1: "replacing NaN by a fixed value, row by row, keeps every row within the bound",
    2: "cutting row by row is what makes the bound true",
    3: "rounding each row to cents before the sum is fixed point; the bound, 10,000,000 cents, is a whole number of cents",
    7: "adding is all right; ask what is added to what",
    8: "somebody who has seen the noisy answer only can do that: post-processing",
    9: "somebody who has seen the noisy answer only can do that: post-processing",
}
BROKEN = {
    4: "there is one among lines 3 to 5: how large may the sum become?",
    5: "there is one among lines 4 to 6: what does an attacker know of the noise?",
    6: "there is one among lines 5 to 7: which noise is left when it has been made whole?",
}


@checker
def fin_bug(answer):
    """`answer`: the numbers of the lines that break the claim."""
    if isinstance(answer, (str, bool)):
        raise Wrong("expected a set of line numbers, such as {1, 2}")
    said = {answer} if isinstance(answer, (int, np.integer)) else set(answer)
    if said == {...}:
        raise NotAttempted
    if not all(isinstance(line, (int, np.integer)) and 1 <= line <= 9 for line in said):
        raise Wrong("the lines are numbered from 1 to 9")
    for line, reason in HARMLESS.items():
        if line in said:
            raise Wrong(f"line {line} does not break the claim: {reason}")
    for line, reason in BROKEN.items():
        if line not in said:
            raise Wrong(f"{len(said)} right, and not all: {reason}")
    return "a sum that wraps, a seed that can be guessed, a bin at 0 of twice the width"
