"""The exercises of the book: their stars, their checkers, and the weeks of the syllabus in which they are homework.

A test compares both tables with the notebooks and with the syllabus.
"""

__all__ = ["EXERCISES", "WEEKS"]

# section -> a line for each exercise: stars, label, checkers, and "read" where a person reads the answer or a part
EXERCISES = {
    "attacks.linkage": """
        ★ ex-link-classify link_classify
        ★ ex-link-unique link_unique
        ★★ ex-link-mend link_mend
        ★★ ex-link-extrapolate link_extrapolate
        ★★ ex-link-reverse link_reverse
        ★★★ ex-link-score link_score
    """,
    "attacks.k_anonymity": """
        ★ ex-kan-risk kan_risk
        ★★ ex-kan-mondrian kan_mondrian
        ★ ex-kan-entropy kan_entropy
        ★★ ex-kan-ordered kan_ordered
        ★★ ex-kan-mend kan_mend
        ★★★ ex-kan-intersect kan_intersect
    """,
    "attacks.reconstruction": """
        ★★ ex-rec-tracker rec_tracker
        ★★ ex-rec-tight rec_tight
        ★ ex-rec-ages rec_ages
        ★★ ex-rec-collapse rec_collapse
        ★ ex-rec-mend rec_mend
        ★★★ ex-rec-defend rec_defend
    """,
    "attacks.membership": """
        ★ ex-mem-score mem_score
        ★★ ex-mem-tpr mem_tpr
        ★ ex-mem-base mem_base
        ★★ ex-mem-epsilon mem_epsilon
        ★★★ ex-mem-release mem_release
    """,
    "definitions.epsilon_dp": """
        ★ ex-dp-unit dp_unit
        ★ ex-dp-epsilon dp_epsilon
        ★★ ex-dp-respond dp_respond
        ★★ ex-dp-survey dp_survey
        ★★ ex-dp-user dp_user
        ★ ex-dp-belief dp_belief
        ★★★ ex-dp-means dp_means
    """,
    "definitions.approximate_dp": """
        ★ ex-adp-exact-delta adp_exact_delta
        ★ ex-adp-witness adp_witness
        ★★ ex-adp-tail adp_tail
        ★★ ex-adp-threshold adp_threshold
        ★★ ex-adp-off-by-one adp_off_by_one
        ★★★ ex-adp-convert adp_convert
    """,
    "definitions.composition": """
        ★ ex-comp-crossover comp_crossover
        ★★ ex-comp-delta comp_delta
        ★★ ex-comp-overlap comp_overlap
        ★★ ex-comp-user comp_user
        ★★★ ex-comp-ledger comp_ledger
        ★★★ ex-comp-split comp_split
    """,
    "definitions.testing": """
        ★ ex-audit-runs audit_runs
        ★★ ex-audit-largest audit_largest
        ★★ ex-audit-split audit_split
        ★★★ ex-audit-break audit_break
        ★★ ex-audit-notice audit_notice
    """,
    "mechanisms.laplace": """
        ★ ex-lap-release lap_release lap_interval
        ★★ ex-lap-quiz lap_quiz
        ★★ ex-lap-bound lap_bound
        ★★ ex-lap-contribution lap_contribution
        ★★ ex-lap-discrete lap_discrete
        ★★★ ex-lap-bug lap_bug
    """,
    "mechanisms.gaussian": """
        ★★ ex-gau-sigma gau_sigma
        ★★ ex-gau-break gau_break
        ★★ ex-gau-clip gau_clip
        ★ ex-gau-crossover gau_crossover
        ★★ ex-gau-covariance gau_covariance
        ★★★ ex-gau-scales gau_scales
    """,
    "mechanisms.choosing": """
        ★ ex-em-score em_score
        ★★ ex-em-winner em_winner
        ★★ ex-em-max em_max
        ★★ ex-em-flip em_flip
        ★★★ ex-em-median em_median
    """,
    "mechanisms.local": """
        ★ ex-ldp-oue ldp_oue
        ★ ex-ldp-plan ldp_plan
        ★★ ex-ldp-days ldp_days
        ★★ ex-ldp-belief ldp_belief
        ★★ ex-ldp-liars ldp_liars
        ★★ ex-ldp-decoder ldp_decoder
        ★★★ ex-ldp-set ldp_set
    """,
    "mechanisms.data_dependent": """
        ★ ex-dd-witness dd_witness
        ★★ ex-dd-mean dd_mean
        ★★ ex-dd-smooth dd_smooth
        ★★★ ex-dd-tails read
        ★★ ex-dd-test dd_test
        ★★ ex-dd-blocks dd_blocks
    """,
    "mechanisms.finite_computers": """
        ★ ex-fin-catch fin_catch
        ★★ ex-fin-truncate fin_truncate
        ★★★ ex-fin-coins fin_coins
        ★★ ex-fin-saturate fin_saturate
        ★★ ex-fin-seed fin_seed
        ★★ ex-fin-bug fin_bug
    """,
    "sparse_vector.above_threshold": """
        ★ ex-svt-touch svt_touch
        ★ ex-svt-build svt_build
        ★★ ex-svt-level svt_level
        ★ ex-svt-counterexample svt_counterexample
        ★★ ex-svt-refute svt_refute
        ★★ ex-svt-mend svt_mend
        ★★★ ex-svt-monotone svt_monotone read
    """,
    "sparse_vector.broken_variants": """
        ★ ex-svt-formula svt_formula
        ★★ ex-svt-endless svt_endless
        ★★ ex-svt-catch svt_catch
        ★★ ex-svt-repair svt_repair
        ★★★ ex-svt-restart svt_restart
    """,
    "sparse_vector.bounds_and_ranges": """
        ★ ex-svt-vectorise svt_vectorise
        ★★ ex-svt-threshold svt_threshold
        ★★★ ex-svt-auto-mean svt_auto_mean
        ★★ ex-svt-global svt_global
        ★ ex-svt-gain svt_gain
    """,
    "sparse_vector.streams": """
        ★★ ex-svt-several svt_several
        ★★ ex-svt-split svt_split
        ★ ex-svt-which svt_which
        ★★ ex-svt-bound svt_bound
        ★★★ ex-svt-curve svt_curve
    """,
    "histograms.release": """
        ★ ex-hist-interval hist_interval
        ★★ ex-hist-mend hist_mend
        ★★ ex-hist-phantom hist_phantom
        ★★ ex-hist-simplex hist_simplex
        ★★★ ex-hist-lattice hist_lattice
    """,
    "histograms.bins": """
        ★ ex-bins-parts bins_parts
        ★★ ex-hist-bins hist_bins
        ★★ ex-bins-private bins_private
        ★★★ ex-bins-lattice bins_lattice
    """,
    "histograms.ranges": """
        ★ ex-range-scale range_scale
        ★★ ex-range-crossing range_crossing
        ★★ ex-range-release range_release
        ★★ ex-range-counter range_counter
        ★★★ ex-range-split range_split
    """,
    "histograms.synthetic": """
        ★ ex-syn-rows syn_rows
        ★★ ex-syn-interval syn_interval
        ★★ ex-syn-choose syn_choose
        ★★★ ex-syn-mwem syn_mwem
        ★★ ex-syn-attack syn_attack
        ★★ ex-syn-vendor syn_vendor
    """,
    "f_dp.trade_offs": """
        ★ ex-tf-court tf_court
        ★ ex-tf-conditions tf_conditions
        ★★ ex-tf-best-test tf_best_test
        ★★ ex-tf-inverse tf_inverse
        ★★★ ex-tf-verdict tf_verdict
        ★★★ ex-tf-balanced read
    """,
    "f_dp.gaussian_dp": """
        ★ ex-gdp-profile gdp_profile
        ★★ ex-gdp-envelope gdp_envelope
        ★★ ex-gdp-trap gdp_trap
        ★★ ex-gdp-group gdp_group
        ★★★ ex-gdp-honest gdp_honest
        ★★ ex-gdp-none read
    """,
    "f_dp.products": """
        ★ ex-prod-tensor prod_tensor
        ★★ ex-prod-squares prod_squares
        ★★ ex-prod-band prod_band
        ★★ ex-prod-vendor prod_vendor
        ★★★ ex-prod-square read
    """,
    "f_dp.accounting": """
        ★ ex-acc-rdp acc_rdp
        ★★★ ex-acc-pld acc_pld
        ★ ex-acc-honest acc_honest
        ★★ ex-acc-sample acc_sample
        ★★ ex-acc-sigma acc_sigma
    """,
    "f_dp.learning": """
        ★ ex-sgd-clip sgd_clip
        ★★ ex-sgd-step sgd_step
        ★ ex-sgd-account sgd_account
        ★ ex-sgd-break sgd_break
        ★★ ex-sgd-share sgd_share
        ★★ ex-sgd-ceiling sgd_ceiling
        ★★ ex-sgd-ghost sgd_ghost
    """,
    "deployment.groups": """
        ★ ex-grp-leaks grp_leaks
        ★★ ex-grp-optimal grp_optimal
        ★★ ex-grp-release grp_release
        ★★ ex-grp-several grp_several
        ★★ ex-grp-gaussian grp_gaussian
        ★★ ex-grp-lot grp_lot
    """,
    "deployment.engines": """
        ★ ex-eng-order eng_order
        ★★ ex-eng-bound eng_bound
        ★ ex-eng-sum eng_sum
        ★★ ex-eng-steal eng_steal
        ★★ ex-eng-allow eng_allow
        ★ ex-eng-late eng_late
        ★★★ ex-eng-retry read
    """,
    "deployment.inference": """
        ★★ ex-inf-proportion inf_proportion
        ★★ ex-inf-pair inf_pair
        ★★ ex-inf-ratio inf_ratio
        ★ ex-inf-bias inf_bias
        ★ ex-inf-combine inf_combine
        ★★ ex-inf-test inf_test
        ★★★ ex-inf-line inf_line
    """,
    "deployment.year": """
        ★ ex-year-plan year_plan
        ★ ex-year-odds year_odds
        ★★ ex-year-split year_split
        ★★ ex-year-plant year_plant
        ★★ ex-year-card year_card
        ★★ ex-year-years year_years
        ★★ ex-year-wrong year_wrong
    """,
    "deployment.trust": """
        ★ ex-agg-shares agg_shares
        ★★ ex-agg-part agg_part
        ★★ ex-agg-collusion agg_collusion
        ★★ ex-agg-dropout agg_dropout
    """,
}

WEEKS = {
    1: "ex-link-unique ex-link-mend ex-kan-risk ex-kan-entropy",
    2: "ex-rec-tracker ex-rec-ages ex-mem-base ex-mem-tpr",
    3: "ex-dp-respond ex-dp-unit ex-adp-witness ex-adp-exact-delta",
    4: "ex-comp-overlap ex-comp-ledger ex-audit-split ex-audit-notice",
    5: "ex-lap-quiz ex-lap-contribution ex-gau-crossover ex-gau-clip",
    6: "ex-em-score ex-em-winner ex-ldp-plan ex-ldp-days",
    7: "ex-dd-witness ex-fin-bug ex-svt-touch ex-svt-mend",
    8: "ex-svt-formula ex-svt-repair ex-svt-gain ex-svt-which",
    9: "ex-hist-mend ex-bins-parts ex-range-crossing ex-grp-leaks ex-grp-optimal",
    10: "ex-syn-vendor ex-syn-attack ex-tf-best-test ex-tf-conditions",
    11: "ex-gdp-trap ex-prod-tensor ex-acc-honest ex-sgd-clip ex-sgd-ceiling",
    12: "ex-eng-order ex-inf-bias ex-year-plan ex-year-plant ex-agg-shares",
}
