"""Show a solution, to a learner who asks for it, from a copy of the notebooks that has the solutions."""
import json
from pathlib import Path

from provable_privacy.languages import said
from provable_privacy.speech import CHECKERS

__all__ = ["solution"]

HEADING = "#### Solution to "


def solution(exercise):
    """Show the solution of one exercise: `check.solution("dp_unit")`.

    Parameters
    ----------
    exercise : str or checker
        The name of the checker that stands in the exercise's cell.
    """
    name = getattr(exercise, "__name__", str(exercise)).removeprefix("check.")
    if name not in CHECKERS:
        print(said(f"There is no exercise {name}. The name stands in the exercise's cell: check.NAME(answer)."))
        return
    here = Path.cwd()
    folder = next((one / "solutions" for one in (here, *here.parents) if (one / "solutions").is_dir()), None)
    found = [part for path in sorted(folder.rglob("*.ipynb")) for part in parts(path, name)] if folder else []
    if not found:
        print(said("This copy has no solutions. The page of the section has them, folded, below its exercises."))
        return
    from IPython.display import Markdown, display

    display(Markdown("\n\n".join(found)))


def parts(path, name):
    """The solutions in a notebook, as Markdown, that call one checker."""
    solutions = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if text.startswith(HEADING):
            solutions.append([])
        if solutions:
            code = text.removeprefix("# a solution\n")
            solutions[-1].append(text if cell["cell_type"] == "markdown" else f"```python\n{code}\n```")
    return ["\n\n".join(one) for one in solutions if f"check.{name}(" in "\n".join(one)]
