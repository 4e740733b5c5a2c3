"""Flexible bodies: lumps on nodes, shapes that vanish at the body's own frame, and what resists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..algebra import Array, RigidInertia, is_symbolic
from .findings import nearest
from .invariants import Invariants, invariants
from .kinds import Modal
from .nodes import Mount, Node
from .parts import Body, Given, Joint, Shape, _set, array

ROTARY = {"points": "six mass points each, right to second order", "exact": "as they are, at a cost for each"}
TERMS = {"all": "all products of shapes", "leading": "those of second order in the kinetic energy, at less cost"}
ORTHOGONAL = 1e-3  # of the modal masses: beyond that, frequencies alone do not say how stiff the body is


@dataclass(frozen=True, eq=False)
class Modes(Joint):
    """The modal coordinates of a flexible body, as the craft's list of joints has them: named "array.modes", their
    entries "array.mode_1". They move nodes of the body, never its frame.
    """

    body: str = ""
    K: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    D: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    def __post_init__(self) -> None:
        """Nothing to settle: the flexible body did."""

    @property
    def motion(self) -> Modal:
        return Modal(len(self.K))

    @property
    def nq(self) -> int:
        return len(self.K)

    @property
    def nv(self) -> int:
        return len(self.K)

    @property
    def q_names(self) -> tuple[str, ...]:
        return tuple(f"{self.body}.{part}" for part in self.motion.q_labels)

    @property
    def v_names(self) -> tuple[str, ...]:
        return self.q_names

    def elastic_energy(self, e: Array) -> Any:
        """1/2 e^T K e, in J."""
        return 0.5 * (e @ (self.K @ e))

    def elastic_load(self, e: Array, ed: Array) -> Array:
        """-K e - D ed, (n,)."""
        return -(self.K @ e) - self.D @ ed


class Clamped(NamedTuple):
    """Modes of the body alone, held at its frame: frequencies in Hz (n,), and the shapes in columns (n, n), of modal
    mass one.
    """

    frequencies: Array
    vectors: Array


@dataclass(frozen=True, eq=False)
class FlexibleBody:
    """A body that bends: node i is at r_i + Phi_i e + 1/2 e^T G_i e, turned by exp(Psi_i e), e the modal coordinates.

    nodes: `Node`s with lumped masses and inertias. Its own frame is its joint's, where every shape vanishes.
    translations, rotations: Phi, Psi (nodes, 3, n). second_order: G (nodes, 3, n, n), symmetric in the last two: how
    far bending pulls nodes in (geometric stiffening); None for none.
    stiffness: K (n, n) or its diagonal; or frequencies: of the clamped body, in Hz, one for each mode, where modes are
    orthogonal: K_kk = M_kk (2 pi f_k)^2.
    damping: D (n, n) or its diagonal; or damping_ratios: one, or one for each mode: D_kk = 2 zeta_k sqrt(K_kk M_kk).
    rotary: how the lumps' own inertias count: "points" (the default) or "exact"; see `ROTARY`.
    terms: what of second-order shapes counts in the kinetic energy: "all" (the default) or "leading"; see `TERMS`.
    lines: pairs of names of nodes that are drawn joined. interfaces: nodes whose unit motions are among the shapes
    (Craig and Bampton's), so that they may carry anything.

    Its centre of mass and inertia depend on its shape: `undeformed` has them where it is straight. q_at, v_at: where
    its modal coordinates stand, after those of its joint; set by `Spacecraft.build`.
    """

    name: str
    nodes: Sequence[Node]
    translations: Given
    rotations: Given = None
    second_order: Given = None
    stiffness: Given = None
    frequencies: Given = None
    damping_ratios: Given = None
    damping: Given = None
    joint: Joint = field(default_factory=lambda: Joint("base", "free"))
    rotary: str = "points"
    terms: str = "all"
    shapes: tuple[Shape, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    interfaces: tuple[str, ...] = ()
    q_at: slice = field(default_factory=lambda: slice(0, 0), repr=False)
    v_at: slice = field(default_factory=lambda: slice(0, 0), repr=False)

    included = False  # of no body's mass properties

    def __post_init__(self) -> None:
        what = f"flexible body '{self.name}'"
        given: Any = self.joint
        if not isinstance(given, Joint):
            raise TypeError(f"{what}: joint is {given!r}; expected a gs.Joint. Leave it out for a base that is free.")
        _set(self, "nodes", _nodes(self.nodes, what))
        shapes = np.shape(self.translations)
        if len(shapes) != 3 or shapes[2] == 0:
            raise ValueError(f"{what}: translations has shape {shapes}; expected (nodes, 3, modes), one mode or more.")
        count, n = len(self.nodes), shapes[2]
        _set(self, "translations", array(self.translations, (count, 3, n), f"{what}: translations"))
        rotations = np.zeros((count, 3, n)) if self.rotations is None else self.rotations
        _set(self, "rotations", array(rotations, (count, 3, n), f"{what}: rotations"))
        if self.second_order is not None:
            _set(self, "second_order", array(self.second_order, (count, 3, n, n), f"{what}: second_order"))
        _set(self, "lines", tuple((a, b) for a, b in self.lines))
        _set(self, "interfaces", tuple(self.interfaces))
        for name in (*(name for pair in self.lines for name in pair), *self.interfaces):
            self.node(name)
        if self.rotary not in ROTARY:
            raise ValueError(f"{what}: rotary is '{self.rotary}'. {nearest(self.rotary, ROTARY)}")
        if self.terms not in TERMS:
            raise ValueError(f"{what}: terms is '{self.terms}'. {nearest(self.terms, TERMS)}")
        self._settle_stiffness(what)
        self._settle_damping(what)

    def _settle_stiffness(self, what: str) -> None:
        if (self.stiffness is None) == (self.frequencies is None):
            have = "both" if self.stiffness is not None else "neither"
            raise ValueError(f"{what}: {have} of stiffness and frequencies is given; expected one of them.")
        if self.stiffness is not None:
            K = np.asarray(self.stiffness)
            _set(self, "stiffness", array(np.diag(K) if K.ndim == 1 else K, (self.n, self.n), f"{what}: stiffness"))
            return
        f = array(self.frequencies, (self.n,), f"{what}: frequencies")
        if not is_symbolic(f) and not (np.isfinite(f) & (f >= 0)).all():
            raise ValueError(f"{what}: frequencies are {f.tolist()} Hz; expected finite numbers, zero or more.")
        M = self.modal_mass
        scale = np.sqrt(np.abs(np.outer(np.diag(M), np.diag(M)))) + 1e-300
        off = np.abs(M / scale - np.diag(np.diag(M / scale)))
        if off.max(initial=0.0) > ORTHOGONAL:
            k, l = np.unravel_index(off.argmax(), off.shape)
            raise ValueError(
                f"{what}: modes {k + 1} and {l + 1} are not orthogonal: their modal mass is {M[k, l]:.4g} beside "
                f"{M[k, k]:.4g} and {M[l, l]:.4g}, so frequencies alone do not say how stiff the body is. Give "
                "stiffness=K (n, n), or modes that are orthogonal in the lumps' masses."
            )
        _set(self, "stiffness", array(np.diag(np.diag(M) * (2.0 * np.pi * f) ** 2), (self.n, self.n), what))
        _set(self, "frequencies", None)

    def _settle_damping(self, what: str) -> None:
        if self.damping is not None and self.damping_ratios is not None:
            raise ValueError(f"{what}: both damping and damping_ratios are given; expected one of them, or none.")
        if self.damping is not None:
            D = np.asarray(self.damping)
            _set(self, "damping", array(np.diag(D) if D.ndim == 1 else D, (self.n, self.n), f"{what}: damping"))
            return
        ratios = 0.0 if self.damping_ratios is None else self.damping_ratios
        zeta = array(np.broadcast_to(ratios, (self.n,)), (self.n,), f"{what}: damping_ratios")
        if not (np.isfinite(zeta) & (zeta >= 0)).all():
            raise ValueError(f"{what}: damping_ratios are {zeta.tolist()}; expected finite numbers, zero or more.")
        K, M = np.diag(self.stiffness), np.diag(self.modal_mass)
        root = np.array([2.0 * z * np.sqrt(k * m) if z else 0.0 for z, k, m in zip(zeta, K, M, strict=True)])
        _set(self, "damping", array(np.diag(root), (self.n, self.n), what))
        _set(self, "damping_ratios", None)

    # ---- structure

    def __repr__(self) -> str:
        return f"<FlexibleBody {self.name}: {len(self.nodes)} nodes, {self.n} modes, {self.mass:.6g} kg>"

    @property
    def n(self) -> int:
        """Number of modes."""
        return int(self.translations.shape[2])

    @property
    def parent(self) -> str | None:
        return self.joint.parent

    @property
    def modes(self) -> Modes:
        """Its modal coordinates, as the craft's list of joints has them."""
        return Modes(
            f"{self.name}.modes",
            "modal",
            self.name,
            driven=False,
            q_at=self.q_at,
            v_at=self.v_at,
            body=self.name,
            K=self.stiffness,
            D=self.damping,
        )

    def node(self, name: str) -> int:
        """Which of the nodes has that name."""
        names = [node.name for node in self.nodes]
        if name not in names:
            raise ValueError(f"flexible body '{self.name}' has no node '{name}'. {nearest(name, names)}")
        return names.index(name)

    def mount(self, name: str) -> Mount:
        """The node of that name as what sits on it sees it."""
        return self.mounts[self.node(name)]

    @cached_property
    def mounts(self) -> tuple[Mount, ...]:
        G = (
            [None] * len(self.nodes)
            if self.second_order is None
            else [g if g.any() else None for g in self.second_order]
        )
        parts = zip(self.nodes, self.translations, self.rotations, G, strict=True)
        return tuple(Mount(node.position, Phi, Psi, g, self.q_at, self.v_at) for node, Phi, Psi, g in parts)

    # ---- mass

    @cached_property
    def invariants(self) -> Invariants:
        return invariants(tuple(self.nodes), self.mounts, self.rotary, self.terms)

    @cached_property
    def mass(self) -> float:
        return float(sum(node.mass for node in self.nodes))

    @cached_property
    def undeformed(self) -> RigidInertia:
        """Mass, first moment and inertia about Bo where nothing is bent."""
        total = RigidInertia(0.0, np.zeros(3), np.zeros((3, 3)))
        for node in self.nodes:
            total = total + node.rigid
        return total

    @cached_property
    def modal_mass(self) -> Array:
        """M_ff (n, n) where nothing is bent."""
        parts = zip(self.nodes, self.translations, self.rotations, strict=True)
        return np.asarray(sum(node.mass * Phi.T @ Phi + Psi.T @ node.inertia @ Psi for node, Phi, Psi in parts))

    @cached_property
    def coupling(self) -> Array:
        """M_rf (6, n) where nothing is bent: momentum [angular about Bo; linear] of unit modal rates."""
        total: Any = np.zeros((6, self.n))
        for node, Phi, Psi in zip(self.nodes, self.translations, self.rotations, strict=True):
            lever = node.mass * np.cross(node.position[:, None], Phi, axis=0) + node.inertia @ Psi
            total = total + np.concatenate([lever, node.mass * Phi])
        return np.asarray(total)

    @cached_property
    def clamped(self) -> Clamped:
        """Of the body alone, held at its frame."""
        L = np.linalg.cholesky(self.modal_mass)
        A = np.linalg.solve(L, np.linalg.solve(L, self.stiffness).T)
        values, U = np.linalg.eigh(0.5 * (A + A.T))
        return Clamped(np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi), np.linalg.solve(L.T, U))

    @property
    def com(self) -> NoReturn:
        raise ValueError(bends(self.name, "centre of mass", "gs.center_of_mass(craft, q)"))

    @property
    def inertia(self) -> NoReturn:
        raise ValueError(bends(self.name, "inertia", "gs.mass_matrix(craft, q)"))


def joints_of(body: Body) -> tuple[Joint, ...]:
    """Its joint, and the modes of a flexible one."""
    part: Any = body
    return (body.joint, part.modes) if isinstance(part, FlexibleBody) else (body.joint,)


def bends(name: str, what: str, instead: str) -> str:
    """Why a flexible body has no such thing, and what there is."""
    return (
        f"body '{name}' is flexible: its {what} depends on its shape, which what was asked for does not allow for. "
        f"Flexible bodies have {instead} and its kin, and `undeformed`."
    )


def _nodes(given: Any, what: str) -> tuple[Node, ...]:
    nodes = tuple(given)
    if not nodes or not all(isinstance(node, Node) for node in nodes):
        raise TypeError(f"{what}: nodes are {nodes!r:.80}; expected one gs.Node or more.")
    names = [node.name for node in nodes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{what}: node '{twice[0]}' stands twice. Rename one of them.")
    return nodes
