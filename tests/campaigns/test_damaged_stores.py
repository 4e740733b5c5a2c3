"""Stores of campaigns that somebody changed: damaged blocks are made again, nothing is waited for, run or believed."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import shutil
import warnings

import pytest

from flap_campaign import run

RUNS = 48  # three blocks


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("campaign") / "store"
    return run(RUNS, store=place), place


@pytest.fixture
def place(whole, tmp_path):
    return shutil.copytree(whole[1], tmp_path / "store")


def signed(content):
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def with_header(path, change):
    """A block whose header says something else, with a digest that fits."""
    line, _, raw = path.read_bytes().partition(b"\n")[2].partition(b"\n")
    header = json.loads(line)
    header = change(header) or header
    path.write_bytes(signed(json.dumps(header).encode() + b"\n" + raw))


def block_of(place, start=16):
    return place / f"{start:012d}.block"


CHANGES = {
    "another start": lambda h: h.update(start=0),
    "an end far away": lambda h: h.update(stop=10**15),
    "an end before": lambda h: h.update(stop=3),
    "an end that is no number": lambda h: h.update(stop="32"),
    "a broken end": lambda h: h.update(stop=31.5),
    "other columns": lambda h: h.update(columns=[1, 10]),
    "failures of other runs": lambda h: h.update(failures={"3": "x"}),
    "failures that are no text": lambda h: h.update(failures={"17": [1]}),
    "failures in a list": lambda h: h.update(failures=["x"]),
    "no failures": lambda h: h.pop("failures") and None,
    "a list": lambda h: [h],
}


@pytest.mark.parametrize("change", CHANGES)
def test_headers_that_lie_are_found_whatever_their_digest_says(whole, place, change):
    with_header(block_of(place), CHANGES[change])
    with pytest.warns(UserWarning, match=r"000000000016.block' was damaged; it is '000000000016.damaged' now"):
        again = run(RUNS, store=place, resume=True)
    assert block_of(place).read_bytes() == block_of(whole[1]).read_bytes()
    assert all(again.outcomes[name].tobytes() == x.tobytes() for name, x in whole[0].outcomes.items())


def test_headers_too_deep_files_too_large_and_pipes_are_damaged_blocks(whole, place):
    for start in (0, 16, 32):
        block_of(place, start).unlink()
    block_of(place, 0).write_bytes(signed(b"[" * 10**6 + b"\n"))
    with open(block_of(place, 16), "wb") as file:
        file.truncate(2**40)
    os.mkfifo(block_of(place, 32))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(RUNS, store=place, resume=True)
    assert sum("was damaged" in str(w.message) for w in caught) == 3
    for start in (0, 16, 32):
        assert block_of(place, start).read_bytes() == block_of(whole[1], start).read_bytes()


def test_files_of_others_in_a_store_are_left_alone(place):
    others = {name: place / name for name in ("notes.block", "12.block", "000000000016.block.old", "thesis.tex")}
    for name, path in others.items():
        path.write_text(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(RUNS, store=place, resume=True)
    assert all(path.read_text() == name for name, path in others.items())


def test_what_a_run_failed_of_cannot_drive_a_terminal(place):
    with_header(block_of(place), lambda h: h.update(failures={"17": "\x1b]0;mine\x07<script>"}))
    found = run(RUNS, store=place, resume=True)
    assert found.failures == {17: "\\x1b]0;mine\\x07<script>"}


@pytest.mark.parametrize("manifest", ["[1]", "3", "[" * 10**6, "{", '"a"', "\x00", "null"])
def test_manifests_that_are_none(place, manifest):
    (place / "campaign.json").write_text(manifest)
    with pytest.raises(ValueError, match="campaign.json' is no manifest of a campaign"):
        run(RUNS, store=place, resume=True)


def test_manifests_and_locks_that_are_pipes_or_links_are_not_waited_for_nor_followed(place, tmp_path):
    (place / "lock").unlink(missing_ok=True)
    os.mkfifo(place / "lock")
    with pytest.raises(ValueError, match="cannot write in"):
        run(RUNS, store=place, resume=True)
    (place / "lock").unlink()
    (place / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="cannot write in"):
        run(RUNS, store=place, resume=True)
    assert not (tmp_path / "elsewhere").exists()
    (place / "campaign.json").unlink()
    os.mkfifo(place / "campaign.json")
    with pytest.raises(ValueError, match="is no manifest of a campaign"):
        run(RUNS, store=place, resume=True)


def test_a_block_changed_anywhere_is_never_believed(whole, place):
    """Every byte counts: bits are flipped, pieces cut out, at a hundred places."""
    content = block_of(whole[1]).read_bytes()
    store = whole[0].store
    kept, store.path = store.path, place
    try:
        for seed in range(100):
            rng, changed = random.Random(seed), bytearray(content)
            if seed % 2:
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            else:
                at = rng.randrange(len(changed))
                del changed[at : at + rng.randrange(1, 200)]
            block_of(place).write_bytes(changed)
            with pytest.raises(ValueError, match="was changed or cut off"):
                store.read(16)
    finally:
        store.path = kept


# ---- histories


@pytest.fixture(scope="module")
def flown(whole, tmp_path_factory):
    pytest.importorskip("zarr")
    return whole[0].save_histories(tmp_path_factory.mktemp("histories") / "h.zarr", block=16, save_at=[0.0, 5.0])


@pytest.fixture
def histories(flown, tmp_path):
    return shutil.copytree(flown, tmp_path / "h.zarr")


def resumed(whole, place):
    return whole[0].save_histories(place, block=16, save_at=[0.0, 5.0], resume=True)


def contents(place):
    return {p.relative_to(place): p.read_bytes() for p in place.rglob("*") if p.is_file() and p.name[0] != "."}


@pytest.mark.parametrize("damage", [lambda b: b[:5], lambda b: b"garbage" * 9, lambda b: b""])
def test_marks_of_made_blocks_that_cannot_be_read_are_made_again(whole, flown, histories, damage):
    chunk = histories / "made" / "1"
    chunk.write_bytes(damage(chunk.read_bytes()))
    with pytest.warns(UserWarning, match="the block of runs from 16 on in .* was damaged"):
        resumed(whole, histories)
    assert contents(histories) == contents(flown)


@pytest.mark.parametrize("name", ["made", "q", "failure"])
@pytest.mark.parametrize(
    "change",
    [
        {"shape": [1]},
        {"dtype": "|O", "filters": [{"id": "pickle", "protocol": 5}], "compressor": None},
        {"filters": [{"id": "pickle", "protocol": 5}], "compressor": None},
        {"filters": [{"id": "delta", "dtype": "|u1"}]},
        {"compressor": {"id": "zlib", "level": 1}},
    ],
)
def test_arrays_that_are_not_as_they_were_made_are_not_read(whole, histories, tmp_path, name, change):
    """A filter may be any code: unpickling is one."""

    class Touch:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "run by reading"),)

    about = histories / name / ".zarray"
    about.write_text(json.dumps(json.loads(about.read_text()) | change))
    for chunk in (histories / name).glob("[0-9]*"):
        chunk.write_bytes(pickle.dumps(Touch()))
    (histories / "made" / "2").unlink()  # there is something to write
    with pytest.raises(ValueError, match=f"'{name}' in .* is not as it was made"):
        resumed(whole, histories)
    assert not (tmp_path / "run by reading").exists()


def test_links_and_pipes_in_a_store_of_histories_are_not_touched(whole, histories, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    chunk = histories / "q" / "1.0.0"
    chunk.unlink()
    chunk.symlink_to(tmp_path / "thesis.tex")
    with pytest.raises(ValueError, match="is no store of histories"):
        resumed(whole, histories)
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(ValueError, match="is no store of histories"):
        resumed(whole, histories)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("told", ["[]", "3", "[" * 10**5, "{", None])
def test_what_a_store_is_about_is_read_with_care(whole, histories, told):
    (histories / ".zattrs").write_text(json.dumps({"campaign": told}))
    with pytest.raises(ValueError, match="is no store of histories|holds other histories"):
        resumed(whole, histories)
