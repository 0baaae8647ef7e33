"""Running hand-ins again: what one of them does reaches neither its classmates nor the machine."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_results import CLASS, RIGHT, SECTION, STUB, TOUCH, WRONG, notebook, notes

from provable_privacy import cage, rerun, results

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can fork"),
    pytest.mark.slow,
]
LINES = "\n".join([json.dumps([{"svt_monotone": "✗"}, ""]), json.dumps(["✗ svt_monotone: no\n", "", []])] * 3)
ATTACKS = {                                     # a hand-in -> a cell before its right answer
    "echo": "import subprocess; subprocess.run(['echo', 'hello'])",
    "lines": f"import os\nfor one in range(3): os.write(one, {LINES!r}.encode() + b'\\n')",
    "descriptors": f"import os\nfor one in range(4, 60):\n    try: os.write(one, {LINES!r}.encode() + b'\\n')\n"
                   "    except OSError: pass",
    "interrupt": "raise KeyboardInterrupt",
    "left_over": "import subprocess; subprocess.Popen(['sleep', '987'], start_new_session=True)",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(986)\n"
              "    os._exit(0)\nos.wait()",
    "children": "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(985); os._exit(0)\n"
                "time.sleep(9)",
    "flood": "import os\nos.write(3, b'x' * 2_000_000)",
    "parent": "import os, signal\nos.kill(os.getppid(), 9) if os.getppid() > 1 else None",
    "other_words": "import os\nos.write(3, '✗ svt_touch: no\\n✗ nothing: no\\n'.encode())",
}
SPIES = {                                       # what a hand-in must not find -> (how it looks, the protection)
    "environment": ("any(b'SECRET_OF_' + b'MINE' in open(f'/proc/{one}/environ', 'rb').read() "
                    "for one in os.listdir('/proc') if one.isdigit())", "processes"),
    "own_environment": ("'SECRET_OF_MINE' in os.environ", ""),
    "memory": ("any(''.join(['Class', 'mate']) in str(one) for one in gc.get_objects() "
               "if type(one) in (list, tuple, dict))", ""),
    "hand_ins": ("os.listdir(FOLDER) != []", "hand-ins"),
    "overwrite": ("open(FOLDER + '/ann.ipynb', 'w')", "files"),
    "elsewhere": ("open(FOLDER + '/../planted', 'w').write('x') and False", "files"),
}
LOOK = """import gc, os
FOLDER = {folder!r}
try:
    found = {how}
except Exception:
    found = False
check.svt_monotone({{"counts": 4.0 if found else 2.0, "totals": 1.0}})
"""


@pytest.fixture(scope="module")
def class_run(tmp_path_factory):
    """A class of attackers, with Ann at the start and Zoe at the end, run again: marks, notes, what was told."""
    root = tmp_path_factory.mktemp("class_run")
    section, folder, told = root / "section.ipynb", root / "class", []
    section.write_text(notebook((STUB,), (TOUCH,)), encoding="utf-8")
    files = {name: notebook((f"Classmate = '{name}'\n{RIGHT}",)) for name in ("ann", "zoe")} | {"bad": "no JSON"}
    files |= {name: notebook((attack,), (RIGHT,)) for name, attack in ATTACKS.items()}
    files |= {name: notebook((LOOK.format(folder=str(folder), how=how),)) for name, (how, _) in SPIES.items()}
    files |= {"two/above_threshold": notebook((RIGHT, "✓ svt_monotone: indeed\n")),
              "two/linkage": notebook(("check.link_unique(3)", "✓ link_unique: indeed\n"))}
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{place}.ipynb").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_OF_MINE", "SECRET_OF_MINE")
        found = results.read_class(folder, lambda paths: rerun.rerun(section, paths, seconds=3, hear=told.append))
    return {one.student: one for one in found}, told[0], folder, files


def living(argument):
    return [one for one in Path("/proc").glob("[0-9]*/cmdline") if argument in read(one).split(b"\0")]


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_all_but_the_attacker_get_their_marks(class_run):
    found, *_ = class_run
    assert {name: one.marks.get("svt_monotone") for name, one in found.items() if name in ("ann", "zoe", "two")} == {
        "ann": "✓", "zoe": "✓", "two": "✓"}
    assert found["two"].marks["link_unique"] == "✓" and "link_unique" not in str(found["two"].notes)
    assert found["bad"].marks == {}


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - {"children", "flood", "parent"}))
def test_an_attack_reaches_nobody(name, class_run):
    assert class_run[0][name].marks == {"svt_monotone": "✓"}


def test_what_an_attacker_did_is_noted(class_run):
    said = notes(class_run[0].values())
    assert "raised KeyboardInterrupt" in said["interrupt"] and "said too much" in said["flood"]
    if Path("/proc/self/stat").exists():
        assert "left-over" in said["left_over"] and "left-over" in said["daemon"]
        assert "processes" in said["children"] or class_run[0]["children"].marks["svt_monotone"] == "✓"
        assert living(b"987") == []


@pytest.mark.parametrize("name", SPIES)
def test_a_spy_finds_nothing_where_the_protection_is_on(name, class_run):
    found, told, folder, files = class_run
    protection = SPIES[name][1]
    if protection and protection not in told.splitlines()[0].replace("hand-ins", "hand-ins "):
        pytest.skip(f"not on here: {protection}")
    assert found[name].marks == {"svt_monotone": "✓"}
    assert (folder / "ann.ipynb").read_text(encoding="utf-8") == files["ann"]
    assert not (folder.parent / "planted").exists()


def test_it_says_what_is_on_and_what_is_not():
    all_on = rerun.protections(list(cage.PARTS), cage.PARTS).splitlines()
    assert all_on[0].endswith("clean environment, network, processes, files, hand-ins.") and "NOT" not in all_on[0]
    none = rerun.protections([""], cage.PARTS)
    assert "network is NOT cut off" in none and "container" in none


WITHOUT = """
import os, sys
from pathlib import Path
from provable_privacy import cage
libc = cage.system
cage.system = lambda name, *rest: name not in ("unshare", "mount") and libc(name, *rest)
def work(say):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "984"])
        os._exit(0)
    os.wait()
    say("\\u2713 svt_monotone: indeed")
cage.shut().__enter__()
print(cage.keep(work, Path(sys.argv[1]), 5, []))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux finds daemons")
def test_without_namespaces_a_daemon_is_found_too(tmp_path):
    done = subprocess.run([sys.executable, "-c", WITHOUT, tmp_path], capture_output=True, text=True, check=False,
                          cwd=Path(__file__).parents[2])
    assert done.stdout == str(("✓ svt_monotone: indeed\n", "left-over processes ended: 1", [""])) + "\n", done.stderr
    time.sleep(0.1)
    assert living(b"984") == []


def test_a_hand_in_that_ends_the_process_that_watches_costs_the_others_nothing(tmp_path, monkeypatch):
    """The runner is replaced when it is gone."""
    before, names = rerun.exercises_of(write(tmp_path / "section.ipynb"))
    with rerun.Runner(before, str(tmp_path), [], 3) as runner:
        assert runner.ask([RIGHT])[0].startswith("✓")
        runner.process.kill()
        assert "brought down" in runner.ask([RIGHT])[1]
        assert runner.ask([WRONG])[0].startswith("✗")
    assert names == ["svt_monotone"]


def write(path):
    path.write_text(notebook((STUB,), section=SECTION), encoding="utf-8")
    return path


def test_an_untouched_verdict_is_kept_where_nothing_is_run(tmp_path):
    section = write(tmp_path / "section.ipynb")
    hand = tmp_path / "ann.ipynb"
    hand.write_text(notebook((TOUCH, "✓ svt_touch: indeed\n")), encoding="utf-8")
    assert rerun.rerun(section, [hand]) == {hand: ({}, "", {})}
    hand.write_text(CLASS["broken"], encoding="utf-8")
    assert rerun.rerun(section, [hand]) == {hand: ({}, "", {})}
