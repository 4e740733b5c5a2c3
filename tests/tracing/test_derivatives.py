"""Derivatives against complex steps, finite differences, mpmath, and Pinocchio."""

import mpmath
import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra, tracing
from gyrostat.algebra import absolute, cos, exp, log, maximum, minimum, sin, sqrt, where
from gyrostat.tracing.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from random_trees import ALL_KINDS, random_spacecraft, random_state

RNG = np.random.default_rng(4)
SCALAR_FUNCTIONS = {
    "sin": (lambda x: sin(3 * x), 0.3),
    "cos": (lambda x: cos(x * x), 0.7),
    "tan": (lambda x: algebra.tan(x), 0.5),
    "asin": (lambda x: algebra.asin(x), 0.4),
    "acos": (lambda x: algebra.acos(x), -0.4),
    "atan": (lambda x: algebra.atan(2 * x), 1.4),
    "exp": (lambda x: exp(-x * x), 0.9),
    "log": (lambda x: log(1 + x * x), 0.9),
    "sqrt": (lambda x: sqrt(2 + x), 0.9),
    "power": (lambda x: (1 + x) ** 2.5 + x**3 + x**-2 + 2.0**x, 0.9),
    "quotient": (lambda x: (1 + x) / (2 + x * x), 0.9),
    "composed": (lambda x: exp(sin(x)) / (1 + sqrt(x)) ** 3, 1.3),
}


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_elementary_functions(name):
    """First and second derivative, against 50-digit numerical ones."""
    function, x = SCALAR_FUNCTIONS[name]
    first = tracing.jacobian_of(function, "x")
    second = tracing.jacobian_of(first, "x")
    with mpmath.workdps(50):
        exact = [float(mpmath.diff(function, mpmath.mpf(x), n)) for n in (1, 2)]
    np.testing.assert_allclose([first(x), second(x)], exact, rtol=1e-13)


def test_functions_that_are_not_smooth():
    def f(x):
        return np.array(
            [
                absolute(x[0]),
                minimum(x[0], x[1]),
                maximum(x[0], x[1]),
                x[0] % x[1],
                algebra.floor(x[1]),
                algebra.sign(x[0]),
            ]
        )

    J = tracing.jacobian_of(f, "x")(np.array([-1.5, 0.4]))
    assert J.tolist() == [[-1, 0], [1, 0], [0, 1], [1, 4], [0, 0], [0, 0]]


def test_guards_keep_derivatives_finite():
    def sinc(x):
        small = absolute(x) < 1e-4
        safe = where(small, 1.0, x)
        return where(small, 1 - x * x / 6, sin(safe) / safe)

    slope = tracing.jacobian_of(sinc, "x")
    assert slope(0.0) == 0.0 and tracing.jacobian_of(slope, "x")(0.0) == pytest.approx(-1 / 3)
    kernel = tracing.compile(slope, None, inputs={"x": ()})
    assert kernel(0.0) == 0.0 and kernel(1e-5) == pytest.approx(-1e-5 / 3)


def test_interpolation_has_the_slope_of_its_interval():
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, -2.0])
    slope = tracing.compile(tracing.jacobian_of(lambda x: tracing.interp(x, xp, fp), "x"), None, inputs={"x": ()})
    assert slope(np.array([-1.0, 0.5, 2.0, 4.0])).tolist() == [0.0, 2.0, -2.0, 0.0]


@pytest.mark.parametrize(("rows", "columns"), [(6, 2), (2, 6), (1, 5), (5, 1)])
def test_forward_and_reverse_agree_with_the_complex_step(rows, columns):
    W = RNG.normal(size=(rows, columns))

    def f(x):
        y = np.array([W[i] @ (x * x) + x[i % columns] / (2 + x[0] * x[0]) for i in range(rows)])
        return y * y

    x, h = RNG.normal(size=columns), 1e-30
    exact = np.stack([f(x + 1j * h * e).imag / h for e in np.eye(columns)], axis=1)
    np.testing.assert_allclose(tracing.jacobian_of(f, "x")(x), exact, rtol=1e-13)
    np.testing.assert_allclose(
        tracing.compile(tracing.jacobian_of(f, "x"), None, inputs={"x": columns})(x), exact, rtol=1e-13
    )


def test_arguments_that_depend_on_each_other_are_kept_apart():
    """d f(x, y)/dx at y = x is a partial derivative, also when both are the same traced values."""
    partial = tracing.jacobian_of(lambda x, y: x * y * y, "x")
    assert tracing.compile(lambda z: partial(2 * z, 2 * z), None, inputs={"z": ()})(1.5) == 9.0
    assert partial(3.0, 3.0) == 9.0
    both = tracing.jacobian_of(lambda x, y: x * y * y, ("x", "y"))(2.0, 3.0)
    assert [float(d) for d in both] == [9.0, 12.0]


def test_several_outputs_and_parameters():
    craft = random_spacecraft(2, links=3, kinds=("revolute",), base="free")
    q, v = random_state(craft, 1)
    d = tracing.jacobian_of(gs.forward_kinematics, "q")(craft, q)
    assert type(d) is gs.kinematics.Poses and d.p_NB.shape == (craft.nbodies, 3, craft.nq)
    slope = tracing.jacobian_of(gs.kinetic_energy, "base.mass")
    (w, u), com = (v[:3], v[3:6]), craft.value("base.com")
    speed = u + np.cross(w, com)
    assert slope(craft, q, v) == pytest.approx(0.5 * speed @ speed)
    with pytest.raises(TypeError, match="no argument 'z'"):
        tracing.jacobian_of(lambda x: x, "z")(1.0)


def central_difference(f, n, h=1e-5):
    columns = []
    for e in np.eye(n):
        columns.append((8 * (f(h * e) - f(-h * e)) - (f(2 * h * e) - f(-2 * h * e))) / (12 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("seed", range(5))
def test_linearization_of_random_trees(seed):
    """Against differences of the equations of motion on the manifold, every joint kind."""
    craft = random_spacecraft(seed, kinds=ALL_KINDS, links=4)
    q, v = random_state(craft, seed, speed=0.5)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    A, B = tracing.linear_motion(craft, q, v, tau)
    nv = craft.nv

    def vdot(dq, dv, dtau):
        return gs.forward_dynamics(craft, gs.step_configuration(craft, q, dq), v + dv, tau + dtau)

    zero = np.zeros(nv)
    expected = np.hstack(
        [central_difference(lambda d, k=k: vdot(*(d if i == k else zero for i in range(3))), nv) for k in range(3)]
    )
    found = np.hstack([A[nv:], B[nv:]])
    np.testing.assert_allclose(found, expected, atol=2e-8 * np.abs(expected).max())

    def drift(d):  # rate of the difference between two motions that start d apart
        h = 1e-3

        def apart(t):
            return gs.configuration_difference(
                craft,
                gs.step_configuration(craft, q, t * v),
                gs.step_configuration(craft, gs.step_configuration(craft, q, d), t * v),
            )

        return (8 * (apart(h) - apart(-h)) - (apart(2 * h) - apart(-2 * h))) / (12 * h)

    np.testing.assert_allclose(A[:nv, :nv], central_difference(drift, nv, 1e-3), atol=1e-6)
    wheels = np.concatenate([np.full(joint.nv, joint.kind != "wheel") for joint in craft.joints]) * 1.0
    assert np.array_equal(A[:nv, nv:], np.diag(wheels)) and not B[:nv].any()


def test_linearization_agrees_with_pinocchio():
    pytest.importorskip("pinocchio")
    from gyrostat.algebra import rotation_about

    pytest.importorskip("pinocchio")
    from gyrostat.verification.peers.pinocchio import Pinocchio

    rng = np.random.default_rng(6)
    bodies = []
    for k in range(5):
        mass, com, inertia = rng.uniform(1, 5), rng.normal(size=3), np.diag(rng.uniform(1, 1.5, 3))
        R, p = rotation_about(np.array([0.6, 0.0, 0.8]), rng.normal()), rng.normal(size=3)
        kind = "revolute" if k else "free"
        parent = None if k == 0 else f"body_{k - 1}"
        place = (p, R) if k else (np.zeros(3), np.eye(3))
        bodies.append(gs.Body(f"body_{k}", mass, com, inertia, gs.Joint(f"joint_{k}", kind, parent, *place)))
    craft = gs.Spacecraft.build("arm", bodies)
    q, v = random_state(craft, 3)
    tau = rng.normal(size=craft.nv)
    A, B = tracing.compile(tracing.linear_motion, craft)(q, v, tau)
    by_q, by_v, by_tau = Pinocchio(craft).forward_dynamics_derivatives(q, v, tau)
    nv = craft.nv
    for found, expected in ((A[nv:, :nv], by_q), (A[nv:, nv:], by_v), (B[nv:], by_tau)):
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(8))
def test_closed_form_equals_differentiation_line_by_line(seed):
    craft = random_spacecraft(seed, kinds=ALL_KINDS, links=5)
    q, v = random_state(craft, seed)
    vdot = np.random.default_rng(seed).normal(size=craft.nv)
    by_q, by_v = inverse_dynamics_derivatives(craft, q, v, vdot)
    T = tracing.jacobian_of(gs.configuration_rate, "v")(craft, q, v)
    line_by_line = tracing.jacobian_of(gs.inverse_dynamics, ("q", "v"))(craft, q, v, vdot)
    for found, expected in ((by_q, line_by_line[0] @ T), (by_v, line_by_line[1])):
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_a_craft_in_place_of_a_name_is_explained():
    """As one writes it who has just written gs.compile(f, craft)."""
    with pytest.raises(TypeError, match=r'wrt is a spacecraft; expected the name.*gs.jacobian_of\(f, "q"\), craft'):
        gs.jacobian_of(gs.mass_matrix, gs.load("client"))
    for wrong in (3.0, [], ["q", 1]):
        with pytest.raises(TypeError, match="expected names of arguments or parameters"):
            gs.jacobian_of(gs.mass_matrix, wrong)
