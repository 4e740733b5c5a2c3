"""The command line: output a person can read, JSON a machine can read, exit codes, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gyrostat as gs
from gyrostat.io import load
from gyrostat.models import file
from shared_files import shared

SOURCE = Path(gs.__file__).parents[1]
GOOD = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{z}"/></inertial>'


def gyrostat(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from gyrostat.cli.main import run; run()"
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "120", **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], check=False, capture_output=True, text=True, env=env
    )


def urdf(folder: Path, z: float = 1.0, mass: str = "2", name: str = "hub") -> Path:
    path = folder / "craft.urdf"
    path.write_text(f'<robot name="craft"><link name="{name}">{GOOD.format(z=z).replace("2", mass, 1)}</link></robot>')
    return path


def test_version():
    done = gyrostat("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"gyrostat {gs.__version__}")


def test_check_prints_the_tree_and_the_mass_properties():
    done = gyrostat("check", file("servicer"))
    assert done.returncode == 0 and done.stderr == ""
    expected = (
        "link_6",
        "revolute about (0, 0, 1)",
        "1825 kg",
        "centre of mass",
        "(1434, 1434, 1735)",
        "tool on link_6",
        "OK",
    )
    assert all(word in done.stdout for word in expected)


def test_check_of_a_published_file():
    done = gyrostat("check", shared("models/pyastrobee/astrobee.urdf"))
    assert done.returncode == 0
    assert "9.58 kg" in done.stdout and "-120 .. 89.9996 deg" in done.stdout and "unit" in done.stdout


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)])
def test_strict_makes_errors_of_warnings(tmp_path, options, code):
    done = gyrostat("check", urdf(tmp_path, z=5.0), *options)
    assert done.returncode == code
    assert "warning: " in done.stdout and "principal moments" in done.stdout
    assert ("FAILED" in done.stdout) == (code == 1)


def test_errors_are_told_with_file_and_line_and_exit_code_1(tmp_path):
    path = urdf(tmp_path, mass="2,5")
    done = gyrostat("check", path)
    assert done.returncode == 1
    assert f"error: {path}:1: link 'hub'" in done.stdout and "2,5" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "no_such_file.urdf"),
        ("fly",),
        ("check", "--fast"),
        ("convert", "a.urdf"),
        ("check", "."),
        ("check", __file__, "--base", "flying"),
    ],
)
def test_wrong_usage_has_exit_code_2(arguments):
    done = gyrostat(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr


def test_a_bundled_spacecraft_goes_by_its_name(tmp_path):
    assert "1825 kg" in gyrostat("check", "servicer").stdout
    target = tmp_path / "copy.toml"
    assert gyrostat("convert", "servicer", str(target)).returncode == 0 and gs.load(target).nv == 12
    done = gyrostat("check", "servcer")
    assert done.returncode == 2 and "servicer7" in done.stderr


def test_json_for_machines(tmp_path):
    done = gyrostat("check", file("servicer"), "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 0 and data["ok"] and data["craft"]["mass"] == 1825.0
    assert [body["name"] for body in data["craft"]["bodies"]][-1] == "link_6"
    assert data["craft"]["bodies"][1]["joint"]["limits"]["lower"] is None
    done = gyrostat("check", urdf(tmp_path, mass="nan"), "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 1 and not data["ok"] and data["craft"] is None
    assert (data["findings"][0]["code"], data["findings"][0]["line"], data["findings"][0]["level"]) == (
        "not-finite",
        1,
        "error",
    )


def test_convert_keeps_the_spacecraft_and_never_overwrites_unasked(tmp_path):
    target = tmp_path / "servicer.urdf"
    done = gyrostat("convert", file("servicer"), target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert gs.total_mass(load(target)) == 1825.0
    before = target.read_bytes()
    done = gyrostat("convert", urdf(tmp_path), target)
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", done.stderr).split())
    assert done.returncode == 2 and "exists already" in said and target.read_bytes() == before
    done = gyrostat("convert", urdf(tmp_path), target, "--overwrite")
    assert done.returncode == 0 and gs.total_mass(load(target)) == 2.0


def test_convert_refuses_what_the_format_cannot_say(tmp_path):
    source = tmp_path / "wheel.toml"
    source.write_text(
        'name = "x"\n[[body]]\nname = "hub"\nmass = 1\ninertia = [1, 1, 1]\n'
        '[[wheel]]\nname = "rw"\nparent = "hub"\naxis = [0, 0, 1]\nspin_inertia = 0.1\n'
    )
    done = gyrostat("convert", source, tmp_path / "wheel.urdf")
    assert done.returncode == 1
    assert "joint 'rw'" in done.stderr and "wheel" in done.stderr and ".toml" in done.stderr
    done = gyrostat("convert", source, tmp_path / "wheel.step")
    assert done.returncode == 1 and "expected .toml, .urdf, .xml" in done.stderr and "Traceback" not in done.stderr


def test_names_cannot_drive_the_terminal_nor_its_markup(tmp_path):
    path = tmp_path / "evil.toml"
    path.write_text(
        'name = "a\\u001b[2J[bold red]b"\n[[body]]\nname = "hub[/bold]\\u0007"\nmass = 1\ninertia = [1, 1, 1]\n'
    )
    done = gyrostat("check", path)
    assert done.returncode == 1 and "which cannot be printed" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr and "\x07" not in done.stdout + done.stderr
    assert "\\x1b[2J[bold red]b" in done.stdout and "hub[/bold]\\x07" in done.stdout


@pytest.mark.parametrize("content", ["a" + ".a" * 60_000 + " = 1\n", "a = " + "[" * 100_000 + "\n"])
def test_a_file_nested_too_deeply_is_no_scenario_at_once(tmp_path, content):
    """`gyrostat view` asks of a .toml which of the two it is; their reader takes minutes, or the stack."""
    from gyrostat.cli.view import read

    (tmp_path / "bomb.toml").write_text(content)
    with pytest.raises(ValueError, match="nested too deeply"):
        read(str(tmp_path / "bomb.toml"))


def test_a_terminal_without_unicode_still_works(tmp_path):
    done = gyrostat("check", urdf(tmp_path, name="é🛰"), PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_an_unexpected_failure_is_one_sentence_unless_debugging(tmp_path):
    code = (
        "import sys, gyrostat.cli.check as c\n"
        "def broken(*a, **k): raise RuntimeError('the sky fell')\n"
        "c.check_file = broken\n"
        "from gyrostat.cli.main import run\nrun()"
    )
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    arguments = ["check", str(urdf(tmp_path))]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=False, capture_output=True, text=True, env=env
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "RuntimeError: the sky fell" in done.stderr and "report" in done.stderr
    done = subprocess.run(
        [sys.executable, "-c", code, "--debug", *arguments], check=False, capture_output=True, text=True, env=env
    )
    assert "Traceback" in done.stderr
