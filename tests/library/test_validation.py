"""The rules of the house, over the whole public API: bad parameters are refused by name, private values never raise or
warn, randomness comes from `rng` alone, and every docstring says what is guaranteed."""
import inspect
import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest

from dplib import (
    anonymity,
    attacks,
    audit,
    budget,
    data_dependent,
    distributions,
    engine,
    fdp,
    histograms,
    inference,
    local,
    mechanisms,
    partitions,
    quantiles,
    release,
    secure,
    sensitivity,
    svt,
    synthetic,
)

MODULES = (mechanisms, sensitivity, budget, svt, audit, distributions, local, anonymity, attacks, histograms, synthetic,
           fdp, quantiles, data_dependent, partitions, inference, engine, release, secure)
PUBLIC = {name: getattr(module, name) for module in MODULES for name in module.__all__}
SCORES, ANSWERS = [1.0, 2.0, 0.5], [0.0, 9.0, -3.0]
NOISE = svt.scales(1.0)


def coin(data, size, rng):
    return rng.integers(0, 2, size)


def opened(**parameters):
    """A budget to spend from."""
    return budget.Budget(1.0, delta=1e-5).spend(**parameters)


def parallel(adjacency):
    with budget.Budget(1.0).parallel(adjacency):
        pass


def permanent(values, rng=None):
    """The permanent filters of people in one cohort."""
    return local.Rappor().permanent(values, np.zeros(np.size(values), dtype=int), rng=rng)


def report(permanent, rng=None):
    return local.Rappor().report(permanent, rng=rng)


def decode(reports, cohorts, candidates):
    return local.Rappor(cohorts=2).decode(reports, cohorts, candidates)


SPARSE = {"answers": ANSWERS, "threshold": 1.0, "epsilon": 1.0, "c": 2,
          "sensitivity": 1.0, "monotone": False, "split": "even"}
COUNTS = {"k1": 5, "k2": 1, "n": 10, "confidence": 0.95}
PAIR = {"p": [0.75, 0.25], "q": [0.25, 0.75]}
TRADE_OFF = fdp.laplace(0.5)
MASK = [True, False, True]
FILMS = pd.DataFrame({"user": [7, 8, 9], "film": [1, 1, 2], "stars": [5, 1, 3],
                      "date": ["2023-01-01", "2023-02-01", "2023-03-01"]})
PATIENTS = pd.DataFrame({"age": [20, 21, 50, 51], "sex": ["F", "M", "F", None],
                         "illness": ["flu", "cold", "flu", "ulcer"]})
CLASSES = {"df": PATIENTS, "qi": ["age", "sex"]}
RANGE = {"values": [1.0, 4.0], "low": 0.0, "high": 1.0}
BINS = {"counts": [3, 0, 5, 1], "epsilon": 1.0, "adjacency": "replace"}
LEVELS = {"levels": [[9.0], [4.0, 5.0]], "branching": 2}
GROUPS = {"counts": pd.Series(15, index=range(200)), "epsilon": 1.0, "delta": 1e-5,
          "num_groups": 1, "per_group": 1, "at_least": 2}
SQL = {"table": "events", "person": "person", "group": "film", "value": "cents",
       "high": 10_000, "num_groups": 5, "salt": "07"}
LIMIT = {"epsilon": 1.0, "delta": 1e-5, "num_groups": 2, "per_group": 3}
PRINTED = {"noisy": 31, "n": 80, "scale": 2.0, "noise": "geometric"}
SUMS = [1000.0, 50.0, 400.0, 100.0, 210.0, 300.0]
ROWS = {"df": PATIENTS, "domains": {"sex": ["F", "M"], "illness": ["flu", "cold"]},
        "epsilon": 1.0, "rows": 3, "adjacency": "replace"}

# every public function with parameters that are right
RIGHT = {
    mechanisms.laplace: {"value": 1.0, "sensitivity": 1.0, "epsilon": 1.0},
    mechanisms.geometric: {"value": 1, "sensitivity": 1, "epsilon": 1.0},
    mechanisms.gaussian: {"value": 1.0, "sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-5},
    mechanisms.gaussian_sigma: {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0, "method": "analytic"},
    mechanisms.gaussian_delta: {"epsilon": 1.0, "sigma": 1.0, "sensitivity": 1.0},
    mechanisms.discrete_gaussian: {"value": 1, "sigma": 1.0},
    mechanisms.exponential: {"scores": SCORES, "sensitivity": 1.0, "epsilon": 1.0, "size": 3},
    mechanisms.exponential_pmf: {"scores": SCORES, "sensitivity": 1.0, "epsilon": 1.0},
    mechanisms.report_noisy_max: {"scores": SCORES, "sensitivity": 1.0,
                                  "epsilon": 1.0, "noise": "laplace", "monotone": True, "size": 3},
    sensitivity.clip: {"values": [1.0], "low": 0.0, "high": 1.0},
    sensitivity.count: {"adjacency": "replace"},
    sensitivity.bounded_sum: {"low": 0.0, "high": 1.0, "adjacency": "replace"},
    sensitivity.bounded_mean: {"low": 0.0, "high": 1.0, "n": 4},
    sensitivity.histogram: {"adjacency": "replace", "norm": 2},
    sensitivity.empirical: {"query": sum, "table": [1], "universe": [0, 1], "adjacency": "replace"},
    budget.basic: {"epsilon": 1.0, "k": 3},
    budget.advanced: {"epsilon": 1.0, "k": 3, "delta_slack": 1e-5},
    budget.optimal: {"epsilon": 1.0, "k": 3, "delta": 1e-5},
    budget.zcdp_to_approx: {"rho": 0.1, "delta": 1e-5},
    budget.rdp_to_approx: {"orders": [2.0, 3.0], "rdp": [1.0, 1.5], "delta": 1e-5},
    budget.gdp_to_approx: {"mu": 1.0, "delta": 1e-5},
    budget.pure_to_zcdp: {"epsilon": 1.0},
    budget.gaussian_rdp: {"sigma": 1.0, "order": 2.0, "sensitivity": 1.0},
    budget.Budget: {"epsilon": 1.0, "delta": 1e-5, "rule": "zcdp", "slack": 1e-6},
    opened: {"epsilon": 0.5, "delta": 0.0},
    parallel: {"adjacency": "replace"},
    svt.scales: {"epsilon": 1.0, "c": 2, "sensitivity": 1.0, "monotone": True, "numeric": 0.5, "split": "optimal"},
    svt.above_threshold: SPARSE,
    engine.bounded_sql: {**SQL, "at_least": 2},
    engine.kept_sql: SQL,
    engine.condition: {"column": "cents", "op": "<=", "value": 5, "schema": {"cents": int}},
    svt.numeric_sparse: {**SPARSE, "numeric": 0.5},
    svt.AboveThreshold: {name: value for name, value in SPARSE.items() if name != "answers"},
    svt.log_probability: {"outcome": [0, 1], "answers": ANSWERS, "threshold": 0.0, "noise": NOISE},
    svt.log_laplace_cdf: {"x": np.array([-1.0, 1.0])},
    svt.index_pmf: {"answers": ANSWERS, "threshold": 0.0, "noise": NOISE},
    svt.exact_loss: {"name": "alg1", "answers": [0, 0], "neighbours": [1, 1],
                     "outcome": [0, 1], "threshold": 0.0, "epsilon": 1.0, "c": 1},
    svt.worst_loss: {"name": "alg4", "k": 2, "epsilon": 1.0, "c": 1},
    svt.run_variant: {"name": "alg6", "answers": ANSWERS, "threshold": 0.0, "epsilon": 1.0, "c": 2, "size": 2},
    audit.epsilon_lower_bound: {**COUNTS, "delta": 0.0},
    audit.mu_lower_bound: COUNTS,
    audit.runs_needed: {"p": 0.5, "q": 0.1, "epsilon": 1.0, "confidence": 0.95, "power": 0.9},
    audit.audit: {"run": coin, "data": 0, "neighbour": 1, "n": 100, "delta": 0.0, "confidence": 0.95},
    fdp.approx: {"epsilon": 1.0, "delta": 0.01},
    fdp.gaussian: {"mu": 1.0},
    fdp.laplace: {"epsilon": 1.0},
    fdp.finite: PAIR,
    fdp.from_curve: {"alpha": [0.1, 0.5], "beta": [0.6, 0.2]},
    fdp.compose: {"parts": [(TRADE_OFF, 3)]},
    fdp.worst: {"functions": [TRADE_OFF]},
    fdp.moments: {"f": TRADE_OFF},
    fdp.clt: {"parts": [(TRADE_OFF, 3)]},
    distributions.exact_epsilon: PAIR,
    distributions.exact_delta: {**PAIR, "epsilon": 0.5},
    distributions.privacy_loss: PAIR,
    distributions.catastrophe: {"records": range(50), "delta": 0.5},
    distributions.name_and_shame: {"records": range(50), "delta": 0.5},
    distributions.random_tag: {"record": "ada", "tags": 10**15},
    local.randomized_response: {"values": [0, 1, 2], "epsilon": 1.0, "k": 3},
    local.estimate: {"reports": [0, 1, 2], "epsilon": 1.0, "k": 3},
    local.unary: {"values": [0, 1, 2], "epsilon": 1.0, "k": 3, "method": "optimized"},
    local.estimate_unary: {"reports": [[0, 1, 1], [0, 0, 0]], "epsilon": 1.0, "method": "symmetric"},
    local.Rappor: {"bits": 16, "hashes": 2, "cohorts": 4, "f": 0.5, "p": 0.25, "q": 0.75, "seed": 0},
    permanent: {"values": ["ada", "bob"]},
    report: {"permanent": np.zeros((50, 128))},
    decode: {"reports": np.eye(8, 128), "cohorts": [0, 1] * 4, "candidates": ["ada", "bob"]},
    anonymity.classes: CLASSES,
    anonymity.k_anonymity: CLASSES,
    anonymity.l_diversity: {**CLASSES, "sensitive": "illness", "method": "recursive", "c": 2.0},
    anonymity.t_closeness: {**CLASSES, "sensitive": "illness", "ordered": True},
    anonymity.discernibility: CLASSES,
    anonymity.average_class: {**CLASSES, "k": 2},
    anonymity.mondrian: {**CLASSES, "k": 2},
    anonymity.recode: {**CLASSES, "labels": [0, 0, 1, 1]},
    anonymity.lattice_search: {"df": PATIENTS, "hierarchies": {"age": [lambda age: "*"], "sex": [{"F": "*", "M": "*"}]},
                               "k": 1, "suppress": 0.1, "cost": None},
    attacks.link: {"released": FILMS, "public": FILMS, "on": ["film", "stars"]},
    attacks.fuzzy_link: {"known": FILMS, "records": FILMS, "person": "user",
                         "item": "film", "tolerance": {"stars": 1.0}, "threshold": 1.5},
    attacks.difference: {"ask": np.sum, "group": MASK, "target": 1},
    attacks.tracker: {"ask": np.sum, "target": MASK, "padding": MASK},
    attacks.reconstruct: {"queries": np.eye(2), "answers": [0.0, 1.0], "method": "lp"},
    attacks.roc: {"members": [1.0, 2.0], "others": [0.0]},
    attacks.tpr_at: {"members": [1.0, 2.0], "others": [0.0], "fpr": 0.1},
    attacks.tracing: {"released": [0.4, 0.6], "population": [0.5, 0.5], "targets": [[0, 1]]},
    attacks.intersect: {"releases": [([1, 1], ["a", "b"], [1])]},
    histograms.perturb: BINS,
    histograms.simplex: {"v": [0.7, 0.5, -0.1], "total": 1.0},
    histograms.lattice: {"w": [1.5, -2.0], "n": 3},
    histograms.choose_bins: {"values": [0.1, 0.9], "candidates": [1, 2],
                             "low": 0.0, "high": 1.0, "epsilon": 1.0, "epsilon_release": 1.0},
    histograms.tree: {"counts": [3, 0, 5, 1], "branching": 2},
    histograms.perturb_tree: {**BINS, "branching": 2},
    histograms.consistent: LEVELS,
    histograms.range_count: {**LEVELS, "start": 0, "stop": 1},
    synthetic.sample: {"weights": [1.0, 2.0], "rows": 3, "edges": [0, 1, 2]},
    synthetic.independent: ROWS,
    synthetic.chow_liu: ROWS,
    synthetic.mwem: {"counts": [3, 0, 5, 1], "queries": np.eye(4), "epsilon": 1.0, "rounds": 2},
    quantiles.quantile: {**RANGE, "share": 0.3, "epsilon": 1.0, "adjacency": "add/remove"},
    quantiles.quantiles: {**RANGE, "shares": [0.25, 0.5, 1.0], "epsilon": 1.0, "adjacency": "replace"},
    quantiles.median: {**RANGE, "epsilon": 1.0, "adjacency": "replace"},
    quantiles.quantile_density: {**RANGE, "share": 0.3, "epsilon": 1.0, "adjacency": "replace"},
    audit.planted: {"aggregate": lambda table: {"rows": table.sex.value_counts()},
                    "table": PATIENTS, "people": {"one": [{"sex": "F"}]},
                    "promised": {"rows": 1}, "public": ["rows"]},
    release.plan: {"questions": [release.Question("month", 1, 25)], "total": 0.1, "confidence": 0.95},
    release.odds: {"epsilon": 1.0, "prior": 0.5},
    secure.split: {"values": [3, 0], "servers": 2},
    secure.join: {"shares": [[3, 1], [4, 1]]},
    secure.laplace_share: {"size": 3, "epsilon": 1.0, "parties": 3, "honest": 0.5, "sensitivity": 1},
    secure.shared_pmf: {"z": [0, 1], "honest": 0.5, "epsilon": 1.0, "sensitivity": 1},
    secure.collusion_epsilon: {"honest": 0.5, "epsilon": 1.0, "sensitivity": 1},
    partitions.selection_probability: {"n": 14, "epsilon": 1.0, "delta": 1e-6},
    partitions.release: {**GROUPS, "noise": "laplace"},
    partitions.laplace_threshold: LIMIT,
    partitions.gaussian_threshold: LIMIT,
    partitions.threshold_delta: {"noise": "gaussian", "threshold": 20.0,
                                 "epsilon": 1.0, "scale": 4.0, "num_groups": 2, "per_group": 1.0},
    partitions.bound: {"table": FILMS, "person": "user", "group": "film", "num_groups": 1, "salt": "2023"},
    data_dependent.mean_local_sensitivity: RANGE,
    data_dependent.median_local_sensitivity: {**RANGE, "steps": 1},
    data_dependent.smooth_sensitivity: {**RANGE, "beta": 0.1},
    data_dependent.smooth_scales: {"epsilon": 0.5, "delta": 1e-6, "method": "classic"},
    data_dependent.cauchy_epsilon: {"beta": 0.1, "scale": 6.0},
    data_dependent.laplace_delta: {"epsilon": 1.0, "beta": 0.1, "scale": 2.0},
    data_dependent.smooth_median: {**RANGE, "epsilon": 1.0, "delta": 0.0, "method": "exact"},
    data_dependent.median_distance: {**RANGE, "bound": 0.5},
    data_dependent.propose_test_release: {"value": 1.0, "distance": 10**6, "bound": 0.5, "epsilon": 1.0, "delta": 1e-6},
    data_dependent.sample_and_aggregate: {**RANGE, "estimate": np.mean, "blocks": 2, "epsilon": 1.0},
    inference.noisy_binomial_cdf: {"y": [3.0, -1.5], "n": 80, "p": 0.3, "scale": 0.0, "noise": "gaussian"},
    inference.proportion_interval: {**PRINTED, "confidence": 0.9},
    inference.proportion_test: {**PRINTED, "p0": 0.3, "alternative": "less"},
    inference.ratio_interval: {"top": 40.0, "bottom": 12.0, "top_scale": 3.0,
                               "bottom_scale": 0.0, "low": 0.0, "high": 9.0, "confidence": 0.9},
    inference.least_squares: {"design": [[1], [1]], "answers": [1.0, 2.0], "variances": [1.0, 2.0]},
    inference.independence_test: {"noisy": [[30.0, -1.0], [20.0, 9.0]], "scale": 1.0, "noise": "laplace", "rounds": 9},
    inference.line_sums: {"x": [0.5, math.nan], "y": [2.0, 1.0]},
    inference.slope_interval: {"sums": SUMS, "sigma": 0.0, "target": "population", "confidence": 0.9},
}

NOT_A_NUMBER = [None, "1.0", math.nan, 1j, [1.0, 2.0], 10**400]
NOT_POSITIVE = [*NOT_A_NUMBER, 0, -1.0, math.inf, -math.inf]
NEGATIVE = [bad for bad in NOT_POSITIVE if bad != 0]
NOT_FINITE = [*NOT_A_NUMBER, math.inf, -math.inf]
NOT_A_PROBABILITY = [*NOT_A_NUMBER, -1e-9, 1.0, 1.5, math.inf]
NOT_INSIDE = [*NOT_A_PROBABILITY, 0.0]
NOT_WHOLE = [None, "1", math.nan, 1.0, 2.5, -1, math.inf]
NOT_A_WORD = [None, "EVEN", "add-remove", 7, ""]
NOT_A_VECTOR = [np.zeros((2, 2)), np.array(1.0)]
NOT_A_LAW = [None, 1.0, [], [[0.5, 0.5]], [0.5, 0.4], [1.5, -0.5], [math.nan, 1.0], [math.inf, 0.0], [1.0]]
NOT_INTEGERS = [1.0, [0.5], np.array([2.0])]
NOT_WHOLE_NUMBERS = [*NOT_INTEGERS, "7", [None]]
NOT_A_MASK = [[1, 0, 1], [[True]], True, [0.5], ["a"]]
NOT_NUMBERS = [[], [math.nan, 1.0], [math.inf, 1.0], ["a", "b"]]

NOT_A_TABLE = [[[1.0, 2.0]], [[1.0], [2.0]], [1.0, 2.0], 1.0, [[math.nan, 1.0], [1.0, 1.0]],
               [[math.inf, 1.0], [1.0, 1.0]]]
NOT_PARTS = [None, 3, [TRADE_OFF], [(1.0, 2)], [(TRADE_OFF, 1, 1)]]
WRONG = {
    "shares": [[], 0.5, [0.5, 0.5], [0.6, 0.5], [-0.1], [1.1], [math.nan], None],
    "share": [*NOT_FINITE, -0.1, 1.1], "steps": NOT_WHOLE,
    "bound": NOT_POSITIVE, "scale": NOT_POSITIVE,
    "blocks": [*NOT_WHOLE, 0],
    "f": [None, 1.0, "f"], "functions": [[], [1.0], [None]], "parts": NOT_PARTS,
    "alpha": [[], 0.5, [0.5, 0.1], [0.1, 0.1], [-0.1, 0.5], [0.1, 1.1], [math.nan, 0.5]],
    "beta": [[0.6], [0.2, 0.6], [0.6, -0.1], [0.95, 0.2], [0.6, math.nan], [0.6, 0.55]],
    "epsilon": NOT_POSITIVE, "sensitivity": NOT_POSITIVE, "sigma": NOT_POSITIVE,
    "delta": NOT_A_PROBABILITY, "q": NOT_A_PROBABILITY, "delta_slack": NOT_INSIDE,
    "confidence": NOT_INSIDE, "power": NOT_INSIDE,
    "p": [bad for bad in NOT_INSIDE if bad != 1], "slack": [*(bad for bad in NOT_INSIDE if bad is not None), 1e-4],
    "numeric": NOT_A_PROBABILITY,
    "threshold": NOT_FINITE, "low": [*NOT_FINITE, 2.0], "high": [*NOT_FINITE, -1.0],
    "c": [*NOT_WHOLE, 0], "n": [*NOT_WHOLE, 0], "k": NOT_WHOLE, "k1": [*NOT_WHOLE, 11], "k2": [*NOT_WHOLE, 11],
    "size": [bad for bad in NOT_WHOLE if bad is not None], "rows": [bad for bad in NOT_WHOLE if bad is not None],
    "rho": NEGATIVE, "mu": NEGATIVE, "order": [None, 1, 0.5, math.nan, [2.0, 1.0]],
    "orders": [[], 2.0, [2.0], [2.0, 1.0], [2.0, math.nan], [2.0, math.inf], None],
    "rdp": [[], 1.0, [1.0], [1.0, -1e-9], [1.0, math.nan], None],
    "tags": [*NOT_WHOLE, 0], "reports": [*NOT_WHOLE_NUMBERS, [], [0, 3], [-1]],
    "method": NOT_A_WORD, "adjacency": NOT_A_WORD, "split": NOT_A_WORD,
    "rule": NOT_A_WORD, "norm": [None, 0, 3, "1", math.inf],
    "scores": [*NOT_A_VECTOR, []], "answers": NOT_A_VECTOR, "universe": [[]],
    "run": [lambda data, size, rng: np.zeros(size + 1)],
    # tables and attacks on them
    "df": [None, PATIENTS.iloc[:0], [[20, "F"]], PATIENTS["age"]],
    "qi": [None, [], 7, "nobody", ["age", "nobody"], ["age", "age"], [["age"]]],
    "sensitive": [None, 7, "nobody", ["illness"]], "ordered": [None, "yes", 2],
    "labels": [None, 0, [0, 1], np.zeros((4, 1))],
    "hierarchies": [None, [], {}, {"nobody": []}, {"age": None}, {"age": ["*"]}, {"age": [lambda age: [1, 2]]}],
    "suppress": NOT_A_PROBABILITY, "cost": [3, "loss"],
    "on": [[], ["film", "mood"], "mood"], "person": ["mood"], "item": ["mood"],
    "tolerance": [{"stars": 0}, {"stars": math.nan}, {"mood": 1.0}],
    "known": [FILMS[:0], FILMS[["stars"]]], "public": [FILMS[:0], FILMS[["stars"]], FILMS.set_axis([0, 0, 1])],
    "group": NOT_A_MASK, "padding": NOT_A_MASK, "target": [3, -1, 1.0, None, "1", True, [True], [0, 1, 2]],
    "queries": [*NOT_A_VECTOR[1:], [1.0], [[math.nan, 1.0], [0.0, 1.0]], "ab", [[]]],
    "members": [[], *NOT_A_VECTOR, ["a"]], "others": [[], *NOT_A_VECTOR, ["a"]],
    "fpr": [*NOT_FINITE, -0.1, 1.1], "population": [*NOT_A_VECTOR, [], [0.0, 0.5], [0.5, 1.0], [math.nan, 0.5]],
    "targets": [[0, 1], [[0, 1, 1]], "ab"],
    "releases": [[], [([1], ["a", "b"], [1])], [([1], ["a"], [2])], [([1], ["a"], [1]), ([1], ["a"], [1, 1])]],
    # histograms and synthetic rows
    "counts": [[], np.array(["2026-01-01"], dtype="M8[D]")], "v": [*NOT_NUMBERS, *NOT_A_VECTOR],
    "w": [*NOT_NUMBERS, *NOT_A_VECTOR], "total": NOT_POSITIVE,
    "candidates": [[], *([1, bad] for bad in (*NOT_WHOLE, 0))], "epsilon_release": NOT_POSITIVE,
    "branching": [*NOT_WHOLE, 0, 1, 3],
    "levels": [[], [[1.0], [1.0]], [[1.0], [1.0, math.nan]], [[1.0, 2.0]], [1.0, [1.0, 2.0]]],
    "num_groups": [*NOT_WHOLE, 0], "per_group": NOT_POSITIVE, "at_least": [*NOT_WHOLE, 0],
    "start": [*NOT_WHOLE, 2], "stop": [*NOT_WHOLE, 3], "rounds": [*NOT_WHOLE, 0],
    "weights": [[], [0, 0], [-1, 2], [math.nan, 1], [math.inf, 1], 1.0],
    "edges": [[], [0, 1], [0, 2, 1], [0, 1, 1], [0, 1, math.inf], [0, math.nan, 1]],
    "domains": [None, {}, ["sex"], {"nobody": [1]}, {"sex": []}, {"sex": ["F", "F"]}, {"sex": [None, math.nan]}],
}

OWN_WRONG = {
    **{(function, "values"): NOT_A_VECTOR
       for function in (*map(quantiles.__dict__.get, quantiles.__all__), data_dependent.mean_local_sensitivity)},
    **{(function, "values"): [*NOT_A_VECTOR, []]
       for function in (data_dependent.median_local_sensitivity, data_dependent.smooth_sensitivity,
       data_dependent.smooth_median, data_dependent.median_distance)},
    (data_dependent.sample_and_aggregate, "values"): [1.0, np.array(1.0)],
    **{(function, "low"): [*NOT_FINITE, 1.0, 2.0]
       for function in (*map(quantiles.__dict__.get, quantiles.__all__), data_dependent.sample_and_aggregate)},
    **{(function, "beta"): NOT_POSITIVE for function in (data_dependent.smooth_sensitivity,
                                                         data_dependent.cauchy_epsilon, data_dependent.laplace_delta)},
    (data_dependent.laplace_delta, "epsilon"): [*NEGATIVE, 0.5],
    (data_dependent.smooth_scales, "epsilon"): [*NOT_POSITIVE, 1.5],
    (data_dependent.propose_test_release, "delta"): NOT_INSIDE,
    **{(function, "epsilon"): NEGATIVE for function in (fdp.approx, fdp.laplace)},
    **{(fdp.finite, name): NOT_A_LAW for name in PAIR},
    (fdp.clt, "parts"): [*NOT_PARTS, [], [(fdp.gaussian(0.0), 5)], [(fdp.approx(1.0, delta=0.1), 5)],
                         [(TRADE_OFF.subsample(0.1), 5)]],
    (mechanisms.geometric, "sensitivity"): [*NOT_WHOLE, 0],
    (mechanisms.geometric, "value"): NOT_INTEGERS,
    (mechanisms.discrete_gaussian, "value"): NOT_INTEGERS,
    (mechanisms.gaussian_sigma, "delta"): NOT_INSIDE,
    (mechanisms.gaussian, "delta"): NOT_INSIDE,
    (mechanisms.gaussian_delta, "epsilon"): NEGATIVE,
    **{(convert, "delta"): NOT_INSIDE
       for convert in (budget.zcdp_to_approx, budget.rdp_to_approx, budget.gdp_to_approx)},
    **{(function, name): NOT_A_LAW
       for function in (distributions.exact_epsilon, distributions.exact_delta, distributions.privacy_loss)
       for name in PAIR},
    (distributions.exact_delta, "epsilon"): NEGATIVE,
    **{(function, "values"): NOT_INTEGERS for function in (local.randomized_response, local.unary)},
    **{(function, "k"): [*NOT_WHOLE, 0, 1] for function in (local.randomized_response, local.estimate, local.unary)},
    (local.estimate_unary, "reports"): [1, [1], [], [[]], [[1], [0]], [[0, 2]],
                                        [[0.5, 0]], [[math.nan, 0]], [["0", "1"]], None],
    (local.Rappor, "bits"): [*NOT_WHOLE, 0, 1], (local.Rappor, "p"): [*NOT_A_PROBABILITY, 0.75, 0.8],
    (local.Rappor, "q"): [*NOT_FINITE, 0.25, 0.2, 1.1],
    **{(local.Rappor, name): [*NOT_WHOLE, 0] for name in ("hashes", "cohorts")}, (local.Rappor, "seed"): NOT_WHOLE,
    (permanent, "values"): [None, 3, "ada"], (report, "permanent"): [None, 1.0, [1, 0], np.zeros((128, 2))],
    (decode, "reports"): [None, [[0, 1]], np.zeros((0, 128)), 2 * np.eye(8, 128)],
    (decode, "cohorts"): [None, 0, [0, 1], [0.0, 1.0] * 4, [0, 2] * 4],
    (decode, "candidates"): [[], ["ada", "ada"], range(256)],
    (mechanisms.report_noisy_max, "noise"): NOT_A_WORD,
    (partitions.selection_probability, "n"): [None, "1", 1.0, [0.5], math.nan],
    **{(function, "noise"): NOT_A_WORD for function in (partitions.release, partitions.threshold_delta)},
    **{(getattr(partitions, name), "delta"): NOT_INSIDE for name in partitions.__all__},
    (partitions.release, "per_group"): [*NOT_WHOLE, 0],
    (partitions.bound, "salt"): ["", 7, b"2023"], (partitions.bound, "table"): [None, [[7, 1]], FILMS["film"]],
    **{(function, name): bad for function in (engine.bounded_sql, engine.kept_sql) for name, bad in {
        "table": [None, "", "a b", "a;b", "a..b"], "person": [None, 7, "", "a b", "1a", "größe"],
        "group": [None, "a.b"], "value": [None, "cents;"],
        "high": [*NOT_WHOLE, 0, 2**31], "salt": [None, "", 7, b"07", "0x7"]}.items()},
    (engine.condition, "column"): [None, 7, "film", "cents;"],
    (engine.condition, "value"): [None, "5", 5.0, True, 2**63],
    (engine.condition, "op"): [None, "==", "in"], (engine.condition, "schema"): [None, ["cents"], {"cents": float}],
    (svt.numeric_sparse, "numeric"): NOT_INSIDE,
    (svt.worst_loss, "k"): [*NOT_WHOLE, 0],
    **{(function, "name"): [*NOT_A_WORD, "Alg1", "alg7"]
       for function in (svt.exact_loss, svt.worst_loss, svt.run_variant)},
    (audit.audit, "n"): [*NOT_WHOLE, 0, 1],
    (anonymity.l_diversity, "c"): NOT_POSITIVE,
    (anonymity.average_class, "k"): [*NOT_WHOLE, 0],
    **{(function, "k"): [*NOT_WHOLE, 0, 5] for function in (anonymity.mondrian, anonymity.lattice_search)},
    (attacks.link, "released"): [FILMS[:0], FILMS[["stars"]], FILMS.set_axis([0, 0, 1])],
    (attacks.tracing, "released"): [*NOT_A_VECTOR, [0.5], ["a", "b"]],
    (attacks.fuzzy_link, "threshold"): [*NOT_FINITE, -1.0],
    (attacks.fuzzy_link, "records"): [FILMS[:0], FILMS[["film"]]],
    (histograms.lattice, "n"): NOT_WHOLE, (audit.planted, "public"): [],
    (secure.join, "shares"): [*NOT_WHOLE_NUMBERS, 3],
    (release.plan, "total"): [bad for bad in NOT_POSITIVE if bad is not None],
    (histograms.choose_bins, "values"): [[], [0.5], *NOT_A_VECTOR],
    (synthetic.mwem, "counts"): [[], [0] * 4, [[3, 0, 5, 1]]],
    (synthetic.mwem, "queries"): [[1.0] * 4, np.eye(3), [[2.0, 0, 0, 0]],
                                  [[-1.0, 0, 0, 0]], [[math.nan, 0, 0, 0]], np.zeros((0, 4))],
    # no rows are rows, too
    **{(function, "df"): [None, [[20, "F"]], PATIENTS["age"]]
       for function in (synthetic.independent, synthetic.chow_liu)},
    **{(function, name): bad for function in (getattr(inference, name) for name in inference.__all__) for name, bad in {
       "y": [math.nan, [1.0, math.nan]], "p": [*NOT_FINITE, -1e-9, 1.1],
       "p0": [*NOT_FINITE, -1e-9, 1.1], "scale": NEGATIVE, "noise": NOT_A_WORD,
       "noisy": [*NOT_FINITE, 30.5], "alternative": NOT_A_WORD, "top": NOT_FINITE,
       "bottom": NOT_FINITE, "top_scale": NEGATIVE, "bottom_scale": NEGATIVE,
       "high": [*NOT_FINITE, -1.0], "low": [*NOT_FINITE, 10.0], "sigma": NEGATIVE, "target": NOT_A_WORD,
       "sums": [None, SUMS[:5], [SUMS], [math.nan, *SUMS[1:]], [math.inf, *SUMS[1:]]]}.items()},
    (inference.line_sums, "y"): [[1.0], 1.0, [[2.0, 1.0]]], (inference.line_sums, "x"): [[1.0], 1.0, [[2.0, 1.0]]],
    (inference.independence_test, "noisy"): NOT_A_TABLE,
    (inference.least_squares, "design"): [[1, 1], [[1]], [[]], [[1], [math.nan]], [[1], [math.inf]]],
    (inference.least_squares, "answers"): [1.0, [1.0], [[1.0], [2.0]], [1.0, math.nan]],
    (inference.least_squares, "variances"): [1.0, [1.0], [1.0, 0.0], [1.0, -1.0], [1.0, math.inf], [1.0, math.nan]],
}
BY_ANOTHER_NAME = {"slack": "slack|delta", "low": "low|high", "high": "low|high",
                   "run": "outputs", "universe": "universe",
                   "on": "column|on", "person": "column", "item": "column", "tolerance": "tolerance|column",
                   "start": "start|stop", "stop": "start|stop", "branching": "branching|levels"}


def wrong_calls():
    for function, right in RIGHT.items():
        for name in right:
            for bad in OWN_WRONG.get((function, name), WRONG.get(name, [])):
                yield pytest.param(function, name, bad, id=f"{function.__name__}-{name}-{str(bad)[:20]}")


def test_the_tables_here_cover_every_public_function():
    records = {fdp.CentralLimit, fdp.Moments, fdp.TradeOff, budget.BudgetExceeded, budget.Entry, svt.Scales,
               svt.Variant, audit.AuditResult, audit.Event, anonymity.Generalisation, attacks.Match,
               data_dependent.Smoothing, partitions.Threshold, inference.Estimate, release.Question, release.Meaning,
               release.Card}
    assert set(filter(callable, PUBLIC.values())) <= {*RIGHT, *records}


@pytest.mark.parametrize("function", RIGHT)
def test_the_right_parameters_are_accepted(function):
    function(**RIGHT[function])


@pytest.mark.parametrize("function, name, bad", list(wrong_calls()))
def test_a_bad_parameter_is_refused_by_name(function, name, bad):
    with pytest.raises(ValueError, match=BY_ANOTHER_NAME.get(name, rf"\b{name}\b")):
        function(**{**RIGHT[function], name: bad})


@pytest.mark.parametrize("function, scale", [
    *((function, scale) for function in (svt.log_probability, svt.index_pmf)
      for scale in (-1.0, math.nan, math.inf, None)),
    (svt.index_pmf, 0.0),                        # log_probability knows what no noise means
])
@pytest.mark.parametrize("field", ["threshold", "query"])
def test_the_exact_laws_refuse_a_bad_scale(function, field, scale):
    with pytest.raises(ValueError, match=rf"noise\.{field}"):
        function(**{**RIGHT[function], "noise": NOISE._replace(**{field: scale})})


@pytest.mark.parametrize("parameters", [
    {}, {"epsilon": 1.0}, {"delta": 1e-5},
    {"sigma": 1.0, "epsilon": 1.0}, {"sigma": 1.0, "delta": 1e-5}, {"sigma": 1.0, "epsilon": 1.0, "delta": 1e-5},
    {"sigma": 0.0}, {"sigma": -1.0}, {"sigma": math.nan}, {"sigma": math.inf}, {"sigma": "2"},
])
def test_gaussian_wants_sigma_or_epsilon_and_delta(parameters):
    with pytest.raises(ValueError, match="sigma"):
        mechanisms.gaussian(0.0, sensitivity=1, **parameters)


@pytest.mark.parametrize("parameters",
                         [{"rule": "zcdp"}, {"slack": 1e-6}, {"rule": "zcdp", "delta": 1e-6, "slack": 1e-5}])
def test_budget_wants_slack_exactly_where_it_is_used(parameters):
    with pytest.raises(ValueError, match="slack"):
        budget.Budget(1.0, **parameters)


def test_more_replies_than_answers_are_refused():
    with pytest.raises(ValueError, match="outcome"):
        svt.log_probability([0, 0, 1], [0, 0], threshold=0.0, noise=NOISE)


def test_an_event_that_contradicts_nothing_cannot_be_planned_for():
    for p, q in ((0.1, 0.1), (0.2, 0.1), (math.e / 10, 0.1), (1e-9, 0.9)):
        with pytest.raises(ValueError, match="p="):
            audit.runs_needed(p, q, epsilon=1.0)


def public_signatures():
    """Name of each public function or class, and of the methods that charge or draw -> its parameters."""
    things = {name: thing for name, thing in PUBLIC.items() if callable(thing) and thing in RIGHT} | METHODS
    for name, thing in things.items():
        yield name, [parameter for parameter in inspect.signature(thing).parameters.values()
                     if parameter.name != "self"]


def test_what_a_function_works_on_stands_first_and_every_parameter_is_named():
    """After the first, by position, only what belongs to it: a second law, the replies to its questions,
    a table's columns, ..."""
    belongs = {
        "q", "rdp", "beta", "k2", "n", "neighbour", "data", "answers", "neighbours", "outcome", "table", "distance",
        "estimate", "queries", "qi", "sensitive", "labels", "hierarchies", "domains", "public", "records", "on",
        "group", "target", "padding", "others", "population", "targets", "cohorts", "candidates", "threshold", "bottom",
        "y", "op", "value", "people",
    }
    for name, parameters in public_signatures():
        for i, parameter in enumerate(parameters):
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                assert i == 0 or parameter.name in belongs, f"{name}({parameter.name}) can be given by position"
                assert parameter.default is inspect.Parameter.empty, f"{name}({parameter.name}) has a default, too"


def test_adjacency_is_always_said_and_sensitivity_wherever_noise_is_drawn():
    required = inspect.Parameter.empty
    for name, parameters in public_signatures():
        drawing = any(parameter.name == "rng" for parameter in parameters)
        for parameter in parameters:
            if (parameter.name == "adjacency" or parameter.name == "threshold" and name != "fuzzy_link"
                    or parameter.name == "sensitivity" and drawing):
                assert parameter.default is required, f"{name}({parameter.name}) has a default"


# --- private values

ODD = [math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324, -0.0]
ODD_INTEGERS = [2**63 - 1, -(2**63), 0, 2**62]
SEEDS = range(12)


@pytest.mark.parametrize("value", [*ODD, ODD])
def test_additive_noise_neither_raises_nor_warns_at_any_value(value):
    for seed in SEEDS:
        for sensitivity_ in (1.0, 1e307):
            for noisy in (
                mechanisms.laplace(value, sensitivity=sensitivity_, epsilon=1, rng=seed),
                mechanisms.gaussian(value, sensitivity=sensitivity_, epsilon=1, delta=0.1, rng=seed),
            ):
                assert (np.isnan(noisy) == np.isnan(value)).all()


@pytest.mark.parametrize("value",
                         [*ODD_INTEGERS, ODD_INTEGERS, np.array([2**64 - 1], dtype=np.uint64), np.array([True, False])])
def test_integer_noise_neither_raises_nor_warns_at_any_value(value):
    for seed in SEEDS:
        mechanisms.geometric(value, sensitivity=1, epsilon=0.01, rng=seed)
        mechanisms.discrete_gaussian(value, sigma=100, rng=seed)
        for k in (2, 7, 10**6):
            reports = local.randomized_response(value, epsilon=0.5, k=k, rng=seed)
            assert ((reports >= 0) & (reports < k)).all()
        assert np.isin(local.unary(value, epsilon=0.5, k=7, rng=seed), [0, 1]).all()


@pytest.mark.parametrize("scores",
                         [ODD, [math.nan] * 3, [math.inf] * 3, [-math.inf, math.nan], [1.7e308, -1.7e308], [0.0]])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_selection_neither_raises_nor_warns_at_any_scores(scores, epsilon):
    law = mechanisms.exponential_pmf(scores, sensitivity=1e-3, epsilon=epsilon)
    assert law.sum() == pytest.approx(1)
    for seed in SEEDS:
        assert 0 <= mechanisms.exponential(scores, sensitivity=1e-3, epsilon=epsilon, rng=seed) < len(scores)
        for noise in ("exponential", "laplace", "gumbel"):
            assert (0 <= mechanisms.report_noisy_max(scores, sensitivity=1e-3, epsilon=epsilon, noise=noise, rng=seed)
                    < len(scores))


def test_a_nan_score_ranks_last_and_an_infinite_one_first():
    assert mechanisms.exponential_pmf([math.nan, 5.0, math.inf], sensitivity=1, epsilon=1).tolist() == [0, 0, 1]
    assert mechanisms.exponential([math.nan, 5.0], sensitivity=1, epsilon=1, rng=0) == 1
    assert mechanisms.report_noisy_max([-math.inf, 5.0], sensitivity=1, epsilon=1, rng=0) == 1


@pytest.mark.parametrize("dress", [list, iter, np.array])
def test_watching_a_stream_neither_raises_nor_warns_at_any_answer(dress):
    for seed in SEEDS:
        for threshold in (0.0, 1e308, -1e308):
            for ordered in itertools.islice(itertools.permutations(ODD), 0, 5040, 700):
                indices = svt.above_threshold(dress(list(ordered)), threshold=threshold,
                                              sensitivity=1, epsilon=1, c=7, rng=seed)
                values = svt.numeric_sparse(dress(list(ordered)), threshold=threshold,
                                            sensitivity=1, epsilon=1, c=7, rng=seed)[1]
                assert not any(math.isnan(ordered[i]) for i in indices) and not np.isnan(values).any()
                assert {i for i in range(7) if ordered[i] == math.inf} <= set(indices.tolist())


def test_a_conversation_neither_raises_nor_warns_and_a_nan_never_passes():
    watch = svt.AboveThreshold(0.0, sensitivity=1, epsilon=1, c=100, rng=0)
    replies = [watch.ask(value) for value in (math.nan, math.inf, -math.inf, 1.7e308, -1.7e308)]
    assert replies == [False, True, False, True, False]


def test_a_missing_value_is_a_nan_wherever_it_comes_from():
    assert sensitivity.clip([None, 1.0], low=0, high=2).tolist() == [0, 1]
    assert svt.above_threshold([None, 1e9], threshold=0, sensitivity=1, epsilon=1, rng=0).tolist() == [1]
    assert svt.above_threshold(iter([None, 1e9]), threshold=0, sensitivity=1, epsilon=1, rng=0).tolist() == [1]


# --- randomness

# salt, or rng
RANDOM = [function for function in RIGHT if "rng" in inspect.signature(function).parameters
          and function is not partitions.bound]


# so many draws that two runs agree by chance less than once in 10^9; a table of fifty rows has more outcomes
FEW_OUTCOMES = {
    **dict.fromkeys([distributions.catastrophe, histograms.choose_bins, audit.audit, inference.independence_test], 100),
    **dict.fromkeys([synthetic.independent, synthetic.chow_liu, synthetic.mwem], 20),
}


def drawn(function, rng):
    parameters = {**RIGHT[function], "rng": rng}
    if "value" in parameters:
        parameters["value"] = np.arange(50)
    if "values" in parameters:
        parameters["values"] = np.arange(50) % 3
    for number in {"size", "rows"} & set(parameters):
        parameters[number] = 50
    if function in FEW_OUTCOMES:
        rng = np.random.default_rng(rng)
        return [np.asarray(getattr(result, "epsilon", result)).tolist()
                for result in (function(**{**parameters, "rng": rng}) for _ in range(FEW_OUTCOMES[function]))]
    if function is svt.AboveThreshold:
        watch = function(**{**parameters, "c": 200})
        return [watch.ask(0.0) for _ in range(200)]
    if "answers" in parameters:
        parameters |= {"answers": np.zeros(200), "c": 200}
    result = function(**parameters)
    return [np.asarray(part).tolist()
            for part in (result if isinstance(result, (tuple, list)) else [getattr(result, "epsilon", result)])]


def test_every_random_function_ends_with_rng_none():
    for function in RANDOM:
        assert list(inspect.signature(function).parameters.items())[-1][1].default is None
    assert {function.__name__ for function in RANDOM} == {
        "laplace", "geometric", "gaussian", "discrete_gaussian", "exponential", "report_noisy_max", "above_threshold",
        "numeric_sparse", "AboveThreshold", "run_variant", "audit", "catastrophe", "name_and_shame", "random_tag",
        "randomized_response", "unary", "permanent", "report", "perturb", "perturb_tree", "choose_bins", "sample",
        "independent", "chow_liu", "mwem", "quantile", "quantiles", "median", "smooth_median", "propose_test_release",
        "sample_and_aggregate", "release", "independence_test", "split", "laplace_share",
    }


@pytest.mark.parametrize("function", RANDOM)
def test_a_seed_fixes_the_draws_none_does_not_and_a_generator_moves_on(function):
    assert drawn(function, 7) == drawn(function, 7) == drawn(function, np.random.default_rng(7))
    assert drawn(function, np.int64(7)) == drawn(function, 7) != drawn(function, 8)
    assert drawn(function, None) != drawn(function, None)
    rng = np.random.default_rng(7)
    assert drawn(function, rng) != drawn(function, rng)


@pytest.mark.parametrize("function", RANDOM)
def test_numpys_global_state_is_neither_used_nor_touched(function):
    state = np.random.get_state()
    first = drawn(function, 7)
    after = np.random.get_state()
    assert state[0] == after[0] and (state[1] == after[1]).all() and state[2:] == after[2:]
    try:
        np.random.seed(12345)
        assert drawn(function, 7) == first
        np.random.seed(1)
        free = drawn(function, None)
        np.random.seed(1)
        assert drawn(function, None) != free
    finally:
        np.random.set_state(state)


# --- docstrings

SECTIONS = ("Privacy", "Parameters", "Returns", "Raises", "References", "Examples")
DOCUMENTED = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
MECHANISM_CLASSES = {name: PUBLIC[name] for name in ("Budget", "AboveThreshold", "Rappor")}
METHODS = {"Budget.spend": budget.Budget.spend, "Budget.parallel": budget.Budget.parallel,
           "AboveThreshold.ask": svt.AboveThreshold.ask,
           **{f"Rappor.{name}": getattr(local.Rappor, name)
              for name in ("epsilon", "bloom", "permanent", "report", "decode")}}


def sections(thing):
    """Title -> text of each underlined section of a docstring, in order."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(thing), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def documented_parameters(thing):
    lines = [line for line in sections(thing).get("Parameters", "").splitlines() if line and not line.startswith(" ")]
    return [name.strip() for line in lines for name in line.split(":")[0].split(",")]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_functions_docstring_has_all_sections_in_order(name):
    found = sections(DOCUMENTED[name])
    assert tuple(found) == SECTIONS
    assert all(text.strip() for text in found.values()) and ">>>" in found["Examples"]


@pytest.mark.parametrize("name", MECHANISM_CLASSES)
def test_a_mechanism_class_has_all_sections_but_returns(name):
    found = [title for title in sections(MECHANISM_CLASSES[name]) if title != "Attributes"]
    assert found == [title for title in SECTIONS if title != "Returns"]


@pytest.mark.parametrize("name", [*DOCUMENTED, *MECHANISM_CLASSES])
def test_the_privacy_section_names_measure_adjacency_and_guarantee(name):
    """Where there is no measure, the others stand only if they have something to say."""
    found = dict(re.findall(r"^(\w+) : (\S.*)", sections(PUBLIC[name])["Privacy"], flags=re.MULTILINE))
    parts = ["measure", "adjacency", "guarantee"]
    if re.match(r"none\b", found["measure"]):
        parts = [part for part in parts if part in found]
        assert "none" not in found.values()
    assert list(found) == parts


@pytest.mark.parametrize("name", [*DOCUMENTED, *MECHANISM_CLASSES, *METHODS])
def test_documented_parameters_are_those_of_the_signature(name):
    thing = PUBLIC.get(name) or METHODS[name]
    assert documented_parameters(thing) == [parameter for parameter in inspect.signature(thing).parameters
                                            if parameter != "self"]


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isclass(thing)])
def test_every_class_and_its_public_methods_say_what_they_are(name):
    assert PUBLIC[name].__doc__ and not PUBLIC[name].__doc__.startswith(f"{name}(")
    for method, function in inspect.getmembers(PUBLIC[name], inspect.isfunction):
        if not method.startswith("_") and method in vars(PUBLIC[name]):
            assert function.__doc__
