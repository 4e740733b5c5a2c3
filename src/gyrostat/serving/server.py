"""Steps against the clock on the wall: tick k begins k dt after the first, whatever the ticks before took.

The clock runs while a client is there. One that sends what is no record, or loads that are no numbers, is told why and
let go; the simulation stands as it stood, and waits for another.
"""

from __future__ import annotations

import gc
import socket
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..algebra import Array
from ..simulation import Simulation, SimulationWarning
from .client import Client, Lost
from .records import Standing, hello, state

PATIENCE = 0.1  # seconds between two looks at whether the server shall end, while it waits for a client


@dataclass
class Report:
    """What became of a served run. missed: ticks that were not done when the next was due; latest: by how much, at
    most, in s. behind: how far the last tick was behind the clock on the wall, in s. told: what clients were refused
    for.
    """

    ticks: int = 0
    seconds: float = 0.0
    missed: int = 0
    latest: float = 0.0
    behind: float = 0.0
    reason: str = ""
    failed: bool = False
    told: tuple[str, ...] = ()

    def __str__(self) -> str:
        late = f", the latest by {1e3 * self.latest:.3g} ms" if self.missed else ""
        return (
            f"{self.ticks} ticks in {self.seconds:.6g} s: {self.missed} deadlines missed{late}; the last one ended "
            f"{1e3 * abs(self.behind):.3g} ms {'after' if self.behind > 0 else 'before'} it was due. Ended: "
            f"{self.reason}."
        )


class Server:
    """A simulation that was reset, of one run, stepped by dt. Use it in a `with` block; `address` is where it listens,
    this machine alone unless another host is named; port 0 takes a free one.
    """

    def __init__(self, sim: Simulation, dt: float, host: str = "127.0.0.1", port: int = 0) -> None:
        if np.ndim(sim.t):
            raise ValueError("a server steps one run; the simulation has several. Make it without runs=.")
        self.sim, self.dt = sim, float(dt)
        self._socket = socket.create_server((host, port))
        self._socket.settimeout(PATIENCE)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def serve(self, ticks: int, asked: Callable[[], bool] = lambda: False) -> Report:
        """So many ticks, for one client after the other until one leaves by itself. asked: whether to end, looked at
        all the time."""
        report = Report(reason="its time is over")
        load = np.zeros(self.sim.craft.nv)
        while report.ticks < ticks and not report.failed:
            client = self._next_client(asked)
            if client is None:
                report.reason = "it was told to"
                break
            try:
                self._serve_one(client, load, ticks, report, asked)
                client.finish()
                break
            except Lost as gone:
                report.reason = str(gone)
                client.close()
                break
            except ValueError as reason:  # a bad record, or a load that the simulation refuses
                report.told = (*report.told, str(reason))
                client.refuse(reason)
        return report

    def _next_client(self, asked: Callable[[], bool]) -> Client | None:
        while not asked():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            return Client(connection, self.sim.craft.nv)
        return None

    def _serve_one(self, client: Client, load: Array, ticks: int, report: Report, asked: Callable[[], bool]) -> None:
        sim, dt = self.sim, self.dt
        client.send(hello(sim.craft.nq, sim.craft.nv, dt, float(sim.t)))
        self._show(client, Standing.running, report)
        begun, first = time.monotonic(), report.ticks
        before = report.seconds
        collecting = gc.isenabled()
        gc.disable()  # it would take longer than a tick
        try:
            while report.ticks < ticks:
                if asked():
                    report.reason = "it was told to"
                    self._show(client, Standing.ended, report)
                    return
                standing = self._step(load if client.load is None else client.load)
                report.ticks += 1
                if standing is Standing.running and report.ticks == ticks:
                    standing = Standing.ended
                due = begun + (report.ticks - first) * dt
                late = time.monotonic() - due
                if late > 0.0:
                    report.missed, report.latest = report.missed + 1, max(report.latest, late)
                report.behind, report.seconds = late, before + time.monotonic() - begun
                self._show(client, standing, report)
                if standing is not Standing.running:
                    self._end(standing, report)
                    return
                client.receive_until(due)
        finally:
            if collecting:
                gc.enable()

    def _step(self, load: Array) -> Standing:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # the report says it
            self.sim.step(load, self.dt)
        status = self.sim.state.status[0]
        return {"running": Standing.running, "stopped": Standing.ended}.get(status, Standing.failed)

    def _end(self, standing: Standing, report: Report) -> None:
        if standing is Standing.failed:
            report.failed, report.reason = True, self.sim.trajectory().failures[0].rstrip(".")
        elif self.sim.state.status[0] == "stopped":
            report.reason = f"event '{self.sim.events[-1].name}'"

    def _show(self, client: Client, standing: Standing, report: Report) -> None:
        sim = self.sim
        client.send(state(standing, report.ticks, report.missed, float(sim.t), sim.q, sim.v))
