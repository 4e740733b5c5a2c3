"""Workspace tools: dynamic singularities, manipulability, coupling, and what of the workspace depends on the path."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import workspace as ws
from gyrostat.formulations.generalized_jacobian import (
    base_velocity_from_momentum,
    generalized_inertia,
    generalized_jacobian,
)
from gyrostat.model import DHLink
from random_trees import random_spacecraft, random_state

XY = (3, 4)  # velocity in the plane


def planar(base_mass):
    """Two links of one metre, 4 kg each, on a base of that mass."""
    base = gs.Body("base", base_mass, inertia=(base_mass / 15,) * 3)
    links = [DHLink(a=0.5, b=0.5, mass=4.0, inertia=(0.01, 0.33, 0.33)) for _ in range(2)]
    return gs.Spacecraft.from_dh("planar", base, links, mount_position=(0.3, 0.0, 0.0))


def axes(k=21):
    """All of both angles, but never exactly 0 or pi."""
    return {"joint_1": np.linspace(-3.14, 3.1, k), "joint_2": np.linspace(-3.13, 3.12, k)}


def test_on_a_heavy_base_the_arm_is_a_fixed_one():
    """Singular where stretched or folded; manipulability l1 l2 |sin q2|; no coupling."""
    craft = planar(1e9)
    q = ws.joint_grid(craft, gs.neutral(craft), axes())
    m = ws.measures(craft, q, "tool", rows=XY)
    np.testing.assert_allclose(m.manipulability, np.abs(np.sin(q[..., 8])), atol=1e-7)  # the base moves by some 1e-8
    assert m.coupling.max() < 1e-6
    singular = ws.dynamic_singularities(craft, gs.neutral(craft), "tool", axes=axes(), rows=XY)
    assert len(singular) == 21 and np.abs(np.sin(singular[:, 8])).max() < 1e-6


def test_on_a_light_base_singularities_move_with_the_mass_properties():
    """det J* is zero to round-off there, not where a fixed arm's would be; another base mass, other singularities."""
    found = {}
    for mass in (20.0, 40.0):
        craft = planar(mass)
        singular = ws.dynamic_singularities(craft, gs.neutral(craft), "tool", axes=axes(), rows=XY)
        assert ws.measures(craft, singular, "tool", rows=XY).smallest.max() < 1e-14
        found[mass] = np.abs(np.sin(singular[:, 8])).max()
    assert found[20.0] > found[40.0] > 0.2


def test_dynamic_manipulability_of_a_square_task():
    """|det J*| / det H*."""
    craft = planar(30.0)
    q = ws.joint_grid(craft, gs.neutral(craft), axes(7))
    m = ws.measures(craft, q, "tool", rows=XY)
    det_H = np.array([np.linalg.det(generalized_inertia(craft, x)) for x in q.reshape(-1, craft.nq)])
    np.testing.assert_allclose(
        m.dynamic_manipulability.ravel(), np.abs(m.determinant).ravel() / det_H, rtol=1e-10, atol=1e-15
    )


@pytest.mark.parametrize("seed", range(5))
def test_measures_of_any_craft(seed):
    """Singular values against J* in N; the coupling factor bounds the base's rate, and is attained."""
    craft = random_spacecraft(seed, base="free", links=5)
    q, _ = random_state(craft, seed)
    m = ws.measures(craft, q, "tool", (0.1, 0.2, 0.3), rows=ws.TWIST)
    moving = craft.at(gs.Role.driven) - 6
    values = np.linalg.svd(generalized_jacobian(craft, q, "tool", (0.1, 0.2, 0.3))[:, moving], compute_uv=False)
    np.testing.assert_allclose([m.manipulability, m.smallest], [values.prod(), values[-1]], rtol=1e-9, atol=1e-14)
    rng = np.random.default_rng(seed)
    for own in rng.normal(size=(20, len(moving))):
        rates = np.zeros(craft.nv - 6)
        rates[moving] = own
        turned = np.linalg.norm(base_velocity_from_momentum(craft, q, rates)[:3])
        assert turned <= m.coupling * np.linalg.norm(rates) * (1 + 1e-12)
    worst = np.zeros(craft.nv - 6)
    worst[moving] = np.linalg.svd(ws.coupling_matrix(craft, q)[:3, moving])[2][0]
    np.testing.assert_allclose(np.linalg.norm(base_velocity_from_momentum(craft, q, worst)[:3]), m.coupling, rtol=1e-12)
    center = gs.center_of_mass(craft, q)
    tool = gs.frame_pose(craft, q, "tool")
    np.testing.assert_allclose(m.reach, np.linalg.norm(tool.p + tool.R @ [0.1, 0.2, 0.3] - center), rtol=1e-12)


def test_shells_that_do_not_depend_on_the_path_hold_no_singularity():
    craft = planar(40.0)
    reach = ws.path_dependent_workspace(craft, gs.neutral(craft), "tool", axes=axes(61), rows=XY)
    assert len(reach.path_dependent) == 2 and len(reach.path_independent) >= 1
    rng = np.random.default_rng(0)
    q = np.tile(gs.neutral(craft), (20000, 1))
    q[:, 7:] = rng.uniform(-np.pi, np.pi, size=(20000, 2))
    m = ws.measures(craft, q, "tool", rows=XY)
    inside = np.zeros(len(q), dtype=bool)
    for low, high in reach.path_independent:
        margin = 0.02  # the grid's spacing
        inside |= (m.reach > low + margin) & (m.reach < high - margin)
    assert inside.sum() > 5000 and m.smallest[inside].min() > 1e-3
    singular = np.abs(m.determinant) < 1e-4
    within = [
        (m.reach[singular] > low - 0.02) & (m.reach[singular] < high + 0.02) for low, high in reach.path_dependent
    ]
    assert singular.any() and np.any(within, axis=0).all()


def test_joints_that_hold_still_do_not_count():
    craft = planar(40.0)
    q = gs.neutral(craft) + np.array([0, 0, 0, 0, 0, 0, 0, 0.4, 0.8])
    one = ws.measures(craft, q, "tool", joints=["joint_2"], rows=XY)
    J = generalized_jacobian(craft, q, "tool")[3:5, 1]
    np.testing.assert_allclose(one.manipulability, np.linalg.norm(J), rtol=1e-12)
    assert np.isnan(one.determinant)


def test_errors_say_what_to_do():
    craft = planar(40.0)
    with pytest.raises(ValueError, match="1 joints for 3 rows of the twist"):
        ws.dynamic_singularities(craft, gs.neutral(craft), "tool", axes={"joint_1": np.zeros(3)})
    with pytest.raises(ValueError, match="'base' is free, with 7 coordinates"):
        ws.joint_grid(craft, gs.neutral(craft), {"base": np.zeros(3)})
