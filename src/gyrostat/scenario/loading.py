"""`gyrostat.scenario.load`: from a file to a scenario of its kind."""

from __future__ import annotations

from pathlib import Path

from .reading import read_scenario
from .scenario import Scenario


def load(path: str | Path, *, trust: bool = False) -> Scenario:
    """The scenario in a TOML file. Raises a `ModelError` with everything that is wrong, and where.

    trust: read xacro files that it names, whose expressions are run as Python, and run Python files that it names.
    """
    path = Path(path)
    kind, table, source = read_scenario(path, trust=trust)
    scenario = kind.build(source, table, path)
    source.report.raise_errors()
    return scenario
