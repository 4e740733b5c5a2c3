"""OPM, AEM and CZML: what goes out comes back, and others read the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_exp, quat_from_rotation, quat_multiply, rotation
from gyrostat.environment import (
    AttitudeEphemeris,
    Burn,
    Ephemeris,
    OrbitParameters,
    Sky,
    attitude_of,
    ephemeris_of,
    read_aem,
    read_oem,
    read_opm,
    two_body_gravity,
    write_aem,
    write_czml,
    write_oem,
    write_opm,
)

RNG = np.random.default_rng(5)
DATE = np.datetime64("2025-03-07T09:12:31.123456789", "ns")


def parameters():
    root = RNG.normal(size=(6, 6))
    burns = [Burn(DATE, (0.1, -0.2, 0.3), 12.5, -0.25), Burn(DATE + np.timedelta64(60, "s"), (1 / 3, 0.0, 0.0))]
    state = [6.9e6, 1 / 7, -123456.789, 1.0, 7.5e3, -1e-3]
    return OrbitParameters(
        DATE, state, "SAT", "2025-001A", frame="EME2000", mass=123.4, drag_area=2.2, drag_coefficient=2.1,
        light_area=1 / 3, light_coefficient=1.3, covariance=root @ root.T, burns=burns,
    )  # fmt: skip


def attitude():
    times = DATE + np.arange(50) * np.timedelta64(1_000_000_007, "ns")
    quats = np.array([quat_exp(0.03 * k * np.array([0.6, -0.5, 0.9])) for k in range(50)])
    return AttitudeEphemeris(times, quats, "SAT", "2025-001A")


def test_an_opm_comes_back_equal(tmp_path):
    given = parameters()
    write_opm(tmp_path / "a.opm", given)
    found = read_opm(tmp_path / "a.opm")
    for name in vars(given):
        a, b = getattr(given, name), getattr(found, name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, name
    assert found.ephemeris.frame == "EME2000" and (found.ephemeris.states[0] == given.state).all()


def test_an_aem_comes_back_equal_whichever_way_it_is_written(tmp_path):
    given = attitude()
    write_aem(tmp_path / "a.aem", given)
    found = read_aem(tmp_path / "a.aem")
    assert (found.times == given.times).all() and (found.quats == given.quats).all()
    assert (found.name, found.id, found.frame, found.axes) == ("SAT", "2025-001A", "GCRF", "SC_BODY_1")
    head, _, rows = (tmp_path / "a.aem").read_text().partition("DATA_START\n")
    turned = [line.split() for line in rows.splitlines()[:-1]]
    turned = [" ".join([date, c, *(f"-{x}".replace("--", "") for x in (x, y, z))]) for date, x, y, z, c in turned]
    other = head.replace("A2B", "B2A").replace("= LAST", "= FIRST") + "\n".join(["DATA_START", *turned, "DATA_STOP"])
    (tmp_path / "b.aem").write_text(other)
    assert (read_aem(tmp_path / "b.aem").quats == given.quats).all()


def test_another_library_reads_the_same(tmp_path):
    NdmIo = pytest.importorskip("ccsds_ndm.ndm_io").NdmIo
    p, a = parameters(), attitude()
    orbit = Ephemeris(a.times, RNG.normal(size=(50, 6)) * 7e6, "SAT", "2025-001A")
    write_opm(tmp_path / "a.opm", p)
    write_aem(tmp_path / "a.aem", a)
    write_oem(tmp_path / "a.oem", orbit)
    opm, aem, oem = (NdmIo().from_path(tmp_path / name) for name in ("a.opm", "a.aem", "a.oem"))
    data = opm.body.segment.data
    assert float(data.state_vector.y.value) == p.state[1] / 1e3
    assert float(data.covariance_matrix.cz_dot_x.value) == pytest.approx(p.covariance[5, 0] * 1e-6, rel=1e-14)
    assert [float(m.man_dv_1.value) for m in data.maneuver_parameters] == [1e-4, pytest.approx(1 / 3e3, rel=1e-15)]
    assert float(data.spacecraft_parameters.mass.value) == 123.4
    row = aem.body.segment[0].data.attitude_state[7].quaternion_state.quaternion
    assert [float(x) for x in (row.qc, row.q1, row.q2, row.q3)] == list(a.quats[7])
    vector = oem.body.segment[0].data.state_vector[9]
    assert float(vector.z.value) == pytest.approx(orbit.states[9, 2] / 1e3, rel=1e-15)


def test_the_way_of_a_quaternion_is_that_of_the_standard():
    """From A to B, which is A turned by an angle about an axis: q = (axis sin(angle/2), cos(angle/2)), x_B = M x_A."""
    quat_AB = quat_exp(np.array([0.0, 0.0, np.pi / 2]))
    x_B = rotation(quat_AB).T @ np.array([1.0, 0.0, 0.0])  # components in B of the x axis of A
    np.testing.assert_allclose(x_B, [0.0, -1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(quat_AB, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)


def test_dates_by_day_of_year_and_the_zone_are_read(tmp_path):
    orbit = Ephemeris([np.datetime64("2024-03-01T12:00:00.5", "ns")], [[7e6, 0, 0, 0, 7e3, 0]])
    write_oem(tmp_path / "a.oem", orbit)
    text = (tmp_path / "a.oem").read_text().replace("2024-03-01T12:00:00.500000000 7", "2024-061T12:00:00.5Z 7")
    (tmp_path / "a.oem").write_text(text)
    assert (read_oem(tmp_path / "a.oem").times == orbit.times).all()  # 2024 has a 29th of February


@pytest.fixture(scope="module")
def flown():
    sky = Sky("2025-03-07T09:12:31.25", 7200.0)
    orbit = gs.Orbit.circular(500e3, 0.9, planet=sky.earth)
    craft = gs.Spacecraft.build(
        "probe", [gs.Body("hull", 40.0, inertia=[3.0, 4.0, 5.0])], frames=[gs.Frame("eye", "hull", (0, 0, 2.0))]
    )
    run = gs.simulate(
        craft,
        None,
        [0.3, 0.1, -0.2, 0.5, 0, 0],
        (0, 600),
        environment=two_body_gravity(orbit),
        save_at=np.arange(0, 601, 10.0),
    )
    return sky, orbit, run


def test_a_run_becomes_an_ephemeris_and_flies_on_from_it(flown, tmp_path):
    sky, orbit, run = flown
    found = ephemeris_of(run, orbit, sky)
    assert found.times[0] == np.datetime64("2025-03-07T09:12:31.25", "ns")
    np.testing.assert_allclose(sky.seconds(found.times), run.time, atol=1e-6)
    there = orbit.state(600.0)
    np.testing.assert_allclose(found.states[-1, :3], there.r + run.q[-1, 4:7], rtol=1e-15)
    eye = ephemeris_of(run, orbit, sky, frame="eye")
    np.testing.assert_allclose(np.linalg.norm(eye.states[:, :3] - found.states[:, :3], axis=1), 2.0, atol=1e-8)
    rate = np.linalg.norm(eye.states[:, 3:] - found.states[:, 3:], axis=1)
    assert (rate > 0.1).any()
    turn = attitude_of(run, sky)
    assert (np.einsum("ni,ni->n", turn.quats[1:], turn.quats[:-1]) > 0).all()
    np.testing.assert_allclose([rotation(x) for x in turn.quats], [rotation(x[:4]) for x in run.q], atol=1e-14)


def test_czml_is_where_the_earth_fixed_axes_say(flown, tmp_path):
    sky, orbit, run = flown
    path, turn = ephemeris_of(run, orbit, sky), attitude_of(run, sky)
    write_czml(tmp_path / "a.czml", path, sky, attitudes={"probe": turn})
    document, packet = json.loads((tmp_path / "a.czml").read_text())
    assert document["id"] == "document" and document["version"] == "1.0"
    rows = np.array(packet["position"]["cartesian"]).reshape(-1, 4)
    turns = np.array(packet["orientation"]["unitQuaternion"]).reshape(-1, 5)
    np.testing.assert_allclose(rows[:, 0], run.time, atol=1e-6)
    R_FN = sky.earth.fixed_axes(300.0)
    np.testing.assert_allclose(rows[30, 1:], R_FN @ path.states[30, :3], rtol=1e-9)
    expected = quat_multiply(quat_from_rotation(R_FN), turn.quats[30])
    assert abs(expected @ np.roll(turns[30, 1:], 1)) == pytest.approx(1.0, abs=1e-9)


def test_bad_messages_are_asked_about(flown, tmp_path):
    sky, orbit, run = flown
    write_opm(tmp_path / "a.opm", parameters())
    write_aem(tmp_path / "a.aem", attitude())
    good, turned = (tmp_path / "a.opm").read_text(), (tmp_path / "a.aem").read_text()

    def said(reader, text, words):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(ValueError, match=words):
            reader(tmp_path / "bad")

    said(read_opm, good.replace("[km]", "[m]"), r"X is in \[m\]; expected \[km\]")
    said(read_opm, good.replace("X = ", "X = a"), "expected a number")
    said(read_opm, good.replace("Z_DOT = ", "W_DOT = "), "Z_DOT is missing")
    said(read_opm, good.replace("CX_X = ", "CX_Y = "), "21 elements of the covariance")
    said(read_opm, good.replace("COV_REF_FRAME = EME2000", "COV_REF_FRAME = RTN"), "the covariance is in RTN")
    said(read_opm, good.replace("MAN_DV_3", "MAN_DV_9"), "has no place in an OPM")
    said(read_opm, "<opm>", "expected key = value notation")
    said(read_aem, turned.replace("= QUATERNION\n", "= SPIN\n"), "ATTITUDE_TYPE is SPIN")
    said(read_aem, turned.replace("DATA_STOP", "META_START"), "a second segment")
    said(read_aem, turned.replace("DATA_STOP", "2025-03-07T10:00:00 1 2 3"), "is no attitude")
    said(read_aem, turned.replace("DATA_STOP", "2025-03-07T10:00:00 1 2 3 4"), "off norm one")
    with pytest.raises(ValueError, match="expected GCRF and UTC"):
        write_czml(tmp_path / "x", Ephemeris([DATE], [[7e6, 0, 0, 0, 7e3, 0]], frame="TEME"), sky)
    with pytest.raises(ValueError, match="the sky from"):
        write_czml(tmp_path / "x", Ephemeris([DATE + np.timedelta64(9000, "s")], [[7e6, 0, 0, 0, 7e3, 0]]), sky)
    with pytest.raises(ValueError, match="a name of its own"):
        write_czml(tmp_path / "x", [ephemeris_of(run, orbit, sky)] * 2, sky)
    with pytest.raises(ValueError, match="an attitude is of 'other'"):
        write_czml(tmp_path / "x", ephemeris_of(run, orbit, sky), sky, attitudes={"other": attitude_of(run, sky)})
