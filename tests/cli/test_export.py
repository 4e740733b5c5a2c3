"""`gyrostat export`: files for other tools, or a sentence that says why not."""

from __future__ import annotations

import subprocess

import pytest
from typer.testing import CliRunner

from c_compiler import COMPILERS, STRICT, needs_compiler
from gyrostat.cli.export import FUNCTIONS
from gyrostat.cli.main import app


def run(*words: object):
    return CliRunner().invoke(app, ["export", *map(str, words)])


@needs_compiler
def test_all_functions_of_a_bundled_craft_compile_and_test_themselves(tmp_path):
    done = run("c", "servicer", "--functions", ",".join(FUNCTIONS), "--frame", "tool", "-o", tmp_path, "--test")
    assert done.exit_code == 0, done.output
    assert "servicer_forward_dynamics: 1278 operations" in done.output
    command = [COMPILERS[0], *STRICT, "servicer.c", "servicer_test.c", "-lm", "-o", "checked"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run(["./checked"], cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["c", "servicer", "--functions", "forward_dynamic"], "forward_dynamics"),
        (["c", "servicer", "--functions", "jacobian"], "give --frame. servicer has: tool"),
        (["c", "servicer", "--functions", "jacobian", "--frame", "tol"], "has no body or frame 'tol'"),
        (["c", "servicr"], "servicr"),
    ],
)
def test_what_cannot_be_written_is_said(words, message, tmp_path):
    done = run(*words, "-o", tmp_path)
    assert done.exit_code != 0
    said = " ".join((done.output + str(done.exception or "")).replace("│", " ").split())
    assert message in said and not list(tmp_path.iterdir())


def test_files_that_exist_are_kept(tmp_path):
    assert run("c", "servicer", "--functions", "momentum", "-o", tmp_path).exit_code == 0
    before = (tmp_path / "servicer.c").read_bytes()
    done = run("c", "servicer", "--functions", "mass_matrix", "-o", tmp_path)
    assert done.exit_code == 2 and "--overwrite" in done.output and (tmp_path / "servicer.c").read_bytes() == before
    assert run("c", "servicer", "--functions", "mass_matrix", "-o", tmp_path, "--overwrite").exit_code == 0
    assert (tmp_path / "servicer.c").read_bytes() != before


def test_equations_of_a_bundled_craft(tmp_path):
    pytest.importorskip("sympy")
    done = CliRunner().invoke(
        app, ["equations", "servicer", "--show", "H", "--frame", "tool", "-o", str(tmp_path / "e.tex")]
    )
    assert done.exit_code == 0 and "named subexpressions" in done.output
    assert r"\end{document}" in (tmp_path / "e.tex").read_text()
    done = CliRunner().invoke(app, ["equations", "servicer", "-o", str(tmp_path / "e.pdf"), "--show", "M"])
    assert done.exit_code != 0 and ".html or .tex" in str(done.output) + str(done.exception)


def test_mex_files_of_two_functions(tmp_path):
    done = run("mex", "servicer", "--functions", "forward_dynamics,mass_matrix", "-o", tmp_path)
    assert done.exit_code == 0, done.output
    for name in ("servicer_forward_dynamics", "servicer_mass_matrix"):
        for end in (".c", ".h", "_mex.c", "_sfun.c"):
            assert (tmp_path / f"{name}{end}").stat().st_size


SCENARIO = """
spacecraft = "servicer"
outputs = ["momentum"]

[run]
duration = "10 s"
save_every = "0.1 s"
rtol = 1e-12
atol = 1e-15

[[waypoint]]
at = "5 s"
joints = { joint_1 = "50 deg" }
"""


def test_a_scenario_becomes_an_fmu_and_what_it_cannot_hold_is_said(tmp_path):
    file, out = tmp_path / "reach.toml", tmp_path / "reach.fmu"
    file.write_text(SCENARIO)
    words = ["fmu", file, "-o", out, "--no-binary"]
    refused = run(*words)
    assert refused.exit_code != 0 and "Give the FMU its step=" in str(refused.exception)
    done = run(*words, "--step", "10 ms", "--loads", "base", "--parameters", "link_1.mass", "--frames", "tool")
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "FMI 3.0, co-simulation and model-exchange: 6 inputs, 50 outputs, 1 tunable parameters" in text
    assert "atol: of gyrostat's integrators, not in the FMU" in text and "it has no binary, as asked" in text
    assert out.exists()
    again = run(*words, "--step", "10 ms")
    assert again.exit_code == 2 and "exists already" in " ".join(again.output.split())


def test_a_scenario_that_stops_at_limits_is_no_fmu(tmp_path):
    file = tmp_path / "reach.toml"
    file.write_text('limits = "stop"\n' + SCENARIO)
    done = run("fmu", file, "-o", tmp_path / "it.fmu", "--step", "10 ms")
    assert done.exit_code != 0 and 'limits = "note"' in str(done.exception)
