"""Flexible bodies on pages: bent, and where what they carry is."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from browser import Browser, needs_browser
from gyrostat.structures import ALUMINIUM, PlateSection, tube
from gyrostat.view.bent import bent_lines, magnified
from gyrostat.view.flexing import deflections, dominant_frequencies
from gyrostat.view.groups import panels
from gyrostat.view.shapes import craft_size
from simple_flexible import boom_craft


@pytest.fixture(scope="module")
def servicer():
    hub = gs.Body("hub", 200.0, inertia=(60.0, 70.0, 80.0))
    root, back = gs.Joint("root", "fixed", "hub", (0.6, 0, 0)), np.diag([-1.0, -1.0, 1.0])
    array = gs.plate("array", 4.0, 1.5, PlateSection(60.0, 1e6, 0.3, 2.0), modes=2, elements=(4, 2), joint=root)
    turn = gs.Joint("turn", "revolute", "hub", (-0.6, 0, 0), back, axis=(0, 1, 0))
    boom = gs.beam("boom", 5.0, tube(0.02, 0.001, ALUMINIUM), modes=2, elements=8, joint=turn)
    tool = gs.Body("tool", 5.0, inertia=(0.3, 0.3, 0.3), joint=gs.Joint("grip", "fixed", "boom.tip"))
    return gs.Spacecraft.build("servicer", [hub, array, boom, tool])


def test_lines_end_where_what_the_tip_carries_is(servicer):
    q = servicer.q({"base": gs.algebra.Pose(np.eye(3), np.array([1.0, 2.0, 3.0])), "boom.modes": [0.4, -0.3]})
    ends = bent_lines(servicer, q)["boom"].reshape(-1, 3)
    X = gs.frame_pose(servicer, q, "boom")
    tip = gs.frame_pose(servicer, q, "tool").p
    assert np.linalg.norm(X.p + ends @ X.R.T - tip, axis=1).min() < 0.02
    assert np.linalg.norm(ends, axis=1).min() == 0.0  # from its own frame on
    straight = bent_lines(servicer, gs.neutral(servicer))["boom"]
    assert np.abs(straight[..., 1:]).max() < 0.01 and np.ptp(ends[:, 1:]) > 0.3
    pairs = bent_lines(servicer, q)["array"]
    assert len(pairs) > 60 and np.linalg.norm(pairs[:, 0] - pairs[:, 1], axis=1).max() < 1.5  # a web, not a fan


def test_bending_is_exaggerated_and_nothing_else(servicer):
    q = np.arange(1.0, servicer.nq + 1)
    large = magnified(servicer, np.stack([q, q]), 5.0)
    modal = np.concatenate([np.arange(servicer.nq)[servicer.flexible(name).q_at] for name in ("array", "boom")])
    assert (large[:, modal] == 5.0 * q[modal]).all()
    assert (np.delete(large, modal, axis=1) == np.delete(q, modal)).all()
    assert craft_size(servicer) > 9.0


def test_lines_that_are_given_are_drawn():
    craft = boom_craft(lines=(("n3", "n1"),))
    lines = bent_lines(craft, craft.q({"boom.modes": [0.2, 0.1]}))["boom"]
    mount = craft.flexible("boom").mount
    assert lines.shape == (1, 2, 3)
    assert lines[0] == pytest.approx(np.array([mount(name).place(np.array([0.2, 0.1])) for name in ("n3", "n1")]))


@needs_browser
def test_a_page_moves_what_bends(servicer, tmp_path):
    v = servicer.v({"boom.modes": [0.6, 0.0], "array.modes": [0.5, 0.0]})
    run = gs.simulate(servicer, gs.neutral(servicer), v, t_span=(0.0, 4.0))
    page = run.to_html(tmp_path / "run.html", deformation=3.0)
    with Browser(tmp_path, width=700, height=500) as browser:
        browser.open(page.as_uri())
        browser.until("document.querySelector('canvas') !== null")
        first = browser.picture()
        browser.until("(() => { window.gone = (window.gone || 0) + 1; return window.gone > 40; })()")
        assert np.abs(browser.picture() - first).max() > 60 and browser.errors == []
    with pytest.raises(ValueError, match="deformation is -1"):
        run.to_html(tmp_path / "run.html", deformation=-1)


def test_a_spectrum_finds_the_frequency_between_its_samples():
    t = np.linspace(0.0, 40.0, 801)
    lines = np.stack(
        [3.0 + np.sin(2 * np.pi * 0.737 * t), 0.1 * np.cos(2 * np.pi * 3.21 * t + 1.0), 0 * t + 2.0], axis=-1
    )
    found = dominant_frequencies(t, lines)
    assert found[:2] == pytest.approx([0.737, 3.21], abs=1e-3) and np.isnan(found[2])
    assert (
        np.isnan(dominant_frequencies(np.sqrt(t), lines)).all()
        and np.isnan(dominant_frequencies(t[:9], lines[:9])).all()
    )


def test_plots_show_modal_coordinates_their_frequency_and_the_deflection():
    craft = boom_craft()
    boom = craft.flexible("boom")
    v = craft.v({"boom.modes": [0.2, 0.0]})
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 60.0), save_at=np.linspace(0.0, 60.0, 1201))
    modal, deflection = panels(run, "flexible")
    ringing = gs.modes(craft, gs.neutral(craft), np.zeros(craft.nv)).of("oscillating")
    said = float(modal.labels[0].split("mostly ")[1].split()[0])
    assert min(abs(said / mode.frequency - 1) for mode in ringing) < 0.02
    assert modal.values == pytest.approx(run.q[:, boom.q_at]) and deflection.unit == "m"
    far, sizes = deflections(boom, run.q[:, boom.q_at])
    places = [boom.mounts[far].place(e) - boom.nodes[far].position for e in run.q[:, boom.q_at]]
    assert boom.nodes[far].name == "n3" and sizes == pytest.approx(np.linalg.norm(places, axis=1))
    assert deflection.values[:, 0] == pytest.approx(sizes) and deflection.labels == ("node n3",)
