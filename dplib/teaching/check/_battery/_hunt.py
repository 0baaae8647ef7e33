"""Looking for an event that tells two tables apart: found in one half of the runs, tested in the other."""
import math
from dataclasses import dataclass

import numpy as np

from dplib.teaching.check._battery._forms import Column
from dplib.teaching.check._battery._test import Refused, p_value

FOUND = 4                                        # events that are carried to the other half of the runs, each direction


@dataclass(frozen=True)
class Event:
    column: Column
    kind: str                                    # "is", "at most", "at least", "among", "bins"
    value: object

    def same(self, other):
        return (self.column.label, self.kind, str(self.value)) == (other.column.label, other.kind, str(other.value))

    def happens(self):
        x = self.column.values
        if self.kind == "is":
            return x == self.value
        if self.kind == "at most":
            return x <= self.value
        if self.kind == "at least":
            return x >= self.value
        if self.kind == "among":
            return np.isin(x, self.value)
        edges, chosen = self.value
        return chosen[np.searchsorted(edges, x, side="right")]

    def text(self):
        label, show = self.column.label, self.column.show
        if self.kind == "among":
            more = " or others" if len(self.value) > 6 else ""
            return f"{label} is {' or '.join(show(v) for v in self.value[:6])}{more}"
        if self.kind == "bins":
            edges, chosen = self.value
            cuts = np.concatenate([[-np.inf], edges, [np.inf]])
            parts = [f"from {cuts[i]:.4g} to {cuts[i + 1]:.4g}" for i in np.flatnonzero(chosen)]
            more = f" (and {len(parts) - 3} more intervals)" if len(parts) > 3 else ""
            return f"{label} is {' or '.join(parts[:3])}{more}"
        return f"{label} is {'exactly' if self.kind == 'is' else self.kind} {show(self.value)}"


class Telling(Refused):
    """An event that happens too often on one of two neighbouring tables."""

    def __init__(self, pair, event, seen, runs, d, claim, joint):
        self.event, self.seen, self.runs, self.d, self.claim, self.joint = event, seen, runs, d, claim, joint
        epsilon, delta = claim
        allowed = f"ε = {epsilon:.3g} between these two allows {math.exp(epsilon):.3g} times as often"
        allowed += f", and {delta:g} more" if delta else ""
        rare = " there, so its loss has no bound that we could see" if seen[1 - d] == 0 else ""
        plain = event.kind == "is" and seen[1 - d] == 0 and seen[d] > 0.02 * runs[d]
        self.meaning = event.column.meaning if plain else ""
        names = [f"two calls on {pair.name(w)}" if joint else pair.name(w) for w in (d, 1 - d)]
        super().__init__(f"{self.meaning}on ({names[0]}) {event.text()} in {seen[d]:,} of {runs[d]:,} runs, "
                         f"on ({names[1]}) in {seen[1 - d]:,} of {runs[1 - d]:,}{rare}; {allowed}", pair)


def _candidates(column, world, epsilon, delta):
    """(score, direction, kind, value) of the best events of each kind on the runs of the search."""
    values, inverse = np.unique(column, return_inverse=True)
    counts = np.stack([np.bincount(inverse[world == w], minlength=len(values)) for w in (0, 1)]).astype(float)
    e, total = math.exp(epsilon), counts.sum(axis=1)

    def score(a, b, n):
        return (a - e * b - delta * n - 0.5) / np.sqrt(a + e * e * b + delta * n + e)

    for d in (0, 1):
        a, b, n = counts[d], counts[1 - d], total[d]
        for kind, single in (("is", score(a, b, n)), ("at most", score(np.cumsum(a), np.cumsum(b), n)),
                             ("at least", score(np.cumsum(a[::-1])[::-1], np.cumsum(b[::-1])[::-1], n))):
            k = int(np.argmax(single))
            yield single[k], d, kind, values[k]
        if len(values) <= 64:
            chosen = a > 1.2 * e * b + 1
            if chosen.any() and not chosen.all():
                yield float(score(a[chosen].sum(), b[chosen].sum(), n)), d, "among", values[chosen]
        else:
            edges = np.unique(values[(np.arange(1, 24) * len(values)) // 24])
            cells = np.searchsorted(edges, values, side="right")
            c = [np.bincount(cells, v, minlength=len(edges) + 1) for v in (a, b)]
            chosen = c[0] > 1.1 * e * c[1] + delta * n / 24
            if chosen.any() and not chosen.all():
                yield float(score(c[0][chosen].sum(), c[1][chosen].sum(), n)), d, "bins", (edges, chosen)


def hunt(pair, columns, world, claims, level, search, known=(), joint=False):
    """`Telling` if an event found on the runs in `search` is too frequent on the others; `known` ones use all runs."""
    columns, known = list(columns), [Event(*event) for event in known]
    level = level / max(len(claims) * 2 * (FOUND + len(known)), 1)

    def tell(event, rows, d, claim):
        hit, mine = event.happens()[rows], world[rows]
        seen, runs = ([int((which & (mine == w)).sum()) for w in (0, 1)] for which in (hit, np.ones(len(hit), bool)))
        if p_value(seen[d], seen[1 - d], len(hit), *claim, level) < level:
            yield Telling(pair, event, seen, runs, d, claim, joint)

    for claim in claims:
        told = [reason for event in known for d in (0, 1) for reason in tell(event, slice(None), d, claim)]
        best = [[], []]
        for column in columns:
            top = {}
            for score, d, kind, value in _candidates(column.values[search], world[search], *claim):
                if score > top.get(d, (0.5,))[0]:
                    top[d] = (score, kind, value)
            for d, (score, kind, value) in top.items():
                best[d].append((float(score), len(best[d]), Event(column, kind, value)))
        for d in (0, 1):
            found = sorted(best[d], key=lambda item: (-item[0], item[1]))[:FOUND]
            told += [reason for _, _, event in found for reason in tell(event, ~search, d, claim)]
        if told:
            raise max(told, key=lambda reason: bool(reason.meaning))
