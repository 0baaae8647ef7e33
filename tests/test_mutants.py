"""Bugs made by hand, each of which the named tests must notice: a suite that cannot fail proves nothing.

Every mutant is one replacement in a copy of dplib; its test file runs against that copy and has to fail by an assertion.
`python tests/test_mutants.py` prints who was killed by which test, after showing that the unharmed copy survives.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from dplib.svt import VARIANTS

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "dplib"


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    killer: str


def mutant(name, file, old, new):
    """A mutant of dplib/<file>.py, to be killed by the tests of its module."""
    tests = {"svt/mechanism": "svt", "svt/law": "svt", "svt/museum": "museum"}.get(file, file)
    return Mutant(name, f"{file}.py", old, new, f"test_{tests}.py")


ALGORITHM_1 = "    return _scan(answers, finite(\"threshold\", threshold), noise, c, np.random.default_rng(rng))[0]\n"


def imposter(variant):
    """A variant of the museum in the place of `above_threshold`, to be unmasked by its law alone."""
    instead = (
        "    from dplib.svt.museum import run_variant\n"
        "    answers = np.asarray(list(answers), dtype=float) / sensitivity\n"
        f"    return np.flatnonzero(run_variant({variant!r}, answers, threshold / sensitivity, epsilon=epsilon, c=c, rng=rng)[0] == 1)\n"
    )
    return Mutant(f"{variant} for alg1", "svt/mechanism.py", ALGORITHM_1, instead, "test_museum.py::test_above_threshold_has_the_law_of_algorithm_1")


MUTANTS = [
    mutant("the dots joined in epsilon", "fdp", "(rise[1:] - math.exp(step) * rise[:-1]) / math.expm1(step)", "(rise[1:] - rise[:-1]) / step"),
    mutant("round-off and tails forgotten", "fdp", "4 * _TAIL + _ROUNDING * total, infinite", "0.0, infinite"),
    mutant("subsampling amplifies twice", "fdp", "return p * ahead.delta(epsilon + np", "return p * p * ahead.delta(epsilon + np"),
    mutant("the curve from one half of its supporting lines", "fdp", "(-min(self.back.reach, 700), min(", "(0.0, min("),
    mutant("the product of one direction stands for both", "fdp", "back = ahead if all(f.symmetric for f, _ in flat) else", "back = ahead if flat else"),
    mutant("Berry-Esseen with the moment about zero", "fdp", "((2, 0), (3, 0), (3, kl))", "((2, 0), (3, 0), (3, 0))"),
    mutant("trade-off functions judged in one direction", "budget", "return max(f.epsilon(delta), f.inverse().epsilon(delta))",
           "return f.inverse().epsilon(delta)"),
    mutant("a block under replace pays for one trade-off function", "budget", 'if adjacency == "replace" and len(inside) > 1:',
           'if adjacency == "replace" and len(inside) > 9:'),
    mutant("Laplace scale halved", "mechanisms",
           'scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)',
           'scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon) / 2'),
    mutant("geometric noise from one side only", "mechanisms", "- rng.geometric(p, value.shape)", "- 1"),
    mutant("classic sigma for every epsilon", "mechanisms", "if epsilon > 1:", "if epsilon > 100:"),
    mutant("discrete Gaussian without rejection", "mechanisms", "rng.random(proposal.size) < chance", "rng.random(proposal.size) < 2"),
    mutant("exponential mechanism without the 2", "mechanisms", "(1 if monotone else 2)", "(1 if monotone else 1)"),
    mutant("noisy maximum of scale 1/epsilon", "mechanisms", '"laplace": lambda rng, shape: rng.laplace(size=shape)',
           '"laplace": lambda rng, shape: rng.laplace(scale=0.5, size=shape)'),
    mutant("histogram sensitivity 1 under replace", "sensitivity", "else 2.0 ** (1 / norm)", "else 1.0"),
    mutant("sum sensitivity without the lower bound", "sensitivity", "return max(abs(low), abs(high)) if", "return abs(high) if"),
    mutant("clip lets a nan through", "sensitivity", "nan=low, posinf", "nan=np.nan, posinf"),
    mutant("brute force forgets removal", "sensitivity", " + [table[:i] + table[i + 1 :] for i in range(len(table))]", ""),
    mutant("delta ignored", "budget", "> self.delta * (1 + _TOLERANCE)", "> 1"),
    mutant("charged before the check", "budget", "str(label), self._open)\n",
           "str(label), self._open)\n        self.ledger.append(entry)\n"),
    mutant("a parallel block under replace charges its maximum", "budget", 'costs[: 1 if adjacency == "add/remove" else 2]', "costs[:1]"),
    mutant("no tolerance for rounding", "budget", "_TOLERANCE = 1e-12", "_TOLERANCE = 0.0"),
    mutant("advanced rule charges half the squares", "budget", "squares = math.fsum(loss**2 for loss in losses)",
           "squares = math.fsum(loss**2 for loss in losses) / 2"),
    mutant("delta of a sensitivity that divides", "mechanisms", 'positive("sigma", sigma) / positive("sensitivity", sensitivity)\n    return min',
           'positive("sigma", sigma) * positive("sensitivity", sensitivity)\n    return min'),
    mutant("the Gaussian's delta rounded down", "mechanisms", "* (1 + 1e-15))", "* (1 - 1e-15))"),
    mutant("optimal composition rounded down", "budget", "rounding = 1e-15 *", "rounding = -1e-15 *"),
    mutant("optimal composition without the other side", "budget",
           "log_excess = log_above + np.log1p(-np.exp(np.minimum(math.log(delta) - log_above, 0.0)))", "log_excess = log_above"),
    mutant("optimal composition of one release fewer", "budget", "losses = (k - 2 * lies)", "losses = (k - 1 - 2 * lies)"),
    mutant("Renyi to epsilon as if alpha delta were delta", "budget", "-(math.log(delta) + np.log1p(excess)) / excess", "-math.log(delta) / excess"),
    mutant("Renyi to epsilon with a logarithm too many", "budget", "/ excess - np.log1p(1 / excess)", "/ excess - 2 * np.log1p(1 / excess)"),
    mutant("the order of Bun and Steinke", "budget", " + np.logaddexp(0.0, log_excess) + math.log(delta)", " + math.log(delta)"),
    mutant("mu for sigma", "budget", "log_gaussian_delta(1 / max(mu, 1e-300), epsilon)", "log_gaussian_delta(max(mu, 1e-300), epsilon)"),
    mutant("zCDP of a bounded range", "budget", "return epsilon * epsilon / 2", "return epsilon * epsilon / 8"),
    mutant("Renyi divergence of twice the variance", "budget", "order * (mu * mu / 2)", "order * (mu * mu / 4)"),
    mutant("delta in one direction only", "distributions", "for one, other in ((p, q), (q, p))", "for one, other in ((p, q),)"),
    mutant("e^epsilon cut off where doubles end", "distributions", "min(epsilon, 1400.0)", "min(epsilon, 700.0)"),
    mutant("impossible on D overlooked", "distributions", "math.inf if np.any((p == 0) & (q > 0)) else float(", "float("),
    mutant("losses with the chances on D'", "distributions", "np.log(q[possible]), p[possible]", "np.log(q[possible]), q[possible]"),
    mutant("nan passes for a probability", "distributions", "not np.all(law >= 0) or not abs(law.sum() - 1) < _ROUNDING",
           "np.any(law < 0) or abs(law.sum() - 1) > _ROUNDING"),
    mutant("one coin for all names", "distributions", "np.random.default_rng(rng).random(len(records)) < delta",
           "np.full(len(records), np.random.default_rng(rng).random()) < delta"),
    mutant("the catastrophe is the rule", "distributions", '.random() < probability("delta"', '.random() > probability("delta"'),
    mutant("one tag too many", "distributions", 'whole("tags", tags, least=1)))', 'whole("tags", tags, least=1) + 1))'),
    mutant("a lie may be the truth", "local", "rng.integers(1, k, values.shape)", "rng.integers(0, k, values.shape)"),
    mutant("k values lie like two", "local", "return (k - 1) / (math.exp(min(epsilon, 700.0)) + k - 1)", "return 1 / (math.exp(min(epsilon, 700.0)) + 1)"),
    mutant("one coin for all people", "local", "rng.random(values.shape) < _lying", "np.full(values.shape, rng.random()) < _lying"),
    mutant("out of range wraps around", "local", "np.clip(values, np.int64(0), np.int64(k - 1))", "np.mod(values, k)"),
    mutant("lies are not taken out", "local", "minlength=k) / reports.size - lie) / gap", "minlength=k) / reports.size) / gap"),
    mutant("the error of a sample without coins", "local", "variance = (inside * truth * (1 - truth) + (1 - inside) * lie * (1 - lie))",
           "variance = inside * (1 - inside)"),
    mutant("truth minus lie cancels", "local", "lie * math.expm1(min(epsilon, 700.0))", "1 - k * lie"),
    mutant("empty bins get no noise", "histograms", "    return mechanisms.laplace(counts, sensitivity=step, epsilon=epsilon, rng=rng)\n",
           "    return np.where(counts > 0, mechanisms.laplace(counts, sensitivity=step, epsilon=epsilon, rng=rng), 0)\n"),
    mutant("whole noise for add/remove under replace", "histograms", "sensitivity=int(step)", "sensitivity=1"),
    mutant("clipped and rescaled is no projection", "histograms", "    return np.maximum(v - _water_level(v, total), 0.0)\n",
           "    return total * np.maximum(v, 0) / max(np.maximum(v, 0).sum(), 1e-9)\n"),
    mutant("rounding up in the order of the bins", "histograms", "np.argsort(-fraction, kind", "np.argsort(0 * fraction, kind"),
    mutant("a choice of bins charged for the coarsest", "histograms", "2 * (n + 1) * max(candidates)", "2 * (n + 1) * min(candidates)"),
    mutant("a tree that pays for one level", "histograms", "sensitivity=one_level * len(levels)", "sensitivity=one_level"),
    mutant("children and parent averaged evenly", "histograms", "(own * level + below * best", "(below * level + own * best"),
    mutant("a range from leaves only", "histograms", "if first >= last or level.size == 1:", "if True:"),
    mutant("every column costs epsilon", "synthetic", 'each = positive("epsilon", epsilon) / len(shape)', 'each = positive("epsilon", epsilon)'),
    mutant("edges chosen without noise", "synthetic", "pairs[mechanisms.exponential(distances, sensitivity=step, epsilon=third / (d - 1), rng=rng)]",
           "pairs[int(np.argmax(distances))]"),
    mutant("the product's total forgotten under add/remove", "synthetic", '(0 if adjacency == "replace" else 1)', "0"),
    mutant("pandas' own look-up", "synthetic", "_codes(df[column], _places(domain))",
           "pd.Index(list(domain)).get_indexer(df[column].map(lambda cell: cell if pd.api.types.is_scalar(cell) else None))"),
    mutant("a child drawn without its parent", "synthetic", "rows / rows.sum(axis=1, keepdims=True), axis=1)", "np.ones((len(rows), 1)) * fallback, axis=1)"),
    mutant("mwem asks and measures at the full share", "synthetic", "/ (2 * rounds), counts.sum()", "/ rounds, counts.sum()"),
    mutant("mwem starts from the truth", "synthetic", "np.full(counts.size, n / counts.size)", "np.maximum(counts, 1e-9)"),
    mutant("weights squared", "synthetic", "p=(weights / weights.sum()).ravel()", "p=(weights**2 / (weights**2).sum()).ravel()"),
    mutant("missing quasi-identifiers share the first value's class", "anonymity",
           "np.where(code < 0, len(values), code), values", "np.where(code < 0, 0, code), values"),
    mutant("recursive diversity with <= for <", "anonymity", "c * tails > ascending[:, -1:]", "c * tails >= ascending[:, -1:]"),
    mutant("ordered distance divided by m", "anonymity", "/ max(len(overall) - 1, 1)", "/ len(overall)"),
    mutant("total variation without the half", "anonymity", "np.abs(excess).sum(axis=1) / 2", "np.abs(excess).sum(axis=1)"),
    mutant("Mondrian gives up after the widest dimension", "anonymity", "    return None\n\n\ndef _texts", "        break\n    return None\n\n\ndef _texts"),
    mutant("a range hides its missing values", "anonymity", '", ".join(parts + ["?"] * missing)', '", ".join(parts or ["?"])'),
    mutant("the first minimal choice is taken", "anonymity", "best = min(minimal, key=lambda node: (loss(node), minimal[node], node))",
           "best = next(iter(minimal))"),
    mutant("suppression counts classes, not rows", "anonymity", "small = int(merged[merged < k].sum())", "small = int((merged < k).sum())"),
    mutant("link by the first of several equal keys", "attacks", "drop_duplicates(keep=False)", "drop_duplicates()"),
    mutant("the best is believed without standing out", "attacks", "Match(best if eccentricity > threshold else None,", "Match(best,"),
    mutant("the difference leaves the target in", "attacks", "- ask(group & ~target)", "- ask(group)"),
    mutant("the tracker subtracts its padding twice", "attacks", "- ask(padding) - ask(~padding)", "- 2 * ask(padding)"),
    mutant("bits measured from 0 and not from 1/2", "attacks", "answers - queries.sum(axis=1) / 2 ", "answers - 0 * queries.sum(axis=1) "),
    mutant("the variance of the score without p(1-p)", "attacks", "known @ (population * (1 - population) * shift**2)", "known @ shift**2"),
    mutant("tied scores pass one by one", "attacks", "np.unique(np.concatenate(scores))[::-1]", "np.sort(np.concatenate(scores))[::-1]"),
    mutant("union for intersection", "attacks", "left &= candidates[label]", "left |= candidates[label]"),
    mutant("threshold noise redrawn in every block", "svt/mechanism", "    for block in _blocks(answers):\n",
           "    for block in _blocks(answers):\n        threshold += rng.laplace(scale=noise.threshold) if start else 0\n"),
    mutant("one positive answer too many", "svt/mechanism", ">= threshold)[:c]", ">= threshold)[:c + 1]"),
    mutant("query noise 2/epsilon", "svt/mechanism", "c if monotone else 2 * c", "c if monotone else c"),
    mutant("query noise without c", "svt/mechanism", "factor * sensitivity / for_queries", "(1 if monotone else 2) * sensitivity / for_queries"),
    mutant("optimal split with exponent 1/3", "svt/mechanism", "factor ** (2 / 3)", "factor ** (1 / 3)"),
    mutant("released value is the compared one", "svt/mechanism",
           '    indices, exact = _scan(answers, finite("threshold", threshold), noise, c, rng)\n'
           "    return indices, exact + rng.laplace(scale=noise.value, size=exact.size)\n",
           "    noisy = np.array(list(answers)) + rng.laplace(scale=noise.value, size=len(answers))\n"
           "    indices = np.flatnonzero(noisy >= threshold + rng.laplace(scale=noise.threshold))[:c]\n"
           "    return indices, noisy[indices]\n"),
    mutant("indices start again in every block", "svt/mechanism", "indices.append(start + passed)", "indices.append(passed)"),
    mutant("the conversation never halts", "svt/mechanism", "self._left -= passed", "self._left -= 0"),
    mutant("tested on the runs that chose the event", "audit",
           "    event, swapped = _choose_event(_draw(run, d, n // 2, rng), _draw(run, d2, n // 2, rng), delta)\n"
           "    k1, k2 = (int(event(_draw(run, data, rng.poisson(n / 2), rng)).sum()) for data in (d, d2))\n",
           "    draws = _draw(run, d, n // 2, rng), _draw(run, d2, n // 2, rng)\n"
           "    event, swapped = _choose_event(*draws, delta)\n"
           "    k1, k2 = (int(event(outputs).sum()) for outputs in draws)\n"),
    mutant("point estimate for a bound", "audit", "betaincinv(np.maximum(k1, 1), k2 + 1, alpha)", "k1 / np.maximum(k1 + k2, 1)"),
    mutant("Clopper-Pearson at the whole error on each side", "audit", "confidence, zero=False)) / 2", "confidence, zero=False))"),
    mutant("direction of the event forgotten", "audit", "    if swapped:\n        k1, k2 = k2, k1\n", ""),
    mutant("each reply counts once, however often it is given", "svt/law",
           "total = total + times * log_laplace_cdf((pair", "total = total + log_laplace_cdf((pair"),
    mutant("quadrature without the corner at the threshold", "svt/law", "np.unique(np.append(answers, threshold))", "np.unique(answers)"),
    mutant("a redrawn threshold is not redrawn", "svt/museum", "    if variant.redraws:  ", "    if False:  "),
    mutant("Lee and Clifton's noise mended by mistake", "svt/museum", "query=lambda e, c: 4 / (3 * e)", "query=lambda e, c: 4 * c / e"),
    mutant("the loss has the wrong sign", "svt/museum", "return one - two", "return two - one"),
    *(imposter(name) for name in VARIANTS if name not in ("alg1", "reused_value")),      # which has alg1's replies: see the released value above
]  # fmt: skip

CONFTEST = """
from pathlib import Path
import dplib
assert Path(dplib.__file__).parent == Path(__file__).parent / "dplib", f"the mutant is not imported, but {dplib.__file__}"
"""


def run_tests(folder, killer, change=lambda package: None):
    """Run one test file against a copy of dplib, changed by `change`; return the finished process."""
    ignore = shutil.ignore_patterns("__pycache__", "teaching")
    shutil.copytree(PACKAGE, folder / "dplib", ignore=ignore)
    for name in (killer.split("::")[0], "laws.py"):
        shutil.copy(TESTS / name, folder)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    change(folder / "dplib")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "250"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", killer]
    return subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def kill(mutant, folder):
    """Name of the test that killed the mutant; AssertionError if none did, or not by an assertion."""

    def change(package):
        path = package / mutant.file
        text = path.read_text()
        assert text.count(mutant.old) == 1, f"{mutant.file} holds this {text.count(mutant.old)} times: {mutant.old}"
        path.write_text(text.replace(mutant.old, mutant.new))

    process = run_tests(folder, mutant.killer, change)
    report = process.stdout[-3000:] + process.stderr[-1000:]
    assert process.returncode == 1, f"pytest ended with {process.returncode}, not with a failed test\n{report}"
    failure = re.search(r"^FAILED \S*?::(.+?) - (assert|AssertionError|Failed: DID NOT RAISE)", process.stdout, flags=re.MULTILINE)
    assert failure, f"killed, but not by an assertion\n{report}"
    return failure[1]


def mutants_of(file):
    return pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.file == file], ids=lambda mutant: mutant.name)


class Mutated:                                   # one class for each module, so that workers can share them
    def test_is_killed(self, mutant, tmp_path, record_property):
        start = time.perf_counter()
        record_property("table", [f"{mutant.killer}  {kill(mutant, tmp_path)}  {time.perf_counter() - start:.1f} s"])


@mutants_of("mechanisms.py")
class TestMechanisms(Mutated):
    pass


@mutants_of("sensitivity.py")
class TestSensitivity(Mutated):
    pass


@mutants_of("budget.py")
class TestBudget(Mutated):
    pass


@mutants_of("distributions.py")
class TestDistributions(Mutated):
    pass


@mutants_of("local.py")
class TestLocal(Mutated):
    pass


@mutants_of("fdp.py")
class TestFdp(Mutated):
    pass


@mutants_of("histograms.py")
class TestHistograms(Mutated):
    pass


@mutants_of("synthetic.py")
class TestSynthetic(Mutated):
    pass


@mutants_of("anonymity.py")
class TestAnonymity(Mutated):
    pass


@mutants_of("attacks.py")
class TestAttacks(Mutated):
    pass


@mutants_of("svt/mechanism.py")
class TestSvt(Mutated):
    pass


@mutants_of("svt/law.py")
class TestLaw(Mutated):
    pass


@mutants_of("svt/museum.py")
class TestMuseum(Mutated):
    pass


def test_algorithm_1_is_no_imposter(tmp_path):
    """The control: the museum's own Algorithm 1 in the same place survives the law that unmasks the others."""
    control = imposter("alg1")

    def change(package):
        path = package / control.file
        path.write_text(path.read_text().replace(control.old, control.new))

    assert run_tests(tmp_path, control.killer, change).returncode == 0


@mutants_of("audit.py")
class TestAudit(Mutated):
    pass


def test_every_mutant_is_in_a_class():
    modules = ("mechanisms", "sensitivity", "budget", "fdp", "distributions", "local", "histograms", "synthetic", "anonymity", "attacks",
               "svt/mechanism", "svt/law", "svt/museum", "audit")  # fmt: skip
    assert {mutant.file for mutant in MUTANTS} == {f"{module}.py" for module in modules}


def main():
    for killer in sorted({mutant.killer for mutant in MUTANTS}):
        with tempfile.TemporaryDirectory() as folder:
            process = run_tests(Path(folder), killer)
            print(f"unharmed  {killer:22} {process.stdout.strip().splitlines()[-1]}")
            if process.returncode:
                sys.exit(process.stdout)
    for mutant in MUTANTS:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                killed_by = kill(mutant, Path(folder))
            except AssertionError as error:
                killed_by = f"SURVIVES: {error}"
        print(f"{time.perf_counter() - start:5.1f} s  {mutant.name:52} {mutant.file:15} {killed_by}")


if __name__ == "__main__":
    main()
