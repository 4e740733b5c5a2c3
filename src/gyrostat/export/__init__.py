"""What was traced here, for other tools: C for flight software."""

from .c_source import CFiles, c_files
from .law_in_c import c_law

__all__ = ["CFiles", "c_files", "c_law"]
