"""How long a section takes to read: its main path, counted.

    python tools/reading_time.py [FILES]      one line per section: words, formulas, code, minutes, what it states

The main path is what a reader needs for the exercises of one and two stars and for later sections. Not on it: parts
whose heading begins with "Going deeper", folded blocks (proofs, hints, answers), the exercises, and cells that are
folded on the page. The rates are fitted to the diaries of learners: four sections took 75, 100, 75 and 110 minutes, and
this counts 79, 94, 77 and 82.
"""
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
WORDS_A_MINUTE, MINUTES_A_FORMULA, MINUTES_A_LINE, MINUTES_AN_EXPLORER = 60, 0.5, 0.2, 1.0
FOLDED_TAGS = {"hide-input", "hide-cell", "remove-cell", "remove-input"}
DEEPER, EXERCISES = "Going deeper", "Exercises"
FORMULA = re.compile(
    r"^`{3,}\{math\}.*?^`{3,}$|^\$\$.*?\$\$|^\\begin\{(?:align|equation)\*?\}.*?^\\end\{\w+\*?\}",
    re.MULTILINE | re.DOTALL,
)
STATED = re.compile(r"Reading time: about (\d+) minutes; exercises: about (\d+) minutes\.")


@dataclass
class Count:
    words: int = 0
    formulas: int = 0
    lines: int = 0
    explorers: int = 0

    @property
    def minutes(self):
        return (self.words / WORDS_A_MINUTE + self.formulas * MINUTES_A_FORMULA + self.lines * MINUTES_A_LINE
                + self.explorers * MINUTES_AN_EXPLORER)


def parts(cells):
    """Split a section into ("main" | "deeper" | "exercises", "markdown" | "code", source), in its order."""
    part, level = "main", 0
    for cell in cells:
        if cell.cell_type == "code":
            if not FOLDED_TAGS & set(cell.metadata.get("tags", [])):
                yield part, "code", cell.source
            elif "Explorer(" in cell.source:
                yield part, "code", "Explorer()"
            continue
        lines, fence = [], None
        for line in cell.source.splitlines():
            fence = opened(line, fence)
            heading = fence is None and re.match(r"(#+) +(.*)", line)
            if heading and (part == "main" or len(heading[1]) <= level):
                yield part, "markdown", "\n".join(lines)
                lines, level = [], len(heading[1])
                part = "deeper" if heading[2].startswith(DEEPER) else "exercises" if heading[2] == EXERCISES else "main"
            lines.append(line)
        yield part, "markdown", "\n".join(lines)


def opened(line, fence):
    """The code fence that is open after this line, if any."""
    mark = re.match(r"(`{3,})(.*)", line)
    if mark and fence is None:
        return mark[1]
    return None if mark and mark[1] == fence and not mark[2].strip() else fence


def without_folds(text):
    """Without the bodies of folded admonitions; their titles stay."""
    kept, depth = [], 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if depth:
            depth += bool(re.match(r":{3,}\{", line)) - bool(re.fullmatch(r":{3,}", line))
        else:
            kept.append(line)
            if re.match(r":{3,}\{", line):
                options = []
                for option in lines[number + 1:]:
                    if not re.match(r":[\w-]+:", option):
                        break
                    options.append(option)
                depth = int(any("dropdown" in option for option in options))
    return "\n".join(kept)


def words(text):
    text = re.sub(
        r"^(?::{3,}|`{3,})(?:\{[\w:-]+\})?|^:[\w-]+:.*$|^\([\w-]+\)=$|<!--.*?-->", " ", text, flags=re.MULTILINE
    )
    text = re.sub(r"\{[\w:]+\}`([^`<]*)(?:<[^`]*>)?`", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\$[^$\n]+\$|`[^`\n]+`", " formula ", text)
    return len(re.findall(r"\w[\w’'.,\-]*", text))


def count(cells):
    """What is on the main path, and how many words are in each part."""
    main, deeper = Count(), Count()
    for part, kind, source in parts(cells):
        here = {"main": main, "deeper": deeper}.get(part)
        if here is None:
            continue
        if kind == "code":
            here.lines += sum(bool(line.strip()) for line in source.splitlines()) if source != "Explorer()" else 0
            here.explorers += "Explorer(" in source
        else:
            open_text = without_folds(source)
            here.formulas += len(FORMULA.findall(open_text))
            here.words += words(FORMULA.sub("", open_text))
    return main, deeper


def stated(cells):
    """(minutes to read, minutes for the exercises) as the section says, or None."""
    found = STATED.search(re.sub(r"\s+", " ", "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")))
    return tuple(map(int, found.groups())) if found else None


def main(arguments):
    files = [Path(name) for name in arguments] or sorted((ROOT / "chapters").rglob("*.ipynb"))
    print(
        f"{'section':32} {'words':>5} {'formulas':>8} {'lines':>5} {'sliders':>7} "
        f"{'minutes':>7} {'stated':>6} {'deeper, words':>13}"
    )
    for path in files:
        cells = nbformat.read(path, as_version=4).cells
        here, deeper = count(cells)
        said = stated(cells)
        print(
            f"{path.parent.name + '/' + path.stem:32} {here.words:5} {here.formulas:8} {here.lines:5} "
            f"{here.explorers:7} "
            f"{here.minutes:7.0f} {said[0] if said else '-':>6} {deeper.words:13}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
