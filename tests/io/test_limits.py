"""What is read stays within stated limits: plain files alone, of a stated size,
and no more of anything than can be worked on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io import check
from gyrostat.io.bounded import read_file, run_limited, why_ended
from gyrostat.model import ModelError
from gyrostat.scenario import load as load_scenario

posix = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and limits of POSIX")
SOURCE = Path(gs.__file__).parents[1]


@posix
@pytest.mark.parametrize("name", ["craft.urdf", "craft.xml", "craft.toml", "case.toml"])
@pytest.mark.parametrize("what", ["pipe", "device", "endless", "folder", "link to a pipe"])
def test_pipes_devices_and_folders_are_refused_at_once(tmp_path, name, what):
    """In a process of its own: whoever opens a pipe that nobody writes to waits for ever, and /dev/zero has no end."""
    path = tmp_path / name
    if what == "pipe":
        os.mkfifo(path)
    elif what == "link to a pipe":
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/tty" if what == "device" else "/dev/zero")
    reader = "gyrostat.scenario import load" if name == "case.toml" else "gyrostat.io import load"
    code = f"from {reader}\ntry:\n    load({str(path)!r})\nexcept ValueError as error:\n    print(error)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert "is not a file but a folder, a pipe or a device" in done.stdout, done.stderr


@posix
@pytest.mark.parametrize("command", ["run", "check", "view", "verify"])
def test_commands_do_not_wait_for_a_pipe(tmp_path, command):
    os.mkfifo(tmp_path / "case.toml")
    done = subprocess.run(
        [sys.executable, "-c", "from gyrostat.cli.main import run; run()", command, "case.toml"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr and done.stdout + done.stderr


def test_a_file_is_read_to_its_limit_and_not_beyond(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))
    assert read_file(path, 1000) == bytes(1000)
    with pytest.raises(ModelError, match=r"has 0\.0 MB; at most .* MB are read"):
        read_file(path, 999)
    for wrong in (tmp_path / "gone", Path("a\0b")):
        with pytest.raises(ModelError, match="cannot be read"):
            read_file(wrong, 10)


def test_a_scenario_has_a_megabyte_at_most(tmp_path):
    (tmp_path / "case.toml").write_text("#" * (2**20 + 1))
    with pytest.raises(ModelError, match="at most 1 MB are read"):
        load_scenario(tmp_path / "case.toml")


def test_a_scenario_has_a_thousand_members_at_most(tmp_path):
    """A thousand are read; before, two thousand took a minute, as each was placed together with all the others."""
    head = '[environment.orbit]\naltitude = "500 km"\n[run]\nduration = "1 s"\n'

    def members(n):
        rows = (f'[[member]]\nname = "m{k}"\nspacecraft = "client"\nposition = [0, {k}, 0]\n' for k in range(n))
        (tmp_path / "case.toml").write_text(head + "".join(rows))
        return load_scenario(tmp_path / "case.toml")

    with pytest.raises(ModelError, match="has 1001 members; 1000 are the most"):
        members(1001)
    work = members(100)
    assert len(work.formation) == 100
    places = np.array([work.state[f"m{k}"][0][0, 4:7] for k in range(100)])
    np.testing.assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), 1.0, atol=1e-9)


REPLICATE = (
    '<mujoco><worldbody><body name="hub"><freejoint/><geom size="1"/>%s<replicate count="%s" euler="0 0 1">'
    '<body name="x"><joint axis="0 0 1"/><geom size="1"/></body></replicate></body></worldbody></mujoco>'
)


@pytest.mark.parametrize(("count", "refused"), [("600", False), ("700", True), ("9999", True), ("1e9", True)])
def test_replicas_stand_for_so_many_elements_at_most(tmp_path, count, refused):
    """MuJoCo needed three minutes for 9999 of them, and cannot be interrupted."""
    (tmp_path / "craft.xml").write_text(REPLICATE % ("", count))
    errors = check(tmp_path / "craft.xml").errors
    assert [f.code for f in errors] == (["too-many-links"] if refused else [])
    if refused and count != "1e9":
        assert "more than 2000 bodies, joints, geoms and sites" in errors[0].message


def test_replicas_of_replicas_are_counted(tmp_path):
    inner = '<replicate count="40" euler="0 0 1"><site/></replicate>'
    text = REPLICATE % ("", "60")
    (tmp_path / "craft.xml").write_text(text.replace('<geom size="1"/></body>', f'<geom size="1"/>{inner}</body>'))
    assert [f.code for f in check(tmp_path / "craft.xml").errors] == ["too-many-links"]


def test_an_archive_is_no_mesh_for_an_inertia(tmp_path):
    with zipfile.ZipFile(tmp_path / "hull.stl", "w") as archive:
        archive.writestr("bomb.stl", bytes(10**6))
    (tmp_path / "craft.xml").write_text(
        '<mujoco><asset><mesh name="hull" file="hull.stl"/></asset>'
        '<worldbody><body name="a"><freejoint/><geom type="mesh" mesh="hull"/></body></worldbody></mujoco>'
    )
    (found,) = check(tmp_path / "craft.xml").errors
    assert found.code == "unsupported" and "is an archive, which is not unpacked" in found.message


@posix
@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("sys.exit(0)", 0, None),
        ("sys.exit(7)", 7, "ended with 7"),
        ("\nwhile True: pass", -24, "more than 1 s of computing"),
        ("open(sys.argv[1], 'wb').write(bytes(2**22))", 1, None),
        ("import os, time; os.fork(); time.sleep(1000)", None, "longer than 2 s"),
    ],
)
def test_a_limited_process_ends_and_says_why(tmp_path, code, status, words):
    limits = {"RLIMIT_CPU": 1, "RLIMIT_AS": 2**30, "RLIMIT_FSIZE": 2**20}
    ended = run_limited(code, [str(tmp_path / "out")], 2 if status is None else 600, limits)
    assert ended == status or (status == -24 and ended == -9)
    if words:
        assert words in why_ended(ended, 2, limits)
