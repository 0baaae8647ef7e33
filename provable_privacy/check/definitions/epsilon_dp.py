"""Checkers of the section on epsilon."""
import functools
import math

import numpy as np

from dplib.distributions import exact_epsilon
from provable_privacy.battery import Crowd, Labels, Numbers, Pair, battery, drawn, looks_for
from provable_privacy.entries import Number, entries
from provable_privacy.formulas import on_cases
from provable_privacy.speech import checker

__all__ = ["dp_belief", "dp_epsilon", "dp_means", "dp_respond", "dp_survey", "dp_unit", "dp_user"]


ONE_ANSWER, RATING = "a person has one answer", "a row names a user and their stars"

# ------------------------------------------------------------------------------------------------ the unit of privacy

RATINGS, POSTS = 152, 10                         # what the rules of the house allow one person


@entries("the same noise costs 1, 2, 10 or 152: the person decides, not the row")
def dp_unit():
    """`answer`: release -> epsilon for one person when every published number has Laplace noise of scale 1."""
    person = "the unit is the person: take the most"
    departments = "staff by department (5 counts)"
    return {
        "HIV visits in hospital, add/remove": Number(1, "nobody may visit twice"),
        "number of ratings, add/remove":
            Number(RATINGS, f"{person} ratings that the service accepts from one person, not one row and not the "
                            "median"),
        "number of posts, add/remove": Number(POSTS, f"{person} posts that the forum accepts from one person"),
        f"{departments}, add/remove": Number(1, "a person who leaves takes one row out of one of the five counts"),
        f"{departments}, replace":
            Number(_most_moved(5), "a replaced row may leave one department and appear in another: two counts move"),
        "number of visits, each row written twice, add/remove":
            Number(2, "a 2-stable transformation comes before the count"),
    }


def _most_moved(departments):
    """Largest L1 change of the counts by department when one row is exchanged for another."""
    rows = np.eye(departments)
    return int(np.abs(rows[:, None] - rows).sum(axis=2).max())


# ------------------------------------------------------------------------------------------------------ exact epsilon

FIVE = {                                         # mechanism -> its law in both worlds, and a hint
    "ninety": ([0.9, 0.1], [0.1, 0.9], "one outcome has probability 0.9 on one table and 0.1 on the other"),
    "die": ([5 / 6, 1 / 6], [1 / 6, 5 / 6],
            "the coin tells the truth too, half of the time: the truth has probability 4/6 + 1/6"),
    "brave": ([1.0, 0.0], [0.5, 0.5], "look at the outcome yes: how likely is it in each of the two worlds?"),
    "six": ([0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [0.1, 0.5, 0.1, 0.1, 0.1, 0.1], "each false answer has probability 1/10"),
    "mute": ([0.5, 0.5], [0.5, 0.5], "the outcome does not depend on the truth"),
}


@entries("all five; `brave` has no finite epsilon: its no can be denied, its yes cannot")
def dp_epsilon():
    """`answer`: mechanism -> its exact epsilon."""
    def entry(p, q, hint):
        right = exact_epsilon(p, q)
        ratio = {"{said} is the ratio; epsilon is its logarithm": math.exp(right)} if 0 < right < math.inf else {}
        return Number(right, hint, ratio, tolerance=6e-4)

    return {name: entry(*case) for name, case in FIVE.items()}


@entries("from 10 % to 23 %, and from 50 % to 73 %. For two releases or for a family of three the change is much "
         "larger")
def dp_belief():
    """`answer`: question -> probability, for a release at epsilon = 1."""
    def belief(prior, epsilon, hint):
        odds = f"the odds are multiplied, not the probability: {hint}"
        multiplied = [start * math.exp(e) for start in (0.1, 0.5) for e in (1, 2, 3)]
        right = prior * math.exp(epsilon) / (1 - prior + prior * math.exp(epsilon))
        return Number(right, hint, {odds: multiplied}, tolerance=6e-4,
                      between=(0, 1, f"{{said}} is not a probability; {hint}"))

    bet = "the advantage, share right minus share wrong, is at most tanh(1/2)"
    advantage = "{said} is the advantage; a player without any knowledge has advantage 0 and wins half of the plays"
    return {
        "suspicion": belief(0.1, 1, "write 10 % as odds of 1 to 9, multiply the odds by e, and turn them into a "
                                    "probability"),
        "even": belief(0.5, 1, "odds of 1 to 1 become e to 1"),
        "twice": belief(0.5, 2, "each release multiplies the odds by e at most"),
        "family": belief(0.5, 3, "from none of the three to all of them takes three steps between neighbours, each "
                                 "with a factor of e"),
        "bet": Number(1 - _fewest_errors(1.0), bet, {advantage: math.tanh(0.5)}, tolerance=6e-4,
                      between=(0, 1, f"{{said}} is not a probability; {bet}")),
    }


def _fewest_errors(epsilon):
    """Smallest share of lost plays that the two inequalities on true and false positive rates allow, by search."""
    f = np.linspace(0, 1, 200_001)
    t = np.minimum(np.exp(epsilon) * f, 1 - np.exp(-epsilon) * (1 - f))
    return float((f + 1 - t).min() / 2)


def _grid(pair, steps=200):
    """Largest epsilon over pairs of means in [0, 1] that differ by 0.1, on a grid."""
    means = np.linspace(0, 0.9, steps * 9 // 10 + 1)
    return max(pair(mean, mean + 0.1) for mean in means)


def _bernoulli(p, q):
    return exact_epsilon([p, 1 - p], [q, 1 - q])


def _clamped(x, y):
    def law(mean):                               # the atoms at both ends, and the density between them
        inside = np.linspace(0, 1, 201)
        ends = [0.5 * np.exp(-mean / 0.1)], [0.5 * np.exp(-(1 - mean) / 0.1)]
        return np.concatenate((ends[0], 5 * np.exp(-np.abs(inside - mean) / 0.1), ends[1]))

    return float(np.abs(np.log(law(x) / law(y))).max())


def _chosen(x, y):
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def log_density(mean, at):
        total = sum((b - a) / 2 * weights @ np.exp(-5 * np.abs((a + b) / 2 + (b - a) / 2 * nodes - mean))
                    for a, b in ((0, mean), (mean, 1)))
        return -5 * np.abs(at - mean) - np.log(total)

    at = np.array([0, x, y, 1])                  # the log ratio is linear between the two means and constant outside
    return float(np.abs(log_density(x, at) - log_density(y, at)).max())


@entries("two have no finite epsilon; the others have 1, ln 1.2, and for `chosen` less than the general theorem allows")
def dp_means():
    """`answer`: mechanism -> smallest epsilon under replace, ten values in [0, 1]."""
    return {
        "clamped": Number(
            _grid(_clamped),
            "the mean moves by 0.1, and the noise has scale 0.1. What is done to the output afterwards costs "
            "nothing; here it does not make epsilon smaller either",
            {"under replace one value moves by at most 1, so the mean by at most 0.1, not 0.2": 2}, tolerance=6e-4),
        "truncated": Number(
            math.inf, "in the two worlds the outputs lie in two different intervals: is there an output that only one "
            "of them can give?"),
        "coin": Number(math.inf, "take ten zeros and its neighbour: how likely is a 1 in each world?"),
        "soft": Number(
            _grid(lambda x, y: _bernoulli(0.25 + x / 2, 0.25 + y / 2)),
            "the probability of a 1 moves by 0.05; where in [0.25, 0.75] is that the largest ratio?",
            {"1.2 is the ratio and 0.2 its excess over 1; epsilon is its logarithm": 0.2}, tolerance=6e-4),
        "chosen": Number(
            _grid(_chosen),
            "the exponent moves by at most 0.5, and the density's normalising factor moves too. Compare the "
            "densities for the means 0 and 0.1 at the outcome 0",
            {"1 is what the general theorem allows; here the normalising factor changes by less, so the smallest "
             "epsilon is below 1": 1,
             "the exponent alone gives 0.5; the normalising factor depends on the mean as well": 0.5}, tolerance=6e-4),
    }


# ------------------------------------------------------------------------------------------------- randomized response

@functools.cache
def _answering(
    truth=lambda e, k: e / (e + k - 1), lie=lambda rng, k, n: rng.integers(1, k, n), same=None, one_coin=False
):
    """Randomized response, right unless told otherwise; `same(n)` gives for each person whose coins are used.

    With `one_coin` everybody lies or nobody, and each has a lie of their own.
    """
    def respond(values, k, epsilon, rng):
        n = len(values)
        honest, shift = rng.random(n) < truth(math.exp(epsilon), k), lie(rng, k, n)
        if same is not None:
            honest, shift = honest[same(n)], shift[same(n)]
        if one_coin:
            honest = honest[:1]
        return np.where(honest, values, (values + shift) % k)

    return respond


RESPONSES = {
    "there is no noise: every report is the truth": _answering(lambda e, k: 1.0),
    "too little noise: a lie must be one of the *other* answers, or the truth gets a second chance and epsilon is "
    "larger":
        _answering(lie=lambda rng, k, n: rng.integers(0, k, n)),
    "too little noise: e^ε/(e^ε + 1) is the probability of the truth for two answers only. With k answers each lie "
    "is rarer, so the ratio of the two probabilities is larger than e^ε": _answering(lambda e, k: e / (e + 1)),
    "too little noise: your reports cost 2ε": _answering(lambda e, k: e**2 / (e**2 + k - 1)),
    "private, but more noise than needed: your reports cost only ε/2":
        _answering(lambda e, k: e**0.5 / (e**0.5 + k - 1)),
    "private, but more noise than needed: the denominator is e^ε + k − 1, not e^ε + k":
        _answering(lambda e, k: e / (e + k)),
    "keeping the truth with probability (e^ε − 1)/(e^ε + k − 1) is right if otherwise *any* answer is drawn, also "
    "the true one. Yours draws one of the other answers":
        _answering(lambda e, k: (e - 1) / (e + k - 1)),
    "a lie is always the next answer: then most pairs of report and truth are impossible, an infinite loss":
        _answering(lie=lambda rng, k, n: np.ones(n, int)),
    "one coin for all people: they all tell the truth together or all lie together. Whoever knows one true answer "
    "then knows all of them. Toss a coin for each person": _answering(same=lambda n: np.zeros(n, int)),
    "one coin for all people: they all tell the truth together or all lie together, each with a lie of their own. "
    "Toss a coin for each person":
        _answering(one_coin=True),
    "neighbours in the list share their coins. Then the reports are not independent, and two reports together "
    "reveal more":
        _answering(same=lambda n: np.arange(n) // 2 * 2),
    "people half a list apart share their coins. Then the reports are not independent, and two reports together "
    "reveal more":
        _answering(same=lambda n: np.arange(n) % (n // 2)),
    "the reports are in another order than the people":
        lambda values, k, epsilon, rng: rng.permutation(_answering()(values, k, epsilon, rng)),
}


def _people(low, high, k, epsilon, calls=6):
    """People of whom each would say `low` or `high`, by a coin; a report must be true nearly as often as ε allows."""
    def cells(got, coins):
        return Labels(len(coins), k).read(got)

    return Crowd(" / ".join(f"person who says {said}, k = {k}, ε = {epsilon:.3g}" for said in (low, high)),
                 lambda coins: (np.where(coins, high, low), k, epsilon), cells, 6000, ((epsilon, 0.0),),
                 (low, high), calls=calls, words=("reports", "sent", "answer"), within=0.5,
                 share=0.975 * math.exp(epsilon) / (math.exp(epsilon) + k - 1))


def _survey(what, one, two, k, epsilon, **settings):
    one, two = np.array(one), np.array(two)
    return Pair(what, (one, k, epsilon), (two, k, epsilon), ((epsilon, 0.0),), (one, two), **settings)


SURVEYS = [
    _survey("eight people, k = 3 / the first says something else", [0, 2, 1, 1, 0, 2, 2, 0], [1, 2, 1, 1, 0, 2, 2, 0],
            3, 1.2, runs=3000),
    _survey("three people, k = 2 / the last says something else", [0, 1, 1], [0, 1, 0], 2, 0.6, runs=1500, twice=600),
    _survey("four people who agree, k = 7 / the third says something else", [3, 3, 3, 3], [3, 3, 4, 3], 7, 0.8,
            runs=1500),
    _survey("two people, k = 4 / the second says something else", [1, 3], [1, 0], 4, 0.9, runs=1500),
    _survey("one person, k = 8 / one person who says something else", [0], [1], 8, 0.9, runs=1500),
    _survey("150 people, k = 2 / the last says something else", np.arange(150) % 2, [*np.arange(149) % 2, 0], 2, 0.6,
            runs=500),
]
CROWDS = [_people(0, 1, 2, math.log(3)), _people(4, 2, 5, 1.0), _people(0, 8, 9, 1.6, calls=9)] + [
    _people(1, 0, 2, 0.1, calls=12), _people(0, 1, 2, 7.5, calls=16),          # of the latter, one in 1,800 tells a lie
    _people(11, 3, 30, 2.5),
] + [
    _people(*np.random.default_rng([31, i]).permutation(case["k"])[:2].tolist(), case["k"], case["epsilon"])
    for i, case in enumerate(drawn(3, 31, k=(3, 9), epsilon=(0.3, 2.2)))
]


@checker
@looks_for("rare", size=ONE_ANSWER, empty=ONE_ANSWER, contents=ONE_ANSWER, fractions="an answer is one of a list",
           negative="an answer is one of a list", missing="an answer is one of a list", far="answers have no distance",
           quotient="coins have no scale", zero="coins have no scale",
           order="the reports come out in the order of the people")
def dp_respond(respond):
    """`respond(values, k, epsilon, rng)`: randomized response for k answers, an array of reports."""
    seen = battery(respond, lambda pair: Labels(len(pair.one[0]), pair.one[1]), SURVEYS, crowds=CROWDS,
                   mistakes=RESPONSES, right=_answering(), seed=31)
    return f"a coin for every report, and the truth as often as ε allows; {seen}"


# ------------------------------------------------------------------------------------------------ the size of a survey

SURVEY_SIZES = [(1.0, 0.01), (math.log(3), 0.02), (0.1, 0.05), (4.0, 0.005)]


def _people_for(variance):
    """How many people for a standard error: ceil(variance(p)/error^2), where p is the probability of the truth."""
    return lambda epsilon, error: math.ceil(variance(1 / (1 + math.exp(-epsilon))) / error**2 - 1e-6)


NEEDED = _people_for(lambda p: p * (1 - p) / (2 * p - 1) ** 2)
SURVEY_MISTAKES = {
    "you answered for a noisy total of a trusted office (√2/ε for everybody together); here every person adds noise of "
    "their own":
        lambda epsilon, error: math.ceil(math.sqrt(2) / epsilon / error),
    "the standard error is the square root of a variance: divide by the square of the error":
        lambda epsilon, error: math.ceil(NEEDED(epsilon, error) * error),
    "that is the error of the share of yes among the reports; the estimate divides it by 2p − 1":
        _people_for(lambda p: p * (1 - p)),
    "you divide by 2p − 1 once, and the variance needs it squared": _people_for(lambda p: p * (1 - p) / (2 * p - 1)),
    "you took 1/4 for the variance of a report, as if the people were drawn at random too. The people are fixed; "
    "only their coins are random":
        _people_for(lambda p: p * (1 - p) / (2 * p - 1) ** 2 + 0.25),
}


def _error_of(got, right, epsilon, error):
    p = 1 / (1 + math.exp(-epsilon))
    would = math.sqrt(p * (1 - p) / max(got, 1e-9)) / (2 * p - 1)
    verdict = "are too few" if got < right else "are more than needed"
    return f"{got:,.0f} people {verdict}: the standard error would be {would:.7g}"


@checker
def dp_survey(respondents):
    """`respondents(epsilon, error)`: smallest number of people for a standard error of at most `error`."""
    on_cases(respondents, SURVEY_SIZES, NEEDED, SURVEY_MISTAKES, whole=True, rtol=0, what="the number of people",
             otherwise=_error_of)
    return "the smallest number that does, in all four cases"


# ----------------------------------------------------------------------------------------------- bounded contributions

def _five_stars(users, stars, B, bound="user", only=5):
    if bound == "rows":
        return sum(int((stars[users == user][:B] >= only).sum()) for user in np.unique(users))
    each = np.unique(users[stars >= only], return_counts=True)[1]
    return int({"user": np.minimum(each, B).sum(), "nobody": each.sum(), "table": min(B, each.sum())}[bound])


@functools.cache
def _release(scale=lambda users, stars, B, epsilon: B / epsilon, again=False, draw="laplace", **how):
    """The bounded count with Laplace noise, right unless told otherwise."""
    def release(users, stars, B, epsilon, rng):
        total, b, noise = _five_stars(users, stars, B, **how), scale(users, stars, B, epsilon), getattr(rng, draw)
        result = total + noise(scale=b)
        while again and result < 0:
            result = total + noise(scale=b)
        return result

    return release


RELEASES = {
    "each user is bounded, but the noise is for one row: it must be B times as wide":
        _release(lambda u, s, B, e: 1 / e),
    "the noise fits B rows, but nobody's contribution is bounded: the heaviest user moves the count by all their rows":
        _release(bound="nobody"),
    "no bound and noise for one row: that protects one rating, not one person":
        _release(lambda u, s, B, e: 1 / e, bound="nobody"),
    "ratings that are not five stars are counted as well": _release(only=0),
    "all rows are counted, of all users and with any stars": _release(bound="nobody", only=0),
    "B bounds the whole table, not each user": _release(bound="table"),
    "B rows of each user are kept, with whatever stars, and fives are lost: bound the number of fives":
        _release(bound="rows"),
    "private, but with about twice the noise it needs: add/remove moves the count by B":
        _release(lambda u, s, B, e: 2 * B / e),
    "there is no noise": _release(lambda u, s, B, e: 0),
    "half the noise that is needed": _release(lambda u, s, B, e: B / e / 2),
    "the noise follows the heaviest user of this table; a scale that depends on the data reveals whether that user is "
    "there":
        _release(lambda u, s, B, e: min(B, np.unique(u[s == 5], return_counts=True)[1].max(initial=1)) / e),
    "the noise has scale ε·B, should be B/ε": _release(lambda u, s, B, e: B * e),
    "the noise has the right scale as a standard deviation, but a Laplace scale is smaller than that by √2":
        _release(lambda u, s, B, e: B / e / 2**0.5),
    "normal noise has no ε at all: its tails fall too fast": _release(lambda u, s, B, e: 2**0.5 * B / e, draw="normal"),
    "near 0 the results are distributed as if noise were drawn again until the result is not negative, or as if "
    "the absolute value were taken. Drawing again is not private, because how often it happens depends on the "
    "count; an absolute value has a larger error than necessary. Set negative results to 0 instead":
        _release(again=True),
}


def _ratings(*people):
    """Shuffled rows of users; each is (number of fives, number of fours)."""
    users = np.repeat(np.arange(len(people)) * 7 + 3, [sum(person) for person in people]).astype(int)
    stars = np.concatenate([np.repeat([5, 4], person) for person in people] + [np.empty(0)]).astype(int)
    order = np.random.default_rng(1).permutation(len(users))
    return users[order], stars[order]


def _users(what, common, more, B, epsilon, **settings):
    """`common` people, and the same with those in `more`; noise is within 1.69 scales in 79 % of the runs or more."""
    one, two = (_ratings(*people) for people in (common, [*common, *more]))
    return Pair(what, (*one, B, epsilon), (*two, B, epsilon), ((len(more) * epsilon, 0.0),),
                (_five_stars(*one, B), _five_stars(*two, B)), within=1.69 * B / epsilon, share=0.75, **settings)


def _town(case, seed):
    people = np.random.default_rng(seed).integers(0, 6, (case["people"], 2)).tolist()
    return _users(f"{case['people']} users, B = {case['B']} / the same and one with {case['fives']} fives", people,
                  [(case["fives"], 1)], case["B"], case["epsilon"], runs=800)


FEW, MANY = [(1, 0), (0, 3), (2, 0), (5, 1), (0, 2)], [(1 + i % 9, i % 4) for i in range(60)]
USERS = [
    _users("no rows / one user with 30 fives", [], [(30, 0)], 4, 1.0, runs=3000, law=True, twice=740),
    _users("no rows / one user with one five", [], [(1, 0)], 3, 0.8, runs=800),
    _users("two users without a five / the same and one with two fives", [(0, 3), (0, 1)], [(2, 0)], 1, 1.0, runs=3000),
    _users("one user with nine fives / the same and one with 80", [(9, 0)], [(80, 0)], 60, 1.3, runs=3000),
    _users("six users, ε = 0.7 / the same and one with three fives", MANY[:6], [(3, 1)], 1, 0.7, runs=7000, law=True),
    _users("two users, ε = 0.02 / the same and 50 with a five", [(2, 1), (7, 0)], 50 * [(1, 0)], 3, 0.02, runs=1500),
    _users("200 users, 1,300 rows / the same and one with two fives", 200 * [(6, 0)] + 90 * [(0, 1)], [(2, 0)], 5, 0.9,
           runs=150),
    _users("three users, ε = 9 / the same and one with a five", [(1, 2), (1, 0), (0, 1)], [(1, 0)], 2, 9.0, runs=1200,
           law=True),
    _users("five users / the same and three with 12 fives", FEW, 3 * [(12, 0)], 4, 0.6, runs=4000, law=True),
    _users("60 users, 350 rows / the same and two with 40 fives each", MANY, 2 * [(40, 2)], 3, 0.7, runs=1000),
    *(_town(case, [32, i])
      for i, case in enumerate(drawn(3, 32, people=(1, 25), B=(1, 9), epsilon=(0.3, 2.0), fives=(1, 12)))),
]


@checker
@looks_for("contents", "far", "quotient", "own", "zero", fractions=RATING, negative=RATING, missing=RATING,
           order="one number comes out", shared="one number comes out")
def dp_user(release):
    """`release(users, stars, B, epsilon, rng)`: five-star ratings, at most B of a user, private for a user."""
    seen = battery(release, Numbers(), USERS, mistakes=RELEASES, right=_release(), seed=32)
    return f"at most B of each user, and noise for B; {seen}"
