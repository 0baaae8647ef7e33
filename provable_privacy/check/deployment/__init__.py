"""Checkers of chapter 7, from a notebook to a release, a module a section."""
from provable_privacy.check.deployment.engines import *  # noqa: F403
from provable_privacy.check.deployment.groups import *  # noqa: F403
from provable_privacy.check.deployment.inference import *  # noqa: F403
from provable_privacy.check.deployment.trust import *  # noqa: F403
from provable_privacy.check.deployment.year import *  # noqa: F403
