"""Runs in phases that were interrupted, kept in a file, and gone on with from that alone: the bits of the uncut run."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import norm
from gyrostat.io.results_any import load_result
from gyrostat.io.results_read import ResultError
from gyrostat.papers.forbes2019 import servicing
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases
from manoeuvre import start
from same_trajectory import same

CRAFT, Q, V = start()
V = V + 0.01
MOST = {"first": 8, "second": 70, "third": 10, "approach": 150, "hold": 5, "stop": 7, "go": 3}  # steps at a time
GRIP = gc.weld("hand_L", "grip_L", name="grip")


def reach(craft, t, q, v):
    return norm(gs.frame_pose(craft, q, "grip_L").p - gs.frame_pose(craft, q, "hand_L").p) - servicing.REACH


def wrist(craft, t, q, v):
    return q[10]


def memory():
    output = lambda craft, t, q, v, z: np.concatenate([np.zeros(6), -2.0 * v[6:] - z])
    return gs.Controller(output, np.full(6, 0.1), derivative=lambda craft, t, q, v, z: q[7:])


def sampled():
    output = lambda craft, t, q, v, z: np.concatenate([np.zeros(6), -0.05 * v[6:] - z])
    return gs.Controller(output, np.full(6, 0.02), update=lambda craft, t, q, v, z: z + 0.01 * q[7:], period=0.15)


def python(craft, t, q, v):
    """Which is called from Python."""
    return np.concatenate([np.zeros(6), [-float(x) for x in v[6:]]])


def brake(craft, t, q, v):
    return np.concatenate([np.zeros(6), -0.7 * v[6:]])


def cut(phases, few):
    """few: steps that each phase may make at a time, so that every one is interrupted."""
    if not few:
        return phases
    return [replace(phase, options={"max_steps": MOST[phase.name]}) for phase in phases]


def one_craft(law):
    wait = gs.When(lambda craft, t, q, v: t - 1701.1, "clock")
    phases = [Phase(0.7, "first"), Phase(1.3, "second", until=wait), Phase(0.9, "third", control=brake)]
    options = {"control": law, "actuators": gs.Actuators(lag=0.2), "parameters": {"link_3.mass": 7.0}, "t0": 1.7e3}
    options |= {"breakpoints": [1700.9], "save_at": 1700.0 + np.linspace(0.0, 1.9, 39)}
    options |= {"outcomes": {"far": gs.outcomes.largest(wrist)}}
    return lambda few=False, **more: simulate_phases(CRAFT, Q, V, cut(phases, few), **options, **more)


def two_craft(attach):
    craft, q, v = servicing.before_the_grasp()

    def made(craft, t, q, v):
        return {"control": gs.control.on("servicer", gs.control.detumble_by_wheels(rate=0.5))}

    phases = [
        Phase(20.0, "approach", until=reach),
        Phase(2.0, "hold", grasp=[GRIP], attach=attach),
        Phase(1.0, "stop", made=made),
        Phase(4.0, "go", release=["grip"]),
    ]
    options = {"rtol": 1e-11, "atol": 1e-13, "parameters": {"client.mass": 480.0}}
    return lambda few=False, **more: simulate_phases(craft, q, v, cut(phases, few), **options, **more)


CASES = {
    "a law with memory": lambda: one_craft(memory()),
    "a sampled law": lambda: one_craft(sampled()),
    "a law in Python": lambda: one_craft(python),
    "a weld": lambda: two_craft(()),
    "one tree": lambda: two_craft(["grip"]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::gyrostat.SimulationWarning")
def test_it_goes_on_from_the_file_alone_bit_for_bit(name, tmp_path):
    """Ended after a few steps of a phase, kept, and read again; in a process of its own nothing else would be left."""
    path, whole = tmp_path / "part.nc", CASES[name]()()
    assert whole.ok
    part, cuts, begun = CASES[name]()(few=True), 0, set()
    while part.interrupted:
        begun.add(len(part.phases))
        part.save(path)
        np.testing.assert_array_equal(load_result(path).q, part.trajectory.q)
        cuts += 1
        part = CASES[name]()(few=True, resume=path)
    assert part.ok and cuts > 2 and len(begun) == len(whole.phases)
    assert [r.phase.name for r in part.phases] == [r.phase.name for r in whole.phases]
    same(part.trajectory, whole.trajectory)
    assert str(part.trajectory.summary) == str(whole.trajectory.summary)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "part.nc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = Phase(1.3, "second", options={"max_steps": 3})
        two = simulate_phases(CRAFT, Q, V, [Phase(0.7, "first"), second], rtol=1e-9)
    assert two.interrupted and len(two.phases) == 2
    return two.save(path)


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"q0": gs.neutral(CRAFT)}, r"it starts with q = .*, there with"),
        ({"v0": 2 * V}, r"it starts with v = .*, there with"),
        ({"t0": 1.0}, r"phase lasts from 1.0 to 1.7 s, there it is 0.0 to 0.7 s"),
        ({"rtol": 1e-8}, r"rtol is 1e-08, there it is 1e-09"),
        ({"rtol": None}, r"rtol is 1e-10, there it is 1e-09"),
        ({"locked": ["joint_4"]}, r"locked is \['joint_4'\], there it is \[\]"),
        ({"seed": 3}, r"seed is 3, there it is 0"),
        ({"parameters": {"link_3.mass": 7.0}}, r"parameter link_3.mass is 7.0, there it is not one"),
        ({"craft": CRAFT.with_values({"link_3.mass": 7.0})}, r"link_3.mass is 7"),
        ({"phases": [Phase(0.7, "first"), Phase(1.2, "second")]}, r"phases 'first', 'second'; expected the same again"),
    ],
)
def test_another_run_does_not_go_on_from_it(changed, words, kept):
    given = {"craft": CRAFT, "q0": Q, "v0": V, "phases": [Phase(0.7, "first"), Phase(1.3, "second")], "rtol": 1e-9}
    with pytest.raises(ValueError, match=f"resume: .*{words}"):
        simulate_phases(**given | changed, resume=kept)


def test_each_kind_of_file_says_what_it_is(kept, tmp_path):
    with pytest.raises(ResultError, match=r"'gyrostat-phases-1'.*go on with simulate_phases"):
        gs.Trajectory.load(kept)
    gs.simulate(CRAFT, Q, V, (0, 0.1)).save(tmp_path / "one.nc")
    with pytest.raises(ResultError, match=r"'gyrostat-2'; expected 'gyrostat-phases-1'"):
        simulate_phases(CRAFT, Q, V, [Phase(0.7, "first")], resume=tmp_path / "one.nc")
    with pytest.raises(ValueError, match=r"saved as .nc \(NetCDF\), not as '.mat'"):
        simulate_phases(CRAFT, Q, V, [Phase(0.1, "first")]).save(tmp_path / "run.mat")
