"""MEX files, compiled and called in Octave; the S-function compiles against the words of Simulink that it uses."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from scipy.io import loadmat, savemat

import gyrostat as gs
from c_compiler import COMPILERS, needs_compiler
from gyrostat.export import mex_files
from gyrostat.tracing.recording import trace
from random_trees import random_spacecraft, random_state

needs_octave = pytest.mark.skipif(
    shutil.which("octave") is None or shutil.which("mkoctfile") is None, reason="no Octave with mkoctfile here"
)


def both(craft, q, v, tau, t):
    """Two outputs, one a matrix; a number among the inputs."""
    return {"vdot": t * gs.forward_dynamics(craft, q, v, tau), "M": gs.mass_matrix(craft, q)}


@needs_octave
def test_octave_computes_the_same(tmp_path):
    craft = random_spacecraft(2, links=3)
    graph = trace(both, craft)
    mex_files(graph, "craft").write(tmp_path)
    command = ["mkoctfile", "--mex", "craft_mex.c", "craft.c", "-o", "craft_mex.mex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    q, v = random_state(craft, 2)
    tau = np.linspace(-1, 1, craft.nv)
    savemat(tmp_path / "in.mat", {"q": q, "v": v, "tau": tau})
    script = """
        load in.mat
        [vdot, M] = craft_mex(q, v, tau', 2.0);
        only = craft_mex(q, v, tau, 2.0);
        try
            craft_mex(q, v, tau(1:2), 2.0);
            message = "";
        catch error
            message = error.message;
        end
        save("-v7", "out.mat", "vdot", "M", "only", "message");
    """
    done = subprocess.run(
        ["octave", "--no-gui", "--norc", "--quiet", "--eval", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = loadmat(tmp_path / "out.mat")
    np.testing.assert_allclose(found["vdot"][:, 0], 2.0 * gs.forward_dynamics(craft, q, v, tau), rtol=1e-11)
    np.testing.assert_allclose(found["M"], gs.mass_matrix(craft, q), rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(found["only"], found["vdot"])
    assert f"argument 3, tau, must hold {craft.nv} real numbers" in str(found["message"][0])


SIMULINK = """
#include <stdbool.h>
#include <stdio.h>
typedef int int_T;
typedef struct { const double *in[8]; double *out[8]; int widths[16]; } SimStruct;
#define ssSetNumSFcnParams(S, n) ((void)(S))
#define ssGetNumSFcnParams(S) 0
#define ssGetSFcnParamsCount(S) 0
#define ssSetNumInputPorts(S, n) ((n) <= 8)
#define ssSetNumOutputPorts(S, n) ((n) <= 8)
#define ssSetInputPortWidth(S, k, n) ((S)->widths[k] = (n))
#define ssSetOutputPortWidth(S, k, n) ((S)->widths[8 + (k)] = (n))
#define ssSetInputPortRequiredContiguous(S, k, b) ((void)(S))
#define ssSetInputPortDirectFeedThrough(S, k, b) ((void)(S))
#define ssSetNumSampleTimes(S, n) ((void)(S))
#define ssSetSampleTime(S, k, t) ((void)(S))
#define ssSetOffsetTime(S, k, t) ((void)(S))
#define INHERITED_SAMPLE_TIME -1.0
#define UNUSED_ARG(x) ((void)(x))
#define ssGetInputPortRealSignal(S, k) ((S)->in[k])
#define ssGetOutputPortRealSignal(S, k) ((S)->out[k])
"""
MAIN = """
int main(void)
{
    static double q[NQ] = {Q}, v[NV] = {V}, tau[NV] = {TAU}, t[1] = {2.0}, vdot[NV], M[NV * NV];
    SimStruct S = {{q, v, tau, t}, {vdot, M}, {0}};
    mdlInitializeSizes(&S);
    mdlInitializeSampleTimes(&S);
    mdlOutputs(&S, 0);
    mdlTerminate(&S);
    if (S.widths[0] != NQ || S.widths[8] != NV || S.widths[9] != NV * NV) { return 1; }
    for (int k = 0; k < NV; ++k) { printf("%.17g\\n", vdot[k]); }
    return 0;
}
"""


@needs_compiler
def test_the_s_function_computes_the_same_under_a_stand_in_for_simulink(tmp_path):
    craft = random_spacecraft(2, links=3)
    mex_files(trace(both, craft), "craft").write(tmp_path)
    q, v = random_state(craft, 2)
    tau = np.linspace(-1, 1, craft.nv)
    words = {"NQ": str(craft.nq), "NV": str(craft.nv)}
    words |= {name: ", ".join(map(repr, map(float, x))) for name, x in (("{Q}", q), ("{V}", v), ("{TAU}", tau))}
    main = MAIN
    for word, meaning in words.items():
        main = main.replace(word, f"{{{meaning}}}" if word.startswith("{") else meaning)
    (tmp_path / "simstruc.h").write_text(SIMULINK)
    (tmp_path / "cg_sfun.h").write_text(main)
    command = [COMPILERS[0], "-std=c99", "-Wall", "-I.", "craft_sfun.c", "craft.c", "-lm", "-o", "loop"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = subprocess.run(["./loop"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    np.testing.assert_allclose(
        np.array(printed.split(), dtype=float), 2.0 * gs.forward_dynamics(craft, q, v, tau), rtol=1e-11
    )
