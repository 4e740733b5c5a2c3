"""The drawings of the pages, made anew: `python docs/make_drawings.py`. Words come from the code where they can."""

from __future__ import annotations

import ast
import math
import re
import textwrap
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src" / "gyrostat"
MOST = 180  # characters of a layer's line
STYLE = """
  text { font-family: sans-serif; font-size: 14px; fill: #1f2937 }
  .name { font-weight: 600 } .small { font-size: 12px; fill: #4b5563 }
  rect { fill: #f3f4f6; stroke: #9ca3af }
  .strong { fill: #dbeafe; stroke: #60a5fa } .data { fill: #fef3c7; stroke: #f59e0b }
  .body { fill: #eef2f7; stroke: #9ca3af } .axis { stroke: #2563eb } .dot { fill: #d97706 }
  path { stroke: #6b7280; stroke-width: 1.5; fill: none } marker path { fill: #6b7280; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb } .small { fill: #9ca3af } rect { fill: #1f2937; stroke: #4b5563 }
    .body { fill: #1f2937; stroke: #4b5563 } .axis { stroke: #60a5fa }
    .strong { fill: #1e3a5f; stroke: #3b82f6 } .data { fill: #4a3510; stroke: #d97706 }
  }
"""
ARROW = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z"/></marker>'
)


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
    return "\n".join(
        [head, f"<title>{escape(title)}</title><style>{STYLE}</style><defs>{ARROW}</defs>", *parts, "</svg>\n"]
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, lines: list[str], kind: str = "") -> str:
    """The first line is its name."""
    found = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{kind}"/>']
    top = y + height / 2 - 8 * (len(lines) - 1) + 5
    for k, line in enumerate(lines):
        found.append(text(x + width / 2, top + 17 * k, line, "small" if k else "name", "middle"))
    return "\n".join(found)


def arrow(*points: tuple[float, float]) -> str:
    return f'<path d="M{" L".join(f"{x} {y}" for x, y in points)}" marker-end="url(#tip)"/>'


# ---- the layers


def layers() -> list[tuple[str, str]]:
    """(name, what it is) from the ground up, as tests/test_layers.py orders them."""
    tree = ast.parse((HERE.parent / "tests" / "test_layers.py").read_text(encoding="utf-8"))
    names = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "LAYERS"
    )
    found = []
    for name in names:
        path = SOURCE / name / "__init__.py" if (SOURCE / name).is_dir() else SOURCE / f"{name}.py"
        if path.exists() and not name.startswith("_"):
            doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            first = " ".join(re.split(r"(?<=\.)\s", doc)[0].split())
            found.append((name, first if len(first) <= MOST else f"{first.partition(':')[0]}."))
    return found


def layers_drawing() -> str:
    rows, y, parts = layers()[::-1], 12, []
    for name, doc in rows:
        lines = textwrap.wrap(doc, 95)[:2]
        height = 30 if len(lines) == 1 else 44
        parts.append(f'<rect x="40" y="{y}" width="820" height="{height}" rx="6"/>')
        parts.append(text(54, y + 20, name, "name"))
        parts += [text(180, y + 20 + 16 * k, line, "small") for k, line in enumerate(lines)]
        y += height + 5
    parts += [
        arrow((20, 24), (20, y - 12)),
        text(40, y + 16, "Imports go down only; tests/test_layers.py sees to it.", "small"),
    ]
    return svg(880, y + 28, "The layers of gyrostat, from the command line down to the algebra", parts)


# ---- one state's way

COMPILE = [
    (["your function", "f(craft, q, v, ...)"], ""),
    (["recording.trace", "called once, with symbols"], ""),
    (["Graph", "scalar operations"], "data"),
    (["rules, derivatives", "folded, differentiated"], ""),
    (["schedule, llvm, ir", "in order, W lanes wide"], ""),
    (["build, machine, cache", "machine code, kept on disk"], ""),
    (["Kernel", "arrays in, arrays out"], "strong"),
]
SIMULATE = [
    (["Request", "what was asked"], "data"),
    (["problem/", "read, checked, Equations"], ""),
    (["x = (t, y, held, constants)", "one vector (layout.py)"], "data"),
    (["engine/compiling", "System: kernels of rhs, events"], ""),
    (["Plan, State", "where steps end; where runs stand"], "data"),
    (["engine/stepper", "compiled loop of an integrator"], "strong"),
    (["result/", "Trajectory, audit"], ""),
]


def state_drawing() -> str:
    parts, width, height, gap = [], 236, 50, 26
    for column, (title, steps) in enumerate((("gs.compile", COMPILE), ("gs.simulate", SIMULATE))):
        x = 40 + column * 440
        parts.append(text(x + width / 2, 24, title, "name", "middle"))
        for k, (lines, kind) in enumerate(steps):
            y = 40 + k * (height + gap)
            parts.append(box(x, y, width, height, lines, kind))
            if k:
                parts.append(arrow((x + width / 2, y - gap + 2), (x + width / 2, y - 2)))
    row = [40 + k * (height + gap) + height / 2 for k in range(7)]
    left, right, middle = 40 + width, 480, 380
    parts.append(arrow((right, row[3]), (middle + 30, row[3]), (middle + 30, row[1]), (left + 2, row[1])))
    parts.append(text(middle + 36, row[2] - 4, "traced", "small"))
    parts.append(arrow((left, row[6]), (middle, row[6]), (middle, row[5]), (right - 2, row[5])))
    parts += [text(middle + 8, row[6] - 6, "called by", "small"), text(middle + 8, row[6] + 10, "its address", "small")]
    side = 480 + width
    parts.append(arrow((side, row[5] - 10), (side + 34, row[5] - 10), (side + 34, row[4] + 8), (side + 2, row[4] + 8)))
    parts.append(text(side + 42, row[5] - 24, "lanes: runs,", "small"))
    parts.append(text(side + 42, row[5] - 8, "each its own step", "small"))
    return svg(880, int(row[6]) + 44, "One state's way through gs.compile and gs.simulate", parts)


# ---- the formulations

# (x, y, lines, kind)
BODY = (300, 20, ["each body", "M A + V x* M V = F + reactions"], "data")
TREE = (300, 110, ["a tree of joints", "V_B = Ad V_P + H v,  power of reactions is zero"], "data")
WAYS = {
    "dual_quaternion": (20, 220, ["accelerations and reactions", "are both unknowns"]),
    "decoupled": (20, 320, ["rotation and translation apart,", "about each centre of mass"]),
    "recursive": (320, 270, ["reactions eliminated", "from the tips to the base"]),
    "spatial_forms": (620, 220, ["V_i = J_i u: every body's M and C,", "four choices of C, summed"]),
    "lie_lagrange": (620, 320, ["Lagrange on SE(3) x joints:", "explicit M, C, no singularity"]),
    "generalized_jacobian": (620, 430, ["base and arm apart; the momentum", "given: H*, C*, J*"]),
    "attitude_lagrange": (320, 430, ["any coordinates of attitude,", "bodies joined by multipliers"]),
}


def formulations_drawing() -> str:
    """How the seven come from the same two lines."""
    width, height = 260, 70
    registry = (SOURCE / "formulations" / "registry.py").read_text(encoding="utf-8")
    assert all(name in registry for name in WAYS), "a formulation that the registry does not know"
    parts = [box(x, y, 320, 60, lines, kind) for x, y, lines, kind in (BODY, TREE)]
    for name, (x, y, lines) in WAYS.items():
        parts.append(box(x, y, width, height, [name, *lines], "strong"))
    parts.append(arrow((460, 82), (460, 108)))
    parts.append(arrow((298, 140), (150, 140), (150, 218)))
    parts.append(arrow((450, 172), (450, 268)))
    parts.append(arrow((622, 140), (750, 140), (750, 218)))
    parts.append(text(160, 160, "reactions kept", "small"))
    parts.append(text(458, 215, "eliminated", "small"))
    parts.append(text(760, 160, "projected away", "small"))
    parts.append(arrow((282, 255), (300, 255), (300, 290), (318, 290)))
    parts.append(arrow((282, 355), (300, 355), (300, 320), (318, 320)))
    parts.append(arrow((750, 292), (750, 318)))
    parts.append(text(758, 309, "one of the C", "small"))
    parts.append(arrow((750, 392), (750, 428)))
    parts.append(text(758, 415, "momentum is kept", "small"))
    parts.append(arrow((150, 392), (150, 465), (318, 465)))
    parts.append(text(158, 482, "virtual work, in coordinates", "small"))
    parts.append(text(450, 540, "The same accelerations from all seven: gyrostat verify", "name", "middle"))
    return svg(900, 560, "How the seven formulations come from the same equations", parts)


# ---- frames


def axes(x: float, y: float, letter: str, turn: float, size: float = 46) -> str:
    """Three axes of a frame as one sees them from the side, turned by so many degrees; its letter at the origin."""
    found = []
    for angle, name, length in ((turn, "x", size), (turn - 90, "z", size), (turn - 215, "y", 0.6 * size)):
        dx, dy = length * math.cos(math.radians(angle)), length * math.sin(math.radians(angle))
        found.append(f'<path class="axis" d="M{x} {y} L{x + dx:.1f} {y + dy:.1f}" marker-end="url(#tip)"/>')
        found.append(text(round(x + 1.22 * dx, 1), round(y + 1.22 * dy + 4, 1), name, "small", "middle"))
    return "\n".join([*found, text(x + 12, y + 22, letter, "name", "middle")])


def shape(*points: tuple[float, float]) -> str:
    return f'<path class="body" d="M{" L".join(f"{x} {y}" for x, y in points)} Z"/>'


def frames_drawing() -> str:
    """N, the base's B, a joint's J on its parent P, the end effector's E; the vectors of the conventions."""
    parts = [
        shape((250, 190), (420, 150), (450, 270), (280, 310)),
        shape((520, 152), (690, 62), (702, 84), (532, 174)),
        axes(70, 330, "N", 0),
        axes(330, 232, "B", -13),
        axes(526, 163, "J", -13, 40),
        axes(700, 70, "E", -28, 36),
        arrow((70, 330), (328, 234)),
        text(110, 234, "p_NB", "name"),
        text(110, 251, "the base's origin, in N", "small"),
        arrow((330, 232), (522, 164)),
        text(466, 232, "position of the joint", "small"),
        text(466, 248, "on its parent, in B", "small"),
        '<circle cx="372" cy="252" r="5" class="dot"/>',
        text(384, 270, "com, in B", "small"),
        arrow((330, 232), (296, 130)),
        text(252, 112, "V_NB_B = [w_NB_B; v_NB_B]", "name", "middle"),
        text(252, 128, "both in the base's own axes", "small", "middle"),
        text(600, 190, "J stands on the parent P; the next body's frame", "small"),
        text(600, 206, "stands there where its coordinate is zero", "small"),
        text(600, 228, "X_PB = X_PJ * pose(q)", "name"),
        text(730, 116, "E: a named frame", "small"),
        text(730, 132, 'gs.frame_pose(craft, q, "tool")', "small"),
        text(40, 372, "inertial; with an orbit it does not rotate, and its origin follows the orbit", "small"),
        text(600, 290, "v_N = R_NB v_B", "name"),
        text(600, 308, "quat_NB says the same as R_NB, w first", "small"),
    ]
    return svg(940, 390, "Frames, and the vectors between them", parts)


DRAWINGS = {
    "layers.svg": layers_drawing,
    "state.svg": state_drawing,
    "formulations.svg": formulations_drawing,
    "frames.svg": frames_drawing,
}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (HERE / "images" / name).write_text(draw(), encoding="utf-8")
