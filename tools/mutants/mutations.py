"""Small faults of the kinds that people make: another operator or number, a term, a sign or an argument lost.

Each is one place of one file: a piece of text and what stands there instead. Texts meant for people (messages,
descriptions), annotations and imports are left alone: they change nothing that is computed.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
FOR_PEOPLE = {"description", "title", "help", "stacklevel", "repr", "comment", "label", "hint", "examples", "strict"}
# swapping says nothing, or crashes at once
ALIKE = {
    "maximum",
    "minimum",
    "max",
    "min",
    "hypot",
    "isinstance",
    "getattr",
    "hasattr",
}
SAYING = {"warn", "error", "note", "print", "echo", "append_note", "cast"}  # calls whose arguments are words


@dataclass(frozen=True)
class Mutation:
    """`before` at line:column of the file becomes `after`."""

    file: str
    line: int
    start: int  # characters from the file's beginning
    stop: int
    kind: str
    before: str
    after: str
    where: str  # qualified name of the function, or "module"
    nth: int = 0  # among those that look the same in the same function
    around: str = ""  # digest of the function's text, or of the file's

    @property
    def id(self) -> str:
        """Stable as long as the function keeps its text: it does not know line numbers."""
        text = f"{self.file}|{self.where}|{self.kind}|{self.before}|{self.after}" + (f"|{self.nth}" if self.nth else "")
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def key(self) -> str:
        """Of the fault in the function as it is now: another text around it is another fault."""
        return f"{self.id}-{self.around}"

    def applied(self, source: str) -> str:
        if source[self.start : self.stop] != self.before:
            raise ValueError(
                f"{self.file}:{self.line}: the source has changed; found {source[self.start : self.stop]!r}."
            )
        return source[: self.start] + self.after + source[self.stop :]

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}:{self.line} in {self.where}: {self.kind}: `{before}` became `{after}`"


def mutations(root: Path, file: str) -> list[Mutation]:
    """Every place of a file where a fault could be put, in order."""
    source = (root / file).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))

    def place(line: int, column: int) -> int:  # ast counts bytes
        return offsets[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found: list[Mutation] = []
    seen: Counter[tuple[str, str, str, str]] = Counter()
    tree = ast.parse(source)
    texts = _texts(tree, source)
    for node, kind, after, where in _Walk().faults(tree):
        start, stop = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
        before = source[start:stop]
        if after != before:
            alike = (where, kind, before, after)
            around = hashlib.sha256(texts[where].encode()).hexdigest()[:12]
            found.append(Mutation(file, node.lineno, start, stop, kind, before, after, where, seen[alike], around))
            seen[alike] += 1
    return found


def _texts(tree: ast.Module, source: str) -> dict[str, str]:
    """What stands in the functions and classes, by qualified name, and in the rest."""
    found = {
        "module": "\n".join(ast.unparse(s) for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef)))
    }

    def walk(body: list[ast.stmt], where: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inside = node.name if where == "module" else f"{where}.{node.name}"
                found[inside] = found.get(inside, "") + ast.unparse(node)
                walk(node.body, inside)
            else:
                for name in ("body", "orelse", "finalbody"):
                    walk(getattr(node, name, []), where)
                for name in ("handlers", "cases"):
                    for entry in getattr(node, name, []):
                        walk(entry.body, where)

    walk(tree.body, "module")
    return found


class _Walk:
    """Nodes worth a fault, with the text that takes their place."""

    def faults(self, tree: ast.Module) -> Iterator[tuple[ast.AST, str, str, str]]:
        yield from self._body(tree.body, "module")

    def _body(self, body: list[ast.stmt], where: str) -> Iterator[tuple[ast.AST, str, str, str]]:
        for k, statement in enumerate(body):
            if k == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # docstring
            yield from self._statement(statement, where)

    def _statement(self, node: ast.stmt, where: str) -> Iterator[tuple[ast.AST, str, str, str]]:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.Pass, ast.Global, ast.Nonlocal)):
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inside = node.name if where == "module" else f"{where}.{node.name}"
            if not isinstance(node, ast.ClassDef):
                for default in [*node.args.defaults, *node.args.kw_defaults]:
                    if default is not None:
                        yield from self._expression(default, inside)
            yield from self._body(node.body, inside)
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                yield from self._expression(node.value, where)
            return
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield node, "dropped statement", "pass", where
            if _name(node.value) in SAYING:
                return
        if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
            other = copy.deepcopy(node)
            other.op = OPERATORS[type(node.op)]()
            yield node, "operator", ast.unparse(other), where
        if isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, ast.Constant):
            yield node.test, "condition negated", f"(not ({ast.unparse(node.test)}))", where
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody"):
                yield from self._body_inside(value, where)
            elif name == "handlers":
                for handler in value:
                    yield from self._body_inside(handler.body, where)
            elif name in ("targets", "target", "annotation", "type_comment"):
                continue
            elif isinstance(value, ast.expr):
                yield from self._expression(value, where)
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.withitem):
                        yield from self._expression(item.context_expr, where)
                    elif isinstance(item, ast.match_case):
                        yield from self._body_inside(item.body, where)
                    elif isinstance(item, ast.expr):
                        yield from self._expression(item, where)

    def _body_inside(self, body: list[ast.stmt], where: str) -> Iterator[tuple[ast.AST, str, str, str]]:
        for statement in body:
            yield from self._statement(statement, where)

    def _expression(self, node: ast.expr, where: str) -> Iterator[tuple[ast.AST, str, str, str]]:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _name(node) in SAYING):
            return
        for kind, other in _replacements(node):
            yield node, kind, f"({ast.unparse(other)})", where
        if isinstance(node, ast.Call):
            yield from self._expression(node.func, where)
            for argument in node.args:
                yield from self._expression(argument, where)
            for keyword in node.keywords:
                if keyword.arg not in FOR_PEOPLE:
                    yield from self._expression(keyword.value, where)
            return
        if isinstance(node, ast.Lambda):
            yield from self._expression(node.body, where)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._expression(child, where)
            elif isinstance(child, ast.comprehension):
                for inner in (child.iter, *child.ifs):
                    yield from self._expression(inner, where)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _replacements(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """(kind of fault, what stands there instead)."""
    if isinstance(node, ast.BinOp) and not _words(node):
        if type(node.op) in OPERATORS:
            yield "operator", ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            yield "dropped term", node.left
        if isinstance(node.op, (ast.Add, ast.Mult)):
            yield "dropped term", node.right
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield ("sign" if isinstance(node.op, ast.USub) else "condition negated"), node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "condition", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for k in range(len(node.values)):
            rest = node.values[:k] + node.values[k + 1 :]
            yield "dropped condition", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.IfExp):
        yield "branches swapped", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant", ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield "constant", ast.Constant(node.value + 1)
        elif isinstance(node.value, float):
            yield "constant", ast.Constant(2.0 * node.value if node.value else 1.0)
    elif isinstance(node, ast.Call):
        for k, keyword in enumerate(node.keywords):
            if keyword.arg is not None and keyword.arg not in FOR_PEOPLE:
                rest = node.keywords[:k] + node.keywords[k + 1 :]
                yield "dropped argument", ast.Call(node.func, node.args, rest)
        plain = [a for a in node.args if not isinstance(a, ast.Starred)]
        if _name(node) not in ALIKE and len(plain) == len(node.args) >= 2 and ast.dump(plain[0]) != ast.dump(plain[1]):
            yield "swapped arguments", ast.Call(node.func, [plain[1], plain[0], *plain[2:]], node.keywords)


def _words(node: ast.BinOp) -> bool:
    """True if strings are put together: what they say does not count."""
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )
