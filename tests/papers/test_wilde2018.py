"""The two studies of Wilde et al. (2018): what was assumed, and that the checks can fail."""

import numpy as np
import pytest

from gyrostat.algebra import angle_between, rotation
from gyrostat.papers import wilde2018
from gyrostat.papers.wilde2018.checks import planar_checks


def test_assumptions_are_stated():
    assert any("mounts at" in word for word in wilde2018.ASSUMPTIONS)
    assert any("every 44 s" in word for word in wilde2018.ASSUMPTIONS)


def test_assumptions_matter_as_much_as_is_said():
    """The numbers in the text of the assumptions, measured."""
    text = " ".join(wilde2018.ASSUMPTIONS)
    planar, planar_craft = wilde2018.run("planar"), wilde2018.planar_craft()
    centred = wilde2018.run("planar", craft=planar_craft.with_values({"joint_1.position": np.zeros(3)}))
    for trajectory, phrase in ((planar, "not {:.3f}"), (centred, "rate is {:.3f} rad/s")):
        assert phrase.format(np.abs(trajectory.v[:, 2]).max()) in text
    for trajectory, phrase in ((planar, "not {:.0f} mm"), (centred, "in x {:.0f} mm")):
        assert phrase.format(1e3 * np.abs(trajectory.q[:, 4]).max()) in text
    spatial, craft = wilde2018.run("spatial"), wilde2018.spatial_craft()
    variants = ({"link_1.inertia": (0.0292, 0, 0, 0.0292, 0, 0.0063)}, {"link_1.com": (0, 0, 0.125)})
    for values, phrase in zip(variants, ("{:.0e} rad, and the pose on the way by {:.0e}",) * 2, strict=True):
        other = wilde2018.run("spatial", craft=craft.with_values(values))
        end = angle_between(rotation(other.q[-1, :4]), rotation(spatial.q[-1, :4]))
        on_the_way = np.abs(other.q[:, :7] - spatial.q[:, :7]).max()
        assert phrase.format(end, on_the_way).replace("e-0", "e-") in text


def test_checks_notice_another_craft():
    """A base of other mass: the joints still follow the closed form,
    the base does not follow the kinematics of the paper's craft.
    """
    other = wilde2018.planar_craft().with_values({"base.mass": 12.0})
    checks = {check.name: check for check in planar_checks(wilde2018.run("planar", craft=other))}
    assert checks["planar: joints against the closed form"].passed
    assert not checks["planar: full = reduced model"].passed
    assert not checks["planar: full = kinematics (109) alone"].passed


def test_unknown_cases_are_refused():
    with pytest.raises(ValueError, match="case is 'cubic'; expected one of 'planar', 'spatial'"):
        wilde2018.run("cubic")
