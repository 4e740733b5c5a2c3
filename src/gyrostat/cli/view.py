"""`gyrostat view`: a spacecraft, a result or a scenario in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ..model import Spacecraft
from ..model.names import printable
from .files import Trust, model_file
from .output import console
from .stopping import ends_at_once

if TYPE_CHECKING:
    from ..simulation import Trajectory


def view(
    file: Annotated[str, typer.Argument(help="Spacecraft, result (.nc) or scenario; or a bundled name: servicer.")],
    host: Annotated[str, typer.Option(help="Address to listen at; this machine alone by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The next free one is taken if it is in use.", min=1, max=65535)] = 8080,
    run: Annotated[int, typer.Option(help="Which run of a batch.", min=0)] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    trust: Trust = False,
) -> None:
    """Show FILE in the browser: joint sliders, playback, momentum. Ctrl-C ends it."""
    craft, trajectory, q = read(file, trust=trust)
    if trajectory is not None and trajectory.batched and run >= len(trajectory.state.t):
        raise typer.BadParameter(f"there are runs 0 to {len(trajectory.state.t) - 1}.", param_hint="--run")
    serve(craft, trajectory, q=q, host=host, port=port, run=run, open_browser=not no_open)


def read(file: str, *, trust: bool = False) -> tuple[Spacecraft, Trajectory | None, Any]:
    """The spacecraft, and a run of it or a configuration."""
    from ..io import load

    path = model_file(Path(file))
    if path.suffix == ".nc":
        from ..io.results_any import load_result

        trajectory = load_result(path)
        return trajectory.craft, trajectory, None
    if path.suffix == ".toml" and _is_scenario(path):
        from ..scenario import load as load_scenario

        work = load_scenario(path, trust=trust)
        with ends_at_once():
            trajectory = work.simulate()
        return work.craft, trajectory, None
    return load(path, trust=trust), None, None


def _is_scenario(path: Path) -> bool:
    from ..io.toml.text import parse_toml
    from ..io.xml_reader import read_bytes

    try:
        _, content = parse_toml(read_bytes(path), str(path))
    except ValueError:
        return False  # the reader of spacecraft says what is wrong
    return "body" not in content and bool({"spacecraft", "run", "start", "scenario"} & content.keys())


def serve(
    craft: Spacecraft,
    trajectory: Trajectory | None,
    *,
    q: Any = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    run: int = 0,
    open_browser: bool = True,
) -> None:
    """Serve until Ctrl-C."""
    import threading

    from ..view.live import Viewer

    viewer = Viewer(craft, trajectory, q=q, host=host, port=port, run=run)
    screen = console()
    try:
        taken = viewer.server.get_port()
        if taken != port:
            screen.print(f"Port {port} is in use; taking {taken}.")
        where = (printable(f"{craft.name} is at "), (viewer.address, "bold"), "  (Ctrl-C ends)")
        screen.print(Text.assemble(*where), soft_wrap=True)
        for note in viewer.stage.notes:
            screen.print(printable(note), style="yellow")
        sys.stdout.flush()
        if open_browser and _has_screen():
            import webbrowser

            webbrowser.open(viewer.address)
        threading.Event().wait()
    except KeyboardInterrupt:
        screen.print("Ended.")
    finally:
        viewer.stop()


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
