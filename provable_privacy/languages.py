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
NUMERIC = re.compile(r":[<>^+]?\d*(?:,|,?(?:\.\d+)?[feg%d])$|^\w+ [+-] \d+$")  # a field whose value is a number
WORD = r"(?:'([^']*)'|\"([^\"]*)\")"
CHOICE = re.compile(rf"{WORD} if .* else {WORD}|{WORD} \* \(.*\)")  # a field that is one of two words, or one or none
NUMBER = r"( *[-+−]?\d(?:[\d.,]*\d)?(?:e[-+]?\d+)?%?|[-+−]?inf|nan)"
BLANK = re.compile("(?<=[\u3400-\u9fff，。；：（）]) +(?=[\u3400-\u9fff，。；：）])")  # between two pieces of Chinese
VALUE = r"""(\{[^{}]*\}|'[^']*'|"[^"]*"|\[[^\]]*\]|\([^()]*\)|[^\s'"\[(]\S*)"""  # as repr writes one
WHOLE = r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|[(\[][^()\[\]A-Za-z]*[)\]]"  # quoted words, and numbers in brackets
ENGLISH = re.compile(r"(?<![A-Za-z])(?!(?:inf|nan)\b)[A-Za-z]{2,}")
JOINTS = {": ": "：", "; ": "；", ". ": "。", ", ": "，"}  # where a message may be taken apart
LINKS = {" is ": " 为 ", " or ": " 或 ", " and ": " 和 "}  # and where only if no English is left on either side
KEPT = re.compile("\2[^\3]*\3")  # names of the program in a translation that is not ready
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
    return BLANK.sub("", re.sub("[\2\3]", "", words)) if words else text


@functools.cache
def patterns(language: str, module: str) -> list["Pattern"]:
    """All sentences of a language: of two that are as long that of the module comes first."""
    known = sorted(catalogues(language).items(), key=lambda one: one[0] != module)
    return sorted((one for _, found in known for one in found), key=lambda one: (one.order, -one.letters))


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
            for joint in [*JOINTS, " and "]:  # with which one message goes on after another
                if text.startswith(joint):
                    yield text.removeprefix(joint), words.lstrip("：；。，和 ")
                if text.endswith(joint):
                    yield text.removesuffix(joint), words.rstrip("：；。，")
            halves = text.split(" / "), words.split(" / ")  # the names of two tables, of which a message takes one
            if len(halves[0]) == len(halves[1]) == 2:
                yield from (half for half in zip(*halves) if re.search("[A-Za-z]{3}", FIELD.sub("", half[0])))


class Pattern:
    """A sentence with fields, as `f"{n} of {len(rows):,} rows"` has them, and its translation with the same fields."""

    def __init__(self, text: str, words: str):
        text, words = (re.sub(r"\{\{([a-z]+)\}\}", r"{\1}", one) for one in (text, words))  # filled in twice
        self.words, self.fields = words, FIELD.findall(_hidden(text))
        self.pieces = [_shown(piece) for piece in FIELD.split(_hidden(text))[::2]]
        self.letters = sum(map(len, self.pieces))
        short = self.fields and self.letters < SURE  # those may wait: "{one} is {other}", then "the sum of {names}"
        self.order = 1 + (self.letters < 8 or any(self.pieces[:: len(self.fields)])) if short else 0

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
            value = f"\2{value}\3" if name.startswith("', '.join(map(str, ") else translate(value) or value
            held.setdefault(_name(name), []).append(value)

        def again(field):
            values = held[_name(field[1])]
            return values.pop(0) if len(values) > 1 else values[0]

        return _shown(FIELD.sub(again, _hidden(self.words)))


def _kind(field: str, strict: bool) -> str:
    """What may stand in a field, as a regular expression."""
    if choice := CHOICE.fullmatch(field):
        return f"({'|'.join(re.escape(word) for word in choice.groups() if word)}|)"
    if field.endswith("!r"):
        return VALUE if strict else r"""((?:(?! and |['"]: (?![^{}]*\})).)*)"""
    return NUMBER if NUMERIC.search(field) else "(.*)" if ".name(" in field else "(.*?)"  # a table's name may hold all


def _name(field: str) -> str:
    """A field without the words in it, which a translation may change."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "''", field)


def _hidden(text: str) -> str:
    return text.replace("{{", "\0").replace("}}", "\1")


def _shown(text: str) -> str:
    return text.replace("\0", "{").replace("\1", "}")


def _english(words: str) -> list[str]:
    return ENGLISH.findall(KEPT.sub("", words))


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
                if one.letters >= SURE or not _english(words):
                    return words
        for joint, own in [*JOINTS.items(), *LINKS.items()]:
            for place in filter(lambda one: one[1], re.finditer(f"{WHOLE}|({re.escape(joint)})", text)):
                parts = text[: place.start()], text[place.end() :]
                said = [best(part) for part in parts]
                words = own.join(said or part for said, part in zip(said, parts))
                clear = joint in LINKS and not _english(re.sub(WHOLE, "", words))
                if clear or joint in JOINTS and any(said) or joint == " and " and all(said):
                    found.append(words)
        return min(found, key=lambda words: len(_english(words)), default=None)

    return best(text)
