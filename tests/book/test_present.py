"""Presenting a page in a browser: what is shown, the keys, the anchors, and the page as it was before."""

import pytest
from test_site import AXE, CONTRAST, READY, SAMPLE, Reader, address, browser, serve  # noqa: F401 (three fixtures)

SECTION = "chapters/sparse_vector/above_threshold.html"
SHAPE = """[...document.querySelector('article').querySelectorAll('*')]
    .map(one => one.tagName + one.id + one.className).join()"""


@pytest.fixture(scope="module")
def room(browser):  # noqa: F811
    """A reader in a lecture hall."""
    reader = Reader(browser)
    yield reader
    reader.context.close()


@pytest.fixture
def present(room, address):  # noqa: F811
    """Open a page at an address; the window has the size of a projector."""

    def open(rest=""):
        room.open(address + SECTION + rest)
        room.page.set_viewport_size({"width": 1280, "height": 720})
        return room.page

    return open


def position(page):
    return [int(number) for number in page.locator(".present .position").inner_text().split(" of ")]


def shown(page):
    return page.locator(".present .fit > *")


def walk(page):
    """What is wrong with the things of a page, from the first to the last."""
    page.keyboard.press("Home")
    for place in range(1, position(page)[1] + 1):
        if position(page)[0] != place:
            yield f"{position(page)} after {place - 1} steps"
        thing = shown(page).evaluate("""one => {
            const stage = document.querySelector(".stage"), zoom = +document.querySelector(".fit").style.zoom;
            const box = one.getBoundingClientRect(), room = stage.getBoundingClientRect();
            return {left: box.left - room.left, right: room.right - box.right, zoom,
                    cut: Math.max(0, ...[...one.querySelectorAll("pre")]
                        .map(code => code.scrollWidth - code.clientWidth)),
                    high: stage.scrollHeight - stage.clientHeight, folded: Boolean(one.closest(".solution, .dropdown")),
                    empty: !one.textContent.trim() && !one.querySelector("img")};
        }""")
        if min(thing["left"], thing["right"]) < -1:
            yield f"{place} is wider than the window: {thing}"
        if thing["cut"] > 1:
            yield f"{place} has code that is cut: {thing}"
        if thing["high"] > 0 and thing["zoom"] > 0.85:
            yield f"{place} is higher than the window and not as small as it may be: {thing}"
        if thing["folded"] or thing["empty"] or not page.locator(".present .heading").inner_text():
            yield f"{place} is not worth showing: {thing}"
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize("name", [SECTION, "intro.html", "chapters/attacks/index.html"])
def test_all_things_of_a_page_fit_and_go_back(room, address, name):  # noqa: F811
    room.open(address + name)
    room.page.set_viewport_size({"width": 1280, "height": 720})
    before = room.page.evaluate(SHAPE)
    room.page.keyboard.press("p")
    shown(room.page).wait_for()
    assert list(walk(room.page)) == []
    room.page.keyboard.press("Escape")
    assert room.page.locator(".present").count() == 0 and room.page.evaluate(SHAPE) == before and room.noted == []


def test_what_does_not_fit_is_noticed(present):
    page = present("?present")
    shown(page).wait_for()
    page.evaluate("document.styleSheets[0].insertRule('.present .fit { width: 300rem !important }')")
    assert any("wider" in complaint for complaint in walk(page))


@pytest.mark.parametrize(
    ("anchor", "picture"), [("cell-explorer-stream", ".explorer figure > svg"), ("fig-svt-stream", "figure img")]
)
def test_a_picture_stands_beside_its_words_and_fills_the_height(present, anchor, picture):
    page = present(f"?present#{anchor}")
    shown(page).wait_for()
    page.wait_for_timeout(200)
    room, drawn = (page.locator(f".present {what}").first.bounding_box() for what in (".stage", picture))
    words = page.locator(".present figcaption").first.bounding_box()
    assert drawn["height"] > 0.8 * room["height"], (room, drawn)
    assert words["x"] > drawn["x"] + drawn["width"] - 1 or words["x"] + words["width"] < drawn["x"] + 1


def test_it_shows_results_figures_sliders_tables_and_exercises(present):
    page = present("?present")
    shown(page).wait_for()
    kinds = set()
    for _ in range(position(page)[1]):
        kinds |= set(
            shown(
                page
            ).evaluate("""one => ["theorem", "algorithm", "exercise"].filter(name => one.classList.contains(name))
            .concat(["figure", ".explorer", "table", "pre"].filter(name => one.querySelector(name)))""")
        )
        page.keyboard.press("PageDown")
    assert kinds == {"theorem", "algorithm", "exercise", "figure", ".explorer", "table", "pre"}
    assert page.locator(".next").is_disabled() and page.locator(".back").is_enabled()


@pytest.mark.parametrize(
    ("anchor", "selector"),
    [
        ("ex-svt-build", "#ex-svt-build"),
        ("thm-above-threshold", "#thm-above-threshold"),
        ("fig-svt-shift", ".cell:has(#fig-svt-shift)"),
        ("svt-algorithm", "#alg-above-threshold"),
        ("sol-svt-touch", "#ex-svt-build"),
        ("no-such-anchor", "article .cell"),
    ],
)
def test_an_address_begins_at_an_anchor(present, anchor, selector):
    page = present(f"?present#{anchor}")
    shown(page).wait_for()
    assert shown(page).evaluate("(one, selector) => one.matches(selector)", selector)


def test_the_keys_step_and_a_slider_keeps_its_arrows(present):
    page = present("?present#svt-worth")
    shown(page).wait_for()
    start = position(page)[0]
    for key, place in (
        ("ArrowRight", start + 1),
        ("PageDown", start + 2),
        ("ArrowLeft", start + 1),
        ("PageUp", start),
        ("End", position(page)[1]),
        ("Home", 1),
        ("ArrowLeft", 1),
        ("Control+ArrowRight", 1),
    ):
        page.keyboard.press(key)
        assert position(page)[0] == place, key
    while not page.locator(".present .explorer").count():
        page.keyboard.press("ArrowRight")
    here, slider = position(page)[0], page.locator(".present input[type=range]").first
    value, sentence = slider.input_value(), page.locator(".present figcaption").inner_text()
    slider.press("ArrowRight")
    assert (
        position(page)[0] == here
        and slider.input_value() != value
        and page.locator(".present figcaption").inner_text() != sentence
    )
    page.locator(".present .next").click()
    assert position(page)[0] == here + 1
    page.locator(".present .close").click()
    assert page.locator(".present").count() == 0


@pytest.mark.parametrize("way", ["button", "key"])
def test_it_begins_where_one_reads_and_fills_the_screen(present, way):
    page = present()
    page.locator("#thm-above-threshold").evaluate(
        "one => scrollBy({top: one.getBoundingClientRect().top - 60, behavior: 'instant'})"
    )
    if way == "button":
        page.locator(".present-button").click()  # comes back into view when one scrolls up
    else:
        page.keyboard.press("p")
    shown(page).wait_for()
    page.wait_for_function("!!document.fullscreenElement")
    page.keyboard.press("ArrowRight" if way == "button" else "Shift")
    assert shown(page).evaluate("one => one.id") == "thm-above-threshold"
    page.keyboard.press("Escape")
    page.wait_for_function("!document.fullscreenElement")
    assert 0 < page.evaluate("document.querySelector('#thm-above-threshold').getBoundingClientRect().top") < 720


def test_a_letter_that_is_written_or_held_with_another_key_presents_nothing(present):
    page = present()
    page.keyboard.press("Control+p")
    page.keyboard.press("Control+k")
    page.keyboard.press("p")
    page.wait_for_timeout(200)
    assert page.locator(".present").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_heard_and_used_by_keyboard(present, room, scheme):
    page = present("?present#thm-above-threshold")
    shown(page).wait_for()
    page.evaluate(AXE)
    page.emulate_media(color_scheme=scheme)
    page.evaluate(READY)
    assert page.evaluate(SAMPLE, [])[0]          # marks the texts whose contrast is asked for
    rules = {"resultTypes": ["violations"]} if scheme == "light" else {"runOnly": [CONTRAST]}
    look = "rules => axe.run('.present', rules)"
    assert page.evaluate(look, rules)["violations"] == []
    assert page.evaluate("document.querySelector('.present').contains(document.activeElement)")
    assert page.locator(".present [role=status]").inner_text().split(" of ")[0].isdigit()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body"
            " || document.querySelector('.present').contains(document.activeElement)"
        )


def test_paper_shows_the_page_and_nothing_of_the_mode(present):
    page = present()
    shape = SHAPE.replace(" + one.className", "")  # the theme unfolds what is folded
    before = page.evaluate(shape)
    page.keyboard.press("p")
    shown(page).wait_for()
    assert page.evaluate(shape) != before
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".present").count() == 0 and page.evaluate(shape) == before
    page.emulate_media(media="print")
    assert not page.locator(".present-button").is_visible()
    page.emulate_media(media="screen")


def test_a_page_without_anything_to_show_has_no_button(room, address):  # noqa: F811
    room.open(f"{address}search.html?present")
    room.page.keyboard.press("p")
    assert room.page.locator(".present, .present-button").count() == 0 and room.noted == []
