"""Hand-ins that are alike: the same file, or the same long answer when comments and white space are left out."""

import ast
import hashlib

from provable_privacy.hand_in import parsed

__all__ = ["mark_alike", "shape"]

LONG = 40  # parts of an answer; shorter right ones are alike by themselves
COMMON = 4  # an answer of more than one in so many is not told: it is the one that comes to mind
SHOWN = 5  # names in a note


def shape(source):
    """(fingerprint, parts) of a cell: equal for cells that differ in comments and white space alone."""
    tree = parsed(source)
    try:
        written = ast.dump(tree) if tree else ""
    except RecursionError:
        written = ""
    parts = sum(1 for _ in ast.walk(tree)) if written else 0
    return hashlib.sha256(written.encode("utf-8", errors="surrogatepass")).hexdigest(), parts


def mark_alike(found):
    """Add a note to each student whose answers another one has too."""
    groups, answered = {}, {}
    for one in found:
        given = [name for name, mark in one.marks.items() if mark in "✓✗"]
        for name in given:
            answered[name] = answered.get(name, 0) + 1
            print_, parts = one.shapes.get(name, ("", 0))
            if parts >= LONG:
                groups.setdefault((name, print_), []).append(one)
        for print_ in one.files if given else ():
            groups.setdefault(("the whole file", print_), []).append(one)
    same = {}
    for (what, _), group in groups.items():
        if 1 < len(group) and (what not in answered or len(group) <= max(2, answered[what] // COMMON)):
            for one in group:
                others = tuple(other.student for other in group if other is not one)
                same.setdefault(id(one), {}).setdefault(others, []).append(what)
    for one in found:
        for others, what in same.get(id(one), {}).items():
            more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
            one.tell(f"the same as {', '.join(others[:SHOWN])}{more}: {', '.join(what)}")
