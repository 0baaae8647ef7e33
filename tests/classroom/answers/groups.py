"""Answers of the section on groups that nobody listed: solutions, unusual right answers, leaks, and mistakes."""
import hashlib
import math

import numpy as np
import pandas as pd
from checking import seeded
from scipy.special import ndtr

from dplib import partitions
from provable_privacy import check
from provable_privacy.battery.makers import geometric, given, own_luck, then, where

TELLS = {"minimum": True, "occurring": True, "floor": False, "sorted": True, "public": False, "rarest": True}


def keep(n, epsilon, delta, late=1):
    chance = 0.0
    for _ in range(n):
        chance = min(math.exp(epsilon) * chance + delta, 1 - math.exp(-epsilon) * (1 - chance - late * delta), 1.0)
    return chance


def closed(n, epsilon, delta):
    return np.float64(partitions.selection_probability(n, epsilon=epsilon, delta=delta))


def by_walking_back(n, epsilon, delta):
    """The same from a list of all of them, as an array of one number."""
    chances = [0.0]
    while len(chances) <= n:
        last = chances[-1]
        chances.append(sorted([math.exp(epsilon) * last + delta, 1 + math.exp(-epsilon) * (last + delta - 1), 1.0])[0])
    return np.array([chances[n]])


def laplace_threshold(n, epsilon, delta):
    x = epsilon * (n - 1) - math.log(1 / (2 * delta))
    return 0.0 if n == 0 else math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


def growing_only(n, epsilon, delta):
    return min(1.0, delta * math.expm1(n * epsilon) / math.expm1(epsilon))


def turned_at_half(n, epsilon, delta):
    """The first inequality below one half, the second above: it passes the point where they meet."""
    chance, e = 0.0, math.exp(epsilon)
    for _ in range(n):
        chance = e * chance + delta if chance < 0.5 else min(1.0, 1 - (1 - chance - delta) / e)
    return chance


def publishing(*, wide=1.0, hide=lambda y, n, k: y <= k, again=False, exact=False, cut=True, shared=False):
    """A learner's release, right unless told otherwise."""
    def publish(counts, epsilon, k, rng):
        x = np.arange(-k, k + 1)
        weight = np.exp(-epsilon / wide * np.abs(x))

        def noise():
            if not cut:
                return geometric(rng, 1 / epsilon, len(counts))
            drawn = rng.choice(x, size=1 if shared else len(counts), p=weight / weight.sum())
            return np.broadcast_to(drawn, len(counts))

        decides, lines = noise(), {}
        prints = noise() if again else decides
        for (group, n), z, printed in zip(counts.items(), decides, prints):
            if not hide(n + z, n, k):
                lines[group] = int(n if exact else n + printed)
        return {group: lines[group] for group in sorted(lines)}

    return publish


PUBLISH = publishing()


def in_order(order):
    """The right lines in another order, `order(lines, counts)`."""
    return then(PUBLISH, lambda lines, table, rng: {group: lines[group] for group in order(lines, table[0])})


def exact(counts, epsilon, k):
    return {group: n for group, n in counts.items() if n > k}


def exact_thousands(lines, table, rng):
    return {group: table[0][group] if table[0][group] > 1000 else y for group, y in lines.items()}


def by_rejection(counts, epsilon, k, rng):
    """Discrete Laplace noise, drawn again where it is too large; in the order of the noisy counts."""
    noise = geometric(rng, 1 / epsilon, len(counts))
    while (large := np.abs(noise) > k).any():
        noise[large] = geometric(rng, 1 / epsilon, large.sum())
    lines = [(group, float(n + z)) for (group, n), z in zip(counts.items(), noise) if n + z > k]
    return dict(sorted(lines, key=lambda line: (-line[1], line[0])))


def by_inverse(counts, epsilon, k, rng):
    """From one uniform number per group, by the distribution function; shuffled."""
    x = np.arange(-k, k + 1)
    reach = np.cumsum(np.exp(-epsilon * np.abs(x)))
    names = list(counts)
    noise = x[np.searchsorted(reach, rng.random(len(names)) * reach[-1])]
    lines = [(name, counts[name] + z) for name, z in zip(names, noise) if counts[name] + z > k]
    return {lines[i][0]: lines[i][1] for i in rng.permutation(len(lines))}


def quick_sort(lines, counts):
    """By noisy count, in the way of pandas: where they are equal, the places in the dict decide more or less."""
    noisy = pd.Series({group: lines[group] for group in counts if group in lines}, dtype=float)
    return noisy.sort_values(ascending=False).index


def without_noise(public):
    """The right release, and exact counts where `public(count)` holds."""
    def publish(counts, epsilon, k, rng):
        lines = PUBLISH({group: n for group, n in counts.items() if not public(n)}, epsilon, k, rng)
        return dict(sorted((lines | {group: n for group, n in counts.items() if public(n)}).items()))

    return publish


def straddles(limit, order=lambda n, top: n <= top):
    """Two loops: the groups above `limit(k)` come first, the others after them."""
    return then(PUBLISH, lambda lines, table, rng:
                dict(sorted(lines.items(), key=lambda line: (order(table[0][line[0]], limit(table[2])), line[0]))))


def exact_where(condition):
    """Exact counts of the groups above k for which `condition(n, counts, epsilon, k)` holds."""
    def publish(counts, epsilon, k, rng):
        told = {group: n for group, n in counts.items() if n > k and condition(n, counts, epsilon, k)}
        return dict(sorted({**PUBLISH(counts, epsilon, k, rng), **told}.items()))

    return publish


def type_tells(lines, table, rng):
    return {group: y if table[0][group] > 2 * table[2] else float(y) for group, y in lines.items()}


def redrawn_until_positive(counts, epsilon, k, rng):
    x, groups = np.arange(-k, k + 1), sorted(counts)
    weight, true = np.exp(-epsilon * np.abs(x)), np.array([counts[group] for group in groups], dtype=int)
    noisy = np.full(len(groups), -1)
    while (below := noisy < 0).any():
        noisy[below] = true[below] + rng.choice(x, size=below.sum(), p=weight / weight.sum())
    return {group: int(y) for group, y in zip(groups, noisy) if y > k}


def signs_of_neighbours(counts, epsilon, k, rng):
    """Two groups in turn share the sign of their noise."""
    x, groups = np.arange(-k, k + 1), sorted(counts)
    weight, sign = np.exp(-epsilon * np.abs(x)), np.repeat(rng.choice([-1, 1], len(groups)), 2)[:len(groups)]
    noise = sign * np.abs(rng.choice(x, size=len(groups), p=weight / weight.sum()))
    return {group: int(counts[group] + z) for group, z in zip(groups, noise) if counts[group] + z > k}


def uncut_above_2k(counts, epsilon, k, rng):
    """A group above 2k cannot be hidden, so its noise is not cut off; a group of 2k shows the difference."""
    large = {group: n for group, n in counts.items() if n > 2 * k}
    lines = PUBLISH({group: n for group, n in counts.items() if n <= 2 * k}, epsilon, k, rng)
    uncut = zip(large.items(), geometric(rng, 1 / epsilon, len(large)))
    return dict(sorted((lines | {group: int(n + z) for (group, n), z in uncut if n + z > k}).items()))


def kept_noise():
    """One noise per group for all calls."""
    known = {}

    def publish(counts, epsilon, k, rng):
        x = np.arange(-k, k + 1)
        weight = np.exp(-epsilon * np.abs(x))
        noise = rng.choice(x, size=len(counts), p=weight / weight.sum())
        noisy = {g: counts[g] + known.setdefault((g, k), z) for g, z in zip(sorted(counts), noise)}
        return {g: y for g, y in noisy.items() if y > k}

    return publish


def limit(m, r, epsilon, delta):
    scale = m * r / epsilon
    return scale, r - scale * math.log(-2 * math.expm1(math.log1p(-delta) / m))


def with_dplib(m, r, epsilon, delta):
    return partitions.laplace_threshold(epsilon=epsilon, delta=delta, num_groups=m, per_group=r)


def exact_delta(epsilon, sigma, threshold, m):
    p, worst = ndtr((threshold - 1) / sigma), 0.0
    for lone in range(m + 1):
        w, mu = p**lone, math.sqrt(m - lone) / sigma
        away = epsilon - math.log(w)
        shared = ndtr(mu / 2 - away / mu) - math.exp(away) * ndtr(-mu / 2 - away / mu) if mu else 0.0
        worst = max(worst, 1 - w + w * shared)
    return worst


def alone(sigma, threshold, m=1):
    return 1 - ndtr((threshold - 1) / sigma) ** m


def gaussian_part(epsilon, sigma, m):
    mu = math.sqrt(m) / sigma
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu) if m else 0.0


def the_two_ends(epsilon, sigma, threshold, m):
    """One of the two ends is the worst."""
    return max(alone(sigma, threshold, m), gaussian_part(epsilon, sigma, m))


def unshifted(e, s, t, m):
    return max(alone(s, t, j) + (1 - alone(s, t, j)) * gaussian_part(e, s, m - j) for j in range(m + 1))


def without_the_factor(e, s, t, m):
    return max(alone(s, t, j) + gaussian_part(e - j * math.log(1 - alone(s, t)), s, m - j) for j in range(m + 1))


def pairs(table):
    return table.drop_duplicates(["user", "film"])


def shuffled(table, rng):
    return table.sample(frac=1, random_state=rng)


def first(table, most):
    return table.groupby("user").head(most)


def by_lot(table, most, rng):
    return first(shuffled(pairs(table), rng), most)


def by_places(table, most, rng):
    """A random number for each pair, and the rank of it within the user; the index in disorder."""
    drawn = pairs(table).assign(lot=lambda t: rng.random(len(t)))
    return drawn[drawn.groupby("user").lot.rank() <= most].drop(columns="lot")


def by_hash(table, most, rng):
    """A fixed key and no chance at all."""
    lots = [hashlib.sha256(f"key {u} {f}".encode()).hexdigest() for u, f in zip(pairs(table).user, pairs(table).film)]
    return first(pairs(table).assign(lot=lots).sort_values("lot"), most)


def with_a_loop(table, most, rng):
    if len(table) >= 100:
        return by_lot(table, most, rng)
    rows = []
    for user in dict.fromkeys(table.user):
        films = sorted(set(table.film[table.user == user]))
        rows += [(user, films[i]) for i in rng.permutation(len(films))[:most]]
    return pd.DataFrame(rows, columns=["user", "film"])


def viewers(table):
    return pairs(table).groupby("film").user.transform("count")


def popular_first(table, most, rng):
    lots = -viewers(table) - 0.5 * rng.random(len(pairs(table)))
    return first(pairs(table).assign(lot=lots).sort_values("lot"), most)


def by_weight(table, most, rng):
    """Softer than 'popular first': a film's chance grows with its viewers."""
    lots = rng.random(len(pairs(table))) ** (1 / viewers(table))
    return first(pairs(table).assign(lot=-lots).sort_values("lot"), most)


def balanced(table, most, rng):
    """Each user keeps the films that the users before kept least often."""
    kept, rows = {}, []
    for user, films in shuffled(pairs(table), rng).groupby("user", sort=False).film:
        for film in sorted(films, key=lambda film: (kept.get(film, 0), rng.random()))[:most]:
            kept[film] = kept.get(film, 0) + 1
            rows.append((user, film))
    return pd.DataFrame(rows, columns=["user", "film"])


def shared_in_blocks(size, turned=False, order=sorted):
    """As many users in turn share one random number; `turned`: every second takes the other end of the list."""
    def keep_some(table, most, rng):
        films = {user: sorted(own, key=str) for user, own in pairs(table).groupby("user").film}
        coins, rows = rng.integers(60, size=len(films)), []
        for i, user in enumerate(order(films)):
            start = coins[i // size] % len(films[user])
            start = len(films[user]) - 1 - start if turned and i % 2 else start
            rows += [(user, film) for film in (films[user] * 2)[start:start + min(most, len(films[user]))]]
        return pd.DataFrame(rows, columns=["user", "film"])

    return keep_some


def one_lot(table, most, rng):
    lots = {film: lot for film, lot in zip(sorted(set(table.film), key=str), rng.permutation(table.film.nunique()))}
    starts = {"first": rng.random(), "secon": rng.random()}
    drawn = pairs(table).assign(lot=lambda t: [starts.get(str(film)[:5], lots[film]) for film in t.film])
    return first(drawn.sort_values("lot"), most)


def alphabetical(table, most, rng):
    return first(pairs(table).sort_values("film", key=lambda films: films.astype(str)), most)


SOLUTIONS = [
    (check.grp_leaks, lambda seed: TELLS),
    (check.grp_optimal, lambda seed: keep),
    (check.grp_release, own_luck(PUBLISH)),
    (check.grp_several, lambda seed: limit),
    (check.grp_gaussian, lambda seed: exact_delta),
    (check.grp_lot, own_luck(by_lot)),
]

UNUSUAL = [
    (check.grp_leaks, {name: np.bool_(leaks) for name, leaks in TELLS.items()}),
    (check.grp_optimal, closed),
    (check.grp_optimal, by_walking_back),
    (check.grp_optimal, lambda n, epsilon, delta: keep(int(n), epsilon, delta)),
    (check.grp_release, by_rejection),
    (check.grp_release, by_inverse),
    (check.grp_release, seeded(own_luck(in_order(lambda lines, counts: sorted(lines, reverse=True))))),
    (check.grp_several, with_dplib),
    (check.grp_several, lambda *case: list(limit(*case))),
    (check.grp_several, lambda *case: np.array(limit(*case))),
    (check.grp_gaussian, the_two_ends),
    (check.grp_gaussian,
     lambda e, s, t, m: partitions.threshold_delta("gaussian", t, epsilon=e, scale=s, num_groups=m)),
    (check.grp_gaussian, lambda *case: np.float64(exact_delta(*case))),
    (check.grp_lot, by_places),
    (check.grp_lot, by_hash),
    (check.grp_lot, with_a_loop),
    (check.grp_lot, lambda table, most, rng:
        partitions.bound(table, person="user", group="film", num_groups=most, salt="2026")),
]

LEAKS = [
    (check.grp_release, without_noise(lambda n: n > 300)),
    (check.grp_release, then(PUBLISH, exact_thousands)),
    (check.grp_release, where(lambda counts, epsilon, k: len(counts) > 1, PUBLISH, exact)),
    (check.grp_release, where(lambda counts, epsilon, k: epsilon < 1.5, PUBLISH, without_noise(lambda n: True))),
    (check.grp_release, kept_noise()),
    (check.grp_release, in_order(lambda lines, counts: sorted(lines, key=lambda group: (-counts[group], group)))),
    (check.grp_release, in_order(lambda lines, counts: [group for group in counts if group in lines])),
    (check.grp_release,
     in_order(lambda lines, counts: sorted((g for g in counts if g in lines), key=lambda g: -lines[g]))),
    (check.grp_release, in_order(quick_sort)),
    (check.grp_release, publishing(wide=0.9)),
    *((check.grp_release, straddles(limit)) for limit in (
        lambda k: 2 * k, lambda k: 2 * k - 1, lambda k: 2 * k + 1, lambda k: k, lambda k: k - 1, lambda k: 100)),
    (check.grp_release, straddles(lambda k: 2 * k, lambda n, limit: n > limit)),
    (check.grp_release, straddles(lambda k: 2 * k, lambda n, limit: n % 2)),
    (check.grp_release, then(PUBLISH, type_tells)),
    (check.grp_release, exact_where(lambda n, counts, epsilon, k: n > 10_000)),
    (check.grp_release, exact_where(lambda n, counts, epsilon, k: epsilon < 0.1)),
    (check.grp_release, exact_where(lambda n, counts, epsilon, k: epsilon > 2)),
    (check.grp_release, exact_where(lambda n, counts, epsilon, k: k == 1)),
    (check.grp_release, exact_where(lambda n, counts, epsilon, k: len(counts) == 2)),
    (check.grp_release, exact_where(lambda n, counts, epsilon, k: 10 <= len(counts) <= 1000)),
    (check.grp_release, given(PUBLISH, epsilon=lambda epsilon: 1 / max(1, int(1 / epsilon)))),
    (check.grp_release, redrawn_until_positive),
    (check.grp_release, signs_of_neighbours),
    (check.grp_release, uncut_above_2k),
    (check.grp_lot, lambda table, most, rng: by_lot(table, most, 3)),
    (check.grp_lot, lambda table, most, rng: by_lot(table, most, len(table))),
    (check.grp_lot, popular_first),
    (check.grp_lot, by_weight),
    (check.grp_lot, lambda table, most, rng: popular_first(table.iloc[::-1], most, rng)),
    (check.grp_lot, where(lambda table, most: len(table) < 1000, popular_first, by_lot)),
    (check.grp_lot, where(lambda table, most: len(table) < 30, popular_first, by_lot)),
    (check.grp_lot, where(lambda table, most: most > 1, popular_first, by_lot)),
    (check.grp_lot, balanced),
    (check.grp_lot, shared_in_blocks(2)),
    (check.grp_lot, shared_in_blocks(10)),
    (check.grp_lot, shared_in_blocks(2, turned=True)),
    (check.grp_lot, shared_in_blocks(10**6, turned=True)),
    (check.grp_lot, shared_in_blocks(2, order=lambda films: films)),
]

WRONG = [
    (check.grp_leaks, {**TELLS, "minimum": False}, "four people"),
    (check.grp_leaks, {**TELLS, "floor": True}, "0.009"),
    (check.grp_leaks, {**TELLS, "sorted": False}, "changes their order"),
    (check.grp_leaks, {**TELLS, "public": True}, "was there before the table"),
    (check.grp_leaks, {**TELLS, "rarest": False}, "which of them is hidden"),
    (check.grp_leaks, {**TELLS, "rarest": "yes"}, "True or False"),
    (check.grp_leaks, {"minimum": True}, "missing"),
    (check.grp_optimal, laplace_threshold, "Laplace noise: private, but less"),
    (check.grp_optimal, growing_only, "only the first inequality"),
    (check.grp_optimal, lambda n, e, d: keep(n + 1, e, d), "π(0) is 0"),
    (check.grp_optimal, lambda n, e, d: keep(max(n - 1, 0), e, d), "one person too few"),
    (check.grp_optimal, lambda n, e, d: min(1.0, 1.02 * keep(n, e, d)), "not private"),
    (check.grp_optimal, lambda n, e, d: 0.98 * keep(n, e, d), "hides groups without need"),
    (check.grp_optimal, turned_at_half, "not private between 10 and 11"),
    (check.grp_optimal, lambda n, e, d: keep(n, e, d) * (1.02 if n > 30 else 1), "a probability is at most 1"),
    (check.grp_optimal, lambda *case: keep(*case, late=0), "left out of the second inequality"),
    (check.grp_optimal, lambda n, e, d: None if n else 0.0, "returned None"),
    (check.grp_release, publishing(again=True), "a second noise"),
    (check.grp_release, publishing(exact=True), "exact"),
    (check.grp_release, publishing(hide=lambda y, n, k: y < k), "exactly k is printed"),
    (check.grp_release, publishing(hide=lambda y, n, k: y <= k + 1), "count of k + 1 is also held back"),
    (check.grp_release, publishing(hide=lambda y, n, k: n < 2 or y <= k), "left out because its true count is 1"),
    (check.grp_release, publishing(hide=lambda y, n, k: y <= max(k, 5)), "(group of 3, k = 3)"),
    (check.grp_release, publishing(hide=lambda y, n, k: False), "nothing is held back"),
    (check.grp_release, publishing(hide=lambda y, n, k: y <= 0), "every positive"),
    (check.grp_release, publishing(hide=lambda y, n, k: n <= k), "the true count is compared with k"),
    (check.grp_release, publishing(cut=False), "not cut off at k"),
    (check.grp_release, publishing(wide=0.5), "half the scale"),
    (check.grp_release, publishing(wide=2.0), "twice the scale"),
    (check.grp_release, publishing(shared=True), "one noise for all"),
    (check.grp_release, lambda counts, epsilon, k, rng: list(counts), "expected a dict"),
    (check.grp_several, lambda m, r, e, d: (r / e, limit(m, r, m * e, d)[1]), "for one group"),
    (check.grp_several, lambda m, r, e, d: (m / e, limit(m, r, r * e, d)[1]), "for one row"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, limit(m, r, e, d)[1] - r + 1), "not 1"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, limit(m, r, e, d)[1] - r), "without r"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, r - m * r / e * math.log(2 * d)), "each of the m lone groups"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, r - m * r / e * math.log(2 * d / m)), "δ/m is safe"),
    (check.grp_several, lambda m, r, e, d: (2 * m * r / e, 99.0), "is enough"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, 99.0), "the δ of this threshold is"),
    (check.grp_several,
     lambda m, r, e, d: partitions.gaussian_threshold(epsilon=e, delta=d, num_groups=m, per_group=r), "Gaussian"),
    (check.grp_several, lambda m, r, e, d: limit(m, r, e, d)[1], "scale and threshold"),
    (check.grp_gaussian, lambda e, s, t, m: gaussian_part(e, s, m) + alone(s, t, m), "added up"),
    (check.grp_gaussian, lambda e, s, t, m: gaussian_part(e, s, m), "the noise alone"),
    (check.grp_gaussian, lambda e, s, t, m: alone(s, t, m), "alone everywhere"),
    (check.grp_gaussian, lambda e, s, t, m: max(alone(s, t, m), gaussian_part(e, s, m**2)), "not by m"),
    (check.grp_gaussian, lambda e, s, t, m: max(alone(s, t, m), gaussian_part(e, s, 1)), "not by 1"),
    (check.grp_gaussian, lambda e, s, t, m: max(alone(s, t), gaussian_part(e, s, m)), "there may be m"),
    (check.grp_gaussian, unshifted, "at ε - j ln p, not at ε"),
    (check.grp_gaussian, without_the_factor, "the factor p^j is missing"),
    (check.grp_gaussian, lambda e, s, t, m: exact_delta(e, s, t, m) / 2, "a false promise"),
    (check.grp_gaussian, lambda e, s, t, m: exact_delta(e, s, t, m) if m > 1 else alone(s, t), "alone everywhere"),
    (check.grp_gaussian, lambda e, s, t, m: exact_delta(e, s, t, m) if t > 1 else 0.5, "a false promise"),
    (check.grp_lot, popular_first, "what others have seen"),
    (check.grp_lot, lambda table, most, rng: first(pairs(table), most), "the order of the table"),
    (check.grp_lot, lambda table, most, rng: by_lot(table, most, 3), "the places of the rows"),
    (check.grp_lot, lambda table, most, rng: by_lot(table, most, len(table)), "or on the size of the table"),
    (check.grp_lot, one_lot, "one random choice"),
    (check.grp_lot, alphabetical, "not fair"),
    (check.grp_lot, lambda table, most, rng: first(pairs(shuffled(table, rng)), most), "not fair"),
    (check.grp_lot, lambda table, most, rng: first(shuffled(table, rng), most), "kept twice"),
    (check.grp_lot, lambda table, most, rng: pairs(first(shuffled(table, rng), most)), "could be"),
    (check.grp_lot, lambda table, most, rng: shuffled(pairs(table), rng).head(4), "are kept"),
    (check.grp_lot, lambda table, most, rng: by_lot(table, most + 1, rng), "are kept"),
    (check.grp_lot, lambda table, most, rng: len(table), "expected a table"),
]
