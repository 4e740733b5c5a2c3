"""C99 of traced functions: the same numbers as NumPy's, clean under strict compilers, the same bits from each."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import gyrostat as gs
from c_compiler import COMPILERS, STRICT, call, library, needs_compiler
from gyrostat.algebra import atan2, cos, exp, floor, log, maximum, minimum, scan, sign, sin, sqrt, where
from gyrostat.export import c_files, c_law
from gyrostat.models import servicer
from gyrostat.tracing import interp
from gyrostat.tracing.random import normal, uniform
from gyrostat.tracing.recording import trace
from random_trees import random_spacecraft, random_state

pytestmark = needs_compiler


def everything(x, n):
    """Every operation that a graph may have."""
    a, b, c, d = x
    chosen = where((a < b) & ~(c <= d) | (a <= -2.0), a * b, c - d)
    return {
        "sums": np.array([a + b, a - b, a * b, a / b, -a, chosen]),
        "functions": np.array([sin(a), cos(a), atan2(a, b), exp(a), log(abs(b)), sqrt(abs(c)), abs(d) ** a]),
        "steps": np.array([minimum(a, b), maximum(a, b), sign(c), floor(d), a % b, (3.0 * a) // b]),
        "tables": np.array([interp(a, [-1.0, 0.0, 0.3, 2.0], [5.0, 1.0, -2.0, 4.0])]),
        "noise": np.array([uniform(3, 0, n, 2), normal(7, 1, n, 5)]),
    }


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_every_operation_equals_numpys(dtype, tmp_path):
    graph = trace(everything, None, inputs={"x": (4,), "n": ()})
    function = library(c_files({"all_of_them": graph}, "everything", dtype=dtype), tmp_path).all_of_them
    rng = np.random.default_rng(0)
    kind = np.float64 if dtype == "double" else np.float32
    for k in range(200):
        x = (rng.normal(size=4) * 3.0).astype(kind).astype(float)
        values = [x, np.array(float(k))]
        expected = graph.evaluate(*values)
        for name, found, wanted in zip(graph.outputs, call(function, graph, values, kind), expected, strict=True):
            tolerance = 1e-14 if dtype == "double" else 3e-4
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=name.name)


@pytest.mark.parametrize("x", [np.nan, np.inf, -np.inf, 0.0, -0.0])
def test_what_is_no_number_comes_out_as_from_numpy(x, tmp_path):
    graph = trace(everything, None, inputs={"x": (4,), "n": ()})
    function = library(c_files({"all_of_them": graph}, "everything"), tmp_path).all_of_them
    for place in range(4):
        at = np.array([0.3, -0.7, 1.1, 0.4])
        at[place] = x
        values = [at, np.array(1.0)]
        for found, wanted in zip(call(function, graph, values), graph.evaluate(*values), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_twenty_craft_of_every_joint_kind(seed, tmp_path):
    craft = random_spacecraft(seed, links=4)
    functions = {"fd": gs.forward_dynamics, "id": gs.inverse_dynamics, "mass": gs.mass_matrix, "h": gs.momentum}
    graphs = {name: trace(function, craft) for name, function in functions.items()}
    lib = library(c_files(graphs, "craft", craft=craft), tmp_path, flags=("-O0",))
    q, v = random_state(craft, seed)
    load = np.random.default_rng(seed).normal(size=craft.nv)
    given = {"q": q, "v": v, "tau": load, "vdot": load}
    for name, graph in graphs.items():
        values = [given[port.name] for port in graph.inputs]
        expected = functions[name](craft, *values)
        (found,) = call(getattr(lib, name), graph, values)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def newton(x):
    """Two loops: Kepler's equation, and one inside the other."""

    def step(state, k):
        E, total = state
        inner = scan(lambda y, j: 0.5 * y + x[1] * j, E, 3)
        return E - (E - x[0] * sin(E) - x[1]) / (1.0 - x[0] * cos(E)), total + 0.01 * k * inner

    return np.array(scan(step, (x[1], 0.0), 12))


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_loops_are_loops(dtype, tmp_path):
    graph = trace(newton, None, inputs={"x": 2})
    files = c_files({"kepler": graph}, "kepler", dtype=dtype)
    assert files.texts["kepler.c"].count("for (int k = 0;") == 2
    function = library(files, tmp_path).kepler
    kind = np.float64 if dtype == "double" else np.float32
    for x in np.random.default_rng(0).uniform(0.1, 0.6, size=(20, 2)):
        (found,) = call(function, graph, [x], kind)
        np.testing.assert_allclose(found, newton(x), rtol=1e-13 if dtype == "double" else 1e-5)
        assert found[0] - x[0] * np.sin(found[0]) == pytest.approx(x[1], rel=1e-5)


def servicer_files(**options):
    craft = servicer()
    graphs = {"servicer_fd": trace(gs.forward_dynamics, craft)}
    graphs["servicer_jacobian"] = trace(gs.generalized_jacobian, craft, static={"frame": "tool"})
    return c_files(graphs, "servicer", craft=craft, test=True, **options)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_the_files_test_themselves_under_strict_compilers(compiler, dtype, tmp_path):
    servicer_files(dtype=dtype).write(tmp_path)
    command = [compiler, *STRICT, "-O2", "servicer.c", "servicer_test.c", "-lm", "-o", "checked"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    done = subprocess.run(["./checked"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "as expected" in done.stdout
    # a wrong number is found
    text = (tmp_path / "servicer.c").read_text()
    (tmp_path / "servicer.c").write_text(text.replace(" + ", " - ", 1))
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./checked"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "NOT as expected" in done.stdout


@pytest.mark.skipif(len(COMPILERS) < 2, reason="two compilers are needed")
def test_two_compilers_give_the_same_bits(tmp_path):
    craft = servicer()
    graph = trace(gs.forward_dynamics, craft)
    files = c_files({"fd": graph}, "craft", craft=craft)
    rng = np.random.default_rng(1)
    functions = [library(files, tmp_path, compiler, (level,)).fd for compiler in COMPILERS for level in ("-O0", "-O2")]
    for _ in range(20):
        values = [rng.normal(size=port.shape) for port in graph.inputs]
        first, *others = [call(function, graph, values)[0].tobytes() for function in functions]
        assert all(other == first for other in others)


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed")
def test_cppcheck_finds_nothing(tmp_path):
    servicer_files().write(tmp_path)
    command = [
        "cppcheck",
        "--enable=warning,style,performance,portability",
        "--std=c99",
        "--error-exitcode=1",
        "--quiet",
    ]
    done = subprocess.run([*command, "servicer.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_valgrind_finds_nothing(tmp_path):
    servicer_files().write(tmp_path)
    command = [COMPILERS[0], "-std=c99", "-g", "-O1", "servicer.c", "servicer_test.c", "-lm", "-o", "checked"]
    subprocess.run(command, cwd=tmp_path, check=True)
    command = ["valgrind", "--error-exitcode=9", "--leak-check=full", "./checked"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_outputs_may_be_the_inputs(tmp_path):
    craft = random_spacecraft(3, links=3)
    graph = trace(gs.configuration_rate, craft)
    function = library(c_files({"rate": graph}, "rate"), tmp_path).rate
    q, v = random_state(craft, 3)
    expected = call(function, graph, [q, v])[0]
    same = q.copy()
    function(same.ctypes, v.ctypes, same.ctypes)
    np.testing.assert_array_equal(same, expected)


def test_the_header_says_what_stands_where():
    header = servicer_files().texts["servicer.h"]
    for words in ("[7] joint_1, rad", "[3] base vx, m/s; load in N", "6 x 6 matrix", "gyrostat " + gs.__version__):
        assert words in header, header


# ---- laws


GAINS = np.diag(gs.mass_matrix(servicer(), gs.neutral(servicer())))[6:]


def pid(craft, t, q, v, z, target):
    return np.concatenate([np.zeros(6), GAINS * (0.5 * (target - q[7:]) - 1.0 * v[6:] + 0.02 * z)])


def remembered(craft, t, q, v, z, target):
    return z + 0.05 * (target - q[7:])


MAIN = """
#include "law.h"
#include "plant.h"
#include <stdio.h>

static void rates(const double q[13], const double v[12], const double tau[12], double qdot[13], double vdot[12])
{{
    plant(q, v, tau, qdot, vdot);
}}

int main(void)
{{
    const double h = {h};
    double q[13] = {{{q}}};
    double v[12] = {{{v}}};
    const double target[6] = {{{target}}};
    double tau[12], a[12], b[12], c[12], d[12], qa[13], qb[13], qc[13], qd[13], q1[13], v1[12];
    law_memory memory;
    law_reset(&memory);
    for (int n = 0; n < {samples}; ++n) {{
        law_step(&memory, n * {period}, q, v, target, tau);
        for (int m = 0; m < {steps}; ++m) {{
            rates(q, v, tau, qa, a);
            for (int k = 0; k < 13; ++k) {{ q1[k] = q[k] + 0.5 * h * qa[k]; }}
            for (int k = 0; k < 12; ++k) {{ v1[k] = v[k] + 0.5 * h * a[k]; }}
            rates(q1, v1, tau, qb, b);
            for (int k = 0; k < 13; ++k) {{ q1[k] = q[k] + 0.5 * h * qb[k]; }}
            for (int k = 0; k < 12; ++k) {{ v1[k] = v[k] + 0.5 * h * b[k]; }}
            rates(q1, v1, tau, qc, c);
            for (int k = 0; k < 13; ++k) {{ q1[k] = q[k] + h * qc[k]; }}
            for (int k = 0; k < 12; ++k) {{ v1[k] = v[k] + h * c[k]; }}
            rates(q1, v1, tau, qd, d);
            for (int k = 0; k < 13; ++k) {{ q[k] += h / 6.0 * (qa[k] + 2.0 * qb[k] + 2.0 * qc[k] + qd[k]); }}
            for (int k = 0; k < 12; ++k) {{ v[k] += h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]); }}
        }}
    }}
    for (int k = 0; k < 13; ++k) {{ printf("%.17g\\n", q[k]); }}
    for (int k = 0; k < 12; ++k) {{ printf("%.17g\\n", v[k]); }}
    return 0;
}}
"""


def test_a_loop_of_law_and_plant_in_c_equals_the_simulation_of_both(tmp_path):
    craft = servicer()
    law = gs.Controller(pid, state0=np.full(6, 0.1), update=remembered, period=0.1)
    target = np.array([0.5, -0.2, 0.4, 0.1, 0.3, -0.6])
    q, v = craft.q({"joint_2": 0.3}), craft.v({"base": [0.01, -0.02, 0.03, 0.1, 0.2, -0.1], "joint_4": 0.2})

    def plant(craft, q, v, tau):
        return {"qdot": gs.configuration_rate(craft, q, v), "vdot": gs.forward_dynamics(craft, q, v, tau)}

    c_files({"plant": trace(plant, craft)}, "plant", craft=craft).write(tmp_path)
    c_law(law, craft, "law", inputs={"target": 6}).write(tmp_path)
    words = {name: ", ".join(map(repr, map(float, x))) for name, x in (("q", q), ("v", v), ("target", target))}
    main = MAIN.format(**words, h=0.02, period=0.1, steps=5, samples=100)
    (tmp_path / "main.c").write_text(main)
    command = [COMPILERS[0], *STRICT, "-O1", "main.c", "law.c", "plant.c", "-lm", "-o", "loop"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    printed = subprocess.run(["./loop"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    ends = np.array(printed.split(), dtype=float)
    run = gs.simulate(
        craft, q, v, (0, 10), control=law, inputs={"target": target}, integrator="rk4", step=0.02, save_at=[10.0]
    )
    q_end, v_end = run.final
    quat = ends[:4] / np.linalg.norm(ends[:4])
    np.testing.assert_allclose(np.concatenate([quat, ends[4:13]]), q_end, atol=2e-11)
    np.testing.assert_allclose(ends[13:], v_end, atol=2e-11)
    assert np.abs(q_end[7:] - q[7:]).max() > 0.1


def test_a_law_without_memory_and_one_that_counts_its_samples(tmp_path):
    craft = random_spacecraft(5, links=3)

    def dither(craft, t, q, v, sample, seed):
        return 0.1 * normal(seed, 0, sample, np.arange(craft.nv)) - v

    files = c_law(gs.Controller(dither, period=0.5), craft, "dither", seed=11)
    assert "dither_memory" in files.texts["dither.h"] and "dither_step" in files.texts["dither.h"]
    lib = library(files, tmp_path)
    memory, tau = np.zeros(1), np.zeros(craft.nv)
    q, v = random_state(craft, 5)
    lib.dither_reset(memory.ctypes)
    for k in range(4):
        lib.dither_step(memory.ctypes, ctypes.c_double(0.5 * k), q.ctypes, v.ctypes, tau.ctypes)
        np.testing.assert_allclose(tau, dither(craft, 0.5 * k, q, v, k, 11), rtol=1e-14)
    plain = c_law(lambda craft, t, q, v: -2.0 * v, craft, "damper")
    assert "memory" not in plain.texts["damper.h"] and "damper_output" in plain.texts["damper.h"]


def test_a_continuous_law_with_memory_has_no_step():
    craft = servicer()
    law = gs.Controller(
        lambda craft, t, q, v, z: np.concatenate([np.zeros(6), z]),
        state0=np.zeros(6),
        derivative=lambda craft, t, q, v, z: -q[7:] - z,
    )
    header = c_law(law, craft, "adaptive").texts["adaptive.h"]
    assert "adaptive_derivative" in header and "adaptive_step" not in header


def test_a_law_that_burns_sees_the_craft_as_light_as_its_memory_says(tmp_path):
    """A model-based law beside thrusters had the mass matrix of full tanks for ever."""
    hub = gs.Body("hub", 300.0, (0.1, -0.05, 0.2), (60.0, 70.0, 80.0))
    joint = gs.Joint("shoulder", "revolute", "hub", (0.6, 0.3, 0.1), axis=(0.0, 0.6, 0.8))
    arm, nozzle = gs.Body("arm", 20.0, (0.7, 0.1, 0.0), (0.4, 5.0, 5.0), joint), (-1.0, 0.2, 0.1)
    thruster = gs.Thruster("main", "hub", nozzle, (0.8, 0.0, 0.6), 200.0, 0.0, 230.0)
    craft = gs.Spacecraft.build("tug", [hub, arm], thrusters=[thruster])
    heavy = lambda craft, t, q, v: np.concatenate([np.zeros(6), [-gs.generalized_inertia(craft, q)[0, 0] * v[6]]])
    tank = gs.control.Tank("hub", 120.0, (0.3, -0.2, -0.4), (0.06, 0.05, 0.04))
    law = gs.control.burning(craft, lambda craft, t, q, v: {"main": 150.0}, tank, control=heavy)
    q, v = random_state(craft, 4)
    tau, z = np.zeros(craft.nv), np.array([80.0])
    lib = library(c_law(law, craft, "burn"), tmp_path)
    lib.burn_output(ctypes.c_double(0.0), q.ctypes, v.ctypes, z.ctypes, tau.ctypes)
    np.testing.assert_allclose(tau, law.output(law.propellant.left(craft, z), 0.0, q, v, z), rtol=1e-12)
    assert abs(tau[6] - law.output(craft, 0.0, q, v, z)[6]) > 1e-3


# ---- refused


def test_bad_names_types_and_inputs_are_refused():
    craft = servicer()
    graph = trace(gs.mass_matrix, craft)
    with pytest.raises(ValueError, match="'my-craft' is no name of a C function. Write 'my_craft'"):
        c_files({"my-craft": graph}, "craft")
    with pytest.raises(ValueError, match="'while' is no name"):
        c_files({"while": graph}, "craft")
    with pytest.raises(ValueError, match="C code of 'half' is not written"):
        c_files({"mass": graph}, "craft", dtype="half")
    with pytest.raises(ValueError, match=r"inputs\['aim'\]: law does not ask for it"):
        c_law(lambda craft, t, q, v: -v, craft, "law", inputs={"aim": 3})
