"""Translations, one .po file for a page: ``locale/zh_CN/chapters/sparse_vector/above_threshold.po``.

A translation counts only for the very words that it translates: change a sentence, and the page shows the English one
until somebody looks. One line of an entry is one sentence, in both languages.
"""
from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path

from babel.messages import Catalog, pofile

from bookext.translation.units import ROOT, message_units, units

LANGUAGE = "zh_CN"
HEADER = "# {page}: what stands in braces, formulas, code, links and numbers stay as they are."
LABEL = "label"                                  # what a translator writes above a word that readers see
WAS = "was: "                                    # the English that a translation translates
PAGES = (
    "*.ipynb", "chapters/*/*.ipynb", "chapters/*/index.md", "course/**/*.md", "reference/*.md", "data/*.md",
)
BOOK = "book"                                    # the file for what pages say by themselves
PACKAGE = "provable_privacy/"                    # what checkers say: their words travel with the package


def pages(root: Path = ROOT) -> list[str]:
    """The names of all that is translated."""
    found = {path.relative_to(root).with_suffix("").as_posix() for pattern in PAGES for path in root.glob(pattern)}
    return [*sorted(found - {"course/bank"}), *[BOOK, *modules()] * (root == ROOT)]


@cache
def modules() -> list[str]:
    """The modules of checkers that say something."""
    package = ROOT / PACKAGE
    found = [package / f"{name}.py" for name in ("speech", "entries", "formulas")]
    found += [path for folder in ("battery", "check") for path in sorted((package / folder).rglob("*.py"))]
    return [
        path.relative_to(ROOT).with_suffix("").as_posix() for path in found
        if message_units(path.read_text(encoding="utf-8"))
    ]


def source(page: str, root: Path = ROOT) -> tuple[str, bool]:
    """The English of a page, and whether it is a notebook."""
    path = next(path for path in (root / f"{page}.ipynb", root / f"{page}.md") if path.exists())
    return path.read_text(encoding="utf-8"), path.suffix == ".ipynb"


def path_of(page: str, root: Path = ROOT) -> Path:
    if page.startswith(PACKAGE):
        return root / PACKAGE / "locale" / LANGUAGE / f"{page.removeprefix(PACKAGE)}.po"
    return root / "locale" / LANGUAGE / f"{page}.po"


def template(page: str, root: Path = ROOT) -> Catalog:
    """The units of a page as they are now; a text that occurs twice is translated once."""
    if page == BOOK:
        from bookext.translation import spoken
        return filled(page, spoken.texts())
    if page.startswith(PACKAGE):
        code = (root / f"{page}.py").read_text(encoding="utf-8")
        return filled(page, ((unit.kind, unit.text) for unit in message_units(code)))
    found = units(*source(page, root), labels(page, root))
    return filled(page, ((f"{unit.kind} {unit.place}".strip(), unit.text) for unit in found))


def filled(page: str, texts) -> Catalog:
    made = Catalog(locale=LANGUAGE, charset="utf-8", fuzzy=False, header_comment=HEADER.format(page=page))
    for place, text in texts:
        made.add(text, auto_comments=[place])
    return made


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return pofile.read_po(file, locale=LANGUAGE)


def entries(catalog: Catalog):
    return [message for message in catalog if message.id]


def written(catalog: Catalog) -> str:
    """Only what depends on the page and its translators: no dates, no names of tools, lines cut at sentences."""
    buffer = io.BytesIO()
    for message in catalog:
        message.flags &= {"fuzzy"}               # babel takes {term} for a field of Python's
    pofile.write_po(buffer, catalog, width=10**6, omit_header=True, no_location=True)
    head = ['msgid ""', 'msgstr ""', f'"Language: {LANGUAGE}\\n"', '"Content-Type: text/plain; charset=utf-8\\n"']
    return "\n".join([catalog.header_comment, *head, "", buffer.getvalue().decode().rstrip("\n"), ""])


def update(page: str, root: Path = ROOT, memory: dict[str, str] | None = None) -> Catalog:
    """Bring the file of a page up to its page.

    What is new is empty, or as other pages have it; what has changed is fuzzy and shows what it was.
    """
    path, now = path_of(page, root), template(page, root)
    if path.exists():
        now = merged(read(path), now)
    for message in entries(now):
        message.string = message.string or (memory or {}).get(message.id, "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(now), encoding="utf-8", newline="\n")
    return now


def merged(old: Catalog, now: Catalog) -> Catalog:
    for message in entries(old):                 # what nobody translated needs no memory
        if not message.string:
            old.delete(message.id)
    noted = {
        message.id: [note for note in message.auto_comments if note.startswith(WAS)]
        for message in entries(old) if message.fuzzy
    }
    old.update(now, keep_user_comments=True)
    for message in entries(old):                 # babel's own note of the old words is none that gettext can read
        if message.fuzzy:
            words = message.previous_id[0].split("\n") if message.previous_id else []
            message.auto_comments += [f"{WAS}{line}" for line in words] or noted.get(message.id, [])
    old.obsolete.clear()                         # git remembers
    old.header_comment = now.header_comment
    return old


@cache
def _known(path: Path, changed: float) -> tuple[dict[str, str], set[str]]:
    found = entries(read(path)) if changed else []
    said = {message.id: message.string for message in found if message.string and not message.fuzzy}
    return said, {message.id for message in found if any(note.split()[0] == LABEL for note in message.auto_comments)}


def _read(page: str, root: Path) -> tuple[dict[str, str], set[str]]:
    path = path_of(page, root)
    return _known(path, path.stat().st_mtime if path.exists() else 0)


def known(page: str, root: Path = ROOT) -> dict[str, str]:
    """What is translated and not fuzzy: text -> translation."""
    return _read(page, root)[0]


def labels(page: str, root: Path = ROOT) -> dict[str, str]:
    """The words of a page's code that readers see, whose entries begin with ``#. label``: word -> translation."""
    said, words = _read(page, root)
    return {word: said.get(word, word) for word in sorted(words)}


def memory(root: Path = ROOT) -> dict[str, str]:
    """All that is translated, of all pages."""
    return {text: said for page in pages(root) for text, said in known(page, root).items()}


def told_twice(root: Path = ROOT) -> list[str]:
    """The same English, translated in two ways; a literal that is a name for one program stays English there.

    Labels are single words, which may have two meanings. What a checker says is its own: its module's words come first.
    """
    first, found = {}, []
    for page in (page for page in pages(root) if not page.startswith(PACKAGE)):
        single = labels(page, root)
        for text, said in known(page, root).items():
            if text in single:
                continue
            other, there = first.setdefault(text, (said, page))
            if other != said and text not in (other, said):
                found.append(f"{page}: {text[:50]!r} is {said[:30]!r} here and {other[:30]!r} in {there}")
    return found


def complaints(page: str, root: Path = ROOT) -> list[str]:
    """What is missing, fuzzy or out of date, a line each."""
    path, now = path_of(page, root), template(page, root)
    if not path.exists():
        return [f"{page}: not begun, {len(now)} strings"]
    have, found = {message.id: message for message in entries(read(path))}, []
    for message in entries(now):
        mine = have.pop(message.id, None)
        state = (
            "is not in the .po file" if mine is None
            else "changed since it was translated" if mine.fuzzy
            else "is not translated" if not mine.string else ""
        )
        if state:
            found.append(f"{page}: {message.auto_comments[0]}: {state}: {message.id[:80]!r}")
    return found + [f"{page}: no longer on the page: {text[:80]!r}" for text in have]


def words(text: str) -> int:
    """English words, without formulas, code and targets."""
    bare = re.sub(r"\$[^$]*\$|\{[\w:]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)", " ", text)
    return len(re.findall(r"[A-Za-z][\w'’-]*", bare))


def count(page: str, root: Path = ROOT) -> tuple[int, int, int, int]:
    """Strings, words, translated strings and words of a page."""
    texts, have = [message.id for message in entries(template(page, root))], known(page, root)
    done = [text for text in texts if text in have]
    return len(texts), sum(map(words, texts)), len(done), sum(map(words, done))
