"""The equations of motion of a spacecraft, typeset: one page that opens offline, or LaTeX."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..formulations.generalized_jacobian import generalized_inertia, generalized_jacobian
from ..formulations.recursive import bias_force, coriolis_matrix, mass_matrix, momentum
from ..io.writing import write_text
from ..model import Spacecraft, nearest
from ..tracing.recording import trace
from .expressions import Symbolic, of_graph, rounded
from .extras import demand

SHORT = 24  # characters of an entry that stands in its matrix; longer ones stand below it


@dataclass(frozen=True)
class Quantity:
    """What may stand on the page: its symbol, what it is, whether it is symmetric, and whether it needs a free base
    or a frame."""

    symbol: str
    title: str
    compute: Callable[..., Any]
    symmetric: bool = False
    floating: bool = False
    framed: bool = False


QUANTITIES = {
    "M": Quantity("M", "Mass matrix: M(q) v̇ + C(q, v) v = τ", lambda c, q, v, f: mass_matrix(c, q), True),
    "C": Quantity(
        "C", "Coriolis matrix by Christoffel symbols: Ṁ − 2 C is skew", lambda c, q, v, f: coriolis_matrix(c, q, v)
    ),
    "h": Quantity("h", "Centrifugal and Coriolis loads h = C v", lambda c, q, v, f: bias_force(c, q, v)),
    "p": Quantity(
        "p", "Momentum about the centre of mass: angular, linear, along N", lambda c, q, v, f: momentum(c, q, v)
    ),
    "H": Quantity(
        "Hstar",
        "Generalised inertia of the joints, momentum zero: H* θ̈ + ... = τ",
        lambda c, q, v, f: generalized_inertia(c, q),
        True,
        True,
    ),
    "J": Quantity(
        "Jstar",
        "Generalised Jacobian: the frame's twist [ω; v] along N from the joints' rates, momentum zero",
        lambda c, q, v, f: generalized_jacobian(c, q, f),
        False,
        True,
        True,
    ),
}


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of motion of a craft in symbols; `save` writes the page (.html) or LaTeX (.tex)."""

    craft: Spacecraft
    frame: str | None
    shown: tuple[str, ...]
    symbolic: Symbolic
    digits: int

    def save(self, path: str | os.PathLike[str]) -> Path:
        suffix = Path(path).suffix
        if suffix not in (".html", ".tex"):
            raise ValueError(f"'{path}': equations are written as .html or .tex.")
        return write_text(path, self.html() if suffix == ".html" else self.latex())

    def latex(self) -> str:
        sympy = demand("sympy", "sympy", "SymPy")
        parts = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}", r"\allowdisplaybreaks"]
        parts += [rf"\section*{{Equations of motion: {_tex(self.craft.name)}}}"]
        for name in self.shown:
            matrix, below = self._entries(name)
            parts += [rf"\subsection*{{{_tex(QUANTITIES[name].title)}}}", r"\["]
            parts += [f"{_star(sympy.latex(sympy.Symbol(QUANTITIES[name].symbol)))} = {sympy.latex(matrix)}", r"\]"]
            parts += _aligned(sympy, below)
        parts += [r"\subsection*{Where}", *_aligned(sympy, self._where())]
        parts += [r"\subsection*{Symbols}", r"\begin{tabular}{lll}"]
        for symbol, (meaning, unit) in self.symbolic.meanings.items():
            parts.append(rf"${sympy.latex(sympy.Symbol(symbol))}$ & {_tex(meaning)} & {_tex(unit)} \\")
        return "\n".join([*parts, r"\end{tabular}", r"\end{document}", ""])

    def html(self) -> str:
        sections = []
        for name in self.shown:
            quantity = QUANTITIES[name]
            matrix, below = self._entries(name)
            rows = "".join(_equation(symbol, value) for symbol, value in below)
            left = _mathml(_symbol(quantity.symbol))
            sections.append(
                f"<section><h2>{html.escape(quantity.title)}</h2><div class='wide'><math display='block'><mrow>{left}"
                f"<mo>=</mo>{_mathml(matrix)}</mrow></math></div><div class='list'>{rows}</div></section>"
            )
        where = "".join(_equation(symbol, value) for symbol, value in self._where())
        sections.append(f"<section><h2>Where</h2><div class='list'>{where}</div></section>")
        rows = "".join(
            f"<tr><td><math>{_mathml(_symbol(symbol))}</math></td><td>{html.escape(meaning)}</td><td>{html.escape(unit)}</td></tr>"
            for symbol, (meaning, unit) in self.symbolic.meanings.items()
        )
        sections.append(f"<section><h2>Symbols</h2><table>{rows}</table></section>")
        from .. import __version__

        return (
            _PAGE.replace("TITLE", f"Equations of motion: {html.escape(self.craft.name)}")
            .replace("SECTIONS", "\n".join(sections))
            .replace("FOOT", f"gyrostat {__version__}; numbers rounded to {self.digits} digits")
        )

    def _entries(self, name: str) -> tuple[Any, list[tuple[Any, Any]]]:
        """The matrix, with long entries named, and those entries."""
        sympy = demand("sympy", "sympy", "SymPy")
        quantity = QUANTITIES[name]
        value = rounded(self.symbolic.outputs[name], self.digits)
        rows, columns = value.shape
        below: list[tuple[Any, Any]] = []

        def entry(i: int, j: int) -> Any:
            if quantity.symmetric and j < i:
                i, j = j, i
            e = value[i, j]
            if len(str(e)) <= SHORT:
                return e
            index = f"{i + 1}" if columns == 1 else f"{i + 1}{j + 1}" if max(rows, columns) < 10 else f"{i + 1},{j + 1}"
            symbol = sympy.Symbol(f"{quantity.symbol.removesuffix('star')}_{index}")
            if not any(s == symbol for s, _ in below):
                below.append((symbol, e))
            return symbol

        return sympy.Matrix(rows, columns, entry), below

    def _where(self) -> list[tuple[Any, Any]]:
        return [(symbol, rounded(e, self.digits)) for symbol, e in self.symbolic.subexpressions]


def equations(
    craft: Spacecraft, *, frame: str | None = None, show: Sequence[str] | None = None, digits: int = 5
) -> Equations:
    """The equations of motion of a craft in symbols, common subexpressions named once.

    show: which of M, C, h, p (momentum), H and J (generalised inertia and Jacobian, of craft on a free base; J is that
    of `frame`). All but h and p that the craft has, unless given. digits: of the numbers on the page; the expressions
    themselves are exact.

    Raises ValueError for a quantity that is not known, or that the craft has not.
    """
    if frame is None and craft.frames:
        frame = craft.frames[-1].name
    floating = craft.joints[0].motion.unbound and craft.nv > 6
    if show is None:
        show = [
            n
            for n, x in QUANTITIES.items()
            if n not in "hp" and (floating or not x.floating) and (frame or not x.framed)
        ]
    for name in show:
        if name not in QUANTITIES:
            raise ValueError(f"'{name}' is none of {', '.join(QUANTITIES)}. {nearest(name, list(QUANTITIES))}")
        if QUANTITIES[name].floating and not floating:
            raise ValueError(f"{name} is that of joints on a free base; {craft.name} has none: leave it out.")
        if QUANTITIES[name].framed and frame is None:
            raise ValueError(f"{name} is that of a frame, and {craft.name} has none: give frame=.")

    def everything(craft: Spacecraft, q: Any, v: Any) -> dict[str, Any]:
        return {name: QUANTITIES[name].compute(craft, q, v, frame) for name in show}

    return Equations(craft, frame, tuple(show), of_graph(trace(everything, craft), craft), digits)


def _symbol(name: str) -> Any:
    sympy = demand("sympy", "sympy", "SymPy")
    return sympy.Symbol(name.replace("star", "^*"))


def _mathml(expression: Any) -> str:
    """Presentation MathML; brackets of matrices are drawn by the page, as few systems have a font that stretches
    them."""
    sympy = demand("sympy", "sympy", "SymPy")
    dotted = {s: sympy.Symbol(_dotted(s.name)) for s in expression.free_symbols if _dotted(s.name) != s.name}
    text: str = sympy.mathml(expression.xreplace(dotted), printer="presentation", mat_delim="")
    return text


def _dotted(name: str) -> str:
    """Rates with dots above their letters, where the printer for pages knows none."""
    letter, mark, index = name.partition("_")
    for plain, above in (("theta", "θ"), ("d", "d")):
        for word, dots in (("ddot", "\u0308"), ("dot", "\u0307")):
            if letter == plain + word:
                return above + dots + mark + index
    return name


def _equation(symbol: Any, value: Any) -> str:
    return f"<p><math><mrow>{_mathml(symbol)}<mo>=</mo>{_mathml(value)}</mrow></math></p>"


def _aligned(sympy: Any, lines: Sequence[tuple[Any, Any]]) -> list[str]:
    if not lines:
        return []
    text = " \\\\\n".join(f"{sympy.latex(symbol)} &= {sympy.latex(value)}" for symbol, value in lines)
    return [r"\begin{align*}", text, r"\end{align*}"]


def _star(text: str) -> str:
    return text.replace("Hstar", "H^*").replace("Jstar", "J^*")


_IN_TEX = {
    "v̇": r"\dot v",
    "Ṁ": r"\dot M",
    "θ̈": r"\ddot\theta",
    "τ": r"\tau",
    "ω": r"\omega",
    "−": "-",
    "^2": "^2",
}


_ESCAPED = {mark: "\\" + mark for mark in "&%#_{}$"}
_ESCAPED |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_MARKS = re.compile("|".join(re.escape(mark) for mark in (*_IN_TEX, *_ESCAPED)))


def _tex(text: str) -> str:
    """As it stands there: a name is no command."""
    return _MARKS.sub(lambda m: f"${_IN_TEX[m[0]]}$" if m[0] in _IN_TEX else _ESCAPED[m[0]], text)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
:root { --paper: #fbfbfa; --card: #ffffff; --ink: #1d2126; --soft: #5d6670; --rule: #e2e4e8; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --card: #1b1f24; --ink: #e7e9ec; --soft: #9aa3ad; --rule: #2c3238; }
}
body { margin: 0 auto; max-width: 78rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 0 0 .6rem; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; padding: 1rem 1.2rem;
  margin: 1rem 0; }
.wide, .list { overflow-x: auto; } .list p { margin: .2rem 0; } math { font-size: 1.05rem; }
.list { columns: 34rem; column-gap: 2rem; } .list p { break-inside: avoid; overflow-x: auto; overflow-y: hidden; }
mtable { border: solid; border-width: 0 1.5px; border-radius: .5rem; margin-left: .2rem; padding: .1rem .2rem; }
table { border-collapse: collapse; } td { padding: .15rem 1.2rem .15rem 0; border-top: 1px solid var(--rule); }
footer { color: var(--soft); font-size: .85rem; }
@media print { section { border: none; padding: 0; } .list p { overflow: visible; } }
</style></head><body>
<h1>TITLE</h1>
SECTIONS
<footer>FOOT</footer>
</body></html>
"""
