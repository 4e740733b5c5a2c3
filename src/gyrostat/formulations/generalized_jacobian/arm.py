"""The paper's spacecraft: a base with one serial arm of rotary joints, given by a Denavit-Hartenberg table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra import Array
from ...model import Body, DHLink

ZERO3 = (0.0, 0.0, 0.0)
EYE3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Arm:
    """Base (link 0) and links 1..N, as in Tables 3 to 6 of Wilde et al. (2018).

    Joint i turns link i about z of J_i. J_i -> J_{i+1} by the standard Denavit-Hartenberg step with d_i, alpha_i and
    c_i = a_i + b_i; L_i is parallel to J_{i+1}, its origin at the centre of mass of link i. J_1 sits at b0 on the base,
    turned by R01; J_0 = L_0 sits at the base's centre of mass.
    """

    mass: Array  # (N + 1,), base first
    inertia: Array  # (N + 1, 3, 3) about each centre of mass, in L_i; that of the base in base axes
    d: Array  # (N,)
    alpha: Array  # (N,)
    a: Array  # (N,) from J_i to the centre of mass, along x of L_i
    b: Array  # (N,) from there to J_{i+1}
    b0: Array = ZERO3  # type: ignore[assignment]
    R01: Array = EYE3  # type: ignore[assignment]
    offset: Any = None  # (N, 3) of the centre of mass from where a_i puts it, in L_i; zero in the paper

    def __post_init__(self) -> None:
        n = len(np.asarray(self.d))
        shapes = {"mass": (n + 1,), "inertia": (n + 1, 3, 3), "d": (n,), "alpha": (n,), "a": (n,), "b": (n,)}
        shapes |= {"b0": (3,), "R01": (3, 3), "offset": (n, 3)}
        if self.offset is None:
            object.__setattr__(self, "offset", np.zeros((n, 3)))
        for name, shape in shapes.items():
            value = np.asarray(getattr(self, name))
            value = value if value.dtype == object else value.astype(float)
            if value.shape != shape:
                raise ValueError(
                    f"arm: {name} has shape {value.shape}; expected {shape} for the {n} links that d names."
                )
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number N of joints."""
        return len(self.d)

    @property
    def c(self) -> Array:
        """Length of the common normal, a + b, (N,)."""
        return self.a + self.b


def arm_from_table(
    base: Body, links: Sequence[DHLink], *, mount_position: Any = ZERO3, mount_rotation: Any = EYE3
) -> Arm:
    """The arm of the same arguments as `Spacecraft.from_dh` in its "wilde" convention: rotary joints, theta = q."""
    for i, link in enumerate(links, start=1):
        if link.kind != "revolute" or link.theta:
            raise ValueError(
                f"link {i}: kind is '{link.kind}', theta is {link.theta}; the paper's arm has revolute joints with "
                "theta = q. Use Spacecraft.from_dh: gs.generalized_inertia and its kin take any craft."
            )
    if np.any(base.com):
        raise ValueError(
            f"base '{base.name}': com is {base.com}; the paper's base frame sits in the centre of mass: com = 0."
        )
    parts = [Body("", inertia=link.inertia).inertia for link in links]
    return Arm(
        mass=np.array([base.mass, *(link.mass for link in links)]),
        inertia=np.array([base.inertia, *parts]),
        d=np.array([link.d for link in links]),
        alpha=np.array([link.alpha for link in links]),
        a=np.array([link.a for link in links]),
        b=np.array([link.b for link in links]),
        b0=mount_position,
        R01=mount_rotation,
        offset=np.array([link.com for link in links], dtype=float).reshape(len(links), 3),
    )
