"""The sparse vector technique: watch a stream of questions and pay only for the few answers that pass a threshold.

`mechanism` is the technique, `law` its exact law, `museum` the variants that were published, most of them not private.
"""
from dplib.svt.law import index_pmf, log_laplace_cdf, log_probability
from dplib.svt.mechanism import AboveThreshold, Scales, above_threshold, numeric_sparse, scales
from dplib.svt.museum import VARIANTS, Variant, exact_loss, run_variant, worst_loss

__all__ = [
    "VARIANTS", "AboveThreshold", "Scales", "Variant", "above_threshold", "exact_loss", "index_pmf", "log_laplace_cdf",
    "log_probability", "numeric_sparse", "run_variant", "scales", "worst_loss",
]
