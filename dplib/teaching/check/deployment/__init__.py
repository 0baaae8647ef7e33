"""Checkers of chapter 7, from a notebook to a release, a module a section."""
from dplib.teaching.check.deployment.engines import *  # noqa: F403
from dplib.teaching.check.deployment.groups import *  # noqa: F403
from dplib.teaching.check.deployment.inference import *  # noqa: F403
from dplib.teaching.check.deployment.trust import *  # noqa: F403
from dplib.teaching.check.deployment.year import *  # noqa: F403
