"""Spacecraft into files: the suffix says the format."""

from __future__ import annotations

import os
from pathlib import Path

from ..model import Finding, ModelError, Spacecraft
from .writing import write_text


def save(craft: Spacecraft, path: str | os.PathLike[str]) -> Path:
    """Write the craft as .toml (everything), or as .urdf, .xml (MJCF) or .sdf: what that format can say; the rest is
    refused by name.

    Read back, it has the same dynamics: numbers are written to their last bit.
    The file is replaced at once or not at all.
    """
    path = Path(path)
    folder = path.parent.resolve()
    bent = [body.name for body in craft.bodies if craft.flexible(body.name)]
    if bent and path.suffix.lower() in (".urdf", ".xml", ".mjcf", ".sdf"):
        hint = "Save as .toml instead, which can say everything."
        message = f"is flexible, which {path.suffix} cannot express."
        raise ModelError(Finding("error", message, hint, f"body '{name}'", code="unsupported") for name in bent)
    if path.suffix.lower() == ".toml":
        from .toml.craft_writer import to_toml

        text = to_toml(craft, folder)
    elif path.suffix.lower() == ".urdf":
        from .urdf_write import to_urdf

        text = to_urdf(craft, folder)
    elif path.suffix.lower() in (".xml", ".mjcf"):
        from .mjcf_write import to_mjcf

        text = to_mjcf(craft, folder)
    elif path.suffix.lower() == ".sdf":
        from .sdf_write import to_sdf

        text = to_sdf(craft, folder)
    else:
        raise ValueError(
            f"cannot save '{path}': the suffix is '{path.suffix}'; expected .toml, .urdf, .xml (MJCF) or .sdf."
        )
    return write_text(path, text)
