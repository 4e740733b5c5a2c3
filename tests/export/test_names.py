"""Names of any marks in what is exported: they are words in a comment or on a page, never code."""

from __future__ import annotations

import re
import subprocess

import pytest

import gyrostat as gs
from c_compiler import COMPILERS, library, needs_compiler
from gyrostat.export import c_files, equations
from gyrostat.tracing.recording import trace

NAMES = [
    "x*/ int evil(void){return 1;} /*",
    "*/*/ int evil(void){return 1;} /*/*",
    "%s%n$(touch x)`id`",
    'a "quoted" \\ name',
    "/**//",
]


def craft(name):
    hull = gs.Body(f"hull {name}", 20.0, inertia=(1.0, 1.2, 1.4), joint=gs.Joint(f"root {name}", "free"))
    joint = gs.Joint(f"hinge {name}", parent=hull.name, axis=(0, 0, 1))
    arm = gs.Body(f"arm {name}", 2.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1), joint=joint)
    return gs.Spacecraft.build(name, [hull, arm])


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_c_of_a_craft_of_any_name_holds_its_function_alone(name, tmp_path):
    own = craft(name)
    files = c_files({"energy": trace(gs.kinetic_energy, own)}, "it", craft=own)
    built = library(files, tmp_path, COMPILERS[0])
    symbols = subprocess.run(["nm", "--defined-only", built._name], capture_output=True, text=True, check=True).stdout
    assert " T energy" in symbols and "evil" not in symbols
    without = re.sub(r"/\*.*?\*/", "", files.texts["it.h"], flags=re.DOTALL)
    assert "evil" not in without and "hull" not in without


def test_latex_holds_names_as_words():
    pytest.importorskip("sympy")
    text = equations(craft(r"\input{/etc/passwd} ${}^ ~ \write18{x}"), show=("p",)).latex()
    assert r"\textbackslash{}input\{/etc/passwd\} \$\{\}\textasciicircum{} \textasciitilde{}" in text
    assert r"\input{" not in text and r"\write18{" not in text
