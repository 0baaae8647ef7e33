"""How often a right answer is refused, how many leaks pass, and how long a check takes: over the tables of all tests of checkers.

    .venv/bin/python benchmarks/checkers.py --minutes 60             # writes benchmarks/checkers.md, and goes on where it stopped the last time
    .venv/bin/python benchmarks/checkers.py --only dp_user --seeds 20 --output /dev/stdout

In a round every solution and every unusual right answer of a checker is judged with one stream of luck (in the first round only, where the answer
has none of its own), and in the first round every leak. What was counted stays in the table until code changes on which it may depend: comments,
docstrings, the words of a message, wrong answers, tests and other checkers may change.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import ast
import contextlib
import datetime
import hashlib
import importlib
import io
import multiprocessing
import sys
import time
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

HERE = Path(__file__).parent
CLASSROOM = HERE.parent / "provable_privacy"
CHECK = CLASSROOM / "check"
sys.path[:0] = [str(HERE.parent / "tests" / "classroom"), str(HERE.parent)]

checking = importlib.import_module("checking")
TABLES = ("SOLUTIONS", "UNUSUAL", "LEAKS")
HEAD = ("checker", "code", "streams of luck", "right answers judged", "refused", "seconds in all", "longest", "leaks", "leaks refused")


@dataclass
class Counted:
    code: str
    streams: int = 0
    judged: int = 0
    refused: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    leaks: int = 0
    caught: int = 0


class Wordless(ast.NodeTransformer):
    """A checker without its words: f-strings, texts with a space in them, and what is said of an answer that is refused."""

    def visit_Raise(self, node):
        return ast.Raise(node.exc.func) if isinstance(node.exc, ast.Call) else node

    def visit_JoinedStr(self, node):
        return ast.Constant("words")

    def visit_Constant(self, node):
        return ast.Constant("words") if isinstance(node.value, str) and " " in node.value else node


def parts(path):
    """The statements of a file, without comments and docstrings, those of a checker without words."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    return (Wordless().visit(tree) if path.is_relative_to(CHECK) else tree).body


def names(*nodes):
    return {getattr(part, "id", None) or part.attr for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}


def meaning(section, name, known):
    """What a right answer or a leak of checker `name` may depend on, of its section's checkers and answers: all that it leads to by names.

    Of a table it takes the rows in which this checker stands, or none that is `known`.
    """
    wanted, defined = [], {}
    for node in section:
        bound = {node.name} if isinstance(node, ast.ClassDef | ast.FunctionDef) else names(*node.targets) if isinstance(node, ast.Assign) else set()
        if bound & {*TABLES}:
            rows = node.value.elts if isinstance(node.value, ast.List) else [node.value]
            wanted += [row for row in rows if name in names(row) or not known & names(row)]
        elif not bound or name in bound:
            wanted.append(node)
        for one in bound - {*TABLES, "WRONG", "STUBS"}:
            defined.setdefault(one, []).append(node)
    for node in wanted:                          # grows
        wanted += [found for used in sorted(names(node) - known) for found in defined.get(used, ()) if found not in wanted]
    return "".join(sorted(map(ast.dump, wanted)))


def checkers():
    """Name -> (module of answers, hash of the code)."""
    shared = "".join(map(ast.dump, (part for path in (CLASSROOM / "speech.py", *sorted(CLASSROOM.glob("battery/*.py"))) for part in parts(path))))
    for path in sorted((HERE.parent / "tests" / "classroom" / "answers").glob("*.py")):
        module, (checked,) = importlib.import_module(f"answers.{path.stem}"), CHECK.glob(f"*/{path.name}")
        known, section = {checker.__name__: None for checker, _ in module.SOLUTIONS}, parts(checked) + parts(path)
        for name in known:
            code = hashlib.sha256((shared + meaning(section, name, known.keys())).encode()).hexdigest()[:8]
            yield name, (module.__name__, code)


def answers(module, name, seed):
    """(kind and row, answer, whether ✓ is right) of a round."""
    tables = importlib.import_module(module)
    for kind in TABLES:
        for row, (checker, given) in enumerate(getattr(tables, kind, ())):
            lucky = given(0) is not given(0) if kind == "SOLUTIONS" else isinstance(given, checking.Seeded) and kind != "LEAKS"
            if checker.__name__ == name and (lucky or seed == 0):
                yield f"{kind.lower()} {row}", checker, given(seed) if kind == "SOLUTIONS" else checking.luck(given, seed), kind != "LEAKS"


def judge(task):
    """What a round adds to the count, and the lines that should be otherwise."""
    name, module, code, seed = task
    counted, odd = Counted(code, 1), []
    for which, checker, answer, right in answers(module, name, seed):
        said, started = io.StringIO(), time.process_time()
        with contextlib.redirect_stdout(said):
            checker(answer)
        seconds, passed = time.process_time() - started, said.getvalue().startswith("✓")
        counted.judged, counted.refused = counted.judged + right, counted.refused + (right and not passed)
        counted.leaks, counted.caught = counted.leaks + (not right), counted.caught + (not right and not passed)
        counted.seconds, counted.longest = counted.seconds + right * seconds, max(counted.longest, right * seconds)
        if passed != right:
            odd.append(f"{name}, {which}, seed {seed}: {said.getvalue().strip()}"[:400])
    return name, counted, odd


def read(path):
    """The counts and the odd lines of an earlier run."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    kinds = [type(value) for value in astuple(Counted(""))]
    return {name: Counted(*(kind(cell) for kind, cell in zip(kinds, cells))) for name, *cells in rows}, [line[2:] for line in lines if line.startswith("- ")]


def report(counts, odd):
    total = {key: sum(asdict(c)[key] for c in counts.values()) for key in ("judged", "refused", "leaks", "caught")}
    streams = [c.streams for c in counts.values()]
    lines = [
        "# The exercise checkers, measured", "",
        f"{datetime.date.today()}. {total['judged']:,} right answers were judged, with {min(streams, default=0)} to {max(streams, default=0)} streams of luck, "
        f"and {total['refused']} refused; of {total['leaks']} leaks {total['caught']} were refused.",
        "Seconds are CPU time of right answers, on a machine that did other things besides; an answer without luck of its own is judged once.", "",
        "| " + " | ".join(HEAD) + " |", "|---|---|" + "---:|" * (len(HEAD) - 2),
        *(f"| `{name}` | {c.code} | {c.streams} | {c.judged} | {c.refused} | {c.seconds:.1f} | {c.longest:.2f} | {c.leaks} | {c.caught} |"
          for name, c in sorted(counts.items())), ""]
    return "\n".join(lines + [f"- {line}" for line in odd] + [""] * bool(odd))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--only", metavar="NAME", help="one checker")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path, default=HERE / "checkers.md")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    arguments = parser.parse_args()
    until, known = time.monotonic() + 60 * arguments.minutes, dict(checkers())
    counts, odd = read(arguments.output)
    fresh = {name for name, (_, code) in known.items() if name not in counts or counts[name].code != code}
    counts = {name: Counted(code) if name in fresh else counts[name] for name, (_, code) in known.items()}
    odd = [line for line in odd if line.split(",")[0] in counts and line.split(",")[0] not in fresh]
    rounds = [(name, module, code, seed) for seed in range(arguments.seeds) for name, (module, code) in known.items()
              if seed >= counts[name].streams and arguments.only in (None, name)]
    with multiprocessing.Pool(arguments.processes) as pool:
        for name, more, lines in pool.imap(judge, rounds):
            both = [(a + b, max(a, b)) for a, b in zip(astuple(counts[name])[1:], astuple(more)[1:])]
            counts[name] = Counted(more.code, *(most if i == 4 else added for i, (added, most) in enumerate(both)))
            odd += lines
            arguments.output.write_text(report(counts, odd), encoding="utf-8")
            if time.monotonic() > until:
                pool.terminate()
                break
    print(report(counts, odd))


if __name__ == "__main__":
    main()
