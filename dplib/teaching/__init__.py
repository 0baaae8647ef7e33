"""What the sections use to show and to check: interactive figures, exercise checkers, source listings, figure style.

Only this package needs matplotlib and ipywidgets.
"""
from dplib.teaching import check, style
from dplib.teaching.explorer import Explorer
from dplib.teaching.listing import source

__all__ = ["Explorer", "check", "source", "style"]
