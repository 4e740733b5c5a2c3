"""A commented scenario to start from, and bundled examples."""

from __future__ import annotations

from pathlib import Path

from ..model import nearest

DEMO = Path(__file__).parent / "servicer_demo.toml"
TEMPLATE = Path(__file__).parent / "template.toml"


# What each bundled scenario shows, by name; those of MISSIONS have a page of the docs
EXAMPLES = {
    "servicer": "an arm reaches out, its base floats",
    "capture": "a tumbling client is approached, grasped, held and released",
    "station": "a servicer comes near a client in low orbit and holds station",
    "first-arm": "an arm on a floating base reaches there and back",
    "servicer-with-wheels": "wheels hold a tug while its two arms move, seen through sensors",
    "capture-and-detumble": "a tug with two arms takes a tumbling derelict and stops its tumble by wheels",
    "docking": "a servicer docks by thruster pulses, and steadies both by wheels",
    "inspection-formation": "two inspectors circle a derelict, a third keeps its station",
    "station-assembly": "two modules are taken, swung in, berthed and let go",
    "solar-array-slew": "a craft with flexible solar arrays turns and is still",
    "dispersed-campaign": "five hundred runs say how far a base turns, how sure that is, and why",
}


MISSIONS = tuple(EXAMPLES)[3:]


def example(name: str) -> str:
    """The text of a bundled scenario file.

    Raises ValueError for a name that is not known, with the nearest.
    """
    if name not in EXAMPLES:
        raise ValueError(f"there is no example '{name}'. {nearest(name, EXAMPLES)}")
    return (Path(__file__).parent / f"{name.replace('-', '_')}_demo.toml").read_text(encoding="utf-8")


def template(spacecraft: str = "servicer") -> str:
    """The text of a new scenario file. It runs as it is with the bundled servicer."""
    import json

    return TEMPLATE.read_text(encoding="utf-8").replace('"servicer"', json.dumps(spacecraft), 1)
