"""What a mechanism's output looks like: how one output is read, and which numbers made from it are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import isfinite
from typing import NamedTuple

import numpy as np

from provable_privacy.speech import Wrong, numbers

MISSING = -1e300  # stands for an output that is not there
EXACT = "an exact value comes out, which the other table never shows: "
AGAIN = "one call uses the noise of the call before"
THERE = "(1: yes), which"


class Column(NamedTuple):
    """A number made from each output, and what it means if a value of it comes on one table and never on the other."""

    label: str
    values: np.ndarray
    meaning: str = ""
    show: object = lambda value: plain(value)


def plain(value):
    """A value of a column in a message."""
    return "missing" if value < MISSING / 2 else "0" if abs(value) < 1e-8 else f"{value:.6g}"


def tidy(values):
    """Without the last digits, so that what is equal but for rounding is equal."""
    with np.errstate(over="ignore"):  # MISSING overflows
        return np.where(values < MISSING / 2, MISSING, np.round(values, 9) + 0.0)


def sides(pair, m):
    """The exact outputs on the two tables; None where they are not declared."""
    return [None if t is None else np.broadcast_to(np.asarray(t, dtype=float), (m,)) for t in pair.truth]


class Form:
    """How one output is read; columns to hunt in, of one call (`statistics`) and of two in turn (`joint`)."""

    columns: int | property = 1
    views: tuple = ()

    def read(self, got):  # one output as a number or a row of them; `Wrong` for what is none
        raise NotImplementedError

    def numbers(self, x):  # those that should be near the truth, and what they are called
        return x[:, :0], []

    def known(self, x, pair):  # (column, kind, value) of events that need no search
        return ()

    def memory(self, x, pair, world):  # (what, its values, whether equal values are telling)
        return ()


@dataclass(frozen=True)
class Numbers(Form):
    """`size` finite numbers (0: a bare number). `views`: ((name, weights), ...), more combinations to look at."""

    size: int = 0
    names: object = "output"  # of each, or the word for one
    views: tuple = ()

    @property
    def columns(self):
        return max(self.size, 1)

    def called(self):
        words = [f"{self.names} {i + 1}" for i in range(self.size)] if self.size else ["the result"]
        return words if isinstance(self.names, str) else list(self.names)

    def read(self, got):
        return (
            float(got)
            if isinstance(got, float) and not self.size and isfinite(got)
            else numbers(got, (self.size,) if self.size else (), "the result")
        )

    def numbers(self, x):
        return x, self.called()

    def statistics(self, x, pair, search):
        return _numeric(x, *sides(pair, self.columns), self.called(), self.views, search)

    def joint(self, x, y, pair):
        truth, names = sides(pair, self.columns)[0], self.called()
        a, b = (x, y) if truth is None else (x - truth, y - truth)
        for i, j in sorted(product(range(len(names)), repeat=2), key=lambda place: place[0] != place[1])[:64]:
            what = f"of the noises in {names[j]} of a call and {names[i]} of the call before"
            yield Column(f"the difference {what}", tidy(b[:, j] - a[:, i]), AGAIN + ": ")
            yield Column(f"the sum {what}", tidy(b[:, j] + a[:, i]), f"{AGAIN}, turned round: ")

    def known(self, x, pair):
        one, two = sides(pair, self.columns)
        if one is not None and two is not None:
            w = np.array([weights for _, weights in self.views] or np.eye(len(one)), dtype=float)
            yield from _nearer(
                x @ w.T, w @ one, w @ two, self.called()[0]
            )  # noise is independent in the views, if anywhere
            yield from _at_zero(x, one, two, self.called(), pair.claims)

    def memory(self, x, pair, world):
        one, two = sides(pair, self.columns)
        if one is not None and two is not None:
            r = np.round(x - np.stack([one, two])[world], 8)
            for i, name in enumerate(self.called()[:8]):
                yield f"the noise of {name}", r[:, i], True
                yield f"the size of the noise of {name}", np.abs(r[:, i]), True


class Cell(Numbers):
    """The number of one cell of a crowd, which may be missing."""

    def known(self, x, pair):
        yield Column(f"what comes out at all {THERE}", (x[:, 0] > MISSING / 2).astype(float)), "at least", 1.0
        yield from super().known(x, pair)


@dataclass(frozen=True)
class Choice(Form):
    """One of a few outcomes: an index or None, a name, a tuple of indices."""

    of: tuple
    what: str = "the outcome"

    @cached_property
    def codes(self):
        return {(isinstance(outcome, bool), outcome): float(code) for code, outcome in enumerate(self.of)}

    def read(self, got):
        outcome = got.tolist() if isinstance(got, (np.ndarray, np.generic)) else got
        outcome = tuple(outcome) if isinstance(outcome, list) else outcome
        try:
            code = self.codes.get((isinstance(outcome, bool), outcome))
        except TypeError:  # not hashable
            code = None
        if code is None or isinstance(outcome, float) and not isinstance(self.of[int(code)], float):
            shown = [outcome for outcome in self.of if outcome is not None]
            raise Wrong(f"expected one of {shown}{' or None' if None in self.of else ''}, got {got!r}"[:300])
        return code

    def statistics(self, x, pair, search):
        yield Column(self.what, x[:, 0], show=lambda code: repr(self.of[int(code)]))

    def joint(self, x, y, pair):
        yield Column(
            f"{self.what} of two calls",
            x[:, 0] * len(self.of) + y[:, 0],
            show=lambda code: "{!r}, then {!r}".format(*(self.of[i] for i in divmod(int(code), len(self.of)))),
        )

    def known(self, x, pair):
        for outcome in pair.watch:
            yield next(self.statistics(x, pair, None)), "is", float(self.of.index(outcome))

    def memory(self, x, pair, world):
        yield self.what, x[:, 0] * 2 + world, False


@dataclass(frozen=True)
class Labels(Form):
    """A report in 0 .. k - 1 for each of `size` people; the truth of a pair is what they would say."""

    size: int
    k: int

    @property
    def columns(self):
        return self.size

    def read(self, got):
        got = numbers(got, (self.size,), "the reports, one for each person")
        if not ((got >= 0) & (got < self.k) & (got == np.floor(got))).all():
            raise Wrong(f"a report is none of the answers 0 to {self.k - 1}: {got.tolist()}"[:200])
        return got

    def shifts(self, x, pair, world=0):
        return (x - np.stack(pair.truth)[world]) % self.k

    def two(self, code):
        return str(divmod(int(code), self.k))

    def statistics(self, x, pair, search):
        shift, k = self.shifts(x, pair), self.k
        for i in range(self.size):
            yield Column(f"the report of person {i + 1}, minus what it is in the first table,", shift[:, i])
        yield Column("the number of reports that are true in the first table", (shift == 0).sum(axis=1).astype(float))
        for i in np.flatnonzero(np.not_equal(*pair.truth)):
            for j in (j for j in range(self.size) if j != i):
                two = f"persons {i + 1} and {j + 1}"
                yield Column(
                    f"the pair of the reports of {two}, minus what they are in the first table,",
                    k * shift[:, i] + shift[:, j],
                    show=self.two,
                )
                yield Column(
                    f"{two} both lie or both tell the truth {THERE}",
                    ((shift[:, i] == 0) == (shift[:, j] == 0)).astype(float),
                )

    def joint(self, x, y, pair):
        both = self.k * self.shifts(x, pair) + self.shifts(y, pair)
        for i in range(self.size):
            yield Column(
                f"the pair of the reports of person {i + 1} in two surveys, minus those in the first table,",
                both[:, i],
                "two surveys share their coins: ",
                self.two,
            )

    def memory(self, x, pair, world):
        for i, lies in enumerate(self.shifts(x, pair, world).T[:10]):
            yield f"the lie of person {i + 1}", lies, False


@dataclass(frozen=True)
class Lines(Form):
    """A dict from some of `keys` to numbers; which keys there are, and in which order, is part of the output."""

    keys: tuple

    @property
    def columns(self):
        return 2 * len(self.keys)

    def read(self, got):
        return np.concatenate(read_lines(got, self.keys))

    def numbers(self, x):
        return x[:, : len(self.keys)], [f"the noisy count of {key!r}" for key in self.keys]

    def statistics(self, x, pair, search):
        m, (values, names) = len(self.keys), self.numbers(x)
        places = x[:, m:]
        for i, key in enumerate(self.keys):
            yield Column(f"{key!r} is among the published {THERE}", (places[:, i] >= 0).astype(float))
        for i, j in combinations(range(m), 2):
            both = (places[:, i] >= 0) & (places[:, j] >= 0)
            yield Column(
                f"the order of {self.keys[i]!r} and {self.keys[j]!r} "
                "(1: as written here, 2: turned round, 0: not both there)",
                np.where(both, 1.0 + (places[:, i] > places[:, j]), 0.0),
                "the order in which they come out tells the exact counts or the order of the table; "
                "sort by name, or by the noisy count: ",
            )
            yield Column(
                f"the order of {self.keys[i]!r} and {self.keys[j]!r} where their noisy counts are equal "
                "(1: as written here, 2: turned round, 0: not so)",
                np.where(both & (values[:, i] == values[:, j]), 1.0 + (places[:, i] > places[:, j]), 0.0),
                "where two noisy counts are equal, the order tells the exact counts or the order of the table; "
                "let the name decide there: ",
            )
        yield from _numeric(values, *sides(pair, m), names, (), search)

    def joint(self, x, y, pair):
        for i, key in enumerate(self.keys):
            there = (x[:, i] > MISSING / 2) & (y[:, i] > MISSING / 2)
            yield Column(
                f"the difference of the noisy counts of {key!r} in two calls",
                np.where(there, tidy(y[:, i] - x[:, i]), MISSING),
                AGAIN + ": ",
            )

    def known(self, x, pair):
        one, two = sides(pair, len(self.keys))
        if one is not None and two is not None:
            values = x[:, : len(self.keys)]
            yield from _nearer(np.where(values < MISSING / 2, one, values), one, two, "the noisy count")


def read_lines(got, keys):
    """Values and places of a dict of numbers, in the order of `keys`."""
    if not isinstance(got, dict):
        raise Wrong(f"expected a dict of category and noisy count, got {type(got).__name__}")
    number = {key: i for i, key in enumerate(keys)}
    values, places = np.full(len(keys), MISSING), np.full(len(keys), -1.0)
    for place, (key, value) in enumerate(got.items()):
        if key not in number:
            raise Wrong(f"a category came out that is not in the data: {key!r}"[:200])
        values[number[key]] = (
            value if type(value) is float and isfinite(value) else numbers(value, (), f"the noisy count of {key!r}")
        )
        places[number[key]] = place
    return values, places


def _nearer(x, one, two, name):
    """Known events, (column, kind, value): nearer to one exact output than to the other, by a distance."""
    if np.array_equal(one, two):
        return
    if len(one) == 1:
        low, high = sorted((float(one[0]), float(two[0])))
        yield Column(name, x[:, 0]), "at most", low + 1e-9
        yield Column(name, x[:, 0]), "at least", high - 1e-9
        return
    off, most = tidy(np.abs(x - two).sum(axis=1) - np.abs(x - one).sum(axis=1)), float(np.abs(one - two).sum())
    column = Column("the distance in L1 from the second table's exact outputs, less that from the first's,", off)
    for part in (1, 0.5):
        yield column, "at least", part * most * (1 - 1e-9)
        yield column, "at most", -part * most * (1 - 1e-9)


def _at_zero(x, one, two, names, claims):
    """Known events just above a true 0, where noise that is drawn again below 0 comes more often than it should."""
    for i in [i for i in np.flatnonzero(one != two)[:2] if min(one[i], two[i]) == 0]:
        for epsilon in sorted({epsilon for epsilon, _ in claims if epsilon > 0}):
            yield Column(names[i], x[:, i]), "at most", 0.25 * abs(two[i] - one[i]) / epsilon


@dataclass(frozen=True)
class Looks:
    """What is looked at in outputs that are numbers, some perhaps missing; a generator for each kind of leak."""

    x: np.ndarray  # outputs, a row for each run
    noise: np.ndarray  # less the exact outputs on the first table
    names: list
    views: tuple  # (name, weights) of more combinations
    search: np.ndarray  # the runs that may be used to choose columns
    moved: np.ndarray  # by how much the exact outputs differ between the tables; 0 where that is not declared

    @cached_property
    def gone(self):
        return self.x < MISSING / 2

    def shown(self, values, *columns):
        return np.where(self.gone[:, columns].any(axis=1), MISSING, values) if self.gone.any() else values

    def columns(self):
        yield from self.single()
        yield from self.pairs()
        if len(self.names) > 1 and not self.gone.any():
            yield from self.all_together()
        yield from self.blocks()

    def single(self):
        """Exact values, and fractions that noise of whole numbers does not hide."""
        for i, name in enumerate(self.names):
            yield Column(name, self.shown(tidy(self.x[:, i]), i), EXACT)
            part = np.round(self.noise[:, i] - np.round(self.noise[:, i]), 6)
            if part.any():
                yield Column(
                    f"the part of {name} after the point, measured from the exact value on the first table,",
                    self.shown(part, i),
                    "noise of whole numbers does not hide the part after the point: ",
                )
        for label, weights in self.views:
            yield Column(label, tidy(self.x @ np.asarray(weights, dtype=float)), EXACT)

    def pairs(self):
        """Two outputs that share a noise, its size or its sign."""
        m, moved = len(self.names), set(np.flatnonzero(self.moved)[:4].tolist())
        for i, j in combinations(range(m), 2):
            if m <= 8 or i == 0 or j == i + 1 or i in moved or j in moved:
                two, a, b = f"{self.names[i]} and {self.names[j]}", self.x[:, i], self.x[:, j]
                sizes = np.abs(self.noise[:, [i, j]])
                yield Column(
                    f"the difference of {two}",
                    self.shown(tidy(a - b), i, j),
                    "one noise serves two outputs, their difference is exact: ",
                )
                yield Column(
                    f"the sum of {two}",
                    self.shown(tidy(a + b), i, j),
                    "the noise of one output is that of another, turned round, and cancels in their sum: ",
                )
                yield Column(
                    f"{two}: the sizes of their noises, as seen from the first table, differ by a number that",
                    self.shown(tidy(sizes[:, 0] - sizes[:, 1]), i, j),
                    "two noises have the same size, so a sum or a difference is exact: ",
                )
                signs = np.sign(tidy(self.noise[:, [i, j]]))
                yield Column(
                    f"the pair of the signs of the noises of {two}, as seen from the first table,",
                    self.shown(3 * signs[:, 0] + signs[:, 1], i, j),
                    "the sign of one noise tells the sign of another: ",
                    _two_signs,
                )

    def all_together(self):
        """The sum of all outputs, that of the sizes of noises, and the combination without noise that moves most."""
        yield Column(
            "the sum of all outputs", tidy(self.x.sum(axis=1)), "the noises cancel in the sum, which is exact: "
        )
        for table, less in (("first", 0.0), ("second", self.moved))[: 1 + self.moved.any()]:
            yield Column(
                f"the sum of the sizes of the noises, as seen from the {table} table,",
                tidy(np.abs(self.noise - less).sum(axis=1)),
            )
        few = self.noise[self.search][:1000]
        if len(few) < 2 * len(self.names):
            return
        _, size, directions = np.linalg.svd(few - few.mean(axis=0), full_matrices=False)
        if size[0] > 0 and size[-1] < 1e-7 * size[0]:
            still = directions[size < 1e-7 * size[0]]  # of the combinations without noise, the one that moves most
            least = self.moved @ still.T @ still
            least = least if np.abs(least).max() > 1e-6 else still[-1]
            least = least / least[np.abs(least).argmax()]
            yield Column(
                f"the combination {np.round(least, 3).tolist()} of the outputs",
                np.round(self.x @ least, 6),
                "in one combination of the outputs all noise cancels: ",
            )

    def blocks(self):
        """Two of the further combinations that share a noise, or its size."""
        z = self.noise @ np.array([weights for _, weights in self.views], dtype=float).reshape(-1, len(self.names)).T
        few = z[self.search][:200]
        for i, j in combinations(range(min(len(self.views), 40)), 2):
            for sign, word, means in (-1, "difference", "share their noise"), (1, "sum", "have noise of the same size"):
                if len(np.unique(tidy(few[:, i] + sign * few[:, j]))) < 0.97 * len(few):  # exact values
                    yield Column(
                        f"the {word} of ({self.views[i][0]}) and ({self.views[j][0]})",
                        tidy(z[:, i] + sign * z[:, j]),
                        f"two blocks {means}: ",
                    )


def _two_signs(code):
    return "missing" if code < MISSING / 2 else "({}, {})".format(*("-0+"[k] for k in divmod(int(code) + 4, 3)))


def _numeric(x, one, two, names, views, search):
    """Columns of a vector of numbers, some perhaps missing.

    `one` and `two` are the exact ones or None; `search` marks runs that may be used to choose columns.
    """
    truth = 0.0 if one is None else one
    moved = np.zeros(len(names)) if one is None or two is None else two - one
    return Looks(x, np.where(x < MISSING / 2, 0.0, x - truth), names, views, search, moved).columns()
