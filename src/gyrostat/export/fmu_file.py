"""An FMU file: FMI 3.0 or 2.0, co-simulation and model exchange, with its sources and, where it can be, a binary."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..io.writing import check_writable, write_bytes
from ..model import Spacecraft
from ..scenario.scenario import Scenario
from ..tracing.c99 import identifier as c_name
from .fmu_description import CO_SIMULATION, MODEL_EXCHANGE, Description, build_description, model_description
from .fmu_model import FmuModel, fmu_model
from .fmu_source import sources
from .fmu_variables import Variables

VERSIONS = ("3.0", "2.0")
KINDS = (CO_SIMULATION, MODEL_EXCHANGE)
COMPILERS = ("cc", "gcc", "clang")
# The same bits whoever compiles: nothing is fused or reordered
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-shared")
# How gyrostat integrates a run; an FMU has rk4 with a fixed step, or the importer's solver
_OWN_INTEGRATION = ("integrator", "rtol", "atol", "max_step", "max_steps", "precision")
_NO_TOKEN = "{token}"
_STAMP = (1980, 1, 1, 0, 0, 0)  # of all files in it: the same FMU, the same bytes


@dataclass(frozen=True, eq=False)
class Fmu:
    """An FMU that was written. binary: its platform, as the standard calls it; None where there are sources alone.

    notes: what is to be known of it, in sentences.
    """

    path: Path
    version: str
    kinds: tuple[str, ...]
    identifier: str
    step: float | None
    variables: Variables
    binary: str | None
    notes: tuple[str, ...]


def fmu(
    source: Scenario | Spacecraft,
    path: str | os.PathLike[str],
    *,
    version: str = "3.0",
    kinds: Sequence[str] | None = None,
    step: float | None = None,
    outputs: Sequence[str] = (),
    frames: Sequence[str] = (),
    parameters: Sequence[str] | Mapping[str, Any] = (),
    loads: bool | Sequence[str] | None = None,
    name: str | None = None,
    binary: bool | None = None,
    **options: Any,
) -> Fmu:
    """Write a scenario, or a spacecraft with options of `gs.simulate` (q0, v0, control, environment, ...), as an FMU.

    version: of FMI, "3.0" or "2.0". kinds: "co-simulation", "model-exchange"; both by default. A sampled law has
        co-simulation alone.
    step: of co-simulation, in seconds: `gs.simulate(integrator="rk4", step=step)`; by default the scenario's, if its
        integrator is "rk4".
    outputs: besides q and v: "tau" (always where there is a law), "momentum", "kinetic_energy", "center_of_mass",
        "reaction_wrenches", "frames" and "poses" (all of them); those of a scenario are there already. frames: bodies
        and frames, by name, whose position and quaternion are outputs.
    parameters: names such as "link_6.mass" that can be tuned, or {name: start value}.
    loads: joints whose loads are inputs, by name (that of the base is its wrench, in base axes), or True for all.
        Without a law they are, with one they are not unless asked for; the law's own `inputs={"target": start}` are.
    binary: whether a Linux binary is in it; by default, if there is a C compiler.

    Raises ValueError for another version, and for a path that does not end in .fmu.
    """
    if version not in VERSIONS:
        raise ValueError(f"version is {version!r}; FMUs are written of FMI '3.0' and '2.0'.")
    path = Path(path)
    if path.suffix != ".fmu":
        raise ValueError(f"'{path}' is to be the name of an FMU: it must end in .fmu.")
    check_writable(path)
    craft, title, given, kept = _source(source, options)
    about, step, notes = _integration(given, kinds, step)
    model = fmu_model(craft, given, outputs=[*kept, *outputs], frames=frames, parameters=parameters, loads=loads)
    kinds, more = _kinds(kinds, model, step)
    notes += more
    model = _with_step(model, step)
    identifier = c_name(name or path.stem)
    if identifier != (name or path.stem):
        notes.append(f"its model identifier is '{identifier}': '{name or path.stem}' is no name in C.")
    token, texts, compiled = _sources(model, version, identifier, kinds)
    from .. import __version__

    about = replace(
        about,
        title=title,
        identifier=identifier,
        token=token,
        kinds=kinds,
        tool=f"gyrostat {__version__}",
        text=f"{craft.name}: {', '.join(kinds)}",
    )
    content: dict[str, bytes] = {
        "modelDescription.xml": model_description(version, about, model.variables, compiled).encode("utf-8")
    }
    content |= {f"sources/{file}": text.encode("utf-8") for file, text in texts.items()}
    if version == "3.0":
        content["sources/buildDescription.xml"] = build_description(identifier, compiled).encode("utf-8")
    place, library, why = _binary(version, identifier, texts, compiled, binary)
    if library is not None:
        content[f"binaries/{place}/{identifier}.so"] = library
    else:
        notes.append(why)
    write_bytes(path, _zipped(content))
    return Fmu(
        path,
        version,
        kinds,
        identifier,
        step if CO_SIMULATION in kinds else None,
        model.variables,
        place if library is not None else None,
        tuple(notes),
    )


def _source(
    source: Scenario | Spacecraft, options: Mapping[str, Any]
) -> tuple[Spacecraft, str, dict[str, Any], tuple[str, ...]]:
    """The craft, a title, the options of `gs.simulate`, and outputs that are asked for."""
    if isinstance(source, Spacecraft):
        return source, source.name, dict(options), ()
    if type(source) is not Scenario:
        raise ValueError(
            f"'{source.name}' is a {type(source).__name__}: an FMU holds one spacecraft, without phases. Export a "
            "scenario of one spacecraft."
        )
    if source.limits == "stop":
        raise ValueError('limits = "stop": an FMU cannot hold it: no events are found there. Write limits = "note".')
    given = {"q0": source.q0, "v0": source.v0, "t_span": (0.0, source.duration), **source.options, **options}
    return source.craft, source.name, given, source.outputs


def _integration(
    options: dict[str, Any], kinds: Sequence[str] | None, step: float | None
) -> tuple[Description, float | None, list[str]]:
    """Takes out of the options what says how a run is integrated: the default experiment, the step, and notes."""
    own = {name: options.pop(name) for name in _OWN_INTEGRATION if options.get(name) is not None}
    given, saved = options.pop("step", None), options.pop("save_at", None)
    wanted = KINDS if kinds is None else tuple(kinds)
    notes: list[str] = []
    if step is None and own.get("integrator") == "rk4":
        step = given
        own.pop("integrator")
    tolerance = own.pop("rtol", None)
    if step is None and CO_SIMULATION in wanted:
        found = f"integrator '{own.get('integrator', 'dop853')}'"
        raise ValueError(
            f"co-simulation is by rk4 with a fixed step; what is given has {found}, which an FMU cannot hold. Give the "
            "FMU its step= in seconds (--step 0.01), or kinds=['model-exchange'] (--kinds model-exchange)."
        )
    if step is not None and not 0 < step < float("inf"):
        raise ValueError(f"step is {step!r}; expected a positive number of seconds.")
    if own:
        how = f"rk4 with a step of {step:g} s in co-simulation" if step is not None and CO_SIMULATION in wanted else ""
        how += " and " if how and MODEL_EXCHANGE in wanted else ""
        how += "the importer's solver in model exchange" if MODEL_EXCHANGE in wanted else ""
        notes.append(f"{', '.join(own)}: of gyrostat's integrators, not in the FMU, which has {how}.")
    every = _every(saved)
    if saved is not None and every is None:
        notes.append("save_at: times to keep are the importer's choice.")
    span = options.get("t_span")
    span = None if span is None else (float(span[0]), float(span[1]))
    scalar = None if tolerance is None else float(np.min(tolerance))
    about = Description("", "", "", (), "", span=span, every=every, tolerance=scalar)
    return about, None if step is None else float(step), notes


def _every(saved: Any) -> float | None:
    """The time between saved states, where it is one."""
    if saved is None or len(np.atleast_1d(saved)) < 2:
        return None
    gaps = np.diff(np.asarray(saved, dtype=float))
    even = bool(np.allclose(gaps[:-1], gaps[0], rtol=1e-9)) if len(gaps) > 1 else True
    return float(f"{gaps[0]:.12g}") if even else None


def _kinds(kinds: Sequence[str] | None, model: FmuModel, step: float | None) -> tuple[tuple[str, ...], list[str]]:
    if isinstance(kinds, str):
        kinds = [kinds]
    for kind in kinds or ():
        if kind not in KINDS:
            raise ValueError(f"kinds: '{kind}' is not known; choose 'co-simulation', 'model-exchange', or both.")
    if kinds is not None and not kinds:
        raise ValueError("kinds: none is given; choose 'co-simulation', 'model-exchange', or both.")
    sampled = model.update is not None
    why = f"its law is sampled, every {model.period:g} s, which model exchange cannot hold here" if sampled else ""
    if sampled and kinds is not None and MODEL_EXCHANGE in kinds:
        raise ValueError(f"kinds: 'model-exchange' is refused: {why}. Export co-simulation alone.")
    if sampled and kinds is None:
        return (CO_SIMULATION,), [f"co-simulation alone: {why}."]
    return tuple(kind for kind in KINDS if kind in (kinds or KINDS)), []


def _with_step(model: FmuModel, step: float | None) -> FmuModel:
    variables = model.variables
    start = 1.0 if step is None else step
    return replace(model, variables=replace(variables, step=variables.step._replace(start=start)))


def _sources(
    model: FmuModel, version: str, identifier: str, kinds: Sequence[str]
) -> tuple[str, dict[str, str], list[str]]:
    """The token, which belongs to all that is in them; texts, and which are to be compiled."""
    step = model.variables.step.start or 0.0
    try:
        texts, compiled = sources(model, version, identifier, kinds, step, _NO_TOKEN)
    except NotImplementedError as error:
        raise ValueError(f"an FMU holds everything that acts as C, and {error}.") from error
    names = [variable.name for variable in model.variables]
    digest = hashlib.sha256("\0".join([version, *texts.values(), *names]).encode()).hexdigest()
    token = f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"
    return token, {name: text.replace(_NO_TOKEN, token) for name, text in texts.items()}, compiled


def _binary(
    version: str, identifier: str, texts: Mapping[str, str], compiled: Sequence[str], wanted: bool | None
) -> tuple[str, bytes | None, str]:
    """Its platform and its bytes; or why there is none."""
    machine = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64"}.get(platform.machine())
    place = f"{machine}-linux" if version == "3.0" else "linux64"
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    why = ""
    if wanted is False:
        why = "it has no binary, as asked."
    elif not sys.platform.startswith("linux") or machine is None or (version == "2.0" and machine != "x86_64"):
        why = f"it has no binary: none is made for {sys.platform} on {platform.machine()} with FMI {version}."
    elif compiler is None:
        why = f"it has no binary: no C compiler ({', '.join(COMPILERS)}) is here."
    if why:
        if wanted:
            raise ValueError(f"binary=True: {why.removeprefix('it has no binary: ')}")
        return place, None, f"{why} Importers that compile build it from its sources."
    assert compiler is not None
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        command = [compiler, *FLAGS, *compiled, "-lm", "-o", f"{identifier}.so"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{compiler} did not compile the FMU's sources:\n{done.stderr[:2000]}")
        return place, (Path(folder) / f"{identifier}.so").read_bytes(), ""


def _zipped(content: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, piece in content.items():
            info = zipfile.ZipInfo(name, _STAMP)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, piece)
    return buffer.getvalue()
