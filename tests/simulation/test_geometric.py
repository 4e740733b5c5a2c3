"""What the Gauss methods keep with fixed steps: time runs back as it came, quadratic invariants stay;
and what they do not keep.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import rotation
from random_trees import random_spacecraft, random_state

GAUSS = {"gauss6": 0.2, "gauss16": 0.8}


def sprung_tree():
    """A free base, branches, joints of several kinds; springs, nothing that takes energy away."""
    from dataclasses import replace

    craft = random_spacecraft(4, links=5, kinds=("revolute", "prismatic", "spherical", "universal"))
    bodies = [replace(b, joint=replace(b.joint, stiffness=3.0)) if b.parent else b for b in craft.bodies]
    return gs.Spacecraft.build("sprung tree", bodies)


def back_and_forth(craft, q, v, method, step):
    there = gs.simulate(craft, q, v, (0, 8), integrator=method, step=step, save_at=[8.0])
    back = gs.simulate(craft, there.q[0], -there.v[0], (0, 8), integrator=method, step=step, save_at=[8.0])
    assert np.abs(there.v[0] - v).max() > 0.1
    return max(np.abs(gs.configuration_difference(craft, q, back.q[0])).max(), np.abs(back.v[0] + v).max())


@pytest.mark.parametrize("method", GAUSS)
def test_a_motion_reversed_comes_back_to_where_it_began(method):
    """Symmetric methods on a reversible motion: to round-off,
    at steps whose own error is a thousand million times larger.
    """
    craft = sprung_tree()
    q, v = random_state(craft, 1, speed=0.4)
    error = np.abs(
        gs.simulate(craft, q, v, (0, 8), integrator=method, step=GAUSS[method]).v[-1]
        - gs.simulate(craft, q, v, (0, 8), rtol=1e-13, atol=1e-14).v[-1]
    ).max()
    assert back_and_forth(craft, q, v, method, GAUSS[method]) < 1e-11
    assert error > 1e-9
    assert back_and_forth(craft, q, v, "rk4", 0.05) > 1e-8  # not of any method


@pytest.mark.parametrize("method, step", [("gauss6", 0.5), ("gauss16", 2.5)])
def test_quadratic_invariants_hold_to_round_off_at_any_step(method, step):
    """The norm of every quaternion; of one free body the energy and the square of the momentum;
    at steps of few digits.
    """
    body = gs.Spacecraft.build("body", [gs.Body("body", 5.0, (0.1, -0.2, 0.3), (1.0, 2.0, 2.7))])
    v = np.array([0.4, 0.3, 1.1, 0.2, -0.1, 0.3])
    run = gs.simulate(body, None, v, (0, 100), integrator=method, step=step)
    energy, h = run.kinetic_energy(), run.momentum("com")[:, :3]
    norms = np.linalg.norm(h, axis=1)
    assert abs(np.linalg.norm(run.state.y[0, :4]) - 1.0) < 1e-13
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    np.testing.assert_allclose(norms, norms[0], rtol=1e-13)
    exact = gs.simulate(body, None, v, (0, 100), rtol=1e-13, atol=1e-14)
    assert np.abs(rotation(run.q[-1, :4]) - rotation(exact.q[-1, :4])).max() > 1e-9
    explicit = gs.simulate(body, None, v, (0, 100), integrator="rk4", step=0.1)
    assert np.ptp(explicit.kinetic_energy()) > 1e-10


@pytest.mark.parametrize("method, step", [("gauss6", 0.25), ("gauss16", 1.0)])
def test_the_energy_of_an_arm_is_not_lost_in_proportion_to_time(method, step):
    """Ten thousand swings and more of a sprung arm on a free base:
    its error wanders, and is far from ten times as large at the end.

    How far it wanders is decided by round-off, and so by the compiler: of three starts that differ by it, the middle.
    """
    craft = sprung_arm()
    v = np.outer(1.0 + 1e-12 * np.arange(3), [0.05, 0.1, -0.05, 0, 0, 0, 0.4, -0.3, 0.5])

    def errors(method, step, end):
        """The largest of the first tenth and of the last, of each run."""
        times = np.linspace(0, end, 1001)
        run = gs.simulate(craft, None, v, (0, end), integrator=method, step=step, save_at=times)
        energy = run.kinetic_energy() + run.spring_energy()
        error = np.abs(energy / energy[:, :1] - 1.0)
        return error[:, :100].max(axis=1), error[:, -100:].max(axis=1)

    first, last = errors(method, step, 3e4)
    assert first.min() > 1e-9  # it is not exact
    assert np.median(last / first) < 5.0
    first, last = errors("rk4", 0.1, 1e3)
    assert (last / first).min() > 7.0  # an explicit method's is


def sprung_arm():
    bodies = [gs.Body("base", 60.0, inertia=(8.0, 9.0, 10.0))]
    for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0)]):
        joint = gs.Joint(f"j{k}", "revolute", bodies[-1].name, (0.4, 0, 0), axis=axis, stiffness=6.0 - 2.0 * k)
        bodies.append(gs.Body(f"l{k}", 4.0, (0.2, 0.03, 0), (0.1, 0.3, 0.3), joint))
    return gs.Spacecraft.build("sprung arm", bodies)


def asymmetry(craft, q, v, method, step):
    """|J^T Omega J - Omega| of the map (q, p) -> (q, p) of four steps, p = M(q) v, by central differences."""
    n = craft.nv

    def through(z):
        M = gs.mass_matrix(craft, z[:n])
        run = gs.simulate(
            craft, z[:n], np.linalg.solve(M, z[n:]), (0, 4 * step), integrator=method, step=step, save_at=[4 * step]
        )
        return np.concatenate([run.q[0], gs.mass_matrix(craft, run.q[0]) @ run.v[0]])

    z, d = np.concatenate([q, gs.mass_matrix(craft, q) @ v]), 1e-4
    J = np.array([(through(z + d * e) - through(z - d * e)) / (2 * d) for e in np.eye(2 * n)]).T
    # the differences' own error is d^2: left out by a second step size
    J2 = np.array([(through(z + d / 2 * e) - through(z - d / 2 * e)) / d for e in np.eye(2 * n)]).T
    J = (4 * J2 - J) / 3
    omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return np.abs(J.T @ omega @ J - omega).max()


def chain(kind, axes, **joint):
    bodies = [gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))]
    for k, axis in enumerate(axes):
        link = gs.Joint(f"j{k}", kind, bodies[-1].name, (0.6, 0, 0), axis=axis, **joint)
        bodies.append(gs.Body(f"b{k}", 2.0 - 0.5 * k, (0.3, 0.05, 0), (0.1, 0.2, 0.3), link))
    return gs.Spacecraft.build(kind, bodies)


@pytest.mark.parametrize("method", GAUSS)
def test_the_map_is_symplectic_where_the_masses_do_not_move_and_not_for_arms(method):
    """v is a canonical momentum but for a constant factor where the mass matrix is constant.

    Of an arm it is not, and no claim is made.
    """
    slide = chain("prismatic", [(1, 0, 0), (0, 1, 0)], stiffness=4.0)
    assert asymmetry(slide, np.array([0.3, -0.2]), np.array([0.5, 0.4]), method, 0.2) < 1e-9
    arm = chain("revolute", [(0, 1, 0), (0, 1, 0)])
    error = asymmetry(arm, np.array([0.4, 1.1]), np.array([1.5, -2.0]), "gauss6", 0.2)
    assert error > 1e-7


def test_the_pages_do_not_claim_more():
    root = Path(__file__).parents[2]
    for path in (*sorted(root.glob("docs/*.md")), root / "README.md", *sorted((root / "src").rglob("*.py"))):
        for line in path.read_text().splitlines():
            assert "symplectic" not in line.lower() or "not symplectic" in line.lower(), (path.name, line)
