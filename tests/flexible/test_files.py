"""Flexible bodies in files: read, written, checked and refused by name; several of them in one model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat.cli.main import app
from gyrostat.linear import flexibility
from gyrostat.structures import ALUMINIUM, Bar, PlateSection, Section, box, tube
from simple_flexible import boom, boom_craft

HUB = (
    'name = "x"\n[[body]]\nname = "hub"\nmass = 100\ninertia = [10, 10, 10]\n[[body]]\nname = "boom"\nparent = "hub"\n'
)
NODE = '[[body.flexible.node]]\nname = "tip"\nposition = [2, 0, 0]\nmass = 3\ntranslations = [[0, 0], [1, 0], [0, 1]]\n'
TABLE = HUB + "[body.flexible]\nfrequencies = [1.5, 2.5]\ndamping_ratios = 0.01\n" + NODE


def _written(tmp_path, text):
    path = tmp_path / "craft.toml"
    path.write_text(text)
    return path


def _same(a, b):
    assert [(x.name, type(x), x.joint.node) for x in a.bodies] == [(x.name, type(x), x.joint.node) for x in b.bodies]
    for name in (body.name for body in a.bodies if a.flexible(body.name)):
        x, y = a.flexible(name), b.flexible(name)
        for part in ("translations", "rotations", "second_order", "stiffness", "damping"):
            assert np.array_equal(getattr(x, part), getattr(y, part)), part
        assert (x.rotary, x.terms, x.lines, x.interfaces) == (y.rotary, y.terms, y.lines, y.interfaces)
        for m, n in zip(x.nodes, y.nodes, strict=True):
            assert (m.name, m.mass) == (n.name, n.mass)
            assert np.array_equal(m.position, n.position) and np.array_equal(m.inertia, n.inertia)


@pytest.mark.parametrize("rotary", ["points", "exact"])
def test_saved_and_loaded_it_is_the_same_to_the_last_bit(tmp_path, rotary):
    craft = boom_craft(
        rotary=rotary,
        terms="leading",
        damping_ratios=[0.01, 0.03],
        lines=(("n0", "n1"), ("n1", "n3")),
        interfaces=["n3"],
    )
    again = gs.load(gs.save(craft, tmp_path / "c.toml"))
    _same(craft, again)
    rng = np.random.default_rng(1)
    q, v, tau = (
        gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv)),
        *rng.normal(size=(2, craft.nv)),
    )
    assert np.array_equal(gs.forward_dynamics(craft, q, v, tau), gs.forward_dynamics(again, q, v, tau))
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 0.2))
    run.save(tmp_path / "run.nc")
    _same(craft, gs.Trajectory.load(tmp_path / "run.nc").craft)
    for suffix in ("urdf", "xml", "sdf"):
        with pytest.raises(gs.ModelError, match=f"'boom': is flexible, which .{suffix} cannot express"):
            gs.save(craft, tmp_path / f"c.{suffix}")


SECTION = "section = { EA = 1e5, EIy = 20, EIz = 30, GJ = 9, rhoA = 1.5 }\n"
BY_KEYS = {
    "tube": """[body.beam]
length = 6
section.tube = { outer_radius = "20 mm", thickness = 0.001, material = "aluminium" }
modes = 3
elements = 8
damping_ratios = 0.01
stations = { mid = 2.3, tip = 6 }
interfaces.tip = ["y", "rz"]
""",
    "numbers": '[body.beam]\nlength = 6\nelements = 8\nmodes = 3\nmotions = ["y"]\nstiffening = false\n' + SECTION,
    "box": """[body.beam]
length = 6
elements = 8
modes = 3
[body.beam.section.box]
width = 0.1
height = 0.2
thickness = 0.001
material = { young = 70e9, poisson = 0.33, density = 2700 }
""",
    "plate": """[body.plate]
length = 3
width = 1.2
modes = 3
elements = [4, 2]
root = 0.6
stations.tip = [3, 0]
section = { bending = 200, membrane = 1e6, poisson = 0.3, density = 4 }
""",
    "truss": """[body.truss_boom]
length = 5
radius = 0.2
bays = 6
modes = 3
longeron = { EA = 1e6, rhoA = 0.2 }
batten = { EA = 1e6, rhoA = 0.2 }
diagonal = { EA = 1e6, rhoA = 0.2 }
joint_mass = 0.1
""",
}


def _in_python(key):
    few = {"joint": gs.Joint("boom_joint", "revolute", "hub"), "modes": 3}
    bar, beam = Bar(1e6, 0.2), few | {"elements": 8}
    if key == "tube":
        places = {"mid": 2.3, "tip": 6.0}
        thin = tube(0.02, 0.001, ALUMINIUM)
        return gs.beam("boom", 6.0, thin, damping_ratios=0.01, stations=places, interfaces={"tip": ("y", "rz")}, **beam)
    if key == "numbers":
        return gs.beam("boom", 6.0, Section(1e5, 20.0, 30.0, 9.0, 1.5), motions=["y"], stiffening=False, **beam)
    if key == "box":
        return gs.beam("boom", 6.0, box(0.1, 0.2, 0.001, ALUMINIUM), **beam)
    if key == "plate":
        return gs.plate("boom", 3.0, 1.2, PlateSection(200.0, 1e6, 0.3, 4.0), elements=(4, 2), root=0.6, **few)
    return gs.truss_boom("boom", 5.0, 0.2, 6, bar, bar, bar, joint_mass=0.1, **few)


@pytest.mark.parametrize("key", BY_KEYS)
def test_generators_by_keys_are_those_of_python(tmp_path, key):
    craft = gs.load(_written(tmp_path, HUB + BY_KEYS[key]))
    _same(craft, gs.Spacecraft.build("x", [gs.Body("hub", 100.0, inertia=(10, 10, 10)), _in_python(key)]))
    _same(craft, gs.load(gs.save(craft, tmp_path / "again.toml")))


def test_what_sits_on_a_node_names_it(tmp_path):
    tool = '[[body]]\nname = "tool"\nparent = "boom.tip"\nmass = 1\ninertia = [1, 1, 1]\n'
    tool += '[[frame]]\nname = "eye"\nbody = "boom.tip"\nposition = [0, 0.1, 0]\n'
    craft = gs.load(_written(tmp_path, TABLE + tool))
    assert (craft.joint("tool").parent, craft.joint("tool").node) == ("boom", "tip")
    bent = craft.q({"boom.modes": [0.2, 0.1]})
    assert gs.frame_pose(craft, bent, "eye").p == pytest.approx([2.0, 0.3, 0.1])
    _same(craft, gs.load(gs.save(craft, tmp_path / "again.toml")))


def _instead(old, new):
    assert old in TABLE
    return TABLE.replace(old, new)


TOOL = '[[body]]\nname = "tool"\nmass = 1\ninertia = [1, 1, 1]\n'
BEAM = HUB + "[body.beam]\nlength = 1\n"
BAD = [
    (_instead("[1.5, 2.5]", "[1.5, -2.5]"), "flexible", ["frequencies are [1.5, -2.5] Hz", "zero or more"]),
    (_instead("[1.5, 2.5]", "[1.5]"), "flexible", ["frequencies", "(2,)"]),
    (_instead("[1, 0]", "[1, 1]"), "flexible", ["modes 1 and 2 are not orthogonal", "Give stiffness"]),
    (
        TABLE + NODE.replace("tip", "root").replace("[2, 0, 0]", "[0, 0, 0]"),
        "free-shapes",
        ["moves its own frame", "clamped at its joint"],
    ),
    (
        TABLE + NODE.replace("tip", "end").replace("[0, 0], ", ""),
        "wrong-shape",
        ["node 'end' are 2 by 2", "expected 3 by 2"],
    ),
    (TABLE + NODE, "flexible", ["node 'tip' stands twice"]),
    (_instead("[1.5, 2.5]", '["a", 2]'), "malformed-number", ["expected numbers, in lists"]),
    (_instead("frequencies = [1.5, 2.5]\n", ""), "flexible", ["neither of stiffness and frequencies"]),
    (_instead("frequencies", "frequences"), "unknown-key", ["Did you mean 'frequencies'"]),
    (TABLE + TOOL + 'parent = "boom.tap"\n', "unknown-parent", ["'boom.tap' does not exist"]),
    (TABLE + TOOL + 'parent = "boom"\njoint.node = "tap"\n', "unknown-node", ["Did you mean 'tip'"]),
    (TABLE + "[body.beam]\nlength = 1\n" + SECTION, "wrong-value", ["flexible and beam are both given"]),
    (BEAM.replace("1\n", "-1\n") + SECTION, "flexible", ["length is -1"]),
    (BEAM + "section = { EA = 1 }\n", "wrong-value", ["has no EIy, EIz, GJ, rhoA"]),
    (BEAM + "modes = 400\n" + SECTION, "wrong-value", ["less than or equal to 40"]),
    (HUB, "missing-key", ["body 'boom'", "has no 'mass'"]),
]


@pytest.mark.parametrize(("text", "code", "words"), BAD)
def test_bad_files_are_refused_with_what_was_found_and_what_is_allowed(tmp_path, text, code, words):
    result = gs.check(_written(tmp_path, text))
    (finding,) = [f for f in result.findings if f.level == "error"]
    assert finding.code == code and finding.line is not None
    for word in words:
        assert word in str(finding), str(finding)


def test_mass_properties_that_are_not_those_of_the_lumps_are_warned_of(tmp_path):
    right = "mass = 3\ncom = [2, 0, 0]\ninertia = [0, 0, 0]\n"
    assert not gs.load(_written(tmp_path, HUB + right + TABLE.removeprefix(HUB))).findings[1:]
    wrong = "mass = 3.3\ncom = [2, 0, 0.1]\ninertia = [0, 1, 1]\n"
    found = [
        f for f in gs.load(_written(tmp_path, HUB + wrong + TABLE.removeprefix(HUB))).findings if f.level == "warning"
    ]
    assert [f.message.split()[0] for f in found] == ["mass", "com", "inertia"]
    assert "3.3 kg, but its lumps have 3.0 kg" in found[0].message and found[0].line is not None


# ---- check


THIN = Section(1e5, 1724.4555, 1724.4555, 100.0, 10.0 / 6.0)


def _loaded(modes, interfaces):
    made = {"motions": ["y"], "interfaces": interfaces, "elements": 40, "stiffening": False}
    boom = gs.beam("boom", 6.0, THIN, modes=modes, joint=gs.Joint("wall", "fixed"), **made)
    load = gs.Body("load", 20.0, inertia=(2.0, 2.0, 2.0), joint=gs.Joint("grip", "fixed", "boom.tip"))
    return gs.Spacecraft.build("c", [boom, load])


def test_check_says_where_a_payload_needs_shapes_of_its_node():
    both = {"tip": ("y", "rz")}
    exact = np.array([mode.frequency for mode in flexibility(_loaded(24, both)).coupled[:3]])
    few, free = flexibility(_loaded(4, both)), flexibility(_loaded(12, None))
    off = [np.abs(np.array([mode.frequency for mode in found.coupled[:3]]) / exact - 1) for found in (few, free)]
    assert (off[0] < [1e-6, 1e-5, 1e-4]).all() and off[1][2] == pytest.approx(0.05, abs=0.01)
    assert not few.findings
    (warning,) = free.findings
    assert warning.code == "unsettled-modes" and "node 'tip'" in warning.message and "'tip': (" in warning.hint


def test_shares_of_all_modes_of_a_beam_add_up_to_its_inertia():
    """Effective masses: 61.3, 18.8, 6.5 % of a uniform cantilever's mass, 97.1 % of its inertia about the root."""
    modes = flexibility(_loaded(12, None)).clamped["boom"]
    assert [mode.mass[1] for mode in modes[:3]] == pytest.approx([0.613, 0.188, 0.0647], abs=1e-3)
    assert modes[0].inertia[2] == pytest.approx(0.9707, abs=1e-4) and sum(m.inertia[2] for m in modes) < 1.0
    assert [mode.matters for mode in modes] == [True] * 6 + [False] * 6


def test_the_command_shows_frequencies_and_warns(tmp_path):
    free, good = gs.save(_loaded(12, None), tmp_path / "free.toml"), gs.save(boom_craft(), tmp_path / "boom.toml")
    shown = CliRunner().invoke(app, ["check", str(free)])
    assert shown.exit_code == 0 and "unsettled" not in shown.output and "interfaces" in shown.output
    assert CliRunner().invoke(app, ["check", "--strict", str(free)]).exit_code == 1
    found = json.loads(CliRunner().invoke(app, ["check", "--json", str(good)]).output)["craft"]
    craft = gs.load(good)
    swinging = gs.modes(craft, gs.neutral(craft), np.zeros(craft.nv), locked=["root", "wrist", "wheel"]).of(
        "oscillating"
    )
    coupled = [mode["frequency"] for mode in found["flexible"]["coupled"]]
    assert coupled == pytest.approx([mode.frequency for mode in swinging], rel=1e-6)
    assert [m["frequency"] for m in found["flexible"]["clamped"]["boom"]] == pytest.approx(
        list(craft.flexible("boom").clamped.frequencies)
    )
    assert next(b for b in found["bodies"] if b["name"] == "boom")["mass"] == pytest.approx(boom().mass)


# ---- several in one model


def test_crafts_that_share_names_are_put_together_and_keep_their_modes(tmp_path):
    both = gs.together("two", [boom_craft("a"), boom_craft("b")])
    modal = [joint for joint in both.joints if joint.kind == "modal"]
    assert [joint.name for joint in modal] == ["a.boom.modes", "b.boom.modes"]
    b = both.member("b")
    assert b.here("boom.modes", "joint") == "b.boom.modes" and b.own("b.boom.modes", "joint") == "boom.modes"
    assert both.value("b.boom.mode_1.frequency") == b.craft.value("boom.mode_1.frequency")
    rng = np.random.default_rng(5)
    q, v = gs.step_configuration(both, gs.neutral(both), 0.2 * rng.normal(size=both.nv)), 0.3 * rng.normal(size=both.nv)
    alone = gs.forward_dynamics(b.craft, b.q(q), b.v(v), np.zeros(b.craft.nv))
    assert b.v(gs.forward_dynamics(both, q, v, np.zeros(both.nv))) == pytest.approx(
        alone, abs=1e-12 * np.abs(alone).max()
    )
    _same(both, gs.load(gs.save(both, tmp_path / "both.toml")))


def test_a_load_on_a_mode_is_told_as_one_from_outside():
    craft = boom_craft()
    load = np.zeros(craft.nv)
    load[craft.flexible("boom").v_at] = 1.0
    run = gs.simulate(craft, gs.neutral(craft), np.zeros(craft.nv), t_span=(0.0, 1.0), control=lambda c, t, q, v: load)
    (cause,) = run.audit.causes
    assert cause.who == "control on the shape: 'boom.modes'" and cause.work > 0 and run.audit.energy < 1e-10
