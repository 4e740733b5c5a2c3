"""The elements of MJCF. Attributes of what is kept are judged by MuJoCo,
whose own list is asked only for the nearest name.
"""

from __future__ import annotations

import re
from typing import Any

from .names import Vocabulary, words

_BODY = words("body frame replicate geom joint freejoint site camera light composite flexcomp attach plugin")
_ACTUATORS = words("general motor position velocity intvelocity damper cylinder muscle adhesion dcmotor plugin")
_DEFAULTS = _ACTUATORS | words("mesh texture material joint geom site camera light pair equality tendon")

_SECTIONS = words(
    "compiler option size statistic visual default extension asset worldbody deformable contact tendon equality "
    "actuator sensor custom keyframe"
)

VOCABULARY = {
    "mujoco": Vocabulary(words("model"), many=_SECTIONS),
    "mujocoinclude": Vocabulary(None, many=_SECTIONS),
    "worldbody": Vocabulary(None, many=_BODY, closed=True),
    "body": Vocabulary(None, once=words("inertial"), many=_BODY, closed=True),
    "frame": Vocabulary(None, many=_BODY, closed=True),
    "replicate": Vocabulary(None, many=_BODY, closed=True),
    "default": Vocabulary(None, once=_DEFAULTS, many=words("default")),
    "actuator": Vocabulary(None, many=_ACTUATORS),
    "asset": Vocabulary(None, many=words("mesh hfield skin texture material model plugin")),
}
OPTIONS = words("gravity wind density viscosity")  # those that act on bodies


def attributes(mujoco: Any, tag: str) -> list[str]:
    """The attributes of an element, from the schema that MuJoCo prints;
    none if it is printed in another way some day.
    """
    found: set[str] = set()
    inside = False
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head = re.match(r"\s*(\S+) \([!?*R]\)(.*)", line)
        if head:
            inside = head[1].removeprefix("(world)") == tag
            line = head[2]
        if inside:
            found.update(line.split())
    return sorted(found)
