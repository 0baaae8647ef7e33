"""How fast dplib is beside its peers, on this machine, in one run.

    python3 -m venv .venv-bench && .venv-bench/bin/pip install -r benchmarks/requirements.txt
    .venv-bench/bin/python benchmarks/run.py

Each row: the ratio peer/dplib, the two times (the median of repeats), and the ratio that we ask for; below, how much is
published. The peer of a draw is OpenDP, whose samplers are exact and use a cryptographic generator: the comparison says
what class-room speed costs in rigour, not that anybody should use numpy's noise for a real release. Nothing here is a
test.
"""
import os
import statistics
import time
import tracemalloc

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pipeline_dp
from anonypy import Preserver
from dp_accounting.pld import privacy_loss_distribution as pld
from pycanon import anonymity as pycanon
from pydp.algorithms import partition_selection  # of python-dp; the package called pydp is another one
from scipy import sparse
from scipy.optimize import linprog

from dplib import anonymity, data, fdp, histograms, mechanisms, partitions, svt

dp.enable_features("contrib", "honest-but-curious")
MILLION = 1_000_000


def seconds(work, repeats=5):
    """Median seconds of `work()`."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def opendp_million(measurement, value, draws):
    """Seconds of a million draws by OpenDP, from fewer draws in one call."""
    return seconds(lambda: measurement([value] * draws), repeats=3) * MILLION / draws


def draws():
    zeros, integers = np.zeros(MILLION), np.zeros(MILLION, dtype=int)
    reals, counts = (dp.vector_domain(atom) for atom in (dp.atom_domain(T=float, nan=False), dp.atom_domain(T=int)))
    laplace = dp.m.make_laplace(reals, dp.l1_distance(T=float), scale=1.0)
    geometric = dp.m.make_laplace(counts, dp.l1_distance(T=int), scale=1.0)
    gaussian = dp.m.make_gaussian(counts, dp.l2_distance(T=int), scale=1.0)
    yield ("10^6 Laplace draws", seconds(lambda: mechanisms.laplace(zeros, sensitivity=1, epsilon=1.0)),
           opendp_million(laplace, 0.0, 50_000), 500)
    yield ("10^6 discrete Laplace draws", seconds(lambda: mechanisms.geometric(integers, sensitivity=1, epsilon=1.0)),
           opendp_million(geometric, 0, 100_000), 150)
    yield ("10^6 discrete Gaussian draws", seconds(lambda: mechanisms.discrete_gaussian(integers, sigma=1.0)),
           opendp_million(gaussian, 0, 50_000), 100)


def scan_loop(answers, threshold, epsilon, rng):
    """AboveThreshold as a textbook writes it, over a list of answers."""
    level = threshold + rng.laplace(scale=2 / epsilon)
    for index, answer in enumerate(answers):
        if answer + rng.laplace(scale=4 / epsilon) >= level:
            return index
    return None


def scans():
    rng = np.random.default_rng(1)
    answers = np.full(MILLION, -1e6)
    loop = seconds(lambda: scan_loop(answers.tolist(), 0, 1.0, rng), repeats=3)
    ours = seconds(lambda: svt.above_threshold(answers, threshold=0, sensitivity=1, epsilon=1.0, rng=rng))
    yield "AboveThreshold over 10^6 answers", ours, loop, 20
    answers[10] = 1e6
    early = seconds(lambda: svt.above_threshold(answers, threshold=0, sensitivity=1, epsilon=1.0, rng=rng), repeats=50)
    yield "early hit at index 10 of 10^6 (asked: under 1 ms)", early, 1e-3, 1


def clip_bound():
    """The search for a clip bound on capital gain: 30,000 candidates, each the difference of two clipped sums."""
    gain, rng = data.load("adult_like")["Capital Gain"], np.random.default_rng(2)
    bounds = range(1, 150_000, 5)

    def loop(candidates):                        # one lambda a candidate, as the source has it; here only some of them
        queries = [lambda column, b=b: column.clip(lower=0, upper=b).sum() - column.clip(lower=0, upper=b + 1).sum()
                   for b in candidates]
        level = 0 + rng.laplace(scale=2 / 0.1)
        return [query(gain) + rng.laplace(scale=4 / 0.1) >= level for query in queries]

    def at_once():
        ordered = np.sort(gain.to_numpy())
        answers = np.searchsorted(ordered, np.asarray(bounds), side="right") - len(ordered)       # -#{gain > b}
        return svt.above_threshold(answers, threshold=0, sensitivity=1, epsilon=0.1, rng=rng)

    some = list(bounds)[:: len(bounds) // 100]
    peer = seconds(lambda: loop(some), repeats=3) * len(bounds) / len(some)
    yield "clip-bound search, 30,000 candidates, 32,561 rows", seconds(at_once), peer, 1000


def selection():
    scores = np.random.default_rng(3).normal(size=100_000)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    noisy_max = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
    peer = seconds(lambda: noisy_max(scores))
    ours = seconds(lambda: mechanisms.report_noisy_max(scores, sensitivity=1, epsilon=1.0))
    yield "report_noisy_max over 10^5 candidates", ours, peer, 5


def unlisted():
    """A million groups that nobody listed: which of them appear, and with which counts.
    The peers are asked about some of them."""
    counts = pd.Series(np.random.default_rng(9).geometric(1 / 8, MILLION))
    strategy = partition_selection.create_partition_strategy("truncated_geometric", 1.0, 1e-6, 1)
    some, few = counts[:100_000].tolist(), dict(enumerate(counts[:20_000].tolist()))
    space = dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int)), dp.l01inf_distance(dp.absolute_distance(T=int))
    threshold = dp.m.make_laplace_threshold(*space, scale=1.0, threshold=15)

    def select():
        chance = partitions.selection_probability(counts.to_numpy(), epsilon=1.0, delta=1e-6)
        return counts.index[np.random.default_rng().random(MILLION) < chance]

    peer = seconds(lambda: [strategy.should_keep(n) for n in some], repeats=3) * 10
    yield "which of 10^6 groups appear (python-dp)", seconds(select), peer, 5
    yield ("their noisy counts (OpenDP)", seconds(lambda: partitions.release(counts, epsilon=1.0, delta=1e-6)),
           seconds(lambda: threshold(few), repeats=3) * 50, 50)


def published():
    """Films that appear with their noisy numbers of viewers, one person being in up to 20 of 600;
    means of ten releases."""
    most, share = 20, 0.5
    ratings = partitions.bound(data.load("ratings"), person="user", group="film", num_groups=most, salt="07")
    counts = ratings.groupby("film").size()
    ask = {"epsilon": 1.0, "delta": 1e-6, "noise": "gaussian", "num_groups": most}
    films = statistics.fmean(len(partitions.release(counts, **ask)) for _ in range(10))

    distance = dp.l02inf_distance(dp.absolute_distance(T=float))
    space = dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int)), distance

    def threshold(scale, limit):                     # share of delta for the noise, the rest for the threshold
        return dp.m.make_gaussian_threshold(*space, scale=scale, threshold=limit)

    def epsilon(scale):
        profile, _ = dp.c.make_zCDP_to_approxDP(threshold(scale, 10**9)).map((most, most**0.5, 1.0))
        return profile.epsilon(share * 1e-6)

    scale = dp.binary_search(lambda scale: epsilon(scale) <= 1, bounds=(1.0, 1000.0))
    limit = dp.binary_search(lambda limit: threshold(scale, limit).map((most, most**0.5, 1.0))[1] <= (1 - share) * 1e-6,
                             bounds=(1, 10_000))
    table = {int(film): int(n) for film, n in counts.items()}
    theirs = statistics.fmean(len(threshold(scale, limit)(table)) for _ in range(10))
    yield "OpenDP: Gaussian noise and threshold", films, theirs

    rows = list(ratings[["user", "film"]].itertuples(index=False, name=None))
    read = pipeline_dp.DataExtractors(privacy_id_extractor=lambda row: row[0],
                                      partition_extractor=lambda row: row[1], value_extractor=lambda _: 1)
    for together in (True, False):
        ask = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.GAUSSIAN, metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
            max_partitions_contributed=most,
            max_contributions_per_partition=1, post_aggregation_thresholding=together,
            partition_selection_strategy=pipeline_dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING)

        def release(ask=ask):
            budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-6)
            result = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend()).aggregate(rows, ask, read)
            budget.compute_budgets()
            return len(list(result))

        name = "one noise for both" if together else "selected, then counted"
        yield f"PipelineDP: {name}", films, statistics.fmean(release() for _ in range(10))


def syntactic():
    """k, l and t of a generalised table, and Mondrian with its recoding, on 30,000 rows."""
    qi, sensitive = ["Age", "Education-Num", "Hours per week", "Sex", "Race", "Marital Status"], "Occupation"
    # pycanon drops missing values and takes labels for positions
    table = data.load("adult_like").dropna().iloc[:30_000].reset_index(drop=True)
    general = table.assign(**{name: table[name] // width for name, width in zip(qi, (20, 6, 25))})
    number = anonymity.classes(general, qi).max() + 1
    for name, asked, ours, peer in (
        ("k-anonymity", 4, lambda: anonymity.k_anonymity(general, qi), lambda: pycanon.k_anonymity(general, qi)),
        ("distinct l-diversity", 15, lambda: anonymity.l_diversity(general, qi, sensitive),
         lambda: pycanon.l_diversity(general, qi, [sensitive])),
        ("t-closeness", 200, lambda: anonymity.t_closeness(general, qi, sensitive),
         lambda: pycanon.t_closeness(general, qi, [sensitive])),
    ):
        if not np.isclose(ours(), peer()):
            raise ArithmeticError(f"{name}: {ours():g} here, {peer():g} by pycanon")
        work = f"{name} of {len(general):,} rows in {number:,} classes (pycanon)"
        yield work, seconds(ours), seconds(peer, repeats=3), asked
    dressed = table[[*qi, sensitive]].astype({name: "category" for name in (*qi[3:], sensitive)})
    preserver = Preserver(dressed, qi, sensitive)
    yield ("Mondrian, k = 5, recoded (anonypy)",
           seconds(lambda: anonymity.recode(dressed, qi, anonymity.mondrian(dressed, qi, k=5))),
           seconds(lambda: preserver.anonymize_k_anonymity(5), repeats=1), 100)


def projections():
    """A noisy histogram of 10,000 bins made non-negative with the right total: the nearest one in L1,
    as a linear program by HiGHS."""
    k, total = 10_000, 100_000
    rng = np.random.default_rng(4)
    noisy = rng.multinomial(total, rng.dirichlet(np.full(k, 0.5))) + rng.laplace(scale=20, size=k)
    one = sparse.eye(k, format="csr")     # columns: the counts x and the distances t; x - noisy <= t and noisy - x <= t
    program = {"c": np.repeat([0.0, 1.0], k), "A_ub": sparse.bmat([[one, -one], [-one, -one]]),
               "b_ub": np.r_[noisy, -noisy],
               "A_eq": sparse.csr_matrix(np.repeat([[1.0, 0.0]], k, axis=1)), "b_eq": [total], "method": "highs"}
    best = linprog(**program).fun
    peer = seconds(lambda: linprog(**program), repeats=3)
    for name, project in (("simplex", lambda v, total: histograms.simplex(v, total=total)),
                          ("lattice", lambda w, n: histograms.lattice(w, n=n))):
        extra = np.abs(project(noisy, total) - noisy).sum() / best - 1
        work = f"{name} projection, 10^4 bins (HiGHS; L1 distance {extra:+.0e} of its)"
        yield work, seconds(lambda: project(noisy, total), repeats=50), peer, 1000


def accounting():
    """Epsilon at delta = 1e-5 of 10,000 releases. Both programs give upper bounds, dp_accounting at its default grid:
    the smaller is the closer."""
    steps, delta, epsilon = 10_000, 1e-5, 0.01
    noise = 2 / (1 + np.exp(epsilon))            # dp_accounting's parameter: how often the answer is a fair coin
    for name, asked, ours, theirs in (
        ("randomized response", 20, lambda: fdp.approx(epsilon), lambda: pld.from_randomized_response(noise, 2)),
        ("Laplace", 2, lambda: fdp.laplace(epsilon), lambda: pld.from_laplace_mechanism(1 / epsilon)),
        ("sampled Gaussian", 1, lambda: fdp.gaussian(1 / 4).subsample(0.01),
         lambda: pld.from_gaussian_mechanism(4.0, sampling_prob=0.01)),
    ):
        def total(make=ours):
            both = make() ** steps
            return max(both.epsilon(delta), both.inverse().epsilon(delta))

        def peer(make=theirs):
            return make().self_compose(steps).get_epsilon_for_delta(delta)

        work = f"{steps:,} x {name}: epsilon {total():.4f}, dp_accounting {peer():.4f}"
        yield work, seconds(total), seconds(peer, repeats=3), asked


def megabytes(work):
    """The most that `work()` holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def clipping():
    """The clipped sum of a layer's gradients as in the section on DP-SGD, without a table of them;
    the peer is the way with it."""
    rng, clip = np.random.default_rng(10), 100.0
    a, b = rng.normal(size=(2, 256, 256))

    def ghost():
        norms = np.sqrt((b**2).sum(axis=1) * ((a**2).sum(axis=1) + 1))
        s = np.minimum(1, clip / norms)[:, None]
        return (s * b).T @ a, (s * b).sum(axis=0)

    def table():
        g = np.concatenate([b[:, :, None] * a[:, None, :], b[:, :, None]], axis=2)
        norms = np.sqrt(np.einsum("ijk,ijk->i", g, g))
        total = np.tensordot(np.minimum(1, clip / norms), g, axes=1)
        return total[:, :-1], total[:, -1]

    for one, other in zip(ghost(), table()):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())
    memory = f"{megabytes(ghost):.1f} MB without, {megabytes(table):.0f} MB with a table of them"
    yield f"256 clipped gradients of 256 x 257 weights: {memory}", seconds(ghost, repeats=50), seconds(table), 50


def main():
    print(f"{'ratio':>9}  {'asked':>6}  {'dplib':>11}  {'peer':>11}  work")
    groups = (draws, scans, clip_bound, selection, unlisted, syntactic, projections, accounting, clipping)
    for group in groups:
        for work, ours, peer, asked in group():
            times = f"{ours * 1e3:>8.3f} ms  {peer * 1e3:>8.0f} ms"
            print(f"{peer / ours:>8,.0f}x  {asked:>5,}x  {times}  {work}", flush=True)
    print("\nfilms published at epsilon 1, delta 1e-6")
    for work, ours, peer in published():
        print(f"dplib {ours:.1f}  peer {peer:.1f}  {work}")


if __name__ == "__main__":
    main()
