"""What a page asks for, and what that weighs on its way to a reader."""
import functools
import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
    "reduced_motion": "reduce",
}
# servers compress the others, which are text
AS_THEY_ARE = {".woff", ".woff2", ".ttf", ".png", ".webp", ".jpg", ".gif", ".ico"}

SETTLED = """async () => {
    if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
    await document.fonts.ready;
    await new Promise(done => setTimeout(done, 100));
}"""


def carried(path: Path) -> bytes:
    """A file as it travels."""
    data = path.read_bytes()
    return data if path.suffix in AS_THEY_ARE else gzip.compress(data, 6)


@functools.cache
def weight(path: Path) -> float:
    """Kilobytes of a file on the wire."""
    return len(carried(path)) / 1000


def asked_for(browser, address: str, look=lambda page: None) -> list[str]:
    """The files that a page asks its own host for until it has settled; then look(page) looks at it.

    The page is on a phone that has seen nothing yet and does not scroll.
    """
    context, found = browser.new_context(**PHONE), []
    page = context.new_page()
    page.on("request", lambda request: found.append(urlsplit(request.url)))
    page.goto(address)
    page.evaluate(SETTLED)
    asked = list(dict.fromkeys(unquote(url.path).lstrip("/") for url in found if url.scheme == "http"))
    look(page)
    context.close()
    return asked
