"""Checkers in another language: `speak("zh_CN")`.

The checkers themselves stay as they are. Each of their sentences in `locale/` is a pattern: what stands in its fields
is carried over, and translated too if it is a sentence. What fits no pattern stays English.
"""

import ast
import functools
import re
from pathlib import Path

__all__ = ["said", "speak"]

FOLDER = Path(__file__).with_name("locale")
TEXT = r'((?:".*"\n)+)'  # of a .po file: literals, one below the other
ENTRY = re.compile(rf"^((?:#.*\n)*)msgid {TEXT}msgstr {TEXT}", re.MULTILINE)
FIELD = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")
NUMERIC = re.compile(r":[<>^+]?\d*(?:,|,?(?:\.\d+)?[feg%d])$")  # the end of a field whose value is a number
CHOICE = re.compile(r"(?:'([^']*)'|\"([^\"]*)\") if .* else (?:'([^']*)'|\"([^\"]*)\")")  # a field that is one of two words
NUMBER = r"( *[-+−]?[\d.,]+(?:e[-+]?\d+)?%?|[-+−]?inf|nan)"
JOINTS = {": ": "：", "; ": "；", ". ": "。", ", ": "，"}  # where a message that has no pattern may be taken apart
_language = ""


def speak(language: str = "") -> None:
    """Let checkers speak this language from now on: "zh_CN", or English again without a name.

    Raises
    ------
    ValueError
        There are no words of this language.
    """
    global _language
    if language and not (FOLDER / language).is_dir():
        raise ValueError(f"checkers speak English and {', '.join(sorted(one.name for one in FOLDER.iterdir()))}")
    _language = language


def said(text: str, language: str | None = None) -> str:
    """A checker's words in the chosen language, or in the one that is named."""
    language = _language if language is None else language
    return (language and _said(text, patterns(language))) or text


@functools.cache
def patterns(language: str) -> list["Pattern"]:
    """All sentences of a language; those with more letters of their own come first."""
    files = sorted((FOLDER / language).rglob("*.po"))
    known = {text: words for path in files for text, words in entries(path.read_text(encoding="utf-8"))}
    return sorted((Pattern(*one) for one in known.items()), key=lambda one: -one.letters)


def entries(catalogue: str):
    """What is translated in a .po file and not fuzzy: pairs of the English and its translation."""
    for notes, *literals in ENTRY.findall(catalogue.rstrip("\n") + "\n"):
        text, words = ("".join(map(ast.literal_eval, one.splitlines())) for one in literals)
        if text and words and "#, fuzzy" not in notes:
            yield text, words


class Pattern:
    """A sentence with fields, as `f"{n} of {len(rows):,} rows"` has them, and its translation with the same fields."""

    def __init__(self, text: str, words: str):
        self.words, self.fields = words, FIELD.findall(_hidden(text))
        self.pieces = [_shown(piece) for piece in FIELD.split(_hidden(text))[::2]]
        self.letters = sum(map(len, self.pieces))

    @functools.cached_property
    def regex(self):
        kinds = [*map(_kind, self.fields), ""]
        return re.compile("".join(re.escape(piece) + kind for piece, kind in zip(self.pieces, kinds)), re.DOTALL)

    def translated(self, text: str, translate) -> str | None:
        """The translation of a text of this form, or None."""
        found = all(piece in text for piece in self.pieces) and self.regex.fullmatch(text)
        if not found:
            return None
        held: dict[str, list[str]] = {}
        for name, value in zip(self.fields, found.groups()):
            held.setdefault(_name(name), []).append(translate(value) or value)

        def value(field):
            values = held[_name(field[1])]
            return values.pop(0) if len(values) > 1 else values[0]

        return _shown(FIELD.sub(value, _hidden(self.words)))


def _kind(field: str) -> str:
    """What may stand in a field, as a regular expression."""
    if choice := CHOICE.fullmatch(field):
        first, second = (one or other for one, other in (choice.groups()[:2], choice.groups()[2:]))
        return f"({re.escape(first or '')}|{re.escape(second or '')})"
    return NUMBER if NUMERIC.search(field) else "(.*?)"


def _name(field: str) -> str:
    """A field without the words in it, which a translation may change."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "''", field)


def _hidden(text: str) -> str:
    return text.replace("{{", "\0").replace("}}", "\1")


def _shown(text: str) -> str:
    return text.replace("\0", "{").replace("\1", "}")


def _said(text: str, known, depth: int = 5) -> str | None:
    """The translation of a message, or None if no part of it is known."""
    if depth == 0 or not re.search(r"[^\W\d_]{2}", text):
        return None
    for one in known:
        words = one.translated(text, lambda value: _said(value, known, depth - 1))
        if words is not None:
            return words
    for joint, own in JOINTS.items():
        parts = text.split(joint)
        found = [_said(part, known, depth - 1) for part in parts] if len(parts) > 1 else []
        if any(found):
            return own.join(words or part for words, part in zip(found, parts))
    return None
