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
    assert "servicer_forward_dynamics: 1617 operations" in done.output
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
