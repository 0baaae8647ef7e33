"""Answers to the section on DP-SGD."""
import math

import numpy as np

from dplib import fdp
from provable_privacy import check
from provable_privacy.battery.makers import fixed_seed, given, then, where


def lengths(g):
    return np.linalg.norm(g, axis=1, keepdims=True)


def shrunk(g, c, size):
    """Multiplied by min(1, c / size)."""
    return g * np.minimum(1, c / np.maximum(size, 1e-300))


def uncut(g, c):
    return np.where(np.isfinite(g).all(axis=1, keepdims=True), g, 0.0)


def cut(g, c=1.0):
    g = uncut(g, c)
    return shrunk(g, c, lengths(g))


def by_length_of(part):
    return lambda g, c: shrunk(uncut(g, c), c, lengths(part(uncut(g, c))))


def stretched(g, c):
    return g * c / np.maximum(lengths(g), 1e-300)


def clip_by_loop(gradients, c):
    """Lists of lists, one row at a time."""
    out = []
    for row in gradients.tolist():
        length = math.hypot(*row)
        share = 0.0 if not math.isfinite(length) else 1.0 if length <= c else c / length
        out.append([v * share if share else 0.0 for v in row])
    return np.array(out).reshape(gradients.shape)


def by_mean(gradients, c):
    return shrunk(gradients, c, np.linalg.norm(gradients.mean(axis=0)) if len(gradients) else 0)


def poisson(n, q, rng):
    return rng.random(n) < q


def add(g, clip, b, q):
    return g.sum(axis=0)


def times(factor):
    """So many times the right size of the noise."""
    return lambda sigma, clip, b: factor * sigma * clip


RIGHT = times(1.0)


def normal(table, batch, rng):
    return rng.normal(size=table.shape[1])


def step(who=poisson, how=cut, total=add, size=RIGHT, noise=normal, over=lambda n, q, b, batch: b, luck=None):
    """A learner's noisy step, right unless told otherwise; `noise`, in units of `size`, may see the table."""
    def function(gradients, q, clip, sigma, b, rng):
        rng, n = luck or rng, len(gradients)
        batch = how(gradients, clip)[who(n, q, rng)]
        moved = total(batch, clip, b, q) + size(sigma, clip, b) * noise(gradients, batch, rng)
        return moved / over(n, q, b, batch)

    return function


def third_sign(gradients, batch, rng):
    """Of three noises in turn, the signs of two tell that of the third."""
    noise = normal(gradients, batch, rng)
    noise[2::3] = np.abs(noise[2::3]) * np.sign(noise[:-2:3] * noise[1:-1:3])
    return noise


def scaled(factor):
    """Normal noise times `factor(table, batch)`."""
    return step(noise=lambda table, batch, rng: normal(table, batch, rng) * factor(table, batch))


def shortened(length):
    """All rows added, and their sum cut to `length(clip, b)`."""
    return step(how=uncut, total=lambda g, clip, b, q: cut(g.sum(axis=0, keepdims=True), length(clip, b))[0])


def mean_cut(g, clip, b, q):
    return cut(g.mean(axis=0, keepdims=True), clip)[0] * b if len(g) else np.zeros(g.shape[1])


def paired(table, batch, rng):
    """Every second coordinate has the size of the one before."""
    d = table.shape[1]
    return np.repeat(rng.normal(size=d), 2)[:d] * rng.choice([-1, 1], size=d)


def in_parts(gradients, q, clip, sigma, b, rng):
    """A coin for each number of the table."""
    coins = rng.random(gradients.shape) < q
    return ((cut(gradients, clip) * coins).sum(axis=0) + rng.normal(scale=sigma * clip, size=gradients.shape[1])) / b


def b_rows(gradients, q, clip, sigma, b, rng):
    """A batch of b rows."""
    n = len(gradients)
    rows = gradients[rng.permutation(n)[:b]]
    return (cut(rows, clip).sum(axis=0) + rng.normal(scale=sigma * clip, size=rows.shape[1])) / b


def directions(q, sigma, steps, delta):
    f = fdp.gaussian(1 / sigma).subsample(q)
    return (f**steps).epsilon(delta), (f.inverse() ** steps).epsilon(delta)


def spent(*case):
    return max(directions(*case))


def bell(mu, delta):
    return fdp.gaussian(mu).epsilon(delta)


def share(phones, silent, colluding, clip, sigma):
    return sigma * clip / math.sqrt(phones - silent - colluding)


def ceiling(fpr, epsilon, delta):
    return min(1, math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr))


def first_line(fpr, epsilon, delta):
    return min(1, math.exp(epsilon) * fpr + delta)


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
        biases = ((s if weigh == "both" else 1) * b).sum(axis=(0, 1))
        return np.tensordot(s * b, a, axes=((0, 1), (0, 1))) / n, biases / n

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
        parts = table[..., :d], table[..., d:]
        cuts = (cut(part.reshape(n, math.prod(part.shape[1:])), clip).reshape(part.shape) for part in parts)
        table = np.concatenate(list(cuts), axis=2)
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

    one = pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=5e-5)
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def drag(seed):
    """From minus one half to one half, in a random direction."""
    u = np.random.default_rng(seed).normal(size=3)
    u /= np.linalg.norm(u)
    return np.vstack([against(u, 10), against(-u, 5)]), 10 * u


def against(u, rows):
    return np.tile(np.negative(u), (rows, 1))


ACROSS = np.array([[0, 0, 1.0], [0, 0, -1.0]] * 5)


STUBS = [
    (check.sgd_break, (..., ...)),
]


SOLUTIONS = [
    (check.sgd_clip, lambda seed: cut),
    (check.sgd_step, lambda seed: step(luck=np.random.default_rng(seed))),
    (check.sgd_account, lambda seed: spent),
    (check.sgd_break, drag),
    (check.sgd_share, lambda seed: share),
    (check.sgd_ceiling, lambda seed: ceiling),
    (check.sgd_ghost, lambda seed: ghost()),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.sgd_clip, by_mean, "scaled by one factor"),
    (check.sgd_clip, lambda g, c: shrunk(g, c, np.linalg.norm(g)), "scaled by one factor"),
    (check.sgd_clip, lambda g, c: np.clip(g, -c, c), "each coordinate is cut"),
    (check.sgd_clip, stretched, "made longer"),
    (check.sgd_clip, lambda g, c: g / lengths(g) * np.minimum(c, lengths(g)), "nan"),
    (check.sgd_clip, lambda g, c: shrunk(g, c, np.abs(g).sum(axis=1, keepdims=True)), "in L1"),
    (check.sgd_clip, lambda g, c: shrunk(g, c, lengths(g)), "must become zeros"),
    (check.sgd_clip, lambda g, c: cut(np.where(np.isfinite(g), g, 0.0), c), "the row that is not finite"),
    (check.sgd_clip, lambda g, c: g, "still has L2 length"),
    (check.sgd_clip, lambda g, c: 1.02 * cut(g, c), "longer"),
    (check.sgd_clip, lambda g, c: cut(g, 1.0), "L2 length"),
    (check.sgd_clip, lambda g, c: g * (lengths(g) <= c), "should keep its direction"),
    (check.sgd_clip, lambda g, c: cut(g, c).sum(axis=0), "a row for each example"),
    (check.sgd_step, step(size=lambda sigma, clip, b: sigma), "σ instead of σC"),
    (check.sgd_step, step(size=lambda sigma, clip, b: sigma * clip**2), "scaled by C twice"),
    (check.sgd_step, step(size=lambda sigma, clip, b: sigma**2 * clip), "σ²C"),
    (check.sgd_step, step(size=lambda sigma, clip, b: clip), "sigma was not used"),
    (check.sgd_step, step(size=lambda sigma, clip, b: sigma * clip * b), "after the division by b"),
    (check.sgd_step, step(over=lambda n, q, b, batch: b * b), "divided by b twice"),
    (check.sgd_step, step(over=lambda n, q, b, batch: n * q or b), "another number than b"),
    (check.sgd_step, step(over=lambda n, q, b, batch: max(len(batch), 1)), "divided by the batch that"),
    (check.sgd_step, step(size=times(0.0)), "no noise"),
    (check.sgd_step, step(size=times(0.5)), "half of what it must be"),
    (check.sgd_step, step(size=times(2.0)), "twice the noise"),
    (check.sgd_step, step(size=times(0.9)), "times the right standard deviation"),
    (check.sgd_step, step(noise=lambda t, g, rng: rng.laplace(scale=0.5**0.5, size=t.shape[1])), "is not normal"),
    (check.sgd_step, step(noise=lambda table, g, rng: np.full(table.shape[1], rng.normal())), "depend on each other"),
    (check.sgd_step, step(noise=paired), "depend on each other"),
    (check.sgd_step, scaled(lambda table, batch: float(len(batch) > 0)), "exactly zero"),
    (check.sgd_step, fixed_seed(step()), "same noise"),
    (check.sgd_step, scaled(lambda table, batch: 1 + len(batch)), "12 rows, all zero"),
    (check.sgd_step, scaled(lambda table, batch: math.sqrt(max(len(batch), 1))), "every row bring noise"),
    (check.sgd_step, scaled(lambda table, batch: 0.1 if len(batch) > 12 else 1), "on ("),
    (check.sgd_step, scaled(lambda table, batch: 0.05 if len(np.unique(batch, axis=0)) > 2 else 1), "on ("),
    (check.sgd_step, step(how=lambda g, c: stretched(uncut(g, c), c)), "only what is too long is cut"),
    (check.sgd_step, step(how=lambda g, c: cut(g, c) * 0.9), "law of the right answer"),
    (check.sgd_step, step(how=uncut), "not clipped"),
    (check.sgd_step, step(how=lambda g, c: np.clip(uncut(g, c), -c, c)), "each coordinate is cut"),
    (check.sgd_step, shortened(lambda clip, b: b * clip), "one row can turn it round"),
    (check.sgd_step, step(how=uncut, total=mean_cut), "the mean of the batch that is clipped"),
    (check.sgd_step, shortened(lambda clip, b: clip), "clipped"),
    (check.sgd_step, step(lambda n, q, rng: np.ones(n, bool)), "takes part every time"),
    (check.sgd_step, step(lambda n, q, rng: np.zeros(n, bool)), "no row ever takes part"),
    (check.sgd_step, step(lambda n, q, rng: rng.random(n) >= q), "with probability 1 − q"),
    (check.sgd_step, step(lambda n, q, rng: np.full(n, rng.random() < q)), "a coin of its own"),
    (check.sgd_step, step(lambda n, q, rng: rng.permutation(n) < round(n * q)), "fixed size"),
    (check.sgd_step, step(lambda n, q, rng: rng.permutation(n) < int(n * q)), "q times the rows and rounded down"),
    (check.sgd_step, step(lambda n, q, rng: rng.permutation(n) < max(int(n * q), 1)), "of one row at least"),
    (check.sgd_step, b_rows, "b rows whatever q is"),
    (check.sgd_step, in_parts, "its own coin, so a part of a row"),
    (check.sgd_step, step(total=lambda g, clip, b, q: g.sum(axis=0) / q), "divided by q as well"),
    (check.sgd_step, step(size=lambda sigma, clip, b: np.sqrt(b) * sigma * clip), "3.00 times the right"),
    (check.sgd_step, step(size=times(2**0.5)), "√2 times"),
    (check.sgd_step, then(step(), lambda out, *_: out[:1]), "expected 50 numbers"),
    (check.sgd_step, then(step(), lambda out, *_: np.nan * out), "finite"),
    (check.sgd_step, step(noise=lambda *seen: normal(*seen).round(1)), "values only"),
    (check.sgd_account, lambda q, s, t, d: bell(math.sqrt(t) / s, d), "without sampling"),
    (check.sgd_account, lambda q, s, t, d: bell(q * math.sqrt(t) / s, d), "does not multiply"),
    (check.sgd_account, lambda q, s, t, d: q * bell(math.sqrt(t) / s, d), "does not multiply"),
    (check.sgd_account, lambda *case: directions(*case)[1], "one direction only"),
    (check.sgd_account, lambda q, s, t, d: spent(q, 1 / s, t, d), "is μ = 1/σ, not σ: more"),
    (check.sgd_account, lambda q, s, t, d: directions(q, 1 / s, t, d)[1], "is μ = 1/σ, not σ; and that is one"),
    (check.sgd_account, lambda q, s, t, d: bell(q * math.sqrt(t * math.expm1(s**-2)), d), "no bound"),
    (check.sgd_account, lambda q, s, t, d: fdp.gaussian(1 / s).subsample(q).epsilon(d), "one step"),
    (check.sgd_account, lambda q, s, t, d: t * fdp.gaussian(1 / s).subsample(q).epsilon(d / t), "adding up"),
    (check.sgd_account, lambda q, s, t, d: 0.99 * spent(q, s, t, d), "false promise"),
    (check.sgd_account, lambda q, s, t, d: 1.02 * spent(q, s, t, d), "half a per cent"),
    (check.sgd_account, lambda q, s, t, d: math.inf, "half a per cent"),
    (check.sgd_account, lambda q, s, t, d: "much", "expected a number"),
    (check.sgd_break, (ACROSS, np.array([1.0, 0, 0])), "too short"),
    (check.sgd_break, (against([10.0, 0, 0], 10), np.array([-10.0, 0, 0])), "already fill"),
    (check.sgd_break, (ACROSS, np.array([20.0, 0, 0])), "at most 10 long"),
    (check.sgd_break, (against([1.0, 0, 0], 51), np.array([10.0, 0, 0])), "10 to 50 others"),
    (check.sgd_break, ([], np.array([10.0, 0, 0])), "3 columns"),
    (check.sgd_break, (np.zeros((0, 3)), np.array([10.0, 0, 0])), "10 to 50 others"),
    (check.sgd_break, (np.zeros((10, 3)), np.array([10.0, 0, 0])), "at least 1 long"),
    (check.sgd_break, (np.vstack([ACROSS, [[8.0, 0, 0]]]), np.array([10.0, 0, 0])), "cut off again"),
    (check.sgd_break, (np.zeros((13, 2)), np.zeros(2)), "3 columns"),
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
    (check.sgd_ceiling, first_line, "not being accused"),
    (check.sgd_ceiling, lambda f, e, d: (first_line if f < 1 / (1 + math.exp(e)) else ceiling)(f, e, d), "not being"),
    (check.sgd_ceiling, lambda fpr, e, d: math.exp(e) * fpr + d, "never above 1"),
    (check.sgd_ceiling, lambda fpr, e, d: ceiling(fpr, e, 0.0), "left out"),
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
    (check.sgd_ghost, lambda a, b, c: (ghost()(a, b, c)[0].T, ghost()(a, b, c)[1]), "transpose them"),
    (check.sgd_ghost, lambda a, b, c: (ghost()(a, b, c)[0], 0.0), "the biases: expected"),
    (check.sgd_ghost, lambda a, b, c: (1.1 * ghost()(a, b, c)[0], ghost()(a, b, c)[1]), "only the weights are wrong"),
    (check.sgd_ghost, lambda a, b, c: [0.9 * part for part in ghost()(a, b, c)], "the biases too are wrong"),
]


def binomial_step(gradients, q, clip, sigma, b, rng):
    """The batch as a count and a choice, the noise as a sum of two."""
    n, d = gradients.shape
    chosen = rng.choice(n, rng.binomial(n, q), replace=False) if n else []
    total = cut(gradients[list(map(int, chosen))], clip).sum(axis=0)
    return list((total + sigma * clip * (rng.normal(size=d) + rng.normal(size=d)) / 2**0.5) / b)


def by_dice(gradients, q, clip, sigma, b, rng):
    """64-bit dice, row by row, a list for an answer."""
    total = np.zeros(gradients.shape[1])
    for row in gradients:
        if rng.integers(0, 2**63) < q * 2**63 and np.isfinite(row).all():
            total += row * min(1, clip / max(np.linalg.norm(row), 1e-300))
    return ((total + sigma * clip * rng.standard_normal(total.size)) / b).tolist()


def redrawn(table, batch, rng):
    z = normal(table, batch, rng)
    while np.any(np.abs(z) > 3):
        z = np.where(np.abs(z) > 3, normal(table, batch, rng), z)
    return z


def kept():
    """The noise of every second call is that of the call before."""
    last = {}

    def noise(table, batch, rng):
        d = table.shape[1]
        last[d] = last.pop(d) if d in last and rng.random() < 0.5 else rng.normal(size=d)
        return last[d]

    return step(noise=noise)


def quiet(where):
    """Next to no noise where the table is such."""
    return scaled(lambda table, batch: np.where(where(table), 1e-3, 1.0))


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


def everybody(n, q, rng):
    return np.ones(n, bool)


def one_size(n, q, rng):
    return rng.permutation(n) < round(n * q)


def at_most(most):
    """A batch that is cut off after `most` times b rows."""
    def function(gradients, q, clip, sigma, b, rng):
        def first(n, q, rng):
            came = rng.random(n) < q
            return came & (np.cumsum(came) <= most * b)

        return step(first)(gradients, q, clip, sigma, b, rng)

    return function


WRONG += [(check.sgd_step, at_most(2), "on (60 unlike rows")]

LEAKS = [
    *((check.sgd_step, step(noise=lambda *seen, at=at: np.clip(normal(*seen), -at, at)))
      for at in (2.0, 2.5, 3.0, 3.5, 3.75)),
    (check.sgd_step, step(noise=redrawn)),
    (check.sgd_step, quiet(lambda g: len(g) == 0)),
    (check.sgd_step, quiet(lambda g: len(g) == 1)),
    (check.sgd_step, quiet(lambda g: not np.any(g))),
    (check.sgd_step, quiet(lambda g: ~np.any(g, axis=0) & (len(g) > 12))),
    (check.sgd_step, quiet(lambda g: len(g) > 200)),
    (check.sgd_step, scaled(lambda table, batch: 1 + len(table) / 12)),
    (check.sgd_step, step(noise=lambda g, _, rng: np.abs(rng.normal()) * rng.choice([-1, 1], size=g.shape[1]))),
    (check.sgd_step, step(noise=lambda g, _, rng: np.random.default_rng(len(g)).normal(size=g.shape[1]))),
    (check.sgd_step, kept()),
    (check.sgd_step, step(lambda n, q, rng: np.arange(n) < round(n * q))),
    (check.sgd_step, step(lambda n, q, rng: poisson(n, q, rng) | (np.arange(n) == n - 1))),
    (check.sgd_step, step(how=last_unclipped)),
    (check.sgd_step, step(how=lambda g, c: cut(np.nan_to_num(g), c))),
    (check.sgd_step, step(how=lambda g, c: cut(np.nan_to_num(g, posinf=0), c))),
    (check.sgd_step, nothing_if_one_is_bad),
    (check.sgd_step, as_far_as_they_go),
    (check.sgd_step, step(how=lambda g, c: shrunk(g, c, lengths(g)))),
    (check.sgd_step, where(lambda g, q, clip, sigma, b: sigma > 5, quiet(lambda g: True), step())),      # parameters
    (check.sgd_step, where(lambda g, q, clip, sigma, b: clip > 5, quiet(lambda g: True), step())),
    (check.sgd_step, where(lambda g, q, clip, sigma, b: b > 200, quiet(lambda g: True), step())),
    (check.sgd_step, where(lambda g, q, clip, sigma, b: q < 0.1, step(one_size), step())),
    (check.sgd_step, where(lambda g, q, clip, sigma, b: 0.8 < q < 1, step(everybody), step())),
    (check.sgd_step, quiet(lambda g: g.shape[1] == 1)),                                                  # sizes
    (check.sgd_step, quiet(lambda g: 12 < len(g) < 59)),
    (check.sgd_step, quiet(lambda g: len(g) > 401)),
    (check.sgd_step, given(step(), sigma=lambda sigma: sigma if sigma > 0.5 else sigma / 2)),
    (check.sgd_step, lambda g, q, clip, sigma, b, rng: step()(g, q, clip, sigma, b if q < 1 else 2 * b, rng)),
    (check.sgd_step, where(lambda g, q, clip, sigma, b: clip < 0.2,
                           given(step(), sigma=lambda sigma: sigma / 2), step())),
    (check.sgd_step, step(how=by_length_of(lambda g: g[:, :8]))),                                        # wide rows
    (check.sgd_step, step(how=by_length_of(lambda g: g[:, :-1] if g.shape[1] > 3 else g))),
    (check.sgd_step, step(noise=third_sign)),
]

UNUSUAL = [
    (check.sgd_clip, clip_by_loop),
    (check.sgd_clip, lambda g, c: cut(g, c).tolist()),
    (check.sgd_step, binomial_step),
    (check.sgd_account, lambda q, s, t, d: np.array([1.004 * spent(q, s, t, d)])),
    (check.sgd_break, (ACROSS.tolist(), [0, 9.5, 0])),
    (check.sgd_break, (ACROSS[:, ::-1], [0, 0, -10])),
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
