"""Histories of chosen runs, or of all, in a Zarr store: a chunk holds a block of runs, and memory one block at a time.

Runs are made once more, bit for bit, with their states over time. `made` is written after everything else of a block:
where it is false nothing is there yet, and what was begun goes on from there.
"""

from __future__ import annotations

import importlib
import json
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from .._warned import warn_user
from ..algebra import Array
from ..io.writing import WriteError, write_text
from ..simulation import SimulationWarning
from ..simulation.engine.interruption import one_after_the_other
from ..simulation.engine.progress import progress_bar
from .store import differences

if TYPE_CHECKING:
    from .found import Campaign

BLOCK = 256  # runs
AXES = "_ARRAY_DIMENSIONS"  # where format 2 of Zarr keeps the names of axes, as xarray reads them
ABOUT, CONSOLIDATED = "campaign", ".zmetadata"
COMPRESSORS = ("blosc", "zstd")  # that Zarr's versions take by themselves
LONGEST = 200  # characters of why a run failed


def write_histories(
    campaign: Campaign,
    path: str | Path,
    numbers: Sequence[int],
    *,
    block: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
    **changes: Any,
) -> Path:
    """See `Campaign.save_histories`."""
    size = min(BLOCK, len(numbers)) if block is None else block
    if size < 1:
        raise ValueError(f"block is {block!r}; expected at least one run.")
    folder = Path(path)
    group = _opened(folder, resume, _about(campaign, numbers, size, changes))
    todo = _missing(group, numbers, size, folder)
    title = f"{campaign.plan.craft.name}: histories"
    try:
        with one_after_the_other(), progress_bar(progress, title, len(numbers), "runs") as tell:
            done, waiting = 0, list(todo)
            while waiting:
                left = []
                for at in waiting:
                    if not _write_block(campaign, group, folder, at, numbers, size, changes):
                        left.append(at)
                        continue
                    done += 1
                    if tell is not None:
                        tell(done / len(todo))
                if len(left) == len(waiting):
                    raise ValueError("none of these runs can be flown; `failures` says why. There is nothing to write.")
                waiting = left
        _zarr().consolidate_metadata(group.store, zarr_format=2)
        told = json.loads((folder / CONSOLIDATED).read_text(encoding="utf-8"))
        write_text(folder / CONSOLIDATED, json.dumps(told, indent=2, sort_keys=True))  # in one order, whoever was first
    except OSError as error:
        raise WriteError(
            f"cannot write '{folder}': {error.strerror or error}. Blocks that are whole stay; go on with resume=True."
        ) from None
    return folder


def _zarr() -> Any:
    try:
        return importlib.import_module("zarr")
    except ImportError as error:
        raise ImportError(
            "Zarr is not installed, and stores of histories need it: pip install 'gyrostat[zarr]'.", name="zarr"
        ) from error


def _about(campaign: Campaign, numbers: Sequence[int], size: int, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for a store to go on."""
    asked = {name: np.asarray(x).tolist() if name == "save_at" else repr(x) for name, x in sorted(changes.items())}
    text = json.dumps({**campaign.plan.manifest, "histories of": list(map(int, numbers)), "block": size, **asked})
    return dict(json.loads(text))


def _opened(folder: Path, resume: bool, about: Mapping[str, Any]) -> Any:
    """The group: a new one, or one that was begun for the same runs."""
    zarr = _zarr()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        try:
            _must_be_plain(folder)
            group = zarr.open_group(str(folder), mode="r+", zarr_format=2, use_consolidated=False)
            found = dict(json.loads(group.attrs[ABOUT]))
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"'{folder}' is no store of histories, and not empty. Choose another folder.") from None
        others = differences(found, about)
        if others:
            raise ValueError(f"'{folder}' holds other histories: {'; '.join(others)}. Choose another folder.")
        if not resume:
            raise ValueError(f"'{folder}' is there already. Go on with it: resume=True; or choose another folder.")
        return group
    try:
        group = zarr.open_group(str(folder), mode="w", zarr_format=2)
        group.attrs.update({ABOUT: json.dumps(about), "gyrostat": __version__})
    except OSError as error:
        raise WriteError(f"cannot write '{folder}': {error.strerror or error}. Choose another place.") from None
    return group


def _must_be_plain(folder: Path) -> None:
    """Files and folders alone: through a link, something else would be written; a pipe would be waited for."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if not stat.S_IFMT(os.lstat(Path(place, name)).st_mode) in (stat.S_IFREG, stat.S_IFDIR):
                raise ValueError(f"'{name}' is neither a file nor a folder")


def _missing(group: Any, numbers: Sequence[int], size: int, folder: Path) -> list[int]:
    """Where the blocks begin that are to be made: those that never were, or of which not even that can be read."""
    starts = list(range(0, len(numbers), size))
    with suppress(ValueError):  # it is there, and no array
        if "made" not in group:
            return starts
    made = _as_made(group, folder, "made", (len(numbers),), (size,), np.dtype(bool))
    missing = []
    for at in starts:
        try:
            whole = bool(made[at])
        except (OSError, ValueError, RuntimeError):
            whole = False
            warn_user(f"the block of runs from {at} on in '{folder}' was damaged; its runs are made again.")
        if not whole:
            missing.append(at)
    return missing


def _as_made(group: Any, folder: Path, name: str, shape: Any, chunks: Any, dtype: np.dtype[Any]) -> Any:
    """An array of the store, if it is as `_make` makes it: filters of others may run what stands in their chunks."""
    array: Any = None
    try:
        array = group[name]
        kind, packed = array.metadata.dtype, array.metadata.compressor
        same = (tuple(array.shape), tuple(array.chunks)) == (tuple(shape), tuple(chunks))
        same &= np.dtype(getattr(kind, "to_native_dtype", lambda: kind)()) == dtype and not array.metadata.filters
        same &= packed is None or packed.codec_id in COMPRESSORS
    except (KeyError, ValueError, TypeError, AttributeError):
        same = False
    if not same:
        raise ValueError(f"'{name}' in '{folder}' is not as it was made. Take the store away, and write it anew.")
    return array


def _write_block(
    campaign: Campaign,
    group: Any,
    folder: Path,
    at: int,
    numbers: Sequence[int],
    size: int,
    changes: Mapping[str, Any],
) -> bool:
    """Runs at, at + 1, ... of the numbers. Rows of those that no craft can fly stay empty. False where that is all of
    them, and no other has shown yet what a history holds.
    """
    plan, own = campaign.plan, [int(k) for k in numbers[at : at + size]]
    values = plan.values_of(own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # why runs failed stands in the store
        flown, rows, failures = plan.flown(np.array(own), values, {**changes, "progress": False})
    if flown is not None:
        failures |= {int(rows[k]): why for k, why in plan.failures_of(flown).items()}
        _must_be_the_same(campaign, own, rows, flown.outcomes, failures)
        data = flown.data
        if "made" not in group:
            _make(group, data, numbers, size)
        for name, variable in data.data_vars.items():
            if "run" in variable.dims:
                array = _as_made(group, folder, str(name), *_layout(variable, numbers, size), variable.dtype)
                empty = np.nan if variable.dtype.kind == "f" else 0
                whole = np.full((len(own), *variable.shape[1:]), empty, variable.dtype)
                whole[rows] = variable.values
                array[at : at + len(own)] = whole
    elif "made" not in group:
        return False
    why = [failures.get(k, "")[:LONGEST] for k in range(len(own))]
    failure = _as_made(group, folder, "failure", (len(numbers),), (size,), np.dtype(f"<U{LONGEST}"))
    failure[at : at + len(own)] = np.array(why, dtype=f"<U{LONGEST}")
    group["made"][at : at + len(own)] = True  # last: the block is whole
    return True


def _must_be_the_same(
    campaign: Campaign, own: list[int], rows: Array, outcomes: Mapping[str, Array], failures: Mapping[int, str]
) -> None:
    """As in the campaign: laws and environments are functions, which may have changed since."""
    places = {int(k): i for i, k in enumerate(campaign.numbers)}
    for row, k in enumerate(rows):
        if k in failures or own[k] not in places:
            continue
        for name, found in outcomes.items():
            stored = campaign.outcomes[name][places[own[k]]]
            if np.asarray(found[row]).tobytes() != np.asarray(stored).tobytes():
                raise ValueError(
                    f"run {own[k]} gives {name} = {float(found[row]):.17g} now, and {float(stored):.17g} in the "
                    "campaign: a law, an environment, an event or the machine is not what it was."
                )


def _layout(variable: Any, numbers: Sequence[int], size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and chunks of an array over runs."""
    rest = variable.shape[1:]
    return (len(numbers), *rest), (size, *(max(1, n) for n in rest))


def _make(group: Any, data: Any, numbers: Sequence[int], size: int) -> None:
    """The arrays, empty; `made` last. data: the histories of some runs. Only real numbers have a value that stands for
    none: readers take it for a mask.
    """
    for name, variable in data.variables.items():
        if name == "run":
            continue
        about = {AXES: list(variable.dims), **{key: str(x) for key, x in variable.attrs.items()}}
        given = {"dtype": variable.dtype, "attributes": about, "overwrite": True}
        if "run" in variable.dims:
            shape, chunks = _layout(variable, numbers, size)
            empty = np.nan if variable.dtype.kind == "f" else None
            group.create_array(name, shape=shape, chunks=chunks, fill_value=empty, **given)
        else:
            group.create_array(name, shape=variable.shape, fill_value=None, **given)[...] = variable.values
    runs: dict[str, Any] = {"shape": (len(numbers),), "chunks": (size,), "fill_value": None, "overwrite": True}
    runs["attributes"] = {AXES: ["run"]}
    group.create_array("run", dtype="int64", **runs)[:] = np.array(numbers)
    group.create_array("failure", dtype=f"<U{LONGEST}", **runs)
    group.create_array("made", dtype="bool", **runs)
