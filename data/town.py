"""The town: 30,000 people who do not exist, and what a hospital, a voter roll, a film service, a forum and a firm know.

    python data/town.py        writes people, hospital, voters, ratings, forum and staff beside this file
    make_town(seed=2024)       returns them as a dict of DataFrames and writes nothing

Each table draws from a random stream of its own, so a change in one leaves the chance in the others as it was.
Columns that begin with an underscore are answer keys: `_person` is a row number in `people`, `_user` a user of
`ratings`. town.md describes every column.
"""
import numpy as np
import pandas as pd

REFERENCE = np.datetime64("2024-01-01")  # ages are counted on this day
ZIPS = {"34301": 13000, "34302": 7200, "34303": 4300, "34311": 2600, "34312": 1400,
        "34521": 800, "34522": 450, "34531": 250}

# People in 1,000 per five years of age (0-4, 5-9, ..., 80-84), and last those of 85 and above.
AGE_BANDS = np.array([57, 60, 64, 65, 66, 70, 69, 66, 61, 61, 63, 66, 63, 55, 44, 29, 19, 22])

EDUCATION = ["primary", "secondary", "vocational", "bachelor", "postgraduate"]
PAY = {  # occupation: yearly income in 1,000 before education, age and luck
    "none": 6, "student": 3, "farm": 24, "craft": 33, "clerk": 34, "sales": 32, "service": 26, "teacher": 45,
    "engineer": 62, "manager": 78, "retired": 20,
}
WORK = {  # occupation: its weight at each of the five levels of education
    "none": [10, 8, 5, 4, 3],
    "farm": [20, 8, 4, 1, 0],
    "craft": [28, 27, 22, 4, 1],
    "clerk": [8, 17, 22, 17, 6],
    "sales": [12, 18, 20, 14, 5],
    "service": [22, 20, 16, 6, 3],
    "teacher": [0, 1, 3, 16, 24],
    "engineer": [0, 0, 4, 22, 30],
    "manager": [0, 1, 4, 16, 28],
}

# Influenza visits a day through 2023, straight lines between these days: a winter wave, a quiet season, an outbreak.
QUIET_FLU_RATE = 2.0
FLU_SEASON = {
    "2023-01-01": 8.0, "2023-02-05": 15.0, "2023-03-20": 4.5, "2023-05-01": QUIET_FLU_RATE,
    "2023-10-15": QUIET_FLU_RATE, "2023-10-26": 8.5, "2023-11-10": 10.0, "2023-12-31": 4.0,
}

SUBSCRIBERS, FILMS, GENRES, POSTERS = 2000, 600, 6, 150
FIRST_RATING, RATING_DAYS = np.datetime64("2022-01-01"), 730

STAFF = 120
DEPARTMENTS = {"clerk": "office", "sales": "sales", "engineer": "engineering",
               "manager": "management", "craft": "workshop"}

# In order of frequency, commonest first.
SURNAMES = [
    "Hill", "Brook", "Parker", "Mills", "Fields", "Turner", "Lane", "Baker", "Woods", "Ford", "Harper", "Mason",
    "Banks", "Porter", "Marsh", "Cole", "Hunter", "Stone", "Fisher", "Rivers", "Barker", "Glen", "Thatcher", "Winter",
    "Sadler", "Heath", "Cooper", "Moor", "Tanner", "Frost", "Potter", "Dale", "Weaver", "Lake", "Fuller", "Grove",
    "Chandler", "Snow", "Fletcher", "Birch", "Cutler", "Meadows", "Tyler", "Ridge", "Carter", "Poole", "Skinner",
    "Holme", "Wheeler", "Cliff", "Archer", "Bridges", "Gardener", "North", "Bowman", "Castle", "Plummer", "West",
    "Ryder", "Church", "Fowler", "Barnes", "Shepherd", "Townsend", "Falconer", "Underhill", "Forrester", "Eastwood",
    "Sawyer", "Ashwood", "Mercer", "Blackburn", "Spicer", "Whitfield", "Draper", "Greenhalgh", "Cartwright", "Redfern",
    "Wainwright", "Silverlock", "Arkwright", "Goldsworthy", "Playwright", "Copperfield", "Boatwright", "Hazelwood",
    "Lightfoot", "Larkspur", "Merryweather", "Nightingale", "Fairweather", "Ravenscroft",
]
FEMALE_NAMES = [
    "Mary", "Susan", "Linda", "Carol", "Nancy", "Betty", "Karen", "Sarah", "Alice", "Julia", "Diana", "Amy", "Rachel",
    "Martha", "Rose", "Megan", "Jenny", "Nina", "Eva", "Lucy", "Claire", "Molly", "Ellen", "Rita", "Hope", "Daisy",
    "Violet", "Pearl", "Sylvia", "Irene", "June", "Fern", "Heidi", "Tara", "Phoebe", "Marion", "Edna", "Ruby", "Penny",
    "Sadie", "Wanda", "Tilda", "Nadia", "Dinah", "Petra", "Cleo", "Odette", "Fiona", "Maud", "Zelda",
]
MALE_NAMES = [
    "John", "Peter", "David", "Thomas", "James", "Michael", "Robert", "Henry", "Daniel", "George", "Simon", "Philip",
    "Andrew", "Martin", "Arthur", "Walter", "Harold", "Oliver", "Edwin", "Victor", "Stanley", "Bruce", "Gordon",
    "Howard", "Roger", "Leonard", "Nigel", "Trevor", "Colin", "Barry", "Derek", "Duncan", "Graham", "Angus", "Bernard",
    "Clive", "Desmond", "Gerald", "Hector", "Lionel", "Maurice", "Nathan", "Percy", "Quentin", "Rupert", "Silas",
    "Tobias", "Vincent", "Wilfred", "Xavier",
]


def make_town(seed=2024):
    """All six tables, by name. Each draws from its own child of `seed`."""
    rng = dict(zip(("people", "hospital", "voters", "ratings", "forum", "staff"), np.random.default_rng(seed).spawn(6)))
    people = make_people(rng["people"])
    ratings = make_ratings(rng["ratings"], people)
    return {
        "people": people,
        "hospital": make_hospital(rng["hospital"], people),
        "voters": make_voters(rng["voters"], people),
        "ratings": ratings,
        "forum": make_forum(rng["forum"], people, ratings),
        "staff": make_staff(rng["staff"], people),
    }


def make_people(rng):
    """The whole town, one row a person: the truth that nobody outside the book can see."""
    zips = rng.permutation(np.repeat(list(ZIPS), list(ZIPS.values())))
    n = len(zips)
    years = lifetimes(rng, n)
    male = rng.random(n) < np.clip(0.512 - 0.0035 * np.maximum(years - 60, 0), 0.30, 1)
    dob = iso_dates(REFERENCE, -1 - (years * 365.2425).astype(int))
    age = age_of(dob)
    education = schooling(rng, age)
    occupation = jobs(rng, age, education)
    income, gain = money(rng, age, male, education, occupation)
    smoker = (age >= 16) & (rng.random(n) < np.where(male, 0.24, 0.15) - 0.03 * (education >= 3))
    weights = diagnosis_weights(age, male, smoker, income)
    return pd.DataFrame({
        "name": names(rng, male),
        "sex": np.where(male, "M", "F"),
        "dob": dob,
        "zip": zips,
        "education": np.array(EDUCATION)[education],
        "occupation": occupation,
        "income": income,
        "gain": gain,
        "smoker": smoker.astype(int),
        "diagnosis": pick(rng, weights),
    })


def lifetimes(rng, n):
    """Years lived: even within each band of five years; beyond 85 the years left are exponential with mean 6,
    at most 15."""
    band = rng.choice(len(AGE_BANDS), n, p=AGE_BANDS / AGE_BANDS.sum())
    oldest = band == len(AGE_BANDS) - 1
    return 5 * band + np.where(oldest, np.minimum(rng.exponential(6, n), 14.9), rng.uniform(0, 5, n))


def schooling(rng, age):
    """Level of education (0 to 4): lower among the old, and capped while a person is still at school."""
    level = np.round(1.7 - 0.012 * np.maximum(age - 45, 0) + 0.9 * rng.standard_normal(len(age)))
    cap = np.select([age < 12, age < 18, age < 22], [0, 1, 2], 4)
    return np.clip(level, 0, cap).astype(int)


def jobs(rng, age, education):
    """Occupation from education; then the very young have none, the young mostly study, the old have mostly retired."""
    work = pick(rng, {job: np.array(weights)[education] for job, weights in WORK.items()})
    chance = rng.random(len(age))
    student = (age < 16) | ((age < 22) & (chance < 0.6))
    retired = (age >= 65) & (chance < 0.8)
    return np.select([age < 6, student, retired], ["none", "student", "retired"], work)


def money(rng, age, male, education, occupation):
    """Yearly income, rounded to hundreds, and capital gain: few have any, and it is capped at 99,999."""
    n = len(age)
    typical = 1000 * pd.Series(occupation).map(PAY).to_numpy() * np.maximum(1 + 0.18 * (education - 2), 0.5)
    typical = typical * (1 + 0.012 * np.clip(age - 22, 0, 30)) * np.where(male, 1.08, 1.0)
    income = np.where(age < 16, 0, 100 * np.round(typical * rng.lognormal(-0.06, 0.35, n) / 100))
    invests = (age >= 18) & (rng.random(n) < 0.04 + 0.03 * (education >= 3) + 0.03 * (occupation == "manager"))
    gain = np.where(invests, np.minimum(rng.lognormal(8, 1.3, n), 99999), 0)
    return income.astype(int), np.round(gain).astype(int)


def diagnosis_weights(age, male, smoker, income):
    """The relative weight of each main diagnosis for each person."""
    def past(start, most):  # years lived past `start`, at most `most`
        return np.clip(age - start, 0, most)

    return {
        "checkup": 6.0,
        "influenza": 2.7 + 1.5 * (age < 15),
        "injury": 1.5 + 2.0 * (male & (age > 10) & (age < 35)),
        "hypertension": 0.12 * past(30, 45),
        "diabetes": 0.01 * past(30, 50) * (4 + 2 * (income < 25000)),
        "asthma": 1.2 + 1.0 * (age < 18) + 0.8 * smoker,
        "heart disease": 0.015 * past(40, 50) * (2 + 1.5 * male + 2.5 * smoker),
        "arthritis": 0.02 * past(45, 50) * np.where(male, 2.0, 3.5),
        "depression": np.where((age > 13) & (age < 70), np.where(male, 1.2, 2.0), 0.2),
        "lung cancer": 0.004 * past(40, 50) * (0.3 + 6 * smoker),
        "pregnancy": np.where(~male & (age >= 18) & (age < 45), 3.0 * np.exp(-(((age - 29) / 8) ** 2)), 0),
        "hepatitis": 0.15 * (age > 15),
        "HIV": 0.06 * ((age > 17) & (age < 70)),
    }


def names(rng, male):
    """Given name, middle initial, surname. Some names are common: about one person in five shares theirs."""
    n = len(male)
    given = rng.choice(50, n, p=falling(50, 0.5))
    initial = rng.choice(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), n)
    surname = rng.choice(SURNAMES, n, p=falling(len(SURNAMES), 0.5))
    first = np.where(male, np.array(MALE_NAMES)[given], np.array(FEMALE_NAMES)[given])
    return [f"{a} {b}. {c}" for a, b, c in zip(first, initial, surname)]


def make_hospital(rng, people):
    """The hospital's release for 2023: names removed, at most one row a person. Babies born in 2023 are left out."""
    age = age_of(people.dob)
    visits = (age >= 1) & (rng.random(len(people)) < np.minimum(0.22 + 0.004 * age, 0.7))
    person = rng.permutation(np.flatnonzero(visits))
    table = people.loc[person, ["zip", "sex", "dob", "diagnosis"]].reset_index(drop=True)
    season = flu_season()
    day = rng.integers(0, len(season), len(table))
    flu = table.diagnosis == "influenza"
    day[flu] = rng.choice(len(season), flu.sum(), p=season / season.sum())
    table["visit"] = iso_dates(np.datetime64("2023-01-01"), day)
    table["charge"] = np.round(rng.lognormal(6, 0.9, len(table))).astype(int)
    table["_person"] = person
    return table


def flu_season():
    """Influenza visits that FLU_SEASON intends for each of the 365 days of 2023."""
    knots = np.array(list(FLU_SEASON), dtype="datetime64[D]") - np.datetime64("2023-01-01")
    return np.interp(np.arange(365), knots.astype(int), list(FLU_SEASON.values()))


def make_voters(rng, people):
    """The public voter roll, sorted by name: adults, more of the old than of the young."""
    age = age_of(people.dob)
    registers = (age >= 18) & (rng.random(len(people)) < 0.45 + 0.35 * np.clip((age - 18) / 50, 0, 1))
    person = np.flatnonzero(registers)
    table = people.loc[person, ["name", "sex", "dob", "zip"]]
    eighteen = table.dob.str[:4].astype(int).to_numpy() + 18
    table["registered"] = np.minimum(np.maximum(eighteen, 1990) + rng.integers(0, 3, len(table)), 2023)
    table["_person"] = person
    return table.sort_values("name", kind="stable").reset_index(drop=True)


def make_ratings(rng, people):
    """Film ratings of 2022 and 2023 under a user number: a few films that all have seen and a long tail,
    one favourite genre each."""
    person = rng.choice(np.flatnonzero(age_of(people.dob) >= 16), SUBSCRIBERS, replace=False)
    genre, favourite = rng.integers(0, GENRES, FILMS), rng.integers(0, GENRES, SUBSCRIBERS)
    liked = favourite[:, None] == genre
    # The smallest of exponential waiting times are a weighted sample without replacement.
    waiting = rng.exponential(size=(SUBSCRIBERS, FILMS)) / (falling(FILMS, 1.0) * np.where(liked, 4.0, 1.0))
    seen = np.minimum(8 + rng.lognormal(2.6, 0.7, SUBSCRIBERS).astype(int), 200)
    row = np.repeat(np.arange(SUBSCRIBERS), seen)
    film = np.concatenate([order[:k] for order, k in zip(np.argsort(waiting, axis=1), seen)])
    quality = rng.normal(3.4, 0.6, FILMS)
    stars = np.clip(np.round(quality[film] + 0.5 * liked[row, film] + rng.normal(0, 0.9, len(film))), 1, 5)
    start = rng.integers(0, 500, SUBSCRIBERS)  # each is active for at most 230 days
    user = 100_000 + rng.permutation(SUBSCRIBERS)
    table = pd.DataFrame({
        "user": user[row],
        "film": film + 1,
        "stars": stars.astype(int),
        "date": iso_dates(FIRST_RATING, start[row] + rng.integers(0, 230, len(film))),
        "_person": person[row],
    })
    return table.sort_values(["user", "date", "film"]).reset_index(drop=True)


def make_forum(rng, people, ratings):
    """150 subscribers tell a public forum, under their names, of 3 to 10 films: up to 14 days off,
    one rating in eight a star off."""
    subscribers = ratings.drop_duplicates("user")[["user", "_person"]]
    subscribers = subscribers.assign(name=people.name.to_numpy()[subscribers["_person"]]).drop_duplicates("name")
    posts = []
    for user in rng.choice(subscribers.user, POSTERS, replace=False):
        theirs = np.flatnonzero(ratings.user == user)
        posts.append(rng.choice(theirs, min(len(theirs), rng.integers(3, 11)), replace=False))
    table = ratings.loc[np.concatenate(posts)].reset_index(drop=True)
    day = (table.date.to_numpy(dtype="datetime64[D]") - FIRST_RATING).astype(int) + rng.integers(-14, 15, len(table))
    slip = np.where(rng.random(len(table)) < 0.15, rng.choice([-1, 1], len(table)), 0)
    return pd.DataFrame({
        "name": people.name.to_numpy()[table["_person"]],
        "film": table.film,
        "stars": np.clip(table.stars + slip, 1, 5),
        "date": iso_dates(FIRST_RATING, np.clip(day, 0, RATING_DAYS - 1)),
        "_user": table.user,
        "_person": table["_person"],
    })


def make_staff(rng, people):
    """One firm's 120 employees. `sick` is a fair secret: it depends on nothing else in the table."""
    age = age_of(people.dob)
    able = np.flatnonzero((age >= 20) & (age < 65) & people.occupation.isin(list(DEPARTMENTS)))
    person = rng.choice(able, STAFF, replace=False)
    hired = people.loc[person].reset_index(drop=True)
    return pd.DataFrame({
        "name": hired.name,
        "sex": hired.sex,
        "age": age[person],
        "department": hired.occupation.map(DEPARTMENTS),
        "salary": hired.income,
        "sick": (rng.random(STAFF) < 0.35).astype(int),
        "_person": person,
    })


def age_of(dob):
    """Whole years on 1 January 2024: only those born on a 1 January have had that year's birthday."""
    born = pd.Series(dob).str
    return (2023 - born[:4].astype(int) + (born[5:] == "01-01")).to_numpy()


def iso_dates(start, days):
    """The dates `days` after `start`, as text."""
    return (start + np.asarray(days).astype("timedelta64[D]")).astype(str)


def falling(n, power):
    """Weights proportional to 1, 1/2^power, 1/3^power, ..., 1/n^power."""
    weights = 1.0 / np.arange(1, n + 1) ** power
    return weights / weights.sum()


def pick(rng, weights):
    """One label per person. `weights` maps each label to its weight, per person or the same for all."""
    total = np.cumsum(np.column_stack(np.broadcast_arrays(*weights.values())), axis=1)
    point = rng.random(len(total)) * total[:, -1]
    return np.array(list(weights))[(total <= point[:, None]).sum(axis=1)]


if __name__ == "__main__":
    from save import save

    for table_name, table in make_town().items():
        save(table_name, table)
        print(f"{table_name:9s} {len(table):6,} rows")
