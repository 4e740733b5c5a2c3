"""Whatever is wrong with a model is said by name: what was found, what was expected, how to mend it, where."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.model import Membership, plausibility, validation
from gyrostat.model import findings as findings_module

BASE = gs.Body("base", 10.0, inertia=(1.0, 1.0, 1.0))


def link(
    name="link", parent="base", kind="revolute", *, mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, 0), joint=None, **more
):
    return gs.Body(name, mass, com, inertia, gs.Joint(joint or f"{name}_joint", kind, parent, **more))


def build(*bodies, frames=(), thrusters=(), members=()):
    return gs.Spacecraft.build("craft", bodies, frames=frames, thrusters=thrusters, memberships=members)


WORLD = gs.Body("world", joint=gs.Joint("world", "fixed"))


nan, inf = float("nan"), float("inf")
thin = gs.Wheel("rw", "base", (0, 0, 1), 0.01)

# code, where, words that the message must hold, and what makes it
ERRORS = [
    ("no-body", "", "no body", lambda: build()),
    ("cycle", "", "every body has a parent", lambda: build(link("a", "b"), link("b", "a"))),
    ("cycle", "", "'a', 'b'", lambda: build(BASE, link("a", "b"), link("b", "a"))),
    ("several-roots", "", "'base', 'other'", lambda: build(BASE, gs.Body("other", 1.0, joint=gs.Joint("o", "free")))),
    ("duplicate-name", "body 'link'", "twice", lambda: build(BASE, link(), link(joint="other"))),
    ("duplicate-name", "joint 'x'", "twice", lambda: build(BASE, link("a", joint="x"), link("b", joint="x"))),
    ("duplicate-name", "frame 'f'", "twice",
     lambda: build(BASE, frames=[gs.Frame("f", "base"), gs.Frame("f", "base")])),
    ("duplicate-name", "frame 'base'", "body", lambda: build(BASE, frames=[gs.Frame("base", "base")])),
    ("bad-name", "body 'a\nb'", "'\\n', which cannot be printed", lambda: build(BASE, link("a\nb", joint="j"))),
    ("bad-name", "joint ' '", "empty", lambda: build(BASE, link(joint=" "))),
    ("bad-name", "frame 'f\n'", "'\\n'", lambda: build(BASE, frames=[gs.Frame("f\n", "base")])),
    ("bad-name", "thruster ''", "empty",
     lambda: build(BASE, thrusters=[gs.Thruster("", "base", (0, 0, 0), (1, 0, 0))])),
    ("bad-name", "spacecraft ''", "empty", lambda: gs.Spacecraft.build("", [BASE])),
    ("unknown-parent", "joint 'link_joint'", "'bas'", lambda: build(BASE, link(parent="bas"))),
    ("unknown-body", "frame 'f'", "'bose'", lambda: build(BASE, frames=[gs.Frame("f", "bose")])),
    ("unknown-body", "thruster 't'", "'bose'",
     lambda: build(BASE, thrusters=[gs.Thruster("t", "bose", (0, 0, 0), (1, 0, 0))])),
    ("on-wheel", "body 'link'", "'rw'", lambda: build(BASE, thin, link(parent="rw"))),
    ("driven", "joint 'j'", "does not move", lambda: build(BASE, link(kind="fixed", joint="j", driven=True))),
    ("driven", "joint 'j'", "no motor can stand",
     lambda: build(link(parent=None, kind="planar", joint="j", driven=True))),
    ("unknown-body", "member 'm'", "'bose'", lambda: build(BASE, members=[Membership("m", "bose")])),
    ("member-base", "member 'm'", "'base', which moves",
     lambda: build(BASE, link(), members=[Membership("m", "link")])),
    ("no-member", "body 'b'", "none of the members 'm'",
     lambda: build(WORLD, link("a", "world", "free"), link("b", "world", "free"), members=[Membership("m", "a")])),
    ("unknown-name", "member 'm'", "its joint 'x' is 'y' here",
     lambda: build(BASE, members=[Membership("m", "base", {"joint": {"x": "y"}})])),
    ("not-finite", "body 'link'", "mass is nan", lambda: build(BASE, link(mass=nan))),
    ("not-finite", "body 'link'", "com is [0.0, inf, 0.0]", lambda: build(BASE, link(com=(0, inf, 0)))),
    ("not-finite", "body 'link'", "inertia", lambda: build(BASE, link(inertia=(1, nan, 1)))),
    ("not-finite", "joint 'link_joint'", "position", lambda: build(BASE, link(position=(nan, 0, 0)))),
    ("not-finite", "joint 'link_joint'", "axis is", lambda: build(BASE, link(axis=(nan, 0, 1)))),
    ("not-finite", "joint 'link_joint'", "damping is inf", lambda: build(BASE, link(damping=inf))),
    ("not-finite", "frame 'f'", "position", lambda: build(BASE, frames=[gs.Frame("f", "base", (nan, 0, 0))])),
    ("not-finite", "thruster 't'", "direction",
     lambda: build(BASE, thrusters=[gs.Thruster("t", "base", (0, 0, 0), (nan, 0, 0))])),
    ("zero-axis", "joint 'link_joint'", "axis is (0, 0, 0)", lambda: build(BASE, link(axis=(0, 0, 0)))),
    ("zero-axis", "joint 'link_joint'", "axis2", lambda: build(BASE, link(kind="universal", axis2=(0, 0, 0)))),
    ("zero-axis", "thruster 't'", "direction",
     lambda: build(BASE, thrusters=[gs.Thruster("t", "base", (0, 0, 0), (0, 0, 0))])),
    ("parallel-axes", "joint 'link_joint'", "parallel", lambda: build(BASE, link(kind="universal", axis2=(0, 0, -2)))),
    ("not-a-rotation", "joint 'link_joint'", "rotation", lambda: build(BASE, link(rotation=2 * np.eye(3)))),
    ("not-a-rotation", "joint 'link_joint'", "rotation", lambda: build(BASE, link(rotation=np.diag([1, 1, -1])))),
    ("not-a-rotation", "frame 'f'", "rotation",
     lambda: build(BASE, frames=[gs.Frame("f", "base", rotation=np.diag([1, 1, -1]))])),
    ("negative-value", "joint 'link_joint'", "damping is -1.0", lambda: build(BASE, link(damping=-1))),
    ("negative-value", "joint 'link_joint'", "rotor_inertia is -1.0", lambda: build(BASE, link(rotor_inertia=-1))),
    ("negative-value", "thruster 't'", "max_thrust is -2.0",
     lambda: build(BASE, thrusters=[gs.Thruster("t", "base", (0, 0, 0), (1, 0, 0), -2)])),
    ("backlash", "joint 'link_joint'", "backlash is 0.1; play is between the flanks of a spring",
     lambda: build(BASE, link(backlash=0.1))),
    ("spring", "joint 'rw'", "stiffness is 2.0, but a wheel has no angle",
     lambda: build(BASE, gs.Body("rw", 0.0, inertia=(0, 0, 0.01),
                                 joint=gs.Joint("rw", "wheel", "base", stiffness=2), included=True))),
    ("limits", "joint 'link_joint'", "lower limit 1 is above upper limit 0",
     lambda: build(BASE, link(limits=gs.Limits(1, 0)))),
    ("limits", "joint 'link_joint'", "effort limit -3", lambda: build(BASE, link(limits=gs.Limits(effort=-3)))),
    ("limits", "joint 'link_joint'", "nan", lambda: build(BASE, link(limits=gs.Limits(lower=nan)))),
    ("included", "body 'rw'", "mass 1.0",
     lambda: build(BASE, gs.Body("rw", 1.0, inertia=(0, 0, 0.01),
                                 joint=gs.Joint("rw", "wheel", "base"), included=True))),
    ("included", "body 'link'", "revolute",
     lambda: build(BASE, gs.Body("link", 0.0, inertia=(0, 0, 0.01),
                                 joint=gs.Joint("j", "revolute", "base"), included=True))),
    ("negative-mass", "body 'link'", "-2.0 kg", lambda: build(BASE, link(mass=-2))),
    ("asymmetric-inertia", "body 'link'", "not symmetric",
     lambda: build(BASE, link(inertia=np.eye(3) + np.diag([0.1, 0.1], 1)))),
    ("negative-moment", "body 'link'", "-1", lambda: build(BASE, link(inertia=(1, -1, 1)))),
    ("negative-moment", "body 'base'", "after its wheels", lambda: build(BASE, gs.Wheel("rw", "base", (0, 0, 1), 2.0))),
    ("moves-nothing", "joint 'link_joint'", "mass 0 kg", lambda: build(BASE, link(mass=0, inertia=(0, 0, 0)))),
    ("moves-nothing", "joint 'link_joint'", "smallest inertia",
     lambda: build(BASE, link(kind="spherical", inertia=(0, 0, 0)))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "element", "words", "make"), ERRORS, ids=[f"{e[0]}-{i}" for i, e in enumerate(ERRORS)]
)
def test_errors(code, element, words, make):
    with pytest.raises(gs.ModelError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    found = [f for f in caught.value.findings if f.level == "error"]
    assert [(f.code, f.element) for f in found] == [(code, element)]
    assert words in found[0].message
    assert found[0].hint or "expected" in found[0].message  # how to mend it
    assert found[0].message in str(caught.value) and element in str(caught.value)


WARNINGS = [
    ("triangle", "body 'link'", lambda: build(BASE, link(inertia=(1, 1, 3)))),
    ("zero-moment", "body 'link'", lambda: build(BASE, link(inertia=(1, 1, 0), axis=(1, 0, 0)))),
    ("unit-slip", "body 'link'", lambda: build(BASE, link(com=(0.1, 0, 0), inertia=(100, 100, 100)))),
]
HOLLOW = {"mass": 0, "inertia": (0, 0, 0)}


@pytest.mark.parametrize(
    "bodies",
    [
        [link("a", **HOLLOW), link("b", "a")],  # two joints about one axis, nothing between them
        [link("a", inertia=(0.1, 0.1, 0.01)), gs.Wheel("rw", "a", (0, 0, 1), 0.01)],  # a carrier that is all wheel
    ],
)
def test_joints_that_others_can_undo_are_refused(bodies):
    """The mass matrix would be singular in every configuration,
    though each joint moves mass while the others are locked.
    """
    with pytest.raises(gs.ModelError) as caught:
        build(BASE, *bodies)
    assert [(f.code, f.element) for f in caught.value.findings if f.level == "error"] == [
        ("moves-nothing", "joint 'a_joint'")
    ]


def test_a_mass_matrix_singular_at_zero_only_is_warned_of():
    """Three axes, first and last alike: a gimbal that is locked at zero and free elsewhere."""
    middle = link("b", "a", axis=(0, 1, 0), **HOLLOW)
    craft = build(BASE, link("a", **HOLLOW), middle, link("c", "b", com=(0.1, 0.2, 0)))
    assert [(f.level, f.code, f.element) for f in craft.findings] == [
        ("warning", "singular-at-zero", "joint 'a_joint'")
    ]
    q = gs.neutral(craft)
    assert np.linalg.eigvalsh(gs.mass_matrix(craft, q))[0] < 1e-14
    q[-2] = 1.0
    assert np.linalg.eigvalsh(gs.mass_matrix(craft, q))[0] > 1e-3


def test_massless_bodies_between_joints_about_different_axes_are_sound():
    """A universal joint in three bodies: no finding, a regular mass matrix."""
    craft = build(BASE, link("a", **HOLLOW), link("b", "a", axis=(0, 1, 0), **HOLLOW), link("c", "b", axis=(1, 0, 0)))
    assert craft.findings == ()
    assert np.linalg.eigvalsh(gs.mass_matrix(craft, gs.neutral(craft)))[0] > 0.05


@pytest.mark.parametrize(("code", "element", "make"), WARNINGS, ids=[w[0] for w in WARNINGS])
def test_warnings_stay_with_the_craft(code, element, make):
    craft = make()
    assert [(f.level, f.code, f.element) for f in craft.findings] == [("warning", code, element)]
    assert craft.findings[0].hint
    assert np.isfinite(gs.forward_dynamics(craft, gs.neutral(craft), np.ones(craft.nv), np.ones(craft.nv))).all()


def codes_made_in(module) -> set[str]:
    """First argument of error(...) and warning(...), and `code=` of Finding(...)."""
    codes = set()
    for call in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(call, ast.Call):
            given = [word.value for word in call.keywords if word.arg == "code"]
            if getattr(call.func, "id", "") in ("error", "warning"):
                given += call.args[:1]
            for value in given:
                codes |= {part.value for part in ast.walk(value) if isinstance(part, ast.Constant)}
    return codes


def test_every_code_of_these_modules_is_tested():
    tested = {e[0] for e in ERRORS} | {w[0] for w in WARNINGS} | {"singular-at-zero"}
    assert codes_made_in(validation) | codes_made_in(plausibility) == tested


def test_all_errors_are_told_at_once():
    with pytest.raises(gs.ModelError) as caught:
        build(BASE, link("a", mass=-1), link("b", axis=(0, 0, 0)), link("c", damping=-1))
    assert {f.code for f in caught.value.findings} == {"negative-mass", "zero-axis", "negative-value"}


def test_a_sound_model_has_no_findings():
    assert build(BASE, link(), thin, frames=[gs.Frame("tool", "link")]).findings == ()


def test_findings_of_the_reader_are_kept_and_located():
    note = gs.model.Finding("note", "merged.", element="joint 'weld'", file="x.urdf", line=7)
    craft = gs.Spacecraft.build("craft", [BASE], findings=[note], source="x.urdf")
    assert craft.findings == (note,) and str(note) == "x.urdf:7: joint 'weld': merged."
    with pytest.raises(gs.ModelError, match=r"x\.urdf: body 'link': mass is -1"):
        gs.Spacecraft.build("craft", [BASE, link(mass=-1)], source="x.urdf")
    failed = gs.model.Finding("error", "bad.")
    with pytest.raises(gs.ModelError, match="bad"):
        gs.Spacecraft.build("craft", [BASE], findings=[failed])


def test_nearest_names_are_offered():
    assert findings_module.nearest("shoulder_2", ["elbow", "shoulder_1"]) == "Did you mean 'shoulder_1'?"
    assert findings_module.nearest("zz", ["elbow", "wrist"]) == "Known: elbow, wrist."
    assert findings_module.nearest("zz", []) == "There is none."
    with pytest.raises(gs.ModelError, match="Did you mean 'base'"):
        build(BASE, link(parent="bsae"))


# ---- parts refuse what has the wrong shape or is no number, before any craft is built

PARTS = [
    ("joint 'j': position has shape (2,); expected numbers of shape (3,)", lambda: gs.Joint("j", position=(1, 2))),
    ("joint 'j': rotation has shape (3,)", lambda: gs.Joint("j", rotation=(1, 2, 3))),
    ("joint 'j': axis has shape ()", lambda: gs.Joint("j", axis=1)),
    ("joint 'j': damping is 'much'; expected one number", lambda: gs.Joint("j", damping="much")),
    ("joint 'j': unknown kind 'revolut'. Did you mean 'revolute'?", lambda: gs.Joint("j", "revolut")),
    ("body 'b': mass has shape (2,); expected one number", lambda: gs.Body("b", (1, 2))),
    ("body 'b': com is ('a', 'b', 'c')", lambda: gs.Body("b", 1, ("a", "b", "c"))),
    ("body 'b': inertia has shape (2,); expected a (3, 3) matrix", lambda: gs.Body("b", 1, inertia=(1, 2))),
    ("frame 'f': position has shape (4,)", lambda: gs.Frame("f", "b", (1, 2, 3, 4))),
    ("thruster 't': direction has shape (2,)", lambda: gs.Thruster("t", "b", (0, 0, 0), (1, 0))),
    ("wheel 'w': spin_inertia is 'x'", lambda: gs.Wheel("w", "b", (0, 0, 1), "x")),
    ("already includes the wheel", lambda: gs.Wheel("w", "b", (0, 0, 1), 0.1, mass=2.0)),
    ("already includes the wheel", lambda: gs.Wheel("w", "b", (0, 0, 1), 0.1, transverse_inertia=2.0)),
]


@pytest.mark.parametrize(("words", "make"), PARTS, ids=[str(i) for i in range(len(PARTS))])
def test_parts_refuse_wrong_shapes_and_kinds(words, make):
    with pytest.raises(ValueError) as caught:
        make()
    assert words in str(caught.value)
