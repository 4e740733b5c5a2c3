"""The manoeuvre of flexible.py by Exudyn: cables of absolute nodal coordinates, its implicit integrator."""

from __future__ import annotations

import time
from typing import Any

import exudyn as exu
import numpy as np
from exudyn.beams import GenerateStraightLineANCFCable
from exudyn.itemInterface import (
    Cable2D,
    MarkerBodyPosition,
    MarkerBodyRigid,
    MarkerNodePosition,
    MarkerNodeRigid,
    NodeRigidBody2D,
    ObjectRigidBody2D,
    RevoluteJoint2D,
    SensorNode,
    Torque,
    TorsionalSpringDamper,
)


def beams(duration: float, elements: int, step: float) -> tuple[np.ndarray, float]:
    """Where the tip is, every second; and the seconds of processor time that it takes."""
    from flexible import DAMPER, EI, HUB, LENGTH, MASS, SHOULDER, SPRING, torques

    system = exu.SystemContainer()
    mbs = system.AddSystem()
    node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[0, 0, 0]))
    hub = mbs.AddObject(ObjectRigidBody2D(physicsMass=HUB.mass, physicsInertia=HUB.inertia[2, 2], nodeNumber=node))
    link = Cable2D(physicsMassPerLength=MASS, physicsBendingStiffness=EI, physicsAxialStiffness=1e6)
    x, y, _ = SHOULDER
    upper, lower = (
        GenerateStraightLineANCFCable(mbs, [x + at, y, 0], [x + at + LENGTH, y, 0], elements, link)[0]
        for at in (0.0, LENGTH)
    )
    places = [
        (MarkerBodyPosition(bodyNumber=hub, localPosition=[x, y, 0]), MarkerNodePosition(nodeNumber=upper[0])),
        (MarkerNodePosition(nodeNumber=upper[-1]), MarkerNodePosition(nodeNumber=lower[0])),
    ]
    axes = [
        (MarkerBodyRigid(bodyNumber=hub, localPosition=[x, y, 0]), MarkerNodeRigid(nodeNumber=upper[0])),
        (MarkerNodeRigid(nodeNumber=upper[-1]), MarkerNodeRigid(nodeNumber=lower[0])),
    ]
    for k, (place, axis) in enumerate(zip(places, axes, strict=True)):
        mbs.AddObject(RevoluteJoint2D(markerNumbers=[mbs.AddMarker(marker) for marker in place]))
        inner, outer = (mbs.AddMarker(marker) for marker in axis)
        mbs.AddObject(TorsionalSpringDamper(markerNumbers=[inner, outer], stiffness=SPRING[k], damping=DAMPER[k]))
        for marker, sign in ((inner, -1.0), (outer, 1.0)):
            mbs.AddLoad(
                Torque(markerNumber=marker, loadVector=[0, 0, 0], loadVectorUserFunction=_turning(torques, k, sign))
            )
    kind = exu.OutputVariableType.Position
    tip = mbs.AddSensor(SensorNode(nodeNumber=lower[-1], outputVariableType=kind, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    stepping = settings.timeIntegration
    stepping.numberOfSteps, stepping.endTime, stepping.adaptiveStep = round(duration / step), duration, False
    stepping.newton.useModifiedNewton = True
    stepping.newton.absoluteTolerance, stepping.newton.relativeTolerance = 1e-6, 1e-7
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1.0
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    begin = time.process_time()
    mbs.SolveDynamic(settings)
    seconds = time.process_time() - begin
    return np.asarray(mbs.GetSensorStoredData(tip))[:, 1:4], seconds


def _turning(torques: Any, motor: int, sign: float) -> Any:
    return lambda mbs, t, load: [0.0, 0.0, sign * torques(t, np.sin)[motor]]
