"""Checkers of chapter 2, definitions, a module a section."""
from dplib.teaching.check.definitions.approximate_dp import *  # noqa: F403
from dplib.teaching.check.definitions.composition import *  # noqa: F403
from dplib.teaching.check.definitions.epsilon_dp import *  # noqa: F403
from dplib.teaching.check.definitions.testing import *  # noqa: F403
