"""Answers of the section on engines: solutions, unusual right answers, leaks, and mistakes with what they are told."""
import re

import duckdb
import pytest

from dplib import data
from provable_privacy import check
from provable_privacy.check.deployment import engines

ORDERS = {"coin": {"private", "fair"}, "hash": {"private", "fair", "same"}, "film": {"private", "same"},
          "popular": {"same"}, "first": {"private", "same"}, "person": set()}
SUMS = {"rows64": 922_337_203_685_477, "rows32": 214_748, "wrapped": 4_294_967_295, "stuck": 16_777_216}
LATE = {"left out": 1, "once more": 2, "nightly": 30, "by batch": 2, "per batch": 1}

TEXT = """
with pairs as (
  select person, film // 100 as shelf, least(5000, sum(greatest(0, least(5000, coalesce(cents, 0))))) as total
  from tickets where person is not null and film is not null group by person, shelf
), ranked as (
  select *, row_number() over (partition by person order by md5(concat('07:', person, ':', shelf)), shelf) as place
  from pairs
)
select shelf, count(*) as people, sum(total) as total from ranked where place <= 3 group by shelf order by shelf"""

COLLEAGUE = """
with drawn as (
  select *, md5(concat('07:', person, ':', film)) as lot from tickets where person is not null and film is not null
), ranked as (
  select *, row_number() over (partition by film order by lot) as place from drawn
)
select film // 100 as shelf, count(*) as people, least(5000, sum(cents)) as total
from ranked where place <= 3 group by shelf order by shelf"""

QUALIFIED = """
select shelf, count(*)::bigint as people, sum(total)::bigint as total from (
  select person, floor(film / 100)::integer as shelf,
    greatest(0, least(5000, sum(
      case when cents is null or cents < 0 then 0 when cents > 5000 then 5000 else cents end))) as total
  from tickets where person is not null and film is not null group by 1, 2
  qualify row_number() over (partition by person order by sha256(person || 'salt' || shelf)) <= 3
) group by shelf order by shelf"""

HUGE = """
with pairs as (select person, film // 100 as shelf,
                 greatest(0, least(5000, sum(coalesce(cents, 0)::hugeint)))::integer as cents
               from tickets where film is not null and person is not null group by 1, 2),
lots as (select shelf, cents, rank() over (partition by person order by hash(person, shelf, 77), shelf) as place
         from pairs)
SELECT SHELF, COUNT(*) AS PEOPLE, SUM(CENTS) AS TOTAL FROM lots WHERE place < 4 GROUP BY SHELF ORDER BY 1 DESC"""


UNNESTED = """
with pairs as (
  select person, film // 100 as shelf, least(sum(greatest(0, least(coalesce(cents, 0), 5000))), 5000) as total
  from tickets where film is not null and person is not null group by person, film // 100
), lines as (
  select person, unnest(list({'shelf': shelf, 'total': total} order by hash(person, shelf))[:3]) as line
  from pairs group by person
)
select line.shelf as shelf, count(*) as people, sum(line.total) as total from lines
group by line.shelf order by line.shelf"""

COUNTED = """
with pairs as (
  select person, film // 100 as shelf, least(sum(greatest(0, least(coalesce(cents, 0), 5000))), 5000) as total,
    md5(concat(person, '/', film // 100)) as lot
  from tickets where person is not null and film is not null group by person, film // 100
)
select shelf, count(distinct person) as people, sum(total) as total from pairs
where (select count(*) from pairs as other where other.person = pairs.person and other.lot < pairs.lot) < 3
group by shelf order by md5(shelf::varchar)"""


ORDER = "order by md5(concat('07:', person, ':', shelf)), shelf"


def changed(old, new, text=TEXT):
    assert old in text
    return text.replace(old, new)


def ordered(by, text=TEXT):
    return changed(ORDER, by, text)


SUM = "least(5000, sum(greatest(0, least(5000, coalesce(cents, 0)))))"


def fails(service, question):
    try:
        service(question)
    except Exception:
        return True
    return False


def asking(question):
    """Whether a question about `who` fails."""
    return lambda service, who: fails(service, question.format(who=who))


steal = asking("case when {who} and diagnosis = 'HIV' then error('yes') else true end")


def steal_by_cast(service, who):
    try:
        service(f"case when {who} then cast(case diagnosis when 'HIV' then 'x' else '1' end as integer) else 1 end = 1")
        return False
    except Exception as error:
        return "Conversion" in type(error).__name__


def steal_by_the_healthy(service, who):
    """Fails unless she was there for HIV."""
    return not fails(service, f"case when {who} and diagnosis <> 'HIV' then 1 // 0 else 1 end = 1")


def steal_from_the_table(service, who):
    with duckdb.connect() as ward:
        ward.register("hospital", data.load("hospital"))
        return ward.execute(f"select count(*) from hospital where {who} and diagnosis = 'HIV'").fetchone()[0] > 0


def steal_twice(service, who):
    return service(f"{who} and diagnosis = 'HIV'") + service(f"{who} and diagnosis = 'HIV'") > 1


OP = " *(=|<>|<=?|>=?) *"
NUMBER = re.compile(f"charge{OP}-?[0-9]{{1,9}}")
WORDS = re.compile(f"(zip|sex|dob|diagnosis|visit){OP}'[A-Za-z0-9 -]*'")


def allowed(text):
    return bool(NUMBER.fullmatch(text) or WORDS.fullmatch(text))


def allowed_match(text):
    """A match counts as true, and None as false."""
    return NUMBER.fullmatch(text) or WORDS.fullmatch(text)


def allowed_by_hand(text):
    for op in ("<>", "<=", ">=", "=", "<", ">"):
        column, found, constant = text.partition(op)
        column, constant = column.rstrip(" "), constant.lstrip(" ")
        if found and column in ("zip", "sex", "dob", "diagnosis", "visit"):
            good = all(c.isascii() and (c.isalnum() or c in " -") for c in constant[1:-1])
            return len(constant) > 1 and constant[0] == constant[-1] == "'" and good
        if found and column == "charge":
            return constant.removeprefix("-").isascii() and constant.removeprefix("-").isdigit() and len(constant) < 10
    return False


def blacklist(text):
    return not any(word in text for word in ("cast", "error", "case", "select", "(", ";", "--", "/"))


def allowing(number=f"charge{OP}-?[0-9]{{1,9}}", constant="[A-Za-z0-9 -]*", flags=0, match=re.fullmatch):
    words = f"(zip|sex|dob|diagnosis|visit){OP}'{constant}'"
    return lambda text: bool(match(number, text, flags) or match(words, text, flags))


def any_column(text):
    return bool(re.fullmatch(rf"[a-z]+{OP}('[A-Za-z0-9 -]*'|[0-9]{{1,9}})", text))


TICKETS = changed("as total\n", "as total, count(*) as tickets\n")
TOSSED = changed("as total\n", "as total, random() as lot\n", ordered("order by lot"))
# overflows only where the charge is above 403
OVERFLOWS = asking("case when {who} and diagnosis = 'HIV' then charge + 9223372036854775404 else 1 end >= 1")

SOLUTIONS = [
    (check.eng_order, lambda seed: ORDERS),
    (check.eng_bound, lambda seed: TEXT),
    (check.eng_sum, lambda seed: SUMS),
    (check.eng_steal, lambda seed: steal),
    (check.eng_allow, lambda seed: allowed),
    (check.eng_late, lambda seed: LATE),
]

UNUSUAL = [
    (check.eng_bound, UNNESTED),
    (check.eng_bound, COUNTED),
    (check.eng_bound, QUALIFIED),
    (check.eng_bound, HUGE),
    (check.eng_bound, TEXT + ";\n"),
    (check.eng_order, {name: sorted(words, reverse=True) for name, words in ORDERS.items()}),
    (check.eng_order, {**ORDERS, "person": "", "popular": "Same", "first": ("private", "same")}),
    (check.eng_order, {name: " ".join(words).split() for name, words in ORDERS.items()}),
    (check.eng_sum, {**SUMS, "wrapped": -4_294_967_295}),
    (check.eng_sum, {name: float(value) for name, value in SUMS.items()}),
    (check.eng_steal, steal_by_cast),
    (check.eng_steal, steal_by_the_healthy),
    (check.eng_allow, allowed_match),
    (check.eng_allow, allowed_by_hand),
    (check.eng_late, {name: float(value) for name, value in LATE.items()}),
]

WRONG = [  # checker, answer, a piece of what it must say
    (check.eng_order, {**ORDERS, "film": {"same"}}, "the rule is not random"),
    (check.eng_order, {**ORDERS, "popular": {"private", "same"}}, "private is not true of it: one more viewer"),
    (check.eng_order, {**ORDERS, "coin": {"private", "fair", "same"}}, "same is not true of it: another attempt"),
    (check.eng_order, {**ORDERS, "person": {"fair", "same"}}, "fair is not true of it: all films"),
    (check.eng_order, {**ORDERS, "person": {"private"}}, "private is not true of it: all films"),
    (check.eng_order, {**ORDERS, "film": set()}, "private is true of it"),
    (check.eng_order, {**ORDERS, "hash": {"private"}}, "fair is true of it"),
    (check.eng_order, {**ORDERS, "hash": {"secret"}}, "not on the list"),
    (check.eng_order, {**ORDERS, "hash": 3}, "not on the list"),
    (check.eng_order, {"coin": {"fair"}}, "missing"),
    (check.eng_order, 3, "expected a dict"),
    (check.eng_bound, COLLEAGUE, "moves"),
    (check.eng_bound, changed("partition by person", "partition by shelf"), "number each person's shelves"),
    (check.eng_bound, changed("place <= 3", "place <= 4"), "at most 3 shelves are allowed"),
    (check.eng_bound, changed(SUM, "least(5000, sum(coalesce(cents, 0)))"), "moves"),
    (check.eng_bound, changed("least(5000, sum(greatest", "(sum(greatest"), "cut what this person pays"),
    (check.eng_bound, changed(SUM, "least(5000, sum(greatest(0, coalesce(cents * 4, 0))))"), "the error tells that"),
    (check.eng_bound, changed(" and film is not null", ""), "a row without person or film counts nowhere"),
    (check.eng_bound, changed("person is not null and ", ""), "a row without person or film counts nowhere"),
    (check.eng_bound, changed("place <= 3", "place <= 2"), "lines are kept where the bounds allow"),
    (check.eng_bound, changed("least(5000", "least(4000"), "eng_bound: tickets of 3,000"),
    (check.eng_bound, ordered("order by shelf"), "not at random"),
    (check.eng_bound, ordered("order by total desc, md5(concat('07:', person, ':', shelf))"), "not at random"),
    (check.eng_bound, changed("order by md5", "order by tickets desc, md5", TICKETS), "not at random"),
    (check.eng_bound, changed("sum(total) as total", "sum(total) as total, max(total) as dearest"), "and no other"),
    (check.eng_bound, changed("'07:'", "(select count(*) from tickets)"), "the lines of others change"),
    (check.eng_bound, ordered("order by md5(concat('07:', person))"), "Some hashes are equal"),
    (check.eng_bound, changed("group by shelf order", "group by shelf having count(*) > 1 order"), "hides small"),
    (check.eng_bound, TOSSED, "a second run keeps other lines"),
    (check.eng_bound, changed("order by shelf", "order by people desc"), "order of the exact people"),
    (check.eng_bound, changed("film // 100", "film // 10"), "eng_bound: with people who stay below"),
    (check.eng_bound, changed("sum(total) as total", "sum(total) as money"), "must have the columns"),
    (check.eng_bound, TEXT.replace("ranked where", "nobody where"), "DuckDB does not run it"),
    (check.eng_bound, "select 1 as shelf, 'x' as people, 2 as total", "whole numbers"),
    (check.eng_bound, "select film // 100 as shelf, 1 as people, 2 as total from tickets", "once"),
    (check.eng_bound, 3, "expected a text"),
    (check.eng_sum, {**SUMS, "rows64": 1_844_674_407_370_955}, "one bit is the sign"),
    (check.eng_sum, {**SUMS, "rows32": 2**31 - 1}, "10,000 cents"),
    (check.eng_sum, {**SUMS, "rows32": 214_749}, "214749"),
    (check.eng_sum, {**SUMS, "rows32": 2**31 / 10_000}, "whole number"),
    (check.eng_sum, {**SUMS, "wrapped": 2**31}, "very bottom"),
    (check.eng_sum, {**SUMS, "wrapped": -(2**32)}, "by 1 upwards"),
    (check.eng_sum, {**SUMS, "wrapped": 1}, "right without wrapping"),
    (check.eng_sum, {**SUMS, "stuck": 2**23}, "2^23 + 1 is still"),
    (check.eng_sum, {**SUMS, "stuck": 2**24 - 1}, "still arrives"),
    (check.eng_sum, {**SUMS, "stuck": 2**24 + 1}, "it is not reached"),
    (check.eng_sum, {**SUMS, "stuck": "many"}, "expected"),
    (check.eng_steal, lambda service, who: service(f"{who} and diagnosis = 'HIV'") > 0.5, "the noise hides the number"),
    (check.eng_steal, OVERFLOWS, "does not happen for every visit"),
    (check.eng_steal, steal_from_the_table, "without asking the service"),
    (check.eng_steal, steal_twice, "more than once"),
    (check.eng_steal, lambda service, who: fails(service, who) or steal(service, who), "more than once"),
    (check.eng_steal, asking("case when {who} then error('yes') else true end"), "fails for everybody"),
    (check.eng_steal, lambda service, who: False, "you always say False"),
    (check.eng_steal, lambda service, who: service("broken ("), "raised"),
    (check.eng_steal, lambda service, who: 3, "expected True or False"),
    (check.eng_steal, lambda service, who: print(end=""), "return"),
    (check.eng_allow, allowing(match=re.match), "is allowed"),
    (check.eng_allow, allowing(number=rf"charge{OP}-?\d{{1,9}}"), "beyond ASCII"),
    (check.eng_allow, blacklist, "is allowed"),
    (check.eng_allow, allowing(constant=r"[\w -]*", flags=re.ASCII), "a mark that a constant must not have"),
    (check.eng_allow, allowing(constant="[A-z0-9 -]*"), "a mark that a constant must not have"),
    (check.eng_allow, allowing(flags=re.IGNORECASE), "beyond ASCII"),
    (check.eng_allow, allowing(number=r"charge\s*(=|<>|<=?|>=?)\s*-?[0-9]{1,9}", flags=re.ASCII), "another blank"),
    (check.eng_allow, allowing(number=f"charge{OP}-?[0-9]{{1,10}}"), "more than nine digits"),
    (check.eng_allow, any_column, "wrong type"),
    (check.eng_allow, lambda text: allowed(text) and " =" not in text, "is refused"),
    (check.eng_allow, lambda text: False, "is refused"),
    (check.eng_allow, lambda text: "yes", "expected True or False"),
    (check.eng_allow, lambda text: print(end=""), "return"),
    (check.eng_late, {**LATE, "by batch": 1}, "the unit is all of March"),
    (check.eng_late, {**LATE, "nightly": 1}, "a release of its own"),
    (check.eng_late, {**LATE, "nightly": 31}, "thirty nights"),
    (check.eng_late, {**LATE, "once more": 1}, "fresh noise"),
    (check.eng_late, {**LATE, "left out": 0}, "count the releases"),
    (check.eng_late, {**LATE, "left out": 2}, "the others enter one"),
    (check.eng_late, {**LATE, "per batch": 2}, "lies in one batch"),
]

COUNTED_FIRST = "counted as (select *, count(*) over (partition by shelf) as viewers from pairs), ranked as ("
POPULAR = changed("ranked as (", COUNTED_FIRST, changed("  from pairs", "  from counted"))
POPULAR = ordered("order by viewers desc, md5(concat(person, shelf))", POPULAR)
BY_ROW = """
with ranked as (
  select person, film // 100 as shelf, greatest(0, least(5000, coalesce(cents, 0))) as total,
    row_number() over (partition by person order by md5(concat(person, film // 100))) as place
  from tickets where person is not null and film is not null
)
select shelf, count(*) as people, sum(total) as total from ranked where place <= 3 group by shelf order by shelf"""
BY_FILM = changed("by person, shelf", "by person, film", changed("film // 100 as", "any_value(film // 100) as"))

LEAKS = [
    (check.eng_bound, ordered("")),
    (check.eng_bound, ordered("order by substring(md5(concat('07:', person, ':', shelf)), 1, 1)")),
    (check.eng_bound, POPULAR),
    (check.eng_bound, POPULAR.replace("viewers desc", "viewers")),
    (check.eng_bound, POPULAR.replace("count(*) over (partition by shelf)", "avg(total) over (partition by shelf)")),
    (check.eng_bound, COLLEAGUE),
    (check.eng_bound, BY_FILM),
    (check.eng_bound, BY_ROW),
    (check.eng_bound, changed("place <= 3", "place <= 300")),
    (check.eng_bound, changed("select shelf, count(*)", "select shelf, count(*) + max(total) % 2")),
    (check.eng_bound, changed("group by shelf order", "group by shelf having sum(total) > 0 order")),
    (check.eng_bound, changed("order by shelf", "order by people desc")),
    (check.eng_bound, changed("order by shelf", "order by total desc")),
    (check.eng_bound, changed("order by shelf", "order by total")),
    (check.eng_bound, changed("coalesce(cents, 0)", "coalesce(cents * 4, 0)")),
    # an order of the rows that depends on what is in them
    (check.eng_bound, changed("order by shelf", "order by max(total), shelf")),
    (check.eng_bound, changed("order by shelf", "order by min(person), shelf")),
    (check.eng_bound, changed("order by shelf", "order by md5(count(*)::varchar), shelf")),
    (check.eng_bound, changed("order by shelf", "order by sum(total) % 7, shelf")),
    # a fraction that tells more than the whole number
    (check.eng_bound, changed("count(*) as people", "count(*) + max(total) / 10000.0 as people")),
    (check.eng_bound, changed("sum(total) as total", "sum(total) + 0.9 * (count(*) % 2) as total")),
    # some people are not bounded, or nobody in a small table is
    (check.eng_bound, changed("place <= 3", "place <= 3 or person >= 0")),
    (check.eng_bound, changed("place <= 3", "place <= 3 or (select count(*) from tickets) < 300")),
    # a salt or a cap that the table itself sets
    (check.eng_bound, changed("'07:'", "(select max(film) from tickets)")),
    (check.eng_bound, changed("'07:'", "(select min(person) from tickets)")),
    (check.eng_bound, changed(SUM, "least(greatest(5000, (select max(film) from tickets)), sum(greatest(0, "
                                   "least(5000, coalesce(cents, 0)))))")),
    # very many shelves, shelves below 0, the largest and the smallest price
    (check.eng_bound, changed("place <= 3", "place <= case when (select count(*) from pairs where pairs.person = "
                                            "ranked.person) > 50 then 4 else 3 end")),
    (check.eng_bound, changed("place <= 3", "place <= 3 or shelf < 0")),
    (check.eng_bound, changed("least(5000, coalesce(cents, 0))", "least(5000, abs(coalesce(cents, 0)))")),
    (check.eng_bound, changed("least(5000, coalesce(cents, 0))", "least(5000, coalesce(cents, 0) + 1 - 1)")),
]


@pytest.mark.parametrize("text", [text for texts in engines.HOSTILE.values() for text in texts])
def test_the_hostile_texts_are_more_than_a_comparison(text):
    assert not allowed(text) and not allowed_by_hand(text)


def test_what_the_solution_allows_never_fails():
    hospital, _ = engines._visits()
    with engines._engine() as con:
        con.register("hospital", hospital)
        for text in engines._honest():
            assert con.execute(f"select count(*) from hospital where {text}").fetchall()[0][0] >= 0
