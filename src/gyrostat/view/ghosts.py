"""Other runs of a batch beside the one that is shown, as shadows of the craft in the same scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, quat_from_rotation
from .stage import Stage, add_shape, node

if TYPE_CHECKING:
    from ..simulation import Trajectory
    from .viewpoint import Viewpoint

OPACITY = 0.22
COLOR = (0.62, 0.70, 0.82)
MOST = 12


class Ghosts:
    """runs: their places in the batch. A run that has ended stays where it ended."""

    def __init__(self, stage: Stage, trajectory: Trajectory, runs: Sequence[int], rows: Array, view: Viewpoint) -> None:
        _must_be_there(trajectory, runs)
        poses, numbers = trajectory.poses(), trajectory.data["run"].values
        self._bodies: list[list[Any]] = []
        self._films = []
        for run in runs:
            last = np.flatnonzero(np.isfinite(trajectory.q[run]).all(axis=-1))
            at = np.minimum(rows, last[-1])
            p_A = np.einsum("tji,tbj->tbi", view.R_NA, poses.p_NB[run][at] - view.p_N[:, None])
            self._films.append((np.einsum("tji,tbjk->tbik", view.R_NA, poses.R_NB[run][at]), p_A))
            self._bodies.append(self._added(stage, f"/ghosts/run {numbers[run]}"))
        self.words = f"faint: run {', '.join(str(numbers[run]) for run in runs)}"

    @staticmethod
    def _added(stage: Stage, root: str) -> list[Any]:
        handles = []
        for body in stage.craft.bodies:
            name = f"{root}/{node(body.name)}"
            handles.append(stage.server.scene.add_frame(name, show_axes=False))
            for k, shape in enumerate(stage.shapes[body.name]):
                faint = replace(shape, color=COLOR, opacity=OPACITY)
                add_shape(stage.server.scene, f"{name}/shape {k + 1}", faint)
        return handles

    def place(self, k: int) -> None:
        """All of them at frame k."""
        for handles, (R_NB, p_NB) in zip(self._bodies, self._films, strict=True):
            for handle, R, p in zip(handles, R_NB[k], p_NB[k], strict=True):
                handle.wxyz, handle.position = quat_from_rotation(R), p


def _must_be_there(trajectory: Trajectory, runs: Sequence[int]) -> None:
    count = len(trajectory.state.t) if trajectory.batched else 0
    if len(runs) > MOST:
        raise ValueError(f"ghosts are {len(runs)} runs; at most {MOST} can be told apart.")
    for run in runs:
        if not 0 <= run < count:
            raise ValueError(f"ghosts: there is no run {run} in this batch of {count}.")
        if not np.isfinite(trajectory.q[run]).all(axis=-1).any():
            raise ValueError(f"ghosts: run {run} holds no state to draw.")
