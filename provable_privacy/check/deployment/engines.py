"""Checkers of the section on engines. SQL runs on DuckDB, in memory and without files, when a checker is called."""
import functools
import re

import numpy as np
import pandas as pd

from dplib import data
from provable_privacy.battery import looks_for
from provable_privacy.entries import AnyOf, Number, entries
from provable_privacy.speech import Wrong, answered, ask, checker

__all__ = ["eng_allow", "eng_bound", "eng_late", "eng_order", "eng_steal", "eng_sum"]


def _engine():
    """A database in memory: one thread, no files, no other table than those that it is given."""
    try:
        import duckdb
    except ImportError:
        raise Wrong("this checker runs DuckDB, which is not installed: pip install duckdb") from None
    con = duckdb.connect(config={"threads": 1, "enable_external_access": False})
    con.execute("set enable_progress_bar = false")
    return con


# ----------------------------------------------------------------------------------------------------------- orders

def _order(right, private, fair, same):
    """The words that are true of an order, and a reason for each word."""
    return AnyOf({"private": private, "fair": fair, "same": same}, tuple(right.split()),
                 "{item} is true of it: {why}", "{item} is not true of it: {why}")


@entries("all eighteen")
def eng_order():
    """`answer`: for each order the words that are true of it, of "private", "fair" and "same"."""
    equal = "all films of a person have the same hash, so the engine chooses"
    return {
        "coin": _order("private fair", "in one attempt a coin depends on nobody else, and at most five lines stay",
                       "each film has the same chance",
                       "another attempt, or another number of threads, draws other coins"),
        "hash": _order("private fair same", "the hash is of the salt and this person's rows; it holds for every salt",
                       "over salts each film has the same chance", "md5 is the same function everywhere"),
        "film": _order("private same", "a film's number does not depend on other people; "
                       "that the rule is not random does not matter",
                       "a film with a high number never stays", "the numbers are in the table"),
        "popular": _order("same", "one more viewer of a film can push another film out of everybody's five",
                          "a rare film never stays", "the counts are in the table, and film breaks ties"),
        "first": _order("private same", "the hours are in the person's own rows",
                        "a late film never stays", "the hours are in the table, and film breaks ties"),
        "person": _order("", f"{equal}, perhaps by the places of rows, which other people's rows change",
                         f"{equal}, perhaps always the first", f"{equal}, and need not choose the same again"),
    }


# ----------------------------------------------------------------------------------------------------------- bounds

SHELVES, CAP = 3, 5000
COLUMNS = ["person", "film", "cents"]
PLANTED = {                                      # who comes -> the rows of this person
    "with a film on each of 40 shelves": [(-1, 100 * shelf, 500) for shelf in range(40)],
    "with a film on each of 60 shelves": [(-1, 100 * shelf, 500) for shelf in range(60)],
    "with a film on each of 40 shelves, all below 0": [(-1, -100 * shelf, 500) for shelf in range(1, 41)],
    "with 90 films on one shelf": [(-1, film, 10) for film in range(90)],
    "with one ticket, on one of four shelves that fifty people share": [(-1, 5000, 600)],
    "with 300 tickets for one film": [(-1, 7, 100)] * 300,
    "with the lowest and the highest film of all": [(-1, -100, 500), (-1, 99_900, 500)],
    "who paid 2^62 cents, four times": [(-1, 7, 2**62)] * 4,
    "who paid minus 2^62 cents, four times": [(-1, 7, -(2**62))] * 4,
    "who paid minus 2^63 cents": [(-1, 7, -(2**63))],
    "who paid 2^63 - 1 cents": [(-1, 7, 2**63 - 1)],
    "who paid 9,000 cents and minus 6,000": [(-1, 7, 9000), (-1, 7, -6000)],
    "whose price is missing": [(-1, 7, None)],
    "whose film is missing": [(-1, None, 500)],
    "who has no id": [(None, 7, 500)] * 20,
}
ALONE = 700                                      # the same people alone have another id
SMALL = {"whose film is missing": (0, 0), "who has no id": (0, 0), "whose price is missing": (1, 0)}
FIVE_SHELVES = [(-1 - person, 100 * shelf, 100) for person in range(200) for shelf in range(5)
                for _ in range(shelf + 1)]


@functools.cache
def _tickets():
    """People who stay below all bounds, and others."""
    rng = np.random.default_rng(61)
    light = pd.DataFrame({"person": np.repeat(np.arange(60), 3), "film": rng.integers(0, 1000, 180),
                          "cents": rng.integers(0, 1500, 180)})
    light.loc[len(light)] = 60, 4000, 700        # alone on a shelf
    light.loc[len(light)] = 61, 4100, 0          # the same, without paying
    heavy = pd.DataFrame({"person": np.repeat(np.arange(100, 140), 30), "film": rng.integers(0, 1000, 1200),
                          "cents": rng.integers(0, 4000, 1200)})
    crowd = [(person, film, 500) for person in range(200, 250) for film in (5000, 5100, 5200, 5300)]
    return _table(light), pd.concat([_table(heavy), _table(crowd)])


def _table(rows):
    rows = [tuple(row) for row in rows.itertuples(index=False)] if isinstance(rows, pd.DataFrame) else rows
    return pd.DataFrame(rows, columns=COLUMNS).astype("Int64")


def _run(con, text, *tables):
    """shelf -> (people, total), or `Wrong`. What the text changes in the database is undone."""
    tables = [table if isinstance(table, pd.DataFrame) else _table(table) for table in tables]
    con.begin()
    try:
        con.register("given", pd.concat(tables))
        con.execute("create table tickets as select * from given")
        con.unregister("given")
        cursor = con.execute(text)
        names = [column[0].lower() for column in cursor.description or ()]
        rows = cursor.fetchall()
    finally:
        con.rollback()
    if sorted(names) != ["people", "shelf", "total"]:
        raise Wrong("the result must have the columns shelf, people and total and no other (it would be output, too), "
                    f"and has {', '.join(names) or 'none'}")
    shelf, people, total = (names.index(name) for name in ("shelf", "people", "total"))
    try:
        found = {row[shelf]: (_whole(row[people]), _whole(row[total])) for row in rows}
    except (TypeError, ValueError, OverflowError):
        raise Wrong("people and total must be whole numbers") from None
    if len(found) < len(rows):
        raise Wrong("a shelf must come once, and one comes in several rows of the result")
    return found


def _whole(value):
    if (value or 0) != int(value or 0):          # a fraction is output, too
        raise ValueError
    return int(value or 0)


def _ran(run, tables, words):
    """What the text gives; `Wrong` with these words if it fails."""
    try:
        return run(*tables)
    except Wrong:
        raise
    except Exception as error:
        raise Wrong(words.format(kind=type(error).__name__, error=error)[:300]) from None


def _expected(table):
    """shelf -> (people, total) with the cap, and the lines of all people."""
    lines = table.assign(shelf=table.film // 100).groupby(["person", "shelf"]).cents.sum().clip(0, CAP).reset_index()
    return {int(shelf): (len(rows), int(rows.cents.sum())) for shelf, rows in lines.groupby("shelf")}, lines


def _complete(run, light):
    exact, found = _expected(light)[0], {shelf: line for shelf, line in run(light).items() if line[0]}
    if found.items() < exact.items():
        shelf = max(exact.keys() - found.keys(), key=lambda shelf: exact[shelf])
        raise Wrong(f"shelf {shelf} has no line, although its people are below all bounds, {exact[shelf][0]} in "
                    "all. Keep every line: if `having` hides small counts, a person who makes a line appear "
                    "changes its count by more than 1")


def _in_order(before):
    shelves = [shelf for shelf in before if shelf is not None]
    for column, what in enumerate(("people", "total")):
        exact = [line[column] for line in before.values()]
        if shelves != sorted(shelves) and exact[0] != exact[-1] and exact in (sorted(exact), sorted(exact)[::-1]):
            raise Wrong(f"the rows come in the order of the exact {what}, which reveals people whatever the noise is: "
                        "order by shelf")


def _ordered(before, *others):
    """`Wrong` unless two shelves come in the same order whatever the rows are."""
    for other in others:
        one, two = ([shelf for shelf in lines if shelf in before.keys() & other.keys()] for lines in (before, other))
        if one != two:
            first, second = next(pair for pair in zip(one, two) if pair[0] != pair[1])
            raise Wrong(f"shelf {first} comes before shelf {second} in one table and after it in another, so the "
                        "order reveals something, whatever the noise is. End the query with order by shelf")


def _bounded(run, who, rows, before, after):
    """`Wrong` if a planted person moves too much."""
    moved = [tuple(abs(a - b) for a, b in zip(after.get(shelf, (0, 0)), before.get(shelf, (0, 0))))
             for shelf in before.keys() | after.keys()] or [(0, 0)]
    (people, total), (most, dearest) = map(sum, zip(*moved)), map(max, zip(*moved))
    seen = f"a person {who} moves {people} people and {total:,} cents in all"
    if most > 1 and all(count <= 1 for count, _ in run(rows).values()):
        raise Wrong(f"a person {who} moves {people} people, {most} on one shelf, but alone this person counts once "
                    "there. So the lines of others change: the order must depend only on this person's rows")
    if most > 1:
        raise Wrong(f"{seen}, {most} on one shelf: a person must count once there, so group by person and shelf "
                    "before you count")
    if people > SHELVES:
        hint = ", so number each person's shelves, not the people of a film or shelf" if people > 2 * SHELVES else ""
        raise Wrong(f"{seen}: at most {SHELVES} shelves are allowed{hint}")
    if dearest > CAP or total > SHELVES * CAP:
        raise Wrong(f"{seen}, {dearest:,} on one shelf: cut what this person pays per shelf to {CAP:,}, "
                    "before the people are added up")
    if who in SMALL and (people, total) != SMALL[who]:
        raise Wrong(f"{seen}, and should move {SMALL[who][0]} and {SMALL[who][1]}: "
                    "a row without person or film counts nowhere, a missing price is 0")


def _useful(run, light, heavy, before):
    """`Wrong` if something is lost without need."""
    _, lines = _expected(pd.concat([light, heavy]))
    kept = sum(people for people, _ in before.values())
    possible = int(lines.groupby("person").size().clip(upper=SHELVES).sum())
    if kept < possible:
        raise Wrong(f"{kept} lines are kept where the bounds allow {possible}: "
                    f"{SHELVES} of everybody who has as many")
    exact, found = _expected(light)[0], run(light)
    if found != exact:
        shelf = min(exact.keys() | found.keys(), key=lambda s: found.get(s) == exact.get(s))
        raise Wrong(f"with people who stay below all bounds shelf {shelf} has (people, total) = "
                    f"{found.get(shelf, 'no row')}, not {exact.get(shelf, 'any row')}")
    if kept > possible:
        raise Wrong(f"{kept} lines are kept where {SHELVES} shelves of everybody make {possible}: "
                    "the bound must hold for every person")
    capped = run([(-1, 7, 300)] * 10 + [(-2, 7, 9000)], [(-3, 8, 400), (-3, 8, -100)])
    total = capped.get(0, (0, 0))[1]
    if total not in (3000 + CAP + 300, 3000 + CAP + 400):    # a price may be cut before or after the tickets are added
        raise Wrong("tickets of 3,000, 9,000 and 400 cents by three people on one shelf make a total of "
                    f"{total:,}, not 8,400")
    kept = run(FIVE_SHELVES)
    if not all(kept.get(shelf, (0, 0))[0] for shelf in range(5)):
        raise Wrong("not at random: of people with five shelves the same ones always go; "
                    "order by a hash of person and shelf")


NO_NOISE = dict.fromkeys(("small", "large", "quotient", "rare", "shared", "calls", "zero"), "the text draws no noise")


@checker
@looks_for("size", "empty", "contents", "negative", "missing", "straddles", "far", "order", "own",
           fractions="prices are whole cents", type="a column has one type, whatever the rows are", **NO_NOISE)
def eng_bound(text):
    """`text`: SQL for DuckDB that bounds people to three shelves and 5,000 cents on each."""
    if not isinstance(text, str):
        raise Wrong(f"expected a text of SQL, got {type(text).__name__}")
    light, heavy = _tickets()
    with _engine() as con:
        run = functools.partial(_run, con, text)
        before = _ran(run, (light, heavy), "DuckDB does not run it: {kind}: {error}")
        if run(light, heavy) != before:
            raise Wrong("on the same rows a second run keeps other lines. The engine may run a part of the query "
                        "twice, and then a person has more than three lines. Order by a hash")
        _complete(run, light)
        _in_order(before)
        nobody = _ran(run, ([],), "on an empty table the query fails with {kind}: {error}")
        for who, rows in PLANTED.items():
            fails = f"a person {who} makes the query fail with {{kind}}, and the error tells that the person is there"
            _bounded(run, who, rows, before, _ran(run, (light, heavy, rows), fails))
            alone = [(person and ALONE, film, cents) for person, film, cents in rows]
            _bounded(run, f"{who}, alone in the table,", alone, nobody, _ran(run, (alone,), fails))
        turned = run(heavy[::-1], light[::-1])
        if turned != before:
            shelf = min((s for s in before.keys() | turned.keys() if before.get(s) != turned.get(s)), key=str)
            one, other = (found.get(shelf, "no row") for found in (turned, before))
            raise Wrong(f"the same rows in another order give shelf {shelf} (people, total) = {one}, not {other}. "
                        "Some hashes are equal, and the engine then chooses by the places of the rows, which "
                        "change with other people's rows. End the order with shelf")
        _ordered(before, turned, run(light), run(FIVE_SHELVES))
        _useful(run, light, heavy, before)
    return "no planted person moves more than three counts and 15,000 cents, and nothing is lost without need"


# ------------------------------------------------------------------------------------------------------------- sums

@entries("all four")
def eng_sum():
    """`answer`: how many tickets fit into 64 and 32 bits, how far a sum wraps, where float32 stops counting."""
    sign, cap = "one bit is the sign", "each ticket may be 10,000 cents"
    exactly = {"whole": True, "tolerance": 0.5}
    return {
        "rows64": Number((2**63 - 1) // 10_000, mistakes={sign: (2**64 - 1) // 10_000, cap: 2**63 - 1}, **exactly),
        "rows32": Number((2**31 - 1) // 10_000, mistakes={sign: (2**32 - 1) // 10_000, cap: 2**31 - 1}, **exactly),
        "wrapped": Number(2**32 - 1, unsigned=True, mistakes={
            "without wrapping it would have moved by 1 upwards": 2**32,
            "it goes from the top to the very bottom": (2**31 - 1, 2**31),
            "that would be right without wrapping": 1,
        }, **exactly),
        "stuck": Number(2**24, mistakes={
            "2^23 + 1 is still a float32: 24 bits with the leading one": 2**23,
            "adding 1 still arrives at 2^24": 2**24 - 1,
            "it is not reached: adding 1 to 2^24 gives 2^24": 2**24 + 1,
        }, **exactly),
    }


# --------------------------------------------------------------------------------------------------------- stealing

VISITS = 8                                       # of each kind
TWICE = "you asked more than once; one question is enough"


@functools.cache
def _visits():
    """Visits that a condition singles out, half of them for HIV, in a fixed order."""
    hospital = data.load("hospital")
    alone = hospital[~hospital.duplicated(["zip", "sex", "dob"], keep=False)]
    hiv = alone.diagnosis == "HIV"
    asked = pd.concat([alone[hiv].head(VISITS), alone[~hiv].iloc[::900].head(VISITS)])
    return hospital, asked.sample(frac=1, random_state=5)


class _Service:
    def __init__(self, con, rng):
        self.con, self.rng, self.asked = con, rng, 0

    def __call__(self, condition):
        self.asked += 1
        if self.asked > 1:
            raise Wrong(TWICE)
        count = self.con.execute(f"select count(*) from hospital where {condition}").fetchall()[0][0]
        return count + self.rng.laplace(scale=1000)


@checker
def eng_steal(steal):
    """`steal(service, who)`: whether the visit singled out by `who` was for HIV, from one question."""
    hospital, visits = _visits()
    verdicts, asked = [], 0
    with _engine() as con:
        con.register("given", hospital)
        con.execute("create table hospital as select * from given")
        rng = np.random.default_rng(62)
        for visit in visits.itertuples():
            service = _Service(con, rng)
            said = ask(steal, service, f"zip = '{visit.zip}' and sex = '{visit.sex}' and dob = '{visit.dob}'")
            if service.asked > 1:                # the learner's `except` may have caught the refusal
                raise Wrong(TWICE)
            verdicts.append((said, visit.diagnosis == "HIV"))
            asked += service.asked
            if said is not None and not isinstance(said, (bool, np.bool_)):
                raise Wrong(f"expected True or False, got {said!r}"[:200])
    if any(said is None for said, _ in verdicts):
        raise Wrong("your function returned None: is the `return` missing? Or was it not reached?")
    right, always = sum(bool(said) == truth for said, truth in verdicts), {bool(said) for said, _ in verdicts}
    if right == len(verdicts):
        if asked < right:
            raise Wrong("you know it without asking the service; an attacker has no table to look it up in")
        return f"{right} of {right} visits, one noisy question each"
    if len(always) == 1:
        raise Wrong(f"you always say {always.pop()}: your question fails for everybody or for nobody; "
                    "let it fail only if this visit was for HIV")
    words = "the noise hides the number; look at something that has no noise" if right < 0.75 * len(verdicts) else (
        "what you look at tells much, but it does not happen for every visit for HIV, or it happens for others too")
    raise Wrong(f"{right} of {len(verdicts)} are right, and guessing gives half: {words}")


# --------------------------------------------------------------------------------------------------------- allowing

HOSTILE = {
    "a function": ["error('yes')", "charge >= error('yes')", "length(zip) = 5", "abs(charge) > 5",
                   "sqrt(charge - 1000) >= 0", "zip = upper('a')"],
    "arithmetic": ["charge + 9223372036854775807 > 0", "charge = 1 + 1", "charge // 0 = 1",
                   "charge = 1 // (charge - 730)", "charge * 2 >= 5", "charge >= 5 - charge"],
    "a cast": ["cast(zip as integer) = 34301", "zip::integer = 34301", "charge = cast(diagnosis as integer)",
               "charge = '5'::integer", "integer '7' = charge"],
    "a constant of the wrong type": ["zip = 34301", "diagnosis = 5", "charge = '730'", "charge = 'x'", "dob = 1980",
                                     "charge >= 7.5", "charge = 1e3", "visit < 0"],
    "a column that is not there": ["name = 'x'", "rowid = 5", "salary >= 5", "\"charge\" = 5", "hospital.charge = 5",
                                   "diagnosis2 = 'HIV'"],
    "a case": ["case when zip = '34301' then true else error('x') end",
               "case when sex = 'F' then 1 // 0 else 1 end = 1"],
    "a subquery": ["charge = (select unnest([1, 2]))", "zip in (select zip from hospital)", "exists (select 1)",
                   "charge > (select max(charge) from hospital)"],
    "more than one comparison": ["charge >= 5 and error('x')", "charge >= 5 or 1 = 1", "sex = 'F' and zip = '34301'",
                                 "1 < charge < 5", "not charge = 5"],
    "a second statement": ["charge = 5; drop table hospital", "charge = 5; select 1",
                           "zip = '1'; copy hospital to 'x.csv'"],
    "a comment": ["charge = 5 -- x", "charge = 5 /* x */", "/**/ charge = 5", "charge --\n = 5", "charge = 5 #"],
    "a quote inside the text": ["zip = 'a''b'", "zip = 'a' or '1' = '1'", "diagnosis = 'x' || error('y') || 'z'",
                                "zip = \"34301\"", "zip = $$34301$$"],
    "a mark that a constant must not have": ["zip = 'a;b'", "zip = 'a%'", "zip = 'a_b'", "zip = 'a\\'", "zip = 'a\nb'",
                                             "zip = 'a\x00b'", "zip = '${env}'", "zip = e'a'"],
    "another operator": ["charge == 5", "charge != 5", "zip like '3%'", "zip ~ '('", "charge between 1 and 5",
                         "charge in (1, 2)", "charge is null", "charge <=> 5", "charge => 5", "charge = = 5",
                         "zip similar to '('"],
    "characters beyond ASCII": ["charge = ５", "charge = ٣", "ｃharge = 5", "zip = ‘34301’", "zip = 'é'", "charge ＝ 5",
                                "charge\u00a0= 5", "ſex = 'F'"],
    "another blank than a space": ["charge\t= 5", "charge =\n5", "zip =\t'34301'"],
    "nothing to compare": ["", " ", "charge", "charge >=", "= 5", "zip = ", "'34301'", "5", "true", "zip = '34301",
                           "charge = 5)", "(charge = 5"],
    "a line break at its end": ["charge = 5\n", "zip = '34301'\n"],
    "a number of more than nine digits": ["charge = 1000000000", "charge = 99999999999999999999999999",
                                          "charge <= 1" + "0" * 400],
}


LITERALS = {
    "zip": ["34301", "34399"],
    "sex": ["F", "M"],
    "dob": ["1938-11-21", "2021-01-01"],
    "diagnosis": ["HIV", "influenza", "injury 2", ""],
    "visit": ["2023-12-02", "2023-05-19"],
}


@functools.cache
def _honest():
    """Texts that must be allowed: all operators, with spaces or without."""
    rng, texts = np.random.default_rng(63), []
    for op in ("=", "<>", "<", "<=", ">", ">="):
        for space in ("", " ", "  "):
            column = list(LITERALS)[rng.integers(5)]
            literal = LITERALS[column][rng.integers(len(LITERALS[column]))]
            texts += [f"{column}{space}{op}{space}'{literal}'",
                      f"charge{space}{op}{space}{[0, 5, 730, 999_999_999][rng.integers(4)]}"]
    return texts + [f"{column} = '{literal}'" for column, literals in LITERALS.items() for literal in literals]


def _verdict(allowed, text, call=answered):
    said = call(allowed, text)
    if said is None or isinstance(said, (re.Match, bool, np.bool_)):
        return bool(said)
    raise Wrong(f"expected True or False, got {said!r}"[:200])


@checker
def eng_allow(allowed):
    """`allowed(text)`: whether a text is one comparison of a column of the hospital with a constant of its type."""
    for text in _honest():
        if not _verdict(allowed, text):
            raise Wrong(f"{text!r} is one comparison of a column with a constant of its type, and is refused")
    for kind, texts in HOSTILE.items():
        for text in texts:
            if _verdict(allowed, text, ask):     # a pattern that does not match gives None
                what = "is no whole comparison" if kind.startswith("nothing") else f"has {kind}"
                raise Wrong(f"{text[:60]!r} is allowed, and {what}")
    return f"{len(_honest())} honest texts allowed, {sum(map(len, HOSTILE.values()))} others refused"


# ------------------------------------------------------------------------------------------------------------- late

@entries("one for each release that the unit can enter")
def eng_late():
    """`answer`: the total epsilon for a person's tickets of March under five policies."""
    hint = "count the releases that depend on the rows of the unit"
    return {
        "left out": Number(1, hint, {"a late ticket enters no release, the others enter one": 2}),
        "once more": Number(2, hint, {"March's tickets enter two releases, each with fresh noise": 1}),
        "nightly": Number(30, hint, {
            "every night is a release of its own, with fresh noise": 1,
            "there was none on 1 April, so the thirty nights are all": 31,
        }),
        "by batch": Number(2, hint, {"some of March's tickets are in the batch of March and some in that of April, "
                                     "and the unit is all of March's": 1}),
        "per batch": Number(1, hint, {"each ticket lies in one batch, and the unit is now the batch": 2}),
    }
