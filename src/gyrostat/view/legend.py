"""Title and legend over an animated page: what every colour and arrow stands for."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..algebra import Array
from ..environment import Orbit
from ..model import Spacecraft
from .names import visible_trails
from .stage import BASE_MOMENTUM, CARRIED_MOMENTUM, COM, FORCE, LINEAR_MOMENTUM, TORQUE, TOTAL_MOMENTUM

if TYPE_CHECKING:
    from .scene import Film

Color = tuple[float, float, float]
SKY = (0.27, 0.47, 0.75)


def legend_rows(
    craft: Spacecraft, shown: Film, size: float, momentum: bool, reactions: bool, members: dict[str, str]
) -> list[tuple[Color, str]]:
    """Everything that is drawn: arrows with what their longest stands for, craft by name, trails."""
    h, jointed = shown.momenta, len(craft.bodies) > 1
    arrows: list[tuple[Color, str, Array, float, str]] = []
    if momentum:
        own, carried = _long(h["base"]) > 0, jointed and _long(h["carried"]) > 0
        base = [(BASE_MOMENTUM, "angular momentum of the base", h["base"], shown.momentum_unit, "N m s")] * own
        other = [(CARRIED_MOMENTUM, "angular momentum of what it carries", h["carried"], shown.momentum_unit, "N m s")]
        arrows += [*base, *other * (carried and own)]
        arrows.append((TOTAL_MOMENTUM, "angular momentum of all", h["total"], shown.momentum_unit, "N m s"))
        arrows.append((LINEAR_MOMENTUM, "linear momentum", shown.linear, shown.linear_unit, "N s"))
    if reactions and jointed:
        arrows.append((TORQUE, "torque through each joint", shown.torques, shown.torque_unit, "N m"))
        arrows.append((FORCE, "force through each joint", shown.forces, shown.force_unit, "N"))
    rows = [
        (color, f"{what} (longest {_long(x) * unit:.3g} {name})")
        for color, what, x, unit, name in arrows
        if _long(x) * unit > 1e-9
    ]
    rows.append((COM, "centre of mass"))
    return rows + [(color, f"trail of {name}") for name, color, _ in visible_trails(craft, shown, size, members)]


def _long(vectors: Array) -> float:
    return float(np.nanmax(np.linalg.norm(vectors, axis=-1), initial=0.0))


def sky_words(orbit: Orbit | None, sunlit: bool) -> str:
    assert orbit is not None
    return f"{orbit.planet.name}, to scale" + ("" if sunlit else "; no date is given: no day and night")


def with_legend(
    page: str, heading: str, rows: Sequence[tuple[Color, str]], time: Array, speed: float, words: str = ""
) -> str:
    """viser's page, with a title and a legend over it. words: from where it is seen."""
    dots = "".join(
        f'<div><i style="background:rgb({",".join(str(int(255 * x)) for x in color)})"></i>{escape(text)}</div>'
        for color, text in rows
    )
    told = f"<div>{escape(words)}</div>" if words else ""
    legend = _LEGEND.format(heading=escape(heading), words=told, rows=dots, speed=f"{speed:g}", start=float(time[0]))
    page = page.replace("<title>Viser</title>", f"<title>{escape(heading)}</title>", 1)
    at = page.rindex("</body>")
    return page[:at] + legend + page[at:]


_LEGEND = """
<style>
#gyrostat {{ position: fixed; left: 14px; bottom: 56px; z-index: 5; max-width: calc(100vw - 28px);
  overflow: hidden auto; overflow-wrap: anywhere; max-height: calc(100vh - 120px);
  padding: 10px 14px; border-radius: 8px;
  font: 13px/1.5 system-ui, sans-serif; color: #dfe6f2; background: rgba(16, 20, 28, .72); }}
#gyrostat summary {{ font-weight: 600; font-size: 15px; cursor: pointer; }}
#gyrostat i {{ display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 8px; }}
#gyrostat output {{ font-variant-numeric: tabular-nums; font-weight: 400; opacity: .8; margin-left: .6em; }}
#gyrostat small {{ opacity: .65; }}
</style>
<details id="gyrostat" open><summary>{heading}<output></output></summary>{words}{rows}
<small>drag: turn &middot; right-drag: move &middot; wheel: zoom &middot; space: pause<br>
loads in the joints, frames: scene tree, bottom right</small></details>
<script>
if (innerWidth < 640) document.querySelector('#gyrostat').open = false;
window.tellTime = () => {{
  const input = document.querySelector('input[inputmode="decimal"], input.mantine-NumberInput-input');
  const t = input ? parseFloat(input.value) : NaN;
  if (isFinite(t)) document.querySelector('#gyrostat output').textContent =
    't = ' + ({start} + t * {speed}).toFixed(1) + ' s' + ({speed} === 1 ? '' : ' ({speed}x)');
}};
setInterval(tellTime, 100);
</script>
"""
