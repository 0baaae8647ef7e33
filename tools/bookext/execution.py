"""Run the notebooks that are not in the execution cache side by side, before Sphinx reads the pages one after the other.

A notebook that fails here is not cached: MyST-NB runs it once more where it reads the page, and reports it as it always does.
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

logger = logging.getLogger(__name__)


def side_by_side(app, env, docnames):
    cache = get_cache(app.config.nb_execution_cache_path)
    paths = [Path(env.doc2path(name)) for name in docnames]
    books = [(path, nbformat.read(path, as_version=4)) for path in paths if path.suffix == ".ipynb"]
    todo = [(path, nb) for path, nb in books if not is_cached(cache, nb)]
    if not todo:
        return
    workers = min(len(todo), os.cpu_count() or 1)
    logger.info(f"executing {len(todo)} notebooks, {workers} at a time")

    def run(path, nb):                           # the kernel is a process of its own: a thread that waits for it is enough
        return path, nb, single_nb_execution(nb, cwd=str(path.parent), timeout=app.config.nb_execution_timeout, allow_errors=False)

    with ThreadPoolExecutor(workers) as pool:
        for number, done in enumerate(as_completed([pool.submit(run, *one) for one in todo]), 1):
            path, nb, result = done.result()
            logger.info(f"executed {number} of {len(todo)}: {path.stem}, {result.time:.0f} s" + (" (fails)" if result.err else ""))
            if not result.err:
                join_streams(nb)
                cache.cache_notebook_bundle(CacheBundleIn(nb, str(path), data={"execution_seconds": result.time}), check_validity=False, overwrite=True)


def is_cached(cache, nb):
    with suppress(KeyError):
        return bool(cache.match_cache_notebook(nb))
    return False


def join_streams(nb):
    """Put together what a kernel sent in pieces: MyST-NB trims every piece, so that blank lines would come and go with its timing."""
    for cell in nb.cells:
        joined = []
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
                joined[-1].text += output.text
            else:
                joined.append(output)
        if "outputs" in cell:
            cell.outputs = joined
