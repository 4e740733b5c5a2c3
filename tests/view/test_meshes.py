"""Meshes come from anywhere: whatever is in them costs a picture at most, in bounded time and memory."""

from __future__ import annotations

import json
import os
import struct
import zipfile

import numpy as np
import pytest
import trimesh

import gyrostat as gs
from gyrostat.view import meshes
from gyrostat.view.meshes import read_meshes
from gyrostat.view.shapes import primitives

BOX = trimesh.creation.box((1.0, 2.0, 3.0))


def content(kind):
    data = BOX.export(file_type=kind)
    return data.encode() if isinstance(data, str) else data


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb"])
def test_formats_are_read(tmp_path, kind):
    path = tmp_path / f"box.{kind.upper()}"
    path.write_bytes(content(kind))
    vertices, faces = read_meshes([str(path)])[str(path)]
    np.testing.assert_allclose(np.ptp(vertices, axis=0), (1.0, 2.0, 3.0))
    assert len(faces) == 12


def test_what_is_refused_is_said_and_the_others_are_read(tmp_path, monkeypatch):
    files = {"good.stl": content("stl"), "again.obj": content("obj"), "text.stl": b"no mesh", "empty.ply": b""}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.stl", content("stl"))
    files["renamed.stl"] = files["x.3mf"] = (tmp_path / "a.zip").read_bytes()
    files["tape.obj"] = bytes(257) + b"ustar" + bytes(300)
    files["squeezed.ply"] = b"\x1f\x8b" + bytes(100)
    files["large.stl"] = bytes(5000)
    monkeypatch.setattr(meshes, "MAX_BYTES", 4999)
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    names = [*files, "a.zip", "gone.stl", "folder.stl"]
    (tmp_path / "folder.stl").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.stl")
        names.append("pipe.stl")
    found = read_meshes(str(tmp_path / name) for name in names)
    said = {name: found[str(tmp_path / name)] for name in names}
    assert len(said["good.stl"][1]) == len(said["again.obj"][1]) == 12
    for name in ("renamed.stl", "tape.obj", "squeezed.ply"):
        assert said[name] == "it is an archive, which is not unpacked"
    for name in ("a.zip", "x.3mf"):
        assert "is not among the formats" in said[name]
    assert "at most" in said["large.stl"] and "cannot be read" in said["gone.stl"]
    for name in set(names) & {"folder.stl", "pipe.stl"}:
        assert "a folder, a pipe or a device" in said[name]
    assert isinstance(said["text.stl"], str) and isinstance(said["empty.ply"], str)


def glb(count):
    """A glTF whose positions are said to be so many, and are nowhere: zeros, by the standard."""
    tree = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 4}]}],
        "accessors": [{"componentType": 5126, "type": "VEC3", "count": count}],
    }
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_one_that_asks_for_all_the_memory_costs_its_own_picture(tmp_path):
    (tmp_path / "a.stl").write_bytes(content("stl"))
    (tmp_path / "bomb.glb").write_bytes(glb(10**11))
    (tmp_path / "z.stl").write_bytes(content("stl"))
    found = read_meshes(str(tmp_path / name) for name in ("a.stl", "bomb.glb", "z.stl"))
    assert isinstance(found[str(tmp_path / "bomb.glb")], str)
    assert all(len(found[str(tmp_path / name)][1]) == 12 for name in ("a.stl", "z.stl"))


def test_triangles_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 11)
    (tmp_path / "a.stl").write_bytes(content("stl"))
    assert read_meshes([str(tmp_path / "a.stl")]) == {
        str(tmp_path / "a.stl"): "it has 12 triangles; at most 11 are drawn"
    }


def test_time_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, "SECONDS", 0.0)
    for name in ("a.stl", "b.stl"):
        (tmp_path / name).write_bytes(content("stl"))
    found = list(read_meshes(str(tmp_path / name) for name in ("a.stl", "b.stl")).values())
    assert found == ["it took longer than 0 s", "there was no time left to read it"]


def test_a_craft_with_bad_meshes_is_drawn_with_notes(tmp_path):
    (tmp_path / "good.stl").write_bytes(content("stl"))
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04")
    shapes = tuple(gs.Shape("mesh", (1.0, 1.0, 1.0), file=str(tmp_path / name)) for name in ("good.stl", "bad.zip"))
    craft = gs.Spacecraft.build("craft", [gs.Body("hull", 1.0, inertia=np.eye(3), shapes=shapes)])
    drawn, notes = primitives(craft)
    assert len(drawn["hull"]) == 1 and "mesh 'bad.zip' is not drawn: '.zip' is not among the formats" in notes[0]


def test_mutants_give_triangles_or_a_reason(tmp_path):
    """Bytes exchanged, cut out and doubled, all in one go; the campaign `make faults` takes more of them."""
    rng = np.random.default_rng(17)
    files = []
    for k in range(120):
        kind = ("stl", "obj", "ply", "off", "glb")[k % 5]
        data = bytearray(content(kind))
        for _ in range(int(rng.integers(1, 6))):
            at = int(rng.integers(len(data)))
            what = rng.integers(3)
            if what == 0:
                data[at] = int(rng.integers(256))
            elif what == 1:
                del data[at : at + int(rng.integers(1, 40))]
            else:
                data[at:at] = data[at : at + 30]
            data = data or bytearray(b"\0")
        files.append(tmp_path / f"{k}.{kind}")
        files[-1].write_bytes(data)
    found = read_meshes(map(str, files))
    assert len(found) == 120
    for mesh in found.values():
        if isinstance(mesh, str):
            assert mesh
        else:
            vertices, faces = mesh
            assert np.isfinite(vertices).all() and faces.min() >= 0 and faces.max() < len(vertices)
    assert 0 < sum(not isinstance(mesh, str) for mesh in found.values()) < 120
