"""What is wrong with a translation, as far as a program can see.

Errors: numbers, formulas, roles, links, code and fields must be those of the English; Chinese marks and blanks as books
have them. What is only to be looked at: number words, wording, style. An entry may say that a finding is meant, by a
translator's comment ``# ok: wording`` above it.
"""
from __future__ import annotations

import re
from collections import Counter
from functools import cache

from bookext.translation import catalogue
from bookext.translation.units import FIELD, ROOT, parser

CJK = "\u3400-\u9fff"
FULL = "，。；：？！、（）“”‘’《》—…"
ROLE = re.compile(r"\{([\w:]+)\}`(?:([^`<>]*?)\s*<([^`<>]+)>|([^`]*))`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE = re.compile(r"(?<![`}])`([^`]+)`")
MATH = re.compile(r"\$\$.+?\$\$|\$[^$]+\$", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,])[-−]?\d[\d,]*(?:\.\d+)?|[½¼¾⅓⅔]")
MARK = re.compile(r"[★○✓✗■ΔεδρλμσπΦ₁₂±≈]")
FORMS = ("fstring", "message")                   # kinds of entries with fields
ERRORS = {
    "number", "math", "role", "link", "code", "field", "emphasis", "mark", "term", "punctuation", "space", "percent",
    "blank ends", "untranslated", "gender", "you",
}

ONES = {word: value for value, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split()
)}
TENS = {
    word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
POWERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
OTHERS = {
    "once": 1, "twice": 2, "half": 2, "halves": 2, "halve": 2, "double": 2, "dozen": 12, "third": 3, "thirds": 3,
    "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "tenfold": 10,
    "fourfold": 4, "quarter": 4, "quarters": 4, "first": 1, "second": 2, "fortnight": 14, "week": 7,
}
MONTHS = "January February March April May June July August September October November December".split()
DIGITS = {**{sign: value for value, sign in enumerate("零一二三四五六七八九")}, "两": 2}
PLACES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 10**8}
IDIOMS = re.compile("五五开|千万别|百分之|三言两语|一一|九牛一毛|七零八落|万一|百分|千篇一律|十分(?!之)|四舍五入")
STYLE = {
    "gender": (re.compile("(?<!其)[他她](?!人|处|乡)"), "write 此人, 对方 or 其: people in this book have no gender"),
    "you": (re.compile("您"), "the book says 你"),
    "passive": (re.compile(rf"被(?!积函)(?=[{CJK}])"), "can it be said actively?"),
    "empty verb": (re.compile("进行了?|加以|予以|作出了"), "an empty verb"),
    "when": (re.compile("当[^，。；]{12,}的时候"), "…时"),
    "four 的": (re.compile(r"(?:[^，。；：、（）“”\n]*?的){4,}"), "four 的 in one clause"),
}
# words that have another meaning beside that of the glossary
AMBIGUOUS = {
    "alone", "class", "law", "replace", "odds", "filter", "projection", "budget", "simplex", "horizon", "advantage",
    "alarm", "threshold", "marginal table", "suppression", "masking", "tracing", "catastrophe", "clipping",
    "consistency", "composition", "mechanism", "workload", "sensitivity",
}


def bare(text: str) -> str:
    """The words, without what stands for itself: formulas, code, targets. Lines stay: one is a sentence."""
    text = ROLE.sub(lambda one: f" {one[2] or ''} ", MATH.sub(" ", text))
    return CODE.sub(" ", LINK.sub("]", text))


def numbers(text: str) -> Counter:
    return Counter(one.lstrip("−-").rstrip(",") for one in NUMBER.findall(text))


def english_values(text: str) -> Counter:
    """The numbers that English words name."""
    found, current = Counter(), None
    for word in [*re.findall(r"[a-z]+|[^a-z\s-]", text.lower()), "."]:
        if word in ONES or word in TENS:
            current = (current or 0) + ONES.get(word, TENS.get(word, 0))
        elif word in POWERS:
            current = (current or 1) * POWERS[word]
        elif word != "and" or not current:
            if current is not None:
                found[current] += 1
            current = None
            if word in OTHERS:
                found[OTHERS[word]] += 1
    for month, name in enumerate(MONTHS, 1):
        found[month] += len(re.findall(rf"\b{name}\b", text))
    return +found


def chinese_values(text: str) -> Counter:
    """The numbers that Chinese words name."""
    found = Counter()
    for word in re.findall("[零一二三四五六七八九两十百千万亿]+", IDIOMS.sub(" ", text)):
        total, section, digit = 0, 0, 0
        for sign in word:
            if sign in DIGITS:
                digit = DIGITS[sign]
            elif PLACES[sign] >= 10_000:
                total, section, digit = (total + section + digit or 1) * PLACES[sign], 0, 0
            else:
                section, digit = section + (digit or 1) * PLACES[sign], 0
        found[total + section + digit] += 1
    return found


def fields(text: str) -> Counter:
    """The fields of an f-string; words in quotes inside of them may be translated."""
    return Counter(re.sub(r"'[^']*'|\"[^\"]*\"", "''", one) for one in FIELD.findall(text))


def roles(text: str) -> Counter:
    return Counter((name, target or plain) for name, _, target, plain in ROLE.findall(text))


def marks_of(text: str) -> Counter:
    """Emphasis and links, as Markdown reads them, and stars that it does not read."""
    flat = [one for block in parser().parse(text) if block.type == "inline" for one in block.children]
    found = Counter(one.type for one in flat if one.type in ("em_open", "strong_open", "link_open"))
    found["*"] = sum(one.content.count("*") for one in flat if one.type == "text")
    return +found


@cache
def glossary() -> dict[str, list[str]]:
    """The words of the glossary: English -> Chinese, more than one where the entry names more."""
    text = (ROOT / "reference/glossary.md").read_text(encoding="utf-8")
    found = re.findall(rf"^(\S[^()\n]*) \(([^()\n]*[{CJK}][^()\n]*)\)$", text, re.MULTILINE)
    return {english: re.split(r",\s*", own) for english, own in found}


def difference(old: Counter, new: Counter) -> str:
    lost, added = list((old - new).elements()), list((new - old).elements())
    return f"missing {lost}, added {added}" if lost or added else ""


def findings(english: str, said: str, kind: str):
    """What is wrong with one entry: pairs of a rule and an explanation."""
    in_code = kind in ("string", "fstring")
    yield from kept(english, said, kind)
    if kind in FORMS:
        words, own = FIELD.sub(" ", english), FIELD.sub(" ", said)
    else:
        words, own = bare(english), bare(said)
    yield from same_numbers(words, own)
    yield from same_words(words, said, own)
    yield from punctuation(said, kind)
    if re.search(r"\d\s+%", own):
        yield "percent", "99%, without a blank"
    if in_code and re.match(r"\s*", english)[0] != re.match(r"\s*", said)[0]:
        yield "blank ends", "begins with other blanks than the English literal"
    if said == english and len(re.findall(r"[a-z]{3,}", words)) > 1:
        yield "untranslated", "is the English text"
    for rule, (pattern, why) in STYLE.items():
        if found := pattern.search(own):
            yield rule, f"{found[0][:30]}: {why}"
    length = catalogue.words(english)
    ratio = len(re.findall(f"[{CJK}]", own)) / max(1, length)
    if length > 12 and kind == "paragraph" and not 0.9 < ratio < 2.6:
        yield "length", f"{ratio:.1f} characters for an English word: is something missing?"


def kept(english: str, said: str, kind: str):
    """Formulas, links, code, marks, fields, roles and emphasis."""
    patterns = {"math": MATH, "mark": MARK} | ({} if kind in FORMS else {"link": LINK, "code": CODE})
    for rule, pattern in patterns.items():
        old, new = (Counter(pattern.findall(ROLE.sub(" ", one) if rule == "code" else one)) for one in (english, said))
        if found := difference(old, new):
            yield rule, found
    if kind in FORMS:
        old, new = fields(english), fields(said)
        if kind == "message":                    # a plural has no words in Chinese: {'s' if n > 1 else ''}
            old -= Counter({one: count for one, count in (old - new).items() if "''" in one})
        if found := difference(old, new):
            yield "field", found
        return
    if found := difference(roles(english), roles(said)):
        yield "role", found
    if marks_of(english) != marks_of(said):
        yield "emphasis", f"{dict(marks_of(english))} in English, {dict(marks_of(said))} here"


def same_numbers(english: str, own: str):
    in_step = english.count("\n") == own.count("\n")
    if not in_step:
        yield "lines", f"{english.count(chr(10)) + 1} sentences in English, {own.count(chr(10)) + 1} lines here"
    for sentence, line in zip(english.split("\n"), own.split("\n")) if in_step else [(english, own)]:
        old, new, named = numbers(sentence), numbers(line), english_values(sentence)
        unnamed = {one for one in new - old if not one.isdigit() or int(one) not in named}
        if old - new or unnamed:
            yield "number", f"missing {list((old - new).elements())}, added {sorted(unnamed)}"
    written = {int(one.replace(",", "")) for one in numbers(english) if re.fullmatch(r"[\d,]+", one)}
    spelt = {value for value in chinese_values(own) if value > 2}
    if strange := spelt - set(english_values(english)) - written:
        yield "number word", f"{sorted(strange)} is in no English word"


def same_words(english: str, said: str, own: str):
    """What a {term} shows is its Chinese name; so is the usual word for what the glossary has."""
    for name, text, target, plain in ROLE.findall(said):
        official = re.search(rf"\(([^()]*[{CJK}][^()]*)\)", target or plain)
        if name == "term" and official and text:
            names = re.split(r",\s*", official[1])
            if not any(text in one or one in text for one in names):
                yield "term", f"{text} is not {names[0]}"
    for term, names in glossary().items():
        plain = term.split(",")[0]
        is_used = plain not in AMBIGUOUS and re.search(rf"\b{re.escape(plain)}s?\b", english, re.IGNORECASE)
        if is_used and not any(one in own for one in names):
            yield "wording", f"{plain}: {names[0]} is expected"


def punctuation(said: str, kind: str):
    flat = LINK.sub("]", said)
    flat = ROLE.sub(lambda one: one[2] if one[1] == "term" and one[2] else "`c`", flat)
    flat = CODE.sub("`c`", MATH.sub("$m$", flat))
    flat = FIELD.sub("{f}", flat) if kind in FORMS else flat
    if wrong := re.findall(rf"[{CJK}”][,.;:!?()]|[,;!?()][{CJK}“]", flat):
        yield "punctuation", f"half-width: {wrong}"
    after, before = f"[{FULL}] +(?=\\S)", f"\\S +[{FULL.replace('“', '').replace('（', '')}]"
    stripped = re.sub(r"(?m)^\s+|\s+$", "", flat)
    if kind not in ("string", *FORMS) and (wrong := re.findall(f"{after}|{before}", stripped)):
        yield "punctuation", f"a blank beside full-width punctuation: {wrong}"
    if flat.count("“") != flat.count("”") or flat.count("（") != flat.count("）"):
        yield "punctuation", "a quotation mark or a parenthesis is not closed"
    touching = rf"[{CJK}][A-Za-z0-9$`ε-ω]|[A-Za-z0-9$`%][{CJK}]"
    if wrong := re.findall(touching, re.sub(r"\*+", "", flat)):
        yield "space", f"a blank is missing between Chinese and the rest: {wrong[:4]}"


def lint(page: str):
    """The findings of a page: rule, entry, explanation."""
    for message in catalogue.entries(catalogue.read(catalogue.path_of(page))):
        if message.string and not message.fuzzy:
            kind = message.auto_comments[0].split()[0] if message.auto_comments else "string"
            noted = ",".join(note[3:] for note in message.user_comments if note.startswith("ok:"))
            meant = {rule.strip() for rule in noted.split(",")}
            for rule, why in findings(message.id, message.string, kind):
                if rule not in meant:
                    yield rule, message, why
