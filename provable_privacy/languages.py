"""Checkers in another language: `speak("zh_CN")`.

The checkers themselves stay as they are. Each of their sentences in `locale/` is a pattern: what stands in its fields
is carried over, and translated too if it is a sentence. What fits no pattern stays English.
"""

import ast
import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["said", "speak"]

FOLDER = Path(__file__).with_name("locale")
TEXT = r'((?:".*"\n)+)'  # of a .po file: literals, one below the other
ENTRY = re.compile(rf"^((?:#.*\n)*)msgid {TEXT}msgstr {TEXT}", re.MULTILINE)
FIELD = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")
NUMERIC = re.compile(r":[<>^+]?\d*(?:,|,?(?:\.\d+)?[feg%d])$")  # the end of a field whose value is a number
WORD = r"(?:'([^']*)'|\"([^\"]*)\")"
CHOICE = re.compile(rf"{WORD} if .* else {WORD}|{WORD} \* \(.*\)")  # a field that is one of two words, or one or none
NUMBER = r"( *[-+−]?\d(?:[\d.,]*\d)?(?:e[-+]?\d+)?%?|[-+−]?inf|nan)"
BLANK = re.compile("(?<=[\u3400-\u9fff，。；：（）]) +(?=[\u3400-\u9fff，。；：）])")  # between two pieces of Chinese
VALUE = r"""('[^']*'|"[^"]*"|\[[^\]]*\]|\([^()]*\)|[^\s'"\[(]\S*)"""  # as repr writes one
ENGLISH = re.compile(r"[A-Za-z]{2,}")
JOINTS = {": ": "：", "; ": "；", ". ": "。", ", ": "，", " and ": "和"}  # where a message may be taken apart
SURE = 25  # letters of a pattern that no other text fits by chance
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


def said(text: str, module: str = "", language: str | None = None) -> str:
    """A checker's words in the chosen language, or in the one that is named; sentences of its own module come first."""
    language = _language if language is None else language
    words = language and _said(text, patterns(language, module.removeprefix("provable_privacy.").replace(".", "/")))
    return BLANK.sub("", words) if words else text


@functools.cache
def patterns(language: str, module: str) -> list["Pattern"]:
    """All sentences of a language; those with more letters come first, and of two with as many that of the module."""
    known = sorted(catalogues(language).items(), key=lambda one: one[0] != module)
    return sorted((one for _, found in known for one in found), key=lambda one: -one.letters)


@functools.cache
def catalogues(language: str) -> dict[str, list["Pattern"]]:
    """The sentences of each module."""
    folder = FOLDER / language
    return {
        path.relative_to(folder).with_suffix("").as_posix(): [
            Pattern(*one) for one in entries(path.read_text(encoding="utf-8"))
        ]
        for path in sorted(folder.rglob("*.po"))
    }


def entries(catalogue: str) -> Iterator[tuple[str, str]]:
    """What is translated in a .po file and not fuzzy: pairs of the English and its translation."""
    for notes, *literals in ENTRY.findall(catalogue.rstrip("\n") + "\n"):
        text, words = ("".join(map(ast.literal_eval, one.splitlines())) for one in literals)
        if text and words and "#, fuzzy" not in notes:
            yield text, words
            for joint in JOINTS:  # with which one message goes on after another
                if text.startswith(joint):
                    yield text.removeprefix(joint), words.lstrip("：；。，和")
            halves = text.split(" / "), words.split(" / ")  # the names of two tables, of which a message takes one
            if len(halves[0]) == len(halves[1]) == 2:
                yield from (half for half in zip(*halves) if re.search("[A-Za-z]{3}", FIELD.sub("", half[0])))


class Pattern:
    """A sentence with fields, as `f"{n} of {len(rows):,} rows"` has them, and its translation with the same fields."""

    def __init__(self, text: str, words: str):
        text, words = (one.replace("{{said}}", "{said}") for one in (text, words))  # filled in twice: entries.sentence
        self.words, self.fields = words, FIELD.findall(_hidden(text))
        self.pieces = [_shown(piece) for piece in FIELD.split(_hidden(text))[::2]]
        self.letters = sum(map(len, self.pieces))

    @functools.cached_property
    def regexes(self) -> list[re.Pattern]:
        """First with fields that hold one value each, then with any."""
        forms = [[_kind(field, strict) for field in self.fields] for strict in (True, False)]
        return [
            re.compile("".join(re.escape(piece) + kind for piece, kind in zip(self.pieces, [*kinds, ""])), re.DOTALL)
            for kinds in (forms if forms[0] != forms[1] else forms[:1])
        ]

    def translated(self, text: str, translate: Callable[[str], str | None]) -> str | None:
        """The translation of a text of this form, or None."""
        if not all(piece in text for piece in self.pieces):
            return None
        found = next(filter(None, (regex.fullmatch(text) for regex in self.regexes)), None)
        if not found:
            return None
        held: dict[str, list[str]] = {}
        for name, value in zip(self.fields, found.groups()):
            held.setdefault(_name(name), []).append(translate(value) or value)

        def again(field):
            values = held[_name(field[1])]
            return values.pop(0) if len(values) > 1 else values[0]

        return _shown(FIELD.sub(again, _hidden(self.words)))


def _kind(field: str, strict: bool) -> str:
    """What may stand in a field, as a regular expression."""
    if choice := CHOICE.fullmatch(field):
        return f"({'|'.join(re.escape(word) for word in choice.groups() if word)}|)"
    return NUMBER if NUMERIC.search(field) else VALUE if strict and field.endswith("!r") else "(.*?)"


def _name(field: str) -> str:
    """A field without the words in it, which a translation may change."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "''", field)


def _hidden(text: str) -> str:
    return text.replace("{{", "\0").replace("}}", "\1")


def _shown(text: str) -> str:
    return text.replace("\0", "{").replace("\1", "}")


def _said(text: str, known: list[Pattern]) -> str | None:
    """The translation of a message that leaves the fewest English words, or None if no part of it is known."""

    @functools.cache
    def best(text):
        if not ENGLISH.search(text):
            return None
        found = []
        for one in known:
            words = one.translated(text, best)
            if words is not None:
                found.append(words)
                if one.letters >= SURE or not ENGLISH.search(words):
                    return words
        for joint, own in JOINTS.items():
            for place in re.finditer(re.escape(joint), text):
                parts = text[: place.start()], text[place.end() :]
                said = [best(part) for part in parts]
                known_or_name = (words or not ENGLISH.search(part) for words, part in zip(said, parts))
                if any(said) and (joint != " and " or all(known_or_name)):  # "sum and positive together" is one key
                    found.append(own.join(words or part for words, part in zip(said, parts)))
        return min(found, key=lambda words: len(ENGLISH.findall(words)), default=None)

    return best(text)
