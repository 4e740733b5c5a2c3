"""Two craft on an air-bearing table: bases that are planar start, meet and are told of as bases."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import scenario
from gyrostat.model import ModelError
from gyrostat.view.groups import panels

FILE = """
spacecraft = "puck.toml"
[start]
joints = { table = ["0.1 m", 0, "10 deg"], shoulder = "60 deg" }
[target]
spacecraft = "box.toml"
[target.start]
joints = { floor = ["0.9 m", "0.25 m", 0] }
rates = { floor = ["2 deg/s", "-4 cm/s", 0] }
[control]
law = "computed_torque"
[[phase]]
name = "reach"
duration = "12 s"
until = { frames = ["hand", "handle"], closer_than = "9 cm" }
[[phase.waypoint]]
at = "5 s"
joints = { shoulder = "10 deg" }
[[phase]]
name = "hold"
kind = "grasp"
duration = "3 s"
grasp = [{ frames = ["hand", "handle"], name = "claw" }]
"""


@pytest.fixture
def folder(tmp_path):
    table = lambda name: gs.Joint(name, "planar", None)
    deck = gs.Body("deck", 12.0, (0, 0, 0.3), (0.2, 0.2, 0.25), table("table"))
    arm = gs.Body(
        "arm", 1.0, (0.2, 0, 0), (0.001, 0.01, 0.01), gs.Joint("shoulder", "revolute", "deck", (0.15, 0, 0.3))
    )
    puck = gs.Spacecraft.build("puck", [deck, arm, gs.Wheel("rw", "deck", (0, 0, 1), 0.01)],
                               frames=[gs.Frame("hand", "arm", (0.4, 0, 0))])  # fmt: skip
    shell = gs.Body("shell", 8.0, (0, 0, 0.3), (0.2, 0.2, 0.15), table("floor"))
    box = gs.Spacecraft.build("box", [shell], frames=[gs.Frame("handle", "shell", (-0.15, 0, 0.3))])
    for craft in (puck, box):
        gs.save(craft, tmp_path / f"{craft.name}.toml")
    return tmp_path


def of(folder, text):
    path = folder / "case.toml"
    path.write_text(text, encoding="utf-8")
    return scenario.load(path)


def test_they_meet_and_bases_are_no_joints(folder):
    run = of(folder, FILE).simulate(progress=False)
    assert run.ok and run.audit.worst < 1e-10
    (met,) = [h for h in run.summary.happened if h.what == "event"]
    assert met.name == "distance of hand and handle below 0.09 m"
    figures = {f.name: f for f in run.summary.figures}
    theta = run.q[:, 2] - run.q[0, 2]
    assert figures["puck, turned from its start"].peak == pytest.approx(np.degrees(np.abs(theta)).max())
    assert figures["box, speed"].unit == "m/s" and not any("table" in f or "floor" in f for f in figures)
    shown = {p.title: p for group in ("joints", "base", "actuators") for p in panels(run, group)}
    assert shown["Joint positions"].labels == ("shoulder",) == shown["Joint torques"].labels
    xy = run.q[:, :2] - run.q[0, :2]
    np.testing.assert_allclose(shown["puck: position since the start"].values, xy)
    assert shown["box: angular velocity"].unit == "deg/s"


def test_what_was_awaited_in_vain_is_told_with_how_near_it_came(folder):
    with pytest.warns(gs.SimulationWarning, match="without its event"):
        run = of(folder, FILE.replace('"9 cm"', '"1 mm"')).simulate(progress=False)
    apart = run.signal(gs.outcomes.signals.distance("hand", "handle").function) - 1e-3
    k = int(np.argmin(apart))
    assert run.summary.verdict == "did not reach its end: distance of hand and handle below 0.001 m never happened"
    row = run.summary.happened[-1]
    assert row.words == f"never happened; nearest at {run.time[k]:.6g} s, {apart[k]:.4g} m away"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('joints = { floor = ["0.9 m", "0.25 m", 0] }', 'position = ["1 m", 0, 0]',
         r"position is that of a free base.*planar.*joints = \{ floor = \[m, m, rad\] \}"),
        ('rates = { floor = ["2 deg/s", "-4 cm/s", 0] }', 'velocity = ["1 m/s", 0, 0]',
         r"velocity is.*rates = \{ floor = \[rad/s, m/s, m/s\] \}"),
        ('kind = "grasp"', 'kind = "attach"', "'hold': attaches 'claw', neither of whose frames is on a base"),
        ('law = "computed_torque"', 'law = "wheel_attitude"', "toml:12: phase 'reach', control: .*needs a base that"),
    ],
)  # fmt: skip
def test_what_a_planar_base_has_not_is_refused_at_its_line(folder, old, new, words):
    with pytest.raises(ModelError, match=words):
        of(folder, FILE.replace(old, new))
