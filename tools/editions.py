"""Make the editions that are not the web page.

    python tools/editions.py notebooks      plain notebooks for students and for instructors, each as a zip file with
                                            the wheel; the instructors' also with the question bank and its answers,
                                            and once more without them, for a public release
    python tools/editions.py pdf            the book as a PDF, from the pages that make book has built
    python tools/editions.py pdf PAGE ...   a chapter (chapters/sparse_vector) of it, or a section
                                            (chapters/sparse_vector/streams)

They are written into _build/notebooks and _build/pdf. With `--edition zh` before its name, an edition is Chinese and is
written into _build/zh. Run it with the Python of .venv (make notebooks and make pdf do).
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import questionbank
from bookext.plain import branch, pack
from bookext.translation import build, catalogue, spoken
from bookext.translation.spoken import say
from printing import Document, NoBrowser, NoFace, NotBuilt, Press, Spoilt

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = {"": "en", "zh": "zh-CN"}            # edition -> its language


def command(builder):
    """What makes an edition of the pages that the book's build has read and run."""
    book = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n", "--keep-going"]
    return [*book, "--builder", "custom", "--custom-builder", builder]


def set_the_date():
    """Let tools write the time of the last commit into files, so that the same commit gives the same bytes."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.stdout.strip():
        os.environ.setdefault("SOURCE_DATE_EPOCH", done.stdout.strip())


def make_wheel(root, folder):
    """The wheel of both packages, made by the pinned setuptools."""
    shutil.rmtree(root / "build", ignore_errors=True)        # where setuptools would find modules that are gone
    for old in folder.glob("*.whl"):
        old.unlink()
    wheels = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheels, "--wheel-dir", folder, root], check=True)
    wheel, = folder.glob("*.whl")
    return wheel


def notebooks(language=""):
    folder = ROOT / "_build" / language / "notebooks"
    if not language:
        subprocess.run(command("notebooks"), cwd=ROOT, check=True)
    elif build.run(folder, "notebooks"):
        sys.exit("the notebooks do not build")
    wheel = make_wheel(ROOT, folder)
    if not language:
        shutil.copy(ROOT / "LICENSE", branch(folder, wheel))
    for made in pack(folder, wheel, papers(), language):
        print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")


def papers():
    """What an archive holds besides notebooks: its licence, how to cite it; the question bank, or how to get it."""
    always = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE", "CITATION.cff")}
    return {
        "student": always,
        "instructor": always | questionbank.edition(),
        "instructor-open": always | {"course/README.md": how_to_get_the_bank()},
    }


def how_to_get_the_bank():
    return "\n".join((
        f"# {say('The question bank')}",
        "",
        say("The whole bank and its answers are not in this file, because students can load it, too.\n"
            "In a copy of the repository the command `make notebooks` writes "
            "`_build/notebooks/provable-privacy-instructor.zip`:\n"
            "the same notebooks, with `course/questions_with_answers.md` and a command that draws questions with other "
            "numbers."),
        "",
    ))


def pdf(wanted=(), language=""):
    """Print the book, or these pages, and return the file. Ends with one line of text if that cannot be done."""
    wanted = [page.removesuffix(".ipynb").removesuffix(".md").removesuffix("/index").rstrip("/") for page in wanted]
    name = "-".join(page.rpartition("/")[2] for page in wanted) or "provable-privacy"
    built = ROOT / "_build" / language
    made = built / "pdf" / f"{name}{language and '-'}{language}.pdf"
    try:
        press = Press()
        press.print(Document(ROOT, built / "html", wanted, LANGUAGES[language]), made)
    except (NoBrowser, NoFace, NotBuilt, Spoilt) as trouble:
        sys.exit(str(trouble))
    print(*press.notes, f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB", sep="\n")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edition", dest="language", choices=[*LANGUAGES], default="", help="zh is the Chinese one")
    editions = parser.add_subparsers(dest="edition", required=True)
    editions.add_parser("notebooks", help="plain notebooks for students and for instructors")
    editions.add_parser("pdf", help="the book as a PDF, or a part of it").add_argument(
        "pages", nargs="*", metavar="PAGE"
    )
    chosen = parser.parse_args()
    set_the_date()
    if chosen.language:
        spoken.start(catalogue.LANGUAGE)
    if chosen.edition == "notebooks":
        notebooks(chosen.language)
    else:
        pdf(chosen.pages, chosen.language)


if __name__ == "__main__":
    main()
