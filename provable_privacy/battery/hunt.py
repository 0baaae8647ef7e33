"""Looking for an event that tells two tables apart: found in one half of the runs, tested in the other."""

import math
from dataclasses import dataclass

import numpy as np

from provable_privacy.battery.exact import Refused, p_value
from provable_privacy.battery.forms import Column

FOUND = 4  # events that are carried to the other half of the runs, each direction


@dataclass(frozen=True)
class Event:
    column: Column
    kind: str  # "is", "at most", "at least", "among", "bins"
    value: object

    def same(self, other):
        return (self.column.label, self.kind, str(self.value)) == (other.column.label, other.kind, str(other.value))

    def happens(self):
        x = self.column.values
        if self.kind == "bins":
            edges, chosen = self.value
            return chosen[np.searchsorted(edges, x, side="right")]
        return {"is": np.equal, "at most": np.less_equal, "at least": np.greater_equal, "among": np.isin}[self.kind](
            x, self.value
        )

    def text(self):
        label, show = self.column.label, self.column.show
        if self.kind == "is":
            return f"{label} is exactly {show(self.value)}"
        if self.kind == "at most":
            return f"{label} is at most {show(self.value)}"
        if self.kind == "at least":
            return f"{label} is at least {show(self.value)}"
        if self.kind == "among":
            parts = [show(v) for v in self.value]
        else:
            edges, chosen = self.value
            cuts = np.concatenate([[-np.inf], edges, [np.inf]])
            parts = [f"from {cuts[i]:.4g} to {cuts[i + 1]:.4g}" for i in np.flatnonzero(chosen)]
        return f"{label} is {' or '.join(parts[:4])}{f' (or {len(parts) - 4} more)' if len(parts) > 4 else ''}"


class Telling(Refused):
    """An event that happens too often on one of two neighbouring tables."""

    def __init__(self, pair, event, seen, runs, d, claim, joint):
        self.event, self.seen, self.runs, self.d, self.claim, self.joint = event, seen, runs, d, claim, joint
        self.meaning = ""  # in words, where the event never happens on the other table
        if event.kind == "is" and seen[1 - d] == 0 and seen[d] > 0.02 * runs[d]:
            self.meaning = event.column.meaning
        names = [f"two calls on {pair.name(w)}" if joint else pair.name(w) for w in (d, 1 - d)]
        alone = ", so it was seen on only one of the two tables" if seen[1 - d] == 0 else ""
        super().__init__(
            f"{self.meaning}on ({names[0]}) {event.text()} in {seen[d]:,} of {runs[d]:,} runs, "
            f"on ({names[1]}) in {seen[1 - d]:,} of {runs[1 - d]:,}{alone}; {allowed(*claim)}",
            pair,
        )


def allowed(epsilon, delta):
    """In words: what two tables may differ by."""
    if epsilon == 0 and delta == 0:
        return "between these two ε is 0, so every outcome must be equally likely on both"
    factor = "equally often" if epsilon == 0 else f"{math.exp(epsilon):.3g} times as often"
    if delta:
        return f"ε = {epsilon:.3g} between these two allows {factor}, and {delta:g} more"
    return f"ε = {epsilon:.3g} between these two allows {factor}"


def _candidates(values, counts, epsilon, delta):
    """(score, direction, kind, value) of the best events of each kind; `counts` of the values on both tables."""
    e = math.exp(epsilon)
    if len(values) > 64:
        edges = np.unique(values[(np.arange(1, 24) * len(values)) // 24])
        cells = np.searchsorted(edges, values, side="right")
    for d in (0, 1):
        a, b, n = counts[d], counts[1 - d], counts[d].sum()

        def score(a, b, n=n):
            return (a - e * b - delta * n - 0.5) / np.sqrt(a + e * e * b + delta * n + e)

        below = np.cumsum(a), np.cumsum(b)
        for kind, single in (
            ("is", score(a, b)),
            ("at most", score(*below)),
            ("at least", score(*(c[-1] - c + v for c, v in zip(below, (a, b))))),
        ):
            k = int(np.argmax(single))
            yield single[k], d, kind, values[k]
        if len(values) > 64:
            a, b = (np.bincount(cells, v, minlength=len(edges) + 1) for v in (a, b))
            chosen = a > 1.1 * e * b + delta * n / 24
        else:
            chosen = a > 1.2 * e * b + 1
        if chosen.any() and not chosen.all():
            yield (
                float(score(a[chosen].sum(), b[chosen].sum())),
                d,
                *(("bins", (edges, chosen)) if len(values) > 64 else ("among", values[chosen])),
            )


def hunt(pair, columns, world, claims, level, search, known=(), joint=False):
    """`Telling` if an event found on the runs in `search` is too frequent on the others; `known` ones use all runs."""
    known, best = [Event(*event) for event in known], [[[], []] for _ in claims]
    level = level / max(len(claims) * 2 * (FOUND + len(known)), 1)
    for column in columns:
        values, inverse = np.unique(column.values[search], return_inverse=True)
        counts = np.stack([np.bincount(inverse[world[search] == w], minlength=len(values)) for w in (0, 1)]).astype(
            float
        )
        for claim, found in zip(claims, best):
            top = {}
            for score, d, kind, value in _candidates(values, counts, *claim):
                if score > top.get(d, (0.5,))[0]:
                    top[d] = (float(score), kind, value)
            for d, (score, kind, value) in top.items():
                found[d].append((-score, len(found[d]), Event(column, kind, value)))

    def tell(event, rows, d, claim):
        hit, mine = event.happens()[rows], world[rows]
        seen, runs = ([int((which & (mine == w)).sum()) for w in (0, 1)] for which in (hit, np.ones(len(hit), bool)))
        if p_value(seen[d], seen[1 - d], len(hit), *claim, level) < level:
            yield Telling(pair, event, seen, runs, d, claim, joint)

    for claim, found in zip(claims, best):
        told = [reason for event in known for d in (0, 1) for reason in tell(event, slice(None), d, claim)]
        told += [
            reason
            for d in (0, 1)
            for *_, event in sorted(found[d], key=lambda item: item[:2])[:FOUND]
            for reason in tell(event, ~search, d, claim)
        ]
        if told:
            raise max(told, key=lambda reason: bool(reason.meaning))
