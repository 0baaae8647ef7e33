"""What a published book needs around its pages: words for search engines and links, licences, a page for the lost.

``html: {baseurl: ...}`` in ``_config.yml``, or else the address of the repository, says where the pages will stand.
Without it there is no sitemap, and links that other sites show have no picture.
"""
from __future__ import annotations

import html
import re
from pathlib import Path
from unicodedata import lookup
from urllib.parse import quote, urlsplit

from docutils import nodes

from bookext.notices import notices
from bookext.translation.spoken import say

LONGEST = 240                                    # letters
ASIDE = (nodes.literal_block, nodes.table, nodes.Admonition, nodes.container)
GREEK = re.compile(r"\\(?:var)?(alpha|beta|gamma|delta|epsilon|mu|rho|sigma|pi)\b")
PICTURE = "_static/book/card.png"
RELATIVE = re.compile(r"(?<= )(href|src|action)=\"(?![#/]|[a-z]+:)")


def first_words(doctree) -> str:
    """The first paragraph of a page's text, to the end of a sentence or a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        parent = paragraph.parent
        while parent is not None and not isinstance(parent, ASIDE):
            parent = parent.parent
        words = " ".join(paragraph.astext().split())
        if parent is None and len(words) > 20:
            break
    else:
        return ""
    words = GREEK.sub(lambda found: lookup(f"GREEK SMALL LETTER {found[1].upper()}"), words)
    if len(words) <= LONGEST:
        return words
    cut = words[:LONGEST]
    sentence = re.match(r".*[.?!](?= )", cut)
    return sentence[0] if sentence else f"{cut.rpartition(' ')[0]} …"


def describe(app, pagename, templatename, context, doctree):
    """What a search engine or a message shows of a page."""
    if doctree is None:
        return
    here, words = app.config.html_baseurl.rstrip("/"), first_words(doctree)
    tags = {
        "og:title": re.sub(r"<.*?>", "", html.unescape(context["title"])), "og:type": "article",
        "og:site_name": app.config.html_title, "og:description": words,
    }
    if here:
        tags |= {
            "og:url": f"{here}/{quote(pagename)}.html", "og:image": f"{here}/{PICTURE}",
            "og:image:alt": say("Two curves over a season, and one evening on which an alarm is raised"),
        }
    lines = [f'<meta name="description" content="{html.escape(words)}" />'] if words else []
    lines += [f'<meta property="{name}" content="{html.escape(said)}" />' for name, said in tags.items() if said]
    context["metatags"] += "\n    ".join(["", *lines])


def say_the_licence(app, pagename, templatename, context, doctree):
    """At the foot of every page."""
    about, text = context["pathto"]("reference/about").rstrip("#"), context["pathto"]("NOTICES.txt", 1)
    links = {
        say("Licence"): f"{about}#licence", say("How to cite"): f"{about}#how-to-cite",
        say("Accessibility"): f"{about}#accessibility", say("Notices"): text,
    }
    context["theme_extra_footer"] = (
        f"{context.get('theme_extra_footer') or ''}<p>{say('Text and data: CC BY 4.0. Code: MIT.')} "
        + " · ".join(f'<a href="{html.escape(link)}">{name}</a>' for name, link in links.items()) + "</p>"
    )


def lost(app):
    """The page for an address that leads nowhere."""
    if app.builder.format == "html":
        title, words = say("Page not found"), say(
            "This address leads nowhere. It may be that of an older version of the book. "
            "The list of pages and the search find what you want."
        )
        yield "404", {"title": title, "body": f"<h1>{title}</h1><p>{words}</p>"}, "page.html"


def finish(app, exception):
    if exception or app.builder.format != "html":
        return
    site, here = Path(app.outdir), app.config.html_baseurl.rstrip("/")
    page = site / "404.html"                     # a server shows it at any depth: its links begin at the host
    start = urlsplit(here).path
    text = RELATIVE.sub(rf'\1="{start}/', page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8", newline="\n")
    robots = "User-agent: *\nAllow: /\n"
    if here:
        robots += f"Sitemap: {here}/sitemap.xml\n"
        pages = "".join(f"<url><loc>{here}/{quote(name)}.html</loc></url>\n" for name in sorted(app.env.found_docs))
        (site / "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="utf-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{pages}</urlset>\n', encoding="utf-8"
        )
    (site / "robots.txt").write_text(robots, encoding="utf-8")
    (site / "NOTICES.txt").write_text(notices(site / "_static"), encoding="utf-8")


def setup(app):
    app.connect("html-page-context", describe)
    app.connect("html-page-context", say_the_licence)
    app.connect("html-collect-pages", lost)
    app.connect("build-finished", finish, priority=860)         # after all that writes pages and files
