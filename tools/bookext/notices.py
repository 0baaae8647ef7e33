"""Whose files the site has besides its own, and under which licences: NOTICES.txt, from the installed packages."""
from __future__ import annotations

import re
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = ("book/*", "search/*", "strict/*", "light/book.css", "logo.svg")
PARTS = {                                        # distribution -> files under _static
    "sphinx": (
        "basic.css", "doctools.js", "documentation_options.js", "file.png", "language_data.js", "minus.png", "plus.png",
        "searchtools.js", "sphinx_highlight.js",
    ),
    "snowballstemmer": ("language_data.js",),
    "pygments": ("pygments.css",),
    "pydata-sphinx-theme": (
        "scripts/bootstrap.js*", "scripts/pydata-sphinx-theme.js", "styles/pydata-sphinx-theme.css", "styles/theme.css",
        "webpack-macros.html", "light/fa-solid-900.woff2",
    ),
    "sphinx-book-theme": (
        "images/logo_*", "sbt-webpack-macros.html", "scripts/sphinx-book-theme.js",
        "styles/sphinx-book-theme.css",
    ),
    "sphinx-copybutton": ("check-solid.svg", "clipboard.min.js", "copy-button.svg", "copybutton*"),
    "sphinx-design": ("design-tabs.js", "sphinx-design.min.css"),
    "sphinx-exercise": ("exercise.css",),
    "sphinx-proof": ("proof.css",),
    "sphinx-thebe": ("play-solid.svg", "sphinx-thebe.*"),
    "sphinx-togglebutton": ("togglebutton.*",),
    "myst-nb": ("mystnb.*",),
    "sphinx-mathjax-offline": ("light/MathJax_*", "mathjax/*"),
    "matplotlib": ("light/STIXGeneral*",),
}
LICENCE = re.compile(r"(?:.*[._-])?(?:licen[cs]es?|copying|notice)(?:[._-].*)?", re.IGNORECASE)
HEADS = {"sphinx-copybutton": "sphinx_copybutton/_static/clipboard.min.js"}          # a file that says it by itself
LENT = {"sphinx-mathjax-offline": ("packaging", "LICENSE.APACHE")}       # this wheel names its licence without the text
ONLY = {"matplotlib": "LICENSE_STIX"}            # the others are for parts of it that no page has
WORDS = {
    "pydata-sphinx-theme": "With Bootstrap and Popper, under the MIT licence, whose words are those above, and\n"
    "with the icons of Font Awesome Free, cut to those of the book. The SIL Open Font\nLicense stands at the end.",
    "sphinx-copybutton": "With clipboard.js, under the MIT licence.",
    "sphinx-mathjax-offline": "With MathJax 3, copyright the MathJax Consortium, under the Apache License 2.0.\n"
    "Its fonts are cut to the characters of the book.",
    "matplotlib": "With the STIX fonts, cut to the characters of the book.",
}
INTRODUCTION = """\
This site has files of the book and of others.
The book's licence stands first, and then those of the packages that other files come from.
The styles of these packages are joined in _static/light/book.css, their small scripts stand in _static/strict."""


def holders(file: str) -> list[str]:
    """The distributions that a file under _static comes from."""
    return [name for name, patterns in PARTS.items() if any(fnmatchcase(file, pattern) for pattern in patterns)]


def texts(name: str) -> list[str]:
    """What a distribution says about its licence."""
    distribution = metadata.distribution(name)
    found = [path for path in distribution.files or () if LICENCE.fullmatch(path.name)]
    found = [path for path in found if path.name == ONLY.get(name, path.name)]
    if name in LENT:
        lender, file = LENT[name]
        found += [path for path in metadata.distribution(lender).files or () if path.name == file]
    said = [path.locate().read_text(encoding="utf-8").strip() for path in found]
    if name in HEADS:
        head = Path(distribution.locate_file(HEADS[name])).read_text(encoding="utf-8")
        said.insert(0, head[:head.index("*/") + 2].strip())
    return said


def notices(static: Path) -> str:
    """The book's own licence, and for each distribution the files of it that are in the site, and its licences."""
    files = sorted(path.relative_to(static).as_posix() for path in static.rglob("*") if path.is_file())
    parts = [INTRODUCTION, (ROOT / "LICENSE").read_text(encoding="utf-8").strip()]
    for name in PARTS:
        if its := [file for file in files if name in holders(file)]:
            head = f"{'=' * 80}\n{name} {metadata.version(name)}\n{WORDS.get(name, '')}".strip()
            parts += [head, "\n".join(f"_static/{file}" for file in its), *texts(name)]
    return "\n\n".join(parts) + "\n"
