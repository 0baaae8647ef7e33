"""What a page does without: scripts that it never uses; and marks that stay with what they belong to."""
from __future__ import annotations

import re
from pathlib import Path

# the style sheet draws every icon by itself; the script, half of a page's weight, draws them a second time
ICONS = re.compile(r"\s*<!-- So that users can add custom icons -->\s*<script defer[^>]*fontawesome\.js[^>]*></script>")
# the index of all words is for the page that searches; a search from anywhere else leads there
SEARCH = re.compile(r"\s*<script src=\"[^\"]*(?:searchtools|language_data|searchindex)\.js\"></script>")

FORMULA = r"<span class=\"math notranslate nohighlight\"[^>]*>(?:(?!</span>).)*</span>"
WITH_MARKS = re.compile(rf"([(\[“‘]*)({FORMULA})([.,;:!?)\]”’%]+|-(?=\w))?", re.DOTALL)
PERCENT = re.compile(r"(?<=\d) (?=%)")
KEPT_AS_IT_IS = re.compile(r"(<(pre|code|script|style)\b.*?</\2>)", re.DOTALL)


def shorten(app, exception):
    """Take the scripts out of the finished pages."""
    if exception or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        light = ICONS.sub("", text)
        if path.name != "search.html":
            light = SEARCH.sub("", light)
        if light != text:
            path.write_text(light, encoding="utf-8", newline="\n")


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
    app.connect("build-finished", shorten)
