"""Prints the oldest versions that pyproject.toml allows, as pip wants them: `numpy==1.26`, one to a line.

    python tools/lower_bounds.py [EXTRA ...]

`make test-oldest` installs them. A requirement without a lower bound is an error: nobody knows what it was tried with.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lower_bounds(extras: list[str]) -> dict[str, str]:
    """Lowest version by package: of the dependencies, and of the extras named."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found: dict[str, str] = {}
    for requirement in wanted:
        text, _, marker = requirement.partition(";")
        match = re.fullmatch(r"([A-Za-z0-9_.-]+(?:\[[a-z]+\])?)\s*(?:>=|==)\s*([0-9.]+?)(?:\.\*)?\s*", text)
        if match is None:
            raise SystemExit(f"'{requirement}' in pyproject.toml has no lower bound. Write one, as in numpy>=1.26.")
        name, version = match.groups()
        if marker.strip():
            continue  # for some systems only
        if found.setdefault(name, version) != version:
            raise SystemExit(f"'{name}' has two lower bounds, {found[name]} and {version}. Keep one.")
    return found


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in lower_bounds(sys.argv[1:]).items()))
