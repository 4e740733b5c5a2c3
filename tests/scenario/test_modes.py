"""The manoeuvring mode of a scenario file: audited after the run; what it does not allow is said before it."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import models, scenario

RUN = '[run]\nduration = "3 s"\nrtol = 1e-12\natol = 1e-12\n'


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(f'spacecraft = "servicer7"\n{text}')
    return scenario.load(path)


def test_the_bundled_file_is_the_bundled_function():
    written, built = gs.load(models.file("servicer7")), models.servicer7()
    assert list(written.parameters()) == list(built.parameters())
    for name, value in built.parameters().items():
        np.testing.assert_allclose(written.value(name), value, rtol=1e-14)
    for a, b in zip(written.thrusters, built.thrusters, strict=True):
        assert (a.name, a.specific_impulse, a.minimum_on_time) == (b.name, b.specific_impulse, b.minimum_on_time)


def test_a_run_is_audited_for_its_mode(tmp_path):
    text = f'mode = "floating"\n{RUN}[[waypoint]]\nat = "2 s"\njoints = {{ elbow_pitch = "20 deg" }}\n'
    run = load(tmp_path, text).simulate()
    assert run.mode_audit.mode == "floating" and run.mode_audit.ok
    assert max(line.deviation for line in run.mode_audit.lines) < 1e-10


def test_wheels_may_act_where_the_mode_says_so(tmp_path):
    spin = '[[torque]]\nat = 0\njoints = { wheel_1 = "0.1 N m" }\n'
    run = load(tmp_path, f'mode = "rotation-floating"\n{RUN}{spin}').simulate()
    assert run.mode_audit.ok and abs(run.v[-1, -4]) > 1.0
    with pytest.raises(gs.ModelError, match="drives wheel 'wheel_1', but wheels may not act"):
        load(tmp_path, f'mode = "floating"\n{RUN}{spin}')


def test_what_the_mode_forbids_is_refused_at_its_line(tmp_path):
    push = '[[torque]]\nat = "1 s"\njoints = { base = [0, 0, 0, "1 N", 0, 0] }\n'
    with pytest.raises(gs.ModelError, match="mode 'rotation-flying': the control law pushes the base") as found:
        load(tmp_path, f'mode = "rotation-flying"\n{RUN}{push}')
    assert found.value.findings[0].line == 2
    with pytest.raises(gs.ModelError, match="mode"):
        load(tmp_path, f'mode = "hovering"\n{RUN}')
    with pytest.raises(gs.ModelError, match="the motion of wheel 'wheel_2' is prescribed"):
        load(tmp_path, f'mode = "floating"\nlocked = ["wheel_2"]\n{RUN}')
