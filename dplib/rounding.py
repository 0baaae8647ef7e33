"""Rounding in one direction: a number that promises something must not promise more when it is printed."""
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from dplib._validate import finite, whole

__all__ = ["at_least", "at_most", "rounded"]


def rounded(number: float, digits: int, way: str) -> Decimal:
    """To so many significant digits, up or down (a constant of `decimal`); the noise of floats is taken off first."""
    digits = whole("digits", digits, least=1, most=14)
    return Context(prec=digits, rounding=way).create_decimal(f"{finite('number', number):.14g}")     # exp(log(3)) is 3


def at_most(number: float, digits: int = 3) -> str:
    """A number for a sentence that says "at most": rounded up, to so many significant digits.

    Parameters
    ----------
    number : float
        Finite.
    digits : int
        From 1 to 14.

    Returns
    -------
    str
        Written out, with commas between thousands.

    Raises
    ------
    ValueError
        If `number` is not finite or `digits` out of range.

    Examples
    --------
    >>> at_most(2.718281828), at_most(1.1), at_most(33115.45), at_most(3.0000000000000004)
    ('2.72', '1.1', '33,200', '3')
    """
    return f"{rounded(number, digits, ROUND_CEILING).normalize():,f}"


def at_least(number: float, digits: int = 3) -> str:
    """A number for a sentence that says "at least": rounded down, to so many significant digits.

    Parameters
    ----------
    number : float
        Finite.
    digits : int
        From 1 to 14.

    Returns
    -------
    str
        Written out, with commas between thousands.

    Raises
    ------
    ValueError
        If `number` is not finite or `digits` out of range.

    Examples
    --------
    >>> at_least(7.4866), at_least(0.7), at_least(33115.45)
    ('7.48', '0.7', '33,100')
    """
    return f"{rounded(number, digits, ROUND_FLOOR).normalize():,f}"
