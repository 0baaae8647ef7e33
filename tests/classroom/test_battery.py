"""The battery of the checkers of mechanisms: what it must refuse and accept, and that its p-values are honest."""

import math
import time

import numpy as np
import pytest

from provable_privacy.battery import (
    Choice,
    Crowd,
    Labels,
    Lines,
    Numbers,
    Pair,
    battery,
    drawn,
    exact,
    hunt,
    judge,
    looked,
    looks,
    read_lines,
    runs,
)
from provable_privacy.speech import Misdeclared, NotAttempted, Wrong, ask


def laplace(count, epsilon, rng):
    return count + rng.laplace(scale=1 / epsilon, size=np.shape(count))


def pair(one, two, epsilon, **settings):
    claim = epsilon * float(np.abs(np.subtract(one, two)).sum())
    given = [np.array(table) if isinstance(table, tuple) else table for table in (one, two)]
    settings = {"within": 1.69 / epsilon, "share": 0.75, **settings}
    return Pair(f"{one} / {two}", (given[0], epsilon), (given[1], epsilon), ((claim, 0.0),), (one, two), **settings)


COUNTS = [pair(0, 1, 1.0, twice=800), pair(500, 502, 0.7, runs=8000)]
TWO = [pair((3, 3), (3, 4), 0.6, twice=800), pair((0, 0), (1, 0), 0.8), pair((3, 9), (5, 9), 0.5)]


def own_luck():
    rng = np.random.default_rng(77)
    return lambda count, epsilon, _: laplace(count, epsilon, rng)


def whole(count, epsilon, rng):
    p = -math.expm1(-epsilon)
    return int(count + rng.geometric(p) - rng.geometric(p))


def kept(calls):
    """The same noise for some calls."""
    box = []

    def function(count, epsilon, rng):
        box[:] = [] if len(box) >= calls else box
        box.append(box[0] if box else rng.laplace(scale=1 / epsilon))
        return count + box[0]

    return function


def echo(count, epsilon, rng, box=[0.0]):  # noqa: B006
    """The sign of the noise is that of the call before."""
    box[0] = math.copysign(rng.laplace(scale=1 / epsilon), box[0] if rng.random() < 0.7 else -box[0])
    return count + box[0]


RIGHT = [
    laplace,
    whole,
    own_luck(),
    lambda c, e, rng: [laplace(c, e, rng)],
    lambda c, e, rng: round(laplace(c, e, rng)),
    lambda c, e, rng: max(-0.5, laplace(c, e, rng)),
    lambda c, e, rng: c + rng.exponential(1 / e) - rng.exponential(1 / e),
]
LEAKS = [
    (lambda c, e, rng: c, "there is no noise there"),
    (lambda c, e, rng: 0 if c == 0 else laplace(c, e, rng), "same in all"),
    (lambda c, e, rng: laplace(c, e, rng) if c else math.nan, "finite"),
    (lambda c, e, rng: laplace(c, e, rng) if c else 1 / 0, "ZeroDivisionError"),
    (lambda c, e, rng: c + np.random.default_rng(1).laplace(scale=1 / e), "seed is fixed"),
    (lambda c, e, rng: laplace(c, 2 * e, rng), "half the noise that is needed. Seen"),
    (lambda c, e, rng: laplace(c, e / 2, rng), "within"),
    (lambda c, e, rng: c + np.clip(rng.laplace(scale=1 / e), -2 / e, 2 / e), "allows"),
    (lambda c, e, rng: laplace(c, 1.0, rng) if c < 100 else laplace(c, 10.0, rng), "500"),
    (lambda c, e, rng: laplace(np.int8(min(c, 127)), e, rng), "within"),
    (lambda c, e, rng: c + rng.laplace(2 / e), "is the centre; write scale="),
    (kept(2), "one call uses the noise of the call before|that of 1 call before"),
    (kept(9), "call"),
    (echo, "depends on what it was in the call before"),
    (lambda c, e, rng: print(end=""), "is the `return` missing"),
    (lambda c, e, rng: "many", "expected a number"),
    (lambda c, e, rng: (c, c), "shape"),
]
VECTORS = [
    (lambda v, e, rng: v + rng.laplace(scale=1 / e), "one noise serves two outputs"),
    (lambda v, e, rng: v + rng.laplace(scale=1 / e) * np.array([1, -1]), "turned round|cancel in the sum"),
    (lambda v, e, rng: v + rng.laplace(scale=1 / e) * rng.choice([-1, 1], 2), "same size|turned round|one noise"),
    (lambda v, e, rng: np.where(v == 0, 0, laplace(v, e, rng)), "same in all|exact value"),
    (lambda v, e, rng: np.append(laplace(v, e, rng)[0], v[1]), "exact value"),
    (lambda v, e, rng: laplace(v, e, rng)[:1], "expected 2 numbers"),
    (
        lambda v, e, rng: v + rng.laplace(scale=1 / e) * np.array([1, 3]),
        "in one combination of the outputs all noise cancels",
    ),
    (
        lambda v, e, rng: v + rng.choice([-1, 1]) * rng.exponential(1 / e, 2),
        "the sign of one noise tells the sign of another",
    ),
]
FIRST = {  # another sort of output on the first table than on the second
    "exactly numpy.float64": (lambda c, e, rng: float(laplace(c, e, rng)) if c else np.float64(laplace(c, e, rng))),
    "exactly int": (lambda c, e, rng: float(whole(c, e, rng)) if c else whole(c, e, rng)),
    "exactly array of float64": (lambda c, e, rng: [laplace(c, e, rng)] if c else laplace(np.array([c]), e, rng)),
    "exactly list of int": (lambda c, e, rng: (whole(c, e, rng),) if c else [whole(c, e, rng)]),
    "exactly -0.0": (lambda c, e, rng: max(0.0 if c else -0.0, laplace(c, e, rng))),
}


def said(answer):
    try:
        return battery(answer, Numbers(), COUNTS)
    except Wrong as reason:
        return str(reason)


@pytest.mark.parametrize("answer", RIGHT)
def test_an_answer_that_keeps_its_promise_is_accepted(answer):
    assert battery(answer, Numbers(), COUNTS) == looked(COUNTS)


@pytest.mark.parametrize("answer, reason", LEAKS)
def test_a_leak_is_told(answer, reason):
    with pytest.raises(Wrong, match=reason):
        battery(
            answer,
            Numbers(),
            COUNTS,
            mistakes={"half the noise that is needed": lambda c, e, rng: laplace(c, 2 * e, rng)},
        )


@pytest.mark.parametrize("answer, reason", VECTORS)
def test_a_leak_of_two_outputs_is_told(answer, reason):
    battery(laplace, Numbers(2), TWO)
    with pytest.raises(Wrong, match=reason):
        battery(answer, Numbers(2), TWO)


@pytest.mark.parametrize("sort", FIRST)
def test_the_type_of_what_comes_out_is_looked_at(sort):
    with pytest.raises(Wrong, match=f"the type of what comes out, which.*, is {sort}"):
        battery(FIRST[sort], Numbers(), [pair(0, 1, 1.0)])


def test_a_type_that_follows_from_what_comes_out_is_allowed():
    for change in (lambda x: max(0, x), lambda x: int(x) if x > 2 else x, lambda x: np.float64(x) if x < 0 else [x]):
        assert battery(lambda c, e, rng, change=change: change(laplace(c, e, rng)), Numbers(), [pair(0, 1, 1.0)])


def test_a_type_is_seen_before_a_call_reads_it():
    def call(answer, arguments, rng):
        return float(ask(answer, *arguments, rng))

    with pytest.raises(Wrong, match="is exactly numpy.float64"):
        battery(FIRST["exactly numpy.float64"], Numbers(), [pair(0, 1, 1.0)], call=call)


GRID = pair((3,) * 12, (3,) * 11 + (4,), 1.0, runs=1000)
ALONG = {  # noises of a table of four rows and three columns
    "rows": lambda rng: np.repeat(rng.laplace(size=4), 3),
    "columns": lambda rng: np.tile(rng.laplace(size=3), 4),
    "sizes along columns": lambda rng: np.tile(rng.laplace(size=3), 4) * rng.choice([-1, 1], 12),
    "signs along columns": lambda rng: np.tile(rng.choice([-1, 1], 3), 4) * rng.exponential(size=12),
    "columns, of other scales": lambda rng: np.kron([1, 2, 3, 5], rng.laplace(size=3)),
}


@pytest.mark.parametrize("axis", ALONG)
def test_noise_that_is_shared_along_an_axis_is_seen(axis):
    assert battery(laplace, Numbers(12), [GRID])
    with pytest.raises(Wrong):
        battery(lambda v, e, rng: v + ALONG[axis](rng), Numbers(12), [GRID])


LATE = math.log(0.5 / 0.05)                      # passed by Laplace noise with probability 0.05


class TestOtherOutputs:
    PAIRS = [Pair("low / high", (0.0,), (1.0,), ((1.0, 0.0),), often=({"no": 0.6}, {"yes": 0.6}), watch=("yes",))]
    CHOICE = Choice(("no", "yes", None))

    def test_a_choice(self):
        p = math.exp(1) / (1 + math.exp(1))
        assert battery(lambda x, rng: "yes" if rng.random() < (p if x else 1 - p) else "no", self.CHOICE, self.PAIRS)
        for share, reason in ((0.8, "allows 2.72"), (0.5, "should be in 60%"), (1.0, "same in all")):
            with pytest.raises(Wrong, match=reason):
                battery(
                    lambda x, rng, share=share: "yes" if rng.random() < (share if x else 1 - share) else "no",
                    self.CHOICE,
                    self.PAIRS,
                )
        for output in (2, "maybe", [1, 2], 1.0):
            with pytest.raises(Wrong, match="expected one of"):
                battery(lambda x, rng, output=output: output, self.CHOICE, self.PAIRS)

    def test_what_a_choice_reads(self):
        choice = Choice((0, 3, (1, 2), None))
        given = (0, np.int64(3), [1, 2], np.array([1, 2]), (1, 2), None)
        assert [choice.read(got) for got in given] == [0, 1, 2, 2, 2, 3]
        for got in (False, 3.0, 1, "0", [3]):
            with pytest.raises(Wrong):
                choice.read(got)

    def test_reports(self):
        def survey(values, rng, same=False, quota=False):
            honest = rng.random(len(values)) < 0.7
            honest = rng.permutation(len(values)) < 4 if quota else np.full(len(values), honest[0]) if same else honest
            return np.where(honest, values, 1 - values)

        one, two = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 1, 1, 0, 1, 1])
        pairs = [
            Pair(
                "six people / the last one different", (one,), (two,), ((math.log(7 / 3), 0.0),), (one, two), twice=600
            )
        ]
        assert battery(survey, Labels(6, 2), pairs)
        for how, reason in (
            ({"same": True}, "both lie or both tell|pair of the reports|number of reports"),
            ({"quota": True}, "number of reports"),
        ):
            with pytest.raises(Wrong, match=reason):
                battery(lambda values, rng, how=how: survey(values, rng, **how), Labels(6, 2), pairs)

    def test_the_order_of_a_dict(self):
        pairs = [
            Pair(
                "a first / b first",
                ({"a": 9, "b": 8},),
                ({"b": 9, "a": 8},),
                ((2.0, 0.0),),
                ([9, 8], [8, 9]),
                within=3.4,
                share=0.75,
            )
        ]

        def lines(table, rng, arrange=sorted):
            return {key: table[key] + rng.laplace() for key in arrange(table)}

        assert battery(lines, Lines(("a", "b")), pairs)
        with pytest.raises(Wrong, match="the order in which they come out"):
            battery(lambda table, rng: lines(table, rng, list), Lines(("a", "b")), pairs)
        with pytest.raises(Wrong, match="not in the data"):
            battery(lambda table, rng: {"c": 1}, Lines(("a", "b")), pairs)

    def test_a_crowd(self):
        names = tuple(range(6000))

        def threshold(table, rng, at=1 + LATE):
            return {key: noisy for key, noisy in ((key, n + rng.laplace()) for key, n in table.items()) if noisy >= at}

        crowd = Crowd("lines of 0 / lines of 1", lambda coins: (dict.fromkeys(np.flatnonzero(coins).tolist(), 1),),
                      lambda got, coins: read_lines(got, names)[0], len(names), ((1.0, 0.05),), (0, 1),
                      published=((None, 0.0), (0.03, None)), words=("lines", "published", "count"))
        assert "12,000 lines" in battery(threshold, Lines(names), [], crowds=[crowd])
        mistakes = {
            "the threshold is low": lambda table, rng: threshold(table, rng, 1.5),
            "all pass": lambda table, rng: threshold(table, rng, -99),
        }
        for at, reason in (
            (1.5, "the threshold is low. Seen.*and 0.05 more"),
            (1.0, "and 0.05 more"),
            (5.0, "at least could be"),
        ):
            with pytest.raises(Wrong, match=reason) as told:
                battery(
                    lambda table, rng, at=at: threshold(table, rng, at),
                    Lines(names),
                    [],
                    crowds=[crowd],
                    mistakes=mistakes,
                )
            assert ("Seen" in str(told.value)) == (at == 1.5)

    def test_places_of_one_name_are_refused_where_they_are_declared(self):
        for places in ({"pairs": COUNTS[:1] * 2}, {"pairs": [], "crowds": [Crowd("a / b", None, None, 9, (), ())] * 2}):
            with pytest.raises(Misdeclared, match="apart"):
                battery(laplace, Numbers(), **places)

    def test_views(self):
        weights = (("days 1 and 2", (1, 0)), ("day 3", (0, 1)))
        assert battery(laplace, Numbers(2, views=weights), TWO)


class TestTheLaw:
    """Where a scale is too small by little, or a shape wrong, the law of a named mistake is the evidence."""

    PAIRS = [pair(0, 1, 1.0, runs=4000, law=True, share=0.6)]
    MISTAKES = {
        "too small by √2": lambda c, e, rng: laplace(c, 2**0.5 * e, rng),
        "cut": lambda c, e, rng: c + np.clip(rng.laplace(), -2.5, 2.5) / e,
    }

    @pytest.mark.parametrize("words", MISTAKES)
    def test_only_the_law_sees_it(self, words):
        plain = [pair(0, 1, 1.0, runs=1000, share=0.6)]
        assert battery(self.MISTAKES[words], Numbers(), plain)
        with pytest.raises(Wrong, match=words):
            battery(self.MISTAKES[words], Numbers(), self.PAIRS, mistakes=self.MISTAKES, right=laplace)

    @pytest.mark.parametrize("answer", RIGHT)
    def test_another_law_may_pass(self, answer):
        assert battery(answer, Numbers(), self.PAIRS, mistakes=self.MISTAKES, right=laplace)

    def test_unless_the_law_is_prescribed(self):
        exactly = [pair(0, 1, 1.0, law="exactly")]
        assert battery(
            lambda c, e, rng: c + rng.exponential(1 / e) - rng.exponential(1 / e), Numbers(), exactly, right=laplace
        )
        with pytest.raises(Wrong, match="law of the right answer"):
            battery(whole, Numbers(), exactly, right=laplace)

    def test_exact_probabilities(self):
        pairs = [Pair("a / b", (0.5,), (0.6,), ((1.0, 0.0),), law=([0.5, 0.5], [0.4, 0.6]), runs=3000)]
        assert battery(lambda p, rng: int(rng.random() < p), Choice((0, 1)), pairs)
        with pytest.raises(Wrong, match="comes out in"):
            battery(lambda p, rng: int(rng.random() < 0.65), Choice((0, 1)), pairs)


class TestWords:
    def test_a_mistake_that_is_right_on_this_pair_is_not_named(self):
        """Sensitivity 1: the mistake that ignores it is the right answer, and looks like one that leaks a little."""

        def spiked(c, e, rng):
            return c if rng.random() < 0.1 else laplace(c, e, rng)

        for right in (laplace, None):
            with pytest.raises(Wrong) as told:
                battery(spiked, Numbers(), COUNTS, mistakes={"the noise ignores the sensitivity": laplace}, right=right)
            assert "ignores" not in str(told.value)

    def test_a_mistake_that_fits_elsewhere_is_preferred(self):
        mistakes = {
            "half at zero": lambda c, e, rng: laplace(c, 2 * e if c < 2 else e, rng),
            "half": lambda c, e, rng: laplace(c, 2 * e, rng),
        }
        for words, answer in mistakes.items():
            with pytest.raises(Wrong, match=f"{words}. Seen"):
                battery(answer, Numbers(), [COUNTS[1], COUNTS[0]], mistakes=mistakes)

    def test_no_mistake_fits(self):
        with pytest.raises(Wrong) as told:
            battery(
                lambda c, e, rng: laplace(c, 3 * e, rng),
                Numbers(),
                COUNTS,
                mistakes={"half": lambda c, e, rng: laplace(c, 2 * e, rng)},
            )
        assert "Seen" not in str(told.value) and "allows" in str(told.value)


def on_the_same_table():
    """The noise of one call is turned round in the next, if that is on the same table."""
    box = {}

    def function(count, epsilon, rng):
        noise = -box.pop(count) if count in box else rng.laplace(scale=1 / epsilon)
        box.clear()
        box[count] = noise
        return count + noise

    return function


ALONE = {  # what is looked at: a leak, the pairs that show it, and the same without
    "a table": (lambda c, e, rng: 0 if c == 0 else laplace(c, e, rng), [pair(0, 1, 1.0)], [pair(2, 1, 1.0)]),
    "an epsilon": (lambda c, e, rng: laplace(c, 1.0, rng), [pair(0, 1, 0.3, within=None)], [pair(0, 1, 1.0)]),
    "use": (lambda c, e, rng: laplace(c, e / 2, rng), [pair(0, 1, 1.0)], [pair(0, 1, 1.0, within=None)]),
    "many runs": (
        lambda c, e, rng: laplace(c, 1.4 * e, rng),
        [pair(0, 2, 0.7, runs=8000)],
        [pair(0, 2, 0.7, runs=400)],
    ),
    "two calls": (on_the_same_table, [pair(0, 1, 1.0, runs=400, twice=800)], [pair(0, 1, 1.0, runs=400)]),
}


@pytest.mark.parametrize("looked_at", ALONE)
def test_each_part_sees_what_no_other_does(looked_at):
    leak, shown, hidden = ALONE[looked_at]
    leak = leak() if leak is on_the_same_table else leak
    assert battery(leak, Numbers(), hidden)
    with pytest.raises(Wrong):
        battery(leak, Numbers(), shown)


def by_twos(odd):
    """Every second call has the sign of the call before in its noise, the others draw a new one."""
    box = [1.0, odd]

    def function(count, epsilon, rng):
        box[0], box[1] = box[0] if box[1] else math.copysign(1.0, rng.random() - 0.5), not box[1]
        return count + box[0] * rng.exponential(1 / epsilon)

    return function


@pytest.mark.parametrize("odd", [True, False])
def test_a_memory_of_every_second_call_is_seen_in_either_phase(odd):
    with pytest.raises(Wrong, match="depends on what it was in the call before"):
        battery(by_twos(odd), Numbers(), COUNTS)


def test_the_test_of_memory_is_honest(monkeypatch):
    """Of runs of independent values, a share of the level is refused at any level."""
    rng, p, real = np.random.default_rng(6), [], looks._p_value
    monkeypatch.setattr(looks, "_p_value", lambda *table: p.append(real(*table)) or 1.0)
    for _ in range(1500):
        looks.memory(Numbers(), pair(0, 0, 1.0), rng.laplace(size=(1200, 1)), np.zeros(1200, int))
    for level in (0.3, 0.01):
        assert abs(np.mean(np.array(p) < level) - level) < 5 * math.sqrt(level / len(p))


def test_only_the_test_of_memory_sees_a_sign_that_is_kept(monkeypatch):
    pairs = [pair(0, 1, 1.0), pair(500, 502, 0.7)]
    with pytest.raises(Wrong, match="the call before"):
        battery(echo, Numbers(), pairs)
    monkeypatch.setattr(judge, "memory", lambda *arguments: None)
    assert battery(echo, Numbers(), pairs)


def test_a_changed_table_is_told_unless_it_may_be():
    def spoils(values, epsilon, rng):
        out = laplace(values.sum(), epsilon, rng)
        values[:] = 0
        return out

    tables = [Pair("a / b", (np.ones(3), 1.0), (np.ones(4), 1.0), ((1.0, 0.0),), (3, 4))]
    with pytest.raises(Wrong, match="changes the table"):
        battery(spoils, Numbers(), tables)
    assert battery(spoils, Numbers(), tables, may_change=True)


def test_a_stub_is_not_attempted():
    def stub(count, epsilon, rng):
        """Docstring only."""

    def half_written(count, epsilon, rng):
        noise = ...  # noqa: F841

    for answer in (stub, half_written, lambda *arguments: None, lambda *arguments: ...):
        with pytest.raises(NotAttempted):
            battery(answer, Numbers(), COUNTS)


@pytest.mark.parametrize("slow", [lambda c, e, rng: laplace(c, e, rng), lambda c, e, rng: laplace(c, 1.6 * e, rng)])
def test_what_is_said_does_not_depend_on_time(monkeypatch, slow):
    """A clock a hundred times as fast changes nothing; only the brake looks at it."""
    lines, clock = [], time.process_time
    for pace in (1, 100):
        monkeypatch.setattr(time, "process_time", lambda pace=pace: (clock() - began) * pace)
        monkeypatch.setattr(runs, "BRAKE", 1000 * pace)
        began = clock()
        lines.append(said(slow))
    assert lines[0] == lines[1]
    monkeypatch.setattr(runs, "BRAKE", 0.0)
    assert "took too long" in said(slow)


def test_parameters_are_drawn_from_a_fixed_seed():
    cases = drawn(50, 3, k=(2, 5), epsilon=(0.5, 1.5))
    assert cases == drawn(50, 3, k=(2, 5), epsilon=(0.5, 1.5)) and {case["k"] for case in cases} == {2, 3, 4, 5}
    assert all(0.5 <= case["epsilon"] <= 1.5 for case in cases)


@pytest.mark.parametrize("epsilon, delta", [(0.5, 0.0), (1.0, 0.0), (1.0, 0.05), (0.0, 0.1)])
def test_the_p_value_is_honest_where_the_promise_is_just_kept(epsilon, delta):
    rng, runs, level, q = np.random.default_rng(4), 2000, 0.05, 0.1
    first = rng.binomial(runs, 0.5, 4000)
    a, b = rng.binomial(first, math.exp(epsilon) * q + delta), rng.binomial(runs - first, q)
    hits = sum(exact.p_value(x, y, runs, epsilon, delta, level) < level for x, y in zip(a, b))
    assert hits <= 4000 * level + 4 * math.sqrt(4000 * level)
    seen = sum(exact.p_value(x, y, runs, epsilon / 2, delta / 2, level) < level for x, y in zip(a, b))
    assert seen > 2000                           # half the promise is not kept, and it shows


def test_a_right_answer_is_refused_no_more_often_than_the_level_says(monkeypatch):
    """Of p-values times the number of tests, the smallest is below 0.2 in a fifth of the checks at most."""
    smallest, seen = [], []

    def noted(*case):
        seen.append(exact.p_value(*case) * exact.LEVEL / case[-1])
        return seen[-1] * case[-1] / exact.LEVEL

    monkeypatch.setattr(hunt, "p_value", noted)
    for seed in range(40):
        seen.clear()
        battery(laplace, Numbers(), [pair(0, 2, 0.7, runs=2000)], seed=seed)
        smallest.append(min(seen, default=1.0))
    assert np.mean(np.array(smallest) < 0.2) <= 0.2 + 3 * 0.064
    assert any(value < 1 for value in smallest)


def test_a_mistake_is_run_once_and_an_answer_each_time():
    calls = {"mistake": 0, "answer": 0}

    def half(name):
        def function(count, epsilon, rng):
            calls[name] += 1
            return laplace(count, 2 * epsilon, rng)
        return function

    mistakes, seen = {"half the noise": half("mistake")}, []
    for _ in range(2):
        with pytest.raises(Wrong, match="half the noise. Seen"):
            battery(half("answer"), Numbers(), COUNTS, mistakes=mistakes)
        seen.append(dict(calls))
    assert seen[0]["mistake"] == seen[1]["mistake"] > 0 and seen[1]["answer"] == 2 * seen[0]["answer"]
