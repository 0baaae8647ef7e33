"""The tables of the book: a fictional town, a synthetic stand-in for UCI Adult, and UCI Adult itself for those who have
it.

The data sheets `town.md` and `adult_like.md` in the folder `data` say how each was made and what it must not be used
for.
"""
import functools
import gzip
import hashlib
import io
import os
import re
import zlib
from pathlib import Path

import pandas as pd

__all__ = ["QUIET_FLU_RATE", "describe", "load"]

QUIET_FLU_RATE = 2.0  # influenza visits per day that `hospital` expects in the quiet season of 2023

SHEETS = {
    **dict.fromkeys(("people", "hospital", "voters", "ratings", "forum", "staff"), "town.md"),
    **dict.fromkeys(("adult_like", "adult"), "adult_like.md"),
}

# In an installed package the files are beside this module; in a clone they are in its folder `data`.
FOLDER = Path(__file__).with_name("_files")
if not FOLDER.is_dir():
    FOLDER = Path(__file__).resolve().parents[1] / "data"

REMEDY = "reinstall dplib or, in a clone of the book, run git checkout data"

ADULT_PAGE = "https://archive.ics.uci.edu/dataset/2/adult"
ADULT_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data"
ADULT_FILE_SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"  # adult.data as UCI gives it
ADULT_SHA256 = "51f310bf7621727c24fae5c54168e35ff462ae0050aa299d3e0ea31ed9bb998a"  # the table as csv with this header:
ADULT_COLUMNS = [
    "Age", "Workclass", "fnlwgt", "Education", "Education-Num", "Marital Status", "Occupation", "Relationship", "Race",
    "Sex", "Capital Gain", "Capital Loss", "Hours per week", "Country", "Target",
]


def load(name: str, *, answers: bool = False) -> pd.DataFrame:
    """A table of the book, as a new DataFrame.

    Dates are ISO text, so that they sort, compare and slice (`dob.str[:7]` is the month of birth); ZIP codes are text;
    a missing value is NaN. The file's checksum is verified the first time it is read.

    Parameters
    ----------
    name : str
        "people", "hospital", "voters", "ratings", "forum", "staff", "adult_like" or "adult".
    answers : bool
        Keep the columns that begin with an underscore: they say who is behind a row, for checking an attack afterwards.

    Returns
    -------
    DataFrame
        `people` has in addition `age`, in whole years on 1 January 2024.

    Raises
    ------
    ValueError
        If `name` is none of the above, or a file is not what it should be.
    FileNotFoundError
        If a file is missing. "adult", the true UCI file, is not shipped: it is read from the path in the environment
        variable DPLIB_ADULT (UCI's adult.data, or a CSV of it with a header, gzipped or not), else from the cache,
        else downloaded if `pooch` is installed. "adult_like" needs none of this.

    Examples
    --------
    >>> load("hospital").columns.tolist()
    ['zip', 'sex', 'dob', 'diagnosis', 'visit', 'charge']
    >>> load("hospital", answers=True).columns[-1]
    '_person'
    >>> len(load("people"))
    30000
    """
    _known(name)
    if name == "adult":
        return _adult(_adult_path()).copy()
    table = pd.read_csv(
        io.BytesIO(_csv(FOLDER / f"{name}.csv.gz")), dtype={"zip": str}, keep_default_na=False, na_values=[""]
    )
    if name == "people":
        born = table["dob"].str
        table.insert(3, "age", 2023 - born[:4].astype(int) + (born[5:] == "01-01"))
    return table if answers else table.loc[:, ~table.columns.str.startswith("_")]


def describe(name: str) -> pd.DataFrame:
    """What each column of a table means, from its data sheet; answer keys included.

    Parameters
    ----------
    name : str
        A name that `load` knows. The file itself is not read.

    Returns
    -------
    DataFrame
        One row per column: column, type, meaning, range.

    Raises
    ------
    ValueError
        If `name` is unknown.
    FileNotFoundError
        If the data sheet is missing.

    Examples
    --------
    >>> describe("voters").column.tolist()
    ['name', 'sex', 'dob', 'zip', 'registered', '_person']
    """
    _known(name)
    sheet = _bytes(FOLDER / SHEETS[name]).decode()
    section = re.search(rf"^### [^\n]*`{name}`.*?(?=^#|\Z)", sheet, flags=re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"{SHEETS[name]} does not describe {name!r}: {REMEDY}")
    lines = [line.strip("| ").split(" | ") for line in section[0].splitlines() if line.startswith("|")]
    table = pd.DataFrame(lines[2:], columns=lines[0])  # lines[1] is the rule under the header
    table["column"] = table["column"].str.strip("`")
    return table[table["column"] != "fnlwgt"].reset_index(drop=True) if name == "adult_like" else table


def _known(name):
    if name not in list(SHEETS):
        raise ValueError(f"unknown table {name!r}: choose one of {', '.join(SHEETS)}")


def _bytes(path):
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: {REMEDY}")
    return path.read_bytes()


def _unzip(raw):
    """`raw` without its gzip wrapping, if it has one; None if the wrapping is damaged."""
    try:
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error):
        return None


@functools.cache
def _csv(path):
    """The bytes of a shipped table, read and checked once."""
    csv = _unzip(_bytes(path))
    sums = dict(
        line.split()[::-1]
        for line in _bytes(path.with_name("SHA256SUMS")).decode().splitlines()
        if not line.startswith("#")
    )
    if csv is None or hashlib.sha256(csv).hexdigest() != sums.get(path.stem):
        raise ValueError(f"{path} is damaged, its checksum differs: {REMEDY}")
    return csv


def _adult_path():
    """Where UCI Adult is on this machine, after downloading it if need be."""
    if given := os.environ.get("DPLIB_ADULT"):
        if not Path(given).is_file():
            raise FileNotFoundError(
                f"DPLIB_ADULT names {given!r}, which is not a file: set it to UCI's adult.data, or unset it"
            )
        return Path(given)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dplib"
    if (cache / "adult.data").is_file():
        return cache / "adult.data"
    remedy = (
        f"put adult.data from {ADULT_PAGE} where you like and set DPLIB_ADULT to its path, or use load('adult_like')"
    )
    try:
        import pooch  # optional: only this download needs it
    except ImportError:
        raise FileNotFoundError(
            f"UCI Adult is not on this machine and pooch is not installed to download it: {remedy}"
        ) from None
    try:
        return Path(pooch.retrieve(ADULT_URL, known_hash=f"sha256:{ADULT_FILE_SHA256}", fname="adult.data", path=cache))
    except OSError as error:
        reason = type(error).__name__
        raise FileNotFoundError(
            f"UCI Adult is not on this machine and could not be downloaded ({reason}): {remedy}"
        ) from None
    except ValueError:
        raise ValueError(f"what {ADULT_URL} sent is not UCI Adult, its checksum differs: {remedy}") from None


@functools.cache
def _adult(path):
    """UCI Adult from adult.data or a CSV of it, known by its content."""
    raw = _unzip(path.read_bytes()) or b""
    missing = {"keep_default_na": False, "na_values": ["", "?"]}
    try:
        header = 0 if raw.startswith(b"Age,") else None
        table = pd.read_csv(io.BytesIO(raw), header=header, names=ADULT_COLUMNS, skipinitialspace=True, **missing)
        found = hashlib.sha256(table.to_csv(index=False, lineterminator="\n").encode()).hexdigest()
    except ValueError:  # not even a table
        found = None
    if found != ADULT_SHA256:
        raise ValueError(
            f"{path} is not UCI Adult: expected the 32,561 rows of adult.data from {ADULT_PAGE}, unchanged"
        )
    return table
