"""One door for every file format: the suffix, or for .xml the root element, says which reader to use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..model import KINDS, Finding, ModelError, Spacecraft, nearest
from .report import fail
from .xml_reader import parse_xml, read_bytes

SUFFIXES = (".urdf", ".xml", ".mjcf", ".toml", ".xacro")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class CheckResult:
    """What `check` found: the spacecraft, or None if there were errors; and every finding."""

    craft: Spacecraft | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.level == "error")

    def __str__(self) -> str:
        head = "it cannot be used" if self.craft is None else repr(self.craft)
        return "\n".join([head, *(f"{f.level}: {f}" for f in self.findings)])


def load(
    path: PathLike, *, base: str | None = None, mesh_root: PathLike | None = None, trust: bool = False
) -> Spacecraft:
    """The spacecraft in a file: .urdf, .xml (MJCF or URDF), .toml or .xacro; or a bundled one by its name,
    `gs.load("servicer")`.

    base: kind of the base's joint ("free", "fixed", "spherical", "planar"). By default what the file says; URDF, which
        cannot say, floats.
    mesh_root: a further folder in which to look for meshes, for viewing only. The dynamics never opens a mesh.
    trust: read xacro, whose expressions are run as Python. No other format runs anything.

    Raises `ModelError` (a ValueError) with every finding. Warnings and notes are kept in `craft.findings`.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows is refused by name
        return _load(Path(path), base, None if mesh_root is None else Path(mesh_root), trust)


def _load(path: Path, base: str | None, mesh_root: Path | None, trust: bool) -> Spacecraft:
    if base is not None and base not in KINDS:
        raise ValueError(f"base is '{base}'; expected a joint kind such as 'free' or 'fixed'. {nearest(base, KINDS)}")
    path = _found(path)
    roots = (path.parent,) if mesh_root is None else (path.parent, mesh_root)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        expected = ", ".join(SUFFIXES)
        raise fail("unknown-format", str(path), f"has the suffix '{suffix}'; expected one of {expected}.", "Rename it.")
    data = read_bytes(path)
    if suffix == ".toml":
        from .toml.craft_reader import read_toml

        return read_toml(data, str(path), base=base, mesh_roots=roots)
    if suffix == ".xacro":
        from .xacro import expand

        data = expand(path, trust=trust)
    if suffix in (".xml", ".mjcf") and parse_xml(data, str(path)).tag in ("mujoco", "mujocoinclude"):
        from .mjcf import read_mjcf

        return read_mjcf(data, str(path), base=base, mesh_roots=roots)
    from .urdf import read_urdf

    return read_urdf(data, str(path), base=base, mesh_roots=roots)


def _found(path: Path) -> Path:
    """The file itself, or a bundled one of that name."""
    return path if path.suffix or len(path.parts) != 1 or path.exists() else _bundled(path.name)


def _bundled(name: str) -> Path:
    from ..models import file

    try:
        return file(name)
    except ValueError as error:
        hint = f"Give the file's whole name, with its suffix: {', '.join(SUFFIXES)}."
        raise fail("no-file", name, f"there is no such file, and {error}", hint) from None


def load_formation(
    path: PathLike, *others: PathLike, mesh_root: PathLike | None = None, trust: bool = False
) -> dict[str, Spacecraft]:
    """Every spacecraft in a file that holds several (an MJCF file with more than one free root), by the name of its
    base; or those of several files, by their own names. Bundled ones go by their names, as in `load`.
    `gs.Formation(gs.load_formation(...))` makes a formation of them.

    Raises ValueError where two files hold spacecraft of one name.
    """
    if not others:
        return _load_several(Path(path), mesh_root, trust)
    found: dict[str, Spacecraft] = {}
    for file in (path, *others):
        inside = _load_several(Path(file), mesh_root, trust)
        named = {craft.name: craft for craft in inside.values()} if len(inside) == 1 else inside
        for name, craft in named.items():
            if name in found:
                raise ValueError(
                    f"'{file}': a spacecraft named '{name}' was in an earlier file already. Load them one by one, and "
                    f"name them: {{'first': gs.load(...), 'second': gs.load(...)}}."
                )
            found[name] = craft
    return found


def _load_several(path: Path, mesh_root: PathLike | None, trust: bool) -> dict[str, Spacecraft]:
    path = _found(path)
    roots = (path.parent,) if mesh_root is None else (path.parent, Path(mesh_root))
    data = read_bytes(path)
    if path.suffix.lower() in (".xml", ".mjcf") and parse_xml(data, str(path)).tag == "mujoco":
        from .mjcf import read_mjcf_formation

        return read_mjcf_formation(data, str(path), mesh_roots=roots)
    craft = load(path, mesh_root=mesh_root, trust=trust)
    return {craft.base: craft}


def check(
    path: PathLike, *, base: str | None = None, mesh_root: PathLike | None = None, trust: bool = False
) -> CheckResult:
    """As `load`, but errors are returned with the other findings instead of raised."""
    try:
        craft = load(path, base=base, mesh_root=mesh_root, trust=trust)
    except ModelError as error:
        return CheckResult(None, error.findings)
    return CheckResult(craft, craft.findings)
