"""What a page does without: scripts, style sheets and fonts that it never uses. And marks stay with what they mark."""
from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.util import logging

from bookext import faces, strict, styles, translation
from bookext.mathematics import SCRIPTS, NotSet, Typesetter, cut_sheet, formulas

logger = logging.getLogger(__name__)

# the style sheet draws every icon by itself; the script, half of a page's weight, draws them a second time
ICONS = re.compile(r"\s*<!-- So that users can add custom icons -->\s*<script defer[^>]*fontawesome\.js[^>]*></script>")
# Sphinx asks for an index of its own on every page; the book's search has another
SEARCH = re.compile(r"\s*<script src=\"[^\"]*(?:searchtools|language_data|searchindex)\.js\"></script>")
# Sphinx's words of another language, which only its own search says, and which need a right to run texts as code
OTHER_WORDS = re.compile(r"\s*<script src=\"[^\"]*/translations\.js[^\"]*\"></script>")
# tabs, which no page has; and what only a chooser of versions asks
TABS = re.compile(r"\s*<script data-sd-tabs[^>]*></script>")
MOVES = re.compile(r"\s*<script[^>]*/explorer\.js[^>]*></script>")
OPTIONS = re.compile(r"\s*<script>DOCUMENTATION_OPTIONS\.[^<]*</script>")
# none of the scripts draws anything: the text comes first
EARLY = re.compile(r"\s*<link rel=\"preload\" as=\"script\"[^>]*>")
WAITING = re.compile(r"<script src=\"(?=[^\"]*_static/)")

FORMULA = r"<span class=\"math notranslate nohighlight\"[^>]*>(?:(?!</span>).)*</span>"
WITH_MARKS = re.compile(rf"([(\[“‘（]*)({FORMULA})([.,;:!?)\]”’%，。；：、！？）]+|-(?=\w))?", re.DOTALL)
PERCENT = re.compile(r"(?<=\d) (?=%)")
KEPT_AS_IT_IS = re.compile(r"(<(pre|code|script|style)\b.*?</\2>)", re.DOTALL)


def without_scripts(page: str) -> str:
    page = ICONS.sub("", page)
    if 'class="sd-tab' not in page:
        page = TABS.sub("", page)
    if 'class="explorer"' not in page:
        page = MOVES.sub("", page)
    for idle in (SEARCH, OTHER_WORDS, OPTIONS, EARLY):
        page = idle.sub("", page)
    return WAITING.sub('<script defer src="', page)


def finish(app, exception):
    """Make the finished pages light and strict: take out scripts, set formulas, join style sheets."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    written = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
        if not path.relative_to(site).parts[0].startswith(("_", "zh"))            # nor the other edition
    }
    if not any(link["path"] != styles.JOINED for page in written.values() for link in styles.LINK.finditer(page)):
        return                                   # nothing was written
    pages = {path: without_scripts(page) for path, page in written.items()}
    sheet = set_formulas(pages, site, app.config.mathjax3_config or {})
    own_quotes = translation.QUOTES if translation.is_translated(app) else ""
    sheet += faces.rules(pages.values(), site / Path(styles.JOINED).parent, without=own_quotes)
    sheet += strict.move(pages, site)
    styles.join(pages, site, sheet)
    for path, page in pages.items():
        if page != written[path]:
            path.write_text(page, encoding="utf-8", newline="\n")
    remove_unused(pages.values(), site)


def set_formulas(pages: dict[Path, str], site: Path, settings: dict) -> str:
    """Set them all, and return the rules that they need.

    If that fails, pages ask for MathJax as they did, and a next build tries again.
    """
    typesetter = Typesetter(site.parent, settings.get("tex", {}))
    try:
        typesetter.learn([formulas(page) for page in pages.values()])
    except NotSet as trouble:
        logger.info(f"formulas are left to the browser of the reader: {trouble}")
        note = site / ".buildinfo"
        text = re.sub(r"^config: .*", "config: without node", note.read_text(encoding="utf-8"), flags=re.MULTILINE)
        note.write_text(text, encoding="utf-8")
    for path, page in pages.items():
        pages[path] = typesetter.set(page)
    return cut_sheet(typesetter.sheet, list(pages.values()), site / Path(styles.JOINED).parent)


def remove_unused(pages, site: Path):
    """Files that only those links asked for; the theme brings them again for the next build."""
    static = site / "_static"
    for path in {*static.glob("scripts/fontawesome*"), *static.rglob("*.map"), *(site / styles.ICON_FONTS).iterdir()}:
        path.unlink()
    shutil.rmtree(static / "locales", ignore_errors=True)       # of the theme, for builds in other languages
    if not any(SCRIPTS.search(page) for page in pages):
        shutil.rmtree(static / "mathjax", ignore_errors=True)


def hold_together(app, pagename, templatename, context, doctree):
    """A formula keeps its comma, and a number its per cent sign, when a line ends."""
    if "body" in context:
        parts = KEPT_AS_IT_IS.split(context["body"])
        for place in range(0, len(parts), 3):        # between two of those stand the whole match and the tag's name
            parts[place] = PERCENT.sub("\u202f", WITH_MARKS.sub(glue, parts[place]))
            if place + 2 < len(parts):
                parts[place + 2] = ""
        context["body"] = "".join(parts)


def glue(found):
    before, formula, after = found.groups(default="")
    return f'<span class="glue">{before}{formula}{after}</span>' if before or after else formula


def setup(app):
    app.connect("html-page-context", hold_together)
    app.connect("build-finished", finish, priority=800)         # after the extensions have copied their style sheets
