"""Frames as lists of pieces: what several frames share is written once."""

import itertools

__all__ = ["pool"]


def pool(frames):
    """Cut sequences into pieces, the longest of which none is ever used in part.

    Parameters
    ----------
    frames : list of lists
        Of anything hashable.

    Returns
    -------
    pieces : list of tuples
        Each different from all others.
    rows : list of lists of int
        For each frame the pieces that give it back, in order.

    Examples
    --------
    >>> pool(["axis ticks red".split(), "axis ticks blue".split()])
    ([('axis', 'ticks'), ('red',), ('blue',)], [[0, 1], [0, 2]])
    """
    after, before = {}, {}
    for frame in frames:
        for one, next_one in itertools.pairwise([None, *frame, None]):
            after.setdefault(one, set()).add(next_one)
            before.setdefault(next_one, set()).add(one)
    numbers, rows = {}, []
    for frame in frames:
        cut = []
        for place, one in enumerate(frame):
            if place and len(after[frame[place - 1]]) == len(before[one]) == 1:  # they are always neighbours
                cut[-1].append(one)
            else:
                cut.append([one])
        rows.append([numbers.setdefault(tuple(piece), len(numbers)) for piece in cut])
    return list(numbers), rows
