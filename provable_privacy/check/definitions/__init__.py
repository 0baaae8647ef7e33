"""Checkers of chapter 2, definitions, a module a section."""
from provable_privacy.check.definitions.approximate_dp import *  # noqa: F403
from provable_privacy.check.definitions.composition import *  # noqa: F403
from provable_privacy.check.definitions.epsilon_dp import *  # noqa: F403
from provable_privacy.check.definitions.testing import *  # noqa: F403
