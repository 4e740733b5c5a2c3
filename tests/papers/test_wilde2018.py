"""The two studies of Wilde et al. (2018): every check of the reproduction, and that the checks can fail."""

import matplotlib
import numpy as np
import pytest

from gyrostat.algebra import angle_between, rotation
from gyrostat.papers import wilde2018, wilde2018_checks

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    return wilde2018.reproduce(tmp_path_factory.mktemp("wilde2018"))


def test_every_check_passes(reproduction):
    assert [check for check in reproduction.checks if not check.passed] == []
    assert len(reproduction.checks) == 31 and reproduction.passed


def test_figures_5_to_8_are_drawn(reproduction):
    assert [path.name for path in reproduction.figures] == [f"wilde2018_figure_{k}.png" for k in (5, 6, 7, 8)]
    assert all(path.stat().st_size > 30_000 for path in reproduction.figures)


def test_assumptions_are_stated(reproduction):
    assert any("mounts at" in word for word in reproduction.assumptions)
    assert any("every 44 s" in word for word in reproduction.assumptions)


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
    """A base of other mass: the joints still follow the closed form, the base does not follow the kinematics of the paper's craft."""
    other = wilde2018.planar_craft().with_values({"base.mass": 12.0})
    checks = {check.name: check for check in wilde2018_checks.planar_checks(wilde2018.run("planar", craft=other))}
    assert checks["planar: joints against the closed form"].passed
    assert not checks["planar: full = reduced model"].passed
    assert not checks["planar: full = kinematics (109) alone"].passed


def test_crafts_are_those_of_the_tables():
    planar, spatial = wilde2018.planar_craft(), wilde2018.spatial_craft()
    assert [body.mass for body in planar.bodies] == [10.0, 2.0, 2.0, 2.0, 2.0]
    assert [body.mass for body in spatial.bodies] == [1700.0, 5.0, 50.0, 50.0, 10.0, 5.0, 5.0]
    np.testing.assert_array_equal(
        spatial.joint("link_1").rotation @ [0, 0, 1], [1, 0, 0]
    )  # joint 1 along x of the base
    np.testing.assert_array_equal(spatial.joint("link_1").rotation @ [1, 0, 0], [0, 0, -1])


def test_unknown_cases_are_refused():
    with pytest.raises(ValueError, match="case is 'cubic'; expected one of 'planar', 'spatial'"):
        wilde2018.run("cubic")
