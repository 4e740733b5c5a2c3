"""A campaign in single precision says by how much its first block differs from the same in double."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from flap_campaign import ASKED, CRAFT, SPREAD, law
from gyrostat import campaigns as c

OPTIONS = {"t_span": (0.0, 5.0), "control": law, "integrator": "rk4", "step": 0.02, "seed": 9, "block": 64}


def run(runs=200, **options):
    return gs.campaign(CRAFT, SPREAD, runs, outcomes=ASKED, **{**OPTIONS, "precision": "single", **options})


def test_the_note_is_the_difference_of_both_campaigns(tmp_path):
    double = gs.campaign(CRAFT, SPREAD, 200, outcomes=ASKED, **OPTIONS)
    assert double.single_precision == () and "single" not in str(double)
    at = float(np.median(double.outcomes["top"][:64])) + 1e-9
    single = run(requirements=[c.require("top", below=at, share=0.1)], store=tmp_path / "s")
    for note in single.single_precision:
        x, y = single.outcomes[note.outcome], double.outcomes[note.outcome]
        assert 0 < note.largest == np.abs(x - y)[:64].max() and note.runs == 64
        assert np.abs(x - y).max() < 20 * note.largest < 1e-4 * note.spread
        other = (x < at) != (y < at)
        assert note.otherwise == (other[:64].sum() if note.outcome == "top" else 0)
        assert f"{note.outcome}: single precision moves 64 runs by" in str(single)
    page = single.report(tmp_path / "page.html", bands=20).read_text()
    assert "<h2>Single precision</h2>" in page and "<h2>Single" not in double.report(tmp_path / "d.html").read_text()


def test_it_is_kept_in_the_store_and_runs_are_the_same_bit_for_bit_alone_in_parts_and_resumed(tmp_path, monkeypatch):
    whole = run(store=tmp_path / "whole")
    k, value = whole.worst("top", 1)[0]
    assert whole.case(k).outcomes["top"][0] == value
    for part in (2, 1):
        found = run(store=tmp_path / "parts", shard=(part, 2), resume=True)
        assert bool(found.single_precision) == (part == 1)
    names = sorted(p.name for p in (tmp_path / "whole").iterdir() if not p.name.startswith("lock"))
    assert "first-block.double" in names
    assert all((tmp_path / "whole" / n).read_bytes() == (tmp_path / "parts" / n).read_bytes() for n in names)
    (tmp_path / "parts" / "first-block.double").write_bytes(b"gone")
    assert run(store=tmp_path / "parts", resume=True).single_precision == whole.single_precision
    with pytest.raises(ValueError, match="options was .*precision"):
        run(store=tmp_path / "whole", precision="double", resume=True)


def test_runs_that_fail_in_one_of_both_only_are_counted():
    from gyrostat.campaigns.single import _of_one

    a, b = np.array([1.0, np.nan, np.nan, np.inf, 2.0]), np.array([1.5, 1.0, np.nan, np.inf, 2.0])
    note = _of_one("x", a, b, [c.require("x", below=1.2)])
    assert (note.largest, note.median, note.otherwise) == (0.5, 0.25, 2)


def test_what_cannot_be_in_single_is_refused_before_a_run():
    with pytest.raises(ValueError, match="Give a fixed step="):
        run(integrator="dop853", step=None)
