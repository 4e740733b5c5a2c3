"""Every finding a reader can make: its code, its line, its element, its value and the way to mend it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gyrostat as gs
from gyrostat.io import check

GOOD = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
TINY = GOOD.replace("<mass", "<origin xyz='0 0 1'/><mass").replace('"1"', '"1e-7"')  # as if in other units
HUB, ARM = f'<link name="hub">{GOOD}</link>', f'<link name="arm">{GOOD}</link>'
ELBOW = '<joint name="elbow" type="continuous"><parent link="hub"/><child link="arm"/></joint>'


def inertial(mass="2", moments='ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', origin=""):
    return f'<link name="hub"><inertial>{origin}<mass value="{mass}"/><inertia {moments}/></inertial></link>'


def elbow(inside="", type_="continuous", name="elbow", parent="hub", child="arm"):
    return f'<joint name="{name}" type="{type_}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


# level, code, element, words of the message and hint, lines of the file after <robot ...>; the finding is about the
# last line that starts with "!"
URDF = [
    ("error", "malformed-number", "link 'hub'", ["2,5", "decimal point"], ["!" + inertial(mass="2,5")]),
    ("error", "malformed-number", "link 'hub'", ["1_000"], ["!" + inertial(mass="1_000")]),
    ("error", "not-finite", "link 'hub'", ["nan"], ["!" + inertial(mass="nan")]),
    ("error", "not-finite", "joint 'elbow'", ["-inf"], [HUB, ARM, "!" + elbow('<origin xyz="0 -inf 0"/>')]),
    ("error", "malformed-number", "link 'hub'", ["1e999", "too large"], ["!" + inertial(mass="1e999")]),
    (
        "error",
        "wrong-shape",
        "joint 'elbow'",
        ["2 numbers", "expected 3"],
        [HUB, ARM, "!" + elbow('<axis xyz="0 1"/>')],
    ),
    ("error", "negative-mass", "body 'hub'", ["-3.0 kg", "sign"], ["!" + inertial(mass="-3")]),
    (
        "error",
        "negative-mass",
        "link 'arm'",
        ["-2.0 kg"],
        [HUB, "!" + ARM.replace('"2"', '"-2"'), elbow(type_="fixed")],
    ),
    (
        "error",
        "negative-moment",
        "body 'hub'",
        ["-1", "minus the products"],
        ["!" + inertial(moments='ixx="1" ixy="2" ixz="0" iyy="1" iyz="0" izz="1"')],
    ),
    ("error", "zero-axis", "joint 'elbow'", ["(0, 0, 0)", "0 0 1"], [HUB, ARM, "!" + elbow('<axis xyz="0 0 0"/>')]),
    ("error", "duplicate-name", "link 'hub'", ["twice", "Rename"], [HUB, "!" + HUB]),
    ("error", "duplicate-name", "joint 'elbow'", ["line 4"], [HUB, ARM, ELBOW, "!" + ELBOW]),
    (
        "error",
        "two-parents",
        "link 'arm'",
        ["'elbow'", "'second'", "Remove one"],
        [HUB, ARM, ELBOW, "!" + elbow(name="second")],
    ),
    ("error", "several-roots", "<robot>", ["'hub', 'arm'", "Join them"], [HUB, ARM]),
    (
        "error",
        "cycle",
        "",
        ["no", "Remove one joint"],
        [HUB, ARM, ELBOW, elbow(name="back", parent="arm", child="hub")],
    ),
    (
        "error",
        "cycle",
        "",
        ["'b', 'a'"],
        [
            HUB,
            ARM.replace("arm", "a"),
            ARM.replace("arm", "b"),
            elbow(parent="a", child="b"),
            elbow(name="x", parent="b", child="a"),
        ],
    ),
    (
        "error",
        "unknown-joint-type",
        "joint 'elbow'",
        ["'revolut'", "Did you mean 'revolute'"],
        [HUB, ARM, "!" + elbow(type_="revolut")],
    ),
    (
        "error",
        "unknown-link",
        "joint 'elbow'",
        ["'hubb'", "Did you mean 'hub'"],
        [HUB, ARM, "!" + elbow(parent="hubb")],
    ),
    (
        "error",
        "no-parent",
        "joint 'elbow'",
        ["no parent"],
        [HUB, ARM, '!<joint name="elbow" type="fixed"><child link="arm"/></joint>'],
    ),
    (
        "error",
        "no-child",
        "joint 'elbow'",
        ["no child"],
        [HUB, '!<joint name="elbow" type="fixed"><parent link="hub"/></joint>'],
    ),
    ("error", "no-name", "<link>", ["no name"], [HUB, f"!<link>{GOOD}</link>"]),
    ("error", "no-mass", "link 'hub'", ["no mass"], ["!<link name='hub'><inertial/></link>"]),
    (
        "error",
        "no-inertia",
        "link 'hub'",
        ["no izz"],
        ["!" + inertial(moments='ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"')],
    ),
    ("error", "duplicate-element", "link 'hub'", ["two <inertial>"], [f'!<link name="hub">{GOOD}{GOOD}</link>']),
    ("error", "no-body", "<robot>", ["no <link>"], []),
    (
        "error",
        "limits",
        "joint 'elbow'",
        ["2.0", "above", "Exchange"],
        [HUB, ARM, "!" + elbow('<limit lower="2" upper="1" velocity="1" effort="1"/>', "revolute")],
    ),
    (
        "error",
        "moves-nothing",
        "joint 'elbow'",
        ["moves nothing", "make the joint fixed"],
        [HUB, '<link name="arm"/>', "!" + ELBOW],
    ),
    (
        "error",
        "negative-value",
        "joint 'elbow'",
        ["damping is -1.0"],
        [HUB, ARM, "!" + elbow('<dynamics damping="-1"/>')],
    ),
    ("error", "doctype", "", ["document type"], ["!<!DOCTYPE robot>", HUB]),
    ("error", "xml", "", ["not well-formed"], ["!<link name='hub'></robot>"]),
    (
        "warning",
        "triangle",
        "body 'hub'",
        ["1, 1, 5"],
        ["!" + inertial(moments='ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"')],
    ),
    (
        "warning",
        "triangle",
        "link 'arm'",
        ["1, 1, 5"],
        [HUB, "!" + ARM.replace('izz="1"', 'izz="5"'), elbow(type_="fixed")],
    ),
    (
        "warning",
        "zero-moment",
        "body 'hub'",
        ["0, 1, 1"],
        [
            "!" + inertial(moments='ixx="0" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'),
            ARM,
            ELBOW.replace("<child", '<axis xyz="0 0 1"/><child'),
        ],
    ),
    (
        "warning",
        "no-inertia",
        "link 'hub'",
        ["point"],
        [
            HUB.replace("hub", "arm"),
            '!<link name="hub"><inertial><mass value="2"/></inertial></link>',
            elbow(parent="arm", child="hub", type_="fixed"),
        ],
    ),
    (
        "warning",
        "unit-slip",
        "body 'arm'",
        ["radius of gyration", "units"],
        [
            HUB,
            "!" + f'<link name="arm">{GOOD.replace("1", "1000")}<visual><geometry><box size="1 1 '
            '1"/></geometry></visual></link>',
            ELBOW,
        ],
    ),
    (
        "warning",
        "unit-slip",
        "body 'arm'",
        ["radius of gyration"],
        [
            HUB,
            f'!<link name="arm">{TINY}</link>',
            ELBOW,
        ],
    ),
    (
        "note",
        "zero-mass-merged",
        "link 'tip'",
        ["no mass", "frame"],
        [HUB, '!<link name="tip"/>', elbow(child="tip", type_="fixed")],
    ),
    ("note", "merged", "link 'arm'", ["2 kg", "frame"], [HUB, "!" + ARM, elbow(type_="fixed")]),
    ("note", "no-limits", "joint 'elbow'", ["continuous"], [HUB, ARM, "!" + elbow(type_="revolute")]),
    ("note", "axis-normalised", "joint 'elbow'", ["0 0 2", "length 2"], [HUB, ARM, "!" + elbow('<axis xyz="0 0 2"/>')]),
    (
        "note",
        "mesh-missing",
        "link 'hub'",
        ["hull.stl", "--mesh-root"],
        [f'!<link name="hub">{GOOD}<visual><geometry><mesh filename="hull.stl"/></geometry></visual></link>'],
    ),
    (
        "note",
        "ignored",
        "<cone> in <geometry>",
        ["not part of the dynamics"],
        [f'!<link name="hub">{GOOD}<visual><geometry><cone/></geometry></visual></link>'],
    ),
    ("note", "mimic-ignored", "joint 'elbow'", ["'other'"], [HUB, ARM, "!" + elbow('<mimic joint="other"/>')]),
    ("note", "ignored", "<transmission>", ["2 times"], [HUB, "!<transmission/>", "<transmission/>"]),
    # slips of the pen: each would have changed the motion, or the looks, without a word
    (
        "error",
        "unknown-element",
        "joint 'elbow'",
        ["<axs>", "Did you mean <axis>?"],
        [HUB, ARM, "!" + elbow('<axs xyz="0 0 1"/>')],
    ),
    (
        "error",
        "unknown-attribute",
        "joint 'elbow'",
        ["<axis>", "'xzy'", "Did you mean 'xyz'?"],
        [HUB, ARM, "!" + elbow('<axis xzy="0 0 1"/>')],
    ),
    ("error", "unknown-element", "<robot>", ["<jiont>", "<joint>?"], [HUB, ARM, "!" + ELBOW.replace("joint", "jiont")]),
    ("error", "unknown-element", "<robot>", ["<Link>", "<link>?"], ["!" + HUB.replace("link", "Link"), HUB]),
    ("error", "unknown-element", "link 'hub'", ["<inertail>"], ["!" + HUB.replace("inertial", "inertail")]),
    ("error", "unknown-element", "link 'hub'", ["<mas>", "<mass>?"], ["!" + inertial().replace("<mass", "<mas")]),
    ("error", "unknown-attribute", "link 'hub'", ["'ixz_'"], ["!" + inertial().replace("ixz", "ixz_")]),
    ("error", "unknown-attribute", "link 'hub'", ["'vlaue'"], ["!" + inertial().replace("value", "vlaue")]),
    ("error", "unknown-element", "link 'hub'", ["<orgin>"], ["!" + inertial(origin='<orgin xyz="1 2 3"/>')]),
    ("error", "unknown-attribute", "link 'hub'", ["'rpyy'"], ["!" + inertial(origin='<origin rpyy="1 2 3"/>')]),
    ("error", "unknown-attribute", "joint 'elbow'", ["'typ'"], [HUB, ARM, "!" + ELBOW.replace("type", "typ")]),
    (
        "error",
        "unknown-attribute",
        "joint 'elbow'",
        ["'dampin'", "'damping'?"],
        [HUB, ARM, "!" + elbow('<dynamics dampin="0.3"/>')],
    ),
    (
        "error",
        "unknown-element",
        "link 'hub'",
        ["<mass> stands in <link>", "<inertial>"],
        [f'!<link name="hub"><mass value="3"/>{GOOD}</link>'],
    ),
    (
        "error",
        "unknown-attribute",
        "joint 'elbow'",
        ["<joint>", "'xyz'"],
        [HUB, ARM, "!" + ELBOW.replace("type=", 'xyz="0 0 1" type=')],
    ),
    ("error", "duplicate-element", "link 'hub'", ["two <mass>"], ["!" + inertial(origin='<mass value="3"/>')]),
    (
        "error",
        "duplicate-element",
        "joint 'elbow'",
        ["two <axis>", "Keep one"],
        [HUB, ARM, "!" + elbow('<axis xyz="0 0 1"/><axis xyz="0 1 0"/>')],
    ),
    (
        "error",
        "duplicate-element",
        "joint 'elbow'",
        ["two <origin>"],
        [HUB, ARM, "!" + elbow('<origin xyz="0 0 1"/><origin xyz="0 1 0"/>')],
    ),
    (
        "error",
        "two-rotations",
        "joint 'elbow'",
        ["rpy and quat_xyzw"],
        [HUB, ARM, "!" + elbow('<origin rpy="0 0 1" quat_xyzw="0 0 0 1"/>')],
    ),
    (
        "error",
        "quaternion-norm",
        "joint 'elbow'",
        ["norm 2"],
        [HUB, ARM, "!" + elbow('<origin quat_xyzw="0 0 0 2"/>')],
    ),
    (
        "warning",
        "unknown-element",
        "link 'hub'",
        ["<gemetry>", "<geometry>?"],
        [f'!<link name="hub">{GOOD}<visual><gemetry><box size="1 1 1"/></gemetry></visual></link>'],
    ),
    (
        "warning",
        "unknown-attribute",
        "link 'hub'",
        ["'sise'", "'size'?"],
        [f'!<link name="hub">{GOOD}<visual><geometry><box sise="1 1 1"/></geometry></visual></link>'],
    ),
    ("warning", "no-mass", "link 'arm'", ["but no mass"], [HUB, "!" + ARM.replace('"2"', '"0"'), ELBOW]),
    (
        "note",
        "ignored",
        "<self_collide> in <link>",
        ["ignored"],
        [f'!<link name="hub"><self_collide>true</self_collide>{GOOD}</link>'],
    ),
    (
        "note",
        "ignored",
        "'spring_stiffness' of <dynamics>",
        ["ignored"],
        [HUB, ARM, "!" + elbow('<dynamics damping="1" spring_stiffness="2"/>')],
    ),
    ("note", "no-products", "link 'hub'", ["ixy, ixz, iyz"], ["!" + inertial(moments='ixx="1" iyy="1" izz="1"')]),
    ("note", "world-floats", "link 'world'", ["base='fixed'"], ["!" + HUB.replace("hub", "world")]),
]


@pytest.mark.parametrize(
    ("level", "code", "element", "words", "lines"), URDF, ids=[f"{i}-{row[1]}" for i, row in enumerate(URDF)]
)
def test_urdf(tmp_path, level, code, element, words, lines):
    path = tmp_path / "craft.urdf"
    marked = [i for i, line in enumerate(lines, start=2) if line.startswith("!") and not line.startswith("!<!")]
    doctype = any(line.startswith("!<!") for line in lines)
    body = [line.removeprefix("!") for line in lines]
    path.write_text("\n".join(body if doctype else ['<robot name="craft">', *body, "</robot>"]))
    result = check(path)
    found = [
        f for f in result.findings if f.code == code and f.level == level and (not element or f.element == element)
    ]
    assert found, [str(f) for f in result.findings]
    text = str(found[0])
    assert all(word in text for word in words), text
    assert found[0].file == str(path)
    if marked:
        assert found[0].line == marked[-1]
    assert (result.craft is None) == (level == "error")
    if level != "error":
        assert not result.errors


def test_extensions_are_left_alone(tmp_path):
    """Whatever stands in a block of somebody else's is theirs, also where it has our names or nearly so."""
    path = tmp_path / "craft.urdf"
    blocks = (
        '<gazebo reference="hub"><mas value="3"/><inertial><mass value="1"/><mass value="2"/></inertial></gazebo>'
        '<transmission name="t"><joint name="elbow"/><jiont/></transmission><loop_joint '
        'name="l"/><ros2_control><joint/></ros2_control>'
    )
    head = '<robot name="craft" xmlns="http://a" xmlns:drake="http://d" drake:x="1" version="1.0">'
    path.write_text(f"{head}{HUB}{ARM}{ELBOW}{blocks}</robot>")
    result = check(path)
    assert {f.code for f in result.findings} == {"ignored"} and result.craft.nv == 7
    assert {f.element for f in result.findings} == {"<gazebo>", "<transmission>", "<loop_joint>", "<ros2_control>"}


def test_every_reader_names_a_missing_file_and_an_unknown_suffix(tmp_path):
    for name in ("gone.urdf", "gone.toml", "gone.xml"):
        assert [f.code for f in check(tmp_path / name).errors] == ["no-file"]
    (tmp_path / "craft.sdf").write_text("<sdf/>")
    error = check(tmp_path / "craft.sdf").errors[0]
    assert error.code == "unknown-format" and "'.sdf'" in error.message and ".urdf" in error.message
    (tmp_path / "folder.urdf").mkdir()
    assert [f.code for f in check(tmp_path / "folder.urdf").errors] == ["no-file"]


def test_bounds_on_size_nesting_and_number(tmp_path):
    path = tmp_path / "craft.urdf"
    path.write_bytes(b"<robot>" + b" " * (16 * 1024 * 1024) + b"</robot>")
    assert [f.code for f in check(path).errors] == ["too-large"]
    path.write_text("<a>" * 65 + "</a>" * 65)
    assert [f.code for f in check(path).errors] == ["too-deep"]
    path.write_text("<robot>" + "<link name='x'/>" * 10_001 + "</robot>")
    assert [f.code for f in check(path).errors] == ["too-many-links"]
    path.write_text("<robot>" + "<x/>" * 500_001 + "</robot>")
    assert [f.code for f in check(path).errors] == ["too-many-links"]
    path.write_text("<robot name='" + "x" * 1001 + "'/>")
    assert [f.code for f in check(path).errors] == ["long-name"]
    path.write_text("<robot>" + "<link/>" * 500 + "</robot>")
    assert [f.code for f in check(path).errors][-2:] == ["no-name", "too-many-errors"]
    assert len(check(path).errors) == 51


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE r [<!ENTITY a "1"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
        '<!DOCTYPE r SYSTEM "http://example.org/r.dtd"><robot/>',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="r"><link name="&x;"/></robot>',
    ],
)
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_entities_are_refused_before_they_are_read(tmp_path, text, suffix):
    path = tmp_path / f"craft{suffix}"
    path.write_text(text)
    assert [f.code for f in check(path).errors] == ["doctype"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "craft.urdf"
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
    path.write_bytes((head + f'<robot name="Ariane-é"><link name="hub">{GOOD}</link></robot>').encode(encoding))
    assert check(path).craft.name == "Ariane-é"
    path.write_bytes(b'<?xml version="1.0" encoding="klingon"?><robot/>')
    assert [f.code for f in check(path).errors] == ["xml"]


def test_a_bundled_spacecraft_goes_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert gs.load("servicer").name == "servicer" and gs.load("client", base="fixed").nv == 0
    with pytest.raises(
        gs.ModelError, match="there is no such file, and no spacecraft 'servcer' is bundled. Known: .*, servicer, "
    ):
        gs.load("servcer")
    (tmp_path / "servicer").write_text("a file of that name comes first")
    with pytest.raises(gs.ModelError, match="has the suffix ''"):
        gs.load("servicer")


def test_every_code_is_in_the_documentation():
    folder = Path(gs.__file__).parent
    sources = [*(folder / "io").glob("*.py"), *(folder / "model").glob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    calls = re.findall(r'(?:error|warning|note|fail)\(\s*f?"([a-z]+(?:-[a-z]+)*)"', text)
    codes = set(calls) | set(re.findall(r'code="([a-z-]+)"', text)) | {row[1] for row in URDF}
    assert len(codes) > 50
    documented = (folder.parents[1] / "docs" / "file-format.md").read_text(encoding="utf-8")
    assert sorted(code for code in codes if f"`{code}`" not in documented) == []
