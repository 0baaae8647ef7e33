"""Which of the mistakes that the checker knows looks like the refused answer; silence if none clearly does."""
import time
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from dplib.teaching.check._battery._hunt import Event, Telling
from dplib.teaching.check._battery._runs import Runner, luck
from dplib.teaching.check._battery._test import alike

PATIENCE = 4.0                                   # seconds of CPU for the search; it decides about words only
FIRST, MORE = 200, 2000                          # runs of each mistake, and of the few that look like the answer
FITS, ELSEWHERE = 1e-4, 1e-7                     # below these p-values samples differ: on the refused pair, elsewhere
CENTRE = ("the first argument of rng.{0} is the centre; write scale= for the size: rng.{0}(b) is noise of size 1 "
          "around b")


@dataclass(frozen=True)
class Place:
    """A pair or a crowd on which functions are run and compared."""

    at: object
    form: object
    call: object

    @property
    def is_crowd(self):
        return hasattr(self.at, "build")

    def sample(self, function, runs, until=None, seed=5):
        coins, runner = np.random.default_rng([seed, 6]), Runner(function, self.call, luck(seed))
        if self.is_crowd:
            return runner.crowd(self.at, coins, 1 if runs == FIRST else min(self.at.calls, 2))
        world = coins.integers(0, 2, runs)
        x = runner.many(self.form, self.at, world, until)
        return x, world[:len(x)]

    def alike(self, one, two):
        return alike(*one, *two, views=[weights for _, weights in getattr(self.form, "views", ())])

    def shows(self, reason, x, world):
        """Whether the telling event tells the tables apart in this sample too, and is about as frequent as it was."""
        event, columns = reason.event, self.form.statistics(x, self.at, world == 0)
        found = [Event(*known) for known in self.form.known(x, self.at) if Event(*known).same(event)]
        found += [Event(column, event.kind, event.value) for column in columns if column.label == event.column.label]
        if not found:
            return False
        hit, d, (epsilon, delta) = found[0].happens(), reason.d, reason.claim
        seen, runs = (np.array([of[world == w].sum() for w in (0, 1)], dtype=float) for of in (hit, np.ones(len(hit))))
        e, n = np.exp(epsilon), runs[d]
        if (seen[d] - e * seen[1 - d] - delta * n) / np.sqrt(seen[d] + e * e * seen[1 - d] + delta * n + 1) < 1:
            return False
        before, of = np.array(reason.seen, dtype=float), np.maximum(reason.runs, 1.0)
        share, runs = (before + seen) / (of + runs), np.maximum(runs, 1.0)
        spread = share * (1 - share) * (1 / of + 1 / runs)
        return bool(np.all(chdtrc(1, (before / of - seen / runs) ** 2 / np.maximum(spread, 1e-300)) >= FITS))


def name(reason, answer, kept, refused, mistakes, right, rng, patience=PATIENCE):
    """The message of the mistake that looks like the answer, or None.

    `kept` holds (Place, (outputs, worlds)) for all pairs that were run, `refused` the one of the refusal.
    """
    if rng.centred:
        return CENTRE.format(rng.centred)
    if not mistakes or getattr(reason, "joint", False):
        return None
    (place, mine), until = refused, time.process_time() + patience
    if not place.is_crowd and len(mine[0]) < MORE:
        mine = place.sample(answer, MORE, time.process_time() + 1.0, seed=12)
    more = min(max(len(mine[0]), MORE), 2 * MORE)

    def fitting(runs, messages):
        for message in messages:
            if time.process_time() > until:
                return
            try:
                sample = place.sample(mistakes[message], runs, until)
            except Exception:                    # a mistake may fail on a table where it never stood
                continue
            p = place.alike(mine, sample)
            if p >= FITS:
                yield p, message, sample

    likely = sorted(fitting(FIRST, mistakes), key=lambda item: -item[0])[:4]
    best = list(fitting(more, [message for _, message, _ in likely]))
    if isinstance(reason, Telling):
        best = [item for item in best if place.shows(reason, *item[2])]
    if best and right is not None:               # what is right here was not refused here
        true = place.sample(right, more, until)
        best = [item for item in best if place.alike(true, item[2]) < FITS]
    best = [(_elsewhere(mistakes[message], kept, until) if len(kept) > 1 else p, message) for p, message, _ in best]
    p, message = max(best, default=(0.0, None))
    return message if p >= ELSEWHERE else None


def _elsewhere(mistake, kept, until):
    """How well a mistake fits on all pairs that were run."""
    worst = 1.0
    for place, mine in kept:
        if not place.is_crowd and time.process_time() < until:
            try:
                worst = min(worst, place.alike(mine, place.sample(mistake, FIRST, until)))
            except Exception:
                continue
    return worst
