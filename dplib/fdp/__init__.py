"""f-DP: privacy as a test that cannot be done well, and the exact arithmetic of such tests.

Somebody who sees the output and must tell one data set from its neighbour faces the laws P and Q of the output on the
two. The trade-off function f = T(P, Q) says how few of the Q's such a test can miss (type II error f(alpha)) when it
may wrongly reject P with probability alpha (type I error). The higher f, the more privacy; 1 - alpha is perfect.

A trade-off function is held here as its two privacy profiles, for epsilon >= 0,

    delta(epsilon) = sup over events S of Q(S) - e^epsilon P(S) = 1 + f*(-e^epsilon),   and the same with P and Q
    swapped.

Every number errs on the safe side: a delta or epsilon is never below the truth, a curve never above it, up to the last
digits of the closed forms. (The central limit theorem of `clt` is an approximation; only its band is a bound.)

`tradeoff` holds the functions, `product` the numbers behind a product of many, `limit` the central limit theorem.
"""
from dplib.fdp.limit import CentralLimit, Moments, clt, moments
from dplib.fdp.tradeoff import TradeOff, approx, compose, finite, from_curve, gaussian, laplace, worst

__all__ = [
    "CentralLimit", "Moments", "TradeOff", "approx", "clt", "compose", "finite", "from_curve", "gaussian", "laplace",
    "moments", "worst",
]
