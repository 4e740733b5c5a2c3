"""The picture of a workspace shows what was computed."""

import matplotlib
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.model import DHLink
from gyrostat.view.workspace import plot_workspace
from gyrostat.workspace import joint_grid, measures

matplotlib.use("Agg")


def craft():
    base = gs.Body("base", 40.0, inertia=(2.7, 2.7, 2.7))
    links = [DHLink(a=0.5, b=0.5, mass=4.0, inertia=(0.01, 0.33, 0.33)) for _ in range(2)]
    return gs.Spacecraft.from_dh("planar", base, links, mount_position=(0.3, 0.0, 0.0))


AXES = {"joint_1": np.linspace(-3.0, 3.0, 15), "joint_2": np.linspace(-2.9, 2.8, 13)}


def test_the_panels_hold_the_measures(tmp_path):
    planar = craft()
    figure = plot_workspace(planar, gs.neutral(planar), "tool", axes=AXES, rows=(3, 4))
    m = measures(planar, joint_grid(planar, gs.neutral(planar), AXES), "tool", rows=(3, 4))
    panels = [at for at in figure.axes if at.get_title()]
    shown = [panels[k].collections[0].get_array().reshape(13, 15) for k in range(3)]
    for image, values in zip(shown, (m.manipulability, m.smallest, m.coupling), strict=True):
        np.testing.assert_array_equal(image, values.T)
    assert [at.get_xlabel() for at in panels] == ["joint_1 [deg]"] * 3 + ["x [m]"]
    assert panels[3].get_legend() is not None and len(panels[3].patches) >= 2
    figure.savefig(tmp_path / "workspace.png")
    assert (tmp_path / "workspace.png").stat().st_size > 10_000


def test_other_numbers_of_joints_are_refused():
    planar = craft()
    with pytest.raises(ValueError, match="axes names 1 joints; a picture of the workspace needs two"):
        plot_workspace(planar, gs.neutral(planar), "tool", axes={"joint_1": AXES["joint_1"]})
