"""What a checker declares, pairs of tables and crowds of cells, and how an answer is run on them."""
import copy
import functools
import time
from dataclasses import dataclass

import numpy as np

from dplib.teaching.check._battery._forms import MISSING
from dplib.teaching.check._report import NotAttempted, Wrong, ask, is_stub


@dataclass(frozen=True)
class Pair:
    """Two tables, the loss between them, and what the output is good for on them."""

    what: str                                    # in words, "no users / one user": the names stand around the stroke
    one: tuple                                   # the arguments of the answer, without rng
    two: tuple
    claims: tuple = ()                           # ((epsilon, delta), ...) to hold between the two; (): usefulness only
    truth: tuple = (None, None)                  # the output without noise, on each
    runs: int = 4000
    within: object = None                        # each output must lie so near the truth (a number, or several) ...
    share: float = 0.5                           # ... in this share of the runs, at least
    often: tuple = ({}, {})                      # Choice: outcome -> its smallest allowed share, on each table
    watch: tuple = ()                            # Choice: outcomes that should tell most, so that all runs test them
    law: object = False                          # True: not a mistake's; "exactly": only that of `right` (see battery)
    twice: int = 0                               # runs of two calls on the same table: does one call know of the other?

    def name(self, world):
        both = self.what.split(" / ")
        return both[world] if len(both) > 1 else f"{self.what} ({'second' if world else 'first'} table)"


@dataclass(frozen=True)
class Crowd:
    """Very many small worlds in one call: every cell is drawn by its own coin from two neighbouring ones."""

    what: str
    build: object                                # (coins: 0/1 array) -> the arguments, without rng
    cells: object                                # (output, coins) -> a number for each cell, nan where nothing came out
    size: int
    claims: tuple
    truth: tuple
    calls: int = 2
    published: tuple = ((None, None), (None, None))   # per world: least and greatest share of cells that come out
    within: float | None = None                  # of those that come out, `share` must lie so near the truth
    share: float = 0.5
    words: tuple = ("cells", "published", "count")
    law: object = False

    name = Pair.name


class Luck(np.random.Generator):
    """default_rng(seed), which notes noise around its only argument: rng.laplace(b) has centre b, scale 1."""

    centred = ""


def _noting(name):
    draw = getattr(np.random.Generator, name)

    @functools.wraps(draw)
    def method(self, *arguments, **keywords):
        if len(arguments) == 1 and "scale" not in keywords and np.any(arguments[0]):
            self.centred = name
        return draw(self, *arguments, **keywords)

    return method


for _name in ("laplace", "normal", "logistic", "gumbel"):
    setattr(Luck, _name, _noting(_name))


def luck(seed):
    return Luck(np.random.PCG64(seed))


def slowness():
    """How much slower this machine is at the moment than usual, from 1 to 4."""
    started, some = time.process_time(), np.arange(20)
    for _ in range(300):
        np.unique(some)
    return min(max((time.process_time() - started) / 300 / 7e-6, 1.0), 4.0)


def _same(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        same = type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
        return same and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    return a.equals(b) if hasattr(a, "equals") else a is b or bool(a == b)


def _copier(a):
    if isinstance(a, (int, float, str, type(None))):
        return lambda a: a
    flat = isinstance(a, np.ndarray) or isinstance(a, list) and all(isinstance(item, (int, float, str)) for item in a)
    return type(a).copy if flat else copy.deepcopy


class Runner:
    """Calls an answer, and says of what goes wrong where it went wrong."""

    def __init__(self, answer, call, rng, may_change=True):
        self.answer, self.call, self.rng, self.may_change, self.copiers = answer, call, rng, may_change, {}

    def fresh(self, given):
        """Copies, so that an answer that changes what it is given changes nothing for the next call."""
        copiers = self.copiers.get(id(given)) or self.copiers.setdefault(id(given), [_copier(a) for a in given])
        return tuple([copier(a) for copier, a in zip(copiers, given)])

    def got(self, arguments):
        got = self.call(self.answer, arguments, self.rng) if self.call else ask(self.answer, *arguments, self.rng)
        if got is ... or got is None and is_stub(self.answer):
            raise NotAttempted
        return got

    def once(self, form, pair, world, look=False):
        given = (pair.one, pair.two)[world]
        arguments = self.fresh(given)
        try:
            got = self.got(arguments)
            if got is None and None not in getattr(form, "of", ()):
                raise Wrong("your function returned None: is the `return` missing?")
            x = form.read(got)
        except Wrong as reason:
            raise Wrong(f"on ({pair.name(world)}): {reason}") from None
        if look and not self.may_change and not all(map(_same, arguments, given)):
            raise Wrong(f"on ({pair.name(world)}): your function changes the table that it is given; work on a copy, "
                        "the owner still needs it")
        return x

    def many(self, form, pair, worlds, until=None):
        """Outputs, a row for each run; fewer rows if the time `until` passes."""
        out = []
        for world in worlds:
            out.append(self.once(form, pair, int(world)))
            if until is not None and time.process_time() > until:
                break
        return np.array(out).reshape(len(out), form.columns)

    def crowd(self, crowd, coins, calls=None):
        """Values of all cells of some calls, and their worlds."""
        values, worlds = [], []
        for _ in range(calls or crowd.calls):
            world = coins.integers(0, 2, crowd.size)
            arguments = crowd.build(world)
            try:
                got = self.got(arguments)
                if got is None:
                    raise Wrong("your function returned None: is the `return` missing?")
                x = np.asarray(crowd.cells(got, world), dtype=float)
            except Wrong as reason:
                raise Wrong(f"on {crowd.size:,} {crowd.words[0]} ({crowd.what}): {reason}") from None
            values.append(np.where(np.isnan(x), MISSING, x))
            worlds.append(world)
        return np.concatenate(values)[:, None], np.concatenate(worlds)
