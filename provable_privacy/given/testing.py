"""Programs that are put to the test. Each of them was sold as private at epsilon = 1."""
import numpy as np

__all__ = ["own_bins", "plain_mean", "same_noise", "tidy_sum", "vendor"]


def vendor(table, size, rng):
    """How many rows? As sold to the town."""
    epsilon, deviation = 1.0, 1.0
    scale = deviation / (epsilon * np.sqrt(2))
    return len(table) + rng.laplace(scale=scale, size=size)


def own_bins(ages, size, rng):
    """A histogram of four bins, over the range of the ages."""
    counts, _ = np.histogram(ages, bins=4)
    return counts + rng.laplace(scale=1.0, size=(size, 4))


def same_noise(ages, size, rng):
    """How many are under 65, and how many are not?"""
    young = sum(age < 65 for age in ages)
    noise = rng.laplace(scale=1.0, size=size)
    return np.column_stack([young + noise, len(ages) - young + noise])


def tidy_sum(ages, size, rng):
    """The sum of the ages, never less than 0 and never more than can be."""
    noisy = np.clip(ages, 0, 100).sum() + rng.laplace(scale=100.0, size=size)
    return np.clip(noisy, 0, len(ages) * max(ages, default=0))


def plain_mean(ages, size, rng):
    """The mean of the ages: a noisy sum over their number."""
    noisy = np.clip(ages, 0, 100).sum() + rng.laplace(scale=100.0, size=size)
    return noisy / max(len(ages), 1)
