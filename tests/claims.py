"""Claims of a notebook run in a process of their own: the cells after one find everything as if it had not been there.

So nbval's one execution of a notebook with its claims is also that of the plain notebooks, which have none.
"""
import ast
import dis
import inspect
import types

MARK = "# claim: "


def alone(line, cell, kept={}):  # noqa: B006
    """A magic of the kernel: run a claim in a fork, which leaves nothing but its failure, and values for later claims.

    The line has the names that it takes from earlier claims.
    """
    import linecache
    import os
    import pickle
    import traceback
    import warnings

    read, write = os.pipe()
    with warnings.catch_warnings(action="ignore"):       # the kernel has threads, which the fork does not use
        child = os.fork()
    if not child:
        trouble, made, space = "", {}, get_ipython().user_ns  # noqa: F821
        try:
            space.update((name, pickle.loads(kept[name])) for name in line.split() if name in kept)
            before = dict(space)
            linecache.cache["claim"] = len(cell), None, cell.splitlines(keepends=True), "claim"
            exec(compile(cell, "claim", "exec"), space)
            for name in (name for name, value in space.items() if before.get(name) is not value):
                try:
                    made[name] = pickle.dumps(space[name])
                except Exception:
                    made.pop(name, None)         # a function, for one, which later claims take as text
        except BaseException:
            trouble = traceback.format_exc()
        with open(write, "wb") as file:
            pickle.dump((trouble, made), file)
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        sent = file.read()
    status = os.waitpid(child, 0)[1]
    trouble, made = pickle.loads(sent) if sent else (f"the process of the claim ended with {status}", {})
    if trouble:
        raise AssertionError(trouble)
    kept.update(made)


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


def definitions(code):
    """Name -> the statement of a cell that imports it or defines it as a function or a class."""
    found = {}
    for node in ast.parse(code).body:
        is_definition = isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
        if is_definition or isinstance(getattr(node, "value", None), ast.Lambda):
            found.update(dict.fromkeys(bound(ast.unparse(node)), ast.unparse(node)))
    return found


def alone_in(sources):
    """What a kernel is given instead of the code cells of a notebook: each claim alone, with what it uses of others."""
    last, given = {}, []         # name -> the statement that defined it last, "" for a value, None outside of claims
    for source in sources:
        if source.startswith(MARK):
            before, values, todo, seen = [], [], sorted(loaded(source) - bound(source)), set()
            while todo:
                name = todo.pop(0)
                if last.get(name) is not None and name not in seen:
                    (before if last[name] else values).append(last[name] or name)
                    todo += sorted(loaded(last[name]))
                seen.add(name)
            given.append("\n".join([f"%%alone {' '.join(values)}", *dict.fromkeys(before), source]))
            last.update({**dict.fromkeys(bound(source), ""), **definitions(source)})
        else:
            given.append(source)
            last.update(dict.fromkeys(bound(source)))
    return [MAGIC + given[0], *given[1:]]
