"""What Sphinx and an extension of it do a thousand times in a build of this book, done once; nothing else comes out."""
from __future__ import annotations

import functools
import gc

import pybtex.plugin
from sphinx.domains.std import StandardDomain

KEPT = 64                                        # documents in memory: pages refer to each other
ALLOCATIONS = 200_000                            # between two searches for garbage, which look through all of them


@functools.lru_cache(maxsize=KEPT)
def document(env, docname):
    """A document as it was read, to be looked at and not to be changed."""
    return env.get_doctree(docname)


class Remembering:
    """An environment that does not unpickle a whole document again for every numbered reference to a place in it."""

    def __init__(self, env):
        self.env = env

    def get_doctree(self, docname):
        return document(self.env, docname)

    def __getattr__(self, name):
        return getattr(self.env, name)


def remembering(resolve):
    @functools.wraps(resolve)
    def resolve_numref(self, env, *arguments):
        return resolve(self, Remembering(env), *arguments)
    return resolve_numref


def forget(*_):
    document.cache_clear()


def setup(app):
    gc.set_threshold(ALLOCATIONS, 20, 20)
    app.connect("env-before-read-docs", forget)
    app.connect("env-updated", forget)
    if not hasattr(StandardDomain._resolve_numref_xref, "__wrapped__"):
        StandardDomain._resolve_numref_xref = remembering(StandardDomain._resolve_numref_xref)
        # it searches all installed packages
        pybtex.plugin._load_entry_point = functools.cache(pybtex.plugin._load_entry_point)
