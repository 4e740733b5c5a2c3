"""xacro runs code: never without the word, and then within limits, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gyrostat as gs
from gyrostat.io import check, load, load_formation, xacro
from gyrostat.model import ModelError
from gyrostat.scenario import example
from gyrostat.scenario import load as load_scenario

pytest.importorskip("xacrodoc")
SOURCE = Path(gs.__file__).parents[1]
ROBOT = '<robot name="craft" xmlns:xacro="http://www.ros.org/wiki/xacro">%s</robot>'
LINK = (
    '<link name="a"><inertial><mass value="%s"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
# climbs from a tuple to every class there is, and from one of those to the builtins; in a function, where names are not
# looked at
BUILTINS = (
    "(lambda: [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'catch_warnings'][0]()"
    "._module.__builtins__)()"
)


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "craft.xacro"
    path.write_text(ROBOT % ('<xacro:property name="m" value="4.5"/>' + LINK % "${2*m}"))
    return path


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / "craft.xacro"
    escape = f"{BUILTINS}['open']('{tmp_path / 'was here'}', 'w').close() or 3"
    path.write_text(ROBOT % (LINK % f"${{{escape}}}"))
    return path


def command(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-c", "from gyrostat.cli.main import run; run()", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_with_the_word_it_is_expanded(plain):
    assert load(plain, trust=True).bodies[0].mass == 9.0
    assert check(plain, trust=True).errors == ()
    assert load_formation(plain, trust=True)["a"].bodies[0].mass == 9.0


def test_without_the_word_no_code_of_it_runs(hostile, tmp_path):
    for read in (load, load_formation):
        with pytest.raises(ModelError, match=r"can do whatever you can on this machine.*trust=True in Python, --trust"):
            read(hostile)
    assert [f.code for f in check(hostile).errors] == ["untrusted"]
    assert not (tmp_path / "was here").exists()
    assert load(hostile, trust=True).bodies[0].mass == 3.0
    assert (tmp_path / "was here").exists()  # the file is what it was taken for


@pytest.mark.parametrize("name", ["scenario", "formation", "capture"])
def test_a_scenario_does_not_lend_the_word_to_a_file_it_names(hostile, tmp_path, name):
    if name == "formation":
        text = '[environment.orbit]\naltitude = "500 km"\n[run]\nduration = "1 s"\n'
        text += "".join(f'[[member]]\nname = "{m}"\nspacecraft = "craft.xacro"\n' for m in "ab")
    elif name == "capture":
        text = example("capture").replace('"client"', '"craft.xacro"')
    else:
        text = 'spacecraft = "craft.xacro"\n[run]\nduration = "1 s"\n'
    (tmp_path / "case.toml").write_text(text)
    with pytest.raises(ModelError) as caught:
        load_scenario(tmp_path / "case.toml")
    found = caught.value.findings[0]
    assert found.code == "untrusted" and found.file.endswith("case.toml"), caught.value
    line = text.splitlines()[found.line - 1]
    assert line == 'spacecraft = "craft.xacro"' and "'craft.xacro' is a xacro file" in found.message
    assert not (tmp_path / "was here").exists()
    if name == "scenario":
        assert load_scenario(tmp_path / "case.toml", trust=True).craft.name == "craft"


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "craft.xacro"),
        ("convert", "craft.xacro", "craft.toml"),
        ("verify", "craft.xacro", "--states", "1", "--no-compiled"),
        ("run", "case.toml"),
        ("view", "craft.xacro", "--no-open"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_wants_the_word(hostile, tmp_path, arguments):
    (tmp_path / "case.toml").write_text('spacecraft = "craft.xacro"\n[run]\nduration = "1 s"\n')
    done = command(tmp_path, *arguments)
    assert done.returncode == 1 and "--trust" in done.stdout + done.stderr
    assert not (tmp_path / "was here").exists()
    if arguments[0] != "view":
        done = command(tmp_path, *arguments, "--trust")
        assert done.returncode == 0 and (tmp_path / "was here").exists(), done.stderr


posix = pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")


@posix
@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (f"{BUILTINS}['bytearray'](10**11)", "more than 2 GB of memory"),
        ("len('x'.join(str(k) for k in [0]*10**9 if k)) or [1]*10**9", "more than 2 GB of memory"),
        ("9**9**9**9", "more than 2 s of computing"),
        (f"{BUILTINS}['__import__']('os')._exit(7)", "its process ended with 7"),
        (f"{BUILTINS}['__import__']('os').kill({BUILTINS}['__import__']('os').getpid(), 11)", "ended with -11"),
    ],
    ids=["memory", "lists", "computing", "exit", "crash"],
)
def test_what_it_may_use_is_limited(tmp_path, monkeypatch, expression, words):
    monkeypatch.setitem(xacro.LIMITS, "RLIMIT_CPU", 2)
    path = tmp_path / "craft.xacro"
    path.write_text(ROBOT % (LINK % f"${{{expression}}}"))
    (found,) = check(path, trust=True).errors
    assert found.code == "xacro" and words in found.message


@posix
def test_one_that_waits_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    """It starts another process, tells its number, and waits for ever."""
    monkeypatch.setattr(xacro, "SECONDS", 3)
    path, told = tmp_path / "craft.xacro", tmp_path / "number"
    start = f"{BUILTINS}['__import__']('subprocess').Popen(['sleep', '1000']).pid"
    tell = f"{BUILTINS}['open']('{told}', 'w').write(str({start}))"
    path.write_text(ROBOT % (LINK % f"${{{tell} and {BUILTINS}['__import__']('time').sleep(1000)}}"))
    (found,) = check(path, trust=True).errors
    assert "took longer than 3 s" in found.message
    number = int(told.read_text() or 0)
    with pytest.raises(ProcessLookupError):
        while True:  # until the system has taken it away
            os.kill(number, 0)


def test_what_is_wrong_in_it_is_told(tmp_path):
    path = tmp_path / "craft.xacro"
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${nothing}"/></robot>')
    (found,) = check(path, trust=True).errors
    assert found.code == "xacro" and "nothing" in found.message
