"""# Flight code

The law that was simulated is the law that flies. A sampled PD law with an integral term is written once, in Python;
`gs.simulate` compiles it with the dynamics, and `gyrostat.export` writes it as C99: no allocation, no library but
`math.h`, what it remembers in a struct. If a C compiler is there, it is compiled here and flown against the simulation.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

import gyrostat as gs
from gyrostat import models
from gyrostat.export import c_law

craft = models.servicer()
PERIOD = 0.05
# By joint: what each has to carry falls from hundreds of kg m^2 at the shoulder to a tenth at the wrist
STIFFNESS = np.array([60.0, 60.0, 40.0, 2.0, 0.4, 0.1])  # N m per rad
DAMPING = np.array([200.0, 200.0, 120.0, 5.0, 0.9, 0.2])  # N m s per rad


# The law: loads from state and memory, and what the memory is at the next sample.
def output(craft, t, q, v, z, target):
    return np.concatenate([np.zeros(6), STIFFNESS * (target - q[7:]) - DAMPING * v[6:] + 0.02 * STIFFNESS * z])


def update(craft, t, q, v, z, target):
    return z + PERIOD * (target - q[7:])


law = gs.Controller(output, state0=np.zeros(6), update=update, period=PERIOD)
target = np.radians([20.0, 30.0, -40.0, 10.0, 25.0, -15.0])
run = gs.simulate(craft, t_span=(0.0, 20.0), control=law, inputs={"target": target}, rtol=1e-11)
print(run)

run.plot(what="joints").savefig("flight.png")

# The same two functions as C99: a header, a source file, a struct for what the law remembers.
folder = Path("flight")
c_law(law, craft, "law", inputs={"target": 6}).write(folder)
header = (folder / "law.h").read_text()
print(header[header.index("typedef struct") : header.rindex("#endif")].strip())

# The plant in Python's engine, step by step; the law from its machine code, at each sample.
compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
apart = None
if compiler:
    words = [compiler, "-std=c99", "-O2", "-shared", "-fPIC", "law.c", "-o", "law.so", "-lm"]
    subprocess.run(words, cwd=folder, check=True)
    flown = ctypes.CDLL(str((folder / "law.so").resolve()))
    memory, tau = ctypes.create_string_buffer(1024), np.zeros(craft.nv)

    def array(values):
        return np.ascontiguousarray(values).ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    flown.law_step.argtypes = [ctypes.c_char_p, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 4]
    flown.law_reset(memory)
    plant = gs.Simulation(craft, rtol=1e-11)
    plant.reset()
    for k in range(400):
        q, v = np.array(plant.state.q), np.array(plant.state.v)
        flown.law_step(memory, k * PERIOD, array(q), array(v), array(target), array(tau))
        plant.step(tau, PERIOD)
    apart = abs(gs.configuration_difference(craft, run.q[-1], plant.state.q)).max()
    print(
        f"after 400 samples the C law and the simulated one have brought the craft to the same place within {apart:.0e}"
    )
