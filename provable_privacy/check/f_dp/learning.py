"""Checkers of the section on DP-SGD."""
import functools
import math
import tracemalloc

import numpy as np
from scipy.special import ndtri

from dplib import fdp
from provable_privacy.battery import Numbers, Pair, battery, drawn, looks_for
from provable_privacy.battery.laws import LEVEL, p_value
from provable_privacy.formulas import on_cases
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, numbers

__all__ = ["sgd_account", "sgd_break", "sgd_ceiling", "sgd_clip", "sgd_ghost", "sgd_share", "sgd_step"]


# --------------------------------------------------------------------------------------- clipping

def _shrunk(g, c, size):
    """Rows multiplied by min(1, c / size)."""
    return g * np.minimum(1, c / np.maximum(size, 1e-300))


def _lengths(g):
    return np.linalg.norm(g, axis=1, keepdims=True)


def _clipped(g, c):
    g = np.where(np.isfinite(g).all(axis=1, keepdims=True), g, 0.0)
    return _shrunk(g, c, _lengths(g))


ONE_FACTOR = (
    "all rows are scaled by one factor that depends on all of them together. Each example must be cut alone; "
    "otherwise one person changes what the others contribute"
)
CLIP_MISTAKES = [  # words, the same mistake
    ("each coordinate is cut to [-c, c]; a row of d coordinates can still be c√d long, and its direction is lost",
     lambda g, c: np.clip(g, -c, c)),
    (ONE_FACTOR, lambda g, c: _shrunk(g, c, np.linalg.norm(g.mean(axis=0)))),
    (ONE_FACTOR, lambda g, c: _shrunk(g, c, np.linalg.norm(g.sum(axis=0)))),
    (ONE_FACTOR, lambda g, c: _shrunk(g, c, np.linalg.norm(g))),
    (ONE_FACTOR, lambda g, c: _shrunk(g, c, _lengths(g).max(initial=0))),
    ("the rows are cut to c in L1; Gaussian noise is made for L2, and this loses more of each gradient than needed",
     lambda g, c: _shrunk(g, c, np.abs(g).sum(axis=1, keepdims=True))),
]


def _batches():
    """(gradients, c): long and short, zeros, one row, no rows, huge ones, and some that are not finite."""
    rng = np.random.default_rng(61)
    for n, d, c in ((6, 3, 1.0), (40, 20, 0.3), (25, 5, 10.0), (1, 4, 2.0), (8, 1, 0.5), (0, 3, 1.0)):
        g = rng.normal(size=(n, d)) * rng.choice([0.01, 1, 30], size=(n, 1))
        g[: n // 4] = 0
        yield g, c
    for c in (5.0, 0.1):
        yield np.array([[1e9, -1e9], [3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]), c
    for bad in (math.inf, -math.inf, math.nan):
        yield np.array([[3.0, 4.0], [bad, 0.5], [0.3, 0.4]]), 1.0


def _badly_clipped(got, g, c):
    """Why this is wrong."""
    if not np.isfinite(g).all():
        if np.isfinite(got).all():
            return "the row that is not finite must become zeros, and the others be clipped as usual"
        return "a gradient that is not finite must become zeros: one nan in the sum tells that it was in the batch"
    if not np.isfinite(got).all():
        return "a gradient of zeros has become nan: nothing needs to be cut there, so take care of the division"
    for words, mistake in CLIP_MISTAKES:
        if np.allclose(got, mistake(g, c)):
            return words
    sizes, lengths = _lengths(got)[:, 0], _lengths(g)[:, 0]
    if np.any((sizes > lengths * (1 + 1e-6)) & (lengths > 0)):
        return "a gradient shorter than c has been made longer; only what is too long is cut"
    if sizes.max() > c * (1 + 1e-6):
        return f"a row still has L2 length {sizes.max():.4g}: one person can add more than c to the sum"
    row = int(np.argmax(np.abs(got - _clipped(g, c)).max(axis=1)))
    asked = f"should keep its direction and have length {min(lengths[row], c):.4g}"
    return f"row {row} of length {lengths[row]:.4g} {asked}; it has length {sizes[row]:.4g}"


@checker
def sgd_clip(clip):
    """`clip(gradients, c)`: every row cut to L2 length c, its direction kept."""
    for g, c in _batches():
        got, where = np.asarray(answered(clip, g.copy(), c), dtype=float), f"with {len(g)} gradients and c = {c:g}"
        if got.shape != g.shape and not got.size == g.size == 0:
            raise Wrong(f"{where}: expected an array of shape {g.shape}, a row for each example, got {got.shape}")
        if got.size and not np.allclose(got, _clipped(g, c), rtol=1e-5, atol=1e-9 * c):
            raise Wrong(f"{where}: {_badly_clipped(got, g, c)}")
    return "each row alone, no longer than c, in its own direction; zeros and empty batches too"


# --------------------------------------------------------------------------------------- one step

RUNS = 3000
EDGES, EVEN = ndtri(np.arange(1, 24) / 24), np.full(24, 1 / 24)


def _normal(z):
    """Whether these have the law of the normal distribution, by counts in 24 cells."""
    return p_value(np.histogram(z, np.concatenate([[-np.inf], EDGES, [np.inf]]))[0], EVEN) >= LEVEL


def _poisson(n, q, rng):
    return rng.random(n) < q


def _sum(g, clip):
    return _clipped(g, clip).sum(axis=0)


def _step(who=_poisson, total=lambda g, clip, b, q: _sum(g, clip)):
    """The step, right unless told otherwise, in standard deviations of the right noise."""
    def function(gradients, q, clip, sigma, b, rng):
        g = gradients[who(len(gradients), q, rng)]
        g = g[np.isfinite(g).all(axis=1)]
        return total(g, clip, b, q) / (sigma * clip) + rng.normal(size=g.shape[1])

    return function


def _whole(sizes, g, clip):
    """The rows' sum, all scaled by one factor so that what `sizes` gives of them is at most clip."""
    return _shrunk(g.sum(axis=0), clip, np.linalg.norm(sizes))


def _of_the_mean(g, clip, b, q):
    return b * _shrunk(g.sum(axis=0) / max(len(g), 1), clip, np.linalg.norm(g.sum(axis=0)) / max(len(g), 1))


def _in_parts(gradients, q, clip, sigma, b, rng):
    """A coin for each coordinate of each row."""
    g = _clipped(gradients, clip)
    return (g * (rng.random(g.shape) < q)).sum(axis=0) / (sigma * clip) + rng.normal(size=g.shape[1])


def _fixed(size):
    """The step with a batch of `size(n, q, b)` rows, or of all of them if there are fewer."""
    def function(gradients, q, clip, sigma, b, rng):
        n = len(gradients)
        rows = rng.choice(n, min(size(n, q, b), n), replace=False) if n else []
        return RIGHT_STEP(gradients[rows], 1.0, clip, sigma, b, rng)

    return function


RIGHT_STEP = _step()
FIXED = "the batch has a fixed size{}; the accountant assumes a coin for each row, and batches of fixed size have " \
        "other costs"
MISTAKES = {
    "the rows are not clipped": _step(total=lambda g, clip, b, q: g.sum(axis=0)),
    "every row takes part every time; the accountant was told that it does so with probability q":
        _step(lambda n, q, rng: np.ones(n, bool)),
    "no row ever takes part": _step(lambda n, q, rng: np.zeros(n, bool)),
    "rows take part with probability 1 − q, not q": _step(lambda n, q, rng: rng.random(n) >= q),
    "the rows come together or not at all; each needs a coin of its own":
        _step(lambda n, q, rng: np.full(n, rng.random() < q)),
    "each coordinate of a row has its own coin, so a part of a row may take part. Toss one coin for each row":
        _in_parts,
    FIXED.format(""): _fixed(lambda n, q, b: round(n * q)),
    FIXED.format(", q times the rows and rounded down"): _fixed(lambda n, q, b: int(n * q)),
    FIXED.format(", of one row at least"): _fixed(lambda n, q, b: max(int(n * q), 1)),
    FIXED.format(", b rows whatever q is"): _fixed(lambda n, q, b: b),
    "each coordinate is cut to C, so one row moves the sum by up to C√d":
        _step(total=lambda g, clip, b, q: np.clip(g, -clip, clip).sum(axis=0)),
    "it is the mean of the batch that is clipped, and one row moves it by more than C/b": _step(total=_of_the_mean),
    "the sum is cut to b·C, the mean of the batch to C: one row can turn it round":
        _step(total=lambda g, clip, b, q: _whole(g.sum(axis=0) / b, g, clip)),
    "the sum is clipped instead of each row": _step(total=lambda g, clip, b, q: _whole(g.sum(axis=0), g, clip)),
    "the rows are divided by q as well": _step(total=lambda g, clip, b, q: _sum(g, clip) / q),
    "a row shorter than the clip norm is stretched to it; only what is too long is cut":
        _step(total=lambda g, clip, b, q: (g * clip / np.maximum(_lengths(g), 1e-300)).sum(axis=0)),
}


def _tables(what, one, more, parameters, free=False, **settings):
    """A table and the same with `more` rows; `parameters` are q, clip, sigma, b; `free`: the rows cost nothing."""
    one = np.array(one, dtype=float).reshape(-1, len(more[0]))
    two, (q, clip, sigma, _) = np.vstack([one, more]), parameters
    f = fdp.gaussian(1 / sigma).subsample(q)
    worst = fdp.worst([f, f.inverse()])
    claims = ((0.0, 0.0),) if free else tuple((epsilon, float(worst.delta(epsilon))) for epsilon in (1.0, 3.0, 8.0))
    truth = tuple(_sum(g, clip) / (sigma * clip) if q == 1 and not free or not np.any(_clipped(g, clip)) else None
                  for g in (one, two))
    law = False if free else "exactly"
    return Pair(what, (one, *parameters), (two, *parameters), claims, truth, within=1.2, share=0.7, law=law, **settings)


@functools.cache
def _pairs():
    rng = np.random.default_rng(64)
    unlike = rng.normal(size=(60, 3)) * np.geomspace(0.01, 3, 60)[:, None]
    short, ten, bad = np.tile([0.05, 0.0], (400, 1)), np.tile([0.0, 6.0, 0.0], (10, 1)), [[np.inf, 9.0]]
    pairs = [
        _tables("no rows / one long row", [], [[0.0, 20.0, 0.0]], (0.35, 0.5, 0.4, 3), runs=4000),
        _tables("one row / the same and one opposite", [[30.0, 0.0]], [[-30.0, 0.0]], (0.5, 1.0, 0.3, 2), runs=2000),
        _tables("ten equal rows / eleven", ten, [[0.0, 6.0, 0.0]], (0.3, 1.5, 0.25, 7), runs=2000),
        _tables("60 unlike rows, all take part / the same and a long one",
                unlike, [[9.0, 0.0, 9.0]], (1.0, 0.8, 0.5, 20), runs=1500),
        _tables("twelve rows of zeros / thirteen",
                np.zeros((12, 2)), np.zeros((1, 2)), (0.3, 0.6, 1.4, 4), True, runs=1200),
        _tables("two rows / the same and one that is not finite",
                [[3.0, 4.0], [0.1, 0.2]], bad, (1.0, 1.0, 0.2, 5), True, runs=600),
        _tables("one row / the same and one of nan", [[3.0, 4.0]], [[np.nan, 9.0]], (0.6, 1.0, 0.2, 5), True, runs=600),
        _tables("no rows / one long row of two equal coordinates", [], [[20.0, 20.0]], (0.5, 1.0, 0.15, 3), runs=600),
        _tables("no rows / one long row, its first and its last coordinate equal",
                [], [[20.0, *[0.0] * 8, 20.0]], (0.5, 0.15, 0.15, 3), runs=1000),
        _tables("400 short rows / the same and a long one across",
                short, [[0.0, -80.0]], (0.5, 0.7, 0.4, 200), runs=500),
        _tables("500 rows of one number, all take part / one more",
                np.tile([[0.3], [-3.0]], (250, 1)), [[2.0]], (1.0, 0.2, 3.0, 1000), runs=500),
        _tables("40 rows, q = 0.04 / the same and one across",
                np.tile([3.0, 0.0], (40, 1)), [[0.0, 9.0]], (0.04, 2.5, 0.2, 1), runs=1500),
        _tables("three rows, q = 0.9 / the same and one opposite",
                np.tile([0.0, 5.0], (3, 1)), [[0.0, -5.0]], (0.9, 1.0, 0.25, 4), runs=800),
    ]
    for i, case in enumerate(drawn(2, 65, q=(0.2, 0.8), clip=(0.3, 2.0), sigma=(0.3, 0.6), b=(2, 30))):
        what = f"{5 + i} rows, C = {case['clip']:g}, σ = {case['sigma']:g}, b = {case['b']} / one more"
        rows, more = rng.normal(size=(5 + i, 2)), [[20.0, -20.0]]
        pairs.append(_tables(what, rows, more, tuple(case.values()), runs=1200))
    return pairs


def _units(answer, arguments, rng):
    """An update, in standard deviations of the right noise."""
    got = answered(answer, *arguments, rng)
    gradients, _, clip, sigma, b = arguments
    try:
        return np.asarray(got, dtype=float) * (b / (sigma * clip))
    except (TypeError, ValueError):
        raise Wrong(f"expected one vector of {gradients.shape[1]} coordinates, got {got!r}"[:200]) from None


@checker
@looks_for("contents", "straddles", "far", "rare", "calls", "own", small="σ is given, and no ε",
           quotient="σ and the clip norm are given", order="one vector comes out",
           zero="the law of the noise is prescribed")
def sgd_step(noisy_step):
    """`noisy_step(gradients, q, clip, sigma, b, rng)`: Poisson sampling, clipping of each row, sum, noise, division."""
    rng, d, q = np.random.default_rng(62), 50, 0.3
    for n, clip, sigma, b in ((12, 0.6, 1.2, 9), (0, 11.0, 7.0, 5)):      # `_scales` differ
        where = f"with {f'{n} rows, all zero' if n else 'no rows'}, clip {clip:g}, sigma {sigma:g} and b = {b}"
        calls = (_units(noisy_step, (np.zeros((n, d)), q, clip, sigma, b), rng) for _ in range(RUNS))
        z = np.array([numbers(update, (d,), f"{where}: the update") for update in calls])
        if reason := _noise_alone(z, n * q) or _law_of_noise(z, _scales(clip, sigma, b, n * q)):
            raise Wrong(f"{where}: {reason}")
    ours = [RIGHT_STEP, *MISTAKES.values()]

    def units(answer, arguments, rng):
        return answer(*arguments, rng) if answer in ours else _units(answer, arguments, rng)

    said = battery(noisy_step, lambda pair: Numbers(pair.one[0].shape[1], "coordinate"), _pairs(), call=units,
                   mistakes=MISTAKES, right=RIGHT_STEP, seed=63)
    return f"the law of the algorithm on all tables tried, normal noise out to its tails, and {said}"


def _noise_alone(z, expected):
    """What is wrong with noise that is missing, or that is not independent; `expected` rows come."""
    bound, values = 8 / np.sqrt(len(z)), len(np.unique(z[:, 0]))
    if np.abs(z).max() < 1e-12:
        return "nothing moves at all, so there is no noise. A step without noise reveals that the batch was empty"
    if np.mean(np.all(z == 0, axis=1)) > 0.001:
        return ("some updates are exactly zero. An empty batch needs its noise too; otherwise a zero reveals that "
                "the batch was empty")
    if values < len(z) // 2:
        if len(np.unique(z[:, :2], axis=0)) > 2 * values:
            return f"the noise has {len(np.unique(z))} values only, and real gradients would show between them"
        return "runs have the same noise; draw it anew from the rng in each call"
    for moments in (z, z**2):
        correlation = np.abs(np.corrcoef(moments.T) - np.eye(z.shape[1])).max()
        kurtosis = float(np.mean(z**4) / np.mean(z**2) ** 2 - 3)
        if not correlation < bound:
            if expected and moments is not z and kurtosis > 0.3:
                return ("the size of the noise varies and tells how many came: is the update divided by the batch that "
                        "came, or does every row bring noise?")
            return f"the noises of two coordinates depend on each other ({correlation:.2f}); draw each of them anew"
    signs = np.sign(z)
    if np.abs((signs[:, :-2] * signs[:, 1:-1] * signs[:, 2:]).mean(axis=0)).max() > bound:
        return "the signs of the noises of two coordinates tell that of the next; draw each of them anew"
    serial = abs(np.corrcoef(z[1:, 0], z[:-1, 0])[0, 1])
    return "" if serial < bound else f"the noise of one call depends on that of the call before ({serial:.2f})"


def _scales(clip, sigma, b, expected):
    """The standard deviation of the noise, as a share of the right one -> the mistake that makes it."""
    return {
        b / expected if expected else 1: "the update is divided by another number than b",
        1 / clip: "the noise has standard deviation σ instead of σC",
        b: "the noise is added after the division by b, as if one person moved the mean by C",
        1 / b: "the noise is divided by b twice",
        clip: "the noise is scaled by C twice",
        1 / sigma: "sigma was not used",
        sigma: "the noise has standard deviation σ²C; rng.normal takes σC itself",
        1 / 2: "the noise is half of what it must be",
        2: "private, but with twice the noise: under add/remove one person adds one clipped vector",
        2**0.5: "private, but with √2 times the noise needed",
    }


def _law_of_noise(z, scales):
    largest, spread = np.abs(z).max(), float(z.std())
    if _normal(z):
        if largest >= 3.8:                       # less has probability (1 - 0.000144)^150000 < 1e-9 for normal noise
            return ""
        return f"the noise never goes beyond {largest:.2f} standard deviations: one out there would prove who was in"
    for factor, words in scales.items():
        if abs(factor - 1) > 0.05 and abs(spread / factor - 1) < 0.04 and _normal(z / factor):
            return words
    if abs(spread - 1) > 0.02:
        return f"the noise has {spread:.2f} times the right standard deviation σC, or is not normal"
    return ("the noise has about the right standard deviation, but it is not normal, and the ledger counts normal "
            "noise")


# --------------------------------------------------------------------------------------- accounting

CASES = [  # q, sigma, steps, delta
    (0.01, 1.0, 1000, 1e-5),
    (0.1, 4.0, 100, 1e-5),
    (0.2, 2.0, 50, 1e-6),
    (0.5, 3.0, 7, 1e-3),
    (1.0, 2.0, 10, 1e-6),
]


@functools.cache
def _directions(q, sigma, steps, delta):
    f = fdp.gaussian(1 / sigma).subsample(q)
    return (f**steps).epsilon(delta), (f.inverse() ** steps).epsilon(delta)


def _turned_round(q, sigma, steps, delta):
    """Both directions, with σ where 1/σ belongs."""
    return _directions(q, 1 / sigma, steps, delta)


def _gaussian(mu, delta):
    return fdp.gaussian(mu).epsilon(delta)


def _once(q, sigma, steps, delta):
    return fdp.gaussian(1 / sigma).subsample(q).epsilon(delta)


ACCOUNT_MISTAKES = {
    "the argument of fdp.gaussian is μ = 1/σ, not σ: more noise makes the two worlds more alike":
        lambda *case: max(_turned_round(*case)),
    "the argument of fdp.gaussian is μ = 1/σ, not σ; and that is one direction only, so take the worse of both":
        lambda *case: _turned_round(*case)[0],
    "the argument of fdp.gaussian is μ = 1/σ, not σ; and that is one direction only, adding the person":
        lambda *case: _turned_round(*case)[1],
    "that is the price without sampling: true, but sampling is worth a lot here":
        lambda q, sigma, steps, delta: _gaussian(math.sqrt(steps) / sigma, delta),
    "sampling does not multiply ε by q": lambda q, sigma, steps, delta: q * _gaussian(math.sqrt(steps) / sigma, delta),
    "sampling does not multiply μ by q": lambda q, sigma, steps, delta: _gaussian(q * math.sqrt(steps) / sigma, delta),
    "that is one direction only, adding the person; the other is worse": lambda *case: _directions(*case)[1],
    "that is the limit for many steps, which is no bound: it can promise too much":
        lambda q, sigma, steps, delta: _gaussian(q * math.sqrt(steps * math.expm1(sigma**-2)), delta),
    "that is one step": _once,
    "adding up the ε of the steps is far too much: multiply the trade-off functions":
        lambda q, sigma, steps, delta: steps * _once(q, sigma, steps, delta / steps),
}


def _not_the_account(got, right, *case):
    verdict = "a ledger below the truth is a false promise"
    if got > right:
        verdict = "a bound may be larger than the truth, but this one is more than half a per cent above it"
    return f"it is {right:.4f}; {verdict}"


@checker
def sgd_account(spent):
    """`spent(q, sigma, steps, delta)`: epsilon of DP-SGD, in the worse direction, at most 0.5 % too large."""
    def right(q, sigma, steps, delta):
        return max(_directions(q, sigma, steps, delta))

    on_cases(spent, CASES, right, ACCOUNT_MISTAKES, rtol=2e-5, finite=False, what="epsilon", otherwise=_not_the_account,
             accepts=lambda got, right, *case: right <= got <= right * 1.005)
    said = f"what the product of all steps needs, in {len(CASES)} trainings"
    return f"{said}; presence costs more here, but in general ask both directions"


# --------------------------------------------------------------------------------------- breaking the careless loop

def _mean(rows):
    return _clipped(rows.sum(axis=0, keepdims=True) / 10, 1.0)[0]


@checker
def sgd_break(answer):
    """`answer`: (others, you), gradients that move the clipped mean nine times as far as its noise was made for."""
    try:
        others, you = answer
    except (TypeError, ValueError):
        raise Wrong("expected a pair: the table of the others' gradients, and your gradient") from None
    if others is ... or you is ...:
        raise NotAttempted
    others, you = np.asarray(others, dtype=float), np.asarray(you, dtype=float)
    if others.ndim != 2 or others.shape[1] != 3 or you.shape != (3,):
        raise Wrong(f"expected a table with 3 columns and a vector of 3 numbers, got shapes {others.shape} and "
                    f"{you.shape}")
    if not 10 <= len(others) <= 50:
        raise Wrong(f"expected 10 to 50 others, got {len(others)}")
    all_ = np.vstack([others, you])
    *theirs, yours = np.linalg.norm(all_, axis=1)
    if not np.isfinite(all_).all() or max([yours, *theirs]) > 10 * (1 + 1e-9):
        raise Wrong(f"gradients are at most 10 long, yours is {yours:.4g} and the others' up to "
                    f"{max(theirs):.4g}")
    if min(theirs) < 1 - 1e-9:
        raise Wrong(f"each of the others brings a gradient that is at least 1 long, and one is {min(theirs):.4g} long")
    moved = np.linalg.norm(_mean(all_) - _mean(others))
    if moved < 0.9 * (1 - 1e-9):
        why = "part of what you bring is cut off again" if yours >= 9 else "your gradient is too short"
        if np.linalg.norm(others.sum(axis=0)) > 15 and yours > 5:
            why = "the others already fill the clipped mean, so that yours hardly shows"
        raise Wrong(f"you move the clipped mean by {moved:.3g}, {10 * moved:.3g} times C/b = 0.1; {why}")
    return "one person moves the clipped mean at least nine times as far as C/b, for which its noise was made"


# --------------------------------------------------------------------------------------- federated noise

FLEETS = [  # phones, silent, colluding, clip, sigma
    (500, 100, 175, 3.0, 0.8),
    (10_000, 0, 0, 0.5, 2.0),
    (1000, 200, 0, 1.0, 1.5),
    (1000, 0, 300, 2.0, 1.0),
    (100, 0, 0, 1.0, 1.0),
    (10, 4, 5, 1.0, 4.0),
]


def _shared(count):
    """The whole noise, over the root of `count(phones, silent, colluding)`."""
    return lambda n, silent, colluding, clip, sigma: sigma * clip / math.sqrt(count(n, silent, colluding))


def _share(phones, silent, colluding, clip, sigma):
    return sigma * clip / math.sqrt(phones - silent - colluding)


SHARE_MISTAKES = {
    "that is the whole noise on every phone: private, but far more noise in the sum than it needs":
        _shared(lambda n, silent, colluding: 1),
    "variances add, not standard deviations: divide by the root of a number of phones":
        _shared(lambda n, silent, colluding: n**2),
    "variances add, not standard deviations: divide by the root of that number":
        _shared(lambda n, silent, colluding: (n - silent - colluding) ** 2),
    "an update moves the sum by up to the clip norm; sigma is in units of it":
        lambda n, silent, colluding, clip, sigma: _share(n, silent, colluding, 1.0, sigma),
    "that is the variance, not the standard deviation": lambda *case: _share(*case) ** 2,
    "the noise of silent phones never arrives": _shared(lambda n, silent, colluding: n - colluding),
    "colluding phones know their own noise and subtract it": _shared(lambda n, silent, colluding: n - silent),
    "the noise of silent phones never arrives, and colluding phones know their own noise and subtract it":
        _shared(lambda n, silent, colluding: n),
}


def _what_remains(got, right, phones, silent, colluding, clip, sigma):
    if not 0 < got < math.inf:
        return "expected a positive number"
    remains = got * math.sqrt(phones - silent - colluding)
    return (f"the noise that arrives and nobody knows has standard deviation {remains:.4g}, and it should have "
            f"{sigma * clip:g}")


@checker
def sgd_share(share):
    """`share(phones, silent, colluding, clip, sigma)`: standard deviation of the noise of each phone."""
    on_cases(share, FLEETS, _share, SHARE_MISTAKES, finite=False, what="the share", otherwise=_what_remains)
    return "the noise that arrives and that nobody can subtract is sigma times clip, in six fleets"


# --------------------------------------------------------------------------------------- membership bound

LINES = [  # fpr, epsilon, delta
    (0.05, 1.0, 1e-5),
    (0.05, 8.0, 1e-5),
    (0.001, 8.0, 0.0),
    (0.17, 1.5, 0.1),
    (0.5, 1.0, 0.0),
    (0.3, 0.0, 0.0),
    (0.2, 0.0, 0.1),
    (0.0, 2.0, 1e-3),
    (1.0, 0.5, 0.01),
    (0.9, 2.0, 0.05),
    (0.05, 30.0, 0.0),
]


def _ceiling(fpr, epsilon, delta):
    return min(1.0, math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr))


CEILING_MISTAKES = {
    "not being accused is an outcome too: 1 - FPR ≤ e^ε (1 - TPR) + δ, with the worlds exchanged":
        lambda fpr, epsilon, delta: min(1.0, math.exp(epsilon) * fpr + delta),
    "a rate is never above 1": lambda fpr, epsilon, delta: math.exp(epsilon) * fpr + delta,
    "δ was left out": lambda fpr, epsilon, delta: _ceiling(fpr, epsilon, 0.0),
    "tanh(ε/2) bounds the advantage at the best line, and at this line less is possible":
        lambda fpr, epsilon, delta: min(1.0, fpr + math.tanh(epsilon / 2)),
}


@checker
def sgd_ceiling(ceiling):
    """`ceiling(fpr, epsilon, delta)`: the largest TPR that (epsilon, delta) leaves at this false positive rate."""
    on_cases(ceiling, LINES, _ceiling, CEILING_MISTAKES, rtol=0, atol=1e-7, what="the rate",
             below="an attack can do better than that", above="one of the two inequalities forbids it")
    return "both inequalities, at eleven lines; at ε = 8 they leave 99.97 % at 5 %"


# --------------------------------------------------------------------------------------- lengths without gradients

def _layer(a, b):
    """Each example's gradient by a layer's weights and biases, a row each, from its inputs `a` and derivatives `b`."""
    a = np.concatenate([a, np.ones((*a.shape[:2], 1))], axis=2)
    return np.einsum("ntk,ntd->nkd", b, a).reshape(len(a), b.shape[2] * a.shape[2])


def _factor(lengths, clip):
    return np.minimum(1, clip / np.maximum(lengths, 1e-300))


def _ghosts(a, b, clip):
    """The clipped sum of a layer that is used at several places, and words -> what a mistake makes of it."""
    finite = np.isfinite(a).all(axis=(1, 2)) & np.isfinite(b).all(axis=(1, 2))
    a, b = a[finite], b[finite]
    (n, m, d), k, g = a.shape, b.shape[2], _layer(a, b)
    places = _layer(a.reshape(n * m, 1, d), b.reshape(n * m, 1, k))
    alone = np.linalg.norm(places, axis=1).reshape(n, m)
    parts = np.split(g.reshape(n, k, d + 1), [d], axis=2)                    # weights and biases
    length, weights, biases = (np.sqrt((part**2).sum(axis=(1, 2))) for part in (g[:, :, None], *parts))

    def layer(one, other):
        """The sum with a factor for each example's weights, and one for its biases."""
        sums = [np.tensordot(factor, part, axes=1) for factor, part in zip((one, other), parts)]
        return np.concatenate(sums, axis=1).ravel()

    right = _factor(length, clip) @ g
    return right, {
        "each place is clipped alone, so an example with many places brings many times the clip norm":
            _sum(places, clip),
        "the squares of the places were added without the products of two different places; an example whose places "
        "agree brings up to √m times the clip norm": _factor(np.linalg.norm(alone, axis=1), clip) @ g,
        "private, but the lengths of the places were added: where places do not agree the gradient is shorter, and too "
        "much is cut": _factor(alone.sum(axis=1), clip) @ g,
        "the length counts the weights only; the biases belong to the same gradient": _factor(weights, clip) @ g,
        "weights and biases are clipped apart: together an example then brings up to √2 times the clip norm":
            layer(_factor(weights, clip), _factor(biases, clip)),
        "nothing is clipped": g.sum(axis=0),
        "gradients shorter than the clip norm have been made longer": (clip / np.maximum(length, 1e-300)) @ g,
        "that is clip over the squared length; the root is missing": _factor(length**2, clip) @ g,
        "the factor counts twice: it is squared, or on inputs and derivatives both": _factor(length, clip) ** 2 @ g,
        "the sum is clipped, not each example": _clipped(g.sum(axis=0, keepdims=True), clip)[0],
        "that is the mean; the noise is made for the sum": right / max(n, 1),
        "the weights are clipped, and the sum of the biases is not": layer(_factor(length, clip), np.ones(n)),
    }


def _joined(answer, a, b, clip, where):
    """What the learner's pair says, as one vector in the order of `_layer`."""
    got = answered(answer, a.copy(), b.copy(), clip)
    d, k = a.shape[2], b.shape[2]
    try:
        weights, biases = got
    except (TypeError, ValueError):
        raise Wrong(f"{where}: expected a pair, weights of shape ({k}, {d}) and biases of shape ({k},)") from None
    if np.shape(weights) == (d, k) != (k, d):
        raise Wrong(f"{where}: the weights have the shape ({d}, {k}), and the layer's have ({k}, {d}): transpose "
                    "them")
    try:
        parts = numbers(weights, (k, d), f"{where}: the weights"), numbers(biases, (k,), f"{where}: the biases")
    except Wrong as reason:
        if not np.isfinite(a).all() or not np.isfinite(b).all():
            raise Wrong(f"{reason}; an example that is not finite counts as zero, "
                        "and 0 times inf is nan: leave it out") from None
        raise
    return np.append(parts[0], parts[1][:, None], axis=1).ravel()


LAYERS = [  # examples, places, inputs, outputs, clip
    (7, 3, 4, 2, 2.0),
    (6, 1, 3, 5, 1.5),
    (5, 6, 2, 2, 8.0),
    (4, 2, 1, 1, 0.7),
    (0, 3, 4, 2, 1.0),
    (1, 5, 3, 2, 0.1),
    (3, 2, 3, 2, 50.0),
]


def _layers(rng):
    """(inputs, derivatives, clip, what they are)."""
    for n, m, d, k, clip in LAYERS:
        a, b = rng.normal(size=(n, m, d)), rng.normal(size=(n, m, k)) * rng.choice([0.2, 1.0, 3.0], size=(n, 1, 1))
        a[1:3, 1:], b[1:3, 1:] = a[1:3, :1], b[1:3, :1]                       # two whose places agree
        where = f"with {n} examples, {m} places, {d} inputs, {k} outputs and clip {clip:g}"
        yield a, b, clip, where
        if n > 3 and m > 1:
            a, b = a.copy(), b.copy()
            a[0, 1], b[0, 1], b[0, 2:] = a[0, 0], -b[0, 0], 0                 # one whose places cancel
            b[1] = 0
            a[1, 0], b[2, 1, 0], a[3, 1, 0] = np.inf, np.nan, -np.inf
            yield a, b, clip, f"{where}, some without gradient and three that are not finite"


def _badly_summed(got, right, mistakes, biases):
    for words, wrong in mistakes.items():
        if np.allclose(got, wrong, rtol=1e-6, atol=1e-7):
            return words
    off = np.abs(got - right)
    part = "the biases too" if off[biases].max() > 1e-7 else "only the weights"
    said = f"the sum is {np.linalg.norm(off):.3g} away from the right one, of length {np.linalg.norm(right):.3g}"
    return f"{said}; {part} are wrong"


def _cancelling(clipped_sum):
    """The text's guard against rounding: two places that nearly cancel, 50 apart."""
    for far in 10.0 ** np.arange(13):
        a, b = np.array([[[far], [far + 50]]]), np.array([[[1.0], [-1.0]]])
        size = np.linalg.norm(_joined(clipped_sum, a, b, 1.0, f"with inputs of {far:g}"))
        if size > 1 + 1e-6:
            raise Wrong(
                f"one example of two places, inputs {far:,.0f} and {far + 50:,.0f}, derivatives 1 and -1: clipped to 1 "
                f"it has length {size:.7g}; add more to the square of its length than rounding can have taken"
            )


def _memory(clipped_sum, rng, n=800, m=2, d=64):
    a, b = rng.normal(size=(2, n, m, d))
    tracemalloc.start()
    try:
        ask(clipped_sum, a, b, 100.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > n * d * d * 8 / 4:
        raise Wrong(
            f"right, but for {n} examples and {d * d:,} weights it held {peak / 1e6:.1f} megabytes, the table of all "
            f"gradients {n * d * (d + 1) * 8 / 1e6:.1f}; lengths need products of vectors only"
        )


@checker
def sgd_ghost(clipped_sum):
    """`clipped_sum(a, b, clip)`: the clipped gradients of a layer used at several places, added without a table."""
    rng = np.random.default_rng(64)
    for a, b, clip, where in _layers(rng):
        got, (right, mistakes) = _joined(clipped_sum, a, b, clip, where), _ghosts(a, b, clip)
        if not np.allclose(got, right, rtol=1e-5, atol=1e-5 * clip):           # the guard against rounding may show
            biases = slice(a.shape[2], None, a.shape[2] + 1)
            raise Wrong(f"{where}: {_badly_summed(got, right, mistakes, biases)}")
    _cancelling(clipped_sum)
    _memory(clipped_sum, rng)
    return "right for one place and many, places that agree or cancel, and without the table of all gradients"
