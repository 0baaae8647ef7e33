"""Which tests are slow, and what they are recorded to cost."""
import json
from types import SimpleNamespace

import conftest
import pytest
import tiers

ANSWERS = "tests/classroom/answers/laplace.py::TestCheckers::"
COSTS = {f"{ANSWERS}test_a_leak_is_refused[a-0]": 1.9, f"{ANSWERS}test_a_leak_is_refused[a-1]": 2.1,
         f"{ANSWERS}test_a_wrong_answer_is_told_why[a-0]": 0.6, "tests/library/test_svt.py::test_a_law": 1.5,
         "tests/classroom/test_results.py::test_a_class": 9.0}


def item(name, *marks, fixtures=()):
    return SimpleNamespace(nodeid=name, fixturenames=fixtures, get_closest_marker=lambda mark: mark in marks)


@pytest.mark.parametrize(("name", "slow"), [
    (f"{ANSWERS}test_a_leak_is_refused[a-0]", False),
    (f"{ANSWERS}test_a_leak_is_refused[a-1]", True),
    (f"{ANSWERS}test_a_leak_is_refused[new-0]", False),
    (f"{ANSWERS}test_a_wrong_answer_is_told_why[a-0]", True),
    (f"{ANSWERS}test_a_wrong_answer_is_told_why[a-1]", False),
    (f"{ANSWERS}test_the_solution_is_right_whatever_its_luck[a-0]", True),
    ("tests/library/test_svt.py::test_a_law", True),
    ("tests/library/test_svt.py::test_another", False),
    ("tests/library/test_mutants.py::test_a_mutant", True),
    ("tests/classroom/test_results.py::test_a_class", False),
    ("tests/book/test_site.py::TestPages::test_page[intro]", False),
    ("tests/book/test_site.py::TestPages::test_page[chapters/f_dp/products]", True),
    ("chapters/f_dp/products.ipynb::Cell 3", False),
])
def test_a_test_is_slow_for_its_place_its_name_or_its_cost(name, slow):
    assert tiers.Tiers(COSTS).is_slow(item(name)) == slow


def test_a_test_is_slow_when_it_says_so_or_needs_what_is_slow():
    quick = "tests/library/test_svt.py::test_quick"
    marked = [item(quick), item(quick, "slow"), item(quick, "long")]
    assert [tiers.Tiers({}).is_slow(one) for one in marked] == [False, True, True]
    assert tiers.Tiers({}).is_slow(item(quick, fixtures=("plain_log",)))


def test_the_first_unusual_answer_of_each_checker_is_quick():
    choice = tiers.Tiers({})
    for file, row, slow in (("laplace", "a-listed-0", False), ("laplace", "a-1", True), ("laplace", "b-0", False),
                            ("gaussian", "a-0", False), ("laplace", "b-1", True)):
        name = f"tests/classroom/answers/{file}.py::TestCheckers::{tiers.UNUSUAL}[{row}]"
        assert choice.is_slow(item(name)) == slow, name


def test_one_page_of_each_kind_is_a_page_of_the_book():
    from test_site import PAGES
    assert set(tiers.ONE_OF_EACH_KIND) < set(PAGES)


def test_costs_are_recorded_for_the_files_that_ran(tmp_path, monkeypatch):
    monkeypatch.setattr(tiers, "COSTS", tmp_path / "costs.json")
    assert tiers.costs() == {}
    tiers.COSTS.write_text(json.dumps({"a.py::gone": 3.0, "b.py::kept": 2.0}), encoding="utf-8")
    spent = {"a.py::dear": 1.26, "a.py::cheap": 0.4, "tests/book/test_a.py::without_a_limit": 7}
    conftest.record_costs([SimpleNamespace(nodeid=name, when=when, user_properties=[("cpu", cost)])
                           for name, cost in spent.items() for when in ("call", "teardown")])
    assert tiers.costs() == {"a.py::dear": 1.3, "b.py::kept": 2.0}


def test_a_meter_counts_the_seconds_of_a_processor():
    node = SimpleNamespace(user_properties=[])
    wrapper = conftest.Meter().pytest_runtest_call(node)
    next(wrapper)
    sum(range(3_000_000))
    with pytest.raises(StopIteration):
        wrapper.send(None)
    (name, spent), = node.user_properties
    assert name == "cpu" and 0.01 < spent < 5
