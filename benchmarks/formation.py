"""What a formation costs: member-steps per second, from 10 to 10 000 members,
beside Basilisk and MuJoCo on the same problem.

    python benchmarks/formation.py [--quick]

Rigid members in low orbit, two-body gravity with gravity-gradient torque, RK4 with a step of one second, all saved at
the end only. Basilisk flies the same (point-mass Earth, GravityGradientEffector, its own RK4). MuJoCo, which has no
such field, is compared on members with nothing acting on them: rigid, and with six-link arms. One thread for everybody;
setting up and compiling are not counted.

Claims: cost linear in the number of members; at least 20 times more member-steps per second than either peer on the
same problem. Prints tables; writes benchmarks/results/formation.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation
from gyrostat.control.consensus import attitude_consensus
from gyrostat.environment import EARTH, Orbit, two_body_gravity
from gyrostat.formation import Coupling, Formation, Group, ring, simulate
from gyrostat.models import servicer

STEP = 1.0  # s
ORBIT = Orbit.circular(500e3, 0.9)
INERTIA = np.array([4.0, 5.0, 6.0])
MASS = 100.0


def rigid() -> gs.Spacecraft:
    return gs.Spacecraft.build(
        "minisatellite", [gs.Body("hull", MASS, inertia=INERTIA, joint=gs.Joint("hull", "free"))]
    )


def scattered(formation: Formation) -> dict[str, Any]:
    """Within a kilometre, turning slowly."""
    rng = np.random.default_rng(0)
    state = formation.neutral()
    for q, v in state.values():
        q[:, :4] = rng.normal(size=(len(q), 4))
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
        q[:, 4:7] = rng.uniform(-1000, 1000, size=(len(q), 3))
        v[:, :3] = 1e-3 * rng.normal(size=(len(q), 3))
        v[:, 3:6] = rng.normal(size=(len(q), 3))
    return state


def fly(formation: Formation, steps: int, **options: Any) -> float:
    """Seconds of processor time for `steps` steps of all members:
    the difference of two runs, so that setting up is not counted.
    """
    state = scattered(formation)

    def lasting(count: int) -> float:
        begin = time.process_time()
        simulate(
            formation,
            state,
            (0.0, count * STEP),
            integrator="rk4",
            step=STEP,
            save_at=[count * STEP],
            progress=False,
            **options,
        )
        return time.process_time() - begin

    lasting(1)  # compiles
    short, long = min(lasting(1) for _ in range(3)), min(lasting(1 + steps) for _ in range(3))
    return long - short


def gyrostat_rows(counts: list[int], steps: int) -> list[dict[str, Any]]:
    rows = []
    environment = two_body_gravity(ORBIT, gradient_force=False)
    for count in counts:
        names = [f"m{k}" for k in range(count)]
        alone = Formation({"swarm": Group(rigid(), names)}, orbit=ORBIT)
        own = max(steps, 2_000_000 // count)
        seconds = fly(alone, own, environment=environment, threads=1)
        rows.append(row("gyrostat", "rigid, low orbit", count, own, seconds))
        if count <= 100:
            rows.append(row("gyrostat", "rigid, nothing acting", count, own, fly(alone, own, threads=1)))
        law = Coupling(attitude_consensus(0.02, 0.2), {"near": ring(names)})
        own = max(steps // 4, min(2000, 100_000 // count))
        seconds = fly(alone, own, environment=environment, control={"swarm": law})
        rows.append(row("gyrostat", "rigid, low orbit, each sees two", count, own, seconds))
    return rows


def row(who: str, what: str, count: int, steps: int, seconds: float) -> dict[str, Any]:
    return {
        "who": who,
        "what": what,
        "members": count,
        "steps": steps,
        "seconds": seconds,
        "member_steps_per_second": count * steps / seconds,
    }


def basilisk_row(count: int, steps: int) -> dict[str, Any] | str:
    """The same problem in Basilisk; or why not."""
    try:
        from Basilisk.simulation import GravityGradientEffector, gravityEffector, spacecraft
        from Basilisk.utilities import SimulationBaseClass, macros
    except ImportError as error:
        return f"Basilisk: not installed ({error}). Try: pip install bsk"
    formation = Formation({"swarm": Group(rigid(), [f"m{k}" for k in range(count)])}, orbit=ORBIT)
    q, v = scattered(formation)["swarm"]
    simulation = SimulationBaseClass.SimBaseClass()
    process = simulation.CreateNewProcess("process")
    process.addTask(simulation.CreateNewTask("task", macros.sec2nano(STEP)))
    r0, v0 = ORBIT.state(0.0)
    keep = []
    for k in range(count):
        craft = spacecraft.Spacecraft()
        craft.ModelTag = f"m{k}"
        craft.hub.mHub = MASS
        craft.hub.IHubPntBc_B = np.diag(INERTIA).tolist()
        R = rotation(q[k, :4])
        craft.hub.r_CN_NInit = (r0 + q[k, 4:7]).reshape(3, 1).tolist()
        craft.hub.v_CN_NInit = (v0 + R @ v[k, 3:]).reshape(3, 1).tolist()
        w, *xyz = quat_from_rotation(R)
        craft.hub.sigma_BNInit = (np.array(xyz) / (1 + w)).reshape(3, 1).tolist()
        craft.hub.omega_BN_BInit = v[k, :3].reshape(3, 1).tolist()
        earth = gravityEffector.GravBodyData()
        earth.planetName = "earth_planet_data"
        earth.mu = EARTH.mu
        earth.isCentralBody = True
        craft.gravField.gravBodies = spacecraft.GravBodyVector([earth])
        gradient = GravityGradientEffector.GravityGradientEffector()
        gradient.addPlanetName(earth.planetName)
        craft.addDynamicEffector(gradient)
        simulation.AddModelToTask("task", craft)
        simulation.AddModelToTask("task", gradient)
        keep.append((craft, gradient, earth))
    simulation.InitializeSimulation()
    simulation.ConfigureStopTime(macros.sec2nano(2 * STEP))
    simulation.ExecuteSimulation()
    simulation.ConfigureStopTime(macros.sec2nano((2 + steps) * STEP))
    begin = time.process_time()
    simulation.ExecuteSimulation()
    return row("Basilisk", "rigid, low orbit", count, steps, time.process_time() - begin)


def agreement(steps: int = 300) -> float | None:
    """Largest distance between Basilisk's and our member after some steps, in m: that both fly the same problem."""
    try:
        from Basilisk.simulation import gravityEffector, spacecraft
        from Basilisk.utilities import SimulationBaseClass, macros
    except ImportError:
        return None
    formation = Formation({"swarm": Group(rigid(), ["m0"])}, orbit=ORBIT)
    state = scattered(formation)
    q, v = (x[0] for x in state["swarm"])
    simulation = SimulationBaseClass.SimBaseClass()
    simulation.CreateNewProcess("process").addTask(simulation.CreateNewTask("task", macros.sec2nano(STEP)))
    craft = spacecraft.Spacecraft()
    craft.hub.mHub, craft.hub.IHubPntBc_B = MASS, np.diag(INERTIA).tolist()
    r0, v0 = ORBIT.state(0.0)
    R = rotation(q[:4])
    craft.hub.r_CN_NInit = (r0 + q[4:7]).reshape(3, 1).tolist()
    craft.hub.v_CN_NInit = (v0 + R @ v[3:]).reshape(3, 1).tolist()
    earth = gravityEffector.GravBodyData()
    earth.planetName, earth.mu, earth.isCentralBody = "earth_planet_data", EARTH.mu, True
    craft.gravField.gravBodies = spacecraft.GravBodyVector([earth])
    simulation.AddModelToTask("task", craft)
    simulation.InitializeSimulation()
    simulation.ConfigureStopTime(macros.sec2nano(steps * STEP))
    simulation.ExecuteSimulation()
    theirs = np.array(craft.scStateOutMsg.read().r_BN_N)
    run = simulate(
        formation, state, (0.0, steps * STEP), environment=two_body_gravity(ORBIT, gradient_force=False),
        integrator="rk4", step=STEP,
        save_at=[steps * STEP], progress=False,
    )  # fmt: skip
    return float(np.linalg.norm(run.absolute("m0")[0][-1] - theirs))


def mujoco_rigid_row(count: int, steps: int) -> dict[str, Any] | str:
    """Free bodies in one MuJoCo model, nothing acting on them."""
    try:
        import mujoco
    except ImportError as error:
        return f"MuJoCo: not installed ({error}). Try: pip install mujoco"
    bodies = "".join(
        f'<body pos="{3 * k} 0 0"><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="4 5 6"/></body>'
        for k in range(count)
    )
    flag = '<flag contact="disable" constraint="disable"/>'
    option = f'<option integrator="RK4" timestep="{STEP}" gravity="0 0 0">{flag}</option>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qvel[:] = 1e-3
    mujoco.mj_step(model, data, nstep=2)
    begin = time.process_time()
    mujoco.mj_step(model, data, nstep=steps)
    return row("MuJoCo", "rigid, nothing acting", count, steps, time.process_time() - begin)


def armed_rows(count: int, steps: int) -> list[dict[str, Any] | str]:
    """Members with six-link arms, joints free, at small rates."""
    craft = servicer()
    formation = Formation({"fleet": Group(craft, [f"m{k}" for k in range(count)])}, orbit=ORBIT)
    rows: list[dict[str, Any] | str] = []
    for what, options in (
        ("six-link arms, nothing acting", {}),
        ("six-link arms, gravity gradient on every link", {"environment": two_body_gravity(ORBIT)}),
    ):
        rows.append(row("gyrostat", what, count, 10 * steps, fly(formation, 10 * steps, threads=1, **options)))
    try:
        import mujoco

        from gyrostat.verification.peers.mujoco import MuJoCo
    except ImportError as error:
        return [*rows, f"MuJoCo: not installed ({error})."]
    model = MuJoCo(craft).model
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    fleet = [mujoco.MjData(model) for _ in range(count)]
    for data in fleet:
        data.qvel[:] = 1e-3
    begin = time.process_time()
    for data in fleet:
        mujoco.mj_step(model, data, nstep=steps)
    rows.append(row("MuJoCo", "six-link arms, nothing acting", count, steps, time.process_time() - begin))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer members and steps")
    quick = parser.parse_args().quick
    counts = [10, 100, 1000] if quick else [10, 100, 1000, 10_000]
    steps = 50 if quick else 200
    found: list[dict[str, Any] | str] = [*gyrostat_rows(counts, steps)]
    found += [basilisk_row(count, steps) for count in (10, 100)]
    found += [mujoco_rigid_row(count, steps) for count in (10, 100)]
    found += armed_rows(20 if quick else 100, steps)
    rows = [r for r in found if isinstance(r, dict)]
    console = Console(width=110)
    table = Table("who", "what", "members", "member-steps/s", "µs per member-step", title="formations, RK4, one thread")
    for r in rows:
        rate = r["member_steps_per_second"]
        table.add_row(r["who"], r["what"], f"{r['members']}", f"{rate:,.0f}", f"{1e6 / rate:.2f}")
    console.print(table)
    for missing in (r for r in found if isinstance(r, str)):
        console.print(missing)
    apart = agreement()
    if apart is not None:
        console.print(f"Basilisk and gyrostat fly the same problem: {apart:.1e} m apart after 300 steps.")
    ratios = ratios_of(rows)
    for name, value in ratios.items():
        console.print(f"{name}: {value:.1f}")
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "quick": quick,
        "rows": rows,
        "absent": [r for r in found if isinstance(r, str)],
        "agreement_with_basilisk_m": apart,
        "ratios": ratios,
    }
    name = "formation_quick.json" if quick else "formation.json"
    path = Path(__file__).parent / "results" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def ratios_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """On the same problem, the best of each; and how the cost per member changes from 100 members to the most."""
    best: dict[tuple[str, str], float] = {}
    for r in rows:
        key = (r["who"], r["what"])
        best[key] = max(best.get(key, 0.0), r["member_steps_per_second"])
    found = {}
    for (who, what), rate in best.items():
        if who != "gyrostat":
            found[f"gyrostat over {who}: {what}"] = best["gyrostat", what] / rate
    for what in ("rigid, low orbit", "rigid, low orbit, each sees two"):
        own = [r for r in rows if r["who"] == "gyrostat" and r["what"] == what and r["members"] >= 100]
        per_member = [1 / r["member_steps_per_second"] for r in own]
        found[f"cost per member-step, {own[-1]['members']} members over 100: {what}"] = per_member[-1] / per_member[0]
    return found


if __name__ == "__main__":
    main()
