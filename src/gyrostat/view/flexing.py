"""What flexible bodies did over time: modal coordinates, the frequency at which each rings most, and deflections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra import Array
from ..model import FlexibleBody
from .panels import Panel

if TYPE_CHECKING:
    from ..simulation import Trajectory

FEWEST, FEWEST_SWINGS = 32, 3  # saved times, and swings in them, that a frequency is told from


def flexible_panels(trajectory: Trajectory) -> list[Panel]:
    """For each flexible body its modal coordinates, and how far its farthest node is from where it is when straight."""
    craft, found = trajectory.craft, []
    for part in craft.bodies:
        body = craft.flexible(part.name)
        if body is None:
            continue
        e = trajectory.q[..., body.q_at]
        rings = dominant_frequencies(trajectory.time, e)
        names = [f"mode {k + 1}" + (f", mostly {f:.3g} Hz" if np.isfinite(f) else "") for k, f in enumerate(rings)]
        found.append(Panel(f"Modal coordinates of {body.name}", "", e, tuple(names)))
        far, deflection = deflections(body, e)
        label = f"node {body.nodes[far].name}"
        found.append(Panel(f"Deflection of {body.name}", "m", deflection[..., None], (label,)))
    return found


def deflections(body: FlexibleBody, e: Array) -> tuple[int, Array]:
    """Which node is farthest from the body's frame (of stations, which have no mass, where there are any), and its
    distance (...) in m from its place when straight.
    """
    stations = [k for k, node in enumerate(body.nodes) if not node.mass] or range(len(body.nodes))
    far = max(stations, key=lambda k: float(body.nodes[k].position @ body.nodes[k].position))
    moved = np.einsum("xk,...k->...x", body.translations[far], e)
    if body.second_order is not None:
        moved = moved + 0.5 * np.einsum("xkl,...k,...l->...x", body.second_order[far], e, e)
    return far, np.linalg.norm(moved, axis=-1)


def dominant_frequencies(time: Array, values: Array) -> Array:
    """Of each line of ([runs,] times, lines): where its spectrum is largest, in Hz; NaN where times are uneven or few,
    lines still, or ends not reached. A parabola through the logarithms about the largest sample refines it.
    """
    rows = values.reshape(-1, *values.shape[-2:])[0]
    found = np.full(rows.shape[-1], np.nan)
    steps = np.diff(time)
    if len(time) < FEWEST or np.ptp(steps) > 1e-6 * steps.max():
        return found
    window = np.hanning(len(time))
    for k, line in enumerate(rows.T):
        if not np.isfinite(line).all() or np.ptp(line) == 0.0:
            continue
        size = np.abs(np.fft.rfft((line - line.mean()) * window))
        top = int(np.argmax(size[1:])) + 1
        shift = 0.0
        if top < FEWEST_SWINGS:
            continue
        if top < len(size) - 1:
            a, b, c = np.log(np.maximum(size[top - 1 : top + 2], 1e-300))
            shift = 0.5 * (a - c) / (a - 2.0 * b + c) if a - 2.0 * b + c else 0.0
        found[k] = (top + shift) / (len(time) * steps.mean())
    return found
