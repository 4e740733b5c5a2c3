"""Spacecraft that come with gyrostat, written from published tables."""

from pathlib import Path

from .seven_joint_servicer import elbow_up as elbow_up
from .seven_joint_servicer import servicer7 as servicer7
from .seven_joint_servicer import thrusters_in_pairs as thrusters_in_pairs
from .three_link_servicer import servicer as servicer


def file(name: str) -> Path:
    """The bundled TOML file of a spacecraft: `gs.load(models.file("servicer"))`.

    Raises ValueError for a name that is not bundled.
    """
    path = Path(__file__).parent / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(other.stem for other in path.parent.glob("*.toml")))
        raise ValueError(f"no spacecraft '{name}' is bundled. Known: {known}.")
    return path
