"""One battery for learners' mechanisms: are two neighbouring tables told apart more often than epsilon and delta allow?

A checker declares pairs of tables, the loss that is allowed between them, what the output looks like, and how near the
truth it should be. The battery runs the answer, looks for a telling event in one half of the runs, and tests it in the
other half. Nothing is assumed of the noise: an answer that keeps its promise is refused with probability at most 1e-6.
"""
import math
import time

import numpy as np
from scipy.special import bdtr, bdtrc

from dplib.teaching.check import _laws
from dplib.teaching.check._battery import _diagnosis
from dplib.teaching.check._battery._diagnosis import CENTRE
from dplib.teaching.check._battery._forms import MISSING, Cell, Choice, Labels, Lines, Numbers, read_lines
from dplib.teaching.check._battery._hunt import hunt
from dplib.teaching.check._battery._runs import Crowd, Pair, Runner, luck, slowness
from dplib.teaching.check._battery._test import CHI_SQUARE, LEVEL, Refused, memory, still, useful
from dplib.teaching.check._report import Wrong

__all__ = ["CENTRE", "Choice", "Crowd", "Labels", "Lines", "Numbers", "Pair", "battery", "drawn", "looked", "luck",
           "read_lines"]

QUICK, FORM = 400, 3                             # runs of the first look, calls per table of the look at the form
PATIENCE = 4.0                                   # seconds of CPU at the usual pace; a slower answer gets fewer runs
COMPARED = 4000                                  # outputs at most in a comparison of laws
CELL = Cell(1, names=("the number that comes out",))


def looked(pairs, crowds=()):
    """What a passed battery has looked at, in words."""
    n, cells = sum(bool(pair.claims) for pair in pairs), sum(crowd.size * crowd.calls for crowd in crowds)
    seen = [f"{n} pair{'s' if n > 1 else ''} of tables"] * bool(n)
    seen += [f"{cells:,} {crowds[0].words[0]}"] if cells else []
    allowed = "ε and δ allow" if any(delta for at in [*pairs, *crowds] for _, delta in at.claims) else "ε allows"
    return f"no event among those tried tells neighbours apart by more than {allowed} ({', '.join(seen)})"


def drawn(count, seed, **ranges):
    """`count` dicts of parameters from a fixed seed: name=(low, high); whole numbers if both ends are."""
    rng = np.random.default_rng(seed)

    def draw(low, high):
        whole = isinstance(low, int) and isinstance(high, int)
        return int(rng.integers(low, high + 1)) if whole else round(float(rng.uniform(low, high)), 2)

    return [{name: draw(*ends) for name, ends in ranges.items()} for _ in range(count)]


def battery(answer, form, pairs, *, crowds=(), call=None, mistakes=None, right=None, seed=1, may_change=False):
    """`Wrong`, with the tables and the event, if the answer breaks its promise or is useless; else what was looked at.

    Parameters
    ----------
    answer : callable
        The learner's; called as `answer(*arguments, rng)`, or as `call(answer, arguments, rng)`.
    form : Numbers, Choice, Labels or Lines, or a callable
        What an output looks like; a callable gets the pair.
    mistakes : dict
        Message -> wrong answer. They are run to say which mistake a refused answer is, and for pairs with `law`.
    right : callable
        The solution, for pairs with `law=True` (an answer of another law is refused if it has the law of a mistake) or
        `law="exactly"` (any other law is refused). Without it, `law` may be two arrays, the probabilities of a Choice.
    may_change : bool
        Whether the answer may write into its arguments.
    """
    return _Battery(answer, form, pairs, crowds, call, mistakes or {}, right, seed, may_change).judge()


class _Battery:
    def __init__(self, answer, form, pairs, crowds, call, mistakes, right, seed, may_change):
        self.answer, self.pairs, self.crowds, self.call = answer, pairs, crowds, call
        self.mistakes, self.right, self.seed = mistakes, right, seed
        self.rng, self.coins = luck(seed), np.random.default_rng([seed, 7])
        self.run = Runner(answer, call, self.rng, may_change)
        self.forms = [form(pair) if callable(form) else form for pair in pairs]
        self.kept, self.seconds, self.pace = {}, [0.0] * len(pairs), slowness()
        hunts = sum(2 + bool(pair.twice) for pair in pairs if pair.claims) + len(crowds) or 1
        uses = [4 * form.columns + 2 * sum(map(len, pair.often)) for pair, form in zip(pairs, self.forms)]
        uses = sum(uses) + 6 * len(crowds) or 1
        self.private, self.still, self.useful = 0.7 * LEVEL / hunts, 0.05 * LEVEL / hunts, 0.2 * LEVEL / uses

    def judge(self):
        try:
            self.look_at_the_form()
            self.look_at_pairs(QUICK)
            for crowd in self.crowds:
                self.look_at_crowd(crowd)
            self.look_at_pairs(None)
            self.look_at_two_calls()
            self.look_at_laws()
        except Refused as reason:
            words = self.mistake(reason)
            if words:
                raise Wrong(f"{words}. Seen: {reason}") from None
            raise
        return looked(self.pairs, self.crowds)

    def look_at_the_form(self):
        for i, pair in enumerate(self.pairs):
            started = time.process_time()
            for world in (0, 1) * FORM:
                self.run.once(self.forms[i], pair, world, look=True)
            self.seconds[i] = (time.process_time() - started) / (2 * FORM)

    def fewer(self, runs, patience):
        """What the runs are divided by so that all fit into the time; a power of two, so that it varies little."""
        too_long = sum(seconds * n for seconds, n in zip(self.seconds, runs)) / (patience * self.pace)
        return 2 ** math.ceil(math.log2(too_long)) if too_long > 1 else 1

    def look_at_pairs(self, quick):
        runs = [quick or pair.runs + 2 * pair.twice for pair in self.pairs]
        less = self.fewer(runs, PATIENCE / 3 if quick else PATIENCE)
        for i, (pair, form) in enumerate(zip(self.pairs, self.forms)):
            size = max(100, min(quick, pair.runs) // less) if quick else pair.runs // less
            if not quick and size <= QUICK:
                continue
            world, started = self.coins.integers(0, 2, size), time.process_time()
            x = self.run.many(form, pair, world)
            self.seconds[i] = (time.process_time() - started) / size
            self.kept[i] = (x, world)
            if pair.claims:
                still(pair, x, world, self.still)
                columns = form.statistics(x, pair, (world == 0) & _half(size))
                hunt(pair, columns, world, pair.claims, self.private, _half(size), form.known(x, pair))
            useful(form, pair, x, world, self.useful)
            if not quick:
                memory(form, pair, x, world)

    def look_at_two_calls(self):
        less = self.fewer([pair.runs + 2 * pair.twice for pair in self.pairs], PATIENCE)
        for pair, form in zip(self.pairs, self.forms):
            if pair.twice and pair.claims:
                world = self.coins.integers(0, 2, max(200, pair.twice // less))
                both = self.run.many(form, pair, np.repeat(world, 2))
                columns = form.joint(both[0::2], both[1::2], pair)
                twice = [(2 * epsilon, 2 * delta) for epsilon, delta in pair.claims]
                hunt(pair, columns, world, twice, self.private, _half(len(world)), joint=True)

    def look_at_crowd(self, crowd):
        x, world = self.kept[crowd.what] = self.run.crowd(crowd, self.coins)
        out, (cells, published, count) = x[:, 0] > MISSING / 2, crowd.words
        search = np.arange(len(world)) % 2 == 0
        hunt(crowd, CELL.statistics(x, crowd, search), world, crowd.claims, self.private, search, CELL.known(x, crowd))
        for w in (0, 1):
            n, came, (least, most) = int((world == w).sum()), int(out[world == w].sum()), crowd.published[w]
            said = f"of {n:,} {cells} ({crowd.name(w)}) {came:,} are {published}"
            if least is not None and bdtr(came, n, least) < self.useful:
                raise Refused(f"{said}, and {least:.1%} at least could be", crowd)
            if most is not None and bdtrc(came - 1, n, most) < self.useful:
                raise Refused(f"{said}, and only {most:.1%} should be", crowd)
            if crowd.within is not None and came > 100:
                near = int((np.abs(x[out & (world == w), 0] - crowd.truth[w]) <= crowd.within).sum())
                if bdtr(near, came, crowd.share) < self.useful:
                    raise Refused(f"of {came:,} {cells} ({crowd.name(w)}, {published}) {near:,} are within "
                                  f"{crowd.within:.3g} of the exact {count}, and {crowd.share:.0%} at least should be",
                                  crowd)

    def look_at_laws(self):
        for i, kept in list(self.kept.items()):
            place = self.place(i)
            on = f"on ({place.at.name(0)}) or ({place.at.name(1)})"
            if isinstance(place.at.law, tuple):
                self.look_at_exact_law(place, *kept)
            elif place.at.law and self.right is not None:
                x, world = mine = [v[:COMPARED] for v in kept]
                if place.alike(mine, place.sample(self.right, len(x), seed=8)) < CHI_SQUARE:
                    reason = Refused(f"{on} {len(x):,} runs do not have the law of the right answer", place.at)
                    if place.at.law == "exactly" or self.mistake(reason, math.inf):
                        raise reason

    def look_at_exact_law(self, place, x, world):
        def name(k):
            return f"on ({place.at.name(w)}) {place.form.what} {place.form.of[k]!r}"

        for w in (0, 1):
            counts = np.bincount(x[world == w, 0].astype(int), minlength=len(place.form.of))
            try:
                _laws.compare(counts, place.at.law[w], {}, name, CHI_SQUARE)
            except Wrong as reason:
                raise Refused(str(reason), place.at) from None

    def place(self, i):
        crowd = next((crowd for crowd in self.crowds if crowd.what == i), None)
        return _diagnosis.Place(crowd or self.pairs[i], CELL if crowd else self.forms[i], self.call)

    def mistake(self, reason, patience=_diagnosis.PATIENCE):
        """The words for the mistake that looks like the refused answer."""
        places = [(self.place(i), kept) for i, kept in self.kept.items()]
        refused = next(place for place in places if place[0].at is reason.pair)
        patience = patience * self.pace
        return _diagnosis.name(reason, self.answer, places, refused, self.mistakes, self.right, self.rng, patience)


def _half(size):
    return np.arange(size) < size // 2
