"""Six pipelines that count visits and dollars by month, and a small table to try them on."""
import numpy as np
import pandas as pd

__all__ = ["read_names", "year_pipelines", "year_table"]

MONTHS = [f"2023-{month:02}" for month in range(1, 13)]
CAP = 500


def year_table():
    """A small table to try pipelines on: one visit each of 300 people, and one visit without a name."""
    rng = np.random.default_rng(77)
    month, day = rng.integers(1, 13, 300), rng.integers(1, 28, 300)
    return pd.DataFrame({
        "person": [*(f"p{i}" for i in range(300)), ""],
        "day": [*(f"2023-{m:02}-{d:02}" for m, d in zip(month, day)), "2023-11-30"],
        "charge": [*rng.integers(20, 900, 300), 250],
    })


def read_names(person):
    """Names by the rule of the register: capitals and spaces at the ends do not count; no name is an empty text."""
    return as_text(person).str.strip().str.casefold()


def as_text(column):
    """Each entry of a column as a text, by itself; an empty text where nothing was written."""
    return column.astype(str).mask(column.isna(), "")


def _pipeline(*, tidy=True, named=True, bound=True, floor=True, public=True):
    """A pipeline that is sound unless told otherwise."""
    def tables(visits):
        names = read_names(visits.person)
        visits = visits.assign(person=names if tidy else as_text(visits.person))
        if named:
            visits = visits[names != ""]
        if bound:
            visits = visits.drop_duplicates("person", keep="last")
        month = as_text(visits.day).str[:7]
        months = MONTHS if public else sorted(set(month))
        charge = pd.to_numeric(as_text(visits.charge), errors="coerce").fillna(0).clip(0 if floor else None, CAP)
        return {
            "visits": month.value_counts().reindex(months, fill_value=0),
            "dollars": charge.groupby(month).sum().reindex(months, fill_value=0),
        }

    return tables


year_pipelines = {                               # the letters do not say what is wrong
    "A": _pipeline(floor=False),
    "B": _pipeline(bound=False),
    "C": _pipeline(),
    "D": _pipeline(public=False),
    "E": _pipeline(tidy=False),
    "F": _pipeline(named=False),
}
