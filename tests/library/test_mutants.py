"""Bugs made by hand, each of which the named tests must notice: a suite that cannot fail proves nothing.

Every mutant is one replacement in a copy of dplib, and names the one test that runs against that copy and has to fail
by an assertion.
`python tests/library/test_mutants.py` prints which test killed which mutant, after showing that the unharmed copy
survives.
"""
import re
import sys
import tempfile
import time
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest
from mutation import run_tests

from dplib.svt import VARIANTS


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    killer: str


def mutant(name, file, old, new, killer):
    """A mutant of dplib/<file>.py, to be killed by this test of its module (all its parameters, or one:
    test_x[1-2])."""
    tests = {"svt/museum": "museum", "_validate": "distributions"}.get(file, file.partition("/")[0])
    return Mutant(name, f"{file}.py", old, new, f"test_{tests}.py::{killer}")


ALGORITHM_1 = "    return _scan(answers, finite(\"threshold\", threshold), noise, c, generator(rng))[0]\n"


def imposter(variant):
    """A variant of the museum in the place of `above_threshold`, to be unmasked by its law alone."""
    instead = (
        "    from dplib.svt.museum import run_variant\n"
        "    answers = np.asarray(list(answers), dtype=float) / sensitivity\n"
        f"    return np.flatnonzero(run_variant({variant!r}, answers, threshold=threshold / sensitivity, "
        f"epsilon=epsilon, c=c, rng=rng)[0] == 1)\n"
    )
    return Mutant(f"{variant} for alg1", "svt/mechanism.py", ALGORITHM_1,
                  instead, "test_museum.py::test_above_threshold_has_the_law_of_algorithm_1")


MUTANTS = [
    Mutant("anything true is a flag", "_validate.py",
           "if not isinstance(value, (bool, np.bool_)):\n        raise ValueError(f\"{name} must be True",
           "if value is None:\n        raise ValueError(f\"{name} must be True",
           "test_doors.py::test_only_a_bool_is_a_flag"),
    Mutant("one text makes texts of all cells", "_validate.py",
           "cells = cells.astype(object) if typed else np.array(value, dtype=object)", "cells = cells.astype(object)",
           "test_doors.py::test_private_numbers_are_read_cell_by_cell"),
    Mutant("a gap counts as one", "_validate.py", "number == math.floor(number) else 0",
           "number == math.floor(number) else 1",
           "test_doors.py::test_private_whole_numbers_are_read_cell_by_cell"),
    Mutant("a message shows the value", "_validate.py",
           'raise ValueError(f"{name} must be a list, got {type(value).__name__}")',
           'raise ValueError(f"{name} must be a list, got {value!r}")',
           "test_doors.py::test_whatever_stands_in_an_argument_there_is_an_answer_or_an_error_that_names_it"),
    Mutant("categories of suppressed rows stay", "anonymity/generalisation.py",
           "table=without_memory(table[np.bincount(label)[label] >= k])", "table=table[np.bincount(label)[label] >= k]",
           "test_memory.py::test_a_generalised_table_knows_no_row_that_it_suppressed"),
    Mutant("categories of hidden groups stay", "_labels.py", "return plain(labels.astype(dtype.categories.dtype))",
           "return labels", "test_memory.py::test_a_list_of_groups_knows_no_group_that_is_not_on_it"),
    mutant("the dots joined in epsilon", "fdp/product", "(rise[:-1] - math.exp(-step) * rise[1:]) / math.expm1(-step)",
           "(rise[1:] - rise[:-1]) / step", "test_n_answers_of_randomized_response_are_the_binomial"),
    mutant("round-off and tails forgotten", "fdp/product",
           "slack = 4 * TAIL + ROUNDING * sum(one.times for one in laws)", "slack = 0.0",
           "test_approx_to_the_n_is_kairouz_oh_viswanath"),
    Mutant("round-off charged once for all factors", "fdp/product.py", "ROUNDING * sum(one.times for one in laws)",
           "ROUNDING * len(laws)", "test_ledger.py::test_the_charge_for_round_off_grows_with_the_number_of_factors_and_"
           "is_far_above_it[10000]"),
    Mutant("small losses left out", "fdp/product.py", " + [Factor(ahead, back, 1, None)]", "",
           "test_ledger.py::test_losses_of_different_sizes_cost_what_all_their_outcomes_say[decades]"),
    mutant("subsampling amplifies twice", "fdp/tradeoff", "return p * profile.delta(epsilon + np",
           "return p * p * profile.delta(epsilon + np", "test_subsampling_mixes_with_the_identity"),
    mutant("a small loss grows by subsampling", "fdp/tradeoff", "return math.log1p(p * math.expm1(loss)) if loss < 1",
           "return loss - math.log1p((1 - 1 / p) * math.expm1(-loss)) if loss < 1",
           "test_what_is_left_of_a_bounded_loss_under_subsampling_is_known_to_the_last_digits"),
    mutant("the curve from one half of its supporting lines", "fdp/tradeoff", "(-min(self.back.reach, 700), min(",
           "(0.0, min(", "test_the_curve_is_its_closed_form_and_the_profiles_give_it_back"),
    mutant("the product of one direction stands for both", "fdp/tradeoff",
           "back = ahead if all(f.symmetric for f, _ in flat) else", "back = ahead if flat else",
           "test_a_product_is_on_the_safe_side_of_the_product_law_and_near_it"),
    mutant("the dots joined by chords", "fdp/tradeoff",
           "    slope = (np.diff(b) / np.diff(a))[np.searchsorted(a, points[1:]) - 1]\n",
           "    return finite(np.append(0.0, np.diff(a)), np.append(1 - b[0], -np.diff(b)))\n",
           "test_a_curve_from_points_is_below_every_curve_through_them"),
    mutant("points on a line between two others left out", "fdp/tradeoff", "np.unique(np.concatenate([a, alpha]))",
           "a", "test_points_of_perfect_privacy_prove_it"),
    mutant("a safe curve that is lower than need be", "fdp/tradeoff",
           "before, after = slope[:-1], np.append(slope[1:], 0.0)",
           "before, after = slope[:-1], np.append(0.9 * slope[1:], 0.0)",
           "test_a_curve_from_points_is_the_highest_convex_one_below_all_curves_through_them"),
    mutant("Berry-Esseen with the moment about zero", "fdp/limit", "((2, 0), (3, 0), (3, kl))",
           "((2, 0), (3, 0), (3, 0))", "test_the_berry_esseen_band_holds_the_product"),
    mutant("trade-off functions judged in one direction", "budget/ledger",
           "return max(f.epsilon(delta), f.inverse().epsilon(delta))", "return f.inverse().epsilon(delta)",
           "test_fdp_takes_the_worse_direction_after_composing"),
    mutant("a block under replace pays for one trade-off function", "budget/ledger",
           'if self._blocks[block] == "replace":', 'if self._blocks[block] == "both":',
           "test_a_parallel_block_under_fdp_costs_its_worst_release_or_its_worst_pair"),
    mutant("Laplace scale halved", "mechanisms",
           'scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)',
           'scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon) / 2',
           "test_laplace_has_scale_sensitivity_over_epsilon"),
    mutant("geometric noise from one side only", "mechanisms", "- rng.geometric(p, value.shape)",
           "- 1", "test_geometric_is_discrete_laplace"),
    mutant("classic sigma for every epsilon", "mechanisms", "if epsilon > 1:",
           "if epsilon > 100:", "test_classic_sigma_is_refused_above_epsilon_one"),
    mutant("discrete Gaussian without rejection", "mechanisms", "rng.random(proposal.size) < chance",
           "rng.random(proposal.size) < 2", "test_discrete_gaussian_has_its_law"),
    mutant("exponential mechanism without the 2", "mechanisms", '(1 if flag("monotone", monotone) else 2)',
           "1", "test_exponential_pmf_is_exact"),
    mutant("noisy maximum of scale 1/epsilon", "mechanisms", '"laplace": lambda rng, shape: rng.laplace(size=shape)',
           '"laplace": lambda rng, shape: rng.laplace(scale=0.5, size=shape)',
           "test_report_noisy_max_has_its_exact_law"),
    mutant("noisy maximum deaf to monotone scores", "mechanisms",
           "_noisy_argmax(_logits(scores, sensitivity, epsilon, monotone), draw, size, rng)",
           "_noisy_argmax(_logits(scores, sensitivity, epsilon, False), draw, size, rng)",
           "test_report_noisy_max_of_monotone_scores_has_half_the_noise"),
    mutant("histogram sensitivity 1 under replace", "sensitivity", "else 2.0 ** (1 / norm)",
           "else 1.0", "test_histogram_is_exact_in_l1"),
    mutant("sum sensitivity without the lower bound", "sensitivity", "return max(abs(low), abs(high)) if",
           "return abs(high) if", "test_bounded_sum_is_exact"),
    mutant("clip lets a nan through", "sensitivity", "np.fmax(",
           "np.maximum(", "test_an_unclipped_nan_would_make_a_sum_useless_and_a_clipped_one_does_not"),
    mutant("brute force forgets removal", "sensitivity", " + [table[:i] + table[i + 1 :] for i in range(len(table))]",
           "", "test_empirical_is_the_local_sensitivity"),
    mutant("delta ignored", "budget/ledger", "> self.delta * (1 + _TOLERANCE)",
           "> 1", "test_deltas_add_up_to_delta_and_no_further"),
    Mutant("a check without a lock", "budget/ledger.py", "self._lock = threading.RLock()",
           'self._lock = __import__("contextlib").nullcontext()',
           "test_ledger.py::test_threads_together_spend_no_more_than_the_budget"),
    Mutant("a block for all threads", "budget/ledger.py",
           "for budget, block in _inside.get() if budget is self and block", "for block in self._open if block",
           "test_ledger.py::test_a_block_belongs_to_the_thread_that_opens_it"),
    mutant("charged before the check", "budget/ledger", 'probability("delta", delta), str(label), block)\n',
           'probability("delta", delta), str(label), block)\n            self._ledger.append(entry)\n',
           "test_a_refusal_says_what_was_asked_and_what_is_left_and_charges_nothing"),
    mutant("a parallel block under replace charges its maximum", "budget/ledger",
           'costs[: 1 if adjacency == "add/remove" else 2]', "costs[:1]",
           "test_a_parallel_block_costs_its_largest_loss_or_under_replace_its_two_largest"),
    mutant("no tolerance for rounding", "budget/ledger", "_TOLERANCE = 1e-12",
           "_TOLERANCE = 0.0", "test_three_times_a_tenth_fits_into_three_tenths_and_no_more"),
    mutant("advanced rule charges half the squares", "budget/ledger", "root = math.hypot(*losses) ",
           "root = math.hypot(*losses) / math.sqrt(2) ",
           "test_the_advanced_filter_lets_through_what_its_closed_form_says"),
    mutant("delta of a sensitivity that divides", "mechanisms",
           'positive("sigma", sigma) / positive("sensitivity", sensitivity)\n    return min',
           'positive("sigma", sigma) * positive("sensitivity", sensitivity)\n    return min',
           "test_gaussian_delta_is_pinned"),
    mutant("the Gaussian's delta rounded down", "mechanisms", "* (1 + 1e-15))",
           "* (1 - 1e-13))", "test_gaussian_delta_is_never_below_the_truth_and_hardly_above"),
    mutant("optimal composition rounded down", "budget/composition", "rounding = 1e-15 *",
           "rounding = -1e-15 *", "test_optimal_composition_is_the_smallest_epsilon_that_keeps_delta"),
    mutant("optimal composition without the other side", "budget/composition",
           "log_excess = log_above + np.log1p(-np.exp(np.minimum(math.log(delta) - log_above, 0.0)))",
           "log_excess = log_above",
           "test_optimal_composition_is_pinned_and_below_the_theorems"),
    mutant("optimal composition of one release fewer", "budget/composition", "losses = (k - 2 * lies)",
           "losses = (k - 1 - 2 * lies)", "test_optimal_composition_is_pinned_and_below_the_theorems"),
    mutant("Renyi to epsilon as if alpha delta were delta", "budget/composition",
           "-(math.log(delta) + np.log1p(excess)) / excess", "-math.log(delta) / excess",
           "test_the_epsilon_of_zcdp_is_opendps"),
    mutant("Renyi to epsilon with a logarithm too many", "budget/composition", "/ excess - np.log1p(1 / excess)",
           "/ excess - 2 * np.log1p(1 / excess)", "test_the_epsilon_of_zcdp_is_opendps"),
    mutant("the order of Bun and Steinke", "budget/composition", " + np.logaddexp(0.0, log_excess) + math.log(delta)",
           " + math.log(delta)", "test_the_epsilon_of_zcdp_and_of_the_gaussian_are_pinned"),
    mutant("mu for sigma", "budget/composition", "log_delta(1 / max(mu, 1e-300), epsilon)",
           "log_delta(max(mu, 1e-300), epsilon)", "test_the_epsilon_of_zcdp_and_of_the_gaussian_are_pinned"),
    mutant("zCDP of a bounded range", "budget/composition", "return epsilon * epsilon / 2",
           "return epsilon * epsilon / 8", "test_the_rho_of_a_pure_release_bounds_the_worst_one_at_every_order"),
    mutant("Renyi divergence of twice the variance", "budget/composition", "order * (mu * mu / 2)",
           "order * (mu * mu / 4)", "test_the_renyi_divergence_of_gaussian_noise_is_its_integral"),
    mutant("delta in one direction only", "distributions", "for one, other in ((p, q), (q, p))",
           "for one, other in ((p, q),)", "test_the_worse_direction_counts"),
    mutant("e^epsilon cut off where doubles end", "distributions", "min(epsilon, 1400.0)",
           "min(epsilon, 700.0)", "test_delta_is_right_where_e_to_the_epsilon_is_no_number"),
    mutant("impossible on D overlooked", "distributions", "math.inf if np.any((p == 0) & (q > 0)) else float(",
           "float(", "test_the_worse_direction_counts"),
    mutant("losses with the chances on D'", "distributions", "np.log(q[possible]), p[possible]",
           "np.log(q[possible]), q[possible]", "test_losses_are_those_of_the_possible_outcomes_and_change_the_measure"),
    mutant("nan passes for a probability", "_validate", "not np.all(law >= 0) or not abs(law.sum() - 1) < 1e-9",
           "np.any(law < 0) or abs(law.sum() - 1) > 1e-9",
           "test_the_lists_need_not_sum_to_one_in_the_last_bit_but_nan_is_no_probability"),
    mutant("one coin for all names", "distributions", "generator(rng).random(len(everybody)) < delta",
           "np.full(len(everybody), generator(rng).random()) < delta",
           "test_a_catastrophe_has_its_law[name_and_shame]"),
    mutant("the catastrophe is the rule", "distributions", "if rng.random() < delta",
           "if rng.random() > delta", "test_a_catastrophe_has_its_law[catastrophe]"),
    mutant("one tag too many", "distributions", 'whole("tags", tags, least=1, most=2**63 - 1)))',
           'whole("tags", tags, least=1) + 1))', "test_a_random_tag_has_its_law_and_shows_the_record"),
    mutant("a lie may be the truth", "local/reports", "rng.integers(1, k, values.shape)",
           "rng.integers(0, k, values.shape)", "test_reports_have_the_exact_law"),
    mutant("k values lie like two", "local/reports", "return (k - 1) / (math.exp(min(epsilon, 700.0)) + k - 1)",
           "return 1 / (math.exp(min(epsilon, 700.0)) + 1)",
           "test_the_probability_of_the_truth_means_the_same_epsilon_to_opendp"),
    mutant("one coin for all people", "local/reports", "rng.random(values.shape) < _lying",
           "np.full(values.shape, rng.random()) < _lying", "test_reports_have_the_exact_law"),
    mutant("out of range wraps around", "local/reports", "np.clip(values, 0, k - 1)",
           "np.mod(values, k)", "test_a_value_out_of_range_is_moved_to_the_nearest_end_and_then_as_private_as_any"),
    mutant("lies are not taken out", "local/reports", "minlength=k) / reports.size - lie) / gap",
           "minlength=k) / reports.size) / gap", "test_the_estimate_has_no_bias_and_the_stated_variance"),
    mutant("the error of a sample without coins", "local/reports",
           "variance = (inside * truth * (1 - truth) + (1 - inside) * lie * (1 - lie))",
           "variance = inside * (1 - inside)",
           "test_the_estimate_is_pinned"),
    mutant("truth minus lie cancels", "local/reports", "lie * math.expm1(min(epsilon, 700.0))",
           "1 - k * lie", "test_the_estimate_is_right_where_truth_and_lie_are_almost_the_same"),
    mutant("a lying zero as likely as a lying answer", "local/reports",
           "return 0.5, float(expit(-epsilon)), math.tanh(epsilon / 2) / 2",
           "return 0.5, float(expit(-epsilon / 2)), math.tanh(epsilon / 4) / 2",
           "test_unary_reports_have_the_exact_law[0.5-optimized]"),
    mutant("both bits pay the whole epsilon", "local/reports",
           "return float(expit(epsilon / 2)), float(expit(-epsilon / 2)), math.tanh(epsilon / 4)",
           "return float(expit(epsilon)), float(expit(-epsilon)), math.tanh(epsilon / 2)",
           "test_unary_reports_have_the_exact_law[0.5-symmetric]"),
    mutant("one coin for all bits of a person", "local/reports", "generator(rng).random(ones.shape) <",
           "generator(rng).random((*ones.shape[:-1], 1)) <",
           "test_unary_reports_have_the_exact_law[0.5-optimized]"),
    mutant("a value beyond the last is nobody's", "local/reports",
           'moved = np.searchsorted(np.arange(1, k), values, side="right")', "moved = values",
           "test_a_value_out_of_range_is_encoded_as_the_nearest_end"),
    mutant("the error of unary reports at frequency zero", "local/reports",
           "inside * (truth * (1 - truth) - lie * (1 - lie)) + lie", "0 * inside + lie",
           "test_the_unary_error_is_the_variance_at_the_estimate"),
    mutant("Theorem 1 for one of two values", "local/rappor", "return 2 * self.hashes * _log_ratio(self.f, 0.0)",
           "return self.hashes * _log_ratio(self.f, 0.0)",
           "test_the_loss_of_the_permanent_filter_is_that_of_its_exact_law"),
    mutant("n reports as if of n permanent filters", "local/rappor", "_log_ratio(self.f, x**n) for x",
           "n * _log_ratio(self.f, x) for x", "test_the_loss_of_n_reports_is_that_of_their_exact_law"),
    mutant("the loss of unanimous ones only", "local/rappor",
           "for x in (self.p / self.q, (1 - self.q) / (1 - self.p)))", "for x in (self.p / self.q, self.p / self.q))",
           "test_the_loss_of_n_reports_is_that_of_their_exact_law"),
    mutant("all cohorts hash alike", "local/rappor", 'f"{self.seed} {cohort} {index} {name}"',
           'f"{self.seed} {index} {name}"',
           "test_the_bloom_filters_are_pinned_and_depend_on_value_cohort_and_seed_alone"),
    mutant("one hash function for all", "local/rappor", 'f"{self.seed} {cohort} {index} {name}"',
           'f"{self.seed} {cohort} {name}"',
           "test_the_bloom_filters_are_pinned_and_depend_on_value_cohort_and_seed_alone"),
    mutant("a permanent bit flipped with chance f", "local/rappor", "1 - self.f / 2, self.f / 2, rng)",
           "1 - self.f, self.f, rng)", "test_permanent_filters_and_reports_have_the_exact_law"),
    mutant("decoding forgets the permanent noise", "local/rappor", "/ ((1 - self.f) * (self.q - self.p))",
           "/ (self.q - self.p)", "test_decoding_has_no_bias_at_all_when_every_value_is_listed"),
    mutant("strangers are shared out among the candidates", "local/rappor", "np.ones(self.bits)])",
           "(-1.0) ** np.arange(self.bits)])", "test_values_that_nobody_listed_lend_no_weight"),
    mutant("the error of one bit for all", "local/rappor", "((people - design @ fit) @ design @ inverse) ** 2",
           "(people @ design @ inverse) ** 2", "test_decoded_frequencies_scatter_as_much_as_they_say"),
    mutant("a new row moves a quantile's score by q only", "quantiles", "2 * max(q, 1 - q) if inside",
           "2 * min(q, 1 - q) if inside", "test_the_loss_comes_up_to_epsilon_and_not_beyond"),
    mutant("replace at the rate of one row more", "quantiles", "return 2.0 if inner[0] else 1.0",
           "return max(alone)", "test_the_loss_comes_up_to_epsilon_and_not_beyond[0.25-replace]"),
    mutant("a quantile without the lengths of the intervals", "quantiles", "np.log(widths) - rate",
           "0 * np.log(widths) - rate", "test_the_loss_comes_up_to_epsilon_and_not_beyond"),
    mutant("every level of quantiles spends all of epsilon", "quantiles", " / len(wanted).bit_length()",
           "", "test_two_quantiles_follow_the_product_of_their_laws[add/remove]"),
    mutant("a row replaced across two ranges pays for one", "quantiles", "sum(sorted(alone)[-2:])",
           "sum(sorted(alone)[-1:])", "test_a_level_of_two_ranges_costs_a_replaced_row_twice"),
    mutant("quantiles below a quantile asked of all rows", "quantiles", "rows[:cut], left, r)",
           "rows, left, r)", "test_two_quantiles_follow_the_product_of_their_laws[add/remove]"),
    mutant("the gap of a median without the step itself", "data_dependent", "start = np.arange(m - steps - 1, m + 1)",
           "start = np.arange(m - steps, m + 1)",
           "test_the_local_sensitivity_within_any_number_of_steps_is_the_brute_force_one"),
    mutant("a smooth bound that stops at the first step", "data_dependent", "if weight * (x[-1] - x[0]) <= largest:",
           "if largest:", "test_the_smooth_sensitivity_is_the_brute_force_one"),
    mutant("Cauchy noise for the change of the answer alone", "data_dependent", "(1 + 1e-12) / math.sqrt(inverse)",
           "(1 + 1e-12) / level", "test_the_exact_cauchy_constants_use_up_epsilon_and_the_classic_ones_do_not"),
    mutant("the other tail of Laplace noise forgotten", "data_dependent", "+ math.log1p(math.exp(-apart))",
           "", "test_the_delta_of_laplace_noise_is_attained_and_never_exceeded"),
    mutant("smoothness twice as large as delta allows", "data_dependent", "xtol=1e-14 * low) * (1 - 1e-12)",
           "xtol=1e-14 * low) * 1.1", "test_the_exact_laplace_constants_use_up_delta"),
    mutant("the test's threshold ln(2/delta)/(2 epsilon)", "data_dependent",
           "max(math.log(1 / (2 * delta)), 0.0) / epsilon", "math.log(2 / delta) / (2 * epsilon)",
           "test_at_distance_0_the_test_is_passed_with_probability_delta"),
    mutant("blocks cut by position", "data_dependent", "labels = rng.integers(blocks, size=len(values))",
           "labels = np.arange(len(values)) * blocks // max(len(values), 1)",
           "test_every_row_is_in_one_block_drawn_evenly_and_independently_of_its_place"),
    mutant("blocks without rows left out of the mean", "data_dependent", "else (low + high) / 2 for part in parts]",
           "else low for part in parts]", "test_empty_blocks_count_as_the_middle_and_a_nan_as_the_lower_bound"),
    mutant("a mean moved by a new row only", "data_dependent", "return float(max(added, np.abs",
           "return float(max(added, 0 * np.abs",
           "test_the_mean_moves_farther_when_a_row_goes_than_the_textbook_allows"),
    mutant("empty bins get no noise", "histograms",
           '    return mechanisms.laplace(as_counts("counts", counts), sensitivity=step, epsilon=epsilon, rng=rng)\n',
           '    noisy = mechanisms.laplace(as_counts("counts", counts), sensitivity=step, epsilon=epsilon, rng=rng)\n'
           "    return np.where(np.asarray(counts) > 0, noisy, 0)\n",
           "test_every_bin_gets_laplace_noise_also_an_empty_one"),
    mutant("whole noise for add/remove under replace", "histograms", "sensitivity=int(step)",
           "sensitivity=1", "test_whole_counts_get_discrete_laplace_noise"),
    mutant("clipped and rescaled is no projection", "histograms",
           "    return np.maximum(v - _water_level(v, total), 0.0)\n",
           "    return total * np.maximum(v, 0) / max(np.maximum(v, 0).sum(), 1e-9)\n",
           "test_simplex_meets_the_optimality_conditions"),
    mutant("rounding up in the order of the bins", "histograms", "np.argsort(-fraction, kind",
           "np.argsort(0 * fraction, kind", "test_no_lattice_point_is_nearer"),
    mutant("a choice of bins charged for the coarsest", "histograms", "2 * (n + 1) * max(candidates)",
           "2 * (n + 1) * min(candidates)",
           "test_no_neighbour_moves_a_score_by_more_than_is_charged_and_some_moves_it_by_as_much"),
    mutant("a tree that pays for one level", "histograms", "sensitivity=one_level * len(levels)",
           "sensitivity=one_level", "test_every_level_gets_its_share_of_the_budget"),
    mutant("children and parent averaged evenly", "histograms", "(own * level + below * best",
           "(below * level + own * best", "test_consistent_is_the_least_squares_solution"),
    mutant("a range from leaves only", "histograms", "if first >= last or level.size == 1:",
           "if True:", "test_every_range_is_the_direct_sum_from_the_fewest_nodes"),
    mutant("every column costs epsilon", "synthetic", 'each = positive("epsilon", epsilon) / len(shape)',
           'each = positive("epsilon", epsilon)', "test_the_questions_about_a_table_cost_epsilon_in_all"),
    mutant("edges chosen without noise", "synthetic",
           "pairs[mechanisms.exponential(distances, sensitivity=step, epsilon=third / (d - 1), rng=rng)]",
           "pairs[int(np.argmax(distances))]",
           "test_the_questions_about_a_table_cost_epsilon_in_all"),
    mutant("the product's total forgotten under add/remove", "synthetic", '(0 if adjacency == "replace" else 1)',
           "0", "test_no_question_about_a_table_moves_by_more_than_is_charged"),
    mutant("pandas' own look-up", "synthetic", "_codes(df[column], _places(column, domain))",
           "pd.Index(list(domain))"
           ".get_indexer(df[column].map(lambda cell: cell if pd.api.types.is_scalar(cell) else None))",
           "test_one_cell_does_not_change_what_the_others_mean"),
    mutant("a child drawn without its parent", "synthetic", "rows / rows.sum(axis=1, keepdims=True), axis=1)",
           "np.ones((len(rows), 1)) * fallback, axis=1)", "test_chow_liu_keeps_the_pairs_of_its_tree"),
    mutant("mwem asks and measures at the full share", "synthetic", "/ (2 * rounds), counts.sum()",
           "/ rounds, counts.sum()", "test_the_questions_of_mwem_cost_epsilon_in_all"),
    mutant("mwem starts from the truth", "synthetic", "np.full(counts.size, n / counts.size)",
           "np.maximum(counts, 1e-9)", "test_mwem_learns_what_it_measures_and_nothing_else"),
    mutant("weights squared", "synthetic", "p=(chances / chances.sum()).ravel()",
           "p=(chances**2 / (chances**2).sum()).ravel()", "test_cells_are_drawn_by_their_weights"),
    mutant("missing quasi-identifiers share the first value's class", "anonymity/tables",
           "np.where(code < 0, len(values), code), values", "np.where(code < 0, 0, code), values",
           "test_a_missing_value_is_a_value_of_its_own"),
    mutant("recursive diversity with <= for <", "anonymity/measures", "c * tails > ascending[:, -1:]",
           "c * tails >= ascending[:, -1:]", "test_diversity_of_the_ward"),
    mutant("ordered distance divided by m", "anonymity/measures", "/ max(len(overall) - 1, 1)",
           "/ len(overall)", "test_closeness_of_known_tables"),
    mutant("total variation without the half", "anonymity/measures", "np.abs(excess).sum(axis=1) / 2",
           "np.abs(excess).sum(axis=1)", "test_closeness_of_known_tables"),
    mutant("Mondrian gives up after the widest dimension", "anonymity/generalisation",
           "    return None\n\n\ndef _texts", "        break\n    return None\n\n\ndef _texts",
           "test_mondrian_cuts_as_long_as_it_can_into_boxes_that_do_not_touch"),
    mutant("a range hides its missing values", "anonymity/generalisation", '", ".join(parts + ["?"] * missing)',
           '", ".join(parts or ["?"])', "test_recoding_is_true_of_every_row_and_equal_within_a_class"),
    mutant("the first minimal choice is taken", "anonymity/generalisation",
           "best = min(minimal, key=lambda node: (loss(node), minimal[node], node))", "best = next(iter(minimal))",
           "test_the_search_finds_every_minimal_node_and_the_best"),
    mutant("suppression counts classes, not rows", "anonymity/generalisation", "small = int(merged[merged < k].sum())",
           "small = int((merged < k).sum())", "test_the_search_finds_every_minimal_node_and_the_best"),
    mutant("link by the first of several equal keys", "attacks", "drop_duplicates(keep=False)",
           "drop_duplicates()", "test_link_finds_the_keys_that_occur_once_in_each_table"),
    mutant("the best is believed without standing out", "attacks", "Match(best if eccentricity > threshold else None,",
           "Match(best,", "test_a_score_by_hand"),
    mutant("the difference leaves the target in", "attacks", "- ask(group & ~target)",
           "- ask(group)", "test_difference_and_tracker_find_the_sum_of_any_target"),
    mutant("the tracker subtracts its padding twice", "attacks", "- ask(padding) - ask(~padding)",
           "- 2 * ask(padding)", "test_difference_and_tracker_find_the_sum_of_any_target"),
    mutant("bits measured from 0 and not from 1/2", "attacks", "answers - queries.sum(axis=1) / 2 ",
           "answers - 0 * queries.sum(axis=1) ", "test_with_fewer_answers_than_bits_the_guess_leans_to_neither_side"),
    mutant("the variance of the score without p(1-p)", "attacks", "known @ (population * (1 - population) * shift**2)",
           "known @ shift**2", "test_the_score_of_a_stranger_has_mean_0_and_variance_1_exactly"),
    mutant("tied scores pass one by one", "attacks", "np.unique(np.concatenate(scores))[::-1]",
           "np.sort(np.concatenate(scores))[::-1]", "test_roc_has_one_point_for_each_threshold"),
    mutant("union for intersection", "attacks", "left &= candidates[label]",
           "left |= candidates[label]", "test_the_intersection_of_two_classes_by_hand"),
    mutant("threshold noise redrawn in every block", "svt/mechanism", "    for block in _blocks(answers):\n",
           "    for block in _blocks(answers):\n"
           "        threshold += rng.laplace(scale=noise.threshold) if start else 0\n",
           "test_one_threshold_noise_serves_the_whole_run"),
    mutant("one positive answer too many", "svt/mechanism", ">= threshold)[:c]",
           ">= threshold)[:c + 1]", "test_a_run_stops_at_its_cth_yes"),
    mutant("query noise 2/epsilon", "svt/mechanism", 'c if flag("monotone", monotone) else 2 * c',
           "c", "test_even_scales_are_the_textbook_ones"),
    mutant("query noise without c", "svt/mechanism", "factor * sensitivity / for_queries",
           "(1 if monotone else 2) * sensitivity / for_queries", "test_even_scales_are_the_textbook_ones"),
    mutant("optimal split with exponent 1/3", "svt/mechanism", "factor ** (2 / 3)",
           "factor ** (1 / 3)", "test_the_optimal_split_minimises_the_variance_of_the_compared_difference"),
    mutant("released value is the compared one", "svt/mechanism",
           '    indices, exact = _scan(answers, finite("threshold", threshold), noise, c, rng)\n'
           "    return indices, exact + rng.laplace(scale=noise.value, size=exact.size)\n",
           "    noisy = np.array(list(answers)) + rng.laplace(scale=noise.value, size=len(answers))\n"
           "    indices = np.flatnonzero(noisy >= threshold + rng.laplace(scale=noise.threshold))[:c]\n"
           "    return indices, noisy[indices]\n",
           "test_released_values_carry_fresh_laplace_noise_whatever_the_comparison_said"),
    mutant("indices start again in every block", "svt/mechanism", "indices.append(start + passed)",
           "indices.append(passed)", "test_indices_are_counted_across_blocks"),
    mutant("the conversation never halts", "svt/mechanism", "self._left -= passed",
           "self._left -= 0", "test_a_halted_conversation_gives_no_more_answers"),
    mutant("tested on the runs that chose the event", "audit",
           "    event, swapped = "
           "_choose_event(_draw(run, data, n // 2, rng), _draw(run, neighbour, n // 2, rng), delta, alpha)\n"
           "    k1, k2 = (int(event(_draw(run, one, rng.poisson(n / 2), rng)).sum()) for one in (data, neighbour))\n",
           "    draws = _draw(run, data, n // 2, rng), _draw(run, neighbour, n // 2, rng)\n"
           "    event, swapped = _choose_event(*draws, delta, alpha)\n"
           "    k1, k2 = (int(event(outputs).sum()) for outputs in draws)\n",
           "test_an_event_chosen_on_the_runs_that_test_it_accuses_the_innocent_and_audit_does_not"),
    mutant("point estimate for a bound", "audit", "betaincinv(np.maximum(k1, 1), k2 + 1, alpha)",
           "k1 / np.maximum(k1 + k2, 1)", "test_conditional_bound_has_at_most_its_level_for_poisson_counts"),
    mutant("Clopper-Pearson at the whole error on each side", "audit", "confidence, zero=False)) / 2",
           "confidence, zero=False))", "test_epsilon_lower_bound_is_the_ratio_of_clopper_pearson_limits"),
    mutant("the luckiest union wins the search", "audit", "unions = 10.0 ** -min(len(members) / 5, 5)",
           "unions = 1.0", "test_an_audit_that_searches_sees_nearly_as_much_as_one_that_knows_the_event"),
    mutant("direction of the event forgotten", "audit", "    if swapped:\n        k1, k2 = k2, k1\n",
           "", "test_a_correct_mechanism_is_acquitted_though_its_loss_is_seen"),
    mutant("each reply counts once, however often it is given", "svt/law",
           "total = total + times * log_laplace_cdf((answer", "total = total + log_laplace_cdf((answer",
           "test_log_probability_ignores_answers_after_the_last_reply_and_does_not_underflow"),
    mutant("quadrature without the corner at the threshold", "svt/law", "np.unique(np.append(answers, threshold))",
           "np.unique(answers)", "test_index_law_is_pinned"),
    mutant("the density of a narrow interval taken at the centre", "svt/law", " + min(high, 0.0))",
           ")", "test_close_answers_are_told_apart_by_density_times_width"),
    mutant("a redrawn threshold is not redrawn", "svt/museum", "    if variant.redraws:  ",
           "    if False:  ", "test_runs_follow_the_exact_law[alg2-2]"),
    mutant("Lee and Clifton's noise fixed by mistake", "svt/museum", "query=lambda e, c: 4 / (3 * e)",
           "query=lambda e, c: 4 * c / e", "test_scales_are_those_of_the_label"),
    mutant("the note's claim forgotten", "svt/museum", " claim=lambda e, c: (c + 1) / 2 * e,",
           "", "test_three_variants_keep_what_they_claim_and_one_of_them_claims_more"),
    mutant("the loss has the wrong sign", "svt/museum", "return one - two",
           "return two - one", "test_losses_are_pinned"),
    mutant("selection without its second half", "partitions",
           "np.where(sizes <= k, rising(np.minimum(sizes, k)), 1 - hidden)",
           "delta * np.expm1(sizes * rate) / np.expm1(rate)",
           "test_no_linear_programme_finds_more"),
    mutant("selection that turns one person late", "partitions", "k = math.ceil(math.log1p(one",
           "k = 1 + math.ceil(math.log1p(one", "test_the_closed_form_is_the_recursion[0.01-1.0]"),
    mutant("several groups, one epsilon", "partitions",
           'rate = epsilon / whole("num_groups", num_groups, least=1) / per_group', "rate = epsilon / per_group",
           "test_the_delta_of_whole_thresholds_is_that_of_the_joint_law"),
    mutant("several groups, one delta", "partitions", '/ whole("num_groups", num_groups, least=1))\n\n\ndef _first',
           ")\n\n\ndef _first", "test_thresholds_use_up_delta_and_no_more"),
    mutant("the groups of one person move the Gaussian counts in L1", "partitions",
           "per_group * math.sqrt(num_groups))", "per_group * num_groups)",
           "test_thresholds_use_up_delta_and_no_more"),
    mutant("delta split between noise and threshold", "partitions",
           "gaussian_sigma(epsilon, delta=delta, sensitivity=per_group",
           "gaussian_sigma(epsilon, delta=delta / 2, sensitivity=per_group",
           "test_noise_and_threshold_may_each_use_all_of_delta"),
    mutant("shared groups at their own epsilon", "partitions", "_shift_delta(epsilon - log_hidden, mu)",
           "_shift_delta(epsilon, mu)", "test_the_gaussian_theorem_beside_the_joint_law_on_a_grid"),
    mutant("at the bound is above it", "partitions", "passed = noisy > reach",
           "passed = noisy >= reach", "test_the_sampler_draws_that_law"),
    mutant("a second noise for the reader", "partitions", "_by_group(pd.Series(noisy + hidden,",
           "_by_group(pd.Series(noisy + hidden + rng.integers(-1, 2, noisy.size),", "test_the_sampler_draws_that_law"),
    mutant("no coin between two bounds", "partitions", "rng.random(excess.size) < lower",
           "np.zeros(excess.size, dtype=int)", "test_the_sampler_draws_that_law"),
    mutant("one coin for all groups", "partitions", "coin = rng.random(reach.size) *",
           "coin = np.full(reach.size, rng.random()) *", "test_the_sampler_draws_that_law"),
    mutant("the minimum size forgotten", "partitions", "counts[counts > hidden], generator",
           "counts[counts > 0], generator",
           "test_small_groups_are_never_published_where_a_minimum_is_asked_for_and_the_others_as_if_they_were_smaller"),
    mutant("groups in the order of the table", "partitions", "return published.sort_index()",
           "return published", "test_the_order_and_the_index_tell_only_what_is_published"),
    mutant("the names of hidden groups stay in the index", "partitions",
           "published.index = index.remove_unused_levels()", "pass",
           "test_the_order_and_the_index_tell_only_what_is_published"),
    mutant("one group more than promised", "partitions", "order[place < num_groups]",
           "order[place <= num_groups]", "test_nobody_keeps_more_than_they_may_and_the_rest_is_theirs"),
    mutant("the first groups of the table", "partitions", "np.lexsort((lots, codes))",
           "np.lexsort((np.arange(len(pairs)), codes))", "test_the_lot_is_fair"),
    mutant("one lot for all", "partitions", 'f"{salt}:{a}:{b}"',
           'f"{salt}:{b}"', "test_a_salt_is_the_md5_of_salt_person_and_group_and_the_table_may_be_shuffled"),
    mutant("rows for groups", "partitions", ".dropna().drop_duplicates(ignore_index=True)",
           ".dropna().reset_index(drop=True)", "test_nobody_keeps_more_than_they_may_and_the_rest_is_theirs"),
    mutant("the noise left out of the null", "inference", "played = played + draw(rng, played.shape)",
           "played = played + 0", "test_independence_is_rejected_about_as_often_as_it_should_be[1000-0.1]"),
    mutant("a statistic that does not know of the noise", "inference", "np.maximum(expected + variance, 1e-9)",
           "np.maximum(expected, 0.5)", "test_a_relation_is_seen_through_the_noise"),
    mutant("all of the error on each side", "inference",
           "tail = (1 - probability(\"confidence\", confidence, zero=False)) / 2",
           "tail = 1 - probability(\"confidence\", confidence, zero=False)",
           "test_the_interval_covers_every_share_by_enumeration_and_not_much_too_often"),
    mutant("the noise of whole numbers above zero counted as below", "inference", "1 - q * beyond",
           "1 - beyond", "test_the_law_of_a_noisy_count_is_the_sum_over_counts"),
    mutant("the tails of the sample cut off too soon", "inference", "_FORGOTTEN = 37.5",
           "_FORGOTTEN = 7.5", "test_the_law_of_a_noisy_count_is_the_sum_over_counts"),
    mutant("a two-sided p-value that looks at one side", "inference", "min(1.0, 2 * min(above, below))",
           "min(1.0, min(above, below))", "test_a_p_value_is_small_as_rarely_as_it_says[two-sided]"),
    mutant("the noise of the bottom not multiplied by the ratio", "inference", "abs(top - r * bottom), a, abs(r) * b)",
           "abs(top - r * bottom), a, b)", "test_a_ratio_is_kept_exactly_if_its_neighbours_on_a_grid_are"),
    mutant("two equal Laplace noises without their half", "inference", "(1 + t / (2 * m))",
           "(1 + t / m)", "test_the_tail_of_two_laplace_noises_is_their_convolution"),
    mutant("answers weighed by standard deviations", "inference", "weights = 1 / np.sqrt(variances)",
           "weights = variances ** -0.25", "test_two_answers_to_one_question_are_weighed_by_their_variances"),
    mutant("six sums of what nobody clipped", "inference",
           "sensitivity.clip(x, low=-1.0, high=1.0), sensitivity.clip(y, low=-1.0, high=1.0)", "x, y",
           "test_values_beyond_the_bounds_and_missing_ones_are_clipped_and_an_empty_table_is_a_table"),
    mutant("C_xy and C_xx as if they had noises of their own", "inference", "sigma**2 * x * y * (2 + x**2)",
           "0.0 * x * y", "test_the_ends_are_where_the_pivot_is_as_large_as_its_deviation"),
    mutant("a population without the error of a sample", "inference", "        v_yy += max(",
           "        v_yy += 0 * max(",
           "test_without_noise_the_population_has_the_textbooks_interval_and_the_table_its_slope"),
    mutant("the normal law for three people", "inference", "n <= 2 else stdtrit",
           "n <= 3 else stdtrit",
           "test_without_noise_the_population_has_the_textbooks_interval_and_the_table_its_slope"),
    mutant("a slope from a spread that may be noise", "inference", "c_xx <= z * math.sqrt(v_xx)",
           "c_xx <= 0", "test_sums_that_could_be_noise_allow_any_slope"),
    # which has alg1's replies: see the released value above
    *(imposter(name) for name in VARIANTS if name not in ("alg1", "reused_value")),
    mutant("every part is all the noise", "secure",
           'shape = _rate(epsilon, sensitivity), 1 / (_share(honest) * whole("parties", parties, least=1, most=_MOST))',
           "shape = _rate(epsilon, sensitivity), 1.0", "test_parts_add_up_to_discrete_laplace_noise[10-1.0-1]"),
    mutant("the insurance ignored", "secure", "1 / (_share(honest) * whole(",
           "1 / (1.0 * whole(", "test_parts_that_suffice_for_the_honest_keep_the_promise"),
    mutant("the modulus dropped from the sum", "secure", "return (total + MODULUS // 2) % MODULUS - MODULUS // 2",
           "return shares.sum(axis=0) % (4 * MODULUS)", "test_a_sum_beyond_the_modulus_wraps_around"),
    mutant("shares of half the clock", "secure", "integers(0, MODULUS, (",
           "integers(0, MODULUS // 2, (", "test_all_servers_but_one_see_uniform_numbers[0-seen0]"),
    mutant("a conspiracy priced one step too late", "secure", "_overlaps([0.0, float(sensitivity)], honest",
           "_overlaps([1.0, sensitivity + 1.0], honest", "test_the_loss_of_a_conspiracy[0.5-1.675]"),
    mutant("a group too few", "engine", "place <= {most}",
           "place < {most}", "test_the_kept_lines_are_those_of_a_second_program[5-07-2]"),
    mutant("a group too many", "engine", "place <= {most}",
           "place <= {most} + 1", "test_a_planted_person_moves_no_more_than_promised[every key]"),
    mutant("the lot ranks the people of a group", "engine", "(partition by person order",
           "(partition by grp order", "test_a_planted_person_moves_no_more_than_promised[every key]"),
    mutant("a person's sum is not cut", "engine", "cast(least({top}, sum({row})) as bigint)",
           "cast(sum({row}) as bigint)", "test_a_planted_person_moves_no_more_than_promised[one key, often]"),
    mutant("rows are not cut below", "engine", "floor(greatest(0, least({top}, {coins})))",
           "floor(least({top}, {coins}))", "test_a_planted_person_moves_no_more_than_promised[both]"),
    mutant("a missing value is the largest", "engine", "coalesce(r.{_name('value', value)}, 0)",
           "r.{_name('value', value)}", "test_a_planted_person_moves_no_more_than_promised[no value]"),
    mutant("half a coin", "engine", "floor(greatest(0, least({top}, {coins})))",
           "greatest(0, least({top}, {coins}))", "test_fractions_nan_and_infinity_become_whole_coins_without_an_error"),
    mutant("nobody is a person", "engine", "where r.{person} is not null and r.{group}",
           "where r.{group}", "test_a_planted_person_moves_no_more_than_promised[nobody]"),
    mutant("the salt is ignored", "engine", "concat('{salt}:',",
           "concat('07:',", "test_another_salt_keeps_others_and_the_same_salt_the_same_on_one_thread_or_more"),
    mutant("one lot for all", "engine", "cast(person as string), ':', cast(grp",
           "':', cast(grp", "test_the_lot_is_fair_to_places_and_to_pairs_and_between_neighbouring_ids"),
    mutant("a small group too many", "engine", "count(*) >= {few}",
           "count(*) >= {few} - 1", "test_the_counts_are_those_of_the_kept_lines_and_small_groups_are_left_out"),
    mutant("a text may end itself", "engine", "all(mark in _MARKS or mark.isalnum() for mark in value)",
           "all(value)", "test_a_text_that_could_end_itself_is_refused[it's]"),
    mutant("a number for a column of texts", "engine", "        if not isinstance(value, str):",
           "        value = str(value)\n        if not value:", "test_a_text_that_could_end_itself_is_refused[5]"),
    mutant("an interval on one side", "release", "math.log(1 / (1 - probability(",
           "math.log(0.5 / (1 - probability(", "test_each_interval_has_its_confidence[0.95]"),
    mutant("the sensitivity left out of the plan", "release", 'positive("sensitivity", sensitivity) * wide',
           "wide", "test_the_plan_of_the_hospital"),
    mutant("a total that is not kept", "release", "epsilon * most / used",
           "epsilon", "test_a_total_that_is_too_small_widens_every_interval_alike"),
    mutant("probabilities for odds", "release", "1 / (1 + (1 / prior - 1) * math.exp(-epsilon))",
           "min(1.0, prior * math.exp(epsilon))", "test_what_a_loss_means[0.25-2.0]"),
    mutant("a card that asks no ledger", "release", "if not spent * (1 - 1e-9) <=",
           "if False and not spent <=", "test_a_card_that_does_not_is_refused"),
    mutant("a card that may promise more than the ledger", "release", "spent * (1 - 1e-9) <=",
           "spent * (1 - 1e-3) <=", "test_a_card_that_does_not_is_refused"),
    mutant("a loss rounded to the nearest on a card", "release", "4, ROUND_CEILING",
           "4, 'ROUND_HALF_EVEN'", "test_a_card_may_round_its_losses_up_and_its_page_does"),
    mutant("a failure is no finding", "audit", "found[person] = dict.fromkeys(promised, math.inf)",
           "found[person] = dict.fromkeys(promised, 0.0)", "test_a_failure_and_a_missing_number_are_infinite"),
    mutant("a new cell in a public list", "audit", "if public and list(one.index) != list(other.index)",
           "if public and len(one) > len(other)", "test_each_broken_step_is_found_by_its_person"),
    mutant("missing numbers pass", "audit", "if not one.isna().equals(other.isna()):",
           "if False:", "test_a_failure_and_a_missing_number_are_infinite"),
]

def kill(mutant, folder):
    """Name of the test that killed the mutant; AssertionError if none did, or not by an assertion."""

    def change(package):
        path = package / mutant.file
        text = path.read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, f"{mutant.file} holds this {text.count(mutant.old)} times: {mutant.old}"
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")

    code, output = run_tests(folder, [mutant.killer], change)
    assert code == 1, f"pytest ended with {code}, not with a failed test\n{output[-4000:]}"
    failure = re.search(r"^FAILED \S*?::(.+?) - (assert|AssertionError|Failed: DID NOT RAISE)",
                        output, flags=re.MULTILINE)
    assert failure, f"killed, but not by an assertion\n{output[-4000:]}"
    return failure[1]


PLACES = []


def mutants_of(place):
    """Those of one module, or of all modules of a package."""
    PLACES.append(place)
    return pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.file.startswith(place)],
                                   ids=lambda mutant: mutant.name)


class Mutated:                                   # one class for each module, so that workers can share them
    def test_is_killed(self, mutant, tmp_path, record_property):
        start = time.perf_counter()
        killer = kill(mutant, tmp_path)
        seconds = time.perf_counter() - start
        record_property("table", [f"{mutant.killer.split('::')[0]}  {killer}  {seconds:.1f} s"])


@mutants_of("mechanisms.py")
class TestMechanisms(Mutated):
    pass


@mutants_of("_validate.py")
class TestValidation(Mutated):
    pass


@mutants_of("_labels.py")
class TestLabels(Mutated):
    pass


@mutants_of("sensitivity.py")
class TestSensitivity(Mutated):
    pass


@mutants_of("budget/")
class TestBudget(Mutated):
    pass


@mutants_of("distributions.py")
class TestDistributions(Mutated):
    pass


@mutants_of("local/")
class TestLocal(Mutated):
    pass


@mutants_of("quantiles.py")
class TestQuantiles(Mutated):
    pass


@mutants_of("data_dependent.py")
class TestDataDependent(Mutated):
    pass


@mutants_of("fdp/")
class TestFdp(Mutated):
    pass


@mutants_of("histograms.py")
class TestHistograms(Mutated):
    pass


@mutants_of("partitions.py")
class TestPartitions(Mutated):
    pass


@mutants_of("synthetic.py")
class TestSynthetic(Mutated):
    pass


@mutants_of("anonymity/")
class TestAnonymity(Mutated):
    pass


@mutants_of("attacks.py")
class TestAttacks(Mutated):
    pass


@mutants_of("inference.py")
class TestInference(Mutated):
    pass


@mutants_of("svt/mechanism.py")
class TestSvt(Mutated):
    pass


@mutants_of("svt/law.py")
class TestLaw(Mutated):
    pass


@mutants_of("svt/museum.py")
class TestMuseum(Mutated):
    pass


def test_algorithm_1_is_no_imposter(tmp_path):
    """The control: the museum's own Algorithm 1 in the same place survives the law that unmasks the others."""
    control = imposter("alg1")

    def change(package):
        path = package / control.file
        path.write_text(path.read_text(encoding="utf-8").replace(control.old, control.new), encoding="utf-8")

    assert run_tests(tmp_path, [control.killer], change)[0] == 0


@mutants_of("engine.py")
class TestEngine(Mutated):
    pass


@mutants_of("audit.py")
class TestAudit(Mutated):
    pass


@mutants_of("release.py")
class TestRelease(Mutated):
    pass


@mutants_of("secure.py")
class TestSecure(Mutated):
    pass


def test_every_mutant_is_in_a_class():
    assert [mutant for mutant in MUTANTS if sum(mutant.file.startswith(place) for place in PLACES) != 1] == []


def main():
    for file, killers in groupby(sorted({mutant.killer for mutant in MUTANTS}),
                                 key=lambda killer: killer.split("::")[0]):
        with tempfile.TemporaryDirectory() as folder:
            code, output = run_tests(Path(folder), list(killers))
            print(f"unharmed  {file:22} {output.strip().splitlines()[-1]}")
            if code:
                sys.exit(output)
    for mutant in MUTANTS:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                killed_by = kill(mutant, Path(folder))
            except AssertionError as error:
                killed_by = f"SURVIVES: {error}"
        print(f"{time.perf_counter() - start:5.1f} s  {mutant.name:52} {mutant.file:15} {killed_by}")


if __name__ == "__main__":
    main()
