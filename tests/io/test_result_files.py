"""Result files that lie: damaged, cut short, or changed on purpose. One error for all, before anything is believed."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.results_netcdf import HEADER
from gyrostat.io.results_read import ResultError
from tampering import damaged, replaced, tampered, values, with_header, with_notes

SOURCE = Path(gs.__file__).parents[1]


def crossing(craft, t, q, v):
    return q[7] - 0.3


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    craft = gs.load("servicer")
    v = np.zeros(craft.nv)
    v[6:] = 0.05
    run = gs.simulate(craft, gs.neutral(craft), v, (0, 20), save_at=np.linspace(0, 20, 21), events=crossing)
    assert run.events
    return run.save(tmp_path_factory.mktemp("saved") / "run.nc").read_bytes()


@pytest.fixture
def path(saved, tmp_path):
    (tmp_path / "run.nc").write_bytes(saved)
    return tmp_path / "run.nc"


def test_a_file_with_any_damage_is_refused(saved, path):
    """213 of 500 ended in "this should not happen", 24 changed the run that went on from them."""
    rng = random.Random(0)
    for _ in range(400):
        content = damaged(saved, rng)
        if content == saved:
            continue
        path.write_bytes(content)
        with pytest.raises(ResultError, match="run.nc"):
            gs.Trajectory.load(path)
    path.write_bytes(saved)
    assert gs.Trajectory.load(path).ok


def external(file):
    del file["q"]
    file.create_dataset("q", shape=(21, 13), dtype="f8", external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)])


def external_link(file):
    del file["q"]
    file["q"] = h5py.ExternalLink("other.h5", "/q")


def soft_link(file):
    file["q_again"] = h5py.SoftLink("/q")


def group(file):
    file.create_group("more")


def virtual(file):
    layout = h5py.VirtualLayout((21, 13), "f8")
    layout[...] = h5py.VirtualSource("other.h5", "q", (21, 13))
    del file["q"]
    file.create_virtual_dataset("q", layout)


LIES = {
    "external storage": external,
    "a link to another file": external_link,
    "a link": soft_link,
    "a folder": group,
    "a virtual array": virtual,
    "4 GB that are not there": replaced("q", shape=(41_000_000, 13), dtype="f8", chunks=(1000, 13)),
    "4 GB, packed": replaced("tau", shape=(100_000, 12), dtype="f8", chunks=(1000, 12), compression="gzip"),
    "an array too long": replaced("state_y", data=np.zeros((7, 26))),
    "one with too few axes": replaced("state_y", data=np.zeros(26)),
    "words for numbers": replaced("state_h", data=np.array(["x"], dtype=h5py.string_dtype())),
    "pairs": replaced("state_h", data=np.zeros(1, dtype=[("a", "f8"), ("b", "f8")])),
    "single precision": replaced("state_t", data=np.zeros(1, dtype="f4")),
    "without a state": lambda file: file.__delitem__("state_y"),
    "without loads": lambda file: file.__delitem__("tau"),
    "an array that nobody knows": lambda file: file.create_dataset("mine", data=np.arange(3.0)),
    "without a header": lambda file: file.__delitem__(HEADER),
    "a header that is no JSON": replaced(HEADER, data=np.frombuffer(b"{", dtype=np.uint8)),
    "a header that is no text": replaced(HEADER, data=np.full(9, 255, dtype=np.uint8)),
    "a header of numbers": replaced(HEADER, data=np.zeros(9)),
    "without notes": with_header(lambda header: header.pop("notes")),
    "another model": with_header(lambda header: header.update(model_toml='gyrostat = 1\nname = "x"\n')),
    "no model": with_header(lambda header: header.update(model_toml="?")),
    "notes that are no JSON": with_header(lambda header: header.update(notes="{")),
    "notes that are a number": with_header(lambda header: header.update(notes="3")),
    "notes of another type": with_header(lambda header: header.update(notes=[3])),
    "another format": with_header(lambda header: header.update(format="gyrostat-1")),
    "an axis too many": with_header(lambda header: header["variables"]["q"]["dims"].append("body")),
    "an axis of two lengths": with_header(lambda header: header["variables"]["tau"].update(dims=["time", "q_name"])),
    "words about a variable that are none": with_header(
        lambda header: header["variables"]["q"].update(attributes={"units": [1]})
    ),
    "a span of one number": with_notes(lambda notes: notes.update(t_span=[1.0])),
    "an event of no run": with_notes(lambda notes: notes.update(events=[[5, "crossing", 1.0]])),
    "more events than states": with_notes(lambda notes: notes.update(events=[[0, "a", 1.0]] * 3)),
    "a tolerance in words": with_notes(lambda notes: notes.update(rtol="small")),
    "no integrator": with_notes(lambda notes: notes.pop("integrator")),
    "an unknown integrator": with_notes(lambda notes: notes.update(integrator="euler")),
    "a wrong actuator": with_notes(lambda notes: notes.update(actuators={"lag": "x"})),
    "time that runs back": values("time", lambda t: t.sort() or t.__setitem__(slice(None), t[::-1].copy())),
    "time that is no number": values("time", lambda t: t.__setitem__(3, np.nan)),
    "a status that is none": values("state_status", lambda s: s.__setitem__(0, 77.0)),
    "a status between two": values("state_status", lambda s: s.__setitem__(0, 0.5)),
    "names of other joints": with_header(lambda header: header["variables"]["q_name"]["words"].__setitem__(0, "elbow")),
    "names in two rows": with_header(lambda header: header["variables"]["q_name"].update(words=[["a"], ["b"]])),
    "names that are none": with_header(lambda header: header["variables"]["q_name"].update(words=[[1], 2])),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_was_changed_on_purpose_is_refused(path, lie):
    """114 of 464 ended in raw errors, some were read; external storage read any file."""
    tampered(path, LIES[lie])
    with pytest.raises(ResultError, match="run.nc"):
        gs.Trajectory.load(path)


def test_a_file_that_was_changed_on_purpose_and_holds_together_is_read(path):
    """The other side of the law: what is refused is refused for its content, not for having been touched."""
    before = gs.Trajectory.load(path)
    tampered(path, values("q", lambda q: q.__setitem__((3, 8), 0.25)))
    after = gs.Trajectory.load(path)
    assert after.q[3, 8] == 0.25 and before.q[3, 8] != 0.25
    after.data["mine/own"] = (("time", "%2F"), np.arange(42.0).reshape(21, 2), {"units": "1"})
    again = gs.Trajectory.load(after.save(path)).data["mine/own"]
    assert again.dims == ("time", "%2F") and again.values.tolist() == np.arange(42.0).reshape(21, 2).tolist()


def test_what_is_no_ordinary_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.nc")
    for place in (tmp_path / "pipe.nc", tmp_path, Path("/dev/zero"), tmp_path / "none.nc", str(tmp_path / "a\0.nc")):
        with pytest.raises(ResultError, match="does not exist|no ordinary file"):
            gs.Trajectory.load(place)


MUTANTS = "import sys; from tampering import read_mutants; print(read_mutants(*sys.argv[1:]))"


def test_random_changes_with_a_digest_that_fits_end_in_a_result_or_in_the_one_error(saved, tmp_path):
    """In a process of its own: what reads HDF5 is not ours, and must not take the tests down."""
    (tmp_path / "saved.nc").write_bytes(saved)
    folders = os.pathsep.join([str(SOURCE), str(Path(__file__).parents[1] / "helpers")])
    arguments = [tmp_path / "saved.nc", tmp_path / "mutant.nc", 0, 300]
    done = subprocess.run(
        [sys.executable, "-c", MUTANTS, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": folders},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    read, refused = map(int, re.findall(r"\d+", done.stdout))
    assert read + refused == 300 and read and refused
