"""`verify` agrees where all is well, and says who differs where it is not."""

from types import SimpleNamespace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations import recursive
from gyrostat.formulations.registry import FORMULATIONS, formulation, supporting
from gyrostat.verification import Comparison, VerifyReport, run, verify
from random_trees import random_spacecraft

TREE = random_spacecraft(4, links=4, kinds=("revolute", "prismatic", "spherical", "wheel"), base="free")


def test_every_formulation_agrees_on_a_spacecraft_with_wheels():
    report = verify(TREE, states=3)
    able, reasons = supporting(TREE)
    assert report.passed
    assert report.absent == reasons
    named = {c.first for c in report.comparisons} | {c.second for c in report.comparisons}
    assert named == {*able, *(f"{name}, compiled" for name in able)}
    pairs = len(able) * (len(able) - 1) // 2
    assert sum(c.quantity == "accelerations" for c in report.comparisons) == pairs + len(able)
    quantities = {c.quantity for c in report.comparisons}
    assert quantities == set(run.ALLOWED)
    assert report.worst is not None
    assert report.worst.worst < report.worst.allowed


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_peers_agree_with_every_formulation(seed):
    """All joint kinds, bases, wheels and rotors."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    report = verify(random_spacecraft(seed), states=2, peers=True, compiled=False)
    assert report.passed
    named = {c.second for c in report.comparisons}
    assert "Pinocchio" in named
    assert "MuJoCo" in named or "MuJoCo" in report.absent


def test_a_peer_that_is_not_installed_is_named(monkeypatch):
    from gyrostat.verification import peers

    monkeypatch.setitem(peers.PEERS, "Pinocchio", lambda craft: "not installed. Try: pip install pin")
    monkeypatch.delitem(peers.PEERS, "MuJoCo")
    report = verify(TREE, states=1, peers=True, compiled=False)
    assert report.absent == {"Pinocchio": "not installed. Try: pip install pin"}


def test_why_a_formulation_is_absent():
    craft = random_spacecraft(1, base="planar", kinds=("universal", "revolute"))
    report = verify(craft, states=1, compiled=False)
    assert "the base joint 'base_joint'" in report.absent["generalized_jacobian"]
    assert "Lie subgroup" in report.absent["lie_lagrange"]
    assert report.passed


@pytest.mark.parametrize("error", [1e-6, np.nan, np.inf])
def test_a_wrong_formulation_is_found_and_named(monkeypatch, error):
    """One part in a million, on one joint, or no number at all."""

    def wrong(craft, q, v, tau, *, wrenches=None, prescribed=None):
        vdot = recursive.forward_dynamics(craft, q, v, tau, wrenches=wrenches).copy()
        vdot[-1] *= 1 + error
        return vdot

    able = {"recursive": recursive, "wrong": SimpleNamespace(forward_dynamics=wrong)}
    monkeypatch.setattr(run, "supporting", lambda craft: (able, {}))
    report = verify(TREE, states=2, compiled=False)
    assert not report.passed
    (failed,) = [c for c in report.comparisons if not c.passed]
    assert (failed.quantity, failed.first, failed.second) == ("accelerations", "recursive", "wrong")
    assert "recursive and wrong differ by" in str(report) and str(report).endswith("FAILED: 1 differ")
    shown = report.as_dict()
    assert shown["passed"] is False
    assert (shown["comparisons"][0]["worst"] is None) == (not np.isfinite(error))


def test_graphs_that_are_too_long_are_not_compiled(monkeypatch):
    monkeypatch.setattr(run, "MOST_OPERATIONS", 10)
    report = verify(TREE, states=1)
    assert "operations; only graphs of up to 10" in report.absent["recursive, compiled"]


def test_states_are_those_of_the_seed():
    a, b, c = run.random_case(TREE, 0, 3), run.random_case(TREE, 0, 3), run.random_case(TREE, 1, 3)
    np.testing.assert_array_equal(a.q, b.q)
    assert not np.array_equal(a.q, c.q)


def test_nothing_to_compare_is_no_success():
    assert not VerifyReport("x", 1, 0, (), {}).passed
    assert not Comparison("momentum", "a", "b", float("nan"), 1.0).passed
    with pytest.raises(ValueError, match="states is 0; expected at least one"):
        verify(TREE, states=0)


def test_registry():
    for name in FORMULATIONS:
        module = formulation(name)
        assert callable(module.forward_dynamics)
        assert callable(module.supports)
    able, reasons = supporting(TREE)
    assert set(able) | set(reasons) == set(FORMULATIONS)
    assert {"recursive", "dual_quaternion", "decoupled", "lie_lagrange", "generalized_jacobian"} <= set(able)
    with pytest.raises(ValueError, match="formulation 'recursve' is not known. Did you mean 'recursive'"):
        formulation("recursve")


def test_a_fixed_craft_without_rates_passes():
    craft = gs.Spacecraft.build("stone", [gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))])
    report = verify(craft, states=1, compiled=False)
    assert report.passed


def arm_with(*tips):
    bus = gs.Body("bus", 10.0, (0.1, 0.0, 0.0), (1.0, 2.0, 2.5))
    return gs.Spacecraft.build("odd", [bus, *tips])


def hinge(name, parent="bus"):
    return gs.Joint(name, "revolute", parent, (1.0, 0.2, 0.0), axis=(0.0, 0.6, 0.8))


ODD = {
    "point mass": (
        gs.Spacecraft.build("odd", [gs.Body("mass", 10.0, joint=gs.Joint("base", "cartesian"))]),
        "moving body 'mass' has no inertia about some axis",
    ),
    "point mass on an arm": (arm_with(gs.Body("tip", 2.0, (0.5, 0, 0), joint=hinge("j"))),
                             "moving body 'tip' has no inertia"),
    "thin rod": (
        arm_with(gs.Body("rod", 2.0, (0.5, 0, 0), (0.0, 0.2, 0.2), joint=hinge("j"))),
        "moving body 'rod' has no inertia about some axis",
    ),
    "no such body": (
        arm_with(gs.Body("link", 2.0, (0.5, 0, 0), (0.1, 0.1, 0.5), joint=hinge("j"))),
        "body 'link' has a moment of inertia larger than the sum",
    ),
    "massless between": (
        arm_with(
            gs.Body("cross", joint=hinge("j")),
            gs.Body("link", 2.0, (0.5, 0, 0), (0.1, 0.3, 0.3), gs.Joint("k", "revolute", "cross", axis=(1.0, 0, 0))),
        ),
        "moving body 'cross' has no mass",
    ),
    "flat plate": (arm_with(gs.Body("plate", 2.0, (0.5, 0, 0), (0.1, 0.3, 0.4), joint=hinge("j"))), None),
    "nothing moves": (
        gs.Spacecraft.build("odd", [gs.Body("block", 5.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))]),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_peers_judge_odd_bodies_or_say_why_not(name):
    """Bodies that MuJoCo takes none of are compared with Pinocchio, and the report says why MuJoCo is missing."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    craft, reason = ODD[name]
    report = verify(craft, states=3, peers=True, compiled=False)
    assert report.passed
    assert "Pinocchio" in {c.second for c in report.comparisons}
    if reason is None:
        assert "MuJoCo" in {c.second for c in report.comparisons}
    else:
        assert reason in report.absent["MuJoCo"]
