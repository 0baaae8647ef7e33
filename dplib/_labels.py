"""Labels and tables without memory: they bring along no category, dictionary or note of a row that is not there."""
import pandas as pd


def plain(labels):
    """The same labels, of a Series or an Index: categories and dictionaries would bring along those that do not occur,
    a dictionary may hold one label twice, and a range or a frequency tells that none is missing.
    """
    dtype = labels.dtype
    if isinstance(labels, pd.MultiIndex):
        levels = [plain(labels.get_level_values(i)) for i in range(labels.nlevels)]
        return labels if labels.empty else pd.MultiIndex.from_arrays(levels, names=labels.names)
    if isinstance(labels, pd.RangeIndex):
        return pd.Index(labels.to_numpy(), name=labels.name)
    if isinstance(labels, (pd.DatetimeIndex, pd.TimedeltaIndex)):
        return type(labels)(labels, freq=None)
    if isinstance(dtype, pd.CategoricalDtype):
        return plain(labels.astype(dtype.categories.dtype))
    return decoded(labels)


def decoded(labels):
    """The same labels; those of an Arrow dictionary as their values."""
    if isinstance(labels.dtype, pd.ArrowDtype) and str(labels.dtype).startswith("dictionary"):
        return labels.astype(pd.ArrowDtype(labels.dtype.pyarrow_dtype.value_type))
    return labels


def without_memory(df: pd.DataFrame) -> pd.DataFrame:
    """The same table, without categories that no row has and without notes; ordered categories keep their order."""
    def forgetful(column):
        if isinstance(column.dtype, pd.CategoricalDtype):
            return column.cat.remove_unused_categories()
        return decoded(column)

    table = pd.DataFrame({place: forgetful(df.iloc[:, place]) for place in range(df.shape[1])}, index=plain(df.index))
    return table.set_axis(df.columns, axis=1)
