"""What whoever publishes the book relies on: pins, names, licences, and a page that a strict server serves."""
import hashlib
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path

import editions
import lxml.html
import pytest
import release
import yaml
from bookext import notices, strict, styles
from bookext.plain import ARCHIVES

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


@pytest.mark.parametrize("path", ["requirements.txt", "tools/bill-requirements.txt"])
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


# ------------------------------------------------------------------------------------------------------- on a tag, only

WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")
}


def loose(workflow):
    """What a workflow may do or run that nobody has looked at."""
    if workflow.get("permissions") not in ({}, {"contents": "read"}):
        yield "all jobs may do more than read"
    for name, job in workflow["jobs"].items():
        steps = job["steps"]
        yield from (
            f"{name}: {step['uses']} may change" for step in steps
            if "uses" in step and not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
        )
        ours = any("checkout@" in step.get("uses", "") for step in steps)
        if ours and job.get("permissions", {"contents": "read"}) != {"contents": "read"}:
            yield f"{name}: what runs the repository's own code may write"
        if any("checkout@" in step.get("uses", "") and step["with"]["persist-credentials"] for step in steps):
            yield f"{name}: the token stays in the checkout"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_runs_pinned_actions_with_few_rights(name):
    assert list(loose(WORKFLOWS[name])) == []


@pytest.mark.parametrize(("right", "wrong"), [
    ("permissions: {}", "permissions: {contents: write}"), ("permissions: {}", ""),
    ("checkout@d23441a48e516b6c34aea4fa41551a30e30af803", "checkout@v6"),
    ("      contents: read", "      contents: write"), ("persist-credentials: false", "persist-credentials: true"),
])
def test_a_loose_workflow_is_noticed(right, wrong):
    text = (ROOT / ".github/workflows/publish.yml").read_text(encoding="utf-8")
    assert right in text and list(loose(yaml.safe_load(text.replace(right, wrong, 1)))) != []


def test_only_what_passed_is_published():
    jobs = WORKFLOWS["publish.yml"]["jobs"]
    steps = [step.get("run") or step["uses"] for step in jobs["build"]["steps"]]
    assert steps.index(".ci/run") < steps.index("make release") < next(
        place for place, step in enumerate(steps) if "upload-artifact" in step
    )
    for name in jobs.keys() - {"build"}:
        while name != "build":
            name = jobs[name]["needs"]


def test_each_version_keeps_its_pages_and_the_newest_stands_at_the_top(tmp_path):
    for version in ("v1.9.0", "v1.10.0", "v0.1.0"):
        (tmp_path / "zips" / version).mkdir(parents=True)
        (tmp_path / "html").mkdir(exist_ok=True)
        (tmp_path / "html/index.html").write_text(version, encoding="utf-8")
        release.pages(tmp_path / "html", tmp_path / "zips" / version / "provable-privacy-pages.zip")
    subprocess.run([ROOT / ".ci/site", "zips", "site"], cwd=tmp_path, check=True)
    found = {path.relative_to(tmp_path / "site").as_posix(): path.read_text(encoding="utf-8")
             for path in (tmp_path / "site").rglob("*.html")}
    assert found == {
        "index.html": "v1.10.0", "1.10.0/index.html": "v1.10.0", "1.9.0/index.html": "v1.9.0",
        "0.1.0/index.html": "v0.1.0",
    }


@pytest.mark.slow
def test_two_copies_make_the_same_wheel(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    made = []
    for name in ("one", "two"):
        for folder in ("dplib", "provable_privacy", "data"):
            skip = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / folder, tmp_path / name / folder, copy_function=shutil.copyfile, ignore=skip)
        for file in ("pyproject.toml", "LICENSE", PROJECT["readme"]):
            shutil.copyfile(ROOT / file, tmp_path / name / file)
        made.append(editions.make_wheel(tmp_path / name, tmp_path / name))
    assert made[0].name == made[1].name and made[0].read_bytes() == made[1].read_bytes()


def test_editions_say_their_licence_and_how_to_cite_them():
    for archive, papers in editions.papers().items():
        assert "CC BY 4.0" in papers["LICENSE"] and "cff-version" in papers["CITATION.cff"], archive
    assert editions.papers().keys() == ARCHIVES.keys()


def test_the_same_pages_are_the_same_file_and_its_sum_is_told(tmp_path):
    (tmp_path / "html").mkdir()
    for name in ("b.html", "a.html", ".nojekyll"):
        (tmp_path / "html" / name).write_text(name, encoding="utf-8")
    (tmp_path / "made").mkdir()
    release.pages(tmp_path / "html", tmp_path / "pages.zip")
    os.utime(tmp_path / "html/a.html", (10**9, 10**9))
    release.pages(tmp_path / "html", tmp_path / "made/pages.zip")
    packed = (tmp_path / "pages.zip").read_bytes()
    assert packed == (tmp_path / "made/pages.zip").read_bytes()
    assert zipfile.ZipFile(tmp_path / "pages.zip").namelist() == ["pages/.nojekyll", "pages/a.html", "pages/b.html"]
    release.checksums(tmp_path / "made")
    sums = (tmp_path / "made/SHA256SUMS").read_text(encoding="utf-8")
    assert sums == f"{hashlib.sha256(packed).hexdigest()}  pages.zip\n"


# ----------------------------------------------------------------------------------------------------- around the pages


@pytest.fixture(scope="module")
def pages(site):
    found = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        if not name.startswith(("_", "zh/")) and name != "index.html":      # which leads on to the first page
            found[name] = lxml.html.document_fromstring(path.read_text(encoding="utf-8"))
    return found


def inside(page):
    """Scripts and styles that stand in a page and not in a file."""
    yield from page.xpath("//@style | //style/text() | //@*[starts-with(name(), 'on')]")
    yield from page.xpath("//script[not(@src)][not(@type='application/json')]/text()")
    yield from page.xpath("//*[starts-with(@href, 'javascript:')]/@href")
    for data in page.xpath("//script[@type='application/json']/text()"):
        yield from re.findall(r"<[^<>]* style=[^<>]*>", data.replace("\\u003c", "<"))


def test_no_page_has_a_script_or_a_style_of_its_own(pages):
    found = [f"{name}: {what[:80]}" for name, page in pages.items() for what in inside(page)]
    assert len(pages) > 60 and not found, "\n".join(found)


@pytest.mark.parametrize("fault", [
    '<p style="color: red">a</p>', "<style>p {}</style>", "<script>run()</script>", '<p onclick="run()">a</p>',
    '<a href="javascript:run()">a</a>', r'<script type="application/json">"\u003cp style=\"color: red\">"</script>',
])
def test_a_script_or_a_style_in_a_page_is_found(fault):
    assert list(inside(lxml.html.document_fromstring(f"<p>before</p>{fault}"))) != []


@pytest.fixture
def strict_page(tmp_path):
    """What becomes of a page, and the files and rules beside it."""
    def build(text):
        path = tmp_path / "part/page.html"
        pages = {path: text}
        rules = strict.move(pages, tmp_path)
        files = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / strict.FOLDER).glob("*")}
        return pages[path], files, rules
    return build


def test_scripts_and_styles_become_files_and_classes(strict_page):
    page, files, rules = strict_page(
        '<html><head><script>let one = "a";</script><script defer src="x.js"></script><script>let two;</script>'
        "<script>let two;</script></head><body><style scoped>td { color: red }</style>"
        '<p class="a" title="a > b" style="top: 1em">p</p><b style="top: 1em">b</b><i  style="left: 0;">i</i>'
        '<script type="application/json">["<p style=\\"x\\">"]</script>'
        '<button onclick="window.print()">P</button></body></html>'
    )
    script, sheet = (next(name for name in files if name.endswith(end)) for end in ("js", "css"))
    assert files == {script: 'let one = "a";\nlet two;\n', sheet: "td { color: red }\n"}
    top, left = re.findall(r"^\.(s-\w+):not\(#_\) \{ (?:top: 1em|left: 0;) \}$", rules, re.MULTILINE)
    if "left" in rules.splitlines()[0]:
        top, left = left, top
    assert page == (
        f'<html><head><script src="../_static/strict/{script}"></script><script defer src="x.js"></script></head>'
        f'<body><link rel="stylesheet" href="../_static/strict/{sheet}">'
        f'<p class="{top} a" title="a > b">p</p><b class="{top}">b</b><i class="{left}">i</i>'
        '<script type="application/json">["<p style=\\"x\\">"]</script><button data-print>P</button></body></html>'
    )


def test_a_page_that_was_finished_keeps_its_classes_and_files(strict_page, tmp_path):
    page, files, rules = strict_page('<head><script>run()</script></head><body><p style="top: 1em">p</p></body>')
    (tmp_path / "_static/light").mkdir(parents=True)
    (tmp_path / styles.JOINED).write_text(f"p {{}}\n{rules}b {{}}", encoding="utf-8")
    assert strict_page(page) == (page, files, rules)
    assert strict_page("<head></head><body><p>new</p></body>") == ("<head></head><body><p>new</p></body>", {}, "")


LISTS = ("404.html", "genindex.html", "py-modindex.html", "search.html", "reference/bibliography.html")


def test_every_page_says_its_licence_and_what_it_is_about(pages):
    for name, page in pages.items():
        foot = page.xpath("//footer[contains(@class, 'bd-footer-content')]")[0]
        links = {link.text: link.get("href") for link in foot.iter("a")}
        assert "CC BY 4.0" in foot.text_content()
        assert links.keys() == {"Licence", "How to cite", "Accessibility", "Notices"}
        found = page.xpath("//meta[@name='description']/@content")
        if name not in LISTS:
            assert len(found[0]) > 20 and "\\" not in found[0]
            assert page.xpath("//meta[@property='og:description']/@content") == found
            assert page.xpath("//meta[@property='og:title']/@content")[0].strip()


def test_a_lost_reader_finds_the_book_from_any_depth(pages, site):
    addresses = pages["404.html"].xpath("//@href | //@src | //@action")
    assert "/intro.html" in addresses
    assert [one for one in addresses if not re.match(r"[/#]|https:|data:", one)] == []
    assert (site / "robots.txt").read_text(encoding="utf-8").startswith("User-agent: *\nAllow: /\n")


# --------------------------------------------------------------------------------------------------- licences of others


def without_notice(static):
    files = [path.relative_to(static).as_posix() for path in static.rglob("*") if path.is_file()]
    return [
        file for file in files
        if not notices.holders(file) and not any(fnmatchcase(file, own) for own in notices.OWN)
    ]


def test_every_file_of_others_has_a_notice(site):
    assert without_notice(site / "_static") == []
    text = (site / "NOTICES.txt").read_text(encoding="utf-8")
    for name in notices.PARTS:
        if any(name in notices.holders(path.relative_to(site / "_static").as_posix())
               for path in (site / "_static").rglob("*")):
            assert f"\n{name} {metadata.version(name)}\n" in text
    for words in ("Permission is hereby granted", "Apache License", "STIX Font License", "SIL OPEN FONT LICENSE",
                  "Font Awesome Free", "Bootstrap v5", "clipboard.js", "Redistributions in binary form"):
        assert words in text


@pytest.mark.parametrize("name", notices.PARTS)
def test_a_package_brings_its_licence(name):
    said = "\n".join(notices.texts(name))
    assert re.search(r"copyright", said, re.IGNORECASE) and len(said) > 500


def test_files_are_told_to_come_from_the_package_that_has_them(site):
    """By their bytes: a file of an installed package is listed under its name."""
    known = {}
    for name in notices.PARTS:
        for path in metadata.distribution(name).files or ():
            if path.suffix in (".js", ".css", ".svg", ".png", ".txt", ".html") and "static" in str(path):
                known.setdefault(path.locate().read_bytes(), set()).add(name)
    files = [path for path in (site / "_static").rglob("*") if path.is_file() and path.read_bytes() in known]
    wrong = [path.name for path in files if not known[path.read_bytes()] & set(
        notices.holders(path.relative_to(site / "_static").as_posix()))]
    assert len(files) > 20 and wrong == []


def test_a_file_without_a_notice_is_found(tmp_path):
    for file in ("book/ours.js", "scripts/bootstrap.js", "scripts/jquery.js"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert without_notice(tmp_path) == ["scripts/jquery.js"]
