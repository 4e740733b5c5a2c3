"""MuJoCo's compiler, called on a vetted text; its complaints as findings with the lines of the user's files."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..algebra import rotation
from ..model import ModelError, nearest
from .mjcf_names import attributes
from .mjcf_text import Prepared
from .report import Report, fail

CODES = {  # of MuJoCo's own messages
    "repeated name": "duplicate-name",
    "bad format": "malformed-number",
    "mass and inertia of moving bodies": "moves-nothing",
    "axis too small": "zero-axis",
    "negative": "negative-value",
    "unrecognized": "unknown-element",
}


def compiled(prepared: Prepared, file: str, report: Report) -> tuple[Any, dict[int, tuple[float, Any, Any]]]:
    """MuJoCo's model, and mass, centre of mass and inertia of bodies whose inertia MuJoCo refuses
    but which are computable.
    """
    try:
        import mujoco
    except ImportError:
        raise fail(
            "missing-package",
            file,
            "reading MJCF needs the package 'mujoco', which is not installed.",
            "Run: pip install gyrostat[mjcf]",
        ) from None
    previous = mujoco.get_mju_user_warning()
    # else it writes a log file
    mujoco.set_mju_user_warning(lambda text: report.note("mujoco", "", f"MuJoCo says: {text}"))
    try:
        spec = mujoco.MjSpec.from_string(prepared.text, assets=prepared.assets)
        try:
            return spec.compile(), {}
        except ValueError as error:
            if "A + B >= C" not in str(error) or spec.compiler.settotalmass > 0:
                raise
        own = _set_inertias_aside(spec)
        compiled = spec.compile()
        return compiled, {
            b: (m, compiled.body_ipos[b].copy(), turned(compiled.body_iquat[b], I)) for b, (m, I) in own.items()
        }
    except (ValueError, TypeError, mujoco.FatalError) as error:
        raise _explained(str(error), prepared, file) from None
    finally:
        mujoco.set_mju_user_warning(previous)


def _set_inertias_aside(spec: Any) -> dict[int, tuple[float, Any]]:
    """Explicit masses and inertias by body, replaced by harmless ones:
    flight data may break the triangle inequality.
    """
    own: dict[int, tuple[float, Any]] = {}
    for b, body in enumerate(spec.bodies):
        if b and body.explicitinertial:
            full = np.array(body.fullinertia)
            xx, yy, zz, xy, xz, yz = full
            matrix = (
                np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
                if np.isfinite(full).all()
                else np.diag(body.inertia)
            )
            own[b] = (float(body.mass), matrix)
            body.fullinertia = np.array([np.nan, 0.0, 0.0, 0.0, 0.0, 0.0])
            body.inertia, body.mass = np.ones(3), 1.0
    return own


def turned(quat: Any, inertia: Any) -> Any:
    """R I R^T, symmetric to the last bit, for R of the quaternion."""
    R = rotation(quat)
    result = R @ inertia @ R.T
    return 0.5 * (result + result.T)


def _explained(message: str, prepared: Prepared, file: str) -> ModelError:
    """MuJoCo's message as a finding of ours, its line translated back."""
    text, line = " ".join(message.split()), None
    where = re.search(r",? line (\d+)", text)
    if where:
        at = int(where[1]) - 1
        if 0 <= at < len(prepared.places):
            file, line = prepared.places[at]
        text = text.replace(where[0], "")
    text = re.sub(r"^(XML )?(Error: )+", "", text)
    for name in re.findall(r"'([^']*)'", text) if line is None else ():  # some versions name the element and no line
        file, line = next(
            (prepared.elements[p] for p in (f"body '{name}'", f"joint '{name}'") if p in prepared.elements),
            (file, line),
        )
    code = next((code for part, code in CODES.items() if part in text), "mjcf")
    unknown = re.search(r"unrecognized attribute: '(.*?)' Element '(.*?)'", text)
    if unknown is None:
        return fail(code, file, f"MuJoCo refuses this model: {text}.", "", line)
    name, tag = unknown.groups()
    import mujoco

    hint = nearest(name, attributes(mujoco, tag))
    return fail("unknown-attribute", file, f"<{tag}> has an unknown attribute '{name}'.", hint, line, f"<{tag}>")
