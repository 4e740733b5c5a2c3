"""A result file, read with suspicion: it may be damaged, cut short, or made to do harm.

First the digest of its bytes, before the HDF5 library sees any: what was damaged is told as such. Then its structure:
the header, and plain arrays of numbers whose content is in the file; nothing else is read. Then every array against the
model: names, shapes, types.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable
from dataclasses import fields
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ..algebra import Array
from ..model import Spacecraft
from ..simulation.engine.status import Status
from ..simulation.engine.system import State
from ..simulation.problem.settings import Settings
from ..simulation.result.dataset import coordinate_names
from ..simulation.result.trajectory import Event, Trajectory
from .results_netcdf import HEADER, believed, escaped
from .toml.craft_reader import read_toml

if TYPE_CHECKING:
    import h5py
    import xarray

CONVENTIONS, FORMATION, PHASES = "gyrostat-2", "gyrostat-formation-1", "gyrostat-phases-1"
_INSTEAD = {
    FORMATION: " Load it with FormationTrajectory.load.",
    PHASES: " It is a run in phases: go on with simulate_phases(..., resume=...).",
}
STATE, PARAMETER = "state_", "parameter "
_TRAILER = b"\n# gyrostat result, SHA-256 of all before: "
_HDF5 = b"\x89HDF\r\n\x1a\n"
_PIECE = 2**22
_NUMBERS = {np.dtype(kind) for kind in ("f8", "f4", "i8", "i4", "i1")}
_FILTERS = {1, 2}  # of HDF5: deflate and shuffle
# by row of a run: the axes beyond (run,) time
_AXES = {
    "q": ("q_name",),
    "v": ("v_name",),
    "command": ("v_name",),
    "tau": ("v_name",),
    "vdot": ("v_name",),
    "wrenches": ("body", "wrench"),
    "work": (),
    "impulse": ("wrench",),
    "potential": (),
    "multipliers": ("constraint_row",),
    "constraint_wrenches": ("body", "wrench"),
    "on_second": ("constraint", "wrench"),
    "violation": ("constraint_row",),
    "violation_rate": ("constraint_row",),
}
_Model = TypeVar("_Model", bound=BaseModel)
_Read = TypeVar("_Read")
Variables = dict[str, tuple[tuple[str, ...], Array, dict[str, Any]]]
# of each run as a whole: its axes
_OF_RUNS = {"audited": ("audited_name",), "cause_impulse": ("cause", "wrench"), "cause_work": ("cause",)}
_REQUIRED = ("time", "q", "v", "work", "impulse", "command", "tau", "vdot", "wrenches")


class ResultError(ValueError):
    """A file that is not, or no longer, a result of gyrostat."""


def trailer(digest: bytes) -> bytes:
    """The last line of a file."""
    return _TRAILER + digest.hex().encode() + b"\n"


def read_trajectory(path: Path) -> Trajectory:
    return suspicious(path, _read)


def suspicious(path: Path, read: Callable[[Path], _Read]) -> _Read:
    """What `read` makes of a file whose bytes are what was saved; whatever is wrong with it becomes a ResultError."""
    try:
        if "\0" in str(path) or not path.exists():
            raise ResultError("does not exist; expected a trajectory saved by gyrostat (.nc).")
        _check_digest(path)
        return read(path)
    except ResultError as error:
        raise ResultError(f"'{path}' {error}") from None
    except OSError as error:
        raise ResultError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except (MemoryError, AssertionError):
        raise
    except Exception as error:  # HDF5 tells what it cannot read by every kind of exception
        raise ResultError(
            f"'{path}' was made by something else than gyrostat: {type(error).__name__}: {error}"
        ) from error


# ---- bytes


def _check_digest(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ResultError("is no ordinary file; expected a trajectory saved by gyrostat (.nc).")
    length = len(trailer(bytes(32)))
    rest = path.stat().st_size - length
    with open(path, "rb") as file:
        if file.read(len(_HDF5)) != _HDF5:
            raise ResultError("cannot be read as NetCDF.")
        file.seek(max(rest, 0))
        last = file.read()
        if not last.startswith(_TRAILER):
            raise ResultError("was not written by gyrostat, or was changed or cut short since.")
        file.seek(0)
        digest = hashlib.sha256()
        while rest > 0 and (piece := file.read(min(rest, _PIECE))):
            digest.update(piece)
            rest -= len(piece)
    if last != trailer(digest.digest()):
        raise ResultError("is damaged: its content is not what was saved. Run it again, or look for a copy.")


# ---- structure


class Described(BaseModel):
    """One variable of the header: its words, or the shape of its numbers."""

    dims: list[str]
    attributes: dict[str, str | int | float]
    words: list[Any] | None = None
    shape: list[int] | None = None
    single: bool = False  # seven digits, as asked for when it was saved


class Told(BaseModel):
    """Of one trajectory: its model and its notes."""

    model_toml: str
    notes: str


class _Header(Told):
    format: str
    variables: dict[str, Described]


def _read(path: Path) -> Trajectory:
    header, variables = parts_of(path, _Header, CONVENTIONS)
    return trajectory_of(header, variables, path)


def format_of(header: Any) -> str:
    return str(header.get("format", "")) if isinstance(header, dict) else ""


def format_in(path: Path) -> str:
    """What a file says it is, once its bytes are what was saved."""

    def told(path: Path) -> str:
        import h5py

        with h5py.File(path, "r") as file:
            if HEADER not in file:
                return ""
            return format_of(json.loads(_array(file, HEADER, path.stat().st_size, np.dtype("u1")).tobytes()))

    return suspicious(path, told)


def parts_of(path: Path, model: type[_Model], expected: str) -> tuple[Any, Variables]:
    """The header, of this format, and every array that it tells of."""
    import h5py

    size = path.stat().st_size
    with h5py.File(path, "r") as file:
        if HEADER not in file:
            raise ResultError(f"was not written by gyrostat, or by another version; expected format '{expected}'.")
        told = json.loads(_array(file, HEADER, size, np.dtype("u1")).tobytes())
        if (found := format_of(told)) != expected:
            hint = _INSTEAD.get(found, "")
            raise ResultError(f"is in format '{found}'; expected '{expected}' here.{hint}")
        header: Any = valid(model, told, "header")
        known = {escaped(name) for name, x in header.variables.items() for name in (name, *x.dims)} | {HEADER}
        for name in file:
            if name not in known:
                raise ResultError(f"holds '{name}', which gyrostat did not write.")
        claimed = sum(8 * prod(x.shape) for x in header.variables.values() if x.shape is not None)
        if claimed > 2 * believed(size):
            raise ResultError(f"claims {claimed:,} bytes, far more than it can hold.")
        return header, {name: _variable(file, name, x, size) for name, x in header.variables.items()}


def _variable(file: h5py.File, name: str, told: Described, size: int) -> tuple[tuple[str, ...], Array, dict[str, Any]]:
    if told.words is not None:
        values = np.array(told.words, dtype=np.str_)
    else:
        values = _array(file, escaped(name), size)
        if (values.dtype == np.float32) != told.single:
            raise ResultError(f"holds '{name}' of type {values.dtype}; expected float{32 if told.single else 64}.")
        values = values.astype(np.float64) if told.single else values
        if list(values.shape) != told.shape:
            raise ResultError(f"holds '{name}' of shape {values.shape}; expected {told.shape}.")
    if values.ndim != len(told.dims):
        raise ResultError(f"holds '{name}' with {values.ndim} axes; expected {len(told.dims)}.")
    return tuple(told.dims), values, dict(told.attributes)


def _array(file: h5py.File, name: str, size: int, kind: np.dtype[Any] | None = None) -> Array:
    """Numbers, if they are all here: HDF5 may point to other files,
    and may claim any number of entries that it does not hold.
    """
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ResultError(f"has a link, or nothing, in the place of '{name}'.")
    item = file[name]
    if not isinstance(item, h5py.Dataset):
        raise ResultError(f"holds '{name}', which is no array.")
    layout = item.id.get_create_plist()
    if layout.get_external_count() or item.is_virtual:
        raise ResultError(f"keeps '{name}' in another file: that is not read.")
    if item.dtype not in _NUMBERS and item.dtype != kind:
        raise ResultError(f"holds '{name}' of type {item.dtype}; expected numbers.")
    stored, claimed = item.id.get_storage_size(), item.size * item.dtype.itemsize
    filters = [layout.get_filter(k)[0] for k in range(layout.get_nfilters())]
    packed = bool(filters) and set(filters) <= _FILTERS and claimed <= believed(size)
    if (filters and not packed) or (not filters and stored != claimed) or stored > size:
        raise ResultError(f"claims {claimed:,} bytes for '{name}' and holds {stored:,}.")
    return np.asarray(item[...])


# ---- content


class _Notes(BaseModel):
    """What a continued run and a report take from the notes; others may be there."""

    model_config = ConfigDict(extra="allow")

    model: str
    gyrostat: str
    events: list[tuple[int, str, float]]
    interrupted: bool
    t_span: tuple[float, float]
    t0: float
    formulation: str
    integrator: str
    rtol: float | list[float]
    atol: float | list[float]
    step: float | None
    max_step: float | None
    breakpoints: list[float]
    locked: list[str]
    actuators: dict[str, bool | float] | None
    stops: dict[str, float] | None
    conserve: str | None
    mode: str | None
    stabilisation: tuple[float, float]
    inputs: dict[str, list[int]]
    functions: list[str]
    failures: list[str]
    unresolved_events: dict[str, float] = {}


def below(variables: Variables, prefix: str) -> Variables:
    """Those of one of several trajectories, under their own names."""
    return {
        name.removeprefix(prefix): (tuple(dim.removeprefix(prefix) for dim in dims), values, words)
        for name, (dims, values, words) in variables.items()
        if name.startswith(prefix)
    }


def trajectory_of(header: Told, variables: Variables, path: Path) -> Trajectory:
    craft = read_toml(header.model_toml.encode(), str(path))
    notes = _notes(header.notes)
    state, constants = _state(variables), _of("run_constants", variables, 2)
    prefixes = (STATE, PARAMETER, "event_", "run_constants")
    data = _dataset(craft, {n: x for n, x in variables.items() if not n.startswith(prefixes)})
    runs = data.sizes.get("run", 1)
    if len(state.t) != runs or len(constants) != runs:
        raise ResultError(f"holds {len(state.t)} states and {len(constants)} rows of constants for {runs} runs.")
    parameters = {}
    for name in (n for n in variables if n.startswith(PARAMETER)):
        own = name.removeprefix(PARAMETER)
        parameters[own] = _shaped(name, variables, (runs, *np.shape(craft.value(own))))
    events = _events(craft, notes.pop("events"), variables, runs)
    interrupted = notes.pop("interrupted")
    notes["t_span"], notes["failures"] = tuple(notes["t_span"]), tuple(notes["failures"])
    data.attrs = notes
    return Trajectory(craft, data, state, constants, parameters, events, None, interrupted)


def valid(model: type[_Model], content: Any, what: str) -> _Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ResultError(f"has a wrong {what}: {where}: {first['msg']}.") from None


def _notes(text: str) -> dict[str, Any]:
    notes = json.loads(text)
    valid(_Notes, notes, "note")
    Settings().complete(notes)
    return notes


def _state(variables: dict[str, Any]) -> State:
    one = ("t", "h", "status", "steps", "rejections")
    state = State(**{f.name: _of(STATE + f.name, variables, 1 if f.name in one else 2) for f in fields(State)})
    known = {float(status) for status in Status}
    if not np.isfinite(state.t).all() or not set(state.status.tolist()) <= known:
        raise ResultError("holds states whose time or status has no meaning.")
    return state


def _dataset(craft: Spacecraft, variables: dict[str, Any]) -> xarray.Dataset:
    import xarray

    for name in _REQUIRED:
        if name not in variables:
            raise ResultError(f"does not hold '{name}'.")
    lead = ("run", "time") if "run" in variables["q"][0] else ("time",)
    for name, axes in _AXES.items():
        if name in variables and variables[name][0] != (*lead, *axes):
            raise ResultError(f"holds '{name}' along {variables[name][0]}; expected {(*lead, *axes)}.")
    for name, axes in _OF_RUNS.items():
        if name in variables and variables[name][0] != (*lead[:-1], *axes):
            raise ResultError(f"holds '{name}' along {variables[name][0]}; expected {(*lead[:-1], *axes)}.")
    times = _of("time", variables, 1)
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ResultError("holds times that do not increase.")
    q_name, v_name, q_units, v_units = coordinate_names(craft)
    expected = {"q_name": q_name, "v_name": v_name, "q_units": q_units, "v_units": v_units}
    expected["body"] = [body.name for body in craft.bodies]
    for name, words in expected.items():
        if name not in variables or variables[name][1].tolist() != words:
            raise ResultError(f"holds '{name}' of another spacecraft than {craft.name}.")
    coordinates = {name for name, (dims, x, _) in variables.items() if dims == (name,) or x.dtype.kind == "U"}
    return xarray.Dataset(
        {name: x for name, x in variables.items() if name not in coordinates},
        {name: x for name, x in variables.items() if name in coordinates},
    )


def _events(craft: Spacecraft, told: list[Any], variables: dict[str, Any], runs: int) -> tuple[Event, ...]:
    if not told:
        return ()
    q = _shaped("event_q", variables, (len(told), craft.nq))
    v = _shaped("event_v", variables, (len(told), craft.nv))
    if any(not 0 <= run < runs for run, _, _ in told):
        raise ResultError(f"holds events of runs that are not there; there are {runs}.")
    return tuple(Event(run, name, t, *at) for (run, name, t), at in zip(told, zip(q, v, strict=True), strict=True))


def _of(name: str, variables: dict[str, Any], axes: int) -> Array:
    if name not in variables:
        raise ResultError(f"does not hold '{name}'.")
    values = variables[name][1]
    if values.dtype != np.float64 or values.ndim != axes:
        raise ResultError(
            f"holds '{name}' of type {values.dtype} with {values.ndim} axes; expected float64 with {axes}."
        )
    return values


def _shaped(name: str, variables: dict[str, Any], shape: tuple[int, ...]) -> Array:
    values = _of(name, variables, len(shape))
    if values.shape != shape:
        raise ResultError(f"holds '{name}' of shape {values.shape}; expected {shape}.")
    return values
