"""Checkers in Chinese: the whole line, for answers of every kind; in English nothing changes."""
import re

import pytest

from provable_privacy import check, hand_in, languages
from provable_privacy.speech import CHECKERS

LANGUAGE = "zh_CN"
ENGLISH = re.compile(r"[a-z]{3,} [a-z]{2,}")


@pytest.fixture
def chinese():
    check.speak(LANGUAGE)
    yield
    check.speak()


def line(capsys, name, answer):
    getattr(check, name)(answer)
    return capsys.readouterr().out.rstrip("\n")


RISK = {"row": 0.05, "certain": 2974, "likely": 0.262}
LINES = [
    ("kan_risk", None, "○ kan_risk: 尚未作答"),
    ("kan_risk", {**RISK, "likely": ...}, "○ kan_risk: likely 尚未作答；其余都对"),
    ("kan_risk", {**RISK, "row": "one"}, "✗ kan_risk: row：应当是一个数，而你给的是 'one'"),
    ("kan_risk", {"row": 1}, "✗ kan_risk: 缺少的名字：'certain', 'likely'；应有的名字是 row, certain, likely"),
    ("kan_risk", {**RISK, "all": 1}, "✗ kan_risk: 未知的名字：'all'；应有的名字是 row, certain, likely"),
    ("kan_risk", 3, "✗ kan_risk: 应当是一个 dict，名字为 row, certain, likely，而你给的是 int"),
    ("kan_mondrian", 3, "✗ kan_mondrian: 应当是函数，而你给的是 int"),
    ("kan_mondrian", lambda *_: 1 / 0, "✗ kan_mondrian: 你的函数引发了 ZeroDivisionError：division by zero"),
]


@pytest.mark.parametrize(("name", "answer", "said"), LINES)
def test_the_frame_of_a_line(name, answer, said, chinese, capsys):
    assert line(capsys, name, answer).startswith(said)


@pytest.mark.parametrize(("name", "answer"), [
    ("kan_risk", RISK), ("kan_risk", {**RISK, "row": 0.5}), ("kan_risk", {**RISK, "likely": 26.2}),
    ("dp_means", 3), ("inf_bias", 3), ("grp_leaks", 3),
])
def test_praise_and_reasons_have_no_english_sentence(name, answer, chinese, capsys):
    said = line(capsys, name, answer)
    assert re.search("[\u4e00-\u9fff]{3}", said)
    assert not ENGLISH.search(said)


def test_a_key_that_holds_and_stays_in_one_piece():
    one = "sum and positive together: expected a number, got 'x'"
    assert languages.said(one, language=LANGUAGE) == "sum and positive together：应当是一个数，而你给的是 'x'"


@pytest.mark.parametrize(("text", "words"), [
    ("the difference of answer 1 and answer 3 is exactly 0", "第 1 个答案和第 3 个答案之差恰好为 0"),
    ("answer 2 is 1 or 3 (or 2 more)", "第 2 个答案为 1 或 3（或另外 2 个）"),
    ("your function raised E: x y (called with a = a list of 40, b = 1)",
     "你的函数引发了 E：x y（调用时 a = 40 项的列表, b = 1）"),
    ("missing: 'sum and mean'; expected the names sum and mean, sum",
     "缺少的名字：'sum and mean'；应有的名字是 sum and mean, sum"),
])
def test_what_is_put_together_of_names_and_values(text, words):
    assert languages.said(text, "check/attacks/reconstruction", LANGUAGE) == words


def test_a_learner_may_change_the_language(capsys):
    check.speak(LANGUAGE)
    check.speak()
    assert line(capsys, "kan_risk", None) == "○ kan_risk: not attempted yet"
    with pytest.raises(ValueError, match="English and zh_CN"):
        check.speak("fr")


def test_a_class_is_read_in_any_language(chinese, capsys):
    lines = "\n".join(line(capsys, "kan_risk", answer) for answer in (None, RISK))
    assert hand_in.words(lines)["kan_risk"].startswith("✓ kan_risk: ")
    check.progress()
    assert "题中已做对" in capsys.readouterr().out


def filled(text, words, module):
    """A sentence with something in its fields, and the translation with the same in it."""
    held, choices = {}, []

    def value(found):
        if choice := languages.CHOICE.fullmatch(found[1]):
            word = next(filter(None, choice.groups()), "")
            return languages.said(word, module, LANGUAGE) if choices else word
        sample = f"{7 + len(held)}" if languages.NUMERIC.search(found[1]) else f"·{len(held)}·"
        return held.setdefault(languages._name(found[1]), sample)

    english = languages.FIELD.sub(value, languages._hidden(text))
    choices.append("translated from here on")
    return [languages._shown(one) for one in (english, languages.FIELD.sub(value, languages._hidden(words)))]


def test_every_sentence_is_found_and_keeps_its_values():
    """Unless its values are those of a longer sentence."""
    lost = []
    for path in sorted((languages.FOLDER / LANGUAGE).rglob("*.po")):
        module = path.relative_to(languages.FOLDER / LANGUAGE).with_suffix("").as_posix()
        for text, words in languages.entries(path.read_text(encoding="utf-8")):
            english, own = filled(text, words, module)
            said = languages.said(english, module, LANGUAGE)
            if said != languages.BLANK.sub("", own) and text != words:
                lost.append((path.stem, english, said, own))
    assert not lost


def test_every_module_with_checkers_has_its_words():
    for module in {module for module in CHECKERS.values() if module.startswith("provable_privacy.")}:
        assert module.removeprefix("provable_privacy.").replace(".", "/") in languages.catalogues(LANGUAGE)
