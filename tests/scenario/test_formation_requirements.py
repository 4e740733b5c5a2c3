"""[[require]] in formation files: of members in their own names, of all together, of stations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat import outcomes, scenario
from gyrostat.cli.main import app
from gyrostat.model import ModelError
from gyrostat.outcomes import Outcome
from gyrostat.scenario.kinds.formation_requirements import reduced

FILE = """
[environment.orbit]
altitude = "500 km"
[run]
duration = "20 s"
save_every = "0.1 s"
[[member]]
name = "chief"
spacecraft = "client"
[[member]]
name = "tug"
spacecraft = "tug"
position = ["0 m", "-30 m", "0 m"]
velocity = ["0 m/s", "0.1 m/s", "0 m/s"]
control = { law = "wheel_attitude", attitude = [0, 0, "4 deg"], duration = "15 s" }
[[member]]
name = "keeper"
spacecraft = "servicer"
position = ["0 m", "40 m", "0 m"]
joints = { joint_6 = "20 deg" }
[[station]]
member = "keeper"
of = "chief"
position = ["0 m", "40 m", "0 m"]
[[require]]
name = "near in the end"
outcome = "last"
of = "distance"
first = "chief/client"
second = "tug/bus"
at_most = "28.1 m"
[[require]]
name = "wheels work"
outcome = "integral"
of = "control_effort"
member = "tug"
at_least = 0.1
[[require]]
name = "the wheels' speed"
outcome = "largest"
of = "wheel_speed"
member = "tug"
at_most = "10 rpm"
[[require]]
name = "stays"
outcome = "settling_time"
of = "station_error"
member = "keeper"
below = 0.05
at_most = "1 s"
[[require]]
name = "the arm"
outcome = "last"
of = "joint_error"
joint = "joint_6"
target = "8 deg"
member = "keeper"
at_most = "13 deg"
"""


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(text, encoding="utf-8")
    return scenario.load(path)


def test_each_is_that_of_the_members_own_runs(tmp_path, monkeypatch):
    work = load(tmp_path, FILE)
    run = work.run(progress=False)
    rows = {r.name: r for r in work.simulate(progress=False).summary.requirements}
    apart = np.linalg.norm(run.member("chief").p_N[-1] - run.member("tug").p_N[-1])
    assert rows["near in the end"].value == pytest.approx(apart, rel=1e-9) and rows["near in the end"].met
    tug = run.groups["tug"]
    assert not rows["the wheels' speed"].met
    assert math.radians(rows["the wheels' speed"].value) == pytest.approx(np.abs(tug.v[0][:, -4:]).max())
    effort = np.abs(tug.signals["command"].values[0]).sum(axis=-1)
    assert rows["wheels work"].value == pytest.approx(trapezoid(effort, run.time), rel=1e-9)
    assert rows["stays"].value == 0.0 and rows["stays"].unit == "s"
    keeper = run.groups["keeper"]
    angle = keeper.q[0, -1, keeper.craft.joint_named("joint_6").q_at][0]
    assert rows["the arm"].value == pytest.approx(math.degrees(angle) - 8.0) == pytest.approx(12.0, abs=0.1)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "case.toml"])
    assert done.exit_code == 4
    assert done.output.splitlines()[1] == "Reached its end, 4 of 5 requirements met; not met: the wheels' speed."
    again = gs.Trajectory.load(tmp_path / "case.nc")
    assert again.summary.requirements == tuple(sorted(rows.values(), key=lambda r: r.met))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('member = "tug"\nat_least', 'member = "tog"\nat_least', "no member 'tog'.*Did you mean 'tug'"),
        ('member = "keeper"\nbelow', 'member = "tug"\nbelow', "of a member that keeps a ..station..: member = keeper"),
        ('member = "tug"\nat_most', "at_most", "wheel_speed: here are several spacecraft; say whose: member ="),
        ('second = "tug/bus"', 'second = "tug/bos"', "no body or frame 'tug/bos'"),
        ('name = "stays"', 'name = "wheels work"', "two requirements are named 'wheels work'"),
        ("below = 0.05", "above = 0.05", "settling_time"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, old, new, words):
    assert old in FILE
    with pytest.raises(ModelError, match=words):
        load(tmp_path, FILE.replace(old, new))


def test_reductions_are_those_of_a_sine():
    """Of sin t over two turns, by lines between many points: each has a closed form."""
    t = np.linspace(0.0, 4 * np.pi, 4001)
    signal = outcomes.Signal(lambda craft, t, q, v: 0.0, "sine", "m")

    def of(made: Outcome, level: float = 0.0) -> float:
        return reduced(made, t, np.sin(t) - level)

    assert of(outcomes.largest(signal)) == pytest.approx(1.0, abs=1e-5)
    assert of(outcomes.smallest(signal)) == pytest.approx(-1.0, abs=1e-5)
    assert of(outcomes.mean(signal)) == pytest.approx(0.0, abs=1e-9)
    assert of(outcomes.last(signal)) == pytest.approx(0.0, abs=1e-9)
    assert of(outcomes.time_in(signal, 0.5), 0.5) == pytest.approx(4 * np.pi / 3, abs=1e-4)
    assert of(outcomes.time_of(signal, 0.5, -1), 0.5) == pytest.approx(5 * np.pi / 6, abs=1e-4)
    assert of(outcomes.time_of(signal, 0.5, +1), 0.5) == pytest.approx(np.pi / 6, abs=1e-4)
    assert of(outcomes.time_of(signal, 2.0), 2.0) == math.inf
    assert of(outcomes.settling_time(signal, 0.5), 0.5) == pytest.approx(2 * np.pi + 5 * np.pi / 6, abs=1e-4)
    assert of(outcomes.settling_time(signal, -0.5), -0.5) == math.inf
    assert of(outcomes.settling_time(signal, 2.0), 2.0) == 0.0


AIR = """
[environment.orbit]
altitude = "300 km"
[environment.drag]
surface = [{ body = "arm/base", area = 9.0 }]
[run]
duration = "60 s"
[[member]]
name = "client"
spacecraft = "client"
[[member]]
name = "arm"
spacecraft = "servicer"
position = ["0 m", "40 m", "0 m"]
"""


def test_air_drags_the_member_whose_surface_it_is(tmp_path):
    """As alone in the same air; the other falls as without any."""
    run = load(tmp_path, AIR).run(progress=False)
    calm = load(tmp_path, AIR.replace("arm/base", "client/client").replace("9.0", "1e-9")).run(progress=False)
    lost = [np.abs(run.member(name).v_N[-1] - calm.member(name).v_N[-1]).max() for name in ("client", "arm")]
    assert lost[0] < 1e-9 and lost[1] > 1e-5
    with pytest.raises(ModelError, match=r"case.toml:5: environment, drag, surface 1: no member has a body 'arm/bus'"):
        load(tmp_path, AIR.replace("arm/base", "arm/bus"))


def test_keys_of_signals_carry_units(tmp_path):
    def told(lines):
        path = tmp_path / "one.toml"
        path.write_text(f'spacecraft = "servicer"\n[run]\nduration = 1\n[start.joints]\njoint_2 = "20 deg"\n{lines}')
        return scenario.load(path)

    event = '[[event]]\nname = "far"\nof = "joint_error"\njoint = "joint_2"\ntarget = "30 deg"\nabove = "15 deg"\n'
    (when,) = told(event).options["events"]
    work = told(event)
    assert when.unit == "rad"
    assert when.function(work.craft, 0.0, work.q0, work.v0) == pytest.approx(math.radians(10.0 - 15.0))
    need = '[[require]]\nname = "calm"\noutcome = "settling_time"\nof = "body_rate"\nbelow = "0.1 deg/s"\nat_most = 1\n'
    (asked,) = told(need).requirements
    assert asked.outcome.function(work.craft, 0.0, work.q0, work.v0) == pytest.approx(-math.radians(0.1))
    with pytest.raises(ModelError, match="event 'far': is \"30 cm\", a length; expected an angle"):
        told(event.replace("30 deg", "30 cm"))
