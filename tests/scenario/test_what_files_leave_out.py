"""What a file leaves out is what the same thing in Python has by default; what it gives arrives, and nothing else."""

from __future__ import annotations

from dataclasses import MISSING, fields
from types import SimpleNamespace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control import Imperfection
from gyrostat.control.sensors_in_files import SENSORS, Around
from gyrostat.environment import (
    Celestial,
    ContactLaw,
    Plate,
    Sphere,
    air_drag,
    combined,
    contact_with_plane,
    contact_with_sphere,
    field_gravity,
    moon,
    planet_light,
    read_gfc,
    solar_pressure,
    sun,
    third_body_gravity,
    zonal_gravity,
)
from gyrostat.environment.in_files import ENVIRONMENTS, Surface
from gyrostat.model import Shape

ORBIT = gs.Orbit.circular(450e3, np.radians(40.0), node=0.3, argument=0.8)
EPOCH = "2030-01-01T00:00"


def craft():
    hub = gs.Body("hub", 40.0, (0.02, 0.0, 0.01), (3.0, 4.0, 5.0), shapes=(Shape("box", (1.0, 0.6, 0.4)),))
    wrist = gs.Joint("wrist", "revolute", "hub", (0.5, 0.1, 0.2), axis=(0, 1, 0))
    hand = gs.Body("hand", 3.0, (0.4, 0, 0), (0.02, 0.3, 0.3), joint=wrist)
    return gs.Spacecraft.build("craft", [hub, hand], frames=[gs.Frame("tool", "hand", (0.8, 0.1, 0.0))])


CRAFT = craft()

# ---- sensors

NEEDED = {
    "sun_cells": {"normals": [[1, 0, 0], [0, 1, 0]]},
    "force_torque": {"frame": None, "joint": "wrist"},
    "camera": {"target": "tool"},
    "lidar": {"target": "tool"},
}
NO_FRAME = ("tracker", "gyro", "encoders", "tachometers")
OTHER = {"delay": 0.5, "every": 3, "lost": 0.25, "noise": 0.01, "quantum": 0.003, "first_bias": 0.04, "walk": 0.05,
    "limit": 0.6}  # fmt: skip
CHAIN = {**OTHER, "bias": 0.02, "scale": 0.07}


def sensor(name, **keys):
    kind = SENSORS[name].kind
    frame = {} if name in NO_FRAME else {"frame": "hub"}
    needed = {key: x for key, x in {**frame, **NEEDED.get(name, {})}.items() if x is not None}
    known = Celestial("Sun", 1.327e20, 6.957e8, lambda t: np.array([1.2e11, -0.6e11, 0.4e11]))
    sky = SimpleNamespace(sun=known, magnetic_field=lambda t, r: 1e-5 * r, body=lambda _: known)
    (built,) = kind(**needed, **keys).build(CRAFT, Around(ORBIT, sky)).values()
    return built


def errors_of(name, **keys):
    return {key: np.asarray(value).tolist() for key, value in vars(sensor(name, **keys).imperfection).items()}


@pytest.mark.parametrize("name", SENSORS)
def test_a_sensor_errs_by_what_its_table_gives_and_by_nothing_else(name):
    perfect = {key: np.asarray(value).tolist() for key, value in vars(Imperfection()).items()}
    plain = errors_of(name)
    assert {key: np.ravel(x).tolist() for key, x in plain.items() if np.any(x != perfect[key])} == {
        key: [0.0] * 3 for key in plain if np.ndim(plain[key])
    }  # zero for each axis, or zero
    for key in SENSORS[name].keys:
        own = "bias" if key == "misalignment" else key
        if own in CHAIN:
            value = (0.01, -0.02, 0.03) if np.ndim(plain[own]) else CHAIN[own]
            assert errors_of(name, **{key: value}) == {**plain, own: np.asarray(value).tolist()}


@pytest.mark.parametrize("name", SENSORS)
def test_a_sensor_looks_as_in_python_where_its_table_says_no_more(name):
    """But for a camera, which sees all around by default in Python alone."""
    built = sensor(name)
    defaults = {f.name: f.default for f in fields(built) if f.default is not MISSING and f.name != "imperfection"}
    own = {key: getattr(built, key) for key in defaults}
    own["exclusions"] = tuple(own.get("exclusions", ()))
    own["hidden_by"] = tuple(own.get("hidden_by", ()))
    expected = {"exclusions": (), "hidden_by": ()} | defaults
    assert own == (expected | {"field_of_view": np.pi / 4} if name == "camera" else expected)


# ---- environments

PLATE = Surface(body="hub", area=4.0, normal=(0.6, 0.0, 0.8))
TOLD = {"surface": [PLATE, Surface(body="hand", area=2.0)]}
SURFACES = [Plate("hub", 4.0, (0.6, 0.0, 0.8)), Sphere("hand", 2.0)]
LAW = ContactLaw(100.0)
GFC = """modelname mine\nearth_gravity_constant 3.986004415e14\nradius 6378136.3\nend_of_head
gfc 2 0 -4.84e-4 0\ngfc 2 1 0 0\ngfc 2 2 2.4e-6 -1.4e-6\n"""
TOUCHING = {"probe": "tool", "surface": "N", "stiffness": 100.0}
PAIRS = {
    "harmonics": ({}, lambda _: zonal_gravity(ORBIT)),
    "drag": (TOLD, lambda _: air_drag(ORBIT, SURFACES)),
    "sunlight": (TOLD, lambda _: solar_pressure(ORBIT, SURFACES, sun(EPOCH))),
    "planet_light": (TOLD, lambda _: planet_light(ORBIT, SURFACES, sun(EPOCH))),
    "third_bodies": (
        {},
        lambda _: combined(third_body_gravity(ORBIT, sun(EPOCH)), third_body_gravity(ORBIT, moon(EPOCH))),
    ),
    "field": ({}, lambda file: field_gravity(ORBIT, read_gfc(file))),
    "contact": (TOUCHING, lambda _: contact_with_plane("tool", "N", LAW)),
    "contact with a sphere": (
        {**TOUCHING, "sphere_radius": 2.0},
        lambda _: contact_with_sphere("tool", "N", LAW, sphere_radius=2.0),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_an_environment_acts_as_in_python_where_its_table_says_no_more(tmp_path, name):
    """All round an orbit, in light and in shadow; the tool above and below the plane."""
    assert {key.partition(" ")[0] for key in PAIRS} == set(ENVIRONMENTS)
    (tmp_path / "field.gfc").write_text(GFC)
    keys, make = PAIRS[name]
    if name == "field":
        keys = {"file": str(tmp_path / "field.gfc")}
    of_file = ENVIRONMENTS[name.partition(" ")[0]].kind(**keys).build(ORBIT)
    of_python = make(tmp_path / "field.gfc")
    rng, acts = np.random.default_rng(4), []
    for t in np.linspace(0.0, ORBIT.period, 9):
        dq, v = 0.7 * rng.normal(size=CRAFT.nv), 0.1 * rng.normal(size=CRAFT.nv)
        q = gs.step_configuration(CRAFT, gs.neutral(CRAFT), dq)
        q[6] = -1.2
        found = of_file.wrenches(CRAFT, t, q, v)
        np.testing.assert_array_equal(found, of_python.wrenches(CRAFT, t, q, v))
        acts.append(np.abs(found).max() > 0.0)
    assert any(acts) and (name != "sunlight" or not all(acts))
