"""What `gyrostat check` says of flexible bodies: frequencies clamped and coupled, and which modes matter."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..linear import flexibility
from ..model import Spacecraft
from ..model.names import printable
from .output import number

MOST_MODES = 40


def print_flexible(out: Console, craft: Spacecraft) -> None:
    """A row for each mode; then how the craft as a whole rings."""
    found = flexibility(craft)
    table = Table("mode", "clamped", "damping", "of its mass", "of its inertia", "coupled", "", box=None)
    table.add_row("", "Hz", "ratio", "x, y, z, %", "x, y, z, %", "Hz", "", style="dim")
    for name, modes in found.clamped.items():
        for k, mode in enumerate(modes[:MOST_MODES]):
            table.add_row(
                Text(printable(mode.name)),
                number(mode.frequency),
                number(mode.damping_ratio),
                *(", ".join(f"{100 * x:.3g}" for x in share) for share in (mode.mass, mode.inertia)),
                ", ".join(number(f) for f in _coupled_of(found, name, k)),
                "" if mode.matters else "hardly moves the rest",
            )
    out.print(table)
    listed = ", ".join(number(mode.frequency) for mode in found.coupled[:MOST_MODES])
    out.print(f"coupled          {listed or 'none'} Hz, with motors and wheels held")


def _coupled_of(found: Any, body: str, k: int) -> list[float]:
    """Coupled frequencies whose energy is mostly in that coordinate."""
    return [mode.frequency for mode in found.coupled if next(iter(mode.shares), "") == f"{body}.mode_{k + 1}"]


def flexible_dict(craft: Spacecraft) -> dict[str, Any]:
    """For machines."""
    found = flexibility(craft)
    clamped = {
        body: [
            {
                "frequency": mode.frequency,
                "damping_ratio": mode.damping_ratio,
                "mass_share": list(mode.mass),
                "inertia_share": list(mode.inertia),
                "matters": mode.matters,
            }
            for mode in modes
        ]
        for body, modes in found.clamped.items()
    }
    return {"clamped": clamped, "coupled": [{"frequency": m.frequency, "shares": m.shares} for m in found.coupled]}
