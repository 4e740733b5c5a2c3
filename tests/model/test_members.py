"""Craft put together keep their members: each sees its own q, v, names and masses, and places its loads back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.model import Membership, Role
from random_trees import BASES, random_spacecraft, random_state


def three(seed=1, bases=BASES):
    """Of all base kinds, with wheels last of all, frames and thrusters under shared names."""
    crafts = []
    for k, base in enumerate(bases):
        craft = random_spacecraft(seed + k, links=5, base=base, kinds=("revolute", "spherical", "planar", "wheel"))
        jet = gs.Thruster("jet", "body_1" if craft.bodies[1].joint.kind != "wheel" else "base", (0.1, 0, 0), (0, 0, 1))
        crafts.append(replace(craft, thrusters=(jet,)))
    return crafts, gs.together("all", crafts)


def same(one, other):
    """Equal in every name, place and number."""
    assert [b.name for b in one.bodies] == [b.name for b in other.bodies]
    assert [j.name for j in one.joints] == [j.name for j in other.joints]
    assert [(j.parent, j.kind, j.q_at, j.v_at) for j in one.joints] == [
        (j.parent, j.kind, j.q_at, j.v_at) for j in other.joints
    ]
    assert [(f.name, f.body) for f in one.frames] == [(f.name, f.body) for f in other.frames]
    assert [(t.name, t.body) for t in one.thrusters] == [(t.name, t.body) for t in other.thrusters]
    a, b = one.parameters(), other.parameters()
    assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
    assert one.roles == other.roles


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_a_member_is_the_craft_it_was(seed):
    crafts, both = three(seed)
    assert [m.name for m in both.members] == [c.name for c in crafts]
    states = [(c, *random_state(c, seed + k)) for k, c in enumerate(crafts)]
    Q, V = gs.joined_state(both, states)
    for member, (craft, q, v) in zip(both.members, states, strict=True):
        same(member.craft, craft)
        assert np.array_equal(member.q(Q), q) and np.array_equal(member.v(V), v)
        assert np.array_equal(both.member(craft.name).v_at, member.v_at)
        assert [both.bodies[k].name for k in member.body_at] == list(member.bodies)
        for body, row in zip(craft.bodies, member.body_at, strict=True):
            assert member.here(body.name) == both.bodies[row].name and member.own(both.bodies[row].name) == body.name
        assert both.thruster(member.here("jet", "thruster")).body == member.here(craft.thrusters[0].body)
    assert sorted(k for m in both.members for k in m.v_at) == list(range(both.nv))


def test_loads_are_placed_where_the_members_rates_stand():
    _, both = three(3)
    rng = np.random.default_rng(0)
    for member in both.members:
        tau = rng.normal(size=(4, member.craft.nv))
        placed = member.place(tau)
        assert placed.shape == (4, both.nv) and np.array_equal(member.v(placed), tau)
        assert np.count_nonzero(placed) == tau.size
        with pytest.raises(ValueError, match=rf"loads of '{member.name}' have shape"):
            member.place(np.zeros(both.nv + 1))


def test_base_coordinates_of_every_member_are_base():
    crafts, both = three(5)
    wanted = [role for m in both.members for role in m.craft.roles]
    found = [both.roles[k] for m in both.members for k in m.v_at]
    assert found == wanted and found.count(Role.base) == sum(c.joints[0].nv for c in crafts) == 12


def test_members_follow_other_values_and_symbols():
    crafts, both = three(7)
    name = both.members[2].here("base")
    heavier = both.with_values({f"{name}.mass": 123.0})
    assert heavier.member(crafts[2].name).craft.value("base.mass") == 123.0
    same(heavier.members[0].craft, crafts[0])
    same(replace(heavier, name="renamed").members[2].craft, heavier.members[2].craft)

    def mass(craft, q):
        return np.array([gs.total_mass(m.craft) for m in craft.members])

    kernel = gs.compile(mass, both, parameters=[f"{name}.mass"])
    now = kernel(gs.neutral(both), parameters={f"{name}.mass": 1000.0})
    expected = [gs.total_mass(c) for c in crafts]
    expected[2] += 1000.0 - crafts[2].value("base.mass")
    np.testing.assert_allclose(now, expected, rtol=1e-14)


def test_models_put_together_again_keep_the_first_members():
    crafts, _ = three(11)
    inner = gs.together("inner", crafts[:2])
    outer = gs.together("outer", [inner, *crafts[2:]])
    assert [m.name for m in outer.members] == [c.name for c in crafts]
    for member, craft in zip(outer.members, crafts, strict=True):
        same(member.craft, craft)
    assert outer.roles.count(Role.base) == 12
    with pytest.raises(ValueError, match="members share a name"):
        gs.together("again", [outer, crafts[0]])


def test_what_a_member_holds_becomes_part_of_it():
    crafts, both = three(13, bases=("free", "free"))
    held = gs.Spacecraft.build("stone", [gs.Body("stone", 3.0, inertia=(1, 1, 1))], frames=[gs.Frame("grip", "stone")])
    tool = both.members[1].here("tool")
    holding = gs.attach(both, held, at=tool, by="grip")
    same(holding.members[0].craft, crafts[0])
    assert gs.total_mass(holding.members[1].craft) == pytest.approx(gs.total_mass(crafts[1]) + 3.0, rel=1e-14)
    assert holding.roles == both.roles
    with pytest.raises(ValueError, match="holds 2 spacecraft, of which only one can be grasped"):
        gs.attach(held, both, at="grip")


def test_a_craft_alone_is_the_one_member_of_itself():
    craft = random_spacecraft(2, base="planar")
    assert craft.members == () and craft.member(craft.name).craft is craft
    assert craft.member(craft.name).place(np.arange(craft.nv)).tolist() == list(range(craft.nv))
    with pytest.raises(ValueError, match=rf"has no member 'other'.*{craft.name}"):
        craft.member("other")


def test_names_that_are_not_the_members_are_refused():
    _, both = three(17)
    first, second = both.members[:2]
    with pytest.raises(ValueError, match=rf"'{first.name}' has no body or frame 'tol'"):
        first.here("tol")
    with pytest.raises(ValueError, match=rf"is no part of '{first.name}'"):
        first.own(second.here("base"))
    with pytest.raises(ValueError, match="'bodies' is no kind of part"):
        first.here("base", "bodies")


def test_members_survive_a_file(tmp_path):
    crafts, both = three(19)
    gs.save(both, tmp_path / "all.toml")
    back = gs.load(tmp_path / "all.toml")
    assert back.roles == both.roles
    for member, craft in zip(back.members, crafts, strict=True):
        assert member.craft.name == craft.name and [b.name for b in member.craft.bodies] == [
            b.name for b in craft.bodies
        ]
        assert [j.name for j in member.craft.joints] == [j.name for j in craft.joints]
    free = gs.together("two", [gs.load("servicer"), gs.load("client")])
    with pytest.raises(gs.ModelError, match="member 'servicer': URDF cannot express several spacecraft"):
        gs.save(free, tmp_path / "two.urdf")


@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([Membership("a", "nobody")], "its base is body 'nobody', which does not exist"),
        ([Membership("a", "arm")], "its base 'arm' stands on 'one', which moves"),
        ([Membership("a", "one")], "body 'two': belongs to none of the members 'a'"),
        ([Membership("a", "one"), Membership("a", "two")], "member 'a': this name is used twice"),
        ([Membership("a", "world"), Membership("b", "two")], "another member stands on its base"),
        ([Membership("a", "one", {"joint": {"x": "y"}}), Membership("b", "two")], "its joint 'x' is 'y' here, which"),
    ],
)
def test_members_that_cannot_be_are_refused(memberships, message):
    part = {"mass": 1.0, "inertia": (1, 1, 1)}
    bodies = [
        gs.Body("world", joint=gs.Joint("world", "fixed")),
        gs.Body("one", **part, joint=gs.Joint("j1", "free", "world")),
        gs.Body("arm", **part, joint=gs.Joint("j3", "revolute", "one")),
        gs.Body("two", **part, joint=gs.Joint("j2", "free", "world")),
    ]
    with pytest.raises(gs.ModelError, match=message):
        gs.Spacecraft.build("both", bodies, memberships=memberships)


def test_states_of_members_by_name_and_of_every_member():
    one, other = gs.load("servicer"), gs.load("client")
    both = gs.together("both", [one, other])
    q, v = one.q({"joint_2": 0.4}), one.v({"joint_3": -0.2})
    drift = [0.1, 0.0, 0.0, 0.0, 0.3, 0.0]
    named = gs.joined_state(both, [(one, {"joint_2": 0.4}, {"joint_3": -0.2}), (other, {}, {"client_base": drift})])
    given = gs.joined_state(both, [(one, q, v), (other, gs.neutral(other), np.array(drift))])
    np.testing.assert_array_equal(named[0], given[0])
    np.testing.assert_array_equal(named[1], given[1])
    with pytest.raises(ValueError, match="members servicer, client; states are given of servicer"):
        gs.joined_state(both, [(one, q, v)])
    with pytest.raises(ValueError, match=r"v of client: expected shape \(6,\), found \(3,\)"):
        gs.joined_state(both, [(one, q, v), (other, {}, np.zeros(3))])
