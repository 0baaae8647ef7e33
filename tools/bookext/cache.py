"""The name of the execution cache: it changes whenever a notebook could compute something else."""
from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

SOURCES = ("dplib", "provable_privacy", "data", "tools/bookext/ipython_kernel_config.py")
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib", "opendp")


def execution_key(root: Path) -> str:
    """A short hash of the package, the data, the kernel's configuration and the numerical libraries."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for path in sorted([root / source, *(root / source).rglob("*")]):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    for library in LIBRARIES:
        digest.update(f"{library} {metadata.version(library)}\n".encode())
    return digest.hexdigest()[:12]
