"""Code for processors that are not here: ARM with two doubles in a vector, run under emulation; objects for the systems
that llvmlite can write.
"""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from gyrostat.algebra import atan2, exp, floor, log, minimum, sin, sqrt, where
from gyrostat.tracing.llvm import assembly
from random_trees import random_spacecraft, random_state

llvm = pytest.importorskip("llvmlite.binding")
BEGINS = {
    "aarch64-unknown-linux-gnu": b"\x7fELF",
    "arm64-apple-macosx11.0.0": b"\xcf\xfa\xed\xfe",
    "x86_64-pc-windows-msvc": b"\x64\x86",
    "x86_64-apple-macosx10.15.0": b"\xcf\xfa\xed\xfe",
}
MAIN = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void rows(int64_t *record);
int main(void) {{
  static const int sizes[] = {{{sizes}}};
  static double work[{work}];
  int64_t record[4 + 2 * {arrays}] = {{(int64_t)(intptr_t)work, 0, ({count} + {lanes} - 1) / {lanes}, {count}}};
  for (int k = 0; k < {arrays}; ++k) {{
    double *x = malloc(sizeof(double) * sizes[k] * {count});
    for (int i = 0; k < {arrays} - 1 && i < sizes[k] * {count}; ++i) if (scanf("%lf", x + i) != 1) return 1;
    record[4 + 2 * k] = (int64_t)(intptr_t)x;
    record[5 + 2 * k] = (int64_t)sizeof(double) * sizes[k];
  }}
  rows(record);
  double *y = (double *)(intptr_t)record[2 + 2 * {arrays}];
  for (int i = 0; i < sizes[{arrays} - 1] * {count}; ++i) printf("%.17g\\n", y[i]);
  return 0;
}}
"""


def odd(craft, q, v, tau):
    """Every elementary function, conditions and a table beside the dynamics."""
    noise = tracing.normal(3, 1, 2, 5) + tracing.interp(v[0], [0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    more = exp(sin(1e6 * v[1])) + atan2(v[2], v[3]) + log(1.0 + v[4] * v[4]) + sqrt(1.0 + v[5] * v[5]) % 0.3
    chosen = where((v[0] < v[1]) & ~(v[2] < 0.1), floor(3.0 * v[3]), minimum(v[4], v[5]))
    return gs.forward_dynamics(craft, q, v, tau) + noise + more + chosen


def object_for(text: str, triple: str) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=2, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text)
    module.triple = triple
    module.verify()
    return machine.emit_object(module)


@pytest.mark.parametrize("triple", BEGINS)
def test_objects_for_other_systems_can_be_written(triple):
    craft = random_spacecraft(3, links=3)
    try:
        code = object_for(assembly(tracing.trace(odd, craft), 2).text, triple)
    except RuntimeError as error:
        pytest.skip(f"this llvmlite does not write it: {error}")
    assert code.startswith(BEGINS[triple])


@pytest.mark.parametrize("lanes", [2, 4])
def test_arm_computes_the_same(lanes, tmp_path):
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64-static")
    if compiler is None or emulator is None:
        pytest.skip("needs a compiler for ARM and its emulator: apt install gcc-aarch64-linux-gnu qemu-user-static")
    craft, count = random_spacecraft(8, links=5), 7
    graph = tracing.trace(odd, craft)
    text, work = assembly(graph, lanes)
    (tmp_path / "kernel.o").write_bytes(object_for(text, "aarch64-unknown-linux-gnu"))
    sizes = [port.size for port in (*graph.inputs, *graph.outputs)]
    known = {"sizes": ", ".join(map(str, sizes)), "arrays": len(sizes), "count": count, "lanes": lanes}
    (tmp_path / "main.c").write_text(MAIN.format(work=work * lanes, **known))
    program = tmp_path / "program"
    sources = [str(tmp_path / name) for name in ("main.c", "kernel.o")]
    subprocess.run([compiler, "-O1", "-static", *sources, "-o", str(program), "-lm"], check=True)
    states = [random_state(craft, k) for k in range(count)]
    q, v = (np.array(x) for x in zip(*states, strict=True))
    tau = np.random.default_rng(1).normal(size=v.shape)
    given = "\n".join(repr(float(x)) for a in (q, v, tau) for x in a.flat)
    ran = subprocess.run([emulator, str(program)], input=given, capture_output=True, text=True, check=True)
    found = np.array(ran.stdout.split(), dtype=float).reshape(count, -1)
    expected = np.array([odd(craft, *row) for row in zip(q, v, tau, strict=True)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
