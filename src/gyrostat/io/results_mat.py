"""Trajectories as MATLAB files: every saved array under a name that MATLAB takes, and the whole NetCDF file as bytes,
from which it is read back.

Reading takes these bytes alone, and they are judged as any result file is.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .results_read import ResultError, read_trajectory, trailer

if TYPE_CHECKING:
    from ..simulation.result.trajectory import Trajectory

WHOLE = "gyrostat_netcdf"
MAX_BYTES = 2**31  # MATLAB's files hold no larger array


def mat_bytes(trajectory: Trajectory, dtype: np.dtype[Any], compress: bool) -> memoryview:
    from scipy.io import savemat

    from .results import netcdf_of, variables_of

    content: dict[str, Any] = {}
    for name, x in variables_of(trajectory).variables.items():
        words = x.values.dtype.kind in "UO"
        values = np.array([str(word) for word in x.values.ravel()], dtype=object) if words else x.values
        content[_name(str(name), content)] = (
            values.astype(dtype) if values.dtype == np.float64 and x.ndim > 1 else values
        )
    content["model"], content["gyrostat"] = trajectory.craft.name, trajectory.data.attrs["gyrostat"]
    content["audit"] = str(trajectory.audit)
    whole = netcdf_of(trajectory, dtype, compress)
    closed = bytes(whole) + trailer(hashlib.sha256(whole).digest())
    if len(closed) >= MAX_BYTES:
        raise ValueError(
            "this run is too large for MATLAB's files (2 GB an array). Save it as .nc, which MATLAB reads."
        )
    content[WHOLE] = np.frombuffer(closed, dtype=np.uint8)
    file = BytesIO()
    savemat(file, content, do_compression=compress, long_field_names=True)
    return file.getbuffer()


def _name(name: str, taken: dict[str, Any]) -> str:
    """As MATLAB takes it: letters, digits and underscores, a letter first, 63 at most, no two alike."""
    plain = re.sub(r"[^0-9A-Za-z_]", "_", name)
    plain = (plain if plain[:1].isalpha() else f"x{plain}")[:60]
    found, k = plain, 2
    while found in taken:
        found, k = f"{plain}_{k}", k + 1
    return found


def read_mat(path: Path) -> Trajectory:
    """What `mat_bytes` made. Raises a `ResultError` for anything else."""
    from scipy.io import loadmat, whosmat

    if not path.is_file():
        raise ResultError(f"'{path}' does not exist; expected a trajectory saved by gyrostat.")
    try:
        shapes = {name: (shape, kind) for name, shape, kind in whosmat(str(path))}
        shape, kind = shapes.get(WHOLE, ((0, 0), ""))
        if kind != "uint8" or len(shape) != 2 or shape[0] != 1 or shape[1] > min(MAX_BYTES, 1100 * path.stat().st_size):
            raise ResultError(
                f"'{path}' holds no whole run: it is MATLAB's file of another program, or of an older gyrostat. Run it "
                "again, or save it as .nc."
            )
        whole = loadmat(str(path), variable_names=[WHOLE])[WHOLE].ravel()
    except (ResultError, MemoryError):
        raise
    except Exception as error:  # SciPy tells what it cannot read by every kind of exception
        raise ResultError(f"'{path}' cannot be read as a MATLAB file: {type(error).__name__}: {error}") from error
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as folder:
        inner = Path(folder) / "run.nc"
        inner.write_bytes(whole.tobytes())
        try:
            return read_trajectory(inner)
        except ResultError as error:
            raise ResultError(str(error).replace(str(inner), str(path))) from None
