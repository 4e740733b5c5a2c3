"""Meshes for pictures: read by trimesh, in a process with limits, for they come from anywhere and its readers are many.

Refused: over 64 MB, more than a million triangles, archives under any name, formats not listed, pipes and devices.
All meshes of a craft together may take 60 s and 2 GB. A mesh that cannot be read costs its picture and nothing else.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..algebra import Array
from ..io.bounded import is_archive, read_file, run_limited, why_ended
from ..model import ModelError

FORMATS = (".stl", ".obj", ".ply", ".off", ".dae", ".glb")
MAX_BYTES = 64 * 2**20
MAX_TRIANGLES = 1_000_000
SECONDS = 60.0  # of the clock, for all of them
LIMITS = {"RLIMIT_CPU": 60, "RLIMIT_AS": 2 * 2**30, "RLIMIT_FSIZE": 256 * 2**20, "RLIMIT_CORE": 0}

# From folder/0.stl, ...: folder/0.vertices.npy and 0.faces.npy, or 0.reason
_READ = """
import io, os
import numpy as np
folder, most = sys.argv[1], int(sys.argv[2])
import trimesh
for name in sys.argv[3:]:
    number, suffix = os.path.splitext(name)
    place = os.path.join(folder, number)
    try:
        with open(os.path.join(folder, name), "rb") as file:
            content = io.BytesIO(file.read())
        options = {"skip_materials": True} if suffix == ".obj" else {}
        mesh = trimesh.load(content, file_type=suffix[1:], force="mesh", **options)
        vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)
        if len(faces) > most:
            raise ValueError(f"it has {len(faces)} triangles; at most {most} are drawn")
        if not len(faces) or not np.isfinite(vertices).all() or faces.min() < 0 or faces.max() >= len(vertices):
            raise ValueError("it holds no finite triangles")
        np.save(place + ".vertices.npy", vertices)
        np.save(place + ".faces.npy", faces)
    except MemoryError:
        sys.exit(5)
    except Exception as error:
        with open(place + ".reason", "w", encoding="utf-8", errors="replace") as file:
            file.write((str(error).strip() or type(error).__name__)[:500])
"""


def read_meshes(files: Iterable[str]) -> dict[str, tuple[Array, Array] | str]:
    """Vertices (n, 3) and triangles (m, 3) by file, or the reason why there are none."""
    found: dict[str, tuple[Array, Array] | str] = {}
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as name:
        folder = Path(name)
        waiting: dict[str, str] = {}  # name of the copy -> file
        for k, file in enumerate(dict.fromkeys(files)):
            reason = _copied(Path(file), folder / f"{k}{Path(file).suffix.lower()}")
            if reason:
                found[file] = reason
            else:
                waiting[f"{k}{Path(file).suffix.lower()}"] = file
        end = time.monotonic() + SECONDS
        while waiting:
            left = max(end - time.monotonic(), 0.0)
            status = run_limited(_READ, [str(folder), str(MAX_TRIANGLES), *waiting], left, LIMITS)
            taken = {copy: answer for copy in waiting if (answer := _answer(folder / copy)) is not None}
            found |= {waiting.pop(copy): answer for copy, answer in taken.items()}
            if waiting:  # the first of them is the one that ended it
                first = next(iter(waiting))
                found[waiting.pop(first)] = why_ended(status, SECONDS, LIMITS)
                if status is None:
                    found |= dict.fromkeys(waiting.values(), "there was no time left to read it")
                    break
    return found


def _copied(path: Path, copy: Path) -> str:
    """Why a file is refused; empty if it was copied."""
    if path.suffix.lower() not in FORMATS:
        return f"'{path.suffix}' is not among the formats that are read: {', '.join(FORMATS)}"
    try:
        data = read_file(path, MAX_BYTES, "a mesh")
    except ModelError as error:
        return error.findings[0].message.removesuffix(".")
    if is_archive(data):
        return "it is an archive, which is not unpacked"
    copy.write_bytes(data)
    return ""


def _answer(copy: Path) -> tuple[Array, Array] | str | None:
    reason, vertices, faces = (copy.with_suffix(ending) for ending in (".reason", ".vertices.npy", ".faces.npy"))
    if reason.exists():
        return reason.read_text(encoding="utf-8")
    try:
        return np.load(vertices, allow_pickle=False), np.load(faces, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None  # not there, or not whole
