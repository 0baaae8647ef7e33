"""Exercise checkers, one for each coding exercise of the book: `check.svt_build(answer)` and so on.

A checker prints one line: ○ not attempted, ✓ right, ✗ wrong and why. Where the answer is a mechanism it is its
privacy that is tested: too little noise and too much are both refused.
"""
from dplib.teaching.check.attacks import *  # noqa: F403
from dplib.teaching.check.definitions import *  # noqa: F403
from dplib.teaching.check.deployment import *  # noqa: F403
from dplib.teaching.check.f_dp import *  # noqa: F403
from dplib.teaching.check.histograms import *  # noqa: F403
from dplib.teaching.check.mechanisms import *  # noqa: F403
from dplib.teaching.check.sparse_vector import *  # noqa: F403
