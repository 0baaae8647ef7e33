"""What an execution of a notebook rests on: the package for all notebooks, and for each one the checkers that it calls.

The name of the cache's folder changes with what all notebooks share. A checker serves one notebook: the hash of its
module, and of what that imports, stands with the execution. A changed checker lets one notebook run again, no other.
"""
from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections import defaultdict
from contextlib import suppress
from importlib import metadata
from importlib.util import resolve_name
from pathlib import Path

from jupyter_cache import get_cache

SOURCES = ("dplib", "provable_privacy", "data", "tools/bookext/ipython_kernel_config.py")
CHECK = "provable_privacy/check"
LOCALE = "provable_privacy/locale"
UNREAD = (".md", ".po")
PAGES = (
    "chapters", "course", "reference", "tools", "intro.ipynb", "references.bib", "_config.yml", "_toc.yml",
    "pyproject.toml", "requirements.txt",
)
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib", "opendp")
DEFINED = re.compile(r"^(?:def |class )?([a-z]\w*)(?: *=|[(:])", re.MULTILINE)          # at the top of a module
CALLED = re.compile(r"(?<![\w.])check\.(\w+)")
IMPORTING = re.compile(r"provable_privacy\.check|from +\.")
CHECKERS = "checkers"                            # the name of their hash in the record of an execution


def digest_of(paths, root: Path):
    """A hash of files, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest


def files(root: Path, sources) -> list[Path]:
    found = [path for source in sources for path in [root / source, *(root / source).rglob("*")]]
    return [path for path in found if path.is_file() and path.suffix != ".pyc"]


def execution_key(root: Path) -> str:
    """A short hash of the package, the data, the kernel's configuration and numerical libraries.

    No checker is in it, and no data sheet or translation, which no notebook reads.
    """
    found = [path for path in files(root, SOURCES) if root / CHECK not in path.parents and path.suffix not in UNREAD]
    digest = digest_of(found, root)
    for library in LIBRARIES:
        digest.update(f"{library} {metadata.version(library)}\n".encode())
    return digest.hexdigest()[:12]


def book_key(root: Path, made: str = "html") -> str:
    """A hash of all that the pages of an edition are made from."""
    sources = [CHECK, *PAGES, *(["locale", LOCALE] if made.startswith("zh") else [])]
    return execution_key(root) + digest_of(set(files(root, sources)), root).hexdigest()


def note_of(made: Path) -> Path:
    """Where it stands from which sources a folder of pages was made."""
    return made.with_suffix(".built")


def is_built(root: Path, made: str) -> bool:
    """Whether a folder in _build was made from the sources as they are, without a warning."""
    folder = root / "_build" / made
    note = note_of(folder)
    return folder.is_dir() and note.exists() and note.read_text(encoding="utf-8") == book_key(root, made)


def cache_folder(root: Path, build: Path) -> Path:
    return build / f".jupyter_cache-{execution_key(root)}"


class Checkers:
    """The modules of checkers: what each defines, and which others it imports."""

    def __init__(self, root: Path):
        self.root, self.homes, self.imports = root, defaultdict(set), {}
        paths = sorted((root / CHECK).rglob("*.py"))
        names = [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]
        self.modules = {name.removesuffix(".__init__"): path for name, path in zip(names, paths)}
        for name, path in zip(names, paths):
            text = path.read_text(encoding="utf-8")
            self.imports[path] = self.imported_by(text, name.rpartition(".")[0])
            for defined in DEFINED.findall(text):
                self.homes[defined].add(path)

    def imported_by(self, code: str, package: str = "") -> set[Path]:
        """The modules among these that a piece of code imports."""
        names = set()
        for node in ast.walk(ast.parse(code)) if IMPORTING.search(code) else ():
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                module = resolve_name("." * node.level + (node.module or ""), package)
                inside = {f"{module}.{alias.name}" for alias in node.names}
                names |= {name if name in self.modules else module for name in inside}
        return {self.modules[name] for name in names & self.modules.keys()}

    def used_by(self, code: str) -> set[Path]:
        """The modules whose checkers a notebook calls, and all that these import; every one if that is not clear."""
        called = set(CALLED.findall(code))
        if not called <= self.homes.keys():
            return {*self.imports}
        todo = self.imported_by(code) - {self.root / CHECK / "__init__.py"}            # which is `check` itself
        todo |= {path for name in called for path in self.homes[name]}
        found = set()
        while todo:
            path = todo.pop()
            found.add(path)
            todo |= self.imports[path] - found
        return found

    def hash_for(self, nb) -> str:
        """A hash of the checkers that a notebook calls."""
        code = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "code")
        return digest_of(self.used_by(code), self.root).hexdigest()[:12]


def fresh(cache, nb, checkers: Checkers):
    """The record of the execution of these very cells with these very checkers, or None."""
    with suppress(KeyError):
        record = cache.match_cache_notebook(nb)
        if record.data.get(CHECKERS) == checkers.hash_for(nb):
            return record
    return None


def executed(folder: Path, nb, checkers: Checkers):
    """The notebook as the book's build has executed it, or None where that is missing or stale."""
    if not folder.is_dir():
        return None
    cache = get_cache(folder)
    record = fresh(cache, nb, checkers)
    return record and cache.get_cache_bundle(record.pk).nb


def main():
    """Say that there is nothing to build, if so: `make book` asks."""
    if is_built(Path(__file__).resolve().parents[2], "html"):
        print("The pages in _build/html are those of the sources: nothing to build.")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
