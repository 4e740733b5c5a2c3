"""Finite elements against closed forms: beams, rods, plates, trusses; what a reduced mesh keeps of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from scipy.integrate import trapezoid
from scipy.optimize import brentq

from gyrostat.structures.beam_mesh import beam_mesh
from gyrostat.structures.plate_mesh import PlateSection, plate_mesh
from gyrostat.structures.reduction import reduced
from gyrostat.structures.sections import ALUMINIUM, Section, box, rectangle, tube
from gyrostat.structures.truss_mesh import Bar, truss_mesh

L, RHO_A, EI_Y, EI_Z, GJ, EA = 6.0, 10.0 / 6.0, 150.0, 300.0, 80.0, 1e6
THIN = Section(EA, EI_Y, EI_Z, GJ, RHO_A)
THICK = Section(EA, EI_Y, EI_Z, GJ, RHO_A, 0.01, 0.02)


def clamped_roots(count):
    """Of cos x cosh x = -1, divided by cosh x."""
    return np.array(
        [brentq(lambda x: np.cos(x) + 1 / np.cosh(x), k * np.pi, (k + 1) * np.pi, xtol=1e-14) for k in range(count)]
    )


def modal_mass(r):
    return np.einsum("i,iak,ial->kl", r.masses, r.Phi, r.Phi)


@pytest.mark.parametrize("motion, stiffness", [("y", EI_Z), ("z", EI_Y)])
def test_a_clamped_beam_rings_at_the_roots_of_its_closed_form(motion, stiffness):
    exact = clamped_roots(4) ** 2 * np.sqrt(stiffness / (RHO_A * L**4))
    errors = []
    for elements in (10, 20):
        found = np.sqrt(reduced(beam_mesh(L, THIN, elements, {"tip": L}), 4, motions=[motion]).squares)
        errors.append(found / exact - 1)
    assert (errors[1] > 0).all() and (errors[1] < [1e-7, 3e-6, 3e-5, 1e-4]).all()  # from above, as shapes are a subset
    np.testing.assert_allclose(np.log2(errors[0][1:] / errors[1][1:]), 4.0, atol=0.15)  # cubics: fourth order


@pytest.mark.parametrize("motion, speed", [("twist", np.sqrt(GJ / 0.03)), ("stretch", np.sqrt(EA / RHO_A))])
def test_a_clamped_rod_rings_at_odd_quarters_of_its_waves(motion, speed):
    found = np.sqrt(reduced(beam_mesh(L, THICK, 20, {"tip": L}), 3, motions=[motion]).squares)
    np.testing.assert_allclose(found, np.pi / 2 * np.array([1, 3, 5]) * speed / L, rtol=2e-5)


def test_sections_with_inertia_of_their_own_slow_bending_as_rayleigh_says():
    """Rayleigh's quotient with the thin beam's shape: w^2 falls by rho I int y'^2 / (rho A int y^2), to first order."""
    small = Section(EA, EI_Y, EI_Z, GJ, RHO_A, 1e-5, 1e-5)
    thin, slow = (reduced(beam_mesh(L, s, 30, {"tip": L}), 1, motions=["y"]) for s in (THIN, small))
    x = 1.8751040687119611
    c = (np.cos(x) + np.cosh(x)) / (np.sin(x) + np.sinh(x))
    s = np.linspace(0.0, 1.0, 4001)
    y = np.cosh(x * s) - np.cos(x * s) - c * (np.sinh(x * s) - np.sin(x * s))
    slope = x * (np.sinh(x * s) + np.sin(x * s) - c * (np.cosh(x * s) - np.cos(x * s)))
    share = 1e-5 / RHO_A * trapezoid(slope**2, s) / trapezoid(y**2, s) / L**2
    np.testing.assert_allclose(1 - slow.squares[0] / thin.squares[0], share, rtol=1e-3)


def test_gauss_points_hold_the_mass_matrix_the_inertia_and_the_centre():
    r = reduced(beam_mesh(L, THICK, 7, {"tip": L, "mid": 2.3}), 9)
    np.testing.assert_allclose(modal_mass(r), np.diag(r.modal_masses), atol=1e-13 * r.modal_masses.max())
    x, y, z = r.positions.T
    np.testing.assert_allclose(r.masses.sum(), RHO_A * L, rtol=1e-13)
    np.testing.assert_allclose(r.masses @ x, RHO_A * L**2 / 2, rtol=1e-13)
    np.testing.assert_allclose([r.masses @ x**2, r.masses @ y**2, r.masses @ z**2], [RHO_A * L**3 / 3, 0.12, 0.06])
    assert np.abs(r.masses @ (x * y)) + np.abs(r.masses @ (y * z)) < 1e-12


def test_effective_masses_sum_to_what_is_not_at_the_root():
    """All modes of y: the mass less what the clamped unknowns of the first element hold, and all of its inertia."""
    mesh = beam_mesh(L, THIN, 12, {"tip": L})
    r = reduced(mesh, len(mesh.families["y"]), motions=["y"])
    pushes = np.einsum("i,ik->k", r.masses, r.Phi[:, 1])
    turns = np.einsum("i,i,ik->k", r.masses, r.positions[:, 0], r.Phi[:, 1])
    # the part of a rigid shift that shapes with a clamped root cannot follow, in the metric of mass
    T, root = mesh.translation[1::3][:, mesh.families["y"]].toarray(), np.ones(len(mesh.masses))
    root = root - T @ np.linalg.lstsq(np.sqrt(mesh.masses)[:, None] * T, np.sqrt(mesh.masses), rcond=None)[0]
    left = mesh.masses @ root**2
    np.testing.assert_allclose(np.sum(pushes**2 / r.modal_masses), RHO_A * L - left, rtol=1e-9)
    assert 0 < left < RHO_A * L / 12
    np.testing.assert_allclose(np.sum(turns**2 / r.modal_masses), RHO_A * L**3 / 3, rtol=1e-5)


def test_foreshortening_is_half_the_integral_of_the_slope_squared():
    r = reduced(beam_mesh(L, THIN, 30, {"tip": L, "mid": 2.5}), 3, motions=["y"])
    fine = beam_mesh(L, THIN, 30, {"tip": L})
    x = np.linspace(0.0, L, 6001)
    from gyrostat.structures.beam_mesh import _Fields

    slopes = _Fields(np.linspace(0.0, L, 31)).rows("y", x, 1)
    own = reduced(fine, 3, motions=["y"])
    u = np.linalg.lstsq(fine.translation[1::3].toarray(), own.Phi[: len(fine.points), 1], rcond=None)[0]
    s = slopes @ u
    for k in range(3):
        for m in range(3):
            exact = -trapezoid(s[:, k] * s[:, m], x)
            np.testing.assert_allclose(own.G[-1, 0, k, m], exact, rtol=2e-6, atol=1e-6)
    spin = -np.einsum("i,i,ikl->kl", r.masses, r.positions[:, 0], r.G[:, 0])
    np.testing.assert_allclose(spin[0, 0] / r.modal_masses[0], 1.193336, rtol=1e-5)  # the uniform beam's


def test_a_spinning_beam_stiffens_as_the_rotating_beam_does():
    """Slowest frequency in the plane of spin for spin W, times T = sqrt(rhoA L^4 / EI): Wright and others 1982."""
    r = reduced(beam_mesh(L, THIN, 40, {"tip": L}), 8, motions=["y"])
    T = np.sqrt(RHO_A * L**4 / EI_Z)
    K, M = np.diag(r.squares * r.modal_masses), np.diag(r.modal_masses)
    spin = -np.einsum("i,i,ikl->kl", r.masses, r.positions[:, 0], r.G[:, 0])
    for W, inside, outside in ((1.0, 3.5432, 3.6816), (3.0, 3.7435, 4.7973), (10.0, 5.0498, 11.2027)):
        stiff = K + (W / T) ** 2 * spin
        slowest = [np.linalg.eigvals(np.linalg.solve(M, A)).real.min() for A in (stiff - (W / T) ** 2 * M, stiff)]
        np.testing.assert_allclose(np.sqrt(slowest) * T, [inside, outside], rtol=3e-5)


def test_equal_frequencies_move_along_the_axes():
    r = reduced(beam_mesh(L, tube(0.05, 0.002, ALUMINIUM), 10, {"tip": L}), 4)
    tip = np.abs(r.Phi[-1])
    np.testing.assert_allclose(r.squares[0], r.squares[1], rtol=1e-9)
    np.testing.assert_allclose(np.sort(tip[1:, :2].ravel()), [0, 0, 1, 1], atol=1e-7)


def test_craig_bampton_carries_a_heavy_payload_where_clamped_modes_do_not():
    """20 kg and 2 kg m^2 on the tip, against the whole mesh, unreduced: 2 + 4 shapes give the first three to 1e-4."""
    mesh = beam_mesh(L, THIN, 80, {"tip": L})

    def slowest(K, M, y, turn):
        M = M + 20.0 * np.outer(y, y) + 2.0 * np.outer(turn, turn)
        return np.sqrt(1 / linalg.eigh(M, K, eigvals_only=True)[::-1][:3])

    def loaded(r):
        return slowest(np.diag(r.squares * r.modal_masses), np.diag(r.modal_masses), r.Phi[-1, 1], r.Psi[-1, 2])

    own, tip = mesh.families["y"], mesh.stations["tip"]
    K, M = (A.toarray()[np.ix_(own, own)] for A in (mesh.K, mesh.M))
    whole = slowest(K, M, tip.displacement.toarray()[1, own], tip.rotation.toarray()[2, own])
    few, clamped = (
        loaded(reduced(mesh, n, motions=["y"], interfaces=at)) / whole - 1
        for n, at in ((4, {"tip": ("y", "rz")}), (12, None))
    )
    assert (few > -1e-9).all() and (few < [1e-7, 1e-5, 1e-4]).all()
    np.testing.assert_allclose(clamped[2], 0.05, atol=0.01)


@pytest.mark.parametrize("at", [L, 2.5, 2.3])
def test_a_station_that_is_held_holds_nothing_beside_it(at):
    """Two unknowns of each bending plane, one of twist and one of stretch."""
    assert len(beam_mesh(L, THICK, 12, {"here": at}).stations["here"].grip) == 6


def test_craig_bampton_holds_several_interfaces_and_bends_under_static_loads_exactly():
    """A force on an interface bends by y = F x^2 (3 L - x) / (6 EI) whatever the number of other shapes."""
    mesh = beam_mesh(L, THICK, 20, {"tip": L, "mid": 2.3})
    r = reduced(mesh, 2, interfaces={"tip": ("y", "z", "rz"), "mid": ("y",)})
    assert len(r.squares) == 6
    bend = r.Phi[:, 1] @ (r.Phi[r.stations["tip"], 1] / (r.squares * r.modal_masses))
    x = r.positions[:, 0]
    np.testing.assert_allclose(bend, x**2 * (3 * L - x) / (6 * EI_Z), atol=1e-12)
    np.testing.assert_allclose(modal_mass(r), np.diag(r.modal_masses), atol=1e-12 * r.modal_masses.max())


SHEET = PlateSection(1.0, 12.0, 0.3, 1.0)


def test_a_simply_supported_plate_rings_at_its_closed_form():
    a, b = 1.5, 1.0
    mesh = plate_mesh(a, b, SHEET, (8, 6), {}, dict.fromkeys(("x0", "x1", "y0", "y1"), "simple"))
    exact = np.sort([np.pi**2 * ((i / a) ** 2 + (j / b) ** 2) for i in range(1, 5) for j in range(1, 4)])[:4]
    found = np.sqrt(reduced(mesh, 4, motions=["normal"]).squares)
    assert (found >= exact).all()
    np.testing.assert_allclose(found, exact, rtol=1e-3)


def test_a_cantilever_plate_agrees_with_leissa_and_converges_from_above():
    """Square, nu = 0.3, w a^2 sqrt(rho h / D): Leissa 1969, table 4.53 (Barton's series, good to about half a
    percent): 3.494, 8.547, 21.44, 27.46, 31.17; finer solutions since: 3.471, 8.507, 21.285, 27.199, 30.96.
    """
    found = [
        np.sqrt(reduced(plate_mesh(1, 1, SHEET, (n, n), {}, {"x0": "clamped"}), 5, motions=["normal"]).squares)
        for n in (3, 6, 12)
    ]
    assert (found[0] > found[1]).all() and (found[1] > found[2]).all()
    np.testing.assert_allclose(found[2], [3.494, 8.547, 21.44, 27.46, 31.17], rtol=1e-2)
    np.testing.assert_allclose(found[2], [3.471, 8.507, 21.285, 27.199, 30.96], rtol=3e-4)


def test_a_narrow_plate_without_poissons_ratio_is_a_beam():
    a, b = 6.0, 0.5
    mesh = plate_mesh(a, b, PlateSection(300.0, 1e7, 0.0, 2.0), (12, 2), {"tip": (a, 0.0)}, {"x0": "clamped"})
    r = reduced(mesh, 2, motions=["normal"])
    np.testing.assert_allclose(r.squares[0], clamped_roots(1) ** 4 * 300.0 / 2.0 / a**4, rtol=1e-6)
    bent = reduced(beam_mesh(a, THIN, 20, {"tip": a}), 1, motions=["y"])
    np.testing.assert_allclose(r.G[-1, 0, 0, 0], bent.G[-1, 0, 0, 0], rtol=1e-4)  # it is as short as a beam
    np.testing.assert_allclose(modal_mass(r), np.diag(r.modal_masses), atol=1e-11 * r.modal_masses.max())


def test_a_long_truss_is_a_beam_of_its_longerons():
    """EI = 3/2 EA r^2 of three longerons on a circle of radius r; shear of the lattice makes it slower."""
    length, radius, bays = 30.0, 0.2, 60
    light = Bar(2e6, 1e-6)
    mesh = truss_mesh(length, bays, radius, 3, Bar(1e6, 0.5), light, light, 0.0, {"tip": bays})
    r = reduced(mesh, 3)
    beam = clamped_roots(1)[0] ** 2 * np.sqrt(1.5 * 1e6 * radius**2 / (1.5 * length**4))
    np.testing.assert_allclose(np.sqrt(r.squares[:2]), beam, rtol=5e-3)
    assert (np.sqrt(r.squares[:2]) < beam).all()
    np.testing.assert_allclose(r.Phi[-1, 1, 0] ** 2 + r.Phi[-1, 2, 0] ** 2, 1.0, rtol=2e-2)
    np.testing.assert_allclose(r.G[-1, 0, 0, 0] * length, -1.1618, rtol=2e-2)  # the beam's foreshortening
    np.testing.assert_allclose(modal_mass(r), np.diag(r.modal_masses), atol=1e-10 * r.modal_masses.max())


def test_a_square_truss_stands():
    mesh = truss_mesh(6.0, 8, 0.3, 4, Bar(1e6, 0.5), Bar(1e6, 0.1), Bar(1e6, 0.1), 0.05, {"tip": 8, "mid": 4})
    r = reduced(mesh, 4, interfaces={"tip": ("x", "y", "z", "rx", "ry", "rz")})
    assert len(r.squares) == 10 and (r.squares > 0).all()
    np.testing.assert_allclose(r.masses.sum() - 0.05 * 36, 4 * 6 * 0.5 + 0.1 * _diagonal_length(), rtol=1e-12)


def _diagonal_length():
    side, bay = 0.3 * np.sqrt(2), 0.75
    return 9 * 4 * side + 9 * 0.6 + 8 * 4 * np.hypot(side, bay)


def test_sections_have_the_moments_of_their_shapes():
    E, G = ALUMINIUM.young, ALUMINIUM.shear
    solid = tube(0.03, 0.03, ALUMINIUM)
    np.testing.assert_allclose([solid.EIy, solid.GJ], [E * np.pi / 4 * 0.03**4, G * np.pi / 2 * 0.03**4])
    np.testing.assert_allclose(box(0.1, 0.2, 0.001, ALUMINIUM).EIy, E * (0.1 * 0.2**3 - 0.098 * 0.198**3) / 12)
    square = rectangle(0.02, 0.02, ALUMINIUM)
    np.testing.assert_allclose(square.GJ / G, 0.1405770 * 0.02**4, rtol=1e-6)  # Saint-Venant
    thin = box(0.1, 0.1, 0.0005, ALUMINIUM)
    np.testing.assert_allclose(thin.GJ / G, 0.0995**3 * 0.0005, rtol=1e-12)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tube(0.05, 0.06, ALUMINIUM), "thickness 0.06 m; expected above zero, at most the radius"),
        (lambda: Section(1.0, 1.0, -2.0, 1.0, 1.0), "EIz is -2.0; expected a number above zero"),
        (lambda: reduced(beam_mesh(L, THIN, 4, {"tip": L}), 2, motions=["w"]), "there is no 'w'"),
        (lambda: reduced(beam_mesh(L, THIN, 4, {"tip": L}), 2, {"tp": ("y",)}), "Did you mean 'tip'"),
        (lambda: reduced(beam_mesh(L, THIN, 4, {"tip": L}), 2, {"tip": ("yy",)}), "is no motion"),
        (lambda: reduced(beam_mesh(L, THIN, 2, {"tip": L}), 40), "40 modes and 0 interface motions are asked for"),
        (lambda: reduced(beam_mesh(L, THIN, 2, {"tip": L}), 2, motions=["twist"]), "moves mass in 0 ways"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()
