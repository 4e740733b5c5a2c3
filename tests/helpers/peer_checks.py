"""What is compared with Pinocchio and MuJoCo, for any spacecraft: used on random trees and on published files.

Tolerance: 1e-12 of the largest entry, as the two sides differ by round-off alone (some 3e-15 was found). Forward
dynamics: backward error, and a difference of at most 1e-15 cond(M), the usual bound of a stable solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from gyrostat.verification.peers.mujoco import MuJoCo
from gyrostat.verification.peers.pinocchio import Pinocchio
from random_trees import random_state


@dataclass(frozen=True)
class Case:
    craft: gs.Spacecraft
    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    tau: np.ndarray
    wrenches: np.ndarray
    points: dict[str, np.ndarray]
    pin: Pinocchio
    mujoco: MuJoCo | None


def make_case(craft: gs.Spacecraft, seed: int) -> Case:
    q, v = random_state(craft, seed + 1000)
    rng = np.random.default_rng(seed + 2000)
    vdot, tau = rng.normal(size=(2, craft.nv))
    points = {body.name: rng.normal(size=3) for body in craft.bodies}
    held = Pinocchio(craft, hold_fixed=True, points=points)
    mujoco = None if MuJoCo.lacks(craft) else MuJoCo(craft)
    return Case(craft, q, v, vdot, tau, rng.normal(size=(craft.nbodies, 6)), points, held, mujoco)


def close(found, expected, what: str, tolerance: float = 1e-12) -> None:
    """Largest difference within `tolerance` of the largest expected entry; entries the peer cannot give are NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    known = ~np.isnan(expected)
    if known.any():
        error, size = np.abs(found - expected)[known].max(), np.abs(expected[known]).max()
        assert error <= tolerance * size, f"{what}: off by {error:.2e}, largest entry {size:.2e}"


def each_peer(c: Case):
    return [c.pin] if c.mujoco is None else [c.pin, c.mujoco]


def check_kinematics(c: Case) -> None:
    X = gs.forward_kinematics(c.craft, c.q)
    for peer in each_peer(c):
        R, p = peer.poses(c.q)
        close(X.R_NB, R, "rotations")
        close(X.p_NB, p, "positions")
    for body, point in c.points.items():
        J, Jdot = gs.jacobian(c.craft, c.q, body, point), gs.jacobian_rate(c.craft, c.q, c.v, body, point)
        close(J, c.pin.jacobian(c.q, body), f"jacobian of {body}")
        expected = c.pin.jacobian_rate(c.q, c.v, body)
        assert np.abs(Jdot - expected).max(initial=0.0) <= 1e-12 * (
            np.abs(expected).max(initial=0.0) + np.abs(J).max(initial=0.0)
        )
        if c.mujoco is not None:
            close(J, c.mujoco.jacobian(c.q, body, point), f"jacobian of {body}")
            a = c.mujoco.jacobian_rate(c.q, c.v, body, point)
            assert np.abs(Jdot @ c.v - a).max() <= 1e-12 * (np.abs(a).max() + np.abs(J).max(initial=0.0))


def check_dynamics(c: Case) -> None:
    M, b = gs.mass_matrix(c.craft, c.q), gs.bias_force(c.craft, c.q, c.v)
    tau = gs.inverse_dynamics(c.craft, c.q, c.v, c.vdot, wrenches=c.wrenches)
    for peer in each_peer(c):
        close(M, peer.mass_matrix(c.q), "mass matrix")
        close(b, peer.bias_force(c.q, c.v), "bias force")
        close(tau, peer.inverse_dynamics(c.q, c.v, c.vdot, c.wrenches), "inverse dynamics")
    close(gs.coriolis_matrix(c.craft, c.q, c.v) @ c.v, c.pin.bias_force(c.q, c.v), "C v")
    close(
        gs.formulations.recursive.regressor(c.craft, c.q, c.v, c.vdot), c.pin.regressor(c.q, c.v, c.vdot), "regressor"
    )


def check_momentum(c: Case) -> None:
    h, T = gs.momentum(c.craft, c.q, c.v), gs.kinetic_energy(c.craft, c.q, c.v)
    com = gs.center_of_mass(c.craft, c.q)
    for peer in each_peer(c):
        close(h, peer.momentum(c.q, c.v), "momentum")
        close(T, peer.kinetic_energy(c.q, c.v), "kinetic energy")
        close(com, peer.center_of_mass(c.q), "centre of mass")
    A = c.pin.centroidal_momentum_matrix(c.q)
    close(gs.formulations.recursive.centroidal_momentum_matrix(c.craft, c.q), A, "centroidal momentum matrix")
    close(gs.momentum(c.craft, c.q, c.v, about=com), A @ c.v, "momentum about the centre of mass")


def check_reactions(c: Case) -> None:
    F = gs.reaction_wrenches(c.craft, c.q, c.v, c.vdot, wrenches=c.wrenches)
    for peer in each_peer(c):
        close(F, peer.reaction_wrenches(c.q, c.v, c.vdot, c.wrenches), "reaction wrenches")


def check_forward_dynamics(c: Case) -> None:
    vdot = gs.forward_dynamics(c.craft, c.q, c.v, c.tau, wrenches=c.wrenches)
    backward = gs.inverse_dynamics(c.craft, c.q, c.v, vdot, wrenches=c.wrenches) - c.tau
    size = np.abs(c.tau).max() + np.abs(c.pin.bias_force(c.q, c.v)).max()
    assert np.abs(backward).max() <= 1e-12 * size
    for peer in each_peer(c):  # the peers' inverse dynamics returns tau as well
        assert np.abs(peer.inverse_dynamics(c.q, c.v, vdot, c.wrenches) - c.tau).max() <= 1e-12 * size
    tolerance = max(1e-12, 1e-15 * np.linalg.cond(c.pin.mass_matrix(c.q)))
    for peer in each_peer(c):
        close(vdot, peer.forward_dynamics(c.q, c.v, c.tau, c.wrenches), "forward dynamics", tolerance)


def check_hybrid_dynamics(c: Case, seed: int) -> None:
    """Against the partition of M vdot + bias = tau + J^T F into joints that are free (f) and that follow (p)."""
    joints = [joint for joint in c.craft.joints if joint.nv]
    follows = np.random.default_rng(seed + 4000).random(len(joints)) < 0.5
    prescribed = {j.name: c.vdot[j.v_at] for j, chosen in zip(joints, follows, strict=True) if chosen}
    p = np.concatenate([[chosen] * j.nv for j, chosen in zip(joints, follows, strict=True)])
    f = ~p
    M, b = c.pin.mass_matrix(c.q), c.pin.inverse_dynamics(c.q, c.v, 0 * c.v, c.wrenches)
    expected, tau = c.vdot.copy(), c.tau.copy()
    expected[f] = np.linalg.solve(M[np.ix_(f, f)], c.tau[f] - b[f] - M[np.ix_(f, p)] @ c.vdot[p])
    tau[p] = M[p] @ expected + b[p]
    found = gs.hybrid_dynamics(c.craft, c.q, c.v, c.tau, wrenches=c.wrenches, prescribed=prescribed)
    tolerance = max(1e-12, 1e-15 * np.linalg.cond(M))
    close(found.vdot, expected, "accelerations", tolerance)
    close(found.tau, tau, "loads", tolerance)
    assert (found.vdot[p] == c.vdot[p]).all() and (found.tau[f] == c.tau[f]).all()
    alone = gs.forward_dynamics(c.craft, c.q, c.v, c.tau, wrenches=c.wrenches, prescribed=prescribed)
    assert (alone == found.vdot).all()
