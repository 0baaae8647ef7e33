"""Names for the types in the signatures."""
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

Array = NDArray[Any]
Adjacency = Literal["add/remove", "replace"]
Columns = Hashable | Sequence[Hashable]          # of a table: one name or several
Rng = np.random.Generator | int | None
Same = Any                                       # a number where a number was given, an array where an array was
