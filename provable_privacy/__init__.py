"""What the sections use to show and to check: interactive figures, exercise checkers, source listings, figure style.

`check` has the checkers, a module per section. They are declared with `entries` (what is entered), `formulas`
(functions with one right value) and `battery` (mechanisms), and speak through `speech`, in another language by
`languages`. `given` has the programs that sections hand to learners. `results` reads what a class has handed in;
`hand_in`, `alike`, `points`, `stars`, `rerun` and `cage` help it.

Only this package needs matplotlib and ipywidgets. Importing it keeps linear algebra to one thread: the matrices of the
book are small, and on a busy machine the threads of a small product may wait for each other far longer than it takes.
"""

from threadpoolctl import threadpool_limits

from provable_privacy import check, style
from provable_privacy.explorer import Explorer
from provable_privacy.listing import source

__all__ = ["Explorer", "check", "source", "style"]

threadpool_limits(1, user_api="blas")
