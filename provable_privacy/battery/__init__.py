"""One battery for learners' mechanisms: are two neighbouring tables told apart more often than epsilon and delta allow?

A checker declares pairs of tables, the loss that is allowed between them, what the output looks like, and how near the
truth it should be. The battery runs the answer, looks for a telling event in one half of the runs, and tests it in the
other half. Nothing is assumed of the noise: an answer that keeps its promise is refused with probability at most 1e-6.
"""

from provable_privacy.battery.examine import Finding, examine
from provable_privacy.battery.forms import Choice, Labels, Lines, Numbers, read_lines
from provable_privacy.battery.judge import battery, drawn, looked
from provable_privacy.battery.kinds import looks_for
from provable_privacy.battery.runs import CENTRE, Crowd, Pair, luck

__all__ = [
    "CENTRE",
    "Choice",
    "Crowd",
    "Finding",
    "Labels",
    "Lines",
    "Numbers",
    "Pair",
    "battery",
    "drawn",
    "examine",
    "looked",
    "looks_for",
    "luck",
    "read_lines",
]
