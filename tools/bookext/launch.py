"""Which version this is, where to run a section, and where its source is: from the address in ``_config.yml``.

Without an address of the repository there is no button. With one, Binder, Colab and a hub open the *plain* notebook, on
the branch ``notebooks`` that is published beside the pages: the sources are full of boxes that only the built book and
JupyterLab with a plug-in read.
"""
from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

from sphinx.errors import ConfigError

from bookext.translation.spoken import say

BRANCH = "notebooks"                             # of the plain notebooks: student/chapters/..., .binder/, the wheel
ADDRESS = re.compile(r"https://github\.com/(?P<owner>[\w-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")
HUB = re.compile(r"https?://[^\s/]+(?:/\S*)?")


class Repository(NamedTuple):
    owner: str
    name: str

    @property
    def url(self) -> str:
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def pages(self) -> str:
        """Where GitHub shows what is published."""
        host = f"https://{self.owner.lower()}.github.io"
        return f"{host}/" if self.name.lower() == f"{self.owner.lower()}.github.io" else f"{host}/{self.name}/"


def repository(url: str) -> Repository | None:
    """What stands under ``repository: {url: ...}``; None if it is empty."""
    if not url:
        return None
    if not (match := ADDRESS.fullmatch(url.strip())):
        raise ConfigError(f"repository: {{url: {url}}} in _config.yml is no address like https://github.com/owner/name")
    return Repository(match["owner"], match["name"])


def opened(here: Repository, section: str, hub: str = "") -> dict[str, str]:
    """Where a section can be run: the name of the place -> the address."""
    path = f"student/{section}.ipynb"
    query = urlencode({"urlpath": f"lab/tree/{path}"})
    places = {
        "Binder": f"https://mybinder.org/v2/gh/{here.owner}/{here.name}/{BRANCH}?{query}",
        "Colab": f"https://colab.research.google.com/github/{here.owner}/{here.name}/blob/{BRANCH}/{quote(path)}",
    }
    if hub:
        if not HUB.fullmatch(hub):
            raise ConfigError(f"book_hub: {hub} in _config.yml is no address like https://hub.example.org")
        wanted = {"repo": here.url, "branch": BRANCH, "urlpath": f"lab/tree/{here.name}/{path}"}
        places["JupyterHub"] = f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{urlencode(wanted)}"
    return places


def sources(here: Repository, branch: str, docname: str, suffix: str) -> dict[str, str]:
    report = urlencode(
        {"title": f"{docname}: ", "body": "The sentence, figure or exercise:\n\nWhat is wrong with it:\n"}
    )
    return {
        say("Source of this page"): f"{here.url}/blob/{quote(branch)}/{quote(docname + suffix)}",
        say("Report an error"): f"{here.url}/issues/new?{report}",
        say("Repository"): here.url,
    }


def menu(label: str, tooltip: str, icon: str, links: dict[str, str]) -> dict:
    buttons = [
        {"type": "link", "text": name, "url": url, "label": f"{label}-{number}"}
        for number, (name, url) in enumerate(links.items(), 1)
    ]
    return {"type": "group", "label": label, "tooltip": tooltip, "icon": icon, "buttons": buttons}


def configure(app, config):
    options = config.html_theme_options
    options["extra_footer"] = options.get("extra_footer") or f"<p>{config.html_title} {version(Path(app.srcdir))}</p>"
    here = repository(options.get("repository_url", ""))
    if here and not config.html_baseurl:
        config.html_baseurl = here.pages


def version(root: Path) -> str:
    """The version of the book, which is that of its package."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def add_buttons(app, pagename, templatename, context, doctree):
    options = app.config.html_theme_options
    here = repository(options.get("repository_url", ""))
    if not here or not context.get("page_source_suffix"):
        return
    suffix, added = context["page_source_suffix"], []
    if suffix == ".ipynb" and pagename.startswith("chapters/"):
        places = opened(here, pagename, app.config.book_hub)
        added.append(menu("launch", say("Run this section"), "fas fa-rocket", places))
    links = sources(here, options.get("repository_branch") or "main", pagename, suffix)
    added.append(menu("source", say("Source and errors"), "fas fa-code-branch", links))
    context["header_buttons"][:0] = added


def setup(app):
    app.add_config_value("book_hub", "", "html", str)
    app.connect("config-inited", configure, priority=50)
    app.connect("html-page-context", add_buttons, priority=900)
