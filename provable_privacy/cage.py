"""What keeps a hand-in that runs again from the rest of the machine. Linux has all of it, macOS a part.

`keep` runs in a fork of its own, which watches a second one, the hand-in's. On Linux that one has processes, a network
and a file system of its own: it sees no other process, no network, no hand-in, and all files are read-only except for
a folder that vanishes with it.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

__all__ = ["PARTS", "keep", "shut", "unreadable"]

PARTS = {  # protection -> what is said when it is not there
    "network": "the network is NOT cut off",
    "processes": "other processes can be seen, and left-over ones may live on",
    "files": "your files are NOT read-only",
    "hand-ins": "the folder of the hand-ins is NOT hidden",
}
MEMORY, FILE, FOLDER = 4 << 30, 10 << 20, 64 << 20  # bytes that a hand-in may take, in a file, in all its files
SAID = 1 << 20  # bytes that its checkers may say
PROCESSES, FILES = 64, 256  # at the same time
SPARE = 5  # seconds of the clock beyond twice the CPU's
PIPE = 3  # the one descriptor that a hand-in has, besides the three that lead nowhere
END = b"\nend\n"
LINUX = sys.platform.startswith("linux")
MOUNTS, IPC, USERS, PIDS, NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000  # flags of unshare
DUMPABLE, DEATH, NO_NEW_RIGHTS, DROP, SUBREAPER = 4, 1, 38, 24, 36  # options of prctl
LIBC = ctypes.CDLL(None, use_errno=True)


def system(name, *arguments):
    """Whether a call of the C library worked."""
    return LINUX and getattr(LIBC, name)(*arguments) == 0


def number(value):
    return ctypes.c_ulong(value)


def prctl(option, value):
    return system("prctl", option, number(value), number(0), number(0), number(0))


@contextlib.contextmanager
def shut():
    """While this lasts, no process of the same user can read the environment or the memory of this one."""
    before = LIBC.prctl(3, number(0), number(0), number(0), number(0)) if LINUX else 0
    unreadable(True)
    try:
        yield
    finally:
        unreadable(before != 1)


def unreadable(wanted):
    prctl(DUMPABLE, 0 if wanted else 1)


def keep(work, place, seconds, hide):
    """Run `work(say)` in a process of its own: (what it said, a note, the protections that are on).

    Parameters
    ----------
    work : function
        It is given a function that takes a line.
    place : path
        Its own folder.
    seconds : int
        Of CPU.
    hide : list of paths
        Folders that it must not see.
    """
    apart = separate()
    prctl(DEATH, signal.SIGKILL)
    prctl(SUBREAPER, 1)
    ours, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            enter(work, theirs, place, seconds, hide, apart)
        finally:
            os._exit(1)
    os.close(theirs)
    try:
        said, note = watch(process, ours, seconds)
    finally:
        end(process)
    first, _, rest = said.decode("utf-8", errors="replace").partition("\n")
    return rest, note, first.split(",")


def separate():
    """Give the next fork its own processes and network. Returns whether the system allows it."""
    user, group = os.getuid(), os.getgid()
    unreadable(False)  # or the maps below belong to root
    apart = system("unshare", USERS | PIDS | NETWORK | IPC)
    if apart:
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny", encoding="ascii")
        (own / "uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        (own / "gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    unreadable(True)
    return apart or system("unshare", PIDS | NETWORK | IPC)


def enter(work, pipe, place, seconds, hide, apart):
    """The hand-in's process, from here to its end."""
    os.setsid()
    only(pipe)
    on = ["network", "processes"] if apart and own_processes() else ["network"] if apart else []
    if on:
        on += own_files(place, hide)
    os.chdir(place)
    os.environ.clear()
    os.environ.update(HOME=str(place), PATH="/usr/bin:/bin", MPLBACKEND="agg")
    drop_rights()
    limit(seconds)
    say = lambda line: os.write(PIPE, f"{line}\n".encode("utf-8", errors="backslashreplace"))  # noqa: E731
    say(",".join(on))
    work(say)
    os.write(PIPE, END)
    while True:
        signal.pause()  # until the watching process has counted what is left


def only(pipe):
    """Close all descriptors except for this pipe; the first three lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    os.dup2(pipe, PIPE)
    os.closerange(PIPE + 1, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 16))


def mount(kind, target, flags=0, options=None):
    return system("mount", kind, os.fsencode(target), kind, number(flags), options)


def own_processes():
    """A `/proc` that shows this process and its children only."""
    private = 0x44000  # MS_REC | MS_PRIVATE
    return system("unshare", MOUNTS) and mount(b"none", "/", private) and mount(b"proc", "/proc", 0xE)


def own_files(place, hide):
    """Make all files read-only, hide some folders, and give the hand-in an empty one. Returns what worked."""
    folders = [*hide, "/run", "/dev/shm", tempfile.gettempdir()]  # asked for while it can still be written to
    wanted = ctypes.create_string_buffer(b"\x01" + bytes(31))  # struct mount_attr: set MOUNT_ATTR_RDONLY
    whole = ctypes.c_long(0x8000)  # AT_RECURSIVE
    read_only = LINUX and LIBC.syscall(ctypes.c_long(442), ctypes.c_long(-100), b"/", whole, wanted, number(32)) == 0
    covered = [cover(Path(folder)) for folder in folders]
    with contextlib.suppress(OSError):
        os.makedirs(place, exist_ok=True)
    own = mount(b"tmpfs", place, 0x6, b"size=%d,nr_inodes=10000" % FOLDER)
    return ["files"] * (read_only and own) + ["hand-ins"] * all(covered[: len(hide)])


def cover(folder):
    """Lay an empty folder over this one, unless Python itself lives in it."""
    needed = [Path(one).resolve() for one in (sys.prefix, sys.base_prefix, __file__, *sys.path) if os.path.isabs(one)]
    real = folder.resolve()
    if not real.is_dir():
        return True
    return not any(one.is_relative_to(real) for one in needed) and mount(b"tmpfs", real, 0x6, b"size=1m")


def drop_rights():
    """Keep none of root's rights, and get none by a program that would give them."""
    for right in range(64):
        prctl(DROP, right)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    system("capset", head, (ctypes.c_uint32 * 6)())
    prctl(NO_NEW_RIGHTS, 1)
    prctl(DEATH, signal.SIGKILL)


def limit(seconds):
    wanted = {"CPU": seconds, "AS": MEMORY, "FSIZE": FILE, "CORE": 0, "NPROC": PROCESSES, "NOFILE": FILES}
    for name, value in wanted.items():
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of memory
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def watch(process, pipe, seconds):
    """What the process says until its end or a limit, and a note on how it ended."""
    said, stop = bytearray(), time.monotonic() + 2 * seconds + SPARE
    looked, reading = 0.0, True
    while time.monotonic() < stop:
        if reading and select.select([pipe], [], [], 0.05)[0]:
            chunk = os.read(pipe, 1 << 16)
            said, reading = said + chunk, bool(chunk)
            if said.endswith(END):
                left = len(below(os.getpid())) - 1
                return bytes(said[: -len(END)]), f"left-over processes ended: {left}" if left > 0 else ""
            if len(said) > SAID:
                return bytes(said[:SAID]), "stopped: its checkers said too much"
            continue
        if not reading:
            time.sleep(0.05)
        if os.waitpid(process, os.WNOHANG)[0]:
            os.set_blocking(pipe, False)
            with contextlib.suppress(BlockingIOError):
                said += os.read(pipe, SAID)
            return bytes(said), f"stopped: too long, too big, or crashed (after at most {seconds} s)"
        if time.monotonic() > looked + 0.1:
            looked, pages = time.monotonic(), below(os.getpid())
            if len(pages) > PROCESSES or sum(pages.values()) * resource.getpagesize() > MEMORY:
                return bytes(said), f"stopped: more than {PROCESSES} processes, or too much memory in all of them"
    return bytes(said), f"stopped: it waited for longer than {2 * seconds + SPARE} s"


def below(ancestor):
    """Process -> pages of memory, of all that descend from this one. Empty where there is no `/proc`."""
    parents, pages = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if fields[0] not in "ZX":
                parents[int(path.parent.name)], pages[int(path.parent.name)] = int(fields[1]), int(fields[21])
    found, new = {}, {ancestor}
    while new:
        new = {process for process, parent in parents.items() if parent in new and process not in found}
        found |= {process: pages[process] for process in new}
    return found


def end(process):
    """Kill the process and all that it has started."""
    for _ in range(100):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)  # its group, where nothing shows the processes one by one
        for one in {process, *below(os.getpid())}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)
