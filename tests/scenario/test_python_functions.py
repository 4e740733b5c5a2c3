"""`python = "my.py:name"`: laws, environments, events, requirements of one's own, for those who trust the file."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat import scenario
from gyrostat.cli.main import app
from gyrostat.model import ModelError

CODE = """
import numpy as np

import gyrostat as gs

with open("ran", "a") as file:
    file.write("x")


def spring(craft, t, q, v):
    tau = np.zeros(craft.nv).astype(object)
    at = craft.joint_named("hinge")
    tau[at.v_at] = -4.0 * q[at.q_at] - 2.0 * v[at.v_at]
    return tau


sampled = gs.Controller(spring, period=0.1)


def push(craft, t, q, v):
    return np.array([[0, 0, 0, 0.5, 0, 0] if body.name == "hub" else np.zeros(6) for body in craft.bodies])


field = gs.environment.uniform_gravity((0.2, 0.0, -0.5))


def way(craft, t, q, v):
    return q[4]


number = 3
"""
HEAD = 'spacecraft = "craft.toml"\n[start]\n{motion}joints = {{ hinge = "20 deg" }}\n'
RUN = '[run]\nduration = "4 s"\n'
LAW = '[control]\npython = "own.py:spring"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    joint = gs.Joint("hinge", "revolute", "hub", (0.5, 0.1, 0.0), axis=(0, 0, 1))
    bodies = [
        gs.Body("hub", 50.0, inertia=[9.0, 11.0, 10.0]),
        gs.Body("arm", 4.0, inertia=[0.1, 0.8, 0.8], joint=joint),
    ]
    gs.save(gs.Spacecraft.build("craft", bodies), tmp_path / "craft.toml")
    (tmp_path / "own.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(folder, text, motion="", trust=True):
    path = folder / "case.toml"
    path.write_text(HEAD.format(motion=motion) + text)
    return scenario.load(path, trust=trust)


@pytest.mark.parametrize("name", ["spring", "sampled"])
def test_a_law_of_ones_own_is_the_same_as_in_python(folder, name):
    work = load(folder, RUN + LAW.replace("spring", name))
    law = work.options["control"]
    run = work.simulate(progress=False)
    same = gs.simulate(work.craft, work.q0, work.v0, (0, 4), control=law)
    np.testing.assert_array_equal(run.final[1], same.final[1])
    assert (getattr(law, "period", None) == 0.1) == (name == "sampled") and run.audit.worst < 1e-9
    assert (folder / "ran").read_text() == "x"  # once for the scenario


def test_an_environment_an_event_and_a_requirement_of_ones_own(folder):
    """A constant push: x = F t^2 / 2 m."""
    text = (
        RUN + '[environment]\npython = "own.py:push"\n[[event]]\nname = "far"\npython = "own.py:way"\nabove = 0.02\n'
        '[[require]]\nname = "how far"\noutcome = "last"\npython = "own.py:way"\nat_most = 0.05\n'
    )
    text = text.replace('[run]\n', 'rates = { hinge = 0 }\n[run]\n')  # fmt: skip
    run = load(folder, text.replace("hinge = 0", "hinge = 0.0")).simulate(progress=False)
    x = run.q[:, 4]
    assert run.audit.worst < 1e-8 and x[-1] == pytest.approx(0.5 * 0.5 * 16 / 54.0, rel=1e-2)
    assert run.events[0].name == "far" and run.events[0].q[4] == pytest.approx(0.02, abs=1e-10)
    (row,) = run.summary.requirements
    assert not row.met and row.value == pytest.approx(x[-1])


def test_an_environment_that_is_made_already_keeps_its_potential(folder):
    """The audit asks for it: what the field gives, the potential has lost."""
    run = load(folder, RUN + '[environment]\npython = "own.py:field"\n').simulate(progress=False)
    com = run.center_of_mass()
    np.testing.assert_allclose(run.potential_energy() - run.spring_energy(), -54.0 * com @ [0.2, 0.0, -0.5], rtol=1e-9)
    np.testing.assert_allclose(com[-1] - com[0], np.array([0.2, 0.0, -0.5]) * 8.0, atol=1e-8)
    assert run.audit.potential is not None and run.audit.worst < 1e-9


def test_a_phase_and_one_of_several_may_have_one(folder):
    target = '[target]\nspacecraft = "craft.toml"\nname = "other"\n[target.start]\nposition = [9, 0, 0]\n'
    target += 'joints = { hinge = "30 deg" }\n'
    phases = '[[phase]]\nname = "one"\nduration = 2\nof = { other = { control = { python = "own.py:spring" } } }\n'
    work = load(folder, target + phases)
    run = work.run()
    tau = np.abs(np.asarray(run.trajectory.signals["tau"].values)).max(axis=0)
    at = work.craft.joint_named("other.hinge").v_at.start
    assert tau[at] > 1.0 and np.delete(tau, at).max() == 0.0


@pytest.mark.parametrize("ends", ["import sys\nsys.exit(0)", "raise SystemExit", "raise ValueError('\\x1b[2J')"])
def test_a_file_that_ends_the_program_is_a_finding_with_its_line(folder, ends):
    """As at the end of a script; nothing that it says drives the terminal."""
    (folder / "own.py").write_text(CODE + ends + "\n")
    with pytest.raises(ModelError, match="'own.py' cannot be run: (SystemExit|ValueError)") as caught:
        load(folder, RUN + LAW)
    assert caught.value.findings[0].line == 7 and "\x1b" not in str(caught.value)
    done = CliRunner().invoke(app, ["run", "case.toml", "--trust"])
    assert done.exit_code == 1 and "cannot be run" in str(done.exception)


@pytest.mark.parametrize("file", ["../own.py:law", "link.py:law", "sub/../../own.py:law", "own.pyc:law", "own.py:a.b"])
def test_code_stands_beside_the_file_that_names_it(folder, file):
    inside = folder / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "link.py").symlink_to(folder / "own.py")
    (inside / "craft.toml").write_bytes((folder / "craft.toml").read_bytes())
    with pytest.raises(ModelError, match="expected a Python file beside this one"):
        load(inside, RUN + LAW.replace("own.py:spring", file))
    assert not (folder / "ran").exists()


def test_without_the_word_nothing_runs_and_the_line_is_said(folder):
    with pytest.raises(ModelError, match="is Python: it runs as code") as caught:
        load(folder, RUN + LAW, trust=False)
    (found,) = caught.value.findings
    assert found.code == "untrusted" and found.line == 7 and "--trust" in found.hint
    done = CliRunner().invoke(app, ["run", "case.toml"])
    assert done.exit_code == 1 and "own.py:spring" in str(done.exception) and not (folder / "ran").exists()
    CliRunner().invoke(app, ["check", "case.toml"])
    assert not (folder / "ran").exists()
    done = CliRunner().invoke(app, ["run", "case.toml", "--trust"])
    assert done.exit_code == 0, done.output
    assert (folder / "ran").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[control]\npython = "own.py:sprng"\n', "'own.py' defines no 'sprng'. Did you mean 'spring'"),
        ('[control]\npython = "own.py:number"\n', "'own.py:number' is 3; expected a function"),
        ('[control]\npython = "other.py:law"\n', "'other.py' does not exist beside this one"),
        ('[control]\npython = "../own.py:law"\n', "expected a Python file beside this one"),
        ('[control]\npython = "own.py"\n', "expected a Python file beside this one and a name in it"),
        ('[control]\npython = "broken.py:law"\n', "'broken.py' cannot be run: NameError: name 'nothing'"),
        ('[control]\npythn = "own.py:law"\n', "unknown key 'pythn'"),
        ('[control]\npython = "own.py:spring"\nperiod = 1\n', "unknown key 'period'"),
        ('[environment]\npython = "own.py:number"\n', "is 3; expected a function (craft, t, q, v) -> wrenches"),
        ('[[event]]\nname = "x"\npython = "own.py:number"\nabove = 1\n', "is 3; expected a function"),
        ('[[event]]\nname = "x"\npython = "own.py:way"\nof = "body_rate"\nabove = 1\n', "is of one signal"),
        (LAW + '[[waypoint]]\nat = 1\njoints = { hinge = 1 }\n', "own.py:spring does not follow waypoints"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(folder, text, words):
    (folder / "broken.py").write_text("nothing\n")
    with pytest.raises(ModelError) as caught:
        load(folder, RUN + text)
    assert words in str(caught.value) and all(finding.line for finding in caught.value.findings)
