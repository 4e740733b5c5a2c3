"""Damaged files: results, scenarios, meshes. Each is read, or refused by the one error there is for it."""

from __future__ import annotations

import json
import random
import re
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.io.results_phased import load_phased
from gyrostat.io.results_read import ResultError
from gyrostat.scenario import EXAMPLES, example, load, template
from gyrostat.simulation.engine.compiling import SimulationWarning
from gyrostat.view.meshes import read_meshes
from tampering import damaged, signed, tampered, with_header

SECONDS, MEMORY = 10.0, 2**30
BATCH = 25  # meshes that are read at once


class _Worker:
    """Time and memory are counted for every seed."""

    def __init__(self) -> None:
        self._kept = tempfile.TemporaryDirectory(prefix="gyrostat-faults-")
        self.folder = Path(self._kept.name)
        self.begun = _peak()

    def one(self, seed: int) -> tuple[dict[str, int], list[str]]:
        rng, begun, before = random.Random(seed), time.process_time(), _peak()
        outcomes, wrong = self.try_it(rng)
        if time.process_time() - begun > SECONDS:
            wrong.append(f"took {time.process_time() - begun:.1f} s of processor time")
        if _peak() > max(before, self.begun + MEMORY):
            wrong.append(f"took {(_peak() - self.begun) / 2**20:.0f} MB")
        return outcomes, wrong

    def try_it(self, rng: random.Random) -> tuple[dict[str, int], list[str]]:
        raise NotImplementedError


class Results(_Worker):
    """A third damaged, a third damaged with a digest that fits, a third with another header and a digest that fits.

    Of one run, of a batch with events, of a run that was interrupted, of phases and of a formation.
    """

    def __init__(self) -> None:
        super().__init__()
        craft = gs.load("servicer")
        v = np.full(craft.nv, 0.05)
        warnings.simplefilter("ignore", SimulationWarning)  # of the interrupted one
        runs = [
            gs.simulate(craft, gs.neutral(craft), v, (0, 10), save_at=np.linspace(0, 10, 21)),
            gs.simulate(craft, None, np.outer([1.0, 2.0, 3.0], v), (0, 10), save_at=[5.0, 10.0], events=[_turned]),
            gs.simulate(craft, None, v, (0, 10), integrator="gauss6", step=0.1, max_steps=40),
        ]
        phases = [gs.Phase(3.0, "first"), gs.Phase(4.0, "second", options={"max_steps": 3})]
        fleet = gs.Formation({"pair": gs.Group(craft, ("a", "b"))})
        few = {"save_at": np.linspace(0, 7, 8)}
        self.path = self.folder / "run.nc"
        kinds: list[tuple[list[Any], Callable[[Path], Any]]] = [
            (runs, gs.Trajectory.load),
            ([gs.simulate_phases(craft, None, v, phases, **few)], load_phased),
            ([gs.simulate(fleet, None, (0, 7), **few)], gs.FormationTrajectory.load),
        ]
        self.contents = [(run.save(self.path).read_bytes(), read) for made, read in kinds for run in made]
        for content, read in self.contents:
            self.path.write_bytes(content)
            read(self.path)
        self.begun = _peak()

    def try_it(self, rng: random.Random) -> tuple[dict[str, int], list[str]]:
        (whole, read), how = rng.choice(self.contents), rng.randrange(3)
        content = whole if how == 2 else damaged(whole, rng)
        fits = how > 0 and len(content) > 200
        self.path.write_bytes(signed(content) if how == 1 and fits else content)
        if how == 2:
            tampered(self.path, with_header(lambda header: _changed_json(header, rng)))
        try:
            read(self.path)
        except ResultError:
            return {"refused by the one error for it": 1}, []
        except Exception as error:  # noqa: BLE001  (which is what is looked for)
            return {"raw error": 1}, [f"{type(error).__name__}: {error}"]
        wrong = [] if fits or content == whole else ["damage was not seen"]
        return {"read, as the digest fits" if fits else "read, unchanged": 1}, wrong


def _turned(craft: gs.Spacecraft, t: float, q: Any, v: Any) -> Any:
    return q[7] - 0.2


def _changed_json(header: dict[str, Any], rng: random.Random) -> None:
    """One value somewhere in it becomes another, goes, or comes twice."""
    at: Any = header
    while True:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        inner = at[key]
        if isinstance(inner, str) and inner[:1] in "{[" and rng.random() < 0.8:  # JSON within JSON
            try:
                made = json.loads(inner)
            except ValueError:
                break
            if made:
                _changed_json(made, rng) if isinstance(made, dict) else made.append(rng.choice(made))
            at[key] = json.dumps(made)
            return
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.1:
            break
        at = inner
    values: list[Any] = [
        None,
        True,
        -1,
        0,
        3,
        1e308,
        2**70,
        "",
        "x",
        "../x",
        [],
        {},
        [[1]],
        {"a": None},
        "nan",
        "[" * 2000,
    ]
    if rng.random() < 0.2:
        del at[key]
    elif isinstance(inner, int | float) and rng.random() < 0.5:
        at[key] = inner + rng.choice([-1, 1, 0.5, 1e9])
    else:
        at[key] = rng.choice(values)


class Scenarios(_Worker):
    NUMBERS = ("nan", "inf", "-1", "0", "1e308", "-1e-308", "99999999999999999999")
    VALUES = (*NUMBERS, '""', '"\u0000"', "[]", "{}", "true", '"1e9 s"')

    def __init__(self) -> None:
        super().__init__()
        self.texts = [template(), *(example(name) for name in EXAMPLES)]
        for text in self.texts:
            self._load(text.encode())
        self.begun = _peak()

    def _load(self, content: bytes) -> Any:
        path = self.folder / "case.toml"
        path.write_bytes(content)
        return load(path)

    def try_it(self, rng: random.Random) -> tuple[dict[str, int], list[str]]:
        """Read or refused; a tenth of those that are read is run for some steps, or refused then."""
        content = self._changed(rng.choice(self.texts), rng)
        outcome = "refused by name"
        try:
            work = self._load(content)
            outcome = "read"
            if rng.random() < 0.1:
                outcome = "read, refused when run"
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    work.simulate(max_steps=20)
                outcome = "read and run"
        except gs.ModelError:
            pass
        except ValueError as error:
            if type(error) is not ValueError or outcome == "refused by name":
                return {"raw error": 1}, [f"{outcome}: {type(error).__name__}: {error}"]
        except Exception as error:  # noqa: BLE001  (which is what is looked for)
            return {"raw error": 1}, [f"{outcome}: {type(error).__name__}: {error}"]
        return {outcome: 1}, []

    def _changed(self, text: str, rng: random.Random) -> bytes:
        if rng.random() < 0.3:
            return damaged(text.encode(), rng)
        lines = text.splitlines()
        for _ in range(rng.randrange(1, 4)):
            at, how = rng.randrange(len(lines)), rng.randrange(5)
            if how == 0:
                del lines[at]
            elif how == 1:
                lines.insert(rng.randrange(len(lines) + 1), lines[at])
            elif how == 2:
                lines[at] = re.sub(r"=.*", f"= {rng.choice(self.VALUES)}", lines[at])
            elif how == 3:
                lines[at] = re.sub(r"[0-9.]+", rng.choice(self.NUMBERS), lines[at], count=1)
            else:
                lines[at] = lines[at].replace(rng.choice("aeiou_"), rng.choice(["", "x", "\0", "é"]), 1)
            lines = lines or [""]
        return "\n".join(lines).encode(errors="surrogatepass")


class Meshes(_Worker):
    """A seed is a batch of them, of all formats."""

    def __init__(self) -> None:
        super().__init__()
        import trimesh

        ball = trimesh.creation.icosphere(subdivisions=2)
        kinds = ("stl", "stl_ascii", "obj", "ply", "off", "glb", "dae")
        self.contents = {}
        for kind in kinds:
            try:
                made = ball.export(file_type=kind)
            except (ImportError, ValueError):  # a format that needs another package here
                continue
            self.contents[kind] = made.encode() if isinstance(made, str) else bytes(made)
        self.begun = _peak()

    def try_it(self, rng: random.Random) -> tuple[dict[str, int], list[str]]:
        paths = []
        for k in range(BATCH):
            kind = rng.choice(list(self.contents))
            path = self.folder / f"{k}.{kind.removesuffix('_ascii')}"
            path.write_bytes(damaged(self.contents[kind], rng))
            paths.append(str(path))
        begun = time.monotonic()
        found = read_meshes(paths)
        took = time.monotonic() - begun
        read = sum(not isinstance(answer, str) for answer in found.values())
        wrong = [] if set(found) == set(paths) else ["some have no answer"]
        for answer in found.values():
            if not isinstance(answer, str) and not (np.isfinite(answer[0]).all() and answer[1].max() < len(answer[0])):
                wrong.append("a mesh without sense was read")
        wrong += [f"{BATCH} took {took:.0f} s"] if took > 70 else []
        for path in paths:
            Path(path).unlink()
        return {"read": read, "refused with a reason": BATCH - read}, wrong

    def one(self, seed: int) -> tuple[dict[str, int], list[str]]:
        return self.try_it(random.Random(seed))


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
