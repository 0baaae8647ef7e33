"""Exercises that are answered on the page: the judge in JavaScript says of every answer what the one in Python says."""
import functools
import importlib.util
import math
import numbers
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from printing import chromium

from provable_privacy import check, speech
from provable_privacy.entries import AnyOf, Number, OneOf, Together, TrueFalse, called, published
from provable_privacy.points import exercises

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "bookext" / "static" / "book" / "answers.js"
ANSWERS = ROOT / "tests" / "classroom" / "answers"
DECLARED = {name: one for name in speech.CHECKERS if hasattr(one := getattr(check, name, None), "declared")}


@pytest.fixture(scope="module")
def browser():
    path = chromium() or pytest.skip("no Chromium: install it or set CHROMIUM to its path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def judge(browser):
    """A page with the script and nothing else."""
    page = browser.new_page()
    page.add_script_tag(path=SCRIPT.with_name("say.js"))
    page.add_script_tag(path=SCRIPT)
    return page


# ------------------------------------------------------------------------------------------ two judges, the same words

class CannotBeEntered(Exception):
    """The page has no way to say this."""


def entered(entry, said):
    """What the fields of the page hold, for an answer of Python."""
    if isinstance(entry, dict):
        if not hasattr(said, "keys") or set(said) != set(entry):
            raise CannotBeEntered
        return [entered(one, said[name]) for name, one in entry.items()]
    if isinstance(entry, Number):
        return "" if said is ... else as_typed(said)
    if isinstance(entry, OneOf):
        words = {one.lower(): one for one in entry.of}
        if said is not ... and str(said).strip().lower() not in words:
            raise CannotBeEntered
        return "" if said is ... else words[str(said).strip().lower()]
    if isinstance(entry, TrueFalse):
        if said is not ... and not isinstance(said, (bool, np.bool_)):
            raise CannotBeEntered
        return "" if said is ... else str(bool(said))
    if isinstance(entry, AnyOf):
        return as_ticked(entry, said)
    if said is ...:
        return ["" for _ in entry.parts]
    if not isinstance(said, (tuple, list, np.ndarray)) or len(said) != len(entry.parts):
        raise CannotBeEntered
    return [entered(part, one) for part, one in zip(entry.parts.values(), said)]


def as_typed(said):
    if not isinstance(said, (numbers.Real, np.number, np.bool_)) or math.isnan(said):
        raise CannotBeEntered
    return repr(float(said))


def as_ticked(entry, said):
    if said is ... or isinstance(said, (list, tuple, set)) and ... in said:
        return None
    items = {str(item).lower(): str(item) for item in entry.of}
    one = isinstance(said, (bool, numbers.Real)) or isinstance(said, str) and any(len(item) > 1 for item in items)
    try:
        return [items[str(item).strip().lower()] for item in ([said] if one else said) if str(item).strip(" ,")]
    except (KeyError, TypeError):
        raise CannotBeEntered from None


def on_the_page(judge, cases):
    """What the script says of each (checker, what the fields hold)."""
    lines = judge.evaluate(
        """([declared, cases]) => cases.map(([name, fields]) => {
            const {mark, words} = answers.verdict(declared[name], fields);
            return `${mark} ${name}: ${words}`;
        })""",
        [{name: published(one) for name, one in DECLARED.items()}, cases],
    )
    return [" ".join(line.splitlines()) for line in lines]


def fields_of(checker, answer):
    """A form is a list of fields, also where only one thing is asked."""
    asked = checker.declared()
    answer = ... if answer is None else answer
    if not isinstance(asked, dict):
        return [entered(asked, answer)]
    return entered(asked, dict.fromkeys(asked, ...) if answer is ... else answer)


@functools.cache
def rows():
    """(checker, answer) of every row of the tests of these checkers."""
    if str(ANSWERS.parent) not in sys.path:
        sys.path.append(str(ANSWERS.parent))
    import checking
    found = []
    for name in sorted({one.__wrapped__.__module__.rpartition(".")[2] for one in DECLARED.values()}):
        spec = importlib.util.spec_from_file_location(f"rows_of_{name}", ANSWERS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tables = {table: getattr(module, table, []) for table in checking.TABLES}
        found += [(checker, make(0)) for checker, make in tables["SOLUTIONS"]]
        found += [(checker, checking.luck(answer, 0)) for checker, answer in tables["UNUSUAL"]]
        found += [row[:2] for table in ("WRONG", "LEAKS", "STUBS") for row in tables[table]]
        found += list(checking.unanswered(tables["SOLUTIONS"]))
    return [(checker, answer) for checker, answer in found if hasattr(checker, "declared")]


def test_the_page_says_what_python_says_of_every_row(judge, says):
    cases, expected, only_in_python = [], [], []
    for checker, answer in rows():
        line = says(checker, answer)
        try:
            cases.append((checker.__name__, fields_of(checker, answer)))
            expected.append(line)
        except CannotBeEntered:
            only_in_python.append(line)
    differences = [pair for pair in zip(expected, on_the_page(judge, cases)) if pair[0] != pair[1]]
    assert not differences, "\n".join(map(str, differences[:9]))
    for mark in "○✓✗":
        assert {line.split()[1].rstrip(":") for line in expected if line[0] == mark} == set(DECLARED), mark
    form = ("expected ", "is not on the list", "missing: ", "unknown: ", "answer True or False")
    assert all(line.startswith("✗") and any(one in line for one in form) for line in only_in_python), only_in_python


def near(entry, rng):
    """Numbers around what is right and what is a known mistake, and some that are rounded."""
    mistakes = [one for found in entry.mistakes.values() for one in np.ravel(found)]
    value = float(rng.choice([entry.right, *mistakes, *entry.between[:2], 1]))
    if not math.isfinite(value) or rng.random() < 0.1:
        return rng.choice([value, 0.0, 0.0 - value, 1e-9, 12345678.9, math.inf])
    value *= 1 + rng.choice([0, 1e-12, 1e-7, -1e-5, 5e-4, -2e-3, 0.03, -0.4, 3])
    return round(value, rng.randrange(-2, 9)) + 0.0 if rng.random() < 0.5 else value


def any_answer(entry, rng):
    if isinstance(entry, dict):
        return {name: any_answer(one, rng) for name, one in entry.items()}
    if rng.random() < 0.03:
        return ...
    if isinstance(entry, Number):
        return near(entry, rng) if rng.random() < 0.3 else float(entry.right)
    if isinstance(entry, OneOf):
        return rng.choice(entry.of) if rng.random() < 0.3 else entry.right
    if isinstance(entry, TrueFalse):
        return entry.right ^ (rng.random() < 0.1)
    if isinstance(entry, AnyOf):
        return [item for item in entry.of if (item in entry.right) ^ (rng.random() < 0.1)]
    return tuple(any_answer(part, rng) for part in entry.parts.values())


def test_the_page_says_what_python_says_of_answers_at_random(judge, says):
    rng, cases, expected = random.Random(7), [], []
    for name, checker in DECLARED.items():
        for _ in range(120):
            answer = any_answer(checker.declared(), rng)
            cases.append((name, fields_of(checker, answer)))
            expected.append(says(checker, answer))
    differences = [pair for pair in zip(expected, on_the_page(judge, cases)) if pair[0] != pair[1]]
    assert not differences, "\n".join(map(str, differences[:9]))
    assert min(sum(line[0] == mark for line in expected) for mark in "○✓✗") > 100
    assert any("rounded too far" in line for line in expected)


@pytest.mark.parametrize(("text", "value"), [
    ("3", 3), (" -0.25 ", -0.25), (".5", 0.5), ("5.", 5), ("1/3", 1 / 3), ("ln 3", math.log(3)), ("ln(3)", math.log(3)),
    ("log(9)/2", math.log(3)), ("ln 9/3", math.log(9) / 3), ("e^-2", math.exp(-2)), ("e**2", math.exp(2)),
    ("inf", math.inf), ("∞", math.inf), ("-inf", -math.inf), ("np.inf", math.inf), ("Infinity", math.inf),
    ("1e-5", 1e-5), ("2E3", 2000), ("2.5%", 0.025), ("2.5 %", 0.025), ("10^-5", 1e-5), ("2^3^2", 512), ("-2^2", -4),
    ("(1+2)*3", 9), ("1 - 2 - 3", -4),
    ("8/4/2", 1), ("sqrt(2)/2", math.sqrt(0.5)), ("√2", math.sqrt(2)), ("exp(1)", math.e), ("exp -1", 1 / math.e),
    ("2·3", 6), ("2 × 3", 6), ("−4", -4), ("ln(3)^2", math.log(3) ** 2), ("2*pi", 2 * math.pi),
    ("ln 2 + ln 3", math.log(6)),
])  # fmt: skip
def test_a_number_may_be_typed_in_many_ways(judge, text, value):
    said = judge.evaluate("text => answers.number(text)", text)
    assert said == pytest.approx(value, rel=1e-12), said


@pytest.mark.parametrize("text", [
    "abc", "1/0", "0/0", "ln(-1)", "ln(5", "5)", "()", "1 2", "2e", "e e", "alert(1)", "constructor", "toString",
    "1;2", "--", "9^999", "inf-inf", "x=1", "one", "<b>1</b>", "[1]", "0x10", "1e", "...", "?", "ln", "%", "5%%%a",
    "+" * 500, "(" * 500, "é", "\n", "NaN",
])  # fmt: skip
def test_nonsense_gets_a_sentence(judge, text):
    fields = ["", text, "", "", "", ""]
    line, = on_the_page(judge, [("dp_unit", fields)])
    if text.strip():
        assert line.startswith("✗ dp_unit: number of ratings, add/remove: “") and "is no number: write it as" in line
    else:
        assert line == "○ dp_unit: not attempted yet"


@pytest.mark.parametrize("text", ["0,5", "1,234", "15,622.5"])
def test_a_comma_gets_a_sentence_of_its_own(judge, text):
    line, = on_the_page(judge, [("dp_unit", [text, "", "", "", "", ""])])
    assert line.endswith(f"“{text}” has a comma: write the decimal point as in 0.5, and 1234 without any mark")


def test_numbers_are_written_as_python_writes_them(judge):
    rng = random.Random(3)
    values = [0.0, 1.0, 999999.5, 1e6, 123456, 8388525, 8388535, 1000002.5, 0.5000000001, 1.234375, 1234567, 1e-4]
    values += [9.9999995e-5, 1e22, 2**63, math.inf, -math.inf, -2.5]
    values += [rng.uniform(-1, 1) * 10 ** rng.randrange(-9, 12) for _ in range(500)]
    texts = judge.evaluate("values => values.map((one) => answers.shown(Number(one)))",
                           [repr(one).replace("inf", "Infinity") for one in values])
    assert texts == [f"{one:g}" for one in values]


@pytest.mark.parametrize(("question", "choices"), [
    ("A run stops. Is it an error?", ["Yes", "No"]), ("“It is close.” Right?", ["Yes", "No"]),
    ("A histogram has 5,000 bins. Laplace or Gaussian, at ε = 1?", ["Laplace", "Gaussian"]),
    ("Forty wards are asked. Sparse vector or histogram?", ["Sparse vector", "histogram"]),
    ("Is it still? And if you delete a row?", []), ("What does it cost?", []),
    ("Is it (1, 10⁻⁵)-DP? Is it (2, 10⁻⁶)-DP?", []), ("Is it one or two?", []),
])  # fmt: skip
def test_a_question_between_two_answers_has_two_buttons(judge, question, choices):
    assert judge.evaluate("question => answers.choicesOf(question)", question) == choices


def test_together_and_names_are_published_in_order():
    praise, pairs = published(check.comp_overlap)
    assert praise.startswith("0.5 and 1") and [name for name, _ in pairs] == ["zips", "both", "ages"]
    assert pairs[0][1]["kind"] == Together.__name__
    assert [name for name, _ in pairs[0][1]["parts"]] == ["under add/remove", "under replace"]
    assert called(("binary", "replace")) == "binary, replace"
    assert published(check.dp_epsilon)[1][2][1]["right"] == "inf"


# ------------------------------------------------------------------------------------------------------ a reader's page

DENIED = "there is no storage here"
RIGHT = ["1", "152", "10", "1", "2", "4/2"]


@pytest.fixture
def reader(browser, site):
    """Opens pages of the built book, and notes errors."""
    contexts, errors = [], []

    def open_(page="chapters/definitions/epsilon_dp", width=1280, before="", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(20_000)
        window = context.new_page()
        window.on("pageerror", lambda error: errors.append(str(error)))
        if before:
            window.add_init_script(before)
        window.goto((site / f"{page}.html").as_uri())
        return window

    yield open_
    for context in contexts:
        context.close()
    assert {error for error in errors if error != DENIED} == set()        # the theme's own scripts want a storage


def answer(page, texts, exercise="ex-dp-unit"):
    """Fill in the form, check it by the Enter key, and return the verdict."""
    form = page.locator(f"#{exercise}")
    for field, text in zip(form.locator(".entry input").all(), texts, strict=True):
        field.fill(text)
    form.locator(".entry input").last.press("Enter")
    return form.get_by_role("status").inner_text()


def test_an_exercise_is_answered_on_the_page(reader, says):
    def python(*numbers):
        return says(check.dp_unit, dict(zip(check.dp_unit.declared(), numbers, strict=True))).replace("dp_unit: ", "")

    page = reader()
    assert page.locator("#ex-dp-unit .cell.stub").is_hidden()
    assert answer(page, [""] * 6) == "○ not attempted yet"
    assert answer(page, ["1", "3", "10", "1", "2", "2"]) == python(1, 3, 10, 1, 2, 2)
    assert page.locator("#ex-dp-unit .entry.wrong").inner_text().strip() == "number of ratings, add/remove"
    assert page.locator("#ex-dp-unit [aria-invalid=true]").count() == 1
    assert "is no number" in answer(page, ["1", "many", "10", "1", "2", "2"])
    assert page.locator(".progress-note.head").inner_text().strip() == "0 of 7 exercises done"
    assert answer(page, RIGHT) == python(1, 152, 10, 1, 2, 2)
    assert page.locator("#ex-dp-unit [aria-invalid=true]").count() == 0
    assert "1 of 7 exercises done" in page.locator(".progress-note.head").inner_text()
    assert "✓ done" in page.locator("#ex-dp-unit > .admonition-title").inner_text()


def test_what_is_done_is_told_on_cards_and_the_map_until_it_is_forgotten(reader):
    page = reader()
    answer(page, RIGHT)
    page.locator("#ex-dp-respond button.done").press("Enter")
    for index, where in (("index", ".sections .facts"), ("../../intro", ".section-map a")):
        page.goto(page.url.rpartition("/")[0] + f"/{index}.html")
        assert page.locator(where, has_text="✓ 2 of 7").count() == 1
    assert "✓ 2 of 24" in page.locator(".sections .facts", has_text="✓").inner_text()
    page.go_back()
    page.go_back()
    page.reload()
    assert "2 of 7" in page.locator(".progress-note.head").inner_text()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget").click()
    page.wait_for_function("document.querySelector('.progress-note.head')?.textContent.includes('0 of 7')")
    assert page.evaluate("localStorage['provable-privacy']") == '{"done":[],"said":{}}'


NO_STORAGE = f"Object.defineProperty(window, 'localStorage', {{get() {{ throw new DOMException('{DENIED}'); }}}});"
SPOILT = "try { localStorage.setItem('provable-privacy', '%s'); } catch {}"
TEXTS = ["5", "{", "null", "[]", '{"done": 3, "said": null}']


@pytest.mark.parametrize("before", [NO_STORAGE, *(SPOILT % text for text in TEXTS)], ids=["none", *TEXTS])
def test_a_browser_without_storage_or_with_a_spoilt_one(reader, before):
    page = reader(before=before)
    assert answer(page, RIGHT).startswith("✓")
    assert "1 of 7" in page.locator(".progress-note.head").inner_text()


def test_without_scripts_the_exercise_reads_as_ever(reader):
    page = reader(java_script_enabled=False)
    assert page.locator("#ex-dp-unit .cell").is_visible()
    assert page.locator("form.answer, form.guess, .progress-note").count() == 0
    assert page.locator("#check-yourself .admonition p").last.is_visible()


def test_words_sets_and_several_numbers(reader, says):
    page = reader("chapters/attacks/linkage")
    words = ["re-identification", "attribute", "membership", "reconstruction", "direct leak", "re-identification"]
    for group, word in zip(page.locator("#ex-link-classify [role=radiogroup]").all(), words, strict=True):
        group.get_by_label(word, exact=True).check()
    page.locator("#ex-link-classify form button").click()
    assert page.locator("#ex-link-classify").get_by_role("status").inner_text().startswith("✓ ")

    page = reader("chapters/mechanisms/finite_computers")
    form = page.locator("#ex-fin-bug")
    for line in "456":
        form.get_by_label(line, exact=True).check()
    form.get_by_label("none of them").check()
    assert form.locator("input:checked").count() == 1
    form.get_by_label("4", exact=True).check()
    form.get_by_role("button", name="Check").click()
    assert form.get_by_role("status").inner_text() == says(check.fin_bug, {4}).replace("fin_bug: ", "")

    page = reader("chapters/definitions/composition")
    assert answer(page, ["0.5", "1", "1", "2", "0.5", "0.7"], "ex-comp-overlap").startswith("✗")
    assert page.locator("#ex-comp-overlap [aria-invalid=true]").input_value() == "0.7"
    assert answer(page, ["0.5", "1", "1", "2", "0.5", "0.6"], "ex-comp-overlap").startswith("✓")
    page = reader("chapters/f_dp/trade_offs")
    assert page.locator("#ex-tf-conditions .cell .cell_input").is_visible()         # the drawings are the question


def test_every_declared_exercise_has_its_form(reader):
    wanted = {}
    for label, one in exercises().items():
        if one.checkers and set(one.checkers) <= set(DECLARED):
            wanted.setdefault(one.section, []).append(label)
    assert sum(map(len, wanted.values())) == len(DECLARED) == 30
    page = reader()
    for section, labels in wanted.items():
        page.goto(page.url.rpartition("/")[0].rpartition("/")[0] + f"/{section.replace('.', '/')}.html")
        forms = page.locator("form.answer").evaluate_all("forms => forms.map((one) => one.id)")
        assert forms == [f"{one}-form" for one in labels]


def test_a_question_opens_after_an_answer(reader):
    def first_box(having):
        boxes = page.locator("#check-yourself .admonition", has=having)
        return page.locator("#" + boxes.first.get_attribute("id"))

    page = reader("chapters/definitions/testing")
    box = first_box(page.get_by_role("button", name="Yes"))
    hidden = box.locator("p").last
    box.locator(".admonition-title").click()
    assert not hidden.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Yes"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert box.locator(".given").inner_text() == "Your answer: No"
    assert hidden.is_visible()
    box = first_box(page.get_by_role("textbox", name="Your answer"))
    box.get_by_role("button", name="Show the answer").click()
    assert "Write one line first" in box.get_by_role("status").inner_text()
    box.get_by_role("button", name="Show the answer").click()
    assert box.locator(".given").inner_text() == "Your answer: none"


def test_an_output_opens_after_a_guess(reader):
    page = reader("chapters/definitions/testing")
    cell = page.locator("#cell-two-counts")
    assert cell.locator(".cell_output").is_hidden()
    cell.get_by_role("textbox", name="Your guess").fill("e, perhaps p")         # a letter that is no command
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    assert page.locator("dialog[open]").count() == 0
    assert cell.locator(".cell_output").is_visible()
    assert cell.locator(".given").inner_text() == "Your guess: e, perhaps pp"
    page.reload()
    assert cell.locator(".cell_output").is_visible() and cell.locator(".given").is_visible()
    page.emulate_media(media="print")
    assert page.locator("form.guess:visible, form.answer:visible").count() == 0
    assert page.locator(".cell.waiting .cell_output").first.is_visible()


@pytest.mark.parametrize("section", ["definitions/epsilon_dp", "deployment/engines", "sparse_vector/streams"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finger_meets_44_pixels_and_nothing_is_wide(reader, section, scheme):
    page = reader(f"chapters/{section}", width=390, color_scheme=scheme, has_touch=True)
    page.locator("form.answer button").first.click()
    targets = ".answer button, .entry :is(input[type=text], label:has(input)), .guess :is(button, input), .done"
    small = page.locator(targets).evaluate_all("""all => all
        .filter((one) => one.checkVisibility())
        .filter((one) => Math.min(one.getBoundingClientRect().width, one.getBoundingClientRect().height) < 44)
        .map((one) => one.outerHTML.slice(0, 80))""")
    assert not small, small
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
