"""Whatever a file holds, the readers answer with a spacecraft or with a ModelError,
whose findings are all filled in.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.io import check

SETTINGS = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

URDF = """<robot name="r"><link name="hub"><inertial><origin xyz="0 0 1" rpy="0 0 1"/><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="tip"/><joint name="elbow" type="revolute"><parent link="hub"/><child link="arm"/>
<origin xyz="1 0 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="glue" type="fixed"><parent link="arm"/><child link="tip"/></joint></robot>"""
MJCF = """<mujoco><compiler angle="degree"/><default><geom density="10"/></default><worldbody>
<body name="hub" pos="0 0 1"><freejoint/><geom type="box" size="1 1 1"/>
<body name="arm" quat="1 0 0 0"><joint name="elbow" axis="0 0 1" range="-1 1"/>
<joint type="slide" ref="1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="s"/></body></body>
</worldbody>
<actuator><motor joint="elbow"/></actuator></mujoco>"""
TOML = """name = "x"
[[body]]
name = "hub"
mass = 1
inertia = [1, 1, 1]
[[body]]
name = "arm"
parent = "hub"
mass = 1.5
com = [0.1, 0, 0]
inertia = [1, 0, 0, 1, 0, 1]
joint = { kind = "revolute", axis = [0, 0, 1], limits = { lower = "-5 deg" } }
[[wheel]]
name = "rw"
parent = "hub"
axis = [0, 0, 1]
spin_inertia = 0.1
[[thruster]]
name = "t"
body = "hub"
position = [0, 0, 0]
direction = [1, 0, 0]
"""
TEXTS = {".urdf": URDF, ".xml": MJCF, ".toml": TOML}
ODD = [
    "nan",
    "-inf",
    "1e999",
    "2,5",
    "-1",
    "0",
    "1e-320",
    "1e308",
    "",
    "x",
    "'",
    '"',
    "<",
    "&",
    "&#0;",
    "\x00",
    "\ud800",
    "é",
    "free",
    "true",
    "[",
    "]",
    "{",
    "hub",
    "arm",
    "=",
    "\n",
    "/>",
    "</link>",
    "-->",
    "<!--",
    "<![CDATA[",
    "1 2",
    "0 0 0",
    "9" * 400,
    "revolute",
]


def answer(text: str | bytes, suffix: str) -> None:
    """Load the text as a file; any exception but ours escapes and fails the test."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"craft{suffix}"
        path.write_bytes(data)
        result = check(path)
        if result.craft is None:
            assert result.errors
            for finding in result.errors:
                assert finding.message and finding.code and finding.file
                assert finding.line is None or finding.line >= 0
        else:
            assert gs.mass_matrix(result.craft, gs.neutral(result.craft)).shape == (result.craft.nv,) * 2


def words(text: str) -> list[str]:
    return re.findall(r"\s+|[\w.+-]+|.", text)


@pytest.mark.parametrize("suffix", TEXTS)
def test_the_texts_that_are_broken_below_are_sound(suffix):
    answer(TEXTS[suffix], suffix)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"craft{suffix}"
        path.write_text(TEXTS[suffix])
        assert check(path).craft is not None


@pytest.mark.parametrize("suffix", TEXTS)
@SETTINGS
@given(data=st.data())
def test_words_replaced_removed_and_doubled(suffix, data):
    parts = words(TEXTS[suffix])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(parts) - 1))
        action = data.draw(st.sampled_from(["replace", "remove", "double", "swap"]))
        if action == "replace":
            parts[at] = data.draw(st.sampled_from(ODD))
        elif action == "remove":
            parts[at] = ""
        elif action == "double":
            parts[at] += parts[at]
        else:
            other = data.draw(st.integers(0, len(parts) - 1))
            parts[at], parts[other] = parts[other], parts[at]
    answer("".join(parts), suffix)


@pytest.mark.parametrize("suffix", TEXTS)
@SETTINGS
@given(cut=st.integers(0, 900), tail=st.binary(max_size=40))
def test_files_cut_off(suffix, cut, tail):
    answer(TEXTS[suffix].encode()[:cut] + tail, suffix)


@pytest.mark.parametrize("suffix", TEXTS)
@SETTINGS
@given(data=st.binary(max_size=300))
def test_any_bytes(suffix, data):
    answer(data, suffix)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["5 deg", "nan deg", "hub", "free"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "kind", "axis", "lower", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = [
    "name",
    "body",
    "wheel",
    "frame",
    "thruster",
    "mass",
    "com",
    "inertia",
    "joint",
    "parent",
    "kind",
    "axis",
    "position",
    "rotation",
    "quaternion",
    "rpy",
    "limits",
    "shape",
    "size",
]


def as_toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {as_toml(x)}" for key, x in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() or c in " ./" else "_" for c in value) + '"'
    return "0" if value is None else repr(value)


@SETTINGS
@given(
    values=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6),
    table=st.sampled_from(["", "body", "wheel", "frame", "thruster"]),
)
def test_toml_values_of_any_type(values, table):
    lines = [f"{key} = {as_toml(value)}" for key, value in values.items()]
    answer((TOML + f"[[{table}]]\n" if table else "") + "\n".join(lines), ".toml")
    answer(TOML.replace("mass = 1.5", "\n".join(lines) or "mass = 2"), ".toml")


@SETTINGS
@given(
    tags=st.lists(st.sampled_from(["link", "joint", "body", "geom", "inertial", "include", "default", "compiler",
                                   "worldbody", "mesh", "asset", "frame", "replicate"]), max_size=12),
    attributes=st.dictionaries(
        st.sampled_from(["name", "type", "mass", "size", "pos", "file", "class", "axis", "count", "mesh",
                         "childclass"]),
        st.sampled_from(ODD[:9] + ["hub", "mesh", "a.stl", "../x", "3"]), max_size=4),
    root=st.sampled_from(["robot", "mujoco", "x"]),
)  # fmt: skip
def test_trees_of_any_elements(tags, attributes, root):
    given_attributes = "".join(f' {name}="{value}"' for name, value in attributes.items())
    text = (
        f"<{root}>"
        + "".join(f"<{tag}{given_attributes}>" for tag in tags)
        + "".join(f"</{tag}>" for tag in reversed(tags))
        + f"</{root}>"
    )
    answer(text, ".xml")
