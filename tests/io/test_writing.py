"""Files that are kept: whole or not there, whatever happens to the disk or to the process that writes them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from full_disks import small_disk
from gyrostat import _parts
from gyrostat.io.writing import WriteError, check_writable, write_bytes, write_text
from gyrostat.view.report import write_report

SOURCE = Path(gs.__file__).parents[1]


def swinging(times):
    craft = gs.load("servicer")
    v = np.zeros(craft.nv)
    v[6:] = 0.05
    return gs.simulate(craft, gs.neutral(craft), v, (0, 20), save_at=np.linspace(0, 20, times))


@pytest.fixture(scope="module")
def long():
    return swinging(2001)


WRITERS = {
    "r.nc": lambda run, path: run.save(path),
    "r.mat": lambda run, path: run.save(path),
    "r.html": write_report,
    "s.html": lambda run, path: run.to_html(path),
    "c.toml": lambda run, path: gs.save(run.craft, path),
    "c.urdf": lambda run, path: gs.save(run.craft, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_keeps_the_old_file_and_says_how_many_bytes_are_missing(tmp_path, long, name):
    """It was a segmentation fault for .nc, with the message of the HDF5 library before."""
    with small_disk(tmp_path / "disk", "400k") as disk:
        path = disk / name
        path.write_text("old")
        free = os.statvfs(disk)
        (disk / "fill").write_bytes(bytes(free.f_bavail * free.f_frsize - 4096))
        with pytest.raises(WriteError, match=r"No space left.* bytes are needed, [\d,]+ are free, [\d,]+ are missing"):
            WRITERS[name](long, path)
        assert path.read_text() == "old" and {p.name for p in disk.iterdir()} == {name, "fill"}
    WRITERS[name](long, tmp_path / name)  # what was not written is still there
    if name == "r.nc":
        np.testing.assert_array_equal(gs.Trajectory.load(tmp_path / name).q, long.q)


def test_a_disk_that_fills_at_any_byte_leaves_the_old_file_or_the_new_one(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        path = disk / "a"
        outcomes = set()
        for room in range(0, 61440, 4096):
            path.write_bytes(b"old")
            fill = disk / "fill"
            free = os.statvfs(disk)
            fill.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - room)))
            try:
                write_bytes(path, b"n" * 20000)
                outcomes.add("new")
                assert path.read_bytes() == b"n" * 20000
            except WriteError:
                outcomes.add("old")
                assert path.read_bytes() == b"old"
            assert {p.name for p in disk.iterdir()} == {"a", "fill"}
            fill.unlink()
        assert outcomes == {"old", "new"}


def test_the_limit_on_the_size_of_a_file_is_told(tmp_path, long):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    long.signals  # noqa: B018  (compiled before the limit holds)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(WriteError, match=r"a file may have 100,000 here \(ulimit -f\), [\d,]+ are missing"):
            long.save(tmp_path / "r.nc")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_modes_are_kept_and_new_files_follow_the_umask(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_text(path, "first")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write_text(path, "second")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o664)
        write_text(path, "third")
        assert stat.S_IMODE(path.stat().st_mode) == 0o664
    finally:
        os.umask(before)
    assert path.read_text() == "third"


def test_what_replaces_a_private_file_is_private_while_it_is_made(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o600)
    seen = []
    write = os.write

    def watched(handle, content):
        seen.append(stat.S_IMODE(os.fstat(handle).st_mode))
        return write(handle, content)

    monkeypatch.setattr(os, "write", watched)
    write_text(path, "new")
    assert seen == [0o600]


def test_links_stay_links(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a").symlink_to("elsewhere/b")
    write_text(tmp_path / "a", "text")
    assert (tmp_path / "a").is_symlink() and (tmp_path / "elsewhere" / "b").read_text() == "text"


def test_what_cannot_be_a_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "a")
    for path, words in (
        (tmp_path / "none" / "a", "the folder .* does not exist"),
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "a device or a pipe"),
        ("/dev/null", "a device or a pipe"),
        (str(tmp_path / "a\0b"), "NUL"),
        (tmp_path / ("x" * 300), "File name too long.*choose a shorter name"),
        (tmp_path / "link", "it is a link, and the folder '.*gone' does not exist"),
    ):
        with pytest.raises(WriteError, match=words):
            write_text(path, "text")
    assert Path("/dev/null").is_char_device() and {p.name for p in tmp_path.iterdir()} == {"pipe", "link"}


def test_a_folder_that_is_gone_is_told(tmp_path, monkeypatch):
    """Of a relative path, it ended as "this should not happen", and the result went nowhere."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(WriteError, match="the folder that this process works in is gone"):
        write_text("a", "text")


KILLED = """
import os, sys, time
from gyrostat.io import writing
write = os.write
def slow(handle, content):
    write(handle, content[:1000])
    print("half", flush=True)
    time.sleep(600)
os.write = slow
writing.write_bytes(sys.argv[1], b"n" * 5000)
"""


def killed_while_writing(path, how):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    assert process.stdout is not None and process.stdout.readline() == b"half\n"
    return process, lambda: (process.send_signal(how), process.communicate())


def test_a_killed_process_leaves_the_old_file_and_an_orphan_that_the_next_one_sweeps(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    names = set()
    for _ in range(2):
        _, kill = killed_while_writing(path, signal.SIGKILL)
        kill()
        assert path.read_bytes() == b"old"
        orphans = {p.name for p in tmp_path.iterdir()} - {"a"}
        assert len(orphans) == 1 and not orphans & names  # the first was swept by the second; names are not guessed
        names |= orphans
    (tmp_path / ".gyrostat-mine.part").write_text("somebody's own")
    _parts._swept.clear()
    check_writable(path)
    assert {p.name for p in tmp_path.iterdir()} == {"a", ".gyrostat-mine.part"}


def test_the_part_of_a_living_process_is_not_swept(tmp_path):
    process, kill = killed_while_writing(tmp_path / "a", signal.SIGINT)
    _parts._swept.clear()
    write_text(tmp_path / "b", "text")
    assert sum(p.suffix == ".part" for p in tmp_path.iterdir()) == 1
    kill()
    assert process.returncode != 0 and [p.name for p in tmp_path.iterdir()] == ["b"]
