"""Answers put together from parts: mistakes for checkers, leaks and unusual right answers for their tests::

    LAPLACE = noisy(EXACT, lambda table, epsilon: 1 / epsilon)                the right answer
    noisy(EXACT, lambda table, epsilon: 1 / epsilon, shared(laplace))         one noise for all outputs
    where(lambda table, epsilon: len(table) > 100, EXACT, LAPLACE)            exact on a large table
    given(LAPLACE, epsilon=lambda epsilon: 2 * epsilon)                       half the noise

An answer is called as `answer(*arguments, rng)`. A law of noise is called as `law(rng, scale, shape)`.
"""

import functools
import inspect

import numpy as np

__all__ = [
    "again",
    "centred",
    "clipped",
    "difference",
    "each_call",
    "exponential",
    "fixed_seed",
    "geometric",
    "given",
    "gumbel",
    "kept",
    "laplace",
    "mirrored",
    "noisy",
    "normal",
    "one_sided",
    "own_luck",
    "same_luck",
    "same_size",
    "scaled",
    "shared",
    "stale",
    "then",
    "whole",
    "where",
]


# ------------------------------------------------------------------------------------------------- laws of noise


def laplace(rng, scale, shape):
    return rng.laplace(scale=scale, size=shape)


def normal(rng, scale, shape):
    return rng.normal(scale=scale, size=shape)


def gumbel(rng, scale, shape):
    return rng.gumbel(scale=scale, size=shape)


def exponential(rng, scale, shape):
    return rng.exponential(scale, size=shape)


def geometric(rng, scale, shape):
    """Whole-number Laplace noise."""
    p = -np.expm1(-1 / scale)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def centred(rng, scale, shape):
    """Laplace noise of scale 1 around `scale`: the first argument of numpy's rng.laplace is the centre."""
    return rng.laplace(scale, size=shape)


def one_sided(law=laplace):
    """Noise that is never negative."""
    return lambda rng, scale, shape: np.abs(law(rng, scale, shape))


def shared(law=laplace, axis=None):
    """One noise for all outputs, or for all that differ in this axis only."""

    def draw(rng, scale, shape):
        one = () if axis is None else tuple(1 if place == axis % len(shape) else n for place, n in enumerate(shape))
        return np.broadcast_to(law(rng, scale, one), shape)

    return draw


def same_size(law=laplace):
    """Noises of one size, each with a sign of its own."""
    return lambda rng, scale, shape: np.abs(law(rng, scale, ())) * rng.choice([-1, 1], shape)


def mirrored(law=laplace):
    """The second half of the noises is the first half, with the other sign."""

    def draw(rng, scale, shape):
        noise = law(rng, scale, shape)
        half = len(noise) // 2
        noise[half : 2 * half] = -noise[:half]
        return noise

    return draw


def scaled(factor, law=laplace):
    """The law with another scale: `scaled(2**0.5, normal)` has the standard deviation of Laplace noise."""
    return lambda rng, scale, shape: law(rng, factor * scale, shape)


def clipped(at, law=laplace):
    """Noise beyond this many scales is set to the limit."""
    return lambda rng, scale, shape: np.clip(law(rng, scale, shape), -at * scale, at * scale)


def difference(law=exponential):
    """One noise minus another: of exponential noises this is Laplace noise."""
    return lambda rng, scale, shape: law(rng, scale, shape) - law(rng, scale, shape)


def kept(law=laplace, fresh=0.05):
    """The noise of the call before; now and then a new one."""
    last = {}

    def draw(rng, scale, shape):
        if shape not in last or rng.random() < fresh:
            last[shape] = law(rng, 1.0, shape)
        return scale * last[shape]

    return draw


def whole(law=laplace, cut=np.round):
    """Noise rounded to a whole number by `cut`."""
    return lambda rng, scale, shape: cut(law(rng, scale, shape))


def noisy(exact, scale, law=laplace):
    """`exact(*arguments)`, plus noise of scale `scale(*arguments)` on each number of it."""

    def answer(*arguments):
        *table, rng = arguments
        value = np.asarray(exact(*table))
        noise = law(rng, scale(*table), value.shape)
        return value + noise if value.ndim else float(value + noise)

    return _signed(answer, exact)


def _signed(answer, exact):
    """The answer with the names of the parameters of `exact`, and `rng`."""
    names = [*inspect.signature(exact).parameters, "rng"]
    answer.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
    return answer


# ----------------------------------------------------------------------------------------- changes of an answer


def then(answer, change):
    """`change(output, arguments, rng)` comes after the answer: post-processing if it looks at nothing private."""
    return lambda *arguments: change(answer(*arguments), arguments[:-1], arguments[-1])


def where(condition, one, other):
    """`one` where `condition(*arguments)` holds, and `other` elsewhere. Either may be a function without luck."""

    def answer(*arguments):
        return _call(one if condition(*arguments[:-1]) else other, arguments)

    return answer


def _call(function, arguments):
    """With the generator if the function takes it."""
    parameters = inspect.signature(function).parameters.values()
    takes_all = any(one.kind is one.VAR_POSITIONAL for one in parameters) or len(parameters) >= len(arguments)
    return function(*arguments) if takes_all else function(*arguments[:-1])


def given(answer, **changes):
    """The answer with changed arguments: name -> function of the old value, or a new value.

    The names are those of the parameters of `answer`, which must have them: a function of your own, or from `noisy`.
    """
    names = list(inspect.signature(answer).parameters)

    def changed(*arguments):
        named = dict(zip(names, arguments, strict=True))
        for name, change in changes.items():
            named[name] = change(named[name]) if callable(change) else change
        return answer(*named.values())

    return changed


def own_luck(answer):
    """`make(seed)`: the answer with one generator of its own for all calls."""

    def make(seed):
        own = np.random.default_rng(seed)
        return functools.wraps(answer)(lambda *arguments: answer(*arguments[:-1], own))

    return make


def fixed_seed(answer, seed=5):
    """The same luck in every call."""
    return lambda *arguments: answer(*arguments[:-1], np.random.default_rng(seed))


def same_luck(answer, key=lambda *arguments: None):
    """Two calls in turn, for the same `key(*arguments)`, have the same luck."""
    seeds = {}

    def paired(*arguments):
        *given, rng = arguments
        name = key(*given)
        seed = seeds.pop(name, None)
        if seed is None:
            seed = seeds[name] = rng.integers(2**32)
        return answer(*given, np.random.default_rng(seed))

    return paired


def again(answer, bad):
    """The answer is called again while `bad(output, *arguments)` is true."""

    def patient(*arguments):
        while bad(out := answer(*arguments), *arguments[:-1]):
            pass
        return out

    return patient


def each_call(*answers):
    """The first call uses the first answer, the second the second, and so on, round and round."""
    calls = []

    def turn(*arguments):
        calls.append(None)
        return _call(answers[(len(calls) - 1) % len(answers)], arguments)

    return turn


def stale(answer, key=lambda *arguments: None):
    """Every second time it says again what it said the time before, for the same `key(*arguments)`."""
    kept = {}

    def remembers(*arguments):
        name = key(*arguments[:-1])
        if name in kept:
            return kept.pop(name)
        kept[name] = answer(*arguments)
        return kept[name]

    return remembers
