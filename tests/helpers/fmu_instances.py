"""FMUs that gyrostat wrote, run by FMPy, call by call."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c_compiler import COMPILERS

fmpy = pytest.importorskip("fmpy")
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Model, FMU2Slave, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from fmpy.fmi3 import FMU3Model, FMU3Slave

needs_binary = pytest.mark.skipif(not COMPILERS, reason="no C compiler here")


class Running:
    """An instance, by names of variables."""

    def __init__(self, fmu: Any, folder: Path, kind: str, token: str | None = None) -> None:
        self.described = read_model_description(str(folder))
        self.at = {v.name: v.valueReference for v in self.described.modelVariables}
        self.old = self.described.fmiVersion == "2.0"
        self.messages: list[str] = []
        slave = kind == "CoSimulation"
        implementation = (FMU2Slave if slave else FMU2Model) if self.old else (FMU3Slave if slave else FMU3Model)
        self.fmu = implementation(
            guid=token or self.described.guid,
            unzipDirectory=str(folder),
            modelIdentifier=fmu.identifier,
            instanceName="tested",
        )
        if self.old:
            self.fmu.instantiate(callbacks=self._callbacks())
        else:
            self.fmu.instantiate(logMessage=lambda _e, _s, _c, text: self.messages.append(text.decode()))

    def _callbacks(self) -> Any:
        """With the message that stands for "%s", which FMPy's own logger is not given here."""
        given = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_char_p, ctypes.c_int], *[ctypes.c_char_p] * 3)
        self._kept = given(lambda _e, _n, _s, _c, _f, text: self.messages.append(text.decode()))
        functions = fmi2CallbackFunctions()
        functions.logger = ctypes.cast(self._kept, fmi2CallbackLoggerTYPE)
        return functions

    def begin(self, t: float = 0.0, **values: Any) -> Running:
        if self.old:
            self.fmu.setupExperiment(startTime=t)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=t)
        self.set(values)
        self.fmu.exitInitializationMode()
        return self

    def set(self, values: dict[str, float]) -> None:
        (self.fmu.setReal if self.old else self.fmu.setFloat64)([self.at[n] for n in values], list(values.values()))

    def get(self, names: list[str]) -> np.ndarray:
        return np.array((self.fmu.getReal if self.old else self.fmu.getFloat64)([self.at[name] for name in names]))

    def step(self, t: float, dt: float) -> None:
        self.fmu.doStep(currentCommunicationPoint=t, communicationStepSize=dt)

    def states(self) -> np.ndarray:
        return self.get([v.derivative.name for v in self.described.modelVariables if v.derivative is not None])

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Of model exchange in continuous-time mode."""
        n = len(y)
        numbers = (ctypes.c_double * n)(*y)
        found = (ctypes.c_double * n)()
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(numbers, n)
        (self.fmu.getDerivatives if self.old else self.fmu.getContinuousStateDerivatives)(found, n)
        return np.array(found)

    def next_jump(self) -> float | None:
        """In event mode: past the event."""
        if self.old:
            _, _, _, _, given, time = self.fmu.newDiscreteStates()
        else:
            _, _, _, _, given, time = self.fmu.updateDiscreteStates()
        return time if given else None


@contextmanager
def running(fmu: Any, folder: Path, kind: str = "CoSimulation", token: str | None = None):
    """An instance of an FMU that is unpacked into a folder."""
    if not (folder / "modelDescription.xml").exists():
        extract(str(fmu.path), str(folder))
    instance = Running(fmu, folder, kind, token)
    yield instance
    instance.fmu.freeInstance()


def co_simulated(fmu: Any, folder: Path, times: np.ndarray, values: dict[str, float] | None = None) -> np.ndarray:
    """States at the times."""
    rows = []
    with running(fmu, folder) as instance:
        instance.begin(float(times[0]), **(values or {}))
        rows.append(instance.states())
        for before, after in pairwise(times):
            instance.step(float(before), float(after - before))
            rows.append(instance.states())
    return np.array(rows)
