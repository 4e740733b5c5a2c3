"""Stoneking's own state, as integrated in the comparison of Valverde and Tsiotras."""
