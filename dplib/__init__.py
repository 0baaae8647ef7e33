"""dplib: differential privacy in the fewest honest lines.

One module per idea: `mechanisms` add the noise, `sensitivity` says how much, `quantiles` and `data_dependent` add less
of it where that is enough, `local` adds it at the source; `budget` pays, `fdp` pays to the last digit; `svt` watches a
stream, `histograms` and `synthetic` publish once for all, `partitions` also what nobody could list, `engine` counts in
a database, `secure` adds up what nobody may see; `release` plans it all and writes its card, and `inference` says how
sure one may be of what was published; `anonymity` and `attacks` are what came before and why it fell; `distributions`
and `audit` measure what leaks; `data` holds the tables, `rounding` prints a bound on its safe side.

Written to be read and taught from. For real releases use a hardened library such as OpenDP: numpy's generators are
not cryptographic, and noise in floating point can be attacked.
"""
