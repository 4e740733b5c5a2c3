"""A closed loop (controller, actuators, dynamics, integrator), compiled whole,
beside the same NumPy controller called at each step.

    python benchmarks/closed_loop.py

Claim: compiled, it is at least ten times faster. Both runs take the same fixed steps with the same compiled dynamics
and integrator, and end in the same state; only the control law is called from Python in one of them, as it would be if
it could not be traced. The craft is `servicer7` (seven joints, four wheels) with effort and speed limits. Prints a
table; writes it to benchmarks/results/closed_loop.json.
"""

from __future__ import annotations

import datetime
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat import control as laws
from gyrostat.models import elbow_up, servicer7

CRAFT = servicer7()
START = elbow_up(CRAFT)
STEP = 0.02  # s
COMPILED, CALLED = 100_000, 20  # steps that are timed
X0 = gs.frame_pose(CRAFT, START, "tool")
LINE = laws.line(X0, X0.p + np.array([-0.3, 0.4, 0.0]), laws.MinimumJerk(10.0))
GOAL = START[7:14] + np.array([0.5, -0.4, 0.6, -0.3, 0.5, 0.2, -0.3])
REFERENCE = laws.joint_path(START[7:14], GOAL, laws.MinimumJerk(10.0))


def with_wheels(reference: Any) -> Any:
    """Joint references as `computed_torque` takes them: wheels at rest behind the joints."""

    def whole(t: Any) -> laws.JointReference:
        r, none = reference(t), np.zeros(len(CRAFT.wheels))
        return laws.JointReference(r.q, np.concatenate([r.qdot, none]), np.concatenate([r.qddot, none]))

    return whole


LAWS = {
    "computed torque, seven joints": laws.computed_torque(with_wheels(REFERENCE), kp=4.0, kd=4.0, momentum="measured"),
    "wheels against the arm": laws.wheel_attitude(
        lambda t: laws.pose_reference(np.array([1.0, 0.0, 0.0, 0.0])), laws.joint_acceleration(REFERENCE)
    ),
    "resolved rate with J*": laws.resolved_rate(LINE, laws.Task("tool")),
    "reaction null space": laws.reactionless(laws.towards(GOAL, 0.3)),
}


def untraceable(law: Any) -> Any:
    """The same law, in a form that the tracer cannot follow: it asks for the value of t."""

    def control(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
        return law(craft, float(t), np.asarray(q, dtype=float), np.asarray(v, dtype=float))

    return control


def run(law: Any, steps: int) -> gs.Trajectory:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.SimulationWarning)  # one of the two is slower, and says so
        trajectory = gs.simulate(
            CRAFT,
            START,
            np.zeros(CRAFT.nv),
            (0.0, steps * STEP),
            control=law,
            integrator="rk4",
            step=STEP,
            save_at=[steps * STEP],
            actuators=gs.Actuators(),
            progress=False,
        )
    if not trajectory.ok:
        raise RuntimeError(f"the run did not reach its end: {trajectory.failures}")
    return trajectory


def microseconds_per_step(law: Any, steps: int) -> float:
    """What tracing and loading cost once taken off: a run of many steps less one of a single step."""
    times = seconds({"many": lambda: run(law, steps), "one": lambda: run(law, 1)}, repeats=3, at_least=0.0)
    return (times["many"] - times["one"]) / (steps - 1) * 1e6


def row(name: str, law: Any) -> dict[str, Any]:
    same = float(np.abs(run(law, CALLED).q - run(untraceable(law), CALLED).q).max())
    compiled, called = microseconds_per_step(law, COMPILED), microseconds_per_step(untraceable(law), CALLED)
    return {
        "law": name,
        "same_state_to": same,
        "compiled_us_per_step": compiled,
        "called_us_per_step": called,
        "ratio": called / compiled,
    }


def main() -> None:
    rows = [row(name, law) for name, law in LAWS.items()]
    table = Table(title=f"closed loop, servicer7, rk4; {machine()}")
    for heading in ("law", "compiled, us/step", "called from Python, us/step", "ratio", "same state to"):
        table.add_column(heading, justify="left" if heading == "law" else "right")
    for r in rows:
        table.add_row(
            r["law"],
            f"{r['compiled_us_per_step']:.1f}",
            f"{r['called_us_per_step']:.0f}",
            f"{r['ratio']:.0f}x",
            f"{r['same_state_to']:.0e}",
        )
    Console().print(table)
    results = {"date": datetime.date.today().isoformat(), "machine": machine(), "rows": rows}
    path = Path(__file__).parent / "results" / "closed_loop.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"least ratio {min(r['ratio'] for r in rows):.0f}x (claim: 10x); written to {path.name}")


if __name__ == "__main__":
    main()
