"""Checkers of chapter 3, mechanisms, a module a section."""
from dplib.teaching.check.mechanisms.choosing import *  # noqa: F403
from dplib.teaching.check.mechanisms.data_dependent import *  # noqa: F403
from dplib.teaching.check.mechanisms.finite_computers import *  # noqa: F403
from dplib.teaching.check.mechanisms.gaussian import *  # noqa: F403
from dplib.teaching.check.mechanisms.laplace import *  # noqa: F403
from dplib.teaching.check.mechanisms.local import *  # noqa: F403
