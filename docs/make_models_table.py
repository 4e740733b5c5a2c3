"""Writes docs/models.md: what MuJoCo, Pinocchio and gyrostat make of the same files, measured here and now.

    python docs/make_models_table.py

Needs `mujoco`, `pin`, and the published files in ../shared/models beside the checkout. `tests/io/test_models_table.py`
repeats the measurement.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

DOCS = Path(__file__).resolve().parent
MODELS = DOCS.parent.parent / "shared" / "models"

GOOD = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
HUB, ARM = f'<link name="hub">{GOOD}</link>', f'<link name="arm">{GOOD}</link>'
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def joint(
    name: str = "elbow", parent: str = "hub", child: str = "arm", inside: str = LIMIT, type_: str = "revolute"
) -> str:
    return f'<joint name="{name}" type="{type_}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


# what is odd in the file -> the file
HABITS = {
    "nothing odd: two links of 2 kg, one joint": HUB + ARM + joint(),
    "revolute joint without `<limit>`": HUB + ARM + joint(inside=""),
    "products of inertia left out": HUB.replace('ixy="0" ixz="0" ', "").replace('iyz="0" ', "") + ARM + joint(),
    "moments 1, 1, 5: no triangle (flight data)": HUB.replace('izz="1"', 'izz="5"') + ARM + joint(),
    "moments 0, 1, 1": HUB + ARM.replace('ixx="1"', 'ixx="0"') + joint(inside='<axis xyz="0 0 1"/>' + LIMIT),
    "mass in a fixed child of an empty root": '<link name="root"/>' + HUB + ARM + joint("glue", "root", "hub", "",
                                                                                        "fixed") + joint(),
    "`floating` joint below an empty root": '<link name="world"/>' + HUB + ARM + joint("float", "world", "hub", "",
                                                                                       "floating") + joint(),
    "mesh that is not there": HUB.replace("</link>", '<visual><geometry><mesh '
                                                     'filename="a.stl"/></geometry></visual></link>') + ARM + joint(),
    "mass of `nan`": HUB + ARM.replace('"2"', '"nan"') + joint(),
    "mass of -2 kg": HUB + ARM.replace('"2"', '"-2"') + joint(),
    "mass of `2,5`": HUB + ARM.replace('"2"', '"2,5"') + joint(),
    "axis 0 0 0": HUB + ARM + joint(inside='<axis xyz="0 0 0"/>' + LIMIT),
    "moving link without inertia": HUB + '<link name="arm"/>' + joint(),
    "a link with two parents": HUB + ARM + f'<link name="tip">{GOOD}</link>'
    + joint() + joint("b", "hub", "tip") + joint("c", "arm", "tip"),
    "a cycle": HUB + ARM + f'<link name="tip">{GOOD}</link>' + joint("a", "arm", "tip") + joint("b", "tip", "arm"),
    "two roots": HUB + ARM,
    "one name for two links": HUB + ARM + ARM + joint(),
    "unknown joint type `revolut`": HUB + ARM + joint(type_="revolut"),
}  # fmt: skip


def by_mujoco(path: Path) -> str:
    import mujoco

    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
        return read(model.nv, float(model.body_mass.sum()))
    except ValueError as error:
        return refused(str(error), path)
    finally:
        mujoco.set_mju_user_warning(previous)


def by_pinocchio(path: Path) -> str:
    import pinocchio as pin

    try:
        if path.suffix == ".urdf":
            model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        else:
            model = pin.buildModelFromMJCF(str(path))
            model = model[0] if isinstance(model, tuple) else model
    except (ValueError, RuntimeError) as error:
        return refused(str(error), path)
    return read(model.nv, float(sum(inertia.mass for inertia in model.inertias)))


def by_gyrostat(path: Path) -> str:
    import gyrostat as gs
    from gyrostat.io import check, load_formation

    result = check(path)
    if result.craft is not None:
        told = sorted({f.code for f in result.findings if f.level == "warning"})
        return read(result.craft.nv, float(gs.total_mass(result.craft))) + (
            f"; warns: {', '.join(told)}" if told else ""
        )
    codes = ", ".join(sorted({f.code for f in result.errors}))
    if codes == "several-roots" and path.suffix == ".xml":
        crafts = load_formation(path).values()
        rates, mass = (sum(x) for x in zip(*((c.nv, float(gs.total_mass(c))) for c in crafts), strict=True))
        return f"refused by `load`: {codes}; `load_formation`: {len(crafts)} craft, {read(rates, mass)}"
    return f"**refused**: {codes}"


def read(rates: int, mass: float) -> str:
    return f"{rates} rate{'' if rates == 1 else 's'}, {mass:.6g} kg"


def refused(message: str, path: Path) -> str:
    text = " ".join(message.replace(str(path), path.name).split()).removeprefix("Error: ").removeprefix("XML Error: ")
    text = text.replace("|", "/").split(" Element")[0]
    text = re.sub(r"'(?:file:)?/[^' ]*/([^/' ]*)'?", r"'.../\1'", text)  # absolute paths of whoever wrote the file
    return f"**refused**: {text[:60].rstrip('. ')}{'...' if len(text) > 60 else ''}"


READERS: dict[str, Callable[[Path], str]] = {"MuJoCo": by_mujoco, "Pinocchio": by_pinocchio, "gyrostat": by_gyrostat}


def published() -> dict[str, dict[str, str]]:
    """Each published file, by each reader."""
    files = sorted(path for path in MODELS.glob("*/*") if path.suffix in (".urdf", ".xml"))
    return {f"{path.parent.name}/{path.name}": {name: by(path) for name, by in READERS.items()} for path in files}


def habits() -> dict[str, dict[str, str]]:
    """Each habit of real files, by each reader."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "craft.urdf"
        table = {}
        for what, text in HABITS.items():
            path.write_text(f'<robot name="craft">{text}</robot>', encoding="utf-8")
            table[what] = {name: by(path) for name, by in READERS.items()}
        return table


def versions() -> str:
    return f"MuJoCo {version('mujoco')}, Pinocchio {version('pin')}"


def markdown(first: str, rows: dict[str, dict[str, str]]) -> str:
    lines = [f"| {first} | " + " | ".join(READERS) + " |", "|---" * (len(READERS) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(cells.values()) + " |" for name, cells in rows.items()]
    return "\n".join(lines)


def page() -> str:
    return f"""# What readers make of published files

Measured with {versions()} by `docs/make_models_table.py`; a test repeats it. "Rates" are degrees of freedom:
a free base has six.

## Published spacecraft

{markdown("file", published())}

- MuJoCo welds the root of a URDF to the world: Astrobee loses its base, 9.2 of 9.58 kg. It opens meshes to compile a
  model, so the Canadarm2, whose meshes stand at a path of another machine, is refused.
- Pinocchio keeps the first of two spacecraft in a file and drops the other without a word.
- gyrostat compares its dynamics with whichever of them reads a file rightly, to 1e-12 (`tests/io`, `tests/reference`).
  It warns of Astrobee's gripper: its radius of gyration (0.5 m) is ten times its size.

## Habits of real files

Each row is one small URDF file; the sound one has 4 kg and, floating, 7 rates (MuJoCo: 1, and the base's 2 kg are
lost).

{markdown("in the file", habits())}

A reader that accepts a file may still have read it wrongly: Pinocchio takes the whole inertia as zero where the
products are left out, a mass it cannot read as zero, and the links of a cycle as absent; its parser says so on the
terminal and carries on.

`gyrostat check FILE` says what was found, with file, line, element, value and how to mend it; `--strict` makes errors
of warnings, `--json` is for machines.
"""


if __name__ == "__main__":
    (DOCS / "models.md").write_text(page(), encoding="utf-8")
    print(f"wrote {DOCS / 'models.md'}")
