"""Which of the mistakes that the checker knows looks like the refused answer; silence if none clearly does."""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from provable_privacy.battery.hunt import Event, Telling
from provable_privacy.battery.looks import alike
from provable_privacy.battery.runs import CENTRE, Crowd, Runner, luck

FIRST, MORE, OTHERS = 200, 2000, 800  # runs of each mistake, of the few that look like the answer, of these elsewhere
FITS, ELSEWHERE = 1e-4, 1e-9  # below these p-values samples differ: on the refused pair, elsewhere


@dataclass(frozen=True, eq=False)
class Place:
    """A pair or a crowd on which functions are run and compared."""

    at: object
    form: object
    call: object
    answer: object = None  # the learner's function

    @property
    def is_crowd(self):
        return isinstance(self.at, Crowd)

    def sample(self, function, runs, seed=5):
        """Outputs and worlds; those of a function of the checker are drawn once and kept for the next answer."""
        return (
            self.fresh(function, runs, seed) if function is self.answer else _kept(function, self.at, runs, seed, self)
        )

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
        return bool(
            np.all(
                chdtrc(
                    1, (before / of - seen / runs) ** 2 / np.maximum(share * (1 - share) * (1 / of + 1 / runs), 1e-300)
                )
                >= FITS
            )
        )


SAMPLES: dict = {}  # (function, pair, runs, seed) -> what it gave; the oldest go
AT_MOST = 500


def _kept(function, at, runs, seed, place):
    """The functions and the pairs of a checker are constants, so that the same question has the same answer."""
    key = (function, at, runs, seed)
    if key not in SAMPLES:
        if len(SAMPLES) >= AT_MOST:
            del SAMPLES[next(iter(SAMPLES))]
        SAMPLES[key] = place.fresh(function, runs, seed)
    return SAMPLES[key]


def name(reason, answer, kept, mistakes, right, rng):
    """The message of the mistake that looks like the answer, or "".

    `kept` holds (Place, (outputs, worlds)) for all that was run.
    """
    if rng.centred:
        return CENTRE.format(rng.centred)
    if not mistakes or getattr(reason, "joint", False):
        return ""
    place, mine = next(item for item in kept if item[0].at is reason.pair)
    if not place.is_crowd and len(mine[0]) < MORE:
        mine = place.sample(answer, MORE, seed=12)
    confirmed = _confirmed(reason, place, mine, mistakes, right)
    if not confirmed:
        return ""
    elsewhere = [(place, mine) for place, mine in kept if not place.is_crowd]
    return max(_fit_elsewhere(confirmed, elsewhere, mistakes, right), default=(0.0, ""))[1]


def _suspects(place, mine, mistakes):
    """Messages of the few mistakes that look most like the answer, at a first look."""
    looks = [(place.fits(mistake, FIRST, mine)[0], message) for message, mistake in mistakes.items()]
    return [
        message for fit, message in sorted((look for look in looks if look[0] >= FITS), key=lambda look: -look[0])[:4]
    ]


def _confirmed(reason, place, mine, mistakes, right):
    """(message, p-value) of the suspects that still look like the answer in more runs.

    They also tell the tables apart as it does, and differ here from what is right.
    """
    runs, found = min(max(len(mine[0]), MORE), 2 * MORE), []
    for message in _suspects(place, mine, mistakes):
        fit, sample = place.fits(mistakes[message], runs, mine)
        if fit >= FITS and (not isinstance(reason, Telling) or place.shows(reason, *sample)):
            found.append((message, fit, sample))
    if found and right is not None:
        true = place.sample(right, runs)
        found = [one for one in found if place.alike(true, one[2]) < FITS]
    return [(message, fit) for message, fit, _ in found]


def _fit_elsewhere(confirmed, elsewhere, mistakes, right):
    """(worst p-value, message) of those mistakes that fit on all other pairs, or where the answer is right there."""
    is_right = [place.fits(right, OTHERS, mine)[0] if right else 0.0 for place, mine in elsewhere]
    for message, fit in confirmed:
        own = [
            place.fits(mistakes[message], OTHERS, mine)[0] for place, mine in elsewhere
        ]  # nan where the mistake fails
        if all(not max(one, true) < ELSEWHERE for one, true in zip(own, is_right)):
            yield (np.nanmin([1.0, *own]) if own else fit), message
