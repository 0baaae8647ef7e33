"""Local privacy: everyone adds their own noise, and nobody has to be trusted with the truth.

`reports` is for one value of each person, `rappor` for reports about strings, again and again.
"""
from dplib.local.rappor import Rappor
from dplib.local.reports import estimate, estimate_unary, randomized_response, unary

__all__ = ["Rappor", "estimate", "estimate_unary", "randomized_response", "unary"]
