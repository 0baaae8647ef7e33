"""What all of anonymity needs of a table: its columns by name, its values in order, one label for each different row.
"""
import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_list_like, is_numeric_dtype

from dplib._labels import decoded
from dplib._validate import shown, times


def column_names(parameter, df, names):
    """`names` as a list; ValueError unless each is one column of the table `df`, which has rows."""
    if not isinstance(df, pd.DataFrame) or len(df) == 0:
        raise ValueError(
            "df must be a DataFrame with at least one row, got "
            f"{'an empty one' if isinstance(df, pd.DataFrame) else type(df).__name__}"
        )
    names = [names] if isinstance(names, str) or not is_list_like(names) else list(names)
    if not names:
        raise ValueError(f"{parameter} must name at least one column")
    for name in names:
        if times(df.columns, name) != 1 or times(names, name) != 1:
            raise ValueError(f"{parameter} must name columns of df, each once, got {shown(name)}")
    return names


def is_number(column):
    return is_numeric_dtype(column) and not is_bool_dtype(column)


def rank(column):
    """Each row's place among the sorted values, and these values; a missing value has the place after them."""
    column = decoded(column)
    try:
        code, values = pd.factorize(column, sort=True)
    except TypeError:                            # values that do not compare with each other, or lists and the like
        code, values = pd.factorize(column.map(repr, na_action="ignore"), sort=True)
    return np.where(code < 0, len(values), code), values


def combine(codes):
    """One label for each different combination of codes, in their order."""
    label, size = 0, 1
    for code in codes:
        width = int(code.max()) + 1
        if size * width > 2**62:
            label = pd.factorize(label, sort=True)[0]
            size = int(label.max()) + 1
        label, size = label * width + code, size * width
    return pd.factorize(label, sort=True)[0]
