"""Checkers of chapter 3, mechanisms, a module a section."""
from provable_privacy.check.mechanisms.choosing import *  # noqa: F403
from provable_privacy.check.mechanisms.data_dependent import *  # noqa: F403
from provable_privacy.check.mechanisms.finite_computers import *  # noqa: F403
from provable_privacy.check.mechanisms.gaussian import *  # noqa: F403
from provable_privacy.check.mechanisms.laplace import *  # noqa: F403
from provable_privacy.check.mechanisms.local import *  # noqa: F403
