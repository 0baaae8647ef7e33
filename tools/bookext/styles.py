"""One style sheet for all pages, without what styles nothing here, and one font of icons."""
from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from bookext.fonts import cut

LINK = re.compile(r'[ \t]*<link [^>]*?href="(?:\.\./)*(?P<path>_static/(?!strict/)[^"?]*\.css)[^"]*"[^>]*>\n?')
JOINED = "_static/light/book.css"
OWN_CLASSES = {"sphinx-design": "sd-", "sphinx-thebe": "thebe"}      # the classes that each of these sheets is for

STRING_OR_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|/\*.*?\*/""", re.DOTALL)
IMPORT = re.compile(r"""@import\s*(?:url\()?["']([^"']+?)(?:\?[^"']*)?["']\)?\s*;""")
ADDRESS = re.compile(r"""url\((?!["']?(?:data:|#|https?:))["']?([^"')]+)["']?\)""")
FACE = re.compile(r"@font-face\s*\{[^{}]*\}")
ICON_RULE = re.compile(r'(?:\.fa-[\w-]+(?::{1,2}before)?,?)+\{(?:--fa:"[^"]*"(?:;--fa--fa:"[^"]*")?|content:"[^"]*")\}')
BLOCK = re.compile(r'(?P<head>[^{}]+)\{(?P<body>(?:[^{}"]|"(?:[^"\\]|\\.)*")*)\}')
FRAME = re.compile(r"\s*(?:from|to|[\d.]+%)")
BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
NESTED = re.compile(r"\([^()]*\(")
COMMA = re.compile(r",(?![^()]*\))")
CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
ICON_FONTS = "_static/vendor/fontawesome/webfonts"
ICON_FONT = "fa-solid-900"                       # the others draw brands, and outlines


def join(pages: dict[Path, str], site: Path, mathematics: str):
    """Let all pages ask for one style sheet."""
    order = max(([match["path"] for match in LINK.finditer(text)] for text in pages.values()), key=len)
    order = [path for path in order if path != JOINED and styles_something(path, pages.values())]
    sheet = "\n".join(STRING_OR_COMMENT.sub(lambda match: match[1] or "", read(site, path)) for path in order)
    scripts = [path.read_text(encoding="utf-8") for path in sorted((site / "_static").rglob("*.js"))]
    sheet = without_idle_rules(with_few_icons(sheet, pages.values(), site), pages.values(), scripts) + mathematics
    target = site / JOINED
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(sheet, encoding="utf-8", newline="\n")
    mark = hashlib.sha256(sheet.encode()).hexdigest()[:8]
    for path, text in pages.items():
        if first := LINK.search(text):
            up = "../" * (len(path.relative_to(site).parts) - 1)
            link = f'    <link rel="stylesheet" type="text/css" href="{up}{JOINED}?v={mark}" />\n'
            pages[path] = text[:first.start()] + link + LINK.sub("", text[first.start():])


def without_idle_rules(sheet: str, pages, scripts) -> str:
    """Without selectors that need a class which no page has and no script names: half of the theme's."""
    known = {word for page in pages for classes in re.findall(r'class="([^"]*)"', page) for word in classes.split()}
    known |= {word for script in scripts for word in re.findall(r"[\w-]+", script)}

    def is_met(selector):
        before = None
        while before != selector:                # what stands in brackets may be missing, as in :not(.name)
            before, selector = selector, BRACKETS.sub("", selector)
        return known.issuperset(name.replace("\\", "") for name in CLASS.findall(selector))

    def cut(rule):
        if "@" in rule["head"] or FRAME.match(rule["head"]) or NESTED.search(rule["head"]):
            return rule[0]
        kept = [one for one in COMMA.split(rule["head"]) if is_met(one)]
        return f"{','.join(kept)}{{{rule['body']}}}" if kept else ""

    return BLOCK.sub(cut, sheet)


def styles_something(path: str, pages) -> bool:
    for name, start in OWN_CLASSES.items():
        if Path(path).name.startswith(name):
            return any(re.search(rf'class="(?:[^"]* )?{start}', page) for page in pages)
    return True


def read(site: Path, path: str) -> str:
    """A style sheet with what it imports, and with addresses as they are seen from the joined one."""
    folder = os.path.dirname(path)
    text = (site / path).read_text(encoding="utf-8").replace('@charset "UTF-8";', "")
    seen_from = os.path.dirname(JOINED)
    text = ADDRESS.sub(
        lambda match: f'url("{os.path.relpath(os.path.join(folder, match[1]), seen_from).replace(os.sep, "/")}")', text
    )
    return IMPORT.sub(
        lambda match: read(site, os.path.normpath(os.path.join(folder, match[1])).replace(os.sep, "/")), text
    )


def with_few_icons(sheet: str, pages, site: Path) -> str:
    """Without the rules of icons that no page shows; the font has the others, and those that the theme's rules name."""
    shown = {name for page in pages for name in re.findall(r"\bfa-[a-z0-9-]+", page)}
    sheet = ICON_RULE.sub(lambda rule: rule[0] if shown.intersection(re.findall(r"fa-[\w-]+", rule[0])) else "", sheet)
    characters = {int(code, 16) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", sheet)}
    characters |= {ord(one) for one in re.findall("[\ue000-\uf8ff]", sheet)}
    address = cut(site / ICON_FONTS / f"{ICON_FONT}.woff2", characters, (site / JOINED).parent)

    def face(rule):
        if "vendor/fontawesome" not in rule[0]:
            return rule[0]
        return re.sub(r"src:[^;}]*", f'src:url("{address}") format("woff2")', rule[0]) if ICON_FONT in rule[0] else ""

    return FACE.sub(face, sheet)
