"""xacro files, expanded to URDF by the optional package `xacrodoc`. Their expressions are evaluated: load only files you trust."""

from __future__ import annotations

from pathlib import Path

from .report import fail


def expand(path: Path) -> bytes:
    """The URDF document that a xacro file stands for."""
    try:
        from xacrodoc import XacroDoc  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise fail(
            "missing-package",
            str(path),
            "reading xacro needs the package 'xacrodoc', which is not installed.",
            "Run: pip install gyrostat[xacro]",
        ) from None
    try:
        return XacroDoc.from_file(str(path)).to_urdf_string().encode()
    except Exception as error:  # noqa: BLE001 (whatever the file's expressions raise)
        raise fail("xacro", str(path), f"cannot be expanded: {error}", "Check it with xacro itself.") from None
