"""A fault put into functions that a process has imported already, by their code: no module is read again.

Whoever holds the function (another module, a table of laws, a property, a decorator) holds the faulty one then. It is
not possible where a fault stands outside functions (a constant of a module, a field of a class, a default of an
argument), for what was computed on import stands; or where two functions of a file have the same name.
"""

from __future__ import annotations

import gc
import types
from collections import Counter
from collections.abc import Iterator

Codes = dict[str, types.CodeType]


def put_in(path: str, sound: str, faulty: str) -> bool:
    """True if every function of the source at `path` (as imported: sound) is now as the faulty text has it.

    False: nothing was done, and it takes a process that imports the faulty text.
    """
    before, after = _functions(sound, path), _functions(faulty, path)
    if before is None or after is None or before.keys() != after.keys():
        return False
    changed = {name for name in before if _does(before[name]) != _does(after[name])}
    live = _live(path, changed)
    outermost = {name for name in changed if not any(name.startswith(f"{other}.<locals>.") for other in changed)}
    if not outermost or not outermost <= live.keys():
        return False  # outside functions; or nobody has imported it
    for name, functions in live.items():
        if any(f.__code__.co_freevars != after[name].co_freevars for f in functions):
            return False
    for name, functions in live.items():
        for function in functions:
            function.__code__ = after[name]
    return True


def _functions(text: str, path: str) -> Codes | None:
    """By qualified name, those within others included; None if a name stands twice."""
    found = list(_nested(compile(text, path, "exec", dont_inherit=True)))
    counts = Counter(code.co_qualname for code in found)
    unnamed = ("<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
    if any(number > 1 and not name.endswith(unnamed) for name, number in counts.items()):
        return None
    return {code.co_qualname: code for code in found if counts[code.co_qualname] == 1}


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            if part.co_flags & 0x2:  # CO_NEWLOCALS: a function, not the body of a class
                yield part
            yield from _nested(part)


def _does(code: types.CodeType) -> tuple[object, ...]:
    """What it computes, wherever it stands: code within it included."""
    constants = tuple(_does(c) if isinstance(c, types.CodeType) else (type(c), repr(c)) for c in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def _live(path: str, names: set[str]) -> dict[str, list[types.FunctionType]]:
    found: dict[str, list[types.FunctionType]] = {}
    for function in gc.get_objects():
        if type(function) is types.FunctionType and function.__code__.co_filename == path:
            name = function.__code__.co_qualname
            if name in names:
                found.setdefault(name, []).append(function)
    return found
