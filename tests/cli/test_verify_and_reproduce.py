"""`gyrostat verify` and `gyrostat reproduce`: what they print, and how they end."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat.cli import reproduce as reproduce_command
from gyrostat.cli import verify as verify_command
from gyrostat.cli.reproduce import PAPERS, reproduce
from gyrostat.cli.verify import verify
from gyrostat.papers.checks import Reproduction, at_most
from gyrostat.verification import Comparison, VerifyReport

URDF = """<robot name="two"><link name="base"><inertial><mass value="5"/><origin xyz="0 0 0"/>
<inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><mass value="1"/><origin xyz="0.5 0 0"/>
<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def app():
    made = typer.Typer(pretty_exceptions_enable=False)
    made.command()(verify)
    made.command()(reproduce)
    return made


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "two.urdf"
    path.write_text(URDF)
    return path


def invoke(app, *arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_verify_prints_a_table_and_ends_well(app, file):
    result = invoke(app, "verify", file, "--states", 2)
    assert result.exit_code == 0
    for word in ("two   2 random states", "accelerations", "reaction wrenches", "kinetic energy", "OK"):
        assert word in result.output


def test_verify_json(app, file):
    result = invoke(app, "verify", file, "--states", 2, "--json", "--no-compiled")
    shown = json.loads(result.stdout)
    assert shown["passed"] is True
    assert shown["states"] == 2
    assert {c["quantity"] for c in shown["comparisons"]} >= {"accelerations", "momentum"}


def test_verify_says_why_a_formulation_is_missing(app, file):
    result = invoke(app, "verify", file, "--states", 1, "--base", "fixed", "--no-compiled")
    assert result.exit_code == 0
    assert "not compared: generalized_jacobian: the base joint" in result.output


def test_verify_ends_with_one_where_computations_differ(app, file, monkeypatch):
    report = VerifyReport(
        "two", 1, 0, (Comparison("accelerations", "recursive", "other", 0.5, 1e-11),), {"third": "too big"}
    )
    monkeypatch.setattr(verify_command, "compare", lambda craft, **options: report)
    result = invoke(app, "verify", file)
    assert result.exit_code == 1
    assert "accelerations: recursive and other differ by 5.00e-01; expected at most 1e-11." in result.output
    assert "FAILED  1 of 1 comparisons differ." in result.output
    assert "not compared: third: too big" in result.output


def fake(passed):
    checks = [at_most("momentum", 1e-15 if passed else 1.0, 1e-12, " N s", "figure 1")]
    return Reproduction(checks, [Path("figure.png")], ["mounting"], ["Differs: the sign."])


@pytest.mark.parametrize("passed", [True, False])
def test_reproduce_prints_checks_remarks_and_files(app, tmp_path, monkeypatch, passed):
    module = type("paper", (), {"reproduce": staticmethod(lambda folder: fake(passed))})
    monkeypatch.setattr(reproduce_command.importlib, "import_module", lambda name: module)
    result = invoke(app, "reproduce", "valverde2018", "--out", tmp_path)
    assert result.exit_code == (0 if passed else 1)
    for text in ("momentum", "<= 1e-12 N s", "Differs: the sign.", "Assumed: mounting", "wrote figure.png"):
        assert text in result.output
    shown = json.loads(invoke(app, "reproduce", "valverde2018", "--json").stdout)
    assert shown["passed"] is passed


def test_reproduce_names_the_papers_it_knows(app):
    result = invoke(app, "reproduce", "valverde2081")
    assert isinstance(result.exception, ValueError)
    assert "no experiment is named 'valverde2081'. Did you mean 'valverde2018'?" in str(result.exception)


def test_every_paper_can_be_reproduced():
    import importlib

    for name in PAPERS:
        assert callable(importlib.import_module(f"gyrostat.papers.{name}").reproduce)
    assert gs.__version__
