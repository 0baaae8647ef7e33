"""Build the Chinese book with Jupyter Book's own function, which, unlike its command, lets one set the language.

Its pages are put beside the English ones, in ``_build/html/zh``, and each page gets a link to itself in the other
language. So the English book knows nothing of the Chinese one until both are there.
"""
from __future__ import annotations

import re
import shutil
from pathlib import Path
from posixpath import relpath

from jupyter_book.sphinx import build_sphinx

from bookext.cache import is_built
from bookext.translation.catalogue import LANGUAGE
from bookext.translation.units import ROOT

SITE = ROOT / "_build/html"
MADE = ROOT / "_build/zh/html"
BESIDE = SITE / "zh"                             # where it is published
NAMES = {"en": "English", "zh-CN": "中文"}
OLD = re.compile("<link data-edition [^>]*>|<a data-edition .*?</a>")
BUTTONS = '<div class="article-header-buttons">'


def build() -> int:
    """Build what is not built yet, and put the pages beside the English ones; 0 if there was no warning."""
    if not is_built(ROOT, "zh/html") and run(MADE, "html"):
        return 1
    if SITE.is_dir():
        join(SITE, MADE, BESIDE)
    return 0


def run(made: Path, builder: str, root: Path = ROOT):
    """Let a builder make an edition of the Chinese pages in a folder; 0 if there was no warning."""
    overrides = {"language": LANGUAGE, "nitpicky": True, "latex_individualpages": False}
    return build_sphinx(
        str(root), str(made), noconfig=True, path_config=str(root / "_config.yml"), confoverrides=overrides,
        builder=builder, warningiserror=True, keep_going=True,
    )


def join(site: Path, made: Path, beside: Path):
    """Put the pages of one edition into the folder of the other, with links between the two."""
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(made, beside)
    for own in sorted(beside.rglob("*.html")):
        english = site / own.relative_to(beside)
        if english.exists() and own.name != "404.html":         # which a server shows at any address
            for page, other, language in ((english, own, "zh-CN"), (own, english, "en")):
                address = relpath(other.as_posix(), page.parent.as_posix())
                text = page.read_text(encoding="utf-8")
                page.write_text(with_link(text, address, language), encoding="utf-8", newline="\n")


def with_link(page: str, address: str, language: str) -> str:
    """A page with a link to the same page in another language, once."""
    link = f'<link data-edition rel="alternate" hreflang="{language}" href="{address}">'
    button = (
        f'<a data-edition class="btn btn-sm" href="{address}" hreflang="{language}" lang="{language}">'
        f"{NAMES[language]}</a>"
    )
    page = OLD.sub("", page)
    return page.replace("</head>", f"{link}</head>", 1).replace(BUTTONS, f"{BUTTONS}{button}", 1)
