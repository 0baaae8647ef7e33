"""Checkers of chapter 1, attacks on anonymised data, a module a section."""
from provable_privacy.check.attacks.k_anonymity import *  # noqa: F403
from provable_privacy.check.attacks.linkage import *  # noqa: F403
from provable_privacy.check.attacks.membership import *  # noqa: F403
from provable_privacy.check.attacks.reconstruction import *  # noqa: F403
