"""Natural modes: closed forms, rigid bodies told apart from low frequencies, shapes that the nonlinear craft swings
in.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import rotation_from_rpy

TILT = rotation_from_rpy(np.array([0.3, -0.4, 0.8]))


def chain(n, k, base="free", damping=0.0, mass=1.0):
    """Equal sliders in a row with equal springs: u'' = k / m times the second difference."""
    bodies = [gs.Body("m0", mass, inertia=(1, 1, 1), joint=gs.Joint("root", base, axis=(1, 0, 0)))]
    for j in range(1, n):
        joint = gs.Joint(f"s{j}", "prismatic", f"m{j - 1}", (0.5, 0, 0), axis=(1, 0, 0), stiffness=k, damping=damping)
        bodies.append(gs.Body(f"m{j}", mass, inertia=(0.01, 0.01, 0.01), joint=joint))
    return gs.Spacecraft.build("chain", bodies)


def test_a_chain_of_masses_has_the_frequencies_of_the_book():
    """Free-free: omega_j = 2 sqrt(k / m) sin(j pi / 2n), and one rigid motion along the rail."""
    n, k, m = 6, 40.0, 2.5
    found = gs.modes(chain(n, k, "prismatic", mass=m))
    assert [mode.kind for mode in found] == ["rigid"] + ["oscillating"] * (n - 1)
    expected = [2 * np.sqrt(k / m) * np.sin(j * np.pi / (2 * n)) / (2 * np.pi) for j in range(1, n)]
    np.testing.assert_allclose([mode.frequency for mode in found[1:]], expected, rtol=1e-10)
    for j, mode in enumerate(found[1:], 1):
        places = np.cumsum(mode.shape)  # where each mass is
        book = np.cos(j * np.pi * (2 * np.arange(n) + 1) / (2 * n))
        cosine = abs(places @ book) / np.linalg.norm(places) / np.linalg.norm(book)
        assert cosine == pytest.approx(1.0, abs=1e-9) and np.abs(np.imag(mode.shape)).max() < 1e-12


def test_damping_ratio_of_one_oscillator():
    k, c, m = 9.0, 0.7, 2.0
    craft = chain(2, k, "fixed", c, m)
    (mode,) = gs.modes(craft)
    assert mode.frequency == pytest.approx(np.sqrt(k / m) / (2 * np.pi), rel=1e-12)
    assert mode.damping == pytest.approx(c / (2 * np.sqrt(k * m)), rel=1e-12) and mode.stable
    overdamped = gs.modes(chain(2, k, "fixed", 100.0, m))
    assert [mode.kind for mode in overdamped] == ["real", "real"]
    assert overdamped[0].eigenvalue * overdamped[1].eigenvalue == pytest.approx(k / m)


@pytest.mark.parametrize("base, rigid", [("free", 6), ("planar", 3), ("spherical", 3), ("fixed", 0), ("revolute", 1)])
def test_rigid_motions_are_counted_and_strain_nothing(base, rigid):
    panel = gs.Joint("p", "spherical", "bus", (0.5, 0.2, 0), TILT, stiffness=4.0)
    free = gs.Joint("f", "revolute", "bus", (-0.5, 0, 0), TILT, axis=(1, 2, 2))
    craft = gs.Spacecraft.build(
        "flex",
        [
            gs.Body("bus", 60.0, (0.1, 0.2, 0), (9, 10, 12), gs.Joint("root", base)),
            gs.Body("panel", 4.0, (0.6, 0.1, 0), (0.2, 0.9, 1.0), panel),
            gs.Body("flap", 2.0, (-0.3, 0, 0.1), (0.1, 0.2, 0.2), free),
            gs.Wheel("rw", "bus", (0, 0.6, 0.8), 0.05),
        ],
    )
    found = gs.modes(craft)
    count = {kind: len(found.of(kind)) for kind in ("rigid", "free", "constant", "oscillating", "real")}
    assert count == {"rigid": rigid, "free": 1, "constant": 1, "oscillating": 3, "real": 0}
    M = np.asarray(gs.mass_matrix(craft, gs.neutral(craft)), dtype=float)
    shapes = np.array([mode.shape for mode in found if mode.kind in ("rigid", "free", "oscillating")])
    np.testing.assert_allclose(shapes.conj() @ M @ shapes.T, np.eye(len(shapes)), atol=1e-8)  # undamped: orthogonal
    root = craft.joint("bus")
    for mode in found.of("rigid"):
        assert np.abs(np.delete(mode.shape, np.arange(craft.nv)[root.v_at])).max() < 1e-12
        assert mode.share["bus"] > 0.5
    for mode in found:
        assert sum(mode.share.values()) == pytest.approx(1.0) and min(mode.share.values()) >= 0.0
    (flap,) = found.of("free")
    assert flap.shape[craft.joint("flap").v_at.start] != 0.0
    assert np.abs(flap.shape[craft.joint("panel").v_at]).max() < 1e-9  # its spring is not stretched
    (wheel,) = found.of("constant")
    assert np.abs(wheel.shape).max() < 1e-12 and wheel.share["rw"] == pytest.approx(1.0)


def test_soft_springs_are_no_rigid_motions():
    """One of 1e-4 rad/s beside one of 1e3 rad/s, on a free base: six rigid motions and two swings."""
    soft, hard, J = 1e-8, 1e6, 1.0
    craft = gs.Spacecraft.build(
        "wide",
        [
            gs.Body("bus", 1e3, inertia=(1e6, 1e6, 1e6)),
            gs.Body(
                "a", 1.0, inertia=(J, J, J), joint=gs.Joint("a", "revolute", "bus", axis=(0, 0, 1), stiffness=soft)
            ),
            gs.Body(
                "b", 1.0, inertia=(J, J, J), joint=gs.Joint("b", "revolute", "bus", axis=(1, 0, 0), stiffness=hard)
            ),
        ],
    )
    found = gs.modes(craft)
    assert [mode.kind for mode in found] == ["rigid"] * 6 + ["oscillating"] * 2
    effective = lambda I: 1 / (1 / J + 1 / I)
    for mode, k in zip(found[6:], (soft, hard), strict=True):
        assert 2 * np.pi * mode.frequency == pytest.approx(np.sqrt(k / effective(1e6 + J)), rel=1e-7)


def test_two_craft_have_two_sets_of_rigid_motions_until_they_are_welded():
    one = chain(2, 5.0)
    two = gs.Spacecraft.build(
        "two", [gs.Body("c", 3.0, (0.1, 0, 0), (1, 2, 2.5))], frames=[gs.Frame("g", "c", (0.2, 0, 0))]
    )
    both = gs.together("both", [one, two])
    assert len(gs.modes(both).of("rigid")) == 12
    q = gs.neutral(both)
    weld = gc.grasped(both, 0.0, q, gc.weld("m1", "g"))
    held = gs.modes(both, q, constraints=[weld])
    assert len(held.of("rigid")) + len(held.of("free")) == 6 and len(held.of("oscillating")) == 1


def test_an_upside_down_pendulum_grows():
    rod = gs.Body("rod", 2.0, (0, 0, 0.6), (0.1, 0.1, 0.1), gs.Joint("j", "revolute", "w", axis=(0, 1, 0)))
    craft = gs.Spacecraft.build("p", [gs.Body("w", 1.0, inertia=(1, 1, 1), joint=gs.Joint("root", "fixed")), rod])
    found = gs.modes(craft, environment=gs.environment.uniform_gravity((0, 0, -1.5)))
    rate = np.sqrt(2.0 * 1.5 * 0.6 / (0.1 + 2.0 * 0.36))
    assert [mode.eigenvalue.real for mode in found] == pytest.approx([-rate, rate]) or [
        mode.eigenvalue.real for mode in found
    ] == pytest.approx([rate, -rate])
    assert sorted(mode.stable for mode in found) == [False, True]


def test_dampers_in_one_place_put_parts_out_of_phase():
    """Then shapes are complex, and A x = lambda x still."""
    craft = chain(4, 10.0, "fixed")
    from dataclasses import replace

    last = craft.bodies[-1]
    craft = gs.Spacecraft.build("one", [*craft.bodies[:-1], replace(last, joint=replace(last.joint, damping=2.0))])
    linear = gs.linearize(craft)
    for mode in gs.modes(linear):
        assert np.abs(linear.A @ mode.state - mode.eigenvalue * mode.state).max() < 1e-10 * np.abs(mode.state).max()
        assert mode.damping > 0.0
    assert max(np.abs(mode.shape.imag).max() for mode in gs.modes(linear)) > 1e-2


def test_the_craft_swings_in_its_mode_and_comes_back():
    """A small start along a shape, at rest: after one period the nonlinear run is back where it was."""
    panel = gs.Joint("p", "universal", "bus", (0.5, 0.2, 0), TILT, (0, 0, 1), (0, 1, 0), stiffness=4.0)
    craft = gs.Spacecraft.build(
        "flex",
        [gs.Body("bus", 6.0, (0.1, 0.2, 0), (9, 10, 12)), gs.Body("k", 4.0, (0.6, 0.1, 0), (0.2, 0.9, 1.0), panel)],
    )
    found = gs.modes(craft)
    for mode in found.of("oscillating"):
        times, q = found.motion(mode, size=1e-4, cycles=1, frames=41)
        assert times[-1] == pytest.approx(1.0 / mode.frequency)
        run = gs.simulate(craft, q[0], None, (0, times[-1]), save_at=times, rtol=1e-12, atol=1e-15)
        apart = [np.abs(gs.configuration_difference(craft, a, b)).max() for a, b in zip(q, run.q, strict=True)]
        assert max(apart) < 1e-7  # the amplitude's square and a little more
        largest = max(np.abs(gs.configuration_difference(craft, gs.neutral(craft), x)).max() for x in q)
        assert largest == pytest.approx(1e-4, rel=1e-3)


def test_a_craft_that_accelerates_has_no_modes():
    craft = chain(3, 5.0)
    with pytest.raises(ValueError, match="in no equilibrium: 'root vx' accelerates by 2, .*gs.equilibrium"):
        gs.modes(craft, environment=gs.environment.uniform_gravity((2.0, 0, 0)))
    with pytest.raises(TypeError, match="give nothing else"):
        gs.modes(gs.linearize(craft), gs.neutral(craft))


def test_a_mode_is_written_as_a_page(tmp_path):
    craft = gs.Spacecraft.build("<b>odd</b>", chain(3, 5.0).bodies)
    found = gs.modes(craft)
    page = found.to_html(found.of("oscillating")[0], tmp_path / "mode.html", cycles=1).read_text()
    assert "<title>&lt;b&gt;odd&lt;/b&gt;: oscillating mode, 0." in page and "<b>odd" not in page
    wheel = gs.Spacecraft.build("w", [gs.Body("bus", 9.0, inertia=(2, 3, 4)), gs.Wheel("rw", "bus", (0, 0, 1), 0.1)])
    speeds = gs.modes(wheel)
    with pytest.raises(ValueError, match="a mode of kind 'constant' moves no coordinate of w"):
        speeds.to_html(speeds.of("constant")[0], tmp_path / "none.html")


def test_the_table_says_what_moves():
    text = str(gs.modes(chain(3, 5.0, "prismatic")))
    assert text.splitlines()[0].split() == ["Hz", "damping", "mode"]
    assert "rigid: m0 33%, m1 33%, m2 33%" in text and "oscillating: " in text
