"""The built book: every page in light and dark, on a desk and on a phone, as a reader meets it."""
import contextlib
import functools
import http.server
import importlib.resources
import json
import random
import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lxml.html
import pytest
import yaml
from bookext import strict
from playwright.sync_api import sync_playwright
from printing import chromium
from weighing import PHONE, asked_for, weight

ROOT = Path(__file__).resolve().parents[2]
NO_BROWSER = "no Chromium: install it (Debian, Ubuntu: apt-get install chromium) or set CHROMIUM to its path"
GENERATED = ["404", "genindex", "py-modindex", "search"]
WIDTHS = {"desk": 1280, "phone": 390}
LIMIT_KB = 300                                   # of everything that a page asks for on a phone, as it travels


def files_of(toc):
    """The pages that a table of contents names, in order."""
    for key, value in toc.items():
        if key in ("root", "file"):
            yield value
        elif key in ("parts", "chapters", "sections"):
            for entry in value:
                yield from files_of(entry)


PAGES = [*files_of(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))), *GENERATED]


# ------------------------------------------------------------------------------------------------------------ the build


def test_the_book_builds_without_a_warning(build_log):
    troubles = [line for line in build_log.splitlines() if re.search(r"WARNING|ERROR|Error:", line)]
    assert build_log.startswith("0\n"), "\n".join(troubles) or build_log[-6000:]
    assert not troubles


def test_every_page_is_tested(site):
    built = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    built = {page for page in built if not page.startswith(("_", "zh/"))}         # nor the other edition
    assert built == {*PAGES, "index"}       # index.html sends its reader to the first page


# -------------------------------------------------------------------------------------------- what the files alone tell


class Page:
    """The text of one page, and its anchors, links and pictures."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        tree = lxml.html.document_fromstring(self.text)
        self.ids = set(tree.xpath("//@id"))
        self.links = [link for link in tree.xpath("//@href | //@src") if link]
        self.pictures = [picture.attrib for picture in tree.iter("img")]


@functools.cache
def pages_under(folder):
    """Path -> page, each read once for all tests."""
    paths = {path: path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html"))}
    return {path: Page(path) for path, name in paths.items() if not re.search("(^|/)_", name)}


def broken_links(pages):
    for path, page in pages.items():
        for link in page.links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            place = target.path.lstrip("/") if path.name == "404.html" else target.path        # it stands at the top
            file = (path.parent / unquote(place)).resolve() if place else path
            if not file.is_file():
                yield f"{path.name}: {link} leads to no file"
            elif target.fragment and file in pages and unquote(target.fragment) not in pages[file].ids:
                yield f"{path.name}: {link} leads to no anchor"


def pictures_without_words(pages):
    for path, page in pages.items():
        for picture in page.pictures:
            alt = picture.get("alt") or ""
            if not alt.strip() or "_images/" in alt or alt.endswith((".svg", ".png")):
                yield f"{path.name}: {picture.get('src', '')[:60]} has the alt text {alt!r}"


def test_every_link_inside_the_book_leads_somewhere(site):
    found = list(broken_links(pages_under(site)))
    assert not found, "\n".join(found)


def test_every_picture_has_words(site):
    found = list(pictures_without_words(pages_under(site)))
    assert not found, "\n".join(found)


def test_chapters_carry_the_numbers_of_the_plan(site):
    """Whatever is written so far: sparse_vector is chapter 4, and its sections are 4.1, 4.2 and so on, in order."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    plan, sections = config["sphinx"]["config"]["book_chapters"], Counter()
    for page in PAGES:
        if page.startswith("chapters/"):
            _, folder, name = page.split("/")
            number = f"{1 + plan.index(folder)}."
            if name != "index":
                sections[folder] += 1
                number += f"{sections[folder]}."
            heading = re.search(r"<h1>(.*?)<a ", pages_under(site)[site / f"{page}.html"].text).group(1)
            assert re.sub(r"<.*?>", "", heading).startswith(f"{number} "), heading


def test_no_explorer_needs_a_library(site):
    assert not any("jupyter.widget" in page.text for page in pages_under(site).values())


# --------------------------------------------------------------------------------------------------------- in a browser

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
CONTRAST = "color-contrast"                      # by far the slowest rule: asked of one text of each look, see SAMPLE
AXE += f"axe.configure({{rules: [{{id: '{CONTRAST}', selector: '[data-sample]'}}]}});"
NARROW_RULES = ["scrollable-region-focusable", "target-size"]       # what depends on the width of the window

# no other host answers, and what two pages share is fetched once
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

READY = """async () => {
    if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
    await document.fonts.ready;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""

# marks one text of each look that is not known: how many texts there are, and what is new
SAMPLE = """known => {
    const seen = new Set(known), fresh = [], ground = new Map();
    let texts = 0;
    const grounds = e => {                       // of what shows through from the elements around
        if (!e) return "";
        if (!ground.has(e)) {
            const style = getComputedStyle(e);
            const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter].join();
            ground.set(e, (own === "rgba(0, 0, 0, 0),none,1,none" ? "" : own + "/") + grounds(e.parentElement));
        }
        return ground.get(e);
    };
    const judged = (e, words) => {               // axe says nothing of single letters, drawings and what is hidden
        const box = e.getBoundingClientRect();
        return words.trim().length > 1 && !e.closest("math, svg") && box.width > 1 && box.right > 0 && box.bottom > 0
            && e.checkVisibility({opacityProperty: true, visibilityProperty: true});
    };
    document.querySelectorAll("[data-sample]").forEach(e => e.removeAttribute("data-sample"));
    const text = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (text.nextNode()) {
        const e = text.currentNode.parentElement;
        if (!text.currentNode.data.trim() || e.closest("script, style, noscript, template")) continue;
        if (!e.getClientRects().length) continue;
        const style = getComputedStyle(e);
        const own = [style.color, style.fontSize, style.fontWeight, style.textShadow, style.visibility];
        const look = [...own, grounds(e)].join("|");
        texts += 1;
        if (judged(e, text.currentNode.data) && !seen.has(look)) {
            seen.add(look);
            e.setAttribute("data-sample", fresh.push(look) - 1);
        }
    }
    return [texts, fresh];
}"""

# what axe says of the contrast of the marked texts, and the marks of those that have enough
CONTRASTS = """async () => {
    const found = await axe.run({runOnly: ["color-contrast"], resultTypes: ["violations", "passes"], preload: false});
    const enough = found.passes.flatMap(one => one.nodes)
        .map(node => +document.querySelector(node.target[0]).dataset.sample);
    return [found.violations, enough];
}"""

# two thirds of a page's elements draw formulas and colour code: axe has nothing to judge in them
EMPTIED = """() => {
    const still = e => !e.querySelector("a, button, [tabindex], [data-sample]");
    const drawn = [...document.querySelectorAll("mjx-math[aria-hidden=true]")].filter(still)
        .map(e => [e, [...e.childNodes], e.style.cssText, e.getBoundingClientRect()]);
    const coloured = [...document.querySelectorAll("pre")].filter(still)
        .map(e => [e, [...e.childNodes], e.style.cssText]);
    for (const [e, , , {width, height}] of drawn) {
        e.replaceChildren();
        e.style.cssText += `; display: inline-block; box-sizing: border-box; width: ${width}px; height: ${height}px`;
    }
    for (const [e] of coloured) e.textContent = e.textContent;
    window.filled = () => [...drawn, ...coloured].forEach(([e, parts, style]) => {
        e.replaceChildren(...parts);
        e.style.cssText = style;
    });
}"""

LOOK = r"""() => {
    const found = [], page = document.documentElement;
    if (page.scrollWidth > window.innerWidth) {
        const wide = [...document.querySelectorAll("body *")]
            .filter(e => e.getBoundingClientRect().right > window.innerWidth + 1).slice(-3);
        const shown = wide.map(e => e.outerHTML.slice(0, 80)).join(" | ");
        found.push(`overflow: ${page.scrollWidth} px wide, ${shown}`);
    }
    for (const e of document.querySelectorAll(".math"))
        if (!e.querySelector("mjx-container")) found.push(`raw mathematics: ${e.textContent.slice(0, 60)}`);
    for (const e of document.querySelectorAll("mjx-merror, [data-mjx-error]"))
        found.push(`mathematics with an error: ${e.textContent.slice(0, 60)}`);
    for (const e of document.querySelectorAll("mjx-container[tabindex]"))
        if (e.scrollWidth <= e.clientWidth) found.push(`a formula stops the Tab key: ${e.textContent.slice(0, 60)}`);
    const silent = "pre, code, script, style, noscript, template, mjx-container, .math";
    const text = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (text.nextNode()) {
        const words = text.currentNode.data.trim();
        if (/\\[([a-zA-Z]|\$\$/.test(words) && !text.currentNode.parentElement.closest(silent))
            found.push(`raw mathematics: ${words.slice(0, 60)}`);
    }
    return found;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Strict(Quiet):
    """A server that allows no script and no style inside pages: a browser notes as an error what it refuses."""

    def end_headers(self):
        self.send_header("Content-Security-Policy", strict.POLICY)
        super().end_headers()


@pytest.fixture(scope="session")
def serve():
    """Serve folders on this machine, each at an address of its own."""
    servers = []

    def start(folder, handler=Quiet):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    with ThreadPoolExecutor(len(servers) or 1) as pool:      # each takes half a second to notice
        list(pool.map(http.server.ThreadingHTTPServer.shutdown, servers))
    for server in servers:
        server.server_close()


@pytest.fixture(scope="session")
def address(site, serve):
    return serve(site, Strict)


@pytest.fixture(scope="module")
def browser():
    path = chromium() or pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--disable-gpu", "--disable-background-networking", ALONE]
        )
        yield browser
        browser.close()


class Reader:
    """One browser window, which notes what should not happen while a page loads."""

    def __init__(self, browser):
        self.good = set()  # looks whose contrast has been found enough, on this page or one before
        self.context = browser.new_context(reduced_motion="reduce")
        self.page = self.context.new_page()
        self.noted = []
        self.page.on(
            "request", lambda request: self.note(self.foreign(request.url), f"another host: {request.url[:100]}")
        )
        self.page.on(
            "response", lambda response: self.note(response.status >= 400, f"status {response.status}: {response.url}")
        )
        self.page.on("console", lambda message: self.note(message.type == "error", f"console: {message.text[:200]}"))
        self.page.on("pageerror", lambda error: self.note(True, f"page error: {str(error)[:200]}"))

    @staticmethod
    def foreign(url):
        return urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).hostname != "127.0.0.1"

    def note(self, wrong, what):
        if wrong:
            self.noted.append(what)

    def open(self, url):
        self.noted.clear()
        self.page.goto("about:blank")            # nobody waits for the last page to be set anew
        self.width("desk")
        self.page.emulate_media(color_scheme="light")
        self.page.goto(url)
        self.page.evaluate(READY)

    def width(self, screen):
        self.page.set_viewport_size({"width": WIDTHS[screen], "height": 900})

    @contextlib.contextmanager
    def emptied(self):
        """Formulas keep their places and words, but not what draws them; code keeps its letters, in one colour."""
        self.page.evaluate(EMPTIED)
        yield
        self.page.evaluate("filled()")

    @staticmethod
    def told(violations):
        for violation in violations:
            first, times = violation["nodes"][0], len(violation["nodes"])
            why = " ".join(first["failureSummary"].split())
            yield f"axe, {violation['impact']}: {violation['id']} ×{times}, {first['html'][:120]}: {why[:200]}"

    def axe(self, **options):
        call = f"axe.run({{resultTypes: ['violations'], preload: false, ...{json.dumps(options)}}})"
        yield from self.told(self.page.evaluate(call)["violations"])

    def contrast(self, scheme):
        """Texts that are too pale in the colour scheme that is on, among those that look as no text did before.

        A look is colour, size, weight and grounds.
        """
        texts, looks = self.page.evaluate(SAMPLE, sorted(self.good))
        if not texts:
            yield f"{scheme}: no text to look at"
        if looks:
            with self.emptied():
                violations, enough = self.page.evaluate(CONTRASTS)
            self.good |= {looks[place] for place in enough}
            yield from (f"{scheme}: {found}" for found in self.told(violations))

    def complaints(self, url):
        """Everything wrong with a page: loaded once, looked at on a desk and on a phone, in light and in dark."""
        self.open(url)
        self.page.evaluate(AXE)
        self.noted += self.page.evaluate(LOOK)
        with self.emptied():
            self.noted += self.axe(rules={CONTRAST: {"enabled": False}})
        self.noted += self.contrast("light")
        self.page.emulate_media(color_scheme="dark")
        self.page.evaluate(READY)
        self.noted += self.contrast("dark")
        self.width("phone")
        self.page.evaluate(READY)
        narrow = self.page.evaluate(LOOK)
        with self.emptied():
            narrow += self.axe(runOnly=NARROW_RULES)
        self.noted += [f"phone: {found}" for found in narrow]
        return list(self.noted)


@pytest.fixture(scope="class")
def reader(browser):
    reader = Reader(browser)
    yield reader
    reader.context.close()


class TestPages:
    @pytest.mark.parametrize("page", PAGES)
    def test_page(self, page, reader, address):
        found = reader.complaints(f"{address}{page}.html")
        found += still_controls(reader.page)
        assert not found, "\n".join(found)

    def test_the_theme_follows_the_reader(self, reader, address):
        reader.open(f"{address}{PAGES[0]}.html")
        assert reader.page.evaluate("document.documentElement.dataset.theme") == "light"
        reader.page.emulate_media(color_scheme="dark")
        reader.page.evaluate(READY)
        assert reader.page.evaluate("document.documentElement.dataset.theme") == "dark"


def seen_in(explorer):
    """What an open page shows of an explorer: picture, its name, sentence."""
    return explorer.evaluate("""box => {
        const picture = box.querySelector("[role=img]"), words = box.querySelector("[aria-live=polite]");
        return {picture: picture.innerHTML, name: picture.getAttribute("aria-label"),
                words: words && words.textContent};
    }""")


def still_controls(page):
    """The controls of an open page that do not move picture, words and value by the arrow keys.

    Each control is tried from where the page begins.
    """
    for explorer in page.locator(".explorer").all():
        for slider in explorer.locator("input[type=range]").all():
            name = slider.evaluate("slider => slider.labels.length ? slider.labels[0].textContent.trim() : ''")
            start, seen = slider.input_value(), []
            for key in ("Home", "End"):
                slider.press(key)
                shown = slider.evaluate(
                    "slider => [slider.getAttribute('aria-valuetext'), slider.parentNode.nextSibling.textContent]"
                )
                seen.append({**seen_in(explorer), "value": shown[0], "value beside it": shown[1]})
            slider.press("ArrowLeft")
            if slider.input_value() == slider.get_attribute("max"):
                yield f"{name}: an arrow key moves nothing"
            slider.fill(start)                   # another slider may mean nothing at the end of this one
            low, high = seen
            yield from (
                f"{name or 'a slider'}: the same {what} at both ends" for what in low if low[what] == high[what]
            )
            if not name:
                yield "a slider has no label"
        for group in explorer.get_by_role("radiogroup").all():
            name, choices = group.get_attribute("aria-label"), group.get_by_role("radio").all()
            start = next(place for place, choice in enumerate(choices) if choice.is_checked())
            choices[start].focus()
            seen = []
            for _ in choices:                    # once around, by the keyboard
                page.keyboard.press("ArrowRight")
                seen.append(seen_in(explorer))
            if not choices[start].is_checked():
                yield f"{name}: the arrow keys do not lead around"
            yield from (
                f"{name}: the same {what} for all names"
                for what in ("picture", "words")
                if len({one[what] for one in seen}) == 1
            )
        shown = seen_in(explorer)
        if shown["words"] is None or shown["words"] != (shown["name"] or "").replace("^", ""):
            yield "the picture's name is not the sentence"


def explorer_pages(site):
    pages = pages_under(site).items()
    return [path.relative_to(site).as_posix() for path, page in pages if 'class="explorer"' in page.text]


# all frames of all explorers of a page: letters on others, letters and values without room
CROWDED = """() => {
    const found = [];
    for (const box of document.querySelectorAll(".explorer")) {
        const [pieces, frames] = JSON.parse(box.querySelector("script").textContent);
        const picture = box.querySelector("[role=img]");
        const edge = box.getBoundingClientRect(), bad = new Map();
        for (const [numbers, sentence] of frames) {
            picture.innerHTML = numbers.map(number => pieces[number]).join("");
            const texts = [...picture.querySelectorAll("text")]
                .map(text => [text.textContent, text.getBoundingClientRect()]);
            texts.forEach(([words, at], k) => {
                if (at.left < edge.left - 1 || at.right > edge.right + 1)
                    bad.set(`"${words}" leaves the picture`, sentence);
                for (const [other, there] of texts.slice(k + 1)) {
                    const across = Math.min(at.right, there.right) - Math.max(at.left, there.left);
                    const down = Math.min(at.bottom, there.bottom) - Math.max(at.top, there.top);
                    if (across > 1 && down > 0.35 * Math.min(at.height, there.height))
                        bad.set(`"${words}" lies on "${other}"`, sentence);
                }
            });
        }
        for (const slider of box.querySelectorAll("[data-values]")) {
            const value = slider.parentNode.nextSibling;
            value.textContent = slider.dataset.values.split("|")
                .reduce((one, other) => one.length < other.length ? other : one);
            if (value.scrollWidth > value.clientWidth) bad.set(`the value ${value.textContent} has no room`, "");
        }
        for (const [what, sentence] of bad) found.push(`${what}: ${sentence.slice(0, 60)}`);
    }
    return found;
}"""

FINGER = """() => [...document.querySelectorAll(".explorer input")]
    .filter(one => one.getBoundingClientRect().height < 43.9).map(one => one.outerHTML.slice(0, 80))"""


def without_room(page):
    return [*page.evaluate(CROWDED), *page.evaluate(FINGER)]


def without_ring(page):
    """The controls of explorers that do not show where the keyboard is."""
    page.keyboard.press("Tab")                   # from here on the browser shows the focus
    for control in page.locator(".explorer :is(input[type=range], input:checked)").all():
        control.focus()
        if not control.evaluate("""one => [one, one.nextElementSibling].some(e => {
            const style = e && getComputedStyle(e);
            return e && style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2;
        })"""):
            yield control.evaluate("one => one.outerHTML.slice(0, 80)")


def test_the_keyboard_is_seen_on_every_control(browser, site, address):
    reader = Reader(browser)
    pages = explorer_pages(site)
    both = next(page for page in pages if 'role="radiogroup"' in (site / page).read_text(encoding="utf-8"))
    reader.open(address + both)
    assert reader.page.locator(".explorer input").count() > 2 and list(without_ring(reader.page)) == []
    reader.context.close()


def test_an_explorer_needs_no_server_and_comes_back_as_it_was_left(browser, site):
    context = browser.new_context()
    page = context.new_page()
    page.goto(next((site / name).as_uri() for name in explorer_pages(site) if "laplace" in name))
    explorer = page.locator(".explorer").first
    slider = explorer.locator("input[type=range]").first
    start = seen_in(explorer)
    slider.press("End")
    left = seen_in(explorer)
    page.goto("about:blank")
    page.go_back()
    page.wait_for_timeout(200)
    assert slider.input_value() == slider.get_attribute("max") and seen_in(explorer) == left != start
    context.close()


def test_without_scripts_the_first_frame_stays(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / explorer_pages(site)[0]).as_uri())
    explorer = page.locator(".explorer").first
    assert explorer.locator("[role=img] path").count() > 3 and explorer.locator("figcaption").inner_text().strip()
    assert not explorer.locator("input").first.is_visible()
    context.close()


DRAWN = """() => [...document.querySelectorAll("article mjx-c, article mjx-mspace, article figure svg *")].map(e => {
    const {x, y, width, height} = e.getBoundingClientRect();
    return [x, y, width, height].map(Math.round).join(" ");
})"""


def test_formulas_and_figures_look_the_same_where_no_style_may_stand_in_a_page(browser, site, serve, address):
    found = []
    for start in (serve(site), address):
        reader = Reader(browser)
        for name in explorer_pages(site)[:3]:
            reader.open(start + name)
            found.append(reader.page.evaluate(DRAWN))
            assert len(found[-1]) > 300 and not reader.noted, reader.noted
        reader.context.close()
    assert found[:3] == found[3:]


@pytest.mark.parametrize("inside", [
    "<p style='color: red'>red</p>", "<script>document.title = 'run'</script>", "<style>p { color: red }</style>",
    "<p onclick='alert(1)'>here</p>", "<img alt='a dot' src='http://127.0.0.2/dot.png'>",
])
def test_what_a_strict_server_does_not_allow_is_noticed(inside, browser, tmp_path, serve):
    (tmp_path / "page.html").write_text(document(inside), encoding="utf-8")
    reader = Reader(browser)
    reader.open(f"{serve(tmp_path, Strict)}page.html")
    assert any("Content Security Policy" in what for what in reader.noted), reader.noted
    reader.context.close()


def heavy(weights):
    return [f"{name}: {sum(parts):.0f} kB" for name, parts in weights.items() if sum(parts) > LIMIT_KB]


def test_on_a_phone_no_page_is_heavy_frames_and_controls_have_room_and_tables_are_whole(
    browser, site, address, record_property
):
    weights, narrow = {}, []

    def look(page):
        narrow.extend(f"{page.url}: {what}" for what in (*page.evaluate(LOOK), *without_room(page), *sideways(page)))

    for page in PAGES:
        weights[page] = [weight(site / file) for file in asked_for(browser, f"{address}{page}.html", look)]
    lines = [f"{name:48}{sum(parts):9.0f}{len(parts):11}" for name, parts in weights.items()]
    record_property("table", [f"{'page':48}{'kB':>9}{'requests':>11}", *lines])
    assert heavy(weights) == [] and narrow == []


SIDEWAYS = """() => [...document.querySelectorAll(".pst-scrollable-table-container")]
    .filter(box => box.getClientRects().length && box.scrollWidth > box.clientWidth + 1)
    .map(box => `a table of ${box.scrollWidth} px in ${box.clientWidth}: ${box.textContent.trim().slice(0, 60)}`)"""


def sideways(page):
    """The written tables of an open page that a phone has to scroll, folded ones opened first."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.evaluate("document.querySelectorAll('.toggle-hidden').forEach(one => one.classList.remove('toggle-hidden'))")
    return page.evaluate(SIDEWAYS)


def phone(browser):
    return browser.new_context(
        viewport={"width": WIDTHS["phone"], "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )


def test_a_table_that_a_phone_has_to_scroll_is_noticed(browser, serve, tmp_path):
    context = browser.new_context(**PHONE)
    page = context.new_page()
    wide = (
        '<div class="pst-scrollable-table-container" style="overflow-x: auto">'
        '<table><tr><td style="min-width: 600px">wide</td></tr></table></div>'
    )
    (tmp_path / "wide.html").write_text(
        document(wide, '<meta name="viewport" content="width=device-width">'), encoding="utf-8"
    )
    page.goto(f"{serve(tmp_path)}wide.html")
    assert len(sideways(page)) == 1
    context.close()


def idle_filters(page):
    """What the filters of the claims do not do."""
    rows = page.locator("table.claims tbody tr")
    shown = "rows => rows.filter(row => row.getClientRects().length).map(row => row.textContent)"
    for button in page.locator(".filters button").all():
        button.click()
        name, count = button.inner_text().split()
        verdict = ".verdict" if name == "all" else f".verdict.{name}"
        of_its_kind = page.locator(f"table.claims tr:visible:has({verdict})")
        if not len(rows.evaluate_all(shown)) == of_its_kind.count() == int(count):
            yield f"{name}: not {count} rows"
        if page.locator(".filters [aria-pressed=true]").all_inner_texts() != [button.inner_text()]:
            yield f"{name}: not pressed, or not alone"
    page.locator(".filters button").first.click()
    page.locator(".filters input").fill("adjacency NOISE")
    left = rows.evaluate_all(shown)
    if not 0 < len(left) < 50 or not all("adjacency" in row.lower() and "noise" in row.lower() for row in left):
        yield "the field finds other rows"
    if not page.locator(".filters [role=status]").inner_text().startswith(f"{len(left)} of "):
        yield "nobody is told how many are left"
    page.evaluate("location.hash = '#e08'")
    page.wait_for_timeout(100)
    if not page.locator("#e08").is_visible():
        yield "a link to a claim does not show it"


def test_the_filters_of_the_claims(browser, site, address, serve, tmp_path):
    reader = Reader(browser)
    reader.open(f"{address}reference/claims.html")
    assert list(idle_filters(reader.page)) == [] and reader.noted == []
    rows = [f'<tr id="{name}"><td>{name} {words}</td><td><b class="verdict {verdict}">{verdict}</b></td></tr>'
            for name, words, verdict in (("a01", "noise", "right"), ("e08", "adjacency", "wrong"))]
    buttons = "".join(f'<button aria-pressed="true">{words}</button>' for words in ("all 2", "wrong 1"))
    still = (
        f'<div class="filters">{buttons}<input><p role="status"></p></div>'
        f'<table class="claims"><tbody>{"".join(rows)}</tbody></table>'
    )
    (tmp_path / "still.html").write_text(document(still), encoding="utf-8")
    reader.open(f"{serve(tmp_path)}still.html")
    assert len(list(idle_filters(reader.page))) == 5
    reader.context.close()


def test_a_section_says_where_it_stands(site):
    text = (site / "chapters/mechanisms/gaussian.html").read_text(encoding="utf-8")
    sections = sum(page.startswith("chapters/mechanisms/") for page in PAGES) - 1
    assert f'<p class="way">Section 2 of {sections} in <a href="index.html">Mechanisms</a></p>' in text
    others = [page for path, page in pages_under(site).items() if path.stem.endswith("index")]
    assert len(others) > 5 and not any('class="way"' in page.text for page in others)


# -------------------------------------------------------------------------------------- the tests above can fail: proof


def document(body, head=""):
    return (
        f'<!doctype html><html lang="en"><head><title>A page</title>{head}</head>'
        f"<body><main><h1>A page</h1>{body}</main></body></html>"
    )


BAD_PAGES = {
    "another host": document('<img alt="elsewhere" src="https://example.org/picture.png">'),
    "status 404": document('<img alt="gone" src="gone.png">'),
    "console": document("<script>console.error('broken')</script>"),
    "page error": document("<script>throw Error('broken')</script>"),
    "overflow": document('<div style="width: 3000px">wide</div>'),
    "raw mathematics": document(r"<p>for every \(\varepsilon\) there is</p>"),
    "a formula stops the Tab key": document(
        '<mjx-container style="display: block" tabindex="0"><mjx-math>x</mjx-math></mjx-container>'
    ),
    "image-alt": document('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'),
    "light: axe, serious: color-contrast": document('<p>black</p><p style="color: #ccc; background: #fff">pale</p>'),
    "dark: axe, serious: color-contrast": document(
        "<p>black</p><em>dark</em>",
        "<style>@media (prefers-color-scheme: dark)"
        " { body { background: #111; color: #eee } em { color: #333 } }</style>",
    ),
    "phone: overflow": document('<div style="width: 600px">wide</div>'),
    "scrollable-region-focusable": document(
        '<pre style="overflow-x: auto; width: 300px"><code>' + "wide " * 99 + "</code></pre>"
    ),
    "aria-hidden-focus": document(
        "<mjx-container><mjx-math aria-hidden='true'><a href='#'>x</a></mjx-math></mjx-container>"
    ),
    "no text to look at": "<!doctype html><html lang='en'><head><title>A page</title></head><body></body></html>",
}


@pytest.fixture(scope="module")
def bad_address(serve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for number, page in enumerate(BAD_PAGES.values()):
        (folder / f"{number}.html").write_text(page, encoding="utf-8")
    (folder / "good.html").write_text(
        document("<p>Nothing wrong here.</p>", '<link rel="icon" href="data:,">'), encoding="utf-8"
    )
    return serve(folder)


@pytest.mark.parametrize("fault", BAD_PAGES)
def test_a_bad_page_is_refused(fault, browser, bad_address):
    reader = Reader(browser)
    found = reader.complaints(f"{bad_address}{list(BAD_PAGES).index(fault)}.html")
    reader.context.close()
    assert any(fault in complaint for complaint in found), found


def test_a_good_page_is_accepted(browser, bad_address):
    reader = Reader(browser)
    assert reader.complaints(f"{bad_address}good.html") == []
    reader.context.close()


def test_pale_text_is_found_after_good_pages_and_found_again(browser, bad_address):
    reader, fault = Reader(browser), "light: axe, serious: color-contrast"
    for _ in range(2):
        assert reader.complaints(f"{bad_address}good.html") == []
        found = reader.complaints(f"{bad_address}{list(BAD_PAGES).index(fault)}.html")
        assert any(fault in complaint for complaint in found), found
    reader.context.close()


STILL_SLIDER = '<label>ε <input type="range" max="3" aria-valuetext="1"></label><output>1</output>'
STILL_CHOICE = ('<div role="radiogroup" aria-label="method"><label><input type="radio" name="m" checked>a</label>'
                '<label><input type="radio" name="m">b</label></div>')


@pytest.mark.parametrize(("control", "picture", "faults"), [
    (STILL_SLIDER, '<svg role="img" aria-label="one"><path d="M0 0h9"/></svg><p aria-live="polite">one</p>', 5),
    (STILL_CHOICE, '<svg role="img" aria-label="one"><path d="M0 0h9"/></svg><p aria-live="polite">one</p>', 2),
    ("", '<svg role="img" aria-label="one"></svg><p aria-live="polite">two</p>', 1),
    ("", '<svg role="img" aria-label="one"></svg><p>one</p>', 1),
    ("", '<svg role="img" aria-label="e^2"></svg><p aria-live="polite">e<sup>2</sup></p>', 0),
])
def test_a_control_that_moves_nothing_is_noticed(control, picture, faults, browser, serve, tmp_path):
    (tmp_path / "still.html").write_text(document(f'<div class="explorer">{control}{picture}</div>'), encoding="utf-8")
    reader = Reader(browser)
    reader.open(f"{serve(tmp_path)}still.html")
    assert len(list(still_controls(reader.page))) == faults
    reader.context.close()


@pytest.mark.parametrize(("texts", "words"), [
    ('<text x="9" y="30">one</text><text x="9" y="60">two</text>', None),
    ('<text x="9" y="30">one</text><text x="12" y="33">two</text>', '"one" lies on "two"'),
    ('<text x="-30" y="30">long words</text>', "leaves the picture"),
    ('<text x="9" y="30">one</text><output style="display: block; width: 2px">1</output>', "has no room"),
])
def test_crowded_letters_and_thin_controls_are_noticed(texts, words, browser, serve, tmp_path):
    texts, _, value = texts.partition("<output")
    slider = (
        f'<label><input type="range" data-values="1|110000"></label><output{value}' if value else '<input type="range">'
    )
    data = json.dumps([[texts], [[[0], "a sentence"]]]).replace("</", "<\\/")
    body = (
        f'<div class="explorer">{slider}<svg role="img" viewBox="0 0 300 100"></svg>'
        f'<script type="application/json">{data}</script></div>'
    )
    (tmp_path / "crowd.html").write_text(
        document(body, '<meta name="viewport" content="width=device-width">'), encoding="utf-8"
    )
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.goto(f"{serve(tmp_path)}crowd.html")
    found = page.evaluate(CROWDED)
    assert len(found) == bool(words) and all(words in one for one in found)
    assert len(page.evaluate(FINGER)) == 1
    page.add_style_tag(content="input { outline: none !important }")
    assert len(list(without_ring(page))) == 1
    context.close()


BLANK = b" " * 1000                              # a kilobyte that compresses to nothing
NOISE = random.Random(0).randbytes(1000 * LIMIT_KB).hex().encode()       # compresses to a half
ASKING = {
    "picture": ('<img alt="words" src="part.png">', "part.png"),
    "picture of a sheet": ('<link rel="stylesheet" href="a.css">', "part.png"),
    "font": (
        "<style>@font-face { font-family: part; src: url(part.woff2) } p { font-family: part }</style>",
        "part.woff2",
    ),
    "script of a script": ("<script>import('./part.js')</script>", "part.js"),
}


@pytest.mark.parametrize(("kind", "content", "refused"), [
    # counted as they are
    *((kind, BLANK * (LIMIT_KB + more), more > 0) for kind in list(ASKING)[:3] for more in (-10, 1)),
    ("script of a script", BLANK * 10 * LIMIT_KB, False),
    ("script of a script", b"/*" + NOISE + b"*/", True),
])
def test_a_heavy_page_is_refused(kind, content, refused, browser, serve, tmp_path):
    asking, file = ASKING[kind]
    (tmp_path / "a.html").write_text(document(f"<p>text</p>{asking}"), encoding="utf-8")
    (tmp_path / "a.css").write_text("p { background: url(part.png) }", encoding="utf-8")
    (tmp_path / file).write_bytes(content)
    asked = asked_for(browser, f"{serve(tmp_path)}a.html")
    assert bool(heavy({"a": [weight(tmp_path / file) for file in asked]})) == refused


@pytest.mark.parametrize(
    ("link", "word"), [("gone.html", "file"), ("#gone", "anchor"), ("b.html#gone", "anchor"), ("b.html#here", None)]
)
def test_a_broken_link_is_noticed(link, word, tmp_path):
    (tmp_path / "a.html").write_text(document(f'<a href="{link}">on</a>'), encoding="utf-8")
    (tmp_path / "b.html").write_text(document('<p id="here">here</p>'), encoding="utf-8")
    found = list(broken_links(pages_under(tmp_path)))
    assert len(found) == bool(word) and all(re.search(word, complaint) for complaint in found)


@pytest.mark.parametrize("alt", ["", 'alt=""', 'alt="../_images/5f0c.svg"'])
def test_a_picture_without_words_is_noticed(alt, tmp_path):
    (tmp_path / "a.html").write_text(document(f'<img src="x.svg" {alt}>'), encoding="utf-8")
    assert len(list(pictures_without_words(pages_under(tmp_path)))) == 1
