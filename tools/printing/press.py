"""Chromium prints the document; pikepdf reads where things came to stand, and finishes the file."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pikepdf

from printing.document import Document

SETTLED = """async () => {
    await document.fonts.ready;
    const broken = [];
    const missing = one => broken.push(`a picture is missing: ${one.src.slice(-80)}`);
    await Promise.all([...document.images].map(one => one.decode().catch(() => missing(one))));
    for (const face of document.fonts) if (face.status === "error") broken.push(`a font is missing: ${face.family}`);
    for (const formula of document.querySelectorAll(".math"))
        if (!formula.querySelector("mjx-container mjx-math"))
            broken.push(`a formula is not set: ${formula.textContent.slice(0, 60)}`);
    for (const error of document.querySelectorAll("mjx-merror, [data-mjx-error]"))
        broken.push(`a formula with an error: ${error.textContent.slice(0, 60)}`);
    return broken;
}"""
# two different characters that look alike are two empty boxes
HAS_CHINESE = """() => {
    const look = sign => {
        const paper = new OffscreenCanvas(40, 40).getContext("2d");
        paper.font = "30px sans-serif";
        paper.fillText(sign, 4, 32);
        return paper.getImageData(0, 0, 40, 40).data.join();
    };
    return look("私") !== look("隐");
}"""
# (子采样放大) after a term, and the sentence about such names
WITHOUT_CHINESE = r"""() => {
    const text = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (text.nextNode()) if (/[\u3400-\u9fff]/.test(text.currentNode.data)) found.push(text.currentNode);
    const names = /\s*\([^()]*[\u3400-\u9fff][^()]*\)|[\u3000-\u9fff\uff00-\uffef]+/g;
    for (const node of found) node.data = node.data.replace(names, "");
    return found.length;
}"""
WIDTH = 529  # of the text, in pixels: 140 mm
TOO_WIDE = """() => {
    const edge = document.querySelector("main").getBoundingClientRect().right + 2, found = [];
    for (const one of document.querySelectorAll("main :is(mjx-container, table, pre, img, svg, p, li, dt)"))
        if (one.getBoundingClientRect().right > edge)
            found.push(`wider than the paper: ${one.textContent.slice(0, 60) || one.outerHTML.slice(0, 60)}`);
    for (const part of document.querySelectorAll("svg svg[overflow=hidden]"))  /* an endless bar */
        if (getComputedStyle(part).overflow !== "hidden")
            found.push(`a picture leaves its frame: ${part.closest("[aria-label]")
                ?.getAttribute("aria-label").slice(0, 60)}`);
    return found;
}"""
FILL = """numbers => {
    for (const place of document.querySelectorAll("[data-page]")) place.textContent = numbers[place.dataset.page];
}"""


class NoBrowser(Exception):
    """There is no Chromium."""


class NoFace(Exception):
    """There is no Chinese font for a Chinese document."""


class Spoilt(Exception):
    """What was printed is not what was to be printed."""


def chromium() -> str | None:
    """Where the browser is: $CHROMIUM, or the usual names on the PATH."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


class Press:
    """Prints documents, one after the other: ``with Press() as press: press.print(document, path)``.

    Parameters
    ----------
    browser : Browser of playwright, optional
        One that runs already; without it, Chromium is started and stopped.

    Raises
    ------
    NoBrowser
        If there is no Chromium to start.
    """

    def __init__(self, browser=None):
        self.browser, self.asked, self.notes = browser, [], []
        if browser is None and chromium() is None:
            raise NoBrowser(
                "no Chromium: install it (Debian, Ubuntu: apt-get install chromium) or set CHROMIUM to its path"
            )

    @contextmanager
    def sheet(self):
        """An empty page of the browser that loads nothing but files."""
        if self.browser is None:
            from playwright.sync_api import sync_playwright

            with sync_playwright() as playwright:
                self.browser = playwright.chromium.launch(
                    executable_path=chromium(), args=["--disable-gpu", "--disable-background-networking"]
                )
                with self.sheet() as page:
                    yield page
                self.browser.close()
                self.browser = None
            return
        context = self.browser.new_context(color_scheme="light")
        context.set_default_timeout(600_000)
        context.route(
            lambda url: urlsplit(url).scheme not in ("file", "data"),
            lambda route: (self.asked.append(route.request.url), route.abort()),
        )
        page = context.new_page()
        page.set_viewport_size({"width": WIDTH, "height": 800})
        yield page
        context.close()

    def print(self, document: Document, path: Path) -> dict[str, int]:
        """Print a document into a file; the HTML that was printed stays beside it.

        Returns
        -------
        dict
            Anchor -> the number of its page, for all that something leads to.

        Raises
        ------
        NoFace
            If the document is Chinese, and there is no font for it.
        Spoilt
            If a formula, a font or a picture is missing, if another host was asked, or if a page's number is not true.
        """
        source = path.with_suffix(".html")
        path.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(document.html(), encoding="utf-8")
        with self.sheet() as page:
            page.emulate_media(media="print")
            page.goto(source.as_uri())
            has_chinese, is_chinese = page.evaluate(HAS_CHINESE), document.language.startswith("zh")
            if is_chinese and not has_chinese:
                raise NoFace("no Chinese font: install one (Debian, Ubuntu: apt-get install fonts-noto-cjk)")
            trouble = (
                page.evaluate(SETTLED)
                + page.evaluate(TOO_WIDE)
                + [f"another host was asked: {url[:100]}" for url in self.asked]
            )
            if not has_chinese and page.evaluate(WITHOUT_CHINESE):
                self.notes.append("no Chinese font on this machine: the glossary's Chinese names are left out")
            if trouble:
                raise Spoilt("\n".join(trouble))
            page.pdf(path=path, prefer_css_page_size=True)
            numbers = places(path)
            page.evaluate(FILL, numbers)
            page.pdf(path=path, prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
        if places(path) != numbers:
            raise Spoilt("pages moved when their numbers were filled in")
        finish(path, document)
        return numbers


def places(path: Path) -> dict[str, int]:
    """Anchor -> the number of its page."""
    with pikepdf.open(path) as pdf:
        number = {page.objgen: place for place, page in enumerate(pdf.pages, 1)}
        return {
            str(name).removeprefix("/"): number[goal[0].objgen] for name, goal in pdf.Root.get("/Dests", {}).items()
        }


def name_outline(pdf: pikepdf.Pdf, headings: list[str]):
    """The true words: Chromium doubles a heading that it moved to the next page, and knows nothing of formulas."""

    def items(level):
        for item in level:
            yield item
            yield from items(item.children)

    with pdf.open_outline() as outline:
        found = list(items(outline.root))
        if len(found) != len(headings):
            raise Spoilt(f"the outline has {len(found)} entries, the document {len(headings)} headings")
        for item, heading in zip(found, headings):
            item.title = heading


def finish(path: Path, document: Document):
    """Title, author, language; and small: most of what Chromium writes are tags for screen readers, an object each."""
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.docinfo["/Title"], pdf.docinfo["/Author"], pdf.docinfo["/Subject"] = (
            document.title,
            document.author,
            document.subject,
        )
        del pdf.docinfo["/Creator"]  # the version of the browser, which the producer tells, too
        made = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))
        pdf.docinfo["/CreationDate"] = pdf.docinfo["/ModDate"] = time.strftime("D:%Y%m%d%H%M%SZ", made)
        name_outline(pdf, document.headings)
        pdf.Root.Lang = pikepdf.String(document.language)
        pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
        pdf.Root.PageMode = pikepdf.Name.UseOutlines
        pdf.save(
            path,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            compress_streams=True,
            recompress_flate=True,
            deterministic_id=True,
        )
