"""Basilisk's Monte-Carlo controller on the servicer of campaign.py, for an interpreter that has it (pip install bsk).

    python benchmarks/basilisk_campaign.py case.json

Run by campaign.py --bsk PYTHON, which writes the case: {"bodies": [...], "step", "seconds", "runs", ...}. Prints JSON:
joint angles and rates of the nominal run after five seconds, and the processor time of a campaign of one process, the
base's mass dispersed. Imports nothing of gyrostat.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np
from Basilisk.architecture import messaging
from Basilisk.simulation import spacecraft, spinningBodyNDOFStateEffector
from Basilisk.utilities import SimulationBaseClass, macros
from Basilisk.utilities.MonteCarlo.Controller import Controller
from Basilisk.utilities.MonteCarlo.Dispersions import NormalDispersion
from Basilisk.utilities.MonteCarlo.RetentionPolicy import RetentionPolicy

CASE = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


class Servicer(SimulationBaseClass.SimBaseClass):
    """A free hub and a chain of spinning bodies, each with a spring and a damper to its set angle: the PD law."""

    def __init__(self):
        super().__init__()
        self.seconds = CASE["seconds"]
        process = self.CreateNewProcess("process")
        process.addTask(self.CreateNewTask("task", macros.sec2nano(CASE["step"])))  # RK4 is what they integrate with
        self.base, self.arm, self.kept = spacecraft.Spacecraft(), None, []
        hub, base = self.base.hub, CASE["bodies"][0]
        hub.mHub, hub.IHubPntBc_B = base["mass"], base["inertia"]
        hub.r_BcB_B = [[x] for x in base["com"]]
        hub.r_CN_NInit, hub.v_CN_NInit = [[0.0]] * 3, [[x] for x in CASE["velocity"]]
        hub.sigma_BNInit, hub.omega_BN_BInit = [[0.0]] * 3, [[x] for x in CASE["rate"]]
        self.arm = spinningBodyNDOFStateEffector.SpinningBodyNDOFStateEffector()
        for k, one in enumerate(CASE["bodies"][1:]):
            link = spinningBodyNDOFStateEffector.SpinningBody()
            link.setMass(one["mass"])
            link.setISPntSc_S(one["inertia"])
            link.setDCM_S0P(np.array(one["turn"]).T.tolist())  # from the parent's axes to its own
            link.setR_ScS_S([[x] for x in one["com"]])
            link.setR_SP_P([[x] for x in one["offset"]])
            link.setSHat_S([[x] for x in one["axis"]])
            link.setThetaInit(one["angle"])
            link.setThetaDotInit(0.0)
            link.setK(one["kp"])
            link.setC(one["kd"])
            self.arm.addSpinningBody(link)
            target = messaging.HingedRigidBodyMsg().write(messaging.HingedRigidBodyMsgPayload(theta=one["target"]))
            self.arm.spinningBodyRefInMsgs[k].subscribeTo(target)
            self.kept += [link, target]
        self.base.addStateEffector(self.arm)
        self.AddModelToTask("task", self.base)
        self.AddModelToTask("task", self.arm)


def execute(sim):
    sim.InitializeSimulation()
    sim.ConfigureStopTime(macros.sec2nano(sim.seconds))
    sim.ExecuteSimulation()


def nominal():
    """Angles and rates after five seconds."""
    sim = Servicer()
    sim.seconds = 5.0
    read = [message.recorder() for message in sim.arm.spinningBodyOutMsgs]  # what nobody reads is not written
    for one in read:
        sim.AddModelToTask("task", one)
    execute(sim)
    return [float(one.theta[-1]) for one in read], [float(one.thetaDot[-1]) for one in read]


def processor():
    return sum(
        r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def campaign(folder):
    """Processor seconds of the runs, one after the other."""
    monte_carlo = Controller()
    monte_carlo.setSimulationFunction(Servicer)
    monte_carlo.setExecutionFunction(execute)
    monte_carlo.setExecutionCount(CASE["runs"])
    monte_carlo.setThreadCount(1)
    monte_carlo.setVerbose(False)
    monte_carlo.setShowProgressBar(False)
    monte_carlo.setArchiveDir(folder)
    mass = CASE["bodies"][0]["mass"]
    monte_carlo.addDispersion(NormalDispersion("base.hub.mHub", mass, 0.05 * mass))
    monte_carlo.addRetentionPolicy(RetentionPolicy())
    begun = processor()
    failures = monte_carlo.executeSimulations()
    return processor() - begun, len(failures)


if __name__ == "__main__":
    import Basilisk

    angles, rates = nominal()
    with tempfile.TemporaryDirectory() as folder:
        seconds, failed = campaign(f"{folder}/archive")
    version = getattr(Basilisk, "__version__", "")
    print(json.dumps({"version": version, "angles": angles, "rates": rates, "seconds": seconds, "failed": failed}))
