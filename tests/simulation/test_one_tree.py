"""What is attached in a phase is one tree from there on: the motion is that of a weld, and no book is left open."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import norm
from gyrostat.papers.forbes2019 import servicing
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases

CRAFT, Q, V = servicing.before_the_grasp()
ORBIT = gs.environment.two_body_gravity(gs.Orbit.circular(500e3, 0.9))
GRIP = gc.weld("hand_L", "grip_L", name="grip")


def reach(craft, t, q, v):
    return norm(gs.frame_pose(craft, q, "grip_L").p - gs.frame_pose(craft, q, "hand_L").p) - servicing.REACH


def flight(attach, **options):
    phases = [
        Phase(20.0, "approach", until=reach),
        Phase(5.0, "hold", grasp=[GRIP], attach=attach),
        Phase(2.0, "still held"),
        Phase(2.0, "go", release=["grip"]),
    ]
    return simulate_phases(CRAFT, Q, V, phases, environment=ORBIT, **{"rtol": 1e-12, "atol": 1e-14, **options})


@pytest.fixture(scope="module")
def runs():
    return flight(["grip"]), flight([])


def test_a_tree_moves_as_the_weld_does_in_every_coordinate(runs):
    tree, weld = runs
    for a, b in zip(tree.phases, weld.phases, strict=True):
        assert a.end[0] == b.end[0]
        for x, y in zip(a.end[1:], b.end[1:], strict=True):
            np.testing.assert_allclose(x, y, atol=1e-12)
    np.testing.assert_allclose(tree.trajectory.vdot, weld.trajectory.vdot, atol=1e-11)
    np.testing.assert_allclose(tree.trajectory.v, weld.trajectory.v, atol=1e-12)


def test_the_attached_phases_have_fewer_coordinates_and_the_whole_has_all(runs):
    tree, _ = runs
    sizes = [result.trajectory.craft.nv for result in tree.phases]
    assert sizes == [CRAFT.nv, CRAFT.nv - 6, CRAFT.nv - 6, CRAFT.nv] and tree.trajectory.craft is CRAFT
    assert tree.phases[2].tree is tree.phases[1].tree
    assert [m.name for m in tree.phases[1].trajectory.craft.memberships] == ["servicer"]


def test_momentum_and_energy_are_accounted_through_every_phase(runs):
    tree, _ = runs
    audit = tree.trajectory.audit
    assert audit.worst < 1e-12
    causes = [str(name) for name in tree.trajectory.data["cause"].values]
    assert "environment" in causes and "capture: grip" in causes
    again = tree.trajectory
    assert np.isfinite(again.q).all() and again.summary.happened[2].words.startswith("one tree by grip")


def test_a_joined_run_is_saved_and_loaded(runs, tmp_path):
    path = tmp_path / "run.nc"
    runs[0].trajectory.save(path)
    np.testing.assert_array_equal(gs.Trajectory.load(path).q, runs[0].trajectory.q)


def test_a_law_of_the_carrier_sees_the_whole_and_is_made_when_the_phase_begins():
    seen = {}

    def made(craft, t, q, v):
        seen.update(nv=craft.nv, t=t, names=[m.name for m in craft.memberships])
        law = gs.control.detumble_by_wheels(rate=0.5)
        return {"control": gs.control.on("servicer", law)}

    phases = [Phase(20.0, "approach", until=reach), Phase(6.0, "stop", grasp=[GRIP], attach=["grip"], made=made)]
    run = simulate_phases(CRAFT, Q, V, phases, rtol=1e-11, atol=1e-13)
    assert seen["nv"] == CRAFT.nv - 6 and seen["t"] == run.phases[0].end[0] and seen["names"] == ["servicer"]
    w = np.linalg.norm(run.phases[1].trajectory.v[:, :3], axis=1)
    assert w[-1] == pytest.approx(np.exp(-3.0) * w[0], rel=1e-6)
    assert run.trajectory.audit.worst < 1e-10


def test_places_of_joints_that_the_run_has_are_those_of_the_tree():
    """Released, the client stood where the arm of the file would have held it."""
    joint = gs.Joint("shoulder", "revolute", "hull", (0.5, 0.1, 0.0), axis=(0, 0.6, 0.8))
    hull = gs.Body("hull", 30.0, (0.1, 0.0, 0.2), (5, 6, 7))
    servicer = gs.Spacecraft.build("servicer", [hull, gs.Body("arm", 4.0, (0.3, 0.1, 0), (0.3, 0.5, 0.6), joint)])
    both = gs.together(
        "both", [servicer, gs.Spacecraft.build("client", [gs.Body("box", 9.0, (0, 0.1, 0), (1, 2, 2.5))])]
    )
    q, v = gs.neutral(both), 0.1 * np.random.default_rng(2).normal(size=both.nv)
    grip = gc.weld("arm", "box", name="grip")
    runs = [
        simulate_phases(
            both,
            q,
            v,
            [Phase(0.1), Phase(0.2, "hold", grasp=[grip], attach=attach), Phase(0.2, "go", release=["grip"])],
            parameters={"shoulder.position": np.array([0.7, 0.0, 0.2])},
            rtol=1e-11,
            atol=1e-13,
        )
        for attach in (["grip"], [])
    ]
    tree, weld = (run.trajectory for run in runs)
    for a, b in zip(tree.final, weld.final, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
    np.testing.assert_allclose(tree.vdot, weld.vdot, rtol=0, atol=1e-8)
    h = tree.momentum()
    np.testing.assert_allclose(h, h[:1] + 0 * h, rtol=0, atol=1e-9)


def test_values_of_the_joint_that_is_gone_are_refused():
    """A tree has no base joint of what is attached: its place and its damper were dropped without a word."""
    craft = gs.together(
        "both", [gs.Spacecraft.build(name, [gs.Body(name, 9.0, (0, 0.1, 0), (1, 2, 2.5))]) for name in "ab"]
    )
    phases = [Phase(0.1, grasp=[gc.weld("a", "b", name="grip")], attach=["grip"])]
    (joint,) = [body.joint.name for body in craft.bodies if body.name == "b"]
    for name, value in (("position", np.array([0.1, 0.2, 0.3])), ("damping", 0.5)):
        with pytest.raises(ValueError, match=f"{joint}.{name}: as one tree"):
            simulate_phases(craft, phases=phases, parameters={f"{joint}.{name}": value})


@pytest.mark.parametrize("lag", [0.0, 0.3])
def test_an_interrupted_tree_goes_on_bit_for_bit(lag):
    law = gs.control.on(
        "servicer", gs.Controller(lambda craft, t, q, v: -0.01 * np.r_[np.zeros(6), v[6:]], period=0.25)
    )
    options = {"control": law, "actuators": gs.Actuators(lag=lag)} if lag else {"control": law}
    whole = flight(["grip"], **options)
    with pytest.warns(gs.SimulationWarning):
        part = flight(["grip"], max_steps=30, **options)
    while not part.ok:
        part = simulate_phases(CRAFT, phases=[r.phase for r in whole.phases], resume=part, max_steps=10**6)
    np.testing.assert_array_equal(part.trajectory.q, whole.trajectory.q)


@pytest.mark.parametrize(
    "phase, words",
    [
        (Phase(1.0, "one", attach=["grip"]), "attaches 'grip', which does not hold"),
        (Phase(1.0, "one", grasp=[gc.point("hand_L", "grip_L", name="g")], attach=["g"]), "leaves 3 freedoms"),
        (Phase(1.0, "one", grasp=[gc.weld("hand_L", "link_L2", name="g")], attach=["g"]), "where one of them is on"),
        (Phase(1.0, "one", made=lambda *_: {"parameters": {}}), "belong to the whole run"),
    ],
)
def test_what_cannot_be_one_tree_is_refused(phase, words):
    with pytest.raises((ValueError, TypeError), match=words):
        simulate_phases(CRAFT, Q, V, [phase])
