"""Run hand-ins again, each in a process of its own under limits. Linux and macOS only: elsewhere it says so.

The cells of the original section up to its exercises run once; from there every hand-in goes on in a fork. Only
checkers are listened to: what a hand-in prints itself goes nowhere.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from provable_privacy import speech
from provable_privacy.hand_in import CALL, Unreadable, read_cells, verdicts

__all__ = ["rerun"]

MEMORY, FILE = 4 << 30, 10 << 20  # bytes that a hand-in may take, and write
SPARE = 5  # seconds of the clock beyond the CPU's


def rerun(section, paths, seconds=60):
    """What the checkers say of hand-ins when they run again: path -> (exercise -> mark, note).

    Parameters
    ----------
    section : path
        The original notebook.
    paths : list of paths
    seconds : int
        Of CPU for each hand-in.

    Raises
    ------
    ValueError
        If the system has no fork, or the section cannot be read or has no exercises.
    """
    if not hasattr(os, "fork"):
        raise ValueError("--rerun needs Linux or macOS: on Windows, use WSL or a container")
    names = exercises_of(section)
    command = [
        *without_network(),
        sys.executable,
        "-m",
        "provable_privacy.rerun",
        str(section),
        str(seconds),
        *map(str, paths),
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    lines += [({}, "not run again: the process for it ended early")] * (len(paths) - len(lines))
    return {
        path: ({name: marks.get(name, "·") for name in names}, note)
        for path, (marks, note) in zip(paths, lines, strict=True)
    }


def exercises_of(section):
    try:
        rows = read_cells(Path(section))
    except Unreadable as reason:
        raise ValueError(f"{section}: {reason}") from None
    names = list(dict.fromkeys(name for kind, source, *_ in rows if kind == "code" for name in CALL.findall(source)))
    if not names or not any(begins_exercises(kind, source) for kind, source, *_ in rows):
        raise ValueError(f"{section}: no section with a heading `## Exercises` and checkers")
    return names


def begins_exercises(kind, source):
    return kind == "markdown" and re.search(r"^## Exercises\b", source, re.MULTILINE) is not None


def split(rows):
    """The code before the heading of the exercises, and the code after it."""
    place = next((i for i, (kind, source, *_) in enumerate(rows) if begins_exercises(kind, source)), 0)
    return ([source for kind, source, *_ in part if kind == "code"] for part in (rows[:place], rows[place:]))


def without_network():
    """What a command begins with so that it sees no network, or nothing where the system cannot do that."""
    command = ["unshare", "--net", "--map-root-user"]
    can = (
        shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    )
    return command if can else []


def python(source):
    """A cell without what only IPython understands."""
    return "\n".join("pass" if re.match(r"\s*[%!?]", line) else line for line in source.splitlines())


def run(codes, space):
    """Run cells one after the other; one that fails does not keep the next from running."""
    for code in codes:
        with contextlib.suppress(Exception, SystemExit):
            exec(compile(python(code), "cell", "exec"), space)


def limit(seconds):
    import resource

    for name, value in (("CPU", seconds), ("AS", MEMORY), ("FSIZE", FILE), ("CORE", 0)):
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of memory
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def child(codes, space, place, seconds):
    """The hand-in's own process: its checkers write to a file, and all else is dropped."""
    os.setsid()
    os.chdir(place)
    os.environ.clear()
    os.environ.update(HOME=str(place), PATH="/usr/bin:/bin", MPLBACKEND="agg")
    limit(seconds)
    with (
        (place / "said").open("w", encoding="utf-8", buffering=1) as said,
        open(os.devnull, "w", encoding="utf-8") as nowhere,
    ):
        speech.listen(lambda line: said.write(f"{line}\n"))
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            run(codes, space)


def wait(process, seconds):
    """How the child ended: "" or a note."""
    end = time.monotonic() + 2 * seconds + SPARE
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return f"stopped: too long, too big, or crashed (after at most {seconds} s)" if status else ""
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, 9)
    os.waitpid(process, 0)
    return f"stopped: it waited for longer than {2 * seconds + SPARE} s"


def one(hand_in, space, seconds):
    """(exercise -> mark, note) of one hand-in."""
    try:
        _, answers = split(read_cells(Path(hand_in)))
    except Unreadable:
        return {}, ""  # who reads the saved marks has said so
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        process = os.fork()
        if process == 0:
            try:
                child(answers, space, place, seconds)
            finally:
                os._exit(0)
        note = wait(process, seconds)
        said = place / "said"
        return verdicts(said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""), note


def main(section, seconds, *hand_ins):
    os.environ["MPLBACKEND"] = "agg"
    before, _ = split(read_cells(Path(section)))
    space = {"__name__": "__main__", "display": lambda *_, **__: None}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(before, space)
    for hand_in in hand_ins:
        print(json.dumps(one(hand_in, space, int(seconds))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
