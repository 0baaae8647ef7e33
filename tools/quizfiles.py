"""Questions as files that a learning platform imports: Moodle XML, and a package of QTI 1.2 that Canvas reads.

A question with numbers to enter is marked by the platform, which looks at the numbers only; a choice is half a choice
and half a text, because the reason earns more than the letter; a person reads everything else.
"""
from __future__ import annotations

import functools
import io
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from decimal import Decimal
from xml.etree.ElementTree import Element, SubElement

from questionbank import OPTION, Question, stated

WHY = "<p>Say why, also of the options that you do not choose.</p>"
ENTER = "<p>Enter numbers without commas, and per cent as 12.3 for 12.3 %.</p>"


@functools.cache
def converter():
    r"""Markdown to HTML. Formulas come as \(…\), which Moodle and Canvas set by MathJax."""
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError as missing:
        raise SystemExit(
            f"{missing}: the files for Moodle and Canvas need it. Run pip install markdown-it-py mdit-py-plugins"
        ) from missing
    convert = MarkdownIt("commonmark").use(dollarmath_plugin)
    convert.add_render_rule("math_inline", lambda _, tokens, at, *rest: rf"\({escaped(tokens[at].content)}\)")
    return convert


def html(text: str) -> str:
    return converter().render(text).strip()


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def title(question: Question) -> str:
    return f"{question.name} {question.title}"


def letter(question: Question) -> str | None:
    """The letter of a choice that has one right option."""
    found = re.match(r"\*\*\(([a-z])\)\*\*(?! and)", question.answer)
    return found[1] if found and question.kind == "Choice" else None


def stem(question: Question) -> str:
    """The text above the options."""
    return OPTION.split(question.task, maxsplit=1)[0].strip()


def tolerance(number: str, relation: str) -> float:
    """How far a right number may be off, in the units in which it is printed.

    A whole number that is exact must be met, another exact one within 1 %. A rounded number may be off by a unit of
    its last digit, or by half a unit if only one or two digits count.
    """
    value, half = (part * (100 if number.endswith("%") else 1) for part in stated(number))
    if relation == "=":
        return 0.0 if value == int(value) else abs(value) / 100
    count = len(re.sub(r"\D", "", number).lstrip("0"))
    return 2 * half if count > 2 else half


def fields(question: Question) -> list[tuple[str, str, str]]:
    """What a student enters: label, value and tolerance."""
    if question.kind != "Compute":
        return []
    found = []
    for label, number, relation in question.asked:
        value = number.removesuffix("%").strip().replace(",", "").replace("−", "-")
        found.append((label, value, f"{tolerance(number, relation):.6g}"))
    return found


def weights(points: int, count: int) -> list[int]:
    """Whole marks for each number, at least one, which add up to the points if these suffice."""
    each, more = divmod(max(points, count), count)
    return [each + (at >= count - more) for at in range(count)]


def text_of(root: Element, **attributes) -> bytes:
    for key, value in attributes.items():
        root.set(key, value)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"


def add(parent: Element, tag: str, text: str = "", **attributes) -> Element:
    made = SubElement(parent, tag, attributes)
    made.text = text
    return made


# ------------------------------------------------------------------------------------------------------------ Moodle


def moodle(questions: list[Question], name: str) -> bytes:
    """The questions as Moodle XML: cloze for numbers, multichoice for a letter, essay for what a person reads."""
    quiz = Element("quiz")
    category = add(quiz, "question", type="category")
    add(add(category, "category"), "text", f"$course$/top/{name}")
    for question in questions:
        right = letter(question)
        if fields(question):
            gaps = zip(fields(question), weights(question.points, len(fields(question))))
            lines = "".join(
                f"<p>{escaped(label)}: {{{weight}:NUMERICAL:={value}:{allowed}}}</p>"
                for (label, value, allowed), weight in gaps
            )
            moodle_question(quiz, "cloze", question, title(question), html(question.task) + ENTER + lines)
        elif right:
            half = question.points // 2
            made = moodle_question(quiz, "multichoice", question, title(question), html(stem(question)))
            add(made, "defaultgrade", str(half))
            for tag, value in (("single", "true"), ("shuffleanswers", "false"), ("answernumbering", "abc")):
                add(made, tag, value)
            for option, words in OPTION.findall(question.task):
                answer = add(made, "answer", fraction="100" if option == right else "0", format="html")
                add(answer, "text", html(words))
            moodle_essay(quiz, question, f"{title(question)} (reason)", html(question.task) + WHY, half)
        else:
            moodle_essay(quiz, question, title(question), html(question.task), question.points)
    return text_of(quiz)


def moodle_question(quiz: Element, kind: str, question: Question, heading: str, text: str) -> Element:
    made = add(quiz, "question", type=kind)
    add(add(made, "name"), "text", heading)
    add(add(made, "questiontext", format="html"), "text", text)
    return made


def moodle_essay(quiz: Element, question: Question, heading: str, text: str, points: int):
    made = moodle_question(quiz, "essay", question, heading, text)
    add(made, "defaultgrade", str(points))
    add(made, "responseformat", "editor")
    add(made, "responserequired", "1")
    add(made, "responsefieldlines", "15")
    add(add(made, "graderinfo", format="html"), "text", html(question.answer))
    add(add(made, "responsetemplate", format="html"), "text")


# ------------------------------------------------------------------------------------------------------------ Canvas

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
QUIZ = "http://canvas.instructure.com/xsd/cccv1p0"
DATE = 1980, 1, 1, 0, 0, 0           # of the files in the package, so that a seed always gives the same bytes


def canvas(questions: list[Question], name: str) -> bytes:
    """The questions as an IMS package with QTI 1.2. Canvas has one number per question, so several become several."""
    ident = re.sub(r"\W+", "_", name)
    assessment = Element("assessment", ident=ident, title=name)
    section = add(assessment, "section", ident="root_section")
    total = 0.0
    for question in questions:
        right, numbers = letter(question), fields(question)
        for at, (label, value, allowed) in enumerate(numbers, 1):
            asked = f"{html(question.task)}{ENTER}<p>Enter: {escaped(label)}.</p>"
            heading = f"{title(question)} ({at} of {len(numbers)})"
            total += canvas_number(section, question, at, heading, asked, value, allowed, len(numbers))
        if right:
            total += canvas_choice(section, question, right)
            text = html(question.task) + WHY
            total += canvas_essay(section, question, f"{title(question)} (reason)", text, question.points / 2)
        elif not numbers:
            total += canvas_essay(section, question, title(question), html(question.task), question.points)
    root = Element("questestinterop")
    root.append(assessment)
    package = {
        "imsmanifest.xml": manifest(ident, name),
        f"{ident}/{ident}.xml": text_of(root, xmlns=QTI),
        f"{ident}/assessment_meta.xml": about(ident, name, total),
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for path, content in package.items():
            file.writestr(zipfile.ZipInfo(path, DATE), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def canvas_item(section: Element, ident: str, heading: str, kind: str, points: float, text: str) -> Element:
    item = add(section, "item", ident=ident, title=heading)
    data = add(add(item, "itemmetadata"), "qtimetadata")
    for label, entry in (("question_type", kind), ("points_possible", f"{points:.2f}")):
        field = add(data, "qtimetadatafield")
        add(field, "fieldlabel", label)
        add(field, "fieldentry", entry)
    shown = add(item, "presentation")
    add(add(shown, "material"), "mattext", text, texttype="text/html")
    return item


def scored(item: Element) -> Element:
    """The condition under which an item is right."""
    process = add(item, "resprocessing")
    add(add(process, "outcomes"), "decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")
    rule = SubElement(process, "respcondition", {"continue": "No"})
    condition = add(rule, "conditionvar")
    add(rule, "setvar", "100", action="Set", varname="SCORE")
    return condition


def canvas_number(section, question, at, heading, text, value, allowed, count) -> float:
    points = round(question.points / count, 2)
    item = canvas_item(section, f"{question.name}_{at}", heading, "numerical_question", points, text)
    entry = add(item.find("presentation"), "response_str", ident="response1", rcardinality="Single")
    add(add(entry, "render_fib", fibtype="Decimal"), "response_label", ident="answer1")
    either = add(scored(item), "or")
    add(either, "varequal", value, respident="response1")
    both = add(either, "and")
    add(both, "vargte", f"{Decimal(value) - Decimal(allowed):f}", respident="response1")
    add(both, "varlte", f"{Decimal(value) + Decimal(allowed):f}", respident="response1")
    return points


def canvas_choice(section: Element, question: Question, right: str) -> float:
    points = question.points / 2
    text = html(stem(question))
    item = canvas_item(section, f"{question.name}_choice", title(question), "multiple_choice_question", points, text)
    options = add(item.find("presentation"), "response_lid", ident="response1", rcardinality="Single")
    choices = add(options, "render_choice")
    for option, words in OPTION.findall(question.task):
        label = add(choices, "response_label", ident=option)
        add(add(label, "material"), "mattext", html(words), texttype="text/html")
    add(scored(item), "varequal", right, respident="response1")
    return points


def canvas_essay(section: Element, question: Question, heading: str, text: str, points: float) -> float:
    item = canvas_item(section, f"{question.name}_text", heading, "essay_question", points, text)
    entry = add(item.find("presentation"), "response_str", ident="response1", rcardinality="Single")
    add(add(entry, "render_fib"), "response_label", ident="answer1", rshuffle="No")
    process = add(item, "resprocessing")
    add(add(process, "outcomes"), "decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")
    rule = SubElement(process, "respcondition", {"continue": "No"})
    add(add(rule, "conditionvar"), "other")
    return points


def manifest(ident: str, name: str) -> bytes:
    root = Element("manifest", identifier=f"{ident}_package")
    data = add(root, "metadata")
    add(data, "schema", "IMS Content")
    add(data, "schemaversion", "1.1.3")
    add(root, "organizations")
    resources = add(root, "resources")
    test = add(resources, "resource", identifier=ident, type="imsqti_xmlv1p2")
    add(test, "file", href=f"{ident}/{ident}.xml")
    add(test, "dependency", identifierref=f"{ident}_meta")
    kind = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
    meta = f"{ident}/assessment_meta.xml"
    add(add(resources, "resource", identifier=f"{ident}_meta", type=kind, href=meta), "file", href=meta)
    return text_of(root, xmlns=PACKAGE)


def about(ident: str, name: str, points: float) -> bytes:
    root = Element("quiz", identifier=ident)
    for tag, value in (
        ("title", name),
        ("shuffle_answers", "false"),
        ("quiz_type", "assignment"),
        ("points_possible", f"{points:.2f}"),
        ("show_correct_answers", "false"),
        ("allowed_attempts", "1"),
        ("available", "false"),
    ):
        add(root, tag, value)
    return text_of(root, xmlns=QUIZ)
