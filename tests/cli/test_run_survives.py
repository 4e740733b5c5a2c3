"""What happens to the results of `gyrostat run` when the process, its terminal or the disk under it ends."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gyrostat as gs
from full_disks import small_disk
from gyrostat.cli.main import app
from gyrostat.io.results_any import load_result
from gyrostat.scenario import load
from same_trajectory import same

CODE = "from gyrostat.cli.entry import run; run()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(gs.__file__).parents[1]), "COLUMNS": "120"}
LONG = """spacecraft = "servicer"
outputs = ["momentum"]
[start]
angular_velocity = [1.0, 0.5, 0.2]
[run]
duration = "2000 s"
save_every = "10 s"
"""
SHORT = LONG.replace("2000 s", "20 s")


def start(folder, *arguments, **options):
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, text=True, env=ENVIRONMENT, cwd=folder, **pipes)


def gyrostat(folder, *arguments):
    process = start(folder, *arguments)
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The file of the long run when nothing happens to it."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "case.toml").write_text(LONG)
    assert gyrostat(folder, "run", "case.toml")[0] == 0
    return (folder / "case.nc").read_bytes()


def under_way(folder, every="0.1 s"):
    """A run that has written a checkpoint."""
    process = start(folder, "run", "case.toml", "--checkpoint-every", every)
    while not (folder / "case.partial.nc").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_what_there_is_beside_the_complete_result_and_the_run_goes_on_bit_for_bit(
    tmp_path, whole, number
):
    """SIGTERM and SIGHUP killed the process, and nothing was written; Ctrl-C replaced the result that was there."""
    (tmp_path / "case.toml").write_text(LONG)
    (tmp_path / "case.nc").write_bytes(whole)
    process = under_way(tmp_path)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == 128 + number, err
    assert "wrote case.partial.nc" in out and "gyrostat run case.toml --resume" in err
    assert (tmp_path / "case.nc").read_bytes() == whole
    kept = gs.Trajectory.load(tmp_path / "case.partial.nc")
    assert kept.interrupted and 0 < kept.state.t[0] < 2000
    assert f"at t = {kept.state.t[0]:.6g} s" in err
    (tmp_path / "case.nc").unlink()
    code, out, err = gyrostat(tmp_path, "run", "case.toml", "--resume")
    assert code == 0, err
    assert (tmp_path / "case.nc").read_bytes() == whole
    assert not (tmp_path / "case.partial.nc").exists()


def test_a_terminal_that_is_closed_keeps_what_there_is(tmp_path):
    """With the progress bar on it: the bar's last words went nowhere, and took the run with them."""
    (tmp_path / "case.toml").write_text(LONG.replace("2000 s", "1000 h").replace("10 s", "1 h"))
    ours, theirs = pty.openpty()
    process = start(
        tmp_path, "run", "case.toml", stdout=None, stderr=None, preexec_fn=lambda: os.login_tty(theirs), close_fds=False
    )
    os.close(theirs)
    seen = b""
    while b"%" not in seen:
        seen += os.read(ours, 4096)
    os.close(ours)  # which sends SIGHUP to all that run there
    process.communicate()
    assert process.returncode == 129
    kept = gs.Trajectory.load(tmp_path / "case.partial.nc")
    assert kept.interrupted and 0 < kept.state.t[0] < 3.6e6


def test_a_killed_run_leaves_its_last_checkpoint(tmp_path, whole):
    (tmp_path / "case.toml").write_text(LONG)
    process = under_way(tmp_path)
    process.kill()
    process.communicate()
    code, _, err = gyrostat(tmp_path, "run", "case.toml", "--resume", "--checkpoint-every", "0.2 s")
    assert code == 0, err
    assert (tmp_path / "case.nc").read_bytes() == whole
    assert {path.name for path in tmp_path.iterdir()} == {"case.nc", "case.toml"}


def test_a_hangup_that_is_ignored_stays_ignored(tmp_path, whole):
    """As under nohup."""
    (tmp_path / "case.toml").write_text(LONG)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = under_way(tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert (tmp_path / "case.nc").read_bytes() == whole


def test_nobody_reads_what_is_printed_and_the_result_is_kept_all_the_same(tmp_path):
    """The audit was printed first, and the result was lost: exit code 1, no file."""
    (tmp_path / "case.toml").write_text(SHORT)
    end, closed = os.pipe()
    os.close(end)
    process = start(tmp_path, "run", "case.toml", "--report", "r.html", stdout=closed)
    os.close(closed)
    _, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert gs.Trajectory.load(tmp_path / "case.nc").ok and (tmp_path / "r.html").exists()


def test_streams_that_are_closed_take_no_result_with_them(tmp_path):
    """As `gyrostat run case.toml <&- >&- 2>&-`, where nothing can be printed: it failed, before or after the run."""
    (tmp_path / "case.toml").write_text(SHORT)
    process = start(tmp_path, "run", "case.toml", "--report", "r.html", preexec_fn=lambda: os.closerange(0, 3))
    assert (*process.communicate(), process.returncode) == ("", "", 0)
    assert gs.Trajectory.load(tmp_path / "case.nc").ok and (tmp_path / "r.html").exists()


def test_a_disk_that_is_full_at_the_end_of_a_run_sends_the_result_elsewhere(tmp_path, monkeypatch):
    """It ended in a segmentation fault."""
    monkeypatch.setitem(ENVIRONMENT, "TMPDIR", str(tmp_path))
    with small_disk(tmp_path / "disk", "16k") as disk:
        (disk / "case.toml").write_text(SHORT)
        code, out, err = gyrostat(disk, "run", "case.toml", "--report", "r.html")
        assert code == 1 and "are missing" in err and "The result is in" in " ".join(err.split())
        assert [path.name for path in disk.iterdir()] == ["case.toml"]
    (kept,) = tmp_path.glob("case-*.nc")
    assert gs.Trajectory.load(kept).ok and f"wrote {kept}" in out


def test_inputs_are_not_overwritten_and_no_two_outputs_share_a_name(tmp_path):
    (tmp_path / "case.toml").write_text(SHORT)
    (tmp_path / "page.html").write_text(SHORT)
    for arguments in (
        ("case.toml", "--report", "case.toml"),
        ("case.toml", "--scene", "case.nc"),
        ("page.html", "--report", "page.html"),
        ("case.toml", "--report", "r.html", "--scene", "./r.html"),
        ("case.toml", "--checkpoint-every", "5 m"),
        ("case.toml", "--checkpoint-every", "-5 s"),
    ):
        code, out, err = gyrostat(tmp_path, "run", *arguments)
        assert code == 2 and out == "" and "Traceback" not in err, err
    assert (tmp_path / "case.toml").read_text() == SHORT
    assert {path.name for path in tmp_path.iterdir()} == {"case.toml", "page.html"}


def test_no_command_writes_over_what_it_reads(tmp_path, monkeypatch):
    """`gyrostat report case.nc --out case.nc` left a page in the place of the result."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.toml").write_text(SHORT)
    (tmp_path / "linked.nc").symlink_to("case.nc")
    gs.simulate(gs.load("servicer"), t_span=(0, 0.1)).save("case.nc")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for arguments, words in (
        (("report", "case.nc", "--out", "case.nc"), "a report is a page"),
        (("report", "linked.nc", "--scene", "case.nc"), "a scene is a page"),
        (("report", "case.nc", "--out", "case.html", "--scene", "./case.html"), "what --out names already"),
        (("report", "case.nc", "--out", "case.toml"), "a report is a page"),
        (("schema", "--out", "case.toml"), "a schema is written as .json"),
        (("serve", "case.toml", "--out", "case.toml"), "results are written as .nc"),
        (("sweep", "case.toml", "--out", "case.toml"), "is written as .nc"),
        (("sweep", "case.toml", "--report", "x.html", "--scene", "./x.html"), "what --report names already"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2 and words in " ".join(done.output.replace("│", "").split()), done.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_goes_on_only_from_a_run_of_the_same_scenario(tmp_path):
    (tmp_path / "case.toml").write_text(SHORT)
    code, _, err = gyrostat(tmp_path, "run", "case.toml", "--resume")
    assert code == 1 and "there is no 'case.partial.nc'" in err
    with pytest.warns(gs.SimulationWarning):
        part = load(tmp_path / "case.toml").simulate(max_steps=100)
    part.save(tmp_path / "case.partial.nc")
    (tmp_path / "case.toml").write_text(SHORT.replace("0.2", "0.3"))
    code, _, err = gyrostat(tmp_path, "run", "case.toml", "--resume")
    assert code == 1 and "line 4 is 'angular_velocity = [1.0, 0.5, 0.3]', it was" in " ".join(err.split())
    (tmp_path / "case.toml").write_text(SHORT)
    code, _, err = gyrostat(tmp_path, "run", "case.toml")
    assert code == 0 and "holds an interrupted run" in err and (tmp_path / "case.partial.nc").exists()


def test_a_capture_that_never_grasps_ends_with_4(tmp_path):
    """It ended with 0, then with 3 as a run that blew up does."""
    assert gyrostat(tmp_path, "init", "--example", "capture", "case.toml")[0] == 0
    text = (tmp_path / "case.toml").read_text()
    changed = text.replace('closer_than = "5 cm"', "closer_than = 1e-9")
    assert changed != text
    (tmp_path / "case.toml").write_text(changed)
    code, out, err = gyrostat(tmp_path, "run", "case.toml", "--report", "r.html")
    assert code == 4 and "without its event" in err and "wrote case.nc" in out
    kept = gs.Trajectory.load(tmp_path / "case.nc")
    assert not kept.ok and "without its event" in kept.failures[0]
    assert "without its event" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("example", ["capture-and-detumble", "station-assembly", "inspection-formation"])
def test_missions_go_on_from_where_a_signal_met_them(tmp_path, example):
    """All phases, all members. What was kept of them could be looked at and not gone on with, and one was told to."""
    assert gyrostat(tmp_path, "init", "--example", example, "case.toml")[0] == 0
    assert gyrostat(tmp_path, "run", "case.toml")[0] == 0
    whole, partial = (tmp_path / "case.nc").read_bytes(), tmp_path / "case.partial.nc"
    for number in (signal.SIGTERM, signal.SIGKILL):
        (tmp_path / "case.nc").unlink()
        process = under_way(tmp_path, "0.001 s")
        process.send_signal(number)
        _, err = process.communicate()
        assert process.returncode == (143 if number == signal.SIGTERM else -number), err
        assert partial.exists() and not (tmp_path / "case.nc").exists()
        assert ("run case.toml --resume" in err) == (number == signal.SIGTERM)
        load_result(partial)
        code, _, err = gyrostat(tmp_path, "run", "case.toml", "--resume")
        assert code == 0 and (tmp_path / "case.nc").read_bytes() == whole, err
        assert not partial.exists()


@pytest.mark.parametrize("wait", [0.02, 0.1, 0.2, 0.4])
def test_ctrl_c_while_the_command_is_being_loaded_ends_it_in_words(tmp_path, wait):
    """It ended in a traceback through the modules that were being imported."""
    (tmp_path / "case.toml").write_text(LONG)
    code = f"""
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
from gyrostat.cli.entry import run
signal.setitimer(signal.ITIMER_REAL, {wait})
sys.argv = ["gyrostat", "run", "case.toml"]
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr, done
    assert not (tmp_path / "case.nc").exists()


PRESSED = """import signal, numpy as np
pressed = []
def law(craft, t, q, v):
    if float(t) > 3.0 and not pressed:
        pressed.append(t)
        signal.raise_signal(signal.SIGINT)
    return np.concatenate([np.zeros(6), [-0.1 * float(x) for x in v[6:]]])
"""


@pytest.mark.skipif(os.name == "nt", reason="raises signals of POSIX")
def test_a_command_that_keeps_no_part_of_a_run_shows_none(tmp_path):
    """The viewer showed the part, as if the scenario ended there."""
    (tmp_path / "case.toml").write_text(LONG.replace("2000 s", "5 s").replace("10 s", "0.5 s") + BY_LAW)
    (tmp_path / "own.py").write_text(PRESSED)
    process = start(tmp_path, "view", "case.toml", "--trust", "--no-open")
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "Stopped." in err and "http" not in out + err


OWN = """import numpy as np
def law(craft, t, q, v):
    if float(t) > {when}:
        raise RuntimeError("no entry")
    return np.concatenate([np.zeros(6), [-0.1 * float(x) for x in v[6:]]])
"""
PHASES = """spacecraft = "servicer"
[start]
angular_velocity = [1.0, 0.5, 0.2]
[run]
save_every = "0.5 s"
[[phase]]
name = "first"
duration = "2 s"
[[phase]]
name = "second"
duration = "3 s"
"""
BY_LAW = '[control]\npython = "own.py:law"\n'


@pytest.mark.parametrize("text", [LONG.replace("2000 s", "5 s").replace("10 s", "0.5 s") + BY_LAW, PHASES + BY_LAW])
def test_an_error_in_a_law_of_ones_own_keeps_the_run_and_names_its_line(tmp_path, text):
    """All was lost, and it was told as an error of gyrostat."""
    (tmp_path / "case.toml").write_text(text)
    (tmp_path / "own.py").write_text(OWN.format(when=99.0))
    assert gyrostat(tmp_path, "run", "case.toml", "--trust")[0] == 0
    whole = gs.Trajectory.load(tmp_path / "case.nc")
    (tmp_path / "case.nc").unlink()
    (tmp_path / "own.py").write_text(OWN.format(when=3.0))
    code, _, err = gyrostat(tmp_path, "run", "case.toml", "--trust")
    assert code == 1 and "own.py, line 4: RuntimeError: no entry" in err and "should not happen" not in err
    assert "run case.toml --trust --resume" in err and not (tmp_path / "case.nc").exists()
    kept = (tmp_path / "case.partial.nc").read_bytes()
    (tmp_path / "own.py").write_text("def law(craft, t, q, v):\n    return nothing\n")
    assert gyrostat(tmp_path, "run", "case.toml", "--trust", "--resume")[0] == 1
    assert (tmp_path / "case.partial.nc").read_bytes() == kept
    (tmp_path / "own.py").write_text(OWN.format(when=99.0))
    assert gyrostat(tmp_path, "run", "case.toml", "--trust", "--resume")[0] == 0
    same(gs.Trajectory.load(tmp_path / "case.nc"), whole)
    (tmp_path / "own.py").write_text("def law(craft, t, q, v):\n    return nothing\n")
    code, _, err = gyrostat(tmp_path, "run", "case.toml", "--trust")
    assert code == 1 and "own.py, line 2: NameError: name 'nothing' is not defined" in err
    assert "should not happen" not in err


def test_a_user_without_a_home_gets_everything_but_a_cache(tmp_path):
    """A user that the system does not know, who may still read Python's own files."""
    if os.getuid() or not shutil.which("setpriv"):
        pytest.skip("only root may become somebody else")
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(parent.stat().st_mode | 0o005)
    somebody = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    allowed = ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": ENVIRONMENT["PYTHONPATH"], "COLUMNS": "400"}
    done = subprocess.run(
        [*somebody, *allowed, sys.executable, "-c", CODE, "demo", "[/nope]"],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    if "setpriv" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert "note: There is no cache of compiled kernels: this user has no home directory." in done.stderr
    assert "[/nope]/result.nc" in done.stdout and gs.Trajectory.load(tmp_path / "[/nope]" / "result.nc").ok


NAMES = (
    "[bold]x[/bold]",
    "[/nope]",
    "<script>alert(1)</script>",
    "$\\frac{$",
    "{x}",
    "{{7*7}}",
    "../../x",
    "a/b",
    "%2F",
    "-o",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_name_in_every_file_on_every_page_and_on_the_terminal(tmp_path, name, monkeypatch):
    base = gs.Body(name, 10.0, inertia=(1, 2, 3))
    joint = gs.Joint(f"j{name}", "revolute", name)
    arm = gs.Body(f"arm{name}", 1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1), joint=joint)
    craft = gs.Spacecraft.build(f"c{name}", [base, arm], frames=[gs.Frame(f"f{name}", name)])
    gs.save(craft, tmp_path / "craft.toml")
    (tmp_path / "case.toml").write_text(
        f'spacecraft = "craft.toml"\nname = {json.dumps(name)}\noutputs = ["frames", "momentum"]\n'
        f"[run]\nduration = 1\n[[waypoint]]\nat = 1\njoints = {{ {json.dumps('j' + name)} = 0.1 }}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    done = CliRunner().invoke(app, ["run", "case.toml", "--report", "r.html", "--scene", "s.html", "--plot"])
    assert done.exit_code == 0, done.output
    assert f"{name}: c{name}, 1 s" in done.output
    assert gs.Trajectory.load(tmp_path / "case.nc").craft.name == f"c{name}"
    assert "<script>alert" not in (tmp_path / "r.html").read_text()
    checked = CliRunner().invoke(app, ["check", "craft.toml"])
    assert checked.exit_code == 0 and name in checked.output, checked.output
    (tmp_path / f"{name.replace('/', '')}.toml").write_text("?")
    code, _, err = gyrostat(tmp_path, "run", "--", f"{name.replace('/', '')}.toml")
    assert code == 1 and "Traceback" not in err and "not valid TOML" in err


@pytest.mark.parametrize("name", ["a\0b", "a\x1b[31m", "a\nb", "\u202ea", "\ud800", "", " "])
def test_a_name_that_cannot_be_printed_is_refused_when_a_craft_is_built(name):
    with pytest.raises(gs.ModelError, match="its name (holds|is empty)") as caught:
        gs.Spacecraft.build("craft", [gs.Body(name, 10.0, inertia=(1, 2, 3))])
    assert "\x1b" not in str(caught.value) and "\0" not in str(caught.value)
    with pytest.raises(ValueError, match="its name (holds|is empty)"):
        gs.Group(gs.load("servicer"), (name,))


def test_a_file_name_that_is_no_text_names_a_case_and_a_craft_all_the_same(tmp_path):
    """Bytes that are not UTF-8, or not what the locale says: the result was kept, and its report failed."""
    folder = os.fsencode(tmp_path)
    case = Path(os.fsdecode(folder + b"/f\xc3\xa4\xff.toml"))
    case.write_text(SHORT)
    assert load(case).name == "f\u00e4\ufffd"
    urdf = case.with_suffix(".urdf")
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    urdf.write_text(f'<robot><link name="hull"><inertial><mass value="2"/>{inertia}</inertial></link></robot>')
    assert gs.load(urdf).name == "f\u00e4\ufffd"
