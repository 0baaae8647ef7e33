"""What whoever publishes the book relies on: pins, names, licences, and a page that a strict server serves."""
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))

# ------------------------------------------------------------------------------------------------ pins and the package

PIN = re.compile(
    r"^(?P<name>[\w.-]+)(?:\[[\w,-]+\])?==[\w.]+(?: ; [^\\\n]+?)?(?P<hashes>(?: \\\n    --hash=sha256:\w{64})*)$",
    re.MULTILINE,
)


def without_hash(requirements):
    """The lines of a file of requirements that pip would install without comparing anything."""
    rest = PIN.sub(lambda pin: "" if pin["hashes"] else pin[0], re.sub(r"^#.*\n", "", requirements, flags=re.M))
    return rest.split()


@pytest.mark.parametrize("path", ["requirements.txt"])
def test_every_pin_has_its_hashes(path):
    requirements = (ROOT / path).read_text(encoding="utf-8")
    assert len(PIN.findall(requirements)) > 10 and without_hash(requirements) == []


@pytest.mark.parametrize(
    "line", ["six==1.0", "six>=1.0", "-e .", "six==1.0 ; os_name == 'nt'", "six==1.0 \\\n    --hash=md5:0"]
)
def test_a_pin_without_a_hash_is_noticed(line):
    sound = "wrapt==2.5.2 ; os_name == 'nt' \\\n    --hash=sha256:" + 64 * "0" + "\n"
    assert without_hash(sound) == [] and without_hash(f"{sound}{line}\n") != []


def test_the_pins_cover_what_the_extras_name():
    pinned = {name.lower() for name, _ in PIN.findall((ROOT / "requirements.txt").read_text(encoding="utf-8"))}
    extras = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"], "spark": []}
    named = {re.match(r"[\w.-]+", one)[0].lower() for extra in extras.values() for one in extra}
    assert named - {PROJECT["name"]} <= pinned


def test_the_package_says_who_made_it_and_stands_alone():
    assert PROJECT["authors"] and PROJECT["keywords"] and PROJECT["license-files"]
    assert {"Intended Audience :: Education", "Typing :: Typed"} <= set(PROJECT["classifiers"])
    readme = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https://)|<img|!\[", readme) == []          # a package index has no files beside it
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    exec(compile(example, PROJECT["readme"], "exec"), {})


def test_the_package_and_the_book_have_one_address():
    address = CONFIG["repository"]["url"]
    assert list(PROJECT.get("urls", {}).values())[:1] == [address] * bool(address)
