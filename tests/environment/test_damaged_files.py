"""Files of orbits, attitudes, fields and ephemerides that lie: refused by name, in little time and memory."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from struct import pack

import numpy as np
import pytest

from gyrostat.environment import AttitudeEphemeris, Ephemeris, read_gfc
from gyrostat.environment.sky.attitude_files import read_aem, write_aem
from gyrostat.environment.sky.bodies import celestial
from gyrostat.environment.sky.instants import instant
from gyrostat.environment.sky.orbit_files import read_oem, write_oem
from gyrostat.environment.sky.orbit_parameters import read_opm
from gyrostat.io.writing import WriteError

TIMES = np.datetime64("2026-03-01T00:00:00", "ns") + np.arange(200) * np.timedelta64(60, "s")
ORBIT = Ephemeris(TIMES, np.random.default_rng(0).normal(size=(200, 6)) * 1e6, name="station")
HEAD = "earth_gravity_constant 3.986004415E+14\nradius 6378136.3\n"
FIELD = HEAD + "".join(f"gfc {n} {m} {1e-6 / n} {1e-7 * m}\n" for n in range(2, 6) for m in range(n + 1))


def oem(path, *lines):
    write_oem(path, ORBIT)
    head = path.read_text().partition("STOP_TIME")[0]
    path.write_text(head + "META_STOP\n" + "\n".join(lines) + "\n")
    return read_oem(path)


@pytest.mark.parametrize("read", [read_oem, read_aem, read_opm, read_gfc])
def test_pipes_devices_and_what_is_no_text_are_refused_at_once(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"abc\n\xff\xfe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(ValueError, match="is not a file but a folder, a pipe or a device"):
            read(path)
    with pytest.raises(ValueError, match=r"bytes:2: byte 0xff is no text"):
        read(tmp_path / "bytes")
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(2**40)  # takes no room on the disk
    with pytest.raises(ValueError, match="MB are read"):
        read(tmp_path / "huge")


@pytest.mark.parametrize(
    "date", ["NaT", "now", "today", "2020", "9999-01-01T00:00:00", "1500-01-01T00:00:00", "2021-366T00:00:00"]
)
def test_dates_that_numpy_would_make_something_of_are_none(date, tmp_path):
    with pytest.raises(ValueError, match=f"'{date} 1 0 0 0 1 0' is no state"):
        oem(tmp_path / "a.oem", f"{date} 1 0 0 0 1 0")


def test_the_last_day_of_a_leap_year_is_one(tmp_path):
    assert oem(tmp_path / "a.oem", "2020-366T00:00:00 1 0 0 0 1 0").times[0] == np.datetime64("2020-12-31")


@pytest.mark.parametrize("number", ["nan", "inf", "1e400", "1e999999999", "-1e-999999999999999999999", "x"])
def test_numbers_that_are_none_or_not_finite(number, tmp_path):
    with pytest.raises(ValueError, match="is no state"):
        oem(tmp_path / "a.oem", f"2020-01-01T00:00:00 {number} 0 0 0 1 0")


def test_files_that_are_cut_off_say_so(tmp_path):
    attitude = AttitudeEphemeris(TIMES, np.tile([1.0, 0, 0, 0], (200, 1)))
    for write, read, whole in ((write_oem, read_oem, ORBIT), (write_aem, read_aem, attitude)):
        write(tmp_path / "a", whole)
        lines = (tmp_path / "a").read_text().splitlines()
        (tmp_path / "a").write_text("\n".join(lines[:-30]) + "\n")
        with pytest.raises(ValueError, match="it is cut off"):
            read(tmp_path / "a")
    (tmp_path / "a.gfc").write_text("max_degree 6\n" + FIELD)
    with pytest.raises(ValueError, match="max_degree is 6, and its terms end at 5: it is cut off"):
        read_gfc(tmp_path / "a.gfc")
    assert read_gfc(tmp_path / "a.gfc", degree=5).degree == 5  # as somebody shortened it


def test_words_of_several_lines_or_escapes_bring_nothing_in(tmp_path):
    with pytest.raises(ValueError, match="OBJECT_NAME: holds .*, which cannot be printed"):
        write_oem(tmp_path / "a", Ephemeris(TIMES, ORBIT.states, name="x\nTIME_SYSTEM = TAI"))
    with pytest.raises(ValueError, match="ORIGINATOR: holds"):
        write_oem(tmp_path / "a", ORBIT, originator="me\rTIME_SYSTEM = TAI")
    assert not (tmp_path / "a").exists()
    write_oem(tmp_path / "a", ORBIT)
    (tmp_path / "a").write_text((tmp_path / "a").read_text().replace("station", "st\x1b[2Jation"))
    with pytest.raises(ValueError, match=r"a:6: holds '\\x1b', which cannot be printed"):
        read_oem(tmp_path / "a")


def test_a_full_disk_keeps_the_orbit_that_was_there(tmp_path):
    """In a process that may write files of 4 kB: as a full disk, the limit is found while the bytes are written."""
    write_oem(tmp_path / "a.oem", ORBIT)
    before = (tmp_path / "a.oem").read_bytes()
    assert len(before) > 8192
    code = """
import resource, signal, sys
import numpy as np
from gyrostat.environment.sky.orbit_files import read_oem, write_oem
orbit = read_oem(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_oem(sys.argv[1], orbit)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a.oem"], capture_output=True, text=True, check=True)
    assert "bytes are needed, a file may have 4,096 here" in done.stdout, done
    assert (tmp_path / "a.oem").read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["a.oem"]
    with pytest.raises(WriteError, match="the folder '.*' does not exist"):
        write_oem(tmp_path / "none" / "a.oem", ORBIT)


@pytest.mark.parametrize(
    "line", ["2 -1 1 0", "2 3 1 0", "-5 0 1 1", "2 1 nan 0", "2 1 inf 0", "2 1 0", "2 \x1b[2J 0 0"]
)
def test_terms_that_would_land_elsewhere_are_refused(line, tmp_path):
    (tmp_path / "a.gfc").write_text(FIELD.replace("gfc 2 1", "gfc 9 1") + f"gfc {line}\n")
    with pytest.raises(ValueError, match="is no term; expected") as caught:
        read_gfc(tmp_path / "a.gfc")
    assert "\x1b" not in str(caught.value)


def test_fields_in_epochs_huge_degrees_and_constants_that_are_none(tmp_path):
    (tmp_path / "a.gfc").write_text(FIELD + "gfct 2 0 1 0 20100101\n")
    with pytest.raises(ValueError, match="degree 2, order 0 stands there twice"):
        read_gfc(tmp_path / "a.gfc")
    (tmp_path / "a.gfc").write_text(FIELD + "gfc 100000000 0 1 0\n")
    with pytest.raises(ValueError, match="degree 100000000 takes .* terms; the file has 19 of them"):
        read_gfc(tmp_path / "a.gfc")
    assert read_gfc(tmp_path / "a.gfc", 5).degree == 5  # of what it holds
    for word in ("nan", "-1", "abc", "0"):
        (tmp_path / "a.gfc").write_text(FIELD.replace("6378136.3", word))
        with pytest.raises(ValueError, match=f"radius is '{word}'; expected a number above zero"):
            read_gfc(tmp_path / "a.gfc")


# ---- kernels of JPL's format


def kernel(links, next_record=0):
    """Bodies (target, centre) that stand still at (target, 0, 0) km, from 2000 to 2060."""
    data, summaries, at = b"", b"", 3 * 128 + 1
    for target, centre in links:
        segment = pack("<5d", 0.0, 1e9, target, 0.0, 0.0) + pack("<4d", 0.0, 2e9, 5, 1)
        summaries += pack("<2d6i", 0.0, 1.9e9, target, centre, 1, 2, at, at + len(segment) // 8 - 1)
        data, at = data + segment, at + len(segment) // 8
    table = pack("<3d", next_record, 0, len(links)) + summaries
    ends = b"FTPSTR:\r:\n:\r\n:\r\x00:\x81:\x10\xce:ENDFTP"
    first = pack("<8sII60sIII8s603s28s297s", b"DAF/SPK ", 2, 6, b"", 2, 2, at, b"LTL-IEEE", b"", ends, b"")
    return first + table.ljust(1024, b"\0") + b" " * 1024 + data.ljust(-(-len(data) // 1024) * 1024, b"\0")


LINKS = [(3, 0), (399, 3), (301, 3), (10, 0)]


def moon(path):
    return celestial("moon", instant("2025-01-01"), 0.0, 3 * 86400.0, path)


def test_the_kernel_of_these_tests_is_read(tmp_path):
    (tmp_path / "a.bsp").write_bytes(kernel(LINKS))
    np.testing.assert_allclose(moon(tmp_path / "a.bsp").position(1e5), [1e3 * (301 - 399), 0.0, 0.0], atol=1e-6)


def test_tables_and_bodies_that_go_in_circles_end(tmp_path):
    path = tmp_path / "a.bsp"
    path.write_bytes(kernel(LINKS, next_record=2))
    with pytest.raises(ValueError, match="its table of segments has no end"):
        moon(path)
    path.write_bytes(kernel([(3, 399), (399, 3), (301, 3)]))
    with pytest.raises(ValueError, match="its bodies refer to each other in a circle"):
        moon(path)


def test_damaged_kernels_are_refused_or_read_and_leave_no_file_open(tmp_path):
    path, whole, refused = tmp_path / "a.bsp", kernel(LINKS), 0
    used = [*range(1024), *range(1024, 1024 + 24 + 4 * 40), *range(3072, 3072 + 4 * 72)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(300):
        rng, changed = random.Random(seed), bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.choice(used)] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        path.write_bytes(changed[: rng.choice((len(changed), len(changed), rng.randrange(len(changed))))])
        try:
            assert np.isfinite(moon(path).position(1e5)).all()
        except ValueError as error:
            refused += 1
            assert "sky: 'a.bsp'" in str(error) or f"sky: '{path}'" in str(error) or "not smooth" in str(error), seed
    assert 60 < refused < 280  # ResourceWarnings are errors here
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 300_000  # kB
