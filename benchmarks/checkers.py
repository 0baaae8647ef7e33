"""How often a right answer is refused, how many leaks pass, and how long a check takes.

    .venv/bin/python benchmarks/checkers.py --seeds 3                         writes benchmarks/checkers.md
    .venv/bin/python benchmarks/checkers.py --only dp_user --seeds 20         one checker, to the terminal

Every leak is judged once. Every solution and every unusual right answer is judged with each stream of luck, or once
where it has no luck of its own.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import contextlib
import datetime
import importlib
import io
import multiprocessing
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests" / "classroom"), str(HERE.parent)]

checking = importlib.import_module("checking")
COUNTED = ("right answers", "refused", "seconds", "longest", "leaks", "leaks refused")


def checkers():
    """(name of a checker, module of its answers), in the order of the alphabet."""
    for path in sorted((HERE.parent / "tests" / "classroom" / "answers").glob("[a-z]*.py")):
        module = importlib.import_module(f"answers.{path.stem}")
        for name in {checker.__name__ for checker, _ in getattr(module, "SOLUTIONS", ())}:
            yield name, module.__name__


def answers(module, name, seed):
    """(what, checker, answer, whether it is right) of one stream of luck."""
    for kind in ("SOLUTIONS", "UNUSUAL", "LEAKS"):
        for row, (checker, given) in enumerate(getattr(module, kind, ())):
            solution = kind == "SOLUTIONS"
            lucky = given(0) is not given(0) if solution else isinstance(given, checking.Seeded) and kind == "UNUSUAL"
            if checker.__name__ == name and (lucky or seed == 0):
                answer = given(seed) if solution else checking.luck(given, seed)
                yield f"{name}, {kind.lower()} {row}, seed {seed}", checker, answer, kind != "LEAKS"


def judge(task):
    """What one stream of luck adds to a checker's counts, and the lines that should be otherwise."""
    name, module, seed = task
    counts, odd = Counter(), []
    for what, checker, answer, right in answers(importlib.import_module(module), name, seed):
        said, started = io.StringIO(), time.process_time()
        with contextlib.redirect_stdout(said):
            checker(answer)
        seconds, passed = time.process_time() - started, said.getvalue().startswith("✓")
        counts.update({"right answers": right, "refused": right and not passed, "seconds": right * seconds})
        counts.update({"leaks": not right, "leaks refused": not right and not passed})
        counts["longest"] = max(counts["longest"], right * seconds)
        odd += [f"{what}: {said.getvalue().strip()}"[:400]] * (passed != right)
    return name, counts, odd


def report(counts, odd, seeds):
    total = sum(counts.values(), Counter())
    lines = [
        "# The exercise checkers, measured",
        "",
        f"{datetime.date.today()}, {seeds} streams of luck.",
        f"Of {total['right answers']:,} right answers {total['refused']} were refused.",
        f"Of {total['leaks']:,} leaks {total['leaks refused']:,} were refused.",
        "Seconds are CPU time of right answers, in all and the longest, on a machine that did other things besides.",
        "",
        f"| checker | {' | '.join(COUNTED)} |",
        "|---|" + "---:|" * len(COUNTED),
    ]
    for name, count in sorted(counts.items()):
        cells = [f"{count[what]:.2f}" if what in ("seconds", "longest") else str(count[what]) for what in COUNTED]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {line}" for line in odd)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="streams of luck (3)")
    parser.add_argument("--only", metavar="NAME", help="one checker; writes nothing")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    known = [one for one in sorted(checkers()) if options.only in (None, one[0])]
    counts, odd = {name: Counter() for name, _ in known}, []
    with multiprocessing.Pool(options.processes) as pool:
        for name, more, lines in pool.imap(judge, [(*one, seed) for seed in range(options.seeds) for one in known]):
            longest = max(counts[name]["longest"], more["longest"])
            counts[name].update(more)
            counts[name]["longest"] = longest
            odd += lines
    text = report(counts, odd, options.seeds)
    print(text)
    if not options.only:
        (HERE / "checkers.md").write_text(f"{text.rstrip()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
