"""Every function of the algebra alike on floats, on object arrays that hold plain floats, and on mpmath numbers."""

from __future__ import annotations

import numpy as np
import pytest

from exact import exact, mp
from gyrostat import algebra as g
from gyrostat.algebra import Pose, RigidInertia
from gyrostat.algebra.directional import Dual
from gyrostat.algebra.lanes import Lanes

RNG = np.random.default_rng(31)
a, b, phi = RNG.normal(size=(3, 3))
tiny = 1e-9 * a
quat, quat2 = RNG.normal(size=(2, 4))
V, F = RNG.normal(size=(2, 6))
R, R2 = g.rotation(quat), g.rotation(quat2)
X, Y = Pose(R, a), Pose(R2, b)
S = RNG.normal(size=(6, 6))
S = S @ S.T + np.eye(6)
I3 = S[:3, :3]
M = g.rigid_inertia(2.0, a, I3)
L, d = g.ldl(S)

CALLS = {
    "cross": [(a, b)],
    "skew": [(a,)],
    "norm": [(a,)],
    "stumpff": [(1, 0.3), (2, 0.3), (3, 2.0), (4, 2.0)],
    "rotation_about": [(np.eye(3)[1], 0.3), (a / np.linalg.norm(a), 0.3)],
    "rotation_from_rpy": [(a,)],
    "rpy_from_rotation": [(R,), (g.rotation_from_rpy([0.0, np.pi / 2, 0.4]),)],
    "quat_multiply": [(quat, quat2)],
    "quat_conjugate": [(quat,)],
    "quat_normalize": [(quat,)],
    "rotation": [(quat,)],
    "quat_from_rotation": [(R,), (R2,), (np.eye(3),), (np.diag([1.0, -1.0, -1.0]),)],
    "quat_exp": [(phi,), (tiny,)],
    "quat_log": [(quat,), (np.array([1.0, 1e-9, 0, 0]),)],
    "exp_so3": [(phi,), (tiny,)],
    "log_so3": [(R,), (np.eye(3),)],
    "left_jacobian": [(phi,), (tiny,)],
    "left_jacobian_inverse": [(phi,), (tiny,)],
    "angle_between": [(R, R2), (R, R)],
    "frame_along": [(a / np.linalg.norm(a),), (-np.eye(3)[2],)],
    "compose": [(X, Y)],
    "inverse": [(X,)],
    "transform_point": [(X, b)],
    "adjoint": [(X,)],
    "exp_se3": [(V,)],
    "log_se3": [(X,)],
    "cross_motion": [(V, F)],
    "cross_force": [(V, F)],
    "cross_motion_matrix": [(V,)],
    "twist_to_child": [(X, V)],
    "wrench_to_parent": [(X, F)],
    "rigid_inertia": [(2.0, a, I3)],
    "rigid_inertia_to_parent": [(X, M)],
    "inertia_to_parent": [(X, S)],
    "inertia_matrix": [(V,)],
    "inertia_components": [(I3,)],
    "ldl": [(S,)],
    "ldl_solve": [(L, d, V), (L, d, S)],
    "mirror": [(S,)],
    "solve_spd": [(S, V), (S, S), (S[:1, :1], V[:1])],
    "clip": [(a, -0.5, 0.5)],
}
NOT_HERE = {  # tested in test_elementary, or no function of numbers
    *(
        [
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "atan2",
            "exp",
            "log",
            "sqrt",
            "sign",
            "floor",
            "absolute",
            "minimum",
            "maximum",
            "where",
            "is_symbolic",
            "is_zero",
            "snapped",
            "unboxed",
        ]
    ),
    *(["Array", "Pose", "RigidInertia", "IDENTITY"]),
}


def converted(x, convert):
    if isinstance(x, (Pose, RigidInertia)):
        return type(x)(*(converted(part, convert) for part in x))
    if isinstance(x, np.ndarray):
        return convert(x)
    return convert(np.array(x))[()] if isinstance(x, float) else x


def flat(result) -> np.ndarray:
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(part, dtype=object)) for part in parts])


def test_no_function_of_this_layer_is_forgotten():
    modules = {"elementary", "so3", "se3", "inertia", "linear"}
    public = {
        name
        for name in vars(g)
        if getattr(vars(g)[name], "__module__", "").rpartition(".")[2] in modules and not name.startswith("_")
    }
    assert public - NOT_HERE == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_boxed_floats_give_the_same_floats(name):
    function = getattr(g, name)
    for args in CALLS[name]:
        plain = flat(function(*args)).astype(float)
        boxed = flat(function(*(converted(x, lambda x: x.astype(object)) for x in args))).astype(float)
        assert np.abs(plain - boxed).max() <= 4e-16 * max(1.0, np.abs(plain).max())


@pytest.mark.parametrize("name", CALLS)
def test_mpmath_numbers_give_the_same_to_float_accuracy(name):
    function = getattr(g, name)
    for args in CALLS[name]:
        plain = flat(function(*args)).astype(float)
        result = flat(function(*(converted(x, exact) for x in args)))
        assert any(isinstance(x, mp.mpf) for x in result)
        assert np.abs(plain - result.astype(float)).max() <= 4e-14 * max(1.0, np.abs(plain).max())


@pytest.mark.parametrize("x, value", [(Dual(2.0, 0.3), "a"), (Lanes(np.array([2.0, 2.5])), "values")])
def test_numbers_of_numpy_are_compared_with_numbers_of_our_own(x, value):
    """Whichever stands first. NumPy before 2.0 asked for a truth value."""
    three = np.float64(3.0)
    for holds, fails in ((three > x, three <= x), (x < three, x >= three)):
        assert np.all(getattr(g.where(holds, 1.0, 2.0), value) == 1.0)
        assert np.all(getattr(g.where(fails, 1.0, 2.0), value) == 2.0)
