"""`gs.Simulation` on a six-link arm: one step at a time with loads given from Python, against MuJoCo in the same run,
one thread each.

    python benchmarks/stepping.py [--quick]

One craft, RK4 of 10 ms: `sim.step(load, dt)` against `mujoco.mj_step` on the same model, with `qfrc_applied` written
before each step; with and without reading the state. 1024 craft side by side: `sim.step` with loads of their own, the
states read, against `mujoco.rollout`, by which Gymnasium's vector route to MuJoCo steps a batch: one step a call, as a
learner does, and a hundred. Before anything is timed, both must have come to the same states. Processor time, the least
of the repeats: other work on the machine only adds. Prints tables; writes them to benchmarks/results/stepping.json.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine

import gyrostat as gs
from manoeuvre import CRAFT, HOLD

STEP, RUNS = 0.01, 1024
ONCE = 2000  # steps of one craft that are timed together
console = Console(width=150)
Row = dict[str, Any]


def loads(count: int, seed: int = 0) -> np.ndarray:
    """On the joints alone, where MuJoCo's coordinates and ours are the same."""
    rng = np.random.default_rng(seed)
    found = np.zeros((count, CRAFT.nv))
    found[:, 6:] = 0.05 * rng.normal(size=(count, 6))
    return found


class Peer:
    """The same arm in MuJoCo, RK4 of the same step."""

    def __init__(self) -> None:
        import mujoco

        from gyrostat.verification.peers.mujoco import MuJoCo

        self.peer, self.mujoco = MuJoCo(CRAFT), mujoco
        self.model = self.peer.model
        self.model.opt.integrator, self.model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
        self.data = mujoco.MjData(self.model)

    def start(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The state as MuJoCo has it: time, qpos, qvel."""
        return np.concatenate([[0.0], self.peer.qpos(q), self.peer.T(q) @ v])

    def read(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        qpos, qvel = row[1:14], row[14:26]
        q = np.concatenate([qpos[3:7], qpos[:3], qpos[7:]])
        return q, np.linalg.solve(self.peer.T(q), qvel)


def least(call: Callable[[], object], repeats: int) -> float:
    """Seconds of processor time, the least of the repeats; a first call is not counted."""
    call()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)


def one_craft(repeats: int) -> list[Row]:
    peer, load = Peer(), list(loads(ONCE))
    sim = gs.Simulation(CRAFT, integrator="rk4", step=STEP)

    def ours() -> None:
        sim.reset(HOLD.q0, HOLD.v0)
        step = sim.step
        for tau in load:
            step(tau, STEP)

    def ours_looked_at() -> None:
        sim.reset(HOLD.q0, HOLD.v0)
        for tau in load:
            sim.step(tau, STEP)
            _, _ = sim.q, sim.v

    def theirs() -> None:
        mujoco, model, data = peer.mujoco, peer.model, peer.data
        row = peer.start(HOLD.q0, HOLD.v0)
        mujoco.mj_setState(model, data, row, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        applied, step = data.qfrc_applied, mujoco.mj_step
        for tau in load:
            applied[6:] = tau[6:]
            step(model, data)

    ours()
    theirs()
    q, v = peer.read(np.concatenate([[0.0], peer.data.qpos, peer.data.qvel]))
    apart = float(max(np.abs(q - sim.q).max(), np.abs(v - sim.v).max()))
    if apart > 1e-6:
        raise RuntimeError(f"MuJoCo and gyrostat end {apart:.1e} apart: they do not integrate the same equations.")
    peers = least(theirs, repeats) / ONCE * 1e6
    rows = []
    for what, call in (("one craft", ours), ("one craft, q and v read each time", ours_looked_at)):
        us = least(call, repeats) / ONCE * 1e6
        rows.append({"what": what, "us": us, "peer": f"mujoco.mj_step (ends {apart:.0e} apart)", "peer_us": peers})
    return rows


def side_by_side(repeats: int) -> list[Row]:
    from mujoco import rollout

    peer, steps = Peer(), 100
    q, v = HOLD.states(RUNS)
    load = loads(RUNS * 4).reshape(4, RUNS, CRAFT.nv)
    sim = gs.Simulation(CRAFT, integrator="rk4", step=STEP, runs=RUNS, threads=1)
    spec = int(peer.mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    first = np.array([peer.start(a, b) for a, b in zip(q, v, strict=True)])

    def ours() -> None:
        sim.reset(q, v)
        for k in range(steps):
            sim.step(load[k % 4], STEP)
            _, _ = sim.q, sim.v

    def theirs(at_once: int, count: int) -> Callable[[], np.ndarray]:
        """Rollouts of `at_once` steps, `count` in all, of a part of the batch: each craft is on its own there."""
        part = first[: RUNS // 8]
        given = np.array([load[k % 4, : len(part)] for k in range(count)]).swapaxes(0, 1)

        def call() -> np.ndarray:
            state = part
            for k in range(0, count, at_once):
                found = rollout.rollout(
                    peer.model, peer.data, state, given[:, k : k + at_once].copy(), control_spec=spec, nstep=at_once
                )
                state = found[0][:, -1]
            return state

        return call

    ends = theirs(10, 10)()
    sim.reset(q, v)
    for k in range(10):
        sim.step(load[k % 4], STEP)
    found = [np.concatenate(peer.read(row)) for row in ends]
    apart = float(np.abs(np.array(found) - np.hstack([sim.q, sim.v])[: len(found)]).max())
    if apart > 1e-9:
        raise RuntimeError(f"MuJoCo and gyrostat end {apart:.1e} apart: they do not integrate the same equations.")
    us = least(ours, repeats) / (RUNS * steps) * 1e6
    rows = []
    for at_once, count in ((1, 10), (100, 100)):
        peers = least(theirs(at_once, count), repeats) / (RUNS // 8 * count) * 1e6
        how = "one step a call" if at_once == 1 else f"{at_once} steps a call"
        rows.append(
            {
                "what": f"{RUNS} craft side by side, q and v read each time",
                "us": us,
                "peer": f"mujoco.rollout, {how} (ends {apart:.0e} apart)",
                "peer_us": peers,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    repeats = 3 if parser.parse_args().quick else 9
    begun = time.perf_counter()
    rows = [row | {"ratio": row["peer_us"] / row["us"]} for row in (*one_craft(repeats), *side_by_side(repeats))]
    table = Table("steps of 10 ms, RK4", "gyrostat, µs a step", "peer", "peer, µs a step", "ratio")
    for row in rows:
        table.add_row(row["what"], f"{row['us']:.3g}", row["peer"], f"{row['peer_us']:.3g}", f"{row['ratio']:.3g}")
    console.print(table)
    together = min(row["ratio"] for row in rows[2:])
    claims = [
        ("one craft, loads from Python: µs a step", rows[0]["us"], "<= 6", rows[0]["us"] <= 6.0),
        ("one craft, against mujoco.mj_step from Python", rows[0]["ratio"], "> 1x", rows[0]["ratio"] > 1.0),
        (f"{RUNS} side by side, against mujoco.rollout", together, ">= 25x", together >= 25.0),
    ]
    table = Table("claim", "measured", "promised", "")
    for claim, value, bound, holds in claims:
        table.add_row(claim, f"{value:.3g}", bound, "" if holds else "not met")
    console.print(table)
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "llvmlite", "mujoco")}
    result = {
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "versions": versions,
        "seconds": time.perf_counter() - begun,
        "rows": rows,
        "claims": [{"claim": c, "measured": v, "promised": b, "holds": h} for c, v, b, h in claims],
    }
    place = Path(__file__).parent / "results" / "stepping.json"
    place.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written to {place.name}")


if __name__ == "__main__":
    main()
