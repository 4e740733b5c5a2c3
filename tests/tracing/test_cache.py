"""The disk cache: found again, never trusted blindly, shared by processes, moved and switched off."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gyrostat import tracing
from gyrostat.tracing import cache, machine

X = np.arange(5.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


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
    assert cache.folder() is None
    check()
    assert len(compilations) == 3


def test_switched_off(folder, compilations, monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    check()
    check()
    assert len(compilations) == 2 and not folder.exists()


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path / "file" / "cache"))
    check()


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
from gyrostat import tracing
kernel = tracing.compile(lambda x: x**3 + 1, None, inputs={"x": ()})
assert np.array_equal(kernel(np.arange(5.0)), np.arange(5.0) ** 3 + 1)
"""
    started = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(check) for _ in range(8)]:
            done.result()
    assert [process.wait() for process in started] == [0, 0, 0]
    assert len(list(folder.iterdir())) >= 1 and not list(folder.glob(".new-*"))
