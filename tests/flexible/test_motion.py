"""Runs of craft with flexible bodies: what is conserved stays, to round-off, in large motions."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations.recursive import regressor
from gyrostat.formulations.registry import supporting
from gyrostat.model import Role
from simple_flexible import boom, boom_craft


@pytest.mark.parametrize(("terms", "size"), [("all", 1.0), ("leading", 0.25)])
def test_momentum_and_energy_stay_in_a_large_motion(terms, size):
    craft = boom_craft(rotary="exact", terms=terms)
    rng = np.random.default_rng(4)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.2 * size * rng.normal(size=craft.nv))
    v = 0.5 * size * rng.normal(size=craft.nv)
    run = gs.simulate(craft, q, v, t_span=(0, 50), rtol=1e-13)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-11
    assert np.abs(run.q[:, craft.flexible("boom").q_at]).max() > 0.1 * size


def test_leading_terms_differ_from_all_by_third_order():
    """Of the deflection, in the kinetic energy of motion as fast as it is large; and not at all where nothing spins."""
    whole, few = boom_craft(), boom_craft(terms="leading")
    rng = np.random.default_rng(2)
    v, off = rng.normal(size=whole.nv), []
    for size in (1e-2, 1e-3):
        q = whole.q({"boom.modes": [size, -0.7 * size]})
        off.append(abs(gs.kinetic_energy(whole, q, v) - gs.kinetic_energy(few, q, v)))
        pairs = [gs.mass_matrix(craft, q)[:6, :6] for craft in (whole, few)]
        assert pairs[0] == pytest.approx(pairs[1], abs=40 * size**3)
    assert 0 < off[1] < off[0] < 10 * 1e-2


def test_damped_bending_is_work_that_the_audit_finds():
    craft = boom_craft(damping_ratios=0.02)
    v = craft.v({"root": 0.8, "wheel": 20.0})
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0, 20), rtol=1e-12)
    assert run.audit.energy < 1e-10 and float(run.data["work"][-1]) < -1e-3


def test_modal_coordinates_have_names_a_role_and_no_motor():
    craft = boom_craft()
    assert [craft.roles[k] for k in range(*craft.flexible("boom").v_at.indices(craft.nv))] == [Role.modal] * 2
    run = gs.simulate(craft, gs.neutral(craft), np.zeros(craft.nv), t_span=(0, 0.1))
    assert {"boom.mode_1", "boom.mode_2"} <= set(run.data.q_name.values)
    assert craft.q({"boom.modes": [0.1, 0.2]})[craft.flexible("boom").q_at] == pytest.approx([0.1, 0.2])


@pytest.mark.parametrize("rotary", ["points", "exact"])
def test_the_ways_to_accelerations_agree_and_power_is_balanced(rotary):
    craft = boom_craft(rotary=rotary)
    rng = np.random.default_rng(7)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.3 * rng.normal(size=craft.nv))
    v, tau, W = rng.normal(size=craft.nv), rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=W)
    assert gs.inverse_dynamics(craft, q, v, vdot, wrenches=W) == pytest.approx(tau, abs=1e-10 * np.abs(vdot).max())
    other = np.linalg.solve(gs.mass_matrix(craft, q), tau - gs.bias_force(craft, q, v, wrenches=W))
    assert vdot == pytest.approx(other, abs=1e-11 * np.abs(vdot).max())
    assert 0.5 * v @ gs.mass_matrix(craft, q) @ v == pytest.approx(gs.kinetic_energy(craft, q, v), rel=1e-13)
    held = gs.forward_dynamics(craft, q, v, tau, prescribed={"boom.modes": [0.3, -0.2]})
    assert held[craft.flexible("boom").v_at] == pytest.approx([0.3, -0.2])

    def later(f, h):
        return f(gs.step_configuration(craft, q, h * v), v + h * gs.forward_dynamics(craft, q, v, tau))

    h = 1e-5
    rate = (later(lambda *s: gs.kinetic_energy(craft, *s), h) - later(lambda *s: gs.kinetic_energy(craft, *s), -h)) / (
        2 * h
    )
    assert rate == pytest.approx(tau @ v, rel=1e-6, abs=1e-6)
    J = gs.jacobian(craft, q, "eye", (0.1, 0.2, 0.3))
    dp = gs.frame_pose(craft, gs.step_configuration(craft, q, h * v), "eye")
    dm = gs.frame_pose(craft, gs.step_configuration(craft, q, -h * v), "eye")
    moved = (dp.p + dp.R @ [0.1, 0.2, 0.3] - dm.p - dm.R @ [0.1, 0.2, 0.3]) / (2 * h)
    assert J[3:] @ v == pytest.approx(moved, abs=1e-8)
    Jdot = gs.jacobian_rate(craft, q, v, "eye", (0.1, 0.2, 0.3))
    ahead, behind = (
        gs.jacobian(craft, gs.step_configuration(craft, q, s * h * v), "eye", (0.1, 0.2, 0.3)) for s in (1, -1)
    )
    assert Jdot == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frequencies": [-1.0, 2.0], "stiffness": None}, "frequencies are"),
        ({"stiffness": [[1.0, 0.0], [0.0, -1.0]]}, "negative eigenvalue"),
        ({"joint": gs.Joint("root", "revolute", "hub", node="tip")}, "no flexible body"),
    ],
)
def test_bad_flexible_bodies_are_refused_by_name(change, message):
    own = boom()
    given = {"name": "boom", "nodes": own.nodes, "translations": own.translations, "stiffness": own.stiffness}
    given["joint"] = gs.Joint("root", "revolute", "hub")
    with pytest.raises(ValueError, match=message):
        gs.Spacecraft.build("c", [gs.Body("hub", 1.0, inertia=(1, 1, 1)), gs.FlexibleBody(**given | change)])


def test_unknown_nodes_and_shapes_that_move_the_own_frame_are_refused():
    with pytest.raises(ValueError, match="no node|does not exist"):
        gs.Spacecraft.build(
            "c", [boom(), gs.Body("t", 1.0, inertia=(1, 1, 1), joint=gs.Joint("j", parent="boom", node="tip"))]
        )
    with pytest.raises(ValueError, match="where nothing says"):
        gs.Spacecraft.build(
            "c", [boom(), gs.Body("t", 1.0, inertia=(1, 1, 1), joint=gs.Joint("j", parent="boom", position=(1, 0, 0)))]
        )
    nodes = [gs.Node("root", (0, 0, 0), 1.0), gs.Node("tip", (1, 0, 0), 1.0)]
    with pytest.raises(ValueError, match="moves its own frame"):
        gs.Spacecraft.build("c", [gs.FlexibleBody("b", nodes, [[[0], [1.0], [0]], [[0], [1.0], [0]]], stiffness=[1.0])])


def test_other_formulations_and_matrices_for_rigid_bodies_refuse_by_name():
    craft = boom_craft()
    able, reasons = supporting(craft)
    assert list(able) == ["recursive"] and all("'boom' is flexible" in reason for reason in reasons.values())
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    for asked in (
        lambda: gs.coriolis_matrix(craft, q, v),
        lambda: regressor(craft, q, v, v),
        lambda: craft.inertia("boom"),
    ):
        with pytest.raises(ValueError, match="'boom' is flexible"):
            asked()


def test_frequencies_are_parameters():
    craft = boom_craft(damping_ratios=[0.01, 0.03])
    other = craft.with_values({"boom.mode_1.frequency": 2.0 * craft.value("boom.mode_1.frequency")})
    assert other.flexible("boom").stiffness[0, 0] == pytest.approx(4.0 * craft.flexible("boom").stiffness[0, 0])
    assert other.value("boom.mode_1.damping_ratio") == pytest.approx(0.01)
    with pytest.raises(ValueError, match="lumps"):
        craft.with_values({"boom.mass": 3.0})
