"""Two arms holding a client, and the capture of a tumbling one: what the constraints make possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import constraints as gc
from ...algebra import Array, norm
from ...formulations.recursive import kinetic_energy, momentum
from ...kinematics import frame_pose
from ...model import Spacecraft
from ...simulation import Trajectory, simulate
from ...simulation.phase import Phase
from ...simulation.phased_run import PhasedRun
from ...simulation.phases import simulate_phases
from .crafts import client, pair, two_arms, wave

HOLD = 60.0
REACH = 0.05  # m between hand and grip at which it is grasped
SPIN = np.array([0.03, -0.02, 0.05])  # rad/s of the client, in its axes
CLOSING = np.array([-0.04, 0.01, 0.005])  # m/s of its origin at the grasp, in N
LEAD = 12.0  # s before the grasp at which the run starts


def two_arm_run(speed: float = 0.03, rtol: float = 1e-11, **options: Any) -> Trajectory:
    """Both hands welded to the client, the joints waved by sines, 60 s."""
    craft, constraints, q, v = two_arms(speed)
    return simulate(
        craft, q, v, (0.0, HOLD), constraints=constraints, control=wave, rtol=rtol, atol=0.01 * rtol, **options
    )


class MuJoCoDrift(NamedTuple):
    time: Array
    position: Array  # largest distance of a hand from its grip, m
    momentum: Array  # largest change of the momentum about the inertial origin, N m s and N s


def welded_in_mujoco(craft: Spacecraft, constraints: Sequence[gc.AbstractConstraint], timestep: float) -> Any:
    """The craft as a MuJoCo peer with a weld per constraint, RK4, as stiff as MuJoCo takes at that step."""
    import mujoco

    from ...verification.peers.mujoco import MuJoCo

    peer = MuJoCo(craft)
    peer.spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    peer.spec.option.timestep, peer.spec.option.integrator = timestep, mujoco.mjtIntegrator.mjINT_RK4
    for c in constraints:
        for name in (c.first, c.second):
            body, X = craft.locate(name)
            peer.spec.body(f"body:{body}").add_site(name=name, pos=X.p)
        sites = mujoco.mjtObj.mjOBJ_SITE
        weld = peer.spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=sites, name1=c.first, name2=c.second)
        weld.solref, weld.solimp = (2 * timestep, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0)
    peer.model = peer.spec.compile()
    peer.data = mujoco.MjData(peer.model)
    return peer


def two_arms_in_mujoco(timestep: float = 1e-3, every: int = 150) -> MuJoCoDrift:
    """The same motion with MuJoCo's welds at a fixed step."""
    import mujoco

    craft, constraints, q, v = two_arms(0.03)
    peer = welded_in_mujoco(craft, constraints, timestep)
    peer.set_state(q, v)
    waved = [(k, joint, *peer.place(joint)) for k, joint in enumerate(craft.joints) if joint.kind == "revolute"]
    rows = []
    for step in range(round(HOLD / timestep) + 1):
        if step % every == 0:
            gaps = [peer.data.site(c.first).xpos - peer.data.site(c.second).xpos for c in constraints]
            rows.append((step * timestep, max(np.linalg.norm(gap) for gap in gaps), _mujoco_momentum(peer)))
        t = peer.data.time
        for k, _, _, at in waved:
            peer.data.qfrc_applied[at] = 2.0 * np.sin(0.3 * t + k) - 5.0 * peer.data.qvel[at]
        mujoco.mj_step(peer.model, peer.data)
    h = np.array([row[2] for row in rows])
    return MuJoCoDrift(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), np.abs(h - h[0]).max(axis=1))


def _mujoco_momentum(peer: Any) -> Array:
    import mujoco

    mujoco.mj_subtreeVel(peer.model, peer.data)
    linear = peer.model.body_subtreemass[0] * peer.data.subtree_linvel[0]
    return np.concatenate([peer.data.subtree_angmom[0] + np.cross(peer.data.subtree_com[0], linear), linear])


# ---- capture


def capture_run(detumble: float = 150.0) -> PhasedRun:
    """Approach, grasp with a weld where hand and grip then are, detumble by wheels and arm, release."""
    craft, q, v = before_the_grasp()
    rest = q.copy()

    def law(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return hold_and_detumble(craft, q, v, rest)

    def reach(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return norm(frame_pose(craft, q, "grip_L").p - frame_pose(craft, q, "hand_L").p) - REACH

    phases = [
        Phase(2 * LEAD, "approach", until=reach, control=law),
        Phase(detumble, "hold", grasp=[gc.weld("hand_L", "grip_L", name="grip")], control=law),
        Phase(10.0, "release", release=["grip"], control=law),
    ]
    return simulate_phases(craft, q, v, phases, rtol=1e-11, atol=1e-13)


def before_the_grasp() -> tuple[Spacecraft, Array, Array]:
    """LEAD seconds before the grip meets the hand of a servicer at rest: the client's free motion, run backwards."""
    craft, q = pair("L")
    alone = client()
    hand = frame_pose(craft, q, "hand_L")
    q_meet, v_meet = q[craft.joint("client").q_at].copy(), np.concatenate([-SPIN, -CLOSING])
    q_meet[4:] += hand.p - frame_pose(craft, q, "grip_L").p
    q_before, v_before = simulate(alone, q_meet, v_meet, (0.0, LEAD), rtol=1e-12, atol=1e-13).final
    v = np.zeros(craft.nv)
    q[craft.joint("client").q_at], v[craft.joint("client").v_at] = q_before, -v_before
    return craft, q, v


def hold_and_detumble(craft: Spacecraft, q: Array, v: Array, rest: Array) -> Array:
    """The arm holds its posture softly; the wheels take the bus's rate, and with it that of whatever it holds."""
    tau = []
    rate = craft.joint("bus").rate(v)[:3]
    for joint in craft.joints:
        if joint.kind == "revolute":
            tau.append(-60.0 * (q[joint.q_at] - rest[joint.q_at]) - 80.0 * joint.rate(v))
        elif joint.kind == "wheel":
            tau.append(np.array([40.0 * (joint.axis @ rate)]))
        else:
            tau.append(np.zeros(joint.nv))
    return np.concatenate(tau)


class Grasp(NamedTuple):
    """What happened at the instant of the grasp."""

    momentum_change: float  # largest component, relative to the largest momentum of either craft
    energy_mismatch: float  # energy lost less the impulse's work, relative
    impulse: Array  # (6,) on the grip, in N


def grasp_of(run: PhasedRun) -> Grasp:
    """Momentum and energy across the jump, from the states on both sides of it."""
    craft = run.craft
    _, q, before = run["approach"].end
    jump = run["hold"].capture
    assert jump is not None
    dh = momentum(craft, q, jump.v) - momentum(craft, q, before)
    closing = gc.residuals(craft, 0.0, q, before, run["hold"].constraints).velocity
    lost = kinetic_energy(craft, q, before) - kinetic_energy(craft, q, jump.v)
    work = -0.5 * jump.impulses @ closing
    size = np.abs(momentum(craft, q, before)).max()
    return Grasp(float(np.abs(dh).max() / size), float(abs(lost - work) / lost), jump.on_second[0])
