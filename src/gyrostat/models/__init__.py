"""Spacecraft that come with gyrostat, written from published tables."""

from .servicer import servicer as servicer
