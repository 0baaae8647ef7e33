"""Checkers of chapter 5, histograms and synthetic data, a module a section."""
from provable_privacy.check.histograms.bins import *  # noqa: F403
from provable_privacy.check.histograms.ranges import *  # noqa: F403
from provable_privacy.check.histograms.release import *  # noqa: F403
from provable_privacy.check.histograms.synthetic import *  # noqa: F403
