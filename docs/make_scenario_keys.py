"""Makes docs/scenario-keys.md from the registries: `python docs/make_scenario_keys.py`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from gyrostat.campaigns.in_files import DISTRIBUTIONS
from gyrostat.control.estimators_in_files import ESTIMATORS
from gyrostat.control.laws_in_files import LAWS
from gyrostat.control.motors_in_files import MotorEntry
from gyrostat.control.sensors_in_files import SENSORS
from gyrostat.environment.in_files import ENVIRONMENTS, Surface

PAGE = Path(__file__).with_name("scenario-keys.md")
HEAD = """# What a scenario file can name

Control laws, sensors, estimators, environments, distributions and motors, with all their keys. This page is made from
the code by `python docs/make_scenario_keys.py`; [scenario files](scenarios.md) say how they go together. Text may
carry a [unit](units.md); keys without a default are needed.
"""


def rows(kind: type) -> list[str]:
    found = ["| key | default | meaning |", "|---|---|---|"]
    for field in dataclasses.fields(kind):
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        shown = "needed" if default is dataclasses.MISSING else "" if default is None else f"`{default}`"
        found.append(f"| `{field.name}` | {shown} | {field.metadata['says']} |")
    return found


def page() -> str:
    parts = [HEAD]
    for title, registry, table in (
        ("Control laws", LAWS, '`[control]` with `law = "{}"`'),
        ("Sensors", SENSORS, "`[sensors.{}]`"),
        ("Estimators", ESTIMATORS, "`[estimator.{}]`"),
        ("Environments", ENVIRONMENTS, "`[environment.{}]`"),
        ("Distributions", DISTRIBUTIONS, '`[[campaign.disperse]]` with `distribution = "{}"`'),
    ):
        parts.append(f"## {title}\n")
        for entry in registry.values():
            parts.append(f"### {entry.name}\n\n{table.format(entry.name)}: {entry.says}.\n")
            parts.append("\n".join(rows(entry.kind)) + "\n")
    parts.append("### A surface of drag and sunlight\n\n" + "\n".join(rows(Surface)) + "\n")
    parts.append(
        "## Motors\n\n`[[actuators.motor]]`, beside the other keys of `[actuators]`.\n\n"
        + "\n".join(rows(MotorEntry))
        + "\n"
    )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
