"""Run the notebooks that are not in the execution cache side by side, before Sphinx reads the pages one by one.

A notebook that fails here is not cached: MyST-NB runs it once more where it reads the page, and reports it.
"""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from sphinx.util import logging

from bookext import translation
from bookext.cache import CHECKERS, Checkers, fresh

logger = logging.getLogger(__name__)


def notebooks(app, env, docnames):
    """Name of a page -> its file and its notebook, as this edition reads it, of those pages that are notebooks."""
    paths = {name: Path(env.doc2path(name)) for name in docnames}
    is_translated = translation.is_translated(app)

    def source(name, path):
        text = path.read_text(encoding="utf-8")
        return translation.read(name, text) if is_translated else text
    return {
        name: (path, nbformat.reads(source(name, path), as_version=4))
        for name, path in paths.items() if path.suffix == ".ipynb"
    }


def outdated(app, env, added, changed, removed):
    """The pages that nobody changed, but whose cells or checkers ask for another execution."""
    if app.config.nb_execution_mode == "off":    # a learner's copy is made without running anything
        return []
    cache, app.checkers = get_cache(app.config.nb_execution_cache_path), Checkers(Path(app.srcdir))
    others = notebooks(app, env, env.found_docs - added - changed - removed)
    return [name for name, (_, nb) in others.items() if not fresh(cache, nb, app.checkers)]


def side_by_side(app, env, docnames):
    if app.config.nb_execution_mode != "off":
        books = notebooks(app, env, docnames).values()
        execute(books, get_cache(app.config.nb_execution_cache_path), app.checkers, app.config.nb_execution_timeout)


def execute(books, cache, checkers, timeout):
    """Run those notebooks that the cache does not have, and keep what they say."""
    todo = [(path, nb) for path, nb in books if not fresh(cache, nb, checkers)]
    if not todo:
        return
    workers = min(len(todo), os.cpu_count() or 1)
    logger.info(f"executing {len(todo)} notebooks, {workers} at a time")

    def run(path, nb):                           # the kernel is a process of its own: a thread waits for it
        options = {"cwd": str(path.parent), "timeout": timeout, "allow_errors": False}
        return path, nb, single_nb_execution(nb, **options)

    for _, nb in todo:
        drop(cache, nb)
    with ThreadPoolExecutor(workers) as pool:
        for number, done in enumerate(as_completed([pool.submit(run, *one) for one in todo]), 1):
            path, nb, result = done.result()
            fails = " (fails)" if result.err else ""
            logger.info(f"executed {number} of {len(todo)}: {path.stem}, {result.time:.0f} s{fails}")
            if not result.err:
                join_streams(nb)
                facts = {"execution_seconds": result.time, CHECKERS: checkers.hash_for(nb)}
                bundle = CacheBundleIn(nb, str(path), data=facts)
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def drop(cache, nb):
    """Forget a stale execution: if the notebook fails now, its page must not show what it said before."""
    with suppress(KeyError):
        cache.remove_cache(cache.match_cache_notebook(nb).pk)


def join_streams(nb):
    """Put together what a kernel sent in pieces: MyST-NB trims each piece, and blank lines would come and go."""
    for cell in nb.cells:
        joined = []
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
                joined[-1].text += output.text
            else:
                joined.append(output)
        if "outputs" in cell:
            cell.outputs = joined
