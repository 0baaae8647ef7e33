"""Anonymity of a table: k-anonymity, l-diversity and t-closeness, measured; and two ways to make a table k-anonymous.

All of it is about one published table. Rows that agree on the quasi-identifiers, the columns that an outsider may know,
form a class. These notions count and compare classes; none of them limits what two tables tell together.
A missing value is a value of its own, and rows are told apart by position, whatever the index.

`measures` has the three notions and the loss of a table, `generalisation` the two ways.
"""
from dplib.anonymity.generalisation import Generalisation, lattice_search, mondrian, recode
from dplib.anonymity.measures import average_class, classes, discernibility, k_anonymity, l_diversity, t_closeness

__all__ = [
    "Generalisation", "average_class", "classes", "discernibility", "k_anonymity", "l_diversity", "lattice_search",
    "mondrian", "recode", "t_closeness",
]
