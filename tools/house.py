"""How the house stands: sizes, imports, long functions, files touched by three runs, and code that is written twice.

    python tools/house.py                     # this checkout
    python tools/house.py OTHER [OTHER ...]   # other checkouts (a git worktree of an earlier commit), then this one

A file is touched by a run if a function in it is executed while the run is made, with the kernel cache off; loading the
file of a scenario does not count. The runs are of bundled craft:

- simulate: `gs.simulate` of the servicer with a law, an event and actuators;
- capture: `simulate()` of the bundled scenario `capture`: approach, grasp, hold, release;
- formation: `simulate()` of the bundled scenario `station`: two members, one of which sees the other.

Repeated code is a run of ten lines or more (no comments, docstrings, blank lines, imports) that stands in two places:
the same to the letter, or alike but for names, strings and numbers. A pair is a contract, and listed apart, where it is
the signature of functions that are to be called alike, or rows of tables that are alike and not the same (fewer than
ten of its lines are anything else), or one of `CONTRACTS`.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parents[1]
LONG = 60  # lines of a function
WIDE = 120  # characters of a line
WINDOW = 10  # lines that make a repetition
THIN = 4.0  # tokens a line on average, below which a repetition is punctuation
SIGNATURE, TABLE = "functions that are called alike", "rows of tables"
CONTRACTS = {  # pairs of files whose likeness is asked for from outside, and by what
    ("algebra/lanes.py", "tracing/expr.py"): "both are numbers to Python and to gyrostat.algebra: a line an operator",
}


class Line(NamedTuple):
    """A line of code: where it stands, what it says, and what shape it has."""

    number: int
    text: str
    shape: tuple[str, ...]
    part_of: str  # SIGNATURE of a function, over several lines; TABLE, a row of one; or nothing of the sort


def measures(checkout: Path) -> dict[str, Any]:
    source = checkout / "src" / "gyrostat"
    files = sorted(source.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path in files}
    functions = [
        (f"{path.relative_to(source)}: {node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    long = sorted(((n, name) for name, n in functions if n > LONG), reverse=True)
    same, alike, contracts = repetitions(source, files)
    found: dict[str, Any] = {
        "files": len(files),
        "lines": sum(len(text) for text in lines.values()),
        "import edges": len(import_edges(source, trees)),
        f"functions over {LONG} lines": len(long),
        f"lines over {WIDE} characters": sum(len(line) > WIDE for text in lines.values() for line in text),
        "repeated code, the same": len(same),
        "repeated code, alike": len(alike),
        "repeated code, by contract": len(contracts),
    }
    for run in RUNS:
        touched = files_touched(checkout, run)
        found[f"files touched by {run}"] = len(touched)
        found[f"files touched by {run}, in simulation/"] = sum(name.startswith("simulation/") for name in touched)
    found["details"] = {"long": [f"{name}, {n} lines" for n, name in long], "same": same, "alike": alike}
    found["details"]["contracts"] = contracts
    return found


# ---- imports


def import_edges(source: Path, trees: dict[Path, ast.Module]) -> set[tuple[str, str]]:
    """(file, file it imports), once for each pair; imports for type checkers alone do not run."""
    names = {module_name(source, path) for path in trees}
    edges = set()
    for path, tree in trees.items():
        own = module_name(source, path)
        package = own if path.name == "__init__.py" else own.rpartition(".")[0]
        for node in running(tree):
            if isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                parts = package.split(".") if node.level else []
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
                wanted = [f"{base}.{alias.name}" for alias in node.names]
            else:
                continue
            for name in wanted:
                target = name if name in names else name.rpartition(".")[0]
                if target in names and target != own:
                    edges.add((own, target))
    return edges


def running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from running(child)


def module_name(source: Path, path: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# ---- runs


def simulate_run() -> Any:
    import numpy as np

    import gyrostat as gs

    craft = gs.load("servicer")

    def law(craft: Any, t: Any, q: Any, v: Any) -> Any:
        return gs.joint_torques(craft, {"joint_1": 0.1 - q[7] - 2.0 * v[6]})

    event = gs.When(lambda craft, t, q, v: q[7] - 0.01, "there")
    options = {"control": law, "events": [event], "actuators": gs.Actuators(lag=0.1)}
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    return lambda: gs.simulate(craft, q, v, (0.0, 2.0), **options)


def scenario_run(name: str, *, shorter: tuple[str, str]) -> Any:
    from gyrostat import scenario

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.toml"
        path.write_text(scenario.example(name).replace(*shorter), encoding="utf-8")
        work = scenario.load(path)
    return lambda: work.simulate(progress=False)


RUNS = {
    "simulate": simulate_run,
    "capture": lambda: scenario_run("capture", shorter=('duration = "120 s"', 'duration = "5 s"')),
    "formation": lambda: scenario_run("station", shorter=('duration = "15 min"', 'duration = "10 s"')),
}


def files_touched(checkout: Path, run: str) -> list[str]:
    """In a process of its own, which imports that checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "GYROSTAT_CACHE": "off"}
    command = [sys.executable, str(Path(__file__).resolve()), "--touch", run]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return list(json.loads(done.stdout.splitlines()[-1]))


def touch(run: str) -> list[str]:
    import threading

    import gyrostat

    root = str(Path(gyrostat.__file__).parent) + os.sep
    seen: set[str] = set()

    def look(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(root):
            seen.add(code.co_filename.removeprefix(root).replace(os.sep, "/"))

    work = RUNS[run]()
    sys.setprofile(look)
    threading.setprofile(look)
    work()
    sys.setprofile(None)
    return sorted(seen)


# ---- code that is written twice


def repetitions(source: Path, files: list[Path]) -> tuple[list[str], list[str], list[str]]:
    """Pairs of places that say the same, pairs that are alike but for names and values, and pairs of either sort that
    a contract asks for.
    """
    code = {str(path.relative_to(source)): list(code_lines(path)) for path in files}
    same = _apart(_pairs(code, lambda line: line.text), [])
    alike = _apart(_pairs(code, lambda line: line.shape), same)
    reasons = {pair: _contract(code, pair, SIGNATURE) for pair in same}
    reasons |= {pair: _contract(code, pair, SIGNATURE, TABLE) for pair in alike}
    return (
        [_words(code, pair) for pair in same if not reasons[pair]],
        [_words(code, pair) for pair in alike if not reasons[pair]],
        [f"{_words(code, pair)}: {reason}" for pair, reason in sorted(reasons.items()) if reason],
    )


def code_lines(path: Path) -> Iterator[Line]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    passed = _passed_over(tree)
    part_of = dict.fromkeys(_rows(tree), TABLE) | dict.fromkeys(_signatures(tree), SIGNATURE)
    by_line: dict[int, list[tokenize.TokenInfo]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            by_line[token.start[0]].append(token)
    for number, tokens in sorted(by_line.items()):
        if number not in passed and tokens[0].type != tokenize.ENDMARKER:
            yield Line(number, " ".join(t.string for t in tokens), tuple(map(_shape, tokens)), part_of.get(number, ""))


def _passed_over(tree: ast.Module) -> set[int]:
    """Lines of imports and of docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        texts = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if texts or isinstance(node, (ast.Import, ast.ImportFrom)):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _signatures(tree: ast.Module) -> set[int]:
    """Lines of signatures that take several."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body[0].lineno > node.lineno + 1:
            lines.update(range(node.lineno, node.body[0].lineno))
    return lines


def _rows(tree: ast.Module) -> set[int]:
    """Lines of dictionaries by name, one an entry."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and len(node.keys) > 2:
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and value.end_lineno == key.lineno:
                    lines.add(key.lineno)
    return lines


def _shape(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return token.string if keyword.iskeyword(token.string) else "name"
    return {tokenize.NUMBER: "number", tokenize.STRING: "text"}.get(token.type, token.string)


Place = tuple[str, int]  # file, index of its first line of code
Pair = tuple[Place, Place, int]  # and how many lines


def _pairs(code: dict[str, list[Line]], key: Any) -> list[Pair]:
    """Longest runs of lines with equal keys, at least a window long, that do not overlap."""
    windows: dict[tuple[Any, ...], list[Place]] = defaultdict(list)
    for name, lines in code.items():
        keys = [key(line) for line in lines]
        for k in range(len(lines) - WINDOW + 1):
            if sum(len(line.shape) for line in lines[k : k + WINDOW]) >= THIN * WINDOW:
                windows[tuple(keys[k : k + WINDOW])].append((name, k))
    starts = {
        (a, b)
        for places in windows.values()
        for i, a in enumerate(places)
        for b in places[i + 1 :]
        if a[0] != b[0] or b[1] - a[1] >= WINDOW
    }
    pairs: list[Pair] = []
    for a, b in sorted(starts):
        if ((a[0], a[1] - 1), (b[0], b[1] - 1)) in starts:
            continue  # part of a longer run
        length = WINDOW
        while ((a[0], a[1] + length - WINDOW + 1), (b[0], b[1] + length - WINDOW + 1)) in starts:
            length += 1
        pairs.append((a, b, length))
    return pairs


def _apart(pairs: list[Pair], said: list[Pair]) -> list[Pair]:
    """The longest first, without those that overlap one of them, or one said already, on both sides."""

    def meet(a: Place, n: int, b: Place, m: int) -> bool:
        return a[0] == b[0] and a[1] < b[1] + m and b[1] < a[1] + n

    kept: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: -pair[2]):
        (a, b, n), others = pair, (*said, *kept)
        if not any(meet(a, n, c, m) and meet(b, n, d, m) for c, d, m in others):
            kept.append(pair)
    return sorted(kept)


def _contract(code: dict[str, list[Line]], pair: Pair, *parts: str) -> str:
    """What asks for a pair; nothing where nothing does."""
    a, b, length = pair
    lines = code[a[0]][a[1] : a[1] + length]
    for part in parts:
        if sum(line.part_of != part for line in lines) < WINDOW:
            return part
    return CONTRACTS.get((a[0], b[0]), "")


def _words(code: dict[str, list[Line]], pair: Pair) -> str:
    a, b, length = pair

    def place(at: Place) -> str:
        lines = code[at[0]]
        return f"{at[0]}:{lines[at[1]].number}-{lines[at[1] + length - 1].number}"

    return f"{place(a)} and {place(b)}"


# ---- on the screen


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--touch"]:
        print(json.dumps(touch(arguments[1])))
        return
    checkouts = [*(Path(name).resolve() for name in arguments), HERE]
    found = {str(path): measures(path) for path in checkouts}
    details = found[str(HERE)].pop("details")
    print("| |" + "|".join(f" {_commit(path)} " for path in checkouts) + "|")
    print("|---|" + "---:|" * len(checkouts))
    for name in found[str(HERE)]:
        print(f"| {name} |" + "|".join(f" {found[str(path)][name]} " for path in checkouts) + "|")
    for name, rows in details.items():
        print(f"\n{name}:", *rows, sep="\n- ")


def _commit(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or checkout.name


if __name__ == "__main__":
    main(sys.argv[1:])
