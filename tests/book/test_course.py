"""The teaching kit: plans add up and lead somewhere. The questions are in test_bank.py."""
import re
from urllib.parse import urlsplit

import nbformat
import pytest
import release
import yaml
from bs4 import BeautifulSoup
from questionbank import ROOT

TOC = (ROOT / "_toc.yml").read_text(encoding="utf-8")
SECTIONS = re.findall(r"file: (chapters/\w+/(?!index)\w+)", TOC)
CHAPTERS = list(dict.fromkeys(section.split("/")[1] for section in SECTIONS))
MINUTES = 75
HEAD = "| min | what happens | show |"
ROW = re.compile(r"^\| *(\d+) \| (.+) \| (.+) \|$", re.MULTILINE)
REFERENCE = re.compile(r"\{(?:ref|prf:ref|numref)\}`(?:[^`<]*<)?([^`<>]+)>?`")
PLAN = re.compile(r"^\(plan-([\w-]+)\)=\n## .+$", re.MULTILINE)


def page(name):
    return (ROOT / "course" / f"{name}.md").read_text(encoding="utf-8")


def plans_of(text):
    """Section, with underscores -> the text of its plan."""
    found = list(PLAN.finditer(text))
    return {
        match[1].replace("-", "_"): text[match.end():end]
        for match, end in zip(found, [*(m.start() for m in found[1:]), len(text)])
    }


PLANS = {
    f"chapters/{chapter}/{section}": plan
    for chapter in CHAPTERS
    for section, plan in plans_of(page(f"plans/{chapter}")).items()
}


def rows(plan):
    """Minutes, what happens, and what is shown, of each row of a plan's table."""
    assert HEAD in plan
    return [(int(minutes), what, show) for minutes, what, show in ROW.findall(plan)]


def anchors(section):
    """What can be shown of a section: its labels, its named figures, and its code cells that readers see."""
    cells = nbformat.read(ROOT / f"{section}.ipynb", as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = set(re.findall(r"^(?::label: *|\((?=\S+\)=$))([\w-]+)", prose, re.MULTILINE))
    for cell in cells:
        if cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", []):
            found.add(f"{section.rpartition('/')[2]}/{cell.id}")
            found.add(cell.metadata.get("mystnb", {}).get("figure", {}).get("name"))
    return found - {None}


def minutes_wrong(plan):
    total = sum(row[0] for row in rows(plan))
    return [] if total == MINUTES else [f"{total} minutes"]


def anchors_wrong(plan, known):
    """Rows that show nothing, or something that the section does not have."""
    for number, (_, _, show) in enumerate(rows(plan), 1):
        targets = REFERENCE.findall(show)
        if not targets:
            yield f"row {number} shows nothing"
        yield from (f"row {number}: {target}" for target in targets if target not in known)


# ---------------------------------------------------------------------------------------------------------------- plans


def test_every_section_has_a_plan_and_every_plan_a_section():
    assert list(PLANS) == SECTIONS


@pytest.mark.parametrize("section", SECTIONS)
def test_a_plan_fills_its_minutes(section):
    assert minutes_wrong(PLANS[section]) == []
    assert 6 <= len(rows(PLANS[section])) <= 9 and all(5 <= row[0] <= 20 for row in rows(PLANS[section]))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_plan_shows_what_its_section_has(section):
    assert list(anchors_wrong(PLANS[section], anchors(section))) == []


@pytest.mark.parametrize("section", SECTIONS)
def test_a_plan_names_misconceptions_with_answers_and_two_questions(section):
    _, _, rest = PLANS[section].partition("**Misconceptions**")
    misconceptions, _, discuss = rest.partition("**Discuss**")
    answers = re.findall(r"^- \*.+?\.\* (.+)$", misconceptions, re.MULTILINE)
    assert 3 <= len(answers) == misconceptions.count("\n- ") <= 6
    assert all(len(answer.split()) >= 2 for answer in answers)
    assert re.findall(r"^(\d)\. ", discuss, re.MULTILINE) == ["1", "2"] and discuss.count("*A good answer*") == 2


def test_no_chapter_has_a_plan_of_its_own_beside_the_kits():
    for chapter in CHAPTERS:
        index = (ROOT / "chapters" / chapter / "index.md").read_text(encoding="utf-8")
        assert "| minutes |" not in index and f"</course/plans/{chapter}>" in index


def test_a_plan_that_is_wrong_is_noticed():
    plan = f"{HEAD}\n|---:|---|---|\n| 40 | Talk. | {{ref}}`one <a/b>` |\n| 34 | Talk. | nothing |\n"
    assert minutes_wrong(plan) == ["74 minutes"]
    assert list(anchors_wrong(plan, {"a/c"})) == ["row 1: a/b", "row 2 shows nothing"]
    assert list(anchors_wrong(plan, {"a/b"})) == ["row 2 shows nothing"]


# ------------------------------------------------------------------------------------------------------------- syllabus


def test_the_syllabus_reaches_every_section():
    weeks = page("syllabus").partition("### Week by week")[2].partition("## Two days")[0]
    named = {
        target.removeprefix("plan-").replace("-", "_")
        for target in REFERENCE.findall(weeks)
        if target.startswith("plan-")
    }
    assert named == {section.rpartition("/")[2] for section in SECTIONS}
    assert len(re.findall(r"^\| \d+ \|", weeks, re.MULTILINE)) == 12


def test_the_syllabus_adds_up_the_rows_that_it_takes():
    plans = "\n".join(page(f"plans/{chapter}") for chapter in CHAPTERS)
    headings = {
        heading: section for section, heading in re.findall(r"^\(plan-([\w-]+)\)=\n## (.+)$", plans, re.MULTILINE)
    }
    short = {section.rpartition("/")[2].replace("_", "-"): plan for section, plan in PLANS.items()}
    text = page("syllabus").partition("### If your term")[0]
    found = re.findall(r"(?:\([a-z]\) |; )([A-Z][\w ?,-]+?), rows ([\d, toand]+) \((\d+) minutes\)", text)
    assert len(found) == text.count(" minutes)") >= 8
    for title, listed, minutes in found:
        numbers = set()
        for part in re.split(r", | and ", listed):
            first, _, last = part.partition(" to ")
            numbers |= set(range(int(first), int(last or first) + 1))
        section, = (section for heading, section in headings.items() if heading.startswith(title))
        table = rows(short[section])
        assert sum(table[number - 1][0] for number in numbers) == int(minutes), title


def test_homework_has_checkers_and_is_the_weeks_own():
    table = page("syllabus").partition("### Week by week")[2].partition("### If")[0]
    weeks = re.findall(r"^\| (\d+) \| (.+) \|$", table, re.MULTILINE)
    owners = {label: section for section in SECTIONS for label in anchors(section) if label.startswith("ex-")}
    from provable_privacy import check

    for week, row in weeks:
        targets = REFERENCE.findall(row)
        taught = {target.removeprefix("plan-").replace("-", "_") for target in targets if target.startswith("plan-")}
        homework = [target for target in targets if target.startswith("ex-")]
        assert 3 <= len(homework) <= 5, week
        assert {owners[label].rpartition("/")[2] for label in homework} <= taught, week
        solved = {label.removeprefix("ex-").replace("-", "_") for label in homework}
        assert all(hasattr(check, name) for name in solved), (week, solved)


# ------------------------------------------------------------------------------------------------------------- projects


def test_five_projects_with_rubrics_of_a_hundred_points():
    projects = re.split(r"^## (?=\d)", page("projects"), flags=re.MULTILINE)[1:]
    assert len(projects) == 5
    for project in projects:
        parts = ("Question", "Data", "Tasks", "Deliverable", "Where the book helps")
        assert all(f"**{part}" in project for part in parts)
        assert "| milestone | by |" in project
        rubric = project.partition("| what is judged | points |")[2]
        points = [int(number) for number in re.findall(r"\| (\d+) \|$", rubric, re.MULTILINE)]
        assert len(points) >= 5 and sum(points) == 100, project[:40]


# ------------------------------------------------------------------------------------------------------ the built pages


def test_a_row_opens_its_section_in_present_mode_at_something_that_is_there(site):
    targets = {}
    for chapter in CHAPTERS:
        path = site / "course" / "plans" / f"{chapter}.html"
        for table in BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").find_all("table"):
            for line in table.find_all("tr")[1:]:
                link = urlsplit(line.find_all("td")[2].find("a")["href"])
                assert link.query == "present" and link.fragment
                targets.setdefault((path.parent / link.path).resolve(), set()).add(link.fragment)
    assert len(targets) == len(SECTIONS)
    for path, wanted in targets.items():
        text = path.read_text(encoding="utf-8")
        ids = {match[1]: match.start() for match in re.finditer(r'\bid="([^"]+)"', text)}
        assert wanted <= set(ids), (path.name, wanted - set(ids))
        for cell in (anchor for anchor in wanted if anchor.startswith("cell-")):
            # the present mode shows cells with an output
            assert "cell_output" in text[ids[cell]:text.find('<div class="cell ', ids[cell])], (path.name, cell)


def test_links_outside_the_tables_do_not_present(site):
    for path in (site / "course").rglob("*.html"):
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for table in soup.find_all("table") if "plans" in path.parts else []:
            table.decompose()
        assert not [link["href"] for link in soup.find_all("a", href=True) if "?present" in link["href"]]


def test_the_kits_first_page_counts_the_book(site):
    text = BeautifulSoup((site / "course" / "index.html").read_text(encoding="utf-8"), "html.parser").get_text(" ")
    exercises = sum(
        cell.source.count("{exercise-start}")
        for section in SECTIONS
        for cell in nbformat.read(ROOT / f"{section}.ipynb", as_version=4).cells
        if cell.cell_type == "markdown"
    )
    assert re.search(rf"together\s+{len(SECTIONS)}\s+[\d½]+ hours\s+{exercises}\s", text)


def test_the_kit_is_in_the_table_of_contents():
    part = next(part for part in yaml.safe_load(TOC)["parts"] if part["caption"] == "Teaching")
    files = [entry["file"] for entry in part["chapters"][0]["sections"]]
    assert files == [
        "course/syllabus",
        *(f"course/plans/{chapter}" for chapter in CHAPTERS),
        "course/questions",
        "course/projects",
    ]


def test_a_public_release_offers_both_editions_and_no_answers():
    """The solutions of the exercises stand on the pages, the answers to the bank do not."""
    assert release.MADE == (
        "notebooks/*.whl", "notebooks/provable-privacy-student.zip", "notebooks/provable-privacy-instructor-open.zip",
        "pdf/provable-privacy.pdf",
    )
