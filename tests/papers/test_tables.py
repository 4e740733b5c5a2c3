"""The printed numbers of the papers: the craft built has them, each one that is wrong is seen,
and they are transcribed as printed.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.papers import valverde2018, wilde2018
from gyrostat.papers.ploen2004 import tables as ploen_tables
from gyrostat.papers.serial_chain import totals
from gyrostat.papers.tables import Entry, agreement
from gyrostat.papers.valverde2018 import experiment as valverde_experiment
from gyrostat.papers.valverde2018 import reproduction as valverde_reproduction
from gyrostat.papers.valverde2018 import tables as valverde_tables
from gyrostat.papers.wilde2018 import experiment as wilde_experiment
from gyrostat.papers.wilde2018 import tables as wilde_tables
from shared_files import shared

CRAFTS = {
    **{
        f"valverde2018 {variant}": (
            valverde2018.spacecraft(variant),
            lambda craft, v=variant: valverde_tables.craft_checks(craft, v),
        )
        for variant in ("A", "B", "C")
    },
    "wilde2018 planar": (wilde2018.planar_craft(), lambda craft: wilde_tables.craft_checks("planar", craft)),
    "wilde2018 spatial": (wilde2018.spatial_craft(), lambda craft: wilde_tables.craft_checks("spatial", craft)),
}


def wrong_values(craft):
    """(parameter, element, value): every number of the craft in turn, off by 1 %, or by 0.01 where it is zero."""
    base = craft.joint(craft.base).name
    for parameter, value in craft.parameters().items():
        if parameter.startswith(f"{base}.") and not parameter.endswith((".mass", ".com", ".inertia")):
            continue  # of a free joint: where coordinates count from, springs that the model refuses
        value = np.array(value, dtype=float)
        for at in np.ndindex(value.shape):
            off = value.copy()
            off[at] += 0.01 * off[at] if off[at] else 0.01
            if parameter.endswith((".orientation", ".axis")):
                off /= np.linalg.norm(off)
                if np.allclose(off, value / np.linalg.norm(value), atol=1e-12):
                    continue  # longer, not turned: no other number
            yield f"{parameter}[{','.join(map(str, at))}]", {parameter: off}


@pytest.mark.parametrize("name", CRAFTS)
def test_the_craft_has_every_printed_number(name):
    craft, checks = CRAFTS[name]
    assert all(check.passed for check in checks(craft)), [c for c in checks(craft) if not c.passed]


@pytest.mark.parametrize("name", CRAFTS)
def test_every_number_of_the_craft_that_is_not_the_printed_one_fails_a_check(name):
    craft, checks = CRAFTS[name]
    seen, unseen = 0, []
    for label, values in wrong_values(craft):
        passed = all(check.passed for check in checks(craft.with_values(values)))
        unseen += [label] if passed else []
        seen += not passed
    assert not unseen
    assert seen >= 10 * len(craft.bodies)


def test_reproduce_fails_with_link_2_at_9_kg(monkeypatch, tmp_path):
    """By the table, and by momentum and energy with the paper's numbers, in every run of both variants."""
    right = valverde2018.spacecraft
    wrong = lambda variant="A": right(variant).with_values({"link_2.mass": 9.0})
    monkeypatch.setattr(valverde_experiment, "spacecraft", wrong)
    monkeypatch.setattr(valverde_reproduction, "_drift", lambda: "")
    failed = {check.name: check.measured for check in valverde2018.reproduce(tmp_path).checks if not check.passed}
    assert "3 of 4 as printed; M of link_2" in failed["A: section 4: masses and inertias"]
    assert len([name for name in failed if name.endswith("momentum by the paper's numbers")]) == 8
    assert len([name for name in failed if name.endswith("energy by the paper's numbers less work")]) == 8


@pytest.mark.parametrize(
    ("case", "values", "table"),
    [
        ("planar", {"link_3.mass": 2.1}, "table 3"),
        ("spatial", {"link_2.inertia": (0.0625, 0, 0, 21.6, 0, 26.1)}, "table 5"),
        ("spatial", {"joint_3.position": (2.6, 0.0, 0.0)}, "table 6"),
    ],
)
def test_reproduce_fails_with_another_number_in_the_craft(monkeypatch, tmp_path, case, values, table):
    built = wilde_experiment.TABLES[case]

    class Wrong:
        def __init__(self):
            self.craft = built().craft.with_values(values)

    monkeypatch.setitem(wilde_experiment.TABLES, case, Wrong)
    failed = {check.name for check in wilde2018.reproduce(tmp_path).checks if not check.passed}
    assert any(table in name for name in failed)
    assert f"{case}: momentum by the tables' numbers, of the base's own" in failed
    assert f"{case}: energy by the tables' numbers against the motors' work" in failed


def test_every_torque_and_the_settings_of_section_4_are_seen(monkeypatch):
    run = valverde2018.run("A")
    assert all(check.passed for check in valverde_tables.run_checks(run))
    for k, row in enumerate(valverde_tables.TORQUES):
        for at in range(4):
            other = [list(r) for r in valverde_tables.TORQUES]
            other[k][at] = row[at] + 0.5
            with monkeypatch.context() as patch:
                patch.setattr(valverde_tables, "TORQUES", other)
                assert not valverde_tables.run_checks(run)[0].passed, (k, at)
    for name, value in (("FINAL_TIME", 71), ("ABSOLUTE_TOLERANCE", 1e-13)):
        with monkeypatch.context() as patch:
            patch.setattr(valverde_tables, name, value)
            assert not valverde_tables.run_checks(run)[1].passed


def test_every_number_of_the_manoeuvre_is_seen():
    profile = wilde2018.manoeuvre("planar")[1]
    assert all(check.passed for check in wilde_tables.manoeuvre_checks("planar", profile))
    for at in np.ndindex(profile.rates.shape):
        rates = profile.rates.copy()
        rates[at] += 0.01
        other = type(profile)(profile.times, rates)
        assert not all(check.passed for check in wilde_tables.manoeuvre_checks("planar", other)) or at[0] == 20
    for k in range(1, len(profile.times) - 1):
        times = profile.times.copy()
        times[k] += 0.5
        assert not all(
            c.passed for c in wilde_tables.manoeuvre_checks("planar", type(profile)(times, profile.rates))
        ), k


def test_modes_and_forms_are_seen(monkeypatch):
    for name, row in wilde_tables.MODES_PRINTED.items():
        with monkeypatch.context() as patch:
            patch.setitem(wilde_tables.MODES_PRINTED, name, (not row[0], row[1]))
            assert not wilde_tables.mode_checks()[0].passed
    for number in ploen_tables.FORMS_PRINTED:
        with monkeypatch.context() as patch:
            patch.setitem(ploen_tables.FORMS_PRINTED, number, ploen_tables.FORMS_PRINTED[5 - number])
            assert not ploen_tables.form_checks()[0].passed
    for kind, row in valverde_tables.JOINTS.items():
        for at in range(4):
            other = [*row]
            other[at] = row[at] + 1 if at == 0 else (1, 2, 3)
            with monkeypatch.context() as patch:
                patch.setitem(valverde_tables.JOINTS, kind, tuple(other))
                assert not valverde_tables.joint_checks()[0].passed
    with monkeypatch.context() as patch:
        patch.setattr(valverde_tables, "TWO_ARMS", (2, 5, 4))
        assert not valverde_tables.appendix_layout_check(valverde2018.two_arms()).passed


def test_momentum_and_energy_from_a_table_are_those_of_the_craft():
    """The second opinion agrees with the library at random states, and not at other numbers."""
    rng = np.random.default_rng(0)
    for links, craft in (
        (valverde_tables.chain("A"), valverde2018.spacecraft("A")),
        (wilde_tables.chain("spatial"), wilde2018.spatial_craft()),
    ):
        q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
        v = rng.normal(size=craft.nv)
        found = totals(links, q[None], v[None])
        np.testing.assert_allclose(found.momentum[0], gs.momentum(craft, q, v), rtol=0, atol=1e-11 * 1700)
        np.testing.assert_allclose(found.energy[0], gs.kinetic_energy(craft, q, v), rtol=1e-12)


def test_an_entry_agrees_in_value_and_shape_alone():
    assert Entry("", 5, 5.0).agrees and Entry("", "revolute", "revolute").agrees
    assert not Entry("", 5, 5.0001).agrees and not Entry("", (1, 2), (1, 2, 0)).agrees
    assert not Entry("", "revolute", "prismatic").agrees and not Entry("", (True, False), (True, True)).agrees
    assert not agreement("nothing compared", []).passed
    row = agreement("two", [Entry("a", 1, 1), Entry("mass", 5, 9)])
    assert not row.passed and row.measured == "1 of 2 as printed; mass: 9, printed 5"


# ---- transcription, where the texts are at hand


def numbers(text):
    return [float(x.replace("−", "-").replace(",", "")) for x in re.findall(r"[-−]?\d[\d,]*\.?\d*", text)]


def test_section_4_of_valverde_is_transcribed_as_printed():
    text = shared("papers/000_3dd5492ee950a43e.txt").read_text(encoding="utf-8")
    section = text[text.index("4. EVALUATION OF NUMERICAL") : text.index("5. CONCLUSION")]
    printed = [tuple(numbers(row)) for row in re.findall(r"diag\s*\(([^)]*)\)", section)]
    assert printed == [tuple(map(float, row)) for row in valverde_tables.DUAL_INERTIAS.values()]
    offsets = [tuple(numbers(row)) for row in re.findall(r"=\s*\(([^)]*)\)T \[m\]", section)]
    assert offsets == [tuple(map(float, row)) for row in valverde_tables.OFFSETS.values()]
    torques = re.findall(r"([\d.]+) sin\(t − (\d+)\) N, (\d+) s < t < (\d+) s", section)
    assert [tuple(map(float, row)) for row in torques] == [tuple(map(float, r)) for r in valverde_tables.TORQUES]
    assert f"tf = {valverde_tables.FINAL_TIME} s" in section


def test_tables_3_to_6_of_wilde_are_transcribed_as_printed():
    text = shared("papers/004_7cd76b6647ccaa64.txt").read_text(encoding="utf-8")

    def rows(start, names):
        table = text[text.index(start) + len(start) :]
        lines = re.split(r"TABLE|\$\$|^#", table, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
        cells = [line.split("\t") for line in lines if line.count("\t") >= 3 and re.match(names, line.strip())]
        return [numbers(" ".join(cell[1:])) for cell in cells]

    table_3 = rows("TABLE 3 | Planar", "Base|Links")
    planar = wilde_tables.PROPERTIES["planar"]
    assert table_3 == [[row.mass, *row.size, *row.moments] for row in (planar[0], planar[1])]
    assert planar[1:] == [planar[1]] * 4  # "Links 1-4"
    table_5 = rows("**TABLE 5**", r"Base|\d")
    assert table_5 == [[row.mass, *row.size, *row.moments] for row in wilde_tables.PROPERTIES["spatial"]]
    for start, case in (("**TABLE 4**", "planar"), ("TABLE 6 | Spatial", "spatial")):
        assert rows(start, r"\d|End") == [list(map(float, row)) for row in wilde_tables.DENAVIT_HARTENBERG[case]]
