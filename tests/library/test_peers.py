"""What the tests of other projects assert, asked of dplib: the numbers stand in peers.json, each with its source.

Where dplib gives another number, the table says so, and arithmetic that shares nothing with dplib decides who is right.
`.venv/bin/python tests/library/test_peers.py` writes the page of the reference that counts all this.
"""
import itertools
import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.special import bdtr

from dplib import budget, fdp
from dplib.anonymity import k_anonymity, l_diversity, t_closeness
from dplib.attacks import tpr_at
from dplib.audit import epsilon_lower_bound
from dplib.distributions import exact_delta, exact_epsilon, privacy_loss
from dplib.inference import noisy_binomial_cdf
from dplib.local import Rappor
from dplib.mechanisms import gaussian_delta, gaussian_sigma
from dplib.partitions import laplace_threshold, selection_probability, threshold_delta
from dplib.sensitivity import bounded_mean, bounded_sum

TABLE = Path(__file__).with_name("peers.json")
PAGE = Path(__file__).resolve().parents[2] / "reference" / "peers.md"
PEERS = json.loads(TABLE.read_text(encoding="utf-8"))
FACTS, REASONS = PEERS["facts"], PEERS["reasons"]

# --------------------------------------------------------------------------------- what the table calls, by its names


def noise_cdf(x, *, scale, noise):
    """P(Z <= x) for the noise alone: a count of nobody."""
    return noisy_binomial_cdf(x, n=1, p=0.0, scale=scale, noise=noise)


def noise_quantile(p, *, scale, noise):
    if noise == "geometric":
        return next(x for x in itertools.count(-1000) if noise_cdf(x, scale=scale, noise=noise) >= p)
    if p > 0.5:
        return -noise_quantile(1 - p, scale=scale, noise=noise)
    return scale * brentq(
        lambda x: math.log(max(noise_cdf(x, scale=1.0, noise=noise), 5e-324)) - math.log(p), -740, 0, xtol=1e-15,
        rtol=1e-15)


def gaussian_quantile(p, *, epsilon, delta, sensitivity):
    return noise_quantile(p, scale=gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity), noise="gaussian")


def gaussian_variance(*, epsilon, delta, sensitivity):
    return gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity) ** 2


def gaussian_threshold_apart(*, epsilon, noise_delta, lone_delta, num_groups=1, per_group=1.0):
    """The threshold for noise that has a delta of its own, as in Wilson et al. (2020)."""
    sigma = gaussian_sigma(epsilon, delta=noise_delta, sensitivity=per_group * math.sqrt(num_groups))
    return lone_threshold(scale=sigma, delta=lone_delta, num_groups=num_groups, per_group=per_group)


def lone_threshold(*, scale, delta, num_groups, per_group=1.0):
    one = -math.expm1(math.log1p(-delta) / num_groups)
    return per_group + noise_quantile(1 - one, scale=scale, noise="gaussian") if one > 0.5 else (
        per_group - noise_quantile(one, scale=scale, noise="gaussian"))


def lone_delta(*, threshold, epsilon, noise_delta, num_groups=1, per_group=1.0):
    """What the threshold costs where all groups are lone: at an epsilon as large as this, the noise costs nothing."""
    sigma = gaussian_sigma(epsilon, delta=noise_delta, sensitivity=per_group * math.sqrt(num_groups))
    large = 1e3 + 10 * num_groups * (per_group / sigma) ** 2
    return threshold_delta(
        "gaussian", threshold, epsilon=large, scale=sigma, num_groups=num_groups, per_group=per_group)


def passes_laplace_threshold(n, *, epsilon, delta):
    scale, threshold = laplace_threshold(epsilon=epsilon, delta=delta)
    return noise_cdf(n - threshold, scale=scale, noise="laplace")


def passes_gaussian_threshold(n, *, epsilon, delta):
    """With delta in two halves, as the peers have it."""
    sigma = gaussian_sigma(epsilon, delta=delta / 2)
    return noise_cdf(n - lone_threshold(scale=sigma, delta=delta / 2, num_groups=1), scale=sigma, noise="gaussian")


def selected(n, *, epsilon, delta, num_groups=1):
    return selection_probability(n, epsilon=epsilon / num_groups, delta=delta / num_groups)


def sampled(f, rate, direction):
    f = f.subsample(rate)
    return f.inverse() if direction == "add" else f


def laplace_delta(epsilon, *, scale, sensitivity=1.0, rate=1.0, direction="remove", times=1):
    return (sampled(fdp.laplace(sensitivity / scale), rate, direction) ** times).delta(epsilon)


def laplace_scale(*, epsilon, delta, sensitivity=1.0, times=1):
    """The least scale for so many answers."""
    return math.exp(brentq(
        lambda log: laplace_delta(epsilon, scale=math.exp(log), sensitivity=sensitivity, times=times) - delta,
        math.log(sensitivity * math.sqrt(times) / epsilon), math.log(sensitivity * times / epsilon) - 1e-3, xtol=1e-4))


def gaussian_profile(epsilon, *, sigma, sensitivity=1.0, rate=1.0, direction="remove"):
    return sampled(fdp.gaussian(sensitivity / sigma), rate, direction).delta(epsilon)


def gaussian_epsilon(*, sigma, delta):
    return budget.gdp_to_approx(1 / sigma, delta=delta)


def round_trip_epsilon(*, epsilon, delta):
    return gaussian_epsilon(sigma=gaussian_sigma(epsilon, delta=delta), delta=delta)


def round_trip_sigma(*, sigma, delta):
    return gaussian_sigma(gaussian_epsilon(sigma=sigma, delta=delta), delta=delta)


def sigma_of_its_delta(*, sigma, epsilon, sensitivity):
    return gaussian_sigma(epsilon, delta=gaussian_delta(epsilon, sigma=sigma, sensitivity=sensitivity),
                          sensitivity=sensitivity)


def geometric_laws(scale, sensitivity):
    """The noisy count of nobody and of somebody; beyond the two the loss is the same, so these values are one."""
    law = np.diff(noise_cdf(np.arange(sensitivity), scale=scale, noise="geometric"), prepend=0.0, append=1.0)
    return law, law[::-1]


def geometric_delta(epsilon, *, scale, sensitivity, rate=1.0, direction="remove", times=1):
    return (sampled(fdp.finite(*geometric_laws(scale, sensitivity)), rate, direction) ** times).delta(epsilon)


def truncated_gaussian_delta(epsilon, *, sigma, sensitivity, bound, rate=1.0, direction="remove"):
    """The discrete Gaussian on -bound ... bound, moved."""
    law = np.exp(-np.arange(-bound, bound + 1.0) ** 2 / (2 * sigma**2))
    law = np.pad(law / law.sum(), (0, sensitivity))
    return sampled(fdp.finite(law, np.roll(law, sensitivity)), rate, direction).delta(epsilon)


def sampled_gaussian_epsilon(*, sigma, rate, times, delta):
    """Epsilon of training with noisy gradients: the worse of the two directions."""
    f = fdp.gaussian(1 / sigma).subsample(rate)
    return max((f**times).epsilon(delta), (f.inverse() ** times).epsilon(delta))


PARTS = {"gaussian": fdp.gaussian, "laplace": fdp.laplace, "approx": lambda pair: fdp.approx(pair[0], delta=pair[1])}


def product(parts):
    """Of [kind, parameter, how often] and so on; a fourth entry is a sampling rate."""
    return fdp.compose([(PARTS[kind](x).subsample(*rate or [1]), n) for kind, x, n, *rate in parts])


def product_delta(epsilon, *, parts):
    return product(parts).delta(epsilon)


def product_epsilon(delta, *, parts):
    return product(parts).epsilon(delta)


def true_positives(alpha, *, parts):
    return 1 - float(product(parts)(alpha))


def type_two(alpha, *, mu):
    return float(fdp.gaussian(mu)(alpha))


def advantage(*, mu):
    return fdp.gaussian(mu).delta(0.0)


def bayes_risk(prior, *, mu):
    """The least of prior * alpha + (1 - prior) * beta: a line that supports the curve, by the profile."""
    low, high = sorted((prior, 1 - prior))
    return low - low * fdp.gaussian(mu).delta(math.log(high / low))


def mu_of_errors(*, alpha, beta):
    return brentq(lambda mu: float(fdp.gaussian(mu)(alpha)) - beta, 1e-6, 20, xtol=1e-12)


def response_laws(p, k, neighbours):
    """Keep the value with probability 1 - p, otherwise draw one of all k; against another value, or against no value.
    """
    one = np.full(k, p / k)
    one[0] += 1 - p
    return one, np.roll(one, 1) if neighbours == "replace" else np.full(k, 1 / k)


def response_rdp(order, *, p, k, neighbours):
    """Largest Renyi divergence of the two directions, from the privacy loss."""
    laws = response_laws(p, k, neighbours)
    if order == math.inf:
        return exact_epsilon(*laws)
    losses = [privacy_loss(*pair) for pair in (laws, laws[::-1])]
    return max(math.log(np.sum(weight * np.exp((order - 1) * loss))) / (order - 1) for loss, weight in losses)


def response_delta(epsilon, *, p, k, neighbours):
    return exact_delta(*response_laws(p, k, neighbours), epsilon=epsilon)


def response_epsilon(*, truth, k):
    law = np.full(k, (1 - truth) / (k - 1))
    law[0] = truth
    return exact_epsilon(law, np.roll(law, 1))


def rdp_constant(*, orders, rdp, delta):
    low, high = orders
    return budget.rdp_to_approx(range(low, high), [rdp] * (high - low), delta=delta)


def gaussian_rdp(*, sigma, order, times=1, sensitivity=1.0):
    return budget.gaussian_rdp(sigma, order=order, sensitivity=sensitivity) * times


def gaussian_rho(*, sigma, sensitivity=1.0):
    return budget.gaussian_rdp(sigma, order=2.0, sensitivity=sensitivity) / 2


def laplace_loss(*, scale, sensitivity):
    return fdp.laplace(sensitivity / scale).epsilon(0.0)


def geometric_loss(*, scale, sensitivity):
    return exact_epsilon(*geometric_laws(scale, sensitivity))


def geometric_variance(*, scale):
    reach = np.arange(-math.ceil(60 * scale), math.ceil(60 * scale) + 1)
    return float(np.sum(reach**2 * np.diff(noise_cdf(reach, scale=scale, noise="geometric"), prepend=0.0)))


def geometric_within(x, *, scale):
    """P(-x < Z < x)."""
    return 1 - 2 * noise_cdf(-x, scale=scale, noise="geometric")


def geometric_pmf(x, *, scale):
    return float(np.diff(noise_cdf(np.array([x - 1, x]), scale=scale, noise="geometric"))[0])


def spent(losses):
    ledger = budget.Budget(100.0, delta=0.9)
    for epsilon, delta in losses:
        ledger.spend(epsilon, delta=delta)
    return ledger


def tail_at_clopper_pearson(k, *, n, significance):
    """P(at most k of n) at the upper bound that the audit uses, which is found beside an event that always happens."""
    loss = epsilon_lower_bound(n, k, n, confidence=1 - 2 * significance)
    return float(bdtr(k, n, significance ** (1 / n) / math.exp(loss)))


def classes(members):
    """A table from the sensitive values of its classes."""
    rows = [(i, value) for i, values in enumerate(members) for value in values]
    return pd.DataFrame(rows, columns=["class", "value"])


def table(name):
    return classes(PEERS["tables"][name])


CALLS = {
    "advantage": advantage,
    "bayes_risk": bayes_risk,
    "bounded_mean": bounded_mean,
    "bounded_sum": bounded_sum,
    "budget.optimal": budget.optimal,
    "budget.pure_to_zcdp": budget.pure_to_zcdp,
    "budget.zcdp_to_approx": budget.zcdp_to_approx,
    "exact_delta": exact_delta,
    "gaussian_delta": gaussian_delta,
    "gaussian_epsilon": gaussian_epsilon,
    "gaussian_profile": gaussian_profile,
    "gaussian_quantile": gaussian_quantile,
    "gaussian_rdp": gaussian_rdp,
    "gaussian_rho": gaussian_rho,
    "gaussian_sigma": gaussian_sigma,
    "gaussian_threshold_apart": gaussian_threshold_apart,
    "gaussian_variance": gaussian_variance,
    "geometric_delta": geometric_delta,
    "geometric_loss": geometric_loss,
    "geometric_pmf": geometric_pmf,
    "geometric_variance": geometric_variance,
    "geometric_within": geometric_within,
    "k_anonymity": lambda name: k_anonymity(table(name), "class"),
    "l_diversity": lambda name, **how: l_diversity(table(name), "class", "value", **how),
    "laplace_delta": laplace_delta,
    "laplace_loss": laplace_loss,
    "laplace_scale": laplace_scale,
    "laplace_threshold": lambda **with_: laplace_threshold(**with_).threshold,
    "lone_delta": lone_delta,
    "lone_threshold": lone_threshold,
    "mu_of_errors": mu_of_errors,
    "noise_cdf": noise_cdf,
    "noise_quantile": noise_quantile,
    "passes_gaussian_threshold": passes_gaussian_threshold,
    "passes_laplace_threshold": passes_laplace_threshold,
    "product_delta": product_delta,
    "product_epsilon": product_epsilon,
    "rdp_constant": rdp_constant,
    "rappor": lambda **how: Rappor(**how).epsilon_permanent,
    "response_delta": response_delta,
    "response_epsilon": response_epsilon,
    "response_rdp": response_rdp,
    "round_trip_epsilon": round_trip_epsilon,
    "round_trip_sigma": round_trip_sigma,
    "sampled_gaussian_epsilon": sampled_gaussian_epsilon,
    "selected": selected,
    "sigma_of_its_delta": sigma_of_its_delta,
    "spent": lambda losses: spent(losses).spent,
    "spent_delta": lambda losses: spent(losses).spent_delta,
    "t_closeness": lambda name: t_closeness(table(name), "class", "value", ordered=True),
    "tail_at_clopper_pearson": tail_at_clopper_pearson,
    "threshold_delta": threshold_delta,
    "tpr_at": tpr_at,
    "true_positives": true_positives,
    "truncated_gaussian_delta": truncated_gaussian_delta,
    "type_two": type_two,
}


def answer(fact):
    how = {name: float(x) if x == "inf" else x for name, x in fact["with"].items()}
    return float(CALLS[fact["call"]](**how))


def number(fact):
    return float(fact["number"])                 # "inf" stands as text


def agrees(fact, got):
    wanted, within = number(fact), fact["within"]
    match fact.get("is", "equal"):
        case "at most":
            return wanted - fact.get("slack", math.inf) <= got <= wanted + within
        case "at least":
            return got >= wanted - within
    return got == wanted or abs(got - wanted) <= within


# -------------------------------------------------------------------------------------- arithmetic without any dplib


def normal_tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def least_sigma(epsilon, *, delta, sensitivity=1.0):
    """The least standard deviation of Gaussian noise, by bisection with forty digits."""
    with mpmath.workdps(40):
        epsilon, delta = mpmath.mpf(epsilon), mpmath.mpf(delta)

        def excess(sigma):
            half, shift = 1 / (2 * sigma), epsilon * sigma
            return normal_tail(shift - half) - mpmath.exp(epsilon) * normal_tail(half + shift) - delta

        low, high = mpmath.mpf(10) ** -160, mpmath.mpf(10) ** 160
        for _ in range(170):
            middle = mpmath.sqrt(low * high)
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(high) * sensitivity


def with_the_least_sigma(fact, patch):
    patch.setattr(sys.modules[__name__], "gaussian_sigma", least_sigma)
    patch.setitem(CALLS, "gaussian_sigma", least_sigma)
    return answer(fact)


def lone_gaussian_tail(fact, _):
    how = fact["with"]
    sigma = least_sigma(how["epsilon"], delta=how["noise_delta"])
    return float(normal_tail((how["threshold"] - 1) / mpmath.mpf(sigma)))


def tail_sum(fact, _):
    """P(Z >= threshold - rows), term by term."""
    scale, first = fact["with"]["scale"], fact["with"]["threshold"] - fact["with"].get("per_group", 1)
    return float(mpmath.fsum(mpmath.exp(-x / mpmath.mpf(scale)) for x in range(int(first), int(first + 200 * scale)))
                 * mpmath.tanh(1 / mpmath.mpf(2 * scale)))


def fixed_thresholds(fact, _):
    """The best of all thresholds at which a score counts as a member, one by one."""
    members, others = fact["with"]["members"], fact["with"]["others"]
    rates = [[np.mean(np.array(scores) >= cut) for scores in (others, members)] for cut in [*members, *others, 1e9]]
    return max(hit for false, hit in rates if false <= fact["with"]["fpr"])


def recursive_diversity(fact, _):
    """The largest l for which r_1 < c (r_l + ... + r_m) in every class, by its definition."""
    counts = [sorted(Counter(values).values(), reverse=True) for values in PEERS["tables"][fact["with"]["name"]]]
    held = [k for k in range(1, 50) if all(r[0] < fact["with"]["c"] * sum(r[k - 1:]) for r in counts)]
    return max(held, default=1)


def newer_conversion(fact, _):
    """Canonne, Kamath and Steinke (2020), by a search over the orders with thirty digits."""
    with mpmath.workdps(30):
        rho, delta = (mpmath.mpf(fact["with"][name]) for name in ("rho", "delta"))

        def bound(log):
            order = 1 + mpmath.exp(log)
            return rho * order + mpmath.log(1 / (order * delta)) / (order - 1) + mpmath.log(1 - 1 / order)

        low, high = mpmath.mpf(-10), mpmath.mpf(10)
        for _ in range(200):
            one, two = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, two) if bound(one) < bound(two) else (one, high)
        return float(bound(low))


def privacy_buckets(parts, width):
    """dp_accounting's lower bound of a product, with its losses in buckets of this width."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    makers = {"gaussian": pld.from_gaussian_mechanism, "laplace": pld.from_laplace_mechanism}
    made = [makers[kind](
        1 / x, sampling_prob=rate[0] if rate else 1.0, pessimistic_estimate=False, use_connect_dots=False,
        value_discretization_interval=width).self_compose(n) for kind, x, n, *rate in parts]
    total = made[0]
    for one in made[1:]:
        total = total.compose(one)
    return total


def trained_in_buckets(fact, _):
    how = fact["with"]
    parts = [["gaussian", 1 / how["sigma"], how["times"], how["rate"]]]
    return privacy_buckets(parts, 2e-5).get_epsilon_for_delta(how["delta"])


def product_in_buckets(fact, _):
    return privacy_buckets(fact["with"]["parts"], 1e-4).get_delta_for_epsilon(fact["with"]["epsilon"])


# how to compute the number, and how near to it the one who is right must come
EXACT = {
    "central limit": (trained_in_buckets, 1e-2),
    "coarse search": (with_the_least_sigma, 1e-6),
    "fixed thresholds": (fixed_thresholds, 0),
    "lost tail": (lone_gaussian_tail, 1e-6),
    "newer conversion": (newer_conversion, 1e-9),
    "recursive": (recursive_diversity, 0),
    "rounded up": (lambda fact, _: fact["with"]["epsilon"], 0),
    "sensitivity left out": (product_in_buckets, 1e-2),
    "sum of all": (lambda *_: 0.0, 0),
    "tiny epsilon": (with_the_least_sigma, 1e-6),
    "whole threshold": (tail_sum, 1e-9),
}

# ------------------------------------------------------------------------------------------------------------- tests

GROUPS = sorted({(fact["peer"], fact["call"]) for fact in FACTS})
SLOW = {"sampled_gaussian_epsilon", "central limit", "coarse search", "sensitivity left out"}


def marked(*group):
    return pytest.param(*group, marks=pytest.mark.slow if group[-1] in SLOW else ())


@pytest.mark.parametrize(("peer", "call"), [marked(*group) for group in GROUPS])
def test_dplib_agrees_except_where_the_table_says_so(peer, call):
    wrong = []
    for fact in FACTS:
        if (fact["peer"], fact["call"]) != (peer, call):
            continue
        if "refused" in fact:
            with pytest.raises(ValueError, match=f"^{fact['refused']}\\b"):
                answer(fact)
        elif agrees(fact, got := answer(fact)) == ("differs" in fact):
            wrong.append((fact, got))
    assert not wrong


@pytest.mark.parametrize("reason", [marked(reason) for reason in sorted(REASONS)])
def test_arithmetic_without_dplib_decides_who_is_right(reason, monkeypatch):
    compute, near = EXACT[reason]
    facts = [fact for fact in FACTS if fact.get("differs") == reason]
    assert ["shown" in fact for fact in facts].count(True) == 1
    for fact in facts:
        got = answer(fact)
        with monkeypatch.context() as patch:
            exact = compute(fact, patch)
        close = abs(got - exact) <= near * abs(exact), agrees(fact | {"is": "equal"}, exact)
        assert close == {"dplib": (True, False), "both": (True, False), "peer": (False, True)}[
            REASONS[reason]["right"]], (fact, got, exact)
        if reason == "coarse search":            # as documented, the peers' noise is larger by a thousandth at most
            assert 0.999 < number(fact) / exact < 1.0035
        if reason == "sum of all":               # an upper bound
            assert 0 < got < 1e-5


def test_the_table_is_large_and_says_where_each_number_stands():
    assert len(FACTS) >= 400 and len({fact["peer"] for fact in FACTS}) >= 8
    assert {fact["peer"] for fact in FACTS} == set(PEERS["peers"])
    assert {fact["call"] for fact in FACTS} == set(CALLS)
    asked = [json.dumps([fact["peer"], fact["test"], fact["call"], fact["with"], fact.get("is")]) for fact in FACTS]
    assert len(set(asked)) == len(asked)
    assert all(len(fact["test"].split()) >= 2 and "." in fact["test"].split()[0] for fact in FACTS)


# -------------------------------------------------------------------------------------------------------------- page


RIGHT = {"both": "Both are right", "peer": "The project is right", "dplib": "`dplib` is right"}


def digits(x, places=5):
    """A number with so many significant digits, as the page prints it."""
    text = f"{x:.{places}g}"
    if "e" not in text:
        return text.replace("-", "−")
    front, _, power = text.partition("e")
    power = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{front} · 10{power}".replace("-", "−").removeprefix("1 · ")


def projects():
    for key, peer in PEERS["peers"].items():
        facts = [fact for fact in FACTS if fact["peer"] == key]
        refused, differ = (sum(word in fact for fact in facts) for word in ("refused", "differs"))
        yield (f"[{peer['name']}]({peer['address']})", f"{peer['version']}, `{peer['commit'][:7]}`", peer["licence"],
               len(facts), len(facts) - refused - differ, refused, differ)


def differences(patch):
    """Each reason once, with the number that shows it."""
    for fact in FACTS:
        if "shown" in fact:
            name, reason = fact["differs"], REASONS[fact["differs"]]
            facts = [one for one in FACTS if one.get("differs") == name]
            peers = dict.fromkeys(PEERS["peers"][one["peer"]]["name"] for one in facts)
            with patch.context() as change:
                exact = EXACT[name][0](fact, change)
            said = [digits(x, reason.get("places", 5)) for x in (number(fact), answer(fact), exact)]
            said[0] = f"{fact.get('is', '')} {said[0]}".strip()
            yield (
                f"*{reason['asked']}* ({', '.join(peers)}; {len(facts)} {'facts' if len(facts) > 1 else 'fact'}).\n"
                f"The project says {said[0]}, `dplib` says {said[1]}, and {reason['by']} says {said[2]}.\n"
                f"{RIGHT[reason['right']]}: {reason['why']}")


def table_of(head, rows):
    lines = [head, *rows]
    lines.insert(1, ["---"] * len(head))
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def a_line_each(text):
    """Sentences on lines of their own, as the pages are written."""
    end = re.compile(r"(?<=[a-z0-9`)¹²³⁰-⁹]\.) (?=[A-Z`])")
    return "\n".join(line if line.startswith("|") else end.sub("\n  " if line.startswith("- ") else "\n", line)
                     for line in text.split("\n"))


def page(patch):
    rows = list(projects())
    total = [sum(row[i] for row in rows) for i in range(3, 7)]
    return a_line_each(PEERS["page"].format(
        facts=f"{total[0]:,}", agree=f"{total[1]:,}", refused=total[2], differ=total[3], projects=len(rows),
        table=table_of(["project", "version", "licence", "facts", "agree", "refused", "differ"],
                       [*rows, ["together", "", "", *(f"{number:,}" for number in total)]]),
        reasons="\n\n".join(differences(patch))))


@pytest.mark.slow
def test_the_page_is_drawn_from_the_table(monkeypatch):
    assert PAGE.read_text(encoding="utf-8") == page(monkeypatch)


if __name__ == "__main__":                       # write the page
    PAGE.write_text(page(pytest.MonkeyPatch()), encoding="utf-8")
    sys.exit()
