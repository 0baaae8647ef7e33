"""Exercise checkers, one for each coding exercise of the book: `check.svt_build(answer)` and so on.

A checker prints one line: ○ not attempted, ✓ right, ✗ wrong and why. Where the answer is a mechanism it is its
privacy that is tested: too little noise and too much are both refused. `check.progress()` counts what is right, and
`check.solution("dp_unit")` shows a solution where a copy of the notebooks has them.
"""
from provable_privacy.check.attacks import *  # noqa: F403
from provable_privacy.check.definitions import *  # noqa: F403
from provable_privacy.check.deployment import *  # noqa: F403
from provable_privacy.check.f_dp import *  # noqa: F403
from provable_privacy.check.histograms import *  # noqa: F403
from provable_privacy.check.mechanisms import *  # noqa: F403
from provable_privacy.check.solutions import solution  # noqa: F401
from provable_privacy.check.sparse_vector import *  # noqa: F403
from provable_privacy.speech import progress, speak  # noqa: F401
