"""Random calls in one process: memory stays flat, and the same call gives the same bits as before."""

from __future__ import annotations

import gc
import hashlib
import random
import re
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.scenario import EXAMPLES, example, load
from gyrostat.view.report import report_html

CRAFTS = ("servicer", "servicer7")
KINDS = {"simulate": 30, "law": 10, "events": 10, "save": 10, "compile": 10, "linear": 5, "scenario": 5}
KINDS |= {"report": 1, "refuse": 10}
EACH = 24  # different calls of each kind
GROWTH = 48.0  # MB, from the end of the first third to the end
LOOKS = 60


class Worker:
    """minutes: that one seed takes."""

    def __init__(self, minutes: float) -> None:
        self._kept = tempfile.TemporaryDirectory(prefix="gyrostat-faults-")
        self.folder, self.minutes = Path(self._kept.name), minutes
        self.crafts = [gs.load(name) for name in CRAFTS]
        for name in EXAMPLES:
            (self.folder / f"{name}.toml").write_text(example(name))

    def one(self, seed: int) -> tuple[dict[str, int], list[str], list[str]]:
        chance = random.Random(seed)
        seen: dict[tuple[str, int], str] = {}
        count, wrong, memory = 0, list[str](), list[float]()
        begun, look = time.monotonic(), 0.0
        while (passed := time.monotonic() - begun) < 60 * self.minutes or count < 60:
            kind, own = chance.choices(list(KINDS), list(KINDS.values()))[0], chance.randrange(EACH)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = np.ascontiguousarray(getattr(self, kind)(random.Random(own)))
            digest = hashlib.sha256(made.tobytes()).hexdigest()
            if seen.setdefault((kind, own), digest) != digest:
                wrong.append(f"{kind} {own}: other bits than before, at call {count}")
            count += 1
            if passed >= look:
                memory.append(_resident())
                look += 60 * self.minutes / LOOKS
        memory.append(_resident())
        third = len(memory) // 3
        grown = memory[-1] - memory[third]
        if grown > GROWTH:
            wrong.append(f"memory grew by {grown:.0f} MB: {[round(m) for m in memory]}")
        notes = [f"memory {memory[third]:.0f} MB after a third of the time, {memory[-1]:.0f} MB at the end"]
        return {f"calls, {len(seen)} different ones": count}, wrong, notes

    # ---- calls, each decided by its generator alone

    def simulate(self, rng: random.Random) -> Any:
        craft, v = self._start(rng)
        integrator = rng.choice(["dop853", "rk45", "gauss16"])
        batch = (rng.choice([1, 3, 20]), 1)
        return gs.simulate(craft, None, np.tile(v, batch), (0, 1), integrator=integrator, rtol=1e-8).q

    def law(self, rng: random.Random) -> Any:
        """Traced, or called from Python."""
        craft, v = self._start(rng)
        gain, python = rng.choice([1.0, 2.0]), rng.random() < 0.3

        def damp(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
            if python:
                float(v[6])  # which only a number can do
            return np.concatenate([np.zeros(6), -gain * v[6:]])

        return gs.simulate(craft, None, v, (0, 0.2), control=damp, rtol=1e-6).q

    def events(self, rng: random.Random) -> Any:
        craft, v = self._start(rng)
        at = rng.choice([0.01, 0.02])
        run = gs.simulate(craft, None, v, (0, 1), events=[lambda craft, t, q, v: q[7] - at])
        first = gs.simulate(craft, None, v, (0, 1), max_steps=5)
        return np.concatenate([run.q.ravel(), gs.simulate(craft, resume=first).q.ravel()])

    def save(self, rng: random.Random) -> Any:
        craft = self.crafts[0]
        run = gs.simulate(craft, None, np.full(craft.nv, 0.1 * rng.randrange(1, 5)), (0, 1))
        return gs.Trajectory.load(run.save(self.folder / "run.nc")).q

    def compile(self, rng: random.Random) -> Any:
        chosen = rng.choice(self.crafts)
        craft = chosen.with_values({f"{chosen.base}.mass": 1000.0 + rng.randrange(8)})
        function = rng.choice([gs.mass_matrix, gs.kinetic_energy, gs.center_of_mass])
        q = np.tile(gs.neutral(craft), (50, 1))
        arguments = (q, np.ones((50, craft.nv))) if function is gs.kinetic_energy else (q,)
        return gs.compile(function, craft)(*arguments)

    def linear(self, rng: random.Random) -> Any:
        craft, v = self._start(rng)
        return gs.linearize(craft, gs.neutral(craft), 0.1 * v).A

    def scenario(self, rng: random.Random) -> Any:
        return load(self.folder / f"{rng.choice(list(EXAMPLES))}.toml").simulate().q

    def report(self, rng: random.Random) -> Any:
        craft, v = self._start(rng)
        return np.array([len(report_html(gs.simulate(craft, None, v, (0, 1)))) > 1000])

    def refuse(self, rng: random.Random) -> Any:
        craft = rng.choice(self.crafts)
        for wrong in ({"rtol": 1e-30}, {"integrator": "euler"}, {"events": 3}, {"locked": ["none"]}):
            try:
                gs.simulate(craft, t_span=(0, 1), **wrong)
            except (ValueError, TypeError):
                continue
            raise AssertionError(f"{wrong} was not refused")
        return np.zeros(1)

    def _start(self, rng: random.Random) -> tuple[gs.Spacecraft, Any]:
        craft = rng.choice(self.crafts)
        return craft, 0.3 * np.random.default_rng(rng.randrange(9)).normal(size=craft.nv)


def _resident() -> float:
    gc.collect()
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) / 1024
