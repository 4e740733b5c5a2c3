"""`outputs = `: derived quantities that are kept beside the states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ...simulation import Trajectory

Output = Literal["reaction_wrenches", "momentum", "kinetic_energy", "center_of_mass", "poses", "frames"]


def add_outputs(trajectory: Trajectory, outputs: tuple[Output, ...]) -> None:
    """Keep derived quantities beside the states."""
    data = trajectory.data
    lead = data["q"].dims[:-1]
    for name in outputs:
        if name == "reaction_wrenches":
            data[name] = trajectory.reaction_wrenches()
        elif name == "momentum":
            data[name] = ((*lead, "wrench"), trajectory.momentum(), {"units": "N m s, N s"})
        elif name == "kinetic_energy":
            data[name] = (lead, trajectory.kinetic_energy(), {"units": "J"})
        elif name == "center_of_mass":
            data[name] = ((*lead, "xyz"), trajectory.center_of_mass(), {"units": "m"})
        elif name == "poses":
            poses = trajectory.poses()
            data["R_NB"] = ((*lead, "body", "row", "column"), poses.R_NB)
            data["p_NB"] = ((*lead, "body", "xyz"), poses.p_NB, {"units": "m"})
        else:
            for frame in trajectory.craft.frames:
                R, p = trajectory.frame(frame.name)
                data[f"R_N {frame.name}"] = ((*lead, "row", "column"), R)
                data[f"p_N {frame.name}"] = ((*lead, "xyz"), p, {"units": "m"})
