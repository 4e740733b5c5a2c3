"""A campaign is the same whoever runs it, however often it is stopped; what is not right is refused."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from flap_campaign import ASKED, CRAFT, SPREAD, W, flap, law, run
from gyrostat import campaigns as c
from gyrostat import outcomes

SCRIPT = Path(__file__).resolve().parents[1] / "helpers" / "flap_campaign.py"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(store=tmp_path_factory.mktemp("campaign") / "whole")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("lock")}


def same(a, b) -> bool:
    return all(a.outcomes[n].tobytes() == b.outcomes[n].tobytes() for n in a.outcomes) and all(
        a.values[n].tobytes() == b.values[n].tobytes() for n in a.values
    )


def test_blocks_threads_order_and_machines_change_no_bit(whole):
    assert whole.complete and not whole.failures
    assert same(whole, run(block=200)) and same(whole, run(block=7, threads=1))
    with ThreadPoolExecutor(3) as workers:
        assert same(whole, run(executor=workers))
    fewer = run(runs=50)
    assert all((whole.outcomes[n][:50] == fewer.outcomes[n]).all() for n in ASKED)


def test_one_run_alone_is_the_same_bit_for_bit_with_its_histories(whole):
    for k, value in whole.worst("top", 3):
        alone = whole.case(k, save_at=np.linspace(0, 5, 300))
        assert alone.outcomes["top"][0] == value == whole.outcomes["top"][k]
        assert alone.q[0, :, 0].max() == pytest.approx(value, rel=1e-4)
    with pytest.raises(ValueError, match="no run 200"):
        whole.case(200)


def test_a_linear_system_has_the_covariance_that_its_transition_gives():
    spread = {
        ("q0:hinge", "v0:hinge"): c.correlated([c.normal(0.1, 0.02), c.normal(0.0, 0.05)], [[1.0, 0.6], [0.6, 1.0]])
    }
    found = gs.campaign(CRAFT, spread, 4000, seed=2, outcomes=ASKED, t_span=(0.0, 3.0))
    s, k = np.sin(3.0 * W), np.cos(3.0 * W)
    Phi = np.array([[k, s / W], [-W * s, k]])
    x0 = np.stack([found.values["q0:hinge"], found.values["v0:hinge"]])
    x = np.stack([found.outcomes["angle"], found.outcomes["rate"]])
    assert np.abs(x - Phi @ x0).max() < 1e-9
    P = np.array([[0.02**2, 0.6 * 0.02 * 0.05], [0.6 * 0.02 * 0.05, 0.05**2]])
    exact = Phi @ P @ Phi.T
    assert np.abs(np.cov(x) / exact - 1).max() < 5 * np.sqrt(2 / 4000) * 2
    assert np.abs(x.mean(axis=1) - Phi @ [0.1, 0.0]).max() < 5 * np.sqrt(exact.max() / 4000)


def test_killed_and_resumed_the_store_is_the_undisturbed_one(whole, tmp_path):
    folder = tmp_path / "store"
    process = subprocess.Popen([sys.executable, str(SCRIPT), str(folder)])
    limit = time.monotonic() + 60
    while len(list(folder.glob("*.block"))) < 3 and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    left = files(folder)
    assert 3 <= sum(name.endswith(".block") for name in left) < 13
    assert all(
        whole.store.path.joinpath(name).read_bytes() == content for name, content in left.items() if name[0] != "."
    )
    with pytest.raises(ValueError, match="resume=True"):
        run(store=folder)
    again = run(store=folder, resume=True)
    assert same(whole, again)
    kept = {name: content for name, content in files(folder).items() if name.endswith((".block", ".json"))}
    assert kept == files(whole.store.path)
    assert {p.name for p in folder.iterdir() if not p.name.startswith("lock")} >= set(kept)


def test_shards_make_the_same_store_and_more_runs_go_on(whole, tmp_path):
    folder = tmp_path / "store"
    first = run(store=folder, shard=(1, 2))
    assert not first.complete and 0 < first.runs < 200
    second = run(store=folder, shard=(2, 2), resume=True)
    assert second.complete and same(whole, second) and files(folder) == files(whole.store.path)
    longer = run(runs=230, store=folder, resume=True)
    assert longer.runs == 230 and (longer.outcomes["top"][:200] == whole.outcomes["top"]).all()


def test_a_damaged_block_is_seen_and_made_again(whole, tmp_path):
    folder = tmp_path / "store"
    run(store=folder)
    block = sorted(folder.glob("*.block"))[2]
    content = bytearray(block.read_bytes())
    content[-11] ^= 4
    block.write_bytes(content)
    with pytest.warns(UserWarning, match="damaged"):
        again = run(store=folder, resume=True)
    assert same(whole, again) and block.read_bytes() == (whole.store.path / block.name).read_bytes()


def test_a_store_of_another_campaign_is_refused_with_what_differs(whole):
    folder = whole.store.path
    given = {"t_span": (0.0, 5.0), "control": law, "rtol": 1e-8, "store": folder, "resume": True, "block": 16}

    def other(craft=CRAFT, spread=SPREAD, seed=9, asked=ASKED, **changes):
        return gs.campaign(craft, spread, 200, seed=seed, outcomes=asked, **{**given, **changes})

    assert same(other(), whole)
    with pytest.raises(ValueError, match="craft was"):
        other(craft=flap(2.1))
    with pytest.raises(ValueError, match='seed was "9", is "8"'):
        other(seed=8)
    with pytest.raises(ValueError, match="dispersions was"):
        other(spread={**SPREAD, "input:gain": c.uniform(0.0, 0.3)})
    with pytest.raises(ValueError, match="give other numbers"):
        other(control=lambda craft, t, q, v, gain: np.array([-1.01 * gain * q[0] ** 3]))
    with pytest.raises(ValueError, match="block was 16"):
        other(block=8)


def test_two_processes_on_one_store_are_told(whole):
    with whole.store.mine(None), pytest.raises(ValueError, match="another process works on the store"):
        run(store=whole.store.path, resume=True)
    again = pytest.raises(ValueError, match="another process")
    with whole.store.mine((1, 2)), whole.store.mine((2, 2)), again, whole.store.mine((2, 2)):
        pass


def test_a_full_disk_and_an_unwritable_store_lose_nothing(whole, tmp_path):
    folder = tmp_path / "store"
    run(runs=64, store=folder)
    before = files(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.raises(ValueError, match="bytes are needed"):
            run(store=folder, resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(folder) == before
    assert same(whole, run(store=folder, resume=True))
    with pytest.raises(ValueError, match="no store of a campaign"):
        run(store=tmp_path)
    if os.getuid():
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(ValueError, match="cannot make the folder"):
                run(store=tmp_path / "new")
        finally:
            tmp_path.chmod(0o700)


def test_runs_that_fail_are_recorded_and_stop_nobody():
    """A cubic spring that pushes has solutions that end at a finite time."""
    spread = {"input:gain": c.discrete([0.1, -400.0]), "q0:hinge": c.uniform(0.5, 0.6)}
    found = gs.campaign(CRAFT, spread, 40, seed=1, outcomes=ASKED, t_span=(0, 5), control=law, block=16,
                        requirements=[c.require("top", below=10.0, share=0.9)])  # fmt: skip
    pushed = found.values["input:gain"] < 0
    assert 5 < pushed.sum() < 35 and set(found.failures) == set(np.flatnonzero(pushed))
    assert all("at t = " in why for why in found.failures.values())
    assert np.isnan(found.outcomes["top"][pushed]).all() and np.isfinite(found.outcomes["top"][~pushed]).all()
    assert found.met is False and found.verdicts[0].failing == pushed.sum()
    assert found.worst("top", 1)[0][0] in found.failures


def test_a_campaign_stops_when_it_is_decided():
    options = {"t_span": (0.0, 2.0), "control": law, "block": 32, "stop_when": "decided"}
    wanted = c.require("top", below=1.0, share=0.9)
    found = gs.campaign(CRAFT, SPREAD, 5000, seed=4, outcomes=ASKED, requirements=[wanted], **options)
    assert found.met is True and found.runs == 64  # one block of 32 cannot show 90 % with the first look's confidence
    assert found.verdicts[0].runs == 64


def test_states_attitudes_and_parameters_are_placed_where_they_belong():
    craft = gs.load("servicer")
    joint = craft.joints[2].name
    spread = {
        "attitude:base": c.added(c.normal(0.0, 0.01)),
        "position:base": c.direction(2.0),
        "rate:base": c.normal([0.1, 0.2, 0.3], 0.01),
        "velocity:base": c.added(c.uniform(-1, 1)),
        f"q0:{joint}": c.uniform(0.1, 0.2),
        f"v0:{joint}": c.normal(0.0, 0.1),
        "base.mass": c.scaled(c.normal(1.0, 0.05)),
        "base.com": c.added(c.normal(0.0, 0.01)),
    }
    asked = {"a": outcomes.last(outcomes.attitude_error())}
    found = gs.campaign(craft, spread, 9, seed=3, outcomes=asked, t_span=(0.0, 0.1), rtol=1e-6)
    start = found.case(4, save_at=[0.0, 0.1])
    q, v = start.q[0, 0], start.v[0, 0]
    assert 1e-4 < 2 * np.arccos(q[0]) < 0.06 and np.linalg.norm(q[4:7]) == pytest.approx(2.0)
    assert np.abs(v[:3] - [0.1, 0.2, 0.3]).max() < 0.05
    at = craft.joint_named(joint)
    assert q[at.q_at][0] == found.values[f"q0:{joint}"][4] and v[at.v_at][0] == found.values[f"v0:{joint}"][4]
    assert start.parameters["base.mass"][0] == found.values["base.mass"][4]
    assert start.parameters["base.com"][0][1] == found.values["base.com[1]"][4]
    assert len(found.dataset()) == 1 + len(found.values)


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        ({"flap.mas": c.normal(1, 1)}, "flap.mas"),
        ({"q0:hing": c.normal(1, 1)}, "no joint 'hing'"),
        ({"w0:hinge": c.normal(1, 1)}, "no known kind"),
        ({"attitude:hinge": c.attitude()}, "has no attitude"),
        ({"flap.com": c.attitude()}, r"shape \(4,\); expected \(3,\)"),
        ({"flap.mass": c.inertia(0.1)}, "disperses an inertia"),
        ({"input:gain": c.scaled(c.normal(1, 0.1))}, "nothing is given that could be scaled"),
        ({"flap.mass": 3.0}, "expected gs.campaigns.normal"),
        ({"flap.mass": c.rows([1.0, 2.0])}, "2 rows for 10 runs"),
        ({("flap.mass",): c.normal(1, 1), "flap.mass": c.normal(1, 1)}, "dispersed twice"),
        ({("flap.mass", "base.mass"): c.normal(1, 1)}, "correlated"),
    ],
)
def test_dispersions_that_cannot_be_are_refused(spread, words):
    with pytest.raises((ValueError, TypeError), match=words):
        gs.campaign(CRAFT, spread, 10, outcomes=ASKED, t_span=(0, 1))


def test_options_that_cannot_be_are_refused():
    def refused(words, **changes):
        given = {"outcomes": ASKED, "t_span": (0, 1), "runs": 10, **changes}
        with pytest.raises((ValueError, TypeError), match=words):
            gs.campaign(CRAFT, {"flap.mass": c.uniform(1, 2)}, given.pop("runs"), **given)

    refused("save_at", save_at=[1.0])
    refused("no option 'rtool'", rtool=1)
    refused("no outcome 'tip'", requirements=["tip < 1 in 90 % of runs"])
    refused("independent", requirements=["top < 1 in 90 % of runs"], sampling="sobol")
    refused("expected one of random", sampling="grid")
    refused("need a store", shard=(1, 2))
    refused("needs requirements", stop_when="decided")
    refused("runs is 0", runs=0)
    refused("nothing is asked", outcomes={})
    refused("executor", executor="slurm")
    with pytest.raises(TypeError, match="Spacecraft or a scenario"):
        gs.campaign(3, {}, 10, outcomes=ASKED)


def test_a_rare_event_of_a_linear_system():
    from scipy import stats

    spread = {"q0:hinge": c.normal(0.0, 0.1), "v0:hinge": c.normal(0.0, 0.13)}
    one = {"angle": outcomes.last(ANGLE_OF)}
    sd = np.hypot(0.1 * np.cos(2 * W), 0.13 * np.sin(2 * W) / W)
    found = c.rare_event(CRAFT, spread, outcome=one, above=sd * stats.norm.isf(1e-5), t_span=(0, 2), seed=3, rtol=1e-8)
    assert found.runs < 8000 and abs(np.log(found.probability / 1e-5)) < 3 * found.variation + 0.1


ANGLE_OF = outcomes.Signal(lambda craft, t, q, v: q[0], "angle", "rad")


def test_the_page_says_the_answer_first(whole, tmp_path):
    judged = run(requirements=["top < 0.3 in 90 % of runs", "angle < 0 in 90 % of runs"])
    page = judged.report(tmp_path / "page.html", command="gyrostat campaign x.toml --case {k}").read_text()
    answer = page.index("<b>Not met</b><span>angle &lt; 0 in 90 % of runs")
    assert page.index("<b>Met</b><span>top &lt; 0.3") < answer < page.index("<svg") and "mathdefault" not in page
    k = judged.worst("top", 1)[0][0]
    assert f"x.toml --case {k}<" in page and "input:gain" in page
