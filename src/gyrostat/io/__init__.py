"""Spacecraft files: URDF, MJCF, TOML and xacro in; TOML, URDF, MJCF and SDF out."""

from .loading import CheckResult as CheckResult
from .loading import check as check
from .loading import load as load
from .loading import load_formation as load_formation
from .saving import save as save
