"""The disk cache: found again, never trusted blindly, shared by processes, moved and switched off."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gyrostat import _parts, tracing
from gyrostat.tracing import cache, machine

X = np.arange(5.0)


@pytest.fixture
def base(tmp_path, monkeypatch):
    """What GYROSTAT_CACHE names."""
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path / "cache"))
    forget()
    return tmp_path / "cache"


@pytest.fixture
def folder(base):
    """The cache's own folder in it."""
    return base / cache.FOLDER


def forget():
    """As in a process that has just started."""
    for known in (cache._told, cache._looked_at, _parts._swept):
        known.clear()


@pytest.fixture
def compilations(monkeypatch):
    made = []
    compile_for_real = machine.machine_code
    monkeypatch.setattr(machine, "machine_code", lambda text: made.append(1) or compile_for_real(text))
    return made


def cubic():
    return tracing.compile(lambda x: x**3 + 1, None, inputs={"x": ()})


def check():
    assert np.array_equal(cubic()(X), X**3 + 1)


def test_second_start_compiles_nothing(folder, compilations):
    check()
    check()
    assert len(compilations) == 1
    (entry,) = folder.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700 and entry.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "foreign"])
def test_damaged_entries_are_rebuilt(folder, compilations, damage):
    check()
    (entry,) = folder.iterdir()
    stored = bytearray(entry.read_bytes())
    if damage == "flip":
        stored[len(stored) // 2] ^= 1
    elif damage == "truncate":
        stored = stored[:-10]
    elif damage == "empty":
        stored = bytearray()
    else:  # a sound entry, under another key
        cache.store("0" * 64, b"anything")
        stored = bytearray((folder / ("0" * 64)).read_bytes())
    entry.write_bytes(stored)
    check()
    assert len(compilations) == 2
    check()
    assert len(compilations) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes of POSIX")
def test_entries_that_others_may_have_written_are_not_used(folder, compilations):
    check()
    (entry,) = folder.iterdir()
    entry.chmod(0o622)
    check()
    assert len(compilations) == 2
    folder.chmod(0o777)
    with pytest.warns(cache.CacheWarning, match="others may write in it"):
        assert cache.folder() is None
    check()
    assert len(compilations) == 3


def test_switched_off(base, compilations, monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    check()
    check()
    assert len(compilations) == 2 and not base.exists()


def test_a_folder_that_cannot_be_made_is_told_once_and_no_error(base, monkeypatch):
    base.write_text("a file")
    with pytest.warns(cache.CacheWarning, match=r"cannot be used \(.*\). Kernels are compiled anew at every start"):
        check()
    check()
    assert base.read_text() == "a file"


def test_what_is_not_its_own_is_never_touched(base, monkeypatch):
    """Neither beside its folder nor, put there after it was looked at, within; however large, and however old."""
    base.mkdir()
    kept = [base / "thesis.tex", base / ("a" * 64)]
    for path in kept:
        path.write_bytes(bytes(3000))
    cache.store("0" * 64, b"first")
    folder = base / cache.FOLDER
    kept += [folder / "film.mp4", folder / f"{'b' * 64}.txt", folder / ".gyrostat-of-mine.part"]
    for path in kept[2:]:
        path.write_bytes(bytes(3000))
    (folder / ("c" * 64)).mkdir()
    (folder / ("d" * 64)).symlink_to(base / "thesis.tex")
    for path in kept:
        os.utime(path, (0, 0))
    monkeypatch.setattr(cache, "LIMIT", 100)
    for k in range(20):
        cache.store(f"{k:064}", bytes(90))
    assert all(path.read_bytes() == bytes(3000) for path in kept)
    assert (folder / ("c" * 64)).is_dir() and (folder / ("d" * 64)).is_symlink()
    assert sum(path.is_file() and path.name.startswith("0") for path in folder.iterdir()) <= 1


@pytest.mark.parametrize("foreign", ["thesis.tex", "0" * 63, "G" * 64, ".gyrostat-of-mine.part"])
def test_a_folder_that_holds_anything_else_is_refused(folder, compilations, foreign):
    folder.mkdir(parents=True, mode=0o700)
    (folder / foreign).write_text("mine")
    with pytest.warns(
        cache.CacheWarning, match=f"holds '{foreign}', which gyrostat did not put there. Move that elsewhere"
    ):
        check()
    check()
    assert len(compilations) == 2 and [path.name for path in folder.iterdir()] == [foreign]
    (folder / foreign).unlink()
    check()
    check()
    assert len(compilations) == 3


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_place_of_the_folder_is_refused(base, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    base.mkdir()
    (base / cache.FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.warns(cache.CacheWarning, match="it is a link"):
        check()
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_or_a_link_in_place_of_an_entry_is_not_read(folder, tmp_path):
    cache.store("0" * 64, b"content")
    os.replace(folder / ("0" * 64), tmp_path / "entry")
    (folder / ("0" * 64)).symlink_to(tmp_path / "entry")
    assert cache.load("0" * 64) is None
    (folder / ("0" * 64)).unlink()
    os.mkfifo(folder / ("0" * 64))
    assert cache.load("0" * 64) is None


def test_only_digests_name_entries(folder):
    with pytest.raises(ValueError, match="named by a digest"):
        cache.store("../thesis.tex", b"")


KILLED = """
import os, signal
from gyrostat.tracing import cache
write = os.fdopen
def half(*args, **named):
    file = write(*args, **named)
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
os.fdopen = half
cache.store("0" * 64, b"content")
"""


@pytest.mark.skipif(os.name == "nt", reason="kills as POSIX does")
def test_what_a_killed_process_leaves_is_swept_at_the_next_start(folder):
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED], check=False)
        assert done.returncode == -9
        assert len(list(folder.iterdir())) == 1  # the second swept what the first had left
    assert cache.load("0" * 64) is None
    assert not list(folder.iterdir())


UNKNOWN = """
import os, sys
os.setresuid(54321, 0, 0)  # who this is; it may still read Python itself
import numpy as np
import gyrostat as gs
craft = gs.load("servicer")
kernel = gs.compile(gs.mass_matrix, craft)
assert np.allclose(kernel(gs.neutral(craft)), gs.mass_matrix(craft, gs.neutral(craft)))
for arguments in (["check", "servicer"], ["init"], ["run", "scenario.toml"]):
    sys.argv[1:] = arguments
    try:
        from gyrostat.cli.main import run
        run()
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
"""


@pytest.mark.skipif(not hasattr(os, "setresuid") or os.getuid() != 0, reason="becomes another user")
def test_a_user_whom_the_system_does_not_know_and_who_has_no_home_can_work():
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be entered by their owner alone
        os.chmod(folder, 0o777)
        command = [sys.executable, "-c", UNKNOWN]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "this user has no home directory" in done.stderr and "wrote scenario.nc" in done.stdout


def test_size_is_bounded(folder, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 1000)
    for k in range(20):
        cache.store(f"{k:064}", bytes(100))
        os.utime(folder / f"{k:064}", (k, k))
    kept = sorted(int(entry.name) for entry in folder.iterdir())
    assert 19 in kept and len(kept) <= 8


def test_processes_and_threads_at_once(folder):
    program = """
import numpy as np
from gyrostat import _parts, tracing
kernel = tracing.compile(lambda x: x**3 + 1, None, inputs={"x": ()})
assert np.array_equal(kernel(np.arange(5.0)), np.arange(5.0) ** 3 + 1)
"""
    started = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(check) for _ in range(8)]:
            done.result()
    assert [process.wait() for process in started] == [0, 0, 0]
    (entry,) = folder.iterdir()
    assert len(entry.name) == 64
