"""[campaign] of a scenario file: every distribution, every kind of thing dispersed, refused with its line if wrong."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import campaigns as c
from gyrostat import outcomes, scenario
from gyrostat.campaigns.in_files import DISTRIBUTIONS
from gyrostat.model import ModelError
from json_schema import problems

HEAD = """spacecraft = "servicer"
[run]
duration = "1 s"
rtol = 1e-7
[start.joints]
joint_2 = "60 deg"
"""
CAMPAIGN = """[campaign]
runs = 6
seed = 4
[[campaign.outcome]]
name = "turned"
outcome = "largest"
of = "attitude_error"
"""
MOVES = """[[waypoint]]
at = "0.8 s"
joints = { joint_1 = "20 deg" }
"""


def loaded(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return scenario.load(path)


def disperse(what, distribution, keys, change=""):
    change = f'change = "{change}"\n' if change else ""
    return f'[[campaign.disperse]]\nwhat = "{what}"\ndistribution = "{distribution}"\n{change}{keys}\n'


NAMES = {"attitude": "attitude:base", "direction": "rate:base", "inertia": "base.inertia"}


@pytest.mark.parametrize("name", list(DISTRIBUTIONS))
def test_every_distribution_of_files_draws_what_it_says(tmp_path, name):
    entry = DISTRIBUTIONS[name]
    what = NAMES.get(name, "base.mass")
    change = "" if name in NAMES or name == "rows" else "scaled"
    rows = entry.example.replace("1.2]", "1.2, 1.3, 1.4]")
    text = HEAD + CAMPAIGN + disperse(what, name, rows, change)
    assert problems(scenario.json_schema(), tomllib.loads(text)) == []
    work = loaded(tmp_path, text)
    plan = work.campaign.plan(work)
    (drawn,) = plan.values(0, 6).values()
    keys = tomllib.loads(rows)
    if name == "log_normal":
        keys = {"median": keys["median"], "sd": keys["sd"]}
    by = getattr(c, name)(*keys.values()) if name != "discrete" else c.discrete(keys["values"], keys["weights"])
    nominal = None if name in NAMES and name != "inertia" else np.asarray(work.craft.value(what))
    expected = c.scaled(by) if change else by
    other = gs.campaign(work.craft, {what: expected}, 6, seed=4, t_span=(0, 1), rtol=1e-7, q0=work.q0,
                        outcomes={"turned": outcomes.largest(outcomes.attitude_error())})  # fmt: skip
    assert (np.concatenate([x[:, None] for x in other.values.values()], axis=1) == drawn.reshape(6, -1)).all()
    assert len(np.unique(drawn.reshape(6, -1)[:, 0])) > 2 or name in ("discrete", "attitude")
    assert nominal is None or np.isfinite(drawn).all()


UNITS = [
    ("base.mass", '"100 kg"', '"200 kg"', 100.0, 200.0),
    ("q0:joint_2", '"10 deg"', '"20 deg"', np.radians(10), np.radians(20)),
    ("v0:joint_2", '"1 deg/s"', '"2 deg/s"', np.radians(1), np.radians(2)),
    ("rate:base", '"1 rpm"', '"2 rpm"', np.pi / 30, np.pi / 15),
    ("position:base", '"10 mm"', '"20 mm"', 0.01, 0.02),
    ("joint_2.damping", '"1 N m s/rad"', '"2 N m s/rad"', 1.0, 2.0),
    ("joint_2.friction", "0.1", "0.2", 0.1, 0.2),
    ("control.bandwidth", '"0.1 Hz"', '"0.2 Hz"', 0.1, 0.2),
]


@pytest.mark.parametrize(("what", "low", "high", "a", "b"), UNITS)
def test_values_carry_units(tmp_path, what, low, high, a, b):
    control = '[control]\nbandwidth = "0.5 Hz"\n'
    work = loaded(tmp_path, HEAD + control + CAMPAIGN + disperse(what, "uniform", f"low = {low}\nhigh = {high}"))
    (drawn,) = work.campaign.plan(work).values(0, 6).values()
    assert (drawn >= a).all() and (drawn <= b).all() and np.ptp(drawn) > 0.1 * (b - a)
    wrong = disperse(what, "uniform", 'low = "1 km/s"\nhigh = "2 km/s"')
    with pytest.raises(ModelError, match=f"{re.escape(what)}.*km/s"):
        loaded(tmp_path, HEAD + control + CAMPAIGN + wrong)


def test_a_table_of_values_in_a_file(tmp_path):
    (tmp_path / "cases.csv").write_text("run, mass, x\n0,1500,1\n1,1600,2\n2,1700,3\n3,1800,4\n4,1,5\n5,2,6\n")
    rows = disperse("base.mass", "rows", 'file = "cases.csv"\ncolumns = ["mass"]')
    work = loaded(tmp_path, HEAD + CAMPAIGN + rows)
    assert work.campaign.plan(work).values(0, 4)["base.mass"].tolist() == [1500, 1600, 1700, 1800]
    with pytest.raises(ModelError, match="no column 'mas'. Did you mean 'mass'"):
        loaded(tmp_path, HEAD + CAMPAIGN + rows.replace('["mass"]', '["mas"]'))
    with pytest.raises(ModelError, match="does not exist beside"):
        loaded(tmp_path, HEAD + CAMPAIGN + rows.replace("cases.csv", "case.csv"))


@pytest.mark.parametrize(
    "content, why",
    [
        ("mass\n", "has no rows below its first line"),
        ("", "has no column 'mass'"),
        ("mass\n1500\nnan\n", "line 3: expected a number"),
        ("mass\n1500\n1e999\n", "line 3: expected a number"),
        ('mass\n1500\n"' + "1" * 200_000 + '"\n', "line 3: field larger than field limit"),
        ("mass\n1500\n\x00\n", "line 3: expected a number"),
    ],
)
def test_tables_in_files_that_are_none(tmp_path, content, why):
    (tmp_path / "cases.csv").write_text(content)
    rows = disperse("base.mass", "rows", 'file = "cases.csv"\ncolumns = ["mass"]')
    with pytest.raises(ModelError, match=why):
        loaded(tmp_path, HEAD + CAMPAIGN + rows)


def test_tables_stand_beside_the_file_that_names_them(tmp_path):
    """A scenario of somebody else's reads nothing of yours, and tells nothing of it in a message."""
    (tmp_path / "secret.csv").write_text("mass\nsecret\n")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link.csv").symlink_to(tmp_path / "secret.csv")
    for file in ("../secret.csv", str(tmp_path / "secret.csv"), "link.csv", "/dev/zero"):
        rows = disperse("base.mass", "rows", f'file = "{file}"\ncolumns = ["mass"]')
        with pytest.raises(ModelError, match="expected a table beside the scenario"):
            loaded(tmp_path / "inside", HEAD + CAMPAIGN + rows)


def test_a_dispersed_gain_acts_as_one_that_is_written_down(tmp_path):
    """Run k is the file with run k's numbers in it: gains, sensor errors, environment."""
    text = (
        HEAD
        + MOVES
        + '[control]\nlaw = "pd"\nbandwidth = "0.5 Hz"\ndamping = 0.7\nperiod = "20 ms"\n'
        + "[sensors.encoders]\nbias = 2e-3\n"
    )
    text += '[environment.orbit]\naltitude = "300 km"\n[environment.drag]\ndensity = 1.5e-7\n'
    text += '[[environment.drag.surface]]\nbody = "base"\narea = 4.0\ncenter = [0.1, 0.5, 0.2]\n'
    text += '[[environment.drag.surface]]\nbody = "base"\narea = 6.0\ncenter = [0.4, -0.1, 0.2]\n'
    many = {
        "control.bandwidth": ("0.3", "0.7"),
        "control.damping": ("0.6", "0.9"),
        "sensors.encoders.bias": ("0.0", "5e-3"),
        "environment.drag.density": ("1e-7", "2e-7"),
        "environment.drag.surface.1.area": ("3.0", "9.0"),
    }
    more = "".join(disperse(what, "uniform", f"low = {low}\nhigh = {high}") for what, (low, high) in many.items())
    found = loaded(tmp_path, text + CAMPAIGN + more).sweep()
    assert len(np.unique(found.outcomes["turned"])) == 6
    for k in (1, 4):
        own = {name: repr(float(x[k])) for name, x in found.values.items()}
        alone = text.replace('"0.5 Hz"', own["control.bandwidth"]).replace("0.7", own["control.damping"])
        alone = alone.replace("2e-3", own["sensors.encoders.bias"]).replace("1.5e-7", own["environment.drag.density"])
        alone = alone.replace("area = 6.0", f"area = {own['environment.drag.surface.1.area']}")
        work = loaded(tmp_path, alone)
        run = work.simulate(progress=False, outcomes={"turned": outcomes.largest(outcomes.attitude_error())})
        assert run.outcomes["turned"] == pytest.approx(found.outcomes["turned"][k], rel=1e-6)
    third = disperse("environment.drag.surface.2.area", "uniform", "low = 3.0\nhigh = 9.0")
    with pytest.raises(ModelError, match="there is no 'environment.drag.surface.2.area' in the file"):
        loaded(tmp_path, text + CAMPAIGN + third)


def test_a_law_of_a_file_is_built_for_the_nominal_craft(tmp_path):
    text = HEAD + MOVES + '[control]\nbandwidth = "0.5 Hz"\n' + CAMPAIGN
    text += disperse("link_2.mass", "uniform", "low = 5\nhigh = 50")
    text += '[[campaign.outcome]]\nname = "late"\noutcome = "largest"\n'
    text += 'of = "joint_error"\njoint = "joint_3"\ntarget = 0.0\n'
    late = {}
    for knows in ("truth", "nominal"):
        found = loaded(tmp_path, text.replace("seed = 4", f'seed = 4\nlaw_knows = "{knows}"')).sweep()
        late[knows] = found.outcomes["late"]
    assert late["truth"].max() < 1e-6 and late["nominal"].min() > 1e-5  # the joint holds, if the law knows the masses


TOGETHER = '[[campaign.correlate]]\nwhat = ["base.mass", "base.com"]\ncorrelation = [[1, 0], [0, 1]]\n'
WRONG = [
    ("runs = 6", "runs = 0", "runs is 0"),
    ("seed = 4", "sed = 4", "unknown key 'sed'. Did you mean 'seed'"),
    ("seed = 4", 'sampling = "sobl"', "Did you mean 'sobol'"),
    ("seed = 4", 'law_knows = "truht"', "Did you mean 'truth'"),
    ('"uniform"', '"unifrom"', "Did you mean 'uniform'"),
    ("low = 1", "lo = 1", "unknown key 'lo'"),
    ('what = "base.mass"', 'what = "base.mas"', "base.mas"),
    ('what = "base.mass"', 'what = "control.gain"', "no 'control.gain' in the file"),
    ('what = "base.mass"', 'what = "sensors.gyro.bias"', "sensors.gyro.bias"),
    ('what = "base.mass"', 'what = "control.law"', "only numbers can be dispersed"),
    ('what = "base.mass"', 'what = "control.period"', "the time between samples"),
    ("seed = 4", 'requirements = ["turn < 1 deg in 90 % of runs"]', "no outcome 'turn'. Did you mean 'turned'"),
    ("seed = 4", 'requirements = ["turned is small"]', "is no requirement"),
    ('of = "attitude_error"', 'of = "attitude_eror"', "Did you mean 'attitude_error'"),
    ("high = 2\n", "high = 2\n" + TOGETHER, "'base.com' is not dispersed"),
    ('what = "base.mass"', 'what = "input:gain"', "ask for no inputs"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "bad", "words"), WRONG)
def test_what_is_wrong_is_refused_with_its_line(tmp_path, good, bad, words):
    text = HEAD + '[control]\nbandwidth = "0.5 Hz"\nperiod = "20 ms"\n' + MOVES + CAMPAIGN
    text += disperse("base.mass", "uniform", "low = 1\nhigh = 2")
    assert loaded(tmp_path, text).campaign is not None and text.count(good) >= 1
    with pytest.raises(ModelError, match=re.escape(words)) as caught:
        loaded(tmp_path, text.replace(good, bad, 1))
    assert caught.value.findings[0].line is not None


def test_other_kinds_of_files_have_no_campaign(tmp_path):
    with pytest.raises(ModelError, match="unknown key 'campaign'.*a scenario of one spacecraft"):
        loaded(tmp_path, scenario.example("capture") + CAMPAIGN)
    with pytest.raises(ValueError, match="has no \\[campaign\\]"):
        loaded(tmp_path, HEAD).sweep()


def test_a_law_with_memory_disperses(tmp_path):
    text = HEAD + MOVES + '[control]\nlaw = "pid"\nkp = 30.0\nkd = 40.0\nki = { joint_1 = 4.0, joint_2 = 1.0 }\n'
    text += 'joints = ["joint_1", "joint_2"]\n'
    found = loaded(tmp_path, text + CAMPAIGN + disperse("control.ki.joint_1", "uniform", "low = 1\nhigh = 20")).sweep()
    k = int(np.argmax(found.values["control.ki.joint_1"]))
    work = loaded(
        tmp_path, text.replace("joint_1 = 4.0", f"joint_1 = {float(found.values['control.ki.joint_1'][k])!r}")
    )
    run = work.simulate(progress=False, outcomes={"turned": outcomes.largest(outcomes.attitude_error())})
    assert run.outcomes["turned"] == pytest.approx(found.outcomes["turned"][k], rel=1e-6)
    assert len(np.unique(found.outcomes["turned"])) == 6
