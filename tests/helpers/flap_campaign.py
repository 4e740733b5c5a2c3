"""What several tests, and the processes they start, run: a sprung flap, theta'' = -W^2 theta - c theta^3."""

from __future__ import annotations

import sys
import time

import numpy as np

import gyrostat as gs
from gyrostat import campaigns as c
from gyrostat import outcomes

W = 1.3


def flap(mass: float = 2.0) -> gs.Spacecraft:
    hinge = gs.Joint("hinge", "revolute", "base", axis=(0, 0, 1), stiffness=0.7 * W * W)
    body = gs.Body("flap", mass=mass, com=(0.0, 0.0, 0.0), inertia=np.diag([1.0, 1.5, 0.7]), joint=hinge)
    base = gs.Body("base", mass=1.0, inertia=np.eye(3), joint=gs.Joint("root", "fixed"))
    return gs.Spacecraft.build("flap", [base, body])


def law(craft, t, q, v, gain):
    return np.array([-gain * q[0] ** 3])


ANGLE = outcomes.Signal(lambda craft, t, q, v: q[0], "angle", "rad")
RATE = outcomes.Signal(lambda craft, t, q, v: v[0], "rate", "rad/s")
ASKED = {"angle": outcomes.last(ANGLE), "rate": outcomes.last(RATE), "top": outcomes.largest(ANGLE)}
SPREAD = {
    ("q0:hinge", "v0:hinge"): c.correlated([c.normal(0.1, 0.02), c.normal(0.0, 0.05)], [[1.0, 0.6], [0.6, 1.0]]),
    "flap.inertia": c.inertia(0.1),
    "input:gain": c.uniform(0.0, 0.2),
}
CRAFT = flap()


def run(runs: int = 200, block: int = 16, **options):
    given = {"t_span": (0.0, 5.0), "control": law, "rtol": 1e-8, **options}
    return gs.campaign(CRAFT, SPREAD, runs, seed=9, outcomes=ASKED, block=block, **given)


class Slow:
    """Makes a block at a time, with a pause, so that there is time to be killed."""

    def submit(self, function, *given):
        from concurrent.futures import Future

        time.sleep(0.15)
        done: Future = Future()
        done.set_result(function(*given))
        return done


if __name__ == "__main__":
    import flap_campaign  # by its name, as other processes import it
    from gyrostat.campaigns import executors

    if "--dask" in sys.argv:
        flap_campaign.run(runs=3200, store=sys.argv[1], executor=f"dask:{sys.argv[3]}")
    else:
        executors.AHEAD = 1
        flap_campaign.run(store=sys.argv[1], executor=Slow(), resume="--resume" in sys.argv)
