"""Save and load: the same bodies, the same numbers, the same dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io import load, save
from gyrostat.models import file, servicer
from random_trees import ALL_KINDS, random_spacecraft, random_state
from shared_files import shared, shared_models

URDF_KINDS = ("revolute", "prismatic", "planar", "free", "fixed")
FILES = [
    path for pattern in ("models/**/*.urdf", "models/**/*.xml") for path in shared_models(pattern) if "dock" not in path
]


def assert_same_dynamics(a: gs.Spacecraft, b: gs.Spacecraft, seed: int, tolerance: float) -> None:
    q, v = random_state(a, seed)
    vdot = np.random.default_rng(seed).normal(size=a.nv)
    moving = [joint.name for joint in a.joints[1:] if joint.nv]  # a URDF root has no joint that could keep its name
    assert moving == [joint.name for joint in b.joints[1:] if joint.nv]
    for function, arguments in (
        (gs.mass_matrix, ()),
        (gs.bias_force, (v,)),
        (gs.inverse_dynamics, (v, vdot)),
        (gs.momentum, (v,)),
    ):
        ours, theirs = function(a, q, *arguments), function(b, q, *arguments)
        assert np.abs(ours - theirs).max() <= tolerance * np.abs(ours).max(), function.__name__


def assert_same_parts(a: gs.Spacecraft, b: gs.Spacecraft) -> None:
    assert [(x.name, x.parent, x.included) for x in a.bodies] == [(x.name, x.parent, x.included) for x in b.bodies]
    values, others = a.parameters(), b.parameters()
    assert values.keys() == others.keys()
    unused = {f"{joint.name}.axis" for joint in a.joints if not joint.motion.axes}
    for name, value in ((name, value) for name, value in values.items() if name not in unused):
        assert np.allclose(value, others[name], rtol=4e-16, atol=4e-16 * np.abs(value).max()), name
    for x, y in zip(a.joints, b.joints, strict=True):
        assert (x.name, x.kind, vars(x.limits)) == (y.name, y.kind, vars(y.limits))
    assert [(f.name, f.body) for f in a.frames] == [(f.name, f.body) for f in b.frames]
    assert [vars(t).keys() for t in a.thrusters] == [vars(t).keys() for t in b.thrusters]


@pytest.mark.parametrize("seed", range(40))
def test_toml_keeps_every_kind_of_spacecraft(tmp_path, seed):
    craft = random_spacecraft(seed, kinds=ALL_KINDS)
    again = load(save(craft, tmp_path / "craft.toml"))
    assert_same_parts(craft, again)
    assert_same_dynamics(craft, again, seed, 1e-15)
    save(again, tmp_path / "twice.toml")
    assert_same_parts(again, load(tmp_path / "twice.toml"))


@pytest.mark.parametrize("seed", range(25))
def test_urdf_toml_urdf(tmp_path, seed):
    craft = random_spacecraft(seed, kinds=URDF_KINDS, base="free", rotors=False)
    first = load(save(craft, tmp_path / "a.urdf"))
    toml = load(save(first, tmp_path / "a.toml"))
    last = load(save(toml, tmp_path / "b.urdf"))
    for other in (first, toml, last):
        assert_same_dynamics(craft, other, seed, 1e-13)
    q, _ = random_state(craft, seed)
    X, Y = gs.frame_pose(craft, q, "tool"), gs.frame_pose(last, q, "tool")
    assert np.abs(X.R - Y.R).max() <= 1e-13 and np.abs(X.p - Y.p).max() <= 1e-12


@pytest.mark.parametrize("path", FILES)
def test_published_files_through_toml(tmp_path, path):
    craft = load(shared(path))
    again = load(save(craft, tmp_path / "craft.toml"))
    assert_same_parts(craft, again)
    assert_same_dynamics(craft, again, 1, 1e-15)
    if path.endswith(".urdf"):
        last = load(save(again, tmp_path / "craft.urdf"))
        assert_same_dynamics(craft, last, 1, 1e-13)
        assert [(f.name, f.body) for f in last.frames] == [(f.name, f.body) for f in craft.frames]


def test_rotations_next_to_the_singularity_of_roll_pitch_yaw_come_back(tmp_path):
    for k, tilt in enumerate([0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3]):
        R = gs.algebra.rotation_from_rpy(np.array([0.3, np.pi / 2 - tilt, 1.2]))
        arm = gs.Body("arm", 1.0, (1, 0, 0), (0.1, 1, 1), gs.Joint("elbow", "revolute", "hub", (0, 0, 1), R, (0, 1, 0)))
        craft = gs.Spacecraft.build("x", [gs.Body("hub", 5.0, inertia=(1, 1, 1)), arm])
        again = load(save(craft, tmp_path / f"{k}.urdf"))
        assert np.abs(again.joint("arm").rotation - R).max() <= 2e-15, "entries below 1e-15 are made zero at load"


CANNOT = [
    ("a wheel joint", lambda: [gs.Wheel("rw", "hub", (0, 0, 1), 0.1)], {}),
    ("a spherical joint", lambda: [arm("spherical")], {}),
    ("a cartesian joint", lambda: [arm("cartesian")], {}),
    ("a spring", lambda: [arm("revolute", stiffness=1.0)], {}),
    ("the inertia of a rotor", lambda: [arm("revolute", rotor_inertia=1e-3)], {}),
    ("the range of a planar joint", lambda: [arm("planar", limits=gs.Limits(-1, 1))], {}),
    ("thrusters", list, {"thrusters": [gs.Thruster("t", "hub", (0, 0, 0), (1, 0, 0))]}),
]


def arm(kind: str, **options) -> gs.Body:
    return gs.Body("arm", 1.0, inertia=(1, 1, 1), joint=gs.Joint("elbow", kind, "hub", **options))


@pytest.mark.parametrize(("what", "bodies", "others"), CANNOT, ids=[row[0] for row in CANNOT])
def test_what_urdf_cannot_say_is_refused_by_name(tmp_path, what, bodies, others):
    craft = gs.Spacecraft.build("x", [gs.Body("hub", 5.0, inertia=(3, 3, 3)), *bodies()], **others)
    with pytest.raises(gs.ModelError, match=what) as error:
        save(craft, tmp_path / "x.urdf")
    assert ".toml" in str(error.value)
    assert list(tmp_path.iterdir()) == []
    assert_same_dynamics(craft, load(save(craft, tmp_path / "x.toml")), 0, 1e-15)


def test_a_base_that_does_not_float_is_not_written_as_urdf(tmp_path):
    craft = gs.Spacecraft.build("x", [gs.Body("hub", 5.0, inertia=(1, 1, 1), joint=gs.Joint("b", "spherical"))])
    with pytest.raises(gs.ModelError, match="base whose joint is spherical"):
        save(craft, tmp_path / "x.urdf")


def test_limits_survive_urdf(tmp_path):
    limits = [
        gs.Limits(-1, 2, 3, 4),
        gs.Limits(),
        gs.Limits(velocity=2.0),
        gs.Limits(effort=3.0),
        gs.Limits(lower=-1.0),
        gs.Limits(0, 0),
    ]
    bodies = [gs.Body("hub", 5.0, inertia=(1, 1, 1))]
    for k, limit in enumerate(limits):
        for kind in ("revolute", "prismatic"):
            name = f"{kind}_{k}"
            bodies.append(
                gs.Body(name, 1.0, inertia=(1, 1, 1), joint=gs.Joint(f"{name}_joint", kind, "hub", limits=limit))
            )
    craft = gs.Spacecraft.build("x", bodies)
    again = load(save(craft, tmp_path / "x.urdf"))
    for mine, theirs in zip(craft.joints, again.joints, strict=True):
        for name in ("lower", "upper", "velocity", "effort"):
            assert getattr(mine.limits, name) == getattr(theirs.limits, name), (mine.name, name)


def test_save_refuses_other_suffixes_and_places(tmp_path):
    with pytest.raises(ValueError, match="expected .toml, .urdf, .xml"):
        save(servicer(), tmp_path / "x.step")
    with pytest.raises(ValueError, match="cannot write"):
        save(servicer(), tmp_path / "no" / "such" / "folder" / "x.toml")


def test_the_bundled_servicer_is_its_table():
    craft, bundled = servicer(), load(file("servicer"))
    assert_same_parts(craft, bundled)
    assert_same_dynamics(craft, bundled, 0, 1e-15)
    assert gs.total_mass(craft) == 1825.0
    with pytest.raises(ValueError, match="servicer"):
        file("enterprise")
