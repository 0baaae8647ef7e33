"""What the sections share: the lists that a learner enters, runs of replies, and the law that these must have."""
import functools
from collections import Counter
from itertools import islice

import numpy as np

from dplib.svt import Scales, log_probability
from provable_privacy.battery import CENTRE, Choice, Pair
from provable_privacy.battery.laws import LEVEL, compare, p_value
from provable_privacy.speech import Wrong, ask

# ---------------------------------------------------------------------------------------------- what a learner enters


def neighbours(answers, answers2):
    """Two neighbouring lists of answers, or `Wrong`."""
    one, two = (np.asarray(list(x), dtype=float) for x in (answers, answers2))
    if one.ndim != 1 or one.shape != two.shape or one.size == 0:
        raise Wrong("the two lists of answers must have the same length, at least one")
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise Wrong("answers must be finite numbers")
    if (apart := np.abs(one - two).max()) > 1 + 1e-9:
        raise Wrong(f"these are not neighbours: one answer differs by {apart:g}; one person moves each by at most 1")
    return one, two


def witness(answer, expected, *, most=None, shorter=False, stops=""):
    """Neighbouring lists and an outcome, the first three parts of an answer; `Wrong` if they are not what is asked for.

    `most` answers are allowed. The outcome may be `shorter` than the lists. `stops`: words for why it ends with a Yes.
    """
    if not isinstance(answer, (tuple, list)) or len(answer) != expected.count(",") + 1:
        raise Wrong(f"expected {expected}")
    (one, two), outcome = neighbours(*answer[:2]), np.asarray(answer[2])
    if most and one.size > most:
        raise Wrong(f"{most} answers are more than enough")
    fits = outcome.ndim == 1 and np.isin(outcome, (0, 1)).all()
    if not fits or not (outcome.size <= one.size if shorter else outcome.size == one.size):
        raise Wrong(f"outcome must be a list of 0 (No) and 1 (Yes), {'at most ' if shorter else ''}one for each answer")
    if stops and outcome[:-1].any():
        raise Wrong(f"{stops} at its first Yes: only the last reply can be 1")
    return one, two, outcome


# ---------------------------------------------------------------------------------------------------- runs of replies


@functools.cache
def whole_runs(size, c):
    """All runs over `size` answers that stop at the c-th Yes, as tuples of 0 and 1, the short ones first."""
    def from_here(run):
        if len(run) == size or sum(run) == c:
            return [run]
        return [*from_here((*run, 0)), *from_here((*run, 1))]

    return tuple(sorted(from_here(()), key=lambda run: (len(run), run)))


@functools.cache
def law_of_runs(runs, answers, threshold, b1, b2, again="", shrinks=False):
    """Probabilities of runs with noise of scale b1 on the threshold and b2 on the answers.

    The threshold's noise is drawn once, or `again` after each "yes" or for "every" answer. If it `shrinks`, both scales
    are multiplied by the share of the Yes that are left.
    """
    c, law = max(map(sum, runs)), []
    for run in runs:
        starts = [i for i in range(len(run)) if i == 0 or again == "every" or again == "yes" and run[i - 1]]
        part = [1 - sum(run[:i]) / c if shrinks else 1 for i in starts]
        law.append(sum(
            log_probability(run[i:j], answers[i:j], threshold=threshold, noise=Scales(k * b1, k * b2, np.inf))
            for i, j, k in zip(starts, [*starts[1:], len(run)], part)))
    return np.exp(law)


def law_with(scales, again="", shrinks=False):
    """The law on a case, when `scales` gives from c the scales on threshold and answers, times epsilon."""
    def law(answers, threshold, epsilon, c):
        b1, b2 = scales(c)
        return law_of_runs(whole_runs(len(answers), c), answers, threshold, b1 / epsilon, b2 / epsilon, again, shrinks)

    return law


ONE_THRESHOLD = law_with(lambda c: (2, 4 * c))   # Algorithm 1: its noise is drawn once


def true_or_false(replies):
    """`Wrong` for a reply that is neither True nor False: another value could tell how the comparison came about."""
    for reply in replies:
        if type(reply) not in (bool, np.bool_, int) or reply not in (0, 1):
            raise Wrong(f"it yielded {reply!r}, expected True or False: a number tells more than the comparison")


def run_of(replies, arguments, rng):
    """The replies of a learner's generator, as a tuple of 0 and 1."""
    answers, _, _, c = arguments
    replies = ask(replies, *arguments, rng)
    if replies is None:
        raise Wrong("your function returned None; a generator says `yield`")
    got = ask(lambda: list(islice(replies, len(answers) + 1)))
    true_or_false(got)
    run = tuple(map(int, got))
    if sum(run) > c or sum(run) == c and not run[-1]:
        raise Wrong(f"with c={c} it goes on after Yes number {c}: the replies were {list(run)}")
    if len(run) != len(answers) and sum(run) != c:
        raise Wrong(f"with {len(answers)} answers and c={c} the replies {list(run)} are not a complete run")
    return run


def runs_pair(one, two, threshold, epsilon, c, **settings):
    """Two lists of answers for a generator that gives c times Yes; the claim is epsilon for each step between them."""
    name = " / ".join(f"answers {list(a)}, threshold {threshold:g}, ε = {epsilon:g}, c = {c}" for a in (one, two))
    steps = np.abs(np.subtract(one, two)).max()
    return Pair(name, *((list(a), threshold, epsilon, c) for a in (one, two)), ((steps * epsilon, 0.0),), **settings)


def form_of_runs(pair):
    answers, _, _, c = pair.one
    return Choice(whole_runs(len(answers), c), "the run")


# ------------------------------------------------------------------------------------------------------ the right law


def same_law(seen, outcomes, case, right, mistakes, rng, words, also=None):
    """`Wrong`, with the mistake that has the law of the outcomes `seen`, unless it is that of `right`, or of `also`.

    `right`, `also` and the mistakes give the probabilities of `outcomes` from the case; `words` names an outcome.
    """
    counted = Counter(seen)
    counts = np.array([counted[outcome] for outcome in outcomes])
    if any(p_value(counts, law(*case)) >= LEVEL for law in (right, also) if law):
        return
    if rng.centred:
        raise Wrong(CENTRE.format(rng.centred))
    laws = {message: mistake(*case) for message, mistake in mistakes.items()}
    compare(counts, right(*case), laws, lambda i: words(outcomes[i]))
