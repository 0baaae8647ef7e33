"""The code on the page about mechanisms and exercises of one's own runs, and prints what the page shows."""
import contextlib
import io
import re
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "reference" / "battery.md"
WIDTH = 60                                       # columns of code on a page
BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def printed(code, space):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, PAGE.name, "exec"), space)
    return "".join(f"{textwrap.fill(line, WIDTH, subsequent_indent='    ')}\n" for line in said.getvalue().splitlines())


def as_run(text):
    """The page with what its code prints now."""
    space = {"__name__": "__main__"}
    return BLOCK.sub(lambda block: f"```python\n{block[1]}```\n\n```text\n{printed(block[1], space)}```", text)


def test_the_page_shows_what_its_code_prints():
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) == 6 == text.count("```python") and as_run(text) == text


def test_the_code_fits_on_a_page():
    text = PAGE.read_text(encoding="utf-8")
    code = "".join(code + said for code, said in BLOCK.findall(text))
    assert max(map(len, code.splitlines())) <= WIDTH


def test_a_checker_of_a_mechanism_takes_fifteen_lines():
    code = BLOCK.findall(PAGE.read_text(encoding="utf-8"))[-1][0]
    checker = [line for line in code.partition("\nmy_count(")[0].splitlines() if line and not line.startswith("from ")]
    assert len(checker) <= 15


if __name__ == "__main__":                       # write what the code prints into the page
    PAGE.write_text(as_run(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit()
