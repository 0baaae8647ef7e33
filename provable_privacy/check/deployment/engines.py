"""Checkers of the section on engines: SQL is run on DuckDB, in memory, without files; nothing here needs it before a checker is called."""
import functools
import re

import numpy as np
import pandas as pd

from dplib import data
from provable_privacy.speech import Wrong, answered, ask, checker, compare_dict, number

__all__ = ["eng_allow", "eng_bound", "eng_late", "eng_order", "eng_steal", "eng_sum"]


def _engine():
    """A database of one call: in memory, one thread, no files, no other table than those that it is given."""
    try:
        import duckdb
    except ImportError:
        raise Wrong("this checker runs DuckDB, which is not installed: pip install duckdb") from None
    con = duckdb.connect(config={"threads": 1, "enable_external_access": False})
    con.execute("set enable_progress_bar = false")
    return con


# ------------------------------------------------------------------------------------------------------------ orders

WORDS = {"private", "fair", "same"}
ORDERS = {
    "coin": {"private", "fair"}, "hash": {"private", "fair", "same"}, "film": {"private", "same"},
    "popular": {"same"}, "first": {"private", "same"}, "person": set(),
}
REASONS = {
    ("coin", "private"): "in one attempt a coin looks at nobody else, and at most five lines stay",
    ("coin", "fair"): "each film has the same chance",
    ("coin", "same"): "another attempt, or another number of threads, draws other coins",
    ("film", "private"): "a film's number does not depend on other people; that the rule is not random does not matter",
    ("film", "fair"): "a film with a high number never stays",
    ("film", "same"): "the numbers are in the table",
    ("popular", "private"): "one more viewer of a film can push another film out of everybody's five",
    ("popular", "fair"): "a rare film never stays",
    ("popular", "same"): "the counts are in the table, and film breaks ties",
    ("first", "private"): "the hours are in the person's own rows",
    ("first", "fair"): "a late film never stays",
    ("first", "same"): "the hours are in the table, and film breaks ties",
    ("hash", "private"): "the hash is of the salt and this person's rows; it holds for every salt",
    ("hash", "fair"): "over salts each film has the same chance",
    ("hash", "same"): "md5 is the same function everywhere",
    ("person", "private"): "the lot of all films of a person is the same, so the engine chooses, perhaps by rows' places, which other people's rows shift",
    ("person", "fair"): "the lot of all films of a person is the same, so the engine chooses, perhaps always the first",
    ("person", "same"): "the lot of all films of a person is the same, so the engine chooses, and need not choose the same again",
}


@checker
def eng_order(answer):
    """`answer`: for each order the words that are true of it, of "private", "fair" and "same"."""
    if hasattr(answer, "keys"):
        answer = {name: _words(name, said) for name, said in dict(answer).items()}
    compare_dict(answer, {name: sorted(words) for name, words in ORDERS.items()}, _why_order)
    return "all eighteen"


def _words(name, said):
    if said is ...:
        return said
    said = {said} if isinstance(said, str) else said
    try:
        found = {str(word).strip().lower() for word in said} - {""}
    except TypeError:
        raise Wrong(f"{name}: expected words of {', '.join(sorted(WORDS))}, got {said!r}"[:200]) from None
    if not found <= WORDS:
        raise Wrong(f"{name}: unknown words {sorted(found - WORDS)}; expected some of {', '.join(sorted(WORDS))}"[:200])
    return sorted(found)


def _why_order(name, said):
    word = min(ORDERS[name] ^ set(said))
    return f"it is {'' if word in ORDERS[name] else 'not '}{'the ' if word == 'same' else ''}{word}: {REASONS[name, word]}"


# ------------------------------------------------------------------------------------------------------------- bounds

SHELVES, CAP = 3, 5000
COLUMNS = ["person", "film", "cents"]
PLANTED = {
    "with a film on each of 40 shelves": [(-1, 100 * shelf, 500) for shelf in range(40)],
    "with 90 films on one shelf": [(-1, film, 10) for film in range(90)],
    "with one ticket, on one of four shelves that fifty people share": [(-1, 5000, 600)],
    "with 300 tickets for one film": [(-1, 7, 100)] * 300,
    "who paid 2^62 cents, four times": [(-1, 7, 2**62)] * 4,
    "who paid minus 2^62 cents, four times": [(-1, 7, -(2**62))] * 4,
    "who paid 9,000 cents and minus 6,000": [(-1, 7, 9000), (-1, 7, -6000)],
    "whose price is missing": [(-1, 7, None)],
    "whose film is missing": [(-1, None, 500)],
    "who has no id": [(None, 7, 500)] * 20,
}
SMALL = {"whose film is missing": (0, 0), "who has no id": (0, 0), "whose price is missing": (1, 0)}


@functools.cache
def _tickets():
    rng = np.random.default_rng(61)
    light = pd.DataFrame({"person": np.repeat(np.arange(60), 3), "film": rng.integers(0, 1000, 180), "cents": rng.integers(0, 1500, 180)})
    light.loc[len(light)] = 60, 4000, 700                                # alone on a shelf
    light.loc[len(light)] = 61, 4100, 0                                  # the same, without paying
    heavy = pd.DataFrame({"person": np.repeat(np.arange(100, 140), 30), "film": rng.integers(0, 1000, 1200), "cents": rng.integers(0, 4000, 1200)})
    crowd = pd.DataFrame([(person, film, 500) for person in range(200, 250) for film in (5000, 5100, 5200, 5300)], columns=COLUMNS)
    return light, pd.concat([heavy, crowd])


def _table(*frames):
    rows = [tuple(row) for frame in frames for row in (frame.itertuples(index=False) if isinstance(frame, pd.DataFrame) else frame)]
    return pd.DataFrame(rows, columns=COLUMNS).astype("Int64")


def _run(text, *frames):
    """shelf -> (people, total), or `Wrong`."""
    with _engine() as con:
        con.register("given", _table(*frames))
        con.execute("create table tickets as select * from given")
        con.unregister("given")
        cursor = con.execute(text)
        names = [column[0].lower() for column in cursor.description or ()]
        rows = cursor.fetchall()
    if sorted(names) != ["people", "shelf", "total"]:
        raise Wrong(f"the result must have the columns shelf, people and total and no other (it would be output, too), and has {', '.join(names) or 'none'}")
    shelf, people, total = (names.index(name) for name in ("shelf", "people", "total"))
    try:
        found = {row[shelf]: (int(row[people] or 0), int(row[total] or 0)) for row in rows}
    except (TypeError, ValueError):
        raise Wrong("people and total must be whole numbers") from None
    if len(found) < len(rows):
        raise Wrong("a shelf must come once, and one comes in several rows of the result")
    return found


def _expected(frame):
    pairs = frame.assign(shelf=frame.film // 100).groupby(["person", "shelf"]).cents.sum().clip(0, CAP).reset_index()
    return {int(shelf): (len(rows), int(rows.cents.sum())) for shelf, rows in pairs.groupby("shelf")}, pairs


@checker
def eng_bound(text):
    """`text`: SQL for DuckDB that bounds people to three shelves and 5,000 cents on each."""
    if not isinstance(text, str):
        raise Wrong(f"expected a text of SQL, got {type(text).__name__}")
    light, heavy = _tickets()
    try:
        before = _run(text, light, heavy)
    except Wrong:
        raise
    except Exception as error:
        raise Wrong(f"DuckDB does not run it: {type(error).__name__}: {error}"[:300]) from None
    if _run(text, light, heavy) != before:
        raise Wrong("on the same rows a second run keeps other lines, so a part of the query that is run again gives a person more than three: order by a hash")
    _complete(text, light)
    shelves = [shelf for shelf in before if shelf is not None]
    for column, what in enumerate(("people", "total")):
        exact = [line[column] for line in before.values()]
        if shelves != sorted(shelves) and exact[0] != exact[-1] and exact in (sorted(exact), sorted(exact)[::-1]):
            raise Wrong(f"the rows come in the order of the exact {what}, which tells on people whatever the noise: order by shelf")
    for who, rows in PLANTED.items():
        try:
            after = _run(text, light, heavy, rows)
        except Wrong:
            raise
        except Exception as error:
            raise Wrong(f"a person {who} makes the query fail with {type(error).__name__}, and the error tells that the person is there") from None
        moved = [tuple(abs(a - b) for a, b in zip(after.get(shelf, (0, 0)), before.get(shelf, (0, 0)))) for shelf in before.keys() | after.keys()]
        people, most, total, dearest = (f(m[i] for m in moved) for i in (0, 1) for f in (sum, lambda values: max(values, default=0)))
        if most > 1 and all(count <= 1 for count, _ in _run(text, rows).values()):
            raise Wrong(f"a person {who} moves {people} people, {most} on one shelf, though alone this person counts once there: the lines of others "
                        "change, so the order must look at this person's rows only")
        _judge(who, people, most, total, dearest)
    turned = _run(text, heavy[::-1], light[::-1])
    if turned != before:
        shelf = min((s for s in before.keys() | turned.keys() if before.get(s) != turned.get(s)), key=str)
        raise Wrong(f"the same rows in another order give shelf {shelf} (people, total) = {turned.get(shelf, 'no row')} and not {before.get(shelf, 'no row')}: "
                    "some lots are equal, and the engine chooses by the places of the rows, which other people's rows shift; end the order with shelf")
    _useful(text, light, heavy, before)
    return "no planted person moves more than three counts and 15,000 cents, and nothing is lost without need"


def _complete(text, light):
    exact, found = _expected(light)[0], {shelf: line for shelf, line in _run(text, light).items() if line[0]}
    if found.items() < exact.items():
        shelf = max(exact.keys() - found.keys(), key=lambda shelf: exact[shelf])
        raise Wrong(f"shelf {shelf} has no line, though people below all bounds are on it, {exact[shelf][0]} in all: keep every line; where `having` hides "
                    "the small counts, the person who makes one appear moves it by more than 1")


def _judge(who, people, most, total, dearest):
    seen = f"a person {who} moves {people} people and {total:,} cents in all"
    if most > 1:
        raise Wrong(f"{seen}, {most} on one shelf: a person must count once there, so group by person and shelf before you count")
    if people > SHELVES:
        hint = ", so number each person's shelves, not the people of a film or shelf" if people > 2 * SHELVES else ""
        raise Wrong(f"{seen}: at most {SHELVES} shelves are allowed{hint}")
    if dearest > CAP or total > SHELVES * CAP:
        raise Wrong(f"{seen}, {dearest:,} on one shelf: cut what this person pays per shelf to {CAP:,}, before the people are added up")
    if who in SMALL and (people, total) != SMALL[who]:
        raise Wrong(f"{seen}, and should move {SMALL[who][0]} and {SMALL[who][1]}: a row without person or film counts nowhere, a missing price is 0")


def _useful(text, light, heavy, before):
    _, pairs = _expected(pd.concat([light, heavy]))
    kept, possible = sum(people for people, _ in before.values()), int(pairs.groupby("person").size().clip(upper=SHELVES).sum())
    if kept < possible:
        raise Wrong(f"private, but {kept} lines are kept where the bounds allow {possible}: {SHELVES} of everybody who has as many")
    exact, found = _expected(light)[0], _run(text, light)
    if found != exact:
        shelf = min(exact.keys() | found.keys(), key=lambda s: found.get(s) == exact.get(s))
        raise Wrong(f"private, but with people who stay below all bounds shelf {shelf} has (people, total) = {found.get(shelf, 'no row')}, not "
                    f"{exact.get(shelf, 'any row')}")
    capped = _run(text, [(-1, 7, 300)] * 10, [(-2, 7, 9000)], [(-3, 8, 400), (-3, 8, -100)])
    total = capped.get(0, (0, 0))[1]
    if total not in (3000 + CAP + 300, 3000 + CAP + 400):                # a negative price may be cut before or after the tickets are added
        raise Wrong(f"private, but tickets of 3,000, 9,000 and 400 cents by three people on one shelf make a total of {total:,}, not 8,400")
    shares = _kept_share(text)
    if min(shares) == 0:
        raise Wrong("private, but not by lot: of people with five shelves the same ones always go; order by a hash of person and shelf")


def _kept_share(text):
    people = 200
    found = _run(text, [(-1 - person, 100 * shelf, 100) for person in range(people) for shelf in range(5) for _ in range(shelf + 1)])
    return [found.get(shelf, (0, 0))[0] / people for shelf in range(5)]


# --------------------------------------------------------------------------------------------------------------- sums

@checker
def eng_sum(answer):
    """`answer`: how many tickets fit into 64 and 32 bits, how far a sum wraps, where float32 stops counting."""
    right = {"rows64": (2**63 - 1) // 10_000, "rows32": (2**31 - 1) // 10_000, "wrapped": 2**32 - 1, "stuck": 2**24}
    near = {
        "rows64": {(2**64 - 1) // 10_000: "one bit is the sign", 2**63 - 1: "each ticket may be 10,000 cents"},
        "rows32": {(2**32 - 1) // 10_000: "one bit is the sign", 2**31 - 1: "each ticket may be 10,000 cents"},
        "wrapped": {2**32: "without wrapping it would have moved by 1 upwards", 2**31: "it goes from the top to the very bottom",
                    2**31 - 1: "it goes from the top to the very bottom", 1: "that would be right without wrapping"},
        "stuck": {2**23: "2^23 + 1 is still a float32: 24 bits with the leading one", 2**24 - 1: "adding 1 still arrives at 2^24",
                  2**24 + 1: "it is not reached: adding 1 to 2^24 gives 2^24"},
    }

    def why(name, said):
        return next((f"not {said:,.0f}; {words}" for value, words in near[name].items() if abs(abs(said) - value) < 0.5), f"not {said:,.0f}")

    if hasattr(answer, "keys"):
        answer = {name: said if said is ... or isinstance(said, str) else number(said, str(name), whole=True) for name, said in dict(answer).items()}
        answer = {name: abs(said) if name == "wrapped" and isinstance(said, float) else said for name, said in answer.items()}
    compare_dict(answer, right, why, tolerance=0.5)
    return "all four"


# ------------------------------------------------------------------------------------------------------------ stealing

VISITS = 8                                       # of each kind


@functools.cache
def _visits():
    """Visits that a condition singles out, half of them for HIV, in a fixed order."""
    hospital = data.load("hospital")
    alone = hospital[~hospital.duplicated(["zip", "sex", "dob"], keep=False)]
    asked = pd.concat([alone[alone.diagnosis == "HIV"].head(VISITS), alone[alone.diagnosis != "HIV"].iloc[::900].head(VISITS)])
    return hospital, asked.sample(frac=1, random_state=5)


class _Service:
    def __init__(self, con, rng):
        self.con, self.rng, self.asked = con, rng, 0

    def __call__(self, condition):
        self.asked += 1
        if self.asked > 1:
            raise Wrong("you asked more than once; one question is enough")
        count = self.con.execute(f"select count(*) from hospital where {condition}").fetchall()[0][0]
        return count + self.rng.laplace(scale=1000)


@checker
def eng_steal(steal):
    """`steal(service, who)`: whether the visit singled out by `who` was for HIV, from one question."""
    hospital, visits = _visits()
    with _engine() as con:
        con.register("given", hospital)
        con.execute("create table hospital as select * from given")
        rng, verdicts, asked = np.random.default_rng(62), [], 0
        for visit in visits.itertuples():
            who = f"zip = '{visit.zip}' and sex = '{visit.sex}' and dob = '{visit.dob}'"
            service = _Service(con, rng)
            said = ask(steal, service, who)
            if service.asked > 1:                # the learner's `except` may have caught the refusal
                raise Wrong("you asked more than once; one question is enough")
            verdicts.append((said, visit.diagnosis == "HIV"))
            asked += service.asked
            if said is not None and not isinstance(said, (bool, np.bool_)):
                raise Wrong(f"expected True or False, got {said!r}"[:200])
    if any(said is None for said, _ in verdicts):
        raise Wrong("your function returned None: is the `return` missing? Or was it not reached?")
    right = sum(bool(said) == truth for said, truth in verdicts)
    if right == len(verdicts):
        if asked < right:
            raise Wrong("you know it without asking the service; an attacker has no table to look it up in")
        return f"{right} of {right} visits, one noisy question each"
    always = {bool(said) for said, _ in verdicts}
    if len(always) == 1:
        word = "fails for everybody, or for nobody" if right == len(verdicts) // 2 else "never differs"
        raise Wrong(f"you always say {always.pop()}: the outcome of your question {word}; let it fail only if this visit was for HIV")
    words = "the noise hides the number; look at something that has no noise" if right < 0.75 * len(verdicts) else (
        "what you look at tells much, and does not happen for every visit for HIV, or for others too")
    raise Wrong(f"{right} of {len(verdicts)} are right, and guessing gives half: {words}")


# ------------------------------------------------------------------------------------------------------------ allowing

HOSTILE = {
    "a function": ["error('yes')", "charge >= error('yes')", "length(zip) = 5", "abs(charge) > 5", "sqrt(charge - 1000) >= 0", "zip = upper('a')"],
    "arithmetic": ["charge + 9223372036854775807 > 0", "charge = 1 + 1",
                   "charge // 0 = 1", "charge = 1 // (charge - 730)", "charge * 2 >= 5", "charge >= 5 - charge"],
    "a cast": ["cast(zip as integer) = 34301", "zip::integer = 34301", "charge = cast(diagnosis as integer)", "charge = '5'::integer", "integer '7' = charge"],
    "a constant of the wrong type": ["zip = 34301",
                                     "diagnosis = 5", "charge = '730'", "charge = 'x'", "dob = 1980", "charge >= 7.5", "charge = 1e3", "visit < 0"],
    "a column that is not there": ["name = 'x'", "rowid = 5", "salary >= 5", "\"charge\" = 5", "hospital.charge = 5", "diagnosis2 = 'HIV'"],
    "a case": ["case when zip = '34301' then true else error('x') end", "case when sex = 'F' then 1 // 0 else 1 end = 1"],
    "a subquery": ["charge = (select unnest([1, 2]))", "zip in (select zip from hospital)", "exists (select 1)", "charge > (select max(charge) from hospital)"],
    "more than one comparison": ["charge >= 5 and error('x')", "charge >= 5 or 1 = 1", "sex = 'F' and zip = '34301'", "1 < charge < 5", "not charge = 5"],
    "a second statement": ["charge = 5; drop table hospital", "charge = 5; select 1", "zip = '1'; copy hospital to 'x.csv'"],
    "a comment": ["charge = 5 -- x", "charge = 5 /* x */", "/**/ charge = 5", "charge --\n = 5", "charge = 5 #"],
    "a quote inside the text": ["zip = 'a''b'",
                                "zip = 'a' or '1' = '1'", "diagnosis = 'x' || error('y') || 'z'", "zip = \"34301\"", "zip = $$34301$$"],
    "a mark that a constant must not have": ["zip = 'a;b'", "zip = 'a%'", "zip = 'a_b'",
                                             "zip = 'a\\'", "zip = 'a\nb'", "zip = 'a\x00b'", "zip = '${env}'", "zip = e'a'"],
    "another operator": ["charge == 5", "charge != 5", "zip like '3%'", "zip ~ '('", "charge between 1 and 5", "charge in (1, 2)", "charge is null",
                         "charge <=> 5", "charge => 5", "charge = = 5", "zip similar to '('"],
    "characters beyond ASCII": ["charge = ５", "charge = ٣", "ｃharge = 5", "zip = ‘34301’", "zip = 'é'", "charge ＝ 5", "charge\u00a0= 5", "ſex = 'F'"],
    "another blank than a space": ["charge\t= 5", "charge =\n5", "zip =\t'34301'"],
    "nothing to compare": ["", " ", "charge", "charge >=", "= 5", "zip = ", "'34301'", "5", "true", "zip = '34301", "charge = 5)", "(charge = 5"],
    "a line break at its end": ["charge = 5\n", "zip = '34301'\n"],
    "a number of more than nine digits": ["charge = 1000000000", "charge = 99999999999999999999999999", "charge <= 1" + "0" * 400],
}


@functools.cache
def _texts():
    rng = np.random.default_rng(63)
    columns, honest = ["zip", "sex", "dob", "diagnosis", "visit"], []
    values = {"zip": ["34301", "34399"], "sex": ["F", "M"], "dob": ["1938-11-21", "2021-01-01"], "diagnosis": ["HIV", "influenza", "injury 2", ""],
              "visit": ["2023-12-02", "2023-05-19"]}
    for op in ("=", "<>", "<", "<=", ">", ">="):
        for space in ("", " ", "  "):
            column = columns[rng.integers(5)]
            honest += [f"{column}{space}{op}{space}'{values[column][rng.integers(len(values[column]))]}'",
                       f"charge{space}{op}{space}{[0, 5, 730, 999_999_999][rng.integers(4)]}"]
    honest += [f"{column} = '{value}'" for column, known in values.items() for value in known]
    return honest, [(kind, text) for kind, texts in HOSTILE.items() for text in texts]


@checker
def eng_allow(allowed):
    """`allowed(text)`: whether a text is one comparison of a column of the hospital with a constant of its type."""
    honest, hostile = _texts()
    for text in honest:
        if not _verdict(allowed, text):
            raise Wrong(f"{text!r} is one comparison of a column with a constant of its type, and is refused")
    for kind, text in hostile:
        if _verdict(allowed, text, none=True):
            raise Wrong(f"{text[:60]!r} is allowed, and {'is no whole comparison' if kind.startswith('nothing') else f'has {kind}'}")
    return f"{len(honest)} honest texts allowed, {len(hostile)} others refused"


def _verdict(allowed, text, none=False):
    said = (ask if none else answered)(allowed, text)                    # a pattern that does not match gives None
    if said is None or isinstance(said, (re.Match, bool, np.bool_)):
        return bool(said)
    raise Wrong(f"expected True or False, got {said!r}"[:200])


# ---------------------------------------------------------------------------------------------------------------- late

@checker
def eng_late(answer):
    """`answer`: the total epsilon for a person's tickets of March under five policies."""
    why = {
        ("left out", 2): "a late ticket enters no release, the others enter one",
        ("once more", 1): "March's tickets enter two releases, with fresh noise each",
        ("nightly", 1): "every night is a release of its own, with fresh noise",
        ("nightly", 31): "there was none on 1 April, so the thirty nights are all",
        ("by batch", 1): "some of March's tickets are in the batch of March and some in that of April, and the unit is all of March's",
        ("per batch", 2): "each ticket lies in one batch, and the unit is now the batch",
    }

    def reason(name, said):
        return f"not {said:g}; {why.get((name, said), 'count the releases that depend on the rows of the unit')}"

    compare_dict(answer, {"left out": 1, "once more": 2, "nightly": 30, "by batch": 2, "per batch": 1}, reason)
    return "one for each release that the unit can enter"
