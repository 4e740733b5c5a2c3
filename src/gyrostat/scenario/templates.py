"""A commented scenario to start from, and bundled examples."""

from __future__ import annotations

from pathlib import Path

from ..model import nearest

DEMO = Path(__file__).parent / "servicer_demo.toml"
TEMPLATE = Path(__file__).parent / "template.toml"


# What each bundled scenario shows, by name
EXAMPLES = {
    "servicer": "an arm reaches out, its base floats",
    "capture": "a tumbling client is approached, grasped, held and released",
    "station": "a servicer comes near a client in low orbit and holds station",
}


def example(name: str) -> str:
    """The text of a bundled scenario file."""
    if name not in EXAMPLES:
        raise ValueError(f"there is no example '{name}'. {nearest(name, EXAMPLES)}")
    return (Path(__file__).parent / f"{name}_demo.toml").read_text(encoding="utf-8")


def template(spacecraft: str = "servicer") -> str:
    """The text of a new scenario file. It runs as it is with the bundled servicer."""
    import json

    return TEMPLATE.read_text(encoding="utf-8").replace('"servicer"', json.dumps(spacecraft), 1)
