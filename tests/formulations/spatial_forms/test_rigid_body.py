"""The four forms of one rigid body, by equation number; negative tests for what is printed wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gyrostat.algebra import cross, cross_motion_matrix, exp_so3, skew
from gyrostat.formulations.spatial_forms import (
    acceleration,
    coriolis,
    passivity_matrix,
    shift,
    spatial_inertia,
    velocity_product,
)
from gyrostat.formulations.spatial_forms.coriolis_matrices import CHOICES, SKEW, dissipation, double_cross, gyroscopic
from gyrostat.formulations.spatial_forms.paper.rigid_body import FORMS
from gyrostat.formulations.spatial_forms.transport import (
    dyadic_rate,
    spatial_dyadic_rate,
    spatial_vector_rate,
    turning,
    vector_rate,
)
from random_trees import random_inertia, random_rotation

TINY = 1e-13  # relative: round-off of a dozen products
ZERO3 = np.zeros((3, 3))


class Case:
    """A body, a state and a force, in one frame."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.m = rng.uniform(1, 50)
        self.J_c = random_inertia(rng, self.m)
        self.r = rng.normal(size=3)
        self.V_o, self.F_c = rng.normal(size=6), rng.normal(size=6)
        self.w = self.V_o[:3]
        self.T = shift(self.r)
        self.V_c, self.F_o = self.T @ self.V_o, self.T.T @ self.F_c
        self.M_c, self.M_o = spatial_inertia(self.m, self.J_c), spatial_inertia(self.m, self.J_c, self.r)
        self.Omega = turning(self.w)

    def of(self, number):
        """V, F, M of a form."""
        return (self.V_c, self.F_c, self.M_c) if number in (1, 2) else (self.V_o, self.F_o, self.M_o)


@pytest.fixture(params=range(6))
def case(request):
    return Case(request.param)


def skew_part(A):
    return np.abs(A + A.T).max() / max(np.abs(A).max(), 1e-300)


# ---- transport, (1), (2), (12), (18), (32)


def rate_by_difference(f, h=1e-5):
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)  # error h^4 = 1e-20 of the size of f


def test_eq1_and_2_transport_of_vectors_and_dyadics(case):
    """Inertial components R(t) x(t) of what changes in the body at known rates."""
    rng = case.rng
    R0, w_B = random_rotation(rng), rng.normal(size=3)
    Q, Qdot, T, Tdot = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))

    def R(t):
        return R0 @ exp_so3(w_B * t)

    seen = rate_by_difference(lambda t: R(t) @ (Q + Qdot * t))
    np.testing.assert_allclose(R0 @ vector_rate(Q, Qdot, w_B), seen, atol=1e-9)
    seen = rate_by_difference(lambda t: R(t) @ (T + Tdot * t) @ R(t).T)
    np.testing.assert_allclose(R0 @ dyadic_rate(T, Tdot, w_B) @ R0.T, seen, atol=1e-9)


def test_eq12_18_and_32_spatial_rates(case):
    """Blocks of the spatial rates are the rates of the blocks; T and M are fixed in the body."""
    for M in (case.M_c, case.M_o, case.T):
        rate = spatial_dyadic_rate(M, case.w)
        for i, j in np.ndindex(2, 2):
            block = np.s_[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
            np.testing.assert_allclose(rate[block], dyadic_rate(M[block], ZERO3, case.w), atol=1e-12 * np.abs(M).max())
    R, W = skew(case.r), skew(case.w)
    np.testing.assert_allclose(spatial_dyadic_rate(case.T, case.w)[3:, :3], R @ W - W @ R, atol=1e-13)
    V_B = case.rng.normal(size=6)
    np.testing.assert_allclose(spatial_vector_rate(case.V_o, V_B, case.w), V_B + case.Omega @ case.V_o, atol=1e-14)


# ---- inertia and shift, (10), (24)-(28), (31)


def test_eq24_to_28_velocity_and_torque_shift(case):
    V_c, F_o, r = case.V_c, case.F_o, case.r
    np.testing.assert_allclose(V_c[3:], case.V_o[3:] + cross(case.w, r), atol=1e-14)  # (24)
    np.testing.assert_allclose(F_o[:3], case.F_c[:3] + cross(r, case.F_c[3:]), atol=1e-14)  # (25)
    assert F_o @ case.V_o == pytest.approx(case.F_c @ V_c, rel=1e-12)  # power does not depend on the point


def test_eq31_inertia_about_a_point_is_a_sum_over_point_masses():
    rng = np.random.default_rng(5)
    masses, points = rng.uniform(0.1, 2, size=12), rng.normal(size=(12, 3))
    m, c = masses.sum(), masses @ points / masses.sum()
    J_c = sum(k * ((p - c) @ (p - c) * np.eye(3) - np.outer(p - c, p - c)) for k, p in zip(masses, points, strict=True))
    J_o = sum(k * (p @ p * np.eye(3) - np.outer(p, p)) for k, p in zip(masses, points, strict=True))
    M_o = spatial_inertia(m, J_c, c)
    np.testing.assert_allclose(M_o[:3, :3], J_o, rtol=1e-13)
    np.testing.assert_allclose(M_o, shift(c).T @ spatial_inertia(m, J_c) @ shift(c), atol=1e-12)
    assert np.linalg.eigvalsh(M_o).min() > 0
    printed = J_c - skew(c) @ skew(c)  # (31) as printed lacks the mass
    assert np.abs(printed - J_o).max() > 0.1


# ---- the four forms


def test_forms_give_one_acceleration(case):
    """(29): V_c^N = T V_o^N + T^N V_o, and (18): V^N = V^B + Omega V."""
    A = {k: acceleration(k, case.m, case.J_c, case.r, *case.of(k)[:2]) for k in FORMS}
    T_N = spatial_dyadic_rate(case.T, case.w)
    np.testing.assert_allclose(A[1], A[2] + case.Omega @ case.V_c, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(A[3], A[4] + case.Omega @ case.V_o, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(A[1], case.T @ A[3] + T_N @ case.V_o, rtol=1e-10, atol=1e-11)


def test_eq36_as_printed_with_body_rates_loses_the_velocity_of_the_point(case):
    """The B labels of (36) must be N: taken literally, the acceleration of o is off by w x v_o."""
    literal = acceleration(3, case.m, case.J_c, case.r, case.V_o, case.F_o)
    true = acceleration(4, case.m, case.J_c, case.r, case.V_o, case.F_o)
    np.testing.assert_allclose((literal - true)[3:], cross(case.w, case.V_o[3:]), rtol=1e-8, atol=1e-10)
    assert np.abs(literal - true).max() > 1e-3


@pytest.mark.parametrize("number", FORMS)
@pytest.mark.parametrize("choice", CHOICES)
def test_eq17_23_35_41_every_choice_has_the_same_product(case, number, choice):
    V, _, M = case.of(number)
    C = coriolis(M, V, choice, inertial_rates=FORMS[number].inertial_rates)
    expected = velocity_product(number, case.m, case.J_c, case.r, V)
    np.testing.assert_allclose(C @ V, expected, atol=TINY * np.abs(M).max() * (V @ V))


def test_eq16_22_33_39_the_dyadics_as_they_are_derived(case):
    m, J, r, w = case.m, case.J_c, case.r, case.w
    W, R, Om = skew(w), skew(r), case.Omega
    scale = {"atol": TINY * np.abs(case.M_o).max() * 10}
    C1 = coriolis(case.M_c, case.V_c, "momentum", inertial_rates=True)
    C2 = coriolis(case.M_c, case.V_c, "momentum")
    C3 = coriolis(case.M_o, case.V_o, "momentum", inertial_rates=True)
    C4 = coriolis(case.M_o, case.V_o, "momentum")
    np.testing.assert_allclose(C1, Om @ case.M_c - case.M_c @ Om, **scale)  # (16)
    np.testing.assert_allclose(C2, Om @ case.M_c, **scale)  # (22)
    T_N = spatial_dyadic_rate(case.T, w)
    np.testing.assert_allclose(C3, case.T.T @ case.M_c @ T_N + case.T.T @ C1 @ case.T, **scale)  # (30)
    explicit = np.block([[W @ J - J @ W - m * R @ W @ R + m * R @ R @ W, ZERO3], [-m * W @ R + m * R @ W, ZERO3]])
    np.testing.assert_allclose(C3, explicit, **scale)  # (33)
    np.testing.assert_allclose(C4, C3 + case.M_o @ Om, **scale)  # (38)
    explicit = np.block([[W @ J - m * R @ W @ R, m * R @ W], [-m * W @ R, m * W]])
    np.testing.assert_allclose(C4, explicit, **scale)  # (39)


def test_eq42_to_44_the_jacobi_identity_with_its_mass(case):
    m, r, w, v = case.m, case.r, case.w, case.V_o[3:]
    left = m * cross(r, cross(w, v))
    np.testing.assert_allclose(left, -m * cross(w, cross(v, r)) - m * cross(v, cross(r, w)), atol=1e-12)
    np.testing.assert_allclose(left, m * cross(w, cross(r, v)) - m * cross(v, cross(r, w)), atol=1e-12)
    assert np.abs(left + cross(w, cross(v, r)) + cross(v, cross(r, w))).max() > 1e-3  # as printed, without m


def test_eq45_to_47_lie_form_has_a_plus(case):
    """C4 = +Omega_V M_o = -ad_V^T M_o; with the printed sign the product is wrong. It is not skew."""
    V, M = case.V_o, case.M_o
    Omega_V = np.block([[skew(V[:3]), skew(V[3:])], [ZERO3, skew(V[:3])]])
    C = coriolis(M, V, "lie")
    np.testing.assert_allclose(C, Omega_V @ M, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(C, -cross_motion_matrix(V).T @ M, atol=1e-12 * np.abs(M).max())
    expected = velocity_product(4, case.m, case.J_c, case.r, V)
    assert np.abs(-Omega_V @ M @ V - expected).max() > 1e-2 * np.abs(expected).max()
    assert skew_part(passivity_matrix(M, C, case.w)) > 0.01


# ---- skewness


@pytest.mark.parametrize("number", FORMS)
@pytest.mark.parametrize("choice", SKEW)
def test_proposition_2_corrected(case, number, choice):
    """Body rates: C itself is skew. Inertial rates: C + M Omega is. In both M' - 2C is, for every vector s."""
    V, _, M = case.of(number)
    inertial = FORMS[number].inertial_rates
    C = coriolis(M, V, choice, inertial_rates=inertial)
    assert skew_part(C + (M @ case.Omega if inertial else 0.0)) < TINY
    assert skew_part(passivity_matrix(M, C, case.w, inertial_rates=inertial)) < TINY


def test_proposition_2_as_printed_is_false(case):
    """A skew C with inertial rates does not make M' - 2C skew, since M' = Omega M - M Omega is symmetric."""
    M_N = spatial_dyadic_rate(case.M_o, case.w)
    np.testing.assert_allclose(M_N, M_N.T, atol=1e-12 * np.abs(M_N).max())
    assert np.abs(M_N).max() > 1e-2
    C = coriolis(case.M_o, case.V_o, "skew")  # skew, and right with body rates
    assert skew_part(passivity_matrix(case.M_o, C, case.w, inertial_rates=True)) > 0.01


def test_eq52_as_printed_is_symmetric(case):
    """C1 = M_c^N is symmetric; s^T (M' - 2C) s = -s^T M' s is not zero. (52') is diag(w^ J_c, 0)."""
    C1 = coriolis(case.M_c, case.V_c, "momentum", inertial_rates=True)
    np.testing.assert_allclose(C1, C1.T, atol=1e-12 * np.abs(C1).max())
    s = case.rng.normal(size=6)
    assert abs(s @ passivity_matrix(case.M_c, C1, case.w, inertial_rates=True) @ s) > 1e-3
    mended = coriolis(case.M_c, case.V_c, "skew", inertial_rates=True)
    expected = np.block([[skew(case.w) @ case.J_c, ZERO3], [ZERO3, ZERO3]])
    np.testing.assert_allclose(mended, expected, atol=1e-12 * case.m)


def test_eq54_and_55_as_printed_are_not_skew(case):
    """The sign of J w^ must be plus; the products cannot tell, as J (w x w) = 0."""
    m, W, R = case.m, skew(case.w), skew(case.r)
    J_o = case.M_o[:3, :3]
    printed = np.block([[W @ case.J_c - case.J_c @ W, ZERO3], [ZERO3, m * W]])
    assert skew_part(printed[:3, :3]) > 0.1
    np.testing.assert_allclose(printed @ case.V_c, velocity_product(2, m, case.J_c, None, case.V_c), atol=1e-12 * m)
    printed = np.block([[W @ J_o - J_o @ W, m * R @ W], [-m * W @ R, m * W]])
    assert skew_part(printed[:3, :3]) > 0.1
    expected = velocity_product(4, m, case.J_c, case.r, case.V_o)
    np.testing.assert_allclose(printed @ case.V_o, expected, atol=1e-12 * np.abs(J_o).max())
    mended = np.block([[W @ J_o + J_o @ W, m * R @ W], [-m * W @ R, m * W]])
    np.testing.assert_allclose(coriolis(case.M_o, case.V_o, "skew"), mended, atol=1e-12 * np.abs(J_o).max())


def test_eq58_kirchhoff_form(case):
    m, r, w, v = case.m, case.r, case.w, case.V_o[3:]
    J_o = case.M_o[:3, :3]
    off = -m * skew(cross(w, r)) - m * skew(v)
    explicit = np.block([[-skew(J_o @ w) + m * skew(cross(v, r)), off], [off, ZERO3]])
    np.testing.assert_allclose(coriolis(case.M_o, case.V_o, "kirchhoff"), explicit, atol=1e-12 * np.abs(J_o).max())


@pytest.mark.parametrize("number", FORMS)
@pytest.mark.parametrize("choice", CHOICES)
def test_footnote_6_every_choice_conserves_energy(case, number, choice):
    """V^T (M' - 2C) V = 0, skew or not."""
    V, _, M = case.of(number)
    inertial = FORMS[number].inertial_rates
    C = coriolis(M, V, choice, inertial_rates=inertial)
    assert abs(dissipation(M, C, V, inertial_rates=inertial)) < 1e-12 * np.abs(M).max() * np.linalg.norm(V) ** 3


def test_propositions_1_and_3_and_the_gyroscopic_identity(case):
    a, b, c = case.rng.normal(size=(3, 3))
    A, B = skew(a), skew(b)
    np.testing.assert_allclose(A @ B @ B @ a, -B @ A @ A @ b, atol=1e-13)
    np.testing.assert_allclose(cross(a, cross(b, c)), double_cross(a, b, c), atol=1e-13)
    np.testing.assert_allclose(gyroscopic(case.J_c, a), A @ case.J_c + case.J_c @ A, atol=1e-12 * case.m)


def test_kirchhoff_choice_cancels_at_orbital_speed():
    """Why "skew" is the default: (58) holds v_o, and at 7.5 km/s its terms are five orders larger than their sum."""
    case = Case(1)
    V = np.concatenate([1e-3 * case.w, [7500.0, 0.0, 0.0]])
    small, large = (np.abs(coriolis(case.M_o, V, choice)).max() for choice in ("skew", "kirchhoff"))
    assert large > 1e4 * small


# ---- motion


def test_all_four_forms_integrate_to_one_motion_with_its_momenta_and_energy():
    """Free tumbling for ten seconds. Forms 1 and 3 in inertial components, with the inertia turned along; 2 and 4 in
    body ones.
    """
    case = Case(2)
    m, J_B, r_B = case.m, case.J_c, case.r
    V0 = case.V_o

    def motion(number):
        which = FORMS[number]

        def rhs(_, y):
            R, V = y[:9].reshape(3, 3), y[12:]
            D = R if which.inertial_rates else np.eye(3)  # components of this form from body components
            J, r = D @ J_B @ D.T, D @ r_B
            Vdot = acceleration(number, m, J, None if which.about_com else r, V, np.zeros(6))
            to_N = np.eye(3) if which.inertial_rates else R
            w_N, v_N = to_N @ V[:3], to_N @ V[3:]
            return np.concatenate([(skew(w_N) @ R).ravel(), v_N, Vdot])

        V = shift(r_B) @ V0 if which.about_com else V0
        p = r_B if which.about_com else np.zeros(3)
        solution = solve_ivp(
            rhs, (0, 10), np.concatenate([np.eye(3).ravel(), p, V]), method="DOP853", rtol=1e-12, atol=1e-12
        )
        y = solution.y[:, -1]
        R, p, V = y[:9].reshape(3, 3), y[9:12], y[12:]
        to_N = np.eye(3) if which.inertial_rates else R
        w, v = to_N @ V[:3], to_N @ V[3:]
        r = R @ r_B
        if not which.about_com:
            p, v = p + r, v + cross(w, r)
        h = R @ J_B @ R.T @ w + m * cross(p, v)
        return np.concatenate([R.ravel(), p, w, v, h, [0.5 * w @ R @ J_B @ R.T @ w + 0.5 * m * v @ v]])

    V_c = shift(r_B) @ V0
    h0 = J_B @ V_c[:3] + m * cross(r_B, V_c[3:])
    E0 = 0.5 * V_c[:3] @ J_B @ V_c[:3] + 0.5 * m * V_c[3:] @ V_c[3:]
    results = [motion(k) for k in FORMS]
    for result in results:
        np.testing.assert_allclose(result, results[0], atol=1e-8 * max(1, np.abs(results[0]).max()))
        np.testing.assert_allclose(result[-4:-1], h0, atol=1e-9 * np.abs(h0).max())
        assert result[-1] == pytest.approx(E0, rel=1e-9)
        np.testing.assert_allclose(result[15:18], V_c[3:], atol=1e-9)  # the centre of mass flies straight on


# ---- bad input


def test_unknown_form_and_choice_are_named():
    case = Case(0)
    with pytest.raises(ValueError, match="form 5 is not known; expected 1, 2, 3 or 4"):
        acceleration(5, case.m, case.J_c, case.r, case.V_o, case.F_o)
    with pytest.raises(ValueError, match="'christoffel' is not known; expected one of momentum, lie, skew"):
        coriolis(case.M_o, case.V_o, "christoffel")
