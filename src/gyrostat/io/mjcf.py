"""MJCF files, compiled by the optional package `mujoco` and taken over body by body."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra import Pose, compose, rotation, rotation_about
from ..model import Body, Frame, Joint, Limits, Shape, Spacecraft, nearest
from ..model.names import name_of
from .assemble import assemble
from .mjcf_compile import compiled, turned
from .mjcf_shapes import shape_of_geom
from .mjcf_text import prepare
from .report import Report, fail
from .urdf import UNBOUNDED

FREE, BALL, SLIDE, HINGE = range(4)  # MuJoCo's joint types


def read_mjcf(data: bytes, file: str, *, base: str | None = None, mesh_roots: tuple[Path, ...] = ()) -> Spacecraft:
    """The spacecraft in an MJCF document; `base` replaces the kind of the base's joint."""
    model = _Model(data, file, mesh_roots)
    free = [b for b in model.roots if model.joint_types(b) == [FREE]]
    moving = [b for b in model.roots if b not in free and model.moves(b)]
    if len(free) > 1 or (free and moving):
        listed = ", ".join(f"'{model.name(b)}'" for b in free + moving)
        raise fail(
            "several-roots",
            file,
            f"holds {len(free) + len(moving)} separate spacecraft: {listed}.",
            "Load them with gs.load_formation, which returns them by name.",
        )
    roots = free or model.roots
    for b in model.roots:
        if b not in roots:
            message = "is fixed on the world: left out, it takes no part in the motion."
            place = f"body '{model.name(b)}'"
            file_, line = model.prepared.elements.get(place, (file, None))
            model.report.note("scenery", place, message, "", line, file_)
    return model.spacecraft(roots, base)


def read_mjcf_formation(data: bytes, file: str, *, mesh_roots: tuple[Path, ...] = ()) -> dict[str, Spacecraft]:
    """Every moving root of the document as a spacecraft of its own, by its name."""
    model = _Model(data, file, mesh_roots)
    moving = [b for b in model.roots if model.moves(b)]
    return {model.name(b): model.spacecraft([b], None) for b in moving}


class _Model:
    """MuJoCo's compiled model, seen as spacecraft."""

    def __init__(self, data: bytes, file: str, mesh_roots: tuple[Path, ...]) -> None:
        self.report, self.file = Report(file), file
        self.prepared = prepare(data, file, self.report, mesh_roots)
        self.report.raise_errors()
        self.m, self.own_inertia = compiled(self.prepared, file, self.report)
        m = self.m
        self.children: dict[int, list[int]] = {b: [] for b in range(m.nbody)}
        for b in range(1, m.nbody):
            self.children[int(m.body_parentid[b])].append(b)
        self.roots = self.children[0]
        if not self.roots:
            raise fail("no-body", file, "<worldbody> has no <body>; expected at least one.")
        self.names = self._unique_names()
        self._check_motors()
        self.geoms: dict[int, list[int]] = {}
        for g in range(m.ngeom):
            self.geoms.setdefault(int(m.geom_bodyid[g]), []).append(g)
        self.sites: dict[int, list[int]] = {}
        for s in range(m.nsite):
            self.sites.setdefault(int(m.site_bodyid[s]), []).append(s)

    def _check_motors(self) -> None:
        joints = [self.m.jnt(j).name for j in range(self.m.njnt)]
        for name, (file, line) in self.prepared.motors.items():
            if name not in joints:
                message = f"its joint '{name}' is none of the file's: no joint is driven by it."
                self.report.warning("actuator-joint", "<actuator>", message, nearest(name, joints), line, file)

    def _unique_names(self) -> dict[int, str]:
        names: dict[int, str] = {}
        taken = {self.m.body(b).name for b in range(self.m.nbody)}
        for b in range(self.m.nbody):
            name = self.m.body(b).name
            while not name or (b and name == "world"):
                candidate = f"body_{b}" if not name else name + "_"
                name = candidate if candidate not in taken else f"{candidate}_"
                taken.add(name)
            names[b] = name
        return names

    def name(self, b: int) -> str:
        return self.names[b]

    def joint_ids(self, b: int) -> range:
        first = int(self.m.body_jntadr[b])
        return range(first, first + int(self.m.body_jntnum[b])) if first >= 0 else range(0)

    def joint_types(self, b: int) -> list[int]:
        return [int(self.m.jnt_type[j]) for j in self.joint_ids(b)]

    def moves(self, b: int) -> bool:
        return any(self.joint_ids(x) for x in self._subtree(b))

    def _subtree(self, b: int) -> list[int]:
        found, stack = [], [b]
        while stack:
            found.append(stack.pop())
            stack.extend(reversed(self.children[found[-1]]))
        return found

    # ---- taking over

    def spacecraft(self, roots: list[int], base: str | None) -> Spacecraft:
        """The tree below `roots`. One free or jointless root is the base; otherwise the world is, and is fixed."""
        bodies: list[Body] = []
        frames: list[Frame] = []
        offset = {0: np.zeros(3)}
        alone = len(roots) == 1 and self.joint_types(roots[0]) in ([], [FREE])
        kind = "fixed"
        if not alone:
            bodies.append(Body("world", joint=Joint("world_fixed", "fixed")))
        for root in roots:
            for b in self._subtree(root):
                bodies += self._taken_over(b, offset, root if alone else None)
                frames += [self._frame(s, b, offset[b]) for s in self.sites.get(b, [])]
        if alone and self.joint_types(roots[0]) == [FREE]:
            kind = "free"
        own = self.prepared.name or name_of(Path(self.file))
        name = self.name(roots[0]) if alone and len(self.roots) > 1 else own
        report = Report(self.file)
        report.findings = list(self.report.findings)
        return assemble(
            report, name, bodies, base or kind, self.prepared.elements, tuple(self._renamed(frames, bodies))
        )

    def _renamed(self, frames: list[Frame], bodies: list[Body]) -> list[Frame]:
        taken = {body.name for body in bodies}
        result = []
        for frame in frames:
            name = frame.name
            while name in taken:
                name += "_site"
            taken.add(name)
            result.append(replace(frame, name=name))
        return result

    def _frame(self, s: int, b: int, offset: Any) -> Frame:
        m = self.m
        return Frame(m.site(s).name or f"site_{s}", self.name(b), m.site_pos[s] - offset, rotation(m.site_quat[s]))

    def _taken_over(self, b: int, offset: dict[int, Any], base: int | None) -> list[Body]:
        """MuJoCo body b as a chain of bodies, one per joint, all but the last massless.

        MuJoCo turns a body about anchors a_k given in its own frame, from the pose where its coordinates are `ref`:

            X_PB = X_0 prod_k T(a_k) Q_k(q_k - ref_k) T(-a_k)                                  (1)

        so joint k sits at T(a_k - a_{k-1}) Q_k(-ref_k) on the one before, and our body frame at the last anchor.
        """
        m, name = self.m, self.name(b)
        mass, com, inertia = self._mass_properties(b)
        X_0 = Pose(rotation(m.body_quat[b]), np.array(m.body_pos[b]) - offset[int(m.body_parentid[b])])
        joints = list(self.joint_ids(b))
        if b == base:
            offset[b] = np.zeros(3)
            label = (m.jnt(joints[0]).name or "base") if joints else "base"
            armature = float(m.dof_armature[m.jnt_dofadr[joints[0]]]) if joints else 0.0
            return [
                Body(
                    name,
                    mass,
                    com,
                    inertia,
                    Joint(label, "free" if joints else "fixed", rotor_inertia=armature),
                    self._shapes(b, offset[b]),
                )
            ]
        parent = self.name(int(m.body_parentid[b]))
        if not joints:
            offset[b] = np.zeros(3)
            joint = Joint(f"{name}_fixed", "fixed", parent, X_0.p, X_0.R)
            return [Body(name, mass, com, inertia, joint, self._shapes(b, offset[b]))]
        chain: list[Body] = []
        anchor = np.zeros(3)
        for k, j in enumerate(joints):
            a = anchor if m.jnt_type[j] == SLIDE else np.array(m.jnt_pos[j])
            before = X_0 if k == 0 else Pose(np.eye(3), np.zeros(3))
            X_PJ = compose(before, Pose(np.eye(3), a - anchor))
            joint = self._joint(j, k, name, parent, X_PJ)
            anchor = a
            parent = name if k == len(joints) - 1 else f"{name}/{joint.name}"
            chain.append(Body(parent, joint=joint))
        offset[b] = anchor
        if anchor.any():
            message = (
                f"its joint is {np.linalg.norm(anchor):.6g} m off its MJCF origin: its frame sits at the joint here."
            )
            self.report.note("frame-moved", f"body '{name}'", message)
        chain[-1] = replace(chain[-1], mass=mass, com=com - anchor, inertia=inertia, shapes=self._shapes(b, anchor))
        return chain

    def _mass_properties(self, b: int) -> tuple[float, Any, Any]:
        m = self.m
        if b in self.own_inertia:
            return self.own_inertia[b]
        inertia = turned(m.body_iquat[b], np.diag(m.body_inertia[b]))
        if m.body_mass[b] == 0.0 and inertia.any():
            place = f"body '{self.name(b)}'"
            file, line = self.prepared.elements.get(place, (self.file, None))
            message = "has inertia but no mass: it turns as if it were heavy and moves as if it were nothing."
            self.report.warning("no-mass", place, message, "Give it its mass, or leave the inertia out.", line, file)
        return float(m.body_mass[b]), np.array(m.body_ipos[b]), inertia

    def _joint(self, j: int, k: int, body: str, parent: str, X_PJ: Pose) -> Joint:
        m, type_ = self.m, int(self.m.jnt_type[j])
        name = m.jnt(j).name or (f"{body}_joint" if k == 0 else f"{body}_joint_{k + 1}")
        axis, at_q, at_v = np.array(m.jnt_axis[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        rest, lower, upper = 0.0, -np.inf, np.inf
        if type_ in (HINGE, SLIDE):
            ref = float(m.qpos0[at_q])
            rest = float(m.qpos_spring[at_q])
            if ref:
                back = Pose(rotation_about(axis, -ref), np.zeros(3)) if type_ == HINGE else Pose(np.eye(3), -ref * axis)
                X_PJ = compose(X_PJ, back)
            if m.jnt_limited[j]:
                lower, upper = (
                    float(x) if abs(x) < UNBOUNDED else float(np.copysign(np.inf, x)) for x in m.jnt_range[j]
                )
        elif m.jnt_limited[j]:
            self.report.note("limits-ignored", f"joint '{name}'", "the range of a ball joint is not kept.")
        effort = float(np.abs(m.jnt_actfrcrange[j]).max()) if m.jnt_actfrclimited[j] else np.inf
        return Joint(
            name,
            {BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}[type_],
            parent,
            X_PJ.p,
            X_PJ.R,
            axis,
            limits=Limits(lower, upper, effort=effort),
            stiffness=float(np.ravel(m.jnt_stiffness[j])[0]),
            rest=rest,
            damping=float(np.ravel(m.dof_damping[at_v])[0]),
            friction=float(m.dof_frictionloss[at_v]),
            rotor_inertia=float(m.dof_armature[at_v]),
            driven=name in self.prepared.motors if self.prepared.motors else None,
        )

    def _shapes(self, b: int, offset: Any) -> tuple[Shape, ...]:
        shapes = []
        for g in self.geoms.get(b, []):
            shape = shape_of_geom(self.m, g, self.prepared)
            if shape is not None:
                shapes.append(replace(shape, position=tuple((np.asarray(shape.position) - offset).tolist())))
        return tuple(shapes)
