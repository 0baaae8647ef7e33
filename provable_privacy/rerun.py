"""Run hand-ins again, each in a process of its own under limits. Linux and macOS only: elsewhere it says so.

Three processes have a part in it. The lecturer's sends the cells of one hand-in at a time to a second one, which knows
nothing else of the class. That one has run the cells of the original section up to its exercises; from there every
hand-in goes on in a fork, in a cage (`cage.py`). Only checkers are listened to: what a hand-in prints itself goes
nowhere.
"""

import contextlib
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from provable_privacy import speech
from provable_privacy.hand_in import CALL, NONE, Unreadable, calls, changes_checkers, parsed, read_cells, words

__all__ = ["rerun"]

PATIENCE = 30  # seconds in which a reply must come, beyond the limits of the hand-in


def rerun(section, paths, seconds=60, hear=None):
    """What the checkers say of hand-ins when they run again: path -> (exercise -> mark, note, exercise -> words).

    A hand-in that calls no checker of the section is not run, and its entry is empty.

    Parameters
    ----------
    section : path
        The original notebook.
    paths : list of paths
    seconds : int
        Of CPU for each hand-in.
    hear : function, optional
        It is given a line that says which protections are on.

    Raises
    ------
    ValueError
        If the system has no fork, or the section cannot be read or has no exercises.
    """
    if not hasattr(os, "fork"):
        raise ValueError("--rerun needs Linux or macOS: on Windows, use WSL or a container")
    from provable_privacy import cage  # which imports what Windows has not

    before, names = exercises_of(section)
    hide = [os.path.commonpath([Path(path).resolve().parent for path in paths])] if paths else []
    found = {}
    with cage.shut(), tempfile.TemporaryDirectory() as folder, Runner(before, folder, hide, seconds) as runner:
        on = runner.ask([])[2]
        if hear:
            hear(protections(on, cage.PARTS))
        for path in paths:
            found[path] = one(Path(path), names, runner)
    return found


def protections(on, parts):
    """Which protections are on and which are not, in a line or two."""
    lines = [
        f"Protections that are on: {', '.join(['limits', 'a clean environment', *filter(on.__contains__, parts)])}."
    ]
    off = [words for part, words in parts.items() if part not in on]
    if off:
        lines.append(f"NOT on here: {'; '.join(off)}. Run it in a container.")
    if os.getuid() == 0:
        lines.append("You are root: a hand-in can read what root can read. Use an account that owns nothing.")
    return "\n".join(lines)


def one(path, names, runner):
    """(exercise -> mark, note, exercise -> the checker's words) of one hand-in."""
    try:
        _, after = split(read_cells(path))
    except Unreadable:
        return {}, "", {}  # the person who reads the saved marks is told
    wanted = [name for name in names if name in {name for code in after for name in called(code)}]
    if not wanted:
        return {}, "", {}
    said, note, _ = runner.ask(after)
    heard = {name: line for name, line in words(said).items() if name in wanted}
    raised = re.findall(r"^! (\w{1,80})$", said, re.MULTILINE)
    notes = [note, *(f"a cell raised {error}" for error in dict.fromkeys(raised))]
    return {name: heard.get(name, NONE)[0] for name in wanted}, "; ".join(filter(None, notes)), heard


def called(code):
    tree = parsed(code)
    return CALL.findall(code) if tree is None or changes_checkers(tree) else calls(tree)


def exercises_of(section):
    """The cells before the exercises, and the names of the checkers."""
    try:
        rows = read_cells(Path(section).resolve())
    except Unreadable as reason:
        raise ValueError(f"{section}: {reason}") from None
    names = list(dict.fromkeys(name for kind, source, *_ in rows if kind == "code" for name in CALL.findall(source)))
    if not names or not any(begins_exercises(kind, source) for kind, source, *_ in rows):
        raise ValueError(f"{section}: no section with a heading `## Exercises` and checkers")
    return split(rows)[0], names


def begins_exercises(kind, source):
    return kind == "markdown" and re.search(r"^## Exercises\b", source, re.MULTILINE) is not None


def split(rows):
    """The code before the heading of the exercises, and the code after it."""
    place = next((i for i, (kind, source, *_) in enumerate(rows) if begins_exercises(kind, source)), 0)
    return tuple([source for kind, source, *_ in part if kind == "code"] for part in (rows[:place], rows[place:]))


class Runner:
    """The second process. A hand-in that brings it down costs the others nothing: a new one begins."""

    def __init__(self, before, folder, hide, seconds):
        self.first = {"before": before, "folder": folder, "hide": hide, "seconds": seconds}
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "provable_privacy.rerun"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.first["folder"],
            env=environment(self.first["folder"]),
            start_new_session=True,
        )
        self.send(self.first)
        if self.receive(None) is None:
            raise ValueError("the cells of the section could not be run")

    def send(self, what):
        self.process.stdin.write(f"{json.dumps(what)}\n".encode("ascii"))
        self.process.stdin.flush()

    def receive(self, patience):
        """The reply, a line, or None if there is none in time."""
        reply, pipe = bytearray(), self.process.stdout.fileno()
        end = None if patience is None else time.monotonic() + patience
        while not reply.endswith(b"\n"):
            left = None if end is None else max(end - time.monotonic(), 0)
            if not select.select([pipe], [], [], left)[0] or not (chunk := os.read(pipe, 1 << 16)):
                return None
            reply += chunk
        try:
            return json.loads(reply)
        except ValueError:
            return None

    def ask(self, cells):
        """(what the checkers said, a note, the protections that are on) of one hand-in."""
        if self.process is None:
            self.start()
        try:
            self.send(cells)
            reply = self.receive(2 * self.first["seconds"] + PATIENCE)
        except OSError:
            reply = None
        if reply is None:
            self.stop()
            return "", "stopped: it brought down the process that watches it", []
        return reply

    def stop(self):
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        self.process = None


def environment(folder):
    """Of the second process, with nothing of the lecturer's but where Python and its fonts are."""
    import matplotlib

    return {
        "PATH": "/usr/bin:/bin",
        "HOME": folder,
        "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": matplotlib.get_cachedir(),
        "OPENBLAS_NUM_THREADS": "1",
    }


def run(codes, space, say=lambda line: None):
    """Run cells one after the other; one that fails does not keep the next from running."""
    for code in codes:
        tree = parsed(code)
        if tree is None:
            continue
        try:
            exec(compile(tree, "cell", "exec"), space)
        except Exception:  # noqa: S112 (the checker has spoken or not)
            continue
        except BaseException as error:  # which would end a program
            say(f"! {type(error).__name__}")


def answer(cells, space):
    """What a cage runs: the cells of a hand-in, heard by their checkers alone."""

    def work(say):
        speech.listen(say)
        run(cells, space, say)

    return work


def attend(cells, space, first):
    """The reply to one hand-in, from a fork."""
    from provable_privacy import cage

    ours, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(ours)
            place = Path(tempfile.mkdtemp(dir=first["folder"]))
            reply = cage.keep(answer(cells, space), place, first["seconds"], first["hide"])
            with open(theirs, "w", encoding="ascii") as pipe:
                json.dump(reply, pipe)
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, encoding="ascii") as pipe:
        reply = pipe.read()
    os.waitpid(process, 0)
    try:
        return json.loads(reply)
    except ValueError:
        return ["", "stopped: the process that watches it ended", []]


def main():
    from provable_privacy import cage

    cage.unreadable(True)
    lines = sys.stdin
    first = json.loads(lines.readline())
    out = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    space = {"__name__": "__main__", "display": lambda *_, **__: None}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(first.pop("before"), space)
    os.write(out, b"true\n")
    for line in iter(lines.readline, ""):
        # no name holds the reply, which the next fork would find
        os.write(out, f"{json.dumps(attend(json.loads(line), space, first))}\n".encode("ascii"))


if __name__ == "__main__":
    main()
