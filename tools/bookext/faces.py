"""The book's face: STIX, which goes with the formulas, as matplotlib brings it, cut to the characters of the pages."""
from __future__ import annotations

import html
import re
from pathlib import Path

import matplotlib

from bookext.fonts import cut

FONTS = Path(matplotlib.get_data_path(), "fonts", "ttf")
FACES = {"STIXGeneral": (400, "normal"), "STIXGeneralItalic": (400, "italic"), "STIXGeneralBol": (700, "normal")}
SILENT = re.compile(r"<(script|style|svg|pre|code|head|mjx-assistive-mml)\b.*?</\1>|<[^>]+>", re.DOTALL)


def characters(pages) -> set[int]:
    """What the pages say outside of code, pictures and formulas."""
    found = set(map(ord, "’“”–…"))
    for page in pages:
        found |= set(map(ord, html.unescape(SILENT.sub("", page))))
    return {one for one in found if one >= 32}


def rules(pages, folder: Path, without: str = "") -> str:
    """The faces for the style sheet; their fonts are written into the folder."""
    wanted = characters(pages) - set(map(ord, without))
    return "".join(
        f'@font-face {{ font-family: "Book"; font-weight: {weight}; font-style: {slant}; font-display: swap; '
        f'src: url("{address}") format("woff2"); }}\n'
        for name, (weight, slant) in FACES.items()
        if (address := cut(FONTS / f"{name}.ttf", wanted, folder))
    )
