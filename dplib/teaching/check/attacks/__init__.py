"""Checkers of chapter 1, attacks on anonymised data, a module a section."""
from dplib.teaching.check.attacks.k_anonymity import *  # noqa: F403
from dplib.teaching.check.attacks.linkage import *  # noqa: F403
from dplib.teaching.check.attacks.membership import *  # noqa: F403
from dplib.teaching.check.attacks.reconstruction import *  # noqa: F403
