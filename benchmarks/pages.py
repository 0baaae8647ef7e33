"""What each page of the built book weighs, and how soon it can be read and moved: over a slow line, on a slow phone.

    .venv/bin/python benchmarks/pages.py                             # after make book; writes benchmarks/pages.md
    .venv/bin/python benchmarks/pages.py --runs 5 --only chapters/mechanisms/laplace --output pages.md
    .venv/bin/python benchmarks/pages.py --add --only reference/claims      # the other lines stay as they were measured

The last line of the table is the page that Jupyter Book makes of one section's text with its own settings, in the same
run.
"""
import argparse
import datetime
import functools
import http.server
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests" / "book"), str(HERE.parent / "tools")]

from test_site import NO_BROWSER, PAGES, chromium  # noqa: E402
from weighing import AS_THEY_ARE, PHONE, SETTLED, carried  # noqa: E402

BOOK = HERE.parent / "_build" / "html"
SECTION = "chapters/mechanisms/laplace"
LINE = {"offline": False, "latency": 40, "downloadThroughput": 10e6 / 8, "uploadThroughput": 5e6 / 8}
SLOWER = 4
STOCK = """title: {title}
execute: {{execute_notebooks: "off"}}
parse:
  myst_enable_extensions: [amsmath, colon_fence, deflist, dollarmath, html_image, linkify, substitution, tasklist]
sphinx: {{extra_extensions: [sphinx_proof, sphinx_exercise]}}
"""
STOCK_NAME = "Jupyter Book's own settings"
ELSEWHERE = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/"

# an explorer's script stands in it: what follows it on the page is there once the script has run
PROBE = """(() => {
    const after = box => box && (box.nextElementSibling || after(box.parentElement));
    const look = () => {
        if (after(document.querySelector(".explorer"))) window.sliderAt = performance.now();
        else if (document.readyState !== "complete") setTimeout(look, 10);
    };
    look();
})()"""
TIMES = """() => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
    return {paint, slider: window.sliderAt ? Math.max(paint, window.sliderAt) : null, settled: performance.now()};
}"""


class Compressing(http.server.SimpleHTTPRequestHandler):
    """A server as the web has them: connections stay open, text is compressed."""
    protocol_version = "HTTP/1.1"
    known = {}

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if path not in self.known:
            self.known[path] = carried(path) if path.is_file() else None
        body = self.known[path]
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body or b"")))
        if body is not None and path.suffix not in AS_THEY_ARE:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *arguments):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Compressing, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def stock_book(folder):
    """Jupyter Book's page of a section's notebook, as its own settings make it; MathJax comes from this server."""
    name = Path(SECTION).name
    shutil.copy(HERE.parent / f"{SECTION}.ipynb", folder)
    (folder / "_config.yml").write_text(STOCK.format(title="A section"), encoding="utf-8")
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: {name}\n", encoding="utf-8")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder]
    subprocess.run(command, check=True, capture_output=True)
    site = folder / "_build" / "html"
    wheel = metadata.distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")
    shutil.copytree(wheel, site / "_static" / "mathjax")
    page = site / f"{name}.html"
    page.write_text(page.read_text(encoding="utf-8").replace(ELSEWHERE, "_static/mathjax/"), encoding="utf-8")
    return site, name


def measure(browser, site, address, page):
    """One visit with nothing in the browser's memory."""
    context, files, elsewhere = browser.new_context(**PHONE), {}, set()
    context.route(
        lambda url: urlsplit(url).hostname not in ("127.0.0.1", None),
        lambda route: (elsewhere.add(route.request.url), route.abort()),
    )
    tab = context.new_page()
    tab.on(
        "request",
        lambda request: files.update(
            {urlsplit(request.url).path.lstrip("/"): 0} if request.url.startswith(address) else {}
        ),
    )
    session = context.new_cdp_session(tab)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.send("Network.emulateNetworkConditions", LINE)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    tab.add_init_script(PROBE)
    tab.goto(f"{address}{page}.html", timeout=120_000)
    tab.evaluate(SETTLED)
    times = tab.evaluate(TIMES)
    context.close()
    there = [site / file for file in files if (site / file).is_file()]
    return {"kB": sum(len(carried(file)) for file in there) / 1000, "requests": len(there) + len(elsewhere), **times}


def row(page, visits):
    middle = {
        what: statistics.median(visit[what] for visit in visits) if visits[0][what] is not None else None
        for what in visits[0]
    }
    seconds = [
        f"{middle[what] / 1000:.1f}" if middle[what] is not None else "" for what in ("paint", "slider", "settled")
    ]
    return f"| {page} | {middle['kB']:.0f} | {middle['requests']:.0f} | {' | '.join(seconds)} |"


def rows_of(table):
    """The lines of an earlier table: page -> line."""
    return {
        line.split("|")[1].strip(): line
        for line in table.splitlines()
        if line.startswith("| ") and not line.startswith("| page")
    }


def report(rows, runs):
    cores, memory = os.cpu_count(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [
        "# The pages, weighed and timed",
        "",
        f"{datetime.date.today()}, a {platform.system()} machine with {cores} processors and {memory:.0f} GB"
        f"{', busy with other work' if os.getloadavg()[1] > cores else ''}; "
        f"{'one visit' if runs == 1 else f'medians of {runs} visits'}.",
        f"Chromium as a phone, 390 px wide, nothing in its memory: 10 Mbit/s, 40 ms, "
        f"a processor {SLOWER} times slower than this one.",
        "kB are what travels: text compressed, pictures and fonts as they are. "
        "Seconds are from the click to the first text, "
        "to a first slider that answers, and to the last formula and font.",
        "",
        "| page | kB | requests | first text | slider | all |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [rows[page] for page in (*PAGES, STOCK_NAME) if page in rows]
    return "\n".join(
        [
            *lines,
            "",
            f"The last page is `{SECTION}` as Jupyter Book {metadata.version('jupyter-book')} makes it "
            "with its own settings, not executed: "
            "the same text without figures and explorers. "
            "Its MathJax came from the same server, not from another host.",
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", metavar="PAGE", nargs="+", default=PAGES)
    parser.add_argument("--add", action="store_true", help="keep the lines that the table has of other pages")
    parser.add_argument("--output", type=Path, default=HERE / "pages.md")
    arguments = parser.parse_args()
    if not chromium():
        sys.exit(NO_BROWSER)
    found = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        stock, name = stock_book(Path(folder))
        here, there = serve(BOOK), serve(stock)
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--disable-gpu", "--disable-background-networking"]
        )
        for run in range(arguments.runs):
            for page in arguments.only:
                found[page].append(measure(browser, BOOK, here, page))
            found[STOCK_NAME].append(measure(browser, stock, there, name))
            print(f"visit {run + 1} of {arguments.runs}", flush=True)
        browser.close()
    earlier = (
        rows_of(arguments.output.read_text(encoding="utf-8")) if arguments.add and arguments.output.exists() else {}
    )
    text = report(earlier | {page: row(page, visits) for page, visits in found.items()}, arguments.runs)
    print(text)
    arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
