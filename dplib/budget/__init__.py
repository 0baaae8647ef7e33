"""Budget: what several releases cost together, and a ledger that refuses to overspend.

`composition` has the totals (`basic`, `advanced`, `optimal`) and the two other accounts in which losses are kept, zCDP
and RDP, with the way back to (epsilon, delta); `ledger` has the `Budget` itself.
"""
from dplib.budget.composition import (
    advanced,
    basic,
    gaussian_rdp,
    gdp_to_approx,
    optimal,
    pure_to_zcdp,
    rdp_to_approx,
    zcdp_to_approx,
)
from dplib.budget.ledger import Budget, BudgetExceeded, Entry

__all__ = [
    "Budget", "BudgetExceeded", "Entry", "advanced", "basic", "gaussian_rdp", "gdp_to_approx", "optimal",
    "pure_to_zcdp", "rdp_to_approx", "zcdp_to_approx",
]
