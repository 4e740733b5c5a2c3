"""Gravity of a point mass or sphere on every body of every arm:
differential gravity, gravity-gradient torque and force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, Pose, cross, norm, sqrt, transform_point
from ..kinematics import inertial_poses, mass_at
from ..model import Body, Spacecraft
from .gravity import Environment, common_span, modal_loads
from .orbit import PlanetCentered, reference_of


def differential_gravity(mu: float, r1: Array, rho: Array) -> Array:
    """g(r1 + rho) - g(r1) (3,), without the cancellation of the difference:

        q = (2 r1.rho + rho.rho) / R^2,  s = (1 + q)^(3/2),
        dg = -mu / R^3 [ rho / s - r1 (3 q + 3 q^2 + q^3) / (s (1 + s)) ]

    from 1/s - 1 = (1 - s^2) / (s (1 + s)). Relative error some 1e-15, at a millimetre as at a million kilometres.
    """
    R2 = r1 @ r1
    q = (2.0 * (r1 @ rho) + rho @ rho) / R2
    root = sqrt(1.0 + q)
    s = (1.0 + q) * root
    return -mu / (R2 * sqrt(R2)) * (rho / s - r1 * (q * (3.0 + q * (3.0 + q)) / (s * (1.0 + s))))


def gradient_torque(mu: float, r_B: Array, J_c: Array) -> Array:
    """Torque about the centre of mass, 3 mu / R^5 r x J_c r, all in one frame, (3,)."""
    R2 = r_B @ r_B
    return 3.0 * mu / (R2 * R2 * sqrt(R2)) * cross(r_B, J_c @ r_B)


def gradient_force(mu: float, r_B: Array, J_c: Array) -> Array:
    """Force of second order in size/R, besides that on a point mass:
    -3 mu/(2 R^4) [(tr J - 5 u.J u) u + 2 J u], u = r/R, (3,).
    """
    R2 = r_B @ r_B
    u = r_B / sqrt(R2)
    Ju = J_c @ u
    return -1.5 * mu / (R2 * R2) * ((np.trace(J_c) - 5.0 * (u @ Ju)) * u + 2.0 * Ju)


def two_body_gravity(orbit: Any, *, gradient_torque: bool = True, gradient_force: bool = True) -> Environment:
    """The planet as a sphere, on each body: its weight less what N's origin feels,
    and the gravity gradient over the body.

    Between the bodies of an arm the gradient acts through their positions; within each body by `gradient_torque`
    (second order) and `gradient_force` (second order too: some 1e-13 of the weight for a satellite).
    """
    place = reference_of(orbit, "two-body gravity")
    mu, torque_on, force_on = place.planet.mu, gradient_torque, gradient_force

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        r1, felt = place.state(t).r, place.perturbation(t)
        X_NB = inertial_poses(craft, q)
        return np.array([_on_body(craft, q, body, X_NB[body.name], r1, felt) for body in craft.bodies])

    def pull(p_Nc: Array, r1: Array, felt: Array) -> Array:
        if isinstance(place, PlanetCentered):
            return np.asarray(-mu / norm(p_Nc) ** 3 * p_Nc)
        return differential_gravity(mu, r1, p_Nc) - felt

    def _on_body(craft: Spacecraft, q: Array, body: Body, X_NB: Pose, r1: Array, felt: Array) -> Array:
        if body.included:  # part of its carrier's mass properties
            return np.zeros(6)
        mass, com, inertia = mass_at(craft, q, body.name)
        p_Nc = transform_point(X_NB, com)
        g_N = pull(p_Nc, r1, felt)
        r_B = X_NB.R.T @ (r1 + p_Nc)
        force = mass * (X_NB.R.T @ g_N)
        if force_on:
            force = force + _force(mu, r_B, inertia)
        torque = cross(com, force)
        if torque_on:
            torque = torque + _torque(mu, r_B, inertia)
        return np.concatenate([torque, force])

    def modal(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        r1, felt, X_NB = place.state(t).r, place.perturbation(t), inertial_poses(craft, q)

        def field(body: str) -> tuple[Array, Array | None]:
            p_Nc = transform_point(X_NB[body], mass_at(craft, q, body)[1])
            R = r1 + p_Nc
            R2 = R @ R
            slope = mu / (R2 * sqrt(R2)) * (3.0 / R2 * np.outer(R, R) - np.eye(3))
            return pull(p_Nc, r1, felt), slope if torque_on else None

        return modal_loads(craft, field, q)

    return Environment(wrenches, check=outside(place), span=common_span(place), modal=modal)


_torque, _force = gradient_torque, gradient_force


def outside(place: Any) -> Any:
    """A check that no body's centre of mass is inside the planet."""

    def check(craft: Spacecraft, t: float, q: Array) -> None:
        r, planet = place.state(t).r, place.planet
        if all(float(norm(r + root.joint.pose(q).p)) > planet.radius + 1e4 for root in craft.roots):
            return  # no arm is that long
        X_NB = inertial_poses(craft, q)
        for body in craft.bodies:
            distance = float(norm(r + transform_point(X_NB[body.name], mass_at(craft, q, body.name)[1])))
            if not distance > planet.radius:
                raise ValueError(
                    f"{craft.name}: body '{body.name}' starts {distance:.6g} m from the centre of {planet.name}, "
                    f"inside it (radius {planet.radius:.6g} m). p_NB is measured from the reference orbit, in metres."
                )

    return check
