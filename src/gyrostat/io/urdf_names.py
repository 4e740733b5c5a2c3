"""The elements and attributes of URDF, as its specification and urdfdom have them."""

from __future__ import annotations

from .names import Vocabulary, words

VOCABULARY = {
    "robot": Vocabulary(words("name version"), many=words("link joint material")),
    "link": Vocabulary(words("name type"), once=words("inertial"), many=words("visual collision")),
    "inertial": Vocabulary(once=words("origin mass inertia")),
    "origin": Vocabulary(words("xyz rpy quat_xyzw")),
    "mass": Vocabulary(words("value")),
    "inertia": Vocabulary(words("ixx ixy ixz iyy iyz izz")),
    "joint": Vocabulary(
        words("name type"),
        once=words("origin parent child axis limit dynamics mimic calibration safety_controller"),
    ),
    "parent": Vocabulary(words("link")),
    "child": Vocabulary(words("link")),
    "axis": Vocabulary(words("xyz")),
    "limit": Vocabulary(words("lower upper effort velocity acceleration deceleration jerk")),
    "dynamics": Vocabulary(words("damping friction")),
    # what is read past, or drawn: a slip in it changes no motion
    "mimic": Vocabulary(words("joint multiplier offset"), moves=False),
    "calibration": Vocabulary(words("rising falling reference_position"), moves=False),
    "safety_controller": Vocabulary(words("soft_lower_limit soft_upper_limit k_position k_velocity"), moves=False),
    "visual": Vocabulary(words("name"), once=words("origin geometry material"), moves=False),
    "collision": Vocabulary(words("name group"), once=words("origin geometry"), many=words("verbose"), moves=False),
    "geometry": Vocabulary(once=words("box sphere cylinder capsule mesh"), moves=False),
    "box": Vocabulary(words("size"), moves=False),
    "sphere": Vocabulary(words("radius"), moves=False),
    "cylinder": Vocabulary(words("radius length"), moves=False),
    "capsule": Vocabulary(words("radius length"), moves=False),
    "mesh": Vocabulary(words("filename scale"), moves=False),
    "material": Vocabulary(words("name"), once=words("color texture"), moves=False),
    "color": Vocabulary(words("rgba"), moves=False),
    "texture": Vocabulary(words("filename"), moves=False),
}
