"""Bodies without mass or inertia, as several joints on one MJCF body make them: every formulation against the recursive
one.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations import attitude_lagrange, decoupled, dual_quaternion
from gyrostat.formulations.registry import FORMULATIONS, formulation, supporting
from random_trees import random_axis, random_inertia, random_rotation, random_state

LOADS = {"dual_quaternion": dual_quaternion, "decoupled": decoupled, "attitude_lagrange": attitude_lagrange}
EMPTY = np.zeros(3)


def chain(rng, name: str, parent: str, kinds, *, rotor: float = 0.0) -> list[gs.Body]:
    """As many joints as kinds between the parent and one body with mass; axes any, frames offset."""
    bodies = []
    for k, kind in enumerate(kinds):
        last = k == len(kinds) - 1
        mass = rng.uniform(1, 5) if last else 0.0
        joint = gs.Joint(
            f"{name}_joint_{k}",
            kind,
            parent,
            rng.normal(scale=0.3, size=3),
            random_rotation(rng),
            random_axis(rng),
            rotor_inertia=rotor if k == 0 else 0.0,
        )
        parent = f"{name}_{k}"
        bodies.append(
            gs.Body(
                parent,
                mass,
                rng.normal(scale=0.3, size=3) if last else EMPTY,
                random_inertia(rng, mass) if last else EMPTY,
                joint,
            )
        )
    return bodies


def bus(rng, kind: str = "free") -> gs.Body:
    return gs.Body("bus", 20.0, rng.normal(scale=0.2, size=3), random_inertia(rng, 20.0), gs.Joint("bus", kind))


def crafts() -> dict[str, gs.Spacecraft]:
    rng = np.random.default_rng(12)
    two, three = ("revolute",) * 2, ("revolute",) * 3
    found = {
        "two joints": [bus(rng), *chain(rng, "arm", "bus", two)],
        "three joints": [bus(rng), *chain(rng, "arm", "bus", three)],
        "slides and turns": [bus(rng), *chain(rng, "arm", "bus", ("prismatic", "revolute", "prismatic"))],
        "chain on chain": [bus(rng), *chain(rng, "arm", "bus", three), *chain(rng, "hand", "arm_2", two)],
        "two arms": [bus(rng), *chain(rng, "left", "bus", three), *chain(rng, "right", "bus", two)],
        "a fork without mass": [bus(rng), *chain(rng, "arm", "bus", two), *chain(rng, "other", "arm_0", two)],
        "rotors": [bus(rng), *chain(rng, "arm", "bus", three, rotor=0.3), *chain(rng, "hand", "arm_2", two, rotor=0.1)],
        "six joints": [bus(rng), *chain(rng, "arm", "bus", ("prismatic",) * 3 + three)],
        "held bus": [bus(rng, "fixed"), *chain(rng, "arm", "bus", three)],
        "wheels": [bus(rng), gs.Wheel("wheel", "bus", (0, 0, 1), 0.02), *chain(rng, "arm", "bus", two)],
        "a rod and a point": [
            bus(rng),
            gs.Body("rod", 2.0, (0.5, 0, 0), (0, 0.1, 0.1), gs.Joint("swing", "revolute", "bus", axis=(0, 1, 0))),
            gs.Body("point", 1.0, (0.4, 0, 0), (0, 0, 0), gs.Joint("flick", "revolute", "rod", (1, 0, 0))),
        ],
    }
    built = {name: gs.Spacecraft.build(name, bodies) for name, bodies in found.items()}
    first, second = built["three joints"], built["two joints"]
    return built | {"on a world without mass": gs.together("pair", [first, second])}


CRAFTS = crafts()


def case(craft: gs.Spacecraft, seed: int):
    rng = np.random.default_rng(seed)
    q, v = random_state(craft, seed)
    return q, v, rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))


def largest(x) -> float:
    return float(np.abs(x).max(initial=1e-300))


@pytest.mark.parametrize("module", LOADS.values(), ids=LOADS)
@pytest.mark.parametrize("name", CRAFTS)
def test_as_the_recursive_formulation(name, module):
    """Accelerations and joint wrenches, with external wrenches on all bodies, those without mass included."""
    craft = CRAFTS[name]
    assert module.supports(craft) is None
    for seed in range(3):
        q, v, tau, wrenches = case(craft, seed)
        expected = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
        held = gs.reaction_wrenches(craft, q, v, expected, wrenches=wrenches)
        found = module.solve(craft, q, v, tau, wrenches=wrenches)
        # a chain without mass may be nearly locked by its angles; then its acceleration is that much larger, and so is
        # round-off
        lax = 1e-13 * np.linalg.cond(gs.mass_matrix(craft, q)) if craft.nv else 1e-13
        assert largest(found.vdot - expected) < lax * largest(expected)
        assert largest(found.reaction_wrenches - held) < lax * largest(held)


@pytest.mark.parametrize("module", LOADS.values(), ids=LOADS)
@pytest.mark.parametrize(
    ("name", "joint"), [("three joints", "arm_joint_1"), ("chain on chain", "arm_joint_0"), ("rotors", "arm_joint_0")]
)
def test_prescribed_joints_of_a_chain(name, joint, module):
    craft = CRAFTS[name]
    q, v, tau, wrenches = case(craft, 5)
    expected, load = gs.hybrid_dynamics(craft, q, v, tau, prescribed={joint: [0.7]}, wrenches=wrenches)
    found = module.solve(craft, q, v, tau, prescribed={joint: [0.7]}, wrenches=wrenches)
    assert largest(found.vdot - expected) < 1e-10 * largest(expected)
    assert largest(found.tau - load) < 1e-10 * largest(load)


@pytest.mark.parametrize("module", LOADS.values(), ids=LOADS)
def test_compiled(module):
    craft = CRAFTS["three joints"]
    kernel = gs.compile(module.forward_dynamics, craft)
    for seed in range(3):
        q, v, tau, _ = case(craft, seed)
        expected = gs.forward_dynamics(craft, q, v, tau)
        assert largest(kernel(q, v, tau) - expected) < 1e-10 * largest(expected)


def test_two_ways_of_solving_agree_where_both_can():
    """With mass everywhere the loads-first and the joint solution are the same, rotors included."""
    from gyrostat.formulations.common.joint_loads import JointRows, solve_loads_first, solve_together

    rng = np.random.default_rng(3)
    names = ["base", "link", "hand"]
    M, F, rows = {}, {}, []
    for B in names:
        A = rng.normal(size=(6, 6))
        M[B], F[B] = A @ A.T + np.eye(6), rng.normal(size=6)
    for B, P, r, rotors in (("hand", "link", 5, 0), ("link", "base", 6, 1), ("base", None, 2, 0)):
        E = np.diag([0.0] * (r - rotors) + [3.0] * rotors)
        rows.append(JointRows({C: rng.normal(size=(r, 6)) for C in (B, P) if C}, rng.normal(size=r), E))
    (first, loads), (second, others) = solve_loads_first(M, F, rows), solve_together(M, F, rows)
    for B in names:
        assert largest(first[B] - second[B]) < 1e-11 * largest(first[B])
    for one, other in zip(loads, others, strict=True):
        assert largest(one - other) < 1e-11 * largest(one)


MJCF = """<mujoco><worldbody><body name="bus"><freejoint/><inertial pos="0 0 0" mass="50" diaginertia="5 6 7"/>
  <body name="upper" pos="0.5 0 0">
    <joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0"/><joint name="roll" axis="1 0 0"/>
    <inertial pos="0.4 0.1 0" mass="4" diaginertia="0.02 0.3 0.3"/>
    <body name="lower" pos="0.9 0 0">
      <joint name="bend" axis="0 1 0"/><joint name="slide" type="slide" axis="1 0 0"/>
      <inertial pos="0.3 0 0.1" mass="2" diaginertia="0.01 0.1 0.1"/>
    </body></body></body></worldbody></mujoco>"""


def test_several_joints_on_one_mjcf_body(tmp_path):
    """Every formulation takes the file, and all of them agree."""
    file = tmp_path / "arm.xml"
    file.write_text(MJCF)
    craft = gs.load(file)
    assert sum(body.mass == 0.0 for body in craft.bodies) == 3
    able, reasons = supporting(craft)
    assert set(able) == set(FORMULATIONS), reasons
    q, v, tau, wrenches = case(craft, 1)
    expected = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    for name in FORMULATIONS:
        found = formulation(name).forward_dynamics(craft, q, v, tau, wrenches=wrenches)
        assert largest(found - expected) < 1e-10 * largest(expected), name


# ---- what cannot be done, and why


def test_the_schur_complement_needs_every_inverse():
    craft = CRAFTS["two joints"]
    q, v, tau, _ = case(craft, 0)
    with pytest.raises(ValueError, match="body 'arm_0' of two joints has no mass.* needs the inverse .* Use `solve`"):
        dual_quaternion.solve_by_schur_complement(craft, q, v, tau)


def test_a_wheel_on_nothing():
    """Its spin inertia alone has no centre of mass."""
    rng = np.random.default_rng(0)
    arm = chain(rng, "arm", "bus", ("revolute", "revolute"))
    craft = gs.Spacecraft.build("x", [bus(rng), *arm, gs.Wheel("wheel", "arm_0", (0, 0, 1), 0.1, included=False)])
    for module in LOADS.values():
        assert "body 'arm_0' and its wheel 'wheel' have no mass" in module.supports(craft)
    assert formulation("recursive").supports(craft) is None
