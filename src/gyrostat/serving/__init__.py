"""A simulation against the clock on the wall: loads in, states out, over a local socket."""

from .records import Kind as Kind
from .records import Standing as Standing
from .server import Report as Report
from .server import Server as Server
