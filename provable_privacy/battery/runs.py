"""What a checker declares, pairs of tables and crowds of cells, and how an answer is run on them."""

import copy
import math
import time
from dataclasses import dataclass

import numpy as np

from provable_privacy.battery.forms import MISSING, Column
from provable_privacy.speech import NotAttempted, Wrong, ask, is_stub, noting

BRAKE = 90.0  # seconds of CPU of one runner; the answers of the tests need a tenth
CENTRE = (
    "the first argument of rng.{0} is the centre; write scale= for the size: rng.{0}(b) is noise of size 1 around b"
)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables, the privacy loss that is allowed between them, and how near the truth an output must be.

    Parameters
    ----------
    what : str
        The names of the two tables, "no users / one user", separated by " / ". No two pairs have the same.
    one, two : tuples
        The arguments of the answer on each table, without rng.
    claims : tuple of pairs
        ((epsilon, delta), ...), each to hold between these two tables. For tables that are four people apart, a promise
        of epsilon allows 4 epsilon. Without claims no event is searched; usefulness, memory and `law` are looked at.
    truth : pair
        The output without noise on each table: a number, or as many as an output has.
    runs : int
        Calls of the answer on the two tables together. What leaks is found with more runs, or at a larger epsilon.
    within, share : float
        Each number must lie within this distance of the truth, in this share of the runs at least.
    often : pair of dicts
        For a Choice: outcome -> its smallest allowed share, on each table.
    watch : tuple
        For a Choice: outcomes that probably show a leak; all runs test them.
    law : bool, str or pair of arrays
        True: refuse outputs with the law of a known mistake; "exactly": accept only the law of `right` (see `battery`).
        Two arrays are the probabilities of a Choice.
    twice : int
        How many times two calls on the same table are made, to see whether the second knows of the first.
    looks : tuple
        Kinds of leaks that this pair looks for and that cannot be read off it, such as "straddles" (see `kinds`).
    """

    what: str
    one: tuple
    two: tuple
    claims: tuple = ()
    truth: tuple = (None, None)
    runs: int = 4000
    within: object = None
    share: float = 0.5
    often: tuple = ({}, {})
    watch: tuple = ()
    law: object = False
    twice: int = 0
    looks: tuple = ()

    def name(self, world):
        both = self.what.split(" / ")
        return both[world] if len(both) > 1 else f"{self.what} ({'second' if world else 'first'} table)"


@dataclass(frozen=True, eq=False)
class Crowd:
    """One call with very many cells: for each, a coin chooses one of two neighbouring inputs.

    Parameters
    ----------
    what, claims, truth, law, looks
        As for a `Pair`, of one cell.
    build : callable
        `build(coins)`: the arguments of the answer, without rng; coins is an array of 0 and 1.
    cells : callable
        `cells(output, coins)`: a number for each cell, nan where nothing came out.
    size, calls : int
        Cells in a call, and calls.
    published : pair of pairs
        In each world, the least and the greatest share of cells that come out; None where that is free.
    within, share : float
        Of the cells that come out, at least `share` must be within `within` of the truth.
    words : tuple
        For messages: what cells are called, what is done to them, what their number is.
    """

    what: str
    build: object
    cells: object
    size: int
    claims: tuple
    truth: tuple
    calls: int = 2
    published: tuple = ((None, None), (None, None))
    within: float | None = None
    share: float = 0.5
    words: tuple = ("cells", "published", "count")
    law: object = False
    looks: tuple = ()

    name = Pair.name


class Luck(np.random.Generator):
    """default_rng(seed), which notes noise around its only argument: rng.laplace(b) has centre b, scale 1."""

    centred = ""


def _noting(name):
    draw = getattr(np.random.Generator, name)

    def method(self, *arguments, **keywords):
        if len(arguments) == 1 and "scale" not in keywords and np.any(arguments[0]):
            self.centred = name
        return draw(self, *arguments, **keywords)

    return method


for _name in ("laplace", "normal", "logistic", "gumbel"):
    setattr(Luck, _name, _noting(_name))


def luck(seed):
    return Luck(np.random.PCG64(seed))


SORTS = "the type of what comes out, which must be the same on every table, such as float(...),"


def sort_of(value):
    """What kind of object this is, with the types of what is in it, and whether a zero has a minus sign."""
    if type(value) is float:
        return "-0.0" if value == 0 and math.copysign(1, value) < 0 else "float"
    if isinstance(value, np.ndarray):
        minus = value.dtype.kind == "f" and np.signbit(value[value == 0]).any()
        return f"array of {value.dtype}{' with a -0.0' if minus else ''}"
    if isinstance(value, dict):
        return f"dict of {' and '.join(sorted({sort_of(one) for item in value.items() for one in item}))}"
    if isinstance(value, (list, tuple)):
        inside = [sort_of(one) for one in value]
        inside = inside[:1] if len(set(inside)) == 1 else inside
        return f"{type(value).__name__} of {', '.join(inside) or 'nothing'}"
    name = f"numpy.{type(value).__name__}" if isinstance(value, np.generic) else type(value).__name__
    return f"{name} -0.0" if isinstance(value, np.floating) and value == 0 and np.signbit(value) else name


def look_of_sorts(sorts, names):
    """The column of the sorts of outputs: numbers, and the name of each."""
    return Column(SORTS, np.asarray(sorts, dtype=float), show=lambda code: names[int(code)])


def changed(arguments, given):
    """Whether two lists of arguments differ."""
    try:
        np.testing.assert_equal(arguments, given)  # reads lists, dicts and arrays, with NaN equal to itself
        return [list(a) for a in arguments if isinstance(a, dict)] != [list(a) for a in given if isinstance(a, dict)]
    except AssertionError:
        return True


def _copier(a):
    if isinstance(a, (int, float, str, type(None))):
        return lambda a: a
    flat = isinstance(a, np.ndarray) or isinstance(a, list) and all(isinstance(item, (int, float, str)) for item in a)
    return type(a).copy if flat else copy.deepcopy


class Runner:
    """Calls an answer, and says of what goes wrong where it went wrong."""

    def __init__(self, answer, call, rng, may_change=True):
        self.answer, self.call, self.rng, self.may_change, self.copiers = answer, call, rng, may_change, {}
        self.until, self.look = time.process_time() + BRAKE, 0.0
        self.returned, self.sorts = [], {}  # what the last call returned; a number for each sort of output

    def got(self, arguments, nothing=False):
        if time.monotonic() > self.look:  # the clock of the process is slow to read: ten times a second
            self.look = time.monotonic() + 0.1
            if time.process_time() > self.until:
                raise Wrong(
                    f"your function took too long: after {BRAKE:g} seconds this check still needs some thousand calls"
                )
        got = self.call(self.answer, arguments, self.rng) if self.call else ask(self.answer, *arguments, self.rng)
        if got is ... or got is None and is_stub(self.answer):
            raise NotAttempted
        if got is None and not nothing:
            raise Wrong("your function returned None: is the `return` missing?")
        return got

    def once(self, form, pair, world, look=False):
        given = (pair.one, pair.two)[world]
        copiers = self.copiers.get(id(given)) or self.copiers.setdefault(id(given), [_copier(a) for a in given])
        arguments = tuple(
            [copier(a) for copier, a in zip(copiers, given)]
        )  # what an answer changes changes nothing for the next call
        try:
            x = form.read(self.got(arguments, None in getattr(form, "of", ())))
        except Wrong as reason:
            raise Wrong(f"on ({pair.name(world)}): {reason}") from None
        if look and not self.may_change and changed(arguments, given):
            raise Wrong(
                f"on ({pair.name(world)}): your function changes the table that it is given; "
                "work on a copy, the owner still needs it"
            )
        return x

    def many(self, form, pair, worlds):
        """Outputs, a row for each run."""
        return np.array([self.once(form, pair, int(world)) for world in worlds]).reshape(len(worlds), form.columns)

    def with_sorts(self, form, pair, worlds):
        """Outputs, a row for each run, and a number for the sort of each."""
        rows, sorts = [], []
        with noting(self.returned):
            for world in worlds:
                self.returned.clear()
                rows.append(self.once(form, pair, int(world)))
                name = sort_of(self.returned[0] if len(self.returned) == 1 else self.returned)
                sorts.append(self.sorts.setdefault(name, len(self.sorts)))
        return np.array(rows).reshape(len(worlds), form.columns), np.array(sorts, dtype=float)

    def look_of_sorts(self, sorts):
        return look_of_sorts(sorts, list(self.sorts))

    def crowd(self, crowd, coins, calls=None):
        """Values of all cells of some calls, and their worlds."""
        values, worlds = [], coins.integers(0, 2, (calls or crowd.calls, crowd.size))
        for world in worlds:
            try:
                values.append(np.asarray(crowd.cells(self.got(crowd.build(world)), world), dtype=float))
            except Wrong as reason:
                raise Wrong(f"on {crowd.size:,} {crowd.words[0]} ({crowd.what}): {reason}") from None
        x = np.concatenate(values)[:, None]
        return np.where(np.isnan(x), MISSING, x), worlds.ravel()
