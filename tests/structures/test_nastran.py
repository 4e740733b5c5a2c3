"""Flexible bodies from Nastran's files: the model that was solved, in other systems, units and kinds of files; others
refused by name.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

import gyrostat as gs
from gyrostat.structures import Section, nastran_body
from nastran_cantilever import EI, LENGTH, RHO_A, cantilever, write_model, write_op2, write_punch

pytest.importorskip("pyNastran")


@pytest.fixture(scope="module")
def own():
    return cantilever(4)


@pytest.fixture(scope="module")
def files(tmp_path_factory, own):
    at = tmp_path_factory.mktemp("nastran")
    return write_model(at / "m.bdf", own), write_op2(at / "m.op2", own), write_punch(at / "m.pch", own)


def _same(a, b, within=2e-6):
    assert [node.name for node in a.nodes] == [node.name for node in b.nodes]
    assert a.clamped.frequencies == pytest.approx(b.clamped.frequencies, rel=within)
    for part in ("translations", "rotations", "second_order", "modal_mass"):
        assert np.asarray(getattr(a, part)) == pytest.approx(np.asarray(getattr(b, part)), abs=within * 5), part
    assert a.undeformed.I_o == pytest.approx(b.undeformed.I_o, rel=1e-12)


def test_op2_and_punch_are_the_model_that_was_solved(files, own):
    model, op2, punch = files
    a, b = (nastran_body("array", model, results, nodes={"tip": 101}) for results in (op2, punch))
    _same(a, b)
    assert a.clamped.frequencies == pytest.approx(np.sqrt(own.squares) / (2 * np.pi), rel=1e-6)
    assert a.mass == pytest.approx(RHO_A * LENGTH) and a.undeformed.h == pytest.approx([RHO_A * LENGTH**2 / 2, 0, 0])
    assert a.modal_mass == pytest.approx(np.diag(np.diag(a.modal_mass)), abs=1e-9)
    assert np.abs(a.translations[a.node("tip")]).max(axis=0) == pytest.approx(1.0)
    beam = gs.beam("b", LENGTH, Section(1e6, EI["z"], EI["y"], 100, RHO_A), modes=4, motions=["y", "z"])
    shortened = [body.second_order[body.node("tip")][0] for body in (a, beam)]
    assert shortened[0] == pytest.approx(shortened[1], rel=0.03, abs=1e-6)  # ten bars against twenty elements


def test_coupled_with_a_free_hub_it_rings_as_the_whole_model_does(files):
    """All modes of one plane span what the lumps can do: the hub's equations and theirs in one matrix, here."""
    model, _, _ = files
    every = cantilever(20)
    boom = nastran_body("boom", model, write_punch(model.with_name("all.pch"), every), stiffening=False,
                        joint=gs.Joint("root", "fixed", "hub", (1.0, 0.0, 0.0)))  # fmt: skip
    craft = gs.Spacecraft.build("c", [gs.Body("hub", 50.0, inertia=(20.0, 25.0, 28.0)), boom])
    stiffness = np.zeros((craft.nv, craft.nv))
    stiffness[-boom.n :, -boom.n :] = boom.stiffness
    found = np.sqrt(eigh(stiffness, gs.mass_matrix(craft, gs.neutral(craft)), eigvals_only=True)[6:9])

    M, K = np.zeros((26, 26)), np.zeros((26, 26))  # the hub's twist and the lumps' own displacements, without modes
    M[:6, :6] = np.diag([20.0, 25.0, 28.0, 50.0, 50.0, 50.0])
    for k, (x, m) in enumerate(zip(every.x + 1.0, every.masses, strict=True)):
        J = np.zeros((3, 26))
        J[:, :6] = [[0, 0, 0, 1, 0, 0], [0, 0, x, 0, 1, 0], [0, -x, 0, 0, 0, 1]]
        if k:
            J[1, 4 + 2 * k] = J[2, 5 + 2 * k] = 1.0
        M += m * J.T @ J
    P = np.linalg.inv(every.shapes[1:, 1:3].reshape(20, 20))
    K[6:, 6:] = P.T @ np.diag(every.squares) @ P
    exact = np.sqrt(eigh(K, M, eigvals_only=True)[6:9])
    assert found == pytest.approx(exact, rel=2e-6)


@pytest.mark.parametrize("system", ["CORD2R", "CORD2C", "CORD2S"])
def test_results_in_other_systems_are_turned_into_the_basic_one(tmp_path, files, own, system):
    """The system stands off the model and askew; each grid has axes of its own where it is round."""
    origin, z, x = np.array([0.3, -2.0, 0.5]), np.array([0.48, 0.6, 0.64]), np.array([0.8, -0.64, 0.0])
    x = (x - (x @ z) * z) / np.linalg.norm(x - (x @ z) * z)
    R = np.column_stack([x, np.cross(z, x), z])
    card = f"{system},7,,{','.join(f'{v:.15f}' for v in (*origin, *(origin + z)))}\n+,"
    card += ",".join(f"{v:.15f}" for v in origin + x) + "\n"
    shapes = own.shapes.copy()
    for k, at in enumerate(own.x):
        a, b, c = R.T @ (np.array([at, 0.0, 0.0]) - origin)
        rho, r = np.hypot(a, b), np.sqrt(a * a + b * b + c * c)
        e_rho, e_phi, e_z = np.array([a, b, 0]) / rho, np.array([-b, a, 0]) / rho, np.array([0, 0, 1.0])
        e_r, e_theta = np.array([a, b, c]) / r, c / r * e_rho - rho / r * e_z
        axes = {"CORD2R": np.eye(3), "CORD2C": np.column_stack([e_rho, e_phi, e_z]),
                "CORD2S": np.column_stack([e_r, e_theta, e_phi])}[system]  # fmt: skip
        for part in (slice(0, 3), slice(3, 6)):
            shapes[k, part] = (R @ axes).T @ own.shapes[k, part]
    model = write_model(tmp_path / "m.dat", own, system=7, more=card)
    turned = nastran_body("array", model, write_punch(tmp_path / "m.pch", own, shapes))
    _same(turned, nastran_body("array", files[0], files[2]), within=1e-5)


def test_units_of_millimetres_and_tonnes_are_brought_to_metres_and_kilograms(tmp_path, files, own):
    model = write_model(tmp_path / "m.nas", own, unit=1e-3, tonne=1e3)
    shapes = own.shapes * np.array([1e3] * 3 + [1.0] * 3)[None, :, None] * np.sqrt(1e-3)  # of modal mass 1 t mm^2
    results = write_op2(tmp_path / "m.op2", replace(own, shapes=shapes))
    _same(nastran_body("array", model, results, length=1e-3, mass=1e3), nastran_body("array", *files[:2]), within=1e-5)


def test_masses_by_elements_and_as_conm2_are_the_same_and_wtmass_is_heeded(tmp_path, files, own):
    rows = enumerate(zip(own.grids, own.masses.tolist(), strict=True))
    cards = "".join(f"CONM2,{900 + k},{g},,{m!r}\n" for k, (g, m) in rows)
    light = write_model(tmp_path / "light.bdf", own, more=cards, cards=False)
    a = nastran_body("array", light, files[2], stiffening=False)
    b = nastran_body("array", files[0], files[2], stiffening=False)
    assert a.modal_mass == pytest.approx(b.modal_mass, rel=1e-9, abs=1e-12) and a.mass == pytest.approx(b.mass)
    double = write_model(tmp_path / "double.bdf", own, more=cards + "PARAM,WTMASS,2.0\n", cards=False)
    with pytest.warns(UserWarning, match="200 % of the modal mass that Nastran found"):
        assert nastran_body("array", double, files[1]).mass == pytest.approx(2 * b.mass)


def test_a_mass_on_an_arm_is_the_rigid_body_that_it_is(tmp_path, own):
    """A CONM2 off its grid, given in a system of its own, against a body on a fixed joint at that grid."""
    card = "CORD2R,3,,0.,0.,0.,1.,0.,0.\n+,0.,1.,0.\nCONM2,77,101,3,2.5,.1,.2,.3\n+,.4,.01,.5,.02,.03,.6\n"
    files = write_model(tmp_path / "m.bdf", own), write_punch(tmp_path / "m.pch", own)
    loaded = write_model(tmp_path / "loaded.bdf", own, more=card)
    R = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])  # columns: axes 1, 2, 3 of system 3
    J = R @ np.array([[0.4, -0.01, -0.02], [-0.01, 0.5, -0.03], [-0.02, -0.03, 0.6]]) @ R.T
    names = {"nodes": {"tip": 101}}
    with pytest.raises(ValueError, match="are not orthogonal in the masses that were read"):
        nastran_body("array", loaded, files[1], **names)  # the modes are those without it
    card = card.replace("2.5", ".025").replace(".4,.01,.5,.02,.03,.6", "4.-3,1.-4,5.-3,2.-4,3.-4,6.-3")
    small = write_model(tmp_path / "small.bdf", own, more=card)
    with_it = nastran_body("array", small, files[1], **names, modes=2)
    without = nastran_body("array", files[0], files[1], **names, modes=2)
    load = gs.Body("load", 0.025, R @ [0.1, 0.2, 0.3], J / 100, joint=gs.Joint("grip", "fixed", "array.tip"))
    one, two = (gs.Spacecraft.build("c", bodies) for bodies in ([with_it], [without, load]))
    q = np.array([1.0, 0, 0, 0, 0, 0, 0, 0.0, 0.0])
    A, B = (gs.mass_matrix(craft, q) for craft in (one, two))
    mix = np.linalg.solve(without.translations[10, 1:], with_it.translations[10, 1:])  # shapes are turned a little
    T = np.block([[np.eye(6), np.zeros((6, 2))], [np.zeros((2, 6)), mix]])
    assert pytest.approx(T.T @ B @ T, abs=1e-12) == A
    assert not [finding for finding in one.findings if finding.level != "note"]


def test_it_moves_as_a_body_of_a_craft_and_keeps_momentum_and_energy(tmp_path, files):
    array = nastran_body("array", *files[:2], nodes={"tip": 101}, modes=2, damping_ratios=0.0,
                         joint=gs.Joint("drive", "revolute", "hub", (0.5, 0, 0), axis=(0, 1, 0)))  # fmt: skip
    hub = gs.Body("hub", 100.0, inertia=(30.0, 35.0, 40.0))
    craft = gs.Spacecraft.build("c", [hub, array], frames=[gs.Frame("eye", "array.tip")])
    assert not [finding for finding in craft.findings if finding.code == "no-stiffening"]
    v = craft.v({"drive": 0.2, "array.modes": [0.3, 0.2], "base": [0.1, 0.2, -0.1, 0, 0, 0]})
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 5.0), rtol=1e-12)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-11
    again = gs.load(gs.save(craft, tmp_path / "c.toml")).flexible("array")
    assert np.array_equal(again.second_order, array.second_order) and again.lines == array.lines


def test_shells_have_no_second_order_shapes_and_the_findings_say_so(tmp_path, own):
    """Plates between the grids and a massless edge: how they carry is not told by lines."""
    more = "GRID,900,,0.,1.,0.\nGRID,901,,.6,1.,0.\nMAT1,9,7.+10,,.3\nPSHELL,9,9,.001\nCQUAD4,901,9,1,11,901,900\n"
    model = write_model(tmp_path / "m.bdf", own, more=more)
    array = nastran_body("array", model, write_punch(tmp_path / "m.pch", own), joint=gs.Joint("wall", "fixed"))
    assert array.second_order is None
    craft = gs.Spacecraft.build("c", [array])
    assert [finding.code for finding in craft.findings if "stiffening" in finding.code] == ["no-stiffening"]


STATIC = "SOL 101\nCEND\nSPC = 1\nLOAD = 1\nBEGIN BULK\n"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("static model", "is of SOL 101; expected normal modes, SOL 103"),
        ("static results", "holds no eigenvectors, but displacements; expected real normal modes"),
        ("static punch", "holds no eigenvectors, but displacements; expected real normal modes"),
        ("complex punch", "line 5: 'real-imaginary output' are not normal modes"),
        ("listing", "suffix '.f06'; expected .op2 or .pch"),
        ("text as op2", "does not begin as an OP2 does"),
        ("cut off op2", "pyNastran cannot read it"),
        ("cut off punch", "mode 4 does not have six numbers for each grid"),
        ("no model", "there is no such file"),
        ("other model", "has results of grid 1, which .* does not have: these files are not of one model"),
        ("cmass", "has masses by CMASS2, which are not read. Give them as CONM2"),
        ("garbled", "pyNastran cannot read it"),
        ("free", "mode 1 has the eigenvalue 0: the model moves freely. Clamp it"),
        ("no root", "every grid moves in its modes. Clamp the model at its root"),
        ("moving root", "grid 101 moves in its modes; expected one that is clamped, of 1"),
        ("unknown node", "node 'tip' is grid 7, which does not exist"),
        ("unknown mode", "has no mode 9; it has 1 to 4"),
        ("too many", "has 4 modes; 5 are asked for"),
        ("subcase", "has no modes of subcase 3; it has 1"),
        ("missing grid", "has no results of grid 101, which carries mass"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path, files, own, case, words):
    model, results, options, error = files[0], files[1], {}, ValueError
    few = replace(own, grids=own.grids[:-1], shapes=own.shapes[:-1])
    rigid, loose = replace(own, squares=own.squares * [0, 1, 1, 1]), replace(own, shapes=own.shapes + 0.1)
    if case == "static model":
        model = write_model(tmp_path / "m.bdf", own, head=STATIC)
    elif case == "static results":
        results = write_op2(tmp_path / "m.op2", own, analysis=1, table=1)
    elif case == "static punch":
        results = write_punch(tmp_path / "m.pch", own, title="DISPLACEMENTS")
    elif case == "complex punch":
        results = write_punch(tmp_path / "m.pch", own, kind="REAL-IMAGINARY OUTPUT")
    elif case == "listing":
        results = tmp_path / "m.f06"
        results.write_text("x")
    elif case == "text as op2":
        results = tmp_path / "m.op2"
        results.write_text("not one")
    elif case == "cut off op2":
        results = tmp_path / "m.op2"
        results.write_bytes(files[1].read_bytes()[:2500])
    elif case == "cut off punch":
        results = tmp_path / "m.pch"
        results.write_text(files[2].read_text()[:-500])
    elif case == "no model":
        model, error = tmp_path / "none.bdf", FileNotFoundError
    elif case == "other model":
        model = tmp_path / "m.bdf"
        model.write_text("GRID,500,,0.,0.,0.\nCONM2,1,500,,1.\n")
    elif case == "cmass":
        model = write_model(tmp_path / "m.bdf", own, more="CMASS2,70,1.5,101,1\n")
    elif case == "garbled":
        model = write_model(tmp_path / "m.bdf", own, more="GRID,5,,here,0.,0.\n")
    elif case == "free":
        results = write_punch(tmp_path / "m.pch", rigid)
    elif case == "no root":
        results = write_punch(tmp_path / "m.pch", loose)
    elif case == "missing grid":
        results = write_punch(tmp_path / "m.pch", few)
    options = {"moving root": {"root": 101}, "unknown node": {"nodes": {"tip": 7}}, "unknown mode": {"modes": [1, 9]},
               "too many": {"modes": 5}, "subcase": {"subcase": 3}}.get(case, {})  # fmt: skip
    with pytest.raises(error, match=words):
        nastran_body("array", model, results, **options)


@pytest.mark.parametrize(
    "evil",
    [
        "$ pyNastran: code-block=import os; os.mkdir('ran')",
        "$pyNastran: version=msc\n$pyNastran: Code-Block=import os; os.mkdir('ran')",
        "INCLUDE 'evil.bdf'",
        "DEQATN  77      F(A:__import__('os').mkdir('ran'))=A",
    ],
)
def test_nothing_that_stands_in_a_model_is_run(tmp_path, monkeypatch, files, evil):
    """pyNastran alone runs code of a comment and the heads of equations; without the guard the folder is there."""
    monkeypatch.chdir(tmp_path)
    model, op2, _ = files
    (tmp_path / "evil.bdf").write_text("$ pyNastran: code-block=import os; os.mkdir('ran')\n")
    text = model.read_text()
    at = text.rindex("ENDDATA") if evil.startswith("DEQATN") and "ENDDATA" in text else 0
    text = text[:at] + evil + "\n" + text[at:] if at or not evil.startswith("DEQATN") else text + evil + "\n"
    (tmp_path / "m.bdf").write_text(text)
    try:
        nastran_body("array", tmp_path / "m.bdf", op2)
    except ValueError as error:
        assert "code for pyNastran" in str(error) or "cannot read it" in str(error)
    assert not (tmp_path / "ran").exists()


def test_pipes_are_not_waited_for(tmp_path, files):
    model, op2, _ = files
    os.mkfifo(tmp_path / "pipe.bdf")
    os.mkfifo(tmp_path / "pipe.op2")
    for given in ((tmp_path / "pipe.bdf", op2), (model, tmp_path / "pipe.op2")):
        with pytest.raises(ValueError, match="is not a file but a folder, a pipe or a device"):
            nastran_body("array", *given)
