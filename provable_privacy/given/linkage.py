"""A table of ratings under pseudonyms, and what is known of some people."""
import numpy as np
import pandas as pd

__all__ = ["world"]

FILMS, DAYS, CLUES = 200, 730, 8


def world(seed):
    """Ratings of 270 pseudonyms, and (pseudonym, clues) of 30 people who are in the table and of 30 who are not.

    Each has eight clues. Two of them are wrong; in the others a star may be off by 1 and a day by up to 14.
    """
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, FILMS + 1)
    rows = []
    for user in range(300):
        films = rng.choice(FILMS, size=rng.integers(14, 40), replace=False, p=popular / popular.sum())
        rows += [(user, film, rng.integers(1, 6), rng.integers(0, DAYS)) for film in films]
    records = pd.DataFrame(rows, columns=["user", "film", "stars", "day"])
    records["user"] = records["user"].map(dict(enumerate(rng.permutation(9000)[:300] + 1000)))
    clues = [(user, _clues(records[records["user"] == user], rng))
             for user in rng.choice(records["user"].unique(), 60, replace=False)]
    gone = {user for user, _ in clues[30:]}
    return records[~records["user"].isin(gone)].reset_index(drop=True), clues[:30], clues[30:]


def _clues(own, rng):
    """Eight of somebody's ratings as another person remembers them. The first two are made up."""
    known = own.sample(CLUES, random_state=int(rng.integers(10_000)))[["film", "stars", "day"]].reset_index(drop=True)
    known["stars"] = np.clip(known["stars"] + rng.choice([-1, 0, 0, 0, 1], CLUES), 1, 5)
    known["day"] += rng.integers(-14, 15, CLUES)
    known.loc[:1, "film"] = rng.choice(np.setdiff1d(np.arange(FILMS), own["film"]), 2, replace=False)
    known.loc[:1, "day"] = rng.integers(0, DAYS, 2)
    return known.sample(frac=1, random_state=int(rng.integers(10_000))).reset_index(drop=True)
