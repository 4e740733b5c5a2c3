"""URDF: what the format says, what real files leave out, and Pinocchio's reading of the same text."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation_from_rpy, skew
from gyrostat.io import check, load
from random_trees import random_state

BODY = '<inertial><mass value="{m}"/><inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial>'


def link(name: str, mass: float = 2.0, inertia: float = 0.5, inside: str = "") -> str:
    return f'<link name="{name}">{BODY.format(m=mass, i=inertia)}{inside}</link>'


def joint(name: str, parent: str, child: str, type_: str = "revolute", inside: str = "") -> str:
    return f'<joint name="{name}" type="{type_}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts: str) -> str:
    return '<robot name="craft">\n' + "\n".join(parts) + "\n</robot>"


@pytest.fixture
def read(tmp_path):
    def write_and_load(*parts: str, **options) -> gs.Spacecraft:
        path = tmp_path / "craft.urdf"
        path.write_text(robot(*parts))
        return load(path, **options)

    return write_and_load


def test_the_root_floats_by_default_and_may_be_held(read):
    parts = (link("hub"), link("arm"), joint("elbow", "hub", "arm"))
    assert [j.kind for j in read(*parts).joints] == ["free", "revolute"]
    assert read(*parts, base="fixed").nv == 1
    assert read(*parts, base="planar").nv == 4
    with pytest.raises(ValueError, match="base is 'flying'"):
        read(*parts, base="flying")


def test_fixed_joints_merge_by_the_parallel_axis_theorem(read):
    """Composite about the joint's origin: sum of R I R^T - m c^ c^, written out here from the definition."""
    at, rpy, com = np.array([0.3, -0.2, 0.5]), np.array([0.4, -0.7, 1.1]), np.array([0.1, 0.2, 0.3])
    tool = (
        f'<link name="tool"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}" rpy="0.2 0 -0.4"/><mass value="3"/>'
        '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="-0.1" izz="2.5"/></inertial></link>'
    )
    craft = read(
        link("hub", 10, 4),
        tool,
        '<link name="camera"/>',
        joint(
            "mount", "hub", "tool", "fixed", f'<origin xyz="{at[0]} {at[1]} {at[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
        ),
        joint("bracket", "tool", "camera", "fixed", '<origin xyz="0 0 1"/>'),
    )
    assert [body.name for body in craft.bodies] == ["hub"]
    R = rotation_from_rpy(rpy)
    R_inertial = R @ rotation_from_rpy(np.array([0.2, 0, -0.4]))
    I_tool = R_inertial @ np.array([[1, 0.1, 0.2], [0.1, 2, -0.1], [0.2, -0.1, 2.5]]) @ R_inertial.T
    c_tool = at + R @ com
    hub = craft.body("hub")
    assert hub.mass == 13.0
    assert np.allclose(hub.com, 3 * c_tool / 13, atol=1e-15)
    about_origin = hub.inertia - 13 * skew(hub.com) @ skew(hub.com)
    assert np.allclose(about_origin, 4 * np.eye(3) + I_tool - 3 * skew(c_tool) @ skew(c_tool), atol=1e-14)
    X = gs.frame_pose(craft, gs.neutral(craft), "camera")
    assert np.allclose(X.R, R, atol=1e-15) and np.allclose(X.p, at + R @ [0, 0, 1], atol=1e-15)
    assert [(f.code, f.element) for f in craft.findings] == [
        ("merged", "link 'tool'"),
        ("zero-mass-merged", "link 'camera'"),
    ]


def test_a_root_without_inertia_takes_that_of_its_fixed_child(read):
    craft = read('<link name="base_link"/>', link("body", 9.0), joint("inertial_joint", "base_link", "body", "fixed"))
    assert (craft.base, gs.total_mass(craft)) == ("base_link", 9.0)


def test_a_floating_joint_below_a_dummy_root_is_the_bases(read):
    craft = read(
        '<link name="world"/>',
        link("hub"),
        link("arm"),
        joint("float", "world", "hub", "floating", '<origin xyz="0 0 1"/>'),
        joint("elbow", "hub", "arm"),
    )
    assert (craft.base, craft.joints[0].name, craft.joints[0].kind, craft.nv) == ("hub", "float", "free", 7)
    assert [f.code for f in craft.findings] == ["no-limits", "dummy-root"]
    X = gs.frame_pose(craft, gs.neutral(craft), "hub")
    assert np.array_equal(X.p, np.zeros(3)), "q is the pose of the base"


def test_a_massless_root_that_bends_is_refused_and_the_way_out_is_named(read):
    parts = ('<link name="plate"/>', link("arm"), joint("shoulder", "plate", "arm", "continuous"))
    with pytest.raises(gs.ModelError, match="base='fixed'"):
        read(*parts)
    assert read(*parts, base="fixed").nv == 1


def test_a_massless_root_named_world_is_the_ground(read):
    craft = read('<link name="world"/>', link("arm"), joint("shoulder", "world", "arm", "continuous"))
    assert (craft.base, craft.nv) == ("world", 1)
    assert [f.code for f in craft.findings] == ["world-held"]


def test_joint_attributes(read):
    craft = read(
        link("hub"),
        *(link(name) for name in "abcdef"),
        joint(
            "j_a", "hub", "a", "revolute", '<axis xyz="0 3 4"/><limit lower="-1" upper="2" velocity="3" effort="4"/>'
        ),
        joint(
            "j_b", "a", "b", "continuous", '<dynamics damping="0.5" friction="0.25"/><limit velocity="3" effort="0"/>'
        ),
        joint("j_c", "b", "c", "prismatic", '<limit upper="0.3" velocity="1" effort="1"/>'),
        joint("j_d", "c", "d", "planar", '<axis xyz="0 0 1"/>'),
        joint("j_e", "d", "e", "floating"),
        joint(
            "j_f", "hub", "f", "revolute", '<mimic joint="j_a"/><limit lower="0" upper="0" velocity="0" effort="0"/>'
        ),
        '<transmission name="t"/>',
        '<gazebo reference="a"/>',
        "<gazebo/>",
    )
    a, b, c, d, e, f = (craft.joint_named(f"j_{name}") for name in "abcdef")
    assert np.allclose(a.axis, [0, 0.6, 0.8])
    assert (a.limits.lower, a.limits.upper, a.limits.velocity, a.limits.effort) == (-1, 2, 3, 4)
    assert (b.kind, b.damping, b.friction, b.limits.velocity) == ("revolute", 0.5, 0.25, 3)
    assert np.array_equal(b.axis, [1, 0, 0]), "URDF's default axis"
    assert np.isinf([b.limits.lower, b.limits.upper, b.limits.effort]).all()
    assert (c.limits.lower, c.limits.upper) == (0.0, 0.3), "a bound left out is zero"
    assert (d.kind, e.kind) == ("planar", "free")
    assert np.isinf([f.limits.lower, f.limits.upper, f.limits.velocity, f.limits.effort]).all()
    codes = sorted(f.code for f in craft.findings)
    assert codes == ["axis-normalised", "ignored", "ignored", "mimic-ignored", "no-limits", "no-limits"]


def test_branches_keep_the_order_of_their_joints(read):
    craft = read(
        *(link(name) for name in ("hub", "z", "y", "x")),
        joint("j1", "hub", "y"),
        joint("j2", "hub", "z"),
        joint("j3", "y", "x"),
    )
    assert [body.name for body in craft.bodies] == ["hub", "y", "x", "z"]


def test_joints_may_come_before_links_and_children_before_parents(read):
    craft = read(joint("j2", "a", "b"), joint("j1", "hub", "a"), link("b"), link("a"), link("hub"))
    assert [body.name for body in craft.bodies] == ["hub", "a", "b"]


@pytest.mark.parametrize("seed", range(3))
def test_pinocchio_reads_planar_and_floating_joints_alike(tmp_path, seed):
    """Mass matrices of a tree with every URDF joint type, matched joint by joint."""
    rng = np.random.default_rng(seed)

    def origin() -> str:
        return '<origin xyz="{} {} {}" rpy="{} {} {}"/>'.format(*rng.normal(size=6))

    moments = 'ixx="1.1" ixy="0.1" ixz="0" iyy="1.2" iyz="0.05" izz="1.3"'
    parts = [link("hub", 20, 6)]
    for i, (type_, parent) in enumerate(
        [
            ("revolute", "hub"),
            ("prismatic", "l0"),
            ("continuous", "l1"),
            ("fixed", "l1"),
            ("planar", "l3"),
            ("floating", "hub"),
        ]
    ):
        inertial = f'<inertial>{origin()}<mass value="{rng.uniform(1, 3)}"/><inertia {moments}/></inertial>'
        limits = '<limit lower="-9" upper="9" velocity="1" effort="1"/>'
        parts.append(f'<link name="l{i}">{inertial}</link>')
        axis = '<axis xyz="0 0 1"/>' if type_ == "planar" else '<axis xyz="0 1 0"/>'
        parts.append(joint(f"j{i}", parent, f"l{i}", type_, origin() + axis + limits))
    path = tmp_path / "craft.urdf"
    path.write_text(robot(*parts))
    craft = load(path)
    pin = pytest.importorskip("pinocchio")
    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft, model=pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()))
    q, _ = random_state(craft, seed)
    M = peer.mass_matrix(q)
    assert np.abs(gs.mass_matrix(craft, q) - M).max() <= 1e-12 * np.abs(M).max()


def test_shapes_are_recorded_and_move_with_merged_links(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "hull.stl").write_bytes(b"not even a mesh: nobody opens it")
    path = tmp_path / "craft.urdf"
    visual = '<visual><origin xyz="1 0 0"/><geometry>{}</geometry><material name="red"/></visual>'
    collision = '<collision><geometry><sphere radius="2"/></geometry></collision>'
    path.write_text(
        robot(
            '<material name="red"><color rgba="1 0 0 1"/></material>',
            link("hub", inside=visual.format('<mesh filename="package://pkg/meshes/hull.stl" scale="2 2 2"/>')),
            link("part", inside=visual.format('<cylinder radius="1" length="3"/>')),
            link("hidden", inside=visual.format('<mesh filename="http://example.org/a.stl"/>') + collision),
            joint("glue", "hub", "part", "fixed", '<origin xyz="0 0 5" rpy="0 0 1.5707963267948966"/>'),
            joint("turn", "hub", "hidden", "continuous"),
        )
    )
    craft = load(path)
    mesh, tube = craft.body("hub").shapes
    assert (mesh.kind, mesh.size, mesh.color) == ("mesh", (2.0, 2.0, 2.0), (1.0, 0.0, 0.0, 1.0))
    assert mesh.file == str((tmp_path / "meshes" / "hull.stl").resolve())
    assert (tube.kind, tube.size) == ("cylinder", (1.0, 3.0)) and np.allclose(tube.position, [0, 1, 5])
    assert [shape.kind for shape in craft.body("hidden").shapes] == ["sphere"], (
        "what collides, where nothing else is drawn"
    )
    missing = [f for f in craft.findings if f.code == "mesh-missing"]
    assert len(missing) == 1 and "never fetched" in missing[0].message


@pytest.mark.parametrize(
    "reference",
    [
        "../secret.stl",
        "file:///etc/hostname",
        "/etc/hostname",
        "a/../../secret.stl",
        "link.stl",
        "http://x.org/secret.stl",
    ],
)
def test_no_mesh_outside_the_folder_is_ever_named(tmp_path, reference):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.stl").write_text("")
    (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
    path = folder / "craft.urdf"
    path.write_text(robot(link("hub", inside=f'<visual><geometry><mesh filename="{reference}"/></geometry></visual>')))
    result = check(path)
    assert result.craft is not None and result.craft.bodies[0].shapes == ()
    assert [f.code for f in result.findings] == ["mesh-missing"]


def test_a_mesh_root_is_searched_by_the_endings_of_a_path(tmp_path):
    (tmp_path / "elsewhere" / "meshes").mkdir(parents=True)
    (tmp_path / "elsewhere" / "meshes" / "arm.stl").write_text("")
    (tmp_path / "model").mkdir()
    path = tmp_path / "model" / "craft.urdf"
    reference = "file:///elsewhere/ws/src/robot/meshes/arm.stl"
    path.write_text(robot(link("hub", inside=f'<visual><geometry><mesh filename="{reference}"/></geometry></visual>')))
    assert load(path).bodies[0].shapes == ()
    found = load(path, mesh_root=tmp_path / "elsewhere").bodies[0].shapes
    assert found[0].file == str((tmp_path / "elsewhere" / "meshes" / "arm.stl").resolve())


def test_a_urdf_may_be_named_xml(tmp_path):
    path = tmp_path / "craft.xml"
    path.write_text(robot(link("hub")))
    assert load(path).base == "hub"


def test_a_quaternion_turns_as_the_angles_do(tmp_path):
    """urdfdom's quat_xyzw, scalar last; also of what is drawn."""
    angles = (0.3, -0.7, 1.9)
    R = rotation_from_rpy(np.array(angles))
    w, x, y, z = map(float, quat_from_rotation(R))
    looks = "<visual>%s<geometry><box size='1 2 3'/></geometry></visual>"
    crafts = []
    for k, turned in enumerate((f"rpy='{angles[0]} {angles[1]} {angles[2]}'", f"quat_xyzw='{x!r} {y!r} {z!r} {w!r}'")):
        origin = f"<origin xyz='1 2 3' {turned}/>"
        path = tmp_path / f"craft_{k}.urdf"
        path.write_text(
            robot(link("hub"), link("arm", inside=looks % origin), joint("elbow", "hub", "arm", inside=origin))
        )
        crafts.append(load(path))
    for body in (crafts[0].bodies[1], crafts[1].bodies[1]):
        np.testing.assert_allclose(body.joint.rotation, R, atol=1e-15)
        np.testing.assert_allclose(body.shapes[0].rotation, R, atol=1e-15)
