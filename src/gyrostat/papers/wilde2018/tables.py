"""What Wilde et al. (2018) print: tables 1 and 3 to 6 and the manoeuvre, as they stand there,
and what was built in their place.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...algebra import Pose, rotation_about, rotation_from_rpy
from ...control import RateProfile
from ...control.modes import MODES
from ...model import Spacecraft
from ..checks import Check, at_most
from ..serial_chain import Link
from ..tables import Entry, agreement, plain_joints

X = np.array([1.0, 0.0, 0.0])


class Properties(NamedTuple):
    """A row of tables 3 and 5: kg, m, kg m^2."""

    mass: float
    size: tuple[float, ...]  # length, width, height; length alone in table 5
    moments: tuple[float, float, float]


# Table 1: mode, is linear momentum conserved, is angular momentum
MODES_PRINTED = {
    "floating": (True, True),
    "rotation-floating": (True, True),
    "rotation-flying": (True, False),
    "translation-flying": (False, True),
    "flying": (False, False),
}
_PLANAR_LINK = Properties(2, (0.4, 0.08, 0.18), (0.0065, 0.0321, 0.0277))
# Tables 3 and 5: base first
PROPERTIES = {
    "planar": [Properties(10, (0.2, 0.2, 0.8), (0.5667, 0.5667, 0.0667)), *[_PLANAR_LINK] * 4],
    "spatial": [
        Properties(1700, (3.5,), (1434, 1434, 1735)),
        Properties(5, (0.5,), (0.0292, 0.0292, 0.0063)),
        Properties(50, (2.5,), (0.0625, 26.1, 26.1)),
        Properties(50, (2.5,), (0.0625, 26.1, 26.1)),
        Properties(10, (0.5,), (0.0125, 0.2150, 0.2150)),
        Properties(5, (0.25,), (0.0063, 0.0292, 0.0292)),
        Properties(5, (0.25,), (0.0063, 0.0292, 0.0292)),
    ],
}
# Tables 4 and 6: d [m], alpha [degrees], a [m], b [m]; the row of joint i + 1 belongs to link i
DENAVIT_HARTENBERG: dict[str, list[tuple[float, float, float, float]]] = {
    "planar": [(0, 0, 0.2, 0.2)] * 4,
    "spatial": [
        (0.25, 90, 0, 0),
        (0, 0, 1.25, 1.25),
        (0, 0, 1.25, 1.25),
        (0, -90, 0.25, 0.25),
        (0, 0, 0.125, 0.125),
        (0, 0, 0.125, 0.125),
    ],
}
# with K_P = K_D = 1, "accelerates to 0.1 rad/s for 10 s, then rests for 2 s, rotates at -0.1 rad/s for 20 s, rests
# again for 2 s, then rotates back": s, rad/s
MANOEUVRE = ((10, 0.1), (2, 0.0), (20, -0.1), (2, 0.0), (10, 0.1))
# Not printed: mount of the arm on the base, position [m] and roll, pitch, yaw [degrees]
ASSUMED_MOUNTS = {"planar": ((0.1, 0.0, 0.0), (0, 0, 0)), "spatial": ((1.75, 0.0, 0.0), (0, 90, 0))}


def chain(case: str) -> list[Link]:
    """Base and links from the numbers above alone: L_{i-1} to J_i by b along x, turned by q, then d along z,
    a along x, alpha about x to L_i.
    """
    position, angles = ASSUMED_MOUNTS[case]
    base, *links = PROPERTIES[case]
    found = [Link(base.mass, np.array(base.moments))]
    to_joint = Pose(rotation_from_rpy(np.radians(angles)), np.array(position))
    for row, (d, alpha, a, b) in zip(links, DENAVIT_HARTENBERG[case], strict=True):
        to_com = Pose(rotation_about(X, np.radians(alpha)), np.array([a, 0.0, d]))
        found.append(Link(row.mass, np.array(row.moments), to_joint, to_com))
        to_joint = Pose(np.eye(3), b * X)
    return found


def craft_checks(case: str, craft: Spacecraft) -> list[Check]:
    """The craft against its two tables, and against what was assumed where nothing is printed."""
    tables = {"planar": (3, 4), "spatial": (5, 6)}[case]
    bodies, geometry = [], []
    ends = [*(craft.joint(body.name) for body in craft.bodies[2:]), None]
    for k, (body, printed) in enumerate(zip(craft.bodies, PROPERTIES[case], strict=True)):
        R = np.eye(3) if k == 0 else rotation_about(X, np.radians(DENAVIT_HARTENBERG[case][k - 1][1]))
        bodies += [
            Entry(f"{body.name}, mass", printed.mass, body.mass),
            Entry(f"{body.name}, moments of inertia in L", np.diag(printed.moments), R.T @ body.inertia @ R),
        ]
    for body, end, (d, alpha, a, b) in zip(craft.bodies[1:], ends, DENAVIT_HARTENBERG[case], strict=True):
        X_BE = craft.frames[0].pose if end is None else Pose(end.rotation, end.position)
        geometry += [
            Entry(f"{body.name}, centre of mass: a, 0, d", (a, 0.0, d), body.com),
            Entry(f"{body.name}, next joint: a + b, 0, d", (a + b, 0.0, d), X_BE.p),
            Entry(f"{body.name}, alpha", rotation_about(X, np.radians(alpha)), X_BE.R),
        ]
    position, angles = ASSUMED_MOUNTS[case]
    mount = craft.joint(craft.bodies[1].name)
    assumed = [
        Entry("base, centre of mass", np.zeros(3), craft.bodies[0].com),
        Entry("mount, position", position, mount.position),
        Entry("mount, orientation", rotation_from_rpy(np.radians(angles)), mount.rotation),
    ]
    return [
        agreement(f"{case}: table {tables[0]}, masses and moments of inertia", bodies),
        _solids_check(case),
        agreement(f"{case}: table {tables[1]}, Denavit-Hartenberg parameters", geometry),
        agreement(f"{case}: rotary joints, nothing else in them", plain_joints(craft, "revolute")),
        agreement(f"{case}: mount of the arm", assumed, "as assumed: not in the paper"),
    ]


def _solids_check(case: str) -> Check:
    """The printed moments are those of homogeneous solids of the printed size: boxes (table 3),
    rods of radius 0.05 m (table 5).

    Link 1 of table 5 fits half its printed length, and its rod lies along z. Base of table 5: no width is printed.
    """
    worst = 0.0
    for k, row in enumerate(PROPERTIES[case]):
        if case == "planar":
            x, y, z = (edge * edge for edge in row.size)
            solid = row.mass / 12 * np.array([y + z, x + z, x + y])
        elif k == 0:
            continue
        else:
            length = row.size[0] / (2 if k == 1 else 1)
            along, across = row.mass * 0.05**2 / 2, row.mass * (3 * 0.05**2 + length**2) / 12
            solid = np.array([across, across, along] if k == 1 else [along, across, across])
        worst = max(worst, float(np.max(np.abs(solid / row.moments - 1.0))))
    shape = "boxes" if case == "planar" else "rods"
    name = f"{case}: printed moments are those of {shape} of the printed sizes, relative"
    return at_most(name, worst, 1e-2, comment="the table agrees with itself, as rounded")


def manoeuvre_checks(case: str, profile: RateProfile) -> list[Check]:
    """The reference of each joint against the words of the text."""
    entries = []
    durations, rates = np.array([row[0] for row in MANOEUVRE], dtype=float), [row[1] for row in MANOEUVRE]
    for joint in range(profile.n):
        start = joint * durations.sum()
        edges = start + np.concatenate([[0.0], np.cumsum(durations)])
        for (begin, end), rate in zip(pairwise(edges), rates, strict=True):
            asked = np.where(np.arange(profile.n) == joint, rate, 0.0)
            for t in (begin, np.nextafter(end, begin)):
                entries.append(Entry(f"reference rates at {t:g} s", asked, profile(t).qdot))
    return [agreement(f"{case}: reference of the joints", entries)]


def mode_checks() -> list[Check]:
    """Table 1 against the modes of `gs.simulate`."""
    entries = []
    for name, (linear, angular) in MODES_PRINTED.items():
        mode = MODES.get(name)
        built = (float("nan"), float("nan")) if mode is None else (not mode.force, not mode.couple)
        entries.append(Entry(f"{name}: linear, angular momentum conserved", (linear, angular), built))
    return [agreement("table 1: what each mode conserves", entries)]
