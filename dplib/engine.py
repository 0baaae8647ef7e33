"""Counting in an engine: the SQL text that bounds what each person contributes, and leaves one row per group.

Nothing here is run, and no engine is imported: a function returns a text, and DuckDB, Spark or another engine runs it.
The texts add no noise. What they return is exact and private: give it to `dplib.partitions`, and publish only what
comes out of there.

An error, its text, the time that a query took and the files that it may write are answers too, and no noise protects
them. These texts cannot fail because of a value in a column of the type that they ask for. The time they take is not
constant, and md5 is used as a lot, not as a secret.
"""
import re
from collections.abc import Mapping

from dplib._validate import choice, shown, whole

__all__ = ["LARGEST", "OPERATORS", "bounded_sql", "condition", "kept_sql"]

LARGEST = 2**31 - 1                              # a person's value: fewer than 2^32 rows of it add up to less than 2^63
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# words that SQL reads as its own where a column is meant: an error, or another answer, in DuckDB or in Spark
_RESERVED = frozenset("""
    all analyse analyze and anti any array as asc asof asymmetric at authorization between binary both by case cast
    check collate collation column commit concurrently constraint create cross cube current_catalog current_date
    current_role current_schema current_time current_timestamp current_user default deferrable desc describe
    distinct do drop else end escape except exists extract false fetch filter for foreign freeze from full glob
    grant group grouping having ilike in initially inner insert interval intersect into is isnull join lambda
    lateral leading left like limit local localtime localtimestamp minus natural no not notnull null of offset on
    only or order out outer overlaps pivot pivot_longer pivot_wider placing position positional primary qualify
    range references returning revoke right rollback rollup row rows select semi session_user set show similar some
    start summarize symmetric table tablesample then time to trailing true truncate union unique unknown unpack
    unpivot update user using values variadic verbose when where window with within
""".split())
_MARKS = frozenset(" -_.,:/+@#&()")              # beside letters and digits: no quote, no backslash, no dollar


def bounded_sql(table: str, *, person: str, group: str, value: str | None = None, high: int | None = None,
                num_groups: int, salt: str, at_least: int = 1) -> str:
    """SQL that counts the people of each group, and sums a bounded value, with at most `num_groups` groups per person.

    The result has a row for each group that occurs: `grp`, `people`, and `total` where `value` is given, all whole
    numbers, in the order of `grp`.

    Privacy
    -------
    measure : none by itself; the result is exact, and is what noise is added to
    adjacency : add/remove one person with all their rows
    guarantee : for every salt one person changes `people` by at most 1 in at most `num_groups` groups (L1 `num_groups`,
        L2 its square root) and `total` by at most `high` in the same groups, as long as `at_least` is 1. Which groups
        occur is private as well. Two views of the result, counts and sums, are two releases

    Parameters
    ----------
    table : str
        A table or a view, `schema.table` too.
    person, group : str
        Columns that hold whole numbers or texts. Rows in which one of them is null are left out; a blank text is a
        person or a group like any other. (Engines write
        fractions and dates differently, and so would draw different lots.)
    value : str or None
        A numeric column, if of decimals with at most 28 of them: more leave too few digits for a large `high`, and then
        DuckDB fails as soon as there is a row. Missing and negative values count as 0, fractions are rounded down, NaN
        counts as `high`.
        DuckDB takes a boolean for 0 or 1 and refuses any other column that is not numeric before it reads a row; Spark
        would try to read texts as numbers.
    high : int or None
        With `value`: the most that a person may add to a group, for each row and for all their rows together; in the
        smallest coin, at most `LARGEST`.
    num_groups : int
        At least 1.
    salt : str
        Hexadecimal digits, drawn once for each release (`secrets.token_hex(16)`) and kept secret. Privacy does not rest
        on it; fairness does.
    at_least : int
        Groups of fewer people are left out before any noise, so one person can make a group of that size appear.
        `dplib.partitions` must be told the same number: it subtracts at_least - 1, and what is left moves by at most 1.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a name is no plain identifier, only one of `value` and `high` is given, `salt` is not hexadecimal, or a
        number is no whole number of its range.

    References
    ----------
    Wilson et al. (2020), Differentially private SQL with bounded user contribution, section 3; the proof is that of
    the book's {prf:ref}`prop-eng-fixed`.

    Examples
    --------
    >>> print(bounded_sql("ratings", person="user", group="film", num_groups=5, salt="07").splitlines()[-1])
    order by grp
    >>> bounded_sql("ratings", person="user; drop", group="film", num_groups=5, salt="07")
    Traceback (most recent call last):
        ...
    ValueError: person must be a column with a plain name (letters, digits and _), got 'user; drop'
    """
    lines = _lines(table, person, group, value, high, num_groups, salt)
    total = "" if value is None else ", cast(sum(total) as bigint) as total"
    few = whole("at_least", at_least, least=1)
    having = f"having count(*) >= {few}\n" if few > 1 else ""
    return f"""{lines}
select grp, cast(count(*) as bigint) as people{total}
from kept
group by grp
{having}order by grp"""


def kept_sql(table: str, *, person: str, group: str, value: str | None = None, high: int | None = None,
             num_groups: int, salt: str) -> str:
    """SQL for the bounded lines themselves: one row per person and kept group, before they are added up.

    For tests, and for planting people. Its result names people: it is never published.

    Privacy
    -------
    measure : none; the lines are private data
    adjacency : add/remove one person with all their rows
    guarantee : for every salt a person has at most `num_groups` lines, each with a total of 0 to `high`, and no other
        person's lines depend on them

    Parameters
    ----------
    table, person, group, value, high, num_groups, salt
        As for `bounded_sql`.

    Returns
    -------
    str
        A query with the columns `person`, `grp` and, where `value` is given, `total`.

    Raises
    ------
    ValueError
        As `bounded_sql`.

    References
    ----------
    As for `bounded_sql`.

    Examples
    --------
    >>> kept_sql("ratings", person="user", group="film", num_groups=5, salt="07").splitlines()[-1]
    'select person, grp from kept'
    """
    lines = _lines(table, person, group, value, high, num_groups, salt)
    return f"{lines}\nselect person, grp{'' if value is None else ', total'} from kept"


def condition(column: str, op: str, value: int | str, *, schema: Mapping[str, type]) -> str:
    """One comparison of a column with a constant, as SQL: a filter that cannot fail, whatever the rows hold.

    There is no arithmetic, no function, no cast and no subquery in it, and the constant has the type of its column, so
    that no engine has to convert a value of the table.

    Privacy
    -------
    measure : none by itself; it keeps or drops each row by that row alone
    adjacency : add/remove one person with all their rows
    guarantee : a filter never raises the sensitivity of what is counted after it; no value of the table makes it fail.
        The time it takes is not promised

    Parameters
    ----------
    column : str
        A name in `schema`, and no word of SQL such as `order` or `null`.
    op : str
        One of `OPERATORS`.
    value : int or str
        Of the column's type: a whole number between -2^63 and 2^63, or a text of letters, digits, spaces and
        `-_.,:/+@#&()`.
    schema : mapping of str to type
        The columns that may be asked about, each `int` (at most 64 bits: DuckDB compares an unsigned number of 128 bits
        with a negative constant by converting it, which can fail) or `str`. It is public and must be true of the table.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the column, the operator or the value is not one of these.

    References
    ----------
    Haeberlen, Pierce and Narayan (2011), Differential privacy under fire, for what a free query can tell.

    Examples
    --------
    >>> condition("charge", ">=", 500, schema={"charge": int, "zip": str})
    'charge >= 500'
    >>> condition("zip", "=", 500, schema={"charge": int, "zip": str})
    Traceback (most recent call last):
        ...
    ValueError: value must be a text, as the column zip is, got 500
    """
    if not isinstance(schema, Mapping):
        raise ValueError(f"schema must map columns to types, got {type(schema).__name__}")
    if not isinstance(column, str) or column not in schema:
        raise ValueError(f"column must be in schema, got {shown(column)}")
    kind = schema[column]
    if _name("column", column).lower() in _RESERVED:
        raise ValueError(f"column must not be a word of SQL, got {column!r}: give the column another name in a view")
    choice(f"in schema the type of the column {column}", kind, (int, str))
    choice("op", op, OPERATORS)
    if kind is str:
        if not isinstance(value, str):
            raise ValueError(f"value must be a text, as the column {column} is, got {shown(value)}")
        if not all(mark in _MARKS or mark.isalnum() for mark in value):
            marks = "".join(sorted(_MARKS)).strip()
            raise ValueError(f"value must be of letters, digits, spaces and {marks}, got {shown(value)}")
        return f"{column} {op} '{value}'"
    if isinstance(value, bool):
        raise ValueError(f"value must be a whole number, as the column {column} is, got {value}")
    number = whole("value", value, least=1 - 2**63, most=2**63 - 1)
    return f"{column} {op} {number}"


def _lines(table, person, group, value, high, num_groups, salt):
    """The four steps up to a table `kept`, one row per person and group that stays."""
    if not (isinstance(table, str) and all(_NAME.fullmatch(part) for part in table.split("."))):
        raise ValueError(f"table must be a plain name, or several joined by points, got {shown(table)}")
    person, group = _name("person", person), _name("group", group)
    if not (isinstance(salt, str) and re.fullmatch("[0-9A-Fa-f]+", salt)):
        raise ValueError("salt must be a text of hexadecimal digits")      # and is not repeated here: it is a secret
    if (value is None) != (high is None):
        raise ValueError("value and high belong together: give both or neither")
    most = whole("num_groups", num_groups, least=1)
    total = ""
    if value is not None:
        top, coins = whole("high", high, least=1), f"coalesce(r.{_name('value', value)}, 0)"
        if top > LARGEST:
            raise ValueError(f"high must be at most {LARGEST}, got {top}")
        row = f"cast(floor(greatest(0, least({top}, {coins}))) as bigint)"
        total = f""",
    cast(least({top}, sum({row})) as bigint) as total"""
    return f"""with pairs as (
  select r.{person} as person, r.{group} as grp{total}
  from {table} as r
  where r.{person} is not null and r.{group} is not null
  group by r.{person}, r.{group}
), drawn as (
  select *, substring(md5(concat('{salt}:', cast(person as string), ':', cast(grp as string))), 1, 12) as lot
  from pairs
), ranked as (
  select *, row_number() over (partition by person order by lot, grp) as place
  from drawn
), kept as (
  select * from ranked where place <= {most}
)"""


def _name(what: str, name: str) -> str:
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError(f"{what} must be a column with a plain name (letters, digits and _), got {shown(name)}")
    return name
