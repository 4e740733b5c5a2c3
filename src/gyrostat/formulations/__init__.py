"""One module per way of writing the equations of motion; all with the same signatures."""

from . import recursive as recursive
from .registry import FORMULATIONS as FORMULATIONS
from .registry import formulation as formulation
from .registry import supporting as supporting
