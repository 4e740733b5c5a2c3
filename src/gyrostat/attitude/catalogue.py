"""The nineteen parameterisations by name."""

from __future__ import annotations

from .abstract import AbstractParameterisation
from .direction_cosines import DirectionCosines, TwoVectors
from .euler import SEQUENCES, Euler
from .rotations import AxisAngle, ModifiedRodrigues, Quaternion, Rodrigues, RotationVector

# All nineteen, by name
PARAMETERISATIONS: dict[str, AbstractParameterisation] = {
    p.name: p
    for p in (
        DirectionCosines(),
        TwoVectors(),
        Quaternion(),
        AxisAngle(),
        RotationVector(),
        Rodrigues(),
        ModifiedRodrigues(),
        *(Euler(sequence) for sequence in SEQUENCES),
    )
}


def parameterisation(name: str | AbstractParameterisation) -> AbstractParameterisation:
    """By name: "direction_cosines", "two_vectors", "quaternion", "axis_angle", "rotation_vector", "rodrigues",
    "modified_rodrigues", or "euler_321" and the other eleven sequences.

    Raises ValueError for a name that is not known.
    """
    if isinstance(name, AbstractParameterisation):
        return name
    if name not in PARAMETERISATIONS:
        raise ValueError(
            f"attitude parameterisation '{name}' is not known; expected one of {', '.join(PARAMETERISATIONS)}."
        )
    return PARAMETERISATIONS[name]
