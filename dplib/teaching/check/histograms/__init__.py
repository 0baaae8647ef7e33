"""Checkers of chapter 5, histograms and synthetic data, a module a section."""
from dplib.teaching.check.histograms.bins import *  # noqa: F403
from dplib.teaching.check.histograms.ranges import *  # noqa: F403
from dplib.teaching.check.histograms.release import *  # noqa: F403
from dplib.teaching.check.histograms.synthetic import *  # noqa: F403
