"""A short run of the servicer, once for all tests of pictures and pages."""

from __future__ import annotations

import pytest

from gyrostat import scenario

SCENARIO = """
name = "a <short> run & its pictures"
spacecraft = "servicer"
[start.joints]
joint_2 = "60 deg"
joint_3 = "-90 deg"
[run]
duration = "6 s"
save_every = "0.05 s"
[[waypoint]]
at = "5 s"
joints = { joint_1 = "90 deg", joint_2 = "0 deg", joint_3 = "-30 deg" }
"""


@pytest.fixture(scope="session")
def short_scenario(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenario") / "short.toml"
    path.write_text(SCENARIO)
    return scenario.load(path)


@pytest.fixture(scope="session")
def short_run(short_scenario):
    return short_scenario.simulate()
