"""The Chinese edition: nothing is lost between units, translations keep what must stay, and a changed page says so."""
import json
import re
from pathlib import Path

import pytest
from bookext import search, translation
from bookext.translation import agree, build, catalogue, lint, spoken
from bookext.translation.units import code_units, message_units, rebuild, text_units
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from provable_privacy import languages

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for page in catalogue.pages() if page != catalogue.BOOK and page not in catalogue.modules()]
BEGUN = [page for page in catalogue.pages() if catalogue.path_of(page).exists()]


# ------------------------------------------------------------------------------------------------------------ the units


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_its_units_and_what_stands_between_them(page):
    text, notebook = catalogue.source(page)
    assert rebuild(text, notebook, lambda unit: None) == text
    assert rebuild(text, notebook, lambda unit: None if unit.kind in ("string", "fstring") else unit.text) == text


def test_units_of_a_table_a_box_and_a_list():
    text = (
        "- one item\n  goes on\n\n:::{admonition} A title\n:class: dropdown\nIts body.\n:::\n\n"
        "| head | other |\n|---|---|\n| a cell | 1.5 |\n"
    )
    assert [(unit.kind, unit.text) for unit in text_units(text)] == [
        ("paragraph", "one item\ngoes on"), ("title", "A title"), ("paragraph", "Its body."),
        ("cell", "head"), ("cell", "other"), ("cell", "a cell"),
    ]


def test_keys_that_a_checker_asks_for_are_no_units():
    assert not code_units('answer = {"squares": 1, "daily": 2}\n', "c")
    found = code_units('print(f"{name}: {loss:.2f} lost")  # a remark\n', "c")
    assert [unit.text for unit in found] == ["{name}: {loss:.2f} lost", "a remark"]
    found = code_units('names = ["with you"]; query = "with pairs as (select 1)"\n', "c")
    assert [unit.text for unit in found] == ["with you"]


def test_what_a_checker_may_print_is_a_unit():
    code = (
        'def c(n):\n    """A docstring of words."""\n    seen = {"row": 1}\n'
        '    raise Wrong(f"{n} {\'row\' if n == 1 else \'rows\'} of {seen[\'row\']} are lost")\n'
    )
    found = [unit.text for unit in message_units(code)]
    assert found == ["{n} {'row' if n == 1 else 'rows'} of {seen['row']} are lost", "row", "rows"]


@pytest.mark.parametrize(("code", "said", "new"), [
    ('print("a word")', "一个 \"词\"", 'print("一个 \\"词\\"")'),
    ('print(f"{x:.1f} of it")', "其中 {x:.1f}", 'print(f"其中 {x:.1f}")'),
    ("print(f'{a[\"b\"]} of it')", "其中 {a[\"b\"]}", "print(f'其中 {a[\"b\"]}')"),
])
def test_a_translated_literal_is_a_literal(code, said, new):
    made = rebuild(json.dumps({"cells": [{"cell_type": "code", "id": "c", "metadata": {}, "source": [code]}]}), True,
                   lambda unit: said)
    assert "".join(json.loads(made)["cells"][0]["source"]) == new
    compile(new, "cell", "exec")


def test_a_word_that_a_translator_calls_a_label_is_replaced_wherever_the_program_names_it(tmp_path):
    code = 'cost = {"town": 1, "school": 2}\nprint(f"{cost[\'town\']} of {cost[\'school\']}")  # the town\n'
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": [code]}
    page = tmp_path / "reference/x.ipynb"
    page.parent.mkdir()
    page.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    catalogue.update("reference/x", tmp_path)
    with catalogue.path_of("reference/x", tmp_path).open("a", encoding="utf-8") as file:
        for word, own in (("town", "镇"), ("village", "村")):
            file.write(f'\n#. label\nmsgid "{word}"\nmsgstr "{own}"\n')
    assert "no longer on the page: 'village'" in catalogue.complaints("reference/x", tmp_path)[-1]
    catalogue.update("reference/x", tmp_path)
    labels = catalogue.labels("reference/x", tmp_path)
    assert labels == {"town": "镇"}
    made = json.loads(rebuild(page.read_text(encoding="utf-8"), True, lambda unit: None, labels))
    assert "".join(made["cells"][0]["source"]) == code.replace("'town'", "'镇'").replace('"town"', '"镇"')


# --------------------------------------------------------------------------------------------------- what is translated


@pytest.mark.parametrize("page", BEGUN)
def test_a_page_that_is_begun_is_translated_whole_and_up_to_date(page):
    """If this fails: ``python tools/translate.py update`` and look at what is fuzzy or empty."""
    assert not catalogue.complaints(page)


@pytest.mark.parametrize("page", BEGUN)
def test_translations_keep_numbers_formulas_roles_and_words(page):
    assert not [(rule, message.string[:60], why) for rule, message, why in lint.lint(page) if rule in lint.ERRORS]


@pytest.mark.parametrize("page", [page for page in BEGUN if page in PAGES and catalogue.source(page)[1]])
def test_translated_code_is_code_of_the_same_form(page):
    text, _ = catalogue.source(page)
    old, new = json.loads(text)["cells"], json.loads(translation.read(page, text))["cells"]

    def bare(cell):
        return re.sub(r"""f?"(?:[^"\\]|\\.)*"|f?'(?:[^'\\]|\\.)*'|#.*|\s""", "", "".join(cell["source"]))
    assert [cell["id"] for cell in old] == [cell["id"] for cell in new]
    for one, two in zip(old, new):
        if two["cell_type"] == "code" and two["source"]:
            compile("".join(two["source"]), one["id"], "exec")
            assert bare(one) == bare(two), one["id"]


TABLE = "   n   error\n  10     1.5\n 100     0.2\n"


@pytest.mark.parametrize(("english", "own", "why"), [
    ("a loss of 1.5", "损失为 1.5", ""),
    ("a loss of 1.5", "损失为 1.6", "1.5"),
    ("in May, minus 3", "5 月，−3", ""),
    (TABLE, TABLE.replace("error", "   误差"), ""),
    (TABLE, TABLE.replace("   n   error", "n  误差"), "of [2] rows in English and of []"),
])
def test_two_outputs_that_do_not_agree_are_found(english, own, why):
    one, two = (
        NotebookNode(cells=[new_code_cell("print()", id="c", outputs=[new_output("stream", text=text)])])
        for text in (english, own)
    )
    found = list(agree.differences(one, two))
    assert [why in line for line in found] == [True] * bool(why)


def test_the_same_english_is_translated_in_one_way():
    assert not catalogue.told_twice()


def test_a_changed_sentence_is_fuzzy_until_somebody_looks(tmp_path):
    page = tmp_path / "reference/x.md"
    page.parent.mkdir()
    page.write_text("# A page\n\nIt passes 60 on evening 168, for the first time in this season.\n", encoding="utf-8")
    catalogue.update("reference/x", tmp_path)
    path = catalogue.path_of("reference/x", tmp_path)
    done = path.read_text(encoding="utf-8").replace('season."\nmsgstr ""', 'season."\nmsgstr "它在第 168 晚越过 60。"')
    path.write_text(done.replace('page"\nmsgstr ""', 'page"\nmsgstr "一页"'), encoding="utf-8")
    assert not catalogue.complaints("reference/x", tmp_path)
    page.write_text(page.read_text(encoding="utf-8").replace("60", "65"), encoding="utf-8")
    assert "is not in the .po file" in catalogue.complaints("reference/x", tmp_path)[0]
    catalogue.update("reference/x", tmp_path)
    assert "changed since it was translated" in catalogue.complaints("reference/x", tmp_path)[0]
    assert "was: It passes 60" in path.read_text(encoding="utf-8")
    assert catalogue.known("reference/x", tmp_path) == {"A page": "一页"}


PLANTED = [                                      # rule, kind, English, a translation with one fault
    ("number", "paragraph", "Until the outbreak of 16 October (evening 154) it stays below 15.",
     "在 10 月 16 日（第 145 晚）暴发之前，它低于 15。"),
    ("number", "paragraph", "It costs 0.75, and 1 after three.", "它花费 0.75。"),
    ("number", "paragraph", "In 4,000 runs.", "在 400 次运行中。"),
    ("number word", "paragraph", "Thirteen answers lie below.", "三十个答案在下方。"),
    ("number", "paragraph", "It is 0.42 here.\nIt is 0.75 there.", "这里是 0.75。\n那里是 0.42。"),
    ("lines", "paragraph", "Stop.\nThen go on.", "先停止，然后继续。"),
    ("math", "paragraph", "It costs $\\varepsilon_1 + \\varepsilon_2$.", "它花费 $\\varepsilon_1 - \\varepsilon_2$。"),
    ("math", "paragraph", "Silence costs $\\varepsilon_1$.", "沉默花费 ε₁。"),
    ("role", "paragraph", "By {prf:ref}`thm-a` and {ref}`svt-b`.", "由 {prf:ref}`thm-a` 和 {ref}`svt-c`。"),
    ("role", "paragraph", "The {term}`law <law (分布)>` of it.", "它的分布。"),
    ("link", "paragraph", "See [the sheet](../data/town.md).", "见[说明](../data/twon.md)。"),
    ("code", "paragraph", "Call `ask` again.", "再次调用 `问`。"),
    ("field", "fstring", "alarm on evening {alarm}, {evenings[alarm]}", "第 {alarm} 晚报警，{evening[alarm]}"),
    ("field", "fstring", "found {x:.2f}", "测得 {x:.1f}"),
    ("emphasis", "paragraph", "*Running totals* are tame.", "累计总数很温和。"),
    ("emphasis", "paragraph", "**Counts.** They move.", "**计数。**它们移动。"),
    ("mark", "title", "★★ Set the level", "★ 设定水平"),
    ("term", "paragraph", "An {term}`audit <audit (审计)>` runs it.", "{term}`检查 <audit (审计)>`会运行它。"),
    ("wording", "paragraph", "The privacy loss is bounded.", "私隐损耗有界。"),
    ("punctuation", "paragraph", "Stop, or go on.", "停止,或者继续。"),
    ("punctuation", "paragraph", "Reply \"No\".", "回复“No。"),
    ("punctuation", "paragraph", "Stop, or go on.", "停止， 或者继续。"),
    ("space", "paragraph", "In 200 evenings.", "在200个晚上。"),
    ("space", "paragraph", "With noise $b$ on it.", "加上噪声$b$即可。"),
    ("percent", "paragraph", "In 99 % of runs.", "在 99 % 的运行中。"),
    ("blank ends", "string", "  on each total", "每个总数"),
    ("untranslated", "paragraph", "Guess before you read on.", "Guess before you read on."),
    ("gender", "paragraph", "A person, with all that the table holds of them.", "一个人，以及表中关于他的一切。"),
    ("length", "paragraph", "It does not use that the algorithm may name a wrong index: the naive loop may do so too.",
     "朴素循环也可能报错。"),
]


@pytest.mark.parametrize(("rule", "kind", "english", "said"), PLANTED)
def test_the_linter_finds_a_planted_fault(rule, kind, english, said):
    assert rule in {found for found, _ in lint.findings(english, said, kind)}


def test_the_linter_finds_nothing_in_a_good_translation():
    english = "In 200 evenings, an {term}`audit <audit (审计)>` finds *nothing* below $b$."
    said = "在 200 个晚上，{term}`审计 <audit (审计)>`在 $b$ 以下*一无所获*。"
    assert not list(lint.findings(english, said, "paragraph"))


# ------------------------------------------------------------------------------------------------------------ the pages


def test_a_verdict_on_a_claim_begins_with_its_word():
    """Or the page gives it no colour, and its filter does not find it."""
    words, found = catalogue.known(catalogue.BOOK), catalogue.known("reference/claims").items()
    begun = [(re.match("right|imprecise|wrong", text), said) for text, said in found]
    assert len([one for one, _ in begun if one]) > 100
    assert not [said for one, said in begun if one and not said.startswith(words[one[0]])]


def test_lines_of_chinese_are_joined_without_a_blank():
    assert translation.BROKEN_LINE.sub("", "先停止。\n`dplib` 继续") == "先停止。`dplib` 继续"
    assert translation.BROKEN_LINE.sub("", "in Latin\nwords") == "in Latin\nwords"


def test_the_glossary_puts_its_own_language_first():
    assert translation.own_terms("histogram (直方图)\n") == "直方图（histogram）\n"
    assert translation.own_terms("{term}`直方图 <histogram (直方图)>`") == "{term}`直方图 <直方图（histogram）>`"
    assert translation.own_terms("  A {term}`class (等价类)` of it.") == "  A {term}`等价类（class）` of it."


def test_formulas_and_the_cover_say_their_words(monkeypatch):
    said = spoken.formulas("$a \\text{ so } b, \\text{TPR}, \\text{if}$", {"\\text{so}": "\\text{所以}"})
    assert said == "$a \\text{ 所以 } b, \\text{TPR}, \\text{if}$"
    said = {text for _, text in spoken.texts()}
    assert {"\\text{odds after}", "true excess"} <= said and not any("{TPR}" in text for text in said)
    monkeypatch.setattr(spoken, "words", {"a": "甲", "b": "乙"})
    said = spoken.pictured('<svg aria-label="a"><text x="a">b</text></svg>')
    assert said == '<svg aria-label="甲"><text x="a">乙</text></svg>'


def test_headings_keep_their_english_words_for_addresses():
    page = "chapters/sparse_vector/above_threshold"
    text, _ = catalogue.source(page)
    titles = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    first = "".join(titles[0]["source"]).splitlines()[0].removeprefix("# ")
    assert translation.words_of(translation.headings(page)[0]) == first


def test_what_scripts_and_the_extension_say_has_a_place_in_the_catalogue():
    said = {text for _, text in spoken.texts()}
    assert {"Check", "Start with {section}", "Which claims to show", "Search", "Chapters"} <= said


def test_a_declaration_is_translated_where_it_has_words(monkeypatch):
    monkeypatch.setattr(spoken, "words", {"": ""})
    monkeypatch.setattr(languages, "patterns", lambda *_: [languages.Pattern("not so many", "没有那么多")])
    declared = ["praise it", [["k", {"kind": "Number", "right": 3, "mistakes": [["not so many", [4]]]}]]]
    assert spoken.translated(declared)[1][0][1]["mistakes"] == [["没有那么多", [4]]]


def test_chinese_is_searched_by_pairs_of_characters():
    assert search.words_of("稀疏向量 SVT 表") == ["svt", "稀疏", "疏向", "向量", "表"]


def test_a_page_has_one_link_to_the_other_edition(tmp_path):
    page = f"<head></head><body>{build.BUTTONS}</div></body>"
    for folder in ("html/a", "zh/a"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "b.html").write_text(page, encoding="utf-8")
    for _ in range(2):                           # a second time changes nothing
        build.join(tmp_path / "html", tmp_path / "zh", tmp_path / "html/zh")
    english, own = (tmp_path / f"html/{name}a/b.html" for name in ("", "zh/"))
    assert english.read_text(encoding="utf-8").count('href="../zh/a/b.html"') == 2
    assert own.read_text(encoding="utf-8").count('href="../../a/b.html"') == 2
