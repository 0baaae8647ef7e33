"""Which of the mistakes that the checker knows looks like the refused answer; silence if none clearly does."""
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from provable_privacy.battery.hunt import Event, Telling
from provable_privacy.battery.looks import alike
from provable_privacy.battery.runs import CENTRE, Crowd, Runner, luck

FIRST, MORE, OTHERS = 200, 2000, 800             # runs of each mistake, of the few that look like the answer, of these elsewhere
FITS, ELSEWHERE = 1e-4, 1e-9                     # below these p-values samples differ: on the refused pair, elsewhere


@dataclass(frozen=True, eq=False)
class Place:
    """A pair or a crowd on which functions are run and compared."""

    at: object
    form: object
    call: object
    answer: object = None                        # the learner's function

    @property
    def is_crowd(self):
        return isinstance(self.at, Crowd)

    def sample(self, function, runs, seed=5):
        """Outputs and worlds; those of a function of the checker are drawn once and kept for the next answer."""
        return self.fresh(function, runs, seed) if function is self.answer else _kept(function, self.at, runs, seed, self)

    def fresh(self, function, runs, seed):
        coins, runner = np.random.default_rng([seed, 6]), Runner(function, self.call, luck(seed))
        if self.is_crowd:
            return runner.crowd(self.at, coins, 1 if runs == FIRST else min(self.at.calls, 2))
        world = coins.integers(0, 2, runs)
        return runner.many(self.form, self.at, world), world

    def alike(self, one, two):
        return alike(*one, *two, views=self.form.views)

    def fits(self, function, runs, mine):
        """(p-value, sample) of a mistake; nan where it fails, on a table where it never stood."""
        try:
            sample = self.sample(function, runs)
        except Exception:
            return float("nan"), None
        return self.alike(mine, sample), sample

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
        before, of, runs = np.array(reason.seen, dtype=float), np.maximum(reason.runs, 1.0), np.maximum(runs, 1.0)
        share = (before + seen) / (of + runs)
        return bool(np.all(chdtrc(1, (before / of - seen / runs) ** 2 / np.maximum(share * (1 - share) * (1 / of + 1 / runs), 1e-300)) >= FITS))


SAMPLES, AT_MOST = {}, 500                       # (function, pair, runs, seed) -> what it gave; the oldest go


def _kept(function, at, runs, seed, place):
    """The functions and the pairs of a checker are constants, so that the same question has the same answer."""
    key = (function, at, runs, seed)
    if key not in SAMPLES:
        if len(SAMPLES) >= AT_MOST:
            del SAMPLES[next(iter(SAMPLES))]
        SAMPLES[key] = place.fresh(function, runs, seed)
    return SAMPLES[key]


def name(reason, answer, kept, mistakes, right, rng):
    """The message of the mistake that looks like the answer, or "". `kept` holds (Place, (outputs, worlds)) for all that was run."""
    if rng.centred:
        return CENTRE.format(rng.centred)
    if not mistakes or getattr(reason, "joint", False):
        return ""
    place, mine = next(item for item in kept if item[0].at is reason.pair)
    if not place.is_crowd and len(mine[0]) < MORE:
        mine = place.sample(answer, MORE, seed=12)
    more = min(max(len(mine[0]), MORE), 2 * MORE)
    likely = [(place.fits(mistake, FIRST, mine)[0], message) for message, mistake in mistakes.items()]
    likely = sorted((item for item in likely if item[0] >= FITS), key=lambda item: -item[0])[:4]
    best = [(message, *place.fits(mistakes[message], more, mine)) for _, message in likely]
    best = [item for item in best if item[1] >= FITS and (not isinstance(reason, Telling) or place.shows(reason, *item[2]))]
    if best and right is not None:               # what is right here was not refused here
        true = place.sample(right, more)
        best = [item for item in best if place.alike(true, item[2]) < FITS]
    others = [(place, mine, place.fits(right, OTHERS, mine)[0] if right else 0.0) for place, mine in kept if best and not place.is_crowd]
    found = []
    for message, p, _ in best:                   # on the other tables the answer must look like the mistake, or be right
        own = [place.fits(mistakes[message], OTHERS, mine)[0] for place, mine, _ in others]
        if all(not max(p, true) < ELSEWHERE for p, (*_, true) in zip(own, others)):
            found.append((np.nanmin([1.0, *own]) if own else p, message))
    return max(found, default=(0.0, ""))[1]
