"""Fonts with the characters that pages show, and no others."""
from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

logging.getLogger("fontTools").setLevel(logging.WARNING)         # it tells the build of every table

def cut(font: Path, characters: set[int], folder: Path) -> str:
    """Write these characters of a font into a folder. Return the new font's address, or "" if it has none of them.

    The address carries a mark of what is in the font.
    """
    with TTFont(font, recalcTimestamp=False) as cut:
        if not characters & cut.getBestCmap().keys():
            return ""
        subsetter = Subsetter(Options(layout_features=[], hinting=False, drop_tables=["FFTM"]))
        subsetter.populate(unicodes=characters)
        subsetter.subset(cut)
        cut.flavor = "woff2"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{font.stem}.woff2"
        cut.save(path)
    return f"{path.name}?v={hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
