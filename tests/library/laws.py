"""Seeded tests of a sampler's law that prove their own power: the same sample must reject a law that is slightly wrong.

Every such test, and every audit of a correct mechanism, has a false alarm with probability at most LEVEL. There are
fewer than a hundred of them, so the probability that any of them accuses a sound mechanism is below 1e-4. All seeds are
fixed: the outcome changes only when a sampler or numpy's streams do. What must be caught is caught with these seeds. An
audit of a broken mechanism has the power that `runs_needed` is asked for, so after a change it may need another seed.
"""
import numpy as np
from hypothesis import settings
from scipy import stats

LEVEL = 1e-6
DRAWS = 100_000
PROPERTY = settings(derandomize=True, max_examples=100, deadline=None, database=None)


def p_value(counts, law):
    """Chi-square test of `counts` against the probabilities `law`; cells that expect fewer than 25 become one."""
    counts, expected = np.asarray(counts), np.asarray(law) * np.sum(counts)
    if counts[expected < 1e-9].any():            # a thing happened that does not happen
        return 0.0
    order = np.argsort(expected)
    few = np.count_nonzero(expected < 25)
    if 0 < few and expected[order[:few]].sum() < 25:
        few += 1
    starts = np.append(0, np.arange(max(few, 1), len(order)))
    observed, expected = np.add.reduceat(counts[order], starts), np.add.reduceat(expected[order], starts)
    return stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)


def follows(counts, law, *wrong):
    """Assert that `counts` follow `law`, and that they would have refuted each of the `wrong` laws."""
    assert p_value(counts, law) > LEVEL, "the sample does not follow the law"
    for number, other in enumerate(wrong):
        assert p_value(counts, other) < LEVEL, f"this test could not have seen wrong law {number}"


def has_scale(sample, cdf, scale, edges, off=1.05):
    """Assert that `sample` follows cdf(., scale) on the cells between `edges`, and does not follow a scale 5 % off."""
    counts = np.bincount(np.searchsorted(edges, sample), minlength=len(edges) + 1)
    laws = [np.diff(np.concatenate([[0], cdf(edges, s), [1]])) for s in (scale, off * scale, scale / off)]
    follows(counts, *laws)


def mean_is(sample, mean):
    """Assert that the mean of `sample` is `mean`, by a z-test with the sample's own deviation."""
    z = (np.mean(sample) - mean) / (np.std(sample) / len(sample) ** 0.5)
    assert abs(z) < stats.norm.isf(LEVEL / 2), f"mean {np.mean(sample)} is {z:.1f} standard errors from {mean}"
