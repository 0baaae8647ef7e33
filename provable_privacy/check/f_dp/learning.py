"""Checkers of the section on DP-SGD."""
import functools
import math
import tracemalloc

import numpy as np
from scipy.special import ndtri

from dplib import fdp
from provable_privacy.battery import Numbers, Pair, battery, drawn
from provable_privacy.battery.laws import LEVEL, _p_value
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, number, numbers

__all__ = ["sgd_account", "sgd_break", "sgd_ceiling", "sgd_clip", "sgd_ghost", "sgd_share", "sgd_step"]


# ---------------------------------------------------------------------------------------------------------------- clipping

def _clipped(g, c):
    g = np.where(np.isfinite(g).all(axis=1, keepdims=True), g, 0.0)
    norms = np.linalg.norm(g, axis=1, keepdims=True)
    return g * np.minimum(1, c / np.maximum(norms, 1e-300))


@checker
def sgd_clip(clip):
    """`clip(gradients, c)`: every row cut to L2 length c, its direction kept."""
    rng, cases = np.random.default_rng(61), []
    for n, d, c in ((6, 3, 1.0), (40, 20, 0.3), (25, 5, 10.0), (1, 4, 2.0), (8, 1, 0.5), (0, 3, 1.0)):
        g = rng.normal(size=(n, d)) * rng.choice([0.01, 1, 30], size=(n, 1))
        g[: n // 4] = 0
        cases.append((g, c))
    cases += [(np.array([[1e9, -1e9], [3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]), c) for c in (5.0, 0.1)]
    cases += [(np.array([[3.0, 4.0], [bad, 0.5], [0.3, 0.4]]), 1.0) for bad in (math.inf, -math.inf, math.nan)]
    for g, c in cases:
        got = answered(clip, g.copy(), c)
        got, right, where = np.asarray(got, dtype=float), _clipped(g, c), f"with {len(g)} gradients and c = {c:g}: "
        if got.shape != g.shape and not got.size == g.size == 0:
            raise Wrong(f"{where}expected an array of shape {g.shape}, a row for each example, got {got.shape}")
        if not got.size or np.allclose(got, right, rtol=1e-5, atol=1e-9 * c):
            continue
        if not np.isfinite(got).all() and not np.isfinite(g).all():
            raise Wrong(f"{where}a gradient that is not finite must become zeros: one nan in the sum would tell that this row was in the batch")
        if not np.isfinite(g).all():
            raise Wrong(f"{where}the row that is not finite must become zeros, and the others be clipped as ever")
        if not np.isfinite(got).all():
            raise Wrong(f"{where}a gradient of zeros has become nan: nothing needs to be cut there, so mind the division")
        sizes, lengths = np.linalg.norm(got, axis=1), np.linalg.norm(g, axis=1)
        worst = int(np.argmax(sizes))
        if g.shape[1] > 1 and np.allclose(got, np.clip(g, -c, c)):
            raise Wrong(f"{where}each coordinate is cut to [-c, c]; in {g.shape[1]} coordinates a row can still be c√{g.shape[1]} long, "
                        "and its direction is lost")
        total = np.linalg.norm(g.mean(axis=0))
        scales = [min(1, c / max(v, 1e-300)) for v in (total, np.linalg.norm(g.sum(axis=0)), np.linalg.norm(g), lengths.max(initial=0))]
        if any(np.allclose(got, g * scale) for scale in scales):
            raise Wrong(f"{where}all rows are scaled by one factor, found from all of them together; each example must be cut alone, "
                        "or one person moves what the others contribute")
        if np.any((sizes > lengths * (1 + 1e-6)) & (lengths > 0)):
            raise Wrong(f"{where}a gradient shorter than c has been made longer; only what is too long is cut")
        if sizes[worst] > c * (1 + 1e-6):
            raise Wrong(f"{where}a row still has L2 length {sizes[worst]:.4g}: one person can add more than c to the sum")
        if np.allclose(got, g * np.minimum(1, c / np.maximum(np.abs(g).sum(axis=1, keepdims=True), 1e-300))):
            raise Wrong(f"{where}the rows are cut to c in L1; Gaussian noise is made for L2, and this loses more of each gradient than needed")
        row = int(np.argmax(np.abs(got - right).max(axis=1)))
        raise Wrong(f"{where}row {row} of length {lengths[row]:.4g} should keep its direction and have length {min(lengths[row], c):.4g}; "
                    f"it has length {sizes[row]:.4g}")
    return "each row alone, no longer than c, in its own direction; zeros and empty batches too"


# ---------------------------------------------------------------------------------------------------------------- one step

RUNS = 3000
EDGES = ndtri(np.arange(1, 24) / 24)


def _count(values, edges):
    return np.histogram(values, np.concatenate([[-np.inf], edges, [np.inf]]))[0]


@functools.cache
def _step(who=None, total=None, skip=False, came=False, late=False):
    """The step, right unless told otherwise, in standard deviations of the right noise."""
    def function(gradients, q, clip, sigma, b, rng):
        n, d = gradients.shape
        g = gradients[rng.random(n) < q if who is None else who(n, q, rng)]
        if skip and not len(g):
            return np.zeros(d)
        g = g[np.isfinite(g).all(axis=1)]
        moved = _clipped(g, clip).sum(axis=0) if total is None else total(g, clip, b, q)
        update = moved / (sigma * clip) + rng.normal(size=d)
        if late:
            return moved / (sigma * clip) + b * rng.normal(size=d)
        return update * b / max(len(g), 1) if came else update

    return function


def _whole(sizes, g, clip):
    """The rows' sum, all scaled by one factor so that what `sizes` gives of them is at most clip."""
    return g.sum(axis=0) * min(1, clip / max(np.linalg.norm(sizes), 1e-300))


def _in_parts(gradients, q, clip, sigma, b, rng):
    """A coin for each coordinate of each row."""
    g = _clipped(gradients, clip)
    return (g * (rng.random(g.shape) < q)).sum(axis=0) / (sigma * clip) + rng.normal(size=g.shape[1])


MISTAKES = {
    "the rows are not clipped": _step(total=lambda g, clip, b, q: g.sum(axis=0)),
    "every row takes part every time; the accountant was told that it does so with probability q": _step(lambda n, q, rng: np.ones(n, bool)),
    "no row ever takes part": _step(lambda n, q, rng: np.zeros(n, bool)),
    "rows take part with probability 1 − q, not q": _step(lambda n, q, rng: rng.random(n) >= q),
    "the rows come together or not at all; each needs a coin of its own": _step(lambda n, q, rng: np.full(n, rng.random() < q)),
    "each coordinate of a row has a coin of its own, so a row may come in part; toss one coin for the row": _in_parts,
    "the batch has a fixed size; the accountant assumes a coin for each row, and batches of fixed size have other costs":
        _step(lambda n, q, rng: rng.permutation(n) < round(n * q)),
    "each coordinate is cut to C, so one row moves the sum by up to C√d": _step(total=lambda g, clip, b, q: np.clip(g, -clip, clip).sum(axis=0)),
    "it is the mean of the batch that is clipped, and one row moves it by more than C/b":
        _step(total=lambda g, clip, b, q: b * _whole(g.mean(axis=0), g / len(g), clip) if len(g) else np.zeros(g.shape[1])),
    "the sum is cut to b·C, the mean of the batch to C: one row can turn it round": _step(total=lambda g, clip, b, q: _whole(g.sum(axis=0) / b, g, clip)),
    "the sum is clipped instead of each row": _step(total=lambda g, clip, b, q: _whole(g.sum(axis=0), g, clip)),
    "the rows are divided by q as well": _step(total=lambda g, clip, b, q: _clipped(g, clip).sum(axis=0) / q),
    "a row shorter than the clip norm is stretched to it; only what is too long is cut":
        _step(total=lambda g, clip, b, q: (g * clip / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-300)).sum(axis=0)),
    "the update is divided by the batch that came; divide by the public b": _step(came=True),
    "the noise is added after the division by b, as if one person moved the mean by C": _step(late=True),
    "a batch that happens to be empty needs its noise too, or an update tells that somebody came": _step(skip=True),
}


def _tables(what, one, more, q, clip, sigma, b, again=False, **settings):
    """A table of gradients and the same with `more` rows behind it; what one row may cost, `again`: they bring nothing, so nothing."""
    one = np.array(one, dtype=float).reshape(-1, len(more[0]))
    two = np.vstack([one, more])
    f = fdp.gaussian(1 / sigma).subsample(q)
    worst = fdp.worst([f, f.inverse()])
    claims = ((0.0, 0.0),) if again else tuple((epsilon, float(worst.delta(epsilon))) for epsilon in (1.0, 3.0, 8.0))
    truth = tuple(_clipped(g, clip).sum(axis=0) / (sigma * clip) if q == 1 and not again or not np.any(_clipped(g, clip)) else None for g in (one, two))
    return Pair(what, (one, q, clip, sigma, b), (two, q, clip, sigma, b), claims, truth, within=1.2, share=0.7, **settings)


@functools.cache
def _pairs():
    rng = np.random.default_rng(64)
    rows = rng.normal(size=(60, 3)) * np.geomspace(0.01, 3, 60)[:, None]
    pairs = [
        _tables("no rows / one long row", [], [[0.0, 20.0, 0.0]], 0.35, 0.5, 0.4, 3, runs=4000, law="exactly"),
        _tables("one row / the same and one opposite", [[30.0, 0.0]], [[-30.0, 0.0]], 0.5, 1.0, 0.3, 2, runs=2000, law="exactly"),
        _tables("ten equal rows / eleven", np.tile([0.0, 6.0, 0.0], (10, 1)), [[0.0, 6.0, 0.0]], 0.3, 1.5, 0.25, 7, runs=2000, law="exactly"),
        _tables("60 unlike rows, all take part / the same and a long one", rows, [[9.0, 0.0, 9.0]], 1.0, 0.8, 0.5, 20, runs=1500, law="exactly"),
        _tables("twelve rows of zeros / thirteen", np.zeros((12, 2)), np.zeros((1, 2)), 0.3, 0.6, 1.4, 4, again=True, runs=1200),
        _tables("two rows / the same and one that is not finite", [[3.0, 4.0], [0.1, 0.2]], [[np.inf, 9.0]], 1.0, 1.0, 0.2, 5, again=True, runs=600),
        _tables("one row / the same and one of nan", [[3.0, 4.0]], [[np.nan, 9.0]], 0.6, 1.0, 0.2, 5, again=True, runs=600),
        _tables("no rows / one long row of two equal coordinates", [], [[20.0, 20.0]], 0.5, 1.0, 0.15, 3, runs=600, law="exactly"),
        _tables("400 short rows / the same and a long one across", np.tile([0.05, 0.0], (400, 1)), [[0.0, -80.0]], 0.5, 0.7, 0.4, 200, runs=500, law="exactly"),
    ]
    for i, k in enumerate(drawn(2, 65, q=(0.2, 0.8), clip=(0.3, 2.0), sigma=(0.3, 0.6), b=(2, 30))):
        pairs.append(_tables(f"{5 + i} rows, C = {k['clip']:g}, σ = {k['sigma']:g}, b = {k['b']} / one more", rng.normal(size=(5 + i, 2)),
                             [[20.0, -20.0]], k["q"], k["clip"], k["sigma"], k["b"], runs=1200, law="exactly"))
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
def sgd_step(noisy_step):
    """`noisy_step(gradients, q, clip, sigma, b, rng)`: Poisson sampling, clipping of each row, sum, noise, division by b."""
    rng = np.random.default_rng(62)
    for n, d, q, clip, sigma, b in ((12, 50, 0.3, 0.6, 1.2, 9), (0, 50, 0.3, 1.7, 2.3, 5)):        # no two of the factors below alike
        where = f"with {n} rows, all zero, clip {clip:g}, sigma {sigma:g} and b = {b}" if n else f"with no rows, clip {clip:g}, sigma {sigma:g} and b = {b}"
        zeros = np.zeros((n, d))
        z = np.array([numbers(_units(noisy_step, (zeros.copy(), q, clip, sigma, b), rng), (d,), f"{where}: the update") for _ in range(RUNS)])
        _judge_noise(z, where, clip, sigma, b, n * q)

    def units(answer, arguments, rng):
        return answer(*arguments, rng) if answer in MISTAKES.values() or answer is right else _units(answer, arguments, rng)

    right = _step()
    said = battery(noisy_step, lambda pair: Numbers(pair.one[0].shape[1], "coordinate"), _pairs(), call=units, mistakes=MISTAKES, right=right, seed=63)
    return f"the law of the algorithm on all tables tried, normal noise out to its tails, and {said}"


def _judge_noise(z, where, clip, sigma, b, expected):
    d = z.shape[1]
    if np.abs(z).max() < 1e-12:
        raise Wrong(f"{where}: nothing moves at all, so there is no noise; a step without noise tells that nobody was there")
    if np.mean(np.all(z == 0, axis=1)) > 0.001:
        raise Wrong(f"{where}: some updates are exactly zero; a batch that happens to be empty needs its noise too, or an update tells that somebody came")
    if len(np.unique(z[:, 0])) < len(z) // 2:
        if len(np.unique(z[:, :2], axis=0)) > 2 * len(np.unique(z[:, 0])):
            raise Wrong(f"{where}: the noise has {len(np.unique(z))} values only, and real gradients would show between them")
        raise Wrong(f"{where}: runs have the same noise; draw it anew from the rng in each call")
    for power in (1, 2):
        moments = np.abs(z) ** power if power == 2 else z
        correlation = np.abs(np.corrcoef(moments.T) - np.eye(d)).max() if d > 1 else 0.0
        if expected and power == 2 and not correlation < 8 / np.sqrt(len(z)) and _kurtosis(z) > 0.3:
            raise Wrong(f"{where}: the size of the noise varies from run to run: the update is divided by the batch that came, "
                        "or the noise grows with it, and so the noise tells how many they were")
        if not correlation < 8 / np.sqrt(len(z)):
            raise Wrong(f"{where}: the noises of two coordinates depend on each other ({correlation:.2f}); draw one for each coordinate")
    serial = abs(np.corrcoef(z[1:, 0], z[:-1, 0])[0, 1])
    if not serial < 8 / np.sqrt(len(z)):
        raise Wrong(f"{where}: the noise of one call depends on that of the call before ({serial:.2f})")
    counts, right = _count(z, EDGES), np.full(24, 1 / 24)
    if _p_value(counts, right) >= LEVEL:
        if np.abs(z).max() < 3.8:                                            # has probability (1 - 0.000144)^150000 < 1e-9 for normal noise
            raise Wrong(f"{where}: the noise never goes beyond {np.abs(z).max():.2f} standard deviations: an output out there would prove who was in")
        return
    spread = float(z.std())
    scale = {1 / clip: "the noise has standard deviation σ instead of σC",
             b: "the noise is added after the division by b, as if one person moved the mean by C",
             1 / b: "the noise is divided by b twice", clip: "the noise is scaled by C twice", 1 / sigma: "sigma was not used",
             sigma: "the noise has standard deviation σ²C; rng.normal takes σC itself", 1 / 2: "the noise is half of what it must be",
             2: "private, but with twice the noise: under add/remove one person adds one clipped vector",
             2**0.5: "private, but with √2 times the noise needed"}
    if expected:
        scale[math.sqrt(expected)] = "every row of the batch brings noise of its own: private, but far noisier than noise on the sum"
        scale[b / expected * 1.0] = "the update is divided by another number than b"
    for factor, message in scale.items():
        if abs(factor - 1) > 0.05 and abs(spread / factor - 1) < 0.04 and _p_value(_count(z / factor, EDGES), right) >= LEVEL:
            raise Wrong(f"{where}: {message}")
    if abs(spread - 1) > 0.02:
        raise Wrong(f"{where}: the noise has {spread:.2f} times the right standard deviation σC, or is not normal")
    raise Wrong(f"{where}: the noise has about the right standard deviation and is not normal; the ledger is that of normal noise")


def _kurtosis(z):
    return float(np.mean(z**4) / np.mean(z**2) ** 2 - 3)


# ------------------------------------------------------------------------------------------------------------- accounting

CASES = ((0.01, 1.0, 1000, 1e-5), (0.1, 4.0, 100, 1e-5), (0.2, 2.0, 50, 1e-6), (0.5, 3.0, 7, 1e-3), (1.0, 2.0, 10, 1e-6))


@checker
def sgd_account(spent):
    """`spent(q, sigma, steps, delta)`: epsilon of DP-SGD, the worse of the two directions, at most 0.5 % above the truth."""
    for q, sigma, steps, delta in CASES:
        got = number(answered(spent, q, sigma, steps, delta), "epsilon", finite=False)
        f = fdp.gaussian(1 / sigma).subsample(q)
        one, two = (f**steps).epsilon(delta), (f.inverse() ** steps).epsilon(delta)
        right = max(one, two)
        if right * (1 - 2e-5) <= got <= right * 1.005:        # dplib's own number is above the truth, by about 5e-6
            continue
        where = f"q = {q:g}, sigma = {sigma:g}, {steps} steps, delta = {delta:g}: you say {got:.4f}, and it is {right:.4f}"

        def near(value, got=got):
            return math.isclose(got, value, rel_tol=1e-5)

        whole, once = fdp.gaussian(math.sqrt(steps) / sigma).epsilon(delta), f.epsilon(delta)
        limit = fdp.gaussian(q * math.sqrt(steps * math.expm1(sigma**-2))).epsilon(delta)
        if near(whole) and q < 1:
            raise Wrong(f"{where}; true, but that is the price without sampling, which is worth a lot here")
        if near(q * whole) or near(fdp.gaussian(q * math.sqrt(steps) / sigma).epsilon(delta)):
            raise Wrong(f"{where}; sampling does not multiply ε or μ by q")
        if near(two) and two < one:
            raise Wrong(f"{where}; that is one direction only, adding the person; the other is worse")
        if near(limit):
            raise Wrong(f"{where}; that is the limit for many steps, which is no bound: it can promise too much")
        if near(once):
            raise Wrong(f"{where}; that is one step")
        if near(steps * once) or near(steps * f.epsilon(delta / steps)):
            raise Wrong(f"{where}; adding up the ε of the steps is far too much: multiply the trade-off functions")
        if near((f**steps).epsilon(delta) / 2) or got < right:
            raise Wrong(f"{where}; a ledger below the truth is a false promise")
        raise Wrong(f"{where}; a valid bound perhaps, but more than half a per cent above what the accountant of the section gives")
    return f"what the product of all steps needs, in {len(CASES)} trainings (presence is the dearer direction here; in general ask both)"


# ------------------------------------------------------------------------------------------------- breaking the careless loop

@checker
def sgd_break(answer):
    """`answer`: (others, you), gradients that move the clipped mean at least nine times as far as its noise was made for."""
    try:
        others, you = answer
    except (TypeError, ValueError):
        raise Wrong("expected a pair: the table of the others' gradients, and your gradient") from None
    if others is ... or you is ...:
        raise NotAttempted
    others, you = np.asarray(others, dtype=float), np.asarray(you, dtype=float)
    if others.size == 0:
        others = np.zeros((0, 3))
    if others.ndim != 2 or others.shape[1] != 3 or you.shape != (3,):
        raise Wrong(f"expected a table with 3 columns and a vector of 3 numbers, got shapes {others.shape} and {you.shape}")
    if len(others) > 50:
        raise Wrong(f"at most 50 others, got {len(others)}")
    lengths = np.linalg.norm(np.vstack([others, you]), axis=1)
    if not np.isfinite(lengths).all() or lengths.max() > 10 * (1 + 1e-9):
        raise Wrong(f"gradients are at most 10 long, yours is {lengths[-1]:.4g} and the others' up to {lengths[:-1].max(initial=0):.4g}")

    def mean(rows):
        return _clipped(rows.sum(axis=0, keepdims=True) / 10, 1.0)[0]

    moved = np.linalg.norm(mean(np.vstack([others, you])) - mean(others))
    times = moved / (1 / 10)
    if times < 9 * (1 - 1e-9):
        size = np.linalg.norm(others.sum(axis=0)) / 10
        why = ("the others already fill the clipped mean, so that yours hardly shows" if size > 1.5 and np.linalg.norm(you) > 5
               else "your gradient is too short" if np.linalg.norm(you) < 9 else "part of what you bring is cut off again")
        raise Wrong(f"you move the clipped mean by {moved:.3g}, {times:.3g} times C/b = 0.1; {why}")
    return "one person moves the clipped mean at least nine times as far as C/b, for which its noise was made"


# ---------------------------------------------------------------------------------------------------------- federated noise

@checker
def sgd_share(share):
    """`share(phones, silent, colluding, clip, sigma)`: standard deviation of the noise each phone adds to its update."""
    for phones, silent, colluding, clip, sigma in ((500, 100, 175, 3.0, 0.8), (10_000, 0, 0, 0.5, 2.0), (1000, 200, 0, 1.0, 1.5), (1000, 0, 300, 2.0, 1.0),
                                                   (100, 0, 0, 1.0, 1.0), (10, 4, 5, 1.0, 4.0)):
        got = number(answered(share, phones, silent, colluding, clip, sigma), "the share", finite=False)
        counted, target = phones - silent - colluding, sigma * clip
        right = target / math.sqrt(counted)
        where = f"{phones:,} phones, {silent} silent, {colluding} colluding, clip {clip:g}, sigma {sigma:g}: "
        if math.isclose(got, right, rel_tol=1e-6):
            continue
        if not got > 0 or math.isinf(got):
            raise Wrong(f"{where}expected a positive number, got {got:g}")

        def near(value, got=got):
            return math.isclose(got, value, rel_tol=1e-6)

        hidden = got * math.sqrt(counted)
        if near(target):
            raise Wrong(f"{where}that is the whole noise on every phone: private, but the sum has √{counted:,} times the noise it needs")
        if near(target / counted) or near(target / phones):
            raise Wrong(f"{where}variances add, not standard deviations: the sum then has noise {hidden:.3g} and needs {target:g}")
        if near(sigma / math.sqrt(counted)):
            raise Wrong(f"{where}an update moves the sum by up to the clip norm; sigma is in units of it")
        if near(target**2 / counted):
            raise Wrong(f"{where}that is the variance, not the standard deviation")
        if silent and (near(target / math.sqrt(phones - colluding)) or near(target / math.sqrt(phones))):
            raise Wrong(f"{where}the noise of silent phones never arrives: the sum has {hidden:.3g} where it needs {target:g}")
        if colluding and (near(target / math.sqrt(phones - silent)) or near(target / math.sqrt(phones))):
            raise Wrong(f"{where}colluding phones know their own noise and take it off: {hidden:.3g} remain where {target:g} are needed")
        raise Wrong(f"{where}the noise that arrives and nobody knows has standard deviation {hidden:.4g}, and it should have {target:g}")
    return "the noise that arrives and that nobody can take off is sigma times clip, in six fleets"


# --------------------------------------------------------------------------------------------------------- membership bound

@checker
def sgd_ceiling(ceiling):
    """`ceiling(fpr, epsilon, delta)`: the largest TPR that (epsilon, delta) leaves at this false positive rate."""
    for fpr, epsilon, delta in ((0.05, 1.0, 1e-5), (0.05, 8.0, 1e-5), (0.001, 8.0, 0.0), (0.17, 1.5, 0.1), (0.5, 1.0, 0.0), (0.3, 0.0, 0.0), (0.2, 0.0, 0.1),
                                (0.0, 2.0, 1e-3), (1.0, 0.5, 0.01), (0.9, 2.0, 0.05), (0.05, 30.0, 0.0)):
        got = number(answered(ceiling, fpr, epsilon, delta), "the rate")
        first, second = math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr)
        right = min(1.0, first, second)
        if abs(got - right) <= 1e-7:
            continue
        where = f"FPR {fpr:g}, ε = {epsilon:g}, δ = {delta:g}: you say {got:.9g}, and it is {right:.9g}"
        if got > 1 + 1e-12:
            raise Wrong(f"{where}; a rate is never above 1")
        if got > right and math.isclose(got, min(1, first), abs_tol=1e-9):
            raise Wrong(f"{where}; not being accused is an outcome too: 1 - FPR ≤ e^ε (1 - TPR) + δ, with the worlds exchanged")
        if got < right and delta and math.isclose(got, min(1, math.exp(epsilon) * fpr, 1 - math.exp(-epsilon) * (1 - fpr)), abs_tol=1e-9):
            raise Wrong(f"{where}; δ was left out")
        if math.isclose(got, min(1, fpr + math.tanh(epsilon / 2)), abs_tol=1e-9):
            raise Wrong(f"{where}; tanh(ε/2) bounds the advantage at the best line, and at this line less is possible")
        raise Wrong(f"{where}; " + ("an attack can do better than that" if got < right else "one of the two inequalities forbids it"))
    return "both inequalities, at eleven lines; at ε = 8 they leave 99.97 % at 5 %"


# ------------------------------------------------------------------------------------------ lengths without gradients

def _layer(a, b):
    """Each example's gradient by a layer's weights and biases, a row each, from its inputs `a` and derivatives `b`."""
    a = np.concatenate([a, np.ones((*a.shape[:2], 1))], axis=2)
    return np.einsum("ntk,ntd->nkd", b, a).reshape(len(a), b.shape[2] * a.shape[2])


def _ghosts(a, b, clip):
    """The clipped sum of a layer that is used at several places, and what the usual mistakes make of it: (sum, message)."""
    finite = np.isfinite(a).all(axis=(1, 2)) & np.isfinite(b).all(axis=(1, 2))
    a, b = a[finite], b[finite]
    (n, m, d), k, g = a.shape, b.shape[2], _layer(a, b)
    places = _layer(a.reshape(n * m, 1, d), b.reshape(n * m, 1, k))
    alone = np.linalg.norm(places, axis=1).reshape(n, m)
    table = g.reshape(n, k, d + 1)
    length, weights, biases = (np.sqrt((part**2).sum(axis=(1, 2)))
                               for part in (table, table[:, :, :d], table[:, :, d:]))

    def factor(lengths):
        return np.minimum(1, clip / np.maximum(lengths, 1e-300))

    apart = np.concatenate([factor(weights)[:, None, None] * table[:, :, :d],
                            factor(biases)[:, None, None] * table[:, :, d:]], axis=2)
    right = factor(length) @ g
    return right, [
        (_clipped(places, clip).sum(axis=0), "each place is clipped alone, so an example with many places brings many times the clip norm"),
        (factor(np.sqrt((alone**2).sum(axis=1))) @ g,
         "the squares of the places were added without the products of two different places; "
         "an example whose places agree brings up to √m times the clip norm"),
        (factor(alone.sum(axis=1)) @ g,
         "private, but the lengths of the places were added: where places do not agree the gradient is shorter, "
         "and too much is cut"),
        (factor(weights) @ g, "the length counts the weights only; the biases belong to the same gradient"),
        (apart.sum(axis=0).ravel(), "weights and biases are clipped apart: together an example then brings up to √2 times the clip norm"),
        (g.sum(axis=0), "nothing is clipped"),
        ((clip / np.maximum(length, 1e-300)) @ g, "gradients shorter than the clip norm have been made longer"),
        (factor(length**2) @ g, "that is clip over the squared length; the root is missing"),
        (factor(length)**2 @ g, "the factor counts twice: it is squared, or on inputs and derivatives both"),
        (_clipped(g.sum(axis=0, keepdims=True), clip)[0], "the sum is clipped, not each example"),
        (right / max(n, 1), "that is the mean; the noise is made for the sum"),
        (np.append(right.reshape(k, d + 1)[:, :d], g.reshape(n, k, d + 1)[:, :, d:].sum(axis=0), axis=1).ravel(),
         "the weights are clipped, and the sum of the biases is not"),
    ]


def _joined(answer, a, b, clip, where):
    """What the learner's pair says, as one vector in the order of `_layer`."""
    got = answered(answer, a.copy(), b.copy(), clip)
    d, k = a.shape[2], b.shape[2]
    try:
        weights, biases = got
    except (TypeError, ValueError):
        raise Wrong(f"{where}: expected a pair, weights of shape ({k}, {d}) and biases of shape ({k},)") from None
    if np.shape(weights) == (d, k) != (k, d):
        raise Wrong(f"{where}: the weights have the shape ({d}, {k}), and the layer's have ({k}, {d}); turn them round")
    try:
        parts = numbers(weights, (k, d), f"{where}: the weights"), numbers(biases, (k,), f"{where}: the biases")
    except Wrong as reason:
        if not np.isfinite(a).all() or not np.isfinite(b).all():
            raise Wrong(f"{reason}; an example that is not finite counts as zero, "
                        "and 0 times inf is nan: leave it out") from None
        raise
    return np.append(parts[0], parts[1][:, None], axis=1).ravel()


@checker
def sgd_ghost(clipped_sum):
    """`clipped_sum(a, b, clip)`: the clipped gradients of a layer used at several places, added without a table."""
    rng = np.random.default_rng(64)
    for n, m, d, k, clip in ((7, 3, 4, 2, 2.0), (6, 1, 3, 5, 1.5), (5, 6, 2, 2, 8.0), (4, 2, 1, 1, 0.7),
                             (0, 3, 4, 2, 1.0), (1, 5, 3, 2, 0.1), (3, 2, 3, 2, 50.0)):
        a, b = rng.normal(size=(n, m, d)), rng.normal(size=(n, m, k)) * rng.choice([0.2, 1.0, 3.0], size=(n, 1, 1))
        a[1:3, 1:], b[1:3, 1:] = a[1:3, :1], b[1:3, :1]                       # two whose places agree
        tables = [(a, b, f"with {n} examples, {m} places, {d} inputs, {k} outputs and clip {clip:g}")]
        if n > 3 and m > 1:
            a, b = a.copy(), b.copy()
            a[0, 1], b[0, 1], b[0, 2:] = a[0, 0], -b[0, 0], 0                 # one whose places cancel
            b[1] = 0
            a[1, 0], b[2, 1, 0], a[3, 1, 0] = np.inf, np.nan, -np.inf
            tables.append((a, b, f"{tables[0][2]}, some without gradient and three that are not finite"))
        for x, y, where in tables:
            got = _joined(clipped_sum, x, y, clip, where)
            right, mistakes = _ghosts(x, y, clip)
            if np.allclose(got, right, rtol=1e-5, atol=1e-5 * clip):           # the guard against rounding may show
                continue
            for wrong, message in mistakes:
                if np.allclose(got, wrong, rtol=1e-6, atol=1e-7):
                    raise Wrong(f"{where}: {message}")
            off = np.abs(got - right)
            part = "only the weights" if not off.reshape(k, d + 1)[:, d].max() > 1e-7 else "the biases too"
            raise Wrong(f"{where}: the sum is {np.linalg.norm(off):.3g} away from the right one, "
                        f"of length {np.linalg.norm(right):.3g}; {part} are wrong")
    for far in 10.0 ** np.arange(13):            # the text's guard against rounding: two places that nearly cancel, 50 apart
        size = np.linalg.norm(_joined(clipped_sum, np.array([[[far], [far + 50]]]), np.array([[[1.0], [-1.0]]]), 1.0, f"with inputs of {far:g}"))
        if size > 1 + 1e-6:
            raise Wrong(f"one example of two places, inputs {far:,.0f} and {far + 50:,.0f}, derivatives 1 and -1: clipped to 1 it has length {size:.7g}; "
                        "add more to the square of its length than rounding can have taken")
    n, m, d = 800, 2, 64
    a, b = rng.normal(size=(2, n, m, d))
    tracemalloc.start()
    try:
        ask(clipped_sum, a, b, 100.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > n * d * d * 8 / 4:
        raise Wrong(f"right, but for {n} examples and {d * d:,} weights it held {peak / 1e6:.1f} megabytes, the table of all gradients "
                    f"{n * d * (d + 1) * 8 / 1e6:.1f}; lengths need products of vectors only")
    return "right for one place and many, places that agree or cancel, and without the table of all gradients"
