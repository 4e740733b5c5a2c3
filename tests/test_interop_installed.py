"""States of Drake, Basilisk and SPART against the programs themselves: `make peers` installs them and runs this."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import interop
from gyrostat.algebra import rotation
from random_trees import random_state

HINGE = gs.Joint("hinge", parent="hull", position=(0.4, -0.1, 0.3), axis=(0.3, 0.8, -0.5))
SLIDE = gs.Joint("slide", "prismatic", parent="zulu", position=(-0.3, 0.2, 0.1), axis=(0.1, -0.4, 0.9))
CRAFT = gs.Spacecraft.build(
    "odd",
    [
        gs.Body("hull", 120.0, (0.1, -0.05, 0.02), (20.0, 25.0, 30.0), gs.Joint("base", "free")),
        gs.Body("zulu", 8.0, (0.2, 0.1, -0.3), (0.5, 0.7, 0.6), HINGE),
        gs.Body("alpha", 5.0, (-0.1, 0.0, 0.4), (0.3, 0.2, 0.4), SLIDE),
    ],
)
STATES = [random_state(CRAFT, np.random.default_rng(seed)) for seed in range(5)]


def test_a_drake_plant_of_the_file_has_the_same_energy_poses_and_accelerations(tmp_path):
    pytest.importorskip("pydrake", reason="make peers installs Drake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    Parser(plant).AddModels(str(gs.save(CRAFT, tmp_path / "odd.urdf")))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for q, v in STATES:
        there = interop.to_drake(CRAFT, q, v)
        plant.SetPositions(context, there.positions)
        plant.SetVelocities(context, there.velocities)
        assert plant.CalcKineticEnergy(context) == pytest.approx(gs.kinetic_energy(CRAFT, q, v), rel=1e-12)
        tip = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("alpha"))
        np.testing.assert_allclose(tip.translation(), gs.frame_pose(CRAFT, q, "alpha").p, atol=1e-13)
        vdot = gs.forward_dynamics(CRAFT, q, v, np.zeros(8))
        theirs = plant.get_generalized_acceleration_output_port().Eval(context)
        np.testing.assert_allclose(theirs[6:], vdot[6:], atol=1e-10)
        back = interop.from_drake(CRAFT, plant.GetPositions(context), plant.GetVelocities(context))
        assert np.abs(gs.configuration_difference(CRAFT, q, back[0])).max() < 1e-13
        np.testing.assert_allclose(back[1], v, atol=1e-13)


def test_a_basilisk_hub_that_is_set_so_flies_as_ours():
    """Ten seconds of a tumbling hub whose centre of mass is not its origin: attitude, rates, place, velocity."""
    pytest.importorskip("Basilisk", reason="make peers installs Basilisk")
    from Basilisk.simulation import spacecraft
    from Basilisk.utilities import SimulationBaseClass, macros

    hull = CRAFT.bodies[0]
    craft = gs.Spacecraft.build("hub", [hull])
    q, v = random_state(craft, np.random.default_rng(3))
    start = interop.to_basilisk(craft, q, v)

    simulation = SimulationBaseClass.SimBaseClass()
    process = simulation.CreateNewProcess("process")
    process.addTask(simulation.CreateNewTask("task", macros.sec2nano(0.01)))
    hub = spacecraft.Spacecraft()
    hub.hub.mHub, hub.hub.r_BcB_B = hull.mass, [[x] for x in hull.com]
    hub.hub.IHubPntBc_B = np.diag([20.0, 25.0, 30.0]).tolist()
    hub.hub.r_CN_NInit, hub.hub.v_CN_NInit = start.r_CN_N, start.v_CN_N
    hub.hub.sigma_BNInit, hub.hub.omega_BN_BInit = [[x] for x in start.sigma_BN], [[x] for x in start.omega_BN_B]
    simulation.AddModelToTask("task", hub)
    simulation.InitializeSimulation()
    first = hub.scStateOutMsg.read()
    np.testing.assert_allclose(first.r_BN_N, start.r_BN_N, atol=1e-13)
    np.testing.assert_allclose(first.v_BN_N, start.v_BN_N, atol=1e-13)
    simulation.ConfigureStopTime(macros.sec2nano(10.0))
    simulation.ExecuteSimulation()
    end = hub.scStateOutMsg.read()

    state = [np.array(getattr(end, name)) for name in ("sigma_BN", "omega_BN_B", "r_BN_N", "v_BN_N")]
    nothing = np.zeros(0)
    theirs = interop.from_basilisk(craft, interop.Basilisk(*state, nothing, nothing, nothing, nothing))
    ours = gs.simulate(craft, q, v, (0.0, 10.0), rtol=1e-12)
    assert np.abs(gs.configuration_difference(craft, ours.q[-1], theirs[0])).max() < 1e-6  # its RK4 at 10 ms
    np.testing.assert_allclose(theirs[1], ours.v[-1], atol=1e-6)


def test_spart_has_the_same_energy_and_places(tmp_path):
    """From its kinematics: each link's centre of mass, and the kinetic energy of all twists."""
    SPART = pytest.importorskip("SPARTpy", reason="make peers installs SPART").SPART
    spart = SPART(str(gs.save(CRAFT, tmp_path / "odd.urdf")))
    for q, v in STATES:
        there = interop.to_spart(CRAFT, q, v)
        _, RL, _, rL, e, g = spart.kinematics(there.R0, there.r0, there.qm)
        hand = gs.frame_pose(CRAFT, q, "alpha")
        np.testing.assert_allclose(rL[:, 1], hand.p + hand.R @ CRAFT.bodies[2].com, atol=1e-12)
        Bij, Bi0, P0, pm = spart.diff_kinematics(there.R0, there.r0, rL, e, g)
        t0, tL = spart.velocities(Bij, Bi0, P0, pm, there.u0, there.um)
        np.testing.assert_allclose(t0[:3], rotation(q[:4]) @ v[:3], atol=1e-12)
        I0, Im = spart.i_i(there.R0, RL)
        energy = 0.5 * (t0[:3] @ I0 @ t0[:3] + 120.0 * t0[3:] @ t0[3:])
        for k, mass in enumerate((8.0, 5.0)):
            energy += 0.5 * (tL[:3, k] @ Im[k] @ tL[:3, k] + mass * tL[3:, k] @ tL[3:, k])
        assert energy == pytest.approx(gs.kinetic_energy(CRAFT, q, v), rel=1e-12)


def test_names_that_the_dictionary_of_drake_gives_exist():
    pytest.importorskip("pydrake", reason="make peers installs Drake")
    from pydrake import all as drake

    page = Path(__file__).resolve().parents[1] / "docs" / "from-elsewhere" / "drake.md"
    table = page.read_text(encoding="utf-8").split("## What is called what")[1]
    for line in table.splitlines():
        for name in re.findall(r"`([\w.]+)`", line.split("|")[2]) if line.startswith("| ") else ():
            place = getattr(drake, name.split(".")[0], None) or getattr(drake.MultibodyPlant, name, None)
            assert place is not None and all(hasattr(place, part) for part in name.split(".")[1:]), name
