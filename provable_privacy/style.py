"""The look of the book's figures: few colours, each with one meaning, safe for colour-blind readers, legible when
inverted.
"""

from typing import Any

import matplotlib
from matplotlib.figure import Figure

from dplib.rounding import at_least, at_most

__all__ = ["ALARM", "GOOD", "INK", "MUTED", "ONE", "OTHER", "at_least", "at_most", "figure", "use"]

ONE = "#0063a8"  # the world with you in it
OTHER = "#c75a00"  # the neighbouring world
GOOD = "#00795c"  # what should happen
ALARM = "#b3173b"  # what should not
INK = "#22262b"
MUTED = "#6c737c"

RC: dict[Any, Any] = {
    "figure.figsize": (5.8, 3.0),
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d5d9de",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "axes.prop_cycle": matplotlib.cycler(color=[ONE, OTHER, GOOD, ALARM, MUTED]),  # type: ignore[attr-defined]
}


def use() -> None:
    """Set the book's style for all figures from here on."""
    matplotlib.rcParams.update(RC)


def figure(
    rows: int = 1,
    columns: int = 1,
    *,
    width: float = 5.8,
    height: float = 3.2,
    layout: Any = "constrained",
    **options: Any,
) -> tuple[Figure, Any]:
    """A new figure in the book's style and its axes, not shown by itself: for the draw function of an `Explorer`.

    Parameters
    ----------
    rows, columns : int
    width, height : float
        In inches.
    layout : str
        "constrained" fits the axes to their labels, "none" leaves them where you put them, the same in every frame.
    **options
        For `Figure.subplots`.

    Returns
    -------
    fig : matplotlib.figure.Figure
    axes : Axes or array of Axes
    """
    with matplotlib.rc_context(RC):
        fig = Figure(figsize=(width, height), layout=layout)
        return fig, fig.subplots(rows, columns, **options)
