"""Pages for a strict Content-Security-Policy: scripts and styles stand in files of the site, and not in the pages.

The theme, Sphinx, MathJax and the book write scripts, style sheets and the styles of single elements into pages.
When a page is finished, the first two become files, and a style becomes a class of the joined sheet.
``POLICY`` then allows all that a page needs.
"""
from __future__ import annotations

import hashlib
import re
from pathlib import Path

from bookext.styles import JOINED

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FOLDER = "_static/strict"

THEBE = re.compile(
    r"<script type=\"text/x-thebe-config\">.*?</script>\s*<script>kernelName = [^<]*</script>", re.DOTALL
)
INSIDE = re.compile(
    r"<(?P<tag>script|style)(?P<more>(?: (?!src=)[\w-]+(?:=\"[^\"]*\")?)*)>(?P<body>.*?)</(?P=tag)>", re.DOTALL
)
DATA = re.compile(r" type=\"application/json\"")
TAG = re.compile(r"<[a-z][\w-]*(?:\s+[\w:.-]+(?:=\"[^\"]*\")?)*\s*/?>")
STYLE = re.compile(r"\s+style=\"([^\"]*)\"")
RULE = re.compile(r"^\.(s-\w{8}):not\(#_\) \{ .* \}$", re.MULTILINE)
PRINT = ' onclick="window.print()"'              # book.js does it
TOGGLER = ' style="display: none" alt="-"'       # of a list of modules; book.css hides it where no script runs


def move(pages: dict[Path, str], site: Path) -> str:
    """Take scripts and styles out of the pages; write the files. Return the rules for the joined sheet.

    Pages that an earlier build has finished have their classes already: their rules stand in its sheet.
    """
    sheet = site / JOINED
    rules = {rule[1]: rule[0] for rule in RULE.finditer(sheet.read_text(encoding="utf-8"))} if sheet.exists() else {}
    for path, page in pages.items():
        up = "../" * (len(path.relative_to(site).parts) - 1)
        page = THEBE.sub("", page).replace(PRINT, " data-print").replace(TOGGLER, ' alt="-"')
        head, body, rest = page.partition("<body")
        page = INSIDE.sub(lambda found: linked(found, up, site), joined(head) + body + rest)
        pages[path] = TAG.sub(lambda tag: classed(tag[0], rules), page)
    used = {name for page in pages.values() for name in re.findall(r"\bs-\w{8}\b", page)}
    named = {name for page in pages.values() for name in re.findall(rf"{FOLDER}/([\w.]+)\"", page)}
    for stale in {path for path in (site / FOLDER).glob("*") if path.name not in named}:
        stale.unlink()
    return "".join(f"{rules[name]}\n" for name in sorted(used & rules.keys()))


def joined(head: str) -> str:
    """The small scripts of a head as one, where the first stands: those in files are deferred, and come after it.

    The theme's script wants a storage and stops where a browser has none: it comes last.
    """
    bodies = [found["body"].strip() for found in INSIDE.finditer(head) if is_script(found)]
    whole = "\n".join(sorted(dict.fromkeys(bodies), key=lambda body: "localStorage" in body))
    places = iter(range(len(bodies)))
    return INSIDE.sub(
        lambda found: found[0] if not is_script(found) else "" if next(places) else f"<script>{whole}</script>", head
    )


def is_script(found) -> bool:
    return found["tag"] == "script" and not DATA.search(found["more"])


def linked(found, up: str, site: Path) -> str:
    """A file instead of what a page says."""
    if DATA.search(found["more"]):
        return found[0]
    suffix = {"script": "js", "style": "css"}[found["tag"]]
    text = found["body"].strip() + "\n"
    path = site / FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    address = f"{up}{FOLDER}/{path.name}"
    return f'<script src="{address}"></script>' if suffix == "js" else f'<link rel="stylesheet" href="{address}">'


def classed(tag: str, rules: dict[str, str]) -> str:
    """An element with a class instead of its style; no rule of a sheet wins over it, as none does over a style."""
    if not (style := STYLE.search(tag)):
        return tag
    name = f"s-{hashlib.sha256(style[1].encode()).hexdigest()[:8]}"
    rules[name] = f".{name}:not(#_) {{ {style[1].strip()} }}"
    tag = STYLE.sub("", tag)
    if ' class="' in tag:
        return tag.replace(' class="', f' class="{name} ', 1)
    return re.sub(r"^<[\w-]+", rf'\g<0> class="{name}"', tag)
