"""Plots, reports and the 3-D scene. No physics."""
