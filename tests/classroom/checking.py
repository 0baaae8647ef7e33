"""The common tests of the exercise checkers, over the tables of a section's answers.

A file of `answers` is named as its section and has the tables SOLUTIONS and WRONG, perhaps STUBS, UNUSUAL and LEAKS,
and tests of its own:

    SOLUTIONS   (checker, make): `make(seed)` gives the solution with luck of its own
    WRONG       (checker, answer, piece): `piece` must be said
    UNUSUAL     (checker, answer): right, though it looks otherwise; `seeded(make)` where it has luck of its own
    LEAKS       (checker, answer): must be refused, in whatever words
    STUBS       (checker, answer): not attempted, besides what `unanswered` makes of the solutions
"""
import pytest

from provable_privacy.battery import judge

TABLES = ("STUBS", "SOLUTIONS", "WRONG", "UNUSUAL", "LEAKS")
SEEDS = 3


class Seeded:
    """An unusual right answer with luck of its own: `make(seed)` gives it."""

    def __init__(self, make):
        self.make, self.__name__ = make, getattr(make, "__name__", "answer")


seeded = Seeded


def stub(*arguments):
    """The answer of somebody who has not begun."""


def luck(answer, seed):
    return answer.make(seed) if isinstance(answer, Seeded) else answer


def answers(make, seeds=range(SEEDS)):
    """A solution for each seed; only one where the maker gives the same object again."""
    made = [make(seed) for seed in seeds]
    return made[:1] if len(made) > 1 and made[0] is made[1] else made


def unanswered(solutions):
    """What is not attempted, for each checker: its solution with nothing in it."""
    for checker, make in {checker: make for checker, make in reversed(solutions)}.items():
        answer = make(0)
        if isinstance(answer, dict):
            yield checker, dict.fromkeys(answer, ...)
        elif callable(answer) and not isinstance(answer, type):
            yield checker, stub
        yield from ((checker, nothing) for nothing in (None, ...))


def names(rows):
    """Readable ids: the checker, what the answer is called, and its number among those of the checker."""
    seen, out = {}, []
    for checker, answer, *_ in rows:
        name = getattr(answer, "__name__", "")
        seen[checker] = seen.get(checker, -1) + 1
        parts = [checker.__name__, *([name] if name not in ("", "<lambda>") else []), str(seen[checker])]
        out.append("-".join(parts))
    return out


def tests(module, stubs, solutions, wrong, unusual=(), leaks=()):
    """A class of tests of the checkers that `module` exports, from the tables of its answers."""
    public = {name for name in module.__all__ if hasattr(getattr(module, name), "__wrapped__")}
    empty = [*stubs, *unanswered(solutions)]

    class TestCheckers:
        def test_every_checker_is_tested(self):
            for table in (solutions, wrong):
                assert {checker.__name__ for checker, *_ in table} == public

        @pytest.mark.parametrize(("checker", "answer"), empty, ids=names(empty))
        def test_a_stub_is_not_attempted(self, says, checker, answer):
            assert says(checker, answer) == f"○ {checker.__name__}: not attempted yet"

        @pytest.mark.parametrize(("checker", "make"), solutions, ids=names(solutions))
        def test_the_solution_is_right_whatever_its_luck(self, says, checker, make):
            lines = {says(checker, answer) for answer in answers(make)}
            assert len(lines) == 1 and min(lines).startswith(f"✓ {checker.__name__}: "), lines

        @pytest.mark.parametrize(("checker", "answer", "piece"), wrong, ids=names(wrong))
        def test_a_wrong_answer_is_told_why(self, says, checker, answer, piece):
            said = says(checker, answer)
            assert said.startswith(f"✗ {checker.__name__}: ") and piece in said, said

        if unusual:
            @pytest.mark.parametrize(("checker", "answer"), unusual, ids=names(unusual))
            def test_an_unusual_answer_that_is_right_is_accepted(self, says, checker, answer):
                said = says(checker, luck(answer, 0))
                assert said.startswith(f"✓ {checker.__name__}: "), said

        if leaks:
            @pytest.mark.parametrize(("checker", "answer"), leaks, ids=names(leaks))
            def test_a_leak_is_refused(self, says, monkeypatch, checker, answer):
                # the words of WRONG are tested there; here half of the time would go into finding words
                monkeypatch.setattr(judge, "NAMING", False)
                said = says(checker, answer)
                assert said.startswith(f"✗ {checker.__name__}: "), said
                assert "does not have the expected form" not in said, said

    return TestCheckers
