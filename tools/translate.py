"""The Chinese edition: what is translated, and what is not any more.

    python tools/translate.py update [PAGES]    bring locale/zh_CN up to the pages: new entries are empty, changed ones
                                                are fuzzy and show what they were
    python tools/translate.py check [PAGES]     what is missing, fuzzy or out of date; exit with 1 if anything is
    python tools/translate.py lint [PAGES]      what is wrong with translations; exit with 1 if there is an error
    python tools/translate.py count [PAGES]     strings and words, and how many of them are translated
    python tools/translate.py run [PAGES]       run sections in both languages and compare the numbers in all outputs
    python tools/translate.py build             build the Chinese book into _build/html/zh (make zh)
"""
import sys
from collections import Counter

from bookext.translation import catalogue
from bookext.translation.lint import ERRORS, lint


def update(pages):
    memory = catalogue.memory()
    for page in pages:
        catalogue.update(page, memory=memory)


def check(pages):
    found = [line for page in pages for line in catalogue.complaints(page)] + catalogue.told_twice()
    print(*found[:60], *[f"and {len(found) - 60} more"] * (len(found) > 60), sep="\n")
    return bool(found)


def look(pages):
    counts = Counter()
    for page in pages:
        for rule, message, why in lint(page) if catalogue.path_of(page).exists() else ():
            counts[rule] += 1
            kind = "error" if rule in ERRORS else "look"
            place = message.auto_comments[0] if message.auto_comments else ""
            print(f"{kind}: {rule}: {page}: {place}: {why}\n    {message.string[:70]!r}")
    print(dict(counts))
    return not ERRORS.isdisjoint(counts)


def count(pages):
    rows = {page: catalogue.count(page) for page in pages}
    for page, row in [*rows.items(), ("together", map(sum, zip(*rows.values())))]:
        print(f"{page:44}" + "".join(f"{number:9,}" for number in row))


def run(pages):
    from bookext.translation import agree
    pages = [page for page in pages if page.startswith("chapters/") and catalogue.source(page)[1]]
    agree.run(pages)
    failed = False
    for page in pages:
        found = agree.compared(page)
        print(f"{page}: {'does not run' if found is None else 'the same numbers' if not found else ''}")
        print(*found or (), sep="\n", end="\n" * bool(found))
        failed |= found != []
    return failed


def build(pages):
    from bookext.translation.build import build as make
    return make()


COMMANDS = {"update": update, "check": check, "lint": look, "count": count, "run": run, "build": build}


def main(arguments):
    if not arguments or arguments[0] not in COMMANDS:
        sys.exit(__doc__)
    command, *chosen = arguments
    pages = [page.removesuffix(".ipynb").removesuffix(".md") for page in chosen] or catalogue.pages()
    return COMMANDS[command](pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
