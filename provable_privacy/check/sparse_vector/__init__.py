"""Checkers of chapter 4, the sparse vector technique, a module a section."""
from provable_privacy.check.sparse_vector.above_threshold import *  # noqa: F403
from provable_privacy.check.sparse_vector.bounds_and_ranges import *  # noqa: F403
from provable_privacy.check.sparse_vector.broken_variants import *  # noqa: F403
from provable_privacy.check.sparse_vector.streams import *  # noqa: F403
