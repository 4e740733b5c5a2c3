"""A run of a craft that bends goes on where it was stopped; with the same craft alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.model import difference
from simple_flexible import boom_craft

CRAFT = boom_craft()


def test_it_goes_on_bit_for_bit():
    """It was refused: its centre of mass depends on its shape."""
    rng = np.random.default_rng(1)
    q = gs.step_configuration(CRAFT, gs.neutral(CRAFT), 0.3 * rng.normal(size=CRAFT.nv))
    v = 0.1 * rng.normal(size=CRAFT.nv)
    options = {"integrator": "rk4", "step": 0.01, "save_at": [0.0, 0.2]}
    whole = gs.simulate(CRAFT, q, v, (0, 0.2), **options)
    with pytest.warns(gs.SimulationWarning, match="took 7 steps"):
        part = gs.simulate(CRAFT, q, v, (0, 0.2), max_steps=7, **options)
    rest = gs.simulate(boom_craft(), resume=part)
    np.testing.assert_array_equal(rest.q[-1], whole.q[-1])
    np.testing.assert_array_equal(rest.v[-1], whole.v[-1])


@pytest.mark.parametrize(
    ("name", "words"),
    [("stiffness", "boom.stiffness is"), ("damping", "boom.damping is"), ("translations", "boom.translations is")],
)
def test_another_body_is_another_craft(name, words):
    body = CRAFT.flexible("boom")
    changed = replace(body, **{name: 1.01 * np.asarray(getattr(body, name)) + 1e-3 * (name == "damping")})
    other = gs.Spacecraft.build("c", [changed if b.name == "boom" else b for b in CRAFT.bodies], frames=CRAFT.frames)
    assert words in difference(other, CRAFT) and "was" in difference(other, CRAFT)
    heavier = replace(body.nodes[-1], mass=2.0 * body.nodes[-1].mass + 0.1)
    lump = replace(body, nodes=[*body.nodes[:-1], heavier])
    other = gs.Spacecraft.build("c", [lump if b.name == "boom" else b for b in CRAFT.bodies], frames=CRAFT.frames)
    assert f"node '{heavier.name}': mass is" in difference(other, CRAFT)


def test_the_same_craft_made_again_is_the_same():
    assert difference(boom_craft(), CRAFT) == ""
