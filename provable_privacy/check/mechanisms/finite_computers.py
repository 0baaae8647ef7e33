"""Checkers of the section on finite computers."""
import contextlib
import math
from fractions import Fraction
from itertools import product
from unittest import mock

import numpy as np

from provable_privacy.battery import looks_for
from provable_privacy.battery.laws import compare
from provable_privacy.entries import AnyOf, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, answered, checker, is_stub, number

__all__ = ["fin_bug", "fin_catch", "fin_coins", "fin_saturate", "fin_seed", "fin_truncate"]


# ------------------------------------------------------------------------------------------- what floats cannot produce

CATCHES = [                                      # ε, count, share of its releases that must be caught
    (1.0, 0, 0.20), (1.0, 1, 0.10), (1.0, 3, 0.04), (2.0, 0, 0.30), (2.0, 1, 0.15), (2.0, 3, 0.02),
    (0.25, 0, 0.05), (0.25, 1, 0.03), (0.25, 3, 0.02)]


@checker
def fin_catch(mine):
    """`mine(y, f)`: true where a release with float Laplace noise came from f and cannot have come from f + 1."""
    rng, runs = np.random.default_rng(61), 40_000
    for epsilon, f, least in CATCHES:
        caught, alarms = (_verdicts(mine, g + rng.laplace(scale=1 / epsilon, size=runs), f) for g in (f, f + 1))
        share = caught.mean()
        for bad, words in (
                (alarms.all() and caught.all(), f"everything is called {f}; that is no attack"),
                (alarms.mean() > share, f"you catch the releases of {f + 1}; turn the answer round"),
                (alarms.any(), f"{alarms.sum():,} of {runs:,} releases of {f + 1} are accused; look for what {f + 1} "
                               "can never produce, not for what is more likely"),
                (share < least, f"no false alarm, but only {share:.1%} of the releases of {f} are caught, and "
                                f"{least:.0%} can be caught. Which power of two divides every release of {f + 1}?")):
            if bad:
                raise Wrong(f"ε = {epsilon:g}, {f} against {f + 1}: {words}")
    for f in (0, 1, 3):
        if _verdicts(mine, np.zeros(1), f).any():
            raise Wrong(f"a release of 0 is said to come from {f} only, but with noise {-f - 1} it also comes from "
                        f"{f + 1}")
    return "no false alarm for three pairs of counts at three ε, and enough caught"


def _verdicts(mine, y, f):
    got = np.asarray(answered(mine, y.copy(), f))
    if got.shape != y.shape:
        raise Wrong(f"expected an array of {len(y):,} truth values, one for each release, got shape {got.shape}")
    if not np.isin(got, (0, 1)).all():
        raise Wrong("expected truth values")
    return got.astype(bool)


# --------------------------------------------------------------------------------------------------- where noise is cut

INT, FLOOR, AFTER = RECIPES = ("int(noise)", "floor(noise)", "int(answer + noise)")


def _loss(recipe, epsilon):
    return epsilon + (math.log(2) if recipe == INT else 0)


def _for(recipe, loss):
    """A mistake about one recipe only."""
    return lambda asked, epsilon: {recipe: loss(epsilon)}[asked]


UNCHANGED = "nothing is lost here, because the result is a function of answer + noise"
CUTS = {
    "more than ε; the bin at 0 takes noise from -1 to 1, every other bin is half as wide": _for(INT, lambda e: e),
    "the width of the bin is one part of the loss, the noise's own decay another": _for(INT, lambda e: math.log(2)),
    "not 2 ε; the bin at 0 is twice as wide whatever ε is": _for(INT, lambda e: 2 * e),
    f"{UNCHANGED}: floor commutes with adding a whole number": _for(FLOOR, lambda e: e + math.log(2)),
    f"{UNCHANGED}: the cut comes after the noise": _for(AFTER, lambda e: e + math.log(2)),
}


@checker
def fin_truncate(true_loss):
    """`true_loss(recipe, epsilon)` for the three recipes."""
    def hint(got, right, recipe, epsilon):
        if got < right and recipe != INT:
            return "the tail still has the full loss ε"
        return "write down the probabilities of neighbouring whole numbers"

    cases = [(recipe, epsilon) for epsilon in (1.0, 0.1, 2.5) for recipe in RECIPES]
    on_cases(true_loss, cases, _loss, CUTS, atol=1e-12, what="the loss", otherwise=hint,
             show=lambda recipe, epsilon: f"{recipe} at ε = {epsilon:g}")
    return "ε + ln 2, ε and ε, at three ε"


# ----------------------------------------------------------------------------------------------- exact noise from coins

EDGE, REPLAYED, MOST_BITS = 6, 100, 200_000
COINS = ((Fraction(1), 16_000), (Fraction(1, 3), 15_000), (Fraction(4, 7), 5000), (Fraction(1, 100), 120))    # ε, draws


class _Float(Exception):
    """Somebody made a float of a fraction."""


def _refuse(*arguments, **keywords):
    raise _Float


class _Whole(int):
    """A whole number that does not become a float."""

    __truediv__ = __rtruediv__ = __float__ = _refuse


def _guarded(epsilon):
    """The fraction; its numerator and denominator cannot be divided as floats."""
    fraction = Fraction(epsilon)
    fraction._numerator, fraction._denominator = _Whole(epsilon.numerator), _Whole(epsilon.denominator)
    return fraction


@contextlib.contextmanager
def _no_floats():
    with contextlib.ExitStack() as patches:
        patches.enter_context(mock.patch.object(Fraction, "__float__", _refuse))
        for name in ("exp", "log", "expm1"):
            patches.enter_context(mock.patch(f"math.{name}", _refuse))
        try:
            yield
        except _Float:
            raise Wrong("a float was made on the way; e^-ε is not a fraction, and its float is not exact: "
                        "use exp_coin") from None


class Coins:
    """Fair coins, which are counted for each noise; `replay` tosses the same ones once more."""

    def __init__(self, rng):
        self.rng, self.tossed, self.used, self.start, self.place = rng, [], [], 0, 0
        self.sorts = {}                          # type -> a noise of this type

    def __call__(self):
        place = self.place
        if place == len(self.tossed):
            if place - self.start > MOST_BITS:
                raise Wrong(f"one noise took more than {MOST_BITS:,} coins: does a loop never end?")
            self.tossed += self.rng.integers(0, 2, 4096).tolist()
        self.place = place + 1
        return self.tossed[place]

    def draw(self, whole_noise, epsilon, draws):
        return np.array([self.one(whole_noise, epsilon) for _ in range(draws)])

    def replay(self, whole_noise, epsilon, draws):
        self.place = 0
        return self.draw(whole_noise, epsilon, draws)

    def one(self, whole_noise, epsilon):
        self.start = self.place
        got = _ask_exactly(whole_noise, _guarded(epsilon), self)
        self.used.append(self.place - self.start)
        if got is None:
            raise Wrong("your function returned None: is the `return` missing?")
        if isinstance(got, bool) or int(got) != got:
            raise Wrong(f"expected a whole number, got {got!r}")
        self.sorts.setdefault(type(got).__name__, got)
        return int(got)


def _ask_exactly(function, *arguments):
    """As `ask`, where a float or too many coins must stop the function."""
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
    if result is ... or result is None and is_stub(function):
        raise NotAttempted
    return result


def _folded(weight, edge=EDGE, far=800):
    """A law on -edge..edge from weights on the whole numbers, the tails in the last cells."""
    weights = np.array([float(weight(k)) for k in range(-far, far + 1)])
    folded = np.zeros(2 * edge + 1)
    np.add.at(folded, np.clip(np.arange(-far, far + 1), -edge, edge) + edge, weights)
    return folded / folded.sum()


def _falls(q, **settings):
    """The law that falls by the factor q at each step."""
    return _folded(lambda k: q ** abs(k), **settings)


def _by_remainders(spare):
    """The law of noise whose dice are the remainders of numbers with so many bits to spare."""
    def law(epsilon):
        chance, ahead = 0.0, 1.0
        for k in range(1, 40):
            n, top = epsilon.denominator * k, epsilon.numerator
            rounds, rest = divmod(2 ** ((n - 1).bit_length() + spare), n)
            success = (rounds * top + min(rest, top)) / (rounds * n + rest)
            chance, ahead = chance + ahead * (1 - success) * (k % 2), ahead * success
        return _falls(chance)

    return law


LAWS = {                                         # words -> the law of such noise
    "zero comes out twice as often as it should: plus zero and minus zero are one number":
        lambda e: _folded(lambda k: math.exp(-e * abs(k)) * (1 + (k == 0))),
    "the noise is never negative: one geometric variable is only half of it":
        lambda e: _folded(lambda k: math.exp(-e * k) if k >= 0 else 0),
    "0 never comes: a geometric variable that counts from 1 was given a sign":
        lambda e: _folded(lambda k: (k != 0) * math.exp(-e * abs(k))),
    "the noise falls by e^-2ε a step: half the noise that is needed": lambda e: _falls(math.exp(-2 * e)),
    "the noise falls by e^-ε/2 a step: private, and twice as large as it must be": lambda e: _falls(math.exp(-e / 2)),
    "that is noise for ε = 1, whatever ε is asked for": lambda e: _falls(math.exp(-1)),
    "e^-ε was cut off after its fourth term, -ε³/6, and is not exact":
        lambda e: _falls(float(1 - e + e**2 / 2 - e**3 / 6)),
    **{f"the dice are remainders of numbers with {spare} bits to spare, and so they are not fair. Toss again when "
       "the number is too large": _by_remainders(spare) for spare in range(3)},
}


def _from_coins(used, sorts, values, again):
    if len(sorts) > 1:
        shown = " and ".join(f"{value} is of type {sort}" for sort, value in sorts.items())
        raise Wrong(f"{shown}: the type of a release would tell something of its noise; give one type always")
    if not any(used):
        raise Wrong("no coin was tossed: the randomness comes from elsewhere, or there is none")
    if min(used) == 0:
        raise Wrong("some noises took no coin at all: either they were used before, or their randomness comes from "
                    "elsewhere")
    if not np.array_equal(again, values[:REPLAYED]):
        raise Wrong("the same coins gave different noises: some randomness comes from elsewhere, or something is "
                    "kept from one call to the next")


def _has_the_law(values, epsilon):
    where, draws, q = f"ε = {epsilon}", len(values), math.exp(-epsilon)
    if len(set(values.tolist())) < 3:
        raise Wrong(f"{where}: only the values {sorted(set(values.tolist()))} occur")
    far = math.ceil(2 / epsilon)
    if (np.abs(values) <= far).all() and (1 - 2 * q ** (far + 1) / (1 + q)) ** draws < 1e-7:
        raise Wrong(f"{where}: none of {draws:,} sizes is above {far}. Where the sizes are cut off, a release is "
                    "possible for one count and impossible for its neighbour")

    def cell(i):
        return f"{where}: {'at most ' if i == 0 else 'at least ' if i == 2 * EDGE else ''}{i - EDGE}"

    counts = np.bincount(np.clip(values, -EDGE, EDGE) + EDGE, minlength=2 * EDGE + 1)
    compare(counts, _falls(q), {f"{where}: {words}": law(epsilon) for words, law in LAWS.items()}, cell)
    half, law = draws // 2, _falls(q, edge=400)  # pairs of successive draws: equal about as often as the law says
    same, chance = np.mean(values[: 2 * half : 2] == values[1 : 2 * half : 2]), float(law @ law)
    if abs(same - chance) > 7 * math.sqrt(chance / half):
        raise Wrong(f"{where}: successive noises depend on one another")


NO_TABLE = "an ε and coins come in, and no table"


@checker
@looks_for("small", "quotient", "type", "calls", size=NO_TABLE, empty=NO_TABLE, contents=NO_TABLE,
           fractions=NO_TABLE, negative=NO_TABLE, missing=NO_TABLE, straddles=NO_TABLE, far=NO_TABLE, own=NO_TABLE,
           large="the coins of the section are for ε up to 1", order="one number comes out",
           shared="one number comes out", zero="the law is prescribed, and another one is refused")
def fin_coins(whole_noise):
    """`whole_noise(epsilon, bit)`: exact discrete Laplace noise from fair coins."""
    if "Decimal" in getattr(getattr(whole_noise, "__code__", None), "co_names", ()):
        raise Wrong("a Decimal is a float with more digits: e^-ε is not a fraction, and no finite number of digits is "
                    "exact")
    for place, (epsilon, draws) in enumerate(COINS):
        coins = Coins(np.random.default_rng(630 + place))
        with _no_floats():
            values = coins.draw(whole_noise, epsilon, draws)
            again = coins.replay(whole_noise, epsilon, REPLAYED)
        _from_coins(coins.used, coins.sorts, values, again)
        _has_the_law(values, epsilon)
    return (f"the right distribution at {len(COINS)} ε, as far as {sum(draws for _, draws in COINS):,} draws can "
            "show; from coins, and without any float that we saw. It is for you to prove that it is exact")


# -------------------------------------------------------------------------------------------- a sum that stays in range

_draw = np.random.default_rng(64)
SMALL = [list(t) for n in range(4) for t in product((-70, -5, 0, 3, 90, 300), repeat=n)]
LONG = [_draw.integers(-150, 150, size).tolist() for size in (8, 30, 100) for _ in range(6)]
LONG += [[100] * 30, [-100] * 30, [50] * 3 + [-60] * 9, [50, -40] * 3, [40, -50] * 3, [-60, -60, -8]]
LONG += [[*[60] * 5, *[-60] * 4, *[0] * zeros] for zeros in (990, 991)]
LONG += [[7, *[1, -1] * 2000], [-100, *[-5, 5] * 700]]
BOUNDS = ((-60, 60), (0, 100), (-100, 20), (0, 1), (-10, -2), (5, 90))


def _wrapped(total):
    return (total + 128) % 256 - 128


def _sum(total, table, low, high, sorts):
    got = answered(total, list(table), low, high)
    whole, sort = int(number(got, "the sum", whole=True)), type(got).__name__
    if sorts.setdefault(whole, sort) != sort:
        raise Wrong(f"the sum {whole} is of type {sort} on one table and {sorts[whole]} on another: the type of what "
                    "comes out tells the tables apart, and no noise hides it")
    return whole


def _stays(total, table, low, high, sorts):
    """`Wrong` unless the sum is in range, exact where no partial sum leaves it, and no row moves it too far."""
    where = f"{table if len(table) < 5 else f'a table of {len(table)}'}, cut to [{low}, {high}]"
    whole, bound = _sum(total, table, low, high, sorts), max(abs(low), abs(high))
    cut = np.clip(table, low, high).astype(int)
    if not -128 <= whole <= 127:
        raise Wrong(f"{where}: {whole} does not fit into eight bits")
    partial = np.cumsum([0, *cut])
    if partial.min() >= -128 and partial.max() <= 127 and whole != partial[-1]:
        if whole in (_wrapped(sum(table)), min(max(sum(table), -128), 127)):
            raise Wrong(f"{where}: {whole}, and it is {partial[-1]}; cut the values to their bounds first")
        raise Wrong(f"{where}: {whole}, but the exact sum is {partial[-1]} and no partial sum leaves the range, in "
                    "the order of the rows")
    for i in range(len(table) if len(table) < 9 else 6 if len(table) < 200 else 1):
        fewer = _sum(total, table[:i] + table[i + 1 :], low, high, sorts)
        if abs(whole - fewer) > bound:
            wraps = len(table) > 200 or whole == _wrapped(cut.sum())
            raise Wrong(f"{where}: {whole} with row {i} and {fewer} without it, a step of {abs(whole - fewer)} where "
                        f"{bound} is allowed: {'it wraps around' if wraps else 'which is more than the bound'}")


NO_NOISE = "a sum comes out, before any noise"


@checker
@looks_for("size", "empty", "negative", "straddles", "far", "type", contents="each row is one number",
           fractions="the values are whole numbers", missing="the values are whole numbers", small=NO_NOISE,
           large=NO_NOISE, quotient=NO_NOISE, rare=NO_NOISE, order="one number comes out", shared=NO_NOISE,
           calls=NO_NOISE, zero=NO_NOISE, own="the bounds come in")
def fin_saturate(total):
    """`total(values, low, high)`: in [-128, 127], exact where it can be; one row moves it by at most the bound."""
    sorts = {}                                   # of each sum
    for low, high in BOUNDS:
        ends = [end for end in (low, high) if abs(end) >= 20]
        past_16_bits = [[end] * (2**15 // abs(end) + extra) for end in ends for extra in (1, 2)]
        for table in SMALL + LONG + past_16_bits:
            _stays(total, table, low, high, sorts)
    return "in range, exact where it can be, and no row moves it by more than its bound"


# ----------------------------------------------------------------------------------------------- a seed that is guessed

SECRETS = [(0, 35, 1, 10.0, 300), (2718, 15_331, 8, 20.0, 3000), (777, 0, 3, 2.5, 1500), (1023, -4, 5, 3.0, 1024),
           (50, 120_001, 40, 100.0, 2000)]       # seed, total, n, scale, how many seeds there are
RELEASED = [(total / n + np.random.default_rng(secret).laplace(scale=scale), n, scale, seeds)
            for secret, total, n, scale, seeds in SECRETS]
TOTALS = {released: total for (released, *_), (_, total, *_) in zip(RELEASED, SECRETS)}


def _nearest(released, n, scale, seeds):
    """The total that these seeds make nearest to a whole number."""
    totals = [n * (released - np.random.default_rng(seed).laplace(scale=scale)) for seed in seeds]
    return round(min(totals, key=lambda rest: abs(rest - round(rest))))


GUESSES = {
    "this is the mean; the total is n times that": lambda released, n, *_: TOTALS[released] / n,
    "this is the mean, rounded; the total is n times the mean":
        lambda released, n, *_: round(TOTALS[released] / n),
    "this is the release, rounded; the noise is still in it": lambda released, *_: round(released),
    "this is n times the release, rounded; the noise is still in it":
        lambda released, n, *_: round(n * released),
    "the last seed below the bound is a seed too": lambda *given: _nearest(*given[:3], range(given[3] - 1)),
    "0 is a seed too": lambda *given: _nearest(*given[:3], range(1, given[3])),
}


@checker
def fin_seed(exact_total):
    """`exact_total(released, n, scale, seeds)`: n times the mean under Laplace noise of a seeded generator."""
    def hint(got, right, *case):
        if abs(got - right) < 1e-6:
            return "this is the total except for a rounding; return the whole number"
        return f"the total was {right:,}; which seed leaves a multiple of 1/n, to within 1e-9?"

    on_cases(exact_total, RELEASED, lambda released, *_: TOTALS[released], GUESSES, rtol=0, alike=1e-6,
             what="the total", otherwise=hint, show=lambda released, n, scale, seeds:
             f"released {released:.3f}, n = {n}, scale {scale:g}, {seeds:,} seeds")
    return "five totals recovered, five seeds and scales"


# ----------------------------------------------------------------------------------------------------------- nine lines

SEEN = "anyone who has seen only the noisy answer can do that: post-processing"
HARMLESS = {
    1: "replacing NaN by a fixed value, row by row, keeps every row within the bound",
    2: "cutting row by row is what makes the bound true",
    3: "rounding each row to cents before the sum is fixed point; the bound is a whole number of cents too",
    7: "adding is all right; ask what is added to what",
    8: SEEN,
    9: SEEN,
}
BROKEN = {                                       # hints that do not name the line
    4: "there is one among lines 3 to 5: how large may the sum become?",
    5: "there is one among lines 4 to 6: what does an attacker know of the noise?",
    6: "there is one among lines 5 to 7: which noise is left when it has been made whole?",
}


@entries("a sum that wraps, a seed that can be guessed, a bin at 0 of twice the width")
def fin_bug():
    """`answer`: the numbers of the lines that break the claim."""
    return AnyOf(dict(sorted((HARMLESS | BROKEN).items())), tuple(BROKEN), "not all of them: {why}",
                 "line {item} does not break the claim: {why}")
