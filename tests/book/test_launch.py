"""The address of the repository: buttons that lead where they say, none without it, and what a public host gets."""
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from bookext import launch
from bookext.plain import branch
from bs4 import BeautifulSoup
from sphinx.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}
MADE_UP = "https://github.com/a-university/provable.privacy"


@pytest.mark.parametrize(("url", "pages"), [
    (MADE_UP, "https://a-university.github.io/provable.privacy/"),
    (f"{MADE_UP}.git", "https://a-university.github.io/provable.privacy/"),
    ("https://github.com/Someone/someone.github.io/", "https://someone.github.io/"),
])
def test_an_address_tells_where_the_pages_are(url, pages):
    assert launch.repository(url).pages == pages


@pytest.mark.parametrize(
    "url",
    ["github.com/a/b", "https://github.com/a", "https://github.com/a/b/tree/main", "a book", "https://example.org/a/b"],
)
def test_what_is_no_address_is_refused_in_one_line(url):
    with pytest.raises(ConfigError) as refused:
        launch.repository(url)
    assert url in str(refused.value) and "\n" not in str(refused.value)


def test_without_an_address_there_is_no_button(site):
    assert launch.repository("") is None
    page = (site / "chapters/sparse_vector/streams.html").read_text(encoding="utf-8")
    assert not re.search("mybinder|colab|dropdown-source", page)


def test_a_hub_is_asked_to_fetch_the_notebooks():
    here = launch.repository(MADE_UP)
    places = launch.opened(here, "chapters/a/one", "https://hub.example.org/")
    assert list(places) == ["Binder", "Colab", "JupyterHub"]
    assert places["JupyterHub"] == (
        "https://hub.example.org/hub/user-redirect/git-pull"
        "?repo=https%3A%2F%2Fgithub.com%2Fa-university%2Fprovable.privacy"
        "&branch=notebooks&urlpath=lab%2Ftree%2Fprovable.privacy%2Fstudent%2Fchapters%2Fa%2Fone.ipynb"
    )
    with pytest.raises(ConfigError, match="book_hub: hub in _config.yml is no address"):
        launch.opened(here, "chapters/a/one", "hub")


def small_book(folder, url):
    """The book's own settings on two pages, built with an address."""
    (folder / "chapters/attacks").mkdir(parents=True)
    section = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# One\n\nWords.", id="one")])
    section.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(section, folder / "chapters/attacks/linkage.ipynb")
    (folder / "chapters/attacks/index.md").write_text("# Attacks\n\n[one](linkage.ipynb)\n", encoding="utf-8")
    (folder / "intro.md").write_text("# A book\n", encoding="utf-8")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\n"
        "chapters: [{file: chapters/attacks/index, sections: [{file: chapters/attacks/linkage}]}]\n",
        encoding="utf-8",
    )
    for name in ("tools", "references.bib", "dplib", "data", "requirements.txt", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config = re.sub(r'repository: \{url: ""', f'repository: {{url: "{url}"', config)
    (folder / "_config.yml").write_text(config, encoding="utf-8")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-n"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_with_an_address_a_section_opens_its_plain_notebook(tmp_path):
    said = small_book(tmp_path, MADE_UP)
    html = tmp_path / "_build/html"
    assert (html / ".nojekyll").exists(), said[-3000:]
    links = {}
    for page in ("chapters/attacks/linkage", "intro"):
        soup = BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
        links[page] = {
            " ".join(link.text.split()): link["href"] for link in soup.select(".dropdown-launch a, .dropdown-source a")
        }
    section = links["chapters/attacks/linkage"]
    assert section["Binder"].startswith(
        "https://mybinder.org/v2/gh/a-university/provable.privacy/notebooks"
        "?urlpath=lab%2Ftree%2Fstudent%2Fchapters"
    )
    assert section["Colab"].endswith(
        "/a-university/provable.privacy/blob/notebooks/student/chapters/attacks/linkage.ipynb"
    )
    assert section["Source of this page"] == f"{MADE_UP}/blob/main/chapters/attacks/linkage.ipynb"
    assert section["Report an error"].startswith(f"{MADE_UP}/issues/new?title=chapters%2Fattacks%2Flinkage")
    assert section["Repository"] == MADE_UP
    assert set(links["intro"]) == {"Source of this page", "Report an error", "Repository"}
    here = "https://a-university.github.io/provable.privacy"
    page = (html / "chapters/attacks/linkage.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{here}/chapters/attacks/linkage.html"' in page
    assert f'<meta property="og:url" content="{here}/chapters/attacks/linkage.html"' in page
    picture = re.search(r'<meta property="og:image" content="(.*?)"', page)[1]
    assert picture.startswith(here) and (html / picture.removeprefix(f"{here}/")).stat().st_size > 1000
    sitemap = (html / "sitemap.xml").read_text(encoding="utf-8")
    names = ["chapters/attacks/index", "chapters/attacks/linkage", "intro"]
    assert re.findall("<loc>(.*?)</loc>", sitemap) == [f"{here}/{name}.html" for name in names]
    assert f"Sitemap: {here}/sitemap.xml\n" in (html / "robots.txt").read_text(encoding="utf-8")
    lost = BeautifulSoup((html / "404.html").read_text(encoding="utf-8"), "html.parser")
    found = {one.get("href") or one.get("src") for one in lost.select("link[href], a[href], script[src], img[src]")}
    assert "/provable.privacy/intro.html" in found
    assert all(one.startswith(("/provable.privacy/", "#", "https://")) for one in found), found


def test_an_address_that_is_none_stops_the_build_with_one_line(tmp_path):
    said = small_book(tmp_path, "our server")
    assert re.search(
        r"repository: \{url: our server\} in _config.yml is no address like https://github.com/owner/name",
        " ".join(said.split()),
    )
    assert "Configuration error:" in said


# -------------------------------------------------------------------------------------------------------- a public host


def test_the_branch_for_binder_has_what_its_files_name(tmp_path):
    (tmp_path / "student/chapters/a").mkdir(parents=True)
    (tmp_path / "student/chapters/a/one.ipynb").write_text("{}", encoding="utf-8")
    wheel = tmp_path / "provable_privacy-1.0.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    made = branch(tmp_path, wheel)
    assert branch(tmp_path, wheel) == made
    files = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert files == {
        "student/chapters/a/one.ipynb", wheel.name, ".binder/requirements.txt", ".binder/runtime.txt", "README.md",
    }
    first = (made / ".binder/requirements.txt").read_text(encoding="utf-8").splitlines()[0]
    assert first == f"./{wheel.name}[sections]"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_only_calls_what_the_repository_has(name):
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    runs = [step["run"] for job in WORKFLOWS[name]["jobs"].values() for step in job["steps"] if "run" in step]
    assert {target for run in runs for target in re.findall(r"^make (\w+)", run)} <= targets
    assert all((ROOT / run.split()[0]).is_file() for run in runs if run.startswith("."))


def test_a_tag_publishes_what_the_commands_make():
    build = WORKFLOWS["publish.yml"]["jobs"]["build"]["steps"]
    made = [step["run"] for step in build if step.get("run", "").startswith("make")]
    assert made == ["make release"] and "release: book notebooks pdf" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert WORKFLOWS["publish.yml"][True] == {"push": {"tags": ["v*"]}}          # YAML reads `on` as true
    assert WORKFLOWS["tests.yml"]["jobs"]["tests"]["steps"][-1] == {"run": ".ci/run"}


def test_the_version_is_the_same_wherever_it_has_to_stand():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+), (\d{4}-\d\d-\d\d|not yet published)$", changes, re.MULTILINE)
    about = set(re.findall(r"[Vv]ersion (\d[\d.]*\d)", (ROOT / "reference/about.md").read_text(encoding="utf-8")))
    assert citation["version"] == newest[1] == version and about == {version}
    assert newest[2] in (str(citation["date-released"]), "not yet published")


def test_the_pages_tell_the_version(site):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"Provable Privacy {version}" in (site / "chapters/sparse_vector/streams.html").read_text(encoding="utf-8")
