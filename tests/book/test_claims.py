"""A claim that runs alone leaves nothing behind, and fails when it should."""
import pytest
from claims import alone_in, bound, loaded
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

SOURCES = [
    "import numpy as np\nrng, box, n = np.random.default_rng(1), [], 3",
    (
        "# claim: one that changes what it finds\nbox.append(rng.random()); n = 4; half = n / 2; np.pi = 3\n"
        "def double(x): return 2 * x\nassert box and n == 4"
    ),
    (
        "# claim: one that needs the one before, and finds its names only\n"
        "n = 7\nassert n == 7 and double(half) == 4 and box == []"
    ),
    "# claim: one that needs nothing\nassert globals()['n'] == 3 and box == [] and 'half' not in globals()",
    "print(box, n, round(np.pi, 2), rng.random() == np.random.default_rng(1).random(), 'half' in globals())",
    "# claim: a wrong one\nassert len(box) == 4, 'not four'",
    "# claim: one that breaks off\nimport os\nos._exit(3)",
    "# claim: one that leaves\nraise SystemExit",
    "print('on')",
]
ENDS = [
    None, None, None, None,
    "[] 3 3.14 True False\n", "assert len(box) == 4, 'not four'", "ended with", "SystemExit", "on\n",
]


def test_a_claim_alone():
    nb = new_notebook(cells=[new_code_cell(source) for source in alone_in(SOURCES)])
    NotebookClient(nb, timeout=60, allow_errors=True).execute()
    for cell, wanted in zip(nb.cells, ENDS, strict=True):
        said = [output.get("text", output.get("evalue")) for output in cell.outputs]
        assert (said[0] == wanted or wanted in said[0]) if wanted else not said, (cell.source, said)


@pytest.mark.parametrize(("code", "names", "taken"), [
    ("for i in range(3): x = i", {"i", "x"}, {"range", "i"}),
    ("def x(a): b = a + c", {"x"}, {"c"}),
    ("import x.y", {"x"}, set()),
    ("from a import b as x", {"x"}, set()),
    ("x = [y + z for y in a]", {"x"}, {"a", "z"}),
    ("x += 1", {"x"}, {"x"}),
    ("class x:\n    def m(self): return lambda k: k + c", {"x"}, {"__name__", "c"}),
])
def test_names_are_seen(code, names, taken):
    assert (bound(code), loaded(code)) == (names, taken)
