"""Compiled integrators, events, and the trajectory they make."""
