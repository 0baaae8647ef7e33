"""Claims of a notebook run in a process of their own: the cells after one find everything as if it had not been there.

So nbval's one execution of a notebook with its claims is also that of the plain notebooks, which have none.
"""
import dis
import inspect
import types

MARK = "# claim: "


def alone(line, cell):
    """A magic of the kernel: run a cell in a fork, which leaves nothing behind but its failure."""
    import linecache
    import os
    import traceback
    import warnings

    read, write = os.pipe()
    with warnings.catch_warnings(action="ignore"):       # the kernel has threads, which the fork does not use
        child = os.fork()
    if not child:
        trouble = ""
        try:
            linecache.cache["claim"] = len(cell), None, cell.splitlines(keepends=True), "claim"
            exec(compile(cell, "claim", "exec"), get_ipython().user_ns)  # noqa: F821
        except BaseException:
            trouble = traceback.format_exc()
        with open(write, "w", encoding="utf-8") as file:
            file.write(trouble)
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as file:
        trouble = file.read()
    status = os.waitpid(child, 0)[1]
    if trouble or status:
        raise AssertionError(trouble or f"the process of the claim ended with {status}")


MAGIC = inspect.getsource(alone) + """
get_ipython().register_magic_function(alone, "cell")
import os
os.chdir(os.sep)                                 # no notebook needs a file beside it
del alone, os
"""


def bound(code):
    """The names that a cell defines at its top level."""
    top = compile(code, "cell", "exec")
    return {step.argval for step in dis.get_instructions(top) if step.opname == "STORE_NAME"}


def loaded(code):
    """The names that a cell takes from the cells before it, or from Python, if only inside a function."""
    steps, found = [*dis.get_instructions(compile(code, "cell", "exec"))], set()
    for step in steps:
        if isinstance(step.argval, types.CodeType):
            steps += dis.get_instructions(step.argval)
        elif step.opname.startswith("LOAD_") and step.opname.endswith(("_NAME", "_GLOBAL", "_GLOBALS")):
            found.add(step.argval)
    return found


def alone_in(sources):
    """What a kernel is given instead of the code cells of a notebook: each claim alone, after the earlier claims whose names it uses."""
    last, needs, given = {}, {}, []              # name -> the cell that defined it last; claim -> it and those that it needs
    for i, source in enumerate(sources):
        if source.startswith(MARK):
            needs[i] = {i}.union(*(needs.get(last.get(name), ()) for name in loaded(source)))
            given.append("%%alone\n" + "\n".join(sources[j] for j in sorted(needs[i])))
        else:
            given.append(source)
        last.update(dict.fromkeys(bound(source), i))
    return [MAGIC + given[0], *given[1:]]
