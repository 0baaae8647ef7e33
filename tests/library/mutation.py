"""Run tests of dplib against a changed copy of it, in a process that has imported everything but dplib.

The standard library's fork server is the warm process: each worker starts it once, it imports WARM, and it is forked
for every mutant.
Where there is no fork (Windows), "spawn" does the same, slower.
"""
import multiprocessing
import os
import shutil
import sys
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parents[1] / "dplib"
WARM = ["pytest", "hypothesis.strategies", "hypothesis.extra.numpy", "mpmath", "numpy", "pandas", "scipy.fft",
        "scipy.integrate", "scipy.optimize", "scipy.special", "scipy.stats", "opendp.prelude",
        "dp_accounting.gaussian_mechanism", "dp_accounting.pld.privacy_loss_distribution",
        "riskcal.analysis.conversions"]
SETTINGS = "[pytest]\nfilterwarnings = error\nmarkers =\n    long\n    slow\n"
LONGEST = 300                                    # seconds: a mutant may never end

FORKS = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT = multiprocessing.get_context("forkserver" if FORKS else "spawn")
CONTEXT.set_forkserver_preload(WARM)


def run_tests(folder, killers, change=lambda package: None):
    """Run tests against a copy of dplib in `folder`, changed by `change`: pytest's exit code, and what it wrote."""
    shutil.copytree(PACKAGE, folder / "dplib")       # its bytecode holds for what is not changed
    (folder / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    change(folder / "dplib")
    process = CONTEXT.Process(target=_pytest, args=(folder, killers))
    process.start()
    process.join(LONGEST)
    if process.is_alive():
        process.kill()
        process.join()
        raise AssertionError(f"no end after {LONGEST} s")
    return process.exitcode, (folder / "output").read_text(encoding="utf-8")


def _pytest(folder, killers):
    with (folder / "output").open("w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "250"}
    # of a main program that has imported it
    for name in [name for name in sys.modules if name.partition(".")[0] == "dplib"]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    import hypothesis
    import pytest

    import dplib

    assert Path(dplib.__file__).parent == folder / "dplib", f"the mutant is not imported, but {dplib.__file__}"
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]       # a counterexample need not be a small one
    hypothesis.settings.register_profile("mutants", phases=phases)
    hypothesis.settings.load_profile("mutants")
    options = ["-x", "-q", "-p", "no:cacheprovider", "--noconftest", "-c",
               str(folder / "pytest.ini"), "--rootdir", str(TESTS)]
    sys.exit(int(pytest.main([*options, *(str(TESTS / killer) for killer in killers)])))
