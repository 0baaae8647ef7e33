"""Checkers of the section on DP-SGD."""
import math

import numpy as np
from scipy.special import comb, ndtr, ndtri

from dplib import fdp
from dplib.teaching.check._laws import LEVEL, _p_value, compare
from dplib.teaching.check._report import NotAttempted, Wrong, ask, checker

__all__ = ["sgd_account", "sgd_break", "sgd_ceiling", "sgd_clip", "sgd_share", "sgd_step"]


def _number(got, where=""):
    if got is None:
        raise NotAttempted
    got = np.asarray(got, dtype=float)
    if got.size != 1:
        raise Wrong(f"{where}expected a number, got an array of shape {got.shape}")
    if np.isnan(got).any():
        raise Wrong(f"{where}expected a number, got nan")
    return float(got.reshape(()))


# ---------------------------------------------------------------------------------------------------------------- clipping

def _clipped(g, c):
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
    for g, c in cases:
        got = ask(clip, g.copy(), c)
        if got is None:
            raise NotAttempted
        got, right, where = np.asarray(got, dtype=float), _clipped(g, c), f"with {len(g)} gradients and c = {c:g}: "
        if got.shape != g.shape:
            raise Wrong(f"{where}expected an array of shape {g.shape}, a row for each example, got {got.shape}")
        if np.allclose(got, right, rtol=1e-5, atol=1e-9 * c):
            continue
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

RUNS = 4000
EDGES = ndtri(np.arange(1, 24) / 24)


def _mixture(edges, means, weights):
    inside = np.sum([w * ndtr(edges - m) for m, w in zip(means, weights, strict=True)], axis=0)
    return np.maximum(np.diff(np.concatenate([[0.0], inside, [1.0]])), 0)


def _count(values, edges):
    return np.histogram(values, np.concatenate([[-np.inf], edges, [np.inf]]))[0]


def _updates(noisy_step, gradients, q, clip, sigma, b, rng):
    """RUNS updates, in standard deviations of the right noise."""
    out, d = [], gradients.shape[1]
    for _ in range(RUNS):
        got = ask(noisy_step, gradients.copy(), q, clip, sigma, b, rng)
        if got is None:
            raise NotAttempted
        got = np.asarray(got, dtype=float)
        if got.shape != (d,):
            raise Wrong(f"expected one vector of {d} coordinates, got shape {got.shape}")
        out.append(got)
    out = np.array(out) * b / (sigma * clip)
    if not np.isfinite(out).all():
        raise Wrong(f"with {len(gradients)} rows some updates are not finite: a batch may be empty, and the update is divided by the public b, "
                    "not by who came")
    return out


@checker
def sgd_step(noisy_step):
    """`noisy_step(gradients, q, clip, sigma, b, rng)`: Poisson sampling, clipping of each row, sum, noise, division by b."""
    rng = np.random.default_rng(62)
    for n, d, q, clip, sigma, b in ((12, 4, 0.3, 0.6, 1.4, 4), (0, 4, 0.3, 1.7, 2.3, 5)):
        where = f"with {n} rows, all zero, clip {clip:g}, sigma {sigma:g} and b = {b}" if n else f"with no rows, clip {clip:g}, sigma {sigma:g} and b = {b}"
        _judge_noise(_updates(noisy_step, np.zeros((n, d)), q, clip, sigma, b, rng), where, clip, sigma, b, n * q)
    _judge_one(noisy_step, rng)
    _judge_pair(noisy_step, rng)
    _judge_crowd(noisy_step, rng)
    _judge_all(noisy_step, rng)
    return f"the right law in six worlds (chi-square tests, {RUNS:,} runs each)"


def _judge_noise(z, where, clip, sigma, b, expected):
    d = z.shape[1]
    if np.abs(z).max() < 1e-12:
        raise Wrong(f"{where}: nothing moves at all, so there is no noise; a step without noise tells that nobody was there")
    if np.mean(np.all(z == 0, axis=1)) > 0.001:
        raise Wrong(f"{where}: some updates are exactly zero; a batch that happens to be empty needs its noise too, or an update tells that somebody came")
    if len(np.unique(z[:, 0])) < len(z) // 2:
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
        return
    spread = float(z.std())
    scale = {1 / clip: "the noise has standard deviation σ instead of σC",
             b: "the noise is added after the division by b, as if one person moved the mean by C",
             1 / b: "the noise is divided by b twice", clip: "the noise is scaled by C twice", 1 / sigma: "sigma was not used",
             sigma: "the noise has standard deviation σ²C; rng.normal takes σC itself", 1 / 2: "the noise is half of what it must be",
             2: "private, but with twice the noise: under add/remove one person adds one clipped vector", 2**0.5: "private, but with √2 times the noise needed"}
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


def _judge_one(noisy_step, rng):
    """One row far longer than C: with probability q the noise is moved by C along it."""
    q, clip, sigma, b, d = 0.35, 0.5, 0.4, 3, 4
    along = np.array([1.0, -1.0, 1.0, 1.0]) / 2
    z = _updates(noisy_step, along[None] * 50 * clip, q, clip, sigma, b, rng)
    moved, where = 1 / sigma, f"with one row of length {50 * clip:g}, clip {clip:g}, sigma {sigma:g}"
    side = z @ np.array([1.0, 1.0, 0.0, 0.0]) / 2**0.5        # across: nothing but noise
    values, edges = z @ along, np.linspace(-2.5, 3 * moved + 2.5, 40)
    right = _mixture(edges, [0, moved], [1 - q, q])
    rivals = {
        f"{where}: the row is not clipped": _mixture(edges, [0, 50 * moved], [1 - q, q]),
        f"{where}: the row takes part every time; the accountant was told it does so with probability {q:g}": _mixture(edges, [moved], [1.0]),
        f"{where}: the row never takes part": _mixture(edges, [0], [1.0]),
        f"{where}: each coordinate is cut to C, so one row moves the sum by C√{d}": _mixture(edges, [0, 2 * moved], [1 - q, q]),
        f"{where}: the row takes part with probability {1 - q:g}, not {q:g}": _mixture(edges, [0, moved], [q, 1 - q]),
        f"{where}: it is the mean of the batch that is clipped, and one row moves it by more than C/b": _mixture(edges, [0, b * moved], [1 - q, q]),
        f"{where}: the row is divided by q as well": _mixture(edges, [0, moved / q], [1 - q, q]),
    }
    cut = [-np.inf, *edges.round(2), np.inf]
    compare(_count(values, edges), right, rivals, lambda i: f"{where}: a move along it between {cut[i]:g} and {cut[i + 1]:g} standard deviations")
    compare(_count(side, EDGES), np.full(24, 1 / 24), {f"{where}: across the row there should be the noise of the sum and nothing else": np.full(24, 1 / 24)},
            lambda i: f"{where}: noise across it in bin {i + 1} of 24")
    if np.abs(z.std(axis=0, ddof=1) ** 2 - (1 + q * (1 - q) * moved**2 / 4)).max() > 0.5:
        raise Wrong(f"{where}: the noise is not the same in all coordinates")


def _judge_all(noisy_step, rng):
    """Sixty unlike rows, short ones among them, and everybody takes part: the law is normal around the sum of the clipped rows."""
    n, d, q, clip, sigma, b = 60, 4, 1.0, 0.8, 0.5, 50
    rows = np.random.default_rng(64).normal(size=(n, d)) * np.geomspace(0.01, 3, n)[:, None]
    where = f"with {n} rows, some shorter and some longer than clip {clip:g}, q = 1, sigma {sigma:g} and b = {b}"
    z = _updates(noisy_step, rows, q, clip, sigma, b, rng)
    off = z - _clipped(rows, clip).sum(axis=0) / (sigma * clip)
    if np.abs(off.mean(axis=0)).max() > 8 * max(1.0, z.std()) / np.sqrt(RUNS):
        full = rows * clip / np.linalg.norm(rows, axis=1, keepdims=True)
        stretched = np.abs(z.mean(axis=0) - full.sum(axis=0) / (sigma * clip)).max() < 8 / np.sqrt(RUNS)
        raise Wrong(f"{where}: " + ("a row shorter than the clip norm is stretched to it; only what is too long is cut" if stretched
                                    else "the update is not the sum of the clipped rows, divided by b"))
    if _p_value(_count(off, EDGES), np.full(24, 1 / 24)) < LEVEL:
        raise Wrong(f"{where}: the noise has {off.std():.2f} times the standard deviation σC that it has without rows, or another law; "
                    "it may not depend on who came or on what they bring")


def _judge_pair(noisy_step, rng):
    """Two rows that cancel if both come."""
    q, clip, sigma, b = 0.5, 1.0, 0.3, 2
    z = _updates(noisy_step, np.array([[30.0, 0.0], [-30.0, 0.0]]), q, clip, sigma, b, rng)
    m, edges = 1 / sigma, np.linspace(-5, 5, 31)
    right = _mixture(edges, [-m, 0, m], [0.25, 0.5, 0.25])
    where = "with two opposite rows"
    rivals = {
        f"{where}: they come together or not at all; each needs a coin of its own": _mixture(edges, [0], [1.0]),
        f"{where}: exactly one comes each time; the accountant assumes independent coins, and batches of fixed size have other costs":
            _mixture(edges, [-m, m], [0.5, 0.5]),
        f"{where}: the sum is clipped, or the mean, instead of each row": _mixture(edges, [-m / 2, 0, m / 2], [0.25, 0.5, 0.25]),
    }
    cut = [-np.inf, *edges.round(2), np.inf]
    compare(_count(z[:, 0], edges), right, rivals, lambda i: f"{where}: a move between {cut[i]:g} and {cut[i + 1]:g} standard deviations")


def _judge_crowd(noisy_step, rng):
    """Ten equal rows: the sum counts who came, and the division does not depend on it."""
    n, q, clip, sigma, b = 10, 0.3, 1.5, 0.25, 7
    z = _updates(noisy_step, np.tile([0.0, 4 * clip, 0.0], (n, 1)), q, clip, sigma, b, rng)
    k = np.arange(n + 1)
    weights = comb(n, k) * q**k * (1 - q) ** (n - k)
    edges, where = (np.arange(0, n) + 0.5) / sigma, f"with {n} equal rows and b = {b}"
    right = _mixture(edges, k / sigma, weights)
    came = np.maximum(k, 1)
    rivals = {
        f"{where}: the update is divided by the batch that came; divide by the public b": _mixture(edges, b * (k > 0) / sigma, weights),
        f"{where}: the sum or the mean is clipped instead of each row": _mixture(edges, (k > 0) / sigma, weights),
        f"{where}: the mean is clipped, and then multiplied up": _mixture(edges, b * (k > 0) / sigma / came.clip(1), weights),
        f"{where}: the batch has a fixed size": _mixture(edges, [round(n * q) / sigma], [1.0]),
    }
    compare(_count(z[:, 1], edges), right, rivals, lambda i: f"{where}: a batch of {i}")
    compare(_count(z[:, 0], EDGES), np.full(24, 1 / 24), {f"{where}: across the rows the noise changes with the batch": np.full(24, 1 / 24)},
            lambda i: f"{where}: noise across them in bin {i + 1} of 24, where it should not depend on the batch,")


# ------------------------------------------------------------------------------------------------------------- accounting

CASES = ((0.01, 1.0, 1000, 1e-5), (0.1, 4.0, 100, 1e-5), (0.2, 2.0, 50, 1e-6), (0.5, 3.0, 7, 1e-3), (1.0, 2.0, 10, 1e-6))


@checker
def sgd_account(spent):
    """`spent(q, sigma, steps, delta)`: epsilon of DP-SGD, the worse of the two directions, at most 0.5 % above the truth."""
    for q, sigma, steps, delta in CASES:
        got = _number(ask(spent, q, sigma, steps, delta))
        f = fdp.gaussian(1 / sigma).subsample(q)
        one, two = (f**steps).epsilon(delta), (f.inverse() ** steps).epsilon(delta)
        right = max(one, two)
        if right * (1 - 1e-6) <= got <= right * 1.005:
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
    return f"both directions, multiplied over the steps, in {len(CASES)} trainings"


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
    for phones, silent, colluding, clip, sigma in ((100, 0, 0, 1.0, 1.0), (10_000, 0, 0, 0.5, 2.0), (1000, 200, 0, 1.0, 1.5), (1000, 0, 300, 2.0, 1.0),
                                                   (500, 100, 175, 3.0, 0.8), (10, 4, 5, 1.0, 4.0)):
        got = _number(ask(share, phones, silent, colluding, clip, sigma))
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
    for fpr, epsilon, delta in ((0.05, 1.0, 1e-5), (0.05, 8.0, 1e-5), (0.001, 8.0, 0.0), (0.5, 1.0, 0.0), (0.3, 0.0, 0.0), (0.2, 0.0, 0.1), (0.0, 2.0, 1e-3),
                                (1.0, 0.5, 0.01), (0.9, 2.0, 0.05), (0.05, 30.0, 0.0)):
        got = _number(ask(ceiling, fpr, epsilon, delta))
        first, second = math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr)
        right = min(1.0, first, second)
        if math.isclose(got, right, abs_tol=1e-9) or (right > 1 - 1e-9 and got == 1):
            continue
        where = f"FPR {fpr:g}, ε = {epsilon:g}, δ = {delta:g}: you say {got:.6g}, and it is {right:.6g}"
        if got > 1 + 1e-12:
            raise Wrong(f"{where}; a rate is never above 1")
        if got > right and math.isclose(got, min(1, first), abs_tol=1e-9):
            raise Wrong(f"{where}; not being accused is an outcome too: 1 - FPR ≤ e^ε (1 - TPR) + δ, with the worlds exchanged")
        if got < right and delta and math.isclose(got, min(1, math.exp(epsilon) * fpr, 1 - math.exp(-epsilon) * (1 - fpr)), abs_tol=1e-9):
            raise Wrong(f"{where}; δ was left out")
        if math.isclose(got, min(1, fpr + math.tanh(epsilon / 2)), abs_tol=1e-9):
            raise Wrong(f"{where}; tanh(ε/2) bounds the advantage at the best line, and at this line less is possible")
        raise Wrong(f"{where}; " + ("an attack can do better than that" if got < right else "one of the two inequalities forbids it"))
    return "both inequalities, at ten lines; at ε = 8 they leave 99.97 % at 5 %"
