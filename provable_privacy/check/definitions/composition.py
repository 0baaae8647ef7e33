"""Checkers of chapter 2, section 3: composition, budgets, ledgers."""
import functools
import math

import numpy as np
from scipy.special import gammaln

from provable_privacy.battery import Numbers, Pair, battery, drawn
from provable_privacy.speech import NotAttempted, Wrong, answered, ask, checker, number

__all__ = ["comp_crossover", "comp_delta", "comp_ledger", "comp_overlap", "comp_split", "comp_user"]


def _advantage(epsilon, delta, k):
    """Basic minus advanced composition, divided by epsilon sqrt(k): positive where advanced wins."""
    return math.sqrt(k) * (2 - math.exp(epsilon)) - math.sqrt(2 * math.log(1 / delta))


@checker
def comp_crossover(first_win):
    """`first_win(epsilon, delta)`: the smallest k with eps sqrt(2 k ln(1/delta)) + k eps (e^eps - 1) < k eps, or None."""
    cases = [(0.5, 1e-5), (0.1, 1e-5), (0.01, 1e-9), (0.3, 0.01), (0.6, 1e-6), (0.7, 1e-5), (1.0, 1e-5), (3.0, 0.1), (0.6925, 1e-5), (0.6, 0.5)]
    for epsilon, delta in cases:
        got = ask(first_win, epsilon, delta)
        if got is None and (epsilon, delta) == cases[0] and ask(first_win, 0.1, 1e-5) is None:
            raise NotAttempted
        case, wins = f"for epsilon={epsilon:g}, delta={delta:g}:", math.exp(epsilon) < 2
        if got is None:
            if wins:
                raise Wrong(f"{case} there is such a k: the square root grows more slowly than k, and e^epsilon - 1 is below 1")
            continue
        if isinstance(got, bool) or not float(got).is_integer() or got < 1:
            raise Wrong(f"{case} expected a whole number or None, got {got!r}")
        if not wins:
            raise Wrong(f"{case} the answer is None, not {got:,}: the term k epsilon (e^epsilon - 1) alone is already above k epsilon")
        exact = 2 * math.log(1 / delta) / (2 - math.exp(epsilon)) ** 2
        tanh_form = 2 * math.log(1 / delta) / (1 - math.tanh(epsilon / 2)) ** 2
        if _advantage(epsilon, delta, got) <= -1e-9:
            hint = " (that is the first k for the sharper bound, with tanh)" if 0 <= got - tanh_form <= 1 else ""
            raise Wrong(f"{case} advanced composition does not win yet at k={int(got):,}{hint}")
        if got > 1 and _advantage(epsilon, delta, got - 1) > 1e-9:
            doubled = 4 * exact
            hint = ": a factor 2 before the square root is not in the theorem" if 0 <= got - doubled <= 1 else ""
            raise Wrong(f"{case} k={int(got):,} is not the first: advanced composition already wins at {math.floor(exact) + 1:,}{hint}")
    return "the right k in every case, and None from ln 2 on"


def _total_loss(epsilon, k):
    """Losses of k randomized responses and the logarithm of their law."""
    lies = np.arange(k + 1)
    log_law = gammaln(k + 1) - gammaln(lies + 1) - gammaln(k - lies + 1) - lies * epsilon - k * math.log1p(math.exp(-epsilon))
    return (k - 2 * lies) * epsilon, log_law


@checker
def comp_delta(delta):
    """`delta(total, epsilon, k)`: the exact delta of k randomized responses at `epsilon`, for the total epsilon `total`."""
    cases = [(0.7, 0.5, 4), (0.0, 1.0, 1), (1.0, 0.5, 4), (4.0, 0.1, 100), (0.0, 0.1, 50), (25.0, 0.5, 100), (11.0, 0.1, 100), (60.0, 0.1, 10_000)]
    for total, epsilon, k in cases:
        got = float(answered(delta, total, epsilon, k))
        losses, log_law = _total_loss(epsilon, k)
        law, above = np.exp(log_law), losses > total
        exact = float(law[above] @ -np.expm1(total - losses[above]))
        case = f"for total={total:g}, epsilon={epsilon:g}, k={k:,}:"
        if not math.isfinite(got):
            raise Wrong(f"{case} expected a finite number, got {got:g}: work with the logarithm of the binomial law")
        if abs(got - exact) <= 1e-6 * exact + 1e-15:
            continue
        tail = float(law[above].sum())
        if np.isclose(got, tail, rtol=1e-6, atol=1e-15):
            raise Wrong(f"{case} {got:.4g} is the probability of a loss above the total; the smallest delta weighs each such loss L with 1 - e^(total - L)")
        without_zero = float(law @ -np.expm1(np.minimum(total - losses, 700)))
        if np.isclose(got, without_zero, rtol=1e-6):
            raise Wrong(f"{case} {got:.4g} counts losses below the total too, with a negative weight: take only 1 - e^(total - L) > 0")
        worlds = np.exp(log_law - losses)
        if exact and np.isclose(got, float(worlds[above] @ -np.expm1(total - losses[above])), rtol=1e-6):
            raise Wrong(f"{case} {got:.4g} takes the law of the losses in the wrong world: truths come with probability e^epsilon/(1 + e^epsilon)")
        raise Wrong(f"{case} expected {exact:.6g}, got {got:.6g}" + (": above k epsilon nothing is left" if total > k * epsilon else ""))
    return "exact in all cases, up to k = 10,000"


_AGES = {"under 40": (0.3, lambda age: age < 40), "30 to 50": (0.2, lambda age: 30 <= age <= 50), "45 or more": (0.1, lambda age: age >= 45)}


def _overlap_costs():
    """What each release costs, by trying all people and all pairs of people."""
    ages = [{name: epsilon for name, (epsilon, inside) in _AGES.items() if inside(age)} for age in range(110)]
    zips = [{("zip", code): 0.5} for code in range(8)]
    both = [{("zip", code): 0.5, ("group", group): 0.5} for code in range(8) for group in range(10)]
    costs = {}
    for name, touched in (("zips", zips), ("both", both), ("ages", ages)):
        touched = [{}, *touched]                 # a person who smokes not, too
        add = max(sum(counts.values()) for counts in touched)
        replace = max(sum({**one, **two}[c] for c in one.keys() ^ two.keys()) for one in touched for two in touched)
        costs[name] = add, replace
    return costs


@checker
def comp_overlap(answer):
    """`answer`: release -> (epsilon under add/remove, epsilon under replace)."""
    costs, todo = _overlap_costs(), []
    if set(answer) != set(costs):
        raise Wrong(f"expected the releases {', '.join(costs)}")
    hints = {
        "zips": ("a person is counted in one ZIP at most", "a smoker who moves leaves one count and enters another"),
        "both": ("a smoker is counted once by ZIP and once by age", "another ZIP and another age group: how many counts move?"),
        "ages": ("list the counts that a smoker of each age is in: no age is in all three", "put a smoker of 35 in the place of one of 60: which counts move?"),
    }
    for name, exact in costs.items():
        if answer[name] is ...:
            todo.append(name)
            continue
        if not isinstance(answer[name], (tuple, list)) or len(answer[name]) != 2:
            raise Wrong(f"{name}: expected a pair, (epsilon under add/remove, epsilon under replace)")
        for said, cost, adjacency, hint in zip(answer[name], exact, ("add/remove", "replace"), hints[name], strict=True):
            if said is ...:
                todo.append(f"{name} under {adjacency}")
            elif not math.isclose(number(said, name), cost, rel_tol=1e-9):
                raise Wrong(f"{name}: under {adjacency} it is not {float(said):g}; {hint}")
    if todo:
        raise NotAttempted(", ".join(todo) if todo != list(costs) else "")
    return "0.5 and 1, 1 and 2, 0.5 and 0.6: under add/remove two claims of three were right, one of them not by parallel composition"


@functools.cache
def _counting(scale=lambda sizes, most, epsilon: most / epsilon, bound=lambda sizes, most: np.minimum(sizes, most).sum(), noises=None, again=False,
              draw="laplace"):
    """The bounded number of ratings with Laplace noise, right unless told otherwise."""
    def count_ratings(users, most, epsilon, rng):
        sizes = np.unique(users, return_counts=True)[1]
        b, noise = scale(sizes, most, epsilon), getattr(rng, draw)
        while True:
            result = bound(sizes, most) + (noise(scale=b) if noises is None else noise(scale=b, size=noises(sizes)).sum())
            if result >= 0 or not again:
                return result

    return count_ratings


COUNTS = {
    "there is no noise": _counting(lambda sizes, most, e: 0.0),
    "the noise protects one rating, not a user with all of theirs: one user moves the count by up to `most`": _counting(lambda sizes, most, e: 1 / e),
    "the noise depends on the keenest user in the data, and so tells of them: only the bound `most` may enter":
        _counting(lambda sizes, most, e: sizes.max(initial=1) / e),
    "private, but with about twice the noise it needs: under add/remove one user moves the bounded count by `most`, not by twice that":
        _counting(lambda sizes, most, e: 2 * most / e),
    "the noise is half of what it must be": _counting(lambda sizes, most, e: most / e / 2),
    "the scale is upside down: it is sensitivity divided by epsilon": _counting(lambda sizes, most, e: e / most),
    "there is no noise where nobody is in the table, as with one for each user: add one noise to the whole answer, always": _counting(noises=len),
    "normal noise has no ε at all: its tails fall too fast": _counting(lambda sizes, most, e: 2**0.5 * most / e, draw="normal"),
    "all ratings are counted, also those beyond the first `most` of a user, and one user can move that by any number":
        _counting(bound=lambda sizes, most: sizes.sum()),
    "`most` bounds the whole table, not each user": _counting(bound=lambda sizes, most: min(sizes.sum(), most)),
    "users are counted, and not their ratings": _counting(bound=lambda sizes, most: len(sizes)),
    "near 0 the results have the law of noise that is drawn again while the result is negative (which tells how near 0 it is), or nearly that of an "
    "absolute value (which errs more than it needs): cut at 0 instead": _counting(again=True),
}


def _users(what, common, more, most, epsilon, **settings):
    """Two tables of users, as numbers of ratings each, the first of everybody before the second of anybody; the second has the users of `more` as well."""
    def table(sizes):
        return np.array([f"user {i}" for _, i in sorted((row, i) for i, size in enumerate(sizes) for row in range(size))], dtype="<U7")

    one, two = table(common), table([*common, *more])
    exact = [int(np.minimum(sizes, most).sum()) if sizes else 0 for sizes in (common, [*common, *more])]
    return Pair(what, (one, most, epsilon), (two, most, epsilon), ((len(more) * epsilon, 0.0),), tuple(exact),
                within=1.69 * most / epsilon, share=0.75, **settings)


_CROWD = np.random.default_rng(22).integers(1, 20, 60).tolist()
CLUBS = [
    _users("nobody / one user with 30 ratings", [], [30], 4, 1.0, runs=12_000, law=True, twice=740),
    _users("nobody / one user with one rating", [], [1], 1, 0.8),
    _users("one user with 9 ratings / the same and one with 40", [9], [40], 5, 0.5),
    _users("four users / the same and three with 12 ratings", [2, 4, 1, 6], [12] * 3, 4, 0.7, runs=8000),
    _users("four users / the same and one with two ratings", [3, 3, 3, 3], [2], 40, 1.3),
    _users("60 users / the same and two with 40 ratings each", _CROWD, [40, 40], 3, 1.0, runs=2500),
] + [_users(f"five users / the same and one with 50 ratings, most = {case['most']}, ε = {case['epsilon']:g}", [1, 2, 3, 3, 3], [50],
            runs=2000, **case)
     for case in drawn(2, 22, most=(2, 30), epsilon=(0.2, 1.5))]


@checker
def comp_user(count_ratings):
    """`count_ratings(users, most, epsilon, rng)`: bounded number of ratings, epsilon-DP for a user with all their ratings."""
    seen = battery(count_ratings, Numbers(), CLUBS, mistakes=COUNTS, right=_counting(), seed=22)
    return f"a user moves the count by at most `most`, and the noise fits; {seen}"


_CODES = ("34301", "34302", "34303", "34521")


def _cost(parts):
    return max(math.fsum(epsilon for group, epsilon in parts.items() if code in group) for code in frozenset().union(*parts))


def _left(ledger):
    value = ask(getattr, ledger, "remaining")
    return float(value() if callable(value) else value)


def _refuses(method, argument):
    """Whether the ledger raises; returns quietly otherwise."""
    try:
        method(argument)
    except Exception:                            # any refusal will do
        return True
    return False


def _expect(ledger, left, what):
    if not math.isclose(_left(ledger), left, rel_tol=1e-9, abs_tol=1e-9):
        raise Wrong(f"{what}: remaining should be {left:g}, is {_left(ledger):g}")


@checker
def comp_ledger(MyLedger):
    """`MyLedger(epsilon)` with `remaining`, `spend(epsilon)` and `parallel({frozenset of ZIPs: epsilon})`, for add/remove."""
    if not isinstance(MyLedger, type):
        raise Wrong(f"expected a class, got {type(MyLedger).__name__}")
    one, two, three, four = (frozenset([code]) for code in _CODES)
    ledger, other = ask(MyLedger, 1.0), ask(MyLedger, 2.0)
    _expect(ledger, 1.0, "a new ledger of 1")
    ask(ledger.spend, 0.25)
    _expect(ledger, 0.75, "after spending 0.25 of 1")
    _expect(other, 2.0, "a second ledger, while the first is charged")
    if not _refuses(ledger.spend, 0.8):
        raise Wrong("it allows 0.8 when 0.75 is left")
    _expect(ledger, 0.75, "a refused release must not be charged: after refusing 0.8")
    ask(ledger.spend, 0.75)
    _expect(ledger, 0.0, "after spending exactly what was left")
    for bad in (-1.0, 0.0, math.nan, math.inf):
        ledger = ask(MyLedger, 1.0)
        ask(ledger.spend, 0.5)
        if not _refuses(ledger.spend, bad) or not math.isclose(_left(ledger), 0.5):
            raise Wrong(f"spend({bad:g}) must be refused and change nothing" + ("; as it is, a negative loss refills the purse" if bad < 0 else ""))
        if not _refuses(ledger.parallel, {one: 0.1, two: bad}) or not math.isclose(_left(ledger), 0.5):
            raise Wrong(f"parallel with an epsilon of {bad:g} among its parts must be refused and change nothing")
    ledger = ask(MyLedger, 0.3)
    if any(_refuses(ledger.spend, 0.1) for _ in range(3)):
        raise Wrong("three times 0.1 must fit into 0.3: compare with a little tolerance")
    if not _refuses(ledger.spend, 1e-6):
        raise Wrong("the tolerance is too large: an empty ledger allows another 0.000001")
    for tiny in (1e-9, 1e-10, 1e-11, 1e-12, 1e-13):          # of a tolerance once in all each leaves less than itself
        sold = sum(not _refuses(ledger.spend, tiny) for _ in range(1200))
        if sold == 1200:
            raise Wrong(f"the tolerance is granted anew at each call: an empty ledger sells any number of releases of {tiny:g}; compare the sum of all "
                        "losses with the total")
        if sold * tiny > 2e-9:
            raise Wrong(f"the tolerance is too large: an empty ledger sells {sold:,} releases of {tiny:g}")
    for digits in range(3, 9):                   # an account kept, or compared, to so many digits
        ledger, left, more = ask(MyLedger, 1.0), 6 * 10.0 ** -(digits + 1), 10.0**-digits
        ask(ledger.spend, 1 - left)
        if not _refuses(ledger.spend, more):
            raise Wrong(f"it allows {more:g} when {left:g} is left: keep the losses as they are, a rounded account can be overdrawn")
    ledger = ask(MyLedger, 1.0)
    ask(ledger.spend, 1 - 4e-8)
    if sum(not _refuses(ledger.spend, 4e-11) for _ in range(1200)) > 1060:        # 1,000 fit
        raise Wrong("with 4e-08 left it sells 1,200 releases of 4e-11: a loss that is rounded away is never charged")
    for parts, what in (
        ({one: 0.2, two: 0.3, three: 0.1}, "three disjoint groups cost the largest epsilon"),
        ({one | two: 0.2, two | three: 0.3}, "groups that share a ZIP are not parallel: its residents are charged for both"),
        ({one | two: 0.2, two | three: 0.3, four: 0.4}, "groups 1 and 2 overlap, the third stands alone: charge the most that any one ZIP is charged"),
        ({one | two: 0.1, two | three: 0.1, three | four: 0.1}, "no ZIP is in more than two of these three groups"),
    ):
        ledger = ask(MyLedger, 1.0)
        ask(ledger.parallel, dict(parts))
        _expect(ledger, 1.0 - _cost(parts), what)
    ledger = ask(MyLedger, 0.5)
    if not _refuses(ledger.parallel, {one: 0.3, one | two: 0.3}):
        raise Wrong("parallel allows overlapping groups of 0.3 and 0.3 when 0.5 is left")
    _expect(ledger, 0.5, "a refused parallel release must not be charged, not even in part")
    rng = np.random.default_rng(24)
    for _ in range(30):                          # a plain model, played against the learner's class
        left = float(rng.integers(5, 20)) / 8    # eighths are exact in binary
        ledger = ask(MyLedger, left)
        for _ in range(15):
            if rng.random() < 0.5:
                epsilon = float(rng.integers(1, 9)) / 8
                cost, method, argument = epsilon, ledger.spend, epsilon
            else:
                groups = {frozenset(code for code in _CODES if rng.random() < 0.4) or one: float(rng.integers(1, 5)) / 8 for _ in range(3)}
                cost, method, argument = _cost(groups), ledger.parallel, groups
            refused = _refuses(method, argument)
            if refused != (cost > left):
                raise Wrong(f"with {left:g} left, a release that costs {cost:g} is {'refused' if refused else 'allowed'}")
            left -= 0 if refused else cost
            _expect(ledger, left, "after a mixture of releases")
    return "it adds, it knows what is disjoint, and it refuses before it charges (30 evenings against a model)"


@checker
def comp_split(split):
    """`split(weights, sensitivities, epsilon)`: the epsilons that minimise sum of w (sensitivity/epsilon_i)^2."""
    for weights, sensitivities, epsilon in (([0.5, 3, 2, 10], [100, 1, 12.5, 2], 0.3), ([1, 1], [1, 8], 1.0), ([1, 8, 27], [1, 1, 1], 2.0), ([4], [7], 0.5)):
        got = answered(split, list(weights), list(sensitivities), epsilon)
        got, w, s = np.asarray(got, dtype=float), np.asarray(weights, dtype=float), np.asarray(sensitivities, dtype=float)
        case = f"for weights {weights}, sensitivities {sensitivities}, epsilon {epsilon:g}:"
        if got.shape != w.shape or not np.all(np.isfinite(got)) or not np.all(got > 0):
            raise Wrong(f"{case} expected {len(w)} positive numbers, got {got.tolist()}")
        if got.sum() > epsilon * (1 + 1e-9):
            raise Wrong(f"{case} the shares sum to {got.sum():g}, more than there is")
        if got.sum() < epsilon * (1 - 1e-6):
            raise Wrong(f"{case} the shares sum to {got.sum():g}: some of the budget is left unused")
        cube = np.cbrt(w * s**2)
        best = (w * (s / (epsilon * cube / cube.sum())) ** 2).sum()
        if (w * (s / got) ** 2).sum() > best * (1 + 1e-6):
            rivals = {
                "equal shares: a question with a larger w Δ² gains more from an extra bit of budget": np.ones_like(w),
                "shares in proportion to the sensitivities make all noises equal, but not the total smallest": s,
                "the square root is too much: the derivative has a third power": np.sqrt(w * s**2),
                "in proportion to w Δ² is too much: the derivative has a third power": w * s**2,
                "the weights are not used": np.cbrt(s**2),
                "the cube root is of w Δ², and the sensitivity is squared": np.cbrt(w * s),
            }
            for message, rival in rivals.items():
                if np.allclose(got, epsilon * rival / rival.sum(), rtol=1e-6):
                    raise Wrong(f"{case} {message}")
            raise Wrong(f"{case} the total is {(w * (s / got) ** 2).sum() / best:.3f} times the smallest possible")
    return "no other split of the same budget has a smaller total"
