"""The checkers of the section on DP-SGD: silent on the stub, content with the solution, and able to say what is wrong with the usual mistakes."""
import math

import numpy as np

from dplib import fdp
from provable_privacy import check


def cut(g, c=1.0):
    g = np.where(np.isfinite(g).all(axis=1, keepdims=True), g, 0.0)
    norms = np.linalg.norm(g, axis=1, keepdims=True)
    return g * np.minimum(1, c / np.maximum(norms, 1e-300))


def clip_by_loop(gradients, c):
    """Lists of lists, one row at a time."""
    out = [[0.0] * gradients.shape[1] for _ in gradients]
    for i, row in enumerate(gradients.tolist()):
        length = math.hypot(*row)
        out[i] = [0.0] * len(row) if not math.isfinite(length) else row if length <= c else [v * c / length for v in row]
    return np.array(out).reshape(gradients.shape)


def by_mean(gradients, c):
    size = np.linalg.norm(gradients.mean(axis=0)) if len(gradients) else 0
    return gradients * min(1, c / max(size, 1e-300))


def step(*, seed=None, scale=1.0, who="poisson", how=cut, over="b", sigma_only=False, per_row=False, one_noise=False, skip=False, noise="normal", pairs=False,
         data_noise=False, weigh=False):
    """A learner's noisy step, right unless told otherwise; with `seed`, on luck of its own."""
    own = None if seed is None else np.random.default_rng(seed)

    def function(gradients, q, clip, sigma, b, rng):
        rng, (n, d) = own or rng, gradients.shape
        came = {"poisson": lambda: rng.random(n) < q, "all": lambda: np.ones(n, bool), "none": lambda: np.zeros(n, bool),
                "together": lambda: np.full(n, rng.random() < q), "flipped": lambda: rng.random(n) >= q,
                "fixed": lambda: rng.permutation(n) < round(n * q)}[who]()
        g = gradients[came]
        g = g[np.isfinite(g).all(axis=1)]
        if skip and not len(g):
            return np.zeros(d)
        if how == "mean":
            total = cut(g.mean(axis=0, keepdims=True), clip)[0] * b if len(g) else np.zeros(d)
        elif how == "b":
            total = cut(g.sum(axis=0, keepdims=True), b * clip)[0]
        elif how == "sum":
            total = cut(g.sum(axis=0, keepdims=True), clip)[0]
        else:
            total = how(g, clip).sum(axis=0)
        if weigh:
            total = total / q
        size = scale * sigma * (1 if sigma_only else clip)
        if data_noise:
            size *= 1 + len(g) if data_noise is True else data_noise(g)
        extra = rng.normal(scale=size, size=d) if noise == "normal" else rng.laplace(scale=size / 2**0.5, size=d)
        if per_row:
            extra = extra * math.sqrt(max(len(g), 1))
        if one_noise:
            extra[:] = extra[0]
        if pairs:
            extra[1::2] = extra[::2] * rng.choice([-1, 1], size=len(extra[1::2]))
        if over == "came":
            return (total + extra) / max(len(g), 1)
        return total / b + extra if over == "late" else (total + extra) / b / (b if over == "twice" else 1)

    return function


def in_parts(gradients, q, clip, sigma, b, rng):
    """A coin for each number of the table."""
    coins = rng.random(gradients.shape) < q
    return ((cut(gradients, clip) * coins).sum(axis=0) + rng.normal(scale=sigma * clip, size=gradients.shape[1])) / b


def spent(q, sigma, steps, delta):
    f = fdp.gaussian(1 / sigma).subsample(q)
    return max((f**steps).epsilon(delta), (f.inverse() ** steps).epsilon(delta))


def share(phones, silent, colluding, clip, sigma):
    return sigma * clip / math.sqrt(phones - silent - colluding)


def ceiling(fpr, epsilon, delta):
    return min(1, math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr))


def ghost(*, length="right", scale="right", weigh="both", over="sum", bad="out", guard=1e-12):
    """A learner's clipped sum of a layer, right unless told otherwise."""

    def function(a, b, clip):
        inner = b @ b.transpose(0, 2, 1)
        pairs = inner * (a @ a.transpose(0, 2, 1) + (length != "weights"))
        squares = pairs.sum(axis=(1, 2)) if length != "squares" else np.trace(pairs, axis1=1, axis2=2)
        if length == "added":
            squares = np.sqrt(np.diagonal(pairs, axis1=1, axis2=2)).sum(axis=1) ** 2
        if length != "unguarded":
            squares = squares + guard * np.sqrt(np.diagonal(pairs, axis1=1, axis2=2)).sum(axis=1) ** 2
        if bad == "out":
            kept = np.isfinite(squares)
            a, b, squares = a[kept], b[kept], squares[kept]
        sizes = np.sqrt(np.maximum(squares, 0)) if scale != "no root" else squares
        s = clip / np.maximum(sizes, 1e-300)
        s = {"all": s, "none": np.ones(len(a))}.get(scale, np.minimum(1, s))
        s = np.where(np.isfinite(sizes), s, 0.0)
        s = s[:, None, None] ** (2 if scale == "twice" else 1)
        n = max(len(a), 1) if over == "mean" else 1
        return np.tensordot(s * b, a, axes=((0, 1), (0, 1))) / n, ((s if weigh == "both" else 1) * b).sum(axis=(0, 1)) / n

    return function


def ghost_by_table(a, b, clip, by="examples"):
    """With all gradients in one table, which the exercise forbids unless it is small."""
    (n, m, d), k = a.shape, b.shape[2]
    each = np.concatenate([b[:, :, :, None] * a[:, :, None], b[:, :, :, None]], axis=3)
    each = each.reshape(n * m, k * (d + 1)) if by == "places" else each.sum(axis=1).reshape(n, k * (d + 1))
    each = np.where(np.isfinite(each).all(axis=1, keepdims=True), each, 0.0)
    if by == "sum":
        each = each.sum(axis=0, keepdims=True)
    table = each.reshape(-1, k, d + 1)
    if by == "apart":
        table = np.concatenate([cut(part.reshape(n, math.prod(part.shape[1:])), clip).reshape(part.shape) for part in (table[..., :d], table[..., d:])], axis=2)
    else:
        table = cut(each, clip).reshape(-1, k, d + 1)
    total = table.sum(axis=0)
    return total[:, :d], total[:, d]


def ghost_by_loop(a, b, clip):
    """One gradient at a time, thrown away again."""
    weights, biases = np.zeros((b.shape[2], a.shape[2])), np.zeros(b.shape[2])
    for inputs, derivatives in zip(a, b):
        w, c = derivatives.T @ inputs, derivatives.sum(axis=0)
        size = math.sqrt((w**2).sum() + (c**2).sum())
        if math.isfinite(size) and size:
            weights += w * min(1, clip / size)
            biases += c * min(1, clip / size)
    return weights.tolist(), biases.tolist()


def in_batches(a, b, clip):
    """The gradients of 32 examples at a time."""
    parts = [ghost_by_table(a[i:i + 32], b[i:i + 32], clip) for i in range(0, max(len(a), 1), 32)]
    return [sum(part) for part in zip(*parts)]


def by_google(q, sigma, steps, delta):
    """An upper bound on a fine grid, which is nearer to the truth than dplib's own."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=5e-5).self_compose(steps).get_epsilon_for_delta(delta)


def drag(seed):
    """From minus one half to one half, in a random direction."""
    u = np.random.default_rng(seed).normal(size=3)
    u /= np.linalg.norm(u)
    return np.tile(-u / 2, (10, 1)), 10 * u


STUBS = [
    (check.sgd_break, (..., ...)),
]


SOLUTIONS = [
    (check.sgd_clip, lambda seed: cut),
    (check.sgd_step, lambda seed: step(seed=seed)),
    (check.sgd_account, lambda seed: spent),
    (check.sgd_break, drag),
    (check.sgd_share, lambda seed: share),
    (check.sgd_ceiling, lambda seed: ceiling),
    (check.sgd_ghost, lambda seed: ghost()),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.sgd_clip, by_mean, "scaled by one factor"),
    (check.sgd_clip, lambda g, c: g * min(1, c / max(np.linalg.norm(g), 1e-300)), "scaled by one factor"),
    (check.sgd_clip, lambda g, c: np.clip(g, -c, c), "each coordinate is cut"),
    (check.sgd_clip, lambda g, c: g * (c / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-300)), "made longer"),
    (check.sgd_clip, lambda g, c: g / np.linalg.norm(g, axis=1, keepdims=True) * np.minimum(c, np.linalg.norm(g, axis=1, keepdims=True)), "nan"),
    (check.sgd_clip, lambda g, c: g * np.minimum(1, c / np.maximum(np.abs(g).sum(axis=1, keepdims=True), 1e-300)), "in L1"),
    (check.sgd_clip, lambda g, c: g * np.minimum(1, c / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-300)), "must become zeros"),
    (check.sgd_clip, lambda g, c: cut(np.where(np.isfinite(g), g, 0.0), c), "the row that is not finite must become zeros"),
    (check.sgd_clip, lambda g, c: g, "still has L2 length"),
    (check.sgd_clip, lambda g, c: 1.02 * cut(g, c), "longer"),
    (check.sgd_clip, lambda g, c: cut(g, 1.0), "L2 length"),
    (check.sgd_clip, lambda g, c: g * (np.linalg.norm(g, axis=1, keepdims=True) <= c), "should keep its direction"),
    (check.sgd_clip, lambda g, c: cut(g, c).sum(axis=0), "a row for each example"),
    (check.sgd_step, step(sigma_only=True), "σ instead of σC"),
    (check.sgd_step, step(over="late"), "after the division by b"),
    (check.sgd_step, step(over="twice"), "divided by b twice"),
    (check.sgd_step, step(over="came"), "batch that came"),
    (check.sgd_step, step(scale=0.0), "no noise"),
    (check.sgd_step, step(scale=0.5), "half of what it must be"),
    (check.sgd_step, step(scale=2.0), "twice the noise"),
    (check.sgd_step, step(scale=0.9), "times the right standard deviation"),
    (check.sgd_step, step(noise="laplace"), "is not normal"),
    (check.sgd_step, step(one_noise=True), "depend on each other"),
    (check.sgd_step, step(pairs=True), "depend on each other"),
    (check.sgd_step, step(skip=True), "exactly zero"),
    (check.sgd_step, lambda *a: step(seed=3)(*a), "same noise"),
    (check.sgd_step, step(data_noise=True), "12 rows, all zero"),
    (check.sgd_step, step(per_row=True), "12 rows, all zero"),
    (check.sgd_step, step(data_noise=lambda g: 0.1 if len(g) > 12 else 1), "on ("),
    (check.sgd_step, step(data_noise=lambda g: 0.05 if len(np.unique(g, axis=0)) > 2 else 1), "on ("),
    (check.sgd_step, step(how=lambda g, c: g * c / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-300)), "only what is too long is cut"),
    (check.sgd_step, step(how=lambda g, c: cut(g, c) * 0.9), "law of the right answer"),
    (check.sgd_step, step(how=lambda g, c: g), "not clipped"),
    (check.sgd_step, step(how=lambda g, c: np.clip(g, -c, c)), "each coordinate is cut"),
    (check.sgd_step, step(how="b"), "one row can turn it round"),
    (check.sgd_step, step(how="mean"), "the mean of the batch that is clipped"),
    (check.sgd_step, step(how="sum"), "clipped"),
    (check.sgd_step, step(who="all"), "takes part every time"),
    (check.sgd_step, step(who="none"), "no row ever takes part"),
    (check.sgd_step, step(who="flipped"), "with probability 1 − q"),
    (check.sgd_step, step(who="together"), "a coin of its own"),
    (check.sgd_step, step(who="fixed"), "fixed size"),
    (check.sgd_step, in_parts, "a coin of its own, so a row may come in part"),
    (check.sgd_step, step(weigh=True), "divided by q as well"),
    (check.sgd_step, lambda g, q, clip, sigma, b, rng: np.sqrt(b) * step()(np.zeros_like(g), q, clip, sigma, b, rng), "3.00 times the right"),
    (check.sgd_step, step(scale=2**0.5), "√2 times"),
    (check.sgd_step, lambda *a: step()(*a)[:1], "expected 50 numbers"),
    (check.sgd_step, lambda *a: np.full(a[0].shape[1], np.nan), "finite"),
    (check.sgd_account, lambda q, s, t, d: fdp.gaussian(math.sqrt(t) / s).epsilon(d), "without sampling"),
    (check.sgd_account, lambda q, s, t, d: fdp.gaussian(q * math.sqrt(t) / s).epsilon(d), "does not multiply"),
    (check.sgd_account, lambda q, s, t, d: q * fdp.gaussian(math.sqrt(t) / s).epsilon(d), "does not multiply"),
    (check.sgd_account, lambda q, s, t, d: (fdp.gaussian(1 / s).subsample(q).inverse() ** t).epsilon(d), "one direction only"),
    (check.sgd_account, lambda q, s, t, d: fdp.gaussian(q * math.sqrt(t * math.expm1(s**-2))).epsilon(d), "no bound"),
    (check.sgd_account, lambda q, s, t, d: fdp.gaussian(1 / s).subsample(q).epsilon(d), "one step"),
    (check.sgd_account, lambda q, s, t, d: t * fdp.gaussian(1 / s).subsample(q).epsilon(d / t), "adding up"),
    (check.sgd_account, lambda q, s, t, d: 0.99 * spent(q, s, t, d), "false promise"),
    (check.sgd_account, lambda q, s, t, d: 1.02 * spent(q, s, t, d), "half a per cent"),
    (check.sgd_account, lambda q, s, t, d: math.inf, "half a per cent"),
    (check.sgd_account, lambda q, s, t, d: "much", "expected a number"),
    (check.sgd_break, (np.zeros((3, 3)), np.array([1.0, 0, 0])), "too short"),
    (check.sgd_break, (np.tile([10.0, 0, 0], (5, 1)), np.array([10.0, 0, 0])), "already fill"),
    (check.sgd_break, (np.zeros((3, 3)), np.array([20.0, 0, 0])), "at most 10 long"),
    (check.sgd_break, (np.zeros((51, 3)), np.array([10.0, 0, 0])), "at most 50"),
    (check.sgd_break, (np.array([[8.0, 0, 0]]), np.array([10.0, 0, 0])), "cut off again"),
    (check.sgd_break, (np.zeros((3, 2)), np.zeros(2)), "3 columns"),
    (check.sgd_break, 5, "a pair"),
    (check.sgd_share, lambda n, s, k, c, z: z * c, "whole noise on every phone"),
    (check.sgd_share, lambda n, s, k, c, z: z * c / n, "variances add"),
    (check.sgd_share, lambda n, s, k, c, z: z * c / math.sqrt(n), "never arrives"),
    (check.sgd_share, lambda n, s, k, c, z: z * c / math.sqrt(n - s), "colluding phones know"),
    (check.sgd_share, lambda n, s, k, c, z: z * c / math.sqrt(n - k), "never arrives"),
    (check.sgd_share, lambda n, s, k, c, z: z / math.sqrt(n - s - k), "clip norm"),
    (check.sgd_share, lambda n, s, k, c, z: (z * c) ** 2 / (n - s - k), "that is the variance"),
    (check.sgd_share, lambda n, s, k, c, z: 0, "positive number"),
    (check.sgd_share, lambda n, s, k, c, z: [1, 2], "expected a number"),
    (check.sgd_ceiling, lambda fpr, e, d: min(1, math.exp(e) * fpr + d), "not being accused"),
    (check.sgd_ceiling, lambda fpr, e, d: min(1, math.exp(e) * fpr + d) if fpr < 1 / (1 + math.exp(e)) else ceiling(fpr, e, d), "not being accused"),
    (check.sgd_ceiling, lambda fpr, e, d: math.exp(e) * fpr + d, "never above 1"),
    (check.sgd_ceiling, lambda fpr, e, d: min(1, math.exp(e) * fpr, 1 - math.exp(-e) * (1 - fpr)), "left out"),
    (check.sgd_ceiling, lambda fpr, e, d: min(1, fpr + math.tanh(e / 2)), "tanh"),
    (check.sgd_ceiling, lambda fpr, e, d: fpr, "can do better"),
    (check.sgd_ghost, ghost(length="squares"), "products of two different places"),
    (check.sgd_ghost, ghost(length="added"), "the lengths of the places were added"),
    (check.sgd_ghost, ghost(length="weights"), "counts the weights only"),
    (check.sgd_ghost, ghost(length="unguarded"), "than rounding can have taken"),
    (check.sgd_ghost, ghost(scale="none"), "nothing is clipped"),
    (check.sgd_ghost, ghost(scale="all"), "made longer"),
    (check.sgd_ghost, ghost(scale="no root"), "the root is missing"),
    (check.sgd_ghost, ghost(scale="twice"), "counts twice"),
    (check.sgd_ghost, ghost(weigh="weights"), "the sum of the biases is not"),
    (check.sgd_ghost, ghost(over="mean"), "that is the mean"),
    (check.sgd_ghost, ghost(bad="kept"), "leave it out"),
    (check.sgd_ghost, ghost_by_table, "the table of all gradients"),
    (check.sgd_ghost, lambda a, b, c: ghost_by_table(a, b, c, "places"), "each place is clipped alone"),
    (check.sgd_ghost, lambda a, b, c: ghost_by_table(a, b, c, "apart"), "clipped apart"),
    (check.sgd_ghost, lambda a, b, c: ghost_by_table(a, b, c, "sum"), "the sum is clipped"),
    (check.sgd_ghost, lambda a, b, c: ghost()(a, b, c)[1].sum(), "a pair"),
    (check.sgd_ghost, lambda a, b, c: (ghost()(a, b, c)[0].T, ghost()(a, b, c)[1]), "turn them round"),
    (check.sgd_ghost, lambda a, b, c: (ghost()(a, b, c)[0], 0.0), "the biases: expected"),
    (check.sgd_ghost, lambda a, b, c: (1.1 * ghost()(a, b, c)[0], ghost()(a, b, c)[1]), "only the weights are wrong"),
    (check.sgd_ghost, lambda a, b, c: [0.9 * part for part in ghost()(a, b, c)], "the biases too are wrong"),
]


def binomial_step(gradients, q, clip, sigma, b, rng):
    """The batch as a count and a choice, the noise as a sum of two."""
    n, d = gradients.shape
    chosen = rng.choice(n, rng.binomial(n, q), replace=False) if n else []
    total = sum((row * min(1, clip / max(np.linalg.norm(row), 1e-300)) for row in gradients[list(map(int, chosen))] if np.isfinite(row).all()), np.zeros(d))
    return list((total + sigma * clip * (rng.normal(size=d) + rng.normal(size=d)) / 2**0.5) / b)


def by_dice(gradients, q, clip, sigma, b, rng):
    """64-bit dice, row by row, a list for an answer."""
    total = np.zeros(gradients.shape[1])
    for row in gradients:
        if rng.integers(0, 2**63) < q * 2**63 and np.isfinite(row).all():
            total += row * min(1, clip / max(np.linalg.norm(row), 1e-300))
    return ((total + sigma * clip * rng.standard_normal(total.size)) / b).tolist()


def leaking(noise=lambda g, d, rng: rng.normal(size=d), who=lambda n, q, rng: rng.random(n) < q, how=cut):
    """A step whose noise, in units of sigma times clip, looks at the table, or whose coins or clipping do not treat all rows alike."""
    def function(gradients, q, clip, sigma, b, rng):
        came = who(len(gradients), q, rng)
        return (how(gradients, clip)[came].sum(axis=0) + sigma * clip * noise(gradients, gradients.shape[1], rng)) / b

    return function


def redrawn(g, d, rng):
    z = rng.normal(size=d)
    while np.any(np.abs(z) > 3):
        z = np.where(np.abs(z) > 3, rng.normal(size=d), z)
    return z


def kept():
    """The noise of every second call is that of the call before."""
    last = {}

    def noise(g, d, rng):
        last[d] = last.pop(d) if d in last and rng.random() < 0.5 else rng.normal(size=d)
        return last[d]

    return leaking(noise)


def quiet(where):
    """No noise, or next to none, where the table is such."""
    return leaking(lambda g, d, rng: rng.normal(size=d) * np.where(where(g), 1e-3, 1.0))


def last_unclipped(g, c):
    return np.vstack([cut(g[:-1], c), np.nan_to_num(g[-1:], posinf=0)]) if len(g) else g


def nothing_if_one_is_bad(gradients, q, clip, sigma, b, rng):
    """A batch with a gradient that is not finite is thrown away."""
    g = gradients[rng.random(len(gradients)) < q]
    total = cut(g, clip).sum(axis=0) * np.isfinite(g).all()
    return (total + rng.normal(scale=sigma * clip, size=total.size)) / b


def as_far_as_they_go(gradients, q, clip, sigma, b, rng):
    """Noise for the longest of the rows that came, not for the longest that may come."""
    g = cut(gradients, clip)[rng.random(len(gradients)) < q]
    longest = np.linalg.norm(g, axis=1).max(initial=0) or clip
    return (g.sum(axis=0) + rng.normal(scale=sigma * longest, size=g.shape[1])) / b


def at_most(most):
    """A batch that is cut off after `most` times b rows."""
    def function(gradients, q, clip, sigma, b, rng):
        def first(n, q, rng):
            came = rng.random(n) < q
            return came & (np.cumsum(came) <= most * b)

        return leaking(who=first)(gradients, q, clip, sigma, b, rng)

    return function


WRONG += [(check.sgd_step, at_most(2), "on (60 unlike rows"), (check.sgd_step, leaking(lambda g, d, rng: rng.normal(size=d).round(1)), "values only")]

LEAKS = [
    *((check.sgd_step, leaking(lambda g, d, rng, at=at: np.clip(rng.normal(size=d), -at, at))) for at in (2.0, 2.5, 3.0, 3.5, 3.75)),
    (check.sgd_step, leaking(redrawn)),
    (check.sgd_step, quiet(lambda g: len(g) == 0)),
    (check.sgd_step, quiet(lambda g: len(g) == 1)),
    (check.sgd_step, quiet(lambda g: not np.any(g))),
    (check.sgd_step, quiet(lambda g: ~np.any(g, axis=0) & (len(g) > 12))),
    (check.sgd_step, quiet(lambda g: len(g) > 200)),
    (check.sgd_step, leaking(lambda g, d, rng: rng.normal(size=d) * (1 + len(g) / 12))),
    (check.sgd_step, leaking(lambda g, d, rng: np.abs(rng.normal()) * rng.choice([-1, 1], size=d))),
    (check.sgd_step, leaking(lambda g, d, rng: np.random.default_rng(len(g)).normal(size=d))),
    (check.sgd_step, kept()),
    (check.sgd_step, leaking(who=lambda n, q, rng: np.arange(n) < round(n * q))),
    (check.sgd_step, leaking(who=lambda n, q, rng: np.append(rng.random(max(n - 1, 0)) < q, np.ones(min(n, 1), bool)))),
    (check.sgd_step, leaking(how=last_unclipped)),
    (check.sgd_step, leaking(how=lambda g, c: cut(np.nan_to_num(g), c))),
    (check.sgd_step, leaking(how=lambda g, c: cut(np.nan_to_num(g, posinf=0), c))),
    (check.sgd_step, nothing_if_one_is_bad),
    (check.sgd_step, as_far_as_they_go),
    (check.sgd_step, leaking(how=lambda g, c: g * np.minimum(1, c / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-300)))),
    (check.sgd_step, lambda g, q, clip, sigma, b, rng: leaking()(g, q, clip, sigma if sigma > 0.5 else sigma / 2, b, rng)),
    (check.sgd_step, lambda g, q, clip, sigma, b, rng: leaking()(g, q, clip, sigma, b if q < 1 else 2 * b, rng)),
]

UNUSUAL = [
    (check.sgd_clip, clip_by_loop),
    (check.sgd_clip, lambda g, c: cut(g, c).tolist()),
    (check.sgd_step, binomial_step),
    (check.sgd_account, lambda q, s, t, d: np.array([1.004 * spent(q, s, t, d)])),
    (check.sgd_break, ([[0, 0, 0]], [0, 9.5, 0])),
    (check.sgd_break, ([], [0, 0, -10])),
    (check.sgd_share, lambda n, s, k, c, z: np.float64(((z * c) ** 2 / (n - s - k)) ** 0.5)),
    (check.sgd_ceiling, lambda fpr, e, d: 1 - max(0, 1 - d - math.exp(e) * fpr, math.exp(-e) * (1 - d - fpr))),
    (check.sgd_ceiling, lambda fpr, e, d: np.float32(ceiling(fpr, e, d))),
    (check.sgd_step, by_dice),
    (check.sgd_step, lambda *a: np.round(binomial_step(*a), 6)),
    (check.sgd_account, by_google),
    (check.sgd_ghost, ghost_by_loop),
    (check.sgd_ghost, in_batches),
    (check.sgd_ghost, ghost(guard=1e-8)),
    (check.sgd_ghost, lambda a, b, c: list(ghost()(a, b, c))),
]
