"""Record NumPy functions as graphs, differentiate them, compile them."""

from .errors import TraceError as TraceError
from .graph import Graph as Graph
from .graph import Node as Node
from .graph import Port as Port
from .jacobian import jacobian_of as jacobian_of
from .kernel import Kernel as Kernel
from .kernel import compile as compile
from .linearization import LinearMotion as LinearMotion
from .linearization import linear_motion as linear_motion
from .random import normal as normal
from .random import uniform as uniform
from .recording import trace as trace
from .tables import interp as interp
