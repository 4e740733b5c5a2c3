"""The two studies of Wilde et al. (2018): every check of the reproduction, and that the checks can fail."""

import matplotlib
import numpy as np
import pytest

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
