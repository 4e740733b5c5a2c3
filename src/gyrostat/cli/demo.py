"""`gyrostat demo`: a free-floating servicer moves its arm; report and scene are written and named."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text

from ..io.writing import check_writable
from ..kinematics import total_mass
from ..model.names import printable
from .check import body_tree
from .output import command, console, number
from .stopping import ends_at_once
from .telling import tell


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write.", file_okay=False)] = Path("gyrostat-demo"),
) -> None:
    """Run the bundled servicer (1.8 t, six-joint arm, nothing holds its base); write its report and its 3-D scene."""
    from ..io.writing import write_text
    from ..scenario import load
    from ..scenario.templates import DEMO
    from ..view.report import write_report

    out = console()
    _make(folder)
    scenario, result = folder / "scenario.toml", folder / "result.nc"
    report, scene = folder / "report.html", folder / "scene.html"
    check_writable(scenario, result, report, scene)
    write_text(scenario, DEMO.read_text(encoding="utf-8"))
    work = load(scenario)
    craft = work.craft
    mass = number(total_mass(craft))
    out.print(Text.assemble((craft.name, "bold"), f": a spacecraft with a six-joint arm, {mass} kg, floating freely."))
    out.print(body_tree(craft))
    out.print(f"\n{work.name}: {work.duration:g} s ...")
    with ends_at_once():
        trajectory = work.simulate()
    trajectory.save(result)
    turned = 2 * np.degrees(np.arccos(min(1.0, abs(float(trajectory.q[-1, :4] @ trajectory.q[0, :4])))))
    moved = 100 * float(np.linalg.norm(trajectory.q[-1, 4:7] - trajectory.q[0, 4:7]))
    out.print(
        Text.assemble(
            "The joints did what they were told; the base, which nobody touched, turned by ",
            (f"{turned:.1f} deg", "bold"),
            f" and moved by {moved:.1f} cm.\nArm and base share one momentum, which no joint can change:",
        )
    )
    tell(out, trajectory)
    trajectory.to_html(scene, title=work.name)
    write_report(trajectory, report, title=work.name, scenario=work.text, scene=scene.name)
    rows = (
        (scene, "the moving spacecraft: open it in a browser"),
        (report, "plots and audit: open it in a browser"),
        (result, "every number, as NetCDF"),
        (scenario, f"what was run; change it, then: {command()} run {scenario}"),
    )
    out.print("\nWritten:")
    for path, words in rows:
        out.print(Text.assemble((f"  {printable(str(path))}".ljust(33), "bold"), printable(words)), soft_wrap=True)
    live = (f"{command()} view {printable(str(result))}", "bold")
    out.print(Text.assemble("\nDrag the arm yourself, live:   ", live), soft_wrap=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder '{folder}': {error.strerror}. Choose another one.") from None
