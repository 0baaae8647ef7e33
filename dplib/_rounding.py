"""Rounding in one direction: a number that promises something must not promise more when it is printed."""
from decimal import Context, Decimal


def rounded(number: float, digits: int, way: str) -> Decimal:
    """To so many significant digits, up or down (a constant of `decimal`); the noise of floats is taken off first."""
    return Context(prec=digits, rounding=way).create_decimal(f"{number:.14g}")     # exp(log(3)) is 3
