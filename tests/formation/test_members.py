"""Members, groups and states; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import rotation
from gyrostat.environment import Orbit, to_hill, two_body_gravity
from gyrostat.formation import Coupling, Formation, Group, ring, simulate
from shared_files import shared

ORBIT = Orbit.circular(500e3, 0.9)


def test_equal_structures_are_one_group_and_differences_are_parameters():
    formation = Formation({"a": box(), "tug": armed(), "b": box(mass=20.0), "c": box(inertia=(1.0, 1.0, 1.5))})
    assert list(formation.groups) == ["a", "tug"]
    assert formation.groups["a"].names == ("a", "b", "c")
    assert set(formation.groups["a"].parameters) == {"hull.mass", "hull.inertia"}
    assert formation.craft("b").body("hull").mass == 20.0
    np.testing.assert_array_equal(formation.craft("c").body("hull").inertia, np.diag([1.0, 1.0, 1.5]))
    assert formation.craft("a").body("hull").mass == 10.0
    assert formation.names == ("a", "b", "c", "tug")
    assert len(formation) == 4
    assert "3 x box, 1 x armed" in repr(formation)


def test_groups_and_members_mix():
    formation = Formation({"chief": armed(), "swarm": Group(box(), [f"s{k}" for k in range(1000)])})
    assert len(formation) == 1001
    assert formation.place("s7") == ("swarm", 7)
    assert formation.neutral()["swarm"][0].shape == (1000, 7)


def test_states_by_member():
    formation = Formation({"a": box(), "b": box(), "tug": armed()})
    q, v = gs.neutral(box()), np.arange(6.0)
    state = formation.state({"b": (q, v)})
    np.testing.assert_array_equal(state["a"][1], [np.zeros(6), v])


def test_hill_states():
    """Position, velocity and attitude in the Hill frame are what was asked for."""
    formation = Formation({"a": box(), "tug": armed()}, orbit=ORBIT)
    rho, rhodot = np.array([10.0, -200.0, 30.0]), np.array([0.1, 0.0, -0.2])
    state = formation.hill_state({"a": (rho, rhodot), "tug": [0.0, 5.0, 0.0]}, t=700.0, joints={"tug": [0.3, -0.4]})
    q, v = state["a"][0][0], state["a"][1][0]
    R = rotation(q[:4])
    found = to_hill(ORBIT, 700.0, q[4:7], R @ v[3:])
    np.testing.assert_allclose(found[0], rho, atol=1e-12)
    np.testing.assert_allclose(found[1], rhodot, atol=1e-15)
    np.testing.assert_allclose(v[:3], [0, 0, ORBIT.n], atol=1e-15)
    np.testing.assert_array_equal(state["tug"][0][0, 7:], [0.3, -0.4])
    still = formation.hill_state({"a": rho}, turning=False)
    assert not still["a"][1][0, :3].any()


def test_files_with_several_spacecraft():
    crafts = gs.load_formation(shared("models/basilisk/sats_dock.xml"))
    formation = Formation(crafts)
    assert len(formation) == len(crafts) == 2


def test_several_files(tmp_path):
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    gs.save(box("a", 5.0), first)
    gs.save(armed("b"), second)
    formation = Formation(gs.load_formation(first, second))
    assert formation.names == ("a", "b")
    assert set(gs.load_formation(first, "client")) == {"a", "client"}  # bundled ones by their names
    with pytest.raises(ValueError, match="a spacecraft named 'a' was in an earlier file already"):
        gs.load_formation(first, second, first)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Formation({}), "needs members"),
        (lambda: Formation({"a": 3}), "member 'a' is 3; expected a Spacecraft"),
        (lambda: Formation({"a": box(), "swarm": Group(box(), ["b", "a"])}), "two members are named 'a'"),
        (lambda: Formation({"x": Group(box(), ["b", "b"])}), "two members are named 'b'"),
        (lambda: Group(box(), []), "has no member"),
        (lambda: Group(box(), ["a"], {"hull.mass": [1.0, 2.0]}), r"shape \(2,\); expected .* 1 members, \(1,\)"),
        (lambda: Formation({"a": _held()}), "member 'a' .* fixed base joint; a member of a formation must float"),
        (lambda: Formation({"a": box()}).craft("b"), "no member 'b'"),
        (lambda: Formation({"a": box()}).hill_state({"a": [0, 0, 0]}), "hill_state: this formation has no orbit"),
        (lambda: Formation({"a": box()}).state({"a": (np.zeros(8), np.zeros(6))}), r"q of 'a' has shape \(8,\)"),
        (lambda: _fly(state={}), "the state has no group 'a'"),
        (lambda: _fly(state={"a": (np.zeros((1, 7)), np.zeros((2, 6)))}),
         r"q of group 'a' has shape \(1, 7\); expected \(2, 7\)"),
        (lambda: _fly(control={"c": None}), "control: the formation has no group 'c'; its groups are a"),
        (lambda: _fly(control={"a": Coupling(_law, {"near": "z"})}), "no member 'z'"),
        (lambda: _fly(control={"a": Coupling(_law, {"near": {"z": "a"}})}), "'z' sees 'near', but is not in the group"),
        (lambda: _fly(control={"a": Coupling(_law, {"near": {"a": "b"}})}), "not every member sees a 'near'"),
        (lambda: _fly(control={"a": Coupling(_law, {"near": {"a": []}})}), "belong to no group; expected one"),
        (lambda: simulate(box(), None, (0, 1)), "expected a Formation"),
    ],
)  # fmt: skip
def test_bad_formations_are_refused(build, words):
    with pytest.raises((ValueError, TypeError), match=words):
        build()


def _held():
    return gs.Spacecraft.build("held", [gs.Body("hull", 1.0, inertia=np.ones(3), joint=gs.Joint("hull", "fixed"))])


def _law(craft, t, q, v, q_near, v_near):
    return -v


def _fly(state=None, **options):
    return simulate(Formation({"a": box(), "b": box()}), state, (0, 1), **options)


def test_a_member_inside_the_planet_is_named():
    formation = Formation({"a": box(), "b": box()}, orbit=ORBIT)
    state = formation.hill_state({"a": [0, 0, 0], "b": [-6e5, 0, 0]})
    with pytest.raises(ValueError, match="member 'b': box: body 'hull' starts 6.27.*inside it"):
        simulate(formation, state, (0, 10), environment=two_body_gravity(ORBIT))


def test_ring():
    assert ring("abc") == {"a": ["c", "b"], "b": ["a", "c"], "c": ["b", "a"]}
