"""The spacecraft: a tree of bodies, immutable, validated when built. It stores what was given and nothing derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..algebra import Array, Pose, RigidInertia, rigid_inertia
from .denavit_hartenberg import DHLink, arm_from_dh
from .findings import Finding, ModelError, nearest
from .flexible import FlexibleBody, bends, joints_of
from .members import Member, Membership, members_of, whole
from .named import coordinates, rates, wrenches
from .parameters import names, replaced, value_of
from .parts import Body, Frame, Joint, Thruster
from .places import on_nodes
from .roles import Role, role_of
from .validation import order, unnamed, validate


@dataclass(frozen=True, eq=False)
class Spacecraft:
    """Bodies in base-to-tip order (each after its parent, branch by branch, then the wheels as given), frames and
    thrusters.

    Use `Spacecraft.build` or `gs.load`; both validate. `findings` holds the warnings and notes they made. `memberships`
    says which part of it is which spacecraft, where `gs.together` put several into one; see `members`.
    """

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...] = ()
    thrusters: tuple[Thruster, ...] = ()
    findings: tuple[Finding, ...] = ()
    source: str = ""
    memberships: tuple[Membership, ...] = ()

    @classmethod
    def build(
        cls,
        name: str,
        bodies: Iterable[Body | FlexibleBody],
        *,
        frames: Iterable[Frame] = (),
        thrusters: Iterable[Thruster] = (),
        findings: Iterable[Finding] = (),
        source: str = "",
        memberships: Iterable[Membership] = (),
    ) -> Spacecraft:
        """A validated spacecraft. The body without a parent is the base; bodies may come in any order.

        Joints, frames and thrusters sit on a node of a flexible body by the name "body.node".

        Raises `ModelError`, a ValueError that says what was found, what was expected and how to mend it.
        """
        memberships = tuple(memberships)
        placed, frames, thrusters = on_nodes(tuple(bodies), tuple(frames), tuple(thrusters))
        ordered, found = order(placed)
        if not found:
            found = unnamed("spacecraft", name) + validate(ordered, frames, thrusters, memberships)
        found = [replace(f, file=f.file or source) for f in found]
        everything = (*findings, *found)
        if any(f.level == "error" for f in everything):
            raise ModelError(everything)
        return cls(name, laid_out(ordered), frames, thrusters, everything, source, memberships)

    @classmethod
    def from_dh(
        cls,
        name: str,
        base: Body,
        links: Sequence[DHLink],
        *,
        convention: str = "wilde",
        mount_position: Any = (0.0, 0.0, 0.0),
        mount_rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        tool: str = "tool",
        tool_position: Any = (0.0, 0.0, 0.0),
        tool_rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ) -> Spacecraft:
        """A serial arm on a base, from a Denavit-Hartenberg table: one `DHLink` per row.

        convention: "wilde" (standard, links cut by their centres of mass) or "modified" (Craig); see
        `denavit_hartenberg`.
        mount_*: where the table starts, on the base. tool_*: the end effector's frame, from the last frame of the
        table.
        """
        mount = Frame("mount", base.name, mount_position, mount_rotation).pose
        end = Frame(tool, base.name, tool_position, tool_rotation).pose
        bodies, frame = arm_from_dh(links, base.name, convention, mount, tool, end)
        return cls.build(name, [base, *bodies], frames=[frame])

    # ---- layout

    @cached_property
    def nq(self) -> int:
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @property
    def nbodies(self) -> int:
        return len(self.bodies)

    @cached_property
    def base_to_tip(self) -> tuple[tuple[str, str | None], ...]:
        """(body, parent) names, parents first; the base's parent is None, the inertial frame."""
        return tuple((body.name, body.parent) for body in self.bodies)

    @property
    def base(self) -> str:
        return self.bodies[0].name

    def base_of(self, body: str) -> str:
        """The base of the member that the body belongs to."""
        part, roots = self.body(body), {root.name for root in self.roots}
        while part.name not in roots and part.parent is not None:
            part = self.body(part.parent)
        return part.name

    @cached_property
    def _by_name(self) -> dict[str, Body]:
        return {body.name: body for body in self.bodies}

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def index(self, body: str) -> int:
        """Row of `body` in arrays of shape (nbodies, ...)."""
        return self.bodies.index(self.body(body))

    def body(self, name: str) -> Body:
        if name not in self._by_name:
            raise ValueError(f"{self.name} has no body '{name}'. {nearest(name, self._by_name)}")
        return self._by_name[name]

    def joint(self, body: str) -> Joint:
        """The joint that moves `body` on its parent."""
        return self._by_name[body].joint

    def joint_named(self, name: str) -> Joint:
        if name not in self._joints:
            raise ValueError(f"{self.name} has no joint '{name}'. {nearest(name, self._joints)}")
        return self._joints[name]

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """In the order of `bodies`, the base's first; the modes of a flexible body follow its joint. q and v hold their
        coordinates and rates in this order.
        """
        return tuple(joint for body in self.bodies for joint in joints_of(body))

    def flexible(self, body: str) -> FlexibleBody | None:
        """The body of that name if it is flexible."""
        part: Any = self._by_name[body]
        return part if isinstance(part, FlexibleBody) else None

    @cached_property
    def bends(self) -> bool:
        """One of its bodies or more is flexible."""
        return any(self.flexible(body.name) for body in self.bodies)

    @property
    def wheels(self) -> tuple[Body, ...]:
        return tuple(body for body in self.bodies if body.joint.motion.spins)

    # ---- what moves each coordinate, and whose it is

    @cached_property
    def roots(self) -> tuple[Body, ...]:
        """The body that connects each spacecraft of the model to inertial space: the base, or one for each member."""
        return tuple(self.body(m.base) for m in self.memberships) or self.bodies[:1]

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """What moves each entry of v."""
        roots = {body.name for body in self.roots}
        return tuple(role for b in self.bodies for j in joints_of(b) for role in [role_of(j, b.name in roots)] * j.nv)

    def at(self, *roles: Role | str) -> Array:
        """Places in v of the coordinates that have one of these roles, ascending."""
        for role in roles:
            if role not in list(Role):
                raise ValueError(f"'{role}' is no role. {nearest(str(role), list(Role))}")
        return np.array([k for k, role in enumerate(self.roles) if role in roles], dtype=int)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The spacecraft that `gs.together` put into this model, in their order; empty for one that stands alone."""
        return members_of(self)

    def member(self, name: str) -> Member:
        """The member of that name; a spacecraft that stands alone is the one member of itself."""
        known = self.members or (whole(self),)
        for member in known:
            if member.name == name:
                return member
        raise ValueError(f"{self.name} has no member '{name}'. {nearest(name, (m.name for m in known))}")

    def thruster(self, name: str) -> Thruster:
        for thruster in self.thrusters:
            if thruster.name == name:
                return thruster
        raise ValueError(f"{self.name} has no thruster '{name}'. {nearest(name, (t.name for t in self.thrusters))}")

    def locate(self, name: str) -> tuple[str, Pose]:
        """Body and pose X_BF of a frame, or of a body by its own name."""
        if name in self._by_name:
            return name, Pose(np.eye(3), np.zeros(3))
        if name not in self._frames:
            known = [*self._by_name, *self._frames]
            raise ValueError(f"{self.name} has no body or frame '{name}'. {nearest(name, known)}")
        frame = self._frames[name]
        return frame.body, frame.pose

    # ---- mass properties

    @cached_property
    def _included(self) -> dict[str, list[str]]:
        carried: dict[str, list[str]] = {}
        for body in self.bodies:
            if body.included and body.parent is not None:
                carried.setdefault(body.parent, []).append(body.name)
        return carried

    def included_wheels(self, body: str) -> tuple[str, ...]:
        """Names of the wheels whose inertia is counted in the body's own mass properties."""
        return tuple(self._included.get(body, ()))

    def inertia(self, body: str) -> RigidInertia:
        """Spatial inertia of a body about its origin, in its axes; wheels that it includes are taken out of it."""
        B = self._by_name[body]
        if self.flexible(body):
            raise ValueError(bends(body, "inertia", "gs.mass_matrix(craft, q)"))
        M = rigid_inertia(B.mass, B.com, B.inertia)
        for wheel in self.included_wheels(body):
            R, I = self._by_name[wheel].joint.rotation, self._by_name[wheel].inertia
            M = M._replace(I_o=M.I_o - R @ I @ R.T)
        return M

    # ---- arrays by name

    def q(self, values: Any) -> Array:
        """q (nq,) from coordinates by joint name, {"elbow": 0.3}; the other joints are neutral.

        A free joint takes seven numbers or a Pose. Values may have leading axes, one for the runs of a batch, say. An
        array is q already.
        """
        return coordinates(self, values) if isinstance(values, Mapping) else values

    def v(self, values: Any, what: str = "v") -> Array:
        """v (nv,), or vdot, tau, dv, from rates or loads by joint or wheel name, {"elbow": 0.1}; zero elsewhere. An
        array is v already.
        """
        return rates(self, values, what) if isinstance(values, Mapping) else values

    def wrenches(self, values: Any) -> Array:
        """Wrenches (nbodies, 6) from [torque; force] by body name, {"hull": ...}, in B about Bo; zero elsewhere.

        By the name of a frame: in its axes about its origin. An array is the rows already, in the order of `bodies`.
        """
        return wrenches(self, values) if isinstance(values, Mapping) else values

    def q_by_name(self, q: Array) -> dict[str, Array]:
        """Coordinates (..., nq of the joint) of each joint that has some."""
        return {joint.name: q[..., joint.q_at] for joint in self.joints if joint.nq}

    def v_by_name(self, v: Array) -> dict[str, Array]:
        """Rates, accelerations or loads (..., nv of the joint) of each joint and wheel that moves."""
        return {joint.name: v[..., joint.v_at] for joint in self.joints if joint.nv}

    def by_body(self, rows: Array) -> dict[str, Array]:
        """Rows (nbodies, ...) by the names of the bodies, such as those of `gs.reaction_wrenches`."""
        if len(rows) != self.nbodies:
            raise ValueError(f"{self.name} has {self.nbodies} bodies; found {len(rows)} rows.")
        return {body.name: row for body, row in zip(self.bodies, rows, strict=True)}

    # ---- other values

    def value(self, parameter: str) -> Any:
        """Current value of a parameter such as "link_3.mass" or "elbow.position": a float or an array."""
        return value_of(self, parameter)

    def with_values(self, values: Mapping[str, Any]) -> Spacecraft:
        """The same spacecraft with other values, symbols allowed, not validated.

        Names: `body.mass`, `body.com` (3), `body.inertia` (xx, xy, xz, yy, yz, zz), `wheel.spin_inertia`,
        `joint.position` (3), `joint.orientation` (quaternion), `joint.axis` (3), `joint.stiffness`, `joint.rest`,
        `joint.damping`, `joint.friction`, `joint.rotor_inertia`, `joint.gear_ratio`, `thruster.max_thrust`; of flexible
        bodies `body.mode_1.frequency` (Hz) and `body.mode_1.damping_ratio` instead of mass properties. Roles stay
        as they are: a spring of another stiffness does not take a motor away.
        """
        return replaced(self, values)

    def parameters(self) -> dict[str, Array]:
        """Every parameter name with its value."""
        return {name: self.value(name) for name in names(self)}

    def _repr_html_(self) -> str:
        from .notebook import craft_html

        return craft_html(self)

    def __repr__(self) -> str:
        return f"<Spacecraft {self.name}: {self.nbodies} bodies, nq {self.nq}, nv {self.nv}>"


def laid_out(bodies: Iterable[Body]) -> tuple[Body, ...]:
    """Bodies whose joints know their places in q and v, and the nodes that they sit on."""
    placed: dict[str | None, Any] = {}
    iq, iv = 0, 0
    for body in bodies:
        part, joint, below = cast(Any, body), body.joint, placed.get(body.parent)
        mount = below.mount(joint.node) if joint.node and isinstance(below, FlexibleBody) else None
        joint = replace(joint, q_at=slice(iq, iq + joint.nq), v_at=slice(iv, iv + joint.nv), mount=mount)
        iq, iv = iq + joint.nq, iv + joint.nv
        if isinstance(part, FlexibleBody):
            part = replace(part, q_at=slice(iq, iq + part.n), v_at=slice(iv, iv + part.n))
            iq, iv = iq + part.n, iv + part.n
        placed[body.name] = replace(part, joint=joint)
    return tuple(placed.values())
