"""Ploen's four forms of one body, and formations stacked."""
