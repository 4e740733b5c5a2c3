"""Valverde and Tsiotras's own state, incidence matrix and whole saddle-point matrix."""
