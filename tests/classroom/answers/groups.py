"""The checkers of the section on groups that nobody listed: stubs, solutions, unusual right answers, leaks, and mistakes with what they are told."""
import hashlib
import math

import numpy as np
import pandas as pd
import pytest
from checking import seeded
from scipy.special import ndtr

from dplib import partitions
from provable_privacy import check

TELLS = {"minimum": True, "occurring": True, "floor": False, "sorted": True, "public": False, "rarest": True}


def keep(n, epsilon, delta):
    chance = 0.0
    for _ in range(n):
        chance = min(math.exp(epsilon) * chance + delta, 1 - math.exp(-epsilon) * (1 - chance - delta), 1.0)
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
    chance = 0.0
    for _ in range(n):
        chance = math.exp(epsilon) * chance + delta if chance < 0.5 else min(1.0, 1 - math.exp(-epsilon) * (1 - chance - delta))
    return chance


def publishing(*, wide=1.0, hide=lambda y, n, k: y <= k, again=False, exact=False, cut=True, shared=False, seed=None,
               order=lambda lines, counts: sorted(lines)):
    own = None if seed is None else np.random.default_rng(seed)

    def publish(counts, epsilon, k, rng):
        rng, size = own or rng, len(counts)
        x = np.arange(-k, k + 1)
        weight = np.exp(-epsilon / wide * np.abs(x))

        def noise():
            if not cut:
                p = -math.expm1(-epsilon)
                return rng.geometric(p, size) - rng.geometric(p, size)
            return rng.choice(x, size=1 if shared else size, p=weight / weight.sum()) + np.zeros(size, dtype=int)

        decides, lines = noise(), {}
        prints = noise() if again else decides
        for (group, n), z, printed in zip(counts.items(), decides, prints):
            if not hide(n + z, n, k):
                lines[group] = int(n if exact else n + printed)
        return {group: lines[group] for group in order(lines, counts)}

    return publish


def by_rejection(counts, epsilon, k, rng):
    """Discrete Laplace noise, drawn again where it is too large; in the order of the noisy counts."""
    p, lines = -math.expm1(-epsilon), {}
    size = len(counts)
    noise = rng.geometric(p, size) - rng.geometric(p, size)
    while (large := np.abs(noise) > k).any():
        noise[large] = rng.geometric(p, large.sum()) - rng.geometric(p, large.sum())
    for (group, n), z in zip(counts.items(), noise):
        if n + z > k:
            lines[group] = float(n + z)
    return dict(sorted(lines.items(), key=lambda line: (-line[1], line[0])))


def by_inverse(counts, epsilon, k, rng):
    """From one uniform number per group, by the distribution function; shuffled."""
    x = np.arange(-k, k + 1)
    reach = np.cumsum(np.exp(-epsilon * np.abs(x)))
    names = list(counts)
    noise = x[np.searchsorted(reach, rng.random(len(names)) * reach[-1])]
    lines = [(name, counts[name] + z) for name, z in zip(names, noise) if counts[name] + z > k]
    return {lines[i][0]: lines[i][1] for i in rng.permutation(len(lines))}


def quick_sort(counts, epsilon, k, rng):
    """By noisy count, in the way of pandas: where they are equal, the places in the dict decide more or less."""
    lines = pd.Series(publishing(order=lambda lines, counts: [group for group in counts if group in lines])(counts, epsilon, k, rng), dtype=float)
    return lines.sort_values(ascending=False).to_dict()


def weak_for_large(counts, epsilon, k, rng):
    """No noise on groups of more than 300 people: 'there it does not matter'."""
    small = publishing()({g: n for g, n in counts.items() if n <= 300}, epsilon, k, rng)
    return {g: ({**counts, **small})[g] for g in sorted([*small, *(g for g, n in counts.items() if n > 300)])}


def kept_noise():
    """One noise per group for all calls."""
    known = {}

    def publish(counts, epsilon, k, rng):
        x = np.arange(-k, k + 1)
        weight = np.exp(-epsilon * np.abs(x))
        noisy = {g: counts[g] + known.setdefault((g, k), rng.choice(x, p=weight / weight.sum())) for g in sorted(counts)}
        return {g: y for g, y in noisy.items() if y > k}

    return publish


def exact_alone(counts, epsilon, k, rng):
    """The only group of a table without noise."""
    return publishing()(counts, epsilon, k, rng) if len(counts) > 1 else {g: n for g, n in counts.items() if n > k}


def weak_for_thousands(counts, epsilon, k, rng):
    noisy = publishing()(counts, epsilon, k, rng)
    return {g: counts[g] if counts[g] > 1000 else y for g, y in noisy.items()}


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


def the_two_ends(epsilon, sigma, threshold, m):
    """In all cases that anybody computed, one of the two ends is the worst."""
    mu = math.sqrt(m) / sigma
    return max(1 - ndtr((threshold - 1) / sigma) ** m, ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def gaussian_part(epsilon, sigma, m):
    mu = math.sqrt(m) / sigma
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def by_lot(table, most, rng):
    pairs = table[["user", "film"]].drop_duplicates()
    return pairs.sample(frac=1, random_state=rng).groupby("user").head(most)


def by_places(table, most, rng):
    """A number by chance for each pair, and the rank of it within the user; the index in disorder."""
    pairs = table.drop_duplicates(["user", "film"]).assign(lot=lambda t: rng.random(len(t)))
    return pairs[pairs.groupby("user").lot.rank() <= most].drop(columns="lot")


def by_hash(table, most, rng):
    """A fixed key and no chance at all."""
    pairs = table.drop_duplicates(["user", "film"])
    lots = [hashlib.sha256(f"key {u} {f}".encode()).hexdigest() for u, f in zip(pairs.user, pairs.film)]
    return pairs.assign(lot=lots).sort_values("lot").groupby("user").head(most)


def with_a_loop(table, most, rng):
    rows = []
    for user in dict.fromkeys(table.user):
        films = sorted(set(table.film[table.user == user])) if len(table) < 100 else None
        if films is None:
            return by_lot(table, most, rng)
        rows += [(user, films[i]) for i in rng.permutation(len(films))[:most]]
    return pd.DataFrame(rows, columns=["user", "film"])


def popular_first(table, most, rng):
    pairs = table.drop_duplicates(["user", "film"])
    size = pairs.groupby("film").user.transform("count") + 0.5 * rng.random(len(pairs))
    return pairs.assign(size=-size).sort_values("size").groupby("user").head(most)


def by_weight(table, most, rng):
    """Softer than 'popular first': a film's chance grows with its viewers."""
    pairs = table.drop_duplicates(["user", "film"])
    size = pairs.groupby("film").user.transform("count")
    return pairs.assign(lot=rng.random(len(pairs)) ** (1 / size)).sort_values("lot", ascending=False).groupby("user").head(most)


def first_rows(table, most, rng):
    return table.drop_duplicates(["user", "film"]).groupby("user").head(most)


def seed_inside(table, most, rng):
    return table.drop_duplicates(["user", "film"]).sample(frac=1, random_state=3).groupby("user").head(most)


def seed_of_the_size(table, most, rng):
    return table.drop_duplicates(["user", "film"]).sample(frac=1, random_state=len(table)).groupby("user").head(most)


def one_lot(table, most, rng):
    pairs = table.drop_duplicates(["user", "film"])
    films = pd.Series({film: place for film, place in zip(sorted(set(pairs.film), key=str), rng.permutation(pairs.film.nunique()))}, dtype=float)
    starts = {"first": rng.random(), "secon": rng.random()}
    return pairs.assign(lot=[starts.get(str(f)[:5], films[f]) for f in pairs.film]).sort_values("lot").groupby("user").head(most)


def alphabetical(table, most, rng):
    return table.drop_duplicates(["user", "film"]).sort_values("film", key=lambda films: films.astype(str)).groupby("user").head(most)


def rows_not_pairs(table, most, rng):
    return table.sample(frac=1, random_state=rng).groupby("user").head(most)


def whole_table(table, most, rng):
    return table.drop_duplicates().sample(frac=1, random_state=rng).head(4)


def shuffled_rows(table, most, rng):
    """A film that was rated twice has two places in the lot."""
    return table.sample(frac=1, random_state=rng).drop_duplicates(["user", "film"]).groupby("user").head(most)


def rows_then_pairs(table, most, rng):
    return table.sample(frac=1, random_state=rng).groupby("user").head(most).drop_duplicates()


def one_too_many(table, most, rng):
    return by_lot(table, most + 1, rng)


SOLUTIONS = [
    (check.grp_leaks, lambda seed: TELLS), (check.grp_optimal, lambda seed: keep), (check.grp_release, lambda seed: publishing(seed=seed)),
    (check.grp_several, lambda seed: limit), (check.grp_gaussian, lambda seed: exact_delta),
    (check.grp_lot, lambda seed: lambda table, most, rng: by_lot(table, most, np.random.default_rng([seed, len(table), rng.integers(10**9)]))),
]  # fmt: skip

UNUSUAL = [
    (check.grp_leaks, {name: np.bool_(leaks) for name, leaks in TELLS.items()}),
    (check.grp_optimal, closed), (check.grp_optimal, by_walking_back), (check.grp_optimal, lambda n, epsilon, delta: keep(int(n), epsilon, delta)),
    (check.grp_release, by_rejection), (check.grp_release, by_inverse),
    (check.grp_release, seeded(lambda seed: publishing(seed=seed, order=lambda lines, counts: sorted(lines, reverse=True)))),
    (check.grp_several, with_dplib), (check.grp_several, lambda *arguments: list(limit(*arguments))),
    (check.grp_several, lambda *arguments: np.array(limit(*arguments))),
    (check.grp_gaussian, the_two_ends), (check.grp_gaussian, lambda e, s, t, m: partitions.threshold_delta("gaussian", t, epsilon=e, scale=s, num_groups=m)),
    (check.grp_gaussian, lambda *arguments: np.float64(exact_delta(*arguments))),
    (check.grp_lot, by_places), (check.grp_lot, by_hash), (check.grp_lot, with_a_loop),
    (check.grp_lot, lambda table, most, rng: partitions.bound(table, person="user", group="film", num_groups=most, salt="2026")),
]  # fmt: skip

LEAKS = [
    (check.grp_release, weak_for_large), (check.grp_release, kept_noise()),
    (check.grp_release, publishing(order=lambda lines, counts: sorted(lines, key=lambda group: (-counts[group], group)))),
    (check.grp_release, publishing(order=lambda lines, counts: [group for group in counts if group in lines])),
    (check.grp_release, publishing(order=lambda lines, counts: sorted((g for g in counts if g in lines), key=lambda g: -lines[g]))),
    (check.grp_release, quick_sort),
    (check.grp_release, exact_alone), (check.grp_release, weak_for_thousands), (check.grp_lot, seed_inside), (check.grp_lot, seed_of_the_size),
    (check.grp_release, lambda counts, epsilon, k, rng: publishing()(counts, epsilon, k, rng) if epsilon < 1.5 else dict(sorted(counts.items()))),
    (check.grp_release, publishing(wide=0.9)), (check.grp_lot, popular_first), (check.grp_lot, by_weight),
    (check.grp_lot, lambda table, most, rng: popular_first(table.iloc[::-1], most, rng)),
]  # fmt: skip

WRONG = [
    (check.grp_leaks, {**TELLS, "minimum": False}, "four people"),
    (check.grp_leaks, {**TELLS, "floor": True}, "0.009"),
    (check.grp_leaks, {**TELLS, "sorted": False}, "turns their order"),
    (check.grp_leaks, {**TELLS, "rarest": "yes"}, "expected True or False"),
    (check.grp_leaks, {"minimum": True}, "missing"),
    (check.grp_optimal, laplace_threshold, "Laplace noise: private, and less"),
    (check.grp_optimal, growing_only, "only the first inequality"),
    (check.grp_optimal, lambda n, e, d: keep(n + 1, e, d), "π(0) is 0"),
    (check.grp_optimal, lambda n, e, d: keep(max(n - 1, 0), e, d), "one person too few"),
    (check.grp_optimal, lambda n, e, d: min(1.0, 1.02 * keep(n, e, d)), "not private"),
    (check.grp_optimal, lambda n, e, d: 0.98 * keep(n, e, d), "hidden for nothing"),
    (check.grp_optimal, turned_at_half, "not private, between 10 and 11"),
    (check.grp_optimal, lambda n, e, d: 1.02 * keep(n, e, d) if n > 30 else keep(n, e, d), "a probability is at most 1"),
    (check.grp_optimal, lambda n, e, d: None if n else 0.0, "returned None"),
    (check.grp_release, publishing(again=True), "a second noise"),
    (check.grp_release, publishing(exact=True), "exact"),
    (check.grp_release, publishing(hide=lambda y, n, k: y < k), "exactly k"),
    (check.grp_release, publishing(hide=lambda y, n, k: y <= k + 1), "count of k + 1 is held back, too"),
    (check.grp_release, publishing(hide=lambda y, n, k: n < 2 or y <= k), "left out by its true count"),
    (check.grp_release, publishing(hide=lambda y, n, k: y <= max(k, 5)), "(group of 3, k = 3)"),
    (check.grp_release, publishing(hide=lambda y, n, k: False), "nothing is held back"),
    (check.grp_release, publishing(hide=lambda y, n, k: y <= 0), "every positive"),
    (check.grp_release, publishing(hide=lambda y, n, k: n <= k), "the true count is compared with k"),
    (check.grp_release, publishing(cut=False), "not cut off at k: what one person alone makes possible then has more than δ"),
    (check.grp_release, publishing(wide=0.5), "half the scale"),
    (check.grp_release, publishing(wide=2.0), "twice the scale"),
    (check.grp_release, publishing(shared=True), "one noise for all"),
    (check.grp_release, lambda counts, epsilon, k, rng: list(counts), "expected a dict"),
    (check.grp_several, lambda m, r, e, d: (r / e, limit(1, r, e, -math.expm1(math.log1p(-d) / m))[1]), "for one group"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, limit(m, r, e, d)[1] - r + 1), "not 1"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, limit(m, r, e, d)[1] - r), "without r"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, r - m * r / e * math.log(2 * d)), "each of the m lone groups"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, r - m * r / e * math.log(2 * d / m)), "δ/m is safe"),
    (check.grp_several, lambda m, r, e, d: (2 * m * r / e, 99.0), "is enough"),
    (check.grp_several, lambda m, r, e, d: (m * r / e, 99.0), "the δ of this threshold is"),
    (check.grp_several, lambda m, r, e, d: partitions.gaussian_threshold(epsilon=e, delta=d, num_groups=m, per_group=r), "Gaussian"),
    (check.grp_several, lambda m, r, e, d: limit(m, r, e, d)[1], "scale and threshold"),
    (check.grp_gaussian, lambda e, s, t, m: gaussian_part(e, s, m) + 1 - ndtr((t - 1) / s) ** m, "added up"),
    (check.grp_gaussian, lambda e, s, t, m: gaussian_part(e, s, m), "the noise alone"),
    (check.grp_gaussian, lambda e, s, t, m: 1 - ndtr((t - 1) / s) ** m, "alone everywhere"),
    (check.grp_gaussian, lambda e, s, t, m: max(1 - ndtr((t - 1) / s) ** m, gaussian_part(e, s, m**2)), "not by m"),
    (check.grp_gaussian, lambda e, s, t, m: max(1 - ndtr((t - 1) / s), gaussian_part(e, s, m)), "there may be m"),
    (check.grp_gaussian, lambda e, s, t, m: exact_delta(e, s, t, m) / 2, "a false promise"),
    (check.grp_gaussian, lambda e, s, t, m: exact_delta(e, s, t, m) if m > 1 else 1 - ndtr((t - 1) / s), "too small, a false promise"),
    (check.grp_lot, popular_first, "what others have seen"),
    (check.grp_lot, first_rows, "the order of the table"),
    (check.grp_lot, seed_inside, "the places in the table"),
    (check.grp_lot, seed_of_the_size, "or to its size"),
    (check.grp_gaussian, lambda e, s, t, m: exact_delta(e, s, t, m) if t > 1 else 0.5, "a false promise"),
    (check.grp_lot, one_lot, "one lot for all"),
    (check.grp_lot, alphabetical, "not fair"),
    (check.grp_lot, shuffled_rows, "not fair"),
    (check.grp_lot, rows_not_pairs, "kept twice"),
    (check.grp_lot, rows_then_pairs, "could be"),
    (check.grp_lot, whole_table, "are kept"),
    (check.grp_lot, one_too_many, "are kept"),
    (check.grp_lot, lambda table, most, rng: len(table), "expected a table"),
]  # fmt: skip


def unshifted(epsilon, sigma, threshold, m):
    p = ndtr((threshold - 1) / sigma)
    return max(1 - p**j + p**j * gaussian_part(epsilon, sigma, m - j) if j < m else 1 - p**m for j in range(m + 1))


def without_the_factor(epsilon, sigma, threshold, m):
    p = ndtr((threshold - 1) / sigma)

    def shared(epsilon, mu):
        return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu) if mu else 0.0

    return max(1 - p**j + shared(epsilon - j * math.log(p), math.sqrt(m - j) / sigma) for j in range(m + 1))


@pytest.mark.parametrize("answer, piece", [(unshifted, "at ε - j ln p, not at ε"), (without_the_factor, "the factor p^j is missing")])
def test_a_mixture_that_is_computed_wrongly_is_named_though_the_ends_are_right(says, answer, piece):
    assert piece in says(check.grp_gaussian, answer)
