"""SymPy expressions equal the functions to fifty digits; the page of equations opens offline and holds all of them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import gyrostat as gs
from browser import Browser, needs_browser
from gyrostat.algebra import maximum, where
from gyrostat.export import equations, symbolic
from gyrostat.tracing import interp
from gyrostat.tracing.recording import trace
from gyrostat.tracing.walk import walk
from random_trees import random_spacecraft, random_state

sympy = pytest.importorskip("sympy")


def planar_arm(base="planar"):
    bodies = [gs.Body("hull", 200.0, inertia=(30.0, 30.0, 40.0), joint=gs.Joint("hull", base))]
    for k in (1, 2):
        joint = gs.Joint(f"joint_{k}", parent=bodies[-1].name, position=(0.5 * k, 0.0, 0.0))
        bodies.append(gs.Body(f"link_{k}", 10.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.9, 0.9), joint=joint))
    return gs.Spacecraft.build("two-link arm", bodies, frames=[gs.Frame("tool", "link_2", position=(1.0, 0.0, 0.0))])


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "recip": lambda a: 1 / a,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
}


@pytest.mark.parametrize("seed", range(20))
def test_twenty_craft_of_every_joint_kind_to_fifty_digits(seed):
    craft = random_spacecraft(seed, links=2)
    q, v = random_state(craft, seed)
    found = symbolic(gs.inverse_dynamics, craft).evaluate(50, q=q, v=v, vdot=2.0 * v)["inverse_dynamics"]
    floats = gs.inverse_dynamics(craft, q, v, 2.0 * v)
    scale = np.abs(floats).max()
    np.testing.assert_allclose(np.array(found, dtype=float), floats, rtol=1e-12, atol=1e-13 * scale)
    with mpmath.workdps(60):  # the graph itself, node by node
        inputs = [[mpmath.mpf(float(x)) for x in values] for values in (q, v, 2.0 * v)]
        (exactly,) = walk(trace(gs.inverse_dynamics, craft), inputs, OPERATIONS, mpmath.mpf, "mpmath")
        assert max(abs(a - b) for a, b in zip(found, exactly, strict=True)) < scale * mpmath.mpf(10) ** -48


def test_parameters_are_symbols_and_derivatives_are_those_of_the_graph():
    craft = planar_arm()
    T = symbolic(gs.kinetic_energy, craft, parameters=["link_2.mass"])
    q, v = craft.q({"joint_1": 0.3, "joint_2": -0.8}), np.array([0.1, 0.2, -0.3, 0.4, 0.5])
    energy = T.expanded()
    m = next(s for s in energy.free_symbols if s.name == "m_link2")
    values = {s: x for own, x in (("q", q), ("v", v)) for s, x in zip(T.inputs[own], x, strict=True)}
    slope = float(sympy.diff(energy, m).subs({**values, m: 10.0}))
    ours = gs.jacobian_of(gs.kinetic_energy, "link_2.mass")(craft, q, v)
    assert slope == pytest.approx(float(ours), rel=1e-12)
    assert T.meanings["m_link2"] == ("mass of link_2", "kg") and T.meanings["theta_2"] == ("joint_2", "rad")


def test_choices_and_tables():
    def odd(x):
        a, b = x
        return where((a < b) | (b <= -1.0), maximum(a, b), interp(a, [-1.0, 0.0, 2.0], [3.0, 1.0, 5.0]) + a % b)

    graph = trace(odd, None, inputs={"x": 2})
    expressions = symbolic(odd, None, inputs={"x": 2})
    for x in np.random.default_rng(0).normal(size=(40, 2)):
        assert float(expressions.evaluate(20, x=x)["odd"]) == pytest.approx(float(graph.evaluate(x)[0]), rel=1e-13)


def test_latex_of_a_hinge_is_short():
    body = gs.Body("arm", 2.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.2, 0.3), joint=gs.Joint("hinge"))
    craft = gs.Spacecraft.build("pendulum", [body])
    text = symbolic(gs.mass_matrix, craft, parameters=["arm.mass"]).latex()
    assert "m_{arm}" in text and "align" in text


def test_the_page_and_its_latex_hold_every_quantity(tmp_path):
    found = equations(planar_arm("free"))
    assert found.shown == ("M", "C", "H", "J")
    page, tex = found.html(), found.latex()
    assert page.count("<section>") == 6 and tex.count(r"\subsection*") == 6
    for symbol, _ in found.symbolic.subexpressions:
        assert sympy.latex(symbol) in tex
    assert "http" not in page.replace("http://www.w3.org", "")
    with pytest.raises(ValueError, match=r"equations are written as .html or .tex"):
        found.save(tmp_path / "x.pdf")


def test_what_a_craft_does_not_have_is_refused():
    with pytest.raises(ValueError, match="H is that of joints on a free base; two-link arm has none"):
        equations(planar_arm(), show=["H"])
    with pytest.raises(ValueError, match="'Q' is none of M, C, h, p, H, J"):
        equations(planar_arm(), show=["Q"])


@needs_browser
@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_opens_offline_and_nothing_leaves_its_card(width, tmp_path):
    path = equations(planar_arm("free")).save(tmp_path / "equations.html")
    with Browser(tmp_path, width=width) as page:
        page.open(path.as_uri())
        cards = "[...document.querySelectorAll('section')].map(s => s.getBoundingClientRect().right)"
        outside = page.run(f"{cards}.filter(x => x > innerWidth + 1).length")
        scrolled = page.run("document.documentElement.scrollWidth - innerWidth")
        assert not page.errors and outside == 0 and scrolled <= 1
        assert all(not address.startswith("http") for address in page.requests)
