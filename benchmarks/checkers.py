"""How often a right answer is refused, how many leaks pass, and how long a check takes: over the tables of all tests of checkers.

    .venv/bin/python benchmarks/checkers.py --seeds 300              # writes benchmarks/checkers.md
    .venv/bin/python benchmarks/checkers.py --only dp_user --seeds 20 --minutes 5

Every solution and every unusual right answer is judged with `--seeds` streams of luck (once where the answer has none of its own), and
every leak once. After `--minutes` the table is written of what was done.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import contextlib
import datetime
import importlib
import io
import multiprocessing
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent)]

checking = importlib.import_module("checking")
KINDS = ("SOLUTIONS", "UNUSUAL", "LEAKS")


def sections():
    """Modules of tests that have the tables."""
    for path in sorted((HERE.parent / "tests").glob("test_checkers_*.py")):
        module = importlib.import_module(path.stem)
        if isinstance(getattr(module, "SOLUTIONS", None), list) and hasattr(module, "TestAnswers"):
            yield module


def answer(module, kind, row, seed):
    """An answer of a table, and whether it has luck of its own."""
    _, given = getattr(importlib.import_module(module), kind)[row]
    if kind == "SOLUTIONS":
        return given(seed), given(seed) is not given(seed)
    return checking.luck(given, seed), isinstance(given, checking.Seeded)


def judge(task):
    """(task, whether ✓, CPU seconds, the line)."""
    module, kind, row, seed = task
    checker, said = getattr(importlib.import_module(module), kind)[row][0], io.StringIO()
    tried = answer(module, kind, row, seed)[0]
    started = time.process_time()
    with contextlib.redirect_stdout(said):
        checker(tried)
    return task, said.getvalue().startswith("✓"), time.process_time() - started, said.getvalue().strip()


def tasks(seeds, only):
    """By seed, so that a run that ends early has tried every answer."""
    rows = [(module.__name__, kind, row) for module in sections() for kind in KINDS
            for row, (checker, *_) in enumerate(getattr(module, kind, ())) if only in (None, checker.__name__)]
    lucky = [row for row in rows if row[1] != "LEAKS" and answer(*row, 0)[1]]
    for seed in range(seeds):
        for row in lucky if seed else rows:
            yield *row, seed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--only", metavar="NAME", help="one checker")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path, default=HERE / "checkers.md")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=2)
    arguments = parser.parse_args()
    until, checks, odd = time.monotonic() + 60 * arguments.minutes, defaultdict(lambda: defaultdict(list)), []
    with multiprocessing.Pool(arguments.processes) as pool:
        for (module, kind, row, seed), passed, seconds, line in pool.imap(judge, tasks(arguments.seeds, arguments.only)):
            name = getattr(importlib.import_module(module), kind)[row][0].__name__
            checks[name][kind].append((passed, seconds))
            if passed == (kind == "LEAKS"):
                odd.append(f"{kind.lower()} {row}, seed {seed}: {line}"[:400])
                print(odd[-1], flush=True)
            if time.monotonic() > until:
                pool.terminate()
                break
    text = report(checks, odd, arguments)
    print(text)
    if not arguments.only:
        arguments.output.write_text(text, encoding="utf-8")


def report(checks, odd, arguments):
    lines = [
        "# The exercise checkers, measured", "",
        f"{datetime.date.today()}, at most {arguments.seeds} streams of luck for each right answer; seconds are of one processor.", "",
        "| checker | right answers judged | refused | median s | longest s | leaks | refused |", "|---|---:|---:|---:|---:|---:|---:|",
    ]
    judged = wrong = leaks = caught = 0
    for name, kinds in sorted(checks.items()):
        right, leaking = kinds["SOLUTIONS"] + kinds["UNUSUAL"], kinds["LEAKS"]
        seconds, refused, found = [s for _, s in right] or [0.0], sum(not passed for passed, _ in right), sum(not passed for passed, _ in leaking)
        lines.append(f"| `{name}` | {len(right):,} | {refused} | {statistics.median(seconds):.2f} | {max(seconds):.2f} | {len(leaking)} | {found} |")
        judged, wrong, leaks, caught = judged + len(right), wrong + refused, leaks + len(leaking), caught + found
    lines += [f"| all | {judged:,} | {wrong} | | | {leaks} | {caught} |", ""]
    return "\n".join(lines + [f"- {line}" for line in odd] + [""] * bool(odd))


if __name__ == "__main__":
    main()
