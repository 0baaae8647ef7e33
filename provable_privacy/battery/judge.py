"""How a battery goes through its pairs and crowds, and what it says at the end."""

from itertools import chain

import numpy as np
from scipy.special import bdtr, bdtrc

from provable_privacy.battery import diagnosis, laws
from provable_privacy.battery.exact import Levels, Refused, still, useful
from provable_privacy.battery.forms import MISSING, Cell, Numbers
from provable_privacy.battery.hunt import hunt
from provable_privacy.battery.kinds import known
from provable_privacy.battery.looks import CHI_SQUARE, memory
from provable_privacy.battery.runs import Runner, luck
from provable_privacy.speech import Misdeclared, Wrong

QUICK, FORM = 400, 3  # runs of the first look, calls per table of the look at the form
COMPARED = 4000  # outputs at most in a comparison of laws
NAMING = True  # whether a refused answer is compared with the known mistakes
CELL = Cell(1, names=("the number that comes out",))


def looked(pairs, crowds=()):
    """What a passed battery has looked at, in words."""
    n, cells = sum(bool(pair.claims) for pair in pairs), sum(crowd.size * crowd.calls for crowd in crowds)
    seen = [f"{n} pair{'s' if n > 1 else ''} of tables"] * bool(n) + [
        f"{cells:,} {crowd.words[0]}" for crowd in crowds[:1]
    ]
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
    _look_at_declaration(pairs, crowds)
    return _Battery(answer, form, pairs, crowds, call, mistakes or {}, right, seed, may_change).judge()


def _look_at_declaration(pairs, crowds):
    """`Misdeclared`, for the author, where a declaration could refuse nothing or could not be understood."""
    names = [at.what for at in (*pairs, *crowds)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Misdeclared(f"two pairs are called {twice[0]!r}, and a message could not tell them apart")
    for at in (*pairs, *crowds):
        known(at.looks)
        if not all(isinstance(claim, tuple) and len(claim) == 2 for claim in at.claims):
            raise Misdeclared(f"{at.what!r}: claims must be a tuple of pairs (epsilon, delta), got {at.claims!r}")
    if not any(at.claims for at in (*pairs, *crowds)):
        raise Misdeclared(
            "no pair has claims: say which loss is allowed between its tables, claims=((epsilon, delta),)"
        )


def _look_at_truth(place):
    """`Misdeclared` where the exact outputs of a pair have another length than its outputs."""
    for truth in place.at.truth:
        if isinstance(place.form, Numbers) and truth is not None and np.ndim(truth):
            if np.size(truth) != place.form.columns:
                expected = f"{place.form.columns} number{'s' * (place.form.columns > 1)}"
                raise Misdeclared(
                    f"{place.at.what!r}: truth has {np.size(truth)} numbers, and an output has {expected}"
                )


class _Battery:
    def __init__(self, answer, form, pairs, crowds, call, mistakes, right, seed, may_change):
        self.answer, self.mistakes, self.right = answer, mistakes, right
        self.rng, self.coins = luck(seed), np.random.default_rng([seed, 7])
        self.run = Runner(answer, call, self.rng, may_change)
        self.pairs = [diagnosis.Place(pair, form(pair) if callable(form) else form, call, answer) for pair in pairs]
        self.crowds, self.kept = [diagnosis.Place(crowd, CELL, call, answer) for crowd in crowds], {}
        self.sorts = {}  # place -> the sort of each output
        for place in self.pairs:
            _look_at_truth(place)
        hunts = sum(2 + bool(pair.twice) for pair in pairs if pair.claims) + len(crowds)
        uses = sum(4 * place.form.columns + 2 * sum(map(len, place.at.often)) for place in self.pairs) + 6 * len(crowds)
        self.levels = Levels.shared_by(hunts, uses)

    def judge(self):
        try:
            for place in self.pairs:
                for world in (0, 1) * FORM:
                    self.run.once(place.form, place.at, world, look=True)
            self.look_at_pairs(quick=True)
            for place in self.crowds:
                self.look_at_crowd(place, place.at)
            self.look_at_pairs()
            self.look_at_two_calls()
            self.look_at_laws()
        except Refused as reason:
            words = self.mistake(reason) if reason.words is None and NAMING else reason.words
            raise (Wrong(f"{words}. Seen: {reason}") if words else reason) from None
        return looked(*([place.at for place in places] for places in (self.pairs, self.crowds)))

    def look_at_pairs(self, quick=False):
        """A first look at some runs, or one at all, in which those of the first are for the search only."""
        for place in self.pairs:
            pair, form, size = place.at, place.form, min(QUICK, place.at.runs) if quick else place.at.runs
            x, world = self.kept.get(place, (np.empty((0, form.columns)), np.empty(0, int)))
            if len(x) == size:
                continue
            more = self.coins.integers(0, 2, size - len(x))
            rows, sorts = self.run.with_sorts(form, pair, more)
            x, world = self.kept[place] = np.vstack([x, rows]), np.append(world, more)
            sorts = self.sorts[place] = np.append(self.sorts.get(place, []), sorts)
            if pair.claims:
                still(pair, x, world, self.levels.still)
                columns = chain(form.statistics(x, pair, (world == 0) & _half(size)), [self.run.look_of_sorts(sorts)])
                hunt(pair, columns, world, pair.claims, self.levels.private, _half(size), form.known(x, pair))
            useful(form, pair, x, world, self.levels.useful)
            if not quick:
                memory(form, pair, x, world)

    def look_at_two_calls(self):
        for place in self.pairs:
            pair, form = place.at, place.form
            if pair.twice and pair.claims:
                world = self.coins.integers(0, 2, pair.twice)
                both = self.run.many(form, pair, np.repeat(world, 2))
                twice = [(2 * epsilon, 2 * delta) for epsilon, delta in pair.claims]
                hunt(
                    pair,
                    form.joint(both[0::2], both[1::2], pair),
                    world,
                    twice,
                    self.levels.private,
                    _half(pair.twice),
                    joint=True,
                )

    def look_at_crowd(self, place, crowd):
        x, world = self.kept[place] = self.run.crowd(crowd, self.coins)
        out, (cells, published, count) = x[:, 0] > MISSING / 2, crowd.words
        search = np.arange(len(world)) % 2 == 0
        hunt(
            crowd,
            CELL.statistics(x, crowd, search),
            world,
            crowd.claims,
            self.levels.private,
            search,
            CELL.known(x, crowd),
        )
        for w in (0, 1):
            n, came, (least, most) = int((world == w).sum()), int(out[world == w].sum()), crowd.published[w]
            said = f"of {n:,} {cells} ({crowd.name(w)}) {came:,} are {published}"
            if least is not None and bdtr(came, n, least) < self.levels.useful:
                raise Refused(f"{said}, and {least:.1%} at least could be", crowd)
            if most is not None and bdtrc(came - 1, n, most) < self.levels.useful:
                raise Refused(f"{said}, and only {most:.1%} should be", crowd)
            if crowd.within is None or came <= 100:
                continue
            near = int((np.abs(x[out & (world == w), 0] - crowd.truth[w]) <= crowd.within).sum())
            if bdtr(near, came, crowd.share) < self.levels.useful:
                raise Refused(
                    f"of {came:,} {cells} ({crowd.name(w)}, {published}) {near:,} are within {crowd.within:.3g} "
                    f"of the exact {count}, and {crowd.share:.0%} at least should be",
                    crowd,
                )

    def look_at_laws(self):
        for place, (x, world) in list(self.kept.items()):
            law, on = place.at.law, f"on ({place.at.name(0)}) or ({place.at.name(1)})"
            if isinstance(law, tuple):
                for w in (0, 1):

                    def name(k, place=place, w=w):
                        return f"on ({place.at.name(w)}) {place.form.what} {place.form.of[k]!r}"

                    counts = np.bincount(x[world == w, 0].astype(int), minlength=len(place.form.of))
                    try:
                        laws.compare(counts, law[w], {}, name, CHI_SQUARE)
                    except Wrong as unlike:
                        raise Refused(str(unlike), place.at) from None
            elif law and self.right is not None:
                mine, right = (
                    [v[:COMPARED] for v in sample]
                    for sample in ((x, world), place.sample(self.right, min(len(x), COMPARED), seed=8))
                )
                if place.alike(mine, right) < CHI_SQUARE:
                    reason = Refused(f"{on} {len(mine[0]):,} runs do not have the law of the right answer", place.at)
                    reason.words = self.mistake(reason)
                    if law == "exactly" or reason.words:
                        raise reason

    def mistake(self, reason):
        """The words for the mistake that looks like the refused answer, or none."""
        return diagnosis.name(reason, self.answer, list(self.kept.items()), self.mistakes, self.right, self.rng)


def _half(size):
    return np.arange(size) < size // 2
