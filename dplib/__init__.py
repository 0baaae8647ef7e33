"""dplib: differential privacy in the fewest honest lines.

One module per idea: `mechanisms` add the noise, `sensitivity` says how much, `budget` pays for it, `svt` watches a
stream, `audit` measures what leaks, `data` holds the tables, `teaching` draws and checks.

Written to be read and taught from. For real releases use a hardened library such as OpenDP: numpy's generators are
not cryptographic, and noise in floating point can be attacked.
"""
