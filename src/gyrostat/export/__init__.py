"""What was traced here, for other tools: C, MATLAB, FMUs, CasADi, SymPy, JAX, PyTorch; equations, typeset."""

from .c_source import CFiles, c_files
from .casadi_function import to_casadi
from .expressions import Symbolic, symbolic
from .fmu_file import Fmu, fmu
from .frameworks import to_jax, to_torch
from .law_in_c import c_law
from .mex_source import mex_files
from .typeset import Equations, equations

__all__ = [
    "CFiles",
    "Equations",
    "Fmu",
    "Symbolic",
    "c_files",
    "c_law",
    "equations",
    "fmu",
    "mex_files",
    "symbolic",
    "to_casadi",
    "to_jax",
    "to_torch",
]
